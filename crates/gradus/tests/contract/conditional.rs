//! Models whose nodes have conditions on sizes, for each kind of condition.

use gradus::graph::Content;
use gradus::{DType, Model, Shape, Tensor};

use crate::common::sketch::Sketch;

/// Values of a model of `x`, of `batch` by `seq` elements, and `cache` of `past` rows: a table of
/// 16 rows, `past` to `past + seq` as `row`, and 0 to `batch` as `column`.
fn grid() -> Sketch {
    Sketch::of("x: float32[batch, seq]; cache: float32[past, 2]")
        .constant("table", Tensor::from_vec(Shape::new([16]).unwrap(), vec![0.5f32; 16]).unwrap())
        .text(
            "zero = 0; one = 1; axis = [1]; batch by seq = Shape(x); before = Shape(cache);
             batch = Gather(batch by seq, zero); seq = Gather(batch by seq, one);
             past = Gather(before, zero); total = Add(past, seq);
             row = Range(past, total, one); lines of x = Range(zero, batch, one);
             column = Unsqueeze(lines of x, axis)",
        )
}

/// A loop that looks up a row of a table in each of its iterations: at a counter that `x` limits, or
/// at the index of the iteration.
fn looked_up(by_counter: bool) -> Model {
    let body = if by_counter {
        "i: int64[]; row = Gather(table, i); next = Add(i, step); go = Less(next, limit);
         return go: bool[]; return next: int64[]"
    } else {
        "row = Gather(table, iteration); go = Identity(went); return go: bool[]"
    };
    let body = format!("iteration: int64[]; went: bool[]; {body}; return row: float32[2]");
    let body = vec![("body", Sketch::nested().text(&body).graph())];
    let sketch = Sketch::of(
        "x: float32[n]; table: float32[m, 2]; limit = Size(x); start = 1; step = 3;
         enters = Less(start, limit)",
    );
    let sketch = if by_counter {
        sketch.with("Loop", &["", "enters", "start"], &["end", "rows"], body)
    } else {
        sketch.with("Loop", &["limit", ""], &["rows"], body)
    };
    sketch.output("rows", DType::F32, &["?"; 2]).model()
}

/// A loop over the elements of its input, which has each that it looks up.
fn each_element() -> Model {
    let body = "iteration: int64[]; went: bool[]; element = Gather(x, iteration);
                go = Identity(went); return go: bool[]; return element: float32[]";
    let body = vec![("body", Sketch::nested().text(body).graph())];
    let sketch = Sketch::of("x: float32[n]; limit = Size(x)");
    let sketch = sketch.with("Loop", &["limit", ""], &["all"], body);
    sketch.output("all", DType::F32, &["?"]).model()
}

/// Models whose nodes have conditions on sizes.
#[expect(clippy::too_many_lines, reason = "a table of cases")]
pub fn conditional() -> Vec<(&'static str, Model)> {
    let f32 = DType::F32;
    let open = |rank: usize| vec!["?"; rank];
    vec![
        (
            "blocks",
            Sketch::of(
                "x: float32[batch, h]; shape = [0, -1, 32]; y = Reshape(x, shape);
                 return y: float32[?, ?, ?]",
            )
            .model(),
        ),
        (
            "inner",
            Sketch::of("a: float32[n, k]; b: float32[l, m]; y = MatMul(a, b); return y: float32[?, ?]")
                .model(),
        ),
        (
            "sums",
            Sketch::of("a: float32[n, k]; b: float32[m, l]; y = Add(a, b); return y: float32[?, ?]").model(),
        ),
        (
            "cache",
            Sketch::of(
                "past: float32[batch, 4, past_len, 8]; new: float32[batch, 4, seq, 8];
                 present = Concat(past, new, axis=2); return present: float32[?, ?, ?, ?]",
            )
            .model(),
        ),
        (
            "window",
            Sketch::of("x: float32[1, 2, h]")
                .constant("w", Tensor::from_vec(Shape::new([3, 2, 5]).unwrap(), vec![0.5f32; 30]).unwrap())
                .text("y = Conv(x, w, strides=[2]); return y: float32[?, ?, ?]")
                .model(),
        ),
        ("counted", looked_up(true)),
        ("iterations", looked_up(false)),
        ("each", each_element()),
        ("found", Sketch::of("x: float32[n, m]; y = NonZero(x); return y: int64[?, ?]").model()),
        (
            "halves",
            Sketch::of(
                "x: float32[n, 6]; sizes = [3, 5]; y, z = Split(x, sizes, axis=0);
                 return y: float32[?, ?]; return z: float32[?, ?]",
            )
            .model(),
        ),
        (
            "positional",
            Sketch::of("x: float32[batch, seq, 4]")
                .constant("table", Tensor::from_vec(Shape::new([16, 4]).unwrap(), vec![0.5f32; 64]).unwrap())
                .text(
                    "start = [0]; axes = [0]; at = [1]; shape = Shape(x);
                     len = Gather(shape, at); rows = Slice(table, start, len, axes);
                     y = Add(x, rows); return y: float32[?, ?, ?]",
                )
                .model(),
        ),
        (
            "last",
            Sketch::of(
                "x: float32[batch, seq]; start = [-1]; end = [9223372036854775807]; axes = [1];
                 column = Slice(x, start, end, axes); y = Div(x, column); return y: float32[?, ?]",
            )
            .model(),
        ),
        (
            "lookup",
            Sketch::of("x: float32[batch, seq]")
                .constant("table", Tensor::from_vec(Shape::new([16, 4]).unwrap(), vec![0.5f32; 64]).unwrap())
                .text(
                    "at = 1; first = 0; shape = Shape(x); len = Gather(shape, at);
                     positions = Range(first, len, at); y = Gather(table, positions);
                     return y: float32[?, ?]",
                )
                .model(),
        ),
        (
            // `seq - 3` may be below 0, and counts from the end then.
            "element",
            Sketch::of(
                "x: float32[rows, seq]; y: float32[n]; at = [1]; three = [3]; shape = Shape(x);
                 len = Gather(shape, at); place = Sub(len, three); z = GatherElements(y, place);
                 return z: float32[?]",
            )
            .model(),
        ),
        (
            "tuple",
            Sketch::of(
                "x: float32[rows, seq]; y: float32[n, m]; place = Shape(x); z = GatherND(y, place);
                 return z: float32[]",
            )
            .model(),
        ),
        (
            "update",
            Sketch::of("x: float32[rows, seq]; y: float32[n, m]; row = [1, 2]")
                .constant("new", Tensor::from_vec(Shape::new([1]).unwrap(), vec![0.5f32]).unwrap())
                .text(
                    "shape = Shape(x); place = Reshape(shape, row);
                     z = ScatterND(y, place, new); return z: float32[?, ?]",
                )
                .model(),
        ),
        (
            "greatest",
            Sketch::of("x: float32[rows, seq]; y = ArgMax(x, axis=1); return y: int64[?, ?]").model(),
        ),
        (
            "put",
            Sketch::of("x: float32[rows, 4]")
                .constant("at", Tensor::zeros(DType::I64, Shape::new([3, 1]).unwrap()).unwrap())
                .constant("new", Tensor::zeros(f32, Shape::new([3, 1]).unwrap()).unwrap())
                .text("y = ScatterElements(x, at, new, axis=1); return y: float32[?, ?]")
                .model(),
        ),
        (
            "first",
            Sketch::of("x: float32[rows, 4]; y: float32[n, m]; shape = Shape(y)")
                .with(
                    "ConstantOfShape",
                    &["shape"],
                    &["at"],
                    vec![("value", Content::Tensor(Tensor::vector(&[0i64]).into()))],
                )
                .text("z = GatherElements(x, at, axis=1); return z: float32[?, ?]")
                .model(),
        ),
        (
            "edges",
            Sketch::of(
                "x: float32[nodes, 4]; at: float32[edges]; zeros = Sub(at, at);
                 places = Cast(zeros, to=7); y = Gather(x, places); return y: float32[?, ?]",
            )
            .model(),
        ),
        (
            "grid",
            grid()
                .text(
                    "all = Expand(row, batch by seq); turned = Transpose(all);
                     places = Cast(turned, to=6); y = Gather(table, places);
                     return y: float32[?, ?]",
                )
                .model(),
        ),
        (
            // The place of each element of `x` in a row of all, from the end.
            "flat",
            grid()
                .text(
                    "starts = Mul(column, total); all = Add(starts, row); back = Neg(all);
                     places = Sub(back, one); y = Gather(table, places); return y: float32[?, ?]",
                )
                .model(),
        ),
        (
            "stacked",
            grid()
                .text(
                    "z: float32[k, l]; rows = Expand(row, batch by seq);
                     columns = Expand(column, batch by seq); last = [2];
                     first = Unsqueeze(rows, last); second = Unsqueeze(columns, last);
                     places = Concat(first, second, axis=-1); y = GatherND(z, places);
                     return y: float32[?, ?]",
                )
                .model(),
        ),
        (
            "heads",
            Sketch::of(
                "x: float32[n, m, h]; open = [-1]; size = [4]; kept = Shape(x, end=2);
                 target = Concat(kept, open, size, axis=0); y = Reshape(x, target, allowzero=1);
                 return y: float32[?, ?, ?, ?]",
            )
            .model(),
        ),
        (
            // Rows of `seq` columns, of which there is one if `x` is of 0 by 0.
            "rows",
            Sketch::of(
                "x: float32[batch, seq]; open = [-1]; shape = Shape(x); last = Shape(x, start=1);
                 target = Concat(open, last, axis=0); rows = Reshape(x, target, allowzero=1);
                 y = Reshape(rows, shape, allowzero=1); return y: float32[?, ?]",
            )
            .model(),
        ),
        (
            // A size of 0 stands for the 8 there, so that none but empty batches run.
            "planes",
            Sketch::of(
                "x: float32[batch, 8, n]; channels = [8]; batch = Shape(x, end=1); n = Shape(x, start=2);
                 target = Concat(batch, n, channels, axis=0); planes = Reshape(x, target);
                 axes = [1, 2]; y = ReduceSum(planes, axes, keepdims=0); return y: float32[?]",
            )
            .model(),
        ),
        (
            // One row of `seq` sums: an empty batch stands for the row, which has another size.
            "emptied",
            Sketch::of(
                "x: float32[batch, seq]; axes = [0]; shape = Shape(x); row = ReduceSum(x, axes);
                 y = Reshape(row, shape); return y: float32[?, ?]",
            )
            .model(),
        ),
        (
            "remainder",
            Sketch::of(
                "x: float32[n]; seven = [7]; size = Shape(x); y = Mod(seven, size); return y: int64[?]",
            )
            .model(),
        ),
        (
            "scanned",
            Sketch::of("x: float32[n, m]")
                .with(
                    "Scan",
                    &["x"],
                    &["y"],
                    vec![
                        (
                            "body",
                            Sketch::nested()
                                .text("row: float32[m]; size = Abs(row); return size: float32[m]")
                                .graph(),
                        ),
                        ("num_scan_inputs", Content::Int(1)),
                    ],
                )
                .text("return y: float32[?, ?]")
                .model(),
        ),
        (
            "pieces",
            Sketch::of(
                "x: float32[n, m]; all = SplitToSequence(x, axis=0); y = ConcatFromSequence(all, axis=0);
                 return y: float32[?, ?]",
            )
            .model(),
        ),
        (
            "hostile",
            Sketch::new()
                .input("a*/\n\"\\??/\u{202e}é", f32, &["int", "class"])
                .input("int", f32, &["class", "a*/ \\"])
                .node("MatMul", &["a*/\n\"\\??/\u{202e}é", "int"], &["*/ } # type: ignore\n"])
                .text("return = NonZero(int)")
                .output("*/ } # type: ignore\n", f32, &open(2))
                .text("return return: int64[?, ?]")
                .model(),
        ),
    ]
}
