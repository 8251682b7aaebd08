//! The accuracy that other programs were recorded with, and ours next to it.

use comfy_table::Table;
use comfy_table::presets::ASCII_MARKDOWN;
use gradus_core::DType;
use rayon::prelude::*;
use serde::Deserialize;
use std::collections::BTreeMap;

use super::case::{Arguments, Case};
use super::check::{self, Tally};
use super::reference::float;

const RECORDED: &str = include_str!("../../../conformance/recorded/accuracy.json");

#[derive(Deserialize)]
struct Recorded {
    num: usize,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    id: String,
    dtype: String,
    base: Option<f64>,
    start: f64,
    stop: f64,
    programs: BTreeMap<String, Accuracy>,
}

/// The largest distance from the exact value in units in the last place, and how many elements of a
/// hundred are not correctly rounded.
#[derive(Clone, Copy, Deserialize)]
struct Accuracy(f64, f64);

/// The programs that have columns.
const PROGRAMS: [&str; 5] = ["numpy", "torch", "paddle", "jax", "keras_tf"];

/// The table, and what was found.
pub fn run() -> (Table, Tally) {
    let recorded: Recorded = serde_json::from_str(RECORDED).expect("the script writes what is read here");
    let tallies: Vec<Tally> =
        recorded.rows.par_iter().map(|row| check::check(&row.case(recorded.num))).collect();
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN);
    table.set_header(["sequence", "Gradus"].into_iter().chain(PROGRAMS));
    for (row, tally) in recorded.rows.iter().zip(&tallies) {
        let percent = 100.0 * float(tally.misrounded) / float(tally.elements);
        let others = PROGRAMS.map(|program| row.programs.get(program).map_or(String::new(), |a| a.cell()));
        table.add_row([row.id.clone(), Accuracy(tally.error, percent).cell()].into_iter().chain(others));
    }
    (table, tallies.into_iter().fold(Tally::default(), Tally::and))
}

impl Row {
    fn case(&self, len: usize) -> Case {
        let dtype = if self.dtype == "float64" { DType::F64 } else { DType::F32 };
        let (start, stop) = (self.start, self.stop);
        let arguments = match self.base {
            Some(base) => Arguments::Logspace { base, start, stop },
            None => Arguments::Linspace { start, stop },
        };
        let num = u64::try_from(len).expect("a length");
        Case { dtype, arguments, num, endpoint: true, lo: 0, len }
    }
}

impl Accuracy {
    fn cell(self) -> String {
        let Accuracy(ulp, wrong) = self;
        let ulp = if ulp < 1e4 { format!("{ulp:.2}") } else { format!("{ulp:.1e}") };
        format!("{ulp}, {:.1} %", 100.0 - wrong)
    }
}
