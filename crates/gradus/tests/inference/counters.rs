//! Loops whose condition compares counters: the inferred number of iterations against runs.

use gradus::conversion::ConvertOptions;
use gradus::graph::Standard;
use gradus::infer::InferOptions;
use gradus::{DType, Model, Shape, Tensor, Value};

use crate::common::sketch::Sketch;

/// A loop over a counter: of integers, or the number of elements of a tensor that grows.
#[derive(Clone, Debug)]
struct Counter {
    start: i64,
    step: i64,
    /// The comparison of the counter with the limit, and the one of which it is the opposite.
    compares: (&'static str, bool),
    /// Factor and addend that make the limit of the size of the input.
    limit: (i64, i64),
    /// False if the condition before the loop is another one.
    is_checked: bool,
    most: Option<i64>,
    /// How a second condition is joined, and the limit of the counter in it.
    also: Option<(&'static str, i64)>,
    grows: bool,
}

impl Counter {
    fn random(random: &mut fastrand::Rng) -> Counter {
        const RISING: [(&str, bool); 3] = [("Less", true), ("LessOrEqual", true), ("GreaterOrEqual", false)];
        const FALLING: [(&str, bool); 3] = [("Greater", true), ("GreaterOrEqual", true), ("Less", false)];
        let grows = random.bool();
        let rises = grows || random.bool();
        let step = random.i64(1..5);
        let times = random.i64(1..3);
        Counter {
            start: if grows { random.i64(0..4) } else { random.i64(-3..9) },
            step: if rises { step } else { -step },
            compares: if rises { RISING } else { FALLING }[random.usize(0..3)],
            limit: (if rises { times } else { -times }, random.i64(-2..5)),
            is_checked: random.bool(),
            most: random.bool().then(|| random.i64(0..6)),
            also: random.bool().then(|| (if random.bool() { "And" } else { "Or" }, random.i64(0..9))),
            grows,
        }
    }

    /// Adds the condition of a counter.
    fn condition(&self, sketch: Sketch, counter: &str, name: &str) -> Sketch {
        let named = |which: &str| format!("{name} {which}");
        let [compared, first, second] = ["compared", "first", "second"].map(named);
        let (operator, is_plain) = self.compares;
        let sketch = sketch.node(operator, &[counter, "limit"], &[&compared]);
        let sketch = sketch.node(if is_plain { "Identity" } else { "Not" }, &[&compared], &[&first]);
        match self.also {
            Some((join, _)) => {
                let operator = if self.step > 0 { "Less" } else { "Greater" };
                sketch.node(operator, &[counter, "bound"], &[&second]).node(join, &[&first, &second], &[name])
            }
            None => sketch.node("Identity", &[&first], &[name]),
        }
    }

    /// Outputs: as many rows as there are iterations, and as many elements as the counter says in
    /// the end, or none.
    fn model(&self) -> Model {
        let body = Sketch::nested().text("iteration: int64[]; went: bool[]");
        let body = if self.grows {
            let axis = vec![("axis", gradus::graph::Content::Int(0))];
            let body = body.text("state: float32[length]");
            body.with("Concat", &["state", "piece"], &["changed"], axis).text("next = Size(changed)")
        } else {
            body.text("state: int64[]; changed = Add(state, step); next = Identity(changed)")
        };
        let (dtype, sizes): (_, &[&str]) =
            if self.grows { (DType::F32, &["longer"]) } else { (DType::I64, &[]) };
        let body = self.condition(body, "next", "go").text("row = Identity(iteration)");
        let body = body.text("return go: bool[]").output("changed", dtype, sizes);
        let body = body.text("return row: int64[]").graph();

        let zeros = |count: i64| {
            let count = usize::try_from(count.max(0)).unwrap();
            Tensor::zeros(DType::F32, Shape::new(vec![count]).unwrap()).unwrap()
        };
        let ints = [
            ("times", self.limit.0),
            ("more", self.limit.1),
            ("step", self.step),
            ("nothing", 0),
            ("one", 1),
        ];
        let sketch = Sketch::of("x: float32[n]");
        let sketch = ints
            .into_iter()
            .fold(sketch, |sketch, (name, value)| sketch.constant(name, Tensor::scalar(value)));
        let sketch = sketch
            .constant("piece", zeros(self.step))
            .constant("most", Tensor::scalar(self.most.unwrap_or(0)));
        let sketch = sketch.constant("bound", Tensor::scalar(self.also.map_or(0, |also| also.1)));
        let sketch = if self.grows {
            sketch.constant("start", zeros(self.start)).text("first = Size(start)")
        } else {
            sketch.constant("start", Tensor::scalar(self.start)).text("first = Identity(start)")
        };
        let sketch = sketch.text(
            "true = true; size = Size(x); multiple = Mul(size, times);
             limit = Add(multiple, more)",
        );
        let sketch = if self.is_checked {
            self.condition(sketch, "first", "enters")
        } else {
            sketch.text("enters = Greater(size, one)")
        };
        let most = if self.most.is_some() { "most" } else { "" };
        let sketch = sketch.with("Loop", &[most, "enters", "start"], &["end", "rows"], vec![("body", body)]);
        let sketch = if self.grows {
            sketch.text("counted = Identity(end)")
        } else {
            sketch.text("last = Max(end, nothing); counted = Range(nothing, last, one)")
        };
        sketch.output("rows", DType::I64, &[""]).output("counted", dtype, &[""]).model()
    }
}

impl Counter {
    /// A counter whose condition is that it differs from the limit: the number of iterations of a
    /// run that ends, which is told, or may be where something else ends the run too.
    fn differing(random: &mut fastrand::Rng) -> Counter {
        let mut counter = Counter::random(random);
        counter.compares = ("Equal", false);
        counter.step = counter.step.signum() * if random.u8(0..4) > 0 { 1 } else { 2 };
        // Another counter that stays below its bound does not end what goes on for ever.
        counter.also = counter.also.filter(|also| also.0 == "And");
        counter
    }

    /// Returns true if the counter meets the limit of `n`, or something else ends the loop.
    fn ends(&self, n: i64) -> bool {
        let next = if self.is_checked { self.start } else { self.start + self.step };
        let apart = self.limit.0 * n + self.limit.1 - next;
        let meets = apart % self.step == 0 && apart / self.step >= 0;
        meets || self.most.is_some() || self.also.is_some() || (!self.is_checked && n <= 1)
    }
}

/// The sizes of the outputs where the input has `n` elements.
fn inferred(model: &Model, n: i64) -> Vec<Option<i64>> {
    let mut options = InferOptions::default();
    options.ignore_declared = true;
    let inference = model.infer(&options).unwrap();
    assert!(inference.problems().is_empty(), "{:?}", inference.problems());
    let size = |&id: &gradus::graph::ValueId| {
        let dims = inference.fact(id).as_tensor()?.dims.clone()?;
        inference.symbols().evaluate(*dims.first()?, &|name| ["n", "x_0"].contains(&name).then_some(n))
    };
    model.graph().outputs().iter().map(size).collect()
}

#[test]
fn counters_tell_the_number_of_iterations() {
    let mut random = fastrand::Rng::with_seed(71);
    for case in 0..150 {
        let counter = Counter::random(&mut random);
        let model = counter.model();
        let converted = model.convert(Standard::OpenVino, &ConvertOptions::default()).unwrap().model;
        for n in [0, 1, 2, 3, 5, 8] {
            let x = Tensor::zeros(DType::F32, Shape::new(vec![n]).unwrap()).unwrap();
            let run = |model: &Model| {
                let outputs = model.run([("x", x.clone())]).unwrap();
                let size = |value: &Value| i64::try_from(value.tensor().unwrap().shape().dims()[0]).unwrap();
                outputs.iter().map(|(_, value)| Some(size(value))).collect::<Vec<_>>()
            };
            let wanted = run(&model);
            let n = i64::try_from(n).unwrap();
            assert_eq!(inferred(&model, n), wanted, "{case}: {counter:?} of {n}");
            assert_eq!(inferred(&converted, n), wanted, "{case}: {counter:?} of {n} as an IR");
        }
    }
}

/// The largest integer, which exporters write where a loop has no trip count, is none.
#[test]
fn loops_of_the_largest_trip_count_have_formulas_without_it() {
    let mut random = fastrand::Rng::with_seed(73);
    for _ in 0..40 {
        let counter = Counter { most: None, ..Counter::random(&mut random) };
        let model = Counter { most: Some(i64::MAX), ..counter.clone() }.model();
        let texts = [counter.model(), model].map(|model| {
            let inference = model.infer(&InferOptions::default()).unwrap();
            let print = |&id: &gradus::graph::ValueId| {
                let dims = inference.fact(id).as_tensor()?.dims.clone()?;
                Some(inference.symbols().print(*dims.first()?).to_string())
            };
            model.graph().outputs().iter().map(print).collect::<Vec<_>>()
        });
        assert_eq!(texts[0], texts[1], "{counter:?}");
    }
}

#[test]
fn counters_that_differ_from_a_limit_tell_the_number_of_iterations() {
    let mut random = fastrand::Rng::with_seed(72);
    let (mut told, mut alone) = (0, 0);
    for case in 0..300 {
        let counter = Counter::differing(&mut random);
        let model = counter.model();
        for n in [0, 1, 2, 3, 5, 8].into_iter().filter(|&n| counter.ends(n)) {
            let x =
                Tensor::zeros(DType::F32, Shape::new(vec![usize::try_from(n).unwrap()]).unwrap()).unwrap();
            let outputs = model.run([("x", x)]).unwrap();
            let size = |value: &Value| i64::try_from(value.tensor().unwrap().shape().dims()[0]).unwrap();
            for ((_, value), found) in outputs.iter().zip(inferred(&model, n)) {
                let is_alone = counter.most.is_none() && counter.also.is_none();
                assert!(found.is_some() || !is_alone, "{case}: {counter:?} of {n}");
                assert_eq!(found.unwrap_or(size(value)), size(value), "{case}: {counter:?} of {n}");
                told += u32::from(found.is_some());
                alone += u32::from(is_alone);
            }
        }
    }
    assert!(alone > 200 && told > alone + 100, "{told} {alone}");
}

/// A model whose outputs are as long as sums of the counter `start`, `start + step`, … below the
/// size of the input: carried by a loop, of its rows, and of a range.
fn sums(start: i64, step: i64, [exclusive, reverse]: [bool; 2]) -> Model {
    let body = Sketch::nested().text(
        "iteration: int64[]; went: bool[]; i: int64[]; total: int64[]; sum = Add(total, i); next = Add(i, step);
         go = Less(next, limit); row = Identity(i);
         return go: bool[]; return next: int64[]; return sum: int64[]; return row: int64[]",
    );
    let ints = [("start", start), ("step", step), ("zero", 0), ("one", 1)];
    let sketch = ints.into_iter().fold(Sketch::of("x: float32[n]"), |sketch, (name, value)| {
        sketch.constant(name, Tensor::scalar(value))
    });
    let sketch = sketch.text("limit = Size(x); enters = Less(start, limit)").with(
        "Loop",
        &["", "enters", "start", "zero"],
        &["end", "total", "rows"],
        vec![("body", body.graph())],
    );
    let flag = |holds: bool| gradus::graph::Content::Int(holds.into());
    let ends = vec![("exclusive", flag(exclusive)), ("reverse", flag(reverse))];
    let two = Tensor::from_vec(Shape::new(vec![1]).unwrap(), vec![2i64]).unwrap();
    let two = gradus::graph::Content::Tensor(two.into());
    let keep = || vec![("keepdims", flag(false))];
    let sketch = sketch
        .text("shape = Shape(x); range = Range(start, limit, step); pair = Concat(shape, shape, axis=0)")
        .with("ConstantOfShape", &["shape"], &["twos"], vec![("value", two)])
        .with("CumSum", &["range", "zero"], &["of range"], ends.clone())
        .with("CumSum", &["twos", "zero"], &["of twos"], ends.clone())
        .with("CumSum", &["pair", "zero"], &["of pair"], ends)
        .with("ReduceSum", &["rows"], &["of rows"], keep())
        .with("ReduceMax", &["of range"], &["largest"], keep())
        .with("ReduceMax", &["of pair"], &["longer"], keep())
        .with("ReduceSum", &["of twos"], &["all twos"], keep());
    let totals = ["total", "of rows", "largest", "longer", "all twos"];
    totals
        .into_iter()
        .enumerate()
        .fold(sketch, |sketch, (at, total)| {
            let [least, output] = ["least", "y"].map(|name| format!("{name}{at}"));
            let sketch = sketch.node("Max", &[total, "zero"], &[&least]);
            sketch.node("Range", &["zero", &least, "one"], &[&output]).output(&output, DType::I64, &[""])
        })
        .model()
}

#[test]
fn sums_of_counters_and_of_ranges_are_expressions_of_sizes() {
    for (start, step) in [(0, 1), (3, 2), (1, 3), (-4, 3)] {
        for ends in [[false, false], [true, false], [false, true], [true, true]] {
            let model = sums(start, step, ends);
            let converted = model.convert(Standard::OpenVino, &ConvertOptions::default()).unwrap().model;
            for n in [4, 5, 8, 13] {
                let x = Tensor::zeros(DType::F32, Shape::new(vec![n]).unwrap()).unwrap();
                let outputs = model.run([("x", x)]).unwrap();
                let size = |value: &Value| i64::try_from(value.tensor().unwrap().shape().dims()[0]).unwrap();
                let mut wanted: Vec<_> = outputs.iter().map(|(_, value)| Some(size(value))).collect();
                // Sums of a range that begins below zero fall and rise.
                if start < 0 {
                    wanted[2] = None;
                }
                let n = i64::try_from(n).unwrap();
                assert_eq!(inferred(&model, n), wanted, "{start} {step} {ends:?} of {n}");
                assert_eq!(inferred(&converted, n)[0], wanted[0], "{start} {step} {ends:?} of {n} as an IR");
            }
        }
    }
}
