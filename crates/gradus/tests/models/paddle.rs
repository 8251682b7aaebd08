//! Programs that PaddlePaddle saved, against what it gives for them, held to the two-sided list
//! `conformance/paddle.toml`.
//!
//! `conformance/paddle_programs.py` made them. A few are checked in;
//! `cargo xtask conformance --peers paddle` makes many more, in the folder that `GRADUS_PADDLE`
//! names, of which all must pass.
//!
//! Results are equal bit for bit, but for floats of sequences: Paddle rounds them more than once,
//! and each case says how many units in the last place of its largest element an output may be
//! away.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use gradus::conversion::ConvertOptions;
use gradus::convert::nearest_f64;
use gradus::formats::numpy;
use gradus::graph::{self, Builder, Content, Origin, Standard, Type};
use gradus::infer::{InferOptions, Inference, InputFact};
use gradus::operators::{self, Rounding};
use gradus::profiles::Profile;
use gradus::{DType, Fact, Limits, Model, Number, RunOptions, Shape, Tensor, Value};

#[derive(serde::Deserialize)]
struct List {
    pass: BTreeSet<String>,
    /// Outputs, `PROGRAM:INDEX`, and why Paddle gives something else.
    xfail: BTreeMap<String, String>,
}

/// A program, its inputs, and its outputs with the errors that they may have.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) model: Model,
    pub(crate) inputs: HashMap<String, Value>,
    outputs: Vec<(Tensor, f64)>,
}

pub(crate) fn cases(root: &Path) -> Vec<Case> {
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    assert!(!folders.is_empty(), "there are cases in {}", root.display());
    folders.iter().map(|folder| case(folder)).collect()
}

fn case(folder: &Path) -> Case {
    let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
    let file =
        ["model.json", "model.pdmodel"].map(|file| folder.join(file)).into_iter().find(|file| file.exists());
    let model = Model::open(file.unwrap()).unwrap_or_else(|error| panic!("{name}: {error}"));
    let arrays = std::fs::read(folder.join("arrays.npz")).unwrap();
    let arrays: HashMap<_, _> =
        numpy::read_npz(&arrays.into(), None, |_| None, &Limits::DEFAULT).unwrap().into_iter().collect();
    let facts: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.join("case.json")).unwrap()).unwrap();
    let ulps = facts["ulps"].as_array().unwrap().iter().map(|ulps| ulps.as_f64().unwrap());
    let outputs = ulps.enumerate().map(|(i, ulps)| (arrays[&format!("out.{i}")].clone(), ulps)).collect();
    let inputs = arrays.iter().filter_map(|(key, tensor)| {
        key.strip_prefix("in.").map(|name| (name.to_owned(), Value::from(tensor.clone())))
    });
    Case { name, model, inputs: inputs.collect(), outputs }
}

/// How two tensors differ, if they do.
fn difference(got: &Tensor, want: &Tensor, ulps: f64) -> Option<String> {
    if (got.dtype(), got.shape()) != (want.dtype(), want.shape()) {
        return Some(format!("{}{}, not {}{}", got.dtype(), got.shape(), want.dtype(), want.shape()));
    }
    let all = |tensor: &Tensor| tensor.numbers().unwrap().collect::<Vec<_>>();
    let (got, want_all) = (all(got), all(want));
    let greatest =
        want_all.iter().map(|&x| nearest_f64(x).abs()).filter(|x| x.is_finite()).fold(0.0, f64::max);
    let ulp = match want.dtype() {
        DType::F32 => greatest * f64::from(f32::EPSILON),
        _ => greatest * f64::EPSILON,
    };
    let same = |a: Number, b: Number| match (a, b) {
        (Number::Float(a), Number::Float(b)) => {
            a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()) || (a - b).abs() <= ulps * ulp
        }
        (a, b) => a == b,
    };
    let i = (0..got.len()).find(|&i| !same(got[i], want_all[i]))?;
    Some(format!("element {i} of {} is {:?}, not {:?}", got.len(), got[i], want_all[i]))
}

/// Wrong and missing results of inference.
fn inferred(inference: &Inference, case: &Case, complete: bool) -> Option<String> {
    if let Some(problem) = inference.problems().first() {
        return Some(format!("{}: {}", problem.place, problem.message));
    }
    for (i, (&id, (want, _))) in case.model.graph().outputs().iter().zip(&case.outputs).enumerate() {
        let fact = inference.fact(id);
        let said = inference.describe(fact);
        let Fact::Tensor(tensor) = fact else { return Some(format!("nothing is known of output {i}")) };
        let dims = tensor.dims.as_ref().map(|dims| dims.iter().map(|dim| dim.known()).collect::<Vec<_>>());
        let want_dims: Vec<_> = want.shape().to_i64();
        let fits = dims.as_ref().is_some_and(|dims| {
            dims.len() == want_dims.len()
                && dims.iter().zip(&want_dims).all(|(dim, &len)| dim.is_none_or(|dim| dim == len))
        });
        let all = dims.is_some_and(|dims| dims.iter().all(Option::is_some));
        if tensor.dtype != Some(want.dtype()) || !fits || (complete && !all) {
            return Some(format!(
                "output {i} is inferred as {said}, and is {}{}",
                want.dtype(),
                want.shape()
            ));
        }
        if let Some(known) = tensor.tensor()
            && let Some(how) = difference(&known, want, case.outputs[i].1)
        {
            return Some(format!("output {i} is inferred as {said}: {how}"));
        }
    }
    None
}

/// Failures of a case: of it as a whole, and by output.
fn check(case: &Case) -> BTreeMap<String, String> {
    let mut wrong = BTreeMap::new();
    let name = &case.name;
    let given = case.inputs.iter().map(|(name, value)| (name.clone(), InputFact::Value(value.clone())));
    let mut with_inputs = InferOptions::default();
    with_inputs.sizes.inputs = given.collect();
    for (options, complete) in [(InferOptions::default(), false), (with_inputs, true)] {
        let inference = case.model.infer(&options).unwrap_or_else(|error| panic!("{name}: {error}"));
        if let Some(how) = inferred(&inference, case, complete) {
            wrong.insert(format!("{name}: inference"), how);
        }
    }
    match case.model.run(&case.inputs) {
        Ok(values) => {
            assert_eq!(values.len(), case.outputs.len(), "{name}");
            for (i, ((_, got), (want, ulps))) in values.iter().zip(&case.outputs).enumerate() {
                if let Some(how) = difference(got.tensor().unwrap(), want, *ulps) {
                    wrong.insert(format!("{name}:{i}"), how);
                }
            }
        }
        Err(error) => {
            wrong.insert(name.clone(), error.to_string());
        }
    }
    wrong
}

#[test]
fn recorded_programs_give_what_paddle_gives() {
    let conformance = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let list: List =
        toml::from_str(&std::fs::read_to_string(conformance.join("paddle.toml")).unwrap()).unwrap();
    let (mut seen, mut wrong) = (BTreeSet::new(), BTreeMap::new());
    for case in cases(&conformance.join("recorded/paddle")) {
        wrong.extend(check(&case));
        seen.insert(case.name);
    }
    let mut report = Vec::new();
    report.extend(seen.difference(&list.pass).map(|name| format!("{name} is not listed")));
    report.extend(list.pass.difference(&seen).map(|name| format!("{name} is listed, but there is none")));
    report.extend(
        list.xfail
            .iter()
            .filter(|(name, _)| !wrong.contains_key(*name))
            .map(|(name, why)| format!("{name} is as Paddle gives it, though it should not be: {why}")),
    );
    report.extend(
        wrong
            .iter()
            .filter(|(name, _)| !list.xfail.contains_key(*name))
            .map(|(name, how)| format!("{name}: {how}")),
    );
    assert!(report.is_empty(), "{}", report.join("\n"));
}

#[test]
fn converted_programs_give_what_paddle_gives() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/recorded/paddle");
    let mut options = ConvertOptions::default();
    options.opset = Some(21);
    // Paddle deviates in two of them, and ONNX lacks the operators of the others.
    let skipped =
        ["deviating.pir", "only_run.old", "only_run.pir", "quantized.pir", "rare_run.old", "rare_run.pir"];
    for case in cases(&root).into_iter().filter(|case| !skipped.contains(&&*case.name)) {
        let name = &case.name;
        let converted = case.model.convert(Standard::Onnx, &options);
        let converted = converted.unwrap_or_else(|error| panic!("{name}: {error}"));
        let values = converted.model.run(&case.inputs).unwrap_or_else(|error| panic!("{name}: {error}"));
        for (i, ((_, got), (want, ulps))) in values.iter().zip(&case.outputs).enumerate() {
            // Sequences are computed in float64, with a rounding in each step.
            if let Some(how) = difference(got.tensor().unwrap(), want, ulps.max(4.0)) {
                panic!("{name}:{i}: {how}");
            }
        }
    }
}

/// The nodes that compute a value, and what runs before them.
fn computed_by(graph: &graph::Graph, value: graph::ValueId) -> BTreeSet<usize> {
    let (mut found, mut open) = (BTreeSet::new(), vec![value]);
    while let Some(id) = open.pop() {
        if let Origin::Node(index, _) = graph.value(id).origin
            && found.insert(index)
        {
            let node = &graph.nodes()[index];
            open.extend(node.inputs.iter().flatten());
            open.extend(node.graphs().flat_map(|inner| inner.captures()).map(|capture| capture.outer));
        }
    }
    found
}

/// Outputs of nodes that have no caveat are what Paddle gives, bit for bit.
#[test]
fn converted_nodes_without_a_caveat_give_the_bits_of_paddle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/recorded/paddle");
    let (mut held, mut wrong) = (0, Vec::new());
    for case in cases(&root) {
        let Ok(converted) = case.model.convert(Standard::Onnx, &ConvertOptions::default()) else { continue };
        let Ok(values) = converted.model.run(&case.inputs) else { continue };
        let graph = case.model.graph();
        for (i, (&id, (_, got))) in graph.outputs().iter().zip(values.iter()).enumerate() {
            let by = computed_by(graph, id);
            let labels: Vec<_> = by.iter().map(|&index| graph.nodes()[index].label(index)).collect();
            let is_of = |place: &str, label: &str| {
                place.strip_prefix(label).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
            };
            let notes = &converted.report.notes;
            if notes.iter().any(|note| labels.iter().any(|label| is_of(&note.place, label))) {
                continue;
            }
            held += 1;
            if let Some(how) = difference(got.tensor().unwrap(), &case.outputs[i].0, 0.0) {
                let operators: BTreeSet<_> =
                    by.iter().map(|&index| &*graph.nodes()[index].operator.name).collect();
                wrong.push(format!("{}:{i}: {how}: {operators:?}", case.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(held > 300, "{held}");
}

/// Operators of ONNX whose results no text rounds are written for nodes that have a caveat.
#[test]
fn nodes_that_become_rounded_operators_have_a_caveat() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/recorded/paddle");
    let (mut held, mut wrong) = (0, BTreeSet::new());
    for case in cases(&root) {
        let Ok(converted) = case.model.convert(Standard::Onnx, &ConvertOptions::default()) else { continue };
        let (source, written) = (case.model.graph(), converted.model.graph());
        let inference = converted.model.infer(&InferOptions::default()).unwrap();
        let is_noted = |label: &str| converted.report.notes.iter().any(|note| note.place.starts_with(label));
        let name = |graph: &graph::Graph, node: &graph::Node| match node.outputs.iter().flatten().next() {
            Some(&output) if node.name.is_empty() => graph.value(output).name.to_string(),
            _ => node.name.to_string(),
        };
        let nodes = source.nodes().iter().enumerate();
        let noted = nodes.filter(|(index, node)| is_noted(&node.label(*index)));
        let noted: Vec<_> = noted.map(|(_, node)| name(source, node)).collect();
        for node in written.nodes() {
            let row = operators::row(Standard::Onnx, "", &node.operator.name).unwrap();
            let floats = node
                .inputs
                .iter()
                .flatten()
                .any(|&id| inference.fact(id).dtype().is_some_and(DType::is_float));
            let is_nearest =
                matches!(node.attribute("mode"), Some(Content::Bytes(mode)) if **mode == *b"nearest");
            let is_open = !row.rounding().is_exact() && row.rounding() != Rounding::Quantized;
            if is_open && floats && !(row.name == "Resize" && is_nearest) {
                held += 1;
                let own = name(written, node);
                if !noted.iter().any(|noted| own.starts_with(&**noted)) {
                    wrong.insert(format!("{}: {} \"{own}\"", case.name, row.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(held > 300, "{held}");
}

/// A model of one operator of Paddle on float64, and the same in ONNX.
fn special(operator: &str, attributes: Vec<(&str, Content)>, inputs: &[&Tensor]) -> [Vec<f64>; 2] {
    let mut builder = Builder::new("special");
    let names: Vec<_> = (0..inputs.len()).map(|index| format!("x{index}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let mut values = HashMap::new();
    for (&name, &tensor) in names.iter().zip(inputs) {
        let id = builder.define(name, Origin::Input).unwrap();
        builder.info(id).declared = Some(Type::tensor(tensor.dtype(), tensor.shape()));
        values.insert(name.to_owned(), Value::from(tensor.clone()));
    }
    builder.apply("node", operator, gradus::formats::paddle::OPERATORS, &names, &["y"], attributes).unwrap();
    builder.output("y");
    let mut source = graph::Model::new(Standard::Paddle);
    source.graph = builder.finish().unwrap();
    let model = Model::from_source(source);
    let converted = model.convert(Standard::Onnx, &ConvertOptions::default()).unwrap().model;
    [&model, &converted].map(|model| {
        let outputs = model.run(values.clone()).unwrap();
        outputs["y"].tensor().unwrap().elements::<f64>().unwrap().into_owned()
    })
}

/// The graphs of special functions give what their evaluation gives, in float64.
#[test]
fn special_functions_convert() {
    let line: Vec<f64> = (-60i16..240).map(|i| f64::from(i) / 8.0 + 0.03).collect();
    let edges = [0.0, 0.5, 1.0, 2.0, 1e-30, 1e30, 1e-3, -0.999, 9.9999, 10.0, f64::INFINITY, f64::NAN];
    let x = Tensor::vector(&[line, edges.to_vec()].concat());
    let shares: Vec<f64> = (-999i16..1000).map(|i| f64::from(i) / 999.0).collect();
    let edges = [1e-300, -1e-12, 1.0 - f64::EPSILON / 2.0, f64::EPSILON - 1.0, 1.5, f64::NAN];
    let shares = Tensor::vector(&[shares, edges.to_vec()].concat());
    let wide: Vec<f64> = (-900i16..900).map(|i| f64::from(i) * 0.77).collect();
    let edges = [1e-9, 30.0, 30.1, -30.1, 1e6, f64::INFINITY, -f64::INFINITY, f64::NAN];
    let wide = Tensor::vector(&[wide, edges.to_vec()].concat());
    let n = |n| vec![("n", Content::Int(n))];
    for (operator, attributes, x, bound) in [
        ("digamma", vec![], &x, 2e-13),
        ("lgamma", vec![], &x, 2e-13),
        ("gammaln", vec![], &x, 2e-13),
        ("erfinv", vec![], &shares, 2e-15),
        ("i0", vec![], &wide, 2e-13),
        ("i0e", vec![], &wide, 1e-14),
        ("i1", vec![], &wide, 2e-13),
        ("i1e", vec![], &wide, 1e-14),
        ("polygamma", n(0), &x, 2e-13),
        ("polygamma", n(1), &x, 2e-13),
        ("polygamma", n(2), &x, 2e-13),
        ("polygamma", n(7), &x, 2e-13),
        ("polygamma", n(60), &x, 1e-11),
    ] {
        let [want, got] = special(operator, attributes, &[x]);
        for ((&x, want), got) in x.elements::<f64>().unwrap().iter().zip(want).zip(got) {
            // Near zeros at negative numbers, the functions are differences of larger numbers.
            let near = (want - got).abs() <= bound * want.abs().max(if x < 0.0 { 1.0 } else { 0.0 });
            let same = near || want == got || (want.is_nan() && got.is_nan());
            assert!(same, "{operator} {x}: {got}, not {want}");
        }
    }
}

/// Shares of the gamma function by a loop give what their evaluation gives.
#[test]
fn shares_of_the_gamma_function_convert() {
    let orders = [
        0.0,
        1e-6,
        0.3,
        1.0,
        2.5,
        7.0,
        19.9,
        20.0,
        63.0,
        400.0,
        9e4,
        1.1e5,
        3e7,
        f64::INFINITY,
        -1.0,
        f64::NAN,
    ];
    let bounds =
        [0.0, 1e-9, 0.2, 1.0, 3.7, 8.0, 21.0, 60.0, 90.0, 430.0, 8.99e4, 1.101e5, 3e7, f64::INFINITY, -2.0];
    let a = Tensor::from_vec(Shape::new([orders.len(), 1]).unwrap(), orders.to_vec()).unwrap();
    let x = Tensor::vector(&bounds);
    let [want, got] = special("gammaincc", vec![], &[&a, &x]);
    for (at, (want, got)) in want.iter().zip(&got).enumerate() {
        let (a, x) = (orders[at / bounds.len()], bounds[at % bounds.len()]);
        // Below the order, the share is what the other one leaves of 1.
        let rest = if x < a + 1.0 { 4e-15 } else { 0.0 };
        let same = (want - got).abs() <= 4e-13 * want.abs() + rest || (want.is_nan() && got.is_nan());
        assert!(same, "{a} {x}: {got}, not {want}");
    }
    let none = Tensor::from_vec(Shape::new([0, 1]).unwrap(), Vec::<f64>::new()).unwrap();
    assert!(special("gammaincc", vec![], &[&none, &x]).iter().all(Vec::is_empty));
}

/// About their positive zeros, the graphs lose no digit: values are those of the first terms of
/// their Taylor series.
#[test]
fn gamma_functions_keep_their_digits_near_zeros() {
    let euler = 0.577_215_664_901_532_9;
    let (second, third) = (std::f64::consts::PI.powi(2) / 6.0, 1.202_056_903_159_594_3);
    let distances: Vec<f64> =
        [2, 10, 20, 30, 40, 50].iter().map(|&power| f64::powi(0.5, power + 8)).collect();
    for (zero, terms) in [
        (1.0, [-euler, second / 2.0, -third / 3.0]),
        (2.0, [1.0 - euler, (second - 1.0) / 2.0, -(third - 1.0) / 3.0]),
    ] {
        for sign in [-1.0, 1.0] {
            let x: Vec<f64> = distances.iter().map(|distance| zero + sign * distance).collect();
            let [_, got] = special("lgamma", vec![], &[&Tensor::vector(&x)]);
            for (x, got) in x.iter().zip(got) {
                let t = x - zero;
                let want = t * (terms[0] + t * (terms[1] + t * terms[2]));
                let rest = t.powi(4).abs();
                assert!((got - want).abs() <= 4e-15 * want.abs() + rest, "{x}: {got}, not {want}");
            }
        }
    }
}

#[test]
fn dimensions_of_inputs_are_not_lost() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/recorded/paddle");
    let case = case(&root.join("symbols.pir"));
    let inference = case.model.infer(&InferOptions::default()).unwrap();
    for (i, &id) in case.model.graph().outputs().iter().enumerate() {
        let said = inference.describe(inference.fact(id));
        let (_, dims) = said.split_once('[').unwrap_or_else(|| panic!("output {i} is {said}"));
        let dims = dims.replace("min(", "(");
        let words = dims.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let fresh = words.filter(|word| word.starts_with(char::is_alphabetic));
        let fresh: Vec<_> = fresh.filter(|word| !word.starts_with("x_") && *word != "index_0").collect();
        assert!(fresh.is_empty(), "output {i} is {said}");
    }
}

#[test]
fn the_profile_gives_what_paddle_gives_for_sequences() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/recorded/paddle");
    let mut options = RunOptions::default();
    options.profile = Profile::Paddle;
    for name in ["deviating.pir", "sequences.pir", "sequences.old"] {
        let case = case(&root.join(name));
        let values = case
            .model
            .compile(&[], &options)
            .and_then(|program| program.run(&case.inputs))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        for (i, ((_, got), (want, _))) in values.iter().zip(&case.outputs).enumerate() {
            // Powers differ between libraries in the last place.
            if let Some(how) = difference(got.tensor().unwrap(), want, 1.0) {
                panic!("{name}:{i}: {how}");
            }
        }
    }
}

#[test]
#[ignore = "wants GRADUS_PADDLE, which `cargo xtask conformance --peers paddle` sets"]
fn random_programs_give_what_paddle_gives() {
    let root = std::env::var("GRADUS_PADDLE").expect("GRADUS_PADDLE names a folder of cases");
    let cases = cases(Path::new(&root));
    let wrong: Vec<_> = cases.iter().flat_map(check).map(|(name, how)| format!("{name}: {how}")).collect();
    println!("{} programs, {} differences", cases.len(), wrong.len());
    assert!(
        wrong.is_empty(),
        "{} differences, among them:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(40)].join("\n")
    );
}
