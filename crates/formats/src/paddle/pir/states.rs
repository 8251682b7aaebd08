//! States of values that operations write into, each of which gets a key of its own.

use std::collections::HashSet;

use gradus_core::Result;
use gradus_core::graph::Type;
use gradus_core::sort::SharedSort;

use super::super::json::{JsonOperation, JsonOutput, Raw};
use super::{PirReader, key, name_of};

impl<'a> PirReader<'a, '_> {
    /// The value, which operations may write into, that a value of PIR stands for.
    pub(super) fn array(&self, id: i64) -> i64 {
        self.arrays.get(&id).copied().unwrap_or(id)
    }

    /// The key of the present state of a value.
    pub(super) fn state(&self, array: i64) -> String {
        let keys = self.values.get(&array).and_then(|keys| keys.first());
        keys.cloned().unwrap_or_else(|| key(array))
    }

    /// A key for the next state of a value.
    pub(super) fn next_state(&mut self, array: i64) -> String {
        self.states += 1;
        let key = format!("{}#{}", key(array), self.states);
        self.values.insert(array, vec![key.clone()]);
        key
    }

    /// Notes what an operation writes into, and adds to the keys of its outputs those of the
    /// states that it writes.
    pub(super) fn note_states(
        &mut self,
        name: &str,
        inputs: &[Option<String>],
        outputs: &[JsonOutput<'a>],
        written: &[i64],
        keys: &mut Vec<(String, Option<Type>)>,
    ) {
        match (name, inputs, written, keys.first_mut()) {
            ("array_length", [Some(array)], ..) => {
                self.lengths.extend(keys.first().map(|(key, _)| (key.clone(), array.clone())));
            }
            (_, _, &[array], Some(first)) if written_input(name).is_some() => {
                // The first output is what is written into.
                self.arrays.extend(outputs.first().map(|output| (output.id, array)));
                first.0 = self.next_state(array);
            }
            ("if" | "while", ..) => {
                keys.extend(written.iter().map(|&array| (self.next_state(array), None)));
            }
            _ => {}
        }
    }

    /// The values around these regions that operations within them write into, in order.
    pub(super) fn written(&self, regions: &[Raw<'a>], depth: usize) -> Result<Vec<i64>> {
        let (mut all, mut within) = (Vec::new(), HashSet::new());
        let mut open: Vec<_> = regions.iter().map(|&region| (region, depth + 1)).collect();
        while let Some((region, depth)) = open.pop() {
            if depth > self.limits.max_depth {
                break;
            }
            let block = self.block(region)?;
            within.extend(block.args.iter().map(|argument| argument.id));
            for raw in block.ops {
                let operation: JsonOperation<'a> = self.text.read(raw, "an operation")?;
                open.extend(operation.regions.iter().map(|&region| (region, depth + 1)));
                let into = written_input(name_of(&operation.name).1);
                all.extend(
                    into.and_then(|input| operation.inputs.get(input)).map(|input| self.array(input.id)),
                );
                let outputs = operation.outputs.filter(|_| operation.name != "p");
                let outputs: Vec<JsonOutput<'a>> =
                    outputs.map_or(Ok(Vec::new()), |raw| self.text.read(raw, "a list of outputs"))?;
                within.extend(outputs.iter().map(|output| output.id));
            }
        }
        all.retain(|id| !within.contains(id));
        all.shared_sort();
        all.dedup();
        Ok(all)
    }
}

/// The input that an operation writes into.
pub(super) fn written_input(name: &str) -> Option<usize> {
    match name {
        "array_pop" | "array_write_" | "assign_value_" | "increment_" => Some(0),
        "assign_out_" => Some(1),
        _ => None,
    }
}
