//! Hostile input: models that made an earlier version abort, panic or run away, and random nodes
//! with tensors that have no elements but a huge axis. Each call gives a result or an error.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use gradus::conversion::ConvertOptions;
use gradus::fold::FoldOptions;
use gradus::graph::{
    self, Attribute, Builder, Content, DeclaredDim, Node, OperatorId, Origin, Standard, Type,
};
use gradus::infer::{InferOptions, InputFact};
use gradus::operators::{self, Row};
use gradus::schema::{Arity, AttributeRule, Signature, Sort};
use gradus::{DType, Kind, Limits, Model, OpenOptions, RunOptions, Shape, Tensor, Value};

/// Limits under which every call here ends soon.
fn limits() -> Limits {
    let mut limits = Limits::DEFAULT;
    (limits.max_bytes, limits.max_steps) = (1 << 24, 10_000);
    limits
}

/// Values for the inputs of a model: zeros of the declared types, where axes that are not fixed
/// have two elements.
fn zeros(model: &Model) -> HashMap<String, Value> {
    let graph = model.graph();
    let inputs = graph.inputs().iter().filter(|&&id| graph.constant(id).is_none()).map(|&id| graph.value(id));
    let value = |declared: &Type| {
        let Type::Tensor(Some(dtype), Some(sizes)) = declared else { return None };
        let len = |size: &DeclaredDim| if let DeclaredDim::Known(len) = size { *len } else { 2 };
        let shape = Shape::new(sizes.iter().map(len).collect::<Vec<_>>()).ok()?;
        (shape.len() <= 1 << 16).then(|| Tensor::zeros(*dtype, shape).ok().map(Value::from))?
    };
    inputs.filter_map(|info| Some((info.name.to_string(), value(info.declared.as_ref()?)?))).collect()
}

/// Everything that Gradus does with a model, within the limits.
fn exercise(model: &Model) {
    let _ = model.infer(&InferOptions::default());
    let _ = model.fold(&FoldOptions::default());
    let to = if model.source().standard == Standard::Onnx { Standard::OpenVino } else { Standard::Onnx };
    let _ = model.convert(to, &ConvertOptions::default());
    let mut options = RunOptions::default();
    options.limits = Some(limits());
    let _ = model.compile(&[], &options).and_then(|program| program.run(zeros(model)));
}

#[test]
fn files_that_broke_an_earlier_version_give_a_result_or_an_error() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile");
    let models: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending != "bin"))
        .collect();
    assert_eq!(models.len(), 14);
    for path in models {
        let opened = OpenOptions::new().limits(limits()).open(&path);
        opened.iter().for_each(exercise);
    }
}

/// Shapes with more elements along an axis than any memory holds, but none in all; and plain ones.
const SHAPES: [&[usize]; 9] =
    [&[0, 1 << 40], &[1 << 40, 0], &[0, 1 << 40, 1 << 20], &[1 << 30, 2, 0], &[0], &[], &[2], &[3], &[2, 3]];

/// Integers that stand for sizes, axes, bounds and counts.
const NUMBERS: [i64; 10] = [0, 1, -1, 2, 3, 7, -9, 1 << 40, i64::MAX, i64::MIN];

/// A node of some version of an operator, with any inputs and attributes that its signature allows
/// by type, or nearly so.
struct RandomNode {
    model: Model,
    values: HashMap<String, Value>,
}

fn number(random: &mut fastrand::Rng) -> i64 {
    NUMBERS[random.usize(..NUMBERS.len())]
}

fn tensor(random: &mut fastrand::Rng, dtype: DType) -> Tensor {
    let list = dtype == DType::I64 && random.bool();
    if list {
        let few = if random.bool() { 5 } else { NUMBERS.len() };
        let list: Vec<_> = (0..random.usize(..4)).map(|_| NUMBERS[random.usize(..few)]).collect();
        return Tensor::vector(&list);
    }
    let shape = Shape::new(SHAPES[random.usize(..SHAPES.len())]).unwrap();
    Tensor::zeros(dtype, shape).unwrap()
}

fn content(random: &mut fastrand::Rng, sort: Sort) -> Option<Content> {
    Some(match sort {
        Sort::Int => Content::Int(if random.bool() { random.i64(-2..3) } else { number(random) }),
        Sort::Ints => Content::Ints((0..random.usize(..4)).map(|_| number(random)).collect()),
        Sort::Float => Content::Float([0.0, -1.0, 1.5, f32::NAN, f32::INFINITY][random.usize(..5)]),
        Sort::Floats => Content::Floats((0..random.usize(..3)).map(|_| random.f32()).collect()),
        Sort::String => Content::Bytes(["", "linear", "constant", "edge", "LEFT"][random.usize(..5)].into()),
        Sort::Tensor => Content::Tensor(Tensor::scalar(random.f32()).into()),
        _ => return None,
    })
}

impl RandomNode {
    fn new(random: &mut fastrand::Rng, row: &Row, signature: &Signature) -> RandomNode {
        let mut builder = Builder::new("random node");
        let (mut names, mut values) = (Vec::new(), HashMap::new());
        let mut types: HashMap<&str, DType> = HashMap::new();
        for (index, param) in signature.inputs.iter().enumerate() {
            let admitted: Vec<_> = param.types.tensor.iter().collect();
            if admitted.is_empty() || (param.arity == Arity::Optional && random.bool()) {
                names.push(String::new());
                continue;
            }
            let any = admitted[random.usize(..admitted.len())];
            let of_variable = *types.entry(param.variable).or_insert(any);
            let odd = random.usize(..20) == 0;
            let dtype = if odd { DType::ALL[random.usize(..DType::ALL.len())] } else { of_variable };
            let (name, value) = (format!("in{index}"), tensor(random, dtype));
            let id = builder.define(&name, Origin::Input).unwrap();
            let dims = value.shape().dims().iter().map(|&len| DeclaredDim::Known(len)).collect();
            builder.info(id).declared = Some(Type::Tensor(Some(dtype), Some(dims)));
            values.insert(name.clone(), Value::from(value));
            names.push(name);
        }
        while names.last().is_some_and(String::is_empty) {
            names.pop();
        }
        let inputs: Vec<_> = names.iter().map(String::as_str).collect();
        let mut chosen = |rule: &&AttributeRule| (rule.required || random.bool()) && random.usize(..30) > 0;
        let given: Vec<_> = signature.attributes.iter().filter(&mut chosen).collect();
        let attributes = given
            .into_iter()
            .filter_map(|rule| Some((rule.name, content(random, rule.sort)?)))
            .collect::<Vec<_>>();
        let count = signature.outputs.len().clamp(1, 4);
        let outputs: Vec<_> = (0..count).map(|index| format!("out{index}")).collect();
        let outputs: Vec<_> = outputs.iter().map(String::as_str).collect();
        let named = |(name, content): (&str, Content)| Attribute { name: name.into(), content };
        let node = Node {
            name: "".into(),
            operator: OperatorId { domain: row.domain.into(), name: row.name.into(), overload: "".into() },
            version: Some(signature.since),
            inputs: inputs
                .iter()
                .map(|key| (!key.is_empty()).then(|| builder.reference(key)))
                .collect::<Vec<_>>()
                .into(),
            outputs: Vec::new().into(),
            attributes: attributes.into_iter().map(named).collect(),
            position: None,
        };
        builder.push(node, &outputs).unwrap();
        for name in &outputs {
            builder.output(name);
        }
        let mut source = graph::Model::new(row.standard);
        source.graph = builder.finish().unwrap();
        RandomNode { model: Model::from_source(source), values }
    }
}

/// Kinds of errors that do not depend on the values of inputs.
fn is_static(kind: Kind) -> bool {
    matches!(kind, Kind::Type | Kind::Graph | Kind::Shape)
}

/// Runs so many random nodes of every evaluated operator of ONNX. A run that is refused because of
/// types, ranks, missing inputs or attributes is refused by inference as well.
fn run_random_nodes(seed: u64, each: usize) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut options = RunOptions::default();
    options.limits = Some(limits());
    let (mut ran, mut refused, mut unseen, mut overstrict) = (0, 0, Vec::new(), Vec::new());
    for row in operators::all().filter(|row| row.standard == Standard::Onnx && row.is_evaluated()) {
        for signature in row.signatures() {
            for _ in 0..each {
                let node = RandomNode::new(&mut random, row, signature);
                let given = node.values.iter().map(|(name, value)| {
                    let of = node.model.graph().value(node.model.value(name).unwrap()).declared.clone();
                    let known = value.tensor().is_ok_and(|tensor| tensor.dtype().is_integer());
                    let fact =
                        if known { InputFact::Value(value.clone()) } else { InputFact::Type(of.unwrap()) };
                    (name.clone(), fact)
                });
                let mut known = InferOptions::default();
                known.inputs = given.collect();
                let inference = node.model.infer(&known);
                let result = node.model.compile(&[], &options);
                let result = result.and_then(|program| program.run(node.values.clone()));
                match result {
                    Ok(_) => {
                        ran += 1;
                        let problem =
                            inference.unwrap().problems().first().map(|problem| problem.message.clone());
                        overstrict.extend(
                            problem.map(|problem| format!("{}-{}: {problem}", row.name, signature.since)),
                        );
                    }
                    Err(error) => {
                        refused += 1;
                        if is_static(error.kind())
                            && inference.is_ok_and(|inference| inference.problems().is_empty())
                        {
                            unseen.push(format!("{}-{}: {error}", row.name, signature.since));
                        }
                    }
                }
            }
        }
    }
    for (list, meaning) in
        [(unseen, "a run refuses, and inference does not"), (overstrict, "inference alone refuses")]
    {
        let list: BTreeSet<_> = list.into_iter().collect();
        assert!(list.is_empty(), "{meaning}: {list:#?}");
    }
    assert!(ran > refused / 20, "{ran} nodes ran, {refused} were refused");
}

#[test]
fn random_nodes_with_huge_empty_tensors_give_a_result_or_an_error() {
    run_random_nodes(1, 20);
}

#[test]
#[ignore = "needs minutes"]
fn long_random_nodes_with_huge_empty_tensors_give_a_result_or_an_error() {
    for seed in 2..6 {
        run_random_nodes(seed, 100);
    }
}
