//! Differences between attributes and between constants.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use bytes::Bytes;
use gradus_core::graph::{Attribute, Constant, Content, Function, Node, Port, Ports, Slices};
use gradus_core::{Result, Tensor, display};

use super::{Change, graphs, joined};

/// Elements of a constant that words say.
const FEW: usize = 16;
/// Items of a list, and letters of a text, that words say.
const ITEMS: usize = 16;
const LETTERS: usize = 80;

/// How the attributes of a function differ.
pub(super) fn parameters(functions: [&Function; 2]) -> Result<Vec<Change>> {
    let named = functions.map(|function| {
        let attributes = function.attributes.iter();
        attributes.map(|(name, default)| (&**name, default.as_ref())).collect::<BTreeMap<_, _>>()
    });
    let mut changes = Vec::new();
    for (name, [before, after]) in joined(named) {
        let name = format!("attribute {name}");
        let said = |default: Option<Option<&Attribute>>| {
            let text = |default: Option<&Attribute>| match default {
                Some(attribute) => attribute_text(&attribute.content),
                None => Ok("required".to_owned()),
            };
            default.map(text).transpose()
        };
        if let (Some(Some(before)), Some(Some(after))) = (before, after) {
            changes.extend(contents(&name, &before.content, &after.content)?);
        } else if !matches!((before, after), (Some(None), Some(None))) {
            changes.push(Change::new(name, said(before)?, said(after)?));
        }
    }
    Ok(changes)
}

/// How the attributes of two nodes differ, the graphs in them not compared where both have one.
pub(super) fn attributes(before: &[Attribute], after: &[Attribute]) -> Result<Vec<Change>> {
    let named = [before, after].map(|attributes| {
        attributes.iter().map(|attribute| (&*attribute.name, &attribute.content)).collect::<BTreeMap<_, _>>()
    });
    let mut changes = Vec::new();
    for (name, [before, after]) in joined(named) {
        let name = format!("attribute {name}");
        if let (Some(before), Some(after)) = (before, after) {
            changes.extend(contents(&name, before, after)?);
        } else {
            changes.push(Change::new(
                name,
                before.map(attribute_text).transpose()?,
                after.map(attribute_text).transpose()?,
            ));
        }
    }
    Ok(changes)
}

/// Returns true if two nodes without graphs have the same attributes, whatever their order.
pub(crate) fn have_same_attributes(one: &Node, other: &Node) -> Result<bool> {
    Ok(attributes(&one.attributes, &other.attributes)?.is_empty())
}

/// How two attributes differ, if they do.
fn contents(name: &str, before: &Content, after: &Content) -> Result<Option<Change>> {
    let bits = |floats: &[f32]| floats.iter().map(|float| float.to_bits()).collect::<Vec<_>>();
    let equal = match (before, after) {
        (Content::Graph(_), Content::Graph(_)) => true,
        (Content::Graphs(a), Content::Graphs(b)) => a.len() == b.len(),
        (Content::Tensor(a), Content::Tensor(b)) => return constants(name, a, b),
        (Content::Tensors(a), Content::Tensors(b)) if a.len() == b.len() => {
            let mut parts = Vec::new();
            for (index, (a, b)) in a.iter().zip(b).enumerate() {
                parts.extend(constants(&format!("tensor {index}"), a, b)?);
            }
            if parts.is_empty() {
                return Ok(None);
            }
            let change = Change::new(name, Some(attribute_text(before)?), Some(attribute_text(after)?));
            return Ok(Some(Change { parts, ..change }));
        }
        (Content::Float(a), Content::Float(b)) => a.to_bits() == b.to_bits(),
        (Content::Floats(a), Content::Floats(b)) => bits(a) == bits(b),
        (Content::Int(a), Content::Int(b)) => a == b,
        (Content::Ints(a), Content::Ints(b)) => a == b,
        (Content::Bytes(a), Content::Bytes(b)) => a == b,
        (Content::Strings(a), Content::Strings(b)) => a == b,
        (Content::Type(a), Content::Type(b)) => a == b,
        (Content::Types(a), Content::Types(b)) => a == b,
        (Content::Ports(a), Content::Ports(b)) => a == b,
        (Content::Text(a), Content::Text(b)) | (Content::Parameter(a), Content::Parameter(b)) => a == b,
        _ => false,
    };
    if equal {
        Ok(None)
    } else {
        Ok(Some(Change::new(name, Some(attribute_text(before)?), Some(attribute_text(after)?))))
    }
}

/// How two constants differ, if they do: in type or shape, or in bits of elements.
pub(super) fn constants(name: &str, before: &Constant, after: &Constant) -> Result<Option<Change>> {
    let mut change = Change::new(name, None, None);
    if (before.dtype(), before.shape()) == (after.dtype(), after.shape()) {
        let tensors = [before.tensor()?, after.tensor()?];
        let Some((first, count)) = differing([&tensors[0], &tensors[1]])? else { return Ok(None) };
        let place = if count == 1 { String::new() } else { format!(" and {} more", count - 1) };
        let place = format!("element {}{place}", coordinates(first, before.shape().dims()));
        let [a, b] = tensors.map(|tensor| Some(display::element(&tensor, first)));
        change.parts.push(Change::new(place, a, b));
    }
    change.before = Some(described(before)?);
    change.after = Some(described(after)?);
    Ok(Some(change))
}

/// The first element that has other bits, and how many have.
fn differing([before, after]: [&Tensor; 2]) -> Result<Option<(usize, usize)>> {
    let different = |mut unequal: Box<dyn Iterator<Item = usize> + '_>| {
        unequal.next().map(|first| (first, 1 + unequal.count()))
    };
    Ok(match (before.bytes(), after.bytes()) {
        (Some(a), Some(b)) if a == b => None,
        // Bits that fill up the last byte of packed elements do not count.
        (Some(_), Some(_)) if before.dtype().is_packed() => {
            let (a, b) = (before.codes()?, after.codes()?);
            different(Box::new((0..a.len()).filter(move |&i| a[i] != b[i])))
        }
        (Some(a), Some(b)) => {
            let width = before.dtype().bits().div_ceil(8);
            let pairs = a.chunks_exact(width).zip(b.chunks_exact(width)).enumerate();
            different(Box::new(pairs.filter(|(_, (a, b))| a != b).map(|(i, _)| i)))
        }
        _ => {
            let pairs = before.texts()?.iter().zip(after.texts()?).enumerate();
            different(Box::new(pairs.filter(|(_, (a, b))| a != b).map(|(i, _)| i)))
        }
    })
}

/// The place of an element: `[1, 2]`.
fn coordinates(mut index: usize, dims: &[usize]) -> String {
    let mut place: Vec<_> = dims.iter().rev().map(|dim| (index % dim, index /= dim).0).collect();
    place.reverse();
    format!("{place:?}")
}

/// Type and shape of a constant, and its elements if they are few.
pub(super) fn described(constant: &Constant) -> Result<String> {
    let mut text = format!("{}{}", constant.dtype(), constant.shape());
    if constant.shape().len() <= FEW {
        let elements = display::elided(&constant.tensor()?, FEW);
        // Writing to a string cannot fail.
        let _ = write!(text, " {}", elements.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    Ok(text)
}

/// The value of an attribute as text; long lists and texts end with `…`.
///
/// # Errors
/// As reading the constant that it is.
///
/// ```
/// use gradus::diff::attribute_text;
/// use gradus::graph::Content;
/// assert_eq!(attribute_text(&Content::Ints([1, 2].into()))?, "[1, 2]");
/// # Ok::<(), gradus::Error>(())
/// ```
pub fn attribute_text(content: &Content) -> Result<String> {
    Ok(match content {
        Content::Float(float) => float.to_string(),
        Content::Int(int) => int.to_string(),
        Content::Bytes(bytes) => quoted(bytes),
        Content::Tensor(constant) => described(constant)?,
        Content::Graph(graph) => graphs::sizes(graph),
        Content::Type(declared) => declared.to_string(),
        Content::Ports(ports) => ports_text(ports),
        Content::Floats(floats) => list(floats.iter(), f32::to_string),
        Content::Ints(ints) => list(ints.iter(), i64::to_string),
        Content::Strings(texts) => list(texts.iter(), quoted),
        Content::Tensors(tensors) => list(tensors, |tensor| format!("{}{}", tensor.dtype(), tensor.shape())),
        Content::Graphs(graphs) => list(graphs, |graph| graphs::sizes(graph)),
        Content::Types(types) => list(types, ToString::to_string),
        Content::Text(text) => elided(text),
        Content::Parameter(name) => format!("the function's {name}"),
    })
}

fn quoted(bytes: &Bytes) -> String {
    elided(&format!("{:?}", String::from_utf8_lossy(bytes)))
}

fn elided(text: &str) -> String {
    match text.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn list<'t, T: 't>(
    items: impl IntoIterator<Item = &'t T, IntoIter: ExactSizeIterator>,
    said: impl Fn(&T) -> String,
) -> String {
    let items = items.into_iter();
    let count = items.len();
    let mut shown: Vec<_> = items.take(ITEMS).map(said).collect();
    if count > ITEMS {
        shown.push(format!("… {count} in all"));
    }
    format!("[{}]", shown.join(", "))
}

/// The values of a node that are values of its graph: `2 = 0, 3 = 1 by slices of axis 0; …`.
fn ports_text(ports: &Ports) -> String {
    let pairs = |ports: &[Port]| {
        let pair = |port: &Port| {
            let slices = port.slices.map(|Slices { axis, start, end, stride, part_size }| {
                format!(" by slices of {part_size} along axis {axis} from {start} to {end}, stride {stride}")
            });
            format!("{} = {}{}", port.outer, port.inner, slices.unwrap_or_default())
        };
        ports.iter().map(pair).collect::<Vec<_>>().join(", ")
    };
    let back = ports.back_edges.iter().map(|(from, to)| format!("{from} -> {to}")).collect::<Vec<_>>();
    let mut parts =
        vec![format!("inputs {}", pairs(&ports.inputs)), format!("outputs {}", pairs(&ports.outputs))];
    parts.extend((!back.is_empty()).then(|| format!("back edges {}", back.join(", "))));
    parts.extend(ports.condition.map(|output| format!("condition output {output}")));
    parts.extend(ports.iteration.map(|input| format!("iteration input {input}")));
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gradus_core::{DType, Shape};

    use super::*;

    fn changed(before: Tensor, after: Tensor) -> Option<(String, String, String)> {
        let change = constants("c", &before.into(), &after.into()).unwrap()?;
        let part = |part: &Change| {
            let said = |side: &Option<String>| side.clone().unwrap();
            (part.name.clone(), said(&part.before), said(&part.after))
        };
        Some(change.parts.first().map_or_else(|| part(&change), part))
    }

    #[test]
    fn constants_differ_by_bits() {
        let shape = || Shape::new([2, 3]).unwrap();
        let of = |elements: Vec<f32>| Tensor::from_vec(shape(), elements).unwrap();
        let words = |a: &str, b: &str, c: &str| Some((a.to_owned(), b.to_owned(), c.to_owned()));
        let zeros = || of(vec![0.0; 6]);
        assert_eq!(changed(zeros(), zeros()), None);
        assert_eq!(changed(of(vec![f32::NAN; 6]), of(vec![f32::NAN; 6])), None);
        let minus = of(vec![0.0, 0.0, 0.0, 0.0, -0.0, 1.0]);
        assert_eq!(changed(zeros(), minus), words("element [1, 1] and 1 more", "0.0", "-0.0"));
        assert_eq!(changed(Tensor::scalar(1i64), Tensor::scalar(1i32)), words("c", "int64[] 1", "int32[] 1"));
        let texts = |text: &str| Tensor::from_text(Shape::vector(1), vec![text.into()]).unwrap();
        assert_eq!(changed(texts("a"), texts("b")), words("element [0]", "\"a\"", "\"b\""));
        let packed = |bytes: &'static [u8]| {
            Tensor::from_bytes(DType::U4, Shape::vector(3), Bytes::from_static(bytes)).unwrap()
        };
        assert_eq!(changed(packed(&[0x21, 0x03]), packed(&[0x21, 0xf3])), None);
        assert_eq!(changed(packed(&[0x21, 0x03]), packed(&[0x21, 0x04])), words("element [2]", "3", "4"));
    }

    #[test]
    fn attributes_differ_by_what_they_say() {
        let of = |content: Content| [Attribute { name: "a".into(), content }];
        let said = |a: Content, b: Content| {
            let changes = attributes(&of(a), &of(b)).unwrap();
            changes.first().map(|change| [change.before.clone().unwrap(), change.after.clone().unwrap()])
        };
        assert_eq!(said(Content::Float(f32::NAN), Content::Float(f32::NAN)), None);
        let ports = |condition| Content::Ports(Arc::new(Ports { condition, ..Ports::default() }));
        assert_eq!(said(ports(Some(1)), ports(Some(1))), None);
        assert_eq!(
            said(ports(Some(1)), ports(None)),
            Some(["inputs ; outputs ; condition output 1".into(), "inputs ; outputs ".into()])
        );
        assert_eq!(said(Content::Int(1), Content::Float(1.5)), Some(["1".into(), "1.5".into()]));
        assert_eq!(
            said(Content::Ints([1, 2].into()), Content::Ints([0; 17].into())),
            Some(["[1, 2]".into(), format!("[{}… 17 in all]", "0, ".repeat(16))])
        );
        let text = |text: &str| Content::Bytes(Bytes::copy_from_slice(text.as_bytes()));
        assert_eq!(
            said(text("a"), text(&"é".repeat(90))),
            Some(["\"a\"".into(), format!("\"{}…", "é".repeat(79))])
        );
        assert_eq!(attributes(&of(Content::Int(1)), &[]).unwrap()[0].after, None);
    }
}
