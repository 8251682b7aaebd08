//! Attributes of Paddle's operators that nothing reads, each with a reason.
//!
//! Programs that Paddle saved have all attributes of an operator. Each node of the recorded ones is
//! run alone with one attribute that has no content that an operator can read: inference or the run
//! refuses it, or nobody reads the attribute.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use gradus::graph::{Attribute, Builder, Content, Node, Origin, Slots, Standard, Type, ValueId};
use gradus::infer::{InferOptions, InputFact};
use gradus::{Model, RunOptions, Value, graph, operators};

/// Attributes that nothing reads: their name, their operators (all where none is named), and why.
const UNREAD: &[(&str, &str, &str)] = &[
    ("place", "", "the device"),
    ("struct_name", "", "the name of a layer, for messages"),
    ("axes", "slice_array_dense", "an array has one axis"),
    ("decrease_axis", "slice_array_dense", "the element is taken out of the array"),
    ("ends", "slice_array_dense", "one element is taken"),
    ("col", "fetch", "readers order the outputs by it"),
    ("name", "fetch", "readers name the output by it"),
    ("dropout_prob", "rnn", "nothing is dropped in inference"),
    ("dtype", "set_value_with_tensor", "the values are a tensor"),
    ("epsilon", "p_norm", "for gradients"),
    ("exclusive", "lp_pool2d pool3d", "for averages"),
    ("fix_seed", "dropout", "nothing is drawn in inference"),
    ("im2col_step", "deformable_conv", "how many images are computed at a time"),
    ("infer_flags", "slice", "which bounds are known to the compiler"),
    ("input_size", "rnn", "the size of the last axis of the input"),
    ("is_arithmetic", "bitwise_left_shift", "signs do not matter on the left"),
    ("is_sparse", "hsigmoid_loss", "for gradients"),
    ("is_test", "dequantize_linear quantize_linear", "scales are given"),
    ("ksize", "unpool unpool3d", "the size of the output is given"),
    ("momentum", "batch_norm_", "for statistics in training"),
    ("num", "split unstack", "the sections, or the size of the axis, say it"),
    ("numeric_stable_mode", "cross_entropy_with_softmax", "the same function"),
    ("out_d", "bicubic_interp bilinear_interp linear_interp", "images have no such axis"),
    ("out_h", "linear_interp", "lines have no such axis"),
    ("output_size", "repeat_interleave repeat_interleave_with_tensor_index", "the sum of the repeats"),
    ("padding", "unpool", "the size of the output is given"),
    ("paddings", "unpool3d", "the size of the output is given"),
    ("paddings", "depthwise_conv2d", "the padding algorithm says them"),
    ("pooling_type", "lp_pool2d", "norms are the only type"),
    ("qmin", "dequantize_linear quantize_linear", "codes are symmetric"),
    (
        "quant_max_bound",
        "fused_bias_residual_layernorm fused_rms_norm_quant",
        "quantized results are refused",
    ),
    (
        "quant_min_bound",
        "fused_bias_residual_layernorm fused_rms_norm_quant",
        "quantized results are refused",
    ),
    (
        "quant_round_type",
        "fused_bias_residual_layernorm fused_rms_norm_quant",
        "quantized results are refused",
    ),
    ("return_counts", "unique_consecutive", "the outputs that are read say it"),
    ("return_inverse", "unique_consecutive", "the outputs that are read say it"),
    ("return_mask", "fractional_max_pool2d", "the outputs that are read say it"),
    ("round_type", "dequantize_linear", "nothing is rounded to a code"),
    ("sections", "split_with_num", "there are none"),
    ("seed", "dropout rnn", "nothing is drawn in inference"),
    ("sorted", "topk", "elements in order are as good as others"),
    ("sparse", "embedding", "for gradients"),
    ("stable", "argsort", "equal elements keep their order in any case"),
    ("strides", "unpool unpool3d", "the size of the output is given"),
];

/// Operators that no recorded program has, or not so that they run alone.
const UNSEEN: &[&str] = &[
    "affine_channel",
    "array_pop",
    "assign_out_",
    "baddbmm",
    "cholesky_solve",
    "cos",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "elementwise_pow",
    "empty",
    "erf",
    "expand_as",
    "flatten2",
    "fractional_max_pool3d",
    "frame",
    "fused_softmax_mask",
    "if",
    "increment",
    "less_equal",
    "logical_or",
    "logical_xor",
    "lookup_table",
    "lstsq",
    "lu",
    "lu_unpack",
    "matrix_rank",
    "memcpy_d2h",
    "memcpy_h2d",
    "min",
    "mul",
    "norm",
    "numel",
    "pad2d",
    "print",
    "prod",
    "qr",
    "rrelu",
    "share_data_",
    "sign",
    "sin",
    "softmax",
    "sqrt",
    "squared_l2_norm",
    "svd",
    "svdvals",
    "sync_batch_norm",
    "tanh",
    "tril_triu",
    "while",
];

/// Returns true if nodes with these attributes are inferred and run without an error.
fn runs(node: &Node, attributes: Vec<Attribute>, values: &HashMap<ValueId, Value>) -> bool {
    let mut builder = Builder::new("one");
    let (mut facts, mut given) = (BTreeMap::new(), HashMap::new());
    let mut input = |(at, id): (usize, &Option<ValueId>)| {
        let value = &values[id.as_ref()?];
        let key = format!("x{at}");
        let own = builder.define(&key, Origin::Input).unwrap();
        if let Ok(tensor) = value.tensor() {
            builder.info(own).declared = Some(Type::tensor(tensor.dtype(), tensor.shape()));
        }
        facts.insert(key.clone(), InputFact::Value(value.clone()));
        given.insert(key, value.clone());
        Some(own)
    };
    let inputs: Slots = node.inputs.iter().enumerate().map(&mut input).collect::<Vec<_>>().into();
    let names: Vec<_> = (0..node.outputs.len()).map(|output| format!("y{output}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    builder.push(Node { inputs, attributes, outputs: Slots::new(), ..node.clone() }, &names).unwrap();
    for name in &names {
        builder.output(name);
    }
    let mut source = graph::Model::new(Standard::Paddle);
    source.graph = builder.finish().unwrap();
    let model = Model::from_source(source);
    let mut options = InferOptions::default();
    options.sizes.inputs = facts;
    model.infer(&options).unwrap().problems().is_empty() && model.run(&given).is_ok()
}

/// The values that nodes of a program read.
fn values(model: &Model, inputs: &HashMap<String, Value>) -> HashMap<ValueId, Value> {
    let graph = model.graph();
    let ids: BTreeSet<_> =
        graph.nodes().iter().flat_map(|node| node.inputs.iter().flatten().copied()).collect();
    let names: Vec<_> = ids.iter().map(|&id| &*graph.value(id).name).collect();
    let program = model.compile(&names, &RunOptions::default()).unwrap();
    let found = program.run(inputs).unwrap();
    ids.into_iter().zip(found.iter().map(|(_, value)| value.clone())).collect()
}

/// Returns true if an attribute of an operator is listed.
fn is_listed(operator: &str, attribute: &str) -> bool {
    let is_of = |operators: &str| operators.is_empty() || operators.split(' ').any(|name| name == operator);
    UNREAD.iter().any(|&(name, operators, _)| name == attribute && is_of(operators))
}

#[test]
fn every_attribute_of_recorded_programs_is_read_or_has_a_reason() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/recorded/paddle");
    let mut read: BTreeMap<(String, String), bool> = BTreeMap::new();
    let rows = operators::all().filter(|row| row.standard == Standard::Paddle && row.infer.is_some());
    let mut unseen: BTreeSet<&str> = rows.map(|row| row.name).collect();
    for case in crate::paddle::cases(&root) {
        let values = values(&case.model, &case.inputs);
        for node in case.model.graph().nodes() {
            let alone = node.graphs().next().is_none();
            if !alone || !runs(node, node.attributes.clone(), &values) {
                continue;
            }
            if let Some(row) = operators::row(Standard::Paddle, "", &node.operator.name) {
                unseen.remove(row.name);
            }
            for (index, attribute) in node.attributes.iter().enumerate() {
                let is_read = read.entry((node.operator.name.to_string(), attribute.name.to_string()));
                let is_read = is_read.or_default();
                if !*is_read {
                    let mut attributes = node.attributes.clone();
                    attributes[index].content = Content::Types(vec![]);
                    *is_read = !runs(node, attributes, &values);
                }
            }
        }
    }
    let wrong = read.iter().filter(|((operator, attribute), is_read)| {
        **is_read == is_listed(operator, attribute) && !matches!(&**attribute, "place" | "struct_name")
    });
    let wrong: Vec<_> =
        wrong.map(|((operator, name), is_read)| format!("{operator} {name}: {is_read}")).collect();
    assert!(wrong.is_empty(), "read: {wrong:#?}");
    assert!(read.len() > 600, "{}", read.len());
    assert_eq!(unseen.into_iter().collect::<Vec<_>>(), UNSEEN);
}
