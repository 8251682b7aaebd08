//! Conditions of rules: what facts say about the elements that programs treat differently.

use gradus_core::convert::truncated;
use gradus_core::graph::{Graph, Node};
use gradus_core::{DType, Number, Tensor};

use super::When;
use crate::attributes::Attributes;
use crate::dim::{Bounds, Condition, Dim, Relation, Symbols};
use crate::fact::{Elements, Fact, TensorFact, range_of};

/// Integers of at most 24 bits, which float32 holds exactly.
pub(super) const FLOAT32: (i64, i64) = (-(1 << 24), 1 << 24);
/// Maximum number of elements of a constant that is read.
const MAX_STORED: usize = 1 << 12;
/// Integers of 32 bits.
pub(super) const INT32: (i64, i64) = (-(1 << 31), (1 << 31) - 1);

/// A node, and the facts about its values.
pub(super) struct NodeFacts<'a> {
    pub(super) graph: &'a Graph,
    pub(super) node: &'a Node,
    pub(super) facts: &'a [Fact],
    pub(super) attributes: Attributes<'a>,
    pub(super) symbols: &'a mut Symbols,
}

impl NodeFacts<'_> {
    /// Facts about an input.
    pub(super) fn input(&self, index: usize) -> Option<&TensorFact> {
        let id = (*self.node.inputs.get(index)?)?;
        self.facts[id.index()].as_tensor()
    }

    /// Facts about the first output.
    pub(super) fn output(&self) -> Option<&TensorFact> {
        let id = (*self.node.outputs.first()?)?;
        self.facts[id.index()].as_tensor()
    }

    /// Returns true if an input has one of these types.
    pub(super) fn is(&self, index: usize, types: &[DType]) -> bool {
        self.input(index).and_then(|fact| fact.dtype).is_some_and(|dtype| types.contains(&dtype))
    }

    /// The elements of an input that is constant.
    pub(super) fn constant(&self, index: usize) -> Option<Vec<Number>> {
        numbers(&self.input(index)?.tensor()?)
    }

    /// The elements of an input that the graph stores, which inference has not asked for; at most
    /// [`MAX_STORED`].
    pub(super) fn stored(&self, index: usize) -> Option<Vec<Number>> {
        let constant = self.graph.constant((*self.node.inputs.get(index)?)?)?;
        let is_short = constant.shape().dims().iter().product::<usize>() <= MAX_STORED;
        is_short.then(|| numbers(&constant.tensor().ok()?)).flatten()
    }

    /// Numbers between which all elements of an input lie, if it has integers.
    pub(super) fn bounds(&self, index: usize) -> Bounds {
        let Some(fact) = self.input(index) else { return Bounds::ANY };
        let of_type = || {
            let (low, high) = fact.dtype.and_then(range_of)?;
            // Numbers of uint64 have bounds only below 2^63.
            let wide = fact.dtype == Some(DType::U64);
            Some(Bounds::between(Some(low), (!wide).then_some(high)))
        };
        let each = dims(fact).map(|dims| dims.into_iter().map(|dim| self.symbols.bounds(dim)));
        let each = each.and_then(|each| each.reduce(Bounds::either));
        each.or_else(of_type).unwrap_or(Bounds::ANY)
    }

    /// The elements of a tensor that are integers; of a progression, the first and the last.
    pub(super) fn integers(&mut self, fact: &TensorFact) -> Option<Vec<Dim>> {
        let Elements::Progression(both) = &fact.elements else { return dims(fact) };
        let [len] = fact.dims.as_deref()? else { return None };
        let (first, step) = **both;
        let before = self.symbols.subtract(*len, Dim::ONE)?;
        let way = self.symbols.multiply(before, step)?;
        Some(vec![first, self.symbols.add(first, way)?])
    }

    /// When an element of an input is a number.
    pub(super) fn equal(&mut self, index: usize, wanted: i64) -> Option<When> {
        let fact = self.input(index)?.clone();
        // The ends of a progression do not tell about the elements between them.
        if let Some(dims) = dims(&fact) {
            if dims.contains(&Dim::Known(wanted)) {
                return Some(When::Always);
            }
            let open: Vec<_> = dims.into_iter().filter(|dim| dim.known().is_none()).collect();
            return self.any(&open, |_, dim| [Condition::new(dim, Relation::Equal, Dim::Known(wanted))]);
        }
        let is_wanted = |number: &Number| match *number {
            Number::Int(x) => x == i128::from(wanted),
            Number::Float(x) => truncated(x) == Some(i128::from(wanted)) && x.fract() == 0.0,
            Number::Complex(..) => false,
        };
        match self.constant(index) {
            Some(numbers) => numbers.iter().any(is_wanted).then_some(When::Always),
            None => Some(When::Data),
        }
    }

    /// When an element of an input lies outside a range.
    pub(super) fn outside(&mut self, index: usize, range: (i64, i64)) -> Option<When> {
        let fact = self.input(index)?.clone();
        self.fact_outside(&fact, range)
    }

    /// When an element of a tensor lies outside a range.
    pub(super) fn fact_outside(&mut self, fact: &TensorFact, (low, high): (i64, i64)) -> Option<When> {
        if let Some(dims) = self.integers(fact) {
            return self.any(&dims, |_, dim| {
                [
                    Condition::new(dim, Relation::AtLeast, Dim::Known(high.saturating_add(1))),
                    Condition::new(dim, Relation::AtMost, Dim::Known(low.saturating_sub(1))),
                ]
            });
        }
        if let Some(numbers) = fact.tensor().as_ref().and_then(numbers) {
            let within = |number: &Number| match *number {
                Number::Int(x) => (i128::from(low)..=i128::from(high)).contains(&x),
                // Fractions are cut toward zero.
                Number::Float(x) => {
                    (i128::from(low)..=i128::from(high)).contains(&truncated(x).unwrap_or(i128::MAX))
                }
                Number::Complex(..) => false,
            };
            return (!numbers.iter().all(within)).then_some(When::Always);
        }
        match fact.dtype.and_then(range_of) {
            Some((least, most)) if fact.dtype != Some(DType::U64) && least >= low && most <= high => None,
            _ => Some(When::Data),
        }
    }

    /// When one of the conditions about one of some integers holds.
    pub(super) fn any<const N: usize>(
        &mut self,
        dims: &[Dim],
        conditions: impl Fn(&mut Symbols, Dim) -> [Condition; N],
    ) -> Option<When> {
        let mut texts = Vec::new();
        let mut seen = Vec::new();
        for &dim in dims {
            if seen.contains(&dim) {
                continue;
            }
            seen.push(dim);
            for condition in conditions(self.symbols, dim) {
                if self.symbols.never_holds(&condition) {
                    continue;
                }
                if self.symbols.always_holds(&condition) {
                    return Some(When::Always);
                }
                texts.push(self.symbols.print_condition(&condition));
            }
        }
        // More conditions than somebody would read.
        match texts.len() {
            0 => None,
            1..=3 => Some(When::Sizes(texts.join(" or "))),
            _ => Some(When::Data),
        }
    }

    /// When an input of one of these types has an element that meets a condition.
    pub(super) fn float(&self, index: usize, types: &[DType], meets: impl Fn(f64) -> bool) -> Option<When> {
        if !self.is(index, types) {
            return None;
        }
        match (&self.input(index)?.elements, self.constant(index)) {
            (_, Some(numbers)) => {
                let is_met = |number: &Number| matches!(*number, Number::Float(x) if meets(x));
                numbers.iter().any(is_met).then_some(When::Always)
            }
            // Floats in which shapes are computed.
            (
                Elements::Fractions(_)
                | Elements::Integers(_)
                | Elements::Progression(_)
                | Elements::Extremes(_),
                None,
            ) => None,
            _ => Some(When::Data),
        }
    }

    /// When an input of float16 or float32 has an element that is NaN.
    pub(super) fn nan(&self, index: usize) -> Option<When> {
        self.float(index, &[DType::F16, DType::F32], f64::is_nan)
    }
}

fn numbers(tensor: &Tensor) -> Option<Vec<Number>> {
    Some(tensor.numbers().ok()?.collect())
}

/// The elements of a tensor that are integers.
fn dims(fact: &TensorFact) -> Option<Vec<Dim>> {
    match &fact.elements {
        Elements::Known(tensor) if tensor.len() == 1 => {
            let whole = match tensor.number(0).ok()? {
                Number::Int(x) => x,
                Number::Float(x) if x.fract() == 0.0 => truncated(x)?,
                _ => return None,
            };
            Some(vec![Dim::Known(i64::try_from(whole).ok()?)])
        }
        Elements::Integers(all) => Some(all.to_vec()),
        Elements::Fractions(all) => {
            all.iter().map(|it| (it.under == 1 && !it.rounded).then_some(it.over)).collect()
        }
        _ => None,
    }
}
