//! PIR: regions of blocks of operations, as JSON.

mod states;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use gradus_core::convert::product;
use gradus_core::error::Position;
use gradus_core::graph::{Attribute, Builder, Content, Graph, Model, Node, Origin, Standard, Type};
use gradus_core::sort::SharedSort;
use gradus_core::{Error, Kind, Limits, Result, Shape};

use states::written_input;

use super::json::{Block, Document, JsonOperation, JsonOutput, JsonRegion, JsonText, NEWEST_VERSION, Raw};
use super::names::MISDECLARED;
use super::parameters::{WantedParameter, constants};
use super::types::TypedValue;
use super::{OPERATORS, attribute, node, types};
use crate::files::Files;

/// Inputs that stand for attributes, by operator: counted from the last, so that lists before them
/// do not matter.
const AS_ATTRIBUTES: &[(&str, usize, &str)] = &[
    ("argmax", 0, "axis"),
    ("argmin", 0, "axis"),
    ("concat", 0, "axis"),
    ("conv2d_transpose", 0, "output_size"),
    ("cumsum", 0, "axis"),
    ("depthwise_conv2d_transpose", 0, "output_size"),
    ("gather", 0, "axis"),
    ("pool2d", 0, "kernel_size"),
    ("split", 0, "axis"),
    ("split", 1, "sections"),
    ("split_with_num", 0, "axis"),
    ("squeeze", 0, "axis"),
    ("strided_slice", 0, "strides"),
    ("unsqueeze", 0, "axis"),
];

/// Bytes that reading may take for each byte of text: a value of a few characters becomes a node.
const BYTES_PER_BYTE: usize = 48;

/// Returns true if the attribute `shape` says a scalar.
fn scalar(attributes: &[Attribute]) -> bool {
    let shape = attributes.iter().find(|attribute| &*attribute.name == "shape");
    shape.is_some_and(|shape| matches!(&shape.content, Content::Ints(dims) if dims.is_empty()))
}

/// Reads a program of PIR. `parameters` is the path of the file of parameters, relative to the
/// program; it is opened when one is needed.
///
/// # Errors
/// [`Kind::Syntax`] where the text is not what the format says, [`Kind::Graph`] where the graph is
/// not well formed, [`Kind::Limit`] where it is too large; all with line and column.
pub fn read_program(
    bytes: &[u8],
    parameters: &str,
    files: &Arc<dyn Files>,
    limits: &Limits,
) -> Result<Model> {
    limits.allow_bytes(0, product(bytes.len(), BYTES_PER_BYTE))?;
    let text = JsonText::new(bytes)?;
    let Document { base_code, program } = text.document()?;
    let start = Position::Line(1, 1);
    let fail = |kind, message: String| Err(Error::new(kind, message).at(start));
    let Some(header) = base_code else {
        return fail(Kind::Syntax, "cannot read the Paddle program: \"base_code\" is missing".into());
    };
    if header.magic != "pir" {
        let magic = header.magic;
        return fail(
            Kind::Syntax,
            format!("this is not a Paddle program: its magic is \"{magic}\", not \"pir\""),
        );
    }
    if !(0..=NEWEST_VERSION).contains(&header.version) {
        let version = header.version;
        return fail(
            Kind::Unsupported,
            format!("the program's version of PIR is {version}; known are 0 to {NEWEST_VERSION}"),
        );
    }
    let Some(program) = program else { return fail(Kind::Syntax, "the file has no program".into()) };
    let mut reading = PirReader {
        text,
        limits,
        values: HashMap::new(),
        unsaved: HashSet::new(),
        arrays: HashMap::new(),
        states: 0,
        lengths: HashMap::new(),
        numbers: HashMap::new(),
        spent: 0,
    };
    let mut scope =
        PirScope { builder: Builder::new("main"), parameters: Vec::new(), fetched: Vec::new(), depth: 0 };
    let [region] = program.regions[..] else {
        return Err(Error::mismatch(
            Kind::Graph,
            "the number of regions of the program",
            program.regions.len(),
            1,
        )
        .at(start));
    };
    let block = reading.block(region)?;
    let yielded = reading.operations(&mut scope, &block)?;
    let mut model = Model::new(Standard::Paddle);
    model.format_version = header.version;
    "PaddlePaddle 3".clone_into(&mut model.producer);
    model.opsets.push(("".into(), OPERATORS));
    let PirScope { mut builder, parameters: wanted, mut fetched, .. } = scope;
    let keys: HashMap<_, _> = wanted.iter().map(|(key, wanted)| (wanted.name.clone(), key.clone())).collect();
    let wanted = wanted.into_iter().map(|(_, wanted)| wanted).collect();
    for (name, constant) in constants(parameters, files, wanted) {
        let Some(key) = keys.get(&name) else { continue };
        let value = builder.constant(key, constant)?;
        builder.info(value).name = name.into();
    }
    fetched.shared_sort_by_key(|(column, _)| *column);
    for key in fetched.into_iter().map(|(_, key)| key).chain(yielded) {
        builder.output(&key);
    }
    model.graph = builder.finish()?;
    Ok(model)
}

/// A block while it is read.
struct PirScope {
    builder: Builder,
    /// By key.
    parameters: Vec<(String, WantedParameter)>,
    /// Columns and keys of outputs.
    fetched: Vec<(i64, String)>,
    depth: usize,
}

struct PirReader<'a, 'l> {
    text: JsonText<'a>,
    limits: &'l Limits,
    /// The keys that a value of PIR stands for, unless it is its own.
    values: HashMap<i64, Vec<String>>,
    /// Parameters that the file does not keep, of which nothing is read in inference.
    unsaved: HashSet<i64>,
    /// Values that operations write into, arrays foremost: by value, the one that they stand for.
    arrays: HashMap<i64, i64>,
    /// The number of keys that were made for states of such values.
    states: usize,
    /// By the key of a length, that of the state of the array whose length it is.
    lengths: HashMap<String, String>,
    /// The values that `full` and `full_int_array` made.
    numbers: HashMap<String, Vec<i64>>,
    /// Bytes of lists of inputs: a list may be read many times.
    spent: u64,
}

impl<'a> PirReader<'a, '_> {
    /// The only block of a region.
    fn block(&self, region: Raw<'a>) -> Result<Block<'a>> {
        let blocks = self.text.read::<JsonRegion<'a>>(region, "a region")?.blocks;
        let [block] = blocks[..] else {
            let what = "the number of blocks of the region";
            let error = Error::mismatch(Kind::Unsupported, what, blocks.len(), 1);
            return Err(error.at(self.text.position(region)));
        };
        self.text.read(block, "a block")
    }

    /// Reads the operations of a block; gives the keys of what it yields.
    fn operations(&mut self, scope: &mut PirScope, block: &Block<'a>) -> Result<Vec<String>> {
        let mut yielded = Vec::new();
        scope.builder.reserve(block.ops.len());
        for &raw in &block.ops {
            let operation: JsonOperation<'a> = self.text.read(raw, "an operation")?;
            let position = self.text.position(raw);
            let label = format!("operation \"{}\"", name_of(&operation.name).1);
            if let Some(keys) = self
                .operation(scope, &operation, position)
                .map_err(|error| error.in_node(label).at(position))?
            {
                yielded = keys;
            }
        }
        Ok(yielded)
    }

    fn operation(
        &mut self,
        scope: &mut PirScope,
        operation: &JsonOperation<'a>,
        position: Position,
    ) -> Result<Option<Vec<String>>> {
        if operation.name == "p" {
            self.parameter(scope, operation, position)?;
            return Ok(None);
        }
        let (dialect, name) = name_of(&operation.name);
        // Values that the operation writes into.
        let into = written_input(name).and_then(|input| operation.inputs.get(input));
        let mut written: Vec<_> = into.map(|input| self.array(input.id)).into_iter().collect();
        let mut inputs = self.inputs(operation)?;
        let outputs =
            operation.outputs.map_or(Ok(Vec::new()), |raw| self.text.read(raw, "a list of outputs"))?;
        let mut attributes =
            operation.attributes.map_or(Ok(Vec::new()), |raw| attribute::read(self.text, raw))?;
        match (dialect, name) {
            ("builtin", "combine" | "split") => {
                self.relist(operation, inputs, &outputs)?;
                return Ok(None);
            }
            ("cf", "yield") => return Ok(Some(inputs.into_iter().flatten().collect())),
            ("pd_op", "data" | "feed") => {
                self.input(scope, &outputs, &attributes)?;
                return Ok(None);
            }
            ("pd_op", "if" | "while") => {
                written = self.written(&operation.regions, scope.depth)?;
                let states = written.iter().map(|&array| Some(self.state(array)));
                if name == "while" {
                    inputs.extend(states);
                    // A loop without a maximum number of iterations has this form.
                    inputs.insert(0, None);
                }
                attributes.extend(self.bodies(scope, name, operation, &written)?);
            }
            ("pd_op", "array_write_") => {
                let appends = matches!(&inputs[..], [Some(array), _, Some(place)]
                    if self.lengths.get(place) == Some(array));
                if appends {
                    inputs.pop();
                    attributes.push(Attribute { name: "append".into(), content: Content::Int(1) });
                }
            }
            ("pd_op", _) => self.take_attributes(name, &mut inputs, &mut attributes),
            _ => {}
        }
        let mut keys = self.defined(&outputs)?;
        self.note_states(name, &inputs, &outputs, &written, &mut keys);
        let name = if name == "array_write_" { "array_write" } else { name };
        if name == "create_array" {
            // The attribute leaves the type undefined.
            attributes = element_type_of(&keys).into_iter().collect();
        }
        let believed = match name {
            // Caches for training, which Paddle declares to be scalars.
            "einsum" => 1,
            // A scalar stands for a variable that a loop writes first, and is declared like it.
            "full" if scalar(&attributes) => 0,
            _ if MISDECLARED.contains(&name) => 0,
            _ => keys.len(),
        };
        keys.iter_mut().skip(believed).for_each(|(_, declared)| *declared = None);
        let domain = if matches!(dialect, "pd_op" | "cf") { "" } else { dialect };
        let node = node(&mut scope.builder, (domain, name), &inputs, attributes, position);
        self.note_numbers(&node, &keys);
        let fetched = (dialect, name) == ("pd_op", "fetch");
        let column = fetched.then(|| int_of(&node, "col").unwrap_or(0));
        let title = if fetched { text_of(&node.attributes, "name").map(str::to_owned) } else { None };
        let list: Vec<_> = keys.iter().map(|(key, _)| key.as_str()).collect();
        scope.builder.push(node, &list)?;
        for (key, declared) in &keys {
            let value = scope.builder.reference(key);
            let info = scope.builder.info(value);
            info.declared.clone_from(declared);
            if let Some(title) = &title {
                info.name = title.as_str().into();
            }
        }
        if let (Some(column), Some((key, _))) = (column, keys.first()) {
            scope.fetched.push((column, key.clone()));
        }
        Ok(None)
    }

    /// The keys of what an operation reads, lists taken apart.
    fn inputs(&mut self, operation: &JsonOperation<'a>) -> Result<Vec<Option<String>>> {
        let mut inputs = Vec::with_capacity(operation.inputs.len());
        for input in &operation.inputs {
            let id = self.array(input.id);
            match self.values.get(&id) {
                _ if id == 0 || self.unsaved.contains(&id) => inputs.push(None),
                None => inputs.push(Some(key(id))),
                Some(keys) => {
                    let bytes = product(keys.len(), 64);
                    self.limits.allow_bytes(self.spent, bytes)?;
                    self.spent = self.spent.saturating_add(gradus_core::convert::low_u64(bytes));
                    inputs.extend(keys.iter().cloned().map(Some));
                }
            }
        }
        Ok(inputs)
    }

    /// Aliases that `builtin.combine` and `builtin.split` define for the values that they read.
    fn relist(
        &mut self,
        operation: &JsonOperation<'a>,
        inputs: Vec<Option<String>>,
        outputs: &[JsonOutput<'a>],
    ) -> Result<()> {
        let keys: Vec<String> = inputs.into_iter().flatten().collect();
        let combines = operation.name.ends_with("combine");
        let fits = if combines {
            // Lists of lists could be as long as two to the number of operations.
            outputs.len() == 1 && keys.len() == operation.inputs.len()
        } else {
            outputs.len() == keys.len()
        };
        if !fits {
            let (from, to) = (keys.len(), outputs.len());
            return Err(Error::mismatch(Kind::Graph, "number of outputs", to, from));
        }
        if combines {
            self.values.insert(outputs.first().map_or(0, |output| output.id), keys);
        } else {
            for (output, key) in outputs.iter().zip(keys) {
                self.values.insert(output.id, vec![key]);
            }
        }
        Ok(())
    }

    /// Keys and declared types of what an operation defines, lists taken apart.
    fn defined(&mut self, outputs: &[JsonOutput<'a>]) -> Result<Vec<(String, Option<Type>)>> {
        let mut all = Vec::with_capacity(outputs.len());
        for output in outputs {
            match types::read(self.text, output.of)? {
                _ if output.id == 0 => all.push((String::new(), None)),
                TypedValue::One(declared) => all.push((key(output.id), declared)),
                TypedValue::List(items) => {
                    let keys =
                        (0..items.len()).map(|i| format!("{}.{i}", key(output.id))).collect::<Vec<_>>();
                    all.extend(keys.iter().cloned().zip(items));
                    self.values.insert(output.id, keys);
                }
            }
        }
        Ok(all)
    }

    fn parameter(
        &mut self,
        scope: &mut PirScope,
        operation: &JsonOperation<'a>,
        position: Position,
    ) -> Result<()> {
        let wrong = |what: &str| Error::new(Kind::Syntax, format!("a parameter has no {what}"));
        let parts: Vec<Raw<'a>> =
            self.text.read(operation.attributes.ok_or_else(|| wrong("attributes"))?, "a list")?;
        let name: String =
            self.text.read(parts.last().ok_or_else(|| wrong("name"))?, "the name of a parameter")?;
        let output: JsonOutput<'a> =
            self.text.read(operation.outputs.ok_or_else(|| wrong("output"))?, "an output")?;
        let saved = |raw| self.text.read::<Vec<i64>>(raw, "a list").ok()?.first().copied();
        if operation.outputs_attributes.and_then(saved) == Some(0) {
            self.unsaved.insert(output.id);
            return Ok(());
        }
        let declared = match types::read(self.text, output.of)? {
            TypedValue::One(declared) => declared,
            TypedValue::List(_) => None,
        };
        let dtype = declared.as_ref().and_then(Type::dtype);
        let dims = declared.as_ref().and_then(Type::known_dims);
        let (Some(dtype), Some(dims)) = (dtype, dims) else {
            return Err(Error::new(
                Kind::Type,
                format!("cannot read parameter \"{name}\": its type or shape is unknown"),
            ));
        };
        if scope.depth > 0 {
            return Err(Error::new(
                Kind::Graph,
                format!("cannot read parameter \"{name}\": it is in an inner block, expected the main one"),
            ));
        }
        scope
            .parameters
            .push((key(output.id), WantedParameter { name, dtype, shape: Shape::new(dims)?, position }));
        Ok(())
    }

    fn input(
        &self,
        scope: &mut PirScope,
        outputs: &[JsonOutput<'a>],
        attributes: &[Attribute],
    ) -> Result<()> {
        let [output] = outputs else {
            return Err(Error::mismatch(Kind::Graph, "number of outputs of an input", outputs.len(), "1"));
        };
        let declared = match types::read(self.text, output.of)? {
            TypedValue::One(declared) => declared,
            TypedValue::List(_) => {
                return Err(Error::mismatch(
                    Kind::Type,
                    "the type of an input",
                    "a list of tensors",
                    "a tensor",
                ));
            }
        };
        let value = scope.builder.define(&key(output.id), Origin::Input)?;
        let info = scope.builder.info(value);
        info.declared = declared;
        if let Some(name) = text_of(attributes, "name") {
            info.name = name.into();
        }
        Ok(())
    }

    /// The graphs of `if` and `while`.
    fn bodies(
        &mut self,
        scope: &PirScope,
        name: &str,
        operation: &JsonOperation<'a>,
        written: &[i64],
    ) -> Result<Vec<Attribute>> {
        let names: &[&str] = if name == "if" { &["then_branch", "else_branch"] } else { &["body"] };
        if operation.regions.len() != names.len() {
            let (count, wanted) = (operation.regions.len(), names.len());
            let what = "the number of regions";
            return Err(Error::mismatch(Kind::Graph, what, count, wanted));
        }
        let each = names.iter().zip(&operation.regions).map(|(&body, region)| {
            let lead: &[&str] = if name == "while" { &["#run", "#goes_on"] } else { &[] };
            let graph = self.inner(body, region, lead, written, scope.depth + 1)?;
            Ok(Attribute { name: body.into(), content: Content::Graph(Arc::new(graph)) })
        });
        each.collect()
    }

    fn inner(
        &mut self,
        name: &str,
        region: Raw<'a>,
        lead: &[&str],
        written: &[i64],
        depth: usize,
    ) -> Result<Graph> {
        let most = self.limits.max_depth;
        if depth > most {
            let message = format!("blocks are nested more than {most} deep");
            return Err(Error::new(Kind::Limit, message).at(self.text.position(region)));
        }
        let block = self.block(region)?;
        let builder = Builder::nested(name);
        let mut scope = PirScope { builder, parameters: Vec::new(), fetched: Vec::new(), depth };
        for input in lead {
            scope.builder.define(input, Origin::Input)?;
        }
        for argument in &block.args {
            let value = scope.builder.define(&key(argument.id), Origin::Input)?;
            if let TypedValue::One(declared) = types::read(self.text, argument.of)? {
                scope.builder.info(value).declared = declared;
            }
        }
        let before: Vec<_> = written.iter().map(|&array| (array, self.state(array))).collect();
        if !lead.is_empty() {
            for &array in written {
                let state = self.next_state(array);
                scope.builder.define(&state, Origin::Input)?;
            }
        }
        let yielded = self.operations(&mut scope, &block)?;
        let states = written.iter().map(|&array| self.state(array));
        for output in yielded.into_iter().chain(states.collect::<Vec<_>>()) {
            scope.builder.output(&output);
        }
        self.values.extend(before.into_iter().map(|(array, state)| (array, vec![state])));
        scope.builder.finish()
    }

    /// Turns inputs that stand for attributes into these, where they are constant.
    fn take_attributes(&self, name: &str, inputs: &mut Vec<Option<String>>, attributes: &mut Vec<Attribute>) {
        let mut last = inputs.len();
        for &(_, _, attribute) in AS_ATTRIBUTES.iter().filter(|(of, ..)| *of == name) {
            let Some(at) = last.checked_sub(1).filter(|&at| at > 0) else { return };
            let numbers = inputs.get(at).cloned().flatten().and_then(|key| self.numbers.get(&key));
            let Some(numbers) = numbers else { return };
            let content = match numbers[..] {
                [only] if attribute == "axis" => Content::Int(only),
                _ => Content::Ints(numbers.as_slice().into()),
            };
            attributes.push(Attribute { name: attribute.into(), content });
            inputs.remove(at);
            last = at;
        }
    }

    /// Remembers what `full` and `full_int_array` make, for whom it is an attribute.
    fn note_numbers(&mut self, node: &Node, keys: &[(String, Option<Type>)]) {
        let [(key, _)] = keys else { return };
        let numbers = match (&*node.operator.name, node.attribute("value")) {
            ("full", Some(Content::Tensor(value))) => {
                let one = matches!(node.attribute("shape"), Some(Content::Ints(dims)) if dims.iter().all(|&dim| dim == 1));
                let value = value.tensor().ok().filter(|_| one).and_then(|value| value.only_number().ok());
                let whole =
                    value.map(gradus_core::convert::nearest_f64).and_then(gradus_core::convert::truncated);
                whole.and_then(|whole| i64::try_from(whole).ok()).map(|whole| vec![whole])
            }
            ("full_int_array", Some(Content::Ints(values))) => Some(values.to_vec()),
            _ => None,
        };
        if let Some(numbers) = numbers {
            self.numbers.insert(key.clone(), numbers);
        }
    }
}

/// The key of a value of PIR.
fn key(id: i64) -> String {
    format!("%{id}")
}

/// Dialect and name of an operation.
fn name_of(name: &str) -> (&str, &str) {
    let (dialect, name) = name.split_once('.').unwrap_or(("", name));
    let dialect = match dialect {
        "0" => "builtin",
        "1" => "pd_op",
        "2" => "cf",
        "3" => "custom_op",
        "4" => "dist",
        other => other,
    };
    (dialect, name)
}

/// The attribute that says the element type of an array, which operations leave undefined.
fn element_type_of(defined: &[(String, Option<Type>)]) -> Option<Attribute> {
    let dtype = defined.first()?.1.as_ref()?.dtype()?;
    Some(Attribute { name: "dtype".into(), content: Content::Bytes(dtype.name().into()) })
}

fn int_of(node: &Node, name: &str) -> Option<i64> {
    if let Some(Content::Int(value)) = node.attribute(name) { Some(*value) } else { None }
}

fn text_of<'n>(attributes: &'n [Attribute], name: &str) -> Option<&'n str> {
    let content = &attributes.iter().find(|attribute| &*attribute.name == name)?.content;
    if let Content::Bytes(bytes) = content { std::str::from_utf8(bytes).ok() } else { None }
}
