//! `gradus check --quantized`: what each tensor loses in a quantized model.

use gradus::check::{Loss, Quantization, TensorKind, TensorLoss};
use gradus::convert::{nearest_f64, u64_of};
use gradus::{DType, Number};
use serde::Serialize;

use super::check::{WORST, counted};
use super::given;
use crate::args;
use crate::columns::{Column, fitted, narrow_hint};
use crate::diagnostics::Failure;
use crate::object::{Maybe, object};
use crate::output;

/// A loss: decibels are null where nothing is lost, and with the largest difference where one is
/// infinite.
fn loss(loss: &Loss) -> impl Serialize {
    let finite = |x: f64| x.is_finite().then_some(x);
    let (decibels, largest) = (finite(loss.decibels()), finite(loss.largest));
    object!(LossJson { elements: loss.elements, decibels, largest })
}

/// Prints the losses of the tensors of a quantized model.
pub(super) fn lose(args: &args::CheckArgs) -> Result<(), Failure> {
    let models = [args.limits.open(&args.before)?, args.limits.open(args.second())?];
    let [before, after] = given::set_both(models, &args.shapes.inputs)?;
    let found = before.quantization(&after, &args.options(&before)?);
    let found = found.map_err(|error| error.in_file(args.before.display()))?;
    if !output::is_json() {
        output::print_line(&text(&found, args.all))?;
        return Ok(());
    }
    let tensors = found.tensors.iter().map(|tensor| {
        object!(TensorJson {
            name: &tensor.name,
            kind: tensor.kind.name(),
            codes: Maybe(tensor.codes.map(|dtype| dtype.to_string())),
            clipped: Maybe(tensor.clipped),
            own: Maybe(tensor.own.as_ref().map(loss)),
            whole: Maybe(tensor.whole.as_ref().map(loss)),
        })
    });
    output::print_json(&object!(QuantizationJson {
        before: args.before.display().to_string(),
        after: args.second().display().to_string(),
        runs: found.runs,
        tensors: tensors.collect::<Vec<_>>(),
    }))?;
    Ok(())
}

const COLUMNS: [Column; 6] =
    [Column::NAME, Column::WHOLE, Column::WHOLE, Column::WHOLE, Column::WHOLE, Column::WHOLE];

/// A table of the tensors that lose most, and of the outputs.
fn text(found: &Quantization, all: bool) -> String {
    let is_output = |tensor: &&TensorLoss| tensor.kind == TensorKind::Output;
    let own = found.tensors.iter().filter(|tensor| !is_output(tensor));
    let shown = own.clone().take(if all { usize::MAX } else { WORST });
    let heading = ["tensor", "kind", "codes", "clipped", "SNR alone", "SNR in all"];
    let mut rows = vec![heading.map(str::to_owned)];
    rows.extend(shown.chain(found.tensors.iter().filter(is_output)).map(row));
    let table = fitted(&rows, &COLUMNS);
    let hint = narrow_hint(std::slice::from_ref(&table)).map(|hint| format!("\n{hint}"));
    let of = |kind| own.clone().filter(|tensor| tensor.kind == kind).count();
    let [weights, activations] = [(TensorKind::Weight, "weight"), (TensorKind::Activation, "activation")]
        .map(|(kind, name)| counted(u64_of(of(kind)), name));
    format!(
        "{}{}\n\n{weights}, {activations}, {}; SNR: signal to noise, 20 dB for each digit that is right",
        table.text.trim_end(),
        hint.unwrap_or_default(),
        counted(u64_of(found.runs), "run")
    )
}

fn row(tensor: &TensorLoss) -> [String; 6] {
    let elements = tensor.own.or(tensor.whole).map_or(0, |loss| loss.elements);
    [
        tensor.name.clone(),
        tensor.kind.name().to_owned(),
        tensor.codes.as_ref().map_or_else(String::new, DType::to_string),
        tensor.clipped.filter(|&count| count > 0).map_or_else(String::new, |count| part(count, elements)),
        tensor.own.as_ref().map_or_else(String::new, decibels),
        tensor.whole.as_ref().map_or_else(String::new, decibels),
    ]
}

/// A count as a part of all, in per cent.
fn part(count: u64, all: u64) -> String {
    let [count, all] = [count, all].map(|count| nearest_f64(Number::Int(count.into())));
    format!("{:.2} %", count / all * 100.0)
}

fn decibels(loss: &Loss) -> String {
    match loss.decibels() {
        f64::INFINITY => "exact".to_owned(),
        decibels => format!("{decibels:.1} dB"),
    }
}
