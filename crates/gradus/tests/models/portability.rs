//! Differences between programs, against what the programs returned.
//!
//! `conformance/portability.py` records ONNX Runtime, OpenVINO and the reference of the `onnx`
//! package on models made for each rule. Each has its inputs open, and as constants.

use std::collections::{BTreeSet, HashMap};

use gradus::graph::Content;
use gradus::infer::InferOptions;
use gradus::portability::{Difference, OPENVINO_RULES, PROGRAMS, RULES, Rule, When};
use gradus::{DType, Model, Tensor};

use crate::common::sketch::Sketch;

#[derive(serde::Deserialize)]
struct Recorded {
    versions: HashMap<String, String>,
    cases: Vec<Case>,
}

#[derive(serde::Deserialize)]
struct Case {
    /// None where all programs agree.
    rule: Option<String>,
    /// Rules whose conditions hold too.
    also: Vec<String>,
    operator: String,
    inputs: Vec<Option<String>>,
    model: String,
    /// The model with all inputs as constants; none of an IR.
    known: Option<String>,
    /// The constants of an IR.
    weights: Option<String>,
    results: HashMap<String, String>,
}

fn recorded() -> Recorded {
    serde_json::from_str(include_str!("../../../../conformance/recorded/portability.json")).unwrap()
}

fn bytes(hex: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(byte).collect()
}

fn model(case: &Case) -> Model {
    let Some(weights) = &case.weights else { return Model::from_bytes(&bytes(&case.model).into()).unwrap() };
    let folder = std::env::temp_dir().join(format!("gradus-portability-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("model.xml"), bytes(&case.model)).unwrap();
    std::fs::write(folder.join("model.bin"), bytes(weights)).unwrap();
    Model::open(folder.join("model.xml")).unwrap()
}

/// All rules, of both standards.
fn rules() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().chain(OPENVINO_RULES)
}

fn differences(model: &Model) -> Vec<Difference> {
    model.portability(&InferOptions::default()).unwrap().differences
}

fn names(model: &Model) -> Vec<&'static str> {
    differences(model).iter().map(|found| found.rule.name).collect()
}

/// Pairs of programs.
const PAIRS: [(usize, usize); 3] = [(0, 1), (0, 2), (1, 2)];

#[test]
fn programs_return_what_the_rules_say() {
    let mut differing = BTreeSet::new();
    for case in recorded().cases {
        let about = format!("{} {:?}", case.operator, case.inputs);
        let results = PROGRAMS.map(|program| &case.results[program]);
        let expected = case.rule.as_deref();
        let holding: Vec<_> = expected.into_iter().chain(case.also.iter().map(String::as_str)).collect();
        if let Some(known) = &case.known {
            let known = Model::from_bytes(&bytes(known).into()).unwrap();
            assert_eq!(names(&known), holding, "{about}");
        } else {
            let own = names(&model(&case))
                .into_iter()
                .filter(|name| OPENVINO_RULES.iter().any(|it| it.name == *name));
            assert_eq!(own.collect::<Vec<_>>(), holding, "{about}");
        }
        let Some(expected) = expected else {
            assert!(results.iter().all(|&result| result == results[0]), "{about}: {results:?}");
            continue;
        };
        let open = names(&model(&case));
        assert!(open.contains(&expected), "{about}: {open:?}");
        let rule = rules().find(|rule| rule.name == expected).unwrap();
        let fails = |text: &str| text == "fails" || text == "kills the process";
        for (a, b) in PAIRS {
            let (said, found) = (rule.results[a] == rule.results[b], results[a] == results[b]);
            assert!(found || !said, "{about}: {results:?}");
            if !found {
                differing.insert((rule.name, a, b));
            }
        }
        for (said, found) in rule.results.iter().zip(results) {
            assert_eq!(fails(said), fails(found), "{about}: {results:?}");
        }
    }
    let of_rule = |rule: &'static Rule| {
        let differs = |&(a, b): &(usize, usize)| rule.results[a] != rule.results[b];
        PAIRS.into_iter().filter(differs).map(|(a, b)| (rule.name, a, b))
    };
    assert_eq!(differing, rules().flat_map(of_rule).collect());
}

#[test]
fn every_rule_and_operator_is_recorded() {
    let cases = recorded().cases;
    let has: BTreeSet<_> =
        cases.iter().filter_map(|case| Some((case.rule.as_deref()?, &*case.operator))).collect();
    let said: BTreeSet<_> =
        rules().flat_map(|rule| rule.operators.iter().map(|operator| (rule.name, *operator))).collect();
    assert_eq!(has, said);
}

#[test]
fn rules_are_sorted_and_name_recorded_versions() {
    for rules in [RULES, OPENVINO_RULES] {
        assert!(rules.is_sorted_by_key(|rule| rule.name));
    }
    let versions = recorded().versions;
    for (program, text) in PROGRAMS.iter().zip(gradus::portability::VERSIONS) {
        assert!(text.contains(&versions[*program]), "{text}: {versions:?}");
    }
}

/// The conditions of a model of a few nodes, each with its rule.
fn conditions(sketch: Sketch) -> Vec<(&'static str, String)> {
    let found = differences(&sketch.model());
    found.iter().map(|found| (found.rule.name, found.condition().to_owned())).collect()
}

fn says(sketch: Sketch, expected: &[(&str, &str)]) {
    let expected: Vec<_> = expected.iter().map(|&(rule, text)| (rule, text.to_owned())).collect();
    assert_eq!(conditions(sketch), expected);
}

/// The sizes of an input `x`, `a` by `b`, as numbers `a` and `b`.
fn sizes() -> Sketch {
    Sketch::of(
        "x: float32[a, b]; first = 0; second = 1; two = 2; shape = Shape(x);
         a = Gather(shape, first); b = Gather(shape, second)",
    )
}

#[test]
fn conditions_are_about_sizes_where_sizes_decide() {
    let product = sizes().text("y = Mul(a, b); return y: int64[]");
    says(product, &[("64-bit-integers-in-32-bits", "a*b >= 2147483648")]);
    let half = sizes().text("y = Div(a, two); return y: int64[]");
    says(half, &[("integer-division-in-float32", "a >= 16777217")]);
    let ratio = sizes().text("y = Div(two, b); return y: int64[]");
    says(ratio, &[("integer-division-by-zero", "b == 0"), ("integer-division-in-float32", "b >= 16777217")]);
}

#[test]
fn positions_beyond_a_table_are_out_of_range() {
    let table = sizes().text(
        "one = 1; table: float32[512, 8]; places = Range(first, b, one);
         y = Gather(table, places); return y: float32[]",
    );
    let large = ("64-bit-operands-in-32-bits", "b >= 2147483648");
    says(table, &[large, ("gather-out-of-range", "b - 1 >= 512")]);
}

#[test]
fn ranges_of_float32_differ_from_the_first_element_that_may_be_rounded() {
    let range = |step: f32| {
        sizes()
            .text("start = 0.0")
            .constant("step", Tensor::scalar(step))
            .text("limit = Cast(b, to=1); y = Range(start, limit, step); return y: float32[]")
    };
    says(range(1.0), &[("range-of-float32", "b >= 16777217")]);
    says(range(0.1), &[("range-of-float32", "an element or a quotient is rounded")]);
}

#[test]
fn pads_that_are_too_few_are_no_reason_to_stop() {
    let ints = |list: &[i64]| Content::Ints(list.to_vec().into());
    let attributes = vec![("kernel_shape", ints(&[2])), ("pads", ints(&[])), ("ceil_mode", Content::Int(1))];
    let pool = Sketch::of("x: float32[1, 1, 5]")
        .with("MaxPool", &["x"], &["y"], attributes)
        .text("return y: float32[]");
    let found = pool.model().portability(&InferOptions::default());
    assert!(found.is_err() || !found.unwrap().differences.is_empty());
}

#[test]
fn nodes_of_inner_graphs_are_named_with_those_around_them() {
    let branch = || Sketch::nested().text("inner = Relu(x); return inner: float32[]").graph();
    let model = Sketch::of("x: float32[n]; which: bool[]")
        .with("If", &["which"], &["y"], vec![("then_branch", branch()), ("else_branch", branch())])
        .text("return y: float32[n]")
        .model();
    let found = differences(&model);
    assert_eq!(found.len(), 2);
    assert_eq!((&*found[0].node, &found[0].when), ("node \"make y\", node \"make inner\"", &When::Data));
}

#[test]
fn models_of_other_standards_are_compared_as_what_they_convert_to() {
    let names = |path| {
        let found = differences(&Model::open(path).unwrap());
        found.into_iter().map(|it| (it.rule.name, it.operator)).collect::<Vec<_>>()
    };
    let ir = names("../../examples/range.xml");
    assert!(ir.contains(&("64-bit-operands-in-32-bits", "Range".to_owned())), "{ir:?}");
    let paddle = names("../../conformance/recorded/paddle/layer.pir/model.json");
    assert!(paddle.contains(&("64-bit-operands-in-32-bits", "Range".to_owned())), "{paddle:?}");
}

#[test]
fn ranges_of_known_arguments_name_the_programs_that_are_not_exact() {
    let sketch = Sketch::new()
        .constant("start", Tensor::scalar(16_777_210f32))
        .constant("limit", Tensor::scalar(16_777_222f32))
        .text("step = 1.0; y = Range(start, limit, step); return y: float32[]");
    let found = differences(&sketch.model());
    let programs: Vec<_> = found[0].sequences.iter().map(|(program, _)| *program).collect();
    assert!(programs.contains(&"onnxruntime") && !programs.contains(&"exact"), "{programs:?}");
}

/// A range of the size of an input, by steps of a tenth.
fn range_of_sizes() -> Model {
    let scalar = |number: f32| Tensor::scalar(number);
    Sketch::of("x: float32[n]")
        .constant("start", scalar(0.0))
        .constant("step", scalar(0.1))
        .text(
            "size = Size(x); limit = Cast(size, to=1); y = Range(start, limit, step);
             return y: float32[m]",
        )
        .model()
}

#[test]
fn sequences_are_compared_where_sizes_are_given() {
    let model = range_of_sizes();
    assert!(model.sequences(&InferOptions::default()).unwrap().is_empty());
    let mut options = InferOptions::default();
    options.sizes.dims.insert("n".into(), 3);
    let [sequence] = &model.sequences(&options).unwrap()[..] else { panic!("one sequence") };
    assert_eq!(sequence.node, "node \"make y\"");
    assert_eq!(sequence.call, "range 0.0 3.0 0.1 --in-dtype float32 --dtype float32");
    let found = |name| sequence.results.iter().find(|(profile, _)| profile.name() == name).unwrap();
    let exact = found("exact").1.as_ref().unwrap();
    assert_eq!((exact.len, exact.exact), (30, true));
    // Sums of a rounded tenth drift.
    let summed = found("openvino-cpu").1.as_ref().unwrap();
    assert!(!summed.exact && summed.parts.iter().any(|&ulps| ulps > 0), "{summed:?}");
    assert_eq!(model.portability(&options).unwrap().sequences.len(), 1);
}

#[test]
fn sequences_within_loops_are_compared() {
    let body = Sketch::nested().text(
        "i: int64[]; go: bool[]; start = 0.0; limit = 1.0; step = 0.1; on = Identity(go);
         y = Range(start, limit, step); return on: bool[]; return y: float32[m]",
    );
    let model = Sketch::of("trips: int64[]")
        .with("Loop", &["trips", ""], &["all"], vec![("body", body.graph())])
        .text("return all: float32[n, m]")
        .model();
    let sequences = model.sequences(&InferOptions::default()).unwrap();
    let [sequence] = &sequences[..] else { panic!("{} sequences", sequences.len()) };
    assert_eq!(sequence.node, "node \"make all\", node \"make y\"");
}

/// `conformance/resize_scales.py` records lengths and scales at which ONNX Runtime takes other
/// elements than exact coordinates name.
#[test]
fn scales_at_which_other_elements_are_taken_are_told() {
    #[derive(serde::Deserialize)]
    struct Scales {
        version: String,
        differing: HashMap<String, HashMap<String, Vec<usize>>>,
    }
    let recorded: Scales =
        serde_json::from_str(include_str!("../../../../conformance/recorded/resize_scales.json")).unwrap();
    assert!(gradus::portability::VERSIONS[0].contains(&recorded.version));
    let text = |text: &str| Content::Bytes(text.to_owned().into());
    let mut count = 0;
    for (manner, scales) in &recorded.differing {
        let (coordinates, nearest) = manner.split_once(' ').unwrap();
        for (scale, sizes) in scales {
            let told = |size: &str| {
                let attributes = vec![
                    ("mode", text("nearest")),
                    ("coordinate_transformation_mode", text(coordinates)),
                    ("nearest_mode", text(nearest)),
                ];
                let model = Sketch::new()
                    .input("x", DType::F32, &["1", "1", size])
                    .constant("scales", Tensor::vector(&[1f32, 1.0, scale.parse().unwrap()]))
                    .with("Resize", &["x", "", "scales"], &["y"], attributes)
                    .text("return y: float32[]")
                    .model();
                let differs = |rule: &Rule| rule.results[0] != rule.results[2];
                differences(&model).iter().any(|found| differs(found.rule))
            };
            assert!(told("n"), "{manner} {scale}");
            for size in sizes {
                assert!(told(&size.to_string()), "{manner} {scale} {size}");
                count += 1;
            }
        }
    }
    assert!(count > 1500, "{count}");
}
