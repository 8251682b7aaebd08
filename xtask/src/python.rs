//! Virtual environments with the packages that upstream's cases come from.

use std::process::Command;

use crate::run::{Result, command, root, run};

const REQUIREMENTS: &str = "conformance/requirements.txt";

/// Python with the packages of `conformance/requirements.txt`.
pub(crate) fn python() -> Result<Command> {
    let wanted = std::fs::read_to_string(root().join(REQUIREMENTS))
        .map_err(|error| format!("{REQUIREMENTS}: {error}"))?;
    environment("target/venv", &wanted.lines().collect::<Vec<_>>())
}

/// Python in the environment of that folder, with the packages installed.
pub(crate) fn environment(folder: &str, packages: &[&str]) -> Result<Command> {
    let environment = root().join(folder);
    let python = environment.join("bin/python");
    let wanted = packages.join("\n");
    let mark = environment.join("installed.txt");
    if std::fs::read_to_string(&mark).is_ok_and(|installed| installed == wanted) {
        return Ok(command(python));
    }
    run(command("python3").args(["-m", "venv", folder]))?;
    run(command(&python)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(packages))?;
    std::fs::write(&mark, wanted).map_err(|error| format!("{}: {error}", mark.display()))?;
    Ok(command(python))
}
