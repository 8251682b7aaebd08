//! How a fill is done. Nothing here changes a bit of what is written.

#[cfg(feature = "vectors")]
use fearless_simd::Fallback;
#[cfg(feature = "vectors")]
pub use fearless_simd::Level as Token;

use crate::threads::{is_alone, threads};

/// The instructions of a build without vectors.
#[cfg(not(feature = "vectors"))]
pub type Token = Option<Level>;

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

#[cfg(feature = "vectors")]
impl Level {
    /// The levels that the processor has, the widest last.
    ///
    /// ```
    /// assert_eq!(gradus_kernels::Level::available()[0], gradus_kernels::Level::Portable);
    /// ```
    pub fn available() -> Vec<Level> {
        let all = [Level::Portable, Level::Neon, Level::Avx2, Level::Avx512];
        all.into_iter().filter(|level| level.token().is_some()).collect()
    }

    #[cfg(target_arch = "x86_64")]
    fn token(self) -> Option<Token> {
        match self {
            Level::Portable => Some(Token::Fallback(Fallback::new())),
            Level::Neon => None,
            Level::Avx2 => Token::new().as_avx2().map(Token::Avx2),
            Level::Avx512 => Token::new().as_avx512().map(Token::Avx512),
        }
    }

    #[cfg(target_arch = "aarch64")]
    fn token(self) -> Option<Token> {
        match self {
            Level::Portable => Some(Token::Fallback(Fallback::new())),
            Level::Neon => Token::new().as_neon().map(Token::Neon),
            Level::Avx2 | Level::Avx512 => None,
        }
    }

    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    fn token(self) -> Option<Token> {
        (self == Level::Portable).then(|| Token::Fallback(Fallback::new()))
    }
}

/// Compiles an expression for every level, and runs the one for a level; `$simd` stands for its
/// vectors.
///
/// Unlike `fearless_simd::dispatch`, without the levels that have no fused multiplication: they
/// would not be faster.
#[cfg(feature = "vectors")]
macro_rules! at_level {
    ($level:expr, $simd:pat => $work:expr) => {
        match $level {
            #[cfg(target_arch = "x86_64")]
            fearless_simd::Level::Avx512(simd) => at_level!(@in simd, $simd => $work),
            #[cfg(target_arch = "x86_64")]
            fearless_simd::Level::Avx2(simd) => at_level!(@in simd, $simd => $work),
            #[cfg(target_arch = "aarch64")]
            fearless_simd::Level::Neon(simd) => at_level!(@in simd, $simd => $work),
            _ => {
                let simd = fearless_simd::Fallback::new();
                at_level!(@in simd, $simd => $work)
            }
        }
    };
    (@in $token:ident, $simd:pat => $work:expr) => {{
        let $simd = $token;
        fearless_simd::Simd::vectorize(
            $token,
            #[inline(always)]
            || $work,
        )
    }};
}

#[cfg(feature = "vectors")]
pub(crate) use at_level;

/// Calls a function that is compiled for the widest instructions of the processor, if it is
/// `#[inline(always)]`; of what it calls, what is inlined. Loops over indices are.
///
/// ```
/// let (x, mut rounded) = ([0.1, 0.2], [0f32; 2]);
/// gradus_kernels::widest(
///     #[inline(always)]
///     || (0..2).for_each(|i| rounded[i] = gradus_core::convert::FromNumber::from_f64(x[i])),
/// );
/// assert_eq!(rounded, [0.1, 0.2]);
/// ```
#[inline(always)]
pub fn widest<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(feature = "vectors")]
    return at_level!(Token::new(), _ => work());
    #[cfg(not(feature = "vectors"))]
    work()
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

    /// The instructions that a fill uses: those of the level, or the best of the processor.
    #[cfg(feature = "vectors")]
    pub(crate) fn token(&self) -> Token {
        let portable = || Token::Fallback(Fallback::new());
        self.level.map_or_else(Token::new, |level| level.token().unwrap_or_else(portable))
    }

    /// The instructions of the build.
    #[cfg(not(feature = "vectors"))]
    pub(crate) fn token(&self) -> Token {
        self.level
    }
}
