//! What a prediction is: elements that a plan would have too, with the rules they come from; or a failure.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use gradus_core::{DType, Number};

use gradus_sequences::Plan;

use crate::formula::Formula;
use crate::tolerance::Tolerance;

/// What a program returns, without having run it: a plan whose elements are those of the program.
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
    pub(crate) fn new(
        dtype: DType,
        len: u64,
        formula: impl Formula + 'static,
        [length_rule, element_rule]: [&'static str; 2],
    ) -> Predicted {
        let formula = Arc::new(formula);
        Predicted { dtype, first: 0, len, formula, length_rule, element_rule, tolerance: Tolerance::Bits }
    }

    #[must_use]
    pub(crate) fn within(self, tolerance: Tolerance) -> Predicted {
        Predicted { tolerance, ..self }
    }

    /// How the program comes to the length, in a few words: why it differs from the exact one where it does.
    pub fn length_rule(&self) -> &'static str {
        self.length_rule
    }

    /// How the program comes to the elements, in a few words.
    pub fn element_rule(&self) -> &'static str {
        self.element_rule
    }

    /// How far an element of the program may be from the predicted one.
    pub fn tolerance(&self) -> Tolerance {
        self.tolerance
    }

    /// Whether the program's element `i` may be this.
    ///
    /// # Panics
    /// If `i` is not below the length.
    pub fn agrees(&self, i: u64, element: Number) -> bool {
        self.tolerance.allows(self.dtype, self.at(i), element)
    }

    /// The elements in their order; faster than asking for each.
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

/// What sort of failure a program ends in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// The program has no such function, or not for these types.
    Unsupported,
    /// The program raises an error about the arguments.
    Refused,
    /// The process dies.
    Crash,
    /// The program does something that is not known well enough to be predicted.
    Undetermined,
}

impl FailureKind {
    /// The kind as `--json` prints it.
    pub const fn name(self) -> &'static str {
        match self {
            FailureKind::Unsupported => "unsupported",
            FailureKind::Refused => "refused",
            FailureKind::Crash => "crash",
            FailureKind::Undetermined => "undetermined",
        }
    }
}

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

    pub(crate) fn unsupported(message: impl Into<String>) -> Failure {
        Failure::new(FailureKind::Unsupported, message)
    }

    pub(crate) fn refused(message: impl Into<String>) -> Failure {
        Failure::new(FailureKind::Refused, message)
    }

    pub(crate) fn crash(message: impl Into<String>) -> Failure {
        Failure::new(FailureKind::Crash, message)
    }

    pub(crate) fn undetermined(message: impl Into<String>) -> Failure {
        Failure::new(FailureKind::Undetermined, message)
    }

    /// The kind.
    pub fn kind(&self) -> FailureKind {
        self.kind
    }

    /// What the program objects to, in plain words.
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

/// What a program does.
pub type Outcome = Result<Predicted, Failure>;
