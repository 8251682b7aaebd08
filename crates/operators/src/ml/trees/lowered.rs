//! Ensembles of trees as graphs of ONNX's operators: all trees of all samples descend together, a
//! level at a time, and the leaves that they reach choose rows of a table of weights.

use std::collections::HashSet;

use gradus_core::convert::{float_of, i64_of, nearest_f32, product};
use gradus_core::element::Bool;
use gradus_core::{DType, Number, Result, Shape, Tensor};

use crate::graphs::unsupported;
use crate::lowering::{LoweredValue, Lowering, int};
use crate::ml::lowered::{class_of_one, floats64, labelled, matrix_of_samples, transformed};
use crate::ml::scores::{Labels, PostTransform};
use crate::ml::trees::ensemble::{Aggregate, BranchMode, Child, Ensemble, at, index};

/// Maximum number of comparisons on a path from a root to a leaf; the graph has some seven nodes
/// for each.
const MAX_LEVELS: usize = 256;

/// Maximum number of elements of a table of weights.
const MAX_WEIGHTS: u128 = 1 << 26;

/// A comparison, or a leaf, whose children are itself.
#[derive(Debug)]
struct TestState {
    feature: usize,
    value: f64,
    /// There may be millions of states, so indices have 32 bits.
    children: [u32; 2],
    /// How a feature is compared with the value; nothing if the state is a leaf.
    mode: Option<BranchMode>,
    missing: bool,
}

impl TestState {
    /// The name of the operator that compares, or an empty text.
    fn test(&self) -> &'static str {
        match self.mode {
            None => "",
            Some(BranchMode::AtMost) => "LessOrEqual",
            Some(BranchMode::Less) => "Less",
            Some(BranchMode::AtLeast) => "GreaterOrEqual",
            Some(BranchMode::Greater) => "Greater",
            Some(BranchMode::Equal | BranchMode::NotEqual | BranchMode::Member) => "Equal",
        }
    }
}

/// The states of an ensemble: first its nodes, then its leaves, then members of sets.
///
/// # Errors
/// [`Kind::Limit`] if there are more than 2^32.
fn states(ensemble: &Ensemble) -> Result<Vec<TestState>> {
    let (nodes, leaves) = (ensemble.nodes.len(), ensemble.leaves.len());
    index(nodes + leaves)?;
    let state_of = |child: Child| match child {
        Child::Node(node) => node,
        Child::Leaf(leaf) => leaf.saturating_add(u32::try_from(nodes).unwrap_or(u32::MAX)),
    };
    let mut all = Vec::with_capacity(nodes + leaves);
    let mut members = Vec::new();
    for node in &ensemble.nodes {
        let (children, mode) = (node.children.map(state_of), Some(node.mode));
        let mut state =
            TestState { feature: node.feature, value: node.value, children, mode, missing: node.missing };
        match node.mode {
            BranchMode::NotEqual => {
                state.children.reverse();
                state.missing = !state.missing;
            }
            // A set is a chain of comparisons.
            BranchMode::Member => {
                let (first, rest) = ensemble.members(node).split_first().unwrap_or((&f64::NAN, &[]));
                state.value = *first;
                for &value in rest {
                    members.push((all.len(), value));
                }
            }
            _ => {}
        }
        all.push(state);
    }
    for leaf in nodes..nodes + leaves {
        let children = [index(leaf)?; 2];
        all.push(TestState { feature: 0, value: 0.0, children, mode: None, missing: false });
    }
    let mut ends: Vec<_> = (0..nodes).collect();
    for (node, value) in members {
        let (next, end) = (all.len(), ends[node]);
        all.push(TestState { value, ..all[end] });
        all[end].children[1] = index(next)?;
        ends[node] = next;
    }
    Ok(all)
}

/// The number of comparisons on the longest path.
fn levels(roots: &[usize], states: &[TestState]) -> Result<usize> {
    let inner = |state: &usize| states[*state].mode.is_some();
    let mut reached: HashSet<_> = roots.iter().copied().filter(inner).collect();
    let mut levels = 0;
    while !reached.is_empty() {
        levels += 1;
        if levels > MAX_LEVELS {
            return Err(unsupported(&format!("trees with paths of more than {MAX_LEVELS} nodes")));
        }
        reached = reached.iter().flat_map(|&state| states[state].children.map(at)).filter(inner).collect();
    }
    Ok(levels)
}

/// The tables of the states, as constants, and what they are compared as.
struct TreeTables {
    dtype: DType,
    features: LoweredValue,
    values: LoweredValue,
    children: [LoweredValue; 2],
    /// True if NaN follows the first branch, if it does anywhere.
    missing: Option<LoweredValue>,
    /// The tests that occur, and which one each state makes if there are several.
    tests: Vec<&'static str>,
    test: Option<LoweredValue>,
}

fn single(value: f64) -> f32 {
    nearest_f32(Number::Float(value))
}

impl TreeTables {
    fn of(l: &mut Lowering<'_>, states: &[TestState]) -> Result<TreeTables> {
        let numbers = || states.iter().map(|state| state.value);
        let exact = numbers().all(|value| value.is_nan() || f64::from(single(value)) == value);
        let dtype = if l.dtype_of(0)? == DType::F32 && exact { DType::F32 } else { DType::F64 };
        let values = if dtype == DType::F32 {
            Tensor::vector(&numbers().map(single).collect::<Vec<_>>())
        } else {
            Tensor::vector(&numbers().collect::<Vec<_>>())
        };
        let mut tests: Vec<&'static str> = Vec::new();
        for state in states {
            if state.mode.is_some() && !tests.contains(&state.test()) {
                tests.push(state.test());
            }
        }
        let mut list = |of: &dyn Fn(&TestState) -> usize| {
            let list: Vec<_> = states.iter().map(|state| i64_of(of(state))).collect();
            l.list(&list)
        };
        let number = |state: &TestState| tests.iter().position(|test| *test == state.test()).unwrap_or(0);
        Ok(TreeTables {
            dtype,
            features: list(&|state| state.feature)?,
            children: [list(&|state| at(state.children[0]))?, list(&|state| at(state.children[1]))?],
            test: if tests.len() > 1 { Some(list(&number)?) } else { None },
            values: l.constant(values)?,
            missing: if states.iter().any(|state| state.missing) {
                let missing: Vec<_> = states.iter().map(|state| Bool::from(state.missing)).collect();
                Some(l.constant(Tensor::from_vec(Shape::vector(missing.len()), missing)?)?)
            } else {
                None
            },
            tests,
        })
    }

    /// The states after those at an index for each sample and tree.
    fn descend(&self, l: &mut Lowering<'_>, at: LoweredValue, x: LoweredValue) -> Result<LoweredValue> {
        let value = l.apply("Gather", &[self.values, at], &[])?;
        let mut yes: Option<LoweredValue> = None;
        for (number, test) in self.tests.iter().enumerate() {
            let holds = l.apply(test, &[x, value], &[])?;
            yes = Some(match (yes, self.test) {
                (Some(before), Some(tests)) => {
                    let number = l.constant(Tensor::scalar(i64_of(number)))?;
                    let own = l.apply("Gather", &[tests, at], &[])?;
                    let own = l.apply("Equal", &[own, number], &[])?;
                    // ONNX Runtime has no Where of booleans.
                    let other = l.apply("Not", &[own], &[])?;
                    let holds = l.apply("And", &[own, holds], &[])?;
                    let before = l.apply("And", &[other, before], &[])?;
                    l.apply("Or", &[holds, before], &[])?
                }
                _ => holds,
            });
        }
        let mut yes = match yes {
            Some(yes) => yes,
            // Leaves alone are descended too, so that there is a row for each sample.
            None => l.apply("Equal", &[x, value], &[])?,
        };
        if let Some(missing) = self.missing {
            let nan = l.apply("IsNaN", &[x], &[])?;
            let missing = l.apply("Gather", &[missing, at], &[])?;
            let follows = l.apply("And", &[nan, missing], &[])?;
            yes = l.apply("Or", &[yes, follows], &[])?;
        }
        let [first, second] = self.children;
        let first = l.apply("Gather", &[first, at], &[])?;
        let second = l.apply("Gather", &[second, at], &[])?;
        l.apply("Where", &[yes, first, second], &[])
    }
}

/// The state that each tree ends in, a row for each sample.
fn ends(l: &mut Lowering<'_>, roots: &[usize], states: &[TestState]) -> Result<LoweredValue> {
    let (levels, tables) = (levels(roots, states)?, TreeTables::of(l, states)?);
    let mut x = matrix_of_samples(l)?;
    if l.dtype_of(0)? != tables.dtype {
        x = l.cast(x, tables.dtype)?;
    }
    let roots: Vec<_> = roots.iter().map(|&root| i64_of(root)).collect();
    let roots = l.list(&roots)?;
    let features = l.apply("Gather", &[tables.features, roots], &[])?;
    let columns = l.apply("Gather", &[x, features], &[int("axis", 1)])?;
    let mut at = tables.descend(l, roots, columns)?;
    for _ in 1..levels {
        let features = l.apply("Gather", &[tables.features, at], &[])?;
        let columns = l.apply("GatherElements", &[x, features], &[int("axis", 1)])?;
        at = tables.descend(l, at, columns)?;
    }
    Ok(at)
}

/// The weights that leaves give to targets, a row for each state, and which ones are given.
fn table(
    l: &mut Lowering<'_>,
    e: &Ensemble,
    states: &[TestState],
    targets: usize,
) -> Result<[LoweredValue; 2]> {
    let elements = product(states.len(), targets);
    if elements > MAX_WEIGHTS {
        return Err(unsupported(&format!("trees with a table of {elements} weights")));
    }
    let initial = match e.aggregate {
        Aggregate::Average | Aggregate::Sum => 0.0,
        Aggregate::Min => f64::INFINITY,
        Aggregate::Max => f64::NEG_INFINITY,
    };
    let mut weights = vec![initial; states.len() * targets];
    let mut given = vec![0f32; states.len() * targets];
    for leaf in 0..e.leaves.len() {
        for &(target, weight) in e.leaves.of(leaf) {
            let place = (e.nodes.len() + leaf) * targets + target;
            weights[place] = match e.aggregate {
                Aggregate::Average | Aggregate::Sum => weights[place] + weight,
                Aggregate::Min => weights[place].min(weight),
                Aggregate::Max => weights[place].max(weight),
            };
            given[place] = 1.0;
        }
    }
    let shape = || Shape::new([states.len(), targets]);
    Ok([l.constant(Tensor::from_vec(shape()?, weights)?)?, l.constant(Tensor::from_vec(shape()?, given)?)?])
}

/// The scores of the first targets, in float64, before base values are added.
fn scores(l: &mut Lowering<'_>, ensemble: &Ensemble, targets: usize) -> Result<LoweredValue> {
    if let Some(features) = l.dims_of(0)?.last().copied().flatten() {
        ensemble.check_features(features)?;
    }
    if ensemble.roots.is_empty() {
        return Err(unsupported("an ensemble without trees"));
    }
    let states = states(ensemble)?;
    let roots = ensemble.roots.iter().map(|&root| match root {
        Child::Node(node) => at(node),
        Child::Leaf(leaf) => ensemble.nodes.len() + at(leaf),
    });
    let at = ends(l, &roots.collect::<Vec<_>>(), &states)?;
    let [weights, given] = table(l, ensemble, &states, targets)?;
    let (weights, trees) = (l.apply("Gather", &[weights, at], &[])?, l.list(&[1])?);
    let reduction = match ensemble.aggregate {
        Aggregate::Average | Aggregate::Sum => "ReduceSum",
        Aggregate::Min => "ReduceMin",
        Aggregate::Max => "ReduceMax",
    };
    let scores = l.apply(reduction, &[weights, trees], &[int("keepdims", 0)])?;
    match ensemble.aggregate {
        Aggregate::Sum => Ok(scores),
        Aggregate::Average => {
            let count = l.constant(Tensor::scalar(float_of(ensemble.roots.len())))?;
            l.apply("Div", &[scores, count], &[])
        }
        // A target that no leaf is for has the score 0.
        Aggregate::Min | Aggregate::Max => {
            let given = l.apply("Gather", &[given, at], &[])?;
            let given = l.apply("ReduceMax", &[given, trees], &[int("keepdims", 0)])?;
            let (given, zero) = (l.cast(given, DType::Bool)?, l.constant(Tensor::scalar(0f64))?);
            l.apply("Where", &[given, scores, zero], &[])
        }
    }
}

fn based(l: &mut Lowering<'_>, scores: LoweredValue, base: &[f64]) -> Result<LoweredValue> {
    if base.is_empty() {
        return Ok(scores);
    }
    let base = l.constant(Tensor::vector(base))?;
    l.apply("Add", &[scores, base], &[])
}

fn regress_by(l: &mut Lowering<'_>, ensemble: &Ensemble, to: DType) -> Result<Vec<LoweredValue>> {
    let scores = scores(l, ensemble, ensemble.targets)?;
    let scores = based(l, scores, &ensemble.base)?;
    Ok(vec![transformed(l, scores, ensemble.transform, to)?])
}

/// `TreeEnsembleRegressor`: the aggregated weights of the leaves that each sample reaches.
pub fn regressor(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let ensemble = Ensemble::regressor(&l.attributes)?;
    regress_by(l, &ensemble, DType::F32)
}

/// `TreeEnsemble`: the aggregated weights of the leaves that each sample reaches, in the type of
/// the input.
pub fn ensemble(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let (ensemble, to) = (Ensemble::newest(&l.attributes)?, l.dtype_of(0)?);
    regress_by(l, &ensemble, to)
}

/// `TreeEnsembleClassifier`: the label of each sample, and scores of all classes.
pub fn classifier(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let ensemble = Ensemble::classifier(&l.attributes)?;
    let labels = Labels::of(&l.attributes, "classlabels_int64s")?;
    if !ensemble.binary {
        let scores = scores(l, &ensemble, ensemble.targets)?;
        let scores = based(l, scores, &ensemble.base)?;
        let class = l.apply("ArgMax", &[scores], &[int("axis", 1), int("keepdims", 0)])?;
        let class = labelled(l, &labels, class)?;
        return Ok(vec![class, transformed(l, scores, ensemble.transform, DType::F32)?]);
    }
    let score = scores(l, &ensemble, 1)?;
    let score = based(l, score, ensemble.base.last().map_or(&[], std::slice::from_ref))?;
    let probabilities = ensemble.positive;
    let class = class_of_one(l, score, if probabilities { 0.5 } else { 0.0 })?;
    let keeps = matches!(ensemble.transform, PostTransform::None | PostTransform::Probit);
    let other = if probabilities && keeps {
        let one = floats64(l, &[1.0])?;
        l.apply("Sub", &[one, score], &[])?
    } else {
        l.apply("Neg", &[score], &[])?
    };
    let scores = l.apply("Concat", &[other, score], &[int("axis", 1)])?;
    Ok(vec![labelled(l, &labels, class)?, transformed(l, scores, ensemble.transform, DType::F32)?])
}
