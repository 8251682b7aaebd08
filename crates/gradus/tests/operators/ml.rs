//! Operators of `ai.onnx.ml`, on numbers that are computed by hand.

use std::collections::HashMap;
use std::slice::from_ref;

use gradus::check::CheckOptions;
use gradus::conversion::ConvertOptions;
use gradus::graph::{self, Builder, Content, Origin, Standard, Type};
use gradus::{DType, Map, Model, Result, Shape, Tensor, Value};

use crate::common::one::One;

type Attributes = Vec<(&'static str, Content)>;

/// The tensors that a node makes of tensors.
fn run(operator: &str, version: i64, inputs: &[Tensor], attributes: Attributes) -> Result<Vec<Tensor>> {
    let inputs: Vec<_> = inputs.iter().map(Value::from).collect();
    let outputs = run_values(operator, version, &inputs, attributes)?;
    outputs.iter().map(|value| value.tensor().cloned()).collect()
}

/// The outputs of a node on these inputs.
fn run_values(operator: &str, version: i64, inputs: &[Value], attributes: Attributes) -> Result<Vec<Value>> {
    let (model, given) = one_node(operator, version, inputs, attributes);
    let outputs = model.run(given)?;
    Ok(outputs.iter().map(|(_, value)| value.clone()).collect())
}

/// A model of a node, and what it is given; the first axis of tensors is open.
fn one_node(
    operator: &str,
    version: i64,
    inputs: &[Value],
    attributes: Attributes,
) -> (Model, HashMap<String, Value>) {
    let outputs = if operator.ends_with("Classifier") { 2 } else { 1 };
    let one = One::of(Standard::Onnx, operator, version).domain("ai.onnx.ml").first_open().outputs(outputs);
    let one = one.values(inputs.iter().cloned().map(Some));
    attributes.into_iter().fold(one, |one, (name, content)| one.attribute(name, content)).model()
}

fn matrix(rows: usize, numbers: &[f32]) -> Tensor {
    Tensor::from_vec(Shape::new([rows, numbers.len() / rows]).unwrap(), numbers.to_vec()).unwrap()
}

fn floats(tensor: &Tensor) -> Vec<f32> {
    tensor.elements::<f32>().unwrap().to_vec()
}

fn text(text: &str) -> Content {
    Content::Bytes(text.as_bytes().to_vec().into())
}

fn texts(all: &[&str]) -> Content {
    Content::Strings(all.iter().map(|text| text.as_bytes().to_vec().into()).collect())
}

fn ints(all: &[i64]) -> Content {
    Content::Ints(all.to_vec().into())
}

/// Two trees of one comparison each: `x[0] <= 0.5` and `x[1] > 2`, with leaves for three targets.
fn trees(weights: &'static str) -> Attributes {
    let [trees, nodes, ids, weight] = match weights {
        "class" => ["class_treeids", "class_nodeids", "class_ids", "class_weights"],
        _ => ["target_treeids", "target_nodeids", "target_ids", "target_weights"],
    };
    vec![
        ("nodes_treeids", ints(&[0, 0, 0, 1, 1, 1])),
        ("nodes_nodeids", ints(&[0, 1, 2, 0, 1, 2])),
        ("nodes_featureids", ints(&[0, 0, 0, 1, 0, 0])),
        ("nodes_values", Content::Floats([0.5, 0.0, 0.0, 2.0, 0.0, 0.0].into())),
        ("nodes_modes", texts(&["BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_GT", "LEAF", "LEAF"])),
        ("nodes_truenodeids", ints(&[1, 0, 0, 1, 0, 0])),
        ("nodes_falsenodeids", ints(&[2, 0, 0, 2, 0, 0])),
        ("nodes_missing_value_tracks_true", ints(&[1, 0, 0, 0, 0, 0])),
        (trees, ints(&[0, 0, 1, 1])),
        (nodes, ints(&[1, 2, 1, 2])),
        (ids, ints(&[0, 1, 2, 1])),
        (weight, Content::Floats([1.0, 2.0, 4.0, 8.0].into())),
    ]
}

#[test]
fn trees_add_the_weights_of_their_leaves() {
    let x = matrix(3, &[0.5, 3.0, 1.0, 2.0, f32::NAN, f32::NAN]);
    let targets = [("n_targets", Content::Int(3)), ("base_values", Content::Floats([0.5, 0.0, 0.0].into()))];
    let all = [trees("target"), targets.to_vec()].concat();
    let y = run("TreeEnsembleRegressor", 3, from_ref(&x), all).unwrap();
    assert_eq!(floats(&y[0]), [1.5, 0.0, 4.0, 0.5, 10.0, 0.0, 1.5, 8.0, 0.0]);
    let all = [trees("class"), vec![("classlabels_strings", texts(&["a", "b", "c"]))]].concat();
    let y = run("TreeEnsembleClassifier", 3, &[x], all).unwrap();
    assert_eq!(y[0].texts().unwrap(), ["c".into(), "b".into(), "b".into()]);
    assert_eq!(floats(&y[1]), [1.0, 0.0, 4.0, 0.0, 10.0, 0.0, 1.0, 8.0, 0.0]);
}

/// The nodes of trees in another order, with numbers that are not consecutive.
fn rearranged(weights: &'static str, order: [usize; 6]) -> Attributes {
    let mut all = trees(weights);
    let number = |id: i64| [7, -3, 40][usize::try_from(id).unwrap()];
    for (name, content) in &mut all {
        if let Content::Ints(ints) = content
            && (name.ends_with("nodeids") && ints.len() == 6 || *name == "target_nodeids")
        {
            *ints = ints.iter().map(|&id| number(id)).collect();
        }
    }
    for (_, content) in all.iter_mut().take(8) {
        match content {
            Content::Ints(ints) => *ints = order.iter().map(|&at| ints[at]).collect(),
            Content::Floats(floats) => *floats = order.iter().map(|&at| floats[at]).collect(),
            Content::Strings(texts) => *texts = order.iter().map(|&at| texts[at].clone()).collect(),
            _ => {}
        }
    }
    all
}

#[test]
fn nodes_of_trees_have_any_numbers_in_any_order() {
    let x = matrix(3, &[0.5, 3.0, 1.0, 2.0, f32::NAN, f32::NAN]);
    let targets = [("n_targets", Content::Int(3)), ("base_values", Content::Floats([0.5, 0.0, 0.0].into()))];
    for order in [[0, 1, 2, 3, 4, 5], [3, 0, 5, 2, 4, 1], [3, 4, 5, 0, 1, 2]] {
        let all = [rearranged("target", order), targets.to_vec()].concat();
        let y = run("TreeEnsembleRegressor", 3, from_ref(&x), all).unwrap();
        assert_eq!(floats(&y[0]), [1.5, 0.0, 4.0, 0.5, 10.0, 0.0, 1.5, 8.0, 0.0], "{order:?}");
    }
    let message = |name: &'static str, numbers: &[i64]| {
        let mut all = [trees("target"), targets.to_vec()].concat();
        all.iter_mut().filter(|(own, _)| *own == name).for_each(|(_, content)| *content = ints(numbers));
        run("TreeEnsembleRegressor", 3, from_ref(&x), all).unwrap_err().message().to_owned()
    };
    assert_eq!(message("nodes_nodeids", &[0, 1, 1, 0, 1, 2]), "node 1 of tree 0 is defined twice");
    assert_eq!(message("nodes_falsenodeids", &[9, 0, 0, 2, 0, 0]), "node 9 of tree 0 is missing");
    assert_eq!(message("nodes_falsenodeids", &[-1, 0, 0, 2, 0, 0]), "node -1 of tree 0 is missing");
    assert_eq!(message("target_treeids", &[0, 5, 1, 1]), "node 2 of tree 5 is missing");
}

#[test]
fn trees_with_cycles_and_features_that_are_missing_are_refused() {
    let mut cycle = trees("target");
    cycle[5] = ("nodes_truenodeids", ints(&[0, 0, 0, 1, 0, 0]));
    cycle.push(("n_targets", Content::Int(3)));
    let error = run("TreeEnsembleRegressor", 3, &[matrix(1, &[0.0, 0.0])], cycle).unwrap_err();
    assert_eq!(error.message(), "tree node 0 is below itself");
    let all = [trees("target"), vec![("n_targets", Content::Int(3))]].concat();
    let error = run("TreeEnsembleRegressor", 3, &[matrix(1, &[0.0])], all).unwrap_err();
    assert_eq!(error.message(), "number of features is 1, expected at least 2");
}

#[test]
fn linear_models_multiply_and_add() {
    let x = matrix(2, &[1.0, 2.0, -1.0, 0.5]);
    let all = || {
        vec![
            ("coefficients", Content::Floats([1.0, 2.0, -1.0, 4.0].into())),
            ("intercepts", Content::Floats([0.5, -0.5].into())),
        ]
    };
    let targets = vec![("targets", Content::Int(2))];
    let y = run("LinearRegressor", 1, from_ref(&x), [all(), targets].concat()).unwrap();
    assert_eq!(floats(&y[0]), [5.5, 6.5, 0.5, 2.5]);
    let labels = vec![("classlabels_ints", ints(&[7, 9]))];
    let y = run("LinearClassifier", 1, from_ref(&x), [all(), labels].concat()).unwrap();
    assert_eq!(y[0].to_i64().unwrap(), [9, 9]);
    let labels = vec![
        ("coefficients", Content::Floats([1.0, -4.0].into())),
        ("classlabels_ints", ints(&[7, 9])),
        ("post_transform", Content::Bytes("LOGISTIC".into())),
    ];
    let y = run("LinearClassifier", 1, &[matrix(2, &[4.0, 1.0, 1.0, 1.0])], labels).unwrap();
    assert_eq!(y[0].to_i64().unwrap(), [7, 7]);
    assert_eq!(floats(&y[1])[..2], [0.5, 0.5]);
    let error = run("LinearRegressor", 1, &[matrix(1, &[1.0, 2.0, 3.0])], all()).unwrap_err();
    assert_eq!(error.message(), "number of coefficients is 4, expected 3 for each target");
    let nothing =
        vec![("coefficients", Content::Floats([].into())), ("intercepts", Content::Floats([0.5].into()))];
    let y = run(
        "LinearRegressor",
        1,
        &[Tensor::from_vec(Shape::new([2, 0]).unwrap(), Vec::<f32>::new()).unwrap()],
        nothing,
    )
    .unwrap();
    assert_eq!(floats(&y[0]), [0.5, 0.5]);
}

#[test]
fn machines_weigh_their_support_vectors() {
    let all = vec![
        ("coefficients", Content::Floats([2.0, -1.0].into())),
        ("support_vectors", Content::Floats([1.0, 0.0, 0.0, 1.0].into())),
        ("n_supports", Content::Int(2)),
        ("kernel_type", Content::Bytes("POLY".into())),
        ("kernel_params", Content::Floats([1.0, 1.0, 2.0].into())),
        ("rho", Content::Floats([0.25].into())),
    ];
    let y = run("SVMRegressor", 1, &[matrix(1, &[2.0, 3.0])], all).unwrap();
    assert_eq!(floats(&y[0]), [2.0 * 9.0 - 16.0 + 0.25]);
    let all = vec![
        ("coefficients", Content::Floats([1.0, -1.0].into())),
        ("support_vectors", Content::Floats([1.0, 0.0, 0.0, 1.0].into())),
        ("vectors_per_class", ints(&[1, 1])),
        ("rho", Content::Floats([0.0].into())),
        ("classlabels_strings", texts(&["a", "b"])),
    ];
    let y = run("SVMClassifier", 1, &[matrix(2, &[2.0, 3.0, 3.0, 2.0])], all).unwrap();
    assert_eq!(y[0].texts().unwrap(), ["b".into(), "a".into()]);
    assert_eq!(floats(&y[1]), [1.0, -1.0, -1.0, 1.0]);
}

#[test]
fn features_are_scaled_replaced_and_joined() {
    let x = matrix(2, &[1.0, -4.0, f32::NAN, 0.0]);
    let all = vec![("offset", Content::Floats([1.0].into())), ("scale", Content::Floats([2.0, 0.5].into()))];
    assert_eq!(floats(&run("Scaler", 1, from_ref(&x), all).unwrap()[0])[..2], [0.0, -2.5]);
    let all = vec![
        ("imputed_value_floats", Content::Floats([7.0, 8.0].into())),
        ("replaced_value_float", Content::Float(f32::NAN)),
    ];
    assert_eq!(floats(&run("Imputer", 1, from_ref(&x), all).unwrap()[0]), [1.0, -4.0, 7.0, 0.0]);
    let y = run("Normalizer", 1, from_ref(&x), vec![("norm", Content::Bytes("L1".into()))]).unwrap();
    assert_eq!(floats(&y[0])[..2], [0.2, -0.8]);
    let all = vec![("inputdimensions", ints(&[1, 3]))];
    let y = run("FeatureVectorizer", 1, &[matrix(1, &[1.0, 2.0]), matrix(1, &[3.0, 4.0])], all).unwrap();
    assert_eq!(floats(&y[0]), [1.0, 3.0, 4.0, 0.0]);
    // A vector is one sample.
    let all = vec![("inputdimensions", ints(&[2]))];
    let y = run("FeatureVectorizer", 1, &[Tensor::vector(&[2.0f32, 1.0, 3.0])], all).unwrap();
    assert_eq!((floats(&y[0]), y[0].shape().dims()), (vec![2.0, 1.0], &[1, 2][..]));
}

#[test]
fn of_equal_categories_the_last_counts() {
    // ONNX Runtime 1.31 gives these.
    let categories = vec![("cats_int64s", Content::Ints([3, 3, -9].into()))];
    let hot = run("OneHotEncoder", 1, &[Tensor::vector(&[3i64, 2, -9])], categories).unwrap();
    assert_eq!(floats(&hot[0]), [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    // The first of equal keys does.
    let labels = vec![
        ("keys_int64s", Content::Ints([3, 3, -9].into())),
        ("values_floats", Content::Floats([10.0, 20.0, 30.0].into())),
    ];
    let values = run("LabelEncoder", 2, &[Tensor::vector(&[3i64, -9])], labels).unwrap();
    assert_eq!(floats(&values[0]), [10.0, 30.0]);
}

fn map(keys: Tensor, values: &[f32]) -> Value {
    Value::Map(Map::new(keys, Tensor::vector(values)).unwrap())
}

fn words(all: &[&str]) -> Tensor {
    Tensor::from_text(Shape::vector(all.len()), all.iter().map(|&text| text.into()).collect()).unwrap()
}

#[test]
fn rows_of_scores_become_maps_by_label() {
    let scores = [matrix(2, &[0.25, 0.75, 1.0, 0.0]).into()];
    let labels = [
        (Tensor::vector(&[7i64, -1]), ("classlabels_int64s", Content::Ints([7, -1].into()))),
        (words(&["no", "yes"]), ("classlabels_strings", texts(&["no", "yes"]))),
    ];
    for (keys, attribute) in labels {
        let found = run_values("ZipMap", 1, &scores, vec![attribute]).unwrap();
        let wanted = [[0.25, 0.75], [1.0, 0.0]].map(|row| map(keys.clone(), &row));
        assert_eq!(found, [Value::Sequence(wanted.to_vec())]);
    }
    let one = [Tensor::vector(&[0.5f32, 2.0]).into()];
    let found =
        run_values("ZipMap", 1, &one, vec![("classlabels_int64s", Content::Ints([0, 1].into()))]).unwrap();
    assert_eq!(found, [Value::Sequence(vec![map(Tensor::vector(&[0i64, 1]), &[0.5, 2.0])])]);
    for (attributes, message) in [
        (vec![], "attribute \"classlabels_int64s\" or \"classlabels_strings\" is missing"),
        (vec![("classlabels_int64s", Content::Ints([1].into()))], "number of class labels is 1, expected 2"),
        (
            vec![("classlabels_int64s", Content::Ints([1, 1].into()))],
            "number of different keys of a map is 1, expected 2",
        ),
    ] {
        let error = run_values("ZipMap", 1, &scores, attributes).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn maps_are_the_rows_of_a_tensor_in_openvino() {
    let scores = [matrix(2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).into()];
    let labels = vec![("classlabels_strings", texts(&["a", "b", "c"]))];
    let (model, given) = one_node("ZipMap", 1, &scores, labels);
    let converted = model.convert(Standard::OpenVino, &ConvertOptions::default()).unwrap();
    let [note] = &converted.report.notes[..] else { panic!("{:?}", converted.report.notes) };
    assert!(note.why.ends_with("\"a\", \"b\", \"c\""), "{}", note.why);
    let outputs = converted.model.run(given).unwrap();
    let rows = outputs[0].tensor().unwrap();
    assert_eq!((rows.shape().dims(), floats(rows)), (&[2, 3][..], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    let check = model.check(&converted.model, &CheckOptions::default()).unwrap();
    assert!(
        check.outputs.iter().all(|output| output.elements > 0 && output.is_same()),
        "{:?}",
        check.outputs
    );
}

#[test]
fn outputs_keep_their_type_where_only_the_file_tells_it() {
    let map = |key| Type::Map(Some(key), Box::new(Type::Tensor(Some(DType::F32), None)));
    for of in [
        Type::Sequence(Box::new(map(DType::String))),
        Type::Sequence(Box::new(map(DType::I64))),
        Type::Sequence(Box::new(Type::Sequence(Box::new(Type::Tensor(Some(DType::F32), None))))),
        Type::Sequence(Box::new(Type::Tensor(Some(DType::F32), None))),
    ] {
        let mut builder = Builder::new("an operator that nobody knows");
        let id = builder.define("x0", Origin::Input).unwrap();
        builder.info(id).declared = Some(Type::tensor(DType::F32, &Shape::new([2]).unwrap()));
        let operator =
            graph::OperatorId { domain: "custom".into(), name: "Rows".into(), overload: "".into() };
        let inputs = [Some(id)].into_iter().collect();
        let outputs = graph::Slots::new();
        let (name, attributes, version, position) = ("".into(), Vec::new(), Some(1), None);
        let node = graph::Node { name, operator, inputs, outputs, attributes, version, position };
        builder.push(node, &["y0"]).unwrap();
        let id = builder.output("y0");
        builder.info(id).declared = Some(of.clone());
        let mut model = graph::Model::new(Standard::Onnx);
        model.opsets = vec![("".into(), 18), ("custom".into(), 1)];
        model.graph = builder.finish().unwrap();
        let mut options = ConvertOptions::default();
        options.opset = Some(13);
        let converted = Model::from_source(model).convert(Standard::Onnx, &options).unwrap().model;
        let output = converted.graph().outputs()[0];
        assert_eq!(converted.graph().value(output).declared, Some(of));
    }
}

#[test]
fn maps_become_rows_by_a_vocabulary() {
    let known = || vec![("string_vocabulary", texts(&["a", "b", "c"]))];
    let found = run_values("DictVectorizer", 1, &[map(words(&["c", "a"]), &[1.5, -2.0])], known()).unwrap();
    assert_eq!(found, [matrix(1, &[-2.0, 0.0, 1.5]).into()]);
    let error = run_values("DictVectorizer", 1, &[map(words(&["a", "d"]), &[1.0, 2.0])], known());
    assert!(error.unwrap_err().to_string().contains("key 1 of the map is not in the vocabulary"));
    let error = run_values("DictVectorizer", 1, &[map(Tensor::vector(&[1i64]), &[1.0])], known());
    assert!(error.unwrap_err().to_string().contains("attribute \"int64_vocabulary\" is missing"));
    let error = run_values("DictVectorizer", 1, &[matrix(1, &[1.0]).into()], known());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("DictVectorizer-1: maps"), "{error}");
}

#[test]
fn maps_become_rows_by_their_keys() {
    let given = [map(Tensor::vector(&[5i64, 2]), &[1.5, 7.0])];
    let run = |attributes| run_values("CastMap", 1, &given, attributes);
    assert_eq!(run(vec![]).unwrap(), [matrix(1, &[7.0, 1.5]).into()]);
    let sparse = |most| vec![("map_form", text("SPARSE")), ("max_map", Content::Int(most))];
    assert_eq!(run(sparse(6)).unwrap(), [matrix(1, &[0.0, 0.0, 7.0, 0.0, 0.0, 1.5]).into()]);
    let whole = Tensor::from_vec(Shape::new([1, 2]).unwrap(), vec![7i64, 1]).unwrap();
    assert_eq!(run(vec![("cast_to", text("TO_INT64"))]).unwrap(), [whole.into()]);
    let error = run(sparse(5)).unwrap_err().to_string();
    assert!(error.contains("key 0 of the map is 5, expected 0 to 4"), "{error}");
    let error = run(sparse(0)).unwrap_err().to_string();
    assert!(error.contains("a positive attribute \"max_map\" is missing"), "{error}");
}
