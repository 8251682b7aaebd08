//! Inference of Shape and Size.

use gradus_core::DType;
use gradus_core::convert::{from_start, i64_of, usize_of_i64};

use crate::dim::{Bounds, Dim};
use crate::fact::Fact;
use crate::infer::{InferContext, InferResult};

/// The axes from one bound to the other on a tensor of that rank. Inference and evaluation both ask
/// here.
pub fn window(start: i64, end: Option<i64>, rank: usize) -> std::ops::Range<usize> {
    let clamped = |bound: i64| {
        let rank = i64_of(rank);
        let bound = from_start(bound, rank);
        usize_of_i64(bound.clamp(0, rank)).unwrap_or(0)
    };
    let start = clamped(start);
    start..end.map_or(rank, clamped).max(start)
}

/// The number of axes as a signed number.
pub fn rank_of(dims: &[Dim]) -> i64 {
    i64_of(dims.len())
}

/// Shape of `Shape`: the number of axes, with their sizes as elements.
pub fn shape_rule(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dtype = cx.attributes.index_dtype("output_type")?.unwrap_or(DType::I64);
    let Some(dims) = cx.known_dims(0) else {
        let count = cx.unknown("shape of an input of unknown rank", Bounds::SIZE);
        return Ok(vec![Fact::typed(dtype, [count])]);
    };
    let window = &dims[window(cx.attributes.int_or("start", 0)?, cx.attributes.int("end")?, dims.len())];
    if window.iter().any(|&dim| !cx.fits(dim, dtype)) {
        return Ok(vec![Fact::typed(dtype, [Dim::from(window.len())])]);
    }
    Ok(vec![cx.integers_fact(dtype, [Dim::from(window.len())], window)])
}

/// Fact of `Size`: the number of elements, as its element.
pub fn size_rule(cx: &mut InferContext<'_, '_>) -> InferResult {
    let Some(dims) = cx.known_dims(0) else { return Ok(vec![Fact::typed(DType::I64, [])]) };
    let count = cx.product(&dims);
    Ok(vec![cx.integers_fact(DType::I64, [], [count])])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_follow_the_text() {
        struct SliceCase {
            about: &'static str,
            start: i64,
            end: Option<i64>,
            rank: usize,
            want: std::ops::Range<usize>,
        }
        let case = |about, start, end, rank, want| SliceCase { about, start, end, rank, want };
        let cases = [
            case("all axes", 0, None, 3, 0..3),
            case("the last", -1, None, 3, 2..3),
            case("all but the last", 0, Some(-1), 3, 0..2),
            case("the middle", 1, Some(2), 3, 1..2),
            case("a start below the first axis", -10, None, 3, 0..3),
            case("an end beyond the last axis", 0, Some(10), 3, 0..3),
            case("an end below the first axis is empty", 0, Some(-10), 3, 0..0),
            case("an end of 0 is empty, not absent", 0, Some(0), 3, 0..0),
            case("a start beyond the end is empty", 2, Some(1), 3, 2..2),
            case("a start beyond the last axis is empty", 5, None, 3, 3..3),
            case("a scalar has no axes", 0, None, 0, 0..0),
            case("a scalar has no axes, whatever is asked", -1, Some(1), 0, 0..0),
            case("the greatest bounds", i64::MAX, Some(i64::MAX), 3, 3..3),
            case("the least bounds", i64::MIN, Some(i64::MIN), 3, 0..0),
            case("from the least to the greatest", i64::MIN, Some(i64::MAX), 3, 0..3),
        ];
        for SliceCase { about, start, end, rank, want } in cases {
            assert_eq!(window(start, end, rank), want, "{about}");
        }
    }
}
