//! Expressions as they are written, by Gradus and by exporters: `(h + 1)//2`, `CeilDiv(n, 8)`,
//! `floor(H/2 - 1/2) + 1`.
//!
//! | written | by | means |
//! |---|---|---|
//! | `a + b`, `a*b`, `a//b`, `a % b`, `min(a, b)`, `max(a, b)` | Gradus, Python | integers |
//! | `Max(a, b)`, `Add(a, b)`, `Mul(a, b)`, `a/2`, `0.5`, `a**2`, `Pow(a, 2)` | `SymPy` | exact numbers |
//! | `floor(a)`, `ceiling(a)`, `FloorToInt(a)`, `CeilToInt(a)` | `SymPy`, `PyTorch` | the next integer |
//! | `FloorDiv(a, b)`, `CeilDiv(a, b)`, `CleanDiv(a, b)`, `IntTrueDiv(a, b)`, `FloatTrueDiv(a, b)` | `PyTorch` | a quotient |
//! | `Mod(a, b)`, `PythonMod(a, b)` | `PyTorch` | `a - b*floor(a/b)` |
//! | `a/:b` | other tools | a quotient without rest; with one, its meaning is not certain |
//!
//! A product of operands and operators is read from the left, and a sign binds closer than it:
//! `-a//b` is `(-a)//b`. Everything else is no expression; as the size of a declaration, it is a
//! name.

use std::sync::Arc;

use gradus_core::{Error, Kind, Result};

use super::sum::{Sum, floor, gcd};
use super::text::{continues_name, starts_name, too_large};
use super::{Dim, Symbols};

/// Deepest nesting of parentheses that is read.
const DEEPEST: usize = 64;
/// Largest power that is read, and most steps of what is raised to one.
const MAX_POWER: i128 = 8;
const MAX_STEPS_OF_POWER: usize = 256;

/// A step of an evaluation, with its operands on a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// A number: a numerator and a denominator above zero.
    Number(i64, i64),
    /// The name of that index.
    Name(usize),
    Negate,
    Floor,
    Ceiling,
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

/// An expression as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    text: Arc<str>,
    names: Vec<Arc<str>>,
    steps: Vec<Step>,
}

/// A quotient of an expression by a number above zero. The expression is interned once it is whole:
/// a part of it may be larger than all of it.
#[derive(Clone, Debug)]
pub(crate) struct Quotient {
    pub(crate) over: Sum,
    pub(crate) under: i64,
}

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// [`Kind::Syntax`] if the text is no expression, [`Kind::Limit`] if it is nested too deep.
    pub fn parse(text: &str) -> Result<Expression> {
        let expression = Expression { text: text.into(), names: Vec::new(), steps: Vec::new() };
        let mut parser = Parser { text, at: 0, depth: 0, made: expression };
        parser.sum()?;
        match parser.peek() {
            None => Ok(parser.made),
            Some(_) => Err(parser.wrong("an operator")),
        }
    }

    /// The names, each once, in the order of the text.
    pub fn names(&self) -> &[Arc<str>] {
        &self.names
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The expressions that it divides by, each before those that hold it.
    pub(crate) fn divisors(&self) -> Vec<Expression> {
        let (mut begins, mut divisors) = (Vec::new(), Vec::new());
        for (at, step) in self.steps.iter().enumerate() {
            match step {
                Step::Number(..) | Step::Name(_) => begins.push(at),
                Step::Negate | Step::Floor | Step::Ceiling => {}
                _ => {
                    let begin = begins.pop().unwrap_or(at);
                    if matches!(
                        step,
                        Step::Divide
                            | Step::DivideWhole
                            | Step::FloorDivide
                            | Step::CeilDivide
                            | Step::Modulo
                    ) {
                        divisors.push(Expression { steps: self.steps[begin..at].to_vec(), ..self.clone() });
                    }
                }
            }
        }
        divisors
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
                Step::Floor | Step::Ceiling => continue,
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
                Step::Number(over, under) => Quotient { over: Sum::constant(over), under },
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
                Step::Ceiling => {
                    let a = stack.pop()?;
                    let over = symbols.intern(a.over)?;
                    let dim = symbols.ceil_divide(over, Dim::Known(a.under))?;
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
        Quotient { over: Sum::clone(&self.as_sum(dim)), under: 1 }
    }

    /// The dimension of a quotient, rounded down; `None` if it exceeds what an expression may be.
    pub(crate) fn floor_of_quotient(&mut self, of: Quotient) -> Option<Dim> {
        let over = self.intern(of.over)?;
        self.floor_divide(over, Dim::Known(of.under))
    }

    fn joined(&mut self, operation: Step, a: Quotient, b: Quotient) -> Option<Quotient> {
        match operation {
            Step::Add | Step::Subtract => {
                let sign = if operation == Step::Add { 1 } else { -1 };
                let over = a.over.scaled(b.under)?.plus(&b.over.scaled(a.under.checked_mul(sign)?)?)?;
                lowest(over, a.under.checked_mul(b.under)?)
            }
            Step::Multiply => lowest(a.over.times(&b.over)?, a.under.checked_mul(b.under)?),
            Step::Divide | Step::DivideWhole => {
                let by = Some(b.over.constant).filter(|&by| by != 0 && b.over.terms.is_empty())?;
                let over = a.over.scaled(b.under.checked_mul(by.signum())?)?;
                let quotient = lowest(over, a.under.checked_mul(by.checked_abs()?)?)?;
                // All kinds of division agree if nothing is left.
                (operation == Step::Divide || quotient.under == 1).then_some(quotient)
            }
            Step::FloorDivide | Step::Modulo | Step::CeilDivide => {
                let (over, by) = (a.over.scaled(b.under)?, b.over.scaled(a.under)?);
                let over = if operation == Step::CeilDivide { over.scaled(-1)? } else { over };
                let (over, divisor) = (self.intern(over)?, self.intern(by)?);
                let floor = self.floor_divide(over, divisor)?;
                let floor = self.as_sum(floor);
                match operation {
                    Step::FloorDivide => Some(Quotient { over: Sum::clone(&floor), under: 1 }),
                    Step::CeilDivide => Some(Quotient { over: floor.scaled(-1)?, under: 1 }),
                    _ if a.under == 1 && b.under == 1 => {
                        let rest = self.modulo(over, divisor)?;
                        Some(self.whole(rest))
                    }
                    _ => {
                        let taken = floor.times(&b.over)?.scaled(a.under.checked_neg()?)?;
                        let rest = a.over.scaled(b.under)?.plus(&taken)?;
                        lowest(rest, a.under.checked_mul(b.under)?)
                    }
                }
            }
            Step::Min | Step::Max => {
                let (over, other) = (a.over.scaled(b.under)?, b.over.scaled(a.under)?);
                let (over, other) = (self.intern(over)?, self.intern(other)?);
                let of = if operation == Step::Min { Symbols::min } else { Symbols::max };
                let chosen = of(self, over, other)?;
                lowest(Sum::clone(&self.as_sum(chosen)), a.under.checked_mul(b.under)?)
            }
            Step::Broadcast if a.under == 1 && b.under == 1 => {
                let (a, b) = (self.intern(a.over)?, self.intern(b.over)?);
                let joined = self.broadcast(a, b)?;
                Some(self.whole(joined))
            }
            _ => None,
        }
    }
}

/// The quotient in lowest terms, as far as a factor of the divisor divides the expression.
fn lowest(mut over: Sum, under: i64) -> Option<Quotient> {
    let all = over.terms.iter().map(|term| term.coefficient).chain([over.constant]);
    let common = all.fold(under, gcd).max(1);
    over.divide(common);
    Some(Quotient { over, under: under / common })
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    made: Expression,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The next character that is no space.
    fn peek(&mut self) -> Option<char> {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
        self.rest().chars().next()
    }

    fn takes(&mut self, token: &str) -> bool {
        self.peek();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn step(&mut self, step: Step) {
        self.made.steps.push(step);
    }

    fn wrong(&mut self, wanted: &str) -> Error {
        let found = self.peek().map_or_else(|| "the end".to_owned(), |c| format!("'{c}'"));
        let position = self.text[..self.at].chars().count() + 1;
        let what = format_args!("cannot parse expression \"{}\": character {position}", self.text);
        Error::mismatch(Kind::Syntax, what, found, wanted)
    }

    fn sum(&mut self) -> Result<()> {
        self.product()?;
        loop {
            let step = if self.takes("+") {
                Step::Add
            } else if self.takes("-") {
                Step::Subtract
            } else {
                return Ok(());
            };
            self.product()?;
            self.step(step);
        }
    }

    fn product(&mut self) -> Result<()> {
        // The longer signs come first.
        const SIGNS: [(&str, Step); 5] = [
            ("//", Step::FloorDivide),
            ("/:", Step::DivideWhole),
            ("/", Step::Divide),
            ("*", Step::Multiply),
            ("%", Step::Modulo),
        ];
        self.factor()?;
        loop {
            let sign = SIGNS.into_iter().find(|(sign, _)| self.takes(sign));
            let Some((_, step)) = sign else { return Ok(()) };
            self.factor()?;
            self.step(step);
        }
    }

    fn factor(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let what = format_args!("cannot parse expression \"{}\": nesting depth", self.text);
            return Err(Error::mismatch(Kind::Limit, what, self.depth, format_args!("at most {DEEPEST}")));
        }
        if self.takes("-") {
            self.factor()?;
            self.step(Step::Negate);
        } else {
            let begin = self.made.steps.len();
            self.operand()?;
            if self.takes("**") {
                self.peek();
                let power = self.digits();
                self.power(begin, power.parse().ok())?;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Raises the operand that begins there to a power.
    fn power(&mut self, begin: usize, power: Option<i128>) -> Result<()> {
        let Some(power @ 1..=MAX_POWER) = power else {
            return Err(self.wrong(&format!("a power from 1 to {MAX_POWER}")));
        };
        let operand = self.made.steps[begin..].to_vec();
        // Powers of powers would grow without end.
        if operand.len() > MAX_STEPS_OF_POWER {
            return Err(too_large(self.text));
        }
        for _ in 1..power {
            self.made.steps.extend_from_slice(&operand);
            self.step(Step::Multiply);
        }
        Ok(())
    }

    fn digits(&mut self) -> &'a str {
        let len = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let digits = &self.rest()[..len];
        self.at += len;
        digits
    }

    fn operand(&mut self) -> Result<()> {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                self.sum()?;
                if self.takes(")") { Ok(()) } else { Err(self.wrong("\")\"")) }
            }
            Some('\'') => self.quoted_name(),
            Some(c) if c.is_ascii_digit() => self.number(),
            Some(c) if starts_name(c) => {
                let len = self.rest().find(|c| !continues_name(c)).unwrap_or(self.rest().len());
                let name = &self.rest()[..len];
                self.at += len;
                if let Some(function) = function(name)
                    && self.takes("(")
                {
                    return self.call(name, &function);
                }
                self.name(name.into());
                Ok(())
            }
            _ => Err(self.wrong("a name, a number or \"(\"")),
        }
    }

    /// A number: a decimal one if floats hold it exactly, as others are not what is computed with.
    fn number(&mut self) -> Result<()> {
        let begin = self.at;
        let whole = self.digits();
        let part = if self.rest().starts_with('.') {
            self.at += 1;
            self.digits().trim_end_matches('0')
        } else {
            ""
        };
        let Ok(digits) = format!("{whole}{part}").parse::<i64>() else { return Err(too_large(self.text)) };
        let exact = || {
            let scale = 10i64.checked_pow(u32::try_from(part.len()).ok()?)?;
            let common = gcd(digits, scale).max(1);
            let under = scale / common;
            under.unsigned_abs().is_power_of_two().then_some(Step::Number(digits / common, under))
        };
        let Some(step) = exact() else {
            self.at = begin;
            return Err(self.wrong("a number that floats hold exactly"));
        };
        self.step(step);
        Ok(())
    }

    fn name(&mut self, name: Arc<str>) {
        let names = &mut self.made.names;
        let index = names.iter().position(|known| *known == name).unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        });
        self.step(Step::Name(index));
    }

    fn quoted_name(&mut self) -> Result<()> {
        let mut name = String::new();
        loop {
            self.at += 1;
            let Some(len) = self.rest().find('\'') else {
                self.at = self.text.len();
                return Err(self.wrong("\"'\""));
            };
            name.push_str(&self.rest()[..len]);
            self.at += len + 1;
            if !self.rest().starts_with('\'') {
                self.name(name.into());
                return Ok(());
            }
            name.push('\'');
        }
    }

    /// The arguments of a function, after the parenthesis.
    fn call(&mut self, name: &str, function: &Function) -> Result<()> {
        let begin = self.made.steps.len();
        self.sum()?;
        let mut count = 1;
        while count < function.most && self.takes(",") {
            count += 1;
            if let Some(step) = function.step {
                self.sum()?;
                self.step(step);
            } else {
                self.peek();
                let power = self.digits().parse().ok();
                self.power(begin, power)?;
            }
        }
        if count < function.least {
            return Err(self.wrong(&format!("\",\" and another argument of {name}")));
        }
        if function.most == 1
            && let Some(step) = function.step
        {
            self.step(step);
        }
        let wanted = if count < function.most { "\",\" or \")\"" } else { "\")\"" };
        if self.takes(")") { Ok(()) } else { Err(self.wrong(wanted)) }
    }
}

/// A function of some arguments: of one, the step that follows it; of more, the step that joins
/// each with those before. Without a step, one argument stays as it is, and the second is a power.
struct Function {
    least: usize,
    most: usize,
    step: Option<Step>,
}

fn function(name: &str) -> Option<Function> {
    let (least, most, step) = match name {
        "Max" | "max" => (1, usize::MAX, Some(Step::Max)),
        "Min" | "min" => (1, usize::MAX, Some(Step::Min)),
        "broadcast" => (1, usize::MAX, Some(Step::Broadcast)),
        "Add" => (1, usize::MAX, Some(Step::Add)),
        "Mul" => (1, usize::MAX, Some(Step::Multiply)),
        "Sub" => (2, 2, Some(Step::Subtract)),
        "FloorDiv" => (2, 2, Some(Step::FloorDivide)),
        "CeilDiv" => (2, 2, Some(Step::CeilDivide)),
        "CleanDiv" | "IntTrueDiv" | "FloatTrueDiv" | "TrueDiv" => (2, 2, Some(Step::Divide)),
        "Mod" | "PythonMod" => (2, 2, Some(Step::Modulo)),
        "floor" | "Floor" | "FloorToInt" => (1, 1, Some(Step::Floor)),
        "ceil" | "ceiling" | "Ceil" | "CeilToInt" => (1, 1, Some(Step::Ceiling)),
        "ToFloat" => (1, 1, None),
        "Pow" => (2, 2, None),
        _ => return None,
    };
    Some(Function { least, most, step })
}
