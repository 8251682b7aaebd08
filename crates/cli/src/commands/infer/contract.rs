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

use super::json::{DimJson, relation_json};
use crate::args::Emit;
use crate::commands::fleet::FleetModel;
use crate::commands::given;
use crate::diagnostics::Failure;
use crate::object::{Flattened, Maybe, nonempty, object};
use crate::output;

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

fn json<'a>(contract: &'a Contract, model: &'a str) -> impl Serialize {
    let dim = |dim: Dim| DimJson(contract.symbols().print(dim));
    let size = |size: &OutputSize| match *size {
        OutputSize::Exact(exact) => SizeJson::Exact(dim(exact)),
        OutputSize::Between(min, max) => SizeJson::Between { min, max: max.map(dim) },
    };
    let inputs = contract.inputs().iter().map(|input| {
        object!(InputJson {
            name,
            argument,
            r#type: input.dtype.map(DType::name),
            shape: input.shape.iter().map(|&of| dim(of)).collect::<Vec<_>>(),
            ..input
        })
    });
    let relation = |of: &Condition| relation_json(contract.symbols(), of);
    let condition = |of: &'a ContractCondition| {
        object!(ContractConditionJson {
            relation: Flattened(relation(&of.condition)),
            when: of.when.iter().map(relation).collect::<Vec<_>>(),
            among: Maybe(of.among()),
            place: &of.place,
            message: &of.text,
        })
    };
    let case = |case: &OutputCase| {
        object!(OutputCaseJson {
            when: case.when.iter().map(relation).collect::<Vec<_>>(),
            shape: case.shape.iter().map(|&of| dim(of)).collect::<Vec<_>>(),
            bytes: case.bytes.map(dim),
        })
    };
    let unchecked = |of: &'a Unchecked| object!(RemarkJson { place: &of.place, message: &of.text });
    let outputs = contract.outputs().iter().map(|output| {
        object!(ContractOutputJson {
            name,
            field,
            r#type: output.dtype.map(DType::name),
            shape: output.shape.as_ref().map(|shape| shape.iter().map(size).collect::<Vec<_>>()),
            bytes: output.bytes.as_ref().map(size),
            cases: nonempty(output.cases.iter().map(case).collect::<Vec<_>>()),
            why: &output.reasons,
            ..output
        })
    });
    object!(ContractJson {
        model,
        inputs: inputs.collect::<Vec<_>>(),
        parameters: contract
            .parameters()
            .map(|(symbol, argument)| object!(ContractParameterJson { symbol, argument }))
            .collect::<Vec<_>>(),
        conditions: contract.conditions().iter().map(condition).collect::<Vec<_>>(),
        elements: contract
            .elements()
            .iter()
            .map(|of| object!(ContractElementJson { symbol, argument, element: &of.text, ..of }))
            .collect::<Vec<_>>(),
        of_elements: contract.of_elements().iter().map(condition).collect::<Vec<_>>(),
        unchecked: contract.unchecked().iter().map(unchecked).collect::<Vec<_>>(),
        outputs: outputs.collect::<Vec<_>>(),
        input_bytes: contract.input_bytes().map(dim),
        constant_bytes: contract.constant_bytes(),
        peak_bytes: contract.peak_bytes().map(dim),
        grows: contract.grows(),
    })
}
