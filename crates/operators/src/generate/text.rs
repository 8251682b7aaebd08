//! Operators of text: words that are normalized, n-grams that are counted, patterns that match.

use std::borrow::Cow;
use std::collections::HashMap;

use gradus_core::convert::{i64_of, product, usize_of_i64};
use gradus_core::element::Bool;
use gradus_core::{DType, Error, Kind, Result, Shape, Tensor, Value};
use regex::{Regex, RegexBuilder};

use crate::attributes::{Attributes, required};
use crate::errors;
use crate::floats::Ring;
use crate::lowering::terms::{cast, with};
use crate::lowering::{LoweredValue, Lowering, int};
use crate::nn::decomposed::unsupported;
use crate::op::EvalContext;
use crate::output::allowed;

/// Bytes that a compiled pattern may take.
const MAX_PATTERN: usize = 1 << 20;

/// A regular expression of RE2, as `regex` writes it: `\w` and its like are of ASCII, a class has
/// no classes within nor intersections, and a brace that repeats nothing is a character.
fn of_re2(text: &str) -> String {
    let (mut all, mut rest, mut in_class, mut range) =
        (String::with_capacity(text.len()), text, false, Range::None);
    while let Some(c) = rest.chars().next() {
        let mut len = c.len_utf8();
        let before = range;
        let ends_range = before == Range::Dash;
        range = if ends_range { Range::None } else { Range::Low };
        let written: Cow<'_, str> = match c {
            '\\' => {
                let escaped = rest[len..].chars().next();
                len += escaped.map_or(0, char::len_utf8);
                let set = match escaped {
                    Some('d') => Some("[0-9]"),
                    Some('D') => Some("[^0-9]"),
                    Some('s') => Some(r"[\t\n\f\r ]"),
                    Some('S') => Some(r"[^\t\n\f\r ]"),
                    Some('w') => Some("[0-9A-Za-z_]"),
                    Some('W') => Some("[^0-9A-Za-z_]"),
                    _ => None,
                };
                match escaped {
                    Some('p' | 'P' | 'x') if rest[len..].starts_with('{') => {
                        len += rest[len..].find('}').map_or(0, |end| end + 1);
                        match rest[1..len].strip_prefix("p{^") {
                            Some(name) => format!(r"\P{{{name}").into(),
                            None => rest[..len].into(),
                        }
                    }
                    Some('b') if !in_class => r"(?-u:\b)".into(),
                    Some('B') if !in_class => r"(?-u:\B)".into(),
                    Some('Q') if !in_class => {
                        let quoted = rest[len..].split(r"\E").next().unwrap_or_default();
                        len = (len + quoted.len() + 2).min(rest.len());
                        regex::escape(quoted).into()
                    }
                    Some('0'..='7') => octal(rest, &mut len),
                    // Boundaries of words in `regex`.
                    Some('<') => "<".into(),
                    Some('>') => ">".into(),
                    _ => match set.filter(|_| !ends_range) {
                        Some(set) => {
                            range = Range::None;
                            set.into()
                        }
                        None => rest[..len].into(),
                    },
                }
            }
            '[' if in_class => match rest.find(":]").filter(|_| rest.starts_with("[:")) {
                Some(end) => {
                    (len, range) = (end + 2, Range::None);
                    rest[..len].into()
                }
                None => r"\[".into(),
            },
            '[' => {
                in_class = true;
                let open = ["[^]", "[]", "[^"].into_iter().find(|open| rest.starts_with(open));
                len = open.map_or(len, str::len);
                range = if rest[..len].ends_with(']') { Range::Low } else { Range::None };
                rest[..len].into()
            }
            ']' => {
                in_class = false;
                "]".into()
            }
            '-' if in_class && before == Range::Low && !rest.starts_with("-]") => {
                range = Range::Dash;
                "-".into()
            }
            '-' | '&' | '~' if in_class => format!(r"\{c}").into(),
            '{' if !in_class && !repeats(&rest[len..]) => r"\{".into(),
            _ => rest[..len].into(),
        };
        all.push_str(&written);
        rest = &rest[len..];
    }
    all
}

/// The character whose number has one to three octal digits behind a backslash, of which `len` has
/// one; references to groups, a digit other than 0, are left as they are.
fn octal<'a>(rest: &'a str, len: &mut usize) -> Cow<'a, str> {
    let digits = rest[1..].bytes().take(3).take_while(|digit| (b'0'..b'8').contains(digit)).count();
    if digits == 1 && !rest.starts_with(r"\0") {
        return rest[..*len].into();
    }
    *len = 1 + digits;
    let code = u32::from_str_radix(&rest[1..*len], 8).unwrap_or_default();
    format!(r"\x{{{code:x}}}").into()
}

/// Returns true if the text behind an open brace repeats what stands before it: `2}`, `2,}` or
/// `2,3}`.
fn repeats(text: &str) -> bool {
    let Some((counts, _)) = text.split_once('}') else { return false };
    let (least, most) = counts.split_once(',').unwrap_or((counts, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    !least.is_empty() && digits(least) && digits(most)
}

/// The part of a range in a class that the last character is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Range {
    /// None: it ends one, or is a class.
    None,
    /// A character, with which one may begin.
    Low,
    /// The dash of one.
    Dash,
}

/// A regular expression, which an attribute gives.
fn compiled(attribute: &str, text: &str) -> Result<Regex> {
    built(attribute, &of_re2(text))
}

fn built(attribute: &str, written: &str) -> Result<Regex> {
    RegexBuilder::new(written).size_limit(MAX_PATTERN).build().map_err(|error| {
        let why = error.to_string();
        let why = why.lines().last().unwrap_or_default();
        Error::new(Kind::Value, format!("cannot read attribute \"{attribute}\": {why}"))
    })
}

/// The pattern of `RegexFullMatch`, to be found from the start of a text to its end.
pub fn pattern(attributes: &Attributes<'_>) -> Result<Regex> {
    let pattern = required("pattern", attributes.text("pattern")?)?;
    compiled("pattern", pattern)?;
    built("pattern", &format!(r"\A(?:{})\z", of_re2(pattern)))
}

pub fn full_match(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let pattern = pattern(attributes)?;
    let (_, shape) = cx.output(0)?;
    let texts = cx.tensor(0)?.texts()?.iter();
    let matches = cx.limits().collect(texts.map(|text| Bool::from(pattern.is_match(text))))?;
    Ok(vec![Tensor::from_vec(shape, matches)?.into()])
}

/// Another case for letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Case {
    Lower,
    Upper,
    Same,
}

impl Case {
    fn of(self, text: &str) -> String {
        match self {
            Case::Lower => text.to_lowercase(),
            Case::Upper => text.to_uppercase(),
            Case::Same => text.to_owned(),
        }
    }
}

/// The attributes of `StringNormalizer`. Letters change as Unicode says, in every locale.
#[derive(Debug)]
pub struct Normalizer {
    case: Case,
    /// The case in which words are compared to stopwords.
    compared: Case,
    stopwords: Vec<String>,
}

impl Normalizer {
    pub fn of(attributes: &Attributes<'_>) -> Result<Normalizer> {
        let case = match attributes.text("case_change_action")?.unwrap_or("NONE") {
            "LOWER" => Case::Lower,
            "UPPER" => Case::Upper,
            "NONE" => Case::Same,
            other => return Err(errors::text("case_change_action", other, "LOWER, UPPER or NONE")),
        };
        let compared = if attributes.flag("is_case_sensitive", false)? { Case::Same } else { Case::Lower };
        let stopwords = attributes.texts("stopwords")?.unwrap_or_default();
        Ok(Normalizer { case, compared, stopwords: stopwords.iter().map(|word| compared.of(word)).collect() })
    }
}

/// `StringNormalizer`: elements that are stopwords are dropped; where none is left, one empty text
/// is.
pub fn normalize(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let normalizer = Normalizer::of(attributes)?;
    let data = cx.tensor(0)?;
    let bytes: usize = data.texts()?.iter().map(|text| text.len()).sum();
    // A letter in another case takes at most three times its bytes.
    cx.reserve(product(bytes, 6) + product(data.len(), 6 * size_of::<String>()))?;
    let stops = |text: &str| normalizer.stopwords.contains(&normalizer.compared.of(text));
    let kept = data.texts()?.iter().filter(|text| normalizer.stopwords.is_empty() || !stops(text));
    let kept = kept.map(|text| normalizer.case.of(text).into_boxed_str());
    let mut kept = cx.limits().collect(kept)?;
    if kept.is_empty() && !normalizer.stopwords.is_empty() {
        kept.push("".into());
    }
    let mut dims = data.shape().dims().to_vec();
    if let Some(last) = dims.last_mut() {
        *last = kept.len();
    }
    Ok(vec![Tensor::from_text(Shape::new(dims)?, kept)?.into()])
}

/// The attributes of ONNX Runtime's `Tokenizer`.
#[derive(Debug)]
pub struct Tokenizer {
    split: Splitting,
    /// Tokens of fewer characters are left out.
    shortest: usize,
    /// Tokens begin with U+0002, and end with U+0003.
    marks: bool,
    pad: Box<str>,
}

#[derive(Debug)]
enum Splitting {
    /// Each character is a token.
    Characters,
    /// Tokens are what the expression matches.
    Matches(Regex),
    /// Tokens are what stands between matches of the expressions, which split one after the other.
    Between(Vec<Regex>),
}

impl Tokenizer {
    pub fn of(attributes: &Attributes<'_>) -> Result<Tokenizer> {
        let shortest = required("mincharnum", attributes.int("mincharnum")?)?;
        let shortest = usize_of_i64(errors::at_least_1("mincharnum", shortest)?).unwrap_or(usize::MAX);
        let separators = attributes.texts("separators")?.filter(|separators| !separators.is_empty());
        let split = match (attributes.text("tokenexp")?.filter(|text| !text.is_empty()), separators) {
            (Some(expression), None) => Splitting::Matches(compiled("tokenexp", expression)?),
            (None, Some(separators)) if *separators == [""] => Splitting::Characters,
            (None, Some(separators)) => {
                let each = separators.iter().map(|text| compiled("separators", text));
                Splitting::Between(each.collect::<Result<_>>()?)
            }
            (given, _) => {
                let which = if given.is_some() { "both" } else { "none" };
                let what = "cannot tokenize: the attributes \"separators\" and \"tokenexp\"";
                return Err(Error::mismatch(Kind::Value, what, which, "one of them"));
            }
        };
        let marks = required("mark", attributes.int("mark")?)? != 0;
        let pad = required("pad_value", attributes.text("pad_value")?)?.into();
        Ok(Tokenizer { split, shortest, marks, pad })
    }

    fn tokens<'a>(&self, text: &'a str) -> Vec<&'a str> {
        let mut tokens = match &self.split {
            Splitting::Characters => {
                text.char_indices().map(|(at, c)| &text[at..at + c.len_utf8()]).collect()
            }
            Splitting::Matches(expression) => self.matches(expression, text),
            Splitting::Between(separators) => separators.iter().fold(vec![text], |parts, separator| {
                parts.iter().flat_map(|part| self.between(separator, part)).collect()
            }),
        };
        tokens.retain(|token| self.is_long_enough(token));
        tokens
    }

    fn is_long_enough(&self, token: &str) -> bool {
        token.chars().take(self.shortest).count() == self.shortest
    }

    /// The matches that are long enough; behind one that is not, the search begins a character
    /// later.
    fn matches<'a>(&self, expression: &Regex, text: &'a str) -> Vec<&'a str> {
        let (mut tokens, mut start) = (Vec::new(), 0);
        while start <= text.len() {
            let Some(found) = expression.find_at(text, start) else { break };
            start = if self.is_long_enough(found.as_str()) {
                tokens.push(found.as_str());
                found.end()
            } else {
                found.start() + text[found.start()..].chars().next().map_or(1, char::len_utf8)
            };
        }
        tokens
    }

    /// The parts between matches; behind a match of no characters, one is skipped.
    fn between<'a>(&self, separator: &Regex, text: &'a str) -> Vec<&'a str> {
        let (mut parts, mut start) = (Vec::new(), 0);
        while start <= text.len() {
            let Some(found) = separator.find_at(text, start) else { break };
            parts.push(&text[start..found.start()]);
            start = found.end();
            if found.is_empty() {
                start += text[start..].chars().next().map_or(1, char::len_utf8);
            }
        }
        parts.extend(text.get(start..));
        parts.retain(|part| self.is_long_enough(part));
        parts
    }
}

/// ONNX Runtime's `Tokenizer`: the tokens of each text, filled up to the longest list.
pub fn tokenize(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let tokenizer = Tokenizer::of(attributes)?;
    let data = cx.tensor(0)?;
    let bytes: usize = data.texts()?.iter().map(|text| text.len()).sum();
    // At most a token for each byte, in lists that grow by doubling.
    cx.reserve(product(bytes, 4 * size_of::<&str>()) + product(data.len(), size_of::<Vec<&str>>()))?;
    let limits = cx.limits();
    let mut rows = Vec::with_capacity(data.len());
    for text in data.texts()? {
        limits.check()?;
        rows.push(tokenizer.tokens(text));
    }
    let longest = rows.iter().map(Vec::len).max().unwrap_or(0);
    let marks = usize::from(tokenizer.marks && longest > 0);
    let longest = longest + 2 * marks;
    let shape = allowed(cx, DType::String, &[data.shape().dims(), &[longest]].concat())?;
    cx.reserve(product(shape.len(), tokenizer.pad.len()) + product(bytes, 1))?;
    let (start, end) = (["\u{2}"], ["\u{3}"]);
    let texts = rows.iter().flat_map(|row| {
        let all = start[..marks].iter().chain(row).chain(&end[..marks]);
        let pads = std::iter::repeat_n(&*tokenizer.pad, longest - row.len() - 2 * marks);
        all.copied().chain(pads).map(Box::from)
    });
    Ok(vec![Tensor::from_text(shape, texts.collect::<Vec<Box<str>>>())?.into()])
}

/// A token of a text: an integer or a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Token<'a> {
    Integer(i64),
    Word(&'a str),
}

/// The attributes of `TfIdfVectorizer`.
#[derive(Debug)]
pub struct Grams<'a> {
    pool: Vec<Token<'a>>,
    /// Where the n-grams of each length begin in the pool.
    starts: Vec<usize>,
    /// The coordinate of each n-gram in the output.
    indexes: Vec<usize>,
    weights: Option<&'a [f32]>,
    mode: &'a str,
    shortest: usize,
    longest: usize,
    skips: usize,
    width: i64,
}

impl<'a> Grams<'a> {
    pub fn of(attributes: &Attributes<'a>) -> Result<Grams<'a>> {
        let pool: Vec<_> = match (attributes.ints("pool_int64s")?, attributes.texts("pool_strings")?) {
            (Some(all), None) => all.iter().map(|&integer| Token::Integer(integer)).collect(),
            (None, Some(all)) => all.into_iter().map(Token::Word).collect(),
            (given, _) => {
                let got = if given.is_some() { 2 } else { 0 };
                return Err(Error::mismatch(
                    Kind::Graph,
                    "the number of attributes that give a pool",
                    got,
                    1,
                ));
            }
        };
        let mode = required("mode", attributes.text("mode")?)?;
        if !["TF", "IDF", "TFIDF"].contains(&mode) {
            return Err(errors::text("mode", mode, "TF, IDF or TFIDF"));
        }
        let list = |name: &str| {
            let all = required(name, attributes.ints(name)?)?;
            let wrong = |x| errors::value(format_args!("attribute \"{name}\""), x, "at least 0");
            all.iter().map(|&x| usize_of_i64(x).ok_or_else(|| wrong(x))).collect::<Result<Vec<_>>>()
        };
        let at_least = |name: &str, least: i64| {
            let given = required(name, attributes.int(name)?)?;
            let size = usize_of_i64(given).filter(|_| given >= least);
            size.ok_or_else(|| {
                errors::value(format_args!("attribute \"{name}\""), given, format_args!("at least {least}"))
            })
        };
        let (starts, indexes) = (list("ngram_counts")?, list("ngram_indexes")?);
        let order = starts.iter().copied().zip(starts.iter().skip(1).copied().chain([pool.len()]));
        if let Some((start, end)) = order.clone().find(|(start, end)| start > end) {
            return Err(errors::value(
                "a start in attribute \"ngram_counts\"",
                start,
                format!("at most {end}"),
            ));
        }
        let count: usize = order.enumerate().map(|(n, (start, end))| (end - start) / (n + 1)).sum();
        if indexes.len() != count {
            return Err(errors::count("elements of attribute \"ngram_indexes\"", indexes.len(), count));
        }
        let last = attributes.ints("ngram_indexes")?.and_then(|all| all.iter().max().copied());
        let width = last.map_or(0, |last| last.saturating_add(1));
        let weights = attributes.floats("weights")?.filter(|weights| !weights.is_empty() && mode != "TF");
        if let Some(weights) = weights
            && usize_of_i64(width).is_none_or(|width| weights.len() < width)
        {
            let wanted = format_args!("at least {width}");
            return Err(errors::count("elements of attribute \"weights\"", weights.len(), wanted));
        }
        let (shortest, longest) = (at_least("min_gram_length", 1)?, at_least("max_gram_length", 1)?);
        let skips = at_least("max_skip_count", 0)?;
        Ok(Grams { pool, starts, indexes, weights, mode, shortest, longest, skips, width })
    }

    /// The number of coordinates.
    pub fn width(&self) -> i64 {
        self.width
    }

    /// Checks that the pool holds what the input does.
    pub fn check(&self, dtype: DType) -> Result<()> {
        let words = dtype == DType::String;
        match self.pool.first() {
            Some(Token::Integer(_)) if words => Err(errors::dtype(dtype, "int32 or int64, as the pool")),
            Some(Token::Word(_)) if !words => Err(errors::dtype(dtype, "string, as the pool")),
            _ => Ok(()),
        }
    }

    /// The coordinate of each n-gram whose length is counted.
    fn coordinates(&self) -> HashMap<&[Token<'a>], usize> {
        let mut all = HashMap::new();
        let mut indexes = self.indexes.iter();
        let ends = self.starts.iter().skip(1).copied().chain([self.pool.len()]);
        for (n, (&start, end)) in self.starts.iter().zip(ends).enumerate() {
            for (gram, &index) in self.pool[start..end].chunks_exact(n + 1).zip(indexes.by_ref()) {
                if (self.shortest..=self.longest).contains(&(n + 1)) {
                    all.insert(gram, index);
                }
            }
        }
        all
    }
}

/// `TfIdfVectorizer`. Weights belong to coordinates, as in ONNX Runtime and in ONNX's reference;
/// the text gives them to n-grams, which is the same where coordinates count n-grams.
pub fn tf_idf(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let grams = Grams::of(attributes)?;
    let data = cx.tensor(0)?;
    grams.check(data.dtype())?;
    cx.reserve(product(data.len() + 2 * grams.pool.len(), 4 * size_of::<Token<'_>>()))?;
    let tokens: Vec<_> = match data.dtype() {
        DType::String => data.texts()?.iter().map(|text| Token::Word(text)).collect(),
        _ => cx.integers(0)?.into_iter().map(Token::Integer).collect(),
    };
    let (dtype, shape) = cx.output(0)?;
    allowed(cx, dtype, shape.dims())?;
    let mut counts = vec![0.0f64; shape.len()];
    let width = shape.dims().last().copied().unwrap_or(0);
    let row = data.shape().dims().last().copied().unwrap_or(1);
    let coordinates = grams.coordinates();
    let lengths: Vec<_> =
        (1..=grams.starts.len()).filter(|n| (grams.shortest..=grams.longest).contains(n)).collect();
    for (tokens, counts) in tokens.chunks(row.max(1)).zip(counts.chunks_mut(width.max(1))) {
        for distance in 1..=grams.skips.saturating_add(1).min(row.max(1)) {
            // A single token has no distance.
            for &n in lengths.iter().filter(|&&n| n > 1 || distance == 1) {
                let span = (n - 1).saturating_mul(distance).saturating_add(1);
                let windows = tokens.windows(span.max(1));
                cx.run.touch(product(windows.len(), n))?;
                for window in windows {
                    let gram: Vec<_> = window.iter().step_by(distance).copied().collect();
                    if let Some(&index) = coordinates.get(&gram[..]) {
                        counts[index] += 1.0;
                    }
                }
            }
        }
        for (index, count) in counts.iter_mut().enumerate().filter(|_| grams.mode != "TF") {
            let weight = grams.weights.map_or(1.0, |weights| weights[index].into());
            *count = weight * if grams.mode == "IDF" { count.min(1.0) } else { *count };
        }
    }
    Ok(vec![f64::tensor(dtype, shape, &counts)?.into()])
}

/// Most comparisons of a list of n-grams with windows of one distance.
const MAX_COMPARISONS: usize = 64;

/// `TfIdfVectorizer` of integers: each n-gram is compared with all windows of its length and
/// distance, and the windows that are equal are counted.
pub fn compared_grams(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let grams = Grams::of(&l.attributes)?;
    let (dtype, rank) = (l.dtype_of(0)?, l.rank_of(0)?);
    grams.check(dtype)?;
    if dtype == DType::String {
        return Err(unsupported("TfIdfVectorizer of strings"));
    }
    let (mut x, first, last) = (l.input(0)?, l.list(&[0])?, l.list(&[2])?);
    if dtype != DType::I64 {
        x = l.cast(x, DType::I64)?;
    }
    if rank == 1 {
        x = l.apply("Unsqueeze", &[x, first], &[])?;
    }
    let mut all: Vec<(Vec<i64>, usize)> = Vec::new();
    for (gram, index) in grams.coordinates() {
        let integer = |token: &Token<'_>| if let Token::Integer(x) = token { Some(*x) } else { None };
        all.extend(gram.iter().map(integer).collect::<Option<_>>().map(|gram| (gram, index)));
    }
    all.sort_by(|(a, i), (b, j)| (a.len(), i, a).cmp(&(b.len(), j, b)));
    let second = l.list(&[1])?;
    let mut counts = Vec::new();
    for grams_of_length in all.chunk_by(|(a, _), (b, _)| a.len() == b.len()) {
        let n = grams_of_length[0].0.len();
        let distances = if n == 1 { 1 } else { grams.skips.saturating_add(1) };
        if distances.saturating_mul(n) > MAX_COMPARISONS {
            return Err(unsupported("TfIdfVectorizer of as many lengths and distances"));
        }
        let columns = (0..n).map(|at| {
            let column: Vec<_> = grams_of_length.iter().map(|(gram, _)| gram[at]).collect();
            l.constant(Tensor::from_vec(Shape::new([column.len(), 1])?, column)?)
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let mut sum = None;
        for distance in (1..=distances).map(i64_of) {
            let mut equal = None;
            for (at, &column) in columns.iter().enumerate() {
                let behind = i64_of(n - 1 - at) * distance;
                let start = l.list(&[i64_of(at) * distance])?;
                let end = l.list(&[if behind == 0 { i64::MAX } else { -behind }])?;
                let part = l.apply("Slice", &[x, start, end, second], &[])?;
                let part = l.apply("Unsqueeze", &[part, second], &[])?;
                let own = l.apply("Equal", &[part, column], &[])?;
                equal = Some(match equal {
                    Some(equal) => l.apply("And", &[equal, own], &[])?,
                    None => own,
                });
            }
            let equal = equal.ok_or_else(|| errors::missing("element of an n-gram"))?;
            let found =
                with("ReduceSum", [cast(equal, DType::I64), last.into()], [int("keepdims", 0)]).put(l)?;
            sum = Some(match sum {
                Some(sum) => l.apply("Add", &[sum, found], &[])?,
                None => found,
            });
        }
        counts.extend(sum);
    }
    if counts.is_empty() {
        return Err(unsupported("TfIdfVectorizer that counts no n-grams"));
    }
    let counts = l.apply("Concat", &counts, &[int("axis", 1)])?;
    // A column of zeros for coordinates of no n-gram.
    let pads = l.list(&[0, 0, 0, 1])?;
    let counts = l.apply("Pad", &[counts, pads], &[])?;
    let width = usize_of_i64(grams.width()).filter(|&width| width <= 1 << 24);
    let width = width.ok_or_else(|| unsupported("TfIdfVectorizer of as many coordinates"))?;
    let mut places: Vec<Vec<usize>> = vec![Vec::new(); width];
    for (place, (_, index)) in all.iter().enumerate() {
        places[*index].push(place);
    }
    let mut value = None;
    for turn in 0..places.iter().map(Vec::len).max().unwrap_or(0) {
        let own = |places: &Vec<usize>| i64_of(places.get(turn).copied().unwrap_or(all.len()));
        let own = l.list(&places.iter().map(own).collect::<Vec<_>>())?;
        let part = l.apply("Gather", &[counts, own], &[int("axis", 1)])?;
        value = Some(match value {
            Some(value) => l.apply("Add", &[value, part], &[])?,
            None => part,
        });
    }
    let mut value = value.ok_or_else(|| errors::missing("coordinate of an n-gram"))?;
    if grams.mode == "IDF" {
        let one = l.constant(Tensor::scalar(1i64))?;
        value = l.apply("Min", &[value, one], &[])?;
    }
    let mut value = l.cast(value, DType::F32)?;
    if let Some(weights) = grams.weights {
        let weights = l.constant(Tensor::vector(&weights[..width]))?;
        value = l.apply("Mul", &[value, weights], &[])?;
    }
    Ok(vec![if rank == 1 { l.apply("Squeeze", &[value, first], &[])? } else { value }])
}
