//! Memory: what runs and inference allocate, counted, against the limit that they were given.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

#[path = "common/nodes.rs"]
mod nodes;

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use gradus::conversion::ConvertOptions;
use gradus::fold::FoldOptions;
use gradus::graph::Standard;
use gradus::infer::InferOptions;
use gradus::operators;
use gradus::{Limits, Model, Number, OpenOptions, RunOptions, convert};
use nodes::RandomNode;

/// The system's allocator, counted.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn add(bytes: usize) {
    let live = LIVE.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(live, Ordering::Relaxed);
}

// SAFETY: all calls go to the system's allocator as they are.
#[expect(unsafe_code, reason = "an allocator is unsafe")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller keeps what `alloc` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps what `dealloc` asks for.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most bytes that live at one time while something is done, beside those before.
fn peak(work: impl FnOnce()) -> usize {
    let before = LIVE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    work();
    PEAK.load(Ordering::Relaxed) - before
}

/// Shapes of some ten thousand elements.
const SHAPES: [&[usize]; 8] =
    [&[128, 128], &[1 << 14], &[16, 32, 32], &[1, 2, 96, 96], &[128], &[1], &[], &[128, 1]];

/// Bytes that tables of the program, messages and copies of short inputs may take beside the
/// limit.
const SLACK: usize = 1 << 17;

fn ratio(bytes: usize, limit: u64) -> f64 {
    let float = |x: u64| convert::nearest_f64(Number::Int(x.into()));
    float(convert::u64_of(bytes.saturating_sub(SLACK))) / float(limit)
}

/// Runs random nodes of each operator under limits from too low to high enough. Returns the limits
/// that a node exceeds by half, and the number of runs within them.
fn run_random_nodes(standard: Standard, seed: u64, each: usize) -> (BTreeMap<String, f64>, usize) {
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut found, mut ran) = (BTreeMap::new(), 0);
    for row in operators::all().filter(|row| row.standard == standard && row.is_evaluated()) {
        let Some(signature) = row.signatures().last() else { continue };
        for _ in 0..each {
            let node = RandomNode::new(&mut random, row, signature, &SHAPES);
            for bits in 14..25 {
                let mut limits = Limits::DEFAULT;
                (limits.max_bytes, limits.max_work) = (1 << bits, 1 << 26);
                let mut options = RunOptions::default();
                options.limits = Some(limits);
                let Ok(program) = node.model.compile(&[], &options) else { continue };
                let values = node.values.clone();
                let bytes = peak(|| ran += usize::from(program.run(values).is_ok()));
                let ratio = ratio(bytes, limits.max_bytes);
                if ratio > 1.5 {
                    found.insert(format!("{}-{} within 2^{bits}", row.name, signature.since), ratio);
                }
            }
        }
    }
    (found, ran)
}

fn check(seed: u64, each: usize) {
    for standard in [Standard::Onnx, Standard::OpenVino] {
        let (found, ran) = run_random_nodes(standard, seed, each);
        assert!(found.is_empty(), "memory by the limit: {found:#?}");
        assert!(ran > 10 * each, "{standard}: {ran} runs ended well");
    }
}

#[test]
fn nodes_take_no_more_memory_than_the_limit_allows() {
    check(1, 8);
}

#[test]
#[ignore = "long: `cargo xtask test long` runs it"]
fn long_nodes_take_no_more_memory_than_the_limit_allows() {
    (2..4).for_each(|seed| check(seed, 16));
}

/// Models of the corpus, in order.
fn corpus() -> Vec<PathBuf> {
    let mut open = vec![PathBuf::from(std::env::var_os("GRADUS_CORPUS").expect("GRADUS_CORPUS is set"))];
    let mut models = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|ending| ending == "onnx" || ending == "xml") {
            models.push(path);
        }
    }
    models.sort();
    models
}

#[test]
#[ignore = "needs GRADUS_CORPUS, a folder of models"]
fn models_take_no_more_memory_than_the_limit_allows() {
    type Work = (&'static str, fn(&Model));
    let works: [Work; 4] = [
        ("open", |_| {}),
        ("infer", |model| drop(model.infer(&InferOptions::default()))),
        ("fold", |model| drop(model.fold(&FoldOptions::default()))),
        ("convert", |model| {
            let onnx = model.source().standard == Standard::Onnx;
            let to = if onnx { Standard::OpenVino } else { Standard::Onnx };
            drop(model.convert(to, &ConvertOptions::default()));
        }),
    ];
    let models = corpus();
    assert!(!models.is_empty());
    let mut found = BTreeMap::new();
    for path in &models {
        for (name, work) in works {
            for bits in (14..33).step_by(2) {
                let mut limits = Limits::DEFAULT;
                limits.max_bytes = 1 << bits;
                let bytes = peak(|| {
                    let model = OpenOptions::new().limits(limits).open(path);
                    model.iter().for_each(work);
                });
                let ratio = ratio(bytes, limits.max_bytes);
                if ratio > 1.5 {
                    found.insert(format!("{name} {} within 2^{bits}", path.display()), ratio);
                }
            }
        }
    }
    assert!(found.is_empty(), "memory by the limit: {found:#?}");
}
