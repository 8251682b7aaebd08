//! The edit of a graph that was studied.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use foldhash::HashSet;
use gradus_core::convert::{Rules, i64_of, usize_of_i64};
use gradus_core::graph::edit::{Edit, Kept, Made, Renames, Step};
use gradus_core::graph::{Content, DeclaredDim, Node, Origin, Standard, Type, ValueId};
use gradus_core::{DType, Number, Result, Shape, Tensor};

use super::cse::MAX_STORED_BYTES;
use super::join::Joined;
use super::rules::{NodeView, Replacement, Source, beside_data};
use super::scope::{FoldState, Read};
use super::shape_source::{InputPart, InputSizes};
use super::{GraphFolder, dialect, inline, shape_source};
use crate::declare::{Telling, is_contradicted};
use crate::dim::Dim;
use crate::fact::Fact;
use crate::normalize::has_default_inputs;

/// Operators of several outputs that nodes are replaced by, all of which are kept.
const SEVERAL: [&str; 2] = ["Split", "TopK"];

/// An edit while it is made.
pub(super) struct FoldWriter<'s, 'm> {
    pub(super) scope: &'s FoldState<'m>,
    pub(super) edit: Edit,
    /// Constants that are nodes: they come first.
    constant_nodes: Vec<Step>,
    /// Names of constants, by what they are.
    known: HashMap<(DType, Vec<usize>, Bytes), Arc<str>>,
    /// Constants of the file that are kept and were not read yet, by type and dimensions.
    unread: HashMap<(DType, Vec<usize>), Vec<ValueId>>,
    /// Names of constants, by value.
    names: HashMap<ValueId, Arc<str>>,
    /// Lists that only a Concat reads, which reads their parts in their place.
    spread: HashMap<ValueId, Vec<Arc<str>>>,
    /// Outputs of nodes that other nodes join.
    joined: HashSet<ValueId>,
    /// New names of values of the graphs around.
    around: &'s Renames,
}

/// The edit of a graph, and whether it changes anything.
///
/// # Errors
/// [`gradus_core::Kind::Unsupported`] if a node has no form in the operator set, which no rule lets
/// happen.
pub(super) fn edit(
    folder: &mut GraphFolder<'_>,
    scope: &FoldState<'_>,
    around: &Renames,
) -> Result<(Edit, bool)> {
    let mut writing = FoldWriter {
        scope,
        edit: Edit::default(),
        constant_nodes: Vec::new(),
        known: HashMap::new(),
        unread: HashMap::new(),
        names: HashMap::new(),
        spread: HashMap::new(),
        joined: scope.joined.values().flat_map(Joined::outputs).collect(),
        around,
    };
    let graph = scope.graph;
    for (id, constant) in graph.constants() {
        if scope.values[id.index()].needed && graph.value(*id).origin == Origin::Constant {
            let alike = (constant.dtype(), constant.shape().dims().to_vec());
            writing.unread.entry(alike).or_default().push(*id);
        }
    }
    let mut changed = writing.sizes(folder);
    // Nearly each node that is kept is one step.
    writing.edit.nodes.reserve(scope.nodes.iter().filter(|node| node.stays).count());
    for &index in graph.order() {
        changed |= writing.node(folder, index)?;
    }
    changed |= !writing.constant_nodes.is_empty();
    let mut edit = writing.edit;
    edit.nodes.splice(0..0, writing.constant_nodes);
    edit.dropped = scope.dropped();
    changed |= !edit.constants.is_empty() || !edit.dropped.is_empty();
    changed |= graph.order().iter().enumerate().any(|(at, &index)| at != index);
    Ok((edit, changed))
}

fn key(tensor: &Tensor) -> Option<(DType, Vec<usize>, Bytes)> {
    Some((tensor.dtype(), tensor.shape().dims().to_vec(), tensor.bytes()?.clone()))
}

impl FoldWriter<'_, '_> {
    /// Removes declared shapes that the inferred ones contradict, of outputs of a node that are not
    /// outputs of the graph: checkers find them wrong as soon as they know more. Returns true if
    /// there are any.
    fn wrongly_declared(&mut self, folder: &GraphFolder<'_>, node: &Node) -> bool {
        let scope = self.scope;
        let kept = !folder.declare && folder.model.source().standard == Standard::Onnx;
        let before = self.edit.gone.len();
        for id in node.outputs.iter().copied().flatten() {
            let (info, value) = (scope.graph.value(id), &scope.values[id.index()]);
            if kept && !value.output && is_contradicted(info, &value.fact) {
                self.edit.gone.insert(info.name.clone());
            }
        }
        self.edit.gone.len() != before
    }

    /// Adds what a node becomes; whether that is not the node.
    fn node(&mut self, folder: &mut GraphFolder<'_>, index: usize) -> Result<bool> {
        let scope = self.scope;
        let node = &scope.graph.nodes()[index];
        let mut changed = false;
        for id in node.outputs.iter().copied().flatten() {
            if scope.values[id.index()].output && scope.values[id.index()].needed {
                changed |= self.output(folder, id);
            }
        }
        if let Some(joined) = scope.joined.get(&index) {
            self.joined(folder, node, joined)?;
            return Ok(true);
        }
        if !scope.nodes[index].stays {
            let ends = |id: &ValueId| {
                !scope.values[id.index()].output
                    && !self.joined.contains(id)
                    && !matches!(scope.values[id.index()].read, Read::InputSizes(_))
            };
            let outputs = node.outputs.iter().copied().flatten().filter(ends);
            let declared = outputs.map(|id| scope.graph.value(id)).filter(|info| info.declared.is_some());
            self.edit.gone.extend(declared.map(|info| info.name.clone()));
            return Ok(true);
        }
        changed |= self.wrongly_declared(folder, node);
        if let Some(branch) = inline::branch(scope, index) {
            inline::write(self, folder, index, &branch)?;
            return Ok(true);
        }
        let view = NodeView::new(scope, index);
        let spread = if self.spread.is_empty() { None } else { self.spread(folder, &view)? };
        if let Some(made) = spread {
            self.make(made);
            return Ok(true);
        }
        if let Some(replacement) = scope.replacement(index) {
            let made = self.replaced(folder, &view, replacement)?;
            self.make(made);
            return Ok(true);
        }
        let kept = self.kept(folder, node, index)?;
        changed |= !(kept.inputs.is_empty() && kept.outputs.is_empty() && kept.graphs.is_empty());
        self.edit.nodes.push(Step::Kept(kept));
        Ok(changed)
    }

    /// Adds nodes that ask for the shapes of inputs, and take dimensions out of them.
    fn sizes(&mut self, folder: &mut GraphFolder<'_>) -> bool {
        let scope = self.scope;
        let needed = shape_source::needed(scope);
        let mut shapes = HashMap::new();
        let mut taken = HashMap::new();
        for (input, dtype) in shape_source::asked(scope) {
            let Some(dims) = dims_of(&scope.values[input.index()].fact) else { continue };
            let whole = |(_, sizes): &&(ValueId, &InputSizes)| {
                (sizes.input, sizes.dtype) == (input, dtype) && sizes.is_whole(dims.len())
            };
            let whole = needed.iter().find(whole).map(|(id, _)| scope.graph.value(*id).name.clone());
            let input_name = scope.graph.value(input).name.clone();
            let shape = whole.clone().unwrap_or_else(|| folder.fresh(&format!("shape[{input_name}]")));
            self.make(dialect::shape_of(scope.standard, input_name, dtype, shape.clone()));
            if whole.is_none() {
                self.declare(folder, &shape, dtype, &[Dim::Known(i64_of(dims.len()))]);
            }
            taken.insert((dtype, dims.to_vec()), shape.clone());
            shapes.insert((input, dtype), (shape, dims));
        }
        // Lists of several parts may be made of those of one.
        let (alone, mixed): (Vec<_>, Vec<_>) = needed.iter().partition(|(_, sizes)| sizes.parts.len() == 1);
        let joined = if mixed.is_empty() { HashSet::default() } else { shape_source::joined(scope) };
        for (id, sizes) in alone.into_iter().chain(mixed) {
            if let Some((shape, dims)) = shapes.get(&(sizes.input, sizes.dtype)) {
                let name = scope.graph.value(id).name.clone();
                if !sizes.is_whole(dims.len()) {
                    let parts = self.taken(folder, sizes, shape, dims, &name, &mut taken);
                    if joined.contains(&id) {
                        self.edit.gone.insert(name);
                        self.spread.insert(id, parts);
                    } else if sizes.parts.len() > 1 {
                        self.make(dialect::join(scope.standard, parts, name));
                    }
                }
            }
        }
        !shapes.is_empty()
    }

    /// Adds nodes that take dimensions out of a shape; `taken` are lists that were taken already.
    /// Returns the names of the parts of the list.
    fn taken(
        &mut self,
        folder: &mut GraphFolder<'_>,
        sizes: &InputSizes,
        shape: &Arc<str>,
        dims: &[Dim],
        name: &Arc<str>,
        taken: &mut HashMap<(DType, Vec<Dim>), Arc<str>>,
    ) -> Vec<Arc<str>> {
        let (standard, dtype) = (self.scope.standard, sizes.dtype);
        let alone = sizes.parts.len() == 1;
        let mut parts = Vec::new();
        for part in &sizes.parts {
            let axes = match part {
                InputPart::Known(numbers) => {
                    let Some(numbers) = list(dtype, numbers) else { continue };
                    parts.push(self.target(folder, &numbers));
                    continue;
                }
                InputPart::Axes(axes) => axes,
            };
            let all: Vec<_> =
                axes.iter().filter_map(|&axis| dims.get(usize_of_i64(axis)?).copied()).collect();
            let key = (dtype, all);
            if let Some(known) = taken.get(&key).filter(|_| !alone) {
                parts.push(known.clone());
                continue;
            }
            let place = axes.first().filter(|_| sizes.scalar).map(|&axis| Tensor::scalar(axis));
            let place = self.target(folder, &place.unwrap_or_else(|| Tensor::vector(axes)));
            let part = if alone { name.clone() } else { folder.fresh(&format!("{name}_part")) };
            let first = || self.target(folder, &Tensor::scalar(0i64));
            let made = dialect::take(standard, shape.clone(), place, part.clone(), first);
            self.make(made);
            if !alone {
                self.declare(folder, &part, dtype, &[Dim::Known(i64_of(axes.len()))]);
            }
            if !sizes.scalar {
                taken.insert(key, part.clone());
            }
            parts.push(part);
        }
        parts
    }

    /// Declares the type of a value that the file does not have.
    fn declare(&mut self, folder: &GraphFolder<'_>, name: &Arc<str>, dtype: DType, dims: &[Dim]) {
        if folder.declare {
            let telling = Telling::new(folder.model.source(), &folder.symbols, &folder.given);
            let size = |dim: &Dim| telling.size(*dim).unwrap_or(DeclaredDim::Unknown);
            let sizes = dims.iter().map(size).collect();
            self.edit.types.push((name.clone(), Type::Tensor(Some(dtype), Some(sizes))));
        }
    }

    fn kept(&mut self, folder: &mut GraphFolder<'_>, node: &Node, index: usize) -> Result<Kept> {
        let scope = self.scope;
        let mut kept = Kept { node: index, ..Kept::default() };
        for (input, id) in node.inputs.iter().enumerate() {
            let Some(id) = *id else { continue };
            let name = match scope.own_input(index, input) {
                Some(source) => self.source(folder, source),
                None => self.name(folder, id),
            };
            if name != scope.graph.value(id).name {
                kept.inputs.push((input, name));
            }
        }
        for (output, id) in node.outputs.iter().enumerate() {
            let Some(id) = *id else { continue };
            let name = scope.written_name(id);
            if *name != scope.graph.value(id).name {
                kept.outputs.push((output, name.clone()));
            }
        }
        for (number, _) in node.graphs().enumerate() {
            let Some(child) = scope.children.get(&(index, number)) else { continue };
            let names = self.captured(folder, child);
            let (edit, changed) = edit(folder, child, &names)?;
            if changed {
                kept.graphs.push((number, edit));
            }
        }
        Ok(kept)
    }

    /// A Concat that reads the parts of lists in place of the lists.
    fn spread(&mut self, folder: &mut GraphFolder<'_>, view: &NodeView<'_, '_>) -> Result<Option<Made>> {
        let parts = |input| self.spread.get(&view.value(input)?);
        if view.operator() != "Concat" || !(0..view.input_count()).any(|input| parts(input).is_some()) {
            return Ok(None);
        }
        let mut inputs = Vec::new();
        for input in 0..view.input_count() {
            match view.value(input).and_then(|id| self.spread.get(&id)) {
                Some(parts) => inputs.extend(parts.iter().cloned()),
                None => inputs.push(self.source(folder, &view.input(input))),
            }
        }
        let attributes = vec![("axis", Content::Int(0))];
        let by = Replacement::new("Concat", Vec::new(), attributes);
        Ok(Some(Made { inputs, ..self.replaced(folder, view, &by)? }))
    }

    /// The node in place of one of the file.
    fn replaced(
        &mut self,
        folder: &mut GraphFolder<'_>,
        view: &NodeView<'_, '_>,
        by: &Replacement,
    ) -> Result<Made> {
        let (scope, node) = (self.scope, view.node);
        let (inputs, attributes) = by.in_set(scope.opset, view)?;
        let inputs = inputs.iter().map(|source| self.source(folder, source)).collect();
        let outputs = node.outputs.iter().copied().flatten().map(|id| scope.written_name(id).clone());
        let count = if SEVERAL.contains(&by.operator) { node.outputs.len() } else { 1 };
        Ok(Made {
            name: node.name.to_string().into(),
            operator: by.operator,
            version: 1,
            inputs,
            outputs: outputs.take(count).collect(),
            attributes,
        })
    }

    /// Adds a Split into several values, and the product that is split.
    fn joined(&mut self, folder: &mut GraphFolder<'_>, node: &Node, joined: &Joined) -> Result<()> {
        let scope = self.scope;
        let outputs = joined.outputs().map(|id| scope.written_name(id).clone()).collect();
        let sizes: Vec<_> = joined.parts.iter().map(|(_, size)| *size).collect();
        let made = |operator, inputs, outputs, attributes| Made {
            name: "".into(),
            operator,
            version: 1,
            inputs,
            outputs,
            attributes,
        };
        let mut whole = self.name(folder, joined.of);
        if let Some(matrix) = &joined.matrix {
            let inputs = vec![whole, self.target(folder, matrix)];
            whole = folder.fresh(&format!("{}_joined", node.label(0)));
            if let Some(dims) = dims_of(&scope.values[joined.of.index()].fact) {
                let columns = Dim::Known(sizes.iter().sum());
                let dims: Vec<_> = dims.iter().rev().skip(1).rev().copied().chain([columns]).collect();
                self.declare(folder, &whole, matrix.dtype(), &dims);
            }
            self.make(made("MatMul", inputs, vec![whole.clone()], Vec::new()));
        }
        let attributes = vec![("axis", Content::Int(joined.axis))];
        let (sizes, attributes) = beside_data(scope.opset, "Split", Tensor::vector(&sizes), attributes)?;
        let mut inputs = vec![whole];
        inputs.extend(sizes.map(|sizes| self.target(folder, &sizes)));
        self.make(made("Split", inputs, outputs, attributes));
        Ok(())
    }

    fn source(&mut self, folder: &mut GraphFolder<'_>, source: &Source) -> Arc<str> {
        match source {
            Source::Value(id) => self.name(folder, *id),
            Source::Transposed(id, perm) => self.transposed(folder, *id, perm),
            Source::Tensor(tensor) => self.target(folder, tensor),
            Source::Missing => "".into(),
        }
    }

    /// Adds a Transpose of a value; its name.
    fn transposed(&mut self, folder: &mut GraphFolder<'_>, id: ValueId, perm: &[i64; 4]) -> Arc<str> {
        let of = self.name(folder, id);
        let name = folder.fresh(&format!("{of}_transposed"));
        let fact = self.scope.values[id.index()].fact.as_tensor();
        if let Some((dtype, dims)) = fact.and_then(|fact| Some((fact.dtype?, fact.dims.as_ref()?))) {
            let dims: Vec<_> =
                perm.iter().filter_map(|&axis| dims.get(usize_of_i64(axis)?).copied()).collect();
            self.declare(folder, &name, dtype, &dims);
        }
        self.make(dialect::transpose(of, perm, name.clone()));
        name
    }

    /// Adds a node that gives an output its name, where that is read from elsewhere.
    fn output(&mut self, folder: &mut GraphFolder<'_>, id: ValueId) -> bool {
        let name = self.scope.graph.value(id).name.clone();
        match &self.scope.values[id.index()].read {
            Read::Own | Read::InputSizes(_) => return false,
            Read::Other(other) if self.scope.renamed.get(other) == Some(&id) => {}
            Read::Other(other) => {
                let other = self.name(folder, *other);
                self.copy(name, other);
            }
            Read::Constant(tensor) if self.scope.standard == Standard::OpenVino => {
                self.add(folder, name, tensor);
            }
            Read::Constant(tensor) => self.make(dialect::constant(name, tensor)),
        }
        true
    }

    /// Adds a node that gives a value another name.
    pub(super) fn copy(&mut self, name: Arc<str>, of: Arc<str>) {
        self.make(dialect::copy(of, name));
    }

    fn make(&mut self, made: Made) {
        self.edit.nodes.push(Step::Made(Box::new(made)));
    }

    /// The name that a value is read by.
    pub(super) fn name(&mut self, folder: &mut GraphFolder<'_>, id: ValueId) -> Arc<str> {
        let scope = self.scope;
        let id = scope.resolved(id);
        let info = scope.graph.value(id);
        let Read::Constant(tensor) = &scope.values[id.index()].read else {
            let around = self.around.get(&info.name).filter(|_| info.origin == Origin::Capture);
            return around.unwrap_or_else(|| scope.written_name(id)).clone();
        };
        if scope.values[id.index()].output {
            return info.name.clone();
        }
        if let Some(name) = self.names.get(&id) {
            return name.clone();
        }
        let fixed = scope.values[id.index()].fixed;
        let known = self.known(tensor).filter(|_| !fixed);
        let name = known.unwrap_or_else(|| {
            let stays = matches!(info.origin, Origin::Node(node, _) if scope.nodes[node].stays);
            let name = if stays { folder.fresh(&info.name) } else { info.name.clone() };
            self.add(folder, name, tensor)
        });
        self.names.insert(id, name.clone());
        name
    }

    /// The name of a constant that is read in place of a computed shape.
    pub(super) fn target(&mut self, folder: &mut GraphFolder<'_>, tensor: &Tensor) -> Arc<str> {
        if let Some(name) = self.known(tensor) {
            return name;
        }
        let name = match tensor.to_i64() {
            Ok(elements) => {
                let elements: Vec<_> = elements.iter().map(i64::to_string).collect();
                let sort = if tensor.shape().rank() == 0 { "index" } else { "shape" };
                format!("{sort}[{}]", elements.join(","))
            }
            Err(_) => "constant".to_owned(),
        };
        let name = folder.fresh(&name);
        self.add(folder, name, tensor)
    }

    /// The name of a constant of the same type, dimensions and bits that the graph has.
    fn known(&mut self, tensor: &Tensor) -> Option<Arc<str>> {
        let key = key(tensor)?;
        let graph = self.scope.graph;
        for id in self.unread.remove(&(key.0, key.1.clone())).unwrap_or_default() {
            let stored = graph.constant(id).filter(|stored| stored.byte_len() <= MAX_STORED_BYTES);
            let bytes = stored.and_then(|stored| stored.tensor().ok()?.bytes().cloned());
            if let Some(bytes) = bytes {
                let same = (key.0, key.1.clone(), bytes);
                self.known.entry(same).or_insert_with(|| graph.value(id).name.clone());
            }
        }
        self.known.get(&key).cloned()
    }

    fn add(&mut self, folder: &mut GraphFolder<'_>, name: Arc<str>, tensor: &Tensor) -> Arc<str> {
        if let Some(key) = key(tensor) {
            self.known.entry(key).or_insert_with(|| name.clone());
        }
        folder.report.constants += 1;
        folder.report.constant_bytes += gradus_core::convert::u64_of(tensor.byte_len());
        // For old files of ONNX, initializers must be inputs.
        if has_default_inputs(folder.model.source()) || self.scope.standard == Standard::OpenVino {
            self.edit.constants.push((name.clone(), tensor.clone()));
        } else {
            if folder.declare {
                let of = Type::tensor(tensor.dtype(), tensor.shape());
                self.edit.types.push((name.clone(), of));
            }
            self.constant_nodes.push(Step::Made(Box::new(dialect::constant(name.clone(), tensor))));
        }
        name
    }

    /// New names of what a subgraph reads of this one.
    pub(super) fn captured(&mut self, folder: &mut GraphFolder<'_>, child: &FoldState<'_>) -> Renames {
        let mut names = Renames::new();
        for capture in
            child.graph.captures().iter().filter(|capture| child.values[capture.inner.index()].needed)
        {
            let (old, new) = (&child.graph.value(capture.inner).name, self.name(folder, capture.outer));
            if *old != new {
                names.insert(old.clone(), new);
            }
        }
        names
    }
}

/// Numbers as a tensor of one axis, if they are of that type: -1 is none of those without a sign.
pub(super) fn list(dtype: DType, numbers: &[i64]) -> Option<Tensor> {
    let (least, most) = crate::fact::range_of(dtype)?;
    if !numbers.iter().all(|number| (least..=most).contains(number)) {
        return None;
    }
    let elements = numbers.iter().map(|&number| Number::Int(number.into()));
    Tensor::from_numbers(dtype, Shape::vector(numbers.len()), elements, Rules::IEEE).ok()
}

/// Returns true if a value is a tensor of which something is known.
pub(super) fn dims_of(fact: &Fact) -> Option<&crate::fact::Dims> {
    fact.as_tensor()?.dims.as_ref()
}
