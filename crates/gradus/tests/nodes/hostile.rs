//! Hostile input: models that made an earlier version abort, panic or run away, and random nodes
//! with tensors that have no elements but a huge axis. Each call gives a result or an error.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use gradus::conversion::ConvertOptions;
use gradus::fold::FoldOptions;
use gradus::graph::{DeclaredDim, Standard, Type};
use gradus::infer::{InferOptions, InputFact};
use gradus::operators;
use gradus::{Kind, Limits, Model, OpenOptions, RunOptions, Shape, Tensor, Value};

use crate::common::nodes;

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
    let _ = model.portability(&InferOptions::default());
    let folded = model.fold(&FoldOptions::default());
    if let (Ok(folded), Standard::Onnx) = (folded, model.source().standard) {
        model.edited(&folded.model).unwrap();
    }
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
    assert_eq!(models.len(), 15);
    for path in models {
        let opened = OpenOptions::new().limits(limits()).open(&path);
        opened.iter().for_each(exercise);
    }
}

/// Shapes with more elements along an axis than any memory holds, but none in all; and plain ones.
const SHAPES: [&[usize]; 9] =
    [&[0, 1 << 40], &[1 << 40, 0], &[0, 1 << 40, 1 << 20], &[1 << 30, 2, 0], &[0], &[], &[2], &[3], &[2, 3]];

/// Does everything with `each` random nodes of every operator of every standard, with and without
/// the declared types of their inputs.
fn exercise_random_nodes(seed: u64, each: usize) {
    let mut random = fastrand::Rng::with_seed(seed);
    for row in operators::all() {
        for signature in row.signatures() {
            for _ in 0..each {
                let node = nodes::node_of_shapes(&mut random, row, signature, &SHAPES);
                exercise(&node.model);
                let mut source = node.model.source().clone();
                source.graph.declare(&mut |_, _| None);
                exercise(&Model::from_source(source));
            }
        }
    }
}

#[test]
fn random_nodes_of_any_standard_give_a_result_or_an_error() {
    exercise_random_nodes(5, 3);
}

#[test]
#[ignore = "long: a minute"]
fn long_random_nodes_of_any_standard_give_a_result_or_an_error() {
    for seed in 10..12 {
        exercise_random_nodes(seed, 30);
    }
}

/// Kinds of errors that do not depend on the values of inputs.
fn is_static(kind: Kind) -> bool {
    matches!(kind, Kind::Type | Kind::Graph | Kind::Shape)
}

/// Runs `each` random nodes of every evaluated operator of ONNX. A run that is refused because of
/// types, ranks, missing inputs or attributes is refused by inference as well.
fn run_random_nodes(seed: u64, each: usize) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut options = RunOptions::default();
    options.limits = Some(limits());
    let (mut ran, mut refused, mut unseen, mut overstrict) = (0, 0, Vec::new(), Vec::new());
    for row in operators::all().filter(|row| row.standard == Standard::Onnx && row.is_evaluated()) {
        for signature in row.signatures() {
            for _ in 0..each {
                let node = nodes::node_of_shapes(&mut random, row, signature, &SHAPES);
                let given = node.values.iter().map(|(name, value)| {
                    let of = node.model.graph().value(node.model.value(name).unwrap()).declared.clone();
                    let known = value.tensor().is_ok_and(|tensor| tensor.dtype().is_integer());
                    let fact =
                        if known { InputFact::Value(value.clone()) } else { InputFact::Type(of.unwrap()) };
                    (name.clone(), fact)
                });
                let mut known = InferOptions::default();
                known.sizes.inputs = given.collect();
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
