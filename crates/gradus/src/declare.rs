//! Types of values, as inference found them, to be declared in a model.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use gradus_core::convert::{i64_of, usize_of_i64};
use gradus_core::graph::edit::Edit;
use gradus_core::graph::{self, DeclaredDim, Standard, Type, ValueId, ValueInfo};
use gradus_core::text::name_in_message;
use gradus_core::{Error, Kind, Result, Tensor, Value};

use crate::dim::{Dim, Symbols};
use crate::fact::Fact;
use crate::model::Model;
use gradus_engine::infer::{InferOptions, Inference, InputFact, Sizes, symbols_of_inputs};

impl Model {
    /// The model with other types of inputs in place of the declared ones, to run or to convert.
    ///
    /// # Errors
    /// [`Kind::Usage`] if it has no such input, or the rank is another than the declared one.
    ///
    /// ```
    /// use gradus::graph::{DeclaredDim, Type};
    /// let model = gradus::Model::open("../../examples/positions.onnx")?;
    /// let sizes = Some(vec![DeclaredDim::Known(1), DeclaredDim::Symbol("length".into())]);
    /// let model = model.with_input_types([("tokens", &Type::Tensor(None, sizes))])?;
    /// let tokens = model.graph().value(model.input("tokens")?);
    /// assert_eq!(tokens.declared.as_ref().map(ToString::to_string).as_deref(), Some("int64[1, length]"));
    /// # Ok::<(), gradus::Error>(())
    /// ```
    pub fn with_input_types<'a>(
        &self,
        types: impl IntoIterator<Item = (&'a str, &'a Type)>,
    ) -> Result<Model> {
        let mut given = BTreeMap::new();
        for (name, of) in types {
            let id = self.input(name)?;
            let declared = self.graph().value(id).declared.as_ref();
            let dtype = of.dtype().or_else(|| declared?.dtype());
            let of = match (of, declared) {
                (Type::Tensor(_, Some(sizes)), Some(Type::Tensor(_, Some(old))))
                    if sizes.len() != old.len() =>
                {
                    let what = format_args!("rank of input \"{name}\"");
                    return Err(Error::mismatch(Kind::Usage, what, sizes.len(), old.len()));
                }
                (Type::Tensor(_, sizes), _) => Type::Tensor(dtype, sizes.clone()),
                (other, _) => other.clone(),
            };
            given.insert(id, of);
        }
        if given.is_empty() {
            return Ok(self.clone());
        }
        let mut source = self.source().clone();
        source.graph.declare(&mut |place, id| given.get(&id).filter(|_| place.is_empty()).cloned());
        Ok(self.with_source(source))
    }

    /// The model with constants in the place of inputs: as if it had been written with them. Its
    /// file has an initializer (ONNX) or a `Const` (OpenVINO) for each.
    ///
    /// # Errors
    /// [`Kind::Usage`] if it has no such input, if one is given twice, or if a value is not what
    /// the model declares or no tensor.
    ///
    /// ```
    /// use gradus::{Model, Shape, Tensor};
    /// let tokens = Tensor::from_vec(Shape::new([1, 3])?, vec![7i64, 8, 9])?;
    /// let model = Model::open("../../examples/positions.onnx")?.with_inputs_set([("tokens", tokens)])?;
    /// assert!(model.graph().inputs().is_empty());
    /// let outputs = model.run::<&str, Tensor>([])?;
    /// assert_eq!(outputs["position_ids"].tensor()?.elements::<i64>()?[..], [0, 1, 2]);
    /// # Ok::<(), gradus::Error>(())
    /// ```
    #[cfg(feature = "write")]
    pub fn with_inputs_set<N: AsRef<str>, V: Into<Value>>(
        &self,
        values: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Model> {
        let mut tensors: Vec<(ValueId, Tensor)> = Vec::new();
        for (name, value) in values {
            let (id, value) = (self.given_input(name.as_ref())?, value.into());
            let info = self.graph().value(id);
            let name = name_in_message(&info.name);
            if tensors.iter().any(|(set, _)| *set == id) {
                return Err(Error::new(Kind::Usage, format!("input \"{name}\" is set twice")));
            }
            tensors.push((id, checked_constant(info, &value)?));
        }
        if tensors.is_empty() { Ok(self.clone()) } else { self.with_constants(&tensors) }
    }

    /// The model whose inputs have the types that are given; names of inputs that it lacks are left
    /// to inference.
    pub(crate) fn with_given(&self, sizes: &Sizes) -> Result<Model> {
        let types = sizes.inputs.iter().filter_map(|(name, given)| match given {
            InputFact::Type(of) if self.input(name).is_ok() => Some((&**name, of)),
            _ => None,
        });
        self.with_input_types(types)
    }

    /// The model that declares what was inferred: of the values that nodes compute, and of inputs
    /// and outputs where the model leaves a dimension open, or where what was given fixes one.
    ///
    /// # Errors
    /// [`Kind::Graph`] if no run succeeds with the sizes or values that were given, with the
    /// reason;
    /// [`gradus_core::Kind::Unsupported`] if models like it are not edited.
    #[cfg(feature = "write")]
    pub fn declared(&self, inference: &Inference, given: &InferOptions) -> Result<graph::Model> {
        self.file_of()?;
        if !given.sizes.dims.is_empty() || !given.sizes.inputs.is_empty() {
            inference.must_be_consistent("cannot write what was given")?;
        }
        let graph = self.graph();
        let open = if graph.inputs().iter().any(|&id| graph.constant(id).is_some()) {
            let mut given = given.clone();
            given.open_defaults = true;
            Some(self.infer(&given)?)
        } else {
            None
        };
        let inference = open.as_ref().unwrap_or(inference);
        let telling = Telling::new(self.source(), inference.symbols(), given);
        let told = |id: ValueId| {
            let info = graph.value(id);
            let of = merged(graph.value(id), inference.fact(id), |dim| telling.size(dim))?;
            telling.is_new(info.declared.as_ref(), &of).then(|| (info.name.clone(), of))
        };
        let mut seen = HashSet::new();
        let computed = graph.nodes().iter().flat_map(|node| node.outputs.iter().copied().flatten());
        let all = graph.inputs().iter().chain(graph.outputs()).copied().chain(computed);
        let types = all.filter(|id| seen.insert(*id)).filter_map(told).collect();
        let declared = self.source().apply(&Edit { types, ..Edit::keeping(0..graph.nodes().len()) })?;
        if given.sizes.inputs.is_empty() { Ok(declared) } else { self.reopened(declared) }
    }

    /// An edited model whose inner graphs declare the sizes that inference finds, as its inputs have
    /// other sizes than before: runtimes hold values to the sizes that these graphs declare.
    #[cfg(feature = "write")]
    pub(crate) fn reopened(&self, mut edited: graph::Model) -> Result<graph::Model> {
        if edited.graph.nodes().iter().all(|node| node.graphs().next().is_none()) {
            return Ok(edited);
        }
        let mut options = InferOptions::default();
        options.ignore_declared = true;
        let (_, symbols, bodies, _) = self.with_source(edited.clone()).infer(&options)?.into_parts();
        let before = edited.clone();
        let telling = Telling::new(&before, &symbols, &options);
        edited.graph.declare(&mut |place, id| {
            let info = graph_at(&before.graph, place).filter(|_| !place.is_empty())?.value(id);
            let Some(Type::Tensor(dtype, Some(_))) = info.declared else { return None };
            let say = |dim| Some(telling.size(dim).unwrap_or(DeclaredDim::Unknown));
            let of = bodies.get(place).and_then(|facts| merged(info, facts.get(id.index())?, say));
            Some(of.unwrap_or(Type::Tensor(dtype, None)))
        });
        Ok(edited)
    }
}

/// The tensor that an input may become, if a value is one.
///
/// # Errors
/// [`Kind::Usage`] if the value is not what the model declares of the input or no tensor.
pub(crate) fn checked_constant(info: &ValueInfo, value: &Value) -> Result<Tensor> {
    let what = format_args!("cannot set input \"{}\": the value", name_in_message(&info.name));
    match (value, &info.declared) {
        (value, Some(declared)) if !declared.admits(value) => {
            Err(Error::mismatch(Kind::Usage, what, value, declared))
        }
        (Value::Tensor(tensor), _) => Ok(tensor.clone()),
        (other, _) => Err(Error::mismatch(Kind::Usage, what, other, "a tensor")),
    }
}

/// The graph at a place that [`graph::Graph::declare`] tells, by the numbers of the nodes around it
/// and of the graphs within these.
#[cfg(feature = "write")]
pub(crate) fn graph_at<'g>(graph: &'g graph::Graph, place: &[(usize, usize)]) -> Option<&'g graph::Graph> {
    place.iter().try_fold(graph, |graph, &(node, number)| {
        graph.nodes().get(node)?.graphs().nth(number).map(|graph| &**graph)
    })
}

/// The notation of dimensions: numbers and, in ONNX, expressions of names that the model's
/// inputs have.
pub(crate) struct Telling<'a> {
    symbols: &'a Symbols,
    named: BTreeSet<String>,
    standard: Standard,
}

impl<'a> Telling<'a> {
    /// The notation for a model whose inputs have these sizes.
    pub(crate) fn new(model: &graph::Model, symbols: &'a Symbols, given: &InferOptions) -> Telling<'a> {
        Telling {
            symbols,
            named: symbols_of_inputs(&model.graph, &given.sizes.inputs),
            standard: model.standard,
        }
    }

    /// Returns true if types are said where values leave a node (OpenVINO), and not of inputs and
    /// outputs apart from others.
    pub(crate) fn of_ports(&self) -> bool {
        self.standard == Standard::OpenVino
    }

    /// Returns true if a type says what is not declared yet. At a port, no axes and any number of
    /// them look the same.
    pub(crate) fn is_new(&self, declared: Option<&Type>, of: &Type) -> bool {
        let alike = match (declared, of) {
            (Some(Type::Tensor(old, None)), Type::Tensor(new, Some(sizes))) => {
                self.of_ports() && old == new && sizes.is_empty()
            }
            _ => false,
        };
        declared != Some(of) && !alike
    }

    /// A size as the model declares it; `None` if its symbols have no name there.
    pub(crate) fn size(&self, dim: Dim) -> Option<DeclaredDim> {
        match dim {
            Dim::Known(value) => usize_of_i64(value).map(DeclaredDim::Known),
            Dim::Symbolic(_) if self.of_ports() => None,
            Dim::Symbolic(_) => {
                let told = |name: &str| self.named.contains(name);
                let all = self.symbols.symbols_of(dim).iter().all(|symbol| told(&symbol.name));
                all.then(|| DeclaredDim::Symbol(self.symbols.print(dim).to_string().into()))
            }
        }
    }
}

/// The type of a value, with its dimensions as they are said or, where nothing is said, declared.
pub(crate) fn merged(
    info: &ValueInfo,
    fact: &Fact,
    say: impl Fn(Dim) -> Option<DeclaredDim>,
) -> Option<Type> {
    let fact = fact.as_tensor()?;
    let (dtype, dims) = (fact.dtype?, fact.dims.as_ref()?);
    let declared = match &info.declared {
        Some(Type::Tensor(_, Some(sizes))) if sizes.len() == dims.len() => Some(sizes),
        _ => None,
    };
    let size = |(axis, &dim): (usize, &Dim)| {
        let old = || declared.and_then(|sizes| sizes.get(axis).cloned());
        say(dim).or_else(old).unwrap_or(DeclaredDim::Unknown)
    };
    Some(Type::Tensor(Some(dtype), Some(dims.iter().enumerate().map(size).collect())))
}

/// Returns true if the declared shape of a value is none that the inferred one may be.
pub(crate) fn is_contradicted(info: &ValueInfo, fact: &Fact) -> bool {
    let dims = fact.as_tensor().and_then(|tensor| tensor.dims.as_ref());
    let (Some(Type::Tensor(_, Some(sizes))), Some(dims)) = (&info.declared, dims) else { return false };
    let differs = |(size, dim): (&DeclaredDim, &Dim)| match (size, dim.known()) {
        (DeclaredDim::Known(len), Some(dim)) => i64_of(*len) != dim,
        _ => false,
    };
    sizes.len() != dims.len() || sizes.iter().zip(dims.iter()).any(differs)
}
