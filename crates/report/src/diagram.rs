//! The graph of a model as a diagram: an SVG (`svg.rs`), or text of Graphviz or Mermaid.
//!
//! Nodes of a common beginning of their names stand in a box. Names are text in all of them,
//! whatever they contain: nodes of the diagram are numbered, and labels are escaped.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

use gradus::graph::{Graph, Origin, ValueId};
use gradus::infer::{InferOptions, Inference};
use gradus::text::escaped;
use gradus::{Model, Result};

use crate::svg;

/// The language of a diagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiagramFormat {
    /// That of Graphviz.
    Dot,
    /// A flowchart of Mermaid, as in Markdown.
    Mermaid,
    /// A picture, for browsers.
    Svg,
}

/// Draws the main graph of a model: inputs, nodes and outputs, with types and shapes. Constants are
/// left out.
///
/// The first `depth` parts of the names of nodes, which `/` separates, are boxes, within each other
/// at most 32. In the languages these are 2 unless they are given. In a picture, boxes further
/// within are closed: one box that says how many nodes there are. Unless `depth` is given, as many
/// are open as leave at most 1,000 boxes, and never more than 10,000. Nodes that read only
/// constants are left out.
///
/// # Errors
/// As [`Source::infer`](gradus::Source::infer).
///
/// ```
/// use gradus::infer::InferOptions;
/// use gradus_report::{DiagramFormat, diagram};
/// let model = gradus::Model::open("../../examples/range.onnx")?;
/// let dot = diagram(&model, &InferOptions::default(), DiagramFormat::Dot, None)?;
/// assert!(dot.starts_with("digraph"));
/// let picture = diagram(&model, &InferOptions::default(), DiagramFormat::Svg, None)?;
/// assert!(picture.starts_with("<svg"));
/// # Ok::<(), gradus::Error>(())
/// ```
pub fn diagram(
    model: &Model,
    options: &InferOptions,
    format: DiagramFormat,
    depth: Option<usize>,
) -> Result<String> {
    let inference = model.infer(options)?;
    if format == DiagramFormat::Svg {
        return Ok(svg::picture(model.graph(), &inference, depth));
    }
    let mut diagram = DiagramWriter { format, text: String::new(), boxes: 0 };
    diagram.graph(model.graph(), &inference, depth.unwrap_or(2));
    Ok(diagram.text)
}

/// Maximum number of boxes within each other.
const MAX_DEPTH: usize = 32;

/// Nodes whose names begin alike.
#[derive(Default)]
pub(crate) struct NodeGroup<'a> {
    pub(crate) nodes: Vec<usize>,
    pub(crate) groups: BTreeMap<&'a str, NodeGroup<'a>>,
}

impl<'a> NodeGroup<'a> {
    /// All nodes that are taken, by the first `depth` parts of their names, in the order of the
    /// run.
    pub(crate) fn of(graph: &'a Graph, depth: usize, takes: impl Fn(usize) -> bool) -> NodeGroup<'a> {
        let mut all = NodeGroup::default();
        for &index in graph.order().iter().filter(|&&index| takes(index)) {
            let parts = graph.nodes()[index].groups().take(depth.min(MAX_DEPTH));
            parts.fold(&mut all, |group, part| group.groups.entry(part).or_default()).nodes.push(index);
        }
        all
    }
}

struct DiagramWriter {
    format: DiagramFormat,
    text: String,
    boxes: usize,
}

impl DiagramWriter {
    fn graph(&mut self, graph: &Graph, inference: &Inference, depth: usize) {
        let is_dot = self.format == DiagramFormat::Dot;
        self.line(0, if is_dot { "digraph {" } else { "flowchart TB" });
        if is_dot {
            self.line(1, "node [shape=box]");
        }
        let all = NodeGroup::of(graph, depth, |_| true);
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

    fn group(&mut self, level: usize, graph: &Graph, group: &NodeGroup<'_>) {
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
            if self.format == DiagramFormat::Dot {
                self.line(level, &format!("subgraph cluster{number} {{"));
                self.line(level + 1, &format!("label={label}"));
            } else {
                self.line(level, &format!("subgraph g{number}[{label}]"));
            }
            self.group(level + 1, graph, inner);
            self.line(level, if self.format == DiagramFormat::Dot { "}" } else { "end" });
        }
    }

    /// A node, of which the ends of the graph are round.
    fn node(&mut self, level: usize, id: &str, lines: &[&str], is_end: bool) {
        let label = self.label(lines);
        let node = match (self.format == DiagramFormat::Dot, is_end) {
            (true, true) => format!("{id} [label={label}, shape=ellipse]"),
            (true, false) => format!("{id} [label={label}]"),
            (false, true) => format!("{id}([{label}])"),
            (false, false) => format!("{id}[{label}]"),
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
        let edge = if self.format == DiagramFormat::Dot {
            format!("{from} -> {to} [label={label}]")
        } else {
            format!("{from} -->|{label}| {to}")
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
