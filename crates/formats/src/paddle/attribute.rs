//! Attributes of PIR.
//!
//! | tag | content |
//! |---|---|
//! | `a_bool`, `a_i32`, `a_i64`, `a_index` | an integer |
//! | `a_f32` | a float |
//! | `a_f64`, `a_scalar` | a tensor of one number, of its type |
//! | `a_str`, `a_tensorname`, `a_dtype` | text |
//! | `a_intarray`; `a_array` of one kind of these | a list |
//! | others | their JSON as text |

use gradus_core::graph::{Attribute, Content};
use gradus_core::{DType, Error, Kind, Number, Result, Shape, Tensor};

use super::json::{JsonText, Named, Raw, Tagged};

/// Reads the list of attributes.
pub(super) fn read(text: JsonText<'_>, raw: Raw<'_>) -> Result<Vec<Attribute>> {
    let list: Vec<Named<'_>> = text.read(raw, "a list of attributes")?;
    let mut attributes: Vec<Attribute> = Vec::with_capacity(list.len());
    let mut seen = std::collections::HashSet::with_capacity(list.len());
    for Named { name, content } in &list {
        if !seen.insert(&**name) {
            let message = format!("attribute \"{name}\" is given twice");
            return Err(Error::new(Kind::Graph, message).at(text.position(raw)));
        }
        let content =
            content_of(text, content).map_err(|error| error.in_node(format!("attribute \"{name}\"")))?;
        attributes.push(Attribute { name: (&**name).into(), content });
    }
    Ok(attributes)
}

fn content_of(text: JsonText<'_>, tagged: &Tagged<'_>) -> Result<Content> {
    let kind = tagged.tag.split_once('.').map_or(&*tagged.tag, |(_, kind)| kind);
    let float = || -> Result<f64> {
        match (tagged.special.as_deref(), tagged.data) {
            (Some("NaN"), _) => Ok(f64::NAN),
            (Some("INF"), _) => Ok(f64::INFINITY),
            (Some("-INF"), _) => Ok(f64::NEG_INFINITY),
            (Some(other), _) => Err(Error::new(Kind::Syntax, format!("\"{other}\" is not a number"))),
            (None, data) => text.read(data.ok_or_else(|| empty(kind))?, "a number"),
        }
    };
    let data = || tagged.data.ok_or_else(|| empty(kind));
    Ok(match kind {
        "a_bool" => Content::Int(text.read::<bool>(data()?, "true or false")?.into()),
        "a_i32" | "a_i64" | "a_index" => Content::Int(text.read(data()?, "an integer")?),
        "a_f32" => {
            let value = Tensor::from_numbers(
                DType::F32,
                Shape::SCALAR,
                [Number::Float(float()?)],
                gradus_core::convert::Rules::IEEE,
            )?;
            Content::Float(value.elements::<f32>()?.first().copied().unwrap_or_default())
        }
        "a_f64" => Content::Tensor(Tensor::scalar(float()?).into()),
        "a_str" | "a_tensorname" | "a_dtype" => {
            Content::Bytes(text.read::<String>(data()?, "text")?.into_bytes().into())
        }
        "a_intarray" => Content::Ints(text.read::<Vec<_>>(data()?, "a list of integers")?.into()),
        "a_array" => list(text, data()?)?,
        "a_scalar" => scalar(text, data()?)?,
        _ => Content::Text(tagged.data.map_or("", |raw| raw.get()).into()),
    })
}

fn empty(kind: &str) -> Error {
    Error::new(Kind::Syntax, format!("the content that its kind, {kind}, promises is missing"))
}

/// A list whose items are of one kind, or else its JSON.
fn list(text: JsonText<'_>, data: Raw<'_>) -> Result<Content> {
    let items: Vec<Tagged<'_>> = text.read(data, "a list of attributes")?;
    let (mut ints, mut floats, mut strings, mut numbers) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for item in &items {
        if item.tag.ends_with(".a_array") {
            // Lists of lists mean nothing here, and reading them would recurse as deep as the file
            // says.
            break;
        }
        match content_of(text, item)? {
            Content::Int(value) => ints.push(value),
            Content::Float(value) => floats.push(value),
            Content::Bytes(value) => strings.push(value),
            Content::Tensor(value) => numbers.push(value),
            _ => break,
        }
    }
    let count = items.len();
    Ok(match () {
        () if ints.len() == count => Content::Ints(ints.into()),
        () if floats.len() == count => Content::Floats(floats.into()),
        () if strings.len() == count => Content::Strings(strings.into()),
        () if numbers.len() == count => Content::Tensors(numbers),
        () => Content::Text(data.get().into()),
    })
}

/// A number with the name of its type.
fn scalar(text: JsonText<'_>, data: Raw<'_>) -> Result<Content> {
    let (name, value): (String, Raw<'_>) = text.read(data, "a type and a number")?;
    let wrong = |what: &str| Error::new(Kind::Type, format!("\"{name}\" {what}")).at(text.position(data));
    let dtype: DType = name.parse().map_err(|_| wrong("is not an element type"))?;
    let number = match serde_json::from_str::<serde_json::Value>(value.get()) {
        Ok(serde_json::Value::Bool(value)) => Number::Int(value.into()),
        Ok(serde_json::Value::Number(number)) => number
            .as_i128()
            .map(Number::Int)
            .or_else(|| number.as_f64().map(Number::Float))
            .ok_or_else(|| wrong("has no number"))?,
        Ok(serde_json::Value::String(text)) => match text.as_str() {
            "NaN" => Number::Float(f64::NAN),
            "INF" => Number::Float(f64::INFINITY),
            "-INF" => Number::Float(f64::NEG_INFINITY),
            _ => return Err(wrong("has no number")),
        },
        _ => return Ok(Content::Text(data.get().into())),
    };
    Ok(Content::Tensor(
        Tensor::from_numbers(dtype, Shape::SCALAR, [number], gradus_core::convert::Rules::IEEE)?.into(),
    ))
}
