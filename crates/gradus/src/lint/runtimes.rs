//! Rules about what runtimes load, and where they differ.

use gradus_core::Result;
use gradus_core::graph::Standard;

use super::Fault;
use super::subject::Subject;
use crate::portability::{PROGRAMS, Portability, When};

/// Nodes that a runtime does not run.
pub(super) fn not_run(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    let mut found = Vec::new();
    for &runtime in &of.options.runtimes {
        let standard = of.standard();
        if !runtime.reads(standard) {
            found.push(Fault::at("the model", format!("{runtime} reads no models of {standard}")));
        } else if standard == Standard::Onnx {
            let what = format!("{runtime} cannot run the model");
            found.extend(of.model.not_run_by(runtime, &what)?.into_iter().map(|obstacle| {
                let location = obstacle.error.location();
                Fault::at(location.nodes.join(", "), obstacle.error.message().to_owned())
            }));
        }
    }
    Ok(found)
}

/// Nodes at which runtimes differ in every run.
pub(super) fn always_different(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    Ok(differences(&portability(of)?, |when| matches!(when, When::Always)))
}

/// Nodes at which runtimes differ for some sizes or data.
pub(super) fn sometimes_different(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    Ok(differences(&portability(of)?, |when| !matches!(when, When::Always)))
}

fn portability(of: &Subject<'_>) -> Result<Portability> {
    of.model.portability(&of.infer_options())
}

fn differences(portability: &Portability, is_asked: impl Fn(&When) -> bool) -> Vec<Fault> {
    let asked = portability.differences.iter().filter(|difference| is_asked(&difference.when));
    asked
        .map(|difference| {
            let results = PROGRAMS.iter().zip(difference.rule.results);
            let results: Vec<_> = results.map(|(program, result)| format!("{program} {result}")).collect();
            let when = match difference.when {
                When::Always => String::new(),
                _ => format!(" where {}", difference.condition()),
            };
            let place = format!("{} ({})", difference.node, difference.operator);
            Fault::at(place, format!("{}{when} ({})", results.join("; "), difference.rule.name))
        })
        .collect()
}
