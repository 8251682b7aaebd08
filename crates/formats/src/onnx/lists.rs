//! Long lists of attributes, each kept once.

use std::collections::HashMap;
use std::sync::Arc;

use gradus_core::graph::{Content, Graph, Model};

/// Lists from this length on are looked for.
const LONG: usize = 1 << 10;

/// The long lists that were read before, by their lengths. A model that is read after an edit
/// shares them with its source: trees have millions of elements.
#[derive(Default)]
pub(super) struct LongLists(HashMap<usize, Vec<Content>>);

impl LongLists {
    /// The lists of the graphs of a model, which stay with it.
    pub(super) fn of(model: &Model) -> LongLists {
        let mut lists = LongLists::default();
        lists.add(&model.graph);
        model.functions.iter().for_each(|function| lists.add(&function.body));
        lists
    }

    fn add(&mut self, graph: &Graph) {
        for attribute in graph.nodes().iter().flat_map(|node| &node.attributes) {
            match &attribute.content {
                Content::Graph(graph) => self.add(graph),
                Content::Graphs(graphs) => graphs.iter().for_each(|graph| self.add(graph)),
                content => drop(self.share(content.clone())),
            }
        }
    }

    /// An equal list that was read before, or this one.
    pub(super) fn share(&mut self, content: Content) -> Content {
        let Some(len) = length(&content).filter(|&len| len >= LONG) else { return content };
        let known = self.0.entry(len).or_default();
        if let Some(equal) = known.iter().find(|known| are_equal(known, &content)) {
            return equal.clone();
        }
        // Lists of one length that all differ are not compared again and again.
        if known.len() < MAX_ALIKE {
            known.push(content.clone());
        }
        content
    }
}

/// Maximum number of lists of one length that are compared.
const MAX_ALIKE: usize = 32;

fn length(content: &Content) -> Option<usize> {
    match content {
        Content::Floats(all) => Some(all.len()),
        Content::Ints(all) => Some(all.len()),
        Content::Strings(all) => Some(all.len()),
        _ => None,
    }
}

fn are_equal(a: &Content, b: &Content) -> bool {
    let bits = |all: &Arc<[f32]>, other: &Arc<[f32]>| {
        all.iter().map(|x| x.to_bits()).eq(other.iter().map(|x| x.to_bits()))
    };
    match (a, b) {
        (Content::Floats(a), Content::Floats(b)) => Arc::ptr_eq(a, b) || bits(a, b),
        (Content::Ints(a), Content::Ints(b)) => Arc::ptr_eq(a, b) || a == b,
        (Content::Strings(a), Content::Strings(b)) => a == b,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(lists: &mut LongLists, content: Content) -> bool {
        let own = match &content {
            Content::Ints(all) => all.as_ptr().addr(),
            Content::Floats(all) => all.as_ptr().addr(),
            _ => 0,
        };
        match lists.share(content) {
            Content::Ints(all) => all.as_ptr().addr() != own,
            Content::Floats(all) => all.as_ptr().addr() != own,
            _ => false,
        }
    }

    #[test]
    fn equal_long_lists_are_one() {
        let mut lists = LongLists::default();
        let ints = |first: i64, len: usize| {
            let mut all = vec![1i64; len];
            all[0] = first;
            Content::Ints(all.into())
        };
        assert!(!shared(&mut lists, ints(0, LONG)));
        assert!(shared(&mut lists, ints(0, LONG)));
        assert!(!shared(&mut lists, ints(2, LONG)));
        assert!(!shared(&mut lists, ints(0, LONG + 1)));
        assert!(!shared(&mut lists, ints(0, 3)));
        assert!(!shared(&mut lists, ints(0, 3)));
    }

    #[test]
    fn zeros_of_other_signs_are_other_floats() {
        let mut lists = LongLists::default();
        assert!(!shared(&mut lists, Content::Floats(vec![0f32; LONG].into())));
        assert!(!shared(&mut lists, Content::Floats(vec![-0f32; LONG].into())));
        assert!(shared(&mut lists, Content::Floats(vec![-0f32; LONG].into())));
    }
}
