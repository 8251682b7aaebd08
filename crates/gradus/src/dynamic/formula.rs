//! Formulas that take the place of constants, and the nodes that compute them.

use std::collections::HashMap;
use std::sync::Arc;

use gradus_core::convert::i64_of;
use gradus_core::graph::edit::{Made, Step};
use gradus_core::graph::{Attribute, Content, Graph, Type};
use gradus_core::{DType, Error, Kind, Result, Tensor};

use super::table::{Pattern, Table};
use crate::dim::{Dim, Factor, Symbols};
use crate::fold::ValueNames;

/// A replacement of a constant. Sizes are expressions of the names that inputs declare.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Formula {
    /// A list of whole numbers; one number if the flag is set.
    Sizes(Vec<Arc<str>>, bool, DType),
    /// A tensor whose elements follow from their index.
    Table(Table),
    /// A function of a size, as a float of a shape of one element, rounded once.
    Function(SizeFunction, Arc<str>, Tensor),
}

/// A function of a size, which is computed in double precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SizeFunction {
    Reciprocal,
    Root,
    ReciprocalRoot,
}

impl SizeFunction {
    pub(super) const ALL: [SizeFunction; 3] =
        [SizeFunction::Reciprocal, SizeFunction::Root, SizeFunction::ReciprocalRoot];

    /// The value at a size.
    pub(super) fn at(self, size: f64) -> f64 {
        match self {
            SizeFunction::Reciprocal => 1.0 / size,
            SizeFunction::Root => size.sqrt(),
            SizeFunction::ReciprocalRoot => 1.0 / size.sqrt(),
        }
    }

    /// The size at which the value is a number.
    pub(super) fn inverse(self, number: f64) -> f64 {
        match self {
            SizeFunction::Reciprocal => 1.0 / number,
            SizeFunction::Root => number * number,
            SizeFunction::ReciprocalRoot => 1.0 / (number * number),
        }
    }
}

impl Formula {
    /// Returns true if a text is the formula, or one of its sizes, or that of a table that is open
    /// along more axes.
    pub(super) fn is(&self, text: &str) -> bool {
        let of_size = match self {
            Formula::Sizes(all, ..) => all.iter().any(|size| **size == *text),
            Formula::Table(table) => {
                let is_size = table.axes.iter().any(|(_, size)| **size == *text);
                let parts: Vec<_> = text.split(", axis ").collect();
                is_size || table.text().split(", axis ").all(|part| parts.contains(&part))
            }
            Formula::Function(_, size, _) => **size == *text,
        };
        of_size || self.text() == text
    }

    /// Returns true if a formula is another, or a table that is open along its axes and more.
    pub(super) fn is_over(&self, other: &Formula) -> bool {
        match (self, other) {
            (Formula::Table(own), Formula::Table(other)) if own.axes.len() > other.axes.len() => {
                other.axes.iter().all(|axis| own.axes.contains(axis))
            }
            _ => self == other,
        }
    }

    /// The formula in words.
    pub(super) fn text(&self) -> String {
        match self {
            Formula::Sizes(all, true, _) => all.join(", "),
            Formula::Sizes(all, false, _) => format!("[{}]", all.join(", ")),
            Formula::Table(table) => table.text(),
            Formula::Function(SizeFunction::Reciprocal, size, _) => format!("1/({size})"),
            Formula::Function(SizeFunction::Root, size, _) => format!("the square root of {size}"),
            Formula::Function(SizeFunction::ReciprocalRoot, size, _) => {
                format!("1 / the square root of {size}")
            }
        }
    }

    /// Returns true if elements are those of a source but for rounding.
    pub(super) fn is_rounded(&self) -> bool {
        let Formula::Table(table) = self else { return false };
        let is_near = |of: &Pattern| matches!(of, Pattern::Part { rounded: true, .. });
        matches!(table.pattern, Pattern::Grid(_) | Pattern::Waves { .. }) || is_near(&table.pattern)
    }
}

/// An axis of an input.
pub(super) type InputAxis = (Arc<str>, usize);

/// Nodes that compute formulas, each once.
pub(super) struct FormulaNodes<'m> {
    graph: &'m Graph,
    names: ValueNames,
    pub(super) symbols: Symbols,
    /// The axis at which each symbol is read.
    axes: &'m HashMap<Arc<str>, InputAxis>,
    pub(super) made: Vec<Step>,
    known: HashMap<String, Arc<str>>,
}

impl<'m> FormulaNodes<'m> {
    /// A writer of formulas for nodes of a graph.
    pub(super) fn new(graph: &'m Graph, axes: &'m HashMap<Arc<str>, InputAxis>) -> FormulaNodes<'m> {
        FormulaNodes {
            graph,
            names: ValueNames::default(),
            symbols: Symbols::default(),
            axes,
            made: Vec::new(),
            known: HashMap::new(),
        }
    }

    /// The name of the value of a formula.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] if an expression has a symbol that no input has.
    pub(super) fn write(&mut self, formula: &Formula) -> Result<Arc<str>> {
        match formula {
            Formula::Sizes(all, scalar, dtype) => {
                let dims = all.iter().map(|text| self.symbols.parse(text)).collect::<Result<Vec<_>>>()?;
                let name = match (&dims[..], scalar) {
                    ([dim], true) => self.scalar(*dim)?,
                    _ => self.list(&dims)?,
                };
                Ok(self.cast(name, *dtype))
            }
            Formula::Table(table) => self.table(table),
            Formula::Function(function, size, constant) => {
                let size = self.symbols.parse(size)?;
                let size = if constant.shape().rank() == 0 { self.scalar(size)? } else { self.size(size)? };
                let mut value = self.cast(size, DType::F64);
                if *function != SizeFunction::Reciprocal {
                    value = self.node("Sqrt", &[&value], Vec::new());
                }
                if *function != SizeFunction::Root {
                    value = self.node("Reciprocal", &[&value], Vec::new());
                }
                Ok(self.cast(value, constant.dtype()))
            }
        }
    }

    /// The output of a node, which is made once.
    pub(super) fn node(
        &mut self,
        operator: &'static str,
        inputs: &[&Arc<str>],
        attributes: Vec<Attribute>,
    ) -> Arc<str> {
        let inputs: Vec<Arc<str>> = inputs.iter().map(|&name| name.clone()).collect();
        let key = format!("{operator} {inputs:?} {attributes:?}");
        self.once(key, operator, inputs, attributes)
    }

    fn once(
        &mut self,
        key: String,
        operator: &'static str,
        inputs: Vec<Arc<str>>,
        attributes: Vec<Attribute>,
    ) -> Arc<str> {
        if let Some(name) = self.known.get(&key) {
            return name.clone();
        }
        let name = self.names.fresh(self.graph, &format!("size/{operator}"));
        let outputs = vec![name.clone()];
        let made = Made { name: name.clone(), operator, version: 1, inputs, outputs, attributes };
        self.made.push(Step::Made(Box::new(made)));
        self.known.insert(key, name.clone());
        name
    }

    /// The value of a constant, which is made once.
    pub(super) fn constant(&mut self, tensor: &Tensor) -> Arc<str> {
        let key = format!("{:?} {:?} {:?}", tensor.dtype(), tensor.shape(), tensor.bytes());
        let attributes = Attribute::list([("value", Content::Tensor(tensor.clone().into()))]);
        self.once(key, "Constant", Vec::new(), attributes)
    }

    /// The value of a list of numbers.
    pub(super) fn numbers(&mut self, numbers: &[i64]) -> Arc<str> {
        self.constant(&Tensor::vector(numbers))
    }

    /// A value of sizes in another type.
    pub(super) fn cast(&mut self, name: Arc<str>, dtype: DType) -> Arc<str> {
        if dtype == DType::I64 {
            return name;
        }
        let to = gradus_formats::onnx::number_of(dtype).unwrap_or_default();
        self.node("Cast", &[&name], Attribute::list([("to", Content::Int(to))]))
    }

    /// The input and the axis of a dimension that is a symbol.
    fn axis_of(&self, dim: Dim) -> Option<&'m InputAxis> {
        let symbol = self.symbols.as_symbol(dim)?;
        self.axes.get(&symbol.name)
    }

    fn shape(&mut self, input: &Arc<str>) -> Arc<str> {
        self.node("Shape", &[input], Vec::new())
    }

    /// A list of sizes; neighbours of one input are taken together.
    pub(super) fn list(&mut self, dims: &[Dim]) -> Result<Arc<str>> {
        let mut parts = Vec::new();
        let mut rest = dims;
        while let Some(&first) = rest.first() {
            let axis = self.axis_of(first);
            let alike = |dim: &&Dim| match (axis, self.axis_of(**dim)) {
                (Some((input, _)), Some((other, _))) => input == other,
                _ => first.known().is_some() && dim.known().is_some(),
            };
            let count = rest.iter().take_while(alike).count().max(1);
            let (these, others) = rest.split_at(count);
            rest = others;
            parts.push(match axis {
                Some((input, _)) => {
                    let axes: Vec<_> =
                        these.iter().filter_map(|&dim| Some(i64_of(self.axis_of(dim)?.1))).collect();
                    let (shape, places) = (self.shape(input), self.numbers(&axes));
                    self.node("Gather", &[&shape, &places], Vec::new())
                }
                None if first.known().is_some() => {
                    let numbers: Vec<_> = these.iter().filter_map(|dim| dim.known()).collect();
                    self.numbers(&numbers)
                }
                None => self.size(first)?,
            });
        }
        if let [only] = &parts[..] {
            return Ok(only.clone());
        }
        let parts: Vec<_> = parts.iter().collect();
        Ok(self.node("Concat", &parts, Attribute::list([("axis", Content::Int(0))])))
    }

    /// A size as a scalar.
    pub(super) fn scalar(&mut self, dim: Dim) -> Result<Arc<str>> {
        if let Some((input, axis)) = self.axis_of(dim) {
            let (shape, place) = (self.shape(input), self.constant(&Tensor::scalar(i64_of(*axis))));
            return Ok(self.node("Gather", &[&shape, &place], Vec::new()));
        }
        let (size, none) = (self.size(dim)?, self.numbers(&[]));
        Ok(self.node("Reshape", &[&size, &none], Vec::new()))
    }

    /// A size as a list of one element.
    pub(super) fn size(&mut self, dim: Dim) -> Result<Arc<str>> {
        if let Dim::Known(number) = dim {
            return Ok(self.numbers(&[number]));
        }
        if let Some((input, axis)) = self.axis_of(dim) {
            let (shape, place) = (self.shape(input), self.numbers(&[i64_of(*axis)]));
            return Ok(self.node("Gather", &[&shape, &place], Vec::new()));
        }
        let (constant, products) = self.taken_apart(dim)?;
        let mut sum: Option<Arc<str>> = None;
        let (plus, minus): (Vec<_>, Vec<_>) = products.into_iter().partition(|(times, _)| *times > 0);
        for (times, factors) in plus.into_iter().chain(minus) {
            let mut product = (times.abs() != 1).then(|| self.numbers(&[times.abs()]));
            for factor in factors {
                let factor = self.factor(&factor)?;
                product = Some(match product {
                    Some(product) => self.node("Mul", &[&product, &factor], Vec::new()),
                    None => factor,
                });
            }
            let Some(product) = product else { continue };
            sum = Some(match (sum, times > 0) {
                (None, true) => product,
                (Some(sum), true) => self.node("Add", &[&sum, &product], Vec::new()),
                (sum, false) => {
                    let sum = sum.unwrap_or_else(|| self.numbers(&[0]));
                    self.node("Sub", &[&sum, &product], Vec::new())
                }
            });
        }
        let sum = sum.unwrap_or_else(|| self.numbers(&[0]));
        Ok(self.plus(sum, constant))
    }

    /// A value of sizes and a number more.
    pub(super) fn plus(&mut self, sum: Arc<str>, constant: i64) -> Arc<str> {
        if constant == 0 {
            return sum;
        }
        let operator = if constant > 0 { "Add" } else { "Sub" };
        let constant = self.numbers(&[constant.abs()]);
        self.node(operator, &[&sum, &constant], Vec::new())
    }

    /// The number and the products that an expression is the sum of.
    fn taken_apart(&self, dim: Dim) -> Result<(i64, Products)> {
        let form = self.symbols.form(dim);
        let part = |factor: &Factor<'_>| match factor {
            Factor::Symbol(index) => Ok(FormulaFactor::Symbol(self.symbols.symbols()[*index].name.clone())),
            Factor::Floor(a, b) => Ok(FormulaFactor::Floor(*a, *b)),
            Factor::Min(all) => Ok(FormulaFactor::Extreme("Min", all.to_vec())),
            Factor::Max(all) => Ok(FormulaFactor::Extreme("Max", all.to_vec())),
            Factor::Broadcast(..) => {
                let what = "cannot write the size: its expression";
                let got = self.symbols.print(dim).to_string();
                Err(Error::mismatch(Kind::Unsupported, what, got, "sums, products, quotients"))
            }
        };
        let products = form
            .products
            .iter()
            .map(|(times, factors)| Ok((*times, factors.iter().map(part).collect::<Result<Vec<_>>>()?)));
        Ok((form.constant, products.collect::<Result<_>>()?))
    }

    fn factor(&mut self, part: &FormulaFactor) -> Result<Arc<str>> {
        match part {
            FormulaFactor::Symbol(name) => {
                let dim = self.symbols.named(name);
                if self.axis_of(dim).is_none() {
                    let known = self.axes.keys().map(|name| &**name);
                    return Err(Error::unknown("dimension", name, known));
                }
                self.size(dim)
            }
            FormulaFactor::Floor(a, b) => {
                // `Div` rounds towards zero: what may be below zero is moved by whole quotients.
                let lower = self.symbols.bounds(*a).lower().unwrap_or(0);
                let moved = match b {
                    Dim::Known(by) if lower < 0 && *by > 0 => -lower.div_euclid(*by),
                    _ => 0,
                };
                let mut over = *a;
                if let Dim::Known(by) = b {
                    let more = Dim::Known(moved.saturating_mul(*by));
                    over = self.symbols.add(over, more).unwrap_or(over);
                }
                let (over, under) = (self.size(over)?, self.size(*b)?);
                let quotient = self.node("Div", &[&over, &under], Vec::new());
                Ok(self.plus(quotient, -moved))
            }
            FormulaFactor::Extreme(operator, all) => {
                let all = all.iter().map(|&dim| self.size(dim)).collect::<Result<Vec<_>>>()?;
                Ok(self.node(operator, &all.iter().collect::<Vec<_>>(), Vec::new()))
            }
        }
    }
}

/// Products with their factors before them.
type Products = Vec<(i64, Vec<FormulaFactor>)>;

/// A factor of a product, owned.
enum FormulaFactor {
    Symbol(Arc<str>),
    Floor(Dim, Dim),
    Extreme(&'static str, Vec<Dim>),
}

/// The axes of inputs that have a name, by name: the first of each.
pub(super) fn named_axes<'t>(
    types: impl IntoIterator<Item = (Arc<str>, &'t Type)>,
) -> HashMap<Arc<str>, InputAxis> {
    let mut axes = HashMap::new();
    for (input, of) in types {
        let Type::Tensor(_, Some(sizes)) = of else { continue };
        for (axis, size) in sizes.iter().enumerate() {
            if let gradus_core::graph::DeclaredDim::Symbol(name) = size {
                axes.entry(Arc::from(&**name)).or_insert_with(|| (input.clone(), axis));
            }
        }
    }
    axes
}

/// The elements of a tensor of few whole numbers.
pub(super) fn few_integers(tensor: &Tensor) -> Option<Vec<i64>> {
    const FEW: usize = 16;
    let fits = tensor.dtype().is_integer() && tensor.len() <= FEW && tensor.shape().rank() <= 1;
    fits.then(|| tensor.to_i64().ok()).flatten()
}
