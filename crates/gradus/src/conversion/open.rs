//! What texts leave open: of a node whose meaning depends on it, the report says that it is not kept.

/// What neither standard says of functions that are not algebraic.
pub(crate) const FUNCTION: &str = "neither standard says how the function is rounded";
/// What happens to what an integer type cannot hold.
pub(crate) const CAST: &str =
    "numbers that the integer type cannot hold, and NaN, become what the program makes of them";
/// What becomes of NaN.
pub(crate) const NAN: &str =
    "where there is NaN, or zeros of either sign are compared, the texts leave the result open";
/// What the order of additions changes.
pub(crate) const ORDER: &str = "the order in which floats are added up is left open";
/// What the mean of integers is.
pub(crate) const MEAN: &str = "how the mean of integers is rounded is left open";
/// What there is where there is nothing.
pub(crate) const EMPTY: &str = "the greatest and the least of no elements are left open";
/// How the standards differ in ranges of floats.
pub(crate) const RANGE: &str = "elements of floats are a running sum in ONNX, in a type of its own for short floats, \
    and in OpenVINO in a type that the program chooses";
/// What powers of integers are not.
pub(crate) const POWER: &str =
    "negative exponents of integers, and powers that the type cannot hold, are left open";
/// What is left open if elements are chosen, but not sorted.
pub(crate) const UNSORTED: &str =
    "the order of elements that are not to be sorted, and which of equal ones are among them, are left open";
