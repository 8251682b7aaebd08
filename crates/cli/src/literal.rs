//! Tensors as they are typed: `3`, `-inf`, `"text"`, `[[1, 2], [3, 4]]`, `zeros[2, 3]`, `ones[2,
//! 3]`,
//! `random[2, 3]`.

use gradus::convert::Rules;
use gradus::{DType, Error, Kind, Limits, Number, Result, Shape, Tensor, Value, text};

use crate::diagnostics::Mistake;

/// Levels of lists within lists.
const DEPTH: usize = 32;

/// Reads a tensor of that type; without a type, of text, bool, int64 or float32, whichever fits
/// first.
pub(crate) fn parse(source: &str, dtype: Option<DType>, limits: &Limits) -> Result<Value, Mistake> {
    let mut reading = LiteralParser { source, at: 0, items: Vec::new(), dims: Vec::new() };
    reading.blanks();
    let named = |name: &&str| reading.rest().strip_prefix(*name).is_some_and(|rest| rest.starts_with('['));
    if let Some(name) = ["zeros", "ones", "random"].into_iter().find(named) {
        return reading.filled(name, dtype, limits);
    }
    let word = reading.rest().split('[').next().unwrap_or_default();
    if word.len() < reading.rest().len() && !word.is_empty() && word.bytes().all(|c| c.is_ascii_alphabetic())
    {
        return Err(reading.mistake("expected a number, a list, or zeros and a shape (zeros[2, 3]) here"));
    }
    reading.value(0)?;
    reading.blanks();
    if !reading.rest().is_empty() {
        return Err(reading.mistake("the value ends here"));
    }
    let LiteralParser { items, dims, .. } = reading;
    let dims: Vec<_> = dims.into_iter().map(|dim| dim.unwrap_or(0)).collect();
    let shape = Shape::new(dims).map_err(|error| Mistake::whole(source, error))?;
    let dtype = dtype.unwrap_or_else(|| guess(&items));
    tensor(source, &items, shape, dtype).map(Value::from)
}

/// One number, word or text, and where it stands.
struct LiteralItem {
    text: String,
    quoted: bool,
    start: usize,
    end: usize,
}

fn guess(items: &[LiteralItem]) -> DType {
    let all = |test: &dyn Fn(&LiteralItem) -> bool| items.iter().all(test);
    if all(&|item| item.quoted) && !items.is_empty() {
        DType::String
    } else if all(&|item| matches!(&*item.text, "true" | "false")) && !items.is_empty() {
        DType::Bool
    } else if all(&|item| {
        text::parse_exact(&item.text, DType::I64).is_ok() && !item.text.contains(['.', 'e', 'E'])
    }) {
        DType::I64
    } else {
        DType::F32
    }
}

fn tensor(source: &str, items: &[LiteralItem], shape: Shape, dtype: DType) -> Result<Tensor, Mistake> {
    let at = |item: &LiteralItem, error: Error| Mistake::new(source, item.start..item.end, error);
    if let Some(item) = items.iter().find(|item| item.quoted != (dtype == DType::String)) {
        let message = if item.quoted {
            format!("this is text, expected {dtype}")
        } else {
            "expected text in quotes".into()
        };
        return Err(at(item, Error::new(Kind::Type, message)));
    }
    if dtype == DType::String {
        let texts = items.iter().map(|item| item.text.as_str().into()).collect();
        return Tensor::from_text(shape, texts).map_err(|error| Mistake::whole(source, error));
    }
    let number = |item: &LiteralItem| text::parse_exact(&item.text, dtype).map_err(|error| at(item, error));
    let numbers = items.iter().map(number).collect::<Result<Vec<Number>, _>>()?;
    Tensor::from_numbers(dtype, shape, numbers, Rules::IEEE).map_err(|error| Mistake::whole(source, error))
}

struct LiteralParser<'a> {
    source: &'a str,
    at: usize,
    items: Vec<LiteralItem>,
    /// By level: the length of the lists there, as soon as one has ended.
    dims: Vec<Option<usize>>,
}

impl<'a> LiteralParser<'a> {
    fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    fn blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn mistake(&self, message: &str) -> Mistake {
        let end = self.at + self.rest().chars().next().map_or(0, char::len_utf8);
        Mistake::new(self.source, self.at..end, Error::new(Kind::Usage, message))
    }

    fn eat(&mut self, token: char) -> bool {
        self.blanks();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len_utf8();
        }
        found
    }

    /// Reads a list or an item.
    fn value(&mut self, level: usize) -> Result<(), Mistake> {
        self.blanks();
        let start = self.at;
        if !self.eat('[') {
            if self.dims.len() > level {
                return Err(self.mistake("expected a list here, as before"));
            }
            return self.item();
        }
        if level == DEPTH {
            return Err(Mistake::new(
                self.source,
                start..self.at,
                Error::new(Kind::Usage, "cannot read the list: it is nested too deep"),
            ));
        }
        if self.dims.len() == level {
            if !self.items.is_empty() || self.dims.iter().any(Option::is_some) {
                let message = "nested lists here, expected elements as before";
                return Err(Mistake::new(self.source, start..self.at, Error::new(Kind::Usage, message)));
            }
            self.dims.push(None);
        }
        let mut len = 0;
        while !self.eat(']') {
            if len > 0 && !self.eat(',') {
                return Err(self.mistake("expected a comma or ] here"));
            }
            self.value(level + 1)?;
            len += 1;
        }
        let wanted = *self.dims[level].get_or_insert(len);
        if len != wanted {
            let elements = if len == 1 { "element" } else { "elements" };
            let message = format!("this list has {len} {elements}, expected {wanted} as in the one before");
            return Err(Mistake::new(self.source, start..self.at, Error::new(Kind::Shape, message)));
        }
        Ok(())
    }

    fn item(&mut self) -> Result<(), Mistake> {
        let start = self.at;
        let (text, quoted) = if self.rest().starts_with('"') {
            let mut stream = serde_json::Deserializer::from_str(self.rest()).into_iter::<String>();
            let text = stream.next().and_then(std::result::Result::ok);
            let len = stream.byte_offset();
            let text =
                text.ok_or_else(|| self.mistake("this text does not end, or is not as JSON writes text"))?;
            self.at += len;
            (text, true)
        } else {
            let end = self.rest().find([',', ']', '[']).unwrap_or(self.rest().len());
            let word = self.rest()[..end].trim_end();
            if word.is_empty() {
                return Err(self.mistake("a number is missing here"));
            }
            self.at += word.len();
            (word.to_owned(), false)
        };
        self.items.push(LiteralItem { text, quoted, start, end: self.at });
        Ok(())
    }

    /// A tensor of the shape behind the name.
    fn filled(mut self, name: &str, dtype: Option<DType>, limits: &Limits) -> Result<Value, Mistake> {
        self.at += name.len();
        let start = self.at;
        self.value(0)?;
        self.blanks();
        if !self.rest().is_empty() {
            return Err(self.mistake("the value ends here"));
        }
        let make = || {
            let dims = self.items.iter().map(|item| match text::parse_exact(&item.text, DType::I64)? {
                Number::Int(dim) => Ok(i64::try_from(dim).unwrap_or(i64::MAX)),
                _ => Err(Error::new(Kind::Shape, "a shape is a list of integers")),
            });
            let (sizes, dtype) = (dims.collect::<Result<Vec<_>>>()?, dtype.unwrap_or(DType::F32));
            if name == "random" {
                return random_tensor(&sizes, dtype, 0, limits);
            }
            let shape = Shape::from_i64(&sizes)?;
            limits.allow_bytes(0, gradus::tensor_bytes(dtype, &shape))?;
            if name == "zeros" {
                return Tensor::zeros(dtype, shape);
            }
            let ones = std::iter::repeat_n(Number::Int(1), shape.len());
            Tensor::from_numbers(dtype, shape, ones, Rules::IEEE)
        };
        make().map(Value::from).map_err(|error| Mistake::new(self.source, start..self.at, error))
    }
}

/// A random tensor of these sizes.
pub(crate) fn random_tensor(sizes: &[i64], dtype: DType, seed: u64, limits: &Limits) -> Result<Tensor> {
    let shape = Shape::from_i64(sizes)?;
    limits.allow_bytes(0, gradus::tensor_bytes(dtype, &shape))?;
    let numbers = random(dtype.is_float(), seed).take(shape.len());
    Tensor::from_numbers(dtype, shape, numbers, Rules::IEEE)
}

/// Numbers of the generator `SplitMix64` with a seed: floats from -1 to 1, or integers 0 and 1.
fn random(floats: bool, seed: u64) -> impl Iterator<Item = Number> {
    let mut state = seed;
    std::iter::from_fn(move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let bits = mixed ^ (mixed >> 31);
        let integer = Number::Int((bits >> 63).into());
        // The high 53 bits as a fraction.
        let fraction = gradus::convert::nearest_f64(Number::Int((bits >> 11).into())) / 2f64.powi(52) - 1.0;
        Some(if floats { Number::Float(fraction) } else { integer })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str, dtype: Option<DType>) -> String {
        match parse(source, dtype, &Limits::DEFAULT) {
            Ok(value) => format!("{:?}", value.tensor().unwrap()),
            Err(mistake) => format!("{}: {}", mistake.marked(), mistake.error().message()),
        }
    }

    #[test]
    fn values_become_tensors_of_the_type_that_is_wanted() {
        let cases = [
            ("3", Some(DType::F32), "float32[] 3.0"),
            (" [1, 2,3 ] ", Some(DType::I64), "int64[3] [1, 2, 3]"),
            ("[[1, 2], [3, 4], [5, 6]]", None, "int64[3, 2] [[1, 2],\n [3, 4],\n [5, 6]]"),
            ("[1, 2.5, -inf, nan]", None, "float32[4] [1.0, 2.5, -inf, nan]"),
            ("[true, false]", None, "bool[2] [true, false]"),
            ("[\"a, b\", \"\\\"]\"]", None, "string[2] [\"a, b\", \"\\\"]\"]"),
            ("[]", Some(DType::F32), "float32[0] []"),
            ("[[], []]", Some(DType::F32), "float32[2, 0] []"),
            ("zeros[2, 1]", Some(DType::I8), "int8[2, 1] [[0],\n [0]]"),
            ("zeros[]", None, "float32[] 0.0"),
            ("ones[2]", Some(DType::I64), "int64[2] [1, 1]"),
            ("random[3]", None, "float32[3] [0.7666216, -0.13694401, -0.94713247]"),
            ("random[3]", Some(DType::I64), "int64[3] [1, 0, 0]"),
        ];
        for (source, dtype, want) in cases {
            assert_eq!(read(source, dtype), want, "{source}");
        }
    }

    #[test]
    fn mistakes_are_marked() {
        let cases = [
            ("[1, 2", None, ": expected a comma or ] here"),
            ("[1,,2]", None, ",: a number is missing here"),
            ("[1 2]", None, "1 2: \"1 2\" is not a number"),
            ("[[1, 2], [3]]", None, "[3]: this list has 1 element, expected 2 as in the one before"),
            ("[[1], 2]", None, "2: expected a list here, as before"),
            ("[1, [2]]", None, "[: nested lists here, expected elements as before"),
            ("[1, 2] 3", None, "3: the value ends here"),
            ("twos[2, 3]", None, "t: expected a number, a list, or zeros and a shape (zeros[2, 3]) here"),
            ("[1, 300]", Some(DType::I8), "300: \"300\" is not in the range of int8"),
            ("[1, x]", Some(DType::F32), "x: \"x\" is not a number"),
            ("\"a", None, "\": this text does not end, or is not as JSON writes text"),
            ("a", Some(DType::String), "a: expected text in quotes"),
            ("\"a\"", Some(DType::F32), "\"a\": this is text, expected float32"),
            ("zeros[-1]", None, "[-1]: dimension 0 is -1, expected at least 0"),
            (
                "zeros[99999999999]",
                None,
                "[99999999999]: cannot allocate: number of bytes is 399999999996, expected at most 4294967296 (--max-bytes)",
            ),
        ];
        for (source, dtype, want) in cases {
            assert_eq!(read(source, dtype), want, "{source}");
        }
        assert!(read(&"[".repeat(100_000), None).ends_with("cannot read the list: it is nested too deep"));
    }
}
