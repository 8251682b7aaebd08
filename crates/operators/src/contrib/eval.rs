//! Evaluation of the operators that ONNX Runtime's optimiser puts into models. Each is a function
//! of ONNX's operators, computed in float64 and rounded once.

use gradus_core::convert::{i64_of, product, truncated, usize_of_i64};
use gradus_core::graph::Content;
use gradus_core::{Error, Kind, Limits, Result, Tensor, Value};

use crate::attention::eval::{Heads, Mask, Scores, continued, exchanged};
use crate::attention::rotary::rotated;
use crate::attributes::{Attributes, required};
use crate::elementwise::activations::Activation;
use crate::errors;
use crate::floats::Sizes;
use crate::indices;
use crate::matmul::eval::{Gemm, Product, products, round};
use crate::normalization::eval::standardize;
use crate::op::{EvalContext, Op};
use crate::windows::convolutions::{add_bias, convolved};
use gradus_core::convert::float_of;

/// The elements of an input that must have this shape.
pub(super) fn shaped(cx: &EvalContext<'_>, input: usize, dims: &[usize]) -> Result<Vec<f64>> {
    let own = cx.tensor(input)?.shape().dims();
    if own != dims {
        return Err(errors::shape(cx.label(input), format_args!("{own:?}"), format_args!("{dims:?}")));
    }
    cx.floats(input)
}

pub(super) fn maybe_shaped(cx: &EvalContext<'_>, input: usize, dims: &[usize]) -> Result<Option<Vec<f64>>> {
    cx.has(input).then(|| shaped(cx, input, dims)).transpose()
}

pub(super) fn unsupported(what: &str) -> Error {
    Error::new(Kind::Unsupported, format!("cannot evaluate {what}"))
}

/// Adds an input to numbers of the first input's shape.
fn add(cx: &EvalContext<'_>, numbers: &mut [f64], input: usize) -> Result<()> {
    if !cx.has(input) {
        return Ok(());
    }
    let (dims, own) = (cx.tensor(0)?.shape(), cx.tensor(input)?.shape());
    let added = cx.floats(input)?;
    for (x, place) in numbers.iter_mut().zip(indices::broadcast(own.dims(), dims.dims())) {
        *x += added[place];
    }
    Ok(())
}

/// `Gelu`, `FastGelu`, `BiasGelu`.
pub fn biased_gelu(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let gelu = Activation::gelu(cx.operator == "FastGelu");
    if !cx.has(1) {
        return gelu.eval(cx);
    }
    let mut numbers = cx.floats(0)?;
    add(cx, &mut numbers, 1)?;
    for x in &mut numbers {
        *x = gelu.at(*x);
    }
    Ok(vec![cx.rounded(0, &numbers)?])
}

/// `SkipLayerNormalization` and its like without a mean: the sum of two inputs and a bias,
/// normalized.
pub fn skip_layer(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let centered = cx.operator == "SkipLayerNormalization";
    let epsilon = attributes.float("epsilon")?.unwrap_or(1e-12).into();
    let width = cx.tensor(0)?.shape().dims().last().copied().unwrap_or(1);
    let mut sum = cx.floats(0)?;
    let (beta, bias) = if centered { (maybe_shaped(cx, 3, &[width])?, 4) } else { (None, 3) };
    add(cx, &mut sum, 1)?;
    add(cx, &mut sum, bias)?;
    let gamma = shaped(cx, 2, &[width])?;
    let (limits, mut numbers) = (cx.limits(), sum.clone());
    let adding = cx.adding_doubles(&limits)?;
    let (mut means, mut inverses) = (Vec::new(), Vec::new());
    for row in numbers.chunks_mut(width.max(1)) {
        let (mean, inverse) = standardize(row, epsilon, centered, adding);
        means.push(mean);
        inverses.push(inverse);
        for (at, x) in row.iter_mut().enumerate() {
            *x = *x * gamma[at] + beta.as_ref().map_or(0.0, |beta| beta[at]);
        }
    }
    if width == 0 && cx.outputs > 1 {
        // Nothing has a mean.
        let rows = cx.output(1)?.1.len();
        (means, inverses) = (vec![if centered { f64::NAN } else { 0.0 }; rows], vec![f64::NAN; rows]);
    }
    let all = [numbers, means, inverses, sum];
    all.iter().enumerate().take(cx.outputs).map(|(output, numbers)| cx.rounded(output, numbers)).collect()
}

/// `EmbedLayerNormalization`: the sum of embeddings, normalized.
pub fn embed(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let epsilon = attributes.float("epsilon")?.unwrap_or(1e-12).into();
    let &[batch, steps] = cx.tensor(0)?.shape().dims() else {
        return Err(errors::rank("input 0", cx.tensor(0)?.shape().rank(), 2));
    };
    let width = cx.output(0)?.1.dims()[2];
    let (gamma, beta) = (shaped(cx, 5, &[width])?, shaped(cx, 6, &[width])?);
    let mut sum = vec![0.0; batch * steps * width];
    let positions = match cx.maybe_integers(8)? {
        Some(given) if given.len() == batch * steps || given.len() == steps => given,
        Some(given) => return Err(errors::count("positions", given.len(), batch * steps)),
        // A batch of nothing may have any length.
        None => (0..if sum.is_empty() { 0 } else { steps }).map(i64_of).collect(),
    };
    let tables = [(2, Some(cx.integers(0)?)), (3, Some(positions)), (4, cx.maybe_integers(1)?)];
    for (table, ids) in tables {
        if !cx.has(table) {
            continue;
        }
        let rows = cx.tensor(table)?.shape().dims().first().copied().unwrap_or(0);
        let numbers = shaped(cx, table, &[rows, width])?;
        let Some(ids) = ids.filter(|ids| !ids.is_empty()) else { continue };
        for (row, &id) in sum.chunks_mut(width.max(1)).zip(ids.iter().cycle()) {
            let at = indices::index(id, rows)?;
            row.iter_mut().zip(&numbers[at * width..]).for_each(|(x, own)| *x += own);
        }
    }
    let (limits, mut numbers) = (cx.limits(), sum.clone());
    let adding = cx.adding_doubles(&limits)?;
    for row in numbers.chunks_mut(width.max(1)) {
        standardize(row, epsilon, true, adding);
        for (at, x) in row.iter_mut().enumerate() {
            *x = *x * gamma[at] + beta[at];
        }
    }
    // The number of keys that are attended to.
    cx.reserve(product(batch, 8))?;
    let counts: Vec<_> = match cx.maybe_integers(7)? {
        Some(mask) if mask.len() == batch * steps => {
            mask.chunks(steps.max(1)).map(|mask| float_of(mask.iter().filter(|&&x| x == 1).count())).collect()
        }
        Some(mask) => return Err(errors::count("elements of the mask", mask.len(), batch * steps)),
        None => vec![0.0; batch],
    };
    let all = [numbers, counts, sum];
    all.iter().enumerate().take(cx.outputs).map(|(output, numbers)| cx.rounded(output, numbers)).collect()
}

/// `FusedMatMul`: a product of factors that may be transposed, times a number.
pub fn fused_mat_mul(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let factor = |input: usize, last: &str, batch: &str| -> Result<(Vec<f64>, Vec<usize>)> {
        let tensor = cx.tensor(input)?;
        let dims = tensor.shape().dims();
        let mut perm: Vec<_> = (0..dims.len()).collect();
        if attributes.flag(batch, false)? && dims.len() > 2 {
            perm[..dims.len() - 1].rotate_left(1);
        }
        if attributes.flag(last, false)? && dims.len() > 1 {
            perm.swap(dims.len() - 1, dims.len() - 2);
        }
        cx.reserve(product(tensor.len(), 24))?;
        let numbers = cx.floats(input)?;
        let turned = indices::turned(dims, &perm).into_iter().map(|place| numbers[place]).collect();
        Ok((turned, perm.iter().map(|&axis| dims[axis]).collect()))
    };
    let (a, a_dims) = factor(0, "transA", "transBatchA")?;
    let (b, b_dims) = factor(1, "transB", "transBatchB")?;
    let Product { sizes, pairs, .. } = Product::new(cx, cx.tensor(0)?.dtype(), &a_dims, &b_dims)?;
    let alpha = f64::from(attributes.float("alpha")?.unwrap_or(1.0));
    let mut sums = products(cx, &a, &b, sizes, &pairs)?;
    for sum in &mut sums {
        *sum *= alpha;
    }
    Ok(vec![cx.rounded(0, &sums)?])
}

/// `FusedConv`: a convolution, a sum with another input, and an activation.
pub fn fused_conv(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (x, weights) = (cx.factor(0)?, cx.factor(1)?);
    let factors = [x.numbers(), weights.numbers()];
    let mut sums = convolved::<f64>(attributes, cx, [0, 1], factors, |_, sums, out| round(sums, out))?;
    let (_, shape) = cx.output(0)?;
    if cx.has(2) {
        add_bias(&mut sums, &shape, &shaped(cx, 2, &shape.dims()[1..2])?);
    }
    if let Some(added) = maybe_shaped(cx, 3, shape.dims())? {
        sums.iter_mut().zip(added).for_each(|(sum, x)| *sum += x);
    }
    let given = match attributes.get("activation_params") {
        Some(Content::Floats(given)) => given.clone(),
        _ => [].into(),
    };
    match attributes.text("activation")? {
        None | Some("") => {}
        Some("Clip") => {
            let (low, high) = (given.first().copied(), given.get(1).copied());
            for x in &mut sums {
                *x = x.max(low.unwrap_or(f32::MIN).into()).min(high.unwrap_or(f32::MAX).into());
            }
        }
        Some(name) => {
            let mut left = given.iter().copied();
            let left = std::cell::RefCell::new(&mut left);
            let activation = Activation::named(name, |name| {
                Ok(if name.is_empty() { None } else { left.borrow_mut().next() })
            })?;
            for x in &mut sums {
                *x = activation.at(*x);
            }
        }
    }
    Ok(vec![cx.rounded(0, &sums)?])
}

/// `FusedGemm`: a product of matrices, a sum, and an activation.
pub fn fused_gemm(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let named = attributes.text("activation")?.filter(|name| !name.is_empty());
    let activation =
        named.map(|name| Activation::named(name, |name| attributes.float(&format!("activation_{name}"))));
    let activation = activation.transpose()?;
    let last = |x| activation.as_ref().map_or(x, |activation| activation.at(x));
    let (_, numbers) = Gemm::new(attributes, cx)?.floats::<f64>(cx, last)?;
    Ok(vec![cx.rounded(0, &numbers)?])
}

/// `MatMulNBits`: a product with columns that are quantized in blocks of 2, 4 or 8 bits.
pub fn mat_mul_n_bits(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    attributes.only_int("weight_prepacked", 0)?;
    let number = |name: &str| {
        let given = required(name, attributes.int(name)?)?;
        Ok::<_, Error>(usize_of_i64(errors::at_least_1(name, given)?).unwrap_or(1))
    };
    let (inner, columns, block) = (number("K")?, number("N")?, number("block_size")?);
    let bits = attributes.int("bits")?.unwrap_or(4);
    let bits = usize_of_i64(bits).filter(|bits| [2, 4, 8].contains(bits));
    let bits = bits.ok_or_else(|| {
        errors::value("attribute \"bits\"", attributes.int("bits").ok().flatten().unwrap_or(4), "2, 4 or 8")
    })?;
    let blocks = inner.div_ceil(block);
    // The block of each row, if rows are in another order than their blocks.
    let groups = match cx.maybe_integers(4)? {
        Some(given) if given.len() < inner => return Err(errors::count("group indices", given.len(), inner)),
        Some(given) => {
            Some(given.iter().map(|&group| indices::index(group, blocks)).collect::<Result<Vec<_>>>()?)
        }
        None => None,
    };
    let per_byte = 8 / bits;
    let bytes = block.div_ceil(per_byte);
    let packed = cx.tensor(1)?;
    if product(packed.len(), 1) != product(columns, blocks).saturating_mul(product(bytes, 1)) {
        let wanted = format_args!("[{columns}, {blocks}, {bytes}]");
        return Err(errors::shape(cx.label(1), packed.shape(), wanted));
    }
    let codes = packed.codes()?;
    let scales = cx.floats(2)?;
    if scales.len() != columns * blocks {
        return Err(errors::count("scales", scales.len(), columns * blocks));
    }
    let code = |bytes: &[u8], at: usize| {
        let mask = u8::MAX >> (8 - bits);
        f64::from((bytes[at / per_byte] >> (at % per_byte * bits)) & mask)
    };
    let row = blocks.div_ceil(per_byte);
    let middle = float_of(1 << (bits - 1));
    let zeros = if cx.has(3) {
        let tensor = cx.tensor(3)?;
        if tensor.dtype().is_float() {
            let zeros = cx.floats(3)?;
            if zeros.len() != columns * blocks {
                return Err(errors::count("zero points", zeros.len(), columns * blocks));
            }
            zeros
        } else {
            let packed = tensor.codes()?;
            if packed.len() != columns * row {
                return Err(errors::count("bytes of zero points", packed.len(), columns * row));
            }
            let zero = |at: usize| code(&packed[at / blocks * row..], at % blocks);
            (0..columns * blocks).map(zero).collect()
        }
    } else {
        vec![middle; columns * blocks]
    };
    cx.reserve(product(columns, inner).saturating_mul(16))?;
    let weight = |at: usize| {
        let (column, k) = (at % columns, at / columns);
        let stored = column * blocks + k / block;
        let group = groups.as_ref().map_or(stored, |groups| column * blocks + groups[k]);
        (code(&codes[stored * bytes..], k % block) - zeros[group]) * scales[group]
    };
    let weights: Vec<_> = (0..columns * inner).map(weight).collect();
    let x = cx.floats(0)?;
    let sizes = Sizes { rows: x.len() / inner, inner, columns };
    let mut sums = products(cx, &x, &weights, sizes, &[(0, 0)])?;
    if let Some(bias) = maybe_shaped(cx, 5, &[columns])? {
        for (at, sum) in sums.iter_mut().enumerate() {
            *sum += bias[at % columns];
        }
    }
    Ok(vec![cx.rounded(0, &sums)?])
}

/// `RotaryEmbedding`, whose positions are one offset, or one for each element.
pub fn rotary(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let dims = cx.tensor(0)?.shape().dims();
    if !matches!(dims.len(), 3 | 4) {
        return Err(errors::rank("input 0", dims.len(), "3 or 4"));
    }
    let &[rows, half] = cx.tensor(2)?.shape().dims() else {
        return Err(errors::rank("input 2", cx.tensor(2)?.shape().rank(), 2));
    };
    shaped(cx, 3, &[rows, half])?;
    if let &[_, _, width] = dims
        && width < 2 * half
        && attributes.int("num_heads")?.is_none_or(|heads| heads < 1)
    {
        return Err(errors::value("width of input 0", width, format_args!("at least {}", 2 * half)));
    }
    let (positions, steps) = (cx.integers(1)?, if dims.len() == 4 { dims[2] } else { dims[1] });
    if positions.len() != 1 && positions.len() != dims[0] * steps {
        return Err(errors::count("positions", positions.len(), dims[0] * steps));
    }
    rotated(attributes, cx, dims, [2, 3], |sample, step, steps| {
        let position = match positions[..] {
            [first] => first.saturating_add(i64_of(step)),
            _ => positions[sample * steps + step],
        };
        indices::index(position, rows)
    })
}

/// The number of heads that an attribute gives, of a width.
pub(super) fn heads(attributes: &Attributes<'_>, name: &str) -> Result<usize> {
    let given = required(name, attributes.int(name)?)?;
    Ok(usize_of_i64(errors::at_least_1(name, given)?).unwrap_or(1))
}

/// The size of a head.
pub(super) fn size_of(width: usize, heads: usize) -> Result<usize> {
    if width.is_multiple_of(heads) {
        return Ok(width / heads);
    }
    Err(errors::shape("width of queries, keys or values", width, format_args!("a multiple of {heads}")))
}

/// The term that an input adds to the score of a key: by sample and query, a number that is added
/// where the mask is 0.
fn padding(
    cx: &EvalContext<'_>,
    input: usize,
    of: &Heads,
    filter: f64,
) -> Result<impl Fn(usize, usize, usize) -> f64 + Sync + use<>> {
    let mask = cx.maybe_integers(input)?;
    let dims: Vec<_> = if mask.is_some() { cx.tensor(input)?.shape().dims().to_vec() } else { Vec::new() };
    let Heads { batch, length, total, .. } = *of;
    let fits = match dims[..] {
        [] => mask.is_none(),
        [lengths] => lengths == batch,
        [samples, keys] => samples == batch && keys == total,
        [samples, queries, keys] => samples == batch && queries == length && keys == total,
        _ => false,
    };
    if !fits {
        let wanted = format_args!("[{batch}], [{batch}, {total}] or [{batch}, {length}, {total}]");
        return Err(errors::shape(cx.label(input), format_args!("{dims:?}"), wanted));
    }
    Ok(move |sample: usize, query: usize, key: usize| {
        let attended = match (&mask, &dims[..]) {
            (Some(mask), [_]) => i64_of(key) < mask[sample],
            (Some(mask), [_, _]) => mask[sample * total + key] != 0,
            (Some(mask), [_, _, _]) => mask[(sample * length + query) * total + key] != 0,
            _ => true,
        };
        if attended { 0.0 } else { filter }
    })
}

/// Checks that a bias of scores broadcasts.
pub(super) fn score_bias(cx: &EvalContext<'_>, input: usize, of: &Heads) -> Result<Option<Mask>> {
    if cx.has(input) {
        let (own, wanted) = (
            cx.tensor(input)?.shape(),
            gradus_core::Shape::new([of.batch, of.queries, of.length, of.total])?,
        );
        if own.broadcast(&wanted)? != wanted || own.dims().last() != Some(&of.total) {
            return Err(errors::shape(cx.label(input), own, format_args!("one that broadcasts to {wanted}")));
        }
    }
    Mask::read(cx, input)
}

/// The results of attention, by position.
pub(super) fn attended(
    cx: &mut EvalContext<'_>,
    attributes: &Attributes<'_>,
    of: &Heads,
    numbers: [&[f64]; 3],
    sinks: Option<Vec<f64>>,
    bias: impl Fn(usize, usize, usize, usize) -> f64 + Sync,
) -> Result<Vec<f64>> {
    let scale = attributes.float("scale")?.filter(|&scale| scale != 0.0);
    let scale = scale.map_or_else(|| float_of(of.size).sqrt().recip(), f64::from);
    let cap = attributes.float("softcap")?.unwrap_or(0.0).into();
    let (sums, _) = of.attend(cx, numbers, &Scores { scale, cap, bias, stage: None, sinks })?;
    Ok(exchanged(&sums, of.batch, [of.queries, of.length], of.value_size))
}

/// Attention under the padding mask of an input, the bias of input 5, and `unidirectional`: a query
/// sees the keys of the past, which come first, and none after its own.
fn masked(
    cx: &mut EvalContext<'_>,
    attributes: &Attributes<'_>,
    of: &Heads,
    parts: [&[f64]; 3],
    mask: usize,
    past: usize,
) -> Result<Vec<f64>> {
    let filter = attributes.float("mask_filter_value")?.unwrap_or(-10000.0).into();
    let (padding, added) = (padding(cx, mask, of, filter)?, score_bias(cx, 5, of)?);
    let causal = attributes.flag("unidirectional", false)?;
    attended(cx, attributes, of, parts, None, |sample, head, query, key| {
        if causal && key > query + past {
            return f64::NEG_INFINITY;
        }
        padding(sample, query, key) + added.as_ref().map_or(0.0, |mask| mask.at([sample, head, query, key]))
    })
}

/// `Attention` of ONNX Runtime: projections, and heads that attend to all positions.
pub fn attention(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let &[batch, length, width] = cx.tensor(0)?.shape().dims() else {
        return Err(errors::rank("input 0", cx.tensor(0)?.shape().rank(), 3));
    };
    let columns = cx.tensor(1)?.shape().dims().last().copied().unwrap_or(0);
    let queries = heads(attributes, "num_heads")?;
    let widths: Vec<_> = match attributes.ints("qkv_hidden_sizes")? {
        Some(sizes) => sizes.iter().map(|&size| usize_of_i64(size).unwrap_or(0)).collect(),
        None => vec![columns / 3; 3],
    };
    let &[q_width, k_width, v_width] = &widths[..] else {
        return Err(errors::count("elements of attribute \"qkv_hidden_sizes\"", widths.len(), 3));
    };
    if q_width != k_width || q_width.saturating_add(k_width).saturating_add(v_width) != columns {
        return Err(errors::shape("columns of the weights", columns, format_args!("{widths:?} together")));
    }
    if attributes.flag("do_rotary", false)? || attributes.flag("past_present_share_buffer", false)? {
        return Err(unsupported("Attention with do_rotary or past_present_share_buffer"));
    }
    let (size, value_size) = (size_of(q_width, queries)?, size_of(v_width, queries)?);
    let (input, weights) = (cx.floats(0)?, shaped(cx, 1, &[width, columns])?);
    let mut all =
        products(cx, &input, &weights, Sizes { rows: batch * length, inner: width, columns }, &[(0, 0)])?;
    if let Some(bias) = maybe_shaped(cx, 2, &[columns])? {
        for (at, x) in all.iter_mut().enumerate() {
            *x += bias[at % columns];
        }
    }
    let part = |first: usize, width: usize, size: usize| {
        let rows: Vec<_> =
            all.chunks(columns.max(1)).flat_map(|row| row[first..first + width].iter().copied()).collect();
        exchanged(&rows, batch, [length, queries], size)
    };
    let q = part(0, q_width, size);
    let (mut k, mut v) = (part(q_width, k_width, size), part(q_width + k_width, v_width, value_size));
    let mut before = 0;
    if cx.has(4) {
        let dims = cx.tensor(4)?.shape().dims();
        before = dims.get(3).copied().unwrap_or(0);
        let past = shaped(cx, 4, &[2, batch, queries, before, size])?;
        let (keys, values) = past.split_at(past.len() / 2);
        (k, v) = (continued(keys, &k, batch * queries), continued(values, &v, batch * queries));
    }
    let of = Heads { batch, queries, keys: queries, length, total: before + length, size, value_size };
    let y = masked(cx, attributes, &of, [&q, &k, &v], 3, before)?;
    let mut outputs = vec![cx.rounded(0, &y)?];
    if cx.outputs > 1 {
        outputs.push(cx.rounded(1, &[k, v].concat())?);
    }
    Ok(outputs)
}

/// `MultiHeadAttention` of projected queries, keys and values.
pub fn multi_head(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let queries = heads(attributes, "num_heads")?;
    let &[batch, length, width] = cx.tensor(0)?.shape().dims() else {
        return Err(unsupported("MultiHeadAttention of packed queries, keys and values"));
    };
    let size = size_of(width, queries)?;
    if !cx.has(1) || !cx.has(2) {
        return Err(unsupported("MultiHeadAttention of packed keys and values"));
    }
    let (mut q, kd, vd) = (cx.floats(0)?, cx.tensor(1)?.shape().dims(), cx.tensor(2)?.shape().dims());
    let (new, v_width) = match (kd, vd) {
        (&[_, new, _], &[_, _, v_width]) => (new, v_width),
        (&[_, _, new, _], &[_, _, _, value_size]) => (new, value_size.saturating_mul(queries)),
        _ => return Err(unsupported("MultiHeadAttention of packed keys and values")),
    };
    let value_size = size_of(v_width, queries)?;
    let bias = maybe_shaped(cx, 3, &[2 * width + v_width])?;
    let biased = |numbers: &mut [f64], first: usize, width: usize| {
        if let Some(bias) = &bias {
            for (at, x) in numbers.iter_mut().enumerate() {
                *x += bias[first + at % width];
            }
        }
    };
    biased(&mut q, 0, width);
    let q = exchanged(&q, batch, [length, queries], size);
    let (mut k, mut v);
    if kd.len() == 3 {
        (k, v) = (shaped(cx, 1, &[batch, new, width])?, shaped(cx, 2, &[batch, new, v_width])?);
        biased(&mut k, width, width);
        biased(&mut v, 2 * width, v_width);
        k = exchanged(&k, batch, [new, queries], size);
        v = exchanged(&v, batch, [new, queries], value_size);
    } else {
        k = shaped(cx, 1, &[batch, queries, new, size])?;
        v = shaped(cx, 2, &[batch, queries, new, value_size])?;
    }
    let mut before = 0;
    if cx.has(6) {
        before = cx.tensor(6)?.shape().dims().get(2).copied().unwrap_or(0);
        k = continued(&shaped(cx, 6, &[batch, queries, before, size])?, &k, batch * queries);
        v = continued(&shaped(cx, 7, &[batch, queries, before, value_size])?, &v, batch * queries);
    }
    let of = Heads { batch, queries, keys: queries, length, total: before + new, size, value_size };
    let y = masked(cx, attributes, &of, [&q, &k, &v], 4, before)?;
    let all = [y, k, v];
    all.iter().enumerate().take(cx.outputs).map(|(output, numbers)| cx.rounded(output, numbers)).collect()
}

/// The inverse of a matrix, by Gauss-Jordan elimination with the largest pivot of each column.
///
/// # Errors
/// As [`Limits::check`].
fn inverse(matrix: &[f64], size: usize, limits: &Limits) -> Result<Option<Vec<f64>>> {
    let width = 2 * size;
    let mut rows = vec![0.0; size * width];
    for row in 0..size {
        rows[row * width..][..size].copy_from_slice(&matrix[row * size..][..size]);
        rows[row * width + size + row] = 1.0;
    }
    for column in 0..size {
        limits.check()?;
        let at = |row: usize| row * width + column;
        let size_of = |row: &usize| rows[at(*row)].abs();
        let pivot = (column..size).max_by(|a, b| size_of(a).total_cmp(&size_of(b))).unwrap_or(column);
        if rows[at(pivot)] == 0.0 {
            return Ok(None);
        }
        for i in 0..width {
            rows.swap(column * width + i, pivot * width + i);
        }
        let by = rows[at(column)];
        rows[column * width..][..width].iter_mut().for_each(|x| *x /= by);
        let own = rows[column * width..][..width].to_vec();
        for row in (0..size).filter(|&row| row != column) {
            let factor = rows[at(row)];
            rows[row * width..][..width].iter_mut().zip(&own).for_each(|(x, y)| *x -= factor * y);
        }
    }
    Ok(Some(rows.chunks(width.max(1)).flat_map(|row| row[size..].iter().copied()).collect()))
}

/// `Inverse` of the matrices that the last two axes hold.
pub fn inverses(_: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let &[.., size, _] = cx.tensor(0)?.shape().dims() else {
        return Err(errors::rank("input 0", cx.tensor(0)?.shape().rank(), "at least 2"));
    };
    let numbers = cx.floats(0)?;
    cx.reserve(product(numbers.len(), 24).saturating_add(product(size, size).saturating_mul(24)))?;
    cx.run.touch(product(numbers.len(), size).saturating_mul(2))?;
    let mut all = Vec::with_capacity(numbers.len());
    for (index, matrix) in numbers.chunks((size * size).max(1)).enumerate() {
        let own = inverse(matrix, size, &cx.limits())?;
        all.extend(own.ok_or_else(|| {
            Error::new(Kind::Value, format!("cannot invert matrix {index}: it is singular"))
        })?);
    }
    Ok(vec![cx.rounded(0, &all)?])
}

/// `CropAndResize`: parts of images, read at corners and evenly between.
pub fn crop_and_resize(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let nearest = match attributes.text("mode")? {
        None | Some("bilinear") => false,
        Some("nearest") => true,
        Some(other) => return Err(errors::value("attribute \"mode\"", other, "bilinear or nearest")),
    };
    let outside = f64::from(attributes.float("extrapolation_value")?.unwrap_or(0.0));
    let dims = cx.tensor(0)?.shape().dims();
    let (_, shape) = cx.output(0)?;
    let (&[images, channels, height, width], &[count, _, rows, columns]) = (dims, shape.dims()) else {
        return Err(errors::rank("input 0", dims.len(), 4));
    };
    let (numbers, boxes) = (cx.floats(0)?, shaped(cx, 1, &[count, 4])?);
    let batches = cx.integers(2)?;
    if batches.len() != count {
        return Err(errors::count("batch indices", batches.len(), count));
    }
    cx.run.touch(product(shape.len(), 4))?;
    // Positions along an axis; nothing of those that lie outside.
    let positions = |first: f64, last: f64, size: usize, count: usize| {
        let most = float_of(size) - 1.0;
        let position = move |at: usize| {
            let place = if count > 1 {
                first * most + float_of(at) * ((last - first) * most / (float_of(count) - 1.0))
            } else {
                0.5 * (first + last) * most
            };
            (0.0..=most).contains(&place).then_some(place)
        };
        (0..count).map(position).collect::<Vec<_>>()
    };
    let mut all = Vec::with_capacity(shape.len());
    for (corners, &batch) in boxes.chunks(4).zip(&batches) {
        let image = usize_of_i64(batch).filter(|&image| image < images).ok_or_else(|| {
            errors::value("batch index", batch, format_args!("0 to {}", images.saturating_sub(1)))
        })?;
        let down = positions(corners[0], corners[2], height, rows);
        let across = positions(corners[1], corners[3], width, columns);
        for channel in 0..channels {
            let own = &numbers[(image * channels + channel) * height * width..][..height * width];
            let read = |y: f64, x: f64| own[index_of(y) * width + index_of(x)];
            for y in &down {
                for x in &across {
                    all.push(match (y, x) {
                        (Some(y), Some(x)) if nearest => read(y.round(), x.round()),
                        (Some(y), Some(x)) => {
                            let (top, left) = (y.floor(), x.floor());
                            let row = |y: f64| {
                                let (a, b) = (read(y, left), read(y, x.ceil()));
                                a + (b - a) * (x - left)
                            };
                            let (a, b) = (row(top), row(y.ceil()));
                            a + (b - a) * (y - top)
                        }
                        _ => outside,
                    });
                }
            }
        }
    }
    Ok(vec![cx.rounded(0, &all)?])
}

/// The index that a number of an axis is.
fn index_of(place: f64) -> usize {
    truncated(place).and_then(|place| usize::try_from(place).ok()).unwrap_or(0)
}

/// `NGramRepeatBlock`: minus infinity for each token that would repeat a sequence of tokens.
pub fn n_gram_repeat_block(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let size = errors::at_least_1("ngram_size", required("ngram_size", attributes.int("ngram_size")?)?)?;
    let size = usize_of_i64(size).unwrap_or(usize::MAX);
    let (ids, scores) = (cx.tensor(0)?.shape().dims(), cx.tensor(1)?.shape().dims());
    let (&[batch, length], &[rows, tokens]) = (ids, scores) else {
        return Err(errors::rank("input 0", ids.len(), 2));
    };
    if rows != batch {
        return Err(errors::count("rows of the scores", rows, batch));
    }
    let (ids, mut scores) = (cx.integers(0)?, cx.floats(1)?);
    cx.run.touch(product(ids.len(), size.min(length)))?;
    for (ids, scores) in ids.chunks(length.max(1)).zip(scores.chunks_mut(tokens.max(1))) {
        if length < size {
            break;
        }
        let last = &ids[length + 1 - size..];
        for window in ids.windows(size).filter(|window| window.starts_with(last)) {
            let token = window[size - 1];
            let wanted = || format_args!("0 to {}", tokens.saturating_sub(1)).to_string();
            let place = usize_of_i64(token).and_then(|at| scores.get_mut(at));
            *place.ok_or_else(|| errors::value("token", token, wanted()))? = f64::NEG_INFINITY;
        }
    }
    Ok(vec![cx.rounded(0, &scores)?])
}

/// The 32-bit hash of bytes, as `MurmurHash3_x86_32` makes it.
fn murmur(bytes: &[u8], seed: u32) -> u32 {
    let mixed = |k: u32| k.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    let mut hash = seed;
    let mut blocks = bytes.chunks_exact(4);
    for block in &mut blocks {
        let k = u32::from_le_bytes(block.try_into().unwrap_or_default());
        hash = (hash ^ mixed(k)).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    let rest = blocks.remainder();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    hash ^= mixed(u32::from_le_bytes(last));
    hash ^= u32::try_from(bytes.len() & 0xffff_ffff).unwrap_or(0);
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

/// `MurmurHash3` of each element.
pub fn murmur_hash3(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let seed = attributes.int_or("seed", 0)?;
    let seed = u32::try_from(seed)
        .map_err(|_| errors::value("attribute \"seed\"", seed, "an unsigned 32-bit integer"))?;
    let (tensor, (dtype, shape)) = (cx.tensor(0)?, cx.output(0)?);
    cx.reserve(product(tensor.len(), 4))?;
    let hashes: Vec<u32> = match tensor.bytes() {
        Some(bytes) => {
            let size = (tensor.byte_len() / tensor.len().max(1)).max(1);
            bytes.chunks(size).map(|element| murmur(element, seed)).collect()
        }
        None => tensor.texts()?.iter().map(|text| murmur(text.as_bytes(), seed)).collect(),
    };
    let bytes: Vec<u8> = hashes.into_iter().flat_map(u32::to_le_bytes).collect();
    Ok(vec![Tensor::from_bytes(dtype, shape, bytes.into())?.into()])
}

/// The numbers that codes of 4 bits stand for, before the scale: with the type of bitsandbytes
/// that has a sign, two bits of exponent and one of mantissa, and with that whose numbers are
/// quantiles of the normal distribution.
const FP4: [f64; 16] = [
    0.0,
    5.208_333_333e-3,
    0.666_666_67,
    1.0,
    0.333_333_33,
    0.5,
    0.166_666_67,
    0.25,
    -0.0,
    -5.208_333_333e-3,
    -0.666_666_67,
    -1.0,
    -0.333_333_33,
    -0.5,
    -0.166_666_67,
    -0.25,
];
const NF4: [f64; 16] = [
    -1.0,
    -0.696_192_800_998_687_7,
    -0.525_073_051_452_636_7,
    -0.394_917_488_098_144_53,
    -0.284_441_381_692_886_35,
    -0.184_773_430_228_233_34,
    -0.091_050_036_251_544_95,
    0.0,
    0.079_580_299_556_255_34,
    0.160_930_201_411_247_25,
    0.246_112_301_945_686_34,
    0.337_915_241_718_292_24,
    0.440_709_829_330_444_34,
    0.562_617_003_917_694_1,
    0.722_956_836_223_602_3,
    1.0,
];

/// The attributes of `MatMulBnb4`: how its matrix of codes is read.
pub(super) struct Bnb4 {
    /// Rows and columns of the factor.
    pub(super) inner: usize,
    pub(super) columns: usize,
    /// Codes that have one scale.
    pub(super) block: usize,
    /// The numbers that codes stand for.
    pub(super) table: &'static [f64; 16],
    /// True if codes go down the columns of the factor, and not along its rows. ONNX Runtime 1.31
    /// reads them down the columns in either case, and beyond their end if K is not N.
    pub(super) down: bool,
    /// The number of codes.
    pub(super) count: usize,
}

impl Bnb4 {
    pub(super) fn new(attributes: &Attributes<'_>) -> Result<Bnb4> {
        let number = |name: &str| {
            let given = required(name, attributes.int(name)?)?;
            Ok::<_, Error>(usize_of_i64(errors::at_least_1(name, given)?).unwrap_or(1))
        };
        let (inner, columns, block) = (number("K")?, number("N")?, number("block_size")?);
        let table = match attributes.int_or("quant_type", 1)? {
            0 => &FP4,
            1 => &NF4,
            other => return Err(errors::value("attribute \"quant_type\"", other, "0 or 1")),
        };
        let count = inner.checked_mul(columns).filter(|&count| count <= isize::MAX.unsigned_abs());
        let count =
            count.ok_or_else(|| errors::value("attribute \"K\"", inner, "one that fits into memory"))?;
        let down = attributes.flag("transB", true)?;
        let (inner, columns) = if down { (inner, columns) } else { (columns, inner) };
        Ok(Bnb4 { inner, columns, block, table, down, count })
    }
}

/// `MatMulBnb4`: a product with a matrix of codes of 4 bits, scaled in blocks.
pub fn mat_mul_bnb4(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let Bnb4 { inner, columns, block, table, down, count } = Bnb4::new(attributes)?;
    let codes = cx.tensor(1)?.codes()?;
    if codes.len() != count.div_ceil(2) {
        return Err(errors::count("packed codes", codes.len(), count.div_ceil(2)));
    }
    let scales = cx.floats(2)?;
    if scales.len() != count.div_ceil(block) {
        return Err(errors::count("scales", scales.len(), count.div_ceil(block)));
    }
    let width = cx.tensor(0)?.shape().dims().last().copied().unwrap_or(0);
    if width != inner {
        return Err(errors::shape("columns of input 0", width, inner));
    }
    cx.reserve(product(count, 16))?;
    let weight = |at: usize| {
        let place = if down { at % columns * inner + at / columns } else { at };
        let pair = codes[place / 2];
        let code = if place % 2 == 0 { pair >> 4 } else { pair & 15 };
        table[usize::from(code)] * scales[place / block]
    };
    let weights: Vec<_> = (0..count).map(weight).collect();
    let x = cx.floats(0)?;
    let sums = products(cx, &x, &weights, Sizes { rows: x.len() / inner, inner, columns }, &[(0, 0)])?;
    Ok(vec![cx.rounded(0, &sums)?])
}
