//! Operators of images that become others where an operator set or a standard lacks them.

use gradus::conversion::{ConvertOptions, Exactness};
use gradus::graph::{Content, Standard};
use gradus::{DType, Shape, Tensor};

use super::opsets::in_set;
use crate::common::converted::{compare, convert, floats, kept, openvino, run};
use crate::common::one::One;
use crate::common::tensors::{counted, tensor};

#[test]
fn images_are_sampled_by_gathers() {
    let word = |text: &str| Content::Bytes(text.to_owned().into());
    let mut random = fastrand::Rng::with_seed(5);
    for mode in ["linear", "nearest", "cubic"] {
        for padding in ["zeros", "border", "reflection"] {
            for (corners, dtype) in [(0, DType::F32), (1, DType::F32), (0, DType::F16), (1, DType::F64)] {
                let mut made = |dims: &[usize], largest: f64| {
                    let count = dims.iter().product();
                    let numbers = (0..count).map(|_| (random.f64() * 2.0 - 1.0) * largest).collect();
                    let tensor = Tensor::from_vec::<f64>(Shape::new(dims).unwrap(), numbers).unwrap();
                    gradus::convert::cast(&tensor, dtype, gradus::convert::Rules::IEEE).unwrap()
                };
                let x = made(&[2, 3, 1 + mode.len() % 4, 4], 1.0);
                let grid = made(&[2, 3, 5, 2], 2.5);
                let one = One::of(Standard::Onnx, "GridSample", 20).inputs(&[x, grid]);
                let one = one.attribute("mode", word(mode)).attribute("padding_mode", word(padding));
                let (model, given) = one.attribute("align_corners", Content::Int(corners)).model();
                let want = run(&model, &given);
                let mut options = ConvertOptions::default();
                options.opset = Some(13);
                let converted = model.convert(Standard::Onnx, &options).unwrap();
                let what = format!("{mode} {padding} {corners} {dtype}");
                compare(&what, &want, &converted.model, &given, kept(&[&converted.report]));
            }
        }
    }
}

#[test]
fn resized_images_and_slices_reach_the_oldest_operator_sets() {
    let sizes = [Tensor::vector(&[4i64, 3]), Tensor::vector(&[2i64, 3])];
    let words = [("mode", "nearest"), ("shape_calculation_mode", "sizes")];
    let image = counted(&[1, 1, 2, 3]);
    let (resize, given) = openvino("Interpolate", 11, &[image], &sizes, &words, 1);
    let mut options = ConvertOptions::default();
    options.opset = Some(11);
    let converted = resize.convert(Standard::Onnx, &options).unwrap_or_else(|error| panic!("{error}"));
    let kept = kept(&[&converted.report]);
    compare("Resize", &run(&resize, &given), &converted.model, &given, kept);
    let bounds = [&[1i64][..], &[3], &[0], &[1]].map(Tensor::vector);
    let one = One::of(Standard::Onnx, "Slice", 13).inputs(&[counted(&[4, 2])]).constants(&bounds);
    let (slice, given) = one.model();
    options.opset = Some(9);
    let converted = slice.convert(Standard::Onnx, &options).unwrap_or_else(|error| panic!("{error}"));
    compare("Slice", &run(&slice, &given), &converted.model, &given, Exactness::Exact);
}

#[test]
fn patches_of_images_become_slices() {
    let image = counted(&[1, 2, 5, 6]);
    for (auto, last) in [("valid", [8, 2, 2]), ("same_upper", [8, 3, 2]), ("same_lower", [8, 3, 2])] {
        let words = [("sizes", "2,2"), ("strides", "2,3"), ("rates", "1,2"), ("auto_pad", auto)];
        let (model, given) = openvino("ExtractImagePatches", 3, std::slice::from_ref(&image), &[], &words, 1);
        let patches = run(&model, &given)[0].tensor().unwrap().clone();
        assert_eq!(patches.shape().dims()[1..], last, "{auto}");
        let first: Vec<_> =
            patches.numbers().unwrap().step_by(patches.shape().dims()[2..].iter().product()).collect();
        let wanted = match auto {
            // Rows, columns, channels: elements 0 and 2 of the first row, 6 and 8 of the second.
            "valid" => [0, 30, 2, 32, 6, 36, 8, 38],
            _ => continue,
        };
        assert_eq!(first, wanted.map(gradus::Number::Int));
    }
}

/// The model declares no sizes, so that elements around the image follow from its shape.
#[test]
fn patches_of_images_of_any_size_become_slices() {
    for auto in ["valid", "same_upper", "same_lower"] {
        for [sizes, strides, rates] in
            [["2,2", "2,3", "1,2"], ["3,1", "1,1", "2,1"], ["1,2", "3,2", "1,1"], ["2,2", "1,2", "1,1"]]
        {
            let words = [("sizes", sizes), ("strides", strides), ("rates", rates), ("auto_pad", auto)];
            for image in [counted(&[1, 2, 5, 6]), counted(&[2, 1, 6, 7]), counted(&[1, 1, 7, 5])] {
                let (model, given) =
                    openvino("ExtractImagePatches", 3, std::slice::from_ref(&image), &[], &words, 1);
                let converted = convert(&model, Standard::Onnx).unwrap();
                let what = format!("{words:?} {:?}", image.shape());
                compare(&what, &run(&model, &given), &converted.model, &given, Exactness::Exact);
            }
        }
    }
}

#[test]
fn pools_and_pads_of_openvino_that_onnx_lacks_become_several_operators() {
    let image = floats(&[2, 3, 4, 4]);
    let windows = [
        ("strides", "1,2"),
        ("pads_begin", "0,0"),
        ("pads_end", "0,0"),
        ("kernel", "2,2"),
        ("index_element_type", "i32"),
    ];
    for axis in ["0", "1", "2", "-1"] {
        let attributes = [&windows[..], &[("axis", axis)]].concat();
        in_set(axis, openvino("MaxPool", 14, std::slice::from_ref(&image), &[], &attributes, 2), 21);
    }
    let pads = |list: &[i64]| Tensor::vector(list);
    for (before, behind) in [([0, 0], [0, 0]), ([2, 0], [0, 3]), ([1, 3], [2, 1])] {
        let (x, lists) = (counted(&[2, 3]), [pads(&before), pads(&behind)]);
        let symmetric = [("pad_mode", "symmetric")];
        in_set("known pads", openvino("Pad", 12, std::slice::from_ref(&x), &lists, &symmetric, 1), 21);
        let [before, behind] = lists;
        in_set("given pads", openvino("Pad", 12, &[x, before, behind], &[], &symmetric, 1), 21);
    }
    // TensorFlow computes the pads of a dilated convolution from the size of its input.
    for (operator, x) in [("SpaceToBatch", counted(&[2, 3, 4])), ("BatchToSpace", counted(&[8, 2, 3]))] {
        let lists = [pads(&[1, 2, 2]), pads(&[0, 1, 0]), pads(&[0, 0, 2])];
        let given = [&[x][..], &lists].concat();
        in_set(operator, openvino(operator, 2, &given, &[], &[], 1), 21);
    }
}

/// Elements at a share of an image that is a ramp.
#[test]
fn regions_are_sampled_from_side_to_side() {
    let image = floats(&[1, 1, 3, 5]);
    let regions =
        tensor(&[3, 5], &[0f32, 0.0, 0.0, 1.0, 1.0, 0.0, 0.25, 0.5, 0.75, 1.0, 0.0, -0.5, 0.0, 0.5, 1.0]);
    let text = [("pooled_h", "2"), ("pooled_w", "3"), ("spatial_scale", "1"), ("method", "bilinear")];
    let (model, given) = openvino("ROIPooling", 2, &[image, regions], &[], &text, 1);
    let y = run(&model, &given);
    let y = y[0].tensor().unwrap().elements::<f32>().unwrap().to_vec();
    let want =
        [0.0, 2.0, 4.0, 10.0, 12.0, 14.0, 6.0, 7.0, 8.0, 11.0, 12.0, 13.0, 0.0, 0.0, 2.0, 0.0, 10.0, 12.0];
    assert_eq!(y, want);
    // All positions lie within an axis of one element.
    let (row, region) = (floats(&[1, 1, 1, 3]), tensor(&[1, 5], &[0f32, 0.0, -3.0, 1.0, 7.0]));
    let (model, given) = openvino("ROIPooling", 2, &[row, region], &[], &text, 1);
    let y = run(&model, &given);
    assert_eq!(y[0].tensor().unwrap().elements::<f32>().unwrap().to_vec(), [0.0, 1.0, 2.0, 0.0, 1.0, 2.0]);
}
