//! Conversions of element types, compared with `ml_dtypes` and `onnx`.

use std::path::Path;

use gradus::convert::{self, Rules, ScaleRounding};
use gradus::formats::numpy;
use gradus::{DType, Limits, Number, Tensor, files};

use super::{cases, folders, name};

fn array(path: &Path) -> Tensor {
    numpy::read_npy(&files::map(path).unwrap(), None, &Limits::DEFAULT).unwrap()
}

/// The codes of an array of 8- or 16-bit codes.
fn codes(tensor: &Tensor) -> Vec<u64> {
    let codes = tensor.numbers().unwrap().map(|number| {
        if let Number::Int(code) = number {
            u64::try_from(code).unwrap()
        } else {
            panic!("codes are integers")
        }
    });
    codes.collect()
}

fn is_nan(dtype: DType, code: u64) -> bool {
    matches!(convert::number(dtype, code), Number::Float(x) if x.is_nan())
}

#[test]
#[ignore = "needs GRADUS_CONFORMANCE, which `cargo xtask conformance` sets"]
fn codes_have_the_values_that_ml_dtypes_gives_them() {
    let root = cases("casts");
    for file in folders(&root.join("decode")) {
        let dtype: DType = file.file_stem().unwrap().to_str().unwrap().parse().unwrap();
        let values = array(&file);
        assert_eq!(values.len(), 1 << dtype.bits(), "{dtype}");
        for (code, want) in (0..).zip(values.elements::<f64>().unwrap().iter()) {
            match convert::number(dtype, code) {
                Number::Float(x) if x.is_nan() => assert!(want.is_nan(), "{dtype} {code:#x} is {want}"),
                Number::Float(x) => assert_eq!(x.to_bits(), want.to_bits(), "{dtype} {code:#x}"),
                number => assert_eq!(convert::nearest_f64(number), *want, "{dtype} {code:#x}"),
            }
        }
    }
}

/// Deliberate difference of our conversion from the packages': type, rules, numbers, reason.
type Deviation = (DType, &'static str, fn(f32) -> bool, &'static str);

const DEVIATIONS: &[Deviation] = &[
    (
        DType::F8E8M0,
        "any",
        |x| x < 0.0,
        "negative numbers are undefined; onnx takes the magnitude, we give NaN",
    ),
    (DType::F8E8M0, "any", |x| x == f32::INFINITY, "the text's table says the largest; onnx gives NaN"),
    (
        DType::F8E8M0,
        "any",
        |x| x > 0.0 && x < f32::MIN_POSITIVE,
        "onnx reads only the exponent, and rounds subnormals as if it were 0",
    ),
    (
        DType::F8E8M0,
        "nearest",
        |x| (x.to_bits() & 0x7f_ffff) == 0x40_0000,
        "ties go up by the text; so do onnx's, but for the least exponent",
    ),
    (DType::F8E8M0, "any", |x| x > 1.701_411_8e38, "onnx does not saturate before it rounds"),
];

#[test]
#[ignore = "needs GRADUS_CONFORMANCE, which `cargo xtask conformance` sets"]
fn numbers_are_rounded_as_ml_dtypes_and_onnx_round_them() {
    let root = cases("casts");
    let root = root.join("encode");
    let (numbers, small) = (array(&root.join("numbers.npy")), array(&root.join("small_numbers.npy")));
    for file in folders(&root) {
        let file_name = name(&file);
        let Some((stem, rules)) = file_name.strip_suffix(".npy").and_then(|stem| stem.rsplit_once('.'))
        else {
            continue;
        };
        let dtype: DType = stem.parse().unwrap();
        let mut chosen = Rules::IEEE;
        match rules {
            "special" => {}
            "saturate" => chosen.overflow = Rules::SATURATING.overflow,
            mode => {
                chosen = Rules::SATURATING;
                chosen.scale_rounding = match mode {
                    "up" => ScaleRounding::Up,
                    "down" => ScaleRounding::Down,
                    _ => ScaleRounding::Nearest,
                };
            }
        }
        let inputs = if dtype.is_integer() { &small } else { &numbers };
        let inputs = inputs.elements::<f32>().unwrap();
        let wanted = codes(&array(&file));
        assert_eq!(inputs.len(), wanted.len(), "{file_name}");
        for (&x, want) in inputs.iter().zip(wanted) {
            let mask = (1 << dtype.bits()) - 1;
            let got = convert::code(dtype, Number::Float(x.into()), chosen);
            let equal = got == want & mask || (is_nan(dtype, got) && is_nan(dtype, want));
            let deviates = DEVIATIONS
                .iter()
                .any(|(of, by, numbers, _)| *of == dtype && (*by == rules || *by == "any") && numbers(x));
            assert!(equal || deviates, "{dtype} {rules} {x:e}: {got:#x} instead of {want:#x}");
        }
    }
}
