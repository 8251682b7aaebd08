//! The fuzz targets: built, run, and what they start from.

use std::path::PathBuf;
use std::process::Command;

use crate::python::python;
use crate::run::{Result, cargo, command, create, exists, remove, root, run, target};
use crate::tally::Tally;

/// Compiler flags by which libFuzzer sees which code runs; stable Rust has no switch for it.
const COVERAGE: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1";

/// Naming the target keeps these flags away from build scripts.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Folders of models that fuzz targets start from, besides what is packed in `fuzz/kept`.
const SEEDS: [&str; 3] = ["examples", "crates/formats/tests/data", "conformance/recorded/paddle"];

/// Builds the fuzz targets.
pub(crate) fn build() -> Result<()> {
    cargo_on_targets("build", &["--release"])
}

/// Runs cargo on the fuzz targets, if there is a compiler for libFuzzer.
pub(crate) fn cargo_on_targets(subcommand: &str, arguments: &[&str]) -> Result<()> {
    if !exists("c++") {
        return Ok(());
    }
    run(cargo()
        .args([subcommand, "--quiet", "--target", TARGET])
        .args(arguments)
        .env("RUSTFLAGS", COVERAGE)
        .env("CARGO_TARGET_DIR", target("fuzz")?)
        .current_dir(root().join("fuzz")))
}

/// Runs fuzz targets outside of the suites, and packs what they found where that is wanted.
pub(crate) fn only(seconds: u32, only: Option<&str>, keep: bool) -> Result<()> {
    let mut tally = Tally::default();
    run_targets(seconds, only, 0, &mut tally)?;
    if tally.failed > 0 {
        return Err(tally.errors.join("\n"));
    }
    for name in targets(only)?.iter().filter(|_| keep) {
        // The smallest inputs that reach all that the corpus reaches.
        let least = target("fuzz")?.join("least").join(name);
        remove(&least)?;
        create(&least)?;
        let mut merge = command(binary(name)?);
        merge.args(["-set_cover_merge=1", "-max_len=2048", "-verbosity=0"]).arg(&least);
        run(merge.arg(corpus(name)).args(SEEDS))?;
        run(python()?.args(["scripts/fuzz_corpus.py", "pack", name]).arg(&least))?;
    }
    Ok(())
}

/// The names of the fuzz targets, in order.
fn targets(only: Option<&str>) -> Result<Vec<String>> {
    let folder = root().join("fuzz/src/bin");
    let files = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut targets: Vec<_> = files
        .filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_string_lossy().into_owned()))
        .filter(|name| only.is_none_or(|only| only == name))
        .collect();
    targets.sort();
    match only {
        Some(only) if targets.is_empty() => Err(format!("there is no fuzz target {only}")),
        _ => Ok(targets),
    }
}

fn corpus(name: &str) -> PathBuf {
    root().join("fuzz/corpus").join(name)
}

fn binary(name: &str) -> Result<PathBuf> {
    Ok(target("fuzz")?.join(TARGET).join("release").join(name))
}

/// Runs fuzz targets, each of which counts as one test. One seed gives the same inputs at first;
/// what is reached, and so what follows, depends on the order of hash maps. Seed 0 is another one
/// each time.
pub(crate) fn run_targets(seconds: u32, only: Option<&str>, seed: u32, tally: &mut Tally) -> Result<()> {
    build()?;
    // Two at a time: each takes one core.
    for pair in targets(only)?.chunks(2) {
        let commands = pair.iter().map(|name| target_run(name, seconds, seed)).collect::<Result<Vec<_>>>()?;
        let failed = tally.failed;
        tally.run_beside(commands);
        if tally.failed > failed {
            for name in pair {
                tally.errors.extend(findings(name)?);
            }
        }
    }
    Ok(())
}

/// Maximum number of bytes of an input that are printed.
const PRINTED: usize = 2048;

/// Messages of the inputs that end a target, and the inputs in hexadecimal: all that a reader of a
/// long output needs to see them again.
fn findings(name: &str) -> Result<Vec<String>> {
    let folder = corpus(name);
    let files = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut findings = Vec::new();
    for path in files.filter_map(|entry| Some(entry.ok()?.path())) {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        if !["crash-", "oom-", "timeout-"].iter().any(|prefix| file.starts_with(prefix)) {
            continue;
        }
        let failed = |error| format!("{}: {error}", path.display());
        let input = std::fs::read(&path).map_err(failed)?;
        let replay = command(binary(name)?).arg("-timeout=10").arg(&path).output().map_err(failed)?;
        if replay.status.success() {
            continue;
        }
        let hex: Vec<_> = input.iter().take(PRINTED).map(|byte| format!("{byte:02x}")).collect();
        let said = String::from_utf8_lossy(&replay.stderr);
        let message: Vec<_> = said.lines().skip_while(|line| !line.contains("panicked at")).take(2).collect();
        findings.push(format!("{name}: {file} ({}): {}: {}", replay.status, message.join(" "), hex.concat()));
    }
    Ok(findings)
}

fn target_run(name: &str, seconds: u32, seed: u32) -> Result<Command> {
    let corpus = corpus(name);
    create(&corpus)?;
    run(python()?.args(["scripts/fuzz_corpus.py", "unpack", name]).arg(&corpus))?;
    let mut fuzz = command(binary(name)?);
    fuzz.arg(&corpus)
        .args(SEEDS)
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
