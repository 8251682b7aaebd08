//! The table of folding rules, and the rules that a call of folding applies.

/// Makes the table of rules of a file, a row each: level, name, the nodes that the rule looks at,
/// what it makes of one, and its pattern.
macro_rules! rules {
    ($table:ident: $($level:ident $name:literal $looks:expr => $apply:path, $pattern:literal;)*) => {
        pub(super) const $table: &[super::Rule] =
            &[$(super::local($name, super::Level::$level, $pattern, $looks, $apply)),*];
    };
}

mod attention;
mod convolutions;
mod exact;
mod fuse;
mod looked;
mod node_view;
mod normalizations;
mod reductions;
mod replacement;
mod sequences;
mod shapes;

use gradus_core::convert::usize_of_u32;
use gradus_core::graph::ValueId;
use gradus_core::{Error, Kind, Result};

use super::GraphFolder;
use super::scope::{FoldState, Read};
use crate::dim::Symbols;
pub(super) use exact::{fills, is_approximated, is_rounded_alike, order, zero_sum_of};
pub(super) use looked::Looked;
pub(super) use node_view::NodeView;
pub(super) use reductions::Reduction;
pub(super) use replacement::{Replacement, Source, beside_data};
pub(super) use shapes::{bounds, is_view};

/// How far folding may go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Only arithmetic on shapes: integers, and nodes that read them.
    Shapes,
    /// The results are the same bits wherever operators compute what the standard says, floats as
    /// IEEE 754 rounds them.
    #[default]
    Exact,
    /// The results may differ in the last bits of floats.
    Fuse,
}

gradus_core::names!(Level { Shapes = "shapes", Exact = "exact", Fuse = "fuse" });

impl std::str::FromStr for Level {
    type Err = Error;

    fn from_str(name: &str) -> Result<Level> {
        Level::ALL.into_iter().find(|level| level.name() == name).ok_or_else(|| {
            let known = Level::ALL.map(Level::name).join(", ");
            Error::mismatch(Kind::Usage, "folding level", format_args!("\"{name}\""), known)
        })
    }
}

/// A folding rule.
#[derive(Debug)]
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// The first level that applies it.
    pub level: Level,
    /// The nodes that it looks for, and their replacement.
    pub pattern: &'static str,
    /// The nodes that it looks at, and what it makes of one; none if it is a pass of its own.
    local: Option<(Looks, Apply)>,
}

/// Returns true if a rule looks at nodes of an operator.
type Looks = fn(&Looked<'_>) -> bool;

type Apply = fn(&NodeView<'_, '_>, &mut Symbols) -> Option<Change>;

/// The replacement of a node.
pub(super) enum Change {
    /// Outputs, by number, that are other values.
    Values(Vec<(usize, ValueId)>),
    /// Inputs that are replaced, by number.
    Inputs(Vec<(usize, Source)>),
    /// Another node of one output.
    Node(Replacement),
}

/// A rule that one function applies to a node.
const fn local(name: &'static str, level: Level, pattern: &'static str, looks: Looks, apply: Apply) -> Rule {
    Rule { name, level, pattern, local: Some((looks, apply)) }
}

/// A rule that is a pass of its own.
const fn pass(name: &'static str, level: Level, pattern: &'static str) -> Rule {
    Rule { name, level, pattern, local: None }
}

macro_rules! passes {
    ($($name:ident = $text:literal, $level:ident, $pattern:literal;)*) => {
        /// Rules that are passes of their own, by number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Pass { $($name),* }

        impl Pass {
            const ALL: &[Pass] = &[$(Pass::$name),*];
        }

        const PASSES: &[Rule] = &[$(pass($text, Level::$level, $pattern)),*];
    };
}

passes! {
    Integers = "known-integers", Shapes, "integers and shapes that are known -> constants";
    Targets = "shape-targets", Shapes,
        "the shape of Reshape and Expand, and bounds of Slice, with one unknown entry -> constants with 0, -1 or 1";
    EqualIntegers = "equal-integers", Shapes, "integers of equal symbolic elements -> one value";
    InputShapes = "input-shapes", Shapes, "sizes from shapes of several values -> from the shape of one input";
    Floats = "known-floats", Exact, "floats that are known, and rounded alike everywhere or exact -> constants";
    Settled = "settled-integers", Exact,
        "integers, roundings and comparisons of known floats that every rounding of these leaves the same -> constants";
    Views = "equal-views", Exact, "Reshape, Flatten, Squeeze, Unsqueeze to a shape that the data had -> that value";
    EqualConstants = "equal-constants", Exact,
        "a constant of the type, shape and bits of another of the graph, up to 1 MiB -> that one (ONNX)";
    EqualNodes = "equal-nodes", Exact, "an operator with the inputs and attributes of another node -> its outputs";
    Branches = "known-if", Exact, "If with a known condition -> the nodes of its branch";
    Loops = "single-loop", Exact,
        "Loop of one iteration, without concatenated outputs -> the nodes of its body";
    Unrolled = "unrolled-loops", Exact,
        "Loop, Scan of a known number of iterations, where that leaves no more nodes -> their nodes (ONNX)";
    Functions = "called-functions", Exact,
        "a function that is called once, or whose calls leave fewer nodes -> the nodes of its body (ONNX)";
    OutputNames = "output-names", Exact,
        "an output of the graph that equals the output of a node -> the node defines it";
    ReshapesAround = "reshapes-around", Exact,
        "Reshape(f(Reshape(x))) that returns to the shape of x, f operators of elements as Add, Mul, Relu, … -> f(x) (ONNX)";
    ReshapesAroundFunctions = "reshapes-around-functions", Exact,
        "Reshape(f(Reshape(x))) that returns to the shape of x, f also Erf, Exp, Pow, Tanh, …, each element at its place -> f(x) (ONNX)";
    TransposesAroundRegions = "transposes-around-regions", Exact,
        "Transpose(f(Transpose(a), Transpose(b), …)) that keep the order together, f ArgMax, Concat, Pad, QuantizeLinear, Slice, … and operators of elements as Add, Mul, Relu, … -> f(a, b, …) (ONNX)";
    TransposesAroundFunctionRegions = "transposes-around-function-regions", Fuse,
        "Transpose(f(Transpose(a), Transpose(b), …)) that keep the order together, f also Erf, Exp, Pow, ReduceMean, Softmax, Tanh, … -> f(a, b, …) (ONNX)";
    UnseenZeros = "unseen-zeros", Exact,
        "x + 0 whose readers do not tell -0 from 0, as Softmax, comparisons, and sums with a bias that has no -0 -> x (ONNX)";
    SlicesAsSplit = "slices-as-split", Exact,
        "Slices of one value that together are the value, along an axis of known size -> Split (ONNX)";
    JoinedProducts = "joined-products", Fuse,
        "MatMul of one value by three or more constant matrices -> MatMul, Split";
    Arithmetic = "float-arithmetic", Fuse, "floats that Gradus computes, whatever computes them -> constants";
}

/// The tables of rules.
const TABLES: [&[Rule]; 7] = [
    PASSES,
    exact::RULES,
    shapes::RULES,
    reductions::RULES,
    sequences::RULES,
    fuse::RULES,
    reductions::FUSED,
];

const _: () = {
    let (mut rules, mut table) = (0, 0);
    while table < TABLES.len() {
        rules += TABLES[table].len();
        table += 1;
    }
    assert!(rules <= 8 * size_of::<RuleSet>(), "a set has a bit for each rule");
};

/// All rules; those of a level in the order in which they are tried.
pub static RULES: std::sync::LazyLock<Vec<&'static Rule>> =
    std::sync::LazyLock::new(|| TABLES.iter().copied().flatten().collect());

/// Rules that compute weights.
const WEIGHING: [&str; 4] = ["known-floats", "float-arithmetic", "affine-into-conv", "joined-products"];

/// A set of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleSet(u128);

impl Default for RuleSet {
    fn default() -> Self {
        RuleSet::of(Level::default())
    }
}

impl RuleSet {
    /// The rules of a level, and of those before it.
    pub fn of(level: Level) -> RuleSet {
        let bits = RULES.iter().enumerate().filter(|(_, rule)| rule.level <= level);
        RuleSet(bits.fold(0, |set, (number, _)| set | 1 << number))
    }

    /// Adds the rule of that name.
    ///
    /// # Errors
    /// [`Kind::Usage`] if there is no such rule.
    pub fn with(self, name: &str) -> Result<RuleSet> {
        Ok(RuleSet(self.0 | RuleSet::bit(name)?))
    }

    /// Removes the rule of that name.
    ///
    /// # Errors
    /// [`Kind::Usage`] if there is no such rule.
    pub fn without(self, name: &str) -> Result<RuleSet> {
        Ok(RuleSet(self.0 & !RuleSet::bit(name)?))
    }

    /// Without the rules that compute weights: runtimes may pack those that are constants, and
    /// choose another kernel.
    #[must_use]
    pub fn keeping_weights(self) -> RuleSet {
        let computes_weights = |rule: &&Rule| WEIGHING.contains(&rule.name);
        let weighing = RULES.iter().enumerate().filter(|(_, rule)| computes_weights(rule));
        RuleSet(weighing.fold(self.0, |set, (number, _)| set & !(1 << number)))
    }

    /// Returns true if a rule of a level above `exact` is among these.
    pub fn may_change_floats(self) -> bool {
        self.0 & !RuleSet::of(Level::Exact).0 != 0
    }

    fn bit(name: &str) -> Result<u128> {
        let number = RULES.iter().position(|rule| rule.name == name);
        number.map(|number| 1 << number).ok_or_else(|| {
            let near = RULES.iter().map(|rule| rule.name).collect::<Vec<_>>().join(", ");
            Error::mismatch(Kind::Usage, "folding rule", format_args!("\"{name}\""), near)
        })
    }

    /// Returns true if a pass is among these.
    pub(super) fn has(self, pass: Pass) -> bool {
        Pass::ALL.iter().position(|other| *other == pass).is_some_and(|number| self.0 & (1 << number) != 0)
    }
}

/// Maximum number of changes of one node. Each change makes the node simpler, so that correct rules
/// never reach it.
const MAX_CHANGES: usize = 16;

/// Applies the rules to a node until none matches. Returns true if it changed. `replace` says that
/// nothing reads its outputs yet, so that these may be other values.
pub(super) fn apply(
    scope: &mut FoldState<'_>,
    folder: &mut GraphFolder<'_>,
    index: usize,
    replace: bool,
) -> bool {
    for count in 0..MAX_CHANGES {
        let Some(change) = change(scope, folder, index) else { return count > 0 };
        match change {
            Change::Values(_) if !replace => {
                folder.report.unsettled = true;
                return count > 0;
            }
            Change::Values(values) => {
                for (slot, other) in values {
                    if let Some(id) = scope.graph.nodes()[index].outputs[slot] {
                        scope.replace(folder, id, other);
                    }
                }
                return true;
            }
            Change::Inputs(inputs) => {
                for (input, source) in inputs {
                    scope.set_input(index, input, source);
                }
            }
            Change::Node(replacement) => {
                scope.set_replacement(index, replacement);
            }
        }
        // Another fold sees the nodes that this one makes; views and Transposes of what is not
        // constant are looked up among equal ones at once.
        let view = NodeView::new(scope, index);
        let only_moves = is_view(&view) || view.operator() == "Transpose";
        folder.report.unsettled |= !(replace && only_moves) || view.constant(0).is_some();
    }
    true
}

/// The first change of a node that can be made.
fn change(scope: &FoldState<'_>, folder: &mut GraphFolder<'_>, index: usize) -> Option<Change> {
    let view = NodeView::new(scope, index);
    let looking = match scope.replacement(index) {
        Some(replacement) => looking(&Looked::of_new(replacement.operator)),
        None => folder.looking[usize::from(scope.nodes[index].looking)],
    };
    let mut rest = scope.rules.0 & looking.0;
    while let Some(rule) = RULES.get(usize_of_u32(rest.trailing_zeros())) {
        rest &= rest - 1;
        if let Some((_, apply)) = rule.local
            && let Some(change) = apply(&view, &mut folder.symbols)
            && can_be_made(scope, folder, index, &change)
        {
            return Some(change);
        }
    }
    None
}

/// The rules of one node that look at an operator.
pub(super) fn looking(of: &Looked<'_>) -> RuleSet {
    let looks = |rule: &Rule| rule.local.is_some_and(|(looks, _)| looks(of));
    let found = RULES.iter().enumerate().filter(|(_, rule)| looks(rule));
    RuleSet(found.fold(0, |set, (number, _)| set | 1 << number))
}

fn can_be_made(scope: &FoldState<'_>, folder: &mut GraphFolder<'_>, index: usize, change: &Change) -> bool {
    let node = &scope.graph.nodes()[index];
    // A file may have nodes of more outputs than their operator.
    if let Change::Node(replacement) = change {
        let view = NodeView::new(scope, index);
        let alone = node.outputs.iter().skip(1).all(Option::is_none);
        if !alone || replacement.in_set(scope.opset, &view).is_err() {
            return false;
        }
    }
    let Change::Values(values) = change else {
        let own = |id: &ValueId| scope.values[id.index()].read == Read::Own;
        return node.outputs.iter().flatten().all(own);
    };
    values.iter().all(|&(slot, other)| {
        let output = node.outputs.get(slot).copied().flatten();
        output.is_some_and(|id| scope.is_replaceable(folder, id, other))
    })
}
