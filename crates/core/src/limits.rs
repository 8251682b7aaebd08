//! Limits: how much a file or a model may ask for. One place, one default, adjustable by whoever
//! runs Gradus.

use std::hint::black_box;
use std::time::Instant;

use crate::error::{Error, Kind, Result};

/// Limits on the memory and time that untrusted input may cost.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes that the values of a run may occupy at one time; mapped files do not count.
    pub max_bytes: u64,
    /// Nodes that a run may evaluate, each iteration of a loop counting its nodes and itself.
    pub max_steps: u64,
    /// Elements that a run may touch: each node counts the elements of its inputs and outputs, and
    /// a product of matrices its multiplications.
    pub max_work: u64,
    /// Levels of graphs within graphs, and of functions within functions.
    pub max_depth: usize,
    /// When work ends with an error.
    pub deadline: Option<Instant>,
    /// A function that work calls from time to time: work ends with an error when it returns true.
    pub stop: Option<fn() -> bool>,
}

impl Limits {
    /// 4 GiB, ten million steps, 10^12 elements, 32 levels, and no end in time.
    pub const DEFAULT: Limits = Limits {
        max_bytes: 4 << 30,
        max_steps: 10_000_000,
        max_work: 1_000_000_000_000,
        max_depth: 32,
        deadline: None,
        stop: None,
    };

    /// Checks that work may go on: before the deadline, and unless the stop function says
    /// otherwise.
    ///
    /// # Errors
    /// [`Kind::Limit`].
    pub fn check(&self) -> Result<()> {
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Error::new(Kind::Limit, "the time limit is exceeded (--timeout)"));
        }
        if self.stop.is_some_and(|stop| stop()) {
            return Err(Error::new(Kind::Limit, "the work was stopped"));
        }
        Ok(())
    }

    /// The items, with an error in place of one when a check from time to time finds that work may
    /// not go on.
    pub fn watched<T>(&self, items: impl Iterator<Item = T>) -> impl Iterator<Item = Result<T>> {
        /// Items between two checks: less than a millisecond's work.
        const EVERY: usize = 1 << 12;
        items.enumerate().map(|(index, item)| {
            if index % EVERY == 0 {
                self.check()?;
            }
            Ok(item)
        })
    }

    /// Collects items, which are [watched](Limits::watched). The room for them has been allowed
    /// before.
    ///
    /// # Errors
    /// As [`Limits::check`], and that of the first item that is one.
    pub fn try_collect<T>(&self, items: impl Iterator<Item = Result<T>>) -> Result<Vec<T>> {
        let mut all = Vec::with_capacity(items.size_hint().0);
        for item in self.watched(items) {
            all.push(item??);
        }
        Ok(all)
    }

    /// Collects items that are no errors, as [`Limits::try_collect`] does.
    ///
    /// # Errors
    /// As [`Limits::check`].
    pub fn collect<T>(&self, items: impl Iterator<Item = T>) -> Result<Vec<T>> {
        self.try_collect(items.map(Ok))
    }

    /// Checks that something of that many bytes, besides what is already in use, may be allocated,
    /// and that the system has them: an allocation that fails would end the process.
    ///
    /// # Errors
    /// [`Kind::Limit`], with both numbers and the option that raises the limit.
    pub fn allow_bytes(&self, in_use: u64, wanted: u128) -> Result<()> {
        if wanted > u128::from(self.max_bytes.saturating_sub(in_use)) {
            let beside = if in_use > 0 { format!(" next to the {in_use} in use") } else { String::new() };
            let what = format_args!("cannot allocate: number of bytes{beside}");
            let limit = format!("at most {} (--max-bytes)", self.max_bytes);
            return Err(Error::mismatch(Kind::Limit, what, wanted, limit));
        }
        ask_system(wanted)
    }
}

impl Limits {
    /// Checks that that many bytes may be written, to a file or for a reader: they may be many more
    /// than were read.
    ///
    /// # Errors
    /// [`Kind::Limit`], with both numbers and the option that raises the limit.
    pub fn allow_output(&self, bytes: u128) -> Result<()> {
        if bytes > u128::from(self.max_bytes) {
            let limit = format!("at most {} (--max-bytes)", self.max_bytes);
            return Err(Error::mismatch(Kind::Limit, "cannot write: number of bytes", bytes, limit));
        }
        Ok(())
    }
}

/// Bytes that are not asked of the system before: the tables of a program are many and small.
const FEW: u128 = 1 << 16;

/// Checks that the system has that many bytes.
///
/// # Errors
/// [`Kind::Limit`].
fn ask_system(bytes: u128) -> Result<()> {
    if bytes >= FEW {
        // Compilers remove an allocation that is not read, as if every allocation succeeded.
        black_box(&room_for(usize::try_from(bytes).unwrap_or(usize::MAX))?);
    }
    Ok(())
}

/// An empty vector with room for `bytes` bytes.
///
/// # Errors
/// [`Kind::Limit`] if the system has not as many left.
pub fn room_for(bytes: usize) -> Result<Vec<u8>> {
    let mut room = Vec::new();
    room.try_reserve_exact(bytes).map_err(|_| {
        Error::new(Kind::Limit, format!("cannot allocate {bytes} bytes: the system has not as many left"))
    })?;
    Ok(room)
}

impl Default for Limits {
    fn default() -> Self {
        Limits::DEFAULT
    }
}
