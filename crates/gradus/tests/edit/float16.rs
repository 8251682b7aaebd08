//! Nodes in float16: what stays in float32, and what outputs lose.

use gradus::edit::{Edit, Edited, Float16Options};
use gradus::formats::onnx::encode_model;
use gradus::{DType, Model, Shape, Tensor};

use crate::common::sketch::{Sketch, operators, read};
use crate::{declared, edited, refused};

fn shortened(model: &Model, change: impl FnOnce(&mut Float16Options)) -> Edited {
    edited(model, [float16(change)])
}

fn float16(change: impl FnOnce(&mut Float16Options)) -> Edit {
    let mut options = Float16Options::default();
    change(&mut options);
    Edit::Float16(Box::new(options))
}

/// The largest difference of an output of two models for one input, relative to its largest
/// magnitude.
fn difference(before: &Model, after: &Model, x: &[f32]) -> f32 {
    let run = |model: &Model| -> Vec<f32> {
        let x = Tensor::from_vec(Shape::new([1, x.len()]).unwrap(), x.to_vec()).unwrap();
        model.run([("x", x)]).unwrap()[0].tensor().unwrap().elements::<f32>().unwrap().to_vec()
    };
    let (before, after) = (run(before), run(after));
    let largest = before.iter().fold(0f32, |largest, x| largest.max(x.abs()));
    before.iter().zip(&after).fold(0f32, |most, (a, b)| most.max((a - b).abs())) / largest
}

fn has_note(edited: &Edited, text: &str) -> bool {
    edited.notes().iter().any(|note| note.contains(text))
}

#[test]
fn inputs_and_outputs_keep_their_types_and_no_two_casts_cancel() {
    let text = "x: float32[n, 3]; k = 0.1; a = Mul(x, k); b = Relu(a); c = Exp(b); return c: float32[n, 3]";
    let model = Sketch::of(text).model();
    let edited = shortened(&model, |_| {});
    let after = edited.model().unwrap();
    assert_eq!(declared(&after, false), ["x: float32[n, 3]"]);
    assert_eq!(declared(&after, true), ["c: float32[n, 3]"]);
    assert_eq!(operators(&after), "Cast Mul Relu Exp Cast");
    let k = after.graph().constant(after.value("k").unwrap()).unwrap();
    assert_eq!((k.dtype(), k.byte_len()), (DType::F16, 2));
    let lost = difference(&model, &after, &[-1.0, 0.3, 0.7]);
    assert!(lost > 0.0 && lost < 1e-3, "{lost}");
    assert!(has_note(&edited, "computes 3 of 3 nodes in float16"), "{:?}", edited.notes());
    let bfloat16 = shortened(&model, |options| options.dtype = DType::BF16).model().unwrap();
    let more = difference(&model, &bfloat16, &[-1.0, 0.3, 0.7]);
    assert!(more > lost && more < 1e-2, "{more}");
}

/// A node between others that is kept has a Cast on each side, and nodes that move what it returns
/// have its type.
#[test]
fn nodes_are_kept_by_name() {
    let text = "x: float32[n, 3]; a = Exp(x); b = Sin(a); t = Transpose(b, perm=[1, 0]); c = Cos(t); \
        return c: float32[3, n]";
    let model = Sketch::of(text).model();
    let edited = shortened(&model, |options| options.keep.push("b".into()));
    assert_eq!(operators(&edited.model().unwrap()), "Cast Exp Cast Sin Transpose Cast Cos Cast");
    assert!(has_note(&edited, "float32, to be kept: node \"make b\" (Sin)"), "{:?}", edited.notes());
    assert!(has_note(&edited, "moving elements of float32: node \"make t\""), "{:?}", edited.notes());
    let unknown = refused(&model, float16(|options| options.keep.push("make d".into())));
    assert!(unknown.to_string().starts_with("unknown node \"make d\""), "{unknown}");
}

#[test]
fn nodes_that_overflow_stay() {
    let text = "x: float32[n, 3]; k = 1000000.0; a = Mul(x, k); b = Div(a, k); c = Sin(b); \
        return c: float32[n, 3]";
    let model = Sketch::of(text).model();
    let edited = shortened(&model, |_| {});
    let after = edited.model().unwrap();
    assert_eq!(operators(&after), "Mul Div Cast Sin Cast");
    assert!(difference(&model, &after, &[-1.0, 0.3, 0.7]) < 1e-3);
    assert!(has_note(&edited, "kept node \"make a\" (Mul) in float32"), "{:?}", edited.notes());
    assert!(has_note(&edited, "elements overflow"), "{:?}", edited.notes());
}

/// The sum of 1000 loses what the difference shows; the other nodes do not.
#[test]
fn few_nodes_stay_where_outputs_are_held_to_an_error() {
    let text = "x: float32[n, 3]; k = 1000.0; e = Sin(x); a = Add(e, k); b = Sub(a, k); c = Cos(b); \
        return c: float32[n, 3]; return b: float32[n, 3]";
    let model = Sketch::of(text).model();
    let x = [-1.0, 0.3, 0.7];
    let free = shortened(&model, |_| {}).model().unwrap();
    assert!(difference(&model, &free, &x) > 1e-2);
    let edited = shortened(&model, |options| options.max_error = Some(1e-3));
    let held = edited.model().unwrap();
    assert!(difference(&model, &held, &x) <= 1e-3);
    assert_eq!(operators(&held), "Cast Sin Cast Add Sub Cast Cos Cast", "{:?}", edited.notes());
    // Nothing but float32 holds no error at all.
    let exact = shortened(&model, |options| options.max_error = Some(0.0)).model().unwrap();
    assert_eq!(operators(&exact), "Sin Add Sub Cos");
}

#[test]
fn sizes_and_nodes_of_graphs_stay() {
    let inner = |operator| {
        let sketch = Sketch::nested().node(operator, &["a"], &["inner"]);
        sketch.output("inner", DType::F32, &["n", "3"]).graph()
    };
    let text = "x: float32[n, 3]; p: bool[]; half = 0.5; a = Exp(x); s = Shape(x); f = Cast(s, to=1); \
        g = Mul(f, half); m = Mul(a, g)";
    let text = text.replace("m = Mul(a, g)", "h = ReduceMax(g); m = Mul(a, h)");
    let branches = vec![("then_branch", inner("Relu")), ("else_branch", inner("Neg"))];
    let model = Sketch::of(&text).with("If", &["p"], &["y"], branches);
    let model = model.output("y", DType::F32, &["n", "3"]).output("m", DType::F32, &["n", "3"]).model();
    let edited = shortened(&model, |_| {});
    let after = edited.model().unwrap();
    assert!(has_note(&edited, "holding graphs: node \"make y\" (If)"), "{:?}", edited.notes());
    assert!(has_note(&edited, "computing sizes or constants: node \"make g\" (Mul)"));
    let inference = after.infer(&gradus::infer::InferOptions::default()).unwrap();
    let dtype = |name: &str| inference.fact(after.value(name).unwrap()).dtype();
    // The branches read `a` as float32; `m` is the product in float16.
    assert_eq!(["a", "g", "m_float16"].map(dtype), [Some(DType::F32), Some(DType::F32), Some(DType::F16)]);
    let x = || Tensor::from_vec(Shape::new([1, 3]).unwrap(), vec![0.1f32, 0.2, 0.3]).unwrap();
    let p = || Tensor::scalar(gradus::element::Bool::from(true));
    let run = |model: &Model| model.run([("x", x()), ("p", p())]).unwrap()["y"].tensor().unwrap().dtype();
    assert_eq!((run(&model), run(&after)), (DType::F32, DType::F32));
}

/// Files before IR version 4 list constants as inputs; the new ones are nodes there, or keep their
/// place.
#[test]
fn constants_of_old_files_are_shortened() {
    let text = "x: float32[n, 3]; k: float32[]; j: float32[]; a = Mul(x, k); b = Add(a, j); c = Sub(a, k); \
        d = Mul(b, c); return d: float32[n, 3]";
    let mut sketch = Sketch::of(text);
    for (name, number) in [("k", 0.1f32), ("j", 0.2)] {
        sketch = sketch.constant(name, Tensor::scalar(number));
    }
    let mut source = sketch.model().source().clone();
    source.format_version = 3;
    let model = read(&encode_model(&source).unwrap());
    let edited = shortened(&model, |options| options.keep.push("c".into()));
    let after = edited.model().unwrap();
    assert_eq!(declared(&after, false), ["x: float32[n, 3]", "k: float32[]", "j: float16[]"]);
    assert_eq!(operators(&after), "Cast Constant Mul Cast Add Sub Cast Mul Cast");
    assert!(difference(&model, &after, &[-1.0, 0.3, 0.7]) < 1e-3);
}

#[test]
fn wrong_types_and_old_operator_sets_are_refused() {
    let sketch = || Sketch::of("x: float32[n, 3]; a = Exp(x); return a: float32[n, 3]");
    let message =
        |model: &Model, change: fn(&mut Float16Options)| refused(model, float16(change)).to_string();
    assert_eq!(
        message(&sketch().model(), |options| options.dtype = DType::F64),
        "cannot shorten floats: the type is float64, expected float16 or bfloat16"
    );
    assert_eq!(
        message(&sketch().model_of(6), |_| {}),
        "cannot compute in float16: the operator set is 6, expected at least 7"
    );
}
