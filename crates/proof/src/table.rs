//! Terms: each value of the joined graph as what it is made of. Equal terms are one.

use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

use foldhash::HashMap;
use gradus_core::convert::{Rules, i64_of};
use gradus_core::graph::Constant;
use gradus_core::{DType, Number, Result, Shape, Tensor};
use gradus_engine::dim::Dim;
use gradus_engine::fact::{Dims, Elements, TensorFact};
use serde::Serialize;

use crate::attributes::AttributesKey;

/// The number of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct TermId(u32);

/// Arguments of a term; optional ones may be missing.
pub type Arguments = Vec<Option<TermId>>;

/// An operator whose outputs are determined by attributes and arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Operator {
    /// The domain.
    pub domain: Arc<str>,
    /// The name.
    pub name: Arc<str>,
    /// What tells versions of different meanings apart.
    pub version: i64,
    /// The attributes in their newest form.
    pub attributes: AttributesKey,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// An input of both models.
    Input(Arc<str>),
    /// An input of a subgraph: its node without the graph, the number of graphs around it, its
    /// position, and what is known of its sizes.
    Parameter(TermId, usize, usize, Option<Arc<[Option<Dim>]>>),
    /// A value that is equal to no other: what chance decides, or nobody knows.
    Unique(usize, usize),
    /// A constant, by its number.
    Constant(usize),
    /// Integers, perhaps symbolic, in row-major order; of `bool`, 0 and 1.
    Integers(Dims),
    /// Integers: the first element, and the difference of neighbours in row-major order.
    Progression(Dim, Dim),
    /// Elements of a term.
    View(TermId, View),
    /// An output of an operator.
    Apply(Arc<Operator>, Arguments, usize),
    /// A subgraph: the number of its inputs, and its outputs.
    Graph(usize, Arguments),
}

/// The elements of a term that a view of it has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum View {
    /// All, in their order, in another shape.
    Reshape,
    /// All, with the axes in this order.
    Permute(Arc<[usize]>),
    /// All, broadcast.
    Expand,
    /// Those along an axis: the first, and the step.
    Slice(usize, Dim, i64),
}

/// What all values of a term have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Info {
    /// The element type.
    pub dtype: Option<DType>,
    /// The sizes.
    pub dims: Option<Dims>,
}

impl Info {
    /// A type and sizes that are known.
    pub fn of(dtype: DType, dims: impl Into<Dims>) -> Info {
        Info { dtype: Some(dtype), dims: Some(dims.into()) }
    }
}

/// Largest constant that is looked at whether all its elements are one.
const MAX_UNIFORM: usize = 1 << 21;

/// Maximum number of elements of a constant that gets the widest type.
const MAX_WIDENED: usize = 1 << 16;

/// A tensor of the widest floats, which has the same numbers.
fn widened(tensor: &Tensor) -> Option<Tensor> {
    Tensor::from_numbers(DType::F64, tensor.shape().clone(), tensor.numbers().ok()?, Rules::IEEE).ok()
}

/// All terms.
#[derive(Debug, Default)]
pub struct Table {
    terms: Vec<(Term, Info)>,
    ids: HashMap<(Term, Option<Info>), TermId>,
    constants: Vec<Constant>,
    by_bits: HashMap<(DType, Shape, u64), Vec<usize>>,
    by_storage: HashMap<(DType, Shape, usize), TermId>,
    /// Terms whose sizes became known after they were made.
    pub learned: usize,
    /// True if floats of all types are numbers: all have the widest type.
    pub reals: bool,
    /// True if long constants are equal only where they are stored as one, and are not read.
    pub reads_short: bool,
}

/// Maximum number of bytes of a constant that is always known by them.
pub const MAX_SHORT: u128 = 1 << 20;

impl Table {
    /// The number of terms.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// A term.
    pub fn term(&self, id: TermId) -> &Term {
        &self.terms[index(id)].0
    }

    /// What is known of a term.
    pub fn info(&self, id: TermId) -> &Info {
        &self.terms[index(id)].1
    }

    /// The sizes of a term, if their number is known.
    pub fn dims(&self, id: TermId) -> Option<&Dims> {
        self.info(id).dims.as_ref()
    }

    /// The element type of a term.
    pub fn dtype(&self, id: TermId) -> Option<DType> {
        self.info(id).dtype
    }

    /// The type that values of a type have: floats have one if they are numbers.
    pub fn widest(&self, dtype: DType) -> DType {
        if self.reals && dtype.is_float() { DType::F64 } else { dtype }
    }

    /// The term, made if it is new. Operators determine what is known of their outputs; of all
    /// others, type and sizes are a part of what they are.
    pub fn intern(&mut self, term: Term, mut info: Info) -> TermId {
        info.dtype = info.dtype.map(|dtype| self.widest(dtype));
        let determined = matches!(term, Term::Apply(..) | Term::Input(_) | Term::Unique(..));
        let known = (!determined).then(|| info.clone());
        let key = (term, known);
        if let Some(&id) = self.ids.get(&key) {
            let own = &mut self.terms[index(id)].1;
            if own.dims.is_none() && info.dims.is_some() {
                own.dims = info.dims;
                self.learned += 1;
            }
            return id;
        }
        let id = TermId(gradus_core::convert::small_u32(self.terms.len()));
        self.terms.push((key.0.clone(), info));
        self.ids.insert(key, id);
        id
    }

    /// The term of a constant: integers if it is short, a scalar that is broadcast if all elements
    /// are one.
    pub fn constant(&mut self, constant: &Constant) -> Result<TermId> {
        if !self.reads_short || constant.byte_len() <= MAX_SHORT {
            return Ok(self.tensor(&constant.tensor()?));
        }
        let (dtype, shape) = (constant.dtype(), constant.shape());
        let key = (dtype, shape.clone(), constant.identity());
        if let Some(&known) = self.by_storage.get(&key) {
            return Ok(known);
        }
        let dims: Dims = shape.dims().iter().map(|&size| Dim::Known(i64_of(size))).collect();
        // The table keeps the constant, so that no other gets its identity.
        self.constants.push(constant.clone());
        let term = self.intern(Term::Constant(self.constants.len() - 1), Info::of(dtype, dims));
        self.by_storage.insert(key, term);
        Ok(term)
    }

    /// The term of a tensor.
    pub fn tensor(&mut self, tensor: &Tensor) -> TermId {
        let short = tensor.dtype().is_float() && tensor.len() <= MAX_WIDENED;
        let wide = (self.reals && short && tensor.dtype() != DType::F64).then(|| widened(tensor)).flatten();
        let tensor = wide.as_ref().unwrap_or(tensor);
        let fact = TensorFact::of(tensor.clone());
        let info = Info { dtype: fact.dtype, dims: fact.dims.clone() };
        if let Elements::Integers(all) = &fact.elements {
            return self.integers(all.clone(), info);
        }
        if tensor.shape().rank() > 0
            && tensor.byte_len() <= MAX_UNIFORM
            && let Some(scalar) = uniform(tensor)
        {
            let scalar = self.tensor(&scalar);
            return self.intern(Term::View(scalar, View::Expand), info);
        }
        // Elements of constants are in one row, so that a constant in another shape is a view.
        if tensor.shape().rank() > 1
            && let Ok(flat) = tensor.reshaped(Shape::vector(tensor.len()))
        {
            let row = self.tensor(&flat);
            return self.intern(Term::View(row, View::Reshape), info);
        }
        let number = self.number(tensor);
        self.intern(Term::Constant(number), info)
    }

    /// The term of integers; of equal ones, a scalar that is broadcast.
    pub fn integers(&mut self, all: Dims, info: Info) -> TermId {
        let is_scalar = info.dims.as_ref().is_some_and(|dims| dims.is_empty());
        match all.first() {
            Some(&first) if !is_scalar && all.iter().all(|&dim| dim == first) => {
                let scalar = Info { dims: Some(Arc::from([])), ..info.clone() };
                let scalar = self.intern(Term::Integers([first].into()), scalar);
                self.intern(Term::View(scalar, View::Expand), info)
            }
            _ => self.intern(Term::Integers(all), info),
        }
    }

    /// The number of a constant of these bits.
    fn number(&mut self, tensor: &Tensor) -> usize {
        let hasher = foldhash::quality::FixedState::default();
        let hash = match (tensor.bytes(), tensor.texts()) {
            (Some(bytes), _) => hasher.hash_one(&**bytes),
            (None, Ok(texts)) => hasher.hash_one(texts),
            (None, Err(_)) => 0,
        };
        let alike = self.by_bits.entry((tensor.dtype(), tensor.shape().clone(), hash)).or_default();
        let is_same = |number: &&usize| self.constants[**number].tensor().is_ok_and(|own| own == *tensor);
        if let Some(&number) = alike.iter().find(is_same) {
            return number;
        }
        alike.push(self.constants.len());
        self.constants.push(tensor.clone().into());
        self.constants.len() - 1
    }

    /// The term that a term is a view, permutation, broadcast or slice of.
    pub fn viewed(&self, id: TermId) -> Option<TermId> {
        if let Term::View(inner, _) = self.term(id) { Some(*inner) } else { None }
    }

    /// The tensor that a term is, if it is a constant that is stored.
    pub fn stored(&self, id: TermId) -> Option<Tensor> {
        if let Term::Constant(number) = self.term(id) { self.constants[*number].tensor().ok() } else { None }
    }

    /// The only element of a constant of one element, or of one that is broadcast.
    pub fn scalar(&self, id: TermId) -> Option<Number> {
        match self.term(id) {
            Term::View(inner, View::Expand | View::Reshape) => self.scalar(*inner),
            Term::Integers(all) if all.len() == 1 => Some(Number::Int(all[0].known()?.into())),
            Term::Constant(_) => self.stored(id)?.only_number().ok(),
            _ => None,
        }
    }

    /// The integers that a term is, one by one.
    pub fn elements(&self, id: TermId) -> Option<Vec<Dim>> {
        /// Maximum number of integers that a broadcast one is written out to.
        const MAX_ELEMENTS: i64 = 1 << 10;
        match self.term(id) {
            Term::Integers(all) => Some(all.to_vec()),
            Term::View(inner, View::Expand) => {
                let [element] = self.elements(*inner)?[..] else { return None };
                let sizes = self.dims(id)?.iter().map(|dim| dim.known());
                let len = sizes.reduce(|a, b| a?.checked_mul(b?)).unwrap_or(Some(1))?;
                let len = usize::try_from(len).ok().filter(|_| len <= MAX_ELEMENTS)?;
                Some(vec![element; len])
            }
            _ => None,
        }
    }

    /// The integers that a term is, if all are numbers.
    pub fn numbers(&self, id: TermId) -> Option<Vec<i64>> {
        self.elements(id)?.into_iter().map(Dim::known).collect()
    }
}

fn index(id: TermId) -> usize {
    gradus_core::convert::usize_of_u32(id.0)
}

/// The element of a tensor all of whose elements have the same bits, as a scalar.
fn uniform(tensor: &Tensor) -> Option<Tensor> {
    let (bits, bytes) = (tensor.dtype().bits(), tensor.bytes()?);
    let first = bytes.get(..bits / 8).filter(|first| bits.is_multiple_of(8) && !first.is_empty())?;
    let is_uniform = bytes.chunks_exact(first.len()).all(|element| element == first);
    let scalar = Tensor::from_bytes(tensor.dtype(), Shape::new([]).ok()?, bytes.slice_ref(first));
    scalar.ok().filter(|_| is_uniform)
}
