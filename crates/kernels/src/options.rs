//! How a fill is done. Nothing here changes a bit of what is written.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::threads::{is_alone, threads};

/// A set of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Level {
    /// Instructions that every processor of the architecture has; fused multiplications are done in
    /// software where they are not among them.
    Portable,
    /// 128 bits on ARM.
    Neon,
    /// 256 bits on x86-64, with fused multiplications.
    Avx2,
    /// 512 bits on x86-64.
    Avx512,
}

gradus_core::names!(Level {
    Portable = "portable", Neon = "neon", Avx2 = "avx2", Avx512 = "avx512",
});

/// The number of the level that the process is held to, from 1 on; 0 for none.
static HELD: AtomicU8 = AtomicU8::new(0);

/// Makes this process use a level from now on where options name none, or with `None` the widest.
///
/// ```
/// use gradus_kernels::{Level, hold_level};
/// hold_level(Some(Level::Portable));
/// hold_level(None);
/// ```
pub fn hold_level(level: Option<Level>) {
    let number = (1..).zip(Level::ALL).find(|(_, other)| Some(*other) == level);
    HELD.store(number.map_or(0, |(number, _)| number), Ordering::Relaxed);
}

/// The level that the process is held to.
#[cfg(feature = "vectors")]
pub(crate) fn held_level() -> Option<Level> {
    usize::from(HELD.load(Ordering::Relaxed)).checked_sub(1).map(|index| Level::ALL[index])
}

/// How elements go to memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stores {
    /// Past the caches if there are many, on processors on which that is faster: Intel's.
    #[default]
    Auto,
    /// Through the caches.
    Cached,
    /// Past the caches, where the processor can.
    Streaming,
}

/// How a fill is done.
///
/// ```
/// use gradus_kernels::{Level, Options};
/// let mut options = Options::ONE_THREAD;
/// options.level = Some(Level::Portable);
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// The instructions; by default the widest that there are. A level that the processor lacks is
    /// taken as portable.
    pub level: Option<Level>,
    /// The largest number of threads; 0 stands for as many as there are, where they pay.
    pub threads: usize,
    /// How elements go to memory.
    pub stores: Stores,
}

impl Options {
    /// One thread, and otherwise the default.
    pub const ONE_THREAD: Options = Options { level: None, threads: 1, stores: Stores::Auto };

    /// The largest number of threads.
    pub(crate) fn count(&self) -> usize {
        match self.threads {
            0 => threads(),
            _ if is_alone() => 1,
            threads => threads,
        }
    }
}
