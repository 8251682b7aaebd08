//! Programs that PaddlePaddle saved, against what it gives for them, held to the two-sided list
//! `conformance/paddle.toml`.
//!
//! `conformance/paddle_programs.py` made them. A few are checked in;
//! `cargo xtask conformance --peers paddle` makes many more, in the folder that `GRADUS_PADDLE`
//! names, of which all must pass.
//!
//! Results are equal bit for bit, but for floats of sequences: Paddle rounds them more than once,
//! and each case says how many units in the last place of its greatest element an output may be
//! away.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use gradus::conversion::ConvertOptions;
use gradus::convert::nearest_f64;
use gradus::formats::numpy;
use gradus::graph::{self, Builder, DeclaredDim, Origin, Standard, Type};
use gradus::infer::{InferOptions, Inference, InputFact};
use gradus::profiles::Profile;
use gradus::{DType, Fact, Limits, Model, Number, RunOptions, Tensor, Value};

#[derive(serde::Deserialize)]
struct List {
    pass: BTreeSet<String>,
    /// Outputs, `PROGRAM:INDEX`, and why Paddle gives something else.
    xfail: BTreeMap<String, String>,
}

/// A program, its inputs, and its outputs with the errors that they may have.
struct Case {
    name: String,
    model: Model,
    inputs: HashMap<String, Value>,
    outputs: Vec<(Tensor, f64)>,
}

fn cases(root: &Path) -> Vec<Case> {
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
    with_inputs.inputs = given.collect();
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

/// The graphs of special functions give what their evaluation gives.
#[test]
fn special_functions_convert() {
    let x: Vec<f32> = (-60i16..240).map(|i| f32::from(i) / 8.0 + 0.03).collect();
    let edges = [0.5f32, 1.0, 2.0, 1e-30, 1e30, 1e-3, -0.999, 9.9999, 10.0, f32::INFINITY, f32::NAN];
    let x = Tensor::vector(&[x, edges.to_vec()].concat());
    for operator in ["digamma", "lgamma", "gammaln"] {
        let mut builder = Builder::new("special");
        let id = builder.define("x", Origin::Input).unwrap();
        builder.info(id).declared =
            Some(Type::Tensor(Some(DType::F32), Some(vec![DeclaredDim::Known(x.len())])));
        builder.apply("node", operator, gradus::formats::paddle::OPERATORS, &["x"], &["y"], vec![]).unwrap();
        builder.output("y");
        let mut source = graph::Model::new(Standard::Paddle);
        source.graph = builder.finish().unwrap();
        let model = Model::from_source(source);
        let want = model.run([("x", x.clone())]).unwrap();
        let converted = model.convert(Standard::Onnx, &ConvertOptions::default()).unwrap();
        let got = converted.model.run([("x", x.clone())]).unwrap();
        let numbers = |outputs: &gradus::Outputs| {
            outputs["y"].tensor().unwrap().elements::<f32>().unwrap().into_owned()
        };
        for ((&x, want), got) in x.elements::<f32>().unwrap().iter().zip(numbers(&want)).zip(numbers(&got)) {
            // Near the zeros of the functions, float64 leaves some digits of a float32.
            let near = (want - got).abs() <= want.abs() * 2e-7 + 1e-13;
            assert!(
                near || want == got || (want.is_nan() && got.is_nan()),
                "{operator} {x}: {got}, not {want}"
            );
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
