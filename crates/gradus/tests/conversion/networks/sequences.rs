//! Sequences become the values that they consist of, the slices of a tensor, or its parts.

use super::*;

#[test]
fn items_of_sequences_become_values() {
    let x = floats(&mut fastrand::Rng::with_seed(3), &[2, 5, 3]);
    for (sizes, position) in
        [(Some(Tensor::vector(&[1i64, 4])), 1), (Some(Tensor::scalar(2i64)), -1), (None, 3), (None, -2)]
    {
        for keeps in [0, 1] {
            let (model, inputs) = model(&x, sizes.is_none(), |b| {
                let mut keys = vec!["x"];
                if let Some(sizes) = &sizes {
                    constant(b, "sizes", sizes.clone());
                    keys.push("sizes");
                }
                constant(b, "at", Tensor::scalar(position));
                let axis = vec![int("axis", 1), int("keepdims", keeps)];
                b.apply("split", "SplitToSequence", 20, &keys, &["parts"], axis).unwrap();
                b.apply("at", "SequenceAt", 20, &["parts", "at"], &["y"], vec![]).unwrap();
            });
            there_and_back(&format!("item {position} of {sizes:?}"), &model, &inputs);
        }
    }
}

#[test]
fn sequences_are_changed_and_put_together() {
    let x = floats(&mut fastrand::Rng::with_seed(4), &[2, 3]);
    for (new, axis) in [(0, 1), (0, -2), (1, 0), (1, -1), (1, 1)] {
        let (model, inputs) = model(&x, false, |b| {
            constant(b, "first", Tensor::scalar(0i64));
            b.apply("neg", "Neg", 20, &["x"], &["n"], vec![]).unwrap();
            b.apply("list", "SequenceConstruct", 20, &["x", "n", "n"], &["a"], vec![]).unwrap();
            b.apply("erase", "SequenceErase", 20, &["a"], &["b"], vec![]).unwrap();
            b.apply("insert", "SequenceInsert", 20, &["b", "n", "first"], &["c"], vec![]).unwrap();
            let axis = vec![int("axis", axis), int("new_axis", new)];
            b.apply("all", "ConcatFromSequence", 20, &["c"], &["y"], axis).unwrap();
        });
        there_and_back(&format!("new_axis={new} axis={axis}"), &model, &inputs);
    }
    let (model, inputs) = model(&x, true, |b| {
        b.apply("split", "SplitToSequence", 20, &["x"], &["rows"], vec![int("axis", 1)]).unwrap();
        b.apply("count", "SequenceLength", 20, &["rows"], &["y"], vec![]).unwrap();
    });
    there_and_back("a length", &model, &inputs);
}

/// A loop that appends its state, doubled, to a sequence; `position` inserts at the front.
fn appending(new: i64, axis: i64, front: bool) -> (Model, Values) {
    let mut body = Builder::nested("body");
    let scalar = |dtype| Some(Type::Tensor(Some(dtype), Some(vec![])));
    let state = Type::Tensor(Some(DType::F32), Some(vec![DeclaredDim::Known(2), DeclaredDim::Known(3)]));
    let sequence = Some(Type::Sequence(Box::new(state.clone())));
    for (name, of) in
        [("i", scalar(DType::I64)), ("go", scalar(DType::Bool)), ("h", Some(state)), ("list", sequence)]
    {
        let id = body.define(name, Origin::Input).unwrap();
        body.info(id).declared = of;
    }
    body.apply("same", "Identity", 20, &["go"], &["go_out"], vec![]).unwrap();
    body.apply("twice", "Add", 20, &["h", "h"], &["h_out"], vec![]).unwrap();
    let keys: &[&str] = if front { &["list", "h_out", "i"] } else { &["list", "h_out"] };
    body.apply("append", "SequenceInsert", 20, keys, &["list_out"], vec![]).unwrap();
    for name in ["go_out", "h_out", "list_out"] {
        body.output(name);
    }
    let body = Content::Graph(Arc::new(body.finish().unwrap()));
    let x = floats(&mut fastrand::Rng::with_seed(5), &[2, 3]);
    model(&x, false, |b| {
        constant(b, "runs", Tensor::scalar(4i64));
        constant(b, "go", Tensor::scalar(Bool::from(true)));
        b.apply("empty", "SequenceEmpty", 20, &[], &["none"], vec![int("dtype", 1)]).unwrap();
        b.apply("loop", "Loop", 20, &["runs", "go", "x", "none"], &["h", "list"], vec![("body", body)])
            .unwrap();
        let axis = vec![int("axis", axis), int("new_axis", new)];
        b.apply("all", "ConcatFromSequence", 20, &["list"], &["y"], axis).unwrap();
    })
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
fn body(carried: &[(&str, Type)], nodes: impl FnOnce(&mut Builder), outputs: &[&str]) -> Content {
    let mut body = Builder::nested("body");
    let scalar = |dtype| Type::Tensor(Some(dtype), Some(vec![]));
    let before = [("i", scalar(DType::I64)), ("go", scalar(DType::Bool))];
    for (name, declared) in before.iter().chain(carried) {
        let id = body.define(name, Origin::Input).unwrap();
        body.info(id).declared = Some(declared.clone());
    }
    nodes(&mut body);
    body.apply("same", "Identity", 20, &["go"], &["go_out"], vec![]).unwrap();
    for name in ["go_out"].iter().chain(outputs) {
        body.output(name);
    }
    Content::Graph(Arc::new(body.finish().unwrap()))
}

/// A list of float32, of which nothing else is known.
fn floats_list() -> Type {
    Type::Sequence(Box::new(Type::Tensor(Some(DType::F32), None)))
}

/// Outputs that are sequences become an output for each item, or a tensor whose slices they are.
#[test]
fn sequences_that_are_outputs_become_tensors() {
    let x = floats(&mut fastrand::Rng::with_seed(21), &[5, 3]);
    let (split, inputs) = model(&x, false, |b| {
        constant(b, "two", Tensor::scalar(2i64));
        b.apply("parts", "SplitToSequence", 20, &["x", "two"], &["y"], vec![int("axis", 0)]).unwrap();
        declare(b, "y", floats_list());
    });
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
    let content = body(
        &[("list", floats_list())],
        |b| {
            b.apply("float", "Cast", 20, &["i"], &["number"], vec![int("to", 1)]).unwrap();
            b.apply("more", "Add", 20, &["x", "number"], &["more"], vec![]).unwrap();
            b.apply("append", "SequenceInsert", 20, &["list", "more"], &["list_out"], vec![]).unwrap();
        },
        &["list_out"],
    );
    let (grown, inputs) = model(&x, false, |b| {
        constant(b, "runs", Tensor::scalar(3i64));
        b.apply("empty", "SequenceEmpty", 20, &[], &["none"], vec![int("dtype", 1)]).unwrap();
        b.apply("loop", "Loop", 20, &["runs", "", "none"], &["y"], vec![("body", content)]).unwrap();
        declare(b, "y", floats_list());
    });
    let there = grown.convert(Standard::OpenVino, &ConvertOptions::default()).unwrap();
    let got = there.model.run(&inputs).unwrap();
    assert_eq!(got["y"].tensor().unwrap().shape().dims(), [3, 5, 3]);
    assert!(there.report.lost.iter().any(|lost| lost.contains("slices of a tensor")));
    assert_same(&grown, &there.model);
}

fn declare(builder: &mut Builder, key: &str, declared: Type) {
    let id = builder.reference(key);
    builder.info(id).declared = Some(declared);
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
    let item = |sizes: &[usize]| {
        let sizes = sizes.iter().map(|&size| DeclaredDim::Known(size)).collect();
        Type::Sequence(Box::new(Type::Tensor(Some(DType::F32), Some(sizes))))
    };
    let x = floats(&mut fastrand::Rng::with_seed(23), &[2, 3]);
    let (model, _) = model(&x, false, |b| {
        b.define("list", Origin::Input).unwrap();
        declare(b, "list", item(&[2, 3]));
        constant(b, "last", Tensor::scalar(-1i64));
        b.apply("at", "SequenceAt", 17, &["list", "last"], &["item"], vec![]).unwrap();
        b.apply("sum", "Add", 17, &["item", "x"], &["y"], vec![]).unwrap();
    });
    let there = model.convert(Standard::OpenVino, &ConvertOptions::default()).unwrap();
    assert!(there.report.lost.iter().any(|lost| lost.contains("\"list\" is a sequence")));
    let check = model.check(&there.model, &<_>::default()).unwrap();
    assert!(check.is_same() && check.runs == 5, "{check:?}");
    let mut older = ConvertOptions::default();
    older.opset = Some(13);
    let there = model.convert(Standard::Onnx, &older).unwrap();
    assert!(model.check(&there.model, &<_>::default()).unwrap().is_same());
    let (open, _) = self::model(&x, false, |b| {
        b.define("list", Origin::Input).unwrap();
        declare(b, "list", floats_list());
        b.apply("length", "SequenceLength", 17, &["list"], &["y"], vec![]).unwrap();
    });
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
    let content = body(
        &[("list", floats_list())],
        |b| {
            let ints = |values: &[i64]| Tensor::vector(values);
            constant(b, "behind", ints(&[axis + 1]));
            constant(b, "before", ints(if axis == 0 { &[1] } else { &[1, 1] }));
            constant(b, "after", ints(if axis == 0 { &[1] } else { &[] }));
            constant(b, "shape", ints(if axis == 0 { &[-1, 3] } else { &[3, -1] }));
            b.apply("r", "SequenceAt", 20, &["counts", "i"], &["r"], vec![]).unwrap();
            b.apply("p", "SequenceAt", 20, &["parts", "i"], &["p"], vec![]).unwrap();
            b.apply("wide", "Unsqueeze", 20, &["p", "behind"], &["wide"], vec![]).unwrap();
            let keys = ["before", "r", "after"];
            b.apply("dims", "Concat", 20, &keys, &["dims"], vec![int("axis", 0)]).unwrap();
            b.apply("all", "Expand", 20, &["wide", "dims"], &["all"], vec![]).unwrap();
            b.apply("flat", "Reshape", 20, &["all", "shape"], &["flat"], vec![]).unwrap();
            b.apply("append", "SequenceInsert", 20, &["list", "flat"], &["list_out"], vec![]).unwrap();
        },
        &["list_out"],
    );
    model(&x, open, |b| {
        constant(b, "one", Tensor::scalar(1i64));
        constant(b, "runs", Tensor::scalar(3i64));
        constant(b, "repeats", Tensor::vector(&[2i64, 0, 3]));
        constant(b, "ones", Tensor::vector(&[1i64; 3]));
        b.apply("counts", "SplitToSequence", 20, &["repeats", "ones"], &["counts"], vec![]).unwrap();
        b.apply("parts", "SplitToSequence", 20, &["x", "one"], &["parts"], vec![int("axis", axis)]).unwrap();
        b.apply("empty", "SequenceEmpty", 20, &[], &["none"], vec![int("dtype", 1)]).unwrap();
        b.apply("loop", "Loop", 20, &["runs", "", "none"], &["list"], vec![("body", content)]).unwrap();
        let axis = if other { 1 - axis } else { axis };
        b.apply("join", "ConcatFromSequence", 20, &["list"], &["y"], vec![int("axis", axis)]).unwrap();
        // A node that nothing needs does not decide how the loop carries the sequence.
        b.apply("count", "SequenceLength", 20, &["list"], &["unneeded"], vec![]).unwrap();
    })
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
    let sizes =
        [Tensor::scalar(2i64), Tensor::scalar(7i32), Tensor::vector(&[1i64, 4]), Tensor::scalar(1i64)];
    for (open, sizes) in [false, true].into_iter().flat_map(|open| sizes.iter().map(move |size| (open, size)))
    {
        let dims = vec![DeclaredDim::Known(2)];
        let content = body(
            &[("h", Type::Tensor(Some(DType::F32), Some(dims)))],
            |b| {
                constant(b, "axis", Tensor::vector(&[1i64]));
                constant(b, "last", Tensor::scalar(-1i64));
                b.apply("p", "SequenceAt", 20, &["parts", "i"], &["p"], vec![]).unwrap();
                b.apply("q", "SequenceAt", 20, &["parts", "last"], &["q"], vec![]).unwrap();
                b.apply("max", "ReduceMax", 20, &["p", "axis"], &["max"], vec![int("keepdims", 0)]).unwrap();
                b.apply("min", "ReduceMin", 20, &["q", "axis"], &["min"], vec![int("keepdims", 0)]).unwrap();
                b.apply("add", "Add", 20, &["h", "max"], &["sum"], vec![]).unwrap();
                b.apply("next", "Sub", 20, &["sum", "min"], &["h_out"], vec![]).unwrap();
            },
            &["h_out"],
        );
        let (model, inputs) = model(&x, open, |b| {
            constant(b, "sizes", sizes.clone());
            constant(b, "h", Tensor::vector(&[0f32, 1.0]));
            let axis = vec![int("axis", 1)];
            b.apply("split", "SplitToSequence", 20, &["x", "sizes"], &["parts"], axis.clone()).unwrap();
            b.apply("count", "SequenceLength", 20, &["parts"], &["runs"], vec![]).unwrap();
            b.apply("loop", "Loop", 20, &["runs", "", "h"], &["y"], vec![("body", content)]).unwrap();
            b.apply("join", "ConcatFromSequence", 20, &["parts"], &["z"], axis).unwrap();
            b.output("z");
        });
        there_and_back(&format!("parts of {sizes:?}, open={open}"), &model, &inputs);
    }
}

#[test]
fn loops_change_sequences_and_read_them() {
    let x = floats(&mut fastrand::Rng::with_seed(14), &[2, 3]);
    for (open, runs, steps) in
        [(false, 4i64, 0), (true, 4, 0), (true, 0, 0), (true, 3, 1), (false, 3, 2), (false, 3, 3)]
    {
        let content = body(
            &[("list", floats_list())],
            |b| {
                constant(b, "last", Tensor::scalar(-1i64));
                constant(b, "first", Tensor::scalar(0i64));
                b.apply("p", "SequenceAt", 20, &["list", "last"], &["p"], vec![]).unwrap();
                b.apply("q", "SequenceAt", 20, &["list", "i"], &["q"], vec![]).unwrap();
                b.apply("add", "Add", 20, &["p", "q"], &["sum"], vec![]).unwrap();
                let at: &[&str] =
                    [&["a", "sum"][..], &["a", "sum", "i"], &["a", "sum", "last"], &["a", "sum"]][steps];
                b.apply("copy", "Identity", 20, &["list"], &["a"], vec![]).unwrap();
                b.apply("insert", "SequenceInsert", 20, at, &["b"], vec![]).unwrap();
                b.apply("again", "SequenceInsert", 20, &["b", "q"], &["c"], vec![]).unwrap();
                let at: &[&str] = [&["c"][..], &["c", "i"], &["c", "last"], &["c", "first"]][steps];
                b.apply("erase", "SequenceErase", 20, at, &["list_out"], vec![]).unwrap();
            },
            &["list_out"],
        );
        let (model, inputs) = model(&x, open, |b| {
            constant(b, "runs", Tensor::scalar(runs));
            b.apply("neg", "Neg", 20, &["x"], &["n"], vec![]).unwrap();
            b.apply("list", "SequenceConstruct", 20, &["x", "n"], &["start"], vec![]).unwrap();
            b.apply("loop", "Loop", 20, &["runs", "", "start"], &["list"], vec![("body", content)]).unwrap();
            b.apply("join", "ConcatFromSequence", 20, &["list"], &["y"], vec![int("axis", 1)]).unwrap();
            b.apply("count", "SequenceLength", 20, &["list"], &["count"], vec![]).unwrap();
            b.output("count");
        });
        there_and_back(&format!("{runs} runs of {steps}, open={open}"), &model, &inputs);
    }
}

/// A branch of nodes that captures values, and gives one.
fn branch(name: &'static str, nodes: impl FnOnce(&mut Builder), output: &str) -> (&'static str, Content) {
    let mut branch = Builder::nested(name);
    nodes(&mut branch);
    branch.output(output);
    (name, Content::Graph(Arc::new(branch.finish().unwrap())))
}

#[test]
fn branches_append_to_sequences() {
    let x = floats(&mut fastrand::Rng::with_seed(15), &[6, 3]);
    for (open, new) in [(false, 1), (true, 1), (true, 0)] {
        let content = body(
            &[("list", floats_list())],
            |b| {
                constant(b, "zero", Tensor::scalar(0f32));
                b.apply("row", "SequenceAt", 20, &["rows", "i"], &["v"], vec![]).unwrap();
                b.apply("max", "ReduceMax", 20, &["v"], &["max"], vec![int("keepdims", 0)]).unwrap();
                b.apply("yes", "Greater", 20, &["max", "zero"], &["yes"], vec![]).unwrap();
                let append = |b: &mut Builder| {
                    b.apply("", "SequenceInsert", 20, &["list", "v"], &["longer"], vec![]).unwrap();
                };
                let copy = |b: &mut Builder| {
                    b.apply("", "Identity", 20, &["list"], &["same"], vec![]).unwrap();
                };
                let graphs =
                    vec![branch("then_branch", append, "longer"), branch("else_branch", copy, "same")];
                b.apply("if", "If", 20, &["yes"], &["list_out"], graphs).unwrap();
            },
            &["list_out"],
        );
        let (model, inputs) = model(&x, open, |b| {
            let axis = vec![int("keepdims", 1 - new)];
            b.apply("rows", "SplitToSequence", 20, &["x"], &["rows"], axis).unwrap();
            b.apply("runs", "SequenceLength", 20, &["rows"], &["runs"], vec![]).unwrap();
            b.apply("empty", "SequenceEmpty", 20, &[], &["none"], vec![int("dtype", 1)]).unwrap();
            b.apply("loop", "Loop", 20, &["runs", "", "none"], &["list"], vec![("body", content)]).unwrap();
            let axis = vec![int("axis", 0), int("new_axis", new)];
            b.apply("join", "ConcatFromSequence", 20, &["list"], &["y"], axis).unwrap();
        });
        there_and_back(&format!("rows, open={open}, new_axis={new}"), &model, &inputs);
    }
}

#[test]
fn branches_give_sequences() {
    let x = floats(&mut fastrand::Rng::with_seed(16), &[2, 3]);
    for (positive, longer, index) in
        [(true, false, 0i64), (false, false, -1), (true, true, 1), (false, true, 0)]
    {
        let (model, inputs) = model(&x, false, |b| {
            constant(b, "yes", Tensor::scalar(Bool::from(positive)));
            constant(b, "first", Tensor::scalar(0i64));
            constant(b, "at", Tensor::scalar(index));
            b.apply("neg", "Neg", 20, &["x"], &["n"], vec![]).unwrap();
            b.apply("pair", "SequenceConstruct", 20, &["n", "x"], &["pair"], vec![]).unwrap();
            // A condition and an index that are not known before the run.
            b.apply("max", "ReduceMax", 20, &["x"], &["max"], vec![int("keepdims", 0)]).unwrap();
            b.apply("own", "Equal", 20, &["max", "max"], &["own"], vec![]).unwrap();
            b.apply("and", "And", 20, &["own", "yes"], &["cond"], vec![]).unwrap();
            b.apply("sub", "Sub", 20, &["max", "max"], &["none"], vec![]).unwrap();
            b.apply("cast", "Cast", 20, &["none"], &["whole"], vec![int("to", 7)]).unwrap();
            b.apply("index", "Add", 20, &["whole", "at"], &["index"], vec![]).unwrap();
            let list = |b: &mut Builder| {
                b.apply("", "SequenceConstruct", 20, &["x", "n"], &["a"], vec![]).unwrap();
            };
            let changed = |b: &mut Builder| {
                b.apply("", "SequenceInsert", 20, &["pair", "n"], &["three"], vec![]).unwrap();
                b.apply("", "SequenceErase", 20, &["three", "first"], &["two"], vec![]).unwrap();
            };
            let graphs = vec![
                branch("then_branch", list, "a"),
                branch("else_branch", changed, if longer { "three" } else { "two" }),
            ];
            b.apply("if", "If", 20, &["cond"], &["list"], graphs).unwrap();
            b.apply("item", "SequenceAt", 20, &["list", "index"], &["y"], vec![]).unwrap();
            b.apply("join", "ConcatFromSequence", 20, &["list"], &["z"], vec![int("axis", -1)]).unwrap();
            b.output("z");
        });
        there_and_back(&format!("positive={positive} longer={longer}"), &model, &inputs);
    }
}

#[test]
fn items_of_unequal_shapes_at_an_unknown_index_are_refused() {
    let x = floats(&mut fastrand::Rng::with_seed(17), &[2, 3]);
    let (model, inputs) = model(&x, false, |b| {
        constant(b, "axes", Tensor::vector(&[0i64]));
        b.apply("mean", "ReduceMax", 20, &["x", "axes"], &["mean"], vec![int("keepdims", 0)]).unwrap();
        b.apply("list", "SequenceConstruct", 20, &["x", "mean"], &["list"], vec![]).unwrap();
        b.apply("max", "ReduceMax", 20, &["x"], &["max"], vec![int("keepdims", 0)]).unwrap();
        b.apply("sub", "Sub", 20, &["max", "max"], &["none"], vec![]).unwrap();
        b.apply("cast", "Cast", 20, &["none"], &["index"], vec![int("to", 7)]).unwrap();
        b.apply("item", "SequenceAt", 20, &["list", "index"], &["y"], vec![]).unwrap();
    });
    model.run(&inputs).unwrap();
    assert!(refusal(&model).contains("items of unequal shapes"), "{}", refusal(&model));
}

/// Each item becomes the nodes of the graph, which read values around it and other lists.
#[test]
fn mapped_sequences_become_the_nodes_of_each_item() {
    let x = floats(&mut fastrand::Rng::with_seed(31), &[5, 3]);
    let mut graph = Builder::nested("body");
    for name in ["part", "other", "all"] {
        graph.define(name, Origin::Input).unwrap();
    }
    graph.reference("x");
    graph.apply("sum", "ReduceSum", 20, &["x"], &["sum"], vec![int("keepdims", 0)]).unwrap();
    graph.apply("add", "Add", 20, &["part", "sum"], &["more"], vec![]).unwrap();
    graph.apply("less", "Sub", 20, &["more", "other"], &["less"], vec![]).unwrap();
    graph.apply("join", "Concat", 20, &["less", "all"], &["joined"], vec![int("axis", 0)]).unwrap();
    graph.output("joined");
    graph.output("part");
    let body = Content::Graph(Arc::new(graph.finish().unwrap()));
    let (model, inputs) = model(&x, false, |b| {
        constant(b, "two", Tensor::scalar(2i64));
        b.apply("parts", "SplitToSequence", 20, &["x", "two"], &["parts"], vec![int("axis", 0)]).unwrap();
        b.apply("neg", "Neg", 20, &["x"], &["n"], vec![]).unwrap();
        b.apply("others", "SplitToSequence", 20, &["n", "two"], &["others"], vec![int("axis", 0)]).unwrap();
        let lists = ["parts", "others", "n"];
        b.apply("map", "SequenceMap", 20, &lists, &["mapped", "same"], vec![("body", body)]).unwrap();
        let rows = || vec![int("axis", 0)];
        b.apply("optional", "Optional", 20, &["mapped"], &["held"], vec![]).unwrap();
        b.apply("get", "OptionalGetElement", 20, &["held"], &["got"], vec![]).unwrap();
        b.apply("first", "ConcatFromSequence", 20, &["got"], &["first"], rows()).unwrap();
        b.apply("second", "ConcatFromSequence", 20, &["same"], &["second"], rows()).unwrap();
        b.apply("tensor", "Optional", 20, &["second"], &["optional"], vec![]).unwrap();
        b.apply("element", "OptionalGetElement", 20, &["optional"], &["element"], vec![]).unwrap();
        b.apply("y", "Concat", 20, &["first", "element"], &["y"], rows()).unwrap();
    });
    there_and_back("a map", &model, &inputs);
}
