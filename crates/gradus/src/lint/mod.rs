//! Lint: what is wrong in a model, or surprises those who ship it, found without a run.
//!
//! A rule is a row of [`RULES`]: what it finds, why that matters, how to mend it, and the function
//! that looks for it in what inference, costs, folding and the constants say of a model.

mod constants;
mod file;
mod fix;
mod graphs;
mod quantization;
mod rules;
mod runtimes;
mod sizes;
mod subject;

use gradus_core::error::Position;
use gradus_core::{Error, Kind, Limits, Result};
use gradus_engine::infer::Sizes;

use crate::conversion::Runtime;
use crate::model::Model;
pub use fix::{Fix, Fixed};
pub use rules::RULES;
use subject::Subject;

/// The importance of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Probably not meant.
    Warning,
    /// Runs fail, or a limit that was asked for is exceeded.
    Error,
}

gradus_core::names!(Severity, "severity" { Note = "note", Warning = "warning", Error = "error" });

/// A rule.
#[derive(Debug)]
#[non_exhaustive]
pub struct LintRule {
    /// Its code: `GR101`. The first digit is the group: 1 sizes, 2 graphs, 3 runtimes, 4 constants,
    /// 5 files, 6 limits.
    pub code: &'static str,
    /// Its name: `contradiction`.
    pub name: &'static str,
    /// The importance of its findings.
    pub severity: Severity,
    /// The fault, as a noun.
    pub finds: &'static str,
    /// Why that matters.
    pub why: &'static str,
    /// How it is mended.
    pub mend: &'static str,
    /// The change by which [`Model::fix`] mends it.
    pub fix: Option<Fix>,
    /// Looks for it.
    search: fn(&mut Subject<'_>) -> Result<Vec<Fault>>,
}

/// A fault that a rule finds at one place.
struct Fault {
    place: String,
    message: String,
    position: Option<Position>,
}

impl Fault {
    /// A finding at a place in words.
    fn at(place: impl Into<String>, message: impl Into<String>) -> Fault {
        Fault { place: place.into(), message: message.into(), position: None }
    }

    /// The finding with its position in the file.
    fn positioned(self, position: Option<Position>) -> Fault {
        Fault { position, ..self }
    }
}

/// Options of [`Model::lint`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LintOptions {
    /// Sizes of inputs, and what is assumed of them.
    pub sizes: Sizes,
    /// Codes or names of the rules that are asked, or beginnings of codes (`GR4`); all if there are
    /// none.
    pub select: Vec<String>,
    /// Codes or names of rules that are left out, or beginnings of codes.
    pub ignore: Vec<String>,
    /// Runtimes that must run the model.
    pub runtimes: Vec<Runtime>,
    /// Bytes of constants, inputs and values that a run may hold at one time.
    pub max_peak: Option<u64>,
    /// Elements of constants that the model may have.
    pub max_parameters: Option<u64>,
    /// Limits; those of the model if none are given.
    pub limits: Option<Limits>,
}

/// A finding.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// The rule.
    pub rule: &'static LintRule,
    /// Its place, in words: `node "scores"`, `input "x"`, `the model`.
    pub place: String,
    /// The message about it.
    pub message: String,
    /// The position of that place in the file, if it is known.
    pub position: Option<Position>,
}

impl Finding {
    /// A finding of a rule at a place in words.
    pub fn new(
        rule: &'static LintRule,
        place: String,
        message: String,
        position: Option<Position>,
    ) -> Finding {
        Finding { rule, place, message, position }
    }
}

/// The findings in a model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Lint {
    /// The findings, by the code of their rules and in the order of the file.
    pub findings: Vec<Finding>,
    /// The rules that could not be asked, and why.
    pub unasked: Vec<(&'static LintRule, String)>,
}

impl Lint {
    /// Findings by the code of their rules and in the order of the file, and the rules that could
    /// not be asked, each with the reason.
    pub const fn new(findings: Vec<Finding>, unasked: Vec<(&'static LintRule, String)>) -> Lint {
        Lint { findings, unasked }
    }

    /// The largest severity of the findings.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.rule.severity).max()
    }
}

/// The rules that options select.
///
/// # Errors
/// [`Kind::Usage`] if a code, name or beginning is of no rule.
pub fn selected(select: &[String], ignore: &[String]) -> Result<Vec<&'static LintRule>> {
    for word in select.iter().chain(ignore) {
        if !RULES.iter().any(|rule| is_named(rule, word)) {
            let known = RULES.iter().flat_map(|rule| [rule.code, rule.name]);
            return Err(Error::unknown("rule", word, known));
        }
    }
    let named = |rule: &&LintRule, words: &[String]| words.iter().any(|word| is_named(rule, word));
    let wanted = RULES.iter().filter(|rule| select.is_empty() || named(rule, select));
    Ok(wanted.filter(|rule| !named(rule, ignore)).collect())
}

fn is_named(rule: &LintRule, word: &str) -> bool {
    rule.name == word || (word.len() > 2 && rule.code.starts_with(word))
}

impl Model {
    /// Looks for what is wrong in the model, or surprises those who ship it.
    ///
    /// ```
    /// use gradus::lint::LintOptions;
    /// let model = gradus::Model::open("../../examples/heads.onnx")?;
    /// let lint = model.lint(&LintOptions::default())?;
    /// let codes: Vec<_> = lint.findings.iter().map(|finding| finding.rule.code).collect();
    /// // 12 of its 14 nodes are not needed.
    /// assert!(codes.contains(&"GR204"));
    /// # Ok::<(), gradus::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Kind::Usage`] if a rule is not known, or what is given is not the model's; [`Kind::Limit`]
    /// at the end of the time. What keeps one rule from being asked is among the
    /// [unasked](Lint::unasked).
    pub fn lint(&self, options: &LintOptions) -> Result<Lint> {
        let rules = selected(&options.select, &options.ignore)?;
        let mut subject = Subject::new(self, options)?;
        let mut lint = Lint::new(Vec::new(), Vec::new());
        for rule in rules {
            subject.limits.check()?;
            match (rule.search)(&mut subject) {
                Ok(found) => {
                    let findings = found.into_iter();
                    lint.findings
                        .extend(findings.map(|it| Finding::new(rule, it.place, it.message, it.position)));
                }
                Err(error) if error.kind() == Kind::Usage => return Err(error),
                Err(error) => lint.unasked.push((rule, error.to_string())),
            }
        }
        subject.limits.check()?;
        Ok(lint)
    }
}
