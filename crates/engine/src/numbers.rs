//! Attributes of integers whose values no node may have all of: ranges, and lists of one length.

use gradus_core::{Error, Kind, Result};

use crate::attributes::Attributes;
use crate::operators::errors;

/// Attributes of integers, or of lists of them, that have a range, or one length.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    /// The names of the attributes.
    pub attributes: &'static [&'static str],
    minimum: i64,
    maximum: i64,
    alike: bool,
}

/// The attributes that are true or false in every operator of ONNX that has them, sorted.
pub const FLAGS: Numbers = Numbers::bits(&[
    "align_corners",
    "allowzero",
    "antialias",
    "ceil_mode",
    "center_point_box",
    "count_include_pad",
    "detect_negative",
    "detect_positive",
    "do_rotary",
    "exclude_outside",
    "exclusive",
    "fmod",
    "input_forget",
    "interleaved",
    "inverse",
    "is_case_sensitive",
    "is_causal",
    "is_packed_batching",
    "keepdims",
    "largest",
    "layout",
    "linear_before_reset",
    "new_axis",
    "noop_with_empty_axes",
    "onesided",
    "periodic",
    "reverse",
    "rotary_interleaved",
    "saturate",
    "select_last_index",
    "sorted",
    "spatial",
    "storage_order",
    "training_mode",
    "transA",
    "transB",
    "unidirectional",
    "upper",
]);

impl Numbers {
    /// Attributes whose integers are at least a number.
    pub const fn at_least(minimum: i64, attributes: &'static [&'static str]) -> Numbers {
        Numbers { attributes, minimum, maximum: i64::MAX, alike: false }
    }

    /// Attributes whose integers are of a range.
    pub const fn within(minimum: i64, maximum: i64, attributes: &'static [&'static str]) -> Numbers {
        Numbers { maximum, ..Numbers::at_least(minimum, attributes) }
    }

    /// Attributes whose integers are zero or one.
    pub const fn bits(attributes: &'static [&'static str]) -> Numbers {
        Numbers::within(0, 1, attributes)
    }

    /// Attributes that are lists of the length of the first one that is not empty, unless they
    /// are empty.
    pub const fn alike(attributes: &'static [&'static str]) -> Numbers {
        Numbers { alike: true, ..Numbers::at_least(i64::MIN, attributes) }
    }

    /// Checks the attributes that are given.
    ///
    /// # Errors
    /// [`Kind::Value`] for an integer out of the range, [`Kind::Shape`] for a list of another
    /// length, [`Kind::Type`] for what is no integer.
    pub fn check(&self, attributes: &Attributes<'_>) -> Result<()> {
        let mut first: Option<(&str, usize)> = None;
        let is_given = attributes.given();
        for &name in self.attributes.iter().filter(|name| is_given(name)) {
            let Some(list) = attributes.list(name)? else { continue };
            let outside = |number: &&i64| !(self.minimum..=self.maximum).contains(*number);
            if let Some(&number) = list.iter().find(outside) {
                let wanted = match self.maximum {
                    i64::MAX => format!("at least {}", self.minimum),
                    maximum => format!("{} to {maximum}", self.minimum),
                };
                return Err(errors::value(format_args!("attribute \"{name}\""), number, wanted));
            }
            match first {
                _ if list.is_empty() => {}
                Some((other, len)) if self.alike && len != list.len() => {
                    let what = format_args!("length of attribute \"{name}\"");
                    let wanted = format_args!("{len}, as that of \"{other}\"");
                    return Err(Error::mismatch(Kind::Shape, what, list.len(), wanted));
                }
                _ => first = first.or(Some((name, list.len()))),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::FLAGS;

    /// They are looked up by a binary search.
    #[test]
    fn flags_are_sorted() {
        assert!(FLAGS.attributes.is_sorted_by(|a, b| a < b));
    }
}
