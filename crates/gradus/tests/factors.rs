//! Factors of matrices with orthogonal columns: `qr`, `svd` and `eigh` of Paddle.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::collections::HashMap;

use gradus::convert::{Rules, cast, nearest_f64};
use gradus::graph::{self, Builder, Content, DeclaredDim, Origin, Standard, Type};
use gradus::infer::InferOptions;
use gradus::{DType, Model, Shape, Tensor, Value};

/// A matrix or more, and their numbers.
type Numbers = (Vec<usize>, Vec<f64>);

/// Runs an operator on numbers of a type; the inferred shapes are those of its outputs.
fn run(
    operator: &str,
    attributes: Vec<(&str, Content)>,
    (dims, numbers): &Numbers,
    dtype: DType,
    outputs: usize,
) -> Vec<Numbers> {
    let mut builder = Builder::new("factors");
    let x = builder.define("x", Origin::Input).unwrap();
    let sizes = dims.iter().map(|&size| DeclaredDim::Known(size)).collect();
    builder.info(x).declared = Some(Type::Tensor(Some(dtype), Some(sizes)));
    let names: Vec<_> = (0..outputs).map(|output| format!("y{output}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    builder.apply("node", operator, gradus::formats::paddle::OPERATORS, &["x"], &names, attributes).unwrap();
    for name in &names {
        builder.output(name);
    }
    let mut source = graph::Model::new(Standard::Paddle);
    source.graph = builder.finish().unwrap();
    let model = Model::from_source(source);
    let tensor = Tensor::from_vec(Shape::new(&dims[..]).unwrap(), numbers.clone()).unwrap();
    let given = HashMap::from([("x".to_owned(), Value::from(cast(&tensor, dtype, Rules::IEEE).unwrap()))]);
    let inference = model.infer(&InferOptions::default()).unwrap();
    let results = model.run(&given).unwrap_or_else(|error| panic!("{operator}: {error}"));
    let read = |(name, value): (_, &Value)| {
        let tensor = value.tensor().unwrap();
        let fact = inference.describe(inference.fact(model.value(name).unwrap()));
        assert_eq!(fact, format!("{}{}", tensor.dtype(), tensor.shape()), "{operator}");
        (tensor.shape().dims().to_vec(), tensor.numbers().unwrap().map(nearest_f64).collect())
    };
    names.iter().map(|&name| read((name, &results[name]))).collect()
}

/// The products of matrices, the first transposed if it says so.
fn product(a: &Numbers, b: &Numbers, transposed: bool) -> Vec<f64> {
    let (&[rows, inner], &[_, columns]) = (&a.0[a.0.len() - 2..], &b.0[b.0.len() - 2..]) else { panic!() };
    let (rows, inner) = if transposed { (inner, rows) } else { (rows, inner) };
    let count = a.0[..a.0.len() - 2].iter().product::<usize>();
    let mut all = Vec::new();
    for matrix in 0..count {
        let (a, b) = (&a.1[matrix * rows * inner..], &b.1[matrix * inner * columns..]);
        for i in 0..rows {
            for j in 0..columns {
                let at = |k: usize| if transposed { a[k * rows + i] } else { a[i * inner + k] };
                all.push((0..inner).map(|k| at(k) * b[k * columns + j]).sum());
            }
        }
    }
    all
}

fn near(got: &[f64], wanted: &[f64], within: f64, what: &str) {
    assert_eq!(got.len(), wanted.len(), "{what}");
    let largest = wanted.iter().fold(f64::MIN_POSITIVE, |largest, x| largest.max(x.abs()));
    for (got, wanted) in got.iter().zip(wanted) {
        assert!((got - wanted).abs() <= within * largest, "{what}: {got} instead of {wanted}");
    }
}

fn orthonormal(columns: &Numbers, within: f64, what: &str) {
    let width = columns.0[columns.0.len() - 1];
    let unit = |at: usize| f64::from(u8::from(at / width % width == at % width));
    let got = product(columns, columns, true);
    let wanted: Vec<_> = (0..got.len()).map(unit).collect();
    near(&got, &wanted, within, what);
}

/// Random matrices, of full rank and not, wide and tall, large and small; symmetric if they say so.
fn matrices(symmetric: bool) -> Vec<Numbers> {
    let mut random = fastrand::Rng::with_seed(77);
    let mut all = Vec::new();
    for dims in [[1, 1], [3, 3], [4, 3], [3, 5], [12, 12], [9, 2]] {
        let dims = if symmetric { [dims[0]; 2] } else { dims };
        for scale in [1.0, 1e-30, 1e30] {
            for rank in [dims[0].min(dims[1]), 1, 0] {
                let mut numbers = vec![0.0; 2 * dims[0] * dims[1]];
                for matrix in numbers.chunks_mut(dims[0] * dims[1]) {
                    for _ in 0..rank {
                        let mut draw = || random.f64() * 2.0 - 1.0;
                        let a: Vec<_> = (0..dims[0]).map(|_| draw()).collect();
                        let b: Vec<_> =
                            if symmetric { a.clone() } else { (0..dims[1]).map(|_| draw()).collect() };
                        let sign = if symmetric { draw() } else { 1.0 };
                        for (at, x) in matrix.iter_mut().enumerate() {
                            *x += scale * sign * a[at / dims[1]] * b[at % dims[1]];
                        }
                    }
                }
                // As numbers of float32, so that both types have the same matrices.
                let numbers = numbers.iter().map(|&x| {
                    nearest_f64(
                        cast(&Tensor::scalar(x), DType::F32, Rules::IEEE).unwrap().only_number().unwrap(),
                    )
                });
                all.push((vec![2, dims[0], dims[1]], numbers.collect()));
            }
        }
    }
    all
}

fn text(text: &'static str) -> Content {
    Content::Bytes(text.into())
}

const TYPES: [(DType, f64); 2] = [(DType::F32, 2e-6), (DType::F64, 1e-14)];

#[test]
fn reflections_give_orthonormal_columns_and_a_triangle() {
    for x in matrices(false) {
        for (dtype, within) in TYPES {
            for mode in ["reduced", "complete"] {
                let what = format!("{mode} {:?} {dtype}", x.0);
                let got = run("qr", vec![("mode", text(mode))], &x, dtype, 2);
                near(&product(&got[0], &got[1], false), &x.1, within, &what);
                orthonormal(&got[0], within, &what);
                let columns = x.0[2];
                let rows = got[1].0[1];
                for (at, &number) in got[1].1.iter().enumerate() {
                    assert!(at / columns % rows <= at % columns || number == 0.0, "{what}");
                }
            }
            let all = run("qr", vec![("mode", text("reduced"))], &x, dtype, 2);
            let got = run("qr", vec![("mode", text("r"))], &x, dtype, 2);
            assert_eq!((&got[0].0[..], &got[1]), (&[0][..], &all[1]));
        }
    }
}

#[test]
fn rotations_give_singular_values_and_vectors() {
    for x in matrices(false) {
        for (dtype, within) in TYPES {
            for full in [false, true] {
                let what = format!("{full} {:?} {dtype}", x.0);
                let attributes = vec![("full_matrices", Content::Int(i64::from(full)))];
                let got = run("svd", attributes, &x, dtype, 3);
                let (left, values, right) = (&got[0], &got[1], &got[2]);
                orthonormal(left, within, &what);
                let rows = right.0[1];
                let columns = right.0[2];
                let turned = |at: usize| {
                    let (matrix, row, column) = (at / (rows * columns), at / rows % columns, at % rows);
                    right.1[matrix * rows * columns + column * columns + row]
                };
                let turned = (0..right.1.len()).map(turned).collect();
                orthonormal(&(vec![2, columns, rows], turned), within, &what);
                let inner = values.0[1];
                for values in values.1.chunks(inner) {
                    assert!(values.is_sorted_by(|a, b| a >= b) && values.iter().all(|&x| x >= 0.0), "{what}");
                }
                let width = left.0[2];
                let scaled = (0..2 * inner * columns).map(|at| {
                    let (matrix, row, column) = (at / (inner * columns), at / columns % inner, at % columns);
                    values.1[matrix * inner + row] * right.1[matrix * rows * columns + row * columns + column]
                });
                let kept = (0..left.1.len()).filter(|at| at % width < inner).map(|at| left.1[at]);
                let kept = (vec![2, left.0[1], inner], kept.collect());
                let product = product(&kept, &(vec![2, inner, columns], scaled.collect()), false);
                near(&product, &x.1, within, &what);
                assert_eq!(run("svdvals", vec![], &x, dtype, 1)[0], *values);
            }
        }
    }
}

#[test]
fn rotations_give_eigenvalues_of_symmetric_matrices() {
    for x in matrices(true) {
        for (dtype, within) in TYPES {
            for half in ["L", "U"] {
                let what = format!("{half} {:?} {dtype}", x.0);
                let got = run("eigh", vec![("UPLO", text(half))], &x, dtype, 2);
                orthonormal(&got[1], within, &what);
                let size = x.0[1];
                for values in got[0].1.chunks(size) {
                    assert!(values.is_sorted(), "{what}");
                }
                let scaled = got[1]
                    .1
                    .iter()
                    .enumerate()
                    .map(|(at, x)| x * got[0].1[at / (size * size) * size + at % size]);
                let scaled: Numbers = (vec![2, size, size], scaled.collect());
                near(&product(&x, &got[1], false), &scaled.1, 4.0 * within, &what);
            }
        }
    }
}

/// What Paddle 3.3.1 gives for one matrix.
#[test]
fn triangles_and_values_are_those_of_lapack() {
    let x = [
        1.764_052_4,
        0.400_157_21,
        0.978_737_95,
        2.240_893_1,
        1.867_558,
        -0.977_277_9,
        0.950_088_44,
        -0.151_357_2,
        -0.103_218_85,
        0.410_598_5,
        0.144_043_57,
        1.454_273_5,
    ];
    let x = (vec![4, 3], x.to_vec());
    let r =
        [-3.033_931_7, -1.584_161_4, -0.011_742_35, 0.0, -1.087_193_1, 1.128_570_6, 0.0, 0.0, 1.662_755_7];
    let got = run("qr", vec![("mode", text("reduced"))], &x, DType::F32, 2);
    near(&got[1].1, &r, 1e-6, "qr");
    let got = run("svdvals", vec![], &x, DType::F32, 1);
    near(&got[0].1, &[3.468_525_4, 2.079_965_4, 0.760_221_5], 1e-6, "svdvals");
}

#[test]
fn matrices_without_elements_have_factors() {
    let empty = |rows: usize, columns: usize| (vec![2, rows, columns], Vec::new());
    let got = run("qr", vec![("mode", text("complete"))], &empty(2, 0), DType::F32, 2);
    assert_eq!(got[0].1, [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0]);
    let got = run("svd", vec![("full_matrices", Content::Int(1))], &empty(0, 2), DType::F32, 3);
    assert_eq!(got[2].1, [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0]);
    assert_eq!(run("eigh", vec![], &empty(0, 0), DType::F64, 2)[0].0, [2, 0]);
}
