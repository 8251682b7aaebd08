//! Maps of numbers or texts by key: `ZipMap`, `DictVectorizer` and `CastMap`.

use std::collections::HashMap;

use gradus_core::convert::{self, Rules, product, usize_of_i64};
use gradus_core::{DType, Error, Kind, Map, Number, Result, Shape, Tensor, Value};

use crate::attributes::Attributes;
use crate::errors;
use crate::ml::encode::eval::{keys, vector};
use crate::op::EvalContext;
use crate::words;

/// Bytes of a map besides the elements of its values: a value with a shape and memory of its own.
const MAP: usize = size_of::<Value>() + 256;

/// The texts or integers of one of two attributes.
fn either(attributes: &Attributes<'_>, texts: &str, ints: &str) -> Result<Option<Tensor>> {
    Ok(match attributes.texts(texts)?.filter(|texts| !texts.is_empty()) {
        Some(texts) => Some(vector(&texts)?),
        None => attributes.ints(ints)?.filter(|ints| !ints.is_empty()).map(Tensor::vector),
    })
}

/// The keys of the maps that `ZipMap` makes.
pub fn class_labels(attributes: &Attributes<'_>) -> Result<Tensor> {
    either(attributes, "classlabels_strings", "classlabels_int64s")?
        .ok_or_else(|| errors::missing("attribute \"classlabels_int64s\" or \"classlabels_strings\""))
}

/// The keys that `DictVectorizer` knows, of the type of a map's.
pub fn vocabulary(attributes: &Attributes<'_>, key: DType) -> Result<Tensor> {
    let name = if key == DType::String { "string_vocabulary" } else { "int64_vocabulary" };
    let found = either(attributes, "string_vocabulary", "int64_vocabulary")?;
    found
        .filter(|found| found.dtype() == key)
        .ok_or_else(|| errors::missing(format_args!("attribute \"{name}\"")))
}

fn map<'a>(cx: &EvalContext<'a>) -> Result<&'a Map> {
    match cx.value(0)? {
        Value::Map(map) => Ok(map),
        other => Err(cx.wrong(0, &Error::is_not(Kind::Type, other, "a map"))),
    }
}

/// A row whose entries are values of a map, by their places, and zeros or empty texts.
fn row(values: &Tensor, places: &[Option<usize>]) -> Result<Tensor> {
    let shape = Shape::new([1, places.len()])?;
    if let Ok(texts) = values.texts() {
        let text = |place: &Option<usize>| place.map_or_else(|| "".into(), |place| texts[place].clone());
        return Tensor::from_text(shape, places.iter().map(text).collect());
    }
    let numbers: Vec<_> = values.numbers()?.collect();
    let zero = Number::Int(0);
    let each = places.iter().map(|place| place.map_or(zero, |place| numbers[place]));
    Tensor::from_numbers(values.dtype(), shape, each, Rules::IEEE)
}

/// `ZipMap`: a map from labels to scores for each row.
pub fn zip(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (scores, labels) = (cx.tensor(0)?, class_labels(attributes)?);
    let (rows, classes) = match *scores.shape().dims() {
        [classes] => (1, classes),
        [rows, classes] => (rows, classes),
        ref dims => return Err(errors::rank("input 0", dims.len(), "1 or 2")),
    };
    errors::expect_count("class labels", labels.len(), classes)?;
    cx.reserve(product(rows, MAP) + product(scores.byte_len(), 1))?;
    let keys = Map::new(labels.clone(), labels)?;
    let each = (0..rows).map(|row| {
        let places: Vec<_> = (row * classes..(row + 1) * classes).collect();
        let values = scores.picked(Shape::vector(classes), &places, &cx.limits())?;
        Ok(Value::Map(keys.with_values(values)?))
    });
    Ok(vec![Value::Sequence(each.collect::<Result<_>>()?)])
}

/// `DictVectorizer`: the values of a map, in the order of the vocabulary.
pub fn vectorize(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let map = map(cx)?;
    let known = vocabulary(attributes, map.keys().dtype())?;
    cx.reserve(product(known.len(), 64) + product(map.values().byte_len(), 1))?;
    let places: HashMap<_, _> = keys(&known)?.into_iter().enumerate().map(|(at, key)| (key, at)).collect();
    let mut chosen = vec![None; known.len()];
    for (at, key) in keys(map.keys())?.into_iter().enumerate() {
        let Some(&place) = places.get(&key) else {
            let message = format!("key {at} of the map is not in the vocabulary");
            return Err(cx.wrong(0, &Error::new(Kind::Value, message)));
        };
        chosen[place] = Some(at);
    }
    Ok(vec![row(map.values(), &chosen)?.into()])
}

/// The attributes of `CastMap`.
#[derive(Debug)]
pub struct MapCast {
    pub to: DType,
    /// The number of entries, if the keys are their places.
    pub sparse: Option<usize>,
}

impl MapCast {
    /// The type and form that a `CastMap` returns.
    pub fn of(attributes: &Attributes<'_>) -> Result<MapCast> {
        let to = match words::CAST_TO.of(attributes)? {
            "TO_FLOAT" => DType::F32,
            "TO_INT64" => DType::I64,
            _ => DType::String,
        };
        let sparse = if words::MAP_FORM.of(attributes)? == "DENSE" {
            None
        } else {
            let most = attributes.int("max_map")?.unwrap_or(1);
            let most = usize_of_i64(most).filter(|&most| most > 0);
            Some(most.ok_or_else(|| errors::missing("a positive attribute \"max_map\""))?)
        };
        Ok(MapCast { to, sparse })
    }
}

/// `CastMap`: the values of a map as a row, cast.
pub fn cast(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (cast, map) = (MapCast::of(attributes)?, map(cx)?);
    let keys = map.keys().to_i64()?;
    let width = cast.sparse.unwrap_or(keys.len());
    cx.reserve(product(width, 64))?;
    let mut places = vec![None; if cast.sparse.is_some() { width } else { 0 }];
    if cast.sparse.is_some() {
        for (at, &key) in keys.iter().enumerate() {
            let place = usize_of_i64(key).filter(|&place| place < width);
            let place = place.ok_or_else(|| {
                errors::value(format_args!("key {at} of the map"), key, format_args!("0 to {}", width - 1))
            })?;
            places[place] = Some(at);
        }
    } else {
        let mut order: Vec<_> = (0..keys.len()).collect();
        order.sort_unstable_by_key(|&at| keys[at]);
        places.extend(order.into_iter().map(Some));
    }
    Ok(vec![row(&convert::cast(map.values(), cast.to, Rules::IEEE)?, &places)?.into()])
}
