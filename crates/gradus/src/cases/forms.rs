//! Forms of nodes whose inputs only go together in few ways, which random sizes do not meet.

use gradus_core::convert::usize_of_i64;

use crate::operators::Row;

/// A form of the nodes of an operator.
///
/// Sizes are sums, and products of sums (`*`), of numbers and letters: `2kl` is twice `k` times `l`.
/// A letter is one number in a node: from 1 to 3, as a capital from 3 to 6.
pub(super) struct CaseForm {
    /// The operator, with its domain unless that is ONNX's.
    operator: &'static str,
    /// The sizes of each input, with spaces between them; after `=`, the elements of a list. Inputs
    /// after these are left out.
    pub(super) inputs: &'static [&'static str],
    /// Attributes that are given: their integers, the number of their floats, or their texts.
    given: &'static [(&'static str, &'static str)],
    /// Attributes that are left out.
    without: &'static [&'static str],
    /// The number of outputs; 0 for any.
    pub(super) outputs: usize,
}

impl CaseForm {
    const fn new(operator: &'static str, inputs: &'static [&'static str]) -> CaseForm {
        CaseForm { operator, inputs, given: &[], without: &[], outputs: 0 }
    }

    const fn given(self, given: &'static [(&'static str, &'static str)]) -> CaseForm {
        CaseForm { given, ..self }
    }

    const fn without(self, without: &'static [&'static str]) -> CaseForm {
        CaseForm { without, ..self }
    }

    const fn outputs(self, outputs: usize) -> CaseForm {
        CaseForm { outputs, ..self }
    }
}

const HEADS: &[(&str, &str)] = &[("num_heads", "n")];
const KERNEL: &[(&str, &str)] = &[("kernel_shape", "k l")];
const WINDOWS: &[&str] = &["dilations", "pads", "strides"];

/// The attributes of one tree, and of two.
macro_rules! tree {
    ($of:literal, [$($more:expr),*]) => {
        [
            &[
                ("nodes_treeids", "0 0 0"),
                ("nodes_nodeids", "0 1 2"),
                ("nodes_featureids", "f-1 0 0"),
                ("nodes_truenodeids", "1 0 0"),
                ("nodes_falsenodeids", "2 0 0"),
                ("nodes_modes", "BRANCH_LEQ LEAF LEAF"),
                ("nodes_values", "3"),
                (concat!($of, "_treeids"), "0 0"),
                (concat!($of, "_nodeids"), "1 2"),
                (concat!($of, "_ids"), "0 t-1"),
                (concat!($of, "_weights"), "2"),
                $($more),*
            ],
            &[
                ("nodes_treeids", "0 0 0 1 1 1"),
                ("nodes_nodeids", "0 1 2 0 1 2"),
                ("nodes_featureids", "f-1 0 0 g-1 0 0"),
                ("nodes_truenodeids", "1 0 0 2 0 0"),
                ("nodes_falsenodeids", "2 0 0 1 0 0"),
                ("nodes_modes", "BRANCH_LT LEAF LEAF BRANCH_GTE LEAF LEAF"),
                ("nodes_values", "6"),
                (concat!($of, "_treeids"), "0 0 1 1 1"),
                (concat!($of, "_nodeids"), "1 2 1 2 2"),
                (concat!($of, "_ids"), "0 t-1 t-1 0 t-1"),
                (concat!($of, "_weights"), "5"),
                $($more),*
            ],
        ]
    };
}

const REGRESSION: [&[(&str, &str)]; 2] = tree!("target", [("n_targets", "t")]);
const CLASSES: [&[(&str, &str)]; 2] = tree!("class", [("classlabels_int64s", "4 0 2")]);
const TREE_OPTIONS: &[&str] = &[
    "base_values",
    "base_values_as_tensor",
    "class_weights_as_tensor",
    "classlabels_strings",
    "nodes_hitrates",
    "nodes_hitrates_as_tensor",
    "nodes_missing_value_tracks_true",
    "nodes_values_as_tensor",
    "target_weights_as_tensor",
];

/// The forms, several of an operator one after the other.
const FORMS: &[CaseForm] = &[
    CaseForm::new("AffineGrid", &["n 2 3", "=n c Y X"]),
    CaseForm::new("AffineGrid", &["n 3 4", "=n c y x d"]),
    CaseForm::new("Attention", &["b n s h", "b n t h", "b n t v", "s t"])
        .without(&["q_num_heads", "kv_num_heads"])
        .outputs(1),
    CaseForm::new("Attention", &["b n s h", "b n t h", "b n t v", "s t+p", "b n p h", "b n p v"])
        .without(&["q_num_heads", "kv_num_heads"])
        .outputs(4),
    CaseForm::new("Attention", &["b s nh", "b t nh", "b t nv", "s t"])
        .given(&[("q_num_heads", "n"), ("kv_num_heads", "n")])
        .outputs(3),
    CaseForm::new("BatchNormalization", &["n c Y X", "c", "c", "c", "c"])
        .without(&["training_mode"])
        .outputs(1),
    CaseForm::new("BatchNormalization", &["n c Y", "c", "c", "c", "c"])
        .given(&[("training_mode", "1")])
        .outputs(3),
    CaseForm::new("Col2Im", &["n ckl Y-k+1*X-l+1", "=Y X", "=k l"]).without(WINDOWS),
    CaseForm::new("DeformConv", &["n c Y X", "o c k l", "n 2kl Y-k+1 X-l+1", "o", "n kl Y-k+1 X-l+1"])
        .given(KERNEL)
        .without(WINDOWS),
    CaseForm::new("DeformConv", &["n 2c Y X", "2o c k l", "n 2kl Y-k+1 X-l+1", "2o"])
        .given(&[("group", "2")])
        .without(WINDOWS),
    CaseForm::new("GRU", &["S b i", "d 3h i", "d 3h h", "d 6h", "b", "d b h"]).given(&[("hidden_size", "h")]),
    CaseForm::new("LSTM", &["S b i", "d 4h i", "d 4h h", "d 8h", "b", "d b h", "d b h", "d 3h"])
        .given(&[("hidden_size", "h")]),
    CaseForm::new("LinearAttention", &["b s nk", "b s nk", "b s nv", "b n k v"])
        .given(&[("q_num_heads", "n"), ("kv_num_heads", "n")]),
    CaseForm::new("MaxRoiPool", &["n c Y X", "r 5"]).given(&[("pooled_shape", "k l")]),
    CaseForm::new("NonMaxSuppression", &["b n 4", "b c n", "1", "1", "1"]),
    CaseForm::new("QLinearConv", &["n c Y X", "", "", "o c k l", "", "", "", "", "o"]).given(KERNEL),
    CaseForm::new("QLinearConv", &["n c Y X", "", "", "o c k l", "o", "o", "", "", "o"]).given(KERNEL),
    CaseForm::new("RNN", &["S b i", "d h i", "d h h", "d 2h", "b", "d b h"]).given(&[("hidden_size", "h")]),
    CaseForm::new("RoiAlign", &["n c Y X", "r 4", "r"])
        .given(&[("output_height", "k"), ("output_width", "l")]),
    CaseForm::new("RotaryEmbedding", &["b n s 2h", "M h", "M h", "b s"])
        .without(&["num_heads", "rotary_embedding_dim"]),
    CaseForm::new("RotaryEmbedding", &["b n s 2h", "b s h", "b s h"])
        .without(&["num_heads", "rotary_embedding_dim"]),
    CaseForm::new("RotaryEmbedding", &["b s 2hn", "M h", "M h", "b s"])
        .given(HEADS)
        .without(&["rotary_embedding_dim"]),
    CaseForm::new("ai.onnx.ml.CategoryMapper", &["n m"])
        .given(&[("cats_int64s", "0 1 2"), ("cats_strings", "a é name")]),
    CaseForm::new("ai.onnx.ml.TreeEnsembleClassifier", &["n 3"]).given(CLASSES[0]).without(TREE_OPTIONS),
    CaseForm::new("ai.onnx.ml.TreeEnsembleClassifier", &["n 3"]).given(CLASSES[1]).without(TREE_OPTIONS),
    CaseForm::new("ai.onnx.ml.TreeEnsembleRegressor", &["n 3"]).given(REGRESSION[0]).without(TREE_OPTIONS),
    CaseForm::new("ai.onnx.ml.TreeEnsembleRegressor", &["n 3"]).given(REGRESSION[1]).without(TREE_OPTIONS),
    CaseForm::new("com.microsoft.Attention", &["b s i", "i 3nh", "3nh"]).given(HEADS),
    CaseForm::new("com.microsoft.CropAndResize", &["n c Y X", "r 4", "r", "=k l"]),
    CaseForm::new(
        "com.microsoft.DynamicQuantizeLSTM",
        &["S b i", "d i 4h", "d h 4h", "d 8h", "b", "d b h", "d b h", "d 3h", "d", "d", "d", "d"],
    )
    .given(&[("hidden_size", "h")]),
    CaseForm::new(
        "com.microsoft.EmbedLayerNormalization",
        &["b s", "b s", "M h", "M h", "M h", "h", "h", "b s"],
    ),
    CaseForm::new("com.microsoft.MatMulNBits", &["m 16p", "n p 8", "np"])
        .given(&[("K", "16p"), ("N", "n"), ("bits", "4"), ("block_size", "16")])
        .without(&["weight_prepacked"]),
    CaseForm::new(
        "com.microsoft.MultiHeadAttention",
        &["b s nh", "b t nh", "b t nv", "2nh+nv", "b t", "b n s t"],
    )
    .given(HEADS),
    CaseForm::new("com.microsoft.QAttention", &["b s i", "i 3nh", "3nh", "", "", "b", "", ""]).given(HEADS),
    CaseForm::new("com.microsoft.RotaryEmbedding", &["b s 2hn", "b s", "M h", "M h"])
        .given(HEADS)
        .without(&["rotary_embedding_dim", "is_packed_batching"]),
    CaseForm::new("com.microsoft.RotaryEmbedding", &["b n s 2h", "b s", "M h", "M h"]).without(&[
        "num_heads",
        "rotary_embedding_dim",
        "is_packed_batching",
    ]),
];

/// A form of the nodes of an operator, and the numbers of its letters.
pub(super) struct DrawnForm {
    pub(super) form: &'static CaseForm,
    letters: [i64; 128],
}

impl DrawnForm {
    /// One of the forms of an operator, if it has any.
    pub(super) fn of(random: &mut fastrand::Rng, row: &Row) -> Option<DrawnForm> {
        let is_of = |form: &CaseForm| match form.operator.rsplit_once('.') {
            Some((domain, name)) => row.domain == domain && row.name == name,
            None => row.domain.is_empty() && row.name == form.operator,
        };
        let forms: Vec<_> = FORMS.iter().filter(|form| is_of(form)).collect();
        let form = random.choice(forms)?;
        let letters = std::array::from_fn(|code| match u8::try_from(code) {
            Ok(b'A'..=b'Z') => random.i64(3..=6),
            _ => random.i64(1..=3),
        });
        Some(DrawnForm { form, letters })
    }

    /// The text of an attribute that the form gives.
    pub(super) fn text(&self, attribute: &str) -> Option<&'static str> {
        self.form.given.iter().find(|(name, _)| *name == attribute).map(|(_, text)| *text)
    }

    /// Returns true if the form leaves an attribute out.
    pub(super) fn leaves_out(&self, attribute: &str) -> bool {
        self.form.without.contains(&attribute)
    }

    /// The integers of a list of sizes, each from 0.
    pub(super) fn integers(&self, list: &str) -> Vec<i64> {
        list.split_whitespace().map(|size| self.integer(size).max(0)).collect()
    }

    /// The sizes of an input.
    pub(super) fn sizes(&self, list: &str) -> Vec<usize> {
        self.integers(list).into_iter().filter_map(usize_of_i64).collect()
    }

    fn integer(&self, text: &str) -> i64 {
        text.split('*').map(|sum| self.sum(sum)).product()
    }

    fn sum(&self, text: &str) -> i64 {
        let (mut sum, mut term, mut digits, mut sign) = (0, 1, None, 1);
        for byte in text.bytes().chain([b'+']) {
            match byte {
                b'0'..=b'9' => digits = Some(digits.unwrap_or(0) * 10 + i64::from(byte - b'0')),
                b'+' | b'-' => {
                    sum += sign * term * digits.unwrap_or(1);
                    (term, digits, sign) = (1, None, if byte == b'-' { -1 } else { 1 });
                }
                letter => term *= self.letters[usize::from(letter & 127)],
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cases, CasesOptions};
    use super::*;

    #[test]
    fn operators_with_forms_have_cases() {
        let options = CasesOptions { count: 3, ..CasesOptions::default() };
        let operators: std::collections::BTreeSet<_> = FORMS.iter().map(|form| form.operator).collect();
        for operator in operators {
            let made: Result<Vec<_>, _> = Cases::new(operator, &options).unwrap().collect();
            assert_eq!(made.map(|cases| cases.len()).map_err(|error| error.to_string()), Ok(3), "{operator}");
        }
    }

    #[test]
    fn sizes_are_sums_and_products() {
        let mut letters = [0; 128];
        (letters[usize::from(b'k')], letters[usize::from(b'l')], letters[usize::from(b'Y')]) = (2, 3, 5);
        let drawn = DrawnForm { form: &FORMS[0], letters };
        assert_eq!(drawn.integers("4 k 2kl Y-k+1 Y-k+1*Y-l+1 12 0"), [4, 2, 12, 4, 12, 12, 0]);
        assert_eq!(drawn.sizes(""), Vec::<usize>::new());
    }
}
