//! Losses of quantized models, tensor by tensor.

mod pairing;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use gradus_core::convert::{Rules, u64_of};
use gradus_core::graph::{Node, Standard, ValueId};
use gradus_core::sort::SharedSort;
use gradus_core::{DType, Error, Kind, Number, Result, Tensor, Value};

use super::allowed::numbers;
use super::compared::type_of;
use super::plan::{PlannedRun, SIZES, Schedule, SizeChoice, TimeBudget};
use super::{CheckOptions, NamedValues, run};
use crate::model::Model;
use crate::operators::{Role, row_of};
use crate::program::{NodeDone, Replaces};
use pairing::Pairing;

/// The losses of a quantized model against the model that it was made of.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Quantization {
    /// The runs that were compared.
    pub runs: usize,
    /// The tensors that are quantized, and the outputs: those that lose most by their own
    /// quantization first, then those without one of their own.
    pub tensors: Vec<TensorLoss>,
}

/// The losses of one tensor.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TensorLoss {
    /// The name of the tensor in the first model; in the second where the first has none.
    pub name: String,
    /// The part that the tensor has in the model.
    pub kind: TensorKind,
    /// The type of the codes, where the quantized model has codes.
    pub codes: Option<DType>,
    /// The elements that are beyond the smallest and the largest number that has a code; of an
    /// activation that one node quantizes.
    pub clipped: Option<u64>,
    /// The loss of this quantization alone: the tensor of the first model next to what its codes
    /// stand for.
    pub own: Option<Loss>,
    /// The loss of all quantizations up to here: the tensor of the first model next to that of the
    /// second, for the same inputs.
    pub whole: Option<Loss>,
}

/// The part of a tensor in a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TensorKind {
    /// A constant.
    Weight,
    /// A value that depends on the inputs.
    Activation,
    /// An output of the model.
    Output,
}

gradus_core::names!(TensorKind { Weight = "weight", Activation = "activation", Output = "output" });

/// The differences of two tensors, over all runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Loss {
    /// The number of elements.
    pub elements: u64,
    /// The sum of the squares of the elements.
    pub signal: f64,
    /// The sum of the squares of the differences.
    pub noise: f64,
    /// The largest difference.
    pub largest: f64,
}

impl Loss {
    /// The ratio of signal to noise in decibels: 20 for each digit that is right, infinite where
    /// nothing is lost.
    pub fn decibels(&self) -> f64 {
        if self.noise == 0.0 { f64::INFINITY } else { 10.0 * (self.signal / self.noise).log10() }
    }

    fn add(&mut self, x: &[f64], y: &[f64]) {
        self.elements += u64_of(x.len());
        for (&x, &y) in x.iter().zip(y) {
            let apart = if x == y || (x.is_nan() && y.is_nan()) { 0.0 } else { (x - y).abs() };
            let apart = if apart.is_nan() { f64::INFINITY } else { apart };
            self.largest = self.largest.max(apart);
            self.signal += x * x;
            self.noise += apart * apart;
        }
    }
}

/// Adds the loss between two tensors of floats of the same shape; codes are no numbers.
fn lose(loss: &mut Option<Loss>, before: &Value, after: &Value) {
    let floats = |value: &Value| {
        let tensor = value.tensor().ok().filter(|tensor| tensor.dtype().is_float())?;
        Some((tensor.shape().clone(), numbers(value)?))
    };
    if let (Some((of_x, x)), Some((of_y, y))) = (floats(before), floats(after))
        && of_x == of_y
    {
        loss.get_or_insert_default().add(&x, &y);
    }
}

impl Model {
    /// The loss of each tensor that another model, made of this one, has in few bits, in runs of
    /// both on the same inputs: random ones, but for those that the options give.
    ///
    /// Tensors are found by the operators that quantize and dequantize (`QuantizeLinear`,
    /// `DequantizeLinear`, `DynamicQuantizeLinear`, `FakeQuantize`), and by the constants of nodes
    /// that both models have. Tensors of both models correspond by name, or else by the node that
    /// computes them from tensors that correspond.
    ///
    /// ```
    /// use gradus::Model;
    /// let model = Model::open("../../examples/scores.onnx")?;
    /// let quantized = Model::open("../../examples/scores.int8.onnx")?;
    /// let found = model.quantization(&quantized, &Default::default())?;
    /// let worst = &found.tensors[0];
    /// assert_eq!(worst.name, "hidden");
    /// assert!(worst.clipped.is_some_and(|count| count > 0));
    /// # Ok::<(), gradus::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Model::check`]; [`Kind::Graph`] if nothing in the other model is quantized.
    pub fn quantization(&self, other: &Model, options: &CheckOptions) -> Result<Quantization> {
        let (first, second) = (self.with_given(&options.sizes)?, other.with_given(&options.sizes)?);
        let pairing = Pairing::of(&first, &second)?;
        let (before, after) = (first.program(&pairing.names(0))?, second.program(&pairing.names(1))?);
        let losses = Rc::new(RefCell::new(Losses::of(&second, &pairing)));
        let runs = (0..options.runs).map(|_| PlannedRun::plain(SizeChoice::Between(SIZES)));
        let schedule = Schedule::of(runs.collect(), TimeBudget::UNLIMITED);
        let mut of_first = |inputs: &NamedValues| {
            let values = run(&before, inputs)?;
            losses.borrow_mut().before.clone_from(&values);
            Ok(values)
        };
        let mut of_second = |inputs: &NamedValues, _: &[&str]| {
            let outputs = after.run_replaced(inputs.iter().cloned(), losses.clone())?;
            let values = outputs.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
            losses.borrow_mut().compare(&pairing, &values);
            Ok(Some(values))
        };
        let given = (&options.sizes, options.seed);
        let compared = first.compare_all(&second, given, schedule, &mut of_first, &mut of_second)?;
        if let Some(error) = compared.failed {
            return Err(error);
        }
        let tensors = losses.borrow_mut().take(&pairing);
        if tensors.iter().all(|tensor| tensor.kind == TensorKind::Output) {
            let message =
                "cannot compare: no tensor of the second model is quantized and dequantized by nodes";
            return Err(Error::new(Kind::Graph, message));
        }
        Ok(Quantization { runs: compared.runs, tensors })
    }
}

/// The losses of a quantized model, as it runs.
#[derive(Debug)]
struct Losses {
    standard: Standard,
    nodes: Vec<Node>,
    /// Values of the first model by name, in the run that is compared.
    before: HashMap<String, Value>,
    /// The names in the first model of what is quantized, by the slot of its codes or numbers.
    names: HashMap<usize, String>,
    /// By slot of codes: a tensor, and the codes of it and of both infinities.
    quantized: HashMap<usize, (Value, [Value; 3])>,
    /// Losses of activations by the slot of their codes, or of their numbers, in order.
    own: BTreeMap<usize, TensorLoss>,
    /// Losses next to the first model, in the order of the pairs.
    whole: Vec<Option<Loss>>,
}

impl Losses {
    fn of(model: &Model, pairing: &Pairing) -> Losses {
        Losses {
            standard: model.source().standard,
            nodes: model.graph().nodes().to_vec(),
            before: HashMap::new(),
            names: pairing.pairs.iter().map(|pair| (pair.slot, pair.names[0].clone())).collect(),
            quantized: HashMap::new(),
            own: BTreeMap::new(),
            whole: vec![None; pairing.pairs.len()],
        }
    }

    /// Adds the differences of a run next to the first model.
    fn compare(&mut self, pairing: &Pairing, after: &HashMap<String, Value>) {
        for (pair, loss) in pairing.pairs.iter().zip(&mut self.whole) {
            if let (Some(before), Some(after)) = (self.before.get(&pair.names[0]), after.get(&pair.names[1]))
            {
                lose(loss, before, after);
            }
        }
    }

    /// All losses, the largest of their own first.
    fn take(&mut self, pairing: &Pairing) -> Vec<TensorLoss> {
        let whole = std::mem::take(&mut self.whole);
        let paired = pairing.pairs.iter().zip(whole).filter_map(|(pair, whole)| {
            let name = pair.names[0].clone();
            let none =
                TensorLoss { name, kind: pair.kind, codes: pair.codes, clipped: None, own: None, whole };
            match pair.kind {
                TensorKind::Output => Some(none),
                TensorKind::Weight => whole
                    .is_some_and(|loss| pair.codes.is_some() || loss.noise > 0.0)
                    .then_some(TensorLoss { own: whole, whole: None, ..none }),
                TensorKind::Activation => {
                    self.own.remove(&pair.slot).map(|own| TensorLoss { name: none.name, whole, ..own })
                }
            }
        });
        let mut tensors: Vec<_> = paired.collect();
        tensors.extend(std::mem::take(&mut self.own).into_values());
        let rank = |tensor: &TensorLoss| tensor.own.map_or(f64::NAN, |loss| loss.decibels());
        tensors.shared_sort_by(|a, b| rank(a).total_cmp(&rank(b)));
        tensors
    }

    /// Quantizes the tensor of the first model as a node quantizes that of the second.
    fn quantize(&mut self, done: &NodeDone<'_>) -> Result<()> {
        let (Some(Some(given)), Some(Some(slot))) = (done.inputs.first(), done.slots.first()) else {
            return Ok(());
        };
        let own = self.names.get(slot).and_then(|name| self.before.get(name));
        let is_alike = |own: &&Value| type_of(own) == type_of(given);
        let source = own.filter(is_alike).unwrap_or(given).clone();
        let found = eval(done, &source)?;
        if let [codes, scale, zero] = &found[..] {
            let numbers = numbers_of([codes, scale, zero])?;
            self.add(done, *slot, (&source, codes.dtype()), [Some(&numbers), None, None]);
            return Ok(());
        }
        let end = |end| first(eval(done, &filled(&source, end)?)?);
        let results = [first(found)?, end(f64::NEG_INFINITY)?, end(f64::INFINITY)?];
        if results[0].dtype() == source.dtype() {
            self.add(done, *slot, (&source, None), results.each_ref().map(Some));
        } else {
            self.quantized.insert(*slot, (source, results));
        }
        Ok(())
    }

    /// Dequantizes what the first node that reads codes makes of them.
    fn dequantize(&mut self, done: &NodeDone<'_>) -> Result<()> {
        let codes = self.nodes[done.index].inputs.first().copied().flatten();
        let Some(slot) = codes.map(ValueId::index) else { return Ok(()) };
        let Some((source, codes)) = self.quantized.remove(&slot) else { return Ok(()) };
        let [result, low, high] = codes.each_ref().map(|codes| first(eval(done, codes)?));
        self.add(done, slot, (&source, codes[0].dtype()), [Some(&result?), Some(&low?), Some(&high?)]);
        Ok(())
    }

    /// Adds the loss of an activation in a run: what became of it, and of both infinities.
    fn add(
        &mut self,
        done: &NodeDone<'_>,
        slot: usize,
        (source, codes): (&Value, Option<DType>),
        [result, low, high]: [Option<&Value>; 3],
    ) {
        let new = || TensorLoss {
            name: done.label.to_owned(),
            kind: TensorKind::Activation,
            codes,
            clipped: low.map(|_| 0),
            own: None,
            whole: None,
        };
        let loss = self.own.entry(slot).or_insert_with(new);
        if let Some(result) = result {
            lose(&mut loss.own, source, result);
        }
        let [all, low, high] = [Some(source), low, high].map(|value| numbers(value?));
        if let (Some(clipped), Some(all), Some(low), Some(high)) = (&mut loss.clipped, all, low, high) {
            let beyond = all.iter().zip(low.iter().zip(&high)).filter(|(x, (low, high))| x < low || x > high);
            *clipped += u64_of(beyond.count());
        }
    }
}

impl Replaces for Losses {
    fn replace(&mut self, done: &NodeDone<'_>, computed: Vec<Option<Value>>) -> Result<Vec<Option<Value>>> {
        match row_of(self.standard, &self.nodes[done.index]).map(|row| row.role) {
            Some(Role::Quantize) => self.quantize(done)?,
            Some(Role::Dequantize) => self.dequantize(done)?,
            _ => {}
        }
        Ok(computed)
    }
}

/// A tensor of one number in the type and the shape of another.
fn filled(like: &Value, number: f64) -> Result<Value> {
    let tensor = like.tensor()?;
    let all = std::iter::repeat_n(Number::Float(number), tensor.len());
    Ok(Tensor::from_numbers(tensor.dtype(), tensor.shape().clone(), all, Rules::IEEE)?.into())
}

/// The results of a node for another first input.
fn eval(done: &NodeDone<'_>, first: &Value) -> Result<Vec<Value>> {
    let mut inputs: Vec<_> = done.inputs.iter().map(Option::as_ref).collect();
    inputs[0] = Some(first);
    done.eval(&inputs)
}

fn first(results: Vec<Value>) -> Result<Value> {
    results.into_iter().next().ok_or_else(|| Error::new(Kind::Graph, "the node has no result"))
}

/// The numbers that codes of one scale and zero point stand for.
fn numbers_of([codes, scale, zero]: [&Value; 3]) -> Result<Value> {
    let number = |value: &Value| numbers(value).and_then(|all| all.first().copied()).unwrap_or(f64::NAN);
    let (scale, zero) = (number(scale), number(zero));
    let all = numbers(codes).unwrap_or_default().into_iter().map(|code| (code - zero) * scale);
    Ok(Tensor::from_vec::<f64>(codes.tensor()?.shape().clone(), all.collect())?.into())
}
