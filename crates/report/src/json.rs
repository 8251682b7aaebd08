//! JSON that may stand in a `script` element of HTML.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};

/// Writes strings so that no text of theirs means anything to HTML or reorders its source.
struct ForHtml;

impl Formatter for ForHtml {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let is_unsafe = |c: char| matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\u{feff}');
        let is_unsafe = |c: char| is_unsafe(c) || gradus::text::unsafe_to_show(c);
        let mut rest = fragment;
        while let Some(at) = rest.find(is_unsafe) {
            let (before, from) = rest.split_at(at);
            writer.write_all(before.as_bytes())?;
            let c = from.chars().next().unwrap_or_default();
            write!(writer, "\\u{:04x}", u32::from(c))?;
            rest = &from[c.len_utf8()..];
        }
        CompactFormatter.write_string_fragment(writer, rest)
    }
}

/// A value as JSON without `<`, `>` and `&`.
pub(crate) fn for_html(value: &impl Serialize) -> serde_json::Result<String> {
    let mut json = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut json, ForHtml))?;
    // Only text is written.
    Ok(String::from_utf8(json).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_mean_nothing_to_html() {
        let name = "</script><!--&\u{202e}\u{0}\"\u{2028}\\é🙂";
        let json = for_html(&[name]).unwrap_or_default();
        assert_eq!(json, r#"["\u003c/script\u003e\u003c!--\u0026\u202e\u0000\"\u2028\\é🙂"]"#);
        assert_eq!(serde_json::from_str::<Vec<String>>(&json).ok(), Some(vec![name.to_owned()]));
    }
}
