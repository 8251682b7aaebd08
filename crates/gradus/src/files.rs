//! Files on disk: mapped into memory, and written so that they appear whole or not at all.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use gradus_core::convert::{u64_of, usize_of};
use gradus_core::{Error, Kind, Result};
use gradus_formats::{Files, Part, Splice};

/// The bytes of a file. They are mapped, so only those that are looked at are read.
///
/// The file must not be changed while the bytes are in use: what was read before may then differ
/// from what is read after, and a file cut short ends the process with a bus error. SECURITY.md
/// says what follows from that.
///
/// # Errors
/// [`Kind::Io`] if there is no such file, or it cannot be read.
pub fn map(path: &Path) -> Result<Bytes> {
    let fail = |error: std::io::Error| {
        let message = match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
            std::io::ErrorKind::PermissionDenied => "the file may not be read".to_owned(),
            _ => error.to_string(),
        };
        Error::new(Kind::Io, message).in_file(path.display())
    };
    let file = File::open(path).map_err(fail)?;
    let metadata = file.metadata().map_err(fail)?;
    if metadata.is_dir() {
        return Err(Error::new(Kind::Io, "this is a folder, not a file").in_file(path.display()));
    }
    // Only regular files can be mapped (a pipe cannot), and empty ones need not be.
    if !metadata.is_file() || metadata.len() == 0 {
        return std::fs::read(path).map(Bytes::from).map_err(fail);
    }
    Ok(Bytes::from_owner(map_file(&file).map_err(fail)?))
}

#[expect(unsafe_code, reason = "the one place where a file is mapped")]
fn map_file(file: &File) -> std::io::Result<memmap2::Mmap> {
    // SAFETY: the map is private to this process and only read, through `Bytes`, which outlives no part of it. That
    // nobody changes the file meanwhile cannot be enforced; it is a documented duty of the caller
    // of `map`.
    unsafe { memmap2::Mmap::map(file) }
}

/// The folder that a file is in.
pub(crate) fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The folder of a model: what lies in it may be read, nothing else.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    mapped: Mutex<HashMap<String, Bytes>>,
}

impl Folder {
    /// The folder that a model is in.
    pub fn of(model: &Path) -> Folder {
        Folder { path: folder_of(model).to_owned(), mapped: Mutex::default() }
    }
}

impl Files for Folder {
    fn open(&self, path: &str) -> Result<Bytes> {
        let mut mapped = self.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = mapped.get(path) {
            return Ok(bytes.clone());
        }
        let full = self.path.join(path);
        let real = |path: &Path| path.canonicalize();
        if let (Ok(folder), Ok(file)) = (real(&self.path), real(&full))
            && !file.starts_with(&folder)
        {
            let message = "the file is a link to outside the model's folder, and so is not read";
            return Err(Error::new(Kind::Io, message).in_file(full.display()));
        }
        let bytes = map(&full)?;
        mapped.insert(path.to_owned(), bytes.clone());
        Ok(bytes)
    }
}

/// A file of constants, whatever it is asked for by, that is put together of parts of another and
/// new ones. Nothing is copied but what is asked for and lies in several parts.
#[derive(Debug)]
pub(crate) struct Spliced {
    /// The parts, and where each begins.
    parts: Vec<(usize, Bytes)>,
}

impl Spliced {
    pub(crate) fn new(splice: &Splice, source: &Bytes) -> Spliced {
        let mut start = 0;
        let parts = splice.parts().map(|part| {
            let bytes = match part {
                Part::Source(range) => source.slice(range),
                Part::Fresh(bytes) => Bytes::copy_from_slice(bytes),
            };
            start += bytes.len();
            (start - bytes.len(), bytes)
        });
        Spliced { parts: parts.collect() }
    }
}

impl Files for Spliced {
    fn open(&self, _: &str) -> Result<Bytes> {
        match &self.parts[..] {
            [(_, whole)] => Ok(whole.clone()),
            parts => Ok(parts.iter().flat_map(|(_, bytes)| bytes.iter().copied()).collect()),
        }
    }

    fn parts(&self, _: &str) -> Result<Vec<Bytes>> {
        Ok(self.parts.iter().map(|(_, bytes)| bytes.clone()).collect())
    }

    fn part(&self, path: &str, offset: u64, size: u64) -> Result<Bytes> {
        let (offset, size) = (usize_of(offset), usize_of(size));
        let first = self.parts.partition_point(|(start, _)| *start <= offset).saturating_sub(1);
        if let Some((start, bytes)) = self.parts.get(first) {
            let begin = offset - start;
            if begin.checked_add(size).is_some_and(|end| end <= bytes.len()) {
                return Ok(bytes.slice(begin..begin + size));
            }
        }
        gradus_formats::part_of(&self.open(path)?, path, u64_of(offset), u64_of(size))
    }
}

/// Files that are written under other names first, and renamed together at the end.
#[derive(Debug, Default)]
pub struct NewFiles {
    written: Vec<(PathBuf, PathBuf)>,
}

impl NewFiles {
    /// Writes a file under another name.
    ///
    /// # Errors
    /// [`Kind::Io`] if it cannot be written, and what `write` says.
    pub fn create<E: From<Error>>(
        &mut self,
        path: &Path,
        write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
    ) -> Result<(), E> {
        let fail = |error: std::io::Error| {
            let written = Error::new(Kind::Io, format!("cannot write: {error}")).with_source(error);
            written.in_file(path.display())
        };
        if path.is_dir() {
            let message = "this is a folder, but a file is to be written";
            return Err(Error::new(Kind::Io, message).in_file(path.display()).into());
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let temporary = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
        let file = File::create(&temporary).map_err(fail)?;
        self.written.push((temporary, path.to_owned()));
        let mut file = BufWriter::new(file);
        write(&mut file)?;
        Ok(file.flush().map_err(fail)?)
    }

    /// Gives all files their names: each is the old one or the new one, whole, at every moment.
    ///
    /// # Errors
    /// [`Kind::Io`] if one cannot be renamed.
    pub fn commit(mut self) -> Result<()> {
        for (temporary, path) in &self.written {
            std::fs::rename(temporary, path)
                .map_err(|error| Error::new(Kind::Io, error.to_string()).in_file(path.display()))?;
        }
        self.written.clear();
        Ok(())
    }
}

impl Drop for NewFiles {
    fn drop(&mut self) {
        for (temporary, _) in &self.written {
            // Files that cannot be removed are left: an error is reported already.
            let _ = std::fs::remove_file(temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_gives_what_lies_in_it_and_nothing_else() {
        let root = std::env::temp_dir().join(format!("gradus-files-{}", std::process::id()));
        let inside = root.join("model");
        std::fs::create_dir_all(inside.join("data")).unwrap();
        std::fs::write(inside.join("data/w.bin"), b"abc").unwrap();
        std::fs::write(root.join("secret"), b"xyz").unwrap();
        let folder = Folder::of(&inside.join("m.onnx"));
        assert_eq!(folder.open("data/w.bin").unwrap(), "abc");
        assert!(
            folder.open("w.bin").unwrap_err().to_string().ends_with("model/w.bin: there is no such file")
        );
        assert!(folder.open("data").unwrap_err().message().contains("folder"));
        assert!(folder.open("../secret").unwrap_err().message().contains("outside the model's folder"));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(root.join("secret"), inside.join("link")).unwrap();
            assert!(folder.open("link").unwrap_err().message().contains("outside the model's folder"));
        }
        std::fs::remove_dir_all(root).unwrap();
    }
}
