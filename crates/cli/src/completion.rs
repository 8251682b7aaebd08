//! Completion of command lines: the shell asks the program, which reads the models that are named
//! so far.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Arg, Command, CommandFactory};
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::Shells;
use gradus::Model;
use gradus::fold::RULES;
use gradus::graph::{DeclaredDim, Graph, Type, ValueId};

use crate::args::Args;

/// The variable by which a shell asks. Its value is the name of the shell.
const VARIABLE: &str = "GRADUS_COMPLETE";

/// Shells that complete.
pub(crate) const SHELLS: Shells<'static> = Shells::builtins();

/// Answers a shell that asks how a command line can go on. Returns false if none asks.
///
/// # Errors
/// Those of `clap`, such as a shell that is not known.
pub(crate) fn answer(arguments: &[OsString]) -> Result<bool, clap::Error> {
    let line: Vec<_> = arguments.iter().skip_while(|argument| *argument != "--").skip(3).cloned().collect();
    let command = move || command(&line);
    CompleteEnv::with_factory(command)
        .var(VARIABLE)
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
        "inputs" | "input_shapes" => (inputs, "="),
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

/// The names that begin as what is typed, each once.
fn candidates(names: impl Iterator<Item = String>, typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let names: BTreeSet<_> = names.filter(|name| name.starts_with(&*typed)).collect();
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
