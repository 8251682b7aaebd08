//! `gradus edit`: another interface, other names and sizes, and parts of models.

use std::io::Write;
use std::path::Path;

use gradus::convert::usize_of_i64;
use gradus::dynamic::DynamicOptions;
use gradus::edit::{Edit, Edited, Editor, Float16Options, Scaling};
use gradus::graph::{Standard, Type};
use gradus::infer::InputFact;
use gradus::sort::SharedSort;
use gradus::{DType, Error, Kind, Model, Value};

use super::fleet::FleetModel;
use super::infer::{Remark, write_conditions};
use super::{given, run, run_inputs};
use crate::args;
use crate::diagnostics::Failure;
use crate::object::object;
use crate::output::{self, escaped};

/// Runs `gradus edit`.
pub(crate) fn edit(args: &args::EditArgs) -> Result<(), Failure> {
    let path = &*args.model;
    let model = args.limits.open(path)?.keep_names(args.names.keep_names);
    let to = destination(&args.output, path, model.source().standard)?;
    let edited = edited(args, &model).map_err(|failure| failure.in_file(path))?;
    if edited.notes().is_empty() {
        let message = "nothing to edit: expected an option that says what changes (--help)";
        return Err(Error::new(Kind::Usage, message).into());
    }
    save(&edited, &[path], &to)
}

/// Writes an edited model, and says what was done to those that it comes from.
pub(super) fn save(edited: &Edited, from: &[&Path], to: &Path) -> Result<(), Failure> {
    let bytes = edited.save(to)?;
    let from: Vec<_> = from.iter().map(|path| path.display().to_string()).collect();
    let from = from.join(" ");
    if output::is_json() {
        let inference = edited.inference();
        let json = object!(EditedJson {
            model: from,
            output: to.display().to_string(),
            bytes,
            edits: edited.notes(),
            assumptions: Remark::assumptions(inference),
            problems: Remark::problems(inference),
        });
        return output::print_json(&json);
    }
    let mut text = Vec::new();
    writeln!(text, "{} -> {}", escaped(&from), output::path(to))?;
    for note in edited.notes() {
        writeln!(text, "{}", escaped(note))?;
    }
    write_conditions(edited.inference(), &mut text)?;
    output::print(&text)
}

/// The path at which the model is written.
pub(super) fn destination(to: &Path, from: &Path, standard: Standard) -> Result<std::path::PathBuf, Error> {
    let name = from.file_name().map_or_else(Default::default, Into::into);
    given::destination(to, &FleetModel { path: from.into(), name }, standard)
}

/// Applies what the arguments say, one edit after the other: values are read for the inputs that
/// the model has by then.
fn edited(args: &args::EditArgs, model: &Model) -> Result<Edited, Failure> {
    let mut editor = Editor::new(model)?;
    if let Some(text) = &args.extract {
        editor.apply(&extract(text, model)?)?;
    }
    let names = |all: &[String], of: fn(String) -> Edit| all.iter().cloned().map(of).collect::<Vec<_>>();
    for edit in names(&args.add_outputs, Edit::AddOutput) {
        editor.apply(&edit)?;
    }
    for edit in names(&args.remove_outputs, Edit::RemoveOutput) {
        editor.apply(&edit)?;
    }
    for text in &args.renames {
        let (old, new) = pair("--rename", text, "OLD=NEW")?;
        editor.apply(&Edit::Rename { old, new })?;
    }
    for text in &args.rename_dims {
        let (old, new) = pair("--rename-dim", text, "OLD=NEW")?;
        editor.apply(&Edit::RenameDim { old, new })?;
    }
    for (index, text) in (0..).zip(&args.shapes.inputs.set) {
        let (input, value) = value(&editor, "--set", text, index)?;
        editor.apply(&Edit::Set { input, value })?;
    }
    for (index, text) in (0..).zip(&args.defaults) {
        let (input, value) = value(&editor, "--default", text, index)?;
        editor.apply(&Edit::Default { input, value: Some(value) })?;
    }
    for input in args.no_defaults.iter().cloned() {
        editor.apply(&Edit::Default { input, value: None })?;
    }
    sizes(args, &mut editor)?;
    types(args, &mut editor)?;
    if args.float16 || args.bfloat16 {
        let options = float16(args, &editor)?;
        editor.apply(&Edit::Float16(Box::new(options)))?;
    }
    let external = args.external.clone().map(|file| Edit::External { file });
    let given = args.weights.as_ref().map(|path| args.limits.open(path)).transpose()?;
    let weights = [
        args.embed.then_some(Edit::Embed),
        external,
        args.strip_weights.then_some(Edit::StripWeights),
        given.map(|model| Edit::Weights(Box::new(model))),
        args.share_weights.then_some(Edit::ShareWeights),
    ];
    for edit in weights.into_iter().flatten() {
        editor.apply(&edit)?;
    }
    for text in &args.metadata {
        let entry = text.split_once('=');
        let (key, value) = entry.map_or((&**text, None), |(key, value)| (key, Some(value.to_owned())));
        editor.apply(&Edit::Metadata { key: key.to_owned(), value })?;
    }
    if args.no_docs {
        editor.apply(&Edit::NoDocs)?;
    }
    Ok(editor.finish()?)
}

/// Applies `--input-shape`, `--dynamic` and `--dim`.
fn sizes(args: &args::EditArgs, editor: &mut Editor) -> Result<(), Failure> {
    let mut shapes: Vec<_> = given::shapes(&args.shapes.inputs.input_shapes)?.into_iter().collect();
    shapes.shared_sort_by(|(a, _), (b, _)| a.cmp(b));
    for (input, of) in shapes {
        if let InputFact::Type(Type::Tensor(_, Some(sizes))) = of {
            editor.apply(&Edit::InputShape { input, sizes })?;
        }
    }
    if !args.dynamic.is_empty() {
        let options = dynamic(&args.dynamic, &args.sizes)?;
        editor.apply(&Edit::Dynamic(Box::new(options)))?;
    }
    let mut dims: Vec<_> = given::dims(&args.shapes.dims)?.into_iter().collect();
    dims.shared_sort();
    for (name, number) in dims {
        let size = usize_of_i64(number).ok_or_else(|| {
            Error::mismatch(Kind::Usage, format_args!("dimension \"{name}\""), number, "at least 0")
        })?;
        editor.apply(&Edit::Dim { name, size })?;
    }
    Ok(())
}

/// The options that `--dynamic` and `--size` say.
pub(super) fn dynamic(shapes: &[String], sizes: &[String]) -> Result<DynamicOptions, Error> {
    let mut options = DynamicOptions::default();
    for (input, of) in given::shapes(shapes)? {
        if let InputFact::Type(Type::Tensor(_, Some(sizes))) = of {
            options.inputs.insert(input, sizes);
        }
    }
    for text in sizes {
        let (node, size) = pair("--size", text, "NODE=SIZE")?;
        options.sizes.insert(node, size);
    }
    Ok(options)
}

/// Applies `--input-type`, `--output-type` and `--layout`.
fn types(args: &args::EditArgs, editor: &mut Editor) -> Result<(), Failure> {
    for text in &args.input_types {
        let (input, of) = pair("--input-type", text, "NAME=TYPE")?;
        let (name, rest) = of.split_once(',').unwrap_or((&of, ""));
        let (dtype, scaling) = (name.trim().parse()?, scaling(text, rest)?);
        editor.apply(&Edit::InputType { input, dtype, scaling })?;
    }
    for text in &args.output_types {
        let (output, name) = pair("--output-type", text, "NAME=TYPE")?;
        editor.apply(&Edit::OutputType { output, dtype: name.trim().parse()? })?;
    }
    for text in &args.layouts {
        let (name, layout) = pair("--layout", text, "NAME=AXES")?;
        editor.apply(&Edit::Layout { name, layout })?;
    }
    Ok(())
}

/// The options that `--float16` and those with it say.
fn float16(args: &args::EditArgs, editor: &Editor) -> Result<Float16Options, Failure> {
    let mut options = Float16Options::default();
    options.dtype = if args.bfloat16 { DType::BF16 } else { DType::F16 };
    options.keep.clone_from(&args.keep);
    options.max_error = args.max_error;
    for (index, text) in (0..).zip(&args.inputs) {
        let (input, value) = value(editor, "--input", text, index)?;
        options.sizes.inputs.insert(input, InputFact::Value(value));
    }
    Ok(options)
}

/// The numbers after `scale=` and `offset=`: one, or several in brackets.
fn scaling(argument: &str, text: &str) -> Result<Scaling, Error> {
    let wanted = "scale=NUMBER and offset=NUMBER, or lists: scale=[NUMBER,…]";
    let wrong = || Error::mismatch(Kind::Usage, "--input-type", argument, wanted);
    let mut scaling = Scaling::default();
    let mut rest = text;
    while !rest.is_empty() {
        let (key, after) = rest.split_once('=').ok_or_else(wrong)?;
        let (numbers, next) = match after.strip_prefix('[') {
            Some(list) => list.split_once(']').ok_or_else(wrong)?,
            None => after.split_at(after.find(',').unwrap_or(after.len())),
        };
        let numbers: Option<Vec<_>> = numbers.split(',').map(number).collect();
        match key.trim() {
            "scale" => scaling.scale = numbers.ok_or_else(wrong)?,
            "offset" => scaling.offset = numbers.ok_or_else(wrong)?,
            _ => return Err(wrong()),
        }
        rest = next.strip_prefix(',').unwrap_or(next);
    }
    Ok(scaling)
}

/// A number, or a fraction.
fn number(text: &str) -> Option<f64> {
    let (over, under) = text.split_once('/').unwrap_or((text, "1"));
    let number = over.trim().parse::<f64>().ok()? / under.trim().parse::<f64>().ok()?;
    number.is_finite().then_some(number)
}

/// Two names with a sign of equality between them.
pub(super) fn pair(option: &str, text: &str, wanted: &str) -> Result<(String, String), Error> {
    let pair = text.split_once('=').ok_or_else(|| Error::mismatch(Kind::Usage, option, text, wanted))?;
    Ok((pair.0.to_owned(), pair.1.to_owned()))
}

/// The input and the value that an option gives it.
fn value(editor: &Editor, option: &str, text: &str, index: u64) -> Result<(String, Value), Failure> {
    let (name, text) = pair(option, text, "NAME=VALUE or NAME=FILE")?;
    let (model, seed) = (editor.model(), run_inputs::stream(0, index));
    let value = run::read_value(model, (option, &name), &text, seed, &model.limits())?;
    Ok((name, value))
}

/// The part that a text names. Names may have colons of their own: the one that parts inputs from
/// outputs has values of the model on both sides.
fn extract(text: &str, model: &Model) -> Result<Edit, Error> {
    let names = |side: &str| -> Vec<String> {
        side.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
    };
    let sides = text.match_indices(':').map(|(at, _)| (names(&text[..at]), names(&text[at + 1..])));
    let sides: Vec<_> = sides.collect();
    let fits = |(from, to): &&(Vec<String>, Vec<String>)| {
        from.iter().chain(to).all(|name| model.value(name).is_ok())
    };
    let found = sides.iter().find(fits).or(sides.first());
    let (inputs, outputs) =
        found.cloned().ok_or_else(|| Error::mismatch(Kind::Usage, "--extract", text, "IN,…:OUT,…"))?;
    if inputs.is_empty() && outputs.is_empty() {
        return Err(Error::mismatch(Kind::Usage, "--extract", text, "the name of a value"));
    }
    Ok(Edit::Extract { inputs, outputs })
}
