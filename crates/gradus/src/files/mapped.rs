//! Mapped files, and where in which file their bytes lie.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gradus_core::convert::u64_of;

/// Maps that the process may have. Linux allows 65,530, and allocators need some of them.
pub(super) const MAX_MAPS: usize = 1 << 15;
/// Files that are kept open besides their maps: processes may often have 1024.
const MAX_FILES: usize = 256;
/// Files of fewer bytes are not kept open.
const LONG: usize = 1 << 16;

/// A mapped file.
pub(super) struct FileMap(memmap2::Mmap);

/// A place in memory, and the file that is mapped there if it is kept open.
struct MappedRange {
    len: usize,
    file: Option<Arc<File>>,
}

/// The maps of the process, by their address.
#[derive(Default)]
struct Maps {
    places: BTreeMap<usize, MappedRange>,
    files: usize,
}

static MAPS: Mutex<Maps> = Mutex::new(Maps { places: BTreeMap::new(), files: 0 });

fn maps() -> MutexGuard<'static, Maps> {
    MAPS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FileMap {
    /// Maps a file, unless there are too many.
    #[expect(unsafe_code, reason = "the one place where a file is mapped")]
    pub(super) fn new(file: &File) -> io::Result<Option<FileMap>> {
        let mut maps = maps();
        if maps.places.len() >= MAX_MAPS {
            return Ok(None);
        }
        // SAFETY: the map is private to this process and only read, through `Bytes`, which outlives
        // no part of it. That nobody changes the file meanwhile cannot be enforced; it is a
        // documented duty of the caller of `map`.
        let map = unsafe { memmap2::Mmap::map(file) }?;
        let kept = map.len() >= LONG && maps.files < MAX_FILES;
        let file = if kept { file.try_clone().ok().map(Arc::new) } else { None };
        maps.files += usize::from(file.is_some());
        maps.places.insert(map.as_ptr().addr(), MappedRange { len: map.len(), file });
        Ok(Some(FileMap(map)))
    }
}

impl Drop for FileMap {
    fn drop(&mut self) {
        let mut maps = maps();
        let place = maps.places.remove(&self.0.as_ptr().addr());
        maps.files -= usize::from(place.is_some_and(|place| place.file.is_some()));
    }
}

impl AsRef<[u8]> for FileMap {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// The file that bytes are mapped from, if it is open, and their place in it.
pub(crate) fn origin(bytes: &[u8]) -> Option<(Arc<File>, u64)> {
    let (address, maps) = (bytes.as_ptr().addr(), maps());
    let (start, place) = maps.places.range(..=address).next_back()?;
    let from = address - start;
    let within = from.checked_add(bytes.len())? <= place.len;
    Some((place.file.clone().filter(|_| within)?, u64_of(from)))
}
