//! Tables whose elements follow from their index, found in constants.
//!
//! | pattern | elements | nodes |
//! |---|---|---|
//! | affine | a base at one end, and a step per axis or none | `Range`, `Mul`, `Add`, `Expand` |
//! | counted | the number of the element in row-major order, from a first one on | `Range`, `Reshape` |
//! | band | one number up to a diagonal, another beyond it | `Range`, `Less`, `Where` |
//! | grid | a start, and steps that are a span over the size (`grid.rs`) | `Range`, `Div`, `Add` |
//! | waves | sines and cosines of positions (`waves.rs`) | `Range`, `Mul`, `Sin`, `Cos`, `Expand` |
//! | part | elements of the longest, again along some axes | `Slice`, `Expand` |

use std::sync::Arc;

use gradus_core::convert::{Rules, i64_of, nearest_f32, nearest_f64};
use gradus_core::{DType, Number, Shape, Tensor};

use super::grid::{Grid, grids};
use super::waves::{Waves, waves};

/// A table whose size is open along some axes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Table {
    /// The open axes and their sizes.
    pub(super) axes: Vec<(usize, Arc<str>)>,
    pub(super) pattern: Pattern,
}

/// How elements follow from their index.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Pattern {
    /// The base has one element along open axes, and so has the step of each of these axes; an axis
    /// without steps repeats the base, which is at a place of each.
    Affine { base: Tensor, steps: Vec<Option<Tensor>>, from: Vec<Place> },
    /// The first element, and the number of each in row-major order added to it.
    Counted { rank: usize, first: Tensor },
    /// One element up to the diagonal that is `above` columns right of the main one, another
    /// beyond it.
    Band { rank: usize, above: i64, within: Tensor, beyond: Tensor },
    /// Steps that follow from the size.
    Grid(Grid),
    /// Sines and cosines of the row, which are those of the tables but for rounding. Along
    /// `repeated` axes there is one slice.
    Waves { waves: Waves, repeated: Vec<usize> },
    /// Elements of a table. Along `repeated` axes it has one slice, which all have.
    Part {
        whole: Tensor,
        repeated: Vec<usize>,
        place: Place,
        /// True if the floats of other tables are those of this one but for rounding.
        rounded: bool,
    },
}

/// The place of an element along an axis, or of a part in the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    First,
    Middle,
    Last,
}

impl Place {
    const ALL: [Place; 3] = [Place::First, Place::Middle, Place::Last];

    /// The index along an axis of a length.
    const fn index(self, len: usize) -> usize {
        match self {
            Place::First => 0,
            Place::Middle => len / 2,
            Place::Last => len - 1,
        }
    }

    /// The number of elements before a part of those that it lacks.
    pub(super) const fn before(self, lacking: usize) -> usize {
        match self {
            Place::First => 0,
            Place::Middle => lacking / 2,
            Place::Last => lacking,
        }
    }
}

impl Table {
    /// The formula in words.
    pub(super) fn text(&self) -> String {
        let axes: Vec<_> = self.axes.iter().map(|(axis, size)| format!("axis {axis} of {size}")).collect();
        let how = match &self.pattern {
            Pattern::Affine { steps, .. } if steps.iter().all(Option::is_none) => "one slice, repeated",
            Pattern::Affine { from, .. } if from.contains(&Place::Middle) => "equal steps from the middle",
            Pattern::Affine { from, .. } if from.contains(&Place::Last) => "equal steps, up to the last",
            Pattern::Affine { .. } => "equal steps",
            Pattern::Counted { .. } => "counted in row-major order",
            Pattern::Band { .. } => "two numbers, parted by a diagonal",
            Pattern::Grid(grid) if grid.follows() => "equal steps, which follow from the size",
            Pattern::Grid(_) => "equal steps, but for rounding",
            Pattern::Waves { .. } => "sines and cosines of positions",
            Pattern::Part { place, rounded, .. } => {
                let which = match place {
                    Place::First => "first",
                    Place::Middle => "middle",
                    Place::Last => "last",
                };
                let rounding = if *rounded { ", which rounds otherwise" } else { "" };
                return format!("the {which} elements of the longest table{rounding}, {}", axes.join(", "));
            }
        };
        format!("{how}, {}", axes.join(", "))
    }
}

/// Maximum number of elements of a table that is looked at.
pub(super) const MAX_ELEMENTS: usize = 1 << 22;

/// Maximum number of open axes of which each corner is tried.
pub(super) const MAX_AXES: usize = 3;

/// The patterns that all these tables have, the simplest first: one of each source, open along the
/// same axes, whose sizes are given as texts.
pub(super) fn patterns(tables: &[Tensor], axes: &[(usize, Arc<str>)]) -> Vec<Table> {
    let Some(first) = tables.first() else { return Vec::new() };
    let open: Vec<_> = axes.iter().map(|(axis, _)| *axis).collect();
    let rank = first.shape().rank();
    let alike = |table: &Tensor| {
        let (own, others) = (table.shape().dims(), first.shape().dims());
        own.len() == rank
            && table.dtype() == first.dtype()
            && (0..rank).all(|axis| open.contains(&axis) || own[axis] == others[axis])
            && (1..=MAX_ELEMENTS).contains(&table.len())
    };
    if !tables.iter().all(alike) {
        return Vec::new();
    }
    let numbers = tables.iter().map(numbers).collect::<Option<Vec<_>>>();
    // One table tells of no place; several may have a base at any.
    let mut corners = vec![Vec::new()];
    for _ in &open {
        let places = &Place::ALL[..if tables.len() == 1 || open.len() > MAX_AXES { 1 } else { 3 }];
        let longer = |corner: &Vec<_>| places.iter().map(|place| [&corner[..], &[*place]].concat()).collect();
        corners = corners.iter().flat_map(|corner| -> Vec<_> { longer(corner) }).collect();
    }
    let numbers = numbers.as_ref();
    let at = |corner| affine(tables, numbers?, &open, corner);
    let steps = corners.into_iter().find_map(at);
    // Steps of one table may follow from its size; those of several are the same, or they do.
    let is_told = tables.len() > 1 && steps.is_some();
    let grids = numbers.filter(|_| !is_told).map(|numbers| grids(tables, &open, numbers));
    let grids =
        grids.into_iter().flatten().filter(|grid| steps.is_none() || grid.follows()).map(Pattern::Grid);
    let found = [steps.clone(), counted(tables, &open), band(tables, &open)];
    let mut found: Vec<_> = found.into_iter().flatten().chain(grids).collect();
    // The same elements, where another pattern has them, and no size is too long for that.
    if found.is_empty() {
        found.extend(longest(tables, &open));
    }
    found.into_iter().map(|pattern| Table { axes: axes.to_vec(), pattern }).collect()
}

/// The elements as numbers, where doubles hold them exactly.
fn numbers(table: &Tensor) -> Option<Vec<f64>> {
    let exact = |number| match number {
        Number::Int(value) => (value.unsigned_abs() < 1 << 53).then(|| nearest_f64(number)),
        Number::Float(value) => (!value.is_nan()).then_some(value),
        Number::Complex(..) => None,
    };
    table.numbers().ok()?.map(exact).collect()
}

/// The index of an element along each axis.
pub(super) fn index(mut place: usize, dims: &[usize]) -> Vec<usize> {
    let mut index = vec![0; dims.len()];
    for (axis, &len) in dims.iter().enumerate().rev() {
        index[axis] = place % len;
        place /= len;
    }
    index
}

fn as_float(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// The elements of a table at a place of each open axis, and the next along an axis that is moved:
/// towards the first, unless the place is that.
pub(super) fn slice(table: &Tensor, open: &[usize], from: &[Place], moved: Option<usize>) -> Option<Tensor> {
    let (dims, strides) = (table.shape().dims(), table.shape().strides());
    let small = (0..dims.len()).map(|axis| if open.contains(&axis) { 1 } else { dims[axis] });
    let small = Shape::new(small.collect::<Vec<_>>()).ok()?;
    let places = open.iter().zip(from);
    let start = places.clone().map(|(axis, from)| from.index(dims[*axis]) * strides[*axis]).sum::<usize>();
    let is_first = |moved: usize| places.clone().any(|(axis, from)| *axis == moved && *from == Place::First);
    let places: Vec<usize> = (0..small.len())
        .map(|place| {
            let closed = index(place, small.dims());
            let first = start + closed.iter().zip(&strides).map(|(index, by)| index * by).sum::<usize>();
            match moved {
                Some(axis) if is_first(axis) => first + strides[axis],
                Some(axis) => first - strides[axis],
                None => first,
            }
        })
        .collect();
    table.picked(small, &places, &gradus_core::Limits::default()).ok()
}

fn affine(tables: &[Tensor], numbers: &[Vec<f64>], open: &[usize], from: Vec<Place>) -> Option<Pattern> {
    // The longest table along each axis tells its steps; all tables are then compared with them.
    let at = |table: &Tensor, moved| slice(table, open, &from, moved);
    let base = at(tables.first()?, None)?;
    let small = base.shape().clone();
    // The nodes that compute the table round each product and each sum.
    let rounded = |value: f64| match base.dtype() {
        DType::F32 => f64::from(nearest_f32(Number::Float(value))),
        _ => value,
    };
    let first = self::numbers(&base)?;
    let mut steps: Vec<Vec<f64>> = Vec::new();
    for (&axis, place) in open.iter().zip(&from) {
        let longest = tables.iter().max_by_key(|table| table.shape().dims()[axis])?;
        steps.push(match longest.shape().dims()[axis] {
            0 | 1 => vec![0.0; first.len()],
            _ => {
                let (own, next) = (at(longest, None)?, at(longest, Some(axis))?);
                let (own, next) = (self::numbers(&own)?, self::numbers(&next)?);
                // Infinite elements repeat.
                let sign = if *place == Place::First { 1.0 } else { -1.0 };
                let step =
                    |(own, next): (&f64, &f64)| if own == next { 0.0 } else { rounded(sign * (next - own)) };
                own.iter().zip(&next).map(step).collect()
            }
        });
    }
    let strides = small.strides();
    let fits = |(table, numbers): (&Tensor, &Vec<f64>)| {
        let dims = table.shape().dims();
        let wanted = |place: usize| {
            let index = index(place, dims);
            let closed = (0..index.len()).filter(|axis| !open.contains(axis));
            let at: usize = closed.map(|axis| index[axis] * strides[axis]).sum();
            let moved = steps.iter().zip(open).zip(&from).filter(|((steps, _), _)| steps[at] != 0.0);
            moved.fold(first[at], |sum, ((steps, &axis), from)| {
                let moved = as_float(index[axis]) - as_float(from.index(dims[axis]));
                rounded(sum + rounded(steps[at] * moved))
            })
        };
        numbers.iter().enumerate().all(|(place, own)| *own == wanted(place))
    };
    if !tables.iter().zip(numbers).all(fits) {
        return None;
    }
    let step = |steps: Vec<f64>| {
        if steps.iter().all(|step| *step == 0.0) {
            return Some(None);
        }
        let dtype = base.dtype();
        let steps = steps.into_iter().map(Number::Float);
        // Steps of numbers without a sign, and of truth values, are not computed.
        let counts = dtype.is_float() || matches!(dtype, DType::I64 | DType::I32);
        counts
            .then(|| Tensor::from_numbers(dtype, small.clone(), steps, Rules::IEEE).ok())
            .flatten()
            .map(Some)
    };
    let steps = steps.into_iter().map(step).collect::<Option<Vec<_>>>()?;
    Some(Pattern::Affine { base, steps, from })
}

fn counted(tables: &[Tensor], open: &[usize]) -> Option<Pattern> {
    let table = tables.first()?;
    let (first, dims) = (*numbers(table)?.first()?, table.shape().dims());
    let is_counted = |table: &Tensor| {
        let all = numbers(table)?;
        Some(all.iter().enumerate().all(|(place, number)| *number == first + as_float(place)))
    };
    let whole = (0..dims.len()).all(|axis| dims[axis] == 1 || open.contains(&axis));
    let counts = open.len() > 1 && matches!(table.dtype(), DType::I64 | DType::I32);
    if !whole || !counts || tables.iter().any(|table| is_counted(table) != Some(true)) {
        return None;
    }
    let first = table.picked(Shape::new([]).ok()?, &[0], &gradus_core::Limits::default()).ok()?;
    Some(Pattern::Counted { rank: dims.len(), first })
}

fn band(tables: &[Tensor], open: &[usize]) -> Option<Pattern> {
    let &[row, column] = open else { return None };
    let mut found: Option<(i64, f64, f64)> = None;
    for table in tables {
        let (dims, all) = (table.shape().dims(), numbers(table)?);
        if (0..dims.len()).any(|axis| axis != row && axis != column && dims[axis] != 1) {
            return None;
        }
        let (rows, columns) = (dims[row], dims[column]);
        // The axes are in order, so rows follow each other.
        let at = |i: usize, j: usize| all[i * columns + j];
        let (within, beyond) = (at(rows - 1, 0), at(0, columns - 1));
        let own = (0..columns).take_while(|&j| at(0, j) == within).count();
        let above = match own {
            0 => -i64_of((0..rows).take_while(|&i| at(i, 0) == beyond).count()),
            _ => i64_of(own) - 1,
        };
        let inside = |i: usize, j: usize| i64_of(j) <= i64_of(i) + above;
        let is_band =
            (0..rows).all(|i| (0..columns).all(|j| at(i, j) == if inside(i, j) { within } else { beyond }));
        let own = (above, within, beyond);
        if within == beyond || !is_band || found.is_some_and(|found| found != own) || row > column {
            return None;
        }
        found = Some(own);
    }
    let (above, within, beyond) = found?;
    let table = tables.first()?;
    let one = |wanted: f64| {
        let place = numbers(table)?.iter().position(|number| *number == wanted)?;
        table.picked(Shape::new([]).ok()?, &[place], &gradus_core::Limits::default()).ok()
    };
    let rank = table.shape().rank();
    Some(Pattern::Band { rank, above, within: one(within)?, beyond: one(beyond)? })
}

/// Waves, or else the first elements of the longest table.
fn longest(tables: &[Tensor], open: &[usize]) -> Option<Pattern> {
    let is_repeated = |axis: &usize| tables.iter().all(|table| is_constant_along(table, *axis));
    let (repeated, others): (Vec<_>, Vec<_>) = open.iter().copied().partition(is_repeated);
    let parts = tables.iter().map(|table| slice(table, &repeated, &[], None)).collect::<Option<Vec<_>>>()?;
    if let [rows] = others[..]
        && let Some(numbers) = parts.iter().map(numbers).collect::<Option<Vec<_>>>()
        && let Some(waves) = waves(&parts, rows, &numbers)
    {
        return Some(Pattern::Waves { waves, repeated });
    }
    part(&parts, &repeated)
}

fn part(parts: &[Tensor], repeated: &[usize]) -> Option<Pattern> {
    let whole = parts.iter().max_by_key(|table| table.len())?;
    // One table says nothing of where others are in it.
    if parts.iter().all(|table| table.shape() == whole.shape()) {
        return None;
    }
    let largest = numbers(whole).iter().flatten().fold(0.0, |most: f64, number| most.max(number.abs()));
    let near = if whole.dtype().is_float() { 8.0 * epsilon(whole.dtype()) * largest } else { 0.0 };
    [Place::First, Place::Middle, Place::Last].into_iter().find_map(|place| {
        let mut rounded = false;
        for table in parts {
            rounded |= !is_part(table, whole, place, near)?;
        }
        Some(Pattern::Part { whole: whole.clone(), repeated: repeated.to_vec(), place, rounded })
    })
}

/// Returns true if a table is a part of another, false if it is but for a distance; nothing if it
/// is not.
fn is_part(table: &Tensor, whole: &Tensor, place: Place, near: f64) -> Option<bool> {
    let (dims, own, strides) = (whole.shape().dims(), table.shape().dims(), whole.shape().strides());
    let lacking = dims.iter().zip(own).map(|(all, own)| all.checked_sub(*own));
    let before: Vec<_> = lacking.map(|lacking| Some(place.before(lacking?))).collect::<Option<_>>()?;
    let size = whole.dtype().bits() / 8;
    if size == 0 || !whole.dtype().bits().is_multiple_of(8) {
        return None;
    }
    let (bytes, all) = (table.bytes()?, whole.bytes()?);
    let mut exact = true;
    let mut values = None;
    for element in 0..table.len() {
        let index = index(element, own);
        let at: usize =
            index.iter().zip(&before).zip(&strides).map(|((index, before), by)| (index + before) * by).sum();
        if bytes[element * size..][..size] == all[at * size..][..size] {
            continue;
        }
        if near == 0.0 {
            return None;
        }
        if values.is_none() {
            values = Some((numbers(table)?, numbers(whole)?));
        }
        let (own, others) = values.as_ref()?;
        let distance = (own[element] - others[at]).abs();
        if distance.is_nan() || distance > near {
            return None;
        }
        exact = false;
    }
    Some(exact)
}

/// Returns true if all slices along an axis have the same bytes.
fn is_constant_along(table: &Tensor, axis: usize) -> bool {
    let (Some(bytes), size) = (table.bytes(), table.dtype().bits() / 8) else { return false };
    let inner = table.shape().dims()[axis + 1..].iter().product::<usize>() * size;
    let row = inner * table.shape().dims()[axis];
    row > 0 && bytes.chunks(row).all(|row| row.chunks(inner).all(|slice| slice == &row[..inner]))
}

/// The distance of 1 to the next number of a type of floats.
pub(super) fn epsilon(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => f64::EPSILON,
        DType::F32 => f64::from(f32::EPSILON),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(dims: &[usize], of: impl Fn(&[usize]) -> i64) -> Tensor {
        let shape = Shape::new(dims).unwrap();
        let all = (0..shape.len()).map(|place| of(&index(place, dims))).collect::<Vec<_>>();
        Tensor::from_vec(shape, all).unwrap()
    }

    fn found(tables: &[Tensor], open: &[usize]) -> Vec<String> {
        let axes: Vec<_> = open.iter().map(|axis| (*axis, Arc::from("s"))).collect();
        let how = |table: &Table| match &table.pattern {
            Pattern::Affine { steps, from, .. } => {
                let step = |of: &Option<Tensor>| of.as_ref().map_or(0, |of| of.to_i64().unwrap()[0]);
                let is_first = from.iter().all(|place| *place == Place::First);
                let end = if is_first { String::new() } else { format!(" from {from:?}") };
                format!("affine {:?}{end}", steps.iter().map(step).collect::<Vec<_>>())
            }
            Pattern::Counted { .. } => "counted".to_owned(),
            Pattern::Grid(grid) => format!("grid {}", grid.follows()),
            Pattern::Band { above, .. } => format!("band {above}"),
            Pattern::Waves { waves, .. } => format!("waves, mixed: {}", waves.sines.is_some()),
            Pattern::Part { whole, repeated, place, .. } => {
                format!("{place:?} of {}{repeated:?}", whole.len())
            }
        };
        patterns(tables, &axes).iter().map(how).collect()
    }

    #[test]
    fn products_of_positions_are_rounded_as_the_nodes_round_them() {
        let table = |len: u16, by: f32| {
            let all = (0..len).map(|at| f32::from(at) * by).collect::<Vec<_>>();
            Tensor::from_vec(Shape::new([usize::from(len), 1]).unwrap(), all).unwrap()
        };
        let axes = [(0, Arc::from("s"))];
        let found = |tables: &[Tensor]| {
            matches!(&patterns(tables, &axes)[..], [Table { pattern: Pattern::Affine { .. }, .. }])
        };
        assert!(found(&[table(12, 0.1), table(20, 0.1)]));
        assert!(!found(&[table(12, 0.1), table(20, 0.1f32.next_up())]));
    }

    #[test]
    fn sines_and_cosines_of_positions_have_one_base() {
        let table = |len: u16, base: f64, of: &dyn Fn(u16) -> (f64, bool)| {
            let element = |(row, column): (u16, u16)| {
                let (exponent, is_sine) = of(column);
                let angle = f64::from(row) / base.powf(exponent);
                Number::Float(if is_sine { angle.sin() } else { angle.cos() })
            };
            let all = (0..len).flat_map(|row| (0..8).map(move |column| (row, column))).map(element);
            Tensor::from_numbers(DType::F32, Shape::new([1, len.into(), 8]).unwrap(), all, Rules::IEEE)
                .unwrap()
        };
        let both = |base: f64, of: &dyn Fn(u16) -> (f64, bool)| {
            found(&[table(12, base, of), table(20, base, of)], &[1])
        };
        for base in [10000.0, 500_000.0, 1_000_000.0, 160_000.0] {
            let halves = |column: u16| (f64::from(column % 4) / 4.0, false);
            assert_eq!(both(base, &halves), ["waves, mixed: false"], "{base}");
            let pairs = |column: u16| (f64::from(column / 2) / 4.0, column.is_multiple_of(2));
            assert_eq!(both(base, &pairs), ["waves, mixed: true"], "{base}");
            let parts = |column: u16| (f64::from(column % 4) / 3.0, column < 4);
            assert_eq!(both(base, &parts), ["waves, mixed: true"], "{base}");
        }
        // Frequencies that fall by no one factor: the longest table.
        let scaled = |column: u16| (f64::from(column % 4).powi(2) / 16.0, false);
        assert_eq!(both(10000.0, &scaled), ["First of 160[]"]);
    }

    #[test]
    fn floats_of_a_longer_table_may_be_rounded_otherwise() {
        let table = |all: &[f32]| Tensor::from_vec(Shape::new([all.len()]).unwrap(), all.to_vec()).unwrap();
        let long = table(&[0.5, 0.1, 0.7, 0.2]);
        let axes = [(0, Arc::from("s"))];
        let rounded = |short: &[f32]| match &patterns(&[table(short), long.clone()], &axes)[..] {
            [Table { pattern: Pattern::Part { rounded, .. }, .. }] => Some(*rounded),
            _ => None,
        };
        assert_eq!(rounded(&[0.5, 0.1]), Some(false));
        assert_eq!(rounded(&[0.5, 0.1f32.next_up()]), Some(true));
        assert_eq!(rounded(&[0.5, 0.1001]), None);
    }

    #[test]
    fn patterns_are_those_of_all_tables() {
        let line = |len: usize| table(&[1, len], |at| i64::try_from(at[1]).unwrap());
        let band = |len: usize| table(&[len, len], |at| i64::from(at[1] > at[0]));
        let odd = |len: usize| table(&[len, 2], |at| i64::try_from(at[0] * at[0] + at[1]).unwrap());
        assert_eq!(found(&[line(4)], &[1]), ["affine [1]"]);
        assert_eq!(found(&[table(&[2, 3], |_| 7)], &[0, 1]), ["affine [0, 0]"]);
        assert_eq!(found(&[table(&[2, 3], |at| i64::try_from(at[1] * 5).unwrap())], &[0]), ["affine [0]"]);
        let rows = |rows: usize, len: usize| {
            table(&[rows, 1, len], |at| i64::try_from(at[0] * len + at[2]).unwrap())
        };
        assert_eq!(found(&[rows(1, 7), rows(2, 11)], &[0, 2]), ["affine [11, 1]", "counted"]);
        assert_eq!(found(&[rows(2, 7), rows(2, 11)], &[0, 2]), ["counted"]);
        assert_eq!(found(&[band(4)], &[0, 1]), ["band 0"]);
        assert_eq!(found(&[band(4), band(6)], &[0, 1]), ["band 0"]);
        let low = |len: usize| table(&[len, len], |at| i64::from(at[1] + 2 > at[0]));
        assert_eq!(found(&[low(4), low(6)], &[0, 1]), ["band -2"]);
        assert_eq!(found(&[odd(4)], &[0]), [""; 0]);
        assert_eq!(found(&[odd(4), odd(6)], &[0]), ["First of 12[]"]);
        let rows = |rows: usize, len: usize| table(&[rows, len], |at| i64::try_from(at[1] * at[1]).unwrap());
        assert_eq!(found(&[rows(1, 4), rows(2, 6)], &[0, 1]), ["First of 6[0]"]);
        let around =
            |len: usize| table(&[2 * len, 2], |at| (i64_of(at[0]) - i64_of(len)).pow(3) + i64_of(at[1]));
        assert_eq!(found(&[around(3), around(5)], &[0]), ["Middle of 20[]"]);
        let until = |len: usize| table(&[len, 2], |at| (i64_of(at[0]) - i64_of(len)).pow(3) + i64_of(at[1]));
        assert_eq!(found(&[until(3), until(5)], &[0]), ["Last of 10[]"]);
        let distance =
            |len: usize| table(&[len], |at| i64::try_from(at[0]).unwrap() - i64::try_from(len).unwrap());
        assert_eq!(found(&[distance(4), distance(6)], &[0]), ["affine [1] from [Last]"]);
        let around = |len: usize| table(&[2 * len], |at| i64_of(len) - i64_of(at[0]));
        assert_eq!(found(&[around(4), around(6)], &[0]), ["affine [-1] from [Middle]"]);
        let relative = |len: usize| table(&[len, len], |at| i64_of(at[0]) - i64_of(at[1]) + i64_of(len));
        assert_eq!(found(&[relative(4), relative(6)], &[0, 1]), ["affine [1, -1] from [First, Last]"]);
        assert_eq!(found(&[odd(4), line(6)], &[0]), [""; 0]);
    }
}
