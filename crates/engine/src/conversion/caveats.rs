//! Caveats for nodes whose result the specification does not fix.

/// The caveat for functions that are not algebraic.
pub const FUNCTION: &str = "neither specification defines the rounding of the function";
/// The caveat for floats of 8 bits.
pub const FLOAT8: &str = "OpenVINO rounds to float16 before it rounds to floats of 8 bits";
/// The caveat for powers of two.
pub const SCALE: &str = "OpenVINO rounds to the nearest power of two, and its specification does not define \
                         numbers out of range";
/// The caveat for numbers that an integer type cannot hold.
pub const CAST: &str =
    "the result for NaN and for numbers out of the range of the integer type depends on the runtime";
/// The caveat for operators of ONNX Runtime that compute with floats.
pub const WIDE: &str =
    "the specification does not define how results are rounded; they are computed in float64";
/// The caveat for states of several samples.
pub const SAMPLES: &str =
    "ONNX Runtime quantizes the states of the samples of a thread together, and not each sample alone";
/// The caveat for points of a cubic `GridSample` outside of the image.
pub const BORDER: &str = "the specifications do not define whether mode=cubic with padding_mode=border moves a point \
                          outside of the image to its border, or each neighbor of the point";
/// The caveat for NaN.
pub const NAN: &str = "the specifications do not define the result for NaN and for comparisons of -0 and 0";
/// The caveat for sums of products of integers.
pub const INTEGER_SUMS: &str = "sums of 2^24 and more are rounded: they are computed in float32";
/// The caveat for operators that become several.
pub const STEPS: &str = "results are computed in several steps, each of which is rounded";
/// The caveat for sums whose order differs.
pub const ORDER: &str = "the specifications do not define the order of summation";
/// The caveat for lengths of integers.
pub const LEAST: &str = "the length of the least integer exceeds its type";
/// The caveat for means of integers.
pub const MEAN: &str = "the specifications do not define the rounding of the mean of integers";
/// The stand-in for a missing value.
pub const EMPTY: &str = "the specifications do not define the maximum and the minimum of no elements";
/// The caveat for the largest of no elements.
pub const NOTHING: &str = "OpenVINO refuses to find the largest of no elements";
/// The caveat for windows that may be larger than what they lie on.
pub const WINDOW: &str = "OpenVINO refuses a window that is larger than the padded data";
/// The caveat for tensors of open rank.
pub const RANK: &str = "OpenVINO's CPU plugin does not compile a tensor whose rank is not known";
/// The caveat for attention of as many heads as positions.
pub const HEADS: &str = "OpenVINO's CPU plugin mixes up heads and positions of one number if a function of elements \
                         follows the attention";
/// The caveat for a graph within a node that fails whenever it runs.
pub const FAILING: &str = "OpenVINO infers the graphs within nodes before a run, and refuses one that fails";
/// The caveat for scales between 1 and 2 of open sizes.
pub const UNSCALED: &str = "OpenVINO leaves an axis as it is whose size the scale does not change";
/// How the standards differ in ranges of floats.
pub const RANGE: &str = "ONNX computes float elements as a running sum, of short floats in a wider type; OpenVINO lets the \
    runtime choose the type";
/// The caveat for powers of integers.
pub const POWER: &str =
    "the specifications do not define negative exponents of integers and powers that overflow";
/// The caveat for elements that are chosen but not sorted.
pub const UNSORTED: &str =
    "the specifications do not define the order of unsorted elements and the choice among equal ones";
/// The caveat for variables of a loop that have another element type before it.
pub const OTHER_TYPE: &str =
    "a variable to which a loop gives another element type has it even if the loop does not run";
/// The caveat for results that the inputs do not determine.
pub const OPEN: &str = "the specifications do not define the results";
/// The caveat for remainders of floats.
pub const REMAINDER: &str = "the specifications do not define whether the remainder of floats is exact";
/// The caveat for random numbers.
pub const DRAWN: &str = "programs draw other random numbers";
