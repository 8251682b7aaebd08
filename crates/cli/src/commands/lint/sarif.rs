//! Findings as SARIF 2.1.0.
//!
//! The few objects that are written are made here: the crate of all objects of SARIF generates
//! them from its schema when it is built, which takes longer than the rest of the command. A test
//! reads them by it.

use gradus::error::Position;
use gradus::lint::{Finding, RULES};
use gradus::text::address;
use serde::Serialize;

use super::Linted;
use crate::object::{Maybe, object};

#[derive(Serialize)]
struct Log<R> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [R; 1],
}

#[derive(Serialize)]
#[serde(untagged)]
enum FindingRegion {
    #[serde(rename_all = "camelCase")]
    Bytes { byte_offset: u64 },
    #[serde(rename_all = "camelCase")]
    Lines { start_line: u32, start_column: u32 },
}

/// The log of the findings of all models.
pub(super) fn log(all: &[Linted]) -> impl Serialize {
    let rules = RULES.iter().map(|rule| {
        object!(Descriptor {
            id: rule.code,
            name: rule.name,
            shortDescription: message(rule.finds),
            fullDescription: message(rule.why),
            help: message(rule.mend),
            defaultConfiguration: object!(Configuration { level: rule.severity.name() }),
        })
    });
    let driver = object!(Driver {
        name: "gradus",
        version: env!("CARGO_PKG_VERSION"),
        informationUri: env!("CARGO_PKG_REPOSITORY"),
        rules: rules.collect::<Vec<_>>(),
    });
    let results = all.iter().flat_map(|linted| {
        let uri = address(&linted.model.path.display().to_string().replace('\\', "/"));
        linted.lint.findings.iter().map(move |finding| result(finding, &uri))
    });
    Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [object!(Run { tool: object!(Tool { driver }), results: results.collect::<Vec<_>>() })],
    }
}

fn message(text: &str) -> impl Serialize + use<> {
    object!(Message { text: text.to_owned() })
}

fn result(finding: &Finding, uri: &str) -> impl Serialize + use<> {
    let Finding { rule, place, message: text, position, .. } = finding;
    let region = position.map(|position| match position {
        Position::Byte(byte_offset) => FindingRegion::Bytes { byte_offset },
        Position::Line(start_line, start_column) => FindingRegion::Lines { start_line, start_column },
    });
    let artifact = object!(ArtifactLocation { uri: uri.to_owned() });
    let location = object!(Location {
        physicalLocation: object!(PhysicalLocation { artifactLocation: artifact, region: Maybe(region) }),
        logicalLocations: [object!(LogicalLocation { fullyQualifiedName: place.clone() })],
    });
    object!(ResultObject {
        ruleId: rule.code,
        ruleIndex: RULES.iter().position(|other| other.code == rule.code).unwrap_or(0),
        level: rule.severity.name(),
        message: message(&format!("{place}: {text}")),
        locations: [location],
    })
}
