//! Models for the processor plug-in of OpenVINO: forms that it computes wrongly are not written,
//! and nodes that it refuses are named.

use gradus::conversion::{ConvertOptions, Converted, Exactness};
use gradus::graph::Content;
use gradus::graph::Standard::{Onnx, OpenVino};
use gradus::{DType, Model, Shape, Tensor};

use crate::common::converted::operators;
use crate::common::sketch::Sketch;

fn in_openvino(sketch: Sketch) -> Converted {
    sketch.model_of(24).convert(OpenVino, &ConvertOptions::default()).unwrap()
}

/// The number of products of elements that are written for weights of codes and scales.
fn products(text: &str, codes: Tensor, scales: Tensor) -> usize {
    let sketch = Sketch::of("x: float32[n, 4]; x6: float32[n, 6]")
        .constant("codes", codes)
        .constant("scales", scales)
        .text(text)
        .text("return y: float32[n, m]");
    let converted = in_openvino(sketch);
    operators(&converted).into_iter().filter(|operator| *operator == "Multiply").count()
}

/// The plug-in takes the scales of compressed weights for those of columns: rows that have their
/// own are multiplied by 1 before the product, columns are not.
#[test]
fn products_take_weights_with_scaled_rows() {
    let codes: Vec<i8> = (0..24).map(|code| code - 12).collect();
    let codes = Tensor::from_vec(Shape::new([4, 6]).unwrap(), codes).unwrap();
    for (axis, product, scales, is_guarded) in [
        (0, "y = MatMul(x, w)", 4, true),
        (1, "y = MatMul(x, w)", 6, false),
        (1, "t = Transpose(w); y = MatMul(x6, t)", 6, true),
        (0, "t = Transpose(w); y = MatMul(x6, t)", 4, false),
        (1, "y = Gemm(x6, w, transB=1)", 6, true),
        (0, "y = Gemm(x6, w, transB=1)", 4, false),
        (0, "y = Gemm(x, w)", 4, true),
        (0, "r = Relu(w); y = MatMul(x, r)", 4, false),
    ] {
        let scales: Vec<f32> = (1..=scales).map(|scale: u8| f32::from(scale) / 4.0).collect();
        let text = format!("w = DequantizeLinear(codes, scales, axis={axis}); {product}");
        let guards = products(&text, codes.clone(), Tensor::vector(&scales)) - 1;
        assert_eq!(guards, usize::from(is_guarded), "{text}");
    }
}

/// The plug-in refuses weights whose blocks are of columns: these are multiplied by 1, others not.
#[test]
fn products_take_weights_with_blocks_of_columns() {
    let codes: Vec<i8> = (0..24).map(|code| code - 12).collect();
    let codes = Tensor::from_vec(Shape::new([4, 6]).unwrap(), codes).unwrap();
    for (axis, product, is_guarded) in [
        (1, "y = MatMul(x, w)", true),
        (0, "y = MatMul(x, w)", false),
        (0, "y = Gemm(x6, w, transB=1)", true),
        (1, "y = Gemm(x6, w, transB=1)", false),
        (0, "t = Transpose(w); y = MatMul(x6, t)", true),
        (1, "t = Transpose(w); y = MatMul(x6, t)", false),
    ] {
        let dims = if axis == 0 { [2, 6] } else { [4, 3] };
        let scales: Vec<f32> = (1..=dims[0] * dims[1]).map(|scale: u8| f32::from(scale) / 4.0).collect();
        let scales = Tensor::from_vec(Shape::new(dims.map(usize::from)).unwrap(), scales).unwrap();
        let text = format!("w = DequantizeLinear(codes, scales, axis={axis}, block_size=2); {product}");
        let guards = products(&text, codes.clone(), scales) - 1;
        assert_eq!(guards, usize::from(is_guarded), "{text}");
    }
}

/// The plug-in removes a conversion before `NonZero`, and finds what is 0 in another type: a
/// comparison with 0 is between them.
#[test]
fn nonzero_elements_are_those_after_a_conversion() {
    for (text, is_guarded) in [
        ("i = Cast(x, to=7); y = NonZero(i)", true),
        ("i = Cast(x, to=2); j = Identity(i); y = NonZero(j)", true),
        ("i = Cast(x, to=6); j = Abs(i); y = NonZero(j)", false),
        ("y = NonZero(x)", false),
    ] {
        let converted = in_openvino(Sketch::of("x: float32[n, 4]").text(text).text("return y: int64[2, m]"));
        let written = operators(&converted);
        assert_eq!(written.contains(&"NotEqual"), is_guarded, "{text}: {written:?}");
    }
}

/// The plug-in ignores lengths of sequences where sizes are open: a loop keeps to them.
#[test]
fn networks_of_lengths_and_open_sizes_become_loops() {
    for (sizes, lengths, becomes) in [
        ("3, 2, 2", "lengths", "RNNSequence"),
        ("s, 2, 2", "lengths", "Loop"),
        ("3, b, 2", "lengths", "Loop"),
        ("s, b, 2", "", "RNNSequence"),
    ] {
        let text = format!(
            "x: float32[{sizes}]; lengths: int32[2]; w = float32[1, 2, 2](1, 2, 3); b = float32[1, 4](1);
             y = RNN(x, w, w, b, {lengths}, hidden_size=2); return y: float32[s, 1, b, 2]"
        );
        let converted = in_openvino(Sketch::of(&text));
        assert!(operators(&converted).contains(&becomes), "{sizes}, {lengths}");
    }
}

/// The plug-in takes the Transposes around a sequence of one direction together, and replaces the
/// first for all that read it: layers of the same data read wrong elements.
#[test]
fn no_transpose_reads_a_sequence_of_one_direction_between_steps() {
    for (direction, layout, squeezes) in
        [("forward", 0, 1), ("reverse", 0, 1), ("bidirectional", 0, 0), ("forward", 1, 0)]
    {
        let directions = if direction == "bidirectional" { 2 } else { 1 };
        let text = format!(
            "x: float32[s, b, 2]; w = float32[{directions}, 2, 2](1, 2, 3);
             y = RNN(x, w, w, hidden_size=2, direction='{direction}', layout={layout});
             return y: float32[s, {directions}, b, 2]"
        );
        let text = if layout == 1 { text.replace("[s, 1, b, 2]", "[s, b, 1, 2]") } else { text };
        let written = in_openvino(Sketch::of(&text));
        let count = operators(&written).iter().filter(|name| **name == "Squeeze").count();
        assert_eq!(count, squeezes, "{direction}, {layout}");
    }
}

/// A Broadcast to no sizes ends the program of the plug-in, and a Tile without axes returns other
/// numbers.
#[test]
fn scalars_are_neither_broadcast_nor_repeated() {
    for operator in ["Expand", "Tile"] {
        let sketch = Sketch::of("x: float32[]").constant("sizes", Tensor::vector::<i64>(&[]));
        let sketch = sketch.text(&format!("y = {operator}(x, sizes); z = Neg(y); return z: float32[]"));
        let converted = in_openvino(sketch);
        let written = operators(&converted);
        assert!(!written.iter().any(|name| ["Broadcast", "Tile"].contains(name)), "{operator}: {written:?}");
    }
}

/// The plug-in fuses attention and the function of elements after it, and takes the axes of heads
/// and positions for each other where they are of one size.
#[test]
fn attention_of_as_many_heads_as_positions_is_named() {
    for (sizes, is_named) in
        [("1, 4, 4, 8", true), ("1, 4, 3, 8", false), ("1, 1, 1, 8", false), ("1, h, 4, 8", false)]
    {
        let text = format!(
            "q: float32[{sizes}]; k: float32[{sizes}]; t = Transpose(k, perm=[0, 1, 3, 2]); m = MatMul(q, t); \
             p = Softmax(m, axis=-1); a = MatMul(p, k); y = Relu(a); return y: float32[{sizes}]"
        );
        let notes = in_openvino(Sketch::of(&text)).report.notes;
        let named = notes.iter().filter(|note| note.why.contains("mixes up heads and positions")).count();
        assert_eq!(named, usize::from(is_named), "{sizes}");
    }
}

/// The plug-in moves strings, and computes nothing of them.
#[test]
fn strings_that_the_plug_in_refuses_are_named() {
    for (text, refused) in [
        ("y = Identity(x)", None),
        ("y = Concat(x, x, axis=0)", None),
        ("y = Transpose(x)", None),
        ("two = [2, 1]; y = Tile(x, two)", Some("Tile")),
        ("size = Shape(x); y = Expand(z, size)", Some("Broadcast")),
        ("q = Equal(x, z); y = Where(q, x, z)", Some("Equal")),
    ] {
        let sketch = Sketch::new()
            .input("x", DType::String, &["n", "2"])
            .input("z", DType::String, &["1", "2"])
            .text(text)
            .output("y", DType::String, &["m", "2"]);
        let converted = in_openvino(sketch);
        let lost = converted.report.lost.iter().filter(|lost| lost.contains("of strings"));
        let lost: Vec<_> = lost.collect();
        match refused {
            Some(operator) => assert!(lost[0].contains(operator), "{text}: {lost:?}"),
            None => assert_eq!(lost, [""; 0], "{text}"),
        }
        assert!(!operators(&converted).contains(&"Convert"), "{text}");
    }
}

/// The plug-in computes integers of 4 bits, and uint16, in wider types.
#[test]
fn integers_that_a_type_cannot_hold_are_named() {
    for (from, to, is_named) in [
        (DType::I32, 21, true),
        (DType::I8, 22, true),
        (DType::U8, 22, true),
        (DType::I64, 4, true),
        (DType::I8, 4, true),
        (DType::U8, 4, false),
        (DType::Bool, 21, false),
        (DType::I32, 3, false),
    ] {
        let mut sketch = Sketch::new().input("x", from, &["n"]).text(&format!("y = Cast(x, to={to})"));
        sketch.0.output("y");
        let notes = in_openvino(sketch).report.notes;
        assert_eq!(notes.iter().any(|note| note.why.contains("keeps integers")), is_named, "{from} to {to}");
    }
}

/// OpenVINO rounds to the nearest power of two, whatever mode a Cast has.
#[test]
fn powers_of_two_are_rounded_to_the_nearest() {
    let sketch = Sketch::of("x: float32[n]").with(
        "Cast",
        &["x"],
        &["p"],
        vec![("to", Content::Int(24)), ("round_mode", Content::Bytes("down".into()))],
    );
    let converted = in_openvino(sketch.text("y = Cast(p, to=1); return y: float32[n]"));
    assert_eq!(converted.report.notes[0].exactness, Exactness::Rounding);
    let x = Tensor::vector(&[0.3f32, 0.6, 0.8, 1.4, 1.6, 2.5, 3.5]);
    let run = |model: &Model| model.run([("x", x.clone())]).unwrap()[0].tensor().unwrap().clone();
    let nearest = Tensor::vector(&[0.25f32, 0.5, 1.0, 1.0, 2.0, 2.0, 4.0]);
    assert_eq!(run(&converted.model), nearest);
    let mut options = ConvertOptions::default();
    options.opset = Some(24);
    let back = converted.model.convert(Onnx, &options).unwrap();
    assert_eq!(run(&back.model), nearest);
}
