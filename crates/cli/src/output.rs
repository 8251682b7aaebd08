//! Results, printed as text or JSON.

use std::borrow::Cow;
use std::io::Write;
use std::path::Path;

use comfy_table::{ColumnConstraint, ContentArrangement, Table, TableStyle, Width};
use gradus::{Error, Kind, Result, Tensor, Value, display};
use serde::Serialize;

use crate::diagnostics::Failure;

/// Elements shown from each end of a long axis.
const EDGE: usize = 3;

/// Prints bytes.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(())
}

/// Prints text and ends the line.
pub(crate) fn print_line(text: &str) -> Result<(), Failure> {
    print(format!("{text}\n").as_bytes())
}

/// Returns a value as JSON on one line.
pub(crate) fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value)
        .map_err(|error| Error::new(Kind::Io, format!("cannot write JSON: {error}")).with_source(error))
}

/// Prints JSON on a line of its own.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    print_line(&json(value)?)
}

/// Returns text that comes from a file with its control characters written as `\\u{1b}` or `\\n`,
/// so that it can neither steer the terminal nor begin a line. Marks that reorder text count too.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(unsafe_to_print) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if unsafe_to_print(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// Returns true for control characters and marks that reorder text.
pub(crate) fn unsafe_to_print(c: char) -> bool {
    let reorders = matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || reorders
}

/// A path as it is printed.
pub(crate) fn path(path: &Path) -> String {
    escaped(&path.display().to_string()).into_owned()
}

/// A tensor with its type: `float32[3] [1.0, 1.5, 2.0]`.
pub(crate) fn tensor(tensor: &Tensor) -> String {
    let elements = display::elided(tensor, EDGE);
    let gap = if elements.contains('\n') { '\n' } else { ' ' };
    format!("{}{}{gap}{elements}", tensor.dtype(), tensor.shape())
}

/// A value under its name.
pub(crate) fn named(name: &str, value: &Value) -> String {
    let name = &*escaped(name);
    match value {
        Value::Tensor(of) => format!("{name}: {}", tensor(of)),
        Value::Sequence(values) => {
            let inner: Vec<_> =
                values.iter().enumerate().map(|(i, value)| named(&format!("{name}[{i}]"), value)).collect();
            [vec![format!("{name}: {value}")], inner].concat().join("\n")
        }
        Value::Optional(None) => format!("{name}: {value}"),
        Value::Optional(Some(inner)) => named(name, inner),
    }
}

/// A table with these headings, as wide as the terminal, or as it needs to be where there is none.
pub(crate) fn table(headings: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(TableStyle::new()).set_header(headings.to_vec());
    if let Some((width, _)) = terminal_size::terminal_size_of(std::io::stdout()) {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width.0);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table
}

/// A table as text, whose columns are at least as wide as their longest words: a narrow terminal
/// wraps lines, but no word is broken by the table.
pub(crate) fn render(table: &Table) -> String {
    let mut table = table.clone();
    for index in 0..table.column_count() {
        let words = |content: String| content.split(' ').map(str::len).max().unwrap_or(0);
        let cells = table.row_iter().chain(table.header());
        let longest =
            cells.filter_map(|row| row.cell_iter().nth(index)).map(|cell| words(cell.content())).max();
        let width = Width::Fixed(u16::try_from(longest.unwrap_or(0) + 2).unwrap_or(u16::MAX));
        if let Some(column) = table.column_mut(index) {
            column.set_constraint(ColumnConstraint::LowerBoundary(width));
        }
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_tables_break_no_words() {
        let mut table = table(&["name", "what is the first difference"]);
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(24);
        table.add_row(["/encoder/layer.0/attention/self/MatMul_output_0", "differs by one ulp"]);
        let text = render(&table);
        assert!(text.contains("/encoder/layer.0/attention/self/MatMul_output_0"), "{text}");
        assert!(text.contains("difference") && text.lines().count() > 2, "{text}");
    }

    #[test]
    fn control_characters_and_marks_are_escaped() {
        assert!(matches!(escaped("größe/π_0 🙂"), Cow::Borrowed(_)));
        assert_eq!(escaped("a\u{1b}[2J\u{7}\0\nb\u{202e}"), r"a\u{1b}[2J\u{7}\u{0}\nb\u{202e}");
    }
}
