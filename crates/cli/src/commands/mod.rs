//! The commands, a file each.

mod audit;
mod cases;
mod check;
mod compare;
mod convert;
mod cost;
mod devices;
mod diff;
mod dim;
mod edit;
mod fleet;
mod fold;
mod generalize;
mod given;
mod graph;
pub(crate) mod help;
mod infer;
mod join;
mod lint;
mod many;
mod mcp;
mod ops;
mod plan;
mod portability;
mod profile;
mod prove;
mod proved;
mod quantized;
mod report;
mod run;
mod run_inputs;
mod sequence;
mod show;
mod split;
mod sweep;
mod verify_proof;

use clap::CommandFactory;

use gradus::files::{self, NewFiles};
use gradus::{Error, Kind};

use crate::Host;
use crate::args::{self, Args, Command};
use crate::completion;
use crate::diagnostics::Failure;
use crate::output;

/// Does what was typed.
pub(crate) fn run(args: &Args, host: Host) -> Result<(), Failure> {
    match &args.command {
        Command::Graph(_)
        | Command::Mcp(_)
        | Command::Help(_)
        | Command::Completions(_)
        | Command::Man(_)
            if args.json =>
        {
            let message = "cannot print JSON: the command prints text, expected one that reports results";
            Err(Error::new(Kind::Usage, message).into())
        }
        Command::Run(args) => run::run(args),
        Command::Infer(args) => infer::infer(args),
        Command::Cost(args) => cost::cost(args),
        Command::Report(args) => report::report(args, host.runtime),
        Command::Graph(args) => graph::graph(args),
        Command::Fold(args) => fold::fold(args),
        Command::Convert(args) => convert::convert(args),
        Command::Edit(args) => edit::edit(args),
        Command::Generalize(args) => generalize::generalize(args),
        Command::Join(args) => join::join(args),
        Command::Split(args) => split::split(args),
        Command::Show(args) => show::show(args),
        Command::Diff(args) => diff::diff(args),
        Command::Check(args) => check::check(args, host.runtime),
        Command::Audit(args) => audit::audit(args, host.runtime),
        Command::Prove(args) => prove::prove(args),
        Command::VerifyProof(args) => verify_proof::verify_proof(args),
        Command::Lint(args) => lint::lint(args),
        Command::Cases(args) => cases::cases(args),
        Command::Mcp(args) => mcp::mcp(args, host.serve),
        Command::Ops(args) => ops::ops(args),
        Command::Dim(args) => dim::dim(args),
        Command::Devices(_) => devices::devices(),
        Command::Range(args) => sequence::range(args),
        Command::Linspace(args) => sequence::linspace(args),
        Command::Logspace(args) => sequence::logspace(args),
        Command::Geomspace(args) => sequence::geomspace(args),
        Command::Compare(args) => compare::compare(args),
        Command::Help(args) => help::help(args),
        Command::Completions(args) => output::print(&completion::script(&args.shell)?),
        Command::Man(args) => man(args),
    }
}

/// Prints a manual page, or writes all.
fn man(args: &args::Man) -> Result<(), Failure> {
    let mut gradus = Args::command();
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder).map_err(|error| files::cannot_write(folder, error))?;
        gradus.build();
        let mut files = NewFiles::default();
        let mut open = vec![&gradus];
        while let Some(command) = open.pop() {
            open.extend(command.get_subcommands().filter(|command| !command.is_hide_set()));
            let page = clap_mangen::Man::new(command.clone());
            let path = folder.join(page.get_filename());
            files.create(&path, |out| page.render(out).map_err(|error| files::cannot_write(&path, error)))?;
        }
        return Ok(files.commit()?);
    }
    gradus.build();
    let mut page = Vec::new();
    let command = match &args.command {
        None => gradus,
        Some(name) => {
            let names = gradus.get_subcommands().map(clap::Command::get_name);
            gradus.find_subcommand(name).cloned().ok_or_else(|| Error::unknown("command", name, names))?
        }
    };
    clap_mangen::Man::new(command).render(&mut page)?;
    output::print(&page)
}
