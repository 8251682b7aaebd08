//! Dynamic models: what becomes of constants that were sizes, and exports of torch at other sizes.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

#[path = "../common"]
mod common {
    pub mod sketch;
}

use std::path::Path;
use std::sync::Arc;

use common::sketch::{Sketch, tensor_type};
use gradus::check::CheckOptions;
use gradus::convert::Rules;
use gradus::dynamic::{Dynamic, DynamicOptions};
use gradus::graph::{self, Constant, DeclaredDim, Standard, Stored};
use gradus::{DType, Error, Kind, Model, Number, RunOptions, Shape, Tensor, Value};

/// Options that open the sizes of `x=n,3;m=n`, and say `node=size`.
fn options(shapes: &str, sizes: &[(&str, &str)]) -> DynamicOptions {
    let mut options = DynamicOptions::default();
    for shape in shapes.split(';').filter(|shape| !shape.is_empty()) {
        let (name, sizes) = shape.split_once('=').unwrap();
        let size =
            |text: &str| text.parse().map_or_else(|_| DeclaredDim::Symbol(text.into()), DeclaredDim::Known);
        options.inputs.insert(name.into(), sizes.split(',').map(size).collect());
    }
    options.sizes.extend(sizes.iter().map(|(node, size)| ((*node).into(), (*size).into())));
    options
}

fn dynamic(text: &str, shapes: &str, sizes: &[(&str, &str)]) -> Result<Dynamic, Error> {
    Sketch::of(text).model().dynamic(&options(shapes, sizes))
}

fn formulas(dynamic: &Dynamic) -> Vec<&str> {
    dynamic.changes.iter().map(|change| &*change.after).collect()
}

#[test]
fn constants_that_were_sizes_become_formulas() {
    for (text, shapes, expected) in [
        (
            "x: float32[1, 4, 6]; t = [1, 4, 2, 3]; y = Reshape(x, t); return y: float32[1, 4, 2, 3]",
            "x=n,s,6",
            &["[0, 0, 2, 3]"][..],
        ),
        (
            "x: float32[1, 4, 6]; t = [4, 6]; y = Reshape(x, t); return y: float32[4, 6]",
            "x=n,s,6",
            &["[-1, 6]"],
        ),
        (
            "x: int64[1, 4]; p = [0, 1, 2, 3]; y = Add(x, p); return y: int64[1, 4]",
            "x=n,s",
            &["equal steps, axis 0 of s"],
        ),
        (
            "x: float32[1, 4]; z = [1, 4]; o = ConstantOfShape(z); y = Concat(x, o, axis=1); return y: float32[1, 8]",
            "x=n,4",
            &["[n, 4]"],
        ),
        (
            "x: int64[1, 3]; c = [7, 7, 7]; t = [1, 3]; e = Expand(c, t); y = Concat(x, e, axis=0); \
             return y: int64[2, 3]",
            "x=1,s",
            &["one slice, repeated, axis 0 of s", "[1, s]"],
        ),
    ] {
        let made = dynamic(text, shapes, &[]).unwrap();
        assert_eq!(formulas(&made), expected, "{text}");
        assert!(made.conditions.iter().all(|condition| !condition.contains("==")), "{:?}", made.conditions);
    }
}

#[test]
fn what_nothing_decides_is_refused_with_its_candidates() {
    let windows = "x: float32[8, 3]; t = [2, 4, 3]; y = Reshape(x, t); return y: float32[2, 4, 3]";
    let mean = "x: float32[3, 4]; four = 4.0; y = Div(x, four); return y: float32[3, 4]";
    let learned = "x: int64[3, 4]; k = [3, 1, 4, 1]; y = Add(x, k); return y: int64[3, 4]";
    for (text, shapes, sizes, expected) in [
        (windows, "x=h,3", &[][..], "input 1 of node \"make y\" (Reshape) may be [-1, 4, 3] or [2, -1, 3]"),
        (mean, "x=3,s", &[], "input 1 of node \"make y\" (Div) may be 4 or s"),
        (learned, "x=3,s", &[], "the sizes stay fixed by node \"make y\" (Add): s broadcasts with 4"),
        (mean, "z=3,s", &[], "unknown input \"z\""),
        (mean, "x=s", &[], "expected numbers, which are to be open"),
        (mean, "x=s,s", &[], "size of axis 1 of input \"x\" is 4, expected 3"),
        (mean, "x=3,5", &[], "size of axis 1 of input \"x\" is 5, expected 4 as in the file"),
        (mean, "", &[], "no size is to be open"),
        (mean, "x=3,s", &[("q", "s")], "unknown node \"q\""),
    ] {
        let error = dynamic(text, shapes, sizes).unwrap_err().to_string();
        assert!(error.contains(expected), "{text} {shapes}: {error}");
    }
    let asked = dynamic(mean, "x=3,s", &[("y", "s")]).unwrap();
    assert_eq!(formulas(&asked), ["s"]);
    assert!(dynamic(mean, "x=3,s", &[("y", "4")]).unwrap().changes.is_empty());
}

#[test]
fn numbers_that_may_be_sizes_are_told() {
    let mean = |number: &str| {
        format!(
            "x: float32[1, 16, 8]; a = [1]; c = {number}; s = ReduceSum(x, a, keepdims=0); y = Mul(s, c); \
             return y: float32[1, 8]"
        )
    };
    for (number, expected) in [
        ("16.0", &["input 1 of node \"make y\" (Mul) stays 16, which was s"][..]),
        ("0.0625", &["input 1 of node \"make y\" (Mul) stays 0.0625, which was 1/s"]),
        ("0.25", &["input 1 of node \"make y\" (Mul) stays 0.25, which was 1 / the square root of s"]),
        ("15.0", &["input 1 of node \"make y\" (Mul) stays 15, which was s - 1"]),
        ("0.3", &[]),
        ("1.0", &[]),
    ] {
        assert_eq!(dynamic(&mean(number), "x=1,s,8", &[]).unwrap().left, expected, "{number}");
    }
    for (end, expected) in [
        ("[14]", &["input 2 of node \"make y\" (Slice) stays 14 along an axis that is s and was 16"][..]),
        ("[-9]", &["input 2 of node \"make y\" (Slice) stays -9 along an axis that is s and was 16"]),
        ("[2]", &[]),
        ("[-1]", &[]),
        ("[9223372036854775807]", &[]),
    ] {
        let text = format!(
            "x: float32[1, 16, 8]; a = [1]; b = [0]; c = {end}; y = Slice(x, b, c, a); return y: float32[1, ?, 8]"
        );
        assert_eq!(dynamic(&text, "x=1,s,8", &[]).unwrap().left, expected, "{end}");
    }
    let middle = "x: float32[1, 16, 8]; i = 8; y = Gather(x, i, axis=1); return y: float32[1, 8]";
    let left = dynamic(middle, "x=1,s,8", &[]).unwrap().left;
    assert_eq!(left, ["input 1 of node \"make y\" (Gather) stays 8 along an axis that is s and was 16"]);
    let tuple = "x: float32[1, 16, 8]; i = int64[1, 2](0, 8); y = GatherND(x, i); return y: float32[1, 8]";
    let left = dynamic(tuple, "x=1,s,8", &[]).unwrap().left;
    assert_eq!(
        left,
        ["input 1 of node \"make y\" (GatherND) stays up to 8 along an axis that is s and was 16"]
    );
    let halved = "x: float32[1, 1, 18]; h = AveragePool(x, kernel_shape=[2], strides=[2]); a = [2]; c = 9.0; \
                  m = ReduceSum(h, a, keepdims=0); y = Div(m, c); return y: float32[1, 1]";
    let left = dynamic(halved, "x=1,1,s", &[]).unwrap().left;
    assert_eq!(left, ["input 1 of node \"make y\" (Div) stays 9, which was max(s//2, 1)"]);
    let pool =
        "x: float32[1, 2, 4, 4]; y = AveragePool(x, kernel_shape=[4, 4]); return y: float32[1, 2, 1, 1]";
    let left = dynamic(pool, "x=1,2,h,w", &[]).map(|dynamic| dynamic.left);
    assert!(left.map_or(true, |left| left.iter().any(|text| text.contains("kernel_shape"))));
}

#[test]
fn two_exports_decide_what_one_leaves_open() {
    let windows = |h: usize| {
        let text = format!(
            "x: float32[{h}, 3]; t = [{}, 4, 3]; y = Reshape(x, t); return y: float32[{}, 4, 3]",
            h / 4,
            h / 4
        );
        Sketch::of(&text).model()
    };
    let made = windows(8).generalize(&[&windows(12)], &options("x=h,3", &[])).unwrap();
    assert_eq!(formulas(&made), ["[-1, 4, 3]"]);
    let table = |numbers: &str, s: usize| {
        let text = format!("x: int64[2, {s}]; k = [{numbers}]; y = Add(x, k); return y: int64[2, {s}]");
        Sketch::of(&text).model()
    };
    let made =
        table("3, 1, 4", 3).generalize(&[&table("3, 1, 4, 1, 5", 5)], &DynamicOptions::default()).unwrap();
    assert_eq!(formulas(&made), ["the first elements of the longest table, axis 0 of size0"]);
    let error =
        table("3, 1", 2).generalize(&[&table("2, 7, 1, 8", 4)], &DynamicOptions::default()).unwrap_err();
    assert!(error.to_string().contains("a constant that differs: int64[2], int64[4]"), "{error}");
    let other = Sketch::of("x: int64[2, 4]; y = Neg(x); return y: int64[2, 4]").model();
    let error = table("3, 1", 2).generalize(&[&other], &DynamicOptions::default()).unwrap_err();
    assert!(error.to_string().contains("they differ in more than constants"), "{error}");
}

#[test]
fn indices_of_rows_are_counted() {
    let row = Tensor::from_vec(Shape::new([1, 2, 2]).unwrap(), vec![0i64, 1, 0, 2]).unwrap();
    let first = "x: int64[1, 3]; r = [0]; g = Gather(x, r, axis=0); y = Add(x, g); return y: int64[1, 3]";
    let only = "x: int64[1, 3]; r = [0]; y = Gather(x, r, axis=0); return y: int64[1, 3]";
    let pairs = "x: int64[1, 3]; g = GatherND(x, i); y = Concat(x, g, axis=1); return y: int64[1, 5]";
    let flat = "x: int64[1, 3]; r = [0]; w = [3]; f = Reshape(x, m); m = [-1]; q = Mul(r, w); \
                g = Gather(f, q, axis=0); u = [1]; c = Unsqueeze(g, u); y = Add(x, c); return y: int64[1, 3]";
    for text in [first, only, pairs, flat] {
        let model = Sketch::new().constant("i", row.clone()).text(text).model();
        let made = model.dynamic(&options("x=n,3", &[])).unwrap();
        assert!(formulas(&made).contains(&"equal steps, axis 0 of n"), "{text}: {:?}", made.changes);
        assert!(made.checks.iter().any(|check| check == "n = 3: the same as three runs of model 1"));
    }
}

#[test]
fn a_square_image_does_not_tell_height_from_width() {
    let flat = |h: usize, w: usize| {
        let text = format!(
            "x: float32[1, 3, {h}, {w}]; f = [1, 3, {n}]; a = Reshape(x, f); t = [1, 3, {h}, {w}]; \
             y = Reshape(a, t); return y: float32[1, 3, {h}, {w}]",
            n = h * w
        );
        Sketch::of(&text).model()
    };
    let error = flat(8, 8).dynamic(&options("x=n,3,h,w", &[])).unwrap_err().to_string();
    assert!(error.contains("may be [0, 3, "), "{error}");
    assert!(flat(8, 8).generalize(&[&flat(8, 12)], &options("x=1,3,h,w", &[])).is_ok());
    assert!(flat(8, 12).dynamic(&options("x=n,3,h,w", &[])).is_ok());
    // Axes in the order of the image: two square exports tell no other.
    let table = |len: i64| {
        let all = (0..len).flat_map(|row| (0..len).map(move |column| 100 * row + column));
        let len = usize::try_from(len).unwrap();
        let table = Tensor::from_vec(Shape::new([len, len]).unwrap(), all.collect::<Vec<_>>()).unwrap();
        let text = format!("x: int64[{len}, {len}]; y = Add(x, k); return y: int64[{len}, {len}]");
        Sketch::new().constant("k", table).text(&text).model()
    };
    let made = table(8).generalize(&[&table(12)], &options("x=h,w", &[])).unwrap();
    assert_eq!(formulas(&made), ["equal steps, axis 0 of h, axis 1 of w"]);
    assert!(made.conditions.is_empty(), "{:?}", made.conditions);
}

#[test]
fn exports_of_a_batch_of_one_have_no_expand() {
    let one = "x: int64[1, 3]; k = [5, 6, 7]; y = Add(x, k); return y: int64[1, 3]";
    let two =
        "x: int64[2, 3]; k = [5, 6, 7]; t = [2, 3]; e = Expand(k, t); y = Add(x, e); return y: int64[2, 3]";
    let [one, two] = [one, two].map(|text| Sketch::of(text).model());
    let made = one.generalize(&[&two], &DynamicOptions::default()).unwrap();
    assert!(made.conditions.is_empty(), "{:?}", made.conditions);
    // A table that the first export wrote out.
    let one =
        "x: int64[1, 1, 3]; k = int64[1, 1, 3](5, 6, 7); y = Concat(x, k, axis=1); return y: int64[1, 2, 3]";
    let two = "x: int64[2, 1, 4]; k = int64[1, 4](5, 6, 7, 8); t = [2, 1, 4]; e = Expand(k, t); \
               y = Concat(x, e, axis=1); return y: int64[2, 2, 4]";
    let [one, two] = [one, two].map(|text| Sketch::of(text).model());
    let made = one.generalize(&[&two], &options("x=n,1,s", &[])).unwrap();
    assert_eq!(formulas(&made), ["equal steps, axis 0 of n, axis 2 of s"]);
    assert!(made.conditions.is_empty(), "{:?}", made.conditions);
}

#[test]
fn tables_that_follow_from_their_index_are_no_longest_table() {
    let taken = |numbers: &str, s: usize| {
        let text = format!(
            "x: int64[1, {s}]; w = [9, 7, 8, 3, 5, 4]; k = [{numbers}]; g = Gather(w, k); y = Add(x, g); \
             return y: int64[1, {s}]"
        );
        Sketch::of(&text).model()
    };
    let made = taken("0, 1", 2).generalize(&[&taken("0, 1, 2, 3", 4)], &DynamicOptions::default()).unwrap();
    assert_eq!(formulas(&made), ["equal steps, axis 0 of size0"]);
    assert_eq!(made.conditions, ["size0 <= 6"]);
}

#[test]
fn conditions_of_later_nodes_hide_none_of_earlier_ones() {
    // The product refutes the shape `[6, 2, n]` of `a`, and the last `Concat` wants one row.
    let text = "x: float32[1, 3, 4]; t = [6, 2, 1]; a = Reshape(x, t); u = [6, 1, 2]; b = Reshape(x, u); \
                m = MatMul(b, a); w = [1, 6]; z = Reshape(m, w); v = [1, 12]; f = Reshape(x, v); \
                y = Concat(z, f, axis=1); return y: float32[1, 18]";
    let made = dynamic(text, "x=n,3,4", &[]).unwrap();
    assert!(made.conditions.is_empty(), "{:?}", made.conditions);
    assert!(made.checks.iter().any(|check| check == "n = 3: the same as three runs of model 1"));
}

#[test]
fn bounds_are_lifted_where_a_table_repeats() {
    let data = Tensor::from_vec(Shape::new([1, 5]).unwrap(), vec![3i64, 1, 4, 1, 5]).unwrap();
    let text = "x: int64[1, 3]; l = [0]; h = [4]; c = Clip(x, l0, h0); g = GatherElements(k, c, axis=1); \
                y = Add(x, g); return y: int64[1, 3]";
    let scalar = |value: i64| Tensor::from_vec(Shape::new([]).unwrap(), vec![value]).unwrap();
    let sketch = Sketch::new().constant("k", data).constant("l0", scalar(0)).constant("h0", scalar(4));
    let made = sketch.text(text).model().dynamic(&options("x=n,3", &[])).unwrap();
    assert_eq!(formulas(&made), ["one slice, repeated, axis 0 of n"]);
    // A bound that no formula lifts stays a condition.
    let text = "x: int64[1, 3]; k = [3, 1, 4]; y = Add(x, k); return y: int64[1, 3]";
    let text =
        text.replace("y = Add", "e = [1]; z = [0]; f = Shape(x, start=1); c = Slice(k, z, f, z); y = Add");
    let made = dynamic(&text.replace("Add(x, k)", "Add(x, c)"), "x=n,s", &[]).unwrap();
    assert_eq!(made.conditions, ["s <= 3"]);
}

#[test]
fn rows_that_a_table_counts_open_the_sizes_of_later_nodes() {
    let row = Tensor::from_vec(Shape::new([1, 3]).unwrap(), vec![0i64, 1, 2]).unwrap();
    let text = "x: float32[1, 3]; m = [-1]; f = Reshape(x, m); g = Gather(f, i); t = [1, 3, 1]; \
                y = Reshape(g, t); return y: float32[1, 3, 1]";
    let made = Sketch::new().constant("i", row).text(text).model().dynamic(&options("x=n,3", &[])).unwrap();
    assert!(formulas(&made).contains(&"[0, 3, 1]"), "{:?}", made.changes);
}

#[test]
fn tables_repeat_along_the_batch_end_at_the_last_and_round_otherwise() {
    let floats = |sizes: &[usize], all: Vec<f32>| Tensor::from_vec(Shape::new(sizes).unwrap(), all).unwrap();
    let model = |n: usize, s: usize, table: Tensor| {
        let text = format!("x: float32[{n}, {s}]; y = Add(x, k); return y: float32[{n}, {s}]");
        Sketch::new().constant("k", table).text(&text).model()
    };
    let both = |first: Model, second: Model| {
        let made = first.generalize(&[&second], &options("x=n,s", &[])).unwrap();
        (made.changes[0].after.clone(), made.conditions, made.checks)
    };
    let odd = [0.3f32, 0.1, 0.4, 0.15, 0.9];
    let rows = |n: usize, s: usize| floats(&[n, s], odd[..s].repeat(n));
    let (formula, conditions, _) = both(model(1, 3, rows(1, 3)), model(2, 5, rows(2, 5)));
    assert_eq!(formula, "the first elements of the longest table, axis 0 of n, axis 1 of s");
    assert_eq!(conditions, ["s <= 5"]);
    let distances = |s: u8| floats(&[s.into()], (0..s).map(|at| f32::from(at) - f32::from(s - 1)).collect());
    let (formula, conditions, _) = both(model(1, 3, distances(3)), model(2, 5, distances(5)));
    assert_eq!(formula, "equal steps, up to the last, axis 0 of s");
    assert!(conditions.is_empty(), "{conditions:?}");
    let rounded = floats(&[3], vec![0.3, 0.1f32.next_up(), 0.4]);
    let (_, _, checks) = both(model(1, 3, rounded), model(2, 5, floats(&[5], odd.to_vec())));
    assert_eq!(
        checks[0],
        "at the sizes of model 1: the same, but for the rounding of a table, compared by runs"
    );
    let wrong = model(1, 3, floats(&[3], vec![0.3, 0.101, 0.4]));
    assert!(wrong.generalize(&[&model(2, 5, floats(&[5], odd.to_vec()))], &options("x=n,s", &[])).is_err());
}

#[test]
fn numbers_as_far_from_a_size_are_no_multiples_of_another() {
    // The end is two before that of the columns, and 2*h - 34.
    let model = |h: usize, w: usize| {
        let text = format!(
            "x: float32[{h}, {w}]; b = [0]; e = [{}]; a = [1]; y = Slice(x, b, e, a); return y: float32[{h}, {}]",
            w - 2,
            w - 2
        );
        Sketch::of(&text).model()
    };
    let made = model(32, 32).generalize(&[&model(48, 64)], &options("x=h,w", &[])).unwrap();
    assert_eq!(formulas(&made), ["[w - 2]"]);
}

#[test]
fn numbers_that_are_sizes_of_other_nodes_are_no_lines_through_two_points() {
    // The number of pixels, which no input of `Mul` has, and 16*h - 768, 8*w - 256, 512*n - 256.
    let model = |n: usize, h: usize, w: usize| {
        let text = format!(
            "x: float32[{n}, 2, {h}, {w}]; t = [{n}, 2, {}]; a = Reshape(x, t); c = {}.0; d = 0.5; \
             k = Mul(c, d); y = Mul(a, k); return y: float32[{n}, 2, {}]",
            h * w,
            h * w,
            h * w
        );
        Sketch::of(&text).model()
    };
    let made = model(1, 16, 16).generalize(&[&model(2, 24, 32)], &options("x=n,2,h,w", &[])).unwrap();
    assert!(formulas(&made).contains(&"h*w"), "{:?}", made.changes);
    let lines = |n: usize, h: usize, w: usize, number: i64| {
        let text = format!(
            "x: float32[{n}, 2, {h}, {w}]; c = {number}.0; y = Mul(x, c); return y: float32[{n}, 2, {h}, {w}]"
        );
        Sketch::of(&text).model()
    };
    let both = lines(1, 16, 16, 100).generalize(&[&lines(1, 24, 32, 260)], &options("x=1,2,h,w", &[]));
    let error = both.unwrap_err().to_string();
    assert!(error.contains("may be 20*h - 220 or 10*w - 60"), "{error}");
}

#[test]
fn steps_follow_from_sizes_or_do_not() {
    let floats = |sizes: [usize; 2], of: &dyn Fn(usize) -> f32| {
        let all = (0..sizes[0]).map(of).flat_map(|value| vec![value; sizes[1]]).collect::<Vec<f32>>();
        Tensor::from_vec(Shape::new(sizes).unwrap(), all).unwrap()
    };
    let as_float = |at: usize| f32::from(u16::try_from(at).unwrap());
    let model = |h: usize, w: usize, step: &dyn Fn(usize) -> f32| {
        let table = floats([h, w], &|at| as_float(at) * step(h));
        let text = format!("x: float32[1, {h}, {w}]; y = Add(x, k); return y: float32[1, {h}, {w}]");
        Sketch::new().constant("k", table).text(&text).model()
    };
    let of_size = |len: usize| 1.0 / as_float(len);
    let open = options("x=1,h,w", &[]);
    let made = model(8, 4, &of_size).generalize(&[&model(12, 6, &of_size)], &open).unwrap();
    assert_eq!(formulas(&made), ["equal steps, which follow from the size, axis 0 of h, axis 1 of w"]);
    let fixed = |_: usize| 0.125;
    let made = model(8, 4, &fixed).generalize(&[&model(12, 6, &fixed)], &open).unwrap();
    assert_eq!(formulas(&made), ["equal steps, axis 0 of h, axis 1 of w"]);
    let error = model(8, 4, &fixed).dynamic(&open).unwrap_err().to_string();
    assert!(error.contains("equal steps, axis 0 of h, axis 1 of w or equal steps, which follow"), "{error}");
    let sizes = [("y", "equal steps, axis 0 of h, axis 1 of w")];
    assert!(model(8, 4, &fixed).dynamic(&options("x=1,h,w", &sizes)).is_ok());
}

#[test]
fn tables_of_relative_positions_are_taken_from_the_middle() {
    let model = |s: usize| {
        let around = |at: usize| i64::try_from(at).unwrap() - i64::try_from(s).unwrap();
        let cubes = (0..2 * s).map(|at| around(at).pow(3)).collect::<Vec<_>>();
        let places = (0..s).flat_map(|row| (0..s).map(move |column| row + s - column));
        let places = places.map(|place| i64::try_from(place).unwrap()).collect::<Vec<_>>();
        let places = Tensor::from_vec(Shape::new([s, s]).unwrap(), places).unwrap();
        let text = format!("x: int64[{s}, {s}]; g = Gather(k, p); y = Add(x, g); return y: int64[{s}, {s}]");
        Sketch::new().constant("p", places).ints("k", &cubes).text(&text).model()
    };
    let made = model(3).generalize(&[&model(5)], &options("x=s,s", &[])).unwrap();
    let expected = ["the middle elements of the longest table, axis 0 of 2*s", "equal steps, up to the last"];
    let all = formulas(&made);
    assert!(all[0].starts_with(expected[0]) && all[1].starts_with(expected[1]), "{all:?}");
    let open = Model::from_source(made.model.clone());
    for s in [2, 4] {
        let input = Tensor::from_vec(Shape::new([s, s]).unwrap(), vec![0i64; s * s]).unwrap();
        let run = |model: &Model| {
            let run = model
                .compile(&[], &RunOptions::default())
                .unwrap()
                .run([("x".to_owned(), Value::from(input.clone()))]);
            run.unwrap()["y"].tensor().unwrap().to_i64().unwrap()
        };
        assert_eq!(run(&open), run(&model(s)), "{s}");
    }
}

#[test]
fn a_grid_of_the_size_of_an_image_is_told() {
    let grid = Tensor::from_vec(Shape::new([64, 1]).unwrap(), vec![0.5f32; 64]).unwrap();
    let text = "x: float32[1, 3, 8, 8]; m = ReduceMean(x, a); a = [2, 3]; r = [1]; z = [0]; o = [1]; \
                l = Slice(m, z, o, o); q = Mul(k, l); b = [1, 8, 8]; g = Reshape(q, b); s = ReduceSum(g, b1); \
                b1 = [1, 2]; y = Add(s, z0); z0 = 0.0; return y: float32[1]; return x2: float32[1, 3, 8, 8]; x2 = Neg(x)";
    let made = Sketch::new().constant("k", grid).text(text).model().dynamic(&options("x=n,3,h,w", &[]));
    let told = made.map_or_else(|error| vec![error.to_string()], |made| made.left);
    assert!(told.iter().any(|text| text.contains("stays 8, which was h")), "{told:?}");
}

#[test]
fn two_tables_of_one_node_are_opened_together() {
    let model = |s: i64| {
        let table = |of: &dyn Fn(i64, i64) -> i64| {
            let all = (0..s).flat_map(|row| (0..s).map(move |column| (row, column)));
            let all = all.map(|(row, column)| of(row, column)).collect::<Vec<_>>();
            Tensor::from_vec(Shape::new([s.try_into().unwrap(); 2]).unwrap(), all).unwrap()
        };
        let text = format!("x: int64[{s}, {s}]; m = Min(a, b); y = Add(x, m); return y: int64[{s}, {s}]");
        let sketch = Sketch::new().constant("a", table(&|row, column| column - row));
        sketch.constant("b", table(&|_, _| 0)).text(&text).model()
    };
    let made = model(4).generalize(&[&model(6)], &options("x=s,s", &[])).unwrap();
    assert_eq!(made.changes.len(), 2, "{:?}", made.changes);
}

#[test]
fn scales_of_two_exports_are_functions_of_a_size() {
    let functions: [fn(f64) -> f64; 3] = [|size| 1.0 / size.sqrt(), f64::sqrt, |size| 1.0 / (size - 1.0)];
    let expected = ["1 / the square root of s", "the square root of s", "1/(s - 1)"];
    for (function, expected) in functions.into_iter().zip(expected) {
        let model = |s: u8| {
            let scale = Number::Float(function(f64::from(s)));
            let scale =
                Tensor::from_numbers(DType::F32, Shape::new([]).unwrap(), [scale], Rules::IEEE).unwrap();
            let text = format!("x: float32[1, {s}]; y = Mul(x, k); return y: float32[1, {s}]");
            Sketch::new().constant("k", scale).text(&text).model()
        };
        let made = model(12).generalize(&[&model(20)], &options("x=1,s", &[])).unwrap();
        assert_eq!(formulas(&made), [expected]);
        assert!(made.checks.iter().all(|check| !check.contains("rounding")), "{:?}", made.checks);
    }
}

/// Networks that torch exported at two sizes, by `bench/dynamic.py`'s script.
#[test]
fn exports_of_torch_are_those_of_other_sizes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dynamic/exports");
    let mut refused = Vec::new();
    for (name, shapes) in [
        ("conv1d", "x=n,t"),
        ("coord", "x=n,3,h,w"),
        ("gru", "x=n,s,16"),
        ("mha", "x=s,n,32"),
        ("shuffle", "x=n,3,h,w"),
        ("split", "x=n,s,16"),
        ("yolo", "x=n,3,h,w"),
    ] {
        let [a, b] = ["a", "b"].map(|of| Model::open(folder.join(format!("{name}.{of}.onnx"))).unwrap());
        let made = a.generalize(&[&b], &options(shapes, &[])).unwrap();
        assert!(made.checks.len() >= 3, "{name}: {:?}", made.checks);
        let Ok(alone) = a.dynamic(&options(shapes, &[])) else {
            refused.push(name);
            continue;
        };
        let made = a.edited(&alone.model).unwrap();
        let check = b.check(&made, &CheckOptions::default()).unwrap();
        assert!(check.is_same(), "{name}: {check:?}");
    }
    // Grids of two tables.
    assert_eq!(refused, ["yolo"]);
}

/// Elements that cannot be read.
#[derive(Debug)]
struct Unreadable;

impl Stored for Unreadable {
    fn load(&self) -> Result<Tensor, Error> {
        Err(Error::new(Kind::Io, "the weights were read"))
    }
}

/// Runtimes hold the values of bodies to the sizes that these declare.
#[test]
fn bodies_declare_the_sizes_that_are_open() {
    let branch = |operator: &str| {
        let text = format!("s = {operator}(a); t = Tanh(s); return t: float32[2, 3]");
        Sketch::nested().text(&text).graph()
    };
    let body = Sketch::nested()
        .text("i: int64[]; go: bool[]; a: float32[2, 3]; on = Identity(go)")
        .with("If", &["go"], &["b"], vec![("then_branch", branch("Neg")), ("else_branch", branch("Abs"))])
        .text("c = Exp(b); return on: bool[]; return b: float32[2, 3]; return c: float32[2, 3]");
    let model = Sketch::of("x: float32[2, 3]; most: int64[]")
        .with("Loop", &["most", "", "x"], &["y", "z"], vec![("body", body.graph())])
        .text("return y: float32[2, 3]; return z: float32[most, 2, 3]")
        .model();
    let made = model.dynamic(&options("x=n,3", &[])).unwrap().model;
    let body = made.graph.nodes()[0].graphs().next().unwrap();
    let open = |graph: &graph::Graph, name: &str| {
        let info = graph.values().iter().find(|info| &*info.name == name && info.declared.is_some());
        info.unwrap().declared.clone().unwrap()
    };
    for name in ["a", "b", "c"] {
        assert_eq!(open(body, name), tensor_type(DType::F32, &["n", "3"]), "{name}");
    }
    for branch in body.nodes().iter().flat_map(graph::Node::graphs) {
        assert_eq!(open(branch, "t"), tensor_type(DType::F32, &["n", "3"]));
    }
}

#[test]
fn weights_of_a_large_model_are_not_read() {
    let text = "x: float32[1, 32768]; a = MatMul(x, w); b = MatMul(a, v); t = [1, 256, 64]; y = Reshape(b, t); \
                return y: float32[1, 256, 64]";
    let mut sketch = Sketch::new();
    for (name, sizes) in [("w", [32768, 16384]), ("v", [16384, 16384])] {
        let shape = Shape::new(sizes).unwrap();
        sketch.0.constant(name, Constant::stored(DType::F32, shape, Arc::new(Unreadable))).unwrap();
    }
    let mut model = graph::Model::new(Standard::Onnx);
    (model.format_version, model.opsets) = (8, vec![("".into(), 20)]);
    model.graph = sketch.text(text).0.finish().unwrap();
    let made = Model::from_source(model).dynamic(&options("x=n,32768", &[])).unwrap();
    assert_eq!(formulas(&made), ["[0, 256, 64]"]);
    assert_eq!(
        made.checks,
        [
            "at the sizes of model 1: the same, proved",
            "not run: its constants have 3221225496 bytes, more than 1073741824"
        ]
    );
}
