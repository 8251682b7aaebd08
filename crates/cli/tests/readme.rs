//! The console blocks of the README are the output of the commands.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::path::{Path, PathBuf};

use snapbox::cmd::{Command, cargo_bin};

/// How the README runs `gradus` from a fresh clone.
const FROM_A_CLONE: &str = "cargo run --release -p gradus-cli --";

/// The words of a command line; single quotes keep a word together.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words
}

/// A folder with the examples.
fn scratch(name: &str) -> PathBuf {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(scratch.join("examples")).unwrap();
    for example in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")).unwrap() {
        let example = example.unwrap();
        std::fs::copy(example.path(), scratch.join("examples").join(example.file_name())).unwrap();
    }
    scratch
}

#[test]
fn help_of_every_command_ends_with_two_examples_that_run() {
    let scratch = scratch("help");
    let gradus = |arguments: &[String]| {
        let done = Command::new(cargo_bin!("gradus")).current_dir(&scratch).args(arguments).output().unwrap();
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    };
    let help = gradus(&["--help".to_owned()]);
    let commands = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = commands
        .lines()
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next());
    for name in names.filter(|name| *name != "help") {
        let help = gradus(&[name.to_owned(), "--help".to_owned()]);
        let examples: Vec<_> = help.split("Examples:\n").nth(1).unwrap().lines().collect();
        assert_eq!(examples.len(), 2, "{name}");
        for example in examples {
            gradus(&words(example.trim().strip_prefix("gradus ").unwrap()));
        }
    }
}

#[test]
fn commands_print_what_the_readme_shows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    // Commands write beside the examples: of a folder of their own, not of the clone.
    let scratch = scratch("readme");
    let mut run = 0;
    for block in readme.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        for shown in block.split("$ ").skip(1) {
            let (line, want) = shown.split_once('\n').unwrap();
            let line = line.replace(FROM_A_CLONE, "gradus");
            let Some(arguments) = line.strip_prefix("gradus ") else { continue };
            let output = Command::new(cargo_bin!("gradus"))
                .current_dir(&scratch)
                .args(words(arguments))
                .output()
                .unwrap();
            let got = [output.stdout, output.stderr].concat();
            assert_eq!(String::from_utf8(got).unwrap().trim_end(), want.trim_end(), "{line}");
            run += 1;
        }
    }
    assert!(run >= 5, "the README shows {run} commands");
}
