//! Work that threads share.

#[cfg(feature = "vectors")]
use std::hint;
#[cfg(feature = "vectors")]
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
#[cfg(feature = "vectors")]
use std::time::{Duration, Instant};

use crate::options::Options;

/// Time for which a thread that has no work looks for more before it sleeps: waking it takes longer
/// than many nodes of a model.
#[cfg(feature = "vectors")]
const PATIENCE: Duration = Duration::from_micros(500);

/// True if this process has no thread but the calling one.
static ALONE: AtomicBool = AtomicBool::new(false);

/// Threads that look for work.
#[cfg(feature = "vectors")]
static AWAKE: AtomicUsize = AtomicUsize::new(0);

/// The number of threads that share work, unless options say another.
pub fn threads() -> usize {
    #[cfg(feature = "vectors")]
    return if is_alone() { 1 } else { rayon::current_num_threads() };
    #[cfg(not(feature = "vectors"))]
    return 1;
}

/// Returns true if one thread does all work.
pub(crate) fn is_alone() -> bool {
    ALONE.load(Ordering::Relaxed)
}

/// Makes one thread do all work from now on. A process that was forked calls it: it has none of the
/// threads that the process before it may have started.
pub fn stay_alone() {
    ALONE.store(true, Ordering::Relaxed);
}

/// Calls a function with each item, on as many threads as the options say. The calling thread is one
/// of them: it begins before others wake, and works alone where one thread is enough. Each thread
/// makes a state of its own.
///
/// ```
/// use gradus_kernels::{Options, share};
/// let mut squares = [0; 5];
/// let items = squares.iter_mut().enumerate();
/// share(items, Options::default(), || (), |(), (at, square)| {
///     *square = at * at;
///     Ok::<_, std::convert::Infallible>(())
/// })?;
/// assert_eq!(squares, [0, 1, 4, 9, 16]);
/// # Ok::<(), std::convert::Infallible>(())
/// ```
///
/// # Errors
/// An error of the function; no item is begun after it.
pub fn share<I: ExactSizeIterator + Send, S, E: Send>(
    mut items: I,
    options: Options,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, I::Item) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let threads = options.count().min(items.len());
    if threads <= 1 {
        let mut state = state();
        return items.try_for_each(|item| work(&mut state, item));
    }
    let (items, failed, error) = (Mutex::new(items), AtomicBool::new(false), Mutex::new(None));
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    on_threads(threads, &|| {
        let mut state = state();
        while !failed.load(Ordering::Relaxed)
            && let Some(item) = next()
        {
            if let Err(first) = work(&mut state, item) {
                failed.store(true, Ordering::Relaxed);
                error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(first);
            }
        }
    });
    error.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// Returns the results of a function for all items, in their order; [`share`] calls it.
///
/// # Errors
/// As [`share`].
pub fn share_map<I: ExactSizeIterator + Send, R: Send, E: Send>(
    items: I,
    options: Options,
    work: impl Fn(I::Item) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let mut results: Vec<Option<R>> = std::iter::repeat_with(|| None).take(items.len()).collect();
    share(
        results.iter_mut().zip(items),
        options,
        || (),
        |(), (result, item)| {
            *result = Some(work(item)?);
            Ok(())
        },
    )?;
    Ok(results.into_iter().flatten().collect())
}

/// Calls a function on the calling thread, which is the only one of a build without vectors.
#[cfg(not(feature = "vectors"))]
fn on_threads(_: usize, work: &(dyn Fn() + Sync)) {
    work();
}

/// Calls a function on `threads` threads, the calling one among them.
#[cfg(feature = "vectors")]
fn on_threads(threads: usize, work: &(dyn Fn() + Sync)) {
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
#[cfg(feature = "vectors")]
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
#[cfg(feature = "vectors")]
fn look_for_work(enough: impl Fn() -> bool) {
    let mut since = Instant::now();
    while !enough() && since.elapsed() < PATIENCE {
        match rayon::yield_now() {
            Some(rayon::Yield::Executed) => since = Instant::now(),
            _ => (0..16).for_each(|_| hint::spin_loop()),
        }
    }
}
