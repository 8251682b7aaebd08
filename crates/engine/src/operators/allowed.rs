//! How far correct programs may be from the exact result of an operator.

use gradus_kernels::Function;

/// The error that the arithmetic of a float type allows an operator, whatever order a program
/// computes in. Each row of the table tells it, by its rounding where no column does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// No error beyond the one rounding of IEEE 754.
    Rounded,
    /// A function of each element: a number of units in the last place of the result, and of the
    /// terms that it is composed of.
    Ulps(u32, Terms),
    /// A code, or a unit in the last place of what is computed from one.
    Code,
    /// Sums of products, whose terms have the magnitudes that the operator gives for the magnitudes
    /// of its inputs: one rounding for each operation on an element of the output.
    Sums(Magnitudes),
    /// Sums or products of all elements of a line up to each.
    Scan,
    Softmax,
    LogSoftmax,
    /// Weighted sums of elements between which positions lie that are computed as well.
    Interpolated,
    /// The errors of the operators of the graph that it is lowered to, propagated from step to step.
    Steps,
    /// No bound is known.
    Unknown,
}

/// The terms that a function of one element is composed of, where they may be larger than its
/// result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Terms {
    /// No term is larger than the result.
    Result,
    /// Constants near one: `1 - exp(x)`.
    One,
    /// Multiples of the element of at most one: `x * (1 + erf(x))`.
    Element,
}

/// How the magnitudes of terms follow from those of inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Magnitudes {
    /// Roundings besides those of sums.
    pub steps: u32,
    /// The input that is subtracted.
    pub subtracted: Option<usize>,
    /// The inputs that are no factors of terms, as positions are.
    pub kept: &'static [usize],
    /// True if terms are divided by a sum of them, so that errors of inputs are not terms of a sum.
    pub divided: bool,
}

impl Magnitudes {
    /// Inputs that are all factors, or terms that are added.
    pub const OF_INPUTS: Magnitudes = Magnitudes { steps: 2, subtracted: None, kept: &[], divided: false };

    /// [`Magnitudes::OF_INPUTS`] with another number of roundings.
    pub const fn steps(steps: u32) -> Magnitudes {
        Magnitudes { steps, ..Magnitudes::OF_INPUTS }
    }
}

impl Allowed {
    /// The units in the last place that a function of one element may be off.
    pub const FUNCTION: Allowed = Allowed::Ulps(4, Terms::Result);
    /// The units in the last place that a power may be off.
    pub const POWER: Allowed = Allowed::Ulps(16, Terms::Result);
    /// A function that is composed of constants near one.
    pub const OF_ONE: Allowed = Allowed::Ulps(4, Terms::One);
    /// A function that is composed of multiples of the element.
    pub const OF_ELEMENT: Allowed = Allowed::Ulps(4, Terms::Element);
}

/// How an error of an input carries to the results of an operator whose elements are computed or
/// chosen one by one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Carries {
    /// A result changes at most as it does at the ends of the error: it rises or falls with each
    /// input, or is convex or concave in it.
    Ends,
    /// Follows the course of a function, whose parameters are attributes or further inputs.
    As(Function),
    /// As at the ends, where this input is not 0.
    Quotient(usize),
    /// As at the ends, where the first input is above 0, or the exponent is a whole number that is
    /// not negative.
    Power,
    /// No bound is known.
    Open,
}
