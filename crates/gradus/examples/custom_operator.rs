//! Registers an operator of the domain `com.example`, then infers, runs and folds a model with it.

use gradus::dim::Symbols;
use gradus::fold::FoldOptions;
use gradus::graph::{
    self, Attribute, Builder, Content, DeclaredDim, Node, OperatorId, Origin, Standard, Type,
};
use gradus::infer::InferOptions;
use gradus::{Call, DType, Error, Fact, Kind, Model, OpenOptions, Operator, Result, Tensor, Value};

/// `Repeat(x, times=n)` returns the elements of the vector `x` n times.
#[derive(Debug)]
struct Repeat;

impl Operator for Repeat {
    fn domain(&self) -> &'static str {
        "com.example"
    }

    fn name(&self) -> &'static str {
        "Repeat"
    }

    fn infer(&self, call: &Call<'_>, inputs: &[Option<&Fact>], symbols: &mut Symbols) -> Result<Vec<Fact>> {
        let times = times(call)?;
        let Some(x) = inputs.first().copied().flatten().and_then(Fact::as_tensor) else {
            return Ok(vec![Fact::Unknown]);
        };
        let dims = match x.dims.as_deref() {
            Some([dim]) => symbols.multiply(*dim, times.into()).map(|dim| vec![dim]),
            Some(_) => return Err(Error::new(Kind::Shape, "input 0 must be a vector")),
            None => None,
        };
        Ok(vec![match (x.dtype, dims) {
            (Some(dtype), Some(dims)) => Fact::typed(dtype, dims),
            (dtype, _) => Fact::tensor_type(dtype),
        }])
    }

    fn eval(&self, call: &Call<'_>, inputs: &[Option<&Value>]) -> Result<Vec<Value>> {
        let missing = || Error::new(Kind::Graph, "input 0 is missing");
        let x = inputs.first().copied().flatten().ok_or_else(missing)?.tensor()?;
        Ok(vec![Tensor::vector(&x.elements::<i64>()?.repeat(times(call)?)).into()])
    }
}

fn times(call: &Call<'_>) -> Result<usize> {
    match call.attribute("times") {
        Some(Content::Int(times)) => usize::try_from(*times).ok(),
        _ => None,
    }
    .ok_or_else(|| Error::new(Kind::Value, "attribute \"times\" must be an integer, 0 or more"))
}

fn repeat(builder: &mut Builder, input: &str, output: &str) -> Result<()> {
    let operator = OperatorId { domain: "com.example".into(), name: "Repeat".into(), overload: "".into() };
    let node = Node {
        name: output.into(),
        operator,
        version: Some(1),
        inputs: [Some(builder.reference(input))].into_iter().collect(),
        outputs: <_>::default(),
        attributes: vec![Attribute { name: "times".into(), content: Content::Int(3) }],
        position: None,
    };
    builder.push(node, &[output])
}

/// Returns an ONNX file with two such nodes: one repeats an input, the other a constant.
fn file() -> Result<bytes::Bytes> {
    let mut builder = Builder::new("custom");
    let x = builder.define("x", Origin::Input)?;
    builder.info(x).declared =
        Some(Type::Tensor(Some(DType::I64), Some(vec![DeclaredDim::Symbol("n".into())])));
    builder.constant("one_two", Tensor::vector(&[1i64, 2]).into())?;
    repeat(&mut builder, "x", "y")?;
    repeat(&mut builder, "one_two", "z")?;
    for output in ["y", "z"] {
        let id = builder.output(output);
        builder.info(id).declared = Some(Type::Tensor(Some(DType::I64), Some(vec![DeclaredDim::Unknown])));
    }
    let mut model = graph::Model::new(Standard::Onnx);
    model.opsets = vec![("".into(), 21), ("com.example".into(), 1)];
    model.graph = builder.finish()?;
    Model::from_source(model).to_onnx()
}

/// Runs the example; the tests do, too.
pub fn main() -> Result<()> {
    let model = OpenOptions::new().operator(Repeat).from_bytes(&file()?)?;

    let inference = model.infer(&InferOptions::default())?;
    let y = inference.fact(model.value("y")?);
    assert_eq!(inference.describe(y), "int64[3*n]");

    let outputs = model.run([("x", Tensor::vector(&[7i64, 8]))])?;
    assert_eq!(outputs["y"].tensor()?.to_i64()?, [7, 8, 7, 8, 7, 8]);

    // Folding computes the node whose input is a constant. The folded model keeps the operator.
    let folded = model.edited(&model.fold(&FoldOptions::default())?.model)?;
    let operators: Vec<_> = folded.graph().nodes().iter().map(|node| &*node.operator.name).collect();
    assert_eq!(operators, ["Repeat", "Constant"]);
    let outputs = folded.run([("x", Tensor::vector(&[7i64]))])?;
    assert_eq!(outputs["y"].tensor()?.to_i64()?, [7, 7, 7]);
    assert_eq!(outputs["z"].tensor()?.to_i64()?, [1, 2, 1, 2, 1, 2]);
    println!("{outputs:?}");
    Ok(())
}
