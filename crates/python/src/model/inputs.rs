//! Values that Python gives for the inputs of a model.

use std::collections::BTreeMap;

use gradus::graph::Type;
use gradus::infer::InputFact;
use gradus::{Map, Value};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::Model;
use crate::error::OrRaise;
use crate::given::typed;
use crate::tensor::{from_python, value_from_python};

impl Model {
    /// Inputs by name.
    pub(super) fn given_values(&self, values: &Bound<'_, PyDict>) -> PyResult<Vec<(String, Value)>> {
        let values = values.iter().map(|(name, value)| {
            let name: String = name.extract()?;
            let value = self.given(&name, &value)?;
            Ok((name, value))
        });
        values.collect()
    }

    /// Inputs by name, as facts.
    pub(crate) fn given_facts(&self, values: &Bound<'_, PyDict>) -> PyResult<BTreeMap<String, InputFact>> {
        let values = self.given_values(values)?.into_iter();
        Ok(values.map(|(name, value)| (name, InputFact::Value(value))).collect())
    }

    /// The value given for an input of that name.
    pub(super) fn given(&self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<Value> {
        Model::given_to(&self.model, name, value)
    }

    /// The value of an input of a model.
    pub(crate) fn given_to(model: &gradus::Model, name: &str, value: &Bound<'_, PyAny>) -> PyResult<Value> {
        let id = model.input(name).or_raise()?;
        match model.graph().value(id).declared.as_ref() {
            Some(Type::Sequence(_)) => value_from_python(value, true),
            Some(Type::Map(key, of)) if value.is_instance_of::<PyDict>() => {
                let part = |name: &str, declared: &Type| {
                    let list = PyList::new(
                        value.py(),
                        value.call_method0(name)?.try_iter()?.collect::<PyResult<Vec<_>>>()?,
                    )?;
                    from_python(&typed(&list, Some(declared))?)
                };
                let (keys, values) = (part("keys", &Type::Tensor(*key, None))?, part("values", of)?);
                Ok(Value::Map(Map::new(keys, values).or_raise()?))
            }
            declared => value_from_python(&typed(value, declared)?, false),
        }
    }
}
