//! Test cases of operators: nearly all operators have some, which run to the same bits, and have
//! what is hard.

use std::collections::BTreeSet;

use gradus::cases::{Case, Cases, CasesOptions};
use gradus::convert::nearest_f64;
use gradus::graph::Standard;
use gradus::operators::{self, Chance, Row};
use gradus::{DType, Kind, Model, Number, RunOptions, Sums, Tensor};

/// Operators of which too few random nodes run: they need graphs, sequences, maps, or inputs that
/// belong together.
const FEW: &[&str] = &[
    "ConcatFromSequence",
    "If",
    "Loop",
    "Optional",
    "Scan",
    "SequenceAt",
    "SequenceConstruct",
    "SequenceEmpty",
    "SequenceErase",
    "SequenceInsert",
    "SequenceLength",
    "SequenceMap",
    "SplitToSequence",
    "ai.onnx.ml.CastMap",
    "ai.onnx.ml.DictVectorizer",
    "ai.onnx.ml.TreeEnsemble",
    "ai.onnx.ml.ZipMap",
    "com.microsoft.GroupQueryAttention",
    "com.microsoft.MatMulFpQ4",
];

fn made(operator: &str, count: usize, seed: u64) -> Vec<Case> {
    let mut options = CasesOptions::default();
    (options.count, options.seed) = (count, seed);
    Cases::new(operator, &options).unwrap().filter_map(Result::ok).collect()
}

/// The bits of tensors, where any NaN is one.
fn bits<'a>(tensors: impl IntoIterator<Item = &'a Tensor>) -> Vec<String> {
    tensors.into_iter().map(|tensor| format!("{tensor:?}")).collect()
}

fn name(row: &Row) -> String {
    if row.domain.is_empty() { row.name.to_owned() } else { format!("{}.{}", row.domain, row.name) }
}

/// Makes cases of each operator of ONNX. What is written is read and run again.
#[test]
fn operators_have_cases_that_run_to_the_same_bits() {
    const COUNT: usize = 2;
    let rows = operators::all().filter(|row| {
        let is_current = row.signatures().last().is_some_and(|it| !it.deprecated);
        row.standard == Standard::Onnx && row.is_evaluated() && row.chance == Chance::No && is_current
    });
    let (mut few, mut all) = (BTreeSet::new(), 0);
    let mut options = RunOptions::default();
    options.sums = Sums::Exact;
    for row in rows.filter(|row| row.domain != "gradus") {
        let cases = made(&name(row), COUNT, 1);
        all += 1;
        if cases.len() < COUNT {
            few.insert(name(row));
        }
        for case in cases {
            let read = Model::from_bytes(&case.model.to_onnx().unwrap()).unwrap();
            let outputs = read.compile(&[], &options).unwrap().run(case.inputs.clone()).unwrap();
            let found = bits(outputs.iter().map(|(_, value)| value.tensor().unwrap()));
            assert_eq!(found, bits(case.outputs.iter().map(|(_, tensor)| tensor)), "{}", case.name);
        }
    }
    println!("{} of {all} operators have too few cases", few.len());
    assert_eq!(few, FEW.iter().map(|&name| name.to_owned()).collect());
}

#[test]
fn a_seed_makes_the_same_cases_for_any_count() {
    for operator in ["Add", "Conv", "TopK", "ai.onnx.ml.Scaler", "com.microsoft.FastGelu"] {
        let text = |case: &Case| {
            let tensors = case.inputs.iter().chain(&case.outputs).map(|(_, tensor)| tensor);
            (case.name.clone(), case.model.to_onnx().unwrap(), bits(tensors))
        };
        let of = |count, seed| made(operator, count, seed).iter().map(text).collect::<Vec<_>>();
        let more = of(12, 3);
        assert_eq!(more[..5], of(5, 3), "{operator}");
        assert_ne!(more, of(12, 4), "{operator}");
        let models: BTreeSet<_> = more.iter().map(|(_, model, bits)| (model, bits)).collect();
        assert_eq!(models.len(), 12, "{operator}");
    }
}

/// Cases have the numbers that break programs, and tensors of few elements.
#[test]
fn cases_are_hard() {
    let cases = made("Add", 400, 1);
    let of = |dtype: DType| {
        let tensors = cases.iter().flat_map(|case| &case.inputs).map(|(_, tensor)| tensor);
        let tensors = tensors.filter(move |tensor| tensor.dtype() == dtype);
        tensors.flat_map(|tensor| tensor.numbers().unwrap()).collect::<Vec<_>>()
    };
    let floats: Vec<_> = of(DType::F32).into_iter().map(nearest_f64).collect();
    let has = |what: fn(f64) -> bool| floats.iter().any(|&x| what(x));
    assert!(has(f64::is_nan) && has(|x| x == f64::INFINITY) && has(|x| x == f64::NEG_INFINITY));
    assert!(has(|x| x.to_bits() == (-0.0f64).to_bits()) && has(|x| x == f64::from(f32::MAX)));
    assert!(has(|x| x != 0.0 && x.abs() < f64::from(f32::MIN_POSITIVE)));
    let ends = of(DType::I64);
    assert!(ends.contains(&Number::Int(i64::MIN.into())) && ends.contains(&Number::Int(i64::MAX.into())));
    let dims = || cases.iter().map(|case| case.outputs[0].1.shape().dims());
    assert!(dims().any(|dims| dims.contains(&0)) && dims().any(<[usize]>::is_empty));
    // Operands of other shapes broadcast.
    let broadcasts = |case: &&Case| case.inputs.iter().any(|(_, it)| it.shape() != case.outputs[0].1.shape());
    assert!(cases.iter().filter(broadcasts).count() > 40);
    assert!(made("Softmax", 100, 1).iter().any(|case| {
        let attributes = &case.model.graph().nodes()[0].attributes;
        format!("{attributes:?}").contains("Int(-")
    }));
}

#[test]
fn operators_without_cases_are_refused() {
    let refused = |operator: &str, opset: Option<i64>| {
        let mut options = CasesOptions::default();
        options.opset = opset;
        Cases::new(operator, &options).map(drop).unwrap_err()
    };
    let random = refused("RandomNormal", None);
    assert!(random.kind() == Kind::Unsupported && random.to_string().contains("more than its inputs"));
    assert_eq!(refused("Sofmax", None).kind(), Kind::Usage);
    assert_eq!(refused("Gelu", Some(19)).kind(), Kind::Usage);
    let mut none = Cases::new("If", &CasesOptions::default()).unwrap();
    let error = none.next().unwrap().unwrap_err();
    assert_eq!(error.to_string(), "cannot make cases of If: number of cases is 0, expected 100");
    assert!(none.next().is_none());
}
