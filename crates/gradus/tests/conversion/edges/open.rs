//! Conversions of nodes whose inputs have sizes or ranks that are not known before a run.

use std::collections::HashMap;
use std::slice::from_ref;

use gradus::graph::Content;
use gradus::{DType, Model, Tensor};

use super::{Onnx, OpenVino, convert, list, operators, tensors, whys};
use crate::common::compare::difference;
use crate::common::one::One;
use crate::common::sketch::Sketch;
use crate::common::tensors::counted;

/// Checks that a node gives the same after the conversion, up to rounding; gives the operators that
/// it became.
fn keeps(what: &str, one: One<'_>) -> Vec<String> {
    let (model, given) = one.model();
    let converted = convert(&model).unwrap_or_else(|error| panic!("{what}: {error}"));
    let (before, after) = (tensors(&model, &given), tensors(&converted.model, &given));
    for (want, got) in before.iter().zip(&after) {
        assert_eq!(difference(want, got, converted.report.is_exact()), None, "{what}");
    }
    operators(&converted).into_iter().map(str::to_owned).collect()
}

fn floats(dims: &[usize]) -> Tensor {
    gradus::convert::cast(&counted(dims), DType::F32, gradus::convert::Rules::IEEE).unwrap()
}

#[test]
fn images_of_an_open_batch_are_resized() {
    let word = |text: &'static str| Content::Bytes(text.into());
    let x = floats(&[2, 3, 5, 4]);
    let batch = [None, Some(3), Some(5), Some(4)];
    let plain = |name| (name, Content::Int(1));
    let cases = [
        ("cubic", vec![], [1.0f32, 1.0, 1.0, 2.5]),
        ("cubic", vec![], [1.0, 1.0, 0.6, 1.0]),
        ("cubic", vec![plain("exclude_outside")], [1.0, 1.0, 0.6, 2.0]),
        ("cubic", vec![plain("antialias")], [1.0, 1.0, 0.6, 2.0]),
        ("linear", vec![plain("antialias")], [1.0, 1.0, 0.6, 0.5]),
    ];
    for (mode, attributes, scales) in cases {
        let one = || {
            let one = One::of(Onnx, "Resize", 19).inputs(from_ref(&x)).attribute("mode", word(mode));
            attributes.iter().fold(one, |one, (name, content)| one.attribute(name, content.clone()))
        };
        let what = format!("{mode} {attributes:?} {scales:?}");
        let empty = Tensor::vector::<f32>(&[]);
        let by_scales = || one().constants(&[empty.clone(), Tensor::vector(&scales)]);
        let became = keeps(&what, by_scales().declared(0, Some(&batch)));
        assert!(!became.iter().any(|operator| operator == "Interpolate"), "{what}");
        if attributes.is_empty() {
            // Weights are not constants if the size is open as well.
            let became = keeps(&what, by_scales());
            assert!(became.iter().any(|operator| operator == "Interpolate"), "{what}");
        }
    }
    let whole = Tensor::vector(&[0.0f32, 0.0, 0.25, 0.0, 1.0, 1.0, 0.75, 1.0]);
    let crop = One::of(Onnx, "Resize", 19)
        .inputs(from_ref(&x))
        .constants(&[whole, Tensor::vector(&[1.0f32, 1.0, 0.7, 1.5])])
        .attribute("mode", word("linear"))
        .attribute("coordinate_transformation_mode", word("tf_crop_and_resize"));
    keeps("crop", crop.declared(0, Some(&batch)));
}

#[test]
fn convolutions_of_an_open_number_of_groups_are_those_of_one_group() {
    let x = floats(&[2, 6, 5]);
    let (forward, back) = (floats(&[3, 4, 2, 3]), floats(&[3, 2, 4, 3]));
    for (operator, weights) in [("GroupConvolution", forward), ("GroupConvolutionBackpropData", back)] {
        let one = || {
            One::of(OpenVino, operator, 1)
                .inputs(&[x.clone(), weights.clone()])
                .text("strides", "1")
                .text("dilations", "1")
                .text("pads_begin", "1")
                .text("pads_end", "0")
        };
        let spread = |became: Vec<String>| became.iter().any(|operator| operator == "Where");
        assert!(spread(keeps(operator, one())), "{operator}");
        // Channels tell the groups.
        let sizes = match operator {
            "GroupConvolution" => [None, None, Some(2), None],
            _ => [None, Some(2), None, None],
        };
        let one = one().declared(0, Some(&[None, Some(6), None])).declared(1, Some(&sizes));
        assert!(!spread(keeps(operator, one)), "{operator}");
    }
}

/// A node of OpenVINO whose first input has an open rank, as a list of an open length is its shape.
fn of_any_rank(
    operator: &str,
    version: i64,
    (x, others): (&Tensor, &[Tensor]),
    attributes: &[(&'static str, &str)],
) -> Model {
    let input = |sketch: Sketch, name: &str, tensor: &Tensor| {
        sketch.input(name, tensor.dtype(), &vec![""; tensor.shape().rank()])
    };
    let mut sketch = input(Sketch::openvino(""), "x", x);
    sketch = sketch.text("dims: int64[?]; r = Reshape(x, dims, special_zero=false)");
    let mut names = vec!["r".to_owned()];
    for (number, other) in others.iter().enumerate() {
        sketch = input(sketch, &format!("o{number}"), other);
        names.push(format!("o{number}"));
    }
    names.extend(attributes.iter().map(|(name, text)| format!("{name}={text}")));
    sketch.text(&format!("y = {operator}@{version}({}); return y", names.join(", "))).unwritten(0)
}

/// Checks that such a node gives the same in ONNX.
fn keeps_any_rank(
    operator: &str,
    version: i64,
    x: &Tensor,
    others: &[Tensor],
    attributes: &[(&'static str, &str)],
) {
    let what = format!("{operator} {others:?} {attributes:?}");
    let model = of_any_rank(operator, version, (x, others), attributes);
    let dims: Vec<_> = x.shape().dims().iter().map(|&dim| i64::try_from(dim).unwrap()).collect();
    let mut given =
        HashMap::from([("x".to_owned(), x.clone().into()), ("dims".to_owned(), list(&dims).into())]);
    for (number, other) in others.iter().enumerate() {
        given.insert(format!("o{number}"), other.clone().into());
    }
    let converted = convert(&model).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(converted.report.is_exact(), "{what}");
    assert_eq!(
        difference(&tensors(&model, &given)[0], &tensors(&converted.model, &given)[0], true),
        None,
        "{what}"
    );
}

#[test]
fn tensors_of_any_rank_are_repeated() {
    let x = counted(&[2, 3]);
    for repeats in [vec![2i64, 1, 3], vec![3, 2], vec![2]] {
        keeps("Tile", One::of(OpenVino, "Tile", 1).inputs(&[x.clone(), list(&repeats)]));
        keeps_any_rank("Tile", 1, &x, &[list(&repeats)], &[]);
    }
}

#[test]
fn tensors_of_any_rank_are_broadcast() {
    let (x, target) = (counted(&[2, 3]), list(&[4, 2, 5, 3]));
    let axes = list(&[1, 3]);
    let explicit = One::of(OpenVino, "Broadcast", 3).text("mode", "explicit");
    keeps("explicit", explicit.inputs(&[x.clone(), target.clone()]).constants(from_ref(&axes)));
    keeps_any_rank("Broadcast", 3, &x, &[target, axes], &[("mode", "explicit")]);
    for mode in ["numpy", "bidirectional"] {
        keeps_any_rank("Broadcast", 3, &x, &[list(&[4, 2, 3])], &[("mode", mode)]);
    }
    for (axis, target) in [("0", [2, 3, 4]), ("1", [4, 2, 3]), ("-1", [5, 2, 3])] {
        keeps_any_rank("Broadcast", 1, &x, &[list(&target)], &[("mode", "pdpd"), ("axis", axis)]);
    }
}

#[test]
fn n_grams_of_integers_are_counted_by_comparisons() {
    let ints = |name, all: &[i64]| (name, Content::Ints(all.to_vec().into()));
    let attributes = |mode: &'static str, skips: i64| {
        vec![
            ints("ngram_counts", &[0, 2]),
            // The two last n-grams have one coordinate, and coordinate 3 has none.
            ints("ngram_indexes", &[4, 0, 2, 1, 1]),
            ints("pool_int64s", &[5, 7, 5, 7, 7, 5, 9, 9]),
            ("mode", Content::Bytes(mode.into())),
            ("min_gram_length", Content::Int(1)),
            ("max_gram_length", Content::Int(2)),
            ("max_skip_count", Content::Int(skips)),
            ("weights", Content::Floats([0.5, 2.0, 0.25, 1.0, 0.3].into())),
        ]
    };
    let rows =
        Tensor::from_vec(gradus::Shape::new([2, 6]).unwrap(), vec![5i64, 7, 5, 9, 7, 5, 9, 9, 9, 1, 7, 7]);
    let row = Tensor::vector(&[7i32, 5, 7]);
    let (rows, single) = (rows.unwrap(), list(&[5]));
    for mode in ["TF", "IDF", "TFIDF"] {
        for skips in [0, 2] {
            for x in [&rows, &row, &single] {
                let one = One::of(Onnx, "TfIdfVectorizer", 9).inputs(from_ref(x));
                let one = attributes(mode, skips)
                    .into_iter()
                    .fold(one, |one, (name, content)| one.attribute(name, content));
                keeps(&format!("{mode} {skips} {x:?}"), one);
            }
        }
    }
}

/// As many axes as a declaration says are not listed.
#[test]
fn lists_beyond_reason_decide_no_ranks() {
    let list = Tensor::vector(&[1i64, 2]);
    for (operator, version, mode) in [("Tile", 1, ""), ("Broadcast", 3, "numpy"), ("Broadcast", 3, "pdpd")] {
        for len in [1 << 40, usize::MAX / 2] {
            let one = One::of(OpenVino, operator, version).inputs(&[floats(&[2]), list.clone()]);
            let one = if mode.is_empty() { one } else { one.text("mode", mode).text("axis", "0") };
            let (model, _) = one.declared(1, Some(&[Some(len)])).model();
            if let Err(error) = convert(&model) {
                assert_eq!(error.kind(), gradus::Kind::Unsupported, "{operator} {mode}: {error}");
            }
        }
    }
}

/// OpenVINO's CPU plugin compiles no model with a parameter of open rank, whatever reads it.
#[test]
fn nodes_that_read_inputs_of_open_rank_are_named() {
    let named = |operator, version, input| {
        let one = One::of(Onnx, operator, version).inputs(&[floats(&[2, 3])]);
        whys(&convert(&one.declared(0, input).model().0).unwrap()).contains("rank is not known")
    };
    for (operator, version) in [("Shape", 19), ("Size", 19), ("Abs", 13), ("NonZero", 13)] {
        assert!(named(operator, version, None), "{operator}");
        assert!(!named(operator, version, Some(&[None, None])), "{operator}");
    }
}

/// OpenVINO reads the number of outputs of a split off the shape of the sizes.
#[test]
fn splits_have_as_many_sizes_as_outputs() {
    for declared in [None, Some(&[None][..])] {
        let one = One::of(Onnx, "Split", 18).inputs(&[floats(&[5]), list(&[2, 3])]).outputs(2);
        let found = keeps("Split", one.declared(1, declared));
        assert_eq!(found, ["Reshape", "VariadicSplit"], "{declared:?}");
    }
    let one = One::of(Onnx, "Split", 18).inputs(&[floats(&[5]), list(&[2, 3])]).outputs(2);
    assert_eq!(keeps("Split", one.known()), ["VariadicSplit"]);
}
