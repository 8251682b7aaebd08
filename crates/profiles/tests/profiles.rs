//! Profiles against what the programs themselves returned: lengths, every element bit for bit,
//! errors.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::collections::BTreeMap;

use gradus_core::convert::{self, Rules};
use gradus_core::{Class, DType, Number, text};
use gradus_profiles::{FailureKind, LinspaceCall, LogspaceCall, Outcome, Predicted, Profile, RangeCall};
use gradus_sequences::Plan;
use proptest::prelude::*;
use serde_json::Value;

/// The runs that a profile predicts.
const RUNS: &[(&str, Profile)] = &[
    ("ort11-fn", Profile::OnnxBody),
    ("ort27-fn", Profile::OnnxBody),
    ("ort11", Profile::Onnxruntime),
    ("ort27", Profile::Onnxruntime),
    ("ov4-eval", Profile::Openvino),
    ("ov4-cpu", Profile::OpenvinoCpu),
    ("numpy", Profile::Numpy),
    ("torch", Profile::Torch),
    ("tf", Profile::Tensorflow),
    ("paddle", Profile::Paddle),
    ("paddle-tensor", Profile::Paddle),
    ("jax", Profile::Jax),
];

/// Runs that are not predicted, and why.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("ort11-fn", "basic_0_10_3_i16", NO_INT16),
    ("ort11-fn", "basic_neg_10_4_m2_i16", NO_INT16),
    ("ort11-fn", "zero_step_0_5_i16", NO_INT16),
    ("ort11-fn", "wrong_sign_5_0_1_i16", NO_INT16),
    ("ort11-fn", "i16_full_10000", NO_INT16),
    ("ort11-fn", "i16_back_full", NO_INT16),
];

const NO_INT16: &str =
    "the profile is the body of version 27; in version 11 it uses Sub-7, which has no int16";

/// The memory that the programs had.
const MEMORY: u64 = 5 << 30;

fn text_of(recorded: &Value) -> String {
    recorded.as_str().map_or_else(|| recorded.to_string(), str::to_owned)
}

fn call_of(case: &Value) -> RangeCall {
    let dtype = |key: &str| case[key].as_str().unwrap().parse::<DType>().unwrap();
    let input = dtype("in_type");
    let arguments =
        ["start", "stop", "step"].map(|key| text::parse_for(&text_of(&case[key]), input).unwrap());
    RangeCall::new(arguments, input, dtype("out_type")).unwrap()
}

/// The first half of the SHA-1 of the elements' bytes.
fn digest(predicted: &Predicted) -> String {
    let dtype = predicted.dtype();
    let mut sha1 = sha1_smol::Sha1::new();
    let mut bytes = Vec::new();
    for number in predicted.elements() {
        let code = convert::code(dtype, number, Rules::IEEE).to_le_bytes();
        bytes.extend_from_slice(&code[..dtype.bits() / 8]);
        if bytes.len() > 1 << 16 {
            sha1.update(&bytes);
            bytes.clear();
        }
    }
    sha1.update(&bytes);
    sha1.digest().to_string()[..16].to_owned()
}

/// Describes how a prediction differs from a recorded run.
fn difference(outcome: &Outcome, recorded: &Value) -> Option<String> {
    let status = recorded["status"].as_str().unwrap();
    let message = recorded["msg"].as_str().unwrap_or_default();
    match (status, outcome) {
        ("ok", Ok(predicted)) => {
            let count = recorded["count"].as_u64().unwrap();
            if predicted.len() != count {
                return Some(format!("{} elements, not {count}", predicted.len()));
            }
            let want = recorded["sha1"].as_str().unwrap();
            let got = digest(predicted);
            (got != want).then(|| {
                let some: Vec<_> = predicted.elements().take(5).collect();
                format!("elements {some:?}, not {} … {}", recorded["first"], recorded["last"])
            })
        }
        ("error", Err(failure))
            if matches!(failure.kind(), FailureKind::Unsupported | FailureKind::Refused) =>
        {
            None
        }
        ("error", Ok(predicted)) if predicted.len().saturating_mul(8) > MEMORY => None,
        ("crash", Err(failure)) if failure.kind() == FailureKind::Crash => None,
        (_, Ok(predicted)) => Some(format!("{} elements, not {status} {message}", predicted.len())),
        (_, Err(failure)) => Some(format!("{failure}, not {status} of {}", recorded["count"])),
    }
}

#[test]
#[ignore = "long: `cargo xtask test long` runs it"]
fn long_recorded_ranges_are_predicted() {
    let file: Value = serde_json::from_str(include_str!("../../../conformance/recorded/range.json")).unwrap();
    let mut unlisted = Vec::new();
    let mut exceptions = EXCEPTIONS.to_vec();
    let mut predicted = BTreeMap::new();
    for case in file["cases"].as_array().unwrap() {
        let id = case["id"].as_str().unwrap();
        let call = call_of(case);
        for &(run, profile) in RUNS {
            let Some(recorded) = case["results"].get(run) else { continue };
            let difference = difference(&gradus_profiles::range(profile, &call), recorded);
            let listed = exceptions.iter().position(|&(r, i, _)| (r, i) == (run, id));
            match (difference, listed) {
                (None, None) => *predicted.entry(run).or_insert(0) += 1,
                (Some(_), Some(at)) => {
                    exceptions.swap_remove(at);
                }
                (Some(difference), None) => unlisted.push(format!("{run} {id}: {difference}")),
                (None, Some(_)) => {}
            }
        }
    }
    assert!(unlisted.is_empty(), "not predicted:\n{}", unlisted.join("\n"));
    assert!(exceptions.is_empty(), "predicted, or not there, though listed: {exceptions:?}");
    println!("predicted: {predicted:?}");
}

/// The programs whose linspace and logspace are predicted, as they are named in the recording.
const SPACES: &[(&str, Profile)] = &[
    ("numpy", Profile::Numpy),
    ("torch", Profile::Torch),
    ("tf", Profile::Tensorflow),
    ("paddle", Profile::Paddle),
    ("jax_x64", Profile::Jax),
];

/// Cases whose linspace or logspace is not predicted, and why.
const SPACE_EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("tf", "N003", NO_DTYPE),
    ("tf", "N004", NO_DTYPE),
    ("tf", "N021", NO_DTYPE),
    ("tf", "N022", NO_DTYPE),
    ("tf", "N024", NO_DTYPE),
    ("tf", "N030", NO_DTYPE),
    ("tf", "N031", NO_DTYPE),
];

const NO_DTYPE: &str = "tf.linspace has no dtype: it was called with integers, of which it makes other types";

/// Cases that are no calls: their arguments are arrays, complex, no numbers, or belong to other
/// functions.
const NO_CALLS: usize = 41;

/// A Python number.
fn python(recorded: &Value) -> Option<Number> {
    match recorded {
        Value::Bool(x) => Some(Number::Int(i128::from(*x))),
        Value::Number(x) => match x.as_i128() {
            Some(x) => Some(Number::Int(x)),
            None => x.as_f64().map(Number::Float),
        },
        Value::String(x) => text::parse_for(x, DType::F64).ok(),
        _ => None,
    }
}

/// The call of a case, if it is one; the element type is that of the case, or the one that the
/// program chose.
fn space_of(case: &Value, chosen: &Value) -> Option<LogspaceCall> {
    let dtype: DType = case.get("dtype").unwrap_or(chosen).as_str()?.parse().ok()?;
    let exponents = LinspaceCall {
        start: python(&case["start"])?,
        stop: python(&case["stop"])?,
        num: case["num"].as_i64()?,
        endpoint: case.get("endpoint").is_none_or(|endpoint| endpoint.as_bool().unwrap()),
        dtype,
    };
    if dtype.class() == Class::Complex || case.get("axis").is_some() {
        return None;
    }
    let base = case.get("base").map_or(Some(Number::Float(10.0)), python)?;
    Some(LogspaceCall { exponents, base })
}

/// Describes how a prediction differs from a recorded linspace or logspace.
fn space_difference(outcome: &Outcome, recorded: &Value) -> Option<String> {
    let (Some(values), Ok(predicted)) = (recorded["values"].as_array(), outcome) else {
        return match (recorded.get("error"), outcome) {
            (Some(_), Err(failure)) if failure.kind() != FailureKind::Undetermined => None,
            (_, outcome) => Some(format!("{outcome:?}, not {recorded}")),
        };
    };
    let dtype = predicted.dtype();
    if recorded["dtype"].as_str().unwrap().parse::<DType>().unwrap() != dtype {
        return Some(format!("{dtype}, not {}", recorded["dtype"]));
    }
    let want: Vec<_> = values
        .iter()
        .map(|value| text::parse_for(&text_of(value), dtype).unwrap())
        .map(|number| convert::number(dtype, convert::code(dtype, number, Rules::IEEE)))
        .collect();
    let got: Vec<_> = predicted.elements().collect();
    let agree = got.len() == want.len() && (0..).zip(&want).all(|(i, &element)| predicted.agrees(i, element));
    (!agree).then(|| format!("{got:?}, not {want:?}"))
}

#[test]
fn recorded_spaces_are_predicted() {
    let file: Value =
        serde_json::from_str(include_str!("../../../conformance/recorded/logspace.json")).unwrap();
    let mut unlisted = Vec::new();
    let mut exceptions = SPACE_EXCEPTIONS.to_vec();
    let (mut predicted, mut no_calls) = (BTreeMap::new(), 0);
    for case in file["cases"].as_array().unwrap() {
        let id = case["id"].as_str().unwrap();
        let function = case["fn"].as_str().unwrap();
        if !matches!(function, "linspace" | "logspace" | "geomspace")
            || space_of(case, &"float64".into()).is_none()
        {
            no_calls += 1;
            continue;
        }
        for (programs, recorded) in case["results"].as_object().unwrap() {
            for &(program, profile) in SPACES {
                if !programs.split(' ').any(|name| name == program) {
                    continue;
                }
                let chosen = recorded.get("dtype").cloned().unwrap_or_else(|| "float32".into());
                let call = space_of(case, &chosen).unwrap();
                let outcome = match function {
                    "linspace" => gradus_profiles::linspace(profile, &call.exponents),
                    "geomspace" => gradus_profiles::geomspace(profile, &call.exponents),
                    _ => gradus_profiles::logspace(profile, &call),
                };
                let difference = space_difference(&outcome, recorded);
                let listed = exceptions.iter().position(|&(p, i, _)| (p, i) == (program, id));
                match (difference, listed) {
                    (None, None) => *predicted.entry((program, function)).or_insert(0) += 1,
                    (Some(_), Some(at)) => {
                        exceptions.swap_remove(at);
                    }
                    (Some(difference), None) => unlisted.push(format!("{program} {id}: {difference}")),
                    (None, Some(_)) => {}
                }
            }
        }
    }
    assert!(unlisted.is_empty(), "not predicted:\n{}", unlisted.join("\n"));
    assert!(exceptions.is_empty(), "predicted, or not there, though listed: {exceptions:?}");
    assert_eq!(no_calls, NO_CALLS);
    println!("predicted: {predicted:?}");
}

/// Returns the range of float32 numbers of OpenVINO's CPU plugin, as observed with AVX-512, with
/// AVX2 (also by `ONEDNN_MAX_CPU_ISA=AVX2`) and with SSE4.1.
fn openvino_cpu(profile: Profile, arguments: [f64; 3], dtype: DType) -> Vec<Number> {
    let call = RangeCall::new(arguments.map(Number::Float), DType::F32, dtype).unwrap();
    gradus_profiles::range(profile, &call).unwrap().elements().collect()
}

#[test]
fn openvino_rounds_to_bfloat16_only_with_avx512() {
    let codes = |profile| -> Vec<u64> {
        let elements = openvino_cpu(profile, [0.0, 1.0, 0.1], DType::BF16).into_iter();
        elements.map(|x| convert::code(DType::BF16, x, Rules::IEEE)).collect()
    };
    let rounded = [0, 0x3dcd, 0x3e4d, 0x3e9a, 0x3ecd, 0x3f00, 0x3f1a, 0x3f33, 0x3f4d, 0x3f66];
    let cut = [0, 0x3dcc, 0x3e4c, 0x3e9a, 0x3ecc, 0x3f00, 0x3f1a, 0x3f33, 0x3f4c, 0x3f66];
    assert_eq!(codes(Profile::OpenvinoCpu), rounded);
    assert_eq!(codes(Profile::OpenvinoCpuAvx2), cut);
}

#[test]
fn subnormal_numbers_of_bfloat16_are_kept_or_zero() {
    let start = Number::Float(2f64.powi(-133));
    let call =
        RangeCall::new([start, Number::Float(3.0), Number::Float(1.0)], DType::BF16, DType::BF16).unwrap();
    for (profile, zero) in [(Profile::OpenvinoCpu, true), (Profile::OpenvinoCpuAvx2, false)] {
        let predicted = gradus_profiles::range(profile, &call).unwrap();
        assert!(predicted.agrees(0, start) && predicted.agrees(1, Number::Float(1.0)), "{profile:?}");
        assert_eq!(predicted.agrees(0, Number::Float(0.0)), zero, "{profile:?}");
        assert!(!predicted.agrees(1, Number::Float(1.0 - 2f64.powi(-8))), "{profile:?}");
    }
}

#[test]
fn openvino_clamps_float32_to_int32() {
    let (low, high) = (-2_147_483_648, 2_147_483_520);
    let most: i128 = 1 << 64;
    for profile in [Profile::OpenvinoCpu, Profile::OpenvinoCpuAvx2] {
        for (arguments, dtype, want) in [
            ([0.0, 4e9, 1e9], DType::I32, [0, 1_000_000_000, 2_000_000_000, high]),
            ([0.0, -4e9, -1e9], DType::I32, [0, -1_000_000_000, -2_000_000_000, low]),
            ([0.0, 4e9, 1e9], DType::I64, [0, 1_000_000_000, 2_000_000_000, high]),
            ([0.0, 4e9, 1e9], DType::U32, [0, 1_000_000_000, 2_000_000_000, high]),
            ([0.0, -4e9, -1e9], DType::U64, [0, most - 1_000_000_000, most - 2_000_000_000, most + low]),
            ([0.0, 4e9, 1e9], DType::I16, [0, -13_824, -27_648, -128]),
            ([0.0, -4e9, -1e9], DType::U16, [0, 13_824, 27_648, 0]),
            ([0.0, 4e9, 1e9], DType::I8, [0, 127, 127, 127]),
            ([0.0, 4e9, 1e9], DType::U8, [0, 255, 255, 255]),
        ] {
            assert_eq!(openvino_cpu(profile, arguments, dtype), want.map(Number::Int), "{profile} {dtype}");
        }
    }
}

fn any_number() -> impl Strategy<Value = Number> {
    prop_oneof![
        (-20..20i32).prop_map(|x| Number::Float(f64::from(x) / 8.0)),
        (-20..20i128).prop_map(Number::Int),
        any::<i64>().prop_map(|x| Number::Int(x.into())),
        any::<u64>().prop_map(f64::from_bits).prop_map(Number::Float),
        any::<u32>().prop_map(|bits| Number::Float(f32::from_bits(bits).into())),
        prop::sample::select(vec![0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, 5e-324])
            .prop_map(Number::Float),
    ]
}

fn any_dtype() -> impl Strategy<Value = DType> {
    prop::sample::select(DType::ALL)
}

/// A plan is the same from whichever side it is looked at, in constant time, however long it is.
fn check_plan(outcome: &Outcome) {
    let Ok(predicted) = outcome else { return };
    let len = predicted.len();
    for (i, element) in (0..).zip(predicted.elements().take(40)) {
        assert_eq!(predicted.at(i), element, "{predicted:?}: {i}");
        assert!(predicted.agrees(i, element));
    }
    for i in [len / 3, len / 2, len.saturating_sub(1)].into_iter().filter(|&i| i < len) {
        let slice = predicted.slice(i..len);
        assert_eq!((slice.at(0), slice.len()), (predicted.at(i), len - i), "{predicted:?}: {i}");
        assert_eq!(slice.elements().next(), Some(predicted.at(i)), "{predicted:?}: {i}");
    }
    assert!(!predicted.length_rule().is_empty() && !predicted.element_rule().is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn no_call_is_too_strange(
        numbers in [any_number(), any_number(), any_number()], input in any_dtype(), dtype in any_dtype(),
        num in prop_oneof![-2..50i64, any::<i64>()], endpoint in any::<bool>(),
    ) {
        let [start, stop, base] = numbers;
        let exponents = LinspaceCall { start, stop, num, endpoint, dtype };
        for &profile in Profile::ALL {
            if let Ok(call) = RangeCall::new(numbers, input, dtype) {
                check_plan(&gradus_profiles::range(profile, &call));
            }
            check_plan(&gradus_profiles::linspace(profile, &exponents));
            check_plan(&gradus_profiles::logspace(profile, &LogspaceCall { exponents, base }));
        }
    }
}
