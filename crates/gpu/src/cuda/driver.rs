//! The driver, which is looked for when it is needed.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::{
    CudaContext, CudaFunction, CudaStream, DeviceRepr, DriverError, LaunchConfig, PushKernelArg, result, sys,
};
use gradus_core::convert::{small_i32, u64_of, usize_of};
use gradus_core::{DType, Error, Kind as ErrorKind, Result};

use super::compiler::{self, CompileTarget};
use super::memory::{CudaMemory, Current, Pinned, Pool, Spare};
use super::program::{Entry, KernelProgram};
use super::work::{
    Arguments, CAPACITY, Elements, FEW, KernelParameters, Launcher, SHORT, ShortArray, THREADS, copy,
};
use crate::device::{Array, Backend, Device, DeviceKind, DeviceReport, Info, check_read};
use crate::engine;
use crate::plan::AnyPlan;

/// The devices, in the driver's order; or why there are none.
pub(crate) fn list() -> Result<Vec<Info>, String> {
    find_libraries()?;
    let count =
        CudaContext::device_count().map_err(|error| format!("its driver says: {}", meaning(error)))?;
    let infos: Result<Vec<_>, _> = (0..count).map(info).collect();
    let infos = infos.map_err(|error| format!("its driver says: {}", meaning(error)))?;
    if infos.is_empty() { Err("its driver finds no device".to_owned()) } else { Ok(infos) }
}

/// cudarc panics if it calls a library that is not there, so they are looked for beforehand.
fn find_libraries() -> Result<(), String> {
    if !is_driver_present() {
        return Err("there is no driver of NVIDIA (libcuda.so.1)".to_owned());
    }
    if !compiler::is_present() {
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

fn info(ordinal: i32) -> Result<Info, DriverError> {
    let device = result::device::get(ordinal)?;
    #[allow(unsafe_code, reason = "the driver is asked")]
    // SAFETY: the device is one that the driver gave.
    let bytes = unsafe { result::device::total_mem(device)? };
    Ok(Info {
        name: format!("{}:{ordinal}", Backend::Cuda),
        backend: Backend::Cuda,
        device: result::device::get_name(device)?,
        kind: DeviceKind::Discrete,
        driver: format!("CUDA {}", driver_version()?),
        max_bytes: u64_of(bytes),
    })
}

/// The version of CUDA that the driver is of, `12.4`.
fn driver_version() -> Result<String, DriverError> {
    let mut version = 0;
    #[allow(unsafe_code, reason = "the driver is asked")]
    // SAFETY: the number is written to what is there for it.
    unsafe {
        sys::cuDriverGetVersion(&raw mut version).result()?;
    }
    Ok(format!("{}.{}", version / 1000, version % 1000 / 10))
}

/// Opens the device of that number.
pub(crate) fn open(info: Info, ordinal: usize) -> Result<Box<dyn Device>> {
    find_libraries().map_err(|reason| Error::new(ErrorKind::Unsupported, reason))?;
    let opened = |error| failed(&info.name, "cannot open the device", error);
    let _current = Current::kept().map_err(opened)?;
    let context = CudaContext::new(ordinal).map_err(opened)?;
    #[allow(unsafe_code, reason = "events are switched off")]
    // SAFETY: events order what several streams do; all is done on one.
    unsafe {
        context.disable_event_tracking();
    }
    let capability = context.compute_capability().map_err(opened)?;
    let pool = Pool::new(&context, info.max_bytes / KEPT).map_err(opened)?;
    Ok(Box::new(CudaDevice(Arc::new(OpenContext {
        ordinal: small_i32(u64_of(ordinal)),
        stream: context.default_stream(),
        target: CompileTarget::of(capability)?,
        pool,
        spare: Arc::default(),
        lists: Mutex::default(),
        functions: Mutex::default(),
        context,
        info,
        before: None,
    }))))
}

/// The most bytes of an array that is taken from what others gave back.
const SPARE: u64 = 1 << 20;

/// The part of a device's memory that is kept for the next arrays: a sixteenth.
const KEPT: u64 = 16;

fn failed(name: &str, what: &str, error: DriverError) -> Error {
    let kind = if is_exhausted(error) { ErrorKind::Limit } else { ErrorKind::Io };
    Error::new(kind, format!("{name}: {what}: {}", meaning(error)))
}

fn is_exhausted(error: DriverError) -> bool {
    error.0 == sys::cudaError_enum::CUDA_ERROR_OUT_OF_MEMORY
}

/// The driver's text for an error, and the name of the error.
fn meaning(error: DriverError) -> String {
    let text = error.error_string().map_or_else(|_| "unknown error".into(), |text| text.to_string_lossy());
    format!("{text} ({:?})", error.0)
}

#[derive(Debug)]
struct CudaDevice(Arc<OpenContext>);

/// A device, and what is made once for it.
struct OpenContext {
    info: Info,
    ordinal: i32,
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    target: CompileTarget,
    pool: Option<Pool>,
    spare: Arc<Spare>,
    /// Lists without doubts, and memory of the processor for the first ones.
    lists: Mutex<Vec<(CudaMemory, Pinned)>>,
    /// Compiled kernels.
    functions: Mutex<HashMap<(KernelProgram, Entry), CudaFunction>>,
    /// Nothing until the rest is dropped, which makes the context current. Dropped last.
    before: Option<Current>,
}

impl Drop for OpenContext {
    fn drop(&mut self) {
        self.before = Current::kept().ok();
    }
}

impl fmt::Debug for OpenContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenContext").field("info", &self.info).finish_non_exhaustive()
    }
}

impl Device for CudaDevice {
    fn info(&self) -> &Info {
        &self.0.info
    }

    fn allocate(&self, dtype: DType, len: u64) -> Result<Box<dyn Array>> {
        let _current = self.0.current()?;
        let mut array = self.array(dtype, len)?;
        array.clear()?;
        Ok(Box::new(array))
    }

    fn fill(&self, plan: &dyn AnyPlan) -> Result<Box<dyn Array>> {
        let _current = self.0.current()?;
        // Memory that is written as a whole need not be cleared.
        let mut array = self.array(plan.element_type(), plan.count())?;
        array.fill(plan)?;
        Ok(Box::new(array))
    }
}

impl CudaDevice {
    /// An array without content.
    fn array(&self, dtype: DType, len: u64) -> Result<CudaArray> {
        let bytes = self.0.info.bytes_of(dtype, len)?;
        let launcher = Driver(Arc::clone(&self.0));
        let memory = if bytes <= SPARE { launcher.spare(bytes)? } else { launcher.memory(bytes, None)? };
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

    fn fill(&mut self, plan: &dyn AnyPlan) -> Result<DeviceReport> {
        let open = Arc::clone(&self.elements.launcher.0);
        let _current = open.current()?;
        let Elements { dtype, len, .. } = self.elements;
        if !(1..=SHORT).contains(&self.bytes) {
            return engine::fill(&mut self.elements, dtype, len, plan);
        }
        engine::check(dtype, len, plan)?;
        let part = plan.part(0, len)?;
        self.elements.write_short(part.bytes().map_or(&[][..], |bytes| bytes))?;
        self.elements.launcher.wait()?;
        Ok(DeviceReport { decided: 0, copied: len })
    }

    fn clear(&mut self) -> Result<()> {
        let Elements { launcher, memory, .. } = &mut self.elements;
        let _current = launcher.0.current()?;
        launcher.clear(memory, self.bytes)?;
        launcher.0.stream.synchronize().map_err(launcher.failed("cannot clear memory"))
    }

    fn read(&self, from: u64, out: &mut [u8]) -> Result<()> {
        check_read(self.bytes, from, out)?;
        let _current = self.elements.launcher.0.current()?;
        self.elements.launcher.read(&self.elements.memory, from, out)
    }

    fn cuda_ordinal(&self) -> Option<i32> {
        Some(self.elements.launcher.0.ordinal)
    }

    fn cuda_address(&self) -> Option<u64> {
        let Elements { launcher, memory, .. } = &self.elements;
        Some(memory.lend(&launcher.0.stream))
    }
}

/// Launches on the stream of a device.
struct Driver(Arc<OpenContext>);

#[allow(unsafe_code, reason = "kernels are launched with it")]
// SAFETY: plain numbers, laid out as C does, as the kernels have them.
unsafe impl DeviceRepr for Arguments {}

#[allow(unsafe_code, reason = "a kernel is launched with it")]
// SAFETY: the same.
unsafe impl DeviceRepr for ShortArray {}

impl OpenContext {
    /// Makes the context of this device current for a while.
    fn current(&self) -> Result<Current> {
        Current::of(&self.context)
            .map_err(|error| failed(&self.info.name, "cannot make its context current", error))
    }
}

impl Driver {
    /// Memory without content.
    fn memory(&self, bytes: u64, home: Option<&Arc<Spare>>) -> Result<CudaMemory> {
        // Kernels copy whole words.
        let bytes = usize_of(bytes.next_multiple_of(16).max(16));
        #[allow(unsafe_code, reason = "memory that has no content yet")]
        // SAFETY: every byte is written before it is read: arrays are cleared or filled, tables and
        // lists are written by a copy or a kernel.
        let allocated = || unsafe {
            match &self.0.pool {
                Some(pool) => pool.alloc(bytes, &self.0.stream),
                None => self.0.stream.alloc::<u8>(bytes),
            }
        };
        let slice = allocated().or_else(|error| {
            if !is_exhausted(error) {
                return Err(error);
            }
            self.0.spare.empty();
            allocated()
        });
        let slice = slice.map_err(self.failed(&format!("cannot allocate {bytes} bytes")))?;
        Ok(CudaMemory::new(slice, home.cloned()))
    }

    fn failed(&self, what: &str) -> impl Fn(DriverError) -> Error + use<> {
        let (name, what) = (self.0.info.name.clone(), what.to_owned());
        move |error| failed(&name, &what, error)
    }

    /// A compiled kernel.
    fn function(&self, program: KernelProgram, entry: Entry) -> Result<CudaFunction> {
        let mut functions = self.0.functions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = functions.get(&(program, entry)) {
            return Ok(function.clone());
        }
        let code = compiler::compile(program, self.0.target)?;
        let versions = format!("NVRTC is {}, its driver {}", compiler::version(), self.0.info.driver);
        let loads = self.failed(&format!("cannot load a kernel ({versions})"));
        let module = self.0.context.load_module(code).map_err(&loads)?;
        for &entry in program.entries() {
            let [name, _] = entry.names();
            functions.insert((program, entry), module.load_function(name).map_err(&loads)?);
        }
        let function = functions.get(&(program, entry)).cloned();
        function.ok_or_else(|| Error::new(ErrorKind::Io, format!("{program:?} has no kernel {entry:?}")))
    }
}

/// Memory of a fill until its kernels have run.
struct DriverWorkspace {
    list: CudaMemory,
    pinned: Pinned,
    kept: Vec<CudaMemory>,
}

impl Driver {
    /// Makes the first bytes zero.
    fn clear(&self, memory: &mut CudaMemory, bytes: u64) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let zeroed =
            memory.part_mut(0, usize_of(bytes)).and_then(|mut place| self.0.stream.memset_zeros(&mut place));
        zeroed.map_err(self.failed("cannot clear memory"))
    }

    /// Copies bytes from there, when all that was launched has run.
    fn read(&self, memory: &CudaMemory, at: u64, out: &mut [u8]) -> Result<()> {
        let fails = self.failed("cannot read memory");
        if !out.is_empty() {
            let place = memory.part(at, out.len()).map_err(&fails)?;
            self.0.stream.memcpy_dtoh(&place, out).map_err(&fails)?;
        }
        self.wait()
    }

    fn wait(&self) -> Result<()> {
        self.0.stream.synchronize().map_err(self.failed("cannot wait for kernels"))
    }

    /// The doubts of a list, or nothing if it has no room for them.
    fn listed(&self, list: &CudaMemory) -> Result<Option<Vec<u64>>> {
        let mut count = [0; 8];
        self.read(list, 0, &mut count)?;
        let count = u64::from_le_bytes(count);
        if count > CAPACITY {
            return Ok(None);
        }
        let mut bytes = vec![0; usize_of(8 * count)];
        self.read(list, 8, &mut bytes)?;
        Ok(Some(bytes.as_chunks().0.iter().map(|&bytes| u64::from_le_bytes(bytes)).collect()))
    }

    /// Memory that others gave back, or that will be kept for others.
    fn spare(&self, bytes: u64) -> Result<CudaMemory> {
        let length = Spare::length(bytes);
        match self.0.spare.take(usize_of(length)) {
            Some(slice) => Ok(CudaMemory::new(slice, Some(Arc::clone(&self.0.spare)))),
            None => self.memory(length, Some(&self.0.spare)),
        }
    }
}

impl Launcher for Driver {
    type Memory = CudaMemory;
    type Workspace = DriverWorkspace;

    fn address(&self, memory: &CudaMemory) -> u64 {
        memory.address(&self.0.stream)
    }

    fn write(&self, memory: &mut CudaMemory, at: u64, bytes: &[u8]) -> Result<()> {
        let fails = self.failed("cannot write memory");
        if bytes.is_empty() {
            return Ok(());
        }
        let mut place = memory.part_mut(at, bytes.len()).map_err(&fails)?;
        self.0.stream.memcpy_htod(bytes, &mut place).map_err(&fails)?;
        // The bytes may be gone when this returns.
        self.wait()
    }

    fn workspace(&self) -> Result<DriverWorkspace> {
        let kept = self.0.lists.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let (list, pinned) = if let Some(kept) = kept {
            kept
        } else {
            let mut list = self.memory(8 * (1 + CAPACITY), None)?;
            self.clear(&mut list, 8)?;
            let fails = self.failed("cannot allocate memory of the processor");
            (list, Pinned::new(&self.0.stream).map_err(fails)?)
        };
        Ok(DriverWorkspace { list, pinned, kept: Vec::new() })
    }

    fn doubts(&self, workspace: &DriverWorkspace) -> [u64; 2] {
        [self.address(&workspace.list), workspace.pinned.first_doubts()]
    }

    fn copied(&self, workspace: &mut DriverWorkspace, bytes: &[u8]) -> Result<u64> {
        let near = workspace.pinned.copied(bytes);
        if let Some(near) = near
            && u64_of(bytes.len()) <= SHORT
        {
            return Ok(near);
        }
        let mut memory = self.spare(u64_of(bytes.len()))?;
        let address = self.address(&memory);
        if let Some(near) = near {
            copy(self, near, address, bytes.len())?;
        } else {
            self.write(&mut memory, 0, bytes)?;
        }
        workspace.kept.push(memory);
        Ok(address)
    }

    fn finish(&self, workspace: DriverWorkspace) -> Result<Option<Vec<u64>>> {
        let DriverWorkspace { mut list, mut pinned, kept } = workspace;
        self.wait()?;
        drop(kept);
        let first = pinned.doubts();
        let doubts = if first.len() < FEW { Some(first.clone()) } else { self.listed(&list)? };
        if !first.is_empty() {
            self.clear(&mut list, 8)?;
        }
        pinned.empty();
        self.0.lists.lock().unwrap_or_else(PoisonError::into_inner).push((list, pinned));
        Ok(doubts)
    }

    fn launch<P: KernelParameters>(
        &self,
        program: KernelProgram,
        entry: Entry,
        blocks: u64,
        parameters: &P,
    ) -> Result<()> {
        let fails = self.failed("cannot launch a kernel");
        let function = self.function(program, entry)?;
        let blocks = u32::try_from(blocks)
            .ok()
            .filter(|&blocks| blocks <= i32::MAX.unsigned_abs())
            .ok_or_else(|| {
                let what = format_args!("cannot launch on {}: number of blocks", self.0.info.name);
                Error::mismatch(ErrorKind::Limit, what, blocks, format_args!("at most {}", i32::MAX))
            })?;
        let shape =
            LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };
        let mut launch = self.0.stream.launch_builder(&function);
        launch.arg(parameters);
        #[allow(unsafe_code, reason = "a kernel is launched")]
        // SAFETY: the kernel takes these arguments. The addresses in them are of memory of this
        // device that is dropped, on the same stream, after the launch; the kernel writes the
        // elements `from` to `to` of `out`, which has them, and as many doubts and starts as the
        // arguments say that there is room for.
        let launched = unsafe { launch.launch(shape) };
        launched.map(|_| ()).map_err(fails)
    }
}
