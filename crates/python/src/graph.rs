//! Static graphs: made operator by operator, their shapes inferred as they are made.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gradus::graph::{self, Attribute, Builder, Content, Node, OperatorId, Origin, Standard, Type};
use gradus::infer::{Trace, Traced};
use gradus::schema::onnx_versions;
use gradus::{DType, Kind, Tensor};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};

use crate::dim::sizes;
use crate::dtype::named;
use crate::error::{OrRaise, copied, engine, error, mismatch, room_for, type_name};
use crate::facts::fact_to_python;
use crate::loading::options;
use crate::model::Model;
use crate::tensor;

/// A graph that grows.
#[pyclass(frozen, subclass, module = "gradus._native", name = "GraphBuilder")]
pub(crate) struct GraphBuilder {
    /// True if the caller chose the operator set, so that no node may raise it.
    fixed: bool,
    state: Mutex<GraphState>,
}

/// The operator set of a graph whose nodes and types need no newer one: current runtimes read it.
const DEFAULT_OPSET: i64 = 21;

struct GraphState {
    builder: Builder,
    trace: Trace,
    values: HashMap<String, Traced>,
    nodes: usize,
    opset: i64,
}

impl GraphState {
    /// Infers the outputs of a node. Unless the operator set is fixed, raises it to the lowest that
    /// has the operator with these types and attributes.
    fn trace(
        &mut self,
        node: &mut Node,
        inputs: &[Option<String>],
        outputs: &[&str],
        fixed: bool,
    ) -> PyResult<Vec<Traced>> {
        let mut given = Vec::with_capacity(inputs.len());
        for name in inputs {
            given.push(match name {
                None => None,
                Some(name) => Some((name.as_str(), self.values.get(name).ok_or_else(|| unknown(name))?)),
            });
        }
        let mut result = self.trace.node(Standard::Onnx, node, &given, outputs);
        if let (Err(error), false) = (&result, fixed || !node.operator.domain.is_empty()) {
            let (first, at) = (error.clone(), node.version);
            let versions = onnx_versions("", &node.operator.name).iter().map(|signature| signature.since);
            for version in versions.filter(|&version| version > self.opset) {
                node.version = Some(version);
                result = self.trace.node(Standard::Onnx, node, &given, outputs);
                if result.is_ok() {
                    self.opset = version;
                    break;
                }
            }
            // A wrong node is told about in the oldest version that has its operator.
            if result.as_ref().is_err_and(|last| last.kind() == first.kind()) {
                (result, node.version) = (Err(first), at);
            }
        }
        let traced = result.or_raise()?;
        for output in traced.iter().filter(|_| !fixed) {
            self.hold(output.fact.as_tensor().and_then(|fact| fact.dtype));
        }
        Ok(traced)
    }

    /// Raises the operator set to the first that has an element type.
    fn hold(&mut self, dtype: Option<DType>) {
        let Some(dtype) = dtype else { return };
        // Identity takes every type that its version of ONNX has.
        let mut versions = onnx_versions("", "Identity").iter();
        let first = versions.find(|it| it.inputs.iter().any(|input| input.types.tensor.contains(dtype)));
        self.opset = first.map_or(self.opset, |first| self.opset.max(first.since));
    }
}

/// The error about a name that no value of the graph has.
fn unknown(name: &str) -> PyErr {
    mismatch(Kind::Usage, "a value", format_args!("\"{name}\""), "one of this graph")
}

impl GraphBuilder {
    /// The state. Another thread may hold it while it waits for the interpreter, which is let go
    /// here; while it is held, no code of users is called.
    fn state(&self, py: Python<'_>) -> MutexGuard<'_, GraphState> {
        self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }
}

/// The domain of the operators that Gradus adds, in its first version.
const OWN: (&str, i64) = ("gradus", 1);

#[pymethods]
impl GraphBuilder {
    #[new]
    #[pyo3(signature = (opset=None))]
    fn new(opset: Option<i64>) -> GraphBuilder {
        let builder = Builder::new("graph");
        let trace = Trace::new(gradus::operators::TABLE);
        let fixed = opset.is_some();
        let opset = opset.unwrap_or(DEFAULT_OPSET);
        let state = GraphState { builder, trace, values: HashMap::new(), nodes: 0, opset };
        GraphBuilder { fixed, state: Mutex::new(state) }
    }

    /// The operator set that the graph needs so far, or that was chosen.
    #[getter]
    fn opset(&self, py: Python<'_>) -> i64 {
        self.state(py).opset
    }

    fn _input(&self, name: &str, dtype: &Bound<'_, PyAny>, shape: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let declared = Type::Tensor(Some(named(dtype)?), sizes(shape)?);
        let mut state = self.state(dtype.py());
        let id = state.builder.define(name, Origin::Input).or_raise()?;
        state.builder.info(id).declared = Some(declared.clone());
        let traced = state.trace.input(name, &declared);
        if !self.fixed {
            state.hold(declared.dtype());
        }
        state.values.insert(name.to_owned(), traced);
        Ok(())
    }

    fn _constant(&self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let tensor = tensor::from_python(value)?;
        let mut state = self.state(value.py());
        state.builder.constant(name, tensor.clone().into()).or_raise()?;
        if !self.fixed {
            state.hold(Some(tensor.dtype()));
        }
        let traced = state.trace.constant(tensor);
        state.values.insert(name.to_owned(), traced);
        Ok(())
    }

    /// Adds a node, and gives the error of the node if it cannot be right.
    fn _node(
        &self,
        py: Python<'_>,
        operator: &str,
        own: bool,
        inputs: Vec<Option<String>>,
        outputs: Vec<String>,
        attributes: &Bound<'_, PyDict>,
    ) -> PyResult<()> {
        let attributes =
            attributes.iter().map(|(name, value)| attribute(&name, &value)).collect::<PyResult<_>>()?;
        let mut state = self.state(py);
        let state = &mut *state;
        let (domain, version) = if own { OWN } else { ("", state.opset) };
        let operator = OperatorId {
            domain: state.builder.intern(domain),
            name: state.builder.intern(operator),
            overload: state.builder.intern(""),
        };
        let mut node = Node {
            name: format!("{}_{}", operator.name, state.nodes).into(),
            operator,
            version: Some(version),
            inputs: <_>::default(),
            outputs: <_>::default(),
            attributes,
            position: None,
        };
        let names: Vec<_> = outputs.iter().map(String::as_str).collect();
        let traced = state.trace(&mut node, &inputs, &names, self.fixed)?;
        node.inputs =
            inputs.iter().map(|name| name.as_ref().map(|name| state.builder.reference(name))).collect();
        state.builder.push(node, &names).or_raise()?;
        state.nodes += 1;
        state.values.extend(outputs.into_iter().zip(traced));
        Ok(())
    }

    /// The known facts about a value.
    fn _type<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let state = self.state(py);
        let traced = state.values.get(name).ok_or_else(|| unknown(name))?;
        fact_to_python(py, state.trace.symbols(), &traced.fact)
    }

    /// Assumptions under which the shapes hold, each with the node that needs it.
    #[getter]
    fn assumptions(&self, py: Python<'_>) -> Vec<(String, String)> {
        self.state(py).trace.conditions().iter().map(|a| (a.node.clone(), a.text.clone())).collect()
    }

    /// The graph as a model with these outputs.
    fn _model(&self, py: Python<'_>, outputs: Vec<String>) -> PyResult<Model> {
        let (mut builder, opset) = {
            let state = self.state(py);
            (state.builder.clone(), state.opset)
        };
        builder.import("", opset);
        for name in &outputs {
            if !builder.is_defined(name) {
                return Err(unknown(name));
            }
            builder.output(name);
        }
        let mut model = graph::Model::new(Standard::Onnx);
        model.opsets = vec![("".into(), opset), (OWN.0.into(), OWN.1)];
        model.graph = builder.finish().or_raise()?;
        Ok(Model::of(options().from_source(model)))
    }
}

fn attribute(name: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<Attribute> {
    let name: String = name.extract()?;
    let content = content(value)?.ok_or_else(|| {
        let got = format!("of type {}", type_name(value));
        let wanted = "a number, text, an array or a list of numbers";
        mismatch(Kind::Type, format_args!("attribute \"{name}\""), got, wanted)
    })?;
    Ok(Attribute { name: name.into(), content })
}

/// Floats of attributes are of 32 bits.
fn float(value: &Bound<'_, PyAny>) -> PyResult<f32> {
    value.extract()
}

fn content(value: &Bound<'_, PyAny>) -> PyResult<Option<Content>> {
    Ok(if value.is_instance_of::<PyBool>() || value.is_instance_of::<PyInt>() {
        Some(Content::Int(value.extract()?))
    } else if value.is_instance_of::<PyFloat>() {
        Some(Content::Float(float(value)?))
    } else if let Ok(text) = value.cast::<PyString>() {
        Some(Content::Bytes(copied(text.to_str()?.as_bytes())?.into()))
    } else if value.hasattr("__dlpack__")? || value.hasattr("__array__")? {
        Some(Content::Tensor(tensor::from_python(value)?.into()))
    } else {
        // A list is read, and then copied once to be shared.
        if let Ok(count) = value.len() {
            drop((room_for::<i64>(count)?, room_for::<i64>(count)?));
        }
        if let Ok(ints) = value.extract::<Vec<i64>>() {
            Some(Content::Ints(ints.into()))
        } else {
            value.extract::<Vec<f32>>().ok().map(|floats| Content::Floats(floats.into()))
        }
    })
}

/// Runs one operator on values.
#[pyfunction]
pub(crate) fn _evaluate<'py>(
    py: Python<'py>,
    standard: &str,
    operator: &str,
    version: i64,
    inputs: Vec<Bound<'py, PyAny>>,
    attributes: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let standard = if standard == "onnx" { Standard::Onnx } else { Standard::OpenVino };
    let tensors = inputs.iter().map(tensor::from_python).collect::<PyResult<Vec<Tensor>>>()?;
    let mut attributes: Vec<_> =
        attributes.iter().map(|(name, value)| attribute(&name, &value)).collect::<PyResult<_>>()?;
    if standard == Standard::OpenVino {
        // OpenVINO's files have attributes as text.
        for attribute in &mut attributes {
            if let Content::Bytes(bytes) = &attribute.content {
                attribute.content = Content::Text(String::from_utf8_lossy(bytes).into());
            }
        }
    }
    let given = attributes.iter().map(|attribute| (&*attribute.name, attribute.content.clone())).collect();
    let names: Vec<_> = (0..tensors.len()).map(|i| format!("input {i}")).collect();
    let mut builder = Builder::new(operator);
    for (name, tensor) in names.iter().zip(&tensors) {
        builder.constant(name, tensor.clone().into()).or_raise()?;
    }
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    builder.apply("", operator, version, &names, &["output"], given).or_raise()?;
    builder.output("output");
    let mut model = graph::Model::new(standard);
    model.graph = builder.finish().or_raise()?;
    let model = options().from_source(model);
    let results = engine(py, || model.run::<&str, Tensor>([])).or_raise()?;
    match results.iter().next() {
        Some((_, value)) => tensor::value_to_python(py, value),
        None => Err(error(Kind::Graph, "cannot return a value: the operator has no outputs")),
    }
}

/// The number of an element type in ONNX's enumeration.
#[pyfunction]
pub(crate) fn _onnx_type(dtype: &Bound<'_, PyAny>) -> PyResult<i64> {
    let dtype: DType = named(dtype)?;
    gradus::formats::onnx::number_of(dtype)
        .ok_or_else(|| mismatch(Kind::Type, "dtype", dtype, "a type of ONNX"))
}

/// The name of an element type, whatever names it.
#[pyfunction]
pub(crate) fn _dtype_name(dtype: &Bound<'_, PyAny>) -> PyResult<&'static str> {
    named(dtype).map(DType::name)
}

/// The array type of an element type, whatever names it.
#[pyfunction]
pub(crate) fn _dtype<'py>(dtype: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    Ok(crate::dtype::descriptor(dtype.py(), named(dtype)?)?.into_any())
}
