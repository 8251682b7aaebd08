//! Sums and maxima of the rows of segments in the operators of ONNX: rows are scattered to the
//! segments that they belong to.

use gradus_core::convert::i64_of;
use gradus_core::{DType, Result};

use crate::conversion::caveats;
use crate::indexing::to_onnx::{indices, weighted};
use crate::lowering::terms::{
    Term, f, gathered, ints, joined, number, of, part, pick, unsqueezed, whole, with,
};
use crate::lowering::{LoweredValue, Lowering, along, word};
use crate::words;

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
        // Offsets up to each place are counted; one may lie after the last place.
        let begins = tallied(offsets, all + ints(&[1]), DType::I64)?;
        let sums = with("CumSum", [begins, whole(0)], []);
        let sums = with("Slice", [sums, ints(&[0]), all.into(), ints(&[0])], []);
        Ok(Segments { ids: (sums - ints(&[1])).write(l, DType::I64)?, count, rank })
    }

    /// Segments whose numbers are the second input but one, as many as `input` says.
    fn of_ids(l: &mut Lowering<'_>, ids: usize, input: usize, rank: usize) -> Result<Segments> {
        let ids = l.whole(ids)?;
        let count =
            if l.has(input) { l.whole_list(input)? } else { behind_last(ids).write(l, DType::I64)? };
        Ok(Segments { ids, count, rank })
    }

    /// Reduces the rows of each segment, and what is there before.
    fn scattered(&self, rows: LoweredValue, before: Term, reduction: &'static str) -> Term {
        let dims = joined([self.count.into(), part(f("Shape", rows), 1, i64_of(self.rank))], 0);
        let operands = [of("Expand", before, dims), unsqueezed(self.ids, &[1]), rows.into()];
        with("ScatterND", operands, [word("reduction", reduction)])
    }

    /// The number of rows of each segment, of the rank of the rows.
    fn counts(&self, dtype: DType) -> Result<Term> {
        let counts = tallied(self.ids, self.count.into(), dtype)?;
        Ok(match self.rank {
            1 => counts,
            rank => unsqueezed(counts, &(1..i64_of(rank)).collect::<Vec<_>>()),
        })
    }

    /// A value where a segment has no row.
    fn where_empty(&self, value: impl Into<Term>, result: Term) -> Result<Term> {
        Ok(pick(of("Equal", self.counts(DType::I64)?, whole(0)), value, result))
    }
}

/// One more than the largest number, as a list; 0 without numbers.
fn behind_last(ids: LoweredValue) -> Term {
    f("ReduceMax", joined([ids.into(), ints(&[-1])], 0)) + ints(&[1])
}

/// Counts how often each number from 0 on occurs in a list, up to a length.
fn tallied(ids: LoweredValue, length: Term, dtype: DType) -> Result<Term> {
    let zeros = of("Expand", number(0.0, dtype)?, length);
    let ones = of("Expand", number(1.0, dtype)?, f("Shape", ids));
    Ok(with("ScatterElements", [zeros, ids.into(), ones], [along(0), word("reduction", "add")]))
}

/// `EmbeddingBagOffsets`, `EmbeddingBagOffsetsSum` and `EmbeddingSegmentsSum`.
pub fn embedding(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.rounding_of_floats(caveats::ORDER);
    let by_ids = &*l.node.operator.name == "EmbeddingSegmentsSum";
    let mean = words::BAG.of(&l.attributes)? == "mean";
    let (table, rank, dtype) = (l.input(0)?, l.rank_of(0)?, l.dtype_of(0)?);
    let default = if by_ids { 4 } else { 3 };
    let rows = gathered(table, indices(l, 1)?, 0);
    let rows = weighted(l, rows, default + 1, 1)?.write(l, dtype)?;
    let segments = if by_ids { Segments::of_ids(l, 2, 3, rank)? } else { Segments::of_offsets(l, rank)? };
    let mut result = segments.scattered(rows, 0.into(), "add");
    if mean {
        result = result / of("Max", segments.counts(dtype)?, 1);
    }
    if l.has(default) {
        let known = l.known_integers(default)?;
        if known.as_ref().is_none_or(|index| index.first().is_some_and(|&index| index >= 0)) {
            let index = l.whole_scalar(default)?;
            let row = if known.is_some() {
                gathered(table, index, 0)
            } else {
                // Below 0, empty segments have no row.
                let row = gathered(table, of("Max", index, whole(0)), 0);
                pick(of("Less", index, whole(0)), 0, row)
            };
            result = segments.where_empty(row, result)?;
        }
    }
    Ok(vec![result.write(l, dtype)?])
}

/// `SegmentMax`. Rows of segments after the last one are left out.
pub fn segment_max(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.edges_of_floats(caveats::NAN);
    let (rows, rank, dtype) = (l.input(0)?, l.rank_of(0)?, l.dtype_of(0)?);
    let mut segments = Segments::of_ids(l, 1, 2, rank)?;
    let wanted = segments.count;
    if l.has(2) {
        segments.count = of("Max", behind_last(segments.ids), wanted).write(l, DType::I64)?;
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
    let fill = if words::FILL.of(&l.attributes)? == "zero" { 0.0 } else { lowest };
    let least = l.number(if dtype.is_float() { f64::NEG_INFINITY } else { lowest }, dtype)?;
    let fill = l.number(fill, dtype)?;
    let result = segments.where_empty(fill, segments.scattered(rows, least.into(), "max"))?;
    if !l.has(2) {
        return Ok(vec![result.write(l, dtype)?]);
    }
    Ok(vec![with("Slice", [result, ints(&[0]), wanted.into(), ints(&[0])], []).write(l, dtype)?])
}
