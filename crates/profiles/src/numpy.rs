//! NumPy 2.4.6: `numpy.arange` of Python numbers.
//!
//! | | rule |
//! |---|---|
//! | length | `ceil((stop - start) / step)` as Python computes it: differences of integers exactly, everything else in float64 |
//! | elements | the first two are `start` and `start + step`, in Python; then `first + i * (second - first)` in the type; float16 and narrower in float32 |
//! | refused | a step of zero; a length that is NaN or beyond 2^63; the first two elements if the integer type does not hold them |
//!
//! # `numpy.linspace`, `numpy.logspace` and `numpy.geomspace` of Python numbers
//!
//! | | rule |
//! |---|---|
//! | points | `i * step + start` in float64, `step` rounded; the last is `stop` |
//! | linspace, integers | rounded down, then as C casts |
//! | logspace | `pow(base, point)` in float64, then as C casts |
//! | geomspace | the same, of the base-10 logarithms of the ends; the ends themselves are kept |
//! | refused | a negative number of elements; a geomspace from or to zero; one between an integer and a float, in a type that NumPy has only with `ml_dtypes` |
//!
//! Sources: numpy/_core/src/multiarray/ctors.c (`_calc_length`, `PyArray_ArangeObj`),
//! arraytypes.c.src (`fill`); `numpy/_core/function_base.py`.

use gradus_core::convert::{nearest_f64, truncated};
use gradus_core::float::{self, Overflow, Parts};
use gradus_core::{DType, Number};

use crate::call::{LinspaceCall, LogspaceCall, RangeCall};
use crate::formula::{CastFunction, Formula, ScaledLine, WrappingRange, nearest};
use crate::machine::{c_cast, count, index, int, rounded, typed, wrapped};
use crate::predicted::{Failure, Outcome, Predicted};
use crate::space::{FormulaPoints, FormulaPowers, LineFormula, NUM, POWERS_DIFFER};
use crate::tolerance::Tolerance;

/// Predicts `numpy.arange`.
pub(crate) fn range(call: &RangeCall) -> Outcome {
    let dtype = call.dtype;
    let len = length(call)?;
    let second = match call.ints() {
        Some([start, _, step]) => Number::Int(start + step),
        None => Number::Float(nearest_f64(call.start) + nearest_f64(call.step)),
    };
    let rules = ["counts in float64", "takes the step to be the difference of the first two elements"];
    if dtype == DType::Bool && len > 2 {
        return Err(Failure::refused("no fill-function for data-type bool: more than two elements"));
    }
    let is_beyond_int64 = |number| matches!(number, Number::Int(x) if i64::try_from(x).is_err());
    for number in [call.start, second].into_iter().take(usize::try_from(len).unwrap_or(2)) {
        if !is_native(dtype) && is_beyond_int64(number) {
            return Err(Failure::refused("expected number, got int"));
        }
        check_fits(dtype, number)?;
    }
    let [first, second] = [call.start, second].map(|number| python_to(dtype, number));
    if dtype.is_float() {
        let format = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
        let [first, second] = [first, second].map(nearest_f64);
        let step = rounded(format, second - first);
        let rest = ScaledLine { format, start: first, step, dtype, cast: nearest };
        return Ok(Predicted::new(dtype, len, Filled { second, rest }, rules));
    }
    let [start, second] = [first, second].map(int);
    let formula = WrappingRange { width: dtype, dtype, start, step: second - start };
    Ok(Predicted::new(dtype, len, formula, rules))
}

/// Two elements that are there, and those that are filled in after them.
#[derive(Debug)]
struct Filled {
    second: f64,
    rest: ScaledLine,
}

impl Formula for Filled {
    fn at(&self, i: u64) -> Number {
        match i {
            0 => Number::Float(self.rest.start),
            1 => Number::Float(self.second),
            _ => self.rest.at(i),
        }
    }
}

/// The length of Python's `(stop - start) / step`.
fn length(call: &RangeCall) -> Result<u64, Failure> {
    if call.step.is_zero() {
        return Err(Failure::refused("division by zero"));
    }
    let quotient = quotient(call);
    let [start, stop, _] = call.floats();
    if quotient == 0.0 && start != stop {
        // The quotient was too small for a float.
        return Ok(u64::from(!quotient.is_sign_negative()));
    }
    if quotient.is_nan() {
        return Err(Failure::refused("arange: cannot compute length"));
    }
    let most = 9_223_372_036_854_775_808.0;
    let ceiling = quotient.ceil();
    if !(-most..=most).contains(&ceiling) {
        return Err(Failure::refused("Maximum allowed size exceeded"));
    }
    // 2^63 passes the check and becomes negative, which is empty.
    Ok(count(ceiling).unwrap_or(0))
}

/// `(stop - start) / step` as Python computes it.
pub(crate) fn quotient(call: &RangeCall) -> f64 {
    if let Some([start, stop, step]) = call.ints() {
        return quotient_of_ints(stop - start, step);
    }
    let [start, stop, step] = call.floats();
    (stop - start) / step
}

/// Python's true division of two integers: the nearest float64.
fn quotient_of_ints(dividend: i128, divisor: i128) -> f64 {
    let [a, b] = [dividend, divisor].map(i128::unsigned_abs);
    let (up, along) = (a.leading_zeros(), b.leading_zeros());
    if a == 0 {
        return 0.0;
    }
    // The leading bits at fixed places, so that the quotient has 64 or 65 bits and a rest.
    let (a, b) = (a << up, b << along >> 64);
    let parts = Parts {
        negative: (dividend < 0) != (divisor < 0),
        mantissa: a / b,
        exponent: along.cast_signed() - 64 - up.cast_signed(),
        sticky: a % b != 0,
    };
    f64::from_bits(float::F64.round(parts, Overflow::Special))
}

/// A Python number as an element; integers become float64 before they become any other float.
fn python_to(dtype: DType, number: Number) -> Number {
    typed(dtype, if dtype.is_float() { Number::Float(nearest_f64(number)) } else { number })
}

fn check_fits(dtype: DType, number: Number) -> Result<(), Failure> {
    let fits = match number {
        Number::Float(x) => truncated(x).is_some_and(|whole| wrapped(dtype, whole) == whole),
        _ => wrapped(dtype, int(number)) == int(number),
    };
    if dtype.is_integer() && !fits {
        return Err(Failure::refused(format!("Python integer {} out of bounds for {dtype}", shown(number))));
    }
    Ok(())
}

fn shown(number: Number) -> String {
    match number {
        Number::Float(x) => format!("{:.0}", x.trunc()),
        _ => int(number).to_string(),
    }
}

/// A line in float64, multiplied by the step unless that underflowed to zero, with the stop put at
/// its end.
#[derive(Debug)]
struct NumpyLine {
    start: f64,
    stop: f64,
    intervals: f64,
    last: Option<u64>,
}

impl NumpyLine {
    fn of(call: &LinspaceCall, len: u64) -> NumpyLine {
        let [start, stop] = [call.start, call.stop].map(nearest_f64);
        let last = (call.endpoint && len > 1).then(|| len - 1);
        NumpyLine { start, stop, intervals: index(DType::F64, call.intervals()), last }
    }
}

impl LineFormula for NumpyLine {
    fn point(&self, i: u64) -> f64 {
        if Some(i) == self.last {
            return self.stop;
        }
        let i = index(DType::F64, i);
        let delta = self.stop - self.start;
        let step = delta / self.intervals;
        let way = if self.intervals == 0.0 {
            i * delta
        } else if step == 0.0 {
            i / self.intervals * delta
        } else {
            i * step
        };
        way + self.start
    }
}

/// Predicts `numpy.linspace`.
pub(crate) fn linspace(call: &LinspaceCall) -> Outcome {
    let (len, dtype) = (call.len()?, call.dtype);
    let line = NumpyLine::of(call, len);
    check_casts(dtype, [line.start, line.stop])?;
    let (cast, rule): (CastFunction, _) = if dtype.is_integer() {
        (|dtype, x| c_cast(dtype, x.floor()), "computes in float64 and rounds down")
    } else {
        (from_float64, "rounds i * step and the sum in float64")
    };
    Ok(Predicted::new(dtype, len, FormulaPoints { line, dtype, cast }, [NUM, rule]))
}

/// Predicts `numpy.logspace`.
pub(crate) fn logspace(call: &LogspaceCall) -> Outcome {
    let (len, dtype) = (call.exponents.len()?, call.exponents.dtype);
    let line = NumpyLine::of(&call.exponents, len);
    let base = nearest_f64(call.base);
    check_casts(dtype, [line.start, line.stop].map(|exponent| base.powf(exponent)))?;
    if base < 0.0 && len > 2 {
        // Exponents between integers give NaN.
        check_casts(dtype, [f64::NAN; 2])?;
    }
    let cast: CastFunction = if dtype.is_integer() { c_cast } else { from_float64 };
    let formula = FormulaPowers { line, base, format: DType::F64, dtype, cast };
    let rules = [NUM, "rounds the exponents to float64 before taking powers"];
    Ok(Predicted::new(dtype, len, formula, rules).within(POWERS_DIFFER))
}

/// Powers between two ends that are put there as they are, with their sign.
#[derive(Debug)]
struct NumpyGeomspace {
    powers: FormulaPowers<NumpyLine>,
    ends: [f64; 2],
    last: Option<u64>,
    dtype: DType,
    cast: CastFunction,
}

impl Formula for NumpyGeomspace {
    fn at(&self, i: u64) -> Number {
        let [start, stop] = self.ends;
        let x = match i {
            0 => start,
            _ if Some(i) == self.last => stop,
            _ => nearest_f64(self.powers.at(i)) * start.signum(),
        };
        (self.cast)(self.dtype, x)
    }
}

/// Predicts `numpy.geomspace`.
pub(crate) fn geomspace(call: &LinspaceCall) -> Outcome {
    let (len, dtype) = (call.len()?, call.dtype);
    let ends = [call.start, call.stop].map(nearest_f64);
    if ends.contains(&0.0) {
        return Err(Failure::refused("Geometric sequence cannot include zero"));
    }
    let is_mixed = matches!(call.start, Number::Int(_)) != matches!(call.stop, Number::Int(_));
    if is_mixed && !is_native(dtype) {
        return Err(Failure::refused("The DType could not be promoted: no common DType exists"));
    }
    // The logarithm of an end of the other sign is NaN, and so are powers.
    let logarithms = ends.map(|end| (end * ends[0].signum()).log10());
    check_casts(dtype, ends)?;
    check_casts(dtype, logarithms)?;
    let [start, stop] = logarithms.map(Number::Float);
    let exponents = LinspaceCall { start, stop, dtype: DType::F64, ..*call };
    let line = NumpyLine::of(&exponents, len);
    let largest = line.start.abs().max(line.stop.abs());
    let last = line.last;
    let powers =
        FormulaPowers { line, base: 10.0, format: DType::F64, dtype: DType::F64, cast: from_float64 };
    let cast: CastFunction = if dtype.is_integer() { c_cast } else { from_float64 };
    let rules = [NUM, "rounds logarithms to float64 before taking powers"];
    // Logarithms differ by a unit in their last place between libraries, so that multiples of the
    // step and sums may round to neighbours; each unit makes 2 ln 10 of the power at most.
    let ulps = 2 + count(15.0 * largest.ceil()).unwrap_or(0);
    let formula = NumpyGeomspace { powers, ends, last, dtype, cast };
    Ok(Predicted::new(dtype, len, formula, rules).within(Tolerance::Ulps { ulps, of: DType::F64 }))
}

/// Returns true for the types that NumPy has without `ml_dtypes`.
fn is_native(dtype: DType) -> bool {
    !dtype.is_float() || matches!(dtype, DType::F16 | DType::F32 | DType::F64)
}

/// `ndarray.astype` from float64. The floats that NumPy itself has not are rounded to float32 on
/// the way.
fn from_float64(dtype: DType, x: f64) -> Number {
    typed(dtype, Number::Float(if is_native(dtype) { x } else { rounded(DType::F32, x) }))
}

/// Refuses to predict casts of numbers beyond uint32, and of NaN, to uint32: NumPy casts vectors
/// and single numbers by different instructions.
fn check_casts(dtype: DType, ends: [f64; 2]) -> Result<(), Failure> {
    let is_cast_by_one_rule = |x: f64| (-2_147_483_648.0..4_294_967_296.0).contains(&x);
    if dtype == DType::U32 && !ends.into_iter().all(is_cast_by_one_rule) {
        return Err(Failure::undetermined(
            "the cast of NaN and of numbers beyond uint32 depends on the position in a vector",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use gradus_sequences::Plan;

    use super::*;
    use crate::FailureKind;

    #[test]
    fn numbers_beyond_int64_are_refused_by_integers_only() {
        let call =
            |numbers: [f64; 3], dtype| RangeCall::new(numbers.map(Number::Float), DType::F64, dtype).unwrap();
        assert_eq!(range(&call([1e19, 0.0, -1e18], DType::BF16)).unwrap().len(), 10);
        for dtype in [DType::U8, DType::U16, DType::U32] {
            for far in [1e19, 1e30] {
                assert!(range(&call([far, 0.0, -far / 4.0], dtype)).is_err(), "{far} to {dtype}");
            }
        }
        let of_integers = |start: u64, stop: u64| {
            let integers = [start, stop, 2].map(|x| Number::Int(x.into()));
            range(&RangeCall::new(integers, DType::U64, DType::BF16).unwrap()).map(|found| found.len())
        };
        assert_eq!(of_integers(u64::MAX - 1, u64::MAX).unwrap_err().message(), "expected number, got int");
        // Only elements that there are become numbers of the type.
        assert_eq!(of_integers(u64::MAX, u64::MAX).unwrap(), 0);
        assert_eq!(of_integers(i64::MAX.unsigned_abs(), i64::MAX.unsigned_abs() + 1).unwrap(), 1);
        assert!(of_integers(i64::MAX.unsigned_abs(), i64::MAX.unsigned_abs() + 6).is_err());
    }

    #[test]
    fn geomspaces_that_numpy_refuses_or_casts_by_the_processor_have_no_elements() {
        let call = |start, stop, dtype| {
            geomspace(&LinspaceCall { start, stop, num: 3, endpoint: true, dtype }).map(|found| found.len())
        };
        let (int, float) = (Number::Int(6), Number::Float(1.5));
        for (start, stop, dtype, fails) in [
            (int, int, DType::BF16, None),
            (float, float, DType::BF16, None),
            (int, float, DType::F16, None),
            (int, float, DType::BF16, Some(FailureKind::Refused)),
            (float, int, DType::BF16, Some(FailureKind::Refused)),
            (int, Number::Int(0), DType::F64, Some(FailureKind::Refused)),
            (int, Number::Int(-6), DType::I32, None),
            (int, Number::Int(-6), DType::U32, Some(FailureKind::Undetermined)),
        ] {
            let got = call(start, stop, dtype);
            assert_eq!(got.as_ref().err().map(Failure::kind), fails, "{start:?} {stop:?} {dtype}: {got:?}");
        }
    }

    #[test]
    fn nan_to_uint32_is_not_predicted() {
        let exponents = LinspaceCall {
            start: Number::Float(f64::NAN),
            stop: Number::Int(1),
            num: 9,
            endpoint: true,
            dtype: DType::U32,
        };
        let call = |exponents, base| LogspaceCall { exponents, base: Number::Int(base) };
        assert!(logspace(&call(exponents, 10)).is_err());
        let negative = LinspaceCall { start: Number::Int(0), stop: Number::Int(2), ..exponents };
        assert!(logspace(&call(negative, -2)).is_err());
        assert!(logspace(&call(negative, 2)).is_ok());
    }

    #[test]
    fn integers_are_divided_as_python_divides_them() {
        let cases = [
            (9_007_199_254_740_993, 9_007_199_254_740_992, 1.0),
            (9_007_199_254_740_995, 3, 3_002_399_751_580_331.5),
            (-1, 3, -1.0 / 3.0),
            (0, -5, 0.0),
            (1 << 65, -1, -36_893_488_147_419_103_232.0),
            (10_000_000_000_000_001, 100_000_000_000_000, 100.00000000000001),
            (1, i128::from(u64::MAX), 5.421010862427522e-20),
        ];
        for (dividend, divisor, want) in cases {
            assert_eq!(quotient_of_ints(dividend, divisor), want, "{dividend} / {divisor}");
        }
    }
}
