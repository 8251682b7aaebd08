//! Values of arguments that have names, which shells complete.

use std::ffi::OsStr;
use std::sync::LazyLock;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command, CommandFactory};
use gradus::fold::Level;
use gradus::sort::SharedSort;
use gradus::{DType, Error, operators, profiles};

use super::Args;
use crate::commands::help::TOPICS;
use crate::completion;

/// A parser of values that have names, which shells complete.
#[derive(Clone)]
pub(super) struct Named<T>(pub(super) fn() -> Vec<&'static str>, pub(super) fn(&str) -> Result<T, Error>);

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Named<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        let parse = self.1;
        let parse = move |text: &str| parse(text);
        StringValueParser::new().try_map(move |text| parse(&text)).parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}

/// Names of element types, but for text.
pub(super) fn element_types() -> Vec<&'static str> {
    DType::ALL.iter().filter(|dtype| **dtype != DType::String).map(|dtype| dtype.name()).collect()
}

/// Names of the levels of folding.
pub(super) fn levels() -> Vec<&'static str> {
    Level::ALL.map(Level::name).to_vec()
}

/// The level of folding of this name.
pub(super) fn level(name: &str) -> Result<Level, Error> {
    name.parse()
}

/// An element type by a name of Gradus, or by one of Python's.
pub(super) fn dtype(name: &str) -> Result<DType, Error> {
    match name {
        "float" | "double" => Ok(DType::F64),
        "half" => Ok(DType::F16),
        "int" => Ok(DType::I64),
        "complex" => Ok(DType::C128),
        _ => name.parse(),
    }
}

/// Names of the profiles.
pub(super) fn profile_names() -> Vec<&'static str> {
    profiles::Profile::ALL.iter().map(|profile| profile.name()).collect()
}

/// The profile of a name, or an error that suggests near names.
pub(super) fn profile(name: &str) -> Result<profiles::Profile, Error> {
    name.parse().map_err(|_| Error::unknown("profile", name, profile_names()))
}

/// Names of devices: the processor, and the APIs of GPUs.
pub(super) fn device_names() -> Vec<&'static str> {
    vec!["cpu", "gpu", "cuda", "vulkan", "metal", "dx12"]
}

/// Names of the operators that Gradus evaluates, sorted.
pub(super) fn operator_names() -> Vec<&'static str> {
    let mut names: Vec<_> = operators::all().filter(|row| row.is_evaluated()).map(|row| row.name).collect();
    names.shared_sort();
    names.dedup();
    names
}

/// The subjects of `gradus help`: commands and topics.
pub(super) fn subjects() -> Vec<&'static str> {
    [command_names(), TOPICS.map(|(topic, _)| topic).to_vec()].concat()
}

/// Names of the commands.
pub(super) fn command_names() -> Vec<&'static str> {
    static GRADUS: LazyLock<Command> = LazyLock::new(Args::command);
    GRADUS.get_subcommands().map(Command::get_name).collect()
}

/// Names of the shells whose completion scripts exist.
pub(super) fn shells() -> Vec<&'static str> {
    completion::SHELLS.names().collect()
}

/// The shell of a name, or an error that suggests near names.
pub(super) fn shell(name: &str) -> Result<String, Error> {
    completion::SHELLS
        .completer(name)
        .map(|shell| shell.name().to_owned())
        .ok_or_else(|| Error::unknown("shell", name, shells()))
}

/// Any text: the command that reads it knows more names.
pub(super) fn any(text: &str) -> Result<String, Error> {
    Ok(text.to_owned())
}
