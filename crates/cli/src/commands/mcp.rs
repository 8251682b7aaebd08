//! `gradus mcp`: commands as tools of agents, by a server that the host of the command has.

use std::path::{Path, PathBuf};

use gradus::{Error, Kind, Result};

use crate::args::McpArgs;
use crate::diagnostics::Failure;
use crate::object::object;
use crate::{Serve, output};

/// Serves until standard input ends, or prints how an editor starts that.
pub(crate) fn mcp(args: &McpArgs, serve: Serve) -> Result<(), Failure> {
    let root = folder("--root", &args.root)?;
    let out = args.out.as_deref().map(|out| folder("--out", out)).transpose()?;
    if !args.print_config {
        return Ok(serve(&root, out.as_deref(), args.timeout)?);
    }
    let mut words = vec!["mcp".to_owned(), "--root".to_owned(), root.display().to_string()];
    words.extend(out.into_iter().flat_map(|out| ["--out".to_owned(), out.display().to_string()]));
    words.extend(["--timeout".to_owned(), args.timeout.to_string()]);
    let gradus = object!(ServerJson { command: "gradus", args: words });
    output::print_json(&object!(ConfigJson { mcp_servers: object!(ServersJson { gradus }) }))
}

/// A folder that exists, by its whole path: the server is started in another one.
fn folder(option: &str, path: &Path) -> Result<PathBuf> {
    let whole = path.canonicalize().ok().filter(|whole| whole.is_dir());
    whole.ok_or_else(|| Error::mismatch(Kind::Usage, option, path.display(), "a folder that exists"))
}
