//! Findings as SARIF 2.1.0.
//!
//! The few objects that are written are structs here: the crate of all objects of SARIF generates
//! them from its schema when it is built, which takes longer than the rest of the command. A test
//! reads them by it.

use gradus::error::Position;
use gradus::lint::{Finding, RULES};
use serde::Serialize;

use super::Linted;

#[derive(Serialize)]
pub(super) struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

#[derive(Serialize)]
struct Run {
    tool: Tool,
    results: Vec<ResultObject>,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    version: &'static str,
    information_uri: &'static str,
    rules: Vec<Descriptor>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    id: &'static str,
    name: &'static str,
    short_description: Message,
    full_description: Message,
    help: Message,
    default_configuration: Configuration,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
struct Message {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultObject {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Message,
    locations: [Location; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: PhysicalLocation,
    logical_locations: [LogicalLocation; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize)]
struct ArtifactLocation {
    uri: String,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Region {
    #[serde(rename_all = "camelCase")]
    Bytes { byte_offset: u64 },
    #[serde(rename_all = "camelCase")]
    Lines { start_line: u32, start_column: u32 },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogicalLocation {
    fully_qualified_name: String,
}

/// The log of the findings of all models.
pub(super) fn log(all: &[Linted]) -> Log {
    let rules = RULES.iter().map(|rule| Descriptor {
        id: rule.code,
        name: rule.name,
        short_description: message(rule.finds),
        full_description: message(rule.why),
        help: message(rule.mend),
        default_configuration: Configuration { level: rule.severity.name() },
    });
    let driver = Driver {
        name: "gradus",
        version: env!("CARGO_PKG_VERSION"),
        information_uri: env!("CARGO_PKG_REPOSITORY"),
        rules: rules.collect(),
    };
    let results = all.iter().flat_map(|linted| {
        let uri = uri(&linted.model.path.display().to_string());
        linted.lint.findings.iter().map(move |finding| result(finding, &uri))
    });
    Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [Run { tool: Tool { driver }, results: results.collect() }],
    }
}

fn message(text: &str) -> Message {
    Message { text: text.to_owned() }
}

fn result(finding: &Finding, uri: &str) -> ResultObject {
    let Finding { rule, place, message: text, position, .. } = finding;
    let region = position.map(|position| match position {
        Position::Byte(byte_offset) => Region::Bytes { byte_offset },
        Position::Line(start_line, start_column) => Region::Lines { start_line, start_column },
    });
    let artifact_location = ArtifactLocation { uri: uri.to_owned() };
    let location = Location {
        physical_location: PhysicalLocation { artifact_location, region },
        logical_locations: [LogicalLocation { fully_qualified_name: place.clone() }],
    };
    ResultObject {
        rule_id: rule.code,
        rule_index: RULES.iter().position(|other| other.code == rule.code).unwrap_or(0),
        level: rule.severity.name(),
        message: message(&format!("{place}: {text}")),
        locations: [location],
    }
}

/// A path as a reference: bytes that references do not have are written by their codes.
fn uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.replace('\\', "/").bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            _ => uri.extend([format!("%{byte:02X}")]),
        }
    }
    uri
}
