//! `gradus ops`: the operators as a table.

use std::collections::{BTreeMap, BTreeSet};

use gradus::graph::Standard;
use gradus::operators;
use gradus::schema::{Param, Signature, onnx_versions, openvino_versions};
use gradus::{Error, Kind};
use serde::Serialize;

use crate::args;
use crate::diagnostics::Failure;
use crate::{json, output};

#[derive(Serialize)]
struct RowJson {
    operator: &'static str,
    standard: &'static str,
    /// Empty for the standard's own.
    domain: &'static str,
    version: i64,
    inputs: Vec<ParameterJson>,
    outputs: Vec<ParameterJson>,
    attributes: Vec<&'static str>,
}

#[derive(Serialize)]
struct ParameterJson {
    name: &'static str,
    types: Vec<&'static str>,
}

impl ParameterJson {
    fn of(param: &Param) -> ParameterJson {
        let types = param.types;
        let all = types.tensor.or(types.sequence).or(types.optional).or(types.optional_sequence);
        ParameterJson { name: param.name, types: all.iter().map(gradus::DType::name).collect() }
    }
}

impl RowJson {
    fn of(standard: &'static str, domain: &'static str, signature: &Signature) -> RowJson {
        RowJson {
            operator: signature.name,
            standard,
            domain,
            version: signature.since,
            inputs: signature.inputs.iter().map(ParameterJson::of).collect(),
            outputs: signature.outputs.iter().map(ParameterJson::of).collect(),
            attributes: signature.attributes.iter().map(|attribute| attribute.name).collect(),
        }
    }
}

/// The error for an operator that is not run: the standards may have it, or there are near names.
fn not_run(name: &str) -> Error {
    let standards = [
        (Standard::Onnx, !onnx_versions("", name).is_empty()),
        (Standard::OpenVino, !openvino_versions(name).is_empty()),
    ];
    if operators::all().any(|row| row.runs_by_conversion() && row.name.eq_ignore_ascii_case(name)) {
        let message = format!(
            "cannot list operator \"{name}\" of openvino: it runs by what it becomes in ONNX (docs/ops.md)"
        );
        return Error::new(Kind::Usage, message).with_got(name);
    }
    let known: Vec<_> = standards.iter().filter(|(_, known)| *known).map(|(it, _)| it.name()).collect();
    if known.is_empty() {
        let names = operators::all().filter(|row| row.is_evaluated()).map(|row| row.name);
        return Error::unknown("operator", name, names.collect::<BTreeSet<_>>());
    }
    let known = known.join(" and ");
    let message = format!("cannot run operator \"{name}\" of {known} yet; `gradus ops` lists all that run");
    Error::new(Kind::Usage, message).with_got(name)
}

/// Runs `gradus ops`: prints the operators, or the signatures of one.
pub(crate) fn ops(args: &args::Ops) -> Result<(), Failure> {
    let mut found = BTreeMap::new();
    for row in operators::all().filter(|row| row.is_evaluated()) {
        for signature in row.signatures() {
            let wanted = args.name.as_ref().is_none_or(|name| name.eq_ignore_ascii_case(signature.name));
            if wanted {
                found.insert((signature.name, row.standard, row.domain, signature.since), signature);
            }
        }
    }
    if found.is_empty() {
        let name = args.name.as_deref().unwrap_or_default();
        return Err(not_run(name).into());
    }
    if output::is_json() {
        let rows: Vec<_> = found
            .iter()
            .map(|((_, standard, domain, _), signature)| RowJson::of(standard.name(), domain, signature))
            .collect();
        return output::print_json(&json::object([("operators", rows)])?);
    }
    let mut table = output::table(&["operator", "standard", "version", "inputs", "attributes", "types"]);
    let mut before: Option<(&str, &Signature)> = None;
    for ((name, standard, domain, since), signature) in &found {
        let names: Vec<_> = signature.inputs.iter().map(|input| input.name).collect();
        let attributes: Vec<_> = signature.attributes.iter().map(|attribute| attribute.name).collect();
        let older = before.filter(|(of, older)| older.name == *name && of == domain && older.since < *since);
        let standard = match *domain {
            "" => standard.name().to_owned(),
            domain => format!("{}, {domain}", standard.name()),
        };
        table.add_row([
            *name,
            &standard,
            &since.to_string(),
            &names.join(", "),
            &attributes.join(", "),
            &signature.types_beside(older.map(|(_, older)| older)),
        ]);
        before = Some((domain, signature));
    }
    output::print_line(&output::render(&table))
}
