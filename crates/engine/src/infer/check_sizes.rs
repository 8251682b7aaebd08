//! Assumptions about sizes, and names of sizes, held against the inputs of a run.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use gradus_core::convert::i64_of;
use gradus_core::graph::{DeclaredDim, Graph, Type};
use gradus_core::{Error, Kind, Result, Value};

use super::sizes::unknown_size;
use super::{SizeAssumptions, nameless_axes};
use crate::dim::Symbols;
use crate::source::Source;

impl Source {
    /// Sizes of inputs that are not as the model names them: a name that stands for two sizes, an
    /// expression (`2*n`) that has another value. A run of them is right, as no program holds inputs
    /// to names, but what inference says of named sizes is not about it.
    ///
    /// ```
    /// use gradus::{Shape, Tensor, Value};
    /// let model = gradus::Model::open("../../examples/positions.onnx")?;
    /// let tokens = Value::from(Tensor::zeros(gradus::DType::I64, Shape::new([1, 4])?)?);
    /// assert!(model.unequal_sizes(|_| Some(&tokens)).is_empty());
    /// # Ok::<(), gradus::Error>(())
    /// ```
    pub fn unequal_sizes<'v>(&self, given: impl Fn(&str) -> Option<&'v Value>) -> Vec<String> {
        let graph = self.graph();
        let (mut bound, mut expressions, mut unequal) =
            (HashMap::<&str, (i64, &str)>::new(), Vec::new(), Vec::new());
        for info in graph.inputs().iter().map(|&id| graph.value(id)) {
            let (Some(Value::Tensor(tensor)), Some(Type::Tensor(_, Some(sizes)))) =
                (given(&info.name), &info.declared)
            else {
                continue;
            };
            for (axis, (size, &len)) in sizes.iter().zip(tensor.shape().dims()).enumerate() {
                let (DeclaredDim::Symbol(symbol), len) = (size, i64_of(len)) else { continue };
                let is_plain = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
                if !symbol.bytes().all(is_plain) {
                    expressions.push((symbol, len, axis, &info.name));
                }
                let (first, by) = *bound.entry(symbol).or_insert((len, &info.name));
                if first != len {
                    let wanted = format!("{first}, the size of \"{symbol}\" by input \"{by}\"");
                    unequal.push(format!(
                        "size of axis {axis} of input \"{}\" is {len}, expected {wanted}",
                        info.name
                    ));
                }
            }
        }
        for (text, len, axis, name) in expressions {
            let mut symbols = Symbols::default();
            let dim = symbols.declared(text);
            if symbols.as_symbol(dim).is_some() {
                continue;
            }
            let size = symbols.evaluate(dim, &|name| bound.get(name).map(|(len, _)| *len));
            if let Some(size) = size.filter(|size| *size != len) {
                unequal.push(format!(
                    "size of axis {axis} of input \"{name}\" is {len}, expected {size}, which is {text}"
                ));
            }
        }
        unequal
    }

    /// Checks that the sizes of inputs are as assumed, and as the model names them. Inputs that are
    /// not given have no sizes. Without assumptions, nothing is checked.
    ///
    /// # Errors
    /// [`Kind::Shape`] if a size is not as assumed; [`Kind::Usage`] if an assumption names a
    /// dimension that no input has, [`Kind::Syntax`] if it is no condition.
    ///
    /// ```
    /// use gradus::infer::SizeAssumptions;
    /// use gradus::{Shape, Tensor, Value};
    /// let model = gradus::Model::open("../../examples/positions.onnx")?;
    /// let conditions = vec!["seq % 2 == 0".into()];
    /// let assume = SizeAssumptions { conditions, ..SizeAssumptions::default() };
    /// let tokens = |count: usize| -> gradus::Result<Value> {
    ///     Ok(Tensor::zeros(gradus::DType::I64, Shape::new(vec![1, count])?)?.into())
    /// };
    /// let (even, odd) = (tokens(4)?, tokens(3)?);
    /// assert!(model.check_sizes(&assume, |_| Some(&even)).is_ok());
    /// assert!(model.check_sizes(&assume, |_| Some(&odd)).is_err());
    /// # Ok::<(), gradus::Error>(())
    /// ```
    pub fn check_sizes<'v>(
        &self,
        assume: &SizeAssumptions,
        given: impl Fn(&str) -> Option<&'v Value>,
    ) -> Result<()> {
        if *assume == SizeAssumptions::default() {
            return Ok(());
        }
        if let Some(unequal) = self.unequal_sizes(&given).into_iter().next() {
            return Err(Error::new(Kind::Shape, unequal));
        }
        let graph = self.graph();
        let mut nameless = nameless_axes(graph).map(|(_, name)| name);
        let (mut known, mut sizes) = (BTreeSet::new(), BTreeMap::new());
        for info in graph.inputs().iter().map(|&id| graph.value(id)) {
            let tensor = match given(&info.name) {
                Some(Value::Tensor(tensor)) => Some(tensor),
                _ => None,
            };
            let lens = tensor.map(|tensor| tensor.shape().dims());
            if let Some(axis) = lens.and_then(|lens| lens.iter().position(|&len| len == 0))
                && assume.nonempty
            {
                let what = format_args!("size of axis {axis} of input \"{}\"", info.name);
                return Err(Error::mismatch(Kind::Shape, what, 0, "at least 1, as is assumed"));
            }
            let Some(Type::Tensor(_, Some(declared))) = &info.declared else { continue };
            for (axis, size) in declared.iter().enumerate() {
                let name = match size {
                    DeclaredDim::Symbol(name) => Some(name.to_string()),
                    DeclaredDim::Known(_) => None,
                    DeclaredDim::Unknown | DeclaredDim::Between(..) => nameless.next(),
                };
                let Some(name) = name else { continue };
                if let Some(&len) = lens.and_then(|lens| lens.get(axis)) {
                    sizes.insert(name.clone(), i64_of(len));
                }
                known.insert(name);
            }
        }
        assume.hold(&known, &sizes, graph)
    }
}

impl SizeAssumptions {
    /// Checks sizes by their names.
    fn hold(&self, known: &BTreeSet<String>, sizes: &BTreeMap<String, i64>, graph: &Graph) -> Result<()> {
        for (name, &(least, most)) in &self.ranges {
            if !known.contains(name) {
                return Err(unknown_size(name, known, graph));
            }
            if let Some(&size) = sizes.get(name)
                && (size < least || most.is_some_and(|most| size > most))
            {
                let wanted = match most {
                    Some(most) => format!("{least} to {most}, as is assumed"),
                    None => format!("at least {least}, as is assumed"),
                };
                return Err(Error::mismatch(Kind::Shape, format_args!("dimension \"{name}\""), size, wanted));
            }
        }
        for text in &self.conditions {
            let mut symbols = Symbols::default();
            let condition = symbols.parse_condition(text)?;
            let named = [condition.left, condition.right].map(|dim| symbols.symbols_of(dim));
            let names: BTreeSet<_> = named.iter().flatten().map(|symbol| symbol.name.to_string()).collect();
            if let Some(name) = names.iter().find(|name| !known.contains(*name)) {
                return Err(unknown_size(name, known, graph));
            }
            let Some(sizes) = names.iter().map(|name| sizes.get(name).copied()).collect::<Option<Vec<_>>>()
            else {
                continue;
            };
            let mut symbols = Symbols::default();
            names.iter().zip(&sizes).for_each(|(name, size)| symbols.fix(name, *size));
            let condition = symbols.parse_condition(text)?;
            if !symbols.always_holds(&condition) {
                let sizes = names.iter().zip(sizes).map(|(name, size)| format!("{name} = {size}"));
                let got = sizes.collect::<Vec<_>>().join(", ");
                let wanted = format_args!("{}, as is assumed", text.trim());
                return Err(Error::mismatch(Kind::Shape, "the size of inputs", got, wanted));
            }
        }
        Ok(())
    }
}
