//! Recurrent networks and sequences in the operators of another standard: converted models give
//! what the source gives.

mod older;
mod sequences;

use std::collections::HashMap;

use gradus::conversion::{ConvertOptions, Exactness, Obstacles};
use gradus::convert::Rules;
use gradus::graph::{self, Content, DeclaredDim, Standard, Type};
use gradus::infer::{InferOptions, InputFact};
use gradus::{DType, Fact, Kind, Model, Number, Shape, Tensor, Value};

use crate::common::compare::difference;
use crate::common::one::One;
use crate::common::sketch::Sketch;

type Values = HashMap<String, Value>;

/// Checks that a model gives what is wanted, bit for bit if `exact`.
fn same(what: &str, want: &gradus::Outputs, model: &Model, inputs: &Values, exact: bool) {
    let got = model.run(inputs).unwrap_or_else(|error| panic!("{what}: {error}"));
    for ((name, want), (_, got)) in want.iter().zip(&got) {
        if let Some(how) = difference(want.tensor().unwrap(), got.tensor().unwrap(), exact) {
            panic!("{what}: {name}: {how}");
        }
    }
}

/// Converts to OpenVINO and back, and compares both with the source.
fn there_and_back(what: &str, model: &Model, inputs: &Values) -> Model {
    let want = model.run(inputs).unwrap_or_else(|error| panic!("{what}: {error}"));
    let to = |model: &Model, standard| {
        model.convert(standard, &ConvertOptions::default()).unwrap_or_else(|error| panic!("{what}: {error}"))
    };
    let there = to(model, Standard::OpenVino);
    same(what, &want, &there.model, inputs, there.report.is_exact());
    let back = to(&there.model, Standard::Onnx);
    same(what, &want, &back.model, inputs, there.report.is_exact() && back.report.is_exact());
    there.model
}

/// Why a model does not become OpenVINO's.
fn refusal(model: &Model) -> String {
    let error = model.convert(Standard::OpenVino, &ConvertOptions::default()).unwrap_err();
    assert_eq!(error.kind(), Kind::Unsupported);
    Obstacles::of(&error).map_or_else(|| error.to_string(), ToString::to_string)
}

fn floats(random: &mut fastrand::Rng, dims: &[usize]) -> Tensor {
    let count: usize = dims.iter().product();
    let numbers: Vec<_> = (0..count).map(|_| Number::Float(f64::from(random.i32(-16..=16)) / 16.0)).collect();
    Tensor::from_numbers(DType::F32, Shape::new(dims.to_vec()).unwrap(), numbers, Rules::IEEE).unwrap()
}

fn words(words: &[&str]) -> Content {
    Content::Strings(words.iter().map(|word| (*word).to_owned().into()).collect())
}

/// A network with some of its inputs, as a model of one node; `lacking`: with something that
/// OpenVINO's sequences lack.
fn network(random: &mut fastrand::Rng, operator: &str, lacking: bool) -> (String, Model, Values) {
    let (steps, batch, size, hidden) = (random.usize(1..4), random.usize(1..4), 3, 2);
    let direction = ["forward", "reverse", "bidirectional"][random.usize(..3)];
    let directions = if direction == "bidirectional" { 2 } else { 1 };
    let gates = match operator {
        "LSTM" => 4,
        "GRU" => 3,
        _ => 1,
    };
    let first = random.bool();
    let (x, state) = if first {
        ([batch, steps, size], [batch, directions, hidden])
    } else {
        ([steps, batch, size], [directions, batch, hidden])
    };
    let mut given: Vec<Option<Value>> = vec![
        Some(floats(random, &x).into()),
        Some(floats(random, &[directions, gates * hidden, size]).into()),
        Some(floats(random, &[directions, gates * hidden, hidden]).into()),
    ];
    let lengths: Vec<i32> = (0..batch).map(|_| i32::try_from(random.usize(1..=steps)).unwrap()).collect();
    let optional = [
        floats(random, &[directions, 2 * gates * hidden]),
        Tensor::vector(&lengths),
        floats(random, &state),
        floats(random, &state),
    ];
    let optional = optional.into_iter().take(if operator == "LSTM" { 4 } else { 3 });
    given.extend(optional.map(|tensor| random.bool().then(|| tensor.into())));
    if operator == "LSTM" && lacking {
        given.push(random.bool().then(|| floats(random, &[directions, 3 * hidden]).into()));
    }
    let mut attributes = vec![
        ("hidden_size", Content::Int(2)),
        ("direction", Content::Bytes(direction.into())),
        ("layout", Content::Int(i64::from(first))),
    ];
    if operator == "GRU" {
        attributes.push(("linear_before_reset", Content::Int(i64::from(random.bool()))));
    }
    if random.bool() {
        attributes.push(("clip", Content::Float(if lacking && random.bool() { 0.0 } else { 0.75 })));
    }
    if operator == "LSTM" && lacking {
        attributes.push(("input_forget", Content::Int(i64::from(random.bool()))));
    }
    if lacking {
        let functions = ["Elu", "Softsign", "leakyrelu", "HardSigmoid", "Tanh"];
        let each = gates.min(3) - usize::from(operator == "GRU");
        let mut named: Vec<_> = (0..each * directions).map(|_| functions[random.usize(..5)]).collect();
        named[0] = functions[random.usize(..4)];
        attributes.push(("activations", words(&named)));
        attributes.push(("activation_alpha", Content::Floats([0.5, 0.25].into())));
    } else if operator == "RNN" && random.bool() {
        attributes.push(("activations", words(&vec!["Relu"; directions])));
    }
    let what =
        format!("{operator} {:?} {attributes:?}", given.iter().map(Option::is_some).collect::<Vec<_>>());
    let one = One::of(Standard::Onnx, operator, 22).values(given).known();
    let one = one.outputs(if operator == "LSTM" { 3 } else { 2 });
    let (model, inputs) =
        attributes.into_iter().fold(one, |one, (name, content)| one.attribute(name, content)).model();
    (what, model, inputs)
}

#[test]
fn recurrent_networks_are_the_same_there_and_back_again() {
    let mut random = fastrand::Rng::with_seed(19);
    for operator in ["RNN", "GRU", "LSTM"] {
        for case in 0..90 {
            let lacking = case >= 60;
            let (what, model, inputs) = network(&mut random, operator, lacking);
            let there = there_and_back(&what, &model, &inputs);
            let name = if lacking { "Loop".to_owned() } else { format!("{operator}Sequence") };
            assert!(there.graph().nodes().iter().any(|node| *node.operator.name == *name), "{what}");
        }
    }
}

#[test]
fn a_cell_is_a_sequence_of_one_step() {
    let mut random = fastrand::Rng::with_seed(20);
    for (operator, gates, states) in [("RNN", 1, 1), ("GRU", 3, 1), ("LSTM", 4, 2)] {
        let (input, state_weights, bias) = (
            floats(&mut random, &[gates * 2, 3]),
            floats(&mut random, &[gates * 2, 2]),
            floats(&mut random, &[gates * 2]),
        );
        let (x, state) = (floats(&mut random, &[4, 3]), floats(&mut random, &[4, 2]));
        let (cell, sequence) = (format!("{operator}Cell"), format!("{operator}Sequence"));
        let shaped =
            |tensor: &Tensor, dims: &[usize]| tensor.reshaped(Shape::new(dims.to_vec()).unwrap()).unwrap();
        let initial = vec![state.clone(); states];
        let (one, inputs) = One::of(Standard::OpenVino, &cell, 4)
            .inputs(&[vec![x.clone()], initial.clone()].concat())
            .constants(&[input.clone(), state_weights.clone(), bias.clone()])
            .text("hidden_size", "2")
            .outputs(states)
            .model();
        let got = one.run(&inputs).unwrap();
        let initial: Vec<_> = initial.iter().map(|state| shaped(state, &[4, 1, 2])).collect();
        let (all, inputs) = One::of(Standard::OpenVino, &sequence, 5)
            .inputs(&[vec![shaped(&x, &[4, 1, 3])], initial].concat())
            .constants(&[
                Tensor::vector(&[1i32; 4]),
                shaped(&input, &[1, gates * 2, 3]),
                shaped(&state_weights, &[1, gates * 2, 2]),
                shaped(&bias, &[1, gates * 2]),
            ])
            .text("hidden_size", "2")
            .text("direction", "forward")
            .outputs(1 + states)
            .model();
        let want = all.run(&inputs).unwrap();
        for state in 0..states {
            let want = want[1 + state].tensor().unwrap();
            assert_eq!(difference(&shaped(want, &[4, 2]), got[state].tensor().unwrap(), true), None);
        }
    }
}

#[test]
fn networks_of_functions_without_an_operator_are_refused() {
    for (operator, functions) in [("RNN", &["Affine"][..]), ("GRU", &["Sigmoid", "ScaledTanh"])] {
        let gates = if operator == "RNN" { 1 } else { 3 };
        let [x, w, r] = [vec![2, 1, 3], vec![1, 2 * gates, 3], vec![1, 2 * gates, 2]]
            .map(|dims| floats(&mut fastrand::Rng::with_seed(1), &dims));
        let one = One::of(Standard::Onnx, operator, 22).inputs(&[x, w, r]).known();
        let one = one.attribute("hidden_size", Content::Int(2)).attribute("activations", words(functions));
        let refused = refusal(&one.model().0);
        let name = functions[functions.len() - 1];
        assert!(refused.contains(&format!("activation is {name}, expected")), "{refused}");
    }
}

/// A model of one input, `x`, and these statements.
fn model(x: &Tensor, open: bool, text: &str) -> (Model, Values) {
    let size = |len: &usize| if open { String::new() } else { len.to_string() };
    let sizes: Vec<_> = x.shape().dims().iter().map(size).collect();
    let sizes: Vec<_> = sizes.iter().map(String::as_str).collect();
    let model = Sketch::new().input("x", x.dtype(), &sizes).text(text).unwritten(20);
    (model, HashMap::from([("x".to_owned(), x.clone().into())]))
}

/// An If that squeezes `x`, or what is negative of it: `s`, whose rank is not known before the run.
const SQUEEZED: &str = "zero = 0.0; max = ReduceMax(x, keepdims=0); positive = Greater(max, zero);
    s = If(positive, then_branch={a = Identity(x); b = Squeeze(a); return b},
           else_branch={c = Neg(x); d = Squeeze(c); return d})";

#[test]
fn weights_tell_the_rank_that_inputs_leave_open() {
    let random = &mut fastrand::Rng::with_seed(8);
    let x = floats(random, &[1, 2, 3, 8]);
    let (of_conv, inputs) = model(
        &x,
        true,
        &format!("{SQUEEZED}; w = float32[4, 3, 3](0.5, -0.25, 0.125, 1.5); y = Conv(s, w); return y"),
    );
    there_and_back("Conv", &of_conv, &inputs);
    let (of_lstm, inputs) = model(
        &x,
        true,
        &format!(
            "{SQUEEZED}; w = float32[1, 8, 8](0.5, -0.25, 0.125); r = float32[1, 8, 2](0.75, -0.5, 0.25);
             y = LSTM(s, w, r, hidden_size=2); return y"
        ),
    );
    there_and_back("LSTM", &of_lstm, &inputs);
}

#[test]
fn outputs_have_the_rank_that_the_model_declares() {
    let x = floats(&mut fastrand::Rng::with_seed(9), &[1, 2, 3, 8]);
    let (model, inputs) = model(&x, true, &format!("{SQUEEZED}; y = Exp(s); return y: float32[, , ]"));
    let there = there_and_back("Exp", &model, &inputs);
    let declared =
        |name: &str| there.graph().find(name).and_then(|id| there.graph().value(id).declared.clone());
    assert_eq!(declared("y"), Some(Type::Tensor(Some(DType::F32), Some(vec![DeclaredDim::Unknown; 3]))));
    assert_eq!(declared("s"), Some(Type::Tensor(Some(DType::F32), None)));
}

/// Bounds of a number that is computed have as many steps.
#[test]
fn slices_have_a_computed_number_of_axes() {
    let x = floats(&mut fastrand::Rng::with_seed(22), &[2, 3]);
    let text = "starts = [0, 1, 0]; ends = [1, 3, 9]; zero = [0]; one = [1]; shape = Shape(x);
         count = Slice(shape, zero, one); from = Slice(starts, zero, count); to = Slice(ends, zero, count);
         y = Slice(x, from, to); return y";
    let (sliced, inputs) = model(&x, true, text);
    there_and_back("a slice", &sliced, &inputs);
}

#[test]
fn operators_that_are_lowered_stay_where_the_operator_set_has_them() {
    let mut random = fastrand::Rng::with_seed(6);
    let inputs = [&[2, 3, 4, 8][..], &[2, 4, 4], &[2, 4, 4]].map(|dims| floats(&mut random, dims));
    let (model, inputs) = One::of(Standard::Onnx, "RotaryEmbedding", 23).inputs(&inputs).known().model();
    let want = model.run(&inputs).unwrap();
    for (opset, stays) in [(24, true), (22, false), (17, false)] {
        let mut options = ConvertOptions::default();
        options.opset = Some(opset);
        let converted = model.convert(Standard::Onnx, &options).unwrap();
        let named =
            |name: &str| converted.model.graph().nodes().iter().any(|node| &*node.operator.name == name);
        assert_eq!(named("RotaryEmbedding"), stays, "opset {opset}");
        let noted = converted.report.notes.iter().any(|note| note.exactness == Exactness::Rounding);
        assert_eq!(noted, !stays, "opset {opset}");
        same(&format!("opset {opset}"), &want, &converted.model, &inputs, stays);
    }
}

/// A pool of windows of two by one, two steps apart.
fn pool(operator: &str, x: &Tensor, include: bool) -> (Model, Values) {
    let ints = |values: &[i64]| Content::Ints(values.into());
    let pool = One::of(Standard::Onnx, operator, 22)
        .inputs(std::slice::from_ref(x))
        .attribute("kernel_shape", ints(&[2, 1]))
        .attribute("strides", ints(&[2, 1]));
    if include { pool.attribute("count_include_pad", Content::Int(1)) } else { pool }.known().model()
}

#[test]
fn a_window_larger_than_the_data_lies_on_what_there_is() {
    let mut random = fastrand::Rng::with_seed(7);
    let x = floats(&mut random, &[1, 1, 1, 3]);
    for operator in ["MaxPool", "AveragePool"] {
        let (model, inputs) = pool(operator, &x, false);
        let got = model.run(&inputs).unwrap();
        assert_eq!(difference(&x, got[0].tensor().unwrap(), true), None, "{operator}");
        there_and_back(operator, &model, &inputs);
    }
    let refused =
        [("AveragePool", true, "no equivalent of an average"), ("LpPool", false, "cannot convert LpPool")];
    for (operator, include, why) in refused {
        let (model, inputs) = pool(operator, &x, include);
        assert_eq!(
            model.run(&inputs).unwrap()[0].tensor().unwrap().shape().dims(),
            [1, 1, 1, 3],
            "{operator}"
        );
        assert!(refusal(&model).contains(why), "{}", refusal(&model));
    }
}

#[test]
fn the_number_of_windows_is_right_for_every_size() {
    let sizes = [1, 1].map(DeclaredDim::Known).into_iter();
    let sizes = sizes.chain([DeclaredDim::Symbol("h".into()), DeclaredDim::Known(3)]).collect();
    let mut options = InferOptions::default();
    options.sizes.inputs.insert("x0".into(), InputFact::Type(Type::Tensor(Some(DType::F32), Some(sizes))));
    for height in 1..20 {
        let x = Tensor::zeros(DType::F32, Shape::new([1, 1, height, 3]).unwrap()).unwrap();
        let (model, inputs) = pool("MaxPool", &x, false);
        let inference = model.infer(&options).unwrap();
        let Fact::Tensor(fact) = inference.fact(model.graph().outputs()[0]) else { panic!("no tensor") };
        let windows = fact.dims.as_ref().unwrap()[2];
        assert_eq!(inference.symbols().print(windows).to_string(), "max(h//2, 1)");
        let bound = |name: &str| (name == "h").then(|| i64::try_from(height).unwrap());
        let run = model.run(&inputs).unwrap();
        let size = run[0].tensor().unwrap().shape().dims()[2];
        assert_eq!(inference.symbols().evaluate(windows, &bound), i64::try_from(size).ok(), "{height}");
    }
}

fn word(text: &str) -> Content {
    Content::Bytes(text.to_owned().into())
}

/// Resizes that `Interpolate` does not do.
#[test]
fn resizes_become_weighted_sums_where_sizes_are_known() {
    let mut random = fastrand::Rng::with_seed(7);
    let plain = |name, number| (name, Content::Int(number));
    let coordinates = |text| ("coordinate_transformation_mode", word(text));
    let cases = [
        ("cubic", vec![plain("exclude_outside", 1)]),
        ("cubic", vec![plain("exclude_outside", 1), coordinates("asymmetric")]),
        ("linear", vec![plain("antialias", 1)]),
        ("cubic", vec![plain("antialias", 1)]),
        ("linear", vec![coordinates("half_pixel_symmetric")]),
        ("nearest", vec![coordinates("tf_crop_and_resize")]),
        ("linear", vec![coordinates("tf_crop_and_resize"), ("extrapolation_value", Content::Float(7.0))]),
    ];
    for (mode, attributes) in cases {
        for (open, dtype) in [(false, DType::F32), (false, DType::F16), (true, DType::F32)] {
            let x = floats(&mut random, &[1, 2, 5, 7]);
            let x = gradus::convert::cast(&x, dtype, Rules::IEEE).unwrap();
            let crops = attributes.iter().any(
                |(_, content)| matches!(content, Content::Bytes(text) if &**text == b"tf_crop_and_resize"),
            );
            let region: &[f32] = if crops { &[0.0, 0.0, 0.25, -0.5, 1.0, 1.0, 0.75, 1.0] } else { &[] };
            let scales = Tensor::vector(&[1.0f32, 1.0, 0.7, 1.5]);
            let one = One::of(Standard::Onnx, "Resize", 19)
                .inputs(&[x])
                .constants(&[Tensor::vector(region), scales]);
            let one =
                attributes.iter().fold(one, |one, (name, content)| one.attribute(name, content.clone()));
            let one = one.attribute("mode", word(mode));
            if open {
                let why = refusal(&one.model().0);
                assert!(why.contains("the size of a resized axis is not known"), "{why}");
            } else {
                let (model, given) = one.known().model();
                there_and_back(&format!("{mode} {attributes:?}"), &model, &given);
            }
        }
    }
}

/// Cubic polynomials along both axes of an image, also where one keeps its size.
#[test]
fn cubic_resizes_of_one_axis_take_both() {
    let mut random = fastrand::Rng::with_seed(8);
    for coordinates in ["half_pixel", "align_corners", "asymmetric"] {
        for (scales, sizes) in [([0.7f32, 1.0], [3i64, 7]), ([1.0, 1.5], [5, 10])] {
            let x = floats(&mut random, &[1, 2, 5, 7]);
            let one = || {
                One::of(Standard::Onnx, "Resize", 19)
                    .inputs(std::slice::from_ref(&x))
                    .attribute("mode", word("cubic"))
                    .attribute("axes", Content::Ints([2, 3].into()))
                    .attribute("coordinate_transformation_mode", word(coordinates))
            };
            let none = Tensor::vector(&[0.0f32; 0]);
            let by_scales = one().constants(&[none.clone(), Tensor::vector(&scales)]);
            let (model, given) = by_scales.model();
            there_and_back(&format!("{coordinates} {scales:?}"), &model, &given);
            let by_sizes = one().constants(&[none.clone(), none, Tensor::vector(&sizes)]).known();
            let (model, given) = by_sizes.model();
            there_and_back(&format!("{coordinates} {sizes:?}"), &model, &given);
        }
    }
}

#[test]
fn determinants_become_steps_of_elimination() {
    let mut random = fastrand::Rng::with_seed(9);
    for size in 1..8 {
        for batch in [&[][..], &[3], &[2, 2]] {
            let x = floats(&mut random, &[batch, &[size, size]].concat());
            let (model, given) = One::of(Standard::Onnx, "Det", 22).inputs(&[x]).known().model();
            there_and_back(&format!("{size} {batch:?}"), &model, &given);
        }
    }
    // Without a pivot, and with rows that change places.
    let rows = [0.0f32, 0.0, 1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 0.0, 1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 0.0, 0.0, 5.0];
    let x = Tensor::from_vec(Shape::new([2, 3, 3]).unwrap(), rows.to_vec()).unwrap();
    let (model, given) = One::of(Standard::Onnx, "Det", 22).inputs(std::slice::from_ref(&x)).known().model();
    there_and_back("pivots", &model, &given);
    let (model, _) = One::of(Standard::Onnx, "Det", 22).inputs(&[x]).model();
    assert!(refusal(&model).contains("number of rows of Det"), "{}", refusal(&model));
}

#[test]
fn volumes_are_sampled_by_gathers() {
    let mut random = fastrand::Rng::with_seed(11);
    for mode in ["linear", "nearest"] {
        for padding in ["zeros", "border", "reflection"] {
            for corners in [0, 1] {
                let sizes: Vec<_> = (0..3).map(|_| random.usize(1..4)).collect();
                let x = floats(&mut random, &[&[2, 2], &sizes[..]].concat());
                let grid = floats(&mut random, &[2, 2, 1, 3, 3]);
                let one = One::of(Standard::Onnx, "GridSample", 20).inputs(&[x, grid]);
                let one = one.attribute("mode", word(mode)).attribute("padding_mode", word(padding));
                let (model, given) = one.attribute("align_corners", Content::Int(corners)).model();
                there_and_back(&format!("{mode} {padding} {corners} {sizes:?}"), &model, &given);
            }
        }
    }
}

/// The loss is PaddlePaddle's.
#[test]
fn ways_through_a_tree_end_before_the_first_number_below_zero() {
    let of = |dtype, dims: &[usize], numbers: &[f64]| {
        let numbers = numbers.iter().map(|&x| Number::Float(x));
        Tensor::from_numbers(dtype, Shape::new(dims).unwrap(), numbers, Rules::IEEE).unwrap()
    };
    let (x, w) =
        (of(DType::F32, &[2, 2], &[1.0, 2.0, 1.0, 2.0]), of(DType::F32, &[2, 2], &[1.0, -1.0, 0.5, 0.25]));
    let (label, bias) = (of(DType::I64, &[2, 1], &[0.0, 1.0]), of(DType::F32, &[2, 1], &[0.0, 0.0]));
    let path = of(DType::I64, &[2, 3], &[0.0, -1.0, 1.0, 1.0, 0.0, -1.0]);
    let code = of(DType::I64, &[2, 3], &[1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
    let one = One::of(Standard::Paddle, "hsigmoid_loss", 3).inputs(&[x, label, w, bias, path, code]);
    let (model, given) = one.attribute("num_classes", Content::Int(3)).model();
    let got = model.run(&given).unwrap();
    let loss = (&got).into_iter().next().unwrap().1.tensor().unwrap();
    let want = of(DType::F32, &[2, 1], &[2.699_555_9, 3.319_670_4]);
    assert!(difference(&want, loss, false).is_none(), "{loss:?}");
}

/// The sum in another order is less than 1, and truncated to 0.
#[test]
fn windows_reach_one() {
    for operator in ["HannWindow", "HammingWindow", "BlackmanWindow"] {
        let one = One::of(Standard::Onnx, operator, 17).inputs(&[Tensor::scalar(100i64)]);
        let (model, given) = one.attribute("output_datatype", Content::Int(6)).model();
        let got = model.run(&given).unwrap();
        let got = (&got).into_iter().next().unwrap().1.tensor().unwrap();
        assert_eq!(got.elements::<i32>().unwrap()[50], 1, "{operator}");
    }
}
