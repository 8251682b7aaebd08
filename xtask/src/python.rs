//! Virtual environments with the packages that upstream's cases come from.

use std::path::Path;
use std::process::Command;

use crate::run::{Result, command, root, run};

const REQUIREMENTS: &str = "conformance/requirements.txt";

/// Settings by which NumPy, `OpenBLAS` and oneDNN give the same bits on every x86-64 processor that has AVX2, with any number of
/// cores. Names of features that a processor lacks have no effect. ONNX Runtime has no such setting.
const PINNED: [(&str, &str); 4] = [
    ("NPY_DISABLE_CPU_FEATURES", "X86_V4 AVX512_ICL AVX512_SPR"),
    ("OPENBLAS_CORETYPE", "Haswell"),
    ("OPENBLAS_NUM_THREADS", "1"),
    ("ONEDNN_MAX_CPU_ISA", "AVX2"),
];

/// The variable that leaves packages to choose by the processor.
const UNPINNED: &str = "GRADUS_UNPINNED";

/// Runs a Python, with pinned packages.
fn pinned(python: &Path) -> Command {
    let mut command = command(python);
    if cfg!(target_arch = "x86_64") && std::env::var_os(UNPINNED).is_none() {
        command.envs(PINNED);
    }
    command
}

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
        return Ok(pinned(&python));
    }
    run(command("python3").args(["-m", "venv", folder]))?;
    run(command(&python)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(packages))?;
    std::fs::write(&mark, wanted).map_err(|error| format!("{}: {error}", mark.display()))?;
    Ok(pinned(&python))
}
