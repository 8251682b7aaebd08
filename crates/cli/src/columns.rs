//! Rows in columns, which give way where a terminal is narrower than they are.

use std::borrow::Cow;

use gradus::text::{escaped, shortened};

/// A column, and what it gives on a narrow terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    /// Characters to which its cells may be cut.
    least: usize,
    cut: ColumnCut,
    /// The whole column is left out before others get narrower than their least.
    extra: bool,
}

#[derive(Clone, Copy, Debug)]
enum ColumnCut {
    /// Names differ at both ends.
    Middle,
    /// Formulas begin with the term that grows most, words with what they mean.
    End,
}

impl Column {
    /// Names of values and nodes.
    pub(crate) const NAME: Column = Column { least: 24, cut: ColumnCut::Middle, extra: false };
    /// Words such as operators.
    pub(crate) const WORD: Column = Column { least: 12, cut: ColumnCut::End, extra: false };
    /// Numbers and short words, which are cut last of all.
    pub(crate) const WHOLE: Column = Column { least: usize::MAX, cut: ColumnCut::Middle, extra: false };
    /// Shapes.
    pub(crate) const SHAPE: Column = Column { least: 36, cut: ColumnCut::Middle, extra: false };
    /// Formulas.
    pub(crate) const FORMULA: Column = Column { least: 16, cut: ColumnCut::End, extra: false };
    /// Formulas that a narrow terminal leaves out.
    pub(crate) const EXTRA: Column = Column { extra: true, ..Column::FORMULA };

    /// A cell in at most `width` characters.
    fn fitted(self, cell: &str, width: usize) -> Cow<'_, str> {
        match self.cut {
            ColumnCut::Middle => shortened(cell, width),
            ColumnCut::End => begun(cell, width),
        }
    }
}

/// The begin of a text, in at most `width` characters.
pub(crate) fn begun(text: &str, width: usize) -> Cow<'_, str> {
    if text.chars().nth(width).is_none() {
        return Cow::Borrowed(text);
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    Cow::Owned(format!("{}…", kept.trim_end()))
}

/// Characters of a line of the terminal that standard output is.
pub(crate) fn terminal_width() -> Option<usize> {
    terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| width.0.into())
}

/// A table as text, and what it does not show.
#[derive(Debug)]
pub(crate) struct Fitted {
    pub(crate) text: String,
    /// Headings of the columns that are left out.
    pub(crate) left_out: Vec<String>,
    /// Cells are cut.
    pub(crate) cut: bool,
}

/// A line that tells what a terminal is too narrow for, if tables lack something.
pub(crate) fn narrow_hint(tables: &[Fitted]) -> Option<String> {
    let most = tables.iter().map(|table| &table.left_out).max_by_key(|left_out| left_out.len());
    if let Some(left_out) = most.filter(|left_out| !left_out.is_empty()) {
        let missing = left_out.join(", ");
        return Some(format!(
            "this terminal is too narrow for {missing}: --json and `gradus report` show all"
        ));
    }
    let cut = tables.iter().any(|table| table.cut);
    cut.then(|| "cells are cut to the width of this terminal: --json and `gradus report` show all".to_owned())
}

/// A formula within a sentence: whole in a pipe, its begin on a terminal.
pub(crate) fn inline(formula: &str) -> Cow<'_, str> {
    /// Characters that leave room for the sentence on a line of 80.
    const SHOWN: usize = 48;
    if terminal_width().is_some() { begun(formula, SHOWN) } else { Cow::Borrowed(formula) }
}

/// Rows in columns as wide as they need to be, the headings first.
pub(crate) fn aligned<const N: usize>(rows: &[[String; N]]) -> String {
    within(rows, &[Column::WHOLE; N], None).text
}

/// Rows in columns as wide as they need to be, or as the terminal lets them.
pub(crate) fn fitted<const N: usize>(rows: &[[String; N]], columns: &[Column; N]) -> Fitted {
    within(rows, columns, terminal_width())
}

/// Rows in columns that take at most `limit` characters together, if there is a limit.
fn within<const N: usize>(rows: &[[String; N]], columns: &[Column; N], limit: Option<usize>) -> Fitted {
    /// Names may be very long; the others still line up.
    const WIDEST: usize = 60;
    let rows: Vec<_> = rows.iter().map(|row| row.each_ref().map(|cell| escaped_cell(cell))).collect();
    let natural: [usize; N] = std::array::from_fn(|index| {
        let rows = rows.iter().filter(|row| !is_heading(row));
        rows.map(|row| row[index].chars().count()).max().unwrap_or(0)
    });
    let widths = limit.map_or(natural, |limit| narrowed(natural, columns, limit));
    let mut text = String::new();
    for row in &rows {
        if is_heading(row) {
            text.push_str(&limit.map_or(Cow::Borrowed(&*row[0]), |limit| shortened(&row[0], limit)));
            text.push('\n');
            continue;
        }
        let mut line = String::new();
        let shown = columns.iter().zip(widths).zip(row).filter(|((_, width), _)| *width > 0);
        for ((column, width), cell) in shown {
            let (cell, width) = match limit {
                Some(_) => (column.fitted(cell, width), width),
                None => (Cow::Borrowed(&**cell), width.min(WIDEST)),
            };
            line.push_str(&cell);
            line.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.chars().count()) + GAP));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    let gone = (0..N).filter(|&index| widths[index] == 0 && natural[index] > 0);
    let left_out = gone.map(|index| rows[0][index].to_string()).collect();
    let cut = widths.iter().zip(natural).any(|(&width, natural)| width > 0 && width < natural);
    Fitted { text, left_out, cut }
}

/// Returns true for a row of one cell, which may be as wide as the table.
fn is_heading<const N: usize>(row: &[Cow<'_, str>; N]) -> bool {
    N > 1 && row[1..].iter().all(|cell| cell.is_empty())
}

/// Spaces between columns.
const GAP: usize = 2;

/// Widths that take at most `limit` characters together, as far as that can be; 0 leaves a column
/// out.
fn narrowed<const N: usize>(natural: [usize; N], columns: &[Column; N], limit: usize) -> [usize; N] {
    /// No cell is cut further.
    const NARROWEST: usize = 12;
    let all = |widths: &[usize; N]| {
        let shown = widths.iter().filter(|width| **width > 0);
        shown.map(|width| width + GAP).sum::<usize>().saturating_sub(GAP)
    };
    let mut wanted = natural;
    loop {
        let mut widths = wanted;
        while all(&widths) > limit {
            let spare = |index: &usize| widths[*index].saturating_sub(columns[*index].least);
            match (0..N).rev().max_by_key(spare).filter(|index| spare(index) > 0) {
                Some(index) => widths[index] -= 1,
                None => break,
            }
        }
        if all(&widths) <= limit {
            return widths;
        }
        if let Some(extra) = (0..N).rev().find(|&index| columns[index].extra && wanted[index] > 0) {
            wanted[extra] = 0;
            continue;
        }
        while all(&widths) > limit {
            let widest = (0..N).max_by_key(|&index| widths[index]).unwrap_or(0);
            if widths[widest] <= NARROWEST {
                break;
            }
            widths[widest] -= 1;
        }
        return widths;
    }
}

/// Longest cell of a table, in characters. Models may have names of any length.
pub(crate) const LONGEST_CELL: usize = 1000;

/// A cell with control characters escaped, and its middle left out if it is long.
fn escaped_cell(cell: &str) -> Cow<'_, str> {
    match shortened(cell, LONGEST_CELL) {
        Cow::Borrowed(cell) => escaped(cell),
        Cow::Owned(cell) => Cow::Owned(escaped(&cell).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 4] = [Column::NAME, Column::WHOLE, Column::SHAPE, Column::EXTRA];

    fn rows() -> Vec<[String; 4]> {
        let rows = [
            ["value", "type", "shape", "bytes"],
            [
                "/encoder/layer.0/attention/self/MatMul_output_0",
                "float32",
                "[batch, heads, seq, seq + past]",
                "4*batch*heads*seq*seq + 4*batch*heads*seq*past",
            ],
            ["x", "int64", "[]", "8"],
        ];
        rows.map(|row| row.map(str::to_owned)).into()
    }

    #[test]
    fn narrow_tables_cut_names_in_the_middle_and_formulas_at_the_end() {
        let Fitted { text, left_out, cut } = within(&rows(), &COLUMNS, Some(96));
        let lines: Vec<_> = text.lines().collect();
        let cells = ["/encoder/layer.…tMul_output_0", "float32", "[batch, heads, seq, seq + past]"];
        assert!(cut && left_out.is_empty() && text.lines().all(|line| line.chars().count() <= 96));
        assert!(lines[1].starts_with(&cells[0][..9]) && lines[1].contains(cells[2]), "{text}");
        assert!(lines[1].ends_with('…') && lines[1].contains("  4*batch*heads"), "{text}");
        assert!(lines[2].starts_with("x  ") && lines[2].ends_with("  8"), "{text}");
    }

    #[test]
    fn extra_columns_go_before_shapes_are_cut() {
        let Fitted { text, left_out, .. } = within(&rows(), &COLUMNS, Some(68));
        assert_eq!(left_out, ["bytes"]);
        let hint = narrow_hint(&[within(&rows(), &COLUMNS, Some(68))]).unwrap();
        assert!(hint.starts_with("this terminal is too narrow for bytes:"), "{hint}");
        assert!(text.contains("[batch, heads, seq, seq + past]"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 68), "{text}");
        // Below that, all columns are cut, but none to nothing.
        let narrow = within(&rows(), &COLUMNS, Some(10)).text;
        assert!(narrow.lines().all(|line| line.chars().count() <= 3 * 12 + 4), "{narrow}");
    }

    #[test]
    fn nothing_is_cut_without_a_terminal() {
        let Fitted { text, left_out, cut } = within(&rows(), &COLUMNS, None);
        assert!(text.contains(&rows()[1].join("  ")) && left_out.is_empty() && !cut, "{text}");
    }

    #[test]
    fn headings_span_the_table() {
        let mut rows = rows();
        rows.push([
            "/encoder/layer.0/attention/self/".to_owned(),
            String::new(),
            String::new(),
            String::new(),
        ]);
        let text = within(&rows, &COLUMNS, Some(68)).text;
        assert!(text.ends_with("\n/encoder/layer.0/attention/self/\n"), "{text}");
    }
}
