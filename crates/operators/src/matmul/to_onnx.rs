//! Products of matrices in the operators of ONNX.

use std::collections::HashMap;

use gradus_core::convert::i64_of;
use gradus_core::{DType, Result};

use crate::conversion::caveats;
use crate::conversion::report::cannot;
use crate::dim::Dim;
use crate::equation::Equation;
use crate::lowering::LONGEST;
use crate::lowering::terms::{f, gathered, ints, of, whole, with};
use crate::lowering::{LoweredValue, Lowering, int};

/// Writes `MatMul`, with transposed factors where attributes say so.
pub fn mat_mul(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    l.rounding_of_floats(caveats::ORDER);
    let mut operands = l.given()?;
    for (input, name) in ["transpose_a", "transpose_b"].into_iter().enumerate() {
        if !l.attributes.flag(name, false)? {
            continue;
        }
        let rank = l.rank_of(input)?;
        if rank > 1 {
            let mut order: Vec<_> = (0..i64_of(rank)).collect();
            order.swap(rank - 1, rank - 2);
            operands[input] = l.transposed(operands[input], &order)?;
        }
    }
    let Ok(dtype) = l.dtype_of(0) else { return Ok(vec![l.apply("MatMul", &operands, &[])?]) };
    if dtype.is_float() || l.admits("MatMul", dtype) {
        return Ok(vec![l.apply("MatMul", &operands, &[])?]);
    }
    // Products of 8 bits, as TensorFlow has them: sums wrap around where they are cast.
    l.must_cast_to(dtype)?;
    for operand in &mut operands {
        *operand = l.cast(*operand, DType::I32)?;
    }
    let sums = l.apply("MatMul", &operands, &[])?;
    Ok(vec![l.cast(sums, dtype)?])
}

/// A value with a name for each axis.
struct NamedAxes {
    value: LoweredValue,
    axes: Vec<char>,
}

impl NamedAxes {
    fn has(&self, axis: char) -> bool {
        self.axes.contains(&axis)
    }

    /// The sums along all axes but some.
    fn summed(mut self, l: &mut Lowering<'_>, keeps: impl Fn(char) -> bool) -> Result<NamedAxes> {
        let axes: Vec<_> = (0..self.axes.len()).filter(|&axis| !keeps(self.axes[axis])).map(i64_of).collect();
        if !axes.is_empty() {
            let axes = l.list(&axes)?;
            self.value = l.apply("ReduceSum", &[self.value, axes], &[int("keepdims", 0)])?;
            self.axes.retain(|&axis| keeps(axis));
        }
        Ok(self)
    }

    /// The elements with these axes, of which those that are missing have size 1.
    fn arranged(&self, l: &mut Lowering<'_>, axes: &[char]) -> Result<LoweredValue> {
        let mut value = self.value;
        let place = |axis: &char| self.axes.iter().position(|own| own == axis);
        let order: Vec<_> = axes.iter().filter_map(place).map(i64_of).collect();
        if !order.is_sorted() {
            value = l.transposed(value, &order)?;
        }
        let missing = (0..axes.len()).filter(|&axis| !self.has(axes[axis]));
        let missing: Vec<_> = missing.map(i64_of).collect();
        if !missing.is_empty() {
            value = of("Unsqueeze", value, ints(&missing)).put(l)?;
        }
        Ok(value)
    }
}

/// Axes of size 1 in place of rows and columns that a factor lacks.
const ONE_ROW: char = '\u{fff0}';
const ONE_COLUMN: char = '\u{fff1}';

/// Two axes of the same name, if there are any.
fn twins(axes: &[char]) -> Option<[usize; 2]> {
    (1..axes.len()).find_map(|second| {
        let first = axes[..second].iter().position(|&axis| axis == axes[second])?;
        Some([first, second])
    })
}

/// The diagonals of axes that have the same name, with the sizes of the axes, as far as they are
/// known.
fn diagonals(
    l: &mut Lowering<'_>,
    mut named: NamedAxes,
    mut dims: Vec<Dim>,
) -> Result<(NamedAxes, Vec<Dim>)> {
    while let Some([first, second]) = twins(&named.axes) {
        let (rank, axis) = (named.axes.len(), named.axes[first]);
        let rest: Vec<_> = (0..rank).filter(|at| ![first, second].contains(at)).collect();
        let order: Vec<_> = rest.iter().copied().chain([first, second]).map(i64_of).collect();
        if !order.is_sorted() {
            named.value = l.transposed(named.value, &order)?;
        }
        let size = [first, second].into_iter().find_map(|at| dims.get(at)?.known());
        let indices = if let Some(size) = size.filter(|&size| size <= i64_of(LONGEST)) {
            l.list(&(0..size).map(|at| at * (size + 1)).collect::<Vec<_>>())?
        } else {
            let size = gathered(f("Shape", named.value), whole(i64_of(rank - 1)), 0).write(l, DType::I64)?;
            with("Range", [whole(0), size * size, size + whole(1)], []).write(l, DType::I64)?
        };
        let mut shape = vec![0; rest.len()];
        shape.push(-1);
        let flat = of("Reshape", named.value, ints(&shape)).put(l)?;
        named.value = l.apply("Gather", &[flat, indices], &[int("axis", i64_of(rest.len()))])?;
        let own = dims.get(first).copied();
        named.axes = rest.iter().map(|&at| named.axes[at]).chain([axis]).collect();
        dims = rest.iter().filter_map(|&at| dims.get(at).copied()).chain(own).collect();
    }
    Ok((named, dims))
}

/// Writes `Einsum` as products of two operands at a time, for operator sets that lack it.
pub fn einsum_of_products(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let equation = l.attributes.text("equation")?.unwrap_or_default();
    let operands = l.given()?;
    let ranks = (0..operands.len()).map(|input| l.rank_of(input)).collect::<Result<Vec<_>>>()?;
    let Equation { terms, result, .. } = Equation::new(equation, &ranks)?;
    // Axes that are repeated are summed after the products: `MatMul` repeats none of those it sums.
    let (mut repeated, mut sizes, mut open) = (Vec::new(), HashMap::new(), false);
    let mut values = Vec::with_capacity(terms.len());
    for ((input, term), &value) in terms.iter().enumerate().zip(&operands) {
        let dims = l.sizes_of(input).to_vec();
        let (named, dims) = diagonals(l, NamedAxes { value, axes: term.clone() }, dims)?;
        for (&axis, &dim) in named.axes.iter().zip(&dims) {
            if dim == Dim::ONE {
                repeated.push(axis);
            }
            let first = *sizes.entry(axis).or_insert(dim);
            open |=
                first != dim && (first.known().is_none() || dim.known().is_none()) && !result.contains(&axis);
        }
        values.push(named);
    }
    if open {
        l.edges("axes of size 1 that are repeated and summed, where sizes are not known");
    }
    let mut values = values.into_iter();
    let mut all = values.next().ok_or_else(|| cannot("cannot convert: Einsum has no operands"))?;
    for (index, next) in values.enumerate() {
        let later = &terms[index + 2..];
        let kept = |axis: char| {
            let named = later.iter().chain([&result, &repeated]);
            named.flatten().any(|&other| other == axis)
        };
        all = product(l, all, next, &kept)?;
    }
    let all = all.summed(l, |axis| result.contains(&axis))?;
    let value = all.arranged(l, &result)?;
    Ok(vec![if operands.contains(&value) { l.apply("Identity", &[value], &[])? } else { value }])
}

/// The product of two values, summed along the axes that are not kept.
fn product(
    l: &mut Lowering<'_>,
    a: NamedAxes,
    b: NamedAxes,
    kept: &dyn Fn(char) -> bool,
) -> Result<NamedAxes> {
    let own = a.axes.clone();
    let a = a.summed(l, |axis| kept(axis) || b.has(axis))?;
    let b = b.summed(l, |axis| kept(axis) || own.contains(&axis))?;
    let (shared, mut rows): (Vec<_>, Vec<_>) = a.axes.iter().partition(|&&axis| b.has(axis));
    let (batch, summed): (Vec<_>, Vec<_>) = shared.into_iter().partition(|&axis| kept(axis));
    let mut columns: Vec<_> = b.axes.iter().copied().filter(|&axis| !a.has(axis)).collect();
    if summed.is_empty() {
        let axes = [batch, rows, columns].concat();
        let factors = [a.arranged(l, &axes)?, b.arranged(l, &axes)?];
        return Ok(NamedAxes { value: l.apply("Mul", &factors, &[])?, axes });
    }
    let (row, column) = (rows.pop().unwrap_or(ONE_ROW), columns.pop().unwrap_or(ONE_COLUMN));
    let outer = [batch, rows, columns].concat();
    let mut factors = [a, b];
    for (factor, lines) in factors.iter_mut().zip([row, column]) {
        let axes = [&outer[..], &[lines], &summed].concat();
        factor.value = factor.arranged(l, &axes)?;
        if summed.len() > 1 {
            let mut shape = vec![0; outer.len() + 1];
            shape.push(-1);
            factor.value = of("Reshape", factor.value, ints(&shape)).put(l)?;
        }
        factor.axes = [&outer[..], &[lines, summed[0]]].concat();
    }
    let [a, b] = factors;
    let b = b.arranged(l, &[&outer[..], &[summed[0], column]].concat())?;
    let mut value = l.apply("MatMul", &[a.value, b], &[])?;
    let mut axes = [&outer[..], &[row, column]].concat();
    let one: Vec<_> = (0..axes.len()).filter(|&axis| [ONE_ROW, ONE_COLUMN].contains(&axes[axis])).collect();
    if !one.is_empty() {
        value = of("Squeeze", value, ints(&one.into_iter().map(i64_of).collect::<Vec<_>>())).put(l)?;
        axes.retain(|axis| ![ONE_ROW, ONE_COLUMN].contains(axis));
    }
    Ok(NamedAxes { value, axes })
}
