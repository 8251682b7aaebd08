//! Results, printed as text or JSON.

use std::borrow::Cow;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use comfy_table::{ColumnConstraint, ContentArrangement, Table, TableStyle, Width};
use gradus::text::shortened;
pub(crate) use gradus::text::{escaped, unsafe_to_show as unsafe_to_print};
use gradus::{Error, Kind, Limits, Result, Tensor, Value, convert, display};
use serde::Serialize;

use crate::columns::{LONGEST_CELL, terminal_width};
use crate::diagnostics::Failure;

/// Elements shown from each end of a long axis.
const EDGE: usize = 3;

/// The amount that is told on standard error besides results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verbosity {
    Quiet,
    Normal,
    Verbose,
}

static VERBOSITY: OnceLock<Verbosity> = OnceLock::new();

static JSON: AtomicBool = AtomicBool::new(false);

/// Sets whether results are printed as JSON.
pub(crate) fn set_json(json: bool) {
    JSON.store(json, Ordering::Relaxed);
}

/// Returns true if results are to be printed as JSON.
pub(crate) fn is_json() -> bool {
    JSON.load(Ordering::Relaxed)
}

/// Sets the verbosity of this process, once.
pub(crate) fn set_verbosity(verbosity: Verbosity) {
    VERBOSITY.get_or_init(|| verbosity);
}

/// The verbosity that the arguments set.
pub(crate) fn verbosity() -> Verbosity {
    *VERBOSITY.get().unwrap_or(&Verbosity::Normal)
}

/// Prints a line on standard error. If that is closed, the line is lost.
pub(crate) fn tell(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", shown(line, Form::Text));
}

/// Warns on standard error, unless `--quiet` is given.
pub(crate) fn warn(text: &str) {
    if verbosity() != Verbosity::Quiet {
        tell(&format!("warning: {}", escaped(text)));
    }
}

/// Tells the time that something took, with `--verbose`.
pub(crate) fn tell_time(what: &str, took: Duration) {
    if verbosity() == Verbosity::Verbose {
        tell(&format!("{what}: {took:.1?}"));
    }
}

/// Prints bytes.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(())
}

/// Prints text and ends the line.
pub(crate) fn print_line(text: &str) -> Result<(), Failure> {
    print(format!("{}\n", shown(text, Form::Text)).as_bytes())
}

/// The form of what is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Json,
}

impl Form {
    /// JSON if asked for, otherwise text.
    pub(crate) fn of_results() -> Form {
        if is_json() { Form::Json } else { Form::Text }
    }
}

/// A writer of text or JSON, which passes nothing on that steers a terminal but line feeds, tabs
/// and the styles of [`STYLES`]. Names are [`escaped`] where they are printed, as they may not
/// begin a line either; what is forgotten there ends here.
pub(crate) struct Shown<W> {
    out: W,
    form: Form,
}

impl<W: Write> Shown<W> {
    /// A writer of text or JSON onto `out`.
    pub(crate) fn new(out: W, form: Form) -> Shown<W> {
        Shown { out, form }
    }
}

impl<W: Write> Write for Shown<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        // Text that is formatted comes in whole characters.
        match std::str::from_utf8(bytes) {
            Ok(text) => self.out.write_all(shown(text, self.form).as_bytes())?,
            Err(_) => self.out.write_all(&bytes.escape_ascii().collect::<Vec<_>>())?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

/// A writer of results and files, whose bytes count against the limits: models may ask for results
/// that are much longer than they are.
pub(crate) struct Limited<W> {
    out: W,
    limits: Limits,
    written: u128,
}

impl<W: Write> Limited<W> {
    /// A writer onto `out` within limits.
    pub(crate) fn new(out: W, limits: Limits) -> Limited<W> {
        Limited { out, limits, written: 0 }
    }
}

impl<W: Write> Write for Limited<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        /// Bytes between two looks at the time.
        const EVERY: u128 = 1 << 20;
        let before = self.written;
        self.written += convert::product(bytes.len(), 1);
        self.limits.allow_output(self.written).map_err(std::io::Error::other)?;
        if before / EVERY != self.written / EVERY {
            self.limits.check().map_err(std::io::Error::other)?;
        }
        self.out.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

/// Sequences of the styles that are printed: none, bold, red, green and yellow.
const STYLES: [&str; 5] = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m"];

/// Text as it is printed, with escapes in place of what could steer a terminal.
fn shown(text: &str, form: Form) -> Cow<'_, str> {
    let steers = |c: char| unsafe_to_print(c) && !matches!(c, '\n' | '\t');
    // Nearly all text is of these, which are told fast.
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    if text.bytes().all(is_plain) || !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, from, c)) =
        rest.find(steers).and_then(|at| Some((&rest[..at], &rest[at..], rest[at..].chars().next()?)))
    {
        out.push_str(before);
        let style = STYLES.iter().find(|style| form == Form::Text && from.starts_with(**style));
        match (style, form) {
            (Some(style), _) => out.push_str(style),
            (None, Form::Text) => out.extend(c.escape_default()),
            // All of them are below U+10000.
            (None, Form::Json) => out.extend([format!("\\u{:04x}", u32::from(c))]),
        }
        rest = &from[style.map_or(c.len_utf8(), |style| style.len())..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Returns a value as JSON on one line, in which nothing steers a terminal.
pub(crate) fn json(value: &impl Serialize) -> Result<String> {
    let json = serde_json::to_string(value)
        .map_err(|error| Error::new(Kind::Io, format!("cannot write JSON: {error}")).with_source(error))?;
    Ok(match shown(&json, Form::Json) {
        Cow::Owned(shown) => shown,
        Cow::Borrowed(_) => json,
    })
}

/// Writes a value as JSON on a line of its own. A buffer joins pieces, none of which it splits.
pub(crate) fn write_json(out: &mut dyn Write, value: &impl Serialize) -> Result<(), Failure> {
    let mut out = BufWriter::new(out);
    serde_json::to_writer(&mut out, value).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(out.flush()?)
}

/// Prints JSON on a line of its own.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    print_line(&json(value)?)
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
        Value::Map(map) => {
            format!("{name}: keys {}, values {}", tensor(map.keys()), tensor(map.values()))
        }
    }
}

/// A table with these headings, as wide as the terminal, or as it needs to be where there is none.
pub(crate) fn table(headings: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(TableStyle::new()).set_header(headings.to_vec());
    if let Some(width) = terminal_width().and_then(|width| u16::try_from(width).ok()) {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table
}

/// A table as text, whose columns are at least as wide as their longest words, up to 60 characters:
/// a narrow terminal wraps lines, but only longer words are broken by the table.
pub(crate) fn render(table: &Table) -> String {
    const WIDEST: usize = 60;
    let mut table = table.clone();
    for row in table.row_iter_mut() {
        let cells = row.cell_iter().map(|cell| shortened(&cell.content(), LONGEST_CELL).into_owned());
        *row = cells.collect::<Vec<_>>().into();
    }
    for index in 0..table.column_count() {
        let words = |content: String| content.split(' ').map(str::len).max().unwrap_or(0);
        let cells = table.row_iter().chain(table.header());
        let longest =
            cells.filter_map(|row| row.cell_iter().nth(index)).map(|cell| words(cell.content())).max();
        let width = Width::Fixed(u16::try_from(longest.unwrap_or(0).min(WIDEST) + 2).unwrap_or(u16::MAX));
        if let Some(column) = table.column_mut(index) {
            column.set_constraint(ColumnConstraint::LowerBoundary(width));
        }
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// Characters of a line of text beyond which its middle is left out; `--json` has all of it.
const LONGEST_LINE: usize = 1000;

/// Writes text whose lines are cut to [`LONGEST_LINE`], or as they are if `whole`.
pub(crate) fn bounded(
    out: &mut dyn Write,
    whole: bool,
    write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if whole {
        return write(out);
    }
    let mut lines = BoundedLines { out, line: Vec::new() };
    let result = write(&mut lines);
    lines.end()?;
    result
}

/// Lines, each written when it is complete.
struct BoundedLines<'a> {
    out: &'a mut dyn Write,
    line: Vec<u8>,
}

impl BoundedLines<'_> {
    /// Writes the line so far.
    fn end(&mut self) -> std::io::Result<()> {
        let line = String::from_utf8_lossy(&self.line);
        self.out.write_all(shortened(&line, LONGEST_LINE).as_bytes())?;
        self.line.clear();
        Ok(())
    }
}

impl Write for BoundedLines<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        /// Bytes of at least half of the characters of a line.
        const END: usize = 4 * LONGEST_LINE;
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            let (text, ends) = part.strip_suffix(b"\n").map_or((part, false), |text| (text, true));
            self.line.extend_from_slice(text);
            // Both ends are enough for what is shown.
            if self.line.len() > 4 * END {
                self.line.drain(END..self.line.len() - END);
            }
            if ends {
                self.end()?;
                self.out.write_all(b"\n")?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

/// The style of what is wrong, where standard output shows colours.
pub(crate) fn warning() -> Style {
    match AutoStream::choice(&std::io::stdout()) {
        ColorChoice::Never => Style::new(),
        _ => Style::new().bold().fg_color(Some(AnsiColor::Red.into())),
    }
}

/// Runs that were compared, and the sizes of their inputs, in words.
pub(crate) fn runs(count: usize, sizes: &[String]) -> String {
    let ending = if count == 1 { "" } else { "s" };
    let sizes =
        if sizes.is_empty() { String::new() } else { format!(", sizes {}", escaped(&sizes.join("; "))) };
    format!("{count} run{ending} on random inputs{sizes}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_lose_their_middle_unless_all_is_asked_for() {
        let text = format!("{}\nshort {}", "é".repeat(3000), "x".repeat(2000));
        for whole in [false, true] {
            let mut out = Vec::new();
            let written = bounded(&mut out, whole, |out| {
                // Parts of a line, and of a character, come one after another.
                text.as_bytes().chunks(7).try_for_each(|part| out.write_all(part))?;
                Ok(())
            });
            assert!(written.is_ok());
            let out = String::from_utf8(out).unwrap();
            if whole {
                assert_eq!(out, text);
            } else {
                let lines: Vec<_> = out.split('\n').collect();
                assert!(lines.iter().all(|line| line.chars().count() == LONGEST_LINE), "{out}");
                assert!(lines[0].starts_with("éé") && lines[0].contains('…'), "{out}");
                assert!(lines[1].starts_with("short x") && lines[1].ends_with('x'), "{out}");
            }
        }
    }

    #[test]
    fn narrow_tables_break_no_words() {
        let mut table = table(&["name", "what is the first difference"]);
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(24);
        table.add_row(["/encoder/layer.0/attention/self/MatMul_output_0", "differs by one ulp"]);
        let text = render(&table);
        assert!(text.contains("/encoder/layer.0/attention/self/MatMul_output_0"), "{text}");
        assert!(text.contains("difference") && text.lines().count() > 2, "{text}");
        table.add_row([&*"x".repeat(200), "differs"]);
        let widest = render(&table).lines().map(str::len).max();
        assert!(widest.is_some_and(|widest| widest < 100), "{widest:?}");
    }

    #[test]
    fn what_is_printed_steers_nothing_but_by_styles() {
        let text = "a\u{1b}[31mred\u{1b}[0m\n\u{1b}[35m\u{1b}]0;t\u{7}\u{9b}2J\u{202e}\tb";
        let safe = "a\u{1b}[31mred\u{1b}[0m\n\\u{1b}[35m\\u{1b}]0;t\\u{7}\\u{9b}2J\\u{202e}\tb";
        assert_eq!(shown(text, Form::Text), safe);
        let names = ["\u{85}\u{7f}\u{202e}\u{2066}\u{2028}\u{61c}\u{1b}[31mé"];
        let json = json(&names).unwrap();
        assert_eq!(json, r#"["\u0085\u007f\u202e\u2066\u2028\u061c\u001b[31mé"]"#);
        assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), names);
        // Bytes that are no text, or cut within a character, are escaped too.
        let mut out = Vec::new();
        Shown::new(&mut out, Form::Text).write_all(b"\xff\x1b[2J").unwrap();
        assert_eq!(out, br"\xff\x1b[2J");
    }

    #[test]
    fn control_characters_and_marks_are_escaped() {
        assert!(matches!(escaped("größe/π_0 🙂"), Cow::Borrowed(_)));
        assert_eq!(escaped("a\u{1b}[2J\u{7}\0\nb\u{202e}"), r"a\u{1b}[2J\u{7}\u{0}\nb\u{202e}");
    }
}
