//! The steps of a proof: noted, or read from a certificate and replayed.
//!
//! A step of a certificate tells which laws turn a call into which terms. The checker takes from it
//! the laws to apply alone: it makes the terms of the models itself, applies these laws and no
//! others, and writes the line itself. A line that is not the same to the byte is refused, so that
//! nothing that a certificate says is believed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gradus_core::error::Position;
use gradus_core::graph::Model;
use gradus_core::{Error, Kind, Result};
use gradus_engine::infer::{InputFact, Sizes};
use serde::{Deserialize, Serialize};

use crate::frontier::{describe, sizes};
use crate::laws::{self, Call, Law};
use crate::table::TermId;
use crate::terms::Terms;
use crate::{UpTo, contents};

/// Version of the form of certificates.
const VERSION: u32 = 2;

/// The steps of a proof.
#[derive(Default)]
pub struct Trail {
    mode: Mode,
    /// Calls that laws were asked about.
    calls: usize,
    /// Laws by name, and the steps that they made.
    used: BTreeMap<&'static str, usize>,
}

#[derive(Default)]
enum Mode {
    /// Steps are not noted.
    #[default]
    Off,
    /// Lines of steps, each before the steps within it; of an open step, empty.
    Noted(Vec<String>),
    Replayed(Reader),
}

struct Reader {
    lines: Vec<(Box<str>, Option<Plan>)>,
    /// Lines that were replayed.
    at: usize,
    refused: Option<Error>,
}

/// The part of a line that the checker uses.
#[derive(Deserialize)]
struct Plan {
    call: usize,
    laws: Vec<Box<str>>,
}

#[derive(Serialize)]
struct Header {
    certificate: u32,
    gradus: &'static str,
    first: String,
    second: String,
    up_to: &'static str,
    options: Vec<String>,
}

#[derive(Serialize)]
struct Step<'a> {
    call: usize,
    laws: &'a [&'static str],
    operator: &'a str,
    arguments: Vec<Option<(TermId, String)>>,
    gives: Vec<(TermId, String, String)>,
}

impl Trail {
    /// Notes the steps.
    pub fn noted() -> Trail {
        Trail { mode: Mode::Noted(Vec::new()), ..Trail::default() }
    }

    /// Replays the steps of a certificate.
    ///
    /// # Errors
    /// [`Kind::Syntax`] if its last line has no end.
    pub fn replayed(certificate: &str) -> Result<Trail> {
        let Some(text) = certificate.strip_suffix('\n') else {
            return Err(Error::new(Kind::Syntax, "cannot read the certificate: its last line has no end"));
        };
        // Lines without laws are compared alone.
        let plan = |line: &str| (Box::from(line), serde_json::from_str(line).ok());
        let reader = Reader { lines: text.split('\n').map(plan).collect(), at: 0, refused: None };
        Ok(Trail { mode: Mode::Replayed(reader), ..Trail::default() })
    }

    /// Returns true if steps are not noted.
    pub fn is_off(&self) -> bool {
        matches!(self.mode, Mode::Off)
    }

    /// Returns true if steps are read from a certificate.
    pub fn is_replayed(&self) -> bool {
        matches!(self.mode, Mode::Replayed(_))
    }

    /// The number of calls that laws were asked about.
    pub fn calls(&self) -> usize {
        self.calls
    }

    /// The laws whose steps were noted or replayed, and the number of these.
    pub fn used(&self) -> Vec<(&'static str, usize)> {
        self.used.iter().map(|(law, count)| (*law, *count)).collect()
    }

    /// Writes the line that says what a proof is about.
    pub fn open(&mut self, models: [&Model; 2], up_to: UpTo, given: &Sizes) -> Result<()> {
        if self.is_off() {
            return Ok(());
        }
        let [first, second] = [contents::digest(models[0])?, contents::digest(models[1])?];
        let gradus = env!("CARGO_PKG_VERSION");
        let (up_to, options) = (up_to.name(), options(given)?);
        self.note(&Header { certificate: VERSION, gradus, first, second, up_to, options })
    }

    /// Writes a line that is no step.
    pub fn note(&mut self, line: &impl Serialize) -> Result<()> {
        let text = || serde_json::to_string(line).unwrap_or_default();
        match &mut self.mode {
            Mode::Off => {}
            Mode::Noted(lines) => lines.push(text()),
            Mode::Replayed(reader) => {
                reader.at += 1;
                reader.compare(reader.at - 1, &text());
            }
        }
        self.check()
    }

    /// The SHA-256 of the lines up to here: a step that no proof needs cannot be left out of a
    /// certificate either.
    pub fn digest(&self) -> String {
        match &self.mode {
            Mode::Off => String::new(),
            Mode::Noted(lines) => contents::digest_of_lines(lines.iter().map(|line| &**line)),
            Mode::Replayed(reader) => {
                contents::digest_of_lines(reader.lines.iter().take(reader.at).map(|(line, _)| &**line))
            }
        }
    }

    /// Ends the replay where a line is refused.
    ///
    /// # Errors
    /// [`Kind::Value`] with the line, and what it is to be.
    pub fn check(&self) -> Result<()> {
        match &self.mode {
            Mode::Replayed(Reader { refused: Some(error), .. }) => Err(error.clone()),
            _ => Ok(()),
        }
    }

    /// The certificate, if steps were noted.
    ///
    /// # Errors
    /// [`Kind::Value`] if lines were left that nothing is proved by.
    pub fn close(self) -> Result<Option<String>> {
        self.check()?;
        match self.mode {
            Mode::Off => Ok(None),
            Mode::Noted(lines) => Ok(Some(lines.join("\n") + "\n")),
            Mode::Replayed(reader) if reader.at == reader.lines.len() => Ok(None),
            Mode::Replayed(reader) => Err(reader.wrong(reader.at, "the end of the certificate")),
        }
    }

    /// Ends a proof that proves not all.
    ///
    /// # Errors
    /// [`Kind::Value`] if it was to be replayed.
    pub fn end(self) -> Result<()> {
        self.check()?;
        match self.mode {
            Mode::Replayed(reader) => Err(reader.wrong(reader.at, "steps that prove all outputs")),
            _ => Ok(()),
        }
    }

    /// The line of a call, and the laws to try: all that look at it, or those that the certificate
    /// names. Nothing if no line is about it.
    fn next(&mut self, call: &Call, up_to: UpTo) -> Option<(usize, Vec<&'static Law>)> {
        let number = self.calls;
        self.calls += 1;
        match &mut self.mode {
            Mode::Off => None,
            Mode::Noted(lines) => {
                lines.push(String::new());
                Some((lines.len() - 1, laws::of(call, up_to).collect()))
            }
            Mode::Replayed(reader) => {
                let (_, plan) = reader.lines.get(reader.at)?;
                let plan = plan.as_ref().filter(|plan| plan.call == number && reader.refused.is_none())?;
                let laws = laws::named(call, up_to, &plan.laws);
                let at = reader.at;
                reader.at += 1;
                if laws.is_none() {
                    reader.refuse(at, &format!("laws of {}, in their order", call.operator.name));
                }
                Some((at, laws?))
            }
        }
    }

    fn finish(&mut self, at: usize, line: String) {
        match &mut self.mode {
            Mode::Off => {}
            Mode::Noted(lines) => lines[at] = line,
            Mode::Replayed(reader) => reader.compare(at, &line),
        }
    }

    /// Forgets the line of a call about which no law had something to say.
    fn forget(&mut self) {
        if let Mode::Noted(lines) = &mut self.mode {
            lines.pop();
        }
    }

    fn refuse(&mut self, at: usize, wanted: &str) {
        if let Mode::Replayed(reader) = &mut self.mode {
            reader.refuse(at, wanted);
        }
    }
}

impl Reader {
    fn compare(&mut self, at: usize, wanted: &str) {
        if self.lines.get(at).is_none_or(|(line, _)| &**line != wanted) {
            self.refuse(at, wanted);
        }
    }

    fn refuse(&mut self, at: usize, wanted: &str) {
        if self.refused.is_none() {
            self.refused = Some(self.wrong(at, wanted));
        }
    }

    fn wrong(&self, at: usize, wanted: &str) -> Error {
        let got = self.lines.get(at).map_or("the end of the certificate", |(line, _)| line);
        let line = u32::try_from(at + 1).unwrap_or(u32::MAX);
        Error::mismatch(Kind::Value, "the certificate is refused: its line", got, wanted)
            .at(Position::Line(line, 1))
    }
}

/// The given sizes and inputs, in one order.
fn options(given: &Sizes) -> Result<Vec<String>> {
    let mut all: Vec<String> = given.dims.iter().map(|(name, size)| format!("{name} = {size}")).collect();
    for (name, fact) in &given.inputs {
        all.push(match fact {
            InputFact::Type(of) => format!("{name}: {of:?}"),
            InputFact::Value(value) => format!("{name} = {}", contents::digest_of_value(value)?),
        });
    }
    all.sort_unstable();
    for (name, (min, max)) in &given.assume.ranges {
        let mut text = format!("{name} >= {min}");
        if let Some(max) = max {
            let _ = write!(text, " and <= {max}");
        }
        all.push(text);
    }
    all.extend(given.assume.conditions.iter().cloned());
    all.extend(given.assume.nonempty.then(|| "sizes >= 1".to_owned()));
    Ok(all)
}

/// Everything that laws change besides a call.
#[derive(PartialEq, Eq)]
struct Mark([usize; 5], u128);

impl Terms<'_> {
    fn mark(&self) -> Mark {
        let counts =
            [self.table.len(), self.table.learned, self.signless.len(), self.computed, self.trail.calls()];
        Mark(counts, self.symbols.bytes())
    }

    /// Applies a law; what it gives, and whether it has an effect.
    fn one(&mut self, law: &Law, call: &mut Call) -> (Option<Vec<TermId>>, bool) {
        let (mark, before) = (self.mark(), call.clone());
        let found = law.apply(self, call);
        let changed = found.is_some() || before != *call || self.mark() != mark;
        (found, changed)
    }

    /// The terms of the outputs of a call, whose steps are noted or replayed.
    pub fn traced(&mut self, mut call: Call) -> Vec<TermId> {
        let number = self.trail.calls();
        let Some((at, laws)) = self.trail.next(&call, self.up_to) else { return self.plain(call) };
        let before = call.clone();
        let (mut used, mut found) = (Vec::new(), None);
        for law in laws {
            if found.is_some() {
                self.trail.refuse(at, "a step that ends with the first law that gives terms");
                break;
            }
            let (terms, changed) = self.one(law, &mut call);
            found = terms;
            if changed {
                used.push(law.name);
            } else {
                self.trail.refuse(at, "laws whose conditions hold");
            }
        }
        let gives = match found {
            Some(gives) => gives,
            None if used.is_empty() => {
                self.trail.forget();
                return self.plain(call);
            }
            None => self.plain(call),
        };
        for law in &used {
            *self.trail.used.entry(law).or_default() += 1;
        }
        let line = self.line(number, &used, &before, &gives);
        self.trail.finish(at, line);
        gives
    }

    fn line(&self, call: usize, laws: &[&'static str], of: &Call, gives: &[TermId]) -> String {
        let size_of = |id: TermId| sizes(self, id).trim_start().to_owned();
        let step = Step {
            call,
            laws,
            operator: &of.operator.name,
            arguments: of.arguments.iter().map(|id| id.map(|id| (id, size_of(id)))).collect(),
            gives: gives.iter().map(|&id| (id, size_of(id), describe(self, id))).collect(),
        };
        serde_json::to_string(&step).unwrap_or_default()
    }
}
