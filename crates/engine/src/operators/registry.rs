//! The table of operators, as those that look rows up know it.

use std::sync::OnceLock;

use foldhash::HashMap;
use gradus_core::error::near;
use gradus_core::graph::{Node, Standard};
use gradus_core::{Error, Kind, Result};

use super::row::Row;
use crate::schema::Signature;

/// All rows, by operator.
#[derive(Debug)]
pub struct Registry {
    rows: &'static [&'static [Row]],
    index: HashMap<(Standard, &'static str, &'static str), &'static Row>,
}

static INSTALLED: OnceLock<Registry> = OnceLock::new();

impl Registry {
    /// Makes a table the one in which rows are looked up, if there is none yet. Every
    /// [`Source`](crate::source::Source) does, so that whatever is computed of a model finds it.
    pub fn install(rows: &'static [&'static [Row]]) -> &'static Registry {
        INSTALLED.get_or_init(|| {
            let all = rows.iter().copied().flatten();
            Registry { rows, index: all.map(|row| ((row.standard, row.domain, row.name), row)).collect() }
        })
    }

    /// All rows.
    pub fn all(&self) -> impl Iterator<Item = &'static Row> + use<> {
        self.rows.iter().copied().flatten()
    }

    /// The row of an operator, if there is one. Paddle's `relu_`, which may write where it reads,
    /// is `relu`.
    pub fn row(&self, standard: Standard, domain: &str, name: &str) -> Option<&'static Row> {
        let plain = || name.strip_suffix('_').filter(|_| standard == Standard::Paddle);
        let found = self.index.get(&(standard, domain, name));
        found.or_else(|| self.index.get(&(standard, domain, plain()?))).copied()
    }

    /// The row of a node's operator, if there is one.
    pub fn row_of(&self, standard: Standard, node: &Node) -> Option<&'static Row> {
        self.row(standard, &node.operator.domain, &node.operator.name)
    }
}

/// The table that is installed.
pub fn table() -> &'static Registry {
    INSTALLED.get().expect("a source of a model was made, which installs the table")
}

/// The row of an operator, if there is one.
pub fn row(standard: Standard, domain: &str, name: &str) -> Option<&'static Row> {
    table().row(standard, domain, name)
}

/// The row of a node's operator, if there is one.
pub fn row_of(standard: Standard, node: &Node) -> Option<&'static Row> {
    table().row_of(standard, node)
}

/// The signature of the version of an operator that applies to a node.
///
/// # Errors
/// [`Kind::Graph`] if the model imports no operator set of the domain, or one that is older than
/// the operator.
pub fn signature(row: &Row, node: &Node) -> Result<&'static Signature> {
    let Row { domain, name, .. } = row;
    let Some(version) = node.version else {
        let message =
            format!("cannot tell the version of {name}: the import of domain \"{domain}\" is missing");
        return Err(Error::new(Kind::Graph, message));
    };
    row.signature_in(version).ok_or_else(|| {
        let since = row.signatures().first().map_or(1, |first| first.since);
        let what = format_args!("cannot use {name}: operator set");
        Error::mismatch(Kind::Graph, what, version, format_args!("at least {since}"))
    })
}

/// The row and signature of a node whose operator is evaluated.
///
/// # Errors
/// [`Kind::Unsupported`] if Gradus does not evaluate the operator; as [`signature`].
pub fn evaluated(standard: Standard, node: &Node) -> Result<(&'static Row, &'static Signature)> {
    let unsupported = |hint: &str| {
        let message = format!("cannot evaluate operator {} of {standard}{hint}", node.operator);
        Error::new(Kind::Unsupported, message)
    };
    let row = row_of(standard, node).ok_or_else(|| {
        let known: Vec<_> =
            table().all().filter(|row| row.standard == standard).map(|row| row.name).collect();
        let near = near(&node.operator.name, &known);
        unsupported(&near.first().map_or(String::new(), |near| format!("; did you mean {near}?")))
    })?;
    if !row.is_evaluated() {
        return Err(unsupported(""));
    }
    Ok((row, signature(row, node)?))
}
