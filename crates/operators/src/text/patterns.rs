//! Regular expressions, in the syntax of RE2.

use std::borrow::Cow;

use gradus_core::element::Bool;
use gradus_core::{Error, Kind, Result, Tensor, Value};
use regex::{Regex, RegexBuilder};

use crate::attributes::{Attributes, required};
use crate::op::EvalContext;

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

/// The character whose number has one to three octal digits after a backslash, of which `len` has
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

/// Returns true if the text after an open brace repeats the expression before it: `2}`, `2,}` or
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
    /// No range: the character ends one, or is a class.
    None,
    /// A character, with which one may begin.
    Low,
    /// The dash of one.
    Dash,
}

/// A regular expression, which an attribute gives.
pub(super) fn compiled(attribute: &str, text: &str) -> Result<Regex> {
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

/// `RegexFullMatch`: true where the whole string matches.
pub fn full_match(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let pattern = pattern(attributes)?;
    let (_, shape) = cx.output(0)?;
    let texts = cx.tensor(0)?.texts()?.iter();
    let matches = cx.limits().collect(texts.map(|text| Bool::from(pattern.is_match(text))))?;
    Ok(vec![Tensor::from_vec(shape, matches)?.into()])
}
