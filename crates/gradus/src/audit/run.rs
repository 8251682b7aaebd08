//! Runs of pairs, and why they differ.

use std::collections::BTreeMap;

use gradus_core::graph::{Origin, ValueId};
use gradus_core::sort::SharedSort;
use gradus_core::{Error, Kind, Result, Value};

use super::axes::{axis_of, slice};
use super::pairs::{Pair, Part, Row, Side};
use super::subject::Subject;
use super::{FirstNode, Invariance};
use crate::check::{GradusRuntime, NamedValues, OutputCheck, Runtime, RuntimeSettings, computed};

/// Runs sides of pairs, in the runtime or exactly.
pub(super) struct Runner<'a> {
    subject: &'a Subject<'a>,
    /// Gradus as it runs, and in its plainest form: one does not hide what the other does to bits.
    exact: [Box<dyn Runtime>; 2],
    /// Values of nodes that have a name, in the order of the nodes.
    computed: Vec<(ValueId, &'a str)>,
}

/// The values that a pair has in common, compared.
pub(super) struct ComparedPair {
    pub(super) outputs: Vec<OutputCheck>,
    /// Values that were not compared, and why.
    pub(super) uncompared: Vec<(String, String)>,
}

impl ComparedPair {
    /// Returns true if no output differs.
    pub(super) fn is_same(&self) -> bool {
        self.outputs.iter().all(OutputCheck::is_same)
    }
}

/// The cause of a difference.
#[derive(Debug)]
pub(super) enum Cause {
    /// The runtime, by the difference of the pair: the outputs whose exact results agree.
    Pair(Vec<String>),
    /// The runtime or the model, as exact results are not known.
    Unproved(Error),
    /// The model: exact results differ as well.
    Exact,
    /// Chance: a run differs from itself.
    Unsteady,
    /// Earlier runs of the session.
    Session,
}

impl<'a> Runner<'a> {
    /// Runs of a model in its runtime and in Gradus.
    ///
    /// # Errors
    /// As [`Runtime::anew`].
    pub(super) fn new(subject: &'a Subject<'a>) -> Result<Runner<'a>> {
        let usual = GradusRuntime::new(subject.limits());
        let mut settings = RuntimeSettings { threads: Some(1), ..RuntimeSettings::default() };
        settings.processor = usual.processors()?.into_iter().next();
        let plainest = usual.anew(&settings)?;
        let mut computed = computed(subject.model.graph());
        let graph = subject.model.graph();
        computed.shared_sort_by_key(|(id, _)| match graph.value(*id).origin {
            Origin::Node(index, port) => (index, port),
            _ => (usize::MAX, 0),
        });
        Ok(Runner { subject, exact: [Box::new(usual), plainest], computed })
    }

    /// The values of these names in the runtime.
    fn values(&self, side: &Side, names: &[&str]) -> Result<Vec<Option<Value>>> {
        if side.fresh {
            self.run(&*self.subject.runtime.anew(&side.settings)?, side, names)
        } else {
            self.run(self.subject.runtime, side, names)
        }
    }

    fn run(&self, runtime: &dyn Runtime, side: &Side, names: &[&str]) -> Result<Vec<Option<Value>>> {
        let mut inputs = side.inputs.clone();
        let outputs: Vec<_> = self.subject.outputs().into_iter().map(|(_, name)| name).collect();
        for before in &side.before {
            self.subject.limits().check()?;
            let values = runtime.run(self.subject.file, before, &outputs)?;
            carry(&mut inputs, side, &outputs, values);
        }
        self.subject.limits().check()?;
        runtime.run(self.subject.file, &inputs, names)
    }

    /// Compares the outputs of a pair in the runtime.
    pub(super) fn compare(&self, pair: &Pair) -> Result<ComparedPair> {
        let outputs = self.subject.outputs();
        let names: Vec<_> = outputs.iter().map(|(_, name)| *name).collect();
        let first = self.values(&pair.first, &names)?;
        let second = if pair.is_one_run { first.clone() } else { self.values(&pair.second, &names)? };
        self.compared(pair, &outputs, [first, second])
    }

    fn compared(
        &self,
        pair: &Pair,
        of: &[(ValueId, &str)],
        [first, second]: [Vec<Option<Value>>; 2],
    ) -> Result<ComparedPair> {
        let mut compared = ComparedPair { outputs: Vec::new(), uncompared: Vec::new() };
        let [of_first, of_second] =
            [&pair.first, &pair.second].map(|side| (side, self.subject.numbers(&side.inputs)));
        for ((&(id, name), first), second) in of.iter().zip(first).zip(second) {
            let (Some(first), Some(second)) = (first, second) else {
                compared.uncompared.push((name.to_owned(), "the runtime does not show it".to_owned()));
                continue;
            };
            let part = |side, value| self.part(side, id, value);
            if let [Some(first), Some(second)] = [part(&of_first, &first), part(&of_second, &second)] {
                let mut output = OutputCheck::new(name);
                output.add(&first?, &second?);
                compared.outputs.push(output);
            } else {
                let reason = match &pair.first.part {
                    Part::Along { name, .. } => format!("no axis of it is \"{name}\""),
                    Part::Whole => "it has no part".to_owned(),
                };
                compared.uncompared.push((name.to_owned(), reason));
            }
        }
        Ok(compared)
    }

    /// The part of a value that is compared; nothing if the value has no such axis.
    fn part(
        &self,
        (side, numbers): &(&Side, BTreeMap<String, i64>),
        id: ValueId,
        value: &Value,
    ) -> Option<Result<Value>> {
        let Part::Along { name, total, indices, or_whole } = &side.part else {
            return Some(Ok(value.clone()));
        };
        let Some(axis) = axis_of(&self.subject.inference, id, name, numbers) else {
            return or_whole.then(|| Ok(value.clone()));
        };
        slice(value, axis, *total, indices.clone(), &self.subject.limits())
    }

    /// The cause of the difference of a pair.
    pub(super) fn cause(&self, row: &Row, pair: &Pair, compared: &ComparedPair) -> Result<Cause> {
        let differing = compared.outputs.iter().filter(|output| !output.is_same());
        let differing = || differing.clone().map(|output| output.name.clone()).collect();
        if row.invariance == Invariance::Runs {
            return Ok(Cause::Pair(differing()));
        }
        // Threads, and what else settings change, may make a steady run unsteady.
        let repeated: &[&Side] =
            if row.has_other_inputs { &[&pair.first, &pair.second] } else { &[&pair.first] };
        for side in repeated {
            if !self.is_steady(side)? {
                return Ok(Cause::Unsteady);
            }
        }
        if !row.has_other_inputs {
            return Ok(Cause::Pair(differing()));
        }
        let fresh = |side: &Side| Side { fresh: true, ..side.clone() };
        let anew = Pair { first: fresh(&pair.first), second: fresh(&pair.second), ..pair.clone() };
        if self.subject.runtime.has_sessions() && self.compare(&anew).is_ok_and(|all| all.is_same()) {
            return Ok(Cause::Session);
        }
        Ok(match self.own_differences(pair, compared) {
            Ok(own) if own.is_empty() => Cause::Exact,
            Ok(own) => Cause::Pair(own),
            Err(error) if error.kind() == Kind::Limit => return Err(error),
            Err(error) => Cause::Unproved(error),
        })
    }

    /// Returns true if a run has the same bits when it is repeated.
    fn is_steady(&self, side: &Side) -> Result<bool> {
        let again = Pair { first: side.clone(), second: side.clone(), rows: 0, is_one_run: false };
        Ok(self.compare(&again)?.is_same())
    }

    /// Returns true if an output of a pair differs whose exact results agree, or are not known. A
    /// pair that the runtime refuses does not.
    pub(super) fn differs(&self, row: &Row, pair: &Pair) -> Result<bool> {
        let compared = match self.compare(pair) {
            Err(error) if error.kind() == Kind::Limit => return Err(error),
            Err(_) => return Ok(false),
            Ok(compared) => compared,
        };
        if compared.is_same() || !row.has_other_inputs {
            return Ok(!compared.is_same());
        }
        match self.own_differences(pair, &compared) {
            Err(error) if error.kind() == Kind::Limit => Err(error),
            own => Ok(own.map_or(true, |own| !own.is_empty())),
        }
    }

    /// The outputs that differ and whose exact results agree.
    fn own_differences(&self, pair: &Pair, compared: &ComparedPair) -> Result<Vec<String>> {
        let mut outputs = self.subject.outputs();
        outputs.retain(|(_, name)| compared.outputs.iter().any(|of| of.name == *name && !of.is_same()));
        let mut own = Vec::new();
        for exact in &self.exact {
            let exact = self.compare_exactly(&**exact, pair, &outputs)?;
            own.extend(exact.outputs.into_iter().filter(OutputCheck::is_same).map(|output| output.name));
            outputs.retain(|(_, name)| own.iter().all(|known| known != name));
            if outputs.is_empty() {
                break;
            }
        }
        Ok(own)
    }

    /// Compares the exact results of a pair.
    fn compare_exactly(
        &self,
        exact: &dyn Runtime,
        pair: &Pair,
        of: &[(ValueId, &str)],
    ) -> Result<ComparedPair> {
        let names: Vec<_> = of.iter().map(|(_, name)| *name).collect();
        let [first, second] = [&pair.first, &pair.second].map(|side| self.run(exact, side, &names));
        self.compared(pair, of, [first?, second?])
    }

    /// The first node whose values differ while the exact ones agree; or why none is known.
    pub(super) fn first_node(&self, pair: &Pair) -> Result<std::result::Result<FirstNode, String>> {
        let graph = self.subject.model.graph();
        let names: Vec<_> = self.computed.iter().map(|(_, name)| *name).collect();
        let values = [&pair.first, &pair.second].map(|side| self.values(side, &names));
        let [first, second] = match values {
            [Ok(first), Ok(second)] => [first, second],
            [Err(error), _] | [_, Err(error)] => {
                return Ok(Err(format!("the runtime does not show values of nodes: {error}")));
            }
        };
        let compared = self.compared(pair, &self.computed, [first, second])?;
        let exact = self.compare_exactly(&*self.exact[0], pair, &self.computed).ok();
        let is_own = |name: &str| {
            let agrees =
                |exact: &ComparedPair| exact.outputs.iter().any(|all| all.name == name && all.is_same());
            exact.as_ref().is_none_or(agrees)
        };
        let found = compared.outputs.iter().find(|output| !output.is_same() && is_own(&output.name));
        let Some(found) = found else {
            return Ok(Err("with all values of nodes asked for, the runtime agrees".to_owned()));
        };
        let id = self.subject.model.value(&found.name)?;
        let node = match graph.value(id).origin {
            Origin::Node(index, _) => {
                let node = &graph.nodes()[index];
                format!("{} ({} {})", node.label(index), self.subject.model.source().standard, node.operator)
            }
            _ => return Err(Error::new(Kind::Internal, "a computed value has no node")),
        };
        Ok(Ok(FirstNode { node, value: found.name.clone() }))
    }

    /// The outputs of a side by name, as far as the runtime shows them.
    pub(super) fn outputs(&self, side: &Side) -> Result<NamedValues> {
        let names: Vec<_> = self.subject.outputs().into_iter().map(|(_, name)| name).collect();
        let values = self.values(side, &names)?;
        let known = names.iter().zip(values).filter_map(|(name, value)| Some(((*name).to_owned(), value?)));
        Ok(known.collect())
    }
}

/// Puts outputs of a run into the inputs of the next.
fn carry(inputs: &mut NamedValues, side: &Side, names: &[&str], values: Vec<Option<Value>>) {
    for (name, value) in names.iter().zip(values) {
        let to = side.carried.iter().find(|(output, _)| output == name).map(|(_, input)| input);
        if let (Some(to), Some(value)) = (to, value)
            && let Some((_, input)) = inputs.iter_mut().find(|(input, _)| input == to)
        {
            *input = value;
        }
    }
}
