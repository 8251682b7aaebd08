//! Remarks of inference about a model: conditions of its inputs, and errors.

use std::sync::Arc;

use gradus_core::text::name_in_message;
use gradus_core::{Error, Kind};

use super::SubgraphPath;
use crate::dim::{Condition, Dim, Symbols};

/// A condition of a model: what must hold of its inputs, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelCondition {
    /// The condition in words: `seq_a == seq_b`.
    pub text: String,
    /// The node that needs it, `the inputs` or `the options`.
    pub node: String,
    /// The relation of expressions, within the symbols of the inference; nothing where the text
    /// alone says it.
    pub relation: Option<Condition>,
    /// The numbers between which the elements of an input must lie, if it says that.
    pub elements: Option<ElementRange>,
    /// The runs in which it applies.
    pub when: When,
    /// Why it must hold.
    pub why: Why,
    /// True if facts rest on it: they are wrong where it fails.
    pub rests: bool,
    /// True if the facts about the inputs say the same by their symbols and bounds.
    pub of_sizes: bool,
}

/// The numbers between which all elements of an input must lie, such as tokens of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementRange {
    /// The name of the input.
    pub input: String,
    /// The smallest number.
    pub min: Dim,
    /// The largest number.
    pub max: Dim,
}

impl ElementRange {
    /// The range in words: `0 <= elements of "ids" <= 99`.
    pub(super) fn text(&self, symbols: &Symbols) -> String {
        let [min, max] = [self.min, self.max].map(|end| symbols.print(end).to_string());
        format!("{min} <= elements of \"{}\" <= {max}", name_in_message(&self.input))
    }
}

/// The runs in which a condition applies.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum When {
    /// In every run.
    Always,
    /// Runs in which these relations hold, by which a branch or a body runs.
    If(Arc<[Condition]>),
    /// Runs in which its node runs, which sizes do not decide.
    Perhaps,
}

impl When {
    /// The relations; none in every run, and nothing where sizes do not decide it.
    pub fn guards(&self) -> Option<&[Condition]> {
        match self {
            When::Always => Some(&[]),
            When::If(all) => Some(all),
            When::Perhaps => None,
        }
    }

    /// The relations as texts; nothing where sizes do not decide it.
    pub fn texts(&self, symbols: &Symbols) -> Option<Vec<String>> {
        Some(self.guards()?.iter().map(|relation| symbols.print_condition(relation)).collect())
    }

    /// The text of a condition, and of the relations under which it applies.
    pub(super) fn text(&self, condition: &Condition, symbols: &Symbols) -> String {
        match self.guards() {
            Some(guards) => symbols.print_guarded(condition, guards),
            None => format!("{} if the node runs", symbols.print_condition(condition)),
        }
    }
}

/// Why a condition must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// A run fails without it.
    Run,
    /// The model or the caller says so, and no run checks it.
    Declared,
    /// Inference takes it for granted.
    Taken,
}

gradus_core::names!(Why { Run = "run", Declared = "declared", Taken = "taken" });

impl ModelCondition {
    /// A condition of inputs that no run checks.
    pub fn declared(text: String, node: &str) -> ModelCondition {
        let stated = ModelCondition::of_node(text, node.to_owned(), When::Always);
        ModelCondition { why: Why::Declared, rests: true, of_sizes: true, ..stated }
    }

    /// A condition in words, without which a run of the node fails.
    pub(super) fn of_node(text: String, node: String, when: When) -> ModelCondition {
        ModelCondition {
            text,
            node,
            relation: None,
            elements: None,
            when,
            why: Why::Run,
            rests: false,
            of_sizes: false,
        }
    }

    /// Writes the text of a relation, as its symbols are named now.
    pub(super) fn print(&mut self, symbols: &Symbols) {
        let Some(relation) = &self.relation else { return };
        self.text = self.when.text(relation, symbols);
    }

    /// The numbers one of which the first expression of the relation must be, if it says that of
    /// two or more: `sr in {8000, 16000}`.
    pub fn among(&self) -> Option<Vec<i64>> {
        Some(self.relation?.among(self.when.guards()?)?.0)
    }

    /// Returns true if it must hold in every run that succeeds.
    pub fn is_of_every_run(&self) -> bool {
        self.why == Why::Run && self.when == When::Always
    }
}

/// Errors in the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The kind of the problem.
    pub kind: Kind,
    /// The node, or the value.
    pub place: String,
    /// The message.
    pub message: String,
    /// The node, by its graph and number, if the problem is one of its own.
    pub node: Option<(SubgraphPath, usize)>,
}

impl Problem {
    /// The problem as an error.
    pub fn error(&self) -> Error {
        Error::new(self.kind, self.message.clone()).in_node(&self.place)
    }
}

/// Adds a problem unless a recent one is the same, as iterations of a loop have it.
pub fn note_once(problems: &mut Vec<Problem>, problem: Problem) {
    /// Problems that are compared, so that many take no more time each.
    const RECENT: usize = 64;
    if !problems.iter().rev().take(RECENT).any(|noted| *noted == problem) {
        problems.push(problem);
    }
}
