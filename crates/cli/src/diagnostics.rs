//! Errors, reported on standard error as text or JSON, and exit statuses.

use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use gradus::conversion::{Obstacle, Obstacles};
use gradus::error::Position;
use gradus::{Error, Kind};

use crate::json;
use crate::output;

/// The model or the data is wrong.
pub(crate) const WRONG_DATA: u8 = 1;
/// Things that were compared differ.
const DIFFERENT: u8 = 1;
/// The command line is wrong, or things cannot be compared.
const WRONG_USAGE: u8 = 2;
/// A question is not decided.
const UNDECIDED: u8 = 3;
/// Gradus panicked: `EX_SOFTWARE` of `sysexits.h`.
const PANICKED: u8 = 70;

/// Location of the last panic.
static PANIC_AT: Mutex<Option<String>> = Mutex::new(None);

/// Lets panics be reported as all other errors are, with the line of the program.
pub(crate) fn remember_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        *PANIC_AT.lock().unwrap_or_else(PoisonError::into_inner) = place;
    }));
}

/// The name of the file to which results are printed.
const STANDARD_OUTPUT: &str = "standard output";

/// Longest line of a source that is shown.
const LONGEST_LINE: usize = 160;

/// Why a command ends early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something is wrong.
    Error(Error),
    /// Something is wrong with a value that was typed.
    Mistake(Mistake),
    /// The error has been reported.
    Reported,
    /// A panic has been reported.
    Panicked,
    /// There are differences, as has been printed.
    Different,
    /// A question has no answer, as has been printed.
    Undecided,
    /// Something kept a comparison from being made.
    NotCompared(Error),
    /// The reader of the output has closed it.
    ClosedPipe,
}

impl Failure {
    /// This failure, placed in a file that is not standard output.
    pub(crate) fn in_file(self, path: &Path) -> Failure {
        let Failure::Error(error) = self else { return self };
        if error.location().file.as_deref().is_some_and(|file| file != STANDARD_OUTPUT) {
            return Failure::Error(error);
        }
        let named = Error::new(error.kind(), error.message()).in_file(path.display());
        Failure::Error(named.with_source(error))
    }
}

impl Failure {
    /// Returns true if Gradus panicked.
    pub(crate) fn is_panic(&self) -> bool {
        matches!(self, Failure::Error(error) if error.kind() == Kind::Internal)
    }

    /// This failure; a panic, which names no file, is placed in the model.
    pub(crate) fn in_model(self, model: &Path) -> Failure {
        match self {
            Failure::Error(error) if error.kind() == Kind::Internal => {
                Failure::Error(error.in_file(model.display()))
            }
            failure => failure,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Error(error)
    }
}

impl From<Mistake> for Failure {
    fn from(mistake: Mistake) -> Self {
        Failure::Mistake(mistake)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Failure::ClosedPipe;
        }
        match error.downcast::<Error>() {
            Ok(error) => Failure::Error(error),
            Err(error) => {
                let error = Error::new(Kind::Io, format!("cannot write: {error}")).with_source(error);
                Failure::Error(error.in_file(STANDARD_OUTPUT))
            }
        }
    }
}

/// A mistake in a value that was typed: the text, the part that is wrong, and why.
#[derive(Debug)]
pub(crate) struct Mistake {
    source: String,
    part: Range<usize>,
    error: Error,
}

impl Mistake {
    /// An error about a part of an argument.
    pub(crate) fn new(source: &str, part: Range<usize>, error: Error) -> Mistake {
        Mistake { source: source.to_owned(), part, error }
    }

    /// An error about the whole of an argument.
    pub(crate) fn whole(source: &str, error: Error) -> Mistake {
        Mistake::new(source, 0..source.len(), error)
    }

    /// This mistake, within an argument that starts with `prefix`.
    pub(crate) fn in_argument(self, prefix: &str) -> Mistake {
        let part = self.part.start + prefix.len()..self.part.end + prefix.len();
        Mistake { source: format!("{prefix}{}", self.source), part, ..self }
    }

    /// The part of the argument that the error is about.
    #[cfg(test)]
    pub(crate) fn marked(&self) -> &str {
        &self.source[self.part.clone()]
    }

    /// The error itself.
    #[cfg(test)]
    pub(crate) fn error(&self) -> &Error {
        &self.error
    }
}

/// Reports why a command ended early.
pub(crate) fn report(failure: Failure, json: bool) -> u8 {
    let wrong_data = if matches!(failure, Failure::NotCompared(_)) { WRONG_USAGE } else { WRONG_DATA };
    let (error, text) = match failure {
        Failure::ClosedPipe => return 0,
        Failure::Reported => return WRONG_DATA,
        Failure::Panicked => return PANICKED,
        Failure::Different => return DIFFERENT,
        Failure::Undecided => return UNDECIDED,
        Failure::Mistake(mistake) => {
            let text = snippet(mistake.error.message(), None, 1, &mistake.source, mistake.part);
            (Error::new(Kind::Usage, format!("{}: {}", mistake.source, mistake.error.message())), text)
        }
        Failure::Error(error) | Failure::NotCompared(error) => {
            let error = if error.kind() == Kind::Internal { with_place(error) } else { error };
            let text = with_source(&error).unwrap_or_else(|| plain(&error.to_string()));
            let text = Obstacles::of(&error).map_or(text.clone(), |all| text + &obstacles(all));
            (error, text)
        }
    };
    let text = if json { to_json(&error) } else { text };
    // If standard error is closed, the message is lost.
    let _ = writeln!(anstream::stderr(), "{text}");
    match error.kind() {
        Kind::Usage => WRONG_USAGE,
        Kind::Internal => PANICKED,
        _ => wrong_data,
    }
}

/// The error of a panic with the line of the program.
fn with_place(error: Error) -> Error {
    let place = PANIC_AT.lock().unwrap_or_else(PoisonError::into_inner).take();
    error.map_message(|message| place.map_or_else(|| message.to_owned(), |at| format!("{message} ({at})")))
}

/// Reports that a command line is wrong, or prints the help that was asked for.
pub(crate) fn report_usage(error: &clap::Error) -> u8 {
    if !error.use_stderr() {
        // Help and version; if standard output is closed, the error is lost.
        let _ = error.print();
        return 0;
    }
    if std::env::args_os().any(|argument| argument == "--json") {
        let message = error.render().to_string();
        let message =
            message.strip_prefix("error: ").unwrap_or(&message).lines().next().unwrap_or_default().to_owned();
        let _ = writeln!(anstream::stderr(), "{}", to_json(&Error::new(Kind::Usage, message)));
    } else {
        let text = error.render().to_string();
        if text.chars().any(|c| c != '\n' && output::unsafe_to_print(c)) {
            let lines = text.lines().map(|line| output::escaped(line) + "\n");
            let _ = write!(anstream::stderr(), "{}", lines.collect::<String>());
        } else {
            let _ = error.print();
        }
    }
    WRONG_USAGE
}

/// The error as plain text, or as JSON.
pub(crate) fn text(error: &Error, json: bool) -> String {
    if json { to_json(error) } else { format!("error: {error}") }
}

fn to_json(error: &Error) -> String {
    output::json(&json::error(error)).unwrap_or_else(|_| plain(&error.to_string()))
}

fn plain(message: &str) -> String {
    let message = output::escaped(message);
    let red = anstyle::Style::new().bold().fg_color(Some(anstyle::AnsiColor::Red.into()));
    format!("{red}error{red:#}: {message}")
}

/// Maximum number of printed reasons why a model cannot be converted.
const OBSTACLES: usize = 20;

/// Lines about what keeps a model from being converted: each operator and reason, with the first
/// node.
fn obstacles(all: &Obstacles) -> String {
    let groups = all.groups();
    let line = |(count, obstacle): &(usize, &Obstacle)| {
        format!("\n{count:>6}  {}", output::escaped(&obstacle.error.to_string()))
    };
    let more = groups.len().checked_sub(OBSTACLES + 1).map(|more| more + 1);
    let more = more.map(|more| format!("\n        and {more} more reasons (--json)"));
    groups.iter().take(OBSTACLES).map(line).chain(more).collect()
}

/// The error with the line of the text file that it is about.
fn with_source(error: &Error) -> Option<String> {
    let location = error.location();
    let (Some(file), Some(Position::Line(line, column))) = (&location.file, location.position) else {
        return None;
    };
    let text = gradus::files::map(Path::new(file)).ok()?;
    let source = std::str::from_utf8(&text).ok()?.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?)?;
    let column = usize::try_from(column).ok()?.saturating_sub(1);
    let start = source.char_indices().nth(column).map_or(source.len(), |(at, _)| at);
    if source.len() > LONGEST_LINE {
        return None;
    }
    let message = [location.nodes.as_slice(), &[error.message().to_owned()]].concat().join(": ");
    let end =
        source[start..].find([' ', '>', '/']).filter(|&len| len > 0).map_or(source.len(), |len| start + len);
    let line = usize::try_from(line).ok()?;
    Some(snippet(&message, Some(file), line, source, start..end))
}

fn snippet(message: &str, file: Option<&str>, line: usize, source: &str, part: Range<usize>) -> String {
    // A sign for each character keeps the columns.
    let masked =
        |text: &str| text.replace(|c| !matches!(c, '\t' | '\n') && output::unsafe_to_print(c), "\u{fffd}");
    let at = |end: usize| masked(&source[..end.min(source.len())]).len();
    let (message, file) = (output::escaped(message), file.map(output::escaped));
    let part = at(part.start)..at(part.end);
    let snippet =
        Snippet::source(masked(source)).line_start(line).annotation(AnnotationKind::Primary.span(part));
    let snippet = match file {
        Some(file) => snippet.path(file.into_owned()),
        None => snippet,
    };
    let report = [Level::ERROR.primary_title(&*message).element(snippet)];
    Renderer::styled().render(&report)
}
