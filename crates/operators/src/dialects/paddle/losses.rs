//! Losses.
//!
//! | operators | Paddle |
//! |---|---|
//! | `cross_entropy_with_softmax` | of logits, or of shares; labels are indices or shares |
//! | `bce_loss`, `sigmoid_cross_entropy_with_logits` | of shares, and of logits |
//! | `nll_loss` | of logarithms of shares |
//! | `hsigmoid_loss` | of the decisions in a tree of classes |
//! | `huber_loss`, `kldiv_loss`, `log_loss`, `label_smooth` | of each element |

use gradus_core::convert::i64_of;
use gradus_core::graph::Content;
use gradus_core::{DType, Result, Tensor};

use crate::dialects::indices::index;
use crate::dialects::paddle::attributes::{constant_like, text};
use crate::errors;
use crate::lowering::terms::{Term, cast, f, ints, of, pick, shaped, whole, with};
use crate::lowering::{LoweredValue, Lowering, along, axis, int};

fn attribute(l: &Lowering<'_>, name: &str, default: f64) -> Result<f64> {
    Ok(l.float(name)?.unwrap_or(default))
}

/// Maximum number of levels of the tree of a hierarchical sigmoid.
const MAX_LEVELS: u32 = 62;

/// `hsigmoid_loss`: of the decisions on the way to each label in a tree of classes, which is binary
/// unless inputs name its nodes.
pub fn hsigmoid(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (weights, dtype) = (l.input(2)?, l.dtype_of(0)?);
    let classes = l.attributes.int_or("num_classes", 2)?;
    let (nodes, turns) = if l.has(4) && l.has(5) {
        (index(l, 4)?, index(l, 5)?)
    } else {
        // The number of a label and the classes has a bit for each decision, the last one first.
        let levels = (classes - 1).checked_ilog2().filter(|&levels| levels < MAX_LEVELS);
        let levels =
            levels.ok_or_else(|| errors::value("attribute \"num_classes\"", classes, "at least 2"))?;
        let powers: Vec<_> = (0..=levels).map(|level| 1 << level).collect();
        let label = index(l, 1)?;
        let label = l.reshape(label, &[-1, 1])?;
        let label = l.constant(Tensor::scalar(classes)).map(|classes| label + classes)?;
        let above = of("Div", label, ints(&powers)).write(l, DType::I64)?;
        let turns = of("Mod", above, whole(2)).write(l, DType::I64)?;
        (((above - turns) / 2.0 - 1.0).write(l, DType::I64)?, turns)
    };
    let zero = l.constant(Tensor::scalar(0i64))?;
    // A way ends before the first number below 0.
    let last_axis = l.constant(Tensor::scalar(-1i64))?;
    let is_node =
        of("Equal", of("CumSum", cast(of("Less", nodes, zero), DType::I64), last_axis), zero).put(l)?;
    let rows = l.apply("Max", &[nodes, zero], &[])?;
    let (last, chosen) = (l.list(&[-1])?, l.apply("Gather", &[weights, rows], &[int("axis", 0)])?);
    let sums = of("MatMul", chosen, of("Unsqueeze", l.input(0)?, last)).put(l)?;
    let mut sums = l.apply("Squeeze", &[sums, last], &[])?;
    if l.has(3) {
        let bias = with("Gather", [shaped(l.input(3)?, &[-1]), rows.into()], [int("axis", 0)]).put(l)?;
        sums = l.apply("Add", &[sums, bias], &[])?;
    }
    let sums = pick(is_node, sums, 0.0);
    let sums = of("Min", of("Max", sums, -40.0), 40.0).write(l, dtype)?;
    let soft = f("Log", f("Exp", sums) + 1.0).write(l, dtype)?;
    let turns = l.cast(turns, dtype)?;
    let taken = pick(is_node, of("Mul", turns, sums), 0.0);
    let loss = (Term::Value(soft) - taken).write(l, dtype)?;
    let loss = l.apply("ReduceSum", &[loss, last], &[])?;
    Ok(vec![loss, soft, weights])
}

/// Elements, their sum or their mean, as an attribute says.
fn reduced(l: &mut Lowering<'_>, value: LoweredValue, default: &'static str) -> Result<LoweredValue> {
    let whole = [int("keepdims", 0)];
    match text(l, "reduction", default)? {
        "sum" => l.apply("ReduceSum", &[value], &whole),
        "mean" => l.apply("ReduceMean", &[value], &whole),
        "batchmean" => {
            let dtype = l.dtype_of(0)?;
            let count = l.apply("Shape", &[value], &[int("end", 1)])?;
            let count = l.cast(count, dtype)?;
            let count = l.reshape(count, &[])?;
            let sum = l.apply("ReduceSum", &[value], &whole)?;
            l.apply("Div", &[sum, count], &[])
        }
        _ => Ok(value),
    }
}

/// `cross_entropy_with_softmax`: the softmax, and the negative logarithm of the label's share.
pub fn cross_entropy(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, dtype, rank) = (l.input(0)?, l.dtype_of(0)?, l.rank_of(0)?);
    let axis = axis(l.attributes.int_or("axis", -1)?, rank)?;
    let (shares, logs) = if l.attributes.flag("use_softmax", true)? {
        (l.apply("Softmax", &[x], &[along(axis)])?, l.apply("LogSoftmax", &[x], &[along(axis)])?)
    } else {
        (x, l.apply("Log", &[x], &[])?)
    };
    let axes = l.list(&[i64_of(axis)])?;
    if l.attributes.flag("soft_label", false)? {
        let label = l.input(1)?;
        let sum = of("ReduceSum", label * logs, axes).put(l)?;
        return Ok(vec![shares, l.apply("Neg", &[sum], &[])?]);
    }
    let mut label = index(l, 1)?;
    if l.rank_of(1)? < rank {
        label = l.apply("Unsqueeze", &[label, axes], &[])?;
    }
    let ignored = l.attributes.int_or("ignore_index", -100)?;
    let ignored = of("Equal", label, l.constant(Tensor::scalar(ignored))?).write(l, DType::I64)?;
    let label = pick(ignored, 0.0, label).write(l, DType::I64)?;
    let found = l.apply("GatherElements", &[logs, label], &[along(axis)])?;
    let loss = pick(ignored, 0.0, f("Neg", found)).write(l, dtype)?;
    Ok(vec![shares, loss])
}

/// `bce_loss`: binary cross entropy of probabilities.
pub fn bce(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, label, dtype) = (l.input(0)?, l.input(1)?, l.dtype_of(0)?);
    let log = |of_what: Term| of("Max", f("Log", of_what), -100.0);
    let (one, yes) = (|| Term::from(1.0), log(x.into()));
    let no = log(one() - x);
    let loss = (label - 1.0) * no - of("Mul", label, yes);
    Ok(vec![loss.write(l, dtype)?])
}

/// `max(-x, 0) + log(1 + exp(-|x|))`.
fn soft_below(x: LoweredValue) -> Term {
    of("Max", f("Neg", x), 0.0) + f("Log", f("Exp", f("Neg", f("Abs", x))) + 1.0)
}

/// `sigmoid_cross_entropy_with_logits`: binary cross entropy of logits.
pub fn sigmoid_cross_entropy(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, label, dtype) = (l.input(0)?, l.input(1)?, l.dtype_of(0)?);
    // The third input is the factor of each element, its label included.
    let factor = if l.has(2) { Term::from(l.input(2)?) } else { Term::from(1.0) };
    let loss = (Term::from(1.0) - label) * x + factor * soft_below(x);
    let ignored = l.attributes.int_or("ignore_index", -100)?;
    let ignored = of("Equal", label, ignored);
    let ignored = ignored.write(l, dtype)?;
    let loss = pick(ignored, 0.0, loss).write(l, dtype)?;
    if !l.attributes.flag("normalize", false)? {
        return Ok(vec![loss]);
    }
    let counted = pick(ignored, 0.0, 1.0).write(l, dtype)?;
    let count = l.apply("ReduceSum", &[counted], &[int("keepdims", 0)])?;
    Ok(vec![(loss / of("Max", count, 1e-5)).write(l, dtype)?])
}

/// `nll_loss`. The weight of all labels is 0 without a reduction.
pub fn nll(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, label, dtype) = (l.input(0)?, index(l, 1)?, l.dtype_of(0)?);
    let (reduction, ignored) = (text(l, "reduction", "mean")?, l.attributes.int_or("ignore_index", -100)?);
    let attributes =
        [("reduction", Content::Bytes(reduction.to_owned().into())), int("ignore_index", ignored)];
    let loss = l.apply("NegativeLogLikelihoodLoss", &[x, label, l.maybe(2)], &attributes)?;
    let weight = if reduction == "none" {
        constant_like(l, 0.0)?
    } else {
        let ignored = of("Equal", label, l.constant(Tensor::scalar(ignored))?).write(l, DType::I64)?;
        let each = if l.has(2) {
            let label = pick(ignored, 0.0, label).write(l, DType::I64)?;
            with("Gather", [l.input(2)?.into(), label.into()], [along(0)]).put(l)?
        } else {
            constant_like(l, 1.0)?
        };
        let counted = pick(ignored, 0.0, each).write(l, dtype)?;
        l.apply("ReduceSum", &[counted], &[int("keepdims", 0)])?
    };
    Ok(vec![loss, weight])
}

/// `huber_loss`, and the distance from the label.
pub fn huber(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let dtype = l.dtype_of(0)?;
    let delta = attribute(l, "delta", 1.0)?;
    let rest = (l.input(1)? - l.input(0)?).write(l, dtype)?;
    let size = f("Abs", rest).write(l, dtype)?;
    let near = of("LessOrEqual", size, delta);
    let loss = pick(near, (rest * rest) * 0.5, (size - 0.5 * delta) * delta);
    Ok(vec![loss.write(l, dtype)?, rest])
}

/// `kldiv_loss`: the Kullback-Leibler divergence from the logarithms of probabilities.
pub fn kldiv(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, target, dtype) = (l.input(0)?, l.input(1)?, l.dtype_of(0)?);
    let loss = if l.attributes.flag("log_target", false)? {
        f("Exp", target) * (target - x)
    } else {
        pick(of("Greater", target, 0.0), target * (f("Log", target) - x), 0.0)
    };
    let loss = loss.write(l, dtype)?;
    Ok(vec![reduced(l, loss, "mean")?])
}

/// `log_loss`: binary cross entropy of probabilities, with an epsilon within the logarithms.
pub fn log_loss(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, label, dtype) = (l.input(0)?, l.input(1)?, l.dtype_of(0)?);
    let (one, least) = (|| Term::from(1.0), attribute(l, "epsilon", 1e-4)?);
    let yes = f("Neg", label) * f("Log", x + least);
    let no = (one() - label) * f("Log", one() - x + least);
    Ok(vec![(yes - no).write(l, dtype)?])
}

/// `label_smooth`: labels, mixed with a prior or a uniform distribution.
pub fn label_smooth(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (x, dtype, share) = (l.input(0)?, l.dtype_of(0)?, attribute(l, "epsilon", 0.0)?);
    let others = if l.has(1) {
        let given = l.input(1)?;
        let given = l.reshape(given, &[-1])?;
        Term::from(given) * share
    } else {
        let count = l.apply("Shape", &[x], &[int("start", -1)])?;
        let count = l.cast(count, dtype)?;
        Term::from(share) / count
    };
    Ok(vec![(x * (1.0 - share) + others).write(l, dtype)?])
}

/// `mean_all`: a scalar.
pub fn mean_all(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    Ok(vec![with("ReduceMean", [l.input(0)?.into()], [int("keepdims", 0)]).put(l)?])
}
