//! Changes of graphs that edits of all families make.

use gradus_core::graph::Node;

use super::{
    Arc, Editor, Error, Graph, GraphEdit, Kind, Renames, Result, Standard, ValueId, fmt, name_in_message,
};

impl Editor {
    /// Notes what an edit did.
    pub(super) fn note(&mut self, what: impl fmt::Display) {
        self.notes.push(what.to_string());
    }

    /// The main graph as it is so far.
    pub(super) fn graph(&self) -> &Graph {
        self.now.graph()
    }

    /// Changes the main graph.
    pub(super) fn change(&mut self, edit: &GraphEdit) -> Result<()> {
        self.change_names(edit, &Renames::new())
    }

    /// Changes the main graph, and names in it.
    pub(super) fn change_names(&mut self, edit: &GraphEdit, names: &Renames) -> Result<()> {
        let source = self.now.source().apply_renamed(edit, names)?;
        for new in self.names.values_mut() {
            if let Some(newer) = names.get(new) {
                *new = newer.clone();
            }
        }
        for (old, new) in names {
            if !self.names.values().any(|known| known == new) {
                self.names.entry(old.clone()).or_insert_with(|| new.clone());
            }
        }
        self.now = self.now.with_source(source);
        Ok(())
    }

    /// The edit that keeps all nodes of the main graph.
    pub(super) fn keeping(&self) -> GraphEdit {
        GraphEdit::keeping(0..self.graph().nodes().len())
    }

    /// Names of the inputs, or of the outputs.
    pub(super) fn names_of(&self, ids: &[ValueId]) -> Vec<Arc<str>> {
        ids.iter().map(|&id| self.graph().value(id).name.clone()).collect()
    }

    /// Returns an error for an edit that only ONNX models have.
    pub(super) fn must_be_onnx(&self, what: &str) -> Result<()> {
        let standard = self.now.source().standard;
        if standard == Standard::Onnx {
            return Ok(());
        }
        let what = format_args!("cannot {what}: the standard of the model");
        Err(Error::mismatch(Kind::Unsupported, what, standard, Standard::Onnx))
    }

    /// A name like that which no value of the main graph or of the graphs within has.
    pub(super) fn fresh(&self, like: &str) -> Arc<str> {
        let numbered = (1u64..).map(|number| format!("{like}_{number}"));
        let mut names = std::iter::once(like.to_owned()).chain(numbered);
        names.find(|name| !has_value(self.graph(), name)).unwrap_or_default().into()
    }
}

/// Returns true if a value of a graph or of those within has that name.
pub(super) fn has_value(graph: &Graph, name: &str) -> bool {
    graph.find(name).is_some()
        || graph.nodes().iter().flat_map(Node::graphs).any(|graph| has_value(graph, name))
}

/// A number of things: `1 node`, `2 nodes`.
pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A name as messages have it.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name_in_message(name))
}

/// The part of a value in its model, as a word: `input`, `output` or `value`.
pub(super) fn part(graph: &Graph, id: ValueId) -> &'static str {
    if graph.inputs().contains(&id) {
        "input"
    } else if graph.outputs().contains(&id) {
        "output"
    } else {
        "value"
    }
}
