//! Names mean nothing to the languages of diagrams.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use gradus::Model;
use gradus::graph::{Builder, Model as Source, Origin, Standard};
use gradus::infer::InferOptions;
use gradus_report::{DiagramFormat, diagram};

/// A node between an input and an output, all with the name.
fn named(name: &str) -> Model {
    let mut builder = Builder::new(name);
    builder.define(name, Origin::Input).unwrap();
    let output = format!("{name}, again");
    builder.apply(name, "Abs", 17, &[name], &[&output], vec![]).unwrap();
    builder.output(&output);
    let mut source = Source::new(Standard::Onnx);
    source.opsets = vec![("".into(), 17)];
    source.graph = builder.finish().unwrap();
    Model::from_source(source)
}

/// A line without what stands between quotes.
fn outside(line: &str) -> String {
    let (mut outside, mut quoted, mut characters) = (String::new(), false, line.chars());
    while let Some(c) = characters.next() {
        match c {
            '"' => quoted = !quoted,
            '\\' if quoted => assert!(matches!(characters.next(), Some('"' | '\\' | 'n')), "{line}"),
            _ if quoted => {}
            _ => outside.push(c),
        }
    }
    assert!(!quoted, "{line}");
    outside
}

#[test]
fn names_stay_text() {
    let names = [
        "\"]; evil [label=\"",
        "a\\",
        "\\\"",
        "line\nbreak\r\u{85}\u{2028}",
        "\"] --> n9[\"",
        "#quot;&quot;<script>`*_",
        "end",
        "\u{202e}right\0",
        "///",
    ];
    for format in [DiagramFormat::Dot, DiagramFormat::Mermaid] {
        let plain = diagram(&named("plain"), &InferOptions::default(), format, 2).unwrap();
        let plain: Vec<_> = plain.lines().map(outside).collect();
        for name in names {
            let text = diagram(&named(name), &InferOptions::default(), format, 0).unwrap();
            assert_eq!(text.lines().map(outside).collect::<Vec<_>>(), plain, "{name:?}: {text}");
        }
    }
}

/// As deep as the names are, but at most 32.
#[test]
fn boxes_are_within_each_other() {
    let boxes = |name: &str, depth| {
        let text = diagram(&named(name), &InferOptions::default(), DiagramFormat::Dot, depth).unwrap();
        text.matches("subgraph").count()
    };
    assert_eq!([0, 1, 2, 9].map(|depth| boxes("/a/b/c", depth)), [0, 1, 2, 2]);
    assert_eq!(boxes(&"a/".repeat(100_000), usize::MAX), 32);
}
