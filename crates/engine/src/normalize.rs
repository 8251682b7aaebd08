//! Operators of any version and spelling, read as ONNX's newest one.
//!
//! A row of the table says how some nodes write something that the newest ones of ONNX write
//! differently: an input that was an attribute, another name, another default, a meaning that was
//! removed. [`Form`] picks the rows that hold for a version. [`Attributes`] and the contexts apply
//! them, so that inference, evaluation and conversion see the newest form alone; writing an older
//! operator set reads the same rows the other way round.

use std::collections::HashMap;
use std::sync::LazyLock;

use gradus_core::graph::{Content, Model, Node, Standard};
use gradus_core::{Result, Tensor};
use smallvec::SmallVec;

use crate::attributes::Attributes;

/// A difference between some versions of an operator and the newest one.
#[derive(Debug)]
pub enum Change {
    /// The input is this attribute.
    Input(usize, &'static str),
    /// The input has another index; `None` if it cannot be given.
    Index(usize, Option<usize>),
    /// The attribute has another name: the newest one, and the one it has.
    Name(&'static str, &'static str),
    /// The attribute is this where it is not given.
    Default(&'static str, Content),
    /// The form lacks the attribute, and does what this value of it says; of a list, what a list of
    /// nothing else says.
    Lacks(&'static str, Content),
    /// The form has the attribute, and newer ones do what this value of it says.
    Former(&'static str, Content),
    /// The form has the attribute, without this value of it.
    LacksValue(&'static str, &'static str),
    /// Axes are counted from the first one only.
    AxesFromFirst,
    /// The operator means something else.
    Meaning(Older),
    /// The operator accepts other nodes, and computes the same of those that all versions accept.
    Accepts(Older),
}

/// A meaning that the newest version of an operator does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Older {
    /// Softmax and its like: the axes from the named one on are one axis.
    Flattened,
    /// Tile: the inputs are the number of tiles and the one axis that is tiled.
    OneAxis,
    /// Scan: the first axis of all inputs is a batch, and the first input has the lengths.
    Batch,
    /// Dropout, `BatchNormalization`: a node trains unless the attribute `is_test` is set.
    Training,
    /// `BatchNormalization`: a node trains if it names more outputs than the first.
    TrainingByOutputs,
    /// `PRelu`: there is one slope, or one for each channel.
    ByChannel,
    /// `GroupNormalization`: scales and shifts are those of groups, and not of channels.
    ScaledByGroup,
    /// Resize: coordinates are divided by the scale, and rounded down to the nearest.
    Upsampled,
    /// `GridSample`: the modes are `bilinear` and `bicubic`.
    ModesOfImages,
    /// Mod: remainders of floats have the sign of the dividend.
    TruncatedFloats,
    /// Split: without sizes there are as many equal parts as outputs.
    EqualParts,
    /// Gather of OpenVINO: indices that are out of range are errors, and not zeros.
    CheckedIndices,
    /// `GatherND` of OpenVINO: the axes of the batch become one.
    MergedBatch,
    /// Interpolate of OpenVINO: sizes and scales are two inputs.
    SizesAndScales,
}

/// The versions from `since` up to, but not including, `before` that differ from the newest one.
#[derive(Debug)]
struct FormRow {
    standard: Standard,
    operators: &'static [&'static str],
    since: i64,
    before: i64,
    change: Change,
}

/// The end of rows that hold for all versions.
const EVER: i64 = i64::MAX;

/// The names of operators.
macro_rules! named {
    ([$($operator:ident)*]) => { &[$(stringify!($operator)),*] };
}

/// Rows of a standard: operators, and what some of their versions write differently.
macro_rules! forms {
    ($standard:ident $($operators:tt $($since:literal..$before:tt $change:expr),*;)*) => {
        vec![$($(FormRow {
            standard: Standard::$standard,
            operators: named!($operators),
            since: $since,
            before: $before,
            change: $change,
        },)*)*]
    };
}

static TABLE: LazyLock<Vec<FormRow>> = LazyLock::new(|| {
    use Change::{Accepts, AxesFromFirst, Default, Former, Index, Input, Lacks, LacksValue, Meaning, Name};
    use Content::{Float, Int};
    let text = |text: &str| Content::Text(text.into());
    let mut rows = forms! { Onnx
        [ArgMax ArgMin] 1..12 Lacks("select_last_index", Int(0));
        [Attention] 23..25 Lacks("left_window_size", Int(-1)), 23..25 Lacks("right_window_size", Int(-1));
        [AveragePool] 1..10 Lacks("ceil_mode", Int(0)), 1..19 Lacks("dilations", Int(1));
        [BatchNormalization] 1..7 Meaning(Older::Training), 1..9 Former("spatial", Int(1)),
            7..14 Meaning(Older::TrainingByOutputs), 7..14 Lacks("training_mode", Int(0));
        [Cast CastLike] 1..19 Lacks("saturate", Int(1)), 1..24 Lacks("round_mode", text("up"));
        [Clip] 1..11 Input(1, "min"), 1..11 Input(2, "max"), 6..11 Default("min", Float(f32::MIN)),
            6..11 Default("max", Float(f32::MAX));
        [Concat] 1..4 Default("axis", Int(1));
        [DFT] 17..20 Input(2, "axis"), 17..20 Default("axis", Int(1));
        [DepthToSpace] 1..11 Lacks("mode", text("DCR"));
        [Dropout] 1..7 Meaning(Older::Training), 1..12 Input(1, "ratio");
        [GatherND] 11..12 Lacks("batch_dims", Int(0));
        [GridSample] 16..20 Meaning(Older::ModesOfImages);
        [GroupNormalization] 18..21 Meaning(Older::ScaledByGroup), 18..21 Lacks("stash_type", Int(1));
        [Mod] 10..28 Accepts(Older::TruncatedFloats);
        [Pad] 1..2 Name("pads", "paddings"), 1..11 Input(1, "pads"), 1..11 Input(2, "value");
        [PRelu] 1..7 Meaning(Older::ByChannel);
        [Range] 11..27 Lacks("stash_type", Int(1));
        [ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd
         ReduceSumSquare] 1..18 Input(1, "axes"), 1..18 Lacks("noop_with_empty_axes", Int(0));
        [ReduceSum] 1..13 Lacks("noop_with_empty_axes", Int(0));
        [ReduceSum Squeeze Unsqueeze] 1..13 Input(1, "axes");
        [Reshape] 1..5 Input(1, "shape"), 1..14 Lacks("allowzero", Int(0));
        [Resize] 10..11 Index(2, Some(1)), 10..11 Index(1, None), 10..11 Meaning(Older::Upsampled),
            10..19 LacksValue("coordinate_transformation_mode", "half_pixel_symmetric"),
            10..11 Lacks("coordinate_transformation_mode", text("asymmetric")),
            10..11 Lacks("exclude_outside", Int(0)), 10..11 Lacks("nearest_mode", text("floor")),
            10..18 Lacks("antialias", Int(0)), 10..18 Lacks("keep_aspect_ratio_policy", text("stretch"));
        [RoiAlign] 10..16 Default("coordinate_transformation_mode", text("output_half_pixel"));
        [Scan] 8..9 Meaning(Older::Batch), 8..9 Name("scan_input_directions", "directions");
        [Slice] 1..10 Input(1, "starts"), 1..10 Input(2, "ends"), 1..10 Input(3, "axes");
        [Hardmax LogSoftmax Softmax] 1..13 Meaning(Older::Flattened), 1..13 Default("axis", Int(1));
        [Split] 1..13 Input(1, "split"), 1..18 Accepts(Older::EqualParts);
        [Tile] 1..6 Meaning(Older::OneAxis);
        [TopK] 1..10 Input(1, "k"), 1..11 Lacks("largest", Int(1)), 1..11 Lacks("sorted", Int(1));
        [Upsample] 1..9 Input(1, "scales");
        [DequantizeLinear QuantizeLinear] 10..21 Lacks("block_size", Int(0));
        [GRU LSTM RNN] 1..14 Lacks("layout", Int(0));
        [DequantizeLinear] 10..23 Lacks("output_dtype", Int(0));
        [LpPool] 1..18 Lacks("ceil_mode", Int(0)), 1..18 Lacks("dilations", Int(1));
        [MaxPool] 1..8 Lacks("storage_order", Int(0)), 1..10 Lacks("ceil_mode", Int(0)),
            1..10 Lacks("dilations", Int(1));
        [QuantizeLinear] 10..21 Lacks("output_dtype", Int(0)), 10..23 Lacks("precision", Int(0)),
            10..19 Lacks("saturate", Int(1));
        [ScatterElements ScatterND] 11..16 Lacks("reduction", text("none"));
        [Shape] 1..15 Lacks("start", Int(0));
        [SpaceToDepth] 1..28 Lacks("mode", text("DCR"));
        // Without the attribute, shapes must be equal; newer versions broadcast as NumPy does.
        [Add And Div Equal Greater Less Mul Or Pow Sub Xor] 1..7 Default("broadcast", Int(0));
        [Max Mean Min Sum] 1..8 Default("broadcast", Int(0));
        [Concat ReduceL1 ReduceL2 ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum Slice Split Squeeze
         Unsqueeze] 1..11 AxesFromFirst;
    };
    // Spelling of OpenVINO, whatever the version: names of attributes, their defaults, and the
    // order of inputs.
    rows.extend(forms! { OpenVino
        [Convert] 0..EVER Name("to", "destination_type");
        [ReduceL1 ReduceL2 ReduceLogicalAnd ReduceLogicalOr ReduceMax ReduceMean ReduceMin ReduceProd
         ReduceSum] 0..EVER Name("keepdims", "keep_dims"), 0..EVER Default("keepdims", Int(0)),
            0..EVER Default("noop_with_empty_axes", Int(1));
        [LogSoftmax SoftMax] 0..EVER Default("axis", Int(1));
        [Slice] 0..EVER Index(3, Some(4)), 0..EVER Index(4, Some(3));
        [Gather] 1..8 Meaning(Older::CheckedIndices);
        [GatherND] 1..8 Meaning(Older::MergedBatch);
        [Interpolate] 4..11 Meaning(Older::SizesAndScales);
    });
    rows
});

/// The rows that hold for one version of an operator.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    rows: &'static [&'static FormRow],
    standard: Standard,
    version: i64,
}

impl Form {
    /// The standard of the operator.
    pub fn standard(&self) -> Standard {
        self.standard
    }

    /// The newest form, which differs from itself in nothing.
    pub const NEWEST: Form = Form { rows: &[], standard: Standard::Onnx, version: i64::MAX };

    /// The form that an operator has in an operator set.
    pub fn of(standard: Standard, operator: &str, version: i64) -> Form {
        static INDEX: LazyLock<HashMap<&str, Vec<&FormRow>>> = LazyLock::new(|| {
            let mut index: HashMap<_, Vec<_>> = HashMap::new();
            for row in TABLE.iter() {
                for operator in row.operators {
                    index.entry(*operator).or_default().push(row);
                }
            }
            index
        });
        let rows = INDEX.get(operator).map_or(&[][..], Vec::as_slice);
        Form { rows, standard, version }
    }

    /// The form that a node has; the newest if its version is not known.
    pub fn of_node(standard: Standard, node: &Node) -> Form {
        if !node.operator.domain.is_empty() {
            return Form::NEWEST;
        }
        Form::of(standard, &node.operator.name, node.version.unwrap_or(i64::MAX - 1))
    }

    /// The differences, each with the first version that does not have it.
    pub fn changes(self) -> impl Iterator<Item = (&'static Change, i64)> {
        let holds = move |row: &&&FormRow| {
            row.standard == self.standard && (row.since..row.before).contains(&self.version)
        };
        self.rows.iter().filter(holds).map(|row| (&row.change, row.before))
    }

    /// Returns true if the operator has a meaning that newer versions do not have.
    pub fn is(self, older: Older) -> bool {
        self.changes()
            .any(|(change, _)| matches!(change, Change::Meaning(own) | Change::Accepts(own) if *own == older))
    }

    /// Returns true if axes may not be counted from the last one.
    pub fn counts_axes_from_first(self) -> bool {
        self.changes().any(|(change, _)| matches!(change, Change::AxesFromFirst))
    }

    /// Returns true if an attribute may not have this value yet.
    pub fn lacks_value(self, attribute: &str, value: &str) -> bool {
        self.changes().any(|(change, _)| {
            matches!(change, Change::LacksValue(name, lacked) if (*name, *lacked) == (attribute, value))
        })
    }

    /// The name that an attribute has in this form.
    pub fn name_of(self, attribute: &str) -> &str {
        let named = self.changes().find_map(|(change, _)| match change {
            Change::Name(newest, own) if *newest == attribute => Some(*own),
            _ => None,
        });
        named.unwrap_or(attribute)
    }

    /// The value of an attribute that is not given, where it is not the newest version's.
    pub fn default_of(self, attribute: &str) -> Option<&'static Content> {
        self.changes().find_map(|(change, _)| match change {
            Change::Default(name, content) if *name == attribute => Some(content),
            _ => None,
        })
    }

    /// The value of an attribute that says what this form does without it.
    pub fn lacks(self, attribute: &str) -> Option<&'static Content> {
        self.changes().find_map(|(change, _)| match change {
            Change::Lacks(name, content) if *name == attribute => Some(content),
            _ => None,
        })
    }

    /// The value of an attribute that says what newer forms, which lack it, do.
    pub fn former(self, attribute: &str) -> Option<&'static Content> {
        self.changes().find_map(|(change, _)| match change {
            Change::Former(name, content) if *name == attribute => Some(content),
            _ => None,
        })
    }

    /// Returns true if an input has another index than in the newest form.
    pub fn moves_inputs(self) -> bool {
        self.changes().any(|(change, _)| matches!(change, Change::Index(..)))
    }

    /// The number of inputs of the newest form, of a node that has `inputs` inputs.
    pub fn count_of(self, inputs: usize) -> usize {
        let moved = self.changes().filter_map(|(change, _)| match change {
            Change::Index(newest, Some(own)) if *own < inputs => Some(newest + 1),
            _ => None,
        });
        moved.fold(inputs, usize::max)
    }

    /// The index at which a node has the input that the newest form has there.
    pub fn index_of(self, input: usize) -> Option<usize> {
        let moved = self.changes().find_map(|(change, _)| match change {
            Change::Index(newest, own) if *newest == input => Some(*own),
            _ => None,
        });
        moved.unwrap_or(Some(input))
    }
}

/// Inputs that are attributes of the node, by the index of the input.
pub type FormerInputs = SmallVec<[(usize, Tensor); 1]>;

/// The inputs of the newest form that a node has as attributes: floats and single axes as scalars,
/// integers as lists.
///
/// # Errors
/// [`gradus_core::Kind::Type`] if an attribute is something else.
pub fn former_inputs(attributes: &Attributes<'_>) -> Result<FormerInputs> {
    let mut inputs = FormerInputs::new();
    for (change, _) in attributes.form().changes() {
        let Change::Input(input, name) = *change else { continue };
        let tensor = match attributes.get(name) {
            None => continue,
            Some(Content::Float(value)) => Tensor::scalar(*value),
            Some(Content::Floats(values)) => Tensor::vector(values),
            Some(Content::Int(value)) if name == "axis" => Tensor::scalar(*value),
            Some(_) => Tensor::vector(attributes.ints(name)?.unwrap_or_default()),
        };
        inputs.push((input, tensor));
    }
    Ok(inputs)
}

/// Returns true if inputs that are constants as well may be given other values. Older ONNX files
/// list all constants as inputs; models that were made in memory are written as the newest.
pub fn has_default_inputs(model: &Model) -> bool {
    model.standard == Standard::Onnx && !(1..4).contains(&model.format_version)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{in_set, onnx_operators, onnx_versions};

    /// The rows agree with the generated table of versions.
    #[test]
    fn rows_say_what_the_signatures_say() {
        for row in TABLE.iter().filter(|row| row.standard == Standard::Onnx) {
            for operator in row.operators {
                let versions = onnx_versions("", operator);
                let (Some(old), newer) = (in_set(versions, row.before - 1), in_set(versions, row.before))
                else {
                    panic!("{operator} has no version before {}", row.before)
                };
                match &row.change {
                    Change::Input(input, name) => {
                        assert!(old.has_attribute(name), "{operator} {name}");
                        let newer = newer.expect("a newer version");
                        assert!(!newer.has_attribute(name), "{operator} {name}");
                        assert!(newer.inputs.len() > *input, "{operator} {input}");
                    }
                    Change::Name(newest, own) => {
                        assert!(old.has_attribute(own) && !old.has_attribute(newest), "{operator} {own}");
                    }
                    Change::Lacks(name, _) => {
                        assert!(!old.has_attribute(name), "{operator} {name}");
                        assert!(newer.expect("a newer version").has_attribute(name), "{operator} {name}");
                    }
                    Change::Former(name, _) => {
                        assert!(old.has_attribute(name), "{operator} {name}");
                        assert!(!newer.expect("a newer version").has_attribute(name), "{operator} {name}");
                    }
                    _ => assert!(newer.is_some(), "{operator} ends before {}", row.before),
                }
            }
        }
    }

    /// An attribute that an older version lacks, and has no row for, has a meaning of its own.
    #[test]
    fn no_attribute_that_older_versions_lack_is_missing() {
        // Given in another form, always with an effect, or of a meaning that the operator had not.
        let known = [
            (
                "Constant",
                "sparse_value value_float value_floats value_int value_ints value_string value_strings",
            ),
            ("DequantizeLinear", "axis"),
            ("Dropout", "seed"),
            ("QuantizeLinear", "axis"),
            ("Resize", "axes cubic_coeff_a extrapolation_value"),
            ("RoiAlign", "coordinate_transformation_mode"),
            ("Scan", "scan_input_axes scan_input_directions scan_output_axes scan_output_directions"),
            ("Shape", "end"),
            ("Split", "num_outputs"),
        ];
        for (domain, operator) in onnx_operators().filter(|(domain, _)| domain.is_empty()) {
            for pair in onnx_versions(domain, operator).windows(2).filter(|pair| pair[1].since > 7) {
                for rule in pair[1].attributes.iter().filter(|rule| !pair[0].has_attribute(rule.name)) {
                    let form = Form::of(Standard::Onnx, operator, pair[0].since);
                    let is_known = known.iter().any(|(own, names)| {
                        *own == operator && names.split(' ').any(|name| name == rule.name)
                    });
                    let has_row = form.lacks(rule.name).is_some();
                    assert!(has_row != is_known, "{operator}-{} {}", pair[1].since, rule.name);
                }
            }
        }
    }

    /// An attribute that became an input of the same name has a row.
    #[test]
    fn no_attribute_that_became_an_input_is_missing() {
        for (domain, operator) in onnx_operators().filter(|(domain, _)| domain.is_empty()) {
            for pair in onnx_versions(domain, operator).windows(2) {
                for (input, param) in pair[1].inputs.iter().enumerate() {
                    let became = pair[0].has_attribute(param.name) && !pair[1].has_attribute(param.name);
                    let known = Form::of(Standard::Onnx, operator, pair[0].since)
                        .changes()
                        .any(|(change, _)| matches!(change, Change::Input(own, _) if *own == input));
                    assert!(!became || known, "{operator}-{} {}", pair[1].since, param.name);
                }
            }
        }
    }

    #[test]
    fn a_form_is_that_of_its_version() {
        let form = |version| Form::of(Standard::Onnx, "Softmax", version);
        assert!(form(12).is(Older::Flattened) && !form(13).is(Older::Flattened));
        assert!(matches!(form(1).default_of("axis"), Some(Content::Int(1))));
        assert!(form(13).default_of("axis").is_none());
        assert_eq!(Form::of(Standard::Onnx, "Pad", 1).name_of("pads"), "paddings");
        assert_eq!(Form::of(Standard::Onnx, "Resize", 10).index_of(2), Some(1));
        assert_eq!(Form::NEWEST.index_of(2), Some(2));
    }
}
