//! `gradus run`: a model's outputs, printed or saved.

use std::collections::{HashMap, HashSet};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use gradus::check::Interval;
use gradus::files::NewFiles;
use gradus::formats::{Sniffed, numpy, onnx, sniff};
use gradus::graph::{Type, ValueId};
use gradus::{DType, Error, Kind, Limits, Model, Result, RunOptions, Tensor, Value, files};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::value::RawValue;

use super::run_inputs::{self, RandomInputs};
use super::{given, profile};
use crate::args;
use crate::diagnostics::Failure;
use crate::{json, literal, output};

/// Runs `gradus run`: prints or saves the outputs of a model.
pub(crate) fn run(args: &args::RunArgs) -> Result<(), Failure> {
    let options = args.options();
    let limits = args.limits.limits();
    let model = given::set(&args.limits.open(&args.model)?, &args.given)?;
    let model = given::reshaped(&model, &args.given.input_shapes)?;
    let mut inputs = HashMap::new();
    for (input, index) in args.inputs.iter().zip(0..) {
        read_input(&model, input, run_inputs::stream(args.seed, index), &limits, &mut inputs)?;
    }
    let assume = given::assumptions(&args.assume)?;
    let all = if args.save_all.is_some() { values(&model) } else { args.outputs.clone() };
    let wanted: Vec<_> = all.iter().map(String::as_str).collect();
    let random = args.random_inputs.then_some(RandomInputs { dims: &args.dims, seed: args.seed });
    let (outputs, nodes, intervals) = with_progress(options, |options| {
        let program = model.compile(&wanted, options)?;
        run_inputs::complete(&model, &program, &mut inputs, random, &limits)?;
        model.check_sizes(&assume, |name| inputs.get(name))?;
        model.unequal_sizes(|name| inputs.get(name)).iter().for_each(|text| output::warn(text));
        if args.intervals {
            let found = program.run_with_intervals(&inputs)?;
            return Ok((found.outputs, Vec::new(), Some((found.intervals, found.unbounded))));
        }
        let (outputs, nodes) =
            if args.profile_nodes { program.run_profiled(&inputs)? } else { (program.run(&inputs)?, vec![]) };
        Ok((outputs, nodes, None))
    })?;
    let (intervals, unbounded) = intervals.unzip();
    let count = if args.save_all.is_some() { model.graph().outputs().len() } else { outputs.len() };
    let mut groups: Vec<_> = outputs.into_iter().map(|output| vec![output]).collect();
    let mut summaries = Vec::new();
    for (group, interval) in groups.iter_mut().zip(intervals.unwrap_or_default()) {
        summaries.push(bounded(group, interval));
    }
    let count = groups.iter().take(count).map(Vec::len).sum();
    let mut outputs: Vec<_> = groups.into_iter().flatten().collect();
    name_apart(&mut outputs);
    let kept =
        args.save_all.as_ref().map(|folder| save_all(&model, folder, &inputs, &outputs)).transpose()?;
    outputs.truncate(count);
    let saved = args.out.as_ref().map(|folder| save(&[&model], folder, &outputs)).transpose()?;
    if output::is_json() {
        let mut all = Vec::new();
        all.push(match &saved {
            Some(saved) => ("files", files_json(saved)?),
            None => {
                ("outputs", json::object(outputs.iter().map(|(name, value)| (name, json::value(value))))?)
            }
        });
        if let Some(kept) = &kept {
            all.push(("values", files_json(&kept.saved)?));
        }
        if args.profile_nodes {
            all.push(("nodes", json::raw(&profile::nodes(&nodes))?));
        }
        if let Some(unbounded) = &unbounded {
            all.push(("unbounded", json::raw(unbounded)?));
        }
        return output::print_json(&json::object(all)?);
    }
    match &saved {
        Some(saved) => saved.iter().try_for_each(|(name, path)| {
            output::print_line(&format!("{}: {}", output::escaped(name), output::path(path)))
        })?,
        None => {
            outputs.iter().try_for_each(|(name, value)| output::print_line(&output::named(name, value)))?;
        }
    }
    if let (Some(kept), Some(folder)) = (&kept, &args.save_all) {
        output::print_line(&kept.summary(folder))?;
    }
    if args.profile_nodes {
        output::print_line(&profile::table(&nodes))?;
    }
    summaries.iter().flatten().try_for_each(|line| output::print_line(line))?;
    for node in unbounded.iter().flatten().take(MAX_UNBOUNDED) {
        output::print_line(&format!("without intervals: what {} computes", output::escaped(node)))?;
    }
    Ok(())
}

/// Nodes without bounds that are printed.
const MAX_UNBOUNDED: usize = 5;

/// Puts the interval of an output after it, and says how wide it is.
fn bounded(group: &mut Vec<(Arc<str>, Value)>, interval: Option<Interval>) -> Option<String> {
    let interval = interval?;
    let (name, value) = group[0].clone();
    let (half, all) = interval.widths();
    let apart = interval.distance(&value);
    let text = format!(
        "{}: intervals of at most {all:.1e}, half of them of at most {half:.1e}; the run is at most {apart:.1e} outside",
        output::escaped(&name)
    );
    group.push((format!("{name}.low").into(), interval.low.into()));
    group.push((format!("{name}.high").into(), interval.high.into()));
    Some(text)
}

/// The names of the outputs of a model, and then of all other values that nodes of the main graph
/// compute.
fn values(model: &Model) -> Vec<String> {
    let graph = model.graph();
    let computed = graph.order().iter().flat_map(|&node| graph.nodes()[node].outputs.iter().flatten());
    let others = computed.filter(|id| !graph.outputs().contains(id));
    let names = graph.outputs().iter().chain(others).map(|&id| graph.value(id).name.to_string());
    names.filter(|name| !name.is_empty()).collect()
}

/// Gives outputs of one name names of their own, as conversions do: the second `y` is `y_1`.
fn name_apart(outputs: &mut [(Arc<str>, Value)]) {
    let mut taken: HashSet<Arc<str>> = outputs.iter().map(|(name, _)| name.clone()).collect();
    let mut seen = HashSet::new();
    for (name, _) in outputs {
        if seen.insert(name.clone()) {
            continue;
        }
        let mut numbered = (1..).map(|number: usize| Arc::from(format!("{name}_{number}")));
        let own: Arc<str> = numbered.find(|own| !taken.contains(own)).expect("numbers have no end");
        taken.insert(own.clone());
        *name = own;
    }
}

pub(super) type SavedFiles = Vec<(String, PathBuf)>;

fn files_json(saved: &SavedFiles) -> Result<Box<RawValue>> {
    json::object(saved.iter().map(|(name, path)| (name, path.display().to_string())))
}

/// All values of a run: the files of tensors, and the names of the others.
struct SavedValues {
    saved: SavedFiles,
    others: Vec<String>,
}

impl SavedValues {
    fn summary(&self, folder: &Path) -> String {
        let others = if self.others.is_empty() {
            String::new()
        } else {
            format!(
                "; not saved, as they are no tensors of numbers: {}",
                output::escaped(&self.others.join(", "))
            )
        };
        format!("{} values saved in {}{others}", self.saved.len(), output::path(folder))
    }
}

/// Saves the inputs of a run, in the order of the model, and the values that it computed.
fn save_all(
    model: &Model,
    folder: &Path,
    inputs: &HashMap<String, Value>,
    computed: &[(Arc<str>, Value)],
) -> Result<SavedValues> {
    let graph = model.graph();
    let names = graph.inputs().iter().map(|&id| &graph.value(id).name);
    // An input that is an output too is among these.
    let others = names.filter(|name| computed.iter().all(|(of, _)| of != *name));
    let inputs = others.filter_map(|name| Some((name.clone(), inputs.get(&**name)?.clone())));
    let values: Vec<_> = inputs.chain(computed.iter().cloned()).collect();
    let (tensors, others): (Vec<_>, Vec<_>) = values
        .iter()
        .partition(|(_, value)| matches!(value, Value::Tensor(tensor) if tensor.dtype() != DType::String));
    let others = others.into_iter().map(|(name, _)| name.to_string()).collect();
    Ok(SavedValues { saved: save(&[model], folder, tensors)?, others })
}

/// Runs with a count of steps on the terminal, if it takes long and there is a terminal.
fn with_progress<T>(mut options: RunOptions, work: impl FnOnce(&RunOptions) -> Result<T>) -> Result<T> {
    static STEPS: AtomicU64 = AtomicU64::new(0);
    if !std::io::stderr().is_terminal() {
        return work(&options);
    }
    let (done, wait) = std::sync::mpsc::channel::<()>();
    let shower = std::thread::spawn(move || {
        let mut bar = None;
        // The sender is dropped when the work is done; until then, each timeout is time to look.
        while wait.recv_timeout(Duration::from_millis(500)) == Err(std::sync::mpsc::RecvTimeoutError::Timeout)
        {
            let style = ProgressStyle::with_template("{spinner} {pos} steps in {elapsed}");
            let bar = bar.get_or_insert_with(|| {
                ProgressBar::new_spinner()
                    .with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
            });
            bar.set_position(STEPS.load(Ordering::Relaxed));
        }
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
    });
    options.steps = Some(&STEPS);
    let result = work(&options);
    drop(done);
    // A panic while showing progress is no reason to lose the result.
    let _ = shower.join();
    result
}

/// Reads one `--input`; a random one has numbers of the seed.
pub(super) fn read_input(
    model: &Model,
    argument: &str,
    seed: u64,
    limits: &Limits,
    into: &mut HashMap<String, Value>,
) -> Result<(), Failure> {
    let Some((name, text)) = argument.split_once('=') else {
        if !is_npz(argument) {
            let message = format!("--input \"{argument}\" is neither NAME=VALUE, NAME=FILE nor an .npz file");
            return Err(Error::new(Kind::Usage, message).into());
        }
        for (name, tensor) in read_npz(model, Path::new(argument), None, limits)? {
            put(model, into, &name, tensor.into())?;
        }
        return Ok(());
    };
    put(model, into, name, read_value(model, ("--input", name), text, seed, limits)?)
}

/// Reads the value of an input, from the text after `NAME=` of an option; a random one has numbers
/// of the seed.
pub(super) fn read_value(
    model: &Model,
    (option, name): (&str, &str),
    text: &str,
    seed: u64,
    limits: &Limits,
) -> Result<Value, Failure> {
    let id = model.input(name)?;
    let declared = declared_dtype(model, id);
    match file_of(text) {
        None => literal::parse(text, declared, seed, limits)
            .map_err(|mistake| mistake.in_argument(&format!("{option} {name}=")).into()),
        Some(path) if is_npz(text) => {
            let found = read_npz(model, path, Some(name), limits)?.into_iter().next();
            let none = || Error::new(Kind::Usage, format!("{text} has no array \"{name}\""));
            Ok(found.map(|(_, tensor)| tensor.into()).ok_or_else(none)?)
        }
        Some(path) => Ok(read_tensor(path, declared, limits)?.into()),
    }
}

fn put(model: &Model, into: &mut HashMap<String, Value>, name: &str, value: Value) -> Result<(), Failure> {
    model.input(name)?;
    if into.insert(name.to_owned(), value).is_some() {
        return Err(Error::new(Kind::Usage, format!("input \"{name}\" is given twice")).into());
    }
    Ok(())
}

fn declared_dtype(model: &Model, id: ValueId) -> Option<DType> {
    model.graph().value(id).declared.as_ref().and_then(Type::dtype)
}

/// The path, if the text is one: what ends like a file of arrays is, unless it is quoted.
fn file_of(text: &str) -> Option<&Path> {
    let extension = Path::new(text).extension()?.to_str()?;
    let is_file = ["npy", "npz", "pb"].iter().any(|known| extension.eq_ignore_ascii_case(known));
    (is_file && !text.trim_start().starts_with(['"', '['])).then(|| Path::new(text))
}

fn is_npz(text: &str) -> bool {
    Path::new(text).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npz"))
}

fn read_npz(
    model: &Model,
    path: &Path,
    wanted: Option<&str>,
    limits: &Limits,
) -> Result<Vec<(String, Tensor)>> {
    let hint = |name: &str| model.input(name).ok().and_then(|id| declared_dtype(model, id));
    numpy::read_npz(&files::map(path)?, wanted, hint, limits).map_err(|error| error.in_file(path.display()))
}

fn read_tensor(path: &Path, declared: Option<DType>, limits: &Limits) -> Result<Tensor> {
    let bytes = files::map(path)?;
    let tensor = match sniff(&bytes) {
        Sniffed::Npy => numpy::read_npy(&bytes, declared, limits),
        _ if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy")) => {
            numpy::read_npy(&bytes, declared, limits)
        }
        _ => onnx::read_tensor(&bytes, *limits),
    };
    tensor.map_err(|error| error.in_file(path.display()))
}

/// Saves outputs as `.npy` files in a folder, or as one `.npz` file: all of them, or none.
pub(super) fn save<'a>(
    models: &[&Model],
    folder: &Path,
    outputs: impl IntoIterator<Item = &'a (Arc<str>, Value)>,
) -> Result<SavedFiles> {
    let outputs: Vec<_> = outputs.into_iter().collect();
    let limits = models.first().map_or(Limits::DEFAULT, |model| model.limits());
    let check = |path: &Path| models.iter().try_for_each(|model| model.check_other_output(path));
    let mut bytes = 0;
    for (name, value) in &outputs {
        let in_output = |error: Error| error.in_node(format!("output \"{name}\""));
        let Value::Tensor(tensor) = value else {
            let message = format!("output \"{name}\" is {value}, and only tensors can be saved");
            return Err(Error::new(Kind::Unsupported, message));
        };
        bytes += numpy::npy_len(tensor).map_err(in_output)?;
        limits.allow_output(bytes).map_err(in_output)?;
    }
    let mut files = NewFiles::default();
    if folder.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npz")) {
        check(folder)?;
        let arrays = outputs.iter().map(|(name, value)| Ok((&**name, value.tensor()?)));
        let arrays = arrays.collect::<Result<Vec<_>>>()?;
        files.create_of(folder, bytes, |file| {
            numpy::write_npz(arrays, file).map_err(|error| error.in_file(folder.display()))
        })?;
        files.commit()?;
        return Ok(outputs.iter().map(|(name, _)| (name.to_string(), folder.to_owned())).collect());
    }
    let io = |error: std::io::Error| Error::new(Kind::Io, error.to_string()).in_file(folder.display());
    std::fs::create_dir_all(folder).map_err(io)?;
    files::check_room(folder, bytes).map_err(|error| error.in_file(folder.display()))?;
    let mut saved = Vec::new();
    let names = file_names(outputs.iter().map(|(name, _)| &**name));
    for ((name, value), file) in outputs.iter().zip(names) {
        let path = folder.join(format!("{file}.npy"));
        check(&path)?;
        let write = files.create(&path, |file| {
            let mut out = output::Limited::new(file, limits);
            numpy::write_npy(value.tensor()?, &mut out).map_err(|error| error.in_file(path.display()))
        });
        write.map_err(|error| error.in_node(format!("output \"{name}\"")))?;
        saved.push((name.to_string(), path));
    }
    files.commit()?;
    Ok(saved)
}

/// The names of files for values, one each, without their ending. Those that are the same, in a
/// file system that tells capital letters apart or in one that does not, are numbered from the
/// second on.
fn file_names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<_> = names.map(file_name).collect();
    let mut taken: HashSet<_> = names.iter().map(|name| name.to_lowercase()).collect();
    let (mut seen, mut numbers) = (HashSet::new(), HashMap::new());
    for name in &mut names {
        let key = name.to_lowercase();
        if seen.insert(key.clone()) {
            continue;
        }
        let number = numbers.entry(key).or_insert(0_usize);
        let own = loop {
            *number += 1;
            let own = format!("{name}_{number}");
            if taken.insert(own.to_lowercase()) {
                break own;
            }
        };
        *name = own;
    }
    names
}

/// A name that is a file's in any file system: of a long one, the start and the digits of a hash.
fn file_name(name: &str) -> String {
    /// Bytes that leave room for a number and an ending in the 255 of a file system.
    const LONGEST: usize = 200;
    let safe = |c: char| if c.is_alphanumeric() || matches!(c, '_' | '-' | '.') { c } else { '_' };
    let mut file: String = name.chars().map(safe).collect();
    if file.starts_with('.') || file.is_empty() {
        file.insert(0, '_');
    }
    if file.len() > LONGEST {
        file.truncate(file.floor_char_boundary(LONGEST));
        file = format!("{file}-{:016x}", fnv(name));
    }
    file
}

/// A hash that is the same in all processes (FNV-1a).
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_safe_and_apart() {
        let long = "é".repeat(150);
        let other = format!("{long}2");
        let names = ["a/b", "a_b", "A:B", "a_b_1", "", ".hidden", &long, &other, "a/b"];
        let files = file_names(names.into_iter());
        assert_eq!(files[..6], ["a_b", "a_b_2", "A_B_3", "a_b_1", "_", "_.hidden"]);
        assert_eq!(files[8], "a_b_4");
        // Two bytes a letter; 100 letters and the hash.
        assert!(files[6].starts_with(&"é".repeat(100)) && files[6].len() == 217, "{}", files[6]);
        assert!(files[7].len() == 217 && files[6] != files[7]);
        // Numbers are counted on, not tried from the first again.
        assert_eq!(file_names(std::iter::repeat_n("x", 20_000))[19_999], "x_19999");
    }
}
