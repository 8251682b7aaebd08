//! Regions of data files that tensors claim.

use std::collections::HashMap;

use gradus_core::sort::SharedSort;
use gradus_core::{Error, Kind, Result};

/// The regions that tensors of one model claim, by file.
///
/// Two tensors may share one region; that is how equal weights are stored once. Other overlaps of
/// regions mean that the file, or what the model says of it, is damaged.
#[derive(Debug, Default)]
pub(crate) struct Regions(HashMap<String, Vec<UsedRegion>>);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct UsedRegion {
    start: u64,
    end: u64,
    tensor: String,
}

impl Regions {
    /// Notes that a tensor claims a region.
    ///
    /// # Errors
    /// [`Kind::Syntax`] if the region reaches beyond what can be addressed.
    pub(crate) fn claim(&mut self, file: &str, start: u64, len: u64, tensor: &str) -> Result<()> {
        let end = start.checked_add(len).ok_or_else(|| {
            Error::new(
                Kind::Syntax,
                format!("cannot read tensor \"{tensor}\": {len} bytes at {start} end beyond 2^64"),
            )
        })?;
        if len > 0 {
            let region = UsedRegion { start, end, tensor: tensor.to_owned() };
            self.0.entry(file.to_owned()).or_default().push(region);
        }
        Ok(())
    }

    /// Checks that no two regions overlap unless they are the same.
    ///
    /// # Errors
    /// [`Kind::Syntax`] names two that do.
    pub(crate) fn check(self) -> Result<()> {
        for (file, mut regions) in self.0 {
            regions.shared_sort();
            for pair in regions.windows(2) {
                let [a, b] = pair else { continue };
                if b.start < a.end && (a.start, a.end) != (b.start, b.end) {
                    return Err(Error::new(
                        Kind::Syntax,
                        format!(
                            "tensors \"{}\" and \"{}\" overlap in {file}: bytes {}..{} and {}..{}",
                            a.tensor, b.tensor, a.start, a.end, b.start, b.end
                        ),
                    ));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_may_be_shared_or_apart_but_not_overlap() {
        let check = |regions: &[(u64, u64)]| {
            let mut all = Regions::default();
            for (i, &(start, len)) in regions.iter().enumerate() {
                all.claim("w.bin", start, len, &format!("t{i}")).unwrap();
            }
            all.check().map_err(|error| error.message().to_owned())
        };
        assert_eq!(check(&[(8, 8), (0, 8), (8, 8), (16, 0)]), Ok(()));
        let message = "tensors \"t1\" and \"t0\" overlap in w.bin: bytes 0..9 and 8..16";
        assert_eq!(check(&[(8, 8), (0, 9)]), Err(message.to_owned()));
        assert!(check(&[(8, 8), (8, 4)]).is_err());
        assert!(Regions::default().claim("w.bin", u64::MAX, 1, "t").is_err());
    }
}
