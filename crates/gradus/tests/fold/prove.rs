//! Proofs: what is proved holds in runs, and no fault that runs show is proved away.

use std::collections::{BTreeMap, HashMap};

use fastrand::Rng;
use gradus::conversion::ConvertOptions;
use gradus::fold::FoldOptions;
use gradus::graph::{self, Attribute, Builder, Content, Graph, Node, OperatorId, Origin, Slots, Standard};
use gradus::prove::{Proof, ProveOptions, UpTo, Verdict};
use gradus::{DType, Model, Number, Rules, Shape, Tensor, Value};

use crate::common::random;
use crate::common::sketch::Sketch;

/// A graph with a node that is changed, or a constant.
fn rebuilt(
    graph: &Graph,
    mut node: impl FnMut(usize, &mut Node, &mut Vec<String>, &mut Builder),
    constant: impl Fn(&str, &Tensor) -> Tensor,
) -> Option<Graph> {
    let mut builder = Builder::new("changed");
    let key = |id: graph::ValueId| graph.value(id).name.to_string();
    for &input in graph.inputs() {
        let id = builder.define(&key(input), Origin::Input).ok()?;
        builder.info(id).declared.clone_from(&graph.value(input).declared);
    }
    for (id, stored) in graph.constants() {
        let tensor = constant(&key(*id), &stored.tensor().ok()?);
        builder.constant(&key(*id), tensor.into()).ok()?;
    }
    for (index, own) in graph.nodes().iter().enumerate() {
        let mut inputs: Vec<_> = own.inputs.iter().map(|id| id.map_or_else(String::new, key)).collect();
        let outputs: Vec<_> = own.outputs.iter().map(|id| id.map_or_else(String::new, key)).collect();
        let mut changed = Node { inputs: Slots::new(), outputs: Slots::new(), position: None, ..own.clone() };
        node(index, &mut changed, &mut inputs, &mut builder);
        changed.inputs = inputs.iter().map(|key| (!key.is_empty()).then(|| builder.reference(key))).collect();
        let outputs: Vec<_> = outputs.iter().map(|key| &**key).collect();
        builder.push(changed, &outputs).ok()?;
    }
    for &output in graph.outputs() {
        let id = builder.output(&key(output));
        builder.info(id).declared.clone_from(&graph.value(output).declared);
    }
    builder.finish().ok()
}

fn changed_attribute(rng: &mut Rng, attribute: &mut Attribute) {
    match &mut attribute.content {
        Content::Int(value) => *value = if *value == 0 { 1 } else { value.saturating_add(rng.i64(-1..=1)) },
        Content::Float(value) => *value = value.mul_add(2.0, 1.0),
        Content::Ints(all) if !all.is_empty() => {
            let mut own = all.to_vec();
            let (i, j) = (rng.usize(0..own.len()), rng.usize(0..own.len()));
            if i == j {
                own[i] += 1;
            } else {
                own.swap(i, j);
            }
            *all = own.into();
        }
        Content::Tensor(constant) => {
            if let Ok(tensor) = constant.tensor() {
                *constant = flipped(rng, &tensor).into();
            }
        }
        _ => {}
    }
}

/// A tensor with a bit that is another.
fn flipped(rng: &mut Rng, tensor: &Tensor) -> Tensor {
    let Some(bytes) = tensor.bytes().filter(|bytes| !bytes.is_empty()) else { return tensor.clone() };
    let mut bytes = bytes.to_vec();
    let at = rng.usize(0..bytes.len());
    bytes[at] ^= 1 << rng.usize(0..if tensor.dtype() == DType::Bool { 1 } else { 8 });
    Tensor::from_bytes(tensor.dtype(), tensor.shape().clone(), bytes.into())
        .unwrap_or_else(|_| tensor.clone())
}

/// The kinds of faults.
const FAULTS: [&str; 6] = ["constant", "attribute", "operands", "condition", "operator", "dropped"];

/// A graph with one fault, and its kind.
fn faulty(rng: &mut Rng, graph: &Graph) -> Option<(Graph, &'static str)> {
    if rng.u8(0..4) == 0 && !graph.constants().is_empty() {
        let number = rng.usize(0..graph.constants().len());
        let name = graph.value(graph.constants()[number].0).name.to_string();
        let seed = rng.u64(..);
        let change = |key: &str, tensor: &Tensor| {
            if key == name { flipped(&mut Rng::with_seed(seed), tensor) } else { tensor.clone() }
        };
        return Some((rebuilt(graph, |_, _, _, _| {}, change)?, "constant"));
    }
    let wanted = rng.usize(0..graph.nodes().len().max(1));
    let kind = rng.u8(0..5);
    let mut found = None;
    let change = |index: usize, node: &mut Node, inputs: &mut Vec<String>, builder: &mut Builder| {
        if index != wanted {
            return;
        }
        match kind {
            0 if !node.attributes.is_empty() => {
                found = Some("attribute");
                let at = rng.usize(0..node.attributes.len());
                changed_attribute(rng, &mut node.attributes[at]);
            }
            1 if inputs.len() > 1 => {
                found = Some("operands");
                let i = rng.usize(1..inputs.len());
                inputs.swap(i - 1, i);
            }
            2 if matches!(&*node.operator.name, "If" | "Where" | "And" | "Or" | "Not") => {
                found = Some("condition");
                let _ = builder.apply("negation", "Not", 20, &[inputs[0].as_str()], &["negated"], vec![]);
                "negated".clone_into(&mut inputs[0]);
            }
            3 | 4 => {
                let other = match &*node.operator.name {
                    _ if kind == 3 => "Identity",
                    "Add" => "Sub",
                    "Sub" | "Mul" => "Add",
                    "Min" => "Max",
                    "ReduceMax" => "ReduceMin",
                    "ReduceSum" => "ReduceProd",
                    "Less" => "LessOrEqual",
                    "Greater" => "GreaterOrEqual",
                    "Floor" => "Ceil",
                    _ => "Identity",
                };
                found = Some("operator");
                if other == "Identity" {
                    found = Some("dropped");
                    node.attributes.clear();
                    inputs.truncate(1);
                }
                node.operator = OperatorId { name: other.into(), ..node.operator.clone() };
            }
            // The node has no such fault.
            _ => {}
        }
    };
    let graph = rebuilt(graph, change, |_, tensor| tensor.clone())?;
    Some((graph, found?))
}

fn outputs(model: &Model, inputs: &HashMap<String, Value>) -> Option<Vec<(String, Value)>> {
    let given = inputs.iter().map(|(name, value)| (name.as_str(), value.clone()));
    let outputs = model.run(given).ok()?;
    Some(outputs.iter().map(|(name, value)| (name.to_string(), value.clone())).collect())
}

/// Returns true if two runs show other types, shapes or bits; all NaNs are the same.
fn differ(a: &[(String, Value)], b: &[(String, Value)]) -> bool {
    let differs = |a: &Value, b: &Value| {
        let (Value::Tensor(a), Value::Tensor(b)) = (a, b) else { return false };
        if a.dtype() != b.dtype() || a.shape() != b.shape() {
            return true;
        }
        let (Ok(x), Ok(y)) = (a.numbers(), b.numbers()) else { return false };
        x.zip(y).any(|(x, y)| match (x, y) {
            (Number::Float(x), Number::Float(y)) => x.to_bits() != y.to_bits() && !(x.is_nan() && y.is_nan()),
            (x, y) => x != y,
        })
    };
    a.iter().any(|(name, value)| {
        b.iter().find(|(other, _)| other == name).is_none_or(|(_, other)| differs(value, other))
    })
}

fn proof(first: &Model, second: &Model) -> Option<Proof> {
    let mut options = ProveOptions::default();
    options.time = std::time::Duration::ZERO;
    first.prove(second, &options).unwrap().proof
}

/// Counts of seeded faults: of all, of those that a run shows, and of those with a witness.
#[derive(Debug, Default)]
struct Seeded {
    graphs: usize,
    proved: usize,
    faults: usize,
    witnesses: usize,
    harmless: usize,
    /// Faults of each kind, and those of them with a witness.
    kinds: BTreeMap<&'static str, [usize; 2]>,
}

/// Seeds faults into random graphs that are folded, or written for an older operator set, until
/// `wanted` of them are confirmed by a run.
fn seeded(wanted: usize, time: std::time::Duration) -> Seeded {
    let mut rng = Rng::with_seed(50);
    let mut all = Seeded::default();
    for seed in 0.. {
        if all.faults >= wanted {
            break;
        }
        let (model, inputs) = random::graph(seed);
        let after = if seed % 3 == 2 {
            let mut older = ConvertOptions::default();
            older.opset = Some(18);
            model.convert(Standard::Onnx, &older).ok().map(|converted| converted.model)
        } else {
            let folded = model.fold(&FoldOptions::default()).ok();
            folded.map(|folded| Model::from_source(folded.model))
        };
        let Some(after) = after else { continue };
        let Some(before) = outputs(&model, &inputs) else { continue };
        all.graphs += 1;
        all.proved += usize::from(proof(&model, &after).is_some_and(|proof| proof.is_complete()));
        for _ in 0..12 {
            let Some((graph, kind)) = faulty(&mut rng, after.graph()) else { continue };
            let faulty = Model::from_source(after.source().with_graph(graph));
            let Some(found) = outputs(&faulty, &inputs) else { continue };
            let differs = differ(&before, &found);
            let mut options = ProveOptions::default();
            options.time = if differs { time } else { std::time::Duration::ZERO };
            let answer = model.prove(&faulty, &options).unwrap();
            let verdict = answer.verdict;
            let complete = matches!(verdict, Verdict::Equivalent);
            assert!(!(differs && complete), "seed {seed}: proved, though a run differs");
            let is_shown = differs && matches!(verdict, Verdict::Different(_));
            if differs && !time.is_zero() && !is_shown {
                let (runs, reason) = (answer.runs, answer.reason);
                eprintln!("seed {seed}: no witness of a fault of {kind} in {runs} runs: {reason:?}");
            }
            all.faults += usize::from(differs);
            all.harmless += usize::from(complete);
            all.witnesses += usize::from(is_shown);
            let of_kind = all.kinds.entry(kind).or_default();
            of_kind[0] += usize::from(differs);
            of_kind[1] += usize::from(is_shown);
        }
    }
    eprintln!("{all:?}");
    all
}

#[test]
#[ignore = "looks for witnesses of a thousand faults, which takes minutes"]
fn a_thousand_faults_have_witnesses() {
    let all = seeded(1000, std::time::Duration::from_secs(2));
    assert!(all.witnesses * 100 >= all.faults * 95, "{all:?}");
}

#[test]
fn no_fault_that_a_run_shows_is_proved_away() {
    let all = seeded(100, std::time::Duration::ZERO);
    assert!(FAULTS.iter().all(|kind| all.kinds.contains_key(kind)), "{all:?}");
    assert!(all.proved * 10 > all.graphs * 8, "{all:?}");
}

#[test]
fn differences_have_a_witness() {
    let model = Model::open("../../examples/heads.onnx").unwrap();
    let graph = rebuilt(
        model.graph(),
        |_, node, inputs, _| {
            if &*node.operator.name == "Transpose" {
                node.operator.name = "Identity".into();
                node.attributes.clear();
                inputs.truncate(1);
            }
        },
        |_, tensor| tensor.clone(),
    );
    let other = Model::from_source(model.source().with_graph(graph.unwrap()));
    let proved = model.prove(&other, &ProveOptions::default()).unwrap();
    assert!(!matches!(proved.verdict, Verdict::Equivalent));
}

/// Each number of float16, NaN, infinities and -0 among them.
fn all_numbers() -> Tensor {
    let bytes: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
    Tensor::from_bytes(DType::F16, Shape::new([256, 256]).unwrap(), bytes.into()).unwrap()
}

fn scalar(value: f64) -> Tensor {
    of_type(DType::F16, value)
}

fn of_type(dtype: DType, value: f64) -> Tensor {
    Tensor::from_numbers(dtype, Shape::new([]).unwrap(), [Number::Float(value)], Rules::IEEE).unwrap()
}

fn int(name: &'static str, value: i64) -> (&'static str, Content) {
    (name, Content::Int(value))
}

/// Operators that are applied one after the other, each with its other input and attributes.
type Chain = Vec<(&'static str, Option<Tensor>, Vec<(&'static str, Content)>)>;

fn chain(nodes: &Chain, dtype: DType) -> Model {
    let mut sketch = Sketch::new().input("x", DType::F16, &["256", "256"]);
    let mut last = "x".to_owned();
    for (index, (operator, other, attributes)) in nodes.iter().enumerate() {
        let name = if index + 1 == nodes.len() { "y".to_owned() } else { format!("v{index}") };
        let constant = format!("c{index}");
        let mut inputs = vec![&*last];
        if let Some(tensor) = other {
            sketch = sketch.constant(&constant, tensor.clone());
            inputs.push(&constant);
        }
        sketch = sketch.with(operator, &inputs, &[name.as_str()], attributes.clone());
        last = name;
    }
    sketch.output("y", dtype, &["", ""]).model()
}

/// Laws on all numbers of float16: what is proved is what a run shows, and near misses are not
/// proved.
#[test]
fn laws_hold_for_every_number_of_16_bits() {
    let plain = |name| (name, None, vec![]);
    let by = |name, value| (name, Some(scalar(value)), vec![]);
    let to = |number| ("Cast", None, vec![int("to", number)]);
    let order = |all: &[i64]| ("Transpose", None, vec![("perm", Content::Ints(all.into()))]);
    let view = |all: &[i64]| ("Reshape", Some(Tensor::vector(all)), vec![]);
    let x = || vec![plain("Identity")];
    let pairs: Vec<(Chain, Chain, bool)> = vec![
        (vec![plain("Neg"), plain("Neg")], x(), true),
        (vec![by("Mul", 1.0)], x(), true),
        (vec![by("Div", 1.0)], x(), true),
        (vec![by("Pow", 1.0)], x(), true),
        (vec![plain("Reciprocal"), plain("Reciprocal")], x(), false),
        (vec![by("Sub", 0.0)], x(), true),
        (vec![by("Add", -0.0)], x(), true),
        (vec![by("Add", 0.0)], x(), false),
        (vec![by("Sub", -0.0)], x(), false),
        (vec![by("Mul", -1.0)], x(), false),
        (vec![to(1), to(10)], x(), true),
        (vec![to(16), to(10)], x(), false),
        (vec![plain("Abs"), plain("Abs")], vec![plain("Abs")], true),
        (vec![plain("Ceil"), plain("Ceil")], vec![plain("Ceil")], true),
        (vec![plain("Floor"), plain("Floor")], vec![plain("Floor")], true),
        (vec![plain("Relu"), plain("Relu")], vec![plain("Relu")], true),
        (vec![plain("Round"), plain("Round")], vec![plain("Round")], true),
        (vec![plain("Sign"), plain("Sign")], vec![plain("Sign")], true),
        (vec![plain("Floor"), plain("Ceil")], vec![plain("Ceil")], false),
        (vec![order(&[1, 0]), plain("Relu"), order(&[1, 0])], vec![plain("Relu")], true),
        (vec![order(&[1, 0]), plain("Relu")], vec![plain("Relu")], false),
        (vec![view(&[512, 128]), plain("Neg"), view(&[256, 256])], vec![plain("Neg")], true),
        (vec![view(&[16, 16, 256]), order(&[1, 0, 2]), order(&[1, 0, 2]), view(&[256, 256])], x(), true),
        (vec![view(&[16, 16, 256]), order(&[1, 0, 2]), view(&[256, 256])], x(), false),
        (vec![order(&[1, 0]), by("Add", 2.0), order(&[1, 0])], vec![by("Add", 2.0)], true),
        (vec![by("Add", 0.0), plain("Sqrt")], vec![plain("Sqrt")], false),
    ];
    let input = HashMap::from([("x".to_owned(), Value::from(all_numbers()))]);
    for (number, (first, second, same)) in pairs.into_iter().enumerate() {
        let (first, second) = (chain(&first, DType::F16), chain(&second, DType::F16));
        let differs = differ(&outputs(&first, &input).unwrap(), &outputs(&second, &input).unwrap());
        let proved = proof(&first, &second).is_some_and(|proof| proof.is_complete());
        assert_eq!(differs, !same, "pair {number}");
        assert_eq!(proved, same, "pair {number}");
    }
}

/// The graph of each side, after its inputs and before its output, and whether both are the same.
const PAIRS: &[(&str, &str, &str, bool)] = &[
    ("x: float32[n, n]", "t = Transpose(x); y = Add(x, t)", "y = Add(x, x)", false),
    ("x: float32[n, m]", "y = Softmax(x, axis=-1)", "y = Softmax(x, axis=1)", true),
    ("x: float32[n, m]", "y = Softmax(x, axis=-1)", "y = Softmax(x, axis=0)", false),
    ("x: float32[n, m]; a: float32[m]", "y = Add(x, a)", "y = Add(a, x)", true),
    ("x: float32[n, m]; a: float32[n, m]", "y = Sub(x, a)", "y = Sub(a, x)", false),
    (
        "x: float32[n]; a: float32[n]; b: float32[n]",
        "t = Add(x, a); y = Add(t, b)",
        "t = Add(a, b); y = Add(x, t)",
        false,
    ),
    (
        "x: float32[a, b, c]",
        "t = Transpose(x, perm=[1, 2, 0]); y = Transpose(t, perm=[1, 2, 0])",
        "y = Transpose(x, perm=[2, 0, 1])",
        true,
    ),
    (
        "x: float32[a, b, c]",
        "t = Transpose(x, perm=[1, 2, 0]); y = Transpose(t, perm=[1, 2, 0])",
        "y = Transpose(x, perm=[1, 2, 0])",
        false,
    ),
    ("x: float32[3, 3]", "y = Transpose(x)", "y = Identity(x)", false),
    ("x: float32[1, 3]", "s = [3, 1]; y = Reshape(x, s)", "y = Transpose(x)", true),
    ("x: float32[2, 3]", "s = [3, 2]; y = Reshape(x, s)", "y = Transpose(x)", false),
    ("x: float32[a, b, c]", "y = Flatten(x, axis=1)", "s = [0, -1]; y = Reshape(x, s)", true),
    ("x: float32[a, b, c]", "y = Flatten(x, axis=2)", "s = [0, -1]; y = Reshape(x, s)", false),
    ("x: float32[n, m]", "a = [0]; y = ReduceSum(x, a)", "a = [1]; y = ReduceSum(x, a)", false),
    ("x: float32[n]; z: float32[k]", "y = Concat(x, z, axis=0)", "y = Concat(z, x, axis=0)", false),
    ("x: float32[n, m]", "y = Size(x)", "s = Shape(x); y = ReduceProd(s, keepdims=0)", true),
    ("x: float32[n, m]", "y = Shape(x)", "t = Transpose(x); y = Shape(t)", false),
    ("x: int64[n]", "t = Cast(x, to=6); y = Cast(t, to=7)", "y = Identity(x)", false),
    ("x: int64[n]", "t = Cast(x, to=11); y = Cast(t, to=7)", "y = Identity(x)", false),
    ("x: float32[n, m]", "y = RandomNormalLike(x)", "y = RandomNormalLike(x)", false),
    ("x: float32[n, m]; c: bool[n, m]", "y = Where(c, x, x)", "d = Not(c); y = Where(d, x, x)", true),
    (
        "x: float32[n, m]; z: float32[n, m]; c: bool[n, m]",
        "y = Where(c, x, z)",
        "d = Not(c); y = Where(d, x, z)",
        false,
    ),
    ("x: float32[3, 2]", "i = [-1]; y = Gather(x, i)", "i = [2]; y = Gather(x, i)", true),
    ("x: float32[3, 2]", "i = [0, 1]; y = Gather(x, i)", "i = [1, 0]; y = Gather(x, i)", false),
    ("x: float32[n]", "y = ArgMax(x)", "y = ArgMax(x, select_last_index=1)", false),
];

/// A model of the inputs and nodes that a text has, whose output is y.
fn written(text: &str) -> Model {
    let mut sketch = Sketch::of(text);
    sketch.0.output("y");
    sketch.model()
}

#[test]
fn reciprocals_are_quotients_for_every_number_of_16_bits() {
    let first = written("x: float16[256, 256]; y = Reciprocal(x)");
    let second = written(
        "x: float16[256, 256]; o = Shape(x); d = Div(o, o); c = ReduceMin(d, keepdims=0); e = Cast(c, to=10); y = Div(e, x)",
    );
    let input = HashMap::from([("x".to_owned(), Value::from(all_numbers()))]);
    assert!(!differ(&outputs(&first, &input).unwrap(), &outputs(&second, &input).unwrap()));
    assert!(proof(&first, &second).is_some_and(|proof| proof.is_complete()));
}

/// Operators that move, choose and reduce all numbers of float16, and whether both are the same.
const MOVES: &[(&str, &str, bool)] = &[
    ("a = [1]; y = ReduceMax(x, a, keepdims=0)", "a = [-1]; t = ReduceMax(x, a); y = Squeeze(t, a)", true),
    ("a = [1]; y = ReduceMin(x, a, keepdims=0)", "a = [-1]; t = ReduceMin(x, a); y = Squeeze(t, a)", true),
    ("a = [0, 1]; y = ReduceSum(x, a)", "y = ReduceSum(x)", true),
    ("a = [-1, 0]; y = ReduceL1(x, a)", "a = [0, 1]; y = ReduceL1(x, a)", true),
    ("a = [0]; y = ReduceMax(x, a)", "a = [1]; t = ReduceMax(x, a); y = Transpose(t)", false),
    ("a = [1]; y = ReduceMax(x, a)", "a = [1]; y = ReduceMin(x, a)", false),
    ("a = [1]; t = Unsqueeze(x, a); y = ReduceMax(t, a, keepdims=0)", "y = Identity(x)", true),
    ("a = [1]; t = Unsqueeze(x, a); y = ReduceProd(t, a, keepdims=0)", "y = Identity(x)", true),
    ("a = [1]; t = Unsqueeze(x, a); y = ReduceL1(t, a, keepdims=0)", "y = Identity(x)", false),
    ("s = [100, 156]; a, b = Split(x, s); y = Concat(a, b, axis=0)", "y = Identity(x)", true),
    ("s = [100, 156]; a, b = Split(x, s); y = Concat(b, a, axis=0)", "y = Identity(x)", false),
    (
        "s = [128, 128]; a, b = Split(x, s); y = Concat(a, b, axis=1)",
        "s = [128, 512]; y = Reshape(x, s)",
        false,
    ),
    (
        "n = Neg(x); c = Concat(x, n, axis=0); d = Concat(c, x, axis=0); y = Relu(d)",
        "n = Neg(x); d = Concat(x, n, x, axis=0); y = Relu(d)",
        true,
    ),
    (
        "n = Neg(x); c = Concat(x, n, axis=0); f = [256]; t = [512]; a = [0]; y = Slice(c, f, t, a)",
        "y = Neg(x)",
        true,
    ),
    (
        "n = Neg(x); c = Concat(x, n, axis=0); f = [255]; t = [511]; a = [0]; y = Slice(c, f, t, a)",
        "y = Neg(x)",
        false,
    ),
    ("i = [3, 4, 5]; y = Gather(x, i)", "f = [3]; t = [6]; a = [0]; y = Slice(x, f, t, a)", true),
    (
        "i = [3, 5, 7]; y = Gather(x, i, axis=-1)",
        "f = [3]; t = [8]; a = [1]; s = [2]; y = Slice(x, f, t, a, s)",
        true,
    ),
    ("i = [5, 4, 3]; y = Gather(x, i)", "f = [3]; t = [6]; a = [0]; y = Slice(x, f, t, a)", false),
    ("i = [3, 4, 6]; y = Gather(x, i)", "f = [3]; t = [6]; a = [0]; y = Slice(x, f, t, a)", false),
    ("i = [-1]; y = Gather(x, i)", "f = [255]; t = [256]; a = [0]; y = Slice(x, f, t, a)", true),
    ("y = Cast(x, to=9)", "e = Equal(x, zero); y = Not(e)", true),
    ("y = Cast(x, to=9)", "e = Equal(x, one); y = Not(e)", false),
    (
        "k = 3; y = Trilu(x, k)",
        "z = 0; o = 1; n = 256; k = 3; r = Range(z, n, o); a = [1]; q = Unsqueeze(r, a); d = Sub(r, q); c = GreaterOrEqual(d, k); y = Where(c, x, zero)",
        true,
    ),
    (
        "y = Trilu(x, upper=0)",
        "z = 0; o = 1; n = 256; r = Range(z, n, o); a = [1]; q = Unsqueeze(r, a); d = Sub(r, q); c = LessOrEqual(d, z); y = Where(c, x, zero)",
        true,
    ),
    (
        "y = Trilu(x)",
        "z = 0; o = 1; n = 256; r = Range(z, n, o); a = [1]; q = Unsqueeze(r, a); d = Sub(r, q); c = Greater(d, z); y = Where(c, x, zero)",
        false,
    ),
];

#[test]
fn laws_of_moves_and_reductions_hold_for_every_number_of_16_bits() {
    let bytes: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
    for (dtype, text) in [(DType::F16, "float16"), (DType::BF16, "bfloat16")] {
        let shape = Shape::new([256, 256]).unwrap();
        let numbers = Tensor::from_bytes(dtype, shape, bytes.clone().into()).unwrap();
        let input = HashMap::from([("x".to_owned(), Value::from(numbers))]);
        for (first, second, same) in MOVES {
            let model = |nodes: &str| {
                let mut sketch = Sketch::of(&format!("x: {text}[256, 256]"));
                for (name, value) in [("zero", 0.0), ("one", 1.0)] {
                    sketch = sketch.constant(name, of_type(dtype, value));
                }
                sketch = sketch.text(nodes);
                sketch.0.output("y");
                sketch.model()
            };
            let (first, second) = (model(first), model(second));
            let runs = outputs(&first, &input).zip(outputs(&second, &input));
            let (a, b) = runs.unwrap_or_else(|| panic!("{first:?} or {second:?} does not run"));
            assert_eq!(!differ(&a, &b), *same, "{text}: runs of {:?}", second.graph().nodes());
            let proved = proof(&first, &second).is_some_and(|proof| proof.is_complete());
            assert_eq!(proved, *same, "{text}: proof of {:?}", second.graph().nodes());
        }
    }
}

/// Inputs, both graphs, and what their outputs are the same up to; nothing if they are not.
const LEVELS: &[(&str, &str, &str, Option<UpTo>)] = &[
    (
        "x: float32[n]; a: float32[n]; b: float32[n]",
        "t = Add(x, a); y = Add(t, b)",
        "t = Add(a, b); y = Add(x, t)",
        Some(UpTo::Order),
    ),
    (
        "x: float32[n]; a: float32[n]; b: float32[n]",
        "t = Add(x, a); y = Add(t, b)",
        "t = Add(a, b); y = Add(a, t)",
        None,
    ),
    (
        "x: float32[n, 8]; w: float32[8, 4]; b: float32[4]",
        "y = Gemm(x, w, b)",
        "t = MatMul(x, w); y = Add(b, t)",
        Some(UpTo::Order),
    ),
    (
        "x: float32[n, 8]; w: float32[8, 4]; b: float32[4]",
        "y = Gemm(x, w, b, alpha=2.0)",
        "t = MatMul(x, w); y = Add(b, t)",
        None,
    ),
    (
        "x: float32[4, n]; w: float32[8, 4]",
        "y = Gemm(x, w, transA=1, transB=1)",
        "s = Transpose(x); v = Transpose(w); y = MatMul(s, v)",
        Some(UpTo::Order),
    ),
    (
        "x: float32[n, 3, h, h]; w: float32[4, 3, 3, 3]; b: float32[4]",
        "y = Conv(x, w, b)",
        "s = [4, 1, 1]; t = Conv(x, w, kernel_shape=[3, 3], pads=[0, 0, 0, 0]); c = Reshape(b, s); y = Add(t, c)",
        Some(UpTo::Order),
    ),
    (
        "x: float32[n, 3, h, h]; w: float32[4, 3, 3, 3]; b: float32[4]",
        "y = Conv(x, w, b)",
        "s = [4, 1, 1]; t = Conv(x, w, pads=[1, 1, 1, 1]); c = Reshape(b, s); y = Add(t, c)",
        None,
    ),
    (
        "x: float32[n, 8]; w: float32[8]; b: float32[8]",
        "y = LayerNormalization(x, w, b, epsilon=0.5)",
        "a = [-1]; e = 0.5; p = 2.0; m = ReduceMean(x, a); d = Sub(x, m); q = Pow(d, p); v = ReduceMean(q, a); u = Add(v, e); r = Sqrt(u); i = Reciprocal(r); t = Mul(d, i); s = Mul(w, t); y = Add(b, s)",
        Some(UpTo::Rounding),
    ),
    (
        "x: float32[n, 8]; w: float32[8]; b: float32[8]",
        "y = LayerNormalization(x, w, b, epsilon=0.5)",
        "a = [-1]; e = 0.25; p = 2.0; m = ReduceMean(x, a); d = Sub(x, m); q = Pow(d, p); v = ReduceMean(q, a); u = Add(v, e); r = Sqrt(u); i = Reciprocal(r); t = Mul(d, i); s = Mul(w, t); y = Add(b, s)",
        None,
    ),
    (
        "x: float32[n]; a: float32[n]; b: float32[n]",
        "t = Mul(x, a); y = Div(t, b)",
        "t = Div(a, b); y = Mul(t, x)",
        Some(UpTo::Rounding),
    ),
    (
        "x: float32[n]; a: float32[n]; b: float32[n]",
        "t = Mul(x, a); y = Div(t, b)",
        "t = Div(b, a); y = Mul(t, x)",
        None,
    ),
    (
        "x: float32[n, 8]; w: float32[8, 4]",
        "c = 0.125; q = Mul(x, c); y = MatMul(q, w)",
        "c = 8.0; t = MatMul(x, w); y = Div(t, c)",
        Some(UpTo::Rounding),
    ),
    (
        "x: float32[n, 8]; w: float32[8, 4]",
        "c = 0.125; q = Mul(x, c); y = MatMul(q, w)",
        "c = 4.0; t = MatMul(x, w); y = Div(t, c)",
        None,
    ),
    ("x: float32[n]; a: float32[n]", "t = Sub(x, a); y = Neg(t)", "y = Sub(a, x)", Some(UpTo::Rounding)),
    ("x: float32[n]; a: float32[n]", "t = Sub(x, a); y = Neg(t)", "y = Sub(x, a)", None),
    ("x: float32[n]", "t = Cast(x, to=10); y = Cast(t, to=1)", "y = Identity(x)", Some(UpTo::Rounding)),
    ("x: float32[n]", "y = Cast(x, to=10)", "y = Identity(x)", None),
    ("x: float32[n]", "t = Cast(x, to=10); y = Cast(t, to=8)", "y = Cast(x, to=8)", None),
    (
        "x: float32[n]",
        "t = Cast(x, to=10); y = BitCast(t, to=5)",
        "t = Cast(x, to=16); y = BitCast(t, to=5)",
        None,
    ),
    ("x: float32[n]", "c = 0.1; y = Mul(x, c)", "c = 10.0; y = Div(x, c)", None),
    ("x: int32[n]; a: int32[n]", "t = Div(x, a); y = Mul(t, a)", "y = Identity(x)", None),
];

/// Each pair is proved up to what it says, and up to no less; runs differ by as little.
#[test]
fn sums_and_real_numbers_have_laws_of_their_own() {
    for (inputs, first, second, least) in LEVELS {
        let model = |nodes: &str| written(&format!("{inputs}; {nodes}"));
        let (first_model, second_model) = (model(first), model(second));
        for up_to in UpTo::ALL {
            let mut options = ProveOptions::default();
            (options.up_to, options.certificate) = (up_to, true);
            options.time = std::time::Duration::ZERO;
            let proof = first_model.prove(&second_model, &options).unwrap().proof.unwrap();
            let wanted = least.is_some_and(|least| least <= up_to);
            assert_eq!(proof.is_complete(), wanted, "{first} and {second} up to {up_to:?}");
            if !wanted {
                continue;
            }
            assert_eq!(Some(proof.up_to), *least, "{first} and {second}");
            let steps = proof.certificate.unwrap();
            let replayed = gradus::prove::verify(&first_model, &second_model, &steps, &options).unwrap();
            assert_eq!((replayed.is_complete(), replayed.up_to), (true, proof.up_to));
            for other in UpTo::ALL.into_iter().filter(|other| *other != up_to) {
                options.up_to = other;
                let answer = gradus::prove::verify(&first_model, &second_model, &steps, &options);
                assert!(answer.is_err(), "{first} and {second}: {other:?} for {up_to:?}");
            }
        }
        let mut options = ProveOptions::default();
        (options.up_to, options.time) = (UpTo::Rounding, std::time::Duration::from_secs(2));
        let verdict = first_model.prove(&second_model, &options).unwrap().verdict;
        assert!(!(least.is_some() && matches!(verdict, Verdict::Different(_))), "{first} and {second}");
    }
}

/// Conditions that no input meets together, though it meets each.
#[test]
fn contradictions_of_several_expressions_prove_nothing() {
    let first = written("x: int64[n]; r = [-1, 2]; u = Reshape(x, r); y = ReduceSum(u)");
    let second = written(
        "x: int64[n]; o = [1]; c = Concat(x, o, axis=0); r = [-1, 2]; u = Reshape(c, r); y = ReduceSum(u)",
    );
    let proof = proof(&first, &second).unwrap();
    assert!(proof.vacuous.is_some(), "{:?} {:?}", proof.conditions, proof.assumptions);
}

/// Sizes that no input of both models has prove nothing.
#[test]
fn models_without_a_common_input_are_not_equivalent() {
    let model = |nodes: &str| written(&format!("x: float32[n]; {nodes}; y = Neg(w)"));
    let eight = "k = [7]; i = Gather(x, k); w = Mul(x, i)";
    let four = "s = [2, 2]; r = [-1]; u = Reshape(x, s); w = Reshape(u, r)";
    let ten = "s = [5, 2]; r = [-1]; u = Reshape(x, s); w = Reshape(u, r)";
    for (first, second, vacuous) in
        [(eight, four, true), (four, ten, true), (eight, ten, false), (four, four, false)]
    {
        let proof = proof(&model(first), &model(second)).unwrap();
        assert_eq!(proof.vacuous.is_some(), vacuous, "{first} and {second}: {:?}", proof.conditions);
        assert!(!(vacuous && proof.is_complete()));
    }
}

#[test]
fn models_of_another_standard_are_proved() {
    let model = Model::open("../../examples/heads.onnx").unwrap();
    let converted = model.convert(Standard::OpenVino, &ConvertOptions::default()).unwrap().model;
    let mut options = ProveOptions::default();
    options.certificate = true;
    for (first, second) in [(&model, &converted), (&converted, &model)] {
        let proved = first.prove(second, &options).unwrap();
        assert!(matches!(proved.verdict, Verdict::Equivalent), "{:?}", proved.reason);
        let steps = proved.proof.and_then(|proof| proof.certificate).unwrap();
        assert!(gradus::prove::verify(first, second, &steps, &options).unwrap().is_complete());
    }
}

#[test]
fn pairs_are_proved_where_they_are_the_same() {
    for (inputs, first, second, same) in PAIRS {
        let model = |nodes: &str| written(&format!("{inputs}; {nodes}"));
        let proved = proof(&model(first), &model(second)).is_some_and(|proof| proof.is_complete());
        assert_eq!(proved, *same, "{first} and {second}");
    }
}
