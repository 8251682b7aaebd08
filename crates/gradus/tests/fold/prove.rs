//! Proofs: what is proved holds in runs, and no fault that runs show is proved away.

use std::collections::HashMap;

use fastrand::Rng;
use gradus::conversion::ConvertOptions;
use gradus::fold::FoldOptions;
use gradus::graph::{self, Attribute, Builder, Content, Graph, Node, OperatorId, Origin, Slots};
use gradus::prove::{Proof, ProveOptions, Verdict};
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

/// A graph with one fault.
fn faulty(rng: &mut Rng, graph: &Graph) -> Option<Graph> {
    if rng.u8(0..4) == 0 && !graph.constants().is_empty() {
        let number = rng.usize(0..graph.constants().len());
        let name = graph.value(graph.constants()[number].0).name.to_string();
        let seed = rng.u64(..);
        let change = |key: &str, tensor: &Tensor| {
            if key == name { flipped(&mut Rng::with_seed(seed), tensor) } else { tensor.clone() }
        };
        return rebuilt(graph, |_, _, _, _| {}, change);
    }
    let wanted = rng.usize(0..graph.nodes().len().max(1));
    let kind = rng.u8(0..4);
    let change = |index: usize, node: &mut Node, inputs: &mut Vec<String>, builder: &mut Builder| {
        if index != wanted {
            return;
        }
        match kind {
            0 if !node.attributes.is_empty() => {
                let at = rng.usize(0..node.attributes.len());
                changed_attribute(rng, &mut node.attributes[at]);
            }
            1 if inputs.len() > 1 => {
                let i = rng.usize(1..inputs.len());
                inputs.swap(i - 1, i);
            }
            2 if matches!(&*node.operator.name, "If" | "Where" | "And" | "Or" | "Not") => {
                let _ = builder.apply("negation", "Not", 20, &[inputs[0].as_str()], &["negated"], vec![]);
                "negated".clone_into(&mut inputs[0]);
            }
            _ => {
                let other = match &*node.operator.name {
                    "Add" => "Sub",
                    "Sub" | "Mul" => "Add",
                    "Min" => "Max",
                    "ReduceMax" => "ReduceMin",
                    "ReduceSum" => "ReduceProd",
                    "Less" => "LessOrEqual",
                    "Greater" => "GreaterOrEqual",
                    "Floor" => "Ceil",
                    _ => {
                        node.attributes.clear();
                        inputs.truncate(1);
                        "Identity"
                    }
                };
                node.operator = OperatorId { name: other.into(), ..node.operator.clone() };
            }
        }
    };
    rebuilt(graph, change, |_, tensor| tensor.clone())
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
}

/// Seeds faults into folded random graphs until `wanted` of them are confirmed by a run.
fn seeded(wanted: usize, time: std::time::Duration) -> Seeded {
    let mut rng = Rng::with_seed(50);
    let mut all = Seeded::default();
    for seed in 0.. {
        if all.faults >= wanted {
            break;
        }
        let (model, inputs) = random::graph(seed);
        let Ok(folded) = model.fold(&FoldOptions::default()) else { continue };
        let Some(before) = outputs(&model, &inputs) else { continue };
        let after = Model::from_source(folded.model.clone());
        all.graphs += 1;
        all.proved += usize::from(proof(&model, &after).is_some_and(|proof| proof.is_complete()));
        for _ in 0..5 {
            let Some(graph) = faulty(&mut rng, after.graph()) else { continue };
            let faulty = Model::from_source(folded.model.with_graph(graph));
            let Some(found) = outputs(&faulty, &inputs) else { continue };
            let differs = differ(&before, &found);
            let mut options = ProveOptions::default();
            options.time = if differs { time } else { std::time::Duration::ZERO };
            let verdict = model.prove(&faulty, &options).unwrap().verdict;
            let complete = matches!(verdict, Verdict::Equivalent);
            assert!(!(differs && complete), "seed {seed}: proved, though a run differs");
            all.faults += usize::from(differs);
            all.harmless += usize::from(complete);
            all.witnesses += usize::from(differs && matches!(verdict, Verdict::Different(_)));
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
    Tensor::from_numbers(DType::F16, Shape::new([]).unwrap(), [Number::Float(value)], Rules::IEEE).unwrap()
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
    let converted = model.convert(graph::Standard::OpenVino, &ConvertOptions::default()).unwrap().model;
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
