//! Counts of tests, read from the output of the programs that run them.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Write};
use std::process::{Command, ExitStatus, Stdio};

use crate::run::{Result, show, words};

/// Results of one suite.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// The name that each line of output begins with, where other suites run at the same time.
    pub(crate) label: &'static str,
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
    /// Reasons for which tests were skipped.
    pub(crate) reasons: Vec<String>,
    /// Failures that no test runner counted.
    pub(crate) errors: Vec<String>,
}

/// Counts in the output of one command.
#[derive(Debug, Default)]
struct Counts {
    passed: u64,
    failed: u64,
    skipped: u64,
    /// True if a summary was read.
    summary: bool,
    /// Reason of a line `skipped: REASON`.
    reason: Option<String>,
    /// Tests that failed, as libtest and pytest name them, and the first line of what a panic says.
    named: Vec<String>,
    /// True if the next line is that of a panic.
    panicked: bool,
    /// The last lines.
    last: VecDeque<String>,
}

/// Maximum number of lines of output, and most names of tests, that are told again of a command
/// that failed.
const TOLD: usize = 12;

/// Maximum number of characters of what a panic says.
const WIDEST: usize = 400;

impl Tally {
    /// Runs a command that tests something. Its output is shown as it comes, and the tests that it
    /// reports are counted; a command that reports none counts as one test. A failure is counted
    /// and does not end the suite.
    ///
    /// A command that prints `skipped: REASON` on a line of its own tested nothing: its passed
    /// tests count as skipped.
    pub(crate) fn run(&mut self, command: &mut Command) {
        self.run_to(command, &mut std::io::stdout());
    }

    fn run_to(&mut self, command: &mut Command, shown: &mut impl Write) {
        let (mut counts, status) = match counted(command, self.label, shown) {
            Ok(both) => both,
            Err(error) => return self.fail(&error),
        };
        if counts.reason.is_some() {
            counts.skipped += counts.passed;
            counts.passed = 0;
        }
        let counted = counts.passed + counts.failed + counts.skipped > 0;
        if status.success() && !counted && counts.summary {
            // A filter that matches no test must not pass for a test that passed.
            self.fail(&format!("{}: no test was run", words(command)));
        } else if !status.success() && counts.failed == 0 {
            self.fail(&format!("{}: {status}", words(command)));
        } else if !counted {
            counts.passed = 1;
        }
        if !status.success() {
            // An error is hard to find in a long output.
            self.errors.extend(if counts.named.is_empty() { counts.last.into() } else { counts.named });
        }
        self.passed += counts.passed;
        self.failed += counts.failed;
        self.skipped += counts.skipped;
        self.reasons.extend(counts.reason);
    }

    /// Runs commands at the same time, as `run` does each.
    pub(crate) fn run_beside(&mut self, commands: Vec<Command>) {
        let tallies: Vec<_> = std::thread::scope(|scope| {
            let label = self.label;
            let run = |mut command: Command| {
                let mut tally = Tally { label, ..Tally::default() };
                tally.run(&mut command);
                tally
            };
            let runs: Vec<_> =
                commands.into_iter().map(|command| scope.spawn(move || run(command))).collect();
            runs.into_iter().map(|run| run.join().expect("counting output does not panic")).collect()
        });
        for tally in tallies {
            self.passed += tally.passed;
            self.failed += tally.failed;
            self.skipped += tally.skipped;
            self.reasons.extend(tally.reasons);
            self.errors.extend(tally.errors);
        }
    }

    /// Counts what could not be run as a failure.
    pub(crate) fn fail(&mut self, error: &str) {
        eprintln!("xtask: {error}");
        self.failed += 1;
        self.errors.push(error.to_owned());
    }

    /// Counts what cannot be run here as skipped.
    pub(crate) fn skip(&mut self, reason: impl Into<String>) {
        let reason = reason.into();
        eprintln!("xtask: skipped: {reason}");
        self.skipped += 1;
        self.reasons.push(reason);
    }
}

/// Runs a command and copies its output; returns the counts and the status.
fn counted(command: &mut Command, label: &str, shown: &mut impl Write) -> Result<(Counts, ExitStatus)> {
    let words = words(command);
    let failed = |error| format!("{words}: {error}");
    let (output, input) = std::io::pipe().map_err(failed)?;
    command.stderr(input.try_clone().map_err(failed)?).stdout(input);
    let child = show(command).spawn();
    // The output ends where nobody is left to write to it.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let (mut child, mut counts) = (child.map_err(failed)?, Counts::default());
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    // The output of this process may be closed; the tests still run.
    let mut show = |part: &[u8]| drop(shown.write_all(part).and_then(|()| shown.flush()));
    loop {
        let part = match output.fill_buf() {
            Ok([]) | Err(_) => break,
            Ok(part) => part,
        };
        // Parts of lines are shown too, if no others come between: the dots of a test runner come
        // one by one.
        if label.is_empty() {
            show(part);
        }
        let length = part.len();
        for &byte in part {
            line.push(byte);
            if byte == b'\n' {
                if !label.is_empty() {
                    show(&[label.as_bytes(), b" | ", &line].concat());
                }
                counts.read(&String::from_utf8_lossy(&line));
                line.clear();
            }
        }
        output.consume(length);
    }
    counts.read(&String::from_utf8_lossy(&line));
    child.wait().map(|status| (counts, status)).map_err(failed)
}

impl Counts {
    /// Adds the counts of a line, if it is a summary: that of libtest (`test result: ok. 3 passed;
    /// 0 failed; …`), that of pytest (`1 failed, 3 passed in 0.5s`), or `3 passed, 1 failed`.
    fn read(&mut self, line: &str) {
        let line = line.trim();
        let name = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----"));
        if let Some(name) = name.or_else(|| line.strip_prefix("FAILED "))
            && self.named.len() < TOLD
        {
            self.named.push(format!("failed: {name}"));
        } else if std::mem::replace(&mut self.panicked, line.contains(" panicked at ")) && !line.is_empty() {
            self.named.push(line.chars().take(WIDEST).collect());
        }
        if !line.is_empty() {
            self.last.push_back(line.to_owned());
            self.last.drain(..self.last.len().saturating_sub(TOLD));
        }
        if let Some(reason) = line.strip_prefix("skipped: ") {
            self.reason = Some(reason.to_owned());
            return;
        }
        let (summary, libtest) = match line.strip_prefix("test result: ") {
            Some(rest) => (rest.split_once(". ").map_or(rest, |(_, counts)| counts), true),
            None => (line.trim_matches('=').trim(), false),
        };
        let mut read = Counts::default();
        let mut found = false;
        for part in summary.split([',', ';']) {
            let mut words = part.split_whitespace();
            let (Some(number), Some(word)) = (words.next(), words.next()) else { return };
            let number = match number.parse::<u64>() {
                Ok(number) => number,
                Err(_) if libtest => continue,
                Err(_) => return,
            };
            if !matches!(words.next(), None | Some("in" | "out")) {
                return;
            }
            match word {
                "passed" | "xfailed" => read.passed += number,
                "failed" | "error" | "errors" | "xpassed" => read.failed += number,
                // libtest's "ignored": tests that need something, which suites of their own run.
                "skipped" => read.skipped += number,
                "ignored" | "measured" | "filtered" | "deselected" | "warning" | "warnings" => {}
                _ => return,
            }
            found = true;
        }
        if found {
            self.summary = true;
            self.passed += read.passed;
            self.failed += read.failed;
            self.skipped += read.skipped;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_of_test_runners_are_counted() {
        for (line, expected) in [
            (
                "test result: ok. 12 passed; 0 failed; 3 ignored; 0 measured; 1 filtered out; finished in 0.01s",
                Some((12, 0, 0)),
            ),
            (
                "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1s",
                Some((1, 2, 0)),
            ),
            (
                "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out; finished in 0s",
                Some((0, 0, 0)),
            ),
            ("321 passed, 2 skipped in 12.34s", Some((321, 0, 2))),
            ("=== 1 failed, 3 passed, 1 warning, 1 xfailed, 2 errors in 0.5s (0:00:00) ===", Some((4, 3, 0))),
            ("7 passed, 0 failed", Some((7, 0, 0))),
            ("running 3 tests", None),
            ("3 models, 1 wrong", None),
            ("12 passed the ball", None),
            ("3, 4, 5", None),
            ("", None),
        ] {
            let mut counts = Counts::default();
            counts.read(line);
            let found = counts.summary.then_some((counts.passed, counts.failed, counts.skipped));
            assert_eq!(found, expected, "{line}");
        }
        let mut counts = Counts::default();
        counts.read("skipped: no device");
        assert_eq!(counts.reason.as_deref(), Some("no device"));
    }

    /// A program that prints, and ends with a status.
    fn tallied(text: &str, status: u8) -> (u64, u64, u64) {
        let mut tally = Tally::default();
        let mut command = Command::new("sh");
        // Shown nowhere: what runs these tests counts too.
        tally.run_to(command.args(["-c", &format!("printf '{text}'; exit {status}")]), &mut std::io::sink());
        (tally.passed, tally.failed, tally.skipped)
    }

    #[test]
    #[cfg(unix)]
    fn commands_count_as_what_they_report_or_as_one() {
        assert_eq!(tallied("done\\n", 0), (1, 0, 0));
        assert_eq!(tallied("done\\n", 3), (0, 1, 0));
        assert_eq!(tallied("2 passed\\n1 passed, 1 failed", 1), (3, 1, 0));
        // A crash after tests passed.
        assert_eq!(tallied("2 passed\\n", 134), (2, 1, 0));
        assert_eq!(tallied("0 passed; 0 failed\\n", 0), (0, 1, 0));
        assert_eq!(tallied("skipped: no device\\n3 passed\\n", 0), (0, 0, 3));
    }

    #[test]
    fn tests_that_fail_are_told_with_what_their_panics_say() {
        let mut counts = Counts::default();
        for line in ["---- a::b stdout ----", "", "thread 'a::b' (7) panicked at c.rs:1:2:", "x is 1", "y"] {
            counts.read(line);
        }
        assert_eq!(counts.named, ["failed: a::b", "x is 1"]);
    }
}
