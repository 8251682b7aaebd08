//! The difference that folding makes to floats, measured by runs of both models.

use gradus_core::convert::nearest_f64;
use gradus_core::graph::Type;
use gradus_core::{Error, Kind, Number, Result, Tensor, Value};
use gradus_profiles::distance;

use super::verify::binding;
use crate::convert::Rules;
use crate::fact::Fact;
use crate::infer::InferOptions;
use crate::model::Model;
use crate::program::RunOptions;
use crate::run::Outputs;

/// The largest differences between the outputs of two models.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Measured {
    /// Elements that were compared.
    pub elements: u64,
    /// In units in the last place.
    pub ulps: u64,
    /// As a part of the largest element of the output.
    pub relative: f64,
}

/// Most tries of a binding: one may contradict what the model needs.
const MOST_TRIES: usize = 8;

impl Model {
    /// Runs this model and what it was folded to on random inputs, and compares the outputs.
    ///
    /// # Errors
    /// What is wrong with the last run; [`Kind::Graph`] if outputs differ in type, shape or
    /// integers.
    pub fn measure(&self, folded: &Model, given: &InferOptions, seed: u64) -> Result<Measured> {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut failed = None;
        for tried in 0..MOST_TRIES {
            let options = binding(self.graph(), given, &mut random, (1, tried));
            let inputs = self.random_inputs(&options, &mut random)?;
            let run = |model: &Model| {
                model
                    .compile(&[], &RunOptions::default())?
                    .run(inputs.iter().map(|(name, tensor)| (name, tensor.clone())))
            };
            match run(self) {
                Ok(before) => return compared(&before, &run(folded)?),
                Err(error) => failed = Some(error),
            }
        }
        Err(failed.unwrap_or_else(|| Error::new(Kind::Graph, "cannot measure: the model has no run")))
    }

    /// Random elements for each input: floats of -1 to 1, integers 0 and 1.
    fn random_inputs(
        &self,
        options: &InferOptions,
        random: &mut fastrand::Rng,
    ) -> Result<Vec<(String, Tensor)>> {
        let inference = self.infer(options)?;
        let graph = self.graph();
        let ids = graph.inputs().iter().filter(|id| graph.constant(**id).is_none());
        let tensor = |&id| {
            let info = graph.value(id);
            let fact = Fact::as_tensor(inference.fact(id));
            let known = fact.and_then(|fact| Some((fact.dtype?, fact.shape()?)));
            let (dtype, shape) = known.ok_or_else(|| {
                let declared = info.declared.as_ref().map_or_else(|| "unknown".to_owned(), Type::to_string);
                let what = format_args!("cannot measure: input \"{}\"", info.name);
                Error::mismatch(Kind::Unsupported, what, declared, "a tensor of known rank")
            })?;
            let number = |_| {
                if dtype.is_float() {
                    Number::Float(2.0 * random.f64() - 1.0)
                } else {
                    Number::Int(random.u8(0..2).into())
                }
            };
            let numbers: Vec<_> = (0..shape.len()).map(number).collect();
            Ok((info.name.to_string(), Tensor::from_numbers(dtype, shape, numbers, Rules::IEEE)?))
        };
        ids.map(tensor).collect()
    }
}

fn compared(before: &Outputs, after: &Outputs) -> Result<Measured> {
    let mut measured = Measured::default();
    for ((name, before), (_, after)) in before.iter().zip(after.iter()) {
        let (Value::Tensor(before), Value::Tensor(after)) = (before, after) else { continue };
        let dtype = before.dtype();
        let differ = || Error::new(Kind::Graph, format!("output \"{name}\" differs after folding"));
        if dtype != after.dtype() || before.shape() != after.shape() {
            return Err(differ());
        }
        if !dtype.is_float() {
            if before.bytes() != after.bytes() {
                return Err(differ());
            }
            continue;
        }
        let (mut largest, mut difference) = (0f64, 0f64);
        for (a, b) in before.numbers()?.zip(after.numbers()?) {
            measured.elements += 1;
            let (x, y) = (nearest_f64(a), nearest_f64(b));
            if x.is_nan() && y.is_nan() {
                continue;
            }
            measured.ulps = measured.ulps.max(distance(dtype, a, b).unwrap_or(u64::MAX));
            largest = largest.max(x.abs());
            difference = difference.max(if x == y { 0.0 } else { (x - y).abs() });
        }
        if difference > 0.0 {
            measured.relative = measured.relative.max(difference / largest);
        }
    }
    Ok(measured)
}
