//! Operators that users register.

use std::fmt::Debug;
use std::sync::Arc;

use gradus_core::graph::{Content, Node};
use gradus_core::{Result, Value};

use crate::attributes::Attributes;
use crate::dim::Symbols;
use crate::fact::Fact;

/// An operator that you define: how its outputs are inferred and evaluated.
///
/// `OpenOptions::operator` registers it for a model. It then runs,
/// and inference and folding know it; it also takes the place of an operator of the same name that
/// Gradus has. Its outputs must depend on nothing but its inputs and attributes.
///
/// The example `custom_operator` of the crate registers one.
pub trait Operator: Debug + Send + Sync {
    /// The domain of its nodes, such as `com.example`.
    fn domain(&self) -> &str;

    /// The operator that its nodes name.
    fn name(&self) -> &str;

    /// Infers facts about the outputs from facts about the inputs; `None` is an input that is not
    /// given. Return [`Fact::Unknown`] for an output that cannot be inferred.
    ///
    /// # Errors
    /// An error says that every run of the node fails: it becomes a
    /// [problem](crate::infer::Inference::problems).
    fn infer(&self, call: &Call<'_>, inputs: &[Option<&Fact>], symbols: &mut Symbols) -> Result<Vec<Fact>>;

    /// Computes the outputs from the inputs; `None` is an input that is not given.
    ///
    /// # Errors
    /// An error ends the run. Gradus adds the node and the file.
    fn eval(&self, call: &Call<'_>, inputs: &[Option<&Value>]) -> Result<Vec<Value>>;
}

/// A node of a registered operator.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    pub attributes: Attributes<'a>,
    pub outputs: usize,
}

impl Call<'_> {
    /// The content of an attribute, if it is given.
    pub fn attribute(&self, name: &str) -> Option<&Content> {
        self.attributes.get(name)
    }

    /// The number of outputs that the node names.
    pub fn outputs(&self) -> usize {
        self.outputs
    }
}

/// The operator of a node, if it is among those.
pub fn find<'a>(operators: &'a [Arc<dyn Operator>], node: &Node) -> Option<&'a Arc<dyn Operator>> {
    let is_it = |operator: &&Arc<dyn Operator>| {
        operator.name() == &*node.operator.name && operator.domain() == &*node.operator.domain
    };
    operators.iter().find(is_it)
}
