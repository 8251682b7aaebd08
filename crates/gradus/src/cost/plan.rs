//! Plans of memory: offsets of all values of nodes in one arena.
//!
//! Values that live at the same step never overlap. Several orders of placing values are tried, each
//! value in the smallest gap that holds it, and the smallest arena is kept: seldom the smallest of
//! all, which is a hard problem, but often as small as the most bytes that live at one step.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use gradus_core::graph::ValueId;
use gradus_core::sort::SharedSort;
use gradus_core::{Error, Kind, Result};

use super::{Cost, Lifetime};
use crate::dim::Dim;
use crate::model::Model;
use gradus_engine::infer::{Reuse, Rooms};

/// Maximum number of pairs of values living at one time for which orders other than that of the run
/// are tried.
const MAX_PAIRS: usize = 1 << 22;
/// Orders that are tried.
const ROUNDS: usize = 32;

/// The offsets of values of nodes in one arena.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryPlan {
    /// Bytes of the arena.
    pub bytes: u128,
    /// The most bytes that live at one step, each block rounded up to the alignment: no arena is
    /// smaller.
    pub live: u128,
    /// Bytes of all blocks, where none takes the room of another.
    pub apart: u128,
    /// The number of which each offset is a multiple.
    pub alignment: u64,
    /// The values of nodes, and what graphs within nodes need, in the order of a run.
    pub blocks: Vec<Block>,
}

/// A range of bytes of the arena.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Block {
    /// The node that makes the value, or that runs graphs.
    pub node: usize,
    /// The value; nothing for the values within the graphs that the node runs.
    pub value: Option<ValueId>,
    /// The value of a node whose bytes this value shares, as that of a Reshape does.
    pub shares: Option<ValueId>,
    /// The first byte.
    pub offset: u128,
    /// Bytes, not rounded up.
    pub bytes: u128,
    /// The steps of the run at which the bytes are needed, by this value or another that shares them.
    pub life: Lifetime,
}

impl Cost {
    /// A plan of the memory of the values of nodes, each of which begins at a multiple of the
    /// alignment. Values that the data decide have the room of what they are at most. Outputs that
    /// take the room of an input have its place; [`Model::run`] reuses [views](Reuse::Views).
    ///
    /// # Errors
    /// [`Kind::Usage`] if the alignment is 0 or a symbol has no number; [`Kind::Unsupported`] if
    /// the size of a value is not known; [`Kind::Graph`] if the model contradicts itself, and so a
    /// size is not known.
    pub fn plan(&mut self, model: &Model, alignment: u64, reuse: Reuse) -> Result<MemoryPlan> {
        if alignment == 0 {
            return Err(Error::mismatch(Kind::Usage, "cannot plan memory: the alignment", 0, "at least 1"));
        }
        let unknown = self.memory.peak.map_or(0, |peak| peak.unknown);
        if unknown > 0 {
            self.inference.must_be_consistent("cannot plan memory")?;
            let message = format!("cannot plan memory: the sizes of {unknown} values are not known");
            return Err(Error::new(Kind::Unsupported, message));
        }
        let blocks = self.blocks(model, reuse);
        // Sizes that contradict the model leave others open.
        let told = |error| self.inference.must_be_consistent("cannot plan memory").err().unwrap_or(error);
        let mut blocks = blocks.map_err(told)?;
        let round = |bytes: u128| bytes.next_multiple_of(alignment.into());
        let whole = |block: &&Block| block.shares.is_none() && block.bytes > 0;
        let intervals: Vec<_> = blocks
            .iter()
            .filter(whole)
            .map(|block| BlockInterval {
                bytes: round(block.bytes),
                steps: block.life.made..=block.life.last,
            })
            .collect();
        let (offsets, bytes, live) = smallest(&intervals);
        let mut offsets = offsets.into_iter();
        let mut places = BTreeMap::new();
        for block in &mut blocks {
            block.offset = match block.shares {
                Some(root) => places.get(&root).copied().unwrap_or(0),
                None if block.bytes > 0 => offsets.next().unwrap_or(0),
                None => 0,
            };
            places.extend(block.value.map(|id| (id, block.offset)));
        }
        let apart = intervals.iter().fold(0, |sum: u128, it| sum.saturating_add(it.bytes));
        Ok(MemoryPlan { bytes, live, apart, alignment, blocks })
    }

    /// The blocks of a model, which have no offsets yet.
    fn blocks(&mut self, model: &Model, reuse: Reuse) -> Result<Vec<Block>> {
        let graph = model.graph();
        let rooms = Rooms::new(model, graph, self.inference.facts(), reuse);
        let lifetimes = self.lifetimes(graph);
        let within: BTreeMap<_, _> = self.memory.within.iter().copied().collect();
        let mut blocks: Vec<Block> = Vec::new();
        // The block of a value that has a room of its own.
        let mut roots: BTreeMap<ValueId, usize> = BTreeMap::new();
        for (step, &index) in graph.order().iter().enumerate() {
            let node = &graph.nodes()[index];
            if let Some(&bytes) = within.get(&step) {
                let bytes = self.known(bytes, &node.label(index))?;
                let life = Lifetime { made: step, last: step };
                blocks.push(Block { node: index, value: None, shares: None, offset: 0, bytes, life });
            }
            for id in node.outputs.iter().copied().flatten() {
                let (Some(life), Some(bytes)) = (lifetimes[id.index()], self.bytes(id)) else { continue };
                let bytes = self.known(bytes, &graph.value(id).name)?;
                let shares = Some(rooms.of(id)).filter(|&room| room != id);
                match shares.and_then(|room| roots.get(&room)) {
                    Some(&root) => {
                        let root = &mut blocks[root];
                        root.life.last = root.life.last.max(life.last);
                        root.bytes = root.bytes.max(bytes);
                    }
                    None => {
                        roots.insert(id, blocks.len());
                    }
                }
                blocks.push(Block { node: index, value: Some(id), shares, offset: 0, bytes, life });
            }
        }
        Ok(blocks)
    }

    /// A number of bytes; symbols that the data decide are at their maximum.
    fn known(&mut self, bytes: Dim, name: &str) -> Result<u128> {
        let symbols = self.inference.symbols_mut();
        let most = symbols.at_most(bytes).unwrap_or(bytes);
        most.known().and_then(|bytes| u128::try_from(bytes).ok()).ok_or_else(|| {
            let what = format!("cannot plan memory: the number of bytes of {name}");
            Error::mismatch(Kind::Usage, what, symbols.print(most), "a number (--dim)")
        })
    }
}

/// Bytes that are needed at some steps.
struct BlockInterval {
    bytes: u128,
    steps: RangeInclusive<usize>,
}

/// The bytes that are needed from each step on at which they change.
fn live_from(intervals: &[BlockInterval]) -> BTreeMap<usize, u128> {
    let mut changes: BTreeMap<usize, (u128, u128)> = BTreeMap::new();
    for BlockInterval { bytes, steps } in intervals {
        changes.entry(*steps.start()).or_default().0 += bytes;
        changes.entry(steps.end() + 1).or_default().1 += bytes;
    }
    let mut now = 0;
    let sums = changes.into_iter().map(|(step, (more, less))| {
        now = now + more - less;
        (step, now)
    });
    sums.collect()
}

/// The offsets of intervals, which are in the order of their first steps, in the smallest arena
/// that was found, and its bytes; and the most bytes that are needed at one step.
///
/// Where placing in the order of the run leaves gaps, intervals are placed by decreasing peak of
/// the bytes alive with them. Then the interval that ends the arena is placed first, repeatedly.
fn smallest(intervals: &[BlockInterval]) -> (Vec<u128>, u128, u128) {
    let live = live_from(intervals);
    let least = live.values().copied().max().unwrap_or(0);
    let (mut best, mut bytes) = in_time(intervals);
    let Some(beside) = living_beside(intervals).filter(|_| bytes > least) else {
        return (best, bytes, least);
    };
    let most = |it: &BlockInterval| live.range(it.steps.clone()).map(|(_, &bytes)| bytes).max();
    let mut order: Vec<_> = (0..intervals.len()).collect();
    order.sort_by_cached_key(|&index| Reverse((most(&intervals[index]), intervals[index].bytes)));
    for _ in 0..ROUNDS {
        let (offsets, end) = in_order(intervals, &beside, &order);
        let ends = |&index: &usize| offsets[index] + intervals[index].bytes == end;
        let (last, others): (Vec<_>, Vec<_>) = order.iter().partition(|index| ends(index));
        order = [last, others].concat();
        if end < bytes {
            (best, bytes) = (offsets, end);
        }
        if bytes == least {
            break;
        }
    }
    (best, bytes, least)
}

/// Places intervals as an allocator does during a run: each in the smallest free range.
fn in_time(intervals: &[BlockInterval]) -> (Vec<u128>, u128) {
    let (mut offsets, mut end) = (vec![0; intervals.len()], 0);
    // Free ranges below the end: bytes by offset, and the reverse.
    let (mut free, mut by_size) = (BTreeMap::<u128, u128>::new(), BTreeSet::<(u128, u128)>::new());
    let mut ending: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, BlockInterval { bytes, steps }) in intervals.iter().enumerate() {
        while let Some(ended) = ending.first_entry().filter(|ended| ended.key() < steps.start()) {
            for index in ended.remove() {
                let (mut offset, mut bytes) = (offsets[index], intervals[index].bytes);
                if let Some((&before, &size)) = free.range(..offset).next_back()
                    && before + size == offset
                {
                    by_size.remove(&(size, before));
                    (offset, bytes) = (before, size + bytes);
                }
                if let Some(size) = free.remove(&(offset + bytes)) {
                    by_size.remove(&(size, offset + bytes));
                    bytes += size;
                }
                free.insert(offset, bytes);
                by_size.insert((bytes, offset));
            }
        }
        let fitting = by_size.range((*bytes, 0)..).next().copied();
        // The last range grows, if it reaches the end.
        let last = || free.last_key_value().map(|(&offset, &size)| (size, offset));
        let chosen = fitting.or_else(|| last().filter(|(size, offset)| offset + size == end));
        let (size, offset) = chosen.unwrap_or((0, end));
        free.remove(&offset);
        by_size.remove(&(size, offset));
        if size > *bytes {
            free.insert(offset + bytes, size - bytes);
            by_size.insert((size - bytes, offset + bytes));
        }
        end = end.max(offset + bytes);
        offsets[index] = offset;
        ending.entry(*steps.end()).or_default().push(index);
    }
    (offsets, end)
}

/// The intervals that share a step with each; nothing if they are too many pairs.
fn living_beside(intervals: &[BlockInterval]) -> Option<Vec<Vec<usize>>> {
    let mut beside = vec![Vec::new(); intervals.len()];
    let (mut living, mut pairs) = (Vec::<usize>::new(), 0);
    for (index, interval) in intervals.iter().enumerate() {
        living.retain(|&other| intervals[other].steps.end() >= interval.steps.start());
        pairs += living.len();
        if pairs > MAX_PAIRS {
            return None;
        }
        for &other in &living {
            beside[other].push(index);
        }
        beside[index].extend(&living);
        living.push(index);
    }
    Some(beside)
}

/// Places intervals one after another, each in the smallest gap between those that are alive with
/// it.
fn in_order(intervals: &[BlockInterval], beside: &[Vec<usize>], order: &[usize]) -> (Vec<u128>, u128) {
    let (mut offsets, mut end) = (vec![None; intervals.len()], 0);
    for &index in order {
        let bytes = intervals[index].bytes;
        let placed =
            beside[index].iter().filter_map(|&other| Some((offsets[other]?, intervals[other].bytes)));
        let mut placed: Vec<(u128, u128)> = placed.collect();
        placed.shared_sort();
        let (mut start, mut gap): (u128, Option<(u128, u128)>) = (0, None);
        for (offset, size) in placed {
            let room = offset.saturating_sub(start);
            if room >= bytes && gap.is_none_or(|(least, _)| room < least) {
                gap = Some((room, start));
            }
            start = start.max(offset + size);
        }
        let offset = gap.map_or(start, |(_, offset)| offset);
        offsets[index] = Some(offset);
        end = end.max(offset + bytes);
    }
    (offsets.into_iter().map(Option::unwrap_or_default).collect(), end)
}
