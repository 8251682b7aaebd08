//! Verification of a converted model: both models are run on random inputs, and outputs are compared
//! as far as the report says that they are the same.

use std::collections::HashSet;

use foldhash::HashMap;
use gradus_core::Result;
use gradus_core::graph::{Graph, ValueId};

use super::{ConversionReport, Converted, Exactness, Note};
use crate::check::plan::{PlannedRun, Schedule, TimeBudget, varied};
use crate::check::{Compared, NO_TIME, OutputCheck, VerifyOptions, draws};
use crate::fact::Fact;
use crate::model::Model;
use crate::prove::ProvedOutputs;
use gradus_engine::infer::InferOptions;

/// The comparison of a model with what it was converted to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// The outputs that are proved to be the same; nothing without a proof, or where proofs are not
    /// about models of these standards.
    pub proof: Option<ProvedOutputs>,
    /// Runs of both models on random inputs.
    pub runs: usize,
    /// The open sizes of these runs, in words: `1`, `unequal`, `n = 0`.
    pub sizes: Vec<String>,
    /// Elements, of all runs, of outputs that only exact nodes compute: they are the same bits.
    pub elements: u64,
    /// Outputs that nodes which are not exact have a part in: their types are the same and, if the
    /// nodes only round, shapes that sizes alone decide.
    pub inexact: usize,
    /// Why no run was compared, if none was.
    pub refused: Option<String>,
}

impl Model {
    /// Compares this model with what it was converted to. Outputs are proved to be the same, while
    /// there is time for that; those that are not by runs of both on random inputs whose sizes are
    /// 1, unequal, equal, 0 one at a time, and random, while there is time. Outputs of nodes that
    /// are exact by the report must be the same bits, all NaNs alike. Of others, types are compared
    /// and, if the nodes only round, shapes that sizes alone decide: a number that is rounded
    /// differently may decide anything after it.
    ///
    /// # Errors
    /// [`Kind::Graph`](gradus_core::Kind::Graph) names the outputs that differ. A model that does not
    /// run is no error, but the reason why nothing was compared.
    pub fn verify_converted(&self, converted: &Converted, options: &VerifyOptions) -> Result<Verified> {
        let proof = self.prove_outputs(&converted.model, &options.sizes, options.proof);
        let found = Verified { proof, ..Verified::default() };
        if options.is_settled(found.proof.as_ref()) {
            return Ok(found);
        }
        let refused = |why: String| Ok(Verified { refused: Some(why), ..found.clone() });
        if draws(self) {
            return refused("the model draws numbers at random".to_owned());
        }
        let time = TimeBudget::of(options.time);
        let proved = options.spared(found.proof.as_ref());
        let compared = match self.compare_converted(converted, options, time, proved) {
            Ok(compared) => compared,
            Err(_) if time.is_over() => return refused(NO_TIME.to_owned()),
            Err(error) => return refused(error.to_string()),
        };
        if compared.runs == 0 {
            let failed = compared.failed.as_ref();
            return refused(failed.map_or_else(|| NO_TIME.to_owned(), ToString::to_string));
        }
        let graph = self.graph();
        let inexact = noted(graph, &converted.report, |_| true);
        // Rounding alone leaves sizes that follow from sizes.
        let edges = noted(graph, &converted.report, |note| note.exactness == Exactness::EdgeCases);
        let settled = self.settled_shapes(options)?;
        let mut verified = Verified { runs: compared.runs, sizes: compared.sizes.clone(), ..found };
        let mut differing: Vec<&OutputCheck> = Vec::new();
        for output in &compared.outputs {
            let id = graph.outputs().iter().find(|&&id| *graph.value(id).name == *output.name);
            let is_exact = id.is_some_and(|&id| !inexact[id.index()]);
            if is_exact {
                verified.elements += output.elements;
            } else {
                verified.inexact += 1;
            }
            let has_shape = id.is_some_and(|&id| settled[id.index()] && !edges[id.index()]);
            let differs = match &output.types {
                Some((before, after)) => is_exact || has_shape || element_type(before) != element_type(after),
                None => is_exact && output.differing > 0,
            };
            if differs {
                differing.push(output);
            }
        }
        if differing.is_empty() {
            return Ok(verified);
        }
        Err(self.refuted(&converted.model, "converted", &compared, &differing))
    }

    fn compare_converted(
        &self,
        converted: &Converted,
        options: &VerifyOptions,
        time: TimeBudget,
        proved: HashSet<String>,
    ) -> Result<Compared> {
        let explicit = |model: &Model| -> Result<Model> {
            Ok(model.without_variables()?.map_or_else(|| model.clone(), |(explicit, _)| explicit))
        };
        let (first, second) = (explicit(&self.with_given(&options.sizes)?)?, explicit(&converted.model)?);
        // Numbers beyond a type mean nothing in some standards.
        let plan = varied(first.graph(), &options.sizes).into_iter();
        let runs = plan.map(|run| PlannedRun { extreme: false, ..run }).collect();
        first.compare_planned(
            &second,
            options.given(),
            Schedule { runs, time, goes_on: true, ends: false, proved },
        )
    }

    /// By value of the main graph: whether it is a tensor whose sizes follow from those of inputs.
    fn settled_shapes(&self, options: &VerifyOptions) -> Result<Vec<bool>> {
        let given = InferOptions::of(options.sizes.clone()).cautiously();
        let inference = self.infer(&given)?;
        let symbols = inference.symbols();
        let is_settled = |id: ValueId| {
            let dims = Fact::as_tensor(inference.fact(id)).and_then(|fact| fact.dims.as_ref());
            dims.is_some_and(|dims| dims.iter().all(|&dim| symbols.rank(dim).0 <= 1))
        };
        Ok(self.graph().ids().map(is_settled).collect())
    }
}

/// The text of a type without its shape.
fn element_type(text: &str) -> &str {
    text.split('[').next().unwrap_or(text)
}

/// By value of the main graph: whether a node with such a note has a part in it. All values are
/// those where a note names a node that is not one of the graph.
fn noted(graph: &Graph, report: &ConversionReport, is_meant: impl Fn(&Note) -> bool) -> Vec<bool> {
    let mut inexact = vec![false; graph.values().len()];
    let mut labels: HashMap<String, Vec<usize>> = HashMap::default();
    for (index, node) in graph.nodes().iter().enumerate() {
        labels.entry(node.label(index)).or_default().push(index);
    }
    let mut nodes = vec![false; graph.nodes().len()];
    for Note { place, .. } in report.notes.iter().filter(|note| is_meant(note)) {
        // The place of a node within another begins with that one's.
        let ends = (1..=place.len()).filter(|&end| place.is_char_boundary(end));
        let mut found = ends.filter_map(|end| labels.get(&place[..end])).flatten().peekable();
        if found.peek().is_none() {
            return vec![true; graph.values().len()];
        }
        found.for_each(|&index| nodes[index] = true);
    }
    for &index in graph.order() {
        let node = &graph.nodes()[index];
        if nodes[index] || node.needs().any(|id| inexact[id.index()]) {
            node.outputs.iter().flatten().for_each(|id| inexact[id.index()] = true);
        }
    }
    inexact
}
