//! Contracts as source text or JSON.

use std::io::Write;
use std::path::Path;

use gradus::contract::{
    Contract, ContractCondition, Deployment, Language, OutputCase, OutputSize, Unchecked,
};
use gradus::dim::Condition;
use gradus::files::{NewFiles, cannot_write};
use gradus::infer::InferOptions;
use gradus::{DType, Dim, Model};
use serde::Serialize;

use super::json::DimJson;
use crate::args::Emit;
use crate::commands::fleet::FleetModel;
use crate::commands::given;
use crate::diagnostics::Failure;
use crate::output;

#[derive(Serialize)]
struct ContractJson<'a> {
    model: &'a str,
    inputs: Vec<InputJson<'a>>,
    parameters: Vec<ContractParameterJson<'a>>,
    conditions: Vec<ContractConditionJson<'a>>,
    elements: Vec<ContractElementJson<'a>>,
    of_elements: Vec<ContractConditionJson<'a>>,
    unchecked: Vec<RemarkJson<'a>>,
    outputs: Vec<ContractOutputJson<'a>>,
    input_bytes: Option<DimJson<'a>>,
    constant_bytes: u128,
    peak_bytes: Option<DimJson<'a>>,
    grows: bool,
}

#[derive(Serialize)]
struct InputJson<'a> {
    name: &'a str,
    argument: &'a str,
    r#type: Option<&'static str>,
    shape: Vec<DimJson<'a>>,
}

#[derive(Serialize)]
struct ContractParameterJson<'a> {
    symbol: &'a str,
    argument: &'a str,
}

#[derive(Serialize)]
struct ContractElementJson<'a> {
    symbol: &'a str,
    argument: &'a str,
    element: &'a str,
}

#[derive(Serialize)]
struct ContractConditionJson<'a> {
    #[serde(flatten)]
    relation: RelationJson<'a>,
    when: Vec<RelationJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    among: Option<Vec<i64>>,
    #[serde(flatten)]
    remark: RemarkJson<'a>,
}

#[derive(Serialize)]
struct RelationJson<'a> {
    left: DimJson<'a>,
    relation: String,
    right: DimJson<'a>,
}

#[derive(Serialize)]
struct RemarkJson<'a> {
    place: &'a str,
    message: &'a str,
}

#[derive(Serialize)]
struct ContractOutputJson<'a> {
    name: &'a str,
    field: &'a str,
    r#type: Option<&'static str>,
    shape: Option<Vec<SizeJson<'a>>>,
    bytes: Option<SizeJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cases: Vec<OutputCaseJson<'a>>,
    why: &'a [String],
}

#[derive(Serialize)]
struct OutputCaseJson<'a> {
    when: Vec<RelationJson<'a>>,
    shape: Vec<DimJson<'a>>,
    bytes: Option<DimJson<'a>>,
}

/// A number, an expression, or a range.
#[derive(Serialize)]
#[serde(untagged)]
enum SizeJson<'a> {
    Exact(DimJson<'a>),
    Between { min: i64, max: Option<DimJson<'a>> },
}

/// Writes the contract of a model to a file, or prints it.
pub(super) fn emit(
    form: Emit,
    to: Option<&Path>,
    of: &FleetModel,
    model: &Model,
    options: &InferOptions,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let path = &*of.path;
    let in_file = |error: gradus::Error| error.in_file(path.display());
    let title = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let stem = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy();
    let source = |language| Ok::<_, gradus::Error>(model.contract(options)?.source(language, &title));
    let deployed = |to| model.deployment(options, to, &stem);
    let text = match form {
        Emit::Rust => source(Language::Rust).map_err(in_file)?,
        Emit::C => source(Language::C).map_err(in_file)?,
        Emit::Python => source(Language::Python).map_err(in_file)?,
        Emit::Json => output::json(&json(&model.contract(options).map_err(in_file)?, &title))? + "\n",
        Emit::Trtexec => deployed(Deployment::Trtexec).map_err(in_file)?,
        Emit::Triton => deployed(Deployment::Triton).map_err(in_file)?,
        Emit::Ort => deployed(Deployment::OnnxRuntime).map_err(in_file)?,
    };
    let Some(to) = to else { return Ok(out.write_all(text.as_bytes())?) };
    let to = if given::is_folder(to) {
        // The ending of the model stays: m.onnx and m.xml have contracts of their own.
        let mut name = of.name.clone().into_os_string();
        name.push(".");
        name.push(form.ending());
        given::in_folder(to, Path::new(&name))?
    } else {
        to.to_owned()
    };
    model.check_other_output(&to)?;
    let mut files = NewFiles::default();
    files.create(&to, |file| file.write_all(text.as_bytes()).map_err(|error| cannot_write(&to, error)))?;
    Ok(files.commit()?)
}

fn json<'a>(contract: &'a Contract, model: &'a str) -> ContractJson<'a> {
    let dim = |dim: Dim| DimJson(contract.symbols().print(dim));
    let size = |size: &OutputSize| match *size {
        OutputSize::Exact(exact) => SizeJson::Exact(dim(exact)),
        OutputSize::Between(min, max) => SizeJson::Between { min, max: max.map(dim) },
    };
    let inputs = contract.inputs().iter().map(|input| InputJson {
        name: &input.name,
        argument: &input.argument,
        r#type: input.dtype.map(DType::name),
        shape: input.shape.iter().map(|&of| dim(of)).collect(),
    });
    let relation = |of: &Condition| RelationJson {
        left: dim(of.left),
        relation: of.relation.to_string(),
        right: dim(of.right),
    };
    let condition = |of: &'a ContractCondition| ContractConditionJson {
        relation: relation(&of.condition),
        when: of.when.iter().map(relation).collect(),
        among: of.among(),
        remark: RemarkJson { place: &of.place, message: &of.text },
    };
    let case = |case: &OutputCase| OutputCaseJson {
        when: case.when.iter().map(relation).collect(),
        shape: case.shape.iter().map(|&of| dim(of)).collect(),
        bytes: case.bytes.map(dim),
    };
    let unchecked = |of: &'a Unchecked| RemarkJson { place: &of.place, message: &of.text };
    let outputs = contract.outputs().iter().map(|output| ContractOutputJson {
        name: &output.name,
        field: &output.field,
        r#type: output.dtype.map(DType::name),
        shape: output.shape.as_ref().map(|shape| shape.iter().map(size).collect()),
        bytes: output.bytes.as_ref().map(size),
        cases: output.cases.iter().map(case).collect(),
        why: &output.reasons,
    });
    ContractJson {
        model,
        inputs: inputs.collect(),
        parameters: contract
            .parameters()
            .map(|(symbol, argument)| ContractParameterJson { symbol, argument })
            .collect(),
        conditions: contract.conditions().iter().map(condition).collect(),
        elements: contract
            .elements()
            .iter()
            .map(|of| ContractElementJson { symbol: &of.symbol, argument: &of.argument, element: &of.text })
            .collect(),
        of_elements: contract.of_elements().iter().map(condition).collect(),
        unchecked: contract.unchecked().iter().map(unchecked).collect(),
        outputs: outputs.collect(),
        input_bytes: contract.input_bytes().map(dim),
        constant_bytes: contract.constant_bytes(),
        peak_bytes: contract.peak_bytes().map(dim),
        grows: contract.grows(),
    }
}
