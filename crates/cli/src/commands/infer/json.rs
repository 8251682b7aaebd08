//! Inferred facts as JSON.

use std::io::Write;
use std::path::Path;

use gradus::dim::{Condition, Printed, Symbols};
use gradus::graph::{Graph, Origin, ValueId};
use gradus::infer::{Completeness, Inference, Peak, Subgraph};
use gradus::{Dim, Fact, Model};
use serde::Serialize;

use super::{ShownValues, is_unknown, operator, type_name};
use crate::diagnostics::Failure;
use crate::object::{Flattened, JsonFields, Maybe, nonempty, object};
use crate::output;

/// The values of a graph by name, written as they are asked for: there may be very many.
struct ValueList<'a> {
    inference: &'a Inference,
    graph: &'a Graph,
    shown: &'a ShownValues<'a>,
}

impl Serialize for ValueList<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (inference, graph) = (self.inference, self.graph);
        let value = |&id: &ValueId| {
            let value = graph.value(id);
            let node = match value.origin {
                Origin::Node(node, _) => Some(&*graph.nodes()[node].name),
                _ => None,
            };
            let of_value = object!(InferredValueJson {
                fact: Flattened(inferred_json(inference, inference.fact(id))),
                node: Maybe(node),
                operator: Maybe(operator(graph, id)),
                bytes: self.shown.bytes[id.index()].map(|bytes| dim_json(inference, bytes)),
            });
            (&*value.name, of_value)
        };
        serializer.collect_map(self.shown.ids.iter().map(value))
    }
}

/// Graphs within nodes, by path.
struct SubgraphsJson<'a> {
    inference: &'a Inference,
    shown: &'a ShownValues<'a>,
}

/// The values of a graph within a node.
struct BodyValues<'a> {
    inference: &'a Inference,
    body: &'a Subgraph,
    shown: &'a ShownValues<'a>,
}

impl Serialize for BodyValues<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let shown = self.shown.of(self.inference, self.body);
        serializer.collect_map(shown.map(|(name, fact)| (name, inferred_json(self.inference, fact))))
    }
}

impl Serialize for SubgraphsJson<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (inference, shown) = (self.inference, self.shown);
        serializer.collect_map(inference.subgraphs().iter().map(|body| {
            let values = BodyValues { inference, body, shown };
            (&body.path, object!(BodyJson { values }))
        }))
    }
}

/// Why values are not known in full, by name.
struct Reasons<'a> {
    inference: &'a Inference,
    graph: &'a Graph,
}

impl Serialize for Reasons<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let unknown = self.graph.ids().filter(|&id| is_unknown(self.inference, self.inference.fact(id)));
        serializer
            .collect_map(unknown.map(|id| (&*self.graph.value(id).name, self.inference.why_incomplete(id))))
    }
}

#[derive(Serialize)]
pub(super) struct Totals<'a> {
    pub(super) parameters: u128,
    pub(super) peak_bytes: Option<DimJson<'a>>,
    pub(super) peak_at: Option<String>,
    pub(super) peak_unknown: usize,
}

#[derive(Serialize)]
pub(in crate::commands) struct Remark<'a> {
    place: &'a str,
    message: &'a str,
}

/// A number, or an expression as text.
///
/// Texts are made as they are written: those of all values together may be much longer than the
/// model.
#[derive(Clone, Copy)]
pub(in crate::commands) struct DimJson<'a>(pub(in crate::commands) Printed<'a>);

impl Serialize for DimJson<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.dim() {
            Dim::Known(value) => serializer.serialize_i64(value),
            Dim::Symbolic(_) => serializer.collect_str(&self.0),
        }
    }
}

/// A dimension as JSON: a number or an expression.
pub(in crate::commands) fn dim_json(inference: &Inference, dim: Dim) -> DimJson<'_> {
    DimJson(inference.symbols().print(dim))
}

impl<'a> Totals<'a> {
    /// Parameters and peak of memory of a model as JSON.
    pub(super) fn new(model: &Model, peak: Option<Peak>, inference: &'a Inference) -> Totals<'a> {
        let graph = model.graph();
        Totals {
            parameters: model.parameters(),
            peak_bytes: peak.map(|peak| dim_json(inference, peak.bytes)),
            peak_at: peak.map(|peak| graph.nodes()[peak.node].label(peak.node)),
            peak_unknown: peak.map_or(0, |peak| peak.unknown),
        }
    }
}

/// A relation of two dimensions as JSON.
pub(super) fn relation_json<'a>(
    symbols: &'a Symbols,
    of: &Condition,
) -> impl JsonFields + Serialize + use<'a> {
    let (left, right) = (DimJson(symbols.print(of.left)), DimJson(symbols.print(of.right)));
    object!(RelationJson { left, relation: of.relation.symbol(), right })
}

/// The conditions of a model on its inputs.
fn conditions_json(inference: &Inference) -> Vec<impl Serialize> {
    let relation = |of: &Condition| relation_json(inference.symbols(), of);
    let json = inference.conditions().iter().map(|of| {
        object!(ConditionJson {
            text: &of.text,
            place: &of.node,
            why: of.why.name(),
            // Conditions that are no relation of sizes, or of elements of inputs, have none.
            relation: of.relation.as_ref().map(relation),
            elements: Maybe(of.elements.as_ref().map(|of| object!(ElementsJson {
                input: &of.input,
                min: dim_json(inference, of.min),
                max: dim_json(inference, of.max),
            }))),
            among: Maybe(of.among()),
            // Nothing where the node may not run and sizes do not tell.
            when: of.when.guards().map(|all| all.iter().map(relation).collect::<Vec<_>>()),
        })
    });
    json.collect()
}

impl Remark<'_> {
    /// The conditions, as texts.
    pub(in crate::commands) fn assumptions(inference: &Inference) -> Vec<Remark<'_>> {
        inference.conditions().iter().map(|a| Remark { place: &a.node, message: &a.text }).collect()
    }

    /// The warnings of inference.
    pub(in crate::commands) fn warnings(inference: &Inference) -> Vec<Remark<'_>> {
        inference.warnings().iter().map(|p| Remark { place: &p.place, message: &p.message }).collect()
    }

    /// The problems that inference found.
    pub(in crate::commands) fn problems(inference: &Inference) -> Vec<Remark<'_>> {
        inference.problems().iter().map(|p| Remark { place: &p.place, message: &p.message }).collect()
    }
}

/// A fact as JSON, with the reasons why it is incomplete.
pub(super) fn inferred_json<'a>(
    inference: &'a Inference,
    fact: &Fact,
) -> impl JsonFields + Serialize + use<'a> {
    let (fresh, unknown) = match inference.completeness(fact) {
        Completeness::Full => (Vec::new(), Vec::new()),
        _ => inference.fresh(fact),
    };
    let dims = fact.as_tensor().and_then(|fact| fact.dims.as_ref());
    object!(InferredJson {
        r#type: type_name(fact),
        shape: dims.map(|dims| dims.iter().map(|&dim| dim_json(inference, dim)).collect::<Vec<_>>()),
        fresh,
        unknown: nonempty(unknown),
    })
}

/// Writes what is known as one line of JSON.
pub(super) fn write_json(
    shown: &ShownValues<'_>,
    totals: Totals<'_>,
    path: &Path,
    model: &Model,
    inference: &Inference,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let graph = model.graph();
    let bodies = SubgraphsJson { inference, shown };
    let json = object!(Inferred {
        model: path.display().to_string(),
        values: ValueList { inference, graph, shown },
        bodies: Maybe(Some(bodies).filter(|_| !inference.subgraphs().is_empty())),
        totals,
        unknown: Reasons { inference, graph },
        conditions: conditions_json(inference),
        assumptions: Remark::assumptions(inference),
        warnings: Remark::warnings(inference),
        problems: Remark::problems(inference),
    });
    output::write_json(out, &json)
}
