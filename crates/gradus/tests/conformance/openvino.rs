//! Operators of OpenVINO.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use gradus::convert::{Rules, nearest_f64};
use gradus::fact::Elements;
use gradus::formats::{Files, InMemory, numpy, openvino};
use gradus::graph::{Standard, Type};
use gradus::infer::{InferOptions, InputFact};
use gradus::{DType, Dim, Fact, Limits, Model, Number, Shape, Tensor, Value, operators};
use serde_json::Value as Json;

use super::differences::{Difference, Outcome, agrees, difference, equal, inferred, same};
use super::lists::hold;
use super::{cases, folders, json, name};

fn run_openvino(folder: &Path, case: &Json, runner: &str) -> Outcome {
    let model = Model::open(folder.join("model.xml")).map_err(|error| error.to_string())?;
    let input = |name: &Json| {
        let name = name.as_str().unwrap();
        let bytes = std::fs::read(folder.join(format!("{name}.npy"))).unwrap();
        (name.to_owned(), numpy::read_npy(&bytes.into(), None, &Limits::DEFAULT).unwrap())
    };
    let inputs = case["inputs"].as_array().unwrap().iter().map(input);
    let ours = model.run(inputs).map_err(|error| error.message().to_owned());
    let theirs = &case["results"][runner];
    match (ours, theirs["failure"].as_str()) {
        (Err(_), Some(failure)) if failure.starts_with("error") => Ok(Difference::NONE),
        (Err(error), None) => {
            Err(format!("Gradus fails ({error}), but OpenVINO gives {}{}", theirs["type"], theirs["shape"]))
        }
        (Ok(outputs), None) => {
            let dtype: DType = theirs["type"].as_str().unwrap().parse().unwrap();
            let dims = theirs["shape"]
                .as_array()
                .unwrap()
                .iter()
                .map(|dim| usize::try_from(dim.as_u64().unwrap()).unwrap());
            let bytes = Bytes::from(std::fs::read(folder.join(theirs["file"].as_str().unwrap())).unwrap());
            let want =
                Tensor::from_bytes(dtype, Shape::new(dims.collect::<Vec<_>>()).unwrap(), bytes).unwrap();
            difference(&outputs[0], &want.into())
        }
        (ours, Some(failure)) => Err(format!("OpenVINO fails ({failure}), Gradus gives {ours:?}")),
    }
}

#[test]
#[ignore = "needs GRADUS_CONFORMANCE, which `cargo xtask conformance` sets"]
fn openvino_operators() {
    let root = cases("openvino");
    let (mut results, mut features) = (BTreeMap::new(), BTreeSet::new());
    for folder in folders(&root) {
        let case = json(&folder.join("case.json"));
        features.insert(case["features"].to_string());
        for runner in ["evaluate", "cpu"] {
            results.insert(format!("{}.{runner}", name(&folder)), run_openvino(&folder, &case, runner));
        }
    }
    assert_eq!(features.len(), 1, "all cases are of one processor: {features:?}");
    let features: Vec<String> = serde_json::from_str(features.first().unwrap()).unwrap();
    hold("openvino.toml", &results, &features);
}

/// A tensor as `openvino_shapes.py` writes it.
fn described(json: &Json) -> Tensor {
    let dims =
        json["shape"].as_array().unwrap().iter().map(|dim| usize::try_from(dim.as_u64().unwrap()).unwrap());
    let number = |element: &Json| match element {
        Json::String(text) => Number::Float(text.parse().unwrap()),
        other => {
            other.as_i64().map_or_else(|| Number::Float(other.as_f64().unwrap()), |x| Number::Int(x.into()))
        }
    };
    let numbers = json["elements"].as_array().unwrap().iter().map(number);
    let shape = Shape::new(dims.collect::<Vec<_>>()).unwrap();
    let dtype: DType = json["type"].as_str().unwrap().parse().unwrap();
    Tensor::from_numbers(dtype, shape, numbers, Rules::IEEE).unwrap()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// Runs and infers a model of one operator: what it gives, and what is inferred of it, must be what
/// OpenVINO computed.
fn shape_family(case: &Json) -> Result<(), String> {
    let text = case["xml"].as_str().unwrap();
    let bin = Bytes::from(unhex(case["bin"].as_str().unwrap()));
    let files: Arc<dyn Files> = Arc::new(InMemory(HashMap::from([("m.bin".to_owned(), bin)])));
    let source = openvino::read_model(text.as_bytes(), "m.bin", &files, &Limits::DEFAULT);
    let model = Model::from_source(source.map_err(|error| error.to_string())?);
    let inputs = case["inputs"].as_object().unwrap();
    let inputs: HashMap<String, Value> =
        inputs.iter().map(|(name, tensor)| (name.clone(), described(tensor).into())).collect();
    let wanted: Vec<Tensor> = case["outputs"].as_array().unwrap().iter().map(described).collect();
    let ids = model.graph().outputs();
    // Floats that programs round otherwise may be so far apart, in parts of the largest.
    let close = case["close"].as_f64();
    for complete in [false, true] {
        if complete && close.is_some() {
            continue;
        }
        let given = inputs.iter().map(|(name, value)| {
            let tensor = value.tensor().unwrap();
            let given = if complete {
                InputFact::Value(value.clone())
            } else {
                InputFact::Type(Type::tensor(tensor.dtype(), tensor.shape()))
            };
            (name.clone(), given)
        });
        let inference = inferred(&model, given.collect())?;
        for (&id, want) in ids.iter().zip(&wanted) {
            let from = if complete { "values" } else { "shapes" };
            agrees(&inference, inference.fact(id), &want.clone().into(), complete)
                .map_err(|error| format!("from {from}: {error}"))?;
        }
    }
    symbolic(&model, &inputs, &wanted)?;
    let outputs = model.run(&inputs);
    let outputs = match outputs {
        Ok(outputs) => outputs,
        // Some operators are inferred and not run.
        Err(error) if error.message().starts_with("cannot evaluate") => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    outputs.iter().zip(&wanted).try_for_each(|((_, got), want)| {
        if let Some(close) = close.filter(|_| want.dtype().is_float()) {
            return near(got.tensor().unwrap(), want, close);
        }
        same(&positive_zeros(got.tensor().unwrap()).into(), &positive_zeros(want).into())
    })
}

/// Holds floats against others within a part of the largest, or of one.
fn near(got: &Tensor, want: &Tensor, close: f64) -> Result<(), String> {
    let floats = |tensor: &Tensor| tensor.numbers().unwrap().map(nearest_f64).collect::<Vec<_>>();
    let (own, other) = (floats(got), floats(want));
    let room = close * other.iter().fold(1.0, |most: f64, number| most.max(number.abs()));
    let near = own.iter().zip(&other).all(|(a, b)| (a - b).abs() <= room);
    if near && got.shape() == want.shape() && got.dtype() == want.dtype() {
        return Ok(());
    }
    Err(format!("{got:?}, not {want:?}"))
}

/// Checks the facts that are inferred from the declared inputs alone, with dimensions and elements
/// put in for the symbols.
fn symbolic(model: &Model, inputs: &HashMap<String, Value>, wanted: &[Tensor]) -> Result<(), String> {
    let mut options = InferOptions::default();
    options.ignore_declared = true;
    let inference = model.infer(&options).map_err(|error| error.to_string())?;
    let mut bindings = HashMap::new();
    for &id in model.graph().inputs() {
        let tensor = inputs[&*model.graph().value(id).name].tensor().unwrap();
        let Fact::Tensor(fact) = inference.fact(id) else { continue };
        let sizes = fact.dims.iter().flat_map(|dims| dims.iter().copied()).zip(tensor.shape().to_i64());
        let elements = match &fact.elements {
            Elements::Integers(all) => {
                let integers = gradus::convert::cast(tensor, DType::I64, Rules::IEEE).unwrap();
                all.iter().copied().zip(integers.to_i64().unwrap()).collect()
            }
            _ => Vec::new(),
        };
        for (dim, value) in sizes.chain(elements) {
            if let Some(symbol) = inference.symbols().as_symbol(dim) {
                bindings.insert(symbol.name.to_string(), value);
            }
        }
    }
    let of = |dim: &Dim| inference.symbols().evaluate(*dim, &|name| bindings.get(name).copied());
    for (&id, want) in model.graph().outputs().iter().zip(wanted) {
        let Fact::Tensor(fact) = inference.fact(id) else { continue };
        let wrong =
            || Err(format!("{} of symbols is not {}", inference.describe(inference.fact(id)), want.shape()));
        if let Some(dims) = &fact.dims {
            let same = |(dim, len): (&Dim, i64)| of(dim).is_none_or(|dim| dim == len);
            if dims.len() != want.shape().rank() || !dims.iter().zip(want.shape().to_i64()).all(same) {
                return wrong();
            }
        }
        if let Elements::Integers(all) = &fact.elements {
            let numbers = want.numbers().unwrap();
            let same =
                |(dim, number): (&Dim, Number)| of(dim).is_none_or(|dim| number == Number::Int(dim.into()));
            if !all.iter().zip(numbers).all(same) {
                let elements = inference.elements(inference.fact(id)).unwrap_or_default();
                return Err(format!("elements {elements} of symbols are not {want:?}"));
            }
        }
    }
    Ok(())
}

/// The plugin does not keep the sign of zero: it negates 0 to 0.
fn positive_zeros(tensor: &Tensor) -> Tensor {
    let numbers = tensor.numbers().unwrap().map(|number| match number {
        Number::Float(x) => Number::Float(x + 0.0),
        number => number,
    });
    Tensor::from_numbers(tensor.dtype(), tensor.shape().clone(), numbers, Rules::IEEE).unwrap()
}

/// Operators of which no models are recorded: the plugin's functions are less exact than ours, it
/// does not run them, they are its variables, or they are random.
const NOT_RECORDED: [&str; 23] = [
    "Acos",
    "Acosh",
    "Asin",
    "Asinh",
    "Assign",
    "Atan",
    "Atanh",
    "Cos",
    "Cosh",
    "ErfInv",
    "Exp",
    "GroupedMatMul",
    "Log",
    "Multinomial",
    "RandomUniform",
    "ReadValue",
    "Reverse",
    "Sigmoid",
    "Sin",
    "Sinh",
    "Tan",
    "Tanh",
    "Xor",
];

/// Returns true if models are recorded of each version of an operator that OpenVINO's table has and
/// that is run, or none should be.
#[test]
fn every_version_of_openvinos_operators_that_is_run_is_recorded() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/recorded/openvino.json");
    let recorded = json(&path);
    let mut wrong = Vec::new();
    // Cases of Range and ShapeOf are in tests/operators/table.rs and openvino.toml.
    let recorded_elsewhere = |name: &str| ["Range", "ShapeOf"].contains(&name);
    let rows = operators::all().filter(|row| row.standard == Standard::OpenVino && row.is_evaluated());
    for row in rows.filter(|row| !recorded_elsewhere(row.name)) {
        for signature in row.signatures() {
            let name = format!("{}-{}", signature.name, signature.since);
            if recorded["operators"].get(&name).is_some() == NOT_RECORDED.contains(&signature.name) {
                wrong.push(name);
            }
        }
    }
    assert!(wrong.is_empty(), "of these, models must be recorded, or must not: {wrong:?}");
}

/// Holds the models of a file, which `openvino_shapes.py` wrote.
fn hold_shape_family(file: &Path) {
    let recorded = json(file);
    let operators = recorded["operators"].as_object().unwrap();
    let results = operators.iter().map(|(name, cases)| {
        let cases = cases.as_array().unwrap();
        let failed = |(i, case): (usize, &Json)| {
            shape_family(case).map_err(|error| format!("case {i}: {error}: {}", case["xml"]))
        };
        (name.clone(), cases.iter().enumerate().try_for_each(failed))
    });
    hold("openvino_shapes.toml", &results.map(equal).collect(), &[]);
}

#[test]
fn recorded_openvino_shape_family() {
    hold_shape_family(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/recorded/openvino.json"),
    );
}

#[test]
#[ignore = "needs GRADUS_CONFORMANCE, which `cargo xtask conformance` sets"]
fn openvino_shape_family() {
    hold_shape_family(&cases("openvino_shapes.json"));
}
