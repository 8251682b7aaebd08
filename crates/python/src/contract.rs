//! Contracts, asked for shapes and memory.

use gradus::contract::{self, OutputShape};
use pyo3::prelude::*;

use crate::error::OrRaise;

/// The contract of `gradus.Contract`.
#[pyclass(frozen, module = "gradus._native")]
pub(crate) struct Contract(pub(crate) contract::Contract);

/// Smallest and largest sizes of an output by axis, and its bytes.
type Shape = (Option<Vec<(i64, Option<i64>)>>, Option<i64>);

#[pymethods]
impl Contract {
    /// Shapes of outputs by name, bytes of the inputs, and the peak.
    #[allow(clippy::type_complexity, reason = "the fields of a class of Python")]
    fn _shapes(
        &self,
        inputs: Vec<(String, Vec<i64>)>,
        numbers: Vec<(String, i64)>,
    ) -> PyResult<(Vec<(&str, Shape)>, Option<i64>, Option<i64>)> {
        let inputs: Vec<_> = inputs.iter().map(|(name, sizes)| (&**name, &sizes[..])).collect();
        let numbers: Vec<_> = numbers.iter().map(|(name, number)| (&**name, *number)).collect();
        let shapes = self.0.shapes(&inputs, &numbers).or_raise()?;
        let shape = |it: OutputShape| (it.sizes, it.bytes);
        let names = self.0.outputs().iter().map(|output| &*output.name);
        let outputs = names.zip(shapes.outputs.into_iter().map(shape)).collect();
        Ok((outputs, shapes.input_bytes, shapes.peak_bytes))
    }

    /// Conditions that sizes must meet, and those that sizes do not decide, each with its place.
    fn _conditions(&self) -> [Vec<(&str, &str)>; 2] {
        let checked = self.0.conditions().iter().map(|it| (&*it.text, &*it.place));
        let unchecked = self.0.unchecked().iter().map(|it| (&*it.text, &*it.place));
        [checked.collect(), unchecked.collect()]
    }
}
