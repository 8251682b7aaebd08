//! A model that is added to another.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use gradus_core::{Error, Kind, Result};

use super::inputs::name_of;
use super::text_of;
use crate::Splice;
use crate::onnx::fields::{function_proto, graph_proto, model_proto};
use crate::wire::{ByteSpan, Field};

/// The parts of a model that is added to another.
#[derive(Clone, Debug, Default)]
pub struct Joint {
    /// Fields of its graph.
    pub(super) graph: Splice,
    /// Its functions.
    pub(super) functions: Splice,
}

impl Joint {
    /// Returns true if nothing is added.
    pub fn is_empty(&self) -> bool {
        self.graph.is_empty() && self.functions.is_empty()
    }

    /// The parts of the model in `bytes` that `first` lacks: without the inputs and constants of
    /// the names in `known`, and without functions that both have.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] if the models have different functions of one name; as
    /// [`super::super::read_model`].
    pub fn of(bytes: &Bytes, first: &Bytes, known: &HashSet<String>) -> Result<Joint> {
        let mut functions = HashMap::new();
        for field in ByteSpan::of(first).fields() {
            let field = field?;
            if field.number == model_proto::FUNCTIONS {
                let span = field.span()?;
                functions.insert(function_name(span)?, span.bytes());
            }
        }
        let mut joint = Joint::default();
        let share = |to: &mut Splice, field: &Field<'_>| to.share(bytes.slice(field.start..field.end));
        for field in ByteSpan::of(bytes).fields() {
            let field = field?;
            match field.number {
                model_proto::GRAPH => {
                    for part in field.span()?.fields() {
                        let part = part?;
                        let is_own = match part.number {
                            graph_proto::NAME | graph_proto::DOC_STRING | graph_proto::METADATA_PROPS => {
                                false
                            }
                            _ => name_of(&part)?.is_none_or(|name| !known.contains(name)),
                        };
                        if is_own {
                            share(&mut joint.graph, &part);
                        }
                    }
                }
                model_proto::FUNCTIONS => {
                    let span = field.span()?;
                    let name = function_name(span)?;
                    match functions.get(&name) {
                        None => share(&mut joint.functions, &field),
                        Some(same) if *same == span.bytes() => {}
                        Some(_) => {
                            let [domain, name, _] = name;
                            let message = format!(
                                "cannot join: both models have a function \"{domain}.{name}\", and they differ"
                            );
                            return Err(Error::new(Kind::Unsupported, message));
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(joint)
    }
}

/// The domain, the name and the overload of a function.
fn function_name(span: ByteSpan<'_>) -> Result<[&str; 3]> {
    Ok([
        text_of(span, function_proto::DOMAIN)?,
        text_of(span, function_proto::NAME)?,
        text_of(span, function_proto::OVERLOAD)?,
    ])
}
