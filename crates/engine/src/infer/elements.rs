//! Symbols of the elements of small inputs.

use gradus_core::DType;
use gradus_core::convert::usize_of_i64;

use super::pass::Pass;
use crate::dim::{Bounds, Dim, Origin, Symbol};
use crate::fact::{Elements, Fact, TensorFact};

/// How the origin of a symbol begins that is an element of an input.
const ELEMENT: &str = "element ";

/// The element of an input that a symbol is, in words: `element 0 of input "sr"`.
pub fn element_of_input(symbol: &Symbol) -> Option<&str> {
    match &symbol.origin {
        Origin::Data(how) => how.starts_with(ELEMENT).then_some(how),
        Origin::Input | Origin::Unknown(_) => None,
    }
}

/// Gives the elements of a small input of integers or truth values a symbol each: shapes may be
/// computed from them, and branches chosen by them.
pub(super) fn with_symbols(pass: &mut Pass<'_>, name: &str, fact: Fact) -> Fact {
    const MAX_LEN: usize = 8;
    let Fact::Tensor(tensor) = &fact else { return fact };
    let bounds = match tensor.dtype {
        Some(DType::I64 | DType::I32) => Bounds::ANY,
        Some(DType::Bool) => Bounds::between(Some(0), Some(1)),
        _ => return fact,
    };
    let count = match tensor.dims.as_deref() {
        Some([]) => Some(1),
        Some([Dim::Known(len)]) => usize_of_i64(*len).filter(|&len| len <= MAX_LEN),
        _ => None,
    };
    let Some(count) = count else { return fact };
    let scalar = tensor.rank() == Some(0);
    let symbols = (0..count).map(|i| {
        let hint = if scalar { name.to_owned() } else { format!("{name}_{i}") };
        let origin = Origin::Data(format!("{ELEMENT}{i} of input \"{name}\"").into());
        pass.shared.symbols.fresh(&hint, origin, bounds)
    });
    let elements = Elements::Integers(symbols.collect());
    Fact::Tensor(TensorFact { elements, ..tensor.clone() })
}
