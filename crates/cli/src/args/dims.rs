//! The arguments of `gradus dim`.

use clap::{Args as ClapArgs, ValueEnum};

use super::sizes::{AssumeArgs, LimitArgs};

/// Decide a condition of sizes, or print an expression in its canonical form.
///
/// A condition is two expressions with ==, !=, <=, >=, < or > between them. It is `true` if it
/// holds for all numbers that meet what is assumed, by a proof; `false` with numbers for which it
/// fails; `unknown` if neither is found; and there is a `contradiction` if no numbers meet what is
/// assumed. The exit status is 0, 1, 3 and 1. Names are sizes, 0 and above, unless --range says
/// otherwise; where a condition divides by zero, it says nothing. Expressions are read as ONNX's
/// tools, `SymPy` and `PyTorch` write them (docs/explanation/dims.md).
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  gradus dim '(n + 7)//8*8 >= n'\n  gradus dim 'CeilDiv(4*n + 2, 2)' --at n=5"
)]
pub(crate) struct Dim {
    /// The condition or the expression.
    #[arg(value_name = "CONDITION|EXPRESSION", allow_hyphen_values = true)]
    pub(crate) text: String,

    /// A number for a name: the value of an expression, or whether a condition holds there.
    #[arg(long, value_name = "NAME=NUMBER")]
    pub(crate) at: Vec<String>,

    /// The dialect in which an expression is printed.
    #[arg(long, value_enum, value_name = "DIALECT", default_value = "gradus")]
    pub(crate) dims: Dialect,

    /// Print JSON (docs/json.md).
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) assume: AssumeArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// The dialect of a printed expression.
#[derive(Clone, Copy, Debug, ValueEnum)]
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
