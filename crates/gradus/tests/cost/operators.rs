//! Costs of single nodes, against figures derived by hand.

use std::collections::BTreeSet;

use gradus::Model;
use gradus::graph::{self, Builder, Content, DeclaredDim, Origin, Standard, Type};
use gradus::infer::InferOptions;
use gradus::{DType, Shape, Tensor};

use crate::common::one::One;

fn zeros(dims: &[usize]) -> Tensor {
    let shape = Shape::new(dims.to_vec()).unwrap();
    Tensor::vector(&vec![0f32; shape.len()]).reshaped(shape).unwrap()
}

fn bytes(dims: &[usize]) -> Tensor {
    let shape = Shape::new(dims.to_vec()).unwrap();
    Tensor::vector(&vec![0u8; shape.len()]).reshaped(shape).unwrap()
}

/// MACs and operations.
fn costs(model: &Model) -> [Option<i64>; 2] {
    let cost = model.cost(&InferOptions::default()).unwrap();
    assert!(cost.inference().problems().is_empty(), "{:?}", cost.inference().problems());
    [cost.nodes[0].counts.macs, cost.nodes[0].counts.operations].map(|dim| dim?.known())
}

/// Two rows of 5 elements, 4 hidden; sequences have three steps.
#[test]
fn recurrent_cells_multiply_all_weights_for_each_row_and_step() {
    let hidden = |states: usize| vec![zeros(&[2, 4]); states];
    for (operator, version, gates, states) in
        [("LSTMCell", 4, 4, 2), ("GRUCell", 3, 3, 1), ("RNNCell", 0, 1, 1)]
    {
        let weights = [zeros(&[gates * 4, 5]), zeros(&[gates * 4, 4]), zeros(&[gates * 4])];
        let inputs = [vec![zeros(&[2, 5])], hidden(states)].concat();
        let node = One::of(Standard::OpenVino, operator, version).inputs(&inputs).constants(&weights);
        let node = node.text("hidden_size", "4").outputs(states).known();
        let macs = i64::try_from(2 * gates * 4 * (5 + 4)).unwrap();
        assert_eq!(costs(&node.model().0), [Some(macs), Some(0)], "{operator}");
    }
    for (operator, gates, states) in [("LSTMSequence", 4, 2), ("GRUSequence", 3, 1), ("RNNSequence", 1, 1)] {
        let weights = [zeros(&[1, gates * 4, 5]), zeros(&[1, gates * 4, 4]), zeros(&[1, gates * 4])];
        let inputs =
            [vec![zeros(&[2, 3, 5])], vec![zeros(&[2, 1, 4]); states], vec![Tensor::vector(&[3i64, 3])]];
        let node = One::of(Standard::OpenVino, operator, 5).inputs(&inputs.concat()).constants(&weights);
        let node = node.text("hidden_size", "4").text("direction", "forward").outputs(states + 1).known();
        let macs = i64::try_from(2 * 3 * gates * 4 * (5 + 4)).unwrap();
        assert_eq!(costs(&node.model().0), [Some(macs), Some(0)], "{operator}");
    }
}

/// Three regions of 2 channels, 2 by 2, from 2 by 2 samples of 4 neighbours each.
#[test]
fn regions_interpolate_between_four_neighbours_at_each_sample() {
    let inputs = || [zeros(&[1, 2, 8, 8]), zeros(&[3, 4]), Tensor::vector(&[0i64; 3])];
    let node = |ratio: i64| {
        let sizes = [("output_height", 2), ("output_width", 2), ("sampling_ratio", ratio)];
        let node = One::of(Standard::Onnx, "RoiAlign", 16).inputs(&inputs()).known();
        let node = sizes.iter().fold(node, |node, &(name, size)| node.attribute(name, Content::Int(size)));
        costs(&node.model().0)
    };
    assert_eq!(node(2), [Some(3 * 2 * 2 * 2 * 4 * 4), Some(0)]);
    assert_eq!(node(0), [None, None], "the regions decide the number of samples");
    let texts = [
        ("pooled_h", "2"),
        ("pooled_w", "2"),
        ("sampling_ratio", "2"),
        ("spatial_scale", "1"),
        ("mode", "avg"),
    ];
    let node = One::of(Standard::OpenVino, "ROIAlign", 9).inputs(&inputs()).known();
    let node = texts.iter().fold(node, |node, (name, text)| node.text(name, text));
    assert_eq!(costs(&node.model().0), [Some(384), Some(0)]);
}

/// A node of `ai.onnx.ml` on 6 rows of 5 floats.
fn classical(operator: &str, version: i64, attributes: Vec<(&str, Content)>, outputs: &[&str]) -> Model {
    let mut builder = Builder::new("one");
    let id = builder.define("x", Origin::Input).unwrap();
    let dims = vec![DeclaredDim::Known(6), DeclaredDim::Known(5)];
    builder.info(id).declared = Some(Type::Tensor(Some(DType::F32), Some(dims)));
    let named = |(name, content): (&str, Content)| graph::Attribute { name: name.into(), content };
    let node = graph::Node {
        name: "".into(),
        operator: graph::OperatorId {
            domain: "ai.onnx.ml".into(),
            name: operator.into(),
            overload: "".into(),
        },
        inputs: [Some(builder.reference("x"))].into_iter().collect(),
        outputs: graph::Slots::new(),
        attributes: attributes.into_iter().map(named).collect(),
        version: Some(version),
        position: None,
    };
    builder.push(node, outputs).unwrap();
    for name in outputs {
        builder.output(name);
    }
    let mut model = graph::Model::new(Standard::Onnx);
    model.opsets = vec![("".into(), 18), ("ai.onnx.ml".into(), version)];
    model.graph = builder.finish().unwrap();
    Model::from_source(model)
}

/// Paddle's programs, as they are recorded: a product with 4 by 3 weights; 144 elements from filters of
/// 27; 80 elements that are spread by filters of 36; 180 elements from filters of 9.
#[test]
fn operators_of_paddle_cost_what_stands_for_them() {
    let recorded = "../../conformance/recorded/paddle";
    let sums = |program: &str, operator: &str| {
        let model = Model::open(format!("{recorded}/{program}/model.json")).unwrap();
        let mut cost = model.cost(&InferOptions::default()).unwrap();
        let sums = cost.by_operator(model.graph())[operator];
        [sums.counts.macs, sums.counts.operations]
            .map(|dim| cost.inference().symbols().print(dim.unwrap()).to_string())
    };
    let macs = |program, operator| sums(program, operator)[0].clone();
    assert_eq!(macs("layer.pir", "matmul"), "12*x_0");
    assert_eq!(macs("network.pir", "conv2d"), (144 * 27).to_string());
    assert_eq!(macs("network.pir", "conv2d_transpose"), (80 * 36).to_string());
    assert_eq!(macs("network.pir", "depthwise_conv2d"), (180 * 9).to_string());
    // `i + 1` of one integer is a cast, a product and a sum, `a * 2` a product and a sum of two
    // floats; `i` counts from 0 to an input.
    assert_eq!(sums("loops.pir", "while")[1], "8*max(most_0, 0)");
    // Three times the same, of x_0 by 3 floats.
    assert_eq!(sums("layer.pir", "while")[1], "18*x_0 + 12");
    let mut uncounted = BTreeSet::new();
    for folder in std::fs::read_dir(recorded).unwrap() {
        let folder = folder.unwrap().path();
        let program = ["model.json", "model.pdmodel"].map(|name| folder.join(name));
        let model = Model::open(program.iter().find(|path| path.exists()).unwrap()).unwrap();
        let mut cost = model.cost(&InferOptions::default()).unwrap();
        let operators = cost.by_operator(model.graph()).into_iter();
        uncounted.extend(operators.filter(|(_, sum)| sum.uncounted > 0).map(|(name, _)| name));
    }
    // Operators that are computed directly, or become operators of ONNX that are not counted
    // (docs/cost.md).
    let wanted = ["bilinear", "fft_c2c", "fft_c2r", "fft_r2c", "roi_align", "roi_pool"];
    assert_eq!(uncounted.iter().map(|name| &**name).collect::<Vec<_>>(), wanted);
}

#[test]
fn linear_models_multiply_each_row_by_all_coefficients() {
    let coefficients = || Content::Floats([1.0; 10].into());
    let attributes = vec![("coefficients", coefficients()), ("targets", Content::Int(2))];
    assert_eq!(costs(&classical("LinearRegressor", 1, attributes, &["y"])), [Some(60), Some(0)]);
    let labels = ("classlabels_ints", Content::Ints([0, 1].into()));
    let attributes = vec![("coefficients", coefficients()), labels];
    assert_eq!(costs(&classical("LinearClassifier", 1, attributes, &["y", "scores"])), [Some(60), Some(0)]);
}

#[test]
fn scaling_of_features_is_an_operation_or_two_for_each() {
    let floats = |name| (name, Content::Floats([1.0; 5].into()));
    assert_eq!(
        costs(&classical("Scaler", 1, vec![floats("offset"), floats("scale")], &["y"])),
        [Some(0), Some(60)]
    );
    assert_eq!(
        costs(&classical("Imputer", 1, vec![floats("imputed_value_floats")], &["y"])),
        [Some(0), Some(30)]
    );
    assert_eq!(costs(&classical("Binarizer", 1, vec![], &["y"])), [Some(0), Some(30)]);
    assert_eq!(costs(&classical("Normalizer", 1, vec![], &["y"])), [Some(0), Some(90)]);
}

/// A node of ONNX on inputs whose elements are known.
fn onnx(operator: &str, version: i64, inputs: &[Tensor], attributes: &[(&str, Content)]) -> [Option<i64>; 2] {
    let mut node = One::of(Standard::Onnx, operator, version).constants(inputs);
    for (name, content) in attributes {
        node = node.attribute(name, content.clone());
    }
    costs(&node.model().0)
}

/// Two lines of 8 numbers take 5 * 8 * 3 operations each, real ones half; frames of 16 are weighted.
#[test]
fn fourier_transforms_count_as_fast_ones() {
    let scalar = Tensor::scalar::<i64>;
    assert_eq!(onnx("DFT", 20, &[zeros(&[2, 8, 2])], &[]), [Some(0), Some(240)]);
    assert_eq!(onnx("DFT", 20, &[zeros(&[2, 8, 1])], &[]), [Some(0), Some(120)]);
    assert_eq!(onnx("DFT", 20, &[zeros(&[2, 8, 2]), scalar(5)], &[]), [Some(0), Some(2 * 5 * 5 * 3)]);
    let signal = [zeros(&[1, 32, 1]), scalar(8), zeros(&[16]), scalar(16)];
    assert_eq!(onnx("STFT", 17, &signal, &[]), [Some(0), Some(3 * (5 * 16 * 4 / 2 + 16))]);
    let axes = || Tensor::vector(&[-1i64, 1]);
    let openvino = |operator, dims: &[usize]| {
        let node = One::of(Standard::OpenVino, operator, if operator == "DFT" { 7 } else { 9 });
        costs(&node.constants(&[zeros(dims), axes()]).known().model().0)
    };
    assert_eq!(openvino("DFT", &[3, 4, 4, 2]), [Some(0), Some(3 * 5 * 16 * 4)]);
    assert_eq!(openvino("RDFT", &[3, 4, 4]), [Some(0), Some(3 * 5 * 16 * 4 / 2)]);
}

#[test]
fn local_responses_sum_the_squares_of_neighbours() {
    let size = ("size", Content::Int(3));
    assert_eq!(onnx("LRN", 13, &[zeros(&[1, 4, 3, 3])], &[size]), [Some(36 * 3), Some(36 * 3)]);
}

/// 27 elements from filters of 8, and 9 * 4 samples of two channels from 4 neighbours each.
#[test]
fn deformed_convolutions_interpolate_what_they_multiply() {
    let inputs = [zeros(&[1, 2, 4, 4]), zeros(&[3, 2, 2, 2]), zeros(&[1, 8, 3, 3])];
    assert_eq!(onnx("DeformConv", 19, &inputs, &[]), [Some(27 * 8 + 9 * 4 * 2 * 4), Some(0)]);
}

#[test]
fn determinants_take_a_third_of_the_cube() {
    assert_eq!(onnx("Det", 11, &[zeros(&[2, 3, 3])], &[]), [Some(18), Some(0)]);
}

/// Each of 5 boxes of two classes meets at most 3 that are selected.
#[test]
fn overlaps_are_those_with_selected_boxes() {
    let boxes = || vec![zeros(&[1, 5, 4]), zeros(&[1, 2, 5])];
    let limited = [boxes(), vec![Tensor::vector(&[3i64])]].concat();
    assert_eq!(onnx("NonMaxSuppression", 11, &limited, &[]), [Some(0), Some(2 * 5 * 3 * 13)]);
    assert_eq!(onnx("NonMaxSuppression", 11, &boxes(), &[]), [Some(0), Some(0)], "none is selected");
    let (turned, limited) =
        ([zeros(&[1, 5, 5]), zeros(&[1, 2, 5])], [Tensor::scalar(3i64), zeros(&[]), zeros(&[])]);
    assert_eq!(openvino("NMSRotated", 13, &turned, &limited, &[]), [Some(0), Some(2 * 5 * 3 * 13)]);
}

#[test]
fn grams_of_all_lengths_and_distances_are_looked_up() {
    let ints = |values: &[i64]| Content::Ints(values.into());
    let attributes = [
        ("min_gram_length", Content::Int(1)),
        ("max_gram_length", Content::Int(2)),
        ("max_skip_count", Content::Int(1)),
        ("mode", Content::Bytes("TF".into())),
        ("ngram_counts", ints(&[0, 1])),
        ("ngram_indexes", ints(&[0, 1])),
        ("pool_int64s", ints(&[7, 7, 8])),
    ];
    let words = Tensor::vector(&[7i64, 8, 7, 8, 7, 8]);
    assert_eq!(onnx("TfIdfVectorizer", 9, &[words], &attributes), [Some(0), Some(6 * 3)]);
}

/// Two comparisons to the lowest leaves, and a weight.
#[test]
fn trees_compare_on_their_longest_path() {
    let ints = |values: &[i64]| Content::Ints(values.into());
    let texts = ["BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF", "LEAF"];
    let attributes = vec![
        ("nodes_modes", Content::Strings(texts.map(|text| text.as_bytes().to_vec().into()).into())),
        ("nodes_treeids", ints(&[0; 5])),
        ("nodes_nodeids", ints(&[0, 1, 2, 3, 4])),
        ("nodes_featureids", ints(&[0, 1, 0, 0, 0])),
        ("nodes_truenodeids", ints(&[1, 3, 0, 0, 0])),
        ("nodes_falsenodeids", ints(&[2, 4, 0, 0, 0])),
        ("nodes_values", Content::Floats([0.5; 5].into())),
        ("target_treeids", ints(&[0; 3])),
        ("target_nodeids", ints(&[2, 3, 4])),
        ("target_ids", ints(&[0; 3])),
        ("target_weights", Content::Floats([1.0; 3].into())),
    ];
    let model = classical("TreeEnsembleRegressor", 1, attributes, &["y"]);
    assert_eq!(costs(&model), [Some(0), Some(6 * (2 + 1))]);
}

#[test]
fn support_vectors_multiply_each_row() {
    let attributes = vec![
        ("n_supports", Content::Int(3)),
        ("support_vectors", Content::Floats([1.0; 15].into())),
        ("coefficients", Content::Floats([1.0; 3].into())),
        ("rho", Content::Floats([0.0].into())),
    ];
    assert_eq!(costs(&classical("SVMRegressor", 1, attributes, &["y"])), [Some(6 * 18), Some(0)]);
}

/// A node of OpenVINO, its first inputs those of the model and the others constants.
fn openvino(
    operator: &str,
    version: i64,
    inputs: &[Tensor],
    constants: &[Tensor],
    texts: &[(&str, &str)],
) -> [Option<i64>; 2] {
    let mut node = One::of(Standard::OpenVino, operator, version).inputs(inputs).constants(constants).known();
    for (name, text) in texts {
        node = node.text(name, text);
    }
    costs(&node.model().0)
}

/// 7 elements in windows `0..3`, `2..5`, `4..7`, and 6 in windows of 2.
#[test]
fn adaptive_pools_look_at_some_elements_twice() {
    let (x, sizes) = ([zeros(&[2, 5, 7, 6])], [Tensor::vector(&[3i64, 3])]);
    let elements = (3 + 3 + 3) * 6;
    let of = |operator| openvino(operator, 8, &x, &sizes, &[]);
    assert_eq!(of("AdaptiveAvgPool"), [Some(0), Some(2 * 5 * elements)]);
    assert_eq!(of("AdaptiveMaxPool"), [Some(0), Some(2 * 5 * elements)]);
}

#[test]
fn bags_add_a_row_for_each_index() {
    let table = || zeros(&[10, 4]);
    let list = |len: usize| Tensor::vector(&vec![0i64; len]);
    let packed = Tensor::vector(&[0i64; 6]).reshaped(Shape::new(vec![2, 3]).unwrap()).unwrap();
    assert_eq!(
        openvino("EmbeddingBagPackedSum", 3, &[table(), packed.clone()], &[], &[]),
        [Some(0), Some(6 * 4)]
    );
    assert_eq!(
        openvino("EmbeddingBagPacked", 15, &[table(), packed, zeros(&[2, 3])], &[], &[("reduction", "sum")]),
        [Some(6 * 4), Some(0)]
    );
    let bags = [table(), list(5), list(2)];
    assert_eq!(openvino("EmbeddingBagOffsetsSum", 3, &bags, &[], &[]), [Some(0), Some(5 * 4)]);
    assert_eq!(
        openvino("EmbeddingBagOffsets", 15, &bags, &[], &[("reduction", "sum")]),
        [Some(0), Some(5 * 4)]
    );
    let segments = [table(), list(5), list(5)];
    let count = Tensor::scalar(2i64);
    assert_eq!(openvino("EmbeddingSegmentsSum", 3, &segments, &[count], &[]), [Some(0), Some(5 * 4)]);
}

/// Three comparisons among 4 to 7 bounds.
#[test]
fn bounds_are_searched_in_halves() {
    let values = || zeros(&[2, 3]);
    for (len, comparisons) in [(0, 0), (1, 1), (3, 2), (4, 3), (7, 3)] {
        let found = openvino("Bucketize", 3, &[values(), zeros(&[len])], &[], &[]);
        assert_eq!(found, [Some(0), Some(6 * comparisons)]);
    }
    assert_eq!(openvino("SearchSorted", 15, &[zeros(&[2, 5]), values()], &[], &[]), [Some(0), Some(18)]);
}

/// Two channels of two regions, 3 by 3.
#[test]
fn pools_of_regions_are_counted_where_they_interpolate() {
    let inputs = [zeros(&[1, 2, 8, 8]), zeros(&[2, 5])];
    let sizes = [("pooled_h", "3"), ("pooled_w", "3"), ("spatial_scale", "1")];
    let of = |method| openvino("ROIPooling", 2, &inputs, &[], &[&sizes[..], &[("method", method)]].concat());
    assert_eq!(of("bilinear"), [Some(2 * 2 * 3 * 3 * 4), Some(0)]);
    assert_eq!(of("max"), [None, None]);
    let rotated = [zeros(&[1, 2, 8, 8]), zeros(&[2, 5]), Tensor::vector(&[0i64; 2])];
    let texts = [&sizes[..], &[("sampling_ratio", "2"), ("clockwise_mode", "true")]].concat();
    assert_eq!(openvino("ROIAlignRotated", 15, &rotated, &[], &texts), [Some(2 * 2 * 9 * 4 * 4), Some(0)]);
}

/// Batch 2, 3 positions, 4 heads of queries and 2 of keys; keys of 5 elements, values of 6.
#[test]
fn linear_attention_updates_a_state_and_reads_it() {
    let of = |rule: &str, more: usize| {
        let attributes = [
            ("q_num_heads", Content::Int(4)),
            ("kv_num_heads", Content::Int(2)),
            ("update_rule", Content::Bytes(rule.to_owned().into())),
        ];
        let state = zeros(&[2, 2, 5, 6]);
        let more = [zeros(&[2, 3, 2]), zeros(&[2, 3, 2])].into_iter().take(more);
        let inputs = [zeros(&[2, 3, 20]), zeros(&[2, 3, 10]), zeros(&[2, 3, 12]), state];
        let inputs: Vec<_> = inputs.into_iter().chain(more).collect();
        let node = One::of(Standard::Onnx, "LinearAttention", 27).constants(&inputs).outputs(2);
        let node = attributes.into_iter().fold(node, |node, (name, content)| node.attribute(name, content));
        costs(&node.model().0)
    };
    let (update, read) = (2 * 3 * 2 * 5 * 6, 2 * 3 * 4 * 5 * 6);
    assert_eq!(of("linear", 0), [Some(update + read), Some(0)]);
    assert_eq!(of("gated", 1), [Some(update + read), Some(update)]);
    assert_eq!(of("gated_delta", 2), [Some(2 * update + read), Some(update)]);
}

/// The reason of a node that is not counted.
fn reason(model: &Model) -> &'static str {
    let cost = model.cost(&InferOptions::default()).unwrap();
    assert!(cost.inference().problems().is_empty(), "{:?}", cost.inference().problems());
    cost.nodes[0].uncounted.unwrap()
}

#[test]
fn operators_whose_work_the_data_decide_say_so() {
    let texts = Tensor::from_text(Shape::new(vec![2]).unwrap(), vec!["a".into(), "b c".into()]).unwrap();
    let concatenated = One::of(Standard::Onnx, "StringConcat", 20).constants(&[texts.clone(), texts.clone()]);
    assert_eq!(reason(&concatenated.model().0), "the lengths of texts decide the number of operations");
    let places = One::of(Standard::OpenVino, "StringTensorUnpack", 15)
        .constants(std::slice::from_ref(&texts))
        .outputs(3);
    assert_eq!(reason(&places.model().0), "the lengths of texts decide the number of operations");
    let ends = [Tensor::vector(&[0i32]), Tensor::vector(&[1i32]), Tensor::vector(&[97u8])];
    let packed = One::of(Standard::OpenVino, "StringTensorPack", 15).constants(&ends);
    assert_eq!(reason(&packed.model().0), "the lengths of texts decide the number of operations");
    let regions = One::of(Standard::Onnx, "MaxRoiPool", 1).constants(&[zeros(&[1, 2, 8, 8]), zeros(&[2, 5])]);
    let regions = regions.attribute("pooled_shape", Content::Ints([2, 2].into()));
    assert_eq!(reason(&regions.model().0), "the sizes of regions decide the number of comparisons");
    let aligned = One::of(Standard::Onnx, "RoiAlign", 16);
    let aligned = aligned.constants(&[zeros(&[1, 2, 8, 8]), zeros(&[1, 4]), Tensor::vector(&[0i64])]);
    assert_eq!(reason(&aligned.model().0), "the sizes of regions decide the number of samples");
}

/// Mixtures of 3 experts, two of which take each of 5 rows: 4 elements to 6, and back.
#[test]
fn experts_multiply_the_rows_that_they_are_given() {
    let of = |operator: &str, weights: &[Option<Tensor>], attributes: &[(&str, Content)]| {
        let mut builder = Builder::new("experts");
        let inputs = [Some(zeros(&[5, 4])), Some(zeros(&[5, 3]))];
        let mut names = Vec::new();
        for (number, tensor) in inputs.iter().chain(weights).enumerate() {
            let name = tensor.as_ref().map_or_else(String::new, |_| format!("c{number}"));
            if let Some(tensor) = tensor {
                builder.constant(&name, tensor.clone().into()).unwrap();
            }
            names.push(name);
        }
        let attribute = |(name, content): &(&str, Content)| graph::Attribute {
            name: (*name).into(),
            content: content.clone(),
        };
        let node = graph::Node {
            name: "".into(),
            operator: graph::OperatorId {
                domain: "com.microsoft".into(),
                name: operator.into(),
                overload: "".into(),
            },
            inputs: names.iter().map(|name| (!name.is_empty()).then(|| builder.reference(name))).collect(),
            outputs: graph::Slots::new(),
            attributes: attributes.iter().map(attribute).collect(),
            version: Some(1),
            position: None,
        };
        builder.push(node, &["y"]).unwrap();
        builder.output("y");
        let mut model = graph::Model::new(Standard::Onnx);
        model.opsets = vec![("".into(), 18), ("com.microsoft".into(), 1)];
        model.graph = builder.finish().unwrap();
        costs(&Model::from_source(model))
    };
    let two = [("k", Content::Int(2))];
    let weights = [Some(zeros(&[3, 6, 4])), None, Some(zeros(&[3, 4, 6]))];
    assert_eq!(of("MoE", &weights, &two), [Some(5 * 2 * (24 + 24)), Some(0)]);
    let (first, second) = (Some(bytes(&[3, 6, 2])), Some(bytes(&[3, 4, 3])));
    let packed = [first, Some(zeros(&[3, 6])), None, second, Some(zeros(&[3, 4]))];
    assert_eq!(of("QMoE", &packed, &two), [Some(5 * 2 * (24 + 24)), Some(0)]);
}

/// 27 or 54 elements from filters of 18; 18 or 36 that are spread by filters of 16 or 12.
#[test]
fn convolutions_multiply_the_elements_of_a_filter() {
    let macs = |macs: i64| [Some(macs), Some(0)];
    assert_eq!(onnx("ConvInteger", 10, &[bytes(&[1, 2, 5, 5]), bytes(&[3, 2, 3, 3])], &[]), macs(27 * 18));
    let transposed = [zeros(&[1, 2, 3, 3]), zeros(&[2, 4, 2, 2])];
    assert_eq!(onnx("ConvTranspose", 11, &transposed, &[]), macs(18 * 16));
    let windows = [
        ("strides", "1,1"),
        ("dilations", "1,1"),
        ("pads_begin", "0,0"),
        ("pads_end", "0,0"),
        ("auto_pad", "explicit"),
    ];
    let of = |operator, x: &[usize], filter: &[usize], more: &[(&str, &str)]| {
        openvino(operator, 1, &[zeros(x), zeros(filter)], &[], &[&windows[..], more].concat())
    };
    assert_eq!(of("Convolution", &[1, 2, 5, 5], &[3, 2, 3, 3], &[]), macs(27 * 18));
    assert_eq!(of("GroupConvolution", &[1, 4, 5, 5], &[2, 3, 2, 3, 3], &[]), macs(54 * 18));
    assert_eq!(of("ConvolutionBackpropData", &[1, 2, 3, 3], &[2, 4, 2, 2], &[]), macs(18 * 16));
    assert_eq!(of("GroupConvolutionBackpropData", &[1, 4, 3, 3], &[2, 2, 3, 2, 2], &[]), macs(36 * 12));
    let binary = [("mode", "xnor-popcount"), ("pad_value", "0")];
    assert_eq!(of("BinaryConvolution", &[1, 2, 5, 5], &[3, 2, 3, 3], &binary), macs(27 * 18));
    // Each of 30 elements from the last two of its channel.
    let causal = One::of(Standard::Onnx, "CausalConvWithState", 27);
    let causal = causal.constants(&[zeros(&[2, 3, 5]), zeros(&[3, 1, 2])]).outputs(2);
    assert_eq!(costs(&causal.model().0), macs(30 * 2));
}

#[test]
fn products_and_cells_of_onnx_multiply_all_weights() {
    let macs = |macs: i64| [Some(macs), Some(0)];
    assert_eq!(onnx("MatMulInteger", 10, &[bytes(&[2, 3]), bytes(&[3, 4])], &[]), macs(2 * 4 * 3));
    let hidden = [("hidden_size", Content::Int(4))];
    for (operator, gates) in [("GRU", 3), ("RNN", 1)] {
        let inputs = [zeros(&[3, 2, 5]), zeros(&[1, gates * 4, 5]), zeros(&[1, gates * 4, 4])];
        let weights = i64::try_from(gates * 4 * (5 + 4)).unwrap();
        assert_eq!(onnx(operator, 14, &inputs, &hidden), macs(3 * 2 * weights), "{operator}");
    }
    assert_eq!(
        openvino("Inverse", 14, &[zeros(&[2, 3, 3])], &[], &[("adjoint", "false")]),
        macs(2 * 3 * 3 * 3)
    );
}

#[test]
fn pools_and_normalizations_look_at_elements_a_few_times() {
    let operations = |count: i64| [Some(0), Some(count)];
    let window = [("kernel_shape", Content::Ints([2, 2].into()))];
    assert_eq!(onnx("LpPool", 18, &[zeros(&[1, 1, 4, 4])], &window), operations(9 * 4));
    let window = [
        ("kernel", "2,2"),
        ("strides", "1,1"),
        ("pads_begin", "0,0"),
        ("pads_end", "0,0"),
        ("exclude-pad", "false"),
        ("rounding_type", "floor"),
    ];
    assert_eq!(openvino("AvgPool", 1, &[zeros(&[1, 1, 4, 4])], &[], &window), operations(9 * 4));
    assert_eq!(openvino("GRN", 1, &[zeros(&[1, 4, 3, 3])], &[], &[("bias", "1")]), operations(36 * 3));
    assert_eq!(openvino("SoftMax", 1, &[zeros(&[2, 3])], &[], &[("axis", "1")]), operations(6 * 5));
    let axes = Tensor::vector(&[1i64]);
    let near = [("eps", "1"), ("eps_mode", "add")];
    assert_eq!(openvino("NormalizeL2", 1, &[zeros(&[2, 3])], &[axes], &near), operations(6 * 3));
    let scaled = [zeros(&[2, 3]), zeros(&[1])];
    assert_eq!(
        openvino("FakeConvert", 13, &scaled, &[], &[("destination_type", "f8e4m3")]),
        operations(6 * 2)
    );
}
