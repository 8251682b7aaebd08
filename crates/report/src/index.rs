//! A page that lists the pages of many models.

use gradus::Error;
use gradus::text::{address, escaped};
use maud::{DOCTYPE, Markup, html};

use crate::Summary;
use crate::page::{STYLE, grouped, head, source};

/// A model in the index.
#[derive(Clone, Debug)]
pub struct IndexRow {
    /// The name of the model.
    pub name: String,
    /// The path of its page below the folder of the index, with `/` between its parts.
    pub page: String,
    /// The summary of its page, or why there is none.
    pub summary: Result<Summary, Error>,
}

/// Makes a page that lists models: name and link, nodes, parameters, peak and verdict.
///
/// ```
/// let page = gradus_report::index(&[]);
/// assert!(page.starts_with("<!DOCTYPE html>"));
/// ```
pub fn index(rows: &[IndexRow]) -> String {
    let policy = format!(
        "default-src 'none'; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        source(STYLE)
    );
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            (head(&policy, &format!("Gradus report: {} models", grouped(rows.len()))))
            body {
                header {
                    p.brand { "Gradus report" }
                    h1 { (grouped(rows.len())) @if rows.len() == 1 { " model" } @else { " models" } }
                }
                main #main {
                    div.scroll tabindex="0" role="region" aria-label="Models" {
                        table {
                            thead { tr {
                                th scope="col" { "Model" }
                                th.number scope="col" { "Nodes" }
                                th.number scope="col" { "Parameters" }
                                th scope="col" { "Peak of values, bytes" }
                                th scope="col" { "Verdict" }
                            } }
                            tbody { @for of in rows { (row(of)) } }
                        }
                    }
                }
            }
        }
    };
    markup.into_string()
}

fn row(of: &IndexRow) -> Markup {
    let name = escaped(&of.name);
    match &of.summary {
        Ok(summary) => html! {
            tr {
                th.name scope="row" { a href={ "./" (address(&of.page)) } { (name) } }
                td.number { (grouped(summary.nodes)) }
                td.number { (grouped(summary.parameters)) }
                td.name { (escaped(summary.peak.as_deref().unwrap_or("?"))) }
                td { (verdict(summary)) }
            }
        },
        Err(error) => html! {
            tr.bad {
                th.name scope="row" { (name) }
                td {} td {} td {}
                td { (escaped(&error.to_string())) }
            }
        },
    }
}

/// The head of the model's page, in short.
fn verdict(summary: &Summary) -> Markup {
    let unknown = summary.values - summary.known;
    html! {
        @match summary.problems.len() {
            0 => {},
            1 => { span.bad { "1 contradiction" } "; " },
            count => { span.bad { (grouped(count)) " contradictions" } "; " },
        }
        @if unknown == 0 { "all shapes known" } @else { (grouped(unknown)) " of " (grouped(summary.values)) " shapes not known" }
        @if let Ok(fold) = &summary.fold {
            @let (before, after) = fold.nodes();
            @if after < before { "; folding removes " (grouped(before - after)) " nodes" }
        }
    }
}

#[cfg(test)]
mod tests {
    use gradus::Kind;

    use super::*;

    #[test]
    fn names_are_text_and_paths_are_addresses() {
        let error = Error::new(Kind::Graph, "<b>wrong</b>");
        let row = IndexRow { name: "<i>\u{202e}".into(), page: "a b/\"#?.html".into(), summary: Err(error) };
        let page = index(std::slice::from_ref(&row));
        assert!(page.contains("&lt;i&gt;\\u{202e}") && page.contains("&lt;b&gt;wrong"), "{page}");
        assert!(!page.contains("<i>") && !page.contains("<b>") && !page.contains("<script"));
        assert_eq!(address(&row.page), "a%20b/%22%23%3F.html");
    }
}
