//! Faults that are mended without changing a bit of a result.

use std::time::Duration;

use gradus_core::graph::Standard;
use gradus_core::{Error, Kind, Result};

use super::{Lint, LintOptions, LintRule};
use crate::check::VerifyOptions;
use crate::edit::Edit;
use crate::fold::{FoldOptions, Verified};
use crate::model::Model;
use crate::prove::ProvedOutputs;

/// The time for a proof, and for runs of what is not proved: a file is replaced.
const TIME: Duration = Duration::from_secs(30);

/// A change that mends what a rule finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fix {
    /// [`Model::fold`], at its default level.
    Fold,
    /// [`Edit::Extract`], from all inputs to all outputs.
    Extract,
    /// [`Edit::ShareWeights`].
    ShareWeights,
    /// [`Edit::NoDocs`].
    NoDocs,
}

impl Fix {
    /// Returns true if models of a standard are changed so.
    fn is_for(self, standard: Standard) -> bool {
        match self {
            Fix::Fold => standard != Standard::Paddle,
            Fix::Extract | Fix::ShareWeights | Fix::NoDocs => standard == Standard::Onnx,
        }
    }
}

/// A mended model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fixed {
    /// The model, which [`Model::save`] writes.
    pub model: Model,
    /// The rules that have fewer findings now.
    pub rules: Vec<&'static LintRule>,
    /// The findings that are left.
    pub left: Lint,
    /// How both models were compared.
    pub verified: Verified,
}

impl Model {
    /// Mends findings of [`Model::lint`] that can be mended without changing a bit of a result:
    /// those of rules that have a [`fix`](LintRule::fix). Outputs are proved to be the same, and
    /// compared in runs where there is no proof, in up to 30 seconds. Nothing is returned if no
    /// finding goes.
    ///
    /// ```
    /// use gradus::lint::LintOptions;
    /// let model = gradus::Model::open("../../examples/heads.onnx")?;
    /// let options = LintOptions::default();
    /// let fixed = model.fix(&model.lint(&options)?, &options)?.ok_or("nothing to mend")?;
    /// let codes: Vec<_> = fixed.rules.iter().map(|rule| rule.code).collect();
    /// assert_eq!(codes, ["GR203", "GR204"]);
    /// assert!(fixed.left.findings.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Model::edit`], [`Model::fold`], [`Model::verify`] and [`Model::lint`];
    /// [`Kind::Unsupported`] if outputs could neither be proved to be the same nor compared.
    pub fn fix(&self, lint: &Lint, options: &LintOptions) -> Result<Option<Fixed>> {
        let standard = self.source().standard;
        let mut rules: Vec<_> = lint.findings.iter().map(|finding| finding.rule).collect();
        rules.retain(|rule| rule.fix.is_some_and(|fix| fix.is_for(standard)));
        rules.dedup_by_key(|rule| rule.code);
        if rules.is_empty() {
            return Ok(None);
        }
        let fold = FoldOptions::default();
        let has = |fix| rules.iter().any(|rule| rule.fix == Some(fix));
        let given = self.graph().inputs().iter().filter(|id| self.graph().constant(**id).is_none());
        let inputs = given.map(|id| self.graph().value(*id).name.to_string()).collect();
        let edits = [
            (Fix::Extract, Edit::Extract { inputs, outputs: Vec::new() }),
            (Fix::ShareWeights, Edit::ShareWeights),
            (Fix::NoDocs, Edit::NoDocs),
        ];
        let edits: Vec<_> = edits.into_iter().filter_map(|(fix, edit)| has(fix).then_some(edit)).collect();
        let mut model = if edits.is_empty() { self.clone() } else { self.edit(edits)?.model()? };
        if has(Fix::Fold) {
            model = model.edited(&model.fold(&fold)?.model)?;
        }
        let verified = self.verify(&model, fold.rules, &VerifyOptions::default().beside(TIME))?;
        if let Some(why) = verified
            .refused
            .as_ref()
            .filter(|_| !verified.proof.as_ref().is_some_and(ProvedOutputs::is_complete))
        {
            let message =
                format!("not mended: outputs were neither proved to be the same nor compared: {why}");
            return Err(Error::new(Kind::Unsupported, message));
        }
        let left = model.lint(options)?;
        let count = |lint: &Lint, rule: &LintRule| {
            lint.findings.iter().filter(|it| it.rule.code == rule.code).count()
        };
        rules.retain(|rule| count(&left, rule) < count(lint, rule));
        Ok((!rules.is_empty()).then_some(Fixed { model, rules, left, verified }))
    }
}
