//! Rules that may change the last bits of floats.

use super::Rule;

pub(super) const RULES: &[Rule] = &[];
