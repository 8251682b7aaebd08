//! Invalid nodes: inference refuses what a run refuses, from the types and shapes of the data and
//! the elements of the rest.

use std::collections::HashMap;

use gradus::graph::{self, Builder, Content, DeclaredDim, Origin, Standard, Type};
use gradus::infer::{InferOptions, InputFact};
use gradus::{DType, Model, Shape, Tensor, Value};

/// An input of a node: data of which only the dimensions are known, or numbers that are.
#[derive(Clone, Copy)]
enum Input {
    Data(&'static [usize]),
    Numbers(&'static [i64]),
    Number(i64),
}
use Input::{Data, Number, Numbers};

struct Wrong {
    standard: Standard,
    version: i64,
    operator: &'static str,
    inputs: &'static [Input],
    attributes: Vec<(&'static str, Content)>,
    outputs: usize,
}

fn wrong(operator: &'static str, inputs: &'static [Input]) -> Wrong {
    Wrong { standard: Standard::Onnx, version: 21, operator, inputs, attributes: Vec::new(), outputs: 1 }
}

fn openvino(operator: &'static str, version: i64, inputs: &'static [Input]) -> Wrong {
    Wrong { standard: Standard::OpenVino, version, ..wrong(operator, inputs) }
}

/// Range-4 of OpenVINO, of integers from 0.
fn range_4(inputs: &'static [Input]) -> Wrong {
    openvino("Range", 4, inputs)
}

const SCALARS: &[Input] = &[Number(0), Number(4), Number(1)];

impl Wrong {
    fn version(mut self, version: i64) -> Wrong {
        self.version = version;
        self
    }

    fn int(mut self, name: &'static str, value: i64) -> Wrong {
        self.attributes.push((name, Content::Int(value)));
        self
    }

    fn ints(mut self, name: &'static str, values: &[i64]) -> Wrong {
        self.attributes.push((name, Content::Ints(values.into())));
        self
    }

    fn text(mut self, name: &'static str, text: &'static str) -> Wrong {
        let content = match self.standard {
            Standard::Onnx => Content::Bytes(text.into()),
            _ => Content::Text(text.into()),
        };
        self.attributes.push((name, content));
        self
    }

    fn outputs(mut self, outputs: usize) -> Wrong {
        self.outputs = outputs;
        self
    }

    fn model(&self) -> Model {
        let mut builder = Builder::new("wrong");
        let names: Vec<_> = (0..self.inputs.len()).map(|i| format!("in{i}")).collect();
        for name in &names {
            builder.define(name, Origin::Input).unwrap();
        }
        let inputs: Vec<_> = names.iter().map(String::as_str).collect();
        let names: Vec<_> = (0..self.outputs).map(|i| format!("out{i}")).collect();
        let outputs: Vec<_> = names.iter().map(String::as_str).collect();
        builder
            .apply("node", self.operator, self.version, &inputs, &outputs, self.attributes.clone())
            .unwrap();
        for name in outputs {
            builder.output(name);
        }
        let mut model = graph::Model::new(self.standard);
        model.graph = builder.finish().unwrap();
        Model::from_source(model)
    }

    /// Values of the inputs, and what inference is told of them.
    fn given(&self) -> (HashMap<String, Value>, InferOptions) {
        let (mut values, mut given) = (HashMap::new(), HashMap::new());
        for (i, input) in self.inputs.iter().enumerate() {
            let (value, known): (Value, _) = match *input {
                Data(dims) => {
                    let shape = Shape::new(dims).unwrap();
                    let sizes = dims.iter().map(|&len| DeclaredDim::Known(len)).collect();
                    let known = InputFact::Type(Type::Tensor(Some(DType::F32), Some(sizes)));
                    let len = shape.len();
                    (Tensor::from_vec(shape, vec![0f32; len]).unwrap().into(), known)
                }
                Numbers(numbers) => {
                    let value = Value::from(Tensor::vector(numbers));
                    (value.clone(), InputFact::Value(value))
                }
                Number(number) => {
                    let value = Value::from(Tensor::scalar(number));
                    (value.clone(), InputFact::Value(value))
                }
            };
            values.insert(format!("in{i}"), value);
            given.insert(format!("in{i}"), known);
        }
        let mut options = InferOptions::default();
        options.sizes.inputs = given;
        (values, options)
    }

    fn problems(&self) -> Vec<String> {
        let inference = self.model().infer(&self.given().1).unwrap();
        inference.problems().iter().map(|problem| problem.message.clone()).collect()
    }

    /// The message of inference.
    fn message(&self) -> String {
        self.problems().into_iter().next().unwrap_or_default()
    }

    /// The difference between expected and actual treatment.
    fn check(&self) -> Option<String> {
        let ((values, options), model) = (self.given(), self.model());
        let what = format!("{} {} {:?}", self.standard, self.operator, self.attributes);
        if model.run(&values).is_ok() {
            return Some(format!("{what} runs"));
        }
        let inference = model.infer(&options).unwrap();
        let fact = inference.fact(model.graph().outputs()[0]);
        inference.problems().is_empty().then(|| format!("{what} is inferred: {fact:?}"))
    }
}

#[test]
fn what_no_run_can_do_is_refused_before_it() {
    let cases = [
        wrong("ScatterND", &[Data(&[2, 3]), Numbers(&[1]), Data(&[3])]).text("reduction", "linear"),
        // Names of OpenVINO.
        wrong("ScatterND", &[Data(&[2, 3]), Numbers(&[1]), Data(&[3])]).text("reduction", "sum"),
        wrong("ScatterElements", &[Data(&[3]), Numbers(&[1]), Data(&[1])]).text("reduction", "prod"),
        // Names of ONNX, and of the other operator.
        openvino("ScatterNDUpdate", 15, &[Data(&[2, 3]), Numbers(&[1]), Data(&[3])]).text("reduction", "add"),
        openvino("ScatterNDUpdate", 15, &[Data(&[2, 3]), Numbers(&[1]), Data(&[3])])
            .text("reduction", "mean"),
        openvino("ScatterElementsUpdate", 12, &[Data(&[3]), Numbers(&[1]), Data(&[1]), Number(0)])
            .text("reduction", "mul"),
        openvino("ScatterElementsUpdate", 12, &[Data(&[3]), Numbers(&[1]), Data(&[1]), Number(0)])
            .text("reduction", "sub"),
        wrong("Add", &[Data(&[2, 3]), Data(&[4])]),
        wrong("Concat", &[Data(&[2, 3]), Data(&[2, 4])]).int("axis", 0),
        wrong("Concat", &[Data(&[2, 3]), Data(&[2])]).int("axis", 0),
        wrong("Concat", &[Data(&[2, 3])]).int("axis", 2),
        wrong("Expand", &[Data(&[2, 3]), Numbers(&[4])]),
        wrong("Expand", &[Data(&[2, 3]), Numbers(&[-1, 3])]),
        wrong("Flatten", &[Data(&[2, 3])]).int("axis", 3),
        wrong("Gather", &[Data(&[2, 3]), Number(2)]).int("axis", 0),
        wrong("Gather", &[Data(&[2, 3]), Numbers(&[0, -3])]).int("axis", 0),
        wrong("Gather", &[Data(&[2, 3]), Number(0)]).int("axis", 2),
        wrong("Gather", &[Data(&[]), Number(0)]),
        wrong("GatherElements", &[Data(&[2, 3]), Numbers(&[0])]),
        wrong("GatherND", &[Data(&[2]), Numbers(&[0, 0])]),
        wrong("MatMul", &[Data(&[2, 3]), Data(&[2, 3])]),
        wrong("MatMul", &[Data(&[2, 3]), Data(&[])]),
        wrong("Pad", &[Data(&[2, 3]), Numbers(&[1, 1])]),
        wrong("Pad", &[Data(&[2, 3]), Numbers(&[-2, 0, -1, 0])]),
        wrong("ReduceProd", &[Data(&[2, 3]), Numbers(&[2])]),
        wrong("Reshape", &[Data(&[2, 3]), Numbers(&[4, -1])]),
        wrong("Reshape", &[Data(&[2, 3]), Numbers(&[2, 0, 0])]),
        wrong("Slice", &[Data(&[4]), Numbers(&[0]), Numbers(&[2]), Numbers(&[0]), Numbers(&[0])]),
        wrong("Slice", &[Data(&[4]), Numbers(&[0]), Numbers(&[2]), Numbers(&[1])]),
        wrong("Slice", &[Data(&[4]), Numbers(&[0, 0]), Numbers(&[2])]),
        wrong("Slice", &[Data(&[4, 4]), Numbers(&[0, 0]), Numbers(&[2, 2]), Numbers(&[1, -1])]),
        wrong("Split", &[Data(&[4]), Numbers(&[1, 2])]).outputs(2),
        wrong("Split", &[Data(&[4]), Numbers(&[5, -1])]).outputs(2),
        wrong("Split", &[Data(&[4]), Numbers(&[2, 2])]).outputs(3),
        wrong("Split", &[Data(&[4])]).int("axis", 1).int("num_outputs", 2).outputs(2),
        wrong("Squeeze", &[Data(&[2, 1]), Numbers(&[0])]),
        wrong("Squeeze", &[Data(&[2, 1]), Numbers(&[2])]),
        wrong("Tile", &[Data(&[2, 1]), Numbers(&[2])]),
        wrong("Tile", &[Data(&[2, 1]), Numbers(&[2, -1])]),
        wrong("Transpose", &[Data(&[2, 3])]).ints("perm", &[0, 0]),
        wrong("Transpose", &[Data(&[2, 3])]).ints("perm", &[0]),
        wrong("Transpose", &[Data(&[2, 3])]).ints("perm", &[0, 2]),
        wrong("Unsqueeze", &[Data(&[2]), Numbers(&[3])]),
        wrong("Unsqueeze", &[Data(&[2]), Numbers(&[0, 0])]),
        wrong("Range", &[Number(0), Number(4), Number(0)]),
        wrong("Range", &[Data(&[]), Data(&[]), Data(&[2])]),
        wrong("Range", &[Numbers(&[0, 1]), Number(4), Number(1)]),
        wrong("Range", &[Data(&[1, 1]), Data(&[]), Data(&[])]),
        wrong("Range", SCALARS).int("stash_type", 1),
        range_4(SCALARS),
        range_4(SCALARS).text("output_type", "bogus"),
        range_4(SCALARS).text("output_type", "boolean"),
        range_4(&[Numbers(&[0]), Number(4), Number(1)]).text("output_type", "i64"),
        range_4(&[Data(&[]), Data(&[]), Data(&[1])]).text("output_type", "f32"),
        range_4(&[Number(0), Number(4), Number(0)]).text("output_type", "i64"),
        openvino("ShapeOf", 3, &[Data(&[3])]).text("output_type", "boolean"),
        openvino("NonZero", 3, &[Data(&[3])]).text("output_type", "f32"),
        // Indices out of range, of data whose elements are not known.
        wrong("GatherElements", &[Data(&[2]), Numbers(&[2])]),
        wrong("GatherElements", &[Data(&[2]), Numbers(&[0, -3])]),
        wrong("ScatterElements", &[Data(&[2]), Numbers(&[2]), Data(&[1])]),
        wrong("GatherND", &[Data(&[2, 3]), Numbers(&[0, 3])]),
        wrong("ScatterND", &[Data(&[2, 3]), Numbers(&[2]), Data(&[3])]),
        wrong("ReverseSequence", &[Data(&[3, 2]), Numbers(&[1, 4])]),
        wrong("ReverseSequence", &[Data(&[3, 2]), Numbers(&[1, -1])]),
        openvino("Gather", 7, &[Data(&[2]), Numbers(&[2]), Number(0)]),
        openvino("GatherElements", 6, &[Data(&[2]), Numbers(&[2])]).int("axis", 0),
        openvino("GatherND", 8, &[Data(&[2, 3]), Numbers(&[0, 3])]),
        openvino("ScatterUpdate", 3, &[Data(&[2]), Numbers(&[2]), Data(&[1]), Number(0)]),
        openvino("ScatterElementsUpdate", 12, &[Data(&[2]), Numbers(&[-3]), Data(&[1]), Number(0)]),
        openvino("ScatterNDUpdate", 15, &[Data(&[2, 3]), Numbers(&[2]), Data(&[3])]),
        // Nodes that fail on numbers that are all known.
        wrong("Div", &[Numbers(&[1, 2]), Numbers(&[1, 0])]),
        wrong("Mod", &[Numbers(&[1, 2]), Numbers(&[1, 0])]),
        wrong("Concat", &[Data(&[2, 3])]),
        wrong("Concat", &[Data(&[2, 3])]).ints("axis", &[0, 1, 2]),
        wrong("Gather", &[Data(&[2, 3]), Number(0)]).int("aksis", 0),
        wrong("Gather", &[Data(&[2, 3]), Data(&[2])]),
        wrong("Not", &[Data(&[2])]),
        wrong("Add", &[Data(&[2]), Numbers(&[1, 2])]),
        wrong("Add", &[Data(&[2])]),
        wrong("ConstantOfShape", &[Numbers(&[2, -1])]),
        wrong("Trilu", &[Data(&[2])]),
        wrong("OneHot", &[Numbers(&[1]), Number(-3), Numbers(&[0, 1])]),
        wrong("TopK", &[Data(&[2, 3]), Numbers(&[4])]).outputs(2),
        wrong("CumSum", &[Data(&[2]), Number(1)]),
        openvino("NonMaxSuppression", 9, &[Data(&[1, 2, 3]), Data(&[1, 1, 2]), Number(2)]),
        openvino("NonMaxSuppression", 5, &[Data(&[3]), Data(&[1, 1, 2]), Number(2)]),
        // Scales of channels came with version 21; before, they are those of groups.
        wrong("GroupNormalization", &[Data(&[1, 4, 2]), Data(&[2]), Data(&[2])]).int("num_groups", 2),
        wrong("GroupNormalization", &[Data(&[1, 4, 2]), Data(&[4]), Data(&[4])])
            .version(18)
            .int("num_groups", 2),
    ];
    let wrong: Vec<_> = cases.iter().filter_map(Wrong::check).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Labels, samples, ends of updates and steps that are known, and axes of a result named twice.
#[test]
fn numbers_that_no_run_takes_are_refused_before_it() {
    let cases = [
        wrong("NegativeLogLikelihoodLoss", &[Data(&[3, 4]), Numbers(&[1, 2, 4])]),
        wrong("NegativeLogLikelihoodLoss", &[Data(&[3, 4]), Numbers(&[1, 2, -1])]),
        wrong("SoftmaxCrossEntropyLoss", &[Data(&[2, 4]), Numbers(&[4, 5])]).int("ignore_index", 4),
        wrong("RoiAlign", &[Data(&[1, 1, 4, 4]), Data(&[1, 4]), Numbers(&[1])]),
        wrong("TensorScatter", &[Data(&[1, 1, 4, 2]), Data(&[1, 1, 5, 2])]).version(24),
        wrong("TensorScatter", &[Data(&[1, 1, 4, 2]), Data(&[1, 1, 2, 2]), Numbers(&[3])]).version(24),
        wrong("STFT", &[Data(&[1, 8, 1]), Number(0), Data(&[4])]),
        wrong("Einsum", &[Data(&[2, 3])]).text("equation", "ij->ijj"),
    ];
    let wrong: Vec<_> = cases.iter().filter_map(Wrong::check).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Nodes of OpenVINO, of which the first of each two runs and the second does not.
fn limits_of_openvino() -> Vec<[Wrong; 2]> {
    vec![
        [
            openvino("Pad", 12, &[Data(&[2]), Numbers(&[1]), Numbers(&[1])]).text("pad_mode", "reflect"),
            openvino("Pad", 12, &[Data(&[2]), Numbers(&[2]), Numbers(&[0])]).text("pad_mode", "reflect"),
        ],
        [
            openvino("Pad", 12, &[Data(&[2]), Numbers(&[2]), Numbers(&[2])]).text("pad_mode", "symmetric"),
            openvino("Pad", 12, &[Data(&[2]), Numbers(&[0]), Numbers(&[3])]).text("pad_mode", "symmetric"),
        ],
        [
            openvino("Pad", 12, &[Data(&[1]), Numbers(&[2]), Numbers(&[2])]).text("pad_mode", "edge"),
            openvino("Pad", 12, &[Data(&[0]), Numbers(&[0]), Numbers(&[3])]).text("pad_mode", "edge"),
        ],
        [
            openvino("Einsum", 7, &[Data(&[4, 3]), Data(&[2, 4, 3])]).text("equation", "...i,...i->..."),
            openvino("Einsum", 7, &[Data(&[4, 3]), Data(&[2, 4, 5])]).text("equation", "...i,...i->..."),
        ],
    ]
}

/// A node, and whether it is one that the text of its standard allows: by the numbers of attributes
/// and sizes alone, as ONNX Runtime 1.32 and OpenVINO 2026.4 have it.
#[test]
fn limits_of_texts_are_those_of_nodes() {
    let pad = |mode: &'static str, inputs| wrong("Pad", inputs).text("mode", mode);
    let stft = |len: &'static [Input]| wrong("STFT", len);
    let transposed = || wrong("ConvTranspose", &[Data(&[1, 1, 4]), Data(&[1, 1, 3])]).ints("strides", &[2]);
    let einsum = |inputs| wrong("Einsum", inputs).text("equation", "...i,...i->...");
    let grid = |inputs| wrong("AffineGrid", inputs);
    let conv = || wrong("Conv", &[Data(&[1, 1, 4]), Data(&[1, 1, 3])]);
    let pool = || wrong("MaxPool", &[Data(&[1, 1, 4])]).ints("kernel_shape", &[2]);
    let lists =
        |operator, list: &'static [&'static [Input]]| [wrong(operator, list[0]), wrong(operator, list[1])];
    let grams = |shortest, longest, weights: &[f32]| {
        let node = wrong("TfIdfVectorizer", &[Numbers(&[1, 2, 3])]).int("min_gram_length", shortest);
        let node = node.int("max_gram_length", longest).int("max_skip_count", 0).text("mode", "TF");
        let mut node = node.ints("ngram_counts", &[0, 2]).ints("ngram_indexes", &[0, 1, 2]);
        node.attributes.push(("weights", Content::Floats(weights.into())));
        node.ints("pool_int64s", &[1, 2, 1, 2])
    };
    let recurrent = |clip| {
        let mut node = wrong("RNN", &[Data(&[1, 2, 2]), Data(&[1, 3, 2]), Data(&[1, 3, 3])]);
        node.attributes.push(("clip", Content::Float(clip)));
        node.int("hidden_size", 3)
    };
    let cases: Vec<[Wrong; 2]> = vec![
        // The first of each two runs, the second does not.
        [pad("reflect", &[Data(&[3]), Numbers(&[2, 2])]), pad("reflect", &[Data(&[3]), Numbers(&[3, 0])])],
        [pad("reflect", &[Data(&[1]), Numbers(&[0, 0])]), pad("reflect", &[Data(&[1]), Numbers(&[0, 1])])],
        [pad("edge", &[Data(&[1]), Numbers(&[9, 9])]), pad("edge", &[Data(&[0]), Numbers(&[0, 1])])],
        [pad("wrap", &[Data(&[3]), Numbers(&[0, 9])]), pad("wrap", &[Data(&[0]), Numbers(&[1, 0])])],
        [transposed().ints("output_padding", &[1]), transposed().ints("output_padding", &[2])],
        [transposed().ints("output_padding", &[0]), transposed().ints("output_padding", &[-1])],
        [transposed().ints("output_padding", &[0]), transposed().ints("output_padding", &[0, 0])],
        [transposed().ints("output_shape", &[9]), transposed().ints("output_shape", &[9, 9])],
        [
            conv().text("auto_pad", "VALID").ints("pads", &[0, 0]),
            conv().text("auto_pad", "VALID").ints("pads", &[1, 0]),
        ],
        [conv().ints("pads", &[1, 0]), conv().ints("pads", &[-1, 0])],
        // Every ellipsis stands for the same number of axes; OpenVINO's broadcast.
        [einsum(&[Data(&[2, 1, 3]), Data(&[1, 4, 3])]), einsum(&[Data(&[2, 4, 3]), Data(&[4, 3])])],
        [grid(&[Data(&[1, 2, 3]), Numbers(&[1, 1, 4, 5])]), grid(&[Data(&[1, 1, 2]), Numbers(&[1, 1, 4])])],
        [
            pool().text("auto_pad", "VALID").ints("pads", &[1, 0]),
            pool().text("auto_pad", "VALID").ints("pads", &[1]),
        ],
        [
            wrong("LpNormalization", &[Data(&[2, 3])]).int("p", 1),
            wrong("LpNormalization", &[Data(&[2, 3])]).int("p", 3),
        ],
        [grams(1, 2, &[]), grams(2, 1, &[])],
        [grams(1, 2, &[1.0, 2.0, 3.0]), grams(1, 2, &[1.0, 2.0, 3.0, 4.0])],
        [stft(&[Data(&[1, 8, 1]), Number(2), Data(&[4])]), stft(&[Data(&[1, 3, 1]), Number(2), Data(&[4])])],
        [wrong("DFT", &[Data(&[1, 4, 1]), Number(5)]), wrong("DFT", &[Data(&[1, 4, 1]), Number(0)])],
        [
            wrong("DFT", &[Data(&[1, 4, 1])]).int("onesided", 1),
            wrong("DFT", &[Data(&[1, 4, 2])]).int("onesided", 1),
        ],
        [wrong("Mod", &[Data(&[2]), Data(&[2])]).int("fmod", 1), wrong("Mod", &[Data(&[2]), Data(&[2])])],
        [
            wrong("Mod", &[Data(&[2]), Data(&[2])]).version(28),
            wrong("Mod", &[Data(&[2]), Data(&[2])]).version(27),
        ],
        [
            wrong("Split", &[Data(&[5])]).int("num_outputs", 2).outputs(2),
            wrong("Split", &[Data(&[5])]).outputs(2),
        ],
        [
            wrong("Split", &[Data(&[4])]).outputs(2).version(13),
            wrong("Split", &[Data(&[5])]).outputs(2).version(13),
        ],
        [
            wrong("Split", &[Data(&[4]), Numbers(&[2, 2])]).outputs(2),
            wrong("Split", &[Data(&[4]), Numbers(&[2, 2])]).int("num_outputs", 2).outputs(2),
        ],
        [
            wrong("ReduceMax", &[Data(&[2])]).int("keepdims", 0),
            wrong("ReduceMax", &[Data(&[2])]).int("keepdims", 2),
        ],
        [wrong("Trilu", &[Data(&[2, 2])]).int("upper", 1), wrong("Trilu", &[Data(&[2, 2])]).int("upper", -1)],
        [
            wrong("RotaryEmbedding", &[Data(&[1, 1, 2, 4]), Data(&[1, 2, 2]), Data(&[1, 2, 2])]).version(23),
            wrong("RotaryEmbedding", &[Data(&[1, 1, 2, 5]), Data(&[1, 2, 2]), Data(&[1, 2, 2])]).version(23),
        ],
        [recurrent(0.0), recurrent(-1.0)],
        [recurrent(f32::INFINITY), recurrent(f32::NAN)],
        lists("Squeeze", &[&[Data(&[1, 3]), Numbers(&[0])], &[Data(&[1, 3]), Number(0)]]),
        lists("ReduceSum", &[&[Data(&[1, 3]), Numbers(&[0])], &[Data(&[1, 3]), Number(0)]]),
        lists("Tile", &[&[Data(&[3]), Numbers(&[2])], &[Data(&[3]), Number(2)]]),
        lists("TopK", &[&[Data(&[3]), Numbers(&[2])], &[Data(&[3]), Number(2)]]).map(|node| node.outputs(2)),
    ];
    let mut wrong = Vec::new();
    for [right, refused] in cases.into_iter().chain(limits_of_openvino()) {
        let (values, _) = right.given();
        let problems = right.problems();
        if let Err(error) = right.model().run(&values) {
            wrong.push(format!("refused: {error}"));
        }
        wrong.extend(problems);
        wrong.extend(refused.check());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn strings_that_are_no_text_are_refused_before_a_run() {
    let cases = [
        ("DepthToSpace", "mode", &[Data(&[1, 4, 2, 2])][..]),
        ("Gelu", "approximate", &[Data(&[3])]),
        ("GridSample", "padding_mode", &[Data(&[1, 1, 2, 2]), Data(&[1, 2, 2, 2])]),
    ];
    for (operator, name, inputs) in cases {
        let mut case = wrong(operator, inputs).int("blocksize", 2);
        case.attributes.retain(|_| operator == "DepthToSpace");
        case.attributes.push((name, Content::Bytes((&[0xff][..]).into())));
        assert_eq!(case.check(), None, "{operator}");
        assert_eq!(case.message(), format!("attribute \"{name}\" is a string of bytes, expected UTF-8"));
    }
}

/// Without an index, none is out of range; a size of 0 has none.
#[test]
fn what_has_no_elements_is_not_refused() {
    let cases = [
        wrong("GatherElements", &[Data(&[2]), Numbers(&[])]),
        wrong("GatherElements", &[Data(&[0]), Numbers(&[])]),
        wrong("ScatterElements", &[Data(&[0]), Numbers(&[]), Data(&[0])]),
        wrong("Gather", &[Data(&[0, 3]), Numbers(&[])]),
        openvino("Gather", 8, &[Data(&[2]), Numbers(&[2]), Number(0)]),
        openvino("Gather", 7, &[Data(&[2, 0]), Numbers(&[2]), Number(0)]),
        openvino("ScatterUpdate", 3, &[Data(&[2, 0]), Numbers(&[2]), Data(&[1, 0]), Number(0)]),
        wrong("ReverseSequence", &[Data(&[3, 2]), Numbers(&[0, 3])]),
        wrong("SoftmaxCrossEntropyLoss", &[Data(&[2, 4]), Numbers(&[4, 3])]).int("ignore_index", 4),
        wrong("TensorScatter", &[Data(&[0, 1, 4, 2]), Data(&[0, 1, 5, 2])]).version(24),
        wrong("TensorScatter", &[Data(&[1, 1, 4, 2]), Data(&[1, 1, 2, 2]), Numbers(&[2])]).version(24),
    ];
    let refused = cases.iter().filter(|case| case.check().is_none_or(|told| !told.ends_with("runs")));
    let refused: Vec<_> = refused.map(|case| case.operator).collect();
    assert_eq!(refused, [""; 0]);
    for case in &cases {
        assert_eq!(case.problems(), [""; 0], "{}", case.operator);
    }
}

#[test]
fn messages_name_the_input_the_axis_and_both_sizes() {
    let data = |operator, inputs| wrong(operator, inputs);
    let cases = [
        (
            data("QuantizeLinear", &[Data(&[2, 4]), Data(&[3])]).int("axis", 1),
            "size of axis 0 of input 1 \"y_scale\" is 3, expected 4, the size of axis 1 of input 0 \"x\"",
        ),
        (
            data("QuantizeLinear", &[Data(&[2, 4]), Data(&[4, 2])]).int("axis", 0).int("block_size", 1),
            "size of axis 0 of input 1 \"y_scale\" is 4, expected 2, for blocks of 1 along axis 0 of input 0 \"x\"",
        ),
        (
            data("LayerNormalization", &[Data(&[2, 3, 4]), Data(&[5])]),
            "size of axis 0 of input 1 \"Scale\" is 5, expected 4",
        ),
        (
            data("BatchNormalization", &[Data(&[1, 3]), Data(&[3]), Data(&[3]), Data(&[2]), Data(&[3])]),
            "size of axis 0 of input 3 \"input_mean\" is 2, expected 3",
        ),
        (
            data("DepthToSpace", &[Data(&[1, 3, 4, 4])]).int("blocksize", 2),
            "size of axis 1 of input 0 \"input\" is 3, expected a multiple of 4",
        ),
        (
            data("SpaceToDepth", &[Data(&[1, 3, 4, 5])]).int("blocksize", 2),
            "size of axis 3 of input 0 \"input\" is 5, expected a multiple of 2",
        ),
        (
            data("Conv", &[Data(&[1, 3, 8, 8]), Data(&[4, 2, 3, 3])]),
            "size of axis 1 of input 0 \"X\" is 3, expected 2",
        ),
        (
            data("Conv", &[Data(&[1, 4, 8, 8]), Data(&[3, 2, 3, 3])]).int("group", 2),
            "size of axis 0 of input 1 \"W\" is 3, expected a multiple of 2",
        ),
        (
            data("Conv", &[Data(&[1, 3, 8, 8]), Data(&[4, 3, 3, 3])]).ints("kernel_shape", &[3, 5]),
            "size 1 of attribute \"kernel_shape\" is 5, expected 3",
        ),
        (
            data("GroupNormalization", &[Data(&[1, 3]), Data(&[3]), Data(&[3])]).int("num_groups", 2),
            "size of axis 1 of input 0 \"X\" is 3, expected a multiple of 2",
        ),
        (data("LRN", &[Data(&[1])]).int("size", 3), "rank of input 0 \"X\" is 1, expected at least 2"),
    ];
    for (wrong, message) in cases {
        assert_eq!(wrong.message(), message, "{}", wrong.operator);
    }
}
