//! Folding rules one by one: a model of each pattern, the nodes that are left, and what the rule
//! alone removes.

mod composed;
mod patterns;

use std::collections::HashMap;

use gradus::check::VerifyOptions;
use gradus::fold::{FoldOptions, Level, RULES, RuleSet};
use gradus::formats::onnx::encode_model;
use gradus::graph::Content;
use gradus::infer::InferOptions;
use gradus::{DType, Model, Shape, Tensor, Value};

use patterns::{Pattern, end, floats, ints, patterns, scalar, x};

use crate::common::random;
use crate::common::sketch::{Sketch, nodes, operators, read};

fn folded(model: &Model, rules: RuleSet) -> Model {
    let mut options = FoldOptions::default();
    options.rules = rules;
    model.edited(&model.fold(&options).unwrap().model).unwrap()
}

#[test]
fn each_pattern_is_as_small_as_it_can_be_by_its_rule() {
    for Pattern { rule, level, model, left } in patterns() {
        let mut rules = RuleSet::of(level);
        // Passes over the main graph do the same: they take no graphs within it.
        let pass = match rule {
            "single-loop" => Some("unrolled-loops"),
            "transposes-around" => Some("transposes-around-regions"),
            "transposes-around-functions" => Some("transposes-around-function-regions"),
            _ => None,
        };
        if let Some(pass) = pass {
            rules = rules.without(pass).unwrap();
        }
        let after = folded(&model, rules);
        assert_eq!(operators(&after), left, "{rule} of {}", operators(&model));
        let without = folded(&model, rules.without(rule).unwrap());
        assert!(nodes(without.graph()) > nodes(after.graph()), "{rule} is not what removes them");
        assert!(folded(&after, rules).bytes() == after.bytes(), "{rule} again changes {}", operators(&after));
    }
}

#[test]
fn each_pattern_gives_the_same_results() {
    for Pattern { rule, level, model, .. } in patterns() {
        let after = folded(&model, RuleSet::of(level));
        let measured = model.measure(&after, &VerifyOptions::default()).unwrap();
        if level < Level::Fuse {
            assert_eq!((measured.ulps, measured.relative.to_bits()), (0, 0), "{rule}");
        }
        let narrow = format!("{:?}", model.graph().value(model.graph().inputs()[0]).declared).contains("F16");
        assert!(measured.relative < if narrow { 1e-3 } else { 1e-6 }, "{rule}: {measured:?}");
    }
}

#[test]
fn each_rule_of_one_node_has_a_pattern() {
    let passes =
        ["known-integers", "shape-targets", "equal-integers", "input-shapes", "known-if", "called-functions"];
    for rule in RULES.iter().filter(|rule| !passes.contains(&rule.name)) {
        let has = patterns().iter().any(|pattern| pattern.rule == rule.name) || rule.name == "empty-loop";
        assert!(has, "{} has no pattern", rule.name);
    }
}

/// Both factors are scalars before the product is made a list.
#[test]
fn an_operand_at_least_has_the_shape_around_views() {
    let model = Sketch::of(
        "x: float32[1]; z: float32[1]; first = [0]; list = [1]; a = Squeeze(x, first);
         b = Squeeze(z, first); c = Mul(a, b); y = Reshape(c, list); return y: float32[1]",
    )
    .model();
    let small = folded(&model, RuleSet::of(Level::Exact));
    assert_eq!(operators(&small), "Mul");
    assert!(small.infer(&InferOptions::default()).unwrap().problems().is_empty());
}

/// The Transpose is read as the view first, and the view as what is between the views later.
#[test]
fn a_value_that_is_read_as_a_view_is_read_as_what_replaces_the_view() {
    let sizes = &["1", "n", "4"][..];
    let sketch = x(sizes).text(
        "first = [0]; a = Squeeze(x, first); b = Neg(a); c = Unsqueeze(b, first);
         t = Transpose(c, perm=[0, 1, 2])",
    );
    let small = folded(&end(sketch, sizes), RuleSet::of(Level::Exact));
    assert_eq!(operators(&small), "Neg Relu");
}

/// The view takes the name of the output first, and what is between the views takes it later.
#[test]
fn an_output_that_is_read_as_a_view_is_made_by_what_replaces_the_view() {
    let sizes = &["1", "n", "4"][..];
    let model = x(sizes)
        .text(
            "first = [0]; a = Squeeze(x, first); b = Neg(a); c = Unsqueeze(b, first);
             y = Transpose(c, perm=[0, 1, 2])",
        )
        .output("y", DType::F32, sizes)
        .model();
    assert_eq!(operators(&folded(&model, RuleSet::of(Level::Exact))), "Neg");
}

#[test]
fn unknown_rules_are_errors() {
    let error = RuleSet::default().with("identities").unwrap_err().to_string();
    assert!(error.starts_with("folding rule is \"identities\", expected known-integers, "), "{error}");
}

#[test]
fn random_graphs_give_the_same_bits_after_every_exact_rule() {
    let mut changed = 0;
    for seed in 0..400 {
        let (model, inputs) = random::graph(seed);
        let model = read(&encode_model(model.source()).unwrap());
        let Ok(before) = model.run(&inputs) else { continue };
        let after = folded(&model, RuleSet::of(Level::Exact));
        changed += usize::from(operators(&after) != operators(&model));
        assert!(nodes(after.graph()) <= nodes(model.graph()), "seed {seed}");
        assert_eq!(format!("{before:?}"), format!("{:?}", after.run(&inputs).unwrap()), "seed {seed}");
    }
    assert!(changed > 0);
}

/// Operators that read an axis, of every axis of a value of every order of axes.
#[test]
fn operators_read_their_axis_in_every_order() {
    let orders = [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let sizes = [2usize, 3, 4];
    let (x_of, input) = (|| x(&["2", "3", "4"]), floats(&sizes, -0.5));
    for (order, axis) in orders.iter().flat_map(|order| (-3..3i64).map(move |axis| (order, axis))) {
        let back = [0, 1, 2].map(|axis| order.iter().position(|&other| other == axis).unwrap());
        let back: Vec<_> = back.iter().map(|&axis| i64::try_from(axis).unwrap()).collect();
        let size = sizes[order[usize::try_from(axis.rem_euclid(3)).unwrap()]];
        let order: Vec<_> = order.iter().map(|&axis| i64::try_from(axis).unwrap()).collect();
        let along = || vec![("axis", Content::Int(axis))];
        for operator in ["ArgMax", "ArgMin", "LogSoftmax", "QuantizeLinear", "Softmax", "Split", "TopK"] {
            let sketch = x_of().with("Transpose", &["x"], &["a"], vec![("perm", ints(&order))]);
            let sketch = match operator {
                "QuantizeLinear" => sketch
                    .constant("scale", floats(&[size], 0.05))
                    .with("QuantizeLinear", &["a", "scale"], &["q"], along())
                    .with("DequantizeLinear", &["q", "scale"], &["b"], along()),
                "Split" => sketch
                    .ints("sizes", &[1, i64::try_from(size).unwrap() - 1])
                    .with("Split", &["a", "sizes"], &["p", "q"], along())
                    .with("Concat", &["q", "p"], &["b"], along()),
                "TopK" => sketch
                    .text("count = [2]")
                    .with("TopK", &["a", "count"], &["p", "q"], along())
                    .text("i = Cast(q, to=1); b = Add(p, i)"),
                _ => sketch.with(operator, &["a"], &["i"], along()).text("b = Cast(i, to=1)"),
            };
            let model = sketch
                .with("Transpose", &["b"], &["t"], vec![("perm", ints(&back))])
                .text("y = Relu(t); return y: float32[, , ]")
                .model();
            let after = folded(&model, RuleSet::of(Level::Fuse));
            let what = format!("{operator} of axis {axis} in the order {order:?}");
            assert!(!operators(&after).contains("Transpose"), "{what}: {}", operators(&after));
            let run = |model: &Model| {
                let inputs = HashMap::from([("x", Value::from(input.clone()))]);
                format!("{:?}", model.run(&inputs).unwrap())
            };
            assert_eq!(run(&model), run(&after), "{what}");
        }
    }
}

/// A node that reads a sum with zero; a sum with a bias may hide the signs of its zeros.
fn of_zeros(operator: &str, operands: &[Tensor], is_hidden: bool) -> Model {
    let names = ["x0", "c0", "c1"];
    let mut sketch = scalar("zero", 0.0)(x(&["2", "4"])).text("x0 = Add(x, zero)");
    for (name, operand) in names[1..].iter().zip(operands) {
        sketch = sketch.constant(name, operand.clone());
    }
    let sketch = scalar("bias", 1.5)(sketch.node(operator, &names[..=operands.len()], &["a"]));
    let last = if is_hidden { ("Add", &["bias", "a"][..]) } else { ("Neg", &["a"][..]) };
    sketch.node(last.0, last.1, &["y"]).text("return y: float32[, ]").model()
}

#[test]
fn sums_with_zero_whose_readers_do_not_tell_zeros_apart_are_their_operands() {
    let input = Tensor::from_vec(
        Shape::new(vec![2, 4]).unwrap(),
        vec![-0f32, 0.0, -0.5, 0.5, -0.0, -0.0, -0.0, 0.25],
    )
    .unwrap();
    let (row, weights) = (floats(&[4], -0.25), floats(&[4, 3], -0.5));
    let zeros = Tensor::from_vec(Shape::new(vec![4]).unwrap(), vec![-0f32, 0.0, 0.5, 1.0]).unwrap();
    let one = |value: f32| vec![Tensor::scalar(value)];
    let apart = "Abs Cos Cosh Exp Sigmoid Softmax Softplus";
    let signs = "Asin Asinh Atan Atanh Ceil Celu Elu Erf Flatten Floor Gelu HardSigmoid HardSwish \
                 Identity LeakyRelu LogSoftmax Mish Neg ReduceL1 ReduceL2 ReduceMax ReduceMean \
                 ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu Round Selu Shrink Sign Sin Sinh \
                 Softsign Tan Tanh ThresholdedRelu Transpose";
    let mut cases: Vec<_> = apart.split_whitespace().map(|name| (name, vec![], false)).collect();
    cases.extend(signs.split_whitespace().map(|name| (name, vec![], true)));
    cases.extend([
        ("Add", one(0.5), false),
        ("Add", vec![zeros], true),
        ("Sub", one(0.5), true),
        ("Mul", one(-0.5), true),
        ("Div", one(-0.5), true),
        ("Pow", one(3.0), true),
        ("Max", one(-0.5), true),
        ("PRelu", one(0.25), true),
        ("MatMul", vec![weights.clone()], true),
        ("Gemm", vec![weights.clone(), Tensor::scalar(0.5f32)], false),
        ("Gemm", vec![weights], true),
        ("LayerNormalization", vec![row.clone(), row.clone()], false),
        ("LayerNormalization", vec![row], true),
        ("Gather", vec![Tensor::vector(&[1i64, 0])], true),
    ]);
    for (operator, operands, is_hidden) in cases {
        let model = of_zeros(operator, &operands, is_hidden);
        let after = folded(&model, RuleSet::of(Level::Exact));
        let sums = |model: &Model| operators(model).matches("Add").count();
        assert_eq!(sums(&after), sums(&model) - 1, "{operator}: {}", operators(&after));
        let run = |model: &Model| {
            let inputs = HashMap::from([("x", Value::from(input.clone()))]);
            format!("{:?}", model.run(&inputs).unwrap())
        };
        assert_eq!(run(&model), run(&after), "{operator}");
    }
}

#[test]
fn sums_with_zero_whose_readers_tell_zeros_apart_stay() {
    let twice = scalar("zero", 0.0)(x(&["2", "4"]))
        .text("a = Add(x, zero); b = Softmax(a); y = Mul(a, b); return y: float32[2, 4]");
    // The sum is never -0, and the other operand of itself.
    let doubled =
        scalar("zero", 0.0)(x(&["2", "4"])).text("a = Add(x, zero); y = Add(a, a); return y: float32[2, 4]");
    let half = || vec![Tensor::scalar(0.5f32)];
    let models = [
        of_zeros("Tanh", &[], false),
        of_zeros("Div", &half(), false),
        of_zeros("Reciprocal", &[], true),
        of_zeros("Pow", &[Tensor::scalar(-1f32)], true),
        twice.model(),
        doubled.model(),
    ];
    for model in models {
        let after = folded(&model, RuleSet::of(Level::Exact));
        assert_eq!(operators(&after), operators(&model));
    }
}

/// Rules see what other rules made: nodes that were found to be equal or to be views later.
#[test]
fn folding_again_changes_nothing() {
    let n = &["n", "4"][..];
    let rows = x(n).text(
        "last = [1]; a = ReduceSumSquare(x, last); b = Squeeze(a, last);
         c = ReduceMax(a, last, keepdims=0); d = Unsqueeze(c, last); y = Add(a, d);
         z = Unsqueeze(b, last); w = Unsqueeze(c, last)",
    );
    let rows =
        ["y", "z", "w"].into_iter().fold(rows, |rows, name| rows.output(name, DType::F32, &["n", "1"]));
    let views = x(&["n", "1", "4"]).text(
        "end = [3]; a = Unsqueeze(x, end); b = Transpose(a, perm=[0, 3, 2, 1]);
         c = Transpose(b, perm=[0, 2, 3, 1]); t = Mul(c, a)",
    );
    let mut models = vec![rows.model(), end(views, &["n", "1", "4", "1"])];
    models.extend(patterns().into_iter().map(|pattern| pattern.model));
    models.extend((0..200).map(|seed| read(&encode_model(random::graph(seed).0.source()).unwrap())));
    for (number, model) in models.iter().enumerate() {
        for level in Level::ALL {
            let once = folded(model, RuleSet::of(level));
            let twice = folded(&once, RuleSet::of(level));
            let (left, less) = (operators(&once), operators(&twice));
            assert!(twice.bytes() == once.bytes(), "model {number} at {}: {left} -> {less}", level.name());
        }
    }
}

#[test]
fn assumed_sizes_make_shapes_constants_and_are_listed() {
    let model = || {
        Sketch::of(
            "x: float32[n, h, w, 8]; edge = [2]; all = Shape(x); zero = [0]; n = Gather(all, zero);
             rest = [-1]; target = Concat(n, edge, rest, axis=0); y = Reshape(x, target);
             return y: float32[n, 2, ]",
        )
        .model()
    };
    let model = model();
    let mut options = FoldOptions::default();
    let plain = model.fold(&options).unwrap();
    assert!(plain.report.nodes().1 > 1, "{:?}", plain.report.operators);
    options.sizes.assume.nonempty = true;
    let folded = model.fold(&options).unwrap();
    assert_eq!(folded.report.nodes().1, 1, "{:?}", folded.report.operators);
    let texts: Vec<_> = folded.report.assumptions.iter().map(|assumed| &*assumed.text).collect();
    assert!(texts.contains(&"each size of an input is at least 1"), "{texts:?}");
    options.sizes.assume.nonempty = false;
    options.sizes.assume.ranges.insert("n".to_owned(), (1, Some(64)));
    assert_eq!(model.fold(&options).unwrap().report.nodes().1, 1);
    options.sizes.assume.ranges.insert("n".to_owned(), (3, Some(2)));
    let error = model.fold(&options).unwrap_err().to_string();
    assert_eq!(error, "range of dimension \"n\" is 3 to 2, expected increasing numbers of at least 0");
}

/// The type of a value of a model of sizes, by assumptions.
fn typed_by(conditions: &[&str]) -> Result<String, String> {
    let model = Sketch::of(
        "x: float32[n, h, q, ]; z: float32[n, 1, r, 4]; y = Add(x, z); steps = [2];
         axis = [1]; zero = [0]; end = [9223372036854775807];
         t = Slice(y, zero, end, axis, steps); return t: float32[, , , ]",
    )
    .model();
    let mut options = InferOptions::default();
    options.sizes.assume.conditions = conditions.iter().map(|text| (*text).to_owned()).collect();
    options.sizes.dims.insert("n".to_owned(), 3);
    let inference = model.infer(&options).map_err(|error| error.to_string())?;
    let texts: Vec<_> = inference.conditions().iter().map(|assumed| &*assumed.text).collect();
    assert!(conditions.iter().all(|text| *text == "n == 3" || texts.contains(text)), "{texts:?}");
    // The folded model is the same for all sizes that meet the conditions.
    let mut fold = FoldOptions::default();
    fold.sizes.clone_from(&options.sizes);
    let folded = model.edited(&model.fold(&fold).unwrap().model).unwrap();
    let mut verify = VerifyOptions::default();
    verify.sizes.clone_from(&options.sizes);
    let verified = model.verify(&folded, fold.rules, &verify).unwrap();
    assert!(verified.bindings > 0 || !conditions.contains(&"q == r"), "{conditions:?}");
    Ok(inference.describe(inference.fact(model.value("t").unwrap())))
}

#[test]
fn assumed_conditions_simplify_shapes() {
    let rows: [(&[&str], Result<&str, &str>); 13] = [
        (&[], Ok("float32[3, (h + 1)//2, broadcast(q, r), 4]")),
        (&["h % 32 == 0"], Ok("float32[3, h//2, broadcast(q, r), 4]")),
        (&["(h + 1) % 4 == 0"], Ok("float32[3, 2*((h + 1)//4), broadcast(q, r), 4]")),
        (&["q == r", "x_3 = 4"], Ok("float32[3, (h + 1)//2, r, 4]")),
        (&["q == r", "r % 2 == 0"], Ok("float32[3, (h + 1)//2, r, 4]")),
        (&["h <= q", "q == r"], Ok("float32[3, (h + 1)//2, r, 4]")),
        (&["q > 1", "r > 1"], Ok("float32[3, (h + 1)//2, q, 4]")),
        (&["n == 3"], Ok("float32[3, (h + 1)//2, broadcast(q, r), 4]")),
        (&["n == 4"], Err("assumption \"n == 4\" holds for no sizes, as it says 3 == 4")),
        (&["h < h"], Err("assumption \"h < h\" holds for no sizes, as it says h <= h - 1")),
        (
            &["h*q <= 8"],
            Err(
                "assumption \"h*q <= 8\" is about products of sizes, expected a size that stands alone, as in \"a <= 2*b\"",
            ),
        ),
        (
            &["h"],
            Err(
                "condition is \"h\", expected two expressions with ==, !=, <=, >=, < or > between them, as \"h % 32 == 0\", or numbers, as \"n in {1, 8}\"",
            ),
        ),
        (&["k >= 1"], Err("unknown dimension \"k\"; known: \"h\", \"n\", \"q\", \"r\", \"x_3\"")),
    ];
    for (conditions, wanted) in rows {
        let found = typed_by(conditions);
        assert_eq!(found.as_deref().map_err(String::as_str), wanted, "{conditions:?}");
    }
}
