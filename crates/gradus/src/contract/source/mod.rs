//! Contracts as functions of other languages.
//!
//! Every language gets the same calls: a formula is nested calls of checked functions that return
//! nothing where the result exceeds 64 bits or divides by zero, in the order in which
//! [`Symbols::evaluate`](crate::dim::Symbols::evaluate) computes. Text from the model is in
//! comments of one line and in string literals, escaped.

mod c;
mod python;
mod rust;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use gradus_core::{DType, text};

use super::{
    Contract, ContractCondition, ContractElement, ContractInput, ContractOutput, OutputCase, OutputSize,
};
use crate::dim::{Condition, Dim, Factor, Relation};

/// A language that contracts are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Language {
    /// A module of Rust, without dependencies and without `std`.
    Rust,
    /// A header of C99, which C++ takes too.
    C,
    /// A module of Python 3.10, with annotations.
    Python,
}

gradus_core::names!(Language, "language" { Rust = "rust", C = "c", Python = "python" });

impl Contract {
    /// The contract as source text. The title, the name of the model's file, is in a comment, and
    /// names of C begin with it.
    pub fn source(&self, language: Language, title: &str) -> String {
        match language {
            Language::Rust => rust::source(self, title),
            Language::C => c::source(self, title),
            Language::Python => python::source(self, title),
        }
    }
}

/// A condition that is checked, as written.
struct SourceCheck {
    holds: String,
    text: String,
    place: String,
    /// Variables of elements that must be given for it to be checked.
    given: Vec<String>,
}

impl SourceCheck {
    /// The beginning of a statement that checks it where its elements are given: `if`, and for each
    /// of them a test.
    fn guard(&self, test: impl Fn(&str) -> String, and: &str) -> Option<String> {
        let tests: Vec<_> = self.given.iter().map(|variable| test(variable)).collect();
        (!tests.is_empty()).then(|| tests.join(and))
    }
}

/// A field of the result: a number, or the sizes of a tensor.
struct StructField {
    name: String,
    /// A comment.
    about: String,
    /// Formulas; nothing where none is known.
    values: Vec<Option<String>>,
    /// True if they are sizes.
    is_shape: bool,
    /// True if any of them may be unknown.
    is_partial: bool,
}

/// Formulas in a language.
struct FormulaWriter<'a> {
    contract: &'a Contract,
    language: Language,
    /// The beginning of the names of functions.
    prefix: String,
    /// Functions that are called.
    used: BTreeSet<&'static str>,
}

impl<'a> FormulaWriter<'a> {
    fn new(contract: &'a Contract, language: Language, prefix: &str) -> FormulaWriter<'a> {
        FormulaWriter { contract, language, prefix: prefix.to_owned(), used: BTreeSet::new() }
    }

    /// The call of a function.
    fn call(&mut self, name: &'static str, arguments: &[&str]) -> String {
        self.used.insert(name);
        format!("{}({})", self.function(name), arguments.join(", "))
    }

    /// The name of a function.
    fn function(&self, name: &str) -> String {
        match self.language {
            Language::Rust => name.to_owned(),
            Language::Python => format!("_{name}"),
            // No argument has a capital, so none hides a function.
            Language::C => {
                let words = name.split('_').map(|word| format!("{}{}", word[..1].to_uppercase(), &word[1..]));
                format!("{}_{}", self.prefix, words.collect::<String>())
            }
        }
    }

    /// An integer of the language.
    fn literal(&self, value: i64) -> String {
        match self.language {
            Language::Rust if value == i64::MIN => "i64::MIN".to_owned(),
            Language::C if value == i64::MIN => "INT64_MIN".to_owned(),
            Language::C if i32::try_from(value).is_err() => format!("INT64_C({value})"),
            Language::Rust | Language::C | Language::Python => value.to_string(),
        }
    }

    /// An integer, or an expression of that type, as an operand of formulas.
    fn operand(&mut self, integer: &str) -> String {
        match self.language {
            Language::Rust => format!("Some({integer})"),
            Language::C => self.call("number", &[integer]),
            Language::Python => integer.to_owned(),
        }
    }

    fn number(&mut self, value: i64) -> String {
        let literal = self.literal(value);
        self.operand(&literal)
    }

    fn formula(&mut self, dim: Dim) -> String {
        self.formula_with(dim, false)
    }

    /// A formula; where symbols are raised, those below 1 count as 1.
    fn formula_with(&mut self, dim: Dim, raised: bool) -> String {
        let contract = self.contract;
        let form = contract.symbols.form(dim);
        let mut total = (form.constant != 0).then(|| self.number(form.constant));
        for (coefficient, factors) in form.products {
            let mut product = (coefficient != 1).then(|| self.number(coefficient));
            for factor in factors {
                let factor = self.factor(factor, raised);
                product = Some(match product {
                    Some(product) => self.call("multiply", &[&product, &factor]),
                    None => factor,
                });
            }
            let product = product.unwrap_or_else(|| self.number(coefficient));
            total = Some(match total {
                Some(total) => self.call("add", &[&total, &product]),
                None => product,
            });
        }
        total.unwrap_or_else(|| self.number(0))
    }

    fn factor(&mut self, factor: Factor<'_>, raised: bool) -> String {
        let (name, operands) = match factor {
            Factor::Symbol(index) => {
                let name = self.contract.variables.get(&index).cloned().unwrap_or_default();
                let is_parameter = self.contract.parameters.iter().any(|(parameter, _)| *parameter == index);
                let name = if is_parameter { self.operand(&name) } else { name };
                if !raised {
                    return name;
                }
                let one = self.number(1);
                return self.call("max", &[&name, &one]);
            }
            Factor::Floor(a, b) => ("floor_divide", vec![a, b]),
            Factor::Min(all) => ("min", all.to_vec()),
            Factor::Max(all) => ("max", all.to_vec()),
            Factor::Broadcast(a, b) => ("broadcast", vec![a, b]),
        };
        let mut operands = operands.into_iter().map(|dim| self.formula_with(dim, raised)).collect::<Vec<_>>();
        let first = operands.remove(0);
        operands.into_iter().fold(first, |result, operand| self.call(name, &[&result, &operand]))
    }

    /// Axes that give symbols their numbers: the variable, the argument and the axis.
    fn definitions(&self) -> Vec<(String, String, usize)> {
        let mut defined = BTreeSet::new();
        let mut definitions = Vec::new();
        for input in &self.contract.inputs {
            for (axis, &dim) in input.shape.iter().enumerate() {
                let index = self.symbol_alone(dim).filter(|index| defined.insert(*index));
                if let Some(name) = index.and_then(|index| self.contract.variables.get(&index)) {
                    definitions.push((name.clone(), input.argument.clone(), axis));
                }
            }
        }
        definitions
    }

    fn symbol_alone(&self, dim: Dim) -> Option<usize> {
        self.contract.symbols.as_symbol_index(dim).map(gradus_core::convert::usize_of_u32)
    }

    /// The checks of axes, and then the conditions.
    fn checks(&mut self) -> Vec<SourceCheck> {
        let contract = self.contract;
        let definitions = self.definitions();
        let mut checks = Vec::new();
        for ContractInput { name, argument, shape, .. } in &contract.inputs {
            for (axis, &dim) in shape.iter().enumerate() {
                if definitions.iter().any(|(_, of, at)| of == argument && *at == axis) {
                    continue;
                }
                let size = contract.symbols.print(dim);
                let left = self.operand(&format!("{argument}[{axis}]"));
                let right = self.formula(dim);
                checks.push(SourceCheck {
                    holds: self.call(Self::relation(Relation::Equal), &[&left, &right]),
                    text: text::escaped(&format!("size of axis {axis} of input \"{name}\" is {size}")).into(),
                    place: "the inputs".to_owned(),
                    given: Vec::new(),
                });
            }
        }
        for of in contract.conditions.iter().chain(&contract.of_elements) {
            let ContractCondition { condition, when, text, place } = of;
            let used = contract.used_symbols(&of.sides().collect::<Vec<_>>());
            let given = contract.elements.iter().filter(|element| used.contains(&element.index));
            let holds = self.holds(condition);
            let holds = when.iter().rev().fold(holds, |holds, guard| {
                let guard = self.holds(guard);
                self.call("implies", &[&guard, &holds])
            });
            checks.push(SourceCheck {
                holds,
                text: text::escaped(text).into(),
                place: text::escaped(place).into(),
                given: given.map(|element| element.variable.clone()).collect(),
            });
        }
        checks
    }

    /// The call that tells whether a condition holds.
    fn holds(&mut self, condition: &Condition) -> String {
        let (left, right) = (self.formula(condition.left), self.formula(condition.right));
        self.call(Self::relation(condition.relation), &[&left, &right])
    }

    /// The name of the function that checks a relation.
    fn relation(relation: Relation) -> &'static str {
        match relation {
            Relation::Equal => "equal",
            Relation::AtMost => "at_most",
            Relation::AtLeast => "at_least",
            Relation::Broadcast => "broadcasts",
            Relation::NotEqual => "unequal",
        }
    }

    /// The fields of the result.
    fn fields(&mut self) -> Vec<StructField> {
        let contract = self.contract;
        let mut fields = Vec::new();
        for output in &contract.outputs {
            let about = describe(contract, output);
            let field = &output.field;
            let mut push = |ending: &str, about: &str, values, [is_shape, is_partial]: [bool; 2]| {
                let (name, about) = (format!("{field}{ending}"), about.to_owned());
                fields.push(StructField { name, about, values, is_shape, is_partial });
            };
            if let Some(shape) = &output.shape {
                let sizes: Option<Vec<_>> = shape.iter().map(|size| exact(*size)).collect();
                if let Some(sizes) = sizes {
                    let sizes = sizes.into_iter().enumerate();
                    let sizes =
                        sizes.map(|(axis, dim)| self.of_cases(output, dim, |case| Some(case.shape[axis])));
                    push("", &about, sizes.map(Some).collect(), [true, false]);
                } else {
                    let least = shape.iter().map(|size| match *size {
                        OutputSize::Exact(dim) => Some(self.formula(dim)),
                        OutputSize::Between(least, _) => Some(self.number(least)),
                    });
                    let least = least.collect();
                    let most = shape.iter().map(|size| match *size {
                        OutputSize::Exact(dim) => Some(self.formula(dim)),
                        OutputSize::Between(_, most) => most.map(|most| self.formula(most)),
                    });
                    let most = most.collect();
                    push("_min", &format!("Smallest sizes of {about}"), least, [true, false]);
                    push("_max", "Largest sizes, as far as they are known.", most, [true, true]);
                }
            }
            match output.bytes {
                Some(OutputSize::Exact(dim)) => {
                    let bytes = self.of_cases(output, dim, |case| case.bytes);
                    push("_bytes", "Bytes of the output.", vec![Some(bytes)], [false; 2]);
                }
                Some(OutputSize::Between(_, most)) => {
                    let most = most.map(|most| self.formula(most));
                    push("_bytes_max", "Most bytes of the output, if known.", vec![most], [false, true]);
                }
                None => {}
            }
        }
        let mut push = |name: &str, about: &str, value, is_partial| {
            let (name, about, values) = (name.to_owned(), about.to_owned(), vec![value]);
            fields.push(StructField { name, about, values, is_shape: false, is_partial });
        };
        if let Some(bytes) = contract.input_bytes {
            push("input_bytes", "Bytes of the inputs.", Some(self.formula(bytes)), false);
        }
        let peak = contract.peak_bytes.map(|peak| self.formula_with(peak, true));
        push("peak_bytes", "Most bytes of values of nodes at one time, if known.", peak, true);
        fields
    }

    /// A number of an output: that of the first of its cases whose conditions hold, or else the
    /// formula.
    fn of_cases(
        &mut self,
        output: &ContractOutput,
        dim: Dim,
        of: impl Fn(&OutputCase) -> Option<Dim>,
    ) -> String {
        let formula = self.formula(dim);
        let cases = output.cases.iter().rev().filter_map(|case| Some((case, of(case)?)));
        cases.filter(|(_, other)| *other != dim).fold(formula, |formula, (case, dim)| {
            let when: Vec<_> = case.when.iter().map(|of| self.holds(of)).collect();
            let when = when.into_iter().reduce(|a, b| self.call("both", &[&a, &b])).unwrap_or_default();
            let there = self.formula(dim);
            self.call("pick", &[&when, &there, &formula])
        })
    }

    /// The symbols that the peak must not have at 0, if its formula is no bound there.
    fn positive_symbols(&mut self) -> Vec<String> {
        let contract = self.contract;
        if contract.grows || contract.peak_bytes.is_none() {
            return Vec::new();
        }
        let may_be_zero =
            |index: usize| contract.symbols.bounds_of_symbol(index).lower().is_none_or(|least| least < 1);
        let is_size = |index: &usize| contract.elements.iter().all(|element| element.index != *index);
        let variables = contract.variables.keys().copied().filter(is_size);
        let variables: Vec<_> = variables.filter(|&index| may_be_zero(index)).collect();
        variables.into_iter().map(|index| self.factor(Factor::Symbol(index), false)).collect()
    }

    /// Comments at the head of the file, a line each.
    fn head(&self, title: &str) -> Vec<String> {
        let mut lines = vec![format!("Model \"{}\".", text::escaped(title))];
        for ContractInput { name, argument, dtype, shape } in &self.contract.inputs {
            let sizes: Vec<_> =
                shape.iter().map(|&dim| self.contract.symbols.print(dim).to_string()).collect();
            let dtype = dtype.map_or("?", DType::name);
            let line =
                format!("Argument {argument}: sizes of input \"{name}\", {dtype}[{}].", sizes.join(", "));
            lines.push(text::escaped(&line).into());
        }
        for (symbol, argument) in self.contract.parameters() {
            lines.push(text::escaped(&format!("Argument {argument}: the symbol \"{symbol}\".")).into());
        }
        for ContractElement { argument, text, .. } in &self.contract.elements {
            let line =
                format!("Argument {argument}: {text}; conditions about it are checked where it is given.");
            lines.push(text::escaped(&line).into());
        }
        for output in self.contract.outputs.iter().filter(|output| output.shape.is_none()) {
            lines.push(format!("Not known: {}", describe(self.contract, output)));
        }
        if !self.contract.unchecked.is_empty() {
            lines.push("Not checked, because Gradus does not derive them from sizes alone:".to_owned());
        }
        for unchecked in &self.contract.unchecked {
            lines.push(format!("  {} ({})", text::escaped(&unchecked.text), text::escaped(&unchecked.place)));
        }
        lines
    }
}

fn exact(size: OutputSize) -> Option<Dim> {
    match size {
        OutputSize::Exact(dim) => Some(dim),
        OutputSize::Between(..) => None,
    }
}

/// An output in words, with the reasons for sizes that are not exact.
fn describe(contract: &Contract, output: &ContractOutput) -> String {
    let dtype = output.dtype.map_or("?", DType::name);
    let print = |dim: &Dim| contract.symbols.print(*dim).to_string();
    let listed = |sizes: Vec<String>| format!("[{}]", sizes.join(", "));
    let size = |size: &OutputSize| match size {
        OutputSize::Exact(dim) => print(dim),
        OutputSize::Between(least, Some(most)) => format!("{least}..{}", print(most)),
        OutputSize::Between(least, None) => format!("{least}.."),
    };
    let shape = output.shape.as_ref().map(|shape| listed(shape.iter().map(size).collect()));
    let mut shape = shape.unwrap_or_else(|| "[...]".to_owned());
    for case in &output.cases {
        let when: Vec<_> = case.when.iter().map(|of| contract.symbols.print_condition(of)).collect();
        let sizes = listed(case.shape.iter().map(print).collect());
        let _ = write!(shape, ", {sizes} if {}", when.join(" and "));
    }
    let reasons =
        if output.reasons.is_empty() { String::new() } else { format!(" ({})", output.reasons.join("; ")) };
    text::escaped(&format!("output \"{}\", {dtype}{shape}{reasons}.", output.name)).into()
}
