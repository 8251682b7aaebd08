//! The number of operations of a node, from the shapes of its inputs and outputs.

use gradus_core::graph::{Node, Standard};

use crate::attributes::Attributes;
use crate::dim::Dim;
use crate::fact::Dims;
use crate::infer::Inference;
use crate::normalize::Form;

/// How the number of operations follows from shapes: a column of the operator table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// No arithmetic: elements are moved, or only shapes are read.
    None,
    /// So many operations for each element of the first output.
    EachOutput(i64),
    /// So many operations for each element of the first input.
    EachInput(i64),
    /// A matrix product: the size of the summed axis for each element of the output.
    MatMul,
    /// A convolution: the elements of the filter (`weight`: the number of the input) without its
    /// first `skip` axes, for each element of the output.
    Conv { weight: usize, skip: usize },
    /// A transposed convolution: the same for each element of the first input.
    ConvTranspose { skip: usize },
    /// A pool: the elements of the window, for each element of the output.
    Window,
    /// LSTM, GRU and RNN of ONNX: all weights, for each step of each batch.
    Recurrent,
}

/// Numbers of operations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operations {
    /// Multiplications with an addition.
    pub(super) macs: Dim,
    /// Other operations.
    pub(super) elementary: Dim,
}

/// A node and the facts about its values.
pub(super) struct Shapes<'a> {
    pub(super) standard: Standard,
    pub(super) node: &'a Node,
    pub(super) inference: &'a mut Inference,
}

impl Shapes<'_> {
    /// The numbers of operations of a node; nothing if a shape is not known or the product exceeds
    /// what an expression may be.
    pub(super) fn operations(&mut self, work: Work) -> Option<Operations> {
        let (macs, elementary) = match work {
            Work::None => (Dim::ZERO, Dim::ZERO),
            Work::EachOutput(times) => (Dim::ZERO, self.scaled(&self.output()?, times)?),
            Work::EachInput(times) => (Dim::ZERO, self.scaled(&self.input(0)?, times)?),
            Work::MatMul => {
                let summed = self.summed_axis()?;
                (self.product(&self.output()?, &[summed])?, Dim::ZERO)
            }
            Work::Conv { weight, skip } => {
                let filter = self.input(weight)?;
                (self.product(&self.output()?, filter.get(skip..)?)?, Dim::ZERO)
            }
            Work::ConvTranspose { skip } => {
                let filter = self.input(1)?;
                (self.product(&self.input(0)?, filter.get(skip..)?)?, Dim::ZERO)
            }
            Work::Window => {
                let window = self.window()?;
                (Dim::ZERO, self.product(&self.output()?, &window)?)
            }
            Work::Recurrent => (self.recurrent()?, Dim::ZERO),
        };
        Some(Operations { macs, elementary })
    }

    fn input(&self, input: usize) -> Option<Dims> {
        let id = self.node.inputs.get(input).copied().flatten()?;
        self.inference.fact(id).as_tensor()?.dims.clone()
    }

    fn output(&self) -> Option<Dims> {
        let id = self.node.outputs.first().copied().flatten()?;
        self.inference.fact(id).as_tensor()?.dims.clone()
    }

    fn product(&mut self, dims: &[Dim], more: &[Dim]) -> Option<Dim> {
        self.inference.symbols_mut().product(dims.iter().chain(more).copied())
    }

    fn scaled(&mut self, dims: &Dims, times: i64) -> Option<Dim> {
        self.product(dims, &[Dim::Known(times)])
    }

    fn attributes(&self) -> Attributes<'_> {
        Attributes::new(&self.node.attributes, Form::of_node(self.standard, self.node))
    }

    /// The sizes of the window of a pool.
    fn window(&self) -> Option<Vec<Dim>> {
        let name = if self.standard == Standard::OpenVino { "kernel" } else { "kernel_shape" };
        Some(self.attributes().ints(name).ok()??.iter().map(|&size| Dim::Known(size)).collect())
    }

    /// The size of the axis over which a matrix product sums.
    fn summed_axis(&self) -> Option<Dim> {
        let attributes = self.attributes();
        let transposed = match self.standard {
            Standard::OpenVino => attributes.flag("transpose_a", false).ok()?,
            _ => attributes.int_or("transA", 0).ok()? != 0,
        };
        let left = self.input(0)?;
        let back = if transposed && left.len() > 1 { 2 } else { 1 };
        left.get(left.len().checked_sub(back)?).copied()
    }

    fn recurrent(&mut self) -> Option<Dim> {
        let (x, w, r) = (self.input(0)?, self.input(1)?, self.input(2)?);
        let symbols = self.inference.symbols_mut();
        let (w, r) = (symbols.product(w.iter().copied())?, symbols.product(r.iter().copied())?);
        let weights = symbols.add(w, r)?;
        self.product(x.get(..2)?, &[weights])
    }
}
