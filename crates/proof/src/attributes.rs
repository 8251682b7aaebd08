//! Attributes of a node as what equal ones alone have: in the newest form, floats by their bits.

use std::sync::Arc;

use bytes::Bytes;
use gradus_core::graph::Content;
use gradus_core::sort::SharedSort;
use gradus_engine::attributes::Attributes;
pub use gradus_engine::keys::ContentKey;
use gradus_engine::normalize::Change;
use gradus_engine::operators::Row;
use gradus_engine::schema::DefaultContent;

/// The attributes of a node, by name.
pub type AttributesKey = Vec<(Arc<str>, ContentKey)>;

/// The attributes of a node apart from graphs, sorted by name; nothing if one cannot be compared.
pub fn key(attributes: &Attributes<'_>) -> Option<AttributesKey> {
    let mut all = AttributesKey::new();
    for (name, content) in attributes.newest() {
        if !matches!(content, Content::Graph(_) | Content::Graphs(_)) {
            all.push((name.into(), ContentKey::of(content)?));
        }
    }
    for (change, _) in attributes.form().changes() {
        match change {
            // Attributes that became inputs are among the arguments.
            Change::Default(name, content) | Change::Lacks(name, content)
                if attributes.get(name).is_none_or(|own| std::ptr::eq(own, content)) =>
            {
                let is_input = attributes
                    .form()
                    .changes()
                    .any(|(other, _)| matches!(other, Change::Input(_, input) if input == name));
                if !is_input {
                    all.push(((*name).into(), ContentKey::of(content)?));
                }
            }
            Change::Meaning(older) => all.push(("".into(), ContentKey::Older(format!("{older:?}")))),
            _ => {}
        }
    }
    all.shared_sort_by(|(a, _), (b, _)| a.cmp(b));
    all.dedup();
    Some(all)
}

/// Gives an attribute a value.
pub fn set(key: &mut AttributesKey, name: &str, content: ContentKey) {
    key.retain(|(own, _)| &**own != name);
    let at = key.partition_point(|(own, _)| &**own < name);
    key.insert(at, (name.into(), content));
}

/// An attribute.
pub fn get<'a>(key: &'a AttributesKey, name: &str) -> Option<&'a ContentKey> {
    key.iter().find(|(own, _)| &**own == name).map(|(_, content)| content)
}

/// An integer attribute.
pub fn int(key: &AttributesKey, name: &str) -> Option<i64> {
    if let ContentKey::Int(value) = get(key, name)? { Some(*value) } else { None }
}

/// Integers that are an attribute.
pub fn ints<'a>(key: &'a AttributesKey, name: &str) -> Option<&'a [i64]> {
    if let ContentKey::Ints(all) = get(key, name)? { Some(all) } else { None }
}

/// The content of an attribute that is not given, as the newest version of an operator says.
pub fn default_of(row: &Row, name: &str) -> Option<ContentKey> {
    let rule = row.signatures().last()?.attributes.iter().find(|rule| rule.name == name)?;
    Some(match rule.default? {
        DefaultContent::Int(value) => ContentKey::Int(value),
        DefaultContent::Float(value) => ContentKey::Float(value.to_bits()),
        DefaultContent::Text(text) => ContentKey::Text(Bytes::from_static(text.as_bytes())),
    })
}
