//! Remarks of inference about a model: conditions under which facts hold, and errors.

use gradus_core::{Error, Kind};

use super::SubgraphPath;
use crate::dim::Condition;

/// A condition under which the facts hold: the sentence says it, the node is where it was
/// assumed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumption {
    /// `seq_a == seq_b`.
    pub text: String,
    /// The node that needs it.
    pub node: String,
    /// The expressions, within the symbols of the inference; `None` where the sentence is about
    /// inputs.
    pub condition: Option<Condition>,
    /// True if the facts about the inputs say the same by their symbols and bounds.
    pub of_sizes: bool,
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
