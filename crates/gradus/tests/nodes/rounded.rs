//! Conversions of random nodes: what a standard does not round in one way has a caveat.

use std::collections::{BTreeMap, BTreeSet};

use gradus::conversion::{ConvertOptions, Converted};
use gradus::graph::{Content, Graph, Node, Standard};
use gradus::infer::InferOptions;
use gradus::operators::{self, Rounding, Row};
use gradus::{DType, Fact};

use super::rewritten::{Values, node};

/// Returns true if a text determines the bits of floats.
fn is_exact(rounding: Rounding) -> bool {
    rounding.is_exact() || rounding == Rounding::Quantized
}

/// Returns true if a node has no more to round than an operator that is exact.
fn is_plain(node: &Node) -> bool {
    let word = |name: &str| match node.attribute(name) {
        Some(Content::Bytes(word)) => Some(String::from_utf8_lossy(word).into_owned()),
        Some(Content::Text(word)) => Some(word.to_string()),
        _ => None,
    };
    match &*node.operator.name {
        // A sum of two terms.
        "Sum" | "Mean" | "Max" | "Min" | "add_n" => node.inputs.len() <= 2,
        "Resize" | "Upsample" | "Interpolate" => word("mode").is_none_or(|mode| mode == "nearest"),
        _ => false,
    }
}

/// The operators of a converted model that round floats as no text says, without a caveat.
fn unnoted(converted: &Converted, to: Standard) -> Vec<String> {
    let model = &converted.model;
    let Ok(inference) = model.infer(&InferOptions::default()) else { return Vec::new() };
    let is_float = |fact: &Fact| fact.dtype().is_some_and(DType::is_float);
    let rounds = |node: &&Node| {
        let row = operators::row(to, &node.operator.domain, &node.operator.name);
        let floats = node.inputs.iter().flatten().any(|&id| is_float(inference.fact(id)));
        floats && !is_plain(node) && row.is_none_or(|row| !is_exact(row.rounding()))
    };
    model.graph().nodes().iter().filter(rounds).map(|node| node.operator.to_string()).collect()
}

fn has_floats(values: &Values) -> bool {
    let mut given = values.values().filter_map(|value| value.tensor().ok());
    given.any(|tensor| tensor.dtype().is_float() || tensor.dtype().is_complex())
}

/// Converts some random nodes of a row; gives how many reports had floats, and adds those that lack
/// a caveat.
fn check(random: &mut fastrand::Rng, row: &Row, each: usize, wrong: &mut BTreeMap<String, String>) -> usize {
    let mut held = 0;
    for signature in row.signatures() {
        for _ in 0..each {
            let (model, values) = node(random, row, signature);
            if !has_floats(&values) || (row.is_evaluated() && model.run(values.clone()).is_err()) {
                continue;
            }
            let own = &model.graph().nodes()[0];
            let targets = [(Standard::OpenVino, None), (Standard::Onnx, None)];
            let sets = [7, 11, 13, 17, 20].map(|opset| (Standard::Onnx, Some(opset)));
            for (to, opset) in targets.into_iter().chain(sets) {
                let mut options = ConvertOptions::default();
                options.opset = opset;
                let Ok(converted) = model.convert(to, &options) else { continue };
                held += 1;
                if !converted.report.is_exact() {
                    continue;
                }
                let place = format!("{} {} to {to}", row.standard, row.name);
                let nodes = converted.model.graph().nodes();
                // A node that stays the same operator of ONNX is the same node.
                let stays = row.standard == to && nodes.iter().any(|node| node.operator == own.operator);
                let written = unnoted(&converted, to);
                let by_row = !is_exact(row.rounding()) && row.rounding() != Rounding::Lowered;
                // No element is rounded where there is none.
                let by_row = by_row && !is_empty(converted.model.graph());
                if !stays && !is_plain(own) && (by_row || !written.is_empty()) {
                    let case = format!("{:?} becomes {written:?}: {:?} {values:?}", opset, own.attributes);
                    wrong.entry(place).or_insert(case);
                }
            }
        }
    }
    held
}

/// Returns true if all outputs are constants without elements.
fn is_empty(graph: &Graph) -> bool {
    graph.outputs().iter().all(|output| {
        let mut constants = graph.constants().iter().filter(|(id, _)| id == output);
        constants.any(|(_, constant)| constant.tensor().is_ok_and(|tensor| tensor.shape().len() == 0))
    })
}

/// A row whose results are not rounded in one way has a caveat wherever floats are converted, and
/// so has a node that becomes such an operator.
#[test]
fn nodes_that_no_text_rounds_have_a_caveat() {
    let mut random = fastrand::Rng::with_seed(3);
    let (mut wrong, mut held, mut rows) = (BTreeMap::new(), 0, BTreeSet::new());
    for row in operators::all().filter(|row| row.conversion().is_some() || row.is_lowered()) {
        let reports = check(&mut random, row, 8, &mut wrong);
        held += reports;
        if reports > 0 {
            rows.insert((row.standard.name(), row.domain, row.name));
        }
    }
    println!("{held} reports of {} rows", rows.len());
    assert!(wrong.is_empty(), "{} rows: {wrong:#?}", wrong.len());
    assert!(rows.len() > 290, "{} rows", rows.len());
}
