//! Laws: when outputs of an operator are other terms, bit for bit.
//!
//! Each law says what it makes equal, of which operators, and why it holds. None is a rule of
//! folding; `crates/gradus/tests/fold/laws.rs` holds those of elements against runs on all numbers
//! of 16 bits.

/// Makes the table of laws of a file, a row each: the difference that the law allows, its name,
/// the operators whose calls it looks at, and its function; what it says, and why it holds.
macro_rules! laws {
    ($($up_to:ident $name:literal $operators:expr => $apply:expr, $says:literal, $why:expr;)*) => {
        pub(super) const LAWS: &[super::Law] = &[$(super::Law {
            name: $name,
            operators: &$operators,
            says: $says,
            why: $why,
            up_to: crate::UpTo::$up_to,
            apply: $apply,
        }),*];
    };
}

mod choices;
mod elements;
mod evaluate;
mod layout;
mod reals;
mod reductions;
mod zeros;

use std::sync::Arc;

use gradus_core::convert::{Rules, i64_of};
use gradus_core::graph::Standard;
use gradus_core::{DType, Number, Shape, Tensor};
use gradus_engine::operators::{Row, registry};

use crate::UpTo;
use crate::attributes::{self, AttributesKey, ContentKey};
use crate::table::{Arguments, Info, Operator, Term, TermId};
use crate::terms::Terms;

/// An operator that is applied, in its newest form.
#[derive(Clone)]
pub struct Call {
    pub operator: Arc<Operator>,
    pub row: &'static Row,
    pub arguments: Arguments,
    /// What is known of each output.
    pub infos: Vec<Info>,
}

impl PartialEq for Call {
    fn eq(&self, other: &Call) -> bool {
        self.operator == other.operator && self.arguments == other.arguments
    }
}

impl Call {
    /// The argument with this index, if it is given.
    pub fn argument(&self, index: usize) -> Option<TermId> {
        self.arguments.get(index).copied().flatten()
    }

    /// The attributes.
    pub fn attributes(&self) -> &AttributesKey {
        &self.operator.attributes
    }

    /// The attributes, to change them.
    pub fn attributes_mut(&mut self) -> &mut AttributesKey {
        &mut Arc::make_mut(&mut self.operator).attributes
    }

    /// An attribute, or its default.
    pub fn attribute(&self, name: &str) -> Option<ContentKey> {
        let given = attributes::get(self.attributes(), name).cloned();
        given.or_else(|| attributes::default_of(self.row, name))
    }

    /// An integer attribute, or its default.
    pub fn int(&self, name: &str) -> Option<i64> {
        if let ContentKey::Int(value) = self.attribute(name)? { Some(value) } else { None }
    }

    /// Returns true if an integer attribute or its default is not 0.
    pub fn is_set(&self, name: &str) -> bool {
        self.int(name).is_some_and(|value| value != 0)
    }

    /// Returns true if an attribute or its default is that text.
    pub fn says(&self, name: &str, text: &str) -> bool {
        matches!(self.attribute(name), Some(ContentKey::Text(own)) if *own == *text.as_bytes())
    }

    /// Returns true if an attribute is given.
    pub fn has(&self, name: &str) -> bool {
        attributes::get(self.attributes(), name).is_some()
    }

    /// Removes attributes.
    pub fn drop(&mut self, names: &[&str]) {
        if names.iter().any(|name| self.has(name)) {
            self.attributes_mut().retain(|(own, _)| !names.contains(&&**own));
        }
    }

    /// The name of the operator; empty for those of other domains.
    pub fn name(&self) -> &str {
        if self.operator.domain.is_empty() { &self.operator.name } else { "" }
    }

    /// Returns true if it has the operator of that name.
    pub fn is(&self, name: &str) -> bool {
        self.name() == name
    }
}

/// Finds terms of the outputs, or writes the call in the one form that equal ones have.
type Apply = fn(&mut Terms<'_>, &mut Call) -> Option<Vec<TermId>>;

/// A law.
pub struct Law {
    /// Its name.
    pub name: &'static str,
    /// The operators whose calls it looks at; none if it looks at all.
    pub operators: &'static [&'static str],
    /// What it makes equal, under which condition.
    pub says: &'static str,
    /// Why it holds, bit for bit unless said otherwise.
    pub why: &'static str,
    /// The difference that it allows.
    pub up_to: UpTo,
    /// The terms that it makes the outputs of a call, if its condition holds.
    pub(crate) apply: Apply,
}

const TABLES: [&[Law]; 7] =
    [layout::LAWS, choices::LAWS, evaluate::LAWS, zeros::LAWS, elements::LAWS, reductions::LAWS, reals::LAWS];

/// All laws.
pub fn all() -> impl Iterator<Item = &'static Law> {
    TABLES.iter().copied().flatten()
}

/// The laws that look at a call, of proofs up to something.
pub fn of(call: &Call, up_to: UpTo) -> impl Iterator<Item = &'static Law> {
    let looks = |law: &Law| law.operators.is_empty() || law.operators.contains(&call.name());
    all().filter(move |law| law.up_to <= up_to && looks(law))
}

/// The laws of those names, if all look at a call and stand in their order.
pub fn named(call: &Call, up_to: UpTo, names: &[Box<str>]) -> Option<Vec<&'static Law>> {
    let mut all = of(call, up_to);
    names.iter().map(|name| all.find(|law| law.name == &**name)).collect()
}

/// Maximum number of laws within one another: terms are views of views only so often.
const MAX_NESTED: usize = 64;

/// Laws that write a call in the one form whatever the sizes of its outputs are.
const FORMS: [&str; 6] =
    ["axes-of-view", "axis", "commutative", "default-attributes", "default-inputs", "kernel"];

/// Writes a call in the one form, whatever is known of its outputs.
pub fn form(terms: &mut Terms<'_>, call: &mut Call) {
    let forms: Vec<_> = of(call, terms.up_to).filter(|law| FORMS.contains(&law.name)).collect();
    for law in forms {
        (law.apply)(terms, call);
    }
}

/// The outputs of a call as such, in the one form.
pub fn formed(terms: &mut Terms<'_>, mut call: Call) -> Vec<TermId> {
    form(terms, &mut call);
    let outputs = terms.plain(call);
    terms.formed.extend(&outputs);
    outputs
}

/// The terms of the outputs of a call.
pub fn apply(terms: &mut Terms<'_>, mut call: Call) -> Vec<TermId> {
    if terms.nested >= MAX_NESTED {
        return terms.plain(call);
    }
    terms.nested += 1;
    let found = if terms.trail.is_off() {
        let laws: Vec<_> = of(&call, terms.up_to).collect();
        let found = laws.into_iter().find_map(|law| (law.apply)(terms, &mut call));
        found.unwrap_or_else(|| terms.plain(call))
    } else {
        terms.traced(call)
    };
    terms.nested -= 1;
    found
}

impl Terms<'_> {
    /// The outputs of a call as such.
    pub fn plain(&mut self, call: Call) -> Vec<TermId> {
        let Call { operator, arguments, infos, .. } = call;
        let output = |(slot, info): (usize, Info)| {
            self.table.intern(Term::Apply(operator.clone(), arguments.clone(), slot), info)
        };
        infos.into_iter().enumerate().map(output).collect()
    }

    /// The only output of a call of one operator and these arguments.
    pub fn only(&mut self, call: &Call, arguments: Arguments, info: Info) -> Option<TermId> {
        let call = Call { arguments, infos: vec![info], ..call.clone() };
        apply(self, call).first().copied()
    }

    /// The term of a number of a type.
    pub fn number(&mut self, dtype: DType, value: f64) -> Option<TermId> {
        let one = [Number::Float(value)];
        let scalar = Tensor::from_numbers(dtype, Shape::new([]).ok()?, one, Rules::IEEE).ok()?;
        Some(self.table.tensor(&scalar))
    }

    /// The term of a list of axes.
    pub fn axes(&mut self, axes: impl IntoIterator<Item = usize>) -> TermId {
        let axes: Vec<i64> = axes.into_iter().map(i64_of).collect();
        self.table.tensor(&Tensor::vector(&axes))
    }

    /// The only output of one of ONNX's operators without attributes.
    pub fn operation(&mut self, name: &str, arguments: &[TermId], info: Info) -> Option<TermId> {
        self.operation_with(name, AttributesKey::new(), arguments, info)
    }

    /// The only output of one of ONNX's operators.
    pub fn operation_with(
        &mut self,
        name: &str,
        attributes: AttributesKey,
        arguments: &[TermId],
        info: Info,
    ) -> Option<TermId> {
        let row = registry::row(Standard::Onnx, "", name)?;
        let operator = Operator { domain: "".into(), name: name.into(), version: 0, attributes };
        let arguments = arguments.iter().copied().map(Some).collect();
        let call = Call { operator: Arc::new(operator), row, arguments, infos: vec![info] };
        apply(self, call).first().copied()
    }

    /// The call that a term is the output of, and the number of the output.
    pub fn applied(&self, id: TermId) -> Option<(&Operator, &[Option<TermId>], usize)> {
        match self.table.term(id) {
            Term::Apply(operator, arguments, slot) => Some((operator, arguments, *slot)),
            _ => None,
        }
    }

    /// The arguments of a term that is the output of one of ONNX's own operators.
    pub fn arguments_of(&self, id: TermId, name: &str) -> Option<&[Option<TermId>]> {
        let (operator, arguments, _) = self.applied(id)?;
        (operator.domain.is_empty() && &*operator.name == name).then_some(arguments)
    }

    /// The first of these arguments.
    pub fn argument_of(&self, id: TermId, name: &str) -> Option<TermId> {
        self.arguments_of(id, name)?.first().copied().flatten()
    }
}
