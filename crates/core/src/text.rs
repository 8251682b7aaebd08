//! Numbers as text: the shortest decimals that read back as the same element, and reading decimals
//! exactly. Names as text that can be shown.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::convert::{self, Rules, nearest_f32, nearest_f64};
use crate::dtype::{Class, DType};
use crate::error::{Error, Kind, Result};
use crate::exact::Number;
use crate::float::Format;

/// Returns a path as an address: bytes that are no letters, digits or marks are written by their
/// codes.
///
/// ```
/// assert_eq!(gradus_core::text::address("a b/ü"), "a%20b/%C3%BC");
/// ```
pub fn address(path: &str) -> String {
    let mut address = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                address.push(char::from(byte));
            }
            _ => address.extend([format!("%{byte:02X}")]),
        }
    }
    address
}

/// Returns text that comes from a file with its control characters written as `\\u{1b}` or `\\n`,
/// so that it can neither steer a terminal nor begin a line. Marks that reorder text count too.
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(unsafe_to_show) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if unsafe_to_show(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// Longest name in a message, in characters.
const LONGEST_NAME: usize = 400;

/// Returns a name as messages have it: the middle of a long one is left out, as a model names a
/// value once and messages may name it many times.
pub fn name_in_message(name: &str) -> Cow<'_, str> {
    if name.len() <= LONGEST_NAME { Cow::Borrowed(name) } else { shortened(name, LONGEST_NAME) }
}

/// Returns text with its middle left out where it has more than `most` characters, at least one.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most || text.chars().nth(most).is_none() {
        return Cow::Borrowed(text);
    }
    let (before, after) = ((most - 1) / 2, most / 2);
    let end = text.char_indices().nth(before).map_or(0, |(at, _)| at);
    let start = text.char_indices().rev().take(after).last().map_or(text.len(), |(at, _)| at);
    let parts = text.get(..end).zip(text.get(start..));
    parts.map_or(Cow::Borrowed(text), |(before, after)| Cow::Owned(format!("{before}…{after}")))
}

/// Returns true for control characters, separators of lines, and marks that reorder text.
pub fn unsafe_to_show(c: char) -> bool {
    let reorders = matches!(
        c,
        '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    c.is_control() || reorders
}

/// The shortest text that reads back as the same element of that type, as Python writes it: `0.1`,
/// `1e-07`, `2.0`, `nan`, `-inf`, `(1+2j)`; booleans are `true` and `false`.
pub fn shortest(number: Number, dtype: DType) -> String {
    match number {
        Number::Int(x) if dtype == DType::Bool => (x != 0).to_string(),
        Number::Int(x) => x.to_string(),
        Number::Float(x) => shortest_float(x, dtype),
        Number::Complex(re, im) => {
            let part = if dtype == DType::C64 { DType::F32 } else { DType::F64 };
            let sign = if im.is_sign_negative() && !im.is_nan() { "" } else { "+" };
            format!("({}{sign}{}j)", shortest_float(re, part), shortest_float(im, part))
        }
    }
}

fn shortest_float(x: f64, dtype: DType) -> String {
    if x.is_nan() {
        return "nan".into();
    }
    let sign = if x.is_sign_negative() { "-" } else { "" };
    if x.is_infinite() {
        return format!("{sign}inf");
    }
    let decimal = DecimalText::shortest(x.abs(), dtype);
    // Python's repr changes to an exponent at 1e16 and below 1e-4.
    if (-3..=16).contains(&decimal.point) {
        return format!("{sign}{}", decimal.plain());
    }
    let (first, rest) = decimal.digits.split_at(1);
    let dot = if rest.is_empty() { "" } else { "." };
    let exponent = decimal.point - 1;
    let exponent_sign = if exponent < 0 { '-' } else { '+' };
    format!("{sign}{first}{dot}{rest}e{exponent_sign}{:02}", exponent.abs())
}

/// The text of a number as ONNX Cast writes it: the shortest, but without an exponent, and with the
/// special values that Cast reads: `NaN`, `INF`, `-INF`. Booleans are `True` and `False`.
pub fn to_text(number: Number, dtype: DType) -> Box<str> {
    let text = match number {
        Number::Int(x) if dtype == DType::Bool => if x == 0 { "False" } else { "True" }.to_owned(),
        Number::Float(x) if x.is_nan() => "NaN".to_owned(),
        Number::Float(x) => {
            let sign = if x.is_sign_negative() { "-" } else { "" };
            let rest =
                if x.is_infinite() { "INF".into() } else { DecimalText::shortest(x.abs(), dtype).plain() };
            format!("{sign}{rest}")
        }
        _ => shortest(number, dtype),
    };
    text.into()
}

/// A decimal number from zero: `0.d1d2d3… * 10^point`, with neither leading nor trailing zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
struct DecimalText {
    digits: String,
    point: i64,
}

impl DecimalText {
    /// From digits, a dot somewhere, and an exponent: `12.50e3`. Nothing if the text is anything
    /// else.
    fn parse(text: &str) -> Option<DecimalText> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, parse_exponent(exponent)?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        if digits.is_empty() || !digits.bytes().all(|c| c.is_ascii_digit()) {
            return None;
        }
        let significant = digits.trim_start_matches('0');
        let leading = convert::i64_of(digits.len() - significant.len());
        let point = convert::i64_of(whole.len()).saturating_sub(leading).saturating_add(exponent);
        let digits = significant.trim_end_matches('0').to_owned();
        Some(if digits.is_empty() { DecimalText { digits, point: 0 } } else { DecimalText { digits, point } })
    }

    /// The shortest decimal that reads back as a finite float of that type.
    fn shortest(x: f64, dtype: DType) -> DecimalText {
        let text = match dtype {
            DType::F64 => format!("{x:e}"),
            DType::F32 => format!("{:e}", nearest_f32(Number::Float(x))),
            _ => {
                let code_of = |number| convert::code(dtype, number, Rules::IEEE);
                let code = code_of(Number::Float(x));
                // Types without infinities read whatever is larger as their maximum.
                let is_maximum = code_of(Number::Float(2.0 * x)) == code;
                let reads_back = |text: &String| {
                    let larger = |number| is_maximum && nearest_f64(number) > x;
                    parse_for(text, dtype).is_ok_and(|number| code_of(number) == code && !larger(number))
                };
                (0..17)
                    .map(|digits| format!("{x:.digits$e}"))
                    .find(reads_back)
                    .unwrap_or_else(|| format!("{x:e}"))
            }
        };
        DecimalText::parse(&text).expect("a float is formatted as digits and an exponent")
    }

    /// The number without an exponent, with at least one digit on either side of the dot.
    fn plain(&self) -> String {
        let digits = &self.digits;
        let zeros = |count: i64| "0".repeat(convert::usize_of_i64(count).unwrap_or(0));
        match convert::usize_of_i64(self.point) {
            Some(point) if point < digits.len() => {
                let (whole, fraction) = digits.split_at(point);
                format!("{}.{fraction}", if whole.is_empty() { "0" } else { whole })
            }
            Some(_) if digits.is_empty() => "0.0".to_owned(),
            Some(_) => format!("{digits}{}.0", zeros(self.point - convert::i64_of(digits.len()))),
            None => format!("0.{}{digits}", zeros(-self.point)),
        }
    }

    /// The digits before the dot as an integer, if it fits, and whether there are digits after the
    /// dot.
    fn whole(&self) -> Option<(i128, bool)> {
        let Some(point) = convert::usize_of_i64(self.point) else {
            return Some((0, !self.digits.is_empty()));
        };
        if point > 38 && !self.digits.is_empty() {
            return None;
        }
        let (whole, fraction) = self.digits.split_at(point.min(self.digits.len()));
        let zeros = "0".repeat(if whole.is_empty() { 0 } else { point - whole.len() });
        let whole = if whole.is_empty() { 0 } else { format!("{whole}{zeros}").parse().ok()? };
        Some((whole, !fraction.is_empty()))
    }
}

impl PartialOrd for DecimalText {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for DecimalText {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.digits.is_empty(), other.digits.is_empty()) {
            (false, false) => self.point.cmp(&other.point).then_with(|| self.digits.cmp(&other.digits)),
            (empty, other_empty) => other_empty.cmp(&empty),
        }
    }
}

/// An exponent; one that has more digits than any float needs saturates.
fn parse_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let magnitude = digits.parse().unwrap_or(i64::MAX / 4).min(i64::MAX / 4);
    Some(if text.starts_with('-') { -magnitude } else { magnitude })
}

/// Reads a number so that converting it to that type is one correct rounding of the decimal that is
/// written.
///
/// Accepts digits with a dot and an exponent, `inf`, `infinity` and `nan` in any case with a sign,
/// `true` and `false`, all with blanks around. For an integer type the number comes back as an
/// integer, cut toward zero.
///
/// # Errors
/// [`Kind::Value`] if the text is not a number.
pub fn parse_for(text: &str, dtype: DType) -> Result<Number> {
    parse(text, dtype).map(|(number, _)| number)
}

/// As [`parse_for`], but the number must be one that an integer type holds.
///
/// # Errors
/// [`Kind::Value`] if the text is not a number, or is not a number of that type; [`Kind::Type`] for
/// text.
pub fn parse_exact(text: &str, dtype: DType) -> Result<Number> {
    let (number, cut) = parse(text, dtype)?;
    let not_one = |why: &str| {
        let error = Error::new(Kind::Value, format!("\"{text}\" is not {why} {dtype}"));
        error.with_got(format_args!("\"{text}\"")).with_wanted(dtype)
    };
    if dtype.is_integer() {
        let fits = convert::number(dtype, convert::code(dtype, number, Rules::IEEE)) == number;
        if cut || !fits {
            return Err(not_one(if cut { "an integer for" } else { "in the range of" }));
        }
    }
    if dtype == DType::Bool && (number != Number::Int(0) && number != Number::Int(1)) {
        return Err(not_one("true or false for"));
    }
    Ok(number)
}

fn parse(text: &str, dtype: DType) -> Result<(Number, bool)> {
    let fail = || {
        let error = Error::new(Kind::Value, format!("\"{text}\" is not a number"));
        error.with_got(format_args!("\"{text}\"")).with_wanted("a number")
    };
    let trimmed = text.trim();
    let (negative, magnitude) = match trimmed.as_bytes() {
        [b'-', ..] => (true, &trimmed[1..]),
        [b'+', ..] => (false, &trimmed[1..]),
        _ => (false, trimmed),
    };
    let signed = |x: f64| Number::Float(if negative { -x } else { x });
    let is_word = |words: &[&str]| words.iter().any(|word| magnitude.eq_ignore_ascii_case(word));
    if is_word(&["inf", "infinity"]) {
        return Ok((signed(f64::INFINITY), dtype.is_integer()));
    }
    if is_word(&["nan"]) {
        return Ok((signed(f64::NAN), dtype.is_integer()));
    }
    if is_word(&["true", "false"]) {
        return Ok((Number::Int(i128::from(is_word(&["true"]))), false));
    }
    let decimal = DecimalText::parse(magnitude).ok_or_else(fail)?;
    if (dtype.is_integer() || dtype == DType::Bool)
        && let Some((whole, cut)) = decimal.whole()
    {
        return Ok((Number::Int(if negative { -whole } else { whole }), cut));
    }
    let nearest = |x: Option<f64>| x.ok_or_else(fail);
    Ok((
        signed(match dtype {
            DType::F32 | DType::C64 => nearest(magnitude.parse::<f32>().ok().map(f64::from))?,
            _ if dtype.class() == Class::Float && dtype != DType::F64 => {
                undecided(nearest(magnitude.parse().ok())?, &decimal, dtype)
            }
            _ => nearest(magnitude.parse().ok())?,
        }),
        false,
    ))
}

/// A float on the same side of every midpoint of a narrower type as the decimal next to it.
///
/// Midpoints of narrower types are floats. So the nearest float to a decimal lies on the wrong side
/// of one only if it is that midpoint; then the decimal itself says which side is right.
fn undecided(nearest: f64, decimal: &DecimalText, dtype: DType) -> f64 {
    let code = |x: f64| convert::code(dtype, Number::Float(x), Rules::IEEE);
    if !nearest.is_finite()
        || Format::of(dtype).is_none()
        || code(nearest.next_up()) == code(nearest.next_down())
    {
        return nearest;
    }
    // No float has more than 1074 digits after the dot.
    let exact =
        DecimalText::parse(&format!("{nearest:.1074}")).expect("a finite float is formatted as digits");
    match decimal.cmp(&exact) {
        Ordering::Less => nearest.next_down(),
        Ordering::Equal => nearest,
        Ordering::Greater => nearest.next_up(),
    }
}

/// The value of a decimal as a float, for messages and plots.
///
/// # Errors
/// [`Kind::Value`] if the text is not a number.
pub fn parse_f64(text: &str) -> Result<f64> {
    parse_for(text, DType::F64).map(nearest_f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_print_as_python_prints_them() {
        let cases = [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (0.1, "0.1"),
            (1e16, "1e+16"),
            (1234567890123456.0, "1234567890123456.0"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (-1.5e-300, "-1.5e-300"),
            (5e-324, "5e-324"),
            (f64::NAN, "nan"),
            (f64::NEG_INFINITY, "-inf"),
        ];
        for (x, want) in cases {
            assert_eq!(shortest(Number::Float(x), DType::F64), want);
        }
    }

    #[test]
    fn narrow_types_print_only_the_digits_they_need() {
        // Larger numbers read as the maximum too, but are none of the type.
        for (x, dtype, want) in [(28.0, DType::F6E3M2, "28.0"), (7.5, DType::F6E2M3, "7.5")] {
            assert_eq!(shortest(Number::Float(x), dtype), want);
            assert_eq!(shortest(Number::Float(-x), dtype), format!("-{want}"));
        }
        let cases = [
            (DType::F16, "0.1"),
            (DType::BF16, "0.1"),
            (DType::F8E4M3FN, "0.1"),
            (DType::F16, "65500.0"),
            (DType::F32, "16777216.0"),
            (DType::F8E8M0, "2e-38"),
            (DType::F4E2M1, "0.5"),
        ];
        for (dtype, text) in cases {
            let number =
                convert::number(dtype, convert::code(dtype, parse_for(text, dtype).unwrap(), Rules::IEEE));
            assert_eq!(shortest(number, dtype), text, "{dtype}");
        }
    }

    #[test]
    fn cast_writes_no_exponents() {
        assert_eq!(&*to_text(Number::Float(1e-7), DType::F64), "0.0000001");
        assert_eq!(&*to_text(Number::Float(1e20), DType::F32), "100000000000000000000.0");
        assert_eq!(&*to_text(Number::Float(f64::NEG_INFINITY), DType::F32), "-INF");
        assert_eq!(&*to_text(Number::Int(1), DType::Bool), "True");
    }

    #[test]
    fn decimals_just_off_a_midpoint_are_rounded_once() {
        // 2049 is the midpoint of the halfs 2048 and 2050; the nearest double of the second text is
        // 2049 itself.
        let cases = [
            ("2049", 2048.0),
            ("2049.00000000000000000000000001", 2050.0),
            ("2048.99999999999999999999999999", 2048.0),
            ("2051", 2052.0),
            ("2050.99999999999999999999999999", 2050.0),
            ("-2049.00000000000000000000000001", -2050.0),
        ];
        for (text, want) in cases {
            let half = convert::nearest_f16(parse_for(text, DType::F16).unwrap());
            assert_eq!(f64::from(half), want, "{text}");
        }
    }

    #[test]
    fn integers_are_read_to_the_last_digit() {
        let read = |text| parse_exact(text, DType::I64);
        assert_eq!(read("9007199254740993").unwrap(), Number::Int(9_007_199_254_740_993));
        assert_eq!(read("9007199254740993.00").unwrap(), Number::Int(9_007_199_254_740_993));
        assert_eq!(read("-9.223372036854775808e18").unwrap(), Number::Int(i128::from(i64::MIN)));
        assert_eq!(read("0.0").unwrap(), Number::Int(0));
        assert_eq!(read("1.5").unwrap_err().message(), "\"1.5\" is not an integer for int64");
        assert_eq!(
            read("9223372036854775808").unwrap_err().message(),
            "\"9223372036854775808\" is not in the range of int64"
        );
        assert_eq!(read("1e99").unwrap_err().message(), "\"1e99\" is not in the range of int64");
        assert_eq!(parse_for("100.5", DType::I32).unwrap(), Number::Int(100));
        assert_eq!(parse_for("1e-3", DType::I32).unwrap(), Number::Int(0));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "-", ".", "e5", "1e", "1e+", "0x10", "1_000", "Hello World!", "1.2.3", "--1", "١"] {
            assert_eq!(
                parse_for(text, DType::F32).unwrap_err().message(),
                format!("\"{text}\" is not a number")
            );
        }
    }
}
