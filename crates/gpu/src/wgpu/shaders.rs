//! The text of shaders, and pipelines made from it.

use gradus_core::DType;
use gradus_core::float::Format;

use super::given::Shader;
use crate::device::PlanFields;

/// The most doubts that a part has a list for.
pub(super) const CAPACITY: u64 = 4095;

/// The constants that stand before the text: what shaders need to know of an element type.
fn constants(dtype: DType) -> String {
    let bits = dtype.bits();
    let PlanFields { mantissa, least, infinity } =
        Format::of(dtype).map(|format| PlanFields::of(dtype, format)).unwrap_or_default();
    let mask = if bits < 32 { (1u32 << bits) - 1 } else { u32::MAX };
    let (each, float) = (128 / bits, dtype.is_float());
    format!(
        "const BITS: u32 = {bits}u;\nconst EACH: u32 = {each}u;\nconst MASK: u32 = {mask}u;\nconst FLOAT: bool = {float};\n\
         const MANTISSA: i32 = {mantissa};\nconst LEAST: i32 = {least};\nconst FIELD: i32 = {infinity};\n\
         const CAPACITY: u32 = {CAPACITY}u;\n"
    )
}

/// The text of a shader for an element type, on a device with integers of 64 bits or without.
pub(super) fn text(shader: Shader, dtype: DType, has_long: bool) -> String {
    let own = match shader {
        Shader::Wrapping => include_str!("wrapping.wgsl"),
        Shader::Line => include_str!("line.wgsl"),
        Shader::Powers => include_str!("powers.wgsl"),
    };
    let wide = if has_long { WIDE } else { include_str!("wide.wgsl") };
    [&constants(dtype), wide, include_str!("whole.wgsl"), own].concat()
}

/// The product of two words as the device makes it.
const WIDE: &str = "fn wide(a: u32, b: u32) -> vec2<u32> {
    let product = u64(a) * u64(b);
    return vec2(u32(product), u32(product >> 32u));
}
";

/// The text of the shader that puts bits into words.
pub(super) const PUT: &str = include_str!("put.wgsl");
