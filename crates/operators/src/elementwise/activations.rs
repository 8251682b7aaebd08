//! Activations: functions of one element with up to two parameters, as attributes or as fields of
//! recurrent networks give them; and `SwiGLU`, of two elements.

use gradus_core::convert::Rules;
use gradus_core::tensor::byte_len;
use gradus_core::{DType, Limits, Number, Result, Tensor, Value, dispatch};
use gradus_kernels::{Call, Float, Function, Options};

use crate::attributes::Attributes;
use crate::normalize::Older;
use crate::op::{EvalContext, Op};
use crate::schema::onnx_versions;
use crate::words;
use crate::{errors, indices};

/// A parameter: its name and its default.
type ActivationParameter = (&'static str, f32);

/// A function: the name of its operator, its parameters, and what it computes of them.
type Row = (&'static str, [ActivationParameter; 2], Function);

/// The functions by the name of the operator. A parameter without a name is not used.
#[rustfmt::skip]
const FUNCTIONS: &[Row] = &[
    ("Affine", [("alpha", 1.0), ("beta", 0.0)], Function::Affine),
    ("Celu", [("alpha", 1.0), NONE], Function::Celu),
    ("Elu", [("alpha", 1.0), NONE], Function::Elu),
    ("HardSigmoid", [("alpha", 0.2), ("beta", 0.5)], Function::HardSigmoid),
    ("HardSwish", [NONE, NONE], Function::HardSwish),
    ("LeakyRelu", [("alpha", 0.01), NONE], Function::LeakyRelu),
    ("Mish", [NONE, NONE], Function::Mish),
    ("QuickGelu", [("alpha", 1.702), NONE], Function::Swish),
    ("Relu", [NONE, NONE], Function::Relu),
    ("ScaledTanh", [("alpha", 1.0), ("beta", 1.0)], Function::ScaledTanh),
    ("Selu", [("alpha", 1.673_263_2), ("gamma", 1.050_701)], Function::Selu),
    ("Shrink", [("lambd", 0.5), ("bias", 0.0)], Function::Shrink),
    ("Sigmoid", [NONE, NONE], Function::Sigmoid),
    ("Softplus", [NONE, NONE], Function::Softplus),
    ("Softsign", [NONE, NONE], Function::Softsign),
    ("Swish", [("alpha", 1.0), NONE], Function::Swish),
    ("Tanh", [NONE, NONE], Function::Tanh),
    ("ThresholdedRelu", [("alpha", 1.0), NONE], Function::ThresholdedRelu),
];

const NONE: ActivationParameter = ("", 0.0);

/// Their names.
pub const ACTIVATIONS: [&str; FUNCTIONS.len()] = after([]);

/// The activations of fused products: none, `Clip`, and the functions.
pub const FUSED_ACTIVATIONS: [&str; FUNCTIONS.len() + 2] = after(["", "Clip"]);

/// The names of the functions after others.
const fn after<const BEFORE: usize, const ALL: usize>(names: [&'static str; BEFORE]) -> [&'static str; ALL] {
    let (mut all, mut i) = ([""; ALL], 0);
    while i < ALL {
        all[i] = if i < BEFORE { names[i] } else { FUNCTIONS[i - BEFORE].0 };
        i += 1;
    }
    all
}

/// A function with its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Activation(Call);

impl Activation {
    /// A function without parameters.
    pub const fn of(function: Function) -> Activation {
        Activation(Call { function, parameters: [0.0; 2] })
    }

    /// The function of Gelu, exactly or by the approximation with the hyperbolic tangent.
    pub const fn gelu(approximate: bool) -> Activation {
        Activation::of(if approximate { Function::GeluTanh } else { Function::Gelu })
    }

    /// The function of that name, with the parameters that are given.
    ///
    /// # Errors
    /// [`gradus_core::Kind::Value`] if there is no such function.
    pub fn named(name: &str, given: impl Fn(&str) -> Result<Option<f32>>) -> Result<Activation> {
        let found = FUNCTIONS.iter().find(|(own, ..)| own.eq_ignore_ascii_case(name));
        let (_, parameters, function) = found.ok_or_else(|| {
            let names: Vec<_> = FUNCTIONS.iter().map(|(name, ..)| *name).collect();
            errors::value("activation", format_args!("\"{name}\""), names.join(", "))
        })?;
        let read = |(name, default): ActivationParameter| Ok(f64::from(given(name)?.unwrap_or(default)));
        let parameters = [read(parameters[0])?, read(parameters[1])?];
        Ok(Activation(Call { function: *function, parameters }))
    }

    /// The ONNX operator of doubles that computes the function of that name, and its parameters.
    pub fn operator(name: &str) -> Option<(&'static str, impl Iterator<Item = &'static str>)> {
        let (operator, parameters, _) = FUNCTIONS.iter().find(|(own, ..)| own.eq_ignore_ascii_case(name))?;
        let newest = onnx_versions("", operator).last()?;
        let takes_doubles = newest.inputs.first()?.types.tensor.contains(DType::F64);
        let named = parameters.iter().map(|(name, _)| *name).filter(|name| !name.is_empty());
        takes_doubles.then_some((*operator, named))
    }

    /// The value at x, in float64.
    pub fn at(&self, x: f64) -> f64 {
        self.0.at(x)
    }
}

fn mapped<T: Float>(call: &Call, tensor: &Tensor, limits: &Limits) -> Result<Tensor> {
    let x = tensor.elements::<T>()?;
    let mut out = vec![T::default(); x.len()];
    call.map(&x, &mut out, Options::default(), limits)?;
    Tensor::from_vec(tensor.shape().clone(), out)
}

impl Op for Activation {
    fn eval(&self, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
        let input = cx.tensor(0)?;
        cx.reserve(byte_len(input.dtype(), input.shape()))?;
        let limits = cx.limits();
        let output = dispatch!(input.dtype(), [F16, BF16, F32, F64] => mapped(&self.0, input, &limits),
        dtype => {
            // The text does not say how integers are rounded: as casts round them.
            let numbers = cx.floats(0)?.into_iter().map(|x| Number::Float(self.at(x)));
            Tensor::from_numbers(dtype, input.shape().clone(), numbers, Rules::IEEE)
        });
        Ok(vec![output?.into()])
    }
}

/// The activation of the operator's name, with the parameters of its attributes.
pub fn eval(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let activation = Activation::named(cx.operator, |name| attributes.float(name))?;
    activation.eval(cx)
}

/// `Gelu`, exact or by the hyperbolic tangent.
pub fn eval_gelu(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let approximate = words::GELU.of(attributes)? == "tanh";
    Activation::gelu(approximate).eval(cx)
}

/// `PRelu`: `x`, or `slope * x` below zero.
pub fn p_relu(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let (data, slope) = (cx.tensor(0)?, cx.tensor(1)?);
    let (dims, mut sizes) = (data.shape().dims(), slope.shape().dims().to_vec());
    if attributes.form().is(Older::ByChannel) {
        sizes.resize(dims.len().saturating_sub(1).max(1), 1);
    }
    if slope.len() == 1 {
        sizes.clear();
    }
    let places = indices::broadcast(&sizes, dims);
    if data.dtype().is_integer() {
        let (mut numbers, slopes) = (cx.numbers(0)?, cx.numbers(1)?);
        for (x, place) in numbers.iter_mut().zip(places) {
            // A product of two integers of 64 bits, which wraps in the type.
            if let (Number::Int(x @ ..0), Number::Int(slope)) = (x, slopes[place]) {
                *x *= slope;
            }
        }
        return Ok(vec![
            Tensor::from_numbers(data.dtype(), data.shape().clone(), numbers, Rules::IEEE)?.into(),
        ]);
    }
    let (mut numbers, slopes) = (cx.floats(0)?, cx.floats(1)?);
    for (x, place) in numbers.iter_mut().zip(places) {
        if *x < 0.0 {
            *x *= slopes[place];
        }
    }
    Ok(vec![cx.rounded(0, &numbers)?])
}

/// `SwiGLU`: `gate * sigmoid(alpha * gate) * linear`.
pub fn swiglu(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let alpha = f64::from(attributes.float("alpha")?.unwrap_or(1.0));
    let linear = cx.floats(1)?;
    let mut gate = cx.floats(0)?;
    for (x, linear) in gate.iter_mut().zip(linear) {
        *x = *x / (1.0 + libm::exp(-alpha * *x)) * linear;
    }
    Ok(vec![cx.rounded(0, &gate)?])
}
