//! Files and items that comments and documents name must be there.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// Sources of other projects, and files of examples that readers make.
const OTHERS: [&str; 9] = [
    "array_creation.py",
    "dask/array/creation.py",
    "heads.py",
    "home/me/net.py",
    "lax_numpy.py",
    "net.py",
    "numpy/_core/function_base.py",
    "python/ops/math_ops.py",
    "docs.rs",
];

/// Words in backticks that name items of other projects, of formats and of models.
const FOREIGN: [&str; 29] = [
    "AVX512_BF16",
    "DLPACK_FLAG_BITMASK_READ_ONLY",
    "EX_SOFTWARE",
    "FL5",
    "FunctionProto",
    "LogspaceInferMeta",
    "MakeStateful",
    "MurmurHash3_x86_32",
    "NodeProto",
    "OperatorSetIdProto",
    "OpenBLAS",
    "PyArray_ArangeObj",
    "SparseTensorProto",
    "SplitMix64",
    "StringStringEntryProto",
    "_calc_length",
    "batch_norm_",
    "binary16",
    "binary32",
    "binary64",
    "kDLCPU",
    "kDLCUDA",
    "length_resized",
    "mi_option_purge_delay",
    "nohup",
    "paddle2onnx",
    "string_data",
    "unk__7",
    "y_dim_0",
];

/// Files below a folder, without what builds and caches make.
pub(super) fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with('.') || ["target", "__pycache__", "node_modules", "corpus"].contains(&&*name) {
            continue;
        }
        if path.is_dir() && !path.is_symlink() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// The part of a line in which words are for readers.
fn prose<'a>(line: &'a str, ending: &str) -> Option<&'a str> {
    match ending {
        "md" => Some(line),
        "rs" => line.find("//").map(|at| &line[at..]),
        _ => line.find('#').map(|at| &line[at..]),
    }
}

#[test]
fn every_source_that_is_named_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let mut all = Vec::new();
    files(&root, &mut all);
    let names: BTreeSet<_> =
        all.iter().map(|path| format!("/{}", path.strip_prefix(&root).unwrap().display())).collect();
    let is_there = |name: &str| names.iter().any(|path| path.ends_with(&format!("/{name}")));
    let named = regex::Regex::new(r"[\w./-]*\w\.(?:rs|py)\b").unwrap();
    let repository = super::readmes::repository();
    let mut gone = Vec::new();
    let mut seen = 0;
    for path in &all {
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        // The log of changes names what was there.
        if !["md", "rs", "py", "toml"].contains(&&*ending) || path.ends_with("CHANGELOG.md") {
            continue;
        }
        let text = std::fs::read_to_string(path).unwrap().replace(&repository, "");
        for (line, words) in
            text.lines().enumerate().filter_map(|(at, line)| Some((at + 1, prose(line, &ending)?)))
        {
            for name in named.find_iter(words).map(|found| found.as_str().trim_start_matches(['.', '/'])) {
                seen += 1;
                if !is_there(name) && !OTHERS.contains(&name) {
                    gone.push(format!("{}:{line}: {name}", path.strip_prefix(&root).unwrap().display()));
                }
            }
        }
    }
    assert!(seen > 100, "{seen} names were read");
    assert!(gone.is_empty(), "files that are gone:\n{}", gone.join("\n"));
}

#[test]
fn every_room_of_the_architecture_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let rooms = text.split("### Rooms").nth(1).unwrap().split("```").nth(1).unwrap();
    let (mut folder, mut seen) = (root.clone(), 0);
    for line in rooms.lines().skip(1) {
        if !line.starts_with(' ') {
            folder = root.join("crates").join(line.split(' ').next().unwrap());
        }
        let words = line.split([' ', ',']);
        for word in words.filter(|word| word.ends_with('/') || word.contains(".rs")) {
            seen += 1;
            let is_there = folder.join("src").join(word).exists() || folder.join(word).exists();
            assert!(is_there, "{}: {word} is not there", folder.display());
        }
    }
    assert!(seen > 50, "{seen} rooms were read");
}

/// The part of a line that is read by a compiler.
fn code<'a>(line: &'a str, ending: &str) -> &'a str {
    prose(line, ending).map_or(line, |comment| &line[..line.len() - comment.len()])
}

/// Names in backticks in the comments of a Rust source, with the numbers of their lines: an
/// identifier, or the last one of a path.
fn items(source: &str) -> Vec<(usize, &str)> {
    let name = regex::Regex::new(r"`(?:[A-Za-z_]\w*::)*([A-Za-z_]\w*)(?:\(\))?`").unwrap();
    let lines = source.lines().enumerate().filter_map(|(at, line)| Some((at + 1, prose(line, "rs")?)));
    lines
        .flat_map(|(line, words)| {
            name.captures_iter(words).map(move |found| (line, found.get(1).unwrap().as_str()))
        })
        .collect()
}

#[test]
fn every_item_that_a_comment_names_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let mut all = Vec::new();
    files(&root, &mut all);
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut known, mut named) = (HashSet::new(), Vec::new());
    for path in &all {
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        if !["rs", "py", "pyi", "toml", "cu", "h", "wgsl", "js"].contains(&&*ending) {
            continue;
        }
        let text = std::fs::read_to_string(path).unwrap();
        // This file names what is elsewhere.
        if path.ends_with(file!()) {
            continue;
        }
        for line in text.lines() {
            let words = if ending == "js" { line } else { code(line, &ending) };
            for word in words.split(|c| !is_word(c)) {
                if !known.contains(word) {
                    known.insert(word.to_owned());
                }
            }
        }
        if ending == "rs" {
            let path = path.strip_prefix(&root).unwrap().display().to_string();
            named.extend(
                items(&text).into_iter().map(|(line, name)| (format!("{path}:{line}"), name.to_owned())),
            );
        }
    }
    let is_there = |name: &str| known.contains(name) || FOREIGN.contains(&name);
    let gone: Vec<_> = named
        .iter()
        .filter(|(_, name)| !is_there(name))
        .map(|(place, name)| format!("{place}: {name}"))
        .collect();
    assert!(named.len() > 3000, "{} names were read", named.len());
    assert!(gone.is_empty(), "items that are gone:\n{}", gone.join("\n"));
    let idle: Vec<_> =
        FOREIGN.iter().filter(|name| !named.iter().any(|(_, found)| found == **name)).collect();
    assert!(idle.is_empty(), "foreign names that no comment has: {idle:?}");
}

#[test]
fn items_of_comments_are_found() {
    let source =
        "/// Calls [`Form::of`] and `work()`, not `a + b`.\nfn f() {} // See `TABLE`.\nlet s = \"`no`\";";
    assert_eq!(items(source), [(1, "of"), (1, "work"), (2, "TABLE")]);
}
