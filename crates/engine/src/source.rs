//! Graphs of a model with what their nodes are looked up in: what inference, programs and
//! conversion read.

use std::sync::Arc;

use gradus_core::convert::product;
use gradus_core::graph::{self, Graph, ValueId};
use gradus_core::{Error, Limits, Result};

use crate::operator::Operator;
use crate::operators::registry::Registry;
use crate::operators::row::Row;

/// The graphs of a model, the limits on what reading, running and inferring them may cost, and the
/// operators that are registered for them.
#[derive(Clone, Debug)]
pub struct Source {
    model: Arc<graph::Model>,
    pub limits: Limits,
    operators: Vec<Arc<dyn Operator>>,
}

impl Source {
    /// Installs the table of operators, in which everything that is computed of a model looks up
    /// its rows.
    pub fn new(
        model: graph::Model,
        limits: Limits,
        operators: Vec<Arc<dyn Operator>>,
        table: &'static [&'static [Row]],
    ) -> Source {
        Registry::install(table);
        Source { model: Arc::new(model), limits, operators }
    }

    /// This source with another model.
    pub fn with_model(self, model: graph::Model) -> Source {
        Source { model: Arc::new(model), ..self }
    }

    /// The content of the file, copied only if another model has it too.
    pub fn into_model(self) -> graph::Model {
        Arc::unwrap_or_clone(self.model)
    }

    /// The content of the file.
    pub fn source(&self) -> &graph::Model {
        &self.model
    }

    /// The main graph.
    pub fn graph(&self) -> &Graph {
        &self.model.graph
    }

    /// The limits that it was opened with.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The operators that it was opened with.
    pub fn operators(&self) -> &[Arc<dyn Operator>] {
        &self.operators
    }

    /// Checks that the limits allow `bytes` bytes for each value of its graphs and functions.
    pub fn allow_each(&self, limits: Limits, bytes: usize) -> Result<()> {
        let functions = self.model.functions.iter().map(|function| function.body.values_within());
        let values = functions.fold(self.graph().values_within(), usize::saturating_add);
        limits.allow_bytes(0, product(values, bytes))
    }

    /// The value of that name in the main graph.
    ///
    /// # Errors
    /// [`Kind::Usage`](gradus_core::Kind::Usage) if there is none, with the names that are near.
    pub fn value(&self, name: &str) -> Result<ValueId> {
        let graph = self.graph();
        let names = |id: ValueId| &*graph.value(id).name;
        graph.find(name).ok_or_else(|| {
            let others = graph.ids().filter(|id| !graph.outputs().contains(id));
            Error::unknown("value", name, graph.outputs().iter().copied().chain(others).map(names))
        })
    }

    /// The input of that name.
    ///
    /// # Errors
    /// [`Kind::Usage`](gradus_core::Kind::Usage) if there is none, with the names that are near.
    pub fn input(&self, name: &str) -> Result<ValueId> {
        let graph = self.graph();
        let found = graph.find(name).filter(|id| graph.inputs().contains(id));
        let names = graph.inputs().iter().map(|&id| &*graph.value(id).name);
        found.ok_or_else(|| Error::unknown("input", name, names))
    }
}
