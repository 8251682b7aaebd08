//! Devices of NVIDIA.

mod compiler;
mod driver;
#[cfg(test)]
mod emulated;
mod memory;
mod program;
mod work;

pub(crate) use driver::{list, open};
