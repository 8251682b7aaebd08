//! Products of one value by several constant matrices, made one product.

use bytes::Bytes;
use foldhash::HashMap;
use gradus_core::graph::{Standard, ValueId};
use gradus_core::{DType, Shape, Tensor};

use super::GraphFolder;
use super::rules::{NodeView, Pass};
use super::scope::{FoldState, Read};

/// Fewest products that are joined: a product and a Split stand for them.
const FEWEST: usize = 3;

/// The operator set from which Split takes its sizes as an input.
const FIRST_VERSION: i64 = 13;

/// Products by constants that are computed by one, and split.
pub(super) struct Joined {
    /// The factor that they have in common.
    pub(super) factor: ValueId,
    /// The matrices, side by side.
    pub(super) matrix: Tensor,
    /// The products, and how many columns each has.
    pub(super) products: Vec<(ValueId, i64)>,
}

impl Joined {
    /// Returns true if a value is one of the products.
    pub(super) fn has(&self, id: ValueId) -> bool {
        self.products.iter().any(|(product, _)| *product == id)
    }
}

/// Joins the products that stay. To be called when it is known what is needed.
pub(super) fn choose(scope: &mut FoldState<'_>, folder: &GraphFolder<'_>) {
    if !scope.rules.has(Pass::JoinedProducts) || scope.standard != Standard::Onnx {
        return;
    }
    let mut found: Vec<Vec<(usize, ValueId, Tensor)>> = Vec::new();
    let mut groups: HashMap<(ValueId, DType, usize), usize> = HashMap::default();
    for &index in scope.graph.order().iter().filter(|&&index| scope.nodes[index].stays) {
        let Some((factor, weights, matrix)) = product(scope, index) else { continue };
        let rows = matrix.shape().dims()[0];
        let group = *groups.entry((factor, matrix.dtype(), rows)).or_insert_with(|| {
            found.push(Vec::new());
            found.len() - 1
        });
        found[group].push((index, weights, matrix));
    }
    for ((factor, ..), group) in groups {
        let members = &found[group];
        let bytes: usize = members.iter().map(|(_, _, matrix)| matrix.byte_len()).sum();
        let is_small = gradus_core::convert::u64_of(bytes) <= folder.given.most_bytes;
        let Some(matrix) = beside(members).filter(|_| members.len() >= FEWEST && is_small) else { continue };
        let mut products = Vec::new();
        for (index, weights, matrix) in members {
            let output = scope.graph.nodes()[*index].outputs[0];
            products.extend(output.map(|id| (id, gradus_core::convert::i64_of(matrix.shape().dims()[1]))));
            scope.values[weights.index()].needed = false;
            scope.nodes[*index].stays = false;
        }
        scope.joined.insert(members[0].0, Joined { factor, matrix, products });
    }
}

/// The factor, the constant and its elements of a `MatMul` by a matrix that nothing else reads.
fn product(scope: &FoldState<'_>, index: usize) -> Option<(ValueId, ValueId, Tensor)> {
    let view = NodeView::new(scope, index);
    if view.operator() != "MatMul" || view.version() < FIRST_VERSION {
        return None;
    }
    let (factor, weights, output) = (view.value(0)?, view.value(1)?, view.output()?);
    let is_own = scope.values[output.index()].read == Read::Own;
    let is_float = view.dtype_of(output).is_some_and(DType::is_float);
    let is_wide = view.dims_of(factor)?.len() >= 2;
    if !(is_own && is_float && is_wide && scope.is_read_once(weights)) {
        return None;
    }
    let matrix =
        view.constant(1).filter(|matrix| matrix.shape().rank() == 2 && !matrix.shape().is_empty())?;
    Some((factor, weights, matrix))
}

/// The matrices side by side.
fn beside(members: &[(usize, ValueId, Tensor)]) -> Option<Tensor> {
    let first = &members.first()?.2;
    let rows = first.shape().dims()[0];
    let mut parts = Vec::new();
    for (_, _, matrix) in members {
        parts.push((matrix.bytes()?, matrix.byte_len() / rows));
    }
    let mut bytes = Vec::new();
    for row in 0..rows {
        for (part, stride) in &parts {
            bytes.extend_from_slice(&part[row * stride..(row + 1) * stride]);
        }
    }
    let columns = members.iter().map(|(_, _, matrix)| matrix.shape().dims()[1]).sum();
    Tensor::from_bytes(first.dtype(), Shape::new(vec![rows, columns]).ok()?, Bytes::from(bytes)).ok()
}
