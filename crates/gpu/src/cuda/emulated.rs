//! The kernels as functions of the processor: the same text, compiled by a C++ compiler, so that
//! what it computes, and what it is given, is proved without a device. And compiled by NVRTC, where
//! there is one.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::process::Command;
use std::sync::LazyLock;

use gradus_core::convert::{u64_of, usize_of};
use gradus_core::{DType, Kind, Number, Result, dispatch};
use gradus_kernels::{Fill, Write};
use gradus_sequences::{LogspacePlan, Plan as _};
use libloading::Library;

use super::compiler::{self, CompileTarget};
use super::program::{self, Entry, KernelForm, KernelProgram, TEXT};
use super::work::{ALONE, CAPACITY, Elements, FEW, KernelParameters, LAUNCHED, Launcher, SHORT, THREADS};
use crate::device::{Backend, DeviceReport};
use crate::engine;
use crate::plan::AnyPlan;

/// The kernels that plans need.
fn programs() -> impl Iterator<Item = KernelProgram> {
    let types = DType::ALL.iter().copied().filter(|&dtype| crate::supports(dtype));
    let pairs =
        types.flat_map(|dtype| KernelForm::ALL.iter().map(move |&(form, _)| KernelProgram { form, dtype }));
    pairs.filter(|&KernelProgram { form, dtype }| match form {
        KernelForm::Wrapping | KernelForm::IntAffine => dtype.is_integer(),
        KernelForm::Fused => matches!(dtype, DType::F32 | DType::F64),
        KernelForm::Affine => dtype.is_float(),
        KernelForm::Powers => true,
        KernelForm::Put => matches!(dtype, DType::U8 | DType::U16 | DType::U32 | DType::U64),
        KernelForm::Copy | KernelForm::Short => dtype == DType::U64,
    })
}

/// A library with the functions of all kernels.
static KERNELS: LazyLock<Option<Library>> = LazyLock::new(compiled);

fn compiled() -> Option<Library> {
    if Command::new("c++").arg("--version").output().is_err() {
        // `cargo xtask test` reads this line.
        println!("\nskipped: no C++ compiler (c++) for the kernels of CUDA");
        return None;
    }
    let folder = std::env::temp_dir().join(format!("gradus-kernels-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("fill.cu"), TEXT).unwrap();
    std::fs::write(folder.join("emulated.h"), include_str!("emulated.h")).unwrap();
    let mut text = String::from("#include \"emulated.h\"\n");
    for program in programs() {
        let macros = program.macros();
        for (name, value) in &macros {
            writeln!(text, "#define {name} {value}").unwrap();
        }
        for &entry in program.entries() {
            writeln!(text, "#define {} k_{}", entry.names()[1], name(program, entry)).unwrap();
        }
        let fill = name(program, Entry::Fill);
        writeln!(text, "namespace n_{fill} {{\n{}#include \"fill.cu\"", program::declarations()).unwrap();
        for &entry in program.entries() {
            writeln!(text, "LAUNCHED({0}, k_{0})", name(program, entry)).unwrap();
        }
        text += "}\n";
        let entries = program.entries().iter().map(|entry| entry.names()[1]);
        for name in macros.iter().map(|(name, _)| *name).chain(entries) {
            writeln!(text, "#undef {name}").unwrap();
        }
    }
    std::fs::write(folder.join("kernels.cpp"), text).unwrap();
    let library = folder.join("kernels.so");
    let output = Command::new("c++")
        .args(["-std=c++17", "-O1", "-ffp-contract=off", "-fPIC", "-shared", "-o"])
        .args([&library, &folder.join("kernels.cpp")])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    #[allow(unsafe_code, reason = "a library is loaded")]
    // SAFETY: the library was made of the text above, and runs nothing when it is loaded.
    let library = unsafe { Library::new(library).unwrap() };
    std::fs::remove_dir_all(folder).unwrap();
    Some(library)
}

fn name(program: KernelProgram, entry: Entry) -> String {
    format!("{}_{:?}_{:?}", entry.names()[0], program.form, program.dtype)
}

/// The processor in place of a device. Memory is a vector of words, so that it is aligned.
struct Emulated<'a> {
    library: &'a Library,
    /// The most elements that threads make alone.
    alone: u64,
}

type Bytes = RefCell<Vec<u128>>;

/// Memory of the processor in place of a device's.
struct EmulatedWorkspace {
    list: Bytes,
    first: Bytes,
    kept: Vec<Bytes>,
}

/// Bytes that are not zeros: what is read must have been written.
fn allocated(bytes: u64) -> Bytes {
    RefCell::new(vec![u128::MAX / 3; usize_of(bytes.div_ceil(16).max(1))])
}

fn words(memory: &Bytes, count: usize) -> Vec<u64> {
    bytemuck::cast_slice::<u128, u64>(memory.borrow().as_slice())[..count].to_vec()
}

impl Launcher for Emulated<'_> {
    type Memory = Bytes;
    type Workspace = EmulatedWorkspace;

    fn address(&self, memory: &Bytes) -> u64 {
        u64_of(memory.borrow_mut().as_mut_ptr().expose_provenance())
    }

    fn write(&self, memory: &mut Bytes, at: u64, bytes: &[u8]) -> Result<()> {
        bytemuck::cast_slice_mut::<u128, u8>(memory.get_mut())[usize_of(at)..][..bytes.len()]
            .copy_from_slice(bytes);
        Ok(())
    }

    fn workspace(&self) -> Result<EmulatedWorkspace> {
        let [mut list, first] = [8 * (1 + CAPACITY), 8 * u64_of(FEW)].map(allocated);
        self.write(&mut list, 0, &[0; 8])?;
        Ok(EmulatedWorkspace { list, first, kept: Vec::new() })
    }

    fn doubts(&self, workspace: &EmulatedWorkspace) -> [u64; 2] {
        [&workspace.list, &workspace.first].map(|memory| self.address(memory))
    }

    fn copied(&self, workspace: &mut EmulatedWorkspace, bytes: &[u8]) -> Result<u64> {
        let mut memory = allocated(u64_of(bytes.len()));
        self.write(&mut memory, 0, bytes)?;
        let address = self.address(&memory);
        workspace.kept.push(memory);
        Ok(address)
    }

    fn finish(&self, workspace: EmulatedWorkspace) -> Result<Option<Vec<u64>>> {
        let count = words(&workspace.list, 1)[0];
        let doubts = (count <= CAPACITY).then(|| words(&workspace.list, usize_of(1 + count))[1..].to_vec());
        let few = FEW.min(usize_of(count));
        assert!(doubts.as_ref().is_none_or(|doubts| doubts[..few] == words(&workspace.first, few)));
        Ok(doubts)
    }

    fn alone(&self) -> u64 {
        self.alone
    }

    fn launch<P: KernelParameters>(
        &self,
        program: KernelProgram,
        entry: Entry,
        blocks: u64,
        parameters: &P,
    ) -> Result<()> {
        let name = name(program, entry);
        #[allow(unsafe_code, reason = "a function of the library is called")]
        // SAFETY: the function has this type, and the addresses in the arguments are of memory that
        // is there.
        unsafe {
            let run = self.library.get::<unsafe extern "C" fn(u32, u32, &P)>(name.as_bytes()).unwrap();
            run(u32::try_from(blocks).unwrap(), THREADS, parameters);
        }
        Ok(())
    }
}

/// Compares the kernels with the plan.
struct Compare<'a> {
    library: &'a Library,
    /// True if the processor may decide only a few elements.
    certain: bool,
}

impl cases::Check for Compare<'_> {
    fn check(&self, plan: &impl Fill) {
        for (lo, hi) in cases::parts(plan.len()) {
            let report = filled(self.library, plan, lo, hi);
            let few = report.copied == 0 && report.decided <= cases::decided(Backend::Cuda);
            assert!(few || !self.certain, "{report:?} of {}, from {:?} on", plan.dtype(), plan.at(lo));
        }
    }
}

/// Fills a part of a sequence, by threads that make all that they need and by others, and compares
/// both.
fn filled(library: &Library, plan: &impl Fill, lo: u64, hi: u64) -> DeviceReport {
    let reports = [ALONE, 0].map(|alone| {
        dispatch!(plan.dtype(), [I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64] =>
                filled_as(Emulated { library, alone }, plan, lo, hi),
            _ => DeviceReport::default())
    });
    let [one, other] = reports;
    DeviceReport { decided: one.decided.max(other.decided), copied: one.copied.max(other.copied) }
}

fn filled_as<T: Write>(launcher: Emulated<'_>, plan: &impl Fill, lo: u64, hi: u64) -> DeviceReport {
    let part = plan.slice(lo..hi);
    let bytes = usize_of(hi - lo) * size_of::<T>();
    let memory = allocated(u64_of(bytes));
    let mut elements = Elements { launcher, dtype: plan.dtype(), len: hi - lo, memory };
    let report = engine::fill(&mut elements, plan.dtype(), hi - lo, &part).unwrap();
    let same = |memory: &Bytes, how: &str| {
        let found = bytemuck::cast_slice::<u128, u8>(memory.borrow().as_slice())[..bytes].to_vec();
        cases::same::<T>(plan, lo, &found, &format!("{lo} to {hi}: {how}"));
    };
    same(&elements.memory, &format!("{report:?}"));
    if u64_of(bytes) <= SHORT {
        elements.memory = allocated(u64_of(bytes));
        elements.write_short(AnyPlan::part(&part, 0, hi - lo).unwrap().bytes().unwrap()).unwrap();
        same(&elements.memory, "among parameters");
    }
    report
}

#[path = "../../tests/cases/mod.rs"]
mod cases;

#[test]
fn every_case_has_the_bits_of_the_plan() {
    let Some(library) = &*KERNELS else { return };
    let compare = Compare { library, certain: false };
    for case in cases::all() {
        case.with(&compare);
    }
    cases::random(&compare);
    for case in cases::ordinary() {
        case.with(&Compare { library, certain: true });
    }
}

/// Compares whole sequences.
struct Whole<'a>(&'a Library);

impl cases::Check for Whole<'_> {
    fn check(&self, plan: &impl Fill) {
        filled(self.0, plan, 0, plan.len());
    }
}

#[test]
fn few_powers_span_all_exponents() {
    let Some(library) = &*KERNELS else { return };
    for len in [2, 40, 70_001, ALONE] {
        for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
            for [start, stop] in [[-950, 1010], [1010, -950]] {
                cases::logspace(Number::Int(2), Number::Int(start), Number::Int(stop), len, dtype)
                    .with(&Whole(library));
            }
        }
    }
}

#[test]
fn few_powers_near_ties_are_decided() {
    let Some(library) = &*KERNELS else { return };
    // Element 724,734 lies 2^-50.2 of itself away from the middle of two floats.
    let plan =
        LogspacePlan::new(Number::Int(10), Number::Int(0), Number::Int(9), 1_000_000, true, DType::F32);
    let report = filled_as::<f32>(Emulated { library, alone: ALONE }, &plan.unwrap(), 0, 1_000_000);
    assert_eq!((report.decided, report.copied), (0, 0));
}

#[test]
fn blocks_and_launches_meet() {
    let Some(library) = &*KERNELS else { return };
    for case in cases::long(2 * LAUNCHED + 1001) {
        case.with(&Whole(library));
    }
}

#[test]
fn too_many_doubts_are_left_to_the_processor() {
    let Some(library) = &*KERNELS else { return };
    let line = cases::ties();
    let report = filled(library, &line, 0, line.len());
    assert_eq!(report.copied, line.len(), "{report:?}");
}

#[test]
fn nvrtc_compiles_every_kernel() {
    if !compiler::is_present() {
        // `cargo xtask test` reads this line.
        println!("\nskipped: no NVRTC");
        return;
    }
    assert_eq!(CompileTarget::of((9, 0)).unwrap(), CompileTarget::Machine(90));
    assert!(matches!(CompileTarget::of((90, 0)).unwrap(), CompileTarget::Ptx(_)));
    assert_eq!(CompileTarget::of((1, 0)).unwrap_err().kind(), Kind::Unsupported);
    for program in programs() {
        compiler::compile(program, CompileTarget::Machine(90)).unwrap();
        let ptx = compiler::compile(program, CompileTarget::Ptx(90)).unwrap().to_src();
        assert!(ptx.contains(".entry fill("), "{program:?}");
        // Operations without a rounding of their own may be contracted.
        for operation in ["mul.f", "add.f", "sub.f", ".ftz"] {
            assert!(!ptx.contains(operation), "{program:?}: {operation}");
        }
    }
}
