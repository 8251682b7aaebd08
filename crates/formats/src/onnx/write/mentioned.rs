//! Names of values referenced outside any graph.

use std::collections::HashSet;

use bytes::Bytes;
use gradus_core::Result;

use super::text_of;
use crate::onnx::fields::{
    graph_proto, model_proto, node_proto, string_string_entry_proto, tensor_annotation, training_info_proto,
};
use crate::wire::ByteSpan;

/// Names of values of the main graph that quantization annotations and training information
/// mention.
///
/// # Errors
/// As [`super::super::read_model`].
pub fn mentioned(bytes: &Bytes) -> Result<HashSet<String>> {
    let mut names = HashSet::new();
    for field in ByteSpan::of(bytes).fields() {
        let field = field?;
        match field.number {
            model_proto::GRAPH => annotations(field.span()?, &mut names)?,
            model_proto::TRAINING_INFO => training(field.span()?, &mut names)?,
            _ => {}
        }
    }
    Ok(names)
}

/// Names of values of the main graph that training information mentions.
///
/// # Errors
/// As [`super::super::read_model`].
pub fn mentioned_in_training(bytes: &Bytes) -> Result<HashSet<String>> {
    let mut names = HashSet::new();
    for field in ByteSpan::of(bytes).fields() {
        let field = field?;
        if field.number == model_proto::TRAINING_INFO {
            training(field.span()?, &mut names)?;
        }
    }
    Ok(names)
}

fn annotations(graph: ByteSpan<'_>, names: &mut HashSet<String>) -> Result<()> {
    for field in graph.fields() {
        let field = field?;
        if field.number != graph_proto::QUANTIZATION_ANNOTATION {
            continue;
        }
        for field in field.span()?.fields() {
            let field = field?;
            match field.number {
                tensor_annotation::TENSOR_NAME => _ = names.insert(field.text()?.to_owned()),
                tensor_annotation::QUANT_PARAMETER_TENSOR_NAMES => {
                    names.insert(text_of(field.span()?, string_string_entry_proto::VALUE)?.to_owned());
                }
                _ => {}
            }
        }
    }
    Ok(())
}

fn training(info: ByteSpan<'_>, names: &mut HashSet<String>) -> Result<()> {
    for field in info.fields() {
        let field = field?;
        match field.number {
            training_info_proto::INITIALIZATION | training_info_proto::ALGORITHM => {
                for node in field.span()?.fields() {
                    let node = node?;
                    if node.number != graph_proto::NODE {
                        continue;
                    }
                    for name in node.span()?.fields() {
                        let name = name?;
                        if name.number == node_proto::INPUT {
                            names.insert(name.text()?.to_owned());
                        }
                    }
                }
            }
            training_info_proto::INITIALIZATION_BINDING | training_info_proto::UPDATE_BINDING => {
                let entry = field.span()?;
                names.insert(text_of(entry, string_string_entry_proto::KEY)?.to_owned());
                names.insert(text_of(entry, string_string_entry_proto::VALUE)?.to_owned());
            }
            _ => {}
        }
    }
    Ok(())
}
