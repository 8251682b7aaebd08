//! Facts about operators that run graphs: If, Loop, Scan, `SequenceMap`.
//!
//! A body that runs many times is inferred for all its runs at once: values that are carried from
//! one run to the next start with what is known of them, and what a run changes is forgotten until
//! nothing changes any more (a dimension becomes a symbol). If a run adds the same to a dimension
//! or a number each time, the last value is the first plus that many times the number of runs;
//! where the condition compares such numbers, they tell the number of runs (`counted.rs`). A loop
//! that is known to end after few runs is unrolled as well, which tells more.
//!
//! | operator | outputs |
//! |---|---|
//! | `If` | the branch that a known condition selects; otherwise what both branches say |
//! | `Loop` | carried values; scans, with the number of runs before their dimensions: `M` if the condition is known to hold, otherwise at most `M` |
//! | `Scan` | carried values; scans, with the dimension of the scanned inputs |
//! | `SequenceMap` | lists as long as the first |

use std::ops::Range;
use std::sync::Arc;

use gradus_core::DType;
use gradus_core::convert::{small_u32, usize_of_i64};

use crate::control_flow::counted::{Counters, number_of_iterations};
use crate::control_flow::eval::lists_of_scan;
use crate::control_flow::loops::lead_rank;
use crate::dim::{Bounds, Condition, Dim, Relation, Symbols};
use crate::errors;
use crate::fact::{Dims, Elements, Fact, SequenceFact, TensorFact};
use crate::indices;
use crate::infer::{InferContext, InferError, InferResult, Visit};
use crate::normalize::Older;

/// Maximum number of runs of a loop that is unrolled.
const MAX_RUNS: i64 = 256;

/// Maximum number of rounds until nothing changes: facts only ever say less, so fewer are enough
/// unless ranks are large.
const MAX_ROUNDS: usize = 64;

/// A value that is carried from one run of a body to the next.
pub struct Carried {
    /// Facts about it before any run.
    pub first: Fact,
    /// Facts about it before every run.
    pub every: Fact,
    /// Facts about it after every run.
    pub next: Fact,
}

/// Facts about all runs of a body.
pub struct Runs {
    pub carried: Vec<Carried>,
    /// All outputs of the body.
    pub outputs: Vec<Fact>,
    /// The conditions that the body noted, by their indices.
    pub noted: Range<usize>,
}

/// The condition that a body runs as often as a number says.
pub fn runs_at_all(cx: &mut InferContext<'_, '_>, count: Dim) -> Condition {
    cx.symbols().shortest(Condition::new(count, Relation::AtLeast, Dim::ONE))
}

/// The condition that a loop is in the iteration with an index: it stands for the one that there is
/// an iteration, until `Counters::settle`.
pub fn in_iteration(index: Dim) -> Condition {
    Condition::new(index, Relation::AtLeast, Dim::ZERO)
}

/// Infers a body for all its runs at once: on the inputs that are arranged around the carried
/// values, of which these outputs are the next. It runs under a
/// condition, if that is known; symbols from `own` on are the loop's.
pub fn all_runs(
    cx: &mut InferContext<'_, '_>,
    first: Vec<Fact>,
    arranged: &dyn Fn(&[Fact]) -> Vec<Fact>,
    carried: &[usize],
    (runs, own): (Option<Condition>, u32),
) -> Result<Runs, InferError> {
    let from = cx.noted();
    let found = rounds(cx, first, arranged, carried, (runs, own));
    if found.is_err() {
        let noted = from..cx.noted();
        Counters::default().settle(cx, noted, None, [None; 2]);
    }
    found
}

/// Leaves out conditions that a body noted, as each of its iterations is visited on its own.
pub fn forget(cx: &mut InferContext<'_, '_>, noted: Range<usize>) {
    cx.settle(noted, true, &mut |_, _| None, &mut |_, _| None);
}

/// Leaves out conditions of the first iteration that name its index: they are said of any with the
/// carried values that every iteration has.
fn keep_of_first(cx: &mut InferContext<'_, '_>, noted: Range<usize>, runs: Option<Condition>, mark: u32) {
    let never = runs.and_then(|runs| cx.symbols().opposite(&runs));
    let is_told = |symbols: &Symbols, of: &Condition| {
        [runs, never].contains(&Some(*of))
            || ![of.left, of.right].iter().any(|&dim| symbols.is_newer(dim, mark))
    };
    let mut guarded = |symbols: &mut Symbols, of: &Condition| is_told(symbols, of).then_some(*of);
    let mut holds = |symbols: &mut Symbols, of: &Condition| is_told(symbols, of).then(|| vec![*of]);
    cx.settle(noted, true, &mut guarded, &mut holds);
}

fn rounds(
    cx: &mut InferContext<'_, '_>,
    first: Vec<Fact>,
    arranged: &dyn Fn(&[Fact]) -> Vec<Fact>,
    carried: &[usize],
    (runs, own): (Option<Condition>, u32),
) -> Result<Runs, InferError> {
    let mark = small_u32(cx.symbols().symbols().len());
    let mut every = first.clone();
    let from = cx.noted();
    let mut second = from;
    let mut after_first: Option<(Vec<Fact>, Vec<Fact>)> = None;
    let mut of_others: Option<Vec<Fact>> = None;
    for round in 0..MAX_ROUNDS {
        // The first round is the first iteration, and the last is any. Those between are none.
        let now = cx.noted();
        if round == 1 {
            keep_of_first(cx, from..now, runs, own);
            second = cx.noted();
            if let Some((outputs, next)) = after_first.take() {
                of_others = later_outputs(cx, arranged(&next), &outputs, runs)?;
            }
        } else if round > 1 {
            forget(cx, second..now);
        }
        let inputs = arranged(&every);
        let outputs = cx.inner("body", inputs, Visit::Perhaps(runs))?;
        let next = carried.iter().map(|&output| outputs.get(output).cloned()).collect::<Option<Vec<_>>>();
        let next = next.ok_or_else(|| {
            let (count, wanted) = (outputs.len(), carried.iter().max().map_or(0, |most| most + 1));
            errors::count("outputs of the body", count, format_args!("at least {wanted}"))
        })?;
        let mut changed = false;
        for (fact, next) in every.iter_mut().zip(&next) {
            let wider = widened(cx, fact, next, mark);
            changed |= wider != *fact;
            *fact = wider;
        }
        if !changed {
            let carried = first.into_iter().zip(every).zip(next);
            let carried = carried.map(|((first, every), next)| Carried { first, every, next }).collect();
            if of_others.is_some() {
                let now = cx.noted();
                forget(cx, second..now);
            }
            let outputs = of_others.unwrap_or(outputs);
            return Ok(Runs { carried, outputs, noted: from..cx.noted() });
        }
        if round == 0 && first.iter().zip(&next).all(|(before, after)| differ_in_shape_alone(before, after)) {
            after_first = Some((outputs, next));
        }
    }
    Err(InferError::unknown("loop-carried shapes did not reach a fixed point"))
}

/// Returns true if two facts are equal, or say different shapes of elements that are not known.
fn differ_in_shape_alone(before: &Fact, after: &Fact) -> bool {
    let has_no_elements =
        |fact: &Fact| fact.as_tensor().is_some_and(|fact| fact.elements == Elements::Unknown);
    before == after || has_no_elements(before) && has_no_elements(after)
}

/// The outputs of all iterations, if the second has those of the first and no other condition: the
/// shapes of carried values change in the first alone, as those of a sum that broadcasts.
fn later_outputs(
    cx: &mut InferContext<'_, '_>,
    inputs: Vec<Fact>,
    of_first: &[Fact],
    runs: Option<Condition>,
) -> Result<Option<Vec<Fact>>, InferError> {
    let from = cx.noted();
    let outputs = cx.inner("body", inputs, Visit::Perhaps(runs))?;
    let now = cx.noted();
    forget(cx, from..now);
    Ok((now == from && *outputs == *of_first).then_some(outputs))
}

/// Infers the first run of a body that is known to run: its nodes' conditions are those of the node
/// around it.
pub fn first_run(cx: &mut InferContext<'_, '_>, inputs: Vec<Fact>) -> Result<(), InferError> {
    let nodes = cx.graph("body")?.nodes().len();
    if cx.spend(nodes.max(1)) {
        cx.inner("body", inputs, Visit::Again)?;
    }
    Ok(())
}

/// The facts about a carried value before and after an iteration; symbols from the mark on are this
/// loop's own.
pub fn widened(cx: &mut InferContext<'_, '_>, fact: &Fact, next: &Fact, mark: u32) -> Fact {
    let kept = |cx: &mut InferContext<'_, '_>, before: Dim, after: Dim, bounds: Bounds| {
        let own = cx.symbols().as_symbol_index(before).is_some_and(|index| index >= mark);
        if before == after || own { before } else { cx.data("loop-carried value", bounds) }
    };
    match (fact, next) {
        (before, after) if before == after => before.clone(),
        (Fact::Tensor(before), Fact::Tensor(after)) => {
            let dims = before.dims.as_ref().zip(after.dims.as_ref()).filter(|(a, b)| a.len() == b.len());
            let dims: Option<Dims> = dims
                .map(|(a, b)| a.iter().zip(b.iter()).map(|(&a, &b)| kept(cx, a, b, Bounds::SIZE)).collect());
            let elements = match (&before.elements, &after.elements) {
                (a, b) if a == b => a.clone(),
                (Elements::Integers(a), Elements::Integers(b)) if a.len() == b.len() && a.len() <= 8 => {
                    Elements::Integers(
                        a.iter().zip(b.iter()).map(|(&a, &b)| kept(cx, a, b, Bounds::ANY)).collect(),
                    )
                }
                _ => Elements::Unknown,
            };
            let elements = if dims == before.dims { elements } else { Elements::Unknown };
            Fact::Tensor(TensorFact {
                dtype: before.dtype.filter(|_| before.dtype == after.dtype),
                dims,
                elements,
            })
        }
        (Fact::Sequence(before), Fact::Sequence(after)) => {
            // For an empty list there is nothing that its items could contradict.
            let each = if before.len == Dim::ZERO {
                after.each.clone()
            } else {
                widened(cx, &before.each, &after.each, mark)
            };
            let len = kept(cx, before.len, after.len, Bounds::SIZE);
            Fact::Sequence(Arc::new(SequenceFact { each, len, items: None }))
        }
        (Fact::Optional(before), Fact::Optional(after)) => {
            let value = widened(cx, &before.value, &after.value, mark);
            let present = before.present.filter(|_| before.present == after.present);
            Fact::Optional(Arc::new(crate::fact::OptionalFact { value, present }))
        }
        _ => Fact::Unknown,
    }
}

/// Facts about a carried value after the last of `runs` runs.
pub fn last(
    cx: &mut InferContext<'_, '_>,
    carried: &Carried,
    runs: Option<Dim>,
    counters: &Counters,
    mark: u32,
) -> Fact {
    let settled =
        |cx: &mut InferContext<'_, '_>, first: Option<Dim>, every: Dim, next: Option<Dim>, bounds: Bounds| {
            if !cx.symbols().is_newer(every, mark) {
                return every;
            }
            let all = first.zip(next).zip(runs);
            all.and_then(|((first, next), runs)| counters.after(cx.symbols(), [first, every, next], runs))
                .unwrap_or_else(|| cx.data("number of iterations and loop-carried values", bounds))
        };
    match (&carried.first, &carried.every, &carried.next) {
        (Fact::Tensor(first), Fact::Tensor(every), Fact::Tensor(next)) => {
            let at =
                |dims: &Option<Dims>, axis: usize| dims.as_ref().and_then(|dims| dims.get(axis).copied());
            let dims = every.dims.as_ref().map(|dims| {
                let dim = |(axis, &every): (usize, &Dim)| {
                    settled(cx, at(&first.dims, axis), every, at(&next.dims, axis), Bounds::SIZE)
                };
                dims.iter().enumerate().map(dim).collect()
            });
            let list = |fact: &TensorFact| match &fact.elements {
                Elements::Integers(all) => Some(all.clone()),
                _ => None,
            };
            let elements = match list(every) {
                Some(all) => {
                    let (first, next) = (list(first), list(next));
                    let element = |(i, &every): (usize, &Dim)| {
                        settled(cx, at(&first, i), every, at(&next, i), Bounds::ANY)
                    };
                    Elements::Integers(all.iter().enumerate().map(element).collect())
                }
                // Values that never change keep their facts.
                None if carried.every == carried.first => every.elements.clone(),
                None => Elements::Unknown,
            };
            Fact::Tensor(TensorFact { dtype: every.dtype, dims, elements })
        }
        (Fact::Sequence(first), Fact::Sequence(every), Fact::Sequence(next)) => {
            let each = outside(cx, &every.each, mark);
            let len = settled(cx, Some(first.len), every.len, Some(next.len), Bounds::SIZE);
            let items = every.items.clone().filter(|_| carried.every == carried.first);
            Fact::Sequence(Arc::new(SequenceFact { each, len, items }))
        }
        (_, every, _) => outside(cx, every, mark),
    }
}

/// Describes what a body says of one run, said of any: its own symbols mean nothing outside.
pub fn outside(cx: &mut InferContext<'_, '_>, fact: &Fact, mark: u32) -> Fact {
    match fact {
        Fact::Tensor(fact) => {
            let dims = fact.dims.as_ref().map(|dims| {
                let dim = |&dim: &Dim| {
                    let newer = cx.symbols().is_newer(dim, mark);
                    if newer { cx.data("outputs of the iterations of a loop", Bounds::SIZE) } else { dim }
                };
                dims.iter().map(dim).collect()
            });
            Fact::Tensor(TensorFact::new(fact.dtype, dims))
        }
        Fact::Sequence(fact) => {
            let each = outside(cx, &fact.each, mark);
            let newer = cx.symbols().is_newer(fact.len, mark);
            let len =
                if newer { cx.data("outputs of the iterations of a loop", Bounds::SIZE) } else { fact.len };
            Fact::Sequence(Arc::new(SequenceFact { each, len, items: None }))
        }
        Fact::Optional(fact) => {
            let value = outside(cx, &fact.value, mark);
            Fact::Optional(Arc::new(crate::fact::OptionalFact { value, present: fact.present }))
        }
        Fact::Map(..) | Fact::Unknown => fact.clone(),
    }
}

/// Returns a scan: the outputs of the iterations, stacked along an axis.
pub fn stacked(fact: &Fact, runs: Dim, axis: i64) -> Result<Fact, InferError> {
    let Fact::Tensor(TensorFact { dtype, dims, .. }) = fact else {
        return Ok(Fact::tensor_type(fact.dtype()));
    };
    let Some(dims) = dims else { return Ok(Fact::tensor_type(*dtype)) };
    let axis = indices::axis(axis, dims.len() + 1)?;
    let mut all = dims.to_vec();
    all.insert(axis, runs);
    Ok(Fact::Tensor(TensorFact::new(*dtype, Some(all.into()))))
}

/// Facts of `Loop`: final carried values, and outputs stacked over the iterations.
pub fn repeat(cx: &mut InferContext<'_, '_>) -> InferResult {
    let carried = cx.count().saturating_sub(2);
    let first: Vec<_> = (0..carried).map(|i| cx.read_fact(2 + i)).collect();
    let most = if cx.has(0) { cx.integer(0) } else { None };
    let condition = if cx.has(1) { cx.integer(1) } else { Some(Dim::ONE) };
    let enters = condition.and_then(Dim::known);
    let mark = small_u32(cx.symbols().symbols().len());
    let number = Bounds::between(
        Some(0),
        most.and_then(|most| cx.symbols().bounds(most).upper()).map(|most| most.max(1) - 1),
    );
    let iteration = cx.data("index of the iteration", number);
    let lead = lead_facts(cx, iteration)?;
    let arranged = |every: &[Fact]| lead.iter().chain(every).cloned().collect();
    let places: Vec<_> = (1..=carried).collect();
    let limit = most.filter(|_| enters.is_some_and(|enters| enters != 0));
    let in_body = Some(in_iteration(iteration));
    let runs = all_runs(cx, first.clone(), &arranged, &places, (in_body, mark))?;
    let noted = runs.noted.clone();
    let next_condition = match &runs.outputs[0] {
        Fact::Tensor(TensorFact { elements: Elements::Integers(all), .. }) => all.first().copied(),
        _ => None,
    };
    let goes_on = next_condition.and_then(Dim::known);
    let conditional = goes_on.is_none_or(|goes_on| goes_on == 0);
    if let Some((count, unrolled)) = unrolled(cx, &first, most, enters, conditional) {
        forget(cx, noted);
        cx.note_runs("body", Dim::Known(count), mark)?;
        return Ok(unrolled);
    }
    let most = most.map(|most| cx.max(most, Dim::ZERO));
    let counters = Counters::of(cx.symbols(), &runs.carried, Some(iteration), mark);
    let count = match (enters, goes_on, most) {
        (Some(0), ..) => Some(Dim::ZERO),
        (Some(_), Some(0), Some(most)) => Some(cx.min(most, Dim::ONE)),
        (Some(_), Some(0), None) if !cx.has(0) => Some(Dim::ONE),
        (Some(_), Some(_), most) => most,
        _ if cx.has(0) && most.is_none() => None,
        _ => number_of_iterations(cx, &counters, [condition, next_condition], most),
    };
    counters.settle(cx, noted, in_body, [count, limit]);
    if enters.is_some_and(|enters| enters != 0)
        && (!cx.has(0) || most.is_some_and(|most| cx.symbols().at_least(most, 1)))
    {
        let mut inputs = lead_facts(cx, Dim::ZERO)?.to_vec();
        inputs.extend(first);
        first_run(cx, inputs)?;
    }
    let most = most.and_then(|most| cx.symbols().bounds(most).upper());
    let shown = count.unwrap_or_else(|| cx.data("number of iterations", Bounds::between(Some(0), most)));
    cx.note_runs("body", shown, mark)?;
    let after = |carried| last(cx, carried, count, &counters, mark);
    let mut facts: Vec<_> = runs.carried.iter().map(after).collect();
    for fact in &runs.outputs[1 + carried..] {
        let listed = counters.listed(cx.symbols(), fact);
        let fact = outside(cx, fact, mark);
        let mut stacked = stacked(&fact, shown, 0)?;
        if let (Fact::Tensor(fact), Some(listed)) = (&mut stacked, listed) {
            fact.elements = listed;
        }
        facts.push(stacked);
    }
    Ok(facts)
}

/// Facts about the number of an iteration and the condition, which holds in every iteration.
fn lead_facts(cx: &mut InferContext<'_, '_>, number: Dim) -> Result<[Fact; 2], InferError> {
    let body = cx.graph("body")?;
    let [number_dims, condition_dims] = [0, 1].map(|input| vec![Dim::ONE; lead_rank(body, input)]);
    Ok([
        cx.integers_fact(DType::I64, number_dims, [number]),
        cx.integers_fact(DType::Bool, condition_dims, [Dim::ONE]),
    ])
}

/// Runs the loop run by run on facts, if it is known when it ends and that is soon: the number of
/// runs, and facts about the outputs.
fn unrolled(
    cx: &mut InferContext<'_, '_>,
    first: &[Fact],
    most: Option<Dim>,
    enters: Option<i64>,
    conditional: bool,
) -> Option<(i64, Vec<Fact>)> {
    let most = match (cx.has(0), most) {
        (false, _) => MAX_RUNS + 1,
        (true, Some(Dim::Known(most))) => most.max(0),
        _ => return None,
    };
    // Few runs, if the condition always holds; others may end early.
    if !conditional && most > MAX_RUNS {
        return None;
    }
    let nodes = cx.graph("body").ok()?.nodes().len();
    let mut goes_on = enters? != 0;
    let mut state = first.to_vec();
    let mut rows: Vec<Vec<Fact>> = Vec::new();
    let mut run = 0;
    while goes_on && run < most {
        if run >= MAX_RUNS || !cx.spend(nodes.max(1)) {
            return None;
        }
        let mut inputs = lead_facts(cx, Dim::Known(run)).ok()?.to_vec();
        inputs.append(&mut state);
        let mut outputs = cx.inner("body", inputs, Visit::Again).ok()?.into_iter();
        let condition = outputs.next()?;
        let Fact::Tensor(TensorFact { elements: Elements::Integers(all), .. }) = &condition else {
            return None;
        };
        goes_on = all.first()?.known()? != 0;
        state = outputs.by_ref().take(first.len()).collect();
        rows.push(outputs.collect());
        run += 1;
    }
    let (row, others) = rows.split_first()?;
    let mut scans = row.iter().cloned().map(Fact::without_elements).collect::<Vec<_>>();
    for other in others {
        for (scan, next) in scans.iter_mut().zip(other) {
            *scan = cx.join(scan, &next.clone().without_elements(), "the iterations of a loop differ");
        }
    }
    let stacked =
        scans.iter().map(|fact| stacked(fact, Dim::Known(run), 0).ok()).collect::<Option<Vec<_>>>()?;
    Some((run, state.into_iter().chain(stacked).collect()))
}

/// Facts of `Scan`: final states, and outputs stacked over the iterations.
pub fn scan(cx: &mut InferContext<'_, '_>) -> InferResult {
    let batched = cx.attributes.form().is(Older::Batch);
    let skipped = usize::from(batched);
    let scanned = cx.attributes.int("num_scan_inputs")?.and_then(usize_of_i64).unwrap_or(0);
    lists_of_scan(&cx.attributes, scanned)?;
    let given = cx.count().saturating_sub(skipped);
    let carried = given.checked_sub(scanned).ok_or_else(|| errors::scanned(given, scanned))?;
    let axis_of = |cx: &InferContext<'_, '_>, name: &str, index: usize| -> Result<i64, InferError> {
        Ok(cx.attributes.ints(name)?.and_then(|axes| axes.get(index).copied()).unwrap_or(0))
    };
    let mark = small_u32(cx.symbols().symbols().len());
    let mut batch = None;
    let mut runs: Option<Dim> = None;
    let mut first = Vec::new();
    let mut tail = Vec::new();
    for input in 0..carried + scanned {
        let fact = cx.read_fact(input + skipped);
        let Fact::Tensor(TensorFact { dtype, dims: Some(dims), .. }) = &fact else {
            if input >= carried {
                return Err(InferError::input(input + skipped, "has unknown rank"));
            }
            first.push(fact.without_elements());
            continue;
        };
        let mut left = dims.to_vec();
        if batched && !left.is_empty() {
            batch = Some(left.remove(0));
        }
        if input < carried {
            let fact = if batched { Fact::Tensor(TensorFact::new(*dtype, Some(left.into()))) } else { fact };
            first.push(fact);
            continue;
        }
        let axis = indices::axis(axis_of(cx, "scan_input_axes", input - carried)?, left.len())?;
        let len = left.remove(axis);
        runs = Some(match runs {
            Some(before) => cx.equal(before, len, errors::SCANNED)?,
            None => len,
        });
        tail.push(Fact::Tensor(TensorFact::new(*dtype, Some(left.into()))));
    }
    let arranged = |every: &[Fact]| every.iter().chain(&tail).cloned().collect();
    let places: Vec<_> = (0..carried).collect();
    let in_body = runs.filter(|_| batch.is_none()).map(|count| runs_at_all(cx, count));
    let all = all_runs(cx, first.clone(), &arranged, &places, (in_body, mark))?;
    let count = runs.unwrap_or(Dim::ZERO);
    let counters = Counters::of(cx.symbols(), &all.carried, None, mark);
    counters.settle(cx, all.noted.clone(), None, [Some(count); 2]);
    if cx.symbols().at_least(count, 1) && batch.is_none_or(|batch| cx.symbols().at_least(batch, 1)) {
        first_run(cx, arranged(&first))?;
    }
    // The shape of what is stacked is that of an iteration's.
    if all.outputs.len() > carried {
        let least = batch.map_or(Dim::ONE, |batch| cx.min(batch, Dim::ONE));
        cx.require(count, Relation::AtLeast, least);
    }
    let times = cx.multiply(batch.unwrap_or(Dim::ONE), count);
    cx.note_runs("body", times, mark)?;
    let with_batch = |fact: Fact| match (batch, fact) {
        (Some(batch), Fact::Tensor(TensorFact { dtype, dims: Some(dims), .. })) => {
            let dims: Vec<_> = std::iter::once(batch).chain(dims.iter().copied()).collect();
            Fact::Tensor(TensorFact::new(dtype, Some(dims.into())))
        }
        (_, fact) => fact,
    };
    let mut facts = Vec::new();
    for value in &all.carried {
        let fact = last(cx, value, Some(count), &counters, mark);
        facts.push(with_batch(fact));
    }
    for (index, fact) in all.outputs[carried..].iter().enumerate() {
        let axis = axis_of(cx, "scan_output_axes", index)?;
        let fact = outside(cx, fact, mark);
        let fact = stacked(&fact, count, axis)?;
        facts.push(with_batch(fact));
    }
    Ok(facts)
}

/// Facts of `SequenceMap`: sequences as long as the first input, of the items that the body
/// returns.
pub fn sequence_map(cx: &mut InferContext<'_, '_>) -> InferResult {
    let Fact::Sequence(list) = cx.fact(0).clone() else {
        return Err(InferError::input(0, "is an unknown sequence"));
    };
    for input in 1..cx.count() {
        if let Fact::Sequence(other) = cx.fact(input).clone() {
            cx.equal(other.len, list.len, "number of items of a sequence")?;
        }
    }
    let mark = small_u32(cx.symbols().symbols().len());
    let inputs: Vec<_> = (0..cx.count()).map(|input| cx.read_fact(input)).collect();
    let each = inputs.iter().map(|fact| match fact {
        Fact::Sequence(list) => list.each.clone(),
        other => other.clone(),
    });
    let each = each.collect();
    let outputs = cx.inner("body", each, Visit::Perhaps(None))?;
    cx.note_runs("body", list.len, mark)?;
    let mut items: Option<Vec<Vec<Fact>>> = Some(Vec::new());
    let nodes = cx.graph("body")?.nodes().len();
    for i in 0..list.items.as_ref().map_or(0, Vec::len) {
        let item = inputs.iter().map(|fact| match fact {
            Fact::Sequence(list) => {
                list.items.as_ref().and_then(|items| items.get(i)).cloned().unwrap_or_default()
            }
            other => other.clone(),
        });
        let item = item.collect();
        if !cx.spend(nodes.max(1)) {
            items = None;
            break;
        }
        let row = cx.inner("body", item, Visit::Again)?;
        items = items.map(|mut items| {
            items.push(row);
            items
        });
    }
    let items = items.filter(|items| list.items.is_some() && Dim::from(items.len()) == list.len);
    let facts = outputs.iter().enumerate().map(|(output, fact)| {
        let each = outside(cx, fact, mark);
        let items =
            items.as_ref().map(|items| items.iter().filter_map(|row| row.get(output).cloned()).collect());
        Fact::Sequence(Arc::new(SequenceFact { each, len: list.len, items }))
    });
    Ok(facts.collect())
}
