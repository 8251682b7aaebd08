//! The models that a command is for: files, folders, patterns, and lists of these.

use std::collections::HashSet;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use gradus::sort::SharedSort;
use gradus::{Error, Kind, Result, convert, files};

/// A model, and its name below the folder that a command writes into.
#[derive(Clone, Debug)]
pub(super) struct FleetModel {
    pub(super) path: PathBuf,
    pub(super) name: PathBuf,
}

/// The endings of models that folders are searched for.
const ENDINGS: [&str; 3] = ["onnx", "xml", "pdmodel"];

/// How deep lists may name lists.
const DEPTH: u32 = 8;

/// Longest list, in bytes.
const LONGEST_LIST: u64 = 1 << 26;

/// Lines of all lists together: lists that name lists may name them many times.
const MAX_LINES: usize = 1 << 20;

/// The models that words name: files; folders, with all models below them; patterns (`*`, `?`, and
/// `**` for folders); `@FILE`, a list with one of these on a line; and `-`, such a list on standard
/// input. Folders and patterns are sorted.
///
/// # Errors
/// [`Kind::Usage`] if a folder or a pattern has no models; [`Kind::Io`] if one cannot be read.
pub(super) fn expand(words: &[PathBuf]) -> Result<Vec<FleetModel>> {
    let (mut models, mut lines) = (Vec::new(), 0);
    for word in words {
        expand_word(word, DEPTH, &mut lines, &mut models)?;
    }
    let mut names = HashSet::new();
    if !models.iter().all(|model| names.insert(model.name.clone())) {
        // Files of one name keep the folders by which they differ.
        let shared = shared_folder(&models);
        for model in &mut models {
            model.name = model.path.components().skip(shared).collect();
        }
    }
    Ok(models)
}

fn expand_word(word: &Path, depth: u32, lines: &mut usize, models: &mut Vec<FleetModel>) -> Result<()> {
    let text = word.to_string_lossy();
    if word.is_dir() {
        return search(word, word, &|path| has_ending(path), models);
    }
    if !word.exists() && (text == "-" || text.starts_with('@')) {
        if depth == 0 {
            return Err(Error::new(Kind::Usage, format!("{text}: lists name lists too often")));
        }
        for line in list(&text)?.lines().map(str::trim) {
            *lines += 1;
            if *lines > MAX_LINES {
                let wanted = format_args!("at most {MAX_LINES}");
                return Err(Error::mismatch(Kind::Limit, "number of lines in lists", *lines, wanted));
            }
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            expand_word(Path::new(line), depth - 1, lines, models)?;
        }
        return Ok(());
    }
    if !word.exists() && text.contains(['*', '?']) {
        let is_plain = |part: &Component<'_>| !part.as_os_str().to_string_lossy().contains(['*', '?']);
        let root: PathBuf = word.components().take_while(is_plain).collect();
        let pattern: Vec<_> = word.components().skip_while(is_plain).map(text_of).collect();
        let folder = if root.as_os_str().is_empty() { Path::new(".") } else { &root };
        let is_match = |path: &Path| {
            let below = path.strip_prefix(folder).unwrap_or(path);
            path_matches(&pattern, &below.components().map(text_of).collect::<Vec<_>>())
        };
        return search(word, folder, &is_match, models);
    }
    // A path that does not exist is an error of its own, when the model is opened.
    let name = word.file_name().map_or_else(|| word.to_owned(), PathBuf::from);
    models.push(FleetModel { path: word.to_owned(), name });
    Ok(())
}

fn text_of(part: Component<'_>) -> String {
    part.as_os_str().to_string_lossy().into_owned()
}

/// The text of a list: of a regular file, or of standard input.
fn list(word: &str) -> Result<String> {
    let name = word.strip_prefix('@').unwrap_or("standard input");
    let fail = |error: std::io::Error| {
        Error::new(Kind::Io, format!("cannot read: {error}")).in_file(name).with_source(error)
    };
    let bytes = if let Some(file) = word.strip_prefix('@') {
        files::map(Path::new(file))?
    } else {
        let mut bytes = Vec::new();
        std::io::stdin().lock().take(LONGEST_LIST + 1).read_to_end(&mut bytes).map_err(fail)?;
        bytes.into()
    };
    if convert::u64_of(bytes.len()) > LONGEST_LIST {
        let what = "cannot read the list: number of bytes";
        let wanted = format_args!("at most {LONGEST_LIST}");
        let error = Error::mismatch(Kind::Limit, what, format_args!("{} or more", bytes.len()), wanted);
        return Err(error.in_file(name));
    }
    let text = std::str::from_utf8(&bytes).map_err(|error| fail(std::io::Error::other(error)))?;
    Ok(text.to_owned())
}

fn has_ending(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// Adds the files below a folder that are wanted, sorted; their names begin below it.
fn search(
    word: &Path,
    folder: &Path,
    is_wanted: &dyn Fn(&Path) -> bool,
    models: &mut Vec<FleetModel>,
) -> Result<()> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(within) = open.pop() {
        let cannot = |error: std::io::Error| {
            Error::new(Kind::Io, format!("cannot read: {error}")).in_file(within.display()).with_source(error)
        };
        for entry in std::fs::read_dir(&within).map_err(cannot)? {
            let entry = entry.map_err(cannot)?;
            let path = entry.path();
            // Links to folders may lead in circles.
            if entry.file_type().map_err(cannot)?.is_dir() {
                open.push(path);
            } else if is_wanted(&path) && !path.is_dir() {
                found.push(path);
            }
        }
    }
    if found.is_empty() {
        let wanted = if word == folder {
            "a folder with .onnx, .xml or .pdmodel files"
        } else {
            "a pattern of files that exist"
        };
        return Err(Error::mismatch(Kind::Usage, "MODEL", word.display(), wanted));
    }
    found.shared_sort();
    models.extend(found.into_iter().map(|path| {
        let name = path.strip_prefix(folder).unwrap_or(&path).to_owned();
        FleetModel { path: path.strip_prefix(".").unwrap_or(&path).to_owned(), name }
    }));
    Ok(())
}

/// Returns true if a path is one of a pattern: `**` stands for any folders.
fn path_matches(pattern: &[String], path: &[String]) -> bool {
    match (pattern, path) {
        ([], []) => true,
        ([first, rest @ ..], _) if first == "**" => {
            (0..=path.len()).any(|skipped| path_matches(rest, &path[skipped..]))
        }
        ([first, pattern @ ..], [name, path @ ..]) => {
            name_matches(first.as_bytes(), name.as_bytes()) && path_matches(pattern, path)
        }
        _ => false,
    }
}

/// Returns true if a name is one of a pattern: `*` stands for any text, `?` for one character.
fn name_matches(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => {
            name_matches(rest, name) || (!name.is_empty() && name_matches(pattern, &name[1..]))
        }
        ([b'?', pattern @ ..], [_, name @ ..]) => name_matches(pattern, name),
        ([first, pattern @ ..], [byte, name @ ..]) => first == byte && name_matches(pattern, name),
        _ => false,
    }
}

/// Number of components that the folders of all models begin with.
fn shared_folder(models: &[FleetModel]) -> usize {
    let parents = |model: &FleetModel| -> Vec<_> {
        model.path.parent().into_iter().flat_map(Path::components).map(text_of).collect()
    };
    let Some(first) = models.first().map(parents) else { return 0 };
    let shared = |model: &FleetModel| first.iter().zip(parents(model)).take_while(|(a, b)| *a == b).count();
    models.iter().map(shared).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_names_and_folders() {
        let matches = |pattern: &str, path: &str| {
            let parts = |text: &str| text.split('/').map(str::to_owned).collect::<Vec<_>>();
            path_matches(&parts(pattern), &parts(path))
        };
        for (pattern, path, want) in [
            ("*.onnx", "a.onnx", true),
            ("*.onnx", "a/b.onnx", false),
            ("**/*.onnx", "a/b.onnx", true),
            ("**/*.onnx", "b.onnx", true),
            ("a?/m*l.onnx", "ab/model.onnx", true),
            ("a?/m*l.onnx", "a/model.onnx", false),
            ("**", "a/b/c", true),
        ] {
            assert_eq!(matches(pattern, path), want, "{pattern} {path}");
        }
    }
}
