//! Operators of Paddle.
//!
//! Most are *lowered*: a node becomes a small graph of ONNX operators that mean the same, which is run and inferred in
//! its place, so that an operator is written once for all standards. A row is a name, its inputs, and the function that
//! writes the graph. Of their own are only sequences that ONNX does not have (`sequences.rs`), and what has the form of
//! ONNX's operators already: `if` and `while`.
//!
//! | file | operators |
//! |---|---|
//! | `create.rs` | `full`, `full_int_array`, `full_like`, `full_with_tensor`, `assign_value`, `shape`, `shape64`, `numel`, `cast`, `assign`, `fetch` |
//! | `moves.rs` | `concat`, `stack`, `split`, `slice`, `strided_slice`, `reshape`, `squeeze`, `unsqueeze`, `expand`, `tile`, `gather`, `transpose`, `where` and their like |
//! | `numbers.rs` | arithmetic, comparisons, functions of one tensor, reductions, `matmul` |
//! | `sequences.rs` | `linspace`, `logspace`, `arange` |
//!
//! Where PaddlePaddle computes something else than its texts say, the texts are followed;
//! `conformance/paddle.toml` lists where that shows.
//!
//! Sources: the texts of the Python API of PaddlePaddle 3.3, and results of the program.

mod create;
mod lowering;
mod moves;
mod numbers;
mod sequences;

use gradus_core::DType;

use crate::infer::{self, paddle};
use crate::op::Schema;
use crate::schema::{Arity, Param, Signature, Types, param};

/// Tensors of every type that Paddle has: what an operator does not admit is refused by those that it is lowered to.
#[rustfmt::skip]
const ANY: Types = Types::tensors(&[
    DType::Bool, DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32, DType::U64,
    DType::F16, DType::BF16, DType::F32, DType::F64, DType::F8E4M3FN, DType::F8E5M2, DType::C64, DType::C128,
]);

/// An input that must be there.
const fn one(name: &'static str) -> Param {
    param(name, "", ANY, Arity::One)
}

/// An input that may be missing.
const fn maybe(name: &'static str) -> Param {
    param(name, "", ANY, Arity::Optional)
}

/// Any number of inputs.
const fn many(name: &'static str) -> Param {
    param(name, "", ANY, Arity::Many { alike: false, least: 1 })
}

/// What an operator takes and gives.
const fn signature(name: &'static str, inputs: &'static [Param]) -> Signature {
    const OUT: &[Param] = &[param("out", "", ANY, Arity::Many { alike: false, least: 0 })];
    let since = gradus_formats::paddle::OPERATORS;
    Signature { domain: "", name, since, deprecated: false, inputs, outputs: OUT, attributes: &[] }
}

/// Rows of operators that are lowered: a name, its inputs, and the function that writes the graph.
macro_rules! rows {
    ($($name:literal [$($input:expr),*] $lower:expr;)*) => {
        pub(in crate::ops) const SCHEMAS: &[crate::op::Schema] = &[$(crate::op::Schema::paddle(
            const { &[super::signature($name, const { &[$($input),*] })] },
            |cx| super::lowering::build(cx, $lower),
        )),*];

        pub(in crate::ops) const RULES: &[crate::infer::Rules] =
            &[$(crate::infer::paddle(&[$name], |cx| super::lowering::rule(cx, $lower))),*];

        pub(super) const LOWERINGS: &[(&str, super::lowering::Lower)] = &[$(($name, $lower)),*];
    };
}
use rows;

/// The rows of all files.
pub(in crate::ops) const SCHEMAS: &[&[Schema]] =
    &[create::SCHEMAS, moves::SCHEMAS, numbers::SCHEMAS, sequences::SCHEMAS, BODIES];

/// The rules of inference of all files.
pub(in crate::ops) const RULES: &[&[infer::Rules]] =
    &[create::RULES, moves::RULES, numbers::RULES, sequences::RULES, BODY_RULES];

/// The functions that write the graphs of operators that are lowered.
fn lowering_of(operator: &str) -> Option<lowering::Lower> {
    let all = [create::LOWERINGS, moves::LOWERINGS, numbers::LOWERINGS, sequences::LOWERINGS];
    all.into_iter().flatten().find(|(name, _)| *name == operator).map(|(_, lower)| *lower)
}

/// Graphs of operators that are lowered, for whoever writes them down.
pub(crate) mod lowered {
    use gradus_core::graph::{Graph, Node};
    use gradus_core::{DType, Error, Kind, Result};

    use super::lowering::{self, Known};
    use crate::fact::Fact;

    /// Whether nodes of the operator stand for a graph.
    pub(crate) fn is_known(operator: &str) -> bool {
        super::lowering_of(operator).is_some()
    }

    /// The graph that a node stands for, from what is known of its inputs.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] if too little is known of them; whatever is wrong with the node.
    pub(crate) fn graph(node: &Node, inputs: &[Option<Fact>]) -> Result<Graph> {
        let lower = super::lowering_of(&node.operator.name);
        let lower = lower.ok_or_else(|| {
            Error::new(Kind::Unsupported, format!("operator {} stands for no graph", node.operator))
        })?;
        let known: Vec<_> = inputs.iter().map(|fact| fact.as_ref().map(Known::of_fact)).collect();
        lowering::graph(node, &known, lower)
    }

    /// The element type that an attribute names, or that of the first input.
    pub(crate) fn dtype(node: &Node, inputs: &[Option<Fact>]) -> Option<DType> {
        let named = match node.attribute("dtype") {
            Some(gradus_core::graph::Content::Bytes(text)) => {
                std::str::from_utf8(text).ok().and_then(|text| text.parse().ok())
            }
            _ => None,
        };
        named.or_else(|| inputs.first()?.as_ref()?.dtype())
    }
}

const BODIES: &[Schema] = &[
    Schema::paddle(&[signature("if", &[one("cond")])], super::branches::If::build),
    Schema::paddle(
        &[signature("while", &[maybe("most"), one("cond"), many("inputs")])],
        super::control::Loop::build,
    ),
];

const BODY_RULES: &[infer::Rules] =
    &[paddle(&["if"], super::bodies::branch), paddle(&["while"], super::bodies::repeat)];
