//! Normalisations with statistics, recurrent networks, attention, losses, quantisation.

use gradus_core::DType;
use gradus_core::graph::Content;

use crate::attributes::required;
use crate::dim::{Bounds, Dim};
use crate::errors;
use crate::fact::{Dims, Fact};
use crate::indices;
use crate::infer::{InferContext, InferError, InferResult};
use crate::nn::conv_pool::image;
use crate::nn::recurrent::QUANTIZED_LSTM;
use crate::normalize::Older;

pub fn dropout(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    // Without training, elements stay as they are. The signature says the mask's type.
    cx.one_element(2)?;
    let older = cx.attributes.form().is(Older::Training);
    let training = cx.has(2) || (older && !cx.attributes.flag("is_test", false)?);
    let first = if training { Fact::shaped(dims.clone()) } else { cx.read_fact(0) };
    Ok(vec![first, Fact::shaped(dims)])
}

/// As the first input, to which the others broadcast.
pub fn scaled(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    if let Some(axis) = cx.attributes.int("axis")? {
        indices::axis(axis, dims.len())?;
    }
    (1..cx.count()).try_for_each(|input| cx.broadcasts_to(input, &dims))?;
    Ok(vec![Fact::shaped(dims)])
}

/// As the first input, along an axis of it.
pub fn along(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    indices::axis(cx.attributes.int_or("axis", -1)?, dims.len())?;
    Ok(vec![Fact::shaped(dims)])
}

pub fn mean_variance(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    indices::axes(cx.attributes.ints("axes")?.unwrap_or(&[0, 2, 3]), dims.len())?;
    Ok(vec![Fact::shaped(dims)])
}

/// As the first input, with a scale and a shift for each channel or group.
pub fn by_channel(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (_, mut features, _) = image(cx, 0)?;
    if let Some(groups) = cx.attributes.int("num_groups")? {
        let groups = Dim::Known(errors::at_least_1("num_groups", groups)?);
        let label = cx.input_label(0);
        cx.multiple(features, groups, format_args!("size of axis 1 of {label}"))?;
        if cx.attributes.form().is(Older::ScaledByGroup) {
            features = groups;
        }
    }
    [1, 2].into_iter().try_for_each(|input| cx.same_shape(input, &[features]))?;
    Ok(vec![Fact::shaped(cx.dims(0)?)])
}

pub fn lrn(cx: &mut InferContext<'_, '_>) -> InferResult {
    image(cx, 0)?;
    errors::at_least_1("size", required("size", cx.attributes.int("size")?)?)?;
    Ok(vec![Fact::shaped(cx.dims(0)?)])
}

/// `PRelu`, whose older versions have a slope for each channel.
pub fn p_relu(cx: &mut InferContext<'_, '_>) -> InferResult {
    if !cx.attributes.form().is(Older::ByChannel) {
        return scaled(cx);
    }
    let dims = cx.dims(0)?;
    let channels = dims.get(1).copied().unwrap_or(Dim::ONE);
    cx.dims_of_known_rank(1, 1)?;
    cx.one_element_or(1, Ok(vec![channels]))?;
    Ok(vec![Fact::shaped(dims)])
}

pub fn layer_norm(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let axis = indices::axis(cx.attributes.int_or("axis", -1)?, dims.len())?;
    [1, 2].into_iter().try_for_each(|input| cx.broadcasts_to(input, &dims))?;
    let stash = cx.attributes.dtype("stash_type")?.unwrap_or(DType::F32);
    let one = |(at, &dim): (usize, &Dim)| if at < axis { dim } else { Dim::ONE };
    let statistics: Dims = dims.iter().enumerate().map(one).collect();
    Ok(vec![
        Fact::tensor(cx.dtype(0), dims),
        Fact::typed(stash, statistics.clone()),
        Fact::typed(stash, statistics),
    ])
}

pub fn batch_norm(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let channels = dims.get(1).copied().unwrap_or(Dim::ONE);
    let features = if cx.attributes.flag("spatial", true)? {
        vec![channels]
    } else {
        dims.iter().skip(1).copied().collect()
    };
    (1..5).try_for_each(|input| cx.same_shape(input, &features))?;
    let mut facts = vec![Fact::tensor(cx.dtype(0), dims)];
    facts.extend((1..cx.node.outputs.len()).map(|output| {
        let input = if output % 2 == 1 { 3 } else { 4 };
        Fact::tensor(cx.dtype(input).or(cx.dtype(0)), features.clone())
    }));
    Ok(facts)
}

pub fn recurrent(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims_of_rank(0, 3)?;
    let last = cx.attributes.flag("layout", false)?;
    let (steps, batch) = if last { (dims[1], dims[0]) } else { (dims[0], dims[1]) };
    let directions =
        Dim::Known(if cx.attributes.text("direction")? == Some("bidirectional") { 2 } else { 1 });
    let hidden = match cx.attributes.int("hidden_size")? {
        Some(size) => Dim::Known(size),
        None => cx.dims_of_rank(2, 3)?[if cx.operator == QUANTIZED_LSTM { 1 } else { 2 }],
    };
    let gates = match cx.operator {
        "LSTM" | QUANTIZED_LSTM => 4,
        "GRU" => 3,
        _ => 1,
    };
    let rows = cx.multiply(hidden, Dim::Known(gates));
    let biases = cx.multiply(rows, Dim::Known(2));
    let peepholes = cx.multiply(hidden, Dim::Known(3));
    let (all, state) = if last {
        ([batch, steps, directions, hidden], [batch, directions, hidden])
    } else {
        ([steps, directions, batch, hidden], [directions, batch, hidden])
    };
    if cx.operator == QUANTIZED_LSTM {
        cx.same_shape(1, &[directions, dims[2], rows])?;
        cx.same_shape(2, &[directions, hidden, rows])?;
        for input in 8..12 {
            let each = cx.dims(input).is_ok_and(|dims| dims.len() != 1);
            let shape = if each { vec![directions, rows] } else { vec![directions] };
            cx.same_shape(input, &shape)?;
        }
    } else {
        cx.same_shape(1, &[directions, rows, dims[2]])?;
        cx.same_shape(2, &[directions, rows, hidden])?;
    }
    cx.same_shape(3, &[directions, biases])?;
    cx.same_shape(4, &[batch])?;
    cx.same_shape(5, &state)?;
    cx.same_shape(6, &state)?;
    cx.same_shape(7, &[directions, peepholes])?;
    let dtype = cx.dtype(0);
    Ok(vec![Fact::tensor(dtype, all), Fact::tensor(dtype, state), Fact::tensor(dtype, state)])
}

/// The number of heads that an attribute gives.
fn heads(cx: &InferContext<'_, '_>, name: &str) -> Result<Dim, InferError> {
    Ok(Dim::Known(errors::at_least_1(name, required(name, cx.attributes.int(name)?)?)?))
}

pub fn attention(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (q, k, v) = (cx.dims(0)?, cx.dims(1)?, cx.dims(2)?);
    let (batch, q_heads, kv_heads, q_len, k_len, k_size, v_size, flat) = match (&*q, &*k, &*v) {
        ([b, qh, ql, qs], [kb, kh, kl, ks], [vb, vh, vl, vs]) => {
            for (a, b) in [(*b, *kb), (*b, *vb), (*kh, *vh), (*kl, *vl), (*qs, *ks)] {
                cx.equal(a, b, "size of query, key or value")?;
            }
            (*b, *qh, *kh, *ql, *kl, *ks, *vs, false)
        }
        ([b, ql, qw], [kb, kl, kw], [vb, vl, vw]) => {
            let (qh, kh) = (heads(cx, "q_num_heads")?, heads(cx, "kv_num_heads")?);
            let [qs, ks, vs] =
                [(*qw, qh), (*kw, kh), (*vw, kh)].map(|(width, heads)| cx.multiple(width, heads, "width"));
            let (ks, vs) = (ks?, vs?);
            for (a, b) in [(*b, *kb), (*b, *vb), (*kl, *vl), (qs?, ks)] {
                cx.equal(a, b, "size of query, key or value")?;
            }
            (*b, qh, kh, *ql, *kl, ks, vs, true)
        }
        _ => {
            let got = format!("{}, {} and {}", q.len(), k.len(), v.len());
            return Err(errors::shape("ranks of query, key and value", got, "all 3 or all 4").into());
        }
    };
    cx.multiple(q_heads, kv_heads, "number of heads of queries")?;
    let past = match (cx.has(4), cx.known_dims(4).as_deref()) {
        (false, _) => Some(Dim::ZERO),
        (true, None) => None,
        (true, Some(&[_, _, len, _])) => Some(len),
        (true, Some(other)) => return Err(errors::rank("input 4", other.len(), 4).into()),
    };
    if cx.has(4) != cx.has(5) {
        return Err(errors::missing("input 4 or 5, of which both or none is given,").into());
    }
    if let Some(past) = past.filter(|_| cx.has(4)) {
        cx.same_shape(4, &[batch, kv_heads, past, k_size])?;
        cx.same_shape(5, &[batch, kv_heads, past, v_size])?;
    }
    let total = match past {
        Some(past) => cx.add(past, k_len),
        None => cx.unknown("the length of the past is not known", Bounds::SIZE),
    };
    if let Some([.., last]) = cx.known_dims(3).as_deref() {
        // Keys beyond the mask are not attended to.
        if let (Dim::Known(last), Dim::Known(total)) = (*last, total)
            && last > total
        {
            return Err(errors::shape("size of the mask", last, format_args!("at most {total}")).into());
        }
        cx.broadcasts_to(3, &[batch, q_heads, q_len, *last])?;
    }
    cx.same_shape(6, &[batch])?;
    let dtype = cx.dtype(0);
    let y = if flat {
        let width = cx.multiply(q_heads, v_size);
        Fact::tensor(dtype, [batch, q_len, width])
    } else {
        Fact::tensor(dtype, [batch, q_heads, q_len, v_size])
    };
    Ok(vec![
        y,
        Fact::tensor(cx.dtype(1), [batch, kv_heads, total, k_size]),
        Fact::tensor(cx.dtype(2), [batch, kv_heads, total, v_size]),
        Fact::tensor(dtype, [batch, q_heads, q_len, total]),
    ])
}

pub fn linear_attention(cx: &mut InferContext<'_, '_>) -> InferResult {
    let (q, v) = (cx.dims_of_rank(0, 3)?, cx.dims_of_rank(2, 3)?);
    let (q_heads, kv_heads) = (heads(cx, "q_num_heads")?, heads(cx, "kv_num_heads")?);
    cx.multiple(q_heads, kv_heads, "number of heads of queries")?;
    let size = cx.multiple(q[2], q_heads, "width")?;
    let v_size = cx.multiple(v[2], kv_heads, "width")?;
    let width = cx.multiply(kv_heads, size);
    cx.same_shape(1, &[q[0], q[1], width])?;
    cx.same_shape(2, &[q[0], q[1], v[2]])?;
    cx.same_shape(3, &[q[0], kv_heads, size, v_size])?;
    let rule = cx.attributes.text("update_rule")?.unwrap_or("gated_delta");
    for (input, needed, wide) in [(4, rule.contains("gated"), width), (5, rule.contains("delta"), Dim::ONE)] {
        if needed && !cx.has(input) {
            return Err(errors::missing(cx.input_label(input)).into());
        }
        let last = cx.known_dims(input).and_then(|dims| dims.last().copied());
        let last = if last == Some(wide) { wide } else { kv_heads };
        cx.same_shape(input, &[q[0], q[1], last])?;
    }
    let width = cx.multiply(q_heads, v_size);
    let state = if cx.has(3) { cx.dtype(3) } else { cx.dtype(0) };
    Ok(vec![
        Fact::tensor(cx.dtype(0), [q[0], q[1], width]),
        Fact::tensor(state, [q[0], kv_heads, size, v_size]),
    ])
}

pub fn rotary(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let (batch, steps, size) = match *dims {
        [batch, _, steps, size] => (batch, steps, size),
        [batch, steps, width] => {
            let heads = heads(cx, "num_heads")?;
            (batch, steps, cx.multiple(width, heads, "width")?)
        }
        _ => return Err(errors::rank(cx.input_label(0), dims.len(), "3 or 4").into()),
    };
    let turned = match cx.attributes.int("rotary_embedding_dim")? {
        None | Some(0) => size,
        Some(turned) => {
            if let Dim::Known(size) = size
                && !(0..=size).contains(&turned)
            {
                let wanted = format_args!("0 to {size}");
                return Err(errors::value("attribute \"rotary_embedding_dim\"", turned, wanted).into());
            }
            Dim::Known(turned)
        }
    };
    let half = cx.floor_divide(turned, Dim::Known(2));
    for input in [1, 2] {
        let rows = cx.known_dims(1).and_then(|dims| dims.first().copied());
        match rows.filter(|_| cx.has(3)) {
            Some(rows) => cx.same_shape(input, &[rows, half])?,
            None if cx.has(3) => {}
            None => cx.same_shape(input, &[batch, steps, half])?,
        }
    }
    cx.same_shape(3, &[batch, steps])?;
    Ok(vec![Fact::shaped(dims)])
}

pub fn swiglu(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    cx.same_shape(1, &dims)?;
    Ok(vec![Fact::shaped(dims)])
}

pub fn tensor_scatter(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let axis = indices::axis(cx.attributes.int_or("axis", -2)?, dims.len())?;
    if axis == 0 {
        return Err(errors::value("attribute \"axis\"", 0, "another axis than that of the batch").into());
    }
    let mut update = dims.to_vec();
    if let Some(size) = cx.known_dims(1).and_then(|own| own.get(axis).copied()) {
        update[axis] = size;
    }
    cx.same_shape(1, &update)?;
    cx.same_shape(2, &dims[..1])?;
    Ok(vec![Fact::shaped(dims)])
}

pub fn loss(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dtype = cx.dtype(0);
    if let Some(dims) = cx.known_dims(0) {
        let [batch, classes, rest @ ..] = &*dims else {
            return Err(errors::rank(cx.input_label(0), dims.len(), "at least 2").into());
        };
        cx.same_shape(1, &[&[*batch], rest].concat())?;
        cx.same_shape(2, &[*classes])?;
    }
    let probabilities = cx.known_dims(0).map_or(Fact::tensor_type(dtype), |dims| Fact::tensor(dtype, dims));
    let first = match cx.attributes.text("reduction")?.unwrap_or("mean") {
        "none" => {
            if let Some(labels) = cx.known_dims(1) {
                Fact::tensor(dtype, labels)
            } else {
                let dims = cx.dims(0)?;
                let [batch, _, rest @ ..] = &*dims else {
                    return Err(errors::rank(cx.input_label(0), dims.len(), "at least 2").into());
                };
                Fact::tensor(dtype, std::iter::once(*batch).chain(rest.iter().copied()).collect::<Vec<_>>())
            }
        }
        _ => Fact::tensor(dtype, []),
    };
    Ok(vec![first, probabilities])
}

/// Checks that there is one scale or zero point, one for each index of an axis, or one for each
/// block of it.
fn spread(cx: &mut InferContext<'_, '_>, input: usize) -> Result<(), InferError> {
    let (mut dims, block) = (cx.dims(0)?.to_vec(), cx.attributes.int("block_size")?);
    let axis = match indices::axis(cx.attributes.int_or("axis", 1)?, dims.len()) {
        Ok(axis) => axis,
        Err(error) => return cx.one_element_or(input, Err(error.into())),
    };
    let (each, of) = match block {
        Some(block @ 1..) => {
            dims[axis] = cx.ceil_divide(dims[axis], Dim::Known(block));
            (dims, format!("for blocks of {block} along axis {axis}"))
        }
        _ => (vec![dims[axis]], format!("the size of axis {axis}")),
    };
    let data = cx.input_label(0);
    cx.one_element_or(input, Ok(each)).map_err(|error| match error {
        InferError::Invalid(error) => {
            InferError::Invalid(error.map_message(|message| format!("{message}, {of} of {data}")))
        }
        unknown @ InferError::Unknown(..) => unknown,
    })
}

/// The element type that an attribute names, unless it is 0.
fn type_given(cx: &InferContext<'_, '_>, name: &str) -> Result<Option<DType>, InferError> {
    let given = !matches!(cx.attributes.get(name), None | Some(Content::Int(0)));
    Ok(if given { cx.attributes.dtype(name)? } else { None })
}

pub fn quantize(cx: &mut InferContext<'_, '_>) -> InferResult {
    [1, 2].into_iter().try_for_each(|input| spread(cx, input))?;
    type_given(cx, "precision")?;
    let given = type_given(cx, "output_dtype")?;
    let dtype = if cx.has(2) { cx.dtype(2) } else { given.or(Some(DType::U8)) };
    Ok(vec![Fact::tensor(dtype, cx.dims(0)?)])
}

pub fn dequantize(cx: &mut InferContext<'_, '_>) -> InferResult {
    [1, 2].into_iter().try_for_each(|input| spread(cx, input))?;
    let dtype = type_given(cx, "output_dtype")?.or(cx.dtype(1));
    Ok(vec![Fact::tensor(dtype, cx.dims(0)?)])
}

pub fn dynamic_quantize_linear(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    Ok(vec![Fact::typed(DType::U8, dims), Fact::typed(DType::F32, []), Fact::typed(DType::U8, [])])
}
