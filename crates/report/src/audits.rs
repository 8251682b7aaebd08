//! Audits of a model, as a section of its page.

use gradus::audit::{Audit, AuditStatus, InvarianceCheck};
use gradus::text::escaped;
use maud::{Markup, html};

use crate::page::grouped;

/// The section of a page about audits, each of a program.
pub(crate) fn section(audits: &[(String, Audit)]) -> Option<Markup> {
    let (_, first) = audits.first()?;
    Some(html! {
        section #audit aria-labelledby="audit-title" {
            h2 #audit-title { "What changes the bits" }
            p { "Pairs of runs that should have the same bits, and differ in one thing. " code { "holds" } " is what the pairs showed, and no proof." }
            div.scroll tabindex="0" role="region" aria-labelledby="audit-title" {
                table {
                    thead { tr {
                        th scope="col" { "Invariance" }
                        @for (program, _) in audits { th.name scope="col" { (escaped(program)) } }
                    } }
                    tbody { @for (place, check) in first.checks.iter().enumerate() {
                        tr {
                            th scope="row" { (check.invariance.name()) }
                            @for (_, audit) in audits { td { (cell(&audit.checks[place])) } }
                        }
                    } }
                }
            }
        }
    })
}

/// The result of an invariance, its reason, and what is known of a pair that differs.
fn cell(check: &InvarianceCheck) -> Markup {
    let differing = check.outputs.iter().filter(|output| !output.is_same());
    let is_other = !matches!(check.status, AuditStatus::Holds | AuditStatus::NotApplicable);
    html! {
        @if is_other { strong { (check.status.name()) } } @else { (check.status.name()) }
        @if check.pairs > 0 { " (" (grouped(check.pairs)) @if check.pairs == 1 { " pair)" } @else { " pairs)" } }
        @if let Some(reason) = &check.reason { ": " (escaped(reason)) }
        @if let Some(pair) = &check.pair { ": " (escaped(&pair.first)) ", and " (escaped(&pair.second)) }
        @for output in differing {
            "; " span.name { (escaped(&output.name)) }
            @if output.ulps < u64::MAX { " by " (grouped(output.ulps)) " ulp" }
        }
        @if let Some(node) = &check.first { "; first at " span.name { (escaped(&node.node)) } }
    }
}
