//! Work that threads share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::options::Options;

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
    let run = || {
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
    rayon::in_place_scope(|scope| {
        (1..threads).for_each(|_| scope.spawn(|_| run()));
        run();
    });
    error.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}
