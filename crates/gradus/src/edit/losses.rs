//! Losses of a shorter float type, node by node and in the outputs, measured by runs.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::rc::Rc;

use gradus_core::convert::{Rules, nearest_f64};
use gradus_core::graph::Origin;
use gradus_core::sort::SharedSort;
use gradus_core::{Tensor, Value};
use gradus_engine::infer::{Inference, node_label};

use super::apply::{counted, quoted};
use super::float16::Shortening;
use super::{Error, Kind, Result, ValueId};
use crate::check::accepted::Accepted;
use crate::check::plan::{MAX_TRIES, PlannedRun, SIZES, SizeChoice, open_names};
use crate::check::{NamedValues, OutputCheck, run};
use crate::program::{NodeDone, Replaces, RunOptions};

/// The difference that the short type makes to what a node computes of exact inputs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Loss {
    /// The largest difference, as a part of the largest magnitude.
    relative: f64,
    /// Number of elements beyond the largest of the type, or that become infinite or NaN.
    overflow: usize,
    /// Number of elements that become 0.
    underflow: usize,
}

/// The inputs of a run, and what it computes in float32, by name.
pub(super) type ExactRun = (NamedValues, HashMap<String, Value>);

impl Shortening<'_> {
    /// Runs of the model, with all that its nodes compute.
    pub(super) fn exact(&self, inference: &Inference) -> Result<Vec<ExactRun>> {
        let (model, graph, sizes) = (&self.editor.now, self.graph(), &self.options.sizes);
        let is_given = |id: &ValueId| sizes.inputs.contains_key(&*graph.value(*id).name);
        // More runs of the same inputs show nothing.
        let count = if graph.inputs().iter().all(is_given) { 1 } else { 2 };
        let computed = graph.ids().filter(|&id| match graph.value(id).origin {
            Origin::Node(index, _) => self.floats[id.index()] || self.parts[index].may_be_short(),
            _ => false,
        });
        let wanted = computed.chain(graph.outputs().iter().copied()).map(|id| &*graph.value(id).name);
        let names: HashSet<_> = wanted.filter(|name| !name.is_empty()).collect();
        let program = model.compile(&names.into_iter().collect::<Vec<_>>(), &RunOptions::default())?;
        let accepted = Accepted::of(inference);
        let mut random = fastrand::Rng::with_seed(self.options.seed);
        let is_open = !open_names(graph, sizes).is_empty();
        let choice = if is_open { SizeChoice::Between(SIZES) } else { SizeChoice::Declared };
        let planned = PlannedRun::plain(choice);
        let mut runs = Vec::new();
        let mut refused = Error::new(Kind::Usage, "cannot measure what is lost: no sizes suit the model");
        for tried in 0..MAX_TRIES {
            let kind = (&planned, tried, &accepted);
            let inputs = model.random_inputs(sizes, &mut random, kind, model.limits())?;
            let Some((inputs, _)) = inputs else { continue };
            match run(&program, &inputs) {
                Ok(values) => runs.push((inputs, values)),
                Err(error) => refused = error,
            }
            if runs.len() == count {
                break;
            }
        }
        if runs.is_empty() { Err(refused) } else { Ok(runs) }
    }

    /// By node, what the short type loses where all that may compute in it do, of exact inputs.
    pub(super) fn losses(&self) -> Result<Vec<Loss>> {
        let graph = self.graph();
        let model = self.applied(&self.modes(&HashSet::new()))?;
        let program = model.compile(&[], &RunOptions::default())?;
        let losses = vec![Loss::default(); graph.nodes().len()];
        let measured =
            Rc::new(RefCell::new(MeasuredTensor { exact: HashMap::new(), losses, largest: self.largest() }));
        for (inputs, exact) in &self.runs {
            for id in graph.ids() {
                let name = &graph.value(id).name;
                let (Origin::Node(node, _), Some(value)) = (graph.value(id).origin, exact.get(&**name))
                else {
                    continue;
                };
                let forms = [name.clone(), self.short_name(id)];
                let slots = forms.iter().filter_map(|name| model.graph().find(name));
                let slots = slots.map(|slot| (slot.index(), (node, value.clone())));
                measured.borrow_mut().exact.extend(slots);
            }
            program.run_replaced(inputs.iter().cloned(), measured.clone())?;
        }
        Ok(measured.take().losses)
    }

    /// The differences of the outputs where these nodes compute in the short type.
    fn errors(&self, modes: &[bool]) -> Result<Vec<OutputCheck>> {
        let program = self.applied(modes)?.compile(&[], &RunOptions::default())?;
        let names = self.graph().outputs().iter().map(|&id| &*self.graph().value(id).name);
        let mut checks: Vec<_> = names.map(OutputCheck::new).collect();
        for (inputs, exact) in &self.runs {
            let outputs = run(&program, inputs)?;
            for check in &mut checks {
                check.add(&exact[&check.name], &outputs[&check.name]);
            }
        }
        Ok(checks)
    }

    /// The nodes that stay in float32 by what they lose: those that overflow, and few with which the
    /// outputs keep to the largest difference that is allowed. Those that lose most stay first, by
    /// bisection; then those that are not needed are given back.
    pub(super) fn chosen(&self, losses: &[Loss]) -> Result<HashSet<usize>> {
        /// Maximum number of runs that give nodes back.
        const TRIES: usize = 40;
        let shortened = (0..losses.len()).filter(|&node| self.parts[node].may_be_short());
        let (always, mut order): (Vec<_>, Vec<_>) = shortened.partition(|&node| losses[node].overflow > 0);
        let all = |kept: &[usize]| always.iter().chain(kept).copied().collect::<HashSet<_>>();
        let Some(max_error) = self.options.max_error else { return Ok(all(&[])) };
        order.shared_sort_by(|&a, &b| losses[b].relative.total_cmp(&losses[a].relative));
        let fits = |kept: &[usize]| match self.errors(&self.modes(&all(kept))) {
            Ok(checks) => Ok(checks.iter().all(|check| check.types.is_none() && check.relative <= max_error)),
            Err(error) if error.kind() == Kind::Limit => Err(error),
            // Such as sizes that floats decide.
            Err(_) => Ok(false),
        };
        if fits(&[])? {
            return Ok(all(&[]));
        }
        // Without any node in the short type there is no difference.
        let (mut fails, mut holds) = (0, order.len());
        while holds - fails > 1 {
            let middle = fails.midpoint(holds);
            *if fits(&order[..middle])? { &mut holds } else { &mut fails } = middle;
        }
        let mut kept = order[..holds].to_vec();
        let (mut len, mut tries) = (kept.len() / 2, 0);
        while len > 0 {
            let mut end = kept.len();
            while end > 0 && tries < TRIES {
                tries += 1;
                let start = end.saturating_sub(len);
                let rest = [&kept[..start], &kept[end..]].concat();
                if fits(&rest)? {
                    kept = rest;
                }
                end = start;
            }
            len /= 2;
        }
        Ok(all(&kept))
    }

    /// Sentences about the nodes, what stays in float32, and the outputs.
    pub(super) fn notes(&self, kept: &HashSet<usize>, losses: &[Loss]) -> Result<Vec<String>> {
        /// Number of nodes in the short type that are named.
        const WORST: usize = 3;
        let (graph, dtype, modes) = (self.graph(), self.options.dtype, self.modes(kept));
        let label = |node: usize| node_label(&graph.nodes()[node], node);
        let by_loss = |nodes: &mut Vec<usize>| {
            nodes.shared_sort_by(|&a, &b| losses[b].relative.total_cmp(&losses[a].relative).then(a.cmp(&b)));
        };
        let (mut short, mut sorted, mut others) = (Vec::new(), Vec::new(), BTreeMap::<_, Vec<_>>::new());
        for (node, part) in self.parts.iter().enumerate() {
            match part.stays {
                Some(why) => others.entry(why).or_default().push(label(node)),
                None if kept.contains(&node) => sorted.push(node),
                // Nodes that compute no floats, such as Shape, read what there is.
                None if part.gives.is_empty() => {}
                None if modes[node] => short.push(node),
                None if part.may_be_short() => {
                    others.entry("moving elements of float32").or_default().push(label(node));
                }
                None => {}
            }
        }
        let all = short.len() + sorted.len() + others.values().map(Vec::len).sum::<usize>();
        let mut notes = vec![format!("computes {} of {} in {dtype}", short.len(), counted(all, "node"))];
        by_loss(&mut sorted);
        by_loss(&mut short);
        notes.extend(
            sorted.iter().map(|&node| format!("kept {} in float32: {dtype} {}", label(node), losses[node])),
        );
        notes.extend(others.into_iter().map(|(why, nodes)| {
            format!("kept {} in float32, {why}: {}", counted(nodes.len(), "node"), nodes.join(", "))
        }));
        let worst = short.iter().take(WORST).filter(|&&node| losses[node].relative > 0.0);
        notes.extend(worst.map(|&node| format!("{}: {dtype} {}", label(node), losses[node])));
        let runs = counted(self.runs.len(), "run");
        notes.extend(self.errors(&modes)?.iter().map(|check| {
            let (name, error) = (quoted(&check.name), check.relative);
            format!("output {name} differs by at most {error:.1e} of its largest magnitude in {runs}")
        }));
        Ok(notes)
    }
}

/// The differences of what the nodes of a short model compute of exact inputs.
#[derive(Debug, Default)]
struct MeasuredTensor {
    /// By slot: the node of the model, and the value that it computes.
    exact: HashMap<usize, (usize, Value)>,
    losses: Vec<Loss>,
    /// The largest number of the type.
    largest: f64,
}

impl Replaces for MeasuredTensor {
    fn replace(&mut self, done: &NodeDone<'_>, computed: Vec<Option<Value>>) -> Result<Vec<Option<Value>>> {
        let of_slot = |(slot, value): (&Option<usize>, Option<Value>)| match (slot, value) {
            (Some(slot), Some(value)) => Some(self.exact_of(*slot, value)),
            (_, value) => value,
        };
        Ok(done.slots.iter().zip(computed).map(of_slot).collect())
    }
}

impl MeasuredTensor {
    /// Measures a value that a node computed, and returns the exact one in its place.
    fn exact_of(&mut self, slot: usize, computed: Value) -> Value {
        let (Some((node, Value::Tensor(exact))), Value::Tensor(result)) = (self.exact.get(&slot), &computed)
        else {
            return computed;
        };
        if self.losses[*node].add(exact, result, self.largest).is_none() {
            self.losses[*node].relative = f64::INFINITY;
        }
        let short = || {
            let numbers = exact.numbers()?;
            Tensor::from_numbers(result.dtype(), exact.shape().clone(), numbers, Rules::IEEE)
        };
        let given = if result.dtype() == exact.dtype() { Ok(exact.clone()) } else { short() };
        given.map_or(computed, Value::from)
    }
}

impl Loss {
    /// Adds a result; nothing if it is of another shape, or of texts.
    fn add(&mut self, exact: &Tensor, result: &Tensor, most: f64) -> Option<()> {
        if exact.shape() != result.shape() {
            return None;
        }
        let (mut largest, mut difference) = (0f64, 0f64);
        for (x, y) in exact.numbers().ok()?.zip(result.numbers().ok()?) {
            let [x, y] = [x, y].map(nearest_f64);
            if x.is_finite() {
                largest = largest.max(x.abs());
                self.overflow += usize::from(!y.is_finite() || (x.abs() > most && result.dtype().is_float()));
                self.underflow += usize::from(y == 0.0 && x != 0.0);
            }
            let apart = if x == y || (x.is_nan() && y.is_nan()) { 0.0 } else { (x - y).abs() };
            difference = if apart.is_nan() { f64::INFINITY } else { difference.max(apart) };
        }
        if difference > 0.0 {
            self.relative = self.relative.max(difference / largest);
        }
        Some(())
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.relative {
            lost if lost.is_finite() => write!(f, "changes it by {lost:.1e} of its largest magnitude")?,
            _ if self.overflow > 0 => f.write_str("cannot hold it")?,
            _ => f.write_str("changes its shape")?,
        }
        for (count, what) in [(self.overflow, "overflow"), (self.underflow, "become 0")] {
            if count > 0 {
                write!(f, ", {} {what}", counted(count, "element"))?;
            }
        }
        Ok(())
    }
}
