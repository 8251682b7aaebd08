//! The steps of a proof: noted, or read from a certificate and replayed.
//!
//! A step of a certificate tells which laws turn a call into which terms. The checker takes from it
//! the laws to apply alone: it makes the terms of the models itself, applies these laws and no
//! others, and writes the line itself. A line that is not the same to the byte is refused, so that
//! nothing that a certificate says is believed.

use std::collections::BTreeMap;

use gradus_core::error::Position;
use gradus_core::graph::Model;
use gradus_core::sort::SharedSort;
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
    /// The lines of steps, each before the steps within it; of an open step, empty. Nothing if they
    /// are not noted.
    lines: Option<Vec<String>>,
    /// The lines of the certificate that is replayed, and what the checker uses of them.
    given: Option<Vec<(Box<str>, Option<Plan>)>>,
    refused: Option<Error>,
    /// Calls that laws were asked about.
    calls: usize,
    /// Laws by name, and the steps that they made.
    used: BTreeMap<&'static str, usize>,
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
        Trail { lines: Some(Vec::new()), ..Trail::default() }
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
        Ok(Trail { given: Some(text.split('\n').map(plan).collect()), ..Trail::noted() })
    }

    /// Returns true if steps are not noted.
    pub fn is_off(&self) -> bool {
        self.lines.is_none()
    }

    /// Returns true if steps are read from a certificate.
    pub fn is_replayed(&self) -> bool {
        self.given.is_some()
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
    ///
    /// # Errors
    /// [`Kind::Value`] with the line of a certificate that is refused, and what it is to be.
    pub fn note(&mut self, line: &impl Serialize) -> Result<()> {
        if let Some(at) = self.begin() {
            self.finish(at, line);
        }
        self.check()
    }

    /// The SHA-256 of the lines up to here: a step that no proof needs cannot be left out of a
    /// certificate either.
    pub fn digest(&self) -> String {
        self.lines.as_ref().map_or_else(String::new, |lines| contents::digest_of_lines(lines))
    }

    /// Ends the replay where a line is refused.
    ///
    /// # Errors
    /// [`Kind::Value`] with the line, and what it is to be.
    pub fn check(&self) -> Result<()> {
        self.refused.clone().map_or(Ok(()), Err)
    }

    /// The certificate, if steps were noted.
    ///
    /// # Errors
    /// [`Kind::Value`] if lines were left that nothing is proved by.
    pub fn close(mut self) -> Result<Option<String>> {
        let Some(lines) = self.lines.take() else { return Ok(None) };
        match self.given.as_ref().map(Vec::len) {
            None => return Ok(Some(lines.join("\n") + "\n")),
            Some(len) if len > lines.len() => self.refuse(lines.len(), "the end of the certificate"),
            Some(_) => {}
        }
        self.check().map(|()| None)
    }

    /// Ends a proof that proves not all.
    ///
    /// # Errors
    /// [`Kind::Value`] if it was to be replayed.
    pub fn end(mut self) -> Result<()> {
        let at = self.lines.as_ref().map_or(0, Vec::len);
        self.refuse(at, "steps that prove all outputs");
        self.check()
    }

    /// Begins a line; nothing if lines are not noted.
    fn begin(&mut self) -> Option<usize> {
        let lines = self.lines.as_mut()?;
        lines.push(String::new());
        Some(lines.len() - 1)
    }

    /// Ends a line, which is to be that of the certificate.
    fn finish(&mut self, at: usize, line: &impl Serialize) {
        let text = serde_json::to_string(line).unwrap_or_default();
        let given = self.given.as_ref().map(|given| given.get(at).map(|(line, _)| &**line));
        if given.is_some_and(|given| given != Some(&text)) {
            self.refuse(at, &text);
        }
        if let Some(lines) = &mut self.lines {
            lines[at] = text;
        }
    }

    /// The line of a call, and the laws to try: all that look at it, or those that the certificate
    /// names. Nothing if no line is about it.
    fn next(&mut self, call: &Call, up_to: UpTo) -> Option<(usize, Vec<&'static Law>)> {
        let number = self.calls;
        self.calls += 1;
        let Some(given) = &self.given else { return Some((self.begin()?, laws::of(call, up_to).collect())) };
        let (_, plan) = given.get(self.lines.as_ref()?.len())?;
        let plan = plan.as_ref().filter(|plan| plan.call == number && self.refused.is_none())?;
        let laws = laws::named(call, up_to, &plan.laws);
        let at = self.begin()?;
        if laws.is_none() {
            self.refuse(at, &format!("laws of {}, in their order", call.operator.name));
        }
        Some((at, laws?))
    }

    /// Forgets the line of a call about which no law had something to say: a certificate has none.
    fn forget(&mut self, at: usize) {
        self.refuse(at, HOLDING);
        self.lines.as_mut().map(Vec::pop);
    }

    /// Refuses a line of the certificate, if one is replayed.
    fn refuse(&mut self, at: usize, wanted: &str) {
        if let (Some(given), None) = (&self.given, &self.refused) {
            let got = given.get(at).map_or("the end of the certificate", |(line, _)| line);
            let line = u32::try_from(at + 1).unwrap_or(u32::MAX);
            let error = Error::mismatch(Kind::Value, "the certificate is refused: its line", got, wanted);
            self.refused = Some(error.at(Position::Line(line, 1)));
        }
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
    all.shared_sort();
    for (name, (min, max)) in &given.assume.ranges {
        let and_max = max.map_or_else(String::new, |max| format!(" and <= {max}"));
        all.push(format!("{name} >= {min}{and_max}"));
    }
    all.extend(given.assume.conditions.iter().cloned());
    all.extend(given.assume.nonempty.then(|| "sizes >= 1".to_owned()));
    Ok(all)
}

/// The laws that the step of a certificate names.
const HOLDING: &str = "laws whose conditions hold";

impl Terms<'_> {
    /// Everything that laws change besides a call.
    fn mark(&self) -> ([usize; 5], u128) {
        let counts =
            [self.table.len(), self.table.learned, self.signless.len(), self.computed, self.trail.calls()];
        (counts, self.symbols.bytes())
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
            let (mark, last) = (self.mark(), call.clone());
            found = (law.apply)(self, &mut call);
            if found.is_some() || last != call || self.mark() != mark {
                used.push(law.name);
            } else {
                self.trail.refuse(at, HOLDING);
            }
        }
        let gives = match found {
            Some(gives) => gives,
            None if used.is_empty() => {
                self.trail.forget(at);
                return self.plain(call);
            }
            None => self.plain(call),
        };
        for law in &used {
            *self.trail.used.entry(law).or_default() += 1;
        }
        let size_of = |id: TermId| sizes(self, id).trim_start().to_owned();
        let step = Step {
            call: number,
            laws: &used,
            operator: &before.operator.name,
            arguments: before.arguments.iter().map(|id| id.map(|id| (id, size_of(id)))).collect(),
            gives: gives.iter().map(|&id| (id, size_of(id), describe(self, id))).collect(),
        };
        self.trail.finish(at, &step);
        gives
    }
}
