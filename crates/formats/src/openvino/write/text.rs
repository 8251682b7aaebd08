//! XML as text.

use std::borrow::Cow;
use std::fmt::Write;

/// Around the number of a constant in place of where it lies. XML has no such character, nor has
/// what is written here.
pub(super) const MARK: char = '\0';

/// Elements that are written one after the other.
#[derive(Debug)]
pub(super) struct XmlWriter {
    pub(super) text: String,
    /// The text before an element that is not within another of these.
    indent: String,
    pub(super) depth: usize,
}

impl XmlWriter {
    /// An empty writer; `indent` begins each line, and without a line feed in it everything is one
    /// line.
    pub(super) fn new(indent: &str) -> XmlWriter {
        XmlWriter { text: String::new(), indent: indent.to_owned(), depth: 0 }
    }

    fn line(&mut self) {
        self.text.push_str(&self.indent);
        if self.indent.contains('\n') {
            self.text.extend(std::iter::repeat_n('\t', self.depth));
        }
    }

    fn tag(&mut self, tag: &str, attributes: &[(&str, &str)]) {
        self.line();
        self.text.push('<');
        self.text.push_str(tag);
        for (name, value) in attributes {
            let _ = write!(self.text, " {name}=\"{}\"", escaped(value));
        }
    }

    /// Begins an element.
    pub(super) fn open(&mut self, tag: &str, attributes: &[(&str, &str)]) {
        self.tag(tag, attributes);
        self.text.push('>');
        self.depth += 1;
    }

    /// Ends an element.
    pub(super) fn close(&mut self, tag: &str) {
        self.depth -= 1;
        self.line();
        let _ = write!(self.text, "</{tag}>");
    }

    /// An element with nothing in it.
    pub(super) fn leaf(&mut self, tag: &str, attributes: &[(&str, &str)]) {
        self.tag(tag, attributes);
        self.text.push_str(" />");
    }

    /// An element with nothing in it that says where a new constant of that number and size lies.
    /// The offset is found when all constants are known; until then, the number is there between
    /// [`MARK`]s.
    pub(super) fn placed(&mut self, tag: &str, attributes: &[(&str, &str)], number: usize, size: usize) {
        self.tag(tag, attributes);
        let _ = write!(self.text, " offset=\"{MARK}{number}{MARK}\" size=\"{size}\" />");
    }

    /// An `<edge>` from a port of a layer to another.
    pub(super) fn edge(&mut self, from: (i64, &str), to: (i64, &str)) {
        let (from_layer, to_layer) = (from.0.to_string(), to.0.to_string());
        let attributes = [
            ("from-layer", &*from_layer),
            ("from-port", from.1),
            ("to-layer", &*to_layer),
            ("to-port", to.1),
        ];
        self.leaf("edge", &attributes);
    }

    /// An element with text in it.
    pub(super) fn element(&mut self, tag: &str, text: &str) {
        self.line();
        let _ = write!(self.text, "<{tag}>{}</{tag}>", escaped(text));
    }
}

/// Text as it is written in an attribute between double quotes. What XML cannot hold becomes
/// U+FFFD.
pub(super) fn escaped(text: &str) -> Cow<'_, str> {
    let plain = |c: char| !matches!(c, '&' | '<' | '>' | '"' | '\u{fffe}' | '\u{ffff}') && c >= ' ';
    if text.chars().all(plain) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' => out.push_str("&#9;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            c if plain(c) => out.push(c),
            _ => out.push('\u{fffd}'),
        }
    }
    out.into()
}

/// Names as a list; a comma within one has a backslash.
pub(super) fn names<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let each: Vec<_> = names.into_iter().map(|name| name.replace(',', "\\,")).collect();
    each.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_stand_in_lines_and_text_is_escaped() {
        let mut xml = XmlWriter::new("\n\t");
        xml.open("a", &[("name", "1 < 2 & \"x\"\u{1}\n")]);
        xml.leaf("b", &[]);
        xml.element("dim", "-1");
        xml.close("a");
        assert_eq!(
            xml.text,
            "\n\t<a name=\"1 &lt; 2 &amp; &quot;x&quot;\u{fffd}&#10;\">\n\t\t<b />\n\t\t<dim>-1</dim>\n\t</a>"
        );
        assert_eq!(names(["a,b", "c\\d"]), "a\\,b,c\\d");
    }
}
