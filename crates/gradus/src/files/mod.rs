//! Files on disk: mapped into memory, and written so that they appear whole or not at all.

mod mapped;
mod write;

use std::collections::HashMap;
use std::fs::{File, Metadata, TryLockError};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use gradus_core::convert::{u64_of, usize_of};
use gradus_core::sort::SharedSort;
use gradus_core::{Error, Kind, Result, room_for};
use gradus_formats::{Files, Part, Splice};

pub(crate) use mapped::origin;
use mapped::{FileMap, MAX_MAPS};
pub(crate) use write::PrivateFolder;
pub use write::{NewFiles, abandon_unfinished, cannot_write, check_room};

/// Maximum number of bytes of a file of constants that is read: a map takes a page and more.
const SMALL: u64 = 1 << 14;
/// Maximum number of bytes of a file that the user names and that is read: bytes in memory stay as
/// they were validated.
const READ: u64 = 1 << 26;
/// Milliseconds that a reader waits for a writer in the same folder.
const PATIENCE: u32 = 1000;

/// The bytes of a regular file. Those beyond 64 MiB are mapped, so only those that are looked at
/// are read.
///
/// A mapped file must not be changed while the bytes are in use: what was read before may then
/// differ from what is read after, and a file cut short sends the process a SIGBUS. SECURITY.md
/// says what follows from that.
///
/// # Errors
/// [`Kind::Io`] if there is no such file, it is no regular file, it cannot be read, or it changed
/// meanwhile;
/// [`Kind::Limit`] if the process has too many files mapped.
pub fn map(path: &Path) -> Result<Bytes> {
    map_within(path, u64::MAX)
}

/// Maps a file as [`map`], for a call that may use `max_bytes`: a file larger than an eighth of
/// them is mapped too, which takes no memory.
///
/// # Errors
/// As [`map`].
pub(crate) fn map_within(path: &Path, max_bytes: u64) -> Result<Bytes> {
    let file = open_regular(path).map_err(|error| cannot_read(path, error))?;
    bytes_of(&file, path, READ.min(max_bytes / 8))
}

/// The error of a file that cannot be read.
pub(crate) fn cannot_read(path: &Path, error: io::Error) -> Error {
    let message = match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::PermissionDenied => "the file may not be read".to_owned(),
        _ => error.to_string(),
    };
    Error::new(Kind::Io, message).with_source(error).in_file(path.display())
}

/// The bytes of a file, read if there are at most `read`, else mapped.
fn bytes_of(file: &File, path: &Path, read: u64) -> Result<Bytes> {
    let before = file.metadata().map_err(|error| cannot_read(path, error))?;
    if before.len() <= read {
        let mut bytes = room_for(usize_of(before.len()))?;
        file.take(before.len()).read_to_end(&mut bytes).map_err(|error| cannot_read(path, error))?;
        let after = file.metadata().map_err(|error| cannot_read(path, error))?;
        let state = |file: &Metadata| (file.len(), file.modified().ok());
        if state(&before) != state(&after) || u64_of(bytes.len()) != before.len() {
            let message = "cannot read: the file changed while it was read";
            return Err(Error::new(Kind::Io, message).in_file(path.display()));
        }
        return Ok(bytes.into());
    }
    let map = FileMap::new(file).map_err(|error| cannot_read(path, error))?;
    let Some(map) = map else {
        let message = format!("cannot map the file: {MAX_MAPS} files are mapped, which is the limit");
        return Err(Error::new(Kind::Limit, message).in_file(path.display()));
    };
    Ok(Bytes::from_owner(map))
}

/// Opens a file to read it, at once: a pipe or a device is refused, not waited for.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    let file = File::from(rustix::fs::open(path, system::FILE, rustix::fs::Mode::empty())?);
    #[cfg(not(unix))]
    let file = File::open(path)?;
    regular(file)
}

/// The file, if it is a regular one.
fn regular(file: File) -> io::Result<File> {
    let kind = file.metadata()?.file_type();
    let got = match kind {
        _ if kind.is_file() => return Ok(file),
        _ if kind.is_dir() => "a folder",
        _ => "a pipe or a device",
    };
    Err(io::Error::other(format!("cannot read: the file is {got}, expected a regular file")))
}

#[cfg(unix)]
mod system {
    use std::ffi::OsStr;
    use std::fs::File;
    use std::io;
    use std::path::Path;

    use rustix::fs::{Mode, OFlags, open, openat};

    /// How a file is opened to read it: without waiting for a writer.
    pub(super) const FILE: OFlags =
        OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);
    #[cfg(target_os = "linux")]
    const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
    #[cfg(not(target_os = "linux"))]
    const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

    /// Opens a file below a folder, and follows no link on the way.
    pub(super) fn open_below(folder: &Path, path: &Path) -> io::Result<File> {
        let mut at = open(folder, FOLDER, Mode::empty())?;
        for name in path.parent().iter().flat_map(|parent| parent.iter()) {
            at = openat(&at, name, FOLDER.union(OFlags::NOFOLLOW), Mode::empty())?;
        }
        let name = path.file_name().unwrap_or(OsStr::new("."));
        Ok(openat(&at, name, FILE.union(OFlags::NOFOLLOW), Mode::empty())?.into())
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs::File;
    use std::path::Path;

    /// Opens a file by its path within a folder.
    pub(super) fn open_below(folder: &Path, path: &Path) -> std::io::Result<File> {
        File::open(folder.join(path))
    }
}

/// The folder that a file is in.
pub(crate) fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The folder of a model: what lies in it may be read, nothing else. If the model is a link, the
/// folder of the file that it leads to counts too: caches keep all files there, and links to them.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    model: PathBuf,
    /// Files that were asked for; nothing for those that cannot be read.
    mapped: Mutex<HashMap<String, Option<Bytes>>>,
}

impl Folder {
    /// The folder that a model is in.
    pub fn of(model: &Path) -> Folder {
        Folder { path: folder_of(model).to_owned(), model: model.to_owned(), mapped: Mutex::default() }
    }

    /// The bytes of the model, which is opened together with a file next to it: no writer of Gradus
    /// renames one of them between. That file need not be there.
    pub(crate) fn model_and(&self, beside: &str, max_bytes: u64) -> Result<Bytes> {
        let folder = File::open(&self.path).ok();
        // A writer holds the lock while it renames. Not every system can lock folders, and who has
        // the lock for longer is no writer.
        for _ in 0..PATIENCE {
            match folder.as_ref().map(File::try_lock_shared) {
                Some(Err(TryLockError::WouldBlock)) => std::thread::sleep(Duration::from_millis(1)),
                _ => break,
            }
        }
        let bytes = map_within(&self.model, max_bytes);
        if self.path.join(beside).exists() {
            let _ = self.open(beside);
        }
        bytes
    }

    /// Opens a file, by its path relative to the folder.
    ///
    /// # Errors
    /// As [`map`], and if the file is outside.
    pub(crate) fn file(&self, path: &str) -> Result<File> {
        let full = self.path.join(path);
        let fail = |error| cannot_read(&full, error);
        let real = full.canonicalize().map_err(fail)?;
        let model = self.model.canonicalize().ok();
        let folders = [self.path.canonicalize().ok(), model.map(|model| folder_of(&model).to_owned())];
        let below =
            folders.iter().flatten().find_map(|folder| Some((folder, real.strip_prefix(folder).ok()?)));
        let Some((folder, path)) = below else {
            let message = "the file is a link to outside the model's folder, and so is not read";
            return Err(Error::new(Kind::Io, message).in_file(full.display()));
        };
        // The path has no links: if there is one now, somebody has put it there.
        system::open_below(folder, path).and_then(regular).map_err(fail)
    }
}

impl Files for Folder {
    fn open(&self, path: &str) -> Result<Bytes> {
        let mut mapped = self.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Some(bytes)) = mapped.get(path) {
            return Ok(bytes.clone());
        }
        let bytes = self.file(path).and_then(|file| bytes_of(&file, &self.path.join(path), SMALL));
        mapped.insert(path.to_owned(), bytes.as_ref().ok().cloned());
        bytes
    }

    fn asked(&self) -> Vec<(String, Option<Bytes>)> {
        let mapped = self.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        let mut asked: Vec<_> = mapped.iter().map(|(path, bytes)| (path.clone(), bytes.clone())).collect();
        asked.shared_sort_by(|(a, _), (b, _)| a.cmp(b));
        asked
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
    /// The bytes of a splice, as parts of the source file and new ones.
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

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
    #[test]
    fn a_file_that_changes_while_it_is_read_is_refused() {
        let path = std::env::temp_dir().join(format!("gradus-changes-{}", std::process::id()));
        std::fs::write(&path, vec![1; 1 << 20]).unwrap();
        let is_over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let file = File::options().write(true).open(&path).unwrap();
                for len in [1 << 19, 1 << 20].into_iter().cycle() {
                    file.set_len(len).unwrap();
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                }
            });
            let refused = (0..10_000).find_map(|_| map(&path).err()).map(|error| error.to_string());
            is_over.store(true, Ordering::Relaxed);
            assert!(refused.is_some_and(|message| message.ends_with("the file changed while it was read")));
        });
        std::fs::remove_file(path).unwrap();
    }
}
