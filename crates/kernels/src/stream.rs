//! Stores past the caches.
//!
//! A line of memory that is written through the caches is read first; one that is written past them is not. What is
//! written must be complete lines, so elements are made in a scratch buffer that stays in the nearest cache.
#![allow(
    unsafe_code,
    clippy::cast_ptr_alignment,
    reason = "stores past the caches are intrinsics; each block says why it is in bounds and aligned"
)]

use bytemuck::Pod;

/// Bytes of the scratch buffer: small beside the nearest cache, which holds tables too.
const SCRATCH: usize = 8192;

/// Bytes of one store.
#[cfg(target_arch = "x86_64")]
const STORE: usize = 16;

/// Writes elements that `write` makes, from that place on, past the caches where the processor can.
pub fn write<T: Pod>(out: &mut [T], write: impl Fn(usize, &mut [T])) {
    // Before the first whole store, and after the last, elements go the ordinary way.
    let (head, body, tail) = whole_stores(out);
    write(0, head);
    let scratch = SCRATCH / size_of::<T>();
    let mut buffer = bytemuck::zeroed_vec::<T>(scratch.min(body.len()));
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

/// The elements before the first place that a store may go to, those that stores cover, and those after.
#[cfg(target_arch = "x86_64")]
fn whole_stores<T: Pod>(out: &mut [T]) -> (&mut [T], &mut [T], &mut [T]) {
    let head = out.as_ptr().align_offset(STORE).min(out.len());
    let (head, rest) = out.split_at_mut(head);
    let covered = rest.len() / (STORE / size_of::<T>()) * (STORE / size_of::<T>());
    let (body, tail) = rest.split_at_mut(covered);
    (head, body, tail)
}

/// Copies past the caches: both slices have the same length, which is a multiple of a store's, and `to` starts where
/// a store may go.
#[cfg(target_arch = "x86_64")]
fn copy<T: Pod>(from: &[T], to: &mut [T]) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
    let (from, to) = (bytemuck::cast_slice::<T, u8>(from), bytemuck::cast_slice_mut::<T, u8>(to));
    assert!(from.len() == to.len() && to.as_ptr().addr() % STORE == 0);
    for (from, to) in from.chunks_exact(STORE).zip(to.chunks_exact_mut(STORE)) {
        let (from, to) = (from.as_ptr().cast::<__m128i>(), to.as_mut_ptr().cast::<__m128i>());
        // SAFETY: both chunks are 16 bytes long, and do not overlap because one of them is borrowed mutably. `to` is
        // aligned: the first chunk is, as was checked, and chunks follow each other at 16 bytes. SSE2 is part of
        // x86-64. The fence that these stores need before others may read them is in `write`, whose borrow of the
        // destination ends after it.
        unsafe { _mm_stream_si128(to, _mm_loadu_si128(from)) };
    }
}

#[cfg(target_arch = "x86_64")]
fn fence() {
    // SAFETY: SSE is part of x86-64.
    unsafe { std::arch::x86_64::_mm_sfence() };
}

#[cfg(not(target_arch = "x86_64"))]
fn whole_stores<T: Pod>(out: &mut [T]) -> (&mut [T], &mut [T], &mut [T]) {
    (&mut [], out, &mut [])
}

#[cfg(not(target_arch = "x86_64"))]
fn copy<T: Pod>(from: &[T], to: &mut [T]) {
    to.copy_from_slice(from);
}

#[cfg(not(target_arch = "x86_64"))]
fn fence() {}
