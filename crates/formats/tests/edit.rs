//! Writing what was read: what did not change is copied byte for byte.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

#[path = "../../gradus/tests/common/protobuf.rs"]
mod protobuf;

use std::sync::Arc;

use bytes::Bytes;
use gradus_core::graph::edit::{Edit, Inlined, Kept, Made, Step};
use gradus_core::graph::{Builder, DeclaredDim, Graph, Model, Origin, Type};
use gradus_core::{DType, Limits, Tensor};
use gradus_formats::onnx::{edit_model, external_files, mentioned, read_model, rename_external_files};
use gradus_formats::{InMemory, Part};
use protobuf::{field, int, message};

fn node(operator: &str, inputs: &[&str], output: &str) -> Vec<u8> {
    let inputs: Vec<_> = inputs.iter().map(|name| field(1, name)).collect();
    // Field 99 is none of the format; fields of unknown numbers must stay.
    let unknown = int(99, 7);
    message(1, &[inputs.concat(), field(2, output), field(4, operator), unknown])
}

fn value(number: u64, name: &str) -> Vec<u8> {
    // float[n], with a documentation string and a denotation.
    let dim = message(1, &[field(2, "n"), field(3, "AXIS")]);
    let tensor = message(1, &[int(1, 1), message(2, &[dim])]);
    message(number, &[field(1, name), message(2, &[tensor]), field(3, "about it")])
}

fn initializer(name: &str) -> Vec<u8> {
    message(5, &[int(1, 1), int(2, 1), field(9, 1f32.to_le_bytes()), field(8, name)])
}

/// A model with everything around its graph that must not change, and a group, which is none of the
/// fields.
fn file() -> Vec<u8> {
    let graph = [
        node("Neg", &["x"], "a"),
        field(2, "main"),
        node("Add", &["a", "w"], "b"),
        initializer("w"),
        initializer("v"),
        vec![0xa3, 0x06, 0x08, 0x01, 0xa4, 0x06],
        field(10, "doc"),
        value(11, "x"),
        value(12, "c"),
        value(13, "a"),
        value(13, "b"),
        node("Mul", &["b", "v"], "c"),
        message(14, &[field(1, "a"), message(2, &[field(1, "SCALE_TENSOR"), field(2, "v")])]),
    ]
    .concat();
    let training = message(20, &[message(2, &[node("Sub", &["w", "grad"], "w_new")])]);
    [
        int(1, 8),
        message(14, &[field(1, "key"), field(2, "value")]),
        vec![0xa3, 0x06, 0x08, 0x01, 0xa4, 0x06],
        field(7, &graph),
        message(8, &[int(2, 17)]),
        training,
        int(99, 42),
    ]
    .concat()
}

fn read(bytes: &Bytes) -> Model {
    read_model(bytes, Arc::new(InMemory::default()), Limits::DEFAULT).unwrap()
}

fn edited(edit: &Edit) -> (Vec<u8>, Vec<u8>) {
    let bytes = Bytes::from(file());
    let before = read(&bytes);
    let splice = edit_model(&bytes, &before, &before.apply(edit).unwrap()).unwrap();
    let after = splice.to_bytes(&bytes).unwrap();
    assert_eq!(after.len(), splice.len());
    read(&after);
    (bytes.to_vec(), after.to_vec())
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn an_edit_of_nothing_changes_no_byte() {
    let bytes = Bytes::from(file());
    let before = read(&bytes);
    for after in [before.clone(), before.apply(&Edit::keeping(0..3)).unwrap()] {
        let splice = edit_model(&bytes, &before, &after).unwrap();
        let parts: Vec<_> = splice.parts().collect();
        assert_eq!(parts, [Part::Source(0..bytes.len())]);
    }
}

#[test]
fn graphs_of_edits_share_the_names_of_values() {
    let before = read(&file().into()).graph;
    let after = before.apply(&Edit::keeping(0..before.nodes().len()), None).unwrap();
    assert_eq!(after.values().len(), before.values().len());
    for value in after.values() {
        let shared = before.values().iter().any(|old| Arc::ptr_eq(&old.name, &value.name));
        assert!(shared, "{} is copied", value.name);
    }
}

#[test]
fn what_is_not_named_is_copied_byte_for_byte() {
    let mut edit = Edit::keeping([1, 2]);
    edit.nodes[0] = Step::Kept(Kept { node: 1, inputs: vec![(0, "k".into())], ..Kept::default() });
    edit.constants.push(("k".into(), Tensor::vector(&[2f32])));
    edit.gone.insert("a".into());
    let (before, after) = edited(&edit);
    let kept = [
        message(14, &[field(1, "key"), field(2, "value")]),
        message(20, &[message(2, &[node("Sub", &["w", "grad"], "w_new")])]),
        int(99, 42),
        vec![0xa3, 0x06, 0x08, 0x01, 0xa4, 0x06],
        initializer("w"),
        initializer("v"),
        node("Mul", &["b", "v"], "c"),
        value(11, "x"),
        value(12, "c"),
        value(13, "b"),
    ];
    for part in &kept {
        assert!(has(&before, part) && has(&after, part), "{part:?}");
    }
    assert!(has(&after, &node("Add", &["k", "w"], "b")), "the unknown field of a changed node stays");
    assert!(!has(&after, &value(13, "a")) && !has(&after, &node("Neg", &["x"], "a")));
}

#[test]
fn types_are_declared_once_and_keep_what_is_said_beside_them() {
    let mut edit = Edit::keeping(0..3);
    let of = Type::Tensor(Some(DType::F32), Some(vec![DeclaredDim::Symbol("n + 1".into())]));
    edit.types = vec![("b".into(), of.clone()), ("c".into(), of.clone())];
    let (_, after) = edited(&edit);
    let bytes = Bytes::from(after);
    let model = read(&bytes);
    let graph = &model.graph;
    for name in ["b", "c"] {
        assert_eq!(graph.value(graph.find(name).unwrap()).declared, Some(of.clone()), "{name}");
    }
    assert_eq!(bytes.windows(8).filter(|window| window == b"about it").count(), 4);
}

#[test]
fn made_nodes_stand_where_they_are_put() {
    let made = Made {
        name: "new".into(),
        operator: "Abs",
        version: 13,
        inputs: vec!["x".into()],
        outputs: vec!["a".into()],
        attributes: Vec::new(),
    };
    let mut edit = Edit::keeping([1, 2]);
    edit.nodes.insert(0, Step::Made(Box::new(made)));
    edit.dropped.insert("nothing".into());
    let (_, after) = edited(&edit);
    let model = read(&Bytes::from(after));
    let operators: Vec<_> = model.graph.nodes().iter().map(|node| &*node.operator.name).collect();
    assert_eq!(operators, ["Abs", "Add", "Mul"]);
}

/// An attribute that is a graph.
fn branch(name: &str, graph: &[Vec<u8>]) -> Vec<u8> {
    message(5, &[field(1, name), message(6, graph), int(20, 5)])
}

/// A model of an If, each of whose branches adds a constant of its own.
fn file_of_branches() -> Vec<u8> {
    let sparse = {
        let values =
            [int(1, 1), int(2, 1), field(9, 2f32.to_le_bytes()), field(8, "w"), field(98, "odd")].concat();
        let indices = [int(1, 1), int(2, 7), field(9, 0i64.to_le_bytes())].concat();
        message(15, &[field(1, &values), field(2, &indices), int(3, 1)])
    };
    let dense = initializer("w");
    let branches = [("then_branch", dense), ("else_branch", sparse)].map(|(name, constant)| {
        branch(
            name,
            &[node("Add", &["x", "w"], "y"), field(2, "inner"), constant, message(12, &[field(1, "y")])],
        )
    });
    let operator = [field(1, "c"), field(2, "out"), field(4, "If"), branches.concat()].concat();
    let boolean = message(2, &[message(1, &[int(1, 9), field(2, "")])]);
    let condition = message(11, &[field(1, "c"), boolean]);
    let graph =
        message(7, &[field(1, &operator), field(2, "main"), value(11, "x"), condition, value(12, "out")]);
    [int(1, 8), graph, message(8, &[int(2, 17)])].concat()
}

#[test]
fn nodes_and_constants_of_inner_graphs_are_copied_with_their_new_names() {
    let bytes = Bytes::from(file_of_branches());
    let before = read(&bytes);
    let inlined = |graph, w: &str, y: &str| {
        let names = [("w", w), ("y", y)].map(|(old, new)| (old.into(), new.into()));
        Step::Inlined(Box::new(Inlined { node: 0, graph, edit: Edit::keeping([0]), names: names.into() }))
    };
    // One of them stands twice, as the iterations of a loop do.
    let steps = vec![inlined(0, "a", "first"), inlined(1, "b", "second"), inlined(0, "w", "out")];
    let after = before.apply(&Edit { nodes: steps, ..Edit::default() }).unwrap();
    let splice = edit_model(&bytes, &before, &after).unwrap();
    let after = splice.to_bytes(&bytes).unwrap();
    let model = read(&after);
    let elements = |name: &str| {
        let id = model.graph.find(name).unwrap();
        model.graph.constant(id).unwrap().tensor().unwrap().elements::<f32>().unwrap().to_vec()
    };
    assert_eq!(["a", "b", "w"].map(elements), [[1.0], [2.0], [1.0]]);
    let nodes = [["x", "a", "first"], ["x", "b", "second"], ["x", "w", "out"]];
    for [x, w, y] in nodes {
        assert!(has(&after, &node("Add", &[x, w], y)), "the unknown field of {y} stays");
    }
    assert!(has(&after, &initializer("w")) && has(&after, &field(98, "odd")));
}

#[test]
fn a_graph_within_a_node_that_stays_is_changed_alone() {
    let bytes = Bytes::from(file_of_branches());
    let before = read(&bytes);
    let mut inner = Edit::keeping([0]);
    inner.nodes[0] = Step::Kept(Kept { node: 0, inputs: vec![(1, "x".into())], ..Kept::default() });
    inner.dropped.insert("w".into());
    let kept = Kept { node: 0, graphs: vec![(1, inner)], ..Kept::default() };
    let after = before.apply(&Edit { nodes: vec![Step::Kept(kept)], ..Edit::default() }).unwrap();
    let after = edit_model(&bytes, &before, &after).unwrap().to_bytes(&bytes).unwrap();
    let then = branch(
        "then_branch",
        &[node("Add", &["x", "w"], "y"), field(2, "inner"), initializer("w"), message(12, &[field(1, "y")])],
    );
    let other = branch(
        "else_branch",
        &[node("Add", &["x", "x"], "y"), field(2, "inner"), message(12, &[field(1, "y")])],
    );
    assert!(has(&after, &then) && has(&after, &other));
}

/// The function's node has an attribute of the call, and one that the call does not give.
#[test]
fn nodes_of_functions_take_the_place_of_a_call() {
    let reference = |name: &str, of: &str| message(5, &[field(1, name), field(21, of), int(20, 2)]);
    let axis = message(5, &[field(1, "axis"), int(3, 1), int(20, 2)]);
    let own = |attributes: &[Vec<u8>], names: [&str; 2]| {
        let [x, y] = names.map(str::as_bytes);
        let unknown = int(99, 7);
        [field(1, x), field(2, y), field(4, "Softmax"), attributes.concat(), unknown].concat()
    };
    let body = own(&[reference("axis", "axis"), reference("gone", "gone")], ["p", "q"]);
    let second = own(&[], ["q", "y"]);
    let other = [field(1, "other"), field(10, "d"), message(9, &[int(2, 17)])].concat();
    let function = [
        field(1, "F"),
        field(4, "p"),
        field(5, "y"),
        field(6, "axis"),
        field(6, "gone"),
        field(7, &body),
        field(7, &second),
        message(9, &[int(2, 17)]),
        field(10, "d"),
    ]
    .concat();
    let call = [field(1, "x"), field(2, "y"), field(4, "F"), field(7, "d"), axis.clone()].concat();
    let graph = message(7, &[field(1, &call), field(2, "main"), value(11, "x"), value(12, "y")]);
    let sets = [message(8, &[int(2, 17)]), message(8, &[field(1, "d"), int(2, 1)])].concat();
    let file = [int(1, 8), graph, sets, field(25, &other), field(25, &function)].concat();
    let bytes = Bytes::from(file);
    let before = read(&bytes);
    let mut builder = Builder::new("main");
    builder.define("x", Origin::Input).unwrap();
    let attributes = [before.graph.nodes()[0].attributes.clone(), Vec::new()];
    for (index, [x, y]) in [["x", "q"], ["q", "y"]].into_iter().enumerate() {
        let mut node = before.functions[1].body.nodes()[index].clone();
        node.inputs = [Some(builder.reference(x))].into_iter().collect();
        node.outputs.clear();
        node.attributes.clone_from(&attributes[index]);
        builder.push(node, &[y]).unwrap();
    }
    builder.output("y");
    let mut after = before.with_graph(builder.finish().unwrap());
    after.functions.truncate(1);
    let after = edit_model(&bytes, &before, &after).unwrap().to_bytes(&bytes).unwrap();
    assert!(has(&after, &field(1, own(&[axis], ["x", "q"]))) && has(&after, &field(1, &second)));
    assert!(has(&after, &field(25, &other)) && !has(&after, &field(25, &function)));
}

#[test]
fn nodes_stand_in_their_new_order() {
    let (_, after) = edited(&Edit::keeping([1, 2, 0]));
    let model = read(&Bytes::from(after));
    let operators: Vec<_> = model.graph.nodes().iter().map(|node| &*node.operator.name).collect();
    assert_eq!(operators, ["Add", "Mul", "Neg"]);
}

#[test]
fn what_became_a_constant_or_went_is_not_declared() {
    let mut edit = Edit::keeping([2]);
    edit.constants.push(("b".into(), Tensor::vector(&[2f32])));
    let (_, after) = edited(&edit);
    assert!(has(&after, &value(11, "x")) && has(&after, &value(12, "c")));
    assert_eq!(after.windows(8).filter(|window| window == b"about it").count(), 2);
}

#[test]
fn an_edit_of_another_graph_is_an_error() {
    let bytes = Bytes::from(file());
    let before = read(&bytes);
    let error = before.apply(&Edit::keeping([7])).unwrap_err();
    assert_eq!(error.message(), "cannot edit the graph: the edit is about another one");
    let mut other = before.clone();
    other.graph = Graph::default();
    let error = edit_model(&bytes, &other, &before).unwrap_err();
    assert_eq!(error.message(), "the graph is not that of the file, or the file has it in several parts");
}

#[test]
fn a_file_says_which_names_and_files_it_mentions() {
    let bytes = Bytes::from(file());
    let mut names: Vec<_> = mentioned(&bytes).unwrap().into_iter().collect();
    names.sort();
    assert_eq!(names, ["a", "grad", "v", "w"]);
    assert!(external_files(&bytes).unwrap().is_empty());
    let entry = message(13, &[field(1, "location"), field(2, "w.bin")]);
    let tensor = message(5, &[field(8, "w"), entry.clone(), entry]);
    let outside = Bytes::from(field(7, &tensor));
    assert_eq!(external_files(&outside).unwrap(), ["w.bin"]);
    let other = |name| {
        rename_external_files(&outside, |_| Some(String::from(name)))
            .map(|splice| splice.to_bytes(&outside).unwrap())
    };
    let renamed = other("longer.data").unwrap();
    assert_eq!(external_files(&renamed).unwrap(), ["longer.data"]);
    assert_eq!(other("w.bin").unwrap(), outside);
    let none = rename_external_files(&bytes, |_| Some("w".into())).unwrap();
    assert_eq!(none.to_bytes(&bytes).unwrap(), bytes);
}
