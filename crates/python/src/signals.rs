//! Signals while the engine works: Python's handlers run, and an exception of theirs ends the work.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use gradus::Limits;
use pyo3::prelude::*;

/// How long signals may wait.
const EVERY: Duration = Duration::from_millis(50);

thread_local! {
    /// Returns true in the main thread, the only one in which Python runs handlers.
    static IS_MAIN: Cell<Option<bool>> = const { Cell::new(None) };
    static LAST: Cell<Option<Instant>> = const { Cell::new(None) };
    /// The exception that a handler raised.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// The default limits, for work that signals end.
pub(crate) fn limits() -> Limits {
    let mut limits = Limits::DEFAULT;
    limits.stop = Some(handle);
    limits
}

/// Notes whether this is the main thread.
pub(crate) fn prepare(py: Python<'_>) {
    if IS_MAIN.get().is_none() {
        let is_main = py.import("threading").and_then(|threading| {
            Ok(threading.call_method0("current_thread")?.is(&threading.call_method0("main_thread")?))
        });
        IS_MAIN.set(Some(is_main.unwrap_or(false)));
    }
}

/// Runs Python's handlers of signals, if some time has passed since. Returns true if one raised.
fn handle() -> bool {
    if IS_MAIN.get() != Some(true) {
        return false;
    }
    if is_raised() {
        return true;
    }
    let now = Instant::now();
    if LAST.get().is_some_and(|last| now.duration_since(last) < EVERY) {
        return false;
    }
    LAST.set(Some(now));
    let raised = Python::attach(|py| py.check_signals().err());
    RAISED.with_borrow_mut(|kept| *kept = raised);
    is_raised()
}

/// Returns true if a signal handler raised an exception.
pub(crate) fn is_raised() -> bool {
    RAISED.with_borrow(Option::is_some)
}

/// The exception that a handler raised since the last call.
pub(crate) fn take() -> Option<PyErr> {
    RAISED.take()
}
