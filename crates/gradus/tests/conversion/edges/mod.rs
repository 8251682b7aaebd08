//! Conversions at the edges of operators: what a node gives there is said by its standard's text,
//! and must be the same in the other standard, or the report names the node, or it is refused.

mod loops;
mod open;
mod windows;

use std::slice::from_ref;

use gradus::conversion::{ConvertOptions, Converted};
use gradus::element::Bool;
use gradus::graph::{Content, Standard};
use gradus::infer::InferOptions;
use gradus::{DType, Kind, Model, Shape, Tensor};

use crate::common::compare::difference;
use crate::common::converted::{operators, tensors};
use crate::common::one::One;
use crate::common::sketch::Sketch;
use crate::common::tensors::{counted, tensor};

use Standard::{Onnx, OpenVino};

fn list(values: &[i64]) -> Tensor {
    Tensor::vector(values)
}

fn convert(model: &Model) -> gradus::Result<Converted> {
    let to = if model.source().standard == Onnx { OpenVino } else { Onnx };
    model.convert(to, &ConvertOptions::default())
}

fn whys(converted: &Converted) -> String {
    converted.report.notes.iter().map(|note| &*note.why).collect::<Vec<_>>().join("; ")
}

/// Checks that a node gives what is wanted, before and after; gives what it became.
fn gives(what: &str, one: One<'_>, want: &[Tensor]) -> Converted {
    let (model, given) = one.model();
    let converted = convert(&model).unwrap_or_else(|error| panic!("{what}: {error}"));
    for (model, side) in [(&model, "before"), (&converted.model, "after")] {
        let got = tensors(model, &given);
        assert_eq!(got.len(), want.len(), "{what}, {side}");
        for (got, want) in got.iter().zip(want) {
            assert!(
                difference(want, got, true).is_none(),
                "{what}, {side}: {:?}",
                difference(want, got, true)
            );
        }
    }
    converted
}

fn refusal(one: One<'_>) -> String {
    let error = convert(&one.model().0).unwrap_err();
    assert_eq!(error.kind(), Kind::Unsupported, "{error}");
    error.to_string()
}

#[test]
fn bounds_of_clamp_end_where_the_type_ends() {
    let int = Tensor::vector(&[i64::MIN, -5, 0, i64::MAX]);
    let byte = Tensor::vector(&[0u8, 5, 255]);
    let short = Tensor::vector(&[i8::MIN, -1, i8::MAX]);
    let cases = [
        (int.clone(), "-3.4e38", "3.4028235e+38", int),
        (byte.clone(), "-5", "inf", byte.clone()),
        (byte, "4.5", "1e9", Tensor::vector(&[5u8, 5, 255])),
        (short.clone(), "-200", "300", short.clone()),
        (short, "-inf", "-0.5", Tensor::vector(&[i8::MIN, -1, -1])),
    ];
    for (x, min, max, want) in cases {
        let one = One::of(OpenVino, "Clamp", 1).inputs(&[x]).text("min", min).text("max", max);
        assert!(gives(&format!("{min}..{max}"), one, &[want]).report.is_exact());
    }
}

#[test]
fn clip_without_bounds_makes_infinities_finite() {
    let both = Tensor::vector(&[f32::NEG_INFINITY, 1.0, f32::INFINITY]);
    let most = Tensor::vector(&[f32::MIN, 1.0, f32::MAX]);
    for opset in [6, 13] {
        // Version 6 has the attributes, with defaults; the sets before 7 are run, but not
        // converted.
        let opset = if opset == 6 { 10 } else { opset };
        gives("float32", One::of(Onnx, "Clip", opset).inputs(from_ref(&both)), from_ref(&most));
    }
    let doubles = Tensor::vector(&[f64::INFINITY]);
    for (opset, most) in [(10, f32::MAX.into()), (13, f64::MAX)] {
        gives("float64", One::of(Onnx, "Clip", opset).inputs(from_ref(&doubles)), &[Tensor::vector(&[most])]);
    }
    let ends = Tensor::vector(&[i32::MIN, i32::MAX]);
    let converted = gives("int32", One::of(Onnx, "Clip", 13).inputs(from_ref(&ends)), &[ends]);
    assert!(converted.report.is_exact());
}

#[test]
fn no_axes_are_none() {
    let x = counted(&[1, 3]);
    for operator in ["Squeeze", "Unsqueeze"] {
        let named = One::of(Onnx, operator, 21).inputs(from_ref(&x)).constants(&[list(&[])]);
        gives(operator, named, from_ref(&x));
        let former =
            One::of(Onnx, operator, 11).inputs(from_ref(&x)).attribute("axes", Content::Ints([].into()));
        gives(operator, former, from_ref(&x));
        let message = refusal(One::of(Onnx, operator, 21).inputs(&[x.clone(), list(&[])]));
        assert!(message.contains("number of axes in input 1 is unknown"), "{message}");
    }
    let all = One::of(Onnx, "Squeeze", 21).inputs(&[x]);
    gives("all of one", all, &[counted(&[3])]);
}

#[test]
fn remainders_of_integers_are_no_fmod() {
    let (a, b) = (list(&[i64::MAX, i64::MIN, -7]), list(&[10, 10, 2]));
    for (operator, want) in [("Mod", [7, -8, -1]), ("Divide", [i64::MAX / 10, i64::MIN / 10 - 1, -4])] {
        let one = One::of(OpenVino, operator, 1).inputs(&[a.clone(), b.clone()]);
        let converted = gives(operator, one, &[list(&want)]);
        assert!(!operators(&converted).contains(&"Mod") && converted.report.is_exact(), "{operator}");
    }
}

#[test]
fn indices_out_of_range_give_zeros_since_version_8() {
    let (x, far) = (list(&[5, 6, 7]), list(&[3, -4, 2, -3, i64::MIN]));
    let gather = |version| One::of(OpenVino, "Gather", version).inputs(from_ref(&x));
    let (model, given) = gather(8).constants(&[far.clone(), Tensor::scalar(0i64)]).model();
    assert!(difference(&list(&[0, 0, 7, 5, 0]), &tensors(&model, &given)[0], true).is_none());
    let (model, given) = gather(7).constants(&[far, Tensor::scalar(0i64)]).model();
    assert!(model.run(&given).is_err());
    let near = [list(&[2, -3]), Tensor::scalar(0i64)];
    let noted = gives("size not known", gather(8).constants(&near), &[list(&[7, 5])]);
    assert!(whys(&noted).contains("out of range"), "{}", whys(&noted));
    assert!(gives("known", gather(8).constants(&near).known(), &[list(&[7, 5])]).report.is_exact());
    assert!(gives("version 7", gather(7).constants(&near), &[list(&[7, 5])]).report.is_exact());
    let message = refusal(gather(8).constants(&[list(&[3]), Tensor::scalar(0i64)]).known());
    assert!(
        message.ends_with("an index out of range gives zeros in OpenVINO, and is an error in ONNX"),
        "{message}"
    );
}

#[test]
fn parts_of_an_open_axis_are_as_long_as_there_is_something_left() {
    for len in [0, 3, 4, 5, 7, 8, 9] {
        let x = counted(&[len]);
        let each = len.div_ceil(4);
        let all = x.to_i64().unwrap();
        let part = |i: usize| list(&all[(each * i).min(len)..(each * (i + 1)).min(len)]);
        let one = One::of(Onnx, "Split", 21).inputs(&[x]).outputs(4);
        let one = one.attribute("num_outputs", Content::Int(4));
        gives(&format!("{len}"), one, &[part(0), part(1), part(2), part(3)]);
    }
}

/// Outputs of `conv_transpose` as OpenVINO's plugin for CPUs gives them: kernel, stride, pads and
/// output padding of a node with an output shape.
#[test]
fn transposed_convolutions_have_the_output_shape_that_is_given() {
    type Case<'a> = (&'a [f32], i64, &'a str, i64, i64, &'a [f32]);
    let x = tensor(&[1, 1, 3], &[1f32, 10.0, 100.0]);
    let cases: [Case<'_>; 11] = [
        (&[1.0, 2.0, 3.0], 2, "same_upper", 0, 0, &[2.0, 13.0, 20.0, 130.0, 200.0, 300.0]),
        (&[1.0, 2.0, 3.0, 4.0], 2, "same_upper", 0, 0, &[13.0, 24.0, 130.0, 240.0, 300.0]),
        (&[1.0, 2.0, 3.0, 4.0], 1, "same_upper", 0, 0, &[12.0, 123.0, 234.0, 340.0, 400.0]),
        (&[1.0, 2.0, 3.0], 2, "same_upper", 0, 0, &[1.0, 2.0, 13.0, 20.0, 130.0, 200.0, 300.0, 0.0]),
        (&[1.0, 2.0, 3.0], 2, "same_upper", 0, 1, &[2.0, 13.0, 20.0, 130.0, 200.0, 300.0]),
        (&[1.0, 2.0, 3.0], 2, "same_lower", 0, 0, &[1.0, 2.0, 13.0, 20.0, 130.0, 200.0]),
        (&[1.0, 2.0, 3.0, 4.0], 2, "same_lower", 0, 0, &[2.0, 13.0, 24.0, 130.0, 240.0]),
        (&[1.0, 2.0, 3.0, 4.0], 1, "same_lower", 0, 0, &[1.0, 12.0, 123.0, 234.0, 340.0]),
        (&[1.0, 2.0, 3.0], 2, "same_lower", 0, 1, &[2.0, 13.0, 20.0, 130.0, 200.0, 300.0]),
        (&[1.0, 2.0, 3.0], 2, "explicit", 1, 0, &[2.0, 13.0, 20.0, 130.0, 200.0, 300.0]),
        (&[1.0, 2.0, 3.0], 2, "valid", 0, 0, &[1.0, 2.0, 13.0, 20.0, 130.0]),
    ];
    for (weights, stride, auto, begin, more, want) in cases {
        let node = || {
            let shape = list(&[i64::try_from(want.len()).unwrap()]);
            One::of(OpenVino, "ConvolutionBackpropData", 1)
                .inputs(from_ref(&x))
                .constants(&[tensor(&[1, 1, weights.len()], weights), shape])
                .text("strides", &stride.to_string())
                .text("dilations", "1")
                .text("pads_begin", &begin.to_string())
                .text("pads_end", "0")
                .text("auto_pad", auto)
                .text("output_padding", &more.to_string())
        };
        let want = [tensor(&[1, 1, want.len()], want)];
        gives(&format!("{auto}, sizes known"), node().known(), &want);
        gives(auto, node(), &want);
    }
}

/// ONNX Runtime has no `auto_pad` of dilated windows.
#[test]
fn dilated_windows_that_keep_the_size_have_pads() {
    let x = tensor(&[1, 1, 4], &[1f32, 10.0, 100.0, 1000.0]);
    let weights = tensor(&[1, 1, 2], &[1f32, 2.0]);
    let cases = [
        ("same_upper", "1", None, [21f32, 210.0, 2100.0, 1000.0]),
        ("same_lower", "1", None, [2.0, 21.0, 210.0, 2100.0]),
        ("same_upper", "3", Some(vec![1, 2]), [200.0, 2001.0, 10.0, 100.0]),
        ("same_lower", "3", Some(vec![2, 1]), [20.0, 200.0, 2001.0, 10.0]),
    ];
    for (auto, dilation, pads, want) in cases {
        let node = One::of(OpenVino, "Convolution", 1)
            .inputs(from_ref(&x))
            .constants(from_ref(&weights))
            .text("strides", "1")
            .text("dilations", dilation)
            .text("pads_begin", "0")
            .text("pads_end", "0")
            .text("auto_pad", auto);
        let converted = gives(auto, node, &[tensor(&[1, 1, 4], &want)]);
        let found = match converted.model.graph().nodes()[0].attribute("pads") {
            Some(Content::Ints(found)) => Some(found.to_vec()),
            _ => None,
        };
        assert_eq!(found, pads, "{auto}");
    }
}

/// The pads of ONNX that follow from an output shape: one more at the end is `SAME_UPPER`.
#[test]
fn output_shapes_of_onnx_are_inputs_of_openvino() {
    let x = tensor(&[1, 1, 3], &[1f32, 10.0, 100.0]);
    let weights = tensor(&[1, 1, 3], &[1f32, 2.0, 3.0]);
    let (first, last) = ([1f32, 2.0, 13.0, 20.0, 130.0, 200.0], [2f32, 13.0, 20.0, 130.0, 200.0, 300.0]);
    for (auto, want) in [("SAME_UPPER", first), ("SAME_LOWER", last), ("NOTSET", last)] {
        for shape in [vec![6], vec![1, 1, 6]] {
            let node = One::of(Onnx, "ConvTranspose", 11)
                .inputs(from_ref(&x))
                .constants(from_ref(&weights))
                .attribute("strides", Content::Ints([2].into()))
                .attribute("output_shape", Content::Ints(shape.into()))
                .attribute("auto_pad", Content::Bytes(auto.as_bytes().into()));
            let converted = gives(auto, node, &[tensor(&[1, 1, 6], &want)]);
            assert_eq!(operators(&converted), ["ConvolutionBackpropData"]);
        }
    }
}

/// The row of empty segments may be that of a computed index, which is none below 0.
#[test]
fn rows_of_empty_segments_may_be_computed() {
    let inputs = |index: i64| {
        let table = tensor(&[3, 1], &[1f32, 10.0, 100.0]);
        [table, list(&[0, 1]), list(&[0, 0]), Tensor::scalar(2i64), Tensor::scalar(index)]
    };
    for (index, empty) in [(2, 100.0), (-1, 0.0)] {
        let node = One::of(OpenVino, "EmbeddingSegmentsSum", 3).inputs(&inputs(index));
        gives(&format!("index {index}"), node, &[tensor(&[2, 1], &[11f32, empty])]);
    }
}

#[test]
fn older_sets_have_only_bounds_of_float32_and_axes_from_the_first() {
    let into = |one: One<'_>, opset| {
        let (model, given) = one.model();
        let mut options = ConvertOptions::default();
        options.opset = Some(opset);
        model.convert(Onnx, &options).map(|converted| (converted, tensors(&model, &given), given))
    };
    let clamp = |min: &str| {
        One::of(OpenVino, "Clamp", 1)
            .inputs(&[Tensor::vector(&[0f64, 0.3])])
            .text("min", min)
            .text("max", "1")
    };
    let error = into(clamp("0.1"), 10).unwrap_err().to_string();
    assert!(error.contains("a \"min\" that float32 cannot represent"), "{error}");
    let (converted, want, given) = into(clamp("0.25"), 10).unwrap();
    assert!(difference(&want[0], &tensors(&converted.model, &given)[0], true).is_none());
    let soft =
        One::of(OpenVino, "SoftMax", 8).inputs(&[Tensor::vector(&[1f32])]).text("axis", "-1").model().0;
    let mut options = ConvertOptions::default();
    options.opset = Some(9);
    let soft = soft.convert(Onnx, &options).unwrap();
    let axis = soft.model.graph().nodes()[0].attribute("axis").cloned();
    assert!(matches!(axis, Some(Content::Int(0))), "{axis:?}");
    let x = counted(&[1, 6, 1]);
    let cases = [
        One::of(OpenVino, "Squeeze", 1).inputs(from_ref(&x)).constants(&[list(&[-1])]),
        One::of(OpenVino, "Unsqueeze", 1).inputs(from_ref(&x)).constants(&[list(&[-1])]),
        One::of(OpenVino, "Concat", 1).inputs(&[x.clone(), x.clone()]).text("axis", "-2"),
        One::of(OpenVino, "ReduceSum", 1)
            .inputs(from_ref(&x))
            .constants(&[list(&[-2])])
            .text("keep_dims", "true"),
        One::of(OpenVino, "Split", 1)
            .inputs(&[x])
            .constants(&[Tensor::scalar(-2i64)])
            .text("num_splits", "2")
            .outputs(2),
    ];
    for one in cases {
        let (converted, want, given) = into(one, 9).unwrap();
        for (got, want) in tensors(&converted.model, &given).iter().zip(&want) {
            assert!(difference(want, got, true).is_none());
        }
        for attribute in converted.model.graph().nodes().iter().flat_map(|node| &node.attributes) {
            match &attribute.content {
                Content::Int(axis) => assert!(*axis >= 0, "{attribute:?}"),
                Content::Ints(axes) => assert!(axes.iter().all(|&axis| axis >= 0), "{attribute:?}"),
                _ => {}
            }
        }
    }
}

#[test]
fn older_sets_take_what_has_their_defaults() {
    let cases = [
        (
            "GatherND",
            11,
            One::of(OpenVino, "GatherND", 8).inputs(&[counted(&[3, 2]), tensor(&[2, 1], &[2i64, 0])]),
        ),
        (
            "OneHot",
            11,
            One::of(OpenVino, "OneHot", 1)
                .inputs(&[list(&[1, 0])])
                .constants(&[Tensor::scalar(3i64), Tensor::scalar(1i64), Tensor::scalar(0i64)])
                .text("axis", "-1"),
        ),
        (
            "TopK",
            9,
            One::of(OpenVino, "TopK", 11)
                .inputs(&[Tensor::vector(&[1f32, 3.0, 2.0])])
                .constants(&[Tensor::scalar(2i64)])
                .text("axis", "0")
                .text("mode", "max")
                .text("sort", "value")
                .outputs(2),
        ),
    ];
    for (operator, opset, one) in cases {
        let (model, given) = one.model();
        let mut options = ConvertOptions::default();
        options.opset = Some(opset);
        let converted = model.convert(Onnx, &options).unwrap_or_else(|error| panic!("{operator}: {error}"));
        for (got, want) in tensors(&converted.model, &given).iter().zip(tensors(&model, &given)) {
            assert!(difference(&want, got, true).is_none(), "{operator}");
        }
    }
}

#[test]
fn integers_of_paddle_are_divided_without_fmod() {
    let (a, b) = (list(&[i64::MAX, i64::MIN, -7]), list(&[10, 10, 2]));
    let one = One::of(Standard::Paddle, "floor_divide", 3).inputs(&[a.clone(), b]);
    let converted = gives("floor_divide", one, &[list(&[i64::MAX / 10, i64::MIN / 10 - 1, -4])]);
    assert!(!operators(&converted).contains(&"Mod"));
    let one = One::of(Standard::Paddle, "elementwise_pow", 3).inputs(&[a.clone(), a]);
    assert!(whys(&convert(&one.model().0).unwrap()).contains("negative exponents"));
}

#[test]
fn slices_of_paddle_backwards_from_before_the_first_element_are_empty() {
    for (start, stride, want) in
        [(-9, -1, &[][..]), (-5, -1, &[0]), (i64::MAX, -2, &[4, 2, 0]), (-9, 3, &[0, 3]), (-2, 1, &[3, 4])]
    {
        let end = if stride < 0 { i64::MIN } else { i64::MAX };
        let one = || {
            One::of(Standard::Paddle, "strided_slice", 3)
                .inputs(&[counted(&[5]), list(&[start]), list(&[end])])
                .attribute("axes", Content::Ints([0].into()))
        };
        gives("known", one().attribute("strides", Content::Ints([stride].into())), &[list(want)]);
        gives("computed", one().constants(&[list(&[stride])]), &[list(want)]);
    }
}

#[test]
fn indices_may_be_fewer_than_the_data_has_along_other_axes() {
    let (x, indices) = (counted(&[3, 4, 2]), tensor(&[2, 2, 1], &[0i64, 3, 1, 2]));
    let one = || {
        One::of(Onnx, "GatherElements", 13)
            .inputs(&[x.clone(), indices.clone()])
            .attribute("axis", Content::Int(1))
    };
    let want = tensor(&[2, 2, 1], &[0i64, 6, 10, 12]);
    assert!(operators(&gives("open", one(), from_ref(&want))).contains(&"StridedSlice"));
    assert!(operators(&gives("known", one().known(), &[want])).contains(&"StridedSlice"));
    let indices = tensor(&[3, 1, 2], &[0i64, 3, 1, 2, 0, 1]);
    let one = One::of(Onnx, "GatherElements", 13).inputs(&[x, indices]).attribute("axis", Content::Int(1));
    let converted = gives("equal", one.known(), &[tensor(&[3, 1, 2], &[0i64, 7, 10, 13, 16, 19])]);
    assert_eq!(operators(&converted), ["GatherElements"]);
}

#[test]
fn exponents_keep_their_value() {
    let one = One::of(Onnx, "Pow", 15).inputs(&[Tensor::vector(&[-1f32]), list(&[16_777_217])]);
    let converted = gives("odd", one, &[Tensor::vector(&[-1f32])]);
    assert!(whys(&converted).contains("2^53"), "{}", whys(&converted));
    let of = |exponent: Tensor| One::of(Onnx, "Pow", 15).inputs(&[Tensor::vector(&[4f32]), exponent]);
    let converted = gives("float64", of(Tensor::vector(&[0.5f64])), &[Tensor::vector(&[2f32])]);
    assert_eq!(operators(&converted), ["Convert", "Power", "Convert"]);
    assert!(!whys(&converted).contains("2^53"));
    // Exponents in the range of the base's type are cast to it.
    let two = One::of(Onnx, "Pow", 15).inputs(&[Tensor::vector(&[3f32])]).constants(&[Tensor::scalar(2i64)]);
    assert_eq!(operators(&gives("known", two, &[Tensor::vector(&[9f32])])), ["Power"]);
    let converted = gives("int16", of(Tensor::vector(&[-2i16])), &[Tensor::vector(&[0.0625f32])]);
    assert_eq!(operators(&converted), ["Convert", "Power"]);
}

/// Values at which formulas of integers and codes leave their range.
#[test]
fn sums_wrap_and_codes_of_zeros_have_a_scale() {
    let squares = |x: Tensor, want: Tensor| {
        let one = One::of(Onnx, "ReduceSumSquare", 18).inputs(&[x]).attribute("keepdims", Content::Int(0));
        let (model, given) = one.model();
        assert!(difference(&want, &tensors(&model, &given)[0], true).is_none());
    };
    squares(Tensor::vector(&[u64::MAX, 3]), Tensor::scalar(10u64));
    squares(Tensor::vector(&[i64::MIN, 3]), Tensor::scalar(9i64));
    let sums = |x: Tensor| One::of(OpenVino, "CumSum", 3).inputs(&[x]).constants(&[Tensor::scalar(0i64)]);
    gives("int8", sums(Tensor::vector(&[100i8, 100])), &[Tensor::vector(&[100i8, -56])]);
    gives("uint16", sums(Tensor::vector(&[65535u16, 2])), &[Tensor::vector(&[65535u16, 1])]);
    gives("int32", sums(Tensor::vector(&[1i32, 2])), &[Tensor::vector(&[1i32, 3])]);
    let zeros =
        One::of(Onnx, "DynamicQuantizeLinear", 11).inputs(&[Tensor::vector(&[0f32, -0.0])]).outputs(3);
    let codes = [Tensor::vector(&[0u8, 0]), Tensor::scalar(1f32 / 255.0), Tensor::scalar(0u8)];
    gives("zeros", zeros, &codes);
}

#[test]
fn composite_reductions_along_no_axes_are_of_each_element() {
    let x = Tensor::vector(&[-2f32, 3.0]);
    let reduce = |operator| {
        One::of(Onnx, operator, 21).inputs(from_ref(&x)).attribute("noop_with_empty_axes", Content::Int(1))
    };
    gives("ReduceSum", reduce("ReduceSum"), from_ref(&x));
    gives("ReduceSumSquare", reduce("ReduceSumSquare"), &[Tensor::vector(&[4f32, 9.0])]);
    gives("ReduceL1", reduce("ReduceL1"), &[Tensor::vector(&[2f32, 3.0])]);
    gives("ReduceL2", reduce("ReduceL2"), &[Tensor::vector(&[2f32, 3.0])]);
    let one = One::of(Onnx, "ReduceLogSum", 21)
        .inputs(&[Tensor::vector(&[1f32])])
        .attribute("noop_with_empty_axes", Content::Int(1));
    gives("ReduceLogSum", one, &[Tensor::vector(&[0f32])]);
    // OpenVINO's are the identity then, which ONNX has only of those that are not composite.
    for operator in ["ReduceL1", "ReduceL2", "ReduceSum"] {
        let one = || One::of(OpenVino, operator, 4).inputs(from_ref(&x)).constants(&[list(&[])]);
        let (model, given) = one().model();
        assert!(difference(&x, &tensors(&model, &given)[0], true).is_none(), "{operator}");
        if operator == "ReduceSum" {
            gives(operator, one(), from_ref(&x));
        } else {
            assert!(refusal(one()).contains("the specifications define reductions"));
        }
    }
}

#[test]
fn named_axes_of_other_sizes_stay_in_openvino() {
    let squeeze = |x: &Tensor, axes: &[i64]| {
        One::of(OpenVino, "Squeeze", 15).inputs(from_ref(x)).constants(&[list(axes)])
    };
    for (dims, axes, want) in
        [(&[1, 3][..], &[0, 1, -2][..], &[3][..]), (&[2, 3], &[0], &[2, 3]), (&[0, 1], &[-1, -2], &[0])]
    {
        let x = counted(dims);
        let converted = gives(&format!("{dims:?}"), squeeze(&x, axes).known(), &[counted(want)]);
        assert!(converted.report.is_exact(), "{dims:?}");
    }
    let converted = gives("open", squeeze(&counted(&[1, 3]), &[0]), &[counted(&[3])]);
    assert!(whys(&converted).contains("OpenVINO keeps a named axis"), "{}", whys(&converted));
    let message = refusal(squeeze(&counted(&[1, 3]), &[0]).text("allow_axis_skip", "true"));
    assert!(message.contains("size of axis 0"), "{message}");
}

#[test]
fn what_is_left_open_is_said_and_nothing_else() {
    let float = Tensor::vector(&[1f32, 2.0]);
    let sum = |count: usize| One::of(Onnx, "Sum", 13).inputs(&vec![float.clone(); count]);
    assert!(convert(&sum(2).model().0).unwrap().report.is_exact());
    assert!(whys(&convert(&sum(3).model().0).unwrap()).contains("order of summation"));
    let top = One::of(Onnx, "TopK", 9).inputs(from_ref(&float)).attribute("k", Content::Int(1)).outputs(2);
    assert!(!whys(&convert(&top.model().0).unwrap()).contains("at least 1"));
    let top = One::of(Onnx, "TopK", 11).inputs(&[float]).constants(&[list(&[1])]).outputs(2);
    let top = top.attribute("sorted", Content::Int(0));
    assert!(whys(&convert(&top.model().0).unwrap()).contains("the choice among equal ones"));
    let matrix = tensor(&[1, 1], &[1i32]);
    let gemm =
        One::of(Onnx, "Gemm", 13).inputs(&[matrix.clone(), matrix]).attribute("alpha", Content::Float(3e9));
    assert!(refusal(gemm).contains("a factor that the element type cannot represent"));
}

#[test]
fn what_is_wrong_is_told_instead_of_what_is_not_known_for_it() {
    let one = One::of(OpenVino, "Squeeze", 1).inputs(&[counted(&[1, 3])]).constants(&[list(&[0, 2])]).known();
    let error = convert(&one.model().0).unwrap_err().to_string();
    let wanted = "node \"node\" (openvino Squeeze-1): axis 2 is out of range for rank 2";
    assert_eq!(error, wanted);
}

#[test]
fn slices_backwards_from_before_the_first_element_are_that() {
    // For constants, inference compares its rule with the evaluation.
    let bounds = [list(&[-9]), list(&[-20]), list(&[0]), list(&[-1])];
    let one = One::of(Onnx, "Slice", 13).constants(&[&[counted(&[5])][..], &bounds].concat());
    gives("Slice", one, &[counted(&[1])]);
}

#[test]
fn select_of_truth_values_is_made_of_logic() {
    let [condition, a, b, want] = [
        [true, true, false, false],
        [true, false, true, false],
        [false, true, true, false],
        [true, false, true, false],
    ]
    .map(|truth| Tensor::vector(&truth.map(Bool::from)));
    let one = One::of(OpenVino, "Select", 1).inputs(&[condition, a, b]);
    let converted = gives("Select", one, &[want]);
    assert!(converted.report.is_exact());
    assert!(!operators(&converted).contains(&"Where"));
}

#[test]
fn shifts_of_signed_integers_need_no_new_operator_set() {
    let a = Tensor::vector(&[1i32, -1, -7, i32::MIN, i32::MAX]);
    let b = Tensor::vector(&[31i32, 1, 2, 3, 1]);
    for (operator, want) in [
        ("BitwiseLeftShift", [i32::MIN, -2, -28, 0, -2]),
        ("BitwiseRightShift", [0, -1, -2, i32::MIN >> 3, i32::MAX >> 1]),
    ] {
        let one = One::of(OpenVino, operator, 15).inputs(&[a.clone(), b.clone()]);
        let converted = gives(operator, one, &[Tensor::vector(&want)]);
        assert!(converted.model.source().opsets.iter().all(|(_, version)| *version <= 21));
    }
}

#[test]
fn onnx_becomes_onnx_of_another_operator_set() {
    let in_set = |model: &Model, opset| {
        let mut options = ConvertOptions::default();
        options.opset = Some(opset);
        model.convert(Onnx, &options)
    };
    let x = tensor(&[2, 3], &[1f32, -2.0, 3.0, 0.5, 5.0, -6.0]);
    let (column, axes) = (tensor(&[2, 1], &[7f32, 8.0]), list(&[1]));
    let ones = [
        (One::of(Onnx, "ReduceMax", 18).inputs(from_ref(&x)).constants(from_ref(&axes)), 13),
        (One::of(Onnx, "Squeeze", 21).inputs(&[column]).constants(&[axes]), 11),
        (One::of(Onnx, "Shape", 21).inputs(from_ref(&x)).attribute("start", Content::Int(1)), 13),
        (One::of(Onnx, "Softmax", 13).inputs(from_ref(&x)).known(), 11),
        (One::of(Onnx, "Softmax", 11).inputs(from_ref(&x)).known(), 22),
        (One::of(Onnx, "Softmax", 13).inputs(from_ref(&x)).attribute("axis", Content::Int(0)).known(), 11),
    ];
    for (one, opset) in ones {
        let (model, given) = one.model();
        let converted = in_set(&model, opset).unwrap();
        assert!(converted.model.source().opsets.iter().all(|(_, version)| *version == opset));
        for (got, want) in tensors(&converted.model, &given).iter().zip(tensors(&model, &given)) {
            assert_eq!(got.bytes(), want.bytes());
        }
        assert_eq!(model.convert(Onnx, &ConvertOptions::default()).unwrap_err().kind(), Kind::Unsupported);
    }
}

#[test]
fn squeeze_of_openvino_may_have_no_axes() {
    let one = || One::of(OpenVino, "Squeeze", 1).inputs(&[counted(&[1, 3, 1])]).known();
    gives("Squeeze-1", one(), &[counted(&[3])]);
    let (model, _) = one().model();
    assert!(model.infer(&InferOptions::default()).unwrap().problems().is_empty());
}

#[test]
fn attention_of_scalars_is_refused() {
    let scalars = [(); 3].map(|()| Tensor::scalar(1.0f32));
    let (model, _) = One::of(OpenVino, "ScaledDotProductAttention", 13).inputs(&scalars).known().model();
    let error = convert(&model).unwrap_err();
    assert!(error.to_string().contains("rank of query, key or value is 0, expected at least 2"), "{error}");
}

/// From a fuzz target: a panic, as the axis was taken to be one of the input.
#[test]
fn splits_of_scalars_into_sequences_are_refused() {
    let (model, _) = One::of(Onnx, "SplitToSequence", 17).inputs(&[Tensor::scalar(1.0f32)]).known().model();
    let error = convert(&model).unwrap_err();
    assert!(error.to_string().contains("axis"), "{error}");
}

#[test]
fn sizes_beyond_64_bits_are_refused_before_they_are_multiplied() {
    let most = 1 << 62;
    let ints = |name, values: &[i64]| vec![(name, Content::Ints(values.to_vec().into()))];
    let models = [[most, 4], [1 << 33, 1 << 33], [1 << 20, 1 << 20]].map(|block| {
        Sketch::of("x: float32[n, c, l]")
            .ints("image", &[most, 5])
            .ints("block", &block)
            .with("Col2Im", &["x", "image", "block"], &["y"], ints("dilations", &[most, most]))
            .text("return y: float32[, , , ]")
            .model()
    });
    let pool = Sketch::of("x: float32[n, c, h, w]")
        .with("LpPool", &["x"], &["y"], ints("kernel_shape", &[1 << 40, 1 << 40]))
        .text("return y: float32[, , , ]")
        .model();
    for model in &models {
        assert!(convert(model).is_err());
    }
    // The elements of this window are counted by a float.
    assert!(operators(&convert(&pool).unwrap()).contains(&"AvgPool"));
}

/// A model of one node of an operator set, in another set.
fn in_set(one: One<'_>, opset: i64) -> (Converted, Vec<Tensor>, Vec<Tensor>) {
    let (model, given) = one.model();
    let mut options = ConvertOptions::default();
    options.opset = Some(opset);
    let converted = model.convert(Onnx, &options).unwrap();
    let (before, after) = (tensors(&model, &given), tensors(&converted.model, &given));
    (converted, before, after)
}

#[test]
fn operators_that_newer_sets_dropped_have_their_new_names() {
    let x = counted(&[1, 1, 2, 3]);
    let x = gradus::convert::cast(&x, DType::F32, gradus::convert::Rules::IEEE).unwrap();
    let scales = [1f32, 1.0, 2.0, 1.5];
    let upsample = |mode: &'static str, set: i64| {
        let one = One::of(Onnx, "Upsample", set).inputs(from_ref(&x)).known();
        let one = one.attribute("mode", Content::Bytes(mode.into()));
        if set < 9 {
            one.attribute("scales", Content::Floats(scales.to_vec().into()))
        } else {
            one.constants(&[Tensor::vector(&scales)])
        }
    };
    for (mode, set) in [("nearest", 7), ("linear", 7), ("nearest", 9), ("linear", 9)] {
        let (converted, before, after) = in_set(upsample(mode, set), 13);
        assert_eq!(operators(&converted), ["Resize"]);
        assert_eq!(before[0].bytes(), after[0].bytes(), "{mode} of set {set}");
        assert_eq!(converted.report.is_exact(), mode == "nearest");
        let (model, given) = upsample(mode, set).model();
        let there = convert(&model).unwrap();
        assert!(operators(&there).contains(&"Interpolate"), "{mode} of set {set}");
        assert_eq!(difference(&before[0], &tensors(&there.model, &given)[0], mode == "nearest"), None);
        let (kept, ..) = in_set(upsample(mode, set), 9);
        assert_eq!(operators(&kept), ["Upsample"]);
    }
    let scatter = One::of(Onnx, "Scatter", 9)
        .inputs(&[counted(&[2, 3]), tensor(&[2, 1], &[2i64, 0]), tensor(&[2, 1], &[7i64, 8])])
        .attribute("axis", Content::Int(1));
    let (converted, before, after) = in_set(scatter, 13);
    assert_eq!(operators(&converted), ["ScatterElements"]);
    assert_eq!(before[0].bytes(), after[0].bytes());
}

#[test]
fn values_known_before_a_run_become_constants_where_nothing_else_is_equivalent() {
    let given = [Tensor::scalar(8i64), Tensor::scalar(64i64), Tensor::scalar(16000i64)];
    let ends = [Tensor::scalar(0f32), Tensor::scalar(8000f32)];
    let one = One::of(Onnx, "MelWeightMatrix", 17).constants(&given).constants(&ends);
    let (model, none) = one.model();
    let converted = convert(&model).unwrap();
    assert!(!operators(&converted).contains(&"MelWeightMatrix"));
    assert_eq!(tensors(&model, &none)[0].bytes(), tensors(&converted.model, &none)[0].bytes());
    assert!(!converted.report.is_exact(), "its logarithms are rounded otherwise elsewhere");
}

#[test]
fn random_numbers_are_drawn_in_openvino_too() {
    let logits = tensor(&[2, 3], &[0.5f32, 1.0, 2.0, 0.0, 0.0, 0.0]);
    for (operator, drawn) in [
        ("RandomNormalLike", "RandomUniform"),
        ("RandomUniformLike", "RandomUniform"),
        ("Bernoulli", "RandomUniform"),
        ("Multinomial", "Multinomial"),
    ] {
        let (model, _) = One::of(Onnx, operator, 22).inputs(from_ref(&logits)).model();
        let converted = convert(&model).unwrap();
        assert!(operators(&converted).contains(&drawn), "{operator}");
        assert!(whys(&converted).contains("other random numbers"), "{operator}");
    }
    let one = One::of(Onnx, "RandomNormal", 22).attribute("shape", Content::Ints([2, 3].into()));
    assert!(operators(&convert(&one.model().0).unwrap()).contains(&"Cos"));
}

#[test]
fn deformable_convolutions_keep_bias_and_mask() {
    let zeros = |dims: &[usize]| Tensor::zeros(DType::F32, Shape::new(dims).unwrap()).unwrap();
    let inputs = [
        zeros(&[1, 2, 6, 6]),
        zeros(&[4, 2, 3, 3]),
        zeros(&[1, 18, 4, 4]),
        zeros(&[4]),
        zeros(&[1, 9, 4, 4]),
    ];
    let converted = convert(&One::of(Onnx, "DeformConv", 22).inputs(&inputs).known().model().0).unwrap();
    let node =
        converted.model.graph().nodes().iter().find(|node| &*node.operator.name == "DeformableConvolution");
    assert_eq!(node.unwrap().inputs.len(), 4);
    assert!(operators(&converted).contains(&"Add"));
}

#[test]
fn sequences_that_are_inputs_stay_in_other_operator_sets() {
    let text = "items: sequence of float32[?, 3]; y = ConcatFromSequence(items, axis=0); return y";
    let model = Sketch::of(text).unwritten(18);
    let mut options = ConvertOptions::default();
    options.opset = Some(13);
    let converted = model.convert(Onnx, &options).unwrap();
    let graph = converted.model.graph();
    let declared = graph.value(graph.inputs()[0]).declared.as_ref().unwrap();
    assert_eq!(declared.to_string(), "sequence of float32[?, 3]");
    assert_eq!(convert(&model).unwrap_err().kind(), Kind::Unsupported);
}
