//! Axes of operators, which operator sets count and name differently.

use bytes::Bytes;
use gradus::conversion::{ConvertOptions, Exactness};
use gradus::graph::{Content, Standard};
use gradus::{DType, Tensor};

use crate::common::converted::{compare, convert, floats, kept, run};
use crate::common::one::One;
use crate::common::tensors::counted;

#[test]
fn products_of_named_axes_become_products_of_matrices() {
    let cases: [(&str, &[&[usize]]); 22] = [
        ("bij, bjk -> bik", &[&[2, 3, 4], &[2, 4, 5]]),
        ("bhqd,bkhd->bhqk", &[&[2, 3, 4, 5], &[2, 6, 3, 5]]),
        ("ij,j", &[&[3, 4], &[4]]),
        ("i,i->", &[&[4], &[4]]),
        ("i,j->ji", &[&[4], &[3]]),
        ("ij->ji", &[&[3, 4]]),
        ("ijk->k", &[&[3, 4, 2]]),
        ("ij->ij", &[&[3, 4]]),
        ("...ij,...jk->...ik", &[&[2, 1, 3, 4], &[1, 5, 4, 2]]),
        ("abcd,dcef->fabe", &[&[2, 3, 4, 5], &[5, 4, 2, 3]]),
        ("ij,kj->ik", &[&[3, 1], &[2, 4]]),
        ("ij,jk,kl->il", &[&[2, 3], &[3, 4], &[4, 5]]),
        ("abi,ci,dj->abcd", &[&[2, 3, 4], &[2, 4], &[5, 3]]),
        ("ba,ca->bc", &[&[2, 3], &[4, 3]]),
        ("ab,ab->a", &[&[2, 3], &[2, 3]]),
        ("ab,cd->", &[&[2, 3], &[4, 2]]),
        ("ii->i", &[&[3, 3]]),
        ("ii", &[&[3, 3]]),
        ("iij->ji", &[&[3, 3, 2]]),
        ("...ii->...i", &[&[2, 3, 3]]),
        ("biib,bj->ij", &[&[2, 3, 3, 2], &[2, 4]]),
        ("iii,ij->j", &[&[3, 3, 3], &[3, 2]]),
    ];
    for (equation, shapes) in cases {
        for dtype in [DType::F32, DType::I64] {
            let operand = |&shape: &&[usize]| {
                gradus::convert::cast(&counted(shape), dtype, gradus::convert::Rules::IEEE).unwrap()
            };
            let operands: Vec<_> = shapes.iter().map(operand).collect();
            let one = One::of(Standard::Onnx, "Einsum", 12).inputs(&operands).known();
            let content = Content::Bytes(Bytes::copy_from_slice(equation.as_bytes()));
            let (model, given) = one.attribute("equation", content).model();
            let want = run(&model, &given);
            let mut options = ConvertOptions::default();
            options.opset = Some(11);
            let converted = model.convert(Standard::Onnx, &options).unwrap();
            compare(equation, &want, &converted.model, &given, kept(&[&converted.report]));
        }
    }
}

#[test]
fn axes_are_counted_from_the_first_where_the_operator_set_wants_it() {
    let x = || vec![counted(&[2, 3, 1])];
    let axes = |axes: &[i64]| vec![Tensor::vector(axes)];
    let nodes = [
        ("Concat", x(), vec![], vec![("axis", Content::Int(-2))]),
        ("ReduceSum", x(), axes(&[-2, 0]), vec![]),
        ("ReduceMax", x(), axes(&[-1]), vec![]),
        ("Squeeze", x(), axes(&[-1]), vec![]),
        ("Unsqueeze", x(), axes(&[-1, 1]), vec![]),
    ];
    for (operator, inputs, constants, attributes) in nodes {
        let one = One::of(Standard::Onnx, operator, 18).inputs(&inputs).constants(&constants).known();
        let one = attributes.iter().fold(one, |one, (name, content)| one.attribute(name, content.clone()));
        let (model, given) = one.model();
        let mut options = ConvertOptions::default();
        options.opset = Some(9);
        let converted = model.convert(Standard::Onnx, &options).unwrap_or_else(|error| panic!("{error}"));
        compare(operator, &run(&model, &given), &converted.model, &given, Exactness::Exact);
    }
}

#[test]
fn softmax_along_one_axis_keeps_its_meaning_before_operator_set_13() {
    for axis in [None, Some(0), Some(1), Some(-1)] {
        for operator in ["Softmax", "LogSoftmax", "Hardmax"] {
            let one = One::of(Standard::Onnx, operator, 13).inputs(&[floats(&[2, 3, 4])]).known();
            let one = axis.iter().fold(one, |one, &axis| one.attribute("axis", Content::Int(axis)));
            let (model, given) = one.model();
            let mut options = ConvertOptions::default();
            options.opset = Some(11);
            let converted = model.convert(Standard::Onnx, &options).unwrap_or_else(|error| panic!("{error}"));
            compare(operator, &run(&model, &given), &converted.model, &given, Exactness::Exact);
        }
    }
}

#[test]
fn softmax_along_several_axes_keeps_its_meaning_since_operator_set_13() {
    for operator in ["Softmax", "LogSoftmax", "Hardmax"] {
        for (axis, dims) in [
            (None, &[2, 3, 4][..]),
            (Some(0), &[2, 3, 4]),
            (Some(1), &[2, 5, 1, 1]),
            (Some(-2), &[2, 3, 4]),
            (Some(1), &[2, 0, 3]),
            (Some(0), &[4]),
        ] {
            // Nothing is the largest of none.
            if operator == "Hardmax" && dims.contains(&0) {
                continue;
            }
            for known in [true, false] {
                let one = One::of(Standard::Onnx, operator, 11).inputs(&[floats(dims)]);
                let one = if known { one.known() } else { one };
                let one = axis.iter().fold(one, |one, &axis| one.attribute("axis", Content::Int(axis)));
                let (model, given) = one.model();
                let want = run(&model, &given);
                for opset in [13, 22] {
                    let mut options = ConvertOptions::default();
                    options.opset = Some(opset);
                    let converted =
                        model.convert(Standard::Onnx, &options).unwrap_or_else(|error| panic!("{error}"));
                    compare(operator, &want, &converted.model, &given, Exactness::Exact);
                }
                let converted = convert(&model, Standard::OpenVino).unwrap_or_else(|error| panic!("{error}"));
                compare(operator, &want, &converted.model, &given, Exactness::Rounding);
            }
        }
    }
    // Axes of one element do not count.
    let (model, _) = One::of(Standard::Onnx, "Softmax", 11).inputs(&[floats(&[2, 5, 1, 1])]).known().model();
    assert_eq!(convert(&model, Standard::OpenVino).unwrap().model.graph().nodes().len(), 1);
}
