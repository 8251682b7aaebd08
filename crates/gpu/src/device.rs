//! Devices and their memory, whatever the backend.

use std::fmt;

#[cfg(any(feature = "cuda", feature = "wgpu"))]
use gradus_core::float::Format;
use gradus_core::{DType, Error, Kind as ErrorKind, Result, Shape, Tensor, convert};

use crate::plan::AnyPlan;

/// GPU API in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// NVIDIA's driver.
    Cuda,
    /// Vulkan.
    Vulkan,
    /// Apple's Metal.
    Metal,
    /// Direct3D 12.
    Dx12,
}

gradus_core::names!(Backend { Cuda = "cuda", Vulkan = "vulkan", Metal = "metal", Dx12 = "dx12" });

/// The kind of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DeviceKind {
    /// A processor of its own, with memory of its own.
    Discrete,
    /// Part of the processor, whose memory it shares.
    Integrated,
    /// A part of a device that a hypervisor lends, or one of which no more is known.
    Virtual,
    /// A program on the processor that stands for a device.
    Software,
}

gradus_core::names!(DeviceKind {
    Discrete = "discrete", Integrated = "integrated", Virtual = "virtual", Software = "software",
});

/// Description of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    /// The name by which it is opened: `cuda:0`, `vulkan:1`.
    pub name: String,
    /// GPU API in use.
    pub backend: Backend,
    /// The manufacturer's name of the device.
    pub device: String,
    /// The kind of a device.
    pub kind: DeviceKind,
    /// The driver and its version, as far as they are told.
    pub driver: String,
    /// The bytes of the largest array.
    pub max_bytes: u64,
}

/// The fields of a float's code, as kernels and shaders are told them.
#[cfg(any(feature = "cuda", feature = "wgpu"))]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PlanFields {
    /// Bits of the mantissa.
    pub(crate) mantissa: u32,
    /// The exponent of the smallest number.
    pub(crate) least: i32,
    /// The exponent field of infinity: all ones.
    pub(crate) infinity: u32,
}

#[cfg(any(feature = "cuda", feature = "wgpu"))]
impl PlanFields {
    /// The fields of the code of an element type, whose numbers have that format.
    pub(crate) fn of(dtype: DType, format: Format) -> PlanFields {
        let mantissa = format.precision() - 1;
        let infinity = (1 << (convert::small_u32(dtype.bits()) - 1 - mantissa)) - 1;
        PlanFields { mantissa, least: format.least_exponent(), infinity }
    }
}

/// Returns true if devices make elements of the type: floats of at least 16 bits, integers of at
/// least 8.
pub fn supports(dtype: DType) -> bool {
    use DType::{BF16, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    matches!(dtype, I8 | I16 | I32 | I64 | U8 | U16 | U32 | U64 | F16 | BF16 | F32 | F64)
}

/// A device that is open.
pub trait Device: fmt::Debug + Send + Sync {
    /// The description of the device.
    fn info(&self) -> &Info;

    /// Takes memory for `len` elements of a type, which are zero at first.
    ///
    /// # Errors
    /// `Unsupported` for types that no device makes; `Limit` if the device has no room.
    fn allocate(&self, dtype: DType, len: u64) -> Result<Box<dyn Array>>;

    /// All elements of a plan, in new memory.
    ///
    /// # Errors
    /// As [`allocate`](Device::allocate), and `Io` if the device or its driver fails.
    fn fill(&self, plan: &dyn AnyPlan) -> Result<Box<dyn Array>> {
        let mut array = self.allocate(plan.element_type(), plan.count())?;
        array.fill(plan)?;
        Ok(array)
    }
}

/// Elements in the memory of a device: one axis, side by side.
pub trait Array: fmt::Debug + Send + Sync {
    /// The type of the elements.
    fn dtype(&self) -> DType;

    /// The number of elements.
    fn len(&self) -> u64;

    /// Returns true if there are no elements.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes all elements of a plan, and says who decided them.
    ///
    /// # Errors
    /// `Shape` or `Type` if the plan is of another length or type; `Io` if the device or its driver
    /// fails.
    fn fill(&mut self, plan: &dyn AnyPlan) -> Result<DeviceReport>;

    /// Makes all bits zero, by the device's own memory fill, and waits for it.
    ///
    /// # Errors
    /// `Io` if the device or its driver fails.
    fn clear(&mut self) -> Result<()>;

    /// Copies bytes to the processor, from a byte on.
    ///
    /// # Errors
    /// `Shape` if the bytes reach beyond the array; `Io` if the device or its driver fails.
    fn read(&self, from: u64, out: &mut [u8]) -> Result<()>;

    /// The number of the device of CUDA that the elements are in.
    fn cuda_ordinal(&self) -> Option<i32> {
        None
    }

    /// Address of the elements in a device of CUDA. Others may read them, on streams of theirs too:
    /// when the array is dropped, it waits for the device.
    fn cuda_address(&self) -> Option<u64> {
        None
    }

    /// All elements, as a tensor.
    ///
    /// # Errors
    /// As [`read`](Array::read).
    fn tensor(&self) -> Result<Tensor> {
        let mut bytes = vec![0; convert::usize_of(bytes_of(self.dtype(), self.len())?)];
        self.read(0, &mut bytes)?;
        Tensor::from_bytes(self.dtype(), Shape::vector(convert::usize_of(self.len())), bytes.into())
    }
}

/// The method that decided the elements of a fill.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceReport {
    /// Elements of which the device was not certain, or that have a sign that lines do not know.
    pub decided: u64,
    /// Elements that were made by the processor and copied, because the device cannot make them, or
    /// was certain of too few.
    pub copied: u64,
}

impl Info {
    /// Number of bytes of `len` elements.
    ///
    /// # Errors
    /// Errors of [`bytes_of`]; `Limit` if the largest array of the device has fewer bytes.
    #[cfg(any(feature = "cuda", feature = "wgpu"))]
    pub(crate) fn bytes_of(&self, dtype: DType, len: u64) -> Result<u64> {
        let bytes = bytes_of(dtype, len)?;
        if bytes <= self.max_bytes {
            return Ok(bytes);
        }
        let what =
            format_args!("cannot allocate {len} elements of {dtype} on {}: number of bytes", self.name);
        Err(Error::mismatch(ErrorKind::Limit, what, bytes, format_args!("at most {}", self.max_bytes)))
    }
}

/// Number of bytes of `len` elements of a type that devices make.
///
/// # Errors
/// `Unsupported` for other types, `Limit` for more than 2^63 bytes.
pub(crate) fn bytes_of(dtype: DType, len: u64) -> Result<u64> {
    if !supports(dtype) {
        let wanted = "an integer type of 8 to 64 bits, float16, bfloat16, float32 or float64";
        return Err(Error::mismatch(ErrorKind::Unsupported, "element type", dtype, wanted));
    }
    let bytes = u128::from(len) * convert::product(dtype.bits() / 8, 1);
    u64::try_from(bytes).ok().filter(|&bytes| i64::try_from(bytes).is_ok()).ok_or_else(|| {
        let what = format_args!("number of bytes of {len} elements of {dtype}");
        Error::mismatch(ErrorKind::Limit, what, bytes, format_args!("at most {}", i64::MAX))
    })
}

/// Checks that bytes that are asked for are there.
#[cfg(any(feature = "cuda", feature = "wgpu"))]
pub(crate) fn check_read(bytes: u64, from: u64, out: &[u8]) -> Result<()> {
    if from.checked_add(convert::u64_of(out.len())).is_none_or(|end| end > bytes) {
        let what = format_args!("end of {} bytes at {from}", out.len());
        let end = u128::from(from) + u128::from(convert::u64_of(out.len()));
        return Err(Error::mismatch(ErrorKind::Shape, what, end, format_args!("at most {bytes}")));
    }
    Ok(())
}
