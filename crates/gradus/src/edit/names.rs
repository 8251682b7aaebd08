//! Other names of values and of symbols.

use gradus_core::graph::DeclaredDim;
use gradus_core::graph::edit::Renames;

use super::apply::{counted, has_value, part, quoted};
use super::{Editor, Error, Graph, Kind, Result};
use crate::declare::graph_at;
use gradus_engine::infer::symbols_of_inputs;
use std::collections::BTreeMap;

impl Editor {
    /// Gives a value of the main graph another name, wherever the model has it.
    pub(super) fn rename(&mut self, old: &str, new: &str) -> Result<()> {
        let id = self.now.value(old)?;
        let fail = |why: &str| {
            let message = format!("cannot rename {} to {}: {why}", quoted(old), quoted(new));
            Err(Error::new(Kind::Usage, message))
        };
        if new.is_empty() {
            return fail("a name has at least one character");
        }
        if has_value(self.graph(), new) {
            return fail("another value has that name");
        }
        if self.original.is_in_training(old)? {
            return fail("the training information of the model mentions the value");
        }
        let what = part(self.graph(), id);
        let names = Renames::from([(old.into(), new.into())]);
        self.change_names(&self.keeping(), &names)?;
        let mut source = self.now.source().clone();
        let mut followed = Vec::new();
        for (key, value) in source.metadata.iter_mut().filter(|(_, value)| value == old) {
            new.clone_into(value);
            followed.push(quoted(key));
        }
        if !followed.is_empty() {
            self.now = self.now.with_source(source);
        }
        let followed = match followed.as_slice() {
            [] => String::new(),
            all => format!(", in metadata {} too", all.join(", ")),
        };
        self.note(format_args!("renamed {what} {} to {}{followed}", quoted(old), quoted(new)));
        Ok(())
    }

    /// Gives a symbol of sizes another name, wherever a type is declared.
    pub(super) fn rename_dim(&mut self, old: &str, new: &str) -> Result<()> {
        self.must_be_onnx("rename a dimension")?;
        let known = symbols_of_inputs(self.graph(), &BTreeMap::new());
        if !known.contains(old) {
            return Err(Error::unknown("dimension", old, known.iter().map(String::as_str)));
        }
        if known.contains(new) || !is_name(new) {
            let why = if is_name(new) { "another dimension has that name" } else { "it is no name" };
            let message = format!("cannot rename dimension {} to {}: {why}", quoted(old), quoted(new));
            return Err(Error::new(Kind::Usage, message));
        }
        let mut source = self.now.source().clone();
        let mut count = 0;
        rename_in(&mut source.graph, old, new, &mut count);
        for function in &mut source.functions {
            rename_in(&mut function.body, old, new, &mut count);
        }
        self.now = self.now.with_source(source);
        let (old, new) = (quoted(old), quoted(new));
        let types = counted(count, "declared type");
        self.note(format_args!("renamed dimension {old} to {new} in {types}"));
        Ok(())
    }
}

/// Renames a symbol in all types that a graph and those within declare.
fn rename_in(graph: &mut Graph, old: &str, new: &str, count: &mut usize) {
    let before = graph.clone();
    graph.declare(&mut |place, id| {
        let mut of = graph_at(&before, place)?.value(id).declared.clone()?;
        let declared = of.clone();
        of.replace_symbols(&|text| DeclaredDim::Symbol(renamed(text, old, new).into()));
        (of != declared).then(|| {
            *count += 1;
            of
        })
    });
}

/// An expression in which a name is another.
fn renamed(text: &str, old: &str, new: &str) -> String {
    if text == old {
        return new.to_owned();
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_of_name) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|char| !is_of_name(char)).unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        out.push_str(before);
        out.push_str(if word == old { new } else { word });
        rest = after;
    }
    out + rest
}

fn is_of_name(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '.')
}

/// Returns true for a name that expressions of sizes may have.
fn is_name(text: &str) -> bool {
    text.chars().all(is_of_name) && text.starts_with(|char: char| char.is_alphabetic() || char == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_is_renamed_in_expressions_and_nowhere_else() {
        for (text, wanted) in [
            ("s3", "batch"),
            ("2*s3 + s33", "2*batch + s33"),
            ("(s3+1)//2", "(batch+1)//2"),
            ("s3s", "s3s"),
            ("floor(s3/2)*s3", "floor(batch/2)*batch"),
        ] {
            assert_eq!(renamed(text, "s3", "batch"), wanted);
        }
        assert_eq!(renamed("unk dim 0", "unk dim 0", "n"), "n");
        assert!(is_name("batch.size_1") && !is_name("2b") && !is_name("a+b") && !is_name(""));
    }
}
