//! Laws that hold up to the order of sums, or as equations of real numbers.

use std::sync::Arc;

use gradus_core::sort::SharedSort;
use gradus_core::{DType, Number};
use gradus_engine::dim::Dim;

use super::Call;
use crate::attributes::{AttributesKey, ContentKey};
use crate::table::{Info, Operator, Term, TermId};
use crate::terms::Terms;

/// The reason of laws of sums in another order.
pub(super) const SUMS: &str = "the same numbers are added";

/// The reason of laws of real numbers.
const REALS: &str = "an equation of real numbers";

laws! {
    Order "bias" ["Conv", "ConvTranspose", "Gemm"] => bias,
        "Conv(x, w, b) = Conv(x, w) + b along the channels; Gemm(a, b, c) = MatMul(a, b) + c, with transposes, where alpha and beta are 1",
        SUMS;
    Rounding "normalization" ["LayerNormalization", "RMSNormalization"] => normalization,
        "(x - mean) / Sqrt(mean of squares + epsilon) * scale + bias, without means if it is of RMS", REALS;
    Rounding "power" ["Pow"] => power,
        "x ** 2 = x * x, x ** 0.5 = Sqrt(x), x ** -1 = 1 / x", REALS;
    Rounding "linear" ["Conv", "ConvTranspose", "MatMul", "ReduceMean", "ReduceSum"] => linear,
        "f(c * x) = c * f(x) for a number c", REALS;
    Rounding "largest" ["TopK"] => largest,
        "the first of TopK by size = ReduceMax and ArgMax, or those of the smallest", REALS;
    Rounding "product" ["Div", "Mul", "Neg"] => product,
        "products and quotients are products of a number, factors and inverses, in any order; c * (x + y) = c * x + c * y for a number c",
        REALS;
    Rounding "difference" ["Sub"] => difference, "x - y = x + -1 * y", REALS;
    Order "sum" ["Add", "Sum"] => sum, "sums of sums are one sum, in any order", SUMS;
}

/// The domain of sums and products of any number of terms, and of inverses.
const DOMAIN: &str = "real";

/// Factors of a product.
struct Factors {
    number: f64,
    /// Each with true for its inverse.
    rest: Vec<(TermId, bool)>,
}

impl Terms<'_> {
    /// A function of elements of two terms, of which the first is not broadcast.
    fn of_both(&mut self, name: &str, a: TermId, b: TermId) -> Option<TermId> {
        self.operation(name, &[a, b], self.table.info(a).clone())
    }

    /// The arguments of a sum, a product or an inverse.
    fn real(&self, id: TermId, name: &str) -> Option<Vec<TermId>> {
        let (operator, arguments, _) = self.applied(id)?;
        let is = &*operator.domain == DOMAIN && &*operator.name == name;
        is.then(|| arguments.iter().copied().flatten().collect())
    }

    fn as_real(&mut self, name: &str, arguments: Vec<TermId>, info: Info) -> TermId {
        let (domain, name) = (DOMAIN.into(), name.into());
        let operator = Operator { domain, name, version: 0, attributes: AttributesKey::new() };
        let arguments = arguments.into_iter().map(Some).collect();
        self.table.intern(Term::Apply(Arc::new(operator), arguments, 0), info)
    }

    /// The sum of terms; nothing if it has not the shape of one, as zeros are left out.
    fn sum_of(&mut self, all: &[TermId], info: Info) -> Option<TermId> {
        let mut parts = Vec::new();
        for &id in all {
            match self.real(id, "Sum") {
                Some(inner) => parts.extend(inner),
                None => parts.push(id),
            }
        }
        let mut kept = parts.clone();
        kept.retain(|&id| !self.is_zero(id));
        if self.table.reals && kept.iter().any(|&id| self.table.dims(id) == info.dims.as_ref()) {
            parts = kept;
        }
        if let [only] = parts[..] {
            return (self.table.dims(only) == info.dims.as_ref()).then_some(only);
        }
        let mut parts: Vec<_> = parts.into_iter().map(|id| self.short_shape(id)).collect();
        parts.shared_sort();
        Some(self.as_real("Sum", parts, info))
    }

    /// Multiplies a product by a term or its inverse.
    fn factor(&self, all: &mut Factors, id: TermId, is_inverse: bool) {
        if let Some(Number::Float(value)) = self.table.scalar(id)
            && let Some(number) = exact(all.number, value, is_inverse)
        {
            all.number = number;
        } else if let Some(inner) = self.real(id, "Product") {
            for id in inner {
                self.factor(all, id, is_inverse);
            }
        } else if let Some(inner) = self.real(id, "Inverse") {
            for id in inner {
                self.factor(all, id, !is_inverse);
            }
        } else {
            all.rest.push((id, is_inverse));
        }
    }

    /// The product of a number and terms or their inverses.
    fn product_of(&mut self, number: f64, all: &[(TermId, bool)], info: Info) -> Option<TermId> {
        let mut factors = Factors { number, rest: Vec::new() };
        for &(id, is_inverse) in all {
            self.factor(&mut factors, id, is_inverse);
        }
        let is_full = |terms: &Terms<'_>, id: TermId| terms.table.dims(id) == info.dims.as_ref();
        if !factors.rest.iter().any(|(id, _)| is_full(self, *id)) {
            return None;
        }
        if let [(only, false)] = factors.rest[..] {
            if factors.number == 1.0 {
                return Some(only);
            }
            if let Some(parts) = self.real(only, "Sum") {
                let scaled = parts.into_iter().map(|part| {
                    let own = self.table.info(part).clone();
                    self.product_of(factors.number, &[(part, false)], own)
                });
                let scaled = scaled.collect::<Option<Vec<_>>>()?;
                return self.sum_of(&scaled, info);
            }
        }
        let mut parts = Vec::with_capacity(factors.rest.len() + 1);
        for (id, is_inverse) in factors.rest {
            let id = self.short_shape(id);
            let own = self.table.info(id).clone();
            parts.push(if is_inverse { self.as_real("Inverse", vec![id], own) } else { id });
        }
        parts.shared_sort();
        if factors.number != 1.0 {
            parts.insert(0, self.number(DType::F64, factors.number)?);
        }
        if let ([only], true) = (&parts[..], factors.number == 1.0) {
            return Some(self.reshaped(*only, info.dims.as_ref()?));
        }
        Some(self.as_real("Product", parts, info))
    }

    /// A term as a number times another.
    fn unscaled(&mut self, id: TermId) -> Option<(f64, TermId)> {
        let info = self.table.info(id).clone();
        if let Some(inner) = self.table.viewed(id) {
            let (number, inner) = self.unscaled(inner)?;
            return Some((number, self.view_like(id, inner)?));
        }
        let parts = self.real(id, "Product")?;
        let Some(Number::Float(number)) = self.table.scalar(*parts.first()?) else { return None };
        let rest: Vec<_> = parts[1..].iter().map(|&id| (id, false)).collect();
        Some((number, self.product_of(1.0, &rest, info)?))
    }
}

/// The product or quotient of two numbers, if it is not rounded.
fn exact(a: f64, b: f64, is_inverse: bool) -> Option<f64> {
    let found = if is_inverse { a / b } else { a * b };
    let rest = if is_inverse { found.mul_add(b, -a) } else { a.mul_add(b, -found) };
    (found.is_normal() && rest == 0.0).then_some(found)
}

/// The type and sizes of the only output, if it is of floats.
fn float_info(call: &Call) -> Option<Info> {
    let [info] = &call.infos[..] else { return None };
    info.dtype.is_some_and(DType::is_float).then(|| info.clone())
}

fn float_attribute(call: &Call, name: &str) -> Option<f64> {
    let ContentKey::Float(bits) = call.attribute(name)? else { return None };
    Some(f64::from(f32::from_bits(bits)))
}

fn bias(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let info = float_info(call)?;
    let dims = info.dims.clone()?;
    let x = call.argument(0)?;
    if !call.is("Gemm") {
        let bias = call.argument(2)?;
        let channels = *terms.table.dims(bias)?.first()?;
        let mut sizes = vec![Dim::ONE; dims.len().checked_sub(1)?];
        sizes[0] = channels;
        let bias = terms.reshaped(bias, &sizes.into());
        let products = call.arguments[..2].to_vec();
        let products = terms.only(call, products, info)?;
        return Some(vec![terms.of_both("Add", products, bias)?]);
    }
    let scales = ["alpha", "beta"].iter().any(|name| float_attribute(call, name).is_some_and(|x| x != 1.0));
    if scales {
        return None;
    }
    let mut factors = [x, call.argument(1)?];
    for (factor, name) in factors.iter_mut().zip(["transA", "transB"]) {
        if call.is_set(name) {
            *factor = terms.permuted(*factor, &[1, 0])?;
        }
    }
    let products = terms.operation("MatMul", &factors, info)?;
    match call.argument(2) {
        Some(added) => Some(vec![terms.of_both("Add", products, added)?]),
        None => Some(vec![products]),
    }
}

fn sum(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let all = call.arguments.iter().copied().collect::<Option<Vec<_>>>()?;
    Some(vec![terms.sum_of(&all, float_info(call)?)?])
}

fn product(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let info = float_info(call)?;
    let all = call.arguments.iter().copied().collect::<Option<Vec<_>>>()?;
    let number = if call.is("Neg") { -1.0 } else { 1.0 };
    let all: Vec<_> = all.into_iter().enumerate().map(|(at, id)| (id, at == 1 && call.is("Div"))).collect();
    Some(vec![terms.product_of(number, &all, info)?])
}

fn difference(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let info = float_info(call)?;
    let (a, b) = (call.argument(0)?, call.argument(1)?);
    let own = terms.table.info(b).clone();
    let negative = match terms.table.scalar(b) {
        Some(Number::Float(value)) => terms.number(DType::F64, -value)?,
        _ => terms.product_of(-1.0, &[(b, false)], own)?,
    };
    Some(vec![terms.sum_of(&[a, negative], info)?])
}

fn power(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let info = float_info(call)?;
    let x = call.argument(0)?;
    let Some(Number::Float(exponent)) = terms.table.scalar(call.argument(1)?) else { return None };
    if terms.table.dims(x) != info.dims.as_ref() {
        return None;
    }
    let found = match exponent {
        2.0 => terms.product_of(1.0, &[(x, false), (x, false)], info),
        3.0 => terms.product_of(1.0, &[(x, false), (x, false), (x, false)], info),
        -1.0 => terms.product_of(1.0, &[(x, true)], info),
        0.5 => terms.operation("Sqrt", &[x], info),
        _ => None,
    };
    Some(vec![found?])
}

fn largest(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    if terms.table.numbers(call.argument(1)?)?[..] != [1] || call.infos.len() != 2 {
        return None;
    }
    let (x, infos) = (call.argument(0)?, call.infos.clone());
    let axis = call.int("axis")?;
    let is_largest = call.is_set("largest");
    let [value, index] = if is_largest { ["ReduceMax", "ArgMax"] } else { ["ReduceMin", "ArgMin"] };
    let axes = terms.axes([usize::try_from(axis).ok()?]);
    let value = terms.operation(value, &[x, axes], infos[0].clone())?;
    let along = vec![("axis".into(), ContentKey::Int(axis))];
    Some(vec![value, terms.operation_with(index, along, &[x], infos[1].clone())?])
}

fn linear(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let info = float_info(call)?;
    let is_of_two = !call.name().starts_with("Reduce");
    if call.argument(2).is_some() {
        return None;
    }
    let (mut number, mut arguments) = (1.0, call.arguments.clone());
    for argument in arguments.iter_mut().take(if is_of_two { 2 } else { 1 }) {
        if let Some((own, rest)) = terms.unscaled((*argument)?)
            && let Some(both) = exact(number, own, false)
        {
            (number, *argument) = (both, Some(rest));
        }
    }
    if number == 1.0 {
        return None;
    }
    let inner = terms.only(call, arguments, info.clone())?;
    Some(vec![terms.product_of(number, &[(inner, false)], info)?])
}

fn normalization(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let info = float_info(call)?;
    let (x, dims) = (call.argument(0)?, info.dims?);
    let axis = usize::try_from(call.int("axis")?).ok()?;
    let axes = terms.axes(axis..dims.len());
    let mut kept = dims.to_vec();
    kept.get_mut(axis..)?.fill(Dim::ONE);
    let kept = Info { dtype: terms.table.dtype(x), dims: Some(kept.into()) };
    let mean = |terms: &mut Terms<'_>, x: TermId| terms.operation("ReduceMean", &[x, axes], kept.clone());
    let centered = if call.is("LayerNormalization") {
        let mean = mean(terms, x)?;
        terms.of_both("Sub", x, mean)?
    } else {
        x
    };
    let squares = terms.of_both("Mul", centered, centered)?;
    let variance = mean(terms, squares)?;
    let epsilon = terms.number(DType::F64, float_attribute(call, "epsilon")?)?;
    let variance = terms.of_both("Add", variance, epsilon)?;
    let deviation = terms.operation("Sqrt", &[variance], terms.table.info(variance).clone())?;
    let mut y = terms.of_both("Div", centered, deviation)?;
    for (at, name) in [(1, "Mul"), (2, "Add")] {
        if let Some(of_axes) = call.argument(at) {
            y = terms.of_both(name, y, of_axes)?;
        }
    }
    Some(vec![y])
}
