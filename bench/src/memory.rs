//! Filling memory with a constant by the fastest store on the machine: what fills are measured
//! against.
#![allow(unsafe_code, reason = "stores past the caches are intrinsics")]

use std::hint::black_box;

/// Fills a buffer through the caches.
pub fn cached(out: &mut [f64]) {
    out.fill(black_box(1.5));
}

/// Fills a buffer past the caches, with the widest stores there are.
#[cfg(target_arch = "x86_64")]
pub fn streamed(out: &mut [f64]) {
    let value = black_box(1.5);
    let head = out.as_ptr().align_offset(64).min(out.len());
    let (head, rest) = out.split_at_mut(head);
    head.fill(value);
    let (body, tail) = rest.split_at_mut(rest.len() / 8 * 8);
    tail.fill(value);
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has the instructions. The body is aligned and whole lines.
        unsafe { lines_512(body, value) }
    } else if is_x86_feature_detected!("avx") {
        // SAFETY: as above.
        unsafe { lines_256(body, value) }
    } else {
        body.fill(value);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn lines_512(body: &mut [f64], value: f64) {
    use std::arch::x86_64::{_mm_sfence, _mm512_set1_pd, _mm512_stream_pd};
    let value = _mm512_set1_pd(value);
    for line in body.chunks_exact_mut(8) {
        // SAFETY: a line is 64 bytes, aligned to as many.
        unsafe { _mm512_stream_pd(line.as_mut_ptr(), value) };
    }
    _mm_sfence();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
fn lines_256(body: &mut [f64], value: f64) {
    use std::arch::x86_64::{_mm_sfence, _mm256_set1_pd, _mm256_stream_pd};
    let value = _mm256_set1_pd(value);
    for half in body.chunks_exact_mut(4) {
        // SAFETY: half a line is 32 bytes, aligned to as many.
        unsafe { _mm256_stream_pd(half.as_mut_ptr(), value) };
    }
    _mm_sfence();
}

/// Fills a buffer.
#[cfg(not(target_arch = "x86_64"))]
pub fn streamed(out: &mut [f64]) {
    cached(out);
}
