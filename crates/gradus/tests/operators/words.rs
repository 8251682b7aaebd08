//! Attributes that have one of a few texts: another text is an error of inference and of programs.

use std::collections::BTreeSet;

use gradus::graph::{self, Builder, Content, Origin, Standard};
use gradus::infer::InferOptions;
use gradus::operators::{self, Row};
use gradus::schema::{Arity, Sort};
use gradus::{DType, Model, RunOptions, Shape, Tensor};
use gradus_engine::attributes::ELEMENT_TYPES;

use crate::common::one::One;

/// Attributes that may have any text, or one of a grammar of its own: patterns, labels, names and
/// element types.
const OPEN: &[&str] = &[
    "cats_strings",
    "classes_index_type",
    "classes_strings",
    "classlabels_strings",
    "convert_type",
    "count_element_type",
    "default_string",
    "delimiter",
    "destination_type",
    "dtype",
    "equation",
    "framework",
    "index_element_type",
    "keys_strings",
    "locale",
    "output_type",
    "pad_value",
    "pattern",
    "pool_strings",
    "quant_type",
    "roi_num_type",
    "separators",
    "sequence_length_type",
    "stopwords",
    "string_vocabulary",
    "to",
    "tokenexp",
    "u64_integer_promotion_target",
    "value_string",
    "value_strings",
    "values_strings",
    "variable_id",
    "xs",
    "y",
    "zs",
];

const NONSENSE: &str = "nonsense";

/// The newest version of an operator with one attribute.
pub(super) fn model(row: &Row, attribute: &'static str, content: Content) -> Model {
    let signature = row.signatures().last().unwrap();
    let mut builder = Builder::new("one node");
    let required = signature.inputs.iter().filter(|input| matches!(input.arity, Arity::One));
    let inputs =
        (0..required.count()).map(|input| builder.define(&format!("in{input}"), Origin::Input).unwrap());
    let inputs = inputs.map(Some).collect();
    let node = graph::Node {
        name: "".into(),
        operator: graph::OperatorId { domain: row.domain.into(), name: row.name.into(), overload: "".into() },
        inputs,
        outputs: graph::Slots::new(),
        attributes: vec![graph::Attribute { name: attribute.into(), content }],
        version: Some(signature.since),
        position: None,
    };
    builder.push(node, &["out"]).unwrap();
    builder.output("out");
    let mut model = graph::Model::new(row.standard);
    model.graph = builder.finish().unwrap();
    Model::from_source(model)
}

/// An attribute that is an element type, or a number of IR, and says nonsense: an error before a
/// run.
#[test]
fn types_and_numbers_of_nonsense_are_errors_before_a_run() {
    let mut count = 0;
    for row in operators::all().filter(|row| row.infer.is_some() || row.is_evaluated()) {
        let Some(signature) = row.signatures().last() else { continue };
        for attribute in signature.attributes {
            let is_type = ELEMENT_TYPES.contains(&attribute.name);
            let nonsense = match (row.standard, attribute.sort) {
                (Standard::Onnx, Sort::Int) if is_type => Content::Int(999),
                (Standard::OpenVino, Sort::String) if is_type => Content::Text(NONSENSE.into()),
                (Standard::OpenVino, Sort::Int | Sort::Float | Sort::Ints | Sort::Floats) => {
                    Content::Text(NONSENSE.into())
                }
                _ => continue,
            };
            let model = model(row, attribute.name, nonsense);
            let inference = model.infer(&InferOptions::default()).unwrap();
            let problems: Vec<_> = inference.problems().iter().map(|of| of.error().to_string()).collect();
            let told = |message: &str| {
                message.contains(&format!("\"{}\"", attribute.name)) || message.contains("attribute")
            };
            assert!(problems.iter().any(|of| told(of)), "{} {}: {problems:?}", row.name, attribute.name);
            if row.is_evaluated() {
                let compiled = model.compile(&[], &RunOptions::default());
                assert!(compiled.is_err(), "{} {}", row.name, attribute.name);
            }
            count += 1;
        }
    }
    assert!(count > 300, "{count}");
}

/// The content of an attribute of text as the files of a standard have it.
fn content(standard: Standard, listed: bool) -> Content {
    match standard {
        Standard::Onnx if listed => Content::Strings([NONSENSE.into()].into()),
        Standard::Onnx => Content::Bytes(NONSENSE.into()),
        _ => Content::Text(NONSENSE.into()),
    }
}

#[test]
fn every_attribute_of_text_is_open_or_has_a_list_of_its_texts() {
    let mut missing = BTreeSet::new();
    for row in operators::all().filter(|row| row.infer.is_some()) {
        for attribute in row.signatures().iter().flat_map(|signature| signature.attributes) {
            let is_text = matches!(attribute.sort, Sort::String | Sort::Strings);
            let listed = row.words.iter().any(|words| words.attribute == attribute.name);
            if is_text && listed == OPEN.contains(&attribute.name) {
                missing.insert((row.name, attribute.name));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn another_text_is_an_error_before_a_run() {
    let mut count = 0;
    for row in operators::all() {
        for words in row.words {
            let sort =
                row.signatures().last().unwrap().attributes.iter().find(|it| it.name == words.attribute);
            let listed = sort.is_some_and(|it| it.sort == Sort::Strings);
            let model = model(row, words.attribute, content(row.standard, listed));
            let refused = |message: &str| {
                let attribute = format!("attribute \"{}\" is \"nonsense\", expected ", words.attribute);
                let told = [row.name, &attribute].into_iter().chain(words.texts.iter().copied());
                told.for_each(|part| assert!(message.contains(part), "{} {part}: {message}", row.name));
            };
            let inference = model.infer(&InferOptions::default()).unwrap();
            let [problem] = inference.problems() else { panic!("{} {}", row.name, words.attribute) };
            refused(&problem.error().to_string());
            if row.is_evaluated() {
                refused(&model.compile(&[], &RunOptions::default()).unwrap_err().to_string());
            }
            // Operators of Paddle have no signature that says what is text.
            if row.standard == Standard::Paddle {
                let model = self::model(row, words.attribute, Content::Float(0.5));
                let inference = model.infer(&InferOptions::default()).unwrap();
                let told = |message: &str| message.contains(&format!("\"{}\"", words.attribute));
                let problems: Vec<_> = inference.problems().iter().map(|of| of.error().to_string()).collect();
                assert!(problems.iter().any(|of| told(of)), "{} {}: {problems:?}", row.name, words.attribute);
            }
            count += 1;
        }
    }
    assert!(count > 190, "{count}");
}

/// ONNX Runtime has caches of codes, which Gradus does not read.
#[test]
fn attention_with_a_quantized_cache_is_refused_by_name() {
    let zeros = |dtype, dims: &[usize]| Tensor::zeros(dtype, Shape::new(dims).unwrap()).unwrap();
    let (rows, past) = (zeros(DType::F16, &[1, 1, 16]), zeros(DType::I8, &[1, 2, 4, 8]));
    let counts = [zeros(DType::I32, &[1]), zeros(DType::I32, &[])];
    let scale = zeros(DType::F32, &[1]);
    let given = [vec![rows; 3], vec![past; 2], counts.to_vec()].concat();
    let given = given.into_iter().map(|tensor| Some(tensor.into()));
    let scales = [Some(scale.clone().into()), Some(scale.into())];
    let node = One::of(Standard::Onnx, "GroupQueryAttention", 1).domain("com.microsoft").known();
    let node = node.values(given.chain(vec![None; 5]).chain(scales)).outputs(3);
    let node = ["num_heads", "kv_num_heads"]
        .into_iter()
        .fold(node, |node, heads| node.attribute(heads, Content::Int(2)));
    let kinds = ["k_quant_type", "v_quant_type"];
    let text = || Content::Bytes("PER_TENSOR".into());
    let (model, given) = kinds.into_iter().fold(node, |node, kind| node.attribute(kind, text())).model();
    let wanted = "cannot run GroupQueryAttention with a quantized cache";
    let inference = model.infer(&InferOptions::default()).unwrap();
    let problems: Vec<_> = inference.problems().iter().map(|of| of.error().to_string()).collect();
    assert!(problems.iter().any(|of| of.ends_with(wanted)), "{problems:?}");
    let error = model.run(&given).unwrap_err().to_string();
    assert!(error.ends_with(wanted), "{error}");
}
