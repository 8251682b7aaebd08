//! Complex linspaces: their parts are made apart, and then put together.

use fearless_simd::Level as Token;
use gradus_sequences::{LinspacePlan, Plan as _};
use num_complex::Complex;

use crate::vectors::levels::at_level;
use crate::vectors::writer::{Elements, Fill as _, Kernel, Write};

/// Elements whose parts are made before they are put together.
const BLOCK: usize = 1024;

/// The real and the imaginary parts, prepared.
#[derive(Clone, Debug)]
pub struct Pair([(LinspacePlan, Kernel); 2]);

impl Pair {
    /// A sequence with these parts.
    pub fn new(parts: [LinspacePlan; 2]) -> Pair {
        Pair(parts.map(|plan| {
            let kernel = plan.kernel();
            (plan, kernel)
        }))
    }

    /// Writes elements from index `lo` on.
    pub fn write<T: Write>(&self, lo: u64, out: &mut [Complex<T>], token: Token) {
        let mut made = [[T::default(); BLOCK]; 2];
        for (lo, block) in (lo..).step_by(BLOCK).zip(out.chunks_mut(BLOCK)) {
            for ((plan, kernel), made) in self.0.iter().zip(&mut made) {
                let elements = Elements { at: &|i| T::from_number(plan.at(i)), len: plan.len() };
                T::write(kernel, &elements, lo, &mut made[..block.len()], token, false);
            }
            at_level!(token, _ => join(&made, block));
        }
    }
}

/// Puts parts together.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "loops over indices are compiled for the level")]
fn join<T: Copy>([re, im]: &[[T; BLOCK]; 2], out: &mut [Complex<T>]) {
    let (re, im) = (&re[..out.len()], &im[..out.len()]);
    for i in 0..out.len() {
        out[i] = Complex { re: re[i], im: im[i] };
    }
}
