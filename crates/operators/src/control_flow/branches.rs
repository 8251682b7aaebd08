//! Facts about operators of two branches, one of which runs.

use crate::dim::{Condition, Dim};
use crate::infer::{InferContext, InferResult, Visit};

/// Facts of `If`.
pub fn onnx_if(cx: &mut InferContext<'_, '_>) -> InferResult {
    branches(cx, ["then_branch", "else_branch"], |cx, name, how| cx.inner(name, Vec::new(), how))
}

/// Facts of an operator of two branches, whose graphs have these names: those of the chosen branch,
/// or what both branches share. `visit` infers a branch.
pub fn branches(
    cx: &mut InferContext<'_, '_>,
    [on_true, on_false]: [&str; 2],
    visit: impl Fn(&mut InferContext<'_, '_>, &str, Visit) -> InferResult,
) -> InferResult {
    let truth = cx.integer(0);
    let (chosen, other) = match truth.and_then(Dim::known) {
        Some(0) => (on_false, Some(on_true)),
        Some(_) => (on_true, Some(on_false)),
        None => (on_true, None),
    };
    let how = if other.is_none() { Visit::Perhaps(guard(cx, truth, true)) } else { Visit::Certain };
    let first = visit(cx, chosen, how)?;
    if let Some(other) = other {
        cx.note_runs(chosen, Dim::ONE, u32::MAX)?;
        cx.note_runs(other, Dim::ZERO, u32::MAX)?;
        // For the report only.
        let _ = visit(cx, other, Visit::Never);
        return Ok(first);
    }
    cx.note_runs(on_true, None, u32::MAX)?;
    cx.note_runs(on_false, None, u32::MAX)?;
    let how = Visit::Perhaps(guard(cx, truth, false));
    let second = visit(cx, on_false, how)?;
    let both = first.iter().zip(&second);
    Ok(both.map(|(a, b)| cx.join_by(truth, a, b, "the branches differ")).collect())
}

/// The condition of sizes, or of elements of inputs, under which a truth value is true, or false.
fn guard(cx: &mut InferContext<'_, '_>, truth: Option<Dim>, holds: bool) -> Option<Condition> {
    let symbols = cx.symbols();
    let condition = symbols.condition_if(truth?)?;
    let condition = if holds { condition } else { symbols.opposite(&condition)? };
    let condition = symbols.shortest(condition);
    (cx.is_told(condition.left) && cx.is_told(condition.right)).then_some(condition)
}
