//! Models that are joined, and split models that are whole again.

use fastrand::Rng;
use gradus::edit::JoinOptions;
use gradus::infer::InferOptions;
use gradus::prove::{ProveOptions, Verdict};
use gradus::{Kind, Model};

use crate::common::random;
use crate::common::sketch::{Sketch, operators};
use crate::{declared, run, tensor, two};

fn join(first: &Model, second: &Model, links: &[(&str, &str)]) -> gradus::Result<gradus::edit::Edited> {
    let mut options = JoinOptions::default();
    options.links = links.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    first.join(second, &options)
}

#[test]
fn names_of_two_models_are_kept_apart() {
    let model = two();
    let joined = join(&model, &model, &[("z", "x")]).unwrap().model().unwrap();
    // The input k is of both.
    assert_eq!(declared(&joined, false), ["x: float32[n, 3]", "k: float32[3]"]);
    assert_eq!(
        declared(&joined, true),
        ["y: float32[n, 3, 1]", "second/y: float32[n, 3, 1]", "second/z: float32[n, 3]"]
    );
    // Equal constants are one.
    assert_eq!(joined.graph().constants().len(), 2);
    let inputs = [("x", tensor(&[1, 3])), ("k", tensor(&[3]))];
    assert_eq!(run(&joined, &inputs, "second/z"), "[1, 3] [2.0, 6.0, 10.0]");
    let nodes: std::collections::HashSet<_> =
        joined.graph().nodes().iter().map(|node| node.name.clone()).collect();
    assert_eq!(nodes.len(), joined.graph().nodes().len());
}

#[test]
fn links_of_other_types_and_other_operator_sets_are_refused() {
    let model = two();
    let ids = Sketch::of("x: int64[n]; y = Neg(x); return y: int64[n]").model();
    assert_eq!(
        join(&model, &ids, &[("z", "x")]).unwrap_err().to_string(),
        "cannot link \"z\" to \"x\": the element type is float32, expected int64"
    );
    let old = Sketch::of("x: float32[n]; y = Neg(x); return y: float32[n]").model_of(13);
    let error = join(&model, &old, &[("z", "x")]).unwrap_err();
    assert_eq!(error.kind(), Kind::Unsupported);
    assert!(error.to_string().contains("is 13, expected 20"), "{error}");
    assert!(join(&model, &ids, &[("nothing", "x")]).is_err());
}

#[test]
fn parts_pass_on_what_the_next_one_reads() {
    let model = two();
    let split = model.split(&["b"]).unwrap();
    let [first, second] = [0, 1].map(|part| split.parts[part].model().unwrap());
    assert_eq!(operators(&first), "Mul Add Relu");
    assert_eq!(operators(&second), "Reshape");
    let text = "x: float32[n]; a = Neg(x); b = Relu(a); y = Add(a, b); return y: float32[n]";
    let split = Sketch::of(text).model().split(&["b"]).unwrap();
    assert_eq!(declared(&split.parts[1].model().unwrap(), false), ["b: float32[n]", "a: float32[n]"]);
    assert_eq!(split.links(0).len(), 2);
    let error = model.split(&["x"]).unwrap_err();
    assert_eq!(error.to_string(), "cannot split at \"x\": the value is no output of a node, expected one");
    let error = model.split(&["y"]).unwrap_err();
    assert_eq!(error.to_string(), "cannot split: no output follows from the values");
}

#[test]
fn random_cuts_joined_again_are_the_whole() {
    let mut rng = Rng::with_seed(51);
    let (mut tried, mut proved) = (0, 0);
    for seed in 0..60 {
        let model = Model::from_bytes(&random::graph(seed).0.to_onnx().unwrap()).unwrap();
        let graph = model.graph();
        let computed: Vec<_> = graph
            .ids()
            .filter(|&id| graph.value(id).origin.is_node())
            .map(|id| graph.value(id).name.to_string())
            .collect();
        let cut = [computed[rng.usize(..computed.len())].clone()];
        let Ok(split) = model.split(&cut) else { continue };
        tried += 1;
        let whole = split.joined().unwrap();
        let verdict = whole.prove(&model, &ProveOptions::default()).unwrap().verdict;
        assert!(!matches!(verdict, Verdict::Different(_)), "seed {seed}, cut {cut:?}");
        proved += usize::from(matches!(verdict, Verdict::Equivalent));
    }
    assert!(tried >= 20 && proved * 10 >= tried * 9, "{proved} of {tried}");
}

#[test]
fn parts_of_a_model_that_contradicts_itself_are_joined_again() {
    // No run succeeds: 4 elements are brought into a shape of 3. Each part alone may run.
    let text = "x: float32[3]; s = Shape(x); c = ConstantOfShape(f); f = [4]; z = Reshape(c, s); return z: float32[3]";
    let model = Sketch::of(text).model();
    assert!(!model.infer(&InferOptions::default()).unwrap().problems().is_empty());
    let split = model.split(&["s"]).unwrap();
    let [first, second] = [0, 1].map(|part| split.parts[part].model().unwrap());
    assert!(second.infer(&InferOptions::default()).unwrap().problems().is_empty());
    assert_eq!(split.joined().unwrap().graph().nodes().len(), 3);
    let error = join(&first, &second, &[("s", "s")]).unwrap_err().to_string();
    assert!(error.contains("contradicts itself"), "{error}");
}
