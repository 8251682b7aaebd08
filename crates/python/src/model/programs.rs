//! Programs of a model, which are kept for the next run.

use std::sync::{Arc, PoisonError};

use gradus::{Program, RunOptions, Sums};

use super::Model;

/// The outputs of a program, and whether functions are expanded.
pub(super) type ProgramKey = (Vec<String>, bool, u64, Sums);

/// Maximum number of programs that are kept.
const PROGRAMS: usize = 16;

impl Model {
    /// The program of these outputs.
    pub(super) fn program(
        &self,
        outputs: Vec<String>,
        expand_functions: bool,
        seed: u64,
        sums: Sums,
    ) -> gradus::Result<Arc<Program>> {
        let programs = || self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (outputs, expand_functions, seed, sums);
        if let Some(known) = programs().get(&key) {
            return Ok(known.clone());
        }
        let mut options = RunOptions::default();
        (options.expand_functions, options.seed, options.sums) = (expand_functions, seed, sums);
        let outputs: Vec<_> = key.0.iter().map(String::as_str).collect();
        let program = Arc::new(self.model.compile(&outputs, &options)?);
        let mut programs = programs();
        if programs.len() >= PROGRAMS {
            programs.clear();
        }
        programs.insert(key, program.clone());
        Ok(program)
    }
}
