//! Grids: tables whose steps follow from the size of an axis, such as coordinates from 0 to 1 and
//! from -1 to 1, with or without both ends.
//!
//! Element `i` of an axis of size `s` is `start + (i + shift)*span/(s + ends)`: `ends` is -1 where
//! the first and the last element are the ends of the span, else 0; `shift` is 0, 1/2 or 1.
//! Programs compute grids in many ways, so elements are compared but for rounding. Steps that
//! follow from no size are a span over 1.

use gradus_core::convert::{Rules, i64_of, nearest_f64};
use gradus_core::{DType, Number, Shape, Tensor};

use super::table::{MAX_AXES, epsilon, index, slice};

/// The steps along an axis, by element of the other axes: doubles in the shape of one slice.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GridAxis {
    pub(super) span: Tensor,
    pub(super) shift: Tensor,
    /// The number that is added to the size by which the span is divided; nothing if it is a step.
    pub(super) ends: Option<i64>,
}

/// A grid along axes; those that are nothing repeat it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Grid {
    /// Doubles in the shape of one slice.
    pub(super) start: Tensor,
    pub(super) axes: Vec<Option<GridAxis>>,
    /// The type of the table.
    pub(super) dtype: DType,
}

/// A line of a table along an axis: `start + (i + shift)*span/(s + ends)`.
#[derive(Clone, Copy, Default)]
struct Line {
    start: f64,
    span: f64,
    shift: f64,
}

impl Grid {
    /// Returns true if a step follows from a size.
    pub(super) fn follows(&self) -> bool {
        self.axes.iter().flatten().any(|axis| axis.ends.is_some())
    }
}

/// The grids that tables of floats have along open axes, one of each source. One table may have
/// steps that follow from its size or do not; several tell.
pub(super) fn grids(tables: &[Tensor], open: &[usize], numbers: &[Vec<f64>]) -> Vec<Grid> {
    let Some(first) = slice(&tables[0], open, &[], None) else { return Vec::new() };
    if !matches!(first.dtype(), DType::F32 | DType::F64) || open.len() > MAX_AXES {
        return Vec::new();
    }
    let mut options = vec![Vec::new()];
    for _ in open {
        let longer = |ends: &Vec<_>| [None, Some(0), Some(-1)].map(|more| [&ends[..], &[more]].concat());
        options = options.iter().flat_map(longer).collect();
    }
    let mut found: Vec<Grid> = Vec::new();
    for ends in options {
        let Some(grid) = grid(tables, (open, &ends), first.shape(), numbers) else { continue };
        if found.iter().all(|other| other.follows() != grid.follows()) {
            found.push(grid);
        }
        if tables.len() > 1 {
            break;
        }
    }
    found
}

/// The grid that tables have along open axes with these ends; nothing if they have none.
fn grid(
    tables: &[Tensor],
    (open, ends): (&[usize], &[Option<i64>]),
    small: &Shape,
    numbers: &[Vec<f64>],
) -> Option<Grid> {
    let mut start = Vec::with_capacity(small.len());
    let mut lines = vec![Vec::with_capacity(small.len()); open.len()];
    for place in 0..small.len() {
        let (axis, line) = line(tables, (open, ends), &index(place, small.dims()), numbers)?;
        start.push(line.start);
        for (other, lines) in lines.iter_mut().enumerate() {
            lines.push(if Some(other) == axis { line } else { Line::default() });
        }
    }
    let doubles = |all: Vec<f64>| {
        let all = all.into_iter().map(Number::Float);
        Tensor::from_numbers(DType::F64, small.clone(), all, Rules::IEEE).ok()
    };
    let axis = |(lines, ends): (Vec<Line>, &Option<i64>)| {
        if lines.iter().all(|line| line.span == 0.0) {
            // Ends of what has no steps are none.
            return ends.is_none().then_some(None);
        }
        let span = doubles(lines.iter().map(|line| line.span).collect())?;
        let shift = doubles(lines.iter().map(|line| line.shift).collect())?;
        Some(Some(GridAxis { span, shift, ends: *ends }))
    };
    let axes = lines.into_iter().zip(ends).map(axis).collect::<Option<Vec<_>>>()?;
    let is_open = axes.iter().any(Option::is_some);
    is_open.then_some(Grid { start: doubles(start)?, axes, dtype: tables[0].dtype() })
}

/// The number by which a span is divided.
fn divisor(ends: Option<i64>, len: usize) -> f64 {
    ends.map_or(1.0, |ends| (as_float(len) + nearest_f64(Number::Int(ends.into()))).max(1.0))
}

/// The axis along which the elements at a place of the other axes differ, if any, and their line.
fn line(
    tables: &[Tensor],
    (open, ends): (&[usize], &[Option<i64>]),
    place: &[usize],
    numbers: &[Vec<f64>],
) -> Option<(Option<usize>, Line)> {
    let at = |table: usize, moved: &[usize]| {
        let strides = tables[table].shape().strides();
        let mut index = place.to_vec();
        for (axis, moved) in open.iter().zip(moved) {
            index[*axis] = *moved;
        }
        numbers[table][index.iter().zip(&strides).map(|(index, by)| index * by).sum::<usize>()]
    };
    let len = |table: usize, axis: usize| tables[table].shape().dims()[open[axis]];
    let mut first = vec![0; open.len()];
    let mut found: Option<(usize, Line)> = None;
    for (axis, ends) in ends.iter().enumerate() {
        let mut seen = Vec::new();
        for table in 0..tables.len() {
            let last = len(table, axis) - 1;
            if last == 0 {
                continue;
            }
            first[axis] = last;
            let (from, to) = (at(table, &vec![0; open.len()]), at(table, &first));
            first[axis] = 0;
            seen.push((from, (to - from) / as_float(last), divisor(*ends, len(table, axis))));
        }
        if seen.iter().all(|(_, step, _)| *step == 0.0) {
            continue;
        }
        // Two elements are a line whatever they are.
        if found.is_some() || (0..tables.len()).all(|table| len(table, axis) < 3) {
            return None;
        }
        let is_free = ends.is_none() || tables.len() > 1;
        found = Some((axis, line_through(&seen, is_free)?));
    }
    let (axis, line) = match found {
        Some((axis, line)) => (Some(axis), line),
        None => (None, Line { start: at(0, &first), ..Line::default() }),
    };
    for (table, all) in numbers.iter().enumerate() {
        let largest = all.iter().fold(0.0, |most: f64, number| most.max(number.abs()));
        let near = 8.0 * epsilon(tables[table].dtype()) * largest;
        let dims: Vec<usize> = (0..open.len()).map(|axis| len(table, axis)).collect();
        for moved in 0..dims.iter().product() {
            let moved = index(moved, &dims);
            let wanted = axis.map_or(line.start, |axis| {
                let size = divisor(ends[axis], dims[axis]);
                line.start + (as_float(moved[axis]) + line.shift) * line.span / size
            });
            let distance = (at(table, &moved) - wanted).abs();
            if distance.is_nan() || distance > near {
                return None;
            }
        }
    }
    Some((axis, line))
}

/// The line of first elements, steps and divisors, whose steps are one span over the divisor; start
/// and span are round numbers unless they are free.
fn line_through(seen: &[(f64, f64, f64)], is_free: bool) -> Option<Line> {
    let &(first, step, size) = seen.iter().max_by(|a, b| a.2.total_cmp(&b.2))?;
    let span = round(step * size).or(is_free.then_some(step * size))?;
    // Whole steps follow from no size, and spans are units, or turns.
    if !is_free && (step.fract() == 0.0 || span.abs() > 7.0) {
        return None;
    }
    if seen.iter().any(|(_, step, size)| (step * size - span).abs() > 1e-5 * span.abs()) {
        return None;
    }
    let step = span / size;
    [0.0, 0.5, 1.0].into_iter().find_map(|shift| {
        let start = first - shift * step;
        let rounded = round(start).filter(|round| (round - start).abs() <= 1e-6 * span.abs());
        let is_it = |(first, _, size): &(f64, f64, f64)| {
            (first - shift * span / size - start).abs() <= 1e-6 * span.abs()
        };
        let start = rounded.or(is_free.then_some(start))?;
        seen.iter().all(is_it).then_some(Line { start, span, shift })
    })
}

/// The number of few quarters, thirds or halves of a turn that a number is but for rounding.
fn round(number: f64) -> Option<f64> {
    let near = |unit: f64| {
        let round = (number / unit).round() * unit;
        ((round - number).abs() <= 1e-6 * unit.max(number.abs()) && (number / unit).abs() < 1e4)
            .then_some(round)
    };
    [1.0, 0.25, 1.0 / 3.0, std::f64::consts::PI, 0.1].into_iter().find_map(near)
}

fn as_float(count: usize) -> f64 {
    nearest_f64(Number::Int(i64_of(count).into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Case = (fn(f64, f64) -> f64, Option<(f64, f64, f64, Option<i64>)>);

    #[test]
    fn steps_follow_from_sizes() {
        let table = |len: usize, of: &dyn Fn(f64, f64) -> f64| {
            let all = (0..len).map(|at| Number::Float(of(as_float(at), as_float(len))));
            Tensor::from_numbers(DType::F32, Shape::new([len, 1]).unwrap(), all, Rules::IEEE).unwrap()
        };
        let found = |tables: &[Tensor]| {
            let numbers: Vec<Vec<f64>> =
                tables.iter().map(|table| table.numbers().unwrap().map(nearest_f64).collect()).collect();
            let only = |tensor: &Tensor| nearest_f64(tensor.only_number().unwrap());
            let told = |grid: Grid| {
                let axis = grid.axes[0].clone().unwrap();
                (only(&grid.start), only(&axis.span), only(&axis.shift), axis.ends)
            };
            grids(tables, &[0], &numbers).into_iter().map(told).collect::<Vec<_>>()
        };
        let cases: [Case; 7] = [
            (|i, s| i / s, Some((0.0, 1.0, 0.0, Some(0)))),
            (|i, s| (i + 0.5) / s, Some((0.0, 1.0, 0.5, Some(0)))),
            (|i, s| 2.0 * (i + 0.5) / s - 1.0, Some((-1.0, 2.0, 0.5, Some(0)))),
            (|i, s| 2.0 * i / (s - 1.0) - 1.0, Some((-1.0, 2.0, 0.0, Some(-1)))),
            (|i, s| (i + 1.0) * std::f64::consts::TAU / s, Some((0.0, std::f64::consts::TAU, 1.0, Some(0)))),
            (|i, _| 1.0 + i * 0.25, Some((1.0, 0.25, 0.0, None))),
            (|i, s| (i / s).powi(2), None),
        ];
        for (of, wanted) in cases {
            assert_eq!(found(&[table(12, &of), table(20, &of)]), Vec::from_iter(wanted));
            let one = found(&[table(12, &of)]);
            assert!(wanted.is_none_or(|wanted| one.contains(&wanted)), "{one:?}");
            assert_eq!(one.len(), if wanted.is_some() { 2 } else { 0 });
        }
    }
}
