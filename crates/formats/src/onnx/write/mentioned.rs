//! Names of values referenced outside any graph, and other files that a model references.

use std::collections::HashSet;

use bytes::Bytes;
use gradus_core::Result;

use super::text_of;
use crate::onnx::fields::{
    attribute_proto, function_proto, graph_proto, model_proto, node_proto, sparse_tensor_proto,
    string_string_entry_proto, tensor_annotation, tensor_proto, training_info_proto,
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

/// The files beside the model that hold elements of its tensors, each once.
///
/// # Errors
/// As [`super::super::read_model`].
pub fn external_files(bytes: &Bytes) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for field in ByteSpan::of(bytes).fields() {
        let field = field?;
        match field.number {
            model_proto::GRAPH | model_proto::FUNCTIONS => in_graph(field.span()?, field.number, &mut found)?,
            _ => {}
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// The field of the nodes, which differs between graphs and functions.
fn in_graph(span: ByteSpan<'_>, kind: u32, found: &mut Vec<String>) -> Result<()> {
    let graph = kind != model_proto::FUNCTIONS;
    let node = if graph { graph_proto::NODE } else { function_proto::NODE };
    for field in span.fields() {
        let field = field?;
        match field.number {
            graph_proto::INITIALIZER if graph => in_tensor(field.span()?, found)?,
            graph_proto::SPARSE_INITIALIZER if graph => in_sparse(field.span()?, found)?,
            number if number == node => in_node(field.span()?, found)?,
            _ => {}
        }
    }
    Ok(())
}

fn in_node(span: ByteSpan<'_>, found: &mut Vec<String>) -> Result<()> {
    for field in span.fields() {
        let field = field?;
        if field.number != node_proto::ATTRIBUTE {
            continue;
        }
        for field in field.span()?.fields() {
            let field = field?;
            match field.number {
                attribute_proto::T | attribute_proto::TENSORS => in_tensor(field.span()?, found)?,
                attribute_proto::SPARSE_TENSOR | attribute_proto::SPARSE_TENSORS => {
                    in_sparse(field.span()?, found)?;
                }
                attribute_proto::G | attribute_proto::GRAPHS => {
                    in_graph(field.span()?, model_proto::GRAPH, found)?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}

fn in_sparse(span: ByteSpan<'_>, found: &mut Vec<String>) -> Result<()> {
    for field in span.fields() {
        let field = field?;
        if matches!(field.number, sparse_tensor_proto::VALUES | sparse_tensor_proto::INDICES) {
            in_tensor(field.span()?, found)?;
        }
    }
    Ok(())
}

fn in_tensor(span: ByteSpan<'_>, found: &mut Vec<String>) -> Result<()> {
    for field in span.fields() {
        let field = field?;
        if field.number == tensor_proto::EXTERNAL_DATA {
            let entry = field.span()?;
            if text_of(entry, string_string_entry_proto::KEY)? == "location" {
                found.push(text_of(entry, string_string_entry_proto::VALUE)?.to_owned());
            }
        }
    }
    Ok(())
}
