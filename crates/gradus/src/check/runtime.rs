//! Runs of a model in another program, held against the exact results.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::rc::Rc;

use gradus_core::graph::{Graph, Origin, ValueId};
use gradus_core::sort::SharedSort;
use gradus_core::{Error, Kind, Result, Value};

use super::allowed::{Judged, Margin};
use super::compared::type_of;
use super::{CheckOptions, Compared, FailingCase, NamedValues, NodeLabel, OutputCheck, Verdict, run};
use crate::model::Model;
use crate::program::{NodeDone, Replaces};

/// A program that runs models, such as ONNX Runtime.
pub trait Runtime: Send + Sync {
    /// Runs the model of a file on these inputs, and returns the values of these names in their
    /// order; nothing for a value that the program does not show.
    ///
    /// # Errors
    /// If the program does not run the model.
    fn run(&self, model: &Path, inputs: &[(String, Value)], values: &[&str]) -> Result<Vec<Option<Value>>>;

    /// Returns true if the program reads the file; one that has the model in another form is given
    /// the path as it is, or none.
    fn reads_file(&self) -> bool {
        true
    }

    /// The program started anew with these settings: nothing is loaded or compiled yet.
    ///
    /// # Errors
    /// [`Kind::Unsupported`], with the reason, if the program cannot be started so.
    fn anew(&self, settings: &RuntimeSettings) -> Result<Box<dyn Runtime>> {
        let found = format!("{settings}");
        Err(Error::mismatch(
            Kind::Unsupported,
            "cannot start the program anew: it is given",
            found,
            "no settings",
        ))
    }

    /// Names of the sets of processor instructions that [`RuntimeSettings::processor`] takes here.
    ///
    /// # Errors
    /// [`Kind::Unsupported`], with the reason, if the program has no switch for them.
    fn processors(&self) -> Result<Vec<String>> {
        Err(Error::new(Kind::Unsupported, "the program has no switch for processor features"))
    }

    /// Returns true if several runs of a model share a session.
    fn has_sessions(&self) -> bool {
        true
    }
}

/// Settings with which a program is started; the default leaves everything to the program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct RuntimeSettings {
    /// The number of threads.
    pub threads: Option<usize>,
    /// Run the model node by node as it is written, without optimizations.
    pub plain: bool,
    /// The set of processor instructions, a name of [`Runtime::processors`].
    pub processor: Option<String>,
}

impl fmt::Display for RuntimeSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let threads = self.threads.map(|threads| format!("threads {threads}"));
        let processor = self.processor.as_ref().map(|name| format!("processor {name}"));
        let plain = self.plain.then(|| "no optimizations".to_owned());
        let all: Vec<_> = threads.into_iter().chain(processor).chain(plain).collect();
        f.write_str(if all.is_empty() { "default settings".to_owned() } else { all.join(", ") }.as_str())
    }
}

/// The differences between a runtime and the exact results.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RuntimeCheck {
    /// The runs that were compared.
    pub runs: usize,
    /// The outputs of the runtime, in the order of the first model.
    pub outputs: Vec<OutputCheck>,
    /// The values that nodes of the main graph compute: those beyond their bound first, then those
    /// without a bound, then those within it, each by the largest error as a part of the bound, and
    /// without one by the largest difference as a part of the largest magnitude.
    pub nodes: Vec<NodeCheck>,
    /// The first value in the order of the nodes that is beyond its bound, in the first run where it
    /// is.
    pub first_beyond: Option<FailingCase>,
    /// The error of the last run that was to show these values, and did not.
    pub hidden: Option<Error>,
    /// The error of the last run that the runtime refused, and that was not compared.
    pub refused: Option<Error>,
}

/// A value that a node computes in a runtime, compared with the exact result for the inputs that
/// the runtime gave the node: the difference is the node's own, and not that of the nodes before
/// it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NodeCheck {
    /// The node in words, with its operator: `node "add" (onnx Add-14)`.
    pub node: String,
    /// The comparison of the value.
    pub value: OutputCheck,
    /// Its errors next to those that the arithmetic of its type allows.
    pub verdict: Verdict,
}

impl Model {
    /// Runs this model, and another or the same in a runtime, on the same random inputs, and
    /// compares all outputs; and the results of each node for the inputs that the runtime gave it.
    ///
    /// The runtime computes the outputs as it runs the model for everybody. It runs once more with
    /// all values asked for, which may keep it from fusing nodes.
    ///
    /// # Errors
    /// As of [`Model::check`]; [`Kind::Unsupported`] if the other model is in no file; if the
    /// runtime refuses all runs, the error of the last.
    pub fn check_in(
        &self,
        other: &Model,
        runtime: &dyn Runtime,
        options: &CheckOptions,
    ) -> Result<RuntimeCheck> {
        let file = if runtime.reads_file() { other.file()? } else { other.path().unwrap_or(Path::new("")) };
        let first = self.with_given(&options.sizes)?.program(&[])?;
        let program = other.program(&[])?;
        let shown = computed(other.graph());
        let forced = Rc::new(RefCell::new(Forced::of(other)));
        let (mut hidden, mut refused) = (None, None);
        let Compared { runs, outputs, .. } =
            self.compare_runs(other, options, &mut |inputs| run(&first, inputs), &mut |inputs, names| {
                let values = match runtime.run(file, inputs, names) {
                    Ok(values) => values,
                    Err(error) => {
                        refused = Some(error);
                        return Ok(None);
                    }
                };
                let outputs = by_name(names, values)?;
                match given(runtime, file, inputs, &shown) {
                    Ok(given) => {
                        forced.borrow_mut().given = given;
                        program.run_replaced(inputs.iter().cloned(), forced.clone())?;
                    }
                    Err(error) => hidden = Some(error),
                }
                Ok(Some(outputs))
            })?;
        let refused = match refused {
            Some(error) if runs == 0 => return Err(error),
            refused => refused,
        };
        let mut forced = forced.borrow_mut();
        let (mut nodes, mut first_beyond): (Vec<_>, _) =
            (forced.nodes.drain().collect(), forced.first_beyond.take());
        if let Some(case) = &mut first_beyond {
            case.compared = self.clone();
        }
        let rank = |node: &NodeCheck| (node.verdict.rank(), node.value.severity());
        nodes.shared_sort_by(|(slot, node), (other_slot, other)| {
            rank(other).cmp(&rank(node)).then(slot.cmp(other_slot))
        });
        let nodes = nodes.into_iter().map(|(_, node)| node).collect();
        Ok(RuntimeCheck { runs, outputs, nodes, first_beyond, hidden, refused })
    }

    /// Runs this model and what it was folded to in a runtime on the same random inputs, and
    /// compares all outputs: the number of runs, and the outputs.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] if a model is in no file; if the runtime refuses all runs, the error of
    /// the last; if it refuses the folded model where it runs this one, its error.
    pub fn verify_in(
        &self,
        folded: &Model,
        runtime: &dyn Runtime,
        options: &CheckOptions,
    ) -> Result<(usize, Vec<OutputCheck>)> {
        let (before, after) = (self.file()?, folded.file()?);
        let graph = self.graph();
        let names: Vec<_> = graph.outputs().iter().map(|&id| &*graph.value(id).name).collect();
        let mut first = |inputs: &NamedValues| by_name(&names, runtime.run(before, inputs, &names)?);
        let mut second = |inputs: &NamedValues, names: &[&str]| {
            by_name(names, runtime.run(after, inputs, names)?).map(Some)
        };
        let Compared { runs, outputs, .. } = self.compare_runs(folded, options, &mut first, &mut second)?;
        Ok((runs, outputs))
    }

    /// The file that a runtime can read.
    pub(crate) fn file(&self) -> Result<&Path> {
        let message = "cannot run the model in a runtime: the model is in no file; save it first";
        self.unedited_path().ok_or_else(|| Error::new(Kind::Unsupported, message))
    }
}

/// The outputs that a runtime returned, by name.
fn by_name(names: &[&str], values: Vec<Option<Value>>) -> Result<HashMap<String, Value>> {
    let outputs = names.iter().zip(values).map(|(name, value)| {
        let none = || Error::new(Kind::Graph, format!("the runtime returns no output \"{name}\""));
        Ok(((*name).to_owned(), value.ok_or_else(none)?))
    });
    outputs.collect()
}

/// The values that nodes of a graph compute, with their names.
pub(crate) fn computed(graph: &Graph) -> Vec<(ValueId, &str)> {
    let computed = |&(id, name): &(ValueId, &str)| {
        !name.is_empty() && matches!(graph.value(id).origin, Origin::Node(..))
    };
    graph.ids().map(|id| (id, &*graph.value(id).name)).filter(computed).collect()
}

/// The names and values that a runtime shows, by slot.
fn given(
    runtime: &dyn Runtime,
    file: &Path,
    inputs: &NamedValues,
    shown: &[(ValueId, &str)],
) -> Result<HashMap<usize, (String, Value)>> {
    let names: Vec<_> = shown.iter().map(|(_, name)| *name).collect();
    let values = runtime.run(file, inputs, &names)?;
    let known = shown.iter().zip(values);
    Ok(known.filter_map(|(&(id, name), value)| Some((id.index(), (name.to_owned(), value?)))).collect())
}

/// Values of the main graph that take the place of those that a run computes, and what differs.
#[derive(Debug)]
pub(super) struct Forced {
    model: Model,
    /// Names and values by slot.
    pub(super) given: HashMap<usize, (String, Value)>,
    /// By slot, the values that were compared.
    pub(super) nodes: HashMap<usize, NodeCheck>,
    /// The first value beyond its bound.
    first_beyond: Option<FailingCase>,
}

impl Forced {
    /// No values yet of a model.
    pub(super) fn of(model: &Model) -> Forced {
        let (given, nodes) = (HashMap::new(), HashMap::new());
        Forced { model: model.clone(), given, nodes, first_beyond: None }
    }

    /// Compares a value that a node computed with the one that is given in its place.
    fn compare(
        &mut self,
        done: &NodeDone<'_>,
        at: usize,
        (name, given): (&str, &Value),
        (exact, margin): (&Value, &Margin),
    ) -> Option<NodeLabel> {
        let slot = done.slots[at]?;
        let new = || NodeCheck {
            node: done.label.to_owned(),
            value: OutputCheck::new(name),
            verdict: Verdict::EXACT,
        };
        let check = self.nodes.entry(slot).or_insert_with(new);
        let mut one = OutputCheck::new(name);
        one.add(exact, given);
        check.value.add(exact, given);
        if one.is_same() {
            return None;
        }
        let verdict = Verdict::of(exact, given, margin);
        let label = verdict.label;
        check.verdict.add(verdict);
        Some(label)
    }
}

impl Replaces for Forced {
    /// Compares the values that a node computed, and returns those that are given in their place.
    fn replace(&mut self, done: &NodeDone<'_>, computed: Vec<Option<Value>>) -> Result<Vec<Option<Value>>> {
        let given: Vec<_> =
            done.slots.iter().map(|slot| slot.and_then(|slot| self.given.remove(&slot))).collect();
        let pairs = || computed.iter().zip(&given);
        let differs = |(exact, given): (&Option<Value>, &Option<(String, Value)>)| {
            exact.as_ref().zip(given.as_ref()).is_some_and(|(exact, (_, given))| exact != given)
        };
        let node = &self.model.graph().nodes()[done.index];
        let standard = self.model.source().standard;
        let margins = if pairs().any(differs) {
            Judged::new(done, node, standard, &computed).margins()?
        } else {
            vec![Margin::None; computed.len()]
        };
        for (at, (exact, given)) in pairs().enumerate() {
            let (Some(exact), Some((name, given))) = (exact, given) else { continue };
            let label = self.compare(done, at, (name, given), (exact, &margins[at]));
            let is_first = self.first_beyond.as_ref().is_none_or(|case| done.index < case.index);
            if label == Some(NodeLabel::Beyond) && is_first {
                self.first_beyond = Some(FailingCase::new(&self.model, done, name));
            }
        }
        let replaced = computed.into_iter().zip(given).map(|(exact, given)| match (exact, given) {
            // Nodes after it could refuse another type or shape.
            (Some(exact), Some((_, given))) if type_of(&exact) == type_of(&given) => Some(given),
            (exact, _) => exact,
        });
        Ok(replaced.collect())
    }
}
