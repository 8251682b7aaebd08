//! Node tests of the `onnx` package.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use gradus::convert::{self};
use gradus::graph::Type;
use gradus::infer::InputFact;
use gradus::{DType, Model, Tensor, Value};
use gradus_testkit::{self as testkit, Real};

use super::differences::{Difference, Outcome, agrees, difference, equal, inferred};
use super::lists::hold;
use super::{cases, folders, json, name, read_value};

/// A node test of the `onnx` package, as the exporting script writes it.
struct OnnxCase {
    model: Model,
    inputs: HashMap<String, Value>,
    outputs: HashMap<String, Value>,
}

fn read_onnx(folder: &Path) -> Result<OnnxCase, String> {
    let case = json(&folder.join("case.json"));
    let model = Model::open(folder.join("model.onnx")).map_err(|error| error.to_string())?;
    let declared =
        |name: &str| model.graph().find(name).and_then(|id| model.graph().value(id).declared.clone());
    let values = |side: &str| -> HashMap<String, Value> {
        let described = case[side].as_object().unwrap();
        described
            .iter()
            .map(|(name, value)| (name.clone(), read_value(folder, value, declared(name).as_ref())))
            .collect()
    };
    let (inputs, outputs) = (values("inputs"), values("outputs"));
    Ok(OnnxCase { model, inputs, outputs })
}

fn run_onnx(folder: &Path) -> Outcome {
    let case = read_onnx(folder)?;
    let outputs = case.model.run(&case.inputs).map_err(|error| error.to_string())?;
    outputs.iter().try_fold(Difference::NONE, |all, (name, value)| {
        let one =
            difference(value, &case.outputs[&**name]).map_err(|error| format!("output {name}: {error}"))?;
        Ok(all.max(one))
    })
}

/// The folders of the node tests that are run.
fn run_onnx_folders() -> Vec<PathBuf> {
    let mut folders = folders(&cases("onnx"));
    folders.retain(|folder| json(&folder.join("case.json"))["run"] == true);
    folders
}

#[test]
#[ignore = "needs GRADUS_CONFORMANCE, which `cargo xtask conformance` sets"]
fn onnx_node_tests() {
    let results = run_onnx_folders().into_iter().map(|folder| (name(&folder), run_onnx(&folder)));
    hold("onnx.toml", &results.collect(), &[]);
}

/// Functions of one real whose values are irrational, and Sqrt.
const FUNCTIONS: [&str; 17] = [
    "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cos", "Cosh", "Exp", "Log", "Sigmoid", "Sin", "Sinh",
    "Softplus", "Sqrt", "Tan", "Tanh",
];

/// The elements of a tensor as float64, repeated as its last axes demand of a tensor of this
/// length.
fn repeated(tensor: &Tensor, len: usize) -> Vec<f64> {
    let numbers: Vec<_> = tensor.numbers().unwrap().map(convert::nearest_f64).collect();
    numbers.iter().copied().cycle().take(len).collect()
}

/// The exact values of a case of one function, or nothing if it is another case.
fn exact_values(case: &OnnxCase) -> Option<Vec<(f64, Option<Real>)>> {
    let [node] = case.model.graph().nodes() else { return None };
    let operator = &*node.operator.name;
    let graph = case.model.graph();
    let operand = |&id| case.inputs[&*graph.value(id).name].tensor();
    let operands = graph.inputs().iter().map(operand).collect::<Result<Vec<_>, _>>().ok()?;
    let values = match operands[..] {
        [x] if FUNCTIONS.contains(&operator) => {
            let exact = |x: f64| (x, testkit::function(operator, &testkit::real(x)));
            repeated(x, x.len()).into_iter().map(exact).collect()
        }
        [base, exponent] if operator == "Pow" => {
            let exact = |(base, exponent): (f64, f64)| {
                (base, testkit::real_power(&testkit::real(base), &testkit::real(exponent)))
            };
            let exponents = repeated(exponent, base.len());
            repeated(base, base.len()).into_iter().zip(exponents).map(exact).collect()
        }
        _ => return None,
    };
    Some(values)
}

/// The float of a type nearest to a real; of float64 what is nearest, too.
fn nearest(dtype: DType, x: &Real) -> f64 {
    let small = |exponent_bits, mantissa_bits, bias, finite_codes| {
        let format = testkit::FloatFormat { exponent_bits, mantissa_bits, bias, finite_codes };
        let code = format.nearest(x).expect("upstream's values are in range");
        convert::nearest_f64(convert::number(dtype, code.into()))
    };
    match dtype {
        DType::F16 => small(5, 10, 15, 0x7c00),
        DType::BF16 => small(8, 7, 127, 0x7f80),
        DType::F32 => testkit::nearest_f32(x).into(),
        _ => testkit::nearest_f64(x),
    }
}

/// Upstream's values bound ours only within ulps; the exact ones say what ours must be.
#[test]
#[ignore = "needs GRADUS_CONFORMANCE, which `cargo xtask conformance` sets"]
fn functions_of_upstreams_inputs_are_rounded_correctly() {
    let (mut wrong, mut checked) = (Vec::new(), BTreeMap::new());
    for folder in run_onnx_folders() {
        let case = read_onnx(&folder).unwrap();
        let Some(exact) = exact_values(&case) else { continue };
        let outputs = case.model.run(&case.inputs).unwrap();
        let output = outputs[0].tensor().unwrap();
        let dtype = output.dtype();
        if !dtype.is_float() {
            continue;
        }
        let operator = case.model.graph().nodes()[0].operator.name.to_string();
        for (got, (x, exact)) in output.numbers().unwrap().map(convert::nearest_f64).zip(exact) {
            *checked.entry((operator.clone(), dtype)).or_insert(0) += 1;
            let want = exact.map_or(f64::NAN, |exact| nearest(dtype, &exact));
            if got != want && !(got.is_nan() && want.is_nan()) {
                wrong.push(format!("{}: {operator} of {x:e} is {got:e}, not {want:e}", name(&folder)));
            }
        }
    }
    println!("elements that are checked: {checked:?}");
    let operators: BTreeSet<_> = checked.keys().map(|(operator, _)| operator.as_str()).collect();
    assert_eq!(operators.len(), FUNCTIONS.len() + 1, "upstream has cases of each function: {operators:?}");
    assert!(wrong.is_empty(), "{} values are misrounded:\n{}", wrong.len(), wrong.join("\n"));
}

/// Infers a case with its declared shapes stripped: from the shapes of inputs, nothing that is said
/// may be wrong; from the inputs themselves, all types and shapes must be known.
fn infer_onnx(folder: &Path) -> Result<(), String> {
    let OnnxCase { model, inputs, outputs } = read_onnx(folder)?;
    for complete in [false, true] {
        let given = inputs.iter().map(|(name, value)| {
            let given = match value {
                Value::Tensor(tensor) if !complete => {
                    InputFact::Type(Type::tensor(tensor.dtype(), tensor.shape()))
                }
                value => InputFact::Value(value.clone()),
            };
            (name.clone(), given)
        });
        let inference = inferred(&model, given.collect())?;
        for (name, value) in &outputs {
            let fact = inference.fact(model.graph().find(name).unwrap());
            let from = if complete { "values" } else { "shapes" };
            agrees(&inference, fact, value, complete)
                .map_err(|error| format!("from {from}, {name} is {error}"))?;
        }
    }
    Ok(())
}

#[test]
#[ignore = "needs GRADUS_CONFORMANCE, which `cargo xtask conformance` sets"]
fn onnx_node_tests_are_inferred() {
    let root = cases("onnx");
    let results = folders(&root).into_iter().map(|folder| (name(&folder), infer_onnx(&folder)));
    hold("infer.toml", &results.map(equal).collect(), &[]);
}
