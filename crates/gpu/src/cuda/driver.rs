//! The driver, and the compiler that comes with CUDA: both are looked for when they are needed.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::{
    CudaContext, CudaFunction, CudaSlice, CudaStream, DevicePtr, DeviceRepr, DriverError, LaunchConfig,
};
use cudarc::driver::{PushKernelArg, result, sys};
use cudarc::nvrtc::{self, CompileError, CompileOptions, Ptx};
use gradus_core::convert::{small_i32, u64_of, usize_of};
use gradus_core::{DType, Error, Kind as ErrorKind, Result};

use super::program::Program;
use super::work::{Arguments, Elements, Launcher, THREADS};
use crate::device::{Array, Backend, Device, Info, Kind, Report, bytes_of, check_read};
use crate::engine;
use crate::plan::AnyPlan;

/// The devices, in the driver's order; or why there are none.
pub(crate) fn list() -> Result<Vec<Info>, String> {
    find_libraries()?;
    let count = CudaContext::device_count().map_err(|error| format!("its driver says {error}"))?;
    let infos: Vec<_> = (0..count).filter_map(|ordinal| info(ordinal).ok()).collect();
    if infos.is_empty() { Err("its driver finds no device".to_owned()) } else { Ok(infos) }
}

/// cudarc panics if it calls a library that is not there, so they are looked for beforehand.
fn find_libraries() -> Result<(), String> {
    if !is_driver_present() {
        return Err("there is no driver of NVIDIA (libcuda.so.1)".to_owned());
    }
    if !is_compiler_present() {
        return Err("there is no NVRTC (libnvrtc.so, or libnvrtc.so.13, .12 or .11): it comes with CUDA, with PyTorch, \
                    and by itself as the Python package nvidia-cuda-nvrtc; LD_LIBRARY_PATH names its folder"
            .to_owned());
    }
    Ok(())
}

#[allow(unsafe_code, reason = "a library is loaded")]
fn is_driver_present() -> bool {
    // SAFETY: loading the driver runs its initialisers, which are made to be run by any program.
    unsafe { sys::is_culib_present() }
}

#[allow(unsafe_code, reason = "a library is loaded")]
pub(super) fn is_compiler_present() -> bool {
    // SAFETY: loading the compiler runs its initialisers, which are made to be run by any program.
    unsafe { nvrtc::sys::is_culib_present() }
}

fn info(ordinal: i32) -> Result<Info, DriverError> {
    let device = result::device::get(ordinal)?;
    #[allow(unsafe_code, reason = "the driver is asked")]
    // SAFETY: the device is one that the driver gave.
    let bytes = unsafe { result::device::total_mem(device)? };
    Ok(Info {
        name: format!("{}:{ordinal}", Backend::Cuda),
        backend: Backend::Cuda,
        device: result::device::get_name(device)?,
        kind: Kind::Discrete,
        driver: "NVIDIA".to_owned(),
        max_bytes: u64_of(bytes),
    })
}

/// Opens the device of that number.
pub(crate) fn open(info: Info, ordinal: usize) -> Result<Box<dyn Device>> {
    find_libraries().map_err(|reason| Error::new(ErrorKind::Unsupported, reason))?;
    let opened = |error| failed(&info.name, "it does not open", error);
    let context = CudaContext::new(ordinal).map_err(opened)?;
    let stream = context.default_stream();
    let capability = context.compute_capability().map_err(opened)?;
    let functions = Mutex::default();
    let ordinal = small_i32(u64_of(ordinal));
    Ok(Box::new(CudaDevice(Arc::new(Open { info, ordinal, context, stream, capability, functions }))))
}

fn failed(name: &str, what: &str, error: DriverError) -> Error {
    let out_of_memory = error.0 == sys::cudaError_enum::CUDA_ERROR_OUT_OF_MEMORY;
    let kind = if out_of_memory { ErrorKind::Limit } else { ErrorKind::Io };
    Error::new(kind, format!("{name}: {what}: {error}"))
}

#[derive(Debug)]
struct CudaDevice(Arc<Open>);

/// A device, and what is made once for it.
struct Open {
    info: Info,
    ordinal: i32,
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    capability: (i32, i32),
    /// Compiled kernels: the one that fills, and the one that prepares.
    functions: Mutex<HashMap<Program, [Option<CudaFunction>; 2]>>,
}

impl fmt::Debug for Open {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Open").field("info", &self.info).finish_non_exhaustive()
    }
}

impl Device for CudaDevice {
    fn info(&self) -> &Info {
        &self.0.info
    }

    fn allocate(&self, dtype: DType, len: u64) -> Result<Box<dyn Array>> {
        let mut array = self.array(dtype, len)?;
        array.clear()?;
        Ok(Box::new(array))
    }

    fn fill(&self, plan: &dyn AnyPlan) -> Result<Box<dyn Array>> {
        // What is written as a whole need not be cleared.
        let mut array = self.array(plan.element_type(), plan.count())?;
        array.fill(plan)?;
        Ok(Box::new(array))
    }
}

impl CudaDevice {
    /// An array without content.
    fn array(&self, dtype: DType, len: u64) -> Result<CudaArray> {
        let bytes = bytes_of(dtype, len)?;
        let max = self.0.info.max_bytes;
        if bytes > max {
            let message =
                format!("{len} elements of {dtype} are {bytes} bytes, but {} has {max}", self.0.info.name);
            return Err(Error::new(ErrorKind::Limit, message));
        }
        let launcher = Driver(Arc::clone(&self.0));
        let memory = launcher.allocate(bytes)?;
        Ok(CudaArray { bytes, elements: Elements { launcher, dtype, len, memory } })
    }
}

/// An array in the memory of a device.
struct CudaArray {
    bytes: u64,
    elements: Elements<Driver>,
}

impl fmt::Debug for CudaArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Elements { launcher, dtype, len, .. } = &self.elements;
        f.debug_struct("CudaArray")
            .field("device", &launcher.0.info.name)
            .field("dtype", dtype)
            .field("len", len)
            .finish_non_exhaustive()
    }
}

impl Array for CudaArray {
    fn dtype(&self) -> DType {
        self.elements.dtype
    }

    fn len(&self) -> u64 {
        self.elements.len
    }

    fn fill(&mut self, plan: &dyn AnyPlan) -> Result<Report> {
        let Elements { dtype, len, .. } = self.elements;
        engine::fill(&mut self.elements, dtype, len, plan)
    }

    fn clear(&mut self) -> Result<()> {
        let Elements { launcher: Driver(open), memory, .. } = &mut self.elements;
        let fails = |error| failed(&open.info.name, "memory cannot be filled", error);
        open.stream.memset_zeros(memory).map_err(fails)?;
        open.stream.synchronize().map_err(fails)
    }

    fn read(&self, from: u64, out: &mut [u8]) -> Result<()> {
        check_read(self.bytes, from, out)?;
        self.elements.launcher.read(&self.elements.memory, from, out)
    }

    fn cuda_address(&self) -> Option<(i32, u64)> {
        let Elements { launcher, memory, .. } = &self.elements;
        Some((launcher.0.ordinal, launcher.address(memory)))
    }
}

/// Launches on the stream of a device.
struct Driver(Arc<Open>);

#[allow(unsafe_code, reason = "kernels are launched with it")]
// SAFETY: plain numbers, laid out as C does, as the kernels have them.
unsafe impl DeviceRepr for Arguments {}

impl Driver {
    fn failed(&self, what: &str) -> impl Fn(DriverError) -> Error {
        let (name, what) = (self.0.info.name.clone(), what.to_owned());
        move |error| failed(&name, &what, error)
    }

    /// The compiled kernels of a program.
    fn functions(&self, program: Program) -> Result<[Option<CudaFunction>; 2]> {
        let mut functions = self.0.functions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(functions) = functions.get(&program) {
            return Ok(functions.clone());
        }
        let ptx = compile(program, self.0.capability)?;
        let loads = self.failed("a kernel cannot be loaded (NVRTC may be newer than the driver)");
        let module = self.0.context.load_module(ptx).map_err(&loads)?;
        let fill = module.load_function("fill").map_err(&loads)?;
        let prepare = program
            .form
            .is_prepared()
            .then(|| module.load_function("prepare"))
            .transpose()
            .map_err(&loads)?;
        Ok(functions.entry(program).or_insert([Some(fill), prepare]).clone())
    }
}

/// Compiles a kernel for devices of that capability.
pub(super) fn compile(program: Program, (major, minor): (i32, i32)) -> Result<Ptx> {
    let options = CompileOptions {
        // Every operation says how it is rounded; nothing may be contracted, nor flushed to zero.
        fmad: Some(false),
        ftz: Some(false),
        options: vec![format!("--gpu-architecture=compute_{major}{minor}"), "--device-int128".to_owned()],
        ..CompileOptions::default()
    };
    nvrtc::compile_ptx_with_opts(program.text(), options).map_err(|error| {
        let message = match error {
            CompileError::CompileError { log, .. } => log.to_string_lossy().into_owned(),
            other => other.to_string(),
        };
        Error::new(ErrorKind::Io, format!("NVRTC: {program:?}: {message}"))
    })
}

impl Launcher for Driver {
    type Memory = CudaSlice<u8>;

    fn allocate(&self, bytes: u64) -> Result<CudaSlice<u8>> {
        #[allow(unsafe_code, reason = "memory that has no content yet")]
        // SAFETY: every byte is written before it is read: arrays are cleared or filled, tables and lists are written by a copy or a kernel.
        let memory = unsafe { self.0.stream.alloc::<u8>(usize_of(bytes.max(16))) };
        memory.map_err(self.failed(&format!("no {bytes} bytes of memory")))
    }

    fn address(&self, memory: &CudaSlice<u8>) -> u64 {
        memory.device_ptr(&self.0.stream).0
    }

    fn write(&self, memory: &mut CudaSlice<u8>, at: u64, bytes: &[u8]) -> Result<()> {
        let fails = self.failed("memory cannot be written");
        if bytes.is_empty() {
            return Ok(());
        }
        let mut place = memory.slice_mut(usize_of(at)..usize_of(at) + bytes.len());
        self.0.stream.memcpy_htod(bytes, &mut place).map_err(&fails)?;
        // The bytes may be gone when this returns.
        self.0.stream.synchronize().map_err(fails)
    }

    fn read(&self, memory: &CudaSlice<u8>, at: u64, out: &mut [u8]) -> Result<()> {
        let fails = self.failed("memory cannot be read");
        if !out.is_empty() {
            let place = memory.slice(usize_of(at)..usize_of(at) + out.len());
            self.0.stream.memcpy_dtoh(&place, out).map_err(&fails)?;
        }
        self.0.stream.synchronize().map_err(fails)
    }

    fn launch(&self, program: Program, prepare: bool, blocks: u64, arguments: &Arguments) -> Result<()> {
        let fails = self.failed("a kernel cannot be launched");
        let functions = self.functions(program)?;
        let Some(function) = &functions[usize::from(prepare)] else { return Ok(()) };
        let blocks = u32::try_from(blocks)
            .ok()
            .filter(|&blocks| blocks <= i32::MAX.unsigned_abs())
            .ok_or_else(|| {
                Error::new(
                    ErrorKind::Limit,
                    format!("{}: {blocks} blocks are more than a launch has", self.0.info.name),
                )
            })?;
        let shape =
            LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };
        let mut launch = self.0.stream.launch_builder(function);
        launch.arg(arguments);
        #[allow(unsafe_code, reason = "a kernel is launched")]
        // SAFETY: the kernel takes these arguments. The addresses in them are of memory of this device that is dropped, on the
        // same stream, after the launch; the kernel writes the elements `from` to `to` of `out`, which has them, and as many
        // doubts and starts as the arguments say that there is room for.
        let launched = unsafe { launch.launch(shape) };
        launched.map(|_| ()).map_err(fails)
    }
}
