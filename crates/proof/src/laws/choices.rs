//! Laws of operators that choose among values, and of normal forms of attributes.

use gradus_core::convert::{counted, from_start, i64_of};
use gradus_core::{DType, Number};
use gradus_engine::dim::Dim;

use super::Call;
use super::elements::complement;
use crate::attributes::{self, ContentKey};
use crate::table::{Info, TermId};
use crate::terms::Terms;

laws! {
    Bits "dropout" ["Dropout"] => |_, call| Some(vec![call.argument(0).filter(|_| call.infos.len() == 1)?]),
        "Dropout(x) in inference = x", "the text says so";
    Bits "one-input" ["Concat", "Max", "Mean", "Min", "Sum"]
        => |_, call| if let [Some(x)] = call.arguments[..] { Some(vec![x]) } else { None },
        "f(x) of one input = x", "nothing is computed";
    Bits "known-where" ["Where"] => choice,
        "Where of a condition that is one truth everywhere = what it chooses, if that has the shape of the result; Where(Not(c), a, b) = Where(c, b, a), and of comparisons of integers; Where(c, x, false) = And(c, x)",
        "the text says so";
    Bits "element" ["ConcatFromSequence", "OptionalGetElement", "SequenceAt"] => element,
        "SequenceAt(SequenceConstruct(a, b), i) = a or b, of SplitToSequence a slice; ConcatFromSequence(SequenceConstruct(a, b)) = Concat(a, b); OptionalGetElement(Optional(x)) = x",
        "the text says so";
    Bits "axis" [] => axis, "an axis is counted from the first one", "the text says so";
    Bits "kernel" ["Conv", "ConvTranspose"] => kernel,
        "kernel_shape = the sizes of the weight; auto_pad of VALID in Conv = no padding", "the text says so";
    Bits "resize" ["Resize"] => resize,
        "Resize by sizes along axes = Resize by the sizes of the output; nearest_mode without mode of nearest and extrapolation_value without tf_crop_and_resize = none",
        "an axis that keeps its size is not resized";
    Bits "last-axis" ["Hardmax", "LogSoftmax", "Softmax"] => last_axis,
        "a function of rows of a matrix = the function along the last axis, where the axis is that",
        "the text says so: axes from the given one on are one row";
    Bits "default-attributes" [] => defaults, "an attribute of its default = none", "the text says so";
    Bits "default-inputs" ["GRU", "LSTM", "RNN", "Slice"] => default_inputs,
        "an initial state of zeros = none; steps of 1 = none", "the text says so";
}

fn element(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let x = call.argument(0)?;
    if call.is("OptionalGetElement") {
        return Some(vec![terms.argument_of(x, "Optional")?]);
    }
    if call.is("SequenceAt") && terms.arguments_of(x, "SplitToSequence").is_some() {
        return split_element(terms, call, x);
    }
    let all = terms.arguments_of(x, "SequenceConstruct")?.to_vec();
    if call.is("ConcatFromSequence") {
        if call.is_set("new_axis") {
            return None;
        }
        call.drop(&["new_axis"]);
        std::sync::Arc::make_mut(&mut call.operator).name = "Concat".into();
        let info = call.infos.first()?.clone();
        return Some(vec![terms.only(call, all, info)?]);
    }
    let [at] = terms.table.numbers(call.argument(1)?)?[..] else { return None };
    Some(vec![(*all.get(counted(at, all.len())?)?)?])
}

/// An element of what is split at known places, counted from the first one.
fn split_element(terms: &mut Terms<'_>, call: &Call, sequence: TermId) -> Option<Vec<TermId>> {
    let (operator, arguments, _) = terms.applied(sequence)?;
    let (whole, sizes) = (arguments.first().copied().flatten()?, arguments.get(1).copied().flatten());
    let axis = terms.axis(whole, attributes::int(&operator.attributes, "axis").unwrap_or(0))?;
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
            let start = sizes.get(..before)?.iter().try_fold(0i64, |sum, size| sum.checked_add(*size))?;
            (start, *sizes.get(before)?)
        }
    };
    let piece = terms.sliced(whole, axis, (Dim::Known(start), 1), Dim::Known(len))?;
    Some(vec![terms.reshaped(piece, &out)])
}

fn choice(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let condition = call.argument(0)?;
    if let Some(Number::Int(truth)) = terms.table.scalar(condition) {
        let chosen = call.argument(if truth == 0 { 2 } else { 1 })?;
        let info = call.infos.first()?;
        let same = info.dims.is_some() && terms.table.dims(chosen) == info.dims.as_ref();
        return same.then(|| vec![chosen]);
    }
    let negated = terms.argument_of(condition, "Not");
    if let Some(other) = negated.or_else(|| complement(terms, condition, &["Greater", "Less"])) {
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
fn axis(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    if call.row.axis.is_none() && !WITH_AXES.contains(&call.name()) {
        return None;
    }
    let rank = terms.table.dims(call.argument(0)?)?.len();
    let own = call.int("axis").or(call.row.axis)?;
    let own = from_start(own, i64_of(rank));
    attributes::set(call.attributes_mut(), "axis", ContentKey::Int(own));
    None
}

/// Operators that index along an axis, or work on those from one on.
const WITH_AXES: [&str; 5] =
    ["Gather", "GatherElements", "LayerNormalization", "RMSNormalization", "ScatterElements"];

/// Attributes without a default in signatures, and the number that they, or all their elements,
/// are where they are not given.
const DEFAULTS: &[(&[&str], &str, i64)] = &[
    (&["AveragePool", "Conv", "ConvTranspose", "LpPool", "MaxPool"], "dilations", 1),
    (&["AveragePool", "Conv", "ConvTranspose", "LpPool", "MaxPool"], "pads", 0),
    (&["AveragePool", "Conv", "ConvTranspose", "LpPool", "MaxPool"], "strides", 1),
    (&["BatchNormalization"], "spatial", 1),
    (&["ConvTranspose"], "output_padding", 0),
];

/// Drops attributes that have their defaults.
fn defaults(_: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let (row, operator) = (call.row, call.name().to_owned());
    let is_default = |name: &str, content: &ContentKey| {
        let listed = DEFAULTS.iter().find(|(names, own, _)| *own == name && names.contains(&&*operator));
        match (content, listed) {
            (ContentKey::Int(value), Some((.., own))) => value == own,
            (ContentKey::Ints(all), Some((.., own))) => all.iter().all(|value| value == own),
            _ => attributes::default_of(row, name).is_some_and(|own| own == *content),
        }
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
    if call.is("Conv") && call.says("auto_pad", "VALID") {
        call.drop(&["auto_pad", "pads"]);
    }
    None
}

fn resize(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    if !call.says("mode", "nearest") {
        call.drop(&["nearest_mode"]);
    }
    let crops = call.says("coordinate_transformation_mode", "tf_crop_and_resize");
    if !crops {
        call.drop(&["extrapolation_value"]);
    }
    if call.argument(3).is_none() || crops || !call.says("keep_aspect_ratio_policy", "stretch") {
        return None;
    }
    let dims = call.infos.first()?.dims.clone()?;
    let info = Info::of(DType::I64, [Dim::Known(i64_of(dims.len()))]);
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

/// Drops inputs that have their defaults.
fn default_inputs(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let (inputs, default): (&[usize], _) = match call.name() {
        "Slice" => (&[4], Number::Int(1)),
        "GRU" | "LSTM" | "RNN" => (&[5, 6], Number::Float(0.0)),
        _ => return None,
    };
    for &index in inputs {
        let own = call.argument(index).and_then(|own| terms.table.scalar(own));
        let is_negative = matches!(own, Some(Number::Float(own)) if own.is_sign_negative());
        if own == Some(default) && !is_negative {
            call.arguments[index] = None;
        }
    }
    while call.arguments.last() == Some(&None) {
        call.arguments.pop();
    }
    None
}
