//! Bounds of errors in a runtime: any order of summation keeps them, and faults do not.

use std::path::{Path, PathBuf};

use gradus::check::{CheckOptions, ErrorPattern, NodeLabel, Runtime, RuntimeCheck};
use gradus::{Kind, Limits, Model, Result, Shape, Tensor, Value};

use crate::common::sketch::Sketch;

/// How terms are added in float32.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Order {
    Forward,
    Reversed,
    Pairwise,
    Shuffled,
}

const ORDERS: [Order; 4] = [Order::Forward, Order::Reversed, Order::Pairwise, Order::Shuffled];

/// A fault in one node of a runtime.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// Factors are rounded to bfloat16.
    Bfloat16,
    /// The largest term of each sum is left out.
    DroppedTerm,
    /// A bit of one weight is turned.
    WeightBit,
    /// Sums are rounded to ten bits after each term.
    Float16,
    /// The first two rows change places.
    SwappedRows,
}

const FAULTS: [Fault; 5] =
    [Fault::Bfloat16, Fault::DroppedTerm, Fault::WeightBit, Fault::Float16, Fault::SwappedRows];

/// A program that computes chains of sums in float32, in an order, and with a fault in one node.
struct Float32 {
    order: Order,
    fault: Fault,
    node: usize,
}

/// A float with as many bits of a mantissa less.
fn short(x: f32, bits: u32) -> f32 {
    let half = 1u32 << (bits - 1);
    f32::from_bits(x.to_bits().wrapping_add(half) >> bits << bits)
}

impl Float32 {
    fn sum(&self, mut terms: Vec<f32>, fault: Fault) -> f32 {
        if fault == Fault::DroppedTerm
            && let Some(at) = (0..terms.len()).max_by(|&a, &b| terms[a].abs().total_cmp(&terms[b].abs()))
        {
            terms[at] = 0.0;
        }
        let add = |a: f32, b: f32| if fault == Fault::Float16 { short(a + b, 13) } else { a + b };
        match self.order {
            Order::Forward => {}
            Order::Reversed => terms.reverse(),
            Order::Shuffled => fastrand::Rng::with_seed(7).shuffle(&mut terms),
            Order::Pairwise => {
                while terms.len() > 1 {
                    terms = terms.chunks(2).map(|two| two.iter().copied().reduce(add).unwrap()).collect();
                }
            }
        }
        terms.into_iter().reduce(add).unwrap_or(0.0)
    }

    /// Rows times columns.
    fn product(&self, x: &[f32], w: &[f32], [rows, inner, columns]: [usize; 3], fault: Fault) -> Vec<f32> {
        let mut w = w.to_vec();
        if fault == Fault::WeightBit {
            w[0] = f32::from_bits(w[0].to_bits() ^ 1 << 21);
        }
        let factor = |x: f32| if fault == Fault::Bfloat16 { short(x, 16) } else { x };
        let mut out = Vec::with_capacity(rows * columns);
        for row in 0..rows {
            for column in 0..columns {
                let terms = (0..inner).map(|k| factor(x[row * inner + k]) * factor(w[k * columns + column]));
                out.push(self.sum(terms.collect(), fault));
            }
        }
        if fault == Fault::SwappedRows {
            let (first, second) = out.split_at_mut(columns);
            first.swap_with_slice(&mut second[..columns]);
        }
        out
    }

    fn softmax(&self, x: &[f32], length: usize) -> Vec<f32> {
        let line = |line: &[f32]| {
            let most = line.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let all: Vec<_> = line.iter().map(|x| (x - most).exp()).collect();
            let sum = self.sum(all.clone(), Fault::None);
            all.into_iter().map(|x| x / sum).collect::<Vec<_>>()
        };
        x.chunks(length).flat_map(line).collect()
    }

    fn layer(&self, [x, scale, bias]: [&[f32]; 3], length: usize) -> Vec<f32> {
        let count = f32::from(u16::try_from(length).unwrap());
        let line = |line: &[f32]| {
            let mean = self.sum(line.to_vec(), Fault::None) / count;
            let apart: Vec<_> = line.iter().map(|x| x - mean).collect();
            let variance = self.sum(apart.iter().map(|x| x * x).collect(), Fault::None) / count;
            let root = (variance + 1e-5).sqrt();
            apart.iter().zip(scale.iter().zip(bias)).map(|(x, (a, b))| x / root * a + b).collect::<Vec<_>>()
        };
        x.chunks(length).flat_map(line).collect()
    }
}

impl Runtime for Float32 {
    fn run(&self, model: &Path, inputs: &[(String, Value)], values: &[&str]) -> Result<Vec<Option<Value>>> {
        let model = Model::open(model)?;
        let graph = model.graph();
        let mut known: std::collections::HashMap<_, _> = graph
            .constants()
            .iter()
            .map(|(id, constant)| (*id, constant.tensor().unwrap()))
            .chain(
                inputs
                    .iter()
                    .map(|(name, value)| (model.value(name).unwrap(), value.tensor().unwrap().clone())),
            )
            .collect();
        for (index, node) in graph.nodes().iter().enumerate() {
            let fault = if index == self.node { self.fault } else { Fault::None };
            let tensor = |input: usize| &known[&node.inputs[input].unwrap()];
            let x = tensor(0).elements::<f32>()?;
            let dims = tensor(0).shape().dims().to_vec();
            let (rows, inner) = (dims[0], dims[1]);
            let floats = |input: usize| tensor(input).elements::<f32>().unwrap();
            let (columns, out) = match &*node.operator.name {
                "MatMul" => {
                    let columns = tensor(1).shape().dims()[1];
                    (columns, self.product(&x, &floats(1), [rows, inner, columns], fault))
                }
                "ReduceSum" => (1, self.product(&x, &vec![1.0; inner], [rows, inner, 1], fault)),
                "Softmax" => (inner, self.softmax(&x, inner)),
                "LayerNormalization" => (inner, self.layer([&x, &floats(1), &floats(2)], inner)),
                "Sigmoid" => (inner, x.iter().map(|x| 1.0 / (1.0 + (-x).exp())).collect()),
                "Relu" => (inner, x.iter().map(|x| x.max(0.0)).collect()),
                other => panic!("{other}"),
            };
            known.insert(node.outputs[0].unwrap(), Tensor::from_vec(Shape::new([rows, columns])?, out)?);
        }
        Ok(values.iter().map(|name| known.get(&model.value(name).ok()?).cloned().map(Value::from)).collect())
    }
}

/// A chain of products, normalizations and sums, in a file; `inner` is the number of terms.
fn chain(folder: &str, inner: usize) -> PathBuf {
    let mut random = fastrand::Rng::with_seed(u64::try_from(inner).unwrap());
    let mut weights = |rows: usize, columns: usize| {
        let elements = (0..rows * columns).map(|_| random.f32() - 0.3).collect();
        Tensor::from_vec(Shape::new([rows, columns]).unwrap(), elements).unwrap()
    };
    let (first, second) = (weights(inner, inner), weights(inner, inner));
    let width = inner.to_string();
    let ones = Tensor::vector(&vec![1.0f32; inner]);
    let model = Sketch::of(&format!("x: float32[4, {width}]; axes = [1]"))
        .constant("w", first)
        .constant("v", second)
        .constant("scale", ones.clone())
        .constant("bias", ones)
        .text(
            "a = MatMul(x, w); b = LayerNormalization(a, scale, bias); c = Relu(b); d = MatMul(c, v); \
             e = Softmax(d); f = Sigmoid(b); s = ReduceSum(f, axes); return e: float32[4, n]; \
             return s: float32[4, 1]",
        )
        .model();
    let folder = std::env::temp_dir().join(format!("gradus-allowed-{}-{folder}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{inner}.onnx"));
    model.save(&path).unwrap();
    path
}

fn check(path: &Path, runtime: &Float32) -> RuntimeCheck {
    let model = Model::open(path).unwrap();
    let mut options = CheckOptions::default();
    options.runs = 3;
    model.check_in(&model, runtime, &options).unwrap()
}

/// Numbers of terms of the sums in each chain.
const TERMS: [usize; 4] = [3, 17, 64, 150];

#[test]
fn every_order_of_summation_keeps_the_bounds() {
    let mut rounded = 0;
    for inner in TERMS {
        let path = chain("orders", inner);
        for order in ORDERS {
            let check = check(&path, &Float32 { order, fault: Fault::None, node: 0 });
            assert!(check.first_beyond.is_none(), "{inner} {order:?}: {:#?}", check.nodes[0]);
            for node in &check.nodes {
                assert!(node.verdict.label <= NodeLabel::Rounding, "{inner} {order:?}: {node:#?}");
                rounded += u32::from(node.verdict.label == NodeLabel::Rounding);
            }
        }
        std::fs::remove_file(path).unwrap();
    }
    assert!(rounded > 40, "{rounded}");
}

#[test]
fn planted_faults_are_beyond_at_their_node() {
    let mut planted = 0;
    for inner in TERMS {
        let path = chain("faults", inner);
        // The products and the sum.
        for (node, value) in [(0, "a"), (3, "d"), (6, "s")] {
            for fault in FAULTS {
                for order in ORDERS {
                    planted += 1;
                    let check = check(&path, &Float32 { order, fault, node });
                    let what = format!("{inner} {value} {fault:?} {order:?}");
                    let beyond = check.nodes.iter().filter(|node| node.verdict.label == NodeLabel::Beyond);
                    let names: Vec<_> = beyond.map(|node| &*node.value.name).collect();
                    assert_eq!(names, [value], "{what}: {:#?}", check.nodes);
                    assert_eq!(check.first_beyond.unwrap().value, value, "{what}");
                }
            }
        }
        std::fs::remove_file(path).unwrap();
    }
    assert_eq!(planted, 240);
}

#[test]
fn a_case_is_saved_with_few_rows_and_fails_by_itself() {
    let path = chain("case", 17);
    let runtime = Float32 { order: Order::Forward, fault: Fault::Bfloat16, node: 3 };
    let check = check(&path, &runtime);
    assert_eq!(check.nodes[0].verdict.pattern, Some(ErrorPattern::Bfloat16));
    let folder = path.with_extension("case");
    // Alone, the node is the first.
    let alone = Float32 { node: 0, ..runtime };
    let saved = check.first_beyond.unwrap().save(&folder, &alone).unwrap();
    assert!(saved.fails_alone);
    assert_eq!(saved.rows, Some((4, 1)));
    let model = Model::open(folder.join("model.onnx")).unwrap();
    assert_eq!(model.graph().nodes().len(), 1);
    let again = model.check_in(&model, &alone, &CheckOptions::default()).unwrap();
    assert_eq!((again.nodes.len(), again.nodes[0].verdict.label), (1, NodeLabel::Beyond));
    let file = gradus::files::map(&folder.join("inputs.npz")).unwrap();
    let arrays = gradus::formats::numpy::read_npz(&file, None, |_| None, &Limits::DEFAULT).unwrap();
    assert_eq!((arrays.len(), arrays[0].1.shape().dims()), (1, &[1, 17][..]));
    // Nothing is saved as failing that does not fail.
    let right = Float32 { fault: Fault::None, ..alone };
    let check = model.check_in(&model, &alone, &CheckOptions::default()).unwrap();
    let case = check.first_beyond.unwrap();
    assert!(!case.save(&folder.join("again"), &right).unwrap().fails_alone);
    // The model that was checked is not replaced.
    assert_eq!(case.save(&folder, &right).unwrap_err().kind(), Kind::Usage);
    std::fs::remove_dir_all(folder).unwrap();
    std::fs::remove_file(path).unwrap();
}
