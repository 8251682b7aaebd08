//! The number of operations of a node, from the shapes of its inputs and outputs.

mod attention;
mod classical;
mod lookups;
mod signal;

use std::collections::BTreeMap;

use gradus_core::Result;
use gradus_core::graph::{Node, Standard};

pub use attention::Attention;
use classical::OVERLAP;

use crate::attributes::{Attributes, Parameters};
use crate::dim::{Dim, Symbols};
use crate::fact::{Dims, Fact};
use crate::normalize::Form;
use crate::operators::equation::Equation;

/// The reason of a number that shapes do not tell.
pub const UNSIZED: &str = "sizes are not known";
/// The reason why pools of regions are not counted.
pub const OF_REGIONS: &str = "the sizes of regions decide the number of comparisons";
/// The reason why operators of texts are not counted.
pub const OF_TEXTS: &str = "the lengths of texts decide the number of operations";
/// The reason why operators that generate tokens are not counted.
pub const OF_TOKENS: &str = "the tokens decide the number of iterations";

/// Elementary operations of each element, by class. A function of an element is one operation, of
/// the last class in which it has a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Each {
    /// Sums, products, quotients, signs, roundings, conversions and logical operations.
    pub arithmetic: i64,
    /// Comparisons, minima, maxima, selections and look-ups.
    pub comparisons: i64,
    /// Exponentials, logarithms, powers, roots, trigonometric and hyperbolic functions, error
    /// functions.
    pub transcendentals: i64,
}

impl Each {
    pub const COMPARISON: Each = Each::of(0, 1, 0);
    pub const TRANSCENDENTAL: Each = Each::of(0, 0, 1);
    /// The maximum; the difference, the sum and the quotient; the exponential.
    pub const SOFTMAX: Each = Each::of(3, 1, 1);

    /// `times` arithmetic operations, without comparisons.
    pub const fn arithmetic(times: i64) -> Each {
        Each::of(times, 0, 0)
    }

    /// The given numbers of arithmetic operations, comparisons and transcendental functions.
    pub const fn of(arithmetic: i64, comparisons: i64, transcendentals: i64) -> Each {
        Each { arithmetic, comparisons, transcendentals }
    }

    /// All operations first, then the classes.
    fn columns(self) -> [Option<i64>; 4] {
        let Each { arithmetic, comparisons, transcendentals } = self;
        let all = arithmetic.checked_add(comparisons).and_then(|sum| sum.checked_add(transcendentals));
        [all, Some(arithmetic), Some(comparisons), Some(transcendentals)]
    }
}

/// Comparisons and sums of the longest paths of the trees that attributes describe.
pub type Longest = fn(&Attributes<'_>) -> Result<[u128; 2]>;

/// How the number of operations follows from shapes: a column of the operator table.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// No arithmetic: elements are moved, or only shapes are read.
    None,
    /// A number of operations for each element of the first output. Inputs of that shape are read
    /// element by element.
    EachOutput(Each),
    /// A number of operations for each element of the first input.
    EachInput(Each),
    /// A number of operations for each element of all inputs.
    AllInputs(Each),
    /// A matrix product: the size of the summed axis for each element of the output.
    MatMul,
    /// A convolution: the elements of the filter (`weight`: the number of the input) without its
    /// first `skip` axes, for each element of the output.
    Conv { weight: usize, skip: usize },
    /// A transposed convolution: the same for each element of the first input.
    ConvTranspose { skip: usize },
    /// A pool: the elements of the window, for each element of the output.
    Window(Each),
    /// LSTM, GRU and RNN: all weights (`weight`: the number of the first of two inputs), for each
    /// step of each batch.
    Recurrent { weight: usize },
    /// A linear function: all coefficients, for each row of the input.
    Linear,
    /// Interpolation between 4 neighbours at the samples of each element of the output.
    RoiAlign,
    /// Scaled products of queries, keys and values.
    Attention(Attention),
    /// A sum of products of one or two inputs: one for each combination of indices.
    Einsum,
    /// Interpolation on the axes whose sizes change: 2 or 4 neighbours on each.
    Resize,
    /// Interpolation at any places: 2 or 4 neighbours on each spatial axis.
    GridSample,
    /// A sum of squares over neighbours on axes, for each element.
    LocalResponse,
    /// A convolution at places between four neighbours each (`weight`: the number of the input).
    DeformConv { weight: usize },
    /// An elimination of square matrices: a third of the cube of their size (`Det`), or all of it.
    Elimination { parts: i64 },
    /// Overlaps of boxes: at most those of all boxes with as many as are selected.
    NonMaxSuppression,
    /// Fast Fourier transforms of the lines of an axis or several.
    Fourier,
    /// Fast Fourier transforms of the frames of a signal.
    FourierOfFrames,
    /// Comparisons on the longest path of each tree, and sums of the weights of its leaf.
    Trees(Longest),
    /// Products with all support vectors, and with coefficients.
    SupportVectors,
    /// A look-up of each sequence of as many elements as are counted.
    Grams,
    /// The operations of the graphs that the node runs.
    Graphs,
    /// A state of keys by values, which each position updates and each query reads.
    LinearAttention,
    /// Products with the weights (inputs, by number) of as many experts as are selected.
    Experts { weights: [usize; 3] },
    /// Pools of windows that together cover an axis, whose ends overlap where sizes do not divide.
    AdaptivePool(Each),
    /// Rows of a table, summed by index (`weights`: the number of the input that scales them).
    Bags { weights: usize },
    /// A binary search for each element of `values` among those of the last axis of `table`.
    Search { table: usize, values: usize },
    /// Pools of regions: interpolation between 4 neighbours for each element of the output.
    RoiPooling,
    /// No number that shapes tell, and the reason.
    Open(&'static str),
}

/// Numbers of operations.
#[derive(Clone, Copy, Debug)]
pub struct Operations {
    /// Multiplications with an addition.
    pub macs: Dim,
    /// Elementary operations: all, arithmetic, comparisons and transcendentals.
    pub elementary: [Dim; 4],
}

/// A node and the facts about its values.
pub struct Shapes<'a> {
    pub standard: Standard,
    pub node: &'a Node,
    pub facts: &'a [Fact],
    pub parameters: &'a Parameters<'a>,
    pub symbols: &'a mut Symbols,
}

impl Shapes<'_> {
    /// The numbers of operations of a node; nothing if a shape is not known or the product exceeds
    /// what an expression may be.
    pub fn operations(&mut self, work: Work) -> Option<Operations> {
        let one = Each::arithmetic(1);
        // MACs, and other operations: how often, and their kind.
        let (macs, count, each) = match work {
            // `NodeCosts` sums over the graphs.
            Work::None | Work::Graphs => (Dim::ZERO, Dim::ZERO, one),
            Work::EachOutput(each) => (Dim::ZERO, self.product(&self.output()?, &[])?, each),
            Work::EachInput(each) => (Dim::ZERO, self.product(&self.input(0)?, &[])?, each),
            Work::AllInputs(each) => {
                let mut all = Dim::ZERO;
                for input in (0..self.node.inputs.len()).filter(|&input| self.has(input)).collect::<Vec<_>>()
                {
                    let count = self.product(&self.input(input)?, &[])?;
                    all = self.symbols.add(all, count)?;
                }
                (Dim::ZERO, all, each)
            }
            Work::MatMul => {
                let summed = self.summed_axis()?;
                (self.product(&self.output()?, &[summed])?, Dim::ZERO, one)
            }
            Work::Conv { weight, skip } => {
                let filter = self.input(weight)?;
                (self.product(&self.output()?, filter.get(skip..)?)?, Dim::ZERO, one)
            }
            Work::ConvTranspose { skip } => {
                let filter = self.input(1)?;
                (self.product(&self.input(0)?, filter.get(skip..)?)?, Dim::ZERO, one)
            }
            Work::Window(each) => {
                let window = self.window()?;
                (Dim::ZERO, self.product(&self.output()?, &window)?, each)
            }
            Work::Recurrent { weight } => (self.recurrent(weight)?, Dim::ZERO, one),
            Work::Linear => (self.linear()?, Dim::ZERO, one),
            Work::RoiAlign => (self.roi_align()?, Dim::ZERO, one),
            Work::Attention(form) => {
                let (macs, scores) = self.attention(form)?;
                (macs, scores, Each::SOFTMAX)
            }
            Work::Einsum => {
                let (macs, sums) = self.einsum()?;
                (macs, sums, one)
            }
            Work::Resize => (self.resize()?, Dim::ZERO, one),
            Work::GridSample => (self.grid_sample()?, Dim::ZERO, one),
            Work::LocalResponse => {
                let (dims, neighbours) = (self.input(0)?, self.neighbourhood()?);
                (self.scaled(&dims, neighbours)?, self.product(&dims, &[])?, Each::of(2, 0, 1))
            }
            Work::DeformConv { weight } => (self.deform_conv(weight)?, Dim::ZERO, one),
            Work::Elimination { parts } => (self.elimination(parts)?, Dim::ZERO, one),
            Work::NonMaxSuppression => (Dim::ZERO, self.overlaps()?, OVERLAP),
            Work::Fourier => (Dim::ZERO, self.fourier()?, one),
            Work::FourierOfFrames => (Dim::ZERO, self.fourier_of_frames()?, one),
            Work::Trees(longest) => {
                let (rows, each) = self.trees(longest)?;
                (Dim::ZERO, rows, each)
            }
            Work::SupportVectors => (self.support_vectors()?, Dim::ZERO, one),
            Work::Grams => (Dim::ZERO, self.grams()?, Each::COMPARISON),
            Work::LinearAttention => {
                let (macs, scales) = self.linear_attention()?;
                (macs, scales, one)
            }
            Work::Experts { weights } => (self.experts(weights)?, Dim::ZERO, one),
            Work::AdaptivePool(each) => (Dim::ZERO, self.adaptive_pool()?, each),
            Work::Bags { weights } => {
                let (macs, sums) = self.bags(weights)?;
                (macs, sums, one)
            }
            Work::Search { table, values } => (Dim::ZERO, self.search(table, values)?, Each::COMPARISON),
            Work::RoiPooling if self.pools_maxima()? => return None,
            Work::RoiPooling => (self.scaled(&self.output()?, 4)?, Dim::ZERO, one),
            Work::Open(_) => return None,
        };
        let [all, arithmetic, comparisons, transcendentals] =
            each.columns().map(|times| self.symbols.multiply(count, Dim::Known(times?)));
        Some(Operations { macs, elementary: [all?, arithmetic?, comparisons?, transcendentals?] })
    }

    /// The reason why [`operations`](Shapes::operations) are not counted.
    pub fn why_uncounted(&self, work: Work) -> &'static str {
        let samples = || self.attributes().int_or("sampling_ratio", 0).is_ok_and(|ratio| ratio <= 0);
        match work {
            Work::Open(reason) => reason,
            Work::RoiAlign if samples() => "the sizes of regions decide the number of samples",
            Work::RoiPooling if self.pools_maxima() == Some(true) => OF_REGIONS,
            Work::Resize if self.attributes().flag("antialias", false).is_ok_and(|it| it) => {
                "antialiasing takes as many neighbours as the scale decides"
            }
            Work::Einsum if self.node.inputs.len() > 2 => "programs choose the order of the products",
            _ => UNSIZED,
        }
    }

    /// Returns true if `ROIPooling` selects the largest element of each part of a region.
    fn pools_maxima(&self) -> Option<bool> {
        Some(self.attributes().text("method").ok()?.unwrap_or("max") == "max")
    }

    /// Returns true if the input is given.
    pub fn has(&self, input: usize) -> bool {
        self.node.inputs.get(input).is_some_and(Option::is_some)
    }

    /// The dimensions of an input, if its rank is known.
    pub fn input(&self, input: usize) -> Option<Dims> {
        let id = self.node.inputs.get(input).copied().flatten()?;
        self.facts[id.index()].as_tensor()?.dims.clone()
    }

    /// The elements of an input that is a constant of integers.
    pub fn constant(&self, input: usize) -> Option<Vec<i64>> {
        let id = self.node.inputs.get(input).copied().flatten()?;
        self.facts[id.index()].as_tensor()?.tensor()?.to_i64().ok()
    }

    /// The dimensions of the first output, if its rank is known.
    pub fn output(&self) -> Option<Dims> {
        self.output_at(0)
    }

    /// The dimensions of an output, if its rank is known.
    pub fn output_at(&self, output: usize) -> Option<Dims> {
        let id = self.node.outputs.get(output).copied().flatten()?;
        self.facts[id.index()].as_tensor()?.dims.clone()
    }

    /// The product of two lists of dimensions.
    pub fn product(&mut self, dims: &[Dim], more: &[Dim]) -> Option<Dim> {
        self.symbols.product(dims.iter().chain(more).copied())
    }

    /// The number of elements of these dimensions, times a number.
    pub fn scaled(&mut self, dims: &Dims, times: i64) -> Option<Dim> {
        self.product(dims, &[Dim::Known(times)])
    }

    /// The attributes of the node, in its form.
    pub fn attributes(&self) -> Attributes<'_> {
        let attributes = Attributes::new(&self.node.attributes, Form::of_node(self.standard, self.node));
        attributes.with_parameters(self.parameters.clone())
    }

    /// The sizes of the window of a pool.
    fn window(&self) -> Option<Vec<Dim>> {
        let name = if self.standard == Standard::OpenVino { "kernel" } else { "kernel_shape" };
        Some(self.attributes().list(name).ok()??.into_iter().map(Dim::Known).collect())
    }

    /// The size of the axis over which a matrix product sums.
    fn summed_axis(&self) -> Option<Dim> {
        let attributes = self.attributes();
        let transposed = match self.standard {
            Standard::OpenVino => attributes.flag("transpose_a", false).ok()?,
            _ => attributes.int_or("transA", 0).ok()? != 0,
        };
        let left = self.input(0)?;
        // `FusedMatMul` may move the first axis after those of the batch before it transposes.
        if transposed && attributes.flag("transBatchA", false).ok()? {
            return left.first().copied();
        }
        let back = if transposed && left.len() > 1 { 2 } else { 1 };
        left.get(left.len().checked_sub(back)?).copied()
    }

    fn recurrent(&mut self, weight: usize) -> Option<Dim> {
        let (x, w, r) = (self.input(0)?, self.input(weight)?, self.input(weight + 1)?);
        let (w, r) = (self.product(&w, &[])?, self.product(&r, &[])?);
        let weights = self.symbols.add(w, r)?;
        self.product(x.split_last()?.1, &[weights])
    }

    fn linear(&mut self) -> Option<Dim> {
        let coefficients = self.attributes().floats("coefficients").ok()??.len();
        let x = self.input(0)?;
        self.product(x.split_last()?.1, &[Dim::from(coefficients)])
    }

    /// Nothing where the sizes of the regions decide the number of samples.
    fn roi_align(&mut self) -> Option<Dim> {
        let ratio = self.attributes().int_or("sampling_ratio", 0).ok()?;
        let samples = ratio.checked_mul(ratio).filter(|&samples| samples > 0)?;
        let output = self.output()?;
        self.product(&output, &[Dim::Known(samples), Dim::Known(4)])
    }

    /// MACs of two operands, operations of one. The order in which programs multiply more is their
    /// own.
    fn einsum(&mut self) -> Option<(Dim, Dim)> {
        let inputs = (0..self.node.inputs.len()).map(|input| self.input(input));
        let inputs = inputs.collect::<Option<Vec<_>>>()?;
        let ranks: Vec<_> = inputs.iter().map(|dims| dims.len()).collect();
        let equation = self.attributes().text("equation").ok()??;
        let equation = Equation::new(equation, &ranks).ok()?;
        let mut sizes: BTreeMap<char, Dim> = BTreeMap::new();
        for (names, dims) in equation.terms.iter().zip(&inputs) {
            for (&name, &dim) in names.iter().zip(&**dims) {
                let size = sizes.entry(name).or_insert(dim);
                if *size == Dim::ONE {
                    *size = dim;
                }
            }
        }
        let sizes: Vec<_> = sizes.into_values().collect();
        let count = self.product(&sizes, &[])?;
        match inputs.len() {
            1 => Some((Dim::ZERO, count)),
            2 => Some((count, Dim::ZERO)),
            _ => None,
        }
    }

    fn resize(&mut self) -> Option<Dim> {
        let attributes = self.attributes();
        if attributes.flag("antialias", false).ok()? {
            return None;
        }
        let neighbours = neighbours(attributes.text("mode").ok()?.unwrap_or("nearest"))?;
        let (before, after) = (self.input(0)?, self.output()?);
        let axes = before.iter().zip(after.iter()).filter(|(before, after)| before != after).count();
        self.interpolated(&after, neighbours, axes)
    }

    fn grid_sample(&mut self) -> Option<Dim> {
        let default = if self.standard == Standard::OpenVino { "bilinear" } else { "linear" };
        let neighbours = neighbours(self.attributes().text("mode").ok()?.unwrap_or(default))?;
        let output = self.output()?;
        self.interpolated(&output, neighbours, output.len().checked_sub(2)?)
    }

    /// MACs of outputs that are each a sum over neighbours on some axes.
    fn interpolated(&mut self, output: &Dims, neighbours: i64, axes: usize) -> Option<Dim> {
        if neighbours == 1 {
            return Some(Dim::ZERO);
        }
        let taps = neighbours.checked_pow(u32::try_from(axes).ok()?)?;
        self.product(output, &[Dim::Known(if axes == 0 { 0 } else { taps })])
    }
}

/// The number of neighbours on an axis between which a mode interpolates.
fn neighbours(mode: &str) -> Option<i64> {
    match mode {
        "nearest" => Some(1),
        "linear" | "linear_onnx" | "bilinear" => Some(2),
        "cubic" | "bicubic" => Some(4),
        _ => None,
    }
}
