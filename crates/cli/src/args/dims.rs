//! The arguments of `gradus dim`.

use clap::{Args as ClapArgs, ValueEnum};

use super::sizes::{AssumeArgs, LimitArgs};

/// Decide a condition of sizes, or print an expression in its canonical form.
///
/// A condition is two expressions with ==, !=, <=, >=, < or > between them, or conditions that
/// `and`, `or` and `not` join (And, Or and Not; &, | and ~). It is `true` if it holds for all
/// numbers that meet what is assumed, by a proof; `false` with numbers for which it fails; `unknown`
/// if neither is found; and there is a `contradiction` if no numbers meet what is assumed. The exit
/// status is 0, 1, 3 and 1. Names are sizes, 0 and above, unless --range says otherwise; where a
/// condition divides by zero, it says nothing. Expressions are read as ONNX's tools, `SymPy` and
/// `PyTorch` write them (docs/explanation/dims.md).
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  gradus dim '(n + 7)//8*8 >= n'\n  gradus dim '(h + 2)//4 == k' --solve-for h"
)]
pub(crate) struct Dim {
    /// The condition or the expression.
    #[arg(value_name = "CONDITION|EXPRESSION", allow_hyphen_values = true)]
    pub(crate) text: String,

    /// A number for a name: the value of an expression, or whether a condition holds there.
    #[arg(long, value_name = "NAME=NUMBER")]
    pub(crate) at: Vec<String>,

    /// Solve the condition for a name: print the numbers for which it holds, as an interval whose
    /// ends do not depend on the name. The exit status is 1 if there are none, and 3 if they are
    /// not found.
    #[arg(long, value_name = "NAME", conflicts_with = "at")]
    pub(crate) solve_for: Option<String>,

    #[command(flatten)]
    pub(crate) written: DialectArg,

    #[command(flatten)]
    pub(crate) assume: AssumeArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// The dialect in which dimensions are printed.
#[derive(Clone, Copy, Debug, ClapArgs)]
pub(crate) struct DialectArg {
    /// The dialect in which dimensions are printed: `min(n, h//2)`, `Min(n, h//2)` for ONNX's tools
    /// and `PyTorch`, `Min(n, floor(h/2))` for `SymPy`.
    #[arg(long = "dims", value_enum, value_name = "DIALECT", default_value = "gradus")]
    pub(crate) dialect: Dialect,
}

/// A dialect of expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dialect {
    Gradus,
    Onnx,
    Sympy,
    Torch,
}

impl From<Dialect> for gradus::dim::Dialect {
    fn from(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Gradus => gradus::dim::Dialect::Gradus,
            Dialect::Onnx => gradus::dim::Dialect::Onnx,
            Dialect::Sympy => gradus::dim::Dialect::SymPy,
            Dialect::Torch => gradus::dim::Dialect::Torch,
        }
    }
}
