#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod audits;
mod beside;
mod data;
mod diagram;
mod formulas;
mod index;
mod json;
mod layout;
mod page;
mod sequences;
mod svg;

pub use diagram::{DiagramFormat, diagram};
pub use index::{IndexRow, index};

use std::time::Instant;

use gradus::audit::Audit;
use gradus::check::VerifyOptions;
use gradus::conversion::{ConvertOptions, Note};
use gradus::cost::Cost;
use gradus::fold::{FoldOptions, FoldReport, Folded};
use gradus::graph::{Graph, Standard};
use gradus::infer::{Completeness, InferOptions, Problem};
use gradus::prove::ProvedOutputs;
use gradus::{Error, Kind, Model, Result, error};

/// A page about a model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The page: HTML without references to other files.
    pub html: String,
    /// Figures and verdict in its head.
    pub summary: Summary,
}

/// Figures and verdict in the head of a page.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Summary {
    /// Nodes of the main graph.
    pub nodes: usize,
    /// Elements of the constants that nodes read.
    pub parameters: u128,
    /// Values of nodes.
    pub values: usize,
    /// Values whose shapes follow from the shapes of the inputs, or are decided by the data.
    pub known: usize,
    /// Values whose shapes are decided by the data.
    pub data: usize,
    /// The symbols that the reader of the page sets: those of the inputs.
    pub symbols: Vec<String>,
    /// The most bytes of values of nodes at one time, as an expression; nothing if no size is
    /// known.
    pub peak: Option<String>,
    /// Contradictions in the model.
    pub problems: Vec<Problem>,
    /// Declared shapes that are wrong.
    pub warnings: Vec<Problem>,
    /// The outcome of folding it.
    pub fold: Result<FoldReport>,
    /// The outputs of the folded model that are proved to be the same, in as long as folding took
    /// and half a second; nothing where proofs are not about models of this standard.
    pub proof: Option<ProvedOutputs>,
    /// The outcome of converting it, for each standard that it can be converted to.
    pub conversions: Vec<Conversion>,
}

/// The outcome of a conversion.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Conversion {
    /// The other standard.
    pub to: Standard,
    /// Caveats of nodes, and parts of the model that the other format cannot hold; or the error of
    /// the first node without an equivalent in the other standard.
    pub outcome: Result<ConversionNotes>,
}

/// Differences between a model and its conversion.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ConversionNotes {
    /// Nodes whose meaning is not kept bit for bit.
    pub notes: Vec<Note>,
    /// Descriptions that the other format cannot hold.
    pub lost: Vec<String>,
}

/// Contents of a page besides the model.
#[derive(Clone, Copy, Debug, Default)]
pub struct Besides<'a> {
    /// A model that is compared with it: totals, nodes by operator, and values of one name that
    /// have other shapes.
    pub other: Option<Other<'a>>,
    /// Audits of the model, with the names of the programs that ran it.
    pub audits: &'a [(String, Audit)],
}

/// A model with which another is compared, as before it was folded or converted.
#[derive(Clone, Copy, Debug)]
pub struct Other<'a> {
    /// The model.
    pub model: &'a Model,
    /// Its name on the page.
    pub name: &'a str,
}

/// Makes a page about a model, which is called by a name in the head.
///
/// # Errors
/// As [`Source::infer`](gradus::Source::infer). A model that contradicts itself or that cannot be
/// converted has a page that says so.
///
/// ```
/// use gradus::infer::InferOptions;
/// let model = gradus::Model::open("../../examples/positions.onnx")?;
/// let report = gradus_report::report(&model, "positions.onnx", &InferOptions::default())?;
/// assert!(report.html.starts_with("<!DOCTYPE html>"));
/// assert_eq!(report.summary.symbols, ["batch", "seq"]);
/// # Ok::<(), gradus::Error>(())
/// ```
pub fn report(model: &Model, name: &str, options: &InferOptions) -> Result<Report> {
    report_with(model, name, Besides::default(), options)
}

/// Makes a page about a model and more, which is called by a name in the head.
///
/// # Errors
/// As [`report`], of both models.
pub fn report_with(
    model: &Model,
    name: &str,
    besides: Besides<'_>,
    options: &InferOptions,
) -> Result<Report> {
    std::thread::scope(|scope| {
        // These infer with options of their own, and need nothing from each other.
        let fold = scope.spawn(|| error::guarded(|| folded(model, options)));
        let converted = scope.spawn(|| error::guarded(|| Ok(conversions(model, options))));
        let mut cost = model.cost(options)?;
        let graph = model.graph();
        let sizes = sequences::first_sizes(graph, &cost);
        let sequences = scope.spawn(move || error::guarded(|| sequences::section(model, options, &sizes)));
        let mut data = data::data(graph, &mut cost);
        let beside = besides.other.map(|other| beside::beside(model, &cost, other, options)).transpose()?;
        let (beside, other) = beside.map_or((None, None), |(markup, data)| (Some(markup), Some(data)));
        data.other = other;
        let json = json::for_html(&data)
            .map_err(|error| Error::new(Kind::Internal, format!("cannot write JSON: {error}")))?;
        let [values, known, data_decided] = counts(graph, &cost);
        let symbols = data.table.symbols.iter().filter(|symbol| symbol.origin == "input");
        let panicked = |_| Error::new(Kind::Internal, "Gradus panicked");
        let (fold, proof) = match fold.join().map_err(panicked).and_then(|fold| fold) {
            Ok((fold, proof)) => (Ok(fold), proof),
            Err(error) => (Err(error), None),
        };
        let summary = Summary {
            nodes: graph.nodes().len(),
            parameters: cost.total.parameters,
            values,
            known,
            data: data_decided,
            symbols: symbols.map(|symbol| symbol.name.clone()).collect(),
            peak: cost.memory.peak.map(|peak| cost.inference().symbols().print(peak.bytes).to_string()),
            problems: cost.inference().problems().to_vec(),
            warnings: cost.inference().warnings().to_vec(),
            fold,
            proof,
            conversions: converted.join().map_err(panicked).and_then(|conversions| conversions)?,
        };
        let sequences = sequences.join().map_err(panicked).and_then(|section| section)?;
        let audits = audits::section(besides.audits);
        let sections = [beside.as_ref(), sequences.as_ref(), audits.as_ref()];
        let html = page::page(model, name, &cost, &summary, &json, sections);
        Ok(Report { html, summary })
    })
}

/// Values of nodes; how many of them have no symbol of which nothing is known; and how many of
/// these have sizes that the data decide.
fn counts(graph: &Graph, cost: &Cost) -> [usize; 3] {
    let inference = cost.inference();
    let of_nodes = graph.ids().filter(|&id| graph.value(id).origin.is_node());
    let known: Vec<_> = of_nodes.map(|id| inference.completeness(inference.fact(id))).collect();
    let is_data = |known: &&Completeness| **known == Completeness::Data;
    let is_known = |known: &&Completeness| **known <= Completeness::Data;
    [known.len(), known.iter().filter(is_known).count(), known.iter().filter(is_data).count()]
}

/// The report of folding, and the outputs that are proved to be the same.
fn folded(model: &Model, options: &InferOptions) -> Result<(FoldReport, Option<ProvedOutputs>)> {
    let mut fold = FoldOptions::default();
    fold.sizes.clone_from(&options.sizes);
    let begin = Instant::now();
    let Folded { model: folded, report, .. } = model.fold(&fold)?;
    let time = VerifyOptions::default().beside(begin.elapsed()).proof;
    let after = model.edited(&folded).ok();
    let proof = after.and_then(|after| model.prove_outputs(&after, &options.sizes, time));
    Ok((report, proof))
}

fn conversions(model: &Model, options: &InferOptions) -> Vec<Conversion> {
    let targets: &[Standard] = match model.source().standard {
        Standard::Onnx => &[Standard::OpenVino],
        Standard::OpenVino => &[Standard::Onnx],
        Standard::Paddle => &[Standard::Onnx, Standard::OpenVino],
    };
    let mut convert = ConvertOptions::default();
    convert.sizes.clone_from(&options.sizes);
    let one = |&to| Conversion {
        to,
        outcome: model
            .convert(to, &convert)
            .map(|converted| ConversionNotes { notes: converted.report.notes, lost: converted.report.lost }),
    };
    targets.iter().map(one).collect()
}
