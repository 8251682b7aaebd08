//! The term of each value of a graph, in the order of its nodes.

use std::sync::Arc;

use foldhash::{HashMap, HashSet};
use gradus_core::convert::i64_of;
use gradus_core::graph::{Content, DeclaredDim, Graph, Node, Origin, Standard, Type, ValueId};
use gradus_core::sort::SharedSort;
use gradus_core::{DType, Limits, Result};
use gradus_engine::attributes::Attributes;
use gradus_engine::dim::{self, Dim, Symbols};
use gradus_engine::fact::{Dims, Elements, Fact, TensorFact};
use gradus_engine::infer::{Inference, SubgraphFacts};
use gradus_engine::normalize::{Form, former_inputs};
use gradus_engine::operators::registry;
use gradus_engine::operators::{Chance, Checked, Rounding, Row};
use gradus_engine::source::Source;

use crate::attributes::{self, ContentKey};
use crate::laws::{self, Call};
use crate::table::{Arguments, Info, Operator, Table, Term, TermId};
use crate::trail::Trail;
use crate::{Level, UpTo};

/// Makes the terms of values.
pub struct Terms<'m> {
    pub table: Table,
    pub symbols: Symbols,
    bodies: SubgraphFacts,
    runs: HashMap<Vec<(usize, usize)>, u32>,
    pub limits: &'m Limits,
    pub source: &'m Source,
    /// The differences that laws may allow.
    pub up_to: UpTo,
    /// Results of constants that laws computed.
    pub computed: usize,
    /// Terms that are the same but for signs of zeros.
    pub signless: HashMap<TermId, TermId>,
    /// Outputs of calls that laws did not look at.
    pub formed: HashSet<TermId>,
    /// The outputs of the calls of nodes.
    calls: HashMap<(Arc<Operator>, Arguments), Vec<TermId>>,
    /// Values whose elements have symbols of their own, by these.
    made: HashMap<(Dims, Info), TermId>,
    /// Expressions whose symbols were met.
    met: HashSet<Dim>,
    /// Symbols that were met: by name, which is unique.
    symbols_met: HashSet<Arc<str>>,
    /// Nodes that were visited, of all graphs.
    visited: usize,
    /// Calls of laws by one another.
    pub nested: usize,
    /// The steps.
    pub trail: &'m mut Trail,
}

/// A graph whose values get terms.
struct TermScope<'g> {
    graph: &'g Graph,
    facts: &'g [Fact],
    /// The path to the graph, of a subgraph.
    path: Vec<(usize, usize)>,
    /// Symbols from this one on differ from one run of the graph to the next.
    mark: Option<u32>,
    values: Vec<Option<TermId>>,
    /// By value: elements that inference knows rest on floats that the text does not round.
    unsettled: Vec<bool>,
}

/// Nodes between two checks of the limits.
const STEPS: usize = 1 << 8;

impl<'g> TermScope<'g> {
    fn new(
        graph: &'g Graph,
        facts: &'g [Fact],
        path: Vec<(usize, usize)>,
        mark: Option<u32>,
    ) -> TermScope<'g> {
        let (values, unsettled) = (vec![None; graph.values().len()], vec![false; graph.values().len()]);
        TermScope { graph, facts, path, mark, values, unsettled }
    }
}

impl<'m> Terms<'m> {
    /// The terms of the values of an inferred graph, by value.
    pub fn of(
        source: &'m Source,
        inference: Inference,
        limits: &'m Limits,
        level: Level,
        trail: &'m mut Trail,
    ) -> Result<(Terms<'m>, Vec<Option<TermId>>)> {
        let up_to = level.up_to;
        let graph = source.graph();
        let places = inference.subgraphs().iter().map(|body| body.place.to_vec());
        let runs = places.filter_map(|place| Some((place.clone(), inference.runs(&place)?.mark))).collect();
        let (facts, symbols, bodies, _) = inference.into_parts();
        let mut table = Table::default();
        (table.reals, table.reads_short) = (up_to == UpTo::Rounding, level.reads_short);
        let mut terms = Terms {
            table,
            symbols,
            bodies,
            runs,
            limits,
            source,
            up_to,
            computed: 0,
            signless: HashMap::default(),
            formed: HashSet::default(),
            calls: HashMap::default(),
            made: HashMap::default(),
            met: HashSet::default(),
            symbols_met: HashSet::default(),
            visited: 0,
            nested: 0,
            trail,
        };
        let mut scope = TermScope::new(graph, &facts, Vec::new(), None);
        for &id in graph.inputs() {
            let info = scope.info(&terms.symbols, id);
            let name = graph.value(id).name.clone();
            let own = terms.table.intern(Term::Input(name), info);
            scope.values[id.index()] = Some(terms.known(&scope, id).unwrap_or(own));
        }
        terms.visit(&mut scope)?;
        Ok((terms, scope.values))
    }

    /// Gives the values of a graph terms; those of its inputs are given.
    fn visit(&mut self, scope: &mut TermScope<'_>) -> Result<()> {
        for (id, constant) in scope.graph.constants() {
            if scope.graph.value(*id).origin == Origin::Constant {
                scope.values[id.index()] = Some(self.table.constant(constant)?);
            }
        }
        let graph = scope.graph;
        for &index in graph.order() {
            self.visited += 1;
            if self.visited.is_multiple_of(STEPS) {
                self.limits.check()?;
            }
            self.trail.check()?;
            let node = &graph.nodes()[index];
            Self::settle(scope, node);
            let makes = self.makes_symbols(scope, node);
            let known = |id: &Option<ValueId>| id.filter(|_| !makes).and_then(|id| self.known(scope, id));
            let known: Vec<_> = node.outputs.iter().map(known).collect();
            let is_known = node.outputs.iter().zip(&known).all(|(id, term)| id.is_none() || term.is_some());
            let terms = if is_known { Vec::new() } else { self.node(scope, node, index, makes)? };
            for (slot, id) in node.outputs.iter().enumerate() {
                let Some(id) = id else { continue };
                let Some(term) = known[slot].or(terms.get(slot).copied()) else { continue };
                scope.values[id.index()] = Some(term);
                // Nodes come after their arguments: paths without sums with zero are found
                // however long.
                self.signless(term);
                let fact = scope.facts[id.index()].as_tensor();
                if let (true, Some(Elements::Integers(all))) = (makes, fact.map(|fact| &fact.elements)) {
                    let info = scope.info(&self.symbols, *id);
                    self.made.entry((all.clone(), info)).or_insert(term);
                }
            }
        }
        Ok(())
    }

    /// Returns true if facts about a node's outputs have symbols that inference made for the node.
    fn makes_symbols(&mut self, scope: &TermScope<'_>, node: &Node) -> bool {
        let mut makes = false;
        for id in node.outputs.iter().flatten() {
            let Some(fact) = scope.facts[id.index()].as_tensor() else { continue };
            let elements: &[Dim] = match &fact.elements {
                Elements::Integers(all) => all,
                Elements::Progression(both) => &[both.0, both.1],
                _ => &[],
            };
            for &dim in fact.dims.iter().flat_map(|dims| dims.iter()).chain(elements) {
                if dim.known().is_some() || !self.met.insert(dim) {
                    continue;
                }
                for symbol in self.symbols.symbols_of(dim) {
                    let is_made = symbol.origin != dim::Origin::Input;
                    makes |= self.symbols_met.insert(symbol.name.clone()) && is_made;
                }
            }
        }
        makes
    }

    /// Notes of a node's outputs whether known elements follow from the text of the standard alone.
    fn settle(scope: &mut TermScope<'_>, node: &Node) {
        let row = registry::row_of(Standard::Onnx, node);
        let reads_shapes = row.is_some_and(|row| row.shape_only);
        let exact = |row: &Row| {
            let whole = |id: &ValueId| scope.facts[id.index()].dtype().is_some_and(is_whole);
            let of_integers = node.inputs.iter().flatten().all(whole)
                // Remainders are open of floats, and of divisors that a run refuses.
                && (row.rounding() != Rounding::Open || row.checked == Some(Checked::Remainder))
                && row.chance == Chance::No;
            row.is_exact(node) || of_integers || node.graphs().next().is_some()
        };
        let exact = row.is_some_and(exact);
        let from_unsettled = node.needs().any(|id| scope.unsettled[id.index()]);
        let unsettled = !reads_shapes && (!exact || from_unsettled);
        for id in node.outputs.iter().flatten() {
            scope.unsettled[id.index()] = unsettled;
        }
    }

    /// The term of a value whose elements inference knows.
    fn known(&mut self, scope: &TermScope<'_>, id: ValueId) -> Option<TermId> {
        let fact = scope.facts[id.index()].as_tensor()?;
        if scope.unsettled[id.index()] {
            return None;
        }
        let info = scope.info(&self.symbols, id);
        info.dims.as_ref()?;
        let dtype = fact.dtype?;
        match &fact.elements {
            Elements::Known(tensor) => Some(self.table.tensor(tensor)),
            Elements::Integers(all) if is_whole(dtype) && scope.lasts(&self.symbols, all) => {
                let made = self.made.get(&(all.clone(), info.clone())).copied();
                Some(made.unwrap_or_else(|| self.table.integers(all.clone(), info)))
            }
            Elements::Progression(both)
                if is_whole(dtype) && scope.lasts(&self.symbols, &[both.0, both.1]) =>
            {
                Some(match fact.tensor_within(1 << 13) {
                    Some(tensor) => self.table.tensor(&tensor),
                    None => self.table.intern(Term::Progression(both.0, both.1), info),
                })
            }
            _ => None,
        }
    }

    /// The terms of a node's outputs.
    fn node(&mut self, scope: &TermScope<'_>, node: &Node, index: usize, makes: bool) -> Result<Vec<TermId>> {
        let info = |id: &Option<ValueId>| {
            let info = id.map_or_else(Info::default, |id| scope.info(&self.symbols, id));
            Info { dtype: info.dtype.map(|dtype| self.table.widest(dtype)), ..info }
        };
        let infos: Vec<_> = node.outputs.iter().map(info).collect();
        let Some(mut call) = self.call(scope, node, index, &infos)? else {
            // Subgraphs that run again and again give other values each time.
            let own = scope.path.iter().fold(index, |number, (node, graph)| {
                number.wrapping_mul(31).wrapping_add(node.wrapping_mul(7)).wrapping_add(*graph)
            });
            let context = self.visited;
            let unique = |(slot, info): (usize, Info)| {
                let term = Term::Unique(context, own.wrapping_mul(64).wrapping_add(slot));
                self.table.intern(term, info)
            };
            return Ok(infos.into_iter().enumerate().map(unique).collect());
        };
        if call.is("If") {
            let numbers = call.argument(0).and_then(|condition| self.table.numbers(condition));
            let taken = if numbers.as_deref() == Some(&[0]) { "else_branch" } else { "then_branch" };
            if let (Some([_]), Some(Content::Graph(graph))) = (numbers.as_deref(), node.attribute(taken))
                && let Some(number) = node.graph_number(graph)
                && let Some(outputs) = self.graph(scope, graph, (index, number), None)?.into_iter().collect()
            {
                return Ok(outputs);
            }
        }
        if node.graphs().next().is_some() {
            let (mut context, arguments) = ((*call.operator).clone(), call.arguments.clone());
            context.version = -1;
            let context = Term::Apply(Arc::new(context), arguments, usize::MAX);
            let context = self.table.intern(context, Info::default());
            // Graphs by the name of their attribute, in whatever order a file has them.
            let mut graphs = Vec::new();
            for attribute in &node.attributes {
                let numbered = attribute.content.graphs().iter().zip(graphs.len()..);
                graphs.extend(numbered.map(|(graph, number)| (&*attribute.name, number, graph)));
            }
            graphs.shared_sort_by_key(|(name, number, _)| (*name, *number));
            for (name, number, graph) in graphs {
                call.attributes_mut().push((name.into(), ContentKey::Older("graph".to_owned())));
                let outputs = self.graph(scope, graph, (index, number), Some(context))?;
                let term = Term::Graph(graph.inputs().len(), outputs);
                call.arguments.push(Some(self.table.intern(term, Info::default())));
            }
        }
        self.note_empty_scans(scope, node, index, &mut call);
        // Equal calls have equal outputs, though more may be known of the later one.
        laws::form(self, &mut call);
        let key = (call.operator.clone(), call.arguments.clone());
        if let Some(outputs) = self.calls.get(&key).filter(|outputs| outputs.len() == infos.len()) {
            return Ok(outputs.clone());
        }
        // The sizes that the node makes are what equal nodes are to have in common.
        let outputs = if makes { laws::formed(self, call) } else { laws::apply(self, call) };
        self.calls.insert(key, outputs.clone());
        Ok(outputs)
    }

    /// The operator and arguments of a node in the newest form; nothing if its outputs do not
    /// follow from them, or it is not known what it computes.
    fn call(
        &mut self,
        scope: &TermScope<'_>,
        node: &Node,
        index: usize,
        infos: &[Info],
    ) -> Result<Option<Call>> {
        let Some(row) = registry::row_of(Standard::Onnx, node) else { return Ok(None) };
        let form = Form::of_node(Standard::Onnx, node);
        let attributes = Attributes::new(&node.attributes, form);
        let Some(mut key) = attributes::key(&attributes) else { return Ok(None) };
        let former = former_inputs(&attributes).map_err(|error| error.in_node(node.label(index)))?;
        let count = form.count_of(node.inputs.len());
        let count = former.iter().map(|(input, _)| input + 1).fold(count, usize::max);
        let mut arguments = Arguments::with_capacity(count);
        for input in 0..count {
            let term = if let Some((_, tensor)) = former.iter().find(|(own, _)| *own == input) {
                Some(self.table.tensor(tensor))
            } else {
                let id = form.index_of(input).and_then(|own| node.inputs.get(own).copied().flatten());
                id.and_then(|id| scope.values[id.index()])
            };
            arguments.push(term);
        }
        while arguments.last() == Some(&None) {
            arguments.pop();
        }
        let in_training = || match (&*node.operator.name, arguments.get(2).copied().flatten()) {
            ("Dropout", Some(training)) if self.table.numbers(training).as_deref() != Some(&[0]) => true,
            ("Dropout", _) => attributes::get(&key, "").is_some(),
            _ => {
                let trains = attributes::int(&key, "training_mode").is_some_and(|mode| mode != 0);
                trains || node.outputs.iter().flatten().count() > 1
            }
        };
        let by_chance = match row.chance {
            Chance::No => false,
            Chance::InTraining => in_training(),
            Chance::Yes => true,
        };
        // Bits and texts of floats show their type, which real numbers have not.
        let shows_type = match &*node.operator.name {
            "BitCast" => true,
            "Cast" | "CastLike" => infos.iter().any(|info| info.dtype == Some(DType::String)),
            _ => false,
        };
        if by_chance || row.stateful || !row.is_inferred() || (self.table.reals && shows_type) {
            return Ok(None);
        }
        // The forms of ONNX's own operators say all that versions differ in.
        let version = if node.operator.domain.is_empty() { 0 } else { node.version.unwrap_or(-1) };
        // Where a node names outputs decides what Split does, and perhaps operators of other
        // domains.
        if &*node.operator.name == "Split" || !node.operator.domain.is_empty() {
            key.push((" outputs".into(), ContentKey::Int(i64_of(node.outputs.len()))));
        }
        let (domain, name) = (node.operator.domain.clone(), node.operator.name.clone());
        let operator = Operator { domain, name, version, attributes: key };
        Ok(Some(Call { operator: Arc::new(operator), row, arguments, infos: infos.to_vec() }))
    }

    /// Adds sizes to the attributes of a `Loop` that may run zero times: those of its concatenated
    /// outputs that the body declares, and that do not follow from its nodes.
    fn note_empty_scans(&self, scope: &TermScope<'_>, node: &Node, index: usize, call: &mut Call) {
        let Some(body) = node.graphs().next().filter(|_| call.is("Loop")) else { return };
        let value = |input: usize| node.inputs.get(input).copied().flatten();
        let number = |input| match *self.table.numbers(scope.values[value(input)?.index()]?)? {
            [number] => Some(number),
            _ => None,
        };
        let starts = value(1).is_none() || number(1) == Some(1);
        if starts && number(0).is_some_and(|most| most > 0) {
            return;
        }
        let facts = self.bodies.facts(body, &[&*scope.path, &[(index, 0)]].concat());
        let results = node.outputs.iter().zip(body.outputs().iter().skip(1)).enumerate();
        for (slot, (id, result)) in results.skip(node.inputs.len().saturating_sub(2)) {
            let declared = id.and_then(|id| scope.graph.value(id).declared.as_ref());
            let Some(Type::Tensor(_, Some(sizes))) = declared else { continue };
            let dims = facts[result.index()].as_tensor().and_then(|fact| fact.dims.as_ref());
            let follows =
                |axis: usize| dims.is_some_and(|dims| dims.get(axis).is_none_or(|dim| dim.known().is_some()));
            let size = |(axis, size): (usize, &DeclaredDim)| {
                size.known().filter(|_| !follows(axis)).map_or(-1, i64_of)
            };
            let sizes: Arc<[i64]> = sizes.iter().enumerate().map(size).collect();
            if dims.is_none() || sizes.iter().any(|&size| size >= 0) {
                let name = format!(" sizes of output {slot}").into();
                call.attributes_mut().push((name, ContentKey::Ints(sizes)));
            }
        }
    }

    /// The outputs of a subgraph: as terms with parameters within a context, or of a branch that is
    /// known to run.
    fn graph(
        &mut self,
        around: &TermScope<'_>,
        graph: &Graph,
        place: (usize, usize),
        context: Option<TermId>,
    ) -> Result<Arguments> {
        let mut path = around.path.clone();
        path.push(place);
        let facts = self.bodies.facts(graph, &path);
        let runs = self.runs.get(&path).copied();
        let mark = around.mark.into_iter().chain(runs).min();
        let mut scope = TermScope::new(graph, &facts, path, mark);
        for capture in graph.captures() {
            scope.values[capture.inner.index()] = around.values[capture.outer.index()];
            scope.unsettled[capture.inner.index()] = around.unsettled[capture.outer.index()];
        }
        for (slot, &id) in graph.inputs().iter().enumerate() {
            let info = scope.info(&self.symbols, id);
            let sizes = scope.sizes(&self.symbols, id);
            let term = context.map(|context| {
                self.known(&scope, id).unwrap_or_else(|| {
                    let term = Term::Parameter(context, scope.path.len(), slot, sizes);
                    self.table.intern(term, info)
                })
            });
            scope.values[id.index()] = term;
        }
        self.visit(&mut scope)?;
        Ok(graph.outputs().iter().map(|id| scope.values[id.index()]).collect())
    }
}

/// Returns true of integers and bool.
pub fn is_whole(dtype: DType) -> bool {
    dtype.is_integer() || dtype == DType::Bool
}

impl TermScope<'_> {
    /// Returns true if expressions mean the same in each run of the graph.
    fn lasts(&self, symbols: &Symbols, dims: &[Dim]) -> bool {
        self.mark.is_none_or(|mark| dims.iter().all(|&dim| !symbols.is_newer(dim, mark)))
    }

    fn info(&self, symbols: &Symbols, id: ValueId) -> Info {
        let Some(TensorFact { dtype, dims, .. }) = self.facts[id.index()].as_tensor() else {
            return Info { dtype: None, dims: None };
        };
        let dims = dims.clone().filter(|dims: &Dims| self.lasts(symbols, dims));
        Info { dtype: *dtype, dims }
    }

    /// The sizes of a value that are the same in each run of the graph.
    fn sizes(&self, symbols: &Symbols, id: ValueId) -> Option<Arc<[Option<Dim>]>> {
        let dims = self.facts[id.index()].as_tensor()?.dims.as_ref()?;
        Some(dims.iter().map(|&dim| Some(dim).filter(|&dim| self.lasts(symbols, &[dim]))).collect())
    }
}
