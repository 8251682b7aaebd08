//! Evaluation of attention, in float64 from the products of queries and keys to the sums of values;
//! and of `TensorScatter`, which writes caches.

use gradus_core::convert::{float_of, i64_of, product, usize_of_i64};
use gradus_core::{DType, Result, Tensor, Value};
use gradus_kernels::{share_map, threads};

use crate::attributes::{Attributes, required};
use crate::floats::{Adding, Matrix, Numbers, Sizes, product_of};
use crate::op::EvalContext;
use crate::strided::threads_for;
use crate::words;
use crate::{errors, indices};

/// Heads of queries, and of the keys and values that they attend to.
#[derive(Clone, Copy, Debug)]
pub struct Heads {
    pub batch: usize,
    pub queries: usize,
    /// Heads of keys and values; each is shared by as many heads of queries as it takes.
    pub keys: usize,
    /// Positions of queries, and of keys.
    pub length: usize,
    pub total: usize,
    pub size: usize,
    pub value_size: usize,
}

/// The change of a score before the softmax.
pub struct Scores<F> {
    pub scale: f64,
    /// The bound that scores approach; 0 for none.
    pub cap: f64,
    /// The term added by sample, head, query and key; minus infinity where a key is not attended
    /// to.
    pub bias: F,
    /// The scores that are returned besides the result: raw ones, capped, with the bias, or after
    /// the softmax.
    pub stage: Option<i64>,
    /// A score for each head that takes part in the softmax, and has no value.
    pub sinks: Option<Vec<f64>>,
}

/// Replaces numbers by their exponentials, which sum up to 1 with that of the sink; where all are
/// minus infinity, by 0.
fn softmax(row: &mut [f64], sink: f64, adding: Adding<'_>) {
    let most =
        row.iter().copied().fold(sink, |a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) });
    if most == f64::NEG_INFINITY {
        row.fill(0.0);
        return;
    }
    for x in &mut *row {
        *x = libm::exp(*x - most);
    }
    let sum = adding.within().sum(row.iter().copied()) + libm::exp(sink - most);
    for x in row {
        *x /= sum;
    }
}

impl Heads {
    /// The sums of values, by sample, head, query and element, and the wanted scores.
    pub fn attend<F>(
        &self,
        cx: &mut EvalContext<'_>,
        [q, k, v]: [&[f64]; 3],
        scores: &Scores<F>,
    ) -> Result<(Vec<f64>, Vec<f64>)>
    where
        F: Fn(usize, usize, usize, usize) -> f64 + Sync,
    {
        let Heads { batch, queries, keys, length, total, size, value_size } = *self;
        let count = product(batch * queries, length).saturating_mul(product(total, 1));
        cx.run.touch(count.saturating_mul(product(size + value_size, 1)))?;
        let at_once = if scores.stage.is_some() { count } else { product(length * total, threads()) };
        cx.reserve(at_once.saturating_mul(16).saturating_add(product(batch * queries, 64)))?;
        for (inner, columns) in [(size, total), (total, value_size)] {
            cx.reserve(Sizes { rows: length, inner, columns }.bytes(1, threads()))?;
        }
        let limits = cx.limits();
        let adding = cx.adding_doubles(&limits)?;
        let head = |at: usize| {
            limits.check()?;
            let (sample, head) = (at / queries, at % queries);
            let shared = sample * keys + head * keys / queries;
            let q = &q[at * length * size..][..length * size];
            let k = &k[shared * total * size..][..total * size];
            let v = &v[shared * total * value_size..][..total * value_size];
            let by_row = |numbers, row| Matrix::new(Numbers::Doubles(numbers), row, 1);
            let columns = Matrix::new(Numbers::Doubles(k), 1, size);
            let sizes = Sizes { rows: length, inner: size, columns: total };
            let mut rows = product_of(by_row(q, size), columns, sizes, adding.within())?;
            let mut wanted = Vec::new();
            let mut keep = |stage: i64, rows: &[f64]| {
                if scores.stage == Some(stage) {
                    wanted = rows.to_vec();
                }
            };
            for x in &mut rows {
                *x *= scores.scale;
            }
            keep(0, &rows);
            if scores.cap > 0.0 {
                for x in &mut rows {
                    *x = scores.cap * libm::tanh(*x / scores.cap);
                }
            }
            keep(1, &rows);
            for (place, x) in rows.iter_mut().enumerate() {
                *x += (scores.bias)(sample, head, place / total, place % total);
            }
            keep(2, &rows);
            let sink = scores.sinks.as_ref().map_or(f64::NEG_INFINITY, |sinks| sinks[head]);
            rows.chunks_mut(total.max(1)).for_each(|row| softmax(row, sink, adding));
            keep(3, &rows);
            let sizes = Sizes { rows: length, inner: total, columns: value_size };
            Ok((product_of(by_row(&rows, total), by_row(v, value_size), sizes, adding)?, wanted))
        };
        let done: Vec<(Vec<f64>, Vec<f64>)> = share_map(0..batch * queries, threads_for(count), head)?;
        let (sums, wanted): (Vec<_>, Vec<_>) = done.into_iter().unzip();
        Ok((sums.concat(), wanted.concat()))
    }
}

/// Rows by position and head, from or to heads and positions.
pub fn exchanged(numbers: &[f64], batch: usize, [first, second]: [usize; 2], size: usize) -> Vec<f64> {
    let mut results = Vec::with_capacity(numbers.len());
    let batch = if numbers.is_empty() { 0 } else { batch };
    for sample in 0..batch {
        for b in 0..second {
            for a in 0..first {
                let at = (sample * first + a) * second + b;
                results.extend_from_slice(&numbers[at * size..][..size]);
            }
        }
    }
    results
}

/// The past of keys or values with the present after it.
pub fn continued(past: &[f64], present: &[f64], heads: usize) -> Vec<f64> {
    if heads == 0 || past.is_empty() {
        return present.to_vec();
    }
    let (before, now) = (past.len() / heads, present.len() / heads);
    let mut all = Vec::with_capacity(past.len() + present.len());
    for head in 0..heads {
        all.extend_from_slice(&past[head * before..][..before]);
        all.extend_from_slice(&present[head * now..][..now]);
    }
    all
}

/// The term that a mask adds to scores, by sample, head, query and key.
#[derive(Debug)]
pub struct Mask {
    dims: Vec<usize>,
    numbers: Vec<f64>,
}

impl Mask {
    /// An input: truth values say which keys are attended to, floats are added.
    pub fn read(cx: &EvalContext<'_>, input: usize) -> Result<Option<Mask>> {
        if !cx.has(input) {
            return Ok(None);
        }
        let mask = cx.tensor(input)?;
        let mut numbers = cx.floats(input)?;
        if mask.dtype() == DType::Bool {
            for x in &mut numbers {
                *x = if *x == 0.0 { f64::NEG_INFINITY } else { 0.0 };
            }
        }
        Ok(Some(Mask { dims: mask.shape().dims().to_vec(), numbers }))
    }

    /// The terms that are added; keys beyond the mask are not attended to.
    pub fn at(&self, position: [usize; 4]) -> f64 {
        let mut place = 0;
        let own = &position[position.len() - self.dims.len()..];
        for (axis, (&size, &at)) in self.dims.iter().zip(own).enumerate() {
            if axis + 1 == self.dims.len() && at >= size {
                return f64::NEG_INFINITY;
            }
            place = place * size + if size == 1 { 0 } else { at };
        }
        self.numbers[place]
    }
}

/// `Attention` of ONNX: `softmax(query * key^T * scale + bias) * value`, with cached keys and
/// values.
pub fn attention(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let dims = |input: usize| Ok::<_, gradus_core::Error>(cx.tensor(input)?.shape().dims());
    let (qd, kd, vd) = (dims(0)?, dims(1)?, dims(2)?);
    let flat = qd.len() == 3;
    let heads = |name: &str| required(name, attributes.int(name)?.and_then(usize_of_i64));
    let (queries, keys) = if flat { (heads("q_num_heads")?, heads("kv_num_heads")?) } else { (qd[1], kd[1]) };
    let (length, new) = if flat { (qd[1], kd[1]) } else { (qd[2], kd[2]) };
    let (size, value_size) = if flat { (qd[2] / queries, vd[2] / keys) } else { (qd[3], vd[3]) };
    let batch = qd[0];
    let (mut q, mut k, mut v) = (cx.floats(0)?, cx.floats(1)?, cx.floats(2)?);
    if flat {
        q = exchanged(&q, batch, [length, queries], size);
        k = exchanged(&k, batch, [new, keys], size);
        v = exchanged(&v, batch, [new, keys], value_size);
    }
    let past = if cx.has(4) { cx.tensor(4)?.shape().dims()[2] } else { 0 };
    if cx.has(4) && cx.has(5) {
        k = continued(&cx.floats(4)?, &k, batch * keys);
        v = continued(&cx.floats(5)?, &v, batch * keys);
    }
    let total = past + new;
    let mask = Mask::read(cx, 3)?;
    let valid = cx.maybe_integers(6)?;
    let window = |name: &str| Ok::<_, gradus_core::Error>(attributes.int(name)?.filter(|&size| size >= 0));
    let (left, right) = (window("left_window_size")?, window("right_window_size")?);
    let causal = attributes.flag("is_causal", false)?;
    let bias = |sample: usize, head: usize, query: usize, key: usize| {
        let before = match &valid {
            Some(valid) if !cx.inputs.get(4).is_some_and(Option::is_some) => {
                valid[sample].saturating_sub(i64_of(length))
            }
            _ => i64_of(past),
        };
        let ahead = i64_of(key).saturating_sub(i64_of(query).saturating_add(before));
        let outside = (causal && ahead > 0)
            || left.is_some_and(|left| ahead.saturating_neg() > left)
            || right.is_some_and(|right| ahead > right)
            || valid.as_ref().is_some_and(|valid| i64_of(key) >= valid[sample]);
        let added = mask.as_ref().map_or(0.0, |mask| mask.at([sample, head, query, key]));
        if outside { f64::NEG_INFINITY } else { added }
    };
    let scale = attributes.float("scale")?.map_or_else(|| float_of(size).sqrt().recip(), f64::from);
    let cap = attributes.float("softcap")?.unwrap_or(0.0).into();
    let stage =
        if cx.outputs > 3 { Some(attributes.int("qk_matmul_output_mode")?.unwrap_or(0)) } else { None };
    let of = Heads { batch, queries, keys, length, total, size, value_size };
    let inputs = cx.inputs;
    let (mut y, wanted) = {
        let scores = Scores { scale, cap, bias: &bias, stage, sinks: None };
        debug_assert!(inputs.len() >= 3);
        let mut inner = EvalContext { run: &mut *cx.run, ..*cx };
        of.attend(&mut inner, [&q, &k, &v], &scores)?
    };
    if flat {
        y = exchanged(&y, batch, [queries, length], value_size);
    }
    let mut outputs = vec![cx.rounded(0, &y)?];
    for (output, numbers) in [(1, &k), (2, &v), (3, &wanted)].into_iter().take(cx.outputs.saturating_sub(1)) {
        outputs.push(cx.rounded(output, numbers)?);
    }
    Ok(outputs)
}

/// `LinearAttention`: a state that each position updates, and each query reads.
pub fn linear(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let heads = |name: &str| required(name, attributes.int(name)?.and_then(usize_of_i64));
    let (queries, keys) = (heads("q_num_heads")?, heads("kv_num_heads")?);
    let rule = words::UPDATE_RULE.of(attributes)?;
    let (gated, delta) = match rule {
        "linear" => (false, false),
        "gated" => (true, false),
        "delta" => (false, true),
        _ => (true, true),
    };
    let [batch, steps, width] = cx.dims(0)?;
    let values = cx.tensor(2)?.shape().dims()[2] / keys;
    let size = width / queries;
    let scale = attributes.float("scale")?.filter(|&scale| scale != 0.0);
    let scale = scale.map_or_else(|| float_of(size).sqrt().recip(), f64::from);
    let (q, k, v) = (cx.floats(0)?, cx.floats(1)?, cx.floats(2)?);
    let mut state = cx.maybe_floats(3)?.unwrap_or_else(|| vec![0.0; batch * keys * size * values]);
    let decay = if gated { cx.floats(4)? } else { Vec::new() };
    let beta = if delta { cx.floats(5)? } else { Vec::new() };
    cx.run.touch(product(batch * steps, queries.max(keys)).saturating_mul(product(size, 4 * values)))?;
    // By position: how many numbers there are for each head.
    let per = |numbers: &[f64]| numbers.len().checked_div(batch * steps).unwrap_or(0);
    let (decays, betas) = (per(&decay) / keys.max(1), per(&beta));
    let mut y = vec![0.0; batch * steps * queries * values];
    // Without state there is nothing to update or to read.
    let positions = if size * values == 0 { 0 } else { batch * steps };
    for at in 0..positions {
        cx.limits().check()?;
        for head in 0..keys {
            let state = &mut state[(at / steps * keys + head) * size * values..][..size * values];
            let k = &k[(at * keys + head) * size..][..size];
            let v = &v[(at * keys + head) * values..][..values];
            if gated {
                for (row, state) in state.chunks_mut(values.max(1)).enumerate() {
                    let index = (at * keys + head) * decays + if decays == 1 { 0 } else { row };
                    let factor = libm::exp(decay[index]);
                    for x in state {
                        *x *= factor;
                    }
                }
            }
            let rate = if delta { beta[at * betas + if betas == 1 { 0 } else { head }] } else { 1.0 };
            for column in 0..values {
                let known: f64 = if delta {
                    (0..size).map(|row| state[row * values + column] * k[row]).sum()
                } else {
                    0.0
                };
                let change = rate * (v[column] - known);
                for row in 0..size {
                    state[row * values + column] += k[row] * change;
                }
            }
        }
        for head in 0..queries {
            let state =
                &state[(at / steps * keys + head * keys / queries) * size * values..][..size * values];
            let q = &q[(at * queries + head) * size..][..size];
            for column in 0..values {
                let sum: f64 = (0..size).map(|row| q[row] * state[row * values + column]).sum();
                y[(at * queries + head) * values + column] = scale * sum;
            }
        }
    }
    Ok(vec![cx.rounded(0, &y)?, cx.rounded(1, &state)?])
}

/// `TensorScatter`: the update is written into the cache, from an index for each sample on.
pub fn tensor_scatter(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (cache, update) = (cx.tensor(0)?, cx.tensor(1)?);
    let dims = cache.shape().dims();
    let axis = indices::axis(attributes.int("axis")?.unwrap_or(-2), dims.len())?;
    let (most, new) = (dims[axis], update.shape().dims()[axis]);
    let starts = cx.maybe_integers(2)?;
    let circular = words::CACHE.of(attributes)? == "circular";
    let inner: usize = dims[axis + 1..].iter().product();
    if update.is_empty() {
        return Ok(vec![cache.clone().into()]);
    }
    let rows: usize = dims[..axis].iter().product();
    let shape = crate::output::allowed(cx, cache.dtype(), dims)?;
    let mut places: Vec<_> = (0..cache.len()).map(|place| (0, place)).collect();
    for row in 0..rows {
        let sample = row / (rows / dims[0].max(1)).max(1);
        let start = starts.as_ref().map_or(0, |starts| starts[sample]);
        for step in 0..new {
            let at = start.saturating_add(i64_of(step));
            let at = if circular && most > 0 { at.rem_euclid(i64_of(most)) } else { at };
            let at = usize_of_i64(at).filter(|&at| at < most);
            let at =
                at.ok_or_else(|| errors::out_of_range("index", start.saturating_add(i64_of(step)), most))?;
            for element in 0..inner {
                places[(row * most + at) * inner + element] = (1, (row * new + step) * inner + element);
            }
        }
    }
    Ok(vec![Tensor::woven(&[cache, update], shape, places, &cx.limits())?.into()])
}
