//! Rules of operators that create tensors.
//!
//! | operators | shape |
//! |---|---|
//! | `ConstantOfShape`, `RandomNormal`, `RandomUniform`, `EyeLike` | the elements of the input, the attribute, the input's |
//! | `OneHot`, `Multinomial` | another axis |

use std::sync::Arc;

use gradus_core::convert::{from_start, i64_of};
use gradus_core::graph::Content;
use gradus_core::{DType, DTypeSet, Number};

use crate::dim::{Bounds, Dim, Relation};
use crate::fact::{Elements, Fact, TensorFact, known_shape};
use crate::indexing::eval::{flat_index, positions};
use crate::infer::{InferContext, InferError, InferResult};
use crate::normalize::Older;
use crate::{errors, indices};

/// The element type that the attribute names, or another one, if random elements may have it.
fn drawn_type(cx: &InferContext<'_, '_>, other: Option<DType>) -> Result<Option<DType>, InferError> {
    const FLOATS: DTypeSet = DTypeSet::of(&[DType::F16, DType::BF16, DType::F32, DType::F64]);
    let dtype = cx.attributes.dtype("dtype")?.or(other);
    let wanted = |dtype: DType| match cx.operator {
        "Bernoulli" => (!dtype.is_real() && dtype != DType::Bool, "a real number or a bool"),
        "Multinomial" => (![DType::I32, DType::I64].contains(&dtype), "int32 or int64"),
        _ => (!FLOATS.contains(dtype), "float16, bfloat16, float32 or float64"),
    };
    match dtype.map(wanted).zip(dtype) {
        Some(((true, wanted), dtype)) => Err(errors::dtype(dtype, wanted).into()),
        _ => Ok(dtype),
    }
}

/// Random elements in the shape of the first input, of the element type that the attribute names
/// or else of the input's.
pub fn random_like(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dtype = drawn_type(cx, cx.dtype(0))?;
    Ok(vec![Fact::tensor(dtype, cx.dims(0)?)])
}

/// Shape of `ConstantOfShape`: the elements of the input, with the value as elements.
pub fn constant_of_shape(cx: &mut InferContext<'_, '_>) -> InferResult {
    let value = match cx.attributes.get("value") {
        Some(Content::Tensor(constant)) => Some(constant.tensor()?),
        _ => None,
    };
    let dtype = value.as_ref().map_or(DType::F32, gradus_core::Tensor::dtype);
    let Some(shape) = cx.integers(0) else {
        let rank = cx.needed_len(0)?;
        let dims = cx.any_dims("the shape is not known before the run", rank);
        return Ok(vec![Fact::typed(dtype, dims)]);
    };
    for (axis, dim) in shape.iter().enumerate() {
        if let Dim::Known(size @ ..0) = dim {
            return Err(errors::element(axis, *size, "at least 0").into());
        }
    }
    let whole = dtype.is_integer() || dtype == DType::Bool;
    let element = match value {
        Some(value) => match value.number(0) {
            Ok(Number::Int(element)) if whole => i64::try_from(element).ok(),
            _ => None,
        },
        None => None,
    };
    let elements = element.map(|element| {
        let element = Dim::Known(element);
        match known_shape(&shape).map(|shape| shape.len()) {
            Some(count) if count <= crate::fact::MAX_INTEGERS => {
                Elements::Integers(vec![element; count].into())
            }
            _ => Elements::Progression(Arc::new((element, Dim::ZERO))),
        }
    });
    Ok(vec![Fact::Tensor(TensorFact {
        dtype: Some(dtype),
        dims: Some(shape),
        elements: elements.unwrap_or_default(),
    })])
}

/// Shape of `RandomNormal` and `RandomUniform`: that of the attribute.
pub fn random(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dtype = drawn_type(cx, Some(DType::F32))?;
    let shape = cx.attributes.ints("shape")?.unwrap_or(&[]);
    Ok(vec![Fact::tensor(dtype, shape.iter().map(|&size| Dim::Known(size)).collect::<Vec<_>>())])
}

/// Shape of `OneHot`: the indices' with the depth as a new axis.
pub fn one_hot(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let rank = dims.len() + 1;
    let axis = indices::axis(cx.attributes.int_or("axis", -1)?, rank)?;
    cx.one_element(1)?;
    cx.same_shape(2, &[Dim::Known(2)])?;
    let depth = match cx.integer(1) {
        Some(depth) => depth,
        // The depth may be a float.
        None => match cx.constant(1).map(|tensor| tensor.only_number()) {
            Some(Ok(number)) => {
                let whole = gradus_core::convert::truncated(gradus_core::convert::nearest_f64(number));
                Dim::Known(whole.and_then(|whole| i64::try_from(whole).ok()).unwrap_or(0))
            }
            _ => cx.data("the depth is not known before the run", Bounds::SIZE),
        },
    };
    let mut all = dims.to_vec();
    all.insert(axis, depth);
    let elements = one_hot_elements(cx, &all, axis);
    let dims = Some(all.into());
    Ok(vec![Fact::Tensor(TensorFact { dtype: cx.dtype(2), dims, elements: elements.unwrap_or_default() })])
}

/// The elements, where all indices are known and the values are integers.
fn one_hot_elements(cx: &mut InferContext<'_, '_>, dims: &[Dim], axis: usize) -> Option<Elements> {
    let shape = known_shape(dims).filter(|shape| shape.len() <= crate::fact::MAX_INTEGERS)?;
    let (hot, values) = (cx.known_integers(0)?, cx.integers(2)?);
    let taken = hot_elements(&hot, shape.dims(), axis);
    Some(Elements::Integers(
        taken.into_iter().map(|value| values.get(value).copied()).collect::<Option<_>>()?,
    ))
}

/// By element of the output: 1 if an index selects it, otherwise 0.
pub(super) fn hot_elements(indices: &[i64], dims: &[usize], axis: usize) -> Vec<usize> {
    let mut outer = dims.to_vec();
    let depth = i64_of(outer.remove(axis));
    let each = positions(dims).map(|mut position| {
        let at = position.remove(axis);
        let index = indices[flat_index(&position, &outer)];
        let index = from_start(index, depth);
        usize::from(index == i64_of(at))
    });
    each.collect()
}

/// Shape of `Multinomial`: rows by the number of samples.
pub fn multinomial(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims_of_rank(0, 2)?;
    if dims[1] == Dim::ZERO {
        return Err(errors::count("classes", 0, "at least 1").into());
    }
    cx.require(dims[1], Relation::AtLeast, Dim::ONE);
    let dtype = drawn_type(cx, Some(DType::I32))?;
    Ok(vec![Fact::tensor(dtype, [dims[0], Dim::Known(cx.attributes.int_or("sample_size", 1)?)])])
}

/// Shape of `EyeLike`: the input's, which has two axes.
pub fn eye_like(cx: &mut InferContext<'_, '_>) -> InferResult {
    let to = cx.attributes.dtype("dtype")?.or(cx.dtype(0));
    Ok(vec![Fact::tensor(to, cx.dims_of_rank(0, 2)?)])
}

/// Shapes of `Dropout`: the input's for the result and the mask.
pub fn dropout(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    // Without training, elements stay as they are. The signature says the mask's type.
    cx.one_element(2)?;
    let older = cx.attributes.form().is(Older::Training);
    let training = cx.has(2) || (older && !cx.attributes.flag("is_test", false)?);
    let first = if training { Fact::shaped(dims.clone()) } else { cx.read_fact(0) };
    Ok(vec![first, Fact::shaped(dims)])
}
