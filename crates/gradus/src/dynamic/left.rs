//! Numbers that stay as they are, though they are what a size was: a mean that divides by a length,
//! a pool as large as its image. One export does not tell whether they are sizes.

use std::collections::BTreeMap;

use gradus_core::convert::nearest_f64;
use gradus_core::graph::{Content, Node};
use gradus_core::{Number, Tensor};
use gradus_engine::infer::node_label;

use super::sources::Sources;
use super::view::{ChangedModel, Ground, TriedFormulas};
use crate::dim::Dim;

/// Sentences about such numbers, in the order of nodes; none where several exports tell.
pub(super) fn left(
    ground: &Ground<'_>,
    sources: &Sources<'_>,
    (changes, view): (&TriedFormulas, &ChangedModel),
) -> Vec<String> {
    if sources.models.len() > 1 {
        return Vec::new();
    }
    let sizes: BTreeMap<_, _> = ground.sizes.iter().filter(|(_, size)| **size > 1).collect();
    let graph = ground.model.graph();
    let mut told = Vec::new();
    for &index in graph.order() {
        let Some(node) = view.node(index) else { continue };
        let label = node_label(&graph.nodes()[index], index);
        for input in 0..node.inputs.len() {
            let all = sources.constants(index, input).filter(|_| !changes.contains_key(&(index, input)));
            let Some(number) = all.and_then(|all| only_number(&all[0])) else { continue };
            for (name, size) in &sizes {
                if let Some(what) = reading(number, **size, name) {
                    told.push(format!("input {input} of {label} stays {number}, which was {what}"));
                }
            }
        }
        if let Some(kernel) = whole_kernel(node, index, (sources, view)) {
            told.push(format!(
                "attribute kernel_shape of {label} stays {kernel:?}, which was the whole image"
            ));
        }
    }
    told
}

/// The number of a constant of one element.
fn only_number(tensor: &Tensor) -> Option<f64> {
    (tensor.len() == 1 && tensor.bytes().is_some()).then(|| tensor.only_number().ok().map(nearest_f64))?
}

/// The expression of a size that a number was, but for 1 and what is less.
fn reading(number: f64, size: i64, name: &str) -> Option<String> {
    let size = nearest_f64(Number::Int(size.into()));
    let is = |value: f64| value != 1.0 && value > 0.0 && (number - value).abs() <= 1e-6 * value;
    let forms = [
        (size, name.to_owned()),
        (1.0 / size, format!("1/{name}")),
        (size.sqrt(), format!("the square root of {name}")),
        (1.0 / size.sqrt(), format!("1 / the square root of {name}")),
        (size - 1.0, format!("{name} - 1")),
        (1.0 / (size - 1.0), format!("1/({name} - 1)")),
    ];
    forms.into_iter().find(|(value, _)| is(*value)).map(|(_, text)| text)
}

/// The windows of a pool or a convolution, if they are as large as an open image.
fn whole_kernel(
    node: &Node,
    index: usize,
    (sources, view): (&Sources<'_>, &ChangedModel),
) -> Option<Vec<i64>> {
    let Some(Content::Ints(kernel)) = node.attribute("kernel_shape") else { return None };
    let dims = view.dims(index, 0)?;
    let symbols = view.inference.symbols();
    let is_whole = |(size, dim): (&i64, &Dim)| {
        dim.known().is_none() && sources.values(symbols, *dim).is_some_and(|all| all[0] == *size)
    };
    let images = dims.get(2..)?;
    kernel.iter().zip(images).any(is_whole).then(|| kernel.to_vec())
}
