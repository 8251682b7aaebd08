//! Ensembles of trees: `TreeEnsemble`, and the `TreeEnsembleClassifier` and `TreeEnsembleRegressor`
//! before it.
//!
//! The children of a node are other nodes or leaves; a leaf adds weights to targets. NaN follows
//! the branch that `nodes_missing_value_tracks_true` names. Nodes, weights and features that are
//! not there, and trees with cycles, are refused before a run.

use std::collections::{HashMap, HashSet};

use gradus_core::convert::{nearest_f64, product, usize_of_i64};
use gradus_core::{Error, Kind, Result, Value};

use super::samples::{Samples, features};
use super::scores::{Labels, PostTransform, largest};
use crate::attributes::{Attributes, required};
use crate::op::EvalContext;
use crate::operators::errors;

/// How a feature is compared.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mode {
    AtMost,
    Less,
    AtLeast,
    Greater,
    Equal,
    NotEqual,
    Member,
}

/// The names of modes, in the order of their numbers.
const MODES: [(&str, Mode); 7] = [
    ("BRANCH_LEQ", Mode::AtMost),
    ("BRANCH_LT", Mode::Less),
    ("BRANCH_GTE", Mode::AtLeast),
    ("BRANCH_GT", Mode::Greater),
    ("BRANCH_EQ", Mode::Equal),
    ("BRANCH_NEQ", Mode::NotEqual),
    ("BRANCH_MEMBER", Mode::Member),
];

#[derive(Clone, Copy, Debug)]
pub(super) enum Child {
    Node(usize),
    Leaf(usize),
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) mode: Mode,
    pub(super) feature: usize,
    pub(super) value: f64,
    pub(super) members: Vec<f64>,
    pub(super) missing: bool,
    pub(super) children: [Child; 2],
}

impl Node {
    /// The child for the features of a sample.
    fn child(&self, sample: &[f64]) -> Child {
        let (x, value) = (sample[self.feature], self.value);
        let yes = match self.mode {
            _ if x.is_nan() => self.missing,
            Mode::AtMost => x <= value,
            Mode::Less => x < value,
            Mode::AtLeast => x >= value,
            Mode::Greater => x > value,
            Mode::Equal => x == value,
            Mode::NotEqual => x != value,
            Mode::Member => self.members.contains(&x),
        };
        self.children[usize::from(!yes)]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aggregate {
    Average,
    Sum,
    Min,
    Max,
}

const AGGREGATES: [(&str, Aggregate); 4] = [
    ("AVERAGE", Aggregate::Average),
    ("SUM", Aggregate::Sum),
    ("MIN", Aggregate::Min),
    ("MAX", Aggregate::Max),
];

/// Trees, and what becomes of the weights of their leaves.
#[derive(Debug)]
pub(crate) struct Ensemble {
    pub(super) nodes: Vec<Node>,
    pub(super) roots: Vec<Child>,
    /// Targets and weights.
    pub(super) leaves: Vec<Vec<(usize, f64)>>,
    pub(super) base: Vec<f64>,
    pub(crate) targets: usize,
    pub(super) aggregate: Aggregate,
    pub(super) transform: PostTransform,
}

/// Integers that must be as many as the nodes.
fn of_nodes<'a>(attributes: &Attributes<'a>, name: &str, count: usize) -> Result<&'a [i64]> {
    let list = required(name, attributes.ints(name)?)?;
    as_many(name, list.len(), count)?;
    Ok(list)
}

fn as_many(name: &str, got: usize, wanted: usize) -> Result<()> {
    if got == wanted {
        return Ok(());
    }
    Err(errors::count(&format!("elements of attribute \"{name}\""), got, wanted))
}

/// Floats, or the tensor of floats beside them.
fn floats(attributes: &Attributes<'_>, name: &str) -> Result<Vec<f64>> {
    let tensor = match attributes.tensor(&format!("{name}_as_tensor"))? {
        Some(tensor) => Some(tensor),
        None if name.starts_with("nodes_splits")
            || name.starts_with("leaf")
            || name.starts_with("member") =>
        {
            attributes.tensor(name)?
        }
        None => None,
    };
    match tensor {
        Some(tensor) => Ok(tensor.numbers()?.map(nearest_f64).collect()),
        None => Ok(attributes.floats(name)?.unwrap_or(&[]).iter().map(|&x| x.into()).collect()),
    }
}

/// An index that must be below a count.
fn below(name: &str, index: i64, count: usize) -> Result<usize> {
    let known = usize_of_i64(index).filter(|&index| index < count);
    let wanted = format_args!("at least 0 and below {count}");
    known.ok_or_else(|| errors::value(format_args!("an element of attribute \"{name}\""), index, wanted))
}

impl Ensemble {
    /// The trees of `TreeEnsembleClassifier` and `TreeEnsembleRegressor`, whose nodes have numbers
    /// in their tree. Weights have attributes that begin so.
    fn numbered(attributes: &Attributes<'_>, weights: &str, targets: usize) -> Result<Ensemble> {
        let modes = required("nodes_modes", attributes.texts("nodes_modes")?)?;
        let count = modes.len();
        let list = |name: &str| of_nodes(attributes, name, count);
        let (trees, ids, features) =
            (list("nodes_treeids")?, list("nodes_nodeids")?, list("nodes_featureids")?);
        let (yes, no) = (list("nodes_truenodeids")?, list("nodes_falsenodeids")?);
        let values = floats(attributes, "nodes_values")?;
        as_many("nodes_values", values.len(), count)?;
        let missing = attributes.ints("nodes_missing_value_tracks_true")?.unwrap_or(&[]);
        if !missing.is_empty() {
            as_many("nodes_missing_value_tracks_true", missing.len(), count)?;
        }
        // Each node is a node or a leaf of the ensemble, which `children` tells.
        let mut known = HashMap::new();
        let (mut inner, mut leaves) = (0, 0);
        for (node, mode) in modes.iter().enumerate() {
            let next = if *mode == "LEAF" { &mut leaves } else { &mut inner };
            let child = if *mode == "LEAF" { Child::Leaf(*next) } else { Child::Node(*next) };
            *next += 1;
            if known.insert((trees[node], ids[node]), child).is_some() {
                let what = format!("node {} of tree {} is defined twice", ids[node], trees[node]);
                return Err(Error::new(Kind::Graph, what));
            }
        }
        let child = |tree: i64, id: i64| {
            let missing = || Error::new(Kind::Graph, format!("node {id} of tree {tree} is missing"));
            known.get(&(tree, id)).copied().ok_or_else(missing)
        };
        let (mut nodes, mut roots, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
        for (node, name) in modes.iter().enumerate() {
            let tree = trees[node];
            if seen.insert(tree) {
                roots.push(child(tree, ids[node])?);
            }
            if *name == "LEAF" {
                continue;
            }
            let mode = MODES.iter().take(6).find(|(known, _)| known == name);
            let mode = mode.ok_or_else(|| errors::text("nodes_modes", name, "BRANCH_* or LEAF"))?.1;
            nodes.push(Node {
                mode,
                feature: below("nodes_featureids", features[node], usize::MAX)?,
                value: values[node],
                members: Vec::new(),
                missing: missing.get(node).is_some_and(|&flag| flag != 0),
                children: [child(tree, yes[node])?, child(tree, no[node])?],
            });
        }
        let [tree_name, node_name, id_name, weight_name] =
            ["treeids", "nodeids", "ids", "weights"].map(|end| format!("{weights}_{end}"));
        let to = required(&id_name, attributes.ints(&id_name)?)?;
        let (in_trees, of_ids) =
            (of_nodes(attributes, &tree_name, to.len())?, of_nodes(attributes, &node_name, to.len())?);
        let given = floats(attributes, &weight_name)?;
        as_many(&weight_name, given.len(), to.len())?;
        let mut leaves = vec![Vec::new(); leaves];
        for (index, &target) in to.iter().enumerate() {
            let target = below(&id_name, target, targets)?;
            // Weights of inner nodes have no effect.
            if let Child::Leaf(leaf) = child(in_trees[index], of_ids[index])? {
                leaves[leaf].push((target, given[index]));
            }
        }
        let base = floats(attributes, "base_values")?;
        let transform = PostTransform::of(attributes)?;
        let ensemble = Ensemble { nodes, roots, leaves, base, targets, aggregate: Aggregate::Sum, transform };
        let bases = ensemble.base.len();
        if bases != 0 && bases != targets && !(bases == 1 && ensemble.is_binary()) {
            return Err(errors::count("elements of attribute \"base_values\"", bases, targets));
        }
        ensemble.checked()
    }

    pub(crate) fn regressor(attributes: &Attributes<'_>) -> Result<Ensemble> {
        let name = attributes.text("aggregate_function")?.unwrap_or("SUM");
        let aggregate = AGGREGATES.iter().find(|(known, _)| *known == name);
        let aggregate =
            aggregate.ok_or_else(|| errors::text("aggregate_function", name, "AVERAGE, SUM, MIN or MAX"))?;
        let targets = errors::at_least_1("n_targets", attributes.int_or("n_targets", 1)?)?;
        let targets = usize_of_i64(targets).unwrap_or(usize::MAX);
        Ok(Ensemble { aggregate: aggregate.1, ..Ensemble::numbered(attributes, "target", targets)? })
    }

    pub(crate) fn classifier(attributes: &Attributes<'_>) -> Result<Ensemble> {
        let labels = Labels::of(attributes, "classlabels_int64s")?.len();
        let ids = attributes.ints("class_ids")?.unwrap_or(&[]);
        let last = ids.iter().max().and_then(|&last| usize_of_i64(last)).map_or(0, |last| last + 1);
        let classes = if labels > 0 { labels } else { last };
        if classes == 0 {
            return Err(errors::count("classes", 0, "at least 1"));
        }
        Ensemble::numbered(attributes, "class", classes)
    }

    /// The trees of `TreeEnsemble`, whose nodes are counted from the first.
    pub(crate) fn newest(attributes: &Attributes<'_>) -> Result<Ensemble> {
        let modes = required("nodes_modes", attributes.tensor("nodes_modes")?)?.to_i64()?;
        let count = modes.len();
        let list = |name: &str| of_nodes(attributes, name, count);
        let features = list("nodes_featureids")?;
        let (yes, no) = (list("nodes_truenodeids")?, list("nodes_falsenodeids")?);
        let (yes_leaf, no_leaf) = (list("nodes_trueleafs")?, list("nodes_falseleafs")?);
        let splits = floats(attributes, "nodes_splits")?;
        as_many("nodes_splits", splits.len(), count)?;
        let missing = attributes.ints("nodes_missing_value_tracks_true")?.unwrap_or(&[]);
        if !missing.is_empty() {
            as_many("nodes_missing_value_tracks_true", missing.len(), count)?;
        }
        let targets = errors::at_least_1("n_targets", attributes.int_or("n_targets", 1)?)?;
        let targets = usize_of_i64(targets).unwrap_or(usize::MAX);
        let weights = floats(attributes, "leaf_weights")?;
        let to = of_nodes(attributes, "leaf_targetids", weights.len())?;
        let leaves = to
            .iter()
            .zip(&weights)
            .map(|(&target, &weight)| Ok(vec![(below("leaf_targetids", target, targets)?, weight)]));
        let leaves = leaves.collect::<Result<Vec<_>>>()?;
        let child = |name: &str, leaf: i64, index: i64| {
            Ok::<_, Error>(if leaf != 0 {
                Child::Leaf(below(name, index, leaves.len())?)
            } else {
                Child::Node(below(name, index, count)?)
            })
        };
        let members = floats(attributes, "membership_values")?;
        let mut members = members.split(|x| x.is_nan());
        let mut nodes = Vec::with_capacity(count);
        for (node, &number) in modes.iter().enumerate() {
            let mode = MODES[below("nodes_modes", number, MODES.len())?].1;
            let members = match mode {
                Mode::Member => members.next().unwrap_or_default().to_vec(),
                _ => Vec::new(),
            };
            nodes.push(Node {
                mode,
                feature: below("nodes_featureids", features[node], usize::MAX)?,
                value: splits[node],
                members,
                missing: missing.get(node).is_some_and(|&flag| flag != 0),
                children: [
                    child("nodes_truenodeids", yes_leaf[node], yes[node])?,
                    child("nodes_falsenodeids", no_leaf[node], no[node])?,
                ],
            });
        }
        let roots = required("tree_roots", attributes.ints("tree_roots")?)?;
        let root = |&root: &i64| below("tree_roots", root, count).map(Child::Node);
        let roots = roots.iter().map(root).collect::<Result<Vec<_>>>()?;
        let aggregate = attributes.int_or("aggregate_function", 1)?;
        let aggregate = AGGREGATES[below("aggregate_function", aggregate, AGGREGATES.len())?].1;
        let transform = PostTransform::numbered(attributes.int_or("post_transform", 0)?)?;
        Ensemble { nodes, roots, leaves, base: Vec::new(), targets, aggregate, transform }.checked()
    }

    /// Comparisons and sums of the sample that takes most of both.
    pub(crate) fn operations(&self) -> [u128; 2] {
        let mut most: Vec<Option<[u128; 2]>> = vec![None; self.nodes.len()];
        let known = |most: &[Option<[u128; 2]>], child| match child {
            Child::Node(node) => most[node],
            Child::Leaf(leaf) => Some([0, product(self.leaves[leaf].len(), 1)]),
        };
        let all = |of: &[u128; 2]| of[0].saturating_add(of[1]);
        for start in 0..self.nodes.len() {
            let mut open = vec![start];
            while let Some(&index) = open.last() {
                let node = &self.nodes[index];
                let [yes, no] = node.children.map(|child| known(&most, child));
                if let (Some(yes), Some(no)) = (yes, no) {
                    let [comparisons, sums] = if all(&no) > all(&yes) { no } else { yes };
                    let own = product(node.members.len().max(1), 1);
                    most[index] = Some([comparisons.saturating_add(own), sums]);
                    open.pop();
                    continue;
                }
                open.extend(node.children.into_iter().filter_map(|child| match child {
                    Child::Node(child) => most[child].is_none().then_some(child),
                    Child::Leaf(_) => None,
                }));
            }
        }
        let paths = self.roots.iter().filter_map(|&root| known(&most, root));
        paths.fold([0; 2], |[comparisons, sums], of| {
            [comparisons.saturating_add(of[0]), sums.saturating_add(of[1])]
        })
    }

    /// Returns true if leaves have weights for the first of two classes alone.
    pub(super) fn is_binary(&self) -> bool {
        self.targets == 2 && self.leaves.iter().flatten().all(|(target, _)| *target == 0)
    }

    /// The ensemble, if no node is below itself.
    fn checked(self) -> Result<Ensemble> {
        #[derive(Clone, Copy, PartialEq, Eq)]
        enum State {
            New,
            Above,
            Done,
        }
        let mut states = vec![State::New; self.nodes.len()];
        for start in 0..self.nodes.len() {
            let mut open = vec![start];
            while let Some(&node) = open.last() {
                if states[node] != State::New {
                    states[node] = State::Done;
                    open.pop();
                    continue;
                }
                states[node] = State::Above;
                for child in self.nodes[node].children {
                    match child {
                        Child::Node(child) if states[child] == State::Above => {
                            return Err(Error::new(
                                Kind::Graph,
                                format!("tree node {child} is below itself"),
                            ));
                        }
                        Child::Node(child) if states[child] == State::New => open.push(child),
                        _ => {}
                    }
                }
            }
        }
        Ok(self)
    }

    /// Checks that samples have the features that nodes compare.
    pub(crate) fn check_features(&self, features: usize) -> Result<()> {
        match self.nodes.iter().map(|node| node.feature).max() {
            Some(last) if last >= features => {
                Err(errors::count("features", features, format_args!("at least {}", last.saturating_add(1))))
            }
            _ => Ok(()),
        }
    }

    /// The weights of the leaves that a sample comes to, and whether any was for the target.
    fn sums(&self, sample: &[f64]) -> Vec<(f64, bool)> {
        let mut sums = vec![(0.0f64, false); self.targets];
        for &root in &self.roots {
            let mut at = root;
            let leaf = loop {
                match at {
                    Child::Node(node) => at = self.nodes[node].child(sample),
                    Child::Leaf(leaf) => break leaf,
                }
            };
            for &(target, weight) in &self.leaves[leaf] {
                let (sum, given) = &mut sums[target];
                *sum = match self.aggregate {
                    Aggregate::Min if *given => sum.min(weight),
                    Aggregate::Max if *given => sum.max(weight),
                    _ => *sum + weight,
                };
                *given = true;
            }
        }
        if self.aggregate == Aggregate::Average {
            let trees = crate::operators::nn::windows::float_of(self.roots.len().max(1));
            for (sum, _) in &mut sums {
                *sum /= trees;
            }
        }
        sums
    }

    /// Adds the base values.
    fn based(&self, scores: &mut [f64]) {
        for (target, score) in scores.iter_mut().enumerate() {
            *score += self.base.get(target).copied().unwrap_or(0.0);
        }
    }
}

/// Runs the trees for each sample.
fn samples(
    cx: &mut EvalContext<'_>,
    ensemble: &Ensemble,
    mut each: impl FnMut(Vec<(f64, bool)>),
) -> Result<()> {
    ensemble.check_features(features(cx)?)?;
    for sample in Samples::of(cx, ensemble.targets)?.iter() {
        cx.run.touch(product(ensemble.roots.len(), 1))?;
        each(ensemble.sums(sample));
    }
    Ok(())
}

fn regress_by(ensemble: &Ensemble, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let mut all = Vec::new();
    samples(cx, ensemble, |sums| {
        let mut scores: Vec<_> = sums.into_iter().map(|(sum, _)| sum).collect();
        ensemble.based(&mut scores);
        ensemble.transform.apply(&mut scores);
        all.extend(scores);
    })?;
    Ok(vec![cx.rounded(0, &all)?])
}

pub(crate) fn regress(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    regress_by(&Ensemble::regressor(attributes)?, cx)
}

pub(crate) fn ensemble(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    regress_by(&Ensemble::newest(attributes)?, cx)
}

/// `TreeEnsembleClassifier`. Where leaves have weights for the first of two classes alone, the sum
/// is the score of the second: a probability if no weight is below zero, else negative for the
/// first.
pub(crate) fn classify(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let ensemble = Ensemble::classifier(attributes)?;
    let labels = Labels::of(attributes, "classlabels_int64s")?;
    let weights = || ensemble.leaves.iter().flatten();
    let binary = ensemble.is_binary();
    let probabilities = weights().all(|(_, weight)| *weight >= 0.0);
    let keeps = matches!(ensemble.transform, PostTransform::None | PostTransform::Probit);
    let (mut all, mut chosen) = (Vec::new(), Vec::new());
    samples(cx, &ensemble, |sums| {
        let mut scores: Vec<_> = sums.iter().map(|(sum, _)| *sum).collect();
        if binary {
            let score = scores[0] + ensemble.base.last().copied().unwrap_or(0.0);
            chosen.push(usize::from(score > if probabilities { 0.5 } else { 0.0 }));
            scores = vec![if probabilities && keeps { 1.0 - score } else { -score }, score];
        } else {
            ensemble.based(&mut scores);
            chosen.push(largest(&scores));
        }
        ensemble.transform.apply(&mut scores);
        all.extend(scores);
    })?;
    Ok(vec![labels.tensor(&chosen)?.into(), cx.rounded(1, &all)?])
}
