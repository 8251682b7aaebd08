//! ONNX's operators in those of OpenVINO.

use std::fmt::Display;

use gradus_core::graph::Content;
use gradus_core::{DType, Result};

use crate::conversion::node::ConvertContext;
use crate::conversion::types::named;
use crate::conversion::writer::NewValue;

/// An attribute of OpenVINO: text.
pub fn say(name: &'static str, content: impl Display) -> (&'static str, Content) {
    (name, Content::Text(content.to_string().into()))
}

/// Both operands are broadcast as NumPy does.
pub fn numpy() -> (&'static str, Content) {
    say("auto_broadcast", "numpy")
}

/// Helpers of several operators.
impl ConvertContext<'_, '_> {
    /// A value in another element type.
    pub fn converted(&mut self, value: NewValue, to: DType) -> Result<NewValue> {
        self.put("Convert", &[value], &[named("destination_type", to)?])
    }

    /// The dimensions of a value, as int64.
    pub fn shape_of(&mut self, value: NewValue) -> Result<NewValue> {
        self.put("ShapeOf", &[value], &[say("output_type", "i64")])
    }

    /// The elements of a value in another shape, in which a dimension of 0 is a size of 0.
    pub fn reshaped(&mut self, value: NewValue, dims: &[i64]) -> Result<NewValue> {
        let dims = self.list(dims);
        self.put("Reshape", &[value, dims], &[say("special_zero", false)])
    }

    /// An input of one element as a scalar.
    pub fn scalar_input(&mut self, input: usize) -> Result<NewValue> {
        let value = self.input(input)?;
        if self.rank_if_known(input) == Some(0) { Ok(value) } else { self.reshaped(value, &[]) }
    }

    /// The elements of a list from one place to before another.
    pub fn sliced(&mut self, list: NewValue, from: i64, to: i64) -> Result<NewValue> {
        let (from, to, one, axis) = (self.list(&[from]), self.list(&[to]), self.list(&[1]), self.list(&[0]));
        self.put("Slice", &[list, from, to, one, axis], &[])
    }
}
