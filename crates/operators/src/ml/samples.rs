//! Samples: rows of features.

use gradus_core::convert::product;
use gradus_core::{Error, Kind, Result};

use crate::op::EvalContext;

/// The number of features of a sample.
pub(super) fn features(cx: &EvalContext<'_>) -> Result<usize> {
    Ok(cx.tensor(0)?.shape().dims().last().copied().unwrap_or(1))
}

/// The samples of input 0 of a node. A single axis is one sample.
pub(super) struct SampleRows {
    numbers: Vec<f64>,
    rows: usize,
    features: usize,
}

impl SampleRows {
    /// Reads the samples, each of which will have `scores` scores.
    ///
    /// # Errors
    /// [`Kind::Limit`] if samples and scores take too many bytes.
    pub(super) fn of(cx: &EvalContext<'_>, scores: usize) -> Result<SampleRows> {
        let features = features(cx)?;
        let (_, rows) = cx.tensor(0)?.shape().dims().split_last().unwrap_or((&1, &[]));
        let rows = rows.iter().try_fold(1, |all: usize, &rows| all.checked_mul(rows));
        let rows = rows.ok_or_else(|| Error::new(Kind::Limit, "the samples are too many to count"))?;
        cx.reserve(product(rows, scores.saturating_mul(size_of::<f64>())))?;
        Ok(SampleRows { numbers: cx.floats(0)?, rows, features })
    }

    /// The samples, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[f64]> {
        (0..self.rows).map(|row| &self.numbers[row * self.features..][..self.features])
    }
}
