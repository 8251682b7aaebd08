//! Inputs and outputs of two models that correspond.

use std::collections::{HashMap, HashSet};

use gradus_core::graph::{Graph, Type, ValueId};
use gradus_core::{Error, Kind, Limits, Result, Shape, Tensor, Value};

/// An output of two models.
pub(super) struct OutputPair {
    pub(super) first: Named,
    pub(super) second: Named,
}

impl OutputPair {
    /// The name in the first model; in the second, if the first has an output for each item.
    pub(super) fn name(&self) -> &str {
        match (&self.first, &self.second) {
            (Named::Whole(name), _) | (_, Named::Whole(name)) => name,
            (Named::Items(names), _) => &names[0],
        }
    }
}

/// The outputs that have the value of a pair.
#[derive(Clone)]
pub(super) enum Named {
    Whole(String),
    /// The names of the items of a sequence, in order, where the standard has no sequences.
    Items(Vec<String>),
}

impl Named {
    /// The names of the input or output, or of its items.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let names = match self {
            Named::Whole(name) => std::slice::from_ref(name),
            Named::Items(names) => names,
        };
        names.iter().map(String::as_str)
    }

    /// The value, of the outputs of a run by name.
    pub(super) fn value(&self, outputs: &HashMap<String, Value>) -> Value {
        match self {
            Named::Whole(name) => outputs[name].clone(),
            Named::Items(names) => Value::Sequence(names.iter().map(|name| outputs[name].clone()).collect()),
        }
    }
}

/// The input of the second model that takes the value of one of the first.
pub(super) struct InputPair {
    name: String,
    /// True if it takes a tensor whose slices are the items of a sequence.
    stacks: bool,
}

impl InputPair {
    /// The name in the second model.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The name and the value that the second model is given.
    pub(super) fn given(&self, value: &Value) -> Result<(String, Value)> {
        let value = match value {
            Value::Sequence(items) if self.stacks => stacked(&self.name, items)?,
            value => value.clone(),
        };
        Ok((self.name.clone(), value))
    }
}

/// The tensor whose slices along its first axis are these items.
fn stacked(name: &str, items: &[Value]) -> Result<Value> {
    let unequal = || {
        let what = format_args!("cannot compare: input \"{name}\" of the second model");
        Error::mismatch(Kind::Graph, what, "a tensor", "a sequence, as the items have unequal types")
    };
    let tensors = items.iter().map(Value::tensor).collect::<Result<Vec<_>>>()?;
    let first = tensors.first().ok_or_else(unequal)?;
    if tensors.iter().any(|item| item.dtype() != first.dtype() || item.shape() != first.shape()) {
        return Err(unequal());
    }
    let dims = first.shape().dims();
    let shape = Shape::new([&[tensors.len()], dims].concat())?;
    let len = first.shape().len();
    let elements = (0..tensors.len()).flat_map(|item| (0..len).map(move |index| (item, index)));
    Ok(Tensor::woven(&tensors, shape, elements, &Limits::DEFAULT)?.into())
}

/// The inputs of two models that correspond, by the names of the first: those of equal names, or
/// else those of one position.
pub(super) fn input_pairs(own: &Graph, others: &Graph) -> Result<Vec<(String, InputPair)>> {
    let given = |graph: &Graph| -> Vec<ValueId> {
        graph.inputs().iter().copied().filter(|&id| graph.constant(id).is_none()).collect()
    };
    let (own_ids, other_ids) = (given(own), given(others));
    let name_in = |graph: &Graph, id: ValueId| graph.value(id).name.to_string();
    let own_names: Vec<_> = own_ids.iter().map(|&id| name_in(own, id)).collect();
    let other_names: Vec<_> = other_ids.iter().map(|&id| name_in(others, id)).collect();
    let second = by_name_or_position("inputs", &own_names, &other_names)?.unwrap_or(&own_names);
    let sequences = |graph: &Graph, ids: &[ValueId]| -> HashSet<String> {
        let is_sequence = |id: &&ValueId| matches!(graph.value(**id).declared, Some(Type::Sequence(_)));
        ids.iter().filter(is_sequence).map(|&id| name_in(graph, id)).collect()
    };
    let [own_sequences, other_sequences] = [sequences(own, &own_ids), sequences(others, &other_ids)];
    let pairs = own_names.iter().zip(second).map(|(first, second)| {
        let stacks = own_sequences.contains(first) && !other_sequences.contains(second);
        (first.clone(), InputPair { name: second.clone(), stacks })
    });
    Ok(pairs.collect())
}

/// The outputs of two models that correspond: those of equal names, and sequences with outputs for
/// their items; or else those of one position.
pub(super) fn output_pairs(own: &Graph, others: &Graph) -> Result<Vec<OutputPair>> {
    let names = |graph: &Graph| -> Vec<_> {
        graph.outputs().iter().map(|&id| graph.value(id).name.to_string()).collect()
    };
    let (own_names, other_names) = (names(own), names(others));
    if let Some(pairs) = with_items((own, &own_names), &other_names) {
        return Ok(pairs.into_iter().map(|(first, second)| OutputPair { first, second }).collect());
    }
    let reversed = with_items((others, &other_names), &own_names);
    if let Some(pairs) = reversed.filter(|pairs| covers(pairs, own_names.len())) {
        return Ok(pairs.into_iter().map(|(second, first)| OutputPair { first, second }).collect());
    }
    let second = by_name_or_position("outputs", &own_names, &other_names)?.unwrap_or(&own_names);
    let pairs = own_names.iter().zip(second);
    let pairs = pairs.map(|(first, second)| OutputPair {
        first: Named::Whole(first.clone()),
        second: Named::Whole(second.clone()),
    });
    Ok(pairs.collect())
}

/// Returns true if the second halves of these pairs name this many outputs.
fn covers(pairs: &[(Named, Named)], count: usize) -> bool {
    pairs.iter().map(|(_, second)| second.names().count()).sum::<usize>() == count
}

/// The outputs of a graph with those of another that have their names, or that have the names of
/// items of a sequence; nothing if some have neither.
fn with_items((graph, own): (&Graph, &[String]), others: &[String]) -> Option<Vec<(Named, Named)>> {
    let [own_names, others] = [own, others].map(|names| names.iter().collect::<HashSet<_>>());
    let second = |&id: &ValueId, name: &String| {
        if others.contains(name) {
            return Some(Named::Whole(name.clone()));
        }
        let is_sequence = matches!(graph.value(id).declared, Some(Type::Sequence(_)));
        let items = (0..).map(|number| format!("{name}_{number}"));
        let items = items.take_while(|item| others.contains(item) && !own_names.contains(item));
        let items: Vec<_> = if is_sequence { items.collect() } else { Vec::new() };
        (!items.is_empty()).then_some(Named::Items(items))
    };
    let pairs = graph.outputs().iter().zip(own);
    pairs.map(|(id, name)| Some((Named::Whole(name.clone()), second(id, name)?))).collect()
}

/// The names of the second model in the order of the first; nothing if they are those of the first.
fn by_name_or_position<'a>(what: &str, own: &[String], others: &'a [String]) -> Result<Option<&'a [String]>> {
    let known: HashSet<_> = others.iter().collect();
    if own.iter().all(|name| known.contains(name)) {
        return Ok(None);
    }
    if own.len() != others.len() {
        let what = format_args!("cannot compare: number of {what} of the second model");
        return Err(Error::mismatch(Kind::Graph, what, others.len(), own.len()));
    }
    Ok(Some(others))
}
