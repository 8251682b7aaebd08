//! Limits: how much a file or a model may ask for. One place, one default, adjustable by whoever
//! runs Gradus.

use crate::error::{Error, Kind, Result};

/// Limits on the memory and time that untrusted input may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes that the values of a run may occupy at one time; mapped files do not count.
    pub max_bytes: u64,
    /// Nodes that a run may evaluate, each iteration of a loop counting its nodes and itself.
    pub max_steps: u64,
    /// Levels of graphs within graphs, and of functions within functions.
    pub max_depth: usize,
}

impl Limits {
    /// 4 GiB, ten million steps, 32 levels.
    pub const DEFAULT: Limits = Limits { max_bytes: 4 << 30, max_steps: 10_000_000, max_depth: 32 };

    /// Checks that something of that many bytes, beside what is already in use, may be allocated.
    ///
    /// # Errors
    /// [`Kind::Limit`], with both numbers and the option that raises the limit.
    pub fn allow_bytes(&self, in_use: u64, wanted: u128) -> Result<()> {
        if wanted > u128::from(self.max_bytes.saturating_sub(in_use)) {
            let beside = if in_use > 0 { format!(" beside the {in_use} in use") } else { String::new() };
            let what = format_args!("cannot allocate: number of bytes{beside}");
            let limit = format!("at most {} (--max-bytes)", self.max_bytes);
            return Err(Error::mismatch(Kind::Limit, what, wanted, limit));
        }
        Ok(())
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits::DEFAULT
    }
}
