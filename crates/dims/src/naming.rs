//! Names of symbols: symbols are made, found, fixed and renamed by them.

use std::sync::Arc;

use super::sum::Sum;
use super::{Atom, Bounds, Dim, Measure, Origin, Symbol, Symbols};

/// The name of a symbol for an axis of a value.
pub fn axis_name(name: &str, axis: usize) -> String {
    format!("{}_{axis}", end_of(name))
}

/// The end of a name, where names of nodes and values differ most. A value of many axes, or many
/// values that follow from one, are named by it.
fn end_of(name: &str) -> &str {
    /// Characters.
    const LONGEST: usize = 200;
    if name.len() <= LONGEST {
        return name;
    }
    name.char_indices().rev().take(LONGEST).last().map_or(name, |(at, _)| &name[at..])
}

impl Symbols {
    /// Lets a name stand for a known number from now on.
    pub fn fix(&mut self, name: &str, value: i64) {
        self.fixed.insert(name.into(), Dim::Known(value));
    }

    /// Bounds the size of inputs that has a name, or all sizes, before they have symbols.
    pub fn bound_inputs(&mut self, name: Option<&str>, bounds: Bounds) {
        match name {
            Some(name) => {
                self.ranges.insert(name.into(), bounds);
            }
            None => self.all_sizes = Some(bounds),
        }
    }

    /// The bounds of the size of inputs that has a name, as [`Symbols::bound_inputs`] got them.
    pub fn bounds_of_input(&self, name: &str) -> Option<Bounds> {
        self.ranges.get(name).copied()
    }

    /// The symbol of that name; made a dimension of an input if it is new.
    pub fn named(&mut self, name: &str) -> Dim {
        match (self.fixed.get(name), self.names.get(name)) {
            (Some(&dim), _) => dim,
            (None, Some(&index)) => self.symbol_dim(index),
            (None, None) => self.make(name, Origin::Input, Bounds::SIZE),
        }
    }

    /// The symbol of that name; made one that stands for any integer if it is new.
    pub fn integer(&mut self, name: &str) -> Dim {
        match self.names.get(name) {
            Some(&index) => self.symbol_dim(index),
            None => self.make(name, Origin::Input, Bounds::ANY),
        }
    }

    /// Makes a name a symbol that stands for an integer within bounds.
    pub(crate) fn bound_integer(&mut self, name: &str, bounds: Bounds) {
        self.make(name, Origin::Input, bounds);
    }

    /// Lets a name stand for a number of times another integer, which is within bounds, and a rest.
    pub(crate) fn stand_for_multiple(
        &mut self,
        name: &str,
        (times, rest): (i64, i64),
        bounds: Bounds,
    ) -> Option<()> {
        let part = self.make(&format!("{name}//{times}"), Origin::Input, bounds);
        let whole = self.multiply(part, Dim::Known(times))?;
        let whole = self.add(whole, Dim::Known(rest))?;
        self.fixed.insert(name.into(), whole);
        Some(())
    }

    /// The symbol of that name, if there is one.
    pub fn find(&self, name: &str) -> Option<Dim> {
        let index = *self.names.get(name)?;
        let atom = *self.atom_ids.get(&Atom::Symbol(index))?;
        self.expr_ids.get(&Sum::atom(atom)).map(|id| Dim::Symbolic(*id))
    }

    /// A symbol that is equal to no other, with a name like that.
    pub fn fresh(&mut self, hint: &str, origin: Origin, bounds: Bounds) -> Dim {
        if let (Some(min), Some(max)) = (bounds.lower(), bounds.upper())
            && min == max
        {
            return Dim::Known(min);
        }
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let hint: String = end_of(hint).trim_start_matches('/').chars().map(plain).collect();
        let hint =
            if hint.starts_with(|c: char| c.is_ascii_alphabetic()) { hint } else { format!("d{hint}") };
        if origin == Origin::Input && self.awaited.remove(hint.as_str()) {
            return self.named(&hint);
        }
        let mut name = hint.clone();
        let mut count = self.named.len();
        while self.names.contains_key(name.as_str()) {
            name = format!("{hint}_{count}");
            count += 1;
        }
        // An axis of an input that has no name of its own is fixed by the name that it would get.
        match self.fixed.get(name.as_str()) {
            Some(&dim) if origin == Origin::Input => dim,
            _ => self.make(&name, origin, bounds),
        }
    }

    /// Gives a symbol that was made for something unknown the name by which others know it; false
    /// if it is none of these, or the name is one of another.
    pub fn rename(&mut self, dim: Dim, name: &str) -> bool {
        let Some(index) = self.as_symbol_index(dim) else { return false };
        let at = gradus_core::convert::usize_of_u32(index);
        let is_taken = self.names.contains_key(name) || self.fixed.contains_key(name);
        if self.named[at].origin == Origin::Input || is_taken {
            return false;
        }
        let name: Arc<str> = name.into();
        self.names.remove(&self.named[at].name);
        self.names.insert(name.clone(), index);
        self.named[at].name = name;
        true
    }

    /// A symbol that is new, as an expression.
    pub(super) fn make(&mut self, name: &str, origin: Origin, bounds: Bounds) -> Dim {
        let index = gradus_core::convert::small_u32(self.named.len());
        let name: Arc<str> = name.into();
        let given = self.ranges.get(&name).copied().into_iter().chain(self.all_sizes);
        let bounds = if origin == Origin::Input { given.fold(bounds, Bounds::and) } else { bounds };
        self.names.insert(name.clone(), index);
        self.named.push(Symbol { name, origin });
        self.intern_atom(Atom::Symbol(index), Measure { bounds, size: 1 });
        self.symbol_dim(index)
    }

    /// The expression that is the symbol of an index alone.
    pub(super) fn symbol_dim(&mut self, index: u32) -> Dim {
        let atom = self.atom_ids[&Atom::Symbol(index)];
        self.atom_dim(atom)
    }
}
