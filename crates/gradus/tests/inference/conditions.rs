//! Conditions of models: solved, joined, and only where they apply.

use gradus::DType;
use gradus::graph::Content;
use gradus::infer::{InferOptions, Inference, Why};

use crate::common::sketch::Sketch;

/// The conditions, the problems, and the value `y`.
fn told(sketch: Sketch) -> (Vec<String>, Vec<String>, String) {
    let model = sketch.text("return y: float32[]").model();
    let mut options = InferOptions::default();
    options.ignore_declared = true;
    let inference: Inference = model.infer(&options).unwrap();
    let y = inference.describe(inference.fact(model.value("y").unwrap()));
    let conditions = inference.conditions().iter().map(|of| of.text.clone()).collect();
    (conditions, inference.problems().iter().map(|of| of.message.clone()).collect(), y)
}

fn x(sizes: &[&str]) -> Sketch {
    Sketch::new().input("x", DType::F32, sizes)
}

#[test]
fn sizes_that_runs_need_are_in_every_formula() {
    for (sketch, conditions, y) in [
        // One number.
        (x(&["N", "3", "8"]).text("flat = [1, 24]; y = Reshape(x, flat)"), &["N == 1"][..], "float32[1, 24]"),
        // A number and, by it, another.
        (
            x(&["n", "m"]).text("flat = [6]; w: float32[3, 2]; p = MatMul(x, w); y = Reshape(p, flat)"),
            &["m == 3", "n == 3"],
            "float32[6]",
        ),
        // The name that came first; a name that the model gives, rather than one that was made.
        (
            x(&["n", "k"]).text("w: float32[l, m]; p = MatMul(x, w); y = Concat(x, x, axis=1)"),
            &["l == k"],
            "float32[n, 2*k]",
        ),
        (
            x(&["", ""]).text("w: float32[l, m]; p = MatMul(x, w); y = Concat(x, x, axis=1)"),
            &["x_1 == l"],
            "float32[x_0, 2*l]",
        ),
        // The narrowest first, and without what follows.
        (
            x(&["h", "w"]).text(
                "half = [-1, 2]; quarter = [-1, 8]; a = Reshape(x, half);
                 y = Reshape(x, quarter)",
            ),
            &["(h*w)%8 == 0"],
            "float32[(h*w)//8, 8]",
        ),
        // Sizes of 0 beside a -1 do not count.
        (x(&["0", "0"]).text("rows = [-1, 0]; y = Reshape(x, rows, allowzero=1)"), &[], "float32[1, 0]"),
        // Nodes that run for a size of 0 are no contradiction.
        (x(&["n"]).text("flat = [0]; y = Reshape(x, flat, allowzero=1)"), &["n == 0"], "float32[0]"),
    ] {
        let (found, problems, of_y) = told(sketch);
        assert_eq!((&found.iter().map(String::as_str).collect::<Vec<_>>()[..], &*of_y), (conditions, y));
        assert_eq!(problems, [""; 0]);
    }
}

/// The condition of a loop that changes the shape of a carried value in its first iteration alone
/// is that of this iteration, and its outputs have the shape after it.
#[test]
fn shapes_that_one_iteration_changes_are_decided() {
    let looped = |body: &str| {
        let body =
            Sketch::nested().text("i: int64[]; go: bool[]; v: float32[]; on = Identity(go)").text(body);
        let body = body.text("return on: bool[]; return next: float32[]; return row: float32[]").graph();
        let given = Sketch::of("x: float32[n]; w: float32[k]; most: int64[]; go = true");
        told(given.with("Loop", &["most", "go", "x"], &["last", "y"], vec![("body", body)]))
    };
    let (conditions, problems, y) = looped("next = Add(v, w); row = Neg(next)");
    assert_eq!((conditions.join(", "), problems.len()), ("n broadcasts with k if most >= 1".to_owned(), 0));
    assert_eq!(y, "float32[max(most, 0), broadcast(n, k)]");
    // Each iteration has another shape: no sizes decide the conditions of those after the first.
    let (conditions, _, _) = looped("both = Concat(v, w, axis=0); next = Identity(both); row = Add(both, w)");
    assert_eq!((conditions.len(), &*conditions[0]), (2, "n + k broadcasts with k if most >= 1"));
    assert!(conditions[1].ends_with("broadcasts with k if the node runs"), "{conditions:?}");
}

/// A declared shape that no node shows is a condition, and nothing where nodes show the shape, or
/// that there are several ranks.
#[test]
fn declared_shapes_that_are_taken_are_conditions() {
    let branch = |text: &str| Sketch::nested().text(text).graph();
    let branches = || {
        let then = branch("t = Identity(x); return t: float32[]");
        vec![
            ("then_branch", then),
            ("else_branch", branch("e = ReduceSum(x, keepdims=0); return e: float32[]")),
        ]
    };
    let body = |declared: &str| {
        let body = Sketch::nested().text("i: int64[]; go: bool[]; v: float32[]; on = Identity(go)");
        let body = body.text("return on: bool[]").with("If", &["c"], &["next"], branches());
        vec![("body", body.text(declared).graph())]
    };
    let given = || Sketch::of("x: float32[n]; s: int64[k]; c: bool[]; most: int64[]; go = true; zero = 0");
    let repeat = |inputs: &[&str], declared: &str| given().with("Loop", inputs, &["y"], body(declared));
    // Bodies of one input, and of two, that read the value around as well.
    let reads = |inputs: &str, declared: &str| {
        let body = Sketch::nested().text(inputs).with("If", &["c"], &["next"], branches());
        vec![("num_scan_inputs", Content::Int(1)), ("body", body.text(declared).graph())]
    };
    let scan = reads("v: float32[]; i: int64[]", "return next: float32[4]");
    let map = vec![reads("v: float32[]", "return next: float32[4]").swap_remove(1)];
    for (sketch, declared, wanted, y) in [
        (given().text("y = Reshape(x, s)"), "2, 3", &["shape is [2, 3]"][..], "float32[2, 3]"),
        (given().text("y = Reshape(x, s)"), "rows, 3", &["shape is [?, 3]"], "float32[rows, 3]"),
        // The branches have other ranks: what the model says of both is not so.
        (given().with("If", &["c"], &["y"], branches()), "", &[], "float32[...]"),
        (given().with("If", &["c"], &["r"], branches()).text("y = Neg(r)"), "3", &[], "float32[...]"),
        (repeat(&["most", "go", "x"], "return next: float32[]"), "4", &[], "float32[...]"),
        (given().with("Scan", &["x", "s"], &["y"], scan), "4", &[], "float32[...]"),
        (
            given()
                .node("SequenceConstruct", &["x"], &["list"])
                .with("SequenceMap", &["list"], &["mapped"], map)
                .node("SequenceAt", &["mapped", "zero"], &["y"]),
            "4",
            &[],
            "float32[...]",
        ),
        (given().text("y = NonZero(x)"), "1, 7", &[], "int64[1, NonZero]"),
    ] {
        let model = sketch.text(&format!("return y: float32[{declared}]")).model();
        let inference = model.infer(&InferOptions::default()).unwrap();
        let stated = inference.conditions().iter().filter(|of| of.why == Why::Declared);
        let mut texts: Vec<_> = stated.map(|of| &*of.text).collect();
        texts.sort_by_key(|text| text.len());
        let found = inference.describe(inference.fact(model.value("y").unwrap()));
        assert_eq!((&texts[..], &*found), (wanted, y));
        let mut options = InferOptions::default();
        options.ignore_declared = true;
        let without = model.infer(&options).unwrap();
        assert!(without.conditions().iter().all(|of| of.why != Why::Declared));
    }
}

/// Sizes that data decide have the name that an output declares, unless an exporter made it up or
/// another size has it.
#[test]
fn sizes_have_the_names_that_people_wrote() {
    for (declared, wanted) in
        [("found", "int64[1, found]"), ("y_dim_1", "int64[1, NonZero]"), ("n", "int64[1, NonZero]")]
    {
        let sketch = x(&["n"]).text("y = NonZero(x)");
        let model = sketch.output("y", DType::I64, &["1", declared]).model();
        let inference = model.infer(&InferOptions::default()).unwrap();
        assert_eq!(inference.describe(inference.fact(model.value("y").unwrap())), wanted);
    }
}

/// Rows of a table: those of positions by their number, those of tokens by their value.
#[test]
fn indices_are_within_tables() {
    let sketch = Sketch::of("ids: int64[batch, seq]")
        .constant("table", gradus::Tensor::zeros(DType::F32, gradus::Shape::new([16, 4]).unwrap()).unwrap())
        .constant("zero", gradus::Tensor::scalar(0i64))
        .constant("two", gradus::Tensor::scalar(2i64))
        .text(
            "last = [1]; shape = Shape(ids); size = Gather(shape, last); seq = Squeeze(size);
             end = Add(seq, two); row = Range(two, end, one)",
        );
    let sketch = sketch.constant("one", gradus::Tensor::scalar(1i64)).text("at = Expand(row, shape)");
    let model = sketch
        .text(
            "positions = Gather(table, at); words = Gather(table, ids); y = Add(positions, words);
             return y: float32[]",
        )
        .model();
    let inference = model.infer(&InferOptions::default()).unwrap();
    let texts: Vec<_> = inference.conditions().iter().map(|of| &*of.text).collect();
    let wanted = ["seq <= 14 if batch >= 1", "-16 <= elements of \"ids\" <= 15"];
    assert_eq!(texts[..2], wanted, "{texts:?}");
    let range = inference.conditions()[1].elements.clone().unwrap();
    assert_eq!((range.min.known(), range.max.known()), (Some(-16), Some(15)));
}

#[test]
fn no_sizes_are_a_problem() {
    let two =
        x(&["N", "3", "8"]).text("one = [1, 24]; two = [2, 24]; a = Reshape(x, one); y = Reshape(x, two)");
    let (_, problems, _) = told(two);
    assert_eq!(problems.len(), 1, "{problems:?}");
    // Bounds that exclude each other, of expressions.
    let apart =
        x(&["n", "m"]).text("w: float32[16, 16]; flat = [4, 4]; a = MatMul(x, w); y = Reshape(x, flat)");
    let (conditions, problems, _) = told(apart);
    assert_eq!(problems, [""; 0]);
    assert_eq!(conditions, ["m == 16", "n == 1"]);
}

/// For n = 0, the shape [0] of a Reshape is that of its input, so that what holds for others is no
/// size that a formula has, and no contradiction: it rests on what is taken for granted.
#[test]
fn sizes_of_zero_that_mean_another_are_no_contradiction() {
    let model = x(&["n"])
        .constant("two", gradus::Tensor::vector(&[1i64, 2]))
        .constant("three", gradus::Tensor::vector(&[1i64, 2, 3]))
        .text(
            "shape = Shape(x); a = Reshape(two, shape); y = Reshape(three, shape);
             return a: int64[]; return y: int64[]",
        )
        .model();
    let empty = gradus::Tensor::zeros(DType::F32, gradus::Shape::new([0]).unwrap()).unwrap();
    assert!(model.run([("x".to_owned(), empty)]).is_ok());
    let inference = model.infer(&InferOptions::default()).unwrap();
    assert_eq!(inference.problems(), []);
    let texts: Vec<_> = inference.conditions().iter().map(|of| &*of.text).collect();
    assert_eq!(texts, ["n == 2", "n == 3", "n >= 1"]);
    assert_eq!(inference.conditions()[2].why, Why::Taken);
    assert_eq!(inference.describe(inference.fact(model.value("x").unwrap())), "float32[n]");
}

#[test]
fn conditions_of_a_branch_say_when_it_runs() {
    let branch = |axis: i64| {
        let ints = Sketch::nested().ints("axes", &[axis]);
        let squeezed = ints.text("z = Squeeze(x, axes)");
        squeezed.text("return z: float32[]").graph()
    };
    let sketch = x(&["n", "k"])
        .text("first = [0]")
        .constant("two", gradus::Tensor::vector(&[2i64]))
        .text("shape = Shape(x); size = Gather(shape, first); few = Less(size, two)")
        .with("If", &["few"], &["y"], vec![("then_branch", branch(0)), ("else_branch", branch(1))]);
    let (conditions, problems, y) = told(sketch);
    assert_eq!(conditions, ["n == 1 if n <= 1", "k == 1 if n >= 2"]);
    assert_eq!((problems, &*y), (vec![], "float32[If]"));
}

/// The sizes of a branch, and elements of a list of sizes, where the condition says what they are.
#[test]
fn conditions_say_which_size_is_chosen() {
    let slice = |end: &str| {
        let text = format!("zero = [0]; end = [{end}]; z = Slice(x, zero, end, zero)");
        Sketch::nested().text(&text).text("return z: float32[]").graph()
    };
    let sizes = "first = [0]; shape = Shape(x); size = Gather(shape, first); four = [4]";
    for (operator, then, other, of_y) in [
        ("Greater", "4", "9223372036854775807", "float32[min(n, 4)]"),
        ("Less", "9223372036854775807", "4", "float32[min(n, 4)]"),
        ("Equal", "4", "9223372036854775807", "float32[n]"),
        ("Less", "4", "9223372036854775807", "float32[n]"),
        ("Greater", "3", "9223372036854775807", "float32[If]"),
    ] {
        let branches = vec![("then_branch", slice(then)), ("else_branch", slice(other))];
        let sketch = x(&["n"]).text(&format!("{sizes}; c = {operator}(size, four)"));
        let (conditions, problems, y) = told(sketch.with("If", &["c"], &["y"], branches));
        assert_eq!((&*y, conditions.len(), problems.len()), (of_y, 0, 0), "{operator} {then}");
    }
    for (chosen, of_y) in [
        ("Greater(size, four); to = Where(c, size, four)", "float32[max(n, 4)]"),
        ("Greater(size, four); to = Where(c, four, size)", "float32[min(n, 4)]"),
        ("Equal(size, four); to = Where(c, four, size)", "float32[n]"),
    ] {
        let text = format!("{sizes}; c = {chosen}; y = ConstantOfShape(to)");
        assert_eq!(told(x(&["n"]).text(&text)).2, of_y);
    }
}

/// Elements of inputs that count, choose or divide, where a run checks them.
#[test]
fn values_that_a_run_checks_are_conditions() {
    let ints = |sizes: &[&str]| x(&["n", "m"]).input("i", DType::I64, sizes);
    let unpool = |sketch: Sketch| {
        sketch.with("MaxUnpool", &["z", "i"], &["y"], vec![("kernel_shape", Content::Ints([2].into()))])
    };
    for (sketch, wanted) in [
        (ints(&["m"]).text("y = ReverseSequence(x, i)"), &["0 <= elements of \"i\" <= n"][..]),
        (ints(&["n"]).text("y = NegativeLogLikelihoodLoss(x, i)"), &["0 <= elements of \"i\" <= m - 1"]),
        (
            ints(&["n"]).text("y = NegativeLogLikelihoodLoss(x, i, ignore_index=7)"),
            &["each label is from 0 to m - 1, or 7"],
        ),
        (
            ints(&["k"])
                .input("z", DType::F32, &["n", "m", "1", "1"])
                .input("r", DType::F32, &["k", "4"])
                .text("y = RoiAlign(z, r, i)"),
            &["0 <= elements of \"i\" <= n - 1"],
        ),
        (
            unpool(ints(&["1", "1", "k"]).input("z", DType::F32, &["1", "1", "k"])),
            &["0 <= elements of \"i\" <= k"],
        ),
        (
            ints(&["n"])
                .input("z", DType::F32, &["s", "n", "m"])
                .input("w", DType::F32, &["1", "4", "m"])
                .input("u", DType::F32, &["1", "4", "4"])
                .input("b", DType::F32, &["1", "8"])
                .text("l: int32[n]; y = RNN(z, w, u, b, l, hidden_size=4)"),
            &["0 <= elements of \"l\" <= s"],
        ),
        (ints(&[]).text("rows: int64[n]; y = Div(rows, i)"), &["i != 0 if n >= 1"]),
        (
            ints(&[]).text("a = Constant(value_int=0); b = Constant(value_int=9); y = Range(a, b, i)"),
            &["i != 0"],
        ),
        (ints(&["1"]).text("a = [0]; b = [9]; y = Slice(x, a, b, a, i)"), &["i_0 != 0"]),
    ] {
        let (mut conditions, problems, _) = told(sketch);
        conditions.retain(|of| !of.starts_with("axes of one name"));
        assert_eq!((conditions, problems), (wanted.iter().map(|&of| of.to_owned()).collect(), vec![]));
    }
}

/// A bound that a node shows is a condition beside others of the same size.
#[test]
fn bounds_are_kept_beside_others_of_their_size() {
    let positions: Vec<i64> = (0..64).collect();
    let sketch = Sketch::of("x: int64[n]");
    let sketch = sketch.constant("positions", gradus::Tensor::vector(&positions));
    let (conditions, problems, _) = told(sketch.text(
        "zero = [0]; end = Shape(x); own = Slice(positions, zero, end); all = Add(x, own);
         y = Gather(all, zero)",
    ));
    assert_eq!((conditions, problems), (vec!["n <= 64".to_owned(), "n >= 1".to_owned()], vec![]));
}

/// A graph that never runs asks for nothing, nor do graphs within it.
#[test]
fn graphs_that_never_run_ask_for_nothing() {
    let reshaped = |size: i64| {
        let graph = Sketch::nested().ints("to", &[size]).text("z = Reshape(x, to)");
        graph.text("return z: float32[]").graph()
    };
    let other = Sketch::nested().text("eight = [8]; is = Equal(i, eight)");
    let branches = vec![("then_branch", reshaped(256)), ("else_branch", reshaped(7))];
    let other = other.with("If", &["is"], &["w"], branches).text("return w: float32[]").graph();
    let branches = vec![("then_branch", reshaped(512)), ("else_branch", other)];
    let sketch = x(&["n"]).text("i = [16]; sixteen = [16]; c = Equal(i, sixteen)");
    let (conditions, problems, y) = told(sketch.with("If", &["c"], &["y"], branches));
    assert_eq!((conditions, problems, &*y), (vec!["n == 512".to_owned()], vec![], "float32[512]"));
}

/// Items of a list that are stacked, or put one after the other.
#[test]
fn items_of_a_list_go_together() {
    for (attributes, wanted, of_y) in [
        (
            vec![("axis", Content::Int(0)), ("new_axis", Content::Int(1))],
            &["c == a", "d == b"][..],
            "float32[2, a, b]",
        ),
        (vec![("axis", Content::Int(0))], &["d == b"], "float32[a + c, b]"),
    ] {
        let sketch = x(&["a", "b"]).input("z", DType::F32, &["c", "d"]);
        let sketch = sketch.node("SequenceConstruct", &["x", "z"], &["list"]);
        let (conditions, problems, y) =
            told(sketch.with("ConcatFromSequence", &["list"], &["y"], attributes));
        assert_eq!((&conditions.iter().map(String::as_str).collect::<Vec<_>>()[..], &*y), (wanted, of_y));
        assert_eq!(problems, [""; 0]);
    }
}

/// A window that moves by one element along data that is smaller by one leaves no window, and runs;
/// a window that is larger by less than a stride has a place.
#[test]
fn windows_may_be_larger_than_data() {
    for (attributes, condition, y) in [
        ("kernel_shape=[5]", "n >= 4", "n - 4"),
        ("kernel_shape=[3], strides=[2]", "n >= 2", "max((n + 1)//2, 2) - 1"),
        ("kernel_shape=[3], strides=[2], auto_pad=VALID", "n >= 2", "max((n + 1)//2, 2) - 1"),
        ("kernel_shape=[2], strides=[2]", "n >= 1", "max(n//2, 1)"),
    ] {
        for operator in ["MaxPool", "AveragePool", "LpPool"] {
            let sketch = x(&["1", "1", "n"]).text(&format!("y = {operator}(x, {attributes})"));
            let (mut conditions, problems, of_y) = told(sketch);
            assert_eq!((conditions.pop().as_deref(), problems.len()), (Some(condition), 0), "{attributes}");
            assert_eq!(of_y, format!("float32[1, 1, {y}]"));
        }
    }
}

/// Sizes that a run checks of operators whose sizes are open.
#[test]
fn sizes_that_a_run_checks_are_conditions() {
    for (text, wanted) in [
        // Pads of a tensor without elements repeat none.
        ("p = [0, 2, 0, 1]; y = Pad(x, p, mode=reflect)", &["m >= 1", "m >= 3 if n >= 1"][..]),
        (
            "p = [1, 0, -1, 3]; y = Pad(x, p, mode=reflect)",
            &["m >= 1", "m >= 4 if n >= 1", "n >= 2 if n >= 1"],
        ),
        ("z: float32[n, 2]; p = [0, 2, 0, 0]; y = Pad(z, p, mode=reflect)", &["n <= 0"]),
        ("z: float32[0, m]; p = [0, 2, 0, 0]; y = Pad(z, p, mode=reflect)", &["m >= 1"]),
        ("p = [1, 0, -1, 3]; y = Pad(x, p, mode=edge)", &["m >= 1"]),
        ("p = [0, 2, 0, 1]; y = Pad(x, p, mode=wrap)", &["m >= 1"]),
        ("p = [0, 2, 0, 1]; y = com.microsoft.Pad(x, p, mode=edge)", &["m >= 1"]),
        // The last axis has real and imaginary parts.
        ("y = DFT@20(x)", &["m <= 2", "m >= 1"]),
        ("y = DFT@20(x, onesided=1)", &["m == 1"]),
        ("s: float32[1, 8, k]; p = 2; l = 4; y = STFT(s, p, , l)", &["k <= 2", "k >= 1"]),
        // A tuple of indices has at most an index for each axis.
        ("i: int64[j, k]; y = GatherND(x, i)", &["k <= 2"]),
        ("i: int64[n, k]; y = GatherND(x, i, batch_dims=1)", &["k <= 1"]),
        ("i: int64[j, k]; y = com.microsoft.GatherND(x, i)", &["k <= 2"]),
        (
            "i: int64[j, k]; u: float32; y = ScatterND(x, i, u)",
            &["indices are within the sizes of the axes", "k <= 2"],
        ),
        // The scale to a size above 0 is a quotient by the size of the axis.
        (
            "t = [3, 5]; y = Resize(x, , , t, axes=[0, 1], keep_aspect_ratio_policy=not_larger)",
            &["m >= 1", "n >= 1"],
        ),
    ] {
        let (mut conditions, problems, _) = told(x(&["n", "m"]).text(text));
        conditions.retain(|of| !of.contains("not known") && !of.starts_with("axes of one name"));
        conditions.sort();
        assert_eq!(
            (conditions, problems),
            (wanted.iter().map(|&of| of.to_owned()).collect(), vec![]),
            "{text}"
        );
    }
}

/// Positions that are a slice of a table of 64, looked up in one of 32 rows.
#[test]
fn slices_of_tables_of_positions_are_followed() {
    let positions: Vec<i64> = (0..64).collect();
    let row = gradus::Shape::new([1, 64]).unwrap();
    let model = Sketch::of("ids: int64[batch, seq]")
        .constant("table", gradus::Tensor::zeros(DType::F32, gradus::Shape::new([32, 4]).unwrap()).unwrap())
        .constant("positions", gradus::Tensor::vector(&positions).reshaped(row).unwrap())
        .text(
            "zero = [0]; one = [1]; shape = Shape(ids); size = Gather(shape, one);
             at = Slice(positions, zero, size, one); y = Gather(table, at);
             return y: float32[]",
        )
        .model();
    let inference = model.infer(&InferOptions::default()).unwrap();
    let texts: Vec<_> = inference.conditions().iter().map(|of| &*of.text).collect();
    assert_eq!(texts, ["seq <= 32"]);
}

/// Values that nodes compute of a size, in floats and by choices, are within a table or not.
#[test]
fn values_that_nodes_compute_of_sizes_are_decided() {
    // The distance of two positions: from `far` on by its logarithm, and eight more to one side.
    let buckets = |rows: usize| {
        format!(
            "table = float32[{rows}, 2](0.5); far = 4; side = 8; last = 7; unit = 4.0; tiny = 0.000001;
             scale = 3.4657359; after = Greater(apart, zero); sides = Cast(after, to=7); first = Mul(sides, side);
             distance = Abs(apart); near = Less(distance, far); floats = Cast(distance, to=1);
             parts = Div(floats, unit); some = Add(parts, tiny); logs = Log(some);
             scaled = Div(logs, scale); steps = Mul(scaled, unit); whole = Cast(steps, to=7);
             later = Add(whole, far); capped = Min(later, last); chosen = Where(near, distance, capped);
             at = Add(first, chosen); y = Gather(table, at)"
        )
    };
    let outside = |rows: usize| format!("indices are within size {rows}");
    for (text, wanted) in [
        (buckets(16), vec![]),
        (buckets(15), vec![outside(15)]),
        (
            "table = float32[5](0.5); at = Abs(apart); y = Gather(table, at)".to_owned(),
            vec!["n <= 5".to_owned()],
        ),
        // The distance is 0 somewhere, though no end of a range says so.
        (
            "table = float32[5](0.5); most = 5; distance = Abs(apart); at = Sub(most, distance);
             y = Gather(table, at)"
                .to_owned(),
            vec!["n <= 11".to_owned(), outside(5)],
        ),
        (
            "floats = Cast(size, to=1); step = Reciprocal(floats); start = 0.0; end = 1.0;
             y = Range(start, end, step)"
                .to_owned(),
            vec!["n <= 16777216".to_owned()],
        ),
        (
            "floats = Cast(size, to=1); one = 1.0; less = Sub(floats, one); step = Div(one, less);
             start = 0.0; y = Range(start, one, step)"
                .to_owned(),
            vec![
                "start and limit are finite, and the step is not 0".to_owned(),
                "n <= 16777216".to_owned(),
                "n <= 16777217".to_owned(),
            ],
        ),
    ] {
        let sketch = Sketch::of(
            "x: float32[n]; zero = 0; next = 1; last axis = [1]; shape = Shape(x); size = Gather(shape, zero);
             row = Range(zero, size, next); column = Unsqueeze(row, last axis); apart = Sub(row, column)",
        );
        let (found, problems, _) = told(sketch.text(&text));
        assert_eq!(found, wanted, "{text}");
        assert_eq!(problems, [""; 0]);
    }
}

/// Axes and shapes that inputs of the model hold.
#[test]
fn axes_and_targets_of_inputs_give_conditions() {
    for (text, wanted) in [
        ("a: int64[1]; y = ReduceSum(x, a)", &["a_0 <= 1", "a_0 >= -2"][..]),
        ("a: int64[9]; y = ReduceSum(x, a)", &["-2 <= elements of \"a\" <= 1"]),
        ("a: int64[]; y = CumSum(x, a)", &["a <= 1", "a >= -2"]),
        (
            "a: int64[1]; y = Squeeze(x, a)",
            &["a_0 != 1", "a_0 != -1", "a_0 <= 1", "a_0 >= -2", "n == 1 if a_0 == 0", "n == 1 if a_0 == -2"],
        ),
        (
            "a: int64[2]; y = Unsqueeze(x, a)",
            &[
                "a_1 - a_0 != 0",
                "a_1 - a_0 != 4",
                "a_1 - a_0 != -4",
                "a_0 <= 3",
                "a_1 <= 3",
                "a_0 >= -4",
                "a_1 >= -4",
            ],
        ),
        (
            "a: int64[2]; y = Reshape(x, a)",
            &[
                "a_0 >= -1",
                "a_1 >= -1",
                "a_0 + a_1 >= -1",
                "4*n == a_1*((4*n)//a_1) if a_0 == -1 and a_1 >= 1",
                "4*n == n*a_1 if a_0 == 0 and a_1 >= 1",
                "4*n == a_0*((4*n)//a_0) if a_0 >= 1 and a_1 == -1",
                "n == a_0 if a_0 >= 1 and a_1 == 0",
                "4*n == a_0*a_1 if a_0 >= 1 and a_1 >= 1",
                "n >= 1 if a_0 == 0 and a_1 == -1",
            ],
        ),
        (
            "a: int64[2]; y = Reshape(x, a, allowzero=1)",
            &[
                "a_0 >= -1",
                "a_1 >= -1",
                "a_0 + a_1 >= -1",
                "4*n == a_1*((4*n)//a_1) if a_0 == -1 and a_1 >= 0",
                "4*n == a_0*((4*n)//a_0) if a_0 >= 0 and a_1 == -1",
                "4*n == a_0*a_1 if a_0 >= 0 and a_1 >= 0",
                "a_1 >= 1 if a_0 == -1 and a_1 >= 0",
                "a_0 >= 1 if a_0 >= 0 and a_1 == -1",
            ],
        ),
        ("a: int64[4]; y = Reshape(x, a)", &["the target has as many elements as the input"]),
    ] {
        let (found, problems, _) = told(x(&["n", "4"]).text(text));
        assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), wanted, "{text}");
        assert_eq!(problems, [""; 0]);
    }
}

/// Lists, caches and tables of inputs whose lengths must suit one another.
#[test]
fn lengths_of_inputs_give_conditions() {
    for (text, wanted) in [
        ("a: int64[k]; y = Tile(x, a)", &["k == 2", "a_0 >= 0", "a_1 >= 0", "n*a_0 >= 0"][..]),
        ("a: int64[2]; y = Tile(x, a)", &["a_0 >= 0", "a_1 >= 0", "n*a_0 >= 0"]),
        ("a: int64[k]; b: int64[2]; y = Slice(x, a, b)", &["k == 2"]),
        ("a: int64[k]; b: int64[l]; y = Slice(x, a, b)", &["l == k", "k <= 2"]),
        ("a: int64[k]; y = Pad(x, a)", &["k == 4", "n + a_0 + a_2 >= 0", "a_1 + a_3 + 4 >= 0"]),
        (
            "i: int64[2, d]; u: float32[2, 4]; y = ScatterND(x, i, u)",
            &["d == 1", "n >= 1", "-n <= elements of \"i\" <= n - 1"],
        ),
        (
            "i: int64[2, d]; u: float32[2]; y = ScatterND(x, i, u)",
            &["d == 2", "n >= 1", "indices are within the sizes of the axes"],
        ),
        ("s: float32[k]; y = Resize(x, , s)", &["k == 2", "scales are finite numbers above 0"]),
        (
            "a: int64[1]; rest = [-1]; t = Concat(a, rest, axis=0); y = Reshape(x, t)",
            &["a_0 >= 0", "4*n == a_0*((4*n)//a_0) if a_0 >= 1", "n >= 1 if a_0 == 0"],
        ),
        (
            "a: int64[1]; rest = [-1]; t = Concat(a, rest, axis=0); y = Reshape(x, t, allowzero=1)",
            &["4*n == a_0*((4*n)//a_0)", "a_0 >= 1"],
        ),
    ] {
        let (found, problems, _) = told(x(&["n", "4"]).text(text));
        assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), wanted, "{text}");
        assert_eq!(problems, [""; 0]);
    }
}

/// Bounds within those that others say are left out, wherever they apply.
#[test]
fn bounds_that_others_imply_are_left_out() {
    let reshaped = "zero = [0]; two = [2]; rest = [-1]; shape = Shape(x); n = Gather(shape, zero); half = Div(n, two);
         target = Concat(half, rest, axis=0); parts = Reshape(x, target); third = [3]; rows = Gather(x, third);";
    for (text, wanted) in [
        ("y = Identity(rows)", &["6*n == (n//2)*((6*n)//(n//2))", "n >= 4"][..]),
        ("w: float32[2, 8]; y = MatMul(w, x)", &["n == 8"]),
    ] {
        let (found, problems, _) = told(x(&["n", "6"]).text(reshaped).text(text));
        assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), wanted, "{text}");
        assert_eq!(problems, [""; 0]);
    }
}

/// A size that data decides, beside a 0 that copies one: no -1 is written whose size cannot be
/// told.
#[test]
fn sizes_of_data_beside_a_copied_zero_are_no_open_axis() {
    let model = Sketch::of(
        "x: float32[1, 0]; flags: bool[m]; one = [1]; zero = [0]; places = NonZero(flags);
         sizes = Shape(places); count = Gather(sizes, one);
         target = Concat(count, zero, axis=0); y = Reshape(x, target);
         return y: float32[?, ?]",
    )
    .model();
    let inference = model.infer(&InferOptions::default()).unwrap();
    assert!(inference.problems().is_empty(), "{:?}", inference.problems());
    let output = inference.fact(model.graph().outputs()[0]).as_tensor().unwrap();
    assert_eq!(output.rank(), Some(2));
}

#[test]
fn small_sizes_meet_the_conditions() {
    for (sketch, expected) in [
        (x(&["n"]).text("y = Neg(x)"), Some(&[("n", 1)][..])),
        // Windows of four, of which there is at least one.
        (x(&["n"]).text("t = [-1, 4]; y = Reshape(x, t)"), Some(&[("n", 4)])),
        // Only the axis that needs eight has more than one.
        (
            x(&["k", "n"]).text("a = [0, -1, 4]; b = Reshape(x, a); c = [0, -1, 8]; y = Reshape(x, c)"),
            Some(&[("k", 1), ("n", 8)]),
        ),
        (x(&["n", "m"]).text("t = [6]; y = Reshape(x, t)"), Some(&[("m", 1), ("n", 6)])),
        (
            x(&["p"])
                .text("s: float32[s]; t: float32[t]; c = Concat(x, s, axis=0); z = Sub(c, t); y = Add(z, t)"),
            Some(&[("p", 1), ("s", 1), ("t", 1)]),
        ),
        (x(&["n"]).text("t = [3, 4]; a = [1000, -1]; b = Reshape(x, a); y = Reshape(b, t)"), None),
        (
            x(&["n", "m"])
                .text("t = [-1, 16]; a = Reshape(x, t); b = Transpose(x, perm=[1, 0]); y = Add(x, b)"),
            Some(&[("m", 1), ("n", 16)]),
        ),
    ] {
        let model = sketch.text("return y: float32[]").model();
        let mut options = InferOptions::default();
        options.ignore_declared = true;
        let sizes = model.small_sizes(&model.infer(&options).unwrap());
        let expected = expected.map(|all| all.iter().map(|&(name, size)| (name.to_owned(), size)).collect());
        assert_eq!(sizes, expected);
    }
}
