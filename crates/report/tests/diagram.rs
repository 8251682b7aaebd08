//! Names mean nothing to the languages of diagrams, and pictures have a box for each node or group.

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

/// A line without its texts in quotes.
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
        let plain = diagram(&named("plain"), &InferOptions::default(), format, Some(2)).unwrap();
        let plain: Vec<_> = plain.lines().map(outside).collect();
        for name in names {
            let text = diagram(&named(name), &InferOptions::default(), format, Some(0)).unwrap();
            assert_eq!(text.lines().map(outside).collect::<Vec<_>>(), plain, "{name:?}: {text}");
        }
    }
}

/// As deep as the names are, but at most 32.
#[test]
fn boxes_are_within_each_other() {
    let boxes = |name: &str, depth| {
        let text = diagram(&named(name), &InferOptions::default(), DiagramFormat::Dot, Some(depth)).unwrap();
        text.matches("subgraph").count()
    };
    assert_eq!([0, 1, 2, 9].map(|depth| boxes("/a/b/c", depth)), [0, 1, 2, 2]);
    assert_eq!(boxes(&"a/".repeat(100_000), usize::MAX), 32);
}

fn picture(model: &Model, depth: Option<usize>) -> String {
    diagram(model, &InferOptions::default(), DiagramFormat::Svg, depth).unwrap()
}

/// The texts of all elements of a name.
fn texts(picture: &str, element: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(picture).unwrap();
    let of_name =
        document.descendants().filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", element)));
    of_name.filter_map(|node| node.text().map(str::to_owned)).collect()
}

/// Number of boxes of a class: `n` nodes, `a` shape arithmetic, `c` closed groups, `g` open ones,
/// `i` inputs and outputs.
fn boxes(picture: &str, class: &str) -> usize {
    let document = roxmltree::Document::parse(picture).unwrap();
    document.descendants().filter(|node| node.attribute("class") == Some(class)).count()
}

#[test]
fn names_stay_text_in_pictures() {
    let plain = picture(&named("plain"), None);
    let elements = |picture: &str| {
        let document = roxmltree::Document::parse(picture).unwrap();
        document.descendants().map(|node| node.tag_name().name().to_owned()).collect::<Vec<_>>()
    };
    for name in
        ["<script>alert(1)<script>", "a & b < c > d \" '", "]]><![CDATA[", "<!--", "&#60;", "\u{202e}right\0"]
    {
        let text = picture(&named(name), None);
        assert_eq!(elements(&text), elements(&plain), "{name:?}: {text}");
        let shown = gradus::text::escaped(name);
        assert!(texts(&text, "title").iter().any(|title| title.contains(&*shown)), "{name:?}: {text}");
    }
    for forbidden in ["<script", "http://www.w3.org/1999", "href", "url("] {
        assert!(!plain.contains(forbidden), "{forbidden}: {plain}");
    }
    assert!(plain.contains("prefers-color-scheme:dark"));
}

/// A chain of nodes of these names.
fn chain(names: impl IntoIterator<Item = String>) -> Model {
    let mut builder = Builder::new("chain");
    builder.define("v0", Origin::Input).unwrap();
    let mut last = 0;
    for (number, name) in names.into_iter().enumerate() {
        let [input, output] = [number, number + 1].map(|value| format!("v{value}"));
        builder.apply(&name, "Abs", 17, &[&input], &[&output], vec![]).unwrap();
        last = number + 1;
    }
    builder.output(&format!("v{last}"));
    let mut source = Source::new(Standard::Onnx);
    source.opsets = vec![("".into(), 17)];
    source.graph = builder.finish().unwrap();
    Model::from_source(source)
}

#[test]
fn pictures_have_a_box_for_each_node_or_closed_group() {
    let layers = || chain((0..60).map(|number| format!("/layer.{}/{}/Abs", number / 20, number % 20 / 10)));
    let counts = |depth| {
        let picture = picture(&layers(), depth);
        ["n", "c", "g", "i"].map(|class| boxes(&picture, class))
    };
    assert_eq!(counts(None), [60, 0, 9, 2]);
    assert_eq!(counts(Some(2)), [60, 0, 9, 2]);
    assert_eq!(counts(Some(1)), [0, 6, 3, 2]);
    assert_eq!(counts(Some(0)), [0, 3, 0, 2]);
    // 61 values; one goes through the frames of two groups where it leaves or enters a layer, and
    // each frame cuts it in two and adds a line of its own.
    let frames = 2 * 9;
    assert_eq!(boxes(&picture(&layers(), None), "e"), 61 + 2 * frames);
}

#[test]
fn large_graphs_have_closed_boxes() {
    let begin = std::time::Instant::now();
    let grouped = chain((0..4000).map(|number| format!("/part.{}/Abs.{number}", number / 100)));
    let text = picture(&grouped, None);
    assert_eq!((boxes(&text, "n"), boxes(&text, "c")), (0, 40));
    assert_eq!(boxes(&picture(&grouped, Some(1)), "n"), 4000);
    let flat = chain((0..20_000).map(|number| format!("Abs.{number}")));
    let text = picture(&flat, None);
    assert_eq!((boxes(&text, "n"), boxes(&text, "c")), (0, 100));
    assert!(texts(&text, "text").iter().any(|text| text == "200 nodes"), "{text}");
    assert!(begin.elapsed().as_secs() < 60, "{:?}", begin.elapsed());
}

#[test]
fn nodes_of_constants_are_left_out_and_arithmetic_is_grey() {
    let path = format!("{}/../../examples/heads.onnx", env!("CARGO_MANIFEST_DIR"));
    let model = Model::open(path).unwrap();
    let text = picture(&model, None);
    let nodes = ["n", "a"].map(|class| boxes(&text, class));
    let of_constants =
        |index: &usize| model.graph().nodes()[*index].needs().all(|id| model.graph().constant(id).is_some());
    let left_out = model.graph().order().iter().filter(|index| of_constants(index)).count();
    assert_eq!(nodes[0] + nodes[1] + left_out, model.graph().nodes().len());
    assert!(nodes.iter().all(|&count| count > 0), "{nodes:?}");
}
