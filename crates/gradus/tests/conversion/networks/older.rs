//! Networks in operator sets that lack their operators.

use gradus::conversion::ConvertOptions;
use gradus::convert::Rules;
use gradus::graph::{Content, Standard};
use gradus::{DType, Tensor};

use super::{floats, same, word};
use crate::common::one::One;

/// Checks that a node gives the same in an older operator set, which lacks its operator.
fn in_older_set(what: &str, operator: &str, one: One<'_>, opset: i64) {
    let (model, given) = one.model();
    let want = model.run(&given).unwrap_or_else(|error| panic!("{what}: {error}"));
    let mut options = ConvertOptions::default();
    options.opset = Some(opset);
    let converted = model
        .convert(Standard::Onnx, &options)
        .unwrap_or_else(|error| panic!("{what} in set {opset}: {error}"));
    let nodes = converted.model.graph().nodes();
    assert!(!nodes.iter().any(|node| &*node.operator.name == operator), "{what}");
    same(what, &want, &converted.model, &given, converted.report.is_exact());
}

fn flag(name: &'static str, value: bool) -> (&'static str, Content) {
    (name, Content::Int(value.into()))
}

fn with<'a>(one: One<'a>, attributes: Vec<(&'a str, Content)>) -> One<'a> {
    attributes.into_iter().fold(one, |one, (name, content)| one.attribute(name, content))
}

fn cast(x: &Tensor, dtype: DType) -> Tensor {
    gradus::convert::cast(x, dtype, Rules::IEEE).unwrap()
}

#[test]
fn images_are_sampled_by_gathers_before_operator_set_16() {
    let mut random = fastrand::Rng::with_seed(21);
    for mode in ["linear", "nearest", "cubic"] {
        for padding in ["zeros", "border", "reflection"] {
            for corners in [false, true] {
                for (axes, dtype) in [(2, DType::F32), (2, DType::F16), (3, DType::F32)] {
                    if axes == 3 && mode == "cubic" {
                        continue;
                    }
                    let sizes: Vec<_> = (0..axes).map(|_| random.usize(1..5)).collect();
                    let x = cast(&floats(&mut random, &[&[2, 3], &sizes[..]].concat()), dtype);
                    let points = [&[2][..], &vec![3; axes], &[axes]].concat();
                    let grid = floats(&mut random, &points);
                    let twice =
                        (0..grid.len()).map(|_| f32::from(random.i8(-20..20)) / 9.37).collect::<Vec<_>>();
                    let grid = Tensor::from_vec(grid.shape().clone(), twice).unwrap();
                    let one = One::of(Standard::Onnx, "GridSample", 20).inputs(&[x, cast(&grid, dtype)]);
                    let attributes = vec![
                        ("mode", word(mode)),
                        ("padding_mode", word(padding)),
                        flag("align_corners", corners),
                    ];
                    let what = format!("{mode} {padding} {corners} {sizes:?} {dtype}");
                    in_older_set(&what, "GridSample", with(one, attributes), if axes == 3 { 18 } else { 13 });
                }
            }
        }
    }
}

#[test]
fn transforms_are_products_with_matrices_before_operator_set_17() {
    let mut random = fastrand::Rng::with_seed(22);
    let scalar = |value: i64| Tensor::scalar(value);
    for (inverse, one_sided, parts) in [
        (false, false, 1),
        (false, false, 2),
        (true, false, 2),
        (true, false, 1),
        (false, true, 1),
        (true, true, 2),
    ] {
        for (axis, len) in [(1, None), (-2, Some(3)), (1, Some(8)), (-3, None)] {
            let x = floats(&mut random, &[2, 5, 6, parts]);
            let len = len.map(|len| vec![scalar(len)]);
            let attributes = vec![flag("inverse", inverse), flag("onesided", one_sided)];
            let what = format!("{inverse} {one_sided} {parts} {axis} {len:?}");
            let mut one = One::of(Standard::Onnx, "DFT", 20).inputs(std::slice::from_ref(&x)).known();
            // Without a length, the axis is an attribute of set 17.
            one = match &len {
                Some(len) => one.constants(len).constants(&[scalar(axis)]),
                None if axis == 1 => One::of(Standard::Onnx, "DFT", 17)
                    .inputs(&[x])
                    .known()
                    .attribute("axis", Content::Int(axis)),
                None => continue,
            };
            in_older_set(&what, "DFT", with(one, attributes), 13);
        }
    }
}

#[test]
fn frames_are_transformed_by_matrices_before_operator_set_17() {
    let mut random = fastrand::Rng::with_seed(23);
    for dtype in [DType::F32, DType::F64, DType::F16] {
        for (dims, one_sided) in
            [(vec![2, 17], true), (vec![2, 17, 1], true), (vec![1, 20, 2], false), (vec![2, 17, 1], false)]
        {
            let signal = cast(&floats(&mut random, &dims), dtype);
            let window = cast(&floats(&mut random, &[6]), dtype);
            let (step, len) = (Tensor::scalar(3i64), Tensor::scalar(6i64));
            let what = format!("{dims:?} {one_sided} {dtype}");
            // The length of the signal is open.
            let sizes: Vec<_> =
                dims.iter().enumerate().map(|(axis, &size)| (axis > 1).then_some(size)).collect();
            let one = || {
                One::of(Standard::Onnx, "STFT", 17)
                    .inputs(std::slice::from_ref(&signal))
                    .declared(0, Some(&sizes))
                    .attribute("onesided", Content::Int(one_sided.into()))
            };
            let all = one().constants(&[step.clone(), window.clone(), len.clone()]);
            in_older_set(&what, "STFT", all, 16);
            in_older_set(&what, "STFT", one().constants(&[step.clone(), window]), 13);
        }
    }
}

#[test]
fn windows_are_deformed_by_gathers_before_operator_set_19() {
    let mut random = fastrand::Rng::with_seed(24);
    for (groups, parts, masked, open) in
        [(1, 1, false, false), (2, 1, true, false), (1, 2, true, true), (2, 2, true, false)]
    {
        let x = floats(&mut random, &[2, 4, 5, 6]);
        let weights = floats(&mut random, &[6, 4 / groups, 3, 2]);
        let offsets = floats(&mut random, &[2, parts * 12, 3, 6]);
        let mut inputs = vec![x, weights, offsets, floats(&mut random, &[6])];
        if masked {
            inputs.push(floats(&mut random, &[2, parts * 6, 3, 6]));
        }
        let number = |n: usize| Content::Int(i64::try_from(n).unwrap());
        let one = One::of(Standard::Onnx, "DeformConv", 19)
            .inputs(&inputs)
            .attribute("group", number(groups))
            .attribute("offset_group", number(parts))
            .attribute("strides", Content::Ints([2, 1].into()))
            .attribute("dilations", Content::Ints([1, 2].into()))
            .attribute("pads", Content::Ints([1, 1, 1, 1].into()));
        let one =
            if open { one.declared(1, Some(&[Some(6), Some(4), Some(3), Some(2)])) } else { one.known() };
        in_older_set(&format!("{groups} {parts} {masked} {open}"), "DeformConv", one, 13);
    }
}

#[test]
fn resizes_are_weighted_sums_in_sets_that_lack_their_manner() {
    let mut random = fastrand::Rng::with_seed(25);
    let x = floats(&mut random, &[2, 3, 5, 7]);
    let batch = [None, Some(3), Some(5), Some(7)];
    let coordinates = |text| ("coordinate_transformation_mode", word(text));
    for (mode, attribute, opset) in [
        ("linear", flag("antialias", true), 17),
        ("cubic", flag("antialias", true), 12),
        ("linear", coordinates("half_pixel_symmetric"), 17),
    ] {
        for dtype in [DType::F32, DType::F16] {
            let scales = Tensor::vector(&[1.0f32, 1.0, 0.7, 0.5]);
            let one = One::of(Standard::Onnx, "Resize", 19)
                .inputs(&[cast(&x, dtype)])
                .constants(&[Tensor::vector::<f32>(&[]), scales])
                .attribute("mode", word(mode))
                .attribute(attribute.0, attribute.1.clone());
            in_older_set(mode, "Resize", one.declared(0, Some(&batch)), opset);
        }
    }
    let sizes = Tensor::vector(&[6i64, 6]);
    let empty = Tensor::vector::<f32>(&[]);
    let one = One::of(Standard::Onnx, "Resize", 18)
        .inputs(&[x])
        .constants(&[empty.clone(), empty, sizes])
        .attribute("axes", Content::Ints([2, 3].into()))
        .attribute("keep_aspect_ratio_policy", word("not_larger"))
        .attribute("mode", word("linear"));
    in_older_set("not_larger", "Resize", one.declared(0, Some(&batch)), 16);
}

#[test]
fn columns_are_added_up_before_operator_set_18() {
    let mut random = fastrand::Rng::with_seed(26);
    let x = floats(&mut random, &[2, 12, 9]);
    let one = One::of(Standard::Onnx, "Col2Im", 18)
        .inputs(&[x])
        .constants(&[Tensor::vector(&[4i64, 4]), Tensor::vector(&[2i64, 2])]);
    in_older_set("Col2Im", "Col2Im", one, 13);
}

/// Sizes that only a declaration has are no reason to list as many numbers.
#[test]
fn sizes_beyond_reason_are_refused() {
    let refused = |one: One<'_>, opset, message: &str| {
        let (model, _) = one.model();
        let mut options = ConvertOptions::default();
        options.opset = Some(opset);
        let error = model.convert(Standard::Onnx, &options).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    };
    let mut random = fastrand::Rng::with_seed(3);
    let [x, weights] = [[1, 1, 4, 4], [1, 1, 3, 3]].map(|dims| floats(&mut random, &dims));
    let offsets = floats(&mut random, &[1, 18, 2, 2]);
    let deformed =
        || One::of(Standard::Onnx, "DeformConv", 19).inputs(&[x.clone(), weights.clone(), offsets.clone()]);
    for size in [1 << 20, 1 << 40, usize::MAX / 2] {
        let kernel = [Some(1), Some(1), Some(size), Some(size)];
        refused(deformed().declared(1, Some(&kernel)), 18, "elements of a window are");
    }
    let (signal, window) = (floats(&mut random, &[1, 64]), floats(&mut random, &[16]));
    let framed = || {
        let step = Tensor::scalar(4i64);
        One::of(Standard::Onnx, "STFT", 17).inputs(&[signal.clone(), step, window.clone()])
    };
    for size in [1 << 20, 1 << 40, usize::MAX / 2] {
        refused(framed().declared(2, Some(&[Some(size)])), 16, "elements of a matrix are");
    }
}
