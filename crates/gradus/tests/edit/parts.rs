//! Parts of models, and outputs.

use gradus::Kind;
use gradus::edit::Edit;

use crate::common::sketch::{Sketch, operators};
use crate::{declared, edited, extract, refused, rename, run, tensor, two};

#[test]
fn a_part_has_the_types_that_were_inferred_and_what_its_outputs_need() {
    let model = two();
    let part = edited(&model, [extract(&["b"], &["y"])]).model().unwrap();
    assert_eq!(declared(&part, false), ["b: float32[n, 3]"]);
    assert_eq!(operators(&part), "Reshape");
    assert_eq!(part.graph().constants().len(), 1);
    let part = edited(&model, [extract(&[], &["z"])]).model().unwrap();
    assert_eq!(declared(&part, false), ["x: float32[n, 3]"]);
    assert_eq!(operators(&part), "Mul Relu");
    let x = tensor(&[2, 3]);
    let whole = run(&model, &[("x", x.clone()), ("k", tensor(&[3]))], "z");
    assert_eq!(run(&part, &[("x", x)], "z"), whole);
}

#[test]
fn a_part_that_needs_another_input_is_refused_with_its_node() {
    let error = refused(&two(), extract(&["a"], &[]));
    assert_eq!(
        error.to_string(),
        "node \"make b\": cannot extract: input \"k\" is needed too, expected it among the inputs"
    );
    let error = refused(&two(), extract(&["nothing"], &[]));
    assert_eq!(error.kind(), Kind::Usage);
}

#[test]
fn a_node_that_computes_a_cut_value_and_another_stays() {
    let text = "x: float32[4]; half = [2, 2]; a, b = Split(x, half, axis=0); s = Add(a, b); \
                return s: float32[2]; return a: float32[2]";
    let model = Sketch::of(text).model();
    let part = edited(&model, [extract(&["x", "a"], &["s"])]).model().unwrap();
    assert_eq!(operators(&part), "Split Add");
    let inputs = [("x", tensor(&[4])), ("a", tensor(&[2]))];
    // b is 2.5, 3.5, and a is what is given.
    assert_eq!(run(&part, &inputs, "s"), "[2] [3.0, 5.0]");
}

#[test]
fn what_nodes_that_no_output_needs_read_stays() {
    let text =
        "x: float32[2]; y = Relu(x); idle = Abs(y); z = Neg(x); return y: float32[2]; return z: float32[2]";
    let less = edited(&Sketch::of(text).model(), [Edit::RemoveOutput("y".into())]).model().unwrap();
    assert_eq!(operators(&less), "Relu Abs Neg");
    assert_eq!(declared(&less, true), ["z: float32[2]"]);
}

#[test]
fn outputs_are_added_and_removed() {
    let model = two();
    let more = edited(&model, [Edit::AddOutput("b".into())]).model().unwrap();
    assert_eq!(declared(&more, true).last().unwrap(), "b: float32[n, 3]");
    assert_eq!(more.graph().nodes().len(), 4);
    let less = edited(&model, [Edit::RemoveOutput("y".into())]).model().unwrap();
    assert_eq!(operators(&less), "Mul Relu");
    assert_eq!(less.graph().inputs().len(), 2);
    let only = edited(&less, [Edit::AddOutput("a".into()), Edit::RemoveOutput("z".into())]);
    assert_eq!(operators(&only.model().unwrap()), "Mul");
    assert_eq!(
        refused(&less, Edit::RemoveOutput("z".into())).to_string(),
        "cannot remove output \"z\": the model has no other"
    );
    assert_eq!(
        refused(&model, Edit::AddOutput("y".into())).to_string(),
        "cannot add output \"y\": it is an output already"
    );
}

#[test]
fn what_no_edit_names_keeps_its_bytes() {
    let model = two();
    let there = edited(&model, [rename("a", "other"), rename("x", "image")]).model().unwrap();
    assert_ne!(there.bytes().unwrap(), model.bytes().unwrap());
    let back = edited(&there, [rename("other", "a"), rename("image", "x")]).model().unwrap();
    assert_eq!(back.bytes().unwrap(), model.bytes().unwrap());
    // An output that is none any more is still declared.
    let more = edited(&model, [Edit::AddOutput("b".into())]).model().unwrap();
    let less = edited(&more, [Edit::RemoveOutput("b".into())]).model().unwrap();
    assert_eq!(operators(&less), operators(&model));
    assert_eq!(less.bytes().unwrap().len(), more.bytes().unwrap().len());
}
