//! The report of a conversion.

use std::cmp::Reverse;
use std::fmt;

use foldhash::{HashMap, HashSet};
use gradus_core::sort::SharedSort;
use gradus_core::{Error, Kind};

/// The relation of the results of a converted node to those of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Exactness {
    /// The same bits by the texts of both standards, for every input that the source standard
    /// defines.
    Exact,
    /// The same numbers except for rounding, which one of the standards leaves open, or which
    /// happens at another operation.
    Rounding,
    /// The same bits, except for the inputs that the caveat names.
    EdgeCases,
}

gradus_core::names!(Exactness { Exact = "exact", Rounding = "rounding", EdgeCases = "edge cases" });

/// A node whose meaning is not kept bit for bit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Note {
    /// The index of the node in the main graph of the source, or of the node that is around it.
    pub node: usize,
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
pub struct ConversionReport {
    /// Nodes that were converted, those of subgraphs included.
    pub nodes: usize,
    /// Nodes whose meaning is not kept bit for bit, in order; nodes that are not named are exact.
    pub notes: Vec<Note>,
    /// Descriptions that the other format cannot hold: bounds and names of dimensions,
    /// defaults, metadata.
    pub lost: Vec<String>,
    /// The notes, to find those that are there.
    noted: HashSet<Note>,
    /// The losses, to find those that are there.
    known_lost: HashSet<String>,
}

impl ConversionReport {
    /// Returns true if all nodes are exact.
    pub fn is_exact(&self) -> bool {
        self.notes.is_empty()
    }

    /// Notes a place once.
    pub fn note(&mut self, note: Note) {
        if self.noted.insert(note.clone()) {
            self.notes.push(note);
        }
    }

    /// Notes once what is lost.
    pub fn lose(&mut self, what: String) {
        if self.known_lost.insert(what.clone()) {
            self.lost.push(what);
        }
    }
}

/// Returns the error of a property that inference does not know but the other standard states.
pub fn not_known(what: &str) -> Error {
    let what = format_args!("cannot convert: {what}");
    Error::mismatch(Kind::Unsupported, what, "unknown", "known before the run")
}

/// Returns the error of a feature that the other standard lacks.
pub fn cannot(why: impl Into<String>) -> Error {
    Error::new(Kind::Unsupported, why)
}

/// A node that keeps a model from being converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// The operator as its standard names it: `onnx SequenceEmpty-11`.
    pub operator: String,
    /// Why it is not converted, with its location.
    pub error: Error,
}

/// All nodes that keep a model from being converted, in order: the source of the error where there
/// are several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacles(pub Vec<Obstacle>);

impl Obstacles {
    /// The obstacles that an error of `Model::convert` is about, if there
    /// are several.
    pub fn of(error: &Error) -> Option<&Obstacles> {
        std::error::Error::source(error)?.downcast_ref()
    }

    /// Obstacles of one operator and one reason, by the first of them: how many there are, and that
    /// one.
    pub fn groups(&self) -> Vec<(usize, &Obstacle)> {
        let mut groups: Vec<(usize, &Obstacle)> = Vec::new();
        let mut seen = HashMap::default();
        for obstacle in &self.0 {
            let group = *seen.entry((&obstacle.operator, obstacle.error.message())).or_insert(groups.len());
            match groups.get_mut(group) {
                Some((count, _)) => *count += 1,
                None => groups.push((1, obstacle)),
            }
        }
        groups.shared_sort_by_key(|(count, _)| Reverse(*count));
        groups
    }

    /// The error of a conversion that they keep from being made: that of the only one, or one about
    /// all of them; the target is `to openvino` or `for onnxruntime`.
    pub fn error(mut self, target: &str, nodes: usize) -> Error {
        if let [_] = &self.0[..] {
            return self.0.remove(0).error;
        }
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for (count, obstacle) in self.groups() {
            match counts.iter_mut().find(|(operator, _)| *operator == obstacle.operator) {
                Some((_, all)) => *all += count,
                None => counts.push((&obstacle.operator, count)),
            }
        }
        let counts: Vec<_> = counts.iter().map(|(operator, count)| format!("{count} {operator}")).collect();
        let message =
            format!("cannot convert {} of {nodes} nodes {target}: {}", self.0.len(), counts.join(", "));
        Error::new(Kind::Unsupported, message).with_source(self)
    }
}

impl fmt::Display for Obstacles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (count, obstacle)) in self.groups().iter().enumerate() {
            let line = if index > 0 { "\n" } else { "" };
            write!(f, "{line}{count} {}, the first: {}", obstacle.operator, obstacle.error)?;
        }
        Ok(())
    }
}

impl std::error::Error for Obstacles {}
