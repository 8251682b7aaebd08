//! Suppression of boxes by a loop, of which each iteration chooses a box of each image and class:
//! `NonMaxSuppression` whose scores decay with the overlap, and `NMSRotated`.

use gradus_core::graph::Content;
use gradus_core::{DType, Result, Tensor};

use crate::boxes::rotated::LEAST_AREA;
use crate::dialects::boxes::{columns, expect_rank, greatest};
use crate::dialects::indices::{positions, size};
use crate::errors;
use crate::lowering::terms::{Term, cast, f, of, pick, shaped, with};
use crate::lowering::{LoweredValue, Lowering, along, int};
use crate::words;

/// The overlap of the chosen boxes with all others, by numbers of both, `[image, class, box]`.
type Overlap = fn(&mut Lowering<'_>, &[LoweredValue], &[LoweredValue]) -> Result<LoweredValue>;

/// An input that is one number, as a scalar of float64; 0 if it is not given.
fn scalar(l: &mut Lowering<'_>, input: usize) -> Result<LoweredValue> {
    if !l.has(input) {
        return l.constant(Tensor::scalar(0f64));
    }
    let given = l.input(input)?;
    let given = l.reshape(given, &[])?;
    l.cast(given, DType::F64)
}

/// The value of a term of float64, or of truth.
fn bits(l: &mut Lowering<'_>, term: Term) -> Result<LoweredValue> {
    term.write(l, DType::F64)
}

/// A column of numbers, `[image, box, 1]`, for each class.
fn by_class(l: &mut Lowering<'_>, column: Term, dims: LoweredValue) -> Result<LoweredValue> {
    let column = bits(l, column)?;
    let column = l.transposed(column, &[0, 2, 1])?;
    l.apply("Expand", &[column, dims], &[])
}

/// The chosen boxes, their scores and their number. OpenVINO's text keeps scores that are equal to
/// the threshold; its programs leave these out, as ONNX Runtime does.
fn suppressed(l: &mut Lowering<'_>, numbers: &[LoweredValue], overlap: Overlap) -> Result<Vec<LoweredValue>> {
    let scores = l.input(1)?;
    let scores = l.cast(scores, DType::F64)?;
    let (threshold, least, sigma) = (scalar(l, 3)?, scalar(l, 4)?, scalar(l, 5)?);
    let never = f64::NEG_INFINITY;
    let all = size(l, scores, 2)?;
    let places = positions(l, all)?;
    let most = if l.has(2) {
        of("Min", cast(shaped(l.input(2)?, &[1]), DType::I64), all).put(l)?
    } else {
        l.list(&[0])?
    };
    let most = of("Max", most, 0.0).write(l, DType::I64)?;
    let most = l.reshape(most, &[])?;
    let start = bits(l, pick(of("Greater", scores, least), scores, never))?;
    let none = bits(l, pick(of("Equal", scores, scores), never, never))?;
    let decays = bits(l, of("Greater", sigma, 0.0))?;
    let state = l.repeated(most, &[start, none], |l, _, state| {
        let &[scores, chosen] = state else { return Err(errors::missing("state")) };
        let best = l.apply("ArgMax", &[scores], &[int("axis", 2), int("keepdims", 1)])?;
        let of_best = |l: &mut Lowering<'_>, x| l.apply("GatherElements", &[x, best], &[int("axis", 2)]);
        let score = of_best(l, scores)?;
        let own = numbers.iter().map(|&x| of_best(l, x)).collect::<Result<Vec<_>>>()?;
        let common = overlap(l, &own, numbers)?;
        let decay = f("Exp", f("Neg", common * common) / (sigma * 2.0));
        let decayed = bits(l, pick(decays, scores * decay, scores))?;
        let own = bits(l, of("Equal", places, best))?;
        let far = of("Or", decays, of("LessOrEqual", common, threshold));
        let stays = of("And", of("And", far, of("Greater", decayed, least)), f("Not", own));
        let left = bits(l, pick(stays, decayed, never))?;
        let there = of("And", own, of("Greater", score, never));
        let chosen = bits(l, pick(there, score, chosen))?;
        let candidates = bits(l, of("Greater", left, never))?;
        let count = with("ReduceSum", [cast(candidates, DType::I64)], [int("keepdims", 0)]).put(l)?;
        Ok((of("Greater", count, 0.0).write(l, DType::I64)?, vec![left, chosen]))
    })?;
    // The chosen boxes of each image and class in the order of their scores.
    let order = l.apply_many("TopK", &[state[1], all], &greatest(2), 2)?;
    let there = bits(l, of("Greater", order[0], never))?;
    let rows = with("Transpose", [f("NonZero", there)], [("perm", Content::Ints([1, 0].into()))]).put(l)?;
    let mut score = l.apply("GatherND", &[order[0], rows], &[])?;
    let place = l.apply("GatherND", &[order[1], rows], &[])?;
    let parts = l.apply_many("Split", &[rows], &[int("axis", 1), int("num_outputs", 3)], 3)?;
    let mut owner = l.apply("Concat", &parts[..2], &[int("axis", 1)])?;
    let mut found = with("Concat", [owner.into(), shaped(place, &[-1, 1])], [int("axis", 1)]).put(l)?;
    let count = size(l, score, 0)?;
    if l.attributes.flag("sort_result_descending", true)? {
        let order = l.apply_many("TopK", &[score, count], &greatest(0), 2)?;
        score = order[0];
        found = l.apply("Gather", &[found, order[1]], &[along(0)])?;
        owner = l.apply("Gather", &[owner, order[1]], &[along(0)])?;
    }
    let to = l.attributes.index_dtype("output_type")?.unwrap_or(DType::I64);
    let (score, owner) = (l.reshape(score, &[-1, 1])?, l.cast(owner, DType::F32)?);
    let scored = with("Concat", [owner.into(), cast(score, DType::F32)], [int("axis", 1)]).put(l)?;
    Ok(vec![l.cast(found, to)?, scored, l.cast(count, to)?])
}

/// Boxes in float64, and the sizes of images, classes and boxes.
fn boxes(l: &mut Lowering<'_>) -> Result<[LoweredValue; 2]> {
    expect_rank(l, 0, 3)?;
    expect_rank(l, 1, 3)?;
    let (boxes, scores) = (l.input(0)?, l.input(1)?);
    Ok([l.cast(boxes, DType::F64)?, l.shape(scores)?])
}

/// `NonMaxSuppression`, whose boxes are upright.
pub fn of_upright(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let [boxes, dims] = boxes(l)?;
    let centered = words::BOX_ENCODING.of(&l.attributes)? == "center";
    let given = columns(l, boxes)?;
    let mut numbers = Vec::new();
    for axis in 0..2 {
        let (a, b) = (given[axis], given[axis + 2]);
        let ends = if centered { [a - b / 2.0, a + b / 2.0] } else { [of("Min", a, b), of("Max", a, b)] };
        for end in ends {
            numbers.push(by_class(l, end, dims)?);
        }
    }
    suppressed(l, &numbers, |l, own, all| {
        let along = |axis: usize| {
            let (low, high) = (2 * axis, 2 * axis + 1);
            of("Min", own[high], all[high]) - of("Max", own[low], all[low])
        };
        let (first, second) = (bits(l, along(0))?, bits(l, along(1))?);
        let area = |of: &[LoweredValue]| (of[1] - of[0]) * (of[3] - of[2]);
        let (own, all) = (bits(l, area(own))?, bits(l, area(all))?);
        let common = bits(l, first * second)?;
        let [beside, below] = [first, second].map(|side| of("Greater", side, 0.0));
        let [one, other] = [own, all].map(|area| of("Greater", area, 0.0));
        let meets = of("And", of("And", beside, below), of("And", one, other));
        bits(l, pick(meets, common / (own + all - common), 0.0))
    })
}

/// The corners of a polygon, `[image, class, box, corner]`, along both axes.
type Corners = [LoweredValue; 2];

/// The next corner of each.
fn next(l: &mut Lowering<'_>, corners: LoweredValue) -> Result<LoweredValue> {
    let (zero, one, last, far) = (l.list(&[0])?, l.list(&[1])?, l.list(&[3])?, l.list(&[i64::MAX])?);
    let rest = l.apply("Slice", &[corners, one, far, last], &[])?;
    let first = l.apply("Slice", &[corners, zero, one, last], &[])?;
    l.apply("Concat", &[rest, first], &[int("axis", 3)])
}

/// Cuts convex polygons along a line from one point to another: the part left of it is kept. Each
/// corner becomes two, of which those outside, and the second where no side is cut, lie on others,
/// so that the number of corners does not depend on elements.
fn cut(l: &mut Lowering<'_>, corners: Corners, from: Corners, to: Corners, count: i64) -> Result<Corners> {
    let side = (to[0] - from[0]) * (Term::from(corners[1]) - from[1])
        - (to[1] - from[1]) * (Term::from(corners[0]) - from[0]);
    let side = bits(l, side)?;
    let after = next(l, side)?;
    let inside = bits(l, of("GreaterOrEqual", side, 0.0))?;
    let goes_in = bits(l, of("GreaterOrEqual", after, 0.0))?;
    let crosses = bits(l, of("Xor", inside, goes_in))?;
    let leaves = bits(l, of("And", inside, f("Not", goes_in)))?;
    let part = bits(l, pick(crosses, side / pick(crosses, side - after, 1.0), 0.0))?;
    let last = l.list(&[3])?;
    let ones = bits(l, pick(leaves, 1.0, 0.0))?;
    let sum = l.apply("ReduceSum", &[ones, last], &[int("keepdims", 1)])?;
    let sum = bits(l, of("Max", sum, 1.0))?;
    let mut cut = corners;
    for corner in &mut cut {
        let following = next(l, *corner)?;
        let at = bits(l, part * (following - *corner) + *corner)?;
        // The point at which the polygon leaves the half: all corners outside lie there.
        let exit = bits(l, pick(leaves, at, 0.0))?;
        let exit = l.apply("ReduceSum", &[exit, last], &[int("keepdims", 1)])?;
        let first = bits(l, pick(inside, *corner, exit / sum))?;
        let second = bits(l, pick(crosses, at, first))?;
        let axes = l.list(&[4])?;
        let pair = [first, second].map(|x| l.apply("Unsqueeze", &[x, axes], &[]));
        let [first, second] = pair;
        let pairs = l.apply("Concat", &[first?, second?], &[int("axis", 4)])?;
        *corner = l.reshape(pairs, &[0, 0, 0, 2 * count])?;
    }
    Ok(cut)
}

/// `NMSRotated`: the common area of two boxes is that of one, cut along each side of the other.
pub fn of_turned(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let [boxes, dims] = boxes(l)?;
    let turn = if l.attributes.flag("clockwise", true)? { 1.0 } else { -1.0 };
    let parts = l.apply_many("Split", &[boxes], &[int("axis", 2), int("num_outputs", 5)], 5)?;
    let &[x, y, width, height, angle] = &parts[..] else {
        return Err(errors::missing("numbers of a box"));
    };
    let sine = bits(l, f("Sin", angle * turn) / 2.0)?;
    let cosine = bits(l, f("Cos", angle * turn) / 2.0)?;
    let mut numbers = Vec::new();
    for (along, across) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
        let (width, height) = (width * along, height * across);
        let corner = [width.clone() * cosine - height.clone() * sine + x, width * sine + height * cosine + y];
        for number in corner {
            numbers.push(by_class(l, number, dims)?);
        }
    }
    numbers.push(by_class(l, width * height, dims)?);
    suppressed(l, &numbers, |l, own, all| {
        let last = l.list(&[3])?;
        let mut corners = [all[0]; 2];
        for (axis, corner) in corners.iter_mut().enumerate() {
            let columns = (0..4).map(|at| l.apply("Unsqueeze", &[all[2 * at + axis], last], &[]));
            let columns = columns.collect::<Result<Vec<_>>>()?;
            *corner = l.apply("Concat", &columns, &[int("axis", 3)])?;
        }
        let mut lines = Vec::new();
        for &number in &own[..8] {
            lines.push(l.apply("Unsqueeze", &[number, last], &[])?);
        }
        let mut count = 4;
        for from in 0..4 {
            let point = |at: usize| [lines[2 * (at % 4)], lines[2 * (at % 4) + 1]];
            corners = cut(l, corners, point(from), point(from + 1), count)?;
            count *= 2;
        }
        let mut sides = Vec::new();
        for corner in corners {
            let (zero, one) = (l.list(&[0])?, l.list(&[1])?);
            let first = l.apply("Slice", &[corner, zero, one, last], &[])?;
            let from = bits(l, corner - first)?;
            sides.push([from, next(l, from)?]);
        }
        let twice = bits(l, sides[0][0] * sides[1][1] - sides[1][0] * sides[0][1])?;
        let twice = l.apply("ReduceSum", &[twice, last], &[int("keepdims", 0)])?;
        let common = bits(l, f("Abs", twice) / 2.0)?;
        let (own, all) = (own[8], all[8]);
        let small = of("Less", of("Min", own, all), LEAST_AREA);
        bits(l, pick(small, 0.0, common / (own + all - common)))
    })
}
