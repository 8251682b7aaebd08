//! Memory: what runs and inference allocate, counted, against the limit that they were given.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

#[path = "common/folder.rs"]
mod folder;
#[path = "common/nodes.rs"]
mod nodes;
#[path = "common/sketch.rs"]
mod sketch;

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use folder::models;
use gradus::conversion::ConvertOptions;
use gradus::fold::FoldOptions;
use gradus::graph::{Content, Standard};
use gradus::infer::InferOptions;
use gradus::operators;
use gradus::{DType, Limits, Model, Number, OpenOptions, RunOptions, Shape, Tensor, convert};
use sketch::Sketch;

/// The system's allocator, counted.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
/// Bytes of the largest piece that the system gives.
static LARGEST: AtomicUsize = AtomicUsize::new(usize::MAX);

fn add(bytes: usize) {
    let live = LIVE.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(live, Ordering::Relaxed);
}

// SAFETY: all calls go to the system's allocator as they are.
#[expect(unsafe_code, reason = "an allocator is unsafe")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > LARGEST.load(Ordering::Relaxed) {
            return std::ptr::null_mut();
        }
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

/// Held by each test: what is counted is that of one.
static ALONE: Mutex<()> = Mutex::new(());

/// The most bytes that live at one time while something is done, in addition to those before.
fn peak(work: impl FnOnce()) -> usize {
    let before = LIVE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    work();
    PEAK.load(Ordering::Relaxed) - before
}

/// Shapes of some ten thousand elements.
const SHAPES: [&[usize]; 8] =
    [&[128, 128], &[1 << 14], &[16, 32, 32], &[1, 2, 96, 96], &[128], &[1], &[], &[128, 1]];

/// Shapes of some sixty thousand elements.
const LARGE: [&[usize]; 6] = [&[256, 256], &[1 << 16], &[16, 64, 64], &[1, 4, 128, 128], &[1], &[]];

/// Bytes that tables of the program, messages and copies of short inputs may take besides the
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
            let node = nodes::node_of_shapes(&mut random, row, signature, &SHAPES);
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
    let _alone = ALONE.lock();
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

/// Runs random nodes where the system gives no large pieces. Returns the number of runs that ended
/// well, and of those that were refused bytes; a process that ends is a failure of the test.
fn run_without_large_pieces(standard: Standard, seed: u64, each: usize) -> (usize, usize) {
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut ran, mut refused) = (0, 0);
    for row in operators::all().filter(|row| row.standard == standard && row.is_evaluated()) {
        let Some(signature) = row.signatures().last() else { continue };
        for _ in 0..each {
            let node = nodes::node_of_shapes(&mut random, row, signature, &LARGE);
            let mut options = RunOptions::default();
            let mut limits = Limits::DEFAULT;
            (limits.max_bytes, limits.max_work) = (1 << 30, 1 << 26);
            options.limits = Some(limits);
            let Ok(program) = node.model.compile(&[], &options) else { continue };
            for bits in 16..24 {
                let values = node.values.clone();
                LARGEST.store(1 << bits, Ordering::Relaxed);
                let result = program.run(values);
                LARGEST.store(usize::MAX, Ordering::Relaxed);
                ran += usize::from(result.is_ok());
                refused += usize::from(result.is_err_and(|error| error.message().contains("the system has")));
            }
        }
    }
    (ran, refused)
}

#[test]
fn nodes_survive_a_system_without_large_pieces() {
    let _alone = ALONE.lock();
    for standard in [Standard::Onnx, Standard::OpenVino] {
        let (ran, refused) = run_without_large_pieces(standard, 1, 4);
        assert!(ran > 100 && refused > 100, "{standard}: {ran} ran, {refused} were refused bytes");
    }
}

/// A work that may be refused bytes.
type Fallible<'a> = &'a dyn Fn(&Model) -> gradus::Result<()>;

/// A file of a model whose constants are a mebibyte, and what folding makes of them is more.
fn with_large_constants() -> Bytes {
    let square = Shape::new([512, 512]).unwrap();
    let model = Sketch::of("x: float32[n, 512]")
        .constant("w", Tensor::from_vec(square, vec![1.5f32; 512 * 512]).unwrap())
        .text(
            "half = 0.5; turned = Transpose(w); less = Mul(turned, half);
             both = Concat(less, w, axis=1); wide = Cast(both, to=11);
             narrow = Cast(wide, to=1); y = MatMul(x, narrow); return y: float32[n, 1024]",
        )
        .model();
    model.to_onnx().unwrap()
}

#[test]
fn works_survive_a_system_without_large_pieces() {
    let _alone = ALONE.lock();
    let file = with_large_constants();
    let folder = std::env::temp_dir().join(format!("gradus-memory-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let x = Tensor::zeros(DType::F32, Shape::new([64, 512]).unwrap()).unwrap();
    let mut all = FoldOptions::default();
    all.max_constant = u64::MAX;
    let works: [(&str, Fallible<'_>); 5] = [
        ("infer", &|model| model.infer(&InferOptions::default()).map(drop)),
        ("fold", &|model| {
            let folded = model.fold(&all)?;
            model.save_edited(&folded.model, folder.join("m.onnx"))?;
            let folded = model.edited(&folded.model)?;
            folded
                .convert(Standard::OpenVino, &ConvertOptions::default())?
                .model
                .save(folder.join("n.xml"))
                .map(drop)
        }),
        ("convert", &|model| {
            let converted = model.convert(Standard::OpenVino, &ConvertOptions::default())?;
            converted.model.save(folder.join("m.xml")).map(drop)
        }),
        ("run", &|model| model.run([("x", x.clone())]).map(drop)),
        ("write", &|model| model.to_onnx().map(drop)),
    ];
    let mut found = 0;
    for (name, work) in works {
        let (mut done, mut refused) = (0, 0);
        for bits in 16..26 {
            let file = file.clone();
            LARGEST.store(1 << bits, Ordering::Relaxed);
            let result = Model::from_bytes(&file).and_then(|model| work(&model));
            LARGEST.store(usize::MAX, Ordering::Relaxed);
            match result {
                Ok(()) => done += 1,
                Err(error) => {
                    assert!(error.to_string().contains("the system has"), "{name}: {error}");
                    refused += 1;
                }
            }
        }
        assert!(done > 0, "{name}");
        found += refused;
    }
    assert!(found > 10, "{found} works were refused bytes");
    std::fs::remove_dir_all(folder).unwrap();
}

/// A file of nodes with lists of a million elements.
fn with_long_lists() -> Bytes {
    let ints: Vec<i64> = (0..1 << 20).collect();
    let texts: Vec<_> = ints.iter().map(|int| Bytes::from(int.to_string())).collect();
    let model = Sketch::of("x: int64[n]")
        .with("Constant", &[], &["ints"], vec![("value_ints", Content::Ints(ints.into()))])
        .with("Constant", &[], &["texts"], vec![("value_strings", Content::Strings(texts.into()))])
        .text(
            "y = Gather(ints, x); z = Gather(texts, x); return y: int64[n];
             return z: string[n]",
        )
        .model();
    model.to_onnx().unwrap()
}

#[test]
fn long_lists_are_read_once_and_shared() {
    let _alone = ALONE.lock();
    let file = with_long_lists();
    let mut model = None;
    // A list is read, and copied once to be shared.
    let lists = (1 << 20) * (size_of::<i64>() + size_of::<Bytes>());
    let bytes = peak(|| model = Some(Model::from_bytes(&file).unwrap()));
    assert!(bytes < lists * 2, "{bytes} bytes for lists of {lists}");
    let model = model.unwrap();
    let bytes = peak(|| drop(model.graph().nodes().to_vec()));
    assert!(bytes < 1 << 16, "{bytes} bytes for copies of nodes");
    let (mut done, mut refused) = (0, 0);
    for bits in 17..28 {
        let file = file.clone();
        LARGEST.store(1 << bits, Ordering::Relaxed);
        let result = Model::from_bytes(&file);
        LARGEST.store(usize::MAX, Ordering::Relaxed);
        match result {
            Ok(_) => done += 1,
            Err(error) => {
                assert!(error.to_string().contains("the system has"), "{error}");
                refused += 1;
            }
        }
    }
    assert!(done > 0 && refused > 5, "{refused} of {}", done + refused);
}

#[test]
fn conversions_copy_no_weights() {
    let _alone = ALONE.lock();
    let model = Model::from_bytes(&with_large_constants()).unwrap();
    let folder = std::env::temp_dir().join(format!("gradus-weights-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (to, name, opset) in [(Standard::Onnx, "m.onnx", Some(21)), (Standard::OpenVino, "m.xml", None)] {
        let mut options = ConvertOptions::default();
        options.opset = opset;
        let bytes = peak(|| {
            let converted = model.convert(to, &options).unwrap().model;
            assert!(converted.save(folder.join(name)).unwrap() > 1 << 20);
        });
        assert!(bytes < 1 << 19, "{to}: {bytes} bytes");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// A work by its name.
type Work = (&'static str, fn(&Model));

#[test]
#[ignore = "needs GRADUS_CORPUS, a folder of models"]
fn models_take_no_more_memory_than_the_limit_allows() {
    let _alone = ALONE.lock();
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
    let corpus = std::env::var_os("GRADUS_CORPUS").expect("GRADUS_CORPUS names a folder of models");
    let models = models(Path::new(&corpus), &["onnx", "xml"]);
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
