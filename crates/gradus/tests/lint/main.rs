//! Rules of lint: a model for each that it is about, beside one that differs little and that it is
//! not about.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

#[path = "../common"]
mod common {
    pub mod sketch;
}

use std::collections::BTreeSet;

use bytes::Bytes;
use common::sketch::Sketch;
use gradus::conversion::Runtime;
use gradus::graph::{Content, Standard};
use gradus::lint::{LintOptions, RULES, selected};
use gradus::{Element, Model, Tensor};

/// A rule, a model that it is about, and one that it is not about.
type Case = (&'static str, &'static str, &'static str);

const CASES: &[Case] = &[
    (
        "GR101",
        "x: float32[2, 3]; y: float32[4, 5]; z = MatMul(x, y); return z: float32[2, 5]",
        "x: float32[2, 4]; y: float32[4, 5]; z = MatMul(x, y); return z: float32[2, 5]",
    ),
    (
        "GR102",
        "x: float32[n, 6]; s = [1, 6]; y = Reshape(x, s); return y: float32[1, 6]",
        "x: float32[n, 6]; s = [-1, 6]; y = Reshape(x, s); return y: float32[n, 6]",
    ),
    (
        "GR103",
        "x: float32[n]; y: float32[m]; z = Add(x, y); return z: float32[k]",
        "x: float32[n]; y: float32[n]; z = Add(x, y); return z: float32[n]",
    ),
    (
        "GR104",
        "i: int64[n]; t = [1, 2, 3]; y = Gather(t, i); return y: int64[n]",
        "i: int64[n]; t = [1, 2, 3]; y = Add(i, i); return y: int64[n]",
    ),
    (
        "GR105",
        "x: float32[n]; s: int64[k]; y = Reshape(x, s); return y: float32[a, b]",
        "x: float32[n]; s: int64[2]; y = Reshape(x, s); return y: float32[a, b]",
    ),
    (
        "GR106",
        "x: float32[2, 3]; y = Relu(x); return y: float32[3, 2]",
        "x: float32[2, 3]; y = Relu(x); return y: float32[2, 3]",
    ),
    (
        "GR107",
        "x: float32[?]; y = Relu(x); return y: float32[?]",
        "x: float32[n]; y = Relu(x); return y: float32[n]",
    ),
    (
        "GR108",
        "x: float32[s33]; y = Relu(x); return y: float32[s33]",
        "x: float32[seq]; y = Relu(x); return y: float32[seq]",
    ),
    (
        "GR201",
        "x: float32[n]; m: float32[n]; y = Relu(x); return y: float32[n]",
        "x: float32[n]; m: float32[n]; y = Add(x, m); return y: float32[n]",
    ),
    (
        "GR202",
        "x: float32[n]; u = Exp(x); y = Relu(x); return y: float32[n]",
        "x: float32[n]; u = Exp(x); y = Relu(u); return y: float32[n]",
    ),
    (
        "GR203",
        "x: float32[n]; a = LeakyRelu(x, alpha=0.5); b = LeakyRelu(x, alpha=0.5); y = Mul(a, b); return y: float32[n]",
        "x: float32[n]; a = LeakyRelu(x, alpha=0.5); b = LeakyRelu(x, alpha=0.25); y = Mul(a, b); return y: float32[n]",
    ),
    (
        "GR204",
        "x: float32[n]; a = Identity(x); y = Relu(a); return y: float32[n]",
        "x: float32[n]; a = Exp(x); y = Relu(a); return y: float32[n]",
    ),
    (
        "GR205",
        "x: float32[n]; y = RandomNormalLike(x); return y: float32[n]",
        "x: float32[n]; y = Relu(x); return y: float32[n]",
    ),
    (
        "GR206",
        "x: float32[n]; y = Frobnicate(x); return y: float32[n]",
        "x: float32[n]; y = Relu(x); return y: float32[n]",
    ),
    (
        "GR301",
        "x: int16[n]; y = Softmax(x); return y: int16[n]",
        "x: float32[n]; y = Softmax(x); return y: float32[n]",
    ),
    (
        "GR303",
        "x: float32[n]; y: float32[n]; z = Div(x, y); return z: float32[n]",
        "x: float32[n]; y: float32[n]; z = Add(x, y); return z: float32[n]",
    ),
    (
        "GR409",
        "x: float32[n]; c = [1, 2]; y = Relu(x); return y: float32[n]",
        "x: float32[2]; c = [1, 2]; r = Reshape(x, c); y = Relu(r); return y: float32[1, 2]",
    ),
    (
        "GR410",
        "x: float16[n]; c = -1000000000; h = Cast(c, to=10); y = Add(x, h); return y: float16[n]",
        "x: float16[n]; c = -1000; h = Cast(c, to=10); y = Add(x, h); return y: float16[n]",
    ),
    (
        "GR411",
        "x: float32[n]; s = 0.5; q = QuantizeLinear(x, s); y = Cast(q, to=1); return y: float32[n]",
        "x: float32[n]; s = 0.5; q = QuantizeLinear(x, s); y = DequantizeLinear(q, s); return y: float32[n]",
    ),
    (
        "GR408",
        "x: float32[n]; s = 0.0; q = QuantizeLinear(x, s); return q: uint8[n]",
        "x: float32[n]; s = 0.5; q = QuantizeLinear(x, s); return q: uint8[n]",
    ),
];

/// Codes of the rules that find something.
fn codes(model: &Model, options: &LintOptions) -> BTreeSet<&'static str> {
    let lint = model.lint(options).unwrap();
    assert!(lint.unasked.is_empty(), "{:?}", lint.unasked);
    lint.findings.iter().map(|finding| finding.rule.code).collect()
}

/// Returns true if a rule finds something, which goes if it is mended, or stays if no change of the
/// rule is known.
fn is_found(code: &str, model: &Model, options: &LintOptions) -> bool {
    let lint = model.lint(options).unwrap();
    let found = lint.findings.iter().find(|finding| finding.rule.code == code);
    if let Some(found) = found {
        let fixed = model.fix(&lint, options).unwrap();
        let mended = fixed.iter().flat_map(|fixed| &fixed.rules).any(|rule| rule.code == code);
        assert_eq!(mended, found.rule.fix.is_some(), "{code}: {found:?}");
    }
    found.is_some()
}

#[test]
fn each_rule_finds_what_it_is_about_and_nothing_else() {
    let mut options = LintOptions::default();
    options.runtimes = vec![Runtime::OnnxRuntime];
    for (code, about, not_about) in CASES {
        assert!(is_found(code, &Sketch::of(about).model(), &options), "{code}: {about}");
        assert!(!codes(&Sketch::of(not_about).model(), &options).contains(code), "{code}: {not_about}");
    }
}

/// A model that multiplies its input by constants of these elements.
fn with_constants<T: Element>(constants: &[&[T]], dtype: &str) -> Model {
    let mut sketch = Sketch::of(&format!("x: {dtype}[n, 1]"));
    let mut last = "x".to_owned();
    for (index, elements) in constants.iter().enumerate() {
        let (name, next) = (format!("c{index}"), format!("y{index}"));
        sketch = sketch.constant(&name, Tensor::vector(elements)).node("Mul", &[&last, &name], &[&next]);
        last = next;
    }
    sketch.output(&last, dtype.parse().unwrap(), &["n", "m"]).model()
}

#[test]
fn constants_are_told_by_their_elements() {
    let is_found = |code, model: &Model| is_found(code, model, &LintOptions::default());
    let cases: [(_, &[f32], _); 6] = [
        ("GR401", &[1.0, f32::NAN], true),
        ("GR401", &[1.0, f32::INFINITY], false),
        ("GR402", &[1.0, f32::NEG_INFINITY], true),
        ("GR402", &[1.0, f32::MAX], false),
        ("GR403", &[1.0, 1e-40], true),
        ("GR403", &[0.0, f32::MIN_POSITIVE], false),
    ];
    for (code, elements, expected) in cases {
        assert_eq!(is_found(code, &with_constants(&[elements], "float32")), expected, "{code}: {elements:?}");
    }
    let (large, other) = (vec![0.5f32; 256], vec![0.25f32; 256]);
    assert!(is_found("GR404", &with_constants(&[&large, &large], "float32")));
    assert!(!is_found("GR404", &with_constants(&[&large, &other], "float32")));
    assert!(!is_found("GR404", &with_constants(&[&large[1..], &large[1..]], "float32")));
    let (integers, fewer) = (vec![3i64; 1 << 17], vec![3i64; (1 << 17) - 1]);
    assert!(is_found("GR407", &with_constants(&[&integers], "int64")));
    assert!(!is_found("GR407", &with_constants(&[&fewer], "int64")));
    // All is float64, and meant so.
    assert!(!is_found("GR406", &with_constants(&[&[0.5f64, 2.0]], "float64")));
    let mixed = "x: float32[n, 1]; d = Cast(x, to=11); z = Mul(d, w); r = Cast(z, to=1); y = Mul(r, v); \
                 return y: float32[n, m]";
    let mixed = Sketch::new()
        .constant("w", Tensor::vector(&[0.5f64, 2.0]))
        .constant("v", Tensor::vector(&[0.5f32; 4]))
        .text(mixed);
    assert!(is_found("GR406", &mixed.model()));
}

#[test]
fn large_constants_in_nodes_are_told() {
    for (len, expected) in [(256, true), (255, false)] {
        let value = Content::Tensor(Tensor::vector(&vec![1.0f32; len]).into());
        let sketch = Sketch::of("x: float32[n, 1]").with("Constant", &[], &["c"], vec![("value", value)]);
        let model = sketch.text("y = Mul(x, c); return y: float32[n, m]").model();
        assert_eq!(is_found("GR405", &model, &LintOptions::default()), expected);
    }
}

#[test]
fn limits_are_asked_where_they_are_given() {
    let model = Sketch::of("x: float32[256]; c = 0.5; y = Mul(x, c); return y: float32[256]").model();
    let of = |max_peak, max_parameters| {
        let mut options = LintOptions::default();
        (options.max_peak, options.max_parameters) = (max_peak, max_parameters);
        codes(&model, &options)
    };
    // The input, its result and the constant.
    assert!(of(Some(2051), None).contains("GR601"));
    assert!(!of(Some(2052), None).contains("GR601"));
    assert!(of(None, Some(0)).contains("GR602"));
    assert!(!of(None, Some(1)).contains("GR602"));
    let open = Sketch::of("x: float32[n]; y = Relu(x); return y: float32[n]").model();
    let mut options = LintOptions::default();
    options.max_peak = Some(u64::MAX);
    let lint = open.lint(&options).unwrap();
    let peak = lint.findings.iter().find(|finding| finding.rule.code == "GR601").unwrap();
    assert_eq!(peak.message, "the peak is not a number: give the sizes of 4*n");
}

#[test]
fn files_tell_where_they_were_written() {
    let of = |producer: &str, docs: &str| {
        let mut model = gradus::graph::Model::new(Standard::Onnx);
        (model.format_version, model.producer) = (8, producer.to_owned());
        model.opsets = vec![("".into(), 20)];
        model.graph = Sketch::of("x: float32[n]; y = Relu(x); return y: float32[n]").0.finish().unwrap();
        let bytes = gradus::formats::onnx::encode_model(&model).unwrap().to_bytes(&Bytes::new()).unwrap();
        // Field 6 of a model is its documentation.
        let docs = [&[0x32, u8::try_from(docs.len()).unwrap()], docs.as_bytes()].concat();
        Model::from_bytes(&[&bytes[..], &docs].concat().into()).unwrap()
    };
    let mut options = LintOptions::default();
    options.select = vec!["GR502".to_owned()];
    let path = "exported from /home/ada/src/train.py";
    assert!(is_found("GR502", &of("", path), &options));
    assert!(!is_found("GR502", &of("exported from src/train.py, home/", ""), &options));
    // The name of the producer is no documentation, and stays.
    let named = of(path, "");
    let lint = named.lint(&options).unwrap();
    assert_eq!(lint.findings.len(), 1);
    assert!(named.fix(&lint, &options).unwrap().is_none());
}

#[test]
fn what_follows_from_a_size_that_is_not_known_is_not_told_again() {
    let text = "x: float32[n]; s: int64[k]; y = Reshape(x, s); z = Relu(y); w = Relu(z); \
                return w: float32[a, b]";
    let mut options = LintOptions::default();
    options.select = vec!["GR103".to_owned(), "GR105".to_owned()];
    let lint = Sketch::of(text).model().lint(&options).unwrap();
    let places: Vec<_> = lint.findings.iter().map(|it| (it.rule.code, &*it.place)).collect();
    assert_eq!(places, [("GR105", "value \"y\"")], "{:?}", lint.findings);
}

#[test]
fn rules_are_selected_by_code_name_and_beginning() {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let of = |select: &[&str], ignore: &[&str]| {
        let rules = selected(&words(select), &words(ignore));
        rules.map(|rules| rules.iter().map(|rule| rule.code).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(of(&["GR6"], &[]).unwrap(), "GR601 GR602");
    assert_eq!(of(&["GR6", "single-size"], &["peak"]).unwrap(), "GR102 GR602");
    assert_eq!(of(&[], &[]).unwrap().split(' ').count(), RULES.len());
    assert!(of(&["GR"], &[]).is_err() && of(&[], &["GR9"]).is_err());
}

/// Rules that the cases of this file do not meet, and why.
const NOT_HERE: [(&str, &str); 3] = [
    ("GR302", "crates/cli/tests/lint.rs has a model of it"),
    ("GR501", "it takes a file of 2 GiB"),
    ("GR503", "crates/cli/tests/lint.rs has a file of it"),
];

#[test]
fn each_rule_has_a_case() {
    let text = include_str!("main.rs");
    for rule in RULES {
        let is_here = text.contains(&format!("\"{}\"", rule.code));
        assert!(is_here, "{} {} has no case", rule.code, rule.name);
    }
    let mut codes: Vec<_> = RULES.iter().map(|rule| rule.code).collect();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), RULES.len());
    assert!(NOT_HERE.iter().all(|(code, _)| codes.contains(code)));
}
