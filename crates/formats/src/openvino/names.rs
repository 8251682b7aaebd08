//! Names of values.

use std::collections::HashSet;

use gradus_core::graph::{Builder, ValueId};

use super::model::{OutputPort, XmlNode};

/// Names, separated by commas; a comma within one has a backslash. Other backslashes are as they
/// are.
pub(super) fn list_of_names(list: &str) -> Vec<Box<str>> {
    let mut names = vec![String::new()];
    let mut chars = list.chars();
    while let Some(c) = chars.next() {
        let Some(name) = names.last_mut() else { continue };
        match c {
            ',' => names.push(String::new()),
            '\\' => match chars.next() {
                Some(',') => name.push(','),
                next => name.extend([Some(c), next].into_iter().flatten()),
            },
            c => name.push(c),
        }
    }
    names.into_iter().filter(|name| !name.is_empty()).map(Into::into).collect()
}

/// The names of values, unique in a graph: files may give one name to several, and then it is that
/// of the first; names of tensors come before those of layers.
#[derive(Default)]
pub(super) struct LayerNames {
    taken: HashSet<Box<str>>,
    /// Names that values have by their layers, and a name that no other has.
    layers: Vec<(ValueId, String, String)>,
    /// Outputs, and the names that they are asked for by.
    pub(super) outputs: Vec<(ValueId, Box<str>)>,
}

impl LayerNames {
    /// Gives a value the names and the type of its port. A layer with one output lends its own
    /// name.
    pub(super) fn describe(
        &mut self,
        builder: &mut Builder,
        value: ValueId,
        layer: XmlNode<'_>,
        ports: &[OutputPort<'_>],
        index: usize,
    ) {
        let Some(port) = ports.get(index) else { return };
        let layer_name = layer.attribute("name").unwrap_or_default();
        let own = if ports.len() == 1 { layer_name.to_owned() } else { format!("{layer_name}.{index}") };
        let unique = format!("{own}#{}:{}", layer.attribute("id").unwrap_or_default(), port.id);
        self.layers.push((value, own, unique));
        let info = builder.info(value);
        info.aliases = port.names.iter().filter(|name| self.taken.insert((*name).clone())).cloned().collect();
        // Files sort names by the alphabet; an input is known by the name of its layer.
        if layer.attribute("type") == Some("Parameter")
            && let Some(place) = info.aliases.iter().position(|name| **name == *layer_name)
        {
            info.aliases.swap(0, place);
        }
        info.declared = Some(port.declared.clone());
    }

    /// Calls all values by their names.
    pub(super) fn give(mut self, builder: &mut Builder) {
        for (value, own, mut unique) in std::mem::take(&mut self.layers) {
            let info = builder.info(value);
            if !own.is_empty() && self.taken.insert((&*own).into()) {
                info.aliases.push(own.into());
            }
            while info.aliases.is_empty() {
                if self.taken.insert((&*unique).into()) {
                    info.aliases.push((&*unique).into());
                }
                unique.push('#');
            }
            info.name = (&*info.aliases.remove(0)).into();
        }
        for (value, name) in self.outputs {
            let info = builder.info(value);
            if let Some(place) = info.aliases.iter().position(|alias| *alias == name) {
                info.aliases.remove(place);
                let old = std::mem::replace(&mut info.name, (&*name).into());
                info.aliases.push((&*old).into());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_separated_by_commas_that_have_no_backslash() {
        let cases: [(&str, &[&str]); 4] = [
            ("", &[]),
            ("a,b", &["a", "b"]),
            ("a\\,b,,c", &["a,b", "c"]),
            ("a\\\\,b\\c", &["a\\\\", "b\\c"]),
        ];
        for (list, names) in cases {
            let read = list_of_names(list);
            assert_eq!(read.iter().map(AsRef::as_ref).collect::<Vec<_>>(), names, "{list}");
        }
    }
}
