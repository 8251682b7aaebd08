//! Random inputs of a model.

use std::ops::Range;

use gradus_core::convert::usize_of_i64;
use gradus_core::graph::{Type, ValueId};
use gradus_core::{DType, Error, Kind, Number, Result, Shape, Tensor, Value};

use super::Inputs;
use super::plan::{Draw, PlannedRun, Sizes, binding};
use crate::convert::Rules;
use crate::fact::{Fact, TensorFact};
use crate::infer::{InferOptions, Inference, InputFact};
use crate::model::Model;

/// Floats in every third run: zeros, ones, and numbers whose products overflow and underflow.
const EXTREME: [f64; 8] = [0.0, -0.0, 1.0, -1.0, 3e4, -3e4, 1e-5, -1e-5];

/// Most elements of all inputs under a binding of any sizes; with more, sizes are small.
const MOST_ELEMENTS: usize = 1 << 18;

/// Small sizes.
const FEW: Range<i64> = 1..4;

impl Model {
    /// Values for all inputs, those that are given among them, under a binding of the dimensions:
    /// floats of -1 to 1 or extreme ones, integers 0 and 1. Nothing if the binding does not meet
    /// what is assumed.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] if the type of an input is not known.
    pub(crate) fn random_inputs(
        &self,
        given: &InferOptions,
        random: &mut fastrand::Rng,
        planned: &PlannedRun,
        tried: usize,
    ) -> Result<Option<Inputs>> {
        let graph = self.graph();
        let ids = graph.inputs().iter().filter(|id| graph.constant(**id).is_none());
        let facts = |random: &mut fastrand::Rng, sizes| {
            let options = binding(graph, given, &mut Draw { sizes, tried, random });
            options.map(|options| self.infer(&options)).transpose()
        };
        let elements = |inference: &Inference| {
            let shape = |id: &ValueId| Fact::as_tensor(inference.fact(*id)).and_then(TensorFact::shape);
            ids.clone().filter_map(shape).map(|shape| shape.len()).fold(0, usize::saturating_add)
        };
        let Some(mut inference) = facts(random, planned.sizes.clone())? else { return Ok(None) };
        if elements(&inference) > MOST_ELEMENTS {
            let Some(smaller) = facts(random, Sizes::Between(FEW))? else { return Ok(None) };
            inference = smaller;
        }
        let value = |&id| {
            let info = graph.value(id);
            if let Some(InputFact::Value(value)) = given.inputs.get(&*info.name) {
                return Ok((info.name.to_string(), value.clone()));
            }
            let value = of_fact(inference.fact(id), random, planned.extreme)?.ok_or_else(|| {
                let declared = info.declared.as_ref().map_or_else(|| "unknown".to_owned(), Type::to_string);
                let what = format_args!("cannot make input \"{}\": its type", info.name);
                Error::mismatch(Kind::Unsupported, what, declared, "a tensor of known rank")
            })?;
            Ok((info.name.to_string(), value))
        };
        ids.map(value).collect::<Result<_>>().map(Some)
    }
}

/// A value of what is known: tensors of known shapes; sequences of items of one shape, whose open
/// sizes are small; optionals that have a value. Nothing if an element type or a rank is not known.
fn of_fact(fact: &Fact, random: &mut fastrand::Rng, extreme: bool) -> Result<Option<Value>> {
    match fact {
        Fact::Tensor(fact) => match (fact.dtype, fact.shape()) {
            (Some(dtype), Some(shape)) => tensor(dtype, shape, random, extreme).map(Some),
            _ => Ok(None),
        },
        Fact::Sequence(sequence) => {
            let Some(each) = sequence.each.as_tensor() else { return Ok(None) };
            let (Some(dtype), Some(dims)) = (each.dtype, &each.dims) else { return Ok(None) };
            let sizes = dims.iter().map(|dim| dim.known().unwrap_or_else(|| random.i64(FEW)));
            let shape = Shape::new(sizes.filter_map(usize_of_i64).collect::<Vec<_>>())?;
            let len = sequence.len.known().unwrap_or_else(|| random.i64(FEW));
            let items = (0..len).map(|_| tensor(dtype, shape.clone(), random, extreme));
            Ok(Some(Value::Sequence(items.collect::<Result<_>>()?)))
        }
        Fact::Optional(optional) if optional.present == Some(false) => Ok(Some(Value::Optional(None))),
        Fact::Optional(optional) => {
            let value = of_fact(&optional.value, random, extreme)?;
            Ok(value.map(|value| Value::Optional(Some(Box::new(value)))))
        }
        _ => Ok(None),
    }
}

fn tensor(dtype: DType, shape: Shape, random: &mut fastrand::Rng, extreme: bool) -> Result<Value> {
    if dtype == DType::String {
        let texts = (0..shape.len()).map(|_| random.alphanumeric().to_string().into());
        return Ok(Tensor::from_text(shape, texts.collect())?.into());
    }
    let number = |_| match (dtype.is_float() || dtype.is_complex(), extreme) {
        (true, true) => Number::Float(EXTREME[random.usize(..EXTREME.len())]),
        (true, false) => Number::Float(2.0 * random.f64() - 1.0),
        (false, _) => Number::Int(random.u8(0..2).into()),
    };
    let numbers: Vec<_> = (0..shape.len()).map(number).collect();
    Ok(Tensor::from_numbers(dtype, shape, numbers, Rules::IEEE)?.into())
}
