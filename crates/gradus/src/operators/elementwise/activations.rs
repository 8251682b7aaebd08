//! Activations: functions of one element with up to two parameters, as attributes or as fields of
//! recurrent networks give them.

use gradus_core::{Result, Value};

use crate::attributes::Attributes;
use crate::normalize::Older;
use crate::op::EvalContext;
use crate::operators::errors;
use crate::operators::indices;

/// A parameter: its name and its default.
type ActivationParameter = (&'static str, f32);

/// A function: its name, its parameters, and what it computes of an element and them.
type Function = (&'static str, [ActivationParameter; 2], fn(f64, f64, f64) -> f64);

/// The functions by the name of the operator. A parameter without a name is not used.
#[rustfmt::skip]
const FUNCTIONS: &[Function] = &[
    ("Affine", [("alpha", 1.0), ("beta", 0.0)], |x, a, b| a * x + b),
    ("Celu", [("alpha", 1.0), NONE], |x, a, _| if x < 0.0 { a * (x / a).exp_m1() } else { x }),
    ("Elu", [("alpha", 1.0), NONE], |x, a, _| if x < 0.0 { a * x.exp_m1() } else { x }),
    ("HardSigmoid", [("alpha", 0.2), ("beta", 0.5)], |x, a, b| (a * x + b).clamp(0.0, 1.0)),
    ("HardSwish", [NONE, NONE], |x, _, _| x * (x / 6.0 + 0.5).clamp(0.0, 1.0)),
    ("LeakyRelu", [("alpha", 0.01), NONE], |x, a, _| if x < 0.0 { a * x } else { x }),
    ("Mish", [NONE, NONE], |x, _, _| x * softplus(x).tanh()),
    ("QuickGelu", [("alpha", 1.702), NONE], |x, a, _| x * sigmoid(a * x)),
    ("Relu", [NONE, NONE], |x, _, _| if x < 0.0 { 0.0 } else { x }),
    ("ScaledTanh", [("alpha", 1.0), ("beta", 1.0)], |x, a, b| a * (b * x).tanh()),
    ("Selu", [("alpha", 1.673_263_2), ("gamma", 1.050_701)], |x, a, g| g * if x <= 0.0 { a * x.exp_m1() } else { x }),
    ("Shrink", [("lambd", 0.5), ("bias", 0.0)], |x, l, b| if x < -l { x + b } else if x > l { x - b } else { 0.0 }),
    ("Sigmoid", [NONE, NONE], |x, _, _| sigmoid(x)),
    ("Softplus", [NONE, NONE], |x, _, _| softplus(x)),
    ("Softsign", [NONE, NONE], |x, _, _| x / (1.0 + x.abs())),
    ("Swish", [("alpha", 1.0), NONE], |x, a, _| x * sigmoid(a * x)),
    ("Tanh", [NONE, NONE], |x, _, _| x.tanh()),
    ("ThresholdedRelu", [("alpha", 1.0), NONE], |x, a, _| if x > a { x } else { 0.0 }),
];

const NONE: ActivationParameter = ("", 0.0);

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// `x * Φ(x)`, exactly or by the approximation with the hyperbolic tangent.
pub(crate) fn gelu(x: f64, approximate: bool) -> f64 {
    if approximate {
        let root = (2.0 / std::f64::consts::PI).sqrt();
        return 0.5 * x * (1.0 + (root * (x + 0.044715 * x * x * x)).tanh());
    }
    0.5 * x * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// A function with its parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Activation {
    function: fn(f64, f64, f64) -> f64,
    parameters: [f64; 2],
}

impl Activation {
    /// The function of that name, with the parameters that are given.
    ///
    /// # Errors
    /// [`gradus_core::Kind::Value`] if there is no such function.
    pub(crate) fn named(name: &str, given: impl Fn(&str) -> Result<Option<f32>>) -> Result<Activation> {
        let found = FUNCTIONS.iter().find(|(own, ..)| own.eq_ignore_ascii_case(name));
        let (_, parameters, function) = found.ok_or_else(|| {
            let names: Vec<_> = FUNCTIONS.iter().map(|(name, ..)| *name).collect();
            errors::value("activation", format_args!("\"{name}\""), names.join(", "))
        })?;
        let read = |(name, default): ActivationParameter| Ok(f64::from(given(name)?.unwrap_or(default)));
        Ok(Activation { function: *function, parameters: [read(parameters[0])?, read(parameters[1])?] })
    }

    /// The value at x.
    pub(crate) fn at(&self, x: f64) -> f64 {
        (self.function)(x, self.parameters[0], self.parameters[1])
    }
}

/// Applies a function to each element of the first input.
pub(crate) fn mapped(cx: &mut EvalContext<'_>, function: impl Fn(f64) -> f64) -> Result<Vec<Value>> {
    let mut numbers = cx.floats(0)?;
    for x in &mut numbers {
        *x = function(*x);
    }
    Ok(vec![cx.rounded(0, &numbers)?])
}

pub(crate) fn eval(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let activation = Activation::named(cx.operator, |name| attributes.float(name))?;
    mapped(cx, |x| activation.at(x))
}

pub(crate) fn eval_gelu(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let approximate = attributes.text("approximate")?.unwrap_or("none");
    let approximate = match approximate {
        "tanh" => true,
        "none" => false,
        other => return Err(errors::text("approximate", other, "\"none\" or \"tanh\"")),
    };
    mapped(cx, |x| gelu(x, approximate))
}

pub(crate) fn p_relu(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (dims, mut slope) = (cx.tensor(0)?.shape().dims(), cx.tensor(1)?.shape().dims().to_vec());
    if attributes.form().is(Older::ByChannel) {
        slope.resize(dims.len().saturating_sub(1).max(1), 1);
    }
    if cx.tensor(1)?.len() == 1 {
        slope.clear();
    }
    let places = indices::broadcast(&slope, dims);
    let (mut numbers, slopes) = (cx.floats(0)?, cx.floats(1)?);
    for (x, place) in numbers.iter_mut().zip(places) {
        if *x < 0.0 {
            *x *= slopes[place];
        }
    }
    Ok(vec![cx.rounded(0, &numbers)?])
}
