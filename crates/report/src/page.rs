//! The HTML of a page. What the reader can change is drawn by its script; all else is written here.

use std::collections::BTreeMap;

use gradus::conversion::Note;
use gradus::cost::Cost;
use gradus::graph::Standard;
use gradus::infer::Completeness;
use gradus::text::escaped;
use gradus::{Error, Model};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use crate::{Conversion, Summary};

pub(crate) const STYLE: &str = include_str!("../assets/report.css");
/// Functions of their own, and the program that draws the page, of several files.
const SCRIPTS: [&str; 4] = [
    include_str!("../assets/formulas.js"),
    include_str!("../assets/chains.js"),
    include_str!("../assets/treemap.js"),
    concat!(
        "\"use strict\";\n\n(() => {\n",
        include_str!("../assets/elements.js"),
        include_str!("../assets/sizes.js"),
        include_str!("../assets/totals.js"),
        include_str!("../assets/memory.js"),
        include_str!("../assets/cost.js"),
        include_str!("../assets/graph.js"),
        include_str!("../assets/nodes.js"),
        include_str!("../assets/report.js"),
        "})();\n"
    ),
];

/// Maximum number of remarks of a kind that are listed.
pub(crate) const MAX_REMARKS: usize = 200;

/// The head of a page: the policy of its content, and its title.
pub(crate) fn head(policy: &str, title: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(policy);
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            meta name="generator" content=(concat!("gradus ", env!("CARGO_PKG_VERSION")));
            link rel="icon" href="data:,";
            title { (title) }
            style { (PreEscaped(STYLE)) }
        }
    }
}

/// The whole page.
pub(crate) fn page(
    model: &Model,
    name: &str,
    cost: &Cost,
    summary: &Summary,
    data: &str,
    [beside, sequences, audits]: [Option<&Markup>; 3],
) -> String {
    let scripts = SCRIPTS.map(source).join(" ");
    let policy = format!(
        "default-src 'none'; style-src {}; script-src {scripts}; img-src data:; base-uri 'none'; form-action 'none'",
        source(STYLE)
    );
    let title = escaped(name);
    let short = title.rsplit(['/', '\\']).next().unwrap_or_default();
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            (head(&policy, &format!("{short} – Gradus report")))
            body {
                a.skip href="#main" { "Skip to the report" }
                header {
                    p.brand { "Gradus report" }
                    h1.name title=(title) { (short) }
                    (facts(model, summary))
                    (verdict(model, summary))
                }
                form #sizes aria-label="Sizes" hidden {}
                div #violations role="status" {}
                main #main tabindex="-1" {
                    noscript {
                        p.notice { "Figures, charts and tables of this page need JavaScript." }
                    }
                    section #totals aria-labelledby="totals-title" {
                        h2 #totals-title { "Totals" }
                        div .content {}
                    }
                    @if let Some(beside) = beside { (beside) }
                    section #interface aria-labelledby="interface-title" {
                        h2 #interface-title { "Inputs and outputs" }
                        div .content {}
                    }
                    section #memory aria-labelledby="memory-title" {
                        h2 #memory-title { "Memory over the run" }
                        div .content {}
                    }
                    section #cost aria-labelledby="cost-title" {
                        h2 #cost-title { "Cost" }
                        div .content {}
                    }
                    section #graph aria-labelledby="graph-title" {
                        h2 #graph-title { "Graph" }
                        div .content {}
                    }
                    section #nodes aria-labelledby="nodes-title" {
                        h2 #nodes-title { "Nodes" }
                        div .content {}
                    }
                    @if let Some(sequences) = sequences { (sequences) }
                    @if let Some(audits) = audits { (audits) }
                    (remarks(model, cost, summary))
                }
                footer {
                    p {
                        "Made by Gradus " (env!("CARGO_PKG_VERSION")) ". Shapes, costs and memory are exact formulas of the sizes above; "
                        "the page evaluates them with integers of any size and loads nothing."
                    }
                }
                script #data type="application/json" { (PreEscaped(data)) }
                @for script in SCRIPTS {
                    script { (PreEscaped(script)) }
                }
            }
        }
    };
    markup.into_string()
}

/// The digest of an element's text, as a content security policy names it.
pub(crate) fn source(text: &str) -> String {
    format!("'sha256-{}'", base64(&Sha256::digest(text)))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let byte = |index: usize| usize::from(group.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let is_padding = digit > group.len();
            let value = bits >> (18 - 6 * digit) & 63;
            text.push(if is_padding { '=' } else { char::from(DIGITS[value]) });
        }
    }
    text
}

/// Facts about the file, in the head.
fn facts(model: &Model, summary: &Summary) -> Markup {
    let source = model.source();
    let set = |(domain, version): &(_, i64)| {
        let domain: &std::sync::Arc<str> = domain;
        if domain.is_empty() { format!("opset {version}") } else { format!("{domain} {version}") }
    };
    let sets = source.opsets.iter().map(set).collect::<Vec<_>>().join(", ");
    let file = model.bytes().map(|bytes| grouped(bytes.len()) + " bytes");
    let standard = format!("{} IR {}", source.standard.name(), source.format_version);
    let functions = source.functions.len();
    let facts = [
        ("Standard", standard),
        ("Operator sets", sets),
        ("Producer", source.producer.clone()),
        ("File", file.unwrap_or_default()),
        ("Nodes", grouped(summary.nodes)),
        ("Parameters", grouped(summary.parameters)),
        ("Functions", if functions > 0 { grouped(functions) } else { String::new() }),
    ];
    html! {
        dl.facts {
            @for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
                div { dt { (name) } dd.name { (escaped(value)) } }
            }
        }
    }
}

/// A number with commas between groups of three digits.
pub(crate) fn grouped(number: impl ToString + Copy) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The sign of a line of the verdict, in words for screen readers.
#[derive(Clone, Copy)]
enum RemarkSign {
    Good,
    Note,
    Bad,
}

fn line(sign: RemarkSign, text: &Markup) -> Markup {
    let (class, glyph, words) = match sign {
        RemarkSign::Good => ("good", "✓", "Fine: "),
        RemarkSign::Note => ("note", "•", "Note: "),
        RemarkSign::Bad => ("bad", "✕", "Problem: "),
    };
    html! {
        li class=(class) {
            span.sign aria-hidden="true" { (glyph) }
            span.hidden { (words) }
            span { (text) }
        }
    }
}

fn verdict(model: &Model, summary: &Summary) -> Markup {
    let (known, values) = (summary.known, summary.values);
    let shapes = if known == values {
        let what = if values == 1 { "The shape of 1 value is" } else { "The shapes of all values are" };
        let data = html! {
            @match summary.data {
                0 => {}
                1 => { "; the data decide sizes of 1" }
                n => { "; the data decide sizes of " (grouped(n)) }
            }
        };
        line(RemarkSign::Good, &html! { (what) " known (" (grouped(values)) ")" (data) "." })
    } else {
        let open = grouped(values - known);
        line(
            RemarkSign::Note,
            &html! { a href="#unknown" { (open) " of " (grouped(values)) " shapes" } " are not known in full." },
        )
    };
    let problems = match summary.problems.len() {
        0 => line(RemarkSign::Good, &html! { "No contradictions." }),
        1 => line(
            RemarkSign::Bad,
            &html! { a href="#problems" { "1 contradiction" } ": the model cannot run, or its declared types are wrong." },
        ),
        n => line(
            RemarkSign::Bad,
            &html! { a href="#problems" { (grouped(n)) " contradictions" } ": the model cannot run, or its declared types are wrong." },
        ),
    };
    let fold = match &summary.fold {
        Ok(report) => {
            let (before, after) = report.nodes();
            if after < before {
                let text = html! { a href="#folding" { "Folding" } " removes " (grouped(before - after)) " of " (grouped(before)) " nodes." };
                line(RemarkSign::Note, &text)
            } else {
                line(RemarkSign::Good, &html! { "Folding removes no node." })
            }
        }
        Err(error) => line(RemarkSign::Note, &html! { "Not folded: " (said(error)) }),
    };
    html! {
        ul.verdict aria-label="Verdict" {
            (shapes) (problems) (fold)
            @for conversion in &summary.conversions { (conversion_line(model, conversion)) }
        }
    }
}

fn conversion_line(model: &Model, conversion: &Conversion) -> Markup {
    let to = standard(conversion.to);
    match &conversion.outcome {
        Ok(notes) if notes.notes.is_empty() => {
            line(RemarkSign::Good, &html! { "Conversion to " (to) " keeps every node bit for bit." })
        }
        Ok(notes) => {
            let text = html! {
                "Conversion to " (to) ": "
                a href="#conversion" { @match notes.notes.len() { 1 => "1 note", n => { (grouped(n)) " notes" } } }
                " on nodes that are not kept bit for bit."
            };
            line(RemarkSign::Note, &text)
        }
        Err(error) => {
            debug_assert_ne!(conversion.to, model.source().standard);
            line(RemarkSign::Note, &html! { "No conversion to " (to) ": " (said(error)) })
        }
    }
}

fn standard(standard: Standard) -> &'static str {
    match standard {
        Standard::Onnx => "ONNX",
        Standard::OpenVino => "OpenVINO",
        Standard::Paddle => "Paddle",
    }
}

/// An error as text, without the name of the file, which the head has.
fn said(error: &Error) -> Markup {
    let nodes = error.location().nodes.iter().map(String::as_str);
    let text = nodes.chain([error.message()]).collect::<Vec<_>>().join(": ");
    html! { span.name { (escaped(&text)) } }
}

/// Problems, conditions, unknown shapes, folding and conversion.
fn remarks(model: &Model, cost: &Cost, summary: &Summary) -> Markup {
    let (inference, graph) = (cost.inference(), model.graph());
    let problems = summary.problems.iter().map(|problem| (&*problem.place, &*problem.message));
    let warnings = inference.warnings().iter().map(|warning| (&*warning.place, &*warning.message));
    let count = inference.conditions().len();
    let conditions = inference.conditions().iter().map(|of| (&*of.node, &*of.text));
    let is_unknown = |id: &_| inference.completeness(inference.fact(*id)) > Completeness::Data;
    let unknown: Vec<_> = graph.ids().filter(is_unknown).collect();
    let why = |&id: &_| (graph.value(id).name.to_string(), inference.why_incomplete(id).join("; "));
    let reasons: Vec<_> = unknown.iter().take(MAX_REMARKS).map(why).collect();
    let reasons = reasons.iter().map(|(name, why)| (&**name, &**why));
    html! {
        (list("problems", "Contradictions", "Where", "Why", summary.problems.len(), problems))
        (list("warnings", "Wrong declared shapes", "Where", "Why", inference.warnings().len(), warnings))
        (list("unknown", "Shapes that are not known in full", "Value", "Why", unknown.len(), reasons))
        (list("conditions", "Conditions", "Where", "Condition on the inputs", count, conditions))
        @if let Ok(report) = &summary.fold {
            @let changed: Vec<_> = report.operators.iter().filter(|(_, (before, after))| before != after).collect();
            @if !changed.is_empty() {
                section #folding aria-labelledby="folding-title" {
                    h2 #folding-title { "Folding" }
                    p {
                        code { "gradus fold" } " computes these nodes before a run, and keeps every bit of the outputs. It adds "
                        (grouped(report.constants)) @if report.constants == 1 { " constant" } @else { " constants" } " of "
                        (grouped(report.constant_bytes)) " bytes."
                        @if let Some(proof) = &summary.proof && proof.proved().next().is_some() {
                            " " (grouped(proof.proved().count())) " of " (grouped(proof.outputs.len()))
                            " outputs are proved to be the same for all inputs and sizes."
                        }
                    }
                    div.scroll tabindex="0" role="region" aria-labelledby="folding-title" {
                        table {
                            thead { tr { th scope="col" { "Operator" } th.number scope="col" { "Before" } th.number scope="col" { "After" } } }
                            tbody {
                                @for (name, (before, after)) in changed {
                                    tr { th.name scope="row" { (escaped(name)) } td.number { (grouped(before)) } td.number { (grouped(after)) } }
                                }
                            }
                        }
                    }
                    @if !report.kept.is_empty() {
                        details {
                            summary { "Shape nodes that stay (" (grouped(report.kept.len())) ")" }
                            ul { @for kept in report.kept.iter().take(MAX_REMARKS) {
                                li { span.name { (escaped(&kept.node)) } " (" (escaped(&kept.operator)) "): " (escaped(&kept.reason)) }
                            } }
                            (more(report.kept.len()))
                        }
                    }
                }
            }
        }
        @let converted = summary.conversions.iter().filter_map(|conversion| Some((conversion.to, conversion.outcome.as_ref().ok()?)));
        @let noted: Vec<_> = converted.filter(|(_, notes)| !notes.notes.is_empty() || !notes.lost.is_empty()).collect();
        @if !noted.is_empty() {
            section #conversion aria-labelledby="conversion-title" {
                h2 #conversion-title { "Conversion" }
                @for (to, notes) in noted {
                    h3 { "To " (standard(to)) }
                    @if !notes.notes.is_empty() {
                        (notes_table(&notes.notes))
                    }
                    @if !notes.lost.is_empty() {
                        p { "Lost, as the format cannot hold it:" }
                        ul { @for lost in notes.lost.iter().take(MAX_REMARKS) { li.name { (escaped(lost)) } } }
                        (more(notes.lost.len()))
                    }
                }
            }
        }
    }
}

/// Notes of a conversion, by operator and reason.
fn notes_table(notes: &[Note]) -> Markup {
    let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for note in notes {
        groups.entry((&note.operator, note.exactness, &note.why)).or_default().push(&*note.place);
    }
    html! {
        p { "Not kept bit for bit:" }
        div.scroll tabindex="0" role="region" aria-label="Not kept bit for bit" {
            table {
                thead { tr { th scope="col" { "Operator" } th scope="col" { "Difference" } th scope="col" { "Why" } th scope="col" { "Nodes" } } }
                tbody { @for ((operator, exactness, why), places) in &groups {
                    tr {
                        th.name scope="row" { (escaped(operator)) }
                        td { (exactness) }
                        td { (escaped(why)) }
                        td { details {
                            summary { (grouped(places.len())) }
                            ul { @for place in places.iter().take(MAX_REMARKS) { li.name { (escaped(place)) } } }
                            (more(places.len()))
                        } }
                    }
                } }
            }
        }
    }
}

/// A section of remarks, each with its place.
fn list<'a>(
    id: &str,
    title: &str,
    place: &str,
    text: &str,
    count: usize,
    remarks: impl Iterator<Item = (&'a str, &'a str)>,
) -> Markup {
    let heading = format!("{id}-title");
    html! {
        @if count > 0 {
            section id=(id) aria-labelledby=(heading) {
                h2 id=(heading) { (title) " (" (grouped(count)) ")" }
                div.scroll tabindex="0" role="region" aria-labelledby=(heading) {
                    table.remarks {
                        thead { tr { th scope="col" { (place) } th scope="col" { (text) } } }
                        tbody { @for (place, text) in remarks.take(MAX_REMARKS) {
                            tr { th.name scope="row" { (escaped(place)) } td { (escaped(text)) } }
                        } }
                    }
                }
                (more(count))
            }
        }
    }
}

/// Number of remarks that are not listed.
pub(crate) fn more(count: usize) -> Markup {
    html! { @if count > MAX_REMARKS { p { "and " (grouped(count - MAX_REMARKS)) " more" } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standard() {
        // FIPS 180-4, "abc".
        assert_eq!(source("abc"), "'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='");
    }

    #[test]
    fn numbers_have_groups_of_three_digits() {
        let numbers = [0u64, 12, 123, 1234, 123_456, 1_234_567];
        assert_eq!(numbers.map(grouped), ["0", "12", "123", "1,234", "123,456", "1,234,567"]);
    }
}
