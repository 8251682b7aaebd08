//! The table of formulas: every expression of a page once, in a form that its script evaluates.

use foldhash::HashMap;
use gradus::Dim;
use gradus::dim::{Condition, Factor, Origin, Symbols};
use serde::{Serialize, Serializer};

/// Integers that every double near them is exact for: JSON numbers of scripts.
const EXACT: i128 = 1 << 53;

/// An integer: a JSON number where scripts read it exactly, otherwise text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Exact(pub(crate) i128);

impl Serialize for Exact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match i64::try_from(self.0) {
            Ok(value) if self.0.abs() < EXACT => serializer.serialize_i64(value),
            _ => serializer.collect_str(&self.0),
        }
    }
}

/// A relation of two expressions, by their indices.
#[derive(Debug, Serialize)]
pub(crate) struct PageRelation {
    left: usize,
    #[serde(rename = "relation")]
    sign: &'static str,
    right: usize,
}

/// An entry of the table. Operands are indices of earlier entries.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum FormulaEntry {
    Number(Exact),
    /// A symbol, by its index in the list of the page.
    Symbol(usize),
    Floor([usize; 2]),
    Min(Vec<usize>),
    Max(Vec<usize>),
    Broadcast([usize; 2]),
    /// Products: a coefficient, and factors.
    Sum(Vec<(Exact, Vec<usize>)>),
}

impl Serialize for FormulaEntry {
    /// `7`, `["s", 0]`, `["/", 3, 4]`, `["min", 1, 2]`, `["max", 1, 2]`, `["b", 1, 2]` and
    /// `["+", [2, 5], [1]]`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let named = |name: &str, operands: &[usize], serializer: S| {
            let operands = operands.iter().map(|&index| EntryItem::Index(index));
            serializer.collect_seq([EntryItem::Name(name)].into_iter().chain(operands))
        };
        match self {
            FormulaEntry::Number(value) => value.serialize(serializer),
            FormulaEntry::Symbol(index) => named("s", &[*index], serializer),
            FormulaEntry::Floor(operands) => named("/", operands, serializer),
            FormulaEntry::Min(operands) => named("min", operands, serializer),
            FormulaEntry::Max(operands) => named("max", operands, serializer),
            FormulaEntry::Broadcast(operands) => named("b", operands, serializer),
            FormulaEntry::Sum(products) => {
                let products = products.iter().map(|(coefficient, factors)| {
                    let factors = factors.iter().map(|&index| EntryItem::Index(index));
                    EntryItem::List([EntryItem::Number(*coefficient)].into_iter().chain(factors).collect())
                });
                serializer.collect_seq([EntryItem::Name("+")].into_iter().chain(products))
            }
        }
    }
}

/// An element of the list that an entry is.
#[derive(Serialize)]
#[serde(untagged)]
enum EntryItem<'a> {
    Name(&'a str),
    Index(usize),
    Number(Exact),
    List(Vec<EntryItem<'a>>),
}

/// A symbol that formulas of the page have.
#[derive(Debug, Serialize)]
pub(crate) struct SymbolJson {
    pub(crate) name: String,
    /// `input`, `data` or `unknown`.
    pub(crate) origin: &'static str,
    /// How the data decide it, or why nothing is known of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<Exact>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<Exact>,
    /// The formula that it is at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<usize>,
}

/// The formulas of a page.
#[derive(Debug)]
pub(crate) struct Formulas<'a> {
    symbols: &'a Symbols,
    entries: Vec<FormulaEntry>,
    by_entry: HashMap<FormulaEntry, usize>,
    by_dim: HashMap<Dim, usize>,
    /// The text of each entry that stands for a whole expression.
    texts: Vec<Option<String>>,
    /// Symbols by their index in `symbols`, and those of the page in order.
    by_symbol: HashMap<usize, usize>,
    used: Vec<usize>,
}

impl<'a> Formulas<'a> {
    /// An empty table of formulas in these symbols.
    pub(crate) fn new(symbols: &'a Symbols) -> Formulas<'a> {
        Formulas {
            symbols,
            entries: Vec::new(),
            by_entry: HashMap::default(),
            by_dim: HashMap::default(),
            texts: Vec::new(),
            by_symbol: HashMap::default(),
            used: Vec::new(),
        }
    }

    /// The index of an expression in the table.
    pub(crate) fn index(&mut self, dim: Dim) -> usize {
        if let Some(&index) = self.by_dim.get(&dim) {
            return index;
        }
        let form = self.symbols.form(dim);
        let mut products = Vec::with_capacity(form.products.len() + 1);
        for (coefficient, factors) in form.products {
            let factors: Vec<_> = factors.into_iter().map(|factor| self.factor(factor)).collect();
            products.push((Exact(coefficient.into()), factors));
        }
        let index = match (&products[..], form.constant) {
            ([], constant) => self.entry(FormulaEntry::Number(Exact(constant.into()))),
            ([(Exact(1), factors)], 0) if factors.len() == 1 => factors[0],
            (_, constant) => {
                if constant != 0 {
                    products.push((Exact(constant.into()), Vec::new()));
                }
                self.entry(FormulaEntry::Sum(products))
            }
        };
        if dim.known().is_none() {
            self.texts[index] = Some(self.symbols.print(dim).to_string());
        }
        self.by_dim.insert(dim, index);
        index
    }

    /// A relation of two expressions.
    pub(crate) fn relation(&mut self, of: &Condition) -> PageRelation {
        PageRelation { left: self.index(of.left), sign: of.relation.symbol(), right: self.index(of.right) }
    }

    fn factor(&mut self, factor: Factor<'_>) -> usize {
        let entry = match factor {
            Factor::Symbol(symbol) => {
                let next = self.used.len();
                let index = *self.by_symbol.entry(symbol).or_insert(next);
                if index == next {
                    self.used.push(symbol);
                }
                FormulaEntry::Symbol(index)
            }
            Factor::Floor(a, b) => FormulaEntry::Floor([self.index(a), self.index(b)]),
            Factor::Broadcast(a, b) => FormulaEntry::Broadcast([self.index(a), self.index(b)]),
            Factor::Min(all) => FormulaEntry::Min(all.iter().map(|&dim| self.index(dim)).collect()),
            Factor::Max(all) => FormulaEntry::Max(all.iter().map(|&dim| self.index(dim)).collect()),
        };
        self.entry(entry)
    }

    fn entry(&mut self, entry: FormulaEntry) -> usize {
        if let Some(&index) = self.by_entry.get(&entry) {
            return index;
        }
        self.entries.push(entry.clone());
        self.texts.push(None);
        self.by_entry.insert(entry, self.entries.len() - 1);
        self.entries.len() - 1
    }

    /// The symbols, the table, and the texts of its formulas.
    pub(crate) fn finish(mut self) -> Table {
        let mut symbols: Vec<SymbolJson> = Vec::new();
        // A limit may have symbols of its own, which then come last.
        while let Some(&symbol) = self.used.get(symbols.len()) {
            let limit = self.symbols.limit_of(symbol).map(|dim| self.index(dim));
            let bounds = self.symbols.bounds_of_symbol(symbol);
            let known = &self.symbols.symbols()[symbol];
            let (origin, why) = match &known.origin {
                Origin::Data(why) => ("data", Some(why)),
                Origin::Unknown(why) => ("unknown", Some(why)),
                Origin::Input => ("input", None),
            };
            symbols.push(SymbolJson {
                name: gradus::text::escaped(&known.name).into_owned(),
                origin,
                why: why.map(|why| gradus::text::escaped(why).into_owned()),
                min: bounds.lower().map(|bound| Exact(bound.into())),
                max: bounds.upper().map(|bound| Exact(bound.into())),
                limit,
            });
        }
        let texts = self.texts.into_iter().enumerate();
        let texts = texts.filter_map(|(index, text)| Some((index, text?)));
        let texts = texts.map(|(index, text)| (index, gradus::text::escaped(&text).into_owned())).collect();
        Table { symbols, formulas: self.entries, texts }
    }
}

/// The finished table.
#[derive(Debug, Serialize)]
pub(crate) struct Table {
    pub(crate) symbols: Vec<SymbolJson>,
    formulas: Vec<FormulaEntry>,
    /// Formulas as text, by index.
    texts: Vec<(usize, String)>,
}
