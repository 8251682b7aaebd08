//! Functions that other files may call have a doc line.

use std::path::Path;

use super::names::files;

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
    let (mut lacking, mut seen) = (Vec::new(), 0);
    for entry in std::fs::read_dir(&crates).unwrap() {
        let mut all = Vec::new();
        files(&entry.unwrap().path().join("src"), &mut all);
        for path in all.iter().filter(|path| path.extension().is_some_and(|ending| ending == "rs")) {
            let source = std::fs::read_to_string(path).unwrap();
            let (found, count) = undocumented(&source);
            let path = path.strip_prefix(&crates).unwrap().display();
            lacking.extend(found.iter().map(|(line, function)| format!("{path}:{line}: {function}")));
            seen += count;
        }
    }
    assert!(seen > 2000, "{seen} functions were read");
    assert!(lacking.is_empty(), "functions without a doc line:\n{}", lacking.join("\n"));
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
