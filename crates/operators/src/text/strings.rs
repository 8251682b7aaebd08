//! Evaluation of `StringNormalizer` and `Tokenizer`.

use gradus_core::convert::{product, usize_of_i64};
use gradus_core::{DType, Error, Kind, Result, Shape, Tensor, Value};
use regex::Regex;

use crate::attributes::{Attributes, required};
use crate::errors;
use crate::op::EvalContext;
use crate::output::allowed;
use crate::text::patterns::compiled;
use crate::words;

/// Another case for letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LetterCase {
    Lower,
    Upper,
    Same,
}

impl LetterCase {
    fn of(self, text: &str) -> String {
        match self {
            LetterCase::Lower => text.to_lowercase(),
            LetterCase::Upper => text.to_uppercase(),
            LetterCase::Same => text.to_owned(),
        }
    }
}

/// The attributes of `StringNormalizer`. Letters change as Unicode says, in every locale.
#[derive(Debug)]
pub struct Normalizer {
    case: LetterCase,
    /// The case in which words are compared to stopwords.
    compared: LetterCase,
    stopwords: Vec<String>,
}

impl Normalizer {
    /// The attributes of a `StringNormalizer`.
    pub fn of(attributes: &Attributes<'_>) -> Result<Normalizer> {
        let case = match words::CASE_CHANGE.of(attributes)? {
            "LOWER" => LetterCase::Lower,
            "UPPER" => LetterCase::Upper,
            _ => LetterCase::Same,
        };
        let compared =
            if attributes.flag("is_case_sensitive", false)? { LetterCase::Same } else { LetterCase::Lower };
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
    /// Tokens are the texts between matches of the expressions, which split one after the other.
    Between(Vec<Regex>),
}

impl Tokenizer {
    /// The attributes of a `Tokenizer`.
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

    /// The matches that are long enough; after one that is not, the search begins a character
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

    /// The parts between matches; after a match of no characters, one is skipped.
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
