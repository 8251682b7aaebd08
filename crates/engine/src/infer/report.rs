//! Reports of inference, in words and in numbers.

use std::collections::HashSet;

use gradus_core::DType;
use gradus_core::graph::{Graph, Origin as From, ValueId};

use super::Inference;
use crate::dim::{Dim, Origin};
use crate::fact::{Fact, TensorFact};

impl Inference {
    /// A fact in words: `float32[batch, 3]`; `?` stands for a rank or type that is not known.
    pub fn describe(&self, fact: &Fact) -> String {
        match fact {
            Fact::Tensor(TensorFact { dtype, dims, .. }) => {
                let dtype = dtype.map_or("?", DType::name);
                match dims {
                    None => format!("{dtype}[...]"),
                    Some(dims) => {
                        let dims: Vec<_> =
                            dims.iter().map(|dim| self.symbols.print(*dim).to_string()).collect();
                        format!("{dtype}[{}]", dims.join(", "))
                    }
                }
            }
            Fact::Sequence(list) => {
                format!("sequence of {} {}", self.symbols.print(list.len), self.describe(&list.each))
            }
            Fact::Optional(optional) => format!("optional {}", self.describe(&optional.value)),
            Fact::Map(key, of) => {
                let name = |dtype: &Option<DType>| dtype.map_or("?", DType::name);
                format!("map from {} to {}", name(key), name(of))
            }
            Fact::Unknown => "?".to_owned(),
        }
    }

    /// The part of a shape that is known.
    pub fn completeness(&self, fact: &Fact) -> Completeness {
        match fact {
            Fact::Tensor(TensorFact { dims: Some(dims), .. }) => {
                let rank = dims.iter().map(|&dim| self.symbols.rank(dim).0).max().unwrap_or(0);
                match rank {
                    3 => Completeness::Partial,
                    2 => Completeness::Data,
                    _ => Completeness::Full,
                }
            }
            Fact::Tensor(_) | Fact::Unknown => Completeness::None,
            // For an empty list, there is nothing else to know.
            Fact::Sequence(list) if list.len == Dim::ZERO => Completeness::Full,
            Fact::Sequence(list) => self.completeness(&list.each),
            Fact::Optional(optional) => self.completeness(&optional.value),
            Fact::Map(..) => Completeness::Full,
        }
    }

    /// The symbols of a shape that the data decide, and those of which nothing is known.
    pub fn fresh(&self, fact: &Fact) -> (Vec<String>, Vec<String>) {
        let (mut data, mut unknown) = (Vec::new(), Vec::new());
        let dims = fact.as_tensor().and_then(|fact| fact.dims.as_deref()).unwrap_or_default();
        for symbol in dims.iter().flat_map(|&dim| self.symbols.symbols_of(dim)) {
            let list = match symbol.origin {
                Origin::Input => continue,
                Origin::Data(_) => &mut data,
                Origin::Unknown(_) => &mut unknown,
            };
            let name = symbol.name.to_string();
            if !list.contains(&name) {
                list.push(name);
            }
        }
        (data, unknown)
    }

    /// Why a shape is not complete, for each symbol or the rank that is not known.
    pub fn why_incomplete(&self, id: ValueId) -> Vec<String> {
        let fact = self.fact(id);
        let dims = fact.as_tensor().and_then(|fact| fact.dims.as_deref());
        let Some(dims) = dims else {
            return self.reason(id).map(|reason| vec![reason.to_owned()]).unwrap_or_default();
        };
        let (mut reasons, mut seen) = (Vec::new(), HashSet::new());
        for symbol in dims.iter().flat_map(|&dim| self.symbols.symbols_of(dim)) {
            let reason = match &symbol.origin {
                Origin::Input => continue,
                Origin::Data(why) | Origin::Unknown(why) => format!("{}: {why}", symbol.name),
            };
            if seen.insert(&symbol.name) {
                reasons.push(reason);
            }
        }
        reasons
    }

    /// Explains a value: the nodes that its shape comes from, the value's own first, as lines of
    /// text.
    pub fn explain(&self, graph: &Graph, id: ValueId, most: usize) -> Vec<String> {
        let mut lines = Vec::new();
        let mut seen = vec![false; graph.values().len()];
        let mut open = vec![(id, 0usize)];
        while let Some((id, depth)) = open.pop() {
            let info = graph.value(id);
            let fact = &self.facts[id.index()];
            let indent = "  ".repeat(depth);
            let again = std::mem::replace(&mut seen[id.index()], true);
            let origin = match info.origin {
                From::Input => "an input".to_owned(),
                From::Constant => "a constant".to_owned(),
                From::Capture => "from the graph around".to_owned(),
                From::Node(node, _) => super::pass::label(&graph.nodes()[node], node),
            };
            let elements = self.elements(fact).map_or_else(String::new, |elements| format!(" = {elements}"));
            let seen_above = if again { ", see above" } else { "" };
            lines.push(format!(
                "{indent}{}: {}{elements} by {origin}{seen_above}",
                info.name,
                self.describe(fact)
            ));
            for reason in self.why_incomplete(id).into_iter().filter(|_| !again) {
                lines.push(format!("{indent}  because {reason}"));
            }
            if lines.len() >= most {
                lines.push("…".to_owned());
                break;
            }
            if let From::Node(node, _) = info.origin
                && !again
                && !fact.as_tensor().is_some_and(TensorFact::is_constant)
            {
                open.extend(graph.nodes()[node].inputs.iter().rev().flatten().map(|&id| (id, depth + 1)));
            }
        }
        lines
    }

    /// The elements of a small tensor, as far as they are known.
    pub fn elements(&self, fact: &Fact) -> Option<String> {
        use crate::fact::{Elements, Extremes, Fraction};
        const MAX_SHOWN: usize = 16;
        let fact = fact.as_tensor()?;
        let list = |all: Vec<String>| match fact.rank() {
            Some(0) => all.into_iter().next().unwrap_or_default(),
            _ => format!("[{}]", all.join(", ")),
        };
        match &fact.elements {
            Elements::Integers(all) if all.len() <= MAX_SHOWN => {
                Some(list(all.iter().map(|dim| self.symbols.print(*dim).to_string()).collect()))
            }
            Elements::Fractions(all) if all.len() <= MAX_SHOWN => {
                let print = |fraction: &Fraction| match fraction.under {
                    1 => self.symbols.print(fraction.over).to_string(),
                    under => format!("({})/{under}", self.symbols.print(fraction.over)),
                };
                Some(list(all.iter().map(print).collect()))
            }
            Elements::Known(tensor) if tensor.len() <= MAX_SHOWN => {
                Some(gradus_core::display::elided(tensor, MAX_SHOWN).replace('\n', ""))
            }
            Elements::Progression(both) => {
                Some(format!("{}, … by {}", self.symbols.print(both.0), self.symbols.print(both.1)))
            }
            Elements::Extremes(all) => {
                let print = |of: &Extremes| {
                    format!("{} to {}", self.symbols.print(of.min), self.symbols.print(of.max))
                };
                Some(all.iter().map(print).collect::<Vec<_>>().join("; "))
            }
            _ => None,
        }
    }
}

/// The part of a shape that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Completeness {
    /// Numbers and expressions of what the inputs are.
    Full,
    /// And symbols for what the data decide.
    Data,
    /// And symbols of which nothing is known.
    Partial,
    /// Not even the rank.
    None,
}
