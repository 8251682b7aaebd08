//! `gradus help`: the help of a command, or a page of the documentation about a topic.

use clap::CommandFactory;
use gradus::Error;

use crate::args::{Args, Help};
use crate::diagnostics::Failure;
use crate::output;

/// Topics by name, with their pages.
pub(crate) const TOPICS: [(&str, &str); 5] = [
    ("dims", include_str!("../../topics/dims.md")),
    ("exactness", include_str!("../../topics/exactness.md")),
    ("inputs", include_str!("../../topics/inputs.md")),
    ("profiles", include_str!("../../topics/profiles.md")),
    ("soundness", include_str!("../../topics/soundness.md")),
];

/// Runs `gradus help`: prints the help of a command or a page about a topic.
pub(crate) fn help(args: &Help) -> Result<(), Failure> {
    if let [topic] = &args.subject[..]
        && let Some((_, page)) = TOPICS.iter().find(|(name, _)| name == topic)
    {
        return output::print(page.as_bytes());
    }
    let mut gradus = Args::command();
    gradus.build();
    let mut command = &mut gradus;
    for name in &args.subject {
        let mut known: Vec<_> = command.get_subcommands().map(|c| c.get_name().to_owned()).collect();
        known.extend(TOPICS.map(|(topic, _)| topic.to_owned()));
        let found = command.find_subcommand_mut(name);
        command = found
            .ok_or_else(|| Error::unknown("command or topic", name, known.iter().map(String::as_str)))?;
    }
    let help = command.render_long_help();
    anstream::print!("{}", help.ansi());
    Ok(())
}
