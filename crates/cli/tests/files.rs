//! Files that commands read and write: which are touched, and which are refused.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]
#![cfg(unix)]

mod common;
mod outputs;
#[path = "../../gradus/tests/common/protobuf.rs"]
mod protobuf;
mod scratch;

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use common::save_chain;
use gradus::graph::DeclaredDim;
use outputs::{leftovers, run, save_external, succeeds};
use scratch::Scratch;
use snapbox::cmd::cargo_bin;

/// Checks that a command fails at once and says why.
fn fails(folder: &Scratch, arguments: &[&str], why: &str) {
    let before = Instant::now();
    let output = run(folder, arguments);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(matches!(output.status.code(), Some(1 | 2)), "{arguments:?}: {message}");
    assert!(message.contains(why), "{arguments:?}: {message}");
    assert!(before.elapsed() < Duration::from_secs(10), "{arguments:?} waits");
    assert!(leftovers(folder.path()).is_empty(), "{arguments:?}");
}

fn pipe(path: PathBuf) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// A folder with a model and its constants in `w.bin`.
fn external(name: &str) -> Scratch {
    let folder = Scratch::new(name);
    save_external(&folder.path().join("m.onnx"), "w.bin");
    fs::write(folder.path().join("w.bin"), 1.5f32.to_le_bytes()).unwrap();
    succeeds(&folder, &["run", "m.onnx", "-i", "x=[1]"]);
    folder
}

#[test]
fn an_output_keeps_its_mode_links_and_kind() {
    let folder = Scratch::new("files-kinds");
    let path = |name: &str| folder.path().join(name);
    let range = |out: &str| ["range", "0", "10", "1", "--out", out].map(str::to_owned);
    let write = |out: &str| succeeds(&folder, &range(out).each_ref().map(String::as_str));
    write("x.npy");
    fs::set_permissions(path("x.npy"), fs::Permissions::from_mode(0o600)).unwrap();
    // Only root can give files away.
    let _ = chown(path("x.npy"), Some(12345), None);
    let owner = fs::metadata(path("x.npy")).unwrap().uid();
    fs::create_dir(path("deep")).unwrap();
    for (link, to) in [("link.npy", "x.npy"), ("new.npy", "deep/made.npy"), ("null.npy", "/dev/null")] {
        symlink(to, path(link)).unwrap();
        write(link);
        assert!(path(link).is_symlink(), "{link}");
    }
    let kept = fs::metadata(path("x.npy")).unwrap();
    assert_eq!((kept.permissions().mode() & 0o777, kept.uid()), (0o600, owner));
    assert_eq!(fs::read(path("deep/made.npy")).unwrap(), fs::read(path("x.npy")).unwrap());
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    pipe(path("pipe.csv"));
    let reader = std::thread::spawn({
        let pipe = path("pipe.csv");
        move || fs::read_to_string(pipe).unwrap()
    });
    write("pipe.csv");
    assert_eq!(reader.join().unwrap().lines().count(), 10);
    assert!(fs::metadata(path("pipe.csv")).unwrap().file_type().is_fifo());
    write(&format!("{}.npy", "n".repeat(251)));
    fs::create_dir(path("folder.npy")).unwrap();
    fails(&folder, &["range", "0", "10", "1", "--out", "folder.npy"], "is a folder, expected a file");
    symlink("round.npy", path("round.npy")).unwrap();
    fails(&folder, &["range", "0", "10", "1", "--out", "round.npy"], "too many links");
}

#[test]
fn the_sources_own_files_are_not_replaced() {
    let folder = external("files-own");
    let weights = folder.path().join("w.bin");
    let before = fs::read(&weights).unwrap();
    symlink("w.bin", folder.path().join("link.onnx")).unwrap();
    fs::hard_link(&weights, folder.path().join("copy.bin")).unwrap();
    for out in ["w.bin", "./w.bin", "link.onnx"] {
        fails(&folder, &["fold", "m.onnx", "-o", out], "has constants of the model that was read");
        fails(&folder, &["infer", "m.onnx", "-o", out], "has constants of the model that was read");
    }
    save_external(&folder.path().join("y.onnx"), "y.npy");
    fs::copy(&weights, folder.path().join("y.npy")).unwrap();
    fails(
        &folder,
        &["run", "y.onnx", "-i", "x=[1]", "--out", "."],
        "has constants of the model that was read",
    );
    save_external(&folder.path().join("n.onnx"), "n.xml");
    fs::copy(&weights, folder.path().join("n.xml")).unwrap();
    fails(&folder, &["convert", "n.onnx", "n.xml"], "has constants of the model that was read");
    // Files that are no models replace neither constants nor the model itself.
    symlink("w.bin", folder.path().join("link.h")).unwrap();
    symlink("w.bin", folder.path().join("link.html")).unwrap();
    let model = fs::read(folder.path().join("m.onnx")).unwrap();
    for out in ["w.bin", "./w.bin", "link.h"] {
        for form in ["c", "rust", "python", "json"] {
            let words = ["infer", "m.onnx", "--emit", form, "-o", out];
            fails(&folder, &words, "has constants of the model that was read");
        }
    }
    fails(&folder, &["report", "m.onnx", "-o", "link.html"], "has constants of the model that was read");
    succeeds(&folder, &["fold", "m.onnx", "-o", "other.onnx"]);
    for [first, second] in [["m.onnx", "other.onnx"], ["other.onnx", "m.onnx"]] {
        for out in ["w.bin", "link.h"] {
            let words = ["prove", first, second, "--certificate", out];
            fails(&folder, &words, "has constants of the model that was read");
        }
        fails(&folder, &["prove", first, second, "--certificate", second], "is the model that was read");
    }
    // The inputs of a witness are named as those of the models.
    save_external(&folder.path().join("second.onnx"), "x.npy");
    fs::write(folder.path().join("x.npy"), vec![0x40; before.len()]).unwrap();
    for [first, second] in [["m.onnx", "second.onnx"], ["second.onnx", "m.onnx"]] {
        fails(
            &folder,
            &["prove", first, second, "--witness", "."],
            "has constants of the model that was read",
        );
    }
    assert!(fs::read(folder.path().join("x.npy")).unwrap().iter().all(|byte| *byte == 0x40));
    for (first, second) in [("m.onnx", "second.onnx"), ("second.onnx", "m.onnx")] {
        for out in ["w.bin", "x.npy"] {
            for words in [
                &["join", first, second, "--link", "y=x", "-o", out][..],
                &["generalize", first, second, "-o", out],
            ] {
                fails(&folder, words, "has constants of the model that was read");
            }
        }
    }
    // The constants of both models follow to another folder.
    fs::create_dir(folder.path().join("joined")).unwrap();
    let words = ["join", "m.onnx", "second.onnx", "--link", "y=x", "-o", "joined/m.onnx"];
    succeeds(&folder, &words);
    succeeds(&folder, &["run", "joined/m.onnx", "-i", "x=[1]"]);
    for (out, why) in [("link.h", "has constants of the model"), ("m.onnx", "is the model that was read")] {
        fails(&folder, &["lint", "m.onnx", "--write-baseline", out], why);
    }
    fails(&folder, &["infer", "m.onnx", "--emit", "c", "-o", "m.onnx"], "is the model that was read");
    succeeds(&folder, &["convert", "m.onnx", "ir.xml"]);
    let ir = ["ir.xml", "ir.bin"].map(|name| fs::read(folder.path().join(name)).unwrap());
    fails(&folder, &["infer", "ir.xml", "--emit", "c", "-o", "ir.bin"], "has constants of the model");
    fails(&folder, &["convert", "ir.xml", "--to", "onnx", "-o", "ir.bin"], "has constants of the model");
    assert_eq!(["ir.xml", "ir.bin"].map(|name| fs::read(folder.path().join(name)).unwrap()), ir);
    fs::create_dir(folder.path().join("pages")).unwrap();
    save_external(&folder.path().join("pages/p.onnx"), "index.html");
    fs::copy(&weights, folder.path().join("pages/index.html")).unwrap();
    let words = ["report", "pages/p.onnx", "m.onnx", "-o", "pages/"];
    fails(&folder, &words, "has constants of the model that was read");
    assert_eq!(fs::read(folder.path().join("m.onnx")).unwrap(), model);
    for name in ["w.bin", "y.npy", "n.xml", "pages/index.html"] {
        assert_eq!(fs::read(folder.path().join(name)).unwrap(), before, "{name}");
    }
    // The output would have the name of the copy.
    fs::create_dir(folder.path().join("out")).unwrap();
    fails(&folder, &["fold", "m.onnx", "-o", "out/w.bin", "--keep-names"], "two outputs have this name");
    for out in ["out/x.onnx", "./out/x.onnx", "out/../out/x.onnx"] {
        let words = ["edit", "m.onnx", "-o", out, "--external", "x.onnx"];
        fails(&folder, &words, "two outputs have this name");
    }
    succeeds(&folder, &["fold", "m.onnx", "-o", "m.onnx"]);
    succeeds(&folder, &["fold", "m.onnx", "-o", "out"]);
    assert_eq!(fs::read(folder.path().join("out/m.onnx.data")).unwrap(), before);
}

#[test]
fn constants_are_read_from_regular_files_below_the_models_folder() {
    let folder = external("files-outside");
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("model")).unwrap();
    fs::create_dir(path("out")).unwrap();
    fs::rename(path("m.onnx"), path("model/m.onnx")).unwrap();
    let commands: [&[&str]; 4] = [
        &["run", "model/m.onnx", "-i", "x=[1]"],
        &["fold", "model/m.onnx", "-o", "out"],
        &["infer", "model/m.onnx", "-o", "out"],
        &["convert", "model/m.onnx", "out/m.xml"],
    ];
    let each_fails = |why: &str| {
        for command in commands {
            fails(&folder, command, why);
            assert_eq!(fs::read_dir(path("out")).unwrap().count(), 0, "{command:?}");
            let _ = fs::remove_file(path("model/w.bin"));
        }
    };
    for (to, why) in [
        ("../w.bin", "outside the model's folder"),
        ("/dev/zero", "outside the model's folder"),
        ("/etc/passwd", "outside the model's folder"),
    ] {
        for command in commands {
            symlink(to, path("model/w.bin")).unwrap();
            fails(&folder, command, why);
            assert_eq!(fs::read_dir(path("out")).unwrap().count(), 0, "{command:?}");
            fs::remove_file(path("model/w.bin")).unwrap();
        }
    }
    pipe(path("model/w.bin"));
    for command in commands {
        fails(&folder, command, "is a pipe or a device, expected a regular file");
    }
    fs::remove_file(path("model/w.bin")).unwrap();
    fs::create_dir(path("model/w.bin")).unwrap();
    each_fails("is a folder, expected a regular file");
}

#[test]
fn models_in_caches_of_links_are_read() {
    let folder = external("files-cache");
    let path = |name: &str| folder.path().join(name);
    fs::create_dir_all(path("blobs")).unwrap();
    fs::create_dir_all(path("snapshots/1")).unwrap();
    for (name, blob) in [("m.onnx", "1f"), ("w.bin", "2e")] {
        fs::rename(path(name), path("blobs").join(blob)).unwrap();
        symlink(Path::new("../../blobs").join(blob), path("snapshots/1").join(name)).unwrap();
    }
    succeeds(&folder, &["run", "snapshots/1/m.onnx", "-i", "x=[1]"]);
    fs::create_dir(path("out")).unwrap();
    succeeds(&folder, &["fold", "snapshots/1/m.onnx", "-o", "out"]);
    succeeds(&folder, &["run", "out/m.onnx", "-i", "x=[1]"]);
    // A new model there is no link, so it may not look through one.
    let beside = ["fold", "snapshots/1/m.onnx", "-o", "snapshots/1/folded.onnx"];
    let kept = [&beside[..], &["--keep-names"]].concat();
    fails(&folder, &kept, "there is another file of this name");
    succeeds(&folder, &beside);
    assert!(!path("snapshots/1/folded.onnx.data").is_symlink());
    succeeds(&folder, &["run", "snapshots/1/folded.onnx", "-i", "x=[1]"]);
    succeeds(&folder, &["fold", "snapshots/1/m.onnx", "-o", "snapshots/1/m.onnx"]);
    assert!(path("snapshots/1/m.onnx").is_symlink());
    succeeds(&folder, &["run", "snapshots/1/m.onnx", "-i", "x=[1]"]);
    // Only the folder of the model's own file counts, not every folder that links lead to.
    fs::write(path("secret"), [0; 4]).unwrap();
    fs::remove_file(path("snapshots/1/w.bin")).unwrap();
    symlink("../../secret", path("snapshots/1/w.bin")).unwrap();
    fails(&folder, &["run", "snapshots/1/m.onnx", "-i", "x=[1]"], "outside the model's folder");
}

#[test]
fn copies_of_constants_follow_no_links_and_are_no_settings() {
    let folder = Scratch::new("files-copies");
    let path = |name: &str| folder.path().join(name);
    for made in ["out", "elsewhere", "sub"] {
        fs::create_dir(path(made)).unwrap();
    }
    symlink("../elsewhere", path("out/sub")).unwrap();
    symlink("../elsewhere/target", path("out/linked.bin")).unwrap();
    for (location, why) in [
        (".bashrc", "begins with a dot"),
        ("sub/w.bin", "is a link or a file, expected a folder"),
        ("linked.bin", "there is another file of this name"),
    ] {
        save_external(&path("m.onnx"), location);
        fs::write(path(location), 1.5f32.to_le_bytes()).unwrap();
        for command in ["fold", "infer"] {
            fails(&folder, &[command, "m.onnx", "-o", "out", "--keep-names"], why);
        }
        assert!(!path("out/m.onnx").exists() && !path("out/.bashrc").exists(), "{location}");
    }
    assert_eq!(fs::read_dir(path("elsewhere")).unwrap().count(), 0);
    // A device has no neighbour files.
    symlink("/dev/null", path("null.onnx")).unwrap();
    succeeds(&folder, &["fold", "m.onnx", "-o", "null.onnx"]);
    assert!(!Path::new("/dev/linked.bin").exists());
}

#[test]
fn constants_beside_an_output_have_names_that_come_from_its_own() {
    let folder = Scratch::new("files-names");
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("out")).unwrap();
    save_external(&path("m.onnx"), "sitecustomize.py");
    fs::write(path("sitecustomize.py"), 1.5f32.to_le_bytes()).unwrap();
    let names = |folder: &str| {
        let mut names: Vec<_> =
            fs::read_dir(path(folder)).unwrap().map(|file| file.unwrap().file_name()).collect();
        names.sort();
        names
    };
    for command in ["fold", "infer"] {
        // The second time replaces what the first time wrote.
        succeeds(&folder, &[command, "m.onnx", "-o", "out/n.onnx"]);
        assert_eq!(names("out"), ["n.onnx", "n.onnx.data"], "{command}");
        succeeds(&folder, &["diff", "m.onnx", "out/n.onnx"]);
    }
    // A file that the output that is replaced does not name is somebody's.
    fs::write(path("out/o.onnx.data"), "mine").unwrap();
    fails(&folder, &["fold", "m.onnx", "-o", "out/o.onnx"], "there is another file of this name");
    assert_eq!(fs::read(path("out/o.onnx.data")).unwrap(), b"mine");
    symlink("../kept", path("out/p.onnx.data")).unwrap();
    fails(&folder, &["fold", "m.onnx", "-o", "out/p.onnx"], "there is another file of this name");
    // Both have the same file next to the model.
    succeeds(&folder, &["fold", "m.onnx", "-o", "folded.onnx"]);
    assert!(!path("folded.onnx.data").exists());
    fs::create_dir(path("kept")).unwrap();
    succeeds(&folder, &["fold", "m.onnx", "-o", "kept", "--keep-names"]);
    assert_eq!(names("kept"), ["m.onnx", "sitecustomize.py"]);
}

/// A model of OpenVINO, two results of which are one value.
const SHARED: &str = r#"<net name="m" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2" element_type="f32"/>
<output><port id="0" precision="FP32"><dim>2</dim></port></output></layer>
<layer id="1" name="y" type="Negative" version="opset1"><input><port id="0"><dim>2</dim></port></input>
<output><port id="1" precision="FP32"><dim>2</dim></port></output></layer>
<layer id="2" name="a" type="Result" version="opset1"><input><port id="0"><dim>2</dim></port></input></layer>
<layer id="3" name="b" type="Result" version="opset1"><input><port id="0"><dim>2</dim></port></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>
<edge from-layer="1" from-port="1" to-layer="3" to-port="0"/></edges></net>"#;

#[test]
fn outputs_of_one_name_are_told_apart() {
    let folder = Scratch::new("files-shared-outputs");
    fs::write(folder.path().join("m.xml"), SHARED).unwrap();
    succeeds(&folder, &["run", "m.xml", "-i", "x=[1, 2]", "--out", "out"]);
    let saved = |name: &str| fs::read(folder.path().join("out").join(name)).unwrap();
    assert_eq!(saved("y.npy"), saved("y_1.npy"));
    let printed = run(&folder, &["run", "m.xml", "-i", "x=[1, 2]", "--json"]).stdout;
    let printed: serde_json::Value = serde_json::from_slice(&printed).unwrap();
    assert_eq!(printed["outputs"].as_object().unwrap().len(), 2, "{printed}");
}

#[test]
fn outputs_have_names_up_to_the_limit_of_the_system() {
    let folder = Scratch::new("files-long-names");
    let name = |len: usize, ending: &str| format!("{}.{ending}", "n".repeat(len - 1 - ending.len()));
    save_chain(&folder.path().join("m.onnx"), "x", vec![DeclaredDim::Unknown], &[("Abs", "x", "y")]);
    for (command, ending) in [(&["fold", "m.onnx", "-o"][..], "onnx"), (&["convert", "m.onnx"], "xml")] {
        succeeds(&folder, &[command, &[&name(255, ending)]].concat());
        fails(&folder, &[command, &[&name(256, ending)]].concat(), "cannot write: ");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
}

#[test]
fn inputs_are_regular_files() {
    let folder = Scratch::new("files-inputs");
    let path = |name: &str| folder.path().join(name);
    save_chain(&path("m.onnx"), "x", vec![DeclaredDim::Unknown], &[("Abs", "x", "y")]);
    pipe(path("pipe.npy"));
    symlink("/dev/zero", path("zero.npz")).unwrap();
    symlink("/dev/zero", path("zero.pb")).unwrap();
    fs::create_dir(path("folder.npy")).unwrap();
    let regular = "expected a regular file";
    for input in ["x=pipe.npy", "x=zero.npz", "zero.npz", "x=zero.pb", "x=folder.npy"] {
        fails(&folder, &["run", "m.onnx", "-i", input], regular);
    }
    for model in ["pipe.npy", "zero.pb", "@pipe.npy", "@zero.pb", "@folder.npy"] {
        fails(&folder, &["show", model], regular);
    }
    // Lists that name each other many times, and a list of any length on standard input.
    fs::write(path("inner"), "#\n".repeat(2000)).unwrap();
    fs::write(path("list"), "@inner\n".repeat(600)).unwrap();
    fails(&folder, &["show", "@list"], "number of lines in lists is 1048577, expected at most 1048576");
    let endless = fs::File::open("/dev/zero").unwrap();
    let output = Command::new(cargo_bin!("gradus")).args(["show", "-"]).stdin(endless).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("number of bytes is 67108865 or more, expected at most 67108864"), "{message}");
    fails(&folder, &["diff", "folder.npy", "m.onnx"], regular);
}

#[test]
fn edges_that_lead_nowhere_are_refused_and_nothing_is_written() {
    let folder = Scratch::new("files-again");
    let dangling = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dangling.xml");
    for name in ["xml", "bin"] {
        fs::copy(dangling.with_extension(name), folder.path().join("d").with_extension(name)).unwrap();
    }
    fails(&folder, &["fold", "d.xml", "-o", "out.xml"], "an edge leads to port 0 of layer 9");
    assert!(!folder.path().join("out.xml").exists() && !folder.path().join("out.bin").exists());
}

#[test]
fn sources_and_arguments_cannot_steer_the_terminal() {
    let folder = Scratch::new("files-terminal");
    fs::write(folder.path().join("e.xml"), "<net name=\"a\u{9b}2J\u{1b}[2J\u{202e}\"\r version=\"11\">")
        .unwrap();
    let name = "m\u{1b}[2J\u{9b}\n.onnx";
    save_chain(&folder.path().join(name), "x", vec![DeclaredDim::Known(1)], &[("Abs", "x", "y")]);
    let not_text = std::os::unix::ffi::OsStrExt::from_bytes(b"\xff.onnx");
    fs::copy(folder.path().join(name), folder.path().join::<&std::ffi::OsStr>(not_text)).unwrap();
    let (out, one) = (format!("o{name}"), "x=[1]");
    let commands: [&[&str]; 12] = [
        &["show", "e.xml"],
        &["show", name],
        &["show", name, name],
        &["show", "--unknown\u{9b}"],
        &["infer", name, name],
        &["fold", name, "-o", &out],
        &["convert", name, &format!("{name}.xml")],
        &["run", name, "-i", one, "--out", name.trim_end_matches(".onnx")],
        &["run", name, "-i", "x=[\u{9b}1"],
        &["run", name, "-i", "x=[1\u{1b}, \u{1b}2"],
        &["run", name, "--output", "\u{1b}"],
        &["range", "1\u{9b}", "2", "1"],
    ];
    for command in commands {
        let output = run(&folder, command);
        let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let steers = |c: &char| c.is_control() && *c != '\n' || *c == '\u{202e}';
        assert_eq!(printed.chars().filter(steers).count(), 0, "{command:?}: {printed:?}");
    }
    for command in ["show", "infer"] {
        let output = Command::new(cargo_bin!("gradus"))
            .args([command, "--json"])
            .arg(not_text)
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap();
    }
}

#[test]
fn a_file_that_is_cut_short_while_it_is_read_is_an_error() {
    let folder = Scratch::new("files-cut");
    let model = folder.path().join("m.onnx");
    save_chain(&model, "x", vec![DeclaredDim::Known(1 << 25)], &[("Sigmoid", "x", "y")]);
    let array = folder.path().join("x.npy");
    let header = b"\x93NUMPY\x01\0\x76\0{'descr': '<f4', 'fortran_order': False, 'shape': (33554432,), }";
    fs::write(&array, [&header[..], &[b' '; 128][header.len()..]].concat()).unwrap();
    let array = fs::File::options().write(true).open(array).unwrap();
    let outcome = |delay: u64| {
        array.set_len(128 + 4 * (1 << 25)).unwrap();
        let child = Command::new(cargo_bin!("gradus"))
            .args(["run", "m.onnx", "-i", "x=x.npy", "--timeout", "60", "--json"])
            .current_dir(folder.path())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::piped())
            .spawn();
        std::thread::sleep(Duration::from_millis(delay));
        array.set_len(128).unwrap();
        let output = child.unwrap().wait_with_output().unwrap();
        assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    // The file is mapped soon after the start, and its elements are read for some time.
    let cut = [100, 200, 400, 50].into_iter().find(|&delay| outcome(delay).contains("cut short"));
    assert!(cut.is_some());
}

#[test]
fn signals_remove_unfinished_files() {
    let folder = Scratch::new("files-signals");
    for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1), ("QUIT", 3), ("XCPU", 24), ("USR1", 10)] {
        // Under `nohup`, programs ignore HUP.
        let mut child = Command::new("env");
        let mut child = child
            .args([format!("--default-signal={signal}").as_ref(), cargo_bin!("gradus").as_os_str()])
            .args(["range", "0", "1e9", "1", "--out", "x.csv"])
            .current_dir(folder.path())
            .spawn()
            .unwrap();
        let before = Instant::now();
        while leftovers(folder.path()).is_empty() && before.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let kill = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
        assert!(kill.unwrap().success());
        let status = child.wait().unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(number));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{signal}");
    }
}

#[test]
fn the_last_of_many_writers_wins_with_a_whole_file() {
    let folder = Scratch::new("files-many");
    let path = folder.path().join("m.onnx");
    let saved: Vec<_> = ["Abs", "Sigmoid"]
        .iter()
        .map(|operator| {
            save_chain(&path, "x", vec![DeclaredDim::Known(1)], &[(operator, "x", "y")]);
            fs::read(&path).unwrap()
        })
        .collect();
    std::thread::scope(|scope| {
        for operator in ["Abs", "Sigmoid"].repeat(4) {
            let path = &path;
            scope.spawn(move || {
                for _ in 0..25 {
                    save_chain(path, "x", vec![DeclaredDim::Known(1)], &[(operator, "x", "y")]);
                }
            });
        }
        for _ in 0..200 {
            let found = fs::read(&path).unwrap();
            assert!(saved.contains(&found), "{} bytes", found.len());
        }
    });
    assert!(leftovers(folder.path()).is_empty());
    // Two files of one output are of one writer.
    let converted = ["a", "b"].map(|name| {
        let model = folder.path().join(name).with_extension("onnx");
        save_external(&model, &format!("{name}.bin"));
        // The outputs have different names.
        let renamed = fs::read(&model)
            .unwrap()
            .iter()
            .map(|&c| if c == b'y' { name.as_bytes()[0] } else { c })
            .collect::<Vec<_>>();
        fs::write(&model, renamed).unwrap();
        fs::write(model.with_extension("bin"), name.repeat(4)).unwrap();
        let command = || {
            let mut command = Command::new(cargo_bin!("gradus"));
            command.arg("convert").arg(&model).arg("pair.xml").current_dir(folder.path());
            command.stdout(std::process::Stdio::null());
            command
        };
        assert!(command().status().unwrap().success());
        (command(), pair(folder.path()))
    });
    let [(mut a, of_a), (mut b, of_b)] = converted;
    assert!(of_a[0] != of_b[0] && of_a[1] != of_b[1]);
    for _ in 0..10 {
        let mut writers = [a.spawn().unwrap(), b.spawn().unwrap(), a.spawn().unwrap(), b.spawn().unwrap()];
        while writers.iter_mut().any(|writer| writer.try_wait().unwrap().is_none()) {
            let model = gradus::Model::open(folder.path().join("pair.xml")).unwrap();
            let outputs = model.run([("x", gradus::Tensor::vector(&[0f32]))]).unwrap();
            let (name, value) = outputs.iter().next().unwrap();
            let constant = value.tensor().unwrap().bytes().unwrap();
            assert_eq!(constant[..], [name.as_bytes()[0]; 4], "an .xml file beside another's .bin file");
        }
        assert!(writers.iter_mut().all(|writer| writer.wait().unwrap().success()));
        let found = pair(folder.path());
        assert!(found == of_a || found == of_b);
    }
}

fn pair(folder: &Path) -> [Vec<u8>; 2] {
    ["pair.xml", "pair.bin"].map(|name| fs::read(folder.join(name)).unwrap())
}
