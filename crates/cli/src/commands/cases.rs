//! `gradus cases`: test cases of an operator, for people who write runtimes.

use gradus::cases::{Cases, CasesOptions};

use crate::args;
use crate::diagnostics::Failure;
use crate::object::object;
use crate::output;

/// Runs `gradus cases`: writes a folder for each case.
pub(crate) fn cases(args: &args::CasesArgs) -> Result<(), Failure> {
    let mut options = CasesOptions::default();
    (options.count, options.seed, options.opset) = (args.count, args.seed, args.opset);
    options.limits = args.limits.limits();
    let mut made = Cases::new(&args.operator, &options)?;
    let mut names = Vec::new();
    for case in made.by_ref() {
        let case = case?;
        case.save(&args.output)?;
        names.push(case.name);
    }
    let (operator, version, opset) = (made.operator(), made.version(), made.opset());
    if output::is_json() {
        let folder = args.output.display().to_string();
        return output::print_json(&object!(CasesJson {
            operator,
            version,
            opset,
            seed: args.seed,
            folder,
            cases: names,
        }));
    }
    let s = if names.len() == 1 { "" } else { "s" };
    let folder = output::path(&args.output);
    output::print_line(&format!("{} case{s} of {operator}-{version} -> {folder}", names.len()))
}
