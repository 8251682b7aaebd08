//! NVRTC, the compiler of CUDA C that is a library. It is looked for when it is needed.

use std::ffi::{CString, c_int};

use cudarc::nvrtc::result::{
    NvrtcError, compile_program, create_program, destroy_program, get_program_log, get_ptx,
};
use cudarc::nvrtc::{Ptx, sys};
use gradus_core::convert::low_u8;
use gradus_core::{Error, Kind, Result};

use super::program::KernelProgram;

/// Returns true if the library is installed; cudarc panics when a missing one is called.
#[allow(unsafe_code, reason = "a library is loaded")]
pub(super) fn is_present() -> bool {
    // SAFETY: loading the compiler runs its initialisers, which are made to be run by any program.
    unsafe { sys::is_culib_present() }
}

/// The output format of the kernel compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CompileTarget {
    /// Machine code for devices of that capability, 90 for 9.0: it is loaded by all drivers of the
    /// compiler's major version.
    Machine(i32),
    /// PTX for devices of that capability and later ones: a driver older than the compiler does not
    /// read it.
    Ptx(i32),
}

impl CompileTarget {
    /// For devices of a capability: PTX of the nearest one for those that the compiler does not
    /// know.
    pub(super) fn of((major, minor): (i32, i32)) -> Result<CompileTarget> {
        let wanted = 10 * major + minor;
        let known = known().map_err(|error| failed("it does not say which devices it knows", error))?;
        if known.contains(&wanted) {
            return Ok(CompileTarget::Machine(wanted));
        }
        let nearest = known.into_iter().filter(|&number| number < wanted).max();
        nearest.map(CompileTarget::Ptx).ok_or_else(|| {
            let what = format_args!("cannot compile with NVRTC {}: device capability", version());
            let got = format_args!("{major}.{minor}");
            Error::mismatch(Kind::Unsupported, what, got, "one that NVRTC supports")
        })
    }

    fn architecture(self) -> String {
        match self {
            CompileTarget::Machine(number) => format!("--gpu-architecture=sm_{number}"),
            CompileTarget::Ptx(number) => format!("--gpu-architecture=compute_{number}"),
        }
    }
}

/// Compiles a kernel.
pub(super) fn compile(program: KernelProgram, target: CompileTarget) -> Result<Ptx> {
    let compilation = Compilation::new(&program.text())
        .map_err(|error| failed(&format!("{program:?} is not begun"), error))?;
    compilation.run(target).map_err(|error| {
        let log = compilation.log();
        failed(&format!("{program:?} is not compiled: {log}"), error)
    })
}

fn failed(what: &str, error: NvrtcError) -> Error {
    Error::new(Kind::Io, format!("NVRTC: {what}: {error}"))
}

/// A text that is compiled.
struct Compilation {
    program: sys::nvrtcProgram,
    /// The program may refer to it.
    _text: CString,
}

#[allow(unsafe_code, reason = "functions of NVRTC are called")]
impl Compilation {
    fn new(text: &str) -> Result<Compilation, NvrtcError> {
        let text = CString::new(text).map_err(|_| NvrtcError(sys::nvrtcResult::NVRTC_ERROR_INVALID_INPUT))?;
        Ok(Compilation { program: create_program(&text, None)?, _text: text })
    }

    fn run(&self, target: CompileTarget) -> Result<Ptx, NvrtcError> {
        // Every operation says how it is rounded; nothing may be contracted, nor flushed to zero.
        let options =
            [target.architecture(), "--fmad=false".into(), "--ftz=false".into(), "--device-int128".into()];
        // SAFETY: the program was created, and is destroyed when this is dropped.
        unsafe { compile_program(self.program, &options)? };
        match target {
            CompileTarget::Machine(_) => self.machine_code().map(Ptx::from_binary),
            CompileTarget::Ptx(_) => {
                // SAFETY: the same.
                let text = unsafe { get_ptx(self.program)? };
                Ok(Ptx::from_src(text_of(&text)))
            }
        }
    }

    fn machine_code(&self) -> Result<Vec<u8>, NvrtcError> {
        let mut size = 0;
        // SAFETY: the program was compiled; the size is written to what is there for it.
        unsafe { sys::nvrtcGetCUBINSize(self.program, &raw mut size).result()? };
        let mut code = vec![0u8; size];
        // SAFETY: there are as many bytes as the compiler says that it writes.
        unsafe { sys::nvrtcGetCUBIN(self.program, code.as_mut_ptr().cast()).result()? };
        Ok(code)
    }

    /// The compiler's log.
    fn log(&self) -> String {
        // SAFETY: the program was created.
        let log = unsafe { get_program_log(self.program) };
        log.map_or_else(|_| String::new(), |log| text_of(&log))
    }
}

impl Drop for Compilation {
    fn drop(&mut self) {
        #[allow(unsafe_code, reason = "a function of NVRTC is called")]
        // SAFETY: the program was created, and nothing uses it from now on.
        let _ = unsafe { destroy_program(self.program) };
    }
}

/// A text of C, which ends with a zero.
fn text_of(chars: &[std::ffi::c_char]) -> String {
    let bytes: Vec<u8> = chars.iter().map(|&each| low_u8(i64::from(each).cast_unsigned())).collect();
    String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned()
}

/// The devices that the compiler knows, by their capability.
fn known() -> Result<Vec<i32>, NvrtcError> {
    let mut count: c_int = 0;
    #[allow(unsafe_code, reason = "a function of NVRTC is called")]
    // SAFETY: the count is written to what is there for it.
    unsafe {
        sys::nvrtcGetNumSupportedArchs(&raw mut count).result()?;
    }
    let mut known = vec![0; usize::try_from(count).unwrap_or(0)];
    #[allow(unsafe_code, reason = "a function of NVRTC is called")]
    // SAFETY: there are as many numbers as the compiler says that it writes.
    unsafe {
        sys::nvrtcGetSupportedArchs(known.as_mut_ptr()).result()?;
    }
    Ok(known)
}

/// The version, `13.2`.
pub(super) fn version() -> String {
    let (mut major, mut minor) = (0, 0);
    #[allow(unsafe_code, reason = "a function of NVRTC is called")]
    // SAFETY: the numbers are written to what is there for them.
    let told = unsafe { sys::nvrtcVersion(&raw mut major, &raw mut minor).result() };
    told.map_or_else(|_| "of an unknown version".to_owned(), |()| format!("{major}.{minor}"))
}
