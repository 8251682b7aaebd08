//! Paddle programs: `.json` (PIR) or `.pdmodel` (protobuf), with the parameters in a `.pdiparams`
//! file.
//!
//! Both readers give a [`Model`](gradus_core::graph::Model) in the words of PIR, Paddle's present
//! form of programs:
//!
//! | in the file | in the model |
//! |---|---|
//! | `data`, `feed` | inputs |
//! | parameters | constants, read from the `.pdiparams` file when they are needed |
//! | `fetch` | outputs, in the order of their columns |
//! | a list of tensors: what `builtin.combine` makes and `builtin.split` takes apart | a value for each tensor |
//! | an input that stands for an attribute (the `axis` of `concat`), made by `full` | that attribute |
//! | `if`, `while` | nodes with graphs, in the form of ONNX's `If` and `Loop` |
//! | operators of `.pdmodel` | those of PIR, by the table in `names.rs`; others stay as they are |
//!
//! Sources: files that PaddlePaddle 3.3 writes; field numbers as its package describes them
//! (`fields.rs`).

mod attribute;
mod choices;
mod desc;
mod fields;
mod json;
mod names;
mod parameters;
mod pir;
mod types;

use gradus_core::error::Position;
use gradus_core::graph::{Attribute, Builder, Node, OperatorId, Slots};

pub use desc::read_desc;
pub use json::NEWEST_VERSION;
pub use pir::read_program;

/// The version of Paddle whose operators the nodes name.
pub const OPERATORS: i64 = 3;

/// A node of an operator, before it has outputs. Inputs are keys of the builder.
fn node(
    builder: &mut Builder,
    (domain, name): (&str, &str),
    inputs: &[Option<String>],
    attributes: Vec<Attribute>,
    position: Position,
) -> Node {
    Node {
        name: "".into(),
        operator: OperatorId {
            domain: builder.intern(domain),
            name: builder.intern(name),
            overload: builder.intern(""),
        },
        version: Some(OPERATORS),
        inputs: inputs.iter().map(|key| key.as_ref().map(|key| builder.reference(key))).collect(),
        outputs: Slots::new(),
        attributes,
        position: Some(position),
    }
}
