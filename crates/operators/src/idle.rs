//! Attributes of nodes that change nothing, so that an operator set may lack them.

use gradus_core::element::Bool;
use gradus_core::graph::Content;
use gradus_core::{DType, Result, Tensor};
use gradus_formats::onnx::dtype_of;

use crate::conversion::node::ConvertContext;
use crate::dim::Dim;
use crate::fact::Elements;

/// Returns true if a flag is not set.
pub fn is_false(flag: &Tensor) -> bool {
    flag.elements::<Bool>().is_ok_and(|flags| flags.iter().all(|flag| !flag.is_true()))
}

/// The seed of a Dropout that does not train.
pub fn dropout(cx: &ConvertContext<'_, '_>, attribute: &str, _: &Content) -> Result<bool> {
    Ok(attribute == "seed"
        && match cx.known(2)? {
            Some(training) => is_false(&training),
            None => !cx.has(2),
        })
}

/// Attributes of a `Resize` that belong to other modes than its own.
pub fn resize(cx: &ConvertContext<'_, '_>, attribute: &str, _: &Content) -> Result<bool> {
    Ok(match attribute {
        "cubic_coeff_a" => cx.attributes.text("mode")? != Some("cubic"),
        "extrapolation_value" => {
            cx.attributes.text("coordinate_transformation_mode")? != Some("tf_crop_and_resize")
        }
        "nearest_mode" => cx.attributes.text("mode")?.is_some_and(|mode| mode != "nearest"),
        _ => false,
    })
}

/// Returns true if no dimension that a Reshape is given is 0, or that of the same axis of the input
/// is 0 then, too.
fn copies_no_dims(cx: &ConvertContext<'_, '_>) -> bool {
    let (Some(x), Some(shape)) = (cx.fact(0).as_tensor(), cx.fact(1).as_tensor()) else { return false };
    let symbols = &cx.conversion.symbols;
    let dims = x.dims.as_deref().unwrap_or_default();
    let full = !dims.is_empty() && dims.iter().all(|&dim| symbols.at_least(dim, 1));
    let copied = |(axis, &size): (usize, &Dim)| {
        symbols.at_least(size, 1) || size.known() == Some(-1) || dims.get(axis) == Some(&size)
    };
    let none = matches!(&shape.elements, Elements::Integers(sizes) if sizes.iter().enumerate().all(copied));
    full || none
}

/// An `allowzero` that no dimension of a `Reshape` depends on.
pub fn reshape(cx: &ConvertContext<'_, '_>, attribute: &str, _: &Content) -> Result<bool> {
    Ok(attribute == "allowzero" && copies_no_dims(cx))
}

/// A `spatial` of channels that have one element, whose statistics are those of the elements.
pub fn batch_normalization(cx: &ConvertContext<'_, '_>, attribute: &str, _: &Content) -> Result<bool> {
    Ok(attribute == "spatial" && cx.rank_if_known(0) == Some(2))
}

/// Returns true if an attribute names the type of an input, or another type without it.
fn is_type_of(cx: &ConvertContext<'_, '_>, content: &Content, input: usize, other: Option<DType>) -> bool {
    let named = if let Content::Int(number) = content { dtype_of(*number) } else { None };
    let own = if cx.has(input) { cx.fact(input).dtype() } else { other };
    named.is_some() && named == own
}

/// The axis of one scale, and the types that inputs have anyway.
pub fn dequantize(cx: &ConvertContext<'_, '_>, attribute: &str, content: &Content) -> Result<bool> {
    Ok(match attribute {
        "axis" => cx.rank_if_known(1) == Some(0),
        "output_dtype" => is_type_of(cx, content, 1, None),
        _ => false,
    })
}

/// The axis of one scale, and the types that inputs have anyway.
pub fn quantize(cx: &ConvertContext<'_, '_>, attribute: &str, content: &Content) -> Result<bool> {
    Ok(match attribute {
        "axis" => cx.rank_if_known(1) == Some(0),
        "precision" => is_type_of(cx, content, 1, None),
        "output_dtype" => is_type_of(cx, content, 2, Some(DType::U8)),
        _ => false,
    })
}

/// Returns true for the order of indices if nothing reads the indices.
pub fn max_pool(cx: &ConvertContext<'_, '_>, attribute: &str, _: &Content) -> Result<bool> {
    Ok(attribute == "storage_order" && !cx.wants(1))
}
