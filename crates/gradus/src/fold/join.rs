//! Nodes that read one value, made one: Slices that together are the value, and products by several
//! constant matrices.

use std::collections::BTreeMap;

use bytes::Bytes;
use foldhash::HashMap;
use gradus_core::convert::{from_start, i64_of, u64_of, usize_of_i64};
use gradus_core::graph::{Standard, ValueId};
use gradus_core::sort::SharedSort;
use gradus_core::{DType, Shape, Tensor};

use super::GraphFolder;
use super::rules::{NodeView, Pass, bounds};
use super::scope::{FoldState, Read};
use crate::dim::Dim;

/// Fewest products that are joined: a product and a Split stand for them.
const FEWEST: usize = 3;

/// Values that a Split gives of one value, or of its product by a matrix.
pub(super) struct Joined {
    pub(super) of: ValueId,
    /// Constant matrices, side by side.
    pub(super) matrix: Option<Tensor>,
    /// The axis of the Split.
    pub(super) axis: i64,
    /// The values, and the size of each along the axis.
    pub(super) parts: Vec<(ValueId, i64)>,
}

impl Joined {
    /// The values that the Split gives.
    pub(super) fn outputs(&self) -> impl Iterator<Item = ValueId> {
        self.parts.iter().map(|(id, _)| *id)
    }
}

/// A Slice of steps of 1 along one axis of known size.
struct Piece {
    node: usize,
    start: i64,
    end: i64,
}

/// Splits values of which all Slices together are the value, and joins products. To be called when
/// it is known what is needed.
pub(super) fn choose<'m>(scope: &mut FoldState<'m>, folder: &mut GraphFolder<'m>) {
    if scope.standard != Standard::Onnx {
        return;
    }
    if scope.rules.has(Pass::SlicesAsSplit) {
        split(scope, folder);
    }
    if scope.rules.has(Pass::JoinedProducts) {
        products(scope, folder);
    }
}

fn split<'m>(scope: &mut FoldState<'m>, folder: &mut GraphFolder<'m>) {
    let mut groups: BTreeMap<(ValueId, usize), Vec<Piece>> = BTreeMap::new();
    for &index in scope.graph.order().iter().filter(|&&index| scope.nodes[index].stays) {
        if let Some((key, piece)) = piece(scope, index) {
            groups.entry(key).or_default().push(piece);
        }
    }
    groups.retain(|(id, axis), pieces| is_whole(scope, *id, *axis, pieces));
    if groups.is_empty() {
        return;
    }
    // Another fold sees the readers of the Splits, and no longer needs the bounds.
    folder.report.unsettled = true;
    scope.in_parts = groups.values().flatten().map(|piece| piece.node).collect();
    scope.forget_needs();
    scope.need_outputs(folder);
    for ((of, axis), pieces) in groups {
        let mut parts = Vec::new();
        for &Piece { node, start, end } in in_order(&pieces) {
            let output = scope.graph.nodes()[node].outputs.first().copied().flatten();
            parts.extend(output.map(|id| (id, end - start)));
            scope.nodes[node].stays = false;
        }
        scope.joined.insert(pieces[0].node, Joined { of, matrix: None, axis: i64_of(axis), parts });
    }
}

/// The Slice of steps of 1 that a node is, and the value and axis that it takes it of. Lists of
/// integers are left to the rules about shapes.
fn piece(scope: &FoldState<'_>, index: usize) -> Option<((ValueId, usize), Piece)> {
    let view = NodeView::new(scope, index);
    let [starts, ends, axes, steps] = bounds(&view)?;
    let ([start], [end], [axis], [1]) = (&starts[..], &ends[..], &axes[..], &steps[..]) else { return None };
    let (of, output, axis) = (view.value(0)?, view.output()?, usize_of_i64(*axis)?);
    let dims = view.dims(0)?;
    let size = dims.get(axis)?.known()?;
    let value = &scope.values[output.index()];
    let is_list = dims.len() == 1 && view.dtype_of(of)?.is_integer();
    if value.read != Read::Own || value.fixed || is_list {
        return None;
    }
    let place = |bound: i64| from_start(bound, size).clamp(0, size);
    let (start, end) = (place(*start), place(*end));
    (start < end).then_some(((of, axis), Piece { node: index, start, end }))
}

fn in_order(pieces: &[Piece]) -> Vec<&Piece> {
    let mut pieces: Vec<_> = pieces.iter().collect();
    pieces.shared_sort_by_key(|piece| piece.start);
    pieces
}

/// Returns true if several pieces are all of a value along an axis, each element once.
fn is_whole(scope: &FoldState<'_>, of: ValueId, axis: usize, pieces: &[Piece]) -> bool {
    let mut at = 0;
    let follows = |piece: &Piece| std::mem::replace(&mut at, piece.end) == piece.start;
    let joins = pieces.len() > 1 && in_order(pieces).into_iter().all(follows);
    let dims = scope.values[of.index()].fact.as_tensor().and_then(|fact| fact.dims.as_ref());
    joins && dims.and_then(|dims| dims.get(axis)) == Some(&Dim::Known(at))
}

/// Joins the products by constant matrices that are kept.
fn products(scope: &mut FoldState<'_>, folder: &GraphFolder<'_>) {
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
        let is_small = u64_of(bytes) <= folder.given.max_bytes;
        let Some(matrix) = beside(members).filter(|_| members.len() >= FEWEST && is_small) else { continue };
        let mut products = Vec::new();
        for (index, weights, matrix) in members {
            let output = scope.graph.nodes()[*index].outputs[0];
            products.extend(output.map(|id| (id, i64_of(matrix.shape().dims()[1]))));
            scope.values[weights.index()].needed = false;
            scope.nodes[*index].stays = false;
        }
        let joined = Joined { of: factor, matrix: Some(matrix), axis: -1, parts: products };
        scope.joined.insert(members[0].0, joined);
    }
}

/// The factor, the constant and its elements of a `MatMul` by a matrix that nothing else reads.
fn product(scope: &FoldState<'_>, index: usize) -> Option<(ValueId, ValueId, Tensor)> {
    let view = NodeView::new(scope, index);
    if view.operator() != "MatMul" {
        return None;
    }
    let (factor, weights, output) = (view.value(0)?, view.value(1)?, view.output()?);
    let is_own = scope.values[output.index()].read == Read::Own;
    let is_float = view.dtype_of(output).is_some_and(DType::is_float);
    let is_wide = view.dims_of(factor)?.len() >= 2;
    if !(is_own && is_float && is_wide && scope.is_read_once(weights)) {
        return None;
    }
    let matrix = view.weight(1).filter(|matrix| matrix.shape().rank() == 2 && !matrix.shape().is_empty())?;
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
