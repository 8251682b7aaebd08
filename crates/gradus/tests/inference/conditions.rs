//! Conditions of models: solved, joined, and only where they apply.

use gradus::DType;
use gradus::graph::Content;
use gradus::infer::{InferOptions, Inference, Why};

use crate::common::sketch::Sketch;

/// The conditions, the problems, and the value `y`.
fn told(sketch: Sketch) -> (Vec<String>, Vec<String>, String) {
    let model = sketch.output("y", DType::F32, &[]).model();
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
        (
            x(&["N", "3", "8"]).ints("flat", &[1, 24]).node("Reshape", &["x", "flat"], &["y"]),
            &["N == 1"][..],
            "float32[1, 24]",
        ),
        // A number and, by it, another.
        (
            x(&["n", "m"])
                .ints("flat", &[6])
                .input("w", DType::F32, &["3", "2"])
                .node("MatMul", &["x", "w"], &["p"])
                .node("Reshape", &["p", "flat"], &["y"]),
            &["m == 3", "n == 3"],
            "float32[6]",
        ),
        // The name that came first; a name that the model gives, rather than one that was made.
        (
            x(&["n", "k"]).input("w", DType::F32, &["l", "m"]).node("MatMul", &["x", "w"], &["p"]).with(
                "Concat",
                &["x", "x"],
                &["y"],
                vec![("axis", Content::Int(1))],
            ),
            &["l == k"],
            "float32[n, 2*k]",
        ),
        (
            x(&["", ""]).input("w", DType::F32, &["l", "m"]).node("MatMul", &["x", "w"], &["p"]).with(
                "Concat",
                &["x", "x"],
                &["y"],
                vec![("axis", Content::Int(1))],
            ),
            &["x_1 == l"],
            "float32[x_0, 2*l]",
        ),
        // The narrowest first, and without what follows.
        (
            x(&["h", "w"])
                .ints("half", &[-1, 2])
                .ints("quarter", &[-1, 8])
                .node("Reshape", &["x", "half"], &["a"])
                .node("Reshape", &["x", "quarter"], &["y"]),
            &["(h*w)%8 == 0"],
            "float32[(h*w)//8, 8]",
        ),
        // Nodes that run for a size of 0 are no contradiction.
        (
            x(&["n"]).ints("flat", &[0]).with(
                "Reshape",
                &["x", "flat"],
                &["y"],
                vec![("allowzero", Content::Int(1))],
            ),
            &["n == 0"],
            "float32[0]",
        ),
    ] {
        let (found, problems, of_y) = told(sketch);
        assert_eq!((&found.iter().map(String::as_str).collect::<Vec<_>>()[..], &*of_y), (conditions, y));
        assert_eq!(problems, [""; 0]);
    }
}

/// Sizes that data decide have the name that an output declares, unless an exporter made it up or
/// another size has it.
#[test]
fn sizes_have_the_names_that_people_wrote() {
    for (declared, wanted) in
        [("found", "int64[1, found]"), ("y_dim_1", "int64[1, NonZero]"), ("n", "int64[1, NonZero]")]
    {
        let sketch = x(&["n"]).node("NonZero", &["x"], &["y"]);
        let model = sketch.output("y", DType::I64, &["1", declared]).model();
        let inference = model.infer(&InferOptions::default()).unwrap();
        assert_eq!(inference.describe(inference.fact(model.value("y").unwrap())), wanted);
    }
}

/// Rows of a table: those of positions by their number, those of tokens by their value.
#[test]
fn indices_are_within_tables() {
    let sketch = Sketch::new()
        .input("ids", DType::I64, &["batch", "seq"])
        .constant("table", gradus::Tensor::zeros(DType::F32, gradus::Shape::new([16, 4]).unwrap()).unwrap())
        .constant("zero", gradus::Tensor::scalar(0i64))
        .constant("two", gradus::Tensor::scalar(2i64))
        .ints("last", &[1])
        .node("Shape", &["ids"], &["shape"])
        .node("Gather", &["shape", "last"], &["size"])
        .node("Squeeze", &["size"], &["seq"])
        .node("Add", &["seq", "two"], &["end"])
        .node("Range", &["two", "end", "one"], &["row"]);
    let sketch =
        sketch.constant("one", gradus::Tensor::scalar(1i64)).node("Expand", &["row", "shape"], &["at"]);
    let model = sketch
        .node("Gather", &["table", "at"], &["positions"])
        .node("Gather", &["table", "ids"], &["words"])
        .node("Add", &["positions", "words"], &["y"])
        .output("y", DType::F32, &[])
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
    let two = x(&["N", "3", "8"])
        .ints("one", &[1, 24])
        .ints("two", &[2, 24])
        .node("Reshape", &["x", "one"], &["a"])
        .node("Reshape", &["x", "two"], &["y"]);
    let (_, problems, _) = told(two);
    assert_eq!(problems.len(), 1, "{problems:?}");
    // Bounds that exclude each other, of expressions.
    let apart = x(&["n", "m"])
        .input("w", DType::F32, &["16", "16"])
        .ints("flat", &[4, 4])
        .node("MatMul", &["x", "w"], &["a"])
        .node("Reshape", &["x", "flat"], &["y"]);
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
        .node("Shape", &["x"], &["shape"])
        .node("Reshape", &["two", "shape"], &["a"])
        .node("Reshape", &["three", "shape"], &["y"])
        .output("a", DType::I64, &[])
        .output("y", DType::I64, &[])
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
        let squeezed = ints.node("Squeeze", &["x", "axes"], &["z"]);
        squeezed.output("z", DType::F32, &[]).graph()
    };
    let sketch = x(&["n", "k"])
        .ints("first", &[0])
        .constant("two", gradus::Tensor::vector(&[2i64]))
        .node("Shape", &["x"], &["shape"])
        .node("Gather", &["shape", "first"], &["size"])
        .node("Less", &["size", "two"], &["few"])
        .with("If", &["few"], &["y"], vec![("then_branch", branch(0)), ("else_branch", branch(1))]);
    let (conditions, problems, y) = told(sketch);
    assert_eq!(conditions, ["n == 1 if n <= 1", "k == 1 if n >= 2"]);
    assert_eq!((problems, &*y), (vec![], "float32[If]"));
}

/// A size that data decides, beside a 0 that copies one: no -1 is written whose size cannot be told.
#[test]
fn sizes_of_data_beside_a_copied_zero_are_no_open_axis() {
    let model = Sketch::new()
        .input("x", DType::F32, &["1", "0"])
        .input("flags", DType::Bool, &["m"])
        .ints("one", &[1])
        .ints("zero", &[0])
        .node("NonZero", &["flags"], &["places"])
        .node("Shape", &["places"], &["sizes"])
        .node("Gather", &["sizes", "one"], &["count"])
        .with("Concat", &["count", "zero"], &["target"], vec![("axis", Content::Int(0))])
        .node("Reshape", &["x", "target"], &["y"])
        .output("y", DType::F32, &["", ""])
        .model();
    let inference = model.infer(&InferOptions::default()).unwrap();
    assert!(inference.problems().is_empty(), "{:?}", inference.problems());
    let output = inference.fact(model.graph().outputs()[0]).as_tensor().unwrap();
    assert_eq!(output.rank(), Some(2));
}
