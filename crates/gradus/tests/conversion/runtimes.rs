//! Models that are converted for a program that runs them: operator sets and types that it has.
//! `conformance/runtimes.py` holds the same against the program itself.

use gradus::conversion::{ConvertOptions, Converted, Obstacles, Runtime};
use gradus::graph::{self, Builder, Content, DeclaredDim, Node, OperatorId, Origin, Standard, Type};
use gradus::{DType, Kind, Model, Result, Tensor, Value};

/// A node of ONNX or, as `com.microsoft.Gelu`, of ONNX Runtime; its inputs, output and attributes.
type Step<'a> = (&'a str, &'a [&'a str], &'a str, Vec<(&'a str, Content)>);

/// A model in operator set 21, of inputs of these types and sizes.
fn model(inputs: &[(&str, DType, &[usize])], steps: Vec<Step<'_>>) -> Model {
    let mut builder = Builder::new("main");
    for &(name, dtype, sizes) in inputs {
        let id = builder.define(name, Origin::Input).unwrap();
        let sizes = sizes.iter().map(|&size| DeclaredDim::Known(size)).collect();
        builder.info(id).declared = Some(Type::Tensor(Some(dtype), Some(sizes)));
    }
    let last = steps.last().unwrap().2.to_owned();
    for (operator, inputs, output, attributes) in steps {
        let (domain, name) = operator.rsplit_once('.').unwrap_or(("", operator));
        let node = Node {
            name: output.into(),
            operator: OperatorId { domain: domain.into(), name: name.into(), overload: "".into() },
            version: Some(match domain {
                "" => 21,
                "my.own" => 99,
                _ => 1,
            }),
            inputs: inputs.iter().map(|key| Some(builder.reference(key))).collect(),
            outputs: <_>::default(),
            attributes: attributes
                .into_iter()
                .map(|(name, content)| graph::Attribute { name: name.into(), content })
                .collect(),
            position: None,
        };
        builder.push(node, &[output]).unwrap();
    }
    builder.output(&last);
    let mut source = graph::Model::new(Standard::Onnx);
    (source.opsets, source.graph) = (vec![("".into(), 21)], builder.finish().unwrap());
    Model::from_source(source)
}

fn convert(model: &Model, opset: Option<i64>) -> Result<Converted> {
    let mut options = ConvertOptions::default();
    (options.opset, options.runtime) = (opset, Some(Runtime::OnnxRuntime));
    model.convert(Standard::Onnx, &options)
}

fn operators(model: &Model) -> Vec<String> {
    model.graph().nodes().iter().map(|node| node.operator.to_string()).collect()
}

/// Numbers as a vector of a type.
fn numbers(dtype: DType, values: &[f64]) -> Value {
    let tensor = Tensor::vector(values);
    gradus::convert::cast(&tensor, dtype, gradus::convert::Rules::IEEE).unwrap().into()
}

#[test]
fn types_without_a_kernel_are_computed_in_wider_ones() {
    use DType::{BF16, Bool, I8, I16, U64};
    let cases: &[(&str, &[DType], &[&str])] = &[
        ("Where", &[Bool, Bool, Bool], &["Cast", "Cast", "Where", "Cast"]),
        ("Where", &[Bool, I16, I16], &["Cast", "Cast", "Where", "Cast"]),
        ("Where", &[Bool, BF16, BF16], &["Cast", "Cast", "Where", "Cast"]),
        ("Mul", &[BF16, BF16], &["Cast", "Cast", "Mul", "Cast"]),
        ("Sub", &[BF16, BF16], &["Cast", "Cast", "Sub", "Cast"]),
        ("Neg", &[I16], &["Neg"]),
        ("Less", &[BF16, BF16], &["Cast", "Cast", "Less"]),
        ("Sub", &[I8, I8], &["Sub"]),
        ("Add", &[U64, U64], &["Add"]),
    ];
    for (operator, types, wanted) in cases {
        let names = ["a", "b", "c"];
        let inputs: Vec<_> =
            names.iter().zip(*types).map(|(name, dtype)| (*name, *dtype, &[4][..])).collect();
        let model = model(&inputs, vec![(operator, &names[..types.len()], "y", vec![])]);
        let converted = convert(&model, None).unwrap();
        assert_eq!(operators(&converted.model), *wanted, "{operator} of {types:?}");
        assert!(converted.report.is_exact(), "{operator} of {types:?}");
        let values = [[0.0, 1.0, 3.0, 0.0], [1.0, 0.0, 1.0, 9.0], [0.0, 0.0, 5.0, 12.0]];
        let numbers =
            |((name, dtype, _), values): (&(_, DType, _), [f64; 4])| (*name, numbers(*dtype, &values));
        let given: Vec<_> = inputs.iter().zip(values).map(numbers).collect();
        let got = converted.model.run(given.clone()).unwrap();
        assert_eq!(model.run(given).unwrap()[0], got[0], "{operator} of {types:?}");
    }
}

#[test]
fn diagonals_are_cast_from_a_type_that_has_a_kernel() {
    use DType::{BF16, Bool, F16, F32, I8, I64};
    for (from, to, casts) in [
        (F32, Some(F16), true),
        (I8, None, true),
        (Bool, Some(Bool), true),
        (I64, Some(BF16), true),
        (I64, Some(F32), false),
        (F32, None, false),
    ] {
        let number = |dtype| match dtype {
            F16 => 10,
            F32 => 1,
            I8 => 3,
            I64 => 7,
            Bool => 9,
            _ => 16,
        };
        let mut attributes = vec![("k", Content::Int(1))];
        attributes.extend(to.map(|to| ("dtype", Content::Int(number(to)))));
        let model = model(&[("x", from, &[2, 3])], vec![("EyeLike", &["x"], "y", attributes)]);
        let converted = convert(&model, None).unwrap();
        let what = format!("{from} {to:?}");
        assert_eq!(operators(&converted.model).contains(&"Cast".to_owned()), casts, "{what}");
        assert!(converted.report.is_exact(), "{what}");
        let zeros = Tensor::zeros(from, gradus::Shape::new([2, 3]).unwrap()).unwrap();
        let run = |model: &Model| model.run([("x", zeros.clone())]).unwrap()[0].clone();
        assert_eq!(run(&model), run(&converted.model), "{what}");
    }
}

#[test]
fn the_newest_set_in_which_every_node_is_run_is_chosen() {
    let opset = |model: &Model| convert(model, None).unwrap().model.source().opsets[0].1;
    let plain = model(&[("x", DType::F32, &[4])], vec![("Relu", &["x"], "y", vec![])]);
    let newest = opset(&plain);
    // ONNX Runtime has RoiAlign of sets before 22.
    let inputs: &[(&str, DType, &[usize])] =
        &[("x", DType::F32, &[1, 1, 8, 8]), ("rois", DType::F32, &[2, 4]), ("batch", DType::I64, &[2])];
    let rois = model(inputs, vec![("RoiAlign", &["x", "rois", "batch"], "y", vec![])]);
    assert!(newest > 21);
    assert_eq!(opset(&rois), 21);
    let error = convert(&rois, Some(22)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "node \"y\" (onnx RoiAlign-22): cannot convert for onnxruntime: it does not run RoiAlign-22"
    );
    let error = convert(&plain, Some(newest + 1)).unwrap_err();
    assert_eq!(error.message(), "operator set is 29, expected 7 to 28");
}

#[test]
fn all_nodes_that_are_not_run_are_listed() {
    let inputs: &[(&str, DType, &[usize])] =
        &[("x", DType::F64, &[1, 1, 8, 8]), ("w", DType::F64, &[1, 1, 3, 3])];
    let steps = vec![
        ("Conv", &["x", "w"][..], "a", vec![]),
        ("Conv", &["a", "w"], "b", vec![]),
        ("Abs", &["b"], "y", vec![]),
    ];
    let error = convert(&model(inputs, steps), None).unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (Kind::Unsupported, "cannot convert 2 of 3 nodes for onnxruntime: 2 onnx Conv-22")
    );
    assert_eq!(
        Obstacles::of(&error).unwrap().to_string(),
        "2 onnx Conv-22, the first: node \"a\" (onnx Conv-22): \
         cannot convert for onnxruntime: type of Conv-22 is T of float64, expected T of float16, float32"
    );
}

#[test]
fn operators_that_nobody_knows_are_refused_in_every_set() {
    let mut source =
        model(&[("x", DType::F32, &[4])], vec![("my.own.Wave", &["x"], "y", vec![])]).source().clone();
    let y = source.graph.find("y").unwrap();
    source.graph.declare(&mut |_, id| {
        (id == y).then(|| Type::Tensor(Some(DType::F32), Some(vec![DeclaredDim::Known(4)])))
    });
    let error = convert(&Model::from_source(source), None).unwrap_err();
    assert_eq!(error.message(), "cannot convert for onnxruntime: it does not run my.own.Wave-99");
}

#[test]
fn operators_of_the_runtime_stay() {
    let model = model(&[("x", DType::F32, &[4])], vec![("com.microsoft.QuickGelu", &["x"], "y", vec![])]);
    assert_eq!(operators(&convert(&model, None).unwrap().model), ["com.microsoft.QuickGelu"]);
    let mut options = ConvertOptions::default();
    options.runtime = Some(Runtime::OpenVino);
    let for_other = model.convert(Standard::Onnx, &options).unwrap().model;
    assert!(operators(&for_other).iter().all(|operator| !operator.starts_with("com.")));
}

#[test]
fn runtimes_that_do_not_read_the_format_are_refused() {
    let model = model(&[("x", DType::F32, &[4])], vec![("Relu", &["x"], "y", vec![])]);
    let mut options = ConvertOptions::default();
    options.runtime = Some(Runtime::OnnxRuntime);
    let error = model.convert(Standard::OpenVino, &options).unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (Kind::Usage, "cannot convert for onnxruntime: target is openvino, expected onnx")
    );
    options.runtime = Some(Runtime::OpenVino);
    assert!(model.convert(Standard::OpenVino, &options).is_ok());
}
