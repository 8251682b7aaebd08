//! Files of constants, copied next to a new ONNX model: by names that come from the model's own, as
//! the file that is read may be a stranger's, or by those that it gives them where that is wanted.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use gradus_core::convert::product;
use gradus_core::{Error, Kind, Limits, Result};
use gradus_formats::{Files, onnx};

use super::OutputFile;
use crate::files::{Folder, NewFiles, cannot_read, cannot_write, folder_of, map, open_regular};
use crate::model::Model;

/// Copies the files of constants of `model`, whose file is `bytes`, to where a new model at `path`
/// looks for them, unless they are there. Returns those that get other names, with these.
pub(super) fn copied(
    model: &Model,
    bytes: &Bytes,
    path: &Path,
    files: &mut NewFiles,
) -> Result<BTreeMap<String, String>> {
    let mut names = BTreeMap::new();
    // A pipe or a device has no neighbour files.
    if std::fs::metadata(path).is_ok_and(|old| !old.is_file()) {
        return Ok(names);
    }
    for location in onnx::external_files(bytes)? {
        let Some(from) = model.path() else {
            let name = name_of_data(path, names.len());
            held(model, &location, path, &name, files)?;
            names.insert(location, name);
            continue;
        };
        let copy = Copy { model: from, new_model: path, limits: model.limits() };
        if copy.is_there(&location) {
            continue;
        }
        if model.keeps_names() {
            copy.by_its_name(&location, files)?;
        } else {
            let name = name_of_data(path, names.len());
            copy.by_new_name(&location, &name, files)?;
            names.insert(location, name);
        }
    }
    Ok(names)
}

/// Writes a file of constants that a model holds in memory, where the model that is replaced may have
/// its own.
fn held(model: &Model, location: &str, path: &Path, name: &str, files: &mut NewFiles) -> Result<()> {
    let parts = model.file_of()?.1.parts(location)?;
    check_replaced(path, name)?;
    let to = &folder_of(path).join(name);
    let len: usize = parts.iter().map(Bytes::len).sum();
    files.create_of(to, product(len, 1), |out| {
        let mut output = OutputFile { out, path: to, limits: model.limits() };
        parts.iter().try_for_each(|part| output.bytes(part))
    })
}

/// Files by the names that they had before.
#[derive(Debug)]
pub(super) struct RenamedFiles {
    pub(super) files: Arc<dyn Files>,
    /// Names after those before.
    pub(super) names: BTreeMap<String, String>,
}

impl RenamedFiles {
    fn before<'a>(&'a self, path: &'a str) -> &'a str {
        self.names.iter().find(|(_, new)| *new == path).map_or(path, |(old, _)| old)
    }
}

impl Files for RenamedFiles {
    fn open(&self, path: &str) -> Result<Bytes> {
        self.files.open(self.before(path))
    }

    fn part(&self, path: &str, offset: u64, size: u64) -> Result<Bytes> {
        self.files.part(self.before(path), offset, size)
    }
}

const ANOTHER: &str =
    "there is another file of this name, expected none; choose another folder for the model";

/// The name of a file of constants next to a model: that of the model, with an ending.
pub(super) fn name_of_data(model: &Path, before: usize) -> String {
    let stem = model.file_name().unwrap_or_default().to_string_lossy();
    let number = if before == 0 { String::new() } else { format!(".{}", before + 1) };
    format!("{stem}{number}.data")
}

/// Refuses to replace a file that is not one of constants of the model that is replaced.
pub(super) fn check_replaced(model: &Path, name: &str) -> Result<()> {
    let to = &folder_of(model).join(name);
    let Ok(old) = to.symlink_metadata() else { return Ok(()) };
    let own = map(model).and_then(|old| onnx::external_files(&old)).unwrap_or_default();
    if old.is_file() && own.iter().any(|own| own == name) {
        return Ok(());
    }
    Err(refused(Kind::Io, to, ANOTHER))
}

/// A model and the new one, next to which its constants go.
#[derive(Clone, Copy)]
struct Copy<'a> {
    model: &'a Path,
    new_model: &'a Path,
    limits: Limits,
}

impl Copy<'_> {
    /// Returns true if the new model finds the same file under its name. It may look through no
    /// link that leads out of its folder.
    fn is_there(self, location: &str) -> bool {
        let [from, to] =
            [self.model, self.new_model].map(|model| folder_of(model).join(location).canonicalize().ok());
        from == to && Folder::of(self.new_model).file(location).is_ok()
    }

    /// Copies a file to a new name, where the model that is replaced may have its own.
    fn by_new_name(self, location: &str, name: &str, files: &mut NewFiles) -> Result<()> {
        let to = &folder_of(self.new_model).join(name);
        let source = Folder::of(self.model).file(location)?;
        if let Ok(old) = to.symlink_metadata() {
            let own = map(self.new_model).and_then(|old| onnx::external_files(&old)).unwrap_or_default();
            let is_own = own.iter().any(|own| own == name);
            if old.is_file() && !is_own && is_same(&source, to)? {
                return Ok(());
            }
            if !old.is_file() || !is_own {
                return Err(refused(Kind::Io, to, ANOTHER));
            }
        }
        self.copy(&source, to, files)
    }

    /// Copies a file to the name that it has next to the model.
    fn by_its_name(self, location: &str, files: &mut NewFiles) -> Result<()> {
        let to = &folder_of(self.new_model).join(location);
        let source = Folder::of(self.model).file(location)?;
        if let Ok(old) = to.symlink_metadata() {
            if old.is_file() && is_same(&source, to)? {
                return Ok(());
            }
            return Err(refused(Kind::Io, to, ANOTHER));
        }
        // Names that begin with a dot are settings of programs.
        if Path::new(location).iter().any(|name| name != "." && name.as_encoded_bytes().starts_with(b".")) {
            let why = "the name begins with a dot, expected one that does not";
            return Err(refused(Kind::Unsupported, to, why));
        }
        // Folders below the model's are the constants' own; the model's must be there.
        let mut folder = folder_of(self.new_model).to_owned();
        for name in Path::new(location).parent().iter().flat_map(|parent| parent.iter()) {
            folder.push(name);
            match folder.symlink_metadata() {
                Ok(old) if old.is_dir() => {}
                Ok(_) => {
                    let why = "the folder of this name is a link or a file, expected a folder";
                    return Err(refused(Kind::Io, to, why));
                }
                Err(_) => std::fs::create_dir(&folder).map_err(|error| cannot_write(&folder, error))?,
            }
        }
        self.copy(&source, to, files)
    }

    fn copy(self, source: &File, to: &Path, files: &mut NewFiles) -> Result<()> {
        let bytes = source.metadata().map_or(0, |of| of.len()).into();
        files.create_of(to, bytes, |out| {
            OutputFile { out, path: to, limits: self.limits }.copy(source, u64::MAX).map(drop)
        })
    }
}

fn refused(kind: Kind, to: &Path, why: &str) -> Error {
    Error::new(kind, format!("cannot copy the model's constants: {why}")).in_file(to.display())
}

/// Compares a file, from its beginning, with one of a name.
fn is_same(a: &File, path: &Path) -> Result<bool> {
    let same = || {
        let b = open_regular(path)?;
        if a.metadata()?.len() != b.metadata()?.len() {
            return Ok(false);
        }
        let (mut from_a, mut from_b) = (Vec::new(), Vec::new());
        loop {
            // Unlike `read`, it goes on when a signal interrupts it.
            for (mut file, bytes) in [(a, &mut from_a), (&b, &mut from_b)] {
                bytes.clear();
                Read::by_ref(&mut file).take(1 << 20).read_to_end(bytes)?;
            }
            if from_a != from_b || from_a.is_empty() {
                return Ok(from_a == from_b);
            }
        }
    };
    same().map_err(|error| cannot_read(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_constants_go_along_and_replace_no_others() {
        let root = std::env::temp_dir().join(format!("gradus-save-{}", std::process::id()));
        let (from, to) = (root.join("from/w.bin"), root.join("to"));
        std::fs::create_dir_all(root.join("from")).unwrap();
        std::fs::create_dir_all(&to).unwrap();
        std::fs::write(&from, b"weights").unwrap();
        let copy = |folder: &Path, location: &str| {
            let (model, new_model) = (&*root.join("from/m.onnx"), &*folder.join("m.onnx"));
            let mut files = NewFiles::default();
            let copy = Copy { model, new_model, limits: Limits::DEFAULT };
            if !copy.is_there(location) {
                copy.by_its_name(location, &mut files)?;
            }
            files.commit()
        };
        std::fs::create_dir_all(root.join("from/deep")).unwrap();
        std::fs::write(root.join("from/deep/w.bin"), b"weights").unwrap();
        copy(&to, "deep/w.bin").unwrap();
        assert_eq!(std::fs::read(to.join("deep/w.bin")).unwrap(), b"weights");
        // The same file is kept, and so is one that has the wanted content.
        copy(&root.join("from"), "w.bin").unwrap();
        copy(&to, "deep/w.bin").unwrap();
        std::fs::write(to.join("w.bin"), b"another").unwrap();
        let error = copy(&to, "w.bin").unwrap_err();
        assert!(error.message().contains("there is another file of this name"), "{error}");
        assert_eq!(std::fs::read(to.join("w.bin")).unwrap(), b"another");
        // No folder is made for the model itself.
        assert!(copy(&root.join("nowhere"), "w.bin").is_err());
        assert!(!root.join("nowhere").exists());
        std::fs::remove_dir_all(root).unwrap();
    }
}
