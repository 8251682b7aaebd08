//! The shape that a Reshape wants where the data have other sizes, from the sizes that the file
//! has.
//!
//! Axes of the data and of the result are taken together until their products are the same: an
//! axis of a group that has one on each side is what the group is. Where a group has several axes,
//! each factor of its size is given to one of them.

use std::ops::Range;

use crate::dim::{Dim, Factor, Symbols};
use gradus_core::sort::SharedSort;

/// The shapes that a Reshape may want, the most likely first.
pub(super) struct Targets {
    pub(super) shapes: Vec<Vec<Dim>>,
    /// True if several are as likely, because a size is divided: `[56]` to `[8, 7]`.
    pub(super) divided: bool,
}

/// Maximum number of shapes.
const MAX_SHAPES: usize = 12;

/// The shapes that a Reshape may want of data of these sizes, which are those numbers in the file.
pub(super) fn targets(
    symbols: &mut Symbols,
    (data, sizes): (&[Dim], &[i64]),
    wanted: &[i64],
    value: &dyn Fn(&Symbols, Dim) -> Option<i64>,
) -> Option<Targets> {
    let groups = groups(sizes, wanted)?;
    let mut all = Targets { shapes: vec![Vec::new()], divided: false };
    let starts: Vec<_> = groups.iter().map(|(_, to)| to.start).collect();
    for (of, to) in groups {
        let (options, divided) = group(symbols, &data[of], &wanted[to], value)?;
        all.divided |= divided;
        let mut combined = Vec::new();
        for option in &options {
            combined.extend(all.shapes.iter().map(|before| [&before[..], option].concat()));
        }
        combined.truncate(MAX_SHAPES);
        all.shapes = combined;
    }
    moved(symbols, &mut all.shapes, (data, &starts, wanted), value);
    Some(all)
}

/// Adds shapes in which a size that is 1 belongs to the axis next to it: first where that is 1 too
/// and the data do not say where the size is, as an axis that is nothing else does; last where a
/// group begins.
fn moved(
    symbols: &mut Symbols,
    shapes: &mut Vec<Vec<Dim>>,
    (data, starts, wanted): (&[Dim], &[usize], &[i64]),
    value: &dyn Fn(&Symbols, Dim) -> Option<i64>,
) {
    let (mut first, mut last) = (Vec::new(), Vec::new());
    for shape in shapes.iter() {
        for from in 0..shape.len() {
            for one in factors(symbols, shape[from]) {
                if value(symbols, one) != Some(1) {
                    continue;
                }
                for to in [from.wrapping_sub(1), from + 1].into_iter().filter(|to| *to < shape.len()) {
                    let (more, less) =
                        (symbols.multiply(shape[to], one), symbols.floor_divide(shape[from], one));
                    let Some((more, less)) = more.zip(less) else { continue };
                    let mut other = shape.clone();
                    (other[to], other[from]) = (more, less);
                    if shape[to] == Dim::ONE && wanted[from] != 1 && !data.contains(&one) {
                        first.push(other);
                    } else if to < from && starts.contains(&from) {
                        last.push(other);
                    }
                }
            }
        }
    }
    let all = first.into_iter().chain(std::mem::take(shapes)).chain(last);
    for shape in all {
        if !shapes.contains(&shape) && shapes.len() < MAX_SHAPES {
            shapes.push(shape);
        }
    }
}

/// The smallest groups of axes of both sides that have the same product.
fn groups(sizes: &[i64], wanted: &[i64]) -> Option<Vec<(Range<usize>, Range<usize>)>> {
    if sizes.iter().chain(wanted).any(|size| *size <= 0) {
        return None;
    }
    let mut groups: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < sizes.len() && j < wanted.len() {
        let (from, to) = (i, j);
        let (mut own, mut other) = (sizes[i], wanted[j]);
        (i, j) = (i + 1, j + 1);
        while own != other {
            if own < other {
                own = own.checked_mul(*sizes.get(i)?)?;
                i += 1;
            } else {
                other = other.checked_mul(*wanted.get(j)?)?;
                j += 1;
            }
        }
        groups.push((from..i, to..j));
    }
    if sizes[i..].iter().chain(&wanted[j..]).any(|size| *size != 1) {
        return None;
    }
    match groups.last_mut() {
        Some((of, to)) => (of.end, to.end) = (sizes.len(), wanted.len()),
        None => groups.push((0..sizes.len(), 0..wanted.len())),
    }
    Some(groups)
}

/// The sizes that the axes of a group may have, and whether a size is divided with a rest.
fn group(
    symbols: &mut Symbols,
    data: &[Dim],
    wanted: &[i64],
    value: &dyn Fn(&Symbols, Dim) -> Option<i64>,
) -> Option<(Vec<Vec<Dim>>, bool)> {
    let fixed: Vec<_> = wanted.iter().map(|&size| Dim::Known(size)).collect();
    if data.iter().all(|dim| dim.known().is_some()) {
        return Some((vec![fixed], false));
    }
    let product = symbols.product(data.iter().copied())?;
    if wanted.len() == 1 {
        return Some((vec![vec![product]], false));
    }
    let factors: Vec<Dim> = data.iter().flat_map(|&dim| factors(symbols, dim)).collect();
    let values = factors.iter().map(|&factor| value(symbols, factor)).collect::<Option<Vec<_>>>()?;
    let mut shared = assignments(symbols, product, &factors, &values, wanted);
    if !shared.is_empty() {
        shared.shared_sort_by_key(|(equal, places, _)| (std::cmp::Reverse(*equal), places.clone()));
        return Some((shared.into_iter().map(|(_, _, dims)| dims).collect(), false));
    }
    // One axis has what the others leave.
    let rest = |axis: usize| {
        let others: i64 =
            wanted.iter().enumerate().filter(|(other, _)| *other != axis).map(|(_, of)| of).product();
        let mut dims = fixed.clone();
        dims[axis] = symbols.floor_divide(product, Dim::Known(others))?;
        Some(dims)
    };
    let divided: Vec<_> = (0..wanted.len()).filter(|axis| wanted[*axis] > 1).filter_map(rest).collect();
    (!divided.is_empty()).then_some((divided, true))
}

/// The factors of a size that are no numbers.
fn factors(symbols: &mut Symbols, dim: Dim) -> Vec<Dim> {
    enum Part {
        Symbol(std::sync::Arc<str>),
        Floor(Dim, Dim),
    }
    if dim.known().is_some() {
        return Vec::new();
    }
    let form = symbols.form(dim);
    let [(_, factors)] = &form.products[..] else { return vec![dim] };
    if form.constant != 0 {
        return vec![dim];
    }
    let part = |factor: &Factor<'_>| match factor {
        Factor::Symbol(index) => Some(Part::Symbol(symbols.symbols()[*index].name.clone())),
        Factor::Floor(a, b) => Some(Part::Floor(*a, *b)),
        _ => None,
    };
    let Some(parts) = factors.iter().map(part).collect::<Option<Vec<_>>>() else { return vec![dim] };
    let made = parts.into_iter().map(|part| match part {
        Part::Symbol(name) => Some(symbols.named(&name)),
        Part::Floor(a, b) => symbols.floor_divide(a, b),
    });
    made.collect::<Option<Vec<_>>>().unwrap_or_else(|| vec![dim])
}

/// The ways in which each factor is given to an axis whose size it divides: the number of axes
/// that are one factor, the axis of each factor, and the sizes.
fn assignments(
    symbols: &mut Symbols,
    product: Dim,
    factors: &[Dim],
    values: &[i64],
    wanted: &[i64],
) -> Vec<(usize, Vec<usize>, Vec<Dim>)> {
    /// Maximum number of factors.
    const MAX_FACTORS: usize = 4;
    let mut found = Vec::new();
    if factors.len() > MAX_FACTORS || wanted.len() > 6 {
        return found;
    }
    for number in 0..wanted.len().pow(u32::try_from(factors.len()).unwrap_or(0)) {
        let mut rest = number;
        let mut places = vec![0; factors.len()];
        for place in places.iter_mut().rev() {
            *place = rest % wanted.len();
            rest /= wanted.len();
        }
        let (mut left, mut dims) = (wanted.to_vec(), vec![Dim::ONE; wanted.len()]);
        let fits = places.iter().zip(factors.iter().zip(values)).all(|(&axis, (&factor, &value))| {
            if value <= 0 || left[axis] % value != 0 {
                return false;
            }
            left[axis] /= value;
            symbols.multiply(dims[axis], factor).is_some_and(|dim| {
                dims[axis] = dim;
                true
            })
        });
        if !fits {
            continue;
        }
        let equal = (0..wanted.len()).filter(|&axis| left[axis] == 1 && dims[axis] != Dim::ONE).count();
        let sizes: Option<Vec<_>> =
            dims.iter().zip(&left).map(|(&dim, &times)| symbols.multiply(dim, Dim::Known(times))).collect();
        let Some(sizes) = sizes else { continue };
        if symbols.product(sizes.iter().copied()) == Some(product)
            && !found.iter().any(|(_, _, own)| *own == sizes)
        {
            found.push((equal, places, sizes));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(data: &str, wanted: &[i64]) -> String {
        let mut symbols = Symbols::default();
        let of = |name: &str| {
            Some(match name {
                "n" => 1,
                "s" => 128,
                "h" => 56,
                _ => return None,
            })
        };
        let data: Vec<_> = data.split(' ').map(|text| symbols.parse(text).unwrap()).collect();
        let sizes: Vec<_> = data.iter().map(|&dim| symbols.evaluate(dim, &of).unwrap()).collect();
        let all = targets(&mut symbols, (&data, &sizes), wanted, &|symbols, dim| symbols.evaluate(dim, &of));
        let Some(all) = all else { return "none".into() };
        let shape: Vec<_> = all.shapes[0].iter().map(|&dim| symbols.print(dim).to_string()).collect();
        format!("{}{}", shape.join(" "), if all.divided { " ?" } else { "" })
    }

    #[test]
    fn sizes_follow_the_axes_they_are_of() {
        for (data, wanted, expected) in [
            ("n s 768", &[1, 128, 12, 64][..], "n s 12 64"),
            ("n 12 s 64", &[12, 128, 64], "12*n s 64"),
            ("12*n s 64", &[1, 12, 128, 64], "n 12 s 64"),
            ("n 12 1 32", &[12, 1, 32], "12*n 1 32"),
            ("n*s 768", &[1, 128, 768], "n s 768"),
            ("n s 768", &[128, 768], "n*s 768"),
            ("s n 768", &[128, 12, 64], "s 12*n 64"),
            ("12*n 32", &[12, 1, 32], "12 n 32"),
            ("n 512 1 1", &[1, 512], "n 512"),
            ("n 3 h h", &[1, 3, 3136], "n 3 h*h"),
            ("n h 96", &[1, 8, 7, 96], "n h//7 7 96 ?"),
            ("n 2 s 2 s", &[1, 256, 256], "n 2*s 2*s"),
            ("n s", &[1, 64], "none"),
        ] {
            assert_eq!(first(data, wanted), expected, "{data} to {wanted:?}");
        }
    }
}
