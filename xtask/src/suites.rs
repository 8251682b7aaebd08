//! The suites of `cargo xtask test`: a table, the order in which they run, and the report at the
//! end.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::c;
use crate::chores;
use crate::fuzz;
use crate::python::{ISA_OF_ONEDNN, environment, python};
use crate::run::{self, Result, cargo, create, exists, remove, target};
use crate::tally::Tally;
use crate::wheel;

/// Options that change how suites run.
#[derive(Debug)]
pub(crate) struct Options {
    /// Seconds for each fuzz target.
    pub(crate) fuzz_seconds: u32,
}

/// A suite of tests. `cargo xtask test NAME` runs it alone, whatever ran before.
pub(crate) struct Suite {
    pub(crate) name: &'static str,
    /// One line for `--help` and the start of the suite.
    pub(crate) about: &'static str,
    /// Runs the tests. An error, which ends the suite, counts as one failure.
    run: fn(&mut Tally, &Options) -> Result<()>,
}

const fn suite(
    name: &'static str,
    about: &'static str,
    run: fn(&mut Tally, &Options) -> Result<()>,
) -> Suite {
    Suite { name, about, run }
}

/// All suites, in the order in which they begin: the longest first, so that none is left alone.
pub(crate) const SUITES: &[Suite] = &[
    suite("workspace", "tests of all crates", |tally, _| {
        test(tally, &["--no-fail-fast"], &[], &[]);
        Ok(())
    }),
    suite("long", "tests of all crates that take long: their names begin with `long_`", |tally, _| {
        test(tally, &["--tests", "--no-fail-fast"], &["--ignored", "long_"], &[]);
        Ok(())
    }),
    suite("cuda", "CUDA kernels and calls of the driver, on the processor", |tally, _| {
        tally.run(&mut of_package(CUDA, &["--nocapture", "--skip", "nvrtc"]));
        Ok(())
    }),
    suite("nvrtc", "CUDA kernels, compiled by NVIDIA's compiler", |tally, _| {
        tally.run(of_package(CUDA, &["--nocapture", "nvrtc"]).env("LD_LIBRARY_PATH", nvrtc()?));
        Ok(())
    }),
    suite("vulkan", "fills on a device of Vulkan, which may be software", |tally, _| {
        let arguments = ["-p", "gradus-gpu", "--test", "devices", "--features", "cuda,wgpu"];
        tally.run(&mut of_package(&arguments, &["--nocapture"]));
        Ok(())
    }),
    suite("fuzz", "the fuzz targets", |tally, options| {
        if exists("c++") {
            fuzz::run_targets(options.fuzz_seconds, None, 1, tally)
        } else {
            tally.skip("no C++ compiler for libFuzzer");
            Ok(())
        }
    }),
    suite("packages", "the crates that are published build from what is packed", |tally, _| {
        tally.run(&mut packages()?);
        remove(&packages_folder()?)
    }),
    suite(
        "features",
        "the library with each of its features alone, inference and fills without them, and of Paddle",
        |tally, _| {
            for features in ["run", "write", "convert", "run,convert"] {
                let library =
                    ["check", "-p", "gradus", "--lib", "--no-default-features", "--features", features];
                tally.run(cargo().args(library));
            }
            let lean = ["-p", "gradus", "--no-default-features", "--test", "lean"];
            tally.run(&mut of_package(&lean, &[]));
            tally.run(&mut of_package(&[&lean[..], &["--features", "paddle"]].concat(), &[]));
            tally.run(&mut of_package(&["-p", "gradus-kernels", "--no-default-features"], &[]));
            Ok(())
        },
    ),
    suite("converted", "converted models, run by OpenVINO and ONNX Runtime", |tally, _| {
        let folder = fresh("converted")?;
        let variables = [
            ("GRADUS_CONVERSION", folder.clone().into()),
            ("GRADUS_CONVERSION_COUNT", CONVERTED.to_string().into()),
        ];
        test(tally, &["--test", "conversion"], &["graphs::random"], &variables);
        let gradus = gradus()?;
        tally.run(compiling()?.arg("conformance/convert.py").arg(gradus).arg(folder));
        Ok(())
    }),
    suite("random-graphs", "random graphs of mixed operators against ONNX Runtime", |tally, _| {
        tally.run(python()?.arg("conformance/random_graphs.py").arg(gradus()?));
        Ok(())
    }),
    suite(
        "forms",
        "operators with combinations of their attributes, in ONNX Runtime and OpenVINO",
        |tally, _| {
            let gradus = gradus()?;
            tally.run(compiling()?.arg("conformance/forms.py").arg(gradus).args(["--sample", FORMS]));
            Ok(())
        },
    ),
    suite("python", "the Python package, from its wheel: types and tests", |tally, _| wheel::test(tally)),
    suite("c", "the C library, installed, from programs of C and C++", |tally, _| c::test(tally)),
    suite("browser", "pages of reports in Chromium, against what the command prints", browser),
    suite("accuracy", "fills of random sequences against arbitrary precision", |tally, _| {
        tally.run(&mut chores::accuracy(chores::ELEMENTS, 1));
        Ok(())
    }),
    suite("tables", "generated tables of facts and examples are up to date", |tally, _| {
        chores::tables(true, |command| {
            tally.run(command);
            Ok(())
        })
    }),
    suite(
        "onnx",
        "node tests of the onnx package against conformance/onnx.toml and infer.toml",
        |tally, _| {
            let (list, cases) = (target("conformance/operators.json")?, fresh("onnx")?);
            let gradus = gradus()?;
            let operators = Command::new(gradus).args(["ops", "--json"]).output();
            let operators = operators.map_err(|error| format!("gradus ops: {error}"))?;
            std::fs::write(&list, operators.stdout)
                .map_err(|error| format!("{}: {error}", list.display()))?;
            script("onnx_nodes.py", &[&list, &cases])?;
            upstream(tally, ONNX)
        },
    ),
    suite(
        "openvino-shapes",
        "random models of OpenVINO against conformance/openvino_shapes.toml",
        |tally, _| {
            let models = fresh("openvino_shapes.json")?;
            script("openvino_shapes.py", &[&models, Path::new("2"), Path::new("20")])?;
            upstream(tally, SHAPES)
        },
    ),
    suite("corpus", "models of GRADUS_CORPUS open, and have the shapes that are recorded", corpus),
    suite(
        "runtimes",
        "models converted for ONNX Runtime, which loads those that are accepted",
        |tally, _| {
            let gradus = gradus()?;
            tally.run(python()?.arg("conformance/runtimes.py").arg(gradus));
            Ok(())
        },
    ),
    suite("openvino-written", "OpenVINO reads and runs its recorded models, written anew", |tally, _| {
        let folder = fresh("written")?;
        create(&folder)?;
        let written = [("GRADUS_WRITTEN", folder.clone().into())];
        test(tally, &["--test", "fold"], &["written_anew"], &written);
        tally.run(compiling()?.arg("conformance/openvino_written.py").arg(folder));
        Ok(())
    }),
    suite("memcheck", "the unsafe code of the kernels under valgrind", memcheck),
    suite(
        "openvino-models",
        "OpenVINO's models of GRADUS_CORPUS have the values OpenVINO computes",
        |tally, _| {
            let Some(corpus) = env::var_os("GRADUS_CORPUS") else {
                tally.skip(NO_CORPUS);
                return Ok(());
            };
            let truth = fresh("openvino_truth")?;
            script("openvino_truth.py", &[&truth, Path::new(&corpus)])?;
            let truth = [("GRADUS_OPENVINO_TRUTH", truth.into())];
            test(
                tally,
                &["--test", "operators"],
                &["openvino::", "--include-ignored", "--nocapture"],
                &truth,
            );
            Ok(())
        },
    ),
    suite("contrib", "random nodes of com.microsoft against ONNX Runtime", |tally, _| {
        let cases = fresh("contrib.json")?;
        script("contrib.py", &[&cases, Path::new("--count"), Path::new("60")])?;
        let cases = [("GRADUS_CONTRIB", cases.into())];
        test(tally, &["--test", "operators"], &["contrib::", "--ignored"], &cases);
        Ok(())
    }),
    suite("openvino", "operators of OpenVINO against conformance/openvino.toml", |tally, _| {
        script("openvino_ops.py", &[&fresh("openvino")?])?;
        upstream(tally, OPENVINO)
    }),
    suite("casts", "conversions between element types against ml_dtypes and onnx", |tally, _| {
        script("casts.py", &[&fresh("casts")?])?;
        upstream(tally, CASTS)
    }),
];

/// The suites that hold Gradus against the programs whose operators it has.
pub(crate) const CONFORMANCE: &[&str] = &[
    "onnx",
    "casts",
    "contrib",
    "openvino",
    "openvino-shapes",
    "openvino-written",
    "converted",
    "random-graphs",
    "forms",
    "runtimes",
    "openvino-models",
];

// Tests of crates/gradus/tests/conformance/ by the suite that runs them.
const ONNX: &[&str] = &["onnx_node_tests", "functions_of_upstreams_inputs"];
const CASTS: &[&str] = &["ml_dtypes"];
const OPENVINO: &[&str] = &["openvino_operators"];
const SHAPES: &[&str] = &["openvino_shape_family"];

const CUDA: &[&str] = &["-p", "gradus-gpu", "--lib", "--test", "driver", "--features", "cuda,wgpu"];

/// NVIDIA's compiler of CUDA C, as a package of Python.
const NVRTC: &str = "nvidia-cuda-nvrtc==13.0.88";

/// The folder of that compiler.
fn nvrtc() -> Result<OsString> {
    let program = "import nvidia.cu13; print(*nvidia.cu13.__path__, 'lib', sep='/')";
    let output = environment("nvrtc", &[NVRTC])?.args(["-c", program]).output();
    let path = output.ok().and_then(|output| String::from_utf8(output.stdout).ok());
    path.map(|path| path.trim().into()).ok_or_else(|| format!("{NVRTC} is not installed"))
}

/// Random models that are converted.
const CONVERTED: u32 = 60;

/// Combinations of attributes of each family of operators that are tried.
const FORMS: &str = "16";

/// The environment of the suite `browser`, and its packages.
pub(crate) const BROWSER: (&str, &[&str]) = ("venv-browser", &["playwright==1.65.2"]);

const NO_CORPUS: &str = "GRADUS_CORPUS is not set";

/// A folder of this process: Cargo takes what it unpacked or built from a local registry for unchanged
/// as long as path and version are the same.
fn packages_folder() -> Result<PathBuf> {
    target(&format!("packages-{}", std::process::id()))
}

fn packages() -> Result<Command> {
    let mut package = cargo();
    // Nobody debugs what only has to build.
    package.env("CARGO_PROFILE_DEV_DEBUG", "false");
    package.args(["package", "--workspace", "--locked", "--allow-dirty", "--quiet", "--target-dir"]);
    package.arg(packages_folder()?);
    for private in ["gradus-python", "gradus-testkit", "gradus-bench", "xtask"] {
        package.args(["--exclude", private]);
    }
    Ok(package)
}

fn corpus(tally: &mut Tally, _: &Options) -> Result<()> {
    if env::var_os("GRADUS_CORPUS").is_none() {
        tally.skip(NO_CORPUS);
        return Ok(());
    }
    let files = ["--test", "inference", "--test", "fold", "--test", "contract"];
    test(tally, &files, &["--ignored", "--skip", "long_"], &[]);
    test(tally, &["--test", "models"], &["corpus::", "--ignored"], &[]);
    test(tally, &["--test", "memory"], &["--ignored", "models_"], &[]);
    Ok(())
}

fn memcheck(tally: &mut Tally, _: &Options) -> Result<()> {
    if !exists("valgrind") {
        tally.skip("no valgrind");
        return Ok(());
    }
    // No processor that valgrind knows has AVX-512, so the level is not among those that the test
    // finds.
    eprintln!("xtask: valgrind emulates no AVX-512; that level is compared with the others by the tests");
    let valgrind = || OsString::from("valgrind --quiet --error-exitcode=9 --leak-check=no");
    let runners = [
        ("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", valgrind()),
        ("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", valgrind()),
    ];
    let tests = ["-p", "gradus-kernels", "--test", "memory"];
    tally.run(of_package(&tests, &["--nocapture", "--test-threads", "1"]).envs(runners));
    Ok(())
}

fn browser(tally: &mut Tally, _: &Options) -> Result<()> {
    let Some(chromium) =
        ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| exists(name))
    else {
        tally.skip("no Chromium");
        return Ok(());
    };
    let mut models: Vec<PathBuf> =
        ["positions.onnx", "heads.onnx", "loop.onnx", "function.onnx", "range.xml", "range_const.xml"]
            .map(|name| Path::new("examples").join(name))
            .to_vec();
    if let Some(corpus) = env::var_os("GRADUS_CORPUS") {
        let of_corpus = [
            "hf/bert.ts.onnx",
            "hf/gpt2_past.ts.onnx",
            "hf/resnet.dynamo.onnx",
            "ov/bert.ts.xml",
            "custom/nonzero.ts.onnx",
            "custom/loop_for.ts.onnx",
            "handmade/hm_slice_sym_ends.onnx",
        ];
        models.extend(
            of_corpus.map(|name| Path::new(&corpus).join(name)).into_iter().filter(|path| path.exists()),
        );
    }
    let gradus = gradus()?;
    let mut script = environment(BROWSER.0, BROWSER.1)?;
    tally.run(script.arg("conformance/report_browser.py").arg(gradus).arg(chromium).args(models));
    Ok(())
}

/// Arguments by which all suites build the workspace, so that nothing is built twice: the crates
/// whose tests take longest are optimised, and dependencies have the features that any member asks
/// for.
const BUILD: &[&str] = &[
    "--workspace",
    "--config",
    "profile.dev.package.gradus.opt-level=1",
    "--config",
    "profile.dev.package.gradus-engine.opt-level=1",
    "--config",
    "profile.dev.package.gradus-operators.opt-level=1",
];

/// `cargo test` of the workspace with these arguments, arguments of the tests, and variables.
pub(crate) fn cargo_test(arguments: &[&str], tests: &[&str], variables: &[(&str, OsString)]) -> Command {
    let variables = variables.iter().map(|(name, value)| (*name, value));
    let mut cargo = of_package(&[BUILD, arguments].concat(), tests);
    cargo.envs(variables);
    cargo
}

/// `cargo test` with these arguments, of which one says what is tested.
fn of_package(arguments: &[&str], tests: &[&str]) -> Command {
    let mut cargo = cargo();
    cargo.args(["test", "--quiet"]).args(arguments).arg("--").args(tests);
    cargo
}

/// Runs tests of the workspace.
fn test(tally: &mut Tally, arguments: &[&str], tests: &[&str], variables: &[(&str, OsString)]) {
    tally.run(&mut cargo_test(arguments, tests, variables));
}

/// Builds the command as its own tests have it: together with one of them, it has their features.
fn gradus() -> Result<PathBuf> {
    run::gradus(&[BUILD, &["--test", "misuse"]].concat())
}

/// Runs the tests of upstream's cases whose names contain one of these.
fn upstream(tally: &mut Tally, names: &[&str]) -> Result<()> {
    let cases = [("GRADUS_CONFORMANCE", target("conformance")?.into())];
    let tests = [&["--ignored"], names].concat();
    test(tally, &["--test", "conformance"], &tests, &cases);
    Ok(())
}

/// A path for cases, where nothing lies.
fn fresh(name: &str) -> Result<PathBuf> {
    create(&target("conformance")?)?;
    let cases = target("conformance")?.join(name);
    remove(&cases)?;
    Ok(cases)
}

/// Python for what OpenVINO compiles: kept from AVX-512, it fails with some models on processors
/// that have it.
fn compiling() -> Result<Command> {
    let mut python = python()?;
    python.env_remove(ISA_OF_ONEDNN);
    Ok(python)
}

/// Runs a script that writes cases.
fn script(name: &str, arguments: &[&Path]) -> Result<()> {
    run::run(python()?.arg(format!("conformance/{name}")).args(arguments))
}

/// A suite that ran.
struct Row {
    name: &'static str,
    tally: Tally,
    seconds: f64,
}

/// Suites that run at the same time: many keep one core busy, and wait for it alone.
const LANES: usize = 2;

/// Runs the suites of these names, or all if none is named, and prints a table of their results. A
/// suite that fails does not keep the others from running.
pub(crate) fn test_suites(names: &[impl AsRef<str>], options: &Options) -> Result<()> {
    let chosen = |suite: &&Suite| names.is_empty() || names.iter().any(|name| name.as_ref() == suite.name);
    let suites: Vec<_> = SUITES.iter().filter(chosen).collect();
    let (next, rows) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let lane = || {
        while let Some(suite) = suites.get(next.fetch_add(1, Ordering::Relaxed)) {
            eprintln!("\n== {}: {}", suite.name, suite.about);
            let label = if suites.len() > 1 { suite.name } else { "" };
            let (start, mut tally) = (Instant::now(), Tally { label, ..Tally::default() });
            if let Err(error) = (suite.run)(&mut tally, options) {
                tally.fail(&error);
            }
            let row = Row { name: suite.name, tally, seconds: start.elapsed().as_secs_f64() };
            rows.lock().unwrap_or_else(PoisonError::into_inner).push(row);
        }
    };
    std::thread::scope(|scope| (0..LANES).for_each(|_| drop(scope.spawn(lane))));
    let mut rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
    rows.sort_by_key(|row| SUITES.iter().position(|suite| suite.name == row.name));
    print!("\n{}", report(&rows));
    let failed: Vec<_> = rows.iter().filter(|row| row.tally.failed > 0).map(|row| row.name).collect();
    if failed.is_empty() {
        Ok(())
    } else {
        Err(format!("{} of {} suites failed: {}", failed.len(), rows.len(), failed.join(", ")))
    }
}

/// The table of results, the errors of suites, and a line of totals.
fn report(rows: &[Row]) -> String {
    let header = ["suite", "passed", "failed", "skipped", "seconds", "repeat with"].map(str::to_owned);
    let mut lines = vec![(header, String::new())];
    let mut total = Tally::default();
    for Row { name, tally, seconds } in rows {
        total.passed += tally.passed;
        total.failed += tally.failed;
        total.skipped += tally.skipped;
        let [passed, failed, skipped] = [tally.passed, tally.failed, tally.skipped].map(|n| n.to_string());
        let repeat = format!("cargo xtask test {name}");
        let note = match &tally.reasons[..] {
            [] => String::new(),
            reasons => format!("  skipped ({})", reasons.join("; ")),
        };
        let state = if tally.failed > 0 { "  FAILED" } else { "" };
        let cells = [(*name).to_owned(), passed, failed, skipped, format!("{seconds:.1}"), repeat];
        lines.push((cells, format!("{state}{note}")));
    }
    let mut widths = [0; 6];
    for (cells, _) in &lines {
        for (width, cell) in widths.iter_mut().zip(cells) {
            *width = (*width).max(cell.len());
        }
    }
    let mut text = String::new();
    for (cells, note) in &lines {
        let cells = cells.iter().zip(widths).enumerate().map(|(column, (cell, width))| {
            // Counts and seconds are aligned on the right.
            if (1..=4).contains(&column) { format!("{cell:>width$}") } else { format!("{cell:width$}") }
        });
        let line = cells.collect::<Vec<_>>().join("  ") + note;
        text.extend([line.trim_end(), "\n"]);
    }
    for error in rows.iter().flat_map(|row| row.tally.errors.iter().map(move |error| (row.name, error))) {
        text.extend([error.0, ": ", error.1, "\n"]);
    }
    let Tally { passed, failed, skipped, .. } = total;
    text + &format!("\n{passed} passed, {failed} failed, {skipped} skipped\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_suites_are_distinct() {
        let mut names: Vec<_> = SUITES.iter().map(|suite| suite.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), SUITES.len());
        assert!(CONFORMANCE.iter().all(|name| names.contains(name)));
    }

    #[test]
    fn every_ignored_test_of_upstreams_cases_is_in_one_suite() {
        let files = std::fs::read_dir(run::root().join("crates/gradus/tests/conformance")).unwrap();
        let text: String = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect();
        let ignored = text.split("#[ignore = \"needs GRADUS_CONFORMANCE").skip(1);
        let names: Vec<_> = ignored
            .filter_map(|rest| rest.split_once("fn ")?.1.split_once('('))
            .map(|(name, _)| name)
            .collect();
        assert!(names.len() > 5, "{names:?}");
        for name in names {
            let suites = [ONNX, CASTS, OPENVINO, SHAPES];
            let count = suites.iter().filter(|names| names.iter().any(|part| name.contains(part))).count();
            assert_eq!(count, 1, "{name}");
        }
    }

    #[test]
    fn reports_name_every_suite_and_end_with_totals() {
        let tally = |passed, failed, skipped| Tally { passed, failed, skipped, ..Tally::default() };
        let failed = Tally { errors: vec!["pip: exit status: 1".to_owned()], ..tally(3, 1, 0) };
        let skipped = Tally { reasons: vec!["no valgrind".to_owned()], ..tally(0, 0, 1) };
        let rows =
            [("workspace", tally(1200, 0, 0), 61.25), ("onnx", failed, 8.0), ("memcheck", skipped, 0.0)]
                .map(|(name, tally, seconds)| Row { name, tally, seconds });
        let expected = "\
suite      passed  failed  skipped  seconds  repeat with
workspace    1200       0        0     61.2  cargo xtask test workspace
onnx            3       1        0      8.0  cargo xtask test onnx       FAILED
memcheck        0       0        1      0.0  cargo xtask test memcheck   skipped (no valgrind)
onnx: pip: exit status: 1

1203 passed, 1 failed, 1 skipped
";
        assert_eq!(report(&rows), expected);
    }
}
