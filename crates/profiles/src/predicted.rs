//! Predictions: the elements as a plan, with the rules they follow; or a failure.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use gradus_core::{DType, Number};

use gradus_sequences::Plan;

use crate::formula::Formula;
use crate::tolerance::Tolerance;

/// The predicted result of a program: a plan whose elements are those that the program returns.
#[derive(Clone)]
pub struct Predicted {
    dtype: DType,
    first: u64,
    len: u64,
    formula: Arc<dyn Formula>,
    length_rule: &'static str,
    element_rule: &'static str,
    tolerance: Tolerance,
}

impl Predicted {
    /// A prediction with the rules of its length and elements, exact to the bit.
    pub(crate) fn new(
        dtype: DType,
        len: u64,
        formula: impl Formula + 'static,
        [length_rule, element_rule]: [&'static str; 2],
    ) -> Predicted {
        let formula = Arc::new(formula);
        Predicted { dtype, first: 0, len, formula, length_rule, element_rule, tolerance: Tolerance::Bits }
    }

    /// The prediction with a tolerance.
    #[must_use]
    pub(crate) fn within(self, tolerance: Tolerance) -> Predicted {
        Predicted { tolerance, ..self }
    }

    /// The program's rule for the length, in a few words.
    pub fn length_rule(&self) -> &'static str {
        self.length_rule
    }

    /// The program's rule for the elements, in a few words.
    pub fn element_rule(&self) -> &'static str {
        self.element_rule
    }

    /// The largest difference between an element of the program and the predicted one.
    pub fn tolerance(&self) -> Tolerance {
        self.tolerance
    }

    /// Returns true if the program's element `i` may be this one, within the tolerance.
    ///
    /// # Panics
    /// If `i` is out of range.
    pub fn agrees(&self, i: u64, element: Number) -> bool {
        self.tolerance.allows(self.dtype, self.at(i), element)
    }

    /// Iterates over the elements, faster than calling `at` for each.
    pub fn elements(&self) -> impl Iterator<Item = Number> {
        (0..self.len).zip(self.formula.from(self.first)).map(|(_, number)| number)
    }
}

impl Plan for Predicted {
    fn dtype(&self) -> DType {
        self.dtype
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn at(&self, i: u64) -> Number {
        assert!(i < self.len, "element {i} of {}", self.len);
        self.formula.at(self.first + i)
    }

    fn slice(&self, indices: Range<u64>) -> Predicted {
        assert!(indices.start <= indices.end && indices.end <= self.len, "{indices:?} of {}", self.len);
        Predicted { first: self.first + indices.start, len: indices.end - indices.start, ..self.clone() }
    }
}

impl fmt::Debug for Predicted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {} from {} by {:?}", self.len, self.dtype, self.first, self.formula)
    }
}

/// The kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// The program has no such function.
    Absent,
    /// The program has no such function for these types or arguments.
    Unsupported,
    /// The program raises an error about the arguments.
    Refused,
    /// The process dies.
    Crash,
    /// The outcome depends on details that the profile does not model.
    Undetermined,
}

gradus_core::names!(FailureKind {
    Absent = "absent", Unsupported = "unsupported", Refused = "refused", Crash = "crash",
    Undetermined = "undetermined",
});

/// The prediction that a program returns nothing, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    kind: FailureKind,
    message: String,
}

impl Failure {
    #[cold]
    fn new(kind: FailureKind, message: impl Into<String>) -> Failure {
        Failure { kind, message: message.into() }
    }

    /// A failure: the program has no such function.
    pub(crate) fn absent(message: impl Into<String>) -> Failure {
        Failure::new(FailureKind::Absent, message)
    }

    /// A failure: the program has no such function for these types or arguments.
    pub(crate) fn unsupported(message: impl Into<String>) -> Failure {
        Failure::new(FailureKind::Unsupported, message)
    }

    /// A failure: the program raises an error about the arguments.
    pub(crate) fn refused(message: impl Into<String>) -> Failure {
        Failure::new(FailureKind::Refused, message)
    }

    /// A failure: the process dies.
    pub(crate) fn crash(message: impl Into<String>) -> Failure {
        Failure::new(FailureKind::Crash, message)
    }

    /// A failure: the outcome depends on details that the profile does not model.
    pub(crate) fn undetermined(message: impl Into<String>) -> Failure {
        Failure::new(FailureKind::Undetermined, message)
    }

    /// The kind.
    pub fn kind(&self) -> FailureKind {
        self.kind
    }

    /// The message, in plain words.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// The predicted outcome of a call.
pub type Outcome = Result<Predicted, Failure>;
