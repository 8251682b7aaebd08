//! Bounds of the errors that the arithmetic of a node's type allows, for the inputs of a run.
//!
//! A program may add in any order and round each step, so its error in a sum of `n` terms is at most
//! `n` roundings of the sum of magnitudes, which the operator itself gives for the magnitudes of its
//! inputs. What a formula of several steps allows is propagated through the graph that it is lowered
//! to: an error of an input is at most the change of the result where the input is larger or smaller
//! by that error.

mod classes;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use gradus_core::convert::nearest_f64;
use gradus_core::graph::{Graph, Node, Standard, ValueId};
use gradus_core::{DType, Kind, Number, Result, Tensor, Value};
use gradus_engine::lowering::{self, Goal, Known, Lower};

use crate::operators::registry::row_of;
use crate::operators::{Allowed, Magnitudes, Role, Rounding, Row};
use crate::program::{Compiler, GraphProgram, NodeDone, Replaces, RunOptions, RunState, Watch};

/// Errors that are allowed in the elements of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Margin {
    /// No error.
    None,
    /// An error for each element.
    Each(Vec<f64>),
    /// No bound is known.
    Unknown,
}

/// The rounding of a float type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    /// Half a unit in the last place of a number, as a part of the number.
    pub(super) relative: f64,
    /// The smallest number above zero.
    pub(super) smallest: f64,
    pub(super) largest: f64,
}

impl Unit {
    /// The rounding of float64, in which the exact result is itself computed.
    pub(super) const F64: Unit =
        Unit { relative: f64::EPSILON, smallest: f64::from_bits(1), largest: f64::MAX };

    /// The rounding of a type; nothing of types that are no floats, or are those of codes.
    pub(super) fn of(dtype: DType) -> Option<Unit> {
        let (bits, least, most) = match dtype {
            DType::F16 => (11, -24, 65504.0),
            DType::BF16 => (8, -133, f64::from(f32::MAX)),
            DType::F32 => (24, -149, f64::from(f32::MAX)),
            DType::F64 => return Some(Unit::F64),
            _ => return None,
        };
        Some(Unit { relative: 2f64.powi(-bits), smallest: 2f64.powi(least), largest: most })
    }

    /// The relative error of as many roundings one after the other; infinite where it has no bound.
    fn gamma(self, roundings: f64) -> f64 {
        let sum = roundings * self.relative;
        if sum < 1.0 { sum / (1.0 - sum) } else { f64::INFINITY }
    }

    /// The error of one rounding.
    pub(super) fn of_number(self, x: f64) -> f64 {
        self.relative * x.abs() + self.smallest
    }
}

/// A node that has run, with what its inputs are allowed.
pub(super) struct Judged<'a> {
    pub(super) done: &'a NodeDone<'a>,
    pub(super) node: &'a Node,
    pub(super) standard: Standard,
    pub(super) computed: &'a [Option<Value>],
    pub(super) given: &'a [Margin],
    /// The type that the graph around it computes in; nothing for a node of the model.
    pub(super) unit: Option<Unit>,
    /// Levels of graphs around the node.
    pub(super) depth: usize,
}

/// Maximum number of graphs of formulas within each other.
pub(super) const MAX_DEPTH: usize = 4;

impl<'a> Judged<'a> {
    /// A node of the model, whose inputs are exact.
    pub(super) fn new(
        done: &'a NodeDone<'a>,
        node: &'a Node,
        standard: Standard,
        computed: &'a [Option<Value>],
    ) -> Judged<'a> {
        Judged { done, node, standard, computed, given: &[], unit: None, depth: 0 }
    }

    /// The errors that its outputs are allowed.
    ///
    /// # Errors
    /// [`Kind::Limit`].
    pub(super) fn margins(&self) -> Result<Vec<Margin>> {
        let unknown = vec![Margin::Unknown; self.computed.len()];
        // Operators of OpenVINO run by those that they are converted to.
        let converted = || row_of(self.standard, self.node).filter(|row| row.runs_by_conversion());
        let row = self.done.row.or_else(converted);
        let Some(row) = row.filter(|_| !self.given.contains(&Margin::Unknown)) else {
            return Ok(unknown);
        };
        match self.of_row(row) {
            Err(error) if error.kind() == Kind::Limit => Err(error),
            Err(_) => Ok(unknown),
            Ok(mut margins) => {
                let limits = margins.iter_mut().zip(self.computed);
                limits.for_each(|(margin, value)| self.limit(margin, value.as_ref()));
                Ok(margins)
            }
        }
    }

    fn of_row(&self, row: &'static Row) -> Result<Vec<Margin>> {
        let allowed = row.allowed(self.node);
        if allowed == Allowed::Steps {
            return self.of_steps(row);
        }
        let own = self.own(row, allowed)?;
        if self.given.iter().all(|margin| *margin == Margin::None) {
            return Ok(own);
        }
        let carried = self.carried(row, allowed)?;
        Ok(own.into_iter().zip(carried).map(|(own, carried)| sum(own, carried)).collect())
    }

    /// The type that an output is rounded to.
    fn unit_of(&self, value: &Value) -> Option<Unit> {
        self.unit.or_else(|| Unit::of(value.dtype()?))
    }

    /// Results that may exceed the type may be anything.
    fn limit(&self, margin: &mut Margin, value: Option<&Value>) {
        let Some((value, Margin::Each(all))) = value.map(|value| (value, margin)) else { return };
        let (Some(unit), Some(numbers)) = (self.unit_of(value), numbers(value)) else { return };
        for (margin, x) in all.iter_mut().zip(numbers) {
            if margin.is_nan() || (x.is_finite() && x.abs() + *margin > unit.largest) {
                *margin = f64::INFINITY;
            }
        }
    }

    /// The errors of the node's own roundings.
    pub(super) fn own(&self, row: &'static Row, allowed: Allowed) -> Result<Vec<Margin>> {
        let narrows = |value: &Value| {
            let from = self.done.inputs.first().and_then(|input| input.as_ref()?.dtype());
            row.role != Role::Cast
                || from.is_none_or(|from| value.dtype().is_none_or(|to| to.bits() < from.bits()))
        };
        match allowed {
            // One rounding of exact inputs is that of the exact result.
            Allowed::Rounded => self.each(|value, unit| {
                Ok(match (row.rounding(), self.unit) {
                    (Rounding::Ieee, None) => of_each(value, |_| 0.0),
                    (Rounding::Ieee, Some(_)) if narrows(value) => of_each(value, |x| unit.of_number(x)),
                    _ => Margin::None,
                })
            }),
            Allowed::Code => Ok(self.codes()),
            Allowed::Ulps(ulps, terms) => self.each(|value, unit| self.of_function(value, unit, ulps, terms)),
            Allowed::Sums(magnitudes) => self.of_sums(row, magnitudes),
            Allowed::Scan => self.of_sums_of(row, Magnitudes::OF_INPUTS, Some(self.longest_axis())),
            Allowed::Softmax => self.each(|value, unit| self.of_softmax(row, value, unit, false)),
            Allowed::LogSoftmax => self.each(|value, unit| self.of_softmax(row, value, unit, true)),
            Allowed::Interpolated => self.each(|value, unit| Ok(self.of_interpolation(value, unit))),
            Allowed::Steps | Allowed::Unknown => self.each(|_, _| Ok(Margin::Unknown)),
        }
    }

    /// A margin for each output of floats; integers and texts are exact.
    pub(super) fn each(&self, margin: impl Fn(&Value, Unit) -> Result<Margin>) -> Result<Vec<Margin>> {
        let of = |value: &Option<Value>| match value {
            Some(value) => match (self.unit_of(value), value.dtype()) {
                (Some(unit), Some(dtype)) if Unit::of(dtype).is_some() => margin(value, unit),
                (_, Some(dtype)) if dtype.is_float() || dtype.is_complex() => Ok(Margin::Unknown),
                _ => Ok(Margin::None),
            },
            None => Ok(Margin::None),
        };
        self.computed.iter().map(of).collect()
    }

    /// The errors that those of the inputs cause.
    pub(super) fn carried(&self, row: &Row, allowed: Allowed) -> Result<Vec<Margin>> {
        match allowed {
            Allowed::Sums(magnitudes) => {
                let with = self.magnitudes(row, magnitudes, self.given)?;
                let without = self.magnitudes(row, magnitudes, &[])?;
                let differences = with.iter().zip(&without).map(|(with, without)| difference(with, without));
                Ok(differences.collect())
            }
            Allowed::Softmax => self.each(|value, _| self.carried_by_softmax(row, value)),
            Allowed::LogSoftmax => {
                let most = 2.0 * self.given.iter().map(largest).fold(0.0, f64::max);
                self.each(|value, _| Ok(of_each(value, |_| most)))
            }
            _ => self.corners(),
        }
    }

    /// The largest changes of the outputs where inputs are larger or smaller by their errors;
    /// integers are taken for those of the exact inputs.
    fn corners(&self) -> Result<Vec<Margin>> {
        let exact = |value: &Option<Value>| {
            value.as_ref().and_then(Value::dtype).is_none_or(|it| Unit::of(it).is_none())
        };
        let all = Judged::changes(&self.ends()?).into_iter().zip(self.computed);
        Ok(all.map(|(margin, value)| if exact(value) { Margin::None } else { margin }).collect())
    }

    /// The outputs for the inputs as they are, and then where they are larger or smaller by their
    /// errors.
    pub(super) fn ends(&self) -> Result<Vec<Vec<Value>>> {
        /// Maximum number of inputs whose errors are combined in all ways.
        const MAX_COMBINED: usize = 3;
        let moved: Vec<_> =
            (0..self.given.len()).filter(|&input| matches!(self.given[input], Margin::Each(_))).collect();
        let combinations = if moved.len() <= MAX_COMBINED { 1 << moved.len() } else { 2 };
        let at = |signs: Option<usize>| {
            let sign = |input: usize| {
                let place = moved.iter().position(|&moved| moved == input)?;
                let signs = signs?;
                let bit = if moved.len() <= MAX_COMBINED { signs >> place & 1 } else { signs };
                Some(if bit == 0 { 1.0 } else { -1.0 })
            };
            self.eval_with(&|input, x, error| sign(input).map_or(x, |sign| x + sign * error), self.given)
        };
        std::iter::once(None).chain((0..combinations).map(Some)).map(at).collect()
    }

    /// The largest distances of outputs from the first ones.
    pub(super) fn changes(ends: &[Vec<Value>]) -> Vec<Margin> {
        let Some((center, moved)) = ends.split_first() else { return Vec::new() };
        let of = |(at, center): (usize, &Value)| {
            moved.iter().map(|end| difference(&end[at], center)).fold(Margin::None, larger)
        };
        center.iter().enumerate().map(of).collect()
    }

    /// The results for other inputs of floats, in float64: a function makes an element from the
    /// number of its input, its value, and its error.
    fn eval_with(&self, change: &dyn Fn(usize, f64, f64) -> f64, errors: &[Margin]) -> Result<Vec<Value>> {
        let changed = |(index, input): (usize, &Option<Value>)| {
            let Some(input) = input else { return Ok(None) };
            let Ok(tensor) = input.tensor() else { return Ok(Some(input.clone())) };
            if !tensor.dtype().is_float() {
                return Ok(Some(input.clone()));
            }
            let error = |place: usize| match errors.get(index) {
                Some(Margin::Each(all)) => all[place],
                _ => 0.0,
            };
            let elements = tensor.numbers()?.map(nearest_f64).enumerate();
            let elements = elements.map(|(place, x)| change(index, x, error(place))).collect();
            Ok(Some(Value::from(Tensor::from_vec::<f64>(tensor.shape().clone(), elements)?)))
        };
        let inputs = self.done.inputs.iter().enumerate().map(changed).collect::<Result<Vec<_>>>()?;
        let inputs: Vec<_> = inputs.iter().map(Option::as_ref).collect();
        self.done.eval(&inputs)
    }

    /// The errors of a formula's steps, through the graph of simpler operators.
    fn of_steps(&self, row: &'static Row) -> Result<Vec<Margin>> {
        let unit = || self.computed.iter().flatten().find_map(|value| Unit::of(value.dtype()?));
        let lower = row.steps().filter(|_| self.depth < MAX_DEPTH);
        let (Some(lower), Some(unit)) = (lower, self.unit.or_else(unit)) else {
            return Ok(vec![Margin::Unknown; self.computed.len()]);
        };
        let lowered = Lowered::of(self.standard, self.node, self.done, lower)?;
        let graph = &lowered.graph;
        let given = graph.inputs().iter().zip(self.given);
        let tracker = Rc::new(RefCell::new(Tracker {
            nodes: graph.nodes().to_vec(),
            margins: given.map(|(id, margin)| (id.index(), margin.clone())).collect(),
            unit,
            depth: self.depth + 1,
        }));
        lowered.run(self.done, Watch::Replaced(tracker.clone()))?;
        let margins = &tracker.borrow().margins;
        let found = graph.outputs().iter().map(|id| margins.get(&id.index()).cloned());
        Ok(found.map(|margin| margin.unwrap_or(Margin::None)).take(self.computed.len()).collect())
    }
}

/// The graph of simpler operators that a node stands for, for inputs of these types and sizes.
pub(super) struct Lowered {
    pub(super) graph: Graph,
    program: GraphProgram,
    options: RunOptions,
}

impl Lowered {
    /// Writes the graph.
    pub(super) fn of(standard: Standard, node: &Node, done: &NodeDone<'_>, lower: Lower) -> Result<Lowered> {
        let known: Vec<_> = done.inputs.iter().map(|input| input.as_ref().map(Known::of_elements)).collect();
        let goal = Goal::run(node, done.limits);
        let graph = lowering::write(standard, node, &known, lower, &goal)?.graph;
        let options = RunOptions::default().within(done.limits);
        let program = Compiler::plain(Standard::Onnx, options).inner(&graph)?;
        Ok(Lowered { graph, program, options })
    }

    /// Runs it on the inputs of the node.
    pub(super) fn run(&self, done: &NodeDone<'_>, watch: Watch) -> Result<Vec<Value>> {
        let mut state = RunState::new(&self.options);
        state.narrow = true;
        state.watch = Some(watch);
        self.program.run(done.inputs.to_vec(), &[], &mut state)
    }
}

/// The errors of the values of a graph that stands for a node.
#[derive(Debug)]
struct Tracker {
    nodes: Vec<Node>,
    /// Errors by slot.
    margins: HashMap<usize, Margin>,
    unit: Unit,
    depth: usize,
}

impl Replaces for Tracker {
    fn replace(&mut self, done: &NodeDone<'_>, computed: Vec<Option<Value>>) -> Result<Vec<Option<Value>>> {
        let node = &self.nodes[done.index];
        let margin = |id: &Option<ValueId>| {
            id.and_then(|id| self.margins.get(&id.index()).cloned()).unwrap_or(Margin::None)
        };
        let given: Vec<_> = node.inputs.iter().map(margin).collect();
        let (standard, unit, depth) = (Standard::Onnx, Some(self.unit), self.depth);
        let judged = Judged { done, node, standard, computed: &computed, given: &given, unit, depth };
        let margins = judged.margins()?;
        let slots = done.slots.iter().zip(margins);
        self.margins.extend(slots.filter_map(|(slot, margin)| Some(((*slot)?, margin))));
        Ok(computed)
    }
}

/// The elements of a tensor of real numbers.
pub(super) fn numbers(value: &Value) -> Option<Vec<f64>> {
    let numbers = value.tensor().ok()?.numbers().ok()?;
    numbers.map(|x| if let Number::Complex(..) = x { None } else { Some(nearest_f64(x)) }).collect()
}

/// A margin of each element by its value.
pub(super) fn of_each(value: &Value, margin: impl Fn(f64) -> f64) -> Margin {
    numbers(value).map_or(Margin::Unknown, |all| Margin::Each(all.into_iter().map(margin).collect()))
}

/// The distances of the elements of two results.
fn difference(a: &Value, b: &Value) -> Margin {
    let (Some(a), Some(b)) = (numbers(a), numbers(b)) else { return Margin::Unknown };
    let apart = |(a, b): (f64, f64)| if a == b { 0.0 } else { (a - b).abs() };
    Margin::Each(
        a.into_iter().zip(b).map(apart).map(|x| if x.is_nan() { f64::INFINITY } else { x }).collect(),
    )
}

fn sum(a: Margin, b: Margin) -> Margin {
    each_of(a, b, |a, b| a + b)
}

fn larger(a: Margin, b: Margin) -> Margin {
    each_of(a, b, f64::max)
}

/// Both errors of each element as one.
pub(super) fn each_of(a: Margin, b: Margin, both: impl Fn(f64, f64) -> f64) -> Margin {
    match (a, b) {
        (Margin::None, margin) | (margin, Margin::None) => margin,
        (Margin::Each(a), Margin::Each(b)) if a.len() == b.len() => {
            Margin::Each(a.into_iter().zip(b).map(|(a, b)| both(a, b)).collect())
        }
        _ => Margin::Unknown,
    }
}

/// The largest error.
pub(super) fn largest(margin: &Margin) -> f64 {
    match margin {
        Margin::None => 0.0,
        Margin::Each(all) => all.iter().copied().fold(0.0, f64::max),
        Margin::Unknown => f64::INFINITY,
    }
}
