//! `FunctionProto`: operators that a model defines itself.

use gradus_core::graph::{Builder, Function, Node, OperatorId, Origin};
use gradus_core::{Kind, Result};

use super::fields::function_proto;
use super::model::{ModelReader, canonical_domain, read_opset};
use super::{attribute, graph};
use crate::wire::ByteSpan;

/// Reads `FunctionProto`.
pub(super) fn read(reader: &ModelReader, span: ByteSpan<'_>) -> Result<Function> {
    let (mut name, mut domain, mut overload) = ("", "", "");
    let (mut inputs, mut outputs, mut nodes, mut value_infos) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut opsets, mut attributes, mut defaults) = (Vec::new(), Vec::new(), Vec::new());
    for field in span.fields() {
        let field = field?;
        match field.number {
            function_proto::NAME => name = field.text()?,
            function_proto::DOMAIN => domain = canonical_domain(field.text()?),
            function_proto::OVERLOAD => overload = field.text()?,
            function_proto::INPUT => inputs.push(field.text()?),
            function_proto::OUTPUT => outputs.push(field.text()?),
            function_proto::NODE => nodes.push(field.span()?),
            function_proto::VALUE_INFO => value_infos.push(field.span()?),
            function_proto::OPSET_IMPORT => opsets.push(read_opset(field.span()?)?),
            function_proto::ATTRIBUTE => attributes.push((field.text()?.into(), None)),
            function_proto::ATTRIBUTE_PROTO => defaults.push(field.span()?),
            _ => {}
        }
    }
    if name.is_empty() {
        return Err(span.error(Kind::Syntax, "a function has no name"));
    }
    let label = format!("function \"{name}\"");
    let mut builder = Builder::new(name);
    let build = || {
        for input in inputs {
            reader.charge(span, size_of::<gradus_core::graph::ValueInfo>())?;
            builder.define(input, Origin::Input)?;
        }
        reader.charge(span, nodes.len().saturating_mul(size_of::<Node>()))?;
        graph::read_nodes(reader, &mut builder, nodes.into_iter().map(Ok), &opsets, 0)?;
        for span in value_infos {
            graph::declare(reader, &mut builder, span)?;
        }
        for output in outputs {
            builder.output(output);
        }
        for span in defaults {
            reader.charge(span, size_of::<gradus_core::graph::Attribute>())?;
            let default = attribute::read(reader, span, &opsets, 0)?;
            attributes.push((default.name.clone(), Some(default)));
        }
        let body = std::mem::take(&mut builder).finish()?;
        Ok(body)
    };
    let body = build().map_err(|error: gradus_core::Error| error.in_node(&label).at(span.position()))?;
    let id = OperatorId { domain: domain.into(), name: name.into(), overload: overload.into() };
    Ok(Function { id, attributes, body })
}
