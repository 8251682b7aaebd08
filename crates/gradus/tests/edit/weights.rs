//! Where weights lie.

use std::path::PathBuf;

use gradus::edit::Edit;
use gradus::infer::InferOptions;
use gradus::{Kind, Model, Tensor};

use crate::common::protobuf::{field, int, message};
use crate::common::sketch::Sketch;
use crate::{edited, run};

/// A model of two equal weights of 4,800 bytes, a long one and a short one.
fn heavy() -> Model {
    let weights: Vec<f32> = (0..1200u16).map(f32::from).collect();
    Sketch::new()
        .input("x", gradus::DType::F32, &["1200"])
        .constant("w", Tensor::vector(&weights))
        .constant("same", Tensor::vector(&weights))
        .constant("long", Tensor::vector(&[weights.clone(), weights.clone()].concat()))
        .text(
            "short = float32[1](2); a = Add(x, w); b = Mul(a, short); y = Sub(b, same);
             negative = Neg(long)",
        )
        .output("y", gradus::DType::F32, &["1200"])
        .output("negative", gradus::DType::F32, &["2400"])
        .model()
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("gradus-edit-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn result(model: &Model) -> String {
    run(model, &[("x", Tensor::vector(&[1f32; 1200]))], "y")
}

#[test]
fn weights_move_into_a_file_and_back() {
    let folder = folder("external");
    let model = heavy();
    let path = folder.join("m.onnx");
    edited(&model, [Edit::External { file: "w.bin".into() }]).save(&path).unwrap();
    assert_eq!(std::fs::metadata(folder.join("w.bin")).unwrap().len(), 4800 + 4800 + 9600);
    let outside = Model::open(&path).unwrap();
    assert_eq!(result(&outside), result(&model));
    let back = edited(&outside, [Edit::Embed]).model().unwrap();
    assert_eq!(back.bytes().unwrap(), model.bytes().unwrap());
    // A file of somebody else is not replaced.
    std::fs::write(folder.join("other.bin"), "mine").unwrap();
    let error = edited(&model, [Edit::External { file: "other.bin".into() }])
        .save(folder.join("n.onnx"))
        .unwrap_err();
    assert_eq!(error.kind(), Kind::Io);
    assert_eq!(std::fs::read(folder.join("other.bin")).unwrap(), b"mine");
    let error = model.edit([Edit::External { file: "../w.bin".into() }]).unwrap_err();
    assert_eq!(error.kind(), Kind::Usage);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn stripped_weights_come_back_with_all_bits() {
    let folder = folder("strip");
    let model = heavy();
    let path = folder.join("m.onnx");
    let len = edited(&model, [Edit::StripWeights]).save(&path).unwrap();
    assert!(len < 1000, "{len}");
    let stripped = Model::open(&path).unwrap();
    let inference = stripped.infer(&InferOptions::default()).unwrap();
    assert_eq!(inference.describe(inference.fact(stripped.value("y").unwrap())), "float32[1200]");
    let whole = edited(&stripped, [Edit::Weights(Box::new(model.clone()))]).model().unwrap();
    assert_eq!(whole.bytes().unwrap(), model.bytes().unwrap());
    // Other weights of the same names are refused.
    let other = Edit::Set { input: "x".into(), value: Tensor::vector(&[1f32; 1200]).into() };
    let swapped = edited(&model, [other]).model().unwrap();
    let renamed = edited(
        &swapped,
        [
            Edit::Rename { old: "w".into(), new: "t".into() },
            Edit::Rename { old: "x".into(), new: "w".into() },
        ],
    );
    let renamed = renamed.model().unwrap();
    let error = stripped.edit([Edit::Weights(Box::new(renamed))]).unwrap_err();
    assert!(error.to_string().contains("the digest of the elements"), "{error}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// A short weight and a tensor of an attribute, which no edit writes into a file or leaves out,
/// come out of a file that the new model does not find.
#[test]
fn tensors_of_other_files_are_in_the_model() {
    let (from, to) = (folder("from"), folder("to"));
    let location = message(13, &[field(1, "location"), field(2, "w.bin")]);
    let tensor = |name| message(5, &[int(1, 2), int(2, 1), field(8, name), location.clone(), int(14, 1)]);
    let attribute = message(5, &[field(1, "value"), tensor(""), int(20, 4)]);
    let constant = message(1, &[field(2, "c"), field(4, "Constant"), attribute]);
    let add = message(1, &[field(1, "w"), field(1, "c"), field(2, "y"), field(4, "Add")]);
    let graph = message(7, &[constant, add, field(2, "g"), tensor("w"), message(12, &[field(1, "y")])]);
    std::fs::write(from.join("w.bin"), [0, 0, 128, 63, 0, 0, 0, 64]).unwrap();
    let model = [int(1, 8), message(8, &[int(2, 13)]), graph].concat();
    std::fs::write(from.join("m.onnx"), model).unwrap();
    let model = Model::open(from.join("m.onnx")).unwrap();
    for (number, edit) in
        [Edit::Embed, Edit::StripWeights, Edit::External { file: "n.bin".into() }].into_iter().enumerate()
    {
        let path = to.join(format!("{number}.onnx"));
        edited(&model, [edit]).save(&path).unwrap();
        assert_eq!(run(&Model::open(path).unwrap(), &[], "y"), run(&model, &[], "y"), "{number}");
    }
    std::fs::remove_dir_all(from).unwrap();
    std::fs::remove_dir_all(to).unwrap();
}

#[test]
fn equal_weights_are_kept_once() {
    let model = heavy();
    let shared = edited(&model, [Edit::ShareWeights]);
    assert_eq!(shared.notes(), ["shared 1 weight, which takes 4800 bytes less"]);
    let shared = shared.model().unwrap();
    assert_eq!(shared.graph().constants().len(), 3);
    assert_eq!(result(&shared), result(&model));
}
