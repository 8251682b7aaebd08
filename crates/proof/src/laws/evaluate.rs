//! Operators of constants, computed.

use std::sync::Arc;

use gradus_core::convert::i64_of;
use gradus_core::graph::{Attribute, Builder, Content, Model, Node, OperatorId, Slots, Standard};
use gradus_core::{Number, Tensor};
use gradus_engine::dim::Dim;
use gradus_engine::fact::{Fact, known_shape};
use gradus_engine::infer::InferOptions;
use gradus_engine::operators::Rounding;

use super::{Call, Law, law};
use crate::attributes::ContentKey;
use crate::table::{Term, TermId};
use crate::terms::Terms;

pub(super) const LAWS: &[Law] = &[law(
    "constants",
    &[],
    "an operator of constants = the constant that it computes",
    "the text determines the bits of the result: nothing is rounded, or as IEEE 754 rounds",
    computed,
)];

/// Maximum number of elements of an argument that is computed with.
const MAX_ELEMENTS: usize = 1 << 10;

/// Maximum number of results that are computed so.
const MAX_COMPUTED: usize = 1 << 14;

impl Terms<'_> {
    /// The tensor that a term is, if it is a short constant.
    fn short(&self, id: TermId) -> Option<Tensor> {
        let shape = known_shape(self.table.dims(id)?)?;
        if shape.len() > MAX_ELEMENTS {
            return None;
        }
        match self.table.term(id) {
            Term::Constant(_) => self.table.stored(id),
            Term::Reshape(inner) => self.table.stored(*inner)?.reshaped(shape).ok(),
            _ => {
                let dtype = self.table.dtype(id)?;
                let steps = |(first, step): (Dim, Dim)| -> Option<Vec<i64>> {
                    let (first, step) = (first.known()?, step.known()?);
                    (0..i64_of(shape.len())).map(|at| first.checked_add(step.checked_mul(at)?)).collect()
                };
                let integers = match self.table.term(id) {
                    Term::Progression(first, step) => Some(steps((*first, *step))?),
                    _ => self.table.numbers(id),
                };
                let numbers = match integers {
                    Some(all) => all.into_iter().map(|value| Number::Int(value.into())).collect(),
                    None => vec![self.table.scalar(id)?; shape.len()],
                };
                Tensor::from_numbers(dtype, shape, numbers, gradus_core::convert::Rules::IEEE).ok()
            }
        }
    }
}

fn content(key: &ContentKey) -> Option<Content> {
    Some(match key {
        ContentKey::Float(bits) => Content::Float(f32::from_bits(*bits)),
        ContentKey::Floats(all) => Content::Floats(all.iter().map(|bits| f32::from_bits(*bits)).collect()),
        ContentKey::Int(value) => Content::Int(*value),
        ContentKey::Ints(all) => Content::Ints(all.clone()),
        ContentKey::Text(text) => Content::Bytes(text.clone()),
        ContentKey::Texts(all) => Content::Strings(all.clone()),
        ContentKey::Tensor(..) | ContentKey::Older(_) => return None,
    })
}

fn computed(terms: &mut Terms<'_>, call: &mut Call) -> Option<Vec<TermId>> {
    let plain = call.operator.domain.is_empty() && call.infos.len() == 1 && !call.is("Cast");
    if !plain || call.arguments.is_empty() || terms.computed >= MAX_COMPUTED {
        return None;
    }
    let signature = call.row.signatures().last()?;
    let mut attributes = Vec::new();
    for (name, key) in call.attributes() {
        attributes.push(Attribute { name: name.clone(), content: content(key)? });
    }
    let tensors: Vec<Tensor> =
        call.arguments.iter().map(|argument| terms.short((*argument)?)).collect::<Option<_>>()?;
    let mut builder = Builder::new("");
    let mut inputs = Slots::new();
    for (index, tensor) in tensors.into_iter().enumerate() {
        inputs.push(Some(builder.constant(&format!("c{index}"), tensor.into()).ok()?));
    }
    let node = Node {
        name: "".into(),
        operator: OperatorId {
            domain: Arc::from(""),
            name: call.operator.name.clone(),
            overload: Arc::from(""),
        },
        version: Some(signature.since),
        inputs,
        outputs: Slots::new(),
        attributes,
        position: None,
    };
    let is_rounded = call.row.rounding() == Rounding::Ieee && call.infos[0].dtype?.is_float();
    if !call.row.is_exact(&node) || (terms.table.reals && is_rounded) {
        return None;
    }
    terms.computed += 1;
    builder.push(node, &["y"]).ok()?;
    let output = builder.output("y");
    let mut model = Model::new(Standard::Onnx);
    model.graph = builder.finish().ok()?;
    let mut options = InferOptions::default();
    options.limits = Some(*terms.limits);
    let inference = terms.source.clone().with_model(model).infer(&options).ok()?;
    let Fact::Tensor(fact) = inference.fact(output) else { return None };
    Some(vec![terms.table.tensor(&fact.tensor()?)])
}
