//! Writing what was read: what an edit does not name is copied byte for byte.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::sync::Arc;

use bytes::Bytes;
use gradus_core::graph::edit::{Edit, Kept, Made, Step};
use gradus_core::graph::{DeclaredDim, Graph, Model, Type};
use gradus_core::{DType, Limits, Tensor};
use gradus_formats::onnx::{edit_model, external_files, mentioned, read_model, rename_external_files};
use gradus_formats::{InMemory, Part};

/// A varint.
fn varint(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = u8::try_from(value % 128).unwrap();
        value /= 128;
        bytes.push(if value > 0 { low | 0x80 } else { low });
        if value == 0 {
            return bytes;
        }
    }
}

/// A field with a message or text.
fn field(number: usize, content: &[u8]) -> Vec<u8> {
    [varint(number << 3 | 2), varint(content.len()), content.to_vec()].concat()
}

fn all(parts: &[Vec<u8>]) -> Vec<u8> {
    parts.concat()
}

fn node(operator: &str, inputs: &[&str], output: &str) -> Vec<u8> {
    let inputs: Vec<_> = inputs.iter().map(|name| field(1, name.as_bytes())).collect();
    // Field 99 is none of the format; fields of unknown numbers must stay.
    let unknown = vec![0x98, 0x06, 0x07];
    field(1, &all(&[all(&inputs), field(2, output.as_bytes()), field(4, operator.as_bytes()), unknown]))
}

fn value(number: usize, name: &str) -> Vec<u8> {
    // float[n], with a documentation string and a denotation.
    let dim = field(1, &all(&[field(2, b"n"), field(3, b"AXIS")]));
    let tensor = all(&[vec![0x08, 1], field(2, &dim)]);
    field(number, &all(&[field(1, name.as_bytes()), field(2, &field(1, &tensor)), field(3, b"about it")]))
}

fn initializer(name: &str) -> Vec<u8> {
    field(5, &all(&[vec![0x08, 1, 0x10, 1], field(9, &1f32.to_le_bytes()), field(8, name.as_bytes())]))
}

/// A model with everything around its graph that must not change, and a group, which is none of the
/// fields.
fn file() -> Vec<u8> {
    let graph = all(&[
        node("Neg", &["x"], "a"),
        field(2, b"main"),
        node("Add", &["a", "w"], "b"),
        initializer("w"),
        initializer("v"),
        vec![0xa3, 0x06, 0x08, 0x01, 0xa4, 0x06],
        field(10, b"doc"),
        value(11, "x"),
        value(12, "c"),
        value(13, "a"),
        value(13, "b"),
        node("Mul", &["b", "v"], "c"),
        field(14, &all(&[field(1, b"a"), field(2, &all(&[field(1, b"SCALE_TENSOR"), field(2, b"v")]))])),
    ]);
    let training = field(20, &field(2, &node("Sub", &["w", "grad"], "w_new")));
    all(&[
        vec![0x08, 8],
        field(14, &all(&[field(1, b"key"), field(2, b"value")])),
        vec![0xa3, 0x06, 0x08, 0x01, 0xa4, 0x06],
        field(7, &graph),
        field(8, &[0x10, 17]),
        training,
        vec![0x98, 0x06, 0x2a],
    ])
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
fn what_is_not_named_is_copied_byte_for_byte() {
    let mut edit = Edit::keeping([1, 2]);
    edit.nodes[0] = Step::Kept(Kept { node: 1, inputs: vec![(0, "k".into())], ..Kept::default() });
    edit.constants.push(("k".into(), Tensor::vector(&[2f32])));
    edit.gone.insert("a".into());
    let (before, after) = edited(&edit);
    let kept = [
        field(14, &all(&[field(1, b"key"), field(2, b"value")])),
        field(20, &field(2, &node("Sub", &["w", "grad"], "w_new"))),
        vec![0x98, 0x06, 0x2a],
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
    let entry = field(13, &all(&[field(1, b"location"), field(2, b"w.bin")]));
    let tensor = field(5, &all(&[field(8, b"w"), entry.clone(), entry]));
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
