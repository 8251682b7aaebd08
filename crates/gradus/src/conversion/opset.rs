//! ONNX in another operator set: each node in its newest form, which the writer brings into the
//! form of the set.

use std::sync::Arc;

use gradus_core::convert::i64_of;
use gradus_core::graph::{Content, Node, Standard};
use gradus_core::{Error, Kind, Result};

use super::nested::nested;
use super::node::ConvertContext;
use super::older::is_older;
use super::report::{cannot, not_known};
use super::runtime::Widening;
use super::writer::NewValue;
use super::writer::downgrade::is_value;
use crate::lowering::int;
use crate::normalize::{Change, Form, Older};
use crate::operators::indices::axis as axis_of;
use crate::operators::is_false;
use crate::operators::registry;
use crate::operators::softmax_axis;
use crate::schema::{Arity, Param, onnx_versions};

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
    // RoiAlign without the attribute means something else if the defaults differ.
    let attribute = "coordinate_transformation_mode";
    let differs = from.default_of(attribute).is_some() != to.default_of(attribute).is_some();
    if name == "RoiAlign" && differs && cx.attributes.get(attribute).is_none() {
        return Err(cannot(format!(
            "cannot convert: {name} has another default or meaning in the operator sets"
        )));
    }
    Ok(())
}

/// Equal parts: newer sets are told how many.
fn counted(cx: &ConvertContext<'_, '_>, attributes: &mut Vec<(&str, Content)>) {
    attributes.retain(|(name, _)| *name != "num_outputs");
    if cx.set_has("num_outputs") {
        attributes.push(("num_outputs", Content::Int(i64_of(cx.node.outputs.len()))));
    }
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
                // Axes that Unsqueeze adds count.
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

/// Returns true if an attribute changes nothing of what the node computes.
fn is_idle(cx: &ConvertContext<'_, '_>, attribute: &str, content: &Content) -> Result<bool> {
    if cx.attributes.form().former(attribute).is_some_and(|former| is_value(former, content)) {
        return Ok(true);
    }
    match registry::row_of(Standard::Onnx, cx.node).and_then(|row| row.idle) {
        Some(idle) => idle(cx, attribute, content),
        None => Ok(false),
    }
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

/// The attributes of a node in the newest form, without those that the operator set lacks and that
/// change nothing.
fn newest_attributes<'m>(
    cx: &ConvertContext<'_, 'm>,
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
            // Max-6 and its like take equal shapes alone, which no attribute says.
            && onnx_versions("", &cx.node.operator.name).iter().any(|of| of.has_attribute(attribute))
        {
            newest.push((attribute, content.clone()));
        }
    }
    if from.is(Older::Upsampled) {
        let word = |text: &'static str| Content::Bytes(text.into());
        newest.push(("coordinate_transformation_mode", word("asymmetric")));
        newest.push(("nearest_mode", word("floor")));
    }
    let lacked = newest.iter().map(|(own, content)| Ok(!cx.set_has(own) && is_idle(cx, own, content)?));
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

/// Writes the operator of the source in the operator set of the target.
pub(crate) fn same(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let (node, name): (&Node, &str) = (cx.node, &cx.node.operator.name);
    let (from, to) = (cx.attributes.form(), cx.target.form(name));
    let row = registry::row_of(Standard::Onnx, node);
    if from.is(Older::Flattened) {
        if !to.is(Older::Flattened) {
            return softmax_of_flattened(cx, name);
        }
        cx.plain = row.map_or("", |row| row.name);
    }
    if let Some(instead) = row.and_then(|row| row.instead)
        && let Some(outputs) = instead(cx)?
    {
        return Ok(outputs);
    }
    let by_group =
        from.is(Older::ScaledByGroup) && (is_older(cx.target, name) || !to.is(Older::ScaledByGroup));
    if !is_older(cx.target, name) && !by_group {
        same_meaning(cx, from, to)?;
    }
    let mut newest = newest_attributes(cx, (from, to))?;
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
