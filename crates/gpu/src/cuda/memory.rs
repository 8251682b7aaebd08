//! Memory of a device, and the context in which it is used.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::{
    CudaContext, CudaSlice, CudaStream, CudaView, CudaViewMut, DevicePtr, DriverError, result, sys,
};
use gradus_core::convert::usize_of;

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

/// Memory that fills need for a while. It is kept, as the driver's own store gives all back
/// whenever somebody waits.
#[derive(Default)]
pub(super) struct Spare(Mutex<Vec<CudaSlice<u8>>>);

impl Spare {
    /// The most bytes that are kept.
    const MOST: usize = 1 << 26;

    /// The shortest piece of so many bytes.
    pub(super) fn take(&self, bytes: usize) -> Option<CudaSlice<u8>> {
        let mut pieces = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let long = pieces.iter().enumerate().filter(|(_, piece)| piece.len() >= bytes);
        let (place, _) = long.min_by_key(|(_, piece)| piece.len())?;
        Some(pieces.swap_remove(place))
    }

    /// Keeps a piece, unless there is enough already.
    fn keep(&self, piece: CudaSlice<u8>) -> Option<CudaSlice<u8>> {
        let mut pieces = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if pieces.iter().map(CudaSlice::len).sum::<usize>() + piece.len() > Spare::MOST {
            return Some(piece);
        }
        pieces.push(piece);
        None
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..).for_each(give_back);
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
    /// Where it is kept when it is dropped.
    home: Option<Arc<Spare>>,
}

impl CudaMemory {
    pub(super) fn new(slice: CudaSlice<u8>, home: Option<Arc<Spare>>) -> CudaMemory {
        CudaMemory { slice: Some(slice), lent: AtomicBool::new(false), home }
    }

    /// Where it is.
    pub(super) fn address(&self, stream: &CudaStream) -> u64 {
        self.slice.as_ref().map_or(0, |slice| slice.device_ptr(stream).0)
    }

    /// Where it is, for others, who may read it on streams of theirs until it is dropped.
    pub(super) fn lend(&self, stream: &CudaStream) -> u64 {
        self.lent.store(true, Ordering::Relaxed);
        self.address(stream)
    }

    /// So many bytes from one on.
    pub(super) fn part(&self, at: u64, bytes: usize) -> Result<CudaView<'_, u8>, DriverError> {
        let part = self.slice.as_ref().and_then(|slice| slice.try_slice(range(at, bytes)));
        part.ok_or(BEYOND)
    }

    /// The same, to be written.
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
