//! Evaluation of `Softmax` and its like, in float64.

use gradus_core::convert::{FromNumber, product};
use gradus_core::{Result, Value};
use gradus_kernels::{Call, Function, Options, SumType, share};

use crate::attributes::Attributes;
use crate::floats::{Adding, Ring};
use crate::indices;
use crate::normalize::Older;
use crate::op::EvalContext;
use crate::output::allowed;
use crate::reduction::eval::groups;
use crate::strided::threads_for;

/// Applies a function to all elements along the axes that Softmax and its like name.
fn along(
    attributes: &Attributes<'_>,
    cx: &mut EvalContext<'_>,
    function: impl Fn(&mut [f64], Adding<'_>) -> Result<()> + Send + Sync,
) -> Result<Vec<Value>> {
    let data = cx.tensor(0)?;
    let dims = data.shape().dims();
    let axis = indices::axis(attributes.int("axis")?.unwrap_or(-1), dims.len())?;
    let last = if attributes.form().is(Older::Flattened) { dims.len() } else { axis + 1 };
    let shape = allowed(cx, data.dtype(), dims)?;
    let (limits, mut numbers) = (cx.limits(), cx.floats(0)?);
    let adding = cx.adding_doubles(&limits)?.within();
    let row: usize = dims[axis..].iter().product();
    if last == dims.len() && row > 0 {
        share(
            numbers.chunks_mut(row),
            threads_for(product(data.len(), 1)),
            || (),
            |(), row| {
                limits.check()?;
                function(row, adding)
            },
        )?;
        return Ok(vec![f64::tensor(data.dtype(), shape, &numbers)?.into()]);
    }
    for places in groups(cx, dims, &(axis..last).collect::<Vec<_>>())?.iter() {
        let mut group: Vec<_> = places.iter().map(|&place| numbers[place]).collect();
        function(&mut group, adding)?;
        places.iter().zip(group).for_each(|(&place, number)| numbers[place] = number);
    }
    Ok(vec![f64::tensor(data.dtype(), shape, &numbers)?.into()])
}

/// The largest number, or NaN if there is one.
fn largest(group: &[f64]) -> f64 {
    group
        .iter()
        .copied()
        .fold(f64::NEG_INFINITY, |a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) })
}

/// `Softmax`: exponentials divided by their sum.
pub fn softmax(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let singles = cx.adding(&cx.limits())?.term(true) == Some(SumType::Single);
    along(attributes, cx, |group, adding| {
        let most = largest(group);
        if singles {
            let below: Vec<f32> = group.iter().map(|x| f32::from_f64(*x - most)).collect();
            let mut powers = vec![0f32; below.len()];
            let exp = Call { function: Function::Exp, parameters: [0.0; 2] };
            exp.map(&below, &mut powers, Options::ONE_THREAD, adding.limits)?;
            group.iter_mut().zip(powers).for_each(|(x, power)| *x = power.into());
        } else {
            for x in group.iter_mut() {
                *x = libm::exp(*x - most);
            }
        }
        let sum = adding.sum(group.iter().copied());
        for x in group {
            *x /= sum;
        }
        Ok(())
    })
}

/// `LogSoftmax`: the logarithm of the softmax.
pub fn log_softmax(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    along(attributes, cx, |group, adding| {
        let most = largest(group);
        let sum = adding.sum(group.iter().map(|x| libm::exp(x - most)));
        for x in group {
            *x = (*x - most) - libm::log(sum);
        }
        Ok(())
    })
}

/// The first of the largest elements becomes 1, all others 0.
pub fn hardmax(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    along(attributes, cx, |group, _| {
        let most = largest(group);
        let first = group.iter().position(|&x| x == most);
        group.iter_mut().enumerate().for_each(|(at, x)| *x = f64::from(u8::from(Some(at) == first)));
        Ok(())
    })
}
