//! Shells and terminals: completion, the manual page, and names that must not steer them.

//!
//! `SNAPSHOTS=overwrite cargo test -p gradus-cli` writes what is printed into this file.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod common;

use ::gradus::graph::DeclaredDim;
use common::{folder, gradus, misused, save_chain};
use snapbox::cmd::cargo_bin;
use snapbox::str;

#[test]
fn shells_ask_the_program_how_lines_go_on() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = gradus(&["completions", shell]).assert().success().get_output().stdout.clone();
        assert!(String::from_utf8(script).unwrap().contains("GRADUS_COMPLETE"), "{shell}");
    }
    let model = "examples/positions.onnx";
    for (line, wanted) in [
        (&["inf"][..], "infer"),
        (&["help", "verify"], "verify-proof"),
        (&["man", "au"], "audit"),
        (&["infer", "--max-st"], "--max-steps"),
        (&["range", "0", "3", "1", "--dtype", "float8_e4"], "float8_e4m3fn\nfloat8_e4m3fnuz"),
        (&["infer", model, "--dim", ""], "batch=\nseq="),
        (&["infer", model, "--dim", "se"], "seq="),
        (&["infer", model, "--why", "pha"], "phase"),
        (&["infer", model, "--op", "Ra"], "Range"),
        (&["run", model, "-i", "to"], "tokens="),
        (&["run", model, "-n", "p"], "phase\nposition_ids"),
        (&["run", "Cargo.toml", "-n", ""], ""),
        (&["fold", model, "--rule", "called"], "called-functions"),
    ] {
        let mut command = gradus(&[&["--", "gradus"], line].concat());
        command = command.env("GRADUS_COMPLETE", "fish");
        let lines = command.assert().success().stderr_eq("").get_output().stdout.clone();
        let lines = String::from_utf8(lines).unwrap();
        let values: Vec<_> = lines.lines().filter_map(|line| line.split('\t').next()).collect();
        assert_eq!(values.join("\n"), wanted, "{line:?}");
    }
}

/// Names of models and files that shells would run, expand, take for options or print as controls.
const STEERING: [&str; 12] = [
    "$(touch ran)",
    "`touch ran`",
    "x;touch ran;",
    "x|touch ran",
    "*",
    "~root",
    "{a,b}",
    "--output=ran",
    "=ls",
    "a\u{b}$(touch ran)",
    "a\nb c",
    "'\"\\",
];

#[test]
fn shells_are_given_no_names_that_they_would_interpret() {
    let folder = folder("completion");
    for (index, name) in STEERING.into_iter().enumerate() {
        let path = folder.join(format!("{index}.onnx"));
        save_chain(&path, name, vec![DeclaredDim::Symbol(name.into())], &[("Abs", name, "plain")]);
    }
    let long = "n".repeat(300);
    save_chain(&folder.join("long.onnx"), &long, vec![], &[("Abs", &long, "plain")]);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        for model in std::fs::read_dir(&folder).unwrap() {
            let model = model.unwrap().path();
            for option in ["--dim", "--min", "--range", "--input-shape", "--why", "-i", "-n", "--op"] {
                let command = if matches!(option, "-i" | "-n") { "run" } else { "infer" };
                let line = ["--", "gradus", command, model.to_str().unwrap(), option, ""];
                let mut asked = gradus(&line).env("GRADUS_COMPLETE", shell);
                asked = asked.env("_CLAP_COMPLETE_INDEX", "4").env("_CLAP_IFS", "\n");
                let output = asked.assert().success().get_output().stdout.clone();
                let output = String::from_utf8(output).unwrap();
                let known = ["plain", "Abs", ""];
                assert!(output.lines().all(|name| known.contains(&name)), "{shell} {option}: {output}");
            }
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// Bash completes a line, which is then run: nothing of a model's or a file's name is.
#[cfg(target_os = "linux")]
#[test]
fn bash_inserts_no_commands() {
    let folder = folder("bash");
    let name = "$(touch ran)";
    save_chain(&folder.join("m.onnx"), name, vec![DeclaredDim::Symbol(name.into())], &[("Abs", name, "y")]);
    std::fs::write(folder.join("a$(touch ran).onnx"), "").unwrap();
    let script = r#"
        source <(gradus completions bash)
        complete() {
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_TYPE=9 COMPREPLY=()
            _clap_complete_gradus gradus "${COMP_WORDS[COMP_CWORD]}" x 2> /dev/null
            for word in "${COMPREPLY[@]}"; do eval "true $word"; done
        }
        complete gradus show ""
        complete gradus show a
        for option in --dim --why -i --input-shape --op; do complete gradus infer m.onnx $option ""; done
        complete gradus run m.onnx -n ""
    "#;
    let program = cargo_bin!("gradus");
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let bash = std::process::Command::new("bash");
    let run = { bash }.args(["--norc", "-c", script]).current_dir(&folder).env("PATH", path).output();
    assert!(run.unwrap().status.success());
    assert!(!folder.join("ran").exists());
    let script = gradus(&["completions", "bash"]).assert().success().get_output().stdout.clone();
    assert!(!String::from_utf8(script).unwrap().contains("bashdefault"));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_manual_page_is_made_from_the_definitions() {
    let page = |arguments: &[&str]| {
        let output = gradus(arguments).assert().success().get_output().stdout.clone();
        String::from_utf8(output).unwrap()
    };
    assert!(page(&["man"]).contains("gradus\\-run(1)"));
    assert!(page(&["man", "run"]).contains("gradus\\-run"));
    misused(
        &["man", "rnu"],
        str![[r#"
error: unknown command "rnu"; did you mean "run"?

"#]],
    );
    let folder = folder("man");
    gradus(&["man", "--out", folder.to_str().unwrap()]).assert().success().stdout_eq("");
    // Every page that the first one refers to is there.
    let first = std::fs::read_to_string(folder.join("gradus.1")).unwrap().replace('\\', "");
    let named: Vec<_> =
        first.split("(1)").filter_map(|before| before.split_whitespace().next_back()).collect();
    assert!(named.iter().filter(|name| name.starts_with("gradus-")).count() >= 15, "{named:?}");
    for name in named.iter().filter(|name| name.starts_with("gradus-")) {
        assert!(folder.join(format!("{name}.1")).is_file(), "{name}");
    }
    std::fs::remove_dir_all(folder).unwrap();
    gradus(&["--version"]).assert().success().stdout_eq(str![[r#"
gradus 0.1.0

"#]]);
}

#[test]
fn every_command_has_a_line_of_help() {
    let help = gradus(&["--help"]).assert().success().get_output().stdout.clone();
    let help = String::from_utf8(help).unwrap();
    let commands = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    for line in commands.lines().filter(|line| !line.starts_with("   ")) {
        assert!(line.split_whitespace().count() > 2, "no help: {line}");
    }
    for standard in ["ONNX", "OpenVINO", "Paddle"] {
        assert!(help.contains(standard), "{standard}");
    }
}

/// Runs a command on a terminal, and returns what it prints there.
#[cfg(target_os = "linux")]
fn on_a_terminal(arguments: &[&str]) -> String {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use std::io::Read;
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let end = std::fs::OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let mut command = std::process::Command::new(cargo_bin!("gradus"));
    command.args(arguments).env("TERM", "xterm").env_remove("NO_COLOR");
    let (out, err) = (end.try_clone().unwrap(), end.try_clone().unwrap());
    let mut child = command.stdin(end).stdout(out).stderr(err).spawn().unwrap();
    drop(command);
    let mut printed = Vec::new();
    // The terminal has nothing more to give, which is an error, when the command has closed it.
    let _ = std::fs::File::from(terminal).read_to_end(&mut printed);
    child.wait().unwrap();
    String::from_utf8(printed).unwrap().replace("\r\n", "\n")
}

/// The characters of a text that steer a terminal, but for line feeds.
fn steering(text: &str) -> Vec<char> {
    let marks = ['\u{61c}', '\u{2028}', '\u{202e}', '\u{2066}'];
    text.chars().filter(|&c| (c.is_control() && c != '\n') || marks.contains(&c)).collect()
}

#[test]
fn names_cannot_steer_the_terminal() {
    let folder = folder("names");
    let path = folder.join("steers.onnx");
    let marks = "\u{1b}]0;t\u{7}\u{9b}2J\u{85}\u{202e}\u{2066}\u{2028}\u{61c}\u{7f}\u{1b}[35m";
    let (input, output) = (&*format!("in\u{1b}[2J{marks}"), &*format!("out{marks}\nproblems:"));
    let size = DeclaredDim::Symbol(format!("n\u{1b}c{marks}").into());
    save_chain(&path, input, vec![size.clone()], &[("Abs", input, "mid\u{7}"), ("Relu", "mid\u{7}", output)]);
    let other = folder.join("other.onnx");
    save_chain(&other, "x", vec![size], &[("Abs", "x", "y\u{1b}[2J"), ("Neg", "y\u{1b}[2J", output)]);
    let [path, other] = [&path, &other].map(|path| path.to_str().unwrap());
    let [converted, page] = ["steers.xml", "steers.html"].map(|name| folder.join(name));
    let folder_of_outputs = folder.to_str().unwrap();
    let given = format!("{input}=[1]");
    let commands: &[&[&str]] = &[
        &["show", path],
        &["infer", path],
        &["infer", path, "--all", "--depth", "2"],
        &["infer", path, "--why", output],
        &["infer", path, "--why", "in\u{1b}[3J"],
        &["infer", path, "--emit", "c"],
        &["infer", path, "--emit", "rust"],
        &["infer", path, "--emit", "python"],
        &["infer", path, "--emit", "json"],
        &["cost", path],
        &["cost", path, "--depth", "1"],
        &["cost", path, "--in-place", "--fit", "1000"],
        &["cost", path, "--dim", "n=1", "--plan"],
        &["compare", path],
        &["run", path],
        &["run", path, "-i", &given],
        &["run", path, "-i", &given, "--profile-nodes"],
        &["run", path, "-i", &given, "-o", folder_of_outputs],
        &["run", path, "-i", "in\u{1b}[2J=[[1]]"],
        &["fold", path, "-o", folder_of_outputs],
        &["convert", path, converted.to_str().unwrap()],
        &["report", path, "-o", page.to_str().unwrap()],
        &["graph", path],
        &["graph", path, "--format", "mermaid"],
        &["graph", path, "--format", "svg"],
        &["diff", path, other],
        &["diff", other, path],
        &["check", path, other],
    ];
    for command in commands.iter().filter(|command| command[0] != "graph" && !command.contains(&"--emit")) {
        let output = gradus(&[command, &["--json"][..]].concat()).output().unwrap();
        let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(steering(&printed).is_empty(), "{command:?}: {printed:?}");
    }
    for command in commands {
        let output = gradus(command).output().unwrap();
        let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(steering(&printed).is_empty(), "{command:?}: {:?} in {printed:?}", steering(&printed));
        assert!(!printed.contains("\nproblems:"), "{command:?}: {printed}");
        // Colours are there, and nothing else.
        #[cfg(target_os = "linux")]
        {
            let printed = on_a_terminal(command);
            let styles = ["0", "1", "31", "32", "33", "1;91", "1;94", "91", "94"];
            let plain = styles
                .iter()
                .fold(printed.clone(), |text, style| text.replace(&format!("\u{1b}[{style}m"), ""));
            assert!(steering(&plain).is_empty(), "{command:?}: {:?} in {printed:?}", steering(&plain));
            assert!(!printed.contains("\nproblems:"), "{command:?}: {printed}");
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}
