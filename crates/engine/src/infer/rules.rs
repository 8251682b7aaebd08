//! Rules: how an operator's outputs follow from its inputs, looked up by standard, domain and name.

use std::sync::Arc;

use gradus_core::graph::{Function, Graph, Node, Standard};

use super::context::{InferContext, InferError};
use crate::fact::Fact;
use crate::normalize::Form;
use crate::operator::{self, Operator};
use crate::operators::{Row, registry};
use crate::schema::Signature;
use crate::source::Source;

/// Facts about a node's outputs.
pub type InferResult = Result<Vec<Fact>, InferError>;

/// How outputs follow from inputs. It holds for all versions of an operator: what a version does
/// not have is not given.
pub type Rule = fn(&mut InferContext<'_, '_>) -> InferResult;

/// The way in which a node is inferred.
#[derive(Clone, Copy)]
pub enum Resolved<'m> {
    /// The model defines the operator.
    Function(&'m Function),
    /// The user registered the operator.
    Registered(&'m Arc<dyn Operator>),
    /// There is a rule.
    Rule {
        row: &'static Row,
        rule: Rule,
        signature: Option<&'static Signature>,
        /// The form that the node's version has.
        form: Form,
        /// True if a node of which all inputs are known is evaluated.
        evaluates: bool,
    },
    /// Nothing is known of the operator.
    None(&'static str),
}

impl Resolved<'_> {
    /// The signature of the node's version, if the table has its operator.
    pub fn signature(&self) -> Option<&'static Signature> {
        if let Resolved::Rule { signature, .. } = self { *signature } else { None }
    }

    /// The form of the node's version; the newest for functions and registered operators.
    pub fn form(&self) -> Form {
        if let Resolved::Rule { form, .. } = self { *form } else { Form::NEWEST }
    }

    /// The row of the operator, if the table has it.
    pub fn row(&self) -> Option<&'static Row> {
        if let Resolved::Rule { row, .. } = self { Some(row) } else { None }
    }
}

/// Finds what infers a node: a function of the model, a registered operator, or a rule of the
/// table.
pub fn resolve<'m>(
    standard: Standard,
    functions: &'m [Function],
    operators: &'m [Arc<dyn Operator>],
    node: &Node,
) -> Resolved<'m> {
    if let Some(function) = functions.iter().find(|function| function.id == node.operator) {
        return Resolved::Function(function);
    }
    if let Some(operator) = operator::find(operators, node) {
        return Resolved::Registered(operator);
    }
    let row = registry::row_of(standard, node);
    let Some((row, rule)) = row.and_then(|row| Some((row, row.infer?))) else {
        return Resolved::None("the operator is not known");
    };
    let version = node.version.unwrap_or(i64::MAX);
    let signature = row.signature_in(version);
    if standard == Standard::Onnx && signature.is_none() && !row.signatures().is_empty() {
        return Resolved::None("the operator set of the model has no such operator");
    }
    // A node of a domain without a version is inferred in the newest form, and not evaluated.
    let [evaluates, runs] = [row.is_evaluated(), row.runs()].map(|it| it && node.version.is_some());
    let signature = signature.filter(|_| standard == Standard::Onnx || runs);
    Resolved::Rule { row, rule, signature, form: Form::of_node(standard, node), evaluates }
}

/// The row by which a node of a model is inferred; nothing for functions of the model and operators
/// of the user.
pub fn row_of_node(model: &Source, node: &Node) -> Option<&'static Row> {
    let source = model.source();
    resolve(source.standard, &source.functions, model.operators(), node).row()
}

/// The function of a model that a node calls.
pub fn function_of_node<'m>(model: &'m Source, node: &Node) -> Option<&'m Function> {
    model.source().functions.iter().find(|function| function.id == node.operator)
}

/// The graphs that a node of a model may run, by their number: those in its attributes, and the
/// body of the function that it calls.
pub fn graphs_of_node<'m>(model: &'m Source, node: &'m Node) -> impl Iterator<Item = &'m Graph> {
    let body = function_of_node(model, node).map(|function| &function.body);
    node.graphs().map(AsRef::as_ref).chain(body)
}

/// Returns true if it is known what a node of a model does: by a rule, a function of the model or
/// an operator of the user.
pub fn is_understood(model: &Source, node: &Node) -> bool {
    let source = model.source();
    !matches!(resolve(source.standard, &source.functions, model.operators(), node), Resolved::None(_))
}
