//! Operators of classical machine learning as operators of OpenVINO.

use gradus_core::convert::i64_of;
use gradus_core::{Result, Tensor, display};

use super::maps::class_labels;
use crate::conversion::node::ConvertContext;
use crate::conversion::to_openvino::say;
use crate::conversion::writer::NewValue;

/// `ZipMap` in OpenVINO, which has no maps: the values as a tensor, a column for each key.
pub fn zip_map(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let labels = class_labels(&cx.attributes)?;
    let keys = (0..labels.len()).map(|at| display::element(&labels, at)).collect::<Vec<_>>().join(", ");
    cx.edges(&format!(
        "OpenVINO has no maps: they are the rows of a tensor, with a column for each key: {keys}"
    ));
    let (x, shape) = (cx.input(0)?, cx.constant(Tensor::vector(&[-1, i64_of(labels.len())])));
    Ok(vec![cx.put("Reshape", &[x, shape], &[say("special_zero", false)])?])
}
