//! The arguments of `gradus cases`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::sizes::LimitArgs;

/// Make test cases of an operator of ONNX: hard inputs, and the exact outputs.
///
/// Each case is a model of one node in a folder of its own, in the layout of `onnx.backend.test`:
/// model.onnx, and `input_0.pb`, `output_0.pb`, … in `test_data_set_0`. Attributes, types and
/// shapes are random combinations that the operator takes; among plain numbers are NaN, infinities,
/// -0, subnormals, ties and the ends of integers, among sizes 0 and 1. Sums of floats are rounded
/// once. The seed decides all, so that the first cases are the same for any number of cases.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  gradus cases Softmax --count 1000 -o cases\n  gradus cases com.microsoft.FastGelu --count 20 --seed 7 -o cases"
)]
pub(crate) struct CasesArgs {
    /// The operator, of other domains than ONNX's own with its domain: ai.onnx.ml.Scaler.
    pub(crate) operator: String,

    /// The folder of the cases' folders, which are named `test_softmax_0000`, …
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,

    /// The number of cases.
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) count: usize,

    /// The seed of all that is random.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// The operator set of the models. [default: the first that has the newest version of the
    /// operator]
    #[arg(long, value_name = "N")]
    pub(crate) opset: Option<i64>,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}
