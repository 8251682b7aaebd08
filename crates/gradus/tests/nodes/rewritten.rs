//! Random nodes, folded and converted: a node that runs before runs after, with the same results.

use std::collections::{BTreeMap, HashMap};

use gradus::cases::RandomNode;
use gradus::conversion::{ConvertOptions, Exactness};
use gradus::convert::Rules;
use gradus::fold::FoldOptions;
use gradus::graph::Standard;
use gradus::operators::{self, Row};
use gradus::schema::Signature;
use gradus::{DType, Limits, Model, Number, Result, RunOptions, Shape, Tensor, Value};

use crate::common::compare;
use crate::common::nodes;

pub(crate) type Values = HashMap<String, Value>;

/// The form in which a rewritten model has values.
type Form = fn(&Value) -> Value;

const SHAPES: [&[usize]; 9] = [&[0], &[], &[1], &[2], &[3], &[2, 3], &[1, 3], &[2, 1, 4], &[1, 2, 5, 4]];

/// Operators whose graphs are differences of larger numbers near zeros of theirs.
const CANCELLING: [&str; 4] = ["HardSigmoid", "digamma", "gammaln", "lgamma"];

/// A tensor of the same type and shape, with other numbers.
fn filled(random: &mut fastrand::Rng, tensor: Tensor) -> Tensor {
    let (dtype, shape) = (tensor.dtype(), tensor.shape().clone());
    let number = |_| match dtype {
        DType::Bool => Number::Int(random.i128(0..2)),
        _ if dtype.is_integer() => Number::Int(random.i128(0..4)),
        _ => Number::Float(f64::from(random.i32(-12..12)) / 4.0),
    };
    let numbers: Vec<_> = (0..shape.len()).map(number).collect();
    Tensor::from_numbers(dtype, shape, numbers, Rules::IEEE).unwrap_or(tensor)
}

/// A node with small tensors, some of which are constants. Models of ONNX are written and read, as
/// folding edits what was read.
pub(crate) fn node(random: &mut fastrand::Rng, row: &Row, signature: &Signature) -> (Model, Values) {
    let RandomNode { model, values } = nodes::node_of(random, row, signature, |random, dtype| {
        let zeros = nodes::tensor(random, dtype, &SHAPES);
        let keep = dtype == DType::I64 && random.bool();
        let constant = random.usize(..3) == 0 || (dtype.is_integer() && random.bool());
        (if keep { zeros } else { filled(random, zeros) }, constant)
    });
    (read(model), values)
}

/// A model of ONNX, written and read.
fn read(model: Model) -> Model {
    model.to_onnx().and_then(|bytes| Model::from_bytes(&bytes)).unwrap_or(model)
}

/// Values some of whose sizes are others.
fn resized(random: &mut fastrand::Rng, values: &Values) -> Values {
    // In the order of names, so that a seed makes the same.
    let sorted: BTreeMap<_, _> = values.iter().collect();
    let of = |(name, value): (&String, &Value)| {
        let tensor = value.tensor().unwrap();
        let zeros = Tensor::zeros(tensor.dtype(), nodes::resized(random, tensor)).unwrap();
        (name.clone(), filled(random, zeros).into())
    };
    sorted.into_iter().map(of).collect()
}

fn run(model: &Model, values: &Values) -> Result<Vec<(String, Value)>> {
    let mut options = RunOptions::default();
    let mut limits = Limits::DEFAULT;
    (limits.max_bytes, limits.max_steps) = (1 << 24, 10_000);
    options.limits = Some(limits);
    let outputs = model.compile(&[], &options)?.run(values.clone())?;
    Ok(outputs.iter().map(|(name, value)| (name.to_string(), value.clone())).collect())
}

/// Values as they are.
const KEPT: Form = Value::clone;

fn is_empty(values: &[(String, Value)]) -> bool {
    values.iter().all(|(_, value)| value.tensor().is_ok_and(Tensor::is_empty))
}

/// Complex numbers of Paddle as converted models have them: with a last axis of both parts.
fn paired(value: &Value) -> Value {
    let Ok(tensor) = value.tensor() else { return value.clone() };
    let part = match tensor.dtype() {
        DType::C64 => DType::F32,
        DType::C128 => DType::F64,
        _ => return value.clone(),
    };
    let shape = Shape::new([tensor.shape().dims(), &[2]].concat()).unwrap();
    Tensor::from_bytes(part, shape, tensor.bytes().unwrap().clone()).unwrap().into()
}

/// How outputs differ from those that are wanted, if they do.
fn difference(want: &[(String, Value)], got: &[(String, Value)], exact: bool) -> Option<String> {
    want.iter().find_map(|(name, value)| {
        let Some((_, other)) = got.iter().find(|(other, _)| other == name) else {
            return Some(format!("{name} is lost"));
        };
        match (value.tensor(), other.tensor()) {
            (Ok(a), Ok(b)) if a.dtype() != DType::String => compare::difference(a, b, exact),
            _ => (format!("{value:?}") != format!("{other:?}")).then(|| format!("{name} has other values")),
        }
    })
}

/// Counts, and by rewriting and node the first difference.
#[derive(Debug, Default)]
struct Found {
    ran: usize,
    folded: usize,
    converted: usize,
    wrong: BTreeMap<String, String>,
}

impl Found {
    /// Compares results with those of a rewritten model, in whose form values are given and wanted.
    fn compare(
        &mut self,
        place: String,
        (model, values): (&Model, &Values),
        (after, form): (Result<Model>, Form),
        exact: bool,
    ) {
        let want: Vec<_> =
            run(model, values).unwrap().into_iter().map(|(name, value)| (name, form(&value))).collect();
        let given = values.iter().map(|(name, value)| (name.clone(), form(value))).collect();
        let why = match after.and_then(|after| run(&after, &given)) {
            Ok(got) => difference(&want, &got, exact),
            // Indices of nothing are looked at by one of two operators.
            Err(error) if error.to_string().contains("out of range") && is_empty(&want) => None,
            Err(error) => Some(error.to_string()),
        };
        if let Some(why) = why {
            let constants: Vec<_> =
                model.graph().constants().iter().map(|(_, constant)| constant.tensor()).collect();
            let node = &model.graph().nodes()[0];
            let case = format!("{why}: {:?}, constants {constants:?}, inputs {values:?}", node.attributes);
            self.wrong.entry(place).or_insert(case);
        }
    }

    /// Checks a model with each of several values that it runs with.
    fn check(&mut self, row: &Row, since: i64, model: &Model, all: &[Values]) {
        let all: Vec<_> = all.iter().filter(|values| run(model, values).is_ok()).collect();
        if all.is_empty() {
            return;
        }
        self.ran += all.len();
        let place = |what: &str| format!("{what} {} {}-{since}", row.standard, row.name);
        if let Ok(folded) = model.fold(&FoldOptions::default()) {
            self.folded += all.len();
            for values in &all {
                let after = (model.edited(&folded.model), KEPT);
                self.compare(place("folded"), (model, values), after, true);
            }
        }
        let to = if row.standard == Standard::Onnx { Standard::OpenVino } else { Standard::Onnx };
        if let Ok(converted) = model.convert(to, &ConvertOptions::default()) {
            self.converted += all.len();
            // The report says that some values differ, or which; or that items of sequences are
            // outputs.
            let notes = &converted.report.notes;
            let has_sequence = |values: &Values| {
                run(model, values).unwrap().iter().any(|(_, value)| value.tensor().is_err())
            };
            if notes.iter().all(|note| note.exactness != Exactness::EdgeCases)
                && !CANCELLING.contains(&row.name)
                && !all.iter().any(|values| has_sequence(values))
            {
                let exact = converted.report.is_exact();
                let form = if row.standard == Standard::Paddle { paired } else { KEPT };
                for values in &all {
                    let after = (Ok(converted.model.clone()), form);
                    self.compare(place("converted"), (model, values), after, exact);
                }
            }
        }
    }
}

/// Sizes of the inputs of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sizes {
    Known,
    /// Each axis has a symbol.
    Open,
    /// Not even the number of axes is known.
    Unranked,
}

/// Checks `each` random nodes of each version of each operator that is evaluated.
fn check(seed: u64, each: usize, sizes: Sizes) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut found = Found::default();
    for row in operators::all().filter(|row| row.is_evaluated()) {
        for signature in row.signatures() {
            for _ in 0..each {
                let (model, values) = node(&mut random, row, signature);
                if sizes == Sizes::Known {
                    found.check(row, signature.since, &model, &[values]);
                } else {
                    let model = read(nodes::opened(&model, sizes == Sizes::Open));
                    let all: Vec<_> = (0..4).map(|_| resized(&mut random, &values)).collect();
                    found.check(row, signature.since, &model, &all);
                }
            }
        }
    }
    let Found { ran, folded, converted, wrong } = found;
    println!("seed {seed}, sizes {sizes:?}: {ran} nodes ran, {folded} were folded and {converted} converted");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(folded * 4 > ran && converted * 3 > ran, "{folded} folded, {converted} converted of {ran}");
}

#[test]
fn nodes_give_the_same_folded_and_converted() {
    check(1, 12, Sizes::Known);
}

#[test]
fn nodes_of_open_sizes_give_the_same_folded_and_converted() {
    check(1, 6, Sizes::Open);
}

#[test]
fn nodes_of_unknown_rank_give_the_same_folded_and_converted() {
    check(1, 6, Sizes::Unranked);
}

#[test]
#[ignore = "long: `cargo xtask test long` runs it"]
fn long_nodes_give_the_same_folded_and_converted() {
    (1..6).for_each(|seed| check(seed, 60, Sizes::Known));
}

#[test]
#[ignore = "long: `cargo xtask test long` runs it"]
fn long_nodes_of_open_sizes_give_the_same_folded_and_converted() {
    check(2, 40, Sizes::Open);
}

#[test]
#[ignore = "long: `cargo xtask test long` runs it"]
fn long_nodes_of_unknown_rank_give_the_same_folded_and_converted() {
    check(2, 40, Sizes::Unranked);
}
