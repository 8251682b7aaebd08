//! Arithmetic in the operators of the standard that is written.

use gradus_core::graph::Standard;
use gradus_core::{DType, Result};

use super::node::ConvertContext;
use super::report::cannot;
use super::to_openvino::{numpy, say};
use super::writer::NewValue;
use crate::lowering::int;
use crate::operators;

impl ConvertContext<'_, '_> {
    /// Applies an operator of elements, by its name in ONNX, to operands that are broadcast. `Mod`
    /// has the sign of the dividend, and `Round` rounds half to even.
    pub fn elements(&mut self, operator: &str, operands: &[NewValue]) -> Result<NewValue> {
        if self.target.standard == Standard::Onnx {
            let fmod = (operator == "Mod").then(|| int("fmod", 1));
            return self.put(operator, operands, fmod.as_slice());
        }
        let name = match operator {
            "Abs" | "Floor" => return self.put(operator, operands, &[]),
            "Round" => return self.put(operator, operands, &[say("mode", "half_to_even")]),
            "Max" => "Maximum",
            "Min" => "Minimum",
            "Mul" => "Multiply",
            "Or" => "LogicalOr",
            "Sub" => "Subtract",
            "Where" => "Select",
            same if operators::registry::row(Standard::OpenVino, "", same).is_some() => same,
            other => return Err(cannot(format!("cannot write {other} by its name in ONNX"))),
        };
        self.put(name, operands, &[numpy()])
    }

    /// A value in another element type.
    pub fn of_type(&mut self, value: NewValue, to: DType) -> Result<NewValue> {
        if self.target.standard == Standard::Onnx { self.cast(value, to) } else { self.converted(value, to) }
    }

    /// The dimensions of a value, as int64.
    pub fn dimensions(&mut self, value: NewValue) -> Result<NewValue> {
        if self.target.standard == Standard::Onnx { self.sizes(value) } else { self.shape_of(value) }
    }

    /// The elements of a list from one index to before another.
    pub fn elements_of(&mut self, list: NewValue, from: i64, to: i64) -> Result<NewValue> {
        if self.target.standard == Standard::Onnx {
            self.part_of(list, from, to)
        } else {
            self.sliced(list, from, to)
        }
    }

    /// The elements at indices of an axis.
    pub fn gathered(&mut self, value: NewValue, indices: NewValue, axis: i64) -> Result<NewValue> {
        if self.target.standard == Standard::Onnx {
            return self.put("Gather", &[value, indices], &[int("axis", axis)]);
        }
        let axis = self.scalar(axis);
        self.put("Gather", &[value, indices, axis], &[say("batch_dims", 0)])
    }

    /// The elements of a value in another shape, in which a 0 is the size of that axis of the
    /// value.
    pub fn in_shape(&mut self, value: NewValue, dims: NewValue) -> Result<NewValue> {
        if self.target.standard == Standard::Onnx {
            return self.put("Reshape", &[value, dims], &[]);
        }
        self.put("Reshape", &[value, dims], &[say("special_zero", true)])
    }

    /// Lists, one after the other.
    pub fn joined(&mut self, lists: &[NewValue]) -> Result<NewValue> {
        if self.target.standard == Standard::Onnx {
            return self.put("Concat", lists, &[int("axis", 0)]);
        }
        self.put("Concat", lists, &[say("axis", 0)])
    }
}
