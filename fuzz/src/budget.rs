//! Memory of works, counted, besides what their limits allow.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use gradus::Limits;

/// The system's allocator, counted.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn add(bytes: usize) {
    let live = LIVE.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(live, Ordering::Relaxed);
}

// SAFETY: all calls go to the system's allocator as they are.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller keeps what `alloc` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller keeps what `alloc_zeroed` asks for.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps what `dealloc` asks for.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes that all values and tables of a work may take.
const BYTES: u64 = 1 << 24;

/// Bytes that messages and tables of short models may take besides the limit.
const SLACK: u64 = 1 << 22;

/// Small limits: a work ends within a few seconds.
pub fn limits() -> Limits {
    let mut limits = Limits::DEFAULT;
    (limits.max_bytes, limits.max_steps, limits.max_work) = (BYTES, 1000, 1 << 22);
    limits.deadline = Instant::now().checked_add(Duration::from_secs(2));
    limits
}

/// Does a work, which panics if it takes more than one and a half of the limit.
pub fn within<T>(name: &str, work: impl FnOnce() -> T) -> T {
    let before = LIVE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let done = work();
    let bytes = PEAK.load(Ordering::Relaxed).saturating_sub(before);
    let most = BYTES + BYTES / 2 + SLACK;
    assert!(u64::try_from(bytes).is_ok_and(|bytes| bytes <= most), "{name} takes {bytes} bytes of {BYTES}");
    done
}
