//! What is said of a model's inputs: `--dim`, `--input-shape`.

use std::collections::HashMap;

use gradus::graph::{Extent, Type};
use gradus::infer::Given;
use gradus::{Error, Kind, Result};

fn usage(message: String) -> Error {
    Error::new(Kind::Usage, message)
}

/// Symbols and their numbers, from `NAME=NUMBER`.
pub(super) fn dims(given: &[String]) -> Result<HashMap<String, i64>> {
    let mut dims = HashMap::new();
    for dim in given {
        let (name, value) = dim
            .split_once('=')
            .and_then(|(name, value)| Some((name, value.parse().ok()?)))
            .ok_or_else(|| usage(format!("--dim {dim}: NAME=NUMBER is wanted")))?;
        if dims.insert(name.to_owned(), value).is_some() {
            return Err(usage(format!("--dim {name} is given twice")));
        }
    }
    Ok(dims)
}

/// Shapes of inputs, from `NAME=EXTENT,…`.
pub(super) fn shapes(given: &[String]) -> Result<HashMap<String, Given>> {
    let mut inputs = HashMap::new();
    for shape in given {
        let (name, extents) = shape
            .split_once('=')
            .ok_or_else(|| usage(format!("--input-shape {shape}: NAME=EXTENT,… is wanted")))?;
        let extents = extents.trim_matches(['[', ']']);
        let extent = |text: &str| match text.trim() {
            "" => Err(usage(format!("--input-shape {shape}: an extent is missing"))),
            "?" => Ok(Extent::Unknown),
            text => Ok(text.parse().map_or_else(|_| Extent::Symbol(text.into()), Extent::Known)),
        };
        let extents = match extents.trim() {
            "" => Vec::new(),
            extents => extents.split(',').map(extent).collect::<Result<_>>()?,
        };
        inputs.insert(name.to_owned(), Given::Type(Type::Tensor(None, Some(extents))));
    }
    Ok(inputs)
}
