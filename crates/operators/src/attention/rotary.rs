//! Evaluation of rotary embeddings: pairs of elements of heads, turned by the angle of a position.

use gradus_core::convert::usize_of_i64;
use gradus_core::{Result, Value};

use crate::attributes::Attributes;
use crate::indices;
use crate::op::EvalContext;

/// Turns pairs of elements of a head by angles, of which the sine and cosine are given.
#[derive(Clone, Copy, Debug)]
pub struct Rotation {
    /// Elements of a head that are turned.
    pub turned: usize,
    /// True if the elements of a pair are neighbours, and not half of the turned elements apart.
    pub interleaved: bool,
}

impl Rotation {
    /// Turns a head.
    pub fn turn(self, head: &mut [f64], cos: &[f64], sin: &[f64]) {
        let half = self.turned / 2;
        for pair in 0..half {
            let (a, b) = if self.interleaved { (2 * pair, 2 * pair + 1) } else { (pair, pair + half) };
            let (x, y) = (head[a], head[b]);
            head[a] = x * cos[pair] - y * sin[pair];
            head[b] = x * sin[pair] + y * cos[pair];
        }
    }
}

/// `RotaryEmbedding` of ONNX.
pub fn rotary(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let dims = cx.tensor(0)?.shape().dims();
    let positions = cx.maybe_integers(3)?;
    rotated(attributes, cx, dims, [1, 2], |sample, step, steps| {
        positions.as_ref().map_or(Ok(sample * steps + step), |positions| {
            let most = cx.tensor(1)?.shape().dims()[0];
            indices::index(positions[sample * steps + step], most)
        })
    })
}

/// The first input with its heads turned by the rows of cosines and sines that a function names.
pub fn rotated(
    attributes: &Attributes<'_>,
    cx: &EvalContext<'_>,
    dims: &[usize],
    [cos, sin]: [usize; 2],
    row: impl Fn(usize, usize, usize) -> Result<usize>,
) -> Result<Vec<Value>> {
    let half = cx.tensor(cos)?.shape().dims().last().copied().unwrap_or(0);
    let (cos, sin) = (cx.floats(cos)?, cx.floats(sin)?);
    let mut numbers = cx.floats(0)?;
    let (steps, heads) = if let [_, heads, steps, _] = *dims {
        (steps, heads)
    } else {
        let own = attributes.int("num_heads")?.and_then(usize_of_i64).filter(|&heads| heads > 0);
        (dims[1], own.unwrap_or_else(|| dims[2] / (2 * half).max(1)))
    };
    let size = if dims.len() == 4 { dims[3] } else { dims[2] / heads.max(1) };
    let given = attributes.int("rotary_embedding_dim")?.and_then(usize_of_i64).filter(|&size| size > 0);
    let rotation = Rotation {
        turned: given.unwrap_or(size).min(size).min(2 * half),
        interleaved: attributes.flag("interleaved", false)?,
    };
    for (at, head) in numbers.chunks_mut(size.max(1)).enumerate() {
        let (sample, step) = if dims.len() == 4 {
            (at / steps / heads, at % steps)
        } else {
            (at / heads / steps, at / heads % steps)
        };
        let row = row(sample, step, steps)?;
        rotation.turn(head, &cos[row * half..][..half], &sin[row * half..][..half]);
    }
    Ok(vec![cx.rounded(0, &numbers)?])
}
