//! Findings as a report of code quality, which GitLab shows at a merge request.

use std::collections::HashMap;

use gradus::error::Position;
use gradus::lint::{Finding, Severity};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::Linted;
use crate::object::object;

/// The entries of all models, with their paths.
pub(super) fn entries<'a>(all: &'a [Linted], paths: &'a [String]) -> Vec<impl Serialize> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let findings = all
        .iter()
        .zip(paths)
        .flat_map(|(linted, path)| linted.lint.findings.iter().map(move |finding| (finding, &**path)));
    let entry = |(finding, path): (&Finding, &'a str)| {
        let Finding { rule, place, message, position, .. } = finding;
        let description = format!("{place}: {message}");
        let key = format!("{path}\n{}\n{description}", rule.code);
        let before = seen.entry(key.clone()).or_default();
        let digest = Sha256::digest(format!("{key}\n{before}"));
        let start = digest.iter().take(16).fold(0u128, |start, byte| start << 8 | u128::from(*byte));
        *before += 1;
        let severity = match rule.severity {
            Severity::Note => "info",
            Severity::Warning => "minor",
            Severity::Error => "major",
        };
        // Binary files have no lines.
        let begin = if let Some(Position::Line(line, _)) = position { *line } else { 1 };
        let fingerprint = format!("{start:032x}");
        let location = object!(Location { path, lines: object!(Lines { begin }) });
        // The fingerprint is the same for a finding in each run, and no other's.
        object!(Entry { description, check_name: rule.code, fingerprint, severity, location })
    };
    findings.map(entry).collect()
}
