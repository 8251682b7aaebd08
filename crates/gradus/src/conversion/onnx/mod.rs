//! ONNX's operators in those of OpenVINO.

mod bodies;
mod elementwise;
mod folds;
mod parts;
mod shapes;

use std::fmt::Display;

use gradus_core::graph::Content;
use gradus_core::{DType, Result};

use super::Row;
use super::node::Cx;
use super::target::V;
use super::types::named;

/// The tables of all files.
pub(super) const TABLES: &[&[Row]] =
    &[elementwise::ROWS, shapes::ROWS, parts::ROWS, folds::ROWS, bodies::ROWS];

/// An attribute of OpenVINO: text.
fn say(name: &'static str, content: impl Display) -> (&'static str, Content) {
    (name, Content::Text(content.to_string().into()))
}

/// Both operands are broadcast as NumPy does.
fn numpy() -> (&'static str, Content) {
    say("auto_broadcast", "numpy")
}

/// What several operators need.
impl Cx<'_, '_> {
    /// A value in another element type.
    fn converted(&mut self, value: V, to: DType) -> Result<V> {
        self.put("Convert", &[value], &[named("destination_type", to)?])
    }

    /// The extents of a value, as int64.
    fn shape_of(&mut self, value: V) -> Result<V> {
        self.put("ShapeOf", &[value], &[say("output_type", "i64")])
    }

    /// The same elements in another shape; an extent of 0 is one.
    fn reshaped(&mut self, value: V, dims: &[i64]) -> Result<V> {
        let dims = self.list(dims);
        self.put("Reshape", &[value, dims], &[say("special_zero", false)])
    }

    /// An input of one element as a scalar.
    fn scalar_input(&mut self, input: usize) -> Result<V> {
        let value = self.input(input)?;
        if self.rank_if_known(input) == Some(0) { Ok(value) } else { self.reshaped(value, &[]) }
    }

    /// The elements of a list from one place to before another.
    fn sliced(&mut self, list: V, from: i64, to: i64) -> Result<V> {
        let (from, to, one, axis) = (self.list(&[from]), self.list(&[to]), self.list(&[1]), self.list(&[0]));
        self.put("Slice", &[list, from, to, one, axis], &[])
    }
}
