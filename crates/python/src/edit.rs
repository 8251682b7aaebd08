//! Edits of models, as Python gives them.

use gradus::convert::usize_of_i64;
use gradus::dynamic::DynamicOptions;
use gradus::edit::{Edit, Editor, Float16Options, Scaling};
use gradus::infer::InputFact;
use gradus::{Error, Kind};
use pyo3::prelude::*;

use crate::dim::sizes;
use crate::error::{OrRaise, mismatch};
use crate::model::Model;

/// An edit: its kind, the name that it is about, and what else it needs.
pub(crate) type GivenEdit<'py> = (String, String, Bound<'py, PyAny>);

/// A short float type, the nodes that are kept, the largest difference, and inputs of the run.
type GivenShortening<'py> = (String, Vec<String>, Option<f64>, Vec<(String, Bound<'py, PyAny>)>);

/// An element type, and what its numbers become: factors and summands.
type GivenType = (String, Vec<f64>, Vec<f64>);

/// Applies an edit to a model.
pub(crate) fn apply(editor: &mut Editor, (kind, name, rest): GivenEdit<'_>) -> PyResult<()> {
    let text = || rest.extract::<String>();
    let edit = match &*kind {
        "extract" => {
            let (inputs, outputs) = rest.extract()?;
            Edit::Extract { inputs, outputs }
        }
        "add_output" => Edit::AddOutput(name),
        "remove_output" => Edit::RemoveOutput(name),
        "rename" => Edit::Rename { old: name, new: text()? },
        "rename_dim" => Edit::RenameDim { old: name, new: text()? },
        "set" => {
            let value = Model::given_to(editor.model(), &name, &rest)?;
            Edit::Set { input: name, value }
        }
        "default" if rest.is_none() => Edit::Default { input: name, value: None },
        "default" => {
            let value = Some(Model::given_to(editor.model(), &name, &rest)?);
            Edit::Default { input: name, value }
        }
        "input_shape" => Edit::InputShape { input: name, sizes: sizes(Some(&rest))?.unwrap_or_default() },
        "dynamic" => {
            let (shapes, given) = rest.extract()?;
            Edit::Dynamic(Box::new(dynamic(shapes, given)?))
        }
        "dim" => {
            let number: i64 = rest.extract()?;
            let wrong = || mismatch(Kind::Usage, format!("dimension \"{name}\""), number, "at least 0");
            let size = usize_of_i64(number).ok_or_else(wrong)?;
            Edit::Dim { name, size }
        }
        "input_type" => {
            let (dtype, scale, offset): GivenType = rest.extract()?;
            let dtype = dtype.parse().or_raise()?;
            Edit::InputType { input: name, dtype, scaling: Scaling { scale, offset } }
        }
        "output_type" => Edit::OutputType { output: name, dtype: text()?.parse().or_raise()? },
        "layout" => Edit::Layout { name, layout: text()? },
        "float16" => Edit::Float16(Box::new(float16(editor, rest.extract()?)?)),
        "metadata" => Edit::Metadata { key: name, value: rest.extract()? },
        "embed" => Edit::Embed,
        "strip_weights" => Edit::StripWeights,
        "weights" => Edit::Weights(Box::new(rest.extract::<PyRef<'_, Model>>()?.native().clone())),
        "share_weights" => Edit::ShareWeights,
        "no_docs" => Edit::NoDocs,
        _ => return Err(Error::new(Kind::Internal, format!("no edit {kind}"))).or_raise(),
    };
    editor.apply(&edit).or_raise()
}

/// Options of models that compute in a shorter type.
fn float16(editor: &Editor, given: GivenShortening<'_>) -> PyResult<Float16Options> {
    let (dtype, keep, max_error, inputs) = given;
    let mut options = Float16Options::default();
    (options.dtype, options.keep, options.max_error) = (dtype.parse().or_raise()?, keep, max_error);
    for (name, value) in inputs {
        let value = Model::given_to(editor.model(), &name, &value)?;
        options.sizes.inputs.insert(name, InputFact::Value(value));
    }
    Ok(options)
}

/// Options of models whose sizes are open, from the sizes of inputs and of nodes.
pub(crate) fn dynamic(
    shapes: Vec<(String, Bound<'_, PyAny>)>,
    given: Vec<(String, String)>,
) -> PyResult<DynamicOptions> {
    let mut options = DynamicOptions::default();
    for (input, shape) in shapes {
        options.inputs.insert(input, sizes(Some(&shape))?.unwrap_or_default());
    }
    options.sizes.extend(given);
    Ok(options)
}
