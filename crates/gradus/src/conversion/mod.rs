//! Converting: a model in the operators of another standard.
//!
//! | from | to | how |
//! |---|---|---|
//! | ONNX | OpenVINO | the rows of ONNX's operators; `to_openvino.rs` in each family |
//! | OpenVINO | ONNX | the graphs of ONNX operators that the rows of OpenVINO's name; `to_onnx.rs` in each family |
//! | ONNX | an older operator set | the same operators, or the graphs that their rows name; `lowered.rs` in each family |
//! | Paddle | ONNX | the graphs of ONNX operators that Paddle's are run by (`dialects/paddle/`) |
//! | ONNX Runtime's | ONNX | the graphs of ONNX operators that they are run by (`operators/contrib/`) |
//! | Paddle, and ONNX with operators of ONNX Runtime | OpenVINO | to ONNX, and from there |
//!
//! A row is an operator and the function that writes what it becomes; what the other standard
//! cannot say is an error that names the node. Where the meaning is not kept bit for bit, the
//! [`ConversionReport`] says so, node by node; what it does not name is exact. What the source
//! refuses, or gives no meaning, may get one: the converted model need not refuse it.

mod check;
mod decided;
pub(crate) mod driver;
pub(crate) mod inline;
mod interface;
pub(crate) mod opset;
mod search;
mod variables;
#[cfg(feature = "run")]
mod verify;

use std::collections::BTreeMap;

use gradus_core::graph::{self, Standard};
use gradus_core::text::name_in_message;
use gradus_core::{Error, Kind, Result};
use gradus_formats::onnx::NEWEST_OPSET;

use gradus_engine::conversion::{
    caveats, lowered, nested, node, older, report, runtime, scope, to_openvino, types, writer,
};
pub use report::{ConversionReport, Exactness, Note, Obstacle, Obstacles};
pub use runtime::Runtime;
#[cfg(feature = "run")]
pub use verify::Verified;

use crate::model::Model;
use crate::normalize::has_default_inputs;
use crate::schema::NEWEST_RUN;
use gradus_engine::infer::{InferOptions, Inference, InputFact, ModelCondition, Sizes, Why};
use scope::BYTES_OF_VALUE;
use scope::{ConversionState, SourceGraph};
use writer::{GraphWriter, NamePool};

/// The oldest operator set of ONNX that is converted: older ones broadcast in a way of their own.
const OLDEST_OPSET: i64 = 7;

/// The operator set of ONNX that is written if nothing is said: of 2024, and known to whatever is
/// kept up to date.
const USUAL_OPSET: i64 = 21;

/// The operator sets that are tried in turn if nothing is said: the usual one, the newest that
/// released runtimes load, and the newest.
const DEFAULT_OPSETS: [i64; 3] = [USUAL_OPSET, NEWEST_RUN, NEWEST_OPSET];

/// How a model is converted.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ConvertOptions {
    /// To ONNX: the version of the operator set. If nothing is said, one that most runtimes have;
    /// where it lacks what a node needs, the newest that released runtimes load, or else the newest.
    pub opset: Option<i64>,
    /// The program that will run the model: if nothing is said of the operator set, it is the
    /// newest in which the program runs every node, and types that the program lacks are avoided.
    pub runtime: Option<Runtime>,
    /// Sizes and types of inputs: symbols and types are fixed in the converted model too.
    pub sizes: Sizes,
    /// To OpenVINO: whether the inputs `past_key_values.*`, or `past*`, become variables, whose
    /// next values are the outputs `present.*`.
    pub stateful: bool,
    /// To OpenVINO: inputs that become variables, and the outputs that are their next values.
    pub states: Vec<(String, String)>,
}

/// A converted model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Converted {
    /// The model, made in memory.
    pub model: Model,
    /// The differences from the source.
    pub report: ConversionReport,
    /// By node of the main graph: the node of the source that it stands for.
    origins: Vec<usize>,
}

/// Inference and the newest form of a model of Paddle, shared by conversions into several operator
/// sets.
#[derive(Default)]
struct Tried {
    inference: Option<Inference>,
    /// The model in the newest operator set.
    newest: Option<Result<Converted>>,
}

/// The standard, the operator set and the options that a model is converted to.
#[derive(Clone, Copy)]
struct Wanted<'o> {
    to: Standard,
    opset: i64,
    options: &'o ConvertOptions,
    /// Operators of ONNX that are lowered are not kept.
    lowers: bool,
}

impl Tried {
    fn inference(&mut self, model: &Model, options: &ConvertOptions) -> Result<Inference> {
        if let Some(known) = &self.inference {
            return Ok(known.clone());
        }
        Ok(self.inference.insert(model.inferred(options)?).clone())
    }

    fn newest(&mut self, model: &Model, to: Standard, options: &ConvertOptions) -> Result<Converted> {
        if let Some(known) = &self.newest {
            return known.clone();
        }
        let inference = self.inference(model, options)?;
        let newest =
            model.converted_of(inference, Wanted { to, opset: NEWEST_OPSET, options, lowers: false });
        self.newest.insert(newest).clone()
    }
}

impl Converted {
    /// The model converted once more; the report has the differences of both steps, by the nodes
    /// of the source.
    fn then(
        self,
        source: &graph::Model,
        again: impl FnOnce(&Model) -> Result<Converted>,
    ) -> Result<Converted> {
        let Converted { model, mut report, origins } = self;
        let second = again(&model)?;
        for note in second.report.notes {
            let Some(&node) = origins.get(note.node) else { continue };
            let of = &source.graph.nodes()[node];
            let (place, operator) = (of.label(node), scope::operator_in(source.standard, of));
            report.note(Note { node, place, operator, ..note });
        }
        second.report.lost.into_iter().for_each(|lost| report.lose(lost));
        let origins = second.origins.iter().filter_map(|&node| origins.get(node).copied()).collect();
        Ok(Converted { report, origins, ..second })
    }
}

impl Model {
    /// The model in the operators of another standard, or of another operator set of ONNX.
    ///
    /// Names of inputs and outputs are kept. Nodes that no output needs go.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] if the other standard has no operator for what a node does, or what it
    /// must be told is not known before a run, with all such nodes as [`Obstacles`];
    /// [`Kind::Usage`] if what is asked for does not exist.
    ///
    /// ```
    /// use gradus::conversion::ConvertOptions;
    /// use gradus::graph::Standard;
    /// let model = gradus::Model::open("../../examples/positions.onnx")?;
    /// let converted = model.convert(Standard::OpenVino, &ConvertOptions::default())?;
    /// let nodes = converted.model.graph().nodes();
    /// assert!(nodes.iter().any(|node| &*node.operator.name == "ShapeOf"));
    /// # Ok::<(), gradus::Error>(())
    /// ```
    pub fn convert(&self, to: Standard, options: &ConvertOptions) -> Result<Converted> {
        self.convert_step(to, options, true)
    }

    /// The model converted; `possibly`: nodes that OpenVINO may lack are lowered before, if it does.
    fn convert_step(&self, to: Standard, options: &ConvertOptions, possibly: bool) -> Result<Converted> {
        let from = self.source().standard;
        if !options.sizes.inputs.is_empty() {
            return self.converted_with_inputs(to, options);
        }
        if options.stateful || !options.states.is_empty() {
            return self.converted_with_states(to, options);
        }
        if to == Standard::Onnx
            && let Some((explicit, lost)) = self.without_variables()?
        {
            let mut converted = explicit.convert(to, options)?;
            for lost in lost {
                converted.report.lose(lost);
            }
            return Ok(Converted { model: converted.model.converted_from(self), ..converted });
        }
        let asked = options.opset.is_some() || options.runtime.is_some();
        let same_set = from == to && !(to == Standard::Onnx && asked);
        if same_set || to == Standard::Paddle {
            let wanted = match from {
                Standard::Onnx if to == Standard::Onnx => "openvino, or an operator set of onnx",
                Standard::Onnx => "openvino",
                Standard::OpenVino => "onnx",
                Standard::Paddle => "onnx or openvino",
            };
            return Err(Error::mismatch(Kind::Unsupported, "cannot convert: target", to, wanted));
        }
        if let Some(runtime) = options.runtime.filter(|runtime| !runtime.reads(to)) {
            let what = format_args!("cannot convert for {runtime}: target");
            return Err(Error::mismatch(Kind::Usage, what, to, Standard::Onnx));
        }
        if !self.source().functions.is_empty() {
            let expanded = self.with_source(inline::expanded(self.source(), self.limits(), |_| true)?);
            let converted = expanded.convert(to, options)?;
            return Ok(Converted { model: converted.model.converted_from(self), ..converted });
        }
        let newest = Wanted { to, opset: NEWEST_OPSET, options, lowers: false };
        let lowers =
            from == Standard::Paddle || (from == Standard::Onnx && lowered::lowers(self.graph(), possibly));
        if lowers && to == Standard::OpenVino {
            let first =
                self.converted(Wanted { to: Standard::Onnx, lowers: true, ..newest }).map_err(|error| {
                    // The other nodes have obstacles that only a conversion to the target finds.
                    let all = self.converted(newest).err();
                    all.filter(|all| Obstacles::of(all).is_some()).unwrap_or(error)
                })?;
            let possibly = from != Standard::Onnx;
            return first.then(self.source(), |lowered| {
                lowered.convert_step(to, &ConvertOptions::default(), possibly)
            });
        }
        if let Some(opset) = options.opset
            && !(OLDEST_OPSET..=NEWEST_OPSET).contains(&opset)
        {
            let wanted = format_args!("{OLDEST_OPSET} to {NEWEST_OPSET}");
            return Err(Error::mismatch(Kind::Usage, "operator set", opset, wanted));
        }
        if let Some(runtime) = options.runtime
            && to == Standard::Onnx
        {
            return self.converted_for(runtime, options);
        }
        if let Some(opset) = options.opset {
            return self.in_set(to, opset, options, &mut Tried::default());
        }
        if to != Standard::Onnx {
            return self.converted(newest);
        }
        let mut tried = Tried::default();
        let usual = self.in_set(to, USUAL_OPSET, options, &mut tried);
        // The error is that of the newest set.
        DEFAULT_OPSETS[1..].iter().fold(usual, |found, &opset| match found {
            Err(error) if error.kind() == Kind::Unsupported => self.in_set(to, opset, options, &mut tried),
            found => found,
        })
    }

    /// The model whose inputs have the types that are given, converted.
    fn converted_with_inputs(&self, to: Standard, options: &ConvertOptions) -> Result<Converted> {
        let types = options.sizes.inputs.iter().map(|(name, given)| match given {
            InputFact::Type(of) => Ok((&**name, of)),
            InputFact::Value(_) => {
                let what = format_args!("cannot convert: input \"{}\"", name_in_message(name));
                Err(Error::mismatch(Kind::Usage, what, "a value", "a type"))
            }
        });
        let given = self.with_input_types(types.collect::<Result<Vec<_>>>()?)?;
        let given = given.with_source(given.reopened(given.source().clone())?);
        let sizes = Sizes { inputs: BTreeMap::new(), ..options.sizes.clone() };
        let converted = given.convert(to, &ConvertOptions { sizes, ..options.clone() })?;
        Ok(Converted { model: converted.model.converted_from(self), ..converted })
    }

    /// The model of OpenVINO with variables in place of inputs and outputs.
    fn converted_with_states(&self, to: Standard, options: &ConvertOptions) -> Result<Converted> {
        if to != Standard::OpenVino {
            let what = "cannot convert inputs to variables: target";
            return Err(Error::mismatch(Kind::Usage, what, to, Standard::OpenVino));
        }
        let without = ConvertOptions { stateful: false, states: Vec::new(), ..options.clone() };
        let converted = if self.source().standard == to {
            Converted { model: self.clone(), report: ConversionReport::default(), origins: Vec::new() }
        } else {
            self.convert(to, &without)?
        };
        let model = variables::stateful(&converted, self.graph(), options)?;
        Ok(Converted { model: model.converted_from(self), ..converted })
    }

    /// The model in another standard or operator set. Where operators of Paddle become some that
    /// the set lacks, these are replaced in a second step.
    fn in_set(
        &self,
        to: Standard,
        opset: i64,
        options: &ConvertOptions,
        tried: &mut Tried,
    ) -> Result<Converted> {
        if self.source().standard != Standard::Paddle {
            return self.converted(Wanted { to, opset, options, lowers: false });
        }
        if opset == NEWEST_OPSET {
            return tried.newest(self, to, options);
        }
        let wanted = Wanted { to, opset, options, lowers: false };
        let direct = self.converted_of(tried.inference(self, options)?, wanted);
        if direct.is_ok() {
            return direct;
        }
        let older =
            ConvertOptions { opset: Some(opset), runtime: options.runtime, ..ConvertOptions::default() };
        let newest = tried.newest(self, to, options);
        newest.and_then(|newest| newest.then(self.source(), |newest| newest.convert(to, &older))).or(direct)
    }

    /// Inference of the model before it is converted.
    fn inferred(&self, options: &ConvertOptions) -> Result<Inference> {
        self.allow_each(self.limits(), BYTES_OF_VALUE)?;
        let mut given = InferOptions::default().cautiously();
        given.sizes.clone_from(&options.sizes);
        self.infer(&given)
    }

    /// The model in another standard or operator set.
    fn converted(&self, wanted: Wanted<'_>) -> Result<Converted> {
        let inference = self.inferred(wanted.options)?;
        if self.source().standard == wanted.to && rests_on_declared(&inference).next().is_some() {
            let mut given = InferOptions::default().cautiously();
            given.sizes.clone_from(&wanted.options.sizes);
            given.ignore_declared = true;
            let open = self.infer(&given).and_then(|open| self.converted_of(open, wanted));
            if open.is_ok() {
                return open;
            }
        }
        self.converted_of(inference, wanted)
    }

    /// An inferred model in another standard or operator set. Defaults of inputs become constants
    /// where the target needs them.
    fn converted_of(&self, inference: Inference, wanted: Wanted<'_>) -> Result<Converted> {
        let (source, graph) = (self.source(), self.graph());
        let has_defaults =
            has_default_inputs(source) && graph.inputs().iter().any(|&id| graph.constant(id).is_some());
        if has_defaults && wanted.to == Standard::Onnx {
            let kept = self.converted_once(inference.clone(), wanted, true);
            if kept.is_ok() {
                return kept;
            }
        }
        self.converted_once(inference, wanted, false)
    }

    fn converted_once(
        &self,
        inference: Inference,
        wanted: Wanted<'_>,
        keeps_defaults: bool,
    ) -> Result<Converted> {
        let Wanted { to, opset, options, lowers } = wanted;
        let source = self.source();
        let mut report = ConversionReport::default();
        for ModelCondition { text, node, .. } in rests_on_declared(&inference) {
            report.lose(format!("runs of a shape that is not the declared one: {text} ({node})"));
        }
        let (facts, symbols, bodies, problems) = inference.into_parts();
        let mut conversion = ConversionState {
            source,
            to,
            lowers,
            keeps_defaults,
            runtime: options.runtime.filter(|_| to == Standard::Onnx),
            limits: self.limits(),
            symbols,
            bodies,
            problems: &problems,
            names: NamePool::default(),
            kept: foldhash::HashMap::default(),
            report,
            foreign: BTreeMap::new(),
            obstacles: Vec::new(),
            written: 0,
            origins: Vec::new(),
            convert: driver::convert,
        };
        let mut target = GraphWriter::new(to, opset);
        target.reserve(self.graph().nodes().len());
        let mut scope = SourceGraph::main(&source.graph, facts);
        interface::inputs(self, &mut conversion, &mut scope, &mut target)?;
        driver::convert(&mut scope, &mut conversion, &mut target)?;
        if !conversion.obstacles.is_empty() {
            let nodes = conversion.report.nodes;
            return Err(Obstacles(conversion.obstacles).error(&format!("to {to}"), nodes));
        }
        interface::outputs(&mut conversion, &mut scope, &mut target)?;
        interface::lost(self, &mut conversion);
        let mut model = graph::Model::new(to);
        "gradus".clone_into(&mut model.producer);
        if to == Standard::Onnx {
            model.opsets = vec![("".into(), opset)];
            model.opsets.extend(conversion.foreign);
            if source.standard == to {
                model.metadata.clone_from(&source.metadata);
            }
        } else {
            model.format_version = IR_VERSION;
        }
        model.graph = target.finish(source.graph.name(), false)?;
        let lenient = !problems.is_empty();
        let model = check::checked(model, &self.options(), lenient, &mut conversion.report)?;
        let ConversionState { report, origins, .. } = conversion;
        Ok(Converted { model: model.converted_from(self), report, origins })
    }
}

/// The declared shapes that facts rest on.
fn rests_on_declared(inference: &Inference) -> impl Iterator<Item = &ModelCondition> {
    inference.conditions().iter().filter(|of| of.why == Why::Declared && !of.of_sizes)
}

/// The version of OpenVINO's format that is written.
const IR_VERSION: i64 = 11;
