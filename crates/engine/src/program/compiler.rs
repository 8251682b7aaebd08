//! Compilation: every node that is needed is resolved to its operator, once.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::ptr::from_ref;
use std::rc::Rc;
use std::sync::Arc;

use gradus_core::graph::{
    Constant, Content, Function, Graph, Model, Needed, Node, Origin, Standard, ValueId,
};
use gradus_core::sort::SharedSort;
use gradus_core::{Error, Kind, Result};

use super::{FunctionCall, GraphProgram, ProgramStep, RegisteredOp, RunOptions};
use crate::attributes::{Attributes, Parameters};
use crate::constants::{is_constant, is_constant_node};
use crate::lowering;
use crate::normalize::Form;
use crate::op::{self, BuildContext, Op};
use crate::operator::{self, Operator};
use crate::operators::fused::Tail;
use crate::operators::{Row, registry};
use crate::schema::Signature;

/// Maximum number of nodes of subgraphs and functions that are compiled. A function is compiled
/// once for each list of arguments for its attributes, and a small model can make any number of
/// lists.
const MAX_COMPILED: usize = 1_000_000;

/// Makes programs from graphs of one model or function.
pub struct Compiler<'a> {
    standard: Standard,
    functions: &'a [Function],
    operators: &'a [Arc<dyn Operator>],
    options: RunOptions,
    /// The attributes of a function as its call gives them.
    parameters: Parameters<'a>,
    state: Rc<CompileState>,
}

/// State that all graphs of a model share while it is compiled.
#[derive(Default)]
struct CompileState {
    depth: Cell<usize>,
    /// The maximum depth since it was last set.
    deepest: Cell<usize>,
    /// Nodes of subgraphs and functions that were compiled.
    nodes: Cell<usize>,
    /// Compiled functions, with the levels of graphs and functions that each has.
    functions: RefCell<HashMap<CallKey, (Arc<GraphProgram>, usize)>>,
}

/// The number of a function, and the arguments for its attributes by their addresses: the model,
/// which holds them, outlives the compiler.
type CallKey = (usize, Vec<Option<*const Content>>);

impl<'a> Compiler<'a> {
    /// A compiler of a model's main graph.
    pub fn new(model: &'a Model, operators: &'a [Arc<dyn Operator>], options: RunOptions) -> Compiler<'a> {
        Compiler { functions: &model.functions, operators, ..Compiler::plain(model.standard, options) }
    }

    /// A compiler of graphs that only use operators of the standard.
    pub fn plain(standard: Standard, options: RunOptions) -> Compiler<'a> {
        let (parameters, state) = (Parameters::default(), Rc::default());
        Compiler { standard, functions: &[], operators: &[], options, parameters, state }
    }

    /// This compiler, with the attributes that a call gives a function.
    #[must_use]
    pub fn with_parameters(self, parameters: Parameters<'a>) -> Compiler<'a> {
        Compiler { parameters, ..self }
    }

    /// The operator of a node.
    pub fn build(
        &self,
        node: &Node,
        signature: &'static Signature,
        row: &'static Row,
    ) -> Result<Box<dyn Op>> {
        let form = Form::of_node(self.standard, node);
        let attributes = Attributes::new(&node.attributes, form).with_parameters(self.parameters.clone());
        row.check_attributes(&attributes)?;
        attributes.check(signature.name, signature.attributes, self.standard)?;
        let cx = BuildContext { node, row, signature, attributes, compiler: self };
        if let Some(build) = row.body.filter(|_| self.options.expand_functions) {
            return build(&cx);
        }
        let eval = row.eval.ok_or_else(|| {
            Error::new(
                Kind::Unsupported,
                format!("cannot run operator {}: Gradus does not evaluate it", node.operator),
            )
        })?;
        op::build(&cx, eval)
    }

    /// The standard of the graphs.
    pub fn standard(&self) -> Standard {
        self.standard
    }

    /// The options that it was made with.
    pub fn options(&self) -> RunOptions {
        self.options
    }

    /// The program that computes some values of a graph.
    pub fn compile(&self, graph: &Graph, wanted: &[ValueId]) -> Result<GraphProgram> {
        let needed = Needed::new(graph, wanted, &HashSet::new());
        let order: Vec<_> = graph.order().iter().copied().filter(|&index| needed.nodes[index]).collect();
        let mut last_use = vec![None; graph.values().len()];
        for (step, &index) in order.iter().enumerate() {
            graph.nodes()[index].needs().for_each(|id| last_use[id.index()] = Some(step));
        }
        // Inputs, constants and captures belong to others; outputs of the graph go to its caller.
        let mut keep: Vec<_> =
            graph.values().iter().map(|info| !matches!(info.origin, Origin::Node(..))).collect();
        for id in wanted {
            keep[id.index()] = true;
        }
        let mut steps = Vec::with_capacity(order.len());
        for (step, &index) in order.iter().enumerate() {
            let node = &graph.nodes()[index];
            let (label, row, op) = self.operator(node, index)?;
            let (signature, row) = row.unzip();
            let ends =
                |id: &ValueId| last_use[id.index()].is_none_or(|last| last == step) && !keep[id.index()];
            let mut drops: Vec<_> =
                node.needs().chain(node.outputs.iter().copied().flatten()).filter(ends).collect();
            drops.shared_sort();
            drops.dedup();
            let slots = |ids: &[Option<ValueId>]| ids.iter().map(|id| id.map(ValueId::index)).collect();
            let (inputs, outputs) = (slots(&node.inputs), slots(&node.outputs));
            // The value of a node `Constant` is memory of the model, as an initializer is.
            let drops = drops.into_iter().filter(|&id| !is_constant(graph, id)).map(ValueId::index).collect();
            let holds = !is_constant_node(node);
            steps.push(ProgramStep {
                label,
                index,
                signature,
                row,
                op,
                inputs,
                outputs,
                drops,
                holds,
                tail: None,
            });
        }
        if self.standard == Standard::Onnx && !self.options.expand_functions {
            let mut uses = vec![0; graph.values().len()];
            order.iter().flat_map(|&index| graph.nodes()[index].needs()).for_each(|id| uses[id.index()] += 1);
            let uses = |id: ValueId| (!keep[id.index()]).then_some(uses[id.index()]);
            let known = steps.iter().map(|step| step.signature.zip(step.row));
            let nodes: Vec<_> = order.iter().map(|&index| &graph.nodes()[index]).zip(known).collect();
            for (at, step) in steps.iter_mut().enumerate() {
                step.tail = Tail::of(&nodes[at..], uses);
            }
        }
        let held = |(id, constant): &(ValueId, Constant)| {
            needed.values[id.index()].then(|| (id.index(), constant.clone()))
        };
        Ok(GraphProgram {
            steps,
            slots: graph.values().len(),
            inputs: graph.inputs().iter().map(|id| id.index()).collect(),
            outputs: wanted.iter().map(|id| id.index()).collect(),
            captures: graph.captures().iter().map(|c| (c.outer.index(), c.inner.index())).collect(),
            constants: graph.constants().iter().filter_map(held).collect(),
            names: wanted.iter().map(|id| graph.value(*id).name.clone()).collect(),
            required: graph
                .inputs()
                .iter()
                .copied()
                .filter(|id| needed.values[id.index()] && graph.constant(*id).is_none())
                .collect(),
        })
    }

    /// The program of a subgraph.
    pub fn inner(&self, graph: &Graph) -> Result<GraphProgram> {
        let CompileState { depth, deepest, nodes, .. } = &*self.state;
        self.allow_depth(1)?;
        nodes.set(nodes.get() + graph.nodes().len());
        if nodes.get() > MAX_COMPILED {
            let message = format!(
                "cannot compile the model: its functions and subgraphs have more than {MAX_COMPILED} nodes, \
                 counted for each list of attributes"
            );
            return Err(Error::new(Kind::Limit, message));
        }
        depth.set(depth.get() + 1);
        deepest.set(deepest.get().max(depth.get()));
        let result = self.compile(graph, graph.outputs());
        depth.set(depth.get() - 1);
        result
    }

    /// Checks that graphs of `levels` levels may be nested here.
    fn allow_depth(&self, levels: usize) -> Result<()> {
        let most = self.options.limits().max_depth;
        if self.state.depth.get() + levels > most {
            return Err(too_deep(most));
        }
        Ok(())
    }

    fn operator(&self, node: &Node, index: usize) -> Result<(String, Option<SignedRow>, Box<dyn Op>)> {
        if let Some(number) = self.functions.iter().position(|function| function.id == node.operator) {
            let label = format!("{} (function {})", node.label(index), node.operator);
            let call = self.call(number, node).map_err(|error| placed(error, node, &label))?;
            return Ok((label, None, Box::new(call)));
        }
        let plain = format!("{} ({} {})", node.label(index), self.standard, node.operator);
        if let Some(operator) = operator::find(self.operators, node) {
            return Ok((plain, None, self.registered(operator, node)));
        }
        if let Some(op) = lowering::converted(self.standard, node, self.options) {
            return Ok((plain, None, op));
        }
        let (row, signature) =
            registry::evaluated(self.standard, node).map_err(|error| placed(error, node, &plain))?;
        let label =
            format!("{} ({} {}-{})", node.label(index), self.standard, signature.name, signature.since);
        let op = self.build(node, signature, row);
        Ok((label.clone(), Some((signature, row)), op.map_err(|error| placed(error, node, &label))?))
    }

    fn call(&self, number: usize, node: &Node) -> Result<FunctionCall> {
        let function = &self.functions[number];
        let attributes =
            Attributes::new(&node.attributes, Form::NEWEST).with_parameters(self.parameters.clone());
        let parameters = attributes.handed_to(function);
        let body = &function.body;
        let most = body.inputs().len();
        if node.inputs.len() > most {
            let count = node.inputs.len();
            return Err(Error::mismatch(
                Kind::Graph,
                "number of inputs of the function",
                count,
                format_args!("at most {most}"),
            ));
        }
        let arguments = function.attributes.iter();
        let arguments = arguments.map(|(name, _)| parameters.get(&**name).map(|&content| from_ref(content)));
        let key = (number, arguments.collect());
        let known = self.state.functions.borrow().get(&key).cloned();
        let (program, height) = if let Some(known) = known {
            self.allow_depth(known.1)?;
            known
        } else {
            let before = self.state.deepest.replace(self.state.depth.get());
            let state = self.state.clone();
            let program = Arc::new(Compiler { parameters, state, ..*self }.inner(body)?);
            let compiled = (program, self.state.deepest.get() - self.state.depth.get());
            self.state.deepest.set(before);
            self.state.functions.borrow_mut().insert(key, compiled.clone());
            compiled
        };
        self.state.deepest.set(self.state.deepest.get().max(self.state.depth.get() + height));
        Ok(FunctionCall { program })
    }

    /// The operator of a node that an [`Operator`] evaluates.
    pub fn registered(&self, operator: &Arc<dyn Operator>, node: &Node) -> Box<dyn Op> {
        let attributes =
            Attributes::new(&node.attributes, Form::NEWEST).with_parameters(self.parameters.clone());
        Box::new(RegisteredOp { operator: operator.clone(), attributes: attributes.owned() })
    }
}

/// Returns the error of too many levels of graphs and functions.
pub fn too_deep(most: usize) -> Error {
    Error::new(Kind::Limit, format!("graphs and functions are nested more than {most} deep"))
}

fn placed(error: Error, node: &Node, label: &str) -> Error {
    let error = error.in_node(label);
    match node.position {
        Some(position) => error.at(position),
        None => error,
    }
}

/// The version of an operator, and its row.
type SignedRow = (&'static Signature, &'static Row);
