//! Variables and attributes of old programs.

use bytes::Bytes;
use gradus_core::convert::Rules;
use gradus_core::graph::{Content, Type};
use gradus_core::{DType, Kind, Number, Result, Shape, Tensor};

use crate::paddle::fields::{
    attr_type as kind, op_desc_attr, scalar, scalar_type, var_desc, var_type, var_type_dense_tensor_desc,
    var_type_tensor_desc,
};
use crate::paddle::types::{array_of, dtype_of, sizes};
use crate::wire::ByteSpan;

/// A variable as the file declares it.
pub(super) struct Variable<'a> {
    pub(super) name: &'a str,
    pub(super) persistable: bool,
    pub(super) code: i64,
    pub(super) declared: Option<Type>,
}

impl<'a> Variable<'a> {
    /// Reads a variable: name, type, and whether it outlives the run.
    pub(super) fn read(span: ByteSpan<'a>) -> Result<Variable<'a>> {
        let mut variable = Variable { name: "", persistable: false, code: -1, declared: None };
        for field in span.fields() {
            let field = field?;
            match field.number {
                var_desc::NAME => variable.name = field.text()?,
                var_desc::PERSISTABLE => variable.persistable = field.int()? != 0,
                var_desc::TYPE => {
                    for field in field.span()?.fields() {
                        let field = field?;
                        match field.number {
                            var_type::TYPE => variable.code = field.int()?,
                            var_type::DENSE_TENSOR => variable.declared = Some(tensor_type(field.span()?)?),
                            var_type::TENSOR_ARRAY => {
                                variable.declared = Some(array_of(tensor_type(field.span()?)?.dtype()));
                            }
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(variable)
    }
}

fn tensor_type(span: ByteSpan<'_>) -> Result<Type> {
    let (mut dtype, mut dims) = (None, Vec::new());
    for field in span.fields() {
        let field = field?;
        if field.number != var_type_dense_tensor_desc::TENSOR {
            continue;
        }
        for field in field.span()?.fields() {
            let field = field?;
            match field.number {
                var_type_tensor_desc::DATA_TYPE => dtype = dtype_of(field.int()?),
                var_type_tensor_desc::DIMS => field.push_ints(&mut dims)?,
                _ => {}
            }
        }
    }
    Ok(Type::Tensor(dtype, Some(sizes(&dims))))
}

/// Reads an attribute: its name, its content, and the block that it names.
pub(super) fn read_attribute(span: ByteSpan<'_>) -> Result<(&str, Option<Content>, Option<i64>)> {
    use op_desc_attr as at;
    let (mut name, mut of, mut int, mut float, mut block) = ("", -1, 0, 0.0, None);
    let (mut text, mut ints, mut floats, mut strings, mut numbers) =
        (Bytes::new(), vec![], vec![], vec![], vec![]);
    let (mut double, mut doubles) = (0.0, vec![]);
    for field in span.fields() {
        let field = field?;
        match field.number {
            at::NAME => name = field.text()?,
            at::TYPE => of = field.int()?,
            at::I | at::L | at::B => int = field.int()?,
            at::F => float = field.float()?,
            at::S => text = field.span()?.bytes(),
            at::INTS | at::LONGS | at::BOOLS => field.push_ints(&mut ints)?,
            at::FLOATS => field.push_floats(&mut floats)?,
            at::STRINGS => strings.push(field.span()?.bytes()),
            at::BLOCK_IDX => block = Some(field.int()?),
            at::FLOAT64 => double = field.double()?,
            at::FLOAT64S => {
                doubles.extend(field.doubles()?.into_iter().map(|value| Tensor::scalar(value).into()));
            }
            at::SCALAR | at::SCALARS => numbers.push(read_scalar(field.span()?)?.into()),
            _ => {}
        }
    }
    let content = match of {
        // An int of 32 bits is written as one of 64, so its sign is there.
        kind::INT | kind::LONG | kind::BOOLEAN => Some(Content::Int(int)),
        kind::FLOAT => Some(Content::Float(float)),
        kind::FLOAT64 => Some(Content::Tensor(Tensor::scalar(double).into())),
        kind::STRING => Some(Content::Bytes(text)),
        kind::INTS | kind::LONGS | kind::BOOLEANS => Some(Content::Ints(ints.into())),
        kind::FLOATS => Some(Content::Floats(floats.into())),
        kind::STRINGS => Some(Content::Strings(strings.into())),
        kind::FLOAT64S => Some(Content::Tensors(doubles)),
        kind::SCALARS => Some(Content::Tensors(numbers)),
        kind::SCALAR => numbers.pop().map(Content::Tensor),
        _ => None,
    };
    Ok((name, content, block))
}

fn read_scalar(span: ByteSpan<'_>) -> Result<Tensor> {
    let (mut of, mut int, mut float) = (0, 0, 0.0);
    for field in span.fields() {
        let field = field?;
        match field.number {
            scalar::TYPE => of = field.int()?,
            scalar::B | scalar::I => int = field.int()?,
            scalar::R => float = field.double()?,
            _ => {}
        }
    }
    let (dtype, number) = match of {
        scalar_type::BOOLEAN => (DType::Bool, Number::Int(int.into())),
        scalar_type::LONG => (DType::I64, Number::Int(int.into())),
        scalar_type::FLOAT64 => (DType::F64, Number::Float(float)),
        other => return Err(span.error(Kind::Unsupported, format!("a number of kind {other} is not read"))),
    };
    Tensor::from_numbers(dtype, Shape::SCALAR, [number], Rules::IEEE)
}
