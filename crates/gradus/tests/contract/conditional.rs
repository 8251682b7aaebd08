//! Models whose nodes have conditions on sizes, for each kind of condition.

use gradus::graph::Content;
use gradus::{DType, Model, Shape, Tensor};

use crate::common::sketch::Sketch;

/// Values of a model of `x`, of `batch` by `seq` elements, and `cache` of `past` rows: a table of
/// 16 rows, `past` to `past + seq` as `row`, and 0 to `batch` as `column`.
fn grid() -> Sketch {
    Sketch::new()
        .input("x", DType::F32, &["batch", "seq"])
        .input("cache", DType::F32, &["past", "2"])
        .constant("table", Tensor::from_vec(Shape::new([16]).unwrap(), vec![0.5f32; 16]).unwrap())
        .constant("zero", Tensor::scalar(0i64))
        .constant("one", Tensor::scalar(1i64))
        .ints("axis", &[1])
        .node("Shape", &["x"], &["batch by seq"])
        .node("Shape", &["cache"], &["before"])
        .node("Gather", &["batch by seq", "zero"], &["batch"])
        .node("Gather", &["batch by seq", "one"], &["seq"])
        .node("Gather", &["before", "zero"], &["past"])
        .node("Add", &["past", "seq"], &["total"])
        .node("Range", &["past", "total", "one"], &["row"])
        .node("Range", &["zero", "batch", "one"], &["lines of x"])
        .node("Unsqueeze", &["lines of x", "axis"], &["column"])
}

/// Models whose nodes have conditions on sizes.
#[expect(clippy::too_many_lines, reason = "a table of cases")]
pub fn conditional() -> Vec<(&'static str, Model)> {
    let f32 = DType::F32;
    let open = |rank: usize| vec!["?"; rank];
    vec![
        (
            "blocks",
            Sketch::new()
                .input("x", f32, &["batch", "h"])
                .ints("shape", &[0, -1, 32])
                .node("Reshape", &["x", "shape"], &["y"])
                .output("y", f32, &open(3))
                .model(),
        ),
        (
            "inner",
            Sketch::new()
                .input("a", f32, &["n", "k"])
                .input("b", f32, &["l", "m"])
                .node("MatMul", &["a", "b"], &["y"])
                .output("y", f32, &open(2))
                .model(),
        ),
        (
            "sums",
            Sketch::new()
                .input("a", f32, &["n", "k"])
                .input("b", f32, &["m", "l"])
                .node("Add", &["a", "b"], &["y"])
                .output("y", f32, &open(2))
                .model(),
        ),
        (
            "cache",
            Sketch::new()
                .input("past", f32, &["batch", "4", "past_len", "8"])
                .input("new", f32, &["batch", "4", "seq", "8"])
                .with("Concat", &["past", "new"], &["present"], vec![("axis", Content::Int(2))])
                .output("present", f32, &open(4))
                .model(),
        ),
        (
            "window",
            Sketch::new()
                .input("x", f32, &["1", "2", "h"])
                .constant("w", Tensor::from_vec(Shape::new([3, 2, 5]).unwrap(), vec![0.5f32; 30]).unwrap())
                .with("Conv", &["x", "w"], &["y"], vec![("strides", Content::Ints([2].into()))])
                .output("y", f32, &open(3))
                .model(),
        ),
        (
            "found",
            Sketch::new()
                .input("x", f32, &["n", "m"])
                .node("NonZero", &["x"], &["y"])
                .output("y", DType::I64, &open(2))
                .model(),
        ),
        (
            "halves",
            Sketch::new()
                .input("x", f32, &["n", "6"])
                .ints("sizes", &[3, 5])
                .with("Split", &["x", "sizes"], &["y", "z"], vec![("axis", Content::Int(0))])
                .output("y", f32, &open(2))
                .output("z", f32, &open(2))
                .model(),
        ),
        (
            "positional",
            Sketch::new()
                .input("x", f32, &["batch", "seq", "4"])
                .constant("table", Tensor::from_vec(Shape::new([16, 4]).unwrap(), vec![0.5f32; 64]).unwrap())
                .ints("start", &[0])
                .ints("axes", &[0])
                .ints("at", &[1])
                .node("Shape", &["x"], &["shape"])
                .node("Gather", &["shape", "at"], &["len"])
                .node("Slice", &["table", "start", "len", "axes"], &["rows"])
                .node("Add", &["x", "rows"], &["y"])
                .output("y", f32, &open(3))
                .model(),
        ),
        (
            "last",
            Sketch::new()
                .input("x", f32, &["batch", "seq"])
                .ints("start", &[-1])
                .ints("end", &[i64::MAX])
                .ints("axes", &[1])
                .node("Slice", &["x", "start", "end", "axes"], &["column"])
                .node("Div", &["x", "column"], &["y"])
                .output("y", f32, &open(2))
                .model(),
        ),
        (
            "lookup",
            Sketch::new()
                .input("x", f32, &["batch", "seq"])
                .constant("table", Tensor::from_vec(Shape::new([16, 4]).unwrap(), vec![0.5f32; 64]).unwrap())
                .constant("at", Tensor::scalar(1i64))
                .constant("first", Tensor::scalar(0i64))
                .node("Shape", &["x"], &["shape"])
                .node("Gather", &["shape", "at"], &["len"])
                .with("Range", &["first", "len", "at"], &["positions"], vec![])
                .node("Gather", &["table", "positions"], &["y"])
                .output("y", f32, &open(2))
                .model(),
        ),
        (
            // `seq - 3` may be below 0, and counts from the end then.
            "element",
            Sketch::new()
                .input("x", f32, &["rows", "seq"])
                .input("y", f32, &["n"])
                .ints("at", &[1])
                .ints("three", &[3])
                .node("Shape", &["x"], &["shape"])
                .node("Gather", &["shape", "at"], &["len"])
                .node("Sub", &["len", "three"], &["place"])
                .node("GatherElements", &["y", "place"], &["z"])
                .output("z", f32, &open(1))
                .model(),
        ),
        (
            "tuple",
            Sketch::new()
                .input("x", f32, &["rows", "seq"])
                .input("y", f32, &["n", "m"])
                .node("Shape", &["x"], &["place"])
                .node("GatherND", &["y", "place"], &["z"])
                .output("z", f32, &open(0))
                .model(),
        ),
        (
            "update",
            Sketch::new()
                .input("x", f32, &["rows", "seq"])
                .input("y", f32, &["n", "m"])
                .ints("row", &[1, 2])
                .constant("new", Tensor::from_vec(Shape::new([1]).unwrap(), vec![0.5f32]).unwrap())
                .node("Shape", &["x"], &["shape"])
                .node("Reshape", &["shape", "row"], &["place"])
                .node("ScatterND", &["y", "place", "new"], &["z"])
                .output("z", f32, &open(2))
                .model(),
        ),
        (
            "greatest",
            Sketch::new()
                .input("x", f32, &["rows", "seq"])
                .with("ArgMax", &["x"], &["y"], vec![("axis", Content::Int(1))])
                .output("y", DType::I64, &open(2))
                .model(),
        ),
        (
            "put",
            Sketch::new()
                .input("x", f32, &["rows", "4"])
                .constant("at", Tensor::zeros(DType::I64, Shape::new([3, 1]).unwrap()).unwrap())
                .constant("new", Tensor::zeros(f32, Shape::new([3, 1]).unwrap()).unwrap())
                .with("ScatterElements", &["x", "at", "new"], &["y"], vec![("axis", Content::Int(1))])
                .output("y", f32, &open(2))
                .model(),
        ),
        (
            "first",
            Sketch::new()
                .input("x", f32, &["rows", "4"])
                .input("y", f32, &["n", "m"])
                .node("Shape", &["y"], &["shape"])
                .with(
                    "ConstantOfShape",
                    &["shape"],
                    &["at"],
                    vec![("value", Content::Tensor(Tensor::vector(&[0i64]).into()))],
                )
                .with("GatherElements", &["x", "at"], &["z"], vec![("axis", Content::Int(1))])
                .output("z", f32, &open(2))
                .model(),
        ),
        (
            "edges",
            Sketch::new()
                .input("x", f32, &["nodes", "4"])
                .input("at", f32, &["edges"])
                .node("Sub", &["at", "at"], &["zeros"])
                .with("Cast", &["zeros"], &["places"], vec![("to", Content::Int(7))])
                .node("Gather", &["x", "places"], &["y"])
                .output("y", f32, &open(2))
                .model(),
        ),
        (
            "grid",
            grid()
                .node("Expand", &["row", "batch by seq"], &["all"])
                .with("Transpose", &["all"], &["turned"], vec![])
                .with("Cast", &["turned"], &["places"], vec![("to", Content::Int(6))])
                .node("Gather", &["table", "places"], &["y"])
                .output("y", f32, &open(2))
                .model(),
        ),
        (
            // The place of each element of `x` in a row of all, from the end.
            "flat",
            grid()
                .node("Mul", &["column", "total"], &["starts"])
                .node("Add", &["starts", "row"], &["all"])
                .node("Neg", &["all"], &["back"])
                .node("Sub", &["back", "one"], &["places"])
                .node("Gather", &["table", "places"], &["y"])
                .output("y", f32, &open(2))
                .model(),
        ),
        (
            "stacked",
            grid()
                .input("z", f32, &["k", "l"])
                .node("Expand", &["row", "batch by seq"], &["rows"])
                .node("Expand", &["column", "batch by seq"], &["columns"])
                .ints("last", &[2])
                .node("Unsqueeze", &["rows", "last"], &["first"])
                .node("Unsqueeze", &["columns", "last"], &["second"])
                .with("Concat", &["first", "second"], &["places"], vec![("axis", Content::Int(-1))])
                .node("GatherND", &["z", "places"], &["y"])
                .output("y", f32, &open(2))
                .model(),
        ),
        (
            "heads",
            Sketch::new()
                .input("x", f32, &["n", "m", "h"])
                .ints("open", &[-1])
                .ints("size", &[4])
                .with("Shape", &["x"], &["kept"], vec![("end", Content::Int(2))])
                .with("Concat", &["kept", "open", "size"], &["target"], vec![("axis", Content::Int(0))])
                .with("Reshape", &["x", "target"], &["y"], vec![("allowzero", Content::Int(1))])
                .output("y", f32, &open(4))
                .model(),
        ),
        (
            "remainder",
            Sketch::new()
                .input("x", f32, &["n"])
                .ints("seven", &[7])
                .node("Shape", &["x"], &["size"])
                .node("Mod", &["seven", "size"], &["y"])
                .output("y", DType::I64, &open(1))
                .model(),
        ),
        (
            "scanned",
            Sketch::new()
                .input("x", f32, &["n", "m"])
                .with(
                    "Scan",
                    &["x"],
                    &["y"],
                    vec![
                        (
                            "body",
                            Sketch::nested()
                                .input("row", f32, &["m"])
                                .node("Abs", &["row"], &["size"])
                                .output("size", f32, &["m"])
                                .graph(),
                        ),
                        ("num_scan_inputs", Content::Int(1)),
                    ],
                )
                .output("y", f32, &open(2))
                .model(),
        ),
        (
            "pieces",
            Sketch::new()
                .input("x", f32, &["n", "m"])
                .with("SplitToSequence", &["x"], &["all"], vec![("axis", Content::Int(0))])
                .with("ConcatFromSequence", &["all"], &["y"], vec![("axis", Content::Int(0))])
                .output("y", f32, &open(2))
                .model(),
        ),
        (
            "hostile",
            Sketch::new()
                .input("a*/\n\"\\??/\u{202e}é", f32, &["int", "class"])
                .input("int", f32, &["class", "a*/ \\"])
                .node("MatMul", &["a*/\n\"\\??/\u{202e}é", "int"], &["*/ } # type: ignore\n"])
                .node("NonZero", &["int"], &["return"])
                .output("*/ } # type: ignore\n", f32, &open(2))
                .output("return", DType::I64, &open(2))
                .model(),
        ),
    ]
}
