//! Expressions as text: `batch*seq`, `(h + 1)//2`, `min(seq, 64)`.
//!
//! Printed expressions read back as the same expression, and as one that means the same where
//! [conditions](Symbols::parse_condition) are assumed. Names are letters, digits, `_`, `.`, `:`
//! and `$`, and start with no digit; any other name stands in single quotes. Products bind closer
//! than sums, and from the left; a quotient within a product stands in parentheses.

use std::fmt::{self, Write as _};

use gradus_core::{Error, Kind, Result};

use super::{Atom, AtomId, Dim, Expression, Symbols};

/// Longest text of a declaration that is read as an expression, in bytes.
const LONGEST: usize = 1024;

/// The dialect of a printed expression. All are read wherever an expression is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// `min(a, (h + 1)//2)`.
    #[default]
    Gradus,
    /// Tools of ONNX: `Min(a, (h + 1)//2)`.
    Onnx,
    /// `Min(a, floor((h + 1)/2))`.
    SymPy,
    /// `Min(a, (h + 1)//2)`.
    Torch,
}

gradus_core::names!(Dialect, "dialect" { Gradus = "gradus", Onnx = "onnx", SymPy = "sympy", Torch = "torch" });

impl Dialect {
    /// The dimension that a text declares, written in this dialect. A name stays as it is.
    ///
    /// ```
    /// use gradus_dims::Dialect;
    /// assert_eq!(Dialect::SymPy.declared("CeilDiv(n, 8)"), "floor((n + 7)/8)");
    /// assert_eq!(Dialect::SymPy.declared("past length"), "past length");
    /// ```
    pub fn declared(self, text: &str) -> String {
        let mut symbols = Symbols::default();
        let dim = symbols.declared(text);
        if symbols.as_symbol(dim).is_some() {
            return text.to_owned();
        }
        symbols.print(dim).in_dialect(self).to_string()
    }
}

/// An expression with the symbols that give it a meaning, to print.
#[derive(Clone, Copy, Debug)]
pub struct Printed<'a> {
    symbols: &'a Symbols,
    dim: Dim,
    dialect: Dialect,
}

impl Printed<'_> {
    /// The expression.
    pub fn dim(&self) -> Dim {
        self.dim
    }

    /// This expression, printed for another reader. Names with other characters than those of most
    /// readers stay in quotes, and `broadcast` has no counterpart.
    #[must_use]
    pub fn in_dialect(self, dialect: Dialect) -> Self {
        Printed { dialect, ..self }
    }
}

impl Symbols {
    /// The expression, to print.
    pub fn print(&self, dim: Dim) -> Printed<'_> {
        Printed { symbols: self, dim, dialect: self.dialect }
    }

    /// Prints expressions in a dialect from now on.
    ///
    /// ```
    /// use gradus_dims::{Dialect, Symbols};
    /// let mut symbols = Symbols::default();
    /// symbols.print_in(Dialect::SymPy);
    /// let dim = symbols.parse("n//2")?;
    /// assert_eq!(symbols.print(dim).to_string(), "floor(n/2)");
    /// # Ok::<(), gradus_core::Error>(())
    /// ```
    pub fn print_in(&mut self, dialect: Dialect) {
        self.dialect = dialect;
    }

    /// The dimension that a text declares: an expression, as it is printed or as exporters write it,
    /// or else a name. Texts that are numbers are names too, as nothing holds the inputs of a run to
    /// them.
    pub fn declared(&mut self, text: &str) -> Dim {
        let is_plain = text.starts_with(starts_name) && text.chars().all(continues_name);
        let expression = if is_plain || text.len() > LONGEST { None } else { Expression::parse(text).ok() };
        // A text that is no expression leaves no symbols of its parts.
        let dim = expression.and_then(|expression| {
            let made = Symbols::default().made(&expression)?;
            if made.known().is_some() { None } else { self.made(&expression) }
        });
        dim.unwrap_or_else(|| self.named(text))
    }

    /// The expression as an operand: in parentheses, unless it is a number or a name.
    pub(crate) fn print_operand(&self, dim: Dim) -> String {
        format!("{}", PrintedOperand(self.print(dim)))
    }

    /// Reads an expression; names that are new become symbols of inputs.
    ///
    /// # Errors
    /// [`Kind::Syntax`] if the text is no expression, [`Kind::Limit`] if it is too large.
    pub fn parse(&mut self, text: &str) -> Result<Dim> {
        self.canonical(&Expression::parse(text)?)
    }

    /// The canonical form of an expression; of a quotient that is no integer, the floor.
    ///
    /// # Errors
    /// [`Kind::Limit`] if it is too large, [`Kind::Value`] if it divides by 0 or may leave a rest.
    pub fn canonical(&mut self, expression: &Expression) -> Result<Dim> {
        self.made(expression).ok_or_else(|| expression.without_form(self))
    }

    fn made(&mut self, expression: &Expression) -> Option<Dim> {
        let quotient = expression.quotient(self)?;
        // The rest of a division by names is no size, and `n/m` may be a name.
        quotient.known_divisor()?;
        self.floor_of_quotient(quotient)
    }
}

/// An error: the value of an expression is too large.
pub(crate) fn too_large(text: &str) -> Error {
    let message = format!("cannot evaluate \"{text}\": it is too large or exceeds 64 bits");
    Error::new(Kind::Limit, message)
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
        let plain = self.dialect == Dialect::Gradus;
        match &self.symbols.atom(atom).0 {
            Atom::Symbol(index) => {
                f.write_str(&quoted(&self.symbols.named[gradus_core::convert::usize_of_u32(*index)].name))
            }
            Atom::Floor(a, b) if self.dialect == Dialect::SymPy => {
                f.write_str("floor(")?;
                write!(f, "{}", PrintedOperand(of(*a)))?;
                f.write_char('/')?;
                write!(f, "{}", PrintedOperand(of(*b)))?;
                f.write_char(')')
            }
            Atom::Floor(a, b) => {
                let (open, close) = if alone { ("", "") } else { ("(", ")") };
                f.write_str(open)?;
                write!(f, "{}", PrintedOperand(of(*a)))?;
                f.write_str("//")?;
                write!(f, "{}", PrintedOperand(of(*b)))?;
                f.write_str(close)
            }
            Atom::Min(all) => list(f, if plain { "min" } else { "Min" }, &self.symbols.printed_operands(all)),
            Atom::Max(all) => list(f, if plain { "max" } else { "Max" }, &self.symbols.printed_operands(all)),
            Atom::Broadcast(a, b) => list(f, "broadcast", &[*a, *b]),
        }
    }
}

/// In parentheses, unless it is a number or a name.
struct PrintedOperand<'a>(Printed<'a>);

impl fmt::Display for PrintedOperand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PrintedOperand(printed) = self;
        let is_name = printed.symbols.as_symbol(printed.dim).is_some();
        if is_name || printed.dim.known().is_some_and(|value| value >= 0) {
            write!(f, "{printed}")
        } else {
            write!(f, "({printed})")
        }
    }
}

/// Returns true if a name may start with a character.
pub(crate) fn starts_name(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '_' | '$')
}

/// Returns true if a name may go on with a character.
pub(crate) fn continues_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | ':')
}

/// A name as expressions write it: in quotes where it would be read as something else.
pub(crate) fn quoted(name: &str) -> String {
    let plain = name.starts_with(starts_name)
        && name.chars().all(continues_name)
        && !matches!(name, "min" | "max" | "broadcast");
    if plain { name.to_owned() } else { format!("'{}'", name.replace('\'', "''")) }
}
