//! ONNX in another operator set: each node in its newest form, which the writer brings into the
//! form of the set.

use std::sync::Arc;

use gradus_core::convert::{i64_of, usize_of_i64};
use gradus_core::element::Bool;
use gradus_core::graph::{Content, Node, Standard};
use gradus_core::{DType, Error, Kind, Result, Shape, Tensor};
use gradus_formats::onnx::dtype_of;

use super::nested::nested;
use super::node::ConvertContext;
use super::older::is_older;
use super::report::{cannot, not_known};
use super::runtime::Widening;
use super::writer::NewValue;
use super::writer::downgrade::is_value;
use crate::dim::Dim;
use crate::fact::Elements;
use crate::lowering::int;
use crate::normalize::{Change, Form, Older};
use crate::operators::generate::constant::held;
use crate::operators::indices::axis as axis_of;
use crate::operators::nn::to_openvino::softmax_axis;
use crate::operators::nn::windows_to_openvino::by_weights;
use crate::operators::registry;
use crate::schema::{Arity, Param};

/// The meaning that older versions have, if this form has one.
fn older(form: Form) -> Option<Older> {
    form.changes().find_map(|(change, _)| match change {
        Change::Meaning(older) => Some(*older),
        _ => None,
    })
}

/// Checks that a node means the same in both sets.
fn same_meaning(cx: &ConvertContext<'_, '_>, from: Form, to: Form) -> Result<()> {
    let name = &*cx.node.operator.name;
    match (older(from), older(to)) {
        (a, b) if a == b => {}
        // The newer attributes say what the older form does.
        (None | Some(Older::ModesOfImages), None | Some(Older::ModesOfImages))
        | (None, Some(Older::Upsampled))
        | (Some(Older::Upsampled), None) => {}
        // Nodes that do not train.
        (None, Some(Older::TrainingByOutputs)) | (Some(Older::TrainingByOutputs), None)
            if cx.outputs() == 1 && !cx.attributes.flag("training_mode", false)? => {}
        _ => {
            return Err(cannot(format!(
                "cannot convert: {name} means something else in the two operator sets"
            )));
        }
    }
    // Other defaults say how these work without the attribute.
    let attribute = "coordinate_transformation_mode";
    let differs = from.default_of(attribute).is_some() != to.default_of(attribute).is_some();
    if name == "RoiAlign" && differs && cx.attributes.get(attribute).is_none() {
        return Err(cannot(format!(
            "cannot convert: {name} has another default or meaning in the operator sets"
        )));
    }
    Ok(())
}

/// Returns true if an operator has an attribute in the operator set that is written.
fn to_set_has(cx: &ConvertContext<'_, '_>, operator: &str, attribute: &str) -> bool {
    cx.target.signature(operator).is_some_and(|signature| signature.has_attribute(attribute))
}

/// Equal parts: newer sets are told how many.
fn counted(cx: &ConvertContext<'_, '_>, attributes: &mut Vec<(&str, Content)>) {
    attributes.retain(|(name, _)| *name != "num_outputs");
    if to_set_has(cx, "Split", "num_outputs") {
        attributes.push(("num_outputs", Content::Int(i64_of(cx.node.outputs.len()))));
    }
}

/// Parts of which the last may be smaller, in sets whose equal parts are equal.
fn smaller_last_part(cx: &mut ConvertContext<'_, '_>) -> Result<Option<Vec<NewValue>>> {
    let count = i64_of(cx.node.outputs.len());
    if cx.has(1) || cx.attributes.get("num_outputs").is_none() || to_set_has(cx, "Split", "num_outputs") {
        return Ok(None);
    }
    let axis = i64_of(cx.axis(cx.attributes.int_or("axis", 0)?, 0)?);
    let size = cx.known_size(0, usize_of_i64(axis).unwrap_or_default());
    let x = cx.input(0)?;
    if let Some(size) = size {
        if size % count == 0 {
            return Ok(None);
        }
        let each = size / count + 1;
        let sizes = (0..count).map(|part| (size - part * each).clamp(0, each)).collect::<Vec<_>>();
        let sizes = cx.list(&sizes);
        return cx
            .put_many("Split", &[x, sizes], &[("axis", Content::Int(axis))], cx.node.outputs.len())
            .map(Some);
    }
    let (shape, at, less) = (cx.sizes(x)?, cx.list(&[axis]), cx.list(&[count - 1]));
    let size = cx.put("Gather", &[shape, at], &[])?;
    let size = cx.put("Add", &[size, less], &[])?;
    let count = cx.list(&[count]);
    let each = cx.put("Div", &[size, count], &[])?;
    let (mut parts, mut start) = (Vec::new(), cx.list(&[0]));
    for _ in 0..cx.node.outputs.len() {
        let end = cx.put("Add", &[start, each], &[])?;
        parts.push(cx.put("Slice", &[x, start, end, at], &[])?);
        start = end;
    }
    Ok(Some(parts))
}

/// A node of another domain as it is: the operator sets of other domains stay.
pub(super) fn foreign(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let node: &Node = cx.node;
    let version = node.version.ok_or_else(|| not_known("operator set of the domain"))?;
    let inputs = (0..cx.count()).map(|input| cx.maybe(input)).collect::<Result<Vec<_>>>()?;
    let mut attributes: Vec<_> = cx.attributes.all().map(|(name, content)| (name, content.clone())).collect();
    nest_all(cx, &mut attributes)?;
    let written = *cx.conversion.foreign.entry(node.operator.domain.clone()).or_insert(version);
    if written != version {
        let what = format_args!("cannot convert: operator set of {} of the node", node.operator.domain);
        let wanted = format_args!("{written}, as of the nodes before");
        return Err(Error::mismatch(Kind::Unsupported, what, version, wanted));
    }
    Ok(cx.target.put_foreign((&node.operator, version), inputs, &attributes, node.outputs.len()))
}

/// Brings the graphs among attributes into the operator set.
fn nest_all(cx: &mut ConvertContext<'_, '_>, attributes: &mut [(&str, Content)]) -> Result<()> {
    for (attribute, content) in attributes {
        if matches!(content, Content::Graph(_)) {
            *content = nested(cx, attribute, &[])?;
        }
    }
    Ok(())
}

/// Counts axes that are known from the first one, where the rank is known.
fn count_axes_from_first(
    cx: &mut ConvertContext<'_, '_>,
    name: &str,
    inputs: &mut [NewValue],
    attributes: &mut [(&str, Content)],
) -> Result<()> {
    let Ok(rank) = cx.rank(0) else { return Ok(()) };
    for (attribute, content) in attributes {
        match content {
            Content::Int(axis) if *attribute == "axis" => *axis = i64_of(cx.axis(*axis, 0)?),
            Content::Ints(axes) if *attribute == "axes" => {
                // Those that Unsqueeze adds count.
                let rank = if name == "Unsqueeze" { rank + axes.len() } else { rank };
                for axis in Arc::make_mut(axes) {
                    *axis = i64_of(axis_of(*axis, rank)?);
                }
            }
            _ => {}
        }
    }
    for (change, _) in cx.target.form(name).changes() {
        let Change::Input(input, "axes") = *change else { continue };
        if let (Some(value), Some(tensor)) = (inputs.get_mut(input), cx.known(input)?) {
            let axes = tensor.to_i64()?;
            let rank = if name == "Unsqueeze" { rank + axes.len() } else { rank };
            let axes = axes.into_iter().map(|axis| Ok(i64_of(axis_of(axis, rank)?)));
            *value = cx.list(&axes.collect::<Result<Vec<_>>>()?);
        }
    }
    Ok(())
}

/// Ones on a diagonal in a type that the program of the model has, cast to that of the node, if it
/// lacks that one.
fn eye_in_other_type(cx: &mut ConvertContext<'_, '_>) -> Result<Option<NewValue>> {
    let (Some(runtime), from) = (cx.conversion.runtime, cx.dtype(0)?) else { return Ok(None) };
    let to = cx.attributes.dtype("dtype")?.unwrap_or(from);
    let takes = |from, to| runtime.takes(cx.target, "EyeLike", &[("T1", from), ("T2", to)]);
    let other = [DType::F32, DType::F64, DType::I64].into_iter().find(|&own| takes(own, own));
    let Some(own) = other.filter(|_| !takes(from, to)) else { return Ok(None) };
    let x = cx.input(0)?;
    let (sizes, k) = (cx.sizes(x)?, cx.attributes.int_or("k", 0)?);
    let zero = Content::Tensor(Tensor::zeros(own, Shape::vector(1))?.into());
    let zeros = cx.put("ConstantOfShape", &[sizes], &[("value", zero)])?;
    let eye = cx.put("EyeLike", &[zeros], &[("k", Content::Int(k))])?;
    Ok(Some(if own == to { eye } else { cx.cast(eye, to)? }))
}

/// A manner in which Resize samples, and the operator set does not.
fn lack_of_resize(cx: &ConvertContext<'_, '_>) -> Result<Option<&'static str>> {
    if cx.target.form("Resize").is(Older::Upsampled) && !cx.attributes.form().is(Older::Upsampled) {
        let text = |name, default| Ok(cx.attributes.text(name)?.unwrap_or(default));
        let coordinates = text("coordinate_transformation_mode", "half_pixel")?;
        let rounds_down = match text("mode", "nearest")? {
            "nearest" => text("nearest_mode", "round_prefer_floor")? == "floor",
            mode => mode == "linear",
        };
        let by_scales = cx.has(2) && cx.len(2) != Some(0) && !cx.has(3);
        if coordinates != "asymmetric" || !rounds_down || !by_scales {
            return Ok(Some("attributes of operator set 11"));
        }
    }
    if cx.attributes.flag("antialias", false)? && !to_set_has(cx, "Resize", "antialias") {
        return Ok(Some("antialias"));
    }
    let policy = "keep_aspect_ratio_policy";
    if cx.attributes.text(policy)?.is_some_and(|policy| policy != "stretch")
        && !to_set_has(cx, "Resize", policy)
    {
        return Ok(Some(policy));
    }
    let (attribute, symmetric) = ("coordinate_transformation_mode", "half_pixel_symmetric");
    let is_symmetric = cx.attributes.text(attribute)? == Some(symmetric);
    let lacks = cx.target.form("Resize").lacks_value(attribute, symmetric);
    Ok((is_symmetric && lacks).then_some(symmetric))
}

/// Returns true if an attribute that the operator set lacks changes what the node computes.
fn has_effect(cx: &ConvertContext<'_, '_>, name: &str, attribute: &str, content: &Content) -> Result<bool> {
    if cx.attributes.form().former(attribute).is_some_and(|former| is_value(former, content)) {
        return Ok(false);
    }
    let is_type_of = |input: usize, other: Option<DType>| {
        let named = if let Content::Int(number) = content { dtype_of(*number) } else { None };
        let own = if cx.has(input) { cx.fact(input).dtype() } else { other };
        named.is_some() && named == own
    };
    Ok(match (name, attribute) {
        ("Reshape", "allowzero") => !copies_no_dims(cx),
        // Statistics of channels that have one element are those of the elements.
        ("BatchNormalization", "spatial") => cx.rank_if_known(0) != Some(2),
        ("DequantizeLinear" | "QuantizeLinear", "axis") => cx.rank_if_known(1) != Some(0),
        ("DequantizeLinear", "output_dtype") | ("QuantizeLinear", "precision") => !is_type_of(1, None),
        ("QuantizeLinear", "output_dtype") => !is_type_of(2, Some(DType::U8)),
        ("Dropout", "seed") => match cx.known(2)? {
            Some(training) => !is_false(&training),
            None => cx.has(2),
        },
        ("MaxPool", "storage_order") => cx.wants(1),
        ("Resize", "cubic_coeff_a") => cx.attributes.text("mode")? == Some("cubic"),
        ("Resize", "extrapolation_value") => {
            cx.attributes.text("coordinate_transformation_mode")? == Some("tf_crop_and_resize")
        }
        ("Resize", "nearest_mode") => cx.attributes.text("mode")?.is_none_or(|mode| mode == "nearest"),
        _ => true,
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

/// `Softmax` and its like of an operator set that takes all axes from one on together, in one that
/// takes one axis.
fn softmax_of_flattened(cx: &mut ConvertContext<'_, '_>, operator: &str) -> Result<Vec<NewValue>> {
    let x = cx.input(0)?;
    if let Some(axis) = softmax_axis(cx)? {
        return Ok(vec![cx.put(operator, &[x], &[int("axis", axis)])?]);
    }
    let sizes = match cx.dims(0).and_then(|dims| dims.into_iter().collect::<Option<Vec<_>>>()) {
        Some(known) => cx.list(&known),
        None => cx.sizes(x)?,
    };
    let flat = cx.put("Flatten", &[x], &[int("axis", cx.attributes.int_or("axis", -1)?)])?;
    let y = cx.put(operator, &[flat], &[int("axis", -1)])?;
    Ok(vec![cx.with_shape(y, sizes)?])
}

/// Returns true if a flag is not set.
fn is_false(flag: &Tensor) -> bool {
    flag.elements::<Bool>().is_ok_and(|flags| flags.iter().all(|flag| !flag.is_true()))
}

/// The attributes of a node in the newest form, without those that the operator set lacks and that
/// change nothing.
fn newest_attributes<'m>(
    cx: &ConvertContext<'_, 'm>,
    name: &str,
    (from, to): (Form, Form),
) -> Result<Vec<(&'m str, Content)>> {
    let newest = cx.attributes.newest().into_iter();
    let mut newest: Vec<_> = newest.map(|(name, content)| (name, content.clone())).collect();
    for (change, _) in from.changes() {
        if let Change::Default(attribute, content) = change
            && to.default_of(attribute).is_none()
            && !from
                .changes()
                .any(|(change, _)| matches!(change, Change::Input(_, name) if name == attribute))
            && newest.iter().all(|(name, _)| name != attribute)
        {
            newest.push((attribute, content.clone()));
        }
    }
    if from.is(Older::Upsampled) {
        let word = |text: &'static str| Content::Bytes(text.into());
        newest.push(("coordinate_transformation_mode", word("asymmetric")));
        newest.push(("nearest_mode", word("floor")));
    }
    let lacked = newest
        .iter()
        .map(|(own, content)| Ok(!to_set_has(cx, name, own) && !has_effect(cx, name, own, content)?));
    let mut lacked = lacked.collect::<Result<Vec<_>>>()?.into_iter();
    newest.retain(|_| !lacked.next().unwrap_or(false));
    if from.is(Older::ModesOfImages)
        && let Some((_, Content::Bytes(mode))) = newest.iter_mut().find(|(name, _)| *name == "mode")
        && let Some(cut) = mode.strip_prefix(b"bi")
    {
        *mode = mode.slice_ref(cut);
    }
    Ok(newest)
}

/// The inputs of a node in the newest form. Those that are attributes in the operator set, or that it
/// lacks, are constants where their elements are known.
fn newest_inputs(
    cx: &mut ConvertContext<'_, '_>,
    name: &str,
    (from, to): (Form, Form),
) -> Result<Vec<NewValue>> {
    let former = from.changes().filter_map(|(change, _)| match *change {
        Change::Input(input, _) if cx.has(input) => Some(input + 1),
        _ => None,
    });
    let count = former.fold(from.count_of(cx.count()), usize::max);
    let mut inputs = (0..count).map(|input| cx.maybe(input)).collect::<Result<Vec<_>>>()?;
    for (change, _) in to.changes() {
        if let Change::Input(input, _) = *change
            && input < count
            && let Some(tensor) = cx.known(input)?
        {
            inputs[input] = cx.constant(tensor);
        }
    }
    // Inputs that the set lacks may go if their elements are known: steps of 1.
    let repeats = |last: &Param| matches!(last.arity, Arity::Many { .. });
    let closed = cx.target.signature(name).filter(|signature| !signature.inputs.last().is_some_and(repeats));
    let taken = closed.map_or(count, |signature| signature.inputs.len());
    for (input, value) in inputs.iter_mut().enumerate().skip(taken) {
        if let Some(tensor) = cx.known(input)? {
            *value = cx.constant(tensor);
        }
    }
    Ok(inputs)
}

/// The same operator in the operator set that is written.
pub(crate) fn same(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (node, name): (&Node, &str) = (cx.node, &cx.node.operator.name);
    let (from, to) = (cx.attributes.form(), cx.target.form(name));
    if from.is(Older::Flattened) {
        if !to.is(Older::Flattened) {
            return softmax_of_flattened(cx, name);
        }
        cx.plain = registry::row_of(Standard::Onnx, node).map_or("", |row| row.name);
    }
    if name == "Split"
        && let Some(parts) = smaller_last_part(cx)?
    {
        return Ok(parts);
    }
    if name == "Resize"
        && let Some(lack) = lack_of_resize(cx)?
    {
        return by_weights(cx, lack);
    }
    if name == "EyeLike"
        && let Some(eye) = eye_in_other_type(cx)?
    {
        return Ok(vec![eye]);
    }
    let lacks = |(given, _): (&str, &Content)| !to_set_has(cx, name, given);
    if name == "Constant" && cx.attributes.all().next().is_some_and(lacks) {
        let value = Content::Tensor(held(&cx.attributes)?.into());
        return cx.put_many(name, &[], &[("value", value)], 1);
    }
    let by_group =
        from.is(Older::ScaledByGroup) && (is_older(cx.target, name) || !to.is(Older::ScaledByGroup));
    if !is_older(cx.target, name) && !by_group {
        same_meaning(cx, from, to)?;
    }
    let mut newest = newest_attributes(cx, name, (from, to))?;
    if name == "Split" && !cx.has(1) {
        counted(cx, &mut newest);
    }
    if name == "DFT" && !cx.has(2) && to.default_of("axis").is_some() {
        // Axes count from the last, whose default is another one.
        newest.push(("axis", Content::Int(-2)));
    }
    nest_all(cx, &mut newest)?;
    // The attribute decides only how a node without axes reduces.
    if cx.len(1).is_some_and(|axes| axes > 0) {
        newest.retain(|(name, _)| *name != "noop_with_empty_axes");
    }
    let mut inputs = newest_inputs(cx, name, (from, to))?;
    if to.counts_axes_from_first() {
        count_axes_from_first(cx, name, &mut inputs, &mut newest)?;
    }
    // Older sets cannot say that a node does not train, as theirs never do.
    let sure = cx.target.signature(name).is_some_and(|signature| signature.inputs.len() < inputs.len());
    if name == "Dropout" && sure && cx.known(2)?.is_some_and(|training| is_false(&training)) {
        inputs.truncate(2);
    }
    if by_group {
        let channels = cx.known_size(0, 1).ok_or_else(|| not_known("number of channels"))?;
        let groups = cx.attributes.int_or("num_groups", 1)?;
        let dims = cx.list(&[groups, channels.checked_div(groups).unwrap_or(0)]);
        let (column, row) = (cx.list(&[-1, 1]), cx.list(&[-1]));
        for value in &mut inputs[1..] {
            let parts = cx.put("Reshape", &[*value, column], &[])?;
            let all = cx.put("Expand", &[parts, dims], &[])?;
            *value = cx.put("Reshape", &[all, row], &[])?;
        }
    }
    let Some(widening) = Widening::of(cx, name, inputs.len()) else {
        return cx.put_many(name, &inputs, &newest, node.outputs.len());
    };
    widening.widen(cx, name, &mut inputs)?;
    let mut outputs = cx.put_many(name, &inputs, &newest, node.outputs.len())?;
    widening.narrow(cx, name, &mut outputs)?;
    Ok(outputs)
}
