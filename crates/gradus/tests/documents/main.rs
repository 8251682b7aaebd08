//! docs/ops.md, from the table of operators; docs/convert.md, from the tables of conversion;
//! docs/fold.md, from the table of folding rules; docs/compare.md, from that of differences between
//! programs; docs/lint.md, from that of lint. `cargo xtask docs` has them written.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use gradus::fold::RULES;
use gradus::graph::Standard;
use gradus::operators;
use gradus::portability;
use gradus::schema::Signature;

mod doc_lines;
mod names;
mod readmes;

#[test]
fn documents_are_what_the_tables_say() {
    let write = std::env::var_os("GRADUS_WRITE_DOCUMENTS").is_some();
    let documents = [
        ("ops.md", text()),
        ("convert.md", converted()),
        ("fold.md", rules()),
        ("compare.md", differences()),
        ("lint.md", lint()),
    ];
    for (file, text) in documents {
        let path = Path::new("../../docs").join(file);
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        assert!(write, "docs/{file} differs from its table; `cargo xtask docs` writes it");
        std::fs::write(&path, text).unwrap();
    }
}

/// The document about folding and its rules.
fn rules() -> String {
    let mut text = include_str!("fold.md").to_owned();
    for rule in RULES.iter() {
        let _ = writeln!(text, "| `{}` | {} | {} |", rule.name, rule.level.name(), rule.pattern);
    }
    text
}

/// The document about differences between programs.
fn differences() -> String {
    let mut text = include_str!("compare.md").to_owned();
    for rule in portability::RULES.iter().chain(portability::OPENVINO_RULES) {
        let operators = rule.operators.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let [onnxruntime, openvino, onnx] = rule.results;
        let (name, condition) = (rule.name, rule.condition);
        let row = format_args!("| {onnxruntime} | {openvino} | {onnx} |");
        let _ = writeln!(text, "| `{name}` | {operators} | {condition} {row}");
    }
    text
}

/// The document about lint and its rules.
fn lint() -> String {
    let mut text = include_str!("lint.md").to_owned();
    for rule in gradus::lint::RULES {
        let (code, name, severity) = (rule.code, rule.name, rule.severity);
        let fixes = if rule.fix.is_some() { " `--fix` mends it." } else { "" };
        let _ = write!(
            text,
            "\n### {code} {name}\n\n{severity}: {}. {}\n\n{}{fixes}\n",
            rule.finds, rule.why, rule.mend
        );
    }
    text
}

/// The document about conversion and its operators.
fn converted() -> String {
    let mut text = include_str!("convert.md").to_owned();
    for (from, title) in [
        (Standard::Onnx, "From ONNX to OpenVINO"),
        (Standard::OpenVino, "From OpenVINO to ONNX"),
        (Standard::Paddle, "From Paddle to ONNX"),
    ] {
        // Writing to a string cannot fail.
        let _ =
            writeln!(text, "\n## {title}\n\n| operator | becomes | not kept bit for bit |\n|---|---|---|");
        let rows = operators::all().filter(|row| row.standard == from && row.domain.is_empty());
        let mut rows: Vec<_> = rows.filter_map(|row| Some((row.name, row.conversion()?))).collect();
        rows.sort_unstable_by_key(|(name, _)| *name);
        for (name, conversion) in rows {
            let kept = if conversion.caveat.is_empty() { "–" } else { conversion.caveat };
            let _ = writeln!(text, "| `{name}` | {} | {kept} |", conversion.becomes);
        }
        if from == Standard::OpenVino {
            text += "| all others that are lowered, below | the operators of ONNX that they are run by | what the operators that are written leave open |\n";
        }
    }
    let rows = operators::all().filter(|row| row.becomes_onnx());
    let (mut own, mut features, mut names) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows {
        let list = match row.domain {
            "" => &mut own,
            "ai.onnx.ml" => &mut features,
            _ => &mut names,
        };
        list.push(format!("`{}`", row.name));
    }
    let lowered = operators::all().filter(|row| row.standard == Standard::OpenVino && row.is_lowered());
    let mut lowered: Vec<_> = lowered.map(|row| format!("`{}`", row.name)).collect();
    for list in [&mut own, &mut features, &mut names, &mut lowered] {
        list.sort_unstable();
    }
    text += "| all others that are run (docs/ops.md) | the operators of ONNX that they are run by | what the operators that are written leave open |\n";
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "\n## By simpler operators of ONNX\n\nThese operators of ONNX become simpler ones, before they are converted to OpenVINO, and in operator \
         sets that lack them: {}. Those of `ai.onnx.ml` do so only before they are converted to \
         OpenVINO: {}.\n\n## From ONNX Runtime\n\nThese operators of `com.microsoft` become operators of ONNX: {}.\n\n## From OpenVINO by graphs\n\nThese operators of \
         OpenVINO are lowered to graphs of ONNX operators: {}.\n",
        own.join(", "),
        features.join(", "),
        names.join(", "),
        lowered.join(", ")
    );
    text
}

fn text() -> String {
    let mut operators: BTreeMap<_, Vec<&Signature>> = BTreeMap::new();
    for row in operators::all().filter(|row| row.is_evaluated()) {
        for signature in row.signatures() {
            operators.entry((signature.name, row.standard, row.domain)).or_default().push(signature);
        }
    }
    let mut text = String::from(
        "# Operators\n\nMade by `cargo xtask docs` from the table of operators; do not edit. `gradus ops` prints the same.\n\n\
         ## Run\n\nAll run on the CPU. Of later versions, the types of the first type variable are those that they add.\n\n\
         | operator | standard | version | inputs | attributes | types |\n|---|---|---|---|---|---|\n",
    );
    for ((name, standard, domain), mut signatures) in operators {
        let domain = if domain.is_empty() { String::new() } else { format!(", {domain}") };
        signatures.sort_by_key(|signature| signature.since);
        let mut before: Option<&Signature> = None;
        for signature in signatures {
            let names = |names: Vec<&str>| {
                names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
            };
            let inputs = names(signature.inputs.iter().map(|input| input.name).collect());
            let attributes = names(signature.attributes.iter().map(|attribute| attribute.name).collect());
            let types = signature.types_beside(before);
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "| {name} | {standard}{domain} | {} | {inputs} | {attributes} | {types} |",
                signature.since
            );
            before = Some(signature);
        }
    }
    let mut names: Vec<_> =
        operators::all().filter(|row| row.runs_by_conversion()).map(|row| row.name).collect();
    names.sort_unstable();
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "\n## Run by ONNX's operators\n\nThese operators of OpenVINO run by what they become in ONNX ([convert.md](convert.md)), where that \
         gives OpenVINO's shapes: {}.\n",
        names.join(", ")
    );
    text + &inferred()
}

/// The operators whose shapes are inferred, by domain.
fn inferred() -> String {
    let mut domains: BTreeMap<_, Vec<&str>> = BTreeMap::new();
    for row in operators::all().filter(|row| row.is_inferred()) {
        domains.entry((row.standard, row.domain)).or_default().push(row.name);
    }
    let mut text = String::from(
        "\n## Inferred\n\nShapes are inferred of these operators, in all versions; elements as well where shapes are computed from \
         them. Of any other operator nothing is known, and inference goes on.\n\n\
         | standard | domain | operators |\n|---|---|---|\n",
    );
    for ((standard, domain), mut names) in domains {
        names.sort_unstable();
        let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
        let domain = if domain.is_empty() { "its own" } else { domain };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {standard} | {domain} | {} |", names.join(", "));
    }
    text
}
