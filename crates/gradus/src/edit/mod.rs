//! Changes of models: another interface, other names and sizes, parts, and where constants lie.
//!
//! An [`Editor`] applies one [`Edit`] after the other to the graphs in memory; what an edit does
//! not name keeps its place in the file, and is copied from there when the result is written. A
//! file of this folder has the edits of one family.

mod apply;
mod constants;
mod extract;
#[cfg(feature = "fold")]
mod float16;
mod join;
#[cfg(feature = "fold")]
mod losses;
mod metadata;
mod names;
mod result;
mod sizes;
mod split;
mod types;
mod weights;

use std::fmt;
use std::sync::Arc;

use gradus_core::graph::edit::{Edit as GraphEdit, Renames};
use gradus_core::graph::{DeclaredDim, Graph, Standard, ValueId};
use gradus_core::sort::SharedSort;
use gradus_core::text::name_in_message;
use gradus_core::{DType, Error, Kind, Result, Value};

#[cfg(feature = "fold")]
pub use float16::Float16Options;
pub use join::JoinOptions;
pub use result::Edited;
pub(crate) use result::{Beside, with_file};
pub use split::Split;
pub use types::Scaling;

use crate::model::Model;
use weights::Weights;

/// A change of a model. [`Model::edit`] applies several, and docs/edit.md explains them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Edit {
    /// The part of the model from some values to others. Without `inputs`, it begins at those of
    /// the model; without `outputs`, it ends at those of the model.
    Extract {
        /// Values that become the inputs, with their inferred types.
        inputs: Vec<String>,
        /// Values that become the outputs.
        outputs: Vec<String>,
    },
    /// A value that becomes an output too, after the others.
    AddOutput(String),
    /// An output that is none any more; what only it needs goes.
    RemoveOutput(String),
    /// Another name of an input, an output or any value of the main graph.
    Rename {
        /// The name.
        old: String,
        /// The new name, which no value has.
        new: String,
    },
    /// Another name of a symbol in declared sizes.
    RenameDim {
        /// The name.
        old: String,
        /// The new name, which no size has.
        new: String,
    },
    /// A constant in the place of an input.
    Set {
        /// The input.
        input: String,
        /// The elements.
        value: Value,
    },
    /// The default of an input, which a run need not give then; or none.
    Default {
        /// The input.
        input: String,
        /// The elements; nothing if a run has to give them.
        value: Option<Value>,
    },
    /// The sizes that the model declares of an input.
    InputShape {
        /// The input.
        input: String,
        /// The sizes.
        sizes: Vec<DeclaredDim>,
    },
    /// Open sizes of inputs, and of all that depends on them: [`Model::dynamic`].
    #[cfg(feature = "fold")]
    Dynamic(Box<crate::dynamic::DynamicOptions>),
    /// A number in the place of a symbol of sizes.
    Dim {
        /// The symbol.
        name: String,
        /// The number.
        size: usize,
    },
    /// Another element type of an input, with a Cast after it.
    InputType {
        /// The input.
        input: String,
        /// The type that a run gives.
        dtype: DType,
        /// The product and the sum after the Cast.
        scaling: Scaling,
    },
    /// Another element type of an output, with a Cast before it.
    OutputType {
        /// The output.
        output: String,
        /// The type that a run returns.
        dtype: DType,
    },
    /// Another order of the axes of an input or output, with a Transpose next to it.
    Layout {
        /// The input or output.
        name: String,
        /// The axes as letters: `NHWC`, where the model has N and C first, or `NCHW->NHWC`.
        layout: String,
    },
    /// Nodes and weights in float16 or bfloat16, where runs show what that loses.
    #[cfg(feature = "fold")]
    Float16(Box<Float16Options>),
    /// All weights within the model.
    Embed,
    /// Weights of at least 1,024 bytes in one file of this name next to the model, each at a
    /// multiple of 64 bytes, from 64 KiB on of 4,096.
    External {
        /// The name of the file.
        file: String,
    },
    /// No weights of at least 1,024 bytes: types, shapes and digests in their place.
    StripWeights,
    /// The weights that were stripped, by name, from a model that has them.
    Weights(Box<Model>),
    /// Equal weights once.
    ShareWeights,
    /// An entry of the model's metadata; without `value`, none.
    Metadata {
        /// The key.
        key: String,
        /// The text.
        value: Option<String>,
    },
    /// No texts that document parts of the model, and no properties of nodes and values.
    NoDocs,
}

impl Edit {
    /// The place of the edit in the order in which edits are applied, whichever way they are given:
    /// parts, names, constants, sizes, then what is said of the model.
    pub const fn order(&self) -> u8 {
        match self {
            Edit::Extract { .. } => 0,
            Edit::AddOutput(_) => 1,
            Edit::RemoveOutput(_) => 2,
            Edit::Rename { .. } => 3,
            Edit::RenameDim { .. } => 4,
            Edit::Set { .. } => 5,
            Edit::Default { .. } => 6,
            Edit::InputShape { .. } => 7,
            #[cfg(feature = "fold")]
            Edit::Dynamic(_) => 8,
            Edit::Dim { .. } => 9,
            Edit::InputType { .. } => 10,
            Edit::OutputType { .. } => 11,
            Edit::Layout { .. } => 12,
            #[cfg(feature = "fold")]
            Edit::Float16(_) => 13,
            Edit::Embed => 14,
            Edit::External { .. } => 15,
            Edit::StripWeights => 16,
            Edit::Weights(_) => 17,
            Edit::ShareWeights => 18,
            Edit::Metadata { .. } => 20,
            Edit::NoDocs => 21,
        }
    }
}

impl Model {
    /// The model with changes, in the [order](Edit::order) of their kinds; of one kind, in that in
    /// which they are given. All else stays as it is in the file.
    ///
    /// # Errors
    /// [`Kind::Usage`] if a name is not known or taken; [`Kind::Unsupported`] if an edit does not
    /// exist for models of the standard; [`Kind::Graph`] if the result contradicts itself, with the
    /// node.
    ///
    /// ```
    /// use gradus::Model;
    /// use gradus::edit::Edit;
    /// let model = Model::open("../../examples/positions.onnx")?;
    /// let rename = Edit::Rename { old: "phase".into(), new: "angle".into() };
    /// let edited = model.edit([rename])?;
    /// assert_eq!(edited.notes(), ["renamed output \"phase\" to \"angle\""]);
    /// assert!(edited.model()?.value("angle").is_ok());
    /// # Ok::<(), gradus::Error>(())
    /// ```
    pub fn edit(&self, edits: impl IntoIterator<Item = Edit>) -> Result<Edited> {
        let mut edits: Vec<_> = edits.into_iter().collect();
        edits.shared_sort_by_key(Edit::order);
        let mut editor = Editor::new(self)?;
        edits.iter().try_for_each(|edit| editor.apply(edit))?;
        editor.finish()
    }
}

/// A model while it is edited.
#[derive(Clone, Debug)]
pub struct Editor {
    original: Model,
    /// The model as it is so far, in memory.
    now: Model,
    /// New names of values of the original's main graph, by their names there.
    names: Renames,
    notes: Vec<String>,
    no_docs: bool,
    weights: Weights,
    /// The model that has weights that were stripped.
    given: Option<Model>,
}

impl Editor {
    /// A model before its first edit.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] if models of its standard are not edited, or it was made in memory.
    pub fn new(model: &Model) -> Result<Editor> {
        model.file_of()?;
        let now = model.with_source(model.source().clone());
        Ok(Editor {
            original: model.clone(),
            now,
            names: Renames::new(),
            notes: Vec::new(),
            no_docs: false,
            weights: Weights::default(),
            given: None,
        })
    }

    /// The model as it is after the edits so far, in memory.
    pub fn model(&self) -> &Model {
        &self.now
    }

    /// Applies one more edit.
    ///
    /// # Errors
    /// As [`Model::edit`].
    pub fn apply(&mut self, edit: &Edit) -> Result<()> {
        self.original.limits().check()?;
        match edit {
            Edit::Extract { inputs, outputs } => self.extract(inputs, outputs),
            Edit::AddOutput(name) => self.add_output(name),
            Edit::RemoveOutput(name) => self.remove_output(name),
            Edit::Rename { old, new } => self.rename(old, new),
            Edit::RenameDim { old, new } => self.rename_dim(old, new),
            Edit::Set { input, value } => self.set(input, value),
            Edit::Default { input, value } => self.set_default(input, value.as_ref()),
            Edit::InputShape { input, sizes } => self.input_shape(input, sizes),
            #[cfg(feature = "fold")]
            Edit::Dynamic(options) => self.dynamic(options),
            Edit::Dim { name, size } => self.fix_dim(name, *size),
            Edit::InputType { input, dtype, scaling } => self.input_type(input, *dtype, scaling),
            Edit::OutputType { output, dtype } => self.output_type(output, *dtype),
            Edit::Layout { name, layout } => self.layout(name, layout),
            #[cfg(feature = "fold")]
            Edit::Float16(options) => self.float16(options),
            Edit::Embed => self.place(Weights::Embedded),
            Edit::External { file } => self.place(Weights::Beside(file.clone())),
            Edit::StripWeights => self.place(Weights::Stripped),
            Edit::Weights(model) => self.restore(model),
            Edit::ShareWeights => self.share(),
            Edit::Metadata { key, value } => self.metadata(key, value.as_deref()),
            Edit::NoDocs => self.no_docs(),
        }
    }
}
