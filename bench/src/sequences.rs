//! Sequences against filling the same buffer with a constant.

use std::hint::black_box;

use clap::ValueEnum;
use comfy_table::Table;
use comfy_table::presets::ASCII_MARKDOWN;
use gradus_core::convert::{nearest_f64, u64_of};
use gradus_core::element::of;
use gradus_core::{DType, Number};
use gradus_kernels::{Fill, Level, Options, Stores, Write, Writer};
use gradus_sequences::{GeomspacePlan, LinspacePlan, LogspacePlan, RangePlan};
use half::{bf16, f16};
use rayon::prelude::*;

use crate::{memory, timing};

use Number::Int;

/// Sets of instructions, by name.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Instructions {
    Portable,
    Neon,
    Avx2,
    Avx512,
}

/// Ways of storing, by name.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Storing {
    Auto,
    Cached,
    Streaming,
}

/// The options of the fills that are measured.
pub fn options(level: Option<Instructions>, stores: Storing) -> Options {
    let mut options = Options::default();
    options.level = level.map(|level| match level {
        Instructions::Portable => Level::Portable,
        Instructions::Neon => Level::Neon,
        Instructions::Avx2 => Level::Avx2,
        Instructions::Avx512 => Level::Avx512,
    });
    options.stores = match stores {
        Storing::Auto => Stores::Auto,
        Storing::Cached => Stores::Cached,
        Storing::Streaming => Stores::Streaming,
    };
    options
}

/// Prints the tables: long buffers with one thread and with all, and what little ones cost.
pub fn run(bytes: usize, rounds: usize, mut options: Options) {
    for threads in [1, rayon::current_num_threads()] {
        options.threads = threads;
        println!(
            "\n{threads} thread{}; GB/s, and the ratio to a constant fill\n",
            if threads == 1 { "" } else { "s" }
        );
        let mut table = Table::new();
        table.load_style(ASCII_MARKDOWN);
        table.set_header(["bytes", "sequence", "i32", "i64", "f32", "f64", "i8", "f16", "bf16"]);
        let sizes = [128 << 10, 8 << 20, bytes];
        for size in sizes.into_iter().filter(|&size| size <= bytes) {
            let mut buffer = vec![0f64; size / 8];
            let dtypes = [DType::I32, DType::I64, DType::F32, DType::F64, DType::I8, DType::F16, DType::BF16];
            let rows = dtypes.map(|dtype| match dtype {
                DType::I32 => column::<i32>(&mut buffer, options, rounds),
                DType::I64 => column::<i64>(&mut buffer, options, rounds),
                DType::F32 => column::<f32>(&mut buffer, options, rounds),
                DType::I8 => column::<i8>(&mut buffer, options, rounds),
                DType::F16 => column::<f16>(&mut buffer, options, rounds),
                DType::BF16 => column::<bf16>(&mut buffer, options, rounds),
                _ => column::<f64>(&mut buffer, options, rounds),
            });
            for (i, name) in NAMES.iter().enumerate() {
                let cells = rows.iter().map(|column| {
                    let speed = nearest_f64(Int(i128::try_from(size).expect("sizes fit"))) / column[i] / 1e9;
                    let ratio = column[0] / column[i];
                    if i == 0 { format!("{speed:.1}") } else { format!("{speed:.1} ({ratio:.2})") }
                });
                table.add_row([size.to_string(), (*name).to_owned()].into_iter().chain(cells));
            }
        }
        println!("{table}");
    }
    options.threads = 1;
    others(bytes, rounds, options);
    small(rounds);
}

/// Prints complex sequences, and types that have codes: one thread, plans included.
fn others(bytes: usize, rounds: usize, options: Options) {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN);
    table.set_header(["bytes", "type", "constant fill", "linspace", "logspace"]);
    for size in [128 << 10, 8 << 20].into_iter().filter(|&size| size <= bytes) {
        let mut memory = vec![0f64; size / 8];
        let constant = timing::medians(
            rounds,
            &mut [&mut || {
                memory::cached(&mut memory);
                black_box(&mut memory);
            }],
        )[0];
        let total = nearest_f64(Int(size.try_into().expect("sizes fit")));
        let shown = |time: f64| format!("{:.1} ({:.2})", total / time / 1e9, constant / time);
        let mut row = |dtype: DType, times: &[f64]| {
            let fill = format!("{:.1}", total / constant / 1e9);
            let cells = times.iter().map(|&time| shown(time));
            table.add_row([size.to_string(), dtype.to_string(), fill].into_iter().chain(cells));
        };
        for dtype in [DType::C64, DType::C128] {
            let len = u64_of(size * 8 / dtype.bits());
            let [start, stop] = [Number::Complex(0.0, 1.0), Number::Complex(9.0, -3.0)];
            let linspace = LinspacePlan::new(start, stop, len, true, dtype).expect("a plan");
            let logspace = LogspacePlan::new(Int(10), start, stop, len, true, dtype).expect("a plan");
            let times = match dtype {
                DType::C64 => allocated::<of::C64>(&linspace, &logspace, rounds, options),
                _ => allocated::<of::C128>(&linspace, &logspace, rounds, options),
            };
            row(dtype, &times);
        }
        for (dtype, stop, power) in [
            (DType::F8E4M3FN, 100, 2.0),
            (DType::F8E5M2, 100, 2.0),
            (DType::F4E2M1, 6, 0.75),
            (DType::I4, 7, 0.75),
        ] {
            let len = u64_of(size);
            let linspace = LinspacePlan::new(Int(0), Int(stop), len, true, dtype).expect("a plan");
            let logspace = LogspacePlan::new(Int(10), Int(0), Number::Float(power), len, true, dtype);
            let logspace = logspace.expect("a plan");
            let codes: &mut [u8] = bytemuck::cast_slice_mut(&mut memory);
            let codes = std::cell::RefCell::new(codes);
            let times = timing::medians(
                rounds,
                &mut [&mut || coded(black_box(&linspace), &mut codes.borrow_mut(), options), &mut || {
                    coded(black_box(&logspace), &mut codes.borrow_mut(), options);
                }],
            );
            row(dtype, &times);
        }
    }
    println!("\nother types, one thread, with their plan; codes one a byte\n\n{table}");
}

fn allocated<T: Write>(one: &impl Fill, other: &impl Fill, rounds: usize, options: Options) -> Vec<f64> {
    let out = std::cell::RefCell::new(vec![T::default(); usize::try_from(one.len()).expect("lengths fit")]);
    timing::medians(
        rounds,
        &mut [&mut || planned(one, black_box(&mut out.borrow_mut()), options), &mut || {
            planned(other, black_box(&mut out.borrow_mut()), options);
        }],
    )
}

fn coded(plan: &impl Fill, out: &mut [u8], options: Options) {
    gradus_kernels::fill_codes(plan, 0, out, options);
    black_box(out);
}

const NAMES: [&str; 7] = [
    "constant fill",
    "range",
    "linspace",
    "logspace",
    "logspace, prepared",
    "geomspace",
    "geomspace, prepared",
];

/// The times of a constant fill and of the sequences.
fn column<T: Write>(buffer: &mut [f64], options: Options, rounds: usize) -> Vec<f64> {
    let dtype = T::DTYPE;
    let len = u64_of(size_of_val(buffer) / size_of::<T>());
    // Ends within the type.
    let (line, power, last) = match dtype {
        DType::I8 => (100, 2, 100),
        DType::F16 => (1000, 4, 10_000),
        _ => (1000, 9, 1_000_000),
    };
    let range = if dtype == DType::F16 {
        let step = nearest_f64(Int(line)) / nearest_f64(Int(len.into()));
        RangePlan::new(Int(0), Int(line), Number::Float(step), dtype)
    } else {
        RangePlan::new(Int(0), Int(len.into()), Int(1), dtype)
    };
    let range = range.expect("a plan");
    let linspace = LinspacePlan::new(Int(0), Int(line), len, true, dtype).expect("a plan");
    let logspace = LogspacePlan::new(Int(10), Int(0), Int(power), len, true, dtype).expect("a plan");
    let geomspace = GeomspacePlan::new(Int(1), Int(last), len, true, dtype).expect("a plan");
    let (log_writer, geom_writer) = (Writer::new(&logspace, options), Writer::new(&geomspace, options));
    let buffer = std::cell::RefCell::new(buffer);
    let fill = |write: &dyn Fn(&mut [T])| {
        let mut buffer = buffer.borrow_mut();
        write(bytemuck::cast_slice_mut(&mut buffer));
        black_box(&mut **buffer);
    };
    let constant = |fill: fn(&mut [f64])| {
        let mut buffer = buffer.borrow_mut();
        if options.threads == 1 {
            fill(&mut buffer);
        } else {
            let part = buffer.len().div_ceil(options.threads);
            buffer.par_chunks_mut(part).for_each(fill);
        }
        black_box(&mut **buffer);
    };
    let times = timing::medians(
        rounds,
        &mut [
            &mut || constant(memory::cached),
            &mut || constant(memory::streamed),
            &mut || fill(&|out| planned(&range, out, options)),
            &mut || fill(&|out| planned(&linspace, out, options)),
            &mut || fill(&|out| planned(&logspace, out, options)),
            &mut || fill(&|out| log_writer.write(0, out)),
            &mut || fill(&|out| planned(&geomspace, out, options)),
            &mut || fill(&|out| geom_writer.write(0, out)),
        ],
    );
    // The faster of the two constant fills, then the rest.
    std::iter::once(times[0].min(times[1])).chain(times[2..].iter().copied()).collect()
}

fn planned<T: Write>(plan: &impl Fill, out: &mut [T], options: Options) {
    gradus_kernels::fill_with(black_box(plan), out, options);
}

/// Prints what few elements cost, from the arguments on.
fn small(rounds: usize) {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN);
    table.set_header(["elements", "sequence", "i32", "i64", "f32", "f64"]);
    for (len, name) in [(16, "range"), (50, "linspace"), (50, "logspace"), (50, "geomspace")] {
        let cells = [
            little::<i32>(name, len, rounds),
            little::<i64>(name, len, rounds),
            little::<f32>(name, len, rounds),
            little::<f64>(name, len, rounds),
        ];
        let cells = cells.map(|time| format!("{:.0} ns", time * 1e9));
        table.add_row([len.to_string(), name.to_owned()].into_iter().chain(cells));
    }
    println!("\nfew elements, with their plan\n\n{table}");
}

fn little<T: Write>(name: &str, len: u64, rounds: usize) -> f64 {
    let mut out = vec![T::default(); usize::try_from(len).expect("few")];
    let float = T::DTYPE.is_float();
    let number = |x: i32| if float { Number::Float(x.into()) } else { Int(x.into()) };
    let mut work = || {
        let out = black_box(&mut out[..]);
        let dtype = T::DTYPE;
        let [zero, one, nine] = black_box([number(0), number(1), number(9)]);
        let stop =
            black_box(if float { Number::Float(nearest_f64(Int(len.into()))) } else { Int(len.into()) });
        match name {
            "range" => gradus_kernels::fill(&RangePlan::new(zero, stop, one, dtype).expect("a plan"), out),
            "linspace" => {
                let plan = LinspacePlan::new(zero, nine, len, true, dtype);
                gradus_kernels::fill(&plan.expect("a plan"), out);
            }
            "logspace" => {
                let plan = LogspacePlan::new(black_box(Int(10)), zero, nine, len, true, dtype);
                gradus_kernels::fill(&plan.expect("a plan"), out);
            }
            _ => {
                let plan = GeomspacePlan::new(one, stop, len, true, dtype);
                gradus_kernels::fill(&plan.expect("a plan"), out);
            }
        }
    };
    timing::medians(rounds, &mut [&mut work])[0]
}
