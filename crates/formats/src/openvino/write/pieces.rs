//! Text that is put together of parts of a file and new text.

use std::ops::Range;

use gradus_core::convert::u64_of;
use gradus_core::sort::SharedSort;
use gradus_core::{Kind, Result};

use super::super::model::{XmlNode, at, child, number};
use super::bin::{Laid, part};
use super::fresh;
use super::net::value_of;
use crate::Splice;

/// A part of the file as it is to be written.
#[derive(Clone, Debug)]
pub(super) enum XmlPiece {
    /// A range of the file that was read.
    Source(Range<usize>),
    /// New.
    Fresh(String),
}

/// A range of the file, and the text that replaces it.
#[derive(Clone, Debug)]
pub(super) struct Patch {
    pub(super) range: Range<usize>,
    pub(super) new: Vec<XmlPiece>,
}

impl Patch {
    /// A patch that replaces a range by other text.
    pub(super) fn new(range: Range<usize>, text: impl Into<String>) -> Patch {
        Patch { range, new: vec![XmlPiece::Fresh(text.into())] }
    }
}

/// A part of the file with its patches; those that begin within another are none.
pub(super) fn patched(range: Range<usize>, mut patches: Vec<Patch>) -> Vec<XmlPiece> {
    // At one place, insertions come before replacements.
    patches.shared_sort_by_key(|patch| (patch.range.start, !patch.range.is_empty()));
    let (mut pieces, mut at) = (Vec::new(), range.start);
    for patch in patches {
        if patch.range.start < at || patch.range.end > range.end {
            continue;
        }
        pieces.push(XmlPiece::Source(at..patch.range.start));
        pieces.extend(patch.new);
        at = patch.range.end;
    }
    pieces.push(XmlPiece::Source(at..range.end));
    pieces
}

/// An `offset` attribute of the file.
struct Offset {
    /// Range of its digits.
    place: Range<usize>,
    number: u64,
    /// The part of the other file.
    part: Range<usize>,
}

/// The `offset` attributes of a file.
pub(super) struct Offsets {
    /// In order.
    all: Vec<Offset>,
    /// True if only constants do: attributes that are not understood may mean anything.
    movable: bool,
    /// The length of the other file.
    len: usize,
}

impl Offsets {
    /// The offsets of a document, whose data file has `len` bytes.
    ///
    /// # Errors
    /// [`Kind::Syntax`] if a constant is not in the file.
    pub(super) fn of(root: XmlNode<'_>, len: usize) -> Result<Offsets> {
        let mut offsets = Offsets { all: Vec::new(), movable: true, len };
        for xml in root.descendants().filter(XmlNode::is_element) {
            if xml.tag_name().name() == "layer" && xml.attribute("type") == Some("Const") {
                let Some(data) = child(xml, "data") else { continue };
                let (number, size) = (number(data, "offset")?, number(data, "size")?);
                let part = if size == 0 { Ok(0..0) } else { part(number, size, len) };
                let part = part.map_err(|error| at(data, Kind::Syntax, error.message().to_owned()))?;
                if let Some(place) = value_of(data, "offset")? {
                    offsets.all.push(Offset { place, number, part });
                }
            } else if xml.has_attribute("offset") && xml.has_attribute("size") {
                let constant = xml.parent().is_some_and(|layer| layer.attribute("type") == Some("Const"));
                offsets.movable &= constant;
            }
        }
        offsets.all.shared_sort_by_key(|offset| offset.place.start);
        Ok(offsets)
    }

    fn within(&self, range: &Range<usize>) -> &[Offset] {
        let first = self.all.partition_point(|offset| offset.place.start < range.start);
        let last = self.all.partition_point(|offset| offset.place.end <= range.end);
        self.all.get(first..last).unwrap_or_default()
    }

    /// The parts of the other file that stay where these pieces do.
    pub(super) fn kept(&self, pieces: &[XmlPiece]) -> Vec<Range<usize>> {
        if !self.movable {
            return std::iter::once(0..self.len).collect();
        }
        let parts = pieces.iter().flat_map(|piece| match piece {
            XmlPiece::Source(range) => self.within(range),
            XmlPiece::Fresh(_) => &[],
        });
        parts.map(|offset| offset.part.clone()).collect()
    }

    /// Appends pieces, with constants where they lie now; offsets in the file are `base` bytes
    /// greater than those here.
    pub(super) fn write(&self, out: &mut Splice, pieces: &[XmlPiece], laid: &Laid, base: usize) {
        for piece in pieces {
            let range = match piece {
                XmlPiece::Source(range) => range,
                XmlPiece::Fresh(text) => {
                    fresh(out, text, laid);
                    continue;
                }
            };
            let mut at = range.start;
            for Offset { place, number, part } in self.within(range) {
                let moved = laid.place(part).filter(|&to| self.movable && u64_of(to) != *number);
                if let Some(to) = moved {
                    out.copy(base + at..base + place.start);
                    out.write(|out| out.extend_from_slice(to.to_string().as_bytes()));
                    at = place.end;
                }
            }
            out.copy(base + at..base + range.end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_are_put_in_order_and_what_is_within_another_goes() {
        let text = "0123456789";
        let patches =
            vec![Patch::new(8..8, "x"), Patch::new(2..5, "y"), Patch::new(3..4, "z"), Patch::new(8..9, "")];
        let pieces = patched(1..10, patches).into_iter().map(|piece| match piece {
            XmlPiece::Source(range) => text[range].to_owned(),
            XmlPiece::Fresh(text) => text,
        });
        assert_eq!(pieces.collect::<String>(), "1y567x9");
    }
}
