//! Dimensions: numbers, and expressions of symbols that print and evaluate.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use gradus::dim::{Bounds, Claim, Dim as Engine, Expression, Ranges, Symbols};
use gradus::graph::DeclaredDim;
use gradus::{Kind, convert};
use pyo3::basic::CompareOp;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyString};

use crate::decide::decided;
use crate::error::{OrRaise, engine, error, mismatch, type_name};
use crate::given::GivenLimits;

/// An expression of symbols: a size, or an element, that is not a number.
///
/// Two are equal if they have one canonical form, in whatever order they
/// are written. `+`, `-`, `*`, `//` and `%` give expressions, or integers
/// where no symbol is left; `<`, `<=`, `>` and `>=` are decided for all
/// values of the symbols, and raise `ArgumentError` where that is not
/// possible. Symbols are sizes, from 0 on, except those in `integers`.
/// `format` writes a dialect: `gradus`, `onnx`, `sympy` or `torch`.
///
/// Args:
///     text: the expression: integers, names, `+`, `-`, `*`, `//`, `%`,
///         `min(…)`, `max(…)`.
///     integers: names that may be negative.
///
/// Example:
///     >>> import gradus
///     >>> dim = gradus.Dim("2*(n + 1)")
///     >>> str(dim), dim == gradus.Dim("n + 2 + n")
///     ('2*n + 2', True)
///     >>> dim // 2 - gradus.Dim("n"), dim > 1
///     (1, True)
///     >>> f"{gradus.Dim('h//2'):sympy}"
///     'floor(h/2)'
#[pyclass(frozen, module = "gradus._native", name = "Dim")]
#[derive(Clone, Debug)]
pub(crate) struct Dim {
    text: String,
    /// Symbols that are no sizes, and may be negative.
    integers: BTreeSet<String>,
    /// The text with symbols in the order of their names.
    canonical: String,
}

/// Arguments that make a Dim in Python.
type Arguments = (String, BTreeSet<String>);

impl PartialEq for Dim {
    fn eq(&self, other: &Dim) -> bool {
        self.canonical == other.canonical && self.integers == other.integers
    }
}

impl Eq for Dim {}

impl Dim {
    /// An expression as it is printed, with the symbols that it has.
    fn printed(text: String, integers: BTreeSet<String>) -> PyResult<Dim> {
        let mut symbols = Symbols::default();
        make(&mut symbols, &integers, names(&text)?);
        let dim = symbols.parse(&text).or_raise()?;
        let canonical = symbols.print(dim).to_string();
        Ok(Dim { text, integers, canonical })
    }

    /// An expression of symbols that may have bounds.
    fn of(symbols: &Symbols, dim: Engine) -> PyResult<Dim> {
        let negative = |name: &str| {
            let bounds = symbols.find(name).map(|symbol| symbols.bounds(symbol));
            bounds.and_then(Bounds::lower).is_none_or(|lower| lower < 0)
        };
        let names = symbols.symbols_of(dim).into_iter().map(|symbol| symbol.name.to_string());
        Dim::printed(symbols.print(dim).to_string(), names.filter(|name| negative(name)).collect())
    }

    /// Ranges of names, with those of the symbols that are no sizes.
    fn ranges(&self, mut ranges: Ranges) -> Ranges {
        for name in &self.integers {
            ranges.entry(name.clone()).or_insert((-i64::MAX, None));
        }
        ranges
    }

    fn parsed(&self) -> PyResult<(Symbols, Engine)> {
        let mut symbols = Symbols::default();
        make(&mut symbols, &self.integers, []);
        let dim = symbols.parse(&self.text).or_raise()?;
        Ok((symbols, dim))
    }
}

/// Conditions that are assumed.
pub(crate) fn claims(assume: &[String]) -> PyResult<Vec<Claim>> {
    assume.iter().map(|text| Claim::parse(text)).collect::<gradus::Result<_>>().or_raise()
}

/// Makes symbols: those that are integers, and sizes.
fn make(symbols: &mut Symbols, integers: &BTreeSet<String>, all: impl IntoIterator<Item = String>) {
    for name in all {
        if integers.contains(&name) {
            symbols.integer(&name)
        } else {
            symbols.named(&name)
        };
    }
    for name in integers {
        symbols.integer(name);
    }
}

/// The names of the symbols of an expression, in order.
fn names(text: &str) -> PyResult<Vec<String>> {
    let mut symbols = Symbols::default();
    symbols.parse(text).or_raise()?;
    let mut names: Vec<_> = symbols.symbols().iter().map(|symbol| symbol.name.to_string()).collect();
    names.sort();
    Ok(names)
}

/// An operand of an expression.
#[derive(FromPyObject)]
pub(crate) enum Operand {
    Number(i64),
    Expression(Py<Dim>),
}

/// An operation of [`Symbols`], which fails beyond 64 bits and where it divides by zero.
type DimFunction = fn(&mut Symbols, Engine, Engine) -> Option<Engine>;

impl Dim {
    /// The expressions of both operands, over symbols in the order of their names.
    fn with(&self, other: &Operand) -> PyResult<(Symbols, Engine, Engine)> {
        let mut symbols = Symbols::default();
        let (mut all, mut integers) = (names(&self.text)?, self.integers.clone());
        if let Operand::Expression(other) = other {
            all.extend(names(&other.get().text)?);
            integers.extend(other.get().integers.iter().cloned());
        }
        all.sort();
        make(&mut symbols, &integers, all);
        let own = symbols.parse(&self.text).or_raise()?;
        let other = match other {
            Operand::Number(number) => Engine::Known(*number),
            Operand::Expression(other) => symbols.parse(&other.get().text).or_raise()?,
        };
        Ok((symbols, own, other))
    }

    fn combined<'py>(
        &self,
        py: Python<'py>,
        other: &Operand,
        swapped: bool,
        operation: DimFunction,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (mut symbols, own, other) = self.with(other)?;
        let (a, b) = if swapped { (other, own) } else { (own, other) };
        let result = operation(&mut symbols, a, b).ok_or_else(|| {
            let (a, b) = (symbols.print(a), symbols.print(b));
            let what =
                format!("cannot combine {a} and {b}: it is too large, exceeds 64 bits or divides by zero");
            error(Kind::Limit, what)
        })?;
        to_python(py, &symbols, result)
    }
}

impl Dim {
    /// The expression that a text is; some of its names may be negative.
    pub(crate) fn of_text(text: &str, integers: &BTreeSet<String>) -> PyResult<Dim> {
        let mut symbols = Symbols::default();
        make(&mut symbols, integers, []);
        let dim = symbols.parse(text).or_raise()?;
        Dim::of(&symbols, dim)
    }
}

#[pymethods]
impl Dim {
    fn __add__<'py>(&self, py: Python<'py>, other: Operand) -> PyResult<Bound<'py, PyAny>> {
        self.combined(py, &other, false, Symbols::add)
    }

    fn __radd__<'py>(&self, py: Python<'py>, other: Operand) -> PyResult<Bound<'py, PyAny>> {
        self.combined(py, &other, true, Symbols::add)
    }

    fn __sub__<'py>(&self, py: Python<'py>, other: Operand) -> PyResult<Bound<'py, PyAny>> {
        self.combined(py, &other, false, Symbols::subtract)
    }

    fn __rsub__<'py>(&self, py: Python<'py>, other: Operand) -> PyResult<Bound<'py, PyAny>> {
        self.combined(py, &other, true, Symbols::subtract)
    }

    fn __mul__<'py>(&self, py: Python<'py>, other: Operand) -> PyResult<Bound<'py, PyAny>> {
        self.combined(py, &other, false, Symbols::multiply)
    }

    fn __rmul__<'py>(&self, py: Python<'py>, other: Operand) -> PyResult<Bound<'py, PyAny>> {
        self.combined(py, &other, true, Symbols::multiply)
    }

    fn __floordiv__<'py>(&self, py: Python<'py>, other: Operand) -> PyResult<Bound<'py, PyAny>> {
        self.combined(py, &other, false, Symbols::floor_divide)
    }

    fn __rfloordiv__<'py>(&self, py: Python<'py>, other: Operand) -> PyResult<Bound<'py, PyAny>> {
        self.combined(py, &other, true, Symbols::floor_divide)
    }

    fn __mod__<'py>(&self, py: Python<'py>, other: Operand) -> PyResult<Bound<'py, PyAny>> {
        self.combined(py, &other, false, Symbols::modulo)
    }

    fn __rmod__<'py>(&self, py: Python<'py>, other: Operand) -> PyResult<Bound<'py, PyAny>> {
        self.combined(py, &other, true, Symbols::modulo)
    }

    fn __neg__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.combined(py, &Operand::Number(0), true, Symbols::subtract)
    }

    fn __richcmp__<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
        comparison: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let answer = |answer: bool| Ok(PyBool::new(py, answer).to_owned().into_any());
        let Ok(operand) = other.extract::<Operand>() else {
            return Ok(py.NotImplemented().into_bound(py));
        };
        if matches!(comparison, CompareOp::Eq | CompareOp::Ne) {
            let same = matches!(&operand, Operand::Expression(other) if other.get() == self);
            return answer(same == matches!(comparison, CompareOp::Eq));
        }
        let (mut symbols, own, other) = self.with(&operand)?;
        // Each comparison says that a difference of the operands is at least 0, or at least 1.
        let (large, small, apart) = match comparison {
            CompareOp::Lt => (other, own, 1),
            CompareOp::Le => (other, own, 0),
            CompareOp::Gt => (own, other, 1),
            _ => (own, other, 0),
        };
        let holds = |symbols: &mut Symbols, large, small, apart| {
            symbols.subtract(large, small).is_some_and(|difference| symbols.never_below(difference, apart))
        };
        if holds(&mut symbols, large, small, apart) {
            return answer(true);
        }
        if holds(&mut symbols, small, large, 1 - apart) {
            return answer(false);
        }
        let what = format!("order of {} and {}", symbols.print(own), symbols.print(other));
        Err(mismatch(Kind::Value, what, "unknown", "one that holds for all sizes"))
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.canonical.hash(&mut hasher);
        hasher.finish()
    }

    /// Returns the expression for `sympy.sympify`; symbols are integers.
    fn _sympy_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("gradus._sympy")?.getattr("expression")?.call1((
            &self.text,
            self.symbols()?,
            self.integers.clone(),
        ))
    }

    #[new]
    #[pyo3(signature = (text, integers = BTreeSet::new()))]
    fn new(text: &str, integers: BTreeSet<String>) -> PyResult<Dim> {
        Dim::of_text(text, &integers)
    }

    /// The names of the symbols, in order.
    #[getter]
    fn symbols(&self) -> PyResult<Vec<String>> {
        names(&self.text)
    }

    /// The names of the symbols that may be negative.
    #[getter]
    fn integers(&self) -> BTreeSet<String> {
        self.integers.clone()
    }

    /// Returns the value for given numbers.
    ///
    /// Args:
    ///     values: numbers by name of a symbol.
    ///     **named: further numbers, as keywords.
    ///
    /// Returns:
    ///     The value, an integer.
    ///
    /// Raises:
    ///     UsageError: if a symbol has no number.
    ///     ArgumentError: if the value exceeds 64 bits, or a divisor is 0.
    ///
    /// Example:
    ///     >>> gradus.Dim("2*n + 2").evaluate(n=3)
    ///     8
    #[pyo3(signature = (values=None, /, **named))]
    fn evaluate(
        &self,
        values: Option<HashMap<String, i64>>,
        named: Option<HashMap<String, i64>>,
    ) -> PyResult<i64> {
        let mut all = values.unwrap_or_default();
        all.extend(named.unwrap_or_default());
        let (symbols, dim) = self.parsed()?;
        if let Some(missing) = self.symbols()?.into_iter().find(|name| !all.contains_key(name)) {
            return Err(error(Kind::Usage, format!("symbol \"{missing}\" of {} is not given", self.text)));
        }
        symbols.evaluate(dim, &|name| all.get(name).copied()).ok_or_else(|| {
            error(
                Kind::Value,
                format!("cannot evaluate {}: it overflows 64 bits or divides by zero", self.text),
            )
        })
    }

    /// Returns the canonical form under conditions.
    ///
    /// Args:
    ///     assume: conditions that hold: `"h % 32 == 0"`.
    ///     ranges: by name, the smallest and the largest number; `None` for no
    ///         largest.
    ///
    /// Returns:
    ///     An expression, or an integer if no symbol is left.
    ///
    /// Raises:
    ///     FormatError: if a condition cannot be read.
    ///
    /// Example:
    ///     >>> gradus.Dim("h//32*32").simplify(assume=["h % 32 == 0"])
    ///     Dim("h")
    #[pyo3(signature = (*, assume = Vec::new(), ranges = Ranges::new()))]
    fn simplify<'py>(
        &self,
        py: Python<'py>,
        assume: Vec<String>,
        ranges: Ranges,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut symbols = Symbols::assuming(&claims(&assume)?, &self.ranges(ranges)).or_raise()?;
        let dim = symbols.parse(&self.text).or_raise()?;
        to_python(py, &symbols, dim)
    }

    /// Returns the smallest and the largest value.
    ///
    /// Args:
    ///     assume: conditions that hold: `"h % 32 == 0"`.
    ///     ranges: by name, the smallest and the largest number; `None` for no
    ///         largest.
    ///     timeout: seconds after which an end is not sought any longer.
    ///
    /// Returns:
    ///     Both values; `None` for an end that is unknown.
    ///
    /// Raises:
    ///     FormatError: if a condition cannot be read.
    ///
    /// Example:
    ///     >>> gradus.Dim("n - n//8*8").bounds()
    ///     (0, 7)
    #[pyo3(signature = (*, assume = Vec::new(), ranges = Ranges::new(), timeout = None))]
    fn bounds(
        &self,
        py: Python<'_>,
        assume: Vec<String>,
        ranges: Ranges,
        timeout: Option<f64>,
    ) -> PyResult<(Option<i64>, Option<i64>)> {
        let (given, ranges) = (claims(&assume)?, self.ranges(ranges));
        let expression = Expression::parse(&self.text).or_raise()?;
        let limits = GivenLimits::of_time(timeout)?;
        let bounds = engine(py, || Ok(expression.bounds(&given, &ranges, Some(&limits)))).or_raise()?;
        Ok((bounds.lower(), bounds.upper()))
    }

    /// Solves an equation or inequality for a symbol.
    ///
    /// Args:
    ///     name: the symbol.
    ///     value: the other side: a number or an expression.
    ///     relation: what is between this expression and `value`: `"=="`,
    ///         `"<="`, `">="`, `"<"` or `">"`.
    ///     assume: conditions that hold: `"h % 32 == 0"`.
    ///     ranges: by name, the smallest and the largest number; `None` for no
    ///         largest.
    ///
    /// Returns:
    ///     The smallest and the largest value of the symbol, `None` for an open
    ///     end; a smallest above the largest if no value solves it. `None` in
    ///     place of the pair if it is not solved.
    ///
    /// Raises:
    ///     UsageError: if the relation is another text.
    ///     FormatError: if a condition cannot be read.
    ///
    /// Example:
    ///     >>> gradus.Dim("(h + 2)//4").solve_for("h", 8)
    ///     (30, 33)
    #[pyo3(signature = (name, value, relation = "==", *, assume = Vec::new(), ranges = Ranges::new()))]
    fn solve_for<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        value: Operand,
        relation: &str,
        assume: Vec<String>,
        ranges: Ranges,
    ) -> PyResult<Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
        if !matches!(relation, "==" | "<=" | ">=" | "<" | ">") {
            return Err(mismatch(Kind::Usage, "relation", relation, "==, <=, >=, < or >"));
        }
        let mut ranges = self.ranges(ranges);
        let value = match value {
            Operand::Number(value) => value.to_string(),
            Operand::Expression(other) => {
                ranges = other.get().ranges(ranges);
                other.get().text.clone()
            }
        };
        let given = claims(&assume)?;
        let mut symbols = Symbols::assuming(&given, &ranges).or_raise()?;
        let claim = Claim::parse(&format!("({}) {relation} ({value})", self.text)).or_raise()?;
        let solved = claim.solve_for(name, &given, &ranges, &mut symbols, None).or_raise()?;
        let Some(solved) = solved else { return Ok(None) };
        let end = |end: Option<Engine>| {
            end.map_or_else(|| Ok(py.None().into_bound(py)), |end| to_python(py, &symbols, end))
        };
        Ok(Some((end(solved.least)?, end(solved.most)?)))
    }

    /// Proves a condition for all integers that meet the assumptions.
    ///
    /// Args:
    ///     condition: two expressions with a comparison between them.
    ///     assume: conditions that hold: `"h % 32 == 0"`.
    ///     ranges: by name, the smallest and the largest number; `None` for no
    ///         largest.
    ///     timeout: seconds after which the answer is `False`.
    ///
    /// Returns:
    ///     `True` if there is a proof; `False` says nothing.
    ///
    /// Raises:
    ///     FormatError: if a condition cannot be read.
    ///
    /// Example:
    ///     >>> gradus.Dim.prove("n//8*8 <= n")
    ///     True
    #[staticmethod]
    #[pyo3(signature = (condition, *, assume = Vec::new(), ranges = Ranges::new(), timeout = None))]
    fn prove(
        py: Python<'_>,
        condition: &str,
        assume: Vec<String>,
        ranges: Ranges,
        timeout: Option<f64>,
    ) -> PyResult<bool> {
        Ok(decided(py, condition, &assume, &ranges, timeout)?.0 == "true")
    }

    /// Finds numbers that meet the assumptions and violate a condition.
    ///
    /// Args:
    ///     condition: two expressions with a comparison between them.
    ///     assume: conditions that hold: `"h % 32 == 0"`.
    ///     ranges: by name, the smallest and the largest number; `None` for no
    ///         largest.
    ///     timeout: seconds after which the search ends.
    ///
    /// Returns:
    ///     Numbers by name; `None` if none are found.
    ///
    /// Raises:
    ///     FormatError: if a condition cannot be read.
    ///
    /// Example:
    ///     >>> gradus.Dim.refute("n//8*8 == n")
    ///     {'n': 1}
    #[staticmethod]
    #[pyo3(signature = (condition, *, assume = Vec::new(), ranges = Ranges::new(), timeout = None))]
    fn refute(
        py: Python<'_>,
        condition: &str,
        assume: Vec<String>,
        ranges: Ranges,
        timeout: Option<f64>,
    ) -> PyResult<Option<BTreeMap<String, i64>>> {
        Ok(decided(py, condition, &assume, &ranges, timeout)?.1)
    }

    /// Returns the text in a dialect: `gradus`, `onnx`, `sympy` or `torch`.
    fn __format__(&self, dialect: &str) -> PyResult<String> {
        if dialect.is_empty() {
            return Ok(self.text.clone());
        }
        let (mut symbols, dim) = self.parsed()?;
        symbols.print_in(dialect.parse().or_raise()?);
        Ok(symbols.print(dim).to_string())
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    /// Returns the expression, as notebooks show it.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let text: String = py.import("html")?.call_method1("escape", (&*self.text,))?.extract()?;
        Ok(format!("<code>{text}</code>"))
    }

    fn __repr__(&self) -> String {
        if self.integers.is_empty() {
            return format!("Dim({:?})", self.text);
        }
        format!("Dim({:?}, {:?})", self.text, self.integers)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Arguments)> {
        Ok((py.get_type::<Dim>().into_any(), (self.text.clone(), self.integers.clone())))
    }
}

/// An integer, or an expression.
pub(crate) fn to_python<'py>(py: Python<'py>, symbols: &Symbols, dim: Engine) -> PyResult<Bound<'py, PyAny>> {
    Ok(match dim {
        Engine::Known(value) => value.into_pyobject(py)?.into_any(),
        Engine::Symbolic(_) => Bound::new(py, Dim::of(symbols, dim)?)?.into_any(),
    })
}

/// A size given by Python: an integer, a name or an expression, `None` for any.
pub(crate) fn size(object: &Bound<'_, PyAny>) -> PyResult<DeclaredDim> {
    if object.is_none() {
        return Ok(DeclaredDim::Unknown);
    }
    if let Ok(dim) = object.cast::<Dim>() {
        return Ok(DeclaredDim::Symbol(dim.get().text.as_str().into()));
    }
    if let Ok(text) = object.cast::<PyString>() {
        let text = text.to_str()?;
        Symbols::default().parse(text).or_raise()?;
        return Ok(DeclaredDim::Symbol(text.into()));
    }
    let Ok(len) = object.cast::<PyInt>() else {
        let got = type_name(object);
        let got = format_args!("of type {got}");
        return Err(mismatch(Kind::Type, "a size", got, "a number, a name or None"));
    };
    let known = len.extract::<i64>().ok().and_then(convert::usize_of_i64);
    known
        .map(DeclaredDim::Known)
        .ok_or_else(|| mismatch(Kind::Value, "a size", len, "a number from 0 to 2^63 - 1"))
}

/// Dimensions that Python gives; `None` for any number of them.
pub(crate) fn sizes(object: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Vec<DeclaredDim>>> {
    let Some(object) = object.filter(|object| !object.is_none()) else { return Ok(None) };
    object.try_iter()?.map(|each| size(&each?)).collect::<PyResult<_>>().map(Some)
}

/// Symbols by name, with the numbers that they stand for.
pub(crate) fn numbers(dims: Option<&Bound<'_, PyDict>>) -> PyResult<BTreeMap<String, i64>> {
    dims.map_or_else(|| Ok(BTreeMap::new()), |dims| dims.extract())
}
