//! Programs that a converted model is for: the operator sets, operators and types that they run.

use gradus_core::graph::Standard;
use gradus_core::{DType, DTypeSet, Result};

use super::node::ConvertContext;
use super::writer::{GraphWriter, NONE, NewValue};
use crate::operators;
use crate::schema::{ONNXRUNTIME, OPENVINO, Param, RuntimeOperator, Signature};

/// A program that runs converted models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Runtime {
    /// ONNX Runtime, on the processor.
    OnnxRuntime,
    /// OpenVINO, which reads ONNX models too.
    OpenVino,
}

gradus_core::names!(Runtime { OnnxRuntime = "onnxruntime", OpenVino = "openvino" });

impl Runtime {
    /// Returns true if it reads models of a standard.
    pub fn reads(self, standard: Standard) -> bool {
        match self {
            Runtime::OnnxRuntime => standard == Standard::Onnx,
            Runtime::OpenVino => standard != Standard::Paddle,
        }
    }

    /// Returns true if it runs an operator of another domain than ONNX's own.
    pub fn runs(self, domain: &str, name: &str) -> bool {
        self.operator(domain, name, 1).is_some()
    }

    /// Returns true if it runs an operator of ONNX with these types of its type variables.
    pub fn takes(self, target: &GraphWriter, name: &str, types: &[(&str, DType)]) -> bool {
        let own = target.signature(name).and_then(|signature| self.operator("", name, signature.since));
        let takes = |row: &&[(&'static str, DTypeSet)]| {
            row.iter().all(|(variable, set)| {
                types.iter().all(|(name, dtype)| name != variable || set.contains(*dtype))
            })
        };
        own.is_some_and(|own| own.rows.iter().any(takes))
    }

    /// How it runs an operator of ONNX in a version; nothing if it does not know the operator.
    pub fn operator(self, domain: &str, name: &str, version: i64) -> Option<&'static RuntimeOperator> {
        let table = if self == Runtime::OnnxRuntime { ONNXRUNTIME } else { OPENVINO };
        let after = table.partition_point(|own| (own.domain, own.name, own.since) <= (domain, name, version));
        let own = table[..after].last()?;
        (own.domain == domain && own.name == name && !own.rows.is_empty()).then_some(own)
    }
}

/// The parameters of a node with type variables, and the types that stand for them.
pub type Bindings = Vec<(&'static Param, DType)>;

/// Parameters with type variables, bound to the element types of the inputs and outputs.
pub fn bindings(
    signature: &Signature,
    inputs: impl Iterator<Item = Option<DType>>,
    outputs: impl Iterator<Item = Option<DType>>,
) -> Bindings {
    let bind = |params: &'static [Param], (index, dtype): (usize, Option<DType>)| {
        let param = Signature::param(params, index).filter(|param| !param.variable.is_empty());
        Some((param?, dtype?))
    };
    let inputs = inputs.enumerate().filter_map(|input| bind(signature.inputs, input));
    inputs.chain(outputs.enumerate().filter_map(|output| bind(signature.outputs, output))).collect()
}

/// The types that a row lets a parameter have.
pub fn types_of(row: &[(&'static str, DTypeSet)], param: &Param) -> DTypeSet {
    let limited = row.iter().find(|(variable, _)| *variable == param.variable);
    limited.map_or(param.types.tensor, |(_, types)| *types)
}

/// Returns true if a row has the types.
pub fn takes(row: &[(&'static str, DTypeSet)], bound: &Bindings) -> bool {
    bound.iter().all(|(param, dtype)| types_of(row, param).contains(*dtype))
}

/// Types that hold all numbers of a type, the narrowest first. Sums, products, quotients and square
/// roots that are computed in them and then rounded are those of the type.
const fn wider(dtype: DType) -> &'static [DType] {
    match dtype {
        DType::Bool => &[DType::U8, DType::I32, DType::I64],
        DType::I8 => &[DType::I16, DType::I32, DType::I64],
        DType::U8 => &[DType::I16, DType::U16, DType::I32, DType::I64],
        DType::I16 => &[DType::I32, DType::I64],
        DType::U16 => &[DType::I32, DType::U32, DType::I64],
        DType::I32 => &[DType::I64],
        DType::U32 => &[DType::I64, DType::U64],
        DType::F16 | DType::BF16 => &[DType::F32, DType::F64],
        DType::F32 => &[DType::F64],
        _ => &[],
    }
}

/// A type variable of a node, its type, and the type that it is computed in instead.
#[derive(Clone, Copy, Debug)]
pub struct Widening {
    variable: &'static str,
    from: DType,
    to: DType,
}

impl Widening {
    /// The widening by which the program that the model is for runs an operator, if that keeps
    /// results and is needed.
    pub fn of(cx: &ConvertContext<'_, '_>, operator: &str, count: usize) -> Option<Widening> {
        let (runtime, signature) = (cx.conversion.runtime?, cx.target.signature(operator)?);
        let own = runtime.operator(signature.domain, operator, signature.since)?;
        let outputs = cx.node.outputs.iter().map(|id| id.and_then(|id| cx.scope.fact(id).dtype()));
        let bound = bindings(signature, (0..count).map(|input| cx.fact(input).dtype()), outputs);
        let row = operators::registry::row(Standard::Onnx, "", operator)?;
        let kept = row.is_exact(cx.node) && !row.has_float_attributes();
        if !kept || cx.node.graphs().next().is_some() || own.rows.iter().any(|row| takes(row, &bound)) {
            return None;
        }
        let inputs = || (0..count).filter_map(|input| Signature::param(signature.inputs, input));
        bound.iter().filter(|(own, _)| inputs().any(|param| param.variable == own.variable)).find_map(
            |&(&Param { variable, .. }, from)| {
                let fits = |&to: &DType| {
                    let mut bound = bound.clone();
                    let all = bound.iter_mut().filter(|(own, _)| own.variable == variable);
                    all.for_each(|(_, dtype)| *dtype = to);
                    own.rows.iter().any(|row| takes(row, &bound))
                };
                let to = wider(from).iter().copied().find(fits)?;
                Some(Widening { variable, from, to })
            },
        )
    }

    /// Brings inputs of an operator to the wider type.
    pub fn widen(
        self,
        cx: &mut ConvertContext<'_, '_>,
        operator: &str,
        inputs: &mut [NewValue],
    ) -> Result<()> {
        let params = cx.target.signature(operator).map_or(&[][..], |signature| signature.inputs);
        for (index, value) in inputs.iter_mut().enumerate() {
            let is_own = Signature::param(params, index).is_some_and(|param| param.variable == self.variable);
            if is_own && *value != NONE {
                *value = cx.cast(*value, self.to)?;
            }
        }
        Ok(())
    }

    /// Brings outputs of an operator back.
    pub fn narrow(
        self,
        cx: &mut ConvertContext<'_, '_>,
        operator: &str,
        outputs: &mut [NewValue],
    ) -> Result<()> {
        let params = cx.target.signature(operator).map_or(&[][..], |signature| signature.outputs);
        for (index, value) in outputs.iter_mut().enumerate() {
            if Signature::param(params, index).is_some_and(|param| param.variable == self.variable) {
                *value = cx.cast(*value, self.from)?;
            }
        }
        Ok(())
    }
}
