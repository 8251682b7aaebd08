//! Evaluation of products with matrices that are quantized in blocks of few bits.

use gradus_core::convert::{float_of, product, usize_of_i64};
use gradus_core::{Error, Result, Value};

use crate::attributes::{Attributes, required};
use crate::contrib::inputs::maybe_shaped;
#[cfg(any(feature = "run", feature = "convert"))]
use crate::floats::Sizes;
#[cfg(any(feature = "run", feature = "convert"))]
use crate::matmul::eval::products;
use crate::op::EvalContext;
use crate::{errors, indices};

/// `MatMulNBits`: a product with columns that are quantized in blocks of 2, 4 or 8 bits.
#[cfg(any(feature = "run", feature = "convert"))]
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
    errors::expect_count("scales", scales.len(), columns * blocks)?;
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
            errors::expect_count("zero points", zeros.len(), columns * blocks)?;
            zeros
        } else {
            let packed = tensor.codes()?;
            errors::expect_count("bytes of zero points", packed.len(), columns * row)?;
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
    let limits = cx.limits();
    let adding = cx.adding_doubles(&limits)?;
    let mut sums = products(cx, &x, &weights, sizes, &[(0, 0)], adding)?;
    if let Some(bias) = maybe_shaped(cx, 5, &[columns])? {
        for (at, sum) in sums.iter_mut().enumerate() {
            *sum += bias[at % columns];
        }
    }
    Ok(vec![cx.rounded(0, &sums)?])
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
    /// Sizes and table of codes of a `MatMulBnb4`, as attributes give them.
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
#[cfg(any(feature = "run", feature = "convert"))]
pub fn mat_mul_bnb4(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let Bnb4 { inner, columns, block, table, down, count } = Bnb4::new(attributes)?;
    let codes = cx.tensor(1)?.codes()?;
    errors::expect_count("packed codes", codes.len(), count.div_ceil(2))?;
    let scales = cx.floats(2)?;
    errors::expect_count("scales", scales.len(), count.div_ceil(block))?;
    let width = cx.tensor(0)?.shape().dims().last().copied().unwrap_or(0);
    errors::expect_shape("columns of input 0", width, inner)?;
    cx.reserve(product(count, 16))?;
    let weight = |at: usize| {
        let place = if down { at % columns * inner + at / columns } else { at };
        let pair = codes[place / 2];
        let code = if place % 2 == 0 { pair >> 4 } else { pair & 15 };
        table[usize::from(code)] * scales[place / block]
    };
    let weights: Vec<_> = (0..count).map(weight).collect();
    let x = cx.floats(0)?;
    let limits = cx.limits();
    let (sizes, adding) = (Sizes { rows: x.len() / inner, inner, columns }, cx.adding_doubles(&limits)?);
    let sums = products(cx, &x, &weights, sizes, &[(0, 0)], adding)?;
    Ok(vec![cx.rounded(0, &sums)?])
}
