//! The newest operator set in which a program runs a whole model.

use std::collections::HashSet;

use gradus_core::graph::{Graph, Node, OperatorId, Standard, ValueId};
use gradus_core::sort::SharedSort;
use gradus_core::{DTypeSet, Error, Kind, Result};

use super::report::{Obstacle, cannot};
use super::runtime::{Bindings, Runtime, bindings, takes, types_of};
use super::{ConvertOptions, Converted, OLDEST_OPSET, Obstacles, Tried};
use crate::fact::Fact;
use crate::model::Model;
use crate::operators;
use crate::schema::{NEWEST_RUN, RuntimeOperator};
use gradus_engine::infer::{InferOptions, SubgraphFacts};

impl Model {
    /// The model in the newest operator set of ONNX in which a program runs every node; or in that
    /// of the options.
    ///
    /// # Errors
    /// As [`Model::convert`]; [`Kind::Unsupported`] with the nodes that the program does not run.
    pub(super) fn converted_for(&self, runtime: Runtime, options: &ConvertOptions) -> Result<Converted> {
        let newest = options.opset.unwrap_or(NEWEST_RUN);
        if newest > NEWEST_RUN {
            let what = format_args!("cannot convert for {runtime}: operator set");
            let wanted = format_args!("at most {NEWEST_RUN}");
            return Err(Error::mismatch(Kind::Unsupported, what, newest, wanted));
        }
        let (mut opset, mut refused, mut tried) = (newest, None, Tried::default());
        loop {
            let converted = match self.in_set(Standard::Onnx, opset, options, &mut tried) {
                Ok(converted) => converted,
                // The nodes that are not run in the newest set say more.
                Err(error) => return Err(refused.unwrap_or(error)),
            };
            let mut search =
                ObstacleSearch::new(runtime, format!("cannot convert for {runtime}"), &converted.model)?;
            search.graph(converted.model.graph(), None);
            if search.obstacles.is_empty() {
                return Ok(converted);
            }
            let (older, nodes) = (search.newest - 1, converted.report.nodes);
            let error = Obstacles(search.obstacles).error(&format!("for {runtime}"), nodes);
            let refusal = refused.get_or_insert(error);
            if options.opset.is_some() || older < OLDEST_OPSET {
                return Err(refusal.clone());
            }
            opset = older;
        }
    }
}

impl Model {
    /// The nodes of a model of ONNX that a program does not run, but for calls of functions of the
    /// model; their errors begin with `refused`.
    pub(crate) fn not_run_by(&self, runtime: Runtime, refused: &str) -> Result<Vec<Obstacle>> {
        let mut search = ObstacleSearch::new(runtime, refused.to_owned(), self)?;
        search.graph(self.graph(), None);
        Ok(search.obstacles)
    }
}

/// The search for nodes that a program does not run.
struct ObstacleSearch {
    runtime: Runtime,
    /// The beginning of what is said of each node.
    refused: String,
    functions: HashSet<OperatorId>,
    facts: Vec<Fact>,
    bodies: SubgraphFacts,
    place: Vec<(usize, usize)>,
    obstacles: Vec<Obstacle>,
    /// The newest version of ONNX's own operators among the obstacles: an older operator set may
    /// do.
    newest: i64,
}

impl ObstacleSearch {
    fn new(runtime: Runtime, refused: String, model: &Model) -> Result<ObstacleSearch> {
        let inference = model.infer(&InferOptions::default().cautiously())?;
        let (facts, _, bodies, _) = inference.into_parts();
        Ok(ObstacleSearch {
            runtime,
            refused,
            functions: model.source().functions.iter().map(|function| function.id.clone()).collect(),
            facts,
            bodies,
            place: Vec::new(),
            obstacles: Vec::new(),
            newest: 0,
        })
    }

    fn graph(&mut self, graph: &Graph, around: Option<&str>) {
        for (index, node) in graph.nodes().iter().enumerate() {
            let label = node.label(index);
            let label = around.map_or_else(|| label.clone(), |around| format!("{around}: {label}"));
            if !self.functions.contains(&node.operator) {
                self.node(node, &label);
            }
            for (number, inner) in node.graphs().enumerate() {
                self.place.push((index, number));
                self.graph(inner, Some(&label));
                self.place.pop();
            }
        }
    }

    fn node(&mut self, node: &Node, label: &str) {
        let (runtime, operator, refused) = (self.runtime, &node.operator, &self.refused);
        let version = node.version.unwrap_or(0);
        let row = operators::row_of(Standard::Onnx, node);
        let signature = row.and_then(|row| row.signature_in(version));
        let since = signature.map_or(version, |signature| signature.since);
        let facts = if self.place.is_empty() { Some(&self.facts[..]) } else { self.bodies.get(&self.place) };
        let dtype = |id: &Option<ValueId>| facts?.get((*id)?.index())?.as_tensor()?.dtype;
        let name = format!("{operator}-{since}");
        let error = match (runtime.operator(&operator.domain, &operator.name, since), signature) {
            (None, _) => cannot(format!("{refused}: it does not run {name}")),
            (Some(_), None) => return,
            (Some(own), Some(signature)) => {
                let bound =
                    bindings(signature, node.inputs.iter().map(dtype), node.outputs.iter().map(dtype));
                if own.rows.iter().any(|row| takes(row, &bound)) {
                    return;
                }
                refusal(&format!("{refused}: type of {name}"), own, &bound)
            }
        };
        if operator.domain.is_empty() {
            self.newest = self.newest.max(since);
        }
        let operator = format!("{} {name}", Standard::Onnx);
        let error = error.in_node(format!("{label} ({operator})"));
        self.obstacles.push(Obstacle { operator, error });
    }
}

/// The error of types that no row takes: those of the variables that the nearest row refuses.
fn refusal(what: &str, operator: &RuntimeOperator, bound: &Bindings) -> Error {
    let refused = |row: &&[(&'static str, DTypeSet)]| {
        let mut refused: Vec<_> = bound
            .iter()
            .filter(|(param, dtype)| !types_of(row, param).contains(*dtype))
            .map(|(param, dtype)| (param.variable, *dtype, types_of(row, param)))
            .collect();
        refused.shared_sort_by_key(|(variable, ..)| *variable);
        refused.dedup();
        refused
    };
    let refused = operator.rows.iter().map(refused).min_by_key(Vec::len).unwrap_or_default();
    let got: Vec<_> = refused.iter().map(|(variable, dtype, _)| format!("{variable} of {dtype}")).collect();
    let wanted: Vec<_> =
        refused.iter().map(|(variable, _, types)| format!("{variable} of {types}")).collect();
    Error::mismatch(Kind::Unsupported, what, got.join(" and "), wanted.join(" and "))
}
