//! Evaluation of `NGramRepeatBlock` and `MurmurHash3`.

use gradus_core::convert::{product, usize_of_i64};
use gradus_core::{Result, Tensor, Value};

use crate::attributes::{Attributes, required};
use crate::errors;
use crate::op::EvalContext;

/// `NGramRepeatBlock`: minus infinity for each token that would repeat a sequence of tokens.
pub fn n_gram_repeat_block(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let size = errors::at_least_1("ngram_size", required("ngram_size", attributes.int("ngram_size")?)?)?;
    let size = usize_of_i64(size).unwrap_or(usize::MAX);
    let (ids, scores) = (cx.tensor(0)?.shape().dims(), cx.tensor(1)?.shape().dims());
    let (&[batch, length], &[rows, tokens]) = (ids, scores) else {
        return Err(errors::rank("input 0", ids.len(), 2));
    };
    errors::expect_count("rows of the scores", rows, batch)?;
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
