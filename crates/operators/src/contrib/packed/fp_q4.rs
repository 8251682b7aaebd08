//! `MatMulFpQ4`: a product with a matrix of codes of 4 bits, which are packed with their scales.
//!
//! The text names blocks of 32 rows of a column with and without an offset, but not where their
//! parts lie; ONNX Runtime 1.31 reads a block as its scale, a float32, the byte of its offset, if
//! it has one, and 16 bytes, whose low halves are the codes of its first 16 rows.

use gradus_core::convert::{i64_of, product, usize_of_i64};
use gradus_core::{DType, Kind, Result, Shape, Tensor, Value};

use crate::attributes::Attributes;
use crate::contrib::inputs::unsupported;
use crate::contrib::packed::lowered::product_of_blocks;
use crate::conversion::caveats;
use crate::dim::Bounds;
use crate::errors;
use crate::fact::Fact;
#[cfg(any(feature = "run", feature = "convert"))]
use crate::floats::Sizes;
use crate::infer::{InferContext, InferResult};
use crate::lowering::{LoweredValue, Lowering};
#[cfg(any(feature = "run", feature = "convert"))]
use crate::matmul::eval::products;
use crate::op::EvalContext;

/// Rows of a block.
const BLOCK: usize = 32;

/// Bytes of a scale.
const SCALE: usize = 4;

/// The offset of blocks that have none of their own.
const MIDDLE: u8 = 8;

/// Returns true if blocks have an offset.
fn has_offsets(attributes: &Attributes<'_>) -> Result<bool> {
    match attributes.int_or("blk_quant_type", 1)? {
        0 => Ok(false),
        1 => Ok(true),
        // Blocks of 64 by the text, but of 32 with an offset in ONNX Runtime.
        2 => Err(unsupported("MatMulFpQ4 with blk_quant_type=2")),
        other => Err(errors::value("attribute \"blk_quant_type\"", other, "0, 1 or 2")),
    }
}

/// Bytes of a block.
fn bytes_of_block(offsets: bool) -> usize {
    SCALE + usize::from(offsets) + BLOCK / 2
}

/// The last axis is that of the columns which the third input names.
pub fn rule(cx: &mut InferContext<'_, '_>) -> InferResult {
    let dims = cx.dims(0)?;
    let Some((&inner, rows)) = dims.split_last() else {
        return Err(errors::rank(cx.input_label(0), 0, "at least 1").into());
    };
    let columns = match cx.integers(2).as_deref() {
        Some(&[wanted, columns]) => {
            cx.equal(inner, wanted, errors::INNER_SIZE)?;
            if let (Some(inner), Some(columns)) = (wanted.known(), columns.known()) {
                let [inner, columns] = sizes(&[inner, columns])?;
                match has_offsets(&cx.attributes) {
                    Ok(offsets) => {
                        let wanted = product(columns, inner.div_ceil(BLOCK))
                            .saturating_mul(product(bytes_of_block(offsets), 1));
                        cx.elements_of(1, i64::try_from(wanted).unwrap_or(i64::MAX))?;
                    }
                    Err(error) if error.kind() == Kind::Unsupported => {}
                    Err(error) => return Err(error.into()),
                }
            }
            columns
        }
        Some(other) => return Err(errors::count("elements of input 2", other.len(), 2).into()),
        None => {
            cx.elements_of(2, 2)?;
            cx.require_of_values("input 2 is the shape of the factor".to_owned());
            cx.data("the shape of the factor is not known before the run", Bounds::SIZE)
        }
    };
    let all: Vec<_> = rows.iter().copied().chain([columns]).collect();
    Ok(vec![Fact::tensor(cx.dtype(0), all)])
}

/// The rows and columns of the factor.
fn sizes(given: &[i64]) -> Result<[usize; 2]> {
    let &[inner, columns] = given else {
        return Err(errors::count("elements of input 2", given.len(), 2));
    };
    let size = |size: i64| {
        let known = usize_of_i64(size).filter(|&size| size > 0);
        known.ok_or_else(|| errors::value("size of input 1", size, "at least 1"))
    };
    Ok([size(inner)?, size(columns)?])
}

/// The codes of all columns, rows that fill a block included, with the scale and the offset of each
/// block.
struct Factor {
    codes: Vec<u8>,
    scales: Vec<f32>,
    offsets: Vec<u8>,
    blocks: usize,
}

impl Factor {
    fn new(packed: &[u8], [inner, columns]: [usize; 2], offsets: bool) -> Result<Factor> {
        let (blocks, each) = (inner.div_ceil(BLOCK), bytes_of_block(offsets));
        let wanted = product(columns, blocks).saturating_mul(product(each, 1));
        if product(packed.len(), 1) != wanted {
            return Err(errors::count("packed bytes", packed.len(), wanted));
        }
        let mut all = Factor { codes: Vec::new(), scales: Vec::new(), offsets: Vec::new(), blocks };
        for block in packed.chunks_exact(each) {
            let (scale, rest) = block.split_at(SCALE);
            all.scales.push(f32::from_le_bytes(scale.try_into().unwrap_or_default()));
            let (offset, codes) = rest.split_at(usize::from(offsets));
            all.offsets.push(offset.first().copied().unwrap_or(MIDDLE));
            all.codes.extend(codes.iter().map(|pair| pair & 15));
            all.codes.extend(codes.iter().map(|pair| pair >> 4));
        }
        Ok(all)
    }
}

/// `MatMulFpQ4`: a product with a matrix of codes of 4 bits, packed with their scales.
#[cfg(any(feature = "run", feature = "convert"))]
pub fn mat_mul_fp_q4(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let offsets = has_offsets(attributes)?;
    let [inner, columns] = sizes(&cx.integers(2)?)?;
    let width = cx.tensor(0)?.shape().dims().last().copied();
    let width = width.ok_or_else(|| errors::rank("input 0", 0, "at least 1"))?;
    errors::expect_shape("columns of input 0", width, inner)?;
    let packed = cx.tensor(1)?;
    cx.reserve(product(packed.len(), 4).saturating_add(product(inner, columns).saturating_mul(8)))?;
    let Factor { codes, scales, offsets, blocks } = Factor::new(&packed.codes()?, [inner, columns], offsets)?;
    let weight = |at: usize| {
        let (column, row) = (at % columns, at / columns);
        let block = column * blocks + row / BLOCK;
        let code = codes[block * BLOCK + row % BLOCK];
        (f64::from(code) - f64::from(offsets[block])) * f64::from(scales[block])
    };
    let weights: Vec<_> = (0..inner * columns).map(weight).collect();
    let x = cx.floats(0)?;
    let limits = cx.limits();
    let (sizes, adding) = (Sizes { rows: x.len() / inner, inner, columns }, cx.adding_doubles(&limits)?);
    let sums = products(cx, &x, &weights, sizes, &[(0, 0)], adding)?;
    Ok(vec![cx.rounded(0, &sums)?])
}

/// The codes of a constant factor, which stay in 4 bits, or in 8 if its offsets do not fit.
pub fn to_onnx(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let offsets = has_offsets(&l.attributes)?;
    let given = l.known_integers(2)?.ok_or_else(|| l.unknown("value of input 2"))?;
    let [inner, columns] = sizes(&given)?;
    let packed = l.known(1)?.ok_or_else(|| l.unknown("value of input 1"))?;
    l.rounding(caveats::ORDER);
    let Factor { codes, scales, offsets, blocks } = Factor::new(&packed.codes()?, [inner, columns], offsets)?;
    let dtype = if offsets.iter().all(|&offset| offset < 16) { DType::U4 } else { DType::U8 };
    let grid = Shape::new([columns, blocks])?;
    let codes = Tensor::from_codes(dtype, Shape::new([columns, blocks * BLOCK])?, &codes)?;
    let offsets = Tensor::from_codes(dtype, grid.clone(), &offsets)?;
    let scales = Tensor::from_vec(grid, scales)?;
    let (codes, offsets, scales) = (l.constant(codes)?, l.constant(offsets)?, l.constant(scales)?);
    let padded = i64_of(blocks * BLOCK);
    Ok(vec![product_of_blocks(l, [codes, scales, offsets], [i64_of(inner), padded], i64_of(BLOCK))?])
}
