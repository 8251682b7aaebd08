//! Upstream's cases, by name, against two-sided lists: a case that is not listed, that fails though
//! it should pass, that passes though it should fail, or that is listed and gone, fails the test.
//!
//! The cases come from the installed packages: scripts in `conformance/` write them to a folder,
//! which the variable `GRADUS_CONFORMANCE` names (`cargo xtask conformance` does all of it).
//!
//! The values of some cases depend on the processor that the packages run on. A list bounds how far
//! floats may be from upstream's (`ulps`), or names the feature of the processor without which a
//! case fails (`without`).
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use gradus::convert::{self, Rules, ScaleRounding};
use gradus::fact::Elements;
use gradus::formats::{Files, InMemory, numpy, onnx, openvino};
use gradus::graph::{Standard, Type};
use gradus::infer::{InferOptions, Inference, InputFact};
use gradus::{DType, Dim, Fact, Limits, Model, Number, Shape, Tensor, Value, files, operators};
use gradus_testkit::{self as testkit, Real};
use serde_json::Value as Json;

fn cases(kind: &str) -> PathBuf {
    let root = std::env::var_os("GRADUS_CONFORMANCE").expect("GRADUS_CONFORMANCE names a folder of cases");
    Path::new(&root).join(kind)
}

fn folders(root: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<_> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    assert!(!folders.is_empty(), "{} has cases", root.display());
    folders
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

fn json(path: &Path) -> Json {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// The expectation of a case.
#[derive(Debug)]
enum Expected<'a> {
    /// Floats differ by at most that; all else is equal.
    Pass(Bound),
    Fail,
    Skip,
    /// It fails where the processor lacks this feature.
    FailsWithout(&'a str),
}

/// The largest difference of a float from upstream's.
#[derive(Clone, Copy, Debug)]
enum Bound {
    /// In units in the last place of upstream's element.
    Ulps(u64),
    /// In units in the last place of the largest magnitude of upstream's tensor.
    UlpsOfLargest(f64),
}

/// A case that fails where the processor lacks a feature.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Without {
    /// The reason, for readers.
    #[serde(rename = "xfail")]
    _reason: String,
    without: String,
}

/// Expectations of cases by name.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    #[serde(default)]
    pass: Vec<String>,
    /// True if cases that are not listed are expected to pass.
    #[serde(default)]
    others_pass: bool,
    /// Cases by their bound.
    #[serde(default)]
    ulps: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    ulps_of_largest: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    processor: BTreeMap<String, Without>,
    #[serde(default)]
    xfail: BTreeMap<String, String>,
    #[serde(default)]
    skip: BTreeMap<String, String>,
}

impl List {
    /// Every mention of a case, with what is expected of it.
    fn mentions(&self) -> impl Iterator<Item = (&String, Expected<'_>)> {
        let pass = self.pass.iter().map(|name| (name, Expected::Pass(Bound::Ulps(0))));
        let ulps = self.ulps.iter().flat_map(|(bound, names)| {
            let bound = Bound::Ulps(bound.parse().unwrap());
            names.iter().map(move |name| (name, Expected::Pass(bound)))
        });
        let of_largest = self.ulps_of_largest.iter().flat_map(|(bound, names)| {
            let bound = Bound::UlpsOfLargest(bound.parse().unwrap());
            names.iter().map(move |name| (name, Expected::Pass(bound)))
        });
        let processor =
            self.processor.iter().map(|(name, rule)| (name, Expected::FailsWithout(&rule.without)));
        let fail = self.xfail.keys().map(|name| (name, Expected::Fail));
        let skip = self.skip.keys().map(|name| (name, Expected::Skip));
        pass.chain(ulps).chain(of_largest).chain(processor).chain(fail).chain(skip)
    }
}

/// Contradictions between results and a list, on a processor with these features.
fn mistakes(list: &List, results: &BTreeMap<String, Outcome>, features: &[String]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut expected = BTreeMap::new();
    for (name, mention) in list.mentions() {
        if expected.insert(name, mention).is_some() {
            wrong.push(format!("{name} is listed more than once"));
        }
        if !results.contains_key(name) {
            wrong.push(format!("{name} is listed, but does not exist"));
        }
    }
    for (name, result) in results {
        let (pass, why) = match expected.get(name) {
            Some(Expected::Skip) => continue,
            Some(Expected::Pass(bound)) => (Some(*bound), String::new()),
            Some(Expected::Fail) => (None, "is listed as failing".to_owned()),
            Some(Expected::FailsWithout(feature)) if features.iter().any(|has| has == feature) => {
                (Some(Bound::Ulps(0)), format!(" with {feature}"))
            }
            Some(Expected::FailsWithout(feature)) => {
                (None, format!("is listed as failing without {feature}"))
            }
            None if list.others_pass => (Some(Bound::Ulps(0)), String::new()),
            None => {
                wrong.push(format!("{name} is not listed; it gives {result:?}"));
                continue;
            }
        };
        match (pass, result) {
            (Some(bound), Ok(difference)) if !difference.is_within(bound) => {
                wrong.push(format!("{name} fails{why}: {difference:?} instead of {bound:?}"));
            }
            (Some(_), Err(error)) => wrong.push(format!("{name} fails{why}: {error}")),
            (None, Ok(difference)) if difference.is_within(Bound::Ulps(0)) => {
                wrong.push(format!("{name} passes, but {why}"));
            }
            _ => {}
        }
    }
    wrong
}

/// Holds results against a list, on a processor with these features.
fn hold(name: &str, results: &BTreeMap<String, Outcome>, features: &[String]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance").join(name);
    let list: List = toml::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    for (name, result) in results {
        if let Ok(Difference { ulps: Some(ulps), of_largest: Some(of_largest) }) = result
            && *ulps > 0
        {
            println!("{name}: {ulps} ulps, {of_largest} of the largest magnitude");
        }
    }
    let wrong = mistakes(&list, results, features);
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), path.display(), wrong.join("\n"));
    let passed = results.len() - list.xfail.len() - list.skip.len();
    println!("{}: {passed} pass, {} fail as expected", path.display(), list.xfail.len());
}

#[test]
fn lists_are_two_sided() {
    let list = r#"
        pass = ["equal", "broken", "gone"]
        [ulps]
        1 = ["near", "far"]
        [ulps_of_largest]
        1 = ["cancelled"]
        [processor]
        wide = { xfail = "narrow vectors truncate", without = "avx512" }
        [xfail]
        mended = "it differs"
        near = "a second mention"
    "#;
    let list: List = toml::from_str(list).unwrap();
    let off = |ulps| Ok(Difference { ulps: Some(ulps), of_largest: Some(0.5) });
    let results = BTreeMap::from(
        [
            ("equal", off(0)),
            ("broken", off(1)),
            ("near", off(1)),
            ("far", off(2)),
            ("cancelled", off(9000)),
            ("wide", off(3)),
            ("mended", off(0)),
            ("new", Err("no kernel".to_owned())),
        ]
        .map(|(name, result)| (name.to_owned(), result)),
    );
    let of = |features: &[&str]| {
        let features: Vec<_> = features.iter().map(|&name| name.to_owned()).collect();
        mistakes(&list, &results, &features).join("\n")
    };
    let narrow = of(&[]);
    for mistake in [
        "gone is listed, but does not exist",
        "near is listed more than once",
        "broken fails: ",
        "far fails: ",
        "mended passes, but is listed as failing",
        "new is not listed",
    ] {
        assert!(narrow.contains(mistake), "{mistake} is missing in\n{narrow}");
    }
    assert_eq!(narrow.lines().count(), 6, "{narrow}");
    assert!(of(&["avx512"]).contains("wide fails with avx512: "));
}

/// How far floats are from upstream's, where all else is equal; nothing where they cannot be
/// compared, as infinities or floats of few bits.
#[derive(Clone, Copy, Debug)]
struct Difference {
    ulps: Option<u64>,
    of_largest: Option<f64>,
}

type Outcome = Result<Difference, String>;

impl Difference {
    const NONE: Difference = Difference { ulps: Some(0), of_largest: Some(0.0) };

    fn is_within(self, bound: Bound) -> bool {
        match bound {
            Bound::Ulps(bound) => self.ulps.is_some_and(|ulps| ulps <= bound),
            Bound::UlpsOfLargest(bound) => self.of_largest.is_some_and(|ulps| ulps <= bound),
        }
    }

    fn max(self, other: Difference) -> Difference {
        Difference {
            ulps: self.ulps.zip(other.ulps).map(|(a, b)| a.max(b)),
            of_largest: self.of_largest.zip(other.of_largest).map(|(a, b)| a.max(b)),
        }
    }
}

/// The difference of values; NaN of any code is NaN.
fn difference(got: &Value, want: &Value) -> Outcome {
    match (got, want) {
        (Value::Tensor(got), Value::Tensor(want))
            if got.dtype() == want.dtype() && got.shape() == want.shape() =>
        {
            difference_of_tensors(got, want).ok_or_else(|| format!("{got:?} instead of {want:?}"))
        }
        (Value::Sequence(got), Value::Sequence(want)) if got.len() == want.len() => got
            .iter()
            .zip(want)
            .try_fold(Difference::NONE, |all, (got, want)| Ok(all.max(difference(got, want)?))),
        (Value::Optional(None), Value::Optional(None)) => Ok(Difference::NONE),
        (Value::Optional(Some(got)), Value::Optional(Some(want))) => difference(got, want),
        _ => Err(format!("{got} instead of {want}")),
    }
}

/// The difference of tensors of one type and shape, if floats are all that differs.
fn difference_of_tensors(got: &Tensor, want: &Tensor) -> Option<Difference> {
    let key = |number: Number| match number {
        Number::Float(x) if x.is_nan() => Number::Float(f64::NAN),
        other => other,
    };
    let (Ok(ours), Ok(theirs)) = (got.numbers(), want.numbers()) else {
        return (got == want).then_some(Difference::NONE);
    };
    let pairs: Vec<_> = ours.map(key).zip(theirs.map(key)).collect();
    if pairs.iter().all(|(got, want)| got == want) {
        return Some(Difference::NONE);
    }
    let dtype = want.dtype();
    if ![DType::F16, DType::BF16, DType::F32, DType::F64].contains(&dtype) {
        return None;
    }
    let code = |x: f64| i128::from(convert::code(dtype, Number::Float(x), Rules::IEEE));
    // Floats in their order are integers: the codes of the positive ones, and the negatives of the
    // others' magnitudes.
    let ordinal = |x: f64| if x.is_sign_negative() { -code(-x) } else { code(x) };
    let float = |number| if let Number::Float(x) = number { x } else { panic!("{dtype} has floats") };
    let largest = pairs.iter().map(|&(_, want)| float(want).abs()).fold(0.0, f64::max);
    let next = convert::nearest_f64(convert::number(dtype, u64::try_from(code(largest) + 1).unwrap()));
    let (mut ulps, mut distance) = (0, 0.0f64);
    for (got, want) in pairs {
        let (x, y) = (float(got), float(want));
        if got == want {
            continue;
        }
        if !x.is_finite() || !y.is_finite() {
            return None;
        }
        ulps = ulps.max(u64::try_from((ordinal(x) - ordinal(y)).abs()).unwrap());
        distance = distance.max((x - y).abs());
    }
    let of_largest = distance / (next - largest);
    // Zeros of either sign are one step apart, too.
    Some(Difference { ulps: Some(ulps.max(1)), of_largest: of_largest.is_finite().then_some(of_largest) })
}

/// A result that is right or wrong, as one of values that are equal or are not.
fn equal((name, result): (String, Result<(), String>)) -> (String, Outcome) {
    (name, result.map(|()| Difference::NONE))
}

/// Returns true if values are the same, bit for bit.
fn same(got: &Value, want: &Value) -> Result<(), String> {
    if difference(got, want)?.is_within(Bound::Ulps(0)) {
        return Ok(());
    }
    let shown =
        |value: &Value| value.tensor().map_or_else(|_| value.to_string(), |tensor| format!("{tensor:?}"));
    Err(format!("{} instead of {}", shown(got), shown(want)))
}

/// A value as the exporting script describes it; an optional one is known by the model's
/// declaration.
fn read_value(folder: &Path, described: &Json, declared: Option<&Type>) -> Value {
    let optional = |value: Option<Value>| Value::Optional(value.map(Box::new));
    match (described["sort"].as_str().unwrap(), declared) {
        ("none", _) => optional(None),
        (_, Some(Type::Optional(inner))) => optional(Some(read_value(folder, described, Some(inner)))),
        ("sequence", _) => Value::Sequence(
            described["values"].as_array().unwrap().iter().map(|v| read_value(folder, v, None)).collect(),
        ),
        _ => {
            let bytes = std::fs::read(folder.join(described["file"].as_str().unwrap())).unwrap();
            onnx::read_tensor(&bytes.into(), Limits::DEFAULT).unwrap().into()
        }
    }
}

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

/// Returns true if what is inferred of a value tells its type and shape, and all that it tells is
/// so.
fn agrees(inference: &Inference, fact: &Fact, value: &Value, complete: bool) -> Result<(), String> {
    let wrong = || Err(format!("{} instead of {value}", inference.describe(fact)));
    match (fact, value) {
        (Fact::Tensor(fact), Value::Tensor(tensor)) => {
            let dims = fact.dims.as_ref();
            let same = dims.is_none_or(|dims| {
                dims.len() == tensor.shape().rank()
                    && dims
                        .iter()
                        .zip(tensor.shape().to_i64())
                        .all(|(dim, len)| dim.known().is_none_or(|known| known == len))
            });
            let known = fact.dtype.is_some() && fact.shape().is_some();
            if !same || fact.dtype.is_some_and(|dtype| dtype != tensor.dtype()) || (complete && !known) {
                return wrong();
            }
            match fact.tensor() {
                Some(elements) => same_elements(&elements, tensor),
                None => Ok(()),
            }
        }
        (Fact::Sequence(list), Value::Sequence(values)) => {
            let len = i64::try_from(values.len()).unwrap();
            let items = list.items.as_deref().unwrap_or_default();
            if list.len.known().is_none_or(|known| known != len) && complete {
                return wrong();
            }
            let each = |i: usize| items.get(i).unwrap_or(&list.each);
            values.iter().enumerate().try_for_each(|(i, value)| agrees(inference, each(i), value, complete))
        }
        (Fact::Optional(optional), Value::Optional(value)) => match value {
            Some(value) => agrees(inference, &optional.value, value, complete),
            None => Ok(()),
        },
        (Fact::Unknown, _) if !complete => Ok(()),
        _ => wrong(),
    }
}

fn same_elements(got: &Tensor, want: &Tensor) -> Result<(), String> {
    // Numbers rounded from float64 may differ from the reference in the last bit; onnx.toml lists
    // where.
    if want.dtype().is_float() {
        return Ok(());
    }
    same(&got.clone().into(), &want.clone().into())
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
        let mut options = InferOptions::default();
        options.inputs = given.collect();
        options.ignore_declared = true;
        let inference = model.infer(&options).map_err(|error| error.to_string())?;
        if let Some(problem) = inference.problems().first() {
            return Err(format!("{}: {}", problem.place, problem.message));
        }
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
    for complete in [false, true] {
        let given = inputs.iter().map(|(name, value)| {
            let tensor = value.tensor().unwrap();
            let given = if complete {
                InputFact::Value(value.clone())
            } else {
                InputFact::Type(Type::tensor(tensor.dtype(), tensor.shape()))
            };
            (name.clone(), given)
        });
        let mut options = InferOptions::default();
        options.inputs = given.collect();
        options.ignore_declared = true;
        let inference = model.infer(&options).map_err(|error| error.to_string())?;
        if let Some(problem) = inference.problems().first() {
            return Err(format!("{}: {}", problem.place, problem.message));
        }
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
        Err(error) if error.message().contains("cannot evaluate operator") => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    outputs.iter().zip(&wanted).try_for_each(|((_, got), want)| {
        same(&positive_zeros(got.tensor().unwrap()).into(), &positive_zeros(want).into())
    })
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
        let extents = fact.dims.iter().flat_map(|dims| dims.iter().copied()).zip(tensor.shape().to_i64());
        let elements = match &fact.elements {
            Elements::Integers(all) => all.iter().copied().zip(tensor.to_i64().unwrap()).collect(),
            _ => Vec::new(),
        };
        for (dim, value) in extents.chain(elements) {
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

/// Operators of which no models are recorded: the plugin's functions are less exact than ours, or
/// they are its variables.
const NOT_RECORDED: [&str; 19] = [
    "Acos",
    "Acosh",
    "Asin",
    "Asinh",
    "Assign",
    "Atan",
    "Atanh",
    "Cos",
    "Cosh",
    "Exp",
    "Log",
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
    // Cases of Range and ShapeOf are in tests/operators.rs and openvino.toml.
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

fn array(path: &Path) -> Tensor {
    numpy::read_npy(&files::map(path).unwrap(), None, &Limits::DEFAULT).unwrap()
}

/// The codes of an array of 8- or 16-bit codes.
fn codes(tensor: &Tensor) -> Vec<u64> {
    let codes = tensor.numbers().unwrap().map(|number| {
        if let Number::Int(code) = number {
            u64::try_from(code).unwrap()
        } else {
            panic!("codes are integers")
        }
    });
    codes.collect()
}

fn is_nan(dtype: DType, code: u64) -> bool {
    matches!(convert::number(dtype, code), Number::Float(x) if x.is_nan())
}

#[test]
#[ignore = "needs GRADUS_CONFORMANCE, which `cargo xtask conformance` sets"]
fn codes_have_the_values_that_ml_dtypes_gives_them() {
    let root = cases("casts");
    for file in folders(&root.join("decode")) {
        let dtype: DType = file.file_stem().unwrap().to_str().unwrap().parse().unwrap();
        let values = array(&file);
        assert_eq!(values.len(), 1 << dtype.bits(), "{dtype}");
        for (code, want) in (0..).zip(values.elements::<f64>().unwrap().iter()) {
            match convert::number(dtype, code) {
                Number::Float(x) if x.is_nan() => assert!(want.is_nan(), "{dtype} {code:#x} is {want}"),
                Number::Float(x) => assert_eq!(x.to_bits(), want.to_bits(), "{dtype} {code:#x}"),
                number => assert_eq!(convert::nearest_f64(number), *want, "{dtype} {code:#x}"),
            }
        }
    }
}

/// Where our conversion differs from the packages', on purpose: type, rules, numbers, reason.
type Deviation = (DType, &'static str, fn(f32) -> bool, &'static str);

const DEVIATIONS: &[Deviation] = &[
    (
        DType::F8E8M0,
        "any",
        |x| x < 0.0,
        "negative numbers are undefined; onnx takes the magnitude, we give NaN",
    ),
    (DType::F8E8M0, "any", |x| x == f32::INFINITY, "the text's table says the largest; onnx gives NaN"),
    (
        DType::F8E8M0,
        "any",
        |x| x > 0.0 && x < f32::MIN_POSITIVE,
        "onnx reads only the exponent, and rounds subnormals as if it were 0",
    ),
    (
        DType::F8E8M0,
        "nearest",
        |x| (x.to_bits() & 0x7f_ffff) == 0x40_0000,
        "ties go up by the text; so do onnx's, but for the least exponent",
    ),
    (DType::F8E8M0, "any", |x| x > 1.701_411_8e38, "onnx does not saturate before it rounds"),
];

#[test]
#[ignore = "needs GRADUS_CONFORMANCE, which `cargo xtask conformance` sets"]
fn numbers_are_rounded_as_ml_dtypes_and_onnx_round_them() {
    let root = cases("casts");
    let root = root.join("encode");
    let (numbers, small) = (array(&root.join("numbers.npy")), array(&root.join("small_numbers.npy")));
    for file in folders(&root) {
        let file_name = name(&file);
        let Some((stem, rules)) = file_name.strip_suffix(".npy").and_then(|stem| stem.rsplit_once('.'))
        else {
            continue;
        };
        let dtype: DType = stem.parse().unwrap();
        let mut chosen = Rules::IEEE;
        match rules {
            "special" => {}
            "saturate" => chosen.overflow = Rules::SATURATING.overflow,
            mode => {
                chosen = Rules::SATURATING;
                chosen.scale_rounding = match mode {
                    "up" => ScaleRounding::Up,
                    "down" => ScaleRounding::Down,
                    _ => ScaleRounding::Nearest,
                };
            }
        }
        let inputs = if dtype.is_integer() { &small } else { &numbers };
        let inputs = inputs.elements::<f32>().unwrap();
        let wanted = codes(&array(&file));
        assert_eq!(inputs.len(), wanted.len(), "{file_name}");
        for (&x, want) in inputs.iter().zip(wanted) {
            let mask = (1 << dtype.bits()) - 1;
            let got = convert::code(dtype, Number::Float(x.into()), chosen);
            let equal = got == want & mask || (is_nan(dtype, got) && is_nan(dtype, want));
            let deviates = DEVIATIONS
                .iter()
                .any(|(of, by, numbers, _)| *of == dtype && (*by == rules || *by == "any") && numbers(x));
            assert!(equal || deviates, "{dtype} {rules} {x:e}: {got:#x} instead of {want:#x}");
        }
    }
}
