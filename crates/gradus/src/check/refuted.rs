//! Errors about outputs that differ, with the inputs that show it.

use gradus_core::text::to_text;
use gradus_core::{Error, Kind, Tensor, Value};

use super::{Compared, NamedValues, OutputCheck};
use crate::model::Model;

/// Elements of an input that are listed.
const MAX_ELEMENTS: usize = 16;

impl Model {
    /// The error about outputs that differ from those of what this model became, of which there is
    /// one at least.
    pub(crate) fn refuted(
        &self,
        other: &Model,
        made: &str,
        compared: &Compared,
        differing: &[&OutputCheck],
    ) -> Error {
        let names: Vec<_> = differing.iter().map(|output| format!("\"{}\"", output.name)).collect();
        let names = names.join(", ");
        let first = differing.iter().find_map(|output| match (&output.types, &output.first) {
            (Some((before, after)), _) => Some((String::new(), before, after)),
            (None, Some(element)) => {
                Some((format!(" at element {}", element.index), &element.before, &element.after))
            }
            (None, None) => None,
        });
        let error = match first {
            Some((at, before, after)) => {
                Error::mismatch(Kind::Graph, format_args!("{made} output {names}{at}"), after, before)
            }
            None => Error::new(Kind::Graph, format!("{made} output {names} differs")),
        };
        let Some((inputs, renamed)) = &compared.differing else { return error };
        let parting = self.parting(other, inputs, renamed).map_or_else(String::new, |of| {
            format!("; the models part at {}: {} and {}", of.value, of.before, of.after)
        });
        error.map_message(|text| format!("{text}, for {}{parting}", described(inputs)))
    }
}

/// Inputs with their types, and the first elements.
fn described(inputs: &NamedValues) -> String {
    let described = |(name, value): &(String, Value)| match value {
        Value::Tensor(tensor) => format!("{name} = {value} {}", elements(tensor)),
        value => format!("{name} = {value}"),
    };
    if inputs.is_empty() {
        return "no inputs".to_owned();
    }
    inputs.iter().map(described).collect::<Vec<_>>().join(", ")
}

/// The first elements of a tensor in row-major order.
fn elements(tensor: &Tensor) -> String {
    let texts: Vec<String> = match (tensor.texts(), tensor.numbers()) {
        (Ok(texts), _) => texts.iter().take(MAX_ELEMENTS).map(|text| format!("{text:?}")).collect(),
        (_, Ok(numbers)) => {
            let numbers = numbers.take(MAX_ELEMENTS);
            numbers.map(|number| to_text(number, tensor.dtype()).into()).collect()
        }
        _ => Vec::new(),
    };
    let more = if tensor.shape().len() > texts.len() { ", …" } else { "" };
    format!("[{}{more}]", texts.join(", "))
}
