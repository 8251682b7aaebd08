//! Running the commands as they are typed, for all test files.

use std::path::{Path, PathBuf};

use gradus::graph::{Builder, DeclaredDim, Model, Origin, Standard, Type};
use snapbox::IntoData;
use snapbox::cmd::{Command, cargo_bin};

pub fn gradus(arguments: &[&str]) -> Command {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // Nothing is kept in the folder of whoever runs the tests.
    let caches = env!("CARGO_TARGET_TMPDIR");
    Command::new(cargo_bin!("gradus")).current_dir(root).env("XDG_CACHE_HOME", caches).args(arguments)
}

/// Saves an ONNX model of one input and nodes of one input each, `(operator, input, output)`.
#[allow(dead_code, reason = "not every test file makes models")]
pub fn save_chain(path: &Path, input: &str, sizes: Vec<DeclaredDim>, nodes: &[(&str, &str, &str)]) {
    let mut graph = Builder::new("made");
    let id = graph.define(input, Origin::Input).unwrap();
    graph.info(id).declared = Some(Type::Tensor(Some(gradus::DType::F32), Some(sizes)));
    for (operator, from, to) in nodes {
        graph.apply(to, operator, 17, &[*from], &[*to], Vec::new()).unwrap();
    }
    graph.output(nodes.last().unwrap().2);
    let mut model = Model::new(Standard::Onnx);
    model.opsets = vec![("".into(), 17)];
    model.graph = graph.finish().unwrap();
    gradus::Model::from_source(model).save(path).unwrap();
}

/// An empty folder that no other test uses.
#[allow(dead_code, reason = "not every test file writes files")]
pub fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("gradus-cli-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A command line that runs a model in this command, behind a line of a shell that has its paths.
#[allow(dead_code, reason = "not every test file has runtimes")]
pub fn in_shell(line: &str) -> String {
    format!(
        "cmd:sh -c '{line}' '{}' {{model}} {{inputs}} {{outputs}} {{values}}",
        snapbox::cmd::cargo_bin!("gradus").display()
    )
}

/// Returns the output of a command that succeeds.
#[allow(dead_code, reason = "not every test file looks at what is printed")]
pub fn prints(arguments: &[&str], stdout: impl IntoData) {
    gradus(arguments).assert().code(0).stderr_eq("").stdout_eq(stdout);
}

/// Returns the error about an invalid model or data.
#[allow(dead_code, reason = "not every test file has wrong models")]
pub fn fails(arguments: &[&str], stderr: impl IntoData) {
    gradus(arguments).assert().code(1).stdout_eq("").stderr_eq(stderr);
}

/// Returns the error about an invalid command line.
#[allow(dead_code, reason = "not every test file has wrong command lines")]
pub fn misused(arguments: &[&str], stderr: impl IntoData) {
    gradus(arguments).assert().code(2).stdout_eq("").stderr_eq(stderr);
}

/// The words of a command line; single quotes keep a word together.
#[allow(dead_code, reason = "not every test file reads command lines")]
pub fn words(line: &str) -> Vec<String> {
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
#[allow(dead_code, reason = "not every test file reads command lines")]
pub fn scratch(name: &str) -> PathBuf {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(scratch.join("examples")).unwrap();
    for example in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")).unwrap() {
        let example = example.unwrap();
        std::fs::copy(example.path(), scratch.join("examples").join(example.file_name())).unwrap();
    }
    scratch
}
