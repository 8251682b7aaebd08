//! Invalid nodes: inference refuses what a run refuses, from the types and shapes of the data and
//! the elements of the rest.

use std::collections::HashMap;

use gradus::graph::{Builder, Content, Standard, Type};
use gradus::infer::{InferOptions, InputFact};
use gradus::{DType, Model, Value};

use crate::common::sketch::{Sketch, constant, content, parts};

/// A node that is written `Split@13([4], =[2, 2], axis=0)`, or `y, z = Split(…)` if it has several
/// outputs: inputs are data of which only the dimensions are known, or numbers that are.
struct Wrong {
    standard: Standard,
    text: String,
    attributes: Vec<(&'static str, Content)>,
}

fn wrong(text: impl Into<String>) -> Wrong {
    Wrong { standard: Standard::Onnx, text: text.into(), attributes: Vec::new() }
}

fn openvino(text: impl Into<String>) -> Wrong {
    Wrong { standard: Standard::OpenVino, ..wrong(text) }
}

impl Wrong {
    /// The model, values of its inputs, and what inference is told of them.
    fn model(&self) -> (Model, HashMap<String, Value>, InferOptions) {
        let (outputs, node) = self.text.split_once(" = ").unwrap_or(("y", &self.text));
        let (operator, arguments) = node.strip_suffix(')').unwrap().split_once('(').unwrap();
        let (mut sketch, mut attributes) = (Sketch(Builder::new("wrong"), self.standard), Vec::new());
        let (mut values, mut options, mut names) = (HashMap::new(), InferOptions::default(), Vec::new());
        for argument in parts(arguments, ',') {
            let (value, known): (Value, _) = match argument.split_once('=') {
                Some(("", numbers)) => {
                    let value = Value::from(constant(numbers));
                    (value.clone(), InputFact::Value(value))
                }
                Some((name, text)) => {
                    attributes.push((name, content(self.standard, text)));
                    continue;
                }
                None => {
                    let zeros = constant(&format!("float32{argument}(0)"));
                    let known = Type::tensor(DType::F32, zeros.shape());
                    (zeros.into(), InputFact::Type(known))
                }
            };
            let name = format!("in{}", names.len());
            sketch = sketch.text(&format!("{name}: ?"));
            values.insert(name.clone(), value);
            options.sizes.inputs.insert(name.clone(), known);
            names.push(name);
        }
        attributes.extend(self.attributes.iter().cloned());
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let newest = if operator.contains('@') { "" } else { "@21" };
        let sketch = sketch.with(&format!("{operator}{newest}"), &names, &parts(outputs, ','), attributes);
        (sketch.text(&format!("return {outputs}")).unwritten(21), values, options)
    }

    fn problems(&self) -> Vec<String> {
        let (model, _, options) = self.model();
        let inference = model.infer(&options).unwrap();
        inference.problems().iter().map(|problem| problem.message.clone()).collect()
    }

    /// The message of inference.
    fn message(&self) -> String {
        self.problems().into_iter().next().unwrap_or_default()
    }

    /// The difference between expected and actual treatment.
    fn check(&self) -> Option<String> {
        let (model, values, options) = self.model();
        let what = format!("{} {} {:?}", self.standard, self.text, self.attributes);
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
        wrong("ScatterND([2, 3], =[1], [3], reduction=linear)"),
        // Names of OpenVINO.
        wrong("ScatterND([2, 3], =[1], [3], reduction=sum)"),
        wrong("ScatterElements([3], =[1], [1], reduction=prod)"),
        // Names of ONNX, and of the other operator.
        openvino("ScatterNDUpdate@15([2, 3], =[1], [3], reduction=add)"),
        openvino("ScatterNDUpdate@15([2, 3], =[1], [3], reduction=mean)"),
        openvino("ScatterElementsUpdate@12([3], =[1], [1], =0, reduction=mul)"),
        openvino("ScatterElementsUpdate@12([3], =[1], [1], =0, reduction=sub)"),
        wrong("Add([2, 3], [4])"),
        wrong("Concat([2, 3], [2, 4], axis=0)"),
        wrong("Concat([2, 3], [2], axis=0)"),
        wrong("Concat([2, 3], axis=2)"),
        wrong("Expand([2, 3], =[4])"),
        wrong("Expand([2, 3], =[-1, 3])"),
        wrong("Flatten([2, 3], axis=3)"),
        wrong("Gather([2, 3], =2, axis=0)"),
        wrong("Gather([2, 3], =[0, -3], axis=0)"),
        wrong("Gather([2, 3], =0, axis=2)"),
        wrong("Gather([], =0)"),
        wrong("GatherElements([2, 3], =[0])"),
        wrong("GatherND([2], =[0, 0])"),
        wrong("MatMul([2, 3], [2, 3])"),
        wrong("MatMul([2, 3], [])"),
        wrong("Pad([2, 3], =[1, 1])"),
        wrong("Pad([2, 3], =[-2, 0, -1, 0])"),
        wrong("ReduceProd([2, 3], =[2])"),
        wrong("Reshape([2, 3], =[4, -1])"),
        wrong("Reshape([2, 3], =[2, 0, 0])"),
        wrong("Slice([4], =[0], =[2], =[0], =[0])"),
        wrong("Slice([4], =[0], =[2], =[1])"),
        wrong("Slice([4], =[0, 0], =[2])"),
        wrong("Slice([4, 4], =[0, 0], =[2, 2], =[1, -1])"),
        wrong("x, y = Split([4], =[1, 2])"),
        wrong("x, y = Split([4], =[5, -1])"),
        wrong("x, y, z = Split([4], =[2, 2])"),
        wrong("x, y = Split([4], axis=1, num_outputs=2)"),
        wrong("Squeeze([2, 1], =[0])"),
        wrong("Squeeze([2, 1], =[2])"),
        wrong("Tile([2, 1], =[2])"),
        wrong("Tile([2, 1], =[2, -1])"),
        wrong("Transpose([2, 3], perm=[0, 0])"),
        wrong("Transpose([2, 3], perm=[0])"),
        wrong("Transpose([2, 3], perm=[0, 2])"),
        wrong("Unsqueeze([2], =[3])"),
        wrong("Unsqueeze([2], =[0, 0])"),
        wrong("Range(=0, =4, =0)"),
        wrong("Range([], [], [2])"),
        wrong("Range(=[0, 1], =4, =1)"),
        wrong("Range([1, 1], [], [])"),
        wrong("Range(=0, =4, =1, stash_type=1)"),
        openvino("Range@4(=0, =4, =1)"),
        openvino("Range@4(=0, =4, =1, output_type=bogus)"),
        openvino("Range@4(=0, =4, =1, output_type=boolean)"),
        openvino("Range@4(=[0], =4, =1, output_type=i64)"),
        openvino("Range@4([], [], [1], output_type=f32)"),
        openvino("Range@4(=0, =4, =0, output_type=i64)"),
        openvino("ShapeOf@3([3], output_type=boolean)"),
        openvino("NonZero@3([3], output_type=f32)"),
        // Indices out of range, of data whose elements are not known.
        wrong("GatherElements([2], =[2])"),
        wrong("GatherElements([2], =[0, -3])"),
        wrong("ScatterElements([2], =[2], [1])"),
        wrong("GatherND([2, 3], =[0, 3])"),
        wrong("ScatterND([2, 3], =[2], [3])"),
        wrong("ReverseSequence([3, 2], =[1, 4])"),
        wrong("ReverseSequence([3, 2], =[1, -1])"),
        openvino("Gather@7([2], =[2], =0)"),
        openvino("GatherElements@6([2], =[2], axis=0)"),
        openvino("GatherND@8([2, 3], =[0, 3])"),
        openvino("ScatterUpdate@3([2], =[2], [1], =0)"),
        openvino("ScatterElementsUpdate@12([2], =[-3], [1], =0)"),
        openvino("ScatterNDUpdate@15([2, 3], =[2], [3])"),
        // Nodes that fail on numbers that are all known.
        wrong("Div(=[1, 2], =[1, 0])"),
        wrong("Mod(=[1, 2], =[1, 0])"),
        wrong("Concat([2, 3])"),
        wrong("Concat([2, 3], axis=[0, 1, 2])"),
        wrong("Gather([2, 3], =0, aksis=0)"),
        wrong("Gather([2, 3], [2])"),
        wrong("Not([2])"),
        wrong("Add([2], =[1, 2])"),
        wrong("Add([2])"),
        wrong("ConstantOfShape(=[2, -1])"),
        wrong("Trilu([2])"),
        wrong("OneHot(=[1], =-3, =[0, 1])"),
        wrong("x, y = TopK([2, 3], =[4])"),
        wrong("CumSum([2], =1)"),
        openvino("NonMaxSuppression@9([1, 2, 3], [1, 1, 2], =2)"),
        openvino("NonMaxSuppression@5([3], [1, 1, 2], =2)"),
        // Scales of channels came with version 21; before, they are those of groups.
        wrong("GroupNormalization([1, 4, 2], [2], [2], num_groups=2)"),
        wrong("GroupNormalization@18([1, 4, 2], [4], [4], num_groups=2)"),
    ];
    let wrong: Vec<_> = cases.iter().filter_map(Wrong::check).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Labels, samples, ends of updates and steps that are known, and axes of a result named twice.
#[test]
fn numbers_that_no_run_takes_are_refused_before_it() {
    let cases = [
        wrong("NegativeLogLikelihoodLoss([3, 4], =[1, 2, 4])"),
        wrong("NegativeLogLikelihoodLoss([3, 4], =[1, 2, -1])"),
        wrong("SoftmaxCrossEntropyLoss([2, 4], =[4, 5], ignore_index=4)"),
        wrong("RoiAlign([1, 1, 4, 4], [1, 4], =[1])"),
        wrong("TensorScatter@24([1, 1, 4, 2], [1, 1, 5, 2])"),
        wrong("TensorScatter@24([1, 1, 4, 2], [1, 1, 2, 2], =[3])"),
        wrong("STFT([1, 8, 1], =0, [4])"),
        wrong("Einsum([2, 3], equation=ij->ijj)"),
    ];
    let wrong: Vec<_> = cases.iter().filter_map(Wrong::check).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Nodes of OpenVINO, of which the first of each two runs and the second does not.
fn limits_of_openvino() -> Vec<[Wrong; 2]> {
    vec![
        [
            openvino("Pad@12([2], =[1], =[1], pad_mode=reflect)"),
            openvino("Pad@12([2], =[2], =[0], pad_mode=reflect)"),
        ],
        [
            openvino("Pad@12([2], =[2], =[2], pad_mode=symmetric)"),
            openvino("Pad@12([2], =[0], =[3], pad_mode=symmetric)"),
        ],
        [
            openvino("Pad@12([1], =[2], =[2], pad_mode=edge)"),
            openvino("Pad@12([0], =[0], =[3], pad_mode=edge)"),
        ],
        // Pads are limited in tensors without elements too.
        [
            openvino("Pad@12([0, 1], =[0, 2], =[0, 1], pad_mode=edge)"),
            openvino("Pad@12([0, 1], =[0, 2], =[0, 1], pad_mode=reflect)"),
        ],
        [openvino("DFT@7([1, 4, 2], =[1])"), openvino("DFT@7([1, 4, 1], =[1])")],
        [openvino("IDFT@7([1, 4, 2], =[1])"), openvino("IDFT@7([1, 4, 3], =[1])")],
        [openvino("IRDFT@9([1, 4, 2], =[1])"), openvino("IRDFT@9([1, 4, 1], =[1])")],
        [
            openvino("Einsum@7([4, 3], [2, 4, 3], equation='...i,...i->...')"),
            openvino("Einsum@7([4, 3], [2, 4, 5], equation='...i,...i->...')"),
        ],
    ]
}

/// Nodes of sizes around 0 and around that of a window, of which the first of each two runs and the
/// second does not.
fn limits_of_small_sizes() -> Vec<[Wrong; 2]> {
    let cases = [
        // Pads of a tensor without elements repeat none, but an axis of size 0 does not grow.
        ["Pad([0, 1], =[0, 2, 0, 1], mode=reflect)", "Pad([2, 1], =[0, 2, 0, 1], mode=reflect)"],
        ["Pad([0, 3], =[1, 0, -1, 3], mode=reflect)", "Pad([0, 3], =[1, 0, 0, 3], mode=reflect)"],
        ["Pad([0, 3], =[-1, 0, 1, 0], mode=edge)", "Pad([0, 3], =[-1, 0, 2, 0], mode=edge)"],
        ["Pad([3, 0], =[9, 0, 9, 0], mode=wrap)", "Pad([0, 0], =[0, 2, 0, 1], mode=wrap)"],
        // A window that is larger than the data by less than a stride has a place.
        [
            "MaxPool([1, 1, 2], kernel_shape=[3], strides=[2])",
            "MaxPool([1, 1, 1], kernel_shape=[5], strides=[2])",
        ],
        [
            "AveragePool([1, 1, 2], kernel_shape=[3], strides=[2], auto_pad=VALID)",
            "AveragePool([1, 1, 1], kernel_shape=[5], strides=[2], auto_pad=VALID)",
        ],
        [
            "LpPool([1, 1, 2], kernel_shape=[3], strides=[2])",
            "LpPool([1, 1, 1], kernel_shape=[5], strides=[2])",
        ],
        ["GatherND([2, 2], =[0])", "GatherND([0, 2], =int64[0, 3]())"],
        [
            "Resize([1, 2], =float32[0](), =float32[0](), =[3, 5], axes=[0, 1], keep_aspect_ratio_policy=not_larger)",
            "Resize([0, 2], =float32[0](), =float32[0](), =[3, 5], axes=[0, 1], keep_aspect_ratio_policy=not_larger)",
        ],
    ];
    cases.into_iter().map(|pair| pair.map(wrong)).collect()
}

/// A node, and whether it is one that the text of its standard allows: by the numbers of attributes
/// and sizes alone, as ONNX Runtime 1.32 and OpenVINO 2026.4 have it.
#[test]
fn limits_of_texts_are_those_of_nodes() {
    let grams = |shortest: i64, longest: i64, weights: &str| {
        format!(
            "TfIdfVectorizer(=[1, 2, 3], min_gram_length={shortest}, max_gram_length={longest}, max_skip_count=0, \
             mode=TF, ngram_counts=[0, 2], ngram_indexes=[0, 1, 2], pool_int64s=[1, 2, 1, 2]{weights})"
        )
    };
    let cases = [
        // The first of each two runs, the second does not.
        ["Pad([3], =[2, 2], mode=reflect)", "Pad([3], =[3, 0], mode=reflect)"],
        ["Pad([1], =[0, 0], mode=reflect)", "Pad([1], =[0, 1], mode=reflect)"],
        ["Pad([1], =[9, 9], mode=edge)", "Pad([0], =[0, 1], mode=edge)"],
        ["Pad([3], =[0, 9], mode=wrap)", "Pad([0], =[1, 0], mode=wrap)"],
        [
            "ConvTranspose([1, 1, 4], [1, 1, 3], strides=[2], output_padding=[1])",
            "ConvTranspose([1, 1, 4], [1, 1, 3], strides=[2], output_padding=[2])",
        ],
        [
            "ConvTranspose([1, 1, 4], [1, 1, 3], strides=[2], output_padding=[0])",
            "ConvTranspose([1, 1, 4], [1, 1, 3], strides=[2], output_padding=[-1])",
        ],
        [
            "ConvTranspose([1, 1, 4], [1, 1, 3], strides=[2], output_padding=[0])",
            "ConvTranspose([1, 1, 4], [1, 1, 3], strides=[2], output_padding=[0, 0])",
        ],
        [
            "ConvTranspose([1, 1, 4], [1, 1, 3], strides=[2], output_shape=[9])",
            "ConvTranspose([1, 1, 4], [1, 1, 3], strides=[2], output_shape=[9, 9])",
        ],
        [
            "Conv([1, 1, 4], [1, 1, 3], auto_pad=VALID, pads=[0, 0])",
            "Conv([1, 1, 4], [1, 1, 3], auto_pad=VALID, pads=[1, 0])",
        ],
        ["Conv([1, 1, 4], [1, 1, 3], pads=[1, 0])", "Conv([1, 1, 4], [1, 1, 3], pads=[-1, 0])"],
        // Every ellipsis stands for the same number of axes; OpenVINO's broadcast.
        [
            "Einsum([2, 1, 3], [1, 4, 3], equation='...i,...i->...')",
            "Einsum([2, 4, 3], [4, 3], equation='...i,...i->...')",
        ],
        ["AffineGrid([1, 2, 3], =[1, 1, 4, 5])", "AffineGrid([1, 1, 2], =[1, 1, 4])"],
        [
            "MaxPool([1, 1, 4], kernel_shape=[2], auto_pad=VALID, pads=[1, 0])",
            "MaxPool([1, 1, 4], kernel_shape=[2], auto_pad=VALID, pads=[1])",
        ],
        ["LpNormalization([2, 3], p=1)", "LpNormalization([2, 3], p=3)"],
        [&grams(1, 2, ""), &grams(2, 1, "")],
        [&grams(1, 2, ", weights=[1.0, 2.0, 3.0]"), &grams(1, 2, ", weights=[1.0, 2.0, 3.0, 4.0]")],
        ["STFT([1, 8, 1], =2, [4])", "STFT([1, 3, 1], =2, [4])"],
        ["STFT([1, 8, 2], =2, [4])", "STFT([1, 8, 3], =2, [4])"],
        ["DFT([1, 4, 1], =5)", "DFT([1, 4, 1], =0)"],
        ["DFT([1, 4, 2])", "DFT([1, 4, 3])"],
        ["DFT([0, 4, 2])", "DFT([0, 4, 0])"],
        ["DFT([1, 4, 1], onesided=1)", "DFT([1, 4, 2], onesided=1)"],
        ["Mod([2], [2], fmod=1)", "Mod([2], [2])"],
        ["Mod@28([2], [2])", "Mod@27([2], [2])"],
        ["x, y = Split([5], num_outputs=2)", "x, y = Split([5])"],
        ["x, y = Split@13([4])", "x, y = Split@13([5])"],
        ["x, y = Split([4], =[2, 2])", "x, y = Split([4], =[2, 2], num_outputs=2)"],
        ["ReduceMax([2], keepdims=0)", "ReduceMax([2], keepdims=2)"],
        ["Trilu([2, 2], upper=1)", "Trilu([2, 2], upper=-1)"],
        [
            "RotaryEmbedding@23([1, 1, 2, 4], [1, 2, 2], [1, 2, 2])",
            "RotaryEmbedding@23([1, 1, 2, 5], [1, 2, 2], [1, 2, 2])",
        ],
        [
            "RNN([1, 2, 2], [1, 3, 2], [1, 3, 3], clip=0.0, hidden_size=3)",
            "RNN([1, 2, 2], [1, 3, 2], [1, 3, 3], clip=-1.0, hidden_size=3)",
        ],
        [
            "RNN([1, 2, 2], [1, 3, 2], [1, 3, 3], clip=inf, hidden_size=3)",
            "RNN([1, 2, 2], [1, 3, 2], [1, 3, 3], clip=NaN, hidden_size=3)",
        ],
        ["Squeeze([1, 3], =[0])", "Squeeze([1, 3], =0)"],
        ["ReduceSum([1, 3], =[0])", "ReduceSum([1, 3], =0)"],
        ["Tile([3], =[2])", "Tile([3], =2)"],
        ["x, y = TopK([3], =[2])", "x, y = TopK([3], =2)"],
    ];
    let mut wrong = Vec::new();
    let cases = cases.map(|pair| pair.map(self::wrong));
    for [right, refused] in cases.into_iter().chain(limits_of_small_sizes()).chain(limits_of_openvino()) {
        let (model, values, _) = right.model();
        if let Err(error) = model.run(&values) {
            wrong.push(format!("refused: {error}"));
        }
        wrong.extend(right.problems());
        wrong.extend(refused.check());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn strings_that_are_no_text_are_refused_before_a_run() {
    let cases = [
        ("mode", "DepthToSpace([1, 4, 2, 2], blocksize=2)"),
        ("approximate", "Gelu([3])"),
        ("padding_mode", "GridSample([1, 1, 2, 2], [1, 2, 2, 2])"),
    ];
    for (name, text) in cases {
        let mut case = wrong(text);
        case.attributes.push((name, Content::Bytes((&[0xff][..]).into())));
        assert_eq!(case.check(), None, "{text}");
        assert_eq!(case.message(), format!("attribute \"{name}\" is a string of bytes, expected UTF-8"));
    }
}

/// Without an index, none is out of range; a size of 0 has none.
#[test]
fn what_has_no_elements_is_not_refused() {
    let cases = [
        wrong("GatherElements([2], =[])"),
        wrong("GatherElements([0], =[])"),
        wrong("ScatterElements([0], =[], [0])"),
        wrong("Gather([0, 3], =[])"),
        openvino("Gather@8([2], =[2], =0)"),
        openvino("Gather@7([2, 0], =[2], =0)"),
        openvino("ScatterUpdate@3([2, 0], =[2], [1, 0], =0)"),
        wrong("ReverseSequence([3, 2], =[0, 3])"),
        wrong("SoftmaxCrossEntropyLoss([2, 4], =[4, 3], ignore_index=4)"),
        wrong("TensorScatter@24([0, 1, 4, 2], [0, 1, 5, 2])"),
        wrong("TensorScatter@24([1, 1, 4, 2], [1, 1, 2, 2], =[2])"),
    ];
    let refused = cases.iter().filter(|case| case.check().is_none_or(|told| !told.ends_with("runs")));
    let refused: Vec<_> = refused.map(|case| &*case.text).collect();
    assert_eq!(refused, [""; 0]);
    for case in &cases {
        assert_eq!(case.problems(), [""; 0], "{}", case.text);
    }
}

#[test]
fn messages_name_the_input_the_axis_and_both_sizes() {
    let cases = [
        (
            "QuantizeLinear([2, 4], [3], axis=1)",
            "size of axis 0 of input 1 \"y_scale\" is 3, expected 4, the size of axis 1 of input 0 \"x\"",
        ),
        (
            "QuantizeLinear([2, 4], [4, 2], axis=0, block_size=1)",
            "size of axis 0 of input 1 \"y_scale\" is 4, expected 2, for blocks of 1 along axis 0 of input 0 \"x\"",
        ),
        ("LayerNormalization([2, 3, 4], [5])", "size of axis 0 of input 1 \"Scale\" is 5, expected 4"),
        (
            "BatchNormalization([1, 3], [3], [3], [2], [3])",
            "size of axis 0 of input 3 \"input_mean\" is 2, expected 3",
        ),
        (
            "DepthToSpace([1, 3, 4, 4], blocksize=2)",
            "size of axis 1 of input 0 \"input\" is 3, expected a multiple of 4",
        ),
        (
            "SpaceToDepth([1, 3, 4, 5], blocksize=2)",
            "size of axis 3 of input 0 \"input\" is 5, expected a multiple of 2",
        ),
        ("Conv([1, 3, 8, 8], [4, 2, 3, 3])", "size of axis 1 of input 0 \"X\" is 3, expected 2"),
        (
            "Conv([1, 4, 8, 8], [3, 2, 3, 3], group=2)",
            "size of axis 0 of input 1 \"W\" is 3, expected a multiple of 2",
        ),
        (
            "Conv([1, 3, 8, 8], [4, 3, 3, 3], kernel_shape=[3, 5])",
            "size 1 of attribute \"kernel_shape\" is 5, expected 3",
        ),
        (
            "GroupNormalization([1, 3], [3], [3], num_groups=2)",
            "size of axis 1 of input 0 \"X\" is 3, expected a multiple of 2",
        ),
        ("LRN([1], size=3)", "rank of input 0 \"X\" is 1, expected at least 2"),
    ];
    for (text, message) in cases {
        assert_eq!(wrong(text).message(), message, "{text}");
    }
}
