//! Sequences become the values that they consist of, the slices of a tensor, or its parts.

use super::*;

#[test]
fn items_of_sequences_become_values() {
    let x = floats(&mut fastrand::Rng::with_seed(3), &[2, 5, 3]);
    for (sizes, position) in [("sizes = [1, 4]", 1), ("sizes = 2", -1), ("", 3), ("", -2)] {
        for keeps in [0, 1] {
            let keys = if sizes.is_empty() { "x" } else { "x, sizes" };
            let text = format!(
                "{sizes}; at = {position}; parts = SplitToSequence({keys}, axis=1, keepdims={keeps});
                 y = SequenceAt(parts, at); return y"
            );
            let (model, inputs) = model(&x, sizes.is_empty(), &text);
            there_and_back(&format!("item {position} of {sizes:?}"), &model, &inputs);
        }
    }
}

#[test]
fn sequences_are_changed_and_put_together() {
    let x = floats(&mut fastrand::Rng::with_seed(4), &[2, 3]);
    for (new, axis) in [(0, 1), (0, -2), (1, 0), (1, -1), (1, 1)] {
        let text = format!(
            "first = 0; n = Neg(x); a = SequenceConstruct(x, n, n); b = SequenceErase(a);
             c = SequenceInsert(b, n, first); y = ConcatFromSequence(c, axis={axis}, new_axis={new});
             return y"
        );
        let (model, inputs) = model(&x, false, &text);
        there_and_back(&format!("new_axis={new} axis={axis}"), &model, &inputs);
    }
    let (model, inputs) =
        model(&x, true, "rows = SplitToSequence(x, axis=1); y = SequenceLength(rows); return y");
    there_and_back("a length", &model, &inputs);
}

/// A loop that appends its state, doubled, to a sequence; `position` inserts at the front.
fn appending(new: i64, axis: i64, front: bool) -> (Model, Values) {
    let position = if front { ", i" } else { "" };
    let body = body(
        "h: float32[2, 3]; list: sequence of float32[2, 3]",
        &format!("h_out = Add(h, h); list_out = SequenceInsert(list, h_out{position})"),
        "h_out, list_out",
    );
    let x = floats(&mut fastrand::Rng::with_seed(5), &[2, 3]);
    let text = format!(
        "runs = 4; go = true; none = SequenceEmpty(dtype=1); h, list = Loop(runs, go, x, none, body={body});
         y = ConcatFromSequence(list, axis={axis}, new_axis={new}); return y"
    );
    model(&x, false, &text)
}

#[test]
fn loops_that_append_to_a_sequence_give_slices() {
    for (new, axis) in [(1, 0), (1, 1), (1, -1), (0, 0), (0, 1), (0, -1)] {
        let (model, inputs) = appending(new, axis, false);
        let what = format!("a loop, new_axis={new} axis={axis}");
        let there = there_and_back(&what, &model, &inputs);
        assert!(there.graph().nodes().iter().any(|node| &*node.operator.name == "Loop"), "{what}");
    }
    let (model, inputs) = appending(1, 0, true);
    there_and_back("a loop that inserts", &model, &inputs);
}

/// A body of a loop that takes its number, its condition and these values.
fn body(carried: &str, nodes: &str, outputs: &str) -> String {
    let before = "i: int64[]; go: bool[]";
    format!("{{{before}; {carried}; {nodes}; go_out = Identity(go); return go_out, {outputs}}}")
}

/// A list of float32, of which nothing else is known.
const LIST: &str = "list: sequence of float32";

/// Outputs that are sequences become an output for each item, or a tensor whose slices they are.
#[test]
fn sequences_that_are_outputs_become_tensors() {
    let x = floats(&mut fastrand::Rng::with_seed(21), &[5, 3]);
    let (split, inputs) =
        model(&x, false, "two = 2; y = SplitToSequence(x, two, axis=0); return y: sequence of float32");
    let there = split.convert(Standard::OpenVino, &ConvertOptions::default()).unwrap();
    let got = there.model.run(&inputs).unwrap();
    let names: Vec<_> = got.iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(names, ["y_0", "y_1", "y_2"]);
    assert!(there.report.lost[0].contains("\"y\" is a sequence"), "{:?}", there.report.lost);
    let want = split.run(&inputs).unwrap();
    let Value::Sequence(items) = &want["y"] else { panic!("a sequence") };
    for (want, (name, got)) in items.iter().zip(&got) {
        assert_eq!(difference(want.tensor().unwrap(), got.tensor().unwrap(), true), None, "{name}");
    }
    assert_same(&split, &there.model);
    let nodes = "number = Cast(i, to=1); more = Add(x, number); list_out = SequenceInsert(list, more)";
    let body = body(LIST, nodes, "list_out");
    let text = format!(
        "runs = 3; none = SequenceEmpty(dtype=1); y = Loop(runs, , none, body={body});
         return y: sequence of float32"
    );
    let (grown, inputs) = model(&x, false, &text);
    let there = grown.convert(Standard::OpenVino, &ConvertOptions::default()).unwrap();
    let got = there.model.run(&inputs).unwrap();
    assert_eq!(got["y"].tensor().unwrap().shape().dims(), [3, 5, 3]);
    assert!(there.report.lost.iter().any(|lost| lost.contains("slices of a tensor")));
    assert_same(&grown, &there.model);
}

/// Compares models whose sequences have become tensors, in both orders.
fn assert_same(sequences: &Model, tensors: &Model) {
    for check in [sequences.check(tensors, &<_>::default()), tensors.check(sequences, &<_>::default())] {
        let check = check.unwrap();
        assert!(check.is_same() && check.outputs[0].name.starts_with('y'), "{check:?}");
        assert!(check.outputs[0].elements > 0, "{check:?}");
    }
}

/// Items of an input become the slices of a tensor.
#[test]
fn sequences_that_are_inputs_become_tensors() {
    let x = floats(&mut fastrand::Rng::with_seed(23), &[2, 3]);
    let (model, _) = model(
        &x,
        false,
        "list: sequence of float32[2, 3]; last = -1; item = SequenceAt(list, last); y = Add(item, x); return y",
    );
    let there = model.convert(Standard::OpenVino, &ConvertOptions::default()).unwrap();
    assert!(there.report.lost.iter().any(|lost| lost.contains("\"list\" is a sequence")));
    let check = model.check(&there.model, &<_>::default()).unwrap();
    assert!(check.is_same() && check.runs == 5, "{check:?}");
    let mut older = ConvertOptions::default();
    older.opset = Some(13);
    let there = model.convert(Standard::Onnx, &older).unwrap();
    assert!(model.check(&there.model, &<_>::default()).unwrap().is_same());
    let (open, _) = self::model(&x, false, &format!("{LIST}; y = SequenceLength(list); return y"));
    let error = open.convert(Standard::OpenVino, &ConvertOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot convert: input \"list\" is sequence of float32[...], expected a tensor, or a sequence of \
         tensors whose sizes are known"
    );
}

/// Repeats each element along an axis, as exporters write it: a loop takes items of two captured
/// sequences, and appends items of unequal shapes.
fn interleaved(axis: i64, open: bool, other: bool) -> (Model, Values) {
    let x = floats(&mut fastrand::Rng::with_seed(12), &[3, 3]);
    let sizes = if axis == 0 {
        "before = [1]; after = [1]; shape = [-1, 3]; behind = [1]"
    } else {
        "before = [1, 1]; after = []; shape = [3, -1]; behind = [2]"
    };
    let body = body(
        LIST,
        &format!(
            "{sizes}; r = SequenceAt(counts, i); p = SequenceAt(parts, i); wide = Unsqueeze(p, behind);
             dims = Concat(before, r, after, axis=0); all = Expand(wide, dims); flat = Reshape(all, shape);
             list_out = SequenceInsert(list, flat)"
        ),
        "list_out",
    );
    let joined = if other { 1 - axis } else { axis };
    // A node that nothing needs does not decide how the loop carries the sequence.
    let text = format!(
        "one = 1; runs = 3; repeats = [2, 0, 3]; ones = [1, 1, 1]; counts = SplitToSequence(repeats, ones);
         parts = SplitToSequence(x, one, axis={axis}); none = SequenceEmpty(dtype=1);
         list = Loop(runs, , none, body={body}); y = ConcatFromSequence(list, axis={joined});
         unneeded = SequenceLength(list); return y"
    );
    model(&x, open, &text)
}

#[test]
fn loops_take_items_of_sequences_around_them_and_append_items_of_unequal_shapes() {
    for (axis, open) in [(0, false), (0, true), (1, false), (1, true)] {
        let (model, inputs) = interleaved(axis, open, false);
        let converted = model.convert(Standard::OpenVino, &ConvertOptions::default()).unwrap();
        assert!(converted.report.is_exact(), "{:?}", converted.report.notes);
        // Parts of one element each have a known shape, which OpenVINO must know.
        let sums = |node: &graph::Node| &*node.operator.name == "CumSum";
        assert!(!converted.model.graph().nodes().iter().any(sums), "axis {axis}, open={open}");
        there_and_back(&format!("axis {axis}, open={open}"), &model, &inputs);
    }
    assert!(interleaved(0, false, true).0.run(&interleaved(0, false, true).1).is_err());
}

#[test]
fn loops_take_parts_of_unequal_sizes() {
    let x = floats(&mut fastrand::Rng::with_seed(13), &[2, 5]);
    let body = body(
        "h: float32[2]",
        "axis = [1]; last = -1; p = SequenceAt(parts, i); q = SequenceAt(parts, last);
         max = ReduceMax(p, axis, keepdims=0); min = ReduceMin(q, axis, keepdims=0); sum = Add(h, max);
         h_out = Sub(sum, min)",
        "h_out",
    );
    let sizes = ["2", "int32[](7)", "[1, 4]", "1"];
    for (open, sizes) in [false, true].into_iter().flat_map(|open| sizes.map(|size| (open, size))) {
        let text = format!(
            "sizes = {sizes}; h = float32[2](0, 1); parts = SplitToSequence(x, sizes, axis=1);
             runs = SequenceLength(parts); y = Loop(runs, , h, body={body});
             z = ConcatFromSequence(parts, axis=1); return y, z"
        );
        let (model, inputs) = model(&x, open, &text);
        there_and_back(&format!("parts of {sizes}, open={open}"), &model, &inputs);
    }
}

#[test]
fn loops_change_sequences_and_read_them() {
    let x = floats(&mut fastrand::Rng::with_seed(14), &[2, 3]);
    for (open, runs, insert, erase) in [
        (false, 4, "", ""),
        (true, 4, "", ""),
        (true, 0, "", ""),
        (true, 3, ", i", ", i"),
        (false, 3, ", last", ", last"),
        (false, 3, "", ", first"),
    ] {
        let body = body(
            LIST,
            &format!(
                "last = -1; first = 0; p = SequenceAt(list, last); q = SequenceAt(list, i); sum = Add(p, q);
                 a = Identity(list); b = SequenceInsert(a, sum{insert}); c = SequenceInsert(b, q);
                 list_out = SequenceErase(c{erase})"
            ),
            "list_out",
        );
        let text = format!(
            "runs = {runs}; n = Neg(x); start = SequenceConstruct(x, n); list = Loop(runs, , start, body={body});
             y = ConcatFromSequence(list, axis=1); count = SequenceLength(list); return y, count"
        );
        let (model, inputs) = model(&x, open, &text);
        there_and_back(&format!("{runs} runs of {insert} {erase}, open={open}"), &model, &inputs);
    }
}

#[test]
fn branches_append_to_sequences() {
    let x = floats(&mut fastrand::Rng::with_seed(15), &[6, 3]);
    let body = body(
        LIST,
        "zero = 0.0; v = SequenceAt(rows, i); max = ReduceMax(v, keepdims=0); yes = Greater(max, zero);
         list_out = If(yes, then_branch={longer = SequenceInsert(list, v); return longer},
                       else_branch={same = Identity(list); return same})",
        "list_out",
    );
    for (open, new) in [(false, 1), (true, 1), (true, 0)] {
        let text = format!(
            "rows = SplitToSequence(x, keepdims={}); runs = SequenceLength(rows);
             none = SequenceEmpty(dtype=1); list = Loop(runs, , none, body={body});
             y = ConcatFromSequence(list, axis=0, new_axis={new}); return y",
            1 - new
        );
        let (model, inputs) = model(&x, open, &text);
        there_and_back(&format!("rows, open={open}, new_axis={new}"), &model, &inputs);
    }
}

#[test]
fn branches_give_sequences() {
    let x = floats(&mut fastrand::Rng::with_seed(16), &[2, 3]);
    for (positive, changed, index) in
        [(true, "two", 0), (false, "two", -1), (true, "three", 1), (false, "three", 0)]
    {
        // A condition and an index that are not known before the run.
        let text = format!(
            "yes = {positive}; first = 0; at = {index}; n = Neg(x); pair = SequenceConstruct(n, x);
             max = ReduceMax(x, keepdims=0); own = Equal(max, max); cond = And(own, yes);
             none = Sub(max, max); whole = Cast(none, to=7); index = Add(whole, at);
             list = If(cond, then_branch={{a = SequenceConstruct(x, n); return a}}, else_branch={{
                three = SequenceInsert(pair, n); two = SequenceErase(three, first); return {changed}}});
             y = SequenceAt(list, index); z = ConcatFromSequence(list, axis=-1); return y, z"
        );
        let (model, inputs) = model(&x, false, &text);
        there_and_back(&format!("positive={positive} {changed}"), &model, &inputs);
    }
}

#[test]
fn items_of_unequal_shapes_at_an_unknown_index_are_refused() {
    let x = floats(&mut fastrand::Rng::with_seed(17), &[2, 3]);
    let text = "axes = [0]; mean = ReduceMax(x, axes, keepdims=0); list = SequenceConstruct(x, mean);
                max = ReduceMax(x, keepdims=0); none = Sub(max, max); index = Cast(none, to=7);
                y = SequenceAt(list, index); return y";
    let (model, inputs) = model(&x, false, text);
    model.run(&inputs).unwrap();
    assert!(refusal(&model).contains("items of unequal shapes"), "{}", refusal(&model));
}

/// Each item becomes the nodes of the graph, which read values around it and other lists.
#[test]
fn mapped_sequences_become_the_nodes_of_each_item() {
    let x = floats(&mut fastrand::Rng::with_seed(31), &[5, 3]);
    let text = "two = 2; parts = SplitToSequence(x, two, axis=0); n = Neg(x);
         others = SplitToSequence(n, two, axis=0);
         mapped, same = SequenceMap(parts, others, n, body={
            part: ?; other: ?; all: ?; sum = ReduceSum(x, keepdims=0); more = Add(part, sum);
            less = Sub(more, other); joined = Concat(less, all, axis=0); return joined, part});
         held = Optional(mapped); got = OptionalGetElement(held); first = ConcatFromSequence(got, axis=0);
         second = ConcatFromSequence(same, axis=0); optional = Optional(second);
         element = OptionalGetElement(optional); y = Concat(first, element, axis=0); return y";
    let (model, inputs) = model(&x, false, text);
    there_and_back("a map", &model, &inputs);
}
