//! The chores, each a list of commands.

use std::path::Path;

use crate::docs;
use crate::python::python;
use crate::run::{Result, cargo, command, exists, root, run};
use crate::wheel;

/// The version of cargo-deny that is installed where there is none.
const DENY: &str = "cargo-deny@0.20.2";

/// What the compiler must be told so that libFuzzer sees which code runs; stable Rust has no switch for it.
const COVERAGE: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1";

/// Naming the target keeps these flags away from build scripts.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// All that speaks to devices.
const DEVICES: &str = "gradus-gpu/cuda,gradus-gpu/wgpu";

pub(crate) fn check() -> Result<()> {
    run(cargo().args(["fmt", "--all", "--", "--check"]))?;
    let clippy = ["clippy", "--workspace", "--all-targets", "--quiet", "--features", DEVICES];
    run(cargo().args(clippy).args(["--", "-D", "warnings"]))?;
    // As it is where nobody asks for devices.
    run(cargo().args(["clippy", "-p", "gradus-gpu", "--quiet", "--", "-D", "warnings"]))?;
    run(cargo()
        .args(["doc", "--workspace", "--no-deps", "--quiet", "--features", DEVICES])
        .env("RUSTDOCFLAGS", "-D warnings"))?;
    docs::write(true)?;
    // Advisories are not checked: their database is not in a registry.
    let what = ["check", "bans", "licenses", "sources"];
    if exists("cargo-deny") {
        return run(command("cargo-deny").args(what));
    }
    let tools = root().join("target/tools");
    let deny = tools.join("bin/cargo-deny");
    if !deny.exists() {
        // Without optimisation, which takes longer than it saves.
        run(cargo().args(["install", "--debug", "--locked", "--quiet", "--root"]).arg(&tools).arg(DENY))?;
    }
    run(command(deny).args(what))
}

pub(crate) fn test(fuzz_seconds: u32) -> Result<()> {
    run(cargo().args(["test", "--workspace", "--quiet"]))?;
    devices()?;
    tables(true)?;
    wheel::test()?;
    // Most of upstream's cases keep one core busy; the other builds what comes after them.
    std::thread::scope(|scope| {
        let built = scope.spawn(|| {
            fuzz_build()?;
            run(cargo().args(["build", "--release", "--quiet", "-p", "gradus-bench"]))
        });
        conformance()?;
        built.join().unwrap_or_else(|_| Err("a build beside the upstream cases panicked".to_owned()))
    })?;
    accuracy(ELEMENTS, 1)?;
    memcheck()?;
    fuzz(fuzz_seconds, None)
}

/// The tests of devices, on one of Vulkan, which may be software; they say so if there is none.
pub(crate) fn devices() -> Result<()> {
    let tests = ["test", "--quiet", "-p", "gradus-gpu", "--features", "cuda,wgpu", "--", "--nocapture"];
    run(cargo().args(tests))
}

/// Elements of each float type that are checked if nothing is said.
pub(crate) const ELEMENTS: u64 = 10_000_000;

pub(crate) fn accuracy(elements: u64, seed: u64) -> Result<()> {
    let (elements, seed) = (elements.to_string(), seed.to_string());
    let program = ["run", "--release", "--quiet", "-p", "gradus-bench", "--", "accuracy"];
    run(cargo().args(program).args(["--elements", &elements, "--seed", &seed]))
}

/// Runs the test of memory under valgrind, where there is one.
pub(crate) fn memcheck() -> Result<()> {
    if !exists("valgrind") {
        eprintln!("xtask: there is no valgrind: the unsafe code is not run under it");
        return Ok(());
    }
    // No processor that valgrind knows has AVX-512, so the level is not among those that the test finds.
    eprintln!("xtask: valgrind emulates no AVX-512; that level is compared with the others by the tests");
    let valgrind = "valgrind --quiet --error-exitcode=9 --leak-check=no";
    run(cargo()
        .args(["test", "--quiet", "-p", "gradus-kernels", "--test", "memory", "--", "--nocapture"])
        .args(["--test-threads", "1"])
        .env("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", valgrind)
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", valgrind))
}

/// The tables of facts and the examples, which scripts make.
pub(crate) fn tables(check: bool) -> Result<()> {
    for script in
        ["scripts/onnx_tables.py", "scripts/openvino_tables.py", "scripts/examples.py", "scripts/fixtures.py"]
    {
        let mut python = python()?;
        python.arg(script);
        run(if check { python.arg("--check") } else { &mut python })?;
    }
    Ok(())
}

pub(crate) fn conformance() -> Result<()> {
    let cases = root().join("target/conformance");
    if cases.exists() {
        std::fs::remove_dir_all(&cases).map_err(|error| format!("{}: {error}", cases.display()))?;
    }
    std::fs::create_dir_all(&cases).map_err(|error| format!("{}: {error}", cases.display()))?;
    let operators = cargo().args(["run", "--quiet", "-p", "gradus-cli", "--", "ops", "--json"]).output();
    let operators = operators.map_err(|error| format!("gradus ops: {error}"))?;
    let list = cases.join("operators.json");
    std::fs::write(&list, operators.stdout).map_err(|error| format!("{}: {error}", list.display()))?;
    let script =
        |name: &str, arguments: &[&Path]| run(python()?.arg(format!("conformance/{name}")).args(arguments));
    script("onnx_nodes.py", &[&list, &cases.join("onnx")])?;
    script("casts.py", &[&cases.join("casts")])?;
    script("openvino_ops.py", &[&cases.join("openvino")])?;
    script("openvino_shapes.py", &[&cases.join("openvino_shapes.json"), Path::new("2"), Path::new("20")])?;
    run(cargo()
        .args(["test", "--quiet", "-p", "gradus", "--test", "conformance", "--", "--include-ignored"])
        .env("GRADUS_CONFORMANCE", &cases))?;
    written(&cases)?;
    converted(&cases, CONVERTED)?;
    corpus_models(&cases)
}

/// Has OpenVINO read and run the recorded models of its own, written anew.
fn written(cases: &Path) -> Result<()> {
    let folder = cases.join("written");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    run(cargo()
        .args(["test", "--quiet", "-p", "gradus", "--test", "openvino_fold", "written_anew"])
        .env("GRADUS_WRITTEN", &folder))?;
    run(python()?.arg("conformance/openvino_written.py").arg(folder))
}

/// Random models that are converted, if nothing is said.
const CONVERTED: u32 = 60;

/// Runs what conversion writes: random models there and back again, upstream's cases, programs of Paddle, the corpus.
fn converted(cases: &Path, count: u32) -> Result<()> {
    let random = cases.join("converted");
    run(cargo()
        .args(["test", "--quiet", "-p", "gradus", "--test", "conversion", "random"])
        .env("GRADUS_CONVERSION", &random)
        .env("GRADUS_CONVERSION_COUNT", count.to_string()))?;
    run(python()?.arg("conformance/convert.py").arg("target/debug/gradus").arg(random))
}

/// The models of the corpus: they open, their shapes are inferred, folding keeps their values; and every value of the OpenVINO
/// models, as OpenVINO computes it, against what is inferred.
fn corpus_models(cases: &Path) -> Result<()> {
    let Some(corpus) = std::env::var_os("GRADUS_CORPUS") else {
        eprintln!("xtask: GRADUS_CORPUS is not set: no models of a corpus are compared");
        return Ok(());
    };
    let tests = ["--test", "corpus", "--test", "inference", "--test", "fold", "--", "--ignored"];
    run(cargo().args(["test", "--quiet", "-p", "gradus"]).args(tests))?;
    let truth = cases.join("openvino_truth");
    run(python()?.arg("conformance/openvino_truth.py").arg(&truth).arg(corpus))?;
    run(cargo()
        .args([
            "test",
            "--quiet",
            "-p",
            "gradus",
            "--test",
            "openvino",
            "--",
            "--include-ignored",
            "--nocapture",
        ])
        .env("GRADUS_OPENVINO_TRUTH", &truth))
}

/// Builds the fuzz targets, if there is a compiler for libFuzzer.
fn fuzz_build() -> Result<()> {
    if !exists("c++") {
        return Ok(());
    }
    let folder = root().join("fuzz");
    run(cargo()
        .args(["build", "--release", "--quiet", "--target", TARGET])
        .env("RUSTFLAGS", COVERAGE)
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .current_dir(&folder))
}

pub(crate) fn fuzz(seconds: u32, only: Option<&str>) -> Result<()> {
    if !exists("c++") {
        eprintln!("xtask: there is no C++ compiler for libFuzzer: the fuzz targets are not run");
        return Ok(());
    }
    fuzz_build()?;
    let folder = root().join("fuzz");
    let targets =
        std::fs::read_dir(folder.join("targets")).map_err(|error| format!("fuzz/targets: {error}"))?;
    let mut targets: Vec<_> = targets
        .filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_string_lossy().into_owned()))
        .filter(|name| only.is_none_or(|only| only == name))
        .collect();
    targets.sort();
    if targets.is_empty() {
        return Err(format!("there is no fuzz target {}", only.unwrap_or_default()));
    }
    // Two at a time: each takes one core.
    for pair in targets.chunks(2) {
        std::thread::scope(|scope| {
            let runs: Vec<_> =
                pair.iter().map(|name| scope.spawn(|| fuzz_target(&folder, name, seconds))).collect();
            runs.into_iter().try_for_each(|run| {
                run.join().unwrap_or_else(|_| Err("what runs a fuzz target panicked".to_owned()))
            })
        })?;
    }
    Ok(())
}

fn fuzz_target(folder: &Path, name: &str, seconds: u32) -> Result<()> {
    let corpus = folder.join("corpus").join(name);
    std::fs::create_dir_all(&corpus).map_err(|error| format!("{}: {error}", corpus.display()))?;
    if name == "openvino_model" {
        run(python()?.arg("conformance/openvino_seeds.py").arg(&corpus))?;
    }
    run(command(folder.join("target").join(TARGET).join("release").join(name))
        .arg(&corpus)
        .args(["examples", "crates/formats/tests/data", "conformance/recorded/paddle"])
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-artifact_prefix={}/", corpus.display()))
        .args([
            "-timeout=10",
            "-rss_limit_mb=2048",
            "-max_len=65536",
            "-verbosity=0",
            "-print_final_stats=1",
            "-close_fd_mask=0",
        ]))
}
