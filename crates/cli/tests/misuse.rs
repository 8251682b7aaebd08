//! Wrong calls, each with the message that a user gets: `misuse.txt` has them as a session of a
//! shell. `SNAPSHOTS=overwrite` writes it anew.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod common;

use std::fmt::Write as _;
use std::path::Path;

use snapbox::cmd::{Command, cargo_bin};
use snapbox::{Data, assert_data_eq};

#[test]
fn wrong_calls_say_what_is_wrong() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/misuse.txt");
    let scratch = common::scratch("misuse");
    let text = std::fs::read_to_string(&path).unwrap();
    let calls: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("$ gradus")).collect();
    assert!(calls.len() >= 100, "{}", calls.len());
    let mut session = String::new();
    for call in calls {
        let output = Command::new(cargo_bin!("gradus"));
        let words = common::words(call).into_iter().filter(|word| !word.is_empty());
        let output = output.current_dir(&scratch).args(words).output().unwrap();
        let (out, err) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert!(!output.status.success(), "{call} succeeds: {out}");
        let status = output.status.code().unwrap();
        write!(session, "$ gradus{call}\n{out}{err}[exit status {status}]\n\n").unwrap();
    }
    assert_data_eq!(session, Data::read_from(&path, None).raw());
}
