//! The text of kernels.

use gradus_core::DType;
use gradus_core::convert::u64_of;
use gradus_core::float::Format;
use gradus_kernels::prepared::{AFFINE_BLOCK, has_long_mantissa};

use super::work::{Arguments, KernelParameters, ShortArray, THREADS};
use crate::device::PlanFields;

/// How a kernel makes elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum KernelForm {
    /// Integers modulo a power of two.
    Wrapping,
    /// Floats by fused multiplications.
    Fused,
    /// Floats on a line.
    Affine,
    /// Integers on a line.
    IntAffine,
    /// Powers.
    Powers,
    /// None: puts codes at indices.
    Put,
    /// None: copies words.
    Copy,
    /// None: copies the words of its parameters.
    Short,
}

impl KernelForm {
    pub(super) const ALL: [(KernelForm, &str); 8] = [
        (KernelForm::Wrapping, "WRAPPING"),
        (KernelForm::Fused, "FUSED"),
        (KernelForm::Affine, "AFFINE"),
        (KernelForm::IntAffine, "INT_AFFINE"),
        (KernelForm::Powers, "POWERS"),
        (KernelForm::Put, "PUT"),
        (KernelForm::Copy, "COPY"),
        (KernelForm::Short, "SHORT"),
    ];

    fn name(self) -> &'static str {
        KernelForm::ALL.iter().find(|(form, _)| *form == self).map_or("", |(_, name)| name)
    }
}

/// A kernel of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Entry {
    /// Writes elements.
    Fill,
    /// Writes few elements: powers without tables, and more threads for lines.
    Alone,
}

impl Entry {
    /// The name in the source, and the macro that has it.
    pub(super) fn names(self) -> [&'static str; 2] {
        match self {
            Entry::Fill => ["fill", "FILL"],
            Entry::Alone => ["alone", "ALONE"],
        }
    }
}

/// A kernel for an element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct KernelProgram {
    pub(crate) form: KernelForm,
    pub(crate) dtype: DType,
}

impl KernelProgram {
    /// The kernels.
    pub(super) fn entries(self) -> &'static [Entry] {
        match self.form {
            KernelForm::Affine | KernelForm::Powers => &[Entry::Fill, Entry::Alone],
            _ => &[Entry::Fill],
        }
    }

    /// Vectors that a thread makes: of powers 32 apart, so that those of a warp are of one block;
    /// of lines as many apart as a block has threads, which share the starts that they make first.
    fn turns(self, entry: Entry) -> u64 {
        match (self.form, entry) {
            (KernelForm::Powers, Entry::Fill) => 16,
            (KernelForm::Powers, Entry::Alone) | (KernelForm::Affine, Entry::Fill) => 4,
            _ => 1,
        }
    }

    /// Elements that a thread stores in one go.
    fn vector(self) -> u64 {
        if self.form == KernelForm::Powers { 1 } else { 128 / u64_of(self.dtype.bits()) }
    }

    /// Elements that a thread makes.
    pub(super) fn each(self, entry: Entry) -> u64 {
        self.turns(entry) * self.vector()
    }

    /// The index at which the threads of a launch begin, which writes elements from one on.
    pub(super) fn begin(self, from: u64) -> u64 {
        from / self.vector() * self.vector()
    }

    /// The macros that stand before the text.
    pub(crate) fn macros(self) -> Vec<(&'static str, String)> {
        let element = match self.dtype {
            DType::F64 => "double",
            DType::F32 => "float",
            DType::I8 => "signed char",
            DType::I16 => "short",
            DType::I32 => "int",
            DType::I64 => "long long",
            DType::U8 => "unsigned char",
            DType::U32 => "unsigned int",
            DType::U64 => "unsigned long long",
            // Codes of floats of 16 bits.
            _ => "unsigned short",
        };
        let mut macros = vec![("ELEMENT", element.to_owned()), (self.form.name(), String::new())];
        let mut set = |name, value: String| macros.push((name, value));
        match (self.dtype, Format::of(self.dtype)) {
            (DType::F64, _) => set("F64", String::new()),
            (DType::F32, _) => set("F32", String::new()),
            (_, None) => set("INTEGER", String::new()),
            (dtype, Some(format)) => {
                let PlanFields { mantissa, least, infinity } = PlanFields::of(dtype, format);
                set("HALF", String::new());
                set("MANTISSA", mantissa.to_string());
                set("LEAST", format!("({least})"));
                set("FIELD", infinity.to_string());
            }
        }
        set("THREADS", THREADS.to_string());
        set("BLOCK_BITS", AFFINE_BLOCK.ilog2().to_string());
        set("VECTOR", self.vector().to_string());
        set("TURNS", self.turns(Entry::Fill).to_string());
        set("TURNS_ALONE", self.turns(Entry::Alone).to_string());
        if has_long_mantissa(self.dtype) {
            set("LONG", String::new());
        }
        macros
    }

    /// The source.
    pub(crate) fn text(self) -> String {
        let mut text = String::new();
        for entry in self.entries() {
            let [name, defined] = entry.names();
            text.extend(["#define ", defined, " ", name, "\n"]);
        }
        for (name, value) in self.macros() {
            text.extend(["#define ", name, " ", &value, "\n"]);
        }
        text + &declarations() + TEXT
    }
}

/// Declarations of what the text of the kernels names.
pub(super) fn declarations() -> String {
    let integers = "typedef unsigned long long u64;\ntypedef long long i64;\n";
    integers.to_owned() + &Arguments::declaration() + &ShortArray::declaration()
}

pub(crate) const TEXT: &str = include_str!("fill.cu");
