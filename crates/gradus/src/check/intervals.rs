//! Intervals that hold the real numbers which the outputs of a model are by its formulas.
//!
//! A run computes each node a second time, with the floats of its inputs in float64, and bounds by
//! what the numbers so computed may be off: by the node's own roundings in float64, and by what
//! errors of its inputs carry to its results. Conversions between types of floats keep numbers.
//! Where nothing bounds the error of a value, it has no interval.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use gradus_core::graph::{Content, Node, Standard, ValueId};
use gradus_core::{DType, Error, Kind, Result, Tensor, Value};
use gradus_kernels::Course;

use super::allowed::{Judged, Lowered, MAX_DEPTH, Margin, Unit, each_of, largest, numbers, of_each};
use crate::attributes::Attributes;
use crate::normalize::Form;
use crate::operators::registry::row_of;
use crate::operators::{Allowed, Carries, Magnitudes, Role, Rounding, Row};
use crate::program::{NodeDone, Replaces, Watch};
use crate::run::{Outputs, Program};

/// A run whose outputs have intervals.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Intervals {
    /// The outputs, as a run without intervals has them.
    pub outputs: Outputs,
    /// The intervals of the outputs, in their order; nothing for an output that is no tensor of
    /// floats, or whose errors nothing bounds.
    pub intervals: Vec<Option<Interval>>,
    /// The nodes of the main graph, in words, whose inputs have intervals and whose results have
    /// none.
    pub unbounded: Vec<String>,
}

/// The smallest and the largest number that elements may be: tensors of float64 in the shape of the
/// output. Elements that are NaN by the formulas are NaN in both.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Interval {
    /// The smallest numbers.
    pub low: Tensor,
    /// The largest numbers.
    pub high: Tensor,
}

impl Program {
    /// Runs as [`Program::run`] does, and bounds the real numbers that the outputs are by the
    /// formulas of the model, for the inputs and constants as they are. Each node runs several
    /// times.
    ///
    /// # Errors
    /// As [`Program::run`].
    ///
    /// ```
    /// let model = gradus::Model::open("examples/positions.onnx")?;
    /// let shape = gradus::Shape::new([1, 3])?;
    /// let tokens = gradus::Tensor::from_vec::<i64>(shape, vec![101, 2023, 102])?;
    /// let program = model.compile(&["phase"], &Default::default())?;
    /// let found = program.run_with_intervals([("tokens", tokens)])?;
    /// let interval = found.intervals[0].as_ref().expect("sums and quotients have bounds");
    /// assert!(interval.low.elements::<f64>()?[0] <= 0.0);
    /// assert!(interval.high.elements::<f64>()?[0] >= 0.0);
    /// # Ok::<(), gradus::Error>(())
    /// ```
    pub fn run_with_intervals<N: AsRef<str>, V: Into<Value>>(
        &self,
        inputs: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Intervals> {
        let graph = self.model().graph();
        let outputs = self.values().iter().map(|id| id.index());
        let standard = self.model().source().standard;
        let lifted = Lifted::new(standard, graph.nodes().to_vec(), (HashMap::new(), outputs), 0);
        let lifted = Rc::new(RefCell::new(lifted));
        let outputs = self.run_replaced(inputs, lifted.clone())?;
        let lifted = lifted.borrow();
        let of = |(id, (_, value)): (&ValueId, &(_, Value))| {
            let own = lifted.known.get(&id.index()).cloned();
            own.unwrap_or_else(|| Bounded::given(value)).interval()
        };
        let intervals = self.values().iter().zip(&outputs).map(of).collect::<Result<_>>()?;
        Ok(Intervals { intervals, unbounded: lifted.unbounded.clone(), outputs })
    }
}

impl Interval {
    /// The widths that half of the intervals and all of them have at most; infinite where an
    /// element may be any number, and 0 without elements.
    pub fn widths(&self) -> (f64, f64) {
        let mut widths: Vec<f64> = self.ends().map(|(low, high)| high - low).collect();
        widths.retain(|width| !width.is_nan());
        widths.sort_by(f64::total_cmp);
        let at = |place: usize| widths.get(place).copied().unwrap_or(0.0);
        (at(widths.len() / 2), at(widths.len().saturating_sub(1)))
    }

    /// The largest distance of elements of a result from their intervals.
    pub fn distance(&self, result: &Value) -> f64 {
        let all = numbers(result).unwrap_or_default();
        let apart = self.ends().zip(all).map(|((low, high), x)| (low - x).max(x - high));
        apart.filter(|apart| !apart.is_nan()).fold(0.0, f64::max)
    }

    /// The smallest and the largest number of each element.
    fn ends(&self) -> impl Iterator<Item = (f64, f64)> {
        let all = |tensor: &Tensor| tensor.elements::<f64>().map(|all| all.to_vec()).unwrap_or_default();
        all(&self.low).into_iter().zip(all(&self.high))
    }
}

/// A value whose floats are in float64, and its distance from the real numbers.
#[derive(Clone, Debug)]
struct Bounded {
    value: Value,
    margin: Margin,
}

impl Bounded {
    /// A value that is given: its floats are the numbers that they are.
    fn given(value: &Value) -> Bounded {
        match value {
            Value::Tensor(tensor) if tensor.dtype().is_float() => {
                let lifted = numbers(value).and_then(|all| of_numbers(tensor, all).ok());
                match lifted {
                    Some(lifted) => Bounded { value: lifted, margin: Margin::None },
                    None => Bounded::unknown(value),
                }
            }
            Value::Tensor(tensor) if !tensor.dtype().is_complex() => {
                Bounded { value: value.clone(), margin: Margin::None }
            }
            _ => Bounded::unknown(value),
        }
    }

    fn unknown(value: &Value) -> Bounded {
        Bounded { value: value.clone(), margin: Margin::Unknown }
    }

    fn is_float(&self) -> bool {
        self.value.dtype().is_some_and(DType::is_float)
    }

    fn is_exact(&self) -> bool {
        match &self.margin {
            Margin::None => true,
            Margin::Each(all) => all.iter().all(|error| *error == 0.0),
            Margin::Unknown => false,
        }
    }

    fn interval(&self) -> Result<Option<Interval>> {
        let (Ok(tensor), Some(all)) = (self.value.tensor(), numbers(&self.value)) else { return Ok(None) };
        if !self.is_float() || self.margin == Margin::Unknown {
            return Ok(None);
        }
        let error = |place: usize| if let Margin::Each(errors) = &self.margin { errors[place] } else { 0.0 };
        let end = |sign: f64| {
            let elements = all.iter().enumerate().map(|(place, &x)| match error(place) {
                0.0 => x,
                error if error.is_finite() => outward(x + sign * error, sign),
                _ => sign * f64::INFINITY,
            });
            Tensor::from_vec::<f64>(tensor.shape().clone(), elements.collect())
        };
        Ok(Some(Interval { low: end(-1.0)?, high: end(1.0)? }))
    }
}

/// The next number in a direction.
fn outward(x: f64, sign: f64) -> f64 {
    if sign < 0.0 { x.next_down() } else { x.next_up() }
}

/// A tensor of float64 in the shape of another.
fn of_numbers(like: &Tensor, all: Vec<f64>) -> Result<Value> {
    Ok(Tensor::from_vec::<f64>(like.shape().clone(), all)?.into())
}

/// The values of a graph, as they are computed.
#[derive(Debug)]
struct Lifted {
    standard: Standard,
    nodes: Vec<Node>,
    /// Values by slot.
    known: HashMap<usize, Bounded>,
    /// By slot, how often a value is still read; outputs once more.
    uses: HashMap<usize, usize>,
    /// Nodes, in words, that no bound is known of.
    unbounded: Vec<String>,
    /// Levels of graphs around it.
    depth: usize,
}

impl Lifted {
    fn new(
        standard: Standard,
        nodes: Vec<Node>,
        (known, outputs): (HashMap<usize, Bounded>, impl Iterator<Item = usize>),
        depth: usize,
    ) -> Lifted {
        let mut uses = HashMap::new();
        let inputs = nodes.iter().flat_map(|node| &node.inputs).flatten().map(|id| id.index());
        inputs.chain(outputs).for_each(|slot| *uses.entry(slot).or_insert(0) += 1);
        Lifted { standard, nodes, known, uses, unbounded: Vec::new(), depth }
    }
}

impl Replaces for Lifted {
    fn replace(&mut self, done: &NodeDone<'_>, computed: Vec<Option<Value>>) -> Result<Vec<Option<Value>>> {
        let node = &self.nodes[done.index];
        let bounded = |(value, id): (&Option<Value>, &Option<ValueId>)| {
            let known = id.and_then(|id| self.known.get(&id.index()));
            value.as_ref().map(|value| known.cloned().unwrap_or_else(|| Bounded::given(value)))
        };
        let inputs: Vec<_> = done.inputs.iter().zip(&node.inputs).map(bounded).collect();
        let step = Step { standard: self.standard, done, node, inputs: &inputs, depth: self.depth };
        let found = step.results(&computed)?;
        let is_bounded =
            |all: &[Option<Bounded>]| all.iter().flatten().all(|bounded| bounded.margin != Margin::Unknown);
        if is_bounded(&inputs) && !is_bounded(&found) {
            self.unbounded.push(done.label.to_owned());
        }
        for slot in node.inputs.iter().flatten().map(|id| id.index()) {
            let left = self.uses.entry(slot).or_insert(1);
            *left -= 1;
            if *left == 0 {
                self.known.remove(&slot);
            }
        }
        let slots = done.slots.iter().zip(found);
        self.known.extend(slots.filter_map(|(slot, bounded)| Some(((*slot)?, bounded?))));
        Ok(computed)
    }
}

/// A node, with what is known of its inputs.
struct Step<'a> {
    standard: Standard,
    done: &'a NodeDone<'a>,
    node: &'a Node,
    inputs: &'a [Option<Bounded>],
    depth: usize,
}

impl Step<'_> {
    fn results(&self, computed: &[Option<Value>]) -> Result<Vec<Option<Bounded>>> {
        let unknown = || computed.iter().map(|value| value.as_ref().map(Bounded::unknown)).collect();
        if self.inputs.iter().flatten().any(|input| input.margin == Margin::Unknown) {
            return Ok(unknown());
        }
        let converted = || row_of(self.standard, self.node).filter(|row| row.runs_by_conversion());
        let Some(row) = self.done.row.or_else(converted) else { return Ok(unknown()) };
        let found = match (row.role, computed) {
            (Role::Cast, [Some(result)]) => self.cast(row, result),
            _ if row.allowed(self.node) == Allowed::Steps => self.of_steps(row),
            _ => self.of_row(row),
        };
        match found {
            Ok(found) => Ok(found.into_iter().map(Some).collect()),
            Err(error) if error.kind() == Kind::Limit => Err(error),
            Err(_) => Ok(unknown()),
        }
    }

    /// A conversion: of floats and integers to floats, the numbers as they are.
    fn cast(&self, row: &'static Row, result: &Value) -> Result<Vec<Bounded>> {
        let Some(Some(input)) = self.inputs.first() else { return self.of_row(row) };
        if !result.dtype().is_some_and(DType::is_float) {
            return self.of_row(row);
        }
        let Some(all) = numbers(&input.value) else { return Ok(vec![Bounded::unknown(result)]) };
        let unit = Unit::F64;
        let rounded = |x: &f64| if x.abs() < 2f64.powi(53) { 0.0 } else { unit.of_number(*x) };
        let margin = match &input.margin {
            Margin::None if !input.is_float() => Margin::Each(all.iter().map(rounded).collect()),
            margin => margin.clone(),
        };
        Ok(vec![Bounded { value: of_numbers(input.value.tensor()?, all)?, margin }])
    }

    /// The results of the graph of simpler operators that a node stands for.
    fn of_steps(&self, row: &'static Row) -> Result<Vec<Bounded>> {
        let Some(lower) = row.steps().filter(|_| self.depth < MAX_DEPTH) else {
            return Err(Error::new(Kind::Unsupported, "the node stands for no graph"));
        };
        let lowered = Lowered::of(self.standard, self.node, self.done, lower)?;
        let graph = &lowered.graph;
        let known = graph.inputs().iter().zip(self.inputs);
        let known = known.filter_map(|(id, bounded)| Some((id.index(), bounded.clone()?))).collect();
        let outputs = graph.outputs().iter().map(|id| id.index());
        let nested = Lifted::new(Standard::Onnx, graph.nodes().to_vec(), (known, outputs), self.depth + 1);
        let nested = Rc::new(RefCell::new(nested));
        let values = lowered.run(self.done, Watch::Replaced(nested.clone()))?;
        let nested = nested.borrow();
        let of = |(id, value): (&ValueId, &Value)| {
            nested.known.get(&id.index()).cloned().unwrap_or_else(|| Bounded::given(value))
        };
        Ok(graph.outputs().iter().zip(&values).map(of).collect())
    }

    /// The results of a node that is evaluated for inputs in float64.
    fn of_row(&self, row: &'static Row) -> Result<Vec<Bounded>> {
        let lifted: Vec<_> = self.inputs.iter().map(|it| Some(it.as_ref()?.value.clone())).collect();
        let done = self.done.with_inputs(&lifted);
        let inputs: Vec<_> = lifted.iter().map(Option::as_ref).collect();
        let centers: Vec<_> = done.eval(&inputs)?.into_iter().map(Some).collect();
        let units = centers.iter().flatten().filter_map(|value| Unit::of(value.dtype()?));
        let unit = units.reduce(|a, b| if a.relative < b.relative { b } else { a });
        let allowed = row.allowed(self.node);
        // A quotient in float64 may be a half that the real one is not.
        let rounds = allowed == Allowed::Code;
        let given: Vec<_> =
            self.inputs.iter().map(|it| it.as_ref().map_or(Margin::None, |it| widened(it, rounds))).collect();
        let judged = Judged {
            done: &done,
            node: self.node,
            standard: self.standard,
            computed: &centers,
            given: &given,
            unit,
            depth: self.depth,
        };
        let own = judged.own(row, allowed)?;
        let is_exact = row.shape_only || (!rounds && self.inputs.iter().flatten().all(Bounded::is_exact));
        let carried =
            if is_exact { vec![Margin::None; centers.len()] } else { self.carried(&judged, row, allowed)? };
        let results = centers.into_iter().flatten().zip(own.into_iter().zip(carried));
        results.map(|(value, (own, carried))| self.result(row, value, (own, carried))).collect()
    }

    /// A result, with its own error and the one that is carried to it.
    fn result(&self, row: &Row, value: Value, (own, carried): (Margin, Margin)) -> Result<Bounded> {
        /// The roundings of the result itself, and of those that tell what is carried to it.
        const ROUNDINGS: f64 = 4.0;
        let dtype = value.dtype();
        let Value::Tensor(tensor) = &value else { return Ok(Bounded::unknown(&value)) };
        if !dtype.is_some_and(DType::is_float) {
            let is_real = dtype.is_some_and(|dtype| !dtype.is_complex());
            return Ok(Bounded { margin: if is_real { carried } else { Margin::Unknown }, value });
        }
        let Some(all) = numbers(&value) else { return Ok(Bounded::unknown(&value)) };
        let mut margin = match (own, carried) {
            (Margin::Unknown, _) | (_, Margin::Unknown) => return Ok(Bounded::unknown(&value)),
            (own, carried) => each_of(times(own, ROUNDINGS), times(carried, SLACK), |a, b| a + b),
        };
        if !self.has_own_infinities(row) && all.iter().any(|x| x.is_infinite()) {
            let errors = if let Margin::Each(errors) = margin { errors } else { vec![0.0; all.len()] };
            let beyond = all.iter().zip(errors);
            let errors = beyond.map(|(x, error)| if x.is_infinite() { f64::INFINITY } else { error });
            margin = Margin::Each(errors.collect());
        }
        Ok(Bounded { value: of_numbers(tensor, all)?, margin })
    }

    /// Returns true if infinite results are those of infinite inputs, and no finite numbers that
    /// float64 does not hold.
    fn has_own_infinities(&self, row: &Row) -> bool {
        /// Magnitudes whose products float64 holds, and sums of these.
        const HELD: f64 = 1e140;
        let all = || self.inputs.iter().flatten().filter_map(|it| numbers(&it.value)).flatten();
        let moves = matches!(row.rounding.of_node(self.node), Rounding::Moved | Rounding::Chosen);
        moves || (all().any(f64::is_infinite) && all().filter(|x| x.is_finite()).all(|x| x.abs() < HELD))
    }

    /// The errors that those of the inputs cause; unknown for integers that they may change.
    fn carried(&self, judged: &Judged<'_>, row: &'static Row, allowed: Allowed) -> Result<Vec<Margin>> {
        let unknown = || vec![Margin::Unknown; judged.computed.len()];
        let has_error = |input: &usize| matches!(self.inputs.get(*input), Some(Some(it)) if !it.is_exact());
        let named = [row.lists, row.scalars];
        if named.into_iter().flatten().any(has_error) {
            return Ok(unknown());
        }
        let others_err = || (1..self.inputs.len()).any(|input| has_error(&input));
        let in_training = Attributes::new(&self.node.attributes, Form::of_node(self.standard, self.node))
            .int_or("training_mode", 0)?
            != 0;
        match allowed {
            Allowed::Sums(how) if in_training || how.divided || how.kept.iter().any(has_error) => {
                Ok(unknown())
            }
            Allowed::Sums(_) | Allowed::Softmax | Allowed::LogSoftmax => judged.carried(row, allowed),
            Allowed::Scan => judged.carried(row, Allowed::Sums(Magnitudes::OF_INPUTS)),
            Allowed::Interpolated if !others_err() => {
                let most = WEIGHTS * largest(&judged.given[0]);
                judged.each(|value, _| Ok(of_each(value, |_| most)))
            }
            Allowed::Rounded | Allowed::Ulps(..) | Allowed::Code => match row.carried() {
                Carries::Ends => Self::at_ends(judged, row),
                Carries::As(function) => match function.course() {
                    Course::Monotone | Course::Convex => Self::at_ends(judged, row),
                    Course::Rising | Course::Slope(_) if others_err() => Ok(unknown()),
                    Course::Rising if !self.has_negative_parameters() => Self::at_ends(judged, row),
                    Course::Slope(slope) => Ok(vec![times(judged.given[0].clone(), slope)]),
                    Course::Rising | Course::Open => Ok(unknown()),
                },
                Carries::Quotient(input) => {
                    self.apart_from_zero(judged, row, input, |x, error| x.abs() > error)
                }
                Carries::Power if self.has_natural_exponents() => Self::at_ends(judged, row),
                Carries::Power => self.apart_from_zero(judged, row, 0, |x, error| x > error),
                Carries::Open => Ok(unknown()),
            },
            Allowed::Interpolated | Allowed::Steps | Allowed::Unknown => Ok(unknown()),
        }
    }

    /// The largest changes at the ends of the errors; integers are known if they are the same
    /// there.
    fn at_ends(judged: &Judged<'_>, row: &Row) -> Result<Vec<Margin>> {
        let ends = judged.ends()?;
        let is_truth = |value: &Value| value.dtype() == Some(DType::Bool) && row.role == Role::Cast;
        let mut margins = Judged::changes(&ends);
        for (at, (margin, value)) in margins.iter_mut().zip(judged.computed).enumerate() {
            let Some(value) = value.as_ref().filter(|it| !it.dtype().is_some_and(DType::is_float)) else {
                continue;
            };
            let is_same = (row.is_of_elements() || row.rounding == Rounding::Quantized)
                && !is_truth(value)
                && ends.iter().all(|end| end[at] == *value);
            *margin = if is_same { Margin::None } else { Margin::Unknown };
        }
        Ok(margins)
    }

    /// As at the ends, where elements of an input are apart from zero by their errors: those that
    /// are not have results without bounds.
    fn apart_from_zero(
        &self,
        judged: &Judged<'_>,
        row: &Row,
        input: usize,
        is_apart: impl Fn(f64, f64) -> bool,
    ) -> Result<Vec<Margin>> {
        let Some(Some(bounded)) = self.inputs.get(input) else { return Self::at_ends(judged, row) };
        let (Some(all), Margin::Each(errors)) = (numbers(&bounded.value), &judged.given[input]) else {
            return Self::at_ends(judged, row);
        };
        let each = all.iter().zip(errors);
        let kept = each.map(|(&x, &error)| if is_apart(x, error) { x } else { f64::NAN }).collect();
        let mut inputs = judged.done.inputs.to_vec();
        inputs[input] = Some(of_numbers(bounded.value.tensor()?, kept)?);
        let done = judged.done.with_inputs(&inputs);
        Self::at_ends(&Judged { done: &done, ..*judged }, row)
    }

    /// Returns true if an attribute, or an element of an input after the first, is below zero.
    fn has_negative_parameters(&self) -> bool {
        let has_negative = |all: Option<Vec<f64>>| all.is_none_or(|all| all.iter().any(|x| *x < 0.0));
        let is_negative = |content: &Content| matches!(content, Content::Float(value) if *value < 0.0);
        self.node.attributes.iter().any(|attribute| is_negative(&attribute.content))
            || self.inputs.iter().skip(1).flatten().any(|input| has_negative(numbers(&input.value)))
    }

    /// Returns true if all exponents of a power are whole, not negative, and have no error.
    fn has_natural_exponents(&self) -> bool {
        let is_natural = |x: &f64| *x >= 0.0 && x.fract() == 0.0;
        matches!(self.inputs.get(1), Some(Some(exponent)) if exponent.is_exact()
            && numbers(&exponent.value).is_some_and(|all| all.iter().all(is_natural)))
    }
}

/// Sums of the errors of interpolated elements have weights of at most this together.
const WEIGHTS: f64 = 4.0;

/// The factor by which errors grow that are computed in float64.
const SLACK: f64 = 1.0 + 1.0 / 1_073_741_824.0;

fn times(margin: Margin, factor: f64) -> Margin {
    match margin {
        Margin::Each(all) => Margin::Each(all.into_iter().map(|error| error * factor).collect()),
        margin => margin,
    }
}

/// The errors of an input, with what ends of intervals are rounded by; of all elements, or of those
/// that have an error.
fn widened(bounded: &Bounded, all: bool) -> Margin {
    let numbers = numbers(&bounded.value).filter(|_| bounded.is_float());
    let (Some(numbers), false) = (numbers, bounded.margin == Margin::None && !all) else {
        return bounded.margin.clone();
    };
    let error = |place: usize| if let Margin::Each(errors) = &bounded.margin { errors[place] } else { 0.0 };
    let wider = |(place, x): (usize, f64)| match error(place) {
        0.0 if !all => 0.0,
        error => error + 4.0 * Unit::F64.of_number(x.abs() + error),
    };
    Margin::Each(numbers.into_iter().enumerate().map(wider).collect())
}
