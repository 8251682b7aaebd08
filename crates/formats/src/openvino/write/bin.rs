//! The file of constants: offsets of new ones, and of those that are kept.
//!
//! OpenVINO writes constants one after the other, each content once. So do we, but elements begin
//! where a reader can use them as they lie: long constants at multiples of 64 bytes, as far apart
//! as cache lines, short ones at multiples of 8.

use std::hash::BuildHasher;
use std::ops::Range;

use bytes::Bytes;
use foldhash::HashMap;
use gradus_core::convert::{u64_of, usize_of};
use gradus_core::sort::SharedSort;
use gradus_core::{Error, Kind, Result, Tensor};

use super::super::constant::encode;
use crate::Splice;

const LONG: usize = 64;
const SHORT: usize = 8;

/// Contents longer than this are looked up by `PIECES` samples of `PIECE` bytes, so that few pages
/// of a mapped file are read.
const WHOLE: usize = 1 << 14;
const PIECES: usize = 4;
const PIECE: usize = 1 << 10;

/// Contents with equal pieces that one is compared with; of more, some may be written twice.
const COMPARED: usize = 8;

/// Constants that the file will have after those that it has, each content once.
#[derive(Debug, Default)]
pub(super) struct New {
    contents: Vec<Bytes>,
    /// The numbers of contents, by their length and the hash of their pieces.
    known: HashMap<(usize, u64), Vec<usize>>,
}

impl New {
    /// The number of a constant among the new ones, and its length.
    ///
    /// # Errors
    /// As [`encode`].
    pub(super) fn add(&mut self, tensor: &Tensor) -> Result<(usize, usize)> {
        let bytes = encode(tensor)?;
        let (contents, len) = (&mut self.contents, bytes.len());
        let hash = self.known.hasher().hash_one(pieces(&bytes).collect::<Vec<_>>());
        let alike = self.known.entry((len, hash)).or_default();
        let equal = |&number: &usize| contents.get(number) == Some(&bytes);
        let number = alike.iter().copied().find(equal).unwrap_or_else(|| {
            if alike.len() < COMPARED {
                alike.push(contents.len());
            }
            contents.push(bytes);
            contents.len() - 1
        });
        Ok((number, len))
    }
}

/// Pieces from the first byte to the last, or all bytes if there are few.
fn pieces(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let (count, len) = if bytes.len() > WHOLE { (PIECES, PIECE) } else { (1, bytes.len()) };
    let apart = (bytes.len() - len) / (count - 1).max(1);
    (0..count).filter_map(move |at| bytes.get(at * apart..at * apart + len))
}

/// The file as it will be.
#[derive(Debug, Default)]
pub(super) struct Laid {
    pub(super) bin: Splice,
    /// Offsets of the new constants, by number.
    pub(super) new: Vec<usize>,
    /// Parts of the old file that are kept, in order, and their new offsets.
    moved: Vec<(Range<usize>, usize)>,
}

impl Laid {
    /// A file of these parts of the old one, in any order, and new constants. Parts keep their
    /// places within 64 bytes, so what was aligned stays so.
    pub(super) fn new(mut kept: Vec<Range<usize>>, new: New) -> Laid {
        let mut laid = Laid::default();
        let some = !kept.is_empty() || !new.contents.is_empty();
        kept.retain(|part| !part.is_empty());
        kept.shared_sort_by_key(|part| (part.start, part.end));
        kept.dedup();
        for part in kept {
            laid.pad(part.start % LONG, LONG);
            laid.moved.push((part.clone(), laid.bin.len()));
            laid.bin.copy(part);
        }
        for content in new.contents {
            if content.is_empty() {
                laid.new.push(0);
                continue;
            }
            laid.pad(0, if content.len() < LONG { SHORT } else { LONG });
            laid.new.push(laid.bin.len());
            laid.bin.share(content);
        }
        // OpenVINO reads no constant from a file without bytes, not even one that has none.
        if some && laid.bin.is_empty() {
            laid.bin.write(|out| out.push(0));
        }
        laid
    }

    /// Appends zeros up to the next place that leaves such a rest.
    fn pad(&mut self, rest: usize, step: usize) {
        let missing = (rest + step - self.bin.len() % step) % step;
        self.bin.write(|out| out.resize(out.len() + missing, 0));
    }

    /// Offset of a part of the old file in the new one.
    pub(super) fn place(&self, part: &Range<usize>) -> Option<usize> {
        // An empty constant may lie anywhere, also in a file that is missing.
        if part.is_empty() {
            return Some(0);
        }
        let key = (part.start, part.end);
        let index = self.moved.binary_search_by_key(&key, |(part, _)| (part.start, part.end)).ok()?;
        Some(self.moved.get(index)?.1)
    }
}

/// A part of a file of `len` bytes.
///
/// # Errors
/// [`Kind::Syntax`] if the file is shorter.
pub(super) fn part(offset: u64, size: u64, len: usize) -> Result<Range<usize>> {
    let end = offset.checked_add(size).filter(|&end| end <= u64_of(len)).ok_or_else(|| {
        let message =
            format!("{size} bytes at {offset} are wanted of the file of constants, which has {len}");
        Error::new(Kind::Syntax, message)
    })?;
    Ok(usize_of(offset)..usize_of(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_constants_without_elements_has_a_byte() {
        let mut new = New::default();
        new.add(&Tensor::vector::<i64>(&[])).unwrap();
        assert_eq!(Laid::new(Vec::new(), new).bin.len(), 1);
        assert_eq!(Laid::new(std::iter::once(3..3).collect(), New::default()).bin.len(), 1);
        assert_eq!(Laid::new(Vec::new(), New::default()).bin.len(), 0);
    }

    #[test]
    fn parts_keep_their_alignment_and_a_second_time_their_places() {
        let mut new = New::default();
        for (tensor, number) in
            [(Tensor::vector(&[1i64]), 0), (Tensor::vector(&[1i64; 9]), 1), (Tensor::scalar(1i64), 0)]
        {
            assert_eq!(new.add(&tensor).unwrap().0, number);
        }
        let laid = Laid::new(vec![200..210, 64..72, 64..72, 72..80, 300..301], new);
        let places = [64..72, 72..80, 200..210, 300..301].map(|part| laid.place(&part).unwrap());
        assert_eq!(places, [0, 8, 72, 108]);
        assert_eq!((laid.new.clone(), laid.bin.len()), (vec![112, 128], 200));
        let parts = [0..8, 8..16, 72..82, 108..109, 112..120, 128..200];
        let again = Laid::new(parts.to_vec(), New::default());
        assert_eq!(parts.map(|part| again.place(&part).unwrap()), [0, 8, 72, 108, 112, 128]);
        assert_eq!(laid.place(&(0..1)), None);
    }

    #[test]
    fn long_contents_are_written_once_if_they_are_equal() {
        let (mut new, mut other) = (New::default(), vec![7u8; 1 << 16]);
        let long = Tensor::vector(&other);
        other[1 << 15] = 8;
        let numbers = [&long, &Tensor::vector(&other), &long].map(|tensor| new.add(tensor).unwrap().0);
        assert_eq!((numbers, new.contents.len()), ([0, 1, 0], 2));
    }

    #[test]
    fn a_part_is_within_its_file() {
        assert_eq!(part(4, 4, 8).unwrap(), 4..8);
        assert!(part(5, 4, 8).is_err() && part(u64::MAX, 1, 8).is_err());
    }
}
