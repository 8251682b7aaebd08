//! The arguments of `gradus lint`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use super::models::{FleetArgs, bytes};
use super::rewrites::RuntimeName;
use super::sizes::{LimitArgs, SizeArgs};

/// Find what is wrong in models, or surprises those who ship them, without running them.
///
/// Exit status 1 if a finding is at least a warning, or as `--fail-on` says. A file `gradus.toml`
/// with a table `[lint]`, or `pyproject.toml` with `[tool.gradus.lint]`, in this folder or one
/// around it gives options that the command line does not (docs/lint.md).
#[derive(Debug, ClapArgs)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of the command")]
#[command(
    after_help = "Examples:\n  gradus lint examples/heads.onnx --fix -o heads.onnx\n  gradus lint examples --fail-on error --format github"
)]
pub(crate) struct LintArgs {
    /// The models: ONNX files, .xml files of OpenVINO IR, or .json and .pdmodel files of Paddle
    /// programs; folders of them, patterns (models/**/*.onnx), @FILE or - for lists.
    #[arg(required_unless_present = "rules", value_name = "MODEL")]
    pub(crate) models: Vec<PathBuf>,

    /// List the rules that are selected: what each finds, why, and how to mend it.
    #[arg(long)]
    pub(crate) rules: bool,

    /// Rules that are asked, by code, name or beginning of a code: GR102, single-size, GR4.
    #[arg(long, value_name = "RULE,…", value_delimiter = ',')]
    pub(crate) select: Vec<String>,

    /// Rules that are left out.
    #[arg(long, value_name = "RULE,…", value_delimiter = ',')]
    pub(crate) ignore: Vec<String>,

    /// The least severity for which the exit status is 1. [default: warning]
    #[arg(long, value_name = "SEVERITY")]
    pub(crate) fail_on: Option<FailOn>,

    /// A runtime that must run the models; may be given several times.
    #[arg(long = "for", value_name = "RUNTIME")]
    pub(crate) runtimes: Vec<RuntimeName>,

    /// Bytes that constants, inputs and values of a run may take at one time: 500MB, 24GiB.
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub(crate) max_peak: Option<u64>,

    /// Elements that the constants of a model may have.
    #[arg(long, value_name = "N")]
    pub(crate) max_parameters: Option<u64>,

    /// File with findings that are known and not told; `--write-baseline` makes it.
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,

    /// Write all findings into a file for `--baseline`; the exit status is 0.
    #[arg(long, value_name = "FILE")]
    pub(crate) write_baseline: Option<PathBuf>,

    /// Mend what can be mended without changing a bit of a result, and tell what is left. Models are
    /// replaced, once outputs are proved to be the same or compared in runs.
    #[arg(long, conflicts_with = "write_baseline")]
    pub(crate) fix: bool,

    /// With --fix, the place of mended models: a file, or a folder, which several models need.
    #[arg(short, long, value_name = "FILE|DIR", requires = "fix")]
    pub(crate) output: Option<PathBuf>,

    /// Folder that keeps findings: models that did not change are only read. [default: gradus/lint in
    /// the user's folder of caches]
    #[arg(long, value_name = "DIR", conflicts_with = "no_cache")]
    pub(crate) cache: Option<PathBuf>,

    /// Look at all models again, and keep no findings.
    #[arg(long)]
    pub(crate) no_cache: bool,

    /// The form of the findings: text, annotations of GitHub Actions, or a document of all models.
    #[arg(long, value_name = "FORM", default_value = "text", conflicts_with = "json")]
    pub(crate) format: LintForm,

    /// Show all findings of a rule, and not only the first four.
    #[arg(long)]
    pub(crate) all: bool,

    #[command(flatten)]
    pub(crate) sizes: SizeArgs,

    #[command(flatten)]
    pub(crate) fleet: FleetArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// A severity from which on the exit status is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Any finding.
    Note,
    /// Warnings and errors.
    Warning,
    /// Errors alone.
    Error,
    /// Nothing.
    Never,
}

/// A form of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LintForm {
    /// Lines for people.
    Text,
    /// Annotations of GitHub Actions.
    Github,
    /// SARIF 2.1.0, one document for all models.
    Sarif,
    /// A report of code quality of GitLab, one document for all models.
    Gitlab,
}
