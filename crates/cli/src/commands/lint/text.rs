//! Findings as lines for people, and as annotations of GitHub Actions.

use std::io::Write;

use gradus::fold::Verified;
use gradus::lint::{Finding, Severity};

use super::super::proved;
use super::Linted;
use crate::diagnostics::Failure;
use crate::output::{self, escaped};

/// Maximum number of findings of a rule that are shown without `--all`.
const MAX_SHOWN: usize = 4;

/// Writes the findings of a model, those of a rule together.
pub(super) fn lines(
    linted: &Linted,
    is_all: bool,
    is_several: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let indent = if is_several { "  " } else { "" };
    if is_several {
        writeln!(out, "{}", output::path(&linted.model.path))?;
    }
    if let Some((to, fixed)) = &linted.fixed {
        let rules: Vec<_> = fixed.rules.iter().map(|rule| rule.code).collect();
        writeln!(out, "{indent}fixed {} -> {}", rules.join(", "), output::path(to))?;
        if let Some(proof) = &fixed.verified.proof {
            writeln!(out, "{indent}{}", proved::text(proof))?;
        }
        let Verified { elements, runs, sizes, .. } = &fixed.verified;
        if *runs > 0 {
            writeln!(out, "{indent}{}", proved::runs(*elements, "are the same bits", (*runs, sizes)))?;
        }
    }
    let most = if is_all { usize::MAX } else { MAX_SHOWN };
    for findings in linted.lint.findings.chunk_by(|a, b| a.rule.code == b.rule.code) {
        let rule = findings[0].rule;
        writeln!(out, "{indent}{} {} {}: {}", rule.code, rule.severity, rule.name, rule.finds)?;
        for finding in findings.iter().take(most) {
            writeln!(out, "{indent}  {}: {}", escaped(&finding.place), escaped(&finding.message))?;
        }
        if findings.len() > most {
            writeln!(out, "{indent}  and {} more (--all)", findings.len() - most)?;
        }
    }
    for (rule, reason) in &linted.lint.unasked {
        writeln!(out, "{indent}{} {} was not asked: {}", rule.code, rule.name, escaped(reason))?;
    }
    writeln!(out, "{indent}{}", counts(linted))?;
    Ok(())
}

/// The numbers of findings by severity, the largest first.
fn counts(linted: &Linted) -> String {
    let of = |severity| linted.lint.findings.iter().filter(|it| it.rule.severity == severity).count();
    let count = |severity: Severity| match of(severity) {
        0 => None,
        1 => Some(format!("1 {severity}")),
        count => Some(format!("{count} {severity}s")),
    };
    let mut counts: Vec<_> = Severity::ALL.into_iter().rev().filter_map(count).collect();
    if counts.is_empty() {
        counts.push("no findings".to_owned());
    }
    if linted.known > 0 {
        counts.push(format!("{} in the baseline", linted.known));
    }
    counts.join(", ")
}

/// Writes the findings of a model as commands of workflows, a line each.
pub(super) fn annotations(linted: &Linted, out: &mut dyn Write) -> Result<(), Failure> {
    let file = property(&linted.model.path.display().to_string());
    for Finding { rule, place, message, .. } in &linted.lint.findings {
        let level = if rule.severity == Severity::Note { "notice" } else { rule.severity.name() };
        let title = property(&format!("{} {}", rule.code, rule.name));
        let text = data(&format!("{place}: {message}"));
        writeln!(out, "::{level} file={file},title={title}::{text}")?;
    }
    Ok(())
}

/// The text of an annotation: what ends a line or begins an escape is written by its code.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property of an annotation.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
