//! Operations that attributes and constants decide: of trees, support vectors, boxes and texts.

use gradus_core::graph::Standard;

use super::{Each, Longest, Shapes};
use crate::dim::Dim;

/// Operations of the overlap of two boxes: four bounds of the intersection, its sides, their clips
/// and product, the union, the quotient and the comparison.
pub const OVERLAP: Each = Each::of(6, 7, 0);

impl Shapes<'_> {
    /// The rows of the input of a model of features.
    fn rows(&mut self) -> Option<Dim> {
        let x = self.input(0)?;
        self.product(x.split_last()?.1, &[])
    }

    /// Rows, and the operations of each.
    pub fn trees(&mut self, longest: Longest) -> Option<(Dim, Each)> {
        let [comparisons, sums] = longest(&self.attributes()).ok()?;
        let each = Each::of(i64::try_from(sums).ok()?, i64::try_from(comparisons).ok()?, 0);
        Some((self.rows()?, each))
    }

    /// Products of each row with all support vectors, and with their coefficients.
    pub fn support_vectors(&mut self) -> Option<Dim> {
        let floats = |name: &str| Some(self.attributes().floats(name).ok()?.map_or(0, <[f32]>::len));
        let each = floats("support_vectors")?.checked_add(floats("coefficients")?)?;
        let rows = self.rows()?;
        self.symbols.multiply(rows, Dim::from(each))
    }

    /// Pairs of boxes, at most: each box of each class meets those that are selected.
    pub fn overlaps(&mut self) -> Option<Dim> {
        let scores = self.input(1)?;
        let boxes = *scores.last()?;
        let selected =
            if self.has(2) { self.constant(2).and_then(|most| most.first().copied()) } else { Some(0) };
        let selected = match selected {
            Some(most) => self.symbols.min(boxes, Dim::Known(most.max(0)))?,
            None => boxes,
        };
        self.product(&scores, &[selected])
    }

    /// Sequences of every length and distance that begin at each element.
    pub fn grams(&mut self) -> Option<Dim> {
        let attributes = self.attributes();
        let number = |name: &str| attributes.int(name).ok()?;
        let (least, most) = (number("min_gram_length")?.max(1), number("max_gram_length")?);
        let distances = number("max_skip_count")?.checked_add(1)?;
        // No distance between single elements is skipped.
        let single = i64::from(least == 1);
        let longer = most.checked_sub(least)?.checked_add(1)?.checked_sub(single)?.max(0);
        let dims = self.input(0)?;
        self.scaled(&dims, longer.checked_mul(distances)?.checked_add(single)?)
    }

    /// Products of a deformable convolution, and the interpolation of its samples.
    pub fn deform_conv(&mut self, weight: usize) -> Option<Dim> {
        /// Neighbours of a sample.
        const NEIGHBOURS: Dim = Dim::Known(4);
        let (x, filter, output) = (self.input(0)?, self.input(weight)?, self.output()?);
        let products = self.product(&output, filter.get(1..)?)?;
        let ([batch, channels, ..], [_, _, places @ ..]) = (&*x, &*output) else { return None };
        let samples = self.product(places, &[*batch, *channels, NEIGHBOURS])?;
        let samples = self.product(filter.get(2..)?, &[samples])?;
        self.symbols.add(products, samples)
    }

    /// The cube of the size of square matrices, divided by `parts`.
    pub fn elimination(&mut self, parts: i64) -> Option<Dim> {
        let dims = self.input(0)?;
        let all = self.product(&dims, &[*dims.last()?])?;
        self.symbols.floor_divide(all, Dim::Known(parts))
    }

    /// The number of neighbours whose squares `LRN` sums.
    pub fn neighbourhood(&self) -> Option<i64> {
        let size = self.attributes().int("size").ok()??;
        let axes = match self.standard {
            Standard::OpenVino => self.constant(1)?.len(),
            _ => 1,
        };
        size.checked_pow(u32::try_from(axes).ok()?)
    }
}
