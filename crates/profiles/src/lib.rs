#![doc = include_str!("../README.md")]
//!
//! # Failures
//!
//! Unsafe behaviour is not imitated: where the program crashes, the prediction is a [`Failure`]
//! that says so. `docs/numerics.md` has the rules side by side. `crates/profiles/tests/profiles.rs`
//! compares them with the recorded results.

#![forbid(unsafe_code)]

mod call;
mod dask;
mod formula;
mod jax;
mod machine;
mod numpy;
mod octave;
mod onnx;
mod openvino;
mod paddle;
mod predicted;
mod space;
mod tensorflow;
mod tolerance;
mod torch;

use std::fmt;
use std::str::FromStr;

pub use call::{LinspaceCall, LogspaceCall, RangeCall};
pub use predicted::{Failure, FailureKind, Outcome, Predicted};
pub use tolerance::{Tolerance, distance};

use gradus_core::{Error, Kind, Number, Result};

use gradus_sequences::{Plan, RangePlan};

use openvino::Vectors;

/// Declares [`Profile`] and its names.
macro_rules! profiles {
    ($($(#[$doc:meta])* $variant:ident $name:literal $program:literal;)*) => {
        /// A program whose results are predicted.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
        pub enum Profile { $($(#[$doc])* $variant),* }

        impl Profile {
            /// All profiles.
            pub const ALL: &[Profile] = &[$(Profile::$variant),*];

            /// The name that is read and printed.
            pub const fn name(self) -> &'static str {
                match self { $(Profile::$variant => $name),* }
            }

            /// The program and the version that the rules were recorded from.
            pub const fn program(self) -> &'static str {
                match self { $(Profile::$variant => $program),* }
            }
        }
    };
}

profiles! {
    /// No program: the exact rules.
    #[default]
    Exact "exact" "Gradus";
    /// The body of the function that ONNX defines.
    OnnxBody "onnx-body" "the body of ONNX Range-27";
    /// The CPU kernels of ONNX Runtime.
    Onnxruntime "onnxruntime" "ONNX Runtime 1.32.0 (CPU)";
    /// The evaluation of OpenVINO's core, used by constant folding.
    Openvino "openvino" "OpenVINO 2026.4.1 (evaluate)";
    /// OpenVINO's CPU plugin on processors with AVX-512, with inputs at run time and one thread.
    OpenvinoCpu "openvino-cpu" "OpenVINO 2026.4.1 (CPU plugin, AVX-512, one thread)";
    /// OpenVINO's CPU plugin on processors without AVX-512.
    OpenvinoCpuAvx2 "openvino-cpu-avx2" "OpenVINO 2026.4.1 (CPU plugin, AVX2, one thread)";
    /// NumPy, of Python numbers.
    Numpy "numpy" "NumPy 2.4.6";
    /// Dask's arrays, of Python numbers, in one chunk.
    Dask "dask" "Dask 2026.8.0";
    /// `PyTorch`, eager, with one thread.
    Torch "torch" "PyTorch 2.15.0 (CPU, AVX2, one thread)";
    /// `TensorFlow`, eager.
    Tensorflow "tensorflow" "TensorFlow 2.21.0 (CPU)";
    /// Paddle, dygraph.
    Paddle "paddle" "Paddle 3.3.1 (CPU)";
    /// JAX with 64-bit types.
    Jax "jax" "JAX 0.10.2 (CPU, x64)";
    /// GNU Octave, of numbers of the type.
    Octave "octave" "GNU Octave 7.3.0";
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Profile {
    type Err = Error;

    /// Reads a profile by its name.
    ///
    /// # Errors
    /// [`Kind::Usage`], with the list of the known profiles.
    fn from_str(text: &str) -> Result<Profile> {
        Profile::ALL.iter().copied().find(|profile| profile.name() == text).ok_or_else(|| {
            let known: Vec<_> = Profile::ALL.iter().map(|profile| profile.name()).collect();
            Error::new(Kind::Usage, format!("\"{text}\" is not a profile; known are {}", known.join(", ")))
        })
    }
}

/// Predicts a range.
///
/// # Errors
/// [`Failure`] where the program returns nothing.
///
/// ```
/// use gradus_core::{DType, Number};
/// use gradus_profiles::{Profile, RangeCall, range};
/// use gradus_sequences::Plan;
/// let call = RangeCall::new([1.0, 1.3, 0.1].map(Number::Float), DType::F64, DType::F64)?;
/// assert_eq!(range(Profile::Numpy, &call)?.len(), 4);
/// let predicted = range(Profile::OnnxBody, &call)?;
/// assert_eq!(predicted.len(), 3);
/// assert_eq!(predicted.length_rule(), "counts in float32, whatever the type");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn range(profile: Profile, call: &RangeCall) -> Outcome {
    let call = &call.taken_by(profile);
    if profile != Profile::Exact {
        call.check_types()?;
    }
    match profile {
        Profile::Exact => exact_range(call),
        Profile::OnnxBody => onnx::body(call),
        Profile::Onnxruntime => onnx::runtime(call),
        Profile::Openvino => openvino::evaluate(call),
        Profile::OpenvinoCpu => openvino::cpu(call, Vectors::Avx512),
        Profile::OpenvinoCpuAvx2 => openvino::cpu(call, Vectors::Avx2),
        Profile::Numpy => numpy::range(call),
        Profile::Dask => dask::range(call),
        Profile::Torch => torch::range(call),
        Profile::Tensorflow => tensorflow::range(call),
        Profile::Paddle => paddle::range(call),
        Profile::Jax => jax::range(call),
        Profile::Octave => octave::range(call),
    }
}

/// Predicts a linspace. [`Profile::Exact`] predicts no program and so fails: a plan has the exact
/// sequence.
///
/// # Errors
/// [`Failure`] where the program returns nothing, or has no linspace.
///
/// ```
/// use gradus_core::{DType, Number};
/// use gradus_profiles::{LinspaceCall, Profile, linspace};
/// use gradus_sequences::Plan;
/// let ends = [-1.0, 0.0].map(Number::Float);
/// let dtype = DType::I32;
/// let call = LinspaceCall { start: ends[0], stop: ends[1], num: 4, endpoint: true, dtype };
/// assert_eq!(linspace(Profile::Numpy, &call)?.at(1), Number::Int(-1));
/// assert_eq!(linspace(Profile::Torch, &call)?.at(1), Number::Int(0));
/// # Ok::<(), gradus_profiles::Failure>(())
/// ```
pub fn linspace(profile: Profile, call: &LinspaceCall) -> Outcome {
    match profile {
        Profile::Numpy => numpy::linspace(call),
        Profile::Dask => dask::linspace(call),
        Profile::Torch => torch::linspace(call),
        Profile::Tensorflow => tensorflow::linspace(call),
        Profile::Paddle => paddle::linspace(call),
        Profile::Jax => jax::linspace(call),
        Profile::Octave => octave::linspace(call),
        _ => Err(none(profile, "linspace")),
    }
}

/// Predicts a logspace, within the tolerance that the prediction states. [`Profile::Exact`]
/// predicts no program and so fails: a plan has the exact sequence.
///
/// # Errors
/// [`Failure`] where the program returns nothing, or has no logspace.
pub fn logspace(profile: Profile, call: &LogspaceCall) -> Outcome {
    match profile {
        Profile::Numpy => numpy::logspace(call),
        Profile::Torch => torch::logspace(call),
        Profile::Paddle => paddle::logspace(call),
        Profile::Jax => jax::logspace(call),
        Profile::Octave => octave::logspace(call),
        _ => Err(none(profile, "logspace")),
    }
}

/// Predicts a geomspace, within the tolerance that the prediction states. [`Profile::Exact`]
/// predicts no program and so fails: a plan has the exact sequence.
///
/// # Errors
/// [`Failure`] where the program returns nothing, or has no geomspace.
pub fn geomspace(profile: Profile, call: &LinspaceCall) -> Outcome {
    match profile {
        Profile::Numpy => numpy::geomspace(call),
        Profile::Jax => jax::geomspace(call),
        _ => Err(none(profile, "geomspace")),
    }
}

fn none(profile: Profile, function: &str) -> Failure {
    Failure::absent(format!("{} has no {function}", profile.program()))
}

fn exact_range(call: &RangeCall) -> Outcome {
    let plan = RangePlan::new(call.start, call.stop, call.step, call.dtype)
        .map_err(|error| Failure::refused(error.to_string()))?;
    let rules = ["exact, of differences and quotients rounded to 53 bits", "exact, rounded once"];
    Ok(Predicted::new(call.dtype, plan.len(), plan, rules))
}

impl formula::Formula for RangePlan {
    fn at(&self, i: u64) -> Number {
        Plan::at(self, i)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_others_are_refused() {
        for &profile in Profile::ALL {
            assert_eq!(profile.to_string().parse::<Profile>().unwrap(), profile);
        }
        assert_eq!(
            "pytorch".parse::<Profile>().unwrap_err().message(),
            "\"pytorch\" is not a profile; known are exact, onnx-body, onnxruntime, openvino, openvino-cpu, \
             openvino-cpu-avx2, numpy, dask, torch, tensorflow, paddle, jax, octave"
        );
    }
}
