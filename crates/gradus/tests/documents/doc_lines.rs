//! Functions that other files may call have a doc line.

use std::path::Path;

use super::names::files;

/// Functions of a crate that lack one. A number may only fall.
const LACKING: [(&str, usize); 14] = [
    ("cli", 0),
    ("core", 0),
    ("dims", 0),
    ("engine", 0),
    ("formats", 0),
    ("gpu", 0),
    // Rules of folding.
    ("gradus", 30),
    ("kernels", 0),
    ("operators", 0),
    ("profiles", 0),
    // Functions of the native module, whose documents would name each parameter.
    ("python", 4),
    ("report", 0),
    ("sequences", 0),
    ("testkit", 0),
];

/// Numbers and names of the visible functions of a source that have no doc line, and the number of
/// all that are visible.
fn undocumented(source: &str) -> (Vec<(usize, &str)>, usize) {
    let head = r#"^\s*pub(?:\([^)]*\))?\s+(?:(?:const|async|unsafe|extern "C")\s+)*fn\s+(\w+)"#;
    let function = regex::Regex::new(head).unwrap();
    let (mut lacking, mut seen) = (Vec::new(), 0);
    // An attribute may take several lines, between the doc line and the function.
    let (mut documented, mut open) = (false, 0);
    for (at, line) in source.lines().enumerate() {
        let text = line.trim();
        if let Some(found) = function.captures(line) {
            seen += 1;
            if !documented {
                lacking.push((at + 1, found.get(1).unwrap().as_str()));
            }
        }
        if open > 0 || text.starts_with("#[") {
            open = (open + text.matches('[').count()).saturating_sub(text.matches(']').count());
        } else if text.starts_with("///") {
            documented = true;
        } else if !text.starts_with("//") {
            documented = false;
        }
    }
    (lacking, seen)
}

#[test]
fn every_function_that_others_call_has_a_doc_line() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    let names: Vec<_> = std::fs::read_dir(&crates).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), LACKING.len(), "a row for each of {names:?}");
    let mut seen = 0;
    for (name, allowed) in LACKING {
        let mut all = Vec::new();
        files(&crates.join(name).join("src"), &mut all);
        let mut lacking = Vec::new();
        for path in all.iter().filter(|path| path.extension().is_some_and(|ending| ending == "rs")) {
            let source = std::fs::read_to_string(path).unwrap();
            let (found, count) = undocumented(&source);
            let path = path.strip_prefix(&crates).unwrap().display();
            lacking.extend(found.iter().map(|(line, function)| format!("{path}:{line}: {function}")));
            seen += count;
        }
        let count = lacking.len();
        assert!(
            count <= allowed,
            "{count} functions lack a doc line, expected {allowed}:\n{}",
            lacking.join("\n")
        );
        assert!(count >= allowed, "{count} functions of {name} lack a doc line: lower its number to that");
    }
    assert!(seen > 2000, "{seen} functions were read");
}

#[test]
fn functions_without_a_doc_line_are_found() {
    let source = r#"
/// Has one.
#[expect(
    clippy::inline_always,
    reason = "it is short"
)]
pub(super) const fn documented(
    #[reads(as = truth)] flag: bool,
) {}

/// Has one, after an attribute of a parameter.
#[inline]
pub fn documented_too() {}

pub fn bare() {}

// A comment alone.
#[inline]
pub(crate) fn commented() {}
fn private() {}
"#;
    assert_eq!(undocumented(source), (vec![(15, "bare"), (19, "commented")], 4));
}
