//! The graph of a model as a picture: one file of SVG without scripts, which follows the light or
//! dark scheme of the system, and says more where the pointer rests.
//!
//! Groups are laid out from within: a group is a box whose edges begin and end at ports, which are
//! boxes of its own layout ([`layered`]).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;

use gradus::graph::{Graph, Node, Origin, ValueId};
use gradus::infer::Inference;
use gradus::sort::SharedSort;
use gradus::text::escaped;
use gradus::{Fact, TensorFact};

use crate::diagram::NodeGroup;
use crate::layout::{Edge, Item, Place, layered};
use crate::page::grouped;

/// Boxes that are drawn unless more are asked for, and then.
const MAX_BOXES: [usize; 2] = [1000, 10_000];
/// Boxes of a group whose own are too many: each stands for consecutive nodes.
const RUNS: usize = 100;
/// Ports of a group on each side, of which more are one.
const MAX_PORTS: usize = 12;
/// Lines of a title that name values.
const MAX_LINES: usize = 8;
/// Characters of a line in a box.
const MAX_CHARACTERS: usize = 34;

/// The width of a character, the height of a line, and the distance from text to its box.
const CHARACTER: f64 = 6.4;
const LINE: f64 = 15.0;
const PAD: f64 = 10.0;
/// The height of the label of a group.
const LABEL: f64 = 24.0;

const STYLE: &str = "\
text{font:11px system-ui,\"Segoe UI\",Roboto,Arial,sans-serif;fill:#1d2126}\
.o{font-weight:650}.s,.l{fill:#59616b}.p{fill:#fbfbfa}.n{fill:#fff;stroke:#8b939c}.a{fill:#f0f1f2;stroke:#c6cbd1}\
.i{fill:#eef4ec;stroke:#1f6b3a}.c{fill:#d6e5f5;stroke:#1f5fa8}.g{fill:#1f5fa8;fill-opacity:.045;stroke:#a9c8ea}\
.e{fill:none;stroke:#8b939c;pointer-events:stroke}.e:hover{stroke:#a61b1b;stroke-width:2}.t .o,.t text{fill:#8b939c}\
@media (prefers-color-scheme:dark){text{fill:#e4e7eb}.s,.l{fill:#a0a8b2}.p{fill:#15181c}.n{fill:#1c2025;stroke:#6d7681}\
.a{fill:#191c20;stroke:#343a42}.i{fill:#1a2b20;stroke:#7fd09a}.c{fill:#24405f;stroke:#8dbdf2}\
.g{fill:#8dbdf2;stroke:#2f5680}.e{stroke:#6d7681}.e:hover{stroke:#ff9b93}.t .o,.t text{fill:#6d7681}}";

/// Draws a graph. Groups are open to a depth, if one is given.
pub(crate) fn picture(graph: &Graph, inference: &Inference, depth: Option<usize>) -> String {
    let outputs: HashSet<_> = graph.outputs().iter().copied().collect();
    // Values that are made of constants alone.
    let is_constant = |id| graph.constant(id).is_some() || matches!(graph.value(id).origin, Origin::Constant);
    let mut constant: Vec<_> = graph.ids().map(is_constant).collect();
    let mut is_left_out = vec![false; graph.nodes().len()];
    for &index in graph.order() {
        let node = &graph.nodes()[index];
        let mut made = node.outputs.iter().flatten();
        if node.needs().all(|id| constant[id.index()]) && !made.clone().any(|id| outputs.contains(id)) {
            is_left_out[index] = true;
            made.by_ref().for_each(|id| constant[id.index()] = true);
        }
    }
    let all = NodeGroup::of(graph, usize::MAX, |index| !is_left_out[index]);
    let open = open_levels(&all, depth);
    let mut order = vec![0; graph.nodes().len()];
    let mut nodes = Vec::new();
    all.collect(&mut nodes);
    for (place, &index) in nodes.iter().enumerate() {
        order[index] = place;
    }
    let mut used: Vec<Option<[usize; 2]>> = vec![None; graph.values().len()];
    for &index in &nodes {
        for id in graph.nodes()[index].needs() {
            let place = order[index];
            let [first, last] = used[id.index()].unwrap_or([place; 2]);
            used[id.index()] = Some([first.min(place), last.max(place)]);
        }
    }
    let mut step = vec![0; graph.nodes().len()];
    for (place, &index) in graph.order().iter().enumerate() {
        step[index] = place;
    }
    let drawing = Drawing { graph, inference, constant, order, step, used, outputs };
    let Drawn { width, height, body, .. } = drawing.group(&all, open, true);
    let (width, height) = (width.ceil() + 2.0 * PAD, height.ceil() + 2.0 * PAD);
    let count = grouped(nodes.len());
    let left_out = match graph.nodes().len() - nodes.len() {
        0 => String::new(),
        left_out => format!("; {} that read only constants are left out", grouped(left_out)),
    };
    let about = format!("{count} nodes{left_out}");
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\" aria-labelledby=\"title about\">\n<title id=\"title\">{}</title>\n<desc id=\"about\">{about}</desc>\n\
         <style>{STYLE}</style>\n<rect class=\"p\" width=\"{width}\" height=\"{height}\"/>\n\
         <g transform=\"translate({PAD},{PAD})\">\n{body}</g>\n</svg>\n",
        text(graph.name(), usize::MAX)
    )
}

/// The number of levels of groups that are open.
fn open_levels(all: &NodeGroup<'_>, depth: Option<usize>) -> usize {
    let mut levels: Vec<[usize; 2]> = Vec::new();
    all.count(0, &mut levels);
    let most = MAX_BOXES[usize::from(depth.is_some())];
    let total = |open: usize| {
        let nodes: usize = levels.iter().take(open + 1).map(|[nodes, _]| nodes).sum();
        nodes + levels.iter().take(open + 2).map(|[_, groups]| groups).sum::<usize>()
    };
    let deepest = depth.unwrap_or(usize::MAX).min(levels.len() - 1);
    (0..=deepest).rev().find(|&open| total(open) <= most).unwrap_or(0)
}

impl NodeGroup<'_> {
    /// Adds the numbers of nodes and of groups of each level.
    fn count(&self, level: usize, levels: &mut Vec<[usize; 2]>) {
        if levels.len() == level {
            levels.push([0; 2]);
        }
        levels[level][0] += self.nodes.len();
        levels[level][1] += usize::from(level > 0);
        self.groups.values().for_each(|inner| inner.count(level + 1, levels));
    }

    /// Adds all nodes; those of a group are consecutive.
    fn collect(&self, nodes: &mut Vec<usize>) {
        nodes.extend(&self.nodes);
        self.groups.values().for_each(|inner| inner.collect(nodes));
    }
}

/// A graph while it is drawn.
struct Drawing<'a> {
    graph: &'a Graph,
    inference: &'a Inference,
    /// Values that are made of constants alone, which are not drawn.
    constant: Vec<bool>,
    /// The place of each node, where those of a group are consecutive; and in the run.
    order: Vec<usize>,
    step: Vec<usize>,
    /// The places of the first and the last node that reads a value.
    used: Vec<Option<[usize; 2]>>,
    outputs: HashSet<ValueId>,
}

/// A box within a group.
enum GroupChild<'a, 'b> {
    Node(usize),
    Group(&'b str, &'b NodeGroup<'a>),
    /// Consecutive boxes of a group that has too many.
    Run(Vec<GroupChild<'a, 'b>>),
}

impl GroupChild<'_, '_> {
    /// Adds all nodes.
    fn collect(&self, nodes: &mut Vec<usize>) {
        match self {
            GroupChild::Node(index) => nodes.push(*index),
            GroupChild::Group(_, group) => group.collect(nodes),
            GroupChild::Run(children) => children.iter().for_each(|child| child.collect(nodes)),
        }
    }
}

/// The drawing of a box, from its left upper corner on.
#[derive(Default)]
struct Drawn {
    width: f64,
    height: f64,
    body: String,
    /// Positions at which edges of values end and begin, if not in the middle.
    entries: HashMap<ValueId, f64>,
    exits: HashMap<ValueId, f64>,
}

/// The boxes of one layout.
#[derive(Default)]
struct Boxes {
    items: Vec<Item>,
    drawn: Vec<Drawn>,
}

impl Boxes {
    fn push(&mut self, place: Place, drawn: Drawn) -> usize {
        self.items.push(Item { width: drawn.width, height: drawn.height, place });
        self.drawn.push(drawn);
        self.items.len() - 1
    }
}

impl<'a> Drawing<'a> {
    /// Draws the inside of a group, whose groups are open for `open` more levels.
    fn group(&self, group: &NodeGroup<'a>, open: usize, is_whole: bool) -> Drawn {
        let groups = group.groups.iter().map(|(name, inner)| GroupChild::Group(name, inner));
        let mut children: Vec<_> =
            group.nodes.iter().map(|&index| GroupChild::Node(index)).chain(groups).collect();
        children.sort_by_cached_key(|child| self.first(child));
        if children.len() > MAX_BOXES[1] || (open == 0 && children.len() > MAX_BOXES[0]) {
            let each = children.len().div_ceil(RUNS);
            let mut all = children.into_iter().peekable();
            children = std::iter::from_fn(|| {
                all.peek()?;
                Some(GroupChild::Run(all.by_ref().take(each).collect()))
            })
            .collect();
        }
        let mut own = Vec::new();
        group.collect(&mut own);
        let [entering, leaving] = self.ports(&own);

        let mut boxes = Boxes::default();
        let mut from: HashMap<ValueId, (usize, f64)> = HashMap::new();
        let mut into: Vec<(usize, ValueId, f64)> = Vec::new();
        let mut ports = [Vec::new(), Vec::new()];
        let mut shared = None;
        for &id in &entering {
            let is_shared = !is_whole && entering.len() > MAX_PORTS;
            let port = shared.filter(|_| is_shared).unwrap_or_else(|| {
                let end = if is_whole { self.end(id, "input") } else { Drawn::default() };
                boxes.push(Place::First, end)
            });
            shared = Some(port);
            from.insert(id, (port, boxes.items[port].width / 2.0));
            ports[0].push((id, port));
        }
        for child in &children {
            let mut nodes = Vec::new();
            child.collect(&mut nodes);
            let drawn = match child {
                GroupChild::Node(index) => self.node(*index),
                GroupChild::Group(name, inner) => match open.checked_sub(1) {
                    Some(open) => self.opened(name, inner, open),
                    None => self.closed(name, &nodes),
                },
                GroupChild::Run(_) => self.closed("", &nodes),
            };
            let (middle, index) = (drawn.width / 2.0, boxes.items.len());
            let own: HashSet<_> = nodes.iter().copied().collect();
            let mut seen = HashSet::new();
            for &node in &nodes {
                let node = &self.graph.nodes()[node];
                for id in node.outputs.iter().copied().flatten() {
                    from.insert(id, (index, drawn.exits.get(&id).copied().unwrap_or(middle)));
                }
                for id in node.needs().filter(|id| !self.constant[id.index()] && seen.insert(*id)) {
                    let is_within =
                        matches!(self.graph.value(id).origin, Origin::Node(by, _) if own.contains(&by));
                    if !is_within {
                        into.push((index, id, drawn.entries.get(&id).copied().unwrap_or(middle)));
                    }
                }
            }
            boxes.push(Place::Inner, drawn);
        }
        let mut shared = None;
        for &id in &leaving {
            let is_shared = !is_whole && leaving.len() > MAX_PORTS;
            let port = shared.filter(|_| is_shared).unwrap_or_else(|| {
                let end = if is_whole { self.end(id, "output") } else { Drawn::default() };
                boxes.push(Place::Last, end)
            });
            shared = Some(port);
            into.push((port, id, boxes.items[port].width / 2.0));
            ports[1].push((id, port));
        }
        self.composed(&boxes, &from, &into, &ports)
    }

    /// Lays out boxes and their edges.
    fn composed(
        &self,
        boxes: &Boxes,
        from: &HashMap<ValueId, (usize, f64)>,
        into: &[(usize, ValueId, f64)],
        ports: &[Vec<(ValueId, usize)>; 2],
    ) -> Drawn {
        // Values between the same places share an edge.
        let mut joined = BTreeMap::new();
        for &(to, id, end) in into {
            let Some(&(from, begin)) = from.get(&id) else { continue };
            let edge = Edge { from, to, begin, end };
            let key = (from, to, begin.to_bits(), end.to_bits());
            joined.entry(key).or_insert_with(|| (edge, Vec::new())).1.push(id);
        }
        let edges: Vec<_> = joined.values().map(|(edge, _)| *edge).collect();
        let layout = layered(&boxes.items, &edges);
        let mut drawn = Drawn { width: layout.width, height: layout.height, ..Drawn::default() };
        for (path, (_, ids)) in layout.paths.iter().zip(joined.values()) {
            let lines = ids.iter().map(|&id| self.value(id)).collect();
            let _ = writeln!(drawn.body, "<path class=\"e\" d=\"{path}\">{}</path>", title(lines));
        }
        for ([x, y], inner) in
            layout.corners.iter().zip(&boxes.drawn).filter(|(_, inner)| !inner.body.is_empty())
        {
            let _ = writeln!(drawn.body, "<g transform=\"translate({x:.0},{y:.0})\">{}</g>", inner.body);
        }
        let at = |&(id, port): &(ValueId, usize)| (id, layout.corners[port][0]);
        drawn.entries = ports[0].iter().map(at).collect();
        drawn.exits = ports[1].iter().map(at).collect();
        drawn
    }

    /// An open group: its inside, with a frame and lines to its ports.
    fn opened(&self, name: &str, group: &NodeGroup<'a>, open: usize) -> Drawn {
        let mut inner = self.group(group, open, false);
        let width = (inner.width + 2.0 * PAD).max(width_of(name));
        let shift = (width - inner.width) / 2.0;
        let height = inner.height + LABEL + PAD;
        let foot = inner.height + LABEL;
        for x in inner.entries.values_mut().chain(inner.exits.values_mut()) {
            *x += shift;
        }
        let mut body = frame("g", width, height);
        let mut lines: Vec<_> = inner.entries.values().map(|x| (format!("{x:.0}"), 0.0, LABEL)).collect();
        lines.extend(inner.exits.values().map(|x| (format!("{x:.0}"), foot, height)));
        lines.shared_sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        lines.dedup();
        for (x, top, bottom) in lines {
            let _ = write!(body, "<path class=\"e\" d=\"M{x},{top:.0}V{bottom:.0}\"/>");
        }
        let _ = write!(
            body,
            "<text class=\"l\" x=\"6\" y=\"14\">{}{}</text>\n<g transform=\"translate({shift:.0},{LABEL})\">\n{}</g>",
            text(name, MAX_CHARACTERS),
            title(vec![name.to_owned()]),
            inner.body
        );
        Drawn { width, height, body, ..inner }
    }

    /// A closed group, or consecutive nodes.
    fn closed(&self, name: &str, nodes: &[usize]) -> Drawn {
        let mut operators: BTreeMap<String, usize> = BTreeMap::new();
        for &index in nodes {
            *operators.entry(self.graph.nodes()[index].operator.to_string()).or_default() += 1;
        }
        let mut operators: Vec<_> = operators.into_iter().collect();
        operators.shared_sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let count = if nodes.len() == 1 { "1 node".to_owned() } else { grouped(nodes.len()) + " nodes" };
        let mut lines = Vec::new();
        if name.is_empty() {
            let ends = [nodes.first(), nodes.last()].map(|end| end.map(|&index| self.label(index)));
            lines.extend(ends.into_iter().flatten());
        } else {
            lines.push(name.to_owned());
        }
        let titles = operators.iter().map(|(operator, count)| format!("{count} {operator}"));
        let titles = lines.iter().cloned().chain(titles).collect();
        lines.push(count);
        boxed("c", &lines, titles)
    }

    fn node(&self, index: usize) -> Drawn {
        let node = &self.graph.nodes()[index];
        let fact = node.outputs.iter().flatten().next().map(|&id| self.inference.fact(id));
        let name = node.name.rsplit('/').next().unwrap_or_default();
        let mut lines = vec![node.operator.to_string()];
        lines.extend((!name.is_empty() && *name != *lines[0]).then(|| name.to_owned()));
        lines.extend(fact.map(|fact| self.inference.describe(fact)));
        // Values whose elements follow from sizes.
        let is_arithmetic = fact.and_then(Fact::as_tensor).is_some_and(TensorFact::has_elements);
        let mut titles = vec![self.label(index)];
        let inputs = node.needs().map(|id| format!("reads {}", self.value(id)));
        let outputs = node.outputs.iter().copied().flatten().map(|id| format!("makes {}", self.value(id)));
        titles.extend(inputs.chain(outputs));
        boxed(if is_arithmetic { "a" } else { "n" }, &lines, titles)
    }

    /// An input or an output of the model.
    fn end(&self, id: ValueId, what: &str) -> Drawn {
        let lines = [self.graph.value(id).name.to_string(), self.inference.describe(self.inference.fact(id))];
        boxed("i", &lines, vec![format!("{what} {}", self.value(id))])
    }

    /// The values that come from beyond some nodes, and those that are read there or returned. A
    /// whole graph has its inputs and outputs.
    fn ports(&self, nodes: &[usize]) -> [Vec<ValueId>; 2] {
        let places = nodes.iter().map(|&index| self.order[index]);
        let (first, last) = (places.clone().min().unwrap_or(0), places.max().unwrap_or(0));
        let is_own = |id: ValueId| match self.graph.value(id).origin {
            Origin::Node(node, _) => {
                !nodes.is_empty() && (first..=last).contains(&self.order[node]) && !self.constant[id.index()]
            }
            _ => false,
        };
        let mut seen = HashSet::new();
        let (mut entering, mut leaving) = (Vec::new(), Vec::new());
        for &index in nodes {
            let node = &self.graph.nodes()[index];
            entering.extend(
                node.needs().filter(|&id| !self.constant[id.index()] && !is_own(id) && seen.insert(id)),
            );
            leaving.extend(node.outputs.iter().copied().flatten().filter(|&id| {
                let beyond = self.used[id.index()].is_some_and(|[a, b]| a < first || b > last);
                beyond || self.outputs.contains(&id)
            }));
        }
        [entering, leaving]
    }

    /// The step of the run at which a box begins.
    fn first(&self, child: &GroupChild<'a, '_>) -> usize {
        let mut nodes = Vec::new();
        child.collect(&mut nodes);
        nodes.into_iter().map(|index| self.step[index]).min().unwrap_or(0)
    }

    fn label(&self, index: usize) -> String {
        let node: &Node = &self.graph.nodes()[index];
        if node.name.is_empty() { node.label(index) } else { format!("{} ({})", node.name, node.operator) }
    }

    /// The name, type and shape of a value.
    fn value(&self, id: ValueId) -> String {
        format!("{}: {}", self.graph.value(id).name, self.inference.describe(self.inference.fact(id)))
    }
}

/// A box with lines of text, the first of which stands out.
fn boxed(class: &str, lines: &[String], titles: Vec<String>) -> Drawn {
    let width = lines.iter().map(|line| width_of(line)).fold(60.0, f64::max);
    let height = LINE * f64::from(u32::try_from(lines.len()).unwrap_or(u32::MAX)) + PAD;
    let mut body = frame(class, width, height);
    let mut y = LINE;
    for (number, line) in lines.iter().enumerate() {
        let class = if number == 0 { "o" } else { "s" };
        let line = text(line, MAX_CHARACTERS);
        let _ = write!(
            body,
            "<text class=\"{class}\" x=\"{:.0}\" y=\"{y:.0}\" text-anchor=\"middle\">{line}</text>",
            width / 2.0
        );
        y += LINE;
    }
    body += &title(titles);
    let body = if class == "a" { format!("<g class=\"t\">{body}</g>") } else { body };
    Drawn { width, height, body, ..Drawn::default() }
}

fn frame(class: &str, width: f64, height: f64) -> String {
    let round = if class == "i" { height / 2.0 } else { 4.0 };
    format!("<rect class=\"{class}\" width=\"{width:.0}\" height=\"{height:.0}\" rx=\"{round:.0}\"/>")
}

fn width_of(line: &str) -> f64 {
    let characters = u32::try_from(line.chars().count().min(MAX_CHARACTERS)).unwrap_or(u32::MAX);
    f64::from(characters) * CHARACTER + 2.0 * PAD
}

/// The text that browsers show where the pointer rests.
fn title(mut lines: Vec<String>) -> String {
    let more = lines.len().saturating_sub(MAX_LINES);
    lines.truncate(MAX_LINES);
    if more > 0 {
        lines.push(format!("and {} more", grouped(more)));
    }
    let lines: Vec<_> = lines.iter().map(|line| text(line, 200)).collect();
    format!("<title>{}</title>", lines.join("\n"))
}

/// Text of XML, of which at most `most` characters are shown.
fn text(line: &str, most: usize) -> String {
    let all = escaped(line);
    let count = all.chars().count();
    let shortened: String = if count > most {
        let (head, tail) = (most / 2, most - most / 2 - 1);
        all.chars().take(head).chain(['…']).chain(all.chars().skip(count - tail)).collect()
    } else {
        all.into_owned()
    };
    let mut text = String::with_capacity(shortened.len());
    for c in shortened.chars() {
        match c {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            c => text.push(c),
        }
    }
    text
}
