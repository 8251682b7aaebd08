//! OpenVINO's models, held against what OpenVINO computes of every value.
//!
//! `conformance/openvino_truth.py` runs models and records what it found in a folder, which the
//! variable `GRADUS_OPENVINO_TRUTH` names (`cargo xtask test openvino-models` does all of it, if
//! `GRADUS_CORPUS` names models). Without it, nothing is checked.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use gradus::fact::{Elements, TensorFact};
use gradus::graph::{DeclaredDim, Type, ValueId};
use gradus::infer::{Completeness, InferOptions, Inference, InputFact};
use gradus::{Dim, Fact, Model};
use serde_json::Value as Json;

/// Outcomes of the values of all models.
#[derive(Debug, Default)]
struct Tally {
    models: usize,
    values: usize,
    full: usize,
    /// With symbols for what the data decide.
    data: usize,
    compared: usize,
    elements: usize,
    wrong: Vec<String>,
    incomplete: Vec<String>,
}

/// By node and output: the value.
fn values(model: &Model) -> HashMap<(String, u64), ValueId> {
    let mut found = HashMap::new();
    for node in model.graph().nodes() {
        for (index, id) in (0..).zip(&node.outputs) {
            if let Some(id) = id {
                found.insert((node.name.to_string(), index), *id);
            }
        }
    }
    found
}

/// The lengths of an input that a run recorded. It is recorded under one of its names.
fn lengths(model: &Model, id: ValueId, run: &Json) -> Option<Vec<i64>> {
    let info = model.graph().value(id);
    let names = std::iter::once(&*info.name).chain(info.aliases.iter().map(|alias| &**alias));
    let shape = names.into_iter().find_map(|name| run["inputs"][name].as_array())?;
    Some(shape.iter().map(|len| len.as_i64().unwrap()).collect())
}

/// Values of the input symbols in a run.
fn bindings(model: &Model, inference: &Inference, run: &Json) -> BTreeMap<String, i64> {
    let mut bindings = BTreeMap::new();
    for &id in model.graph().inputs() {
        let Fact::Tensor(TensorFact { dims: Some(dims), .. }) = inference.fact(id) else { continue };
        let Some(lengths) = lengths(model, id, run) else { continue };
        for (dim, len) in dims.iter().zip(lengths) {
            if let Some(symbol) = inference.symbols().as_symbol(*dim) {
                bindings.insert(symbol.name.to_string(), len);
            }
        }
    }
    bindings
}

fn check(tally: &mut Tally, name: &str, model: &Model, inference: &Inference, run: &Json) {
    let (values, bindings) = (values(model), bindings(model, inference, run));
    let of = |dim: &Dim| inference.symbols().evaluate(*dim, &|name| bindings.get(name).copied());
    for value in run["values"].as_array().unwrap() {
        let node = value["node"].as_str().unwrap();
        let Some(id) = values.get(&(node.to_owned(), value["output"].as_u64().unwrap())) else { continue };
        let Fact::Tensor(fact) = inference.fact(*id) else { continue };
        let Some(dims) = &fact.dims else { continue };
        let want: Vec<_> =
            value["shape"].as_array().unwrap().iter().map(|len| len.as_i64().unwrap()).collect();
        let same = dims.len() == want.len()
            && dims.iter().zip(&want).all(|(dim, want)| of(dim).is_none_or(|dim| dim == *want));
        tally.compared += 1;
        let got = inference.describe(inference.fact(*id));
        if !same {
            tally.wrong.push(format!("{name}: {node} is {got}, but {want:?}"));
        }
        let dtype = value["type"].as_str().unwrap().parse().unwrap();
        if fact.dtype.is_some_and(|inferred| inferred != dtype) {
            tally.wrong.push(format!("{name}: {node} is {got}, but of type {dtype}"));
        }
        let (Elements::Integers(all), Some(want)) = (&fact.elements, value["elements"].as_array()) else {
            continue;
        };
        tally.elements += 1;
        for (dim, want) in all.iter().zip(want) {
            if of(dim).is_some_and(|dim| Some(dim) != want.as_i64()) {
                let got = inference.elements(inference.fact(*id)).unwrap_or_default();
                tally.wrong.push(format!("{name}: {node} holds {got}, but {want}"));
                break;
            }
        }
    }
}

fn count(tally: &mut Tally, name: &str, model: &Model, inference: &Inference) {
    tally.models += 1;
    for node in model.graph().nodes() {
        for id in node.outputs.iter().flatten() {
            tally.values += 1;
            let fact = inference.fact(*id);
            match inference.completeness(fact) {
                Completeness::Full => tally.full += 1,
                Completeness::Data => tally.data += 1,
                _ => {
                    let why = inference.why_incomplete(*id).join("; ");
                    let (operator, got) = (&node.operator, inference.describe(fact));
                    tally.incomplete.push(format!("{name}: {} ({operator}): {got} because {why}", node.name));
                }
            }
        }
    }
}

#[test]
#[ignore = "needs GRADUS_OPENVINO_TRUTH, which `cargo xtask conformance` sets where GRADUS_CORPUS names models"]
fn every_shape_of_openvinos_models_is_right() {
    let truth =
        std::env::var_os("GRADUS_OPENVINO_TRUTH").expect("GRADUS_OPENVINO_TRUTH names a folder of shapes");
    let (mut symbolic, mut fixed) = (Tally::default(), Tally::default());
    let mut files: Vec<_> = std::fs::read_dir(&truth).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "json")) {
        let recorded: Json = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let path = Path::new(recorded["model"].as_str().unwrap());
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let model = Model::open(path).unwrap();
        let mut options = InferOptions::default();
        options.ignore_declared = true;
        let inference = model.infer(&options).unwrap();
        for problem in inference.problems() {
            symbolic.wrong.push(format!("{name}: {}: {}", problem.place, problem.message));
        }
        // Declared and inferred types must agree.
        for problem in model.infer(&InferOptions::default()).unwrap().problems() {
            symbolic.wrong.push(format!("{name}: as declared: {}: {}", problem.place, problem.message));
        }
        count(&mut symbolic, &name, &model, &inference);
        for (which, run) in recorded["runs"].as_array().unwrap().iter().enumerate() {
            check(&mut symbolic, &format!("{name} in run {which}"), &model, &inference, run);
            let mut inputs = BTreeMap::new();
            for &id in model.graph().inputs() {
                let info = model.graph().value(id);
                let dtype = info.declared.as_ref().and_then(Type::dtype);
                let Some(lengths) = lengths(&model, id, run) else { continue };
                let sizes = lengths.into_iter().map(|len| DeclaredDim::Known(usize::try_from(len).unwrap()));
                let given = InputFact::Type(Type::Tensor(dtype, Some(sizes.collect())));
                inputs.insert(info.name.to_string(), given);
            }
            let mut given = options.clone();
            given.sizes.inputs = inputs;
            let inference = model.infer(&given).unwrap();
            if which == 0 {
                count(&mut fixed, &name, &model, &inference);
            }
            check(&mut fixed, &format!("{name} fixed to run {which}"), &model, &inference, run);
        }
    }
    for (what, tally) in [("symbolic", &symbolic), ("fixed", &fixed)] {
        if std::env::var_os("GRADUS_SHOW").is_some() {
            println!("{}\n{}", tally.wrong.join("\n"), tally.incomplete.join("\n"));
        }
        let Tally { models, values, full, data, compared, elements, wrong, .. } = tally;
        let share = 100.0 * f64::from(u32::try_from(full + data).unwrap())
            / f64::from(u32::try_from(*values).unwrap());
        println!(
            "{what}: {models} models, {values} values: {full} full, {data} with what the data decide; {share:.2} % complete; \
             {compared} shapes and {elements} lists of elements compared, {} wrong",
            wrong.len()
        );
    }
    for tally in [&symbolic, &fixed] {
        assert!(tally.wrong.is_empty(), "{} are wrong:\n{}", tally.wrong.len(), tally.wrong.join("\n"));
        assert!(tally.models > 0 && tally.compared > tally.values);
        assert!((tally.full + tally.data) * 1000 >= tally.values * 995, "{}", tally.incomplete.join("\n"));
    }
}
