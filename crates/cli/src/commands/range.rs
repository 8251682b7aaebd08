//! `gradus range`: one sequence.

use gradus::seq::{RangeError, RangePlan};
use gradus::{DType, Error, Kind, Result, text};

use crate::args;
use crate::diagnostics::Failure;
use crate::{json, output};

pub(crate) fn range(args: &args::Range) -> Result<(), Failure> {
    let words = [&args.start, &args.stop, &args.step];
    let whole = words.iter().all(|word| text::parse_exact(word, DType::I64).is_ok());
    let dtype = args.dtype.unwrap_or(if whole { DType::I64 } else { DType::F64 });
    let in_dtype = args.in_dtype.unwrap_or(dtype);
    let mut numbers = Vec::new();
    for (word, name) in words.into_iter().zip(["START", "STOP", "STEP"]) {
        numbers.push(number(word, in_dtype).map_err(|error| usage(name, &error))?);
    }
    let plan = RangePlan::new(numbers[0], numbers[1], numbers[2], dtype).map_err(|error| {
        let described = error.describe(["START", "STOP", "STEP"]);
        if let RangeError::OutputType(_) = error { usage("--dtype", &described) } else { described }
    })?;
    let tensor = gradus::filled(&plan, &args.limits.limits(), 0)?;
    if args.json {
        output::print_json(&json::tensor(&tensor))
    } else {
        output::print_line(&output::tensor(&tensor))
    }
}

/// The element of a type that is nearest to a decimal.
fn number(word: &str, dtype: DType) -> Result<gradus::Number> {
    if !dtype.is_real() {
        return Err(Error::new(Kind::Type, format!("numbers cannot be read as {dtype}")));
    }
    let number = text::parse_exact(word, dtype)?;
    Ok(gradus::convert::number(dtype, gradus::convert::code(dtype, number, gradus::convert::Rules::IEEE)))
}

fn usage(argument: &str, error: &Error) -> Error {
    Error::new(Kind::Usage, format!("{argument}: {}", error.message()))
}
