//! Costs of a model where a symbol takes sizes in turn: `--dim seq=128..4096:x2`.

use std::io::Write;

use gradus::convert::nearest_f64;
use gradus::cost::Cost;
use gradus::infer::InferOptions;
use gradus::{Dim, Error, Kind, Model, Number, Result};

use super::cost::amounts_json;
use super::infer::{dim_json, write_problems};
use crate::args::SizeArgs;
use crate::columns::aligned;
use crate::diagnostics::Failure;
use crate::object::object;
use crate::output::{self, escaped};
use crate::{json, stream};

/// Maximum number of sizes in turn.
const MAX_SIZES: usize = 1000;

/// A symbol and its sizes, in order.
pub(super) struct Sweep {
    symbol: String,
    sizes: Vec<i64>,
}

/// Takes the sweep, if there is one, from what `--dim` gives.
pub(super) fn taken(given: &SizeArgs) -> Result<(Option<Sweep>, SizeArgs)> {
    let mut others = given.clone();
    let dims = std::mem::take(&mut others.shapes.dims.dims);
    let (sweeps, dims): (Vec<_>, Vec<_>) = dims.into_iter().partition(|dim| dim.contains(".."));
    others.shapes.dims.dims = dims;
    if let [_, second, ..] = &sweeps[..] {
        let message = format!("--dim {second} is a second range of sizes, expected one");
        return Err(Error::new(Kind::Usage, message));
    }
    Ok((sweeps.first().map(|text| Sweep::parse(text)).transpose()?, others))
}

impl Sweep {
    fn parse(text: &str) -> Result<Sweep> {
        let wrong = || {
            let wanted = "NAME=NUMBER, NAME=FIRST..LAST:xFACTOR or NAME=FIRST..LAST:+STEP";
            Error::mismatch(Kind::Usage, "--dim", text, wanted)
        };
        let read = || {
            let (symbol, range) = text.split_once('=')?;
            let (first, rest) = range.split_once("..")?;
            let (last, step) = rest.split_once(':').unwrap_or((rest, "x2"));
            let (first, last): (i64, i64) = (first.parse().ok()?, last.parse().ok()?);
            // The next size is the last one times the factor, and the step more.
            let (factor, step) = if let Some(factor) = step.strip_prefix('x') {
                (factor.parse().ok().filter(|&factor: &i64| factor > 1 && first > 0)?, 0)
            } else {
                (1, step.strip_prefix('+')?.parse().ok().filter(|&step: &i64| step > 0)?)
            };
            let next = |size: &i64| size.checked_mul(factor)?.checked_add(step);
            let sizes = std::iter::successors(Some(first), next).take_while(|&size| size <= last);
            Some((symbol, sizes.take(MAX_SIZES + 1).collect::<Vec<_>>()))
        };
        let (symbol, sizes) = read().filter(|(_, sizes)| !sizes.is_empty()).ok_or_else(wrong)?;
        if sizes.len() > MAX_SIZES {
            return Err(Error::new(Kind::Usage, format!("--dim {text} has more than {MAX_SIZES} sizes")));
        }
        Ok(Sweep { symbol: symbol.to_owned(), sizes })
    }

    /// Prints the cost of a model at each size.
    pub(super) fn print(
        &self,
        model: &Model,
        options: &InferOptions,
        name: String,
        is_plotted: bool,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let mut options = options.clone();
        let heading = [&self.symbol, "MACs", "operations", "read", "written", "peak"].map(str::to_owned);
        let (mut rows, mut points, mut failed) = (vec![heading], Vec::new(), None);
        let (mut macs, mut peaks) = (Vec::new(), Vec::new());
        for &size in &self.sizes {
            options.sizes.dims.insert(self.symbol.clone(), size);
            let cost = model.cost(&options).map_err(|error| error.in_file(&name))?;
            rows.push(row(size, &cost));
            macs.push(height(&cost, cost.total.counts.macs));
            peaks.push(height(&cost, cost.memory.peak.map(|peak| peak.bytes)));
            points.push(json::raw(&object!(PointJson {
                size,
                total: amounts_json(cost.inference(), &cost.total),
                peak_bytes: cost.memory.peak.map(|peak| dim_json(cost.inference(), peak.bytes)),
            }))?);
            failed = failed.or_else(|| (!cost.inference().problems().is_empty()).then_some(cost));
        }
        if output::is_json() {
            output::write_json(out, &object!(SweepJson { model: name, symbol: &self.symbol, points }))?;
        } else {
            write!(out, "{}", aligned(&rows))?;
        }
        if is_plotted {
            let ends = [self.sizes.first(), self.sizes.last()]
                .map(|size| size.map_or_else(String::new, i64::to_string));
            for (heights, what) in [(macs, "MACs"), (peaks, "peak in bytes")] {
                let plot = if heights.iter().all(|height| height.is_nan()) {
                    format!("{what}: no numbers")
                } else if heights.iter().all(|&height| height.is_nan() || height == 0.0) {
                    format!("{what}: 0")
                } else {
                    stream::draw(heights, format!("{what} over {}", escaped(&self.symbol)), &ends)
                };
                writeln!(out, "\n{plot}")?;
            }
        }
        let Some(failed) = failed else { return Ok(()) };
        // At a size that contradicts the model, no run has this cost.
        if !output::is_json() {
            write_problems(failed.inference(), out)?;
        }
        Err(Failure::Reported)
    }
}

/// A number as the height of a plot; a gap where it is not known or the size contradicts the model.
fn height(cost: &Cost, dim: Option<Dim>) -> f64 {
    let known = dim.and_then(Dim::known).filter(|_| cost.inference().problems().is_empty());
    known.map_or(f64::NAN, |number| nearest_f64(Number::Int(number.into())))
}

/// The row of a size; one that contradicts the model has no numbers.
fn row(size: i64, cost: &Cost) -> [String; 6] {
    let holds = cost.inference().problems().is_empty();
    let print = |dim: Option<Dim>| match dim {
        _ if !holds => "impossible".to_owned(),
        Some(dim) => cost.inference().symbols().print(dim).to_string(),
        None => "?".to_owned(),
    };
    let total = &cost.total;
    let peak = cost.memory.peak.map(|peak| peak.bytes);
    [
        size.to_string(),
        print(total.counts.macs),
        print(total.counts.operations),
        print(total.counts.bytes_read),
        print(total.counts.bytes_written),
        print(peak),
    ]
}
