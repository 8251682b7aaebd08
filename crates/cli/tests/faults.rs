//! Commands that are killed, and calls of the system that fail at every place: each output is the
//! old file or the new one, whole.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]
#![cfg(target_os = "linux")]

mod outputs;
#[path = "../../gradus/tests/common/protobuf.rs"]
mod protobuf;
mod scratch;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use outputs::{leftovers, save_external, succeeds};
use scratch::Scratch;
use snapbox::cmd::cargo_bin;

/// Random moments at which each command is killed.
const KILLS: u32 = 12;

/// A command that writes, with the files that it replaces.
struct Writer<'a> {
    folder: &'a Path,
    command: Vec<&'static str>,
    outputs: Vec<PathBuf>,
    /// The content of the files that it writes.
    new: Vec<Vec<u8>>,
}

impl Writer<'_> {
    /// The command, ready to run where the old files are.
    fn command(&self) -> Command {
        for output in &self.outputs {
            fs::write(output, "old").unwrap();
        }
        let mut command = Command::new(cargo_bin!("gradus"));
        command.args(&self.command).current_dir(self.folder).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Checks that each file is the old one or the new one, and returns true if all are new.
    fn replaced(&self) -> bool {
        let pairs = self.outputs.iter().zip(&self.new);
        let new = pairs.filter(|(output, new)| {
            let found = fs::read(output).unwrap();
            assert!(
                found == b"old" || found == **new,
                "{:?}: {} has {} bytes",
                self.command,
                output.display(),
                found.len()
            );
            found == **new
        });
        new.count() == self.outputs.len()
    }
}

/// The commands that write, in a folder of their sources.
fn writers(scratch: &Scratch) -> Vec<Writer<'_>> {
    let folder = scratch.path();
    save_external(&folder.join("m.onnx"), "w.bin");
    fs::write(folder.join("w.bin"), 1.5f32.to_le_bytes()).unwrap();
    fs::create_dir(folder.join("out")).unwrap();
    let all: [(&[_], &[_]); 7] = [
        (&["range", "0", "300000", "1", "--out", "out/x.npy"], &["x.npy"]),
        (&["range", "0", "100000", "1", "--out", "out/x.csv"], &["x.csv"]),
        (&["run", "m.onnx", "-i", "x=[1]", "--out", "out"], &["y.npy"]),
        (&["fold", "m.onnx", "-o", "out/m.onnx"], &["m.onnx"]),
        (&["infer", "m.onnx", "-o", "out/i.onnx"], &["i.onnx"]),
        (&["convert", "m.onnx", "out/m.xml"], &["m.xml", "m.bin"]),
        (&["man", "--out", "out"], &["gradus.1"]),
    ];
    let writer = |(command, outputs): (&[&'static str], &[&str])| {
        succeeds(scratch, command);
        let outputs: Vec<_> = outputs.iter().map(|name| folder.join("out").join(name)).collect();
        let new = outputs.iter().map(|output| fs::read(output).unwrap()).collect();
        Writer { folder, command: command.to_vec(), outputs, new }
    };
    all.into_iter().map(writer).collect()
}

/// Kills each command at moments that are spread over its time, and returns how often that was in
/// time.
fn kill(name: &str, kills: u32) -> u32 {
    let scratch = Scratch::new(name);
    let mut killed = 0;
    for writer in writers(&scratch) {
        let before = Instant::now();
        assert!(writer.command().status().unwrap().success());
        let whole = before.elapsed();
        for i in 0..kills {
            let mut child = writer.command().spawn().unwrap();
            // Files are written towards the end.
            std::thread::sleep(whole * (kills + i) / (2 * kills));
            child.kill().unwrap();
            killed += u32::from(!child.wait().unwrap().success());
            writer.replaced();
        }
        succeeds(&scratch, &writer.command);
        assert!(leftovers(&scratch.path().join("out")).is_empty(), "{:?}", writer.command);
    }
    killed
}

#[test]
fn killed_commands_leave_old_or_new_files_and_the_next_one_cleans_up() {
    assert!(kill("faults-killed", KILLS) > 0);
}

#[test]
#[ignore = "long: `cargo xtask test long` runs it"]
fn long_killed_commands_leave_old_or_new_files() {
    let killed = kill("faults-killed-often", 300);
    println!("{killed} of 2100 commands were killed in time");
    assert!(killed > 300);
}

/// Errors that a call of the system is made to have; nothing for calls that take one byte only.
const FAULTS: [Option<(i32, &str)>; 4] = [Some((5, "EIO")), Some((28, "ENOSPC")), Some((4, "EINTR")), None];

/// Makes the calls of the system fail, one in each run, at most `most` for each command and fault.
/// Returns the number of runs.
fn fail_calls(name: &str, most: usize) -> usize {
    let scratch = Scratch::new(name);
    let library = scratch.path().join("faults.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults.c");
    // The linker of Rust compiles C too.
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"]).arg(&library).arg(source);
    assert!(compiler.status().unwrap().success());
    let mut runs = 0;
    for writer in writers(&scratch) {
        let count = scratch.path().join("count");
        let status = writer.command().env("LD_PRELOAD", &library).env("FAULT_COUNT", &count).status();
        assert!(status.unwrap().success());
        let calls: usize = fs::read_to_string(count).unwrap().parse().unwrap();
        assert!(calls > 10, "{:?} makes {calls} calls", writer.command);
        for fault in FAULTS {
            for call in (1..=calls).step_by(calls.div_ceil(most)) {
                let mut command = writer.command();
                command.env("LD_PRELOAD", &library).env("FAULT_CALL", call.to_string());
                if let Some((number, _)) = fault {
                    command.env("FAULT_ERROR", number.to_string());
                }
                let status = command.status().unwrap();
                let place = format!("{:?}: call {call} of {calls}, {fault:?}: {status}", writer.command);
                assert!(matches!(status.code(), Some(0 | 1)), "{place}");
                let harmless = !matches!(fault, Some((5 | 28, _)));
                assert!(status.success() || !harmless, "{place}");
                assert!(writer.replaced() || !status.success(), "{place}");
                runs += 1;
            }
        }
        succeeds(&scratch, &writer.command);
        assert!(leftovers(&scratch.path().join("out")).is_empty(), "{:?}", writer.command);
    }
    runs
}

#[test]
fn calls_that_fail_leave_old_or_new_files() {
    assert!(fail_calls("faults-calls", 10) > 200);
}

#[test]
#[ignore = "long: `cargo xtask test long` runs it"]
fn long_calls_that_fail_leave_old_or_new_files() {
    let runs = fail_calls("faults-every-call", usize::MAX);
    println!("{runs} calls failed");
}
