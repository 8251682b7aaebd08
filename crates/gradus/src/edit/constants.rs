//! Inputs that become constants or have one as their default.

use gradus_core::graph::edit::{Made, Step};
use gradus_core::graph::{Attribute, Content};

use super::apply::quoted;
use super::{Arc, Editor, Error, Kind, Result, Standard, Value};
use crate::declare::checked_constant;
use crate::normalize::has_default_inputs;

impl Editor {
    /// Makes an input a constant.
    pub(super) fn set(&mut self, input: &str, value: &Value) -> Result<()> {
        if self.now.source().standard == Standard::OpenVino {
            return self.set_openvino(input, value);
        }
        let id = self.now.given_input(input)?;
        let info = self.graph().value(id);
        let tensor = checked_constant(info, value)?;
        let (name, inputs) = (info.name.clone(), self.graph().inputs());
        let rest: Vec<_> = inputs.iter().copied().filter(|&other| other != id).collect();
        let mut edit = self.keeping();
        edit.inputs = Some(self.names_of(&rest));
        edit.dropped.extend(self.graph().constant(id).map(|_| name.clone()));
        let text = gradus_core::display::elided(&tensor, 8).replace('\n', "");
        if has_default_inputs(self.now.source()) {
            edit.constants.push((name.clone(), tensor));
        } else {
            // Files of this version list each initializer as an input.
            edit.nodes.insert(0, constant_node(name.clone(), tensor.into()));
        }
        edit.gone.insert(name.clone());
        self.change(&edit)?;
        self.note(format_args!("set input {} to {text}", quoted(&name)));
        Ok(())
    }

    /// Makes an input of an OpenVINO model a constant, in its file as it is so far.
    fn set_openvino(&mut self, input: &str, value: &Value) -> Result<()> {
        let names = std::mem::take(&mut self.names);
        let so_far = self.original.edited_with(self.now.source(), &names)?;
        self.original = so_far.with_inputs_set([(input, value.clone())])?;
        self.now = self.original.with_source(self.original.source().clone());
        self.note(format_args!("set input {}", quoted(input)));
        Ok(())
    }

    /// Gives an input a default, or takes it.
    pub(super) fn set_default(&mut self, input: &str, value: Option<&Value>) -> Result<()> {
        self.must_be_onnx("change a default")?;
        let id = self.now.input(input)?;
        if !has_default_inputs(self.now.source()) {
            let what = "cannot change a default: the IR version of the model";
            let version = self.now.source().format_version;
            return Err(Error::mismatch(Kind::Unsupported, what, version, "at least 4"));
        }
        let info = self.graph().value(id);
        let (name, had) = (info.name.clone(), self.graph().constant(id).is_some());
        let mut edit = self.keeping();
        edit.dropped.extend(had.then(|| name.clone()));
        let note = match value {
            Some(value) => {
                let tensor = checked_constant(info, value)?;
                let text = gradus_core::display::elided(&tensor, 8).replace('\n', "");
                edit.constants.push((name.clone(), tensor));
                format!("gave input {} the default {text}", quoted(&name))
            }
            None if had => format!("took the default of input {}", quoted(&name)),
            None => {
                let message = format!("cannot take the default of input {}: it has none", quoted(&name));
                return Err(Error::new(Kind::Usage, message));
            }
        };
        self.change(&edit)?;
        self.note(note);
        Ok(())
    }
}

/// A node that is a constant.
pub(super) fn constant_node(name: Arc<str>, value: gradus_core::graph::Constant) -> Step {
    Step::Made(Box::new(Made {
        name: "".into(),
        operator: "Constant",
        version: 1,
        inputs: Vec::new(),
        outputs: vec![name],
        attributes: Attribute::list([("value", Content::Tensor(value))]),
    }))
}
