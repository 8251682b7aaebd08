//! Checks of models in other programs.

use std::path::Path;
use std::sync::Mutex;

use gradus::check::{CheckOptions, Runtime};
use gradus::{Error, Kind, Model, Result, RunOptions, Tensor, Value};

/// The model that is run: `range` of `positions.onnx` feeds a division by 10.
const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/positions.onnx");

/// A program that computes as Gradus does, but for one value, whose last bit it loses.
struct Inexact {
    wrong: &'static str,
    /// The numbers of values that were asked for.
    asked: Mutex<Vec<usize>>,
    /// Shows outputs alone.
    closed: bool,
    /// Refuses inputs of more elements.
    most: usize,
}

impl Inexact {
    fn new(wrong: &'static str) -> Inexact {
        Inexact { wrong, asked: Mutex::default(), closed: false, most: usize::MAX }
    }
}

impl Runtime for Inexact {
    fn run(&self, model: &Path, inputs: &[(String, Value)], values: &[&str]) -> Result<Vec<Option<Value>>> {
        self.asked.lock().unwrap().push(values.len());
        let model = Model::open(model)?;
        if self.closed && values.len() > model.graph().outputs().len() {
            return Err(Error::new(Kind::Unsupported, "closed"));
        }
        if inputs.iter().any(|(_, value)| value.tensor().unwrap().shape().len() > self.most) {
            return Err(Error::new(Kind::Unsupported, "too large"));
        }
        let program =
            model.compile(&["position_ids", "positions", "seq_float", "phase"], &RunOptions::default());
        let known = program?.run(inputs.iter().map(|(name, value)| (name, value.clone())))?;
        let outputs = model.compile(values, &RunOptions::default())?;
        let outputs = outputs.run(inputs.iter().map(|(name, value)| (name, value.clone())))?;
        let floats = |name: &str| known[name].tensor().unwrap().elements::<f32>().unwrap().to_vec();
        let next = |x: f32| f32::from_bits(x.to_bits() + 1);
        let value = |name: &str| {
            let elements: Vec<f32> = match (self.wrong, name) {
                ("phase", "phase") => floats("phase").into_iter().map(next).collect(),
                ("positions", "positions") => floats("positions").into_iter().map(next).collect(),
                // From what the program takes for the positions.
                ("positions", "phase") => {
                    floats("positions").into_iter().map(|x| next(x) / floats("seq_float")[0]).collect()
                }
                _ => return outputs[name].clone(),
            };
            Value::from(Tensor::vector(&elements))
        };
        Ok(values.iter().map(|name| Some(value(name))).collect())
    }
}

#[test]
fn the_node_that_loses_bits_comes_first_and_alone() {
    let model = Model::open(MODEL).unwrap();
    let runtime = Inexact::new("phase");
    let mut options = CheckOptions::default();
    options.sizes.dims = [("batch".to_owned(), 2), ("seq".to_owned(), 7)].into();
    let check = model.check_in(&model, &runtime, &options).unwrap();
    assert_eq!((check.runs, check.outputs.len(), check.hidden.is_none()), (5, 3, true));
    let differing: Vec<_> = check.outputs.iter().filter(|output| !output.is_same()).collect();
    assert_eq!((differing.len(), &*differing[0].name, differing[0].ulps), (1, "phase", 1));
    assert_eq!((check.nodes[0].value.name.as_str(), check.nodes[0].value.differing), ("phase", 35));
    assert!(check.nodes[0].node.contains("Div-14"), "{}", check.nodes[0].node);
    assert!(check.nodes[1..].iter().all(|node| node.value.is_same()));
    // Each run asks for the outputs, as everybody does, and then for all values.
    assert_eq!(*runtime.asked.lock().unwrap(), [3, 6].repeat(5));
}

#[test]
fn differences_of_a_node_are_not_those_of_the_nodes_before_it() {
    let model = Model::open(MODEL).unwrap();
    let check = model.check_in(&model, &Inexact::new("positions"), &CheckOptions::default()).unwrap();
    let wrong: Vec<_> = check.nodes.iter().filter(|node| !node.value.is_same()).collect();
    assert_eq!(wrong.len(), 1, "{wrong:?}");
}

#[test]
fn a_program_that_shows_no_values_is_compared_by_its_outputs() {
    let model = Model::open(MODEL).unwrap();
    let closed = Inexact { closed: true, ..Inexact::new("phase") };
    let check = model.check_in(&model, &closed, &CheckOptions::default()).unwrap();
    assert_eq!((check.nodes.len(), check.outputs[1].ulps), (0, 1));
    assert_eq!(check.hidden.unwrap().message(), "closed");
}

#[test]
fn runs_that_the_program_refuses_are_tried_with_other_sizes() {
    let model = Model::open(MODEL).unwrap();
    let check = |most| {
        let small = Inexact { most, ..Inexact::new("") };
        model.check_in(&model, &small, &CheckOptions::default())
    };
    let some = check(100).unwrap();
    assert!(some.runs == 5 && some.refused.unwrap().message() == "too large");
    assert_eq!(check(0).unwrap_err().message(), "too large");
}

#[test]
fn a_model_in_no_file_is_refused() {
    let model = Model::from_bytes(&std::fs::read(MODEL).unwrap().into()).unwrap();
    let error = model.check_in(&model, &Inexact::new(""), &CheckOptions::default()).unwrap_err();
    assert_eq!(error.kind(), Kind::Unsupported);
    assert!(error.to_string().contains("the model is in no file"), "{error}");
}
