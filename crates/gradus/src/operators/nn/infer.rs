//! Normalisations with statistics, recurrent networks, attention, losses, quantisation.

use gradus_core::DType;
use gradus_core::graph::Content;

use crate::attributes::required;
use crate::dim::{Bounds, Dim};
use crate::fact::{Dims, Fact, TensorFact};
use crate::infer::{InferContext, InferError, InferResult};
use crate::normalize::Older;
use crate::operators::errors;
use crate::operators::indices;
use crate::operators::nn::conv_pool::image;

pub(crate) fn dropout(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    // Without training, elements stay as they are. The signature says the mask's type.
    cx.one_element(2)?;
    let older = cx.attributes.form().is(Older::Training);
    let training = cx.has(2) || (older && !cx.attributes.flag("is_test", false)?);
    let first = if training { Fact::shaped(dims.clone()) } else { cx.read_fact(0) };
    Ok(vec![first, Fact::shaped(dims)])
}

/// A tensor of that type and those dimensions.
pub(crate) fn of(dtype: Option<DType>, dims: impl Into<Dims>) -> Fact {
    Fact::Tensor(TensorFact::new(dtype, Some(dims.into())))
}

/// As the first input, to which the others broadcast.
pub(crate) fn scaled(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    if let Some(axis) = cx.attributes.int("axis")? {
        indices::axis(axis, dims.len())?;
    }
    (1..cx.count()).try_for_each(|input| cx.broadcasts_to(input, &dims))?;
    Ok(vec![Fact::shaped(dims)])
}

/// As the first input, along an axis of it.
pub(crate) fn along(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    indices::axis(cx.attributes.int_or("axis", -1)?, dims.len())?;
    Ok(vec![Fact::shaped(dims)])
}

pub(crate) fn mean_variance(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    indices::axes(cx.attributes.ints("axes")?.unwrap_or(&[0, 2, 3]), dims.len())?;
    Ok(vec![Fact::shaped(dims)])
}

/// As the first input, with a scale and a shift for each channel or group.
pub(crate) fn by_channel(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (_, mut features, _) = image(cx, 0)?;
    if let Some(groups) = cx.attributes.int("num_groups")? {
        let groups = Dim::Known(errors::at_least_1("num_groups", groups)?);
        let rest = cx.floor_divide(features, groups);
        let rest = cx.multiply(rest, groups);
        cx.equal(features, rest, "number of channels, a multiple of the groups")?;
        // The first version has one for each group.
        if cx.known_dims(1).is_some_and(|scale| *scale == [groups]) {
            features = groups;
        }
    }
    [1, 2].into_iter().try_for_each(|input| cx.same_shape(input, &[features]))?;
    Ok(vec![Fact::shaped(cx.dims(0)?)])
}

pub(crate) fn lrn(cx: &mut InferContext<'_, '_>) -> InferResult {
    image(cx, 0)?;
    errors::at_least_1("size", required("size", cx.attributes.int("size")?)?)?;
    Ok(vec![Fact::shaped(cx.dims(0)?)])
}

/// `PRelu`, whose older versions have a slope for each channel.
pub(crate) fn p_relu(cx: &mut InferContext<'_, '_>) -> InferResult {
    if !cx.attributes.form().is(Older::ByChannel) {
        return scaled(cx);
    }
    let dims = cx.dims(0)?;
    let channels = dims.get(1).copied().unwrap_or(Dim::ONE);
    cx.dims_of_known_rank(1, 1)?;
    if cx.known_dims(1).is_some_and(|slope| *slope != [Dim::ONE]) {
        cx.same_shape(1, &[channels])?;
    }
    Ok(vec![Fact::shaped(dims)])
}

pub(crate) fn layer_norm(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let axis = indices::axis(cx.attributes.int_or("axis", -1)?, dims.len())?;
    [1, 2].into_iter().try_for_each(|input| cx.broadcasts_to(input, &dims))?;
    let stash = cx.attributes.dtype("stash_type")?.unwrap_or(DType::F32);
    let one = |(at, &dim): (usize, &Dim)| if at < axis { dim } else { Dim::ONE };
    let statistics: Dims = dims.iter().enumerate().map(one).collect();
    Ok(vec![of(cx.dtype(0), dims), Fact::typed(stash, statistics.clone()), Fact::typed(stash, statistics)])
}

pub(crate) fn batch_norm(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let channels = dims.get(1).copied().unwrap_or(Dim::ONE);
    let features = if cx.attributes.flag("spatial", true)? {
        vec![channels]
    } else {
        dims.iter().skip(1).copied().collect()
    };
    (1..5).try_for_each(|input| cx.same_shape(input, &features))?;
    let mut facts = vec![of(cx.dtype(0), dims)];
    facts.extend((1..cx.node.outputs.len()).map(|output| {
        let input = if output % 2 == 1 { 3 } else { 4 };
        of(cx.dtype(input).or(cx.dtype(0)), features.clone())
    }));
    Ok(facts)
}

pub(crate) fn recurrent(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims_of_rank(0, 3)?;
    let last = cx.attributes.flag("layout", false)?;
    let (steps, batch) = if last { (dims[1], dims[0]) } else { (dims[0], dims[1]) };
    let directions =
        Dim::Known(if cx.attributes.text("direction")? == Some("bidirectional") { 2 } else { 1 });
    let hidden = match cx.attributes.int("hidden_size")? {
        Some(size) => Dim::Known(size),
        None => cx.dims_of_rank(2, 3)?[2],
    };
    let dtype = cx.dtype(0);
    let (all, state) = if last {
        ([batch, steps, directions, hidden], [batch, directions, hidden])
    } else {
        ([steps, directions, batch, hidden], [directions, batch, hidden])
    };
    Ok(vec![of(dtype, all), of(dtype, state), of(dtype, state)])
}

pub(crate) fn attention(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (q, k, v) = (cx.dims(0)?, cx.dims(1)?, cx.dims(2)?);
    let heads = |name: &str| -> Result<Option<Dim>, InferError> {
        Ok(cx.attributes.int(name)?.filter(|&heads| heads > 0).map(Dim::Known))
    };

    let (batch, q_heads, kv_heads, q_len, k_len, k_size, v_size, flat) = match (&*q, &*k, &*v) {
        ([b, qh, ql, _], [_, kh, kl, ks], [_, _, _, vs]) => (*b, *qh, *kh, *ql, *kl, *ks, *vs, false),
        ([b, ql, _], [_, kl, kw], [_, _, vw]) => {
            let qh = required("q_num_heads", heads("q_num_heads")?)?;
            let kh = required("kv_num_heads", heads("kv_num_heads")?)?;
            (*b, qh, kh, *ql, *kl, cx.floor_divide(*kw, kh), cx.floor_divide(*vw, kh), true)
        }
        _ => {
            let got = format!("{}, {} and {}", q.len(), k.len(), v.len());
            return Err(errors::shape("ranks of query, key and value", got, "all 3 or all 4").into());
        }
    };
    let past = |cx: &mut InferContext<'_, '_>, input: usize| {
        if cx.has(input) {
            match cx.known_dims(input).as_deref() {
                Some([_, _, len, _]) => Some(*len),
                _ => None,
            }
        } else {
            Some(Dim::ZERO)
        }
    };
    let total = match past(cx, 4) {
        Some(past) => cx.add(past, k_len),
        None => cx.unknown("the length of the past is not known", Bounds::SIZE),
    };
    let dtype = cx.dtype(0);
    let y = if flat {
        let width = cx.multiply(q_heads, v_size);
        of(dtype, [batch, q_len, width])
    } else {
        of(dtype, [batch, q_heads, q_len, v_size])
    };
    Ok(vec![
        y,
        of(cx.dtype(1), [batch, kv_heads, total, k_size]),
        of(cx.dtype(2), [batch, kv_heads, total, v_size]),
        of(dtype, [batch, q_heads, q_len, total]),
    ])
}

pub(crate) fn linear_attention(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (q, k, v) = (cx.dims_of_rank(0, 3)?, cx.dims_of_rank(1, 3)?, cx.dims_of_rank(2, 3)?);
    let heads =
        |name: &str| -> Result<Dim, InferError> { Ok(Dim::Known(required(name, cx.attributes.int(name)?)?)) };
    let (q_heads, kv_heads) = (heads("q_num_heads")?, heads("kv_num_heads")?);
    let (k_size, v_size) = (cx.floor_divide(k[2], kv_heads), cx.floor_divide(v[2], kv_heads));
    let width = cx.multiply(q_heads, v_size);
    let state = if cx.has(3) { cx.dtype(3) } else { cx.dtype(0) };
    Ok(vec![of(cx.dtype(0), [q[0], q[1], width]), of(state, [q[0], kv_heads, k_size, v_size])])
}

pub(crate) fn loss(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dtype = cx.dtype(0);
    let probabilities = cx.known_dims(0).map_or(Fact::tensor_type(dtype), |dims| of(dtype, dims));
    let first = match cx.attributes.text("reduction")?.unwrap_or("mean") {
        "none" => {
            if let Some(labels) = cx.known_dims(1) {
                of(dtype, labels)
            } else {
                let dims = cx.dims(0)?;
                let [batch, _, rest @ ..] = &*dims else {
                    return Err(errors::rank("input 0", dims.len(), "at least 2").into());
                };
                of(dtype, std::iter::once(*batch).chain(rest.iter().copied()).collect::<Vec<_>>())
            }
        }
        _ => of(dtype, []),
    };
    Ok(vec![first, probabilities])
}

pub(crate) fn quantize(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dtype =
        if cx.has(2) { cx.dtype(2) } else { cx.attributes.dtype("output_dtype")?.or(Some(DType::U8)) };
    Ok(vec![of(dtype, cx.dims(0)?)])
}

pub(crate) fn dequantize(cx: &mut InferContext<'_, '_>) -> InferResult {
    let given = cx.attributes.get("output_dtype").filter(|content| !matches!(content, Content::Int(0)));
    let dtype = if given.is_some() { cx.attributes.dtype("output_dtype")? } else { cx.dtype(1) };
    Ok(vec![of(dtype, cx.dims(0)?)])
}

pub(crate) fn dynamic_quantize_linear(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    Ok(vec![Fact::typed(DType::U8, dims), Fact::typed(DType::F32, []), Fact::typed(DType::U8, [])])
}
