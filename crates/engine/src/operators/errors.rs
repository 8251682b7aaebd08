//! Errors that inference and evaluation share: `<what> is <got>, expected <wanted>`.

use std::fmt::Display;

use gradus_core::{DType, Error, Kind, Result};

use crate::dim::{Condition, Relation, Symbols};

/// Returns the error of a remainder of floats that older versions do not have.
#[cold]
pub fn float_remainder() -> Error {
    value("attribute \"fmod\"", 0, "1 for floats before operator set 28")
}

/// Returns the error of a pad that the mode does not make of an axis.
#[cold]
pub fn long_pad(axis: usize, pad: i64, longest: i64, mode: &str) -> Error {
    let wanted = format_args!("at most {longest} in mode \"{mode}\"");
    shape(format_args!("pad of axis {axis}"), pad, wanted)
}

/// Returns the error of a shape, rank, size or number of elements.
#[cold]
pub fn shape(what: impl Display, got: impl Display, wanted: impl Display) -> Error {
    Error::mismatch(Kind::Shape, what, got, wanted)
}

/// Returns the error of an element, or of a number that an attribute gives.
#[cold]
pub fn value(what: impl Display, got: impl Display, wanted: impl Display) -> Error {
    Error::mismatch(Kind::Value, what, got, wanted)
}

/// Returns the error of a condition on sizes that holds for none.
#[cold]
pub fn unmet(symbols: &Symbols, condition: &Condition) -> Error {
    let (left, right) = (symbols.print(condition.left), symbols.print(condition.right));
    match condition.relation {
        Relation::AtLeast => shape("size", left, format_args!("at least {right}")),
        Relation::AtMost => shape("size", left, format_args!("at most {right}")),
        Relation::Equal | Relation::Broadcast => shape("size", left, right),
        Relation::NotEqual => shape("size", left, format_args!("not {right}")),
    }
}

/// Returns the error of an input, output or attribute that must be given.
#[cold]
pub fn missing(what: impl Display) -> Error {
    Error::new(Kind::Graph, format!("{what} is missing"))
}

/// Returns the error of a list that has another length than the axes it is for.
#[cold]
pub fn count(what: &str, got: impl Display, wanted: impl Display) -> Error {
    shape(format_args!("number of {what}"), got, wanted)
}

/// Returns the error of an input with too few or too many axes.
#[cold]
pub fn rank(what: impl Display, got: usize, wanted: impl Display) -> Error {
    shape(format_args!("rank of {what}"), got, wanted)
}

/// Checks a shape, size or number of elements.
///
/// # Errors
/// [`shape`] if it is another.
pub fn expect_shape<T: PartialEq + Display>(what: impl Display, got: T, wanted: T) -> Result<()> {
    if got == wanted { Ok(()) } else { Err(shape(what, got, wanted)) }
}

/// Checks a number that an attribute gives, or of elements.
///
/// # Errors
/// [`value`] if it is another.
pub fn expect_value<T: PartialEq + Display>(what: impl Display, got: T, wanted: T) -> Result<()> {
    if got == wanted { Ok(()) } else { Err(value(what, got, wanted)) }
}

/// Checks the length of a list.
///
/// # Errors
/// [`count`] if it is another.
pub fn expect_count(what: &str, got: usize, wanted: usize) -> Result<()> {
    if got == wanted { Ok(()) } else { Err(count(what, got, wanted)) }
}

/// Checks the number of axes of an input.
///
/// # Errors
/// [`rank`] if it is another.
pub fn expect_rank(what: impl Display, got: usize, wanted: usize) -> Result<()> {
    if got == wanted { Ok(()) } else { Err(rank(what, got, wanted)) }
}

/// The size along the axis that a matrix product sums.
pub const INNER_SIZE: &str = "cannot multiply matrices: inner size";

/// The total of the sizes that an axis is split into.
pub const SPLIT_SIZES: &str = "sum of the split sizes";

/// The sizes of scanned axes, which are all the number of iterations.
pub const SCANNED: &str = "size of a scanned axis";

/// Returns the error of a Scan with fewer inputs than it scans.
#[cold]
pub fn scanned(got: usize, wanted: usize) -> Error {
    count("inputs", got, format_args!("at least {wanted} scanned inputs"))
}

/// Returns the subject of an error about a size that inputs of a concatenation share.
pub fn beside(axis: usize) -> String {
    format!("cannot concatenate: size of axis {axis}")
}

/// Returns the subject of an error about an axis that has elements.
pub fn squeezed(axis: usize) -> String {
    format!("cannot squeeze axis {axis}: its size")
}

/// Returns the error of a shape that copies an axis that the input does not have.
#[cold]
pub fn copied(axis: usize, rank: usize) -> Error {
    let what = format!("cannot copy axis {axis}: rank of the input");
    shape(what, rank, format_args!("at least {}", axis + 1))
}

/// Returns the error of an element of a shape.
#[cold]
pub fn element(axis: usize, got: i64, wanted: &str) -> Error {
    shape(format_args!("element {axis} of the shape"), got, wanted)
}

/// The elements that the shape of a reshape may have.
pub const RESHAPED: &str = "at least 0, or -1 once";

/// Returns the error of sizes that leave none for the axis that is -1.
#[cold]
pub fn open_axis(product: usize, wanted: impl Display) -> Error {
    shape("cannot infer the size for -1: product of the other sizes", product, wanted)
}

/// Returns the error of pads that are given in two lists.
#[cold]
pub fn pads(begins: usize, ends: usize, rank: usize) -> Error {
    count("begin and end pads", format_args!("{begins} and {ends}"), format_args!("{rank} each"))
}

/// Returns the error of a batch that has more axes than come before the gathered one.
#[cold]
pub fn batch(got: impl Display, axis: usize, rank: usize) -> Error {
    count("batch axes", got, format_args!("at most {}", axis.min(rank)))
}

/// Checks that indices have the batch axes of the data.
pub fn same_batch(got: &[usize], wanted: &[usize]) -> Result<()> {
    if got == wanted {
        return Ok(());
    }
    Err(shape("batch shape of the indices", format!("{got:?}"), format_args!("{wanted:?}")))
}

/// Returns the error of index tuples that are longer than the data has axes.
#[cold]
pub fn tuples(batch: usize, depth: usize, rank: usize) -> Error {
    count("batch and indexed axes", batch.saturating_add(depth), format_args!("at most {rank}"))
}

/// Returns the number that an attribute gives if it is at least 1.
pub fn at_least_1(name: &str, got: i64) -> Result<i64> {
    let error = || value(format_args!("attribute \"{name}\""), got, "at least 1");
    (got > 0).then_some(got).ok_or_else(error)
}

/// Returns the error of an attribute whose text is none of the known ones.
#[cold]
pub fn text(name: &str, got: &str, wanted: &str) -> Error {
    value(format_args!("attribute \"{name}\""), format_args!("\"{got}\""), wanted)
}

/// Returns the error of an element type that an evaluation does not support.
#[cold]
pub fn dtype(got: DType, wanted: &str) -> Error {
    Error::mismatch(Kind::Type, "element type", got, wanted)
}

/// Returns the error of outputs that only the first iteration would give a shape.
#[cold]
pub fn no_iterations() -> Error {
    Error::new(Kind::Unsupported, "cannot infer the output shape of a loop that runs zero times")
}

/// Returns the error of an integer that is divided by 0.
#[cold]
pub fn zero_divisor() -> Error {
    value("divisor", 0, "an integer other than 0")
}

/// Returns the error of a slice with step 0.
#[cold]
pub fn zero_step() -> Error {
    value("step", 0, "a step other than 0")
}

/// Returns the error of an axis or index that is not below a rank or size.
#[cold]
pub fn out_of_range(what: &str, got: i64, len: usize) -> Error {
    let of = if what == "axis" { "rank" } else { "size" };
    let message = format!("{what} {got} is out of range for {of} {len}");
    Error::new(Kind::Value, message).with_got(got).with_wanted(format_args!("{what} of {of} {len}"))
}

/// Returns the error of sizes of an axis that do not broadcast.
#[cold]
pub fn broadcast(a: i64, b: i64) -> Error {
    shape("cannot broadcast: size", a, format_args!("{b} or 1"))
}
