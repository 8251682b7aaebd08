//! Expressions of dimensions as exporters write them: `CeilDiv(n, 8)`, `floor(H/2 - 1/2) + 1`.
//!
//! | written | by | means |
//! |---|---|---|
//! | `Max(a, b)`, `Min(a, b)`, `Add(a, b)`, `Mul(a, b)`, `a/2`, `0.5` | `SymPy` | exact numbers |
//! | `floor(a)`, `ceiling(a)`, `FloorToInt(a)`, `CeilToInt(a)` | `SymPy`, `PyTorch` | the next integer |
//! | `FloorDiv(a, b)`, `CeilDiv(a, b)`, `CleanDiv(a, b)`, `IntTrueDiv(a, b)`, `FloatTrueDiv(a, b)` | `PyTorch` | a quotient |
//! | `Mod(a, b)`, `PythonMod(a, b)` | `PyTorch` | `a - b*floor(a/b)` |
//! | `a/:b` | other tools | a quotient without rest; with one, its meaning is not certain |
//!
//! A size is a whole number, so that `n/2` says that `n` is even. Everything else is no expression,
//! but a name.

use super::sum::gcd;
use super::text::{continues_name, starts_name};
use super::{Dim, Symbols};

/// Deepest nesting that is read.
const DEEPEST: usize = 32;
/// Longest text that is read, in bytes.
const LONGEST: usize = 1024;

/// A quotient of an expression by a number above 0.
#[derive(Clone, Copy)]
struct Quotient {
    over: Dim,
    under: i64,
}

impl Symbols {
    /// Reads an expression as exporters write them; nothing if it is none, or not certain.
    pub(crate) fn parse_foreign(&mut self, text: &str) -> Option<Dim> {
        if text.len() > LONGEST {
            return None;
        }
        let mut reader = Reader { rest: text, depth: 0, symbols: self };
        let whole = reader.sum()?;
        reader.rest.trim().is_empty().then(|| reader.floor(whole))?
    }
}

struct Reader<'t, 's> {
    rest: &'t str,
    depth: usize,
    symbols: &'s mut Symbols,
}

impl<'t> Reader<'t, '_> {
    fn takes(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn sum(&mut self) -> Option<Quotient> {
        let mut total = self.product()?;
        loop {
            let by = if self.takes("+") {
                1
            } else if self.takes("-") {
                -1
            } else {
                return Some(total);
            };
            let next = self.product()?;
            total = self.added(total, next, by)?;
        }
    }

    fn product(&mut self) -> Option<Quotient> {
        let mut total = self.operand()?;
        loop {
            // The longer signs come first.
            let sign = ["//", "/:", "/", "*", "%"].into_iter().find(|sign| self.takes(sign));
            let Some(sign) = sign else { return Some(total) };
            let next = self.operand()?;
            total = match sign {
                "//" => self.floor_divided(total, next)?,
                "/:" => self.divided_whole(total, next)?,
                "/" => self.divided(total, next)?,
                "*" => self.multiplied(total, next)?,
                _ => self.rest_of(total, next)?,
            };
        }
    }

    fn operand(&mut self) -> Option<Quotient> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let operand = self.sign_or_factor();
        self.depth -= 1;
        operand
    }

    fn sign_or_factor(&mut self) -> Option<Quotient> {
        if self.takes("-") {
            let of = self.operand()?;
            return self.added(whole(Dim::ZERO), of, -1);
        }
        if self.takes("(") {
            let inner = self.sum()?;
            return self.takes(")").then_some(inner);
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            let text = self.word(|c| c.is_ascii_digit() || c == '.');
            return number(text);
        }
        let name = self.rest.starts_with(starts_name).then(|| self.word(continues_name))?;
        if self.takes("(") { self.call(name) } else { Some(whole(self.symbols.named(name))) }
    }

    fn word(&mut self, continues: impl Fn(char) -> bool) -> &'t str {
        let len = self.rest.find(|c| !continues(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(len);
        self.rest = rest;
        word
    }

    /// A function of arguments, after the parenthesis.
    fn call(&mut self, name: &str) -> Option<Quotient> {
        let mut all = vec![self.sum()?];
        while self.takes(",") {
            all.push(self.sum()?);
        }
        if !self.takes(")") {
            return None;
        }
        match (name, &all[..]) {
            ("Max" | "max", _) => self.folded(&all, Symbols::max),
            ("Min" | "min", _) => self.folded(&all, Symbols::min),
            ("Add", &[first, ref others @ ..]) => {
                others.iter().try_fold(first, |sum, &next| self.added(sum, next, 1))
            }
            ("Mul", &[first, ref others @ ..]) => {
                others.iter().try_fold(first, |product, &next| self.multiplied(product, next))
            }
            ("Sub", &[a, b]) => self.added(a, b, -1),
            ("ToFloat", &[a]) => Some(a),
            ("floor" | "Floor" | "FloorToInt", &[a]) => self.floor(a).map(whole),
            ("ceil" | "ceiling" | "Ceil" | "CeilToInt", &[a]) => self.ceiling(a),
            ("FloorDiv", &[a, b]) => self.floor_divided(a, b),
            ("CeilDiv", &[a, b]) => {
                let opposite = self.added(whole(Dim::ZERO), a, -1)?;
                let below = self.floor_divided(opposite, b)?;
                self.added(whole(Dim::ZERO), below, -1)
            }
            ("CleanDiv" | "IntTrueDiv" | "FloatTrueDiv" | "TrueDiv", &[a, b]) => self.divided(a, b),
            ("Mod" | "PythonMod", &[a, b]) => self.rest_of(a, b),
            _ => None,
        }
    }

    fn added(&mut self, a: Quotient, b: Quotient, by: i64) -> Option<Quotient> {
        let (over, others) = (self.times(a.over, b.under)?, self.times(b.over, a.under.checked_mul(by)?)?);
        let over = self.symbols.add(over, others)?;
        self.quotient(over, a.under.checked_mul(b.under)?)
    }

    fn multiplied(&mut self, a: Quotient, b: Quotient) -> Option<Quotient> {
        let over = self.symbols.multiply(a.over, b.over)?;
        self.quotient(over, a.under.checked_mul(b.under)?)
    }

    /// By a number that is known.
    fn divided(&mut self, a: Quotient, b: Quotient) -> Option<Quotient> {
        let by = b.over.known().filter(|&by| by != 0)?;
        let over = self.times(a.over, b.under.checked_mul(by.signum())?)?;
        self.quotient(over, a.under.checked_mul(by.checked_abs()?)?)
    }

    /// Where nothing is left, and all kinds of division agree.
    fn divided_whole(&mut self, a: Quotient, b: Quotient) -> Option<Quotient> {
        self.divided(a, b).filter(|quotient| quotient.under == 1)
    }

    fn floor_divided(&mut self, a: Quotient, b: Quotient) -> Option<Quotient> {
        let (over, under) = (self.times(a.over, b.under)?, self.times(b.over, a.under)?);
        self.symbols.floor_divide(over, under).map(whole)
    }

    fn rest_of(&mut self, a: Quotient, b: Quotient) -> Option<Quotient> {
        let times = self.floor_divided(a, b)?;
        let taken = self.multiplied(times, b)?;
        self.added(a, taken, -1)
    }

    fn floor(&mut self, of: Quotient) -> Option<Dim> {
        self.symbols.floor_divide(of.over, Dim::Known(of.under))
    }

    fn ceiling(&mut self, of: Quotient) -> Option<Quotient> {
        self.symbols.ceil_divide(of.over, Dim::Known(of.under)).map(whole)
    }

    /// The largest or the smallest, over one divisor.
    fn folded(
        &mut self,
        all: &[Quotient],
        of: fn(&mut Symbols, Dim, Dim) -> Option<Dim>,
    ) -> Option<Quotient> {
        let (&first, others) = all.split_first()?;
        others.iter().try_fold(first, |chosen, next| {
            let (a, b) = (self.times(chosen.over, next.under)?, self.times(next.over, chosen.under)?);
            let over = of(self.symbols, a, b)?;
            self.quotient(over, chosen.under.checked_mul(next.under)?)
        })
    }

    fn times(&mut self, dim: Dim, by: i64) -> Option<Dim> {
        self.symbols.multiply(dim, Dim::Known(by))
    }

    /// The quotient in lowest terms, as far as a factor of the divisor divides the expression.
    fn quotient(&mut self, over: Dim, under: i64) -> Option<Quotient> {
        let common = self.symbols.common_factor(over, under);
        let over = self.symbols.floor_divide(over, Dim::Known(common))?;
        Some(Quotient { over, under: under / common })
    }
}

impl Symbols {
    /// The largest number that divides a number and all terms of an expression.
    fn common_factor(&self, dim: Dim, number: i64) -> i64 {
        let sum = self.as_sum(dim);
        let all = sum.terms.iter().map(|term| term.coefficient).chain([sum.constant]);
        all.fold(number, gcd).max(1)
    }
}

const fn whole(over: Dim) -> Quotient {
    Quotient { over, under: 1 }
}

/// A number: a decimal one if floats hold it exactly, as others are not what is computed with.
fn number(text: &str) -> Option<Quotient> {
    let (before, after) = text.split_once('.').unwrap_or((text, ""));
    let after = after.trim_end_matches('0');
    let digits: i64 = format!("{before}{after}").parse().ok()?;
    let scale = 10i64.checked_pow(u32::try_from(after.len()).ok()?)?;
    let common = gcd(digits, scale).max(1);
    let under = scale / common;
    under.unsigned_abs().is_power_of_two().then_some(Quotient { over: Dim::Known(digits / common), under })
}
