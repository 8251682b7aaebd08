//! Sequences on a device against the device's own filling of the same memory.

use std::cell::RefCell;

use comfy_table::Table;
use comfy_table::presets::ASCII_MARKDOWN;
use gradus_core::convert::{nearest_f64, u64_of};
use gradus_core::{DType, Number, Result};
use gradus_gpu::{AnyPlan, Device, DeviceReport};
use gradus_sequences::{GeomspacePlan, LinspacePlan, LogspacePlan, RangePlan};

use crate::timing;

use Number::Int;

/// Prints a table of the device of that name, for each number of bytes.
pub fn run(device: &str, sizes: &[u64], rounds: usize) -> Result<()> {
    let device = gradus_gpu::open(device)?;
    let info = device.info();
    println!("{} ({}, {}, {})\n", info.device, info.name, info.kind.name(), info.driver);
    println!(
        "GB/s, and the part of the speed of the device's own memory fill; median of {rounds}. Times are those of a caller: with \
         the plan, its tables, the launch, and the list of doubts read back. The memory is there beforehand.\n"
    );
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN);
    table.set_header([
        "bytes",
        "type",
        "memory fill",
        "range",
        "linspace",
        "logspace",
        "geomspace",
        "decided by the processor",
    ]);
    for &bytes in sizes {
        for dtype in [DType::F32, DType::F64, DType::I32, DType::I64] {
            table.add_row(row(&*device, dtype, bytes, rounds)?);
        }
    }
    println!("{table}");
    Ok(())
}

fn row(device: &dyn Device, dtype: DType, bytes: u64, rounds: usize) -> Result<Vec<String>> {
    let len = bytes / u64_of(dtype.bits() / 8);
    let range = RangePlan::new(Int(0), Int(len.into()), Int(1), dtype).expect("a plan");
    let linspace = || LinspacePlan::new(Int(0), Int(1000), len, true, dtype).expect("a plan");
    let logspace = || LogspacePlan::new(Int(10), Int(0), Int(9), len, true, dtype).expect("a plan");
    let geomspace = || GeomspacePlan::new(Int(1), Int(1_000_000), len, true, dtype).expect("a plan");
    let array = RefCell::new(device.allocate(dtype, len)?);
    // The first fill of each kind compiles it, and reports errors.
    array.borrow_mut().clear()?;
    let mut decided = DeviceReport::default();
    let plans: [&dyn AnyPlan; 4] = [&range, &linspace(), &logspace(), &geomspace()];
    for plan in plans {
        let DeviceReport { decided: few, copied } = array.borrow_mut().fill(plan)?;
        decided.decided += few;
        decided.copied += copied;
    }
    let fill = |plan: &dyn AnyPlan| {
        array.borrow_mut().fill(plan).expect("it was filled before");
    };
    let times = timing::medians(
        rounds,
        &mut [
            &mut || array.borrow_mut().clear().expect("it was cleared before"),
            &mut || fill(&range),
            &mut || fill(&linspace()),
            &mut || fill(&logspace()),
            &mut || fill(&geomspace()),
        ],
    );
    let size = nearest_f64(Int(bytes.into()));
    let mut cells =
        vec![bytes.to_string(), dtype.short_name().to_owned(), format!("{:.1}", size / times[0] / 1e9)];
    cells.extend(times[1..].iter().map(|time| format!("{:.1} ({:.2})", size / time / 1e9, times[0] / time)));
    cells.push(format!("{} and {} copied", decided.decided, decided.copied));
    Ok(cells)
}
