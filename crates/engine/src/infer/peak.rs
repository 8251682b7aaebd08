//! The most bytes that values occupy at one time.

use std::collections::BTreeMap;

use foldhash::HashMap;
use gradus_core::DType;
use gradus_core::convert::i64_of;
use gradus_core::graph::{Graph, Node, ValueId};

use super::rules::graphs_of_node;
use super::{Inference, Reuse, Rooms, SubgraphFacts};
use crate::constants::is_constant_node;
use crate::dim::{Combination, Dim, Symbols};
use crate::fact::Fact;
use crate::source::Source;

/// Maximum number of operands of the maximum that a peak is.
const MAX_ARMS: usize = 3;

/// The most bytes that values occupy at one time.
#[derive(Clone, Copy, Debug)]
pub struct Peak {
    /// An upper bound wherever each symbol of the inputs is at least 1. Symbols that the data
    /// decide count with what they are at most, where that is known.
    pub bytes: Dim,
    /// The node at which it is if every symbol is 1000.
    pub node: usize,
    /// Values whose size is not known.
    pub unknown: usize,
}

impl Inference {
    /// Bytes that a value occupies, as an expression; nothing for text and what is not a tensor of
    /// known rank.
    pub fn bytes(&mut self, id: ValueId) -> Option<Dim> {
        bytes_of(&mut self.symbols, &self.facts[id.index()])
    }

    /// The most bytes of all values of a graph's nodes that are needed at one time, where nodes run
    /// in order and a value is kept until the last node that reads it: the maximum over those nodes
    /// whose sum is not known to be at most that of another.
    ///
    /// While a node runs a graph, the values within it are added. Outputs that take the room of an
    /// input need no bytes of their own.
    pub fn peak(&mut self, model: &Source, reuse: Reuse) -> Option<Peak> {
        let (events, unknown) = self.events(model, reuse);
        let (first, node) = self.largest_at_1000(&events)?;
        let bytes = self.largest(&events, first)?;
        Some(Peak { bytes, node, unknown })
    }

    /// The maximum over all sums that are not known to be at most that of another, of which one is
    /// known.
    fn largest(&mut self, events: &[Event], first: Combination) -> Option<Dim> {
        let mut sizes: HashMap<Dim, Combination> = HashMap::default();
        let (mut arms, mut live) = (vec![first], Combination::default());
        for event in events {
            let (bytes, times) = match *event {
                Event::Made(bytes) => (bytes, 1),
                Event::Freed(bytes) => (bytes, -1),
                Event::Full(_) => {
                    if arms.iter().all(|arm| !self.symbols.covers(arm, &live)) {
                        arms.retain(|arm| !self.symbols.covers(&live, arm));
                        arms.push(live.clone());
                    }
                    if arms.len() > MAX_ARMS {
                        join_nearest(&self.symbols, &mut arms);
                    }
                    continue;
                }
            };
            live.add(sizes.entry(bytes).or_insert_with(|| self.symbols.combination(bytes)), times);
        }
        let mut bytes = Dim::ZERO;
        for arm in &arms {
            let arm = self.symbols.expression(arm)?;
            bytes = self.symbols.max(bytes, arm)?;
        }
        Some(bytes)
    }

    /// When values of known sizes are made and freed; and how many have no known size.
    pub fn events(&mut self, model: &Source, reuse: Reuse) -> (Vec<Event>, usize) {
        let facts = std::mem::take(&mut self.facts);
        let bodies = SubgraphFacts::new(self.bodies.clone());
        let found = self.events_in(&Graphs { model, bodies, reuse }, model.graph(), &facts, &mut Vec::new());
        self.facts = facts;
        found
    }

    fn events_in(
        &mut self,
        graphs: &Graphs<'_>,
        graph: &Graph,
        facts: &[Fact],
        place: &mut Vec<(usize, usize)>,
    ) -> (Vec<Event>, usize) {
        let rooms = Rooms::new(graphs.model, graph, facts, graphs.reuse);
        // A node usually allocates a value, is full, and frees another.
        let (mut events, mut unknown) = (Vec::with_capacity(3 * graph.nodes().len()), 0);
        let mut sizes = vec![None; graph.values().len()];
        for (step, &index) in graph.order().iter().enumerate() {
            let node = &graph.nodes()[index];
            let within = self.bytes_within(graphs, node, index, place);
            unknown += usize::from(within.is_none());
            let (within, iterates) = within.unwrap_or((Dim::ZERO, false));
            if within != Dim::ZERO {
                events.push(Event::Made(within));
                // A graph that runs once returns the node's output itself, not a copy.
                if !iterates {
                    events.extend([Event::Full(index), Event::Freed(within)]);
                }
            }
            // The value of a node `Constant` is memory of the file.
            let made = node.outputs.iter().copied().flatten().filter(|_| !is_constant_node(node));
            for id in made {
                let bytes = bytes_of(&mut self.symbols, &facts[id.index()]);
                unknown += usize::from(bytes.is_none());
                if rooms.of(id) == id {
                    events.extend(bytes.map(Event::Made));
                    sizes[id.index()] = bytes;
                }
            }
            events.push(Event::Full(index));
            if within != Dim::ZERO && iterates {
                events.push(Event::Freed(within));
            }
            for id in node.needs().chain(node.outputs.iter().copied().flatten()) {
                if rooms.ends(id, step) {
                    events.extend(sizes[rooms.of(id).index()].take().map(Event::Freed));
                }
            }
            // A sum that only grows is at most the one that follows.
            if matches!(events[..], [.., Event::Full(_)]) && graph.order().last() != Some(&index) {
                events.pop();
            }
        }
        (events, unknown)
    }

    /// The most bytes of values within graphs, beyond those of the outputs of the nodes that run
    /// them: by the place of the node in the order of the run.
    pub fn within(&mut self, model: &Source) -> Vec<(usize, Dim)> {
        let (graph, mut found) = (model.graph(), Vec::new());
        let bodies = SubgraphFacts::new(self.bodies.clone());
        let graphs = Graphs { model, bodies, reuse: Reuse::None };
        for (step, &index) in graph.order().iter().enumerate() {
            let node = &graph.nodes()[index];
            let within = self.bytes_within(&graphs, node, index, &mut Vec::new());
            let Some((bytes, iterates)) = within.filter(|&(bytes, _)| bytes != Dim::ZERO) else { continue };
            let outputs = node.outputs.iter().copied().flatten().filter(|_| !iterates);
            let beyond = outputs.into_iter().try_fold(bytes, |left, id| {
                let output = self.bytes(id).unwrap_or(Dim::ZERO);
                self.symbols.subtract(left, output)
            });
            let beyond = beyond.and_then(|beyond| self.symbols.max(beyond, Dim::ZERO));
            found.push((step, beyond.unwrap_or(bytes)));
        }
        found
    }

    /// The most bytes of values within the graphs that a node runs, of which one runs at a time, and
    /// whether one runs more than once; nothing if they are not known.
    fn bytes_within(
        &mut self,
        graphs: &Graphs<'_>,
        node: &Node,
        index: usize,
        place: &mut Vec<(usize, usize)>,
    ) -> Option<(Dim, bool)> {
        let (mut most, mut iterates) = (Dim::ZERO, false);
        for (number, graph) in graphs_of_node(graphs.model, node).enumerate() {
            place.push((index, number));
            let bytes = self.bytes_of_graph(graphs, graph, place);
            iterates |= self.iterates(place);
            place.pop();
            most = self.symbols.max(most, bytes?)?;
        }
        Some((most, iterates))
    }

    fn iterates(&self, place: &[(usize, usize)]) -> bool {
        self.runs(place).is_some_and(|runs| runs.count != Dim::ZERO && runs.count != Dim::ONE)
    }

    fn bytes_of_graph(
        &mut self,
        graphs: &Graphs<'_>,
        graph: &Graph,
        place: &mut Vec<(usize, usize)>,
    ) -> Option<Dim> {
        let runs = self.runs(place);
        if runs.is_some_and(|runs| runs.count == Dim::ZERO) {
            return Some(Dim::ZERO);
        }
        let facts = graphs.bodies.get(place)?;
        let (events, unknown) = self.events_in(graphs, graph, facts, place);
        if unknown > 0 {
            return None;
        }
        let mut bytes = match self.largest_at_1000(&events) {
            Some((first, _)) => self.largest(&events, first)?,
            None => Dim::ZERO,
        };
        if let Some(runs) = runs.filter(|_| self.iterates(place)) {
            // The values of the iteration before, which this one reads.
            for id in graph.inputs() {
                let input = bytes_of(&mut self.symbols, &facts[id.index()])?;
                bytes = self.symbols.add(bytes, input)?;
            }
            if self.symbols.is_newer(bytes, runs.mark) {
                bytes = self.symbols.at_most(bytes)?;
            }
            if self.symbols.is_newer(bytes, runs.mark) {
                return None;
            }
        }
        Some(bytes)
    }

    /// The largest sum where every symbol is 1000, and its node.
    fn largest_at_1000(&mut self, events: &[Event]) -> Option<(Combination, usize)> {
        let mut sizes: HashMap<Dim, i64> = HashMap::default();
        let symbols = &self.symbols;
        let mut size = |bytes| {
            *sizes.entry(bytes).or_insert_with(|| symbols.evaluate(bytes, &|_| Some(1000)).unwrap_or(0))
        };
        let (mut now, mut best): (i64, Option<(i64, usize, usize)>) = (0, None);
        for (place, event) in events.iter().enumerate() {
            match *event {
                Event::Made(bytes) => now = now.saturating_add(size(bytes)),
                Event::Freed(bytes) => now = now.saturating_sub(size(bytes)),
                Event::Full(node) if best.is_none_or(|(most, ..)| now > most) => {
                    best = Some((now, place, node));
                }
                Event::Full(_) => {}
            }
        }
        let (_, place, node) = best?;
        let mut counts: BTreeMap<Dim, i128> = BTreeMap::new();
        for event in &events[..place] {
            match *event {
                Event::Made(bytes) => *counts.entry(bytes).or_default() += 1,
                Event::Freed(bytes) => *counts.entry(bytes).or_default() -= 1,
                Event::Full(_) => {}
            }
        }
        let mut sum = Combination::default();
        for (bytes, count) in counts {
            sum.add(&self.symbols.combination(bytes), count);
        }
        Some((sum, node))
    }
}

/// Joins those two of at least two combinations that it makes least larger.
fn join_nearest(symbols: &Symbols, arms: &mut Vec<Combination>) {
    let about = |arm: &Combination| symbols.about(arm, 1000);
    let pairs = (0..arms.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
    let more = |&(a, b): &(usize, usize)| {
        about(&arms[a].clone().join(arms[b].clone())).saturating_sub(about(&arms[a]).max(about(&arms[b])))
    };
    let nearest = pairs.min_by_key(more);
    if let Some((a, b)) = nearest {
        let joined = arms.swap_remove(b);
        arms[a] = std::mem::take(&mut arms[a]).join(joined);
    }
}

/// A step of a run in order.
pub enum Event {
    /// A node makes a value of this many bytes.
    Made(Dim),
    /// A node has its inputs and outputs, and values are freed after it.
    Full(usize),
    /// A value is no longer needed.
    Freed(Dim),
}

/// A model, the facts of the graphs within its nodes, and the outputs that need no bytes.
struct Graphs<'m> {
    model: &'m Source,
    bodies: SubgraphFacts,
    reuse: Reuse,
}

/// Bytes of a tensor; nothing for text and what is not a tensor of known rank.
pub fn bytes_of(symbols: &mut Symbols, fact: &Fact) -> Option<Dim> {
    let fact = fact.as_tensor()?;
    let bits = fact.dtype.map(DType::bits).filter(|&bits| bits > 0)?;
    let count = symbols.product(fact.dims.as_ref()?.iter().copied())?;
    let bits = symbols.multiply(count, Dim::Known(i64_of(bits)))?;
    symbols.ceil_divide(bits, Dim::Known(8))
}
