//! Running the commands as they are typed, for all test files.

use std::path::Path;

use snapbox::IntoData;
use snapbox::cmd::{Command, cargo_bin};

pub fn gradus(arguments: &[&str]) -> Command {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Command::new(cargo_bin!("gradus")).current_dir(root).args(arguments)
}

/// What is printed, by a command that succeeds.
pub fn prints(arguments: &[&str], stdout: impl IntoData) {
    gradus(arguments).assert().code(0).stderr_eq("").stdout_eq(stdout);
}

/// What is said of a model or data that are wrong.
#[allow(dead_code, reason = "not every test file has wrong models")]
pub fn fails(arguments: &[&str], stderr: impl IntoData) {
    gradus(arguments).assert().code(1).stdout_eq("").stderr_eq(stderr);
}

/// What is said of a command line that is wrong.
pub fn misused(arguments: &[&str], stderr: impl IntoData) {
    gradus(arguments).assert().code(2).stdout_eq("").stderr_eq(stderr);
}
