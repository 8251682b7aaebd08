//! Sums and maxima of the rows of segments in the operators of ONNX: rows are scattered to the
//! segments that they belong to.

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{DType, Result};

use crate::conversion::caveats;
use crate::conversion::report::cannot;
use crate::lowering::{LoweredValue, Lowering, int};
use crate::operators::errors;
use crate::operators::indexing::to_onnx::{indices, weighted};

/// The segments of rows, and the number of segments as a list.
struct Segments {
    ids: LoweredValue,
    count: LoweredValue,
    rank: usize,
}

impl Segments {
    /// Segments that begin at offsets; the last one ends with the indices.
    fn of_offsets(l: &mut Lowering<'_>, rank: usize) -> Result<Segments> {
        let (all, offsets) = (l.input(1)?, l.whole(2)?);
        let (count, all) = (l.shape(offsets)?, l.shape(all)?);
        // Offsets up to each place are counted; one may lie behind the last place.
        let (one, zero) = (l.list(&[1])?, l.scalar(0)?);
        let places = l.apply("Add", &[all, one], &[])?;
        let begins = tallied(l, offsets, places, DType::I64)?;
        let sums = l.apply("CumSum", &[begins, zero], &[])?;
        let (first, axis) = (l.list(&[0])?, l.list(&[0])?);
        let sums = l.apply("Slice", &[sums, first, all, axis], &[])?;
        Ok(Segments { ids: l.apply("Sub", &[sums, one], &[])?, count, rank })
    }

    /// Segments whose numbers are the second input but one, as many as `input` says.
    fn of_ids(l: &mut Lowering<'_>, ids: usize, input: usize, rank: usize) -> Result<Segments> {
        let ids = l.whole(ids)?;
        let count = if l.has(input) { l.whole_list(input)? } else { Segments::behind_last(l, ids)? };
        Ok(Segments { ids, count, rank })
    }

    /// One more than the greatest number, as a list; of none, 0.
    fn behind_last(l: &mut Lowering<'_>, ids: LoweredValue) -> Result<LoweredValue> {
        let (none, one) = (l.list(&[-1])?, l.list(&[1])?);
        let all = l.apply("Concat", &[ids, none], &[int("axis", 0)])?;
        let last = l.apply("ReduceMax", &[all], &[])?;
        l.apply("Add", &[last, one], &[])
    }

    /// Reduces the rows of each segment, and what is there before.
    fn scattered(
        &self,
        l: &mut Lowering<'_>,
        rows: LoweredValue,
        before: LoweredValue,
        reduction: &'static str,
    ) -> Result<LoweredValue> {
        let (last, sizes) = (l.list(&[1])?, l.shape(rows)?);
        let tail = l.part_of(sizes, 1, i64_of(self.rank))?;
        let dims = l.apply("Concat", &[self.count, tail], &[int("axis", 0)])?;
        let before = l.apply("Expand", &[before, dims], &[])?;
        let at = l.apply("Unsqueeze", &[self.ids, last], &[])?;
        let reduction = [("reduction", Content::Bytes(reduction.into()))];
        l.apply("ScatterND", &[before, at, rows], &reduction)
    }

    /// The number of rows of each segment, of the rank of the rows.
    fn counts(&self, l: &mut Lowering<'_>, dtype: DType) -> Result<LoweredValue> {
        let counts = tallied(l, self.ids, self.count, dtype)?;
        if self.rank == 1 {
            return Ok(counts);
        }
        let behind = l.list(&(1..i64_of(self.rank)).collect::<Vec<_>>())?;
        l.apply("Unsqueeze", &[counts, behind], &[])
    }

    /// A value where a segment has no row.
    fn where_empty(
        &self,
        l: &mut Lowering<'_>,
        value: LoweredValue,
        result: LoweredValue,
    ) -> Result<LoweredValue> {
        let (counts, none) = (self.counts(l, DType::I64)?, l.scalar(0)?);
        let empty = l.apply("Equal", &[counts, none], &[])?;
        l.apply("Where", &[empty, value, result], &[])
    }
}

/// Counts how often each number from 0 on occurs in a list, up to a length.
fn tallied(
    l: &mut Lowering<'_>,
    ids: LoweredValue,
    length: LoweredValue,
    dtype: DType,
) -> Result<LoweredValue> {
    let (zero, one, sizes) = (l.number(0.0, dtype)?, l.number(1.0, dtype)?, l.shape(ids)?);
    let (zeros, ones) = (l.apply("Expand", &[zero, length], &[])?, l.apply("Expand", &[one, sizes], &[])?);
    let adds = [int("axis", 0), ("reduction", Content::Bytes("add".into()))];
    l.apply("ScatterElements", &[zeros, ids, ones], &adds)
}

/// `EmbeddingBagOffsets`, `EmbeddingBagOffsetsSum` and `EmbeddingSegmentsSum`.
pub(crate) fn embedding(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.rounding_of_floats(caveats::ORDER);
    let by_ids = &*l.node.operator.name == "EmbeddingSegmentsSum";
    let mean = match l.attributes.text("reduction")?.unwrap_or("sum") {
        "sum" => false,
        "mean" => true,
        other => return Err(errors::text("reduction", other, "sum or mean")),
    };
    let (table, chosen, rank, dtype) = (l.input(0)?, indices(l, 1)?, l.rank_of(0)?, l.dtype_of(0)?);
    let default = if by_ids { 4 } else { 3 };
    let rows = l.apply("Gather", &[table, chosen], &[int("axis", 0)])?;
    let rows = weighted(l, rows, default + 1, 1)?;
    let segments = if by_ids { Segments::of_ids(l, 2, 3, rank)? } else { Segments::of_offsets(l, rank)? };
    let zero = l.number(0.0, dtype)?;
    let mut result = segments.scattered(l, rows, zero, "add")?;
    if mean {
        let (counts, one) = (segments.counts(l, dtype)?, l.number(1.0, dtype)?);
        let counts = l.apply("Max", &[counts, one], &[])?;
        result = l.apply("Div", &[result, counts], &[])?;
    }
    if l.has(default) {
        let known = l.known_integers(default)?;
        if known.as_ref().is_none_or(|index| index.first().is_some_and(|&index| index >= 0)) {
            let (index, first) = (l.whole_scalar(default)?, l.scalar(0)?);
            let at = if known.is_some() { index } else { l.apply("Max", &[index, first], &[])? };
            let mut row = l.apply("Gather", &[table, at], &[int("axis", 0)])?;
            if known.is_none() {
                // Below 0, empty segments have no row.
                let none = l.apply("Less", &[index, first], &[])?;
                row = l.apply("Where", &[none, zero, row], &[])?;
            }
            result = segments.where_empty(l, row, result)?;
        }
    }
    Ok(vec![result])
}

/// `SegmentMax`. Rows of segments behind the last one are left out.
pub(crate) fn segment_max(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.edges_of_floats(caveats::NAN);
    let (rows, rank, dtype) = (l.input(0)?, l.rank_of(0)?, l.dtype_of(0)?);
    let mut segments = Segments::of_ids(l, 1, 2, rank)?;
    let wanted = segments.count;
    if l.has(2) {
        let all = Segments::behind_last(l, segments.ids)?;
        segments.count = l.apply("Max", &[all, wanted], &[])?;
    }
    let lowest = match dtype {
        DType::F16 => -65504.0,
        DType::BF16 => -3.389_531_389_251_535_5e38,
        DType::F32 => f32::MIN.into(),
        DType::F64 => f64::MIN,
        DType::I8 => i8::MIN.into(),
        DType::I16 => i16::MIN.into(),
        DType::I32 => i32::MIN.into(),
        DType::I64 => -9_223_372_036_854_775_808.0,
        _ => 0.0,
    };
    let fill = match l.attributes.text("fill_mode")?.unwrap_or("ZERO") {
        text if text.eq_ignore_ascii_case("zero") => 0.0,
        text if text.eq_ignore_ascii_case("lowest") => lowest,
        other => return Err(cannot(format!("ONNX has no equivalent of SegmentMax with fill_mode={other}"))),
    };
    let (least, fill) =
        (l.number(if dtype.is_float() { f64::NEG_INFINITY } else { lowest }, dtype)?, l.number(fill, dtype)?);
    let result = segments.scattered(l, rows, least, "max")?;
    let result = segments.where_empty(l, fill, result)?;
    if !l.has(2) {
        return Ok(vec![result]);
    }
    let (first, axis) = (l.list(&[0])?, l.list(&[0])?);
    Ok(vec![l.apply("Slice", &[result, first, wanted, axis], &[])?])
}
