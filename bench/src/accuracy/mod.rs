//! Fills against arbitrary precision: random sequences of every float type, and the accuracy table
//! that other programs were recorded with.

mod case;
mod check;
mod recorded;
mod reference;

use std::time::{Duration, Instant};

use comfy_table::Table;
use comfy_table::presets::ASCII_MARKDOWN;
use gradus_core::DType;
use gradus_core::convert::u64_of;
use rayon::prelude::*;

use case::{Case, FUNCTIONS};
use check::Tally;

const DTYPES: [DType; 4] = [DType::F16, DType::BF16, DType::F32, DType::F64];

/// Elements of long slices, which are written past the caches and by several threads.
const LONG: usize = (1 << 20) + 1;

/// One slice in this many is long.
const RARITY: u64 = 256;

/// Checks that many elements of each float type, and prints what was found. Whether all of them
/// were right.
pub fn run(elements: u64, seed: u64) -> bool {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN);
    table.set_header([
        "type",
        "sequence",
        "elements",
        "finite, not 0",
        "misrounded",
        "max ulp",
        "ties",
        "nearest to a tie, ulp",
        "seconds",
    ]);
    let mut all = Tally::default();
    for dtype in DTYPES {
        for function in FUNCTIONS {
            let start = Instant::now();
            let tally = random(function, dtype, elements.div_ceil(u64_of(FUNCTIONS.len())), seed);
            table.add_row(row(dtype, function, &tally, start.elapsed()));
            all = all.and(tally);
        }
    }
    println!("\nrandom sequences, seed {seed}\n\n{table}");
    let recorded = recorded::run();
    println!(
        "\nsequences of 100,000 elements that other programs were recorded with: max ulp, and how many percent of the elements are correctly rounded\n\n{}",
        recorded.0
    );
    let all = all.and(recorded.1);
    for line in &all.told {
        println!("misrounded: {line}");
    }
    println!(
        "\n{} elements; {} misrounded; {} too near a tie to tell",
        all.elements, all.misrounded, all.unknown
    );
    all.is_clean()
}

fn row(dtype: DType, function: &str, tally: &Tally, took: Duration) -> [String; 9] {
    [
        dtype.to_string(),
        function.to_owned(),
        tally.elements.to_string(),
        tally.ordinary.to_string(),
        tally.misrounded.to_string(),
        format!("{:.4}", tally.error),
        tally.ties.to_string(),
        format!("2^-{}", tally.tie_bits),
        format!("{:.1}", took.as_secs_f64()),
    ]
}

/// Checks random sequences of a function, of that many elements together.
fn random(function: &str, dtype: DType, elements: u64, seed: u64) -> Tally {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut left = elements;
    let mut cases = Vec::new();
    while left > 0 {
        let longest = if u64_of(cases.len()) % RARITY == RARITY - 1 { LONG } else { 1 << rng.u32(4..15) };
        let len = if longest == LONG { LONG } else { rng.usize(longest / 2..longest) };
        let case = Case::random(function, dtype, len, &mut rng);
        left = left.saturating_sub(u64_of(len));
        cases.push(case);
    }
    cases.par_iter().map(check::check).reduce(Tally::default, Tally::and)
}
