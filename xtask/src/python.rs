//! Virtual environments with the packages that upstream's cases come from.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use crate::run::{Result, command, root, run, target};

/// The oldest Python that runs the scripts: `tomllib` came with it, and so did the versions of
/// packages that are installed.
const OLDEST: (u32, u32) = (3, 11);

const REQUIREMENTS: &str = "conformance/requirements.txt";

/// Settings by which NumPy, `OpenBLAS` and oneDNN give the same bits on every x86-64 processor that
/// has AVX2, with any number of cores. Names of features that a processor lacks have no effect.
/// ONNX Runtime has no such setting.
const PINNED: [(&str, &str); 4] = [
    ("NPY_DISABLE_CPU_FEATURES", "X86_V4 AVX512_ICL AVX512_SPR"),
    ("OPENBLAS_CORETYPE", "Haswell"),
    ("OPENBLAS_NUM_THREADS", "1"),
    (ISA_OF_ONEDNN, "AVX2"),
];

/// The variable that says which instructions oneDNN, and OpenVINO with it, may use.
pub(crate) const ISA_OF_ONEDNN: &str = "ONEDNN_MAX_CPU_ISA";

/// The variable that leaves packages to choose by the processor.
const UNPINNED: &str = "GRADUS_UNPINNED";

/// Runs a Python, with pinned packages.
fn pinned(python: &Path) -> Command {
    let mut command = command(python);
    // The encoding of files and output does not depend on the locale.
    command.env("PYTHONUTF8", "1");
    if cfg!(target_arch = "x86_64") && std::env::var_os(UNPINNED).is_none() {
        command.envs(PINNED);
    }
    command
}

/// Python with the packages of `conformance/requirements.txt`.
pub(crate) fn python() -> Result<Command> {
    required("venv", REQUIREMENTS)
}

/// Python with the packages that a file of requirements lists.
pub(crate) fn required(folder: &str, requirements: &str) -> Result<Command> {
    let wanted = std::fs::read_to_string(root().join(requirements))
        .map_err(|error| format!("{requirements}: {error}"))?;
    environment(folder, &wanted.lines().collect::<Vec<_>>())
}

/// A program of a virtual environment.
pub(crate) fn program_in(environment: &Path, name: &str) -> PathBuf {
    if cfg!(windows) {
        environment.join("Scripts").join(name).with_extension("exe")
    } else {
        environment.join("bin").join(name)
    }
}

/// Python in an environment of that name in the target folder, with the packages installed. They
/// are installed once: later calls need no network.
pub(crate) fn environment(folder: &str, packages: &[&str]) -> Result<Command> {
    // Suites that run at the same time may want the same one.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock();
    let environment = target(folder)?;
    let program = program_in(&environment, "python");
    let python = || pinned(&program);
    let wanted = packages.join("\n");
    let mark = environment.join("installed.txt");
    if std::fs::read_to_string(&mark).is_ok_and(|installed| installed == wanted) {
        return Ok(python());
    }
    run(command(interpreter()?).args(["-m", "venv"]).arg(&environment))?;
    run(python().args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages))?;
    std::fs::write(&mark, wanted).map_err(|error| format!("{}: {error}", mark.display()))?;
    Ok(python())
}

/// The first Python on the path that is new enough.
fn interpreter() -> Result<&'static str> {
    let (major, minor) = OLDEST;
    let mut found = Vec::new();
    for name in ["python3", "python", "python3.13", "python3.12", "python3.11"] {
        let Some(version) = version(name) else { continue };
        if version >= OLDEST {
            return Ok(name);
        }
        found.push(format!("{name} is {}.{}", version.0, version.1));
    }
    let found = if found.is_empty() { "no python3 is on the path".to_owned() } else { found.join(", ") };
    Err(format!("cannot run the Python scripts: {found}, expected Python {major}.{minor} or newer"))
}

/// The version of a Python, if it is there.
fn version(python: &str) -> Option<(u32, u32)> {
    let program = "import sys; print(*sys.version_info[:2])";
    let output = command(python).args(["-c", program]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().split_once(' ')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
