//! The nodes that compute tables.

use std::sync::Arc;

use gradus_core::convert::{Rules, i64_of};
use gradus_core::{DType, Error, Kind, Number, Result, Shape, Tensor};

use super::formula::FormulaNodes;
use super::grid::Grid;
use super::table::{Pattern, Place, Table};
use super::waves::Waves;
use crate::dim::Dim;

/// An axis and its size.
type OpenAxis = (usize, Arc<str>);

impl FormulaNodes<'_> {
    /// The name of the value of a table.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] if a size has a symbol that no input has, or is too large.
    pub(super) fn table(&mut self, table: &Table) -> Result<Arc<str>> {
        let axes = &table.axes[..];
        match &table.pattern {
            Pattern::Affine { base, steps, from } => self.affine(axes, base, (steps, from)),
            Pattern::Grid(grid) => self.grid(axes, grid),
            Pattern::Counted { rank, first } => {
                let mut dims = vec![Dim::ONE; *rank];
                for (axis, size) in axes {
                    dims[*axis] = self.symbols.parse(size)?;
                }
                let too_large =
                    || Error::new(Kind::Unsupported, "cannot write the size: its product is too large");
                let count = self.symbols.product(dims.iter().copied()).ok_or_else(too_large)?;
                let line = self.range(count)?;
                let line = self.cast(line, first.dtype());
                let first = self.constant(first);
                let (sum, shape) = (self.node("Add", &[&line, &first], Vec::new()), self.list(&dims)?);
                Ok(self.node("Reshape", &[&sum, &shape], Vec::new()))
            }
            Pattern::Band { rank, above, within, beyond } => {
                self.band(axes, (*rank, *above), [within, beyond])
            }
            Pattern::Part { whole, repeated, place, .. } => {
                let (again, cut): (Vec<_>, Vec<_>) =
                    axes.iter().partition(|(axis, _)| repeated.contains(axis));
                let part = self.part(&cut, whole, *place)?;
                self.again(part, &again, whole.shape().rank())
            }
            Pattern::Waves { waves, repeated } => {
                let (again, rows): (Vec<_>, Vec<_>) =
                    axes.iter().partition(|(axis, _)| repeated.contains(axis));
                let [rows] = rows[..] else {
                    return Err(Error::new(Kind::Internal, "waves have one axis of rows"));
                };
                let made = self.waves(rows, waves)?;
                self.again(made, &again, waves.frequencies.shape().rank())
            }
        }
    }

    fn affine(
        &mut self,
        axes: &[OpenAxis],
        base: &Tensor,
        (steps, from): (&[Option<Tensor>], &[Place]),
    ) -> Result<Arc<str>> {
        let rank = base.shape().rank();
        let mut sum = self.constant(base);
        for (((axis, size), step), from) in axes.iter().zip(steps).zip(from) {
            let Some(step) = step else { continue };
            let mut line = self.line(size, *axis, rank)?;
            let size = self.symbols.parse(size)?;
            let before = match from {
                Place::First => None,
                Place::Middle => self.symbols.floor_divide(size, Dim::Known(2)),
                Place::Last => self.symbols.add(size, Dim::Known(-1)),
            };
            if let Some(before) = before {
                let before = self.size(before)?;
                line = self.node("Sub", &[&line, &before], Vec::new());
            }
            let line = self.cast(line, base.dtype());
            let step = self.constant(step);
            let product = self.node("Mul", &[&line, &step], Vec::new());
            sum = self.node("Add", &[&product, &sum], Vec::new());
        }
        let again: Vec<_> =
            axes.iter().zip(steps).filter(|(_, step)| step.is_none()).map(|(axis, _)| axis).collect();
        self.again(sum, &again, rank)
    }

    fn grid(&mut self, axes: &[OpenAxis], grid: &Grid) -> Result<Arc<str>> {
        let rank = grid.start.shape().rank();
        let mut sum = self.constant(&grid.start);
        for ((axis, size), of) in axes.iter().zip(&grid.axes) {
            let Some(of) = of else { continue };
            let line = self.line(size, *axis, rank)?;
            let (line, shift) = (self.cast(line, DType::F64), self.constant(&of.shift));
            let line = self.node("Add", &[&line, &shift], Vec::new());
            let span = self.constant(&of.span);
            let mut line = self.node("Mul", &[&line, &span], Vec::new());
            if let Some(ends) = of.ends {
                // One element has no step.
                let size = self.symbols.parse(size)?;
                let size = self.symbols.add(size, Dim::Known(ends)).unwrap_or(size);
                let size = self.symbols.max(size, Dim::ONE).unwrap_or(size);
                let size = self.size(size)?;
                let size = self.cast(size, DType::F64);
                line = self.node("Div", &[&line, &size], Vec::new());
            }
            sum = self.node("Add", &[&line, &sum], Vec::new());
        }
        let sum = self.cast(sum, grid.dtype);
        let again: Vec<_> =
            axes.iter().zip(&grid.axes).filter(|(_, of)| of.is_none()).map(|(axis, _)| axis).collect();
        self.again(sum, &again, rank)
    }

    fn band(
        &mut self,
        axes: &[OpenAxis],
        (rank, above): (usize, i64),
        [within, beyond]: [&Tensor; 2],
    ) -> Result<Arc<str>> {
        let [(row, rows), (column, columns)] = axes else {
            return Err(Error::new(Kind::Internal, "a band has two axes"));
        };
        let (rows, columns) = (self.line(rows, *row, rank)?, self.line(columns, *column, rank)?);
        let last = self.plus(rows, above + 1);
        let inside = self.node("Less", &[&columns, &last], Vec::new());
        if within.dtype() == DType::Bool {
            // No runtime need choose between truth values: they are the comparison.
            let is_inside = within.bytes().is_some_and(|bytes| bytes[0] != 0);
            return Ok(if is_inside { inside } else { self.node("Not", &[&inside], Vec::new()) });
        }
        let [within, beyond] = [within, beyond].map(|one| self.constant(one));
        Ok(self.node("Where", &[&inside, &within, &beyond], Vec::new()))
    }

    fn part(&mut self, axes: &[&OpenAxis], whole: &Tensor, place: Place) -> Result<Arc<str>> {
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        for (axis, size) in axes {
            let size = self.symbols.parse(size)?;
            let start = self.before(place, whole.shape().dims()[*axis], size);
            ends.push(start.and_then(|start| self.symbols.add(start, size)).unwrap_or(size));
            starts.push(start.unwrap_or(Dim::ZERO));
        }
        let axes: Vec<_> = axes.iter().map(|(axis, _)| i64_of(*axis)).collect();
        let whole = self.constant(whole);
        let (starts, ends, axes) = (self.list(&starts)?, self.list(&ends)?, self.numbers(&axes));
        Ok(self.node("Slice", &[&whole, &starts, &ends, &axes], Vec::new()))
    }

    /// The number of elements of an axis before a part of it; none if the part is longer, as a
    /// start below 0 counts from the end.
    fn before(&mut self, place: Place, whole: usize, size: Dim) -> Option<Dim> {
        let size = self.symbols.multiply(size, Dim::Known(-1))?;
        let lacking = self.symbols.add(Dim::from(whole), size)?;
        let before = match place {
            Place::First => return Some(Dim::ZERO),
            Place::Middle => self.symbols.floor_divide(lacking, Dim::Known(2))?,
            Place::Last => lacking,
        };
        self.symbols.max(before, Dim::ZERO)
    }

    fn waves(&mut self, (axis, size): &OpenAxis, waves: &Waves) -> Result<Arc<str>> {
        let line = self.line(size, *axis, waves.frequencies.shape().rank())?;
        let line = self.cast(line, waves.frequencies.dtype());
        let frequencies = self.constant(&waves.frequencies);
        let angle = self.node("Mul", &[&line, &frequencies], Vec::new());
        let Some(sines) = &waves.sines else {
            return Ok(self.node(if waves.first_is_sine { "Sin" } else { "Cos" }, &[&angle], Vec::new()));
        };
        let one = Tensor::from_numbers(sines.dtype(), Shape::new([])?, [Number::Int(1)], Rules::IEEE)?;
        let (sines, one) = (self.constant(sines), self.constant(&one));
        let is_sine = self.node("Equal", &[&sines, &one], Vec::new());
        let [sine, cosine] = ["Sin", "Cos"].map(|of| self.node(of, &[&angle], Vec::new()));
        Ok(self.node("Where", &[&is_sine, &sine, &cosine], Vec::new()))
    }

    /// A table again along axes of which it has one slice.
    fn again(&mut self, table: Arc<str>, axes: &[&OpenAxis], rank: usize) -> Result<Arc<str>> {
        if axes.is_empty() {
            return Ok(table);
        }
        let mut dims = vec![Dim::ONE; rank];
        for (axis, size) in axes {
            dims[*axis] = self.symbols.parse(size)?;
        }
        let shape = self.list(&dims)?;
        Ok(self.node("Expand", &[&table, &shape], Vec::new()))
    }

    /// 0, 1, 2, … along an axis of a tensor of that rank.
    fn line(&mut self, size: &str, axis: usize, rank: usize) -> Result<Arc<str>> {
        let size = self.symbols.parse(size)?;
        let line = self.range(size)?;
        if rank == 1 {
            return Ok(line);
        }
        let shape: Vec<_> = (0..rank).map(|other| if other == axis { -1 } else { 1 }).collect();
        let shape = self.numbers(&shape);
        Ok(self.node("Reshape", &[&line, &shape], Vec::new()))
    }

    /// The numbers below a size.
    fn range(&mut self, size: Dim) -> Result<Arc<str>> {
        let [zero, one] = [0i64, 1].map(|number| self.constant(&Tensor::scalar(number)));
        let size = self.scalar(size)?;
        Ok(self.node("Range", &[&zero, &size, &one], Vec::new()))
    }
}
