//! Random inputs of a model.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

use gradus_core::convert::{low_u64, product, u64_of, usize_of_i64};
use gradus_core::graph::{Type, ValueId};
use gradus_core::tensor::byte_len;
use gradus_core::{DType, Error, Kind, Limits, Number, Result, Shape, Tensor, Value};

use super::NamedValues;
use super::accepted::Accepted;
use super::plan::{Draw, PlannedRun, SizeChoice, binding, label, open_names};
use crate::convert::Rules;
use crate::dim::{Bounds, Dim};
use crate::fact::{Elements, Fact, TensorFact, range_of};
use crate::model::Model;
use gradus_engine::infer::{Inference, InputFact, Sizes};

/// Floats in every third run: zeros, ones, and numbers whose products overflow and underflow.
const EXTREME: [f64; 8] = [0.0, -0.0, 1.0, -1.0, 3e4, -3e4, 1e-5, -1e-5];

/// Integers of more than 8 bits where they may be others than 0 and 1: counts of loops, and sizes of
/// what runs make, among them.
const NEAR: (i64, i64) = (-8, 8);

/// Maximum number of elements of all inputs under a binding of any sizes; with more, sizes are
/// small.
const MAX_ELEMENTS: usize = 1 << 18;

/// Small sizes.
const FEW: Range<i64> = 1..4;

impl Model {
    /// Values for all inputs, those that are given among them, under a binding of the dimensions:
    /// floats of -1 to 1 or extreme ones, integers 0 and 1, or wider ones, or what nodes look up or
    /// choose branches by; and the sizes in words. Nothing if the binding does not meet what is
    /// assumed.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] if the type of an input is not known; [`Kind::Limit`] if they take
    /// more than the limits allow.
    pub(crate) fn random_inputs(
        &self,
        given: &Sizes,
        random: &mut fastrand::Rng,
        (planned, tried, accepted): (&PlannedRun, usize, &Accepted),
        limits: Limits,
    ) -> Result<Option<(NamedValues, String)>> {
        let graph = self.graph();
        let ids = graph.inputs().iter().filter(|id| graph.constant(**id).is_none());
        let facts = |random: &mut fastrand::Rng, sizes| {
            let options = binding(graph, given, &mut Draw { sizes, accepted, tried, random });
            options.map(|options| Ok((self.infer(&options)?, options.sizes.dims))).transpose()
        };
        let elements = |inference: &Inference| {
            let shape = |id: &ValueId| Fact::as_tensor(inference.fact(*id)).and_then(TensorFact::shape);
            ids.clone().filter_map(shape).map(|shape| shape.len()).fold(0, usize::saturating_add)
        };
        let Some((mut inference, mut dims)) = facts(random, planned.sizes.clone())? else { return Ok(None) };
        if elements(&inference) > MAX_ELEMENTS {
            let Some(smaller) = facts(random, SizeChoice::Between(FEW))? else { return Ok(None) };
            (inference, dims) = smaller;
        }
        // Expressions of the sizes that were drawn may be no sizes.
        let is_negative = |id: &ValueId| {
            let dims = inference.fact(*id).as_tensor().and_then(|tensor| tensor.dims.as_ref());
            dims.is_some_and(|dims| dims.iter().any(|dim| dim.known().is_some_and(|size| size < 0)))
        };
        if ids.clone().any(is_negative) {
            return Ok(None);
        }
        let open = open_names(graph, given).into_iter();
        let open: Vec<_> = open.filter_map(|name| dims.get(&name).map(|&size| (name, size))).collect();
        let sizes = label(&planned.sizes, &open);
        let mut numbers = dims;
        accepted.draw_elements(random, &mut numbers, planned.wide);
        let PlannedRun { extreme, wide, .. } = *planned;
        let mut maker = Maker { random, extreme, wide, limits, bytes: 0 };
        let value = |&id| {
            let info = graph.value(id);
            if let Some(InputFact::Value(value)) = given.inputs.get(&*info.name) {
                return Ok((info.name.to_string(), value.clone()));
            }
            let fact = inference.fact(id);
            if let Some(value) = chosen(fact, &inference, &numbers) {
                return Ok((info.name.to_string(), value?));
            }
            let range = accepted.elements(&info.name, &numbers);
            let value = maker.of_fact(fact, range)?.ok_or_else(|| {
                let declared = info.declared.as_ref().map_or_else(|| "unknown".to_owned(), Type::to_string);
                let what = format_args!("cannot make input \"{}\": its type", info.name);
                Error::mismatch(Kind::Unsupported, what, declared, "a tensor of known rank")
            })?;
            Ok((info.name.to_string(), value))
        };
        ids.map(value).collect::<Result<_>>().map(|inputs| Some((inputs, sizes)))
    }

    /// Random values of the small inputs whose elements decide conditions, by name: such as a sample
    /// rate that chooses a branch. The conditions that inference found of them hold, as far as it
    /// knows the sizes.
    ///
    /// # Errors
    /// An error if a value is not one of the element type that the input declares.
    pub fn chosen_inputs(&self, inference: &Inference, seed: u64) -> Result<Vec<(String, Value)>> {
        let mut numbers = BTreeMap::new();
        Accepted::of(inference).draw_elements(&mut fastrand::Rng::with_seed(seed), &mut numbers, false);
        let of = |id: &ValueId| {
            let value = chosen(inference.fact(*id), inference, &numbers)?;
            Some(value.map(|value| (self.graph().value(*id).name.to_string(), value)))
        };
        self.graph().inputs().iter().filter_map(of).collect()
    }

    /// A small size from 1 on for each symbol of the inputs' shapes, such that the conditions hold
    /// that inference found; nothing if none are found.
    ///
    /// ```
    /// use gradus::Model;
    /// let model = Model::open("../../examples/heads.onnx")?;
    /// let sizes = model.small_sizes(&model.infer(&Default::default())?);
    /// assert_eq!(sizes.unwrap()["batch"], 1);
    /// # Ok::<(), gradus::Error>(())
    /// ```
    pub fn small_sizes(&self, inference: &Inference) -> Option<BTreeMap<String, i64>> {
        /// Sizes from which the search begins: windows and grids divide powers of two.
        const FIRST: [i64; 7] = [1, 2, 4, 8, 16, 32, 64];
        let facts = self.graph().inputs().iter().filter_map(|&id| inference.fact(id).as_tensor());
        let dims = facts.filter_map(|fact| fact.dims.as_ref()).flat_map(|dims| dims.iter().copied());
        let symbols = dims.flat_map(|dim| inference.symbols().symbols_of(dim));
        let mut accepted = Accepted::of(inference);
        let mut least = BTreeMap::new();
        for name in symbols.map(|symbol| symbol.name.to_string()) {
            if let Entry::Vacant(entry) = least.entry(name) {
                let bounds = accepted.bounds(entry.key()).unwrap_or(Bounds::ANY);
                let number = bounds.lower().unwrap_or(1).max(1);
                accepted.require(entry.key(), number);
                entry.insert(number);
            }
        }
        FIRST.into_iter().find_map(|first| {
            let mut numbers: BTreeMap<_, _> =
                least.iter().map(|(name, &least)| (name.clone(), least.max(first))).collect();
            if !accepted.meet(&mut numbers, &|_| true) {
                return None;
            }
            // Sizes that need not be more are as small as they can be.
            for (name, &least) in &least {
                let found = numbers.insert(name.clone(), least);
                if !accepted.meet(&mut numbers, &|_| false) {
                    numbers.extend(found.map(|found| (name.clone(), found)));
                }
            }
            Some(numbers)
        })
    }
}

/// The value of a small input whose elements decide conditions, where each has a number.
fn chosen(fact: &Fact, inference: &Inference, numbers: &BTreeMap<String, i64>) -> Option<Result<Value>> {
    let tensor = Fact::as_tensor(fact)?;
    let Elements::Integers(all) = &tensor.elements else { return None };
    let (dtype, shape, symbols) = (tensor.dtype?, tensor.shape()?, inference.symbols());
    let value = |&dim: &Dim| symbols.evaluate(dim, &|name| numbers.get(name).copied());
    let integers: Vec<_> = all.iter().map(value).collect::<Option<_>>()?;
    let integers = integers.into_iter().map(|number| Number::Int(number.into()));
    Some(Tensor::from_numbers(dtype, shape, integers, Rules::IEEE).map(Value::from))
}

/// Random values, which count against limits: sizes come from the file.
struct Maker<'a> {
    random: &'a mut fastrand::Rng,
    /// True for extreme floats.
    extreme: bool,
    /// True for integers besides 0 and 1.
    wide: bool,
    limits: Limits,
    /// The bytes of all tensors so far.
    bytes: u64,
}

impl Maker<'_> {
    /// A value of what is known: tensors of known shapes; sequences of items of one shape, whose
    /// open sizes are small; optionals that have a value. Nothing if an element type or a rank is
    /// not known.
    /// Integers of a tensor are in the range, if there is one.
    fn of_fact(&mut self, fact: &Fact, range: Option<(i64, i64)>) -> Result<Option<Value>> {
        match fact {
            Fact::Tensor(fact) => match (fact.dtype, fact.shape()) {
                (Some(dtype), Some(shape)) => self.tensor(dtype, shape, range).map(Some),
                _ => Ok(None),
            },
            Fact::Sequence(sequence) => {
                let Some(each) = sequence.each.as_tensor() else { return Ok(None) };
                let (Some(dtype), Some(dims)) = (each.dtype, &each.dims) else { return Ok(None) };
                let sizes = dims.iter().map(|dim| dim.known().unwrap_or_else(|| self.random.i64(FEW)));
                let shape = Shape::new(sizes.filter_map(usize_of_i64).collect::<Vec<_>>())?;
                let len = sequence.len.known().unwrap_or_else(|| self.random.i64(FEW));
                let items = (0..len).map(|_| self.tensor(dtype, shape.clone(), None));
                Ok(Some(Value::Sequence(items.collect::<Result<_>>()?)))
            }
            Fact::Optional(optional) if optional.present == Some(false) => Ok(Some(Value::Optional(None))),
            Fact::Optional(optional) => {
                let value = self.of_fact(&optional.value, range)?;
                Ok(value.map(|value| Value::Optional(Some(Box::new(value)))))
            }
            _ => Ok(None),
        }
    }

    fn tensor(&mut self, dtype: DType, shape: Shape, range: Option<(i64, i64)>) -> Result<Value> {
        /// Bytes of a tensor besides its elements, and of a text.
        const ROOM: usize = 64;
        let each = if dtype == DType::String { product(shape.len(), ROOM) } else { byte_len(dtype, &shape) };
        let range = range.zip(range_of(dtype)).and_then(|((min, max), (least, most))| {
            let (min, max) = (min.max(least), max.min(most));
            (min <= max).then_some((min, max))
        });
        self.limits.allow_bytes(self.bytes, each)?;
        self.bytes = self.bytes.saturating_add(low_u64(each)).saturating_add(u64_of(ROOM));
        let Maker { random, extreme, wide, limits, .. } = self;
        let wider = range_of(dtype).map(|(least, most)| {
            if dtype.bits() > 8 { (NEAR.0.max(least), NEAR.1.min(most)) } else { (least, most) }
        });
        let wider = wider.filter(|_| *wide);
        let texts = || random.alphanumeric().to_string().into();
        if dtype == DType::String {
            let texts = limits.collect(std::iter::repeat_with(texts).take(shape.len()))?;
            return Ok(Tensor::from_text(shape, texts)?.into());
        }
        let is_float = dtype.is_float() || dtype.is_complex();
        let number = || match (is_float, *extreme) {
            (true, true) => Number::Float(EXTREME[random.usize(..EXTREME.len())]),
            (true, false) => Number::Float(2.0 * random.f64() - 1.0),
            (false, _) => Number::Int(match range {
                // Each end is a quarter of the elements.
                Some((min, max)) => match random.u8(0..4) {
                    0 => min.into(),
                    1 => max.into(),
                    _ => random.i64(min..=max).into(),
                },
                None => match wider {
                    Some((least, most)) => random.i64(least..=most).into(),
                    None => random.u8(0..2).into(),
                },
            }),
        };
        // The numbers end with the time.
        let mut late = None;
        let numbers = limits.watched(std::iter::repeat_with(number).take(shape.len()));
        let numbers = numbers.map_while(|number| number.map_err(|error| late = Some(error)).ok());
        let made = Tensor::from_numbers(dtype, shape, numbers, Rules::IEEE);
        late.map_or_else(|| Ok(made?.into()), Err)
    }
}
