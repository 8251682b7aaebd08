//! Laws of operators that choose among values, and of normal forms of attributes.

use gradus_core::convert::i64_of;
use gradus_core::{DType, Number};
use gradus_engine::dim::Dim;

use super::elements::complement;
use super::layout::filled;
use super::{Call, Law, law};
use crate::attributes::{self, ContentKey};
use crate::table::{Info, TermId};
use crate::terms::Terms;

pub(super) const LAWS: &[Law] = &[
    law("dropout", &["Dropout"], "Dropout(x) in inference = x", "the text says so", |_, call| {
        (call.infos.len() == 1).then(|| call.argument(0).map(|x| vec![x])).flatten()
    }),
    law(
        "one-input",
        &["Max", "Mean", "Min", "Sum"],
        "f(x) of one input = x",
        "nothing is computed",
        |_, call| if let [Some(x)] = call.arguments[..] { Some(vec![x]) } else { None },
    ),
    law(
        "known-where",
        &["Where"],
        "Where of a condition that is one truth everywhere = what it chooses, if that has the shape of the result; Where(Not(c), a, b) = Where(c, b, a), and of comparisons of integers; Where(c, x, false) = And(c, x)",
        "the text says so",
        choice,
    ),
    law(
        "element",
        &["ConcatFromSequence", "OptionalGetElement", "SequenceAt"],
        "SequenceAt(SequenceConstruct(a, b), i) = a or b, of SplitToSequence a slice; ConcatFromSequence(SequenceConstruct(a, b)) = Concat(a, b); OptionalGetElement(Optional(x)) = x",
        "the text says so",
        element,
    ),
    law("axis", &[], "an axis is counted from the first one", "the text says so", axis),
    law(
        "kernel",
        &["Conv", "ConvTranspose"],
        "kernel_shape = the sizes of the weight; auto_pad of VALID in Conv = no padding",
        "the text says so",
        kernel,
    ),
    law(
        "resize",
        &["Resize"],
        "Resize by sizes along axes = Resize by the sizes of the output; nearest_mode without mode of nearest and extrapolation_value without tf_crop_and_resize = none",
        "an axis that keeps its size is not resized",
        resize,
    ),
    law(
        "last-axis",
        &["Hardmax", "LogSoftmax", "Softmax"],
        "a function of rows of a matrix = the function along the last axis, where the axis is that",
        "the text says so: axes from the given one on are one row",
        last_axis,
    ),
    law("default-attributes", &[], "an attribute of its default = none", "the text says so", defaults),
    law(
        "default-inputs",
        &["GRU", "LSTM", "RNN"],
        "an initial state of zeros = none",
        "the text says so",
        states,
    ),
];

fn element(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let x = call.argument(0)?;
    if call.is("OptionalGetElement") {
        let inner = terms.arguments_of(x, "Optional")?.first().copied().flatten()?;
        return Some(vec![inner]);
    }
    if call.is("SequenceAt") && terms.arguments_of(x, "SplitToSequence").is_some() {
        return split_element(terms, call, x);
    }
    let all = terms.arguments_of(x, "SequenceConstruct")?.to_vec();
    if call.is("ConcatFromSequence") {
        if call.int("new_axis", 0) != 0 {
            return None;
        }
        call.drop(&["new_axis"]);
        std::sync::Arc::make_mut(&mut call.operator).name = "Concat".into();
        let info = call.infos.first()?.clone();
        return Some(vec![terms.only(call, all, info)?]);
    }
    let [at] = terms.table.numbers(call.argument(1)?)?[..] else { return None };
    let at = if at < 0 { at.checked_add(i64_of(all.len()))? } else { at };
    Some(vec![(*all.get(usize::try_from(at).ok()?)?)?])
}

/// An element of what is split at known places, counted from the first one.
fn split_element(terms: &mut Terms<'_>, call: &Call, sequence: TermId) -> Option<Vec<TermId>> {
    let (operator, arguments, _) = terms.applied(sequence)?;
    let axis = attributes::int(&operator.attributes, "axis").unwrap_or(0);
    let (whole, sizes) = (arguments.first().copied().flatten()?, arguments.get(1).copied().flatten());
    let axis = terms.axis(whole, axis)?;
    let out = call.infos.first()?.dims.clone()?;
    let [at] = terms.table.numbers(call.argument(1)?)?[..] else { return None };
    let before = usize::try_from(at).ok()?;
    let (start, len) = match sizes {
        None => (at, 1),
        // Pieces of one size, of which the last may be shorter.
        Some(sizes) if terms.table.dims(sizes)?.is_empty() => {
            let [each] = terms.table.numbers(sizes)?[..] else { return None };
            let whole = terms.table.dims(whole)?[axis].known()?;
            let start = at.checked_mul(each)?;
            (start, each.min(whole.checked_sub(start)?))
        }
        Some(sizes) => {
            let sizes = terms.table.numbers(sizes)?;
            (
                sizes.get(..before)?.iter().try_fold(0i64, |sum, size| sum.checked_add(*size))?,
                *sizes.get(before)?,
            )
        }
    };
    let piece = terms.sliced(whole, axis, (Dim::Known(start), 1), Dim::Known(len))?;
    Some(vec![terms.reshaped(piece, &out)])
}

fn choice(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let condition = call.argument(0)?;
    if let Some(Number::Int(truth)) = filled(terms, condition) {
        let chosen = call.argument(if truth == 0 { 2 } else { 1 })?;
        let info = call.infos.first()?;
        let same = info.dims.is_some() && terms.table.dims(chosen) == info.dims.as_ref();
        return same.then(|| vec![chosen]);
    }
    if let Some(&[Some(inner)]) = terms.arguments_of(condition, "Not") {
        call.arguments[0] = Some(inner);
        call.arguments.swap(1, 2);
    } else if let Some(other) = complement(terms, condition, &["Greater", "Less"]) {
        call.arguments[0] = Some(other);
        call.arguments.swap(1, 2);
    }
    let (c, x, other) = (call.argument(0)?, call.argument(1)?, call.argument(2)?);
    let info = call.infos.first()?.clone();
    let is_false = info.dtype == Some(DType::Bool) && terms.is_zero(other);
    if is_false && terms.table.dims(other)?.is_empty() {
        return Some(vec![terms.operation("And", &[c, x], info)?]);
    }
    None
}

/// Counts the axis of a call from the first one.
pub(super) fn axis(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let listed = AXES.iter().find(|(names, _)| names.contains(&call.name()));
    let default = call.row.axis.or(listed.map(|(_, default)| *default))?;
    let rank = terms.table.dims(call.argument(0)?)?.len();
    let own = call.int("axis", default);
    let own = if own < 0 { own.checked_add(i64_of(rank))? } else { own };
    attributes::set(call.attributes_mut(), "axis", Some(ContentKey::Int(own)));
    None
}

/// Operators that index along an axis, or work on those from one on, and its default.
const AXES: &[(&[&str], i64)] = &[
    (&["Gather", "GatherElements", "ScatterElements"], 0),
    (&["LayerNormalization", "RMSNormalization"], -1),
];

/// Attributes of operators, by name, and what they are where they are not given.
const DEFAULTS: &[(&[&str], &str, i64)] = &[
    (&["ArgMax", "ArgMin"], "select_last_index", 0),
    (&["ArgMax", "ArgMin"], "keepdims", 1),
    (&["AveragePool", "LpPool", "MaxPool"], "ceil_mode", 0),
    (&["AveragePool"], "count_include_pad", 0),
    (&["BatchNormalization"], "training_mode", 0),
    (&["BatchNormalization"], "spatial", 1),
    (&["Cast", "CastLike"], "saturate", 1),
    (&["Conv", "ConvTranspose"], "group", 1),
    (&["DequantizeLinear", "QuantizeLinear"], "block_size", 0),
    (&["DequantizeLinear", "QuantizeLinear"], "output_dtype", 0),
    (&["GRU", "LSTM", "RNN"], "layout", 0),
    (&["GatherND"], "batch_dims", 0),
    (&["Gemm"], "transA", 0),
    (&["Gemm"], "transB", 0),
    (&["GroupNormalization", "LayerNormalization"], "stash_type", 1),
    (&["MaxPool"], "storage_order", 0),
    (&["Mod"], "fmod", 0),
    (&["QuantizeLinear"], "precision", 0),
    (&["QuantizeLinear"], "saturate", 1),
    (&["Range"], "stash_type", 1),
    (&["Reshape"], "allowzero", 0),
    (&["Resize"], "antialias", 0),
    (&["Resize"], "exclude_outside", 0),
    (&["TopK"], "largest", 1),
    (&["TopK"], "sorted", 1),
];

/// Attributes that are lists, and the number that all elements are where they are not given.
const DEFAULT_LISTS: &[(&[&str], &str, i64)] = &[
    (&["AveragePool", "Conv", "ConvTranspose", "LpPool", "MaxPool"], "dilations", 1),
    (&["AveragePool", "Conv", "ConvTranspose", "LpPool", "MaxPool"], "pads", 0),
    (&["AveragePool", "Conv", "ConvTranspose", "LpPool", "MaxPool"], "strides", 1),
    (&["ConvTranspose"], "output_padding", 0),
];

/// Attributes that are texts.
const DEFAULT_TEXTS: &[(&[&str], &str, &str)] = &[
    (&["AveragePool", "Conv", "ConvTranspose", "LpPool", "MaxPool"], "auto_pad", "NOTSET"),
    (&["Cast", "CastLike"], "round_mode", "up"),
    (&["DepthToSpace", "SpaceToDepth"], "mode", "DCR"),
    (&["Gelu"], "approximate", "none"),
    (&["Pad"], "mode", "constant"),
    (&["Resize"], "coordinate_transformation_mode", "half_pixel"),
    (&["Resize"], "nearest_mode", "round_prefer_floor"),
    (&["Resize"], "keep_aspect_ratio_policy", "stretch"),
    (&["ScatterElements", "ScatterND"], "reduction", "none"),
];

/// Drops attributes that have their defaults.
pub(super) fn defaults(_: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let operator = call.name().to_owned();
    let is_default = |name: &str, content: &ContentKey| match content {
        ContentKey::Int(value) => {
            let row = |row: &&(&[&str], &str, i64)| row.0.contains(&&*operator) && row.1 == name;
            DEFAULTS.iter().find(row).or(DEFAULT_LISTS.iter().find(row)).is_some_and(|row| row.2 == *value)
        }
        ContentKey::Ints(all) => {
            let row = |row: &&(&[&str], &str, i64)| row.0.contains(&&*operator) && row.1 == name;
            DEFAULT_LISTS.iter().find(row).is_some_and(|row| all.iter().all(|value| *value == row.2))
        }
        ContentKey::Text(text) => DEFAULT_TEXTS
            .iter()
            .any(|row| row.0.contains(&&*operator) && row.1 == name && row.2.as_bytes() == &**text),
        _ => false,
    };
    if call.attributes().iter().any(|(name, content)| is_default(name, content)) {
        call.attributes_mut().retain(|(name, content)| !is_default(name, content));
    }
    None
}

fn kernel(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let weight = terms.table.dims(call.argument(1)?)?.get(2..)?.to_vec();
    let is_own = attributes::ints(call.attributes(), "kernel_shape")
        .is_some_and(|own| own.iter().map(|&size| Dim::Known(size)).eq(weight));
    if is_own {
        call.drop(&["kernel_shape"]);
    }
    if call.is("Conv") && call.text("auto_pad", "NOTSET") == "VALID" {
        call.drop(&["auto_pad", "pads"]);
    }
    None
}

fn resize(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    if call.text("mode", "nearest") != "nearest" {
        call.drop(&["nearest_mode"]);
    }
    let crops = call.text("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize";
    if !crops {
        call.drop(&["extrapolation_value"]);
    }
    let stretches = call.text("keep_aspect_ratio_policy", "stretch") == "stretch";
    if call.argument(3).is_none() || crops || !stretches {
        return None;
    }
    let dims = call.infos.first()?.dims.clone()?;
    let info = Info { dtype: Some(DType::I64), dims: Some([Dim::Known(i64_of(dims.len()))].into()) };
    call.arguments[3] = Some(terms.table.integers(dims, info));
    call.drop(&["axes"]);
    None
}

fn last_axis(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let rank = i64_of(terms.table.dims(call.argument(0)?)?.len());
    if attributes::int(call.attributes(), "axis") == Some(rank - 1) {
        call.drop(&[""]);
    }
    None
}

fn states(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    for index in [5, 6] {
        let zero = call.argument(index).is_some_and(
            |state| matches!(filled(terms, state), Some(Number::Float(value)) if value.to_bits() == 0),
        );
        if zero {
            call.arguments[index] = None;
        }
    }
    while call.arguments.last() == Some(&None) {
        call.arguments.pop();
    }
    None
}
