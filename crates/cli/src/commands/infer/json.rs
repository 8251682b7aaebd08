//! Inferred facts as JSON.

use std::borrow::Cow;
use std::io::Write;
use std::path::Path;

use gradus::dim::{Condition, Printed};
use gradus::graph::{Graph, Origin, ValueId};
use gradus::infer::{Completeness, Inference, Peak, Subgraph};
use gradus::{Dim, Fact, Model};
use serde::Serialize;

use super::{ShownValues, is_unknown, operator, type_name};
use crate::diagnostics::Failure;
use crate::output;

#[derive(Serialize)]
struct Inferred<'a> {
    model: String,
    values: ValueList<'a>,
    #[serde(skip_serializing_if = "SubgraphsJson::is_empty")]
    bodies: SubgraphsJson<'a>,
    totals: Totals<'a>,
    unknown: Reasons<'a>,
    conditions: Vec<ConditionJson<'a>>,
    assumptions: Vec<Remark<'a>>,
    warnings: Vec<Remark<'a>>,
    problems: Vec<Remark<'a>>,
}

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
            let of_value = InferredValueJson {
                fact: InferredJson::of(inference, inference.fact(id)),
                node,
                operator: operator(graph, id),
                bytes: self.shown.bytes[id.index()].map(|bytes| dim_json(inference, bytes)),
            };
            (&*value.name, of_value)
        };
        serializer.collect_map(self.shown.ids.iter().map(value))
    }
}

/// A value of the main graph.
#[derive(Serialize)]
struct InferredValueJson<'a> {
    #[serde(flatten)]
    fact: InferredJson<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operator: Option<&'a str>,
    bytes: Option<DimJson<'a>>,
}

/// Graphs within nodes, by path.
struct SubgraphsJson<'a> {
    inference: &'a Inference,
    shown: &'a ShownValues<'a>,
}

impl SubgraphsJson<'_> {
    fn is_empty(&self) -> bool {
        self.inference.subgraphs().is_empty()
    }
}

#[derive(Serialize)]
struct BodyJson<'a> {
    values: BodyValues<'a>,
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
        serializer.collect_map(shown.map(|(name, fact)| (name, InferredJson::of(self.inference, fact))))
    }
}

impl Serialize for SubgraphsJson<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (inference, shown) = (self.inference, self.shown);
        serializer.collect_map(inference.subgraphs().iter().map(|body| {
            let values = BodyValues { inference, body, shown };
            (&body.path, BodyJson { values })
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

#[derive(Serialize)]
pub(super) struct InferredJson<'a> {
    r#type: Option<Cow<'static, str>>,
    shape: Option<Vec<DimJson<'a>>>,
    fresh: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown: Vec<String>,
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

/// A condition on the inputs.
#[derive(Serialize)]
pub(in crate::commands) struct ConditionJson<'a> {
    text: &'a str,
    place: &'a str,
    why: &'static str,
    /// True if it is a relation of sizes, or of elements of inputs.
    relation: Option<RelationJson<'a>>,
    /// The numbers between which the elements of an input must lie.
    #[serde(skip_serializing_if = "Option::is_none")]
    elements: Option<ElementsJson<'a>>,
    /// The numbers one of which an expression must be, if it says that of two or more.
    #[serde(skip_serializing_if = "Option::is_none")]
    among: Option<Vec<i64>>,
    /// The relations under which it applies; nothing where its node may not run and sizes do not
    /// tell.
    when: Option<Vec<RelationJson<'a>>>,
}

#[derive(Serialize)]
struct ElementsJson<'a> {
    input: &'a str,
    min: DimJson<'a>,
    max: DimJson<'a>,
}

#[derive(Serialize)]
struct RelationJson<'a> {
    left: DimJson<'a>,
    relation: &'static str,
    right: DimJson<'a>,
}

impl ConditionJson<'_> {
    /// The conditions of a model.
    pub(in crate::commands) fn all(inference: &Inference) -> Vec<ConditionJson<'_>> {
        let relation = |of: &Condition| RelationJson {
            left: dim_json(inference, of.left),
            relation: of.relation.symbol(),
            right: dim_json(inference, of.right),
        };
        let json = inference.conditions().iter().map(|of| ConditionJson {
            text: &of.text,
            place: &of.node,
            why: of.why.name(),
            relation: of.relation.as_ref().map(relation),
            elements: of.elements.as_ref().map(|of| ElementsJson {
                input: &of.input,
                min: dim_json(inference, of.min),
                max: dim_json(inference, of.max),
            }),
            among: of.among(),
            when: of.when.guards().map(|all| all.iter().map(relation).collect()),
        });
        json.collect()
    }
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

impl<'a> InferredJson<'a> {
    /// A fact as JSON, with the reasons why it is incomplete.
    pub(super) fn of(inference: &'a Inference, fact: &Fact) -> InferredJson<'a> {
        let (fresh, unknown) = match inference.completeness(fact) {
            Completeness::Full => (Vec::new(), Vec::new()),
            _ => inference.fresh(fact),
        };
        let dims = fact.as_tensor().and_then(|fact| fact.dims.as_ref());
        InferredJson {
            r#type: type_name(fact),
            shape: dims.map(|dims| dims.iter().map(|&dim| dim_json(inference, dim)).collect()),
            fresh,
            unknown,
        }
    }
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
    let json = Inferred {
        model: path.display().to_string(),
        values: ValueList { inference, graph, shown },
        bodies: SubgraphsJson { inference, shown },
        totals,
        unknown: Reasons { inference, graph },
        conditions: ConditionJson::all(inference),
        assumptions: Remark::assumptions(inference),
        warnings: Remark::warnings(inference),
        problems: Remark::problems(inference),
    };
    output::write_json(out, &json)
}
