//! The most bytes that values occupy at one time.

use std::collections::BTreeMap;

use foldhash::HashMap;
use gradus_core::DType;
use gradus_core::convert::i64_of;
use gradus_core::graph::{Graph, ValueId};

use super::Inference;
use crate::dim::{Combination, Dim, Symbols};
use crate::fact::Fact;

/// Most operands of the maximum that a peak is.
const MOST_ARMS: usize = 3;

/// The most bytes that values occupy at one time.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
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
        bytes(&mut self.symbols, &self.facts[id.index()])
    }

    /// The most bytes of all values of a graph's nodes that are needed at one time, where nodes run
    /// in order and a value is kept until the last node that reads it: the maximum over those nodes
    /// whose sum is not known to be at most that of another.
    pub fn peak(&mut self, graph: &Graph) -> Option<Peak> {
        let (events, unknown) = self.events(graph);
        let (first, node) = self.largest_at_1000(&events)?;
        let mut sizes: HashMap<Dim, Combination> = HashMap::default();
        let (mut arms, mut live) = (vec![first], Combination::default());
        for event in &events {
            let (bytes, times) = match *event {
                Event::Made(bytes) => (bytes, 1),
                Event::Freed(bytes) => (bytes, -1),
                Event::Full(_) => {
                    if arms.iter().all(|arm| !self.symbols.covers(arm, &live)) {
                        arms.retain(|arm| !self.symbols.covers(&live, arm));
                        arms.push(live.clone());
                    }
                    if arms.len() > MOST_ARMS {
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
        Some(Peak { bytes, node, unknown })
    }

    /// When values of known sizes are made and freed; and how many have no known size.
    pub(crate) fn events(&mut self, graph: &Graph) -> (Vec<Event>, usize) {
        let mut last_use: Vec<Option<usize>> = vec![None; graph.values().len()];
        for &index in graph.order() {
            graph.nodes()[index].needs().for_each(|id| last_use[id.index()] = Some(index));
        }
        let kept = usize::MAX;
        graph.outputs().iter().for_each(|id| last_use[id.index()] = Some(kept));
        let (mut events, mut unknown) = (Vec::new(), 0);
        let mut sizes = vec![None; graph.values().len()];
        for &index in graph.order() {
            let node = &graph.nodes()[index];
            for id in node.outputs.iter().copied().flatten() {
                let bytes = self.bytes(id);
                unknown += usize::from(bytes.is_none());
                events.extend(bytes.map(Event::Made));
                sizes[id.index()] = bytes;
            }
            events.push(Event::Full(index));
            for id in node.needs().chain(node.outputs.iter().copied().flatten()) {
                if last_use[id.index()].is_none_or(|last| last == index) {
                    events.extend(sizes[id.index()].take().map(Event::Freed));
                }
            }
            // A sum that only grows is at most the one that follows.
            if matches!(events[..], [.., Event::Full(_)]) && graph.order().last() != Some(&index) {
                events.pop();
            }
        }
        (events, unknown)
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
pub(crate) enum Event {
    /// A value of so many bytes is made.
    Made(Dim),
    /// A node has its inputs and outputs, and values are freed after it.
    Full(usize),
    /// A value is no longer needed.
    Freed(Dim),
}

fn bytes(symbols: &mut Symbols, fact: &Fact) -> Option<Dim> {
    let fact = fact.as_tensor()?;
    let bits = fact.dtype.map(DType::bits).filter(|&bits| bits > 0)?;
    let count = symbols.product(fact.dims.as_ref()?.iter().copied())?;
    let bits = symbols.multiply(count, Dim::Known(i64_of(bits)))?;
    symbols.ceil_divide(bits, Dim::Known(8))
}
