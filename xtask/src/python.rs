//! A virtual environment with the packages that upstream's cases come from.

use std::path::PathBuf;
use std::process::Command;

use crate::run::{Result, command, root, run};

const REQUIREMENTS: &str = "conformance/requirements.txt";

/// Python in an environment under `target/`, with the packages installed.
pub(crate) fn python() -> Result<Command> {
    let environment: PathBuf = root().join("target/venv");
    let python = environment.join("bin/python");
    let wanted = std::fs::read_to_string(root().join(REQUIREMENTS))
        .map_err(|error| format!("{REQUIREMENTS}: {error}"))?;
    let mark = environment.join("installed.txt");
    if std::fs::read_to_string(&mark).is_ok_and(|installed| installed == wanted) {
        return Ok(command(python));
    }
    run(command("python3").args(["-m", "venv", "target/venv"]))?;
    run(command(&python).args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "-r",
        REQUIREMENTS,
    ]))?;
    std::fs::write(&mark, wanted).map_err(|error| format!("{}: {error}", mark.display()))?;
    Ok(command(python))
}
