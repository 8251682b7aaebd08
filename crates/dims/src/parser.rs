//! Reading of expressions: numbers, names, signs and functions become steps.

use std::sync::Arc;

use gradus_core::{Error, Kind, Result};

use super::expression::{Expression, Step};
use super::sum::gcd;
use super::text::{continues_name, starts_name, too_large};

/// Deepest nesting of parentheses that is read.
const DEEPEST: usize = 64;
/// Largest power that is read, and most steps of what is raised to one.
const MAX_POWER: i128 = 8;
const MAX_STEPS_OF_POWER: usize = 256;

/// The signs between operands by how close they bind, the loosest first; of one level, the longer
/// signs come first.
const LEVELS: [&[(&str, Step)]; 4] = [
    &[("^", Step::Max)],
    &[("&", Step::Min)],
    &[("+", Step::Add), ("-", Step::Subtract)],
    &[
        ("//", Step::FloorDivide),
        ("/:", Step::DivideWhole),
        ("/", Step::Divide),
        ("*", Step::Multiply),
        ("%", Step::Modulo),
    ],
];

/// A reader of the text of an expression.
pub(super) struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    made: Expression,
}

impl<'a> Parser<'a> {
    /// The steps of a text that is an expression from its begin to its end.
    pub(super) fn read(text: &'a str) -> Result<Expression> {
        let expression = Expression { text: text.into(), names: Vec::new(), steps: Vec::new() };
        let mut parser = Parser { text, at: 0, depth: 0, made: expression };
        parser.whole()?;
        match parser.peek() {
            None => Ok(parser.made),
            Some(_) => Err(parser.wrong("an operator")),
        }
    }

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

    /// An expression: operands between the signs that bind loosest.
    fn whole(&mut self) -> Result<()> {
        self.joined(0)
    }

    /// Operands between the signs of a level, which are read from the left.
    fn joined(&mut self, level: usize) -> Result<()> {
        let Some(signs) = LEVELS.get(level) else { return self.factor() };
        self.joined(level + 1)?;
        loop {
            let sign = signs.iter().find(|(sign, _)| self.takes(sign));
            let Some(&(_, step)) = sign else { return Ok(()) };
            self.joined(level + 1)?;
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
                self.whole()?;
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
        self.whole()?;
        let mut count = 1;
        while count < function.most && self.takes(",") {
            match function.joined {
                [] => {
                    self.peek();
                    let power = self.digits().parse().ok();
                    self.power(begin, power)?;
                }
                [.., last] => {
                    self.whole()?;
                    self.step(*function.joined.get(count - 1).unwrap_or(last));
                }
            }
            count += 1;
        }
        if count < function.least {
            return Err(self.wrong(&format!("\",\" and another argument of {name}")));
        }
        if let Some(step) = function.alone.filter(|_| count == 1) {
            self.step(step);
        }
        let wanted = if count < function.most { "\",\" or \")\"" } else { "\")\"" };
        if self.takes(")") { Ok(()) } else { Err(self.wrong(wanted)) }
    }
}

/// A function: its numbers of arguments, the step that follows a single one, and the steps that
/// join each later argument with those before, of which the last is for all that follow. Without
/// such a step, the second argument is a power.
struct Function {
    least: usize,
    most: usize,
    alone: Option<Step>,
    joined: &'static [Step],
}

/// The functions of all dialects.
fn function(name: &str) -> Option<Function> {
    const ANY: usize = usize::MAX;
    let (least, most, alone, joined): (_, _, _, &[Step]) = match name {
        "Max" | "max" => (1, ANY, None, &[Step::Max]),
        "Min" | "min" => (1, ANY, None, &[Step::Min]),
        "broadcast" => (1, ANY, None, &[Step::Broadcast]),
        "Add" => (1, ANY, None, &[Step::Add]),
        "Mul" => (1, ANY, None, &[Step::Multiply]),
        "Sub" => (2, 2, None, &[Step::Subtract]),
        "Neg" => (1, 1, Some(Step::Negate), &[]),
        "FloorDiv" => (2, 2, None, &[Step::FloorDivide]),
        "CeilDiv" => (2, 2, None, &[Step::CeilDivide]),
        "CleanDiv" | "IntTrueDiv" | "FloatTrueDiv" | "TrueDiv" => (2, 2, None, &[Step::Divide]),
        "Mod" | "mod" | "PythonMod" => (2, 2, None, &[Step::Modulo]),
        "ModularIndexing" => (3, 3, None, &[Step::FloorDivide, Step::Modulo]),
        "floor" | "Floor" | "FloorToInt" => (1, 1, Some(Step::Floor), &[]),
        "CeilToInt" => (1, 2, Some(Step::Ceiling), &[Step::CeilDivide]),
        "TruncToInt" => (1, 1, Some(Step::Truncate), &[]),
        "ceil" | "ceiling" | "Ceil" => (1, 1, Some(Step::Ceiling), &[]),
        "ToFloat" | "Identity" => (1, 1, None, &[]),
        "Pow" | "PowByNatural" => (2, 2, None, &[]),
        _ => return None,
    };
    Some(Function { least, most, alone, joined })
}
