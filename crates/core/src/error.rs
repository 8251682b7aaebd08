//! Errors: what went wrong, and where.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::text::shortened;

/// The result of everything that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The caller asked for something that does not exist or does not fit together.
    Usage,
    /// The operating system refused: a file is missing, unreadable, unwritable.
    Io,
    /// Bytes or text are not what their format says.
    Syntax,
    /// A graph is not well formed: undefined or duplicate names, cycles, versions that do not
    /// exist.
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
    /// Gradus panicked, which is a bug.
    Internal,
}

crate::names!(Kind {
    Usage = "usage", Io = "io", Syntax = "syntax", Graph = "graph", Type = "type", Shape = "shape",
    Value = "value", Limit = "limit", Unsupported = "unsupported", Internal = "internal",
});

/// Calls `work`, and turns a panic into a [`Kind::Internal`] error that asks to report it.
///
/// # Errors
/// Errors of `work`; [`Kind::Internal`] if it panics.
pub fn guarded<T, E: From<Error>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        let message =
            format!("Gradus panicked: {text}; this is a bug: please report it, with the call and the model");
        Err(Error::new(Kind::Internal, message).into())
    })
}

/// A position in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Position {
    /// Bytes from the start of a binary file.
    Byte(u64),
    /// Line and column of a text file, both from 1.
    Line(u32, u32),
}

/// The location of an error: any of file, position in the file, and nodes from the outermost
/// inwards.
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
    /// Returns true if nothing is known.
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

/// An error: a kind to match on, a sentence to read, what was found, what was expected, and a
/// location.
///
/// ```
/// use gradus_core::{Error, Kind};
/// let error = Error::mismatch(Kind::Type, "cannot run Range: input 2 \"delta\"", "int32", "int64")
///     .in_node("node \"pos\" (onnx Range-11)")
///     .in_file("model.onnx");
/// assert_eq!(
///     error.to_string(),
///     "model.onnx: node \"pos\" (onnx Range-11): \
///      cannot run Range: input 2 \"delta\" is int32, expected int64",
/// );
/// assert_eq!((error.got(), error.wanted()), (Some("int32"), Some("int64")));
/// ```
#[derive(Clone)]
pub struct Error(Box<ErrorDetails>);

#[derive(Clone)]
struct ErrorDetails {
    kind: Kind,
    message: String,
    got: Option<String>,
    wanted: Option<String>,
    location: Location,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// Returns an error without a location.
    #[cold]
    pub fn new(kind: Kind, message: impl Into<String>) -> Error {
        let message = short(message.into());
        let (got, wanted, location, source) = (None, None, Location::default(), None);
        Error(Box::new(ErrorDetails { kind, message, got, wanted, location, source }))
    }

    /// Returns the error `<what> is <got>, expected <wanted>`, with both as fields.
    ///
    /// `what` names the action and the subject: `cannot read the shape: dimension 2`.
    #[cold]
    pub fn mismatch(
        kind: Kind,
        what: impl fmt::Display,
        got: impl fmt::Display,
        wanted: impl fmt::Display,
    ) -> Error {
        Error::mismatched(kind, &what, [&got, &wanted])
    }

    fn mismatched(kind: Kind, what: &dyn fmt::Display, [got, wanted]: [&dyn fmt::Display; 2]) -> Error {
        Error::new(kind, format!("{what} is {got}, expected {wanted}")).with_got(got).with_wanted(wanted)
    }

    /// Returns the error `is <got>, expected <wanted>`, with both as fields. The caller, who knows
    /// the name of the value, prepends it by [`Error::map_message`].
    #[cold]
    pub fn is_not(kind: Kind, got: impl fmt::Display, wanted: impl fmt::Display) -> Error {
        let is_not = |got: &dyn fmt::Display, wanted: &dyn fmt::Display| {
            Error::new(kind, format!("is {got}, expected {wanted}")).with_got(got).with_wanted(wanted)
        };
        is_not(&got, &wanted)
    }

    /// Returns a [`Kind::Usage`] error about a name that is none of the known ones. It suggests
    /// the known names that are [near], or lists the first known ones if none is.
    ///
    /// ```
    /// use gradus_core::Error;
    /// let error = Error::unknown("value", "phases", ["tokens", "phase"]);
    /// assert_eq!(error.to_string(), "unknown value \"phases\"; did you mean \"phase\"?");
    /// let error = Error::unknown("input", "y", ["tokens", "mask"]);
    /// assert_eq!(error.to_string(), "unknown input \"y\"; known: \"tokens\", \"mask\"");
    /// ```
    #[cold]
    pub fn unknown<'a>(what: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> Error {
        Error::not_among(what, name, known.into_iter().collect())
    }

    fn not_among(what: &str, name: &str, mut known: Vec<&str>) -> Error {
        const LISTED: usize = 12;
        let mut seen = HashSet::new();
        known.retain(|name| seen.insert(*name));
        let quoted = |names: &[&str]| names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>();
        let near = quoted(&near(name, &known));
        let (wanted, hint) = match &near[..] {
            [] if known.is_empty() => (String::new(), "none is known".to_owned()),
            [] => {
                let mut listed = quoted(&known[..known.len().min(LISTED)]);
                if known.len() > LISTED {
                    listed.push(format!("{} more", known.len() - LISTED));
                }
                let listed = listed.join(", ");
                (listed.clone(), format!("known: {listed}"))
            }
            near => {
                let near = near.join(" or ");
                (near.clone(), format!("did you mean {near}?"))
            }
        };
        let error = Error::new(Kind::Usage, format!("unknown {what} \"{name}\"; {hint}"));
        let error = error.with_got(format_args!("\"{name}\""));
        if wanted.is_empty() { error } else { error.with_wanted(wanted) }
    }

    /// Sets what was found, without changing the message.
    #[must_use]
    pub fn with_got(mut self, got: impl fmt::Display) -> Error {
        self.0.got = Some(short(got.to_string()));
        self
    }

    /// Sets what was expected, without changing the message.
    #[must_use]
    pub fn with_wanted(mut self, wanted: impl fmt::Display) -> Error {
        self.0.wanted = Some(short(wanted.to_string()));
        self
    }

    /// Sets the error that caused this one.
    #[must_use]
    pub fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Error {
        self.0.source = Some(Arc::new(source));
        self
    }

    /// Replaces the message and keeps the fields: `error.map_message(|m| format!("input 2 {m}"))`.
    #[must_use]
    pub fn map_message(mut self, change: impl FnOnce(&str) -> String) -> Error {
        self.0.message = short(change(&self.0.message));
        self
    }

    /// The kind.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// The sentence, without the location.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The value that was found, as text, if the error is about one.
    pub fn got(&self) -> Option<&str> {
        self.0.got.as_deref()
    }

    /// The value that was expected, as text, if there is one.
    pub fn wanted(&self) -> Option<&str> {
        self.0.wanted.as_deref()
    }

    /// The location.
    pub fn location(&self) -> &Location {
        &self.0.location
    }

    /// This error in a file, if no file is named yet.
    #[must_use]
    pub fn in_file(mut self, file: impl fmt::Display) -> Error {
        self.0.location.file.get_or_insert_with(|| file.to_string());
        self
    }

    /// This error at a position, if neither a position nor another file is named yet.
    #[must_use]
    pub fn at(mut self, position: Position) -> Error {
        if self.0.location.file.is_none() {
            self.0.location.position.get_or_insert(position);
        }
        self
    }

    /// This error in a node that encloses those already named.
    #[must_use]
    pub fn in_node(mut self, node: impl fmt::Display) -> Error {
        self.0.location.nodes.insert(0, short(node.to_string()));
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

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let source: &(dyn std::error::Error + 'static) = self.0.source.as_deref()?;
        Some(source)
    }
}

/// Longest text of an error, in characters. Names in it may be of any length.
const LONGEST: usize = 10_000;

/// The text of an error, with its middle left out if it is long.
fn short(text: String) -> String {
    match shortened(&text, LONGEST) {
        Cow::Owned(short) => short,
        Cow::Borrowed(_) => text,
    }
}

/// Errors are equal if all but their sources is: most types of sources cannot be compared.
impl PartialEq for Error {
    fn eq(&self, other: &Error) -> bool {
        fn facts(error: &Error) -> (Kind, [Option<&str>; 3], &Location) {
            (error.kind(), [Some(error.message()), error.got(), error.wanted()], error.location())
        }
        facts(self) == facts(other)
    }
}

impl Eq for Error {}

/// Returns the known names that are near a name, the nearest first, at most three: those within
/// an edit distance of a third of its length, whatever their case, then those that contain it.
pub fn near<'a>(name: &str, known: &[&'a str]) -> Vec<&'a str> {
    const MAX_NEAR: usize = 3;
    /// Shorter names are contained in too many.
    const SHORTEST_PART: usize = 3;
    let name = name.to_lowercase();
    let len = name.chars().count();
    let limit = (len + 1) / 3;
    let mut found: Vec<(usize, &str)> = known
        .iter()
        .filter_map(|&known| {
            let lower = known.to_lowercase();
            // The distance is at least the difference of the lengths, which costs less.
            if lower.chars().count().abs_diff(len) <= limit {
                let distance = strsim::osa_distance(&name, &lower);
                if distance <= limit {
                    return Some((distance, known));
                }
            }
            (len >= SHORTEST_PART && lower.contains(&name)).then_some((usize::MAX, known))
        })
        .collect();
    found.sort_by_key(|&(distance, _)| distance);
    found.into_iter().take(MAX_NEAR).map(|(_, known)| known).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_that_asks_to_report_it() {
        assert_eq!(guarded(|| Ok::<_, Error>(1)), Ok(1));
        let panic = |work: fn() -> Result<()>| guarded(work).unwrap_err();
        let error = panic(|| panic!("index {} is wrong", 1));
        assert_eq!(error.kind(), Kind::Internal);
        assert!(error.message().contains("index 1 is wrong; this is a bug: please report it"), "{error}");
        assert!(panic(|| std::panic::panic_any(1)).message().contains("no message"));
    }

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

    #[test]
    fn sources_are_kept_and_fields_survive_another_message() {
        let cause = std::io::Error::other("disk on fire");
        let error = Error::mismatch(Kind::Io, "cannot write: the disk", "on fire", "cold")
            .with_source(cause)
            .map_message(|message| format!("output 1: {message}"));
        assert_eq!(error.message(), "output 1: cannot write: the disk is on fire, expected cold");
        assert_eq!((error.got(), error.wanted()), (Some("on fire"), Some("cold")));
        let source = std::error::Error::source(&error).unwrap();
        assert_eq!(source.to_string(), "disk on fire");
        assert_eq!(error.clone(), error);
        assert_ne!(error.clone().with_got("wet"), error);
    }

    #[test]
    fn near_names_come_nearest_first() {
        let known = ["Conv", "ConvTranspose", "Cos", "float32", "float64", "/m/Slice_output_0"];
        assert_eq!(near("conv", &known), ["Conv", "ConvTranspose"]);
        assert_eq!(near("flaot32", &known), ["float32"]);
        assert_eq!(near("Slice_output_0", &known), ["/m/Slice_output_0"]);
        assert_eq!(near("nothing alike", &known), [""; 0]);
        assert_eq!(near("", &known), [""; 0]);
        assert_eq!(near("x", &["y", "X"]), ["X"]);
    }

    #[test]
    fn long_lists_of_names_are_cut() {
        let names: Vec<_> = (10..30).map(|i| format!("value{i}")).collect();
        let error = Error::unknown("value", "q", names.iter().map(String::as_str));
        assert!(error.message().ends_with("\"value21\", 8 more"), "{error}");
        assert_eq!(Error::unknown("value", "q", []).to_string(), "unknown value \"q\"; none is known");
    }
}
