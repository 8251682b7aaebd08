//! Writing files: each is the old one or the new one, whole, at every moment.
//!
//! Files are written in a private folder next to them, and renamed when all are complete. The
//! folder has a file that its process keeps locked, so the next writer there can tell folders that
//! a killed process left behind from those in use.

use std::collections::HashSet;
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, BufWriter, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use gradus_core::{Error, Kind, Result};

use super::{folder_of, open_regular};

/// Private folders are named by this and 16 hexadecimal digits.
const PREFIX: &str = ".gradus-";
/// The locked file in a private folder.
const LOCK: &str = "lock";
/// Links that lead from one to the next, as many as Linux follows.
const MAX_LINKS: usize = 40;
/// Names that are tried for a private folder. One that is taken is as good as impossible.
const ATTEMPTS: usize = 8;

/// The private folders of this process that are not yet removed.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the unfinished files of this process, which then ends by `end`: for handlers of
/// signals. Files that are being renamed together get their names first.
pub fn abandon_unfinished(end: impl FnOnce()) {
    let unfinished = unfinished();
    for folder in &*unfinished {
        remove_contents_first(folder);
    }
    end();
}

/// The error of a file that cannot be written.
pub fn cannot_write(path: &Path, error: io::Error) -> Error {
    Error::new(Kind::Io, format!("cannot write: {error}")).with_source(error).in_file(path.display())
}

/// Checks that the disk of a folder has room for `bytes` bytes, where the system says how many are
/// free.
///
/// # Errors
/// [`Kind::Io`] with both numbers if it has not.
pub fn check_room(folder: &Path, bytes: u128) -> Result<()> {
    match free_bytes(folder) {
        Some(free) if free < bytes => {
            let what = "cannot write: number of bytes";
            Err(Error::mismatch(Kind::Io, what, bytes, format_args!("at most {free}, which are free")))
        }
        _ => Ok(()),
    }
}

/// The bytes that a user without privileges may still write to the disk of a folder.
#[cfg(unix)]
fn free_bytes(folder: &Path) -> Option<u128> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(u128::from(disk.f_bavail) * u128::from(disk.f_frsize))
}

#[cfg(not(unix))]
fn free_bytes(_: &Path) -> Option<u128> {
    None
}

/// The name of a file now, and the one that it will have.
type Names = (PathBuf, PathBuf);

/// Files that are written in private folders first, and renamed together at the end.
#[derive(Debug, Default)]
pub struct NewFiles {
    folders: Vec<PrivateFolder>,
    /// Complete files, and the names that they will have.
    written: Vec<Names>,
    names: HashSet<PathBuf>,
}

impl NewFiles {
    /// Writes a file that [`NewFiles::commit`] gives its name. It gets the mode of the file that it
    /// replaces, and its owner where that is permitted. A link is not replaced, but the file that
    /// it leads to. What is no regular file, such as a pipe or a device, is written at once.
    ///
    /// # Errors
    /// [`Kind::Io`] if the file cannot be written, and the errors of `write`.
    pub fn create<E: From<Error>>(
        &mut self,
        path: &Path,
        write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.create_of(path, 0, write)
    }

    /// As [`NewFiles::create`], for a file of at least `bytes` bytes: its disk must have room for
    /// them.
    ///
    /// # Errors
    /// Errors of [`NewFiles::create`] and of [`check_room`].
    pub fn create_of<E: From<Error>>(
        &mut self,
        path: &Path,
        bytes: u128,
        write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut out, names) = self.begin(path, bytes)?;
        write(&mut out)?;
        Ok(self.end(out, names).map_err(|error| cannot_write(path, error))?)
    }

    /// Opens a file to write to, and returns its name now and later if it gets another one.
    fn begin(&mut self, path: &Path, bytes: u128) -> Result<(BufWriter<File>, Option<Names>)> {
        let fail = |error| cannot_write(path, error);
        let Some(name) = replaced(path).map_err(fail)? else {
            // `/dev/stdout` may be a file that has something already.
            let file = OpenOptions::new().append(true).open(path).map_err(fail)?;
            return Ok((BufWriter::new(file), None));
        };
        let old = fs::metadata(&name).ok();
        if old.as_ref().is_some_and(Metadata::is_dir) || name.file_name().is_none() {
            let error = Error::mismatch(Kind::Io, "cannot write: the output", "a folder", "a file");
            return Err(error.in_file(path.display()));
        }
        let beside = folder_of(&name);
        // One file may be spelled in several ways.
        let folder = fs::canonicalize(beside).unwrap_or_else(|_| beside.to_owned());
        if !self.names.insert(folder.join(name.file_name().unwrap_or_default())) {
            let error = Error::new(Kind::Io, "cannot write: two outputs have this name");
            return Err(error.in_file(path.display()));
        }
        check_room(beside, bytes).map_err(|error| error.in_file(path.display()))?;
        let known = self.folders.iter().position(|folder| folder.beside == beside);
        if known.is_none() {
            self.folders.push(PrivateFolder::new(beside).map_err(fail)?);
        }
        let folder = &self.folders[known.unwrap_or(self.folders.len() - 1)];
        let unfinished = folder.path.join(self.written.len().to_string());
        let file = create_like(&unfinished, old.as_ref()).map_err(fail)?;
        Ok((BufWriter::new(file), Some((unfinished, name))))
    }

    /// Writes what waits to be written to a file.
    fn end(&mut self, out: BufWriter<File>, names: Option<Names>) -> io::Result<()> {
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        if let Some(names) = names {
            if syncs() {
                file.sync_all()?;
            }
            self.written.push(names);
        }
        Ok(())
    }

    /// The file that was written last, as long as it has no name.
    pub(crate) fn last(&self) -> Option<&Path> {
        self.written.last().map(|(unfinished, _)| &**unfinished)
    }

    /// Gives all files their names, one directly after the other, in the order in which they were
    /// written. No signal that [`abandon_unfinished`] handles and no other writer there comes
    /// between. If one cannot be renamed, those before it are taken back.
    ///
    /// # Errors
    /// [`Kind::Io`] if one cannot be renamed.
    pub fn commit(self) -> Result<()> {
        let folder = self.folders.first().filter(|_| self.written.len() > 1);
        let lock = unfinished();
        // Not every system can lock folders.
        let folder = folder.and_then(|folder| File::open(&folder.beside).ok());
        let _ = folder.as_ref().map(File::lock);
        self.rename_all()?;
        drop((lock, folder));
        if syncs() {
            for folder in &self.folders {
                // The files are whole with or without this; not every system can do it.
                let _ = File::open(&folder.beside).and_then(|folder| folder.sync_all());
            }
        }
        Ok(())
    }

    fn rename_all(&self) -> Result<()> {
        // Names that are taken back, each with the file that it had before.
        let mut given = Vec::new();
        for (unfinished, name) in &self.written {
            let kept = unfinished.with_extension("old");
            let before = name.exists();
            // Not every system has links; there, a file that is replaced is lost.
            if !before || self.written.len() > 1 && fs::hard_link(name, &kept).is_ok() {
                given.push((name, before.then_some(kept)));
            }
            if let Err(error) = fs::rename(unfinished, name) {
                for (name, kept) in given.into_iter().rev().filter(|(other, _)| *other != name) {
                    let _ = kept.map_or_else(|| fs::remove_file(name), |kept| fs::rename(kept, name));
                }
                return Err(cannot_write(name, error));
            }
        }
        Ok(())
    }
}

/// Returns true unless `GRADUS_NO_SYNC` is set, which leaves it to the system when written files
/// reach the disk.
fn syncs() -> bool {
    std::env::var_os("GRADUS_NO_SYNC").is_none()
}

/// The name that a new file replaces, after following all links; `None` for what is no regular
/// file.
fn replaced(path: &Path) -> io::Result<Option<PathBuf>> {
    if fs::metadata(path).is_ok_and(|old| !old.is_file() && !old.is_dir()) {
        return Ok(None);
    }
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        // `/dev/stdout` leads here: an open file, not a name to replace.
        if path.starts_with("/proc") {
            return Ok(None);
        }
        match fs::read_link(&path) {
            Ok(to) => path = folder_of(&path).join(to),
            Err(_) => return Ok(Some(path)),
        }
    }
    Err(io::Error::other("too many links lead to each other"))
}

/// Creates a file with the owner and the mode of the one that it replaces.
#[cfg(unix)]
fn create_like(path: &Path, old: Option<&Metadata>) -> io::Result<File> {
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let Some(old) = old else { return options.open(path) };
    let mode = old.mode() & 0o777;
    let file = options.mode(mode).open(path)?;
    let (owner, group) = (Some(old.uid()), Some(old.gid()));
    let has_group = fchown(&file, owner, group).is_ok() || fchown(&file, None, group).is_ok();
    // Another group gets no access that the file did not give it.
    let mode = if has_group { mode } else { mode & 0o707 };
    // Some file systems have no modes.
    let _ = file.set_permissions(fs::Permissions::from_mode(mode));
    Ok(file)
}

#[cfg(not(unix))]
fn create_like(path: &Path, _: Option<&Metadata>) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// A folder of unfinished files next to the names that they will have. It is removed when dropped.
#[derive(Debug)]
pub(crate) struct PrivateFolder {
    beside: PathBuf,
    path: PathBuf,
    /// Locked as long as it is open.
    _lock: File,
}

impl PrivateFolder {
    /// A new folder in another.
    pub(crate) fn new(beside: &Path) -> io::Result<PrivateFolder> {
        remove_abandoned(beside);
        for _ in 0..ATTEMPTS {
            // The hasher's key is random, and so is the hash of nothing.
            let path = beside.join(format!("{PREFIX}{:016x}", RandomState::new().build_hasher().finish()));
            let mut unfinished = unfinished();
            match create_folder(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                made => made?,
            }
            unfinished.push(path.clone());
            drop(unfinished);
            let lock = OpenOptions::new().write(true).create_new(true).open(path.join(LOCK));
            match lock {
                // Another writer may have taken the folder for abandoned before it was locked: it
                // has the lock, or has removed it. Not every file system has locks; without them,
                // nobody removes the folder.
                Ok(lock)
                    if !matches!(lock.try_lock(), Err(TryLockError::WouldBlock))
                        && path.join(LOCK).exists() =>
                {
                    return Ok(PrivateFolder { beside: beside.to_owned(), path, _lock: lock });
                }
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    remove(&path);
                    return Err(error);
                }
                _ => {}
            }
        }
        Err(io::Error::other("no name for a temporary folder is free"))
    }

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Removes a private folder of this process.
fn remove(folder: &Path) {
    let mut unfinished = unfinished();
    remove_contents_first(folder);
    unfinished.retain(|other| other != folder);
}

/// Removes a private folder with its lock last: without the lock, nobody may know to whom files
/// belong. What cannot be removed is left.
fn remove_contents_first(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name() != LOCK {
            let _ = fs::remove_file(entry.path());
        }
    }
    let _ = fs::remove_dir_all(folder);
}

/// Creates a folder that only its owner may open.
fn create_folder(path: &Path) -> io::Result<()> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "modes are of Unix"))]
    let mut folder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
    folder.create(path)
}

/// Removes private folders whose processes were killed: nobody locks them.
fn remove_abandoned(beside: &Path) {
    let is_private = |name: &str| {
        name.strip_prefix(PREFIX)
            .is_some_and(|token| token.len() == 16 && token.bytes().all(|c| c.is_ascii_hexdigit()))
    };
    for entry in fs::read_dir(beside).into_iter().flatten().flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_folder || !entry.file_name().to_str().is_some_and(is_private) {
            continue;
        }
        match open_regular(&entry.path().join(LOCK)) {
            Ok(lock) if lock.try_lock().is_ok() => {
                remove_contents_first(&entry.path());
            }
            // Only an empty folder can be removed so: its process was killed, or makes another.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let _ = fs::remove_dir(entry.path());
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn folders_of_killed_processes_are_removed_by_the_next_writer() {
        let beside = std::env::temp_dir().join(format!("gradus-abandoned-{}", std::process::id()));
        let folder = |name: &str| {
            let folder = beside.join(name);
            fs::create_dir_all(&folder).unwrap();
            folder
        };
        let killed = folder(".gradus-0123456789abcdef");
        fs::write(killed.join(LOCK), "").unwrap();
        fs::write(killed.join("0"), "half").unwrap();
        let [empty, other] = [".gradus-0000000000000000", ".gradus-of-the-user"].map(folder);
        let in_use = PrivateFolder::new(&beside).unwrap();
        assert!(!killed.exists() && !empty.exists() && other.exists());
        drop(PrivateFolder::new(&beside).unwrap());
        assert!(in_use.path.exists());
        fs::remove_dir_all(beside).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn the_disk_is_asked_for_room_first() {
        let folder = std::env::temp_dir().join(format!("gradus-room-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let mut files = NewFiles::default();
        let refused: Result<()> = files.create_of(&folder.join("x"), u128::MAX, |_| unreachable!());
        assert!(refused.unwrap_err().to_string().contains("which are free"));
        drop(files);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn names_are_taken_back_if_one_cannot_be_given() {
        let folder = std::env::temp_dir().join(format!("gradus-back-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let names = ["old", "none", "folder"].map(|name| folder.join(name));
        fs::write(&names[0], "before").unwrap();
        let mut files = NewFiles::default();
        for name in &names {
            files
                .create(name, |out| out.write_all(b"after").map_err(|error| cannot_write(name, error)))
                .unwrap();
        }
        // No file takes the name of a folder.
        fs::create_dir(&names[2]).unwrap();
        assert_eq!(files.commit().unwrap_err().kind(), Kind::Io);
        assert_eq!(fs::read(&names[0]).unwrap(), b"before");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        fs::remove_dir_all(folder).unwrap();
    }
}
