//! Sizes of runs that are compared, and the time that these take.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;
use std::time::{Duration, Instant};

use gradus_core::convert::i64_of;
use gradus_core::graph::{DeclaredDim, Graph, Type};
use gradus_core::{Limits, Value};

use super::accepted::Accepted;
use crate::dim::Symbols;
use gradus_engine::infer::{InferOptions, InputFact, Sizes, nameless_axes};

/// The usual sizes of open dimensions.
pub(crate) const SIZES: Range<i64> = 1..40;

/// Maximum size that is drawn since a condition ends there.
const MAX_BOUNDARY: i64 = 128;

/// Maximum number of tries of a binding.
pub(crate) const MAX_TRIES: usize = 8;

/// Maximum number of dimensions that are 0 in turn, and that are 1.
const MAX_LONE: usize = 8;

/// Sizes of the open dimensions of inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SizeChoice {
    One,
    /// The smallest or, with `true`, the largest numbers that the model takes; random ones where it
    /// takes any.
    Boundary(bool),
    /// One number for all.
    Equal,
    /// Numbers from 2 on, each another.
    Unequal,
    /// 0 or 1 for one dimension, unequal numbers for the others.
    Lone(String, i64),
    /// Random numbers.
    Between(Range<i64>),
    /// The sizes that the model declares: no dimension is open.
    Declared,
}

impl SizeChoice {
    /// The number of bindings that are tried: one may contradict what the model needs.
    pub(crate) fn tries(&self) -> usize {
        match self {
            SizeChoice::One | SizeChoice::Declared | SizeChoice::Boundary(false) => 1,
            SizeChoice::Boundary(_) | SizeChoice::Lone(..) => 2,
            SizeChoice::Equal | SizeChoice::Unequal | SizeChoice::Between(_) => MAX_TRIES,
        }
    }
}

impl fmt::Display for SizeChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SizeChoice::One => f.write_str("1"),
            SizeChoice::Boundary(false) => f.write_str("smallest"),
            SizeChoice::Boundary(true) => f.write_str("largest"),
            SizeChoice::Equal => f.write_str("equal"),
            SizeChoice::Unequal => f.write_str("unequal"),
            SizeChoice::Lone(name, size) => write!(f, "{name} = {size}"),
            SizeChoice::Between(range) => write!(f, "{} to {}", range.start, range.end - 1),
            SizeChoice::Declared => f.write_str("declared"),
        }
    }
}

/// Maximum number of sizes that are named one by one.
const MAX_NAMED: usize = 4;

/// The open sizes of a run, in words: those of the choice, where the conditions of the model and
/// those that are assumed allow them, and numbers elsewhere.
pub(crate) fn label(choice: &SizeChoice, open: &[(String, i64)]) -> String {
    let all = |is: &dyn Fn(i64) -> bool| open.iter().all(|(_, size)| is(*size));
    let first = open.first().map_or(0, |(_, size)| *size);
    let kept = match choice {
        SizeChoice::One => all(&|size| size == 1),
        SizeChoice::Equal => all(&|size| size == first),
        SizeChoice::Unequal => {
            let mut seen = HashSet::new();
            open.iter().all(|(_, size)| seen.insert(*size))
        }
        SizeChoice::Lone(lone, of_lone) => open.iter().any(|(name, size)| name == lone && size == of_lone),
        SizeChoice::Between(range) => all(&|size| range.contains(&size)),
        SizeChoice::Declared => true,
        SizeChoice::Boundary(_) => open.is_empty(),
    };
    if kept {
        return choice.to_string();
    }
    let mut named: Vec<_> =
        open.iter().take(MAX_NAMED).map(|(name, size)| format!("{name} = {size}")).collect();
    if open.len() > MAX_NAMED {
        named.push("…".to_owned());
    }
    named.join(", ")
}

/// Numbers for open dimensions.
pub(crate) struct Draw<'r> {
    pub(crate) sizes: SizeChoice,
    /// Conditions that the model needs; sizes of 0 are drawn without them.
    pub(crate) accepted: &'r Accepted,
    /// The number of bindings that were refused.
    pub(crate) tried: usize,
    pub(crate) random: &'r mut fastrand::Rng,
}

/// Sizes that are all equal, in the order in which they are tried.
const EQUAL: [i64; 8] = [3, 2, 4, 8, 16, 32, 5, 1];

impl Draw<'_> {
    /// The size of a dimension, of which this many were drawn before.
    fn size(&mut self, name: &str, before: usize) -> i64 {
        let size = match &self.sizes {
            SizeChoice::One | SizeChoice::Declared | SizeChoice::Boundary(false) => 1,
            SizeChoice::Equal => EQUAL[self.tried % EQUAL.len()],
            SizeChoice::Lone(lone, size) if lone == name => return *size,
            // The first try has small numbers, later ones any that suit the model.
            SizeChoice::Unequal | SizeChoice::Lone(..) if self.tried == 0 => 2 + i64_of(before % 7),
            SizeChoice::Unequal | SizeChoice::Lone(..) => self.random.i64(1..9),
            SizeChoice::Between(range) => self.random.i64(range.clone()),
            SizeChoice::Boundary(true) => self.random.i64(1..4),
        };
        let Some(bounds) = self.accepted.bounds(name) else { return size };
        if let SizeChoice::Boundary(largest) = self.sizes {
            let end = if largest { bounds.upper() } else { bounds.lower() };
            return end.filter(|end| (0..=MAX_BOUNDARY).contains(end)).unwrap_or(size);
        }
        let least = bounds.lower().unwrap_or(0);
        // Sizes that differ stay different.
        let raised = if size < least { least.saturating_add(size - 1) } else { size };
        raised.min(bounds.upper().unwrap_or(i64::MAX)).max(0)
    }
}

/// A run to compare.
#[derive(Clone, Debug)]
pub(crate) struct PlannedRun {
    pub(crate) sizes: SizeChoice,
    /// True if floats are zeros, ones, and very large and small numbers.
    pub(crate) extreme: bool,
    /// True if integers are of all numbers of short types, and else of some on both sides of 0.
    /// Where the first model refuses them, the run has others.
    pub(crate) wide: bool,
}

impl PlannedRun {
    /// A run of usual floats, and of the integers 0 and 1.
    pub(crate) fn plain(sizes: SizeChoice) -> PlannedRun {
        PlannedRun { sizes, extreme: false, wide: false }
    }

    /// The draws of inputs for this run, in the order in which they are tried.
    pub(crate) fn tries(&self) -> impl Iterator<Item = (PlannedRun, usize)> {
        let of = |wide, tries| (0..tries).map(move |tried| (PlannedRun { wide, ..self.clone() }, tried));
        of(true, usize::from(self.wide)).chain(of(false, self.sizes.tries()))
    }
}

/// Runs to compare, in order.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    pub(crate) runs: Vec<PlannedRun>,
    pub(crate) time: TimeBudget,
    /// True if others follow a run that the second model refuses.
    pub(crate) goes_on: bool,
    /// True if none follows a run that shows a difference.
    pub(crate) ends: bool,
    /// Names of outputs that are not compared, as they are proved.
    pub(crate) proved: HashSet<String>,
}

impl Schedule {
    /// Runs of all outputs, up to the first that the second model refuses.
    pub(crate) fn of(runs: Vec<PlannedRun>, time: TimeBudget) -> Schedule {
        Schedule { runs, time, goes_on: false, ends: false, proved: HashSet::new() }
    }

    /// Returns true if an output is not compared.
    pub(crate) fn skips(&self, output: &str) -> bool {
        self.proved.contains(output)
    }
}

/// Runs of random sizes, every third of extreme floats; those of the smallest and the largest sizes
/// come first, if there are others.
pub(crate) fn usual(runs: usize) -> Vec<PlannedRun> {
    let sizes = |run| match run {
        0 | 1 if runs > 2 => SizeChoice::Boundary(run == 1),
        _ => SizeChoice::Between(SIZES),
    };
    let planned = |run| PlannedRun { sizes: sizes(run), extreme: run % 3 == 2, wide: run % 2 == 0 };
    (0..runs).map(planned).collect()
}

/// Runs of all kinds of sizes that a model may treat apart, those that take least time first.
pub(crate) fn varied(graph: &Graph, given: &Sizes) -> Vec<PlannedRun> {
    let names = open_names(graph, given);
    let of = |sizes: &SizeChoice, extreme| PlannedRun { sizes: sizes.clone(), extreme, wide: !extreme };
    if names.is_empty() {
        return [false, true].map(|extreme| of(&SizeChoice::Declared, extreme)).into();
    }
    let may_be_empty = |name: &&String| !given.assume.nonempty && given.assume.clamped(name, 0) == 0;
    let zeros = names.iter().filter(may_be_empty).take(MAX_LONE).map(|name| (name, 0));
    // A single dimension has a run where all are 1.
    let ones = names.iter().filter(|_| names.len() > 1).take(MAX_LONE).map(|name| (name, 1));
    let lone = zeros.chain(ones).map(|(name, size)| SizeChoice::Lone(name.clone(), size));
    let few = [SizeChoice::One, SizeChoice::Unequal, SizeChoice::Equal].into_iter().chain(lone);
    let few = few.map(|sizes| of(&sizes, false));
    few.chain([false, true].map(|extreme| of(&SizeChoice::Between(SIZES), extreme))).collect()
}

/// A run that takes little time, and one of the usual sizes where any are open.
pub(crate) fn measuring(graph: &Graph, given: &Sizes) -> Vec<PlannedRun> {
    let sizes = if open_names(graph, given).is_empty() {
        vec![SizeChoice::Declared]
    } else {
        vec![SizeChoice::One, SizeChoice::Between(SIZES)]
    };
    sizes.into_iter().map(PlannedRun::plain).collect()
}

/// The time for some runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeBudget {
    end: Option<Instant>,
    /// The time that the largest run took so far, and the elements of its inputs.
    largest: Option<(Duration, usize)>,
}

impl TimeBudget {
    pub(crate) const UNLIMITED: TimeBudget = TimeBudget { end: None, largest: None };

    /// A budget of time that starts now.
    pub(crate) fn of(time: Duration) -> TimeBudget {
        TimeBudget { end: Instant::now().checked_add(time), largest: None }
    }

    /// Returns true if the time is over.
    pub(crate) fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// Returns true if a run of inputs of this many elements may end in time, as smaller ones did.
    pub(crate) fn allows(&self, elements: usize) -> bool {
        let (Some(end), Some((time, before))) = (self.end, self.largest) else { return !self.is_over() };
        let times = u32::try_from(elements.div_ceil(before.max(1))).unwrap_or(u32::MAX).max(1);
        let until = time.checked_mul(times).and_then(|time| Instant::now().checked_add(time));
        until.is_some_and(|until| until <= end)
    }

    /// Records the time of a run of that many elements; the largest run counts.
    pub(crate) fn note(&mut self, time: Duration, elements: usize) {
        if self.largest.is_none_or(|(_, before)| elements >= before) {
            self.largest = Some((time, elements));
        }
    }

    /// Limits by which a run ends with the time.
    pub(crate) fn limits(&self, mut limits: Limits) -> Limits {
        limits.deadline = [self.end, limits.deadline].into_iter().flatten().min();
        limits
    }
}

/// Numbers for all that is open in the dimensions of inputs, or nothing if these do not meet the
/// conditions that are assumed. In every second try of random numbers, dimensions without a name
/// are one number: no place says that they must be the same.
pub(crate) fn binding(graph: &Graph, given: &Sizes, draw: &mut Draw<'_>) -> Option<InferOptions> {
    let mut options = InferOptions::of(given.clone()).cautiously();
    (options.ignore_declared, options.max_bytes) = (true, 1 << 14);
    options.sizes.dims.extend(sizes_of_values(graph, given));
    let of_values: HashSet<_> = options.sizes.dims.keys().cloned().collect();
    let random = matches!(draw.sizes, SizeChoice::Between(_));
    let one = draw.size("", 0);
    for (count, name) in declared_names(graph, given).into_iter().enumerate() {
        let value = given.assume.clamped(&name, draw.size(&name, count));
        options.sizes.dims.entry(name).or_insert(value);
    }
    for (size, name) in nameless_axes(graph) {
        let other = draw.size(&name, options.sizes.dims.len());
        let value = given.assume.clamped(&name, if random && draw.tried % 2 == 1 { one } else { other });
        let value = match size {
            DeclaredDim::Between(least, most) => {
                let least = i64_of(*least);
                value.clamp(least, most.map_or(i64::MAX, i64_of).max(least))
            }
            _ => value,
        };
        options.sizes.dims.entry(name).or_insert(value);
    }
    let mut met = given.assume.meet(&mut options.sizes.dims, &given.dims);
    // Sizes of 0 are tried whatever the model needs.
    if met && !matches!(draw.sizes, SizeChoice::Lone(_, 0) | SizeChoice::One | SizeChoice::Declared) {
        let drawn = options.sizes.dims.clone();
        let is_open = |name: &str| !given.dims.contains_key(name) && !of_values.contains(name);
        draw.accepted.meet(&mut options.sizes.dims, &is_open);
        met = given.assume.meet(&mut options.sizes.dims, &given.dims);
        if !met {
            (options.sizes.dims, met) = (drawn, true);
        }
    }
    options.sizes.assume.conditions.clear();
    met.then_some(options)
}

/// The names that dimensions of inputs declare and that no number stands for, each once.
fn declared_names(graph: &Graph, given: &Sizes) -> Vec<String> {
    let fixed = fixed_names(graph, given);
    let mut names = Vec::new();
    let mut seen = HashSet::new();
    for &id in graph.inputs() {
        let info = graph.value(id);
        let given = match given.inputs.get(&*info.name) {
            Some(InputFact::Type(of)) => Some(of),
            _ => None,
        };
        for of in info.declared.iter().chain(given) {
            let Type::Tensor(_, Some(sizes)) = of else { continue };
            let open = sizes.iter().filter_map(plain).filter(|name| !fixed.contains(name));
            names.extend(open.filter(|name| seen.insert(name.clone())));
        }
    }
    // Names that are only parts of expressions, as of `past + 1`.
    for &id in graph.inputs() {
        let info = graph.value(id);
        let of = match given.inputs.get(&*info.name) {
            Some(InputFact::Type(of)) => Some(of),
            Some(InputFact::Value(_)) => None,
            None => info.declared.as_ref(),
        };
        let Some(Type::Tensor(_, Some(sizes))) = of else { continue };
        let inner = sizes.iter().flat_map(parts).filter(|name| !fixed.contains(name));
        names.extend(inner.filter(|name| seen.insert(name.clone())));
    }
    names
}

/// The names of dimensions whose sizes are drawn.
pub(crate) fn open_names(graph: &Graph, given: &Sizes) -> Vec<String> {
    let known: HashSet<_> = sizes_of_values(graph, given).into_iter().map(|(name, _)| name).collect();
    let nameless = nameless_axes(graph).map(|(_, name)| name);
    let all = declared_names(graph, given).into_iter().chain(nameless);
    all.filter(|name| !known.contains(name) && !given.dims.contains_key(name)).collect()
}

/// Names of dimensions for which a shape that is given has numbers.
fn fixed_names(graph: &Graph, given: &Sizes) -> HashSet<String> {
    let mut fixed = HashSet::new();
    for info in graph.inputs().iter().map(|&id| graph.value(id)) {
        if let Some(Type::Tensor(_, Some(declared))) = &info.declared
            && let Some(InputFact::Type(Type::Tensor(_, Some(sizes)))) = given.inputs.get(&*info.name)
        {
            let numbers =
                declared.iter().zip(sizes).filter(|(_, size)| matches!(size, DeclaredDim::Known(_)));
            fixed.extend(numbers.filter_map(|(name, _)| plain(name)));
        }
    }
    fixed
}

/// The sizes that inputs which are given have, by the names that the model declares for them.
fn sizes_of_values(graph: &Graph, given: &Sizes) -> Vec<(String, i64)> {
    let named = |&id: &_| {
        let info = graph.value(id);
        let Some(Type::Tensor(_, Some(declared))) = &info.declared else { return Vec::new() };
        let Some(InputFact::Value(Value::Tensor(tensor))) = given.inputs.get(&*info.name) else {
            return Vec::new();
        };
        let sizes = declared.iter().zip(tensor.shape().to_i64());
        sizes.filter_map(|(dim, size)| Some((plain(dim)?, size))).collect()
    };
    graph.inputs().iter().flat_map(named).collect()
}

/// The names in the expression of a dimension.
fn parts(size: &DeclaredDim) -> Vec<String> {
    let DeclaredDim::Symbol(text) = size else { return Vec::new() };
    let mut scratch = Symbols::default();
    let dim = scratch.declared(text);
    scratch.symbols_of(dim).into_iter().map(|symbol| symbol.name.to_string()).collect()
}

/// The name that a dimension is, if it is only a name.
fn plain(size: &DeclaredDim) -> Option<String> {
    let DeclaredDim::Symbol(text) = size else { return None };
    let mut scratch = Symbols::default();
    let dim = scratch.declared(text);
    scratch.as_symbol(dim).map(|symbol| symbol.name.to_string())
}
