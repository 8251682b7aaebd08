//! Ensembles of trees: `TreeEnsemble`, and the `TreeEnsembleClassifier` and `TreeEnsembleRegressor`
//! before it.
//!
//! The children of a node are other nodes or leaves; a leaf adds weights to targets. NaN follows
//! the branch that `nodes_missing_value_tracks_true` names. Nodes, weights and features that are
//! not there, and trees with cycles, are refused before a run.

use gradus_core::convert::{product, u64_of, usize_of_i64};
use gradus_core::graph::Attribute;
use gradus_core::{DType, Error, Kind, Result, Shape, Value};

use crate::attributes::{Attributes, required};
use crate::errors;
use crate::floats::Ring;
use crate::ml::samples::{SampleRows, features};
use crate::ml::scores::{Labels, PostTransform, largest};
use crate::ml::trees::floats::{float_list, floats};
use crate::ml::trees::numbers::NumberedNodes;
use crate::normalize::Form;
use crate::op::{BuildContext, EvalContext, Op};
use crate::words;

/// How a feature is compared.
#[derive(Clone, Copy, Debug)]
pub(super) enum BranchMode {
    AtMost,
    Less,
    AtLeast,
    Greater,
    Equal,
    NotEqual,
    Member,
}

/// The mode of a leaf among those of nodes.
const LEAF: &str = "LEAF";

/// The names of modes, in the order of their numbers.
const MODES: [(&str, BranchMode); 7] = [
    ("BRANCH_LEQ", BranchMode::AtMost),
    ("BRANCH_LT", BranchMode::Less),
    ("BRANCH_GTE", BranchMode::AtLeast),
    ("BRANCH_GT", BranchMode::Greater),
    ("BRANCH_EQ", BranchMode::Equal),
    ("BRANCH_NEQ", BranchMode::NotEqual),
    ("BRANCH_MEMBER", BranchMode::Member),
];

/// The number of modes that `nodes_modes` names, which the trees of numbered nodes have.
const NAMED: usize = 6;

/// The names in `nodes_modes`.
pub const MODE_NAMES: [&str; NAMED + 1] = {
    let (mut all, mut i) = ([LEAF; NAMED + 1], 0);
    while i < NAMED {
        all[i + 1] = MODES[i].0;
        i += 1;
    }
    all
};

/// A child of a node, by its index. There may be millions, so indices have 32 bits.
#[derive(Clone, Copy, Debug)]
pub(super) enum Child {
    Node(u32),
    Leaf(u32),
}

/// An index in one of the tables.
pub(super) fn at(index: u32) -> usize {
    usize::try_from(index).unwrap_or(usize::MAX)
}

/// An index that a table has.
pub(super) fn index(of: usize) -> Result<u32> {
    u32::try_from(of).map_err(|_| Error::new(Kind::Limit, "the trees have more than 2^32 nodes or leaves"))
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) value: f64,
    pub(super) feature: usize,
    pub(super) children: [Child; 2],
    /// The first of its members among those of the ensemble, and the end.
    members: [u32; 2],
    pub(super) mode: BranchMode,
    pub(super) missing: bool,
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

/// Their names.
pub const AGGREGATE_NAMES: [&str; AGGREGATES.len()] = {
    let (mut all, mut i) = ([""; AGGREGATES.len()], 0);
    while i < all.len() {
        all[i] = AGGREGATES[i].0;
        i += 1;
    }
    all
};

/// Trees, and what becomes of the weights of their leaves.
#[derive(Debug)]
pub struct Ensemble {
    pub(super) nodes: Vec<Node>,
    pub(super) roots: Vec<Child>,
    /// Members of the sets that nodes compare features with.
    members: Vec<f64>,
    pub(super) leaves: Leaves,
    pub(super) base: Vec<f64>,
    pub targets: usize,
    pub(super) aggregate: Aggregate,
    pub(super) transform: PostTransform,
    /// True if leaves have weights for the first of two classes alone.
    pub(super) binary: bool,
    /// True if no leaf has a weight below zero.
    pub(super) positive: bool,
}

/// Targets and weights of leaves, one leaf after the other.
#[derive(Debug)]
pub(super) struct Leaves {
    /// By leaf, where its weights begin; and the end of all.
    starts: Vec<u32>,
    weights: Vec<(usize, f64)>,
}

impl Leaves {
    /// The weights of that many leaves. Of entries without a leaf, nothing is kept.
    fn new(count: usize, of: &[Option<u32>], weights: impl Iterator<Item = (usize, f64)>) -> Result<Leaves> {
        let mut starts = vec![0u32; count + 1];
        for leaf in of.iter().flatten() {
            starts[at(*leaf) + 1] += 1;
        }
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        let mut all = vec![(0, 0.0); at(end)];
        for (leaf, weight) in of.iter().zip(weights) {
            if let Some(leaf) = leaf {
                // Each start becomes the end of its leaf, which is where the next leaf starts.
                let place = &mut starts[at(*leaf)];
                all[at(*place)] = weight;
                *place += 1;
            }
        }
        starts.rotate_right(1);
        starts[0] = 0;
        Ok(Leaves { starts, weights: all })
    }

    /// Returns whether there are weights for the first of two targets alone, and none below zero.
    fn kinds(&self, targets: usize) -> [bool; 2] {
        let all = || self.weights.iter();
        [targets == 2 && all().all(|(target, _)| *target == 0), all().all(|(_, weight)| *weight >= 0.0)]
    }

    /// The number of leaves.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Targets and weights of a leaf.
    pub(super) fn of(&self, leaf: usize) -> &[(usize, f64)] {
        &self.weights[at(self.starts[leaf])..at(self.starts[leaf + 1])]
    }
}

/// Integers that must be as many as the nodes.
pub(super) fn of_nodes<'a>(attributes: &Attributes<'a>, name: &str, count: usize) -> Result<&'a [i64]> {
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
        let modes = required("nodes_modes", attributes.strings("nodes_modes")?)?;
        let count = modes.len();
        // The weights of leaves are counted by numbers of this type too.
        index(count)?;
        let list = |name: &str| of_nodes(attributes, name, count);
        let (trees, ids, features) =
            (list("nodes_treeids")?, list("nodes_nodeids")?, list("nodes_featureids")?);
        let (yes, no) = (list("nodes_truenodeids")?, list("nodes_falsenodeids")?);
        let values = float_list(attributes, "nodes_values")?;
        as_many("nodes_values", values.len(), count)?;
        let missing = attributes.ints("nodes_missing_value_tracks_true")?.unwrap_or(&[]);
        if !missing.is_empty() {
            as_many("nodes_missing_value_tracks_true", missing.len(), count)?;
        }
        let known = NumberedNodes::new(trees, ids, modes.iter().map(|mode| &**mode == LEAF.as_bytes()))?;
        let (mut nodes, roots) = (Vec::with_capacity(known.inner()), known.roots().collect());
        for (node, name) in modes.iter().enumerate().filter(|(_, name)| &***name != LEAF.as_bytes()) {
            let tree = trees[node];
            let mode = MODES.iter().take(NAMED).find(|(known, _)| known.as_bytes() == &**name);
            let unknown =
                || errors::text("nodes_modes", &String::from_utf8_lossy(name), &words::TREE_MODES.wanted());
            nodes.push(Node {
                mode: mode.ok_or_else(unknown)?.1,
                feature: below("nodes_featureids", features[node], usize::MAX)?,
                value: values.at(node),
                members: [0; 2],
                missing: missing.get(node).is_some_and(|&flag| flag != 0),
                children: [known.child(tree, yes[node])?, known.child(tree, no[node])?],
            });
        }
        let [tree_name, node_name, id_name, weight_name] =
            ["treeids", "nodeids", "ids", "weights"].map(|end| format!("{weights}_{end}"));
        let to = required(&id_name, attributes.ints(&id_name)?)?;
        index(to.len())?;
        let (in_trees, of_ids) =
            (of_nodes(attributes, &tree_name, to.len())?, of_nodes(attributes, &node_name, to.len())?);
        let given = float_list(attributes, &weight_name)?;
        as_many(&weight_name, given.len(), to.len())?;
        // Weights of inner nodes have no effect.
        let leaf = |(&tree, &id)| {
            Ok::<_, Error>(match known.child(tree, id)? {
                Child::Leaf(leaf) => Some(leaf),
                Child::Node(_) => None,
            })
        };
        let leaf_of = in_trees.iter().zip(of_ids).map(leaf).collect::<Result<Vec<_>>>()?;
        to.iter().try_for_each(|&target| below(&id_name, target, targets).map(drop))?;
        let target = |&target: &i64| usize_of_i64(target).unwrap_or(usize::MAX);
        let weights = to.iter().map(target).enumerate().map(|(at, target)| (target, given.at(at)));
        let leaves = Leaves::new(known.leaves(), &leaf_of, weights)?;
        let base = floats(attributes, "base_values")?;
        let transform = PostTransform::of(attributes)?;
        let (members, aggregate) = (Vec::new(), Aggregate::Sum);
        let [binary, positive] = leaves.kinds(targets);
        let ensemble =
            Ensemble { nodes, roots, members, leaves, base, targets, aggregate, transform, binary, positive };
        let bases = ensemble.base.len();
        if bases != 0 && bases != targets && !(bases == 1 && ensemble.binary) {
            return Err(errors::count("elements of attribute \"base_values\"", bases, targets));
        }
        ensemble.checked()
    }

    /// The trees of a `TreeEnsembleRegressor`.
    pub fn regressor(attributes: &Attributes<'_>) -> Result<Ensemble> {
        let name = words::AGGREGATE.of_or(attributes, "SUM")?;
        let aggregate = AGGREGATES.iter().find(|(known, _)| *known == name);
        let aggregate = aggregate.map_or(Aggregate::Sum, |(_, aggregate)| *aggregate);
        let targets = errors::at_least_1("n_targets", attributes.int_or("n_targets", 1)?)?;
        let targets = usize_of_i64(targets).unwrap_or(usize::MAX);
        Ok(Ensemble { aggregate, ..Ensemble::numbered(attributes, "target", targets)? })
    }

    /// The trees of a `TreeEnsembleClassifier`.
    pub fn classifier(attributes: &Attributes<'_>) -> Result<Ensemble> {
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
    pub fn newest(attributes: &Attributes<'_>) -> Result<Ensemble> {
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
        index(count.max(to.len()))?;
        let own = (0..).take(to.len()).map(Some).collect::<Vec<_>>();
        let to =
            to.iter().map(|&target| below("leaf_targetids", target, targets)).collect::<Result<Vec<_>>>()?;
        let leaves = Leaves::new(to.len(), &own, to.into_iter().zip(weights))?;
        let child = |name: &str, leaf: i64, of: i64| {
            Ok::<_, Error>(if leaf != 0 {
                Child::Leaf(index(below(name, of, leaves.len())?)?)
            } else {
                Child::Node(index(below(name, of, count)?)?)
            })
        };
        let members = floats(attributes, "membership_values")?;
        index(members.len())?;
        let mut sets = members.split(|x| x.is_nan());
        let mut start = 0u32;
        let mut nodes = Vec::with_capacity(count);
        for (node, &number) in modes.iter().enumerate() {
            let mode = MODES[below("nodes_modes", number, MODES.len())?].1;
            let members = match mode {
                BranchMode::Member => {
                    let set = index(sets.next().unwrap_or_default().len())?;
                    let (first, end) = (start, start.saturating_add(set));
                    // A NaN ends a set.
                    start = end.saturating_add(1);
                    [first, end]
                }
                _ => [0; 2],
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
        let root = |&root: &i64| Ok(Child::Node(index(below("tree_roots", root, count)?)?));
        let roots = roots.iter().map(root).collect::<Result<Vec<_>>>()?;
        let aggregate = attributes.int_or("aggregate_function", 1)?;
        let aggregate = AGGREGATES[below("aggregate_function", aggregate, AGGREGATES.len())?].1;
        let transform = PostTransform::numbered(attributes.int_or("post_transform", 0)?)?;
        let base = Vec::new();
        let [binary, positive] = leaves.kinds(targets);
        Ensemble { nodes, roots, members, leaves, base, targets, aggregate, transform, binary, positive }
            .checked()
    }

    /// Comparisons and sums of the sample that takes most of both.
    pub fn operations(&self) -> [u128; 2] {
        let mut most: Vec<Option<[u64; 2]>> = vec![None; self.nodes.len()];
        let known = |most: &[Option<[u64; 2]>], child| match child {
            Child::Node(node) => most[at(node)],
            Child::Leaf(leaf) => Some([0, u64_of(self.leaves.of(at(leaf)).len())]),
        };
        let all = |of: &[u64; 2]| of[0].saturating_add(of[1]);
        let mut open = Vec::new();
        for start in 0..self.nodes.len() {
            open.push(start);
            while let Some(&index) = open.last() {
                let node = &self.nodes[index];
                let [yes, no] = node.children.map(|child| known(&most, child));
                if let (Some(yes), Some(no)) = (yes, no) {
                    let [comparisons, sums] = if all(&no) > all(&yes) { no } else { yes };
                    let own = u64_of(self.members(node).len().max(1));
                    most[index] = Some([comparisons.saturating_add(own), sums]);
                    open.pop();
                    continue;
                }
                open.extend(node.children.into_iter().filter_map(|child| match child {
                    Child::Node(child) => most[at(child)].is_none().then_some(at(child)),
                    Child::Leaf(_) => None,
                }));
            }
        }
        let paths = self.roots.iter().filter_map(|&root| known(&most, root));
        paths.fold([0; 2], |[comparisons, sums], of| {
            [comparisons.saturating_add(of[0].into()), sums.saturating_add(of[1].into())]
        })
    }

    /// Members of the set that a node compares a feature with.
    pub(super) fn members(&self, node: &Node) -> &[f64] {
        self.members.get(at(node.members[0])..at(node.members[1])).unwrap_or_default()
    }

    /// The ensemble, if no node is below itself.
    fn checked(self) -> Result<Ensemble> {
        #[derive(Clone, Copy, PartialEq, Eq)]
        enum CheckState {
            New,
            Above,
            Done,
        }
        let mut states = vec![CheckState::New; self.nodes.len()];
        let mut open = Vec::new();
        for start in 0..self.nodes.len() {
            open.push(start);
            while let Some(&node) = open.last() {
                if states[node] != CheckState::New {
                    states[node] = CheckState::Done;
                    open.pop();
                    continue;
                }
                states[node] = CheckState::Above;
                for child in self.nodes[node].children {
                    match child {
                        Child::Node(child) if states[at(child)] == CheckState::Above => {
                            return Err(Error::new(
                                Kind::Graph,
                                format!("tree node {child} is below itself"),
                            ));
                        }
                        Child::Node(child) if states[at(child)] == CheckState::New => open.push(at(child)),
                        _ => {}
                    }
                }
            }
        }
        Ok(self)
    }

    /// Checks that samples have the features that nodes compare.
    pub fn check_features(&self, features: usize) -> Result<()> {
        match self.nodes.iter().map(|node| node.feature).max() {
            Some(last) if last >= features => {
                Err(errors::count("features", features, format_args!("at least {}", last.saturating_add(1))))
            }
            _ => Ok(()),
        }
    }

    /// The child of a node for the features of a sample.
    fn below(&self, node: &Node, sample: &[f64]) -> Child {
        let (x, value) = (sample[node.feature], node.value);
        let yes = match node.mode {
            _ if x.is_nan() => node.missing,
            BranchMode::AtMost => x <= value,
            BranchMode::Less => x < value,
            BranchMode::AtLeast => x >= value,
            BranchMode::Greater => x > value,
            BranchMode::Equal => x == value,
            BranchMode::NotEqual => x != value,
            BranchMode::Member => self.members(node).contains(&x),
        };
        node.children[usize::from(!yes)]
    }

    /// The weights of the leaves that a sample comes to, and whether any was for the target.
    fn sums(&self, sample: &[f64]) -> Vec<(f64, bool)> {
        let mut sums = vec![(0.0f64, false); self.targets];
        for &root in &self.roots {
            let mut here = root;
            let leaf = loop {
                match here {
                    Child::Node(node) => here = self.below(&self.nodes[at(node)], sample),
                    Child::Leaf(leaf) => break leaf,
                }
            };
            for &(target, weight) in self.leaves.of(at(leaf)) {
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
            let trees = gradus_core::convert::float_of(self.roots.len().max(1));
            for (sum, _) in &mut sums {
                *sum /= trees;
            }
        }
        sums
    }

    /// The class of a sample, and its scores in place of sums. Where leaves have weights for the
    /// first of two classes alone, the sum is the score of the second: a probability if no weight
    /// is below zero, else negative for the first.
    fn choose(&self, scores: &mut Vec<f64>) -> usize {
        if !self.binary {
            self.based(scores);
            return largest(scores);
        }
        let (score, probabilities) = (scores[0] + self.base.last().copied().unwrap_or(0.0), self.positive);
        let keeps = matches!(self.transform, PostTransform::None | PostTransform::Probit);
        *scores = vec![if probabilities && keeps { 1.0 - score } else { -score }, score];
        usize::from(score > if probabilities { 0.5 } else { 0.0 })
    }

    /// Adds the base values.
    fn based(&self, scores: &mut [f64]) {
        for (target, score) in scores.iter_mut().enumerate() {
            *score += self.base.get(target).copied().unwrap_or(0.0);
        }
    }
}

/// A node whose ensemble is built once, and run many times.
#[derive(Debug)]
struct TreesOp {
    ensemble: Ensemble,
    /// The attributes that have the labels of a classifier.
    labels: Option<Vec<Attribute>>,
    /// The type of the scores; that of the samples if there is none.
    dtype: Option<DType>,
}

/// Builds the trees of a `TreeEnsemble`, its classifier or its regressor.
pub fn build(cx: &BuildContext<'_>) -> Result<Box<dyn Op>> {
    let attributes = &cx.attributes;
    Ok(Box::new(match cx.row.name {
        "TreeEnsembleClassifier" => {
            let (ensemble, labels) = (Ensemble::classifier(attributes)?, Some(attributes.owned()));
            TreesOp { ensemble, labels, dtype: Some(DType::F32) }
        }
        "TreeEnsembleRegressor" => {
            TreesOp { ensemble: Ensemble::regressor(attributes)?, labels: None, dtype: Some(DType::F32) }
        }
        _ => TreesOp { ensemble: Ensemble::newest(attributes)?, labels: None, dtype: None },
    }))
}

impl Op for TreesOp {
    fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        let (ensemble, tensor) = (&self.ensemble, cx.tensor(0)?);
        let rows = match *tensor.shape().dims() {
            [_] => 1,
            [rows, _] => rows,
            ref dims => return Err(errors::rank(cx.label(0), dims.len(), "1 or 2")),
        };
        ensemble.check_features(features(cx)?)?;
        let (dtype, shape) = (self.dtype.unwrap_or(tensor.dtype()), Shape::new([rows, ensemble.targets])?);
        let (mut all, mut chosen) = (Vec::new(), Vec::new());
        for sample in SampleRows::of(cx, ensemble.targets)?.iter() {
            cx.run.touch(product(ensemble.roots.len(), 1))?;
            let mut scores: Vec<_> = ensemble.sums(sample).into_iter().map(|(sum, _)| sum).collect();
            if self.labels.is_some() {
                chosen.push(ensemble.choose(&mut scores));
            } else {
                ensemble.based(&mut scores);
            }
            ensemble.transform.apply(&mut scores);
            all.extend(scores);
        }
        let scores = f64::tensor(dtype, shape, &all)?.into();
        let Some(labels) = &self.labels else { return Ok(vec![scores]) };
        let labels = Labels::of(&Attributes::new(labels, Form::NEWEST), "classlabels_int64s")?;
        Ok(vec![labels.tensor(&chosen)?.into(), scores])
    }
}
