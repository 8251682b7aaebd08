//! Fills of types of at most 8 bits that are no types of Rust, as codes.

use gradus_core::convert::{self, Rules, low_u8, u64_of};
use gradus_core::{Limits, Result};

use crate::vectors::levels::at_level;
use crate::vectors::writer::{self, Elements, ErasedPlan, Kernel, Writer};
use crate::{Fill, Options, Write};

/// Writes as many elements of a plan as the slice has, from index `lo` on, as their codes, one a
/// byte: for the types of at most 8 bits that are no types of Rust.
///
/// # Panics
/// If the slice reaches beyond the plan, or the type is wider.
///
/// ```
/// use gradus_core::{DType, Number};
/// use gradus_sequences::RangePlan;
/// let plan = RangePlan::new(Number::Int(-1), Number::Int(2), Number::Int(1), DType::I4)?;
/// let mut codes = [0; 3];
/// gradus_kernels::fill_codes(&plan, 0, &mut codes, Default::default());
/// assert_eq!(codes, [15, 0, 1]);
/// # Ok::<(), gradus_sequences::RangeError>(())
/// ```
pub fn fill_codes(plan: &impl Fill, lo: u64, out: &mut [u8], options: Options) {
    Writer::new(plan, options).erased(|plan| plan.write_codes(lo, out));
}

/// Writes as [`fill_codes`] does, and stops when the limits do not allow more time.
///
/// # Errors
/// As [`Limits::check`]; some elements are written then.
///
/// # Panics
/// As [`fill_codes`].
pub fn fill_codes_within(
    plan: &impl Fill,
    lo: u64,
    out: &mut [u8],
    options: Options,
    limits: &Limits,
) -> Result<()> {
    Writer::new(plan, options).erased(|plan| plan.write_codes_within(lo, out, limits))
}

/// Codes that a thread writes at a time where each is made alone.
const CODES: usize = 1 << 8;

impl ErasedPlan<'_> {
    /// Writes codes, one a byte, from index `lo` on, within limits.
    pub(super) fn write_codes_within(&self, lo: u64, out: &mut [u8], limits: &Limits) -> Result<()> {
        let chunk = if matches!(self.kernel, Kernel::Each) { writer::CHUNK_EACH } else { writer::MANY };
        for (i, part) in out.chunks_mut(chunk).enumerate() {
            limits.check()?;
            self.write_codes(lo + u64_of(i * chunk), part);
        }
        Ok(())
    }

    fn write_codes(&self, lo: u64, out: &mut [u8]) {
        let ErasedPlan { at, dtype, len, kernel, options } = *self;
        assert!(dtype.bits() <= 8 && !dtype.is_complex(), "{dtype} has no codes of a byte");
        let at = |i| low_u8(convert::code(dtype, at(i), Rules::IEEE));
        let write = |lo: u64, out: &mut [u8]| {
            u8::write(kernel, &Elements { at: &at, len }, lo, out, options.token(), false);
            if dtype.is_integer() {
                let low_bits = u8::MAX >> (8 - dtype.bits());
                at_level!(options.token(), _ => out.iter_mut().for_each(|code| *code &= low_bits));
            }
        };
        let (least, part) = match kernel {
            Kernel::Each => (writer::THREADS_EACH, CODES),
            _ => (writer::MANY, writer::MANY / 8),
        };
        if options.count() == 1 || out.len() < least {
            write(lo, out);
        } else {
            writer::in_parts(out, part, options, |at, out| write(lo + u64_of(at), out));
        }
    }
}
