//! Errors: what went wrong, and where.

use std::fmt;

/// The result of everything that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What sort of thing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The caller asked for something that does not exist or does not fit together.
    Usage,
    /// The operating system refused: a file is missing, unreadable, unwritable.
    Io,
    /// Bytes or text are not what their format says.
    Syntax,
    /// A graph is not well formed: undefined or duplicate names, cycles, versions that do not exist.
    Graph,
    /// An element type, or a kind of value, is not one that is allowed here.
    Type,
    /// A shape is not one that is allowed here.
    Shape,
    /// A value is not one that is allowed here.
    Value,
    /// Something is larger than the limits that are set.
    Limit,
    /// Valid, but not done by Gradus (yet).
    Unsupported,
}

impl Kind {
    /// The kind as `--json` prints it.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Usage => "usage",
            Kind::Io => "io",
            Kind::Syntax => "syntax",
            Kind::Graph => "graph",
            Kind::Type => "type",
            Kind::Shape => "shape",
            Kind::Value => "value",
            Kind::Limit => "limit",
            Kind::Unsupported => "unsupported",
        }
    }
}

/// Where in a file something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Position {
    /// Bytes from the start of a binary file.
    Byte(u64),
    /// Line and column of a text file, both from 1.
    Line(u32, u32),
}

/// Where something went wrong: any of file, position in the file, and nodes from the outermost inwards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// The file's path, as it was given.
    pub file: Option<String>,
    /// The position in the file.
    pub position: Option<Position>,
    /// Nodes, the outermost first: `node "pos" (onnx Range-11)`.
    pub nodes: Vec<String>,
}

impl Location {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Location::default()
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        match (&self.file, self.position) {
            (Some(file), None) => parts.push(file.clone()),
            (Some(file), Some(Position::Byte(at))) => parts.push(format!("{file}: byte {at}")),
            (Some(file), Some(Position::Line(line, column))) => parts.push(format!("{file}:{line}:{column}")),
            (None, Some(Position::Byte(at))) => parts.push(format!("byte {at}")),
            (None, Some(Position::Line(line, column))) => parts.push(format!("line {line}, column {column}")),
            (None, None) => {}
        }
        parts.extend(self.nodes.iter().cloned());
        f.write_str(&parts.join(": "))
    }
}

/// An error: a kind to match on, a sentence to read, and a location.
///
/// ```
/// use gradus_core::{Error, Kind};
/// let error = Error::new(Kind::Type, "input 2 \"delta\" is int32, but \"start\" is int64; the three must match")
///     .in_node("node \"pos\" (onnx Range-11)")
///     .in_file("model.onnx");
/// assert_eq!(
///     error.to_string(),
///     "model.onnx: node \"pos\" (onnx Range-11): input 2 \"delta\" is int32, but \"start\" is int64; the three must match",
/// );
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Content>);

#[derive(Clone, PartialEq, Eq)]
struct Content {
    kind: Kind,
    message: String,
    location: Location,
}

impl Error {
    /// An error without a location.
    #[cold]
    pub fn new(kind: Kind, message: impl Into<String>) -> Error {
        Error(Box::new(Content { kind, message: message.into(), location: Location::default() }))
    }

    /// The kind.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// The sentence, without the location.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The location.
    pub fn location(&self) -> &Location {
        &self.0.location
    }

    /// The same error in a file, if no file is named yet.
    #[must_use]
    pub fn in_file(mut self, file: impl fmt::Display) -> Error {
        self.0.location.file.get_or_insert_with(|| file.to_string());
        self
    }

    /// The same error at a position, if neither a position nor another file is named yet.
    #[must_use]
    pub fn at(mut self, position: Position) -> Error {
        if self.0.location.file.is_none() {
            self.0.location.position.get_or_insert(position);
        }
        self
    }

    /// The same error in a node that encloses those already named.
    #[must_use]
    pub fn in_node(mut self, node: impl fmt::Display) -> Error {
        self.0.location.nodes.insert(0, node.to_string());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.location.is_empty() {
            write!(f, "{}: ", self.0.location)?;
        }
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} error: {self}", self.0.kind.name())
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_file_and_position_stand_and_nodes_nest() {
        let error = Error::new(Kind::Syntax, "the file ends inside a tag")
            .at(Position::Line(3, 9))
            .at(Position::Byte(1))
            .in_file("a.xml")
            .in_file("b.xml")
            .in_node("inner")
            .in_node("outer");
        assert_eq!(error.to_string(), "a.xml:3:9: outer: inner: the file ends inside a tag");
        let elsewhere =
            Error::new(Kind::Io, "there is no such file").in_file("a.bin").at(Position::Line(3, 9));
        assert_eq!(elsewhere.to_string(), "a.bin: there is no such file");
    }
}
