//! Rows of the table of operators: what is known of an operator, and the functions that infer,
//! evaluate and convert it.

pub mod allowed;
pub mod equation;
pub mod errors;
pub mod floats;
pub mod fused;
pub mod indices;
pub mod operation;
pub mod registry;
pub mod reshape;
pub mod rounding;
pub mod row;
pub mod strided;
pub mod work;

pub use allowed::{Allowed, Carries, Magnitudes, Terms};
pub use registry::{Registry, signature};
pub use rounding::Rounding;
pub use row::{Chance, Checked, Conversion, Eval, OWN_DOMAIN, Reduces, Role, Row, Sequence, ZeroSigns};
