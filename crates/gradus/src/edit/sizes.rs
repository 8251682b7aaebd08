//! Other sizes of inputs, and of what is computed of them.

use std::collections::{BTreeMap, BTreeSet};

use gradus_core::convert::{i64_of, usize_of_i64};
use gradus_core::graph::{Origin, Type, ValueInfo};

use super::apply::{counted, quoted};
use super::{DeclaredDim, Editor, Result, ValueId};
use crate::declare::{Telling, graph_at};
use crate::dim::Dim;
use crate::fact::Fact;
use gradus_engine::infer::{InferOptions, SubgraphFacts, symbols_of_inputs};

impl Editor {
    /// Declares other sizes of an input.
    pub(super) fn input_shape(&mut self, input: &str, sizes: &[DeclaredDim]) -> Result<()> {
        let of = Type::Tensor(None, Some(sizes.to_vec()));
        let before = self.symbols();
        let source = self.now.with_input_types([(input, &of)])?.source().clone();
        self.now = self.now.with_source(source);
        let options = InferOptions::default();
        let count = self.redeclare(&options, &before)?;
        let id = self.now.input(input)?;
        let listed = self.listed(&[id]);
        let follow = counted(count, "type");
        self.note(format_args!("declared input {listed}, and {follow} of other values"));
        Ok(())
    }

    /// Opens sizes of inputs.
    #[cfg(feature = "fold")]
    pub(super) fn dynamic(&mut self, options: &crate::dynamic::DynamicOptions) -> Result<()> {
        let dynamic = self.now.dynamic(options)?;
        self.notes.extend(dynamic.notes());
        self.now = self.now.with_source(dynamic.model);
        Ok(())
    }

    /// Puts a number in the place of a symbol.
    pub(super) fn fix_dim(&mut self, name: &str, size: usize) -> Result<()> {
        let before = self.symbols();
        let mut options = InferOptions::default();
        options.sizes.dims.insert(name.to_owned(), i64_of(size));
        let count = self.redeclare(&options, &before)?;
        let types = counted(count, "declared type");
        self.note(format_args!("fixed dimension {} at {size} in {types}", quoted(name)));
        Ok(())
    }

    fn symbols(&self) -> BTreeSet<String> {
        symbols_of_inputs(self.graph(), &BTreeMap::new())
    }

    /// Declares types again where sizes of the inputs are no longer those that `before` names, and
    /// returns how many: what is declared and still right stays.
    fn redeclare(&mut self, options: &InferOptions, before: &BTreeSet<String>) -> Result<usize> {
        let mut options = options.clone();
        options.ignore_declared = true;
        let inference = self.now.infer(&options)?;
        inference.must_be_consistent("cannot change sizes")?;
        let (facts, symbols, bodies, _) = inference.into_parts();
        let telling = Telling::new(self.now.source(), &symbols, &options);
        let gone: BTreeSet<_> = before.difference(&self.symbols()).cloned().collect();
        let again = Redeclared { facts, bodies, telling, gone, fixed: &options.sizes.dims };
        let mut source = self.now.source().clone();
        let (old, mut count) = (source.graph.clone(), 0);
        source.graph.declare(&mut |place, id| {
            let info = graph_at(&old, place)?.value(id);
            let of = again.of(info, again.fact(place, id)?)?;
            (info.declared.as_ref() != Some(&of)).then(|| {
                count += 1;
                of
            })
        });
        self.now = self.now.with_source(source);
        Ok(count)
    }
}

/// Types that are declared anew.
struct Redeclared<'a> {
    facts: Vec<Fact>,
    bodies: SubgraphFacts,
    telling: Telling<'a>,
    /// Symbols that no input has any more.
    gone: BTreeSet<String>,
    /// Symbols that are numbers.
    fixed: &'a BTreeMap<String, i64>,
}

impl Redeclared<'_> {
    fn fact(&self, place: &[(usize, usize)], id: ValueId) -> Option<&Fact> {
        match place {
            [] => self.facts.get(id.index()),
            _ => self.bodies.get(place)?.get(id.index()),
        }
    }

    /// The type that is declared of a value; nothing if that stays.
    fn of(&self, info: &ValueInfo, fact: &Fact) -> Option<Type> {
        let Some(Type::Tensor(dtype, Some(sizes))) = &info.declared else { return None };
        let dims = fact.as_tensor().and_then(|tensor| tensor.dims.as_deref());
        if info.origin == Origin::Constant {
            return None;
        }
        let Some(dims) = dims.filter(|dims| dims.len() == sizes.len()) else {
            let same = dims.is_none() && sizes.iter().all(|size| !self.is_stale(size));
            let anew = dims.map(|dims| dims.iter().map(|&dim| self.said(dim)).collect());
            return (!same).then_some(Type::Tensor(*dtype, anew));
        };
        // A symbol of an input that only one number fits stays until an edit gives it that number.
        let stays = |old: &DeclaredDim| {
            let is_symbol = matches!(old, DeclaredDim::Symbol(_)) && !self.is_stale(old);
            info.origin == Origin::Input && is_symbol
        };
        let sizes = sizes.iter().zip(dims);
        let sizes = sizes.map(|(old, &dim)| if stays(old) { old.clone() } else { self.size(old, dim) });
        let sizes = sizes.collect();
        Some(Type::Tensor(*dtype, Some(sizes)))
    }

    fn size(&self, old: &DeclaredDim, dim: Dim) -> DeclaredDim {
        match (old, dim.known().and_then(usize_of_i64)) {
            (_, Some(known)) => DeclaredDim::Known(known),
            (DeclaredDim::Known(_), None) => self.said(dim),
            (old, None) if self.is_stale(old) => self.said(dim),
            (old, None) => old.clone(),
        }
    }

    fn said(&self, dim: Dim) -> DeclaredDim {
        self.telling.size(dim).unwrap_or(DeclaredDim::Unknown)
    }

    /// Returns true if a declared size names a symbol that no input has, or that is a number.
    fn is_stale(&self, size: &DeclaredDim) -> bool {
        let DeclaredDim::Symbol(text) = size else { return false };
        let is_word = |word: &str| self.gone.contains(word) || self.fixed.contains_key(word);
        is_word(text)
            || text.split(|char: char| !(char.is_alphanumeric() || "_.".contains(char))).any(is_word)
    }
}
