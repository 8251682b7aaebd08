//! Inputs that become constants: what is read again of the files that are written.

use gradus::fold::FoldOptions;
use gradus::formats::onnx;
use gradus::graph::{DeclaredDim, Standard, Type};
use gradus::infer::InferOptions;
use gradus::{Dim, Kind, Model, Shape, Tensor, Value};

use crate::common::sketch::Sketch;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");

fn open(path: &str) -> Model {
    Model::open(format!("{ROOT}{path}")).unwrap()
}

fn names(model: &Model) -> Vec<&str> {
    model.graph().inputs().iter().map(|&id| &*model.graph().value(id).name).collect()
}

/// The positions, as an IR or ONNX has them.
fn positions(model: &Model, inputs: &[(&str, f32)]) -> Tensor {
    let inputs = inputs.iter().map(|&(name, x)| (name, Tensor::scalar(x)));
    model.run(inputs).unwrap()[0].tensor().unwrap().clone()
}

#[test]
fn files_have_constants_in_the_place_of_inputs() {
    let folder = std::env::temp_dir().join(format!("gradus-set-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (source, file, [limit, delta]) in [
        ("examples/range.onnx", "m.onnx", ["limit", "delta"]),
        ("examples/range.xml", "m.xml", ["stop", "step"]),
    ] {
        let source = open(source);
        let model = source.with_inputs_set([(delta, Tensor::scalar(2f32))]).unwrap();
        model.save(folder.join(file)).unwrap();
        let saved = Model::open(folder.join(file)).unwrap();
        let folded = model.fold(&FoldOptions::default()).unwrap();
        let folded = model.edited(&folded.model).unwrap();
        let want = positions(&source, &[("start", 1.0), (limit, 6.0), (delta, 2.0)]);
        assert_eq!(want.len(), 3);
        for model in [model, saved, folded] {
            assert_eq!(names(&model), ["start", limit], "{file}");
            assert_eq!(positions(&model, &[("start", 1.0), (limit, 6.0)]), want, "{file}");
        }
    }
    // Other inputs of an IR that had no constants are as they were.
    let text = std::fs::read_to_string(folder.join("m.xml")).unwrap();
    let layer = text.split("<layer ").find(|layer| layer.contains("name=\"step\"")).unwrap();
    assert!(layer.contains("type=\"Const\"") && layer.contains("shape=\"\""), "{layer}");
    assert_eq!(text.matches("type=\"Parameter\"").count(), 2);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn graphs_in_memory_and_programs_of_paddle_have_them_too() {
    let model = Sketch::of("x: ?; shape: ?; y = Reshape(x, shape); return y").unwritten(20);
    let model = model.with_inputs_set([("shape", Tensor::vector(&[2i64, 3]))]).unwrap();
    let inference = model.infer(&InferOptions::default()).unwrap();
    let y = inference.fact(model.graph().outputs()[0]).as_tensor().unwrap();
    assert_eq!(y.dims.as_deref(), Some(&[Dim::Known(2), Dim::Known(3)][..]));
    let program = open("conformance/recorded/paddle/shapes.pir/model.json");
    let id = program.graph().inputs()[0];
    let info = program.graph().value(id);
    let Some(Type::Tensor(Some(dtype), Some(sizes))) = &info.declared else { panic!("{info:?}") };
    let sizes = sizes.iter().map(|size| if let DeclaredDim::Known(len) = size { *len } else { 2 });
    let tensor = Tensor::zeros(*dtype, Shape::new(sizes.collect::<Vec<_>>()).unwrap()).unwrap();
    let set = program.with_inputs_set([(&*info.name, tensor)]).unwrap();
    assert_eq!(set.graph().inputs().len() + 1, program.graph().inputs().len());
    let converted = set.convert(Standard::Onnx, &<_>::default()).unwrap();
    assert_eq!(names(&converted.model), names(&set));
}

#[test]
fn a_default_is_replaced_and_what_is_none_is_said() {
    let made = Sketch::of("x: int64[n]; x = [1]; y = Identity@14(x); return y").unwritten(14);
    let read = Model::from_bytes(&made.to_onnx().unwrap()).unwrap();
    // Initializers of files before IR version 4 are inputs, and nodes are none.
    let mut old = Sketch::of("x: ?; y = Neg@6(x); return y").source(8);
    old.format_version = 3;
    let old = Model::from_bytes(&onnx::encode_model(&old).unwrap().to_bytes(&[]).unwrap()).unwrap();
    let set = old.with_inputs_set([("x", Tensor::vector(&[7f32]))]).unwrap();
    assert_eq!((names(&set), set.graph().constants().len(), set.graph().nodes().len()), (vec![], 0, 2));
    let outputs = set.run::<&str, Tensor>([]).unwrap();
    assert_eq!(outputs["y"].tensor().unwrap().elements::<f32>().unwrap()[..], [-7.0]);
    for model in [made, read] {
        assert_eq!(names(&model), ["x"]);
        let set = model.with_inputs_set([("x", Tensor::vector(&[7i64, 8]))]).unwrap();
        assert_eq!((names(&set), set.graph().constants().len()), (vec![], 1));
        let outputs = set.run::<&str, Tensor>([]).unwrap();
        assert_eq!(outputs["y"].tensor().unwrap().elements::<i64>().unwrap()[..], [7, 8]);
        let wrong = |values: Vec<(&str, Value)>| {
            let error = model.with_inputs_set(values).unwrap_err();
            assert_eq!(error.kind(), Kind::Usage);
            error.message().to_owned()
        };
        let one = || Value::from(Tensor::vector(&[1i64]));
        assert_eq!(wrong(vec![("x", one()), ("x", one())]), "input \"x\" is set twice");
        assert!(wrong(vec![("y", one())]).starts_with("unknown input \"y\""));
        assert_eq!(
            wrong(vec![("x", Tensor::scalar(1i64).into())]),
            "cannot set input \"x\": the value is int64[], expected int64[n]"
        );
    }
}
