//! Folding at level exact: values that are never -0, floats that nothing rounds, equal constants,
//! and models that another fold leaves as they are.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use gradus::check::{CheckOptions, VerifyOptions};
use gradus::conversion::ConvertOptions;
use gradus::fold::{FoldOptions, Level, RuleSet};
use gradus::graph::{Content, Standard};
use gradus::{DType, Model, Shape, Tensor, Value};

use crate::common::sketch::{Sketch, operators};

fn folded_by(model: &Model, rules: RuleSet) -> Model {
    let mut options = FoldOptions::default();
    options.rules = rules;
    model.edited(&model.fold(&options).unwrap().model).unwrap()
}

fn folded(model: &Model) -> Model {
    folded_by(model, RuleSet::of(Level::Exact))
}

fn vector(elements: &[f32]) -> Tensor {
    Tensor::from_vec(Shape::new(vec![elements.len()]).unwrap(), elements.to_vec()).unwrap()
}

fn int(name: &'static str, value: i64) -> (&'static str, Content) {
    (name, Content::Int(value))
}

/// A sum with zero, negated, of the results of a node.
fn raised(operator: &str, inputs: &[&str]) -> Model {
    Sketch::of(
        "x: float32[4]; z: float32[4]; first = [0]; four = [4]; zero = 0.0; half = 0.5;
         two = 2.0; three = 3.0; some = float32[4](0, 0.5, -0.5, 0);
         signed = float32[4](0, 0.5, -0.0, 0); a = Abs(x); a2 = Exp(z)",
    )
    .node(operator, inputs, &["b"])
    .text(
        "c = Add(b, zero); y = Neg(c); w = Neg(a); return y: float32[?];
         return w: float32[?]",
    )
    .model()
}

#[test]
fn sums_with_zero_of_what_is_never_negative_zero_are_it() {
    let never = [
        ("ReduceL1", &["x", "first"][..]),
        ("ReduceL2", &["x", "first"]),
        ("ReduceSumSquare", &["x", "first"]),
        ("ReduceSum", &["a", "first"]),
        ("ReduceMax", &["a", "first"]),
        ("Cosh", &["x"]),
        ("Sqrt", &["a"]),
        ("Mul", &["x", "x"]),
        ("Pow", &["x", "two"]),
        ("Sub", &["some", "x"]),
        ("Sum", &["x", "z", "some"]),
        ("Max", &["x", "half"]),
        ("Max", &["a", "some"]),
        ("Min", &["a", "some"]),
        ("Tile", &["a", "first"]),
        ("Div", &["x", "x"]),
        ("Div", &["a", "a2"]),
        ("Mul", &["a", "half"]),
    ];
    let input = vector(&[-0.0, 0.0, -0.5, 2.0]);
    for (operator, inputs) in never {
        let model = raised(operator, inputs);
        let after = folded(&model);
        let has_sum = operators(&after).split(' ').any(|name| name == "Add");
        assert!(!has_sum, "{operator}: {}", operators(&after));
        let run = |model: &Model| {
            let inputs = ["x", "z"].map(|name| (name, Value::from(input.clone())));
            format!("{:?}", model.run(&HashMap::from(inputs)).unwrap())
        };
        assert_eq!(run(&model), run(&after), "{operator}");
    }
    let maybe = [
        ("ReduceSum", &["x", "first"][..]),
        ("ReduceMean", &["a", "first"]),
        ("Mul", &["x", "z"]),
        ("Pow", &["x", "three"]),
        ("Sub", &["x", "some"]),
        ("Sub", &["signed", "x"]),
        ("Sum", &["x", "z"]),
        ("Max", &["x", "zero"]),
        ("Min", &["x", "some"]),
        ("Min", &["a", "signed"]),
        ("Div", &["a", "x"]),
        ("Mul", &["a", "some"]),
    ];
    for (operator, inputs) in maybe {
        let after = folded(&raised(operator, inputs));
        assert!(operators(&after).contains(&format!("{operator} Add")), "{operator}: {}", operators(&after));
    }
}

/// A product by what a node computes of constants.
fn scaled(operator: &str, operands: &[&[f32]], attributes: Vec<(&str, Content)>) -> Model {
    let names = ["a", "b", "c"];
    let mut sketch = Sketch::of("x: float32[n, ]; first = [0]");
    for (name, operand) in names.iter().zip(operands) {
        sketch = sketch.constant(name, vector(operand));
    }
    let mut inputs = names[..operands.len()].to_vec();
    if operator.starts_with("Reduce") || operator == "CumSum" {
        inputs.push("first");
    }
    sketch.with(operator, &inputs, &["t"], attributes).text("y = Mul(x, t); return y: float32[n, ]").model()
}

#[test]
fn floats_that_nothing_rounds_are_constants() {
    let remainder = || vec![int("fmod", 1)];
    let exact = [
        scaled("Max", &[&[9.0, 0.1], &[1.0, 0.7]], vec![]),
        scaled("Min", &[&[9.0, 0.1], &[f32::INFINITY]], vec![]),
        scaled("ReduceMin", &[&[9.0, 0.1]], vec![]),
        scaled("Relu", &[&[-9.0, 0.1]], vec![]),
        scaled("Sum", &[&[9.0, 0.5], &[1.0, -0.75]], vec![]),
        scaled("ReduceSum", &[&[9.0, 0.5, -3.25]], vec![]),
        scaled("ReduceMean", &[&[9.0, 0.5, -3.25, 1.0]], vec![]),
        scaled("ReduceSumSquare", &[&[9.0, 0.5, -3.25]], vec![]),
        scaled("ReduceProd", &[&[9.0, 0.5, -3.25]], vec![]),
        scaled("CumSum", &[&[9.0, 0.5, -3.25]], vec![]),
        scaled("Mod", &[&[9.0, 7.5], &[2.0]], remainder()),
        scaled("Reciprocal", &[&[3.0, -0.1]], vec![]),
    ];
    for model in exact {
        assert_eq!(operators(&folded(&model)), "Mul", "{}", operators(&model));
    }
    let open = [
        scaled("Max", &[&[0.0, 0.1], &[-0.0, 0.7]], vec![]),
        scaled("Max", &[&[f32::NAN, 0.1], &[1.0, 0.7]], vec![]),
        scaled("ReduceSum", &[&[16_777_215.0, 2.0, -16_777_215.0]], vec![]),
        scaled("ReduceSum", &[&[0.1, 0.7, 1e9]], vec![]),
        scaled("ReduceMean", &[&[9.0, 0.5, -3.25]], vec![]),
        scaled("ReduceSumSquare", &[&[0.1, 0.7]], vec![]),
        scaled("ReduceProd", &[&[0.1, 0.7]], vec![]),
        scaled("Mod", &[&[-9.0, 7.5], &[3.0]], remainder()),
    ];
    for model in open {
        assert_eq!(operators(&folded(&model)), operators(&model));
    }
}

/// Elements from 0 to 1, of which one alone is 0/0.
fn steps(least: i64) -> Model {
    Sketch::of("x: float32[n]; zero = 0; one = 1")
        .constant("least", Tensor::scalar(least))
        .text(
            "unit = 1.0; none = 0.0; n = Size(x); r = Range(zero, n, one);
             i = Cast(r, to=1); m = Sub(n, least); s = Cast(m, to=1); step = Div(unit, s);
             p = Mul(i, step); y = Add(p, none); return y: float32[n]",
        )
        .model()
}

#[test]
fn products_of_counts_are_never_negative_zero() {
    let model = steps(1);
    let after = folded(&model);
    assert!(!operators(&after).contains("Add"), "{}", operators(&after));
    for n in [0, 1, 2, 5] {
        let run = |model: &Model| {
            let x = Tensor::from_vec(Shape::new(vec![n]).unwrap(), vec![0f32; n]).unwrap();
            format!("{:?}", model.run(&HashMap::from([("x", Value::from(x))])).unwrap())
        };
        assert_eq!(run(&model), run(&after), "{n}");
    }
    // 0 * 1/(1 - 2) is -0.
    assert!(operators(&folded(&steps(2))).contains("Add"));
}

/// Elements of `x` at the logarithms of constants to base 2, as integers of a type.
fn logarithms(elements: &[f32], rounding: &str, to: i64) -> Model {
    Sketch::of("x: float32[9, n]")
        .constant("elements", vector(elements))
        .text("two = 2.0; a = Log(elements); b = Log(two); c = Div(a, b)")
        .node(rounding, &["c"], &["d"])
        .with("Cast", &["d"], &["e"], vec![int("to", to)])
        .text("y = Gather(x, e); return y: float32[, n]")
        .model()
}

#[test]
fn integers_that_no_rounding_of_floats_changes_are_constants() {
    for rounding in ["Identity", "Floor", "Ceil", "Round", "Abs"] {
        let model = logarithms(&[3.0, 5.0, 100.0], rounding, 7);
        assert_eq!(operators(&folded(&model)), "Gather", "{rounding}");
        let without = RuleSet::of(Level::Exact).without("settled-integers").unwrap();
        assert!(operators(&folded_by(&model, without)).contains("Log Div"), "{rounding}");
    }
    // A logarithm may be rounded to either side of an integer, of a half, or beyond a type.
    for (elements, rounding, to) in [
        (&[3.0, 8.0][..], "Identity", 7),
        (&[3.0, 8.0], "Floor", 7),
        (&[3.0, 8.0], "Ceil", 7),
        (&[3.0, std::f32::consts::SQRT_2], "Round", 7),
        (&[0.0, 3.0], "Identity", 7),
        (&[f32::NAN, 3.0], "Identity", 7),
        (&[-3.0, 3.0], "Identity", 7),
    ] {
        let model = logarithms(elements, rounding, to);
        let after = operators(&folded(&model));
        assert!(after.contains("Log"), "{elements:?} {rounding}: {after}");
    }
    let compared = |threshold: f32| {
        let model = Sketch::of("x: float32[2]; elements = float32[2](0.5, 2)")
            .constant("threshold", Tensor::scalar(threshold))
            .text(
                "a = Exp(elements); b = Less(a, threshold); c = Neg(x); y = Where(b, x, c);
                 return y: float32[2]",
            )
            .model();
        operators(&folded(&model))
    };
    assert_eq!(compared(3.0), "Neg Where");
    assert_eq!(compared(2f32.exp()), "Exp Less Neg Where");
}

#[test]
fn quantized_weights_stay_quantized() {
    let weights = Tensor::from_vec(Shape::new(vec![2, 3]).unwrap(), vec![1i8, -2, 3, -4, 5, -6]).unwrap();
    let model = Sketch::of("x: float32[n, 2]")
        .constant("q", weights)
        .text(
            "scale = 0.5; w = DequantizeLinear(q, scale); y = MatMul(x, w);
             return y: float32[n, 3]",
        )
        .model();
    for level in Level::ALL {
        assert_eq!(operators(&folded_by(&model, RuleSet::of(level))), "DequantizeLinear MatMul");
    }
}

#[test]
fn equal_constants_are_one() {
    let model = Sketch::of(
        "x: float32[n, 3]; a = float32[3](0, 1, 2); b = float32[3](0, 1, 2);
         signed = float32[3](-0.0, 1, 2); integers = [0, 1, 2]; p = Mul(x, a); q = Sub(p, b);
         y = Div(q, signed); w = Gather(x, integers); return y: float32[n, 3];
         return w: float32[3, 3]",
    )
    .model();
    let constants = |model: &Model| {
        let graph = model.graph();
        graph.constants().iter().map(|(id, _)| graph.value(*id).name.to_string()).collect::<Vec<_>>()
    };
    let after = folded(&model);
    assert_eq!(constants(&after), ["a", "signed", "integers"]);
    assert_eq!(operators(&after), operators(&model));
    let without = folded_by(&model, RuleSet::of(Level::Exact).without("equal-constants").unwrap());
    assert_eq!(constants(&without), constants(&model));
}

/// The elements of an initial state are read by no rule.
#[test]
fn computed_constants_are_equal_ones_of_the_file() {
    let floats = |dims: &[usize]| {
        let shape = Shape::new(dims.to_vec()).unwrap();
        let elements: Vec<_> = (0u16..).take(shape.len()).map(|i| f32::from(i % 7) / 8.0).collect();
        Tensor::from_vec(shape, elements).unwrap()
    };
    let model = Sketch::of("x: float32[5, 2, 2]")
        .constant("w", floats(&[1, 12, 2]))
        .constant("r", floats(&[1, 12, 3]))
        .constant("h", floats(&[1, 2, 3]))
        .constant("more", floats(&[1, 4, 3]))
        .text(
            "zero = [0]; one = [1]; two = [2]; c = Slice(more, zero, two, one);
             y = LSTM(x, w, r, , , h, c, hidden_size=3); return y: float32[5, 1, 2, 3]",
        )
        .model();
    let after = folded(&model);
    assert_eq!(operators(&after), "LSTM");
    let graph = after.graph();
    let names = graph.constants().iter().map(|(id, _)| &*graph.value(*id).name);
    assert_eq!(names.collect::<Vec<_>>(), ["w", "r", "h"]);
}

/// States of several directions are put together.
#[test]
fn zero_states_of_two_directions_are_the_default() {
    let floats = |dims: &[usize]| {
        let shape = Shape::new(dims.to_vec()).unwrap();
        let elements: Vec<_> = (0u16..).take(shape.len()).map(|i| f32::from(i % 7) / 8.0).collect();
        Tensor::from_vec(shape, elements).unwrap()
    };
    let model = Sketch::of("x: float32[5, n, 2]")
        .constant("w", floats(&[2, 12, 2]))
        .constant("r", floats(&[2, 12, 3]))
        .text(
            "zero = 0.0; first = [0]; one = [1]; size = [3]; all = Shape(x);
             n = Gather(all, one); state = Concat(n, size, axis=0);
             zeros = Expand(zero, state); half = Unsqueeze(zeros, first);
             both = Concat(half, half, axis=0)",
        )
        .with(
            "LSTM",
            &["x", "w", "r", "", "", "both", "both"],
            &["y"],
            vec![int("hidden_size", 3), ("direction", Content::Text("bidirectional".into()))],
        )
        .text("return y: float32[5, 2, n, 3]")
        .model();
    assert_eq!(operators(&folded(&model)), "LSTM");
}

/// A loop of no iteration, whose body reads its state and has a node that nobody needs.
fn idle_loop() -> Model {
    let body = Sketch::nested()
        .text(
            "i: int64[]; c: bool[]; s: int64[4]; unread = Softmax(x); s2 = Identity(s);
             c2 = Identity(c); return c2: bool[]; return s2: int64[4]",
        )
        .graph();
    Sketch::of("x: float32[n, 4]; state = [7, 5, 0, 2]; none = 0; true = true")
        .with("Loop", &["none", "true", "state"], &["y"], vec![("body", body)])
        .text("return y: int64[4]; w = Relu(x); return w: float32[n, 4]")
        .model()
}

#[test]
fn another_fold_finds_nothing() {
    let reduced = Sketch::of(
        "x: float32[n]; c = float32[1](-3); first = [0]; y = ReduceMax(c, first, keepdims=0);
         w = Add(x, y); return y: float32[]; return w: float32[n]",
    )
    .model();
    // The difference is zero once the branch stands in place of If.
    let branch = |name| Sketch::nested().node("Identity", &["x"], &[name]).output(name, DType::I64, &[]);
    let difference = Sketch::of("b: bool[]; true = true; x = Cast(b, to=7)")
        .with(
            "If",
            &["true"],
            &["same"],
            vec![("then_branch", branch("t").graph()), ("else_branch", branch("e").graph())],
        )
        .text("y = Sub(same, x); return y: int64[]")
        .model();
    for model in [idle_loop(), reduced, difference] {
        let once = folded(&model);
        let twice = folded(&once);
        assert_eq!(operators(&twice), operators(&once), "{}", operators(&model));
        assert!(twice.bytes() == once.bytes());
    }
}

/// The transposed value is an end of the region between two Transposes, and an operand within it.
#[test]
fn an_operand_that_is_transposed_from_within_a_region_keeps_its_order() {
    let perm = |axes: &[i64]| vec![("perm", Content::Ints(axes.to_vec().into()))];
    let square = |axes: &[i64], sizes: &[&str], joined: &[&str]| {
        let sketch = Sketch::new()
            .input("x", DType::F32, sizes)
            .with("Transpose", &["x"], &["a"], perm(axes))
            .text("b = Relu(a)")
            .with("Transpose", &["b"], &["c"], perm(axes));
        let attributes = if joined[0] == "Concat" { vec![int("axis", -1)] } else { Vec::new() };
        let sketch = sketch.with(joined[0], &joined[1..], &["d"], attributes);
        sketch.with("Transpose", &["d"], &["y"], perm(axes)).output("y", DType::F32, &vec![""; axes.len()])
    };
    let models = [
        square(&[1, 0], &["3", "3"], &["Add", "b", "c"]),
        square(&[1, 0], &["n", "n"], &["Sub", "c", "b"]),
        square(&[0, 3, 2, 1], &["2", "n", "4", "n"], &["Concat", "b", "c"]),
        square(&[0, 2, 1], &["n", "3", "3"], &["Sum", "b", "c", "b"]),
        square(&[1, 0], &["3", "1"], &["Sub", "b", "c"]),
        // The end of the region is an output too.
        square(&[1, 0], &["3", "3"], &["Add", "b", "c"]).text("return c: float32[3, 3]"),
    ];
    for model in models.map(Sketch::model) {
        let after = folded_by(&model, RuleSet::of(Level::Fuse));
        let measured = model.measure(&after, &VerifyOptions::default()).unwrap();
        assert_eq!((measured.ulps, measured.relative.to_bits()), (0, 0), "{}", operators(&model));
    }
}

/// The bound of a Clip is a scalar, and no operand that meets the elements of the data.
#[test]
fn bounds_of_clip_keep_their_shape() {
    let model = Sketch::of(
        "x: float32[1]; z: float32[]; none = []; one = [1]; a = Reshape(x, none); b = Neg(a);
         c = Clip(z, b); y = Reshape(c, one); return y: float32[1]",
    )
    .model();
    let after = folded(&model);
    let measured = model.measure(&after, &VerifyOptions::default()).unwrap();
    assert_eq!((measured.ulps, measured.relative.to_bits()), (0, 0));
}

/// Compares the outputs of a model and what it is folded to where `n` and `m` are 0, 1, 2 and 3, if
/// the model takes these.
fn assert_same_at_all_sizes(model: &Model) {
    let after = folded(model);
    for (n, m) in (0..4).flat_map(|n| (0..4).map(move |m| (n, m))) {
        let mut options = CheckOptions::default();
        options.proof = Duration::ZERO;
        options.sizes.dims = BTreeMap::from([("n".to_owned(), n), ("m".to_owned(), m)]);
        match model.check(&after, &options) {
            Ok(check) => assert!(check.is_same(), "n = {n}, m = {m}: {} {check:?}", operators(model)),
            Err(error) => assert!(model.check(model, &options).is_err(), "n = {n}, m = {m}: {error}"),
        }
    }
}

/// In a target, 0 stands for the dimension of the data: where a computed size is 0, Reshape may give
/// another shape than for all other sizes.
#[test]
fn computed_sizes_of_a_reshape_may_be_zero() {
    // Sizes of the data, and the target: numbers, axes of the data as letters, products of these.
    let forms: [(&[&str], &[&str]); 17] = [
        (&["1", "n", "n"], &["ab", "c"]),
        (&["n", "1", "n"], &["c", "a", "b"]),
        (&["n", "n", "2"], &["c", "b", "a"]),
        (&["n", "3"], &["-1", "ab"]),
        (&["n", "3"], &["ab"]),
        (&["n", "3"], &["ab", "-1"]),
        (&["n", "m", "2"], &["ab", "-1"]),
        (&["n", "m", "2"], &["ab", "c"]),
        (&["n", "m", "2"], &["-1", "ab"]),
        (&["n", "m", "2"], &["a", "-1"]),
        (&["n", "m", "2"], &["a", "bc"]),
        (&["n", "2", "n"], &["a", "bc"]),
        (&["n", "2", "n"], &["b", "-1", "a"]),
        (&["2", "n"], &["b", "-1"]),
        (&["2", "n"], &["-1", "b", "1"]),
        (&["n", "m"], &["1", "1", "1", "ab"]),
        (&["n", "m"], &["b", "a"]),
    ];
    let folder = std::env::temp_dir().join(format!("gradus-sizes-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (sizes, target) in forms {
        for allows_zero in [0, 1] {
            let mut sketch = Sketch::new().input("x", DType::F32, sizes).text("s = Shape(x)");
            for (axis, name) in (0..).zip(["a", "b", "c"]).take(sizes.len()) {
                let index = format!("at {name}");
                sketch = sketch.ints(&index, &[axis]).node("Gather", &["s", &index], &[name]);
            }
            let mut parts = Vec::new();
            for (at, element) in target.iter().enumerate() {
                let part = format!("part {at}");
                if let Ok(number) = element.parse() {
                    sketch = sketch.ints(&part, &[number]);
                } else if let [first, second] =
                    [0, 1].map(|at| element.get(at..=at)).map(Option::unwrap_or_default)
                    && !second.is_empty()
                {
                    sketch = sketch.node("Mul", &[first, second], &[&part]);
                } else {
                    sketch = sketch.node("Identity", &[element], &[&part]);
                }
                parts.push(part);
            }
            let parts: Vec<_> = parts.iter().map(String::as_str).collect();
            let rank: Vec<_> = target.iter().map(|_| "").collect();
            let model = sketch
                .with("Concat", &parts, &["target"], vec![int("axis", 0)])
                .with("Reshape", &["x", "target"], &["y"], vec![int("allowzero", allows_zero)])
                // Known parts of the shape are read.
                .text("z = Shape(y)")
                .output("y", DType::F32, &rank)
                .output("z", DType::I64, &[""])
                .model();
            assert_same_at_all_sizes(&model);
            if let Ok(converted) = model.convert(Standard::OpenVino, &ConvertOptions::default()) {
                let path = folder.join("reshape.xml");
                converted.model.save(&path).unwrap();
                assert_same_at_all_sizes(&Model::open(&path).unwrap());
            }
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Weights that are stored in fewer bits than a product reads.
#[test]
fn constants_that_would_be_larger_stay_computed() {
    let weights = |size: usize| {
        let shape = Shape::new(vec![size, 3, 3, 3]).unwrap();
        Tensor::from_vec(shape, (0..size * 27).map(|i| i8::try_from(i % 100).unwrap()).collect()).unwrap()
    };
    let quantized = |size: usize| {
        Sketch::of("x: float32[n, 3, 8, 8]")
            .constant("codes", weights(size))
            .text(
                "scale = 0.25; floats = Cast(codes, to=1); w = Mul(floats, scale);
                 c = Conv(x, w); y = Mul(c, scale); return y: float32[n, , 6, 6]",
            )
            .model()
    };
    assert_eq!(operators(&folded(&quantized(100))), "Cast Mul Conv Mul");
    assert_eq!(operators(&folded_by(&quantized(100), RuleSet::of(Level::Fuse))), "Cast Mul Conv Mul");
    assert_eq!(operators(&folded(&quantized(4))), "Conv Mul");
    assert_eq!(operators(&folded_by(&quantized(4), RuleSet::of(Level::Fuse))), "Conv");
    // Another order takes as many bytes, and an element fewer. Two of one constant do not.
    let square = Tensor::from_vec(Shape::new(vec![80, 80]).unwrap(), vec![0.5f32; 6400]).unwrap();
    let sketch = || Sketch::of("x: float32[n, 80]").constant("w", square.clone());
    let once = sketch().text("t = Transpose(w); y = MatMul(x, t)");
    let twice = sketch().text("t = Transpose(w); a = MatMul(x, t); y = MatMul(a, w)");
    assert_eq!(operators(&folded(&once.text("return y: float32[n, 80]").model())), "MatMul");
    let both = folded(&twice.text("return y: float32[n, 80]").model());
    assert_eq!(operators(&both), "Transpose MatMul MatMul");
}

/// Coordinates that are exact in every program, or far from where another element is nearest.
#[test]
fn the_nearest_elements_of_a_constant_are_a_constant() {
    let resized = |scale: f32, attributes: &[(&'static str, &str)]| {
        let constant = |dims: &[usize]| {
            let shape = Shape::new(dims.to_vec()).unwrap();
            let elements = (0u8..).map(f32::from).take(shape.len()).collect();
            Tensor::from_vec(shape, elements).unwrap()
        };
        let text = |(name, text): &(&'static str, &str)| (*name, Content::Text((*text).into()));
        let model = Sketch::of("x: float32[1, 1, , ]")
            .constant("w", constant(&[1, 1, 4, 6]))
            .constant("scales", vector(&[1.0, 1.0, scale, scale]))
            .with("Resize", &["w", "", "scales"], &["a"], attributes.iter().map(text).collect())
            .text("y = Sub(x, a); return y: float32[1, 1, , ]")
            .model();
        operators(&folded(&model))
    };
    let (mode, coordinates) = ("nearest_mode", "coordinate_transformation_mode");
    assert_eq!(resized(2.0, &[]), "Sub");
    assert_eq!(resized(0.5, &[]), "Sub");
    assert_eq!(resized(2.0, &[(coordinates, "asymmetric"), (mode, "floor")]), "Sub");
    assert_eq!(resized(3.0, &[]), "Sub");
    assert_eq!(resized(1.0, &[(coordinates, "align_corners")]), "Sub");
    // Programs compute 3 / 3 as 3 * (1 / 3) too.
    assert_eq!(resized(3.0, &[(coordinates, "asymmetric"), (mode, "floor")]), "Resize Sub");
    assert_eq!(resized(2.0, &[(coordinates, "align_corners")]), "Resize Sub");
    assert_eq!(resized(2.0, &[("mode", "linear")]), "Resize Sub");
    assert_eq!(resized(1.3, &[]), "Resize Sub");
}

/// ONNX Runtime and NumPy give 0 for the sign of -0.
#[test]
fn the_sign_of_negative_zero_is_left_to_the_program() {
    let signs = |element: f32| {
        let model = Sketch::of("x: float32[2]")
            .constant("w", vector(&[element, 3.0]))
            .text("a = Sign(w); b = Neg(a); y = Div(x, b); return y: float32[2]")
            .model();
        operators(&folded(&model))
    };
    assert_eq!(signs(-0.0), "Sign Neg Div");
    assert_eq!(signs(0.0), "Div");
}

/// Random sizes are none of those that the model refuses.
#[test]
fn runs_have_sizes_that_the_model_needs() {
    let model = Sketch::of(
        "x: float32[n, 4]; row = 59; g = Gather(x, row); y = Identity(g);
         return y: float32[4]",
    )
    .model();
    let fold = model.fold(&FoldOptions::default()).unwrap();
    let after = model.edited(&fold.model).unwrap();
    let verified = model.verify(&after, RuleSet::default(), &VerifyOptions::default()).unwrap();
    assert_eq!((verified.refused, verified.bindings > 0), (None, true));
    // A size of 0 is tried, and refused by both.
    assert_eq!(verified.sizes, ["n = 60", "unequal", "equal", "n = 94", "n = 93"]);
}

/// Without time, nothing is measured.
#[test]
fn floats_are_measured_in_the_time_for_it() {
    let model = Sketch::of("x: float32[n]; y = Exp(x)");
    let model = model.text("return y: float32[n]").model();
    let mut options = VerifyOptions::default();
    assert!(model.measure(&model, &options).unwrap().elements > 0);
    options.time = Duration::ZERO;
    let error = model.measure(&model, &options).unwrap_err();
    assert_eq!((error.kind(), error.message()), (gradus::Kind::Limit, "no run ended in the time for it"));
}
