//! Every model of a corpus opens, and says what it holds.
//!
//! The corpus is the folder that the variable `GRADUS_CORPUS` names.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gradus::Model;
use gradus::graph::Origin;

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

#[test]
#[ignore = "needs GRADUS_CORPUS, a folder of models"]
fn every_model_opens() {
    let corpus = std::env::var_os("GRADUS_CORPUS").expect("GRADUS_CORPUS names a folder of models");
    let models = models(Path::new(&corpus));
    assert!(!models.is_empty(), "there are models in {}", Path::new(&corpus).display());
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
        assert!(start.elapsed() < Duration::from_secs(20), "{} takes too long", path.display());
    }
    println!("{} models open", models.len());
}
