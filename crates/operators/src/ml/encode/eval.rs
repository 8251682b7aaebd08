//! Labels and categories in place of one another: `LabelEncoder`, `CategoryMapper` and
//! `OneHotEncoder`.

use std::collections::HashMap;

use gradus_core::convert::{Rules, product};
use gradus_core::{DType, Error, Kind, Number, Result, Shape, Tensor, Value};

use crate::attributes::Attributes;
use crate::errors;
use crate::op::EvalContext;

/// A label that is looked up. Zeros of both signs are one, and so is every NaN.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    Text(Box<str>),
    Integer(i128),
    Float(u64),
}

/// The elements of a tensor as keys of a map; all NaN are one key, and both zeros.
pub fn keys(tensor: &Tensor) -> Result<Vec<Key>> {
    if tensor.dtype() == DType::String {
        return Ok(tensor.texts()?.iter().map(|text| Key::Text(text.clone())).collect());
    }
    let key = |number| match number {
        Number::Float(x) if x.is_nan() => Key::Float(f64::NAN.to_bits()),
        Number::Float(x) => Key::Float((x + 0.0).to_bits()),
        Number::Int(x) => Key::Integer(x),
        Number::Complex(..) => Key::Text(format!("{number:?}").into()),
    };
    Ok(tensor.numbers()?.map(key).collect())
}

/// A tensor of one axis, of these strings.
pub fn vector(texts: &[&str]) -> Result<Tensor> {
    Tensor::from_text(Shape::vector(texts.len()), texts.iter().map(|&text| text.into()).collect())
}

/// Keys, their values, and the value of everything else.
#[derive(Debug)]
pub struct Encoder {
    keys: Tensor,
    values: Tensor,
    /// One element.
    other: Tensor,
}

/// The attributes that list keys or values: the end of their name, and the default that goes with
/// them.
const LISTS: [&str; 4] = ["tensor", "strings", "int64s", "floats"];

/// The list of an attribute whose name begins so.
fn list(attributes: &Attributes<'_>, start: &str) -> Result<Option<(&'static str, Tensor)>> {
    let mut found = None;
    for kind in LISTS {
        let name = format!("{start}_{kind}");
        let tensor = match kind {
            "tensor" => attributes.tensor(&name)?,
            "strings" => attributes.texts(&name)?.map(|texts| vector(&texts)).transpose()?,
            "int64s" => attributes.ints(&name)?.map(Tensor::vector),
            _ => attributes.floats(&name)?.map(Tensor::vector),
        };
        let Some(tensor) = tensor.filter(|tensor| !tensor.is_empty()) else { continue };
        if let Some((first, _)) = found {
            let what = format_args!("attribute \"{name}\"");
            let wanted = format!("none, as \"{start}_{first}\" is");
            return Err(Error::mismatch(Kind::Graph, what, "given", wanted));
        }
        found = Some((kind, tensor));
    }
    Ok(found)
}

/// The value of what is not among the keys, by the type of the values.
fn other(attributes: &Attributes<'_>, kind: &str, dtype: DType) -> Result<Tensor> {
    let text = |default| Ok::<_, Error>(attributes.text("default_string")?.unwrap_or(default));
    Ok(match kind {
        "tensor" => match attributes.tensor("default_tensor")? {
            Some(tensor) if tensor.len() == 1 && tensor.dtype() == dtype => tensor,
            Some(tensor) => {
                let got = format_args!("{} elements of {}", tensor.len(), tensor.dtype());
                let wanted = format_args!("one element of {dtype}");
                return Err(errors::value("attribute \"default_tensor\"", got, wanted));
            }
            None if dtype == DType::String => vector(&["_Unused"])?,
            None => {
                let number = if dtype.is_integer() { Number::Int(-1) } else { Number::Float(-0.0) };
                Tensor::from_numbers(dtype, Shape::vector(1), [number], Rules::IEEE)?
            }
        },
        "strings" => vector(&[text("_Unused")?])?,
        "int64s" => Tensor::vector(&[attributes.int_or("default_int64", -1)?]),
        _ => Tensor::vector(&[attributes.float("default_float")?.unwrap_or(-0.0)]),
    })
}

impl Encoder {
    /// The encoder of a node, on an input of that type.
    pub fn of(attributes: &Attributes<'_>, dtype: DType) -> Result<Encoder> {
        let texts = ["classes_strings", "cats_strings"].iter().find(|name| attributes.get(name).is_some());
        let encoder = match (texts, list(attributes, "keys")?, list(attributes, "values")?) {
            (Some(name), ..) => Encoder::numbered(attributes, name, dtype)?,
            (None, Some((_, keys)), Some((kind, values))) => {
                let other = other(attributes, kind, values.dtype())?;
                Encoder { keys, values, other }
            }
            (None, keys, _) => {
                let name = if keys.is_some() { "values_*" } else { "keys_*" };
                return Err(errors::missing(format_args!("attribute \"{name}\"")));
            }
        };
        let (keys, values) = (encoder.keys.len(), encoder.values.len());
        if keys != values {
            return Err(errors::count("values", values, format_args!("{keys}, the number of keys")));
        }
        if encoder.keys.dtype() != dtype {
            return Err(errors::dtype(dtype, &format!("{}, as the keys", encoder.keys.dtype())));
        }
        Ok(encoder)
    }

    /// The encoder of texts and the integers that belong to them, or the numbers of the texts.
    fn numbered(attributes: &Attributes<'_>, name: &str, dtype: DType) -> Result<Encoder> {
        let texts = attributes.texts(name)?.unwrap_or_default();
        let integers = match attributes.ints("cats_int64s")? {
            Some(integers) => integers.to_vec(),
            None if name == "cats_strings" => {
                return Err(errors::missing("attribute \"cats_int64s\""));
            }
            None => (0..).take(texts.len()).collect(),
        };
        let (texts, integers) = (vector(&texts)?, Tensor::vector(&integers));
        let to_texts = dtype != DType::String;
        let kind = if to_texts { "strings" } else { "int64s" };
        let (keys, values) = if to_texts { (integers, texts) } else { (texts, integers) };
        Ok(Encoder { other: other(attributes, kind, values.dtype())?, keys, values })
    }

    /// The type of the values.
    pub fn dtype(&self) -> DType {
        self.values.dtype()
    }
}

/// `LabelEncoder` and `CategoryMapper`: the value of each key, or the default.
pub fn encode(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let encoder = Encoder::of(attributes, data.dtype())?;
    cx.reserve(product(data.len() + encoder.keys.len(), 4 * size_of::<Key>()))?;
    let mut places = HashMap::new();
    for (place, key) in keys(&encoder.keys)?.into_iter().enumerate() {
        places.entry(key).or_insert(place);
    }
    // The value of everything else follows the others.
    let last = encoder.values.len();
    let found = keys(data)?.into_iter().map(|key| places.get(&key).copied().unwrap_or(last));
    let found = cx.limits().collect(found)?;
    let shape = data.shape().clone();
    if encoder.dtype() == DType::String {
        let texts = [encoder.values.texts()?, encoder.other.texts()?].concat();
        let bytes: usize = found.iter().map(|&place| texts[place].len()).sum();
        cx.reserve(product(bytes, 2))?;
        let texts = found.into_iter().map(|place| texts[place].clone()).collect();
        return Ok(vec![Tensor::from_text(shape, texts)?.into()]);
    }
    let numbers: Vec<_> = encoder.values.numbers()?.chain(encoder.other.numbers()?).collect();
    let found = found.into_iter().map(|place| numbers[place]);
    Ok(vec![Tensor::from_numbers(encoder.dtype(), shape, found, Rules::IEEE)?.into()])
}

/// The categories of `OneHotEncoder`, of the kind that the input has.
pub fn categories(attributes: &Attributes<'_>, dtype: DType) -> Result<Tensor> {
    let (name, tensor) = if dtype == DType::String {
        ("cats_strings", attributes.texts("cats_strings")?.map(|texts| vector(&texts)).transpose()?)
    } else {
        ("cats_int64s", attributes.ints("cats_int64s")?.map(Tensor::vector))
    };
    tensor.ok_or_else(|| errors::missing(format_args!("attribute \"{name}\"")))
}

/// `OneHotEncoder`: 1 at the category of each element, 0 elsewhere.
pub fn one_hot(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let categories = categories(attributes, data.dtype())?;
    let zeros = attributes.flag("zeros", true)?;
    let count = categories.len();
    let (_, shape) = cx.output(0)?;
    cx.reserve(product(data.len() + count, 4 * size_of::<Key>()))?;
    // Floats are cut toward zero, as integers are looked up.
    let data = if data.dtype().is_float() {
        gradus_core::convert::cast(data, DType::I64, Rules::IEEE)?
    } else {
        data.clone()
    };
    // The last of equal categories counts, as in ONNX Runtime.
    let places: HashMap<_, _> = (0..).zip(keys(&categories)?).map(|(place, key)| (key, place)).collect();
    let mut all = vec![0.0; shape.len()];
    for (row, key) in keys(&data)?.into_iter().enumerate() {
        match places.get(&key) {
            Some(place) => all[row * count + place] = 1.0,
            None if zeros => {}
            None => {
                let message = format!("element {row} of input 0 is none of the categories, and zeros is 0");
                return Err(Error::new(Kind::Value, message));
            }
        }
    }
    Ok(vec![cx.rounded(0, &all)?])
}
