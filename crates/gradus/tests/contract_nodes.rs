//! Contracts of random nodes whose sizes are open, against runs at random sizes.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

#[path = "common/nodes.rs"]
mod nodes;

use std::collections::{BTreeMap, HashMap};

use gradus::contract::Contract;
use gradus::convert::Rules;
use gradus::graph::{DeclaredDim, Standard, Type};
use gradus::infer::InferOptions;
use gradus::operators::{self, Row};
use gradus::schema::Signature;
use gradus::{DType, Limits, Model, Number, Program, RunOptions, Shape, Tensor, Value};
use nodes::RandomNode;

type Tensors = HashMap<String, Tensor>;

const SHAPES: [&[usize]; 8] = [&[0], &[], &[1], &[2], &[2, 3], &[1, 3], &[2, 1, 4], &[1, 2, 5, 4]];

/// Small numbers, none of which is zero.
fn filled(dtype: DType, sizes: &[usize]) -> Tensor {
    let shape = Shape::new(sizes).unwrap();
    let number = |i: usize| match dtype {
        DType::Bool => Number::Int(i128::from(i % 2 == 0)),
        _ if dtype.is_integer() => Number::Int(1),
        _ => Number::Float(f64::from(u8::try_from(i % 7).unwrap()) / 4.0 + 0.25),
    };
    let numbers: Vec<_> = (0..shape.len()).map(number).collect();
    let zeros = || Tensor::zeros(dtype, Shape::new(sizes).unwrap()).unwrap();
    Tensor::from_numbers(dtype, shape, numbers, Rules::IEEE).unwrap_or_else(|_| zeros())
}

/// A node of data of open sizes, where numbers that may be indices or sizes are constants, and the
/// sizes with which it was made.
fn node(random: &mut fastrand::Rng, row: &Row, signature: &Signature) -> (Model, Tensors) {
    let RandomNode { model, values } = RandomNode::with(random, row, signature, |random, dtype| {
        let tensor = nodes::tensor(random, dtype, &SHAPES);
        let constant = dtype.is_integer();
        let keep = dtype == DType::I64;
        (if keep { tensor } else { filled(dtype, tensor.shape().dims()) }, constant)
    });
    let values = values.into_iter().map(|(name, value)| (name, value.tensor().unwrap().clone()));
    (model, values.collect())
}

/// The model with a symbol for each axis of its inputs.
fn opened(model: &Model) -> Model {
    let mut source = model.source().clone();
    source.graph.declare(&mut |_, id| {
        let info = model.graph().value(id);
        let Some(Type::Tensor(dtype, Some(sizes))) = &info.declared else { return None };
        let symbol = |axis| DeclaredDim::Symbol(format!("{}_{axis}", info.name).into());
        Some(Type::Tensor(*dtype, Some((0..sizes.len()).map(symbol).collect())))
    });
    Model::from_source(source)
}

/// Tensors some of whose sizes are others.
fn resized(random: &mut fastrand::Rng, values: &Tensors) -> Tensors {
    let mut of = |tensor: &Tensor| {
        let size = |&size: &usize| if random.usize(..3) == 0 { random.usize(..5) } else { size };
        let sizes: Vec<_> = tensor.shape().dims().iter().map(size).collect();
        filled(tensor.dtype(), &sizes)
    };
    values.iter().map(|(name, tensor)| (name.clone(), of(tensor))).collect()
}

/// The condition that sizes do not meet.
fn refusal(contract: &Contract, values: &Tensors) -> Option<String> {
    let symbols = contract.symbols();
    let mut of: HashMap<&str, i64> = HashMap::new();
    for input in contract.inputs() {
        for (&dim, &size) in input.shape.iter().zip(values[&input.name].shape().dims()) {
            let size = i64::try_from(size).unwrap();
            match symbols.as_symbol(dim) {
                Some(symbol) => _ = of.insert(&symbol.name, size),
                None if symbols.evaluate(dim, &|name| of.get(name).copied()) == Some(size) => {}
                None => return Some(format!("size of {} is {}", input.name, symbols.print(dim))),
            }
        }
    }
    contract.conditions().iter().find_map(|condition| {
        let value = |dim| symbols.evaluate(dim, &|name| of.get(name).copied());
        let sides = value(condition.condition.left).zip(value(condition.condition.right));
        let holds = sides.is_some_and(|(left, right)| condition.condition.relation.holds(left, right));
        (!holds).then(|| condition.text.clone())
    })
}

/// Runs a model; returns true if there is a result with elements.
fn run(program: &Program, values: &Tensors) -> Result<bool, String> {
    let inputs = values.iter().map(|(name, tensor)| (name.clone(), Value::from(tensor.clone())));
    let outputs = program.run(inputs).map_err(|error| error.to_string())?;
    Ok(outputs.iter().any(|(_, value)| value.tensor().is_ok_and(|tensor| !tensor.is_empty())))
}

/// Returns true if all that a node needs of sizes is derived.
fn follows(contract: &Contract) -> bool {
    contract.unchecked().is_empty() && contract.outputs().iter().all(|output| output.shape.is_some())
}

/// Returns true for what nodes of random constants say of numbers, which sizes do not decide; and
/// for what is only looked at where there are elements.
fn is_of_values(error: &str) -> bool {
    [
        "out of range for size",
        "divisor is 0",
        "is not a number",
        "element type is",
        "attribute \"",
        "coefficients",
    ]
    .iter()
    .any(|text| error.contains(text))
}

/// Checks so many random nodes of each version of each operator of ONNX and OpenVINO.
fn check(seed: u64, each: usize) {
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut ran, mut refused) = (0, 0);
    let mut wrong: BTreeMap<String, String> = BTreeMap::new();
    let mut options = RunOptions::default();
    let mut limits = Limits::DEFAULT;
    (limits.max_bytes, limits.max_steps) = (1 << 24, 10_000);
    options.limits = Some(limits);
    // Operators of Paddle are made of those of ONNX, and take sizes from the elements of any input.
    // OpenVINO's Squeeze leaves other axes than those of size 1; a contract takes them for such. Its
    // VariadicSplit has an output for each size, which these nodes have not.
    let left_out = |row: &Row| match row.standard {
        Standard::Paddle => true,
        Standard::OpenVino => matches!(row.name, "Squeeze" | "VariadicSplit"),
        Standard::Onnx => false,
    };
    for row in operators::all().filter(|row| row.is_evaluated() && !left_out(row)) {
        for signature in row.signatures() {
            for _ in 0..each {
                let (model, values) = node(&mut random, row, signature);
                let Ok(program) = model.compile(&[], &options) else { continue };
                if run(&program, &values).is_err() {
                    continue;
                }
                let place = format!("{} {}-{}", row.standard, row.name, signature.since);
                let open = opened(&model);
                let shown = || {
                    let node = &model.graph().nodes()[0];
                    let constants: Vec<_> =
                        model.graph().constants().iter().map(|(_, it)| it.tensor()).collect();
                    format!("{:?}, constants {constants:?}", node.attributes)
                };
                let contract = match open.contract(&InferOptions::default()) {
                    Ok(contract) => contract,
                    Err(error) => {
                        wrong.entry(format!("{place} contract")).or_insert(format!("{error}: {}", shown()));
                        continue;
                    }
                };
                let program = open.compile(&[], &options).unwrap();
                for _ in 0..8 {
                    let values = resized(&mut random, &values);
                    let shapes = || {
                        let mut shapes: Vec<_> =
                            values.iter().map(|(name, it)| (name.clone(), it.shape().to_string())).collect();
                        shapes.sort();
                        format!("{shapes:?} {}", shown())
                    };
                    match (refusal(&contract, &values), run(&program, &values)) {
                        (None, Ok(_)) => ran += 1,
                        (Some(_), Err(_)) => refused += 1,
                        // Pools of no elements or without a window are refused, and what exceeds 64 bits.
                        (Some(condition), Ok(filled))
                            if !filled
                                || values.values().any(|it| it.is_empty())
                                || condition.contains(&i64::MAX.to_string()) => {}
                        (Some(condition), Ok(_)) => {
                            let key = format!("{place} refuses");
                            wrong.entry(key).or_insert_with(|| format!("{condition}: {}", shapes()));
                        }
                        (None, Err(error)) if follows(&contract) && !is_of_values(&error) => {
                            let key = format!("{place} accepts");
                            wrong.entry(key).or_insert_with(|| format!("{error}: {}", shapes()));
                        }
                        (None, Err(_)) => {}
                    }
                }
            }
        }
    }
    println!("seed {seed}: {ran} sizes ran and {refused} were refused");
    assert!(wrong.is_empty(), "{} {wrong:#?}", wrong.len());
    assert!(refused > 500 && ran > refused, "{ran} sizes ran and {refused} were refused");
}

#[test]
fn sizes_are_accepted_that_nodes_run_with() {
    check(1, 20);
}

#[test]
#[ignore = "long: `cargo xtask test long` runs it"]
fn long_sizes_are_accepted_that_nodes_run_with() {
    (2..6).for_each(|seed| check(seed, 60));
}
