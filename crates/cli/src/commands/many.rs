//! Many models: in parallel, with progress, printed in their order as they are done.

use std::collections::BTreeMap;
use std::io::{BufWriter, IsTerminal, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Instant;

use gradus::{Limits, error};
use indicatif::{ProgressBar, ProgressStyle};

use super::fleet::FleetModel;
use crate::args::FleetArgs;
use crate::diagnostics::{self, Failure};
use crate::json;
use crate::object::{Flattened, object};
use crate::output::{self, Form, Limited, Shown, Verbosity};

/// Models a thread that may be done before the first one that is not printed: their texts are kept.
const AHEAD: usize = 4;

/// Does something with each model, and prints what it writes.
///
/// With `--json`, a model that fails has a line on standard output too, so that every model has one.
/// The last line of several models has the counts: on standard output with `--json`, else on standard
/// error, for people and where a model failed.
pub(super) fn each(
    models: &[FleetModel],
    fleet: &FleetArgs,
    limits: Limits,
    one: impl Fn(&FleetModel, &mut dyn Write) -> Result<(), Failure> + Sync,
) -> Result<(), Failure> {
    let done = |model: &FleetModel, out: &mut dyn Write| {
        // A panic on one model is an error of that model; the others go on.
        let result = error::guarded(|| one(model, out));
        let model = &model.path;
        let result = result.map_err(|failure| failure.in_model(model));
        if let (true, Err(Failure::Error(error))) = (output::is_json(), &result) {
            let (model, error) = (model.display().to_string(), Flattened(json::error(error)));
            output::write_json(out, &object!(FailedJson { model, error }))?;
        }
        result
    };
    let timed = |model: &FleetModel, out: &mut dyn Write| {
        let begin = Instant::now();
        let result = done(model, out);
        (begin.elapsed(), result)
    };
    let tell = |model: &FleetModel, took| output::tell_time(&output::path(&model.path), took);
    if let [model] = models {
        let mut out =
            Shown::new(Limited::new(BufWriter::new(std::io::stdout().lock()), limits), Form::of_results());
        let (took, result) = timed(model, &mut out);
        out.flush()?;
        tell(model, took);
        return result;
    }
    let threads = fleet.jobs.or_else(|| std::thread::available_parallelism().ok()).map_or(1, usize::from);
    let threads = threads.min(models.len());
    let queue = Queue::new(models.len(), AHEAD * threads);
    let bar = progress(models.len());
    let (sender, receiver) = mpsc::channel();
    let (mut failed, mut panicked) = (0, false);
    let printed: Result<(), Failure> = std::thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, queue, timed) = (sender.clone(), &queue, &timed);
            scope.spawn(move || {
                while let Some(index) = queue.take() {
                    let mut text = Vec::new();
                    let result = timed(
                        &models[index],
                        &mut Shown::new(Limited::new(&mut text, limits), Form::of_results()),
                    );
                    if sender.send((index, text, result)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        // Threads that wait for their turn must end even if nothing can be printed any more.
        let _stop = StopQueue(&queue);
        let mut waiting = BTreeMap::new();
        let mut next = 0;
        for (index, text, result) in receiver {
            bar.inc(1);
            waiting.insert(index, (text, result));
            while let Some((text, (took, result))) = waiting.remove(&next) {
                bar.suspend(|| output::print(&text))?;
                bar.suspend(|| tell(&models[next], took));
                match result {
                    Ok(()) => {}
                    Err(failure) => {
                        panicked |= failure.is_panic();
                        bar.suspend(|| diagnostics::report(failure, output::is_json()));
                        failed += 1;
                    }
                }
                next += 1;
                queue.printed();
            }
        }
        Ok(())
    });
    bar.finish_and_clear();
    printed?;
    let counts = object!(CountsJson { models: models.len(), failed });
    if output::is_json() {
        output::print_json(&counts)?;
    } else {
        let counted = || output::tell(&format!("{} models, {failed} failed", models.len()));
        match output::verbosity() {
            Verbosity::Quiet => {}
            Verbosity::Normal if failed == 0 && !std::io::stderr().is_terminal() => {}
            Verbosity::Normal | Verbosity::Verbose => counted(),
        }
    }
    match (panicked, failed) {
        (true, _) => Err(Failure::Panicked),
        (false, 0) => Ok(()),
        (false, _) => Err(Failure::Reported),
    }
}

/// Indices of models, handed out in order, at most `ahead` before the first that is not printed.
struct Queue {
    state: Mutex<QueueState>,
    moved: Condvar,
    len: usize,
    ahead: usize,
}

#[derive(Default)]
struct QueueState {
    taken: usize,
    printed: usize,
    stopped: bool,
}

impl Queue {
    fn new(len: usize, ahead: usize) -> Queue {
        Queue { state: Mutex::default(), moved: Condvar::new(), len, ahead }
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the next index once it is near enough to the printed ones, or `None` at the end.
    fn take(&self) -> Option<usize> {
        let must_wait = |state: &mut QueueState| {
            !state.stopped && state.taken < self.len && state.taken >= state.printed + self.ahead
        };
        let state = self.moved.wait_while(self.state(), must_wait);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        if state.stopped || state.taken == self.len {
            return None;
        }
        state.taken += 1;
        Some(state.taken - 1)
    }

    /// Counts one model as printed.
    fn printed(&self) {
        self.state().printed += 1;
        self.moved.notify_all();
    }
}

/// Ends the threads of a queue when it is dropped.
struct StopQueue<'a>(&'a Queue);

impl Drop for StopQueue<'_> {
    fn drop(&mut self) {
        self.0.state().stopped = true;
        self.0.moved.notify_all();
    }
}

fn progress(models: usize) -> ProgressBar {
    if output::verbosity() == Verbosity::Quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} models in {elapsed}");
    let count = u64::try_from(models).unwrap_or(u64::MAX);
    ProgressBar::new(count).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
