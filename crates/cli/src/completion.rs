//! Completion of command lines: the shell asks the program, which reads the models that are named
//! so far.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Arg, Command, CommandFactory};
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{Bash, Elvish, EnvCompleter, Fish, Powershell, Shells, Zsh};
use gradus::Model;
use gradus::fold::RULES;
use gradus::graph::{DeclaredDim, Graph, Type, ValueId};

use crate::args::Args;

/// The variable by which a shell asks. Its value is the name of the shell.
const VARIABLE: &str = "GRADUS_COMPLETE";

/// Shells that complete. Zsh, fish and Elvish quote what they insert; the others are
/// [`PlainCompleter`].
pub(crate) const SHELLS: Shells<'static> =
    Shells(&[&PlainCompleter(&Bash), &Elvish, &Fish, &PlainCompleter(&Powershell), &Zsh]);

/// Longest name that is offered, in bytes.
const LONGEST: usize = 255;

/// A shell that inserts what it is given as it is: only what it would not interpret is given.
struct PlainCompleter(&'static dyn EnvCompleter);

impl EnvCompleter for PlainCompleter {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn is(&self, name: &str) -> bool {
        self.0.is(name)
    }

    fn write_registration(
        &self,
        var: &str,
        name: &str,
        bin: &str,
        completer: &str,
        out: &mut dyn Write,
    ) -> std::io::Result<()> {
        let mut script = Vec::new();
        self.0.write_registration(var, name, bin, completer, &mut script)?;
        // Bash would insert names of files where nothing is offered.
        out.write_all(String::from_utf8_lossy(&script).replace("-o bashdefault ", "").as_bytes())
    }

    fn write_complete(
        &self,
        command: &mut Command,
        arguments: Vec<OsString>,
        folder: Option<&Path>,
        out: &mut dyn Write,
    ) -> std::io::Result<()> {
        let mut all = Vec::new();
        self.0.write_complete(command, arguments, folder, &mut all)?;
        // Bash separates values by vertical tabs, PowerShell by lines, with help after a tab.
        let separator = if self.0.is("bash") { '\u{b}' } else { '\n' };
        let all = String::from_utf8_lossy(&all);
        let lines = all.split(separator).filter(|line| is_inert(line.split('\t').next().unwrap_or_default()));
        out.write_all(lines.collect::<Vec<_>>().join(&separator.to_string()).as_bytes())
    }
}

/// Returns true if no shell interprets any part of a text.
fn is_inert(text: &str) -> bool {
    let is_inert = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '+' | '=');
    text.chars().all(is_inert) && !text.starts_with('=')
}

/// Answers a shell that asks how a command line can go on. Returns false if none asks.
///
/// # Errors
/// Errors of `clap`, such as an unknown shell.
pub(crate) fn answer(arguments: &[OsString]) -> Result<bool, clap::Error> {
    let line: Vec<_> = arguments.iter().skip_while(|argument| *argument != "--").skip(3).cloned().collect();
    let command = move || command(&line);
    CompleteEnv::with_factory(command)
        .var(VARIABLE)
        .shells(SHELLS)
        .try_complete(arguments, std::env::current_dir().ok().as_deref())
}

/// The script that lets a shell ask.
pub(crate) fn script(shell: &str) -> std::io::Result<Vec<u8>> {
    let mut script = Vec::new();
    if let Some(shell) = SHELLS.completer(shell) {
        shell.write_registration(VARIABLE, "gradus", "gradus", "gradus", &mut script)?;
    }
    Ok(script)
}

/// The commands, whose arguments take what the models of the line have.
fn command(line: &[OsString]) -> Command {
    let files: Vec<_> = line.iter().map(PathBuf::from).filter(|path| path.is_file()).collect();
    Args::command().mut_subcommands(move |command| {
        let files = files.clone();
        command.mut_args(move |argument| with_names(argument, &files))
    })
}

/// Names that an argument takes, of a model.
type Names = fn(&Graph) -> Vec<String>;

/// The argument, which completes names if it takes some.
fn with_names(argument: Arg, files: &[PathBuf]) -> Arg {
    let (names, end): (Names, _) = match argument.get_id().as_str() {
        "inputs" | "input_shapes" | "set" => (inputs, "="),
        "dims" | "least" | "ranges" => (dimensions, "="),
        "outputs" => (outputs, ""),
        "why" => (values, ""),
        "op" => (operators, ""),
        "rules" | "no_rules" => {
            let rules = |typed: &OsStr| candidates(RULES.iter().map(|rule| rule.name.to_owned()), typed);
            return argument.add(ArgValueCompleter::new(rules));
        }
        _ => return argument,
    };
    let files = files.to_vec();
    argument.add(ArgValueCompleter::new(move |typed: &OsStr| {
        // A file that is no model, or an invalid one, has no names.
        let models = files.iter().filter_map(|path| Model::open(path).ok());
        let names = models.flat_map(|model| names(model.graph()));
        candidates(names.map(|name| name + end), typed)
    }))
}

/// The names that begin as what is typed, each once. Names that a shell could interpret are left
/// out whatever the shell quotes, and so are those that the program could take for an option.
fn candidates(names: impl Iterator<Item = String>, typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let is_offered = |name: &str| name.len() <= LONGEST && is_inert(name) && !name.starts_with('-');
    let names = names.filter(|name| name.starts_with(&*typed) && is_offered(name));
    let names: BTreeSet<_> = names.collect();
    names.into_iter().map(CompletionCandidate::new).collect()
}

fn named(graph: &Graph, values: impl Iterator<Item = ValueId>) -> Vec<String> {
    values.map(|id| graph.value(id).name.to_string()).collect()
}

fn inputs(graph: &Graph) -> Vec<String> {
    named(graph, graph.inputs().iter().copied())
}

fn outputs(graph: &Graph) -> Vec<String> {
    named(graph, graph.outputs().iter().copied())
}

fn values(graph: &Graph) -> Vec<String> {
    graph.values().iter().map(|value| value.name.to_string()).collect()
}

fn operators(graph: &Graph) -> Vec<String> {
    graph.nodes().iter().map(|node| node.operator.name.to_string()).collect()
}

/// The names of the dimensions of inputs.
fn dimensions(graph: &Graph) -> Vec<String> {
    let declared = graph.inputs().iter().filter_map(|&id| graph.value(id).declared.as_ref());
    let sizes = declared.filter_map(|declared| match declared {
        Type::Tensor(_, sizes) => sizes.as_ref(),
        _ => None,
    });
    let names = sizes.flatten().filter_map(|size| match size {
        DeclaredDim::Symbol(name) => Some(name.to_string()),
        _ => None,
    });
    names.collect()
}
