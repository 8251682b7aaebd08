//! The chores, each a list of commands.

use std::path::Path;
use std::process::Command;

use crate::docs;
use crate::python::{environment, python};
use crate::run::{Result, cargo, command, create, exists, root, run, target};
use crate::tally::Tally;
use crate::wheel;

/// The version of cargo-deny that is installed where there is none.
const DENY: &str = "cargo-deny@0.20.2";

/// Compiler flags by which libFuzzer sees which code runs; stable Rust has no switch
/// for it.
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
    site()?;
    // Advisories are not checked: their database is not in a registry.
    run(deny()?.args(["check", "bans", "licenses", "sources"]))
}

/// Packages that build the documentation, and check workflows.
const SITE: &[&str] = &["mkdocs-material==9.8.1", "mkdocstrings[python]==1.0.8", "check-jsonschema==0.39.0"];

/// Builds the documentation into `site` in the target folder; broken links and references are
/// errors. The workflows must be ones that GitHub reads.
pub(crate) fn site() -> Result<()> {
    let python = || environment("site-builder", SITE);
    let mut build = python()?;
    build.args(["-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir"]).arg(target("site")?);
    run(build.env("NO_MKDOCS_2_WARNING", "1"))?;
    let check = ["-m", "check_jsonschema", "--quiet", "--builtin-schema", "vendor.github-workflows"];
    let workflows =
        ["tests", "wheels", "release", "docs"].map(|name| format!(".github/workflows/{name}.yml"));
    run(python()?.args(check).args(workflows))
}

/// cargo-deny, which is installed if it is not there.
fn deny() -> Result<Command> {
    if exists("cargo-deny") {
        return Ok(command("cargo-deny"));
    }
    let tools = target("tools")?;
    let deny = tools.join("bin").join("cargo-deny").with_extension(std::env::consts::EXE_EXTENSION);
    if !deny.exists() {
        // Without optimisation, which takes longer than it saves.
        run(cargo().args(["install", "--debug", "--locked", "--quiet", "--root"]).arg(&tools).arg(DENY))?;
    }
    Ok(command(deny))
}

/// Installs what the other chores need and downloads it, so that they need no network.
pub(crate) fn setup() -> Result<()> {
    run(cargo().args(["fetch", "--locked"]))?;
    run(cargo().args(["fetch", "--locked"]).current_dir(root().join("fuzz")))?;
    deny()?;
    wheel::prepare()?;
    environment("site-builder", SITE)?;
    python().map(drop)
}

/// Elements of each float type that are checked if nothing is said.
pub(crate) const ELEMENTS: u64 = 10_000_000;

/// Checks of fills against arbitrary precision.
pub(crate) fn accuracy(elements: u64, seed: u64) -> Command {
    let (elements, seed) = (elements.to_string(), seed.to_string());
    let mut command = cargo();
    command.args(["run", "--release", "--quiet", "-p", "gradus-bench", "--", "accuracy"]);
    command.args(["--elements", &elements, "--seed", &seed]);
    command
}

pub(crate) fn accuracy_build() -> Result<()> {
    run(cargo().args(["build", "--release", "--quiet", "-p", "gradus-bench"]))
}

/// Calls a function with each of the scripts that make the tables of facts and the examples.
pub(crate) fn tables(check: bool, mut run: impl FnMut(&mut Command) -> Result<()>) -> Result<()> {
    for script in
        ["scripts/onnx_tables.py", "scripts/openvino_tables.py", "scripts/examples.py", "scripts/fixtures.py"]
    {
        let mut python = python()?;
        python.arg(script);
        run(if check { python.arg("--check") } else { &mut python })?;
    }
    Ok(())
}

/// Builds the fuzz targets, if there is a compiler for libFuzzer.
pub(crate) fn fuzz_build() -> Result<()> {
    if !exists("c++") {
        return Ok(());
    }
    run(cargo()
        .args(["build", "--release", "--quiet", "--target", TARGET])
        .env("RUSTFLAGS", COVERAGE)
        .env("CARGO_TARGET_DIR", target("fuzz")?)
        .current_dir(root().join("fuzz")))
}

/// Runs fuzz targets outside of the suites.
pub(crate) fn fuzz_only(seconds: u32, only: Option<&str>) -> Result<()> {
    let mut tally = Tally::default();
    fuzz(seconds, only, 0, &mut tally)?;
    if tally.failed == 0 { Ok(()) } else { Err(tally.errors.join("\n")) }
}

/// Runs fuzz targets, each of which counts as one test. One seed gives the same inputs in each
/// clone; seed 0 is another one each time.
pub(crate) fn fuzz(seconds: u32, only: Option<&str>, seed: u32, tally: &mut Tally) -> Result<()> {
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
        let commands =
            pair.iter().map(|name| fuzz_target(&folder, name, seconds, seed)).collect::<Result<Vec<_>>>()?;
        tally.run_beside(commands);
    }
    Ok(())
}

fn fuzz_target(folder: &Path, name: &str, seconds: u32, seed: u32) -> Result<Command> {
    let corpus = folder.join("corpus").join(name);
    create(&corpus)?;
    if name == "openvino_model" {
        run(python()?.arg("conformance/openvino_seeds.py").arg(&corpus))?;
    }
    let mut fuzz = command(target("fuzz")?.join(TARGET).join("release").join(name));
    fuzz.arg(&corpus)
        .args(["examples", "crates/formats/tests/data", "conformance/recorded/paddle"])
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-seed={seed}"))
        .arg(format!("-artifact_prefix={}/", corpus.display()))
        .args([
            "-timeout=10",
            "-rss_limit_mb=2048",
            "-max_len=65536",
            "-verbosity=0",
            "-print_final_stats=1",
            "-close_fd_mask=0",
        ]);
    Ok(fuzz)
}
