//! Memory of a device, and the context in which it is used.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::{
    CudaContext, CudaSlice, CudaStream, CudaView, CudaViewMut, DevicePtr, DriverError, result, sys,
};
use gradus_core::convert::{u64_of, usize_of};

use super::work::FEW;

/// The context that was current on this thread; it is again when this is dropped. Other libraries
/// have theirs.
pub(super) struct Current(sys::CUcontext);

#[allow(unsafe_code, reason = "a handle crosses threads")]
// SAFETY: the driver takes the handle of a context on every thread.
unsafe impl Send for Current {}

#[allow(unsafe_code, reason = "a handle crosses threads")]
// SAFETY: nothing is done through a shared reference.
unsafe impl Sync for Current {}

impl Current {
    /// Whatever is made current from now on is for a while.
    pub(super) fn kept() -> Result<Current, DriverError> {
        Ok(Current(result::ctx::get_current()?.unwrap_or(std::ptr::null_mut())))
    }

    /// Makes a context current for a while.
    pub(super) fn of(context: &CudaContext) -> Result<Current, DriverError> {
        let before = Current::kept()?;
        context.bind_to_thread()?;
        Ok(before)
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        #[allow(unsafe_code, reason = "a function of the driver is called")]
        // SAFETY: the context was current on this thread, or there was none.
        let _ = unsafe { result::ctx::set_current(self.0) };
    }
}

/// A store of memory of a device. It keeps some of what is given back, which the driver's own
/// returns to the system whenever somebody waits: mapping it again takes longer than filling it.
pub(super) struct Pool {
    handle: sys::CUmemoryPool,
    context: Arc<CudaContext>,
}

#[allow(unsafe_code, reason = "a handle crosses threads")]
// SAFETY: the driver takes the handle of a pool on every thread.
unsafe impl Send for Pool {}

#[allow(unsafe_code, reason = "a handle crosses threads")]
// SAFETY: the driver's functions of pools may run on several threads at once.
unsafe impl Sync for Pool {}

#[allow(unsafe_code, reason = "functions of the driver are called")]
impl Pool {
    /// A store that keeps at most `kept` bytes; nothing if the device has none.
    pub(super) fn new(context: &Arc<CudaContext>, mut kept: u64) -> Result<Option<Pool>, DriverError> {
        if !context.has_async_alloc() {
            return Ok(None);
        }
        // SAFETY: all fields are numbers, or pointers that may be null.
        let mut properties: sys::CUmemPoolProps = unsafe { std::mem::zeroed() };
        properties.allocType = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location.type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
        properties.location.__bindgen_anon_1.id = context.cu_device();
        // SAFETY: the properties are of a device that the driver gave.
        let handle = unsafe { result::mem_pool::create(&raw const properties)? };
        let pool = Pool { handle, context: Arc::clone(context) };
        let threshold = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        // SAFETY: the value of this attribute is a number of 64 bits.
        unsafe { result::mem_pool::set_attribute(handle, threshold, (&raw mut kept).cast())? };
        Ok(Some(pool))
    }

    /// Bytes of the store, without content.
    ///
    /// # Safety
    /// The bytes are written before they are read.
    pub(super) unsafe fn alloc(
        &self,
        bytes: usize,
        stream: &Arc<CudaStream>,
    ) -> Result<CudaSlice<u8>, DriverError> {
        self.context.bind_to_thread()?;
        // SAFETY: the pool and the stream are of the same device. The slice gives the memory back
        // on this stream.
        unsafe {
            let address = result::mem_pool::alloc_async(self.handle, bytes, stream.cu_stream())?;
            Ok(stream.upgrade_device_ptr(address, bytes))
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let _current = Current::of(&self.context);
        #[allow(unsafe_code, reason = "a function of the driver is called")]
        // SAFETY: the pool was created. The driver keeps it until all of its memory is given back.
        let _ = unsafe { result::mem_pool::destroy(self.handle) };
    }
}

/// Memory of the processor that the device reads and writes: indices of the first doubts, and bytes
/// on their way to the device.
pub(super) struct Pinned {
    place: NonNull<u8>,
    /// Bytes that are in use.
    used: usize,
    stream: Arc<CudaStream>,
}

#[allow(unsafe_code, reason = "memory crosses threads")]
// SAFETY: the memory is this value's own.
unsafe impl Send for Pinned {}

#[allow(unsafe_code, reason = "memory is read and written that a device reads and writes too")]
impl Pinned {
    /// Bytes of one: those of the usual tables.
    const BYTES: usize = 1 << 18;

    /// No index of an element.
    const NONE: u64 = u64::MAX;

    /// Allocates memory of the processor that the device reads and writes.
    pub(super) fn new(stream: &Arc<CudaStream>) -> Result<Pinned, DriverError> {
        // SAFETY: the flags are those of memory that the device reaches by the same address.
        let place = unsafe { result::malloc_host(Pinned::BYTES, sys::CU_MEMHOSTALLOC_DEVICEMAP)? };
        let place = NonNull::new(place.cast()).ok_or(BEYOND)?;
        let mut pinned = Pinned { place, used: 0, stream: Arc::clone(stream) };
        pinned.empty();
        Ok(pinned)
    }

    /// Forgets all that was written here; nothing of the device uses it any more.
    pub(super) fn empty(&mut self) {
        self.used = 8 * FEW;
        for k in 0..FEW {
            // SAFETY: the memory has these numbers, and is aligned to a page.
            unsafe { self.place.cast::<u64>().add(k).write_volatile(Pinned::NONE) };
        }
    }

    /// The address of the first doubts on the device.
    pub(super) fn first_doubts(&self) -> u64 {
        u64_of(self.place.as_ptr().expose_provenance())
    }

    /// The first doubts, [`FEW`] at most. Kernels that write them have run.
    pub(super) fn doubts(&self) -> Vec<u64> {
        // SAFETY: the memory has these numbers.
        let all = (0..FEW).map(|k| unsafe { self.place.cast::<u64>().add(k).read_volatile() });
        all.take_while(|&index| index != Pinned::NONE).collect()
    }

    /// The address of a copy of these bytes on the device, if there is room.
    pub(super) fn copied(&mut self, bytes: &[u8]) -> Option<u64> {
        if bytes.len() > Pinned::BYTES - self.used {
            return None;
        }
        // SAFETY: the bytes from there on are this value's, and not in use.
        let place = unsafe {
            let place = self.place.add(self.used);
            place.copy_from_nonoverlapping(NonNull::from_ref(bytes).cast(), bytes.len());
            place
        };
        self.used += bytes.len().next_multiple_of(16);
        Some(u64_of(place.as_ptr().expose_provenance()))
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let _current = Current::of(self.stream.context());
        // A fill that failed may have left kernels that write the mark.
        let _ = self.stream.synchronize();
        #[allow(unsafe_code, reason = "a function of the driver is called")]
        // SAFETY: the driver gave the memory, and nothing uses it from now on.
        let _ = unsafe { result::free_host(self.place.as_ptr().cast::<c_void>()) };
    }
}

/// Short pieces of memory that were given back, by their lengths: the driver's store takes longer
/// to give them again than kernels to fill them.
#[derive(Default)]
pub(super) struct Spare(Mutex<Pieces>);

#[derive(Default)]
struct Pieces {
    by_length: BTreeMap<usize, Vec<CudaSlice<u8>>>,
    bytes: usize,
}

impl Spare {
    /// Maximum number of bytes that are kept.
    const MAX_KEPT: usize = 1 << 26;

    /// The length of the pieces from which `bytes` bytes are taken, so that they are found again.
    pub(super) fn length(bytes: u64) -> u64 {
        bytes.next_power_of_two().max(512)
    }

    fn pieces(&self) -> MutexGuard<'_, Pieces> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A piece of that length.
    pub(super) fn take(&self, length: usize) -> Option<CudaSlice<u8>> {
        let mut pieces = self.pieces();
        let piece = pieces.by_length.get_mut(&length)?.pop()?;
        pieces.bytes -= length;
        Some(piece)
    }

    /// Keeps a piece, unless there is enough already.
    fn keep(&self, piece: CudaSlice<u8>) -> Option<CudaSlice<u8>> {
        let mut pieces = self.pieces();
        if pieces.bytes + piece.len() > Spare::MAX_KEPT {
            return Some(piece);
        }
        pieces.bytes += piece.len();
        pieces.by_length.entry(piece.len()).or_default().push(piece);
        None
    }

    /// Gives all back to the driver.
    pub(super) fn empty(&self) {
        let pieces = std::mem::take(&mut *self.pieces());
        pieces.by_length.into_values().flatten().for_each(give_back);
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        self.empty();
    }
}

/// Drops a piece in its context: it is given back in whatever is current, which is none or another
/// device's on threads of others.
fn give_back(piece: CudaSlice<u8>) {
    let _current = Current::of(piece.context());
    drop(piece);
}

/// Memory that may be dropped on any thread.
pub(super) struct CudaMemory {
    /// Nothing only while it is dropped.
    slice: Option<CudaSlice<u8>>,
    lent: AtomicBool,
    /// Pool that takes the memory when it is dropped.
    home: Option<Arc<Spare>>,
}

impl CudaMemory {
    /// Memory of a device, kept for reuse at its home when it is dropped.
    pub(super) fn new(slice: CudaSlice<u8>, home: Option<Arc<Spare>>) -> CudaMemory {
        CudaMemory { slice: Some(slice), lent: AtomicBool::new(false), home }
    }

    /// Its address in the device.
    pub(super) fn address(&self, stream: &CudaStream) -> u64 {
        self.slice.as_ref().map_or(0, |slice| slice.device_ptr(stream).0)
    }

    /// Its address for other libraries, which may read it on streams of theirs until it is dropped.
    pub(super) fn lend(&self, stream: &CudaStream) -> u64 {
        self.lent.store(true, Ordering::Relaxed);
        self.address(stream)
    }

    /// The `bytes` bytes that start at `at`.
    pub(super) fn part(&self, at: u64, bytes: usize) -> Result<CudaView<'_, u8>, DriverError> {
        let part = self.slice.as_ref().and_then(|slice| slice.try_slice(range(at, bytes)));
        part.ok_or(BEYOND)
    }

    /// The `bytes` bytes that start at `at`, to be written.
    pub(super) fn part_mut(&mut self, at: u64, bytes: usize) -> Result<CudaViewMut<'_, u8>, DriverError> {
        let part = self.slice.as_mut().and_then(|slice| slice.try_slice_mut(range(at, bytes)));
        part.ok_or(BEYOND)
    }
}

/// The driver's error for allocations larger than memory.
const BEYOND: DriverError = DriverError(sys::cudaError_enum::CUDA_ERROR_INVALID_VALUE);

fn range(at: u64, bytes: usize) -> Range<usize> {
    usize_of(at)..usize_of(at) + bytes
}

impl Drop for CudaMemory {
    fn drop(&mut self) {
        let Some(slice) = self.slice.take() else { return };
        if *self.lent.get_mut() {
            let _current = Current::of(slice.context());
            // Work that others launched on their streams may not have ended, and is not ordered
            // with the calls that give memory back.
            let _ = slice.context().synchronize();
        }
        let rest = match &self.home {
            Some(home) => home.keep(slice),
            None => Some(slice),
        };
        rest.into_iter().for_each(give_back);
    }
}
