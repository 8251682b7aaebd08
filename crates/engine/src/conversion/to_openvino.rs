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

    /// The second factor of a product of matrices of one type, `across` if it is transposed.
    /// OpenVINO's processor plug-in takes the scales of compressed weights for those of columns,
    /// and multiplies by other numbers, or reads beyond them, where each row has its own, and
    /// refuses blocks of columns: a factor of 1 keeps it from that.
    pub fn weights(&mut self, value: NewValue, dtype: DType, across: bool) -> Result<NewValue> {
        if !self.has_scaled_rows(value, usize::from(across)) {
            return Ok(value);
        }
        let one = self.number(1.0, dtype)?;
        self.put("Multiply", &[value, one], &[numpy()])
    }

    /// Returns true if a matrix is made of constants by scales along an axis, or by those of blocks
    /// along the other.
    fn has_scaled_rows(&self, mut value: NewValue, mut axis: usize) -> bool {
        while let Some((operator, inputs)) = self.target.maker(value) {
            let Some(&first) = inputs.first() else { return false };
            match operator {
                "Multiply" => {
                    let scales = |input: &NewValue| {
                        let dims = self.target.held(*input).map(|scales| scales.shape().dims());
                        dims.is_some_and(|dims| match dims.len() {
                            2 => dims[axis] > 1 && dims[1 - axis] == 1,
                            // The axis of the elements of a block has one scale.
                            3 => dims[2 - axis] == 1 && dims.iter().any(|&dim| dim > 1),
                            _ => false,
                        })
                    };
                    return inputs.iter().any(scales);
                }
                "Transpose" => axis = 1 - axis,
                "Reshape" | "Convert" => {}
                _ => return false,
            }
            value = first;
        }
        false
    }

    /// The elements of a list from one place to before another.
    pub fn sliced(&mut self, list: NewValue, from: i64, to: i64) -> Result<NewValue> {
        let (from, to, one, axis) = (self.list(&[from]), self.list(&[to]), self.list(&[1]), self.list(&[0]));
        self.put("Slice", &[list, from, to, one, axis], &[])
    }
}
