//! Costs of small models, against figures derived by hand.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use gradus::cost::Cost;
use gradus::graph::{self, Builder, Content, DeclaredDim, Origin, Standard, Type};
use gradus::infer::InferOptions;
use gradus::{DType, Dim, Model, Shape, Tensor};

/// An input of the builder; names are symbols.
fn input(builder: &mut Builder, name: &str, dims: &[&str]) {
    let id = builder.define(name, Origin::Input).unwrap();
    let dim = |text: &&str| match text.parse() {
        Ok(size) => DeclaredDim::Known(size),
        Err(_) => DeclaredDim::Symbol((*text).into()),
    };
    builder.info(id).declared = Some(Type::Tensor(Some(DType::F32), Some(dims.iter().map(dim).collect())));
}

fn weight(builder: &mut Builder, name: &str, dims: &[usize]) {
    let shape = Shape::new(dims.to_vec()).unwrap();
    let zeros = vec![0f32; shape.len()];
    let tensor = Tensor::vector(&zeros).reshaped(shape).unwrap();
    builder.constant(name, tensor.into()).unwrap();
}

fn model(builder: Builder) -> Model {
    let mut source = graph::Model::new(Standard::Onnx);
    source.opsets = vec![("".into(), 17)];
    source.graph = builder.finish().unwrap();
    Model::from_source(source)
}

fn print(cost: &Cost, dim: Option<Dim>) -> String {
    dim.map_or_else(|| "?".to_owned(), |dim| cost.inference().symbols().print(dim).to_string())
}

/// The first layer of ResNet-50 (He et al.) has 9,408 parameters and 118,013,952 MACs an image.
#[test]
fn convolution_of_resnet_costs_as_published() {
    let mut builder = Builder::new("resnet");
    input(&mut builder, "x", &["batch", "3", "224", "224"]);
    weight(&mut builder, "w", &[64, 3, 7, 7]);
    let attributes = vec![("strides", Content::Ints(vec![2, 2])), ("pads", Content::Ints(vec![3, 3, 3, 3]))];
    builder.apply("conv1", "Conv", 17, &["x", "w"], &["h"], attributes).unwrap();
    builder.apply("relu1", "Relu", 17, &["h"], &["y"], vec![]).unwrap();
    builder.output("y");
    let model = model(builder);
    let cost = model.cost(&InferOptions::default()).unwrap();
    assert_eq!(cost.total.parameters, 9408);
    assert_eq!(print(&cost, cost.total.macs), "118013952*batch");
    assert_eq!(print(&cost, cost.total.operations), "802816*batch");
    assert_eq!(print(&cost, cost.nodes[0].bytes_read), "602112*batch + 37632");
    assert_eq!(print(&cost, cost.nodes[0].bytes_written), "3211264*batch");
    assert_eq!(print(&cost, cost.memory.peak.map(|peak| peak.bytes)), "6422528*batch");
    assert_eq!(cost.memory.live.len(), 2);
    assert_eq!(cost.total.uncounted, 0);
}

/// The pool after it looks at windows of nine elements.
#[test]
fn pools_look_at_each_element_of_their_windows() {
    let mut builder = Builder::new("pool");
    input(&mut builder, "x", &["batch", "64", "112", "112"]);
    let window = || {
        let list = |values: &[i64]| Content::Ints(values.into());
        vec![("kernel_shape", list(&[3, 3])), ("strides", list(&[2, 2])), ("pads", list(&[1, 1, 1, 1]))]
    };
    builder.apply("pool", "MaxPool", 17, &["x"], &["h"], window()).unwrap();
    builder.apply("again", "AveragePool", 17, &["h"], &["y"], window()).unwrap();
    builder.output("y");
    let model = model(builder);
    let cost = model.cost(&InferOptions::default()).unwrap();
    assert_eq!(print(&cost, cost.nodes[0].operations), format!("{}*batch", 64 * 56 * 56 * 9));
    assert_eq!(print(&cost, cost.nodes[1].operations), format!("{}*batch", 64 * 28 * 28 * 9));
    assert_eq!(cost.total.uncounted, 0);
}

/// The first depthwise layer of `MobileNetV2` has 32*9 weights and 3,612,672 MACs an image.
#[test]
fn depthwise_convolution_costs_its_own_channel() {
    let mut builder = Builder::new("mobilenet");
    input(&mut builder, "x", &["batch", "32", "112", "112"]);
    weight(&mut builder, "w", &[32, 1, 3, 3]);
    let group = ("group", Content::Int(32));
    let attributes = vec![group, ("pads", Content::Ints(vec![1, 1, 1, 1]))];
    builder.apply("depthwise", "Conv", 17, &["x", "w"], &["y"], attributes).unwrap();
    builder.output("y");
    let cost = model(builder).cost(&InferOptions::default()).unwrap();
    assert_eq!((cost.total.parameters, &*print(&cost, cost.total.macs)), (288, "3612672*batch"));
}

/// The feed-forward half of a layer of BERT-base: 768 to 3072 to 768.
fn feed_forward() -> Model {
    let mut builder = Builder::new("bert");
    input(&mut builder, "x", &["batch", "seq", "768"]);
    weight(&mut builder, "up", &[768, 3072]);
    weight(&mut builder, "down", &[3072, 768]);
    builder.apply("/layer.0/ffn/up", "MatMul", 17, &["x", "up"], &["h"], vec![]).unwrap();
    builder.apply("/layer.0/ffn/relu", "Relu", 17, &["h"], &["a"], vec![]).unwrap();
    builder.apply("/layer.0/out/down", "MatMul", 17, &["a", "down"], &["d"], vec![]).unwrap();
    builder.apply("/layer.0/out/add", "Add", 17, &["d", "x"], &["y"], vec![]).unwrap();
    builder.output("y");
    model(builder)
}

#[test]
fn feed_forward_of_bert_costs_as_published() {
    let model = feed_forward();
    let mut cost = model.cost(&InferOptions::default()).unwrap();
    assert_eq!(cost.total.parameters, 2 * 768 * 3072);
    assert_eq!(print(&cost, cost.total.macs), "4718592*batch*seq");
    assert_eq!(print(&cost, cost.total.operations), "3840*batch*seq");
    let operators = cost.by_operator(model.graph());
    assert_eq!((operators["MatMul"].nodes, operators["MatMul"].macs), (2, cost.total.macs));
    let groups = cost.by_prefix(model.graph(), 2);
    assert_eq!(groups.keys().collect::<Vec<_>>(), ["layer.0/ffn", "layer.0/out"]);
    assert_eq!(print(&cost, groups["layer.0/ffn"].macs), "2359296*batch*seq");
}

/// Four gates, each of 10 inputs and 20 states, for 20 units and each step.
#[test]
fn lstm_multiplies_all_weights_in_each_step() {
    let mut builder = Builder::new("lstm");
    input(&mut builder, "x", &["seq", "batch", "10"]);
    weight(&mut builder, "w", &[1, 80, 10]);
    weight(&mut builder, "r", &[1, 80, 20]);
    let hidden = ("hidden_size", Content::Int(20));
    builder.apply("lstm", "LSTM", 17, &["x", "w", "r"], &["y"], vec![hidden]).unwrap();
    builder.output("y");
    let cost = model(builder).cost(&InferOptions::default()).unwrap();
    assert_eq!(print(&cost, cost.total.macs), "2400*seq*batch");
}

#[test]
fn transposed_product_sums_over_the_other_axis() {
    let mut builder = Builder::new("gemm");
    input(&mut builder, "x", &["5", "n"]);
    weight(&mut builder, "w", &[5, 7]);
    let transposed = ("transA", Content::Int(1));
    builder.apply("gemm", "Gemm", 17, &["x", "w"], &["y"], vec![transposed]).unwrap();
    builder.output("y");
    let cost = model(builder).cost(&InferOptions::default()).unwrap();
    assert_eq!(print(&cost, cost.total.macs), "35*n");
}

#[test]
fn operators_without_a_rule_are_not_guessed() {
    let mut builder = Builder::new("unknown");
    input(&mut builder, "x", &["n"]);
    builder.apply("f", "NoSuchOperator", 17, &["x"], &["y"], vec![]).unwrap();
    builder.output("y");
    let cost = model(builder).cost(&InferOptions::default()).unwrap();
    assert_eq!((cost.total.uncounted, cost.total.unsized_nodes), (1, 1));
    assert_eq!((cost.nodes[0].macs, cost.nodes[0].bytes_written), (None, None));
}

/// The memory of the model at one batch, from the peak with all sizes known.
fn memory_at(model: &Model, batch: i64) -> u128 {
    let mut options = InferOptions::default();
    options.dims = [("batch".to_owned(), batch), ("seq".to_owned(), 16)].into();
    let cost = model.cost(&options).unwrap();
    let known = |dim: Option<Dim>| u128::try_from(dim.unwrap().known().unwrap()).unwrap();
    cost.memory.constants + known(cost.memory.inputs) + known(cost.memory.peak.map(|peak| peak.bytes))
}

#[test]
fn fit_is_the_largest_of_all_sizes_tried() {
    let model = feed_forward();
    let mut options = InferOptions::default();
    options.dims = [("seq".to_owned(), 16)].into();
    let mut cost = model.cost(&options).unwrap();
    let memory: Vec<_> = (1..60).map(|batch| memory_at(&model, batch)).collect();
    for budget in [memory[0] - 1, memory[0], memory[6], memory[6] + 1, memory[40] - 1] {
        let fit = cost.fit(model.graph(), budget).unwrap();
        let most = (1..60).zip(&memory).filter(|(_, needed)| **needed <= budget).last();
        assert_eq!(fit.most, most.map(|(batch, _)| batch), "{budget} bytes");
        assert_eq!(fit.bytes, *most.map_or(&memory[0], |(_, needed)| needed), "{budget} bytes");
    }
}

#[test]
fn fit_needs_one_symbol() {
    let model = feed_forward();
    let error = model.cost(&InferOptions::default()).unwrap().fit(model.graph(), 1 << 30).unwrap_err();
    assert!(error.to_string().contains("batch, seq"), "{error}");
}
