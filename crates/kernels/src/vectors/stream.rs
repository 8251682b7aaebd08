//! Stores past the caches.
//!
//! A line of memory that is written through the caches is read first; one that is written past them
//! is not. What is written must be complete lines, so elements are made in the nearest cache, few
//! at a time: a group where groups are made anyway, or else a short scratch buffer. The shorter,
//! the better the processor makes the next ones while it stores the last.
//!
//! And loads ahead of their use, of what no loop in order of memory reads.
#![allow(
    unsafe_code,
    clippy::cast_ptr_alignment,
    reason = "stores past the caches and loads ahead are intrinsics; each block says why it may be"
)]

use bytemuck::Pod;
use fearless_simd::Simd;

/// Bytes of the scratch buffer: so few that the processor makes the next elements while it stores
/// the last ones.
const SCRATCH: usize = 2048;

/// Bytes of a line of memory.
const LINE: usize = 64;

/// Returns true if stores past the caches are the faster ones for what no cache holds; for elements
/// that are made faster than they are stored, if it says so.
///
/// On Intel's processors they are: 256 MiB take up to half of the time. On AMD's of family 25
/// elements that are made fast take two thirds of the time, and others up to twice as long
/// (bench/RESULTS.md). Others were not measured.
#[cfg(target_arch = "x86_64")]
pub fn pays(fast: bool) -> bool {
    use std::arch::x86_64::__cpuid;
    use std::sync::LazyLock;
    /// For all elements, and for those that are made fast.
    static PAYS: LazyLock<[bool; 2]> = LazyLock::new(|| {
        let leaf = __cpuid(0);
        let vendor = [leaf.ebx, leaf.edx, leaf.ecx].map(u32::to_le_bytes);
        let version = __cpuid(1).eax;
        let family = (version >> 8 & 0xf) + (version >> 20 & 0xff);
        let intel = vendor.as_flattened() == b"GenuineIntel";
        [intel, intel || (vendor.as_flattened() == b"AuthenticAMD" && family == 25)]
    });
    PAYS[usize::from(fast)]
}

/// Elsewhere no such stores are made.
#[cfg(not(target_arch = "x86_64"))]
pub fn pays(_: bool) -> bool {
    false
}

/// Writes elements that `write` makes, from that place on, past the caches where the processor can.
pub fn write<T: Pod>(out: &mut [T], write: impl Fn(usize, &mut [T])) {
    // Before the first whole line, and after the last, elements go the ordinary way.
    let (head, body, tail) = whole_lines(out);
    write(0, head);
    let scratch = (SCRATCH / size_of::<T>()).min(body.len()).max(1);
    // The buffer starts at a cache line, if it can: vectors that cross lines take longer.
    let spare = LINE / size_of::<T>();
    let mut buffer = bytemuck::zeroed_vec::<T>(scratch + spare);
    let lined = Some(before_line(&buffer)).filter(|&at| at <= spare).unwrap_or_default();
    let buffer = &mut buffer[lined..];
    let mut at = head.len();
    for chunk in body.chunks_mut(scratch) {
        let made = &mut buffer[..chunk.len()];
        write(at, made);
        copy(made, chunk);
        at += chunk.len();
    }
    write(at, tail);
    fence();
}

/// Has elements written that `write` stores past the caches by itself, by [`copy_group`].
pub fn in_lines<T: Pod>(out: &mut [T], write: impl Fn(usize, &mut [T])) {
    let (head, rest) = out.split_at_mut(before_line(out));
    write(0, head);
    write(head.len(), rest);
    fence();
}

/// Writes elements that are all the same; past the caches if `streams`, but for what is no whole
/// line. [`in_lines`] must be around it then: it has the fence.
pub fn fill<T: Pod>(streams: bool, out: &mut [T], value: T) {
    /// Lines of one value.
    #[derive(Clone, Copy, bytemuck::Zeroable, bytemuck::Pod)]
    #[repr(C, align(64))]
    struct CacheLines([u8; 4 * LINE]);
    if !streams || size_of_val(out) < 2 * size_of::<CacheLines>() {
        return out.fill(value);
    }
    let mut lines = CacheLines([0; 4 * LINE]);
    let lines = bytemuck::cast_slice_mut::<u8, T>(&mut lines.0);
    lines.fill(value);
    let (head, body, tail) = whole_lines(out);
    head.fill(value);
    for chunk in body.chunks_mut(lines.len()) {
        copy(&lines[..chunk.len()], chunk);
    }
    tail.fill(value);
}

/// Number of elements before the first that starts a cache line.
#[cfg(target_arch = "x86_64")]
fn before_line<T>(out: &[T]) -> usize {
    out.as_ptr().align_offset(LINE).min(out.len())
}

#[cfg(not(target_arch = "x86_64"))]
fn before_line<T>(_: &[T]) -> usize {
    0
}

/// Copies a group past the caches, if it is made of whole lines. [`in_lines`] must be around it: it
/// has the fence.
#[inline(always)]
pub fn copy_group<S: Simd, T: Pod, const G: usize>(simd: S, from: &[T; G], to: &mut [T; G]) {
    #[cfg(target_arch = "x86_64")]
    if size_of_val(to).is_multiple_of(LINE) && to.as_ptr().addr().is_multiple_of(LINE) {
        let (from, to) = (bytemuck::cast_slice(from), bytemuck::cast_slice_mut(to));
        return match simd.level() {
            // SAFETY: the token says that the processor has the instructions.
            fearless_simd::Level::Avx512(_) => unsafe { copy_512(from, to) },
            // SAFETY: as above.
            fearless_simd::Level::Avx2(_) => unsafe { copy_256(from, to) },
            _ => copy_128(from, to),
        };
    }
    let _ = simd;
    *to = *from;
}

/// The elements before the first whole line, those in whole lines, and those after.
#[cfg(target_arch = "x86_64")]
fn whole_lines<T: Pod>(out: &mut [T]) -> (&mut [T], &mut [T], &mut [T]) {
    let (head, rest) = out.split_at_mut(before_line(out));
    let covered = rest.len() / (LINE / size_of::<T>()) * (LINE / size_of::<T>());
    let (body, tail) = rest.split_at_mut(covered);
    (head, body, tail)
}

/// Copies past the caches: both slices have the same length, which is a multiple of a line's, and
/// `to` starts where a line does. Loops go over indices: functions of iterators that are not
/// compiled for the instructions would be called for each vector.
#[cfg(target_arch = "x86_64")]
fn copy<T: Pod>(from: &[T], to: &mut [T]) {
    let (from, to) = (bytemuck::cast_slice::<T, u8>(from), bytemuck::cast_slice_mut::<T, u8>(to));
    assert!(from.len() == to.len() && to.as_ptr().addr() % LINE == 0);
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has the instructions.
        unsafe { copy_512(from, to) }
    } else if is_x86_feature_detected!("avx") {
        // SAFETY: the processor has the instructions.
        unsafe { copy_256(from, to) }
    } else {
        copy_128(from, to);
    }
}

// In these functions: `from` and `to` have the same length, a multiple of a line's. Chunks of them
// are as long as what is loaded and stored, and do not overlap because `to` is borrowed mutably.
// `to` is aligned to a line, as the callers have checked, and chunks follow each other at their
// length. The fence that these stores need before others may read them is in `write` and
// `in_lines`, whose borrow of the destination ends after it.

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
#[inline]
fn copy_512(from: &[u8], to: &mut [u8]) {
    use std::arch::x86_64::{__m512i, _mm512_loadu_si512, _mm512_stream_si512};
    let (from, to) = (from.as_chunks::<64>().0, to.as_chunks_mut::<64>().0);
    let from = &from[..to.len()];
    for at in 0..to.len() {
        let (from, to) = (from[at].as_ptr().cast::<__m512i>(), to[at].as_mut_ptr().cast::<__m512i>());
        // SAFETY: 64 bytes are read and written, as said above.
        unsafe { _mm512_stream_si512(to, _mm512_loadu_si512(from)) };
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
#[inline]
fn copy_256(from: &[u8], to: &mut [u8]) {
    use std::arch::x86_64::{__m256i, _mm256_loadu_si256, _mm256_stream_si256};
    let (from, to) = (from.as_chunks::<32>().0, to.as_chunks_mut::<32>().0);
    let from = &from[..to.len()];
    for at in 0..to.len() {
        let (from, to) = (from[at].as_ptr().cast::<__m256i>(), to[at].as_mut_ptr().cast::<__m256i>());
        // SAFETY: 32 bytes are read and written, as said above.
        unsafe { _mm256_stream_si256(to, _mm256_loadu_si256(from)) };
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn copy_128(from: &[u8], to: &mut [u8]) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
    let (from, to) = (from.as_chunks::<16>().0, to.as_chunks_mut::<16>().0);
    let from = &from[..to.len()];
    for at in 0..to.len() {
        let (from, to) = (from[at].as_ptr().cast::<__m128i>(), to[at].as_mut_ptr().cast::<__m128i>());
        // SAFETY: 16 bytes are read and written, as said above. SSE2 is part of x86-64.
        unsafe { _mm_stream_si128(to, _mm_loadu_si128(from)) };
    }
}

/// Loads the line of an element into the second cache, if the processor has time for it.
#[inline(always)]
pub fn load_ahead<T>(all: &[T], at: usize) {
    // SAFETY: SSE is part of x86-64, and the address of what is loaded ahead may be any.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T1>(all.as_ptr().wrapping_add(at).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (all, at);
}

#[cfg(target_arch = "x86_64")]
fn fence() {
    // SAFETY: SSE is part of x86-64.
    unsafe { std::arch::x86_64::_mm_sfence() };
}

#[cfg(not(target_arch = "x86_64"))]
fn whole_lines<T: Pod>(out: &mut [T]) -> (&mut [T], &mut [T], &mut [T]) {
    (&mut [], out, &mut [])
}

#[cfg(not(target_arch = "x86_64"))]
fn copy<T: Pod>(from: &[T], to: &mut [T]) {
    to.copy_from_slice(from);
}

#[cfg(not(target_arch = "x86_64"))]
fn fence() {}
