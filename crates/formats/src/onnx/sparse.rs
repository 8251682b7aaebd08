//! `SparseTensorProto`: tensors of which only some elements are stored; the others are zero, or
//! empty text.

use std::sync::Arc;

use gradus_core::convert::{product, usize_of_i64};
use gradus_core::graph::{Constant, Stored};
use gradus_core::tensor::byte_len;
use gradus_core::{Error, Kind, Limits, Result, Shape, Tensor};

use super::fields::sparse_tensor_proto;
use super::model::ModelReader;
use super::tensor;
use crate::wire::ByteSpan;

/// Reads `SparseTensorProto`: the name of its values, and its constant, which will be dense.
pub(super) fn read<'a>(reader: &ModelReader, span: ByteSpan<'a>) -> Result<(&'a str, Constant)> {
    let (mut values, mut indices, mut dims) = (None, None, Vec::new());
    for field in span.fields() {
        let field = field?;
        match field.number {
            sparse_tensor_proto::VALUES => values = Some(tensor::read(reader, field.span()?)?),
            sparse_tensor_proto::INDICES => indices = Some(tensor::read(reader, field.span()?)?.1),
            sparse_tensor_proto::DIMS => field.push_ints(&mut dims)?,
            _ => {}
        }
    }
    let (Some((name, values)), Some(indices)) = (values, indices) else {
        return Err(span.error(Kind::Syntax, "a sparse tensor lacks values or indices"));
    };
    let shape = Shape::from_i64(&dims).map_err(|error| error.at(span.position()))?;
    let dtype = values.dtype();
    let sparse =
        Sparse { name: name.to_owned(), shape: shape.clone(), values, indices, limits: reader.limits };
    Ok((name, Constant::stored(dtype, shape, Arc::new(sparse))))
}

#[derive(Debug)]
struct Sparse {
    name: String,
    shape: Shape,
    values: Constant,
    indices: Constant,
    limits: Limits,
}

impl Stored for Sparse {
    fn load(&self) -> Result<Tensor> {
        self.dense().map_err(|error| error.in_node(format!("sparse tensor \"{}\"", self.name)))
    }
}

impl Sparse {
    fn dense(&self) -> Result<Tensor> {
        let values = self.values.tensor()?;
        let places = self.places(&values)?;
        let (dtype, len) = (values.dtype(), self.shape.len());
        if let Ok(texts) = values.texts() {
            self.limits.allow_bytes(0, product(len, size_of::<Box<str>>()))?;
            return Tensor::from_text(self.shape.clone(), scattered(len, &places, 1, texts));
        }
        self.limits.allow_bytes(0, byte_len(dtype, &self.shape).max(product(len, 1)))?;
        if dtype.is_packed() {
            let codes = scattered(len, &places, 1, &values.codes()?);
            return Tensor::from_codes(dtype, self.shape.clone(), &codes);
        }
        let bytes = values.bytes().cloned().unwrap_or_default();
        let bytes = scattered(len, &places, dtype.bits() / 8, &bytes);
        Tensor::from_bytes(dtype, self.shape.clone(), bytes.into())
    }

    /// The flat index of each value, in row-major order. A file has flat indices, or coordinates.
    fn places(&self, values: &Tensor) -> Result<Vec<usize>> {
        let fail = |message: String| Error::new(Kind::Syntax, message);
        let indices = self.indices.tensor()?;
        let (sizes, strides) = match (indices.shape().dims(), values.shape().dims()) {
            (&[n], &[count]) if n == count => (vec![self.shape.len()], vec![1]),
            (&[n, rank], &[count]) if n == count && rank == self.shape.rank() => {
                (self.shape.dims().to_vec(), self.shape.strides())
            }
            _ => {
                let (values, indices) = (values.shape(), indices.shape());
                return Err(fail(format!(
                    "values of shape {values} do not go with indices of shape {indices}"
                )));
            }
        };
        let place = |coordinates: &[i64]| {
            let steps =
                coordinates.iter().zip(&sizes).zip(&strides).map(|((&coordinate, &size), &stride)| {
                    let index = usize_of_i64(coordinate).filter(|&index| index < size);
                    index
                        .map(|index| index * stride)
                        .ok_or_else(|| fail(format!("index {coordinate} is not below {size}")))
                });
            steps.sum::<Result<usize>>()
        };
        indices.elements::<i64>()?.chunks_exact(sizes.len().max(1)).map(place).collect()
    }
}

/// Elements of `width` items each at their places, defaults elsewhere.
fn scattered<T: Clone + Default>(len: usize, places: &[usize], width: usize, items: &[T]) -> Vec<T> {
    let mut dense = vec![T::default(); len * width];
    for (&place, item) in places.iter().zip(items.chunks_exact(width)) {
        if let Some(slot) = dense.get_mut(place * width..(place + 1) * width) {
            slot.clone_from_slice(item);
        }
    }
    dense
}
