//! Variables of OpenVINO: `ReadValue` and `Assign` as inputs and outputs, and these as variables.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use gradus_core::convert::i64_of;
use gradus_core::graph::{
    self, Builder, Constant, Content, DeclaredDim, Graph, Node, Origin, Standard, Type, ValueId,
};
use gradus_core::{Error, Kind, Result, Shape, Tensor};
use gradus_formats::openvino::{element_type, shape, shape_text};

use super::report::{ConversionReport, cannot, not_known};
use super::to_openvino::{numpy, say};
use super::writer::NamePool;
use super::{ConvertOptions, Converted};
use crate::model::Model;

/// The attribute that names the variable of a `ReadValue` or an `Assign`.
const VARIABLE: &str = "variable_id";

/// The text of an attribute of OpenVINO.
fn text<'a>(node: &'a Node, name: &str) -> Option<&'a str> {
    match node.attribute(name)? {
        Content::Text(text) => Some(text),
        _ => None,
    }
}

/// The output that usually is the next value of an input: `present.0.key` of
/// `past_key_values.0.key`.
fn usual_output(input: &str) -> Option<String> {
    let rest = input.strip_prefix("past_key_values").or_else(|| input.strip_prefix("past"))?;
    Some(format!("present{rest}"))
}

/// A variable of a model.
struct ConvertedVariable<'m> {
    id: &'m str,
    reads: Vec<&'m Node>,
    assigns: Vec<&'m Node>,
}

impl ConvertedVariable<'_> {
    /// The names of the input and the output that it becomes. `MakeStateful` of OpenVINO writes
    /// both names, one after the other.
    fn names(&self, read: &str) -> (String, String) {
        if let Some(output) = self.id.strip_prefix(read).filter(|rest| !rest.is_empty() && !read.is_empty()) {
            return (read.to_owned(), output.to_owned());
        }
        let usual = self.id.match_indices("present").find_map(|(at, _)| {
            let (input, output) = self.id.split_at(at);
            (usual_output(input)? == output).then(|| (input.to_owned(), output.to_owned()))
        });
        usual.unwrap_or_else(|| (self.id.to_owned(), format!("{}_next", self.id)))
    }

    /// The words for its value in the first run.
    fn first_value(&self, graph: &Graph) -> String {
        match self.reads.first().and_then(|node| node.inputs.first().copied().flatten()) {
            Some(id) => format!("that of \"{}\"", graph.value(id).name),
            None => "zeros, and open axes have no element".to_owned(),
        }
    }
}

/// The variables of a graph, in the order of its nodes.
fn variables(graph: &Graph) -> Vec<ConvertedVariable<'_>> {
    let mut all: Vec<ConvertedVariable<'_>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for &index in graph.order() {
        let node = &graph.nodes()[index];
        let Some(id) = text(node, VARIABLE) else { continue };
        let reads = match &*node.operator.name {
            "ReadValue" => true,
            "Assign" => false,
            _ => continue,
        };
        let place = *places.entry(id).or_insert(all.len());
        if place == all.len() {
            all.push(ConvertedVariable { id, reads: Vec::new(), assigns: Vec::new() });
        }
        if reads { &mut all[place].reads } else { &mut all[place].assigns }.push(node);
    }
    all
}

/// The type of what a `ReadValue` gives.
fn type_of(graph: &Graph, node: &Node, output: ValueId) -> Option<Type> {
    let declared = graph.value(output).declared.clone();
    let Some(Type::Tensor(_, sizes)) = text(node, "variable_shape").and_then(shape) else { return declared };
    let dtype = text(node, "variable_type").and_then(|name| name.parse().ok());
    Some(Type::Tensor(dtype.or_else(|| declared?.dtype()), sizes))
}

impl Model {
    /// The model with an input and an output for each variable, and what is lost; nothing if it has
    /// no variable.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] if several nodes assign a variable.
    pub(crate) fn without_variables(&self) -> Result<Option<(Model, Vec<String>)>> {
        let source = self.source();
        if source.standard != Standard::OpenVino {
            return Ok(None);
        }
        let graph = &source.graph;
        let variables = variables(graph);
        if variables.is_empty() {
            return Ok(None);
        }
        let mut lost = Vec::new();
        let graph = explicit(graph, &variables, &mut lost)?;
        let model = with_graph(source, graph);
        Ok(Some((self.with_source(model).converted_from(self), lost)))
    }
}

/// The model with another main graph.
fn with_graph(source: &graph::Model, graph: Graph) -> graph::Model {
    graph::Model {
        standard: source.standard,
        format_version: source.format_version,
        producer: source.producer.clone(),
        opsets: source.opsets.clone(),
        metadata: source.metadata.clone(),
        graph,
        functions: Vec::new(),
    }
}

/// The keys by which a copy of a graph knows its values.
struct Keys(Vec<Arc<str>>);

impl Keys {
    fn of(graph: &Graph) -> Keys {
        Keys((0..graph.values().len()).map(|index| index.to_string().into()).collect())
    }

    fn of_value(&self, id: ValueId) -> &Arc<str> {
        &self.0[id.index()]
    }

    /// Copies a node.
    fn push(&self, builder: &mut Builder, node: &Node) -> Result<()> {
        let inputs = node.inputs.iter().map(|id| id.map(|id| builder.reference(self.of_value(id)))).collect();
        let outputs: Vec<_> =
            node.outputs.iter().map(|id| id.map_or("", |id| &**self.of_value(id))).collect();
        builder.push(Node { inputs, outputs: graph::Slots::new(), ..node.clone() }, &outputs)
    }

    /// Copies names and types of all values that have a key of their own.
    fn describe(&self, builder: &mut Builder, graph: &Graph) {
        for id in graph.ids() {
            let key = self.of_value(id);
            if **key != *id.index().to_string() {
                continue;
            }
            if let Some(copy) = builder.find(key) {
                let (info, of) = (builder.info(copy), graph.value(id));
                info.name.clone_from(&of.name);
                info.aliases.clone_from(&of.aliases);
                info.declared.clone_from(&of.declared);
            }
        }
    }
}

/// The graph with an input for each variable that is read, and an output for each that is
/// assigned.
fn explicit(graph: &Graph, variables: &[ConvertedVariable<'_>], lost: &mut Vec<String>) -> Result<Graph> {
    let mut keys = Keys::of(graph);
    let mut builder = Builder::new(graph.name());
    for &input in graph.inputs() {
        builder.define(keys.of_value(input), Origin::Input)?;
    }
    let value = |node: &Node| node.outputs.first().copied().flatten();
    for variable in variables {
        if variable.assigns.len() > 1 {
            let what = format_args!("cannot convert: number of Assign nodes of variable \"{}\"", variable.id);
            return Err(Error::mismatch(Kind::Unsupported, what, variable.assigns.len(), 1));
        }
        let mut reads = variable.reads.iter().filter_map(|node| value(node));
        if let Some(first) = reads.next() {
            let key = keys.of_value(first).clone();
            builder.define(&key, Origin::Input)?;
            reads.for_each(|id| keys.0[id.index()] = key.clone());
        }
    }
    let is_state = |node: &Node| {
        matches!(&*node.operator.name, "ReadValue" | "Assign") && text(node, VARIABLE).is_some()
    };
    for &index in graph.order() {
        let node = &graph.nodes()[index];
        // Readers of an Assign get the value that it is given.
        if let ("Assign", Some(from), Some(to)) =
            (&*node.operator.name, node.inputs.first().copied().flatten(), value(node))
        {
            keys.0[to.index()] = keys.of_value(from).clone();
        }
    }
    for (id, constant) in graph.constants() {
        builder.constant(keys.of_value(*id), constant.clone())?;
    }
    for node in graph.order().iter().map(|&index| &graph.nodes()[index]).filter(|node| !is_state(node)) {
        keys.push(&mut builder, node)?;
    }
    for &output in graph.outputs() {
        builder.output(keys.of_value(output));
    }
    keys.describe(&mut builder, graph);
    let mut outputs: HashSet<Arc<str>> =
        graph.outputs().iter().map(|&id| keys.of_value(id).clone()).collect();
    for variable in variables {
        let first = variable.reads.first().and_then(|node| Some((*node, value(node)?)));
        let (input, output) = match first {
            Some((_, id)) => {
                let value = graph.value(id);
                let mut names = std::iter::once(&*value.name).chain(value.aliases.iter().map(|name| &**name));
                let named = names.find(|name| variable.id.starts_with(name)).unwrap_or_default();
                variable.names(named)
            }
            None => (String::new(), variable.id.to_owned()),
        };
        if let Some((node, id)) = first {
            let info = builder.reference(keys.of_value(id));
            let info = builder.info(info);
            info.name = input.as_str().into();
            info.declared = type_of(graph, node, id);
        }
        let assigned = variable.assigns.first().and_then(|node| node.inputs.first().copied().flatten());
        if let Some(assigned) = assigned {
            let key = keys.of_value(assigned).clone();
            let id = builder.reference(&key);
            let info = builder.info(id);
            if *info.name != *output && info.origin.is_node() && !outputs.contains(&key) {
                let old = std::mem::replace(&mut info.name, output.as_str().into());
                info.aliases.push(old.as_ref().into());
            }
            if *info.name == *output && outputs.insert(key.clone()) {
                builder.output(&key);
            } else {
                let declared = info.declared.clone();
                let copy = format!("{}/next", variable.id);
                builder.apply(&output, "Identity", IDENTITY, &[&key], &[&copy], Vec::new())?;
                let id = builder.output(&copy);
                let info = builder.info(id);
                (info.name, info.declared) = (output.as_str().into(), declared);
            }
        }
        lost.push(match (first, assigned) {
            (Some(_), Some(_)) => format!(
                "variable \"{}\": input \"{input}\" is its value, output \"{output}\" the next; the first is {}",
                variable.id,
                variable.first_value(graph)
            ),
            (Some(_), None) => format!(
                "variable \"{}\": input \"{input}\" is its value; the first is {}",
                variable.id,
                variable.first_value(graph)
            ),
            (None, _) => format!("variable \"{}\": output \"{output}\" is its value", variable.id),
        });
    }
    builder.finish()
}

/// The version of `Identity` that OpenVINO has.
const IDENTITY: i64 = 16;

/// Pairs of inputs and outputs that become variables.
fn pairs(graph: &Graph, options: &ConvertOptions) -> Result<Vec<(ValueId, ValueId)>> {
    let find = |what: &str, ids: &[ValueId], name: &str| {
        let found = ids.iter().copied().find(|&id| &*graph.value(id).name == name);
        found.ok_or_else(|| Error::unknown(what, name, ids.iter().map(|&id| &*graph.value(id).name)))
    };
    let mut pairs = Vec::new();
    for (input, output) in &options.states {
        pairs.push((find("input", graph.inputs(), input)?, find("output", graph.outputs(), output)?));
    }
    if options.stateful {
        let before = pairs.len();
        for &input in graph.inputs() {
            let output = usual_output(&graph.value(input).name);
            let output = output.and_then(|name| find("output", graph.outputs(), &name).ok());
            pairs.extend(output.map(|output| (input, output)).filter(|pair| !pairs.contains(pair)));
        }
        if before == pairs.len() && before == 0 {
            let wanted = "past_key_values.* with outputs present.*";
            return Err(Error::mismatch(
                Kind::Usage,
                "cannot convert: inputs that are states",
                "none",
                wanted,
            ));
        }
    }
    for (index, (input, output)) in pairs.iter().enumerate() {
        for (what, id, twice) in [
            ("input", input, pairs[..index].iter().any(|(other, _)| other == input)),
            ("output", output, pairs[..index].iter().any(|(_, other)| other == output)),
        ] {
            if twice {
                let name = &graph.value(*id).name;
                return Err(Error::new(Kind::Usage, format!("{what} \"{name}\" is in two states")));
            }
        }
    }
    Ok(pairs)
}

/// The converted model with variables in place of inputs and outputs.
///
/// Axes of a variable that are open have no element in the first run, unless the source names them
/// as an axis of an input that stays.
///
/// # Errors
/// [`Kind::Usage`] if an input or output is not there, or in two pairs; [`Kind::Unsupported`] if an
/// output cannot be the next value of its input.
pub(super) fn stateful(converted: &Converted, source: &Graph, options: &ConvertOptions) -> Result<Model> {
    let model = converted.model.source();
    let graph = &model.graph;
    let pairs = pairs(graph, options)?;
    let keys = Keys::of(graph);
    let mut names = NamePool::default();
    graph.values().iter().for_each(|info| drop(names.fresh(&info.name)));
    let mut builder = Builder::new(graph.name());
    let mut axes = HashMap::new();
    for &input in graph.inputs().iter().filter(|&id| pairs.iter().all(|(state, _)| state != id)) {
        builder.define(keys.of_value(input), Origin::Input)?;
        for (axis, size) in named_sizes(source, &graph.value(input).name).iter().enumerate() {
            if let DeclaredDim::Symbol(symbol) = size {
                axes.entry(&**symbol).or_insert((input, axis));
            }
        }
    }
    for (id, constant) in graph.constants() {
        builder.constant(keys.of_value(*id), constant.clone())?;
    }
    let mut copied = Vec::new();
    let mut first = FirstValues { keys: &keys, names: &mut names, axes, made: HashMap::new() };
    for &(input, output) in &pairs {
        let (info, next) = (graph.value(input), graph.value(output));
        let Some(Type::Tensor(Some(dtype), Some(sizes))) = &info.declared else {
            return Err(not_known(&format!("type or rank of input \"{}\"", info.name)));
        };
        if let Some(declared) =
            next.declared.as_ref().filter(|next| !may_follow(info.declared.as_ref(), next))
        {
            let what =
                format_args!("cannot convert: state \"{}\": type of output \"{}\"", info.name, next.name);
            return Err(Error::mismatch(
                Kind::Unsupported,
                what,
                declared,
                Type::Tensor(Some(*dtype), Some(sizes.clone())),
            ));
        }
        let Some(variable_type) = element_type(*dtype) else {
            return Err(cannot(format!("cannot convert: OpenVINO has no {dtype}")));
        };
        let symbols = named_sizes(source, &info.name);
        let value = first.of(&mut builder, sizes, symbols, *dtype)?;
        let attributes = vec![
            say(VARIABLE, format_args!("{}{}", info.name, next.name)),
            say("variable_type", variable_type),
            say("variable_shape", shape_text(Some(sizes))),
        ];
        let key = keys.of_value(input);
        let joined = |node: &Node| &*node.operator.name == "Concat" && node.inputs.contains(&Some(input));
        let read = if value.is_some() && graph.nodes().iter().any(joined) {
            // OpenVINO's processor plugin does not run a Concat of a variable with a first value.
            let read = first.names.fresh("state/read");
            let same = first.constant(&mut builder, Tensor::vector(&vec![0_i64; sizes.len()]))?;
            let special = vec![say("special_zero", true)];
            builder.apply(&read, "Reshape", 1, &[&read, &same], &[key], special)?;
            copied.push((read.clone(), input));
            read
        } else {
            key.clone()
        };
        builder.apply(&info.name, "ReadValue", 6, value.as_deref().as_slice(), &[&read], attributes)?;
    }
    for node in graph.order().iter().map(|&index| &graph.nodes()[index]) {
        keys.push(&mut builder, node)?;
    }
    for &(input, output) in &pairs {
        let id = format!("{}{}", graph.value(input).name, graph.value(output).name);
        let name = names.fresh(&format!("{}/assign", graph.value(output).name));
        builder.apply(&name, "Assign", 6, &[keys.of_value(output)], &[&name], vec![say(VARIABLE, id)])?;
    }
    for &output in graph.outputs().iter().filter(|&id| pairs.iter().all(|(_, state)| state != id)) {
        builder.output(keys.of_value(output));
    }
    keys.describe(&mut builder, graph);
    for (read, input) in copied {
        let (read, same) = (builder.reference(&read), builder.reference(keys.of_value(input)));
        let name = std::mem::replace(&mut builder.info(same).name, names.fresh("state/same"));
        builder.info(read).name = name;
    }
    let model = with_graph(model, builder.finish()?);
    super::check::checked(model, &converted.model.options(), false, &mut ConversionReport::default())
}

/// The sizes that the source declares of an input; none if it has no such input.
fn named_sizes<'a>(source: &'a Graph, input: &str) -> &'a [DeclaredDim] {
    let found = source.inputs().iter().map(|&id| source.value(id)).find(|info| &*info.name == input);
    match found.and_then(|info| info.declared.as_ref()) {
        Some(Type::Tensor(_, Some(sizes))) => sizes,
        _ => &[],
    }
}

/// Returns true if a value of the second type may be that of a variable of the first.
fn may_follow(state: Option<&Type>, next: &Type) -> bool {
    let (Some(Type::Tensor(dtype, sizes)), Type::Tensor(next_dtype, next_sizes)) = (state, next) else {
        return false;
    };
    let same_size = |(size, next): (&DeclaredDim, &DeclaredDim)| match (size, next) {
        (DeclaredDim::Known(size), DeclaredDim::Known(next)) => size == next,
        _ => true,
    };
    let same_sizes = match (sizes, next_sizes) {
        (Some(sizes), Some(next)) => sizes.len() == next.len() && sizes.iter().zip(next).all(same_size),
        _ => true,
    };
    same_sizes && (dtype.is_none() || next_dtype.is_none() || dtype == next_dtype)
}

/// Writes the values of variables in the first run: zeros.
struct FirstValues<'a> {
    keys: &'a Keys,
    names: &'a mut NamePool,
    /// By symbol: an input that stays, and its axis of that size.
    axes: HashMap<&'a str, (ValueId, usize)>,
    /// By type and sizes: the value.
    made: HashMap<(gradus_core::DType, Vec<String>), Arc<str>>,
}

impl FirstValues<'_> {
    /// The key of zeros whose open axes are as long as those of inputs; nothing if none is, as then
    /// OpenVINO makes the same.
    fn of(
        &mut self,
        builder: &mut Builder,
        sizes: &[DeclaredDim],
        symbols: &[DeclaredDim],
        dtype: gradus_core::DType,
    ) -> Result<Option<Arc<str>>> {
        let source = |axis: usize| match (sizes.get(axis), symbols.get(axis)) {
            (Some(DeclaredDim::Known(_)), _) | (_, None) => None,
            (_, Some(DeclaredDim::Symbol(symbol))) => self.axes.get(&**symbol).copied(),
            _ => None,
        };
        let sources: Vec<_> = (0..sizes.len()).map(source).collect();
        if sources.iter().all(Option::is_none) {
            return Ok(None);
        }
        let words = sizes.iter().zip(&sources).map(|(size, source)| format!("{size} {source:?}"));
        let words = (dtype, words.collect::<Vec<_>>());
        if let Some(made) = self.made.get(&words) {
            return Ok(Some(made.clone()));
        }
        let zero = self.constant(builder, Tensor::vector(&[0_i64]))?;
        let mut parts = vec![zero.clone(); sizes.len()];
        let mut open = None;
        for (part, (size, source)) in parts.iter_mut().zip(sizes.iter().zip(&sources)) {
            if let Some((input, axis)) = source {
                let (shape, all) = (self.names.fresh("state/shape"), self.keys.of_value(*input).clone());
                builder.apply(&shape, "ShapeOf", 3, &[&all], &[&shape], vec![say("output_type", "i64")])?;
                let axis = self.constant(builder, Tensor::vector(&[i64_of(*axis)]))?;
                *part = self.names.fresh("state/size");
                let inputs: &[&str] = &[&shape, &axis, &zero];
                builder.apply(part, "Gather", 8, inputs, &[part], vec![say("batch_dims", 0)])?;
                open = Some(part.clone());
            } else if let DeclaredDim::Known(len) = size {
                *part = self.constant(builder, Tensor::vector(&[i64_of(*len)]))?;
            }
        }
        // OpenVINO's processor plugin takes a zero that it knows for the size in all runs.
        if let Some(open) = open.filter(|_| parts.contains(&zero)) {
            let none = self.names.fresh("state/none");
            builder.apply(&none, "Subtract", 1, &[&open, &open], &[&none], vec![numpy()])?;
            parts.iter_mut().filter(|part| **part == zero).for_each(|part| *part = none.clone());
        }
        let (dims, value) = (self.names.fresh("state/dims"), self.names.fresh("state/zeros"));
        let parts: Vec<&str> = parts.iter().map(|part| &**part).collect();
        builder.apply(&dims, "Concat", 1, &parts, &[&dims], vec![say("axis", 0)])?;
        let none = self.constant(builder, Tensor::zeros(dtype, Shape::from_i64(&[])?)?)?;
        let inputs: &[&str] = &[&none, &dims];
        builder.apply(&value, "Broadcast", 3, inputs, &[&value], vec![say("mode", "numpy")])?;
        self.made.insert(words, value.clone());
        Ok(Some(value))
    }

    fn constant(&mut self, builder: &mut Builder, tensor: Tensor) -> Result<Arc<str>> {
        let name = self.names.fresh("state/constant");
        builder.constant(&name, Constant::from(tensor))?;
        Ok(name)
    }
}
