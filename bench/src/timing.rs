//! Times, side by side.

use std::time::{Duration, Instant};

/// The minimum time of one measurement: short work is repeated until it takes as long.
const LEAST: Duration = Duration::from_millis(2);

/// The median times of several pieces of work, in seconds. They take turns, so that what disturbs
/// the machine for a while disturbs all of them.
pub fn medians(rounds: usize, work: &mut [&mut dyn FnMut()]) -> Vec<f64> {
    let repeats: Vec<u32> = work.iter_mut().map(|work| repeats(*work)).collect();
    let mut times = vec![Vec::with_capacity(rounds); work.len()];
    for _ in 0..rounds {
        for ((work, &repeats), times) in work.iter_mut().zip(&repeats).zip(&mut times) {
            let start = Instant::now();
            for _ in 0..repeats {
                work();
            }
            times.push(start.elapsed().as_secs_f64() / f64::from(repeats));
        }
    }
    times
        .into_iter()
        .map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        })
        .collect()
}

fn repeats(work: &mut dyn FnMut()) -> u32 {
    let mut repeats = 1;
    loop {
        let start = Instant::now();
        for _ in 0..repeats {
            work();
        }
        if start.elapsed() >= LEAST {
            return repeats;
        }
        repeats *= 2;
    }
}
