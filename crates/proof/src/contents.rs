//! Digests of what models are, in whatever files they are stored.

use std::fmt::Write as _;

use gradus_core::graph::{Attribute, Constant, Content, Graph, Model};
use gradus_core::{Result, Tensor, Value};
use sha2::{Digest as _, Sha256};

/// The SHA-256 of a model's graphs, functions and elements of constants, in hexadecimal.
pub fn digest(model: &Model) -> Result<String> {
    let mut walk = DigestWalk(Sha256::new());
    walk.text(&format!("{:?}", (model.standard, model.format_version, &model.opsets)));
    walk.graph(&model.graph)?;
    for function in &model.functions {
        walk.text(&format!("{:?}", function.id));
        for (name, default) in &function.attributes {
            walk.text(name);
            default.as_ref().map_or(Ok(()), |default| walk.attribute(default))?;
        }
        walk.graph(&function.body)?;
    }
    Ok(walk.end())
}

/// The SHA-256 of a value that is given for an input.
pub fn digest_of_value(value: &Value) -> Result<String> {
    let mut walk = DigestWalk(Sha256::new());
    match value {
        Value::Tensor(tensor) => walk.tensor(tensor)?,
        other => walk.text(&format!("{other:?}")),
    }
    Ok(walk.end())
}

/// The SHA-256 of lines.
pub fn digest_of_lines(lines: &[String]) -> String {
    let mut walk = DigestWalk(Sha256::new());
    for line in lines {
        walk.text(line);
    }
    walk.end()
}

struct DigestWalk(Sha256);

impl DigestWalk {
    /// Bytes after their number, so that no two lists have the same bytes.
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(gradus_core::convert::u64_of(bytes.len()).to_le_bytes());
        self.0.update(bytes);
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn graph(&mut self, graph: &Graph) -> Result<()> {
        self.text(&format!("{:?}", graph.values()));
        self.text(&format!("{:?}", (graph.inputs(), graph.outputs(), graph.captures())));
        for (id, constant) in graph.constants() {
            self.text(&format!("{id:?}"));
            self.constant(constant)?;
        }
        for node in graph.nodes() {
            self.text(&format!("{:?}", (&node.operator, node.version, &node.inputs, &node.outputs)));
            for attribute in &node.attributes {
                self.attribute(attribute)?;
            }
        }
        Ok(())
    }

    fn attribute(&mut self, attribute: &Attribute) -> Result<()> {
        self.text(&attribute.name);
        match &attribute.content {
            Content::Graph(graph) => self.graph(graph),
            Content::Graphs(all) => all.iter().try_for_each(|graph| self.graph(graph)),
            Content::Tensor(constant) => self.constant(constant),
            Content::Tensors(all) => all.iter().try_for_each(|constant| self.constant(constant)),
            other => {
                self.text(&format!("{other:?}"));
                Ok(())
            }
        }
    }

    fn constant(&mut self, constant: &Constant) -> Result<()> {
        self.tensor(&constant.tensor()?)
    }

    fn tensor(&mut self, tensor: &Tensor) -> Result<()> {
        self.text(&format!("{:?}", (tensor.dtype(), tensor.shape())));
        if let Some(bytes) = tensor.bytes() {
            self.bytes(bytes);
        } else {
            tensor.texts()?.iter().for_each(|text| self.text(text));
        }
        Ok(())
    }

    fn end(self) -> String {
        self.0.finalize().iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}
