//! Options of a file: `[lint]` of `gradus.toml`, or `[tool.gradus.lint]` of `pyproject.toml`.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use gradus::convert::small_u32;
use gradus::error::Position;
use gradus::files::map;
use gradus::lint::Severity;
use gradus::{Error, Kind, Result};
use serde::Deserialize;

use crate::args::{FailOn, RuntimeName, bytes};

/// The options, and the file that has them.
#[derive(Default)]
pub(super) struct Config {
    table: Table,
    file: PathBuf,
}

/// The keys, named as the options of the command.
#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
struct Table {
    select: Vec<String>,
    ignore: Vec<String>,
    fail_on: Option<String>,
    r#for: Vec<String>,
    max_peak: Option<String>,
    max_parameters: Option<u64>,
    baseline: Option<PathBuf>,
}

/// Files with options, and the tables in which they have them.
const FILES: [(&str, &[&str]); 2] =
    [("gradus.toml", &["lint"]), ("pyproject.toml", &["tool", "gradus", "lint"])];

impl Config {
    /// The options of the nearest file with a table of options, in this folder or one around it.
    ///
    /// # Errors
    /// [`Kind::Syntax`] if a file is not TOML, or the table has other keys or values.
    pub(super) fn find() -> Result<Config> {
        let depth = std::env::current_dir().map_or(0, |folder| folder.components().count());
        let mut folder = PathBuf::new();
        for _ in 0..=depth {
            for (name, keys) in FILES {
                let file = folder.join(name);
                if file.is_file()
                    && let Some(table) = read(&file, keys)?
                {
                    return Ok(Config { table, file });
                }
            }
            folder.push("..");
        }
        Ok(Config::default())
    }

    /// The rules that are asked: those of the command line, if there are any.
    pub(super) fn select(&self, given: &[String]) -> Vec<String> {
        if given.is_empty() { self.table.select.clone() } else { given.to_vec() }
    }

    /// The rules that are left out, of both.
    pub(super) fn ignore(&self, given: &[String]) -> Vec<String> {
        [&self.table.ignore, given].concat()
    }

    /// The runtimes: those of the command line, if there are any.
    pub(super) fn runtimes(&self, given: &[RuntimeName]) -> Result<Vec<RuntimeName>> {
        if !given.is_empty() {
            return Ok(given.to_vec());
        }
        self.table.r#for.iter().map(|name| self.word("for", name)).collect()
    }

    /// The limit of the peak.
    pub(super) fn max_peak(&self) -> Result<Option<u64>> {
        let parsed = self.table.max_peak.as_deref().map(bytes).transpose();
        parsed.map_err(|message| self.error("max-peak", &message))
    }

    /// The limit of the number of parameters.
    pub(super) const fn max_parameters(&self) -> Option<u64> {
        self.table.max_parameters
    }

    /// The file of known findings, from the folder of the configuration.
    pub(super) fn baseline(&self) -> Option<PathBuf> {
        Some(self.file.parent()?.join(self.table.baseline.as_ref()?))
    }

    /// The least severity for which the command fails; nothing if none counts.
    pub(super) fn fail_on(&self, given: Option<FailOn>) -> Result<Option<Severity>> {
        let of_file = || self.table.fail_on.as_deref().map(|name| self.word("fail-on", name)).transpose();
        let fail_on = match given {
            Some(given) => given,
            None => of_file()?.unwrap_or(FailOn::Warning),
        };
        Ok(fail_on.severity())
    }

    /// One of the words of an option.
    fn word<T: ValueEnum>(&self, key: &str, name: &str) -> Result<T> {
        T::from_str(name, false).map_err(|_| {
            let words = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
            let words: Vec<_> = words.map(|word| word.get_name().to_owned()).collect();
            self.error(key, &format!("got \"{name}\", expected {}", words.join(", ")))
        })
    }

    fn error(&self, key: &str, message: &str) -> Error {
        Error::new(Kind::Syntax, format!("{key}: {message}")).in_file(self.file.display())
    }
}

/// The table of a file; nothing if the file has none.
fn read(file: &Path, keys: &[&str]) -> Result<Option<Table>> {
    let bytes = map(file)?;
    let text = std::str::from_utf8(&bytes)
        .map_err(|error| Error::new(Kind::Syntax, error.to_string()).in_file(file.display()))?;
    let wrong = |error: toml::de::Error| {
        let before = error.span().map_or("", |span| &text[..span.start]);
        let (line, start) = (before.matches('\n').count() + 1, before.rfind('\n').map_or(0, |end| end + 1));
        let column = before[start..].chars().count() + 1;
        let position = Position::Line(small_u32(line), small_u32(column));
        Error::new(Kind::Syntax, error.message().to_owned()).at(position).in_file(file.display())
    };
    let whole: toml::Table = text.parse().map_err(wrong)?;
    let Some((last, around)) = keys.split_last() else { return Ok(None) };
    let inner = around.iter().try_fold(&whole, |table, key| table.get(*key)?.as_table());
    let Some(found) = inner.and_then(|table| table.get(*last)) else { return Ok(None) };
    found.clone().try_into().map(Some).map_err(wrong)
}
