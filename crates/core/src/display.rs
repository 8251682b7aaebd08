//! Tensors for people: the first and last elements of each axis, nested in brackets.

use crate::convert::product;
use crate::tensor::Tensor;
use crate::text;

/// Tensors of more elements than this are elided.
const FULL: usize = 64;

/// The elements in nested brackets; of a large tensor, the first and last `edge` along each axis.
/// Without elements, however many rows without any there are: `[]`.
pub fn elided(tensor: &Tensor, edge: usize) -> String {
    if tensor.is_empty() {
        return "[]".to_owned();
    }
    let edge = if tensor.len() > FULL { edge.max(1) } else { usize::MAX / 2 };
    let mut out = String::new();
    write_axis(tensor, edge, 0, 0, &mut out);
    out
}

fn write_axis(tensor: &Tensor, edge: usize, axis: usize, start: usize, out: &mut String) {
    let dims = tensor.shape().dims();
    let Some(&size) = dims.get(axis) else {
        out.push_str(&element(tensor, start));
        return;
    };
    let inner: usize = dims[axis + 1..].iter().product();
    let separator =
        if axis + 1 == dims.len() { ", ".to_owned() } else { format!(",\n{}", " ".repeat(axis + 1)) };
    out.push('[');
    for i in 0..size {
        if product(size, 1) > product(edge, 2) && i >= edge && i + edge < size {
            if i == edge {
                out.push_str(&separator);
                out.push_str("...");
            }
            continue;
        }
        if i > 0 {
            out.push_str(&separator);
        }
        write_axis(tensor, edge, axis + 1, start + i * inner, out);
    }
    out.push(']');
}

/// The text of one element; strings are quoted.
pub fn element(tensor: &Tensor, index: usize) -> String {
    match tensor.texts() {
        Ok(texts) => format!("{:?}", texts[index]),
        Err(_) => {
            tensor.number(index).map_or_else(|_| "?".into(), |number| text::shortest(number, tensor.dtype()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;

    #[test]
    fn small_tensors_are_whole_and_large_ones_elided() {
        let small = Tensor::from_vec(Shape::new([2, 3]).unwrap(), vec![1i32, 2, 3, 4, 5, 6]).unwrap();
        assert_eq!(elided(&small, 3), "[[1, 2, 3],\n [4, 5, 6]]");
        let large = Tensor::vector(&(0..1000).collect::<Vec<i32>>());
        assert_eq!(elided(&large, 3), "[0, 1, 2, ..., 997, 998, 999]");
        assert_eq!(elided(&Tensor::scalar(1.5f32), 3), "1.5");
        assert_eq!(
            elided(&Tensor::from_text(Shape::vector(1), vec!["a\"b".into()]).unwrap(), 3),
            "[\"a\\\"b\"]"
        );
        assert_eq!(elided(&Tensor::vector::<f32>(&[]), 3), "[]");
        let rows_of_nothing = Shape::new([1 << 62, 0]).unwrap();
        assert_eq!(elided(&Tensor::zeros(crate::DType::F32, rows_of_nothing).unwrap(), 3), "[]");
    }
}
