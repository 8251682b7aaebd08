//! The registry: from a standard, a domain, a name and a version to the row that defines the operator.

use std::collections::HashMap;
use std::sync::OnceLock;

use gradus_core::graph::{Node, Standard};
use gradus_core::{Error, Kind, Result};

use crate::op::Schema;
use crate::ops;
use crate::schema::{Signature, onnx_versions, openvino_versions};

type Key = (Standard, &'static str, &'static str);

/// By standard, domain and name: versions, the oldest first.
fn index() -> &'static HashMap<Key, Vec<(&'static Signature, &'static Schema)>> {
    static INDEX: OnceLock<HashMap<Key, Vec<(&'static Signature, &'static Schema)>>> = OnceLock::new();
    INDEX.get_or_init(|| {
        let mut index = HashMap::<_, Vec<_>>::new();
        for schema in all() {
            for signature in schema.signatures() {
                let versions = index.entry((schema.standard, signature.domain, signature.name)).or_default();
                versions.push((signature, schema));
            }
        }
        for versions in index.values_mut() {
            versions.sort_by_key(|(signature, _)| signature.since);
        }
        index
    })
}

/// All rows.
pub fn all() -> impl Iterator<Item = &'static Schema> {
    ops::ALL.iter().copied().flatten()
}

/// The signature and row that define the operator of a node.
///
/// # Errors
/// [`Kind::Unsupported`] if Gradus does not run the operator, [`Kind::Graph`] if the standard does not have it in
/// that version.
pub fn find(standard: Standard, node: &Node) -> Result<(&'static Signature, &'static Schema)> {
    let (domain, name) = (&*node.operator.domain, &*node.operator.name);
    let unsupported = || {
        let known = match standard {
            Standard::Onnx => !onnx_versions(domain, name).is_empty(),
            Standard::OpenVino => domain.is_empty() && !openvino_versions(name).is_empty(),
            // Of Paddle there is no table of all operators.
            Standard::Paddle => true,
        };
        let what = if known { "is not run by Gradus yet" } else { "is not known" };
        Error::new(Kind::Unsupported, format!("operator {} of {standard} {what}", node.operator))
    };
    let versions = index().get(&(standard, domain, name)).ok_or_else(unsupported)?;
    let Some(version) = node.version else {
        let message = format!(
            "no operator set of domain \"{domain}\" is imported, so the version of {name} is not known"
        );
        return Err(Error::new(Kind::Graph, message));
    };
    versions.iter().rfind(|(signature, _)| signature.since <= version).copied().ok_or_else(|| {
        let first = versions[0].0.since;
        Error::new(
            Kind::Graph,
            format!("operator {name} exists since operator set {first}, but the set is {version}"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::Versions;

    #[test]
    fn every_row_has_its_signatures_and_none_is_there_twice() {
        let mut seen = std::collections::HashSet::new();
        for schema in all() {
            if let Versions::Onnx(name, since) = schema.versions {
                assert_eq!(schema.signatures().count(), since.len(), "{name} {since:?}");
            }
            for signature in schema.signatures() {
                let key = (schema.standard, signature.domain, signature.name, signature.since);
                assert!(seen.insert(key), "{key:?} is there twice");
            }
        }
    }

    #[test]
    fn operators_that_are_run_are_run_in_every_version() {
        for ((standard, domain, name), rows) in index() {
            if *standard == Standard::Onnx && *domain != ops::OWN_DOMAIN {
                let ours: Vec<_> = rows.iter().map(|(signature, _)| signature.since).collect();
                let all: Vec<_> =
                    onnx_versions(domain, name).iter().map(|signature| signature.since).collect();
                assert_eq!(ours, all, "{name}");
            }
        }
    }
}
