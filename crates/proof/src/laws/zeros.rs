//! Signs of zeros: sums with zero that are their other term as far as anything tells -0 from 0.

use gradus_core::graph::Standard;
use gradus_core::{Class, DType, Number};
use gradus_engine::dim::Dim;
use gradus_engine::fact::Dims;
use gradus_engine::operators::{Row, ZeroSigns, registry};

use super::Call;
use super::elements::is_like;
use crate::table::{Term, TermId};
use crate::terms::{Terms, is_whole};

laws! {
    Bits "unseen-zeros" [] => unseen_zeros,
        "f(x + 0) = f(x) where no result of f depends on signs of zeros, or f adds a constant without -0; also of sums with zero further within, as far as signs of zeros have an effect on signs of zeros alone",
        "x + 0 is x but for the sign of a zero; a sum with a number that is not -0 is the same for 0 and -0";
}

fn unseen_zeros(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let mut seen = zeros_of(terms, &call.operator.name, call.row, &call.arguments);
    let whole: Vec<bool> = call.infos.iter().map(|info| info.dtype.is_some_and(is_whole)).collect();
    if call.row.zeros == ZeroSigns::Unseen {
        seen = (0..call.arguments.len()).collect();
    } else if !whole.contains(&true) {
        let last = last_added(terms, call);
        // Outputs besides the first may be without the sum.
        seen.retain(|input| call.infos.len() == 1 && last.is_some_and(|last| last != *input));
    }
    let before = call.arguments.clone();
    for input in seen {
        call.arguments[input] = call.arguments[input].map(|x| terms.signless(x));
    }
    if before == call.arguments || !whole.contains(&true) || !whole.contains(&false) {
        return None;
    }
    // Integers have no sign of zero, but the other outputs have.
    let other = terms.plain(Call { arguments: before, ..call.clone() });
    let of_integers = terms.plain(call.clone());
    let both = of_integers.into_iter().zip(other).zip(whole);
    Some(both.map(|((a, b), whole)| if whole { a } else { b }).collect())
}

/// The arguments whose signs of zeros have an effect on signs of zeros of the results alone.
fn zeros_of(terms: &Terms<'_>, name: &str, row: &Row, arguments: &[Option<TermId>]) -> Vec<usize> {
    let exponent = || terms.table.scalar(arguments.get(1).copied().flatten()?);
    let count = match (name, row.zeros) {
        ("Pow", _) => usize::from(matches!(exponent(), Some(Number::Float(value)) if value > 0.0)),
        ("BatchNormalization", _) => 3,
        ("Cast" | "QuantizeLinear", _) | (_, ZeroSigns::OfFirst) => 1,
        (_, ZeroSigns::OfAll) => arguments.len(),
        (_, ZeroSigns::Unseen | ZeroSigns::Any) => 0,
    };
    (0..count.min(arguments.len())).collect()
}

/// The argument without -0 that a call adds last: a sum is -0 only if both are.
fn last_added(terms: &mut Terms<'_>, call: &Call) -> Option<usize> {
    let scales = call.is("Gemm") && call.has("beta");
    let inputs = if call.is("Add") { vec![1, 0] } else { vec![call.row.bias.filter(|_| !scales)?] };
    let mut is_free = |input: &usize| call.argument(*input).is_some_and(|id| terms.has_no_negative_zero(id));
    inputs.into_iter().find(&mut is_free)
}

/// Numbers that no element of a term is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Negative {
    /// -0.
    Zero,
    /// Numbers with the sign bit, -0 and infinity among them; NaN may have it.
    Any,
}

impl Negative {
    fn is(self, number: Number) -> bool {
        match number {
            Number::Float(x) => x.is_sign_negative() && !x.is_nan() && (self == Negative::Any || x == 0.0),
            Number::Int(x) => self == Negative::Any && x < 0,
            Number::Complex(..) => true,
        }
    }
}

/// Maximum number of operators between a value and what shows that it has no -0.
const MAX_LOOKS: usize = 6;

/// Maximum number of terms of one node through which signs of zeros are followed: the arguments of
/// the node have been.
const MAX_SIGNLESS: usize = 32;

impl Terms<'_> {
    /// A term that is the same but for signs of zeros: sums with zero are left out.
    pub fn signless(&mut self, id: TermId) -> TermId {
        self.signless_within(id, MAX_SIGNLESS)
    }

    fn signless_within(&mut self, id: TermId, depth: usize) -> TermId {
        if let Some(&known) = self.signless.get(&id) {
            return known;
        }
        if depth == 0 || !self.table.dtype(id).is_some_and(DType::is_float) {
            return id;
        }
        let found = self.without_zeros(id, depth - 1).unwrap_or(id);
        self.signless.insert(id, found);
        found
    }

    fn without_zeros(&mut self, id: TermId, depth: usize) -> Option<TermId> {
        if let Some(inner) = self.table.viewed(id) {
            let inner = self.signless_within(inner, depth);
            return self.view_like(id, inner);
        }
        let info = self.table.info(id).clone();
        let Term::Apply(operator, arguments, slot) = self.table.term(id).clone() else { return None };
        let row = registry::row(Standard::Onnx, &operator.domain, &operator.name)?;
        let mut own = arguments.clone();
        for input in zeros_of(self, &operator.name, row, &arguments) {
            own[input] = own[input].map(|x| self.signless_within(x, depth));
        }
        if operator.domain.is_empty()
            && &*operator.name == "Add"
            && let [Some(a), Some(b)] = own[..]
        {
            let mut sums = [(a, b), (b, a)].into_iter();
            if let Some((x, _)) = sums.find(|&(x, zero)| self.is_zero(zero) && is_like(self, x, &info)) {
                return Some(x);
            }
        }
        if own == arguments {
            return Some(id);
        }
        // Each of several outputs is one of a call of its own.
        if slot > 0 {
            return Some(self.table.intern(Term::Apply(operator, own, slot), info));
        }
        let call = Call { operator, row, arguments: own, infos: vec![info] };
        let apply = if self.formed.contains(&id) { super::formed } else { super::apply };
        apply(self, call).first().copied()
    }

    /// Returns true if all elements are known to be zeros.
    pub fn is_zero(&self, id: TermId) -> bool {
        matches!(self.table.scalar(id), Some(Number::Int(0) | Number::Float(0.0)))
    }

    /// Returns true if no element of a term is -0.
    pub fn has_no_negative_zero(&mut self, id: TermId) -> bool {
        let dims = self.table.dims(id).cloned().unwrap_or_default();
        self.is_never(id, Negative::Zero, &dims, MAX_LOOKS)
    }

    /// Returns true if an integer is not below 0 where no dimension is 0.
    fn is_natural(&mut self, number: Dim, dims: &Dims) -> bool {
        let mut is_above = |&dim: &Dim| {
            let beyond = self.symbols.subtract(number, dim);
            beyond.is_some_and(|beyond| self.symbols.never_below(beyond, -1))
        };
        dims.iter().any(&mut is_above) || self.symbols.never_below(number, 0)
    }

    /// Returns true if no element of a term is such a number, where results of these dimensions
    /// have elements.
    fn is_never(&mut self, id: TermId, what: Negative, dims: &Dims, depth: usize) -> bool {
        if let Some(number) = self.table.scalar(id) {
            return !what.is(number);
        }
        if let Some(tensor) = self.table.stored(self.root(id)) {
            let look = tensor.len() <= MAX_LOOKED_AT;
            return look && tensor.numbers().is_ok_and(|mut all| !all.any(|x| what.is(x)));
        }
        let is_zero = what == Negative::Zero;
        let class = |id: Option<TermId>| self.table.dtype(id?).map(DType::class);
        let own = class(Some(id));
        if matches!(own, Some(Class::Bool | Class::Unsigned)) || (is_zero && own == Some(Class::Signed)) {
            return true;
        }
        let Some(depth) = depth.checked_sub(1) else { return false };
        if let Some(inner) = self.table.viewed(id) {
            return self.is_never(inner, what, dims, depth);
        }
        let (operator, arguments) = match self.table.term(id).clone() {
            Term::Integers(all) => return all.iter().all(|&dim| self.is_natural(dim, dims)),
            Term::Progression(first, step) => {
                return self.is_natural(first, dims) && self.is_natural(step, dims);
            }
            Term::Apply(operator, arguments, 0) => (operator, arguments),
            _ => return false,
        };
        let Some(row) = registry::row(Standard::Onnx, &operator.domain, &operator.name) else { return false };
        let scales = operator.attributes.iter().any(|(name, _)| &**name == "beta");
        let bias = row.bias.filter(|_| !scales);
        let all: Vec<usize> = (0..arguments.len()).collect();
        // Arguments of which none is such a number, or one with the sign bit; one is enough of sums.
        let (never, unsigned, is_sum): (&[usize], &[usize], bool) = match &*operator.name {
            // Sums and products of integers wrap.
            name if own != Some(Class::Float) && name != "Range" => return false,
            "Add" => (&[0, 1], &[], is_zero),
            "Sub" | "ReduceSum" if is_zero => (&[0], &[], false),
            "Sqrt" => (&[0], &[], false),
            "Concat" | "Max" | "Min" => (&all, &[], false),
            "Where" => (&[1, 2], &[], false),
            "Range" => (&[], &[0, 2], false),
            // Integers have no -0; small numbers below zero become it.
            "Cast" if is_zero && class(arguments[0]) == Some(Class::Signed) => return true,
            "Cast" => (&[], &[0], false),
            // x / x is 1 or NaN.
            "Div" | "Mul" if arguments[0] == arguments[1] => return true,
            "Div" | "Mul" => (&[], &[0, 1], false),
            _ if row.unsigned => return true,
            _ if is_zero && row.picks => (&[0], &[], false),
            _ => match bias.filter(|_| is_zero) {
                Some(bias) => (&[bias], &[], false),
                None => return false,
            },
        };
        let mut holds = |input: &usize, what: Negative| {
            let argument = arguments.get(*input).copied().flatten();
            argument.is_some_and(|id| self.is_never(id, what, dims, depth))
        };
        if is_sum {
            return never.iter().any(|input| holds(input, what));
        }
        never.iter().all(|input| holds(input, what))
            && unsigned.iter().all(|input| holds(input, Negative::Any))
    }
}

/// Maximum number of elements of a constant that is searched for -0.
const MAX_LOOKED_AT: usize = 1 << 16;
