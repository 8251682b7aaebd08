//! Devices of NVIDIA.

mod driver;
#[cfg(test)]
mod emulated;
mod program;
mod work;

pub(crate) use driver::{list, open};
pub use program::source;
