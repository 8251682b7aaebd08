//! Factors, eigenvalues and solutions of Paddle: `qr`, `svd`, `eigh`, `eig`, `lu` and others.

use std::collections::HashMap;

use gradus::convert::{Rules, cast, nearest_f64};
use gradus::graph::{self, Builder, Content, DeclaredDim, Origin, Standard, Type};
use gradus::infer::InferOptions;
use gradus::{DType, Model, Number, Shape, Tensor, Value};

/// A matrix or more, and their numbers.
type Numbers = (Vec<usize>, Vec<f64>);

/// Runs an operator on numbers of a type; the inferred shapes are those of its outputs.
fn run(
    operator: &str,
    attributes: Vec<(&str, Content)>,
    x: &Numbers,
    dtype: DType,
    outputs: usize,
) -> Vec<Numbers> {
    let results = try_run(operator, attributes, &[(x, dtype)], outputs);
    results.unwrap_or_else(|error| panic!("{operator}: {error}"))
}

/// Runs an operator on several inputs. Complex numbers are given by their parts.
fn try_run(
    operator: &str,
    attributes: Vec<(&str, Content)>,
    inputs: &[(&Numbers, DType)],
    outputs: usize,
) -> gradus::Result<Vec<Numbers>> {
    let mut builder = Builder::new("factors");
    let mut given = HashMap::new();
    let of = ["x", "y", "z"];
    for (&((dims, numbers), dtype), name) in inputs.iter().zip(of) {
        let value = builder.define(name, Origin::Input).unwrap();
        let sizes = dims.iter().map(|&size| DeclaredDim::Known(size)).collect();
        builder.info(value).declared = Some(Type::Tensor(Some(dtype), Some(sizes)));
        let tensor = Tensor::from_vec(Shape::new(&dims[..]).unwrap(), numbers.clone()).unwrap();
        given.insert(name.to_owned(), Value::from(cast(&tensor, dtype, Rules::IEEE).unwrap()));
    }
    let names: Vec<_> = (0..outputs).map(|output| format!("y{output}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let paddle = gradus::formats::paddle::OPERATORS;
    builder.apply("node", operator, paddle, &of[..inputs.len()], &names, attributes).unwrap();
    for name in &names {
        builder.output(name);
    }
    let mut source = graph::Model::new(Standard::Paddle);
    source.graph = builder.finish().unwrap();
    let model = Model::from_source(source);
    let inference = model.infer(&InferOptions::default()).unwrap();
    let results = model.run(&given)?;
    let read = |(name, value): (_, &Value)| {
        let tensor = value.tensor().unwrap();
        let fact = inference.describe(inference.fact(model.value(name).unwrap()));
        // Ranks may decide if there are residuals.
        if operator != "lstsq" || !fact.ends_with("[...]") {
            assert_eq!(fact, format!("{}{}", tensor.dtype(), tensor.shape()), "{operator}");
        }
        let parts = |number| match number {
            Number::Complex(re, im) => vec![re, im],
            number => vec![nearest_f64(number)],
        };
        (tensor.shape().dims().to_vec(), tensor.numbers().unwrap().flat_map(parts).collect())
    };
    Ok(names.iter().map(|&name| read((name, &results[name]))).collect())
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

/// Results of Paddle 3.3.1 for one matrix.
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

/// A matrix with real eigenvalues.
const SQUARE: [f64; 9] = [
    0.125_730_216_503_143_3,
    -0.132_104_858_756_065_37,
    0.640_422_642_230_987_5,
    0.104_900_114_238_262_18,
    -0.535_669_386_386_871_3,
    0.361_595_064_401_626_6,
    1.304_000_020_027_160_6,
    0.947_080_969_810_485_8,
    -0.703_735_232_353_210_4,
];

#[test]
fn double_shifts_give_eigenvalues_and_vectors() {
    let mut squares: Vec<_> = matrices(false).into_iter().filter(|x| x.0[1] == x.0[2]).collect();
    // A rotation, one value twice with one direction, a permutation, and blocks.
    for numbers in [
        vec![0.0, -1.0, 1.0, 0.0],
        vec![2.0, 1.0, 0.0, 2.0],
        vec![0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0],
        vec![1.0, 2.0, 5.0, 6.0, -2.0, 1.0, 7.0, 8.0, 0.0, 0.0, 1.0, 3.0, 0.0, 0.0, -3.0, 1.0],
    ] {
        let rows = (1..5).find(|rows| rows * rows == numbers.len()).unwrap();
        squares.push((vec![1, rows, rows], numbers));
    }
    for x in squares {
        let rows = x.0[1];
        let largest = x.1.iter().fold(f64::MIN_POSITIVE, |largest, x| largest.max(x.abs()));
        for (dtype, within) in TYPES {
            let what = format!("{:?} {dtype}", x.0);
            let got = run("eig", vec![], &x, dtype, 2);
            assert_eq!(run("eigvals", vec![], &x, dtype, 1)[0], got[0]);
            let (values, vectors) = (&got[0].1, &got[1].1);
            for at in 0..x.0[0] * rows {
                let (matrix, column) = (at / rows, at % rows);
                let vector: Vec<_> = (0..rows)
                    .map(|row| ((matrix * rows + row) * rows + column) * 2)
                    .map(|place| (vectors[place], vectors[place + 1]))
                    .collect();
                let length: f64 = vector.iter().map(|x| x.0 * x.0 + x.1 * x.1).sum();
                assert!((length - 1.0).abs() < 10.0 * within, "{what}: {length}");
                let (re, im) = (values[2 * at], values[2 * at + 1]);
                for row in 0..rows {
                    let own = &x.1[(matrix * rows + row) * rows..][..rows];
                    let product = own.iter().zip(&vector);
                    let product = product.fold((0.0, 0.0), |sum, (a, x)| (sum.0 + a * x.0, sum.1 + a * x.1));
                    let (a, b) = vector[row];
                    let (a, b) = (re * a - im * b - product.0, re * b + im * a - product.1);
                    let limit = 40.0 * within * largest;
                    assert!(a.abs() < limit && b.abs() < limit, "{what}: {a} {b} of {largest}");
                }
            }
        }
    }
}

/// Results of Paddle 3.3.1; vectors up to their sign.
#[test]
fn eigenvalues_are_those_of_paddle() {
    let got = run("eig", vec![], &(vec![3, 3], SQUARE.to_vec()), DType::F32, 2);
    near(&got[0].1, &[0.789_931_4, 0.0, -0.364_619_28, 0.0, -1.538_987_2, 0.0], 1e-6, "eig");
    let third = [0.721_565_8, 0.0, 0.484_933_82, 0.0, 0.887_757_3, 0.0];
    near(&got[1].1[12..], &third, 1e-6, "eig");
    assert_eq!(run("eig", vec![], &(vec![2, 0, 0], vec![]), DType::F64, 2)[1].0, [2, 0, 0]);
}

#[test]
fn elimination_gives_triangles_and_pivots() {
    for x in matrices(false) {
        for (dtype, within) in TYPES {
            let what = format!("{:?} {dtype}", x.0);
            let got = run("lu", vec![], &x, dtype, 3);
            let inputs = [(&got[0], dtype), (&got[1], DType::I32)];
            let parts = try_run("lu_unpack", vec![], &inputs, 3).unwrap();
            let rows = x.0[1];
            let product_of = |a: &Numbers, b: &Numbers| product(a, b, false);
            let triangles = (vec![2, rows, x.0[2]], product_of(&parts[1], &parts[2]));
            near(&product_of(&parts[0], &triangles), &x.1, within, &what);
            assert!(parts[1].1.iter().all(|x| x.abs() <= 1.0), "{what}");
            let only = vec![("unpack_ludata", Content::Int(0))];
            let some = try_run("lu_unpack", only, &inputs, 3).unwrap();
            assert_eq!((&some[0], &some[1].0[..], &some[2].0[..]), (&parts[0], &[0][..], &[0][..]));
        }
    }
}

/// Results of Paddle 3.3.1.
#[test]
fn pivots_are_those_of_lapack() {
    let x = vec![1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 0.0, 0.0, 0.0];
    let got = run("lu", vec![], &(vec![3, 3], x), DType::F32, 3);
    assert_eq!(got[0].1, [2.0, 4.0, 6.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!((&got[1].1[..], &got[2]), (&[2.0, 2.0, 3.0][..], &(vec![], vec![2.0])));
    let given = (vec![3, 3], [[2.0, 0.5, 0.25], [3.0, 4.0, 0.125], [5.0, 6.0, 7.0]].concat());
    let inputs = [(&given, DType::F32), (&(vec![3], vec![2.0, 3.0, 3.0]), DType::I32)];
    let got = try_run("lu_unpack", vec![], &inputs, 3).unwrap();
    assert_eq!(got[0].1, [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    let wrong = [(&given, DType::F32), (&(vec![3], vec![2.0, 4.0, 3.0]), DType::I32)];
    let error = try_run("lu_unpack", vec![], &wrong, 3).unwrap_err();
    assert!(error.message().contains("pivot is 4, expected from 1 to 3"), "{error}");
    let without = vec![("pivot", Content::Int(0))];
    assert!(try_run("lu", without, &[(&given, DType::F32)], 3).is_err());
}

#[test]
fn factors_of_cholesky_solve_systems() {
    let x = (vec![2, 2], vec![2.0, 1.0, 1.0, 3.0]);
    let b = (vec![3, 2, 1], vec![1.0, 2.0, 3.0, 4.0, 0.0, 5.0]);
    for upper in [0, 1] {
        let upper = || vec![("upper", Content::Int(upper))];
        let factor = &run("cholesky", upper(), &x, DType::F32, 1)[0];
        let got = try_run("cholesky_solve", upper(), &[(&b, DType::F32), (factor, DType::F32)], 1).unwrap();
        assert_eq!(got[0].0, [3, 2, 1]);
        near(&got[0].1, &[0.2, 0.6, 1.0, 1.0, -1.0, 2.0], 1e-6, "cholesky_solve");
    }
}

#[test]
fn singular_values_above_a_tolerance_are_the_rank() {
    for symmetric in [false, true] {
        for (at, x) in matrices(symmetric).into_iter().enumerate() {
            let wanted = [x.0[1].min(x.0[2]), 1, 0][at % 3];
            for (dtype, _) in TYPES.into_iter().filter(|_| x.0[1] < 12) {
                let attributes = vec![("hermitian", Content::Int(i64::from(symmetric)))];
                let got = run("matrix_rank", attributes, &x, dtype, 1);
                // Matrices of float64 hold roundings of float32.
                if dtype == DType::F32 || wanted != 1 {
                    assert_eq!(got[0], (vec![2], vec![f64::from(u8::try_from(wanted).unwrap()); 2]), "{x:?}");
                }
            }
        }
    }
    let given = vec![("tol", Content::Float(1.0)), ("use_default_tol", Content::Int(0))];
    assert_eq!(run("matrix_rank", given, &(vec![3, 3], SQUARE.to_vec()), DType::F32, 1)[0].1, [1.0]);
}

/// The determinant of these matrices is less than every number, and they have an inverse.
#[test]
fn small_matrices_have_inverses() {
    let x = (vec![2, 2], vec![1e-200, 0.0, 0.0, 1e-200]);
    near(&run("inverse", vec![], &x, DType::F64, 1)[0].1, &[1e200, 0.0, 0.0, 1e200], 1e-15, "inverse");
    let b = (vec![2], vec![3e-200, 4e-200]);
    let got = try_run("solve", vec![], &[(&x, DType::F64), (&b, DType::F64)], 1).unwrap();
    near(&got[0].1, &[3.0, 4.0], 1e-15, "solve");
    let singular = (vec![2, 2], vec![1.0, 2.0, 2.0, 4.0]);
    assert!(try_run("inverse", vec![], &[(&singular, DType::F64)], 1).is_err());
}

/// Results of Paddle 3.3.1 for four equations with three unknowns.
#[test]
fn the_shortest_solution_has_the_least_squares() {
    let a = [
        [0.189_053_39, -0.522_748_47, -0.413_063_56],
        [-2.441_467_3, 1.799_707_4, 1.144_165_9],
        [-0.325_422_82, 0.773_806_75, 0.281_210_66],
        [-0.553_822_8, 0.977_567_4, -0.310_556_56],
    ];
    let y = [
        2.040_919,
        -2.555_665,
        0.418_098_84,
        -0.567_769_6,
        -0.452_649_3,
        -0.215_597_17,
        -2.019_986,
        -0.231_932_37,
    ];
    let (x, y) = ((vec![4, 3], a.concat()), (vec![4, 2], y.to_vec()));
    let share = (vec![1], vec![4e-7]);
    let solve = |x: &Numbers, y: &Numbers, driver| {
        let inputs = [(x, DType::F32), (y, DType::F32), (&share, DType::F32)];
        let attributes = vec![("driver", text(driver))];
        try_run("lstsq", attributes, &inputs, 4)
    };
    for driver in ["gels", "gelsy", "gelsd", "gelss"] {
        let got = solve(&x, &y, driver).unwrap();
        let wanted = [-2.276_516_7, 2.523_364, -2.969_783_3, 1.562_372_2, 0.170_764_9, 2.440_748_9];
        near(&got[0].1, &wanted, 1e-6, driver);
        let squares: &[f64] = if driver == "gelsy" { &[] } else { &[2.200_601_1, 3.279_440_2] };
        near(&got[1].1, squares, 1e-6, driver);
        assert_eq!(got[2], (vec![], vec![3.0]));
        near(&got[3].1, &[3.500_050_5, 0.796_830_95, 0.495_700_87], 1e-6, driver);
    }
    // A matrix of rank 1 next to one of full rank.
    let rank_1: Vec<_> = (0..12).map(|at| f64::from((at / 3 + 1) * (at % 3 + 1))).collect();
    let x = (vec![2, 4, 3], [rank_1, a.concat()].concat());
    let y = (vec![2, 4, 2], [y.1.clone(), y.1].concat());
    let got = solve(&x, &y, "gelsd").unwrap();
    let wanted = [-0.015_620_89, -0.012_537_44, -0.031_241_78, -0.025_074_88, -0.046_862_68, -0.037_612_33];
    near(&got[0].1[..6], &wanted, 1e-5, "rank 1");
    assert_eq!((&got[1].0[..], &got[2].1[..]), (&[0][..], &[1.0, 3.0][..]));
    assert!(solve(&x, &y, "geev").unwrap_err().message().contains("driver"));
    // Fewer equations than unknowns.
    let (x, y) = ((vec![1, 3], vec![1.0, 2.0, 2.0]), (vec![1, 1], vec![9.0]));
    let got = solve(&x, &y, "gelss").unwrap();
    near(&got[0].1, &[1.0, 2.0, 2.0], 1e-6, "wide");
    assert_eq!((&got[1].0[..], &got[2].1[..]), (&[0][..], &[1.0][..]));
}
