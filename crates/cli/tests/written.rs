//! Files that commands write: their names, and the room that they take.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod common;

use ::gradus::graph::{Builder, DeclaredDim, Model, Origin, Standard, Type};
use common::{folder, gradus, save_chain};
use snapbox::cmd::cargo_bin;

#[test]
fn texts_are_written_within_the_limits() {
    let folder = folder("texts");
    let path = folder.join("m.onnx");
    let mut graph = Builder::new("made");
    let id = graph.define("x", Origin::Input).unwrap();
    graph.info(id).declared =
        Some(Type::Tensor(Some(::gradus::DType::String), Some(vec![DeclaredDim::Unknown])));
    graph.apply("y", "Identity", 17, &["x"], &["y"], Vec::new()).unwrap();
    graph.output("y");
    let mut model = Model::new(Standard::Onnx);
    model.opsets = vec![("".into(), 17)];
    model.graph = graph.finish().unwrap();
    ::gradus::Model::from_source(model).save(&path).unwrap();
    let given = format!("x=[{},\"{}\"]", vec!["\"\""; 1999].join(","), "a".repeat(2000));
    let out = folder.join("out");
    // Arrays of NumPy hold each text in the room of the longest: four bytes for each character.
    let run = |limit: &str| {
        let words = ["run", path.to_str().unwrap(), "-i", &given, "-o", out.to_str().unwrap()];
        gradus(&[&words[..], &["--max-bytes", limit]].concat()).output().unwrap()
    };
    let refused = String::from_utf8(run("8000000").stderr).unwrap();
    let want = "error: output \"y\": cannot write: number of bytes is 16000128, expected at most 8000000 (--max-bytes)\n";
    assert_eq!(refused, want);
    assert!(!out.exists());
    assert_eq!(run("16000128").status.code(), Some(0));
    assert_eq!(std::fs::metadata(out.join("y.npy")).unwrap().len(), 16_000_128);
    std::fs::remove_dir_all(folder).unwrap();
}

/// Values whose names of files are the same, or too long for one, are all written.
#[test]
fn outputs_of_any_name_are_written() {
    let folder = folder("named");
    let path = folder.join("m.onnx");
    let long = ["a", "b"].map(|end| "é".repeat(200) + end);
    let names = ["a/b", "a_b", "A:B", &long[0], &long[1], ".."];
    let sources = ["x"].into_iter().chain(names);
    let nodes: Vec<_> = sources.zip(names).map(|(from, to)| ("Abs", from, to)).collect();
    save_chain(&path, "x", vec![DeclaredDim::Known(1)], &nodes);
    let out = folder.join("out");
    let words = ["run", path.to_str().unwrap(), "-i", "x=[1]", "--save-all", out.to_str().unwrap(), "--json"];
    let printed = gradus(&words).assert().success().get_output().stdout.clone();
    let printed = String::from_utf8(printed).unwrap();
    let files: Vec<_> = std::fs::read_dir(&out).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(files.len(), 7, "{files:?} {printed}");
    assert!(files.iter().all(|file| file.len() <= 255));
    std::fs::remove_dir_all(folder).unwrap();
}

/// A sequence that no disk holds is refused before its first element is written.
#[cfg(unix)]
#[test]
fn files_without_room_are_not_begun() {
    let folder = folder("room");
    for ending in ["npy", "csv", "arrow"] {
        let name = format!("x.{ending}");
        let output = std::process::Command::new(cargo_bin!("gradus"))
            .args(["range", "0", "1000000000000000000", "1", "--out", &name])
            .current_dir(&folder)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains(&name) && message.contains("which are free"), "{message}");
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    std::fs::remove_dir_all(folder).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_named() {
    let full = std::fs::File::create("/dev/full").unwrap();
    let output = std::process::Command::new(cargo_bin!("gradus"))
        .args(["range", "0", "10", "1"])
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "error: standard output: cannot write: No space left on device (os error 28)\n"
    );
    // Files may have eight blocks, and a write beyond is an error, though the system sends a signal.
    let folder = folder("full");
    for (name, arguments) in [
        ("x.npy", "range 0 100000 1 --out x.npy"),
        ("x.csv", "range 0 100000 1 --out x.csv"),
        ("x.arrow", "range 0 100000 1 --out x.arrow"),
        ("large.npy", "run model.onnx -i x=zeros[100000] --out ."),
    ] {
        save_chain(&folder.join("model.onnx"), "x", vec![DeclaredDim::Unknown], &[("Abs", "x", "large")]);
        let script = format!("ulimit -f 8; exec {} {arguments}", cargo_bin!("gradus").display());
        let output =
            std::process::Command::new("sh").args(["-c", &script]).current_dir(&folder).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains(name) && message.contains("File too large"), "{arguments}: {message}");
        assert!(!folder.join(name).exists(), "{name} is whole or not there");
    }
    std::fs::remove_dir_all(folder).unwrap();
}
