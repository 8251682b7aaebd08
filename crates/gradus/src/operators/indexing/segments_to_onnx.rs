//! Sums and maxima of the rows of segments in the operators of ONNX: rows are scattered to the
//! segments that they belong to.

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{DType, Result};

use crate::conversion::caveats;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::cannot;
use crate::conversion::to_onnx::int;
use crate::conversion::writer::NewValue;
use crate::operators::errors;
use crate::operators::indexing::to_onnx::{indices, weighted};

/// The segments of rows, and the number of segments as a list.
struct Segments {
    ids: NewValue,
    count: NewValue,
    rank: usize,
}

impl Segments {
    /// Segments that begin at offsets; the last one ends with the indices.
    fn of_offsets(cx: &mut ConvertContext<'_, '_>, rank: usize) -> Result<Segments> {
        let (all, offsets) = (cx.input(1)?, cx.whole(2)?);
        let (count, all) = (cx.sizes(offsets)?, cx.sizes(all)?);
        // Offsets up to each place are counted; one may lie behind the last place.
        let (one, zero) = (cx.list(&[1]), cx.scalar(0));
        let places = cx.put("Add", &[all, one], &[])?;
        let begins = tallied(cx, offsets, places, DType::I64)?;
        let sums = cx.put("CumSum", &[begins, zero], &[])?;
        let (first, axis) = (cx.list(&[0]), cx.list(&[0]));
        let sums = cx.put("Slice", &[sums, first, all, axis], &[])?;
        Ok(Segments { ids: cx.put("Sub", &[sums, one], &[])?, count, rank })
    }

    /// Segments whose numbers are the second input but one, as many as `input` says.
    fn of_ids(cx: &mut ConvertContext<'_, '_>, ids: usize, input: usize, rank: usize) -> Result<Segments> {
        let ids = cx.whole(ids)?;
        let count = if cx.has(input) { cx.whole_list(input)? } else { Segments::behind_last(cx, ids)? };
        Ok(Segments { ids, count, rank })
    }

    /// One more than the greatest number, as a list; of none, 0.
    fn behind_last(cx: &mut ConvertContext<'_, '_>, ids: NewValue) -> Result<NewValue> {
        let (none, one) = (cx.list(&[-1]), cx.list(&[1]));
        let all = cx.put("Concat", &[ids, none], &[int("axis", 0)])?;
        let last = cx.put("ReduceMax", &[all], &[])?;
        cx.put("Add", &[last, one], &[])
    }

    /// Reduces the rows of each segment, and what is there before.
    fn scattered(
        &self,
        cx: &mut ConvertContext<'_, '_>,
        rows: NewValue,
        before: NewValue,
        reduction: &'static str,
    ) -> Result<NewValue> {
        let (last, sizes) = (cx.list(&[1]), cx.sizes(rows)?);
        let tail = cx.part_of(sizes, 1, i64_of(self.rank))?;
        let dims = cx.put("Concat", &[self.count, tail], &[int("axis", 0)])?;
        let before = cx.put("Expand", &[before, dims], &[])?;
        let at = cx.put("Unsqueeze", &[self.ids, last], &[])?;
        let reduction = [("reduction", Content::Bytes(reduction.into()))];
        cx.put("ScatterND", &[before, at, rows], &reduction)
    }

    /// The number of rows of each segment, of the rank of the rows.
    fn counts(&self, cx: &mut ConvertContext<'_, '_>, dtype: DType) -> Result<NewValue> {
        let counts = tallied(cx, self.ids, self.count, dtype)?;
        if self.rank == 1 {
            return Ok(counts);
        }
        let behind = cx.list(&(1..i64_of(self.rank)).collect::<Vec<_>>());
        cx.put("Unsqueeze", &[counts, behind], &[])
    }

    /// A value where a segment has no row.
    fn where_empty(
        &self,
        cx: &mut ConvertContext<'_, '_>,
        value: NewValue,
        result: NewValue,
    ) -> Result<NewValue> {
        let (counts, none) = (self.counts(cx, DType::I64)?, cx.scalar(0));
        let empty = cx.put("Equal", &[counts, none], &[])?;
        cx.put("Where", &[empty, value, result], &[])
    }
}

/// Counts how often each number from 0 on occurs in a list, up to a length.
fn tallied(
    cx: &mut ConvertContext<'_, '_>,
    ids: NewValue,
    length: NewValue,
    dtype: DType,
) -> Result<NewValue> {
    let (zero, one, sizes) = (cx.number(0.0, dtype)?, cx.number(1.0, dtype)?, cx.sizes(ids)?);
    let (zeros, ones) = (cx.put("Expand", &[zero, length], &[])?, cx.put("Expand", &[one, sizes], &[])?);
    let adds = [int("axis", 0), ("reduction", Content::Bytes("add".into()))];
    cx.put("ScatterElements", &[zeros, ids, ones], &adds)
}

/// `EmbeddingBagOffsets`, `EmbeddingBagOffsetsSum` and `EmbeddingSegmentsSum`.
pub(crate) fn embedding(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.rounding_of_floats(caveats::ORDER);
    let by_ids = &*cx.node.operator.name == "EmbeddingSegmentsSum";
    let mean = match cx.attributes.text("reduction")?.unwrap_or("sum") {
        "sum" => false,
        "mean" => true,
        other => return Err(errors::text("reduction", other, "sum or mean")),
    };
    let (table, chosen, rank, dtype) = (cx.input(0)?, indices(cx, 1)?, cx.rank(0)?, cx.dtype(0)?);
    let default = if by_ids { 4 } else { 3 };
    let rows = cx.put("Gather", &[table, chosen], &[int("axis", 0)])?;
    let rows = weighted(cx, rows, default + 1, 1)?;
    let segments = if by_ids { Segments::of_ids(cx, 2, 3, rank)? } else { Segments::of_offsets(cx, rank)? };
    let zero = cx.number(0.0, dtype)?;
    let mut result = segments.scattered(cx, rows, zero, "add")?;
    if mean {
        let (counts, one) = (segments.counts(cx, dtype)?, cx.number(1.0, dtype)?);
        let counts = cx.put("Max", &[counts, one], &[])?;
        result = cx.put("Div", &[result, counts], &[])?;
    }
    if cx.has(default) {
        let known = cx.known_integers(default)?;
        if known.as_ref().is_none_or(|index| index.first().is_some_and(|&index| index >= 0)) {
            let (index, first) = (cx.whole_scalar(default)?, cx.scalar(0));
            let at = if known.is_some() { index } else { cx.put("Max", &[index, first], &[])? };
            let mut row = cx.put("Gather", &[table, at], &[int("axis", 0)])?;
            if known.is_none() {
                // Below 0, empty segments have no row.
                let none = cx.put("Less", &[index, first], &[])?;
                row = cx.put("Where", &[none, zero, row], &[])?;
            }
            result = segments.where_empty(cx, row, result)?;
        }
    }
    Ok(vec![result])
}

/// `SegmentMax`. Rows of segments behind the last one are left out.
pub(crate) fn segment_max(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    cx.edges_of_floats(caveats::NAN);
    let (rows, rank, dtype) = (cx.input(0)?, cx.rank(0)?, cx.dtype(0)?);
    let mut segments = Segments::of_ids(cx, 1, 2, rank)?;
    let wanted = segments.count;
    if cx.has(2) {
        let all = Segments::behind_last(cx, segments.ids)?;
        segments.count = cx.put("Max", &[all, wanted], &[])?;
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
    let fill = match cx.attributes.text("fill_mode")?.unwrap_or("ZERO") {
        text if text.eq_ignore_ascii_case("zero") => 0.0,
        text if text.eq_ignore_ascii_case("lowest") => lowest,
        other => return Err(cannot(format!("ONNX has no equivalent of SegmentMax with fill_mode={other}"))),
    };
    let (least, fill) = (
        cx.number(if dtype.is_float() { f64::NEG_INFINITY } else { lowest }, dtype)?,
        cx.number(fill, dtype)?,
    );
    let result = segments.scattered(cx, rows, least, "max")?;
    let result = segments.where_empty(cx, fill, result)?;
    if !cx.has(2) {
        return Ok(vec![result]);
    }
    let (first, axis) = (cx.list(&[0]), cx.list(&[0]));
    Ok(vec![cx.put("Slice", &[result, first, wanted, axis], &[])?])
}
