//! The arguments of the commands. Help, completions and manual pages are made from them.

mod audit;
mod cases;
mod dims;
mod edits;
mod lint;
mod mcp;
mod models;
mod names;
mod rewrites;
mod runs;
mod sequences;
mod sizes;

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

use crate::output::{self, Verbosity};
use names::{Named, any, command_names, shell, shells, subjects};

pub(crate) use audit::AuditArgs;
pub(crate) use cases::CasesArgs;
pub(crate) use dims::{Dialect, Dim};
pub(crate) use edits::{EditArgs, GeneralizeArgs, JoinArgs, SplitArgs};
pub(crate) use lint::{FailOn, LintArgs, LintForm};
pub(crate) use mcp::McpArgs;
pub(crate) use models::{
    CheckArgs, CostArgs, Devices, Diagram, DiffArgs, DiffForm, Emit, FleetArgs, GraphArgs, Infer, Ops,
    ProveArgs, ReportArgs, Show, VerifyProofArgs, bytes,
};
pub(crate) use rewrites::{ConvertArgs, FoldArgs, RuntimeName, Target};
pub(crate) use runs::RunArgs;
pub(crate) use sequences::{
    Call, CompareArgs, Geomspace, Linspace, Logspace, OutArgs, RangeArgs, RangeArguments, SequenceArgs,
    SpaceArguments, TypesArgs,
};
pub(crate) use sizes::{AssumeArgs, DimArgs, InputArgs, SizeArgs};

/// Exact sequences and shapes of tensor programs.
///
/// Runs, infers, folds and converts models of ONNX, OpenVINO and Paddle, shows what they hold, and
/// computes sequences. Exit status: 0 on success, 1 if a model or its data is wrong, 2 if the
/// command line is, 3 if a condition is not decided.
#[derive(Debug, Parser)]
#[command(
    name = "gradus",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    after_help = "`gradus help TOPIC` explains dims, exactness, inputs, profiles or soundness"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Print JSON (docs/json.md): of several models, a line for each.
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// When errors have colours: by default in terminals, unless `NO_COLOR` is set.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = true)]
    pub(crate) color: Color,

    /// Show neither progress nor counts.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,

    /// Print to standard error the time that each model and the command took, and counts.
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
}

/// When errors have colours.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    fn set(self) {
        match self {
            Color::Auto => {}
            Color::Always => anstream::ColorChoice::Always.write_global(),
            Color::Never => anstream::ColorChoice::Never.write_global(),
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(RunArgs),
    Infer(Infer),
    Cost(CostArgs),
    Report(ReportArgs),
    Graph(GraphArgs),
    Fold(FoldArgs),
    Convert(ConvertArgs),
    Edit(Box<EditArgs>),
    Generalize(GeneralizeArgs),
    Join(JoinArgs),
    Split(SplitArgs),
    Show(Show),
    Diff(DiffArgs),
    Check(CheckArgs),
    Audit(AuditArgs),
    Prove(ProveArgs),
    VerifyProof(VerifyProofArgs),
    Lint(LintArgs),
    Cases(CasesArgs),
    Mcp(McpArgs),
    Ops(Ops),
    Dim(Dim),
    Devices(Devices),
    Range(RangeArgs),
    Linspace(Linspace),
    Logspace(Logspace),
    Geomspace(Geomspace),
    Compare(CompareArgs),
    Help(Help),
    Completions(Completions),
    Man(Man),
}

impl Args {
    /// Sets colours, the form of results and what is told to standard error, for this process.
    pub(crate) fn set_manners(&self) {
        self.color.set();
        output::set_json(self.json);
        output::set_verbosity(match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, true) => Verbosity::Verbose,
            (false, false) => Verbosity::Normal,
        });
    }
}

/// Print the help of a command, or explain a topic.
///
/// Topics: dims, the expressions that stand for open sizes; exactness, how elements are computed
/// and rounded; inputs, how the inputs of a run are written; profiles, the programs that are
/// predicted; soundness, what reports promise.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  gradus help infer\n  gradus help dims")]
pub(crate) struct Help {
    /// The command, or the topic; without it, the help of gradus itself.
    #[arg(value_name = "COMMAND|TOPIC", value_parser = Named(subjects, any), hide_possible_values = true)]
    pub(crate) subject: Vec<String>,
}

/// Print a script that completes command lines in a shell.
///
/// The shell asks `gradus` then, which knows the inputs, dimensions, values and operators of the
/// models that the line names. In `.bashrc` or `.zshrc`, `source <(gradus completions bash)`, or
/// `zsh`; for fish, `gradus completions fish > ~/.config/fish/completions/gradus.fish`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  gradus completions bash\n  gradus completions zsh")]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_parser = Named(shells, shell))]
    pub(crate) shell: String,
}

/// Print the manual page of a command, or write all pages.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  gradus man range\n  gradus man -o man1/")]
pub(crate) struct Man {
    /// The command; without it, the page of gradus itself.
    #[arg(value_parser = Named(command_names, any), hide_possible_values = true)]
    pub(crate) command: Option<String>,

    /// Write the pages of all commands into this folder, as gradus.1, gradus-run.1, …
    #[arg(short, long, value_name = "DIR", conflicts_with = "command")]
    pub(crate) out: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        Args::command().debug_assert();
    }
}
