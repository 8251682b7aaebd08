//! `ProgramDesc`: the older form of programs. Blocks of operators that read and write variables by
//! name.
//!
//! A variable may be written several times, and the body of a loop writes variables around it; so
//! each write makes a value of its own, and what a body writes is carried from one run to the next.

mod control_flow;
mod parts;
mod renamed;

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use gradus_core::convert::{i64_of, product, u64_of, usize_of_i64};
use gradus_core::graph::{Attribute, Builder, Content, DeclaredDim, Model, Node, Origin, Standard, Type};
use gradus_core::sort::SharedSort;
use gradus_core::{Error, Kind, Limits, Result, Shape, Tensor};

use super::choices::Choices;
use super::fields::{block_desc, op_desc, op_desc_var, program_desc, var_type_type as code, version};
use super::names::{MISDECLARED, renamed};
use super::parameters::{WantedParameter, constants};
use super::types::dtype_of;
use super::{OPERATORS, node};
use crate::files::Files;
use crate::wire::ByteSpan;
use parts::{Variable, read_attribute};
use renamed::{keeps_meaning, typed};

/// Programs of this version of Paddle and later are not known.
const UNKNOWN_VERSION: i64 = 4_000_000;

/// Programs from this version on mean by an end of -1, backwards, the last element; older ones what
/// is before the first.
const VERSION_3: i64 = 3_000_000;

/// Reads an old program. `parameters` is the path of the file of parameters, relative to the
/// program; it is opened when one is needed.
///
/// # Errors
/// [`Kind::Syntax`] where the bytes are not what the format says, [`Kind::Graph`] where the graph
/// is not well formed, [`Kind::Limit`] where it is too large; all with their place.
pub fn read_desc(bytes: &Bytes, parameters: &str, files: &Arc<dyn Files>, limits: &Limits) -> Result<Model> {
    let file = ByteSpan::of(bytes);
    let (mut blocks, mut number) = (Vec::new(), 0);
    for field in file.fields() {
        let field = field.map_err(|error| {
            Error::new(error.kind(), format!("this is not a Paddle program: {}", error.message()))
                .at(file.position())
        })?;
        match field.number {
            program_desc::BLOCKS => blocks.push(field.span()?),
            program_desc::VERSION => {
                for field in field.span()?.fields() {
                    let field = field?;
                    if field.number == version::VERSION {
                        number = field.int()?;
                    }
                }
            }
            _ => {}
        }
    }
    if number >= UNKNOWN_VERSION {
        let message = format!("the program's version is {number}; known are those below {UNKNOWN_VERSION}");
        return Err(file.error(Kind::Unsupported, message));
    }
    let mut reading = DescReader {
        limits,
        blocks,
        opened: HashMap::new(),
        types: HashMap::new(),
        arrays: Vec::new(),
        version: number,
        written: HashMap::new(),
        spent: 0,
    };
    let mut scope = BlockScope {
        builder: Builder::new("main"),
        current: HashMap::new(),
        fetched: Vec::new(),
        lengths: HashMap::new(),
        depth: 0,
    };
    let wanted = reading.parameters()?;
    let operations = reading.open(0, file)?;
    for (name, constant) in constants(parameters, files, wanted) {
        scope.builder.constant(&name, constant)?;
        scope.current.insert(name.clone(), name);
    }
    reading.inputs(&mut scope, &operations)?;
    reading.operations(&mut scope, &operations)?;
    let mut model = Model::new(Standard::Paddle);
    model.format_version = number;
    model.producer =
        format!("PaddlePaddle {}.{}.{}", number / 1_000_000, number / 1000 % 1000, number % 1000);
    model.opsets.push(("".into(), OPERATORS));
    let BlockScope { mut builder, mut fetched, .. } = scope;
    fetched.shared_sort_by_key(|(column, _)| *column);
    for (_, key) in fetched {
        builder.output(&key);
    }
    model.graph = builder.finish()?;
    Ok(model)
}

/// An operator of the file, undecoded.
pub(super) struct OpDesc<'a> {
    span: ByteSpan<'a>,
    pub(super) name: &'a str,
    pub(super) inputs: Vec<(&'a str, Vec<&'a str>)>,
    outputs: Vec<(&'a str, Vec<&'a str>)>,
    attributes: Vec<Attribute>,
    /// The block that it runs.
    body: Option<i64>,
}

impl<'a> OpDesc<'a> {
    /// The variables of an input; none if it is missing.
    pub(super) fn values(&self, name: &str) -> &[&'a str] {
        self.inputs.iter().find(|(own, _)| *own == name).map_or(&[], |(_, values)| values)
    }

    fn attribute(&self, name: &str) -> Option<&Content> {
        self.attributes.iter().find(|attribute| &*attribute.name == name).map(|attribute| &attribute.content)
    }

    /// An integer attribute.
    pub(super) fn int(&self, name: &str) -> Option<i64> {
        if let Some(Content::Int(value)) = self.attribute(name) { Some(*value) } else { None }
    }

    /// Names of what it writes.
    pub(super) fn writes(&self) -> impl Iterator<Item = &'a str> {
        self.outputs
            .iter()
            .filter(|(name, _)| !matches!(*name, "Scope" | "StepScopes"))
            .flat_map(|(_, values)| values.iter().copied())
    }
}

/// The domain of operators that PIR has no name for.
const OLD: &str = "old";

/// Maximum number of operations that one block is the body of: each has a graph of its own.
const MAX_BODIES: usize = 64;

/// A block while it is read.
struct BlockScope {
    builder: Builder,
    /// By variable: the key of its present value.
    current: HashMap<String, String>,
    /// Columns and keys of outputs.
    fetched: Vec<(i64, String)>,
    /// By the key of a length, that of the state of the array whose length it is.
    lengths: HashMap<String, String>,
    depth: usize,
}

struct DescReader<'a, 'l> {
    limits: &'l Limits,
    blocks: Vec<ByteSpan<'a>>,
    /// By block: how often it was read, and whether it is being read now.
    opened: HashMap<i64, (usize, bool)>,
    types: HashMap<&'a str, Type>,
    /// Arrays that the blocks opened last declare, which nothing has defined yet.
    arrays: Vec<(&'a str, ByteSpan<'a>)>,
    version: i64,
    /// How often a variable was written.
    written: HashMap<String, usize>,
    spent: u64,
}

impl<'a> DescReader<'a, '_> {
    /// Charges the memory of what is read, before it is made.
    fn charge(&mut self, span: ByteSpan<'a>, bytes: usize) -> Result<()> {
        self.limits.allow_bytes(self.spent, product(bytes, 1)).map_err(|error| error.at(span.position()))?;
        self.spent += u64_of(bytes);
        Ok(())
    }

    /// The operations of a block, whose variables become known.
    fn open(&mut self, index: i64, by: ByteSpan<'a>) -> Result<Vec<OpDesc<'a>>> {
        let block = usize_of_i64(index).and_then(|index| self.blocks.get(index).copied());
        let Some(block) = block else {
            let count = self.blocks.len();
            return Err(
                by.error(Kind::Graph, format!("block {index} is wanted, but the program has {count}"))
            );
        };
        let (count, is_open) = self.opened.entry(index).or_default();
        *count += 1;
        if std::mem::replace(is_open, true) {
            return Err(by.error(Kind::Graph, format!("block {index} is the body of an operation within it")));
        }
        if *count > MAX_BODIES {
            let message = format!("block {index} is the body of more than {MAX_BODIES} operations");
            return Err(by.error(Kind::Limit, message));
        }
        let mut operations = Vec::new();
        for field in block.fields() {
            let field = field?;
            match field.number {
                block_desc::VARS => {
                    let span = field.span()?;
                    self.charge(span, size_of::<Type>() + 64)?;
                    let variable = Variable::read(span)?;
                    if matches!(variable.declared, Some(Type::Sequence(_))) {
                        self.arrays.push((variable.name, span));
                    }
                    if let Some(declared) = variable.declared {
                        self.types.insert(variable.name, declared);
                    }
                }
                block_desc::OPS => {
                    let span = field.span()?;
                    self.charge(span, size_of::<OpDesc<'_>>() + size_of::<Node>())?;
                    operations.push(self.operation(span)?);
                }
                _ => {}
            }
        }
        Ok(operations)
    }

    /// Ends the reading of the block of an operation.
    fn close(&mut self, operation: &OpDesc<'a>) {
        if let Some((_, is_open)) = operation.body.and_then(|body| self.opened.get_mut(&body)) {
            *is_open = false;
        }
    }

    fn operation(&mut self, span: ByteSpan<'a>) -> Result<OpDesc<'a>> {
        let mut operation =
            OpDesc { span, name: "", inputs: vec![], outputs: vec![], attributes: vec![], body: None };
        for field in span.fields() {
            let field = field?;
            match field.number {
                op_desc::TYPE => operation.name = field.text()?,
                op_desc::INPUTS => operation.inputs.push(self.slot(field.span()?)?),
                op_desc::OUTPUTS => operation.outputs.push(self.slot(field.span()?)?),
                op_desc::ATTRS => {
                    self.charge(span, size_of::<Attribute>() + field.span()?.len().saturating_mul(8))?;
                    let (name, content, block) = read_attribute(field.span()?)?;
                    if name == "sub_block" {
                        operation.body = block;
                    }
                    operation
                        .attributes
                        .extend(content.map(|content| Attribute { name: name.into(), content }));
                }
                _ => {}
            }
        }
        if operation.name.is_empty() {
            return Err(span.error(Kind::Syntax, "an operator has no type"));
        }
        Ok(operation)
    }

    fn slot(&mut self, span: ByteSpan<'a>) -> Result<(&'a str, Vec<&'a str>)> {
        let (mut name, mut values) = ("", Vec::new());
        for field in span.fields() {
            let field = field?;
            match field.number {
                op_desc_var::PARAMETER => name = field.text()?,
                op_desc_var::ARGUMENTS => {
                    self.charge(span, 2 * size_of::<&str>())?;
                    values.push(field.text()?);
                }
                _ => {}
            }
        }
        Ok((name, values))
    }

    /// Parameters that the program declares.
    fn parameters(&mut self) -> Result<Vec<WantedParameter>> {
        let mut wanted = Vec::new();
        let Some(&block) = self.blocks.first() else { return Ok(wanted) };
        for field in block.fields() {
            let field = field?;
            if field.number != block_desc::VARS {
                continue;
            }
            let span = field.span()?;
            let variable = Variable::read(span)?;
            if !variable.persistable || variable.code != code::DENSE_TENSOR {
                continue;
            }
            let name = variable.name.to_owned();
            let declared = variable.declared.as_ref();
            let (dtype, dims) = (declared.and_then(Type::dtype), declared.and_then(Type::known_dims));
            let (Some(dtype), Some(dims)) = (dtype, dims) else {
                return Err(span.error(Kind::Type, format!("parameter \"{name}\" has no type that says all")));
            };
            self.charge(span, size_of::<WantedParameter>() + 64)?;
            let shape = Shape::new(dims).map_err(|error| error.at(span.position()))?;
            wanted.push(WantedParameter { name, dtype, shape, position: span.position() });
        }
        Ok(wanted)
    }

    /// Defines the inputs, in the order of their columns.
    fn inputs(&mut self, scope: &mut BlockScope, operations: &[OpDesc<'a>]) -> Result<()> {
        let mut feeds: Vec<_> = operations.iter().filter(|operation| operation.name == "feed").collect();
        feeds.shared_sort_by_key(|operation| operation.int("col"));
        for feed in feeds {
            let Some(name) = feed.writes().next() else { continue };
            let value =
                scope.builder.define(name, Origin::Input).map_err(|error| error.at(feed.span.position()))?;
            scope.builder.info(value).declared = self.types.get(name).cloned();
            scope.current.insert(name.to_owned(), name.to_owned());
        }
        Ok(())
    }

    fn operations(&mut self, scope: &mut BlockScope, operations: &[OpDesc<'a>]) -> Result<()> {
        // Arrays are declared and written to, but no operation makes them.
        for (name, span) in std::mem::take(&mut self.arrays) {
            if !scope.current.contains_key(name) {
                let dtype = self.types.get(name).and_then(Type::dtype).map(|dtype| Attribute {
                    name: "dtype".into(),
                    content: Content::Bytes(dtype.name().into()),
                });
                self.node(scope, span, ("", "create_array"), &[], &[name], dtype.into_iter().collect())?;
            }
        }
        let choices = Choices::of(operations);
        for (place, operation) in operations.iter().enumerate() {
            if choices.within.contains(&place) {
                continue;
            }
            let label = || format!("operator \"{}\"", operation.name);
            let read = match operation.name {
                "feed" => Ok(()),
                "fetch" => {
                    for name in operation.values("X") {
                        let key = current(scope, name);
                        scope.fetched.push((operation.int("col").unwrap_or(0), key));
                    }
                    Ok(())
                }
                "while" => self.repeat(scope, operation),
                "select_input" => match choices.all.get(&place) {
                    Some(choice) => self.choose(scope, operation, choice),
                    None => self.select(scope, operation),
                },
                "conditional_block" if operation.int("is_scalar_condition") == Some(1) => {
                    self.condition(scope, operation)
                }
                "write_to_array" => self.write(scope, operation),
                "fill_constant" => self.full(scope, operation).map(|()| self.doubt(scope, operation)),
                name => match renamed(name).filter(|row| keeps_meaning(row, operation)) {
                    Some(row) => self.rename(scope, operation, row).map(|()| {
                        if name == "assign_value" {
                            self.doubt(scope, operation);
                        }
                    }),
                    None => self.keep(scope, operation),
                },
            };
            read.map_err(|error| error.in_node(label()).at(operation.span.position()))?;
        }
        Ok(())
    }

    /// A node that the file does not have; gives its output.
    fn helper(
        &mut self,
        scope: &mut BlockScope,
        span: ByteSpan<'a>,
        name: &str,
        inputs: &[Option<String>],
        attribute: &str,
        content: Content,
    ) -> Result<String> {
        let variable = format!("#{}", span_offset(span));
        let attributes = vec![Attribute { name: attribute.into(), content }];
        self.node(scope, span, ("", name), inputs, &[&variable], attributes)?;
        Ok(current(scope, &variable))
    }

    /// `fill_constant`: the value is text, which is exact, and a float.
    fn full(&mut self, scope: &mut BlockScope, operation: &OpDesc<'a>) -> Result<()> {
        let text = match operation.attribute("str_value") {
            Some(Content::Bytes(text)) => {
                std::str::from_utf8(text).ok().map(str::trim).filter(|text| !text.is_empty())
            }
            _ => None,
        };
        let value = match text {
            Some(text) => match (text.parse::<i64>(), text.parse::<f64>()) {
                (Ok(whole), _) => Tensor::scalar(whole),
                (_, Ok(float)) => Tensor::scalar(float),
                _ => {
                    return Err(Error::mismatch(
                        Kind::Syntax,
                        "attribute \"str_value\"",
                        format_args!("\"{text}\""),
                        "a number",
                    ));
                }
            },
            None => match operation.attribute("value") {
                Some(Content::Float(value)) => Tensor::scalar(*value),
                _ => return Err(Error::new(Kind::Graph, "attribute \"value\" is missing")),
            },
        };
        let dtype = operation.attribute("dtype").and_then(|content| typed("dtype", content));
        let named = |name: &str, content: Option<Content>| {
            content.map(|content| Attribute { name: name.into(), content })
        };
        let outputs: Vec<_> = operation.writes().collect();
        let (each, all, given) = (
            operation.values("ShapeTensorList"),
            operation.values("ShapeTensor"),
            operation.values("ValueTensor"),
        );
        if each.is_empty() && all.is_empty() && given.is_empty() {
            let shape = operation.attribute("shape").cloned().unwrap_or(Content::Ints([].into()));
            let attributes = [
                named("shape", Some(shape)),
                named("value", Some(Content::Tensor(value.into()))),
                named("dtype", dtype),
            ];
            return self.node(
                scope,
                operation.span,
                ("", "full"),
                &[],
                &outputs,
                attributes.into_iter().flatten().collect(),
            );
        }
        let value = match given.first() {
            Some(given) => current(scope, given),
            None => self.helper(
                scope,
                operation.span,
                "assign_value",
                &[],
                "values",
                Content::Tensors(vec![value.into()]),
            )?,
        };
        let dims = match (each, all.first()) {
            ([], Some(all)) => current(scope, all),
            ([], None) => {
                let shape = operation.attribute("shape").cloned().unwrap_or(Content::Ints([].into()));
                self.helper(scope, operation.span, "full_int_array", &[], "value", shape)?
            }
            (each, _) => self.joined(scope, operation, each)?,
        };
        let inputs = [Some(value), Some(dims)];
        let attributes = named("dtype", dtype).into_iter().collect();
        self.node(scope, operation.span, ("", "full_with_tensor"), &inputs, &outputs, attributes)
    }

    /// Forgets the type of a variable that a number of another type holds the place of: a loop
    /// writes it first.
    fn doubt(&self, scope: &mut BlockScope, operation: &OpDesc<'a>) {
        let dtype = operation.int("dtype").and_then(dtype_of);
        for name in operation.writes() {
            if self.types.get(name).is_some_and(|declared| declared.dtype() != dtype) {
                let value = scope.builder.reference(&current(scope, name));
                scope.builder.info(value).declared = None;
            }
        }
    }

    /// An operator that PIR has no name for: as it is, apart from operators of PIR of its name.
    fn keep(&mut self, scope: &mut BlockScope, operation: &OpDesc<'a>) -> Result<()> {
        let inputs = operation.inputs.iter().flat_map(|(_, values)| values);
        let inputs: Vec<_> = inputs.map(|name| Some(current(scope, name))).collect();
        let outputs: Vec<_> =
            operation.outputs.iter().flat_map(|(_, values)| values.iter().copied()).collect();
        let operator = (OLD, operation.name);
        self.node(scope, operation.span, operator, &inputs, &outputs, operation.attributes.clone())
    }

    /// The key of the next value of a variable.
    fn next_key(&mut self, name: &str) -> String {
        let count = self.written.entry(name.to_owned()).or_insert(0);
        *count += 1;
        format!("{name}#{count}")
    }

    fn node(
        &mut self,
        scope: &mut BlockScope,
        span: ByteSpan<'a>,
        (domain, operator): (&str, &str),
        inputs: &[Option<String>],
        outputs: &[&str],
        attributes: Vec<Attribute>,
    ) -> Result<()> {
        self.charge(span, size_of::<Node>())?;
        let node = node(&mut scope.builder, (domain, operator), inputs, attributes, span.position());
        let keys: Vec<_> = outputs
            .iter()
            .map(|name| {
                let first = !name.starts_with('#') && scope.depth == 0 && !scope.current.contains_key(*name);
                if first && !self.written.contains_key(*name) {
                    (*name).to_owned()
                } else {
                    self.next_key(name)
                }
            })
            .collect();
        scope.builder.push(node, &keys.iter().map(String::as_str).collect::<Vec<_>>())?;
        for (name, key) in outputs.iter().zip(keys) {
            let value = scope.builder.reference(&key);
            let declared = self.types.get(name).filter(|_| !MISDECLARED.contains(&operator));
            scope.builder.info(value).declared = declared.cloned();
            scope.current.insert((*name).to_owned(), key);
        }
        Ok(())
    }
}

/// The key of a variable's present value; of one that nothing has written, its name.
fn current(scope: &BlockScope, name: &str) -> String {
    scope.current.get(name).cloned().unwrap_or_else(|| name.to_owned())
}

fn span_offset(span: ByteSpan<'_>) -> String {
    match span.position() {
        gradus_core::error::Position::Byte(at) => at.to_string(),
        gradus_core::error::Position::Line(line, column) => format!("{line}:{column}"),
    }
}

/// A size that the declared one admits.
fn any_size(declared: &DeclaredDim) -> i64 {
    if let DeclaredDim::Known(size) = declared { i64_of(*size) } else { 1 }
}
