//! A stream of random numbers, with the same numbers on every machine: `SplitMix64`, as
//! `generate/random.rs` says.

use gradus_core::{Number, convert};

/// The step of `SplitMix64`: 2^64 over the golden ratio.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finalizer of `SplitMix64`.
fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Draws {
    pub state: u64,
}

impl Draws {
    /// The stream of a node, by the seed of the run.
    pub fn of(seed: u64, node: u64) -> Draws {
        Draws { state: mix(mix(seed).wrapping_add(node)) }
    }

    /// A number from 0 to below 1.
    pub fn uniform(&mut self) -> f64 {
        self.state = self.state.wrapping_add(STEP);
        convert::nearest_f64(Number::Int((mix(self.state) >> 11).into())) / 9_007_199_254_740_992.0
    }

    /// A number of the normal distribution of mean 0 and deviation 1.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(1.0 - self.uniform())).sqrt();
        radius * libm::cos(2.0 * std::f64::consts::PI * self.uniform())
    }
}
