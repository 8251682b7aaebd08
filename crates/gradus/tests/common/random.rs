//! Random graphs of ONNX's operators over small tensors: scalars and tensors without elements among
//! them.

use std::collections::HashMap;
use std::sync::Arc;

use fastrand::Rng;
use gradus::element::Bool;
use gradus::graph::{self, Builder, Content, DeclaredDim, Origin, Standard, Type};
use gradus::{DType, Model, Number, Shape, Tensor, Value, convert};

/// The operator set of the graphs.
const OPSET: i64 = 20;
/// Maximum number of elements of a tensor, and of an axis that is made.
const MAX_ELEMENTS: usize = 96;

/// A node, and its outputs.
struct Step {
    operator: &'static str,
    inputs: Vec<String>,
    attributes: Vec<(&'static str, Content)>,
    outputs: Vec<String>,
}

/// A graph while it grows: every value is known.
struct Growing {
    rng: Rng,
    values: Vec<(String, Tensor)>,
    constants: Vec<(String, Tensor)>,
    steps: Vec<Step>,
}

fn int(name: &'static str, value: i64) -> (&'static str, Content) {
    (name, Content::Int(value))
}

fn to_i64(value: usize) -> i64 {
    i64::try_from(value).unwrap()
}

const TYPES: [DType; 6] = [DType::I64, DType::I64, DType::I32, DType::F32, DType::F64, DType::Bool];

impl Growing {
    fn dims(&mut self) -> Vec<usize> {
        let rank = self.rng.usize(0..4);
        (0..rank).map(|_| [0, 1, 1, 2, 3, 4][self.rng.usize(0..6)]).collect()
    }

    fn tensor(&mut self, dtype: DType, dims: &[usize]) -> Tensor {
        let shape = Shape::new(dims).unwrap();
        let odd = [0.0, -0.0, 0.5, -1.5, 2.5, 1e10, f64::INFINITY, f64::NAN];
        let numbers: Vec<_> = (0..shape.len())
            .map(|_| match dtype {
                DType::Bool => Number::Int(i128::from(self.rng.bool())),
                DType::F32 | DType::F64 if self.rng.usize(0..6) == 0 => {
                    Number::Float(odd[self.rng.usize(0..8)])
                }
                DType::F32 | DType::F64 => Number::Float(f64::from(self.rng.i32(-400..400)) / 16.0),
                _ if self.rng.usize(0..12) == 0 => Number::Int(i128::from(self.rng.i64(..))),
                _ => Number::Int(i128::from(self.rng.i64(-9..10))),
            })
            .collect();
        Tensor::from_numbers(dtype, shape, numbers, convert::Rules::IEEE).unwrap()
    }

    /// A constant; its name.
    fn constant(&mut self, tensor: Tensor) -> String {
        let name = format!("c{}", self.constants.len());
        self.constants.push((name.clone(), tensor));
        name
    }

    fn list(&mut self, values: &[i64]) -> String {
        self.constant(Tensor::vector(values))
    }

    /// A value that is as it should be.
    fn pick(&mut self, fits: impl Fn(&Tensor) -> bool) -> Option<(String, Tensor)> {
        let fitting: Vec<_> = self.values.iter().filter(|(_, tensor)| fits(tensor)).collect();
        // The newest values are read more often, so that graphs become deep.
        let at = self.rng.usize(0..fitting.len().max(1)).max(self.rng.usize(0..fitting.len().max(1)));
        fitting.get(at).map(|(name, tensor)| (name.clone(), tensor.clone()))
    }

    fn number(&mut self) -> Option<(String, Tensor)> {
        self.pick(|tensor| tensor.dtype() != DType::Bool)
    }

    fn float(&mut self) -> Option<(String, Tensor)> {
        self.pick(|tensor| tensor.dtype().is_float())
    }

    /// An axis, counted from either end.
    fn axis(&mut self, rank: usize) -> Option<(usize, i64)> {
        let axis = self.rng.usize(0..=rank.checked_sub(1)?);
        Some((axis, to_i64(axis) - if self.rng.bool() { to_i64(rank) } else { 0 }))
    }

    /// Another operand for a value.
    fn partner(&mut self, tensor: &Tensor) -> String {
        let dtype = tensor.dtype();
        if self.rng.bool()
            && let Some((name, _)) = self.pick(|other| other.dtype() == dtype)
        {
            return name;
        }
        let dims: Vec<_> =
            tensor.shape().dims().iter().map(|&dim| if self.rng.bool() { 1 } else { dim }).collect();
        let from = self.rng.usize(0..=dims.len());
        let constant = self.tensor(dtype, &dims[from..]);
        self.constant(constant)
    }

    /// Adds a node if it runs.
    fn add(
        &mut self,
        operator: &'static str,
        inputs: Vec<String>,
        attributes: Vec<(&'static str, Content)>,
        outputs: usize,
    ) -> Option<()> {
        let number = self.steps.len();
        let outputs: Vec<_> = (0..outputs).map(|output| format!("v{number}_{output}")).collect();
        let step = Step { operator, inputs, attributes, outputs };
        let values = self.run(&step)?;
        if values.iter().any(|tensor| tensor.len() > MAX_ELEMENTS || tensor.shape().rank() > 5) {
            return None;
        }
        self.values.extend(step.outputs.iter().cloned().zip(values));
        self.steps.push(step);
        Some(())
    }

    fn run(&self, step: &Step) -> Option<Vec<Tensor>> {
        let mut builder = Builder::new("step");
        for (name, tensor) in self.values.iter().chain(&self.constants) {
            builder.constant(name, tensor.clone().into()).unwrap();
        }
        push(&mut builder, "step", step);
        step.outputs.iter().for_each(|name| {
            builder.output(name);
        });
        let results = model(builder).run::<&str, Tensor>([]).ok()?;
        results.into_iter().map(|(_, value)| value.tensor().cloned().ok()).collect()
    }

    /// Tries to add one node.
    #[expect(clippy::too_many_lines, reason = "a choice of operators")]
    fn grow(&mut self) -> Option<()> {
        let choice = self.rng.usize(0..44);
        match choice {
            0..=3 => {
                let operator = ["Add", "Sub", "Mul", "Div", "Min", "Max"][self.rng.usize(0..6)];
                let (a, tensor) = self.number()?;
                let b = self.partner(&tensor);
                let inputs = if self.rng.bool() { vec![a, b] } else { vec![b, a] };
                self.add(operator, inputs, vec![], 1)
            }
            4 => {
                let (a, tensor) = self.pick(|tensor| tensor.dtype().is_integer())?;
                let b = self.partner(&tensor);
                let fmod = int("fmod", i64::from(self.rng.bool()));
                self.add("Mod", vec![a, b], vec![fmod], 1)
            }
            5 | 6 => {
                let operator =
                    ["Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"][self.rng.usize(0..5)];
                let (a, tensor) = self.number()?;
                let b = self.partner(&tensor);
                self.add(operator, vec![a, b], vec![], 1)
            }
            7 => {
                let operator = ["And", "Or", "Xor", "Not"][self.rng.usize(0..4)];
                let (a, tensor) = self.pick(|tensor| tensor.dtype() == DType::Bool)?;
                let b = self.partner(&tensor);
                self.add(operator, if operator == "Not" { vec![a] } else { vec![a, b] }, vec![], 1)
            }
            8 => {
                let operator = ["Neg", "Abs", "Sign", "Relu"][self.rng.usize(0..4)];
                let (a, _) = self.number()?;
                self.add(operator, vec![a], vec![], 1)
            }
            9 => {
                let operator =
                    ["Floor", "Ceil", "Round", "Sqrt", "Exp", "IsNaN", "IsInf", "Reciprocal", "Sigmoid"]
                        [self.rng.usize(0..9)];
                let (a, _) = self.float()?;
                self.add(operator, vec![a], vec![], 1)
            }
            10 => {
                let (a, tensor) = self.number()?;
                // No text says how NaN bounds.
                let mut bound = || loop {
                    let bound = self.tensor(tensor.dtype(), &[]);
                    if !matches!(bound.only_number().unwrap(), Number::Float(x) if x.is_nan()) {
                        break self.constant(bound);
                    }
                };
                let (low, high) = (bound(), bound());
                self.add("Clip", vec![a, low, high], vec![], 1)
            }
            11 | 12 => {
                let (a, _) = self.pick(|_| true)?;
                let to = [7, 6, 1, 11, 9, 5, 2, 10][self.rng.usize(0..8)];
                self.add("Cast", vec![a], vec![int("to", to)], 1)
            }
            13 => {
                let (condition, _) = self.pick(|tensor| tensor.dtype() == DType::Bool)?;
                let (a, tensor) = self.pick(|_| true)?;
                let b = self.partner(&tensor);
                self.add("Where", vec![condition, a, b], vec![], 1)
            }
            14 | 15 => {
                let (a, _) = self.pick(|_| true)?;
                let bounds = [("start", self.rng.i64(-4..5)), ("end", self.rng.i64(-4..5))];
                let bounds =
                    bounds.into_iter().filter(|_| self.rng.bool()).map(|(name, value)| int(name, value));
                let bounds = bounds.collect();
                self.add("Shape", vec![a], bounds, 1)
            }
            16 => {
                let (a, _) = self.pick(|_| true)?;
                self.add("Size", vec![a], vec![], 1)
            }
            17 | 18 => {
                let (a, tensor) = self.pick(|_| true)?;
                let dims = tensor.shape().to_i64();
                let mut target = match self.rng.usize(0..4) {
                    0 => vec![-1],
                    1 => [vec![1], dims.clone()].concat(),
                    2 => dims.iter().rev().copied().collect(),
                    _ => dims.iter().map(|_| 0).collect(),
                };
                if self.rng.bool() && !target.contains(&-1) && !target.is_empty() {
                    let at = self.rng.usize(0..target.len());
                    target[at] = -1;
                }
                let target = self.list(&target);
                let zero = int("allowzero", i64::from(self.rng.usize(0..4) == 0));
                self.add("Reshape", vec![a, target], vec![zero], 1)
            }
            19 => {
                let (a, tensor) = self.pick(|_| true)?;
                let rank = to_i64(tensor.shape().rank());
                let axis = self.rng.i64(-rank..=rank);
                self.add("Flatten", vec![a], vec![int("axis", axis)], 1)
            }
            20 => {
                let (a, tensor) = self.pick(|tensor| tensor.shape().dims().contains(&1))?;
                let dims = tensor.shape().dims();
                let ones: Vec<_> = (0..dims.len()).filter(|&axis| dims[axis] == 1).map(to_i64).collect();
                let one = ones[self.rng.usize(0..ones.len())];
                let axes = self.list(&[one]);
                let inputs = if self.rng.bool() { vec![a] } else { vec![a, axes] };
                self.add("Squeeze", inputs, vec![], 1)
            }
            21 => {
                let (a, tensor) = self.pick(|_| true)?;
                let (_, axis) = self.axis(tensor.shape().rank() + 1)?;
                let axes = self.list(&[axis]);
                self.add("Unsqueeze", vec![a, axes], vec![], 1)
            }
            22 => {
                let (a, tensor) = self.pick(|_| true)?;
                let target: Vec<_> = tensor
                    .shape()
                    .dims()
                    .iter()
                    .map(|&dim| if dim == 1 { self.rng.i64(0..4) } else { to_i64(dim) })
                    .collect();
                let target = if self.rng.bool() { [vec![2], target].concat() } else { target };
                let target = self.list(&target);
                self.add("Expand", vec![a, target], vec![], 1)
            }
            23 => {
                let (a, tensor) = self.pick(|_| true)?;
                let repeats: Vec<_> = tensor.shape().dims().iter().map(|_| self.rng.i64(0..3)).collect();
                let repeats = self.list(&repeats);
                self.add("Tile", vec![a, repeats], vec![], 1)
            }
            24 => {
                let (a, tensor) = self.pick(|_| true)?;
                let mut perm: Vec<_> = (0..to_i64(tensor.shape().rank())).collect();
                self.rng.shuffle(&mut perm);
                let perm = if self.rng.usize(0..4) == 0 {
                    vec![]
                } else {
                    vec![("perm", Content::Ints(perm.into()))]
                };
                self.add("Transpose", vec![a], perm, 1)
            }
            25 => {
                let (a, tensor) = self.pick(|tensor| tensor.shape().rank() > 0)?;
                let (axis, named) = self.axis(tensor.shape().rank())?;
                let mut dims = tensor.shape().dims().to_vec();
                dims[axis] = self.rng.usize(0..3);
                let other = self.tensor(tensor.dtype(), &dims);
                let other = self.constant(other);
                self.add("Concat", vec![a.clone(), other, a], vec![int("axis", named)], 1)
            }
            26 => {
                let (a, tensor) = self.pick(|tensor| tensor.shape().dims().iter().any(|&dim| dim > 1))?;
                let (axis, named) = self.axis(tensor.shape().rank())?;
                let size = to_i64(tensor.shape()[axis]);
                if self.rng.bool() {
                    return self.add("Split", vec![a], vec![int("axis", named), int("num_outputs", 2)], 2);
                }
                let first = self.rng.i64(0..=size);
                let sizes = self.list(&[first, size - first]);
                self.add("Split", vec![a, sizes], vec![int("axis", named)], 2)
            }
            27 | 28 => {
                let (a, tensor) = self.pick(|tensor| tensor.shape().rank() > 0)?;
                let (_, axis) = self.axis(tensor.shape().rank())?;
                let ends = [i64::MIN, -5, -2, -1, 0, 1, 2, 5, i64::MAX];
                let step = [-2, -1, 1, 1, 1, 2][self.rng.usize(0..6)];
                let (from, to) = (ends[self.rng.usize(0..9)], ends[self.rng.usize(0..9)]);
                let (from, to, axes, steps) =
                    (self.list(&[from]), self.list(&[to]), self.list(&[axis]), self.list(&[step]));
                let inputs =
                    if self.rng.bool() { vec![a, from, to, axes, steps] } else { vec![a, from, to, axes] };
                self.add("Slice", inputs, vec![], 1)
            }
            29 => {
                let (a, tensor) = self.pick(|tensor| tensor.shape().rank() > 0 && !tensor.is_empty())?;
                let (axis, named) = self.axis(tensor.shape().rank())?;
                let size = to_i64(tensor.shape()[axis]);
                let count = self.rng.usize(0..3);
                let indices: Vec<_> = (0..count).map(|_| self.rng.i64(-size..size)).collect();
                let scalar = self.rng.i64(-size..size);
                let indices = if self.rng.bool() { Tensor::vector(&indices) } else { Tensor::scalar(scalar) };
                let indices = self.constant(indices);
                self.add("Gather", vec![a, indices], vec![int("axis", named)], 1)
            }
            30 => {
                let (a, tensor) = self.pick(|tensor| tensor.shape().rank() > 0)?;
                let rank = tensor.shape().rank();
                let pads: Vec<_> = (0..2 * rank).map(|_| self.rng.i64(-1..3)).collect();
                let mode = ["constant", "edge", "reflect"][self.rng.usize(0..3)];
                let pads = self.list(&if mode == "constant" {
                    pads
                } else {
                    pads.iter().map(|&pad| pad.clamp(0, 1)).collect()
                });
                self.add("Pad", vec![a, pads], vec![("mode", Content::Bytes(mode.into()))], 1)
            }
            31 => {
                let (a, _) = self.pick(|_| true)?;
                self.add("NonZero", vec![a], vec![], 1)
            }
            32 | 33 => {
                let operator =
                    ["ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceMean"][self.rng.usize(0..5)];
                let (a, tensor) = self.number()?;
                let keep = int("keepdims", i64::from(self.rng.bool()));
                let inputs = match self.axis(tensor.shape().rank()) {
                    Some((_, axis)) if self.rng.bool() => vec![a, self.list(&[axis])],
                    _ => vec![a],
                };
                self.add(operator, inputs, vec![keep], 1)
            }
            34 => {
                let operator = ["ArgMax", "ArgMin", "TopK", "CumSum"][self.rng.usize(0..4)];
                let (a, tensor) =
                    self.pick(|tensor| tensor.dtype() != DType::Bool && tensor.shape().rank() > 0)?;
                let (axis, named) = self.axis(tensor.shape().rank())?;
                match operator {
                    "TopK" => {
                        let k = self.rng.i64(0..=to_i64(tensor.shape()[axis]));
                        let k = self.list(&[k]);
                        let largest = int("largest", i64::from(self.rng.bool()));
                        self.add("TopK", vec![a, k], vec![int("axis", named), largest], 2)
                    }
                    "CumSum" => {
                        let axis = self.constant(Tensor::scalar(named));
                        let [exclusive, reverse] =
                            ["exclusive", "reverse"].map(|name| int(name, i64::from(self.rng.bool())));
                        self.add("CumSum", vec![a, axis], vec![exclusive, reverse], 1)
                    }
                    _ => {
                        let keep = int("keepdims", i64::from(self.rng.bool()));
                        self.add(operator, vec![a], vec![int("axis", named), keep], 1)
                    }
                }
            }
            35 => {
                let (a, _) = self.pick(|tensor| tensor.dtype() == DType::I64 && tensor.shape().rank() < 3)?;
                let depth = self.constant(Tensor::scalar(3i64));
                let values = self.tensor(DType::F32, &[2]);
                let values = self.constant(values);
                self.add("OneHot", vec![a, depth, values], vec![int("axis", -1)], 1)
            }
            36 => {
                let scalars =
                    [self.rng.i64(-4..5), self.rng.i64(-9..10), [-2, -1, 1, 3][self.rng.usize(0..4)]];
                let inputs = scalars.map(|value| self.constant(Tensor::scalar(value))).to_vec();
                self.add("Range", inputs, vec![], 1)
            }
            37 | 38 => self.turned(),
            39 => self.along(),
            40 => self.pieces(),
            41 => {
                let (a, tensor) = self.float()?;
                let (shape, zero) = (Shape::new(vec![]).unwrap(), [Number::Float(0.0)]);
                let zero = Tensor::from_numbers(tensor.dtype(), shape, zero, convert::Rules::IEEE);
                let zero = self.constant(zero.unwrap());
                self.add("Add", vec![a, zero], vec![], 1)
            }
            _ => {
                if self.rng.bool() {
                    self.branch()
                } else {
                    self.repeat()
                }
            }
        }
    }

    /// A value in another order of axes, some nodes that read it, and a Transpose back.
    fn turned(&mut self) -> Option<()> {
        let (a, tensor) = self.pick(|tensor| tensor.shape().rank() > 1)?;
        let mut perm: Vec<_> = (0..tensor.shape().rank()).collect();
        self.rng.shuffle(&mut perm);
        let back: Vec<_> =
            (0..perm.len()).map(|axis| perm.iter().position(|&other| other == axis).unwrap()).collect();
        let order =
            |axes: &[usize]| vec![("perm", Content::Ints(axes.iter().copied().map(to_i64).collect()))];
        self.add("Transpose", vec![a], order(&perm), 1)?;
        for _ in 0..self.rng.usize(1..4) {
            let (last, tensor) = self.values.last()?.clone();
            // Nodes that do not run are left out.
            let _ = match self.rng.usize(0..3) {
                0 => self.along(),
                1 => {
                    let constant = self.tensor(tensor.dtype(), &[]);
                    let constant = self.constant(constant);
                    self.add("Mul", vec![last, constant], vec![], 1)
                }
                _ => {
                    let operator = ["Abs", "Neg", "Relu", "Sign"][self.rng.usize(0..4)];
                    self.add(operator, vec![last], vec![], 1)
                }
            };
        }
        let (last, _) = self.values.last()?.clone();
        self.add("Transpose", vec![last], order(&back), 1)
    }

    /// An operator along an axis of one of the newest values, which keeps the axis.
    fn along(&mut self) -> Option<()> {
        let newest = self.values.len() - self.rng.usize(1..3);
        let (a, tensor) = self.values.get(newest)?.clone();
        let (axis, named) = self.axis(tensor.shape().rank())?;
        let size = to_i64(tensor.shape()[axis]);
        match self.rng.usize(0..6) {
            0 => {
                let operator = ["ArgMax", "ArgMin"][self.rng.usize(0..2)];
                let last = int("select_last_index", i64::from(self.rng.bool()));
                self.add(operator, vec![a], vec![int("axis", named), int("keepdims", 1), last], 1)
            }
            1 => {
                let operator = ["Softmax", "LogSoftmax"][self.rng.usize(0..2)];
                self.add(operator, vec![a], vec![int("axis", named)], 1)
            }
            2 => {
                let scales: Vec<_> = (0..size).map(|_| self.rng.f32() + 0.5).collect();
                let shape = Shape::new(vec![scales.len()]).unwrap();
                let scale = self.constant(Tensor::from_vec(shape, scales).unwrap());
                let inputs = vec![a, scale.clone()];
                self.add("QuantizeLinear", inputs, vec![int("axis", named)], 1)?;
                let (quantized, _) = self.values.last()?.clone();
                self.add("DequantizeLinear", vec![quantized, scale], vec![int("axis", named)], 1)
            }
            3 => {
                let first = self.rng.i64(0..=size);
                let sizes = self.list(&[first, size - first]);
                self.add("Split", vec![a, sizes], vec![int("axis", named)], 2)
            }
            4 => {
                let count = self.rng.i64(0..=size);
                let count = self.list(&[count]);
                let [largest, sorted] =
                    ["largest", "sorted"].map(|name| int(name, i64::from(self.rng.bool())));
                self.add("TopK", vec![a, count], vec![int("axis", named), largest, sorted], 2)
            }
            _ => self.add("Concat", vec![a.clone(), a], vec![int("axis", named)], 1),
        }
    }

    /// Slices that together are a value.
    fn pieces(&mut self) -> Option<()> {
        let (a, tensor) = self.pick(|tensor| tensor.shape().dims().iter().any(|&size| size > 1))?;
        let (axis, named) = self.axis(tensor.shape().rank())?;
        let size = to_i64(tensor.shape()[axis]);
        let cut = self.rng.i64(0..=size);
        let end = [size, i64::MAX][self.rng.usize(0..2)];
        let cuts = [cut, cut - if cut > 0 { size } else { 0 }];
        let [first, second] = [0, 1].map(|_| cuts[self.rng.usize(0..2)]);
        for (from, to) in [(0, first), (second, end)] {
            let inputs = [from, to, named].map(|bound| self.list(&[bound]));
            self.add("Slice", [vec![a.clone()], inputs.to_vec()].concat(), vec![], 1)?;
        }
        Some(())
    }

    /// A choice between two values that are computed from what is around.
    fn branch(&mut self) -> Option<()> {
        let (condition, _) = self.pick(|tensor| tensor.dtype() == DType::Bool && tensor.len() == 1)?;
        let (a, tensor) = self.number()?;
        let b = self.partner(&tensor);
        let number = self.steps.len();
        let graph = |name: &str, operator: &str| {
            let mut builder = Builder::nested(name);
            let output = format!("{name}{number}");
            builder.apply("", operator, OPSET, &[&a, &b], &[&output], vec![]).unwrap();
            builder.output(&output);
            Content::Graph(Arc::new(builder.finish().unwrap()))
        };
        let attributes = vec![("then_branch", graph("then", "Add")), ("else_branch", graph("else", "Sub"))];
        self.add("If", vec![condition], attributes, 1)
    }

    /// A sum that is carried through some runs, and scanned.
    fn repeat(&mut self) -> Option<()> {
        let (first, tensor) = self.number()?;
        let same = |other: &Tensor| other.dtype() == tensor.dtype() && other.shape() == tensor.shape();
        let (step, _) = self.pick(same)?;
        let runs = self.rng.i64(0..4);
        let runs = self.constant(Tensor::scalar(runs));
        let goes = self.constant(Tensor::scalar(Bool::from(true)));
        let number = self.steps.len();
        let key = |name: &str| format!("{name}{number}");
        let mut body = Builder::nested("body");
        for (name, dtype) in [("run", DType::I64), ("goes", DType::Bool)] {
            let id = body.define(&key(name), Origin::Input).unwrap();
            body.info(id).declared = Some(Type::Tensor(Some(dtype), Some(vec![])));
        }
        let id = body.define(&key("sum"), Origin::Input).unwrap();
        body.info(id).declared = Some(Type::tensor(tensor.dtype(), tensor.shape()));
        body.apply("", "Identity", OPSET, &[&key("goes")], &[&key("still")], vec![]).unwrap();
        body.apply("", "Add", OPSET, &[&key("sum"), &step], &[&key("next")], vec![]).unwrap();
        body.apply("", "Identity", OPSET, &[&key("sum")], &[&key("each")], vec![]).unwrap();
        for output in ["still", "next", "each"] {
            body.output(&key(output));
        }
        let body = Content::Graph(Arc::new(body.finish().ok()?));
        self.add("Loop", vec![runs, goes, first], vec![("body", body)], 2)
    }
}

fn push(builder: &mut Builder, name: &str, step: &Step) {
    let inputs: Vec<_> = step.inputs.iter().map(String::as_str).collect();
    let outputs: Vec<_> = step.outputs.iter().map(String::as_str).collect();
    builder.apply(name, step.operator, OPSET, &inputs, &outputs, step.attributes.clone()).unwrap();
}

fn model(builder: Builder) -> Model {
    let mut model = graph::Model::new(Standard::Onnx);
    model.opsets = vec![("".into(), OPSET)];
    model.format_version = 9;
    model.graph = builder.finish().unwrap();
    Model::from_source(model)
}

/// A random model, and inputs for it.
pub fn graph(seed: u64) -> (Model, HashMap<String, Value>) {
    let mut growing = Growing { rng: Rng::with_seed(seed), values: vec![], constants: vec![], steps: vec![] };
    let mut inputs = Vec::new();
    for number in 0..3 {
        let (dtype, dims) = (TYPES[growing.rng.usize(0..TYPES.len())], growing.dims());
        let tensor = growing.tensor(dtype, &dims);
        // Some dimensions are names, the same name for the same dimension.
        let size = |&len: &usize| {
            if growing.rng.bool() {
                DeclaredDim::Known(len)
            } else {
                DeclaredDim::Symbol(format!("n{len}").into())
            }
        };
        let declared = Type::Tensor(Some(dtype), Some(dims.iter().map(size).collect()));
        growing.values.push((format!("x{number}"), tensor));
        inputs.push(declared);
    }
    let given: HashMap<_, _> =
        growing.values.iter().map(|(name, tensor)| (name.clone(), Value::from(tensor.clone()))).collect();
    let wanted = growing.rng.usize(1..9);
    for _ in 0..400 {
        if growing.steps.len() >= wanted {
            break;
        }
        growing.grow();
    }
    let mut builder = Builder::new("random");
    for (number, declared) in inputs.into_iter().enumerate() {
        let id = builder.define(&format!("x{number}"), Origin::Input).unwrap();
        builder.info(id).declared = Some(declared);
    }
    let read: std::collections::HashSet<_> =
        growing.steps.iter().flat_map(|step| step.inputs.clone()).collect();
    let captured: std::collections::HashSet<String> = growing
        .steps
        .iter()
        .flat_map(|step| step.attributes.iter())
        .flat_map(|(_, content)| match content {
            Content::Graph(graph) => graph
                .values()
                .iter()
                .filter(|info| info.origin == Origin::Capture)
                .map(|info| info.name.to_string())
                .collect(),
            _ => Vec::new(),
        })
        .collect();
    for (name, tensor) in &growing.constants {
        if read.contains(name) || captured.contains(name) {
            builder.constant(name, tensor.clone().into()).unwrap();
        }
    }
    for (number, step) in growing.steps.iter().enumerate() {
        push(&mut builder, &format!("node{number}"), step);
    }
    // In half of the graphs, values that nodes read are no outputs.
    let all = growing.rng.bool();
    let ends = |output: &&String| all || !(read.contains(*output) || captured.contains(*output));
    for output in growing.steps.iter().flat_map(|step| &step.outputs).filter(ends) {
        builder.output(output);
    }
    (model(builder), given)
}
