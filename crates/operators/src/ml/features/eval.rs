//! Features that are scaled, compared, replaced, chosen and put side by side.

use gradus_core::convert::{Rules, usize_of_i64};
use gradus_core::{DType, Error, Kind, Number, Result, Shape, Tensor, Value};

use crate::attributes::Attributes;
use crate::errors;
use crate::ml::samples::features;
use crate::op::EvalContext;
use crate::words;

/// A list with one element for all features, or one for each.
fn each(list: &[f32], feature: usize) -> f64 {
    list.get(if list.len() == 1 { 0 } else { feature }).copied().unwrap_or_default().into()
}

/// Checks that a list has one element for all features, or one for each.
pub fn one_or_each(name: &str, len: usize, features: usize) -> Result<()> {
    if len == 1 || len == features {
        return Ok(());
    }
    let what = format!("elements of attribute \"{name}\"");
    Err(errors::count(&what, len, format_args!("1 or {features}")))
}

/// `Scaler`: `(x - offset) * scale` of each feature.
pub fn scaler(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let offset = attributes.floats("offset")?.unwrap_or(&[0.0]);
    let scale = attributes.floats("scale")?.unwrap_or(&[1.0]);
    let (mut numbers, features) = (cx.floats(0)?, features(cx)?);
    for (place, x) in numbers.iter_mut().enumerate() {
        let feature = place % features.max(1);
        *x = (*x - each(offset, feature)) * each(scale, feature);
    }
    Ok(vec![cx.rounded(0, &numbers)?])
}

/// `Binarizer`: 1 above the threshold, otherwise 0.
pub fn binarizer(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let threshold = f64::from(attributes.float("threshold")?.unwrap_or(0.0));
    let numbers: Vec<_> = cx.floats(0)?.into_iter().map(|x| f64::from(x > threshold)).collect();
    Ok(vec![cx.rounded(0, &numbers)?])
}

/// Returns the norm of a row by the name of it.
///
/// Norms are of magnitudes, as in the reference of `onnx`; the text writes `max(X)` and `sum(X)`, and
/// ONNX Runtime takes the largest element for `MAX`.
pub fn norm_of(attributes: &Attributes<'_>) -> Result<fn(&[f64]) -> f64> {
    Ok(match words::NORM.of(attributes)? {
        "MAX" => |row: &[f64]| row.iter().fold(0.0, |most: f64, x| most.max(x.abs())),
        "L1" => |row| row.iter().map(|x| x.abs()).sum(),
        _ => |row| row.iter().map(|x| x * x).sum::<f64>().sqrt(),
    })
}

/// `Normalizer`. A row of zeros is unchanged.
pub fn normalizer(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let norm = norm_of(attributes)?;
    let (mut numbers, features) = (cx.floats(0)?, features(cx)?);
    for row in numbers.chunks_mut(features.max(1)) {
        let norm = norm(row);
        row.iter_mut().filter(|_| norm != 0.0).for_each(|x| *x /= norm);
    }
    Ok(vec![cx.rounded(0, &numbers)?])
}

/// The values of `Imputer`, one for all features or one for each, and the value that they replace.
#[derive(Debug)]
pub struct Imputed {
    values: Vec<Number>,
    replaced: Number,
}

impl Imputed {
    /// The values of an `Imputer`, and the value that they replace.
    pub fn of(attributes: &Attributes<'_>, integers: bool) -> Result<Imputed> {
        let (values, replaced) = if integers {
            let values = attributes.ints("imputed_value_int64s")?.unwrap_or(&[]);
            let replaced = attributes.int_or("replaced_value_int64", 0)?;
            (values.iter().map(|&x| Number::Int(x.into())).collect(), Number::Int(replaced.into()))
        } else {
            let values = attributes.floats("imputed_value_floats")?.unwrap_or(&[]);
            let replaced = attributes.float("replaced_value_float")?.unwrap_or(0.0);
            let values: Vec<_> = values.iter().map(|&x| Number::Float(x.into())).collect();
            (values, Number::Float(replaced.into()))
        };
        let name = if integers { "imputed_value_int64s" } else { "imputed_value_floats" };
        if values.is_empty() {
            return Err(Error::new(Kind::Graph, format!("attribute \"{name}\" is missing")));
        }
        Ok(Imputed { values, replaced })
    }

    /// The number of values: one for all features, or one for each.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// The values, and the one that they replace, in a type; none if it has no such value.
    pub(super) fn tensors(&self, dtype: DType) -> Result<(Tensor, Option<Tensor>)> {
        let values =
            Tensor::from_numbers(dtype, Shape::vector(self.values.len()), self.values.clone(), Rules::IEEE)?;
        let replaced = Tensor::from_numbers(dtype, Shape::new([])?, vec![self.replaced], Rules::IEEE)?;
        let is_same = self.replaces_nan() || replaced.numbers()?.eq([self.replaced]);
        Ok((values, is_same.then_some(replaced)))
    }

    /// Returns true if NaN is replaced.
    pub(super) fn replaces_nan(&self) -> bool {
        matches!(self.replaced, Number::Float(replaced) if replaced.is_nan())
    }
}

/// `Imputer`: replaces a value by one of each feature.
pub fn imputer(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let imputed = Imputed::of(attributes, data.dtype().is_integer())?;
    let features = features(cx)?;
    let mut numbers = cx.numbers(0)?;
    for (place, x) in numbers.iter_mut().enumerate() {
        let replaced = match (*x, imputed.replaced) {
            (Number::Float(x), Number::Float(of)) => x == of || (x.is_nan() && of.is_nan()),
            (x, of) => x == of,
        };
        if replaced {
            let feature = if imputed.len() == 1 { 0 } else { place % features.max(1) };
            *x = imputed.values[feature];
        }
    }
    Ok(vec![Tensor::from_numbers(data.dtype(), data.shape().clone(), numbers, Rules::IEEE)?.into()])
}

/// `ArrayFeatureExtractor`: the elements at indices along the last axis.
pub fn extract(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let features = features(cx)?;
    let chosen = cx.integers(1)?;
    let chosen = chosen.iter().map(|&index| match usize_of_i64(index) {
        Some(place) if place < features => Ok(place),
        _ => Err(errors::out_of_range("index", index, features)),
    });
    let chosen = chosen.collect::<Result<Vec<_>>>()?;
    let (_, shape) = cx.output(0)?;
    let rows = data.len() / features.max(1);
    let places: Vec<_> =
        (0..rows).flat_map(|row| chosen.iter().map(move |place| row * features + place)).collect();
    Ok(vec![data.picked(shape, &places, &cx.limits())?.into()])
}

/// `FeatureVectorizer`: inputs side by side, each cut or filled with zeros to its width.
pub fn vectorizer(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let widths = attributes.ints("inputdimensions")?.unwrap_or(&[]);
    let (_, shape) = cx.output(0)?;
    let &[_, columns] = shape.dims() else {
        return Err(errors::rank("output 0", shape.rank(), 2));
    };
    let mut all = vec![0.0; shape.len()];
    let mut before = 0;
    for (input, width) in widths.iter().map(|&width| usize_of_i64(width).unwrap_or(0)).enumerate() {
        let own = match cx.tensor(input)?.shape().dims() {
            [.., own] => *own,
            [] => 1,
        };
        let numbers = cx.floats(input)?;
        for (row, numbers) in all.chunks_mut(columns.max(1)).zip(numbers.chunks(own.max(1))) {
            let count = width.min(own);
            row[before..before + count].copy_from_slice(&numbers[..count]);
        }
        before += width;
    }
    Ok(vec![cx.rounded(0, &all)?])
}
