//! Arguments about models: `--dim`, `--input-shape` and `--set` for their inputs, `--output` for
//! their files.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use gradus::convert::usize_of_i64;
use gradus::files::cannot_write;
use gradus::graph::{DeclaredDim, Standard, Type};
use gradus::infer::{InferOptions, InputFact, SizeAssumptions, Sizes};
use gradus::{Error, Kind, Limits, Model, Result, Value};

use super::fleet::FleetModel;
use super::{run, run_inputs};
use crate::args::{AssumeArgs, DimArgs, InputArgs, SizeArgs};
use crate::diagnostics::Failure;

fn usage(message: String) -> Error {
    Error::new(Kind::Usage, message)
}

/// Checks that several models are written into a folder, and that each has a name of its own there.
pub(super) fn check_destination(to: &Path, models: &[FleetModel]) -> Result<()> {
    if models.len() > 1 && !to.is_dir() && !is_folder(to) {
        let wanted = "a folder (with a / at its end if it does not exist), as there are several models";
        return Err(Error::mismatch(Kind::Usage, "--output", to.display(), wanted));
    }
    let mut names = HashSet::new();
    match models.iter().find(|model| !names.insert(&model.name)) {
        Some(model) => Err(usage(format!("{} is given twice", model.path.display()))),
        None => Ok(()),
    }
}

/// Returns true if a path is said to be a folder.
pub(super) fn is_folder(to: &Path) -> bool {
    to.as_os_str().as_encoded_bytes().ends_with(b"/") || to.is_dir()
}

/// Path at which a model is written, in its own format: the file, or its own name in the folder.
pub(super) fn destination(to: &Path, model: &FleetModel, standard: Standard) -> Result<PathBuf> {
    if is_folder(to) {
        return in_folder(to, &model.name);
    }
    let is_ir = standard == Standard::OpenVino;
    if is_ir == (Standard::of_file(to) == Some(Standard::OpenVino)) {
        return Ok(to.to_owned());
    }
    let (from, ending) =
        if is_ir { ("an OpenVINO", "ends in .xml") } else { ("no OpenVINO", "does not end in .xml") };
    let message = format!(
        "--output {}: {} is {from} model, and is written to a file that {ending}; `gradus convert` turns one format into another",
        to.display(),
        model.path.display()
    );
    Err(usage(message))
}

/// A path below a folder, whose own folders are made.
pub(super) fn in_folder(to: &Path, name: &Path) -> Result<PathBuf> {
    let path = to.join(name);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| cannot_write(folder, error))?;
    }
    Ok(path)
}

/// Sizes, shapes and assumptions from arguments.
pub(super) fn sizes(given: &SizeArgs) -> Result<Sizes> {
    Ok(Sizes {
        dims: dims(&given.shapes.dims)?,
        inputs: shapes(&given.shapes.inputs.input_shapes)?,
        assume: assumptions(&given.assume)?,
    })
}

/// Options of inference.
pub(super) fn infer_options(given: &SizeArgs) -> Result<InferOptions> {
    sizes(given).map(InferOptions::of)
}

/// Inputs of a model from arguments, by name.
pub(super) fn values(
    model: &Model,
    given: &[String],
    seed: u64,
    limits: &Limits,
) -> Result<BTreeMap<String, InputFact>, Failure> {
    let mut values = HashMap::new();
    for (input, index) in given.iter().zip(0..) {
        run::read_input(model, input, run_inputs::stream(seed, index), limits, &mut values)?;
    }
    Ok(values.into_iter().map(|(name, value)| (name, InputFact::Value(value))).collect())
}

/// The model with constants in the place of inputs, from `NAME=VALUE`.
pub(super) fn set(model: &Model, given: &InputArgs) -> Result<Model, Failure> {
    Ok(model.with_inputs_set(set_values(model, given, |_| true)?)?)
}

/// Two models with constants in the place of inputs that either of them has.
pub(super) fn set_both([first, second]: [Model; 2], given: &InputArgs) -> Result<[Model; 2], Failure> {
    // An input that neither has is an error of the first.
    let of_first = set_values(&first, given, |name| has(&first, name) || !has(&second, name))?;
    let of_second = set_values(&second, given, |name| has(&second, name))?;
    Ok([first.with_inputs_set(of_first)?, second.with_inputs_set(of_second)?])
}

/// A model that runs here, and one that a runtime reads from its file: inputs of the first alone
/// become constants, and those of the second are given to the runs.
pub(super) fn set_in_runtime(
    first: &Model,
    second: &Model,
    given: &InputArgs,
    inputs: &mut BTreeMap<String, InputFact>,
) -> Result<Model, Failure> {
    let values = set_values(second, given, |name| has(second, name))?;
    second.with_inputs_set(values.clone())?;
    for (name, value) in values {
        if inputs.insert(name.to_owned(), InputFact::Value(value)).is_some() {
            return Err(usage(format!("input \"{name}\" is given twice")).into());
        }
    }
    let of_first = set_values(first, given, |name| !has(second, name))?;
    Ok(first.with_inputs_set(of_first)?)
}

fn has(model: &Model, input: &str) -> bool {
    model.input(input).is_ok()
}

/// The values of `--set` for the inputs that are chosen by name.
fn set_values<'a>(
    model: &Model,
    given: &'a InputArgs,
    is_chosen: impl Fn(&str) -> bool,
) -> Result<Vec<(&'a str, Value)>, Failure> {
    let (limits, mut values) = (model.limits(), Vec::new());
    for (argument, index) in given.set.iter().zip(0..) {
        let pair = argument.split_once('=');
        let wanted = "NAME=VALUE or NAME=FILE";
        let (name, text) = pair.ok_or_else(|| Error::mismatch(Kind::Usage, "--set", argument, wanted))?;
        if is_chosen(name) {
            let seed = run_inputs::stream(0, index);
            values.push((name, run::read_value(model, ("--set", name), text, seed, &limits)?));
        }
    }
    Ok(values)
}

/// Symbols and their numbers, from `NAME=NUMBER`.
pub(super) fn dims(given: &DimArgs) -> Result<BTreeMap<String, i64>> {
    numbers("--dim", &given.dims)
}

/// Symbols and their numbers, from the texts that an option was given.
pub(super) fn numbers(option: &str, given: &[String]) -> Result<BTreeMap<String, i64>> {
    let mut dims = BTreeMap::new();
    for dim in given {
        let (name, value) = dim
            .split_once('=')
            .and_then(|(name, value)| Some((name, value.parse().ok()?)))
            .ok_or_else(|| Error::mismatch(Kind::Usage, option, dim, "NAME=NUMBER"))?;
        if dims.insert(name.to_owned(), value).is_some() {
            return Err(usage(format!("{option} {name} is given twice")));
        }
    }
    Ok(dims)
}

/// Assumptions about sizes: bounds from `NAME=NUMBER` and `NAME=FIRST..LAST`, and conditions.
pub(super) fn assumptions(given: &AssumeArgs) -> Result<SizeAssumptions> {
    let mut ranges: BTreeMap<String, (i64, Option<i64>)> = BTreeMap::new();
    // Several bounds of a symbol all hold.
    let mut bound = |name: &str, least: i64, most: Option<i64>| {
        let range = ranges.entry(name.to_owned()).or_insert((least, most));
        let fewest = range.1.into_iter().chain(most).min();
        *range = (range.0.max(least), fewest);
    };
    for least in &given.least {
        let pair = least.split_once('=').and_then(|(name, value)| Some((name, value.parse().ok()?)));
        let (name, least) =
            pair.ok_or_else(|| Error::mismatch(Kind::Usage, "--min", least, "NAME=NUMBER"))?;
        bound(name, least, None);
    }
    for range in &given.ranges {
        let pair = range.split_once('=').and_then(|(name, range)| {
            let (first, last) = range.split_once("..")?;
            Some((name, first.parse().ok()?, last.parse().ok()?))
        });
        let (name, first, last) =
            pair.ok_or_else(|| Error::mismatch(Kind::Usage, "--range", range, "NAME=FIRST..LAST"))?;
        bound(name, first, Some(last));
    }
    Ok(SizeAssumptions { ranges, conditions: given.conditions.clone(), nonempty: given.nonempty })
}

/// The model with the shapes of inputs that are given, from `NAME=DIM,…`.
pub(super) fn reshaped(model: &Model, given: &[String]) -> Result<Model> {
    let types = types(given)?;
    model.with_input_types(types.iter().map(|(name, of)| (&**name, of)))
}

/// Shapes of inputs, from `NAME=DIM,…`.
pub(super) fn shapes(given: &[String]) -> Result<BTreeMap<String, InputFact>> {
    Ok(types(given)?.into_iter().map(|(name, of)| (name, InputFact::Type(of))).collect())
}

fn types(given: &[String]) -> Result<BTreeMap<String, Type>> {
    let mut inputs = BTreeMap::new();
    for shape in given {
        let (name, sizes) = shape
            .split_once('=')
            .ok_or_else(|| Error::mismatch(Kind::Usage, "--input-shape", shape, "NAME=DIM,…"))?;
        let sizes = sizes.trim_matches(['[', ']']);
        let size = |text: &str| match text.trim() {
            "" => Err(usage(format!("--input-shape {shape}: a size is missing"))),
            "?" => Ok(DeclaredDim::Unknown),
            text => match text.parse().map(usize_of_i64) {
                Ok(Some(len)) => Ok(DeclaredDim::Known(len)),
                Err(_) if text.parse::<f64>().is_err() => Ok(DeclaredDim::Symbol(text.into())),
                _ => {
                    let what = format_args!("--input-shape {shape}: a size");
                    Err(Error::mismatch(Kind::Usage, what, text, "a number from 0 to 2^63 - 1, a name or ?"))
                }
            },
        };
        // A common way to write shapes elsewhere: 1x3x224.
        let is_number = |part: &str| part.parse::<u64>().is_ok();
        let crossed = sizes.contains('x') && sizes.split('x').all(is_number);
        let sizes = if crossed { sizes.replace('x', ",") } else { sizes.to_owned() };
        let sizes = match sizes.trim() {
            "" => Vec::new(),
            sizes => sizes.split(',').map(size).collect::<Result<_>>()?,
        };
        inputs.insert(name.to_owned(), Type::Tensor(None, Some(sizes)));
    }
    Ok(inputs)
}
