//! Arrow's file format, for one column without gaps.
//!
//! A file is a row of messages, each with its metadata as a flatbuffer, and a footer that says
//! where they lie. Source: "Arrow Columnar Format", with `Message.fbs`, `Schema.fbs` and
//! `File.fbs`. Arrow's own crates do the same, but bring 17 crates that take a quarter of the time
//! of a build.

use std::io::{self, Write};

use gradus::convert::{i64_of, u64_of};
use gradus::{DType, Error, Kind, Result, Tensor};

/// The name of the column.
const COLUMN: &str = "values";
const MAGIC: &[u8] = b"ARROW1";
/// Version 5 of the metadata.
const VERSION: Slot = Slot::I16(4);

/// Writes a file, batch by batch.
pub(crate) struct ArrowWriter<W> {
    out: W,
    written: u64,
    dtype: DType,
    batches: Vec<Block>,
}

/// The place of a batch: its beginning, and how long its metadata and its elements are.
struct Block {
    offset: u64,
    metadata: u64,
    body: u64,
}

impl<W: Write> ArrowWriter<W> {
    /// Begins a file of elements of a type.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] if Arrow has no such type.
    pub(crate) fn new(out: W, dtype: DType) -> Result<ArrowWriter<W>> {
        let schema = message(1, 0, |flat| schema(flat, dtype))?;
        let mut writer = ArrowWriter { out, written: 0, dtype, batches: Vec::new() };
        writer.write(&[MAGIC, &[0, 0]].concat())?;
        writer.message(&schema)?;
        Ok(writer)
    }

    /// Writes a batch.
    pub(crate) fn batch(&mut self, part: &Tensor) -> Result<()> {
        let codes;
        let elements: &[u8] = if self.dtype == DType::Bool {
            codes = packed(&part.codes()?);
            &codes
        } else {
            part.bytes().map_or(&[], |bytes| bytes)
        };
        let (count, len) = (i64_of(part.shape().dims().iter().product::<usize>()), u64_of(elements.len()));
        let body = len.next_multiple_of(8);
        let metadata = message(3, body, |flat| {
            let batch = flat.table(&[Slot::I64(count), Slot::Offset, Slot::Offset]);
            flat.structs(batch[1], &[[count, 0]]);
            // A mask of what is missing, which is empty, and the elements.
            flat.structs(batch[2], &[[0, 0], [0, i64_of(elements.len())]]);
            Ok(())
        })?;
        let offset = self.written;
        let metadata = self.message(&metadata)?;
        self.write(elements)?;
        self.pad(body - len)?;
        self.batches.push(Block { offset, metadata, body });
        Ok(())
    }

    /// Ends the file.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.write(&[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0])?;
        let mut flat = Flat::new();
        let footer = flat.root(&[VERSION, Slot::Offset, Slot::None, Slot::Offset]);
        flat.point(footer[1]);
        schema(&mut flat, self.dtype)?;
        let place = |length: u64| i64::try_from(length).unwrap_or(i64::MAX);
        let blocks: Vec<_> =
            self.batches.iter().map(|it| [it.offset, it.metadata, it.body].map(place)).collect();
        flat.structs(footer[3], &blocks);
        let length = u32_of(flat.bytes.len()).to_le_bytes();
        self.write(&flat.bytes)?;
        self.write(&[&length, MAGIC].concat())
    }

    fn message(&mut self, metadata: &[u8]) -> Result<u64> {
        let length = u32_of(metadata.len());
        self.write(&[[0xff; 4], length.to_le_bytes()].concat())?;
        self.write(metadata)?;
        Ok(u64::from(length) + 8)
    }

    fn pad(&mut self, count: u64) -> Result<()> {
        self.write(&[0; 8][..gradus::convert::usize_of(count)])
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let failed =
            |error: io::Error| Error::new(Kind::Io, format!("cannot write: {error}")).with_source(error);
        self.out.write_all(bytes).map_err(failed)?;
        self.written += u64_of(bytes.len());
        Ok(())
    }
}

/// A message of a kind, with `body` bytes after it.
fn message(kind: u8, body: u64, header: impl FnOnce(&mut Flat) -> Result<()>) -> Result<Vec<u8>> {
    let mut flat = Flat::new();
    let body = i64::try_from(body).unwrap_or(i64::MAX);
    let message = flat.root(&[VERSION, Slot::U8(kind), Slot::Offset, Slot::I64(body)]);
    flat.point(message[2]);
    header(&mut flat)?;
    flat.align(8);
    Ok(flat.bytes)
}

/// The schema: one column, in which nothing is missing.
fn schema(flat: &mut Flat, dtype: DType) -> Result<()> {
    const INT: u8 = 2;
    const FLOAT: u8 = 3;
    const BOOL: u8 = 6;
    let bits = Slot::I32(i32::from(u8::try_from(dtype.bits()).unwrap_or(0)));
    let (kind, of_kind) = match dtype {
        DType::Bool => (BOOL, vec![]),
        DType::F16 => (FLOAT, vec![Slot::I16(0)]),
        DType::F32 => (FLOAT, vec![Slot::I16(1)]),
        DType::F64 => (FLOAT, vec![Slot::I16(2)]),
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => (INT, vec![bits, Slot::U8(1)]),
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => (INT, vec![bits, Slot::U8(0)]),
        other => return Err(Error::new(Kind::Unsupported, format!("Arrow has no element type for {other}"))),
    };
    let schema = flat.table(&[Slot::I16(0), Slot::Offset]);
    let fields = flat.pointers(schema[1]);
    flat.point(fields);
    let field =
        flat.table(&[Slot::Offset, Slot::U8(0), Slot::U8(kind), Slot::Offset, Slot::None, Slot::Offset]);
    flat.text(field[0], COLUMN);
    flat.point(field[3]);
    flat.table(&of_kind);
    flat.structs::<0>(field[5], &[]);
    Ok(())
}

/// Truth values as bits, the first the lowest.
fn packed(codes: &[u8]) -> Vec<u8> {
    let byte = |codes: &[u8]| codes.iter().enumerate().fold(0, |byte, (i, code)| byte | (code & 1) << i);
    codes.chunks(8).map(byte).collect()
}

/// A field of a table.
#[derive(Clone, Copy)]
enum Slot {
    /// The field has its default.
    None,
    U8(u8),
    I16(i16),
    I32(i32),
    I64(i64),
    /// Something that is written later; [`Flat::point`] says where.
    Offset,
}

/// A flatbuffer, written from its beginning: offsets are filled in when their targets are written.
struct Flat {
    bytes: Vec<u8>,
}

impl Flat {
    fn new() -> Flat {
        Flat { bytes: Vec::new() }
    }

    fn align(&mut self, to: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(to), 0);
    }

    /// The table that the buffer is.
    fn root(&mut self, slots: &[Slot]) -> Vec<usize> {
        self.bytes.extend([0; 4]);
        self.point(0);
        self.table(slots)
    }

    /// Writes a table, for which [`Flat::point`] has been called, and returns where its fields are.
    fn table(&mut self, slots: &[Slot]) -> Vec<usize> {
        let table = self.bytes.len();
        self.bytes.extend([0; 4]);
        let mut places = Vec::new();
        for slot in slots {
            let value: &[u8] = match slot {
                Slot::None => &[],
                Slot::U8(x) => &x.to_le_bytes(),
                Slot::I16(x) => &x.to_le_bytes(),
                Slot::I32(x) => &x.to_le_bytes(),
                Slot::I64(x) => &x.to_le_bytes(),
                Slot::Offset => &[0; 4],
            };
            self.align(value.len().max(1));
            places.push(self.bytes.len());
            self.bytes.extend(value);
        }
        let size = self.bytes.len() - table;
        self.align(2);
        // Offsets of the fields from the beginning of the table, which begins with its own.
        let fields = self.bytes.len();
        let way = (u32_of(table)).wrapping_sub(u32_of(fields));
        self.bytes[table..table + 4].copy_from_slice(&way.to_le_bytes());
        let of_fields = slots.iter().zip(&places).map(|(slot, place)| match slot {
            Slot::None => 0,
            _ => place - table,
        });
        for number in [4 + 2 * slots.len(), size].into_iter().chain(of_fields) {
            self.bytes.extend(&u32_of(number).to_le_bytes()[..2]);
        }
        self.align(8);
        places
    }

    /// Fills an offset in: what is written next is its target.
    fn point(&mut self, place: usize) {
        self.align(8);
        self.point_at(place, self.bytes.len());
    }

    fn point_at(&mut self, place: usize, target: usize) {
        self.bytes[place..place + 4].copy_from_slice(&u32_of(target - place).to_le_bytes());
    }

    /// Writes a vector of one offset, and returns where that is.
    fn pointers(&mut self, place: usize) -> usize {
        self.point(place);
        self.bytes.extend([1, 0, 0, 0, 0, 0, 0, 0]);
        self.bytes.len() - 4
    }

    /// Writes a vector of structures of `N` integers of 64 bits.
    fn structs<const N: usize>(&mut self, place: usize, structs: &[[i64; N]]) {
        self.align(8);
        // The elements are aligned, not their number.
        self.bytes.extend([0; 4]);
        self.point_at(place, self.bytes.len());
        self.bytes.extend(u32_of(structs.len()).to_le_bytes());
        self.bytes.extend(structs.iter().flatten().flat_map(|x| x.to_le_bytes()));
    }

    fn text(&mut self, place: usize, text: &str) {
        self.point(place);
        self.bytes.extend(u32_of(text.len()).to_le_bytes());
        self.bytes.extend(text.bytes().chain([0]));
    }
}

fn u32_of(length: usize) -> u32 {
    u32::try_from(length).expect("metadata is short")
}
