//! Writing models: what was read, with its changes, into a file beside which the files of its
//! constants lie.
//!
//! Long parts of the source are copied from file to file by the system, so weights pass through no
//! memory of ours.

use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use gradus_core::convert::{u64_of, usize_of};
use gradus_core::graph::Standard;
use gradus_core::graph::edit::Edit;
use gradus_core::{Error, Kind, Limits, Result};
use gradus_formats::{Files, Part, Splice, onnx, openvino};

use crate::files::{Folder, NewFiles, Spliced, cannot_read, cannot_write, folder_of, map, open_regular};
use crate::model::{Model, OpenOptions};

/// Parts from this length on are copied by the system.
const LONG: usize = 1 << 16;
/// Bytes that are copied between two looks at the deadline.
const AT_ONCE: u64 = 1 << 26;

impl Model {
    /// Writes the model that an edit makes of it, and says how many bytes that are. Files of
    /// constants of an ONNX model are copied beside it, unless they are there or `path` is a pipe
    /// or a device; constants of an OpenVINO model are written into a `.bin` file with the name of
    /// the `.xml` file. All is written as [`NewFiles`] says.
    ///
    /// # Errors
    /// [`Kind::Io`] if a file cannot be read or written, or if another file has the name of one of
    /// constants; [`Kind::Unsupported`] if models like it are not written, or a file of constants
    /// has a name that begins with a dot; [`Kind::Usage`] if `path` has not the ending of its
    /// format, or is a file of the model's own constants. Any error of reading the written model,
    /// which is read before it gets its name.
    pub fn save_edited(&self, edit: &Edit, path: impl AsRef<Path>) -> Result<u64> {
        let path = path.as_ref();
        let (bytes, _) = self.file_of()?;
        if self.source().standard == Standard::OpenVino {
            let (written, bin) = self.rewritten(edit)?;
            read_again(&written.xml.to_bytes(bytes).into(), Arc::new(Spliced::new(&written.bin, &bin)))?;
            return self.save_pair(&written.xml, bytes, &ConstantFiles::Spliced(&written.bin, &bin), path);
        }
        let splice = onnx::edit_model(bytes, self.source(), edit)?;
        self.save_splice(&splice, bytes, path)
    }

    /// Writes the model, and says how many bytes that are: what was read as it is, what was made in
    /// memory as [`Model::to_onnx`] or [`openvino::encode_model`] says. Files of constants go with
    /// it as [`Model::save_edited`] says.
    ///
    /// # Errors
    /// As [`Model::save_edited`] and [`Model::to_onnx`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<u64> {
        let path = path.as_ref();
        let is_ir = self.source().standard == Standard::OpenVino;
        if self.bytes().is_some() {
            let (bytes, files) = self.file_of()?;
            let splice = Splice::whole(bytes.len());
            if is_ir {
                // Without constants, there need not be a file of them.
                let parts = files.parts(self.beside()).or_else(|_| {
                    self.rewritten(&Edit::keeping(0..self.graph().nodes().len())).map(|_| Vec::new())
                })?;
                return self.save_pair(&splice, bytes, &ConstantFiles::Parts(&parts), path);
            }
            return self.save_splice(&splice, bytes, path);
        }
        if is_ir {
            let written = openvino::encode_model(self.source())?;
            let none = Bytes::new();
            return self.save_pair(&written.xml, &none, &ConstantFiles::Spliced(&written.bin, &none), path);
        }
        let bytes = self.to_onnx()?;
        self.check_output(path)?;
        let mut files = NewFiles::default();
        files.create(path, |out| out.write_all(&bytes).map_err(|error| cannot_write(path, error)))?;
        files.commit()?;
        Ok(u64_of(bytes.len()))
    }

    /// Writes the two files of an OpenVINO model: each is the old one or the new one, and the
    /// `.xml` file, which a reader opens first, is the last to be replaced.
    fn save_pair(
        &self,
        xml: &Splice,
        text: &Bytes,
        constants: &ConstantFiles<'_>,
        path: &Path,
    ) -> Result<u64> {
        if Standard::of_file(path) != Some(Standard::OpenVino) {
            let message =
                "a model of OpenVINO is written to a file that ends in .xml, with a .bin file beside it";
            return Err(Error::new(Kind::Usage, message).in_file(path.display()));
        }
        self.check_output(path)?;
        let beside = path.with_extension("bin");
        // Beside a .xml file it is that model's; without one it is somebody else's.
        if (beside.exists() && !path.exists()) || self.spares(&beside) {
            let message = "there is another file of this name, and the model's constants would replace it; \
                           choose another name or folder for the model";
            return Err(Error::new(Kind::Io, message).in_file(beside.display()));
        }
        let limits = self.limits();
        let mut files = NewFiles::default();
        let mut len = xml.len();
        files.create(&beside, |out| {
            let mut output = Output { out, path: &beside, limits };
            match constants {
                ConstantFiles::Spliced(splice, source) => {
                    len += splice.len();
                    let old = self.unedited_path().and_then(|path| Folder::of(path).file(self.beside()).ok());
                    output.splice(splice, source, same_file(old, source).as_ref())
                }
                ConstantFiles::Parts(parts) => parts.iter().try_for_each(|part| {
                    len += part.len();
                    output.bytes(part)
                }),
            }
        })?;
        files.create(path, |out| Output { out, path, limits }.splice(xml, text, None))?;
        files.commit()?;
        Ok(u64_of(len))
    }

    /// The files beside an ONNX model that have its constants.
    pub(crate) fn external_files(&self) -> Result<Vec<PathBuf>> {
        let file = self.bytes().zip(self.path()).filter(|_| self.source().standard == Standard::Onnx);
        let Some((bytes, path)) = file else { return Ok(Vec::new()) };
        Ok(onnx::external_files(bytes)?.iter().map(|location| folder_of(path).join(location)).collect())
    }

    /// Returns an error if a model written to `path` would replace constants of this one, or of the
    /// one that it was converted from.
    ///
    /// # Errors
    /// [`Kind::Usage`] if so.
    pub fn check_output(&self, path: &Path) -> Result<()> {
        let real = |path: &Path| path.canonicalize().ok();
        let is_own = || Ok::<_, Error>(self.external_files()?.iter().any(|own| real(own) == real(path)));
        if real(path).is_some() && (self.spares(path) || is_own()?) {
            let message =
                "cannot write: the file has constants of the model that was read, expected another name";
            return Err(Error::new(Kind::Usage, message).in_file(path.display()));
        }
        Ok(())
    }

    fn save_splice(&self, splice: &Splice, bytes: &Bytes, path: &Path) -> Result<u64> {
        self.check_output(path)?;
        let limits = self.limits();
        let mut files = NewFiles::default();
        // Nothing lies beside a pipe or a device.
        let is_file = std::fs::metadata(path).map_or(true, |old| old.is_file());
        for location in onnx::external_files(bytes)?.into_iter().filter(|_| is_file) {
            let from = self.path().ok_or_else(|| {
                Error::new(Kind::Io, format!("constants are in \"{location}\", but the model has no folder"))
            })?;
            copy_beside(&mut files, from, path, &location, limits)?;
        }
        let source = self.unedited_path().and_then(|path| open_regular(path).ok());
        let source = same_file(source, bytes);
        files.create(path, |out| Output { out, path, limits }.splice(splice, bytes, source.as_ref()))?;
        if let (Some(written), (_, beside)) = (files.last(), self.file_of()?) {
            read_again(&map(written)?, beside.clone())?;
        }
        files.commit()?;
        Ok(u64_of(splice.len()))
    }
}

/// The file of constants that is to be written.
enum ConstantFiles<'a> {
    /// Parts of that one, and new ones.
    Spliced(&'a Splice, &'a Bytes),
    Parts(&'a [Bytes]),
}

/// Reads a model that was written: readers are lenient about what no output needs, but the edit may
/// need it.
fn read_again(bytes: &Bytes, files: Arc<dyn Files>) -> Result<()> {
    // It is as large as the model that was read within the limits.
    let mut limits = Limits::DEFAULT;
    limits.max_bytes = u64::MAX;
    OpenOptions::new().limits(limits).with_files(bytes, "", files).map(drop).map_err(|error| {
        Error::new(error.kind(), format!("cannot write the model: it could not be read again: {error}"))
    })
}

/// The file that was mapped, if it still is as long.
fn same_file(file: Option<File>, bytes: &Bytes) -> Option<File> {
    file.filter(|file| file.metadata().is_ok_and(|file| file.len() == u64_of(bytes.len())))
}

/// A file that is written until the deadline.
struct Output<'a> {
    out: &'a mut BufWriter<File>,
    path: &'a Path,
    limits: Limits,
}

impl Output<'_> {
    fn splice(&mut self, splice: &Splice, bytes: &Bytes, source: Option<&File>) -> Result<()> {
        for part in splice.parts() {
            match (part, source) {
                (Part::Fresh(bytes), _) => self.bytes(bytes)?,
                (Part::Source(range), Some(mut source)) if range.len() >= LONG => {
                    let sought = source.seek(SeekFrom::Start(u64_of(range.start)));
                    sought.map_err(|error| cannot_write(self.path, error))?;
                    if self.copy(source, u64_of(range.len()))? != u64_of(range.len()) {
                        let message = "the model's file became shorter while it was copied";
                        return Err(cannot_write(self.path, std::io::Error::other(message)));
                    }
                }
                (Part::Source(range), _) => self.bytes(&bytes[range])?,
            }
        }
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        for bytes in bytes.chunks(usize_of(AT_ONCE)) {
            self.limits.check()?;
            self.out.write_all(bytes).map_err(|error| cannot_write(self.path, error))?;
        }
        Ok(())
    }

    /// Copies at most so many bytes by the system, and returns how many there were.
    fn copy(&mut self, mut source: &File, most: u64) -> Result<u64> {
        let fail = |error| cannot_write(self.path, error);
        self.out.flush().map_err(fail)?;
        let mut copied = 0;
        loop {
            self.limits.check()?;
            let part = &mut Read::by_ref(&mut source).take(AT_ONCE.min(most - copied));
            let count = std::io::copy(part, self.out.get_mut()).map_err(fail)?;
            copied += count;
            if count == 0 {
                return Ok(copied);
            }
        }
    }
}

/// Copies a file of constants of a model to where a new model looks for it.
fn copy_beside(
    files: &mut NewFiles,
    model: &Path,
    new_model: &Path,
    location: &str,
    limits: Limits,
) -> Result<()> {
    let [from, to] = &[model, new_model].map(|model| folder_of(model).join(location));
    let refused = |kind, message: &str| {
        let message = format!("cannot copy the model's constants: {message}");
        Err(Error::new(kind, message).in_file(to.display()))
    };
    let real = |path: &Path| path.canonicalize().ok();
    // The new model may look through no link that leads out of its folder.
    if real(to) == real(from) && Folder::of(new_model).file(location).is_ok() {
        return Ok(());
    }
    let source = Folder::of(model).file(location)?;
    if let Ok(old) = to.symlink_metadata() {
        if old.is_file() && same_content(&source, to).map_err(|error| cannot_read(to, error))? {
            return Ok(());
        }
        return refused(
            Kind::Io,
            "there is another file of this name, expected none; choose another folder for the model",
        );
    }
    // Names that begin with a dot are settings of programs.
    if Path::new(location).iter().any(|name| name != "." && name.as_encoded_bytes().starts_with(b".")) {
        return refused(Kind::Unsupported, "the name begins with a dot, expected one that does not");
    }
    // Folders below the model's are the constants' own; the model's must be there.
    let mut folder = folder_of(new_model).to_owned();
    for name in Path::new(location).parent().iter().flat_map(|parent| parent.iter()) {
        folder.push(name);
        match folder.symlink_metadata() {
            Ok(old) if old.is_dir() => {}
            Ok(_) => {
                return refused(Kind::Io, "the folder of this name is a link or a file, expected a folder");
            }
            Err(_) => std::fs::create_dir(&folder).map_err(|error| cannot_write(&folder, error))?,
        }
    }
    files.create(to, |out| Output { out, path: to, limits }.copy(&source, u64::MAX).map(drop))
}

/// Compares a file, from its beginning, with one of a name.
fn same_content(a: &File, b: &Path) -> std::io::Result<bool> {
    let b = open_regular(b)?;
    if a.metadata()?.len() != b.metadata()?.len() {
        return Ok(false);
    }
    let (mut from_a, mut from_b) = (Vec::new(), Vec::new());
    loop {
        // Unlike `read`, it goes on when a signal interrupts it.
        for (file, bytes) in [(a, &mut from_a), (&b, &mut from_b)] {
            bytes.clear();
            file.take(1 << 20).read_to_end(bytes)?;
        }
        if from_a != from_b || from_a.is_empty() {
            return Ok(from_a == from_b);
        }
    }
}

#[cfg(test)]
mod tests {
    use gradus_formats::InMemory;

    use super::*;

    #[test]
    fn files_of_constants_go_along_and_replace_no_others() {
        let root = std::env::temp_dir().join(format!("gradus-save-{}", std::process::id()));
        let (from, to) = (root.join("from/w.bin"), root.join("to"));
        std::fs::create_dir_all(root.join("from")).unwrap();
        std::fs::create_dir_all(&to).unwrap();
        std::fs::write(&from, b"weights").unwrap();
        let copy = |folder: &Path, location: &str| {
            let mut files = NewFiles::default();
            copy_beside(
                &mut files,
                &root.join("from/m.onnx"),
                &folder.join("m.onnx"),
                location,
                Limits::DEFAULT,
            )?;
            files.commit()
        };
        std::fs::create_dir_all(root.join("from/deep")).unwrap();
        std::fs::write(root.join("from/deep/w.bin"), b"weights").unwrap();
        copy(&to, "deep/w.bin").unwrap();
        assert_eq!(std::fs::read(to.join("deep/w.bin")).unwrap(), b"weights");
        // The same file, or one that is as it should be, stays.
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

    #[test]
    fn what_cannot_be_read_again_says_so() {
        let error = read_again(&Bytes::from_static(b"<net>"), Arc::new(InMemory::default())).unwrap_err();
        assert_eq!(error.kind(), Kind::Syntax);
        assert!(
            error.to_string().starts_with("cannot write the model: it could not be read again: "),
            "{error}"
        );
    }
}
