//! Nodes and weights in float16 or bfloat16, where runs show what that loses.
//!
//! A value that a node computes in the short type keeps its name, unless something reads it as
//! float32: then that is what the name stands for, and a Cast is between the two.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use gradus_core::convert::Rules;
use gradus_core::graph::edit::{Kept, Step};
use gradus_core::graph::{Node, Origin, Type};
use gradus_core::{DType, Number, Tensor};
use gradus_engine::infer::{InferOptions, Inference, Sizes};
use gradus_engine::operators::operation::missing_bound;
use gradus_engine::schema::{Param, Signature};

use super::constants::constant_node;
use super::losses::ExactRun;
use super::types::cast;
use super::{Arc, Editor, Error, Graph, GraphEdit, Kind, Model, Result, Standard, ValueId};
use crate::dynamic::constant;
use crate::normalize::has_default_inputs;
use crate::operators::{self, Chance, Role, Rounding, signature};

/// Options of [`Edit::Float16`](super::Edit::Float16).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Float16Options {
    /// The type that takes the place of float32: [`DType::F16`] or [`DType::BF16`].
    pub dtype: DType,
    /// Names of nodes, or of values that they compute, that stay in float32.
    pub keep: Vec<String>,
    /// The largest difference that an output may have, as a part of its largest magnitude; without
    /// one, only nodes that overflow stay in float32.
    pub max_error: Option<f64>,
    /// Sizes and inputs of the runs; others are random.
    pub sizes: Sizes,
    /// The seed of all that is random.
    pub seed: u64,
}

impl Default for Float16Options {
    fn default() -> Float16Options {
        let (keep, sizes) = (Vec::new(), Sizes::default());
        Float16Options { dtype: DType::F16, keep, max_error: None, sizes, seed: 1 }
    }
}

/// A node, by the types of what it reads and computes.
#[derive(Clone, Debug, Default)]
pub(super) struct ShortNode {
    /// Inputs and outputs of float32 that the short type can have too.
    reads: Vec<usize>,
    pub(super) gives: Vec<usize>,
    /// True if nothing is rounded, so that it has the type of what it reads.
    follows: bool,
    /// Why it stays in float32, where it computes with that.
    pub(super) stays: Option<&'static str>,
}

impl ShortNode {
    /// Returns true if the node reads floats and may compute in the short type.
    pub(super) fn may_be_short(&self) -> bool {
        self.stays.is_none() && !self.reads.is_empty()
    }
}

/// A model whose nodes are to have the short type.
pub(super) struct Shortening<'m> {
    pub(super) editor: &'m Editor,
    pub(super) options: &'m Float16Options,
    pub(super) parts: Vec<ShortNode>,
    /// The end of new names, which no value has.
    suffix: String,
    /// By value: true for tensors of float32, and for those that no run gives or computes.
    pub(super) floats: Vec<bool>,
    is_constant: Vec<bool>,
    /// Constants in the short type, each converted once.
    constants: RefCell<HashMap<ValueId, Tensor>>,
    pub(super) runs: Vec<ExactRun>,
}

impl Editor {
    /// Lets nodes compute in float16 or bfloat16.
    pub(super) fn float16(&mut self, options: &Float16Options) -> Result<()> {
        let what = format!("compute in {}", options.dtype);
        self.must_be_onnx(&what)?;
        if !matches!(options.dtype, DType::F16 | DType::BF16) {
            let what = "cannot shorten floats: the type";
            return Err(Error::mismatch(Kind::Usage, what, options.dtype, "float16 or bfloat16"));
        }
        self.must_have_casts(&what)?;
        let shortening = Shortening::new(self, options)?;
        let losses = shortening.losses()?;
        let kept = shortening.chosen(&losses)?;
        let notes = shortening.notes(&kept, &losses)?;
        let edit = shortening.edit(&shortening.modes(&kept))?;
        self.change(&edit)?;
        self.notes.extend(notes);
        Ok(())
    }
}

impl<'m> Shortening<'m> {
    fn new(editor: &'m Editor, options: &'m Float16Options) -> Result<Shortening<'m>> {
        let (model, graph) = (&editor.now, editor.graph());
        let inference = model.infer(&InferOptions::default())?;
        let floats = graph.ids().map(|id| inference.fact(id).dtype() == Some(DType::F32)).collect();
        let mut depends = vec![false; graph.values().len()];
        graph.inputs().iter().for_each(|id| depends[id.index()] = graph.constant(*id).is_none());
        let mut parts = vec![ShortNode::default(); graph.nodes().len()];
        for &index in graph.order() {
            let node = &graph.nodes()[index];
            let row = operators::row_of(Standard::Onnx, node);
            let is_drawn = row.is_some_and(|row| row.chance == Chance::Yes);
            let is_data = node.needs().any(|id| depends[id.index()]);
            let reads_data = is_data && !row.is_some_and(|row| row.shape_only);
            node.outputs.iter().flatten().for_each(|id| depends[id.index()] = reads_data || is_drawn);
            parts[index] = part(model, node, &inference, options.dtype);
            if !is_data && parts[index].may_be_short() {
                parts[index].stays = Some("computing sizes or constants");
            }
        }
        for name in &options.keep {
            let has_name = |id: &ValueId| *graph.value(*id).name == **name;
            let is_named = |node: &Node| *node.name == **name || node.outputs.iter().flatten().any(has_name);
            let Some(index) = graph.nodes().iter().position(is_named) else {
                return Err(Error::unknown("node", name, graph.nodes().iter().map(|node| &*node.name)));
            };
            parts[index].stays = Some("to be kept");
        }
        let are_given = has_default_inputs(model.source());
        let is_constant = graph.ids().map(|id| match graph.value(id).origin {
            Origin::Input => graph.constant(id).is_some() && !are_given,
            Origin::Node(index, _) => &*graph.nodes()[index].operator.name == "Constant",
            origin => origin == Origin::Constant,
        });
        let (is_constant, constants) = (is_constant.collect(), RefCell::default());
        let numbered = (1u64..).map(|number| format!("_{}_{number}", options.dtype));
        let mut suffixes = std::iter::once(format!("_{}", options.dtype)).chain(numbered);
        let suffix = suffixes.find(|suffix| !ends_so(graph, suffix)).unwrap_or_default();
        let mut shortening =
            Shortening { editor, options, parts, suffix, floats, is_constant, constants, runs: Vec::new() };
        shortening.runs = shortening.exact(&inference)?;
        Ok(shortening)
    }

    /// The main graph of the model as it is so far.
    pub(super) fn graph(&self) -> &'m Graph {
        self.editor.graph()
    }

    /// By node: true if it computes in the short type where those of `kept` do not.
    pub(super) fn modes(&self, kept: &HashSet<usize>) -> Vec<bool> {
        let graph = self.graph();
        let mut modes = vec![false; graph.nodes().len()];
        for &index in graph.order() {
            let (node, part) = (&graph.nodes()[index], &self.parts[index]);
            let is_ready = |&slot: &usize| {
                node.inputs[slot].is_none_or(|id| self.is_short(id, &modes) || self.is_constant[id.index()])
            };
            let suits = !part.follows || part.reads.iter().all(is_ready);
            modes[index] = part.may_be_short() && suits && !kept.contains(&index);
        }
        modes
    }

    /// Returns true if a node computes a value in the short type.
    fn is_short(&self, id: ValueId, modes: &[bool]) -> bool {
        let Origin::Node(index, slot) = self.graph().value(id).origin else { return false };
        modes[index] && self.parts[index].gives.contains(&slot)
    }

    /// The name of the short form of a value that has both.
    pub(super) fn short_name(&self, id: ValueId) -> Arc<str> {
        format!("{}{}", self.graph().value(id).name, self.suffix).into()
    }

    /// The largest number of the short type.
    pub(super) fn largest(&self) -> f64 {
        missing_bound(self.options.dtype).unwrap_or(f64::INFINITY)
    }

    /// A constant in the short type. Numbers beyond its largest become that.
    fn short_constant(&self, id: ValueId) -> Result<Tensor> {
        if let Some(known) = self.constants.borrow().get(&id) {
            return Ok(known.clone());
        }
        let dtype = self.options.dtype;
        let most = self.largest();
        let within = |number| match number {
            Number::Float(x) if x.is_finite() => Number::Float(x.clamp(-most, most)),
            other => other,
        };
        let wide = match self.graph().constant(id) {
            Some(constant) => constant.tensor()?,
            None => constant(self.graph(), id).ok_or_else(|| Error::new(Kind::Internal, "no constant"))?,
        };
        let numbers = wide.numbers()?.map(within);
        let short = Tensor::from_numbers(dtype, wide.shape().clone(), numbers, Rules::IEEE)?;
        self.constants.borrow_mut().insert(id, short.clone());
        Ok(short)
    }

    /// By value: whether it is read in float32, and in the short type.
    fn readers(&self, modes: &[bool]) -> [Vec<bool>; 2] {
        let graph = self.graph();
        let mut readers = [false, true].map(|_| vec![false; self.floats.len()]);
        for (index, node) in graph.nodes().iter().enumerate() {
            for (slot, id) in node.inputs.iter().enumerate() {
                let is_short = modes[index] && self.parts[index].reads.contains(&slot);
                if let Some(id) = id {
                    readers[usize::from(is_short)][id.index()] = true;
                }
            }
            let captures = node.graphs().flat_map(|graph| graph.captures());
            captures.for_each(|capture| readers[0][capture.outer.index()] = true);
        }
        graph.outputs().iter().for_each(|id| readers[0][id.index()] = true);
        readers
    }

    /// The change that lets these nodes compute in the short type.
    fn edit(&self, modes: &[bool]) -> Result<GraphEdit> {
        let (graph, dtype) = (self.graph(), self.options.dtype);
        let [wide, short] = self.readers(modes);
        let mut edit = GraphEdit::default();
        // By value: the name of the short form, where it has both; by node, casts after it.
        let (mut names, mut casts) = (HashMap::new(), HashMap::<_, Vec<_>>::new());
        let mut dropped = HashSet::new();
        for id in graph.ids().filter(|id| self.floats[id.index()]) {
            let (info, is_constant) = (graph.value(id), self.is_constant[id.index()]);
            let (computes, wide, short) = (self.is_short(id, modes), wide[id.index()], short[id.index()]);
            if !computes && !short {
                continue;
            }
            let has_both = wide || (!computes && !is_constant);
            let name = if has_both { self.short_name(id) } else { info.name.clone() };
            let step = match info.origin {
                _ if is_constant => None,
                _ if computes => has_both.then(|| cast(&name, &info.name, DType::F32)),
                _ => Some(cast(&info.name, &name, dtype)),
            };
            let step = step.map(|cast| Step::Made(Box::new(cast)));
            match info.origin {
                Origin::Node(index, _) if !is_constant => casts.entry(index).or_default().extend(step),
                Origin::Node(index, _) if !has_both => _ = dropped.insert(index),
                _ => edit.nodes.extend(step),
            }
            if is_constant {
                let (tensor, is_input) = (self.short_constant(id)?, info.origin == Origin::Input);
                if has_default_inputs(self.editor.now.source()) || (is_input && !has_both) {
                    edit.constants.push((name.clone(), tensor));
                } else {
                    // Files of this version list each initializer as an input.
                    edit.nodes.push(constant_node(name.clone(), tensor.into()));
                }
            }
            match &info.declared {
                _ if has_both => _ = names.insert(id, name),
                Some(Type::Tensor(_, sizes)) => {
                    edit.types.push((name, Type::Tensor(Some(dtype), sizes.clone())));
                }
                _ => {}
            }
            if is_constant && !has_both && graph.constant(id).is_some() {
                edit.dropped.insert(info.name.clone());
            }
        }
        for (node, part) in self.parts.iter().enumerate().filter(|(node, _)| !dropped.contains(node)) {
            let of = &graph.nodes()[node];
            let renamed = |slots: &[usize], ids: &[Option<ValueId>]| -> Vec<_> {
                let of = |&slot: &usize| Some((slot, names.get(&ids.get(slot).copied()??)?.clone()));
                if modes[node] { slots.iter().filter_map(of).collect() } else { Vec::new() }
            };
            let inputs = renamed(&part.reads, &of.inputs);
            let outputs = renamed(&part.gives, &of.outputs);
            edit.nodes.push(Step::Kept(Kept { node, inputs, outputs, ..Kept::default() }));
            edit.nodes.extend(casts.remove(&node).unwrap_or_default());
        }
        Ok(edit)
    }

    /// The model in which these nodes compute in the short type.
    pub(super) fn applied(&self, modes: &[bool]) -> Result<Model> {
        let model = &self.editor.now;
        Ok(model.with_source(model.source().apply(&self.edit(modes)?)?))
    }
}

/// Returns true if the name of a value of a graph or of those within ends so.
fn ends_so(graph: &Graph, suffix: &str) -> bool {
    graph.values().iter().any(|value| value.name.ends_with(suffix))
        || graph.nodes().iter().flat_map(Node::graphs).any(|graph| ends_so(graph, suffix))
}

/// A node by the types of what it reads and computes.
fn part(model: &Model, node: &Node, inference: &Inference, dtype: DType) -> ShortNode {
    let type_of = |id: ValueId| inference.fact(id).as_tensor().map(|of| of.dtype);
    let is_float = |id: ValueId| type_of(id) == Some(Some(DType::F32));
    let values = || node.inputs.iter().chain(&node.outputs).copied().flatten();
    if !node.needs().any(is_float) {
        return ShortNode::default();
    }
    let stay = |why| ShortNode { stays: Some(why), ..ShortNode::default() };
    if node.graphs().next().is_some() {
        return stay("holding graphs");
    }
    if model.source().functions.iter().any(|function| function.id == node.operator) {
        return stay("calling functions of the model");
    }
    let row = operators::row_of(Standard::Onnx, node);
    let Some((row, signature)) = row.and_then(|row| Some((row, signature(row, node).ok()?))) else {
        return stay("of operators that are not known");
    };
    if !values().all(|id| matches!(type_of(id), Some(Some(_)))) {
        return stay("of types that are not known, or not of tensors");
    }
    let admitted = |params: &'static [Param], ids: &[Option<ValueId>]| -> Vec<_> {
        let floats = ids.iter().enumerate().filter(|(_, id)| id.is_some_and(is_float));
        let params = floats.filter_map(|(slot, _)| Some((slot, Signature::param(params, slot)?)));
        params.filter(|(_, param)| param.types.tensor.contains(dtype)).collect()
    };
    let reads = admitted(signature.inputs, &node.inputs);
    if reads.is_empty() {
        return stay("of operators that do not take the type");
    }
    let (gives, own): (Vec<_>, Vec<_>) =
        admitted(signature.outputs, &node.outputs).into_iter().partition(|(_, output)| {
            let shared = |(_, input): &(usize, &Param)| input.variable == output.variable;
            !output.variable.is_empty() && reads.iter().any(shared)
        });
    if !own.is_empty() && row.role != Role::Cast {
        return stay("of results that have types of their own");
    }
    let is_exact = matches!(row.rounding(), Rounding::Moved | Rounding::Exact | Rounding::Chosen);
    let slots = |params: Vec<(usize, &Param)>| params.into_iter().map(|(slot, _)| slot).collect();
    ShortNode { follows: gives.is_empty() || is_exact, reads: slots(reads), gives: slots(gives), stays: None }
}
