//! Files that comments and documents name must be there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Sources of other projects, and files of examples that readers make.
const OTHERS: [&str; 7] = [
    "array_creation.py",
    "dask/array/creation.py",
    "heads.py",
    "lax_numpy.py",
    "numpy/_core/function_base.py",
    "python/ops/math_ops.py",
    "docs.rs",
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
    let mut gone = Vec::new();
    let mut seen = 0;
    for path in &all {
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        // The log of changes names what was there.
        if !["md", "rs", "py", "toml"].contains(&&*ending) || path.ends_with("CHANGELOG.md") {
            continue;
        }
        let text = std::fs::read_to_string(path).unwrap();
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
