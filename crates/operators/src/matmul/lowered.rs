//! `Gemm` in operator sets whose third input must be given.

use gradus_core::Result;

use crate::lowering::{LoweredValue, Lowering};

/// Products with a term that is added: -0, which changes no number, where there is none.
pub fn gemm(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    if l.has(2) {
        return l.itself();
    }
    let zero = l.number(-0.0, l.dtype_of(0)?)?;
    let mut attributes = l.own_attributes();
    attributes.retain(|(name, _)| *name != "beta");
    let inputs = [l.input(0)?, l.input(1)?, zero];
    Ok(vec![l.apply("Gemm", &inputs, &attributes)?])
}
