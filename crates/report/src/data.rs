//! The data of a page: values, nodes and costs as columns whose sizes are indices of formulas.

use std::hash::Hash;

use foldhash::HashMap;
use gradus::cost::{Cost, Counts};
use gradus::graph::{Attribute, Graph, Node, Origin, ValueId};
use gradus::infer::{Completeness, Inference};
use gradus::text::escaped;
use gradus::{DType, Dim, Fact, TensorFact, diff};
use serde::Serialize;

use crate::formulas::{Exact, Formulas, PageRelation, Table};

/// Data that the script of a page reads.
#[derive(Debug, Serialize)]
pub(crate) struct PageData {
    #[serde(flatten)]
    pub(crate) table: Table,
    operators: Vec<String>,
    /// Attributes of nodes, a line each.
    attributes: Vec<String>,
    types: Vec<String>,
    /// Elements that are known, as text.
    elements: Vec<String>,
    /// Lists of formulas; text for what is no tensor.
    shapes: Vec<ShapeJson>,
    values: ValueColumns,
    /// In the order of a run.
    nodes: NodeColumns,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    /// Why values are not known in full, by index.
    reasons: Vec<(usize, Vec<String>)>,
    bodies: Vec<PageBody>,
    totals: TotalsJson,
    /// In the order in which the page lists them; null for those that have no expressions.
    conditions: Vec<Option<PageCondition>>,
    /// Steps of the run, and bytes within the graphs of the node.
    within: Vec<(usize, usize)>,
    /// The model that this one is compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) other: Option<OtherData>,
}

/// The sums of another model, which formulas of its own give.
#[derive(Debug, Serialize)]
pub(crate) struct OtherData {
    name: String,
    #[serde(flatten)]
    table: Table,
    totals: TotalsJson,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
enum ShapeJson {
    Sizes(Vec<usize>),
    Text(String),
}

/// The values of the main graph. A column has an entry for each; null is nothing.
#[derive(Debug, Default, Serialize)]
struct ValueColumns {
    name: Vec<String>,
    r#type: Vec<Option<usize>>,
    shape: Vec<Option<usize>>,
    bytes: Vec<Option<usize>>,
    /// 0: an input, 1: a constant, 2: of a node, 3: an input with a default, 4: of a node, and all
    /// elements are numbers.
    kind: Vec<u8>,
    /// The place of its elements in their list, counted from 1; 0 where none are known.
    elements: Vec<usize>,
    /// Steps of the run from the node that makes it to the last that needs it.
    lasts: Vec<Option<usize>>,
}

impl ValueColumns {
    /// Empty columns with room for `count` values.
    fn with_room(count: usize) -> ValueColumns {
        ValueColumns {
            name: Vec::with_capacity(count),
            r#type: Vec::with_capacity(count),
            shape: Vec::with_capacity(count),
            bytes: Vec::with_capacity(count),
            kind: Vec::with_capacity(count),
            elements: Vec::with_capacity(count),
            lasts: Vec::with_capacity(count),
        }
    }
}

/// The nodes of the main graph.
#[derive(Debug, Default, Serialize)]
struct NodeColumns {
    name: Vec<NodeName>,
    operator: Vec<usize>,
    /// The place of its attributes in their list, counted from 1; 0 of a node without.
    attributes: Vec<usize>,
    /// A character for each: `1` where the elements of the first output follow from sizes.
    of_sizes: String,
    inputs: Vec<Vec<Option<usize>>>,
    outputs: Vec<Vec<Option<usize>>>,
    parameters: Vec<Exact>,
    #[serde(flatten)]
    counts: Counts<Vec<Option<usize>>>,
}

impl NodeColumns {
    /// Empty columns with room for `count` nodes.
    fn with_room(count: usize) -> NodeColumns {
        NodeColumns {
            name: Vec::with_capacity(count),
            operator: Vec::with_capacity(count),
            attributes: Vec::with_capacity(count),
            of_sizes: String::with_capacity(count),
            inputs: Vec::with_capacity(count),
            outputs: Vec::with_capacity(count),
            parameters: Vec::with_capacity(count),
            counts: Counts::default(),
        }
    }
}

/// The name of a node.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum NodeName {
    Text(String),
    /// The name of the first output without its last bytes, which are ASCII; their number.
    OfOutput(usize),
}

impl NodeName {
    fn new(name: String, output: Option<&str>) -> NodeName {
        match output.and_then(|output| output.strip_prefix(&*name)) {
            Some(rest) if rest.is_ascii() => NodeName::OfOutput(rest.len()),
            _ => NodeName::Text(name),
        }
    }
}

/// The values of a graph within a node, or of a function: name, type and shape.
#[derive(Debug, Serialize)]
struct PageBody {
    path: String,
    values: Vec<(String, Option<usize>, Option<usize>)>,
}

/// The sums that the library gives, as formulas.
#[derive(Debug, Serialize)]
struct TotalsJson {
    #[serde(flatten)]
    counts: Counts<Option<usize>>,
    peak: Option<usize>,
    in_place: Option<usize>,
    inputs: Option<usize>,
    constants: Exact,
    parameters: Exact,
}

/// A condition on sizes, and where it comes from.
#[derive(Debug, Serialize)]
struct PageCondition {
    when: Vec<PageRelation>,
    holds: PageRelation,
    text: String,
    place: String,
}

/// A list of distinct things, by index.
#[derive(Debug)]
struct Distinct<T>(Vec<T>, HashMap<T, usize>);

impl<T: Clone + Eq + Hash> Distinct<T> {
    fn new() -> Distinct<T> {
        Distinct(Vec::new(), HashMap::default())
    }

    fn index(&mut self, of: T) -> usize {
        let next = self.0.len();
        let index = *self.1.entry(of.clone()).or_insert(next);
        if index == next {
            self.0.push(of);
        }
        index
    }
}

/// Shapes and types, each once.
struct Facts {
    types: Distinct<String>,
    shapes: Distinct<ShapeJson>,
}

impl Facts {
    fn of(&mut self, inference: &Inference, formulas: &mut Formulas<'_>, fact: &Fact) -> [Option<usize>; 2] {
        match fact {
            Fact::Tensor(tensor) => {
                let dtype = tensor.dtype.map(|dtype: DType| self.types.index(dtype.name().to_owned()));
                let sizes = |dims: &[Dim]| dims.iter().map(|&dim| formulas.index(dim)).collect();
                let shape = tensor.dims.as_deref().map(sizes);
                [dtype, shape.map(|sizes| self.shapes.index(ShapeJson::Sizes(sizes)))]
            }
            Fact::Sequence(_) | Fact::Optional(_) | Fact::Map(..) => {
                let text = escaped(&inference.describe(fact)).into_owned();
                [None, Some(self.shapes.index(ShapeJson::Text(text)))]
            }
            Fact::Unknown => [None, None],
        }
    }
}

fn text(name: &str) -> String {
    escaped(name).into_owned()
}

/// The nodes by columns, with the operators and the lists of attributes that they name by index.
fn columns_of_nodes(
    graph: &Graph,
    cost: &Cost,
    names: &[String],
    formulas: &mut Formulas<'_>,
) -> (NodeColumns, Distinct<String>, Distinct<String>) {
    let inference = cost.inference();
    let (mut operators, mut attributes) = (Distinct::new(), Distinct::new());
    let mut nodes = NodeColumns::with_room(cost.nodes.len());
    let mut counts = std::array::from_fn(|_| Vec::with_capacity(cost.nodes.len()));
    let slots = |ids: &[Option<ValueId>]| ids.iter().map(|id| id.map(ValueId::index)).collect();
    for of in &cost.nodes {
        let node = &graph.nodes()[of.node];
        let name = if node.name.is_empty() { node.label(of.node) } else { text(&node.name) };
        let output = node.outputs.first().copied().flatten();
        nodes.name.push(NodeName::new(name, output.map(|id| &*names[id.index()])));
        nodes.operator.push(operators.index(text(&node.operator.to_string())));
        let lines = attributes_of(node);
        nodes.attributes.push(if lines.is_empty() { 0 } else { attributes.index(lines) + 1 });
        let first = output.map(|id| inference.fact(id)).and_then(Fact::as_tensor);
        nodes.of_sizes.push(if first.is_some_and(TensorFact::has_elements) { '1' } else { '0' });
        nodes.inputs.push(slots(&node.inputs));
        nodes.outputs.push(slots(&node.outputs));
        nodes.parameters.push(exact(of.parameters));
        let formula = of.counts.map(|dim| Some(formulas.index(dim?)));
        counts.iter_mut().zip(formula.into_array()).for_each(|(column, count)| column.push(count));
    }
    nodes.counts = counts.into();
    (nodes, operators, attributes)
}

/// The data of a page about a model.
pub(crate) fn data(graph: &Graph, cost: &mut Cost) -> PageData {
    let bytes: Vec<_> = graph.ids().map(|id| cost.bytes(id)).collect();
    let lifetimes = cost.lifetimes(graph);
    let inference = cost.inference();
    let mut formulas = Formulas::new(inference.symbols());
    // Symbols of the inputs come first, in their order.
    for dim in graph.inputs().iter().filter_map(|&id| inference.fact(id).as_tensor()?.dims.clone()) {
        for &dim in &*dim {
            formulas.index(dim);
        }
    }
    let within = cost.memory.within.iter().map(|&(step, bytes)| (step, formulas.index(bytes))).collect();
    let mut facts = Facts { types: Distinct::new(), shapes: Distinct::new() };
    let mut values = ValueColumns::with_room(graph.values().len());
    let mut elements = Distinct::new();
    let mut reasons = Vec::new();
    for id in graph.ids() {
        let (info, fact) = (graph.value(id), inference.fact(id));
        let [dtype, shape] = facts.of(inference, &mut formulas, fact);
        values.name.push(text(&info.name));
        values.r#type.push(dtype);
        values.shape.push(shape);
        values.bytes.push(bytes[id.index()].map(|dim| formulas.index(dim)));
        values.kind.push(match info.origin {
            Origin::Node(..) if fact.as_tensor().is_some_and(TensorFact::is_constant) => 4,
            Origin::Node(..) => 2,
            Origin::Input if graph.constant(id).is_some() => 3,
            Origin::Constant => 1,
            _ => 0,
        });
        values.elements.push(match inference.elements(fact) {
            Some(known) => elements.index(text(&known)) + 1,
            None => 0,
        });
        let life = lifetimes[id.index()];
        values.lasts.push(life.map(|life| life.last - life.made));
        if inference.completeness(fact) > Completeness::Full {
            let why = inference.why_incomplete(id);
            reasons.push((id.index(), why.iter().map(|why| text(why)).collect()));
        }
    }
    let (nodes, operators, attributes) = columns_of_nodes(graph, cost, &values.name, &mut formulas);
    let bodies = inference.subgraphs().iter().map(|body| PageBody {
        path: text(&body.path),
        values: body
            .values
            .iter()
            .map(|(name, fact)| {
                let [dtype, shape] = facts.of(inference, &mut formulas, fact);
                (text(name), dtype, shape)
            })
            .collect(),
    });
    let bodies = bodies.collect();
    let totals = totals(cost, &mut formulas);
    let conditions = inference.conditions().iter().map(|of| {
        let relation = of.relation?;
        Some(PageCondition {
            when: of.when.guards()?.iter().map(|of| formulas.relation(of)).collect(),
            holds: formulas.relation(&relation),
            text: text(&of.text),
            place: text(&of.node),
        })
    });
    let conditions = conditions.collect();
    let indices = |ids: &[ValueId]| ids.iter().map(|id| id.index()).collect();
    PageData {
        table: formulas.finish(),
        operators: operators.0,
        attributes: attributes.0,
        types: facts.types.0,
        elements: elements.0,
        shapes: facts.shapes.0,
        values,
        nodes,
        inputs: indices(graph.inputs()),
        outputs: indices(graph.outputs()),
        reasons,
        bodies,
        totals,
        conditions,
        within,
        other: None,
    }
}

/// The attributes of a node as text, a line each.
fn attributes_of(node: &Node) -> String {
    let line = |of: &Attribute| {
        // Lines that cannot be read have a remark of their own.
        let content = diff::attribute_text(&of.content).unwrap_or_else(|error| error.to_string());
        text(&format!("{} = {content}", of.name))
    };
    node.attributes.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn totals(cost: &Cost, formulas: &mut Formulas<'_>) -> TotalsJson {
    let mut formula = |dim: Option<Dim>| dim.map(|dim| formulas.index(dim));
    TotalsJson {
        counts: cost.total.counts.map(&mut formula),
        peak: formula(cost.memory.peak.map(|peak| peak.bytes)),
        in_place: formula(cost.memory.in_place.map(|peak| peak.bytes)),
        inputs: formula(cost.memory.inputs),
        constants: exact(cost.memory.constants),
        parameters: exact(cost.total.parameters),
    }
}

/// The data about a model that another is compared with.
pub(crate) fn other(name: &str, cost: &Cost) -> OtherData {
    let mut formulas = Formulas::new(cost.inference().symbols());
    let totals = totals(cost, &mut formulas);
    OtherData { name: text(name), table: formulas.finish(), totals }
}

fn exact(count: u128) -> Exact {
    Exact(i128::try_from(count).unwrap_or(i128::MAX))
}
