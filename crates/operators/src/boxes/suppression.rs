//! Evaluation of `NonMaxSuppression` of ONNX and of OpenVINO, whose boxes are upright, and of what
//! the latter shares with `NMSRotated`.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use gradus_core::convert::{Rules, cast, i64_of, nearest_f64, product, truncated};
use gradus_core::{DType, Error, Number, Result, Shape, Tensor, Value};

use crate::attributes::Attributes;
use crate::errors;
use crate::op::EvalContext;
use crate::words;

/// `NonMaxSuppression`: of boxes that overlap, the one with the best score.
pub fn non_max_suppression(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (boxes, scores) = (cx.floats(0)?, cx.floats(1)?);
    let [batch, classes, count] = cx.dims(1)?;
    let first = |input: usize| Ok::<_, Error>(cx.maybe_floats(input)?.and_then(|all| all.first().copied()));
    let most =
        first(2)?.map_or(0, |most| truncated(most).and_then(|most| usize::try_from(most).ok()).unwrap_or(0));
    let (overlap, threshold) = (first(3)?.unwrap_or(0.0), first(4)?);
    if !(0.0..=1.0).contains(&overlap) {
        return Err(errors::value("threshold of overlaps", overlap, "from 0 to 1"));
    }
    let centered = attributes.flag("center_point_box", false)?;
    let mut selected: Vec<i64> = Vec::new();
    for at in 0..batch * classes {
        let scores = &scores[at * count..][..count];
        let mut order: Vec<_> =
            (0..count).filter(|&b| threshold.is_none_or(|threshold| scores[b] > threshold)).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
        let mut kept: Vec<Upright> = Vec::new();
        for candidate in order {
            if kept.len() >= most {
                break;
            }
            cx.run.touch(product(kept.len() + 1, 1))?;
            let own = Upright::new(&boxes[(at / classes * count + candidate) * 4..][..4], centered);
            if kept.iter().all(|other| own.overlap(other) <= overlap) {
                kept.push(own);
                cx.reserve(product(selected.len() + 3, size_of::<i64>()))?;
                selected.extend([at / classes, at % classes, candidate].map(i64_of));
            }
        }
    }
    let rows = selected.len() / 3;
    Ok(vec![Tensor::from_vec(Shape::new([rows, 3])?, selected)?.into()])
}

/// A box whose sides are parallel to the axes: its low and high bounds along both.
pub(super) struct Upright([(f64, f64); 2]);

impl Upright {
    /// The box of two corners, or of a center, a width and a height.
    pub(super) fn new(numbers: &[f64], centered: bool) -> Upright {
        let along = |axis: usize| {
            let (a, b) = (numbers[axis], numbers[axis + 2]);
            if centered { (a - b / 2.0, a + b / 2.0) } else { (a.min(b), a.max(b)) }
        };
        Upright([along(0), along(1)])
    }

    fn area(&self) -> f64 {
        (self.0[0].1 - self.0[0].0) * (self.0[1].1 - self.0[1].0)
    }

    /// The common area of two boxes as a part of that of both.
    pub(super) fn overlap(&self, other: &Upright) -> f64 {
        let along = |axis: usize| self.0[axis].1.min(other.0[axis].1) - self.0[axis].0.max(other.0[axis].0);
        let (first, second) = (along(0), along(1));
        let (own, other, both) = (self.area(), other.area(), first * second);
        if first > 0.0 && second > 0.0 && own > 0.0 && other > 0.0 {
            both / (own + other - both)
        } else {
            0.0
        }
    }
}

/// A box that may be chosen. The first `seen` chosen boxes have already reduced its score.
struct Candidate {
    score: f64,
    place: usize,
    seen: usize,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Candidate) -> Ordering {
        self.score.total_cmp(&other.score).then(other.place.cmp(&self.place))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Candidate) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Candidate) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

/// `NonMaxSuppression` of OpenVINO.
pub fn of_upright(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let boxes = cx.floats(0)?;
    let centered = words::BOX_ENCODING.of(attributes)? == "center";
    let of_box = |at: usize| Upright::new(&boxes[at * 4..][..4], centered);
    selected(attributes, cx, of_box, Upright::overlap)
}

/// The chosen boxes of each image and class, their scores, and their number. Boxes are left out if
/// they overlap a better one by more than a threshold; or else, if an input says how fast, scores
/// decay with the overlap.
pub(super) fn selected<B>(
    attributes: &Attributes<'_>,
    cx: &mut EvalContext<'_>,
    of_box: impl Fn(usize) -> B,
    overlap: impl Fn(&B, &B) -> f64,
) -> Result<Vec<Value>> {
    let [images, classes, count] = cx.dims(1)?;
    let scores = cx.floats(1)?;
    let most = if cx.has(2) { cx.integer(2)? } else { 0 };
    let most = usize::try_from(most.max(0)).unwrap_or(usize::MAX);
    let number = |input: usize| -> Result<f64> {
        if cx.has(input) { Ok(nearest_f64(cx.only(input)?.only_number()?)) } else { Ok(0.0) }
    };
    let (threshold, least, sigma) = (number(3)?, number(4)?, number(5)?);
    let decay = |overlap: f64| if sigma > 0.0 { libm::exp(-overlap * overlap / (2.0 * sigma)) } else { 1.0 };
    // Image, class, box and score.
    let mut found: Vec<([i64; 3], f64)> = Vec::new();
    // Without boxes, there may be more classes than anything counts.
    let lines = if count == 0 { 0 } else { images * classes };
    for at in 0..lines {
        let scores = &scores[at * count..][..count];
        cx.run.touch(product(count, 2))?;
        cx.reserve(product(count, size_of::<Candidate>()))?;
        let takes_part = (0..count).filter(|&place| scores[place] > least);
        let candidate = |place| Candidate { score: scores[place], place, seen: 0 };
        let mut candidates: BinaryHeap<_> = takes_part.map(candidate).collect();
        let mut kept: Vec<B> = Vec::new();
        while let Some(Candidate { score: before, place, seen }) = candidates.pop() {
            if kept.len() >= most {
                break;
            }
            cx.run.touch(product(kept.len() - seen + 1, 64))?;
            let (own, mut score) = (of_box(at / classes * count + place), before);
            let stays = kept[seen..].iter().rev().all(|other| {
                let overlap = overlap(&own, other);
                score *= decay(overlap);
                (sigma > 0.0 || overlap <= threshold) && score > least
            });
            if !stays {
                continue;
            }
            if score < before {
                candidates.push(Candidate { score, place, seen: kept.len() });
                continue;
            }
            cx.reserve(product(2, size_of::<B>() + size_of::<([i64; 3], f64)>() + 48))?;
            kept.push(own);
            found.push(([at / classes, at % classes, place].map(i64_of), score));
        }
    }
    if attributes.flag("sort_result_descending", true)? {
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
    }
    let to = attributes.index_dtype("output_type")?.unwrap_or(DType::I64);
    let shape = Shape::new([found.len(), 3])?;
    let places = Tensor::from_vec(shape.clone(), found.iter().flat_map(|(at, _)| *at).collect())?;
    let number = |index: i64| nearest_f64(Number::Int(index.into()));
    let rows = found.iter().flat_map(|&([image, class, _], score)| [number(image), number(class), score]);
    let rows = Tensor::from_vec(shape, rows.collect::<Vec<f64>>())?;
    let counts = Tensor::vector(&[i64_of(found.len())]);
    Ok(vec![
        cast(&places, to, Rules::IEEE)?.into(),
        cast(&rows, DType::F32, Rules::IEEE)?.into(),
        cast(&counts, to, Rules::IEEE)?.into(),
    ])
}
