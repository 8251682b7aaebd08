//! `gradus join`: two models as one.

use gradus::edit::JoinOptions;

use super::edit::{destination, pair, save};
use crate::args;
use crate::diagnostics::Failure;

/// Runs `gradus join`.
pub(crate) fn join(args: &args::JoinArgs) -> Result<(), Failure> {
    let [first, second] = [&args.first, &args.second];
    let models = [args.limits.open(first)?, args.limits.open(second)?];
    let mut options = JoinOptions::default();
    for link in &args.links {
        options.links.push(pair("--link", link, "OUTPUT=INPUT")?);
    }
    options.keep.clone_from(&args.keep);
    options.prefix = Some(args.prefix.clone());
    let to = destination(&args.output, first, models[0].source().standard)?;
    let joined = models[0].join(&models[1], &options)?;
    save(&joined, &[first, second], &to)
}
