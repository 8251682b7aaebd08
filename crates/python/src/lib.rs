//! The module `gradus._native`: what the Python package takes from the engine. Its documentation is
//! the package's.

#![allow(clippy::needless_pass_by_value, reason = "what Python passes is taken by value")]
#![allow(clippy::doc_markdown, clippy::doc_link_with_quotes, reason = "these are docstrings of Python")]
#![allow(clippy::single_match_else, reason = "both arms are of one weight")]
#![allow(clippy::too_many_arguments, reason = "the parameters are those of functions of Python")]

mod arrow;
mod audit;
mod cases;
mod compare;
mod contract;
mod cost;
mod decide;
mod device;
mod dim;
mod dlpack;
mod dtype;
mod edit;
mod error;
mod facts;
mod functions;
mod given;
mod graph;
mod lint;
mod loading;
mod model;
mod number;
mod plan;
mod prove;
mod quantized;
mod runtime;
mod sequence;
mod signals;
mod spaces;
mod tensor;

use pyo3::pymodule;

#[pymodule(gil_used = false)]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::audit::_audit;
    #[pymodule_export]
    use super::cases::_cases;
    #[pymodule_export]
    use super::compare::{_compare, _refusal};
    #[pymodule_export]
    use super::contract::Contract;
    #[pymodule_export]
    use super::decide::_decide;
    #[pymodule_export]
    use super::device::{DeviceArray, devices};
    #[pymodule_export]
    use super::dim::Dim;
    #[pymodule_export]
    use super::error::_panic;
    #[pymodule_export]
    use super::functions::{
        arange, geomspace, linspace, logspace, plan_arange, plan_geomspace, plan_linspace, plan_logspace,
    };
    #[pymodule_export]
    use super::graph::{_dtype, _dtype_name, _evaluate, _onnx_type, GraphBuilder};
    #[pymodule_export]
    use super::lint::{_fix, _lint};
    #[pymodule_export]
    use super::loading::{_load, _load_files};
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::plan::{_plan, Plan};
    #[pymodule_export]
    use super::prove::{_prove, _verify_proof};
    #[pymodule_export]
    use super::quantized::_quantization;
    #[pymodule_export]
    use super::sequence::_forked;

    /// Runs the command `gradus`, and returns its exit status.
    #[pyfunction]
    fn _command(arguments: Vec<std::ffi::OsString>) -> u8 {
        gradus_cli::main(arguments, super::runtime::HOST)
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
