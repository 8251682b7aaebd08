//! The pairs of values up to which all is proved.

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use gradus_core::graph::{Graph, ValueId};
use gradus_core::sort::SharedSort;
use gradus_engine::dim::Dim;

use crate::join::place;
use crate::table::{Term, TermId, View};
use crate::terms::Terms;
use crate::{Side, Unproved};

/// Maximum number of pairs that are looked at.
const MAX_PAIRS: usize = 1 << 14;

/// Maximum number of pairs that are reported.
const MAX_REPORTED: usize = 64;

/// Names of values by term, in each model.
pub struct Names(HashMap<TermId, [Option<ValueId>; 2]>);

impl Names {
    /// The names of the values of a graph.
    pub fn of(graph: &Graph, values: &[Option<TermId>]) -> Names {
        let mut names: HashMap<TermId, [Option<ValueId>; 2]> = HashMap::with_capacity(values.len());
        for id in graph.ids() {
            let Some(term) = values[id.index()] else { continue };
            if let (Some(side), _) = place(&graph.value(id).name) {
                names.entry(term).or_default()[side].get_or_insert(id);
            }
        }
        Names(names)
    }

    fn side(&self, terms: &Terms<'_>, graph: &Graph, id: TermId, side: usize) -> Side {
        let value = self.0.get(&id).and_then(|both| both[side].or(both[1 - side]));
        let name = value.map(|value| place(&graph.value(value).name).1.to_owned());
        Side { value: name, term: describe(terms, id) }
    }
}

/// A term in words: its operator.
pub fn describe(terms: &Terms<'_>, id: TermId) -> String {
    let inner = terms.table.viewed(id).map_or_else(String::new, |inner| describe_short(terms, inner));
    match terms.table.term(id) {
        Term::Parameter(..) => "an input of a subgraph".to_owned(),
        Term::Unique(..) => "a value that only its own node determines".to_owned(),
        Term::Integers(all) => {
            let more = if all.len() > 8 { ", …" } else { "" };
            format!("[{}{more}]", printed(terms, &all[..all.len().min(8)]))
        }
        Term::Progression(..) => "a progression".to_owned(),
        Term::View(_, View::Reshape) => format!("a view{} of {inner}", sizes(terms, id)),
        Term::View(_, View::Permute(order)) => format!("{inner} permuted by {order:?}"),
        Term::View(_, View::Expand) => format!("{inner} broadcast{}", sizes(terms, id)),
        Term::View(_, View::Slice(axis, ..)) => format!("a slice of axis {axis} of {inner}"),
        Term::Apply(operator, _, slot) if *slot > 0 => format!("output {slot} of {}", operator.name),
        Term::Graph(..) => "a subgraph".to_owned(),
        Term::Input(_) | Term::Constant(_) | Term::Apply(..) => describe_short(terms, id),
    }
}

fn describe_short(terms: &Terms<'_>, id: TermId) -> String {
    let kind = match terms.table.term(id) {
        Term::Apply(operator, ..) => return operator.name.to_string(),
        Term::Input(name) => return format!("input {name}"),
        Term::Constant(_) | Term::Integers(_) => "a constant",
        Term::View(_, View::Reshape) => "a view",
        Term::View(_, View::Permute(_)) => "a permutation",
        Term::View(_, View::Expand) => "a broadcast value",
        Term::View(_, View::Slice(..)) => "a slice",
        _ => "a value",
    };
    kind.to_owned()
}

fn printed(terms: &Terms<'_>, dims: &[Dim]) -> String {
    let all = dims.iter().map(|&dim| terms.symbols.print(dim).to_string());
    all.collect::<Vec<_>>().join(", ")
}

/// The sizes of a term, if they are known.
pub fn sizes(terms: &Terms<'_>, id: TermId) -> String {
    terms.table.dims(id).map_or_else(String::new, |dims| format!(" [{}]", printed(terms, dims)))
}

/// The arguments of two terms, where these are equal if the arguments are.
fn inner(terms: &Terms<'_>, a: TermId, b: TermId) -> Option<Vec<(TermId, TermId)>> {
    let all = |a: &[Option<TermId>], b: &[Option<TermId>]| {
        if a.len() != b.len() || a.iter().zip(b).any(|(a, b)| a.is_some() != b.is_some()) {
            return None;
        }
        Some(a.iter().zip(b).filter_map(|(a, b)| Some(((*a)?, (*b)?))).collect())
    };
    match (terms.table.term(a), terms.table.term(b)) {
        (Term::Apply(of, own, slot), Term::Apply(other, others, number)) if of == other && slot == number => {
            all(own, others)
        }
        (Term::Graph(inputs, own), Term::Graph(count, others)) if inputs == count => all(own, others),
        (Term::View(x, view), Term::View(y, other)) if view == other => {
            let has_sizes = matches!(view, View::Reshape | View::Expand);
            (!has_sizes || terms.table.dims(a) == terms.table.dims(b)).then(|| vec![(*x, *y)])
        }
        _ => None,
    }
}

/// The pairs of terms that are not proved, though all that they are made of alike is.
pub fn of(
    terms: &Terms<'_>,
    graph: &Graph,
    names: &Names,
    pairs: impl IntoIterator<Item = (TermId, TermId)>,
) -> Vec<Unproved> {
    let mut open: Vec<(TermId, TermId)> = pairs.into_iter().filter(|(a, b)| a != b).collect();
    let mut seen: HashSet<(TermId, TermId)> = HashSet::new();
    let mut counts: Vec<((TermId, TermId), usize)> = Vec::new();
    let mut numbers: HashMap<(TermId, TermId), usize> = HashMap::new();
    while let Some((a, b)) = open.pop() {
        if let Some(&number) = numbers.get(&(a, b)) {
            counts[number].1 += 1;
            continue;
        }
        if !seen.insert((a, b)) || seen.len() > MAX_PAIRS {
            continue;
        }
        let inner = inner(terms, a, b);
        let differing: Vec<_> = inner.into_iter().flatten().filter(|(a, b)| a != b).collect();
        if differing.is_empty() {
            numbers.insert((a, b), counts.len());
            counts.push(((a, b), 1));
        }
        open.extend(differing);
    }
    counts.shared_sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let unproved = |((a, b), count): &((TermId, TermId), usize)| Unproved {
        first: names.side(terms, graph, *a, 0),
        second: names.side(terms, graph, *b, 1),
        count: *count,
    };
    counts.iter().take(MAX_REPORTED).map(unproved).collect()
}
