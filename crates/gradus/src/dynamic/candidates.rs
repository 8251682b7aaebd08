//! Formulas that may take the place of constants.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use gradus_core::convert::{Rules, i64_of, nearest_f64, truncated};
use gradus_core::graph::{Node, Origin, Standard};
use gradus_core::sort::SharedSort;
use gradus_core::{DType, Number, Tensor};

use super::fits::{RatedExpression, fits};
use super::formula::{Formula, SizeFunction, few_integers};
use super::reshape::targets;
use super::rows;
use super::search::FormulaSearch;
use super::sources::constant;
use super::table;
use super::view::{ChangedModel, Hard, TriedFormulas};
use crate::dim::Dim;
use crate::operators::operation::Operation;
use crate::operators::{self, Reduces, Role, Row};

/// A formula for an input of a node.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) node: usize,
    pub(super) input: usize,
    pub(super) formula: Formula,
    /// How likely it is, the smallest first.
    pub(super) tier: u8,
    /// True if others of its kind are as likely, whatever the node says.
    pub(super) divided: bool,
}

/// Formulas that are proposed for a node.
#[derive(Default)]
pub(super) struct Proposal {
    pub(super) candidates: Vec<Candidate>,
    /// The problem if no candidate fits; nothing if the constant may stay.
    pub(super) required: Option<String>,
    /// True if another constant of the node differs too, so that it is not right before both have
    /// formulas.
    pub(super) is_part: bool,
}

/// Maximum number of formulas that are tried for one condition.
const MAX_CANDIDATES: usize = 48;
/// Maximum number of nodes that are looked at for one condition.
const MAX_NODES: usize = 256;

/// The row of a node's operator.
fn row(node: &Node) -> Option<&'static Row> {
    operators::row_of(Standard::Onnx, node).filter(|row| row.domain.is_empty())
}

/// The inputs of an operator that are sizes.
fn size_inputs(node: &Node) -> &'static [usize] {
    match row(node) {
        Some(row) if row.operation.is_some_and(|operation| operation != Operation::Pow) => &[0, 1],
        row => row.map_or(&[], |row| row.sizes),
    }
}

/// Returns true if an input of an operator is data, and not numbers that say what it does.
fn is_data(node: &Node, input: usize) -> bool {
    let Some(row) = row(node) else { return true };
    // Sizes are data where they are put together, chosen or computed with.
    if row.operation.is_some() || row.is_elementwise() || row.role == Role::Join {
        return true;
    }
    let is_graph = node.graphs().next().is_some();
    let says_more = matches!(row.name, "Upsample" | "CumSum" | "DFT") || row.reduces != Reduces::No;
    match row.sizes.first() {
        Some(0) => false,
        Some(_) => input == 0,
        None if says_more || matches!(row.role, Role::Reshape | Role::View) => input == 0,
        None => !is_graph,
    }
}

impl FormulaSearch<'_, '_> {
    /// Formulas for a node, whatever conditions say: the shape of a Reshape, the sizes of a
    /// Resize, constants that differ between sources.
    pub(super) fn proposal(&self, view: &mut ChangedModel, node: usize) -> Proposal {
        let Some(own) = view.node(node).cloned() else { return Proposal::default() };
        let mut proposal = match (&*own.operator.domain, &*own.operator.name) {
            ("", "Reshape") => self.reshaped(view, node, &own),
            ("", "Resize") => {
                Proposal { candidates: self.resized(view, node).into_iter().collect(), ..Proposal::default() }
            }
            _ => Proposal::default(),
        };
        if !proposal.candidates.is_empty() || self.sources.models.len() == 1 {
            return proposal;
        }
        let differing = |input| {
            let all = self.sources.constants(node, input)?;
            let same = |of: &Tensor| of.shape() == all[0].shape() && of.bytes() == all[0].bytes();
            let is_left = !self.changes.contains_key(&(node, input)) && !all.iter().all(same);
            is_left.then_some((input, all))
        };
        let mut left = (0..own.inputs.len()).filter_map(differing);
        if let Some((input, all)) = left.next() {
            proposal.candidates = self.of_constants(view, node, input, &all, &[]);
            proposal.is_part = left.next().is_some();
            let shapes: Vec<_> = all.iter().map(|of| format!("{}{}", of.dtype(), of.shape())).collect();
            proposal.required =
                Some(format!("input {input}, a constant that differs: {}", shapes.join(", ")));
        }
        proposal
    }

    fn reshaped(&self, view: &mut ChangedModel, node: usize, own: &Node) -> Proposal {
        self.reshape_targets(view, node, own).unwrap_or_default()
    }

    fn reshape_targets(&self, view: &mut ChangedModel, node: usize, own: &Node) -> Option<Proposal> {
        if self.changes.contains_key(&(node, 1)) {
            return None;
        }
        let (data, elements) = (view.dims(node, 0)?, view.elements(node, 1)?);
        let allow_zero = matches!(own.attribute("allowzero"), Some(gradus_core::graph::Content::Int(1)));
        let is_open = elements.iter().any(|dim| dim.known().is_none());
        if data.iter().all(|dim| dim.known().is_some()) || (is_open && !view.is_hard(node)) {
            return None;
        }
        let count = self.sources.models.len();
        let constants = self.sources.constants(node, 1);
        let mut wanted = Vec::with_capacity(count);
        let mut sizes = Vec::with_capacity(count);
        for source in 0..count {
            let symbols = view.inference.symbols();
            let number =
                |dim: &Dim| symbols.evaluate(*dim, &|name| self.sources.sizes[source].get(name).copied());
            let own = data.iter().map(number).collect::<Option<Vec<_>>>()?;
            let given = match &constants {
                Some(all) => all[source].to_i64().ok()?,
                None => elements.iter().map(number).collect::<Option<Vec<_>>>()?,
            };
            wanted.push(resolved(&own, &given, allow_zero)?);
            sizes.push(own);
        }
        let first = &self.sources.sizes[0];
        let value =
            |symbols: &crate::dim::Symbols, dim| symbols.evaluate(dim, &|name| first.get(name).copied());
        let found = targets(view.inference.symbols_mut(), (&data, &sizes[0]), &wanted[0], &value)?;
        let symbols = view.inference.symbols();
        let fits = |shape: &Vec<Dim>| {
            let each = |(axis, &dim): (usize, &Dim)| {
                let values = self.sources.values(symbols, dim);
                values.is_some_and(|values| {
                    values.iter().zip(&wanted).all(|(own, wanted)| *own == wanted[axis])
                })
            };
            shape.iter().enumerate().all(each)
        };
        let shapes: Vec<_> = found.shapes.into_iter().filter(fits).collect();
        let now = view.output(node);
        if shapes.first().zip(now.as_ref()).is_some_and(|(first, now)| first[..] == now[..]) {
            return None;
        }
        let Some(first) = shapes.first().cloned() else { return Some(Proposal::default()) };
        // A square image does not tell its height from its width.
        let (twins, others): (Vec<_>, Vec<_>) =
            shapes.into_iter().skip(1).partition(|shape| are_exchanged(&first, shape, &wanted[0]));
        let alike = 0..if twins.is_empty() { 0 } else { twins.len() + 1 };
        let shapes = [first].into_iter().chain(twins).chain(others);
        let candidates = shapes.zip(0..).filter_map(|(shape, place)| {
            let list = self.target(view, &data, &shape, allow_zero)?;
            let formula = Formula::Sizes(list, false, DType::I64);
            let divided = found.divided || alike.contains(&usize::from(place));
            let tier = if divided { 0 } else { place };
            Some(Candidate { node, input: 1, formula, tier, divided })
        });
        let candidates: Vec<_> = candidates.collect();
        Some(Proposal { candidates, ..Proposal::default() })
    }

    /// The list that a Reshape is given: 0 for a size of the data at the same axis, and -1 for one
    /// of the others.
    fn target(
        &self,
        view: &ChangedModel,
        data: &[Dim],
        shape: &[Dim],
        allow_zero: bool,
    ) -> Option<Vec<Arc<str>>> {
        let mut list = Vec::with_capacity(shape.len());
        let mut longest: Option<usize> = None;
        for (axis, &dim) in shape.iter().enumerate() {
            let same = !allow_zero && data.get(axis) == Some(&dim) && dim.known().is_none();
            list.push(if same { "0".into() } else { view.text(self.ground, dim)? });
            let text: &Arc<str> = &list[axis];
            let is_open = dim.known().is_none() && !same;
            if is_open && longest.is_none_or(|other| list[other].len() < text.len()) {
                longest = Some(axis);
            }
        }
        if let Some(axis) = longest {
            list[axis] = "-1".into();
        }
        Some(list)
    }

    fn resized(&self, view: &mut ChangedModel, node: usize) -> Option<Candidate> {
        let (data, elements) = (view.dims(node, 0)?, view.elements(node, 3)?);
        if self.changes.contains_key(&(node, 3)) || elements.len() != data.len() {
            return None;
        }
        let tensors = self.sources.constants(node, 3);
        let mut list: Vec<Arc<str>> = Vec::new();
        let mut changed = false;
        for (axis, element) in elements.iter().enumerate() {
            let Some(number) = element.known() else {
                list.push(view.text(self.ground, *element)?);
                continue;
            };
            let numbers = match &tensors {
                Some(all) => {
                    all.iter().map(|of| of.to_i64().ok()?.get(axis).copied()).collect::<Option<_>>()?
                }
                None => vec![number; self.sources.models.len()],
            };
            let all = fits(view, (self.ground, self.sources), node, &numbers, &[data[axis]]);
            let own = data[axis].known().is_none();
            let of_axis = all.into_iter().find(|(_, text)| own && is_of(view, text, data[axis]));
            changed |= of_axis.is_some();
            list.push(of_axis.map_or_else(|| number.to_string().into(), |(_, text)| text));
        }
        let formula = Formula::Sizes(list, false, DType::I64);
        changed.then_some(Candidate { node, input: 3, formula, tier: 0, divided: false })
    }

    /// Formulas for constants of all sources at an input.
    fn of_constants(
        &self,
        view: &mut ChangedModel,
        node: usize,
        input: usize,
        all: &[Tensor],
        near: &[Dim],
    ) -> Vec<Candidate> {
        let made = |tier, formula| Candidate { node, input, formula, tier, divided: false };
        let lists: Option<Vec<Vec<i64>>> = all.iter().map(whole_numbers).collect();
        if let Some(lists) = lists.filter(|lists| lists.iter().all(|list| list.len() == lists[0].len())) {
            let mut options: Vec<Vec<RatedExpression>> = Vec::new();
            for at in 0..lists[0].len() {
                let numbers: Vec<_> = lists.iter().map(|list| list[at]).collect();
                let own = if numbers.iter().all(|number| *number == numbers[0]) {
                    vec![(0, numbers[0].to_string().into())]
                } else {
                    fits(view, (self.ground, self.sources), node, &numbers, near)
                };
                options.push(own);
            }
            let scalar = all[0].shape().rank() == 0;
            let list = |(tier, list)| made(tier, Formula::Sizes(list, scalar, all[0].dtype()));
            let found: Vec<_> = together(&options).into_iter().map(list).collect();
            if !found.is_empty() {
                return found;
            }
        }
        let functions = self.functions(view, node, all, near);
        if !functions.is_empty() {
            return functions.into_iter().map(|(tier, formula)| made(tier, formula)).collect();
        }
        let ranks: HashSet<_> = all.iter().map(|of| of.shape().rank()).collect();
        if ranks.len() != 1 {
            return Vec::new();
        }
        let (mut axes, mut options) = (Vec::new(), Vec::new());
        for axis in 0..all[0].shape().rank() {
            let numbers: Vec<_> = all.iter().map(|of| i64_of(of.shape().dims()[axis])).collect();
            if numbers.iter().any(|number| *number != numbers[0]) {
                axes.push(axis);
                options.push(fits(view, (self.ground, self.sources), node, &numbers, near));
            }
        }
        let tables = together(&options).into_iter().flat_map(|(tier, sizes)| {
            let open: Vec<_> = axes.iter().copied().zip(sizes).collect();
            table::patterns(all, &open).into_iter().map(move |table| (tier.max(1), table))
        });
        let mut found: Vec<_> =
            tables.map(|(tier, table)| made(tier, Formula::Table(table))).take(MAX_CANDIDATES).collect();
        // A step that is as long as a row may be that length.
        let is_counted = |of: &Candidate| matches!(&of.formula, Formula::Table(table) if matches!(table.pattern, table::Pattern::Counted { .. }));
        let divided = found.iter().any(is_counted) && !found.iter().all(is_counted);
        for of in &mut found {
            of.divided = divided;
        }
        found
    }

    /// Functions of sizes that the one element of all sources is, to the bit.
    fn functions(
        &self,
        view: &mut ChangedModel,
        node: usize,
        all: &[Tensor],
        near: &[Dim],
    ) -> Vec<(u8, Formula)> {
        let only = |of: &Tensor| {
            (of.len() == 1 && of.dtype().is_float()).then(|| of.only_number().ok().map(nearest_f64))?
        };
        let Some(numbers) = all.iter().map(only).collect::<Option<Vec<f64>>>() else { return Vec::new() };
        let mut found = Vec::new();
        for function in SizeFunction::ALL {
            let size = |number: &f64| {
                let size = function.inverse(*number).round();
                (1.0..1e15).contains(&size).then(|| i64_of_float(size))?
            };
            let Some(sizes) = numbers.iter().map(size).collect::<Option<Vec<i64>>>() else { continue };
            let is_it = |(of, size): (&Tensor, &i64)| {
                let value = function.at(nearest_f64(Number::Int((*size).into())));
                let own =
                    Tensor::from_numbers(of.dtype(), of.shape().clone(), [Number::Float(value)], Rules::IEEE);
                own.is_ok_and(|own| own.bytes() == of.bytes())
            };
            if all.iter().zip(&sizes).all(is_it) {
                let fitting = fits(view, (self.ground, self.sources), node, &sizes, near).into_iter();
                let made = |(tier, size)| (tier, Formula::Function(function, size, all[0].clone()));
                found.extend(fitting.map(made));
            }
        }
        found
    }

    /// Formulas for the constants that a condition of a node may come from, the nearest first.
    pub(super) fn causes(&self, view: &mut ChangedModel, at: usize, hard: &Hard) -> Vec<Candidate> {
        let graph = self.ground.model.graph();
        let mut found = Vec::new();
        let (mut open, mut seen) = (VecDeque::from([at]), HashSet::from([at]));
        while let Some(node) = open.pop_front() {
            if found.len() >= MAX_CANDIDATES || seen.len() > MAX_NODES {
                break;
            }
            let own = &graph.nodes()[node];
            for (input, id) in own.inputs.iter().enumerate() {
                let Some(id) = *id else { continue };
                if size_inputs(own).contains(&input) {
                    self.sizes(view, (node, input, at), &hard.dims, &mut found);
                }
                if constant(graph, id).is_some() {
                    if !is_data(own, input) {
                        continue;
                    }
                    self.tables(view, (node, input, at), &hard.dims, &mut found);
                } else if let Origin::Node(before, _) = graph.value(id).origin
                    && seen.insert(before)
                {
                    open.push_back(before);
                }
            }
        }
        found.truncate(MAX_CANDIDATES);
        found
    }

    /// Numbers of a node that are sizes which it sees, and that no formula took the place of: the
    /// input, the number and the size. Nothing tells whether they are meant.
    pub(super) fn alike(&self, view: &mut ChangedModel, node: usize) -> Option<(usize, i64, Arc<str>)> {
        let own = view.node(node)?.clone();
        let scales = row(&own).is_some_and(|row| row.operation.is_some());
        let sizes = size_inputs(&own);
        if !own.operator.domain.is_empty() || !(scales || sizes.len() < 8) {
            return None;
        }
        let is_open = |dim: &Dim| dim.known().is_none();
        let sees = (0..own.inputs.len())
            .any(|input| view.dims(node, input).is_some_and(|dims| dims.iter().any(is_open)));
        for input in (0..own.inputs.len()).filter(|input| sees && (scales || sizes.contains(input))) {
            if self.changes.contains_key(&(node, input)) || self.forced.0.contains_key(&node) {
                continue;
            }
            let Some(all) = self.sources.constants(node, input) else { continue };
            let Some(lists) = all.iter().map(whole_numbers).collect::<Option<Vec<_>>>() else { continue };
            for place in 0..lists[0].len() {
                let Some(numbers) =
                    lists.iter().map(|list| list.get(place).copied()).collect::<Option<Vec<_>>>()
                else {
                    continue;
                };
                if numbers[0] < 2 {
                    continue;
                }
                let all = fits(view, (self.ground, self.sources), node, &numbers, &[]);
                if let Some((_, text)) = all.into_iter().find(|(tier, _)| *tier == 0) {
                    return Some((input, numbers[0], text));
                }
            }
        }
        None
    }

    /// The changes with the size that the caller wants in the place of the one number that it is.
    pub(super) fn asked(&self, view: &mut ChangedModel, node: usize, text: &str) -> Option<TriedFormulas> {
        if text.parse::<i64>().is_ok() {
            return None;
        }
        let own = view.node(node)?.clone();
        for input in 0..own.inputs.len() {
            let Some(all) = self.sources.constants(node, input) else { continue };
            let lists = all.iter().map(whole_numbers).collect::<Option<Vec<_>>>();
            let Some(lists) = lists.filter(|_| !self.changes.contains_key(&(node, input))) else { continue };
            let mut list: Vec<Arc<str>> = lists[0].iter().map(|number| number.to_string().into()).collect();
            let is_it = |place: &usize| {
                let numbers: Option<Vec<_>> = lists.iter().map(|list| list.get(*place).copied()).collect();
                numbers.is_some_and(|numbers| self.sources.values_of(text).is_some_and(|own| own == numbers))
            };
            let Some(place) = (0..list.len()).find(is_it) else { continue };
            list[place] = text.into();
            let scalar = all[0].shape().rank() == 0;
            let mut changes = self.changes.clone();
            changes.insert((node, input), Formula::Sizes(list, scalar, all[0].dtype()));
            return Some(changes);
        }
        None
    }

    /// The shape of an Expand that follows where a table that it repeats is open along an axis.
    pub(super) fn expanded(&self, view: &ChangedModel, of: &Candidate) -> Option<((usize, usize), Formula)> {
        let own = &self.ground.model.graph().nodes()[of.node];
        let Formula::Table(table) = &of.formula else { return None };
        if &*own.operator.name != "Expand" || of.input != 0 {
            return None;
        }
        let elements = view.elements(of.node, 1)?;
        let more = elements.len().checked_sub(view.dims(of.node, 0)?.len())?;
        let mut list = elements.iter().map(|&dim| view.text(self.ground, dim)).collect::<Option<Vec<_>>>()?;
        for (axis, size) in &table.axes {
            if elements[axis + more].known().is_some_and(|number| number > 1) {
                list[axis + more].clone_from(size);
            }
        }
        Some(((of.node, 1), Formula::Sizes(list, false, DType::I64)))
    }

    /// Formulas for single elements of a list of sizes.
    fn sizes(
        &self,
        view: &mut ChangedModel,
        (node, input, at): (usize, usize, usize),
        near: &[Dim],
        found: &mut Vec<Candidate>,
    ) {
        let constants = self.sources.constants(node, input);
        let Some(elements) = view.elements(node, input).filter(|all| all.len() <= 16) else { return };
        let Some(fact) = view.input(node, input).and_then(crate::fact::Fact::as_tensor) else { return };
        let (Some(dtype), Some(rank)) = (fact.dtype, fact.rank()) else { return };
        if rank > 1 || !dtype.is_integer() {
            return;
        }
        let lists: Option<Vec<Vec<i64>>> =
            constants.as_ref().and_then(|all| all.iter().map(few_integers).collect());
        let texts: Option<Vec<Arc<str>>> =
            elements.iter().map(|&element| view.text(self.ground, element)).collect();
        let Some(texts) = texts else { return };
        for (place, element) in elements.iter().enumerate() {
            let Some(number) = element.known().filter(|number| *number > 0) else { continue };
            let numbers = match &lists {
                Some(lists) => match lists.iter().map(|list| list.get(place).copied()).collect::<Option<_>>()
                {
                    Some(numbers) => numbers,
                    None => continue,
                },
                None => vec![number; self.sources.models.len()],
            };
            for (tier, text) in fits(view, (self.ground, self.sources), at, &numbers, near) {
                let mut list = texts.clone();
                list[place] = text;
                let formula = Formula::Sizes(list, rank == 0, dtype);
                found.push(Candidate { node, input, formula, tier, divided: false });
            }
        }
    }

    /// Formulas for a table that is open along some axes.
    fn tables(
        &self,
        view: &mut ChangedModel,
        (node, input, at): (usize, usize, usize),
        near: &[Dim],
        found: &mut Vec<Candidate>,
    ) {
        let Some(all) = self.sources.constants(node, input) else { return };
        // Axes that are open already stay so.
        let before = match self.changes.get(&(node, input)) {
            Some(Formula::Table(table)) => table.axes.clone(),
            Some(_) => return,
            None => Vec::new(),
        };
        let rank = all[0].shape().rank();
        // One number, which a node computes with, is no table.
        let is_number = rank <= 1 && all.iter().all(|of| of.len() == 1);
        if is_number || all.iter().any(|of| of.shape().rank() != rank) {
            return;
        }
        let mut by_size: Vec<(Vec<i64>, Vec<usize>)> = Vec::new();
        for axis in (0..rank).filter(|axis| !before.iter().any(|(open, _)| open == axis)) {
            let numbers: Vec<_> = all.iter().map(|of| i64_of(of.shape().dims()[axis])).collect();
            match by_size.iter_mut().find(|(own, _)| *own == numbers) {
                Some((_, axes)) => axes.push(axis),
                None => by_size.push((numbers, vec![axis])),
            }
        }
        for (numbers, axes) in by_size {
            for (tier, text) in fits(view, (self.ground, self.sources), at, &numbers, near) {
                let alone = axes.iter().map(|axis| vec![*axis]);
                let together = (axes.len() > 1).then(|| axes.clone());
                for open in alone.chain(together) {
                    let tier = tier + u8::from(open.len() > 1);
                    let own = open.into_iter().map(|axis| (axis, text.clone()));
                    let mut open: Vec<_> = before.iter().cloned().chain(own).collect();
                    open.shared_sort();
                    let made = |table| Candidate {
                        node,
                        input,
                        formula: Formula::Table(table),
                        tier,
                        divided: false,
                    };
                    found.extend(table::patterns(&all, &open).into_iter().map(made));
                }
            }
        }
        for name in &self.ground.open {
            let at = (node, input);
            if let Some(formula) =
                rows::row_table(self.ground, self.sources, (&self.changes, &*view), at, name)
            {
                found.push(Candidate { node, input, formula, tier: 0, divided: false });
            }
        }
    }
}

/// The expressions of several numbers: for equal numbers one after the other, these the other way
/// round, and the same for all, each with the tier of the least likely.
fn together(options: &[Vec<RatedExpression>]) -> Vec<(u8, Vec<Arc<str>>)> {
    let most = options.iter().map(Vec::len).max().unwrap_or(0);
    if options.is_empty() || options.iter().any(Vec::is_empty) {
        return Vec::new();
    }
    let alike = |at: usize| (0..options.len()).filter(move |other| options[*other] == options[at]);
    let before = |at: usize| alike(at).filter(|other| *other < at).count();
    let after = |at: usize| alike(at).filter(|other| *other > at).count();
    let each = |place: &dyn Fn(usize) -> usize| {
        let own = options.iter().enumerate().map(|(at, own)| own[place(at).min(own.len() - 1)].clone());
        let (tiers, sizes): (Vec<_>, Vec<_>) = own.unzip();
        (tiers.into_iter().max().unwrap_or(0), sizes)
    };
    let mut found = vec![each(&before), each(&after)];
    found.extend((0..most).map(|place| each(&|_| place)));
    found.dedup();
    found.shared_sort_by_key(|(tier, _)| *tier);
    found
}

/// A whole float as an integer.
fn i64_of_float(value: f64) -> Option<i64> {
    truncated(value).and_then(|value| i64::try_from(value).ok())
}

/// Returns true if two shapes differ in the order of open sizes that are no 1.
fn are_exchanged(a: &[Dim], b: &[Dim], wanted: &[i64]) -> bool {
    let is_same = |axis: &usize| {
        a[*axis] == b[*axis]
            || (a[*axis].known().is_none()
                && b[*axis].known().is_none()
                && wanted[*axis] > 1
                && a.contains(&b[*axis])
                && b.contains(&a[*axis]))
    };
    a != b && (0..a.len()).all(|axis| is_same(&axis))
}

/// Returns true if a text has no symbols but those of a size.
fn is_of(view: &ChangedModel, text: &str, dim: Dim) -> bool {
    let Ok(expression) = crate::dim::Expression::parse(text) else { return false };
    let symbols = view.inference.symbols().symbols_of(dim);
    expression.names().iter().all(|name| symbols.iter().any(|symbol| symbol.name == *name))
}

/// The shape that a Reshape wants, without 0 and -1.
fn resolved(data: &[i64], wanted: &[i64], allow_zero: bool) -> Option<Vec<i64>> {
    let mut all: Vec<i64> = Vec::with_capacity(wanted.len());
    for (axis, &size) in wanted.iter().enumerate() {
        all.push(if size == 0 && !allow_zero { *data.get(axis)? } else { size });
    }
    if let Some(open) = all.iter().position(|size| *size == -1) {
        let rest: i64 =
            all.iter().enumerate().filter(|(axis, _)| *axis != open).map(|(_, size)| size).product();
        all[open] = data.iter().product::<i64>().checked_div(rest)?;
    }
    (all.iter().product::<i64>() == data.iter().product::<i64>()).then_some(all)
}

/// The elements of a small tensor that are whole numbers, whatever its type.
fn whole_numbers(tensor: &Tensor) -> Option<Vec<i64>> {
    if let Some(numbers) = few_integers(tensor) {
        return Some(numbers);
    }
    if tensor.len() > 1 || tensor.shape().rank() > 1 || !tensor.dtype().is_float() {
        return None;
    }
    let whole = |number| match number {
        Number::Float(value) if value.fract() == 0.0 && value.abs() < 1e15 => i64_of_float(value),
        _ => None,
    };
    tensor.numbers().ok()?.map(whole).collect()
}
