//! Results: printed as text or JSON, or written to files that appear whole or not at all.

use std::io::Write;

use comfy_table::{ContentArrangement, Table, TableStyle};
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

/// Prints JSON on a line of its own.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(value).map_err(|error| Error::new(Kind::Io, error.to_string()))?;
    print_line(&text)
}

/// A tensor with its type: `float32[3] [1.0, 1.5, 2.0]`.
pub(crate) fn tensor(tensor: &Tensor) -> String {
    let elements = display::elided(tensor, EDGE);
    let gap = if elements.contains('\n') { '\n' } else { ' ' };
    format!("{}{}{gap}{elements}", tensor.dtype(), tensor.shape())
}

/// A value under its name.
pub(crate) fn named(name: &str, value: &Value) -> String {
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

/// A table as text.
pub(crate) fn render(table: &Table) -> String {
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}
