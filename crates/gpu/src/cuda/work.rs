//! Kernel parameters of a plan, and the order of launches. The driver is elsewhere.

use std::ops::Range;

use cudarc::driver::DeviceRepr;
use gradus_core::convert::{low_u64, u64_of, usize_of};
use gradus_core::{DType, Result};
use gradus_kernels::Form as Made;
use gradus_kernels::prepared::{
    Affine, DoubleDouble, Fused, IntAffine, Kernel, Span, Tables, Wrapping, bounds, has_long_mantissa, spans,
};
use gradus_sequences::{PowerLine, Wide};

use super::program::{Entry, KernelForm, KernelProgram};
use crate::engine::{Memory, Rest};
use crate::plan::AnyPlan;

/// A type of a parameter, as kernels declare it.
trait CudaType {
    /// A declaration of a name.
    fn declared(name: &str) -> String;
}

macro_rules! declared {
    ($($rust:ty: $c:literal),*) => {
        $(impl CudaType for $rust {
            fn declared(name: &str) -> String {
                [$c, " ", name].concat()
            }
        })*
    };
}

declared!(u64: "u64", i64: "i64", f64: "double");

impl<T: CudaType, const COUNT: usize> CudaType for [T; COUNT] {
    fn declared(name: &str) -> String {
        T::declared(&format!("{name}[{COUNT}]"))
    }
}

/// Parameters of a launch.
pub(crate) trait KernelParameters: DeviceRepr {
    /// The declaration of the struct in the language of the kernels.
    fn declaration() -> String;
}

/// Declares [`KernelParameters`], here and in the text of the kernels.
macro_rules! parameters {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        #[repr(C)]
        pub(crate) struct $name {
            $($(#[$doc])* pub(super) $field: $type,)*
        }

        impl KernelParameters for $name {
            fn declaration() -> String {
                let (name, size) = (stringify!($name), size_of::<$name>());
                let fields = [$(<$type>::declared(stringify!($field))),*].join(";\n");
                format!("struct {name} {{\n{fields};\n}};\nstatic_assert(sizeof({name}) == {size}, \"size\");\n")
            }
        }
    };
}

parameters! {
    /// A short array with all of its elements: drivers take 4096 bytes of parameters at most.
    ShortArray {
        /// The array.
        out: u64,
        /// The number of words.
        to: u64,
        words: [u64; WORDS],
    }
}

parameters! {
    /// Parameters of the other kernels. Addresses are of memory that the device reaches.
    #[derive(Default)]
    Arguments {
        /// The array.
        out: u64,
        /// The index of the first element to write.
        from: u64,
        /// The index after the last one; of a `Put`, the number of entries.
        to: u64,
        /// A number of elements that are not certain, followed by their indices.
        doubts: u64,
        /// The room of that list.
        capacity: u64,
        /// Memory of the processor for the first of these indices.
        first_doubts: u64,
        /// The room there.
        few: u64,
        /// The index of the last element of the array.
        last: u64,
        /// Codes of the first and the last element.
        ends: [u64; 2],
        /// Starts of blocks, pairs of doubles and bounds; of a `Put`, indices and codes.
        starts: u64,
        /// Integers: the element at index 0; of fused lines, the place of index 0.
        first: u64,
        /// Integers: the difference.
        step: u64,
        start: f64,
        difference: f64,
        /// 192 bits, the lowest first, as all of three words.
        line_first: [u64; 3],
        line_step: [u64; 3],
        above: [u64; 3],
        below: [u64; 3],
        /// 128 bits, half of them after the point: the number at `from` and the step of a run.
        run_first: [u64; 2],
        run_step: [u64; 2],
        /// A fraction below this many units of 2^-32 leaves an integer in doubt.
        doubtful: u64,
        /// Bits of integers that are flipped.
        flipped: u64,
        unit: i64,
        fraction: u64,
        step_high: f64,
        step_low: f64,
        spread: f64,
        relative: f64,
        slack: f64,
        /// Table of positions: high parts, lower and upper bounds.
        positions: u64,
        /// Table of blocks: pairs.
        blocks: u64,
        /// Wide powers: pairs and exponents.
        wide: u64,
        position_bits: u64,
        block_bits: u64,
        negative: u64,
        /// Powers without tables: a mantissa, as a pair, and an exponent of the first power, and of
        /// the ratios of elements 1, 2, 4 .. 2^19 apart.
        ratios: [[f64; 3]; 21],
    }
}

/// Arrays of a device, and kernels that are run there, in the order in which they are launched.
pub(crate) trait Launcher {
    /// Memory of an array, which is given back when it is dropped.
    type Memory;

    /// Needs of a fill besides the array: a list of doubts, whose first ones are in memory of the
    /// processor too, and memory until all kernels have run.
    type Workspace;

    /// The address of an array.
    fn address(&self, memory: &Self::Memory) -> u64;

    /// Copies bytes into an array.
    fn write(&self, memory: &mut Self::Memory, at: u64, bytes: &[u8]) -> Result<()>;

    /// A workspace whose list has no doubts, and room for [`CAPACITY`].
    fn workspace(&self) -> Result<Self::Workspace>;

    /// The addresses of the list and of its first doubts, [`FEW`].
    fn doubts(&self, workspace: &Self::Workspace) -> [u64; 2];

    /// The address of a copy of these bytes.
    fn copied(&self, workspace: &mut Self::Workspace, bytes: &[u8]) -> Result<u64>;

    /// The most elements that are few.
    fn alone(&self) -> u64 {
        ALONE
    }

    /// Runs a kernel with `blocks` blocks of [`THREADS`] threads.
    fn launch<P: KernelParameters>(
        &self,
        program: KernelProgram,
        entry: Entry,
        blocks: u64,
        parameters: &P,
    ) -> Result<()>;

    /// Waits for all that was launched, and returns the doubts, or nothing if the list has no room
    /// for them.
    fn finish(&self, workspace: Self::Workspace) -> Result<Option<Vec<u64>>>;
}

/// Threads of a block.
pub(crate) const THREADS: u32 = 256;

/// Elements of a launch: the starts of their blocks take some megabytes at most. Tests want several
/// launches.
pub(super) const LAUNCHED: u64 = 1 << if cfg!(test) { 21 } else { 28 };

// Launches begin where tables do.
const _: () = assert!(LAUNCHED.is_multiple_of(LONGEST[0] * LONGEST[1]));

/// The most doubts that a fill has a list for.
pub(super) const CAPACITY: u64 = 1 << 16;

/// Doubts that the processor sees without a copy.
pub(super) const FEW: usize = 64;

/// Words of a [`ShortArray`].
const WORDS: usize = 504;

/// The bytes of these; also the most that kernels read in memory of the processor.
pub(super) const SHORT: u64 = 8 * 504;
const _: () = assert!(SHORT == 8 * u64_of(WORDS));

/// The most elements that are few: powers take less time without tables, and lines with more
/// threads.
pub(super) const ALONE: u64 = 1 << 20;

/// The most entries of the tables of positions and of blocks: the former fit the first cache, and
/// with wide powers, one for 2^19 elements, all tables of 2^28 elements have 2,048 entries.
const LONGEST: [u64; 2] = [512, 1024];

/// An array of a device.
pub(crate) struct Elements<L: Launcher> {
    pub(crate) launcher: L,
    pub(crate) dtype: DType,
    pub(crate) len: u64,
    pub(crate) memory: L::Memory,
}

/// Kernels that are to be launched one after the other.
struct Launches<'a, L: Launcher> {
    elements: &'a Elements<L>,
    /// Codes of the first and the last element.
    ends: [u64; 2],
    workspace: L::Workspace,
    rest: Rest,
    /// Ranges of elements that were launched.
    launched: Vec<Range<u64>>,
}

impl<L: Launcher> Elements<L> {
    fn width(&self) -> u64 {
        u64_of(self.dtype.bits() / 8)
    }

    /// The unsigned type of the same width.
    fn codes(&self) -> DType {
        match self.width() {
            1 => DType::U8,
            2 => DType::U16,
            4 => DType::U32,
            _ => DType::U64,
        }
    }
}

/// Copies bytes by a kernel, as whole words.
pub(super) fn copy<L: Launcher>(launcher: &L, from: u64, out: u64, bytes: usize) -> Result<()> {
    let to = u64_of(bytes).div_ceil(8);
    let program = KernelProgram { form: KernelForm::Copy, dtype: DType::U64 };
    let arguments = Arguments { out, to, starts: from, ..Arguments::default() };
    launcher.launch(program, Entry::Fill, to.div_ceil(THREADS.into()), &arguments)
}

impl<L: Launcher> Elements<L> {
    /// Writes all elements, [`SHORT`] bytes at most, which a kernel has among its parameters.
    pub(super) fn write_short(&self, bytes: &[u8]) -> Result<()> {
        let to = u64_of(bytes.len()).div_ceil(8);
        let mut array = ShortArray { out: self.launcher.address(&self.memory), to, words: [0; WORDS] };
        bytemuck::cast_slice_mut(&mut array.words)[..bytes.len()].copy_from_slice(bytes);
        let program = KernelProgram { form: KernelForm::Short, dtype: DType::U64 };
        self.launcher.launch(program, Entry::Fill, to.div_ceil(THREADS.into()), &array)
    }
}

impl<L: Launcher> Memory for Elements<L> {
    fn make(&mut self, plan: &dyn AnyPlan) -> Result<Rest> {
        let workspace = self.launcher.workspace()?;
        let ends = [0, self.len - 1].map(|end| plan.code(end));
        let mut launches =
            Launches { elements: self, ends, workspace, rest: Rest::default(), launched: Vec::new() };
        launches.plan(plan)?;
        launches.finish()
    }

    fn upload(&mut self, lo: u64, bytes: &[u8]) -> Result<()> {
        let at = lo * self.width();
        self.launcher.write(&mut self.memory, at, bytes)
    }

    fn put(&mut self, codes: &[(u64, u64)]) -> Result<()> {
        let bytes: Vec<u8> =
            codes.iter().flat_map(|&(index, code)| [index, code]).flat_map(u64::to_le_bytes).collect();
        let mut workspace = self.launcher.workspace()?;
        let starts = self.launcher.copied(&mut workspace, &bytes)?;
        let count = u64_of(codes.len());
        let arguments =
            Arguments { out: self.launcher.address(&self.memory), to: count, starts, ..Arguments::default() };
        let program = KernelProgram { form: KernelForm::Put, dtype: self.codes() };
        self.launcher.launch(program, Entry::Fill, count.div_ceil(THREADS.into()), &arguments)?;
        self.launcher.finish(workspace).map(|_| ())
    }
}

impl<L: Launcher> Launches<'_, L> {
    fn plan(&mut self, plan: &dyn AnyPlan) -> Result<()> {
        let all = 0..self.elements.len;
        if let Made::Powers(line) = plan.made_from() {
            return self.powers(plan, &line);
        }
        match plan.made_by().of_many_values() {
            Kernel::Same => self.same(plan.code(0), all),
            Kernel::Wrapping(Wrapping { first, step }) => {
                self.fill(KernelForm::Wrapping, all, &Arguments { first, step, ..Arguments::default() })
            }
            Kernel::Fused(Fused { start, step, first }) => {
                let given = Arguments { first, start, difference: step, ..Arguments::default() };
                self.fill(KernelForm::Fused, all, &given)
            }
            Kernel::Affine(affine) => self.affine(&affine),
            Kernel::IntAffine(affine) => self.int_affine(&affine),
            Kernel::Each | Kernel::Pair(_) | Kernel::Powers(_) | Kernel::Steps(_) | Kernel::Spiral(_) => {
                self.rest.ranges.push(all);
                Ok(())
            }
        }
    }

    fn affine(&mut self, affine: &Affine) -> Result<()> {
        let given = Arguments {
            line_first: words(affine.line.first),
            line_step: words(affine.line.step),
            unit: affine.line.unit.into(),
            step_high: affine.step.high,
            step_low: affine.step.low,
            spread: affine.spread,
            relative: affine.relative,
            slack: affine.slack,
            ..Arguments::default()
        };
        let all = 0..self.elements.len;
        let entry = if all.end <= self.elements.launcher.alone() { Entry::Alone } else { Entry::Fill };
        let program = KernelProgram { form: KernelForm::Affine, dtype: self.elements.dtype };
        for part in parts(&all) {
            self.launch(program, entry, &part, &given)?;
        }
        self.launched.push(all);
        Ok(())
    }

    /// Runs of numbers of one sign.
    fn int_affine(&mut self, affine: &IntAffine) -> Result<()> {
        let IntAffine { line, biases, fraction, .. } = *affine;
        let [above, below] = biases.map(words);
        let given = Arguments {
            line_first: words(line.first),
            line_step: words(line.step),
            above,
            below,
            fraction: fraction.into(),
            ..Arguments::default()
        };
        let all = 0..self.elements.len;
        for indices in parts(&all).flat_map(|part| affine.of_one_sign(part)).filter(|part| !part.is_empty()) {
            let Some(run) = affine.run(indices.clone()) else {
                self.rest.ranges.push(indices);
                continue;
            };
            let [run_first, run_step] = [run.start, run.step].map(halves);
            // The kernel looks at the upper half of the fraction.
            let doubtful = run.doubtful(0).div_ceil(1 << 32);
            let given = Arguments { run_first, run_step, doubtful, flipped: run.flipped, ..given };
            self.fill(KernelForm::IntAffine, indices, &given)?;
        }
        Ok(())
    }

    /// Products where these stay within the doubles; what is beyond all types is all the same, and
    /// the rest the processor makes.
    fn powers(&mut self, plan: &dyn AnyPlan, line: &PowerLine) -> Result<()> {
        let on = |indices: Range<u64>| indices.start + line.before..indices.end + line.before;
        if line.before > 0 {
            self.same(plan.code(0), 0..line.before)?;
        }
        for (indices, span) in spans(line) {
            let elements = on(indices.clone());
            match span {
                Span::Beyond => self.same(plan.code(elements.start), elements)?,
                Span::Edge => self.rest.ranges.push(elements),
                Span::Inside => {
                    if line.len <= self.elements.launcher.alone() {
                        self.products_alone(line, indices, &elements)?;
                    } else {
                        self.products(&Tables::new(*line, LONGEST), indices, &elements)?;
                    }
                    self.launched.push(elements);
                }
            }
        }
        let end = line.before + line.len;
        if end < self.elements.len { self.same(plan.code(end), end..self.elements.len) } else { Ok(()) }
    }

    /// Products of powers that each thread makes from a few ratios.
    fn products_alone(&mut self, line: &PowerLine, indices: Range<u64>, elements: &Range<u64>) -> Result<()> {
        let len = indices.end - indices.start;
        let dtype = self.elements.dtype;
        let entry =
            |(mantissa, exponent): (DoubleDouble, i32)| [mantissa.high, mantissa.low, f64::from(exponent)];
        let mut given = Arguments {
            negative: line.negative.into(),
            ratios: [[1.0, 0.0, 0.0]; 21],
            ..Arguments::default()
        };
        let [first, ratios @ ..] = &mut given.ratios;
        *first = entry(DoubleDouble::of_mantissa(line.at(indices.start)));
        // Ratios of elements further apart than the range is long may be beyond all numbers.
        let reached = (0..).map(|bit| 1 << bit).take_while(|&apart| apart < len);
        let (mut ratio, mut exponent) = (DoubleDouble::ONE, 0);
        for (bit, (square, apart)) in ratios.iter_mut().zip(reached).enumerate() {
            // Doubles are made of all squares: pairs are then off by less than 2^-82.
            if bit == 0 || (bit % 5 == 0 && has_long_mantissa(dtype)) {
                (ratio, exponent) = DoubleDouble::of_mantissa(line.ratio(apart));
            }
            *square = entry((ratio, exponent));
            ratio = ratio.times(ratio);
            let over = i32::from(ratio.high >= 2.0);
            (ratio, exponent) = (ratio.scaled(-over), 2 * exponent + over);
        }
        let program = KernelProgram { form: KernelForm::Powers, dtype };
        self.launch(program, Entry::Alone, elements, &given)
    }

    /// Products of tables for indices of the line.
    fn products(&mut self, tables: &Tables, indices: Range<u64>, elements: &Range<u64>) -> Result<()> {
        let dtype = self.elements.dtype;
        let wide = tables.wides(indices);
        let mut numbers =
            Vec::with_capacity(3 * tables.positions.len() + 2 * tables.blocks.len() + 3 * wide.len());
        numbers.extend(tables.positions.iter().map(|power| power.high));
        for bound in [0, 1] {
            numbers.extend(tables.positions.iter().map(|&power| bounds(power, dtype)[bound]));
        }
        for power in &tables.blocks {
            numbers.push(power.high);
            numbers.push(power.low);
        }
        for (mantissa, exponent) in wide {
            numbers.extend([mantissa.high, mantissa.low, f64::from(exponent)]);
        }
        let bytes = bytemuck::cast_slice(&numbers);
        let at = self.elements.launcher.copied(&mut self.workspace, bytes)?;
        let given = Arguments {
            positions: at,
            blocks: at + 24 * tables.block,
            wide: at + 24 * tables.block + 16 * tables.count,
            position_bits: tables.block.ilog2().into(),
            block_bits: tables.count.ilog2().into(),
            negative: tables.line.negative.into(),
            ..Arguments::default()
        };
        let program = KernelProgram { form: KernelForm::Powers, dtype };
        for part in parts(elements) {
            // Launches cover the elements of whole tables.
            let wide = (part.start - elements.start) / (tables.block * tables.count);
            let given = Arguments { wide: given.wide + 24 * wide, ..given };
            self.launch(program, Entry::Fill, &part, &given)?;
        }
        Ok(())
    }

    /// Elements of one code.
    fn same(&mut self, code: u64, indices: Range<u64>) -> Result<()> {
        let dtype = self.elements.codes();
        self.launch(
            KernelProgram { form: KernelForm::Wrapping, dtype },
            Entry::Fill,
            &indices,
            &Arguments { first: code, ..Arguments::default() },
        )
    }

    /// Elements that are certain by themselves.
    fn fill(&mut self, form: KernelForm, indices: Range<u64>, given: &Arguments) -> Result<()> {
        self.launch(KernelProgram { form, dtype: self.elements.dtype }, Entry::Fill, &indices, given)
    }

    fn launch(
        &self,
        program: KernelProgram,
        entry: Entry,
        indices: &Range<u64>,
        given: &Arguments,
    ) -> Result<()> {
        if indices.is_empty() {
            return Ok(());
        }
        let Elements { launcher, memory, .. } = self.elements;
        let [doubts, first_doubts] = launcher.doubts(&self.workspace);
        let arguments = Arguments {
            out: launcher.address(memory),
            from: indices.start,
            to: indices.end,
            doubts,
            capacity: CAPACITY,
            first_doubts,
            few: u64_of(FEW),
            last: self.elements.len - 1,
            ends: self.ends,
            ..*given
        };
        let threads = (indices.end - program.begin(indices.start)).div_ceil(program.each(entry));
        // The threads of a warp take turns at powers.
        let threads = threads.next_multiple_of(32);
        launcher.launch(program, entry, threads.div_ceil(THREADS.into()), &arguments)
    }

    /// Waits for all, and gives what is left to the processor.
    fn finish(self) -> Result<Rest> {
        let Launches { elements, workspace, mut rest, launched, .. } = self;
        match elements.launcher.finish(workspace)? {
            Some(doubts) => rest.doubts.extend(doubts),
            None => rest.ranges.extend(launched),
        }
        Ok(rest)
    }
}

/// The elements of each launch, which begin where tables do.
fn parts(indices: &Range<u64>) -> impl Iterator<Item = Range<u64>> + use<> {
    let end = indices.end;
    indices.clone().step_by(usize_of(LAUNCHED)).map(move |lo| lo..end.min(lo + LAUNCHED))
}

fn words(x: Wide) -> [u64; 3] {
    let [middle, high] = halves(x.high);
    [x.low, middle, high]
}

fn halves(x: i128) -> [u64; 2] {
    let x = x.cast_unsigned();
    [low_u64(x), low_u64(x >> 64)]
}
