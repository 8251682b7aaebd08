//! Attributes and shapes of test cases: those that an operator takes, in combinations.

use std::ops::Range;

use gradus_core::convert::{self, Rules, i64_of};
use gradus_core::graph::Content;
use gradus_core::{DType, Tensor};
use gradus_engine::words::Words;
use gradus_formats::onnx;

use super::elements::{Elements, Whole};
use super::forms::DrawnForm;
use super::node::{Draw, few_inputs, mostly_given};
use crate::operators::Row;
use crate::schema::{Arity, AttributeRule, Param, Signature, Sort};

/// Sizes of axes; few tensors have no elements.
const SIZES: [usize; 16] = [0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 7];
/// Ranks of the first input.
const RANKS: [usize; 12] = [0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5];
/// Integers of attributes that are neither axes nor types.
const INTS: [i64; 8] = [0, 1, 0, 1, 2, 3, 4, -1];
/// Floats of attributes.
const FLOATS: [f32; 10] = [0.0, 1.0, 0.5, 2.0, 0.01, 1e-5, -1.0, 3.0, 100.0, 1e30];
/// Equations of Einsum; the last one is for inputs of one rank, as the text wants it of ellipses.
const EQUATIONS: [&str; 8] =
    ["ij,jk->ik", "ij->ji", "ij->i", "i,i->", "bij,bjk->bik", "ii->i", "ij,ij->ij", "...i,...i->..."];
/// Attributes with values for which the text leaves the result open: the order of `TopK`'s outputs.
const OPEN: [(&str, &str); 1] = [("TopK", "sorted")];
/// Texts of attributes that are no words of an operator.
const TEXTS: [&str; 4] = ["", "a", "é", "name"];

/// The shapes that inputs of a node have to each other.
#[derive(Clone, Copy, Debug)]
enum DrawnRelation {
    /// All alike.
    Alike,
    /// Some axes have size 1 or are missing.
    Broadcast,
    /// Factors of a product of matrices.
    Matrices,
    /// Data, kernels and vectors of channels.
    Windows,
    /// Data, and vectors as long as one axis.
    Vectors,
    /// None.
    Mixed,
}

/// Choices that the inputs and attributes of one node share.
pub(super) struct CaseDraw<'a> {
    row: &'a Row,
    signature: &'a Signature,
    relation: DrawnRelation,
    /// The sizes of the first input.
    base: Vec<usize>,
    /// The number of channels that windows give, or of columns of the second matrix.
    width: usize,
    /// The length of vectors.
    vector: usize,
    elements: Elements,
    form: Option<DrawnForm>,
    /// True if pads follow from an attribute, beside which none may be given.
    pads_itself: bool,
}

impl<'a> CaseDraw<'a> {
    /// The choices of a new node of an operator.
    pub(super) fn new(
        random: &mut fastrand::Rng,
        (row, signature): (&'a Row, &'a Signature),
    ) -> CaseDraw<'a> {
        use DrawnRelation::{Alike, Broadcast, Matrices, Mixed, Vectors, Windows};
        let relation = match [Alike, Alike, Broadcast, Matrices, Windows, Vectors, Mixed][random.usize(..7)] {
            // Windows need axes besides those of the batch and the channels.
            _ if signature.has_attribute("kernel_shape") => Windows,
            any => any,
        };
        let rank = match relation {
            Windows => random.usize(3..6),
            _ => RANKS[random.usize(..RANKS.len())],
        };
        let base: Vec<_> = (0..rank).map(|_| SIZES[random.usize(..SIZES.len())]).collect();
        let axis = if random.bool() { 1 } else { rank.wrapping_sub(1) };
        let vector = base.get(axis).copied().unwrap_or(1);
        let width = random.usize(1..5);
        let (elements, form) = (Elements::new(random), DrawnForm::of(random, row));
        CaseDraw { row, signature, relation, base, width, vector, elements, form, pads_itself: false }
    }

    fn sizes(&self, random: &mut fastrand::Rng, input: usize) -> Vec<usize> {
        let base = || self.base.clone();
        let rank = self.base.len();
        match self.relation {
            _ if input == 0 => base(),
            DrawnRelation::Broadcast => broadcast(random, &self.base),
            DrawnRelation::Matrices if input == 1 && rank > 1 => {
                let mut sizes = base();
                (sizes[rank - 2], sizes[rank - 1]) = (self.base[rank - 1], self.width);
                let from = if random.bool() { 0 } else { random.usize(..rank - 1) };
                sizes.split_off(from)
            }
            DrawnRelation::Matrices if rank > 1 => {
                let mut sizes = base();
                sizes[rank - 1] = self.width;
                broadcast(random, &sizes)
            }
            DrawnRelation::Windows if input == 1 && random.usize(..4) > 0 => {
                let kernels = (2..rank).map(|_| random.usize(1..4));
                [self.width, self.base[1]].into_iter().chain(kernels).collect()
            }
            DrawnRelation::Windows => vec![if random.bool() { self.width } else { self.base[1] }],
            DrawnRelation::Vectors => vec![self.vector],
            DrawnRelation::Alike | DrawnRelation::Matrices => base(),
            DrawnRelation::Mixed => match random.usize(..4) {
                0 => Vec::new(),
                1 => vec![random.usize(..4)],
                2 => base(),
                _ => (0..random.usize(1..4)).map(|_| SIZES[random.usize(..SIZES.len())]).collect(),
            },
        }
    }

    /// A list of axes, sizes or positions.
    fn list(&self, random: &mut fastrand::Rng) -> Vec<i64> {
        let rank = self.base.len();
        match random.usize(..6) {
            0 => self.axes(random),
            1 => self.base.iter().map(|&size| i64_of(size)).collect(),
            2 => {
                let mut sizes: Vec<_> = self.base.iter().map(|&size| i64_of(size)).collect();
                random.shuffle(&mut sizes);
                if let Some(size) = random.choice(&mut sizes) {
                    *size = if random.bool() { -1 } else { 0 };
                }
                sizes
            }
            3 => (0..2 * rank).map(|_| random.i64(-1..3)).collect(),
            4 => vec![i64_of(self.base.iter().product())],
            _ => (0..random.usize(..=rank + 1)).map(|_| random.i64(-4..5)).collect(),
        }
    }

    /// Some axes, each once, counted from either end.
    fn axes(&self, random: &mut fastrand::Rng) -> Vec<i64> {
        let rank = self.base.len();
        let mut axes: Vec<_> = (0..rank).collect();
        random.shuffle(&mut axes);
        axes.truncate(random.usize(..=rank));
        axes.into_iter().map(|axis| i64_of(axis) - if random.bool() { i64_of(rank) } else { 0 }).collect()
    }

    fn int(&self, random: &mut fastrand::Rng, name: &str) -> i64 {
        match name {
            "to" | "dtype" | "output_dtype" => {
                let dtype = DType::ALL[random.usize(..DType::ALL.len())];
                onnx::number_of(dtype).unwrap_or(1)
            }
            _ if name.contains("axis") => {
                let rank = i64_of(self.base.len().max(1));
                random.i64(-rank..rank)
            }
            _ => INTS[random.usize(..INTS.len())],
        }
    }

    fn ints(&self, random: &mut fastrand::Rng, name: &str) -> Vec<i64> {
        let spatial = self.base.len().saturating_sub(2);
        match name {
            "perm" => {
                let mut axes: Vec<_> = (0..i64_of(self.base.len())).collect();
                random.shuffle(&mut axes);
                axes
            }
            "kernel_shape" | "strides" | "dilations" => several(random, spatial, 1..4),
            "output_shape" => self.base.iter().skip(2).map(|&size| i64_of(size) + random.i64(0..3)).collect(),
            "output_padding" => several(random, spatial, 0..2),
            "pads" => several(random, 2 * spatial, 0..3),
            "axes" => self.axes(random),
            _ => self.list(random),
        }
    }

    /// A text of an attribute that has one of a few, or any.
    fn text(&self, random: &mut fastrand::Rng, name: &str) -> &'static str {
        let of_name = |words: &&Words| words.attribute == name;
        let texts = match self.row.words.iter().find(of_name) {
            Some(words) => words.texts,
            None if name == "equation" => {
                let are_alike = matches!(self.relation, DrawnRelation::Alike);
                &EQUATIONS[..EQUATIONS.len() - usize::from(!are_alike)]
            }
            None => &TEXTS[..],
        };
        texts[random.usize(..texts.len())]
    }
}

impl Draw for CaseDraw<'_> {
    fn tensor(&mut self, random: &mut fastrand::Rng, input: usize, dtype: DType) -> (Tensor, bool) {
        let row = self.row;
        if let Some(drawn) = &self.form {
            let constant = random.usize(..4) == 0;
            let sizes = drawn.form.inputs.get(input).copied().unwrap_or_default();
            if let Some(list) = sizes.strip_prefix('=') {
                let list = Tensor::vector(&drawn.integers(list));
                return (convert::cast(&list, dtype, Rules::IEEE).unwrap_or(list), constant);
            }
            let whole = if random.bool() { Whole::Index } else { self.elements.whole() };
            return (self.elements.tensor(random, dtype, &drawn.sizes(sizes), whole), constant);
        }
        let is_list =
            row.lists.contains(&input) || (input > 0 && dtype == DType::I64 && random.usize(..4) == 0);
        let constant = random.usize(..4) == 0;
        if is_list && matches!(dtype, DType::I64 | DType::I32) {
            let list = Tensor::vector(&self.list(random));
            return (convert::cast(&list, dtype, Rules::IEEE).unwrap_or(list), constant);
        }
        let sizes = match () {
            () if is_list => vec![random.usize(..=self.base.len())],
            // The number of elements that TopK finds is a list of one.
            () if row.scalars.contains(&input) => {
                let is_list = Signature::param(self.signature.inputs, input).is_some_and(|it| it.name == "K");
                vec![1; usize::from(is_list)]
            }
            () => self.sizes(random, input),
        };
        let whole = if input > 0 && random.bool() { Whole::Index } else { self.elements.whole() };
        (self.elements.tensor(random, dtype, &sizes, whole), constant)
    }

    fn attribute(&mut self, random: &mut fastrand::Rng, rule: &AttributeRule) -> Option<Content> {
        if OPEN.contains(&(self.row.name, rule.name)) {
            return None;
        }
        if let Some((drawn, text)) =
            self.form.as_ref().and_then(|drawn| Some((drawn, drawn.text(rule.name)?)))
        {
            let integers = drawn.integers(text);
            let first = integers.first().copied().unwrap_or_default();
            return Some(match rule.sort {
                Sort::Ints => Content::Ints(integers.into()),
                Sort::Floats => Content::Floats((0..first).map(|_| float(random)).collect()),
                Sort::Strings => Content::Strings(text.split(' ').map(Into::into).collect()),
                _ => Content::Int(first),
            });
        }
        if rule.name == "pads" && self.pads_itself {
            return None;
        }
        Some(match rule.sort {
            Sort::Int => Content::Int(self.int(random, rule.name)),
            Sort::Ints => Content::Ints(self.ints(random, rule.name).into()),
            Sort::Float => Content::Float(float(random)),
            Sort::Floats => Content::Floats((0..random.usize(..4)).map(|_| float(random)).collect()),
            Sort::String => {
                let text = self.text(random, rule.name);
                self.pads_itself |= rule.name == "auto_pad" && text != "NOTSET";
                Content::Bytes(text.into())
            }
            Sort::Tensor => {
                let dtype = DType::ALL[random.usize(..DType::ALL.len())];
                let sizes = [1];
                let whole = self.elements.whole();
                Content::Tensor(self.elements.tensor(random, dtype, &sizes, whole).into())
            }
            _ => return None,
        })
    }

    fn inputs(&mut self, random: &mut fastrand::Rng, signature: &Signature) -> usize {
        match &self.form {
            Some(drawn) => drawn.form.inputs.len().min(signature.inputs.len()),
            None => few_inputs(random, signature),
        }
    }

    fn gives(&mut self, random: &mut fastrand::Rng, rule: &AttributeRule) -> bool {
        match &self.form {
            Some(drawn) if drawn.text(rule.name).is_some() => true,
            Some(drawn) if drawn.leaves_out(rule.name) => false,
            _ => mostly_given(random, rule),
        }
    }

    fn outputs(&mut self, random: &mut fastrand::Rng, signature: &Signature) -> usize {
        if let Some(outputs) = self.form.as_ref().map(|drawn| drawn.form.outputs).filter(|it| *it > 0) {
            return outputs;
        }
        let needed = |param: &&Param| param.arity != Arity::Optional;
        let least = signature.outputs.iter().take_while(needed).count().max(1);
        match signature.outputs.last().map(|param| param.arity) {
            Some(Arity::Many { .. }) => random.usize(1..5),
            _ => random.usize(least..=signature.outputs.len().max(least)),
        }
    }
}

/// A float of an attribute.
fn float(random: &mut fastrand::Rng) -> f32 {
    FLOATS[random.usize(..FLOATS.len())]
}

/// Integers of a range.
fn several(random: &mut fastrand::Rng, count: usize, range: Range<i64>) -> Vec<i64> {
    (0..count).map(|_| random.i64(range.clone())).collect()
}

/// Sizes that broadcast to others.
fn broadcast(random: &mut fastrand::Rng, sizes: &[usize]) -> Vec<usize> {
    let from = if random.bool() { 0 } else { random.usize(..=sizes.len()) };
    sizes[from..].iter().map(|&size| if random.usize(..3) == 0 { 1 } else { size }).collect()
}
