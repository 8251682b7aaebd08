//! Many models: in parallel, with progress, printed in their order.

use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use indicatif::{ProgressBar, ProgressStyle};

use crate::diagnostics::{self, Failure};
use crate::output;

/// Does something with each model, and prints what it writes.
pub(super) fn each(
    models: &[PathBuf],
    json: bool,
    one: impl Fn(&Path, &mut dyn Write) -> Result<(), Failure> + Sync,
) -> Result<(), Failure> {
    if let [model] = models {
        let mut out = BufWriter::new(std::io::stdout().lock());
        one(model, &mut out)?;
        return Ok(out.flush()?);
    }
    let (next, bar) = (AtomicUsize::new(0), progress(models.len()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(models.len());
    let work = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(model) = models.get(index) else { return done };
            let mut text = Vec::new();
            let result = one(model, &mut text);
            done.push((index, result.map(|()| text)));
            bar.inc(1);
        }
    };
    let mut results: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).flatten().collect()
    });
    bar.finish_and_clear();
    results.sort_by_key(|(index, _)| *index);
    let mut failed = results.len() < models.len();
    for (_, result) in results {
        match result {
            Ok(text) => output::print(&text)?,
            // One model that cannot be read does not keep the others from being shown.
            Err(failure) => {
                diagnostics::report(failure, json);
                failed = true;
            }
        }
    }
    if failed { Err(Failure::Reported) } else { Ok(()) }
}

fn progress(models: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} models in {elapsed}");
    let count = u64::try_from(models).unwrap_or(u64::MAX);
    ProgressBar::new(count).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
