//! Comparisons that begin with a proof: of what is folded, converted and checked.

use std::time::Duration;

use gradus::check::{CheckOptions, VerifyOptions};
use gradus::conversion::ConvertOptions;
use gradus::fold::{FoldOptions, Level, RuleSet, Verified};
use gradus::graph::Standard;
use gradus::infer::Sizes;
use gradus::{Kind, Model, Result, Shape, Tensor};

use crate::common::sketch::Sketch;

/// Options of comparisons that nobody asked for.
fn beside() -> VerifyOptions {
    VerifyOptions::default().beside(Duration::from_secs(30))
}

fn verify(first: &Model, second: &Model, options: &VerifyOptions) -> Result<Verified> {
    first.verify(second, RuleSet::default(), options)
}

#[test]
fn what_is_folded_and_converted_is_proved_and_not_run() {
    for name in ["heads", "positions", "loop", "range", "function"] {
        let model = Model::open(format!("../../examples/{name}.onnx")).unwrap();
        let folded = model.edited(&model.fold(&FoldOptions::default()).unwrap().model).unwrap();
        let found = verify(&model, &folded, &beside()).unwrap();
        assert!(found.proof.is_some_and(|proof| proof.is_complete()), "{name}");
        assert_eq!((found.runs, found.bindings, found.refused), (0, 0, None), "{name}");
        let found = verify(&model, &folded, &VerifyOptions::default()).unwrap();
        assert!(found.proof.is_some_and(|proof| proof.is_complete()) && found.runs > 0, "{name}");
        let fuse = model.verify(&folded, RuleSet::of(Level::Fuse), &beside()).unwrap();
        assert!(fuse.proof.is_some_and(|proof| proof.is_complete()), "{name}");
        let mut to = ConvertOptions::default();
        to.opset = Some(18);
        let converted = model.convert(Standard::Onnx, &to).unwrap();
        let found = model.verify_converted(&converted, &beside()).unwrap();
        assert!(found.proof.is_some_and(|proof| proof.is_complete()) && found.runs == 0, "{name}");
    }
}

/// The least of no counts is the largest integer, but the other output needs three rows.
#[test]
fn sizes_that_proved_outputs_refuse_show_no_difference() {
    let model = |least: &str| {
        let rows = Tensor::from_vec::<i64>(Shape::new([3, 1]).unwrap(), vec![0; 3]).unwrap();
        let of = "y = GatherElements(x, rows, axis=1); none = 0; one = 1; first = [0]; s = Shape(x);
                  n = Gather(s, none); counts = Range(none, n, one)";
        let sketch = Sketch::of("x: float32[n, 1]").constant("rows", rows).text(of).text(least);
        sketch.text("return y: float32[3, 1]; return m: int64[1]").model()
    };
    let first = model("m = ReduceMin(counts, first)");
    let found = verify(&first, &model("m = Identity(first)"), &beside()).unwrap();
    assert_eq!(found.proof.unwrap().outputs, [("y".to_owned(), true), ("m".to_owned(), false)]);
    assert!(found.runs > 0 && found.refused.is_none(), "{:?}", found.refused);
    let error = verify(&first, &model("m = Add(first, one)"), &beside()).unwrap_err();
    assert!(error.to_string().contains("\"m\""), "{error}");
}

/// Differences that the integers 0 and 1 do not show: squares, loops of more than one iteration, and
/// codes of images.
#[test]
fn integers_of_runs_are_others_than_0_and_1() {
    let bytes = std::fs::read("../../examples/loop.onnx").unwrap();
    let at = bytes.windows(3).position(|word| word == b"Add").unwrap();
    let product = [&bytes[..at], b"Mul", &bytes[at + 3..]].concat();
    let of = |text: &str| Sketch::of(text).model();
    let pairs = [
        (Model::from_bytes(&bytes.into()).unwrap(), Model::from_bytes(&product.into()).unwrap()),
        (
            of("x: int64[n]; y = Mul(x, x); return y: int64[n]"),
            of("x: int64[n]; y = Identity(x); return y: int64[n]"),
        ),
        (
            of("x: uint8[n]; y = BitwiseNot(x); return y: uint8[n]"),
            of("x: uint8[n]; most = 255; all = CastLike(most, x); rest = Sub(all, x); two = 254; even = CastLike(two, x);
                y = BitwiseOr(rest, even); return y: uint8[n]"),
        ),
    ];
    for (index, (first, second)) in pairs.iter().enumerate() {
        let mut options = CheckOptions::default();
        options.runs = 4;
        assert!(!first.check(second, &options).unwrap().is_same(), "pair {index}");
        assert!(verify(first, second, &beside()).is_err(), "pair {index}");
    }
}

const TWO: &str = "x: float32[n, 4]; half = 0.5; y = Mul(x, half)";
const RETURN: &str = "return y: float32[n, 4]; return z: float32[n, 4]";

fn model(z: &str) -> Model {
    Sketch::of(&format!("{TWO}; {z}; {RETURN}")).model()
}

/// `x + x` is `2 x`, of which no law says so.
#[test]
fn outputs_that_are_not_proved_are_run() {
    let (first, second) = (model("z = Add(x, x)"), model("two = 2.0; z = Mul(x, two)"));
    let found = verify(&first, &second, &beside()).unwrap();
    let proof = found.proof.unwrap();
    assert_eq!(proof.outputs, [("y".to_owned(), true), ("z".to_owned(), false)]);
    assert_eq!((proof.reason, found.runs), (None, 6));
    let all = verify(&first, &second, &VerifyOptions::default()).unwrap();
    assert_eq!((all.runs, all.elements), (found.runs, found.elements * 2));
    let check = first.check(&second, &CheckOptions::default()).unwrap();
    let names: Vec<_> = check.outputs.iter().map(|output| &*output.name).collect();
    assert!(check.is_same() && check.runs == 5 && names == ["z"], "{check:?}");
    let mut runs = CheckOptions::default();
    runs.proof = Duration::ZERO;
    let check = first.check(&second, &runs).unwrap();
    assert!(check.proof.is_none() && check.outputs.len() == 2, "{check:?}");
}

#[test]
fn a_proof_without_time_leaves_all_to_runs() {
    let first = model("z = Add(x, x)");
    let mut options = beside();
    options.proof = Duration::ZERO;
    let found = verify(&first, &first, &options).unwrap();
    assert!(found.proof.is_none() && found.runs == 6, "{found:?}");
    options.proof = Duration::from_nanos(1);
    let found = verify(&first, &first, &options).unwrap();
    let proof = found.proof.unwrap();
    assert_eq!((proof.proved().count(), proof.outputs.len(), found.runs), (0, 2, 6));
    assert_eq!(proof.reason.as_deref(), Some("the proof did not end in the time for it"));
}

/// A rule that is wrong for some inputs alone: the error has those that show it.
#[test]
fn a_fold_that_is_wrong_is_refused_with_the_inputs() {
    let (first, wrong) = (model("z = Add(x, x)"), model("z = Sub(x, x)"));
    let error = verify(&first, &wrong, &beside()).unwrap_err();
    let text = error.to_string();
    assert_eq!(error.kind(), Kind::Graph);
    assert!(text.starts_with("folded output \"z\" at element 0 is 0.0, expected "), "{text}");
    assert!(text.contains(", for x = float32[1, 4] ["), "{text}");
    assert!(text.ends_with("; the models part at z: node \"make z\" and node \"make z\""), "{text}");
}

/// The second model is the same wherever both run, and refuses what the first takes.
#[test]
fn a_model_that_refuses_more_is_not_proved() {
    let of = |x: &str, z: &str| {
        Sketch::of(&format!("x: float32[{x}]; z: float32[{z}]; y = Mul(x, z); return y: float32[]")).model()
    };
    let sizes = |a: &str| {
        let mut sizes = Sizes::default();
        sizes.dims.extend(a.split_once('=').map(|(name, size)| (name.to_owned(), size.parse().unwrap())));
        sizes
    };
    let prove = |a: &Model, b: &Model, given: &str| {
        a.prove_outputs(b, &sizes(given), Duration::from_secs(10)).unwrap()
    };
    let (open, equal, fixed) = (of("n", "m"), of("n", "n"), of("n", "3"));
    for (first, second, why) in [
        (&open, &equal, "the second model takes more for granted: axes of one name have one size: m"),
        (&open, &fixed, "the second model takes more for granted: float32[3] of input \"z\""),
        (&equal, &fixed, "the second model takes more for granted: float32[3] of input \"z\""),
    ] {
        let proof = prove(first, second, "");
        assert_eq!((proof.proved().count(), proof.reason.as_deref()), (0, Some(why)));
        assert!(prove(second, first, "").is_complete(), "{why}");
    }
    assert!(verify(&open, &fixed, &beside()).is_err());
    assert!(prove(&open, &fixed, "m=3").is_complete());
}
