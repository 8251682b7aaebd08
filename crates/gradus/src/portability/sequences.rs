//! Sequences of a model whose arguments are known, as programs return them for one call: `Range` of
//! each standard, and what Paddle and Gradus have for linspace, logspace and geomspace.
//!
//! They are those of the model itself: converted, a linspace is a constant, or a chain of products and
//! sums that no program has.

use gradus_core::graph::{Graph, Node, Standard, ValueId};
use gradus_core::{DType, Number, Result, text};
use gradus_profiles::{LinspaceCall, LogspaceCall, Profile, RangeCall, geomspace, linspace, logspace, range};
use gradus_sequences::{GeomspacePlan, LinspacePlan, LogspacePlan, RangePlan};

use crate::attributes::Attributes;
use crate::compare::{Found, compare};
use crate::fact::{Fact, TensorFact};
use crate::model::Model;
use crate::normalize::Form;
use crate::operators::{self, Sequence};
use gradus_engine::infer::{InferOptions, Inference, SubgraphFacts, function_of_node, graphs_of_node};

/// Maximum number of sequences of a model that are compared.
const MAX_SEQUENCES: usize = 100;

/// The names of arguments in errors.
const LABELS: [&str; 4] = ["start", "stop", "base", "num"];

/// A sequence of a model whose arguments are known.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ModelSequence {
    /// The node, after the nodes whose graphs it is in.
    pub node: String,
    /// Its operator.
    pub operator: String,
    /// The call, as `gradus compare` takes it: `linspace 0 1 11 --in-dtype float32 --dtype float32`.
    pub call: String,
    /// The result of each program, the exact one first, or why it returns none; without programs that
    /// lack the function.
    pub results: Vec<(Profile, std::result::Result<Found, String>)>,
}

impl ModelSequence {
    /// Returns true if a program returns another sequence, or none.
    pub fn differs(&self) -> bool {
        self.results.iter().any(|(_, result)| !result.as_ref().is_ok_and(|found| found.exact))
    }
}

impl Model {
    /// The sequences of the model whose arguments are known, as programs return them; at most 100.
    /// Sizes of inputs that [`InferOptions::sizes`] gives count as known.
    ///
    /// # Errors
    /// As [`Source::infer`](crate::Source::infer).
    ///
    /// ```
    /// use gradus::infer::InferOptions;
    /// let model = gradus::Model::open("../../examples/range_const.xml")?;
    /// let sequences = model.sequences(&InferOptions::default())?;
    /// assert_eq!(sequences[0].operator, "Range");
    /// # Ok::<(), gradus::Error>(())
    /// ```
    pub fn sequences(&self, options: &InferOptions) -> Result<Vec<ModelSequence>> {
        let mut open = vec![self.graph()];
        while let Some(graph) = open.pop() {
            let standard = self.source().standard;
            if graph.nodes().iter().any(|node| sequence_of(standard, node).is_some()) {
                return Ok(of_model(self, &self.infer(options)?));
            }
            open.extend(graph.nodes().iter().flat_map(|node| node.graphs().map(|graph| &**graph)));
        }
        Ok(Vec::new())
    }
}

/// The sequences of a model of which this is known.
pub(super) fn of_model(model: &Model, inference: &Inference) -> Vec<ModelSequence> {
    let bodies = SubgraphFacts::new(inference.subgraphs().to_vec());
    let mut found = Vec::new();
    let mut open = vec![(model.graph(), inference.facts().to_vec(), Vec::new(), String::new())];
    while let Some((graph, facts, path, label)) = open.pop() {
        for &index in graph.order() {
            let node = &graph.nodes()[index];
            let label = label.clone() + &node.label(index);
            // Results of a function depend on its calls, and its nodes are not those of the model.
            let is_call = function_of_node(model, node).is_some();
            for (number, inner) in graphs_of_node(model, node).enumerate().filter(|_| !is_call) {
                let path: Vec<_> = path.iter().copied().chain([(index, number)]).collect();
                let Some(facts) = bodies.get(&path).map(<[Fact]>::to_vec) else { continue };
                open.push((inner, facts, path, format!("{label}, ")));
            }
            let arguments =
                SequenceArguments { standard: model.source().standard, graph, facts: &facts, node };
            let Some((call, results)) = arguments.results() else { continue };
            let operator = node.operator.to_string();
            found.push(ModelSequence { node: label, operator, call, results });
            if found.len() == MAX_SEQUENCES {
                return found;
            }
        }
    }
    found
}

/// The sequence that a node makes, if it makes one.
fn sequence_of(standard: Standard, node: &Node) -> Option<Sequence> {
    operators::row_of(standard, node)?.sequence
}

type Results = Vec<(Profile, std::result::Result<Found, String>)>;

/// A node, and what its inputs are.
struct SequenceArguments<'a> {
    standard: Standard,
    graph: &'a Graph,
    facts: &'a [Fact],
    node: &'a Node,
}

impl SequenceArguments<'_> {
    fn input(&self, input: usize) -> Option<ValueId> {
        self.node.inputs.get(input).copied().flatten()
    }

    fn dtype(&self, input: usize) -> Option<DType> {
        self.facts[self.input(input)?.index()].as_tensor()?.dtype
    }

    /// The only element of an input, if it is known.
    fn number(&self, input: usize) -> Option<Number> {
        let id = self.input(input)?;
        let known = self.facts[id.index()].as_tensor().and_then(TensorFact::tensor);
        let one = |shape: &gradus_core::Shape| shape.len() == 1;
        let constant = || self.graph.constant(id).filter(|it| one(it.shape()))?.tensor().ok();
        known.or_else(constant)?.only_number().ok()
    }

    /// The call and the results of programs; nothing of another operator, or of arguments that are
    /// not known.
    fn results(&self) -> Option<(String, Results)> {
        let attributes = Attributes::new(&self.node.attributes, Form::of_node(self.standard, self.node));
        match (sequence_of(self.standard, self.node)?, self.standard) {
            (Sequence::Range, Standard::Onnx) => {
                let dtype = self.dtype(0)?;
                self.range(self.input(2).map_or(Some(Number::Int(1)), |_| self.number(2))?, dtype)
            }
            (Sequence::Range, Standard::OpenVino) => {
                let dtype = attributes.dtype("output_type").ok().flatten();
                self.range(self.number(2)?, dtype.or_else(|| self.dtype(0))?)
            }
            (Sequence::Range, Standard::Paddle) => {
                let dtype = attributes.dtype("dtype").ok().flatten();
                self.range(self.number(2)?, dtype.or_else(|| self.dtype(0))?)
            }
            (Sequence::LinSpace, _) => self.space(&attributes, None, false),
            (Sequence::LogSpace, _) => self.space(&attributes, Some(self.number(3)?), false),
            (Sequence::GeomSpace, _) => self.space(&attributes, None, true),
        }
    }

    fn range(&self, step: Number, dtype: DType) -> Option<(String, Results)> {
        let (start, stop) = (self.number(0)?, self.number(1)?);
        let call = RangeCall::new([start, stop, step], self.dtype(0)?, dtype).ok()?;
        let exact = RangePlan::new(start, stop, step, dtype)
            .map_err(|error| error.describe(["start", "stop", "step"]));
        let results = compare(&exact, |profile| range(profile, &call));
        let of = self.dtype(0)?;
        let [start, stop, step] = [start, stop, step].map(|number| text::shortest(number, of));
        Some((format!("range {start} {stop} {step} --in-dtype {of} --dtype {dtype}"), results))
    }

    /// A linspace; a logspace of a base; or a geomspace.
    fn space(
        &self,
        attributes: &Attributes<'_>,
        base: Option<Number>,
        is_geometric: bool,
    ) -> Option<(String, Results)> {
        let (start, stop, Number::Int(num)) = (self.number(0)?, self.number(1)?, self.number(2)?) else {
            return None;
        };
        let dtype = attributes.dtype("dtype").ok().flatten().or_else(|| self.dtype(0))?;
        let endpoint = self.standard == Standard::Paddle || attributes.flag("endpoint", true).ok()?;
        let count = u64::try_from(num).ok()?;
        let call = LinspaceCall { start, stop, num: i64::try_from(num).ok()?, endpoint, dtype };
        let described = |error: gradus_sequences::SpaceError| error.describe(LABELS);
        let (name, results) = match base {
            _ if is_geometric => {
                let exact = GeomspacePlan::new(start, stop, count, endpoint, dtype).map_err(described);
                ("geomspace", compare(&exact, |profile| geomspace(profile, &call)))
            }
            Some(base) => {
                let exact = LogspacePlan::new(base, start, stop, count, endpoint, dtype).map_err(described);
                let call = LogspaceCall { exponents: call, base };
                ("logspace", compare(&exact, |profile| logspace(profile, &call)))
            }
            None => {
                let exact = LinspacePlan::new(start, stop, count, endpoint, dtype).map_err(described);
                ("linspace", compare(&exact, |profile| linspace(profile, &call)))
            }
        };
        let of = self.dtype(0)?;
        let [start, stop] = [start, stop].map(|number| text::shortest(number, of));
        let base = base.map_or_else(String::new, |base| {
            format!(" --base {}", text::shortest(base, self.dtype(3).unwrap_or(of)))
        });
        let open = if endpoint { "" } else { " --no-endpoint" };
        Some((format!("{name} {start} {stop} {num}{open}{base} --in-dtype {of} --dtype {dtype}"), results))
    }
}
