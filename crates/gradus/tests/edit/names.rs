//! Other names, metadata and constants.

use gradus::edit::Edit;
use gradus::graph::Content;
use gradus::{DType, Tensor};

use crate::common::sketch::Sketch;
use crate::{declared, edited, refused, rename, run, tensor, two};

#[test]
fn a_renamed_value_is_read_by_its_new_name_in_subgraphs_too() {
    let branch = |name: &str, operator: &str| {
        Sketch::nested().node(operator, &["x"], &[name]).output(name, DType::F32, &["n"]).graph()
    };
    let model = Sketch::of("go: bool[]; x: float32[n]")
        .with(
            "If",
            &["go"],
            &["y"],
            vec![("then_branch", branch("p", "Relu")), ("else_branch", branch("q", "Neg"))],
        )
        .text("return y: float32[n]")
        .model();
    let after = edited(&model, [rename("x", "image"), rename("y", "answer")]).model().unwrap();
    assert_eq!(declared(&after, false)[1], "image: float32[n]");
    let go = Tensor::scalar(gradus::element::Bool::from(false));
    let answer = run(&after, &[("go", go), ("image", tensor(&[2]))], "answer");
    assert_eq!(answer, "[2] [-0.5, -1.5]");
    let taken = refused(&model, rename("x", "p"));
    assert_eq!(taken.to_string(), "cannot rename \"x\" to \"p\": another value has that name");
    let Some(Content::Graph(inner)) = after.graph().nodes()[0].attribute("then_branch") else { panic!() };
    assert!(inner.find("image").is_some());
}

#[test]
fn names_can_be_exchanged_by_a_third() {
    let model = two();
    let edits = [rename("y", "t"), rename("z", "y"), rename("t", "z")];
    let after = edited(&model, edits).model().unwrap();
    assert_eq!(declared(&after, true), ["z: float32[n, 3, 1]", "y: float32[n, 3]"]);
}

#[test]
fn symbols_get_names_and_numbers() {
    let model = two();
    let named = edited(&model, [Edit::RenameDim { old: "n".into(), new: "batch".into() }]);
    let named = named.model().unwrap();
    assert_eq!(declared(&named, true), ["y: float32[batch, 3, 1]", "z: float32[batch, 3]"]);
    let fixed = edited(&named, [Edit::Dim { name: "batch".into(), size: 5 }]).model().unwrap();
    assert_eq!(declared(&fixed, false), ["x: float32[5, 3]", "k: float32[3]"]);
    assert_eq!(declared(&fixed, true), ["y: float32[5, 3, 1]", "z: float32[5, 3]"]);
    let error = refused(&fixed, Edit::Dim { name: "batch".into(), size: 1 });
    assert!(error.to_string().contains("unknown dimension \"batch\""), "{error}");
}

/// A symbol that only one number fits can be given that number before and after others.
#[test]
fn symbols_get_numbers_in_any_order() {
    let model =
        Sketch::of("x: float32[n, m]; w = float32[2](1, 2); y = MatMul(x, w); return y: float32[n]").model();
    let [n, m] = [("n", 3), ("m", 2)].map(|(name, size)| Edit::Dim { name: name.into(), size });
    let first = edited(&model, [n.clone()]).model().unwrap();
    assert_eq!(declared(&first, false)[0], "x: float32[3, m]");
    for order in [[n.clone(), m.clone()], [m, n]] {
        let fixed = edited(&model, order).model().unwrap();
        assert_eq!(declared(&fixed, false)[0], "x: float32[3, 2]");
        assert_eq!(declared(&fixed, true), ["y: float32[3]"]);
    }
    let wrong = Edit::Dim { name: "m".into(), size: 3 };
    assert!(refused(&first, wrong).to_string().contains("contradicts itself"));
}

#[test]
fn open_sizes_are_declared_where_they_follow() {
    let model =
        Sketch::of("x: float32[1, 3]; two = 2.0; a = Mul(x, two); y = Relu(a); return y: float32[1, 3]")
            .model();
    let sizes = vec![gradus::graph::DeclaredDim::Symbol("n".into()), gradus::graph::DeclaredDim::Known(3)];
    let after = edited(&model, [Edit::InputShape { input: "x".into(), sizes }]).model().unwrap();
    assert_eq!(declared(&after, true), ["y: float32[n, 3]"]);
    let y = run(&after, &[("x", tensor(&[2, 3]))], "y");
    assert_eq!(y, "[2, 3] [1.0, 3.0, 5.0, 7.0, 9.0, 11.0]");
    let wrong = Edit::InputShape { input: "x".into(), sizes: Vec::new() };
    assert!(refused(&model, wrong).to_string().contains("rank of input"));
}

#[test]
fn inputs_become_constants_and_have_defaults() {
    let model = two();
    let set = Edit::Set { input: "k".into(), value: tensor(&[3]).into() };
    let after = edited(&model, [set]).model().unwrap();
    assert_eq!(declared(&after, false), ["x: float32[n, 3]"]);
    let x = tensor(&[1, 3]);
    let wanted = run(&model, &[("x", x.clone()), ("k", tensor(&[3]))], "y");
    assert_eq!(run(&after, &[("x", x.clone())], "y"), wanted);
    let default = |value| Edit::Default { input: "k".into(), value };
    let open = edited(&model, [default(Some(tensor(&[3]).into()))]).model().unwrap();
    assert_eq!(open.graph().inputs().len(), 2);
    assert_eq!(run(&open, &[("x", x)], "y"), wanted);
    let back = edited(&open, [default(None)]).model().unwrap();
    assert_eq!(back.bytes().unwrap(), model.bytes().unwrap());
    assert_eq!(
        refused(&model, default(None)).to_string(),
        "cannot take the default of input \"k\": it has none"
    );
    let wrong = Edit::Set { input: "k".into(), value: tensor(&[4]).into() };
    assert_eq!(
        refused(&model, wrong).to_string(),
        "cannot set input \"k\": the value is float32[4], expected float32[3]"
    );
}

#[test]
fn metadata_is_set_changed_and_removed() {
    let entry = |value: Option<&str>| Edit::Metadata { key: "by".into(), value: value.map(Into::into) };
    let model = two();
    let after = edited(&model, [entry(Some("me"))]).model().unwrap();
    assert_eq!(after.source().metadata, [("by".to_owned(), "me".to_owned())]);
    let other = edited(&after, [entry(Some("x"))]).model().unwrap();
    // A value that metadata names is renamed there too.
    let renamed = edited(&other, [rename("x", "image")]);
    assert_eq!(renamed.notes(), ["renamed input \"x\" to \"image\", in metadata \"by\" too"]);
    assert_eq!(renamed.model().unwrap().source().metadata[0].1, "image");
    let gone = edited(&after, [entry(None)]).model().unwrap();
    assert_eq!(gone.bytes().unwrap(), model.bytes().unwrap());
    assert!(model.edit([entry(None)]).is_err());
}
