//! Folding of OpenVINO models: what is removed, what is kept, and that nothing else changes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use gradus::convert::Rules;
use gradus::element::Bool;
use gradus::fold::FoldOptions;
use gradus::formats::openvino::encode_model;
use gradus::formats::{Files, InMemory};
use gradus::graph::{self, Builder, Content, DeclaredDim, Origin, Port, Ports, Standard, Type};
use gradus::infer::{InferOptions, InputFact};
use gradus::{DType, Kind, Limits, Model, Number, OpenOptions, Shape, Tensor, Value};
use serde_json::Value as Json;

fn open(xml: &[u8], bin: Vec<u8>) -> Model {
    let files: Arc<dyn Files> = Arc::new(InMemory(HashMap::from([("m.bin".to_owned(), bin.into())])));
    OpenOptions::new().with_files(&Bytes::copy_from_slice(xml), "m", files).unwrap()
}

/// The model, written and read.
fn model(builder: Builder) -> Model {
    let mut source = graph::Model::new(Standard::OpenVino);
    source.graph = builder.finish().unwrap();
    let written = encode_model(&source).unwrap();
    open(&written.xml.to_bytes(&[]).unwrap(), written.bin.to_bytes(&[]).unwrap().to_vec())
}

fn folded_with(model: &Model, options: &FoldOptions) -> Model {
    let folded = model.fold(options).unwrap();
    let after = model.edited(&folded.model).unwrap();
    // Folding a folded model changes nothing.
    let again = after.edited(&after.fold(options).unwrap().model).unwrap();
    assert_eq!(text(&again), text(&after));
    after
}

fn folded(model: &Model) -> Model {
    folded_with(model, &FoldOptions::default())
}

fn text(model: &Model) -> String {
    String::from_utf8(model.bytes().unwrap().to_vec()).unwrap()
}

fn operators(model: &Model) -> Vec<String> {
    model.graph().nodes().iter().map(|node| node.operator.to_string()).collect()
}

fn input(builder: &mut Builder, name: &str, dtype: DType, sizes: &[i64]) {
    let id = builder.define(name, Origin::Input).unwrap();
    let sizes =
        sizes.iter().map(|&len| usize::try_from(len).map_or(DeclaredDim::Unknown, DeclaredDim::Known));
    builder.info(id).declared = Some(Type::Tensor(Some(dtype), Some(sizes.collect())));
}

fn ints(builder: &mut Builder, name: &str, elements: &[i64]) {
    builder.constant(name, Tensor::vector(elements).into()).unwrap();
}

fn node(
    builder: &mut Builder,
    operator: &str,
    version: i64,
    inputs: &[&str],
    output: &str,
    data: &[(&'static str, &str)],
) {
    let data = data.iter().map(|(name, value)| (*name, Content::Text((*value).into()))).collect();
    builder.apply(&format!("make {output}"), operator, version, inputs, &[output], data).unwrap();
}

fn floats(dims: &[usize]) -> Value {
    let shape = Shape::new(dims.to_vec()).unwrap();
    let numbers = (0..shape.len()).map(|i| Number::Int(i.try_into().unwrap()));
    Tensor::from_numbers(DType::F32, shape, numbers, Rules::IEEE).unwrap().into()
}

/// Both give the same, under the same names.
fn same(before: &Model, after: &Model, inputs: &[(&str, Value)]) {
    let inputs: HashMap<_, _> =
        inputs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let [one, other] = [before, after].map(|model| model.run(&inputs).unwrap());
    assert_eq!(one, other);
}

#[test]
fn a_reshape_to_computed_sizes_needs_no_shape() {
    let mut builder = Builder::new("g");
    let b = &mut builder;
    input(b, "x", DType::F32, &[-1, -1, 8]);
    b.constant("axis", Tensor::scalar(0i64).into()).unwrap();
    for (name, place) in [("first", 0), ("second", 1)] {
        node(b, "ShapeOf", 3, &["x"], &format!("shape {name}"), &[("output_type", "i64")]);
        ints(b, &format!("place {name}"), &[place]);
        let (shape, place) = (format!("shape {name}"), format!("place {name}"));
        node(b, "Gather", 8, &[&shape, &place, "axis"], name, &[("batch_dims", "0")]);
    }
    ints(b, "heads", &[2, 4]);
    node(b, "Concat", 1, &["first", "second", "heads"], "target", &[("axis", "0")]);
    node(b, "Reshape", 1, &["x", "target"], "y", &[("special_zero", "true")]);
    b.output("y");
    let before = model(builder);
    let after = folded(&before);
    assert_eq!(operators(&after), ["Reshape"]);
    let node = &after.graph().nodes()[0];
    let target = after.graph().constant(node.inputs[1].unwrap()).unwrap().tensor().unwrap();
    assert_eq!(target.to_i64().unwrap(), [0, 0, 2, 4]);
    same(&before, &after, &[("x", floats(&[2, 3, 8]))]);
    // The constants that are not read any more left the file.
    let of = |model: &Model| model.graph().constants().len();
    assert_eq!((of(&before), of(&after)), (4, 1));
}

#[test]
fn sizes_are_asked_once_of_an_input_and_each_type() {
    let mut builder = Builder::new("g");
    let b = &mut builder;
    input(b, "x", DType::F32, &[-1, -1]);
    b.constant("axis", Tensor::scalar(0i64).into()).unwrap();
    b.constant("one", Tensor::scalar(1i64).into()).unwrap();
    b.constant("zero", Tensor::scalar(0i32).into()).unwrap();
    b.constant("step", Tensor::scalar(1i32).into()).unwrap();
    node(b, "ReLU", 1, &["x"], "a", &[]);
    node(b, "Exp", 1, &["a"], "b", &[]);
    for (of, number) in [("a", "m"), ("b", "n")] {
        node(b, "ShapeOf", 3, &[of], &format!("shape {number}"), &[("output_type", "i32")]);
        let place = if number == "m" { "axis" } else { "one" };
        node(b, "Gather", 8, &[&format!("shape {number}"), place, "axis"], number, &[("batch_dims", "0")]);
        node(b, "Range", 4, &["zero", number, "step"], &format!("range {number}"), &[("output_type", "i32")]);
        b.output(&format!("range {number}"));
    }
    b.output("b");
    let before = model(builder);
    let after = folded(&before);
    let mut left = operators(&after);
    left.sort();
    assert_eq!(left, ["Exp", "Gather", "Gather", "Range", "Range", "ReLU", "ShapeOf"]);
    same(&before, &after, &[("x", floats(&[2, 3]))]);
}

#[test]
fn what_changes_nothing_goes_but_outputs_keep_their_layers() {
    let mut builder = Builder::new("g");
    let b = &mut builder;
    input(b, "x", DType::F32, &[-1, 3]);
    ints(b, "order", &[0, 1]);
    ints(b, "begin", &[0, 0]);
    node(b, "Convert", 1, &["x"], "same", &[("destination_type", "f32")]);
    node(b, "Transpose", 1, &["same", "order"], "turned", &[]);
    node(b, "ShapeOf", 3, &["turned"], "shape", &[("output_type", "i64")]);
    ints(b, "steps", &[1, 1]);
    let masks = [
        ("begin_mask", "0,0"),
        ("end_mask", "0,0"),
        ("new_axis_mask", ""),
        ("shrink_axis_mask", ""),
        ("ellipsis_mask", ""),
    ];
    node(b, "StridedSlice", 1, &["turned", "begin", "shape", "steps"], "whole", &masks);
    node(b, "Abs", 1, &["whole"], "y", &[]);
    node(b, "Convert", 1, &["y"], "out", &[("destination_type", "f32")]);
    b.output("out");
    let before = model(builder);
    let after = folded(&before);
    assert_eq!(operators(&after), ["Abs", "Convert"]);
    same(&before, &after, &[("x", floats(&[2, 3]))]);
}

#[test]
fn an_output_that_is_known_is_a_constant_of_its_name() {
    let mut builder = Builder::new("g");
    let b = &mut builder;
    input(b, "x", DType::F32, &[2, 3]);
    node(b, "ShapeOf", 3, &["x"], "shape", &[("output_type", "i64")]);
    let id = b.output("shape");
    b.info(id).aliases = vec!["tensor,name".into()];
    let before = model(builder);
    let after = folded(&before);
    assert!(operators(&after).is_empty());
    let output = after.graph().value(after.graph().outputs()[0]);
    assert!(
        *output.name == *"shape" && output.aliases.iter().any(|name| **name == *"tensor,name"),
        "{output:?}"
    );
    same(&before, &after, &[("x", floats(&[2, 3]))]);
}

#[test]
fn weights_stay_narrow_and_what_depends_on_state_stays() {
    let mut builder = Builder::new("g");
    let b = &mut builder;
    input(b, "x", DType::F32, &[2]);
    let half =
        Tensor::from_numbers(DType::F16, Shape::vector(2), [1, 2].map(Number::Int), Rules::IEEE).unwrap();
    b.constant("w", half.into()).unwrap();
    node(b, "Convert", 1, &["w"], "wide", &[("destination_type", "f32")]);
    node(b, "Multiply", 1, &["x", "wide"], "y", &[("auto_broadcast", "numpy")]);
    let state = [("variable_id", "v"), ("variable_type", "f32"), ("variable_shape", "2")];
    node(b, "ReadValue", 6, &["x"], "old", &state);
    node(b, "Add", 1, &["old", "y"], "new", &[("auto_broadcast", "numpy")]);
    node(b, "Assign", 6, &["new"], "assigned", &[("variable_id", "v")]);
    b.output("y");
    let before = model(builder);
    assert_eq!(operators(&folded(&before)), ["Convert", "Multiply", "ReadValue", "Add", "Assign"]);
}

/// `If` of the rank of the input: the branches add and subtract.
fn by_rank(sizes: &[i64]) -> Model {
    let branch = |operator: &str| {
        let mut inner = Builder::new("branch");
        input(&mut inner, "p", DType::F32, sizes);
        inner.constant("two", Tensor::vector(&[2f32]).into()).unwrap();
        node(&mut inner, operator, 1, &["p", "two"], "r", &[("auto_broadcast", "numpy")]);
        inner.output("r");
        Content::Graph(Arc::new(inner.finish().unwrap()))
    };
    let port = |outer, inner| Port { outer, inner, slices: None };
    let ports = || {
        let ports = Ports { inputs: vec![port(1, 0)], outputs: vec![port(0, 0)], ..Ports::default() };
        Content::Ports(Arc::new(ports))
    };
    let mut builder = Builder::new("g");
    let b = &mut builder;
    input(b, "x", DType::F32, sizes);
    node(b, "ShapeOf", 3, &["x"], "shape", &[("output_type", "i64")]);
    node(b, "ShapeOf", 3, &["shape"], "rank", &[("output_type", "i64")]);
    ints(b, "two", &[2]);
    node(b, "Equal", 1, &["rank", "two"], "is matrix", &[("auto_broadcast", "numpy")]);
    let attributes = vec![
        ("then_port_map", ports()),
        ("then_body", branch("Add")),
        ("else_port_map", ports()),
        ("else_body", branch("Subtract")),
    ];
    b.apply("if", "If", 8, &["is matrix", "x"], &["y"], attributes).unwrap();
    node(b, "ReLU", 1, &["y"], "z", &[]);
    b.output("y");
    b.output("z");
    model(builder)
}

#[test]
fn a_branch_that_always_runs_takes_the_place_of_its_node() {
    for (sizes, operator) in [(vec![-1, -1], "Add"), (vec![-1, 2, 2], "Subtract")] {
        let before = by_rank(&sizes);
        let after = folded(&before);
        assert_eq!(operators(&after), [operator, "ReLU"]);
        let dims: Vec<_> = sizes.iter().map(|&len| usize::try_from(len).unwrap_or(2)).collect();
        let run = |model: &Model| model.run([("x".to_owned(), floats(&dims))]);
        if let (Ok(one), Ok(other)) = (run(&before), run(&after)) {
            assert_eq!(one, other);
        }
        let names: Vec<_> =
            after.graph().outputs().iter().map(|&id| after.graph().value(id).name.to_string()).collect();
        assert_eq!(names, ["y", "z"]);
    }
}

/// The branch is a function that is the same when it is applied again, as its reader does.
#[test]
fn what_took_the_place_of_a_node_is_folded_with_its_readers() {
    let branch = || {
        let mut inner = Builder::new("branch");
        input(&mut inner, "p", DType::F32, &[-1, -1]);
        node(&mut inner, "ReLU", 1, &["p"], "r", &[]);
        inner.output("r");
        Content::Graph(Arc::new(inner.finish().unwrap()))
    };
    let port = |outer, inner| Port { outer, inner, slices: None };
    let ports = || {
        let ports = Ports { inputs: vec![port(1, 0)], outputs: vec![port(0, 0)], ..Ports::default() };
        Content::Ports(Arc::new(ports))
    };
    let mut builder = Builder::new("g");
    let b = &mut builder;
    input(b, "x", DType::F32, &[-1, -1]);
    b.constant("always", Tensor::scalar(Bool::from(true)).into()).unwrap();
    b.constant("scale", floats(&[3, 2]).tensor().unwrap().clone().into()).unwrap();
    let attributes = vec![
        ("then_port_map", ports()),
        ("then_body", branch()),
        ("else_port_map", ports()),
        ("else_body", branch()),
    ];
    b.apply("if", "If", 8, &["always", "x"], &["y"], attributes).unwrap();
    node(b, "ReLU", 1, &["y"], "again", &[]);
    node(b, "Multiply", 1, &["again", "scale"], "z", &[("auto_broadcast", "numpy")]);
    b.output("z");
    let before = model(builder);
    let after = folded(&before);
    assert_eq!(operators(&after), ["ReLU", "Multiply"]);
    same(&before, &after, &[("x", floats(&[3, 2]))]);
}

#[test]
fn functions_of_whole_numbers_stay() {
    // The text does not say how their results are rounded.
    for operator in ["Sqrt", "Exp", "Sigmoid"] {
        let mut builder = Builder::new("g");
        let b = &mut builder;
        input(b, "x", DType::F32, &[9, 4]);
        node(b, "ShapeOf", 3, &["x"], "shape", &[("output_type", "i64")]);
        node(b, operator, 1, &["shape"], "y", &[]);
        b.output("y");
        let before = model(builder);
        let inference = before.infer(&InferOptions::default()).unwrap();
        assert!(inference.problems().is_empty(), "{:?}", inference.problems());
        let id = before.value("y").unwrap();
        assert_eq!(inference.describe(inference.fact(id)), "int64[2]");
        assert_eq!(operators(&folded(&before)), [operator]);
        let error = before.run([("x".to_owned(), floats(&[9, 4]))]);
        assert_eq!(error.unwrap_err().kind(), Kind::Unsupported);
    }
}

#[test]
fn bounds_without_a_sign_are_not_below_zero() {
    for (dtype, name) in [(DType::U64, "u64"), (DType::U32, "u32"), (DType::I64, "i64")] {
        let mut builder = Builder::new("g");
        let b = &mut builder;
        input(b, "x", DType::F32, &[-1, -1]);
        node(b, "ShapeOf", 3, &["x"], "shape", &[("output_type", "i64")]);
        b.constant("zero", Tensor::scalar(0i64).into()).unwrap();
        for (list, number) in [("first", 0), ("one", 1)] {
            ints(b, list, &[number]);
        }
        let numpy = [("auto_broadcast", "numpy")];
        node(b, "Gather", 8, &["shape", "first", "zero"], "rows", &[("batch_dims", "0")]);
        node(b, "Subtract", 1, &["rows", "one"], "last", &numpy);
        for (from, to) in [("first", "start"), ("last", "stop"), ("one", "step")] {
            node(b, "Convert", 1, &[from], to, &[("destination_type", name)]);
        }
        node(b, "Slice", 8, &["x", "start", "stop", "step", "first"], "y", &[]);
        node(b, "ReduceProd", 1, &["shape", "zero"], "all", &[("keep_dims", "true")]);
        node(b, "Concat", 1, &["all", "one"], "column", &[("axis", "0")]);
        node(b, "Convert", 1, &["column"], "target", &[("destination_type", name)]);
        node(b, "Reshape", 1, &["x", "target"], "z", &[("special_zero", "false")]);
        b.output("y");
        b.output("z");
        let before = model(builder);
        let after = folded(&before);
        same(&before, &after, &[("x", floats(&[5, 6]))]);
        // With a sign, -1 stands for what is not known.
        assert_eq!(!operators(&after).contains(&"ReduceProd".to_owned()), dtype == DType::I64, "{dtype}");
    }
}

#[test]
fn a_branch_without_sizes_of_ports_keeps_the_name_of_its_tensor() {
    // As older files are: names stand at the ports of the layer alone.
    let bare = text(&by_rank(&[-1, -1])).replace(" names=\"r\"", "");
    let bare = bare.replace(" output_names=\"r\"", "").replace(" output_names=\"y\"", "");
    let bin = by_rank(&[-1, -1]);
    let folder = scratch("bare");
    bin.save(folder.join("m.xml")).unwrap();
    let before = open(bare.as_bytes(), std::fs::read(folder.join("m.bin")).unwrap());
    std::fs::remove_dir_all(folder).unwrap();
    let given = Type::Tensor(None, Some(vec![DeclaredDim::Known(2), DeclaredDim::Known(3)]));
    let mut options = FoldOptions::default();
    options.sizes.inputs = [("x".to_owned(), InputFact::Type(given))].into();
    let after = folded_with(&before, &options);
    assert_eq!(operators(&after), ["Add", "ReLU"]);
    assert_eq!(after.value("y").unwrap(), after.graph().outputs()[0]);
}

#[test]
fn fixed_inputs_are_fixed_in_the_file() {
    let before = by_rank(&[-1, -1]);
    let given = Type::Tensor(None, Some(vec![DeclaredDim::Known(2), DeclaredDim::Known(3)]));
    let mut options = FoldOptions::default();
    options.sizes.inputs = [("x".to_owned(), InputFact::Type(given))].into();
    let after = folded_with(&before, &options);
    let of =
        |name: &str| after.graph().value(after.value(name).unwrap()).declared.clone().unwrap().to_string();
    assert_eq!([of("x"), of("y"), of("z")], ["float32[2, 3]"; 3]);
    assert!(text(&after).contains("<data shape=\"2,3\" element_type=\"f32\" />"));
}

#[test]
fn inferred_sizes_are_written_at_the_ports() {
    let mut builder = Builder::new("g");
    let b = &mut builder;
    input(b, "x", DType::F32, &[-1, 3]);
    let id = b.reference("y");
    b.info(id).declared =
        Some(Type::Tensor(Some(DType::F32), Some(vec![DeclaredDim::Unknown, DeclaredDim::Unknown])));
    node(b, "Abs", 1, &["x"], "y", &[]);
    node(b, "Abs", 1, &["y"], "z", &[]);
    b.output("z");
    let before = model(builder);
    let options = InferOptions::default();
    let declared = before.declared(&before.infer(&options).unwrap(), &options).unwrap();
    let after = before.edited(&declared).unwrap();
    for name in ["y", "z"] {
        let of = after.graph().value(after.value(name).unwrap()).declared.clone().unwrap();
        assert_eq!(of.to_string(), "float32[?, 3]");
    }
    let again = after.declared(&after.infer(&options).unwrap(), &options).unwrap();
    assert_eq!(after.edited(&again).unwrap().bytes(), after.bytes());
}

fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("gradus-ir-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn a_model_and_its_constants_are_saved_together_also_in_their_own_place() {
    let folder = scratch("save");
    let (path, other) = (folder.join("m.xml"), folder.join("o.xml"));
    let memory = by_rank(&[-1, -1]);
    let len = memory.save(&path).unwrap();
    let size = |path: &Path| std::fs::metadata(path).unwrap().len();
    assert_eq!(len, size(&path) + size(&path.with_extension("bin")));
    let before = Model::open(&path).unwrap();
    let folded = before.fold(&FoldOptions::default()).unwrap().model;
    before.save_edited(&folded, &other).unwrap();
    before.edited(&folded).unwrap().save(folder.join("e.xml")).unwrap();
    before.save_edited(&folded, &path).unwrap();
    for ending in ["xml", "bin"] {
        let bytes = |name: &str| std::fs::read(folder.join(name).with_extension(ending)).unwrap();
        assert_eq!(bytes("m.xml"), bytes("o.xml"), "{ending}");
        assert_eq!(bytes("e.xml"), bytes("o.xml"), "{ending}");
    }
    // Models that were read before keep their constants.
    same(&before, &Model::open(&path).unwrap(), &[("x", floats(&[2, 3]))]);
    let error = before.save(folder.join("m.onnx")).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "a model of OpenVINO is written to a file that ends in .xml, with a .bin file next to it"
        ),
        "{error}"
    );
    // A file of constants without a model is another model's, and a folder is no file: nothing is
    // touched.
    let (lone, folded) = (folder.join("lone.xml"), folder.join("folder.xml"));
    std::fs::write(lone.with_extension("bin"), b"weights").unwrap();
    std::fs::create_dir(&folded).unwrap();
    for (to, why) in [(&lone, "the model's constants would replace it"), (&folded, "the output is a folder")]
    {
        let error = memory.save(to).unwrap_err();
        assert!(error.kind() == Kind::Io && error.message().contains(why), "{error}");
    }
    assert_eq!(std::fs::read(lone.with_extension("bin")).unwrap(), b"weights");
    assert!(!folded.with_extension("bin").exists());
    std::fs::remove_file(path.with_extension("bin")).unwrap();
    let lost = Model::open(&path).unwrap();
    assert!(lost.save(&other).unwrap_err().to_string().ends_with("m.bin: there is no such file"));
    std::fs::remove_dir_all(folder).unwrap();
}

fn tensor(json: &Json) -> Tensor {
    let dims: Vec<_> = json["shape"]
        .as_array()
        .unwrap()
        .iter()
        .map(|dim| usize::try_from(dim.as_u64().unwrap()).unwrap())
        .collect();
    let number = |element: &Json| match element {
        Json::String(text) => Number::Float(text.parse().unwrap()),
        other => {
            other.as_i64().map_or_else(|| Number::Float(other.as_f64().unwrap()), |x| Number::Int(x.into()))
        }
    };
    let numbers = json["elements"].as_array().unwrap().iter().map(number);
    let dtype: DType = json["type"].as_str().unwrap().parse().unwrap();
    Tensor::from_numbers(dtype, Shape::new(dims).unwrap(), numbers, Rules::IEEE).unwrap()
}

/// The recorded models, each of one operator, with inputs.
fn recorded() -> Vec<(String, Model, HashMap<String, Value>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/recorded/openvino.json");
    let recorded: Json = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let mut models = Vec::new();
    for (name, cases) in recorded["operators"].as_object().unwrap() {
        for (i, case) in cases.as_array().unwrap().iter().enumerate() {
            let hex = case["bin"].as_str().unwrap();
            let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
            let bin = (0..hex.len()).step_by(2).map(byte).collect();
            let inputs = case["inputs"].as_object().unwrap().iter();
            let inputs = inputs.map(|(name, json)| (name.clone(), tensor(json).into())).collect();
            models.push((format!("{name}.{i}"), open(case["xml"].as_str().unwrap().as_bytes(), bin), inputs));
        }
    }
    models
}

/// Returns true if both ran, and gave the same; a node that is not run may have been removed.
fn agree(name: &str, before: &Model, after: &Model, inputs: &HashMap<String, Value>) -> bool {
    match [before, after].map(|model| model.run(inputs)) {
        [Ok(one), Ok(other)] => {
            // NaN is not itself, but is printed as it is.
            assert_eq!(format!("{one:?}"), format!("{other:?}"), "{name}");
            true
        }
        [Ok(_), Err(error)] => panic!("{name}: {error}"),
        [Err(error), _] => {
            assert_eq!(error.kind(), Kind::Unsupported, "{name}: {error}");
            false
        }
    }
}

#[test]
fn recorded_models_of_every_operator_give_the_same_when_folded() {
    let all = recorded();
    let run = all.iter().filter(|(name, model, inputs)| agree(name, model, &folded(model), inputs)).count();
    assert!(run * 5 > all.len() * 4, "{run} of {} models were run", all.len());
}

/// A copy of the text with a few bytes changed, moved or removed.
fn damaged(text: &[u8], random: &mut fastrand::Rng) -> Vec<u8> {
    let mut text = text.to_vec();
    for _ in 0..random.usize(1..4) {
        let (at, from) = (random.usize(..text.len()), random.usize(..text.len()));
        let len = random.usize(1..40).min(text.len() - at.max(from));
        match random.u8(..5) {
            0 => text[at] = *random.choice(b"0123456789-,.<>/\"= ").unwrap(),
            1 => text[at..at + len].rotate_left(1),
            2 => text.copy_within(from..from + len, at),
            3 => _ = text.drain(at..at + len),
            _ => {
                let piece = text[from..from + len].to_vec();
                text.splice(at..at, piece);
            }
        }
    }
    text
}

#[test]
fn damaged_models_are_refused_or_folded_and_read_again() {
    let mut random = fastrand::Rng::with_seed(7);
    let mut limits = Limits::DEFAULT;
    (limits.max_bytes, limits.max_steps) = (1 << 24, 1000);
    let (mut read, mut folded) = (0, 0);
    for (name, model, _) in recorded() {
        for _ in 0..40 {
            let text = damaged(model.bytes().unwrap(), &mut random);
            let bin = vec![1; random.usize(..200)];
            let files: Arc<dyn Files> = Arc::new(InMemory(HashMap::from([("m.bin".to_owned(), bin.into())])));
            let Ok(model) = OpenOptions::new().limits(limits).with_files(&text.clone().into(), "m", files)
            else {
                continue;
            };
            read += 1;
            let shown = || format!("{name}: {}", String::from_utf8_lossy(&text));
            let mut options = FoldOptions::default();
            options.limits = Some(limits);
            options.max_constant = 1 << 12;
            let Ok(of) = model.fold(&options) else { continue };
            match model.edited(&of.model) {
                Ok(_) => folded += 1,
                Err(error) => {
                    assert!(matches!(error.kind(), Kind::Syntax | Kind::Io), "{error}: {}", shown());
                }
            }
            let _ = encode_model(model.source());
        }
    }
    assert!(read > 400 && folded > 300, "{folded} of {read} were folded");
}

/// With the variable `GRADUS_WRITTEN`, what is written stays in that folder, for
/// `conformance/openvino_written.py`.
#[test]
fn recorded_models_give_the_same_when_written_anew() {
    let kept = std::env::var_os("GRADUS_WRITTEN").map(PathBuf::from);
    let folder = kept.clone().unwrap_or_else(|| scratch("written"));
    for (name, model, inputs) in recorded() {
        let path = folder.join(format!("{name}.xml"));
        Model::from_source(model.source().clone()).save(&path).unwrap();
        agree(&name, &model, &Model::open(&path).unwrap(), &inputs);
    }
    if kept.is_none() {
        std::fs::remove_dir_all(folder).unwrap();
    }
}

/// The rules that are written for functions that both standards have.
#[test]
fn rules_of_normalized_operators_apply() {
    type Make = fn(&mut Builder);
    type Row<'a> = (&'a str, Box<dyn Fn(&mut Builder)>, &'a [&'a str]);
    let binary = |operator: &'static str, value: f32| {
        move |b: &mut Builder| {
            b.constant("c", Tensor::scalar(value).into()).unwrap();
            node(b, operator, 1, &["x", "c"], "t", &[("auto_broadcast", "numpy")]);
        }
    };
    let order: Make = |b| {
        ints(b, "order", &[1, 2, 0]);
        node(b, "Transpose", 1, &["x", "order"], "a", &[]);
        node(b, "Transpose", 1, &["a", "order"], "t", &[]);
    };
    let reshapes: Make = |b| {
        ints(b, "first", &[-1, 12]);
        ints(b, "second", &[2, 3, -1, 2]);
        node(b, "Reshape", 1, &["x", "first"], "a", &[("special_zero", "false")]);
        node(b, "Reshape", 1, &["a", "second"], "t", &[("special_zero", "false")]);
    };
    let inverse: Make = |b| {
        node(b, "Negative", 1, &["x"], "a", &[]);
        node(b, "Negative", 1, &["a"], "t", &[]);
    };
    let repeated: Make = |b| {
        node(b, "ReLU", 1, &["x"], "a", &[]);
        node(b, "ReLU", 1, &["a"], "t", &[]);
    };
    let chosen: Make = |b| {
        b.constant("yes", Tensor::scalar(Bool::from(true)).into()).unwrap();
        b.constant("other", Tensor::scalar(5f32).into()).unwrap();
        node(b, "Select", 1, &["yes", "x", "other"], "t", &[("auto_broadcast", "numpy")]);
    };
    let rows: [Row<'_>; 10] = [
        ("multiply", Box::new(binary("Multiply", 1.0)), &[]),
        ("divide", Box::new(binary("Divide", 1.0)), &[]),
        ("subtract", Box::new(binary("Subtract", 0.0)), &[]),
        ("power", Box::new(binary("Power", 1.0)), &[]),
        ("twice", Box::new(binary("Multiply", 2.0)), &["Multiply"]),
        ("transposes", Box::new(order), &["Transpose"]),
        ("reshapes", Box::new(reshapes), &["Reshape"]),
        ("inverse", Box::new(inverse), &[]),
        ("repeated", Box::new(repeated), &["ReLU"]),
        ("chosen", Box::new(chosen), &[]),
    ];
    for (name, make, left) in rows {
        let mut builder = Builder::new("g");
        input(&mut builder, "x", DType::F32, &[2, 3, 4]);
        make(&mut builder);
        node(&mut builder, "Tanh", 1, &["t"], "y", &[]);
        builder.output("y");
        let before = model(builder);
        let after = folded(&before);
        assert_eq!(operators(&after), [left, &["Tanh"]].concat(), "{name}");
        same(&before, &after, &[("x", floats(&[2, 3, 4]))]);
    }
}
