//! A model in two parts, which joined again are the whole.

use std::collections::HashSet;

use gradus_core::graph::{Needed, Origin};

use super::apply::{counted, quoted};
use super::join::JoinOptions;
use super::{Edited, Editor, Error, Graph, Kind, Model, Result, ValueId};

/// The parts of a model that was split.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Split {
    /// The parts, each of which takes what those before return.
    pub parts: Vec<Edited>,
    /// By part but for the last: the values that it passes on.
    passed: Vec<Vec<String>>,
    /// By part but for the last: those of them that the model returns.
    kept: Vec<Vec<String>>,
    /// The model that was split.
    whole: Model,
}

impl Split {
    /// The values that a part passes on, each with the input that it is.
    pub fn links(&self, part: usize) -> Vec<(String, String)> {
        let passed = self.passed.get(part).into_iter().flatten();
        passed.map(|name| (name.clone(), name.clone())).collect()
    }

    /// The parts joined again.
    ///
    /// # Errors
    /// As [`Model::join`].
    pub fn joined(&self) -> Result<Model> {
        let mut models = self.parts.iter().map(Edited::model);
        let mut joined = models
            .next()
            .unwrap_or_else(|| Err(Error::new(Kind::Internal, "a split model has at least one part")))?;
        for (part, next) in models.enumerate() {
            let keep = self.kept.get(part).cloned().unwrap_or_default();
            let options = JoinOptions { links: self.links(part), keep, prefix: None };
            joined = joined.join_parts_of(&[&self.whole], &next?, &options)?.model()?;
        }
        Ok(joined)
    }
}

impl Model {
    /// The model in two parts: one that returns some values, and one that goes on from them. What
    /// else the second reads of the first passes from one to the other too.
    ///
    /// # Errors
    /// [`Kind::Usage`] if a value is not known, or is none that a node computes, or if nothing
    /// follows it; as [`Model::edit`].
    ///
    /// ```
    /// use gradus::Model;
    /// let model = Model::open("../../examples/positions.onnx")?;
    /// let split = model.split(&["positions"])?;
    /// assert_eq!(split.parts.len(), 2);
    /// assert_eq!(split.joined()?.graph().nodes().len(), model.graph().nodes().len());
    /// # Ok::<(), gradus::Error>(())
    /// ```
    pub fn split(&self, at: &[impl AsRef<str>]) -> Result<Split> {
        let mut first = Editor::new(self)?;
        first.must_be_onnx("split a model")?;
        let mut second = first.clone();
        let graph = self.graph();
        let mut cut = Vec::new();
        for name in at {
            let id = self.value(name.as_ref())?;
            if !graph.value(id).origin.is_node() {
                let what = format_args!("cannot split at {}: the value", quoted(name.as_ref()));
                return Err(Error::mismatch(Kind::Usage, what, "no output of a node", "one"));
            }
            if !cut.contains(&id) {
                cut.push(id);
            }
        }
        let sides = Sides::new(graph, &cut)?;
        let passed = sides.passed(graph, &cut);
        let mut outputs = passed.clone();
        let of_first = graph.outputs().iter().filter(|&&id| !sides.is_after(graph, id));
        outputs.extend(of_first.filter(|id| !passed.contains(id)));
        let kept = passed.iter().filter(|id| graph.outputs().contains(id)).copied().collect::<Vec<_>>();
        let needed = Needed::new(graph, &outputs, &HashSet::new());
        let inputs: Vec<_> = graph.inputs().iter().copied().filter(|id| needed.values[id.index()]).collect();
        first.keep(&inputs, &outputs, &needed)?;
        let given = passed.iter().copied().collect();
        let rest: Vec<_> = graph.outputs().iter().copied().filter(|&id| sides.is_after(graph, id)).collect();
        let needed = Needed::new(graph, &rest, &given);
        let mut inputs = passed.clone();
        inputs.extend(graph.inputs().iter().filter(|id| needed.values[id.index()]));
        second.keep(&inputs, &rest, &needed)?;
        let names = |ids: &[ValueId]| ids.iter().map(|&id| graph.value(id).name.to_string()).collect();
        for (editor, what) in [(&mut first, "first"), (&mut second, "second")] {
            let [from, to] =
                [editor.graph().inputs(), editor.graph().outputs()].map(|ids| editor.listed(ids));
            let count = editor.graph().nodes().len();
            let nodes = counted(count, "node");
            editor.note(format_args!("{what} part: {nodes}, from {from} to {to}"));
        }
        Ok(Split {
            passed: vec![names(&passed)],
            kept: vec![names(&kept)],
            whole: self.clone(),
            parts: vec![first.finish()?, second.finish()?],
        })
    }
}

impl Model {
    /// The model in several parts: each list of values cuts the rest, as [`Model::split`] does.
    ///
    /// # Errors
    /// As [`Model::split`].
    pub fn split_at<N: AsRef<str>>(&self, cuts: &[Vec<N>]) -> Result<Split> {
        let mut whole =
            Split { parts: Vec::new(), passed: Vec::new(), kept: Vec::new(), whole: self.clone() };
        let mut rest = self.clone();
        for at in cuts {
            let Split { mut parts, passed, kept, .. } = rest.split(at)?;
            if let Some(last) = parts.last() {
                rest = last.model()?;
            }
            // The second part takes the place of the one that was split.
            whole.parts.pop();
            whole.parts.append(&mut parts);
            whole.passed.extend(passed);
            whole.kept.extend(kept);
        }
        Ok(whole)
    }
}

/// The nodes after a cut, and those that only constants decide, which may be on both sides.
struct Sides {
    after: Vec<bool>,
    fixed: Vec<bool>,
}

impl Sides {
    fn new(graph: &Graph, cut: &[ValueId]) -> Result<Sides> {
        let count = graph.nodes().len();
        let mut sides = Sides { after: vec![false; count], fixed: vec![false; count] };
        for &index in graph.order() {
            let node = &graph.nodes()[index];
            let is_after = |id| cut.contains(&id) || sides.is_after(graph, id);
            sides.after[index] = node.needs().any(is_after);
            sides.fixed[index] = node.needs().all(|id| match graph.value(id).origin {
                Origin::Node(other, _) => sides.fixed[other],
                Origin::Constant => true,
                Origin::Input | Origin::Capture => false,
            });
        }
        if let Some(&late) = cut.iter().find(|&&id| sides.is_after(graph, id)) {
            let message = format!(
                "cannot split at {}: it follows from another of the values",
                quoted(&graph.value(late).name)
            );
            return Err(Error::new(Kind::Usage, message));
        }
        if !graph.outputs().iter().any(|&id| sides.is_after(graph, id)) {
            return Err(Error::new(Kind::Usage, "cannot split: no output follows from the values"));
        }
        Ok(sides)
    }

    /// Returns true if a node after the cut computes a value.
    fn is_after(&self, graph: &Graph, id: ValueId) -> bool {
        matches!(graph.value(id).origin, Origin::Node(node, _) if self.after[node])
    }

    /// The values that the nodes after the cut read of those before: those of the cut, and others.
    fn passed(&self, graph: &Graph, cut: &[ValueId]) -> Vec<ValueId> {
        let wanted: Vec<_> = graph.outputs().iter().copied().filter(|&id| self.is_after(graph, id)).collect();
        let needed = Needed::new(graph, &wanted, &cut.iter().copied().collect());
        let mut passed = cut.to_vec();
        for (index, node) in graph.nodes().iter().enumerate() {
            if !(self.after[index] && needed.nodes[index]) {
                continue;
            }
            for id in node.needs() {
                let is_before = matches!(
                    graph.value(id).origin,
                    Origin::Node(other, _) if !self.after[other] && !self.fixed[other]
                );
                if is_before && !passed.contains(&id) {
                    passed.push(id);
                }
            }
        }
        passed
    }
}
