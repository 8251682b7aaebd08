//! Changes of a main graph besides its nodes: its inputs and outputs, and the parts that name
//! values.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use gradus_core::Result;
use gradus_core::graph::edit::Renames;
use gradus_core::graph::{Graph, ValueId};

use super::values::info;
use super::{encode, text_of};
use crate::Splice;
use crate::onnx::fields::{graph_proto, string_string_entry_proto, tensor_annotation};
use crate::wire::{ByteSpan, Field};

/// Inputs and outputs of a main graph that stand elsewhere than in the file.
#[derive(Default)]
pub(super) struct MovedPorts {
    /// By number of the field: all of them, until they are written.
    lists: Vec<(u32, Option<Splice>)>,
    ids: HashSet<ValueId>,
}

impl MovedPorts {
    /// Returns true if a value is one of them.
    pub(super) fn has(&self, id: ValueId) -> bool {
        self.ids.contains(&id)
    }

    /// The list for the first field of a number, and nothing for the others; `None` if its inputs
    /// or outputs stand where they did.
    pub(super) fn take(&mut self, number: u32) -> Option<Splice> {
        let (_, list) = self.lists.iter_mut().find(|(other, _)| *other == number)?;
        Some(list.take().unwrap_or_default())
    }

    /// The lists that the file has no field of.
    pub(super) fn rest(self) -> impl Iterator<Item = (u32, Splice)> {
        self.lists.into_iter().filter_map(|(number, list)| Some((number, list?)))
    }
}

/// The names of a main graph before and after an edit of its inputs, outputs and names.
pub(super) struct NewNames<'a> {
    new: &'a Renames,
    old: HashMap<&'a str, &'a Arc<str>>,
}

impl<'a> NewNames<'a> {
    /// The names where those of `new` have others.
    pub(super) fn new(new: &'a Renames) -> NewNames<'a> {
        NewNames { new, old: new.iter().map(|(old, new)| (&**new, old)).collect() }
    }

    /// The name after the edit.
    pub(super) fn after<'n>(&'n self, name: &'n str) -> &'n str {
        self.new.get(name).map_or(name, |new| new)
    }

    /// The name before the edit.
    fn before<'n>(&'n self, name: &'n str) -> &'n str {
        self.old.get(name).map_or(name, |old| old)
    }

    /// The inputs and outputs that stand elsewhere than in the file.
    pub(super) fn moved(&self, span: ByteSpan<'_>, [before, after]: [&Graph; 2]) -> Result<MovedPorts> {
        let mut moved = MovedPorts::default();
        let lists = [
            (graph_proto::INPUT, [before.inputs(), after.inputs()]),
            (graph_proto::OUTPUT, [before.outputs(), after.outputs()]),
        ];
        for (number, ports) in lists {
            let fields: Result<Vec<_>> =
                span.fields().filter(|field| field.as_ref().map_or(true, |of| of.number == number)).collect();
            if let Some(list) = self.ports(&fields?, [before, after], ports, number)? {
                moved.lists.push((number, Some(list)));
                moved.ids.extend(ports[1]);
            }
        }
        Ok(moved)
    }

    /// The inputs or the outputs as they will be written, in their order; nothing if each stands at
    /// the place of the one that the file has.
    fn ports(
        &self,
        fields: &[Field<'_>],
        graphs: [&Graph; 2],
        ports: [&[ValueId]; 2],
        number: u32,
    ) -> Result<Option<Splice>> {
        let [before, after] = graphs;
        let mut free = vec![true; ports[0].len()];
        let of_file = ports[1].iter().map(|&id| {
            let name = self.before(&after.value(id).name);
            let is_it = |(&old, free): (&ValueId, &&mut bool)| **free && *before.value(old).name == *name;
            let (found, (_, free)) =
                ports[0].iter().zip(&mut free).enumerate().find(|(_, (old, free))| is_it((old, free)))?;
            *free = false;
            Some(found)
        });
        let of_file: Vec<_> = of_file.collect();
        let stays = |(at, found): (usize, &Option<usize>)| *found == Some(at);
        if ports[0].len() == ports[1].len() && of_file.iter().enumerate().all(stays) {
            return Ok(None);
        }
        let mut out = Splice::default();
        for (&id, found) in ports[1].iter().zip(of_file) {
            let value = after.value(id);
            let field = found.and_then(|found| Some((fields.get(found)?, ports[0].get(found)?)));
            match field {
                Some((field, &old)) => info(&mut out, field, Some(before.value(old)), value, false)?,
                None => out.write(|out| {
                    encode::message(out, number, |out| {
                        encode::value_info(out, &value.name, value.declared.as_ref());
                    });
                }),
            }
        }
        Ok(Some(out))
    }

    /// The quantization annotation of a value, with its names after the edit; nothing of a value
    /// that is no more.
    pub(super) fn annotation(
        &self,
        out: &mut Splice,
        field: &Field<'_>,
        is_value: impl Fn(&str) -> bool,
    ) -> Result<()> {
        let span = field.span()?;
        let name = text_of(span, tensor_annotation::TENSOR_NAME)?;
        if !is_value(self.after(name)) {
            return Ok(());
        }
        let mut content = Splice::default();
        for part in span.fields() {
            let part = part?;
            match part.number {
                tensor_annotation::TENSOR_NAME => content.write(|out| {
                    encode::bytes(out, part.number, self.after(name).as_bytes());
                }),
                tensor_annotation::QUANT_PARAMETER_TENSOR_NAMES => {
                    self.entry(&mut content, &part)?;
                }
                _ => content.copy(part.start..part.end),
            }
        }
        out.message(field.number, &content);
        Ok(())
    }

    /// An entry whose value is a name.
    fn entry(&self, out: &mut Splice, field: &Field<'_>) -> Result<()> {
        let span: ByteSpan<'_> = field.span()?;
        let name = text_of(span, string_string_entry_proto::VALUE)?;
        let key = text_of(span, string_string_entry_proto::KEY)?;
        let new = self.after(name);
        if new == name {
            out.copy(field.start..field.end);
        } else {
            out.write(|out| encode::message(out, field.number, |out| encode::entry(out, key, new)));
        }
        Ok(())
    }
}
