//! Numbers that stay as they are, though they are what a size was: a mean that divides by a length,
//! a slice that ends two before the last row, a pool as large as its image, a grid. One export does
//! not tell whether they are sizes.

use gradus_core::convert::{from_start, i64_of, nearest_f64};
use gradus_core::graph::{Content, Node, Standard};
use gradus_core::{Number, Tensor};
use gradus_engine::infer::node_label;

use super::formula::few_integers;
use super::sources::Sources;
use super::view::{ChangedModel, Ground, TriedFormulas};
use crate::dim::Dim;
use crate::operators::{self, Role};

/// Maximum number of sizes that a number is compared with.
const MAX_SIZES: usize = 64;

/// Sentences about such numbers, in the order of nodes; none where several exports tell.
pub(super) fn left(
    ground: &Ground<'_>,
    sources: &Sources<'_>,
    (changes, view): (&TriedFormulas, &ChangedModel),
) -> Vec<String> {
    if sources.models.len() > 1 {
        return Vec::new();
    }
    let sizes = open_sizes(ground, sources, view);
    let graph = ground.model.graph();
    let mut told = Vec::new();
    for &index in graph.order() {
        let Some(node) = view.node(index) else { continue };
        let label = node_label(&graph.nodes()[index], index);
        for input in 0..node.inputs.len() {
            let all = sources.constants(index, input).filter(|_| !changes.contains_key(&(index, input)));
            let Some(all) = all else { continue };
            if let Some(what) = picked(node, (index, input), &all[0], (ground, sources, view)) {
                told.push(format!("input {input} of {label} stays {what}"));
            } else if let Some(number) = only_number(&all[0])
                && let Some(what) = sizes.iter().find_map(|(name, size)| reading(number, *size, name))
            {
                told.push(format!("input {input} of {label} stays {number}, which was {what}"));
            }
        }
        if let Some((number, name)) = shaped(node, index, (ground, sources, view)) {
            told.push(format!("a size in input 1 of {label} stays {number}, which was {name}"));
        }
        if let Some(kernel) = whole_kernel(node, index, (sources, view)) {
            told.push(format!(
                "attribute kernel_shape of {label} stays {kernel:?}, which was the whole image"
            ));
        }
    }
    told
}

/// The smallest number that is no size by chance.
const LEAST: i64 = 5;

/// The sizes of inputs that are no 1, and their numbers in the file.
fn named_sizes(ground: &Ground<'_>) -> Vec<(String, i64)> {
    let named = ground.sizes.iter().filter(|(_, size)| **size > 1);
    let mut found: Vec<_> = named.map(|(name, size)| (name.to_string(), *size)).collect();
    found.sort_unstable();
    found
}

/// Sizes and their numbers in the file: those of inputs, then those that nodes make of them.
fn open_sizes(ground: &Ground<'_>, sources: &Sources<'_>, view: &ChangedModel) -> Vec<(String, i64)> {
    let mut found = named_sizes(ground);
    let symbols = view.inference.symbols();
    for dim in view.sizes_of_nodes(ground) {
        let number = sources.values(symbols, dim).map(|all| all[0]).filter(|number| *number >= LEAST);
        let Some((number, text)) = number.zip(view.text(ground, dim)) else { continue };
        if found.len() < MAX_SIZES && !found.iter().any(|(name, _)| **name == *text) {
            found.push((text.to_string(), number));
        }
    }
    found
}

/// The number among the sizes of a Reshape that is a size of an input, and the name of that, if the
/// node sees no open size but those that are 1: a grid that was made for an image.
fn shaped(
    node: &Node,
    index: usize,
    (ground, sources, view): (&Ground<'_>, &Sources<'_>, &ChangedModel),
) -> Option<(i64, String)> {
    let row = operators::row_of(Standard::Onnx, node).filter(|row| row.domain.is_empty())?;
    if row.name != "Reshape" {
        return None;
    }
    let is_large = |dim: &Dim| {
        let number = sources.values(view.inference.symbols(), *dim);
        dim.known().is_none() && number.is_none_or(|all| all[0] > 1)
    };
    if view.dims(index, 0)?.iter().any(is_large) {
        return None;
    }
    let named = named_sizes(ground);
    view.elements(index, 1)?.iter().find_map(|element| {
        let number = element.known()?;
        let (name, _) = named.iter().find(|(_, size)| *size == number && number >= LEAST)?;
        Some((number, name.clone()))
    })
}

/// Picks elements of the second half of an open axis, if a node does: their number and the axis.
fn picked(
    node: &Node,
    (index, input): (usize, usize),
    constant: &Tensor,
    (ground, sources, view): (&Ground<'_>, &Sources<'_>, &ChangedModel),
) -> Option<String> {
    let row = operators::row_of(Standard::Onnx, node).filter(|row| row.domain.is_empty())?;
    let dims = view.dims(index, 0)?;
    let rank = i64_of(dims.len());
    let is_slice = row.role == Role::Slice && matches!(input, 1 | 2);
    let is_tuples = row.name == "GatherND" && input == 1;
    let is_indices = is_tuples || (matches!(row.name, "Gather" | "GatherElements") && input == 1);
    if !(is_slice || is_indices) || constant.len() > 1 << 16 {
        return None;
    }
    let numbers = constant.to_i64().ok()?;
    let axes = match (is_slice, node.attribute("axis")) {
        (false, _) if is_tuples => {
            let batch = match node.attribute("batch_dims") {
                Some(Content::Int(batch)) => *batch,
                _ => 0,
            };
            let len = i64_of(*constant.shape().dims().last()?);
            (0..i64_of(numbers.len())).map(|place| batch + place % len).collect()
        }
        (false, Some(Content::Int(axis))) => vec![*axis; numbers.len()],
        (false, _) => vec![0; numbers.len()],
        (true, _) => match sources.constants(index, 3) {
            Some(all) => few_integers(&all[0])?,
            None => (0..rank).collect(),
        },
    };
    let far = numbers.iter().zip(axes).filter_map(|(&number, axis)| {
        let axis = usize::try_from(from_start(axis, rank)).ok()?;
        let dim = dims.get(axis).filter(|dim| dim.known().is_none())?;
        let size = sources.values(view.inference.symbols(), *dim)?[0];
        let far = (number.unsigned_abs().saturating_mul(2) >= size.unsigned_abs()) && size > 1;
        (far && number.unsigned_abs() <= size.unsigned_abs()).then_some((number, *dim, size))
    });
    let (number, dim, size) = far.max_by_key(|(number, ..)| number.unsigned_abs())?;
    let up_to = if constant.len() > 1 && is_indices { "up to " } else { "" };
    Some(format!("{up_to}{number} along an axis that is {} and was {size}", view.text(ground, dim)?))
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
        (size / (size - 1.0), format!("{name}/({name} - 1)")),
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
