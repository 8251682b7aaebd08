//! Edits of models: each against runs of the model that is edited.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

#[path = "../common"]
mod common {
    pub mod protobuf;
    pub mod random;
    pub mod sketch;
}
mod float16;
mod interface;
mod joined;
mod names;
mod openvino;
mod parts;
mod weights;

use gradus::edit::{Edit, Edited};
use gradus::{Error, Model, Tensor};

use common::sketch::Sketch;

/// Two branches of an image: `y` needs `a` and `b`, `z` needs `a` alone.
const TWO: &str = "x: float32[n, 3]; k: float32[3]; two = 2.0; shape = [0, 3, 1]; \
    a = Mul(x, two); b = Add(a, k); y = Reshape(b, shape); z = Relu(a); \
    return y: float32[n, 3, 1]; return z: float32[n, 3]";

fn two() -> Model {
    Sketch::of(TWO).model()
}

fn edited(model: &Model, edits: impl IntoIterator<Item = Edit>) -> Edited {
    model.edit(edits).unwrap()
}

fn refused(model: &Model, edit: Edit) -> Error {
    model.edit([edit]).unwrap_err()
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn extract(inputs: &[&str], outputs: &[&str]) -> Edit {
    Edit::Extract { inputs: names(inputs), outputs: names(outputs) }
}

fn rename(old: &str, new: &str) -> Edit {
    Edit::Rename { old: old.into(), new: new.into() }
}

/// A tensor of the numbers 0.5, 1.5, … in this shape.
fn tensor(dims: &[usize]) -> Tensor {
    let count = dims.iter().product::<usize>();
    let elements = (0..count).map(|index| 0.5 + f32::from(u8::try_from(index).unwrap())).collect();
    Tensor::from_vec(gradus::Shape::new(dims).unwrap(), elements).unwrap()
}

/// Types of the inputs, or of the outputs, as texts.
fn declared(model: &Model, outputs: bool) -> Vec<String> {
    let graph = model.graph();
    let ids = if outputs { graph.outputs() } else { graph.inputs() };
    let text = |id| {
        let info = graph.value(id);
        format!("{}: {}", info.name, info.declared.as_ref().map_or("?".into(), ToString::to_string))
    };
    ids.iter().map(|&id| text(id)).collect()
}

/// An output, which is a tensor of floats: its shape, and its elements.
fn run(model: &Model, inputs: &[(&str, Tensor)], output: &str) -> String {
    let outputs = model.run(inputs.iter().map(|(name, tensor)| (*name, tensor.clone()))).unwrap();
    let tensor = outputs[output].tensor().unwrap();
    format!("{:?} {:?}", tensor.shape().dims(), tensor.elements::<f32>().unwrap())
}
