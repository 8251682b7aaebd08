//! Tensors as they are typed: `3`, `-inf`, `"text"`, `[[1, 2], [3, 4]]`, and shapes after a word
//! that says how the elements are made: `zeros[2, 3]`, `full:0.5[2, 3]`, `random[2, 3]`.

use gradus::convert::Rules;
use gradus::{DType, Error, Kind, Limits, Number, Result, Shape, Tensor, Value, text};

use crate::diagnostics::Mistake;

/// Levels of lists within lists.
const DEPTH: usize = 32;

/// How the elements of a tensor of a given shape are made.
#[derive(Clone, Copy)]
pub(crate) enum Filling<'a> {
    /// All are this number.
    Full(&'a str),
    /// The numbers from 0 on, in the order of the elements.
    Counted,
    /// Random floats from -1 to 1, or integers 0 and 1.
    Uniform,
    /// Random integers from the first number to the second.
    Within(i64, i64),
    /// Random floats of the standard normal distribution.
    Normal,
}

impl<'a> Filling<'a> {
    /// The one of that name.
    fn of(name: &'a str) -> Option<Filling<'a>> {
        match name.split_once(':').unwrap_or((name, "")) {
            ("zeros", "") => Some(Filling::Full("0")),
            ("ones", "") => Some(Filling::Full("1")),
            ("full", number) if !number.is_empty() => Some(Filling::Full(number)),
            ("arange", "") => Some(Filling::Counted),
            ("random", "") => Some(Filling::Uniform),
            ("random", "normal") => Some(Filling::Normal),
            _ => None,
        }
    }

    /// A tensor of these sizes; random ones by a seed.
    ///
    /// # Errors
    /// [`Kind::Limit`] if it takes more bytes than the limits allow; as [`Shape::from_i64`] and
    /// [`text::parse_exact`].
    pub(crate) fn tensor(self, sizes: &[i64], dtype: DType, seed: u64, limits: &Limits) -> Result<Tensor> {
        let shape = Shape::from_i64(sizes)?;
        limits.allow_bytes(0, gradus::tensor_bytes(dtype, &shape))?;
        let len = shape.len();
        match self {
            Filling::Full(number) => {
                let number = text::parse_exact(number, dtype)?;
                Tensor::from_numbers(dtype, shape, std::iter::repeat_n(number, len), Rules::IEEE)
            }
            Filling::Counted => {
                let numbers = (0..i128::MAX).take(len).map(Number::Int);
                Tensor::from_numbers(dtype, shape, numbers, Rules::IEEE)
            }
            Filling::Uniform if dtype.is_float() => {
                let numbers = fractions(seed).map(|x| Number::Float(2.0 * x - 1.0)).take(len);
                Tensor::from_numbers(dtype, shape, numbers, Rules::IEEE)
            }
            Filling::Uniform => {
                let numbers = bits(seed).map(|bits| Number::Int((bits >> 63).into())).take(len);
                Tensor::from_numbers(dtype, shape, numbers, Rules::IEEE)
            }
            Filling::Within(min, max) => {
                let count = u128::from(min.abs_diff(max)) + 1;
                // The high half of the product is as even as 64 bits allow.
                let of = |bits: u64| {
                    i128::from(min) + i128::try_from((u128::from(bits) * count) >> 64).unwrap_or(0)
                };
                let numbers = bits(seed).map(|bits| Number::Int(of(bits))).take(len);
                Tensor::from_numbers(dtype, shape, numbers, Rules::IEEE)
            }
            Filling::Normal if dtype.is_float() => {
                let numbers = normal(seed).map(Number::Float).take(len);
                Tensor::from_numbers(dtype, shape, numbers, Rules::IEEE)
            }
            Filling::Normal => {
                Err(Error::mismatch(Kind::Type, "element type of random:normal", dtype, "a float"))
            }
        }
    }
}

/// Reads a tensor of that type; without a type, of text, bool, int64 or float32, whichever fits
/// first. Random ones have numbers of that seed.
pub(crate) fn parse(
    source: &str,
    dtype: Option<DType>,
    seed: u64,
    limits: &Limits,
) -> Result<Value, Mistake> {
    let mut reading = LiteralParser { source, at: 0, items: Vec::new(), dims: Vec::new() };
    reading.blanks();
    let word = reading.rest().split('[').next().unwrap_or_default();
    if word.len() < reading.rest().len() && word.starts_with(|c: char| c.is_ascii_alphabetic()) {
        let Some(filling) = Filling::of(word) else {
            return Err(reading.mistake(
                "expected a number, a list, or zeros, ones, full:NUMBER, arange, random or random:normal and a shape (zeros[2, 3]) here",
            ));
        };
        reading.at += word.len();
        return reading.filled(filling, dtype, seed, limits);
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

/// One number, word or text, and its position.
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

    /// A tensor of the shape here.
    fn filled(
        mut self,
        filling: Filling<'_>,
        dtype: Option<DType>,
        seed: u64,
        limits: &Limits,
    ) -> Result<Value, Mistake> {
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
            filling.tensor(&dims.collect::<Result<Vec<_>>>()?, dtype.unwrap_or(DType::F32), seed, limits)
        };
        make().map(Value::from).map_err(|error| Mistake::new(self.source, start..self.at, error))
    }
}

/// The numbers of the generator `SplitMix64` with a seed.
fn bits(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed;
    std::iter::from_fn(move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Some(mixed ^ (mixed >> 31))
    })
}

/// Their high 53 bits, as fractions from 0 to below 1.
fn fractions(seed: u64) -> impl Iterator<Item = f64> {
    bits(seed).map(|bits| gradus::convert::nearest_f64(Number::Int((bits >> 11).into())) / 2f64.powi(53))
}

/// Numbers of the standard normal distribution, each from two fractions (Box and Muller).
fn normal(seed: u64) -> impl Iterator<Item = f64> {
    let mut fractions = fractions(seed);
    std::iter::from_fn(move || {
        let (radius, angle) = (1.0 - fractions.next()?, std::f64::consts::TAU * fractions.next()?);
        Some((-2.0 * radius.ln()).sqrt() * angle.cos())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str, dtype: Option<DType>) -> String {
        match parse(source, dtype, 0, &Limits::DEFAULT) {
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
            ("random:normal[3]", None, "float32[3] [-1.8839084, 0.22760794, -0.22143789]"),
            ("full:0.1[2]", None, "float32[2] [0.1, 0.1]"),
            ("full:-7[1, 2]", Some(DType::I8), "int8[1, 2] [[-7, -7]]"),
            ("arange[2, 2]", Some(DType::I64), "int64[2, 2] [[0, 1],\n [2, 3]]"),
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
            (
                "twos[2, 3]",
                None,
                "t: expected a number, a list, or zeros, ones, full:NUMBER, arange, random or random:normal and a shape (zeros[2, 3]) here",
            ),
            ("full:300[2]", Some(DType::I8), "[2]: \"300\" is not in the range of int8"),
            (
                "random:normal[2]",
                Some(DType::I64),
                "[2]: element type of random:normal is int64, expected a float",
            ),
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
