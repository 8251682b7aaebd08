//! Operators of constants, computed.

use gradus_core::convert::{Rules, i64_of};
use gradus_core::graph::{Builder, Content, Model, Standard};
use gradus_core::{Number, Tensor};
use gradus_engine::fact::known_shape;
use gradus_engine::infer::InferOptions;
use gradus_engine::operators::Rounding;

use super::Call;
use crate::attributes::ContentKey;
use crate::table::{Term, TermId, View};
use crate::terms::Terms;

laws! {
    Bits "constants" [] => computed,
        "an operator of constants = the constant that it computes",
        "the text determines the bits of the result: nothing is rounded, or as IEEE 754 rounds";
}

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
            Term::View(inner, View::Reshape) => self.table.stored(*inner)?.reshaped(shape).ok(),
            _ => {
                let integers = match *self.table.term(id) {
                    Term::Progression(first, step) => {
                        let (first, step) = (first.known()?, step.known()?);
                        let at = |index: i64| first.checked_add(step.checked_mul(index)?);
                        Some((0..i64_of(shape.len())).map(at).collect::<Option<_>>()?)
                    }
                    _ => self.table.numbers(id),
                };
                let numbers = match integers {
                    Some(all) => all.into_iter().map(|value| Number::Int(value.into())).collect(),
                    None => vec![self.table.scalar(id)?; shape.len()],
                };
                Tensor::from_numbers(self.table.dtype(id)?, shape, numbers, Rules::IEEE).ok()
            }
        }
    }
}

fn content(key: &ContentKey) -> Option<Content> {
    Some(match key {
        ContentKey::Float(bits) => Content::Float(f32::from_bits(*bits)),
        ContentKey::Floats(all) => Content::Floats(all.0.clone()),
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
    let attributes = call.attributes().iter().map(|(name, key)| Some((&**name, content(key)?)));
    let attributes = attributes.collect::<Option<_>>()?;
    let mut builder = Builder::new("");
    let names: Vec<_> = (0..call.arguments.len()).map(|index| index.to_string()).collect();
    let names: Vec<_> = names.iter().map(|name| &**name).collect();
    for (name, argument) in names.iter().zip(&call.arguments) {
        builder.constant(name, terms.short((*argument)?)?.into()).ok()?;
    }
    let since = call.row.signatures().last()?.since;
    builder.apply("", &call.operator.name, since, &names, &["y"], attributes).ok()?;
    let output = builder.output("y");
    let mut model = Model::new(Standard::Onnx);
    model.graph = builder.finish().ok()?;
    let is_rounded = call.row.rounding() == Rounding::Ieee && call.infos[0].dtype?.is_float();
    if !call.row.is_exact(&model.graph.nodes()[0]) || (terms.table.reals && is_rounded) {
        return None;
    }
    terms.computed += 1;
    let mut options = InferOptions::default();
    options.limits = Some(*terms.limits);
    let inference = terms.source.clone().with_model(model).infer(&options).ok()?;
    Some(vec![terms.table.tensor(&inference.fact(output).as_tensor()?.tensor()?)])
}
