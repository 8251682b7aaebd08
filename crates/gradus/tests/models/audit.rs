//! Audits of runtimes that depend on what they should not, and of Gradus, which does not.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use gradus::audit::{Audit, AuditOptions, AuditStatus, Invariance, InvarianceCheck};
use gradus::check::{GradusRuntime, Runtime, RuntimeSettings};
use gradus::convert::nearest_f32;
use gradus::{Error, Kind, Model, Number, Result, Tensor, Value};

use crate::common::sketch::Sketch;

/// A sequence with a mask: the sum of the elements that are no padding is added to each.
const PADDED: &str = "x: float32[batch, seq]; mask: int64[batch, seq]; m = CastLike(mask, x); p = Mul(x, m); \
     axes = [1]; s = ReduceSum(p, axes); y = Add(p, s); return y: float32[batch, seq]";

/// A sequence with past values.
const CACHED: &str = "x: float32[batch, seq, 4]; past.0: float32[batch, past, 4]; \
     attention_mask: int64[batch, past + seq]; present.0 = Concat(past.0, x, axis=1); y = Relu(x); \
     return y: float32[batch, seq, 4]; return present.0: float32[batch, past + seq, 4]";

/// A fault that was planted into a runtime.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// An effect on the output `y` of the number that this is of: the runtime adds it to each row.
    Of(Invariance),
}

/// Gradus with a fault.
struct Faulty {
    inner: Box<dyn Runtime>,
    fault: Fault,
    settings: RuntimeSettings,
    /// The runs of this session.
    runs: AtomicUsize,
}

impl Faulty {
    fn new(fault: Fault) -> Faulty {
        let inner = Box::new(GradusRuntime::default());
        Faulty { inner, fault, settings: RuntimeSettings::default(), runs: AtomicUsize::new(0) }
    }

    /// The number that the fault adds to a row, of so many.
    fn added(&self, inputs: &[(String, Value)], row: usize, rows: usize, run: usize) -> f64 {
        let Fault::Of(invariance) = self.fault else { return 0.0 };
        let find =
            |name: &str| inputs.iter().find(|(of, _)| of == name).map(|(_, value)| value.tensor().unwrap());
        let x = find("x").unwrap();
        let size =
            |tensor: &Tensor, axis: usize| f64::from(u32::try_from(tensor.shape().dims()[axis]).unwrap());
        let number = |count: usize| f64::from(u32::try_from(count).unwrap());
        match invariance {
            Invariance::Rows => {
                // The first element of the sequence, which chunks leave where it is.
                let all = find("past.0").unwrap_or(x).elements::<f32>().unwrap();
                f64::from(all[(row + 1) % rows * (all.len() / rows)])
            }
            Invariance::Place => number(row),
            Invariance::Batch => number(rows),
            Invariance::Padding => size(x, 1),
            Invariance::Chunks => find("past.0").map_or(0.0, |past| size(past, 1)),
            Invariance::Runs => number(run % 2),
            Invariance::Session => f64::from(u8::from(run == 0)),
            Invariance::Threads => {
                f64::from(u8::from(self.settings.threads.is_some_and(|threads| threads > 2)))
            }
            Invariance::Optimization => f64::from(u8::from(self.settings.plain)),
            Invariance::Processor => f64::from(u8::from(self.settings.processor.as_deref() == Some("b"))),
            other => panic!("no fault is known for {other}"),
        }
    }
}

impl Runtime for Faulty {
    fn run(&self, model: &Path, inputs: &[(String, Value)], values: &[&str]) -> Result<Vec<Option<Value>>> {
        let run = self.runs.fetch_add(1, Ordering::Relaxed);
        let mut found = self.inner.run(model, inputs, values)?;
        for (name, value) in values.iter().zip(&mut found) {
            let Some(Value::Tensor(tensor)) = value else { continue };
            if *name != "y" {
                continue;
            }
            let mut elements = tensor.elements::<f32>()?.to_vec();
            let rows = tensor.shape().dims()[0];
            let each = elements.len() / rows;
            for (at, element) in elements.iter_mut().enumerate() {
                *element += 0.001 * nearest_f32(Number::Float(self.added(inputs, at / each, rows, run)));
            }
            *tensor = Tensor::from_vec(tensor.shape().clone(), elements)?;
        }
        Ok(found)
    }

    fn anew(&self, settings: &RuntimeSettings) -> Result<Box<dyn Runtime>> {
        Ok(Box::new(Faulty { settings: settings.clone(), ..Faulty::new(self.fault) }))
    }

    fn processors(&self) -> Result<Vec<String>> {
        Ok(vec!["a".to_owned(), "b".to_owned()])
    }
}

/// A model in a file of its own.
fn saved(name: &str, text: &str) -> (PathBuf, Model) {
    let folder = std::env::temp_dir().join(format!("gradus-audit-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("model.onnx");
    Sketch::of(text).model().save(&path).unwrap();
    let model = Model::open(&path).unwrap();
    (folder, model)
}

fn check(audit: &Audit, invariance: Invariance) -> &InvarianceCheck {
    audit.checks.iter().find(|check| check.invariance == invariance).unwrap()
}

fn options(seed: u64) -> AuditOptions {
    let mut options = AuditOptions::default();
    (options.seed, options.rows) = (seed, 5);
    options
}

#[test]
fn each_planted_dependence_is_named_and_no_other() {
    for (name, text, lacks) in
        [("padded", PADDED, Invariance::Chunks), ("cached", CACHED, Invariance::Padding)]
    {
        let (folder, model) = saved(name, text);
        for (fault, seed) in Invariance::ALL.into_iter().flat_map(|of| (1..4).map(move |seed| (of, seed))) {
            if fault == lacks {
                continue;
            }
            let audit = model.audit(&Faulty::new(Fault::Of(fault)), &options(seed)).unwrap();
            assert!(!audit.holds() && audit.batch.as_deref() == Some("batch"), "{fault}");
            for check in &audit.checks {
                let wanted = match check.invariance {
                    of if of == fault => AuditStatus::Differs,
                    of if of == lacks => AuditStatus::NotApplicable,
                    // A run that differs from itself says nothing of anything else.
                    Invariance::Rows if fault == Invariance::Runs => AuditStatus::Unsteady,
                    _ if fault == Invariance::Runs && check.status != AuditStatus::Differs => check.status,
                    _ => AuditStatus::Holds,
                };
                assert_eq!(check.status, wanted, "{fault} planted: {check:?}");
                assert_eq!(
                    check.reason.is_some(),
                    !matches!(wanted, AuditStatus::Differs | AuditStatus::Holds)
                );
            }
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}

#[test]
fn a_faultless_runtime_and_gradus_keep_all() {
    for (name, text) in [("padded-well", PADDED), ("cached-well", CACHED)] {
        let (folder, model) = saved(name, text);
        let runtimes: [&dyn Runtime; 2] = [&Faulty::new(Fault::None), &GradusRuntime::default()];
        for runtime in runtimes {
            let audit = model.audit(runtime, &options(1)).unwrap();
            assert!(audit.holds(), "{audit:?}");
            let compared = audit.checks.iter().filter(|check| check.status == AuditStatus::Holds).count();
            assert!(compared >= 8, "{audit:?}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}

#[test]
fn the_pair_is_as_small_as_it_can_be_and_is_saved() {
    let (folder, model) = saved("small", PADDED);
    let audit = model.audit(&Faulty::new(Fault::Of(Invariance::Batch)), &options(1)).unwrap();
    let found = check(&audit, Invariance::Batch);
    let pair = found.pair.as_ref().unwrap();
    assert_eq!((pair.rows, pair.elements.1), ((5, 2), 0), "{pair:?}");
    assert_eq!((&*pair.first, &*pair.second), ("row 0 of 2 equal rows", "row 0 of 1 equal rows"));
    let first = found.first.as_ref().unwrap();
    assert!(first.value == "y" && first.node.contains("Add"), "{first:?}");
    let case = folder.join("case");
    pair.save(&case).unwrap();
    let files =
        ["model.onnx", "first.npz", "first_outputs.npz", "second.npz", "second_outputs.npz", "pair.txt"];
    assert!(files.iter().all(|file| case.join(file).exists()));
    let text = std::fs::read_to_string(case.join("pair.txt")).unwrap();
    assert!(text.starts_with("first: row 0 of 2 equal rows"), "{text}");

    // A neighbour whose element is added: both pairs have two rows, which differ in one element.
    let audit = model.audit(&Faulty::new(Fault::Of(Invariance::Rows)), &options(1)).unwrap();
    let pair = check(&audit, Invariance::Rows).pair.as_ref().unwrap();
    assert!(pair.rows == (5, 2) && pair.elements.1 <= 1, "{pair:?}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_the_model_itself_depends_on_is_no_fault() {
    let text = "x: float32[batch, 3]; axes = [0]; m = ReduceMean(x, axes); y = Sub(x, m); z = Abs(x); \
        return y: float32[batch, 3]; return m: float32[1, 3]; return z: float32[batch, 3]";
    let (folder, model) = saved("inherent", text);
    let audit = model.audit(&GradusRuntime::default(), &options(1)).unwrap();
    assert!(audit.holds());
    let rows = check(&audit, Invariance::Rows);
    assert_eq!(rows.status, AuditStatus::Inherent);
    assert_eq!(rows.uncompared, [("m".to_owned(), "no axis of it is \"batch\"".to_owned())]);
    std::fs::remove_dir_all(folder).unwrap();
}

/// Two outputs differ, of which one does so by the model and one by the runtime; and a model all of
/// whose outputs lack rows shows nothing.
#[test]
fn outputs_are_told_apart() {
    let text = "x: float32[batch, 3]; axes = [0]; m = ReduceMean(x, axes); z = Sub(x, m); y = Abs(x); \
        return y: float32[batch, 3]; return z: float32[batch, 3]";
    let (folder, model) = saved("apart", text);
    let audit = model.audit(&Faulty::new(Fault::Of(Invariance::Rows)), &options(1)).unwrap();
    let rows = check(&audit, Invariance::Rows);
    let names: Vec<_> = rows.outputs.iter().map(|output| &*output.name).collect();
    assert_eq!((rows.status, &names[..]), (AuditStatus::Differs, &["y"][..]));
    assert_eq!(rows.uncompared, [("z".to_owned(), "its exact results differ too".to_owned())]);
    std::fs::remove_dir_all(folder).unwrap();

    let text = "x: float32[batch, 3]; axes = [0, 1]; m = ReduceMean(x, axes); return m: float32[1, 1]";
    let (folder, model) = saved("no-rows", text);
    let mut named = options(1);
    named.batch = Some("batch".to_owned());
    let audit = model.audit(&GradusRuntime::default(), &named).unwrap();
    let rows = check(&audit, Invariance::Rows);
    assert_eq!((rows.status, rows.pairs, rows.uncompared.len()), (AuditStatus::NotApplicable, 0, 1));
    assert!(rows.reason.as_ref().unwrap().contains("the outputs leave nothing to compare"), "{rows:?}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_does_not_apply_has_a_reason() {
    let (folder, model) = saved("fixed", "x: float32[1, 3]; y = Abs(x); return y: float32[1, 3]");
    let audit = model.audit(&GradusRuntime::default(), &options(1)).unwrap();
    let reason = |of| check(&audit, of).reason.clone().unwrap();
    assert!(reason(Invariance::Batch).contains("--dynamic x=batch,3 -o OUT"), "{audit:?}");
    assert!(reason(Invariance::Padding).contains("--mask"));
    assert!(reason(Invariance::Chunks).contains("no input has \"past\""));
    assert!(reason(Invariance::Optimization).contains("Gradus has no optimizations"));
    assert_eq!(check(&audit, Invariance::Threads).status, AuditStatus::Holds);
    let mut named = options(1);
    named.batch = Some("bach".to_owned());
    let error = model.audit(&GradusRuntime::default(), &named).unwrap_err();
    assert_eq!(error.kind(), Kind::Usage);
    std::fs::remove_dir_all(folder).unwrap();
}

/// A program that refuses every model.
struct Refuses;

impl Runtime for Refuses {
    fn run(&self, _: &Path, _: &[(String, Value)], _: &[&str]) -> Result<Vec<Option<Value>>> {
        Err(Error::new(Kind::Unsupported, "no such operator"))
    }
}

#[test]
fn a_runtime_that_refuses_the_model_is_an_error() {
    let (folder, model) = saved("refused", PADDED);
    let error = model.audit(&Refuses, &options(1)).unwrap_err();
    assert_eq!(error.message(), "no such operator");
    std::fs::remove_dir_all(folder).unwrap();
}

/// Functions of elements of a row.
const UNARY: &str = "Abs Acos Asin Atan Ceil Celu Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid HardSwish LeakyRelu Log Mish \
     Neg Reciprocal Relu Round Selu Sigmoid Sign Sin Sinh Softplus Softsign Softmax LogSoftmax Sqrt Tan Tanh \
     ThresholdedRelu LpNormalization";

/// Operators of two rows.
const BINARY: &str = "Add Div Max Mean Min Mul Pow Sub Sum";

/// Reductions of a row.
const REDUCTIONS: &str = "L1 L2 LogSum LogSumExp Max Mean Min Prod Sum SumSquare";

/// Other operators, with the sizes of their input and output besides the rows.
const OTHERS: [(&str, &str, &str); 11] = [
    ("300", "w = Expand(c, ws); y = MatMul(x, w)", "40"),
    ("300", "w = Expand(c, ws); y = Gemm(x, w)", "40"),
    ("30, 10", "y = Transpose(x, perm=[0, 2, 1])", "10, 30"),
    ("5, 9, 9", "k = Expand(c, ks); y = Conv(x, k)", "7, 7, 7"),
    ("7, 9, 9", "k = Expand(c, ks); y = ConvTranspose(x, k)", "5, 11, 11"),
    ("5, 9, 9", "y = MaxPool(x, kernel_shape=[2, 2])", "5, 8, 8"),
    ("5, 9, 9", "y = AveragePool(x, kernel_shape=[2, 2])", "5, 8, 8"),
    ("5, 9, 9", "y = GlobalAveragePool(x)", "5, 1, 1"),
    ("5, 9, 9", "y = MeanVarianceNormalization(x, axes=[1, 2, 3])", "5, 9, 9"),
    ("60", "one = 1; y = CumSum(x, one)", "60"),
    ("60", "s = Expand(c, line); y = LayerNormalization(x, s)", "60"),
];

#[test]
fn gradus_keeps_all_in_models_of_one_operator() {
    let constants = "c = 0.3; ws = [300, 40]; ks = [7, 5, 3, 3]; line = [60]; axes = [1]";
    let model = |input: &str, node: &str, output: &str| {
        format!("x: float32[batch, {input}]; {constants}; {node}; return y: float32[batch, {output}]")
    };
    let unary = UNARY.split_whitespace().map(|of| model("60", &format!("y = {of}(x)"), "60"));
    let binary = BINARY.split_whitespace().map(|of| {
        let two = format!("z: float32[batch, 60]; y = {of}(x, z)");
        model("60", &two, "60")
    });
    let reductions =
        REDUCTIONS.split_whitespace().map(|of| model("300", &format!("y = Reduce{of}(x, axes)"), "1"));
    let others = OTHERS.iter().map(|(input, node, output)| model(input, node, output));
    for (index, text) in unary.chain(binary).chain(reductions).chain(others).enumerate() {
        let (folder, model) = saved(&format!("one-{index}"), &text);
        let mut options = AuditOptions::default();
        options.runs = 1;
        let audit =
            model.audit(&GradusRuntime::default(), &options).map_err(|error| format!("{text}: {error}"));
        let audit = audit.unwrap();
        let kept = |check: &InvarianceCheck| {
            [AuditStatus::Holds, AuditStatus::NotApplicable].contains(&check.status)
        };
        assert!(audit.checks.iter().all(kept), "{text}: {audit:?}");
        let compared = audit.checks.iter().filter(|check| check.pairs > 0).count();
        assert_eq!((audit.batch.as_deref(), compared), (Some("batch"), 7), "{text}");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
