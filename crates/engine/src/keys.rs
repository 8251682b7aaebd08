//! Keys of the contents of attributes and tensors: equal contents have equal keys. Floats are
//! compared by their bits.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use bytes::Bytes;
use gradus_core::graph::{Content, Strings};
use gradus_core::{DType, Tensor};

/// The type, sizes and bytes of a tensor.
pub type TensorKey = Box<(DType, Vec<usize>, Bytes)>;

/// The content of an attribute. Lists are those of the node: they may be long.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ContentKey {
    /// A float, by its bits.
    Float(u32),
    /// Floats, by their bits.
    Floats(FloatsKey),
    /// An integer.
    Int(i64),
    /// Integers.
    Ints(Arc<[i64]>),
    /// Text, however it is stored.
    Text(Bytes),
    /// Texts.
    Texts(Strings),
    /// A tensor.
    Tensor(TensorKey),
    /// A meaning of an older version.
    Older(String),
}

impl ContentKey {
    /// The key of a content; nothing for graphs and parameters, and for tensors that cannot be read.
    pub fn of(content: &Content) -> Option<ContentKey> {
        Some(match content {
            Content::Float(value) => ContentKey::Float(value.to_bits()),
            Content::Floats(all) => ContentKey::Floats(FloatsKey(all.clone())),
            Content::Int(value) => ContentKey::Int(*value),
            Content::Ints(all) => ContentKey::Ints(all.clone()),
            Content::Bytes(bytes) => ContentKey::Text(bytes.clone()),
            Content::Text(text) => ContentKey::Text(Bytes::copy_from_slice(text.as_bytes())),
            Content::Strings(all) => ContentKey::Texts(all.clone()),
            Content::Tensor(constant) => ContentKey::Tensor(tensor_key(&constant.tensor().ok()?)?),
            _ => return None,
        })
    }
}

/// The key of a tensor; nothing for texts.
pub fn tensor_key(tensor: &Tensor) -> Option<TensorKey> {
    Some(Box::new((tensor.dtype(), tensor.shape().dims().to_vec(), tensor.bytes()?.clone())))
}

/// Floats by their bits.
#[derive(Clone, Debug)]
pub struct FloatsKey(pub Arc<[f32]>);

impl FloatsKey {
    fn bits(&self) -> impl Iterator<Item = u32> {
        self.0.iter().map(|x| x.to_bits())
    }
}

impl PartialEq for FloatsKey {
    fn eq(&self, other: &FloatsKey) -> bool {
        self.bits().eq(other.bits())
    }
}

impl Eq for FloatsKey {}

impl Hash for FloatsKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bits().for_each(|bits| bits.hash(state));
    }
}
