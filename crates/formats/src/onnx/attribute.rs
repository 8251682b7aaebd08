//! `AttributeProto`.

use std::sync::Arc;

use bytes::Bytes;
use gradus_core::graph::{Attribute, Content, StringsBuilder};
use gradus_core::{Error, Kind, Result, room_for};
use smallvec::SmallVec;

use super::fields::{attribute_proto, attribute_proto_attribute_type as kind};
use super::model::{ModelReader, Opsets};
use super::{graph, sparse, tensor, types};
use crate::wire::{ByteSpan, Field};

/// Reads `AttributeProto`. `depth` is how many graphs are around it.
pub(super) fn read(
    reader: &ModelReader,
    span: ByteSpan<'_>,
    opsets: &Opsets,
    depth: usize,
) -> Result<Attribute> {
    let (mut name, mut parameter, mut stated, mut first) = ("", "", 0, None);
    let (mut lists, mut fields) = (Lists::default(), SmallVec::<[Field<'_>; 2]>::new());
    for field in span.fields() {
        let field = field?;
        match field.number {
            attribute_proto::NAME => name = field.text()?,
            attribute_proto::REF_ATTR_NAME => parameter = field.text()?,
            attribute_proto::TYPE => stated = field.int()?,
            attribute_proto::DOC_STRING => {}
            number => {
                first.get_or_insert(number);
                let listed = lists.push(reader, span, &field);
                if !listed.map_err(|error| error.in_node(format!("attribute \"{name}\"")))? {
                    fields.push(field);
                }
            }
        }
    }
    if name.is_empty() {
        return Err(span.error(Kind::Syntax, "an attribute has no name"));
    }
    let stated = if stated == 0 { first.and_then(kind_of) } else { i32::try_from(stated).ok() };
    // Graphs are found again by their order when a file is edited.
    let is_graph = |field: &&Field<'_>| matches!(field.number, attribute_proto::G | attribute_proto::GRAPHS);
    let reads = |field: &Field<'_>| parameter.is_empty() && kind_of(field.number) == stated;
    if let Some(other) = fields.iter().filter(is_graph).find(|field| !reads(field)) {
        return Err(other.span()?.error(Kind::Syntax, "the attribute has a graph, and is of another kind"));
    }
    let copied = lists.copied;
    // An allocation that fails would end the process. The list that is shared has two counters.
    drop(room_for(copied.saturating_add(2 * size_of::<usize>()))?);
    let content = if parameter.is_empty() {
        let content = AttributeReader { reader, span, opsets, depth, fields: &fields }.content(stated, lists);
        content.map_err(|error| error.in_node(format!("attribute \"{name}\"")))?
    } else {
        Content::Parameter(parameter.into())
    };
    reader.release(copied);
    let content = reader.lists.borrow_mut().share(content);
    Ok(Attribute { name: reader.intern(name), content })
}

/// The kind of an attribute that does not state it, by the field that it has. Old files are like
/// that.
fn kind_of(field: u32) -> Option<i32> {
    Some(match field {
        attribute_proto::F => kind::FLOAT,
        attribute_proto::I => kind::INT,
        attribute_proto::S => kind::STRING,
        attribute_proto::T => kind::TENSOR,
        attribute_proto::G => kind::GRAPH,
        attribute_proto::TP => kind::TYPE_PROTO,
        attribute_proto::SPARSE_TENSOR => kind::SPARSE_TENSOR,
        attribute_proto::FLOATS => kind::FLOATS,
        attribute_proto::INTS => kind::INTS,
        attribute_proto::STRINGS => kind::STRINGS,
        attribute_proto::TENSORS => kind::TENSORS,
        attribute_proto::GRAPHS => kind::GRAPHS,
        attribute_proto::TYPE_PROTOS => kind::TYPE_PROTOS,
        attribute_proto::SPARSE_TENSORS => kind::SPARSE_TENSORS,
        _ => return None,
    })
}

/// Lists that may have a field for each of their elements, which are read as they are met.
#[derive(Default)]
struct Lists {
    floats: Vec<f32>,
    ints: Vec<i64>,
    strings: StringsBuilder,
    /// Bytes that are charged for the copy of a list that its readers share, besides the list.
    copied: usize,
}

impl Lists {
    /// Appends the elements of a field, if it is one of a list.
    fn push(&mut self, reader: &ModelReader, span: ByteSpan<'_>, field: &Field<'_>) -> Result<bool> {
        let bytes = match field.number {
            attribute_proto::FLOATS => field.elements(4).saturating_mul(size_of::<f32>()),
            attribute_proto::INTS => field.elements(1).saturating_mul(size_of::<i64>()),
            attribute_proto::STRINGS => size_of::<Bytes>(),
            _ => return Ok(false),
        };
        reader.charge(span, bytes.saturating_mul(2))?;
        self.copied += bytes;
        match field.number {
            attribute_proto::FLOATS => {
                make_room(&mut self.floats, field.elements(4))?;
                field.push_floats(&mut self.floats)?;
            }
            attribute_proto::INTS => {
                make_room(&mut self.ints, field.elements(1))?;
                field.push_ints(&mut self.ints)?;
            }
            _ => self.strings.push(field.span()?.bytes())?,
        }
        Ok(true)
    }
}

/// Makes room for more elements of a list.
///
/// # Errors
/// [`Kind::Limit`] if the system has not as many bytes left.
fn make_room<T>(list: &mut Vec<T>, count: usize) -> Result<()> {
    list.try_reserve(count).map_err(|_| {
        let bytes = (list.len() + count).saturating_mul(size_of::<T>());
        Error::new(Kind::Limit, format!("cannot allocate {bytes} bytes: the system has not as many left"))
    })
}

struct AttributeReader<'r, 'a> {
    reader: &'r ModelReader,
    span: ByteSpan<'a>,
    opsets: &'r Opsets,
    depth: usize,
    fields: &'r [Field<'a>],
}

impl<'a> AttributeReader<'_, 'a> {
    fn content(&self, stated: Option<i32>, lists: Lists) -> Result<Content> {
        use attribute_proto as at;
        Ok(match stated {
            Some(kind::FLOAT) => Content::Float(self.last(at::F, Field::float, 0.0)?),
            Some(kind::INT) => Content::Int(self.last(at::I, Field::int, 0)?),
            Some(kind::STRING) => {
                Content::Bytes(self.last(at::S, |field| Ok(field.span()?.bytes()), Bytes::new())?)
            }
            Some(kind::TENSOR) => {
                Content::Tensor(self.one(at::T, |span| Ok(tensor::read(self.reader, span)?.1))?)
            }
            Some(kind::SPARSE_TENSOR) => {
                Content::Tensor(self.one(at::SPARSE_TENSOR, |span| Ok(sparse::read(self.reader, span)?.1))?)
            }
            Some(kind::GRAPH) => Content::Graph(self.one(at::G, |span| self.graph(span))?),
            Some(kind::TYPE_PROTO) => {
                let read = |span: ByteSpan<'_>| {
                    types::read(span, 0)?.ok_or_else(|| span.error(Kind::Syntax, "the type is empty"))
                };
                Content::Type(self.one(at::TP, read)?)
            }
            Some(kind::FLOATS) => Content::Floats(lists.floats.into()),
            Some(kind::INTS) => Content::Ints(lists.ints.into()),
            Some(kind::STRINGS) => Content::Strings(lists.strings.finish()),
            Some(kind::TENSORS) => {
                Content::Tensors(self.all(at::TENSORS, |span| Ok(tensor::read(self.reader, span)?.1))?)
            }
            Some(kind::SPARSE_TENSORS) => {
                Content::Tensors(self.all(at::SPARSE_TENSORS, |span| Ok(sparse::read(self.reader, span)?.1))?)
            }
            Some(kind::GRAPHS) => Content::Graphs(self.all(at::GRAPHS, |span| self.graph(span))?),
            Some(kind::TYPE_PROTOS) => {
                let types = self.all(at::TYPE_PROTOS, |span| types::read(span, 0))?;
                Content::Types(types.into_iter().flatten().collect())
            }
            Some(other) => {
                return Err(self.span.error(
                    Kind::Syntax,
                    format!("attribute type is {other}, expected a number of AttributeType"),
                ));
            }
            None => return Err(self.span.error(Kind::Syntax, "neither kind nor content is stated")),
        })
    }

    fn graph(&self, span: ByteSpan<'_>) -> Result<Arc<gradus_core::graph::Graph>> {
        let most = self.reader.limits.max_depth;
        if self.depth >= most {
            return Err(span.error(Kind::Limit, format!("graphs are nested more than {most} deep")));
        }
        Ok(Arc::new(graph::read(self.reader, span, self.opsets, Some(self.depth + 1))?))
    }

    fn all<T>(&self, number: u32, read: impl Fn(ByteSpan<'a>) -> Result<T>) -> Result<Vec<T>> {
        let fields = self.fields.iter().filter(|field| field.number == number);
        let each = fields.map(|field| {
            self.reader.charge(self.span, size_of::<Field<'_>>() + size_of::<T>())?;
            read(field.span()?)
        });
        each.collect()
    }

    /// The content of the last field of that number; in protobuf, an absent number is its default.
    fn last<T>(&self, number: u32, read: impl Fn(&Field<'a>) -> Result<T>, default: T) -> Result<T> {
        self.fields.iter().rfind(|field| field.number == number).map_or(Ok(default), read)
    }

    fn one<T>(&self, number: u32, read: impl Fn(ByteSpan<'a>) -> Result<T>) -> Result<T> {
        let mut fields = self.fields.iter().filter(|field| field.number == number);
        match (fields.next(), fields.next()) {
            (Some(field), None) => read(field.span()?),
            (_, Some(second)) => {
                Err(second.span()?.error(Kind::Syntax, "the attribute has a second content"))
            }
            (None, None) => {
                Err(self.span.error(Kind::Syntax, "the content that its kind promises is missing"))
            }
        }
    }
}
