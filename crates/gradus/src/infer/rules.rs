//! Rules: how an operator's outputs follow from its inputs, looked up by standard, domain and name.

use std::collections::HashMap;
use std::sync::OnceLock;

use gradus_core::graph::{Function, Model, Node, Standard};

use super::cx::{Cx, Stop};
use crate::fact::Fact;
use crate::op::Schema;
use crate::schema::{Signature, onnx_versions};
use crate::{ops, registry};

/// What is known of a node's outputs.
pub(crate) type Outcome = Result<Vec<Fact>, Stop>;

/// How outputs follow from inputs. It holds for all versions of an operator: what a version does not have is not given.
pub(crate) type Rule = fn(&mut Cx<'_, '_>) -> Outcome;

/// Operators that one rule is for.
pub(crate) struct Rules {
    standard: Standard,
    domain: &'static str,
    names: &'static [&'static str],
    /// The name that the rule knows them by, if it is not their own.
    meaning: Option<&'static str>,
    rule: Rule,
}

impl Rules {
    /// The operators, under the name that the rule knows them by.
    #[must_use]
    pub(crate) const fn meaning(self, name: &'static str) -> Rules {
        Rules { meaning: Some(name), ..self }
    }
}

/// Operators of ONNX's own domain.
pub(crate) const fn onnx(names: &'static [&'static str], rule: Rule) -> Rules {
    Rules { standard: Standard::Onnx, domain: "", names, meaning: None, rule }
}

/// Operators of ONNX's domain for classical machine learning.
pub(crate) const fn ml(names: &'static [&'static str], rule: Rule) -> Rules {
    Rules { standard: Standard::Onnx, domain: "ai.onnx.ml", names, meaning: None, rule }
}

/// Operators that ONNX Runtime adds.
pub(crate) const fn microsoft(names: &'static [&'static str], rule: Rule) -> Rules {
    Rules { standard: Standard::Onnx, domain: "com.microsoft", names, meaning: None, rule }
}

/// Operators that Gradus adds to those of ONNX.
pub(crate) const fn own(names: &'static [&'static str], rule: Rule) -> Rules {
    Rules { standard: Standard::Onnx, domain: ops::OWN_DOMAIN, names, meaning: None, rule }
}

/// Operators of OpenVINO.
pub(crate) const fn openvino(names: &'static [&'static str], rule: Rule) -> Rules {
    Rules { standard: Standard::OpenVino, domain: "", names, meaning: None, rule }
}

/// Operators of Paddle.
pub(crate) const fn paddle(names: &'static [&'static str], rule: Rule) -> Rules {
    Rules { standard: Standard::Paddle, domain: "", names, meaning: None, rule }
}

type Key = (Standard, &'static str, &'static str);

fn index() -> &'static HashMap<Key, &'static Rules> {
    static INDEX: OnceLock<HashMap<Key, &'static Rules>> = OnceLock::new();
    INDEX.get_or_init(|| {
        let all = ops::RULES.iter().copied().flatten();
        let each = |rules: &'static Rules| {
            rules.names.iter().map(move |&name| ((rules.standard, rules.domain, name), rules))
        };
        all.flat_map(each).collect()
    })
}

/// Standard, domain and name of every operator that has a rule.
pub fn all() -> impl Iterator<Item = (Standard, &'static str, &'static str)> {
    ops::RULES
        .iter()
        .copied()
        .flatten()
        .flat_map(|rules| rules.names.iter().map(|&name| (rules.standard, rules.domain, name)))
}

/// What is to be done with a node.
#[derive(Clone, Copy)]
pub(super) enum Resolved<'m> {
    /// The model defines the operator.
    Function(&'m Function),
    /// There is a rule; the standard's signature, if there is a table of them; and how the operator is run, if it is.
    Rule {
        rule: Rule,
        /// The name that the rule knows the operator by, if it is not its own.
        meaning: Option<&'static str>,
        /// The first version of ONNX's operator set that has the operator in this form; 0 of other standards.
        version: i64,
        signature: Option<&'static Signature>,
        schema: Option<(&'static Signature, &'static Schema)>,
    },
    /// Nothing is known of the operator.
    None(&'static str),
}

impl Resolved<'_> {
    pub(super) fn signature(&self) -> Option<&'static Signature> {
        if let Resolved::Rule { signature, .. } = self { *signature } else { None }
    }

    pub(super) fn meaning(&self) -> Option<&'static str> {
        if let Resolved::Rule { meaning, .. } = self { *meaning } else { None }
    }

    pub(super) fn version(&self) -> i64 {
        if let Resolved::Rule { version, .. } = self { *version } else { 0 }
    }
}

pub(super) fn resolve<'m>(standard: Standard, functions: &'m [Function], node: &Node) -> Resolved<'m> {
    if let Some(function) = functions.iter().find(|function| function.id == node.operator) {
        return Resolved::Function(function);
    }
    let (domain, name) = (&*node.operator.domain, &*node.operator.name);
    let Some(&Rules { rule, meaning, .. }) = index().get(&(standard, domain, name)).copied() else {
        return Resolved::None("the operator is not known");
    };
    let version = node.version.unwrap_or(i64::MAX);
    let schema = registry::find(standard, node).ok();
    let versions = if standard == Standard::Onnx { onnx_versions(domain, name) } else { &[] };
    let signature = schema.map(|(signature, _)| signature);
    let signature = signature.or_else(|| versions.iter().rfind(|signature| signature.since <= version));
    if signature.is_none() && !versions.is_empty() {
        return Resolved::None("the operator set of the model has no such operator");
    }
    let version =
        if standard == Standard::Onnx { signature.map_or(0, |signature| signature.since) } else { 0 };
    Resolved::Rule { rule, meaning, version, signature, schema }
}

/// Whether it is known what a node of a model does: by a rule, or by a function of the model.
pub(crate) fn is_understood(model: &Model, node: &Node) -> bool {
    !matches!(resolve(model.standard, &model.functions, node), Resolved::None(_))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::schema;

    #[test]
    fn every_operator_of_the_standard_has_a_rule_and_only_one() {
        let mut seen = HashSet::new();
        for key in all() {
            assert!(seen.insert(key), "{key:?} is there twice");
        }
        let missing: Vec<_> = schema::onnx_operators()
            .filter(|(domain, name)| !seen.contains(&(Standard::Onnx, *domain, *name)))
            .collect();
        assert!(missing.is_empty(), "no rule for {missing:?}");
        let unknown: Vec<_> = all()
            .filter(|(standard, domain, name)| {
                let known = !onnx_versions(domain, name).is_empty() || ops::IN_STANDARD_DOMAIN.contains(name);
                *standard == Standard::Onnx && !["com.microsoft", ops::OWN_DOMAIN].contains(domain) && !known
            })
            .collect();
        assert!(unknown.is_empty(), "rules for what does not exist: {unknown:?}");
    }
}
