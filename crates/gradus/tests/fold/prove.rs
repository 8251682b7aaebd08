//! Proofs: what is proved holds in runs, and no fault that runs show is proved away.

use std::collections::{BTreeMap, HashMap};

use fastrand::Rng;
use gradus::conversion::ConvertOptions;
use gradus::fold::{FoldOptions, Level, RuleSet};
use gradus::graph::{self, Attribute, Builder, Content, Graph, Node, OperatorId, Origin, Slots, Standard};
use gradus::prove::{Proof, ProveOptions, Verdict};
use gradus::{DType, Model, Number, Tensor, Value};

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

pub fn outputs(model: &Model, inputs: &HashMap<String, Value>) -> Option<Vec<(String, Value)>> {
    let given = inputs.iter().map(|(name, value)| (name.as_str(), value.clone()));
    let outputs = model.run(given).ok()?;
    Some(outputs.iter().map(|(name, value)| (name.to_string(), value.clone())).collect())
}

/// Returns true if two runs show other types, shapes or bits; all NaNs are the same.
pub fn differ(a: &[(String, Value)], b: &[(String, Value)]) -> bool {
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

pub fn proof(first: &Model, second: &Model) -> Option<Proof> {
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
pub fn differences_have_a_witness() {
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

/// A model is the same as itself, through more sizes that inference invents one after the other than
/// a proof has rounds.
#[test]
fn models_are_equivalent_to_themselves() {
    let block = |at: usize| {
        let x = if at == 0 { "x".to_owned() } else { format!("y{at}") };
        format!(
            "a{at} = Shape({x}, start=0, end=1); b{at} = Shape({x}, start=1, end=2); c{at} = Div(a{at}, b{at});
             d{at} = Concat(c{at}, rest, axis=0); r{at} = Reshape({x}, d{at}); y{} = Softmax(r{at}, axis=-1); ",
            at + 1
        )
    };
    let blocks: String = (0..8).map(block).collect();
    let model = written(&format!("x: float32[n, m]; rest = [-1]; {blocks} y = Neg(y8)"));
    let proof = proof(&model, &model).unwrap();
    assert!(proof.is_complete() && proof.rounds <= 3, "{proof:?}");
}

/// Models that differ where one size is 1 and another is not, as a size of 1 broadcasts.
#[test]
fn sizes_of_1_are_tried_one_at_a_time() {
    let shaped = |order: &str| {
        written(&format!(
            "x: float32[m, n]; s = Shape(x); first = [0]; last = [1]; m = Gather(s, first); n = Gather(s, last);
             t = Concat({order}, axis=0); w: float32[1, n]; y = Expand(w, t)"
        ))
    };
    let proved = shaped("m, n").prove(&shaped("n, m"), &ProveOptions::default()).unwrap();
    assert!(matches!(proved.verdict, Verdict::Different(_)), "{proved:?}");
}

/// A model of the inputs and nodes that a text has, whose output is y.
pub fn written(text: &str) -> Model {
    let mut sketch = Sketch::of(text);
    sketch.0.output("y");
    sketch.model()
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

/// A caller may leave out an input that has a default, of text too: models whose defaults differ are
/// not the same, and a bit is a difference.
#[test]
fn models_of_other_defaults_are_not_proved() {
    let text = |text: &str| Tensor::from_text(gradus::Shape::new([]).unwrap(), vec![text.into()]).unwrap();
    let float = |value: f32| Tensor::scalar(value);
    let model = |dtype: &str, default: Tensor| {
        let mut sketch = Sketch::of(&format!("x: {dtype}[]")).constant("x", default);
        sketch = sketch.text("y = Identity(x)");
        sketch.0.output("y");
        sketch.model()
    };
    for (dtype, [first, second], same) in [
        ("string", [text("a"), text("a")], true),
        ("string", [text("a"), text("b")], false),
        ("float32", [float(f32::NAN), float(f32::NAN)], true),
        ("float32", [float(0.0), float(-0.0)], false),
    ] {
        let proved = model(dtype, first).prove(&model(dtype, second), &ProveOptions::default()).unwrap();
        assert_eq!(matches!(proved.verdict, Verdict::Equivalent), same, "{dtype}");
    }
}

/// Concatenated outputs of a loop of no iteration have the sizes that its body declares.
#[test]
fn loops_that_declare_other_sizes_are_not_proved() {
    let model = |declared: [&str; 2], most: Option<i64>| {
        let text = "i: int64[]; go: bool[]; on = Identity(go); each = Concat(w, w, axis=0)";
        let body = Sketch::nested().text(text).text("return on: bool[]");
        let body = body.output("each", DType::F32, &declared).graph();
        let sketch = match most {
            Some(most) => Sketch::of(&format!("most = {most}")),
            None => Sketch::of("most: int64[]"),
        };
        let sketch =
            sketch.text("w: float32[a, 3]").with("Loop", &["most", ""], &["y"], vec![("body", body)]);
        sketch.output("y", DType::F32, &["", "", ""]).model()
    };
    for (declared, most, same) in [
        ([["2", "3"], ["2", "3"]], None, true),
        // The size follows from the body.
        ([["2", "3"], ["2", ""]], None, true),
        ([["2", "3"], ["", "3"]], None, false),
        ([["2", "3"], ["4", "3"]], None, false),
        ([["2", "3"], ["", "3"]], Some(0), false),
        ([["2", "3"], ["", "3"]], Some(2), true),
    ] {
        let [first, second] = declared.map(|declared| model(declared, most));
        let proof = proof(&first, &second).unwrap();
        assert_eq!(proof.is_complete(), same, "{declared:?} {most:?}");
    }
}

/// A branch decides the rank of a value, by itself or in a loop: the rank that a model declares of it
/// proves nothing, and nothing is folded by it.
#[test]
fn declared_ranks_of_values_that_have_several_prove_nothing() {
    let branches = |of: &str| {
        let branch = |text: String| Sketch::nested().text(&text).output("b", DType::F32, &[]).graph();
        let other = branch(format!("b = Unsqueeze({of}, first)"));
        vec![("then_branch", branch(format!("b = Neg({of})"))), ("else_branch", other)]
    };
    let open = |in_loop: bool, declared: &[&str]| {
        let sketch = Sketch::of("x: float32[n]; c: bool[]; first = [0]; once = 1");
        let sketch = if in_loop {
            let body = Sketch::nested().text("i: int64[]; go: bool[]; v: float32[n]; on = Identity(go)");
            let body = body.with("If", &["c"], &["next"], branches("v")).text("return on: bool[]");
            let body = body.output("next", DType::F32, declared).graph();
            sketch.with("Loop", &["once", "", "x"], &["y"], vec![("body", body)])
        } else {
            sketch.with("If", &["c"], &["y"], branches("x"))
        };
        sketch.output("y", DType::F32, declared)
    };
    for (in_loop, declared, rank) in
        [(false, &["n"][..], 1), (false, &["1", "n"], 2), (true, &["n"], 1), (true, &["1", "n"], 2)]
    {
        let first = open(in_loop, declared).text("s = Shape(y); r = Size(s); return r: int64[]").model();
        let second = format!("k = {rank}; r = Identity(k); return r: int64[]");
        let proof = proof(&first, &open(in_loop, declared).text(&second).model()).unwrap();
        assert!(!proof.is_complete(), "{declared:?}");
        for level in Level::ALL {
            let mut options = FoldOptions::default();
            options.rules = RuleSet::of(level);
            let folded = first.edited(&first.fold(&options).unwrap().model).unwrap();
            for (c, wanted) in [(true, 1i64), (false, 2)] {
                let x = Tensor::vector(&[1f32, 2.0]);
                let c = Tensor::scalar(gradus::element::Bool::from(c));
                let outputs = folded.run([("x", x), ("c", c)]).unwrap();
                assert_eq!(outputs["r"].tensor().unwrap(), &Tensor::scalar(wanted), "{declared:?} {level:?}");
            }
        }
    }
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
fn outputs_of_other_names_are_paired_by_place() {
    let model = |nodes: &str, outputs: [&str; 2]| {
        let mut sketch = Sketch::of(&format!("x: float32[n]; {nodes}"));
        for name in outputs {
            sketch.0.output(name);
        }
        sketch.model()
    };
    let first = model("a = Neg(x); b = Exp(x)", ["a", "b"]);
    for (nodes, outputs, complete, unmatched) in [
        ("c = Neg(x); d = Exp(x)", ["c", "d"], true, 0),
        ("c = Neg(x); d = Exp(x)", ["d", "c"], false, 0),
        ("a = Neg(x); d = Exp(x)", ["a", "d"], true, 0),
        // A name that both have is one output wherever it is.
        ("b = Exp(x); c = Neg(x)", ["b", "c"], false, 2),
    ] {
        let proof = proof(&first, &model(nodes, outputs)).unwrap();
        assert_eq!((proof.is_complete(), proof.unmatched.len()), (complete, unmatched), "{outputs:?}");
        let placed = proof.assumptions.iter().filter(|text| text.ends_with("in one place")).count();
        assert_eq!(placed, proof.outputs.iter().filter(|(name, _)| !outputs.contains(&&**name)).count());
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
