//! Works that each model that opens must bear, whatever its standard.

use std::time::Duration;

use gradus::check::VerifyOptions;
use gradus::conversion::ConvertOptions;
use gradus::diff::Diff;
use gradus::fold::FoldOptions;
use gradus::graph::Standard;
use gradus::infer::InferOptions;
use gradus::{DType, Kind, Model, Result, RunOptions, Tensor};

use crate::budget::within;

/// The element types of the outputs, if inference finds no problem. Files may declare any types of
/// values whose types do not follow from the inputs; problems of a subgraph that may not run are
/// none of the model, so models with subgraphs are left out.
fn types(model: &Model) -> Option<Vec<Option<DType>>> {
    if model.graph().nodes().iter().any(|node| node.graphs().next().is_some()) {
        return None;
    }
    let mut options = InferOptions::default();
    options.ignore_declared = true;
    let inference = model.infer(&options).ok()?;
    let dtype = |&id| inference.fact(id).as_tensor().and_then(|tensor| tensor.dtype);
    inference.problems().is_empty().then(|| model.graph().outputs().iter().map(dtype).collect())
}

/// Checks that a rewritten model has the types of its source, wherever both are known.
fn agree(model: &Model, rewritten: &Model) {
    let (Some(before), Some(after)) = (types(model), types(rewritten)) else { return };
    assert_eq!(before.len(), after.len(), "the outputs");
    let agree = |(a, b): (&Option<DType>, &Option<DType>)| a.is_none() || b.is_none() || a == b;
    assert!(before.iter().zip(&after).all(agree), "{before:?} became {after:?}");
}

/// The results of a run without inputs, as text: equal where they have the same bits.
fn results(model: &Model) -> Result<Vec<String>> {
    let outputs = model.run::<&str, Tensor>([])?;
    Ok(outputs.iter().map(|(_, value)| format!("{value:?}")).collect())
}

/// Infers, counts, compares, folds, runs and converts a model; what is rewritten is read again,
/// infers and runs as its source.
pub fn bear(model: &Model) {
    for (_, constant) in model.graph().constants() {
        within("a constant", || drop(constant.tensor()));
    }
    within("inference", || drop(model.infer(&InferOptions::default())));
    within("the cost", || drop(model.cost(&InferOptions::default())));
    if let Ok(diff) = within("the comparison", || Diff::of(model, model)) {
        assert!(diff.is_empty(), "a model differs from itself: {diff:?}");
    }
    let outputs = within("the run", || results(model));
    let mut expanded = RunOptions::default();
    expanded.expand_functions = true;
    within("the expanded run", || {
        drop(model.compile(&[], &expanded).and_then(|program| program.run::<&str, Tensor>([])));
    });
    let mut options = FoldOptions::default();
    options.max_constant = 1 << 12;
    if let Ok(folded) = within("folding", || model.fold(&options)) {
        match within("reading what is folded", || model.edited(&folded.model)) {
            Ok(folded) => {
                agree(model, &folded);
                let mut verify = VerifyOptions::default();
                verify.time = Duration::from_millis(200);
                if let Err(error) = model.verify(&folded, options.rules, &verify) {
                    assert_ne!(error.kind(), Kind::Graph, "{error}");
                }
                if let Ok(outputs) = &outputs {
                    match results(&folded) {
                        Ok(after) => assert_eq!(outputs, &after),
                        Err(error) => {
                            assert_eq!(error.kind(), Kind::Limit, "the folded model fails: {error}")
                        }
                    }
                }
            }
            // Ranges outside a file of constants are found when it is moved.
            Err(error) => assert!(
                matches!(error.kind(), Kind::Limit | Kind::Unsupported)
                    || (error.kind() == Kind::Syntax && model.source().standard == Standard::OpenVino),
                "what is folded cannot be read: {error}"
            ),
        }
    }
    for standard in [Standard::Onnx, Standard::OpenVino] {
        if standard == model.source().standard {
            continue;
        }
        let converted = within("conversion", || model.convert(standard, &ConvertOptions::default()));
        if let Ok(converted) = converted {
            agree(model, &converted.model);
            let _ = within("the converted run", || converted.model.run::<&str, Tensor>([]));
        }
    }
}
