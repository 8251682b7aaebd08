//! Gradus as a runtime among others.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use gradus_core::{Error, Kind, Limits, Result, Value};
use gradus_kernels::{Level, hold_level, with_threads};

use super::runtime::{Runtime, RuntimeSettings};
use crate::model::OpenOptions;
use crate::program::RunOptions;
use crate::run::Program;

/// The file of a model, and the names of the values that are computed.
type ProgramKey = (PathBuf, Vec<String>);

/// Gradus as a program that runs models, so that it is held to what other programs are held to.
///
/// ```
/// use gradus::Model;
/// use gradus::check::GradusRuntime;
/// let model = Model::open("examples/heads.onnx")?;
/// let audit = model.audit(&GradusRuntime::new(Default::default()), &Default::default())?;
/// assert!(audit.holds());
/// # Ok::<(), gradus::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct GradusRuntime {
    limits: Limits,
    settings: RuntimeSettings,
    programs: Mutex<HashMap<ProgramKey, Arc<Program>>>,
}

impl GradusRuntime {
    /// The name by which commands know it.
    pub const NAME: &str = "gradus";

    /// Gradus with these limits for each run.
    pub fn new(limits: Limits) -> GradusRuntime {
        GradusRuntime { limits, ..GradusRuntime::default() }
    }

    fn program(&self, model: &Path, values: &[&str]) -> Result<Arc<Program>> {
        let key = (model.to_owned(), values.iter().map(|&name| name.to_owned()).collect());
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = programs.get(&key) {
            return Ok(program.clone());
        }
        let opened = OpenOptions::new().limits(self.limits).open(model)?;
        let program = Arc::new(opened.compile(values, &RunOptions::default())?);
        programs.insert(key, program.clone());
        Ok(program)
    }
}

/// Holds the process to a level, until it is dropped.
struct Held;

impl Held {
    fn level(name: &str) -> Result<Held> {
        let all = Level::available();
        let level = all.iter().find(|level| level.name() == name);
        let unknown = || Error::unknown("set of instructions", name, all.iter().map(|level| level.name()));
        hold_level(Some(*level.ok_or_else(unknown)?));
        Ok(Held)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        hold_level(None);
    }
}

impl Runtime for GradusRuntime {
    fn run(&self, model: &Path, inputs: &[(String, Value)], values: &[&str]) -> Result<Vec<Option<Value>>> {
        let program = self.program(model, values)?;
        let _held = self.settings.processor.as_deref().map(Held::level).transpose()?;
        let run = || program.run(inputs.iter().map(|(name, value)| (name, value.clone())));
        let outputs = match self.settings.threads {
            Some(threads) => with_threads(threads, run)??,
            None => run()?,
        };
        Ok(values.iter().map(|name| outputs.get(name).cloned()).collect())
    }

    fn anew(&self, settings: &RuntimeSettings) -> Result<Box<dyn Runtime>> {
        if settings.plain {
            return Err(Error::new(Kind::Unsupported, "Gradus has no optimizations that a switch turns off"));
        }
        let runtime = GradusRuntime { limits: self.limits, settings: settings.clone(), ..Default::default() };
        Ok(Box::new(runtime))
    }

    fn processors(&self) -> Result<Vec<String>> {
        Ok(Level::available().into_iter().map(|level| level.name().to_owned()).collect())
    }
}
