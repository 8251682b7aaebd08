//! Gradus against other programs, installed and called now: profiles, and the models that `fold`
//! writes.

use std::fs::File;

use crate::python::environment;
use crate::run::{Result, cargo, gradus, remove, run, target};

/// Packages of each profile, in the versions that the profiles imitate.
const PACKAGES: &[(&str, &str)] = &[
    ("onnx-body", "onnx==1.23.2 onnxruntime==1.32.0"),
    ("onnxruntime", "onnx==1.23.2 onnxruntime==1.32.0"),
    ("openvino", "openvino==2026.4.1"),
    ("openvino-cpu", "openvino==2026.4.1"),
    ("openvino-cpu-avx2", "openvino==2026.4.1"),
    ("numpy", ""),
    ("torch", "torch==2.15.0"),
    ("tensorflow", "tensorflow-cpu==2.21.0"),
    ("paddle", "paddlepaddle==3.3.1 setuptools==65.5.0"),
    ("jax", "jax==0.10.2"),
    // No package of Python: `apt-get install octave`.
    ("octave", ""),
];

/// Packages that all profiles need.
const ALWAYS: &str = "numpy==2.4.6 ml_dtypes==0.6.0";

/// The profiles that are compared if none are named: those whose packages are small.
pub(crate) const SMALL: &str = "onnx-body,onnxruntime,openvino,openvino-cpu,openvino-cpu-avx2,numpy";

/// Returns the packages of these profiles.
fn packages(profiles: &[impl AsRef<str>]) -> Result<Vec<&'static str>> {
    let mut wanted: Vec<_> = ALWAYS.split_whitespace().collect();
    for profile in profiles {
        let profile = profile.as_ref();
        let Some((_, packages)) = PACKAGES.iter().find(|(name, _)| *name == profile) else {
            let known: Vec<_> = PACKAGES.iter().map(|(name, _)| *name).collect();
            return Err(format!("{profile} is not a program that is called; known are {}", known.join(", ")));
        };
        wanted.extend(packages.split_whitespace());
    }
    wanted.sort_unstable();
    wanted.dedup();
    Ok(wanted)
}

/// Compares random calls; their number is that of each function of each profile.
pub(crate) fn compare(profiles: &[String], seed: u64, calls: u32) -> Result<()> {
    let wanted = packages(profiles)?;
    let mut python = environment("venv-peers", &wanted)?;
    python.arg("conformance/peers.py").args([seed.to_string(), calls.to_string(), profiles.join(",")]);
    let answers = target("peers.jsonl")?;
    let file = File::create(&answers).map_err(|error| format!("{}: {error}", answers.display()))?;
    run(python.stdout(file))?;
    let test =
        ["test", "--quiet", "-p", "gradus-profiles", "--test", "peers", "--", "--ignored", "--nocapture"];
    run(cargo().args(test).env("GRADUS_PEERS", &answers))?;
    if profiles.iter().any(|profile| profile == "paddle") { programs(&wanted, seed, calls) } else { Ok(()) }
}

/// Runs random programs that Paddle saves, and compares what it gives for them.
fn programs(packages: &[&str], seed: u64, count: u32) -> Result<()> {
    let folder = target("paddle")?;
    remove(&folder)?;
    let mut python = environment("venv-peers", packages)?;
    run(python
        .arg("conformance/paddle_programs.py")
        .arg("random")
        .arg(&folder)
        .args([seed.to_string(), count.to_string()]))?;
    let test =
        ["test", "--quiet", "-p", "gradus", "--test", "models", "--", "paddle::", "--ignored", "--nocapture"];
    run(cargo().args(test).env("GRADUS_PADDLE", &folder))?;
    networks()
}

/// Runs, infers and converts networks that Paddle saves, and compares what it gives for them.
fn networks() -> Result<()> {
    let folder = target("paddle-networks")?;
    remove(&folder)?;
    let gradus = gradus(&["-p", "gradus-cli", "--release"])?;
    let wanted = packages(&["paddle", "onnxruntime", "openvino"])?;
    for (mode, rest) in [("make", None), ("check", Some(&gradus))] {
        let mut python = environment("venv-peers", &wanted)?;
        run(python.arg("conformance/paddle_networks.py").arg(mode).arg(&folder).args(rest))?;
    }
    Ok(())
}

/// Folds the corpus, the models of the `onnx` package and the recorded ones of OpenVINO, and runs
/// what comes out beside the originals.
pub(crate) fn fold() -> Result<()> {
    let gradus = gradus(&["-p", "gradus-cli", "--release"])?;
    let mut wanted = packages(&["onnxruntime", "openvino"])?;
    // The reference of the `onnx` package decodes images with it.
    wanted.push("pillow==13.0.0");
    let mut python = environment("venv-fold", &wanted)?;
    run(python.arg("conformance/fold.py").arg(&gradus).args(["--peers", "openvino"]))?;
    let mut python = environment("venv-fold", &wanted)?;
    run(python.arg("conformance/openvino_fold.py").arg(&gradus))
}

/// Runs every command on models that people ship, beside ONNX Runtime and OpenVINO. Packages are
/// downloaded once.
pub(crate) fn production() -> Result<()> {
    let gradus = gradus(&["-p", "gradus-cli", "--release"])?;
    let mut python = environment("venv-peers", &packages(&["onnxruntime", "openvino"])?)?;
    run(python.arg("conformance/production.py").arg(gradus).arg(target("production")?))
}
