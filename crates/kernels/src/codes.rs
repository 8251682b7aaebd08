//! Fills of types of at most 8 bits that are no types of Rust, as codes.

use gradus_core::convert::{self, Rules, low_u8, nearest_f64, u64_of};
use gradus_core::{DType, Limits, Result};

use crate::writer::{self, Elements, Kernel};
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
    write(plan, &plan.kernel(), lo, out, options);
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
    let kernel = plan.kernel();
    let chunk = if matches!(kernel, Kernel::Each) { writer::CHUNK_EACH } else { writer::MANY };
    for (i, part) in out.chunks_mut(chunk).enumerate() {
        limits.check()?;
        write(plan, &kernel, lo + u64_of(i * chunk), part, options);
    }
    Ok(())
}

/// Codes that a thread writes at a time where each is made alone.
const CODES: usize = 1 << 8;

fn write(plan: &impl Fill, kernel: &Kernel, lo: u64, out: &mut [u8], options: Options) {
    let dtype = plan.dtype();
    assert!(dtype.bits() <= 8 && !dtype.is_complex(), "{dtype} has no codes of a byte");
    let at = |i| low_u8(convert::code(dtype, plan.at(i), Rules::IEEE));
    let write = |lo: u64, out: &mut [u8]| match kernel {
        Kernel::Affine(_) | Kernel::Powers(_) if dtype.is_float() => {
            Runs { kernel, dtype, at: &at }.write(lo, out);
        }
        _ => {
            u8::write(kernel, &Elements { at: &at, len: plan.len() }, lo, out, options.token(), false);
            let low_bits = u8::MAX >> (8 - dtype.bits());
            for code in out {
                *code &= low_bits;
            }
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

/// Floats in order, of which many are equal: rounding is monotone, so what lies between two equal
/// ones is equal to them.
struct Runs<'a> {
    kernel: &'a Kernel,
    dtype: DType,
    at: &'a dyn Fn(u64) -> u8,
}

impl Runs<'_> {
    fn write(&self, lo: u64, out: &mut [u8]) {
        if let Some((end, before)) = out.split_last_mut() {
            *end = self.code(lo + u64_of(before.len()));
            if !before.is_empty() {
                self.between(lo, [self.code(lo), *end], before);
            }
        }
    }

    /// Writes a slice of which the first code is known, and the one behind the last.
    fn between(&self, lo: u64, [first, behind]: [u8; 2], out: &mut [u8]) {
        // NaN may stand for both what is too large and what is too small.
        let is_nan = writer::is_nan(convert::number(self.dtype, first.into()));
        if out.len() == 1 || first == behind && !is_nan {
            return out.fill(first);
        }
        if let Some(count) = self.boundary(lo, out.len(), [first, behind]) {
            out[..count].fill(first);
            return out[count..].fill(behind);
        }
        let (before, after) = out.split_at_mut(out.len() / 2);
        let middle = lo + u64_of(before.len());
        let code = self.code(middle);
        self.between(lo, [first, code], before);
        self.between(middle, [code, behind], after);
    }

    /// The number of elements that have the first of two neighbouring codes, where the others have
    /// the second: the kernel says about where, and both sides are asked for.
    fn boundary(&self, lo: u64, len: usize, codes: [u8; 2]) -> Option<usize> {
        if codes[0].abs_diff(codes[1]) != 1 {
            return None;
        }
        let [first, behind] = codes.map(|code| nearest_f64(convert::number(self.dtype, code.into())));
        let between = f64::midpoint(first, behind);
        let index = match self.kernel {
            Kernel::Affine(affine) => affine.index_of(between),
            Kernel::Powers(powers) => powers.index_of(between),
            _ => return None,
        };
        let count = convert::truncated(index.ceil())? - i128::from(lo);
        let count = usize::try_from(count.max(1)).ok().filter(|&count| count <= len)?;
        let is = |at: usize, code| self.code(lo + u64_of(at)) == code;
        (is(count - 1, codes[0]) && (count == len || is(count, codes[1]))).then_some(count)
    }

    fn code(&self, i: u64) -> u8 {
        let settled = match self.kernel {
            Kernel::Affine(affine) => affine.settled(i, self.dtype),
            Kernel::Powers(powers) => powers.settled(i, self.dtype),
            _ => None,
        };
        settled.map_or_else(|| (self.at)(i), low_u8)
    }
}
