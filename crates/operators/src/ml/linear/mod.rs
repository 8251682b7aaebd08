//! `LinearRegressor` and `LinearClassifier`.

pub mod eval;
pub mod lowered;
