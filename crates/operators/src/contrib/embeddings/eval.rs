//! Evaluation of `EmbedLayerNormalization`, in float64.

use gradus_core::convert::{float_of, i64_of, product};
use gradus_core::{Result, Value};

use crate::attributes::Attributes;
use crate::contrib::inputs::shaped;
use crate::normalization::eval::standardize;
use crate::op::EvalContext;
use crate::{errors, indices};

/// `EmbedLayerNormalization`: the sum of embeddings, normalized.
pub fn embed(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let epsilon = attributes.float("epsilon")?.unwrap_or(1e-12).into();
    let [batch, steps] = cx.dims(0)?;
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
