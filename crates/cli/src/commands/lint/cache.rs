//! Findings of earlier runs, kept by what they depend on.
//!
//! An entry is a file, named by a digest of the model, its name, the options and the build of
//! Gradus. It has the findings, or the names of the files that the model was read with: their
//! digests and the first one name the entry that has the findings.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use bytes::Bytes;
use gradus::error::Position;
use gradus::files::{Folder, cannot_write, map};
use gradus::lint::{Finding, Lint, LintOptions, LintRule, RULES};
use gradus::sort::SharedSort;
use gradus::{Files, Limits, Model, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::args::LintArgs;
use crate::diagnostics::Failure;
use crate::output;

/// Maximum number of bytes of an entry: more findings are looked for again.
const MAX_ENTRY: usize = 1 << 20;

/// Maximum number of bytes of all entries.
const MAX_BYTES: u64 = 1 << 28;

/// Bytes that a small file takes on a disk.
const BLOCK: u64 = 1 << 12;

/// Bytes that are digested between two looks at the time.
const CHUNK: usize = 1 << 24;

/// The ending of entries.
const ENDING: &str = "lint";

/// A folder of entries, for one set of options.
pub(super) struct Cache {
    folder: PathBuf,
    /// The options and the build.
    asked: String,
    limits: Limits,
    written: AtomicU64,
}

/// An entry.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum CacheEntry {
    /// Files that the model was read with, by their path from its folder.
    Files(BTreeSet<String>),
    Lint {
        findings: Vec<KeptFinding>,
        /// Codes of rules that could not be asked, each with the reason.
        unasked: Vec<(String, String)>,
    },
}

/// A finding, with the code of its rule.
#[derive(Serialize, Deserialize)]
struct KeptFinding {
    code: String,
    place: String,
    message: String,
    position: Option<KeptPosition>,
}

#[derive(Serialize, Deserialize)]
enum KeptPosition {
    Byte(u64),
    Line(u32, u32),
}

impl From<Position> for KeptPosition {
    fn from(position: Position) -> KeptPosition {
        match position {
            Position::Byte(byte) => KeptPosition::Byte(byte),
            Position::Line(line, column) => KeptPosition::Line(line, column),
        }
    }
}

impl From<KeptPosition> for Position {
    fn from(kept: KeptPosition) -> Position {
        match kept {
            KeptPosition::Byte(byte) => Position::Byte(byte),
            KeptPosition::Line(line, column) => Position::Line(line, column),
        }
    }
}

impl CacheEntry {
    fn of(lint: &Lint) -> CacheEntry {
        let finding = |it: &Finding| KeptFinding {
            code: it.rule.code.to_owned(),
            place: it.place.clone(),
            message: it.message.clone(),
            position: it.position.map(KeptPosition::from),
        };
        let unasked = lint.unasked.iter().map(|(rule, why)| (rule.code.to_owned(), why.clone()));
        CacheEntry::Lint { findings: lint.findings.iter().map(finding).collect(), unasked: unasked.collect() }
    }

    /// The findings, unless it has names of files, or a rule is not known.
    fn lint(self) -> Option<Lint> {
        fn rule(code: &str) -> Option<&'static LintRule> {
            RULES.iter().find(|rule| rule.code == code)
        }
        let CacheEntry::Lint { findings, unasked } = self else { return None };
        let finding = |it: KeptFinding| {
            Some(Finding::new(rule(&it.code)?, it.place, it.message, it.position.map(Position::from)))
        };
        let findings = findings.into_iter().map(finding);
        let unasked = unasked.into_iter().map(|(code, why)| Some((rule(&code)?, why)));
        Some(Lint::new(findings.collect::<Option<_>>()?, unasked.collect::<Option<_>>()?))
    }
}

impl Cache {
    /// The cache that the arguments ask for; none where findings depend on files that are given, or
    /// models are mended. The user's folder may be missing or closed, a folder that is named not.
    ///
    /// # Errors
    /// [`gradus::Kind::Io`] if the folder that is named cannot be made.
    pub(super) fn of(args: &LintArgs, options: &LintOptions) -> Result<Option<Cache>> {
        if args.no_cache || args.fix || !args.sizes.shapes.inputs.set.is_empty() {
            return Ok(None);
        }
        let Some(folder) = args.cache.clone().or_else(users_folder) else { return Ok(None) };
        if let Err(error) = fs::create_dir_all(&folder) {
            return if args.cache.is_some() { Err(cannot_write(&folder, error)) } else { Ok(None) };
        }
        let limits = args.limits.limits();
        let LintOptions { select, ignore, runtimes, max_peak, max_parameters, .. } = options;
        let build = (env!("CARGO_PKG_VERSION"), env!("GRADUS_SOURCES"));
        let rules = (select, ignore, runtimes, max_peak, max_parameters);
        let most = (limits.max_bytes, limits.max_steps, limits.max_work, limits.max_depth);
        let asked = format!("{build:?} {rules:?} {most:?} {:?}", args.sizes);
        Ok(Some(Cache { folder, asked, limits, written: AtomicU64::new(0) }))
    }

    /// The findings that are kept for a model, or fresh ones, which are kept if all files were read.
    ///
    /// # Errors
    /// The errors of reading the model and of `fresh`; an entry that cannot be read or written is
    /// none.
    pub(super) fn lint(
        &self,
        path: &Path,
        fresh: impl FnOnce() -> Result<(Model, Lint), Failure>,
    ) -> Result<Lint, Failure> {
        let bytes = map(path)?;
        let name = path.file_name().unwrap_or(path.as_os_str());
        let key = self.key(&[self.asked.as_bytes(), name.as_encoded_bytes(), &bytes])?;
        let kept = match self.read(&key) {
            Some(CacheEntry::Files(names)) => {
                let files = Folder::of(path);
                let read: Option<Vec<_>> =
                    names.iter().map(|name| Some((&**name, files.open(name).ok()?))).collect();
                let key = read.map(|files| self.key_with(&key, &files)).transpose()?;
                key.and_then(|key| self.read(&key))
            }
            found => found,
        };
        if let Some(lint) = kept.and_then(CacheEntry::lint) {
            return Ok(lint);
        }
        let (model, lint) = fresh()?;
        let asked = model.files_asked();
        let files: Option<Vec<_>> =
            asked.iter().map(|(name, bytes)| Some((&**name, bytes.clone()?))).collect();
        // The messages about a file that cannot be read have its path, which is not a part of the key.
        if let Some(files) = files.filter(|_| model.bytes() == Some(&bytes)) {
            if files.is_empty() {
                self.write(&key, &CacheEntry::of(&lint));
            } else {
                self.write(&key, &CacheEntry::Files(asked.iter().map(|(name, _)| name.clone()).collect()));
                self.write(&self.key_with(&key, &files)?, &CacheEntry::of(&lint));
            }
        }
        Ok(lint)
    }

    /// The name of an entry: a digest of texts, each with its length before it.
    fn key(&self, texts: &[&[u8]]) -> Result<String> {
        let mut digest = Sha256::new();
        for text in texts {
            digest.update(text.len().to_le_bytes());
            for chunk in text.chunks(CHUNK) {
                self.limits.check()?;
                digest.update(chunk);
            }
        }
        Ok(hex(&digest.finalize()))
    }

    /// The name of an entry of a model with other files.
    fn key_with(&self, key: &str, files: &[(&str, Bytes)]) -> Result<String> {
        let mut texts = vec![key.as_bytes()];
        texts.extend(files.iter().flat_map(|(name, bytes)| [name.as_bytes(), &bytes[..]]));
        self.key(&texts)
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(key).with_extension(ENDING)
    }

    /// The entry of a name, if it is whole and was written under this name.
    fn read(&self, key: &str) -> Option<CacheEntry> {
        let path = self.path(key);
        if fs::metadata(&path).ok()?.len() > gradus::convert::u64_of(MAX_ENTRY) {
            return None;
        }
        let bytes = map(&path).ok()?;
        let text = std::str::from_utf8(&bytes).ok()?;
        let (digest, body) = text.split_once('\n')?;
        (digest == sealed(key, body)).then(|| serde_json::from_str(body).ok()).flatten()
    }

    /// Writes an entry, which replaces another of its name at once or not at all.
    fn write(&self, key: &str, entry: &CacheEntry) {
        let Ok(body) = output::json(entry) else { return };
        if body.len() + 2 * key.len() > MAX_ENTRY {
            return;
        }
        let number = self.written.fetch_add(1, Ordering::Relaxed);
        let unfinished = self.folder.join(format!("{key}.{}.{number}", std::process::id()));
        let text = format!("{}\n{body}", sealed(key, &body));
        let written = fs::write(&unfinished, text).and_then(|()| fs::rename(&unfinished, self.path(key)));
        if written.is_err() {
            let _ = fs::remove_file(unfinished);
        }
    }

    /// Removes the oldest entries while all of them take too many bytes, if this run wrote any.
    pub(super) fn trim(&self) {
        if self.written.load(Ordering::Relaxed) > 0 {
            trim(&self.folder, MAX_BYTES);
        }
    }
}

fn trim(folder: &Path, most: u64) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let entries = entries.filter_map(|entry| {
        let entry = entry.ok().filter(|entry| is_entry(&entry.file_name()))?;
        let data = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        let written = data.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        Some((written, data.len().max(BLOCK), entry.path()))
    });
    let mut entries: Vec<_> = entries.collect();
    let mut bytes: u64 = entries.iter().map(|(_, len, _)| len).sum();
    if bytes <= most {
        return;
    }
    entries.shared_sort();
    for (_, len, path) in entries {
        // A quarter is free then, so that not every run looks for what to remove.
        if bytes <= most / 4 * 3 {
            break;
        }
        let _ = fs::remove_file(path);
        bytes -= len;
    }
}

/// Returns true for the names of entries, and of unfinished ones.
fn is_entry(name: &OsStr) -> bool {
    let digest = name.to_str().and_then(|name| name.split('.').next());
    digest.is_some_and(|it| it.len() == 64 && it.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// The digest in the first line of an entry.
fn sealed(key: &str, body: &str) -> String {
    hex(&Sha256::new().chain_update(key).chain_update(body).finalize())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing into a text does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The folder of findings in the user's folder of caches.
fn users_folder() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let caches = if cfg!(windows) {
        set("LOCALAPPDATA")
    } else {
        set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))
    };
    Some(caches.filter(|folder| folder.is_absolute())?.join("gradus").join("lint"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_entries_are_removed_and_no_other_file() {
        let folder = std::env::temp_dir().join(format!("gradus-lint-cache-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("notes.txt"), "another's").unwrap();
        let entry = |age: u64| folder.join(format!("{age:064x}.lint"));
        for age in 0..8 {
            fs::write(entry(age), "x").unwrap();
            let written = SystemTime::now() - std::time::Duration::from_secs(60 * age);
            fs::File::options().write(true).open(entry(age)).unwrap().set_modified(written).unwrap();
        }
        let left = || (0..8).filter(|age| entry(*age).exists()).collect::<Vec<_>>();
        trim(&folder, 8 * BLOCK);
        assert_eq!(left().len(), 8);
        trim(&folder, 4 * BLOCK);
        assert_eq!(left(), [0, 1, 2]);
        assert!(folder.join("notes.txt").exists());
        fs::remove_dir_all(folder).unwrap();
    }
}
