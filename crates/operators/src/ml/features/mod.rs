//! Features that are scaled, compared, replaced, chosen and put side by side.

pub mod eval;
pub mod lowered;
