//! Operators of old programs under the names that PIR gives them (`names.rs`).

use std::sync::Arc;

use gradus_core::graph::{Attribute, Content, Type};
use gradus_core::{DType, Result};

use super::{BlockScope, DescReader, OpDesc, VERSION_3, current};
use crate::paddle::names::{Argument, Renamed};
use crate::paddle::types::dtype_of;

impl<'a> DescReader<'a, '_> {
    /// An operator under the name that PIR has for it.
    pub(super) fn rename(
        &mut self,
        scope: &mut BlockScope,
        operation: &OpDesc<'a>,
        row: &Renamed,
    ) -> Result<()> {
        let mut inputs = Vec::new();
        let mut attributes = Vec::new();
        for slot in row.inputs() {
            match slot {
                Argument::Of(name) => {
                    let values = operation.values(name);
                    inputs.extend(values.iter().map(|name| Some(current(scope, name))));
                    if values.is_empty() {
                        inputs.push(None);
                    }
                }
                Argument::List(each, all, attribute, name) => {
                    let (each, all) = (operation.values(each), operation.values(all).first());
                    inputs.push(match (each, all) {
                        ([], Some(all)) => Some(current(scope, all)),
                        ([], None) => {
                            let content = operation.attribute(attribute).cloned();
                            attributes
                                .extend(content.map(|content| Attribute { name: name.into(), content }));
                            None
                        }
                        (each, _) => Some(self.joined(scope, operation, each)?),
                    });
                }
            }
        }
        let all = operation.attribute("reduce_all").is_some() && operation.int("reduce_all") == Some(1);
        for (old, new) in row.attributes().filter(|(_, new)| !(all && *new == "axis")) {
            let Some(content) = operation.attribute(old).and_then(|content| typed(new, content)) else {
                continue;
            };
            // An attribute for each element type, of which one is no empty list.
            match attributes.iter_mut().find(|attribute: &&mut Attribute| &*attribute.name == new) {
                None => attributes.push(Attribute { name: new.into(), content }),
                Some(first) if is_empty(&first.content) => first.content = content,
                Some(_) => {}
            }
        }
        if row.new == "strided_slice" && self.version < VERSION_3 {
            backwards_to_the_first(&mut attributes);
        }
        while inputs.last().is_some_and(Option::is_none) {
            inputs.pop();
        }
        // The parts of a split are alike unless sections give other sizes.
        let even = row.new == "split"
            && !matches!(operation.attribute("sections"), Some(Content::Ints(sections)) if !sections.is_empty());
        let of_array = || operation.values("Input").first().and_then(|name| self.types.get(name));
        let name = match row.new {
            _ if even => "split_with_num",
            "slice" if matches!(of_array(), Some(Type::Sequence(_))) => "slice_array_dense",
            name => name,
        };
        let mut outputs = Vec::new();
        for wanted in row.outputs() {
            let slots = operation.outputs.iter().filter(|(slot, _)| *slot == wanted);
            outputs.extend(slots.flat_map(|(_, values)| values.iter().copied()));
        }
        self.node(scope, operation.span, ("", name), &inputs, &outputs, attributes)?;
        if let ("array_length", [Some(array)], [length]) = (name, &inputs[..], &outputs[..]) {
            scope.lengths.insert(current(scope, length), array.clone());
        }
        Ok(())
    }

    /// One list of integers of tensors of one element each.
    pub(super) fn joined(
        &mut self,
        scope: &mut BlockScope,
        operation: &OpDesc<'a>,
        each: &[&'a str],
    ) -> Result<String> {
        let mut parts = Vec::with_capacity(each.len());
        for name in each {
            let flat = self.helper(
                scope,
                operation.span,
                "reshape",
                &[Some(current(scope, name))],
                "shape",
                Content::Ints([1].into()),
            )?;
            let long = Content::Bytes("int64".into());
            parts.push(Some(self.helper(scope, operation.span, "cast", &[Some(flat)], "dtype", long)?));
        }
        self.helper(scope, operation.span, "concat", &parts, "axis", Content::Int(0))
    }
}

/// Returns true if an attribute is a list of nothing.
fn is_empty(content: &Content) -> bool {
    match content {
        Content::Ints(values) => values.is_empty(),
        Content::Floats(values) => values.is_empty(),
        Content::Tensors(values) => values.is_empty(),
        _ => false,
    }
}

/// Writes ends of -1 of slices that go backwards as what they meant: before the first element.
fn backwards_to_the_first(attributes: &mut [Attribute]) {
    let strides = attributes.iter().find(|attribute| &*attribute.name == "strides");
    let Some(Content::Ints(strides)) = strides.map(|strides| strides.content.clone()) else { return };
    let ends = attributes.iter_mut().find(|attribute| &*attribute.name == "ends");
    if let Some(Content::Ints(ends)) = ends.map(|ends| &mut ends.content) {
        let both = Arc::make_mut(ends).iter_mut().zip(&*strides);
        for (end, _) in both.filter(|(end, stride)| **end == -1 && **stride < 0) {
            *end = i64::from(i32::MIN);
        }
    }
}

/// Returns true if PIR's operator means the same: it has all inputs.
pub(super) fn keeps_meaning(row: &Renamed, operation: &OpDesc<'_>) -> bool {
    row.without().all(|name| operation.values(name).is_empty())
}

/// The content of an attribute of PIR: element types are names there.
pub(super) fn typed(name: &str, content: &Content) -> Option<Content> {
    match content {
        Content::Int(number) if matches!(name, "dtype" | "out_dtype") => {
            dtype_of(*number).map(|dtype: DType| Content::Bytes(dtype.name().into()))
        }
        other => Some(other.clone()),
    }
}
