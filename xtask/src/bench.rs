//! Measurements and what they are compared with, in one run.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::python::python;
use crate::run::{Result, cargo, create, gradus, root, run, target};

/// Sizes of the models that are made: blocks of 38 nodes.
const BLOCKS: [u32; 3] = [25, 250, 2500];

/// Time and memory of one process.
struct Taken {
    wall_ms: f64,
    cpu_ms: f64,
    peak_kib: u64,
}

/// Measures sequences; the program prints its tables.
pub(crate) fn sequences(arguments: &[String]) -> Result<()> {
    let program = ["run", "--release", "--quiet", "-p", "gradus-bench", "--", "sequences"];
    run(cargo().args(program).args(arguments))
}

/// Measures sequences on a GPU: of every backend, and of PyTorch and CuPy if the Python that is
/// named has them.
pub(crate) fn gpu(python: Option<&Path>, arguments: &[String]) -> Result<()> {
    let program =
        ["run", "--release", "--quiet", "-p", "gradus-bench", "--features", "cuda,wgpu", "--", "gpu"];
    run(cargo().args(program).args(arguments))?;
    python.map_or(Ok(()), |python| run(Command::new(python).current_dir(root()).arg("bench/gpu.py")))
}

/// Measures `gradus infer` beside the shape inference of the `onnx` package, and prints a table.
pub(crate) fn infer(models: &[PathBuf]) -> Result<()> {
    let program = gradus(&["-p", "gradus-cli", "--release"])?;
    let folder = target("bench")?;
    create(&folder)?;
    let mut all = models.to_vec();
    for blocks in BLOCKS {
        let model = folder.join(format!("blocks_{blocks}.onnx"));
        run(python()?.arg("scripts/bench_model.py").arg(blocks.to_string()).arg(&model))?;
        all.push(model);
    }
    println!("| model | bytes | program | wall ms | CPU ms | peak KiB |\n|---|---|---|---|---|---|");
    for model in &all {
        let bytes = std::fs::metadata(model).map_err(|error| format!("{}: {error}", model.display()))?.len();
        let name = model.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let gradus = || {
            let mut command = Command::new(&program);
            command.args(["infer", "--ignore-declared", "--json"]).arg(model);
            command
        };
        let start = || {
            let mut command = Command::new(&program);
            command.arg("--version");
            command
        };
        let onnx = |what: &str| -> Result<Command> {
            let mut command = python()?;
            command.arg("scripts/bench_onnx.py").arg(what).arg(model);
            Ok(command)
        };
        let rows = [
            ("gradus infer, all of it", measured(&gradus)?),
            ("gradus, starting", measured(&start)?),
            ("onnx infer_shapes, all of it", measured(&|| onnx("infer").expect("Python was there"))?),
            ("onnx, starting and loading", measured(&|| onnx("load").expect("Python was there"))?),
        ];
        for (program, Taken { wall_ms, cpu_ms, peak_kib }) in rows {
            println!("| {name} | {bytes} | {program} | {wall_ms:.1} | {cpu_ms:.0} | {peak_kib} |");
        }
    }
    println!(
        "\nwithin one process (model, nodes, ms to load, ms of the first inference, ms of the fastest of 20):"
    );
    run(cargo()
        .args(["run", "--release", "--quiet", "-p", "gradus", "--example", "infer_time", "--"])
        .args(&all))
}

/// The fastest of some runs, as GNU time reports it.
fn measured(command: &dyn Fn() -> Command) -> Result<Taken> {
    const RUNS: usize = 5;
    let report = target("bench/time.txt")?;
    let mut best: Option<Taken> = None;
    for _ in 0..RUNS {
        let command = command();
        let mut timed = Command::new("/usr/bin/time");
        timed.current_dir(root()).args(["-f", "%U %S %M", "-o"]).arg(&report);
        timed.arg(command.get_program()).args(command.get_args()).stdout(std::process::Stdio::null());
        let start = Instant::now();
        let status = timed.status().map_err(|error| format!("/usr/bin/time: {error}"))?;
        let wall_ms = start.elapsed().as_secs_f64() * 1e3;
        if !status.success() {
            return Err(format!("{}: {status}", command.get_program().to_string_lossy()));
        }
        let (cpu_ms, peak_kib) = read(&report)?;
        let taken = Taken { wall_ms, cpu_ms, peak_kib };
        best = Some(match best {
            Some(best) if best.wall_ms <= taken.wall_ms => best,
            _ => taken,
        });
    }
    best.ok_or_else(|| "nothing was run".to_owned())
}

fn read(report: &Path) -> Result<(f64, u64)> {
    let text = std::fs::read_to_string(report).map_err(|error| format!("{}: {error}", report.display()))?;
    let wrong = || format!("{}: {text}", report.display());
    let numbers: Vec<&str> = text.split_whitespace().collect();
    let &[user, system, peak] = &numbers[..] else { return Err(wrong()) };
    let seconds = |text: &str| text.parse::<f64>().map_err(|_| wrong());
    Ok(((seconds(user)? + seconds(system)?) * 1e3, peak.parse().map_err(|_| wrong())?))
}
