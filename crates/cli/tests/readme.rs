//! The console blocks of the README are the output of the commands.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod common;

use std::path::Path;

use common::{scratch, words};
use snapbox::cmd::{Command, cargo_bin};

/// How the README runs `gradus` from a fresh clone.
const FROM_A_CLONE: &str = "cargo run --release -p gradus-cli --";

/// The names of the commands that a help lists.
fn commands(help: &str) -> impl Iterator<Item = &str> {
    let listed = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let lines = listed.lines().filter(|line| !line.starts_with("   "));
    lines.filter_map(|line| line.split_whitespace().next())
}

#[test]
fn help_of_every_command_ends_with_two_examples_that_run() {
    let scratch = scratch("help");
    let gradus = |arguments: &[String]| {
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        let done = common::gradus(&arguments).current_dir(&scratch).output().unwrap();
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    };
    let help = gradus(&["--help".to_owned()]);
    for name in commands(&help) {
        let help = gradus(&[name.to_owned(), "--help".to_owned()]);
        let examples: Vec<_> = help.split("Examples:\n").nth(1).unwrap().lines().collect();
        assert_eq!(examples.len(), 2, "{name}");
        for example in examples {
            gradus(&words(example.trim().strip_prefix("gradus ").unwrap()));
        }
    }
}

/// Runs the command in a folder: whether it succeeds, and all that it prints.
fn printed(folder: &Path, arguments: &str) -> (bool, String) {
    let words = words(arguments);
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let output = common::gradus(&words).current_dir(folder).output().unwrap();
    (output.status.success(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

#[test]
fn commands_print_what_the_readme_and_the_pages_show() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md")];
    for folder in ["docs/tutorials", "docs/how-to", "docs/explanation"] {
        pages.extend(std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path()));
    }
    pages.sort();
    for page in pages {
        let scratch = scratch(page.file_stem().unwrap().to_str().unwrap());
        let mut run = 0;
        for block in std::fs::read_to_string(&page).unwrap().split("```console\n").skip(1) {
            let block = block.split("```").next().unwrap();
            for shown in block.split("$ ").skip(1) {
                let (line, want) = shown.split_once('\n').unwrap();
                let line = line.replace(FROM_A_CLONE, "gradus");
                let Some(arguments) = line.strip_prefix("gradus ") else { continue };
                let (mut success, mut got) = printed(&scratch, arguments);
                // Proofs have half a second, which other processes may take.
                for _ in 0..2 {
                    if want.trim().is_empty() || got.trim_end() == want.trim_end() {
                        break;
                    }
                    (success, got) = printed(&scratch, arguments);
                }
                // A command without output on a page must do what it is for.
                if want.trim().is_empty() {
                    assert!(
                        success || ["diff", "dim"].iter().any(|name| arguments.starts_with(name)),
                        "{line}\n{got}"
                    );
                } else {
                    assert_eq!(got.trim_end(), want.trim_end(), "{line}");
                }
                run += 1;
            }
        }
        assert!(run >= if page.ends_with("README.md") { 4 } else { 0 }, "{}: {run} commands", page.display());
    }
}

#[test]
fn the_reference_is_what_help_prints() {
    let gradus = |arguments: &[&str]| {
        let done = Command::new(cargo_bin!("gradus")).args(arguments).env("COLUMNS", "100").output().unwrap();
        String::from_utf8(done.stdout).unwrap()
    };
    let help = gradus(&["--help"]);
    let mut text = format!(
        "# Command line\n\nThe help of every command, as `gradus COMMAND --help` prints it.\n\n```text\n{help}```\n"
    );
    for name in commands(&help) {
        text.extend(["\n## ", name, "\n\n```text\n", &gradus(&[name, "--help"]), "```\n"]);
    }
    let lines: Vec<_> = text.lines().map(str::trim_end).collect();
    snapbox::assert_data_eq!(lines.join("\n") + "\n", snapbox::file!["../../../docs/reference/cli.md"].raw());
}
