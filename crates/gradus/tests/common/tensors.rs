//! Tensors of counted numbers.

use gradus::{Shape, Tensor};

/// A tensor of these elements.
pub fn tensor<T: gradus::Element>(dims: &[usize], elements: &[T]) -> Tensor {
    Tensor::from_vec(Shape::new(dims).unwrap(), elements.to_vec()).unwrap()
}

/// The integers from 0 on.
pub fn counted(dims: &[usize]) -> Tensor {
    let len = dims.iter().product::<usize>();
    tensor(dims, &(0..i64::try_from(len).unwrap()).collect::<Vec<_>>())
}
