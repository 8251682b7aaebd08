//! Intervals of runs, held against the reals that models compute by their formulas.

use gradus::check::Intervals;
use gradus::{RunOptions, Shape, Tensor};
use gradus_testkit::{Real, activation, function, real, real_power};

use crate::common::sketch::Sketch;

fn intervals(text: &str, inputs: &[(&str, &[usize], &[f32])]) -> Intervals {
    let program = Sketch::of(text).model().compile(&[], &RunOptions::default()).unwrap();
    let inputs = inputs.iter().map(|(name, dims, elements)| {
        (*name, Tensor::from_vec::<f32>(Shape::new(*dims).unwrap(), elements.to_vec()).unwrap())
    });
    program.run_with_intervals(inputs).unwrap()
}

/// The ends of the first output.
fn ends(found: &Intervals) -> Option<(Vec<f64>, Vec<f64>)> {
    let interval = found.intervals[0].as_ref()?;
    Some([&interval.low, &interval.high].map(|end| end.elements().unwrap().to_vec()).into())
}

/// Panics if a real is not within the ends, or these are further apart than a part of it.
fn holds((low, high): (f64, f64), exact: &Real, most: f64, what: &str) {
    let above = low == f64::NEG_INFINITY || real(low) <= *exact;
    let below = high == f64::INFINITY || *exact <= real(high);
    assert!(above && below, "{what}: {low:e} to {high:e} has not {}", exact.to_f64().value());
    let width = high - low;
    assert!(width <= most * low.abs().max(1.0), "{what}: {low:e} to {high:e} is {width:e} wide");
}

/// Numbers around bends, jumps and poles, times 3.
const POINTS: [f32; 25] = [
    -60.0, -9.5, -9.0, -8.9, -4.25, -3.0, -2.4, -2.25, -1.0, -0.3, -1e-3, -1e-30, 0.0, 1e-30, 1e-3, 0.25,
    1.0, 2.2, 3.0, 3.1, 4.24, 8.9, 9.0, 9.1, 60.0,
];

/// Returns true if a function has a slope of a few units around a point.
fn is_smooth(name: &str, t: f32) -> bool {
    match name {
        "Log" | "Sqrt" => t > 0.01,
        "Acos" | "Acosh" | "Asin" | "ThresholdedRelu" => (t.abs() - 1.0).abs() > 0.01,
        _ => true,
    }
}

#[test]
fn intervals_hold_functions_of_quotients() {
    let parameters = |name: &str| match name {
        "Celu" | "Elu" | "ThresholdedRelu" => [1.0f32, 0.0],
        "HardSigmoid" => [0.2, 0.5],
        "LeakyRelu" => [0.01, 0.0],
        "Selu" => [1.673_263_2, 1.050_701],
        _ => [0.0; 2],
    };
    let functions = [
        "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cos", "Cosh", "Exp", "Log", "Sigmoid", "Sin",
        "Sinh", "Softplus", "Sqrt", "Tanh",
    ];
    let activations = [
        "Celu",
        "Elu",
        "Erf",
        "Gelu",
        "HardSigmoid",
        "HardSwish",
        "LeakyRelu",
        "Mish",
        "Relu",
        "Selu",
        "Softsign",
        "ThresholdedRelu",
    ];
    for (at, name) in functions.iter().chain(&activations).enumerate() {
        // The sum with a large number has an error that those of functions are small beside.
        let text = format!(
            "x: float32[n]; three = 3.0; big = 4096.0; q = Div(x, three); s = Add(q, big); t = Sub(s, big); \
             y = {name}(t); return y: float32[n]"
        );
        let found = intervals(&text, &[("x", &[POINTS.len()], &POINTS)]);
        let (low, high) = ends(&found).unwrap_or_else(|| panic!("{name} has no interval"));
        let [a, b] = parameters(name).map(|parameter| real(parameter.into()));
        for (place, x) in POINTS.iter().enumerate() {
            let t = real(f64::from(*x)) / real(3.0);
            let exact =
                if at < functions.len() { function(name, &t) } else { activation(name, &t, [&a, &b]) };
            let ends = (low[place], high[place]);
            match exact {
                // An end of what it is defined for, or a jump, is as near as the error.
                Some(exact) if !is_smooth(name, x / 3.0) => holds(ends, &exact, f64::INFINITY, name),
                Some(exact) => holds(ends, &exact, 1e-9, name),
                None => assert!(ends.0.is_nan() || ends.1.is_infinite(), "{name} of {x}: {ends:?}"),
            }
        }
    }
}

/// The real that a quotient becomes; nothing where there is none.
type Exact<'a> = &'a dyn Fn(&Real) -> Option<Real>;

#[test]
fn intervals_hold_operations() {
    let third = |x: f32| real(f64::from(x)) / real(3.0);
    let cases: [(&str, f64, Exact<'_>); 9] = [
        ("u = Mul(t, three); y = Floor(u)", 2.1, &|t| Some(Real::from((t * real(3.0)).floor()))),
        ("u = Mul(t, three); y = Round(u)", 1e-12, &|t| {
            // Halves go to even numbers, none of which is among the points.
            Some(Real::from((t * real(3.0) + real(0.5)).floor()))
        }),
        ("u = Mul(t, three); v = Sub(u, x); y = Reciprocal(v)", f64::INFINITY, &|_| None),
        ("two = 2.0; y = Pow(t, two)", 1e-12, &|t| Some(t * t)),
        ("half = 0.5; y = Pow(t, half)", 1e-6, &|t| real_power(t, &real(0.5))),
        ("y = Pow(three, t)", 1e-12, &|t| real_power(&real(3.0), t)),
        ("big = 300.0; u = Mul(t, big); e = Exp(u); tiny = 1e-30; y = Mul(e, tiny)", f64::INFINITY, &|t| {
            Some(function("Exp", &(t * real(300.0)))? * real(f64::from(1e-30f32)))
        }),
        ("l = Less(t, x); y = Cast(l, to=1)", 0.0, &|t| {
            Some(if *t > Real::ZERO { Real::ONE } else { Real::ZERO })
        }),
        ("a = Abs(t); n = Neg(a); y = Max(n, t, x)", 1e-12, &|t| {
            let x = t * real(3.0);
            Some(if x > *t { x } else { t.clone() })
        }),
    ];
    for (text, most, exact) in cases {
        let points: Vec<f32> =
            POINTS.into_iter().filter(|x| x.fract().abs() != 0.5 && x.abs() > 1e-20).collect();
        let text = format!("x: float32[n]; three = 3.0; t = Div(x, three); {text}; return y: float32[n]");
        let found = intervals(&text, &[("x", &[points.len()], &points)]);
        let (low, high) = ends(&found).unwrap();
        for (place, x) in points.iter().enumerate() {
            let ends = (low[place], high[place]);
            match exact(&third(*x)) {
                Some(exact) => holds(ends, &exact, most, &text),
                None => assert!(ends.0.is_nan() || ends.1.is_infinite(), "{text}, {x}: {ends:?}"),
            }
        }
    }
}

#[test]
fn results_without_a_bound_have_no_interval() {
    for (text, node) in [
        ("u = Mul(t, three); i = Cast(u, to=7); y = Cast(i, to=1)", "Cast"),
        ("i = ArgMax(t, axis=0, keepdims=1); y = Cast(i, to=1)", "ArgMax"),
        ("y = Tan(t)", "Tan"),
        ("y = Hardmax(t)", "Hardmax"),
        ("v, i = TopK(t, one, axis=0); y = Cast(i, to=1)", "TopK"),
        ("y = Mod(t, three, fmod=1)", "Mod"),
        ("b = Cast(t, to=9); y = Cast(b, to=1)", "Cast"),
    ] {
        let text =
            format!("x: float32[n]; three = 3.0; one = [1]; t = Div(x, three); {text}; return y: float32[m]");
        let found = intervals(&text, &[("x", &[2], &[7.0, 0.1])]);
        assert_eq!(found.intervals, [None], "{text}");
        assert!(found.unbounded[0].contains(node), "{text}: {:?}", found.unbounded);
    }
    // Integers that errors cannot change are known.
    let text = "x: float32[n]; three = 3.0; t = Div(x, three); i = Cast(t, to=7); y = Cast(i, to=1); \
                return y: float32[n]";
    assert_eq!(
        ends(&intervals(text, &[("x", &[2], &[7.0, -4.0])])),
        Some((vec![2.0, -1.0], vec![2.0, -1.0]))
    );
}

#[test]
fn intervals_hold_networks() {
    let text = "x: float32[2, 4]; w: float32[4, 3]; scale: float32[3]; bias: float32[3]; three = 3.0; \
                p = MatMul(x, w); t = Div(p, three); g = Tanh(t); l = LayerNormalization(g, scale, bias); \
                y = Softmax(l); return y: float32[2, 3]";
    let mut state = 1u32;
    let mut draw = |count: usize| -> Vec<f32> {
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f32::from(u16::try_from(state >> 16).unwrap()) / 16384.0 - 2.0
        };
        (0..count).map(|_| next()).collect()
    };
    for _ in 0..20 {
        let (x, w, scale, bias) = (draw(8), draw(12), draw(3), draw(3));
        let inputs: [(&str, &[usize], &[f32]); 4] =
            [("x", &[2, 4], &x), ("w", &[4, 3], &w), ("scale", &[3], &scale), ("bias", &[3], &bias)];
        let found = intervals(text, &inputs);
        let (low, high) = ends(&found).unwrap();
        let of = |x: f32| real(f64::from(x));
        let call = |name: &str, x: &Real| function(name, x).unwrap();
        for row in 0..2 {
            let product = |column: usize| {
                (0..4).map(|k| of(x[row * 4 + k]) * of(w[k * 3 + column])).fold(Real::ZERO, |a, b| a + b)
            };
            let g: Vec<_> = (0..3).map(|column| call("Tanh", &(product(column) / real(3.0)))).collect();
            let mean = g.iter().fold(Real::ZERO, |a, b| a + b) / real(3.0);
            let squares = g.iter().map(|g| (g - &mean) * (g - &mean)).fold(Real::ZERO, |a, b| a + b);
            let deviation = call("Sqrt", &(squares / real(3.0) + of(1e-5)));
            let l = |at: usize| (&g[at] - &mean) / &deviation * of(scale[at]) + of(bias[at]);
            let powers: Vec<_> = (0..3).map(|at| call("Exp", &l(at))).collect();
            let sum = powers.iter().fold(Real::ZERO, |a, b| a + b);
            for (at, power) in powers.iter().enumerate() {
                let place = row * 3 + at;
                holds((low[place], high[place]), &(power / &sum), 1e-10, "network");
            }
        }
        // The run itself rounds to float32 after each node.
        let apart = found.intervals[0].as_ref().unwrap().distance(&found.outputs[0]);
        assert!(apart > 0.0 && apart < 1e-5, "{apart:e}");
    }
}
