//! The Python package: its wheel, and its tests from the installed wheel.

use std::path::PathBuf;

use crate::python::environment;
use crate::run::{Result, command, root, run};

/// What builds wheels.
const MATURIN: &str = "maturin==1.16.0";

/// What the tests need beside the package.
const TESTS: &str = "crates/python/tests/requirements.txt";

/// Builds the wheel, for Python 3.10 and newer, and gives its path.
pub(crate) fn wheel() -> Result<PathBuf> {
    build("release", "target/wheels")
}

/// Builds a wheel by a profile of Cargo into a folder that then holds nothing else.
fn build(profile: &str, wheels: &str) -> Result<PathBuf> {
    let folder = root().join(wheels);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let python = environment("target/maturin", &[MATURIN])?;
    let mut maturin = command(root().join("target/maturin/bin/maturin"));
    maturin.args(["build", "--profile", profile, "--locked", "--quiet", "--out", wheels, "--interpreter"]);
    run(maturin.arg(python.get_program()))?;
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let wheel = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"));
    wheel.ok_or_else(|| format!("maturin left no wheel in {wheels}"))
}

/// Runs the package's tests from a wheel that is installed beside what they need. It is built as tests are: with checks of
/// overflow, and from what is compiled for them already.
pub(crate) fn test() -> Result<()> {
    let wheel = build("dev", "target/wheels-test")?;
    let wanted = std::fs::read_to_string(root().join(TESTS)).map_err(|error| format!("{TESTS}: {error}"))?;
    let python = || environment("target/venv-python", &wanted.lines().collect::<Vec<_>>());
    let pip =
        ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--force-reinstall", "--no-deps"];
    run(python()?.args(pip).arg(&wheel))?;
    run(python()?.args(["-m", "mypy", "-p", "gradus"]))?;
    // What is tested is the installed package, not the folder.
    run(python()?.args(["-m", "pytest", "crates/python/tests"]))
}
