//! The errors of the roundings of one operator, by its class.

use gradus_core::convert::{counted, nearest_f64, u64_of};
use gradus_core::graph::{Builder, Node, Origin};
use gradus_core::{Number, Result, Tensor, Value};

use super::{Judged, Margin, Unit, numbers, of_each};
use crate::attributes::{Attributes, Parameters};
use crate::dim::{Dim, Symbols};
use crate::fact::Fact;
use crate::normalize::{Form, Older};
use crate::operators::work::Shapes;
use crate::operators::{Magnitudes, Row, Terms};

/// A length as a number.
fn real(length: usize) -> f64 {
    nearest_f64(Number::Int(u64_of(length).into()))
}

impl Judged<'_> {
    /// A function of each element, whose terms are those of the first input.
    pub(super) fn of_function(&self, value: &Value, unit: Unit, ulps: u32, terms: Terms) -> Result<Margin> {
        let times = 2.0 * f64::from(ulps) * unit.relative;
        let own = |x: f64| times * x.abs() + f64::from(ulps) * unit.smallest;
        if terms != Terms::Element {
            let more = if terms == Terms::One { times } else { 0.0 };
            return Ok(of_each(value, |x| own(x) + more));
        }
        let first = self.done.inputs.first().and_then(Option::as_ref).and_then(numbers);
        let (Some(all), Some(first)) = (numbers(value), first.filter(|it| Some(it.len()) == len(value)))
        else {
            return Ok(Margin::Unknown);
        };
        Ok(Margin::Each(all.iter().zip(first).map(|(&y, x)| own(y) + times * x.abs()).collect()))
    }

    /// One code, or a unit in the last place.
    pub(super) fn codes(&self) -> Vec<Margin> {
        let of = |value: &Value| {
            let unit = value.dtype().and_then(Unit::of);
            of_each(value, |x| unit.map_or(1.0, |unit| 4.0 * unit.of_number(x)))
        };
        self.computed.iter().map(|value| value.as_ref().map_or(Margin::None, of)).collect()
    }

    /// Sums of products, each rounded as often as there are operations on an element.
    pub(super) fn of_sums(&self, row: &Row, magnitudes: Magnitudes) -> Result<Vec<Margin>> {
        self.of_sums_of(row, magnitudes, self.operations(row))
    }

    /// Sums of a number of terms.
    pub(super) fn of_sums_of(
        &self,
        row: &Row,
        magnitudes: Magnitudes,
        terms: Option<f64>,
    ) -> Result<Vec<Margin>> {
        // Integers wrap, and are exact.
        if self.each(|_, _| Ok(Margin::Unknown))?.iter().all(|margin| *margin == Margin::None) {
            return Ok(vec![Margin::None; self.computed.len()]);
        }
        let sums = self.magnitudes(row, magnitudes, &[])?;
        // Weights of one count the terms of each element, but of means.
        let counts =
            self.eval_with(&|input, x, _| if magnitudes.kept.contains(&input) { x } else { 1.0 }, &[])?;
        let all = || self.done.inputs.iter().flatten().filter_map(len).max().unwrap_or(0);
        let terms = terms.unwrap_or_else(|| real(all()));
        let margins = self.computed.iter().zip(sums.iter().zip(&counts)).map(|(value, (sums, counts))| {
            let Some(unit) = value.as_ref().and_then(|value| self.unit_of(value)) else {
                return Margin::None;
            };
            let (Some(sums), Some(counts)) = (numbers(sums), numbers(counts)) else { return Margin::Unknown };
            let each = sums.iter().zip(counts).map(|(sum, count)| {
                let roundings = terms.max(count) + f64::from(magnitudes.steps);
                let sum = sum.abs();
                // Infinite inputs give the same in any order; float64 holds sums of all others.
                if !sum.is_finite() && unit.largest < f64::MAX {
                    return 0.0;
                }
                let error = unit.gamma(roundings) * sum + roundings * unit.smallest;
                // Some order may exceed the type.
                if sum + error > unit.largest { f64::INFINITY } else { error }
            });
            Margin::Each(each.collect())
        });
        Ok(margins.collect())
    }

    /// The results of the operator for the magnitudes of its inputs, larger by errors.
    pub(super) fn magnitudes(
        &self,
        row: &Row,
        magnitudes: Magnitudes,
        errors: &[Margin],
    ) -> Result<Vec<Value>> {
        let of = |sign: f64| {
            self.eval_with(
                &|input, x, error| match () {
                    () if magnitudes.kept.contains(&input) => x,
                    () if magnitudes.subtracted == Some(input) => -(x.abs() + error),
                    () if row.bias == Some(input) => sign * (x.abs() + error),
                    () => x.abs() + error,
                },
                errors,
            )
        };
        let sums = of(1.0)?;
        // Numbers as attributes may turn the sign of the product, or of what is added.
        let is_turned = row.has_float_attributes() && row.bias.is_some_and(|bias| self.has(bias));
        if !is_turned {
            return Ok(sums);
        }
        let others = of(-1.0)?;
        let larger = sums.iter().zip(&others).map(|(a, b)| {
            let (Some(x), Some(y)) = (numbers(a), numbers(b)) else { return Ok(a.clone()) };
            let elements = x.into_iter().zip(y).map(|(x, y)| x.abs().max(y.abs())).collect();
            Ok(Tensor::from_vec::<f64>(a.tensor()?.shape().clone(), elements)?.into())
        });
        larger.collect()
    }

    fn has(&self, input: usize) -> bool {
        self.done.inputs.get(input).is_some_and(Option::is_some)
    }

    /// The operations on an element of the first output, if they are counted.
    fn operations(&self, row: &Row) -> Option<f64> {
        let work = row.work()?;
        let mut builder = Builder::new("");
        let mut facts = Vec::new();
        let mut define = |values: &[Option<Value>]| {
            let ids = values.iter().map(|value| {
                let value = value.as_ref()?;
                let id = builder.define(&facts.len().to_string(), Origin::Input).ok()?;
                facts.push(Fact::of(value));
                Some(id)
            });
            ids.collect()
        };
        let (inputs, outputs) = (define(self.done.inputs), define(self.computed));
        let node = Node { inputs, outputs, ..self.node.clone() };
        let (parameters, mut symbols) = (Parameters::default(), Symbols::default());
        let mut shapes = Shapes {
            standard: self.standard,
            node: &node,
            facts: &facts,
            parameters: &parameters,
            symbols: &mut symbols,
        };
        let counted = shapes.operations(work)?;
        let number = |dim: Dim| Some(nearest_f64(Number::Int(dim.known()?.into())));
        let all = number(counted.macs)? + number(counted.elementary[0])?;
        let elements = self.computed.first()?.as_ref().and_then(len)?;
        Some((all / real(elements.max(1))).ceil())
    }

    /// The size of the longest axis of the first input.
    pub(super) fn longest_axis(&self) -> f64 {
        let first = self.done.inputs.first().and_then(Option::as_ref);
        let dims = first.and_then(|value| Some(value.tensor().ok()?.shape().dims().to_vec()));
        real(dims.into_iter().flatten().max().unwrap_or(1))
    }

    /// Exponentials of differences from a maximum, and the sum of a line of them.
    ///
    /// A difference is rounded once, so that the relative error of an exponential is that of the
    /// difference; and the mean of these differences, weighted by the results, is at most the
    /// logarithm of the length of the line.
    pub(super) fn of_softmax(&self, row: &Row, value: &Value, unit: Unit, is_log: bool) -> Result<Margin> {
        /// Units in the last place of an exponential and a logarithm, and single roundings.
        const STEPS: f64 = 24.0;
        let length: f64 = self.line(row, value)?.1.iter().map(|&size| real(size)).product();
        let logarithm = length.max(1.0).ln();
        let common = unit.gamma(length + STEPS + logarithm);
        let own = |x: f64| {
            let apart = if is_log { x.abs() } else { x.abs().max(f64::MIN_POSITIVE).ln().abs() };
            let relative = common + unit.relative * (apart + logarithm);
            if is_log { relative + 2.0 * unit.of_number(x) } else { relative * x.abs() + 2.0 * unit.smallest }
        };
        Ok(of_each(value, own))
    }

    /// The largest changes of exponentials as parts of the sum of their line: each grows with its own
    /// element, and falls with the others.
    pub(super) fn carried_by_softmax(&self, row: &Row, value: &Value) -> Result<Margin> {
        let first = self.done.inputs.first().and_then(Option::as_ref).and_then(numbers);
        let (Some(x), Some(y), Some(Margin::Each(errors))) = (first, numbers(value), self.given.first())
        else {
            return Ok(Margin::Unknown);
        };
        let (before, along) = self.line(row, value)?;
        let length = along.iter().product::<usize>();
        let dims = value.tensor()?.shape().dims();
        let inner = dims[dims.len().min(before + along.len())..].iter().product::<usize>().max(1);
        let mut changes = vec![0.0; y.len()];
        for line in (0..y.len()).filter(|place| length > 0 && place / inner % length == 0) {
            let places = || (0..length).map(|step| line + step * inner);
            let most = places().map(|at| x[at] + errors[at]).fold(f64::NEG_INFINITY, f64::max);
            let power = |at: usize, sign: f64| (x[at] + sign * errors[at] - most).exp();
            let sums = [1.0, -1.0].map(|sign| places().map(|at| power(at, sign)).sum::<f64>());
            for at in places() {
                let (high, low) = (power(at, 1.0), power(at, -1.0));
                let part = |own: f64, others: f64| own / (own + others.max(0.0));
                let (high, low) = (part(high, sums[1] - low), part(low, sums[0] - high));
                changes[at] = (high - y[at]).max(y[at] - low);
            }
        }
        Ok(Margin::Each(changes))
    }

    /// The number of axes before those along which lines lie, and the sizes of these.
    fn line<'v>(&self, row: &Row, value: &'v Value) -> Result<(usize, &'v [usize])> {
        let attributes = Attributes::new(&self.node.attributes, Form::of_node(self.standard, self.node));
        let dims = value.tensor()?.shape().dims();
        let axis = attributes.int_or("axis", row.axis.unwrap_or(-1))?;
        let from = counted(axis, dims.len()).unwrap_or(0).min(dims.len().saturating_sub(1));
        let to = if attributes.form().is(Older::Flattened) { dims.len() } else { from + 1 };
        Ok((from, dims.get(from..to).unwrap_or_default()))
    }

    /// Elements weighted by distances from positions, which are rounded as well: by a part of the
    /// longest axis, and with weights of at most four together.
    pub(super) fn of_interpolation(&self, value: &Value, unit: Unit) -> Margin {
        const WEIGHTS: f64 = 4.0;
        const STEPS: f64 = 32.0;
        let first = self.done.inputs.first().and_then(Option::as_ref).and_then(numbers).unwrap_or_default();
        let largest = first.into_iter().map(f64::abs).fold(0.0, f64::max);
        let sizes =
            value.tensor().map_or(1, |tensor| tensor.shape().dims().iter().copied().max().unwrap_or(1));
        let longest = self.longest_axis().max(real(sizes));
        let error = WEIGHTS * unit.gamma(WEIGHTS * longest + STEPS) * largest + unit.smallest;
        of_each(value, |_| error)
    }
}

fn len(value: &Value) -> Option<usize> {
    value.tensor().ok().map(Tensor::len)
}
