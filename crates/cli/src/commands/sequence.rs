//! `gradus range`, `linspace`, `logspace`, `geomspace`: one sequence.

use std::ops::Range;

use gradus::arrays::{self, Samples};
use gradus::profiles::{self, LinspaceCall, LogspaceCall, Outcome, Profile, RangeCall};
use gradus::seq::{
    self, ExactNumber, GeomspacePlan, LinspacePlan, LogspacePlan, Plan, RangeError, RangePlan, SpaceError,
};
use gradus::{DType, Each, Error, Kind, Limits, Number, Result, Tensor, gpu, text};

use crate::args;
use crate::diagnostics::Failure;
use crate::sequence::Sequence;
use crate::{json, literal, output, stream};

/// Runs `gradus range`: prints or saves a range.
pub(crate) fn range(args: &args::RangeArgs) -> Result<(), Failure> {
    let call = range_call(&args.arguments, &args.sequence.types)?;
    emit(&args.sequence, || call.plan(), |profile| Ok(profiles::range(profile, &call.profiled()?)))
}

/// Runs `gradus linspace`: prints or saves numbers of equal distance.
pub(crate) fn linspace(args: &args::Linspace) -> Result<(), Failure> {
    if let Some(arrays) = Arrays::read(&args.arguments, None, &args.sequence.types)? {
        let [start, stop, _] = &arrays.numbers;
        return Arrays::emit(arrays::linspace(start, stop, arrays.samples, &Limits::DEFAULT), &args.sequence);
    }
    let call = space_call(&args.arguments, None, &args.sequence.types)?;
    let predict = |profile| Ok(profiles::linspace(profile, &call.profiled()?));
    emit(&args.sequence, || call.linspace(), predict)
}

/// Runs `gradus logspace`: prints or saves powers whose exponents have equal distance.
pub(crate) fn logspace(args: &args::Logspace) -> Result<(), Failure> {
    if let Some(arrays) = Arrays::read(&args.arguments, Some(&args.base.base), &args.sequence.types)? {
        let [start, stop, base] = &arrays.numbers;
        let result = arrays::logspace(start, stop, base, arrays.samples, &Limits::DEFAULT);
        return Arrays::emit(result, &args.sequence);
    }
    let call = space_call(&args.arguments, Some(&args.base.base), &args.sequence.types)?;
    let predict = |profile| Ok(profiles::logspace(profile, &call.profiled_powers()?));
    emit(&args.sequence, || call.logspace(), predict)
}

/// Runs `gradus geomspace`: prints or saves numbers of equal ratio.
pub(crate) fn geomspace(args: &args::Geomspace) -> Result<(), Failure> {
    if let Some(arrays) = Arrays::read(&args.arguments, None, &args.sequence.types)? {
        let [start, stop, _] = &arrays.numbers;
        return Arrays::emit(
            arrays::geomspace(start, stop, arrays.samples, &Limits::DEFAULT),
            &args.sequence,
        );
    }
    let call = space_call(&args.arguments, None, &args.sequence.types)?;
    let predict = |profile| Ok(profiles::geomspace(profile, &call.profiled()?));
    emit(&args.sequence, || call.geomspace(), predict)
}

/// Prints, draws or writes the exact sequence, or the one that the profile predicts.
fn emit<P: Into<Sequence>>(
    args: &args::SequenceArgs,
    plan: impl FnOnce() -> Result<P>,
    predict: impl FnOnce(Profile) -> Result<Outcome>,
) -> Result<(), Failure> {
    let sequence: Sequence = if args.profile == Profile::Exact {
        plan()?.into()
    } else {
        let predicted = predict(args.profile)?.map_err(|failure| {
            Error::new(Kind::Value, format!("{}: {}", args.profile.program(), failure.message()))
        })?;
        Each(predicted).into()
    };
    match &args.out.slice {
        Some(words) => emit_all(&sequence.slice(indices(words, sequence.len())?), &args.out),
        None => emit_all(&sequence, &args.out),
    }
}

/// The arguments of a range, read.
pub(crate) struct RangeRequest {
    numbers: [ExactNumber; 3],
    in_dtype: Option<DType>,
    pub(crate) dtype: DType,
}

/// Reads the arguments of a range.
pub(crate) fn range_call(words: &args::RangeArguments, types: &args::TypesArgs) -> Result<RangeRequest> {
    let words = [&words.start, &words.stop, &words.step];
    let read = |word, name| number(word, types.in_dtype).map_err(|error| usage(name, &error));
    let numbers = [read(words[0], "START")?, read(words[1], "STOP")?, read(words[2], "STEP")?];
    let dtype = types.dtype.map_or_else(|| default_type(words, &numbers), Ok)?;
    Ok(RangeRequest { numbers, in_dtype: types.in_dtype, dtype })
}

/// The type of a range if none is asked for: of whole numbers int64, or uint64 if that holds them
/// and int64 does not; else float64.
fn default_type(words: [&String; 3], numbers: &[ExactNumber; 3]) -> Result<DType> {
    let is_whole = |(number, word): (&ExactNumber, &String)| {
        let is_integer = |word: &str| word.bytes().all(|c| c.is_ascii_digit() || matches!(c, b'+' | b'-'));
        matches!(number, ExactNumber::Number(Number::Int(_))) || is_integer(word.trim())
    };
    if !numbers.iter().zip(words).all(is_whole) {
        return Ok(DType::F64);
    }
    let holds =
        |&dtype: &DType| numbers.iter().all(|number| gradus::convert::holds(dtype, number.nearest().parts()));
    [DType::I64, DType::U64].into_iter().find(holds).ok_or_else(|| {
        let wanted = "int64 or uint64 to hold START, STOP and STEP, or another type";
        Error::mismatch(Kind::Usage, "--dtype", "missing", wanted)
    })
}

impl RangeRequest {
    /// The exact plan of the range.
    pub(crate) fn plan(&self) -> Result<RangePlan> {
        let [start, stop, step] = &self.numbers;
        RangePlan::new(start, stop, step, self.dtype).map_err(|error| {
            let described = error.describe(["START", "STOP", "STEP"]);
            if let RangeError::OutputType(_) = error { usage("--dtype", &described) } else { described }
        })
    }

    /// The range as the call of a program.
    pub(crate) fn profiled(&self) -> Result<RangeCall> {
        let numbers = self.numbers.each_ref().map(ExactNumber::nearest);
        match self.in_dtype {
            Some(in_dtype) => RangeCall::new(numbers, in_dtype, self.dtype),
            None => RangeCall::of_numbers(numbers, self.dtype),
        }
    }
}

/// The arguments of the other sequences, read.
pub(crate) struct SpaceRequest {
    start: ExactNumber,
    stop: ExactNumber,
    num: u64,
    endpoint: bool,
    base: ExactNumber,
    pub(crate) dtype: DType,
}

/// Reads the arguments of a linspace, logspace or geomspace.
pub(crate) fn space_call(
    words: &args::SpaceArguments,
    base: Option<&str>,
    types: &args::TypesArgs,
) -> Result<SpaceRequest> {
    let base = base.unwrap_or("10");
    let complex = [&words.start, &words.stop, base].iter().any(|word| word.ends_with('j'));
    let dtype = types.dtype.unwrap_or(if complex { DType::C128 } else { DType::F64 });
    // The parts of complex numbers are doubles.
    let in_dtype = types.in_dtype.or(complex.then_some(DType::C128));
    let read = |word, name| number(word, in_dtype).map_err(|error| usage(name, &error));
    Ok(SpaceRequest {
        start: read(&words.start, "START")?,
        stop: read(&words.stop, "STOP")?,
        num: count(&words.num)?,
        endpoint: !words.no_endpoint,
        base: read(base, "--base")?,
        dtype,
    })
}

fn described(error: SpaceError) -> Error {
    let described = error.describe(["START", "STOP", "--base", "NUM"]);
    if let SpaceError::OutputType(_) = error { usage("--dtype", &described) } else { described }
}

impl SpaceRequest {
    /// The exact plan of the linspace.
    pub(crate) fn linspace(&self) -> Result<LinspacePlan> {
        LinspacePlan::new(&self.start, &self.stop, self.num, self.endpoint, self.dtype).map_err(described)
    }

    /// The exact plan of the logspace.
    pub(crate) fn logspace(&self) -> Result<LogspacePlan> {
        LogspacePlan::new(&self.base, &self.start, &self.stop, self.num, self.endpoint, self.dtype)
            .map_err(described)
    }

    /// The exact plan of the geomspace.
    pub(crate) fn geomspace(&self) -> Result<GeomspacePlan> {
        GeomspacePlan::new(&self.start, &self.stop, self.num, self.endpoint, self.dtype).map_err(described)
    }

    /// The linspace, or the geomspace, as the call of a program.
    pub(crate) fn profiled(&self) -> Result<LinspaceCall> {
        let num = i64::try_from(self.num).map_err(|_| described(SpaceError::TooLong(self.num)))?;
        let (start, stop) = (self.start.nearest(), self.stop.nearest());
        Ok(LinspaceCall { start, stop, num, endpoint: self.endpoint, dtype: self.dtype })
    }

    /// The logspace as the call of a program.
    pub(crate) fn profiled_powers(&self) -> Result<LogspaceCall> {
        Ok(LogspaceCall { exponents: self.profiled()?, base: self.base.nearest() })
    }
}

/// Arguments of which one at least is an array.
struct Arrays {
    numbers: [Tensor; 3],
    samples: Samples,
}

impl Arrays {
    /// The arguments, unless all are numbers.
    fn read(
        words: &args::SpaceArguments,
        base: Option<&str>,
        types: &args::TypesArgs,
    ) -> Result<Option<Arrays>, Failure> {
        let numbers = [&words.start, &words.stop, base.unwrap_or("10")];
        if !numbers.iter().any(|word| word.starts_with('[')) {
            if !matches!(words.axis, -1 | 0) {
                return Err(Error::mismatch(Kind::Shape, "axis", words.axis, "-1 to 0").into());
            }
            return Ok(None);
        }
        let dtype = types.dtype.unwrap_or(DType::F64);
        let parse = |word: &str, dtype| literal::parse(word, Some(dtype), 0, &Limits::DEFAULT);
        let read = |word: &str| {
            let value = match types.in_dtype {
                Some(in_dtype) => parse(word, in_dtype)?,
                // Arrays of whole numbers are exact; others are doubles.
                None => parse(word, DType::I64)
                    .or_else(|_| parse(word, if dtype.is_complex() { DType::C128 } else { DType::F64 }))?,
            };
            Ok::<_, Failure>(value.tensor()?.clone())
        };
        Ok(Some(Arrays {
            numbers: [read(numbers[0])?, read(numbers[1])?, read(numbers[2])?],
            samples: Samples {
                num: count(&words.num)?,
                endpoint: !words.no_endpoint,
                axis: words.axis,
                dtype,
            },
        }))
    }

    /// Prints the result or writes it to a file.
    fn emit(result: Result<Tensor>, args: &args::SequenceArgs) -> Result<(), Failure> {
        let (result, out) = (result?, &args.out);
        if args.profile != Profile::Exact || out.slice.is_some() || out.plot || out.device != CPU {
            let message =
                "--profile, --slice, --plot and --device are for sequences between numbers, not arrays";
            return Err(Error::new(Kind::Usage, message).into());
        }
        match &out.file {
            Some(path) => stream::tensor_to_file(&result, path),
            None if output::is_json() => output::print_json(&json::tensor(&result)),
            None => output::print_line(&output::tensor(&result)),
        }
    }
}

/// The number of samples.
fn count(word: &str) -> Result<u64> {
    let num = number(word, None).map_err(|error| usage("NUM", &error))?;
    seq::samples(num.nearest()).map_err(|error| {
        Error::mismatch(described(error).kind(), "NUM", word, "an integer from 0 to 9223372036854775807")
    })
}

/// A number as it is written; or the element of a type that is nearest to it, or to a sum of a real
/// and an imaginary part.
fn number(word: &str, in_dtype: Option<DType>) -> Result<ExactNumber> {
    in_dtype.map_or_else(|| word.parse(), |dtype| element(word, dtype).map(ExactNumber::from))
}

fn element(word: &str, dtype: DType) -> Result<Number> {
    if dtype.is_complex() {
        let (re, im) = parts(word);
        let part = |word| element(word, dtype.component());
        return Ok(part(re)?.with_imaginary(part(im)?));
    }
    if !dtype.is_real() {
        return Err(Error::new(Kind::Type, format!("cannot read numbers as {dtype}")));
    }
    let number = text::parse_exact(word, dtype)?;
    Ok(gradus::convert::number(dtype, gradus::convert::code(dtype, number, gradus::convert::Rules::IEEE)))
}

/// The real and the imaginary part of a number that is written as `1+2j`, `1`, or `2j`.
fn parts(word: &str) -> (&str, &str) {
    let Some(body) = word.strip_suffix('j') else { return (word, "0") };
    // The sign between the parts is the last one that no exponent has.
    let signs = body.char_indices().skip(1).filter(|&(_, c)| matches!(c, '+' | '-'));
    let sign = signs.filter(|&(i, _)| !matches!(body.as_bytes()[i - 1], b'e' | b'E')).last();
    match sign {
        Some((i, '+')) => (&body[..i], &body[i + 1..]),
        Some((i, _)) => (&body[..i], &body[i..]),
        None => ("0", body),
    }
}

fn usage(argument: &str, error: &Error) -> Error {
    Error::new(Kind::Usage, format!("{argument}: {}", error.message()))
}

fn emit_all(plan: &Sequence, out: &args::OutArgs) -> Result<(), Failure> {
    let device = (out.device != CPU).then(|| gpu::open(&out.device)).transpose()?;
    let source = stream::SequenceSource { plan, device };
    if let Some(path) = &out.file {
        stream::to_file(&source, path)
    } else if out.plot {
        stream::plot(plan, out.log)
    } else if output::is_json() {
        stream::json(&source)
    } else {
        stream::print(&source)
    }
}

/// The device that needs none.
const CPU: &str = "cpu";

/// Reads LO:HI.
fn indices(words: &str, len: u64) -> Result<Range<u64>> {
    let wrong = |got: String, wanted: String| Error::mismatch(Kind::Usage, "--slice", got, wanted);
    let (lo, hi) = words.split_once(':').ok_or_else(|| wrong(format!("\"{words}\""), "LO:HI".to_owned()))?;
    let index = |word: &str, missing: u64| match word {
        "" => Ok(missing),
        _ => word.parse::<u64>().map_err(|_| wrong(format!("\"{words}\""), "LO:HI, two integers".to_owned())),
    };
    let (lo, hi) = (index(lo, 0)?, index(hi, len)?);
    if lo > hi || hi > len {
        return Err(wrong(format!("{lo}:{hi}"), format!("a slice of the {len} elements")));
    }
    Ok(lo..hi)
}
