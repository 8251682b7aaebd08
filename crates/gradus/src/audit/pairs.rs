//! The table of invariances: how each makes pairs of runs that should have the same bits.

use std::ops::Range;

use gradus_core::{Error, Kind, Result};

use super::Invariance;
use super::sequences::{chunks, padding};
use super::subject::{Base, Subject};
use crate::check::{NamedValues, RuntimeSettings};

/// A run whose outputs are compared with those of another.
#[derive(Clone, Debug)]
pub(super) struct Side {
    /// The run in words.
    pub(super) what: String,
    pub(super) settings: RuntimeSettings,
    /// True if the run begins a session.
    pub(super) fresh: bool,
    /// The inputs of runs before it in the session.
    pub(super) before: Vec<NamedValues>,
    pub(super) inputs: NamedValues,
    pub(super) part: Part,
    /// Outputs of the last run before it, and the inputs that take their values.
    pub(super) carried: Vec<(String, String)>,
}

/// The part of the values of a run that is compared.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Whole,
    /// Elements at these indices of a dimension.
    Along {
        name: String,
        /// The size of the dimension in this run.
        total: usize,
        indices: Range<usize>,
        /// True if values without the dimension are compared as a whole.
        or_whole: bool,
    },
}

/// Two runs.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) first: Side,
    pub(super) second: Side,
    /// The number of rows of the base that they are made of.
    pub(super) rows: usize,
    /// True if both sides are parts of the same run.
    pub(super) is_one_run: bool,
}

/// An invariance.
pub(super) struct Row {
    pub(super) invariance: Invariance,
    /// True if both runs have other inputs, so that the model itself may tell them apart.
    pub(super) has_other_inputs: bool,
    /// Makes the pairs of a base of which this many rows are taken.
    ///
    /// Errors: `Unsupported`, with the reason, if it does not apply to the model or the runtime.
    pub(super) pairs: fn(&Subject<'_>, &Base, usize) -> Result<Vec<Pair>>,
}

/// All invariances.
pub(super) const TABLE: &[Row] = &[
    Row { invariance: Invariance::Runs, has_other_inputs: false, pairs: runs },
    Row { invariance: Invariance::Session, has_other_inputs: false, pairs: session },
    Row { invariance: Invariance::Rows, has_other_inputs: true, pairs: rows },
    Row { invariance: Invariance::Place, has_other_inputs: true, pairs: place },
    Row { invariance: Invariance::Batch, has_other_inputs: true, pairs: batch },
    Row { invariance: Invariance::Padding, has_other_inputs: true, pairs: padding },
    Row { invariance: Invariance::Chunks, has_other_inputs: true, pairs: chunks },
    Row { invariance: Invariance::Threads, has_other_inputs: false, pairs: threads },
    Row { invariance: Invariance::Optimization, has_other_inputs: false, pairs: optimization },
    Row { invariance: Invariance::Processor, has_other_inputs: false, pairs: processor },
];

impl Side {
    /// The usual run, of which all is compared.
    pub(super) fn new(what: impl Into<String>, inputs: NamedValues) -> Side {
        Side {
            what: what.into(),
            settings: RuntimeSettings::default(),
            fresh: false,
            before: Vec::new(),
            inputs,
            part: Part::Whole,
            carried: Vec::new(),
        }
    }

    /// The run of a batch, of which one row is compared.
    fn row(subject: &Subject<'_>, what: String, inputs: NamedValues, (row, rows): (usize, usize)) -> Side {
        let name = subject.batch.clone().unwrap_or_default();
        let part = Part::Along { name, total: rows, indices: row..row + 1, or_whole: false };
        Side { part, ..Side::new(what, inputs) }
    }

    /// The run in a session that it begins, with settings.
    fn with(self, settings: RuntimeSettings) -> Side {
        Side { what: settings.to_string(), settings, fresh: true, ..self }
    }
}

/// The error about a model or a runtime that an invariance does not apply to.
pub(super) fn inapplicable(reason: impl Into<String>) -> Error {
    Error::new(Kind::Unsupported, reason.into())
}

/// Refuses models without rows.
fn need_batch(subject: &Subject<'_>) -> Result<()> {
    subject.batch.as_ref().map(|_| ()).map_err(inapplicable)
}

/// The first rows of a base; all that there is without a batch.
pub(super) fn first_rows(subject: &Subject<'_>, base: &Base, rows: usize) -> Result<NamedValues> {
    subject.rows(base, &(0..rows).map(|row| (0, row)).collect::<Vec<_>>())
}

/// The first row of a base, this many times.
fn copies(subject: &Subject<'_>, base: &Base, rows: usize) -> Result<NamedValues> {
    subject.rows(base, &vec![(0, 0); rows])
}

fn runs(subject: &Subject<'_>, base: &Base, rows: usize) -> Result<Vec<Pair>> {
    /// The number of runs that are compared with the first.
    const TIMES: usize = 4;
    let inputs = first_rows(subject, base, rows)?;
    let first = Side::new("a run", inputs.clone());
    let again = |time| Side::new(format!("the same run again, {time}"), inputs.clone());
    Ok((1..=TIMES)
        .map(|time| Pair { first: first.clone(), second: again(time), rows, is_one_run: false })
        .collect())
}

fn session(subject: &Subject<'_>, base: &Base, rows: usize) -> Result<Vec<Pair>> {
    if !subject.runtime.has_sessions() {
        return Err(inapplicable("the program has no sessions: it is started for each run"));
    }
    let inputs = first_rows(subject, base, rows)?;
    let first = Side { fresh: true, ..Side::new("the first run of a session", inputs.clone()) };
    let others = |rows: usize| subject.rows(base, &(0..rows).map(|row| (1, row)).collect::<Vec<_>>());
    let used = Side { before: vec![others(rows)?, others(1)?], fresh: true, ..Side::new("", inputs) };
    let second = Side { what: "the same run after others".to_owned(), ..used };
    Ok(vec![Pair { first, second, rows, is_one_run: false }])
}

fn rows(subject: &Subject<'_>, base: &Base, rows: usize) -> Result<Vec<Pair>> {
    need_batch(subject)?;
    let mut places = if rows < 2 { Vec::new() } else { vec![0, rows - 1, rows / 2] };
    places.dedup();
    let pair = |&place: &usize| {
        let side = |with: usize, what: &str| {
            let picks: Vec<_> = (0..rows).map(|row| (if row == place { 0 } else { with }, row)).collect();
            let what = format!("row {place} of {rows} beside {what}");
            Ok(Side::row(subject, what, subject.rows(base, &picks)?, (place, rows)))
        };
        Ok(Pair { first: side(0, "some rows")?, second: side(1, "other rows")?, rows, is_one_run: false })
    };
    places.iter().map(pair).collect()
}

fn place(subject: &Subject<'_>, base: &Base, rows: usize) -> Result<Vec<Pair>> {
    need_batch(subject)?;
    let inputs = copies(subject, base, rows)?;
    let side = |row: usize| {
        let what = format!("row {row} of {rows} equal rows");
        Side::row(subject, what, inputs.clone(), (row, rows))
    };
    Ok((1..rows).map(|row| Pair { first: side(0), second: side(row), rows, is_one_run: true }).collect())
}

fn batch(subject: &Subject<'_>, base: &Base, rows: usize) -> Result<Vec<Pair>> {
    need_batch(subject)?;
    let side = |rows: usize| {
        let what = format!("row 0 of {rows} equal rows");
        Ok::<_, Error>(Side::row(subject, what, copies(subject, base, rows)?, (0, rows)))
    };
    let whole = side(rows)?;
    let pair = |fewer| Ok(Pair { first: whole.clone(), second: side(fewer)?, rows, is_one_run: false });
    (1..rows).map(pair).collect()
}

fn threads(subject: &Subject<'_>, base: &Base, rows: usize) -> Result<Vec<Pair>> {
    /// Numbers of threads that are compared with one.
    const SEVERAL: [usize; 3] = [2, 3, 4];
    let inputs = first_rows(subject, base, rows)?;
    let side = |threads| {
        let settings = RuntimeSettings { threads: Some(threads), ..RuntimeSettings::default() };
        Side::new("", inputs.clone()).with(settings)
    };
    pairs_of_settings(subject, &side(1), SEVERAL.map(side).into(), rows)
}

fn optimization(subject: &Subject<'_>, base: &Base, rows: usize) -> Result<Vec<Pair>> {
    let inputs = first_rows(subject, base, rows)?;
    let [usual, plain] = [false, true].map(|plain| {
        Side::new("", inputs.clone()).with(RuntimeSettings { plain, ..RuntimeSettings::default() })
    });
    pairs_of_settings(subject, &usual, vec![plain], rows)
}

fn processor(subject: &Subject<'_>, base: &Base, rows: usize) -> Result<Vec<Pair>> {
    let inputs = first_rows(subject, base, rows)?;
    let side = |processor| {
        Side::new("", inputs.clone()).with(RuntimeSettings { processor, ..RuntimeSettings::default() })
    };
    let sets = subject.runtime.processors()?.into_iter();
    pairs_of_settings(subject, &side(None), sets.map(|name| side(Some(name))).collect(), rows)
}

/// Pairs of runs that differ in their settings, if the runtime takes these.
fn pairs_of_settings(subject: &Subject<'_>, first: &Side, all: Vec<Side>, rows: usize) -> Result<Vec<Pair>> {
    for side in all.iter().chain([first]) {
        subject.runtime.anew(&side.settings)?;
    }
    Ok(all.into_iter().map(|second| Pair { first: first.clone(), second, rows, is_one_run: false }).collect())
}
