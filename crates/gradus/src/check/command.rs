//! Programs that a command line starts, as runtimes.

use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use gradus_core::graph::Type;
use gradus_core::{DType, Error, Kind, Limits, Result, Tensor, Value};
use gradus_formats::numpy;

use super::{Runtime, RuntimeSettings};
use crate::files::{self, PrivateFolder};
use crate::model::Model;

/// A program that runs a model once for each start.
///
/// The words of its command line may have `{model}`, the file of the model; `{inputs}`, an `.npz`
/// file of the inputs by name; `{outputs}`, the `.npz` file that the program writes, with the
/// outputs by name; and `{values}`, a text file with the names of the wanted values, one on each
/// line, for programs that can show values of nodes. `{threads}` is the number of threads, 0 for
/// the program's own choice, and `{optimizations}` is `on` or `off`: [`Model::audit`] changes both.
/// No shell is between: paths are data.
///
/// ```no_run
/// use gradus::Model;
/// use gradus::check::CommandRuntime;
/// let command = "./my_runtime {model} {inputs} {outputs}";
/// let runtime = CommandRuntime::new(command, Default::default())?;
/// let model = Model::open("model.onnx")?;
/// let check = model.check_in(&model, &runtime, &Default::default())?;
/// # Ok::<(), gradus::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CommandRuntime {
    words: Vec<String>,
    limits: Limits,
    settings: RuntimeSettings,
}

impl CommandRuntime {
    /// The begin of the name of a program that is a command line: `cmd:./run {model} …`.
    pub const PREFIX: &str = "cmd:";

    /// A program by its command line, whose words are split as a shell splits them. It ends when
    /// the deadline of the limits passes.
    ///
    /// # Errors
    /// [`Kind::Usage`] if a quotation does not end, or the words lack `{model}`, `{inputs}` or
    /// `{outputs}`.
    pub fn new(command: &str, limits: Limits) -> Result<CommandRuntime> {
        let wrong = |found: &str, wanted: &str| {
            Error::mismatch(Kind::Usage, "cannot run a command: it", found, wanted)
        };
        let words = shlex::split(command).filter(|words| !words.is_empty());
        let words = words.ok_or_else(|| wrong(&format!("`{command}`"), "words, each quotation closed"))?;
        let runtime = CommandRuntime { words, limits, settings: RuntimeSettings::default() };
        for name in ["{model}", "{inputs}", "{outputs}"] {
            if !runtime.names(name) {
                return Err(wrong(&format!("`{command}`"), &format!("a command line with {name}")));
            }
        }
        Ok(runtime)
    }

    /// Returns true if a word of the command line has this name.
    fn names(&self, name: &str) -> bool {
        self.words.iter().any(|word| word.contains(name))
    }

    /// Waits for the program, and ends it when time is over.
    fn status(&self, command: &mut Command) -> Result<ExitStatus> {
        /// The longest time between two looks.
        const PAUSE: Duration = Duration::from_millis(20);
        let failed = |error: std::io::Error| {
            Error::new(Kind::Io, format!("cannot start `{}`: {error}", self.words[0])).with_source(error)
        };
        let mut child = command.spawn().map_err(failed)?;
        let mut pause = Duration::from_millis(1);
        loop {
            if let Some(status) = child.try_wait().map_err(failed)? {
                return Ok(status);
            }
            if let Err(error) = self.limits.check() {
                // It may have ended meanwhile.
                let _ = child.kill();
                let _ = child.wait();
                return Err(error);
            }
            std::thread::sleep(pause);
            pause = PAUSE.min(pause * 2);
        }
    }
}

impl Runtime for CommandRuntime {
    fn run(&self, model: &Path, inputs: &[(String, Value)], values: &[&str]) -> Result<Vec<Option<Value>>> {
        let io = |error: std::io::Error| Error::new(Kind::Io, error.to_string()).with_source(error);
        let folder = PrivateFolder::new(&std::env::temp_dir()).map_err(io)?;
        let path = |name: &str| folder.path().join(name);
        let [given, wanted, written, said] =
            ["inputs.npz", "values.txt", "outputs.npz", "errors.txt"].map(path);
        let arrays = inputs.iter().map(|(name, value)| Ok((name.as_str(), value.tensor()?)));
        let arrays = arrays.collect::<Result<Vec<_>>>()?;
        numpy::write_npz(arrays, BufWriter::new(File::create(&given).map_err(io)?))?;
        // A name of several lines cannot be asked for, and is not shown.
        std::fs::write(&wanted, values.join("\n")).map_err(io)?;
        let threads = self.settings.threads.unwrap_or(0).to_string();
        let optimizations = if self.settings.plain { "off" } else { "on" };
        let places = [
            ("{model}", model),
            ("{inputs}", &given),
            ("{values}", &wanted),
            ("{outputs}", &written),
            (THREADS, Path::new(&threads)),
            (OPTIMIZATIONS, Path::new(optimizations)),
        ];
        let words = self.words.iter().map(|word| filled(word, &places)).collect::<Result<Vec<_>>>()?;
        let errors = File::create(&said).map_err(io)?;
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors);
        let status = self.status(&mut command)?;
        let refused = |what: &str| {
            let last = last_line(&said).unwrap_or_else(|| "it says nothing".to_owned());
            Error::new(Kind::Unsupported, format!("`{}` {what}: {last}", self.words[0]))
        };
        if !status.success() {
            return Err(refused(&format!("ended with {status}")));
        }
        if !written.exists() {
            return Err(refused("wrote no {outputs}"));
        }
        let archive = files::map(&written)?;
        // The model is read for its types only where arrays do not say theirs.
        let arrays = numpy::read_npz(&archive, None, |_| None, &self.limits).or_else(|_| {
            let declared = declared(model, values)?;
            let hint = |name: &str| declared.iter().find(|(of, _)| of == name).map(|(_, dtype)| *dtype);
            numpy::read_npz(&archive, None, hint, &self.limits)
        });
        let arrays = arrays.map_err(|error| error.in_file(format!("{{outputs}} of `{}`", self.words[0])))?;
        let value = |name: &&str| {
            let found: Option<&Tensor> = arrays.iter().find(|(of, _)| of == name).map(|(_, tensor)| tensor);
            found.cloned().map(Value::from)
        };
        Ok(values.iter().map(value).collect())
    }

    fn anew(&self, settings: &RuntimeSettings) -> Result<Box<dyn Runtime>> {
        let wanted = [(settings.threads.is_some(), THREADS), (settings.plain, OPTIMIZATIONS)];
        if let Some((_, name)) = wanted.into_iter().find(|(is_set, name)| *is_set && !self.names(name)) {
            return Err(Error::new(Kind::Unsupported, format!("the command line has no {name}")));
        }
        Ok(Box::new(CommandRuntime { settings: settings.clone(), ..self.clone() }))
    }

    fn has_sessions(&self) -> bool {
        false
    }
}

/// The word that stands for the number of threads.
const THREADS: &str = "{threads}";

/// The word that says whether the program may optimize.
const OPTIMIZATIONS: &str = "{optimizations}";

/// The end of the last line of a file that is not blank: programs may say any amount.
fn last_line(said: &Path) -> Option<String> {
    /// Maximum number of bytes that are read.
    const END: u64 = 1024;
    let mut file = File::open(said).ok()?;
    let len = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(len.saturating_sub(END))).ok()?;
    let mut end = Vec::new();
    file.take(END).read_to_end(&mut end).ok()?;
    let end = String::from_utf8_lossy(&end);
    end.lines().rev().find(|line| !line.trim().is_empty()).map(str::to_owned)
}

/// A word with paths in place of their names.
fn filled(word: &str, places: &[(&str, &Path)]) -> Result<String> {
    let (mut out, mut rest) = (String::new(), word);
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let place = places.iter().find(|(name, _)| from.starts_with(name));
        let Some((name, path)) = place else {
            out.push('{');
            rest = &from[1..];
            continue;
        };
        let path = path.to_str().ok_or_else(|| {
            Error::new(Kind::Unsupported, format!("cannot name {} to a command", path.display()))
        })?;
        out.push_str(path);
        rest = &from[name.len()..];
    }
    out.push_str(rest);
    Ok(out)
}

/// Declared types of values that NumPy has no type for, so that their arrays can be read.
fn declared(model: &Path, values: &[&str]) -> Result<Vec<(String, DType)>> {
    let model = Model::open(model)?;
    let typed = model.graph().values().iter().filter_map(|info| match &info.declared {
        Some(Type::Tensor(Some(dtype), _)) if values.contains(&&*info.name) => {
            Some((info.name.to_string(), *dtype))
        }
        _ => None,
    });
    Ok(typed.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_fill_words_and_are_not_read_again() {
        let places = [("{model}", Path::new("a {inputs}.onnx")), ("{inputs}", Path::new("b"))];
        let word = filled("--in={inputs}:{model}:{other}{", &places).unwrap();
        assert_eq!(word, "--in=b:a {inputs}.onnx:{other}{");
    }

    #[test]
    fn command_lines_lack_nothing() {
        for (command, wanted) in [
            ("run {model} {inputs}", "{outputs}"),
            ("run {inputs} {outputs}", "{model}"),
            ("run '{model} {inputs} {outputs}", "quotation"),
            ("", "words"),
        ] {
            let error = CommandRuntime::new(command, Limits::DEFAULT).unwrap_err();
            assert!(error.kind() == Kind::Usage && error.to_string().contains(wanted), "{error}");
        }
    }
}
