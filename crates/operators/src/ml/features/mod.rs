//! Features that are scaled, compared, replaced, chosen and put side by side.

pub mod eval;
#[cfg(any(feature = "run", feature = "convert"))]
pub mod lowered;
