//! Two models as one: outputs of the first are inputs of the second.

use std::collections::{HashMap, HashSet};

use gradus_core::convert::product;
use gradus_core::graph::edit::Step;
use gradus_core::graph::{Constant, Node, Type};
use gradus_formats::onnx::{self, Joint};

use super::apply::{counted, quoted};
use super::{Arc, Edited, Editor, Error, Graph, Kind, Model, Renames, Result, ValueId};
use crate::files::folder_of;

/// How two models are joined.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct JoinOptions {
    /// Outputs of the first model, each with the input of the second that it is.
    pub links: Vec<(String, String)>,
    /// Linked outputs that stay outputs.
    pub keep: Vec<String>,
    /// The beginning of new names of the second model, where the first has the same; by default
    /// `second/`.
    pub prefix: Option<String>,
}

/// Names of the second model where they are others in the joined one.
struct SecondNames {
    values: Renames,
    /// Names of inputs and constants that the first model has.
    known: HashSet<String>,
}

impl Model {
    /// The model that runs this one, and another on what it returns. Inputs of one name are one
    /// input, and so are equal constants of one name; other names of the second model that the
    /// first has too get a prefix.
    ///
    /// # Errors
    /// [`Kind::Usage`] if a link names no output or no input, or their types differ;
    /// [`Kind::Unsupported`] if the operator sets differ, or the models have constants in files of
    /// different folders.
    ///
    /// ```
    /// use gradus::Model;
    /// use gradus::edit::JoinOptions;
    /// let model = Model::open("../../examples/positions.onnx")?;
    /// let split = model.split(&["positions"])?;
    /// let mut options = JoinOptions::default();
    /// options.links = split.links(0);
    /// let [first, second] = [split.parts[0].model()?, split.parts[1].model()?];
    /// let joined = first.join(&second, &options)?.model()?;
    /// assert_eq!(joined.graph().nodes().len(), model.graph().nodes().len());
    /// # Ok::<(), gradus::Error>(())
    /// ```
    pub fn join(&self, second: &Model, options: &JoinOptions) -> Result<Edited> {
        self.join_parts_of(&[self, second], second, options)
    }

    /// [`Model::join`] of models that are these, or parts of them.
    pub(super) fn join_parts_of(
        &self,
        wholes: &[&Model],
        second: &Model,
        options: &JoinOptions,
    ) -> Result<Edited> {
        let mut editor = Editor::new(self)?;
        let mut other = Editor::new(second)?;
        editor.must_be_onnx("join models")?;
        other.must_be_onnx("join models")?;
        check_folders(self, second)?;
        for (output, input) in &options.links {
            check_link(&editor, &other, output, input)?;
        }
        let names = second_names(&editor, &other, options)?;
        let linked: HashSet<_> = options.links.iter().map(|(_, input)| &**input).collect();
        other.prepare(&names, &node_names(self.graph()))?;
        let after = other.now.source();
        let (bytes, _) = second.file_of()?;
        let written = onnx::edit_interface(bytes, second.source(), after, &other.names, &Joint::default())?;
        second.limits().allow_bytes(0, product(written.len(), 1))?;
        let (own, _) = self.file_of()?;
        let joint = Joint::of(&written.to_bytes(bytes)?, own, &names.known)?;
        let mut outputs = editor.graph().outputs().to_vec();
        let goes = |id: &ValueId| {
            let name = &*self.graph().value(*id).name;
            options.links.iter().any(|(output, _)| output == name)
                && options.keep.iter().all(|kept| kept != name)
        };
        outputs.retain(|id| !goes(id));
        let mut edit = editor.keeping();
        edit.outputs = Some(editor.names_of(&outputs));
        editor.change(&edit)?;
        let mut source = editor.now.source().clone();
        add_opsets(&mut source.opsets, &second.source().opsets)?;
        for (key, value) in &second.source().metadata {
            if source.metadata.iter().all(|(known, _)| known != key) {
                source.metadata.push((key.clone(), value.clone()));
            }
        }
        source.format_version = source.format_version.max(second.source().format_version);
        editor.now = editor.now.with_source(source);
        let links =
            options.links.iter().map(|(output, input)| format!("{} = {}", quoted(output), quoted(input)));
        let links = links.collect::<Vec<_>>().join(", ");
        let count = after.graph.nodes().len();
        editor.note(format_args!("joined {} after {links}", counted(count, "node")));
        let renamed = names.values.iter().filter(|(old, _)| !linked.contains(&***old)).count();
        if renamed > 0 {
            editor.note(format_args!("renamed {} of the second model", counted(renamed, "value")));
        }
        editor.finish_with(&joint, wholes)
    }
}

/// Returns an error if the constants of two models are in files of different folders.
fn check_folders(first: &Model, second: &Model) -> Result<()> {
    let folder = |model: &Model| model.path().map(|path| folder_of(path).to_owned());
    if second.constant_files()?.is_empty() || folder(first) == folder(second) {
        return Ok(());
    }
    let message = "cannot join: the second model has constants in files of another folder, expected both \
                   models in one folder";
    let error = Error::new(Kind::Unsupported, message);
    Err(second.in_file(error))
}

/// Checks that an output may be an input.
fn check_link(first: &Editor, second: &Editor, output: &str, input: &str) -> Result<()> {
    let from = first.graph().value(first.output(output)?);
    let to = second.graph().value(second.now.input(input)?);
    let dtypes = [from, to].map(|info| info.declared.as_ref().and_then(Type::dtype));
    if let [Some(from), Some(to)] = dtypes
        && from != to
    {
        let what = format_args!("cannot link {} to {}: the element type", quoted(output), quoted(input));
        return Err(Error::mismatch(Kind::Usage, what, from, to));
    }
    Ok(())
}

/// The names that values of the second model get.
fn second_names(first: &Editor, second: &Editor, options: &JoinOptions) -> Result<SecondNames> {
    let prefix = options.prefix.as_deref().unwrap_or("second/");
    let mut names = SecondNames { values: Renames::new(), known: HashSet::new() };
    let mut own = HashSet::new();
    all_names(first.graph(), &mut own);
    let mut of_second = HashSet::new();
    all_names(second.graph(), &mut of_second);
    let graph = second.graph();
    let links: HashMap<_, _> = options.links.iter().map(|(output, input)| (&**input, output)).collect();
    for name in &of_second {
        if let Some(output) = links.get(&**name) {
            names.known.insert((*output).clone());
            if **name != ***output {
                names.values.insert(name.clone(), (***output).into());
            }
            continue;
        }
        let is_taken = own.contains(name) || options.links.iter().any(|(output, _)| **output == **name);
        if !is_taken {
            continue;
        }
        let both = first.graph().find(name).zip(graph.find(name));
        if let Some([a, b]) = both.map(|(a, b)| [(first.graph(), a), (graph, b)]) {
            let are_inputs = [a, b].iter().all(|(graph, id)| graph.inputs().contains(id));
            if are_inputs && a.0.value(a.1).declared == b.0.value(b.1).declared {
                names.known.insert(name.to_string());
                continue;
            }
            let constants = [a, b].map(|(graph, id)| graph.constant(id));
            if let [Some(one), Some(other)] = constants
                && !are_inputs
                && is_equal(one, other)?
            {
                names.known.insert(name.to_string());
                continue;
            }
        }
        let mut new = format!("{prefix}{name}");
        while own.contains(&*new) || of_second.contains(&*new) {
            new.insert_str(0, prefix);
        }
        names.values.insert(name.clone(), new.into());
    }
    Ok(names)
}

/// Returns true if two constants have the same bits.
fn is_equal(a: &Constant, b: &Constant) -> Result<bool> {
    if a.dtype() != b.dtype() || a.shape() != b.shape() {
        return Ok(false);
    }
    let (a, b) = (a.tensor()?, b.tensor()?);
    Ok(a.bytes().is_some() && a.bytes() == b.bytes())
}

/// Names of all values of a graph and of those within.
fn all_names(graph: &Graph, into: &mut HashSet<Arc<str>>) {
    into.extend(graph.values().iter().map(|info| info.name.clone()));
    graph.nodes().iter().flat_map(Node::graphs).for_each(|graph| all_names(graph, into));
}

fn node_names(graph: &Graph) -> HashSet<&str> {
    graph.nodes().iter().map(|node| &*node.name).filter(|name| !name.is_empty()).collect()
}

impl Editor {
    /// Makes the second model the part that is added to the first.
    fn prepare(&mut self, names: &SecondNames, taken: &HashSet<&str>) -> Result<()> {
        let own: HashSet<Arc<str>> = self.graph().nodes().iter().map(|node| Arc::from(&*node.name)).collect();
        let mut edit = self.keeping();
        for step in &mut edit.nodes {
            let Step::Kept(kept) = step else { continue };
            let name = self.graph().nodes().get(kept.node).map_or("", |node| &*node.name);
            if !taken.contains(name) {
                continue;
            }
            let fits = |name: &String| !taken.contains(&**name) && !own.contains(&**name);
            // One more number than there are names.
            let numbers = 1..=taken.len() + own.len() + 1;
            kept.name = numbers.map(|number| format!("{name}_{number}")).find(fits).map(Into::into);
        }
        self.change_names(&edit, &names.values)
    }
}

/// Adds the operator sets of the second model.
fn add_opsets(opsets: &mut Vec<(Arc<str>, i64)>, others: &[(Arc<str>, i64)]) -> Result<()> {
    for (domain, version) in others {
        match opsets.iter().find(|(known, _)| known == domain) {
            Some((_, own)) if own != version => {
                let what = format_args!("cannot join: operator set {} of the second model", quoted(domain));
                let wanted = format_args!("{own}, as the first has it (gradus convert --opset)");
                return Err(Error::mismatch(Kind::Unsupported, what, version, wanted));
            }
            Some(_) => {}
            None => opsets.push((domain.clone(), *version)),
        }
    }
    Ok(())
}
