//! Folding of OpenVINO models: what is removed, what is kept, and that nothing else changes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gradus::convert::Rules;
use gradus::fold::FoldOptions;
use gradus::formats::openvino::encode_model;
use gradus::formats::{Files, InMemory};
use gradus::graph::{DeclaredDim, Type};
use gradus::infer::{InferOptions, InputFact};
use gradus::{DType, Kind, Limits, Model, Number, OpenOptions, Shape, Tensor, Value};
use serde_json::Value as Json;

use crate::common::sketch::{Sketch, read_ir, tensor_type};

/// The model of these statements, written and read.
fn model(text: &str) -> Model {
    Sketch::openvino(text).model()
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
    let before = model(
        "x: float32[?, ?, 8]; axis = 0; shape first = ShapeOf@3(x, output_type=i64); place first = [0];
         first = Gather@8(shape first, place first, axis, batch_dims=0);
         shape second = ShapeOf@3(x, output_type=i64); place second = [1];
         second = Gather@8(shape second, place second, axis, batch_dims=0); heads = [2, 4];
         target = Concat(first, second, heads, axis=0); y = Reshape(x, target, special_zero=true); return y",
    );
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
    let before = model(
        "x: float32[?, ?]; axis = 0; one = 1; zero = int32[](0); step = int32[](1); a = ReLU(x); b = Exp(a);
         shape m = ShapeOf@3(a, output_type=i32); m = Gather@8(shape m, axis, axis, batch_dims=0);
         range m = Range@4(zero, m, step, output_type=i32);
         shape n = ShapeOf@3(b, output_type=i32); n = Gather@8(shape n, one, axis, batch_dims=0);
         range n = Range@4(zero, n, step, output_type=i32); return range m, range n, b",
    );
    let after = folded(&before);
    let mut left = operators(&after);
    left.sort();
    assert_eq!(left, ["Exp", "Gather", "Gather", "Range", "Range", "ReLU", "ShapeOf"]);
    same(&before, &after, &[("x", floats(&[2, 3]))]);
}

#[test]
fn what_changes_nothing_goes_but_outputs_keep_their_layers() {
    let before = model(
        "x: float32[?, 3]; order = [0, 1]; begin = [0, 0]; same = Convert(x, destination_type=f32);
         turned = Transpose(same, order); shape = ShapeOf@3(turned, output_type=i64); steps = [1, 1];
         whole = StridedSlice(turned, begin, shape, steps, begin_mask=[0,0], end_mask=[0,0],
                              new_axis_mask=, shrink_axis_mask=, ellipsis_mask=);
         y = Abs(whole); out = Convert(y, destination_type=f32); return out",
    );
    let after = folded(&before);
    assert_eq!(operators(&after), ["Abs", "Convert"]);
    same(&before, &after, &[("x", floats(&[2, 3]))]);
}

#[test]
fn an_output_that_is_known_is_a_constant_of_its_name() {
    let mut sketch = Sketch::openvino("x: float32[2, 3]; shape = ShapeOf@3(x, output_type=i64)");
    let id = sketch.0.output("shape");
    sketch.0.info(id).aliases = vec!["tensor,name".into()];
    let before = sketch.model();
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
    let before = model(
        "x: float32[2]; w = float16[2](1, 2); wide = Convert(w, destination_type=f32);
         y = Multiply(x, wide, auto_broadcast=numpy);
         old = ReadValue@6(x, variable_id=v, variable_type=f32, variable_shape=2);
         new = Add(old, y, auto_broadcast=numpy); assigned = Assign@6(new, variable_id=v); return y",
    );
    assert_eq!(operators(&folded(&before)), ["Convert", "Multiply", "ReadValue", "Add", "Assign"]);
}

/// The attributes of an `If` of one input and one output.
fn branches(then: &str, otherwise: &str) -> String {
    let ports = "ports 1:0 / 0:0";
    format!("then_port_map={ports}, then_body={{{then}}}, else_port_map={ports}, else_body={{{otherwise}}}")
}

/// `If` of the rank of the input: the branches add and subtract.
fn by_rank(sizes: &str) -> Model {
    let branch = |operator: &str| {
        format!(
            "p: float32[{sizes}]; two = float32[1](2); r = {operator}(p, two, auto_broadcast=numpy); return r"
        )
    };
    model(&format!(
        "x: float32[{sizes}]; shape = ShapeOf@3(x, output_type=i64); rank = ShapeOf@3(shape, output_type=i64);
         two = [2]; is matrix = Equal(rank, two, auto_broadcast=numpy);
         y = If@8(is matrix, x, {}); z = ReLU(y); return y, z",
        branches(&branch("Add"), &branch("Subtract"))
    ))
}

#[test]
fn a_branch_that_always_runs_takes_the_place_of_its_node() {
    for (sizes, dims, operator) in [("?, ?", &[2, 2][..], "Add"), ("?, 2, 2", &[2, 2, 2], "Subtract")] {
        let before = by_rank(sizes);
        let after = folded(&before);
        assert_eq!(operators(&after), [operator, "ReLU"]);
        let run = |model: &Model| model.run([("x".to_owned(), floats(dims))]);
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
    let branch = "p: float32[?, ?]; r = ReLU(p); return r";
    let before = model(&format!(
        "x: float32[?, ?]; always = true; scale = float32[3, 2](0, 1, 2, 3, 4, 5);
         y = If@8(always, x, {}); again = ReLU(y); z = Multiply(again, scale, auto_broadcast=numpy); return z",
        branches(branch, branch)
    ));
    let after = folded(&before);
    assert_eq!(operators(&after), ["ReLU", "Multiply"]);
    same(&before, &after, &[("x", floats(&[3, 2]))]);
}

#[test]
fn functions_of_whole_numbers_stay() {
    // The text does not say how their results are rounded.
    for operator in ["Sqrt", "Exp", "Sigmoid"] {
        let text = "x: float32[9, 4]; shape = ShapeOf@3(x, output_type=i64)";
        let before = model(&format!("{text}; y = {operator}(shape); return y"));
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
        let before = model(&format!(
            "x: float32[?, ?]; shape = ShapeOf@3(x, output_type=i64); zero = 0; first = [0]; one = [1];
             rows = Gather@8(shape, first, zero, batch_dims=0); last = Subtract(rows, one, auto_broadcast=numpy);
             start = Convert(first, destination_type={name}); stop = Convert(last, destination_type={name});
             step = Convert(one, destination_type={name}); y = Slice@8(x, start, stop, step, first);
             all = ReduceProd(shape, zero, keep_dims=true); column = Concat(all, one, axis=0);
             target = Convert(column, destination_type={name});
             z = Reshape(x, target, special_zero=false); return y, z"
        ));
        let after = folded(&before);
        same(&before, &after, &[("x", floats(&[5, 6]))]);
        // With a sign, -1 stands for what is not known.
        assert_eq!(!operators(&after).contains(&"ReduceProd".to_owned()), dtype == DType::I64, "{dtype}");
    }
}

#[test]
fn a_branch_without_sizes_of_ports_keeps_the_name_of_its_tensor() {
    // As older files are: names stand at the ports of the layer alone.
    let bare = text(&by_rank("?, ?")).replace(" names=\"r\"", "");
    let bare = bare.replace(" output_names=\"r\"", "").replace(" output_names=\"y\"", "");
    let bin = by_rank("?, ?");
    let folder = scratch("bare");
    bin.save(folder.join("m.xml")).unwrap();
    let before = read_ir(bare.as_bytes(), std::fs::read(folder.join("m.bin")).unwrap().into());
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
    let before = by_rank("?, ?");
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
    let mut sketch = Sketch::openvino("x: float32[?, 3]; y = Abs(x); z = Abs(y); return z");
    let id = sketch.0.reference("y");
    sketch.0.info(id).declared = Some(tensor_type(DType::F32, &["?", "?"]));
    let before = sketch.model();
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
    let memory = by_rank("?, ?");
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
            let bin: Vec<_> = (0..hex.len()).step_by(2).map(byte).collect();
            let inputs = case["inputs"].as_object().unwrap().iter();
            let inputs = inputs.map(|(name, json)| (name.clone(), tensor(json).into())).collect();
            models.push((
                format!("{name}.{i}"),
                read_ir(case["xml"].as_str().unwrap().as_bytes(), bin.into()),
                inputs,
            ));
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
    let rows: [(&str, &str, &[&str]); 10] = [
        ("multiply", "c = 1.0; t = Multiply(x, c, auto_broadcast=numpy)", &[]),
        ("divide", "c = 1.0; t = Divide(x, c, auto_broadcast=numpy)", &[]),
        ("subtract", "c = 0.0; t = Subtract(x, c, auto_broadcast=numpy)", &[]),
        ("power", "c = 1.0; t = Power(x, c, auto_broadcast=numpy)", &[]),
        ("twice", "c = 2.0; t = Multiply(x, c, auto_broadcast=numpy)", &["Multiply"]),
        ("transposes", "order = [1, 2, 0]; a = Transpose(x, order); t = Transpose(a, order)", &["Transpose"]),
        (
            "reshapes",
            "first = [-1, 12]; second = [2, 3, -1, 2]; a = Reshape(x, first, special_zero=false);
             t = Reshape(a, second, special_zero=false)",
            &["Reshape"],
        ),
        ("inverse", "a = Negative(x); t = Negative(a)", &[]),
        ("repeated", "a = ReLU(x); t = ReLU(a)", &["ReLU"]),
        ("chosen", "yes = true; other = 5.0; t = Select(yes, x, other, auto_broadcast=numpy)", &[]),
    ];
    for (name, nodes, left) in rows {
        let before = model(&format!("x: float32[2, 3, 4]; {nodes}; y = Tanh(t); return y"));
        let after = folded(&before);
        assert_eq!(operators(&after), [left, &["Tanh"]].concat(), "{name}");
        same(&before, &after, &[("x", floats(&[2, 3, 4]))]);
    }
}
