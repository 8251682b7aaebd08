//! Complex numbers as pairs: reals with a last axis of both parts, which ONNX computes with.
//!
//! A graph that a node is lowered to names the values that are pairs by the type that it declares:
//! an input of complex numbers whose declared type is real is given as pairs, and an output whose
//! declared type is complex is joined from them.

use gradus_core::graph::{Graph, Type, ValueId};
use gradus_core::{DType, Result, Shape, Tensor, Value};

use crate::dim::Dim;
use crate::fact::{Fact, TensorFact};
use crate::operators::errors;

/// The type of the parts of complex numbers of a type.
pub fn part_of(dtype: DType) -> Option<DType> {
    match dtype {
        DType::C64 => Some(DType::F32),
        DType::C128 => Some(DType::F64),
        _ => None,
    }
}

/// The type of the complex numbers whose parts have a type.
pub fn complex_of(dtype: DType) -> Result<DType> {
    match dtype {
        DType::F32 => Ok(DType::C64),
        DType::F64 => Ok(DType::C128),
        dtype => Err(errors::dtype(dtype, "float32 or float64")),
    }
}

fn declared(graph: &Graph, id: ValueId) -> Option<DType> {
    match graph.value(id).declared {
        Some(Type::Tensor(dtype, _)) => dtype,
        _ => None,
    }
}

/// Describes for each input of a graph if complex numbers are given to it as pairs.
pub fn taken(graph: &Graph) -> Vec<bool> {
    let is_taken = |&id: &ValueId| declared(graph, id).is_some_and(|dtype| !dtype.is_complex());
    graph.inputs().iter().map(is_taken).collect()
}

/// Describes for each output of a graph if it is the pairs of complex numbers.
pub fn given(graph: &Graph) -> Vec<bool> {
    graph.outputs().iter().map(|&id| declared(graph, id).is_some_and(DType::is_complex)).collect()
}

/// A complex tensor as pairs of floats along a new last axis; other values unchanged.
pub fn split(value: &Value) -> Result<Value> {
    let Value::Tensor(tensor) = value else { return Ok(value.clone()) };
    let (Some(part), Some(bytes)) = (part_of(tensor.dtype()), tensor.bytes()) else {
        return Ok(value.clone());
    };
    let shape = Shape::new([tensor.shape().dims(), &[2]].concat())?;
    Ok(Tensor::from_bytes(part, shape, bytes.clone())?.into())
}

/// Pairs of floats as complex numbers: the inverse of [`split`]; other values unchanged.
pub fn joined(value: &Value) -> Result<Value> {
    let tensor = value.tensor()?;
    let (dtype, dims) = (complex_of(tensor.dtype())?, tensor.shape().dims());
    let (Some((2, dims)), Some(bytes)) = (dims.split_last(), tensor.bytes()) else {
        return Err(errors::shape("size of the axis of the parts", tensor.shape(), 2));
    };
    Ok(Tensor::from_bytes(dtype, Shape::new(dims.to_vec())?, bytes.clone())?.into())
}

/// The fact about the pairs.
pub fn split_fact(fact: &Fact) -> Fact {
    let Some(tensor) = fact.as_tensor() else { return fact.clone() };
    let Some(part) = tensor.dtype.and_then(part_of) else { return fact.clone() };
    let dims = tensor.dims.as_ref().map(|dims| dims.iter().copied().chain([Dim::Known(2)]).collect());
    Fact::Tensor(TensorFact::new(Some(part), dims))
}

/// The fact about the complex numbers.
pub fn joined_fact(fact: &Fact) -> Fact {
    let Some(tensor) = fact.as_tensor() else { return fact.clone() };
    let dtype = tensor.dtype.and_then(|dtype| complex_of(dtype).ok());
    let dims = tensor.dims.as_ref().and_then(|dims| Some(dims.split_last()?.1.into()));
    Fact::Tensor(TensorFact::new(dtype, dims))
}
