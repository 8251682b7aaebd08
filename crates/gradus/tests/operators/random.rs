//! Operators that draw random numbers: the generator that docs/numerics.md states, seeds, and that
//! nothing takes their results for constants.

use gradus::fold::FoldOptions;
use gradus::graph::Content;
use gradus::infer::InferOptions;
use gradus::{Model, RunOptions, Tensor};

use crate::common::sketch::Sketch;

const NO_INPUTS: [(&str, Tensor); 0] = [];

/// Two nodes that draw six numbers each, the first with a seed of its own if one is given.
fn model(own: Option<f32>) -> Model {
    let shape = || ("shape", Content::Ints([2, 3].into()));
    let seed = own.map(|seed| ("seed", Content::Float(seed)));
    Sketch::new()
        .with("RandomUniform", &[], &["a"], [shape()].into_iter().chain(seed).collect())
        .with("RandomUniform", &[], &["b"], vec![shape(), ("dtype", Content::Int(11))])
        .text("return a: float32[2, 3]; return b: float64[2, 3]")
        .model()
}

fn run(model: &Model, seed: u64) -> (Vec<f32>, Vec<f64>) {
    let mut options = RunOptions::default();
    options.seed = seed;
    let outputs = model.compile(&[], &options).unwrap().run(NO_INPUTS).unwrap();
    let [a, b] = [0, 1].map(|output| outputs[output].tensor().unwrap().clone());
    (a.elements::<f32>().unwrap().to_vec(), b.elements::<f64>().unwrap().to_vec())
}

#[test]
fn a_run_draws_what_its_seed_says() {
    let (plain, own) = (model(None), model(Some(3.0)));
    assert_eq!(run(&plain, 5), run(&plain, 5));
    assert_ne!(run(&plain, 5).0, run(&plain, 6).0);
    let (a, b) = run(&plain, 5);
    assert_ne!(a, b.iter().map(|&x| float32(x)).collect::<Vec<_>>());
    assert_eq!(run(&own, 5).0, run(&own, 6).0);
    assert_ne!(run(&own, 5).1, run(&own, 6).1);
}

fn float32(x: f64) -> f32 {
    gradus::convert::nearest_f32(gradus::Number::Float(x))
}

/// The number of nodes that folding leaves.
fn folded(model: &Model) -> usize {
    let folded = model.fold(&FoldOptions::default()).unwrap();
    model.edited(&folded.model).unwrap().graph().nodes().len()
}

/// The formula of docs/numerics.md, in other words.
#[test]
fn numbers_are_those_that_the_documentation_states() {
    let mix = |x: u64| {
        let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    };
    let uniform = |key: u64, n: u64| {
        let number = mix(key.wrapping_add(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        gradus::convert::nearest_f64(gradus::Number::Int((number >> 11).into())) / 2f64.powi(53)
    };
    let (_, b) = run(&model(None), 5);
    let key = mix(mix(5).wrapping_add(2));
    assert_eq!(b, (1..=6).map(|n| uniform(key, n)).collect::<Vec<_>>());
    let (a, _) = run(&model(Some(3.0)), 5);
    let key = mix(mix(3f32.to_bits().into()));
    assert_eq!(a, (1..=6).map(|n| float32(uniform(key, n))).collect::<Vec<_>>());
}

#[test]
fn results_of_chance_are_no_constants() {
    let model = model(Some(3.0));
    let inference = model.infer(&InferOptions::default()).unwrap();
    let fact = inference.fact(model.value("a").unwrap()).as_tensor().unwrap();
    assert!(fact.tensor_within(1 << 20).is_none(), "{fact:?}");
    assert_eq!(folded(&model), 2);
}

#[test]
fn training_drops_elements_and_scales_the_others() {
    let model = Sketch::new()
        .constant("x", Tensor::vector(&[3f32; 1000]))
        .text(
            "ratio = 0.25; training = true; y = Dropout(x, ratio, training);
             return y: float32[1000]",
        )
        .model();
    let outputs = model.run(NO_INPUTS).unwrap();
    let y = outputs[0].tensor().unwrap().elements::<f32>().unwrap().to_vec();
    let dropped = y.iter().filter(|&&x| x == 0.0).count();
    assert!(y.iter().all(|&x| x == 0.0 || x == 4.0));
    assert!((150..350).contains(&dropped), "{dropped}");
    assert_eq!(folded(&model), 1);
}

#[test]
fn samples_follow_the_probabilities() {
    let model = Sketch::new()
        .constant(
            "x",
            Tensor::vector(&[0f32, f32::NEG_INFINITY, 3f32.ln()])
                .reshaped(gradus::Shape::new([1, 3]).unwrap())
                .unwrap(),
        )
        .text("y = Multinomial(x, sample_size=4000); return y: int32[1, 4000]")
        .model();
    let outputs = model.run(NO_INPUTS).unwrap();
    let y = outputs[0].tensor().unwrap().to_i64().unwrap();
    let count = |class: i64| y.iter().filter(|&&x| x == class).count();
    assert_eq!(count(1), 0);
    assert!((900..1100).contains(&count(0)) && count(0) + count(2) == 4000, "{}", count(0));
}
