//! Inputs that are not given to `gradus run`: made at random, or listed with an example of each.

use std::collections::{HashMap, HashSet};

use gradus::convert::u64_of;
use gradus::infer::{InferOptions, InputFact};
use gradus::{DType, Error, Kind, Limits, Model, Program, Result, Value};

use super::given;
use crate::literal::Filling;

/// A size of an input: its number or, of an open one, its text and a number that it may have.
enum InputSize {
    Known(i64),
    Open(String, Option<i64>),
}

/// An input that is not given, and as much of its shape as is known.
struct MissingInput {
    name: String,
    dtype: Option<DType>,
    sizes: Option<Vec<InputSize>>,
    /// The smallest and the largest number that its elements may be, such as rows of a table.
    elements: Option<(i64, i64)>,
    /// A value with which conditions of its elements hold, such as one that chooses a branch.
    chosen: Option<Value>,
}

impl MissingInput {
    /// The text that makes the input, with the names of sizes for which no number is known.
    fn example(&self) -> String {
        let sizes = self.sizes.iter().flatten().map(|size| match size {
            InputSize::Known(size) | InputSize::Open(_, Some(size)) => size.to_string(),
            InputSize::Open(text, None) => text.clone(),
        });
        let sizes = sizes.collect::<Vec<_>>().join(",");
        let value = match self.dtype {
            Some(DType::String) => "\"text\"".to_owned(),
            _ => format!("random[{sizes}]"),
        };
        format!("-i '{}={value}'", self.name)
    }
}

/// Inputs that are not given.
struct MissingInputs {
    inputs: Vec<MissingInput>,
    /// Options that give all their open sizes numbers with which the model runs, in words.
    options: String,
}

/// How inputs are made at random.
#[derive(Clone, Copy)]
pub(super) struct RandomInputs<'a> {
    /// Symbols and their numbers.
    pub(super) dims: &'a [String],
    pub(super) seed: u64,
}

/// The seed of one of several inputs, each of which has numbers of its own.
pub(super) fn stream(seed: u64, index: u64) -> u64 {
    seed.wrapping_add(index << 40)
}

/// Makes the inputs that are not given if that is wanted.
///
/// # Errors
/// [`Kind::Usage`] with an example of each if they are not to be made, or their sizes are not known.
pub(super) fn complete(
    model: &Model,
    program: &Program,
    inputs: &mut HashMap<String, Value>,
    random: Option<RandomInputs<'_>>,
    limits: &Limits,
) -> Result<()> {
    let names: Vec<_> = program.missing_inputs(|name| inputs.contains_key(name)).map(str::to_owned).collect();
    if names.is_empty() {
        return Ok(());
    }
    let dims = random.map_or(&[][..], |random| random.dims);
    let missing = missing_inputs(model, names, inputs, dims, random.map_or(0, |random| random.seed));
    let Some(RandomInputs { seed, .. }) = random else {
        // A run says what is wrong with the inputs that are given.
        return missing.map_or(Ok(()), |missing| Err(listed(model, &missing.inputs)));
    };
    let missing = missing?;
    for (mut input, index) in missing.inputs.into_iter().zip(u64_of(inputs.len())..) {
        let made = input
            .chosen
            .take()
            .map_or_else(|| made(&input, &missing.options, stream(seed, index), limits), Ok)?;
        inputs.insert(input.name, made);
    }
    Ok(())
}

/// Facts about inputs by their names, with these numbers for symbols.
fn missing_inputs(
    model: &Model,
    names: Vec<String>,
    inputs: &HashMap<String, Value>,
    dims: &[String],
    seed: u64,
) -> Result<MissingInputs> {
    let mut options = InferOptions::default();
    options.sizes.dims = given::numbers("--dim", dims)?;
    options.sizes.inputs =
        inputs.iter().map(|(name, value)| (name.clone(), InputFact::Value(value.clone()))).collect();
    let inference = model.infer(&options)?;
    let small = model.small_sizes(&inference);
    let mut chosen: HashMap<_, _> = model.chosen_inputs(&inference, seed)?.into_iter().collect();
    let mut of = |name: String| {
        let fact = inference.fact(model.input(&name)?).as_tensor();
        let symbols = inference.symbols();
        let size = |&dim: &gradus::Dim| match dim.known() {
            Some(size) => InputSize::Known(size),
            None => InputSize::Open(
                symbols.print(dim).to_string(),
                small.as_ref().and_then(|small| symbols.evaluate(dim, &|name| small.get(name).copied())),
            ),
        };
        let sizes = fact.and_then(|fact| fact.dims.as_deref()).map(|dims| dims.iter().map(size).collect());
        let ranges = inference.conditions().iter().filter_map(|of| of.elements.as_ref());
        let ranges = ranges.filter(|range| range.input == name);
        let known = ranges.filter_map(|range| Some((range.min.known()?, range.max.known()?)));
        // Numbers below zero count from the end, of which a run needs none.
        let elements = known.reduce(|(a, b), (min, max)| (a.max(min), b.min(max)));
        let elements = elements.map(|(min, max)| (min.max(0), max)).filter(|(min, max)| min <= max);
        let chosen = chosen.remove(&name);
        Ok(MissingInput { dtype: fact.and_then(|fact| fact.dtype), sizes, elements, chosen, name })
    };
    let inputs = names.into_iter().map(&mut of).collect::<Result<Vec<_>>>()?;
    let options = match small {
        None => "`gradus infer` prints the conditions that none of the small ones meets".to_owned(),
        Some(small) => {
            let ids = inputs.iter().filter_map(|input| model.input(&input.name).ok());
            let dims = ids.filter_map(|id| inference.fact(id).as_tensor()?.dims.clone());
            let dims: Vec<_> = dims.flat_map(|dims| dims.to_vec()).collect();
            let mut options: Vec<_> = dims
                .into_iter()
                .flat_map(|dim| inference.symbols().symbols_of(dim))
                .filter_map(|symbol| Some(format!("--dim {}={}", symbol.name, small.get(&*symbol.name)?)))
                .collect();
            let mut seen = HashSet::new();
            options.retain(|option| seen.insert(option.clone()));
            options.join(" ")
        }
    };
    Ok(MissingInputs { inputs, options })
}

/// The error of inputs that are not given.
fn listed(model: &Model, missing: &[MissingInput]) -> Error {
    let declared = |input: &MissingInput| {
        let id = model.input(&input.name).ok();
        let declared = id.and_then(|id| model.graph().value(id).declared.as_ref());
        let declared = declared.map_or_else(String::new, |of| format!(" ({of})"));
        format!("\"{}\"{declared}", input.name)
    };
    let names: Vec<_> = missing.iter().map(declared).collect();
    let examples: Vec<_> = missing.iter().map(MissingInput::example).collect();
    let (plural, verb) = if names.len() == 1 { ("", "is") } else { ("s", "are") };
    let message = format!(
        "input{plural} {} {verb} missing; give {}, or --random-inputs",
        names.join(", "),
        examples.join(" ")
    );
    let error = Error::new(Kind::Usage, message);
    match model.path() {
        Some(path) => error.in_file(path.display()),
        None => error,
    }
}

/// A random tensor for an input; options give open sizes numbers.
fn made(input: &MissingInput, options: &str, seed: u64, limits: &Limits) -> Result<Value> {
    let cannot = |why: String| {
        let message = format!("cannot make input \"{}\": {why}", input.name);
        Error::new(Kind::Usage, message)
    };
    let all = input.sizes.as_ref().ok_or_else(|| cannot("the model declares no shape of it".into()))?;
    let (mut sizes, mut open) = (Vec::new(), Vec::new());
    for size in all {
        match size {
            InputSize::Known(size) => sizes.push(*size),
            InputSize::Open(text, _) => open.push(&**text),
        }
    }
    if !open.is_empty() {
        return Err(cannot(format!("its size {} is open, expected a number ({options})", open.join(", "))));
    }
    let dtype = input.dtype.ok_or_else(|| cannot("the model declares no type of it".into()))?;
    let filling = match input.elements.filter(|_| dtype.is_integer()) {
        Some((min, max)) => Filling::Within(min, max),
        None => Filling::Uniform,
    };
    filling.tensor(&sizes, dtype, seed, limits).map(Value::from)
}
