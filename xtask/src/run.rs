//! Running other programs.

use std::env;
use std::ffi::OsStr;
use std::io::BufRead as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use serde_json::Value as Json;

pub(crate) type Result<T> = std::result::Result<T, String>;

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_owned()
}

/// A path in the folder that Cargo builds into: `CARGO_TARGET_DIR`, `build.target-dir` of Cargo's
/// configuration, or `target`. Everything that a chore makes and that is not checked in lies there.
pub(crate) fn target(path: &str) -> Result<PathBuf> {
    static TARGET: LazyLock<Result<PathBuf>> = LazyLock::new(|| {
        // In the folder that Cargo was called from, to which a relative CARGO_TARGET_DIR refers.
        let mut metadata = Command::new(cargo_program());
        metadata.args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path"]);
        let output = metadata.arg(root().join("Cargo.toml")).stderr(Stdio::inherit()).output();
        let output = output.map_err(|error| format!("cargo metadata: {error}"))?;
        let json: Json =
            serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))?;
        let folder = json["target_directory"].as_str();
        folder.map(PathBuf::from).ok_or_else(|| "cargo metadata: no target_directory".to_owned())
    });
    TARGET.as_ref().map(|folder| folder.join(path)).map_err(Clone::clone)
}

/// Creates a folder, and its parents.
pub(crate) fn create(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

/// Removes a folder or a file, if it exists.
pub(crate) fn remove(path: &Path) -> Result<()> {
    let result = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    match result {
        Err(error) if path.exists() => Err(format!("{}: {error}", path.display())),
        _ => Ok(()),
    }
}

/// A command that runs at the root, with the target folder of this process.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    if let Ok(target) = target("") {
        // Absolute: a relative one refers to the folder that this process was started in.
        command.env("CARGO_TARGET_DIR", target);
    }
    command
}

fn cargo_program() -> std::ffi::OsString {
    env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Cargo, as it runs this.
pub(crate) fn cargo() -> Command {
    command(cargo_program())
}

/// Builds the command `gradus` and returns its path; the arguments say of which packages, and how.
pub(crate) fn gradus(arguments: &[&str]) -> Result<PathBuf> {
    let mut build = cargo();
    build.args(["build", "--quiet", "--bin", "gradus"]).args(arguments);
    let output = show(&mut build).arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit());
    let output = output.output().map_err(|error| format!("cargo build: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo build --bin gradus: {}", output.status));
    }
    let messages = output.stdout.lines().map_while(std::result::Result::ok);
    let mut messages = messages.filter_map(|line| serde_json::from_str::<Json>(&line).ok());
    let executable = messages.find_map(|message| {
        let named = message["target"]["name"] == "gradus";
        message["executable"].as_str().filter(|_| named).map(PathBuf::from)
    });
    executable.ok_or_else(|| "cargo build built no program gradus".to_owned())
}

/// The words of a command.
pub(crate) fn words(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

/// Prints a command that is about to run.
pub(crate) fn show(command: &mut Command) -> &mut Command {
    eprintln!("> {}", words(command));
    command
}

/// Runs a command and shows it first; it must succeed.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = show(command).status().map_err(|error| format!("{}: {error}", words(command)))?;
    if status.success() { Ok(()) } else { Err(format!("{}: {status}", words(command))) }
}

/// Returns true if a program is installed.
pub(crate) fn exists(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}
