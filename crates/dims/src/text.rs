//! Expressions as text: `batch*seq`, `(h + 1)//2`, `min(seq, 64)`.
//!
//! Printed expressions read back as the same expression, and as one that means the same where
//! [conditions](Symbols::parse_condition) are assumed. Names are letters, digits, `_`, `.`, `:`
//! and `$`, and start with no digit; any other name stands in single quotes. Products bind closer
//! than sums, and from the left; a quotient within a product stands in parentheses.

use std::fmt::{self, Write as _};

use gradus_core::{Error, Kind, Result};

use super::sum::Sum;
use super::{Atom, AtomId, Dim, Symbols};

/// Deepest nesting of parentheses that is read.
const DEEPEST: usize = 64;

/// An expression with the symbols that give it a meaning, to print.
#[derive(Clone, Copy, Debug)]
pub struct Printed<'a> {
    symbols: &'a Symbols,
    dim: Dim,
}

impl Printed<'_> {
    /// The expression.
    pub fn dim(&self) -> Dim {
        self.dim
    }
}

impl Symbols {
    /// The expression, to print.
    pub fn print(&self, dim: Dim) -> Printed<'_> {
        Printed { symbols: self, dim }
    }

    /// The dimension that a text declares: an expression, as it is printed or as exporters write it,
    /// or else a name. Texts that are numbers are names too, as nothing holds the inputs of a run to
    /// them.
    pub fn declared(&mut self, text: &str) -> Dim {
        // A text that is no expression leaves no symbols of its parts.
        let mut scratch = Symbols::default();
        let read = |symbols: &mut Symbols| match symbols.parse(text) {
            Ok(dim) => Some(dim),
            Err(_) => symbols.parse_foreign(text),
        };
        let is_plain = text.starts_with(starts_name) && text.chars().all(continues_name);
        let is_expression = !is_plain && read(&mut scratch).is_some_and(|dim| dim.known().is_none());
        let dim = if is_expression { read(self) } else { None };
        dim.unwrap_or_else(|| self.named(text))
    }

    /// The expression as an operand: in parentheses, unless it is a number or a name.
    pub(crate) fn print_operand(&self, dim: Dim) -> String {
        let plain = self.as_symbol(dim).is_some() || dim.known().is_some_and(|value| value >= 0);
        if plain { self.print(dim).to_string() } else { format!("({})", self.print(dim)) }
    }

    /// Reads an expression; names that are new become symbols of inputs.
    ///
    /// # Errors
    /// [`Kind::Syntax`] if the text is no expression, [`Kind::Limit`] if it is too large.
    pub fn parse(&mut self, text: &str) -> Result<Dim> {
        let mut parser = Parser { text, at: 0, depth: 0, symbols: self };
        let dim = parser.sum()?;
        match parser.peek() {
            None => Ok(dim),
            Some(_) => Err(parser.wrong("an operator")),
        }
    }
}

impl fmt::Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = match self.dim {
            Dim::Known(value) => return write!(f, "{value}"),
            Dim::Symbolic(id) => id,
        };
        let sum = self.symbols.sum(id);
        // A sum that starts with what is added reads better.
        let (added, taken): (Vec<_>, Vec<_>) =
            self.symbols.printed_terms(sum).into_iter().partition(|(term, _)| term.coefficient > 0);
        let mut first = true;
        let mut constant = sum.constant;
        if added.is_empty() && constant > 0 {
            write!(f, "{constant}")?;
            (first, constant) = (false, 0);
        }
        for (term, factors) in added.into_iter().chain(taken) {
            let negative = term.coefficient < 0;
            match (first, negative) {
                (true, true) => f.write_char('-')?,
                (true, false) => {}
                (false, true) => f.write_str(" - ")?,
                (false, false) => f.write_str(" + ")?,
            }
            first = false;
            let mut size = term.coefficient.unsigned_abs();
            let factors: Vec<_> =
                factors.into_iter().map(|atom| (atom, self.part(atom, &mut size))).collect();
            let alone = size == 1 && factors.len() == 1;
            if size != 1 {
                write!(f, "{size}*")?;
            }
            for (i, (atom, part)) in factors.into_iter().enumerate() {
                if i > 0 {
                    f.write_char('*')?;
                }
                // -a//b is (-a)//b.
                let alone = alone && !negative;
                match part {
                    None => self.atom(f, atom, alone)?,
                    Some((name, 1)) => f.write_str(&quoted(name))?,
                    Some((name, divisor)) if alone => write!(f, "{}//{divisor}", quoted(name))?,
                    Some((name, divisor)) => write!(f, "({}//{divisor})", quoted(name))?,
                }
            }
        }
        match constant {
            0 => Ok(()),
            _ => write!(f, " {} {}", if constant < 0 { '-' } else { '+' }, constant.unsigned_abs()),
        }
    }
}

impl Printed<'_> {
    /// The name that an atom is a part of by assumption, and the divisor that is left of it when
    /// some of a coefficient is taken: 32 times `h//32` is `h`.
    fn part(&self, atom: AtomId, coefficient: &mut u64) -> Option<(&str, u64)> {
        let (name, divisor) = self.symbols.parts.get(&atom)?;
        let divisor = u64::try_from(*divisor).ok()?;
        let taken = if coefficient.is_multiple_of(divisor) { divisor } else { *coefficient };
        let left = divisor.is_multiple_of(taken).then_some(divisor / taken)?;
        *coefficient /= taken;
        Some((name, left))
    }

    fn atom(&self, f: &mut fmt::Formatter<'_>, atom: AtomId, alone: bool) -> fmt::Result {
        let of = |dim| Printed { dim, ..*self };
        let list = |f: &mut fmt::Formatter<'_>, name: &str, dims: &[Dim]| {
            write!(f, "{name}(")?;
            for (i, dim) in dims.iter().enumerate() {
                write!(f, "{}{}", if i == 0 { "" } else { ", " }, of(*dim))?;
            }
            f.write_char(')')
        };
        match &self.symbols.atom(atom).0 {
            Atom::Symbol(index) => {
                f.write_str(&quoted(&self.symbols.named[gradus_core::convert::usize_of_u32(*index)].name))
            }
            Atom::Floor(a, b) => {
                let (open, close) = if alone { ("", "") } else { ("(", ")") };
                f.write_str(open)?;
                of(*a).operand(f)?;
                f.write_str("//")?;
                of(*b).operand(f)?;
                f.write_str(close)
            }
            Atom::Min(all) => list(f, "min", &self.symbols.printed_operands(all)),
            Atom::Max(all) => list(f, "max", &self.symbols.printed_operands(all)),
            Atom::Broadcast(a, b) => list(f, "broadcast", &[*a, *b]),
        }
    }

    /// In parentheses, unless it is a number or a name.
    fn operand(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.symbols.print_operand(self.dim))
    }
}

pub(crate) fn starts_name(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '_' | '$')
}

pub(crate) fn continues_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | ':')
}

fn quoted(name: &str) -> String {
    let plain = name.starts_with(starts_name)
        && name.chars().all(continues_name)
        && !matches!(name, "min" | "max" | "broadcast");
    if plain { name.to_owned() } else { format!("'{}'", name.replace('\'', "''")) }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    symbols: &'a mut Symbols,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// The next character that is no space.
    fn peek(&mut self) -> Option<char> {
        let rest = self.rest();
        let spaces = rest.len() - rest.trim_start().len();
        self.at += spaces;
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

    fn wrong(&mut self, wanted: &str) -> Error {
        let found = self.peek().map_or_else(|| "the end".to_owned(), |c| format!("'{c}'"));
        let position = self.text[..self.at].chars().count() + 1;
        let what = format_args!("cannot parse expression \"{}\": character {position}", self.text);
        Error::mismatch(Kind::Syntax, what, found, wanted)
    }

    fn fits<T>(&self, result: Option<T>) -> Result<T> {
        result.ok_or_else(|| {
            Error::new(
                Kind::Limit,
                format!(
                    "cannot evaluate \"{}\": it is too large, exceeds 64 bits or divides by zero",
                    self.text
                ),
            )
        })
    }

    /// Interned once it is whole: a part of it may be larger than all of it.
    fn sum(&mut self) -> Result<Dim> {
        let mut total = self.product()?;
        loop {
            let by = if self.takes("+") {
                1
            } else if self.takes("-") {
                -1
            } else {
                let dim = self.symbols.intern(total);
                return self.fits(dim);
            };
            let next = self.product()?.scaled(by);
            let result = next.and_then(|next| total.plus(&next));
            total = self.fits(result)?;
        }
    }

    fn product(&mut self) -> Result<Sum> {
        let first = self.factor()?;
        let mut total = Sum::clone(&self.symbols.as_sum(first));
        loop {
            let result = if self.takes("*") {
                let next = self.factor()?;
                total.times(&self.symbols.as_sum(next))
            } else if self.takes("//") {
                let next = self.factor()?;
                self.with_whole(total, |symbols, total| symbols.floor_divide(total, next))
            } else if self.takes("%") {
                let next = self.factor()?;
                self.with_whole(total, |symbols, total| symbols.modulo(total, next))
            } else {
                return Ok(total);
            };
            total = self.fits(result)?;
        }
    }

    /// The result of an operation on a product that ends there.
    fn with_whole(
        &mut self,
        product: Sum,
        operation: impl FnOnce(&mut Symbols, Dim) -> Option<Dim>,
    ) -> Option<Sum> {
        let whole = self.symbols.intern(product)?;
        let result = operation(self.symbols, whole)?;
        Some(Sum::clone(&self.symbols.as_sum(result)))
    }

    fn factor(&mut self) -> Result<Dim> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let what = format_args!("cannot parse expression \"{}\": nesting depth", self.text);
            return Err(Error::mismatch(Kind::Limit, what, self.depth, format_args!("at most {DEEPEST}")));
        }
        let dim = self.operand();
        self.depth -= 1;
        dim
    }

    fn operand(&mut self) -> Result<Dim> {
        match self.peek() {
            Some('-') if self.rest()[1..].starts_with(|c: char| c.is_ascii_digit()) => {
                let len = 1 + self.rest()[1..].bytes().take_while(u8::is_ascii_digit).count();
                let number = self.rest()[..len].parse().ok().map(Dim::Known);
                self.at += len;
                self.fits(number)
            }
            Some('-') => {
                self.at += 1;
                let dim = self.factor()?;
                let negated = self.symbols.negate(dim);
                self.fits(negated)
            }
            Some('(') => {
                self.at += 1;
                let dim = self.sum()?;
                if self.takes(")") { Ok(dim) } else { Err(self.wrong("\")\"")) }
            }
            Some('\'') => self.quoted_name(),
            Some(c) if c.is_ascii_digit() => {
                let len = self.rest().bytes().take_while(u8::is_ascii_digit).count();
                let number = self.rest()[..len].parse().ok().map(Dim::Known);
                self.at += len;
                self.fits(number)
            }
            Some(c) if starts_name(c) => {
                let len = self.rest().find(|c| !continues_name(c)).unwrap_or(self.rest().len());
                let name = self.rest()[..len].to_owned();
                self.at += len;
                match name.as_str() {
                    "min" | "max" | "broadcast" if self.takes("(") => self.call(&name),
                    _ => Ok(self.symbols.named(&name)),
                }
            }
            _ => Err(self.wrong("a name, a number or \"(\"")),
        }
    }

    fn quoted_name(&mut self) -> Result<Dim> {
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
                return Ok(self.symbols.named(&name));
            }
            name.push('\'');
        }
    }

    /// The arguments of a function, behind the parenthesis.
    fn call(&mut self, name: &str) -> Result<Dim> {
        let mut total = self.sum()?;
        while self.takes(",") {
            let next = self.sum()?;
            let result = match name {
                "min" => self.symbols.min(total, next),
                "max" => self.symbols.max(total, next),
                _ => self.symbols.broadcast(total, next),
            };
            total = self.fits(result)?;
        }
        if self.takes(")") { Ok(total) } else { Err(self.wrong("\",\" or \")\"")) }
    }
}
