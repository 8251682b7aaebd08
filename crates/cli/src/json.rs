//! The stable JSON that `--json` prints; docs/json.md describes it.

use gradus::conversion::Obstacles;
use gradus::error::Position;
use gradus::graph::{DeclaredDim, Type};
use gradus::{DType, Error, Number, Result, Tensor, Value, text};
use serde::Serialize;
use serde::ser::SerializeMap;
use serde_json::value::RawValue;

use crate::object::{JsonFields, Maybe, nonempty, object};

/// A tensor: type, shape, and elements in row-major order.
#[derive(Serialize)]
pub(crate) struct TensorJson {
    r#type: &'static str,
    shape: Vec<usize>,
    data: Box<RawValue>,
}

/// A value.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum ValueJson {
    Tensor(TensorJson),
    Sequence { r#type: &'static str, values: Vec<ValueJson> },
    Optional { r#type: &'static str, value: Option<Box<ValueJson>> },
    Map { r#type: &'static str, keys: TensorJson, values: TensorJson },
}

/// A tensor as JSON: type, shape and elements.
pub(crate) fn tensor(tensor: &Tensor) -> TensorJson {
    let data = match tensor.texts() {
        Ok(texts) => serde_json::to_string(texts).unwrap_or_default(),
        Err(_) => numbers(tensor),
    };
    let data = RawValue::from_string(data).expect("elements are written as JSON");
    TensorJson { r#type: tensor.dtype().name(), shape: tensor.shape().dims().to_vec(), data }
}

fn numbers(tensor: &Tensor) -> String {
    let dtype = tensor.dtype();
    let mut out = String::from("[");
    for number in tensor.numbers().into_iter().flatten() {
        if out.len() > 1 {
            out.push(',');
        }
        out.push_str(&self::number(number, dtype));
    }
    out.push(']');
    out
}

/// An element: a number, or the two parts of a complex one.
pub(crate) fn number(number: Number, dtype: DType) -> String {
    match number {
        Number::Complex(re, im) => {
            let [re, im] = [re, im].map(|part| real(Number::Float(part), dtype.component()));
            format!("[{re},{im}]")
        }
        _ => real(number, dtype),
    }
}

/// A number; JSON has no word for those that are not finite.
fn real(number: Number, dtype: DType) -> String {
    match number {
        Number::Float(x) if x.is_nan() => "\"NaN\"".to_owned(),
        Number::Float(f64::INFINITY) => "\"Infinity\"".to_owned(),
        Number::Float(f64::NEG_INFINITY) => "\"-Infinity\"".to_owned(),
        number => text::shortest(number, dtype),
    }
}

/// A value as JSON, of any kind.
pub(crate) fn value(value: &Value) -> ValueJson {
    match value {
        Value::Tensor(of) => ValueJson::Tensor(tensor(of)),
        Value::Sequence(values) => {
            ValueJson::Sequence { r#type: "sequence", values: values.iter().map(self::value).collect() }
        }
        Value::Optional(of) => {
            ValueJson::Optional { r#type: "optional", value: of.as_ref().map(|of| Box::new(self::value(of))) }
        }
        Value::Map(of) => {
            ValueJson::Map { r#type: "map", keys: tensor(of.keys()), values: tensor(of.values()) }
        }
    }
}

/// A value as JSON in an object.
pub(crate) fn raw(value: &impl Serialize) -> Result<Box<RawValue>> {
    serde_json::value::to_raw_value(value).map_err(|error| Error::new(gradus::Kind::Io, error.to_string()))
}

/// An object whose keys keep their order.
pub(crate) fn object<K: AsRef<str>, V: Serialize>(
    entries: impl IntoIterator<Item = (K, V)>,
) -> Result<Box<RawValue>> {
    let mut out = Vec::new();
    let mut serializer = serde_json::Serializer::new(&mut out);
    let fail = |error: serde_json::Error| Error::new(gradus::Kind::Io, error.to_string());
    let mut map = serde::Serializer::serialize_map(&mut serializer, None).map_err(fail)?;
    for (key, value) in entries {
        map.serialize_entry(key.as_ref(), &value).map_err(fail)?;
    }
    map.end().map_err(fail)?;
    RawValue::from_string(String::from_utf8_lossy(&out).into_owned()).map_err(fail)
}

/// A declared type: numbers for sizes that are known, text for symbols and bounds, null for what
/// is open.
#[derive(Serialize)]
pub(crate) struct TypeJson {
    r#type: Option<String>,
    shape: Option<Vec<Option<serde_json::Value>>>,
}

impl TypeJson {
    /// A declared type as JSON.
    pub(crate) fn of(declared: &Type) -> TypeJson {
        match declared {
            Type::Tensor(dtype, sizes) => TypeJson {
                r#type: dtype.map(|dtype| dtype.name().to_owned()),
                shape: sizes.as_ref().map(|sizes| sizes.iter().map(size).collect()),
            },
            other => TypeJson { r#type: Some(other.to_string()), shape: None },
        }
    }
}

fn size(size: &DeclaredDim) -> Option<serde_json::Value> {
    match size {
        DeclaredDim::Known(len) => Some((*len).into()),
        DeclaredDim::Unknown => None,
        other => Some(other.to_string().into()),
    }
}

/// An error as JSON, with its place and obstacles.
pub(crate) fn error(error: &Error) -> impl JsonFields + Serialize {
    let obstacles = Obstacles::of(error).map_or(&[][..], |all| &all.0).iter().map(|obstacle| {
        object!(ObstacleJson {
            operator: &obstacle.operator,
            message: obstacle.error.message(),
            r#where: location(&obstacle.error),
        })
    });
    object!(ErrorJson {
        error: object!(ErrorContent {
            kind: error.kind().name(),
            message: error.message(),
            got: Maybe(error.got()),
            wanted: Maybe(error.wanted()),
            r#where: location(error),
            // Nodes that keep a model from being converted.
            obstacles: nonempty(obstacles.collect::<Vec<_>>()),
        })
    })
}

fn location(error: &Error) -> Option<impl Serialize> {
    let location = Some(error.location()).filter(|location| !location.is_empty())?;
    let (byte, line, column) = match location.position {
        Some(Position::Byte(byte)) => (Some(byte), None, None),
        Some(Position::Line(line, column)) => (None, Some(line), Some(column)),
        None => (None, None, None),
    };
    Some(object!(LocationJson {
        file: Maybe(location.file.as_deref()),
        byte: Maybe(byte),
        line: Maybe(line),
        column: Maybe(column),
        nodes: nonempty(&location.nodes),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(of: &Tensor) -> String {
        serde_json::to_string(&tensor(of)).unwrap()
    }

    #[test]
    fn tensors_are_as_documented() {
        assert_eq!(
            json(&Tensor::vector(&[1.5f32, f32::NAN, f32::NEG_INFINITY])),
            r#"{"type":"float32","shape":[3],"data":[1.5,"NaN","-Infinity"]}"#
        );
        assert_eq!(
            json(&Tensor::scalar(u64::MAX)),
            r#"{"type":"uint64","shape":[],"data":[18446744073709551615]}"#
        );
        assert_eq!(
            json(&Tensor::vector(&[gradus::element::Bool::from(true)])),
            r#"{"type":"bool","shape":[1],"data":[true]}"#
        );
        let texts = Tensor::from_text(gradus::Shape::vector(1), vec!["a\"b".into()]).unwrap();
        assert_eq!(json(&texts), r#"{"type":"string","shape":[1],"data":["a\"b"]}"#);
        assert_eq!(
            json(&Tensor::vector(&[1e300f64, 0.1, 5e-324])),
            r#"{"type":"float64","shape":[3],"data":[1e+300,0.1,5e-324]}"#
        );
    }

    #[test]
    fn every_double_reads_back() {
        let mut state = 1u64;
        for _ in 0..10_000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let x = f64::from_bits(state);
            if x.is_finite() {
                let text = real(Number::Float(x), DType::F64);
                assert_eq!(serde_json::from_str::<f64>(&text).unwrap().to_bits(), x.to_bits(), "{text}");
            }
        }
    }
}
