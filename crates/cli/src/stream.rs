//! Sequences of any length: made in parts, and written as they are made.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::Path;

use gradus::formats::numpy;
use gradus::gpu::Device;
use gradus::seq::Plan;
use gradus::{Error, Kind, Limits, Result, Shape, Tensor, convert, text};
use indicatif::{ProgressBar, ProgressStyle};

use crate::arrow::ArrowWriter;
use crate::columns::terminal_width;
use crate::diagnostics::Failure;
use crate::sequence::Sequence;
use crate::{json, output};

/// A sequence, and the device that makes it, if that is not the processor.
pub(crate) struct SequenceSource<'p> {
    pub(crate) plan: &'p Sequence,
    pub(crate) device: Option<Box<dyn Device>>,
}

impl SequenceSource<'_> {
    /// The elements from index `lo` on, up to `hi`.
    fn part(&self, lo: u64, hi: u64) -> Result<Tensor> {
        let part = self.plan.slice(lo..hi);
        match &self.device {
            Some(device) => device.fill(&part)?.tensor(),
            None => gradus::filled(&part, &Limits::DEFAULT, 0),
        }
    }
}

/// Elements in a part, and in one that a device makes: it is asked and read for each.
const PART: u64 = 1 << 16;
const DEVICE_PART: u64 = 1 << 22;

/// Elements from which the wait is long enough for a bar.
const BAR_FROM: u64 = 1 << 22;

/// Gives the parts of a sequence, one after the other.
fn parts(
    source: &SequenceSource<'_>,
    mut take: impl FnMut(&Tensor) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let len = source.plan.len();
    let part = if source.device.is_some() { DEVICE_PART } else { PART };
    let bar = bar(len);
    let mut lo = 0;
    while lo < len {
        let hi = len.min(lo + part);
        take(&source.part(lo, hi)?)?;
        lo = hi;
        if let Some(bar) = &bar {
            bar.set_position(lo);
        }
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    Ok(())
}

/// A bar on standard error, if that is a terminal and standard output is not.
fn bar(len: u64) -> Option<ProgressBar> {
    let wanted = len >= BAR_FROM && !std::io::stdout().is_terminal() && std::io::stderr().is_terminal();
    wanted.then(|| {
        let style = ProgressStyle::with_template("{bar:30} {human_pos} of {human_len} elements, {eta} left");
        ProgressBar::new(len).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
    })
}

/// Shows people the first elements and the last; prints one element a line for programs.
pub(crate) fn print(source: &SequenceSource<'_>) -> Result<(), Failure> {
    if std::io::stdout().is_terminal() { summary(source) } else { lines(source) }
}

/// Elements that people are shown.
const SHOWN: u64 = 1000;

fn summary(source: &SequenceSource<'_>) -> Result<(), Failure> {
    let plan = source.plan;
    if plan.len() <= SHOWN {
        return output::print_line(&output::tensor(&source.part(0, plan.len())?));
    }
    let shown = |i| text::shortest(plan.at(i), plan.dtype());
    let [first, last] =
        [0..3, plan.len() - 3..plan.len()].map(|ends| ends.map(shown).collect::<Vec<_>>().join(", "));
    output::print_line(&format!("{}[{}] [{first}, ..., {last}]", plan.dtype(), plan.len()))
}

fn lines(source: &SequenceSource<'_>) -> Result<(), Failure> {
    let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    text(source, &mut out)?;
    Ok(out.flush()?)
}

fn text(source: &SequenceSource<'_>, out: &mut impl Write) -> Result<(), Failure> {
    let dtype = source.plan.dtype();
    parts(source, |part| {
        for number in part.numbers()? {
            writeln!(out, "{}", text::shortest(number, dtype))?;
        }
        Ok(())
    })
}

/// Prints JSON: a tensor.
pub(crate) fn json(source: &SequenceSource<'_>) -> Result<(), Failure> {
    let plan = source.plan;
    let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    write!(out, "{{\"type\":\"{}\",\"shape\":[{}],\"data\":[", plan.dtype(), plan.len())?;
    let mut comma = "";
    parts(source, |part| {
        for number in part.numbers()? {
            write!(out, "{comma}{}", json::number(number, plan.dtype()))?;
            comma = ",";
        }
        Ok(())
    })?;
    writeln!(out, "]}}")?;
    Ok(out.flush()?)
}

/// Writes a file of the kind that its name says.
pub(crate) fn to_file(source: &SequenceSource<'_>, path: &Path) -> Result<(), Failure> {
    /// Bits of a line of text at least: a digit and its end.
    const LINE: usize = 16;
    let bits = source.plan.dtype().bits();
    let (write, bits): (fn(&SequenceSource<'_>, &mut FileWriter) -> _, _) = match extension(path) {
        "npy" => (npy, bits.max(8)),
        "csv" => (csv, LINE),
        "arrow" => (arrow, bits),
        _ => return Err(wrong_name(path, ".npy, .csv or .arrow")),
    };
    let bytes = convert::product(convert::usize_of(source.plan.len()), bits) / 8;
    file(path, bytes, |out| write(source, out))
}

/// Writes a file with an array of any shape.
pub(crate) fn tensor_to_file(tensor: &Tensor, path: &Path) -> Result<(), Failure> {
    match extension(path) {
        "npy" => file(path, numpy::npy_len(tensor)?, |out| Ok(numpy::write_npy(tensor, out)?)),
        _ => Err(wrong_name(path, ".npy")),
    }
}

fn extension(path: &Path) -> &str {
    path.extension().and_then(|extension| extension.to_str()).unwrap_or_default()
}

fn wrong_name(path: &Path, wanted: &str) -> Failure {
    Error::mismatch(Kind::Usage, "--out", path.display(), format_args!("a name that ends in {wanted}")).into()
}

/// Writes a file of at least `len` bytes.
fn file(
    path: &Path,
    bytes: u128,
    write: impl FnOnce(&mut FileWriter) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut files = gradus::files::NewFiles::default();
    files.create_of(path, bytes, |out| write(out).map_err(|failure| failure.in_file(path)))?;
    Ok(files.commit()?)
}

type FileWriter = BufWriter<File>;

fn npy(source: &SequenceSource<'_>, out: &mut FileWriter) -> Result<(), Failure> {
    let plan = source.plan;
    let header = numpy::header(&numpy::descr(plan.dtype())?, &Shape::vector(convert::usize_of(plan.len())));
    out.write_all(&header)?;
    parts(source, |part| Ok(numpy::write_elements(part, out)?))
}

fn csv(source: &SequenceSource<'_>, out: &mut FileWriter) -> Result<(), Failure> {
    text(source, out)
}

fn arrow(source: &SequenceSource<'_>, out: &mut FileWriter) -> Result<(), Failure> {
    let mut writer = ArrowWriter::new(out, source.plan.dtype())?;
    parts(source, |part| Ok(writer.batch(part)?))?;
    Ok(writer.finish()?)
}

/// Columns and rows of a plot, where there is no terminal to say so.
const PLOT: (u32, u32) = (72, 16);

/// Draws elements over their indices: as many as there are columns, at equal distances. What has no
/// height is a gap: no number, infinity, and zero and less on a logarithmic axis.
pub(crate) fn plot(plan: &Sequence, logarithmic: bool) -> Result<(), Failure> {
    let columns = columns();
    if plan.dtype().is_complex() {
        return Err(Error::new(Kind::Unsupported, "cannot draw complex numbers").into());
    }
    let last = plan.len().saturating_sub(1);
    let points = columns.min(plan.len());
    let heights: Vec<f64> = (0..points)
        .map(|i| {
            let index = u128::from(i) * u128::from(last) / u128::from(points.saturating_sub(1).max(1));
            let height = convert::nearest_f64(plan.at(convert::low_u64(index)));
            let height = if logarithmic { height.log10() } else { height };
            if height.is_finite() { height } else { f64::NAN }
        })
        .collect();
    if heights.iter().all(|height| height.is_nan()) {
        let none = match (plan.len(), logarithmic) {
            (0, _) => "no elements",
            (_, true) => "no elements above zero",
            (_, false) => "no finite elements",
        };
        return output::print_line(none);
    }
    let caption = format!("{}[{}]", plan.dtype(), plan.len());
    let ends = ["0".to_owned(), last.to_string()];
    if logarithmic {
        return output::print_line(&drawn(heights, columns, &(caption + ", powers of 10"), &ends));
    }
    output::print_line(&draw(heights, caption, &ends))
}

/// The number of columns of a plot: those of the terminal without the labels.
fn columns() -> u64 {
    let width = terminal_width().and_then(|width| u32::try_from(width).ok()).unwrap_or(PLOT.0);
    u64::from(width.saturating_sub(16).max(8))
}

/// Draws heights at equal distances; the ends are those of the axis below them. Labels that would
/// be long are in units that the caption names.
pub(crate) fn draw(mut heights: Vec<f64>, mut caption: String, ends: &[String; 2]) -> String {
    if let Some(exponent) = label_exponent(&heights) {
        // In two steps, as 10 to the power of the exponent of a subnormal number is inexact.
        let halves = [(exponent / 2.0).floor(), (exponent / 2.0).ceil()];
        for height in &mut heights {
            *height = halves.iter().fold(*height, |height, half| height / 10f64.powf(*half));
        }
        let _ = write!(caption, ", in units of 1e{exponent}");
    }
    drawn(heights, columns(), &caption, ends)
}

fn drawn(heights: Vec<f64>, columns: u64, caption: &str, ends: &[String; 2]) -> String {
    let config = rasciigraph::Config::default()
        .with_height(PLOT.1)
        .with_width(convert::small_u32(convert::usize_of(columns)));
    let drawn = rasciigraph::plot(heights, config);
    let axis = axis(&drawn, ends, caption);
    format!("{drawn}\n{axis}")
}

/// The axis below a plot: its ends, and what is drawn between them.
fn axis(drawn: &str, [first, last]: &[String; 2], caption: &str) -> String {
    let line = drawn.lines().next().unwrap_or_default();
    let left = line.chars().take_while(|c| !matches!(c, '┤' | '┼')).count();
    let columns = line.chars().count().saturating_sub(left + 1);
    let middle = format!("{caption:^0$}", columns.saturating_sub(first.len() + last.len()));
    format!("{:left$}└{:─<columns$}\n{:left$} {first}{middle}{last}", "", "", "")
}

/// Returns the exponent of ten that labels are divided by where the largest would be long or all
/// zeros.
fn label_exponent(heights: &[f64]) -> Option<f64> {
    let largest = heights.iter().fold(0.0, |largest: f64, height| largest.max(height.abs()));
    let exponent = largest.log10().floor();
    (largest > 0.0 && !(-2.0..6.0).contains(&exponent)).then_some(exponent)
}
