//! The JSON of a program: its structure, with positions in the text.

use std::borrow::Cow;

use gradus_core::convert::small_u32;
use gradus_core::error::Position;
use gradus_core::{Error, Kind, Result};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The newest version of the format.
pub const NEWEST_VERSION: i64 = 4;

/// Some JSON, not looked at yet.
pub(super) type Raw<'a> = &'a RawValue;

#[derive(Deserialize)]
pub(super) struct Document<'a> {
    pub(super) base_code: Option<JsonHeader>,
    #[serde(borrow)]
    pub(super) program: Option<JsonProgram<'a>>,
}

#[derive(Deserialize)]
pub(super) struct JsonHeader {
    pub(super) magic: String,
    pub(super) version: i64,
}

#[derive(Deserialize)]
pub(super) struct JsonProgram<'a> {
    #[serde(borrow)]
    pub(super) regions: Vec<Raw<'a>>,
}

#[derive(Deserialize)]
pub(super) struct JsonRegion<'a> {
    #[serde(borrow)]
    pub(super) blocks: Vec<Raw<'a>>,
}

#[derive(Deserialize)]
pub(super) struct Block<'a> {
    #[serde(borrow, default)]
    pub(super) args: Vec<JsonArgument<'a>>,
    #[serde(borrow)]
    pub(super) ops: Vec<Raw<'a>>,
}

/// A value that a block takes.
#[derive(Deserialize)]
pub(super) struct JsonArgument<'a> {
    #[serde(rename = "#")]
    pub(super) id: i64,
    #[serde(rename = "TT", borrow)]
    pub(super) of: Option<Raw<'a>>,
}

#[derive(Deserialize)]
pub(super) struct JsonOperation<'a> {
    #[serde(rename = "#", borrow)]
    pub(super) name: Cow<'a, str>,
    #[serde(rename = "A", borrow)]
    pub(super) attributes: Option<Raw<'a>>,
    #[serde(rename = "I", default)]
    pub(super) inputs: Vec<Input>,
    /// A list; of a parameter, the only one.
    #[serde(rename = "O", borrow)]
    pub(super) outputs: Option<Raw<'a>>,
    /// Attributes of the outputs; of a parameter, the first says whether it is saved.
    #[serde(rename = "OA", borrow)]
    pub(super) outputs_attributes: Option<Raw<'a>>,
    #[serde(borrow, default)]
    pub(super) regions: Vec<Raw<'a>>,
}

/// A value that is read; 0 stands for none.
#[derive(Deserialize)]
pub(super) struct Input {
    #[serde(rename = "%")]
    pub(super) id: i64,
}

/// A value that is defined.
#[derive(Deserialize)]
pub(super) struct JsonOutput<'a> {
    #[serde(rename = "%")]
    pub(super) id: i64,
    #[serde(rename = "TT", borrow)]
    pub(super) of: Option<Raw<'a>>,
}

/// A named attribute.
#[derive(Deserialize)]
pub(super) struct Named<'a> {
    #[serde(rename = "N", borrow)]
    pub(super) name: Cow<'a, str>,
    #[serde(rename = "AT", borrow)]
    pub(super) content: Tagged<'a>,
}

/// A type or the content of an attribute: what it is, and its parts. NaN and infinities are text.
#[derive(Deserialize)]
pub(super) struct Tagged<'a> {
    #[serde(rename = "#", borrow)]
    pub(super) tag: Cow<'a, str>,
    #[serde(rename = "D", borrow)]
    pub(super) data: Option<Raw<'a>>,
    #[serde(rename = "VD", borrow)]
    pub(super) special: Option<Cow<'a, str>>,
}

/// The text of a file, which gives positions of its parts.
#[derive(Clone, Copy)]
pub(super) struct JsonText<'a>(&'a str);

impl<'a> JsonText<'a> {
    /// The text of a program, without a byte order mark; an error if it is not UTF-8.
    pub(super) fn new(bytes: &'a [u8]) -> Result<JsonText<'a>> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        std::str::from_utf8(bytes).map(JsonText).map_err(|error| {
            let position = Position::Byte(gradus_core::convert::u64_of(error.valid_up_to()));
            Error::new(Kind::Syntax, "the text is not UTF-8").at(position)
        })
    }

    /// Reads all of it.
    pub(super) fn document(self) -> Result<Document<'a>> {
        self.parsed(self.0, "a Paddle program")
    }

    /// Reads a part of it.
    pub(super) fn read<T: Deserialize<'a>>(self, raw: Raw<'a>, what: &str) -> Result<T> {
        self.parsed(raw.get(), what)
    }

    fn parsed<T: Deserialize<'a>>(self, part: &'a str, what: &str) -> Result<T> {
        serde_json::from_str(part).map_err(|error| {
            // The parser counts positions from the start of the part.
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            let lines = part.split_inclusive('\n').take(error.line().saturating_sub(1));
            let offset = lines.map(str::len).sum::<usize>() + error.column().saturating_sub(1);
            Error::new(Kind::Syntax, format!("this is not {what}: {message}"))
                .at(self.at(self.offset(part) + offset))
        })
    }

    /// Position of a part of the file.
    pub(super) fn position(self, raw: Raw<'a>) -> Position {
        self.at(self.offset(raw.get()))
    }

    fn offset(self, part: &str) -> usize {
        part.as_ptr().addr().saturating_sub(self.0.as_ptr().addr())
    }

    fn at(self, offset: usize) -> Position {
        let before = self.0.as_bytes().get(..offset).unwrap_or(self.0.as_bytes());
        let line = before.split(|&byte| byte == b'\n').count();
        let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count();
        Position::Line(small_u32(line), small_u32(column + 1))
    }
}
