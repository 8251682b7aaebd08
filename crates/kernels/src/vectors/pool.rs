//! Threads that work is shared with.

use std::hint;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use gradus_core::{Error, Kind, Result};

/// Time for which a thread that has no work looks for more before it sleeps: waking it takes longer
/// than many nodes of a model.
const PATIENCE: Duration = Duration::from_micros(500);

/// Threads that look for work.
static AWAKE: AtomicUsize = AtomicUsize::new(0);

/// The number of threads that there are.
pub(crate) fn threads() -> usize {
    rayon::current_num_threads()
}

/// Calls a function in a pool of its own.
pub(crate) fn with<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> Result<R> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool =
        pool.map_err(|error| Error::new(Kind::Limit, format!("cannot start {threads} threads: {error}")))?;
    Ok(pool.install(work))
}

/// Calls a function on `threads` threads, the calling one among them.
pub(crate) fn run(threads: usize, work: &(dyn Fn() + Sync)) {
    let working = AtomicUsize::new(threads - 1);
    rayon::in_place_scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|_| {
                work();
                working.fetch_sub(1, Ordering::Release);
            });
        }
        keep_awake(threads - 1);
        work();
        look_for_work(|| working.load(Ordering::Acquire) == 0);
    });
}

/// Keeps `threads` threads of the pool awake for a while.
fn keep_awake(threads: usize) {
    let threads = threads.min(rayon::current_num_threads());
    for _ in AWAKE.load(Ordering::Relaxed)..threads {
        AWAKE.fetch_add(1, Ordering::Relaxed);
        rayon::spawn(|| {
            look_for_work(|| false);
            AWAKE.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

/// Does what other threads of the pool have to do, until a function says that it is enough or there
/// was nothing to do for a while.
fn look_for_work(enough: impl Fn() -> bool) {
    let mut since = Instant::now();
    while !enough() && since.elapsed() < PATIENCE {
        match rayon::yield_now() {
            Some(rayon::Yield::Executed) => since = Instant::now(),
            _ => (0..16).for_each(|_| hint::spin_loop()),
        }
    }
}
