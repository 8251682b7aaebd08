//! Types and layouts of inputs and outputs.

use gradus::edit::{Edit, Scaling};
use gradus::{DType, Shape, Tensor};

use crate::common::sketch::{Sketch, operators};
use crate::{declared, edited, refused, run, tensor};

/// A model of an image.
fn image() -> gradus::Model {
    Sketch::of("x: float32[n, 3, 2, 2]; y = Relu(x); return y: float32[n, 3, 2, 2]").model()
}

fn typed(dtype: DType, scale: &[f64], offset: &[f64]) -> Edit {
    let scaling = Scaling { scale: scale.to_vec(), offset: offset.to_vec() };
    Edit::InputType { input: "x".into(), dtype, scaling }
}

#[test]
fn an_image_of_bytes_is_scaled_and_transposed() {
    let model = image();
    let edits = [
        typed(DType::U8, &[0.5], &[1.0, 2.0, 3.0]),
        Edit::Layout { name: "x".into(), layout: "NHWC".into() },
    ];
    let after = edited(&model, edits).model().unwrap();
    assert_eq!(declared(&after, false), ["x: uint8[n, 2, 2, 3]"]);
    assert_eq!(operators(&after), "Transpose Cast Mul Add Relu");
    let bytes = Tensor::from_vec(Shape::new([1, 2, 2, 3]).unwrap(), (0u8..12).collect()).unwrap();
    let y = run(&after, &[("x", bytes)], "y");
    // Channel c of pixel p is (3p + c) / 2 + 1 + c.
    let wanted: Vec<f32> = (0..3u8)
        .flat_map(|c| (0..4u8).map(move |p| f32::from(3 * p + c) / 2.0 + 1.0 + f32::from(c)))
        .collect();
    assert_eq!(y, format!("[1, 3, 2, 2] {wanted:?}"));
}

#[test]
fn outputs_have_other_types_and_layouts() {
    let edits = [
        Edit::OutputType { output: "y".into(), dtype: DType::F16 },
        Edit::Layout { name: "y".into(), layout: "NCHW->HWNC".into() },
    ];
    let after = edited(&image(), edits).model().unwrap();
    assert_eq!(declared(&after, true), ["y: float16[2, 2, n, 3]"]);
    assert_eq!(operators(&after), "Relu Cast Transpose");
    let x = tensor(&[1, 3, 2, 2]);
    let outputs = after.run([("x", x)]).unwrap();
    assert_eq!(outputs["y"].tensor().unwrap().shape().dims(), [2, 2, 1, 3]);
}

#[test]
fn wrong_types_and_layouts_are_refused() {
    let model = image();
    let message = |edit| refused(&model, edit).to_string();
    assert_eq!(
        message(typed(DType::F32, &[], &[])),
        "cannot change the type of \"x\": it is float32 already"
    );
    assert_eq!(
        message(typed(DType::C64, &[], &[])),
        "cannot change the type of \"x\": the type is complex64, expected a real number"
    );
    assert_eq!(
        message(typed(DType::U8, &[1.0, 2.0], &[])),
        "cannot scale input \"x\": the number of values of scale is 2, expected 1, or the size of axis 1, which is 3"
    );
    for layout in ["NHW", "NHWW", "NCHW->NHWD", "N1HW"] {
        let text = message(Edit::Layout { name: "x".into(), layout: layout.into() });
        assert!(text.ends_with("expected 4 letters, each once, as NHWC or NCHW->NHWC"), "{text}");
    }
}
