//! Nodes that are known by a number in their tree.

use std::cell::Cell;

use gradus_core::sort::SharedSort;
use gradus_core::{Error, Kind, Result};

use crate::ml::trees::ensemble::{Child, at, index};

/// A tree: its number, and where its nodes begin and end in the order of numbers.
struct NumberedTree {
    number: i64,
    start: u32,
    end: u32,
}

/// The nodes and leaves of trees, by the numbers of their tree and of themselves.
pub(super) struct NumberedNodes<'a> {
    ids: &'a [i64],
    /// The nodes in the order of their numbers; nothing if they are listed so.
    order: Option<Vec<u32>>,
    trees: Vec<NumberedTree>,
    /// The first of each tree that is listed, in the order of the list.
    roots: Vec<u32>,
    /// The kind of each node of the ensemble.
    children: Vec<Child>,
    leaves: usize,
    /// The tree that was looked up last: the next is this one or follows it.
    last: Cell<usize>,
}

impl<'a> NumberedNodes<'a> {
    /// The nodes of these trees and numbers, and whether each is a leaf.
    ///
    /// # Errors
    /// [`Kind::Graph`] if two nodes of a tree have one number.
    pub(super) fn new(
        numbers: &[i64],
        ids: &'a [i64],
        are_leaves: impl ExactSizeIterator<Item = bool>,
    ) -> Result<NumberedNodes<'a>> {
        let count = ids.len();
        let (mut inner, mut leaves, mut children) = (0, 0, Vec::with_capacity(count));
        for is_leaf in are_leaves {
            let next = if is_leaf { &mut leaves } else { &mut inner };
            let own = index(*next)?;
            children.push(if is_leaf { Child::Leaf(own) } else { Child::Node(own) });
            *next += 1;
        }
        let end = index(count)?;
        let key = |node: usize| (numbers[node], ids[node]);
        let order = if (1..count).all(|node| key(node - 1) < key(node)) {
            None
        } else {
            let mut order: Vec<_> = (0..end).collect();
            order.shared_sort_by_key(|&node| key(at(node)));
            Some(order)
        };
        let node = |place: usize| order.as_ref().map_or(place, |order| at(order[place]));
        let (mut trees, mut roots) = (Vec::<NumberedTree>::new(), Vec::new());
        for next in 0..end {
            let place = at(next);
            let (number, id) = key(node(place));
            match trees.last_mut() {
                Some(tree) if tree.number == number => {
                    if key(node(place - 1)) == (number, id) {
                        let message = format!("node {id} of tree {number} is defined twice");
                        return Err(Error::new(Kind::Graph, message));
                    }
                    tree.end += 1;
                    if let Some(first) = roots.last_mut() {
                        *first = index(node(place))?.min(*first);
                    }
                }
                _ => {
                    trees.push(NumberedTree { number, start: next, end: next + 1 });
                    roots.push(index(node(place))?);
                }
            }
        }
        roots.shared_sort();
        Ok(NumberedNodes { ids, order, trees, roots, children, leaves, last: Cell::new(0) })
    }

    /// Number of leaves.
    pub(super) fn leaves(&self) -> usize {
        self.leaves
    }

    /// Number of nodes with children.
    pub(super) fn inner(&self) -> usize {
        self.children.len() - self.leaves
    }

    /// The first node of each tree, in the order in which they are listed.
    pub(super) fn roots(&self) -> impl Iterator<Item = Child> {
        self.roots.iter().map(|&node| self.children[at(node)])
    }

    fn node(&self, place: usize) -> usize {
        self.order.as_ref().map_or(place, |order| at(order[place]))
    }

    fn tree(&self, number: i64) -> Option<&NumberedTree> {
        let last = self.last.get();
        let near = (last..self.trees.len().min(last + 2)).find(|&tree| self.trees[tree].number == number);
        let found = near.or_else(|| self.trees.binary_search_by_key(&number, |tree| tree.number).ok())?;
        self.last.set(found);
        self.trees.get(found)
    }

    /// The node or leaf of a number in a tree.
    ///
    /// # Errors
    /// [`Kind::Graph`] if there is none.
    pub(super) fn child(&self, number: i64, id: i64) -> Result<Child> {
        let found = self.tree(number).and_then(|tree| {
            // Numbers are consecutive in most trees.
            let first = self.ids[self.node(at(tree.start))];
            let near = id
                .checked_sub(first)
                .and_then(|offset| at(tree.start).checked_add_signed(offset.try_into().ok()?));
            let near = near.filter(|&place| place < at(tree.end) && self.ids[self.node(place)] == id);
            let search = || {
                let (mut start, mut end) = (at(tree.start), at(tree.end));
                while start < end {
                    let middle = start + (end - start) / 2;
                    if self.ids[self.node(middle)] < id { start = middle + 1 } else { end = middle }
                }
                (start < at(tree.end) && self.ids[self.node(start)] == id).then_some(start)
            };
            near.or_else(search)
        });
        let missing = || Error::new(Kind::Graph, format!("node {id} of tree {number} is missing"));
        found.map(|place| self.children[self.node(place)]).ok_or_else(missing)
    }
}
