//! Expressions as they are written, by Gradus and by exporters: `(h + 1)//2`, `CeilDiv(n, 8)`,
//! `floor(H/2 - 1/2) + 1`.
//!
//! | written | by | means |
//! |---|---|---|
//! | `a + b`, `a*b`, `a//b`, `a % b`, `min(a, b)`, `max(a, b)` | Gradus, Python | integers |
//! | `Max(a, b)`, `Add(a, b)`, `Mul(a, b)`, `a/2`, `0.5`, `a**2`, `Pow(a, 2)` | `SymPy` | exact numbers |
//! | `floor(a)`, `ceiling(a)`, `FloorToInt(a)`, `CeilToInt(a)` | `SymPy`, `PyTorch` | the next integer |
//! | `FloorDiv(a, b)`, `CeilDiv(a, b)`, `CleanDiv(a, b)`, `IntTrueDiv(a, b)`, `FloatTrueDiv(a, b)` | `PyTorch` | a quotient |
//! | `Mod(a, b)`, `PythonMod(a, b)`, `ModularIndexing(a, b, c)` | `PyTorch` | `a - b*floor(a/b)`, `a//b % c` |
//! | `Add(a, b)`, `Sub(a, b)`, `Neg(a)`, `CeilDiv(a, b)`, `CeilToInt(a, b)` | ONNX's proposals 0009, 0010 | integers |
//! | `a^b`, `a&b` | ONNX's proposal 0009 | the larger, the smaller |
//! | `a/:b` | ONNX's proposal 0009 | a quotient without rest; with one, its meaning is not certain |
//!
//! A product of operands and operators is read from the left, and a sign binds closer than it:
//! `-a//b` is `(-a)//b`; `&` binds looser than sums, and `^` loosest. Everything else is no
//! expression; as the size of a declaration, it is a name.

use std::sync::Arc;

use gradus_core::{Error, Kind, Result};

use super::parser::Parser;
use super::sum::{Sum, floor, gcd};
use super::text::too_large;
use super::{Dim, Symbols};

/// A step of an evaluation, with its operands on a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A number: a numerator and a denominator above zero.
    Number(i64, i64),
    /// The name of that index.
    Name(usize),
    Negate,
    Floor,
    Ceiling,
    Truncate,
    Add,
    Subtract,
    Multiply,
    Divide,
    DivideWhole,
    FloorDivide,
    CeilDivide,
    Modulo,
    Min,
    Max,
    Broadcast,
}

/// Returns true if a step divides by its second operand.
fn divides(step: &Step) -> bool {
    matches!(step, Step::Divide | Step::DivideWhole | Step::FloorDivide | Step::CeilDivide | Step::Modulo)
}

/// An expression as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    pub(super) text: Arc<str>,
    pub(super) names: Vec<Arc<str>>,
    pub(super) steps: Vec<Step>,
}

/// A quotient of an expression by a number above zero, or by an expression with names. They are
/// interned once they are whole: a part of one may be larger than all of it.
#[derive(Clone, Debug)]
pub(crate) struct Quotient {
    pub(crate) over: Sum,
    under: Sum,
}

impl Quotient {
    /// The divisor, if it is a number.
    pub(crate) fn known_divisor(&self) -> Option<i64> {
        self.under.terms.is_empty().then_some(self.under.constant)
    }
}

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// [`gradus_core::Kind::Syntax`] if the text is no expression, [`gradus_core::Kind::Limit`] if
    /// it is nested too deep.
    pub fn parse(text: &str) -> Result<Expression> {
        Parser::read(text)
    }

    /// The expression that a number is.
    pub(crate) fn number(value: i64) -> Expression {
        let steps = vec![Step::Number(value, 1)];
        Expression { text: value.to_string().into(), names: Vec::new(), steps }
    }

    /// The names, each once, in the order of the text.
    pub fn names(&self) -> &[Arc<str>] {
        &self.names
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The index of the step with which the operand of each step begins, whose last step that is.
    fn begins(&self) -> Vec<usize> {
        let mut begins: Vec<usize> = Vec::with_capacity(self.steps.len());
        for (at, step) in self.steps.iter().enumerate() {
            begins.push(match step {
                Step::Number(..) | Step::Name(_) => at,
                Step::Negate | Step::Floor | Step::Ceiling | Step::Truncate => begins[at - 1],
                _ => begins[begins[at - 1] - 1],
            });
        }
        begins
    }

    fn part(&self, steps: std::ops::Range<usize>) -> Expression {
        Expression { steps: self.steps[steps].to_vec(), ..self.clone() }
    }

    /// The expressions that it divides by, each before those that hold it.
    pub(crate) fn divisors(&self) -> Vec<Expression> {
        let begins = self.begins();
        let is_division = |at: &usize| divides(&self.steps[*at]);
        (0..begins.len()).filter(is_division).map(|at| self.part(begins[at - 1]..at)).collect()
    }

    /// The error about an expression without a canonical form: its first part that has none.
    pub(crate) fn without_form(&self, symbols: &mut Symbols) -> Error {
        let begins = self.begins();
        let first = (0..begins.len()).find(|&at| self.part(begins[at]..at + 1).quotient(symbols).is_none());
        let divided = |symbols: &mut Symbols, at: usize| {
            let divisor = begins[at - 1];
            let [a, b] = [begins[at]..divisor, divisor..at].map(|of| self.part(of).quotient(symbols));
            let (a, b) = (a?, b?);
            let whole = |of: &Quotient| of.known_divisor() == Some(1);
            let [a, b] = if whole(&a) && whole(&b) {
                [a.over, b.over]
            } else {
                [a.over.times(&b.under)?, b.over.times(&a.under)?]
            };
            Some([symbols.intern(a)?, symbols.intern(b)?])
        };
        let text = &self.text;
        let why = match first.map(|at| (self.steps[at], at)) {
            None if self.quotient(symbols).is_some_and(|of| of.known_divisor().is_none()) => {
                "it is a fraction, expected an integer, as // gives it".to_owned()
            }
            Some((step, at)) if divides(&step) => match (step, divided(symbols, at)) {
                (_, Some([_, Dim::ZERO])) => "it divides by 0".to_owned(),
                (Step::DivideWhole, Some([a, b])) => {
                    let [a, b] = [a, b].map(|of| symbols.print_operand(of));
                    format!("{a} % {b} is not known, expected 0, as /: leaves no rest")
                }
                _ => return too_large(text),
            },
            _ => return too_large(text),
        };
        Error::new(Kind::Value, format!("cannot evaluate \"{text}\": {why}"))
    }

    /// The largest number that is written in it, without its sign.
    pub(crate) fn largest_number(&self) -> Option<i64> {
        let numbers = self.steps.iter().filter_map(|step| match step {
            Step::Number(over, _) => Some(over.saturating_abs()),
            _ => None,
        });
        numbers.max()
    }

    /// Returns true if a name is in it. A divisor keeps the list of names of what it is part of.
    pub(crate) fn uses(&self, name: &str) -> bool {
        let is_meant = |step: &Step| matches!(step, Step::Name(index) if &*self.names[*index] == name);
        self.steps.iter().any(is_meant)
    }

    /// The value, as [`Self::value`] says it, where all of it is integers of 64 bits.
    fn whole_value(&self, of: &impl Fn(usize) -> i64) -> Option<i64> {
        /// Operands that wait, at most.
        const DEEPEST: usize = 24;
        let mut stack = [0i64; DEEPEST];
        let mut top = 0;
        for step in &self.steps {
            let result = match *step {
                Step::Number(over, 1) => over,
                Step::Number(..) => return None,
                Step::Name(index) => of(index),
                Step::Floor | Step::Ceiling | Step::Truncate => continue,
                Step::Negate => {
                    top -= 1;
                    stack[top].checked_neg()?
                }
                operation => {
                    top -= 2;
                    let (a, b) = (stack[top], stack[top + 1]);
                    match operation {
                        Step::Add => a.checked_add(b)?,
                        Step::Subtract => a.checked_sub(b)?,
                        Step::Multiply => a.checked_mul(b)?,
                        Step::FloorDivide => floor(a, b)?,
                        Step::Modulo => a.checked_sub(b.checked_mul(floor(a, b)?)?)?,
                        Step::Min => a.min(b),
                        Step::Max => a.max(b),
                        _ => return None,
                    }
                }
            };
            *stack.get_mut(top)? = result;
            top += 1;
        }
        (top == 1).then_some(stack[0])
    }

    /// The value where its names have these values, by their index: a numerator and a denominator
    /// above zero; nothing where it divides by zero or exceeds 128 bits.
    pub(crate) fn value(&self, of: &impl Fn(usize) -> i64) -> Option<(i128, i128)> {
        if let Some(value) = self.whole_value(of) {
            return Some((value.into(), 1));
        }
        let mut stack: Vec<(i128, i128)> = Vec::with_capacity(8);
        for step in &self.steps {
            let result = match *step {
                Step::Number(over, under) => (over.into(), under.into()),
                Step::Name(index) => (of(index).into(), 1),
                Step::Negate => {
                    let (a, under) = stack.pop()?;
                    (a.checked_neg()?, under)
                }
                Step::Floor => {
                    let (a, under) = stack.pop()?;
                    (a.div_euclid(under), 1)
                }
                Step::Ceiling => {
                    let (a, under) = stack.pop()?;
                    (a.checked_neg()?.div_euclid(under).checked_neg()?, 1)
                }
                Step::Truncate => {
                    let (a, under) = stack.pop()?;
                    (a / under, 1)
                }
                operation => {
                    let (b, a) = (stack.pop()?, stack.pop()?);
                    joined(operation, a, b)?
                }
            };
            stack.push(result);
        }
        stack.pop()
    }

    /// The value where its names have these values: nothing where a name has none, where it divides
    /// by zero or exceeds 64 bits, and where it is no integer.
    pub fn evaluate(&self, of: impl Fn(&str) -> Option<i64>) -> Option<i64> {
        let values: Vec<i64> = self.names.iter().map(|name| of(name)).collect::<Option<_>>()?;
        let (over, under) = self.value(&|index| values[index])?;
        (over % under == 0).then(|| i64::try_from(over / under).ok())?
    }

    /// The quotient that the expression is; nothing if it is too large, or not certain.
    pub(crate) fn quotient(&self, symbols: &mut Symbols) -> Option<Quotient> {
        let mut stack: Vec<Quotient> = Vec::new();
        for step in &self.steps {
            let result = match *step {
                Step::Number(over, under) => {
                    Quotient { over: Sum::constant(over), under: Sum::constant(under) }
                }
                Step::Name(index) => {
                    let dim = symbols.named(&self.names[index]);
                    symbols.whole(dim)
                }
                Step::Negate => {
                    let a = stack.pop()?;
                    Quotient { over: a.over.scaled(-1)?, under: a.under }
                }
                Step::Floor => {
                    let a = stack.pop()?;
                    let dim = symbols.floor_of_quotient(a)?;
                    symbols.whole(dim)
                }
                Step::Truncate => {
                    let a = stack.pop()?;
                    let under = Dim::Known(a.known_divisor()?);
                    let over = symbols.intern(a.over)?;
                    let dim = symbols.truncated_divide(over, under)?;
                    symbols.whole(dim)
                }
                Step::Ceiling => {
                    let a = stack.pop()?;
                    let is_number = a.known_divisor().is_some();
                    let (over, under) = (symbols.intern(a.over)?, symbols.intern(a.under)?);
                    let dim = if is_number {
                        symbols.ceil_divide(over, under)?
                    } else {
                        let less = symbols.negate(over)?;
                        let floor = symbols.floor_divide(less, under)?;
                        symbols.negate(floor)?
                    };
                    symbols.whole(dim)
                }
                operation => {
                    let (b, a) = (stack.pop()?, stack.pop()?);
                    symbols.joined(operation, a, b)?
                }
            };
            stack.push(result);
        }
        stack.pop()
    }
}

/// The result of an operation on two numbers.
fn joined(operation: Step, (a, m): (i128, i128), (b, n): (i128, i128)) -> Option<(i128, i128)> {
    // Numerators over one denominator.
    let scaled = || Some((a.checked_mul(n)?, b.checked_mul(m)?, m.checked_mul(n)?));
    let floor = |a: i128, b: i128| {
        let quotient = a.checked_div(b)?;
        Some(if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
    };
    Some(match operation {
        Step::Add | Step::Subtract | Step::Min | Step::Max => {
            let (a, b, under) = scaled()?;
            let over = match operation {
                Step::Add => a.checked_add(b)?,
                Step::Subtract => a.checked_sub(b)?,
                Step::Min => a.min(b),
                _ => a.max(b),
            };
            (over, under)
        }
        Step::Multiply => (a.checked_mul(b)?, m.checked_mul(n)?),
        Step::Divide | Step::DivideWhole => {
            let (over, under) =
                (a.checked_mul(n)?.checked_mul(b.signum())?, m.checked_mul(b.checked_abs()?)?);
            let known = under != 0 && (operation == Step::Divide || over % under == 0);
            return known.then_some((over, under));
        }
        Step::FloorDivide => {
            let (a, b, _) = scaled()?;
            (floor(a, b)?, 1)
        }
        Step::CeilDivide => {
            let (a, b, _) = scaled()?;
            (floor(a.checked_neg()?, b)?.checked_neg()?, 1)
        }
        Step::Modulo => {
            let (a, b, under) = scaled()?;
            (a.checked_sub(b.checked_mul(floor(a, b)?)?)?, under)
        }
        Step::Broadcast if (a, m) == (b, n) || (b, n) == (1, 1) => (a, m),
        Step::Broadcast if (a, m) == (1, 1) => (b, n),
        _ => return None,
    })
}

/// Quotients of expressions.
impl Symbols {
    fn whole(&self, dim: Dim) -> Quotient {
        Quotient { over: Sum::clone(&self.as_sum(dim)), under: Sum::constant(1) }
    }

    /// The dimension of a quotient, rounded down; `None` if it exceeds what an expression may be.
    pub(crate) fn floor_of_quotient(&mut self, of: Quotient) -> Option<Dim> {
        let (over, under) = (self.intern(of.over)?, self.intern(of.under)?);
        self.floor_divide(over, under)
    }

    fn joined(&mut self, operation: Step, a: Quotient, b: Quotient) -> Option<Quotient> {
        match operation {
            Step::Add | Step::Subtract => {
                let other = b.over.times(&a.under)?.scaled(if operation == Step::Add { 1 } else { -1 })?;
                lowest(a.over.times(&b.under)?.plus(&other)?, a.under.times(&b.under)?)
            }
            Step::Multiply => lowest(a.over.times(&b.over)?, a.under.times(&b.under)?),
            Step::Divide | Step::DivideWhole => {
                let quotient = lowest(a.over.times(&b.under)?, a.under.times(&b.over)?)?;
                // All kinds of division agree if nothing is left.
                (operation == Step::Divide || quotient.under == Sum::constant(1)).then_some(quotient)
            }
            _ => {
                let (under, other) = (a.known_divisor()?, b.known_divisor()?);
                self.joined_over(operation, (a.over, under), (b.over, other))
            }
        }
    }

    /// The result of an operation on quotients by numbers.
    fn joined_over(&mut self, operation: Step, (a, m): (Sum, i64), (b, n): (Sum, i64)) -> Option<Quotient> {
        let under = || Some(Sum::constant(m.checked_mul(n)?));
        match operation {
            Step::FloorDivide | Step::Modulo | Step::CeilDivide => {
                let (over, by) = (a.scaled(n)?, b.scaled(m)?);
                let over = if operation == Step::CeilDivide { over.scaled(-1)? } else { over };
                let (over, divisor) = (self.intern(over)?, self.intern(by)?);
                let floor = self.floor_divide(over, divisor)?;
                match operation {
                    Step::FloorDivide => Some(self.whole(floor)),
                    Step::CeilDivide => {
                        let ceiling = self.negate(floor)?;
                        Some(self.whole(ceiling))
                    }
                    _ if (m, n) == (1, 1) => {
                        let rest = self.modulo(over, divisor)?;
                        Some(self.whole(rest))
                    }
                    _ => {
                        let taken = self.as_sum(floor).times(&b)?.scaled(m.checked_neg()?)?;
                        lowest(a.scaled(n)?.plus(&taken)?, under()?)
                    }
                }
            }
            Step::Min | Step::Max => {
                let (over, other) = (self.intern(a.scaled(n)?)?, self.intern(b.scaled(m)?)?);
                let of = if operation == Step::Min { Symbols::min } else { Symbols::max };
                let chosen = of(self, over, other)?;
                lowest(Sum::clone(&self.as_sum(chosen)), under()?)
            }
            Step::Broadcast if (m, n) == (1, 1) => {
                let (a, b) = (self.intern(a)?, self.intern(b)?);
                let joined = self.broadcast(a, b)?;
                Some(self.whole(joined))
            }
            _ => None,
        }
    }
}

/// The quotient in lowest terms: without a divisor that divides the expression, or else without the
/// number that divides both. Nothing if the divisor is 0.
fn lowest(mut over: Sum, mut under: Sum) -> Option<Quotient> {
    if under.terms.is_empty() {
        if under.constant == 0 {
            return None;
        }
        let sign = under.constant.signum();
        (over, under) = (over.scaled(sign)?, under.scaled(sign)?);
    } else if let Some(quotient) = over.exact_quotient(&under) {
        return Some(Quotient { over: quotient, under: Sum::constant(1) });
    }
    let all = [&over, &under]
        .into_iter()
        .flat_map(|sum| sum.terms.iter().map(|term| term.coefficient).chain([sum.constant]));
    let common = all.fold(0, gcd).max(1);
    over.divide(common);
    under.divide(common);
    Some(Quotient { over, under })
}
