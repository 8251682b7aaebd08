//! Forms of files: each reads bytes as a tree, and writes a tree, changed or not, as bytes.

use std::io::{Cursor, Read, Write};

use crate::tree::{Field, Tree};

/// A form of files.
pub trait Form: Sync {
    /// The tree of a file, unless it is none of the form.
    fn read(&self, bytes: &[u8]) -> Option<Tree>;
    fn write(&self, tree: &Tree) -> Vec<u8>;
}

/// Deepest message that is read as one.
const DEEPEST: usize = 24;

/// Messages of protobuf, whose fields are known by number only: a field of bytes that reads as a
/// message is one.
pub struct Protobuf;

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 127) << shift;
        if byte < 128 {
            return Some(value);
        }
    }
    None
}

fn write_varint(out: &mut Vec<u8>, mut value: u64) {
    while value > 127 {
        out.push(value.to_le_bytes()[0] | 128);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

fn split<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (part, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(part)
}

fn message(mut bytes: &[u8], depth: usize) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let start = bytes;
        let key = varint(&mut bytes)?;
        let label = &start[..start.len() - bytes.len()];
        let tree = match key & 7 {
            0 => Tree::Number(varint(&mut bytes)?),
            1 => Tree::Raw(split(&mut bytes, 8)?.into()),
            5 => Tree::Raw(split(&mut bytes, 4)?.into()),
            2 => {
                let count = usize::try_from(varint(&mut bytes)?).ok()?;
                let part = split(&mut bytes, count)?;
                let within = (depth < DEEPEST && part.len() > 1).then(|| message(part, depth + 1)).flatten();
                within.map_or(Tree::Bytes(part.into()), |fields| Tree::Node('m', fields))
            }
            _ => return None,
        };
        if key >> 3 == 0 {
            return None;
        }
        fields.push(Field::new(label, tree));
    }
    Some(fields)
}

fn write_message(fields: &[Field]) -> Vec<u8> {
    let mut out = Vec::new();
    for Field { label, tree } in fields {
        let kind = label.first().map_or(0, |first| first & 7);
        let part = match (kind, tree) {
            (0, Tree::Number(value)) => {
                out.extend(label);
                write_varint(&mut out, *value);
                continue;
            }
            (1 | 5, Tree::Raw(bytes)) => {
                let room = if kind == 1 { 8 } else { 4 };
                out.extend(label);
                out.extend(bytes.iter().copied().chain(std::iter::repeat(0)).take(room));
                continue;
            }
            (2, Tree::Bytes(bytes)) => bytes,
            (2, Tree::Node(_, fields)) => &write_message(fields),
            // Another kind of value under this number, which no reader expects.
            _ => continue,
        };
        out.extend(label);
        write_varint(&mut out, u64::try_from(part.len()).unwrap_or(0));
        out.extend(part);
    }
    out
}

impl Form for Protobuf {
    fn read(&self, bytes: &[u8]) -> Option<Tree> {
        message(bytes, 0).map(|fields| Tree::Node('m', fields))
    }

    fn write(&self, tree: &Tree) -> Vec<u8> {
        write_message(tree.fields())
    }
}

/// XML: attributes are fields whose labels begin with `@`, texts have the label `#`.
pub struct Xml;

fn element(node: roxmltree::Node) -> Field {
    let attribute = |attribute: roxmltree::Attribute| {
        Field::new(format!("@{}", attribute.name()), Tree::Bytes(attribute.value().into()))
    };
    let child = |child: roxmltree::Node| match child.text() {
        Some(text) if child.is_text() && !text.trim().is_empty() => {
            Some(Field::new("#", Tree::Bytes(text.into())))
        }
        _ => child.is_element().then(|| element(child)),
    };
    let fields = node.attributes().map(attribute).chain(node.children().filter_map(child)).collect();
    Field::new(node.tag_name().name(), Tree::Node('e', fields))
}

fn escaped(bytes: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(bytes).chars().filter(|&c| c >= ' ' || c == '\n').collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

fn write_element(out: &mut String, Field { label, tree }: &Field) {
    let name = String::from_utf8_lossy(label);
    match tree {
        Tree::Node(_, fields) => {
            out.push_str(&format!("<{name}"));
            let mut seen = Vec::new();
            for Field { label, tree } in fields {
                if let (Some(b'@'), Tree::Bytes(value), false) = (label.first(), tree, seen.contains(&label))
                {
                    seen.push(label);
                    let name = String::from_utf8_lossy(&label[1..]);
                    out.push_str(&format!(" {name}=\"{}\"", escaped(value)));
                }
            }
            out.push('>');
            fields.iter().for_each(|field| write_element(out, field));
            out.push_str(&format!("</{name}>"));
        }
        Tree::Bytes(text) if name == "#" => out.push_str(&escaped(text)),
        _ => {}
    }
}

impl Form for Xml {
    fn read(&self, bytes: &[u8]) -> Option<Tree> {
        let text = std::str::from_utf8(bytes).ok()?;
        let document = roxmltree::Document::parse(text).ok()?;
        Some(Tree::Node('d', vec![element(document.root_element())]))
    }

    fn write(&self, tree: &Tree) -> Vec<u8> {
        let mut out = String::new();
        tree.fields().iter().take(1).for_each(|field| write_element(&mut out, field));
        out.into_bytes()
    }
}

/// JSON: items of arrays have empty labels.
pub struct Json;

fn json(value: &serde_json::Value) -> Tree {
    match value {
        serde_json::Value::String(text) => Tree::Bytes(text.clone().into()),
        serde_json::Value::Array(items) => {
            Tree::Node('a', items.iter().map(|item| Field::new("", json(item))).collect())
        }
        serde_json::Value::Object(items) => {
            Tree::Node('o', items.iter().map(|(key, item)| Field::new(key.as_str(), json(item))).collect())
        }
        other => match other.as_i64() {
            Some(number) => Tree::Number(number.cast_unsigned()),
            None => Tree::Raw(other.to_string().into()),
        },
    }
}

fn value(tree: &Tree) -> serde_json::Value {
    match tree {
        Tree::Bytes(text) => String::from_utf8_lossy(text).into(),
        Tree::Number(number) => number.cast_signed().into(),
        Tree::Raw(text) => serde_json::from_slice(text).unwrap_or_default(),
        Tree::Node('a', items) => items.iter().map(|item| value(&item.tree)).collect(),
        Tree::Node(_, items) => {
            let item = |item: &Field| (String::from_utf8_lossy(&item.label).into_owned(), value(&item.tree));
            serde_json::Value::Object(items.iter().map(item).collect())
        }
    }
}

impl Form for Json {
    fn read(&self, bytes: &[u8]) -> Option<Tree> {
        Some(json(&serde_json::from_slice(bytes).ok()?))
    }

    fn write(&self, tree: &Tree) -> Vec<u8> {
        value(tree).to_string().into()
    }
}

/// Arrays of NumPy: the items of the header, then the elements.
pub struct Npy;

/// Bytes of the magic number, the version and the length of a header.
const PREFIX: usize = 10;

impl Form for Npy {
    fn read(&self, bytes: &[u8]) -> Option<Tree> {
        let (prefix, rest) = bytes.split_at_checked(PREFIX)?;
        if !prefix.starts_with(b"\x93NUMPY\x01") {
            return None;
        }
        let (header, elements) = rest.split_at_checked(u16::from_le_bytes([prefix[8], prefix[9]]).into())?;
        let header = std::str::from_utf8(header).ok()?.trim();
        let items = header.strip_prefix('{')?.strip_suffix('}')?.split_inclusive(", '");
        let mut fields: Vec<_> = items.map(|item| Field::new("item", Tree::Bytes(item.into()))).collect();
        fields.push(Field::new("elements", Tree::Bytes(elements.into())));
        Some(Tree::Node('n', fields))
    }

    fn write(&self, tree: &Tree) -> Vec<u8> {
        let part = |label: &str| {
            let found = tree.fields().iter().filter(|field| field.label == label.as_bytes());
            let bytes =
                |field: &Field| if let Tree::Bytes(bytes) = &field.tree { bytes.clone() } else { vec![] };
            found.flat_map(bytes).collect::<Vec<_>>()
        };
        let header = [b"{", &part("item")[..], b"}"].concat();
        let mut out = b"\x93NUMPY\x01\x00".to_vec();
        out.extend(u16::try_from(header.len()).unwrap_or(u16::MAX).to_le_bytes());
        out.extend(header);
        out.extend(part("elements"));
        out
    }
}

/// Archives of arrays.
pub struct Npz;

/// Maximum number of bytes of an entry that is read as an array.
const MOST: u64 = 1 << 16;

impl Form for Npz {
    fn read(&self, bytes: &[u8]) -> Option<Tree> {
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).ok()?;
        let mut fields = Vec::new();
        for index in 0..archive.len().min(16) {
            let entry = archive.by_index(index).ok()?;
            let name = entry.name().ok()?.into_owned();
            let mut content = Vec::new();
            entry.take(MOST).read_to_end(&mut content).ok()?;
            fields.push(Field::new(name, Npy.read(&content).unwrap_or(Tree::Bytes(content))));
        }
        Some(Tree::Node('z', fields))
    }

    fn write(&self, tree: &Tree) -> Vec<u8> {
        let mut out = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for Field { label, tree } in tree.fields() {
            let options =
                zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
            let content = if let Tree::Bytes(bytes) = tree { bytes.clone() } else { Npy.write(tree) };
            // A name that is there already is left out.
            if out.start_file(String::from_utf8_lossy(label), options).is_ok() {
                let _ = out.write_all(&content);
            }
        }
        out.finish().map(Cursor::into_inner).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_written_as_they_were_read() {
        let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/");
        let mut seen = 0;
        for entry in std::fs::read_dir(examples).unwrap().flatten() {
            let path = entry.path();
            let form: &dyn Form = match path.extension().and_then(|ending| ending.to_str()) {
                Some("onnx") => &Protobuf,
                Some("xml") => &Xml,
                Some("json") => &Json,
                Some("npy") => &Npy,
                _ => continue,
            };
            let bytes = std::fs::read(&path).unwrap();
            let tree = form.read(&bytes).unwrap();
            assert_eq!(form.read(&form.write(&tree)), Some(tree), "{}", path.display());
            seen += 1;
        }
        assert!(seen > 2, "{seen} examples");
        let npz = Tree::Node('z', vec![Field::new("a.npy", Tree::Bytes(b"x".into()))]);
        assert_eq!(Npz.read(&Npz.write(&npz)), Some(npz));
    }
}
