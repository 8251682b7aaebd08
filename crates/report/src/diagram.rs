//! The graph of a model as a diagram in the language of Graphviz or of Mermaid.
//!
//! Nodes of a common beginning of their names stand in a box. Names are text in both languages,
//! whatever they contain: nodes of the diagram are numbered, and labels are escaped.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

use gradus::graph::{Graph, Origin, ValueId};
use gradus::infer::{InferOptions, Inference};
use gradus::text::escaped;
use gradus::{Model, Result};

/// The language of a diagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiagramFormat {
    /// That of Graphviz.
    Dot,
    /// A flowchart of Mermaid, as in Markdown.
    Mermaid,
}

/// Draws the main graph of a model: inputs, nodes and outputs, with types and shapes on the edges.
/// Constants are left out. The first `depth` parts of the names of nodes, which `/` separates, are
/// boxes, within each other at most 32.
///
/// # Errors
/// As [`Model::infer`].
///
/// ```
/// use gradus::infer::InferOptions;
/// use gradus_report::{DiagramFormat, diagram};
/// let model = gradus::Model::open("../../examples/range.onnx")?;
/// let dot = diagram(&model, &InferOptions::default(), DiagramFormat::Dot, 2)?;
/// assert!(dot.starts_with("digraph"));
/// # Ok::<(), gradus::Error>(())
/// ```
pub fn diagram(model: &Model, options: &InferOptions, format: DiagramFormat, depth: usize) -> Result<String> {
    let inference = model.infer(options)?;
    let mut diagram = Diagram { format, text: String::new(), boxes: 0 };
    diagram.graph(model.graph(), &inference, depth);
    Ok(diagram.text)
}

/// Most boxes within each other.
const MOST_DEPTH: usize = 32;

/// Nodes whose names begin alike.
#[derive(Default)]
struct Group<'a> {
    nodes: Vec<usize>,
    groups: BTreeMap<&'a str, Group<'a>>,
}

struct Diagram {
    format: DiagramFormat,
    text: String,
    boxes: usize,
}

impl Diagram {
    fn graph(&mut self, graph: &Graph, inference: &Inference, depth: usize) {
        self.line(
            0,
            match self.format {
                DiagramFormat::Dot => "digraph {",
                DiagramFormat::Mermaid => "flowchart TB",
            },
        );
        if self.format == DiagramFormat::Dot {
            self.line(1, "node [shape=box]");
        }
        let mut all = Group::default();
        for &index in graph.order() {
            let name = graph.nodes()[index].name.trim_start_matches('/');
            let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
            let parts = folder.split('/').filter(|part| !part.is_empty()).take(depth.min(MOST_DEPTH));
            parts.fold(&mut all, |group, part| group.groups.entry(part).or_default()).nodes.push(index);
        }
        let open = || graph.inputs().iter().filter(|&&id| graph.constant(id).is_none());
        for &id in open() {
            self.node(1, &format!("i{}", id.index()), &[&graph.value(id).name], true);
        }
        self.group(1, graph, &all);
        let mut edges = HashSet::new();
        for &index in graph.order() {
            for id in graph.nodes()[index].needs().filter(|&id| edges.insert((id, index))) {
                self.edge(graph, inference, id, &format!("n{index}"));
            }
        }
        for (number, &id) in graph.outputs().iter().enumerate() {
            let output = format!("o{number}");
            self.node(1, &output, &[&graph.value(id).name], true);
            self.edge(graph, inference, id, &output);
        }
        if self.format == DiagramFormat::Dot {
            self.line(0, "}");
        }
    }

    fn group(&mut self, level: usize, graph: &Graph, group: &Group<'_>) {
        for &index in &group.nodes {
            let node = &graph.nodes()[index];
            let name = node.name.rsplit('/').next().unwrap_or_default();
            let operator = node.operator.to_string();
            let lines = if name.is_empty() { vec![&*operator] } else { vec![&*operator, name] };
            self.node(level, &format!("n{index}"), &lines, false);
        }
        for (name, inner) in &group.groups {
            self.boxes += 1;
            let (number, label) = (self.boxes, self.label(&[name]));
            match self.format {
                DiagramFormat::Dot => {
                    self.line(level, &format!("subgraph cluster{number} {{"));
                    self.line(level + 1, &format!("label={label}"));
                }
                DiagramFormat::Mermaid => self.line(level, &format!("subgraph g{number}[{label}]")),
            }
            self.group(level + 1, graph, inner);
            self.line(level, if self.format == DiagramFormat::Dot { "}" } else { "end" });
        }
    }

    /// A node, of which the ends of the graph are round.
    fn node(&mut self, level: usize, id: &str, lines: &[&str], is_end: bool) {
        let label = self.label(lines);
        let node = match (self.format, is_end) {
            (DiagramFormat::Dot, true) => format!("{id} [label={label}, shape=ellipse]"),
            (DiagramFormat::Dot, false) => format!("{id} [label={label}]"),
            (DiagramFormat::Mermaid, true) => format!("{id}([{label}])"),
            (DiagramFormat::Mermaid, false) => format!("{id}[{label}]"),
        };
        self.line(level, &node);
    }

    /// An edge from where a value comes from; constants come from nowhere.
    fn edge(&mut self, graph: &Graph, inference: &Inference, id: ValueId, to: &str) {
        let from = match graph.value(id).origin {
            Origin::Node(node, _) => format!("n{node}"),
            Origin::Input if graph.constant(id).is_none() => format!("i{}", id.index()),
            _ => return,
        };
        let label = self.label(&[&inference.describe(inference.fact(id))]);
        let edge = match self.format {
            DiagramFormat::Dot => format!("{from} -> {to} [label={label}]"),
            DiagramFormat::Mermaid => format!("{from} -->|{label}| {to}"),
        };
        self.line(1, &edge);
    }

    fn line(&mut self, level: usize, line: &str) {
        let _ = writeln!(self.text, "{:1$}{line}", "", 2 * level);
    }

    /// Lines of text between quotes, in which nothing means anything to the language.
    fn label(&self, lines: &[&str]) -> String {
        let mut label = String::from("\"");
        for (number, line) in lines.iter().enumerate() {
            if number > 0 {
                label.push_str(if self.format == DiagramFormat::Dot { "\\n" } else { "<br>" });
            }
            for c in escaped(line).chars() {
                let _ = match (self.format, c) {
                    (DiagramFormat::Dot, '"' | '\\') => write!(label, "\\{c}"),
                    // Graphviz reads entities of HTML in labels.
                    (DiagramFormat::Dot, '&') => write!(label, "&amp;"),
                    (DiagramFormat::Mermaid, c) if !c.is_alphanumeric() && !" _.,:/".contains(c) => {
                        write!(label, "#{};", u32::from(c))
                    }
                    (_, c) => write!(label, "{c}"),
                };
            }
        }
        label.push('"');
        label
    }
}
