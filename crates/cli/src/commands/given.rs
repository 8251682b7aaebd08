//! Arguments about models: `--dim` and `--input-shape` for their inputs, `--output` for their
//! files.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use gradus::graph::{Extent, Standard, Type};
use gradus::infer::InputFact;
use gradus::{Error, Kind, Result};

fn usage(message: String) -> Error {
    Error::new(Kind::Usage, message)
}

/// Checks that several models are written into a folder.
pub(super) fn check_destination(to: &Path, models: &[PathBuf]) -> Result<()> {
    if models.len() > 1 && !to.is_dir() {
        let message =
            format!("--output {} must be a folder that exists, as there are several models", to.display());
        return Err(usage(message));
    }
    let mut names = HashSet::new();
    match models.iter().filter_map(|model| model.file_name()).find(|name| !names.insert(*name)) {
        Some(name) => Err(usage(format!("several models are named {}", name.display()))),
        None => Ok(()),
    }
}

/// Where a model is written: the file, or under its own name in the folder. It is written in the
/// format that it has.
pub(super) fn destination(to: &Path, model: &Path, standard: Standard) -> Result<PathBuf> {
    if !to.is_dir() {
        let is_ir = standard == Standard::OpenVino;
        if is_ir == (Standard::of_file(to) == Some(Standard::OpenVino)) {
            return Ok(to.to_owned());
        }
        let (from, ending) =
            if is_ir { ("an OpenVINO", "ends in .xml") } else { ("no OpenVINO", "does not end in .xml") };
        let message = format!(
            "--output {}: {} is {from} model, and is written to a file that {ending}; `gradus convert` turns one format into another",
            to.display(),
            model.display()
        );
        return Err(usage(message));
    }
    let name = model.file_name().ok_or_else(|| usage(format!("{} is not a file", model.display())))?;
    Ok(to.join(name))
}

/// Symbols and their numbers, from `NAME=NUMBER`.
pub(super) fn dims(given: &[String]) -> Result<HashMap<String, i64>> {
    let mut dims = HashMap::new();
    for dim in given {
        let (name, value) = dim
            .split_once('=')
            .and_then(|(name, value)| Some((name, value.parse().ok()?)))
            .ok_or_else(|| Error::mismatch(Kind::Usage, "--dim", dim, "NAME=NUMBER"))?;
        if dims.insert(name.to_owned(), value).is_some() {
            return Err(usage(format!("--dim {name} is given twice")));
        }
    }
    Ok(dims)
}

/// Shapes of inputs, from `NAME=EXTENT,…`.
pub(super) fn shapes(given: &[String]) -> Result<HashMap<String, InputFact>> {
    let mut inputs = HashMap::new();
    for shape in given {
        let (name, extents) = shape
            .split_once('=')
            .ok_or_else(|| Error::mismatch(Kind::Usage, "--input-shape", shape, "NAME=EXTENT,…"))?;
        let extents = extents.trim_matches(['[', ']']);
        let extent = |text: &str| match text.trim() {
            "" => Err(usage(format!("--input-shape {shape}: a size is missing"))),
            "?" => Ok(Extent::Unknown),
            text => Ok(text.parse().map_or_else(|_| Extent::Symbol(text.into()), Extent::Known)),
        };
        let extents = match extents.trim() {
            "" => Vec::new(),
            extents => extents.split(',').map(extent).collect::<Result<_>>()?,
        };
        inputs.insert(name.to_owned(), InputFact::Type(Type::Tensor(None, Some(extents))));
    }
    Ok(inputs)
}
