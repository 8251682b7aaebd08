//! Fills on GPUs: the elements of a plan, in the memory of a device, with the bits that the
//! processor gives.
//!
//! A device makes most elements from the numbers that a fill on the processor starts from
//! ([`gradus_kernels::prepared`]), tests of each whether its rounding is certain, and lists the
//! others. These are decided by
//! [`Plan::at`](gradus_sequences::Plan::at) and put in their places. So the bits never depend on
//! the device.
//!
//! | backend | feature | devices | arithmetic |
//! |---|---|---|---|
//! | [`Backend::Cuda`] | `cuda` | of NVIDIA, by its driver and its compiler, which are looked for when a device is | doubles, each operation with its rounding said |
//! | [`Backend::Vulkan`], [`Backend::Metal`], [`Backend::Dx12`] | `wgpu` | of any vendor, and software that stands for one | whole numbers only: WGSL promises nothing of floats that bits could be built on |
//!
//! A build without the features has no devices; all else is the same.
//!
//! ```
//! match gradus_gpu::open("gpu") {
//!     Ok(device) => println!("{}", device.info().device),
//!     Err(error) => println!("{error}"),
//! }
//! ```

mod device;
#[cfg(any(feature = "cuda", feature = "wgpu"))]
mod engine;
mod find;
mod plan;

#[cfg(feature = "cuda")]
mod cuda;
#[cfg(feature = "wgpu")]
mod wgpu;

pub use device::{Array, Backend, Device, DeviceKind, DeviceReport, Info, supports};
pub use find::{FoundDevice, Missing, devices, open};
pub use plan::AnyPlan;
