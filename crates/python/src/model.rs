//! Models: loaded, inferred, run.

mod inputs;
mod programs;
mod reports;
mod verified;

use std::collections::HashMap;
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gradus::check::CheckOptions;
use gradus::contract::{Deployment, Language};
use gradus::conversion::{ConvertOptions, Converted, Runtime};
use gradus::edit::{Edited, JoinOptions};
use gradus::fold::{FoldOptions, RuleSet};
use gradus::graph::{Standard, ValueId};
use gradus::infer::{ElementRange, InferOptions, Reuse};
use gradus::{Error, Kind, Program, Sums, Tensor};
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use self::programs::ProgramKey;
use self::reports::set_proof;

use crate::compare::portability_to_python;
use crate::contract::Contract;
use crate::cost::{MemoryPlanFields, cost_to_python, plan_fields};
use crate::dim::to_python;
use crate::error::{OrRaise, engine, error, mismatch, raised};
use crate::facts::{fact_to_python, type_to_python};
use crate::given::{
    ComparedOutput, GivenAssumptions, GivenLimits, GivenSizes, assumptions, compared, judged, said_of_inputs,
};
use crate::loading::as_read;
use crate::runtime;
use crate::tensor::value_to_python;

/// A model: a graph of operators with inputs and outputs.
#[pyclass(frozen, module = "gradus._native", name = "Model")]
pub(crate) struct Model {
    pub(crate) model: Arc<gradus::Model>,
    programs: Mutex<HashMap<ProgramKey, Arc<Program>>>,
}

impl Model {
    /// A model for Python, with no programs compiled.
    pub(crate) fn of(model: gradus::Model) -> Model {
        Model { model: Arc::new(model), programs: Mutex::default() }
    }

    /// The model of the library.
    pub(crate) fn native(&self) -> &gradus::Model {
        &self.model
    }

    /// The model within the limits of a call.
    fn within(&self, limits: &GivenLimits) -> PyResult<gradus::Model> {
        Ok(gradus::Model::clone(&self.model).with_limits(limits.over(self.model.limits())?))
    }

    /// A result of a call, which keeps the limits of the model and not those of the call.
    pub(crate) fn made(&self, model: gradus::Model) -> Model {
        Model::of(model.with_limits(self.model.limits()))
    }

    /// An error of the model, with its file.
    fn in_file(&self, error: Error) -> Error {
        match self.model.path() {
            Some(path) => error.in_file(path.display()),
            None => error,
        }
    }

    fn declared<'py>(&self, py: Python<'py>, ids: &[ValueId]) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for &id in ids {
            let info = self.model.graph().value(id);
            all.set_item(&*info.name, type_to_python(py, info.declared.as_ref())?)?;
        }
        Ok(all)
    }
}

#[pymethods]
impl Model {
    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.declared(py, self.model.graph().inputs())
    }

    #[getter]
    fn outputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.declared(py, self.model.graph().outputs())
    }

    #[getter]
    fn standard(&self) -> &'static str {
        self.model.source().standard.name()
    }

    #[getter]
    fn opsets(&self) -> HashMap<String, i64> {
        self.model.source().opsets.iter().map(|(domain, version)| (domain.to_string(), *version)).collect()
    }

    /// The model with constants in the place of inputs.
    fn _with_inputs_set(&self, py: Python<'_>, values: &Bound<'_, PyDict>) -> PyResult<Model> {
        let values = self.given_values(values)?;
        let model = engine(py, || self.model.with_inputs_set(values));
        Ok(Model::of(model.map_err(|error| self.in_file(error)).or_raise()?))
    }

    /// The differences that runs of this model and another show, as a `gradus.CheckReport` has it;
    /// in a runtime, as a `gradus.RuntimeReport` has it.
    fn _check<'py>(
        &self,
        py: Python<'py>,
        other: &Model,
        sizes: GivenSizes<'_>,
        values: &Bound<'py, PyDict>,
        runs: usize,
        seed: u64,
        runtime: Option<Bound<'py, PyAny>>,
        prove: bool,
        save_case: Option<PathBuf>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let mut options = CheckOptions::default();
        (options.runs, options.seed) = (runs, seed);
        if !prove {
            options.proof = Duration::ZERO;
        }
        options.sizes = said_of_inputs(sizes)?;
        options.sizes.inputs.extend(self.given_facts(values)?);
        let report = PyDict::new(py);
        if let Some(runtime) = runtime {
            let runtime = runtime::given(&runtime)?;
            let check = engine(py, || self.model.check_in(&other.model, &*runtime, &options)).or_raise()?;
            if let (Some(folder), Some(case)) = (save_case, &check.first_beyond) {
                engine(py, || case.save(&folder, &*runtime)).or_raise()?;
            }
            let first_beyond = check.first_beyond.map(|case| (case.node, case.value));
            report.set_item("first_beyond", first_beyond)?;
            let nodes = check.nodes.into_iter().map(judged);
            report.set_item("runs", check.runs)?;
            report.set_item("outputs", check.outputs.into_iter().map(compared).collect::<Vec<_>>())?;
            report.set_item("nodes", nodes.collect::<Vec<_>>())?;
            report.set_item("hidden", check.hidden.map(|error| error.to_string()))?;
            report.set_item("refused", check.refused.map(|error| error.to_string()))?;
        } else {
            let check = engine(py, || self.model.check(&other.model, &options)).or_raise()?;
            set_proof(&report, check.proof.as_ref())?;
            report.set_item("runs", check.runs)?;
            report.set_item("outputs", check.outputs.into_iter().map(compared).collect::<Vec<_>>())?;
            report.set_item("parting", check.parting.map(|it| (it.value, it.before, it.after)))?;
        }
        Ok(report)
    }

    /// The outputs that a runtime computes differently for a folded model and for this one,
    /// optimising neither.
    fn _verify_in(
        &self,
        py: Python<'_>,
        folded: &Model,
        runtime: &str,
        sizes: GivenSizes<'_>,
    ) -> PyResult<(usize, Vec<ComparedOutput>)> {
        let mut options = CheckOptions::default();
        options.seed = verified::SEED;
        options.sizes = said_of_inputs(sizes)?;
        let runtime = runtime::find(&format!("plain {runtime}")).or_raise()?;
        let (runs, outputs) =
            engine(py, || self.model.verify_in(&folded.model, &*runtime, &options)).or_raise()?;
        let differing = outputs.into_iter().filter(|output| !output.is_same());
        Ok((runs, differing.map(compared).collect()))
    }

    /// Facts about every value: types by name, assumptions, problems, reasons, bytes of the peak.
    fn _infer<'py>(
        &self,
        py: Python<'py>,
        sizes: GivenSizes<'_>,
        values: &Bound<'py, PyDict>,
        ignore_declared: bool,
        dialect: &str,
        limits: GivenLimits,
    ) -> PyResult<Bound<'py, PyDict>> {
        let mut options = InferOptions::of(said_of_inputs(sizes)?);
        options.sizes.inputs.extend(self.given_facts(values)?);
        options.ignore_declared = ignore_declared;
        options.dialect = dialect.parse().or_raise()?;
        let graph = self.model.graph();
        let model = self.within(&limits)?;
        let found = engine(py, || {
            let mut inference = model.infer(&options)?;
            let peak = inference.peak(&model, Reuse::None).map(|peak| peak.bytes);
            Ok::<_, Error>((inference, peak))
        });
        let (inference, peak) = found.or_raise()?;
        let (types, reasons) = (PyDict::new(py), PyDict::new(py));
        for id in graph.ids() {
            let name = &*graph.value(id).name;
            let fact = inference.fact(id);
            types.set_item(name, fact_to_python(py, inference.symbols(), fact)?)?;
            let why = inference.why_incomplete(id);
            if !why.is_empty() {
                reasons.set_item(name, why.join("; "))?;
            }
        }
        let found = PyDict::new(py);
        found.set_item("types", types)?;
        found.set_item("reasons", reasons)?;
        let when = |of: &gradus::infer::ModelCondition| of.when.texts(inference.symbols());
        let conditions = inference.conditions().iter().map(|of| {
            let range = |of: &ElementRange| {
                let [min, max] = [of.min, of.max].map(|end| to_python(py, inference.symbols(), end));
                Ok::<_, PyErr>((of.input.clone(), min?, max?))
            };
            let elements = of.elements.as_ref().map(range).transpose()?;
            let decided = of.relation.is_some();
            Ok::<_, PyErr>((&of.text, &of.node, of.why.name(), decided, when(of), elements, of.among()))
        });
        let conditions = conditions.collect::<PyResult<Vec<_>>>()?;
        found.set_item("conditions", conditions)?;
        let problems: Vec<_> = inference.problems().iter().map(|p| (&p.place, &p.message)).collect();
        found.set_item("problems", problems)?;
        let warnings: Vec<_> = inference.warnings().iter().map(|p| (&p.place, &p.message)).collect();
        found.set_item("warnings", warnings)?;
        let peak = peak.map(|peak| to_python(py, inference.symbols(), peak)).transpose()?;
        found.set_item("peak_bytes", peak)?;
        Ok(found)
    }

    /// The cost of the model, and the largest symbol that fits a number of bytes.
    fn _cost<'py>(
        &self,
        py: Python<'py>,
        sizes: GivenSizes<'_>,
        limits: GivenLimits,
        fit: Option<u128>,
        in_place: bool,
        depth: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let options = InferOptions::of(said_of_inputs(sizes)?);
        let graph = self.model.graph();
        let model = self.within(&limits)?;
        let found = engine(py, || {
            let mut cost = model.cost(&options)?;
            let reuse = if in_place { Reuse::InPlace } else { Reuse::None };
            let fit = fit.map(|bytes| cost.fit(&model, bytes, reuse)).transpose()?;
            Ok::<_, Error>((cost, fit))
        });
        let (cost, fit) = found.or_raise()?;
        cost_to_python(py, graph, cost, fit, depth)
    }

    /// The nodes at which programs differ, as a dict.
    fn _differences<'py>(
        &self,
        py: Python<'py>,
        sizes: GivenSizes<'_>,
        limits: GivenLimits,
    ) -> PyResult<Bound<'py, PyDict>> {
        let options = InferOptions::of(said_of_inputs(sizes)?);
        let model = self.within(&limits)?;
        let found = engine(py, || model.portability(&options)).or_raise()?;
        portability_to_python(py, &found)
    }

    /// Bytes, blocks and alignment of a plan of the memory.
    fn _plan(
        &self,
        py: Python<'_>,
        sizes: GivenSizes<'_>,
        limits: GivenLimits,
        alignment: u64,
        in_place: bool,
    ) -> PyResult<MemoryPlanFields> {
        let options = InferOptions::of(said_of_inputs(sizes)?);
        let model = self.within(&limits)?;
        let reuse = if in_place { Reuse::InPlace } else { Reuse::Views };
        let plan = engine(py, || model.cost(&options)?.plan(&model, alignment, reuse)).or_raise()?;
        Ok(plan_fields(self.model.graph(), plan))
    }

    /// A page of HTML about the model, which is called by a name.
    fn _report(
        &self,
        py: Python<'_>,
        name: &str,
        sizes: GivenSizes<'_>,
        limits: GivenLimits,
    ) -> PyResult<String> {
        let options = InferOptions::of(said_of_inputs(sizes)?);
        let model = self.within(&limits)?;
        Ok(engine(py, || gradus_report::report(&model, name, &options)).or_raise()?.html)
    }

    /// The contract of the model as source text.
    fn _contract(
        &self,
        py: Python<'_>,
        language: &str,
        name: &str,
        sizes: GivenSizes<'_>,
        limits: GivenLimits,
    ) -> PyResult<String> {
        let options = InferOptions::of(said_of_inputs(sizes)?);
        let model = self.within(&limits)?;
        if let Ok(to) = language.parse::<Deployment>() {
            return engine(py, || model.deployment(&options, to, name)).or_raise();
        }
        let language: Language = language.parse().or_raise()?;
        Ok(engine(py, || model.contract(&options)).or_raise()?.source(language, name))
    }

    /// The contract of the model, to be asked for shapes.
    fn _asked_contract(
        &self,
        py: Python<'_>,
        sizes: GivenSizes<'_>,
        limits: GivenLimits,
    ) -> PyResult<Contract> {
        let options = InferOptions::of(said_of_inputs(sizes)?);
        let model = self.within(&limits)?;
        engine(py, || model.contract(&options)).or_raise().map(Contract)
    }

    /// The edited model, what the edits did, and the conditions of the result.
    #[allow(clippy::type_complexity, reason = "pairs of texts")]
    fn _edit(
        &self,
        py: Python<'_>,
        edits: Vec<crate::edit::GivenEdit<'_>>,
        limits: GivenLimits,
    ) -> PyResult<(Model, Vec<String>, Vec<(String, String)>)> {
        let model = self.within(&limits)?;
        let model = engine(py, || as_read(model)).or_raise()?;
        let mut editor = gradus::edit::Editor::new(&model).or_raise()?;
        for edit in edits {
            crate::edit::apply(&mut editor, edit)?;
        }
        let edited = engine(py, || {
            let edited = editor.finish()?;
            let conditions = edited.inference().conditions().iter();
            let conditions = conditions.map(|of| (of.node.clone(), of.text.clone())).collect();
            Ok((edited.model()?, edited.notes().to_vec(), conditions))
        });
        let (after, notes, conditions) = edited.map_err(|error| self.in_file(error)).or_raise()?;
        Ok((self.made(after), notes, conditions))
    }

    /// The model for all sizes of this and other models, what was done, and its conditions.
    #[allow(clippy::type_complexity, reason = "lists of pairs")]
    fn _generalize<'py>(
        &self,
        py: Python<'py>,
        others: Vec<PyRef<'py, Model>>,
        shapes: Vec<(String, Bound<'py, PyAny>)>,
        sizes: Vec<(String, String)>,
        limits: GivenLimits,
    ) -> PyResult<(Model, Vec<String>, Vec<(String, String)>)> {
        let options = crate::edit::dynamic(shapes, sizes)?;
        let model = self.within(&limits)?;
        let others: Vec<_> = others.iter().map(|other| other.native().clone()).collect();
        let made = engine(py, || {
            let dynamic = model.generalize(&others.iter().collect::<Vec<_>>(), &options)?;
            Ok((model.edited(&dynamic.model)?, dynamic))
        });
        let (after, dynamic) = made.or_raise()?;
        let conditions = dynamic.conditions.iter().map(|text| (String::new(), text.clone())).collect();
        Ok((self.made(after), dynamic.notes(), conditions))
    }

    /// The joined model, and what was done.
    fn _join(
        &self,
        py: Python<'_>,
        second: &Model,
        links: Vec<(String, String)>,
        keep: Vec<String>,
        prefix: String,
    ) -> PyResult<(Model, Vec<String>)> {
        let mut options = JoinOptions::default();
        (options.links, options.keep, options.prefix) = (links, keep, Some(prefix));
        let joined = engine(py, || {
            let joined = self.model.join(&second.model, &options)?;
            Ok((joined.model()?, joined.notes().to_vec()))
        });
        let (after, notes) = joined.or_raise()?;
        Ok((self.made(after), notes))
    }

    /// The parts of the model, with what each says, and the values that each passes on.
    #[allow(clippy::type_complexity, reason = "a list for each part")]
    fn _split(
        &self,
        py: Python<'_>,
        at: Vec<Vec<String>>,
    ) -> PyResult<Vec<(Model, Vec<String>, Vec<String>)>> {
        let parts = engine(py, || {
            let split = self.model.split_at(&at)?;
            let part = |(index, part): (usize, &Edited)| {
                let passed = split.links(index).into_iter().map(|(output, _)| output).collect();
                Ok((part.model()?, part.notes().to_vec(), passed))
            };
            split.parts.iter().enumerate().map(part).collect::<gradus::Result<Vec<_>>>()
        });
        let parts = parts.or_raise()?.into_iter();
        Ok(parts.map(|(model, notes, passed)| (self.made(model), notes, passed)).collect())
    }

    /// The folded model, and what is to be said of it.
    fn _fold<'py>(
        &self,
        py: Python<'py>,
        sizes: GivenSizes<'_>,
        max_constant: u64,
        declare: bool,
        verify: (Option<bool>, bool, Bound<'py, PyDict>),
        level: &str,
        rules: Vec<String>,
        no_rules: Vec<String>,
        keep_weights: bool,
        limits: GivenLimits,
    ) -> PyResult<(Model, Bound<'py, PyDict>)> {
        let mut options = FoldOptions::default();
        options.sizes = said_of_inputs(sizes)?;
        options.rules = RuleSet::of(level.parse().or_raise()?);
        for name in &rules {
            options.rules = options.rules.with(name).or_raise()?;
        }
        for name in &no_rules {
            options.rules = options.rules.without(name).or_raise()?;
        }
        if keep_weights {
            options.rules = options.rules.keeping_weights();
        }
        options.max_constant = max_constant;
        options.declare = declare;
        let model = self.within(&limits)?;
        let (verify, prove, values) = verify;
        let values = self.given_facts(&values)?;
        let folded = engine(py, || verified::fold(model, &options, (verify, prove), values));
        let (after, report, verified, measured) = folded.map_err(|error| self.in_file(error)).or_raise()?;
        let told = reports::of_folding(py, &report, verified.as_ref(), measured.as_ref())?;
        Ok((self.made(after), told))
    }

    /// The model in the operators of another standard, and what is to be said of it.
    fn _convert<'py>(
        &self,
        py: Python<'py>,
        to: &str,
        sizes: GivenSizes<'_>,
        opset: Option<i64>,
        runtime: Option<&str>,
        states: (bool, Vec<(String, String)>),
        verify: Option<bool>,
        limits: GivenLimits,
    ) -> PyResult<(Model, Bound<'py, PyDict>)> {
        let known = [Standard::Onnx, Standard::OpenVino];
        let standard = known.into_iter().find(|standard| standard.name() == to);
        let Some(standard) = standard.filter(|&standard| standard == Standard::Onnx || opset.is_none())
        else {
            return Err(match standard {
                Some(_) => error(Kind::Usage, "opset is for models of ONNX"),
                None => raised(&Error::unknown("standard to write", to, known.map(Standard::name))),
            });
        };
        let mut options = ConvertOptions::default();
        options.opset = opset;
        if let Some(name) = runtime {
            options.runtime = Some(runtime_named(name)?);
        }
        options.sizes = said_of_inputs(sizes)?;
        (options.stateful, options.states) = states;
        let model = self.within(&limits)?;
        let converted = engine(py, || verified::convert(model, standard, &options, verify));
        let (converted, found) = converted.map_err(|error| self.in_file(error)).or_raise()?;
        let Converted { model, report, .. } = converted;
        let told = reports::of_conversion(py, &report, found.as_ref())?;
        Ok((self.made(model), told))
    }

    /// Writes the model as an ONNX file, or one of OpenVINO as a .xml file with a .bin file next to
    /// it; gives their bytes.
    #[pyo3(signature = (path, keep_names = false))]
    fn save(&self, py: Python<'_>, path: PathBuf, keep_names: bool) -> PyResult<u64> {
        engine(py, || gradus::Model::clone(&self.model).keep_names(keep_names).save(path)).or_raise()
    }

    /// The model as the bytes of an ONNX file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = engine(py, || self.model.to_onnx()).or_raise()?;
        PyBytes::new_with(py, bytes.len(), |copy| {
            copy.copy_from_slice(&bytes);
            Ok(())
        })
    }

    /// Explains what is known of a value, from where it comes.
    fn explain(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        const LINES: usize = 1000;
        let id = self.model.value(name).or_raise()?;
        let lines = engine(py, || {
            let inference = self.model.infer(&InferOptions::default())?;
            Ok::<_, Error>(inference.explain(self.model.graph(), id, LINES))
        });
        Ok(lines.or_raise()?.join("\n"))
    }

    #[pyo3(signature = (inputs=None, outputs=None, *, max_bytes=None, max_work=None, timeout=None, expand_functions=false, seed=0, accumulate=None, assumed=None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        inputs: Option<&Bound<'py, PyDict>>,
        outputs: Option<Vec<String>>,
        max_bytes: Option<u64>,
        max_work: Option<u64>,
        timeout: Option<f64>,
        expand_functions: bool,
        seed: u64,
        accumulate: Option<&str>,
        assumed: Option<GivenAssumptions>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let sums = match accumulate {
            None => Sums::default(),
            Some(name) => Sums::ALL
                .into_iter()
                .find(|sums| sums.name() == name)
                .ok_or_else(|| mismatch(Kind::Value, "accumulate", name, "float64, float32 or exact"))?,
        };
        let mut given = HashMap::new();
        for (name, value) in inputs.into_iter().flatten() {
            let name: String = name.extract()?;
            let value = self.given(&name, &value)?;
            given.insert(name, value);
        }
        let limits = GivenLimits(max_bytes, max_work, timeout).over(self.model.limits())?;
        let wanted = outputs.unwrap_or_default();
        let assume = assumed.map(assumptions).unwrap_or_default();
        for unequal in self.model.unequal_sizes(|name| given.get(name)) {
            let text = CString::new(unequal.replace('\0', "\\0"))?;
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 2)?;
        }
        let results = engine(py, || {
            self.model.check_sizes(&assume, |name| given.get(name))?;
            self.program(wanted, expand_functions, seed, sums)?.run_within(&given, limits)
        })
        .or_raise()?;
        let all = PyDict::new(py);
        for (name, value) in &results {
            all.set_item(&**name, value_to_python(py, value)?)?;
        }
        Ok(all)
    }

    fn _intervals<'py>(
        &self,
        py: Python<'py>,
        inputs: &Bound<'py, PyDict>,
        outputs: Vec<String>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let given = self.given_values(inputs)?;
        let found =
            engine(py, || self.program(outputs, false, 0, Sums::default())?.run_with_intervals(given))
                .or_raise()?;
        let all = PyDict::new(py);
        for ((name, _), interval) in found.outputs.into_iter().zip(found.intervals) {
            let ends = interval.map(|interval| {
                let end = |tensor: Tensor| value_to_python(py, &tensor.into());
                Ok::<_, PyErr>((end(interval.low)?, end(interval.high)?))
            });
            all.set_item(&*name, ends.transpose()?)?;
        }
        Ok(all)
    }

    fn __repr__(&self) -> String {
        let graph = self.model.graph();
        let names = |ids: &[ValueId]| {
            ids.iter().map(|&id| graph.value(id).name.to_string()).collect::<Vec<_>>().join(", ")
        };
        let (inputs, outputs) = (names(graph.inputs()), names(graph.outputs()));
        format!("<Model ({inputs}) -> ({outputs}), {} nodes>", graph.nodes().len())
    }
}

/// The program of that name for which models are converted.
pub(crate) fn runtime_named(name: &str) -> PyResult<Runtime> {
    let known = [Runtime::OnnxRuntime, Runtime::OpenVino];
    let found = known.into_iter().find(|runtime| runtime.name() == name);
    found.ok_or_else(|| raised(&Error::unknown("runtime", name, known.map(Runtime::name))))
}
