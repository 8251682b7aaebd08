//! Rules about constants, wherever the file has them.

use std::hash::BuildHasher;
use std::num::FpCategory;

use foldhash::fast::FixedState;
use foldhash::{HashMap, HashMapExt as _};
use gradus_core::convert::u64_of;
use gradus_core::element::of::{BF16, F16};
use gradus_core::error::Position;
use gradus_core::graph::{Constant, Graph, ValueId};
use gradus_core::text::name_in_message;
use gradus_core::{DType, Result, Tensor};

use super::Fault;
use super::subject::{Subject, held};

/// Fewest bytes of a constant whose place, type or copies matter.
const LARGE: u128 = 1 << 10;

/// Fewest bytes of integers of 64 bits that matter.
const LARGE_INTEGERS: u128 = 1 << 20;

/// A constant, and what its elements are.
pub(super) struct ScannedConstant {
    place: String,
    constant: Constant,
    position: Option<Position>,
    is_in_node: bool,
    is_read: bool,
    kinds: Kinds,
    /// A digest of the elements of a large one.
    digest: Option<u64>,
    /// Why its elements cannot be read.
    error: Option<String>,
}

/// Numbers of elements by kind.
#[derive(Clone, Copy, Default)]
struct Kinds {
    nan: usize,
    infinite: usize,
    subnormal: usize,
}

impl Kinds {
    fn of(categories: impl Iterator<Item = FpCategory>) -> Kinds {
        categories.fold(Kinds::default(), |mut kinds, category| {
            match category {
                FpCategory::Nan => kinds.nan += 1,
                FpCategory::Infinite => kinds.infinite += 1,
                FpCategory::Subnormal => kinds.subnormal += 1,
                FpCategory::Zero | FpCategory::Normal => {}
            }
            kinds
        })
    }

    fn of_tensor(tensor: &Tensor) -> Result<Kinds> {
        Ok(match tensor.dtype() {
            DType::F64 => Kinds::of(tensor.elements::<f64>()?.iter().map(|it| it.classify())),
            DType::F32 => Kinds::of(tensor.elements::<f32>()?.iter().map(|it| it.classify())),
            DType::F16 => Kinds::of(tensor.elements::<F16>()?.iter().map(|it| it.classify())),
            DType::BF16 => Kinds::of(tensor.elements::<BF16>()?.iter().map(|it| it.classify())),
            _ => Kinds::default(),
        })
    }
}

/// Reads all constants once.
pub(super) fn scan(of: &Subject<'_>) -> Result<Vec<ScannedConstant>> {
    let mut all = Vec::new();
    for (label, graph) in of.graphs() {
        let needed = of.needed(graph);
        let name = |id: ValueId| place(&label, graph, id);
        for (id, constant) in graph.constants() {
            of.limits.check()?;
            all.push(scanned(name(*id), constant, false, needed.values[id.index()]));
        }
        for node in graph.nodes() {
            if let (Some(constant), Some(&Some(id))) = (held(node), node.outputs.first()) {
                let found = scanned(name(id), constant, true, needed.values[id.index()]);
                all.push(ScannedConstant { position: found.position.or(node.position), ..found });
            }
        }
    }
    Ok(all)
}

fn place(label: &str, graph: &Graph, id: ValueId) -> String {
    format!("{label}constant \"{}\"", name_in_message(&graph.value(id).name))
}

fn scanned(place: String, constant: &Constant, is_in_node: bool, is_read: bool) -> ScannedConstant {
    let mut found = ScannedConstant {
        place,
        constant: constant.clone(),
        position: constant.position(),
        is_in_node,
        is_read,
        kinds: Kinds::default(),
        digest: None,
        error: None,
    };
    let look = || {
        let tensor = constant.tensor()?;
        let bytes = tensor.bytes().filter(|bytes| u128::from(u64_of(bytes.len())) >= LARGE);
        let digest = bytes.map(|bytes| FixedState::default().hash_one(&bytes[..]));
        Ok::<_, gradus_core::Error>((Kinds::of_tensor(&tensor)?, digest))
    };
    match look() {
        Ok((kinds, digest)) => (found.kinds, found.digest) = (kinds, digest),
        Err(error) => found.error = Some(error.to_string()),
    }
    found
}

/// The findings about the constants for which a function has a message.
fn about(of: &mut Subject<'_>, says: impl Fn(&ScannedConstant) -> Option<String>) -> Result<Vec<Fault>> {
    let found = of
        .scanned()?
        .iter()
        .filter_map(|it| Some(Fault::at(it.place.clone(), says(it)?).positioned(it.position)));
    Ok(found.collect())
}

fn of_elements(count: usize, of: &ScannedConstant, what: &str) -> Option<String> {
    (count > 0).then(|| format!("{count} of {} elements are {what}", of.constant.shape().len()))
}

/// Constants whose elements cannot be read.
pub(super) fn unreadable(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    about(of, |it| it.error.clone())
}

/// Constants with NaN.
pub(super) fn nan(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    about(of, |it| of_elements(it.kinds.nan, it, "NaN"))
}

/// Constants with infinities.
pub(super) fn infinite(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    about(of, |it| of_elements(it.kinds.infinite, it, "infinite"))
}

/// Constants with subnormal numbers.
pub(super) fn subnormal(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    about(of, |it| of_elements(it.kinds.subnormal, it, "subnormal"))
}

/// Constants that no output depends on.
pub(super) fn unread(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    about(of, |it| {
        let bytes = it.constant.byte_len();
        (!it.is_read).then(|| format!("no output depends on it; it takes {bytes} bytes"))
    })
}

/// Large constants in nodes `Constant`.
pub(super) fn in_nodes(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    about(of, |it| {
        let bytes = it.constant.byte_len();
        (it.is_in_node && bytes >= LARGE).then(|| format!("{bytes} bytes are in a node Constant"))
    })
}

/// Large constants with the same elements as another.
pub(super) fn copies(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    let mut seen: HashMap<_, Vec<&ScannedConstant>> = HashMap::new();
    let mut found = Vec::new();
    for it in of.scanned()? {
        let Some(digest) = it.digest else { continue };
        let key = (it.constant.dtype(), it.constant.shape().clone(), digest);
        let earlier = seen.entry(key).or_default();
        match earlier.iter().find(|other| has_bytes_of(it, other)) {
            Some(first) => {
                let message = format!("has the {} bytes of {}", it.constant.byte_len(), first.place);
                found.push(Fault::at(it.place.clone(), message).positioned(it.position));
            }
            None => earlier.push(it),
        }
    }
    Ok(found)
}

fn has_bytes_of(it: &ScannedConstant, other: &ScannedConstant) -> bool {
    let [a, b] = [it, other].map(|it| it.constant.tensor().ok());
    matches!((a, b), (Some(a), Some(b)) if a.bytes() == b.bytes())
}

/// Constants of float64 in a model whose inputs and other constants are narrower floats.
pub(super) fn float64(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    let bytes = |all: &[ScannedConstant], is_asked: &dyn Fn(DType) -> bool| {
        let asked = all.iter().filter(|it| is_asked(it.constant.dtype()));
        asked.map(|it| it.constant.byte_len()).fold(0, u128::saturating_add)
    };
    let all = of.scanned()?;
    let wide = bytes(all, &|dtype| dtype == DType::F64);
    let narrow = bytes(all, &|dtype| dtype.is_float() && dtype != DType::F64);
    if wide == 0 || narrow < wide {
        return Ok(Vec::new());
    }
    about(of, |it| {
        let is_wide = it.constant.dtype() == DType::F64 && it.constant.shape().len() > 1;
        is_wide.then(|| "has float64 elements in a model of narrower floats".to_owned())
    })
}

/// Large constants of 64-bit integers.
pub(super) fn int64(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    about(of, |it| {
        let bytes = it.constant.byte_len();
        let is_large = it.constant.dtype() == DType::I64 && bytes >= LARGE_INTEGERS;
        is_large.then(|| format!("{bytes} bytes are integers of 64 bits"))
    })
}
