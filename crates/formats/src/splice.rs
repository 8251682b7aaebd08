//! Files that are mostly parts of another file: what is copied is named, not held.

use std::ops::Range;

use bytes::Bytes;
use gradus_core::{Result, room_for};

/// The bytes of a file to be written: parts of a source file, and new bytes between them.
#[derive(Clone, Debug, Default)]
pub struct Splice {
    parts: Vec<Own>,
    fresh: Vec<u8>,
    len: usize,
}

#[derive(Clone, Debug)]
enum Own {
    Source(Range<usize>),
    /// The next `n` of the new bytes.
    Fresh(usize),
    /// Bytes that somebody else has too.
    Shared(Bytes),
}

/// A part of a file to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// These bytes of the source.
    Source(Range<usize>),
    /// These bytes.
    Fresh(&'a [u8]),
}

impl Splice {
    /// A source of `len` bytes, unchanged.
    pub fn whole(len: usize) -> Splice {
        let mut splice = Splice::default();
        splice.copy(0..len);
        splice
    }

    /// The number of bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns true if these are all bytes of a source of `len` bytes, unchanged.
    pub fn is_whole(&self, len: usize) -> bool {
        self.is_copy_of(0..len)
    }

    /// Returns true if these are the bytes of a range of the source, and no others.
    pub(crate) fn is_copy_of(&self, range: Range<usize>) -> bool {
        match self.parts.as_slice() {
            [] => range.is_empty(),
            [Own::Source(only)] => *only == range,
            _ => false,
        }
    }

    /// The parts, in order.
    pub fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let mut rest = &self.fresh[..];
        self.parts.iter().map(move |part| match part {
            Own::Source(range) => Part::Source(range.clone()),
            Own::Fresh(len) => {
                let (part, after) = rest.split_at_checked(*len).unwrap_or((rest, &[]));
                rest = after;
                Part::Fresh(part)
            }
            Own::Shared(bytes) => Part::Fresh(bytes),
        })
    }

    /// All bytes, in memory.
    ///
    /// # Errors
    /// As [`room_for`].
    pub fn to_bytes(&self, source: &[u8]) -> Result<Bytes> {
        let mut all = room_for(self.len)?;
        for part in self.parts() {
            all.extend_from_slice(match part {
                Part::Source(range) => source.get(range).unwrap_or(&[]),
                Part::Fresh(bytes) => bytes,
            });
        }
        Ok(all.into())
    }

    /// Appends a part of the source.
    pub(crate) fn copy(&mut self, range: Range<usize>) {
        self.len += range.len();
        match self.parts.last_mut() {
            _ if range.is_empty() => {}
            Some(Own::Source(last)) if last.end == range.start => last.end = range.end,
            _ => self.parts.push(Own::Source(range)),
        }
    }

    /// Appends what `write` appends to the bytes that it is given.
    pub(crate) fn write(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let before = self.fresh.len();
        write(&mut self.fresh);
        self.grown(self.fresh.len() - before);
    }

    fn grown(&mut self, count: usize) {
        self.len += count;
        match self.parts.last_mut() {
            _ if count == 0 => {}
            Some(Own::Fresh(last)) => *last += count,
            _ => self.parts.push(Own::Fresh(count)),
        }
    }

    /// Appends another.
    pub(crate) fn append(&mut self, other: &Splice) {
        let mut rest = &other.fresh[..];
        for part in &other.parts {
            match part {
                Own::Source(range) => self.copy(range.clone()),
                Own::Fresh(len) => {
                    let (part, after) = rest.split_at_checked(*len).unwrap_or((rest, &[]));
                    rest = after;
                    self.write(|out| out.extend_from_slice(part));
                }
                Own::Shared(bytes) => self.share(bytes.clone()),
            }
        }
    }

    /// This splice of what `first` makes of a source, as a splice of the source.
    #[must_use]
    pub fn after(&self, first: &Splice) -> Splice {
        let mut starts = Vec::with_capacity(first.parts.len());
        let mut end = 0;
        for part in first.parts().zip(&first.parts) {
            let len = match &part.0 {
                Part::Source(range) => range.len(),
                Part::Fresh(bytes) => bytes.len(),
            };
            starts.push((end, part));
            end += len;
        }
        let mut out = Splice::default();
        for (part, own) in self.parts().zip(&self.parts) {
            let range = match (part, own) {
                (Part::Source(range), _) => range,
                (Part::Fresh(_), Own::Shared(bytes)) => {
                    out.share(bytes.clone());
                    continue;
                }
                (Part::Fresh(bytes), _) => {
                    out.write(|out| out.extend_from_slice(bytes));
                    continue;
                }
            };
            let from = starts.partition_point(|(start, _)| *start <= range.start).saturating_sub(1);
            for (start, (part, own)) in starts.iter().skip(from).take_while(|(start, _)| *start < range.end) {
                let (skip, until) = (range.start.saturating_sub(*start), range.end - start);
                match part {
                    Part::Source(of) => out.copy(of.start + skip..of.end.min(of.start + until)),
                    Part::Fresh(bytes) => {
                        let within = skip.min(bytes.len())..until.min(bytes.len());
                        if let Own::Shared(bytes) = own {
                            out.share(bytes.slice(within));
                            continue;
                        }
                        let bytes = bytes.get(within).unwrap_or(&[]);
                        out.write(|out| out.extend_from_slice(bytes));
                    }
                }
            }
        }
        out
    }

    /// Appends bytes that are shared, not copied.
    pub(crate) fn share(&mut self, bytes: Bytes) {
        self.len += bytes.len();
        if !bytes.is_empty() {
            self.parts.push(Own::Shared(bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_joined_and_parts_keep_their_order() {
        let mut inner = Splice::default();
        inner.copy(2..4);
        inner.copy(4..5);
        inner.write(|out| out.extend_from_slice(b"xy"));
        let mut splice = Splice::default();
        splice.copy(0..0);
        splice.write(|out| out.push(b'<'));
        splice.append(&inner);
        splice.share(Bytes::from_static(b"-"));
        splice.copy(5..6);
        let parts: Vec<_> = splice.parts().collect();
        assert_eq!(
            parts,
            [
                Part::Fresh(b"<"),
                Part::Source(2..5),
                Part::Fresh(b"xy"),
                Part::Fresh(b"-"),
                Part::Source(5..6)
            ]
        );
        assert_eq!(splice.len(), 8);
        assert_eq!(splice.to_bytes(b"abcdefg").unwrap(), &b"<cdexy-f"[..]);
        for (from, to) in (0..8).flat_map(|from| (from..=8).map(move |to| (from, to))) {
            let mut second = Splice::default();
            second.write(|out| out.push(b'['));
            second.copy(from..to);
            let both = second.after(&splice).to_bytes(b"abcdefg").unwrap();
            assert_eq!(both, second.to_bytes(b"<cdexy-f").unwrap(), "{from}..{to}");
        }
    }
}
