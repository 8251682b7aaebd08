//! Fourier transforms as products with matrices, in operator sets that lack them.

use std::f64::consts::PI;

use gradus_core::convert::{Rules, i64_of, usize_of_i64};
use gradus_core::graph::{Content, Standard};
use gradus_core::{DType, Number, Result, Shape, Tensor};

use crate::conversion::bodies::New;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::{cannot, not_known};
use crate::conversion::to_onnx::int;
use crate::conversion::writer::{NONE, NewValue};
use crate::operators::indices;
use crate::operators::nn::windows::float_of;

/// Most elements of a matrix.
const MOST: usize = 1 << 24;

/// A transform of one axis.
struct Transform {
    /// The number of elements that are given, and of those that are transformed.
    given: usize,
    len: usize,
    /// 1 for real elements, and 2 for complex ones.
    parts: usize,
    inverse: bool,
    one_sided: bool,
}

impl Transform {
    /// The number of elements and of their parts in the result.
    fn result(&self) -> [usize; 2] {
        match (self.one_sided, self.inverse) {
            (true, false) => [self.len / 2 + 1, 2],
            (true, true) => [self.len, 1],
            (false, _) => [self.len, 2],
        }
    }

    /// The sizes of the matrix by which the parts of given elements are multiplied.
    fn sizes(&self) -> Result<[usize; 2]> {
        let [bins, parts] = self.result();
        let sizes = [self.given.saturating_mul(self.parts), bins.saturating_mul(parts)];
        if self.len > 0 && sizes[0].checked_mul(sizes[1]).is_some_and(|count| count <= MOST) {
            return Ok(sizes);
        }
        let [rows, columns] = sizes;
        let (most, sizes) = (format_args!("at most {MOST}"), format_args!("{rows} x {columns}"));
        Err(cannot(format!("cannot convert: elements of a matrix are {sizes}, expected {most}")))
    }

    /// The matrix of these sizes.
    fn matrix(&self, dtype: DType) -> Result<Tensor> {
        let ([rows, columns], [_, parts], len) = (self.sizes()?, self.result(), self.len);
        let (sign, factor) = if self.inverse { (1.0, 1.0 / float_of(len)) } else { (-1.0, 1.0) };
        let element = |index: usize| {
            let (row, column) = (index / columns, index % columns);
            let (at, of_given) = (row / self.parts, row % self.parts);
            let (bin, of_result) = (column / parts, column % parts);
            // The other half of a result that is real mirrors the given one.
            let mirrors = self.one_sided && self.inverse;
            let last = if mirrors { len / 2 + 1 } else { len };
            if at >= last {
                return 0.0;
            }
            let twice = mirrors && at > 0 && 2 * at != len;
            let angle = sign * 2.0 * PI * float_of(at * bin % len) / float_of(len);
            let turned = match (of_given, of_result) {
                (0, 0) | (1, 1) => libm::cos(angle),
                (0, _) => libm::sin(angle),
                _ => -libm::sin(angle),
            };
            turned * factor * if twice { 2.0 } else { 1.0 }
        };
        let numbers = (0..rows * columns).map(element).map(Number::Float).collect::<Vec<_>>();
        Tensor::from_numbers(dtype, Shape::new([rows, columns])?, numbers, Rules::IEEE)
    }
}

/// The type that products are computed in.
fn wide(dtype: DType) -> DType {
    if dtype.bits() < 32 { DType::F32 } else { dtype }
}

/// The integer that a constant holds.
fn known(cx: &ConvertContext<'_, '_>, value: Option<NewValue>) -> Result<Option<i64>> {
    let Some(value) = value else { return Ok(None) };
    let tensor = cx.target.known(value)?;
    Ok(tensor.map(|tensor| tensor.to_i64()).transpose()?.and_then(|all| all.first().copied()))
}

/// The product of the last two axes with a matrix, which gives axes of these sizes.
fn product(
    cx: &mut ConvertContext<'_, '_>,
    x: NewValue,
    rank: usize,
    (transform, dtype): (&Transform, DType),
) -> Result<NewValue> {
    let matrix = cx.constant(transform.matrix(dtype)?);
    let kept = vec![0; rank - 2];
    let [given, parts] = [transform.given, transform.parts].map(i64_of);
    let flat = cx.list(&[&kept[..], &[given * parts]].concat());
    let flat = cx.put("Reshape", &[x, flat], &[])?;
    let y = cx.put("MatMul", &[flat, matrix], &[])?;
    let dims = cx.list(&[kept, transform.result().map(i64_of).to_vec()].concat());
    cx.put("Reshape", &[y, dims], &[])
}

/// The body of `DFT`.
pub(crate) fn dft(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    let (one_sided, inverse) = (new.int("onesided", 0) != 0, new.int("inverse", 0) != 0);
    let (own, of_node) = (new.dtype()?, cx.node.operator.name.clone());
    // The rank of the first input, and the parts of its elements.
    let (rank, parts) = match (cx.conversion.source.standard, &*of_node) {
        (Standard::Onnx, "DFT") => {
            let rank = cx.rank(0)?;
            let parts = rank.checked_sub(1).and_then(|last| cx.known_size(0, last)).and_then(usize_of_i64);
            (rank, parts.ok_or_else(|| not_known("number of parts of elements"))?)
        }
        (Standard::OpenVino, "RDFT") => (cx.rank(0)? + 1, if one_sided { 1 } else { 2 }),
        (Standard::OpenVino, "DFT" | "IDFT" | "IRDFT") => (cx.rank(0)?, 2),
        _ => return cx.target.put("DFT", new.inputs, new.attributes, 1),
    };
    let axis = match new.get("axis") {
        Some(Content::Int(axis)) => *axis,
        _ if new.input(2).is_none() => -2,
        _ => known(cx, new.input(2))?.ok_or_else(|| not_known("axis of DFT"))?,
    };
    let axis = indices::axis(axis, rank)?;
    if axis + 1 >= rank {
        return Err(cannot("cannot convert: DFT of the axis of the parts"));
    }
    let given = cx.known_size(0, axis).and_then(usize_of_i64);
    let given = given.ok_or_else(|| not_known("size of the axis of DFT"))?;
    let len = match new.input(1) {
        Some(_) => {
            known(cx, new.input(1))?.and_then(usize_of_i64).ok_or_else(|| not_known("length of DFT"))?
        }
        None if one_sided && inverse => given.saturating_sub(1).saturating_mul(2),
        None => given,
    };
    let transform = Transform { given, len, parts, inverse, one_sided };
    let dtype = wide(own);
    let x = if dtype == own { new.inputs[0] } else { cx.cast(new.inputs[0], dtype)? };
    // The axis is the last but that of the parts.
    let mut order: Vec<_> = (0..i64_of(rank)).collect();
    order[axis..rank - 1].rotate_left(1);
    let moves = axis + 2 < rank;
    let x =
        if moves { cx.put("Transpose", &[x], &[("perm", Content::Ints(order.clone().into()))])? } else { x };
    let y = product(cx, x, rank, (&transform, dtype))?;
    order = (0..i64_of(rank)).collect();
    order[axis..rank - 1].rotate_right(1);
    let y = if moves { cx.put("Transpose", &[y], &[("perm", Content::Ints(order.into()))])? } else { y };
    Ok(vec![if dtype == own { y } else { cx.cast(y, own)? }])
}

/// The body of `STFT`: the frames are gathered, and all transformed at once.
pub(crate) fn stft(cx: &mut ConvertContext<'_, '_>, new: &New<'_>) -> Result<Vec<NewValue>> {
    let own = new.dtype()?;
    let (parts, rank) = match (cx.conversion.source.standard, &*cx.node.operator.name) {
        (Standard::Onnx, "STFT") => match cx.rank(0)? {
            rank @ 2 => (1, rank),
            rank => {
                let parts = cx.known_size(0, 2).and_then(usize_of_i64);
                (parts.ok_or_else(|| not_known("number of parts of elements"))?, rank)
            }
        },
        (Standard::OpenVino, "STFT") => (1, 2),
        _ => return cx.target.put("STFT", new.inputs, new.attributes, 1),
    };
    let window = new.input(2);
    let of_window = match window.map(|window| cx.target.known(window)).transpose()?.flatten() {
        Some(window) => Some(window.len()),
        None if &*cx.node.operator.name == "STFT" && cx.conversion.source.standard == Standard::Onnx => {
            cx.known_size(2, 0).and_then(usize_of_i64)
        }
        None => None,
    };
    let len = known(cx, new.input(3))?.and_then(usize_of_i64).or(of_window);
    let len = len.ok_or_else(|| not_known("length of the frames of STFT"))?;
    let one_sided = new.int("onesided", 1) != 0;
    let transform = Transform { given: len, len, parts, inverse: false, one_sided };
    // Places are listed before the matrix is made.
    transform.sizes()?;
    let dtype = wide(own);
    let x = if dtype == own { new.inputs[0] } else { cx.cast(new.inputs[0], dtype)? };
    let (zero, one, none) = (cx.scalar(0), cx.scalar(1), cx.list(&[]));
    let (sizes, column) = (cx.sizes(x)?, cx.list(&[-1, 1]));
    // A frame begins at each step that leaves room for it.
    let all = cx.put("Gather", &[sizes, one], &[int("axis", 0)])?;
    let room = cx.scalar(i64_of(len) - 1);
    let end = cx.put("Sub", &[all, room], &[])?;
    let step = cx.put("Reshape", &[new.inputs[1], none], &[])?;
    let step = cx.cast(step, DType::I64)?;
    let starts = cx.put("Range", &[zero, end, step], &[])?;
    let starts = cx.put("Reshape", &[starts, column], &[])?;
    let within = cx.list(&(0..i64_of(len)).collect::<Vec<_>>());
    let places = cx.put("Add", &[starts, within], &[])?;
    let mut frames = cx.put("Gather", &[x, places], &[int("axis", 1)])?;
    if let Some(window) = window.filter(|&window| window != NONE) {
        let window = if dtype == own { window } else { cx.cast(window, dtype)? };
        let window = if rank == 2 { window } else { cx.put("Reshape", &[window, column], &[])? };
        frames = cx.put("Mul", &[frames, window], &[])?;
    }
    if rank == 2 {
        let last = cx.list(&[0, 0, 0, 1]);
        frames = cx.put("Reshape", &[frames, last], &[])?;
    }
    let y = product(cx, frames, 4, (&transform, dtype))?;
    Ok(vec![if dtype == own { y } else { cx.cast(y, own)? }])
}
