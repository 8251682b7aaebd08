//! The report of a conversion.

use std::collections::HashSet;
use std::fmt;

use gradus_core::{Error, Kind};

/// How a converted node is to the one that it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Exactness {
    /// The same bits, by the texts of both standards, for all that the source gives a meaning to.
    Exact,
    /// The same numbers, but for rounding: one of the texts leaves it open, or it happens
    /// elsewhere.
    Rounding,
    /// The same bits but for inputs that the sentence names.
    EdgeCases,
}

impl Exactness {
    /// The word that is printed: `exact`, `rounding`, `edge cases`.
    pub const fn name(self) -> &'static str {
        match self {
            Exactness::Exact => "exact",
            Exactness::Rounding => "rounding",
            Exactness::EdgeCases => "edge cases",
        }
    }
}

impl fmt::Display for Exactness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Where the meaning of a node is not kept bit for bit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Note {
    /// The node, after those around it: `node "pos"`.
    pub place: String,
    /// The operator as its standard names it: `onnx Range-11`.
    pub operator: String,
    /// The property that is not kept.
    pub exactness: Exactness,
    /// Why, in a sentence.
    pub why: String,
}

/// The outcome for a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConversionReport {
    /// Nodes that were converted, those of subgraphs included.
    pub nodes: usize,
    /// Where the meaning is not kept bit for bit, in the order of the nodes; nodes that are not
    /// named are exact.
    pub notes: Vec<Note>,
    /// Descriptions that the other format cannot hold: bounds and names of dimensions,
    /// defaults, metadata.
    pub lost: Vec<String>,
    /// The notes, to find those that are there.
    noted: HashSet<Note>,
}

impl ConversionReport {
    /// Returns true if all nodes are exact.
    pub fn is_exact(&self) -> bool {
        self.notes.is_empty()
    }

    /// Notes a place once.
    pub(crate) fn note(&mut self, note: Note) {
        if self.noted.insert(note.clone()) {
            self.notes.push(note);
        }
    }

    /// Notes once what is lost.
    pub(crate) fn lose(&mut self, what: String) {
        if !self.lost.contains(&what) {
            self.lost.push(what);
        }
    }
}

/// Returns the error of a property that inference does not know but the other standard states.
pub(crate) fn not_known(what: &str) -> Error {
    let what = format_args!("cannot convert: {what}");
    Error::mismatch(Kind::Unsupported, what, "unknown", "known before the run")
}

/// Returns the error of a feature that the other standard lacks.
pub(crate) fn cannot(why: impl Into<String>) -> Error {
    Error::new(Kind::Unsupported, why)
}
