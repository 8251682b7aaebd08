//! Plans of any kind behind a pointer, because what speaks to devices is compiled once.

use gradus_core::convert::{self, Rules};
use gradus_core::{DType, Limits, Result, Tensor};
use gradus_kernels::prepared::Kernel;
use gradus_kernels::{Fill, Form};

/// A plan of any kind.
pub trait AnyPlan: Sync {
    /// The type of the elements.
    fn element_type(&self) -> DType;

    /// The number of elements.
    fn count(&self) -> u64;

    /// The computation of the elements.
    fn made_from(&self) -> Form;

    /// How the processor makes them.
    #[doc(hidden)]
    fn made_by(&self) -> Kernel;

    /// The code of element `i`, decided exactly.
    fn code(&self, i: u64) -> u64;

    /// The elements from index `lo` on, up to `hi`, as the processor makes them.
    ///
    /// # Errors
    /// None, for the types that devices make.
    fn part(&self, lo: u64, hi: u64) -> Result<Tensor>;
}

impl<P: Fill> AnyPlan for P {
    fn element_type(&self) -> DType {
        self.dtype()
    }

    fn count(&self) -> u64 {
        self.len()
    }

    fn made_from(&self) -> Form {
        self.form()
    }

    fn made_by(&self) -> Kernel {
        self.kernel()
    }

    fn code(&self, i: u64) -> u64 {
        convert::code(self.dtype(), self.at(i), Rules::IEEE)
    }

    fn part(&self, lo: u64, hi: u64) -> Result<Tensor> {
        let mut limits = Limits::DEFAULT;
        limits.max_bytes = u64::MAX;
        gradus_kernels::tensor(&self.slice(lo..hi), &limits, 0)
    }
}
