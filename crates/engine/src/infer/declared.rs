//! Declared types: of inputs, where facts start; of other values, what is inferred is held against
//! them.

use std::sync::Arc;

use gradus_core::Kind;
use gradus_core::convert::i64_of;
use gradus_core::graph::{DeclaredDim, Type};
use gradus_core::text::name_in_message;

use super::pass::Pass;
use super::remarks::Problem;
use crate::dim::{Bounds, Dim, Origin, axis_name};
use crate::fact::{Fact, OptionalFact, SequenceFact, TensorFact};

/// The fact that a declared type states about an input.
pub fn fact_of_input(pass: &mut Pass<'_>, name: &str, declared: &Type) -> Fact {
    match declared {
        Type::Tensor(dtype, sizes) => {
            let dims = sizes.as_ref().map(|sizes| {
                let dim = |(axis, size): (usize, &DeclaredDim)| dim_of(pass, &axis_name(name, axis), size);
                sizes.iter().enumerate().map(dim).collect()
            });
            Fact::Tensor(TensorFact::new(*dtype, dims))
        }
        Type::Sequence(each) => {
            let each = fact_of_input(pass, &format!("{name}_each"), each);
            let origin = Origin::Data(format!("the length of input \"{name}\"").into());
            // Values of one list may differ in their dimensions, so a symbol must not stand for
            // all.
            let is_known = |fact: &Fact| fact.as_tensor().is_some_and(|each| each.shape().is_some());
            let each = match each {
                Fact::Map(..) => each,
                each if is_known(&each) => each,
                Fact::Tensor(tensor) => Fact::tensor_type(tensor.dtype),
                _ => Fact::Unknown,
            };
            let len = pass.shared.symbols.fresh(&format!("{name}_len"), origin, Bounds::SIZE);
            Fact::Sequence(Arc::new(SequenceFact { each, len, items: None }))
        }
        Type::Optional(value) => {
            let value = fact_of_input(pass, name, value);
            Fact::Optional(Arc::new(OptionalFact { value, present: None }))
        }
        Type::Map(key, of) => Fact::Map(*key, of.dtype()),
        Type::Other(_) => Fact::Unknown,
    }
}

/// A declared dimension of an input; one without a name gets that name.
pub fn dim_of(pass: &mut Pass<'_>, name: &str, size: &DeclaredDim) -> Dim {
    match size {
        DeclaredDim::Known(len) => Dim::from(*len),
        DeclaredDim::Symbol(text) => pass.shared.symbols.declared(text),
        DeclaredDim::Between(min, most) => {
            let bounds = Bounds::between(Some(i64_of(*min)), most.map(i64_of));
            pass.shared.symbols.fresh(name, Origin::Input, bounds)
        }
        DeclaredDim::Unknown => pass.shared.symbols.fresh(name, Origin::Input, Bounds::SIZE),
    }
}

/// The place of a remark about a value.
pub fn place(name: &str) -> String {
    format!("value \"{name}\"")
}

fn contradiction(name: &str, message: String) -> Problem {
    Problem { kind: Kind::Shape, place: place(name), message, node: None }
}

/// The type without shapes.
fn without_shapes(declared: &Type) -> Type {
    match declared {
        Type::Tensor(dtype, _) => Type::Tensor(*dtype, None),
        Type::Sequence(each) => Type::Sequence(Box::new(without_shapes(each))),
        Type::Optional(value) => Type::Optional(Box::new(without_shapes(value))),
        Type::Map(..) | Type::Other(_) => declared.clone(),
    }
}

/// A fact with what the model declares where nothing is inferred. Another element type is a
/// problem; another shape is a warning, as programs run the model all the same. A declared shape
/// that is taken is a condition: no run checks it. A rank is taken only where it is believed.
pub fn refined(pass: &mut Pass<'_>, name: &str, declared: &Type, fact: Fact, is_believed: bool) -> Fact {
    let Type::Tensor(dtype, sizes) = declared else {
        return if fact == Fact::Unknown {
            fact_of_input(pass, name, &without_shapes(declared))
        } else {
            fact
        };
    };
    let mut tensor = match fact {
        Fact::Tensor(tensor) => tensor,
        Fact::Unknown => TensorFact::default(),
        other => return other,
    };
    match (tensor.dtype, dtype) {
        (Some(inferred), Some(declared)) if inferred != *declared => {
            let message = format!("element type is {inferred}, expected {declared} as declared");
            pass.problems.push(contradiction(name, message));
        }
        (inferred, declared) => tensor.dtype = inferred.or(*declared),
    }
    match (&tensor.dims, sizes) {
        (Some(dims), Some(sizes)) if dims.len() != sizes.len() => {
            let (declared, inferred) = (sizes.len(), dims.len());
            pass.warn(contradiction(name, format!("rank is {inferred}, expected {declared} as declared")));
        }
        (Some(dims), Some(sizes)) => {
            let mut all = dims.to_vec();
            for (axis, (dim, size)) in all.iter_mut().zip(sizes).enumerate() {
                let DeclaredDim::Known(len) = size else { continue };
                let declared = i64_of(*len);
                let bounds = pass.shared.symbols.bounds(*dim);
                let outside = bounds.lower().is_some_and(|min| declared < min)
                    || bounds.upper().is_some_and(|most| declared > most);
                if outside {
                    let inferred = pass.shared.symbols.print(*dim);
                    let message =
                        format!("size of axis {axis} is {inferred}, expected {declared} as declared");
                    pass.warn(contradiction(name, message));
                } else if pass.shared.symbols.is_unknown(*dim) {
                    pass.note_declared(format!("size of axis {axis} is {declared}"), name);
                    *dim = Dim::Known(declared);
                }
            }
            tensor.dims = Some(pass.list(all));
        }
        (None, Some(sizes)) if is_believed => {
            let dim = |(axis, size): (usize, &DeclaredDim)| {
                if let DeclaredDim::Known(len) = size {
                    return Dim::from(*len);
                }
                // Names of inner values mean nothing outside the tool that wrote them.
                let value = name_in_message(name);
                let why = format!("declared, but not inferred: axis {axis} of \"{value}\"");
                pass.shared.symbols.fresh(&axis_name(name, axis), Origin::Unknown(why.into()), Bounds::SIZE)
            };
            tensor.dims = Some(sizes.iter().enumerate().map(dim).collect());
            // A name tells no size: it is one of the tool that wrote it.
            let told = sizes.iter().map(|size| match size {
                DeclaredDim::Known(len) => len.to_string(),
                _ => "?".to_owned(),
            });
            pass.note_declared(format!("shape is [{}]", told.collect::<Vec<_>>().join(", ")), name);
        }
        (None, _) | (_, None) => {}
    }
    if tensor == TensorFact::default() { Fact::Unknown } else { Fact::Tensor(tensor) }
}
