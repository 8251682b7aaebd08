//! Paddle's operators in those of ONNX that are not lowered: `if` and `while`.

use gradus_core::graph::{Graph, ValueId};
use gradus_core::{DType, Result};

use crate::conversion::caveats;
use crate::conversion::nested::nested;
use crate::conversion::node::ConvertContext;
use crate::conversion::report::cannot;
use crate::conversion::types::numbered;
use crate::conversion::writer::NewValue;

/// Writes Paddle's `if` as `If`.
pub fn branch(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let condition = cx.truth(0)?;
    let yes = nested(cx, "then_branch", &[])?;
    let no = nested(cx, "else_branch", &[])?;
    let outputs = cx.outputs();
    cx.put_many("If", &[condition], &[("then_branch", yes), ("else_branch", no)], outputs)
}

/// Writes Paddle's `while` as `Loop`.
pub fn repeat(cx: &mut ConvertContext<'_, '_>) -> Result<Vec<NewValue>> {
    let mut inputs = vec![cx.maybe(0)?, cx.truth(1)?];
    let (_, inner, number) = cx.graph("body")?;
    let facts = cx.scope.inner(cx.conversion, inner, cx.node, cx.index, number);
    for input in 2..cx.count() {
        let mut value = cx.input(input)?;
        let carried = inner.outputs().get(input - 1).map(|&id| facts.fact(id).dtype());
        if let (Ok(before), Some(Some(within))) = (cx.dtype(input), carried)
            && before != within
        {
            if inner.inputs().get(input).is_some_and(|&id| reads(inner, id)) {
                let why = format!("a loop reads a variable that is {before} before it and {within} in it");
                return Err(cannot(format!("cannot convert: {why}")));
            }
            cx.edges(caveats::OTHER_TYPE);
            value = cx.put("Cast", &[value], &[numbered("to", within)?])?;
        }
        inputs.push(value);
    }
    let body = nested(cx, "body", &[("run", DType::I64), ("goes_on", DType::Bool)])?;
    let outputs = cx.outputs();
    cx.put_many("Loop", &inputs, &[("body", body)], outputs)
}

/// Returns true if a node of the graph, or of one within it, reads the value.
fn reads(graph: &Graph, id: ValueId) -> bool {
    graph.nodes().iter().any(|node| {
        let captured =
            || node.graphs().any(|inner| inner.captures().iter().any(|capture| capture.outer == id));
        node.inputs.iter().flatten().any(|&input| input == id) || captured()
    })
}
