//! The chores, each a list of commands.

use std::process::Command;

use crate::python::{environment, python};
use crate::run::{Result, cargo, command, exists, root, run, target};
use crate::suites::BROWSER;
use crate::{fuzz, suites, wheel};

/// The version of cargo-deny that is installed where there is none.
const DENY: &str = "cargo-deny@0.20.2";

/// All that speaks to devices.
const DEVICES: &str = "gradus-gpu/cuda,gradus-gpu/wgpu";

pub(crate) fn check() -> Result<()> {
    run(cargo().args(["fmt", "--all", "--", "--check"]))?;
    let clippy = ["clippy", "--workspace", "--all-targets", "--quiet", "--features", DEVICES];
    run(cargo().args(clippy).args(["--", "-D", "warnings"]))?;
    // As it is where nobody asks for devices.
    run(cargo().args(["clippy", "-p", "gradus-gpu", "--quiet", "--", "-D", "warnings"]))?;
    // The fuzz targets are a workspace of their own.
    fuzz::cargo_on_targets("clippy", &["--", "-D", "warnings"])?;
    run(cargo()
        .args(["doc", "--workspace", "--no-deps", "--quiet", "--features", DEVICES])
        .env("RUSTDOCFLAGS", "-D warnings"))?;
    site()?;
    // Advisories are not checked: their database is not in a registry.
    run(deny()?.args(["check", "bans", "licenses", "sources"]))
}

/// Packages that build the documentation, and check workflows.
const SITE: &[&str] =
    &["mkdocs-material==9.8.1", "mkdocstrings[python]==1.0.8", "ruff==0.14.5", "check-jsonschema==0.39.0"];

/// Builds the documentation into `site` in the target folder; broken links and references are
/// errors. The workflows must be ones that GitHub reads.
pub(crate) fn site() -> Result<()> {
    let python = || environment("site-builder", SITE);
    let mut build = python()?;
    build.args(["-m", "mkdocs", "build", "--strict", "--site-dir"]).arg(target("site")?);
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
    environment(BROWSER.0, BROWSER.1)?;
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

/// Writes the documents that the tables of the crate `gradus` make, or compares them.
pub(crate) fn documents(check: bool) -> Result<()> {
    let mut test = suites::cargo_test(&["--test", "documents"], &[], &[]);
    run(if check { &mut test } else { test.env("GRADUS_WRITE_DOCUMENTS", "1") })
}

/// Calls a function with each of the scripts that make the tables of facts and the examples.
pub(crate) fn tables(check: bool, mut run: impl FnMut(&mut Command) -> Result<()>) -> Result<()> {
    for script in [
        "scripts/onnx_tables.py",
        "scripts/onnxruntime_tables.py",
        "scripts/openvino_tables.py",
        "scripts/runtime_tables.py",
        "scripts/architectures.py",
        "scripts/examples.py",
        "scripts/fixtures.py",
        "scripts/special_polynomials.py",
    ] {
        let mut python = python()?;
        python.arg(script);
        run(if check { python.arg("--check") } else { &mut python })?;
    }
    Ok(())
}
