//! Conditions as they are written.

use std::cmp::Ordering;
use std::sync::Arc;

use gradus_core::{Error, Kind, Result};

use super::text::too_large;
use super::{Condition, Dim, Expression, Relation, Symbols};

/// How two numbers are ordered where a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Equal,
    NotEqual,
    AtMost,
    AtLeast,
    Below,
    Above,
}

/// Signs between expressions, the longer ones first, and the functions that stand for them.
const SIGNS: [(&str, Sign); 7] = [
    ("==", Sign::Equal),
    ("!=", Sign::NotEqual),
    ("<=", Sign::AtMost),
    (">=", Sign::AtLeast),
    ("=", Sign::Equal),
    ("<", Sign::Below),
    (">", Sign::Above),
];
const FUNCTIONS: [(&str, Sign); 6] = [
    ("Eq", Sign::Equal),
    ("Ne", Sign::NotEqual),
    ("Le", Sign::AtMost),
    ("Ge", Sign::AtLeast),
    ("Lt", Sign::Below),
    ("Gt", Sign::Above),
];

/// A condition as it was written: two expressions and how they are related.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    left: Expression,
    sign: Sign,
    right: Expression,
    /// The expression and the numbers of `n in {1, 8}`.
    among: Option<(Expression, Vec<i64>)>,
}

impl Claim {
    /// Reads a condition: two expressions and `==`, `!=`, `<=`, `>=`, `<` or `>` between them,
    /// `Eq(a, b)`, `Ne`, `Le`, `Ge`, `Lt`, `Gt`, as `SymPy` writes them, or an expression and the
    /// numbers one of which it is, `n in {1, 8}`.
    ///
    /// # Errors
    /// [`Kind::Syntax`] if the text is no condition, [`Kind::Limit`] if it is nested too deep.
    ///
    /// ```
    /// let claim = gradus_dims::Claim::parse("seq % 8 == 0")?;
    /// assert_eq!(claim.holds(|_| Some(16)), Some(true));
    /// # Ok::<(), gradus_core::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Claim> {
        if let Some((of, numbers)) = members(text) {
            let expression = Expression::parse(of)?;
            if let [number] = numbers[..] {
                let right = Expression::number(number);
                return Ok(Claim { left: expression, sign: Sign::Equal, right, among: None });
            }
            // The smallest distance to one of them is 0.
            let distances = numbers.iter().map(|n| format!("max(({of}) - ({n}), {n} - ({of}))"));
            let left = Expression::parse(&format!("min({})", distances.collect::<Vec<_>>().join(", ")))?;
            let among = Some((expression, numbers));
            return Ok(Claim { left, sign: Sign::Equal, right: Expression::number(0), among });
        }
        let (left, sign, right) = parts(text).ok_or_else(|| {
            let wanted = "two expressions with ==, !=, <=, >=, < or > between them, as \"h % 32 == 0\", \
                          or numbers, as \"n in {1, 8}\"";
            Error::mismatch(Kind::Syntax, "condition", format_args!("{text:?}"), wanted)
        })?;
        if outside(right, is_sign).is_some() {
            let wanted = "one sign between two expressions, and a condition for each sign";
            return Err(Error::mismatch(Kind::Syntax, "condition", format_args!("{text:?}"), wanted));
        }
        Ok(Claim { left: Expression::parse(left)?, sign, right: Expression::parse(right)?, among: None })
    }

    /// The claim that holds where this one fails. Where they divide by zero, both say nothing.
    pub(crate) fn opposite(&self) -> Claim {
        let sign = match self.sign {
            Sign::Equal => Sign::NotEqual,
            Sign::NotEqual => Sign::Equal,
            Sign::AtMost => Sign::Above,
            Sign::AtLeast => Sign::Below,
            Sign::Below => Sign::AtLeast,
            Sign::Above => Sign::AtMost,
        };
        Claim { sign, among: None, ..self.clone() }
    }

    /// The claim that an expression is at least, or at most, a number.
    pub(crate) fn bound(of: &Expression, is_lower: bool, end: i64) -> Claim {
        let sign = if is_lower { Sign::AtLeast } else { Sign::AtMost };
        Claim { left: of.clone(), sign, right: Expression::number(end), among: None }
    }

    /// Returns true if a text has a sign between expressions, or a set of numbers, so that it is to
    /// be a condition.
    pub fn is_written(text: &str) -> bool {
        parts(text).is_some() || members(text).is_some()
    }

    /// The names in both expressions, each once.
    pub fn names(&self) -> Vec<Arc<str>> {
        let mut names = self.left.names().to_vec();
        names.extend(self.right.names().iter().filter(|name| !self.left.names().contains(name)).cloned());
        names
    }

    /// Returns true if the relation holds for these values of its names; `None` if a name has no
    /// value, a divisor is zero, or a number exceeds 128 bits.
    pub fn holds(&self, of: impl Fn(&str) -> Option<i64>) -> Option<bool> {
        let values = |side: &Expression| side.names().iter().map(|name| of(name)).collect::<Option<Vec<_>>>();
        let (left, right) = (values(&self.left)?, values(&self.right)?);
        self.holds_at(&|index| left[index], &|index| right[index])
    }

    /// The two sides, whose names have an index each.
    pub(crate) fn sides(&self) -> [&Expression; 2] {
        [&self.left, &self.right]
    }

    /// Decides the claim for the values of its names by index; `None` if a value overflows.
    pub(crate) fn holds_at(
        &self,
        left: &impl Fn(usize) -> i64,
        right: &impl Fn(usize) -> i64,
    ) -> Option<bool> {
        let ((a, under), (b, other)) = (self.left.value(left)?, self.right.value(right)?);
        let order =
            if under == other { a.cmp(&b) } else { a.checked_mul(other)?.cmp(&b.checked_mul(under)?) };
        Some(match self.sign {
            Sign::Equal => order == Ordering::Equal,
            Sign::NotEqual => order != Ordering::Equal,
            Sign::AtMost => order != Ordering::Greater,
            Sign::AtLeast => order != Ordering::Less,
            Sign::Below => order == Ordering::Less,
            Sign::Above => order == Ordering::Greater,
        })
    }

    /// The expression and the numbers of `n in {1, 8}`, of which there are two at least.
    pub(crate) fn among(&self) -> Option<(&Expression, &[i64])> {
        self.among.as_ref().map(|(of, numbers)| (of, &numbers[..]))
    }

    /// The condition on symbols that this is.
    ///
    /// # Errors
    /// [`Kind::Limit`] if an expression is too large.
    pub fn condition(&self, symbols: &mut Symbols) -> Result<Condition> {
        self.made(symbols)
            .ok_or_else(|| too_large(&format!("{} and {}", self.left.text(), self.right.text())))
    }

    fn made(&self, symbols: &mut Symbols) -> Option<Condition> {
        let (left, right) = (self.left.quotient(symbols)?, self.right.quotient(symbols)?);
        let (under, other) = (left.known_divisor()?, right.known_divisor()?);
        let (left, right) = (left.over.scaled(other)?, right.over.scaled(under)?);
        let (relation, more) = match self.sign {
            Sign::Equal => (Relation::Equal, 0),
            Sign::NotEqual => (Relation::NotEqual, 0),
            Sign::AtMost => (Relation::AtMost, 0),
            Sign::AtLeast => (Relation::AtLeast, 0),
            Sign::Below => (Relation::AtMost, -1),
            Sign::Above => (Relation::AtLeast, 1),
        };
        let (left, right) = (symbols.intern(left)?, symbols.intern(right)?);
        let right = symbols.add(right, Dim::Known(more))?;
        Some(Condition::new(left, relation, right))
    }
}

/// The expression of `n in {1, 8}`, and the numbers, of which there is one at least.
fn members(text: &str) -> Option<(&str, Vec<i64>)> {
    let (of, numbers) = text.trim_end().strip_suffix('}')?.rsplit_once('{')?;
    let of = of.trim_end().strip_suffix("in")?.strip_suffix(char::is_whitespace)?;
    let numbers = numbers.split(',').map(|number| number.trim().parse().ok());
    Some((of, numbers.collect::<Option<_>>()?))
}

/// The expressions and the sign between them.
fn parts(text: &str) -> Option<(&str, Sign, &str)> {
    let of_function = FUNCTIONS.iter().find_map(|&(name, sign)| {
        let rest = text.trim().strip_prefix(name)?.trim_start().strip_prefix('(')?.strip_suffix(')')?;
        let at = outside(rest, |c| c == ',')?;
        Some((&rest[..at], sign, &rest[at + 1..]))
    });
    of_function.or_else(|| {
        let at = outside(text, is_sign)?;
        let (left, rest) = text.split_at(at);
        SIGNS.iter().find_map(|&(written, sign)| rest.strip_prefix(written).map(|right| (left, sign, right)))
    })
}

/// Returns true if a sign begins with a character.
fn is_sign(c: char) -> bool {
    matches!(c, '=' | '<' | '>' | '!')
}

/// The place of a character that is in no quotes and in no parentheses.
fn outside(text: &str, is_meant: impl Fn(char) -> bool) -> Option<usize> {
    let (mut quoted, mut depth) = (false, 0i64);
    text.find(|c: char| {
        quoted ^= c == '\'';
        depth += i64::from(!quoted && c == '(') - i64::from(!quoted && c == ')');
        !quoted && depth == 0 && is_meant(c)
    })
}
