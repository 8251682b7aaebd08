//! Random graphs: inferred sizes and integers against those of a run.
//!
//! `GRADUS_SEEDS=200000 cargo test --release -p gradus --test inference soundness` is the long run.

use std::collections::{BTreeMap, HashMap};

use gradus::fact::{Elements, Fact};
use gradus::graph::{DeclaredDim, Type};
use gradus::infer::InferOptions;
use gradus::{Dim, Model, Number, RunOptions, Value};

use crate::common::random;

/// The sizes that inputs give to the names of their dimensions.
fn sizes(model: &Model, inputs: &HashMap<String, Value>) -> BTreeMap<String, i64> {
    let mut sizes = BTreeMap::new();
    for info in model.graph().inputs().iter().map(|&id| model.graph().value(id)) {
        let (Some(Type::Tensor(_, Some(declared))), Some(Value::Tensor(tensor))) =
            (&info.declared, inputs.get(&*info.name))
        else {
            continue;
        };
        for (size, &len) in declared.iter().zip(tensor.shape().dims()) {
            if let DeclaredDim::Symbol(name) = size {
                sizes.insert(name.to_string(), i64::try_from(len).unwrap());
            }
        }
    }
    sizes
}

#[test]
fn sizes_and_integers_of_random_graphs_are_those_of_a_run() {
    let seeds = std::env::var("GRADUS_SEEDS").map_or(400, |seeds| seeds.parse().unwrap());
    let (mut values, mut compared) = (0u64, 0u64);
    for seed in 0..seeds {
        let (model, inputs) = random::graph((1 << 40) | seed);
        let graph = model.graph();
        let computed = graph.nodes().iter().flat_map(|node| node.outputs.iter().flatten());
        let names: Vec<_> = computed.map(|&id| graph.value(id).name.to_string()).collect();
        let wanted: Vec<_> = names.iter().map(String::as_str).collect();
        let Ok(program) = model.compile(&wanted, &RunOptions::default()) else { continue };
        let Ok(outputs) = program.run(&inputs) else { continue };
        // Sums of large integers wrap around, those of inference do not.
        let is_large = |number: Number| matches!(number, Number::Int(x) if x.abs() > 1 << 40);
        let has_large =
            |value: &Value| matches!(value, Value::Tensor(x) if x.numbers().unwrap().any(is_large));
        if inputs.values().any(has_large) {
            continue;
        }
        let sizes = sizes(&model, &inputs);
        let mut options = InferOptions::default();
        options.ignore_declared = true;
        // Integers that do not fit a type are within what runs do.
        options.cautious = true;
        let inference = model.infer(&options).unwrap();
        assert!(inference.problems().is_empty(), "seed {seed}: {:?}", inference.problems());
        let known = |dim: &Dim| inference.symbols().evaluate(*dim, &|name| sizes.get(name).copied());
        for (name, value) in &outputs {
            let Value::Tensor(tensor) = value else { continue };
            values += 1;
            let Fact::Tensor(fact) = inference.fact(model.value(name).unwrap()) else { continue };
            let what = || format!("seed {seed}, {name}: {}", inference.describe(&Fact::Tensor(fact.clone())));
            assert!(fact.dtype.is_none_or(|dtype| dtype == tensor.dtype()), "{}", what());
            let Some(dims) = &fact.dims else { continue };
            assert_eq!(dims.len(), tensor.shape().rank(), "{}", what());
            for (dim, &len) in dims.iter().zip(tensor.shape().dims()) {
                let Some(size) = known(dim) else { continue };
                assert_eq!(size, i64::try_from(len).unwrap(), "{}", what());
                compared += 1;
            }
            let numbers = || tensor.numbers().unwrap();
            match &fact.elements {
                Elements::Integers(all) => {
                    for (element, number) in all.iter().zip(numbers()) {
                        let Some(element) = known(element) else { continue };
                        assert_eq!(Number::Int(element.into()), number, "{}", what());
                        compared += 1;
                    }
                }
                Elements::Progression(both) => {
                    let (Some(first), Some(step)) = (known(&both.0), known(&both.1)) else { continue };
                    for (number, at) in numbers().zip(0i64..) {
                        let element = i128::from(first) + i128::from(step) * i128::from(at);
                        let same = match number {
                            Number::Int(number) => number == element,
                            other => {
                                other == Number::Float(gradus::convert::nearest_f64(Number::Int(element)))
                            }
                        };
                        assert!(same, "{}: {number:?} at {at}", what());
                        compared += 1;
                    }
                }
                Elements::Extremes(columns) => {
                    for (i, both) in columns.iter().enumerate() {
                        let (Some(min), Some(max)) = (known(&both.min), known(&both.max)) else { continue };
                        let whole =
                            |number| if let Number::Int(number) = number { number } else { unreachable!() };
                        let column: Vec<i128> = numbers().skip(i).step_by(columns.len()).map(whole).collect();
                        let Some(ends) = column.iter().min().copied().zip(column.iter().max().copied())
                        else {
                            continue;
                        };
                        let range = (i128::from(min), i128::from(max));
                        assert!(range.0 <= ends.0 && ends.1 <= range.1, "{}: {ends:?}", what());
                        let [of_min, of_max] = both.attained;
                        assert!(!of_min || range.0 == ends.0, "{}: {ends:?}", what());
                        assert!(!of_max || range.1 == ends.1, "{}: {ends:?}", what());
                        compared += 1;
                    }
                }
                _ => {}
            }
        }
    }
    println!("{seeds} graphs, {values} values, {compared} sizes and elements are those of a run");
    assert!(values > seeds && compared > seeds);
}
