//! Work that threads share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use gradus_core::Result;

use crate::build::pool;
use crate::options::Options;

/// True if this process has no thread but the calling one.
static ALONE: AtomicBool = AtomicBool::new(false);

/// The number of threads that share work, unless options say another.
pub fn threads() -> usize {
    if is_alone() { 1 } else { pool::threads() }
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

/// Calls a function that shares its work among this many threads, whatever the processor has.
///
/// ```
/// assert_eq!(gradus_kernels::with_threads(3, || gradus_kernels::threads() <= 3)?, true);
/// # Ok::<(), gradus_core::Error>(())
/// ```
///
/// # Errors
/// [`Kind::Limit`](gradus_core::Kind::Limit) if the system has no more threads.
pub fn with_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> Result<R> {
    pool::with(threads, work)
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
    items: I,
    options: Options,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, I::Item) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let threads = options.count().min(items.len());
    let (items, failed, error) = (Mutex::new(items), AtomicBool::new(false), Mutex::new(None));
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    let turn = || {
        let mut state = state();
        while !failed.load(Ordering::Relaxed)
            && let Some(item) = next()
        {
            if let Err(first) = work(&mut state, item) {
                failed.store(true, Ordering::Relaxed);
                error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(first);
            }
        }
    };
    if threads <= 1 {
        turn();
    } else {
        pool::run(threads, &turn);
    }
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
