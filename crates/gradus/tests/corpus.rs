//! Every model of a corpus opens, and says what it holds.
//!
//! The corpus is the folder that the variable `GRADUS_CORPUS` names.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gradus::diff::Diff;
use gradus::graph::{Graph, Origin};
use gradus::infer::{InferOptions, Inference};
use gradus::{Model, RunOptions};

/// The models in a folder and the folders within.
fn models(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension().and_then(|extension| extension.to_str()) {
                _ if path.is_dir() => open.push(path),
                Some("onnx" | "xml") => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

fn corpus() -> Vec<PathBuf> {
    let corpus = std::env::var_os("GRADUS_CORPUS").expect("GRADUS_CORPUS names a folder of models");
    let models = models(Path::new(&corpus));
    assert!(!models.is_empty(), "there are models in {}", Path::new(&corpus).display());
    models
}

/// The most bytes of values at one time where symbols have these values.
fn most_bytes(inference: &mut Inference, graph: &Graph, of: &impl Fn(&str) -> Option<i64>) -> i64 {
    let mut last_use = vec![0; graph.values().len()];
    for (step, &index) in graph.order().iter().enumerate() {
        let node = &graph.nodes()[index];
        node.needs().chain(node.outputs.iter().copied().flatten()).for_each(|id| last_use[id.index()] = step);
    }
    graph.outputs().iter().for_each(|id| last_use[id.index()] = usize::MAX);
    let mut live: Vec<(usize, i64)> = Vec::new();
    let mut most = 0;
    for (step, &index) in graph.order().iter().enumerate() {
        for &id in graph.nodes()[index].outputs.iter().flatten() {
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
    let Some(peak) = inference.peak(model.graph()) else { return };
    for seed in 0..20u64 {
        // Symbols that the data decide are 1, the least that inputs' symbols are.
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
        let most = most_bytes(&mut inference, model.graph(), &of);
        assert!(told >= most, "{}: {told} bytes at most, found {most}", path.display());
    }
}

#[test]
fn peaks_of_examples_are_bounds() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for path in models(&examples) {
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
