//! Every model of a corpus opens, and says what it holds.
//!
//! The corpus is the folder that the variable `GRADUS_CORPUS` names.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gradus::diff::Diff;
use gradus::graph::{Graph, Origin, ValueId};
use gradus::infer::{InferOptions, Inference, Reuse};
use gradus::{Limits, Model, Number, Rules, RunOptions, Tensor, Value};

use crate::common::folder::models;

fn corpus() -> Vec<PathBuf> {
    let corpus = std::env::var_os("GRADUS_CORPUS").expect("GRADUS_CORPUS names a folder of models");
    let models = models(Path::new(&corpus), &["onnx", "xml"]);
    assert!(!models.is_empty(), "there are models in {}", Path::new(&corpus).display());
    models
}

/// The most bytes of values at one time where symbols have these values.
fn max_bytes(inference: &mut Inference, graph: &Graph, of: &impl Fn(&str) -> Option<i64>) -> i64 {
    let mut last_use = vec![0; graph.values().len()];
    for (step, &index) in graph.order().iter().enumerate() {
        let node = &graph.nodes()[index];
        node.needs().chain(node.outputs.iter().copied().flatten()).for_each(|id| last_use[id.index()] = step);
    }
    graph.outputs().iter().for_each(|id| last_use[id.index()] = usize::MAX);
    let mut live: Vec<(usize, i64)> = Vec::new();
    let mut most = 0;
    for (step, &index) in graph.order().iter().enumerate() {
        let computed = |id: &&ValueId| !gradus::is_constant(graph, **id);
        for &id in graph.nodes()[index].outputs.iter().flatten().filter(computed) {
            let bytes = inference.bytes(id).and_then(|bytes| inference.symbols().evaluate(bytes, of));
            live.extend(bytes.map(|bytes| (last_use[id.index()], bytes)));
        }
        most = most.max(live.iter().map(|(_, bytes)| bytes).sum());
        live.retain(|(last, _)| *last > step);
    }
    most
}

/// Holds the peak that inference tells against sums of bytes at many values of the symbols.
fn peak_is_a_bound(path: &Path) {
    let model = Model::open(path).unwrap();
    let mut inference = model.infer(&InferOptions::default()).unwrap();
    let Some(peak) = inference.peak(&model, Reuse::None) else { return };
    for seed in 0..20u64 {
        // Symbols that the data decide are 1, the minimum of inputs' symbols.
        let data = |name: &str| {
            let symbol = inference.symbols().find(name).unwrap();
            inference.symbols().as_symbol(symbol).unwrap().origin != gradus::dim::Origin::Input
        };
        let value = |name: &str| {
            let hash = name.bytes().fold(seed + 7, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
            });
            if data(name) { 1 } else { 1 << (hash % 13) }
        };
        let named: std::collections::HashMap<_, _> = inference
            .symbols()
            .symbols()
            .iter()
            .map(|symbol| (symbol.name.clone(), value(&symbol.name)))
            .collect();
        let of = |name: &str| named.get(name).copied();
        let Some(told) = inference.symbols().evaluate(peak.bytes, &of) else { continue };
        let most = max_bytes(&mut inference, model.graph(), &of);
        assert!(told >= most, "{}: {told} bytes at most, found {most}", path.display());
    }
}

/// The inputs of a model whose sizes are known: zeros and ones.
fn inputs(model: &Model, inference: &Inference) -> Option<Vec<(String, Value)>> {
    let graph = model.graph();
    let open = graph.inputs().iter().filter(|id| graph.constant(**id).is_none());
    let value = |&id| {
        let fact = inference.fact(id).as_tensor()?;
        let (dtype, shape) = (fact.dtype?, fact.shape()?);
        let numbers: Vec<_> =
            (0..shape.len()).map(|i| Number::Int((i * i % 3 % 2).try_into().unwrap())).collect();
        let tensor = Tensor::from_numbers(dtype, shape, numbers, Rules::IEEE).ok()?;
        Some((graph.value(id).name.to_string(), tensor.into()))
    };
    open.map(value).collect()
}

/// Runs a model at a few sizes. No run needs more bytes of values than the peak that inference
/// tells, by its formula and for these sizes; for these sizes it needs as many, where all nodes run,
/// none runs a graph, and the data decide no size. Returns how many runs there were, and how many of
/// them were equal.
fn peak_holds_in_runs(path: &Path, limits: Limits) -> (usize, usize) {
    let model = Model::open(path).unwrap();
    let graph = model.graph();
    let mut options = RunOptions::default();
    options.limits = Some(limits);
    let Ok(program) = model.compile(&[], &options) else { return (0, 0) };
    let mut free = model.infer(&InferOptions::default()).unwrap();
    let Some(formula) = free.peak(&model, Reuse::None) else { return (0, 0) };
    let free_in_place = free.peak(&model, Reuse::InPlace);
    let names = free.symbols().symbols().iter().filter(|symbol| symbol.origin == gradus::dim::Origin::Input);
    let names: Vec<_> = names.map(|symbol| symbol.name.to_string()).collect();
    let (mut ran, mut equal) = (0, 0);
    for seed in 1..4usize {
        let size =
            |(i, name): (usize, &String)| (name.clone(), 1 + i64::try_from((i * seed + seed) % 5).unwrap());
        let mut sized = InferOptions::default();
        sized.sizes.dims = names.iter().enumerate().map(size).collect();
        let Ok(mut inference) = model.infer(&sized) else { continue };
        let Some(inputs) = inputs(&model, &inference).filter(|_| inference.problems().is_empty()) else {
            continue;
        };
        let Ok((_, nodes)) = program.run_profiled(inputs) else { continue };
        ran += 1;
        let found = nodes.iter().map(|node| node.value_bytes).max().unwrap_or(0);
        let of = |name: &str| sized.sizes.dims.get(name).copied();
        let by_formula = free.symbols().evaluate(formula.bytes, &of).filter(|_| formula.unknown == 0);
        let in_place = inference.peak(&model, Reuse::InPlace).and_then(|peak| peak.bytes.known());
        let by_formula_in_place = free_in_place.and_then(|peak| free.symbols().evaluate(peak.bytes, &of));
        if let (Some(told), Some(needed), 0) = (by_formula_in_place, in_place, formula.unknown) {
            assert!(told >= needed, "{}: in place {told} bytes at most, {needed} needed", path.display());
        }
        let Some(peak) = inference.peak(&model, Reuse::None) else { continue };
        let here = peak.bytes.known().filter(|_| peak.unknown == 0);
        for told in [by_formula, here].into_iter().flatten() {
            let told = u64::try_from(told).unwrap();
            assert!(told >= found, "{}: {told} bytes at most, found {found}", path.display());
        }
        let plain = graph.nodes().iter().all(|node| node.graphs().next().is_none());
        let of_data =
            inference.symbols().symbols().iter().any(|symbol| symbol.origin != gradus::dim::Origin::Input);
        if let (Some(told), true, false) = (here, plain && nodes.len() == graph.nodes().len(), of_data) {
            assert_eq!(u64::try_from(told).unwrap(), found, "{}", path.display());
            equal += 1;
        }
    }
    (ran, equal)
}

/// Counts runs and equal peaks of all models of a list.
fn runs(models: &[PathBuf], limits: Limits) -> (usize, usize) {
    let counts = models.iter().map(|path| peak_holds_in_runs(path, limits));
    counts.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

#[test]
fn peaks_of_examples_hold_in_runs() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let (ran, equal) = runs(&models(&examples, &["onnx", "xml"]), Limits::default());
    assert!(ran >= 12 && equal >= 6, "{ran} runs, {equal} of them equal");
}

#[test]
#[ignore = "needs GRADUS_CORPUS, a folder of models"]
fn peaks_hold_in_runs() {
    let mut limits = Limits::default();
    limits.max_work = 300_000_000;
    let (ran, equal) = runs(&corpus(), limits);
    println!("{ran} runs, {equal} of them with the peak that is told");
    assert!(ran > 0 && equal > 0, "{ran} runs, {equal} of them equal");
}

#[test]
fn peaks_of_examples_are_bounds() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for path in models(&examples, &["onnx", "xml"]) {
        peak_is_a_bound(&path);
    }
}

#[test]
#[ignore = "needs GRADUS_CORPUS, a folder of models"]
fn peaks_are_bounds() {
    for path in corpus() {
        peak_is_a_bound(&path);
    }
}

#[test]
#[ignore = "needs GRADUS_CORPUS, a folder of models"]
fn every_model_opens_and_is_ready_to_run() {
    let models = corpus();
    let mut refused = Vec::new();
    for path in &models {
        let start = Instant::now();
        let model = Model::open(path).unwrap();
        let graph = model.graph();
        assert!(!graph.outputs().is_empty(), "{}", path.display());
        assert_eq!(graph.order().len(), graph.nodes().len(), "{}", path.display());
        assert!(graph.ids().all(|id| graph.value(id).origin != Origin::Capture), "{}", path.display());
        for (_, constant) in graph.constants() {
            assert_eq!(constant.tensor().unwrap().shape(), constant.shape(), "{}", path.display());
        }
        assert!(Diff::of(&model, &model).unwrap().is_empty(), "{}", path.display());
        refused.extend(model.compile(&[], &RunOptions::default()).err().map(|error| error.to_string()));
        assert!(start.elapsed() < Duration::from_secs(20), "{} takes too long", path.display());
    }
    assert!(refused.is_empty(), "{refused:#?}");
    println!("{} models open", models.len());
}
