//! `gradus infer`: what is known of every value before a model runs.

mod contract;
mod json;
mod table;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::io::Write;
use std::path::Path;

use gradus::graph::{Graph, Origin, ValueId};
use gradus::infer::{Completeness, InferOptions, Inference, Reuse, Subgraph};
use gradus::{DType, Dim, Error, Fact, Kind, Model, TensorFact, is_constant};

pub(super) use json::{DimJson, Remark, dim_json};
use json::{Totals, inferred_json, write_json};
use table::write_text;
pub(super) use table::{peak_text, write_conditions, write_problems};

use super::fleet::FleetModel;
use super::{fleet, given, many};
use crate::args;
use crate::diagnostics::Failure;
use crate::object::{Flattened, object};
use crate::output::{self, escaped};

/// Lines that `--why` prints at most.
const MAX_LINES: usize = 200;

/// Runs `gradus infer`: prints facts about the values of models, or writes contracts.
pub(crate) fn infer(args: &args::Infer) -> Result<(), Failure> {
    let mut options = given::infer_options(&args.sizes)?;
    options.ignore_declared = args.ignore_declared;
    options.dialect = args.written.dialect.into();
    let models = fleet::expand(&args.models)?;
    if args.why.is_some() && models.len() > 1 {
        return Err(
            Error::new(Kind::Usage, "--why explains a value of one model, but there are several").into()
        );
    }
    let is_source = args.emit.is_some_and(|form| form != args::Emit::Json);
    if is_source && args.output.is_none() && models.len() > 1 {
        let message =
            "--emit prints one contract, but there are several models: --output DIR writes a file each";
        return Err(Error::new(Kind::Usage, message).into());
    }
    if let Some(to) = &args.output {
        given::check_destination(to, &models)?;
    }
    let whole = output::is_json() || args.all || args.emit.is_some();
    many::each(&models, &args.fleet, args.limits.limits(), |model, out| {
        output::bounded(out, whole, |out| one(args, model, &options, out))
    })
}

/// Infers one model and prints the result.
fn one(
    args: &args::Infer,
    of: &FleetModel,
    options: &InferOptions,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let path = &*of.path;
    let model = args.limits.open(path)?.keep_names(args.names.keep_names);
    let model = given::set(&model, &args.sizes.shapes.inputs)?;
    if let Some(form) = args.emit {
        return contract::emit(form, args.output.as_deref(), of, &model, options, out);
    }
    let mut inference = model.infer(options).map_err(|error| error.in_file(path.display()))?;
    if let Some(to) = &args.output {
        let declared = model.declared(&inference, options).map_err(|error| error.in_file(path.display()))?;
        model.save_edited(&declared, &given::destination(to, of, model.source().standard)?)?;
    }
    if let Some(name) = &args.why {
        return write_why(path, &model, &inference, name, out);
    }
    let shown = ShownValues::new(args, model.graph(), &mut inference);
    let peak = inference.peak(&model, Reuse::None);
    let totals = Totals::new(&model, peak, &inference);
    if output::is_json() {
        write_json(&shown, totals, path, &model, &inference, out)?;
    } else {
        if args.models.len() > 1 {
            writeln!(out, "{}", output::path(path))?;
        }
        write_text(&shown, &totals, model.graph(), &inference, out)?;
    }
    let unknown = || model.graph().ids().any(|id| is_unknown(&inference, inference.fact(id)));
    // Problems are printed; the exit status says that there are some.
    if inference.problems().is_empty() && !(args.strict && unknown()) {
        return Ok(());
    }
    Err(Failure::Reported)
}

/// Writes why one value has its shape.
fn write_why(
    path: &Path,
    model: &Model,
    inference: &Inference,
    name: &str,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let id = model.value(name).map_err(|error| error.in_file(path.display()))?;
    let why = inference.explain(model.graph(), id, MAX_LINES);
    if output::is_json() {
        let fact = Flattened(inferred_json(inference, inference.fact(id)));
        let explained = object!(Explained { model: path.display().to_string(), value: name, fact, why });
        output::write_json(out, &explained)?;
    } else {
        for line in why {
            writeln!(out, "{}", escaped(&line))?;
        }
    }
    Ok(())
}

/// Returns true if a value is not known in full.
fn is_unknown(inference: &Inference, fact: &Fact) -> bool {
    inference.completeness(fact) > Completeness::Data
}

/// The values that are shown.
struct ShownValues<'a> {
    args: &'a args::Infer,
    /// Values of the main graph, in order.
    ids: Vec<ValueId>,
    /// Constants, and values of shape arithmetic, that are left out.
    left_out: [usize; 2],
    /// Bytes of each value of the main graph.
    bytes: Vec<Option<Dim>>,
}

impl<'a> ShownValues<'a> {
    fn new(args: &'a args::Infer, graph: &Graph, inference: &mut Inference) -> ShownValues<'a> {
        let bytes: Vec<_> = graph.ids().map(|id| inference.bytes(id)).collect();
        let mut shown = ShownValues { args, ids: Vec::new(), left_out: [0; 2], bytes };
        // Values that are asked for are shown, and programs get all.
        let all =
            args.all || output::is_json() || args.only_unknown || args.filter.is_some() || args.op.is_some();
        for id in graph.ids() {
            let value = graph.value(id);
            let is_of_op = args.op.as_ref().is_none_or(|op| operator(graph, id) == Some(op));
            if !is_of_op || !shown.takes(&value.name, inference, inference.fact(id)) {
                continue;
            }
            match value.origin {
                _ if !all && is_constant(graph, id) && !graph.outputs().contains(&id) => {
                    shown.left_out[0] += 1;
                }
                Origin::Node(..)
                    if !all
                        && inference.fact(id).as_tensor().is_some_and(TensorFact::has_elements)
                        && !graph.outputs().contains(&id) =>
                {
                    shown.left_out[1] += 1;
                }
                _ => shown.ids.push(id),
            }
        }
        if args.sort.is_some() {
            let symbols = inference.symbols();
            let size =
                |id: &ValueId| shown.bytes[id.index()].map(|bytes| symbols.evaluate(bytes, &|_| Some(1000)));
            shown.ids.sort_by_cached_key(|id| Reverse(size(id)));
        }
        shown
    }

    /// The values of a graph within a node that are shown.
    fn of<'b>(&self, inference: &Inference, body: &'b Subgraph) -> impl Iterator<Item = (&'b str, &'b Fact)> {
        let values = body.values.iter().filter(|_| self.args.op.is_none());
        values.filter(|(name, fact)| self.takes(name, inference, fact)).map(|(name, fact)| (&**name, fact))
    }

    /// Returns true if a value of some graph is asked for.
    fn takes(&self, name: &str, inference: &Inference, fact: &Fact) -> bool {
        self.args.filter.as_ref().is_none_or(|part| name.contains(part))
            && (!self.args.only_unknown || is_unknown(inference, fact))
    }
}

/// The operator of the node that computes a value.
fn operator(graph: &Graph, id: ValueId) -> Option<&str> {
    match graph.value(id).origin {
        Origin::Node(node, _) => Some(&graph.nodes()[node].operator.name),
        _ => None,
    }
}

fn type_name(fact: &Fact) -> Option<Cow<'static, str>> {
    match fact {
        Fact::Tensor(fact) => fact.dtype.map(|dtype| dtype.name().into()),
        Fact::Sequence(list) => {
            let each = if matches!(list.each, Fact::Map(..)) { Some("map") } else { None };
            let each = each.or_else(|| list.each.dtype().map(DType::name)).unwrap_or("?");
            Some(format!("sequence of {each}").into())
        }
        Fact::Map(..) => Some("map".into()),
        Fact::Optional(optional) => Some(format!("optional {}", type_name(&optional.value)?).into()),
        Fact::Unknown => None,
    }
}
