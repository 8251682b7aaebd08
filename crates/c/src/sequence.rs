//! Sequences: planned once, written into memory in parts.

use std::ffi::{c_char, c_void};
use std::slice;

use gradus::seq::{GeomspacePlan, LinspacePlan, LogspacePlan, Plan as _, RangePlan};
use gradus::{DType, Error, Fill, FillOptions, Kind, Number, Result, Write, convert};

use crate::error::{ErrorHandle, done, made};
use crate::given::{free, missing, object, text};

/// The kind of a number that `integer` holds.
pub const GRADUS_SIGNED: i32 = 0;
/// The kind of a number from zero whose bits `integer` holds.
pub const GRADUS_UNSIGNED: i32 = 1;
/// The kind of a number that `real` holds.
pub const GRADUS_REAL: i32 = 2;
/// The kind of a number that `real` and `imaginary` hold.
pub const GRADUS_COMPLEX: i32 = 3;

/// A number of any type, without rounding: the functions below make it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CNumber {
    /// The fields that hold it, as one of the kinds.
    pub kind: i32,
    /// An integer.
    pub integer: i64,
    /// A real number, or a real part.
    pub real: f64,
    /// An imaginary part.
    pub imaginary: f64,
}

impl CNumber {
    fn number(self) -> Result<Number> {
        Ok(match self.kind {
            GRADUS_SIGNED => Number::Int(self.integer.into()),
            GRADUS_UNSIGNED => Number::Int(self.integer.cast_unsigned().into()),
            GRADUS_REAL => Number::Float(self.real),
            GRADUS_COMPLEX => Number::Complex(self.real, self.imaginary),
            kind => return Err(Error::mismatch(Kind::Usage, "the kind of a number", kind, "0 to 3")),
        })
    }
}

/// An integer.
#[unsafe(no_mangle)]
pub extern "C" fn gradus_int(integer: i64) -> CNumber {
    CNumber { kind: GRADUS_SIGNED, integer, real: 0.0, imaginary: 0.0 }
}

/// An integer from zero.
#[unsafe(no_mangle)]
pub extern "C" fn gradus_uint(integer: u64) -> CNumber {
    CNumber { kind: GRADUS_UNSIGNED, ..gradus_int(integer.cast_signed()) }
}

/// A real number.
#[unsafe(no_mangle)]
pub extern "C" fn gradus_real(real: f64) -> CNumber {
    CNumber { kind: GRADUS_REAL, real, ..gradus_int(0) }
}

/// A complex number.
#[unsafe(no_mangle)]
pub extern "C" fn gradus_complex(real: f64, imaginary: f64) -> CNumber {
    CNumber { kind: GRADUS_COMPLEX, real, imaginary, ..gradus_int(0) }
}

/// A sequence that is planned: its length, and the exact value of each element.
#[derive(Debug)]
pub enum PlanHandle {
    Range(RangePlan),
    Linspace(LinspacePlan),
    Logspace(LogspacePlan),
    Geomspace(GeomspacePlan),
}

macro_rules! with_plan {
    ($handle:expr, $plan:ident => $work:expr) => {
        match $handle {
            PlanHandle::Range($plan) => $work,
            PlanHandle::Linspace($plan) => $work,
            PlanHandle::Logspace($plan) => $work,
            PlanHandle::Geomspace($plan) => $work,
        }
    };
}

/// The names of arguments in errors.
const NAMES: [&str; 4] = ["start", "stop", "base", "num"];

unsafe fn dtype(name: *const c_char) -> Result<DType> {
    // SAFETY: the rules of the header.
    unsafe { text(name, "dtype") }?.parse()
}

/// Plans a range: `start + i * step` while it is before `stop`. Elements have type `dtype`, "int64"
/// say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_plan_range(
    start: CNumber,
    stop: CNumber,
    step: CNumber,
    dtype: *const c_char,
    error: *mut *mut ErrorHandle,
) -> *mut PlanHandle {
    // SAFETY: the rules of the header.
    unsafe {
        made(error, || {
            let (start, stop, step) = (start.number()?, stop.number()?, step.number()?);
            let plan = RangePlan::new(start, stop, step, self::dtype(dtype)?);
            plan.map(PlanHandle::Range).map_err(|error| error.describe(["start", "stop", "step"]))
        })
    }
}

/// Plans `num` numbers from `start` to `stop` at equal distances. If `endpoint` is true, the last
/// one is `stop`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_plan_linspace(
    start: CNumber,
    stop: CNumber,
    num: u64,
    endpoint: bool,
    dtype: *const c_char,
    error: *mut *mut ErrorHandle,
) -> *mut PlanHandle {
    // SAFETY: the rules of the header.
    unsafe {
        made(error, || {
            let plan = LinspacePlan::new(start.number()?, stop.number()?, num, endpoint, self::dtype(dtype)?);
            plan.map(PlanHandle::Linspace).map_err(|error| error.describe(NAMES))
        })
    }
}

/// Plans `num` powers of `base`, whose exponents go from `start` to `stop` at equal distances.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_plan_logspace(
    start: CNumber,
    stop: CNumber,
    num: u64,
    endpoint: bool,
    base: CNumber,
    dtype: *const c_char,
    error: *mut *mut ErrorHandle,
) -> *mut PlanHandle {
    // SAFETY: the rules of the header.
    unsafe {
        made(error, || {
            let (base, start, stop) = (base.number()?, start.number()?, stop.number()?);
            let plan = LogspacePlan::new(base, start, stop, num, endpoint, self::dtype(dtype)?);
            plan.map(PlanHandle::Logspace).map_err(|error| error.describe(NAMES))
        })
    }
}

/// Plans `num` numbers from `start` to `stop`, each the same multiple of the one before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_plan_geomspace(
    start: CNumber,
    stop: CNumber,
    num: u64,
    endpoint: bool,
    dtype: *const c_char,
    error: *mut *mut ErrorHandle,
) -> *mut PlanHandle {
    // SAFETY: the rules of the header.
    unsafe {
        made(error, || {
            let plan =
                GeomspacePlan::new(start.number()?, stop.number()?, num, endpoint, self::dtype(dtype)?);
            plan.map(PlanHandle::Geomspace).map_err(|error| error.describe(NAMES))
        })
    }
}

/// The number of elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_plan_len(plan: *const PlanHandle) -> u64 {
    // SAFETY: the rules of the header.
    unsafe { plan.as_ref() }.map_or(0, |plan| with_plan!(plan, plan => plan.len()))
}

/// Writes `count` elements, from number `first` on, into `out`, which has room for `bytes` bytes
/// and is aligned for the type. Elements narrower than a byte take a byte each here. Each part has
/// the bits that the whole would have there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_plan_fill(
    plan: *const PlanHandle,
    first: u64,
    count: usize,
    out: *mut c_void,
    bytes: usize,
    error: *mut *mut ErrorHandle,
) -> bool {
    // SAFETY: the rules of the header.
    unsafe {
        done(error, || {
            let plan = object(plan, "plan")?;
            with_plan!(plan, plan => fill(plan, first, count, (out, bytes)))
        })
    }
}

/// # Safety
/// The room is of as many bytes that may be written.
unsafe fn fill(plan: &impl Fill, first: u64, count: usize, room: (*mut c_void, usize)) -> Result<()> {
    let end = first.checked_add(convert::u64_of(count));
    if end.is_none_or(|end| end > plan.len()) {
        let got = format_args!("{count} from {first} on");
        let wanted = format_args!("elements of a sequence of {}", plan.len());
        return Err(Error::mismatch(Kind::Usage, "the elements to write", got, wanted));
    }
    // SAFETY: as above.
    unsafe {
        gradus::dispatch!(plan.dtype(),
        [Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64, C64, C128] =>
            fill_typed(plan, first, count, room),
        _ => {
            gradus::fill_codes(plan, first, place::<u8>(room, count)?, FillOptions::default());
            Ok(())
        })
    }
}

/// # Safety
/// The rules of [`fill`].
unsafe fn fill_typed<T: Write>(
    plan: &impl Fill,
    first: u64,
    count: usize,
    room: (*mut c_void, usize),
) -> Result<()> {
    // SAFETY: as above.
    let out = unsafe { place::<T>(room, count) }?;
    gradus::Writer::new(plan, FillOptions::default()).write(first, out);
    Ok(())
}

/// Room for elements.
///
/// # Safety
/// The rules of [`fill`]; the elements are of a type of which all bits are values, or are written
/// first.
unsafe fn place<'a, T>((out, bytes): (*mut c_void, usize), count: usize) -> Result<&'a mut [T]> {
    let out = out.cast::<T>();
    let wanted = count.checked_mul(size_of::<T>());
    if wanted.is_none_or(|wanted| wanted > bytes) {
        let wanted = format_args!("{count} elements of {} bytes", size_of::<T>());
        return Err(Error::mismatch(Kind::Usage, "the room", format_args!("{bytes} bytes"), wanted));
    }
    if count == 0 {
        return Ok(&mut []);
    }
    if out.is_null() {
        return Err(missing("out"));
    }
    if !out.is_aligned() {
        let wanted = format_args!("a multiple of {}", align_of::<T>());
        return Err(Error::mismatch(Kind::Usage, "the address of out", format_args!("{out:?}"), wanted));
    }
    // SAFETY: as above, and it is aligned.
    Ok(unsafe { slice::from_raw_parts_mut(out, count) })
}

/// Frees a plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gradus_plan_free(plan: *mut PlanHandle) {
    // SAFETY: the rules of the header.
    unsafe { free(plan) }
}
