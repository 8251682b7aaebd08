//! Levels of instructions that a processor has, and code that is compiled for each.

use fearless_simd::Fallback;
pub use fearless_simd::Level as Token;

use crate::options::{Level, Options, held_level};

impl Level {
    /// The levels that the processor has, the widest last.
    ///
    /// ```
    /// assert_eq!(gradus_kernels::Level::available()[0], gradus_kernels::Level::Portable);
    /// ```
    pub fn available() -> Vec<Level> {
        Level::ALL.into_iter().filter(|level| level.token().is_some()).collect()
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

impl Options {
    /// The instructions that a fill uses: those of the level, or the best of the processor.
    pub(crate) fn token(&self) -> Token {
        let portable = || Token::Fallback(Fallback::new());
        self.level.or_else(held_level).map_or_else(Token::new, |level| level.token().unwrap_or_else(portable))
    }
}

/// Compiles an expression for every level, and runs the one for a level; `$simd` stands for its
/// vectors.
///
/// Unlike `fearless_simd::dispatch`, without the levels that have no fused multiplication: they
/// would not be faster.
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
    at_level!(Options::default().token(), _ => work())
}
