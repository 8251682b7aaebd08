//! Floats of trees, which attributes or tensors list.

use gradus_core::Result;
use gradus_core::convert::nearest_f64;

use crate::attributes::Attributes;

/// Floats, which are read where they are: there may be millions.
pub(super) enum FloatList<'a> {
    Floats(&'a [f32]),
    /// The elements of a tensor.
    Doubles(Vec<f64>),
}

impl FloatList<'_> {
    /// The number of elements.
    pub(super) fn len(&self) -> usize {
        match self {
            FloatList::Floats(all) => all.len(),
            FloatList::Doubles(all) => all.len(),
        }
    }

    /// The element at an index.
    pub(super) fn at(&self, index: usize) -> f64 {
        match self {
            FloatList::Floats(all) => all[index].into(),
            FloatList::Doubles(all) => all[index],
        }
    }
}

/// The floats of an attribute, or those of its alternative that is a tensor.
pub(super) fn floats(attributes: &Attributes<'_>, name: &str) -> Result<Vec<f64>> {
    Ok(match float_list(attributes, name)? {
        FloatList::Doubles(all) => all,
        FloatList::Floats(all) => all.iter().map(|&x| x.into()).collect(),
    })
}

/// The floats of an attribute, which are not copied, or those of its alternative that is a tensor.
pub(super) fn float_list<'a>(attributes: &Attributes<'a>, name: &str) -> Result<FloatList<'a>> {
    let tensor = match attributes.tensor(&format!("{name}_as_tensor"))? {
        Some(tensor) => Some(tensor),
        None if name.starts_with("nodes_splits")
            || name.starts_with("leaf")
            || name.starts_with("member") =>
        {
            attributes.tensor(name)?
        }
        None => None,
    };
    match tensor {
        Some(tensor) => Ok(FloatList::Doubles(tensor.numbers()?.map(nearest_f64).collect())),
        None => Ok(FloatList::Floats(attributes.floats(name)?.unwrap_or(&[]))),
    }
}
