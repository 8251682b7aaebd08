//! The arguments of `gradus mcp`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

/// Answer agents and editors by the Model Context Protocol, on standard input and output.
///
/// Commands are tools, which read models of one folder (docs/how-to/mcp.md). The server is a part
/// of the Python package: `pip install 'gradus[mcp]'` has it, with this command.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  gradus mcp --root examples --print-config\n  gradus mcp --root examples --out . --timeout 10 --print-config"
)]
pub(crate) struct McpArgs {
    /// Folder whose models tools read.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) root: PathBuf,

    /// Folder into which tools write models; without it, no tool writes.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Seconds after which a tool fails.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = seconds)]
    pub(crate) timeout: f64,

    /// Print what an editor or an agent is told to start the server, as JSON, and start none.
    #[arg(long)]
    pub(crate) print_config: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| seconds.is_finite() && *seconds > 0.0);
    seconds.ok_or_else(|| format!("expected a number of seconds above 0, got {text:?}"))
}
