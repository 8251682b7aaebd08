//! Inputs that two models share: what both declare of types and sizes.

use foldhash::{HashMap, HashSet};
use gradus_core::graph::{DeclaredDim, Graph, Model, Type, ValueId};
use gradus_core::{Error, Kind, Result};
use gradus_engine::normalize::has_default_inputs;

/// Inputs of both models.
pub struct SharedInputs {
    /// Names and types, in the order of the first model.
    pub inputs: Vec<(String, Option<Type>)>,
    /// Inputs that only one model has: its number, and their names.
    pub own: Vec<(usize, String)>,
}

/// A size: the model whose names it has, and how that declares it.
type Size = (usize, DeclaredDim);

/// The inputs of a model that a caller may give.
fn given(model: &Model) -> impl Iterator<Item = ValueId> + '_ {
    let overridable = has_default_inputs(model);
    let graph = &model.graph;
    graph.inputs().iter().copied().filter(move |&id| overridable || graph.constant(id).is_none())
}

/// The inputs of two models, with the sizes of both: an axis has one size, whatever each calls it.
pub fn shared(models: [&Model; 2]) -> Result<SharedInputs> {
    let name_of = |side: usize, id: ValueId| &*models[side].graph.value(id).name;
    let named = [0, 1].map(|side| given(models[side]).map(|id| (name_of(side, id), id)).collect());
    let named: [HashMap<&str, ValueId>; 2] = named;
    let (mut inputs, mut own) = (Vec::new(), Vec::new());
    let mut sizes = Sizes { first: names_of(&models[0].graph), ..Sizes::default() };
    for (side, model) in models.into_iter().enumerate() {
        for id in given(model) {
            let name = name_of(side, id);
            let both = [0, 1].map(|side: usize| named[side].get(name).copied());
            match both {
                [Some(_), Some(_)] if side == 1 => continue,
                [Some(a), Some(b)] => {
                    let defaults = (models[0].graph.constant(a), models[1].graph.constant(b));
                    if let (Some(first), Some(second)) = defaults
                        && first.tensor()? != second.tensor()?
                    {
                        let message = format!("input \"{name}\" has another default in the second model");
                        return Err(Error::new(Kind::Unsupported, message));
                    }
                }
                _ => own.push((side, name.to_owned())),
            }
            let declared =
                |side: usize| Some((side, models[side].graph.value(both[side]?).declared.as_ref()?));
            let declared: Vec<_> = [0, 1].into_iter().filter_map(declared).collect();
            if let [(_, first), (_, second)] = declared[..] {
                sizes.agree(first, second).map_err(|what| disagree(name, what))?;
            }
            inputs.push((name.to_owned(), declared));
        }
    }
    let inputs = inputs.into_iter().map(|(name, declared)| (name, sizes.written(&declared))).collect();
    Ok(SharedInputs { inputs, own })
}

fn disagree(name: &str, what: &str) -> Error {
    Error::new(Kind::Unsupported, format!("the models declare different {what} of input \"{name}\""))
}

/// All names of sizes of a graph's inputs.
fn names_of(graph: &Graph) -> HashSet<Box<str>> {
    let declared = graph.inputs().iter().filter_map(|&id| graph.value(id).declared.as_ref());
    let sizes = declared.flat_map(|of| if let Type::Tensor(_, Some(all)) = of { &all[..] } else { &[] });
    let names = sizes.filter_map(|size| if let DeclaredDim::Symbol(text) = size { Some(text) } else { None });
    names.cloned().collect()
}

/// Sizes that are one: the classes of a union.
#[derive(Default)]
struct Sizes {
    parents: HashMap<Size, Size>,
    /// Names of the first model.
    first: HashSet<Box<str>>,
}

/// Returns true if a declared size is a name, not an expression of names.
fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
        && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// A number or a name; nothing of expressions and ranges.
fn plain(side: usize, size: &DeclaredDim) -> Option<Size> {
    match size {
        DeclaredDim::Known(_) => Some((0, size.clone())),
        DeclaredDim::Symbol(text) if is_name(text) => Some((side, size.clone())),
        _ => None,
    }
}

impl Sizes {
    fn root(&self, size: &Size) -> Size {
        let mut at = size;
        while let Some(parent) = self.parents.get(at) {
            at = parent;
        }
        at.clone()
    }

    /// Lets types that both models declare be one.
    ///
    /// # Errors
    /// The part of them that is not the same.
    fn agree(&mut self, first: &Type, second: &Type) -> Result<(), &'static str> {
        let (Type::Tensor(a, x), Type::Tensor(b, y)) = (first, second) else {
            return if first == second { Ok(()) } else { Err("types") };
        };
        if a.zip(*b).is_some_and(|(a, b)| a != b) {
            return Err("element types");
        }
        let (Some(x), Some(y)) = (x, y) else { return Ok(()) };
        if x.len() != y.len() {
            return Err("ranks");
        }
        x.iter().zip(y).try_for_each(|(x, y)| self.join(x, y).ok_or("sizes"))
    }

    /// Lets an axis have the size that both declare; nothing if it has none.
    fn join(&mut self, first: &DeclaredDim, second: &DeclaredDim) -> Option<()> {
        let (Some(a), Some(b)) = (plain(0, first), plain(1, second)) else { return Some(()) };
        let (a, b) = (self.root(&a), self.root(&b));
        // Numbers come before names, and names of the first model before those of the second.
        let rank = |size: &Size| (matches!(size.1, DeclaredDim::Symbol(_)), size.0);
        let (parent, child) = if rank(&b) < rank(&a) { (b, a) } else { (a, b) };
        if parent != child {
            matches!(child.1, DeclaredDim::Symbol(_)).then(|| self.parents.insert(child, parent))?;
        }
        Some(())
    }

    /// The type of an input that models declare so, under the names that sizes have in both.
    fn written(&self, declared: &[(usize, &Type)]) -> Option<Type> {
        let (mut dtype, mut known) = (None, Vec::new());
        for (side, of) in declared {
            let Type::Tensor(own, sizes) = of else { return Some((*of).clone()) };
            dtype = dtype.or(*own);
            known.extend(sizes.as_ref().map(|sizes| (*side, sizes)));
        }
        let size = |axis: usize| {
            let all = known.iter().map(|(side, all)| (*side, &all[axis]));
            // The size that says more.
            let vague = |(_, size): &(usize, &DeclaredDim)| match size {
                DeclaredDim::Known(_) => 0,
                DeclaredDim::Symbol(_) => 1,
                _ => 2,
            };
            all.min_by_key(vague).map(|(side, size)| self.size(side, size))
        };
        let sizes = known.first().and_then(|(_, all)| (0..all.len()).map(size).collect());
        (!declared.is_empty()).then_some(Type::Tensor(dtype, sizes))
    }

    /// A declared size under the name that it has in both models.
    fn size(&self, side: usize, size: &DeclaredDim) -> DeclaredDim {
        match plain(side, size).map(|plain| self.root(&plain)) {
            // A name of the second model alone may mean something else in the first.
            Some((1, DeclaredDim::Symbol(text))) if self.first.contains(&text) => {
                DeclaredDim::Symbol(format!("{text}_second").into())
            }
            Some((_, root)) => root,
            // An expression of names, which may be others in the second model.
            None if side == 1 && matches!(size, DeclaredDim::Symbol(_)) => DeclaredDim::Unknown,
            None => size.clone(),
        }
    }
}
