//! Inputs that two models share: what both declare of types and sizes.

use foldhash::{HashMap, HashSet, HashSetExt};
use gradus_core::graph::{Constant, DeclaredDim, Graph, Model, Type, ValueId};
use gradus_core::{Error, Kind, Result};
use gradus_engine::normalize::has_default_inputs;

/// Inputs of both models.
pub struct Shared {
    /// Names and types, in the order of the first model.
    pub inputs: Vec<(String, Option<Type>)>,
    /// Inputs that only one model has: its number, and their names.
    pub own: Vec<(usize, String)>,
}

/// A name of a size: the model, and the name in it.
type Name = (usize, Box<str>);

/// The inputs of a model that a caller may give.
fn given(model: &Model) -> impl Iterator<Item = ValueId> + '_ {
    let overridable = has_default_inputs(model);
    let graph = &model.graph;
    graph.inputs().iter().copied().filter(move |&id| overridable || graph.constant(id).is_none())
}

fn same_default(first: &Constant, second: &Constant) -> Result<bool> {
    if first.dtype() != second.dtype() || first.shape() != second.shape() {
        return Ok(false);
    }
    Ok(first.tensor()?.bytes() == second.tensor()?.bytes())
}

/// The inputs of two models, with the sizes of both: an axis has one size, whatever each calls it.
pub fn shared(models: [&Model; 2]) -> Result<Shared> {
    let find =
        |graph: &Graph, name: &str| graph.inputs().iter().copied().find(|&id| &*graph.value(id).name == name);
    let mut pairs: Vec<(String, [Option<ValueId>; 2])> = Vec::new();
    let mut own = Vec::new();
    let mut seen = HashSet::new();
    for (side, model) in models.into_iter().enumerate() {
        let other = models[1 - side];
        let others: HashSet<_> = given(other).map(|id| &*other.graph.value(id).name).collect();
        for id in given(model) {
            let name = &*model.graph.value(id).name;
            if !seen.insert(name) {
                continue;
            }
            let mut both = [None; 2];
            both[side] = Some(id);
            if others.contains(name) {
                both[1 - side] = find(&other.graph, name);
            } else {
                own.push((side, name.to_owned()));
            }
            if let [Some(a), Some(b)] = both
                && let (Some(first), Some(second)) =
                    (models[0].graph.constant(a), models[1].graph.constant(b))
                && !same_default(first, second)?
            {
                let message = format!("input \"{name}\" has another default in the second model");
                return Err(Error::new(Kind::Unsupported, message));
            }
            pairs.push((name.to_owned(), both));
        }
    }
    let mut sizes = Sizes { first: names_of(&models[0].graph), ..Sizes::default() };
    let mut merged = Vec::new();
    for (name, both) in pairs {
        let [first, second] = [0, 1].map(|side| {
            both[side].and_then(|id| models[side].graph.value(id).declared.clone()).map(|of| (side, of))
        });
        let declared = match (first, second) {
            (Some((_, Type::Tensor(a, sizes_a))), Some((_, Type::Tensor(b, sizes_b)))) => {
                if a.zip(b).is_some_and(|(a, b)| a != b) {
                    return Err(disagree(&name, "element types"));
                }
                if let (Some(x), Some(y)) = (&sizes_a, &sizes_b) {
                    if x.len() != y.len() {
                        return Err(disagree(&name, "ranks"));
                    }
                    for (x, y) in x.iter().zip(y) {
                        sizes.join((0, x), (1, y)).ok_or_else(|| disagree(&name, "sizes"))?;
                    }
                }
                let axes = match (sizes_a, sizes_b) {
                    (Some(x), Some(y)) => Some(x.into_iter().zip(y).map(|(x, y)| narrower(x, y)).collect()),
                    (Some(all), None) => Some(all.into_iter().map(|size| (0, size)).collect()),
                    (None, all) => all.map(|all| all.into_iter().map(|size| (1, size)).collect()),
                };
                Declared::Tensor(a.or(b), axes)
            }
            (Some((_, a)), Some((_, b))) if a != b => return Err(disagree(&name, "types")),
            (Some((side, of)), _) | (None, Some((side, of))) => match of {
                Type::Tensor(dtype, all) => {
                    Declared::Tensor(dtype, all.map(|all| all.into_iter().map(|size| (side, size)).collect()))
                }
                other => Declared::Other(other),
            },
            (None, None) => Declared::None,
        };
        merged.push((name, declared));
    }
    let named = merged.into_iter().map(|(name, declared)| (name, sizes.written(declared))).collect();
    Ok(Shared { inputs: named, own })
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

/// The size that says more, of two that models declare of an axis.
fn narrower(first: DeclaredDim, second: DeclaredDim) -> (usize, DeclaredDim) {
    let known = |size: &DeclaredDim| matches!(size, DeclaredDim::Known(_));
    let named = |size: &DeclaredDim| matches!(size, DeclaredDim::Symbol(_));
    if (known(&second) && !known(&first)) || (!known(&first) && !named(&first)) {
        (1, second)
    } else {
        (0, first)
    }
}

/// The declared type of a shared input, each size with the model whose names it has.
enum Declared {
    Tensor(Option<gradus_core::DType>, Option<Vec<(usize, DeclaredDim)>>),
    Other(Type),
    None,
}

/// Names of sizes that are one: the classes of a union.
#[derive(Default)]
struct Sizes {
    parents: HashMap<Name, Name>,
    known: HashMap<Name, usize>,
    /// Names of the first model.
    first: HashSet<Box<str>>,
}

/// Returns true if a declared size is a name, not an expression of names.
fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
        && !text.starts_with(|c: char| c.is_ascii_digit())
}

impl Sizes {
    fn root(&self, name: &Name) -> Name {
        let mut at = name;
        while let Some(parent) = self.parents.get(at) {
            at = parent;
        }
        at.clone()
    }

    fn fix(&mut self, name: &Name, size: usize) -> Option<()> {
        let root = self.root(name);
        (*self.known.entry(root).or_insert(size) == size).then_some(())
    }

    /// Lets an axis have the size that both declare; nothing if it has none.
    fn join(&mut self, first: (usize, &DeclaredDim), second: (usize, &DeclaredDim)) -> Option<()> {
        let name = |(side, size): (usize, &DeclaredDim)| match size {
            DeclaredDim::Symbol(text) if is_name(text) => Some((side, text.clone())),
            _ => None,
        };
        match (first.1, second.1) {
            (DeclaredDim::Known(a), DeclaredDim::Known(b)) => (a == b).then_some(()),
            (DeclaredDim::Known(size), _) => name(second).map_or(Some(()), |of| self.fix(&of, *size)),
            (_, DeclaredDim::Known(size)) => name(first).map_or(Some(()), |of| self.fix(&of, *size)),
            _ => {
                let (Some(a), Some(b)) = (name(first), name(second)) else { return Some(()) };
                let (a, b) = (self.root(&a), self.root(&b));
                if a != b {
                    // Names of the first model are kept.
                    let (parent, child) = if b.0 < a.0 { (b, a) } else { (a, b) };
                    if let Some(size) = self.known.remove(&child) {
                        self.fix(&parent, size)?;
                    }
                    self.parents.insert(child, parent);
                }
                Some(())
            }
        }
    }

    fn written(&self, declared: Declared) -> Option<Type> {
        match declared {
            Declared::Tensor(dtype, sizes) => {
                let sizes = sizes.map(|all| all.iter().map(|(side, size)| self.size(*side, size)).collect());
                Some(Type::Tensor(dtype, sizes))
            }
            Declared::Other(of) => Some(of),
            Declared::None => None,
        }
    }

    /// A declared size under the name that it has in both models.
    fn size(&self, side: usize, size: &DeclaredDim) -> DeclaredDim {
        match size {
            DeclaredDim::Symbol(text) if is_name(text) => {
                let root = self.root(&(side, text.clone()));
                match self.known.get(&root) {
                    Some(&len) => DeclaredDim::Known(len),
                    // A name of the second model alone may mean something else in the first.
                    None if root.0 == 1 && self.first.contains(&root.1) => {
                        DeclaredDim::Symbol(format!("{}_second", root.1).into())
                    }
                    None => DeclaredDim::Symbol(root.1),
                }
            }
            // An expression of names, which may be others in the second model.
            DeclaredDim::Symbol(_) if side == 1 => DeclaredDim::Unknown,
            other => other.clone(),
        }
    }
}
