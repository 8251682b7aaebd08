//! Evaluation of Mean, which rounds once, and of operators on bits and strings.

use gradus_core::convert::{float_of, product};
use gradus_core::{Result, Tensor, Value};

use crate::attributes::Attributes;
use crate::floats::Ring;
use crate::indices;
use crate::op::EvalContext;

/// `Mean` of all inputs, rounded once.
pub fn mean(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (dtype, shape) = cx.output(0)?;
    let mut sums = vec![0.0; shape.len()];
    for input in 0..cx.inputs.len() {
        let numbers = cx.floats(input)?;
        let places = indices::broadcast(cx.tensor(input)?.shape().dims(), shape.dims());
        sums.iter_mut().zip(places).for_each(|(sum, place)| *sum += numbers[place]);
    }
    for sum in &mut sums {
        *sum /= float_of(cx.inputs.len());
    }
    Ok(vec![f64::tensor(dtype, shape, &sums)?.into()])
}

/// `BitCast`: the same bits as another type of the same width.
pub fn bit_cast(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (dtype, shape) = cx.output(0)?;
    let bytes = cx.tensor(0)?.bytes().cloned().unwrap_or_default();
    Ok(vec![Tensor::from_bytes(dtype, shape, bytes)?.into()])
}

/// `StringConcat`: both strings, the first one first.
pub fn string_concat(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (_, shape) = cx.output(0)?;
    cx.reserve(product(shape.len(), 4 * size_of::<usize>() + 2 * size_of::<Box<str>>()))?;
    let texts = |input: usize| {
        Ok::<_, gradus_core::Error>((
            cx.tensor(input)?.texts()?,
            indices::broadcast(cx.tensor(input)?.shape().dims(), shape.dims()),
        ))
    };
    let ((a, places_a), (b, places_b)) = (texts(0)?, texts(1)?);
    let mut all: Vec<Box<str>> = Vec::with_capacity(shape.len());
    for (a, b) in places_a.into_iter().map(|at| &a[at]).zip(places_b.into_iter().map(|at| &b[at])) {
        cx.reserve(product(a.len() + b.len(), 2))?;
        all.push(format!("{a}{b}").into());
    }
    Ok(vec![Tensor::from_text(shape, all)?.into()])
}

/// `StringSplit`: the pieces of each string, filled up with empty ones, and their number.
pub fn string_split(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let delimiter = attributes.text("delimiter")?.unwrap_or("");
    let most = attributes.int("maxsplit")?.and_then(|most| usize::try_from(most).ok());
    let split = |text: &str| -> Vec<Box<str>> {
        let limit = most.map_or(usize::MAX, |most| most.saturating_add(1));
        if delimiter.is_empty() {
            let mut pieces = Vec::new();
            let mut rest = text.trim_start();
            while !rest.is_empty() {
                if pieces.len() + 1 == limit {
                    pieces.push(rest.trim_end().into());
                    break;
                }
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                pieces.push(rest[..end].into());
                rest = rest[end..].trim_start();
            }
            return pieces;
        }
        text.splitn(limit, delimiter).map(Box::from).collect()
    };
    let bytes = |text: &str| {
        let separators = match delimiter {
            "" => text.split_whitespace().count(),
            _ => text.matches(delimiter).count(),
        };
        let most = separators.min(most.unwrap_or(usize::MAX)).saturating_add(1);
        // Lists of pieces grow by doubling.
        product(most, 2 * size_of::<Box<str>>()) + product(text.len() + 64, 1)
    };
    cx.reserve(data.texts()?.iter().map(|text| bytes(text)).sum())?;
    let pieces: Vec<_> = data.texts()?.iter().map(|text| split(text)).collect();
    let longest = pieces.iter().map(Vec::len).max().unwrap_or(0);
    let counts: Vec<_> = pieces.iter().map(|pieces| gradus_core::convert::i64_of(pieces.len())).collect();
    let shape =
        crate::output::allowed(cx, gradus_core::DType::String, &[data.shape().dims(), &[longest]].concat())?;
    let padded = pieces.into_iter().flat_map(|mut pieces| {
        pieces.resize(longest, Box::default());
        pieces
    });
    let texts: Vec<_> = padded.collect();
    Ok(vec![Tensor::from_text(shape, texts)?.into(), Tensor::from_vec(data.shape().clone(), counts)?.into()])
}
