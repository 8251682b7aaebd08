//! Caveats for nodes whose result the specification does not fix.

/// The caveat for functions that are not algebraic.
pub(crate) const FUNCTION: &str = "neither standard says how the function is rounded";
/// The caveat for numbers that an integer type cannot hold.
pub(crate) const CAST: &str =
    "numbers that the integer type cannot hold, and NaN, become what the program makes of them";
/// The caveat for NaN.
pub(crate) const NAN: &str =
    "where there is NaN, or zeros of either sign are compared, the texts leave the result open";
/// The caveat for sums whose order differs.
pub(crate) const ORDER: &str = "the order in which floats are added up is left open";
/// The caveat for means of integers.
pub(crate) const MEAN: &str = "how the mean of integers is rounded is left open";
/// The stand-in for a missing value.
pub(crate) const EMPTY: &str = "the greatest and the least of no elements are left open";
/// How the standards differ in ranges of floats.
pub(crate) const RANGE: &str = "elements of floats are a running sum in ONNX, in a type of its own for short floats, \
    and in OpenVINO in a type that the program chooses";
/// The caveat for powers of integers.
pub(crate) const POWER: &str =
    "negative exponents of integers, and powers that the type cannot hold, are left open";
/// The caveat for elements that are chosen but not sorted.
pub(crate) const UNSORTED: &str =
    "the order of elements that are not to be sorted, and which of equal ones are among them, are left open";
