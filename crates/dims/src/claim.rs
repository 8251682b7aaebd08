//! Conditions as they are written.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use gradus_core::{Error, Kind, Result};

use super::text::continues_name;
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

/// Signs between expressions, the longer ones first, and the functions that stand for them: those
/// of `SymPy` by both their names.
const SIGNS: [(&str, Sign); 7] = [
    ("==", Sign::Equal),
    ("!=", Sign::NotEqual),
    ("<=", Sign::AtMost),
    (">=", Sign::AtLeast),
    ("=", Sign::Equal),
    ("<", Sign::Below),
    (">", Sign::Above),
];
const FUNCTIONS: [(&str, &str, Sign); 6] = [
    ("Eq", "Equality", Sign::Equal),
    ("Ne", "Unequality", Sign::NotEqual),
    ("Le", "LessThan", Sign::AtMost),
    ("Ge", "GreaterThan", Sign::AtLeast),
    ("Lt", "StrictLessThan", Sign::Below),
    ("Gt", "StrictGreaterThan", Sign::Above),
];

/// A condition as it was written: two expressions and how they are related.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    left: Expression,
    sign: Sign,
    right: Expression,
    parts: Parts,
}

/// Conditions that are joined: `left <= right` says the same of them.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Parts {
    /// The condition is one relation.
    Single,
    /// All of them hold, each a relation or some of which any holds.
    All(Vec<Claim>),
    /// Any of these relations holds.
    Any(Vec<Claim>),
}

impl Claim {
    /// Reads a condition: two expressions and `==`, `!=`, `<=`, `>=`, `<` or `>` between them,
    /// chains as `1 <= n <= 64`, an expression and the numbers one of which it is, `n in {1, 8}`,
    /// and conditions that `and`, `or` and `not` join, as Python (`&`, `|`, `~` between
    /// parentheses), C and `SymPy` (`And(a, b)`, `Eq(a, b)`, `Ne`, `Le`, `Ge`, `Lt`, `Gt`) write it.
    ///
    /// # Errors
    /// [`Kind::Syntax`] if the text is no condition, [`Kind::Limit`] if it is nested too deep or
    /// joins too many.
    ///
    /// ```
    /// let claim = gradus_dims::Claim::parse("Or(Eq(Mod(seq, 8), 0), seq < 8)")?;
    /// assert_eq!(claim.holds(|_| Some(16)), Some(true));
    /// assert_eq!(claim.holds(|_| Some(17)), Some(false));
    /// # Ok::<(), gradus_core::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Claim> {
        Claim::of(Joined::read(text, 0)?, text)
    }

    /// The claim that joined relations are.
    fn of(joined: Joined, text: &str) -> Result<Claim> {
        let clauses = joined.clauses().ok_or_else(|| {
            let what = format_args!("condition \"{text}\": the number of parts");
            Error::mismatch(Kind::Limit, what, "more", format_args!("at most {MAX_PARTS}"))
        })?;
        let any = |of: Vec<Claim>| Claim::joined(of, "min", Parts::Any);
        Claim::joined(clauses.into_iter().map(any).collect::<Result<_>>()?, "max", Parts::All)
    }

    /// The only one of some claims, or all of them as one: the smallest or the largest of what each
    /// exceeds its bound by.
    fn joined(mut of: Vec<Claim>, function: &str, parts: impl FnOnce(Vec<Claim>) -> Parts) -> Result<Claim> {
        if of.len() == 1 {
            return Ok(of.remove(0));
        }
        let excess = of.iter().map(Claim::excess).collect::<Vec<_>>().join(", ");
        let left = Expression::parse(&format!("{function}({excess})"))?;
        Ok(Claim { left, sign: Sign::AtMost, right: Expression::number(0), parts: parts(of) })
    }

    /// An expression that is at most 0 where the claim holds, and at least 1 where it fails and its
    /// sides are integers.
    fn excess(&self) -> String {
        let (a, b) = (self.left.text(), self.right.text());
        match self.sign {
            Sign::AtMost => format!("({a}) - ({b})"),
            Sign::AtLeast => format!("({b}) - ({a})"),
            Sign::Below => format!("floor(({a}) - ({b})) + 1"),
            Sign::Above => format!("floor(({b}) - ({a})) + 1"),
            Sign::Equal => format!("max(({a}) - ({b}), ({b}) - ({a}))"),
            Sign::NotEqual => format!("1 - ceil(max(({a}) - ({b}), ({b}) - ({a})))"),
        }
    }

    /// The claims that all hold where this one does: itself, unless it joins some.
    pub fn all(&self) -> &[Claim] {
        match &self.parts {
            Parts::All(all) => all,
            Parts::Single | Parts::Any(_) => std::slice::from_ref(self),
        }
    }

    /// The condition on symbols that this is, if it joins none by `and`, and guards under which it
    /// applies: of `n in {1, 8}`, `n == 1` where `n != 8`, as [`Condition::among`] has it; of
    /// relations that `or` joins, the first where the others fail.
    ///
    /// # Errors
    /// [`Kind::Limit`] if an expression is too large, [`Kind::Value`] if it divides by 0.
    pub fn guarded(&self, symbols: &mut Symbols) -> Result<(Condition, Vec<Condition>)> {
        let Parts::Any(any) = &self.parts else { return Ok((self.condition(symbols)?, Vec::new())) };
        let guards = any[1..].iter().map(|of| of.opposite().condition(symbols)).collect::<Result<_>>()?;
        Ok((any[0].condition(symbols)?, guards))
    }

    fn single(left: Expression, sign: Sign, right: Expression) -> Claim {
        Claim { left, sign, right, parts: Parts::Single }
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
        Claim { sign, parts: Parts::Single, ..self.clone() }
    }

    /// The claim that an expression is at least, or at most, a number.
    pub(crate) fn bound(of: &Expression, is_lower: bool, end: i64) -> Claim {
        let sign = if is_lower { Sign::AtLeast } else { Sign::AtMost };
        Claim::single(of.clone(), sign, Expression::number(end))
    }

    /// Returns true if a text is to be a condition: if it relates expressions, or joins conditions.
    pub fn is_written(text: &str) -> bool {
        match Form::of(text) {
            Form::Expression | Form::Truth(_) => false,
            Form::Within(part) => Claim::is_written(part),
            Form::Join(parts, _) => parts.into_iter().any(Claim::is_written),
            Form::Not(_) | Form::Call(..) | Form::Related | Form::Among(..) => true,
        }
    }

    /// The names in both expressions, each once.
    pub fn names(&self) -> Vec<Arc<str>> {
        let mut names = self.left.names().to_vec();
        names.extend(self.right.names().iter().filter(|name| !self.left.names().contains(name)).cloned());
        names
    }

    /// Checks that it does not divide by zero whatever the sizes: it would say nothing then.
    ///
    /// # Errors
    /// [`Kind::Value`] if it does.
    pub fn check_divisors(&self) -> Result<()> {
        let mut symbols = Symbols::default();
        let mut is_zero = |of: &Expression| symbols.canonical(of).is_ok_and(|of| of == Dim::ZERO);
        let mut divisors = [&self.left, &self.right].into_iter().flat_map(Expression::divisors);
        if divisors.any(|of| is_zero(&of)) {
            return Err(Error::new(Kind::Value, "cannot decide the condition: it divides by 0"));
        }
        Ok(())
    }

    /// Returns true if the claim holds for these values of its names, false if it fails; `None` if a
    /// name has no value, a divisor is zero, or a number exceeds 128 bits, in the relation or in any
    /// that `or` joins.
    pub fn holds(&self, of: impl Fn(&str) -> Option<i64>) -> Option<bool> {
        let holds = |part: &Claim| {
            let values = |of_side: &Expression| {
                of_side.names().iter().map(|name| of(name)).collect::<Option<Vec<_>>>()
            };
            let (left, right) = (values(&part.left)?, values(&part.right)?);
            part.holds_at(&|index| left[index], &|index| right[index])
        };
        let found: Vec<_> = self.all().iter().map(holds).collect();
        if found.contains(&Some(false)) {
            Some(false)
        } else {
            found.into_iter().all(|of| of == Some(true)).then_some(true)
        }
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
    pub(crate) fn among(&self) -> Option<(&Expression, Vec<i64>)> {
        let Parts::Any(any) = &self.parts else { return None };
        let number = |of: &Claim| {
            let is_same = of.sign == Sign::Equal && of.left == any[0].left && of.right.names().is_empty();
            is_same.then(|| of.right.evaluate(|_| None))?
        };
        Some((&any[0].left, any.iter().map(number).collect::<Option<_>>()?))
    }

    /// The condition on symbols that this is.
    ///
    /// # Errors
    /// [`Kind::Limit`] if an expression is too large.
    pub fn condition(&self, symbols: &mut Symbols) -> Result<Condition> {
        self.made(symbols).ok_or_else(|| {
            let has_form = |of: &Expression, symbols: &mut Symbols| {
                of.quotient(symbols).is_some_and(|of| of.known_divisor().is_some())
            };
            let side = if has_form(&self.left, symbols) { &self.right } else { &self.left };
            side.without_form(symbols)
        })
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

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (parts, between) = match &self.parts {
            Parts::All(all) => (all, " and "),
            Parts::Any(any) => (any, " or "),
            Parts::Single => {
                let sign = SIGNS.iter().find(|(_, sign)| *sign == self.sign).map_or("", |(text, _)| text);
                return write!(f, "{} {sign} {}", self.left.text(), self.right.text());
            }
        };
        for (i, part) in parts.iter().enumerate() {
            f.write_str(if i > 0 { between } else { "" })?;
            match part.parts {
                Parts::Any(_) => write!(f, "({part})")?,
                Parts::Single | Parts::All(_) => part.fmt(f)?,
            }
        }
        Ok(())
    }
}

/// The maximum number of relations that a condition joins, and of conditions within conditions.
const MAX_PARTS: usize = 256;
const MAX_DEPTH: usize = 32;

/// Relations that are joined.
enum Joined {
    Single(Claim),
    All(Vec<Joined>),
    Any(Vec<Joined>),
}

impl Joined {
    fn read(text: &str, depth: usize) -> Result<Joined> {
        let text = text.trim();
        if depth > MAX_DEPTH {
            let what = format_args!("condition \"{text}\": nesting depth");
            return Err(Error::mismatch(Kind::Limit, what, depth, format_args!("at most {MAX_DEPTH}")));
        }
        let read = |part: &&str| Joined::read(part, depth + 1);
        match Form::of(text) {
            Form::Join(parts, is_all) => {
                let parts = parts.iter().map(read).collect::<Result<_>>()?;
                Ok(if is_all { Joined::All(parts) } else { Joined::Any(parts) })
            }
            Form::Not(part) => Ok(read(&part)?.opposite()),
            Form::Within(part) => read(&part),
            Form::Truth(true) => Ok(Joined::All(Vec::new())),
            Form::Truth(false) => Ok(Joined::Any(Vec::new())),
            Form::Call(sign, [left, right]) => {
                let (left, right) = (Expression::parse(left)?, Expression::parse(right)?);
                Ok(Joined::Single(Claim::single(left, sign, right)))
            }
            Form::Among(of, numbers) => {
                let of = Expression::parse(of)?;
                let is = |number| Claim::single(of.clone(), Sign::Equal, Expression::number(number));
                Ok(Joined::Any(numbers.into_iter().map(is).map(Joined::Single).collect()))
            }
            Form::Related => Joined::chain(text),
            Form::Expression => {
                let wanted = "two expressions with ==, !=, <=, >=, < or > between them, as \"h % 32 == 0\", \
                              or numbers, as \"n in {1, 8}\"";
                Err(Error::mismatch(Kind::Syntax, "condition", format_args!("{text:?}"), wanted))
            }
        }
    }

    /// Expressions, and a sign between each two.
    fn chain(text: &str) -> Result<Joined> {
        let (mut all, mut rest) = (Vec::new(), text);
        let mut before: Option<(Expression, Sign)> = None;
        loop {
            let next = sign_of(rest);
            let operand = Expression::parse(next.map_or(rest, |(at, ..)| &rest[..at]).trim())?;
            if let Some((left, sign)) = before {
                all.push(Joined::Single(Claim::single(left, sign, operand.clone())));
            }
            let Some((at, len, sign)) = next else { return Ok(Joined::All(all)) };
            rest = &rest[at + len..];
            before = Some((operand, sign));
        }
    }

    /// The relations that hold where these fail.
    fn opposite(self) -> Joined {
        match self {
            Joined::Single(claim) => Joined::Single(claim.opposite()),
            Joined::All(all) => Joined::Any(all.into_iter().map(Joined::opposite).collect()),
            Joined::Any(any) => Joined::All(any.into_iter().map(Joined::opposite).collect()),
        }
    }

    /// Lists of relations: of each, one holds. Nothing if they are too many.
    fn clauses(self) -> Option<Vec<Vec<Claim>>> {
        let mut clauses = match self {
            Joined::Single(claim) => vec![vec![claim]],
            Joined::All(all) => {
                let all = all.into_iter().map(Joined::clauses).collect::<Option<Vec<_>>>()?;
                all.into_iter().flatten().collect()
            }
            Joined::Any(any) => {
                let mut product = vec![Vec::new()];
                for part in any {
                    let part = part.clauses()?;
                    if product.len() * part.len() > MAX_PARTS {
                        return None;
                    }
                    let with = |known: &Vec<Claim>| {
                        let known = known.clone();
                        part.iter().map(move |more| [&known[..], more].concat())
                    };
                    product = product.iter().flat_map(with).collect();
                }
                product
            }
        };
        // No relation, and one that always holds, say the same.
        let number = |value| Expression::number(value);
        if clauses.is_empty() {
            clauses.push(vec![Claim::single(number(0), Sign::Equal, number(0))]);
        }
        for clause in clauses.iter_mut().filter(|clause| clause.is_empty()) {
            clause.push(Claim::single(number(0), Sign::Equal, number(1)));
        }
        (clauses.iter().map(Vec::len).sum::<usize>() <= MAX_PARTS).then_some(clauses)
    }
}

/// The parts of a text that is a condition, by what binds loosest.
enum Form<'t> {
    /// Conditions all of which hold, with true, or one of them.
    Join(Vec<&'t str>, bool),
    Not(&'t str),
    /// A condition in parentheses.
    Within(&'t str),
    Truth(bool),
    /// A function of two expressions.
    Call(Sign, [&'t str; 2]),
    /// Expressions with signs between them.
    Related,
    /// An expression, and the numbers one of which it is.
    Among(&'t str, Vec<i64>),
    /// None of these.
    Expression,
}

impl<'t> Form<'t> {
    fn of(text: &'t str) -> Form<'t> {
        let text = text.trim();
        for (signs, is_all) in [(["or", "||"], false), (["and", "&&"], true)] {
            let parts = split(text, &signs);
            if parts.len() > 1 {
                return Form::Join(parts, is_all);
            }
        }
        if let Some(part) = text.strip_prefix("not").filter(|part| !part.starts_with(continues_name)) {
            return Form::Not(part);
        }
        if let Some((of, numbers)) = members(text) {
            return Form::Among(of, numbers);
        }
        if sign_of(text).is_some() {
            return Form::Related;
        }
        for (sign, is_all) in [("|", false), ("&", true)] {
            let parts = split(text, &[sign]);
            if parts.len() > 1 {
                return Form::Join(parts, is_all);
            }
        }
        if let Some(part) = text.strip_prefix(['~', '!']) {
            return Form::Not(part);
        }
        let call = text.find('(').and_then(|at| Some((text[..at].trim_end(), within(&text[at..])?)));
        let Some((name, arguments)) = call else {
            return match text {
                "True" | "true" => Form::Truth(true),
                "False" | "false" => Form::Truth(false),
                _ => Form::Expression,
            };
        };
        let parts = split(arguments, &[","]);
        match (name, &parts[..]) {
            ("", _) => Form::Within(arguments),
            ("And", _) => Form::Join(parts, true),
            ("Or", _) => Form::Join(parts, false),
            ("Not", _) => Form::Not(arguments),
            (name, &[left, right]) => {
                let found = FUNCTIONS.iter().find(|(short, long, _)| name == *short || name == *long);
                found.map_or(Form::Expression, |&(.., sign)| Form::Call(sign, [left, right]))
            }
            _ => Form::Expression,
        }
    }
}

/// The expression of `n in {1, 8}`, and the numbers, of which there is one at least.
fn members(text: &str) -> Option<(&str, Vec<i64>)> {
    let (of, numbers) = text.strip_suffix('}')?.rsplit_once('{')?;
    let of = of.trim_end().strip_suffix("in")?.strip_suffix(char::is_whitespace)?;
    let numbers = numbers.split(',').map(|number| number.trim().parse().ok());
    Some((of, numbers.collect::<Option<_>>()?))
}

/// The text between parentheses that are around all of it.
fn within(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    places(inner).all(|(.., depth)| depth >= 0).then_some(inner)
}

/// The place, the length and the meaning of the first sign between expressions.
fn sign_of(text: &str) -> Option<(usize, usize, Sign)> {
    let mut outside = places(text).filter(|&(_, _, depth)| depth == 0);
    let found = |(at, ..): (usize, char, i64)| {
        let sign = SIGNS.iter().find(|(written, _)| text[at..].starts_with(written));
        sign.map(|&(written, sign)| (at, written.len(), sign))
    };
    outside.find_map(found)
}

/// The parts of a text between signs that are in no quotes and in no parentheses. A sign of letters
/// is a word.
fn split<'t>(text: &'t str, signs: &[&str]) -> Vec<&'t str> {
    let (mut parts, mut begin) = (Vec::new(), 0);
    for (at, c, depth) in places(text) {
        let sign = signs.iter().find(|sign| {
            let is_word = sign.starts_with(continues_name);
            let is_part = |c: Option<char>| is_word && c.is_some_and(continues_name);
            text[at..].starts_with(**sign)
                && !is_part(text[..at].chars().next_back())
                && !is_part(text[at + sign.len()..].chars().next())
        });
        if let Some(sign) = sign.filter(|_| depth == 0 && at >= begin && c != '\'') {
            parts.push(text[begin..at].trim());
            begin = at + sign.len();
        }
    }
    parts.push(text[begin..].trim());
    parts
}

/// The characters of a text that are in no quotes, each with its place and the number of parentheses
/// around it: a closing one is outside of what it closes.
fn places(text: &str) -> impl Iterator<Item = (usize, char, i64)> + '_ {
    let (mut quoted, mut depth) = (false, 0i64);
    text.char_indices().filter_map(move |(at, c)| {
        quoted ^= c == '\'';
        let around = depth;
        depth += i64::from(!quoted && c == '(') - i64::from(!quoted && c == ')');
        (!quoted).then_some((at, c, around.min(depth)))
    })
}
