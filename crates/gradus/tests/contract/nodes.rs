//! Contracts of random nodes whose sizes are open, against runs at random sizes.

use std::collections::{BTreeMap, HashMap};

use gradus::cases::RandomNode;
use gradus::contract::{Contract, OutputSize};
use gradus::convert::Rules;
use gradus::dim::Condition;
use gradus::graph::Standard;
use gradus::infer::InferOptions;
use gradus::operators::{self, Row};
use gradus::schema::Signature;
use gradus::{DType, Limits, Model, Number, Outputs, Program, RunOptions, Shape, Tensor, Value};

use crate::common::nodes;

type Tensors = HashMap<String, Tensor>;

const SHAPES: [&[usize]; 8] = [&[0], &[], &[1], &[2], &[2, 3], &[1, 3], &[2, 1, 4], &[1, 2, 5, 4]];

/// Small numbers, none of which is zero.
fn filled(dtype: DType, sizes: &[usize]) -> Tensor {
    let shape = Shape::new(sizes).unwrap();
    let number = |i: usize| match dtype {
        DType::Bool => Number::Int(i128::from(i.is_multiple_of(2))),
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
    let RandomNode { model, values } = nodes::node_of(random, row, signature, |random, dtype| {
        let tensor = nodes::tensor(random, dtype, &SHAPES);
        let constant = dtype.is_integer();
        let keep = dtype == DType::I64;
        (if keep { tensor } else { filled(dtype, tensor.shape().dims()) }, constant)
    });
    let values = values.into_iter().map(|(name, value)| (name, value.tensor().unwrap().clone()));
    (model, values.collect())
}

/// Tensors some of whose sizes are others: small ones, or one of those numbers or next to it.
fn resized(random: [&mut fastrand::Rng; 2], values: &Tensors, numbers: &[usize]) -> Tensors {
    let [random, edges] = random;
    // In the order of names, so that a seed makes the same.
    let sorted: BTreeMap<_, _> = values.iter().collect();
    let of = |(name, tensor): (&String, &Tensor)| {
        let mut sizes = nodes::resized(random, tensor).dims().to_vec();
        for size in &mut sizes {
            if let Some(&number) = edges.choice(numbers)
                && edges.usize(..3) == 0
            {
                *size = (number + edges.usize(..3)).saturating_sub(1);
            }
        }
        (name.clone(), filled(tensor.dtype(), &sizes))
    };
    sorted.into_iter().map(of).collect()
}

/// The numbers up to 40 in the conditions of a contract.
fn numbers(contract: &Contract) -> Vec<usize> {
    let texts = contract.conditions().iter();
    let words = texts.flat_map(|condition| condition.text.split(|byte: char| !byte.is_ascii_digit()));
    words.filter_map(|word| word.parse().ok()).filter(|&number| number <= 40).collect()
}

/// Symbols and the numbers that they stand for.
type Numbers<'a> = HashMap<&'a str, i64>;

/// The sizes that symbols stand for, or the condition that sizes do not meet.
fn accepted<'a>(contract: &'a Contract, values: &Tensors) -> Result<Numbers<'a>, String> {
    let symbols = contract.symbols();
    let mut of = Numbers::new();
    for input in contract.inputs() {
        for (&dim, &size) in input.shape.iter().zip(values[&input.name].shape().dims()) {
            let size = i64::try_from(size).unwrap();
            match symbols.as_symbol(dim) {
                Some(symbol) => _ = of.insert(&symbol.name, size),
                None if symbols.evaluate(dim, &|name| of.get(name).copied()) == Some(size) => {}
                None => return Err(format!("size of {} is {}", input.name, symbols.print(dim))),
            }
        }
    }
    let refused = contract.conditions().iter().find(|condition| {
        let value = |dim| symbols.evaluate(dim, &|name| of.get(name).copied());
        let sides = value(condition.condition.left).zip(value(condition.condition.right));
        !sides.is_some_and(|(left, right)| condition.condition.relation.holds(left, right))
    });
    refused.map_or(Ok(of), |condition| Err(condition.text.clone()))
}

/// The first output whose size is another than the contract says.
fn differs(contract: &Contract, of: &Numbers<'_>, outputs: &Outputs) -> Option<String> {
    let value = |dim| contract.symbols().evaluate(dim, &|name| of.get(name).copied());
    contract.outputs().iter().find_map(|output| {
        let (_, got) = outputs.iter().find(|(name, _)| **name == *output.name)?;
        let holds = |of: &Condition| {
            value(of.left).zip(value(of.right)).is_some_and(|(left, right)| of.relation.holds(left, right))
        };
        let case = output.cases.iter().find(|case| case.when.iter().all(holds));
        let of_case = case.map(|case| case.shape.iter().copied().map(OutputSize::Exact).collect::<Vec<_>>());
        let shape = of_case.as_ref().or(output.shape.as_ref())?;
        let got = got.tensor().ok()?.shape();
        let fits = |(size, got): (&OutputSize, &usize)| {
            let got = i64::try_from(*got).unwrap();
            match *size {
                OutputSize::Exact(dim) => value(dim) == Some(got),
                OutputSize::Between(least, most) => {
                    least <= got && most.is_none_or(|most| value(most).is_none_or(|most| got <= most))
                }
            }
        };
        let all = shape.len() == got.rank() && shape.iter().zip(got.dims()).all(fits);
        let shape = || {
            shape.iter().map(|size| match *size {
                OutputSize::Exact(dim) => contract.symbols().print(dim).to_string(),
                OutputSize::Between(least, _) => format!("at least {least}"),
            })
        };
        (!all).then(|| format!("{} is {got}, expected {:?}", output.name, shape().collect::<Vec<_>>()))
    })
}

fn run(program: &Program, values: &Tensors) -> Result<Outputs, String> {
    let inputs = values.iter().map(|(name, tensor)| (name.clone(), Value::from(tensor.clone())));
    program.run(inputs).map_err(|error| error.to_string())
}

/// Returns true if a tensor that is read, or all that are made, have no elements.
fn is_empty(values: &Tensors, outputs: &Outputs) -> bool {
    values.values().any(Tensor::is_empty)
        || outputs.iter().all(|(_, value)| value.tensor().is_ok_and(Tensor::is_empty))
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
        "none of the categories",
        "attribute \"",
        "coefficients",
    ]
    .iter()
    .any(|text| error.contains(text))
}

/// Checks `each` random nodes of each version of each operator of ONNX and OpenVINO.
fn check(seed: u64, each: usize) {
    let [mut random, mut edges] = [seed, seed].map(fastrand::Rng::with_seed);
    let (mut ran, mut refused, mut contracts, mut open_contracts) = (0, 0, 0, 0);
    let mut wrong: BTreeMap<String, String> = BTreeMap::new();
    // Verdicts that are no mistakes, by the reason, and then by the operator.
    let mut excused: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    let mut excuse = |why, row: &Row| *excused.entry(why).or_default().entry(row.name).or_default() += 1;
    let mut options = RunOptions::default();
    let mut limits = Limits::DEFAULT;
    (limits.max_bytes, limits.max_steps) = (1 << 24, 10_000);
    options.limits = Some(limits);
    // Operators of Paddle are made of those of ONNX, and take sizes from the elements of any input.
    // OpenVINO's Squeeze leaves other axes than those of size 1; a contract takes them for such.
    // Its VariadicSplit has an output for each size, which these nodes have not.
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
                let open = nodes::opened(&model, true);
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
                contracts += 1;
                open_contracts += usize::from(!contract.unchecked().is_empty());
                let numbers = numbers(&contract);
                for _ in 0..8 {
                    let values = resized([&mut random, &mut edges], &values, &numbers);
                    let shapes = || {
                        let mut shapes: Vec<_> =
                            values.iter().map(|(name, it)| (name.clone(), it.shape().to_string())).collect();
                        shapes.sort();
                        format!("{shapes:?} {}", shown())
                    };
                    match (accepted(&contract, &values), run(&program, &values)) {
                        (Ok(of), Ok(outputs)) => {
                            ran += 1;
                            if let Some(difference) = differs(&contract, &of, &outputs) {
                                let key = format!("{place} gives");
                                wrong.entry(key).or_insert_with(|| format!("{difference}: {}", shapes()));
                            }
                        }
                        (Err(_), Err(_)) => refused += 1,
                        // Pools of no elements or without a window are refused, and what exceeds 64
                        // bits.
                        (Err(condition), Ok(outputs))
                            if is_empty(&values, &outputs) || condition.contains(&i64::MAX.to_string()) =>
                        {
                            excuse("refused without elements", row);
                        }
                        (Err(condition), Ok(_)) => {
                            let key = format!("{place} refuses");
                            wrong.entry(key).or_insert_with(|| format!("{condition}: {}", shapes()));
                        }
                        (Ok(_), Err(error)) if follows(&contract) && !is_of_values(&error) => {
                            let key = format!("{place} accepts");
                            wrong.entry(key).or_insert_with(|| format!("{error}: {}", shapes()));
                        }
                        (Ok(_), Err(_)) if follows(&contract) => excuse("accepted, but for values", row),
                        (Ok(_), Err(_)) => excuse("accepted, and not followed", row),
                    }
                }
            }
        }
    }
    println!("seed {seed}: {ran} sizes ran and {refused} were refused");
    println!("{open_contracts} of {contracts} contracts list what is not followed");
    let mut all = ran + refused;
    for (why, operators) in &excused {
        let count: usize = operators.values().sum();
        all += count;
        let mut most: Vec<_> = operators.iter().collect();
        most.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        most.truncate(12);
        println!("{count} are {why}: {most:?}");
    }
    let excused = excused.values().flat_map(BTreeMap::values).sum::<usize>();
    println!("{excused} of {all} sizes are excused");
    assert!(excused * 500 < all, "{excused} of {all} sizes are excused");
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
