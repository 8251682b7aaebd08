//! `GridSample` for operator sets of ONNX that lack it: weighted sums of gathered elements.

use gradus_core::{DType, Result};

use crate::conversion::node::ConvertContext;
use crate::conversion::report::cannot;
use crate::conversion::to_onnx::int;
use crate::conversion::types::numbered;
use crate::conversion::writer::NewValue;

/// Rules for reading images between their elements, and outside of them.
pub(crate) struct Reading<'a> {
    /// `nearest`, `linear` or `cubic`.
    pub mode: &'a str,
    /// `zeros`, `border` or `reflection`.
    pub padding: &'a str,
    /// -1 and 1 are the middles of the first and the last element, not their edges.
    pub corners: bool,
    /// The type of the images.
    pub dtype: DType,
}

/// An axis of images.
struct Axis {
    /// Its size, as an integer and as a float; and the last index, as a float.
    size: NewValue,
    extent: NewValue,
    last: NewValue,
}

/// An element that counts, or several, of which the indices were combined.
#[derive(Clone, Copy)]
struct Tap {
    index: NewValue,
    weight: Option<NewValue>,
    /// A condition that the element is one of the image; zero is read of one that is not.
    inside: Option<NewValue>,
}

impl Tap {
    /// The element with the index of this one along the axes before, and of another along an axis.
    fn and(self, cx: &mut ConvertContext<'_, '_>, other: Tap, axis: &Axis) -> Result<Tap> {
        let first = cx.put("Mul", &[self.index, axis.size], &[])?;
        let mut both = |operator: &str, a: Option<NewValue>, b: Option<NewValue>| match (a, b) {
            (Some(a), Some(b)) => cx.put(operator, &[a, b], &[]).map(Some),
            (a, b) => Ok(a.or(b)),
        };
        let weight = both("Mul", self.weight, other.weight)?;
        let inside = both("And", self.inside, other.inside)?;
        Ok(Tap { index: cx.put("Add", &[first, other.index], &[])?, weight, inside })
    }
}

impl Reading<'_> {
    fn number(&self, cx: &mut ConvertContext<'_, '_>, value: f64) -> Result<NewValue> {
        cx.number(value, self.wide())
    }

    /// The type that is computed in.
    fn wide(&self) -> DType {
        if self.dtype == DType::F64 { DType::F64 } else { DType::F32 }
    }

    /// Coordinates of elements, of those from -1 to 1.
    fn scaled(&self, cx: &mut ConvertContext<'_, '_>, given: NewValue, axis: &Axis) -> Result<NewValue> {
        let (half, one) = (self.number(cx, 0.5)?, self.number(cx, 1.0)?);
        let moved = cx.put("Add", &[given, one], &[])?;
        if self.corners {
            let share = cx.put("Mul", &[moved, half], &[])?;
            return cx.put("Mul", &[share, axis.last], &[]);
        }
        let scaled = cx.put("Mul", &[moved, axis.extent], &[])?;
        let less = cx.put("Sub", &[scaled, one], &[])?;
        cx.put("Mul", &[less, half], &[])
    }

    /// Coordinates within the axis that stand for those outside.
    fn moved(&self, cx: &mut ConvertContext<'_, '_>, at: NewValue, axis: &Axis) -> Result<NewValue> {
        let (zero, one, two) = (self.number(cx, 0.0)?, self.number(cx, 1.0)?, self.number(cx, 2.0)?);
        let low = self.number(cx, if self.corners { 0.0 } else { -0.5 })?;
        let range = if self.corners { axis.last } else { axis.extent };
        let high = cx.put("Add", &[low, range], &[])?;
        let stands = if self.padding == "border" {
            cx.put("Clip", &[at, zero, axis.last], &[])?
        } else {
            // The range of coordinates of one element may be empty.
            let range = cx.put("Max", &[range, one], &[])?;
            let from_low = cx.put("Sub", &[at, low], &[])?;
            let distance = cx.put("Abs", &[from_low], &[])?;
            let turns = cx.put("Div", &[distance, range], &[])?;
            let turns = cx.put("Floor", &[turns], &[])?;
            let whole = cx.put("Mul", &[turns, range], &[])?;
            let rest = cx.put("Sub", &[distance, whole], &[])?;
            let pairs = cx.put("Div", &[turns, two], &[])?;
            let pairs = cx.put("Floor", &[pairs], &[])?;
            let even = cx.put("Mul", &[pairs, two], &[])?;
            let is_even = cx.put("Equal", &[turns, even], &[])?;
            let back = cx.put("Sub", &[range, rest], &[])?;
            let rest = cx.put("Where", &[is_even, rest, back], &[])?;
            cx.put("Add", &[rest, low], &[])?
        };
        let above = cx.put("GreaterOrEqual", &[at, low], &[])?;
        let below = cx.put("LessOrEqual", &[at, high], &[])?;
        let within = cx.put("And", &[above, below], &[])?;
        cx.put("Where", &[within, at, stands], &[])
    }

    /// Weights of the elements from the one at or before a coordinate on, by its distance.
    fn weights(
        &self,
        cx: &mut ConvertContext<'_, '_>,
        distance: NewValue,
    ) -> Result<Vec<(f64, Option<NewValue>)>> {
        if self.mode == "nearest" {
            return Ok(vec![(0.0, None)]);
        }
        let one = self.number(cx, 1.0)?;
        let rest = cx.put("Sub", &[one, distance], &[])?;
        if self.mode == "linear" {
            return Ok(vec![(0.0, Some(rest)), (1.0, Some(distance))]);
        }
        // Keys' polynomials of a = -3/4: 4 elements have those of the distances 1 + d, d, 1 - d, 2 - d.
        let mut polynomial = |x: NewValue, factors: [f64; 4]| -> Result<NewValue> {
            let mut sum = self.number(cx, factors[0])?;
            for factor in &factors[1..] {
                let factor = self.number(cx, *factor)?;
                let product = cx.put("Mul", &[sum, x], &[])?;
                sum = cx.put("Add", &[product, factor], &[])?;
            }
            Ok(sum)
        };
        let (far, near) = ([-0.75, 1.5, -0.75, 0.0], [1.25, -2.25, 0.0, 1.0]);
        let weights = [
            polynomial(distance, far)?,
            polynomial(distance, near)?,
            polynomial(rest, near)?,
            polynomial(rest, far)?,
        ];
        Ok([-1.0, 0.0, 1.0, 2.0].into_iter().zip(weights.map(Some)).collect())
    }

    /// The elements of an axis that count at given coordinates.
    fn taps(&self, cx: &mut ConvertContext<'_, '_>, given: NewValue, axis: &Axis) -> Result<Vec<Tap>> {
        let mut at = self.scaled(cx, given, axis)?;
        if self.mode == "nearest" {
            at = cx.put("Round", &[at], &[])?;
        }
        if self.padding != "zeros" {
            at = self.moved(cx, at, axis)?;
        }
        let floor = cx.put("Floor", &[at], &[])?;
        let distance = cx.put("Sub", &[at, floor], &[])?;
        let zero = self.number(cx, 0.0)?;
        let mut taps = Vec::new();
        for (offset, weight) in self.weights(cx, distance)? {
            let offset = self.number(cx, offset)?;
            let mut index = cx.put("Add", &[floor, offset], &[])?;
            let mut inside = None;
            if self.padding == "zeros" {
                let above = cx.put("GreaterOrEqual", &[index, zero], &[])?;
                let below = cx.put("LessOrEqual", &[index, axis.last], &[])?;
                inside = Some(cx.put("And", &[above, below], &[])?);
            } else if self.padding == "reflection" {
                index = self.moved(cx, index, axis)?;
            }
            let index = cx.put("Clip", &[index, zero, axis.last], &[])?;
            let index = cx.put("Cast", &[index], &[numbered("to", DType::I64)?])?;
            taps.push(Tap { index, weight, inside });
        }
        Ok(taps)
    }

    /// Writes the graph for images or volumes of so many axes behind two others.
    pub(crate) fn write(
        &self,
        cx: &mut ConvertContext<'_, '_>,
        [x, grid]: [NewValue; 2],
        axes: usize,
    ) -> Result<NewValue> {
        if !self.dtype.is_float() || axes == 0 {
            let what = format!("cannot convert GridSample of {} along {axes} axes to older sets", self.dtype);
            return Err(cannot(what));
        }
        cx.edges("positions that are infinite or NaN depend on the runtime, and rounding decides at borders");
        let wide = numbered("to", self.wide())?;
        let rank = i64::try_from(axes).unwrap_or(i64::MAX);
        let (images, grid) = (
            cx.put("Cast", &[x], std::slice::from_ref(&wide))?,
            cx.put("Cast", &[grid], std::slice::from_ref(&wide))?,
        );
        let part = |cx: &mut ConvertContext<'_, '_>, value, start, end| {
            cx.put("Shape", &[value], &[int("start", start), int("end", end)])
        };
        let spatial = part(cx, images, 2, rank + 2)?;
        let (flat, listed) = (cx.list(&[0, 0, -1]), cx.list(&[0, -1, rank]));
        let rows = cx.put("Reshape", &[images, flat], &[])?;
        let points = cx.put("Reshape", &[grid, listed], &[])?;
        let one = self.number(cx, 1.0)?;
        let mut all: Vec<Tap> = Vec::new();
        let mut count = None;
        for axis in 0..rank {
            let place = cx.scalar(axis);
            let size = cx.put("Gather", &[spatial, place], &[int("axis", 0)])?;
            let extent = cx.put("Cast", &[size], std::slice::from_ref(&wide))?;
            let last = cx.put("Sub", &[extent, one], &[])?;
            let axis_of = Axis { size, extent, last };
            // Coordinates are given from the last axis on.
            let place = cx.scalar(rank - 1 - axis);
            let given = cx.put("Gather", &[points, place], &[int("axis", 2)])?;
            count = Some(given);
            let taps = self.taps(cx, given, &axis_of)?;
            if all.is_empty() {
                all = taps;
                continue;
            }
            let mut longer = Vec::new();
            for tap in all {
                for &other in &taps {
                    longer.push(tap.and(cx, other, &axis_of)?);
                }
            }
            all = longer;
        }
        let (channels, behind) = (part(cx, images, 0, 2)?, part(cx, grid, 1, rank + 1)?);
        let count = part(cx, count.unwrap_or(points), 1, 2)?;
        let each = cx.put("Concat", &[channels, count], &[int("axis", 0)])?;
        let (first, zero) = (cx.list(&[1]), self.number(cx, 0.0)?);
        let mut sum = None;
        for Tap { index, weight, inside } in all {
            let index = cx.put("Unsqueeze", &[index, first], &[])?;
            let index = cx.put("Expand", &[index, each], &[])?;
            let mut value = cx.put("GatherElements", &[rows, index], &[int("axis", 2)])?;
            if let Some(inside) = inside {
                let inside = cx.put("Unsqueeze", &[inside, first], &[])?;
                value = cx.put("Where", &[inside, value, zero], &[])?;
            }
            if let Some(weight) = weight {
                let weight = cx.put("Unsqueeze", &[weight, first], &[])?;
                value = cx.put("Mul", &[value, weight], &[])?;
            }
            sum = Some(match sum {
                Some(sum) => cx.put("Add", &[sum, value], &[])?,
                None => value,
            });
        }
        let shape = cx.put("Concat", &[channels, behind], &[int("axis", 0)])?;
        let y = cx.put("Reshape", &[sum.unwrap_or(rows), shape], &[])?;
        cx.put("Cast", &[y], &[numbered("to", self.dtype)?])
    }
}
