//! Laws of functions of elements.

use gradus_core::convert::Rules;
use gradus_core::graph::Standard;
use gradus_core::{DType, Number, Shape, Tensor};
use gradus_engine::dim::Dim;
use gradus_engine::fact::Dims;
use gradus_engine::operators::{Row, ZeroSigns, registry};

use super::layout::filled;
use super::{Call, Law, law};
use crate::attributes::{self, ContentKey};
use crate::table::{Arguments, Info, Term, TermId};
use crate::terms::{Terms, is_whole};
use crate::views::{align, broadcast_through, inverse, permuted};

pub(super) const LAWS: &[Law] = &[
    law(
        "same-cast",
        &["Cast", "CastLike"],
        "Cast(x) to the type of x = x; of a Cast that keeps every number, the Cast of what that casts",
        "each number of the first type is one of the second, NaN and -0 too",
        cast,
    ),
    law(
        "neutral",
        &["Add", "And", "Div", "Mul", "Or", "Pow", "Sub"],
        "x * 1, x / 1, x - 0, x + -0, x ** 1, x And true, x Or false = x, where x has the shape and type of the result",
        "IEEE 754 rounds none of them; x + 0 is not among them, as -0 + 0 = 0",
        neutral,
    ),
    law(
        "reciprocal",
        &["Reciprocal"],
        "Reciprocal(x) = 1 / x",
        "the text says so, and IEEE 754 rounds the quotient once",
        reciprocal,
    ),
    law(
        "truth",
        &["Not"],
        "Not(x == 0) = Cast(x) to bool",
        "the text says that every number but zeros is true, NaN too",
        truth,
    ),
    law(
        "involution",
        &["Neg", "Not"],
        "Neg(Neg(x)) = x for floats and wrapping integers, Not(Not(x)) = x",
        "the sign bit, or the truth, changes twice",
        involution,
    ),
    law(
        "idempotent",
        &["Abs", "Ceil", "Floor", "Relu", "Round", "Sign"],
        "f(f(x)) = f(x)",
        "f leaves each of its results",
        idempotent,
    ),
    law(
        "unseen-zeros",
        &[],
        "f(x + 0) = f(x) where no result of f depends on signs of zeros, or f adds a constant without -0; also of sums with zero further within, as far as signs of zeros have an effect on signs of zeros alone",
        "x + 0 is x but for the sign of a zero; a sum with a number that is not -0 is the same for 0 and -0",
        unseen_zeros,
    ),
    law(
        "commutative",
        &["Add", "And", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Equal", "Mul", "Or", "Xor"],
        "f(a, b) = f(b, a)",
        "IEEE 754 defines sums and products of a set of two; which NaN aside",
        commutative,
    ),
    law(
        "elements",
        &[],
        "a function of elements of views or permutations = the view or permutation of the function",
        "each element is computed from those at its place alone",
        pulled,
    ),
];

/// Returns true if the second type has every number of the first, and its NaN, infinities and -0.
fn keeps(from: DType, to: DType) -> bool {
    use DType::{BF16, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    let wider: &[DType] = match from {
        F16 | BF16 => &[F32, F64],
        F32 | I32 | U32 if to == F64 => &[F64],
        I8 => &[I16, I32, I64, F16, F32, F64],
        U8 => &[I16, I32, I64, U16, U32, U64, F16, F32, F64],
        I16 => &[I32, I64, F32, F64],
        U16 => &[I32, I64, U32, U64, F32, F64],
        I32 => &[I64],
        U32 => &[I64, U64],
        _ => &[],
    };
    from == to || wider.contains(&to)
}

fn cast(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let x = call.argument(0)?;
    let to = call.infos.first()?.dtype?;
    let from = terms.table.dtype(x)?;
    if from == to {
        return Some(vec![x]);
    }
    // The type is that of the output; what an argument of CastLike is besides does not count.
    call.arguments.truncate(1);
    let operator = std::sync::Arc::make_mut(&mut call.operator);
    operator.name = "Cast".into();
    let name = ContentKey::Text(bytes::Bytes::from(to.to_string()));
    attributes::set(&mut operator.attributes, "to", Some(name));
    let floats8 = |dtype: DType| dtype.is_float() && dtype.bits() <= 8;
    if !floats8(to) && !floats8(from) {
        attributes::set(&mut operator.attributes, "saturate", None);
        attributes::set(&mut operator.attributes, "round_mode", None);
    }
    let inner = terms.arguments_of(x, "Cast")?.first().copied().flatten()?;
    let first = terms.table.dtype(inner)?;
    // A number as text shows its type.
    if !keeps(first, from) || to == DType::String {
        return None;
    }
    let info = call.infos[0].clone();
    Some(vec![terms.only(call, vec![Some(inner)], info)?])
}

/// Returns true if a term has the type and sizes of an output.
fn is_like(terms: &Terms<'_>, id: TermId, info: &Info) -> bool {
    let own = terms.table.info(id);
    info.dims.is_some() && own.dims == info.dims && info.dtype.is_some() && own.dtype == info.dtype
}

fn neutral(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let (a, b) = (call.argument(0)?, call.argument(1)?);
    let info = call.infos.first()?;
    let dtype = info.dtype?;
    let is = |id: TermId, value: f64| match filled(terms, id) {
        Some(Number::Int(own)) => gradus_core::convert::nearest_f64(Number::Int(own)) == value,
        Some(Number::Float(own)) => own.to_bits() == value.to_bits(),
        _ => false,
    };
    let whole = is_whole(dtype);
    let second = match call.name() {
        "Mul" | "Div" | "Pow" | "And" => is(b, 1.0),
        "Add" => is(b, if whole { 0.0 } else { -0.0 }),
        _ => is(b, 0.0),
    };
    if second && is_like(terms, a, info) {
        return Some(vec![a]);
    }
    let first = match call.name() {
        "Mul" | "And" => is(a, 1.0),
        "Add" => is(a, if whole { 0.0 } else { -0.0 }),
        "Or" => is(a, 0.0),
        _ => false,
    };
    (first && is_like(terms, b, info)).then(|| vec![b])
}

fn reciprocal(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let (x, info) = (call.argument(0)?, call.infos.first()?.clone());
    let one =
        Tensor::from_numbers(info.dtype?, Shape::new([]).ok()?, [Number::Float(1.0)], Rules::IEEE).ok()?;
    let one = terms.table.tensor(&one);
    std::sync::Arc::make_mut(&mut call.operator).name = "Div".into();
    call.row = registry::row(Standard::Onnx, "", "Div")?;
    Some(vec![terms.only(call, vec![Some(one), Some(x)], info)?])
}

fn truth(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let &[Some(a), Some(b)] = terms.arguments_of(call.argument(0)?, "Equal")? else { return None };
    let x = if terms.is_zero(b) {
        a
    } else if terms.is_zero(a) {
        b
    } else {
        return None;
    };
    let info = call.infos.first()?.clone();
    if terms.table.dtype(x).is_none_or(|dtype| dtype == DType::Bool)
        || terms.table.dims(x) != info.dims.as_ref()
    {
        return None;
    }
    std::sync::Arc::make_mut(&mut call.operator).name = "Cast".into();
    call.row = registry::row(Standard::Onnx, "", "Cast")?;
    Some(vec![terms.only(call, vec![Some(x)], info)?])
}

fn involution(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let x = call.argument(0)?;
    let inner = terms.arguments_of(x, call.name())?.first().copied().flatten()?;
    Some(vec![inner])
}

fn idempotent(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let x = call.argument(0)?;
    let same = terms.applied(x).is_some_and(|(operator, ..)| *operator == *call.operator);
    same.then(|| vec![x])
}

fn unseen_zeros(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let mut seen = zeros_of(terms, &call.operator.name, call.row, &call.arguments);
    let to_whole = call.is("Cast") && call.infos.first()?.dtype.is_some_and(is_whole);
    if call.row.zeros == ZeroSigns::Unseen || to_whole {
        seen = (0..call.arguments.len()).collect();
    } else {
        let last = last_added(terms, call);
        // Outputs besides the first may be without the sum.
        seen.retain(|input| call.infos.len() == 1 && last.is_some_and(|last| last != *input));
    }
    for input in seen {
        call.arguments[input] = call.arguments[input].map(|x| terms.signless(x, MAX_SIGNLESS));
    }
    None
}

/// The arguments whose signs of zeros have an effect on signs of zeros of the results alone.
fn zeros_of(terms: &Terms<'_>, name: &str, row: &Row, arguments: &[Option<TermId>]) -> Vec<usize> {
    let is_positive = |id: TermId| matches!(filled(terms, id), Some(Number::Float(value)) if value > 0.0);
    let count = match (name, row.zeros) {
        ("Pow", _) => usize::from(arguments.get(1).copied().flatten().is_some_and(is_positive)),
        ("BatchNormalization", _) => 3,
        ("Cast", _) | (_, ZeroSigns::OfFirst) => 1,
        (_, ZeroSigns::OfAll) => arguments.len(),
        (_, ZeroSigns::Unseen | ZeroSigns::Any) => 0,
    };
    (0..count.min(arguments.len())).collect()
}

/// The argument without -0 that a call adds last: a sum is -0 only if both are.
fn last_added(terms: &Terms<'_>, call: &Call) -> Option<usize> {
    if call.is("Add") {
        return [1, 0]
            .into_iter()
            .find(|&input| call.argument(input).is_some_and(|id| terms.has_no_negative_zero(id, MAX_LOOKS)));
    }
    let scales = call.is("Gemm") && call.attributes().iter().any(|(name, _)| &**name == "beta");
    let last = call.row.bias.filter(|_| !scales)?;
    terms.has_no_negative_zero(call.argument(last)?, MAX_LOOKS).then_some(last)
}

/// Maximum number of operators between a value and what shows that it has no -0.
const MAX_LOOKS: usize = 6;

/// Maximum number of operators through which signs of zeros are followed at once.
const MAX_SIGNLESS: usize = 32;

impl Terms<'_> {
    /// A term that is the same but for signs of zeros: sums with zero are left out.
    fn signless(&mut self, id: TermId, depth: usize) -> TermId {
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
        let info = self.table.info(id).clone();
        match self.table.term(id).clone() {
            Term::Reshape(inner) => {
                let inner = self.signless(inner, depth);
                Some(self.reshaped(inner, &info.dims?))
            }
            Term::Permute(inner, order) => {
                let inner = self.signless(inner, depth);
                self.permuted(inner, &order)
            }
            Term::Slice(inner, axis, start, step) => {
                let len = *info.dims.as_ref()?.get(axis)?;
                let inner = self.signless(inner, depth);
                self.sliced(inner, axis, (start, step), len)
            }
            Term::Expand(inner) => {
                let inner = self.signless(inner, depth);
                Some(self.expanded(inner, &info.dims?))
            }
            Term::Apply(operator, arguments, 0) => {
                let row = registry::row(Standard::Onnx, &operator.domain, &operator.name)?;
                let mut own = arguments.clone();
                for input in zeros_of(self, &operator.name, row, &arguments) {
                    own[input] = own[input].map(|x| self.signless(x, depth));
                }
                if operator.domain.is_empty()
                    && &*operator.name == "Add"
                    && let [Some(a), Some(b)] = own[..]
                {
                    if self.is_zero(b) && is_like(self, a, &info) {
                        return Some(a);
                    }
                    if self.is_zero(a) && is_like(self, b, &info) {
                        return Some(b);
                    }
                }
                if own == arguments {
                    return Some(id);
                }
                // Of several outputs, each is one of a call of its own.
                let call = Call { operator, row, arguments: own, infos: vec![info] };
                super::apply(self, call).first().copied()
            }
            _ => None,
        }
    }

    fn is_zero(&self, id: TermId) -> bool {
        match filled(self, id) {
            Some(Number::Int(value)) => value == 0,
            Some(Number::Float(value)) => value == 0.0,
            _ => false,
        }
    }

    /// Returns true if no element of a term is -0: a constant without it, or a sum with such.
    fn has_no_negative_zero(&self, id: TermId, depth: usize) -> bool {
        if let Some(number) = filled(self, id) {
            return !matches!(number, Number::Float(value) if value == 0.0 && value.is_sign_negative());
        }
        if let Some(tensor) = self.table.stored(self.root(id)) {
            let is_negative = |x: Number| matches!(x, Number::Float(x) if x == 0.0 && x.is_sign_negative());
            let look = tensor.len() <= MAX_LOOKED_AT;
            return look && tensor.numbers().is_ok_and(|mut all| !all.any(is_negative));
        }
        let Some(depth) = depth.checked_sub(1) else { return false };
        let (operator, arguments) = match self.table.term(id) {
            Term::Reshape(inner) | Term::Permute(inner, _) | Term::Expand(inner) | Term::Slice(inner, ..) => {
                return self.has_no_negative_zero(*inner, depth);
            }
            Term::Apply(operator, arguments, 0) => (operator, arguments),
            _ => return false,
        };
        let never = |input: usize| {
            arguments.get(input).copied().flatten().is_some_and(|id| self.has_no_negative_zero(id, depth))
        };
        let Some(row) = registry::row(Standard::Onnx, &operator.domain, &operator.name) else { return false };
        match &*operator.name {
            "Add" => never(0) || never(1),
            "Sub" | "ReduceSum" | "Sqrt" => never(0),
            "Concat" | "Max" | "Min" => (0..arguments.len()).all(never),
            "Where" => never(1) && never(2),
            "Gemm" => !operator.attributes.iter().any(|(name, _)| &**name == "beta") && never(2),
            _ => row.unsigned || (row.picks && never(0)) || row.bias.is_some_and(never),
        }
    }
}

/// Maximum number of elements of a constant that is searched for -0.
const MAX_LOOKED_AT: usize = 1 << 16;

fn commutative(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    if call.arguments.len() == 2 {
        // In whatever shape an argument is.
        call.arguments.sort_by_key(|id| (id.map(|id| terms.base(id)), *id));
    }
    None
}

/// Returns true if each element of the only output is computed from those at its place in arguments
/// that are broadcast.
fn is_of_elements(call: &Call) -> bool {
    let plain = call.row.is_of_elements() && call.operator.domain.is_empty() && call.infos.len() == 1;
    // A slope or a scale of each channel is not broadcast.
    plain
        && !matches!(call.name(), "PRelu" | "QuantizeLinear" | "DequantizeLinear" | "Dropout")
        && !call
            .attributes()
            .iter()
            .any(|(name, _)| name.is_empty() || &**name == "axis" || &**name == "broadcast")
}

fn pulled(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    if !is_of_elements(call) || call.arguments.iter().any(Option::is_none) {
        return None;
    }
    let info = call.infos.first()?.clone();
    let out = info.dims.clone()?;
    let mut arguments: Vec<TermId> = call.arguments.iter().copied().flatten().collect();
    let is_full = |terms: &Terms<'_>, id: TermId| terms.table.dims(id) == Some(&out);
    // Arguments that are broadcast, where another argument has the shape of the result.
    for index in 0..arguments.len() {
        let others = (0..arguments.len()).any(|other| other != index && is_full(terms, arguments[other]));
        if let Term::Expand(inner) = *terms.table.term(arguments[index])
            && others
            && terms.table.dims(inner).is_some()
        {
            arguments[index] = inner;
        }
    }
    call.arguments = arguments.iter().copied().map(Some).collect();
    // The shape of one argument, which does not depend on the shapes of the others.
    let full = arguments.iter().copied().filter(|&id| is_full(terms, id));
    let rank = |id: &TermId| {
        let base = terms.base(*id);
        (matches!(terms.table.term(base), Term::Constant(_)), base)
    };
    let first = full.min_by_key(rank)?;
    let root = terms.root(first);
    if root != first {
        let dims = terms.table.dims(root)?.clone();
        let groups = align(&mut terms.symbols, &out, &dims)?;
        let arguments = arguments.iter().map(|&id| {
            let own = terms.table.dims(id)?.clone();
            if own.is_empty() {
                return Some(Some(id));
            }
            let sizes = broadcast_through(&own, &groups, &out, &dims)?;
            Some(Some(reshaped_short(terms, id, &sizes)))
        });
        let arguments = arguments.collect::<Option<Arguments>>()?;
        let inner = Info { dtype: info.dtype, dims: Some(dims) };
        let computed = terms.only(call, arguments, inner)?;
        return Some(vec![terms.reshaped(computed, &out)]);
    }
    let Term::Permute(base, order) = terms.table.term(first).clone() else { return None };
    let dims = terms.table.dims(base)?.clone();
    let back = inverse(&order);
    let moved = arguments.iter().map(|&id| {
        let own = terms.table.dims(id)?.clone();
        if own.is_empty() {
            return Some(Some(id));
        }
        let mut padded = vec![Dim::Known(1); out.len().checked_sub(own.len())?];
        padded.extend_from_slice(&own);
        let padded: Dims = padded.into();
        let id = terms.reshaped(id, &padded);
        let moved = terms.permuted(id, &back)?;
        Some(Some(reshaped_short(terms, moved, &permuted(&padded, &back))))
    });
    let moved = moved.collect::<Option<Arguments>>()?;
    let inner = Info { dtype: info.dtype, dims: Some(dims) };
    let computed = terms.only(call, moved, inner)?;
    Some(vec![terms.permuted(computed, &order)?])
}

/// A term in a shape without the axes of size 1 in front.
fn reshaped_short(terms: &mut Terms<'_>, id: TermId, sizes: &[Dim]) -> TermId {
    let ones = sizes.iter().take_while(|&&dim| dim == Dim::Known(1)).count();
    terms.reshaped(id, &sizes[ones..].into())
}
