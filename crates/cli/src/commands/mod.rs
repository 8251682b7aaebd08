//! The commands, a file each.

mod compare;
mod convert;
mod devices;
mod diff;
mod fold;
mod given;
mod infer;
mod many;
mod ops;
mod run;
mod sequence;
mod show;

use clap::CommandFactory;

use crate::args::{Args, Command};
use crate::diagnostics::Failure;
use crate::output;

/// Does what was typed.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::Run(args) => run::run(args),
        Command::Infer(args) => infer::infer(args),
        Command::Fold(args) => fold::fold(args),
        Command::Convert(args) => convert::convert(args),
        Command::Show(args) => show::show(args),
        Command::Diff(args) => diff::diff(args),
        Command::Ops(args) => ops::ops(args),
        Command::Devices(args) => devices::devices(args),
        Command::Range(args) => sequence::range(args),
        Command::Linspace(args) => sequence::linspace(args),
        Command::Logspace(args) => sequence::logspace(args),
        Command::Geomspace(args) => sequence::geomspace(args),
        Command::Compare(args) => compare::compare(args),
        Command::Completions(args) => {
            let mut script = Vec::new();
            clap_complete::generate(args.shell, &mut Args::command(), "gradus", &mut script);
            output::print(&script)
        }
        Command::Man => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Args::command()).render(&mut page).map_err(Failure::from)?;
            output::print(&page)
        }
    }
}
