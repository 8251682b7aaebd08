//! `gradus run`: a model's outputs, printed or saved.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use gradus::files::NewFiles;
use gradus::formats::{Sniffed, numpy, onnx, sniff};
use gradus::graph::{Type, ValueId};
use gradus::{DType, Error, Kind, Limits, Model, Outputs, Result, RunOptions, Tensor, Value, files};
use indicatif::{ProgressBar, ProgressStyle};

use crate::args;
use crate::diagnostics::Failure;
use crate::{json, literal, output};

pub(crate) fn run(args: &args::RunArgs) -> Result<(), Failure> {
    let options = args.options();
    let limits = args.limits.limits();
    let model = args.limits.open(&args.model)?;
    let mut inputs = HashMap::new();
    for input in &args.inputs {
        read_input(&model, input, &limits, &mut inputs)?;
    }
    let wanted: Vec<_> = args.outputs.iter().map(String::as_str).collect();
    let outputs = with_progress(options, |options| model.compile(&wanted, options)?.run(&inputs))?;
    if let Some(folder) = &args.out {
        let saved = save(&model, folder, &outputs)?;
        if args.json {
            let files: Vec<_> = saved.iter().map(|(name, path)| (name, path.display().to_string())).collect();
            return output::print_json(&json::object([("files", json::object(files)?)])?);
        }
        return saved.iter().try_for_each(|(name, path)| {
            output::print_line(&format!("{}: {}", output::escaped(name), output::path(path)))
        });
    }
    if args.json {
        let values = outputs.iter().map(|(name, value)| (name, json::value(value)));
        return output::print_json(&json::object([("outputs", json::object(values)?)])?);
    }
    outputs.iter().try_for_each(|(name, value)| output::print_line(&output::named(name, value)))
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

/// Reads one `--input`.
pub(super) fn read_input(
    model: &Model,
    argument: &str,
    limits: &Limits,
    into: &mut HashMap<String, Value>,
) -> Result<(), Failure> {
    let usage = |message: String| Error::new(Kind::Usage, message);
    let Some((name, text)) = argument.split_once('=') else {
        if !is_npz(argument) {
            return Err(usage(format!(
                "--input \"{argument}\" is neither NAME=VALUE, NAME=FILE nor an .npz file"
            ))
            .into());
        }
        for (name, tensor) in read_npz(model, Path::new(argument), None, limits)? {
            put(model, into, &name, tensor.into())?;
        }
        return Ok(());
    };
    let id = model.input(name)?;
    let declared = declared_dtype(model, id);
    let value = match file_of(text) {
        None => literal::parse(text, declared, limits)
            .map_err(|mistake| mistake.in_argument(&format!("--input {name}=")))?,
        Some(path) if is_npz(text) => {
            let found = read_npz(model, path, Some(name), limits)?.into_iter().next();
            found
                .map(|(_, tensor)| tensor.into())
                .ok_or_else(|| usage(format!("{text} has no array \"{name}\"")))?
        }
        Some(path) => read_tensor(path, declared, limits)?.into(),
    };
    put(model, into, name, value)
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

/// Saves outputs as `.npy` files: all of them, or none.
fn save(model: &Model, folder: &Path, outputs: &Outputs) -> Result<Vec<(String, PathBuf)>> {
    let io = |error: std::io::Error| Error::new(Kind::Io, error.to_string()).in_file(folder.display());
    std::fs::create_dir_all(folder).map_err(io)?;
    let mut files = NewFiles::default();
    let mut saved = Vec::new();
    for (name, value) in outputs {
        let Value::Tensor(tensor) = value else {
            let message = format!("output \"{name}\" is {value}, and only tensors can be saved");
            return Err(Error::new(Kind::Unsupported, message));
        };
        let path = folder.join(format!("{}.npy", file_name(name)));
        model.check_output(&path)?;
        let write = files.create(&path, |file| {
            numpy::write_npy(tensor, file).map_err(|error| error.in_file(path.display()))
        });
        write.map_err(|error| error.in_node(format!("output \"{name}\"")))?;
        saved.push((name.to_string(), path));
    }
    files.commit()?;
    Ok(saved)
}

/// A name that is a file's in any file system.
fn file_name(name: &str) -> String {
    let safe = |c: char| if c.is_alphanumeric() || matches!(c, '_' | '-' | '.') { c } else { '_' };
    let name: String = name.chars().map(safe).collect();
    if name.starts_with('.') || name.is_empty() { format!("_{name}") } else { name }
}
