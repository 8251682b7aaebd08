//! The text of shaders, and pipelines made from it.

use gradus_core::DType;
use gradus_core::float::Format;

use super::given::Shader;

/// The most doubts that a part has a list for.
pub(super) const CAPACITY: u64 = 4095;

/// The constants that stand before the text: what shaders need to know of an element type.
fn constants(dtype: DType) -> String {
    let bits = dtype.bits();
    let (mantissa, least, field) = Format::of(dtype).map_or((0, 0, 0), |format| {
        let mantissa = format.precision() - 1;
        // The smallest number is that many powers of two from 1, so the exponents are as many as 2 to the bits that are left.
        (
            mantissa,
            format.least_exponent(),
            (1u32 << (gradus_core::convert::small_u32(bits) - 1 - mantissa)) - 1,
        )
    });
    let (word, result) = if bits == 64 { ("vec2<u32>", "x") } else { ("u32", "x.x") };
    let mask = if bits < 32 { (1u32 << bits) - 1 } else { u32::MAX };
    let (each, float) = ((32 / bits).max(1), dtype.is_float());
    format!(
        "const BITS: u32 = {bits}u;\nconst EACH: u32 = {each}u;\nconst MASK: u32 = {mask}u;\nconst FLOAT: bool = {float};\n\
         const MANTISSA: i32 = {mantissa};\nconst LEAST: i32 = {least};\nconst FIELD: i32 = {field};\n\
         const CAPACITY: u32 = {CAPACITY}u;\nalias Word = {word};\nfn word(x: vec2<u32>) -> Word {{ return {result}; }}\n"
    )
}

/// The text of a shader for an element type.
pub(super) fn text(shader: Shader, dtype: DType) -> String {
    let own = match shader {
        Shader::Line => include_str!("line.wgsl"),
        Shader::Powers => include_str!("powers.wgsl"),
    };
    [&constants(dtype), include_str!("whole.wgsl"), own].concat()
}

/// The text of the shader that puts bits into words.
pub(super) const PUT: &str = include_str!("put.wgsl");
