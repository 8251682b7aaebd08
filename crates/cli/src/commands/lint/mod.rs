//! `gradus lint`: what is wrong in models, or surprises those who ship them.

mod baseline;
mod cache;
mod config;
mod gitlab;
mod sarif;
mod text;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use gradus::error::Position;
use gradus::lint::{Finding, Fixed, Lint, LintOptions, LintRule, Severity, selected};
use gradus::sort::SharedSort;
use serde::Serialize;

use super::fleet::FleetModel;
use super::{fleet, given, many, proved};
use crate::args::{FailOn, LintArgs, LintForm, RuntimeName};
use crate::diagnostics::Failure;
use crate::object::{Maybe, object};
use crate::output;
use baseline::Baseline;
use cache::Cache;
use config::Config;

/// The findings of a model that the baseline has not.
struct Linted {
    model: FleetModel,
    lint: Lint,
    known: usize,
    fixed: Option<(PathBuf, Fixed)>,
}

/// Runs `gradus lint`.
pub(crate) fn lint(args: &LintArgs) -> Result<(), Failure> {
    let config = Config::find()?;
    let (select, ignore) = (config.select(&args.select), config.ignore(&args.ignore));
    let asked = selected(&select, &ignore)?;
    if args.rules {
        return rules(&asked);
    }
    let mut options = LintOptions::default();
    options.sizes = given::sizes(&args.sizes)?;
    (options.select, options.ignore) = (select, ignore);
    options.runtimes = config.runtimes(&args.runtimes)?.into_iter().map(RuntimeName::runtime).collect();
    options.max_peak = args.max_peak.or(config.max_peak()?);
    options.max_parameters = args.max_parameters.or(config.max_parameters());
    let baseline = Baseline::read(args.baseline.clone().or_else(|| config.baseline()).as_deref())?;
    let cache = Cache::of(args, &options)?;
    let fail_on = config.fail_on(args.fail_on)?;
    let models = fleet::expand(&args.models)?;
    let is_one_document =
        matches!(args.format, LintForm::Sarif | LintForm::Gitlab) || args.write_baseline.is_some();
    let all = Mutex::new(Vec::new());
    let done = many::each(&models, &args.fleet, args.limits.limits(), |of, out| {
        let fresh = || -> Result<_, Failure> {
            let model = given::set(&args.limits.open(&of.path)?, &args.sizes.shapes.inputs)?;
            let lint = model.lint(&options).map_err(|error| error.in_file(of.path.display()))?;
            Ok((model, lint))
        };
        let (model, lint) = match &cache {
            Some(cache) => (None, cache.lint(&of.path, fresh)?),
            None => fresh().map(|(model, lint)| (Some(model), lint))?,
        };
        let mut linted = baseline.without_known(of, lint);
        if let Some(model) = model.filter(|_| args.fix)
            && let Some(fixed) = model.fix(&linted.lint, &options).map_err(proved::unwritten)?
        {
            let to = match &args.output {
                Some(output) => given::destination(output, of, model.source().standard)?,
                None => of.path.clone(),
            };
            fixed.model.save(&to)?;
            let left = baseline.without_known(of, fixed.left.clone());
            linted = Linted { fixed: Some((to, fixed)), ..left };
        }
        if output::is_json() {
            output::write_json(out, &json(&linted))?;
        } else if !is_one_document {
            let is_several = models.len() > 1;
            output::bounded(out, args.all, |out| match args.format {
                LintForm::Github => text::annotations(&linted, out),
                _ => text::lines(&linted, args.all, is_several, out),
            })?;
        }
        let fails = fail_on.is_some_and(|least| linted.lint.worst().is_some_and(|worst| worst >= least));
        if is_one_document {
            all.lock().unwrap_or_else(PoisonError::into_inner).push(linted);
        }
        if fails && args.write_baseline.is_none() { Err(Failure::Different) } else { Ok(()) }
    });
    if let Some(cache) = &cache {
        cache.trim();
    }
    let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.shared_sort_by_key(|linted| models.iter().position(|model| model.path == linted.model.path));
    if let Some(path) = &args.write_baseline {
        if path.exists() {
            for linted in &all {
                args.limits.open(&linted.model.path)?.check_other_output(path)?;
            }
        }
        baseline::write(path, &all)?;
    }
    match args.format {
        LintForm::Sarif => output::print_json(&sarif::log(&all))?,
        LintForm::Gitlab => {
            let paths: Vec<_> = all.iter().map(|linted| linted.model.path.display().to_string()).collect();
            output::print_json(&gitlab::entries(&all, &paths))?;
        }
        LintForm::Text | LintForm::Github => {}
    }
    done
}

impl FailOn {
    /// The least severity; nothing if none counts.
    fn severity(self) -> Option<Severity> {
        match self {
            FailOn::Note => Some(Severity::Note),
            FailOn::Warning => Some(Severity::Warning),
            FailOn::Error => Some(Severity::Error),
            FailOn::Never => None,
        }
    }
}

fn json(linted: &Linted) -> impl Serialize {
    fn finding(it: &Finding) -> impl Serialize {
        let (byte, line) = match it.position {
            Some(Position::Byte(byte)) => (Some(byte), None),
            Some(Position::Line(line, _)) => (None, Some(line)),
            None => (None, None),
        };
        let LintRule { code, name, severity, .. } = it.rule;
        let severity = severity.name();
        object!(FindingJson {
            code: code,
            rule: name,
            severity: severity,
            place,
            message,
            byte: Maybe(byte),
            line: Maybe(line),
            ..it
        })
    }
    let unasked = linted.lint.unasked.iter();
    object!(LintJson {
        model: linted.model.path.display().to_string(),
        findings: linted.lint.findings.iter().map(finding).collect::<Vec<_>>(),
        unasked: unasked
            .map(|(rule, reason)| object!(UnaskedJson { code: rule.code, reason }))
            .collect::<Vec<_>>(),
        known: linted.known,
        fixed: Maybe(linted.fixed.as_ref().map(|(to, fixed)| object!(FixedJson {
            output: to.display().to_string(),
            rules: fixed.rules.iter().map(|rule| rule.code).collect::<Vec<_>>(),
            proof: Maybe(fixed.verified.proof.as_ref().map(proved::json)),
            runs: fixed.verified.runs,
        }))),
    })
}

/// Prints rules.
fn rules(rules: &[&'static LintRule]) -> Result<(), Failure> {
    if output::is_json() {
        let rule = |it: &&'static LintRule| {
            let LintRule { code, name, severity, finds, why, mend, fix, .. } = **it;
            let fixes = fix.is_some();
            object!(LintRuleJson { code, rule: name, severity: severity.name(), finds, why, mend, fixes })
        };
        return output::print_json(&rules.iter().map(rule).collect::<Vec<_>>());
    }
    let lines = rules.iter().map(|rule| {
        let LintRule { code, name, severity, finds, why, mend, .. } = rule;
        format!("{code} {name} ({severity}): {finds}\n  {why}\n  {mend}")
    });
    output::print_line(&lines.collect::<Vec<_>>().join("\n"))
}
