//! The Python package: its wheel, and its tests from the installed wheel.

use std::path::{Path, PathBuf};

use crate::python::{environment, program_in, required};
use crate::run::{Result, command, remove, run, target};
use crate::tally::Tally;

/// Environment of what builds wheels.
const BUILDER: &str = "maturin";

/// Environment of the tests.
const TESTER: &str = "venv-python";

/// The tool that builds wheels.
const MATURIN: &str = "maturin==1.16.0";

/// Packages that the tests need besides Gradus.
const TESTS: &str = "crates/python/tests/requirements.txt";

/// Packages that build wheels for Linux: linked by Zig against glibc 2.17, they run wherever
/// manylinux2014 does.
const ZIG: &[&str] = &["maturin[zig]==1.16.0", "auditwheel==6.8.2"];

/// Builds the wheel, for Python 3.10 and newer, and gives its path: in a folder of the target
/// folder, or in that one.
pub(crate) fn wheel(folder: Option<PathBuf>, features: &str) -> Result<PathBuf> {
    let folder = folder.map_or_else(|| target("wheels"), Ok)?;
    if !cfg!(target_os = "linux") {
        return build(BUILDER, &[MATURIN], "dist", &["--features", features], &folder);
    }
    let linux = ["--zig", "--compatibility", "manylinux2014", "--features", features];
    let wheel = build("maturin-zig", ZIG, "dist", &linux, &folder)?;
    // Fails if a symbol is newer than the name of the wheel says.
    let show = ["-m", "auditwheel", "show"];
    run(environment("maturin-zig", ZIG)?.args(show).arg(&wheel))?;
    Ok(wheel)
}

/// Installs what builds and tests wheels, if it is not installed.
pub(crate) fn prepare() -> Result<()> {
    environment(BUILDER, &[MATURIN])?;
    required(TESTER, TESTS).map(drop)
}

/// Builds a wheel by a profile of Cargo into a folder, of which other wheels are removed.
fn build(
    builder: &str,
    packages: &[&str],
    profile: &str,
    options: &[&str],
    folder: &Path,
) -> Result<PathBuf> {
    remove(folder)?;
    let python = environment(builder, packages)?;
    let mut maturin = command(program_in(&target(builder)?, "maturin"));
    maturin.args(["build", "--profile", profile, "--locked", "--quiet", "--out"]).arg(folder).args(options);
    // Zig is a package of that Python, which maturin else seeks on the path.
    maturin.env("CARGO_ZIGBUILD_PYTHON_PATH", python.get_program());
    run(maturin.arg("--interpreter").arg(python.get_program()))?;
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let wheel = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"));
    wheel.ok_or_else(|| format!("maturin left no wheel in {}", folder.display()))
}

/// Runs the package's tests from a wheel that is installed with what they need. It is built as
/// tests are: with checks of overflow, and from what is compiled for them already.
pub(crate) fn test(tally: &mut Tally) -> Result<()> {
    let wheel = build(BUILDER, &[MATURIN], "dev", &[], &target("wheels-test")?)?;
    let python = || required(TESTER, TESTS);
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"];
    run(python()?.args(pip).args(["--force-reinstall", "--no-deps"]).arg(&wheel))?;
    tally.run(python()?.args(["-m", "mypy", "-p", "gradus"]));
    // The stubs are what the compiled module has; PyO3's list of its names is no part of them.
    let allowed = target("stubtest-allowed")?;
    std::fs::write(&allowed, "gradus._native.__all__\n").map_err(|error| error.to_string())?;
    tally.run(python()?.args(["-m", "mypy.stubtest", "gradus._native", "--allowlist"]).arg(allowed));
    let mut checker = python()?;
    let interpreter = checker.get_program().to_owned();
    checker.args(["-m", "basedpyright", "--level", "error", "crates/python/python", "--pythonpath"]);
    tally.run(checker.arg(interpreter));
    // The tests import the installed package, not the folder.
    tally.run(python()?.args(["-m", "pytest", "crates/python/tests"]));
    Ok(())
}
