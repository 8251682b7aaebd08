//! Losses of quantized models, held against the formulas of codes.

use gradus::check::{CheckOptions, Quantization, TensorKind, TensorLoss};
use gradus::edit::Edit;
use gradus::infer::InputFact;
use gradus::{Kind, Model, Shape, Tensor};

fn example(name: &str) -> Model {
    Model::open(format!("../../examples/{name}.onnx")).unwrap()
}

/// Inputs of three rows.
const ROWS: [f32; 12] = [0.9, -0.9, 0.4, 1.25, -1.5, 0.03, 0.0, -0.2, 0.7, 0.71, -0.72, 0.5];

fn losses(first: &Model, second: &Model) -> Quantization {
    let mut options = CheckOptions::default();
    options.runs = 1;
    let x = Tensor::from_vec::<f32>(Shape::new([3, 4]).unwrap(), ROWS.to_vec()).unwrap();
    options.sizes.inputs.insert("x".to_owned(), InputFact::Value(x.into()));
    first.quantization(second, &options).unwrap()
}

fn of<'a>(found: &'a Quantization, name: &str) -> &'a TensorLoss {
    found.tensors.iter().find(|tensor| tensor.name == name).unwrap()
}

#[test]
fn losses_are_those_of_codes() {
    let found = losses(&example("scores"), &example("scores.int8"));
    let scale = 2.0f32 / 255.0;
    let (mut signal, mut noise, mut beyond) = (0.0, 0.0, 0);
    for x in ROWS {
        let code = ((x / scale).round_ties_even() + 128.0).clamp(0.0, 255.0);
        let number = (code - 128.0) * scale;
        beyond += u64::from(!(-128.0 * scale..=127.0 * scale).contains(&x));
        signal += f64::from(x) * f64::from(x);
        noise += (f64::from(x) - f64::from(number)).powi(2);
    }
    let x = of(&found, "x");
    let own = x.own.unwrap();
    assert_eq!((x.clipped, own.elements, own.signal, own.noise), (Some(beyond), 12, signal, noise));
    assert_eq!(x.whole, x.own, "nothing is quantized before");
    let kinds = found.tensors.iter().map(|tensor| (&*tensor.name, tensor.kind));
    let mut kinds: Vec<_> = kinds.collect();
    kinds.sort_unstable_by_key(|(name, _)| *name);
    let [activation, weight] = [TensorKind::Activation, TensorKind::Weight];
    assert_eq!(
        kinds,
        [
            ("hidden", activation),
            ("scores", TensorKind::Output),
            ("w1", weight),
            ("w2", weight),
            ("x", activation)
        ]
    );
    let decibels: Vec<_> = found.tensors.iter().filter_map(|it| Some(it.own?.decibels())).collect();
    assert!(decibels.is_sorted() && found.tensors[0].name == "hidden", "{decibels:?}");
}

#[test]
fn tensors_correspond_by_nodes_where_a_tool_renames_them() {
    let (first, second) = (example("scores"), example("scores.int8"));
    let rename = |(at, old): (usize, &str)| Edit::Rename { old: old.to_owned(), new: format!("v{at}") };
    let renamed =
        ["products", "sums", "hidden", "x_codes", "hidden_numbers"].into_iter().enumerate().map(rename);
    let renamed = second.edit(renamed).unwrap().model().unwrap();
    let [plain, renamed] = [&second, &renamed].map(|other| losses(&first, other).tensors);
    assert_eq!(format!("{plain:?}"), format!("{renamed:?}"));
}

#[test]
fn a_model_without_codes_is_refused() {
    let model = example("scores");
    let error = model.quantization(&model, &CheckOptions::default()).unwrap_err();
    assert_eq!(error.kind(), Kind::Graph);
    assert_eq!(
        error.to_string(),
        "cannot compare: no tensor of the second model is quantized and dequantized by nodes"
    );
}
