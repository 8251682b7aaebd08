//! Running other programs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) type Result<T> = std::result::Result<T, String>;

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_owned()
}

/// A command that runs at the root.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// Cargo, as it runs this.
pub(crate) fn cargo() -> Command {
    command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs a command and shows it first; it must succeed.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let words: Vec<_> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(OsStr::to_string_lossy)
        .collect();
    let shown = words.join(" ");
    eprintln!("> {shown}");
    let status = command.status().map_err(|error| format!("{shown}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{shown}: {status}")) }
}

/// Whether a program is there.
pub(crate) fn exists(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}
