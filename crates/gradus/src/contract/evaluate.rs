//! Contracts, asked in place: shapes and memory for sizes that are numbers.

use std::collections::HashMap;

use gradus_core::{Error, Kind, Result};

use super::{Contract, ContractCondition, ContractOutput, OutputCase, OutputSize};
use crate::dim::{Condition, Dim};

/// Shapes and memory for sizes that a model takes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContractShapes {
    /// The outputs, in their order.
    pub outputs: Vec<OutputShape>,
    /// Bytes of the inputs; nothing if a size is not known.
    pub input_bytes: Option<i64>,
    /// An upper bound of the bytes of values of nodes at one time; nothing if it is not known.
    pub peak_bytes: Option<i64>,
}

/// The sizes of an output: the smallest and the largest of each axis, which is nothing where it is
/// not known.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutputShape {
    /// Its sizes; nothing if the rank is not known or it is no tensor.
    pub sizes: Option<Vec<(i64, Option<i64>)>>,
    /// The most bytes that it has; nothing if that is not known.
    pub bytes: Option<i64>,
}

/// The condition that the formulas themselves need.
fn too_large() -> Error {
    refused("each number fits 64 bits and no divisor is zero", "the formulas")
}

fn refused(condition: &str, place: &str) -> Error {
    Error::new(Kind::Shape, format!("sizes do not meet a condition: {condition} ({place})"))
}

/// Numbers of symbols.
struct SizeBound<'c> {
    contract: &'c Contract,
    of: HashMap<&'c str, i64>,
}

impl Contract {
    /// Shapes and memory for sizes of the inputs, by name, and for numbers of
    /// [parameters](Contract::parameters) and [elements](Contract::elements), by the names of their
    /// symbols. Elements may be left out.
    ///
    /// # Errors
    /// [`Kind::Shape`] with the condition that the sizes do not meet, and its node;
    /// [`Kind::Usage`] if the sizes of an input are missing, or a name is not known.
    ///
    /// ```
    /// use gradus::infer::InferOptions;
    /// let model = gradus::Model::open("../../examples/heads.onnx")?;
    /// let contract = model.contract(&InferOptions::default())?;
    /// let shapes = contract.shapes(&[("x", &[2, 128, 8])], &[])?;
    /// let sizes: Vec<_> = shapes.outputs[0].sizes.iter().flatten().map(|size| size.0).collect();
    /// assert_eq!((sizes, shapes.peak_bytes), (vec![2, 2, 128, 4], Some(16384)));
    /// let refused = contract.shapes(&[("x", &[2, 128, 9])], &[]).unwrap_err();
    /// assert!(refused.message().ends_with("size of axis 2 of input \"x\" is 8 (the inputs)"));
    /// # Ok::<(), gradus::Error>(())
    /// ```
    pub fn shapes(&self, inputs: &[(&str, &[i64])], numbers: &[(&str, i64)]) -> Result<ContractShapes> {
        let bound = self.bind(inputs, numbers)?;
        let elements = self.of_elements.iter().filter(|condition| bound.is_given(condition));
        for condition in self.conditions.iter().chain(elements) {
            bound.require(condition)?;
        }
        let outputs = self.outputs.iter().map(|output| {
            if let Some(OutputCase { shape, bytes, .. }) = bound.case(output)? {
                let exact = |&dim: &Dim| bound.size(OutputSize::Exact(dim));
                let sizes = shape.iter().map(exact).collect::<Result<_>>()?;
                let bytes = bytes.map(|bytes| bound.exact(bytes)).transpose()?;
                return Ok(OutputShape { sizes: Some(sizes), bytes });
            }
            let sizes = output.shape.as_ref();
            let sizes = sizes.map(|sizes| sizes.iter().map(|size| bound.size(*size)).collect::<Result<_>>());
            let bytes = output.bytes.map(|bytes| bound.size(bytes)).transpose()?;
            Ok(OutputShape { sizes: sizes.transpose()?, bytes: bytes.and_then(|(_, most)| most) })
        });
        let outputs = outputs.collect::<Result<_>>()?;
        let input_bytes = self.input_bytes.map(|bytes| bound.exact(bytes)).transpose()?;
        Ok(ContractShapes { outputs, input_bytes, peak_bytes: bound.peak()? })
    }

    /// The numbers of all symbols: the first axis that is a symbol alone gives it its number, and
    /// all others must have theirs.
    fn bind(&self, inputs: &[(&str, &[i64])], numbers: &[(&str, i64)]) -> Result<SizeBound<'_>> {
        let names = || self.inputs.iter().map(|input| &*input.name);
        if let Some((name, _)) = inputs.iter().find(|(name, _)| names().all(|known| known != *name)) {
            return Err(Error::unknown("input with axes", name, names()));
        }
        let mut bound = SizeBound { contract: self, of: HashMap::new() };
        for &(name, number) in numbers {
            let elements = self.elements.iter().map(|element| &*element.symbol);
            let known = || self.parameters().map(|(symbol, _)| symbol).chain(elements.clone());
            let symbol = known().find(|known| *known == name);
            bound.of.insert(symbol.ok_or_else(|| Error::unknown("symbol", name, known()))?, number);
        }
        let mut others = Vec::new();
        for input in &self.inputs {
            let given = inputs.iter().find(|(name, _)| *name == input.name).map(|(_, sizes)| *sizes);
            let missing =
                || Error::new(Kind::Usage, format!("the sizes of input \"{}\" are missing", input.name));
            let given = given.ok_or_else(missing)?;
            if given.len() != input.shape.len() {
                let rank = format!("rank of input \"{}\" is {}", input.name, input.shape.len());
                return Err(refused(&rank, "the inputs"));
            }
            for (axis, (&dim, &size)) in input.shape.iter().zip(given).enumerate() {
                match self.symbols.as_symbol(dim) {
                    Some(symbol) if !bound.of.contains_key(&*symbol.name) => {
                        bound.of.insert(&symbol.name, size);
                    }
                    _ => others.push((input, axis, dim, size)),
                }
            }
        }
        for (input, axis, dim, size) in others {
            if bound.exact(dim)? != size {
                let wanted = self.symbols.print(dim);
                let condition = format!("size of axis {axis} of input \"{}\" is {wanted}", input.name);
                return Err(refused(&condition, "the inputs"));
            }
        }
        Ok(bound)
    }
}

impl SizeBound<'_> {
    fn value(&self, dim: Dim) -> Option<i64> {
        self.contract.symbols.evaluate(dim, &|name| self.of.get(name).copied())
    }

    fn exact(&self, dim: Dim) -> Result<i64> {
        let open =
            || self.contract.symbols.symbols_of(dim).into_iter().find(|it| !self.of.contains_key(&*it.name));
        self.value(dim).ok_or_else(|| match open() {
            Some(symbol) => Error::new(Kind::Usage, format!("symbol \"{}\" has no number", symbol.name)),
            None => too_large(),
        })
    }

    /// The smallest and the largest number of a size.
    fn size(&self, size: OutputSize) -> Result<(i64, Option<i64>)> {
        match size {
            OutputSize::Exact(dim) => self.exact(dim).map(|size| (size, Some(size))),
            OutputSize::Between(least, most) => Ok((least, most.map(|most| self.exact(most)).transpose()?)),
        }
    }

    /// Returns true if all symbols of a condition have numbers.
    fn is_given(&self, condition: &ContractCondition) -> bool {
        let mut symbols = condition.sides().flat_map(|dim| self.contract.symbols.symbols_of(dim));
        symbols.all(|symbol| self.of.contains_key(&*symbol.name))
    }

    fn holds(&self, of: &Condition) -> Result<bool> {
        Ok(of.relation.holds(self.exact(of.left)?, self.exact(of.right)?))
    }

    fn all_hold(&self, all: &[Condition]) -> Result<bool> {
        for of in all {
            if !self.holds(of)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn require(&self, condition: &ContractCondition) -> Result<()> {
        if !self.all_hold(&condition.when)? || self.holds(&condition.condition)? {
            return Ok(());
        }
        Err(refused(&condition.text, &condition.place))
    }

    /// The first case of an output whose conditions hold.
    fn case<'o>(&self, output: &'o ContractOutput) -> Result<Option<&'o OutputCase>> {
        for case in &output.cases {
            if self.all_hold(&case.when)? {
                return Ok(Some(case));
            }
        }
        Ok(None)
    }

    /// The peak of memory, where symbols below 1 count as 1: a bound for those too, unless a value
    /// becomes smaller as a symbol grows.
    fn peak(&self) -> Result<Option<i64>> {
        let contract = self.contract;
        let Some(peak) =
            contract.peak_bytes.filter(|_| contract.grows || self.of.values().all(|&size| size >= 1))
        else {
            return Ok(None);
        };
        let raised = |name: &str| self.of.get(name).map(|size| (*size).max(1));
        contract.symbols.evaluate(peak, &raised).map(Some).ok_or_else(too_large)
    }
}
