//! Pools, blocks and resized images where the standards differ. Expected values are those of
//! OpenVINO's reference, and where it has none, of its CPU plugin.

use std::slice::from_ref;

use gradus::graph::Content;
use gradus::graph::Standard::{Onnx, OpenVino};
use gradus::{DType, Tensor};

use super::{convert, gives, list, operators, refusal, tensors, whys};
use crate::common::compare::difference;
use crate::common::one::One;
use crate::common::sketch::Sketch;
use crate::common::tensors::tensor;

fn floats(dims: &[usize], elements: &[f32]) -> Tensor {
    tensor(dims, elements)
}

/// The numbers from 0 on.
fn numbers(dims: &[usize]) -> Tensor {
    let len = u8::try_from(dims.iter().product::<usize>()).unwrap();
    floats(dims, &(0..len).map(f32::from).collect::<Vec<_>>())
}

/// `Interpolate` of a line, or of an image, to sizes.
fn interpolate<'a>(x: &Tensor, sizes: &[i64], mode: &str) -> One<'a> {
    let axes: Vec<i64> = (2..).take(sizes.len()).collect();
    let none = vec!["0"; sizes.len() + 2].join(",");
    One::of(OpenVino, "Interpolate", 11)
        .inputs(from_ref(x))
        .known()
        .constants(&[list(sizes), list(&axes)])
        .text("mode", mode)
        .text("shape_calculation_mode", "sizes")
        .text("pads_begin", &none)
        .text("pads_end", &none)
}

#[test]
fn openvino_smooths_in_mode_linear_where_an_axis_shrinks() {
    let squares = floats(&[1, 1, 4], &[0.0, 1.0, 4.0, 9.0]);
    let cases: [(&str, [f32; 2]); 4] = [
        ("linear", [1.0, 40.0 / 7.0]),
        ("linear_onnx", [0.5, 6.5]),
        ("cubic", [0.21875, 6.78125]),
        ("nearest", [0.0, 4.0]),
    ];
    for (mode, want) in cases {
        let one = interpolate(&squares, &[2], mode).text("antialias", "true");
        gives(mode, one, &[floats(&[1, 1, 2], &want)]);
    }
    let pair = floats(&[1, 1, 2], &[1.0, 3.0]);
    let grows = interpolate(&pair, &[4], "linear").text("antialias", "true");
    gives("grows", grows, &[floats(&[1, 1, 4], &[1.0, 1.5, 2.5, 3.0])]);
    // The axis that shrinks has smoothed weights, [3, 3, 1]/7 and [1, 3, 3]/7; windows on the other
    // one have half an element on each side.
    let image: Vec<_> =
        [1.0, 3.0].iter().flat_map(|&row| [0.0, 1.0, 4.0, 9.0].map(|x: f32| row * x)).collect();
    let image = floats(&[1, 1, 2, 4], &image);
    let both = interpolate(&image, &[4, 2], "linear").text("antialias", "true");
    let rows = [1.0, 1.0, 3.0, 3.0].iter().flat_map(|&row: &f32| [row, row * 40.0 / 7.0]).collect::<Vec<_>>();
    let converted = gives("both", both, &[floats(&[1, 1, 4, 2], &rows)]);
    assert!(whys(&converted).contains("smooths images of rank 5 only"), "{}", whys(&converted));
}

#[test]
fn the_simple_nearest_element_is_rounded_down_where_an_axis_grows_and_up_where_one_shrinks() {
    let image = numbers(&[1, 1, 2, 4]);
    let one = interpolate(&image, &[4, 2], "nearest").text("nearest_mode", "simple");
    let want = floats(&[1, 1, 4, 2], &[1.0, 3.0, 1.0, 3.0, 1.0, 3.0, 5.0, 7.0]);
    let converted = gives("sizes", one, from_ref(&want));
    assert_eq!(operators(&converted).iter().filter(|&&name| name == "Resize").count(), 2);
    let by_scales = One::of(OpenVino, "Interpolate", 11)
        .inputs(from_ref(&image))
        .known()
        .constants(&[Tensor::vector(&[2.0f32, 0.5]), list(&[2, 3])])
        .text("mode", "nearest")
        .text("nearest_mode", "simple")
        .text("shape_calculation_mode", "scales");
    gives("scales", by_scales, &[want]);
    // The attribute has no meaning in other modes, and ONNX has no such value.
    let linear = interpolate(&image, &[2, 4], "linear_onnx").text("nearest_mode", "simple");
    let (model, _) = linear.model();
    let written = convert(&model).unwrap().model;
    let name = written.graph().nodes().iter().find_map(|node| node.attribute("nearest_mode").cloned());
    assert!(!matches!(name, Some(Content::Bytes(name)) if *name == *b"simple"));
}

fn pool<'a>(operator: &'a str, x: &Tensor, kernel: &str, strides: &str, end: &str) -> One<'a> {
    One::of(OpenVino, operator, 1)
        .inputs(from_ref(x))
        .known()
        .text("kernel", kernel)
        .text("strides", strides)
        .text("pads_begin", "0")
        .text("pads_end", end)
        .text("rounding_type", "ceil")
}

#[test]
fn openvino_counts_windows_that_start_behind_the_data() {
    let line = floats(&[1, 1, 8], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    let cases: [(&str, &str, &str, &[f32]); 4] = [
        ("1", "2", "0", &[1.0, 3.0, 5.0, 7.0, f32::MIN]),
        ("1", "3", "0", &[1.0, 4.0, 7.0, f32::MIN]),
        ("2", "3", "1", &[2.0, 5.0, 8.0, f32::MIN]),
        ("2", "3", "0", &[2.0, 5.0, 8.0]),
    ];
    for (kernel, strides, end, want) in cases {
        let one = pool("MaxPool", &line, kernel, strides, end);
        gives(&format!("{kernel} {strides} {end}"), one, &[floats(&[1, 1, want.len()], want)]);
    }
    let message = refusal(pool("AvgPool", &line, "1", "2", "0").text("exclude-pad", "false"));
    assert!(message.contains("starts after the padded data, where no mean is defined"), "{message}");
}

/// An operator, its mode, the shapes of its input and output, and the order of the elements.
type Blocks = (&'static str, &'static str, &'static [usize], &'static [usize], &'static [u8]);

#[test]
fn blocks_of_openvino_have_any_rank() {
    let to = |order: &[u8]| order.iter().map(|&x| f32::from(x)).collect::<Vec<_>>();
    let cases: [Blocks; 6] = [
        ("SpaceToDepth", "blocks_first", &[1, 2, 4], &[1, 4, 2], &[0, 2, 4, 6, 1, 3, 5, 7]),
        ("SpaceToDepth", "depth_first", &[1, 2, 4], &[1, 4, 2], &[0, 2, 1, 3, 4, 6, 5, 7]),
        ("DepthToSpace", "blocks_first", &[1, 4, 2], &[1, 2, 4], &[0, 4, 1, 5, 2, 6, 3, 7]),
        ("DepthToSpace", "depth_first", &[1, 4, 2], &[1, 2, 4], &[0, 2, 1, 3, 4, 6, 5, 7]),
        ("SpaceToDepth", "depth_first", &[1, 2, 2, 2], &[1, 8, 1, 1], &[0, 1, 2, 3, 4, 5, 6, 7]),
        (
            "SpaceToDepth",
            "blocks_first",
            &[1, 2, 2, 2, 2],
            &[1, 16, 1, 1, 1],
            &[0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15],
        ),
    ];
    for (operator, mode, from, shape, order) in cases {
        let one = One::of(OpenVino, operator, 1)
            .inputs(&[numbers(from)])
            .text("block_size", "2")
            .text("mode", mode);
        let converted = gives(&format!("{operator} {mode} {from:?}"), one, &[floats(shape, &to(order))]);
        assert!(converted.report.is_exact());
    }
}

#[test]
fn what_has_no_elements_is_a_constant_of_openvino() {
    let kernel = || Content::Ints([3].into());
    let pool =
        One::of(Onnx, "AveragePool", 22).inputs(&[numbers(&[1, 2, 2])]).attribute("kernel_shape", kernel());
    let converted =
        gives("pool", pool.declared(0, Some(&[Some(1), Some(2), Some(2)])), &[floats(&[1, 2, 0], &[])]);
    assert_eq!(operators(&converted), [""; 0]);
    let nothing = floats(&[2, 0], &[]);
    let hardmax =
        || One::of(Onnx, "Hardmax", 13).inputs(from_ref(&nothing)).attribute("axis", Content::Int(1));
    gives("hardmax", hardmax().declared(0, Some(&[Some(2), Some(0)])), from_ref(&nothing));
    // The report says what OpenVINO refuses of open sizes.
    let why = |one: One<'_>| whys(&convert(&one.model().0).unwrap());
    let open = why(hardmax());
    assert!(open.contains("OpenVINO refuses to find the largest of no elements"), "{open}");
    let image =
        || One::of(Onnx, "MaxPool", 22).inputs(&[numbers(&[1, 2, 4])]).attribute("kernel_shape", kernel());
    let open = why(image());
    assert!(open.contains("OpenVINO refuses a window that is larger than the padded data"), "{open}");
    let padded = why(image().attribute("pads", Content::Ints([1, 1].into())));
    assert!(!padded.contains("window"), "{padded}");
    // A pad of a whole window, and one that cuts.
    let alone = why(image().attribute("pads", Content::Ints([3, 0].into())));
    assert!(alone.contains("OpenVINO refuses a window that lies on padding alone"), "{alone}");
    let indexed = image().attribute("auto_pad", Content::Bytes("SAME_UPPER".into()));
    let indexed = why(indexed.outputs(2));
    assert!(indexed.contains("OpenVINO does not pad to the same size where indices"), "{indexed}");
    let cut = image().attribute("pads", Content::Ints([-1, 0].into()));
    let refused = convert(&cut.model().0).unwrap_err().to_string();
    assert!(refused.ends_with("attribute \"pads\" is -1, expected at least 0"), "{refused}");
    // A window that is larger by a stride or more is none, of any batch, and pads make
    // none.
    let narrow = One::of(Onnx, "MaxPool", 22)
        .inputs(&[numbers(&[1, 2, 2])])
        .attribute("kernel_shape", kernel())
        .declared(0, Some(&[None, Some(2), Some(2)]));
    let refused = convert(&narrow.model().0).unwrap_err().to_string();
    let why = "OpenVINO has no pool whose window is larger than the padded data";
    assert!(refused.ends_with(why), "{refused}");
    // A slice of at most one element, of an axis of any size.
    let sliced = Sketch::of("x: float32[n, m, k]");
    let ends = [("start", -1), ("end", 2), ("axis", 2)];
    let sliced = ends.into_iter().fold(sliced, |sketch, (name, at)| sketch.ints(name, &[at]));
    let sliced = sliced
        .node("Slice", &["x", "start", "end", "axis"], &["part"])
        .with("MaxPool", &["part"], &["y"], vec![("kernel_shape", Content::Ints([2].into()))])
        .output("y", DType::F32, &["", "", ""]);
    let refused = convert(&sliced.model()).unwrap_err().to_string();
    assert!(refused.ends_with(why), "{refused}");
}

#[test]
fn openvino_has_whole_biases_of_a_local_response() {
    let image = numbers(&[1, 3, 2]);
    let one = |bias: f32| {
        One::of(Onnx, "LRN", 13)
            .inputs(from_ref(&image))
            .attribute("size", Content::Int(3))
            .attribute("alpha", Content::Float(0.5))
            .attribute("bias", Content::Float(bias))
    };
    for (bias, operators_of) in [(2.0, &["LRN"][..]), (1.5, &["LRN", "Multiply"])] {
        let (model, given) = one(bias).model();
        let converted = convert(&model).unwrap();
        assert_eq!(operators(&converted), operators_of);
        let (before, after) = (tensors(&model, &given), tensors(&converted.model, &given));
        assert_eq!(difference(&before[0], &after[0], false), None, "{bias}");
    }
}

#[test]
fn conditions_of_openvino_have_one_axis_at_most() {
    for (rank, reshapes) in [(0, false), (1, false), (2, true), (3, true)] {
        let names = vec!["1"; rank];
        let branch = |operator: &str| {
            Sketch::nested().node(operator, &["x"], &["own"]).text("return own: float32[2]").graph()
        };
        let attributes = vec![("then_branch", branch("Neg")), ("else_branch", branch("Abs"))];
        let model = Sketch::new()
            .input("condition", DType::Bool, &names)
            .text("x: float32[2]")
            .with("If", &["condition"], &["y"], attributes)
            .text("return y: float32[2]")
            .model();
        let converted = convert(&model).unwrap();
        assert_eq!(operators(&converted).contains(&"Reshape"), reshapes, "rank {rank}");
    }
}

/// OpenVINO's plugin and its reference take an axis as it is where a scale leaves its size as it
/// is; ONNX and its runtimes do not.
#[test]
fn openvino_scales_no_axis_that_keeps_its_size() {
    let (line, scale) = (floats(&[1, 1, 3], &[0.0, 5.0, 10.0]), floats(&[1], &[1.25]));
    let scaled = floats(&[1, 1, 3], &[0.0, 4.0, 8.0]);
    for mode in ["linear", "linear_onnx"] {
        let one = One::of(OpenVino, "Interpolate", 11)
            .inputs(from_ref(&line))
            .known()
            .constants(&[scale.clone(), list(&[2])])
            .text("mode", mode)
            .text("shape_calculation_mode", "scales")
            .text("coordinate_transformation_mode", "asymmetric")
            .text("pads_begin", "0,0,0")
            .text("pads_end", "0,0,0");
        gives(mode, one, from_ref(&line));
    }
    let resize = || {
        let word = |name, text: &'static str| (name, Content::Bytes(text.into()));
        let [mode, coordinates] =
            [word("mode", "linear"), word("coordinate_transformation_mode", "asymmetric")];
        let one = One::of(Onnx, "Resize", 18).inputs(from_ref(&line));
        one.constants(&[floats(&[0], &[]), scale.clone()])
            .attribute(mode.0, mode.1)
            .attribute(coordinates.0, coordinates.1)
            .attribute("axes", Content::Ints([2].into()))
    };
    gives("Resize", resize().known(), from_ref(&scaled));
    let open = convert(&resize().model().0).unwrap();
    assert!(whys(&open).contains("OpenVINO leaves an axis as it is"), "{}", whys(&open));
}

/// Zeros of a given shape that no window reaches lie before the sums too, where OpenVINO has them
/// after the sums alone; only open sizes are told as an edge case.
#[test]
fn zeros_of_a_given_shape_lie_on_both_sides() {
    let x = floats(&[1, 1, 2], &[1.0, 2.0]);
    let node = |size: i64, auto: &'static str| {
        One::of(Onnx, "ConvTranspose", 11)
            .inputs(from_ref(&x))
            .constants(&[floats(&[1, 1, 2], &[1.0, 10.0])])
            .attribute("strides", Content::Ints([2].into()))
            .attribute("output_shape", Content::Ints([size].into()))
            .attribute("auto_pad", Content::Bytes(auto.into()))
    };
    let cases: [(i64, &str, &[f32]); 5] = [
        (7, "NOTSET", &[0.0, 1.0, 10.0, 2.0, 20.0, 0.0, 0.0]),
        (7, "SAME_UPPER", &[0.0, 0.0, 1.0, 10.0, 2.0, 20.0, 0.0]),
        (5, "SAME_UPPER", &[0.0, 1.0, 10.0, 2.0, 20.0]),
        (4, "NOTSET", &[1.0, 10.0, 2.0, 20.0]),
        (2, "NOTSET", &[10.0, 2.0]),
    ];
    let told = "the output shape may be larger";
    for (size, auto, want) in cases {
        let converted = gives(auto, node(size, auto).known(), &[floats(&[1, 1, want.len()], want)]);
        assert!(!whys(&converted).contains(told), "{size} {auto}");
    }
    assert!(whys(&convert(&node(7, "NOTSET").model().0).unwrap()).contains(told));
}

/// OpenVINO's CPU plugin takes a parameter of 0 for its default.
#[test]
fn activations_of_a_zero_parameter_become_several_operators() {
    let x = floats(&[3], &[-1.0, 0.25, 0.5]);
    let node = |operator: &'static str, parameters: [(&'static str, f32); 2]| {
        let node = One::of(Onnx, operator, 22).inputs(from_ref(&x));
        parameters.into_iter().fold(node, |node, (name, value)| node.attribute(name, Content::Float(value)))
    };
    let cases = [
        ("HardSigmoid", [("alpha", 1.0), ("beta", 0.0)], [0.0, 0.25, 0.5]),
        ("HardSigmoid", [("alpha", 0.0), ("beta", 0.25)], [0.25, 0.25, 0.25]),
        ("Selu", [("alpha", 0.0), ("gamma", 2.0)], [-0.0, 0.5, 1.0]),
    ];
    for (operator, parameters, want) in cases {
        let converted = gives(operator, node(operator, parameters), &[floats(&[3], &want)]);
        assert!(!operators(&converted).contains(&operator), "{:?}", operators(&converted));
    }
    let kept = convert(&node("HardSigmoid", [("alpha", 1.0), ("beta", 0.25)]).model().0).unwrap();
    assert!(operators(&kept).contains(&"HardSigmoid"));
}

/// OpenVINO refuses these attributes, or takes the last for none.
#[test]
fn attributes_that_openvino_has_not_are_refused() {
    let line = |len: usize| floats(&[len], &vec![1.0; len]);
    let pooled = One::of(Onnx, "MaxRoiPool", 22)
        .inputs(&[numbers(&[1, 1, 2, 2]), floats(&[1, 5], &[0.0; 5])])
        .attribute("pooled_shape", Content::Ints([1, 1].into()));
    let aligned = One::of(Onnx, "RoiAlign", 16).inputs(&[
        numbers(&[1, 1, 2, 2]),
        floats(&[1, 4], &[0.0; 4]),
        Tensor::vector(&[0i64]),
    ]);
    let normal = One::of(Onnx, "BatchNormalization", 15)
        .inputs(&[numbers(&[1, 1, 2]), line(1), line(1), line(1), line(1)])
        .attribute("epsilon", Content::Float(-1.0));
    for (node, why) in [
        (pooled.attribute("spatial_scale", Content::Float(0.0)), "regions with spatial_scale=0"),
        (aligned.attribute("spatial_scale", Content::Float(-1.0)), "regions with spatial_scale=-1"),
        (normal, "BatchNormalization with an epsilon below 0"),
    ] {
        let refused = refusal(node);
        assert!(refused.contains(why), "{refused}");
    }
}
