//! Edits of OpenVINO models: what they name changes in the file, and all else stays.

use gradus::edit::{Edit, Scaling};
use gradus::{DType, Model, Shape, Tensor};

use crate::common::sketch::{Sketch, operators, read_ir};
use crate::{declared, edited, extract, refused, rename, run, tensor};

/// `y` needs `a`, `b` and the input `k`; `z` needs `a` alone. Nothing knows an attribute of its
/// layers.
fn model() -> Model {
    let text = "x: float32[?, 3]; k: float32[3]; two = 2.0; a = Multiply@1(x, two); b = Add@1(a, k); \
        y = ReLU@1(b); z = Abs@1(a); return y: float32[?, 3]; return z: float32[?, 3]";
    let model = Sketch::openvino(text).model();
    let text = String::from_utf8(model.bytes().unwrap().to_vec()).unwrap();
    let text = text.replace("type=\"ReLU\"", "own='kept' type=\"ReLU\"");
    let bin = 2f32.to_le_bytes().to_vec();
    read_ir(text.as_bytes(), bin.into())
}

/// The model after edits, of which the attribute that nothing knows stays.
fn changed(edits: impl IntoIterator<Item = Edit>) -> Model {
    let after = edited(&model(), edits).model().unwrap();
    let text = String::from_utf8(after.bytes().unwrap().to_vec()).unwrap();
    assert_eq!(text.contains("own='kept'"), operators(&after).contains("ReLU"), "{text}");
    after
}

fn given() -> [(&'static str, Tensor); 2] {
    [("x", tensor(&[2, 3])), ("k", tensor(&[3]))]
}

#[test]
fn parts_begin_at_values_and_end_at_values() {
    let of = |model: &Model| [declared(model, false), declared(model, true)].map(|all| all.join(", "));
    let part = changed([extract(&["k", "a"], &["y"])]);
    assert_eq!(of(&part), ["a: float32[?, 3], k: float32[3]", "y: float32[?, 3]"]);
    assert_eq!(operators(&part), "Add ReLU");
    assert_eq!(run(&part, &[("a", tensor(&[1, 3])), ("k", tensor(&[3]))], "y"), "[1, 3] [1.0, 3.0, 5.0]");
    let part = changed([extract(&[], &["a", "z"])]);
    assert_eq!(of(&part), ["x: float32[?, 3]", "a: float32[?, 3], z: float32[?, 3]"]);
    assert_eq!(operators(&part), "Multiply Abs");
    assert_eq!(run(&part, &given()[..1], "a"), "[2, 3] [1.0, 3.0, 5.0, 7.0, 9.0, 11.0]");
    let error = refused(&model(), extract(&["b"], &[]));
    assert!(error.to_string().contains("input \"x\" is needed too"), "{error}");
}

#[test]
fn a_part_that_reads_a_variable_stores_it_too() {
    let text = "x: float32[1, 3]; old = ReadValue@6(variable_id='state', variable_shape='1,3', \
        variable_type='f32'); sum = Add@1(old, x); new = Assign@6(sum, variable_id='state'); y = ReLU@1(sum); \
        z = Abs@1(x); return y: float32[1, 3]; return z: float32[1, 3]";
    let after = |edit| operators(&edited(&Sketch::openvino(text).model(), [edit]).model().unwrap());
    assert_eq!(after(extract(&[], &["y"])), "ReadValue Add Assign ReLU");
    assert_eq!(after(extract(&[], &["z"])), "Abs");
    assert_eq!(after(Edit::RemoveOutput("y".into())), "ReadValue Add Assign Abs");
}

#[test]
fn outputs_come_and_go_and_values_have_other_names() {
    let more = changed([Edit::AddOutput("b".into()), Edit::RemoveOutput("z".into())]);
    assert_eq!(declared(&more, true), ["y: float32[?, 3]", "b: float32[?, 3]"]);
    assert_eq!(run(&more, &given(), "b"), "[2, 3] [1.5, 4.5, 7.5, 7.5, 10.5, 13.5]");
    let renames = [("x", "image"), ("a", "twice"), ("y", "one,\"two\""), ("z", "y")];
    let after = changed(renames.map(|(old, new)| rename(old, new)));
    assert_eq!(declared(&after, false), ["image: float32[?, 3]", "k: float32[3]"]);
    assert_eq!(declared(&after, true), ["one,\"two\": float32[?, 3]", "y: float32[?, 3]"]);
    assert!(after.value("twice").is_ok() && after.value("a").is_err());
    let inputs = given().map(|(name, tensor)| (if name == "x" { "image" } else { name }, tensor));
    assert_eq!(run(&after, &inputs, "one,\"two\""), run(&model(), &given(), "y"));
    let both =
        changed([rename("k", "added"), Edit::Set { input: "added".into(), value: tensor(&[3]).into() }]);
    assert_eq!(run(&both, &given()[..1], "y"), run(&model(), &given(), "y"));
}

#[test]
fn inputs_and_outputs_have_other_types_and_layouts() {
    let text = "x: float32[?, 3, 2, 2]; y = ReLU@1(x); return y: float32[?, 3, 2, 2]";
    let scaling = Scaling { scale: vec![0.5], offset: vec![1.0, 2.0, 3.0] };
    let layout = |name: &str, layout: &str| Edit::Layout { name: name.into(), layout: layout.into() };
    let edits = [
        Edit::InputType { input: "x".into(), dtype: DType::U8, scaling },
        layout("x", "NHWC"),
        Edit::OutputType { output: "y".into(), dtype: DType::F64 },
        layout("y", "NCHW->HWNC"),
    ];
    let after = edited(&Sketch::openvino(text).model(), edits).model().unwrap();
    assert_eq!(declared(&after, false), ["x: uint8[?, 2, 2, 3]"]);
    assert_eq!(declared(&after, true), ["y: float64[2, 2, ?, 3]"]);
    assert_eq!(operators(&after), "Transpose Convert Multiply Add ReLU Convert Transpose");
    let bytes = Tensor::from_vec(Shape::new([1, 2, 2, 3]).unwrap(), (0u8..12).collect()).unwrap();
    let outputs = after.run([("x", bytes)]).unwrap();
    // Channel c of pixel p is (3p + c) / 2 + 1 + c.
    let wanted: Vec<f64> = (0..12u8).map(|at| f64::from(at) / 2.0 + 1.0 + f64::from(at % 3)).collect();
    assert_eq!(outputs["y"].tensor().unwrap().elements::<f64>().unwrap()[..], wanted);
}
