//! Writing models: what was read, with its changes, into a file next to the files of its constants.
//!
//! Long parts of mapped files are copied from file to file by the system, so weights pass through
//! no memory of ours.

mod beside;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use beside::RenamedFiles;
use bytes::Bytes;
use gradus_core::convert::{product, u64_of, usize_of};
use gradus_core::graph::edit::Renames;
use gradus_core::graph::{self, Standard};
use gradus_core::{Error, Kind, Limits, Result};
use gradus_formats::{Files, Part, Splice, onnx, openvino};

use crate::edit::{Beside, with_file};
use crate::encode::MAX_BYTES;
use crate::files::{NewFiles, Spliced, cannot_write, folder_of, map, origin};
use crate::model::{Model, OpenOptions};

/// Parts from this length on are copied by the system.
const LONG: usize = 1 << 16;
/// Bytes that are copied between two looks at the deadline.
const AT_ONCE: u64 = 1 << 26;

impl Model {
    /// Writes its file with the graphs of a model that was [made of it](Model::fold), and returns
    /// the number of bytes. Files of constants of an ONNX model are copied next to it as
    /// `m.onnx.data`, `m.onnx.2.data`, … where it is `m.onnx`, unless they are there or `path` is a
    /// pipe or a device; [`Model::keep_names`] keeps the names that the model gives them. Constants
    /// of an OpenVINO model are written into a `.bin` file with the name of the `.xml` file. All is
    /// written as [`NewFiles`] says.
    ///
    /// # Errors
    /// [`Kind::Io`] if a file cannot be read or written, or if another file has the name of one of
    /// constants; [`Kind::Unsupported`] if models like it are not written, or a file of constants
    /// has a name that begins with a dot; [`Kind::Usage`] if `path` has not the ending of its
    /// format, or is a file of the model's own constants. Any error of reading the written model,
    /// which is read before it gets its name.
    pub fn save_edited(&self, to: &graph::Model, path: impl AsRef<Path>) -> Result<u64> {
        self.save_edited_with(to, &Renames::new(), path.as_ref())
    }

    /// The same; `names` are new names of values of the main graph.
    pub(crate) fn save_edited_with(&self, to: &graph::Model, names: &Renames, path: &Path) -> Result<u64> {
        if self.bytes().is_none() {
            return self.edited_with(to, names)?.save(path);
        }
        let (bytes, _) = self.file_of()?;
        if self.source().standard == Standard::OpenVino {
            let (written, bin) = self.rewritten(to, names)?;
            self.read_again(&written.xml.to_bytes(bytes)?, Arc::new(Spliced::new(&written.bin, &bin)))?;
            return self.save_pair(&written.xml, bytes, &ConstantFiles::Spliced(&written.bin, &bin), path);
        }
        self.save_spliced(&onnx::edit_model(bytes, self.source(), to)?, &Beside::Own, path)
    }

    /// Writes the model, and says how many bytes that are: what was read as it is, what was made in
    /// memory as [`Model::to_onnx`] or [`openvino::encode_model`] says, but for ONNX of 2^31 bytes
    /// or more, whose long constants are in `m.onnx.data` next to `m.onnx`. Files of constants go
    /// with it as [`Model::save_edited`] says.
    ///
    /// # Errors
    /// As [`Model::save_edited`] and [`Model::to_onnx`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<u64> {
        let path = path.as_ref();
        let is_ir = self.source().standard == Standard::OpenVino;
        if self.bytes().is_some() {
            if is_ir {
                let (bytes, files) = self.file_of()?;
                let splice = Splice::whole(bytes.len());
                // Without constants, there need not be a file of them.
                let parts = files
                    .parts(self.beside())
                    .or_else(|_| self.rewritten(self.source(), &Renames::new()).map(|_| Vec::new()))?;
                return self.save_pair(&splice, bytes, &ConstantFiles::Parts(&parts), path);
            }
            let (bytes, _) = self.file_of()?;
            return self.save_spliced(&Splice::whole(bytes.len()), &Beside::Own, path);
        }
        if is_ir {
            let written = openvino::encode_model(self.source())?;
            let none = Bytes::new();
            return self.save_pair(&written.xml, &none, &ConstantFiles::Spliced(&written.bin, &none), path);
        }
        self.save_made(path, MAX_BYTES)
    }

    /// Writes an ONNX model that was made in memory; where the file would have more than `most`
    /// bytes, with its long constants in a file next to it.
    fn save_made(&self, path: &Path, most: usize) -> Result<u64> {
        let model = self.portable_model()?;
        let mut written = onnx::encode_model(&model)?;
        self.check_output(path)?;
        let (mut files, limits, none) = (NewFiles::default(), self.limits(), Bytes::new());
        let mut len = written.len();
        if written.len() > most {
            let name = beside::name_of_data(path, 0);
            let (encoded, data) = onnx::encode_model_beside(&model, &name)?;
            if encoded.len() > most {
                let what = "cannot write ONNX: number of bytes without long constants";
                let wanted = format_args!("at most {most}");
                return Err(Error::mismatch(Kind::Limit, what, encoded.len(), wanted));
            }
            let to = &folder_of(path).join(&name);
            self.check_output(to)?;
            beside::check_replaced(path, &name)?;
            files.create_of(to, bytes_of(&data), |out| {
                OutputFile { out, path: to, limits }.splice(&data, &none)
            })?;
            len = encoded.len() + data.len();
            written = encoded;
        }
        files.create_of(path, bytes_of(&written), |out| {
            OutputFile { out, path, limits }.splice(&written, &none)
        })?;
        files.commit()?;
        Ok(u64_of(len))
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
                "a model of OpenVINO is written to a file that ends in .xml, with a .bin file next to it";
            return Err(Error::new(Kind::Usage, message).in_file(path.display()));
        }
        self.check_output(path)?;
        let beside = path.with_extension("bin");
        // Next to a .xml file it is that model's; without one it is somebody else's.
        if (beside.exists() && !path.exists()) || self.spares(&beside) {
            let message = "there is another file of this name, and the model's constants would replace it; \
                           choose another name or folder for the model";
            return Err(Error::new(Kind::Io, message).in_file(beside.display()));
        }
        let limits = self.limits();
        let mut files = NewFiles::default();
        let of_constants = match constants {
            ConstantFiles::Spliced(splice, _) => splice.len(),
            ConstantFiles::Parts(parts) => parts.iter().map(Bytes::len).sum(),
        };
        let len = xml.len() + of_constants;
        files.create_of(&beside, product(of_constants, 1), |out| {
            let mut output = OutputFile { out, path: &beside, limits };
            match constants {
                ConstantFiles::Spliced(splice, source) => output.splice(splice, source),
                ConstantFiles::Parts(parts) => parts.iter().try_for_each(|part| output.bytes(part)),
            }
        })?;
        files.create_of(path, bytes_of(xml), |out| OutputFile { out, path, limits }.splice(xml, text))?;
        files.commit()?;
        Ok(u64_of(len))
    }

    /// The files next to an ONNX model that have its constants.
    pub(crate) fn external_files(&self) -> Result<Vec<PathBuf>> {
        let file = self.bytes().zip(self.path()).filter(|_| self.source().standard == Standard::Onnx);
        let Some((bytes, path)) = file else { return Ok(Vec::new()) };
        Ok(onnx::external_files(bytes)?.iter().map(|location| folder_of(path).join(location)).collect())
    }

    /// The files of all formats that have its constants, next to the model.
    pub(crate) fn constant_files(&self) -> Result<Vec<PathBuf>> {
        let mut files = self.external_files()?;
        if let Some(path) = self.path().filter(|_| self.source().standard != Standard::Onnx) {
            files.push(folder_of(path).join(self.beside()));
        }
        Ok(files)
    }

    /// Returns an error if a model written to `path` would replace constants of this one, or of the
    /// one that it was converted from.
    ///
    /// # Errors
    /// [`Kind::Usage`] if so.
    pub fn check_output(&self, path: &Path) -> Result<()> {
        self.check_apart(path, &self.external_files()?)
    }

    /// Returns an error if a file that is no model, written to `path`, would replace this model or
    /// its constants, or those of the one that it was converted from.
    ///
    /// # Errors
    /// [`Kind::Usage`] if so.
    pub fn check_other_output(&self, path: &Path) -> Result<()> {
        let is_own = self.path().is_some_and(|own| is_same(own, path));
        if is_own {
            let message = "cannot write: the file is the model that was read, expected another name";
            return Err(Error::new(Kind::Usage, message).in_file(path.display()));
        }
        self.check_apart(path, &self.constant_files()?)
    }

    fn check_apart(&self, path: &Path, own: &[PathBuf]) -> Result<()> {
        if self.spares(path) || own.iter().any(|own| is_same(own, path)) {
            let message =
                "cannot write: the file has constants of the model that was read, expected another name";
            return Err(Error::new(Kind::Usage, message).in_file(path.display()));
        }
        Ok(())
    }

    /// Writes the ONNX model that a splice makes of the file, and the files of constants that it
    /// needs next to it.
    pub(crate) fn save_spliced(&self, splice: &Splice, beside: &Beside, path: &Path) -> Result<u64> {
        self.check_output(path)?;
        let limits = self.limits();
        let (bytes, sources_files) = self.file_of()?;
        let mut files = NewFiles::default();
        // A model that is made of others has their files of constants too.
        let read = if self.spared().is_empty() {
            bytes.clone()
        } else {
            limits.allow_bytes(0, u128::from(u64_of(splice.len())))?;
            splice.to_bytes(bytes)?
        };
        let names = match beside {
            Beside::Own => beside::copied(self, &read, path, &mut files)?,
            Beside::Nothing => BTreeMap::new(),
            Beside::File(name, content) => {
                let to = &folder_of(path).join(name);
                self.check_output(to)?;
                beside::check_replaced(path, name)?;
                let none = Bytes::new();
                files.create_of(to, bytes_of(content), |out| {
                    OutputFile { out, path: to, limits }.splice(content, &none)
                })?;
                BTreeMap::new()
            }
        };
        let sources_files = &with_file(sources_files, beside);
        let mut splice = splice.clone();
        if !names.is_empty() {
            limits.allow_bytes(0, u128::from(u64_of(splice.len())))?;
            let edited = splice.to_bytes(bytes)?;
            let renamed = onnx::rename_external_files(&edited, |location| names.get(location).cloned())?;
            splice = renamed.after(&splice);
        }
        files.create_of(path, bytes_of(&splice), |out| {
            OutputFile { out, path, limits }.splice(&splice, bytes)
        })?;
        if let Some(written) = files.last() {
            self.read_again(&map(written)?, Arc::new(RenamedFiles { files: sources_files.clone(), names }))?;
        }
        files.commit()?;
        Ok(u64_of(splice.len()))
    }

    /// Reads a model that was written: readers are lenient about what no output needs, but the edit
    /// may need it.
    fn read_again(&self, bytes: &Bytes, files: Arc<dyn Files>) -> Result<()> {
        // It is as large as the model that was read within the limits.
        let mut limits = Limits::DEFAULT;
        limits.max_bytes = u64::MAX;
        OpenOptions::new().limits(limits).read_edited(bytes, files, self.source()).map(drop).map_err(
            |error| {
                Error::new(
                    error.kind(),
                    format!("cannot write the model: it could not be read again: {error}"),
                )
            },
        )
    }
}

/// The number of bytes that are written of a splice.
fn bytes_of(splice: &Splice) -> u128 {
    product(splice.len(), 1)
}

/// Returns true if two paths lead to one file that exists.
pub(crate) fn is_same(a: &Path, b: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    real(a).is_some_and(|real_a| real(b) == Some(real_a))
}

/// The file of constants that is to be written.
enum ConstantFiles<'a> {
    /// Parts of that one, and new ones.
    Spliced(&'a Splice, &'a Bytes),
    Parts(&'a [Bytes]),
}

/// A file that is written until the deadline.
struct OutputFile<'a> {
    out: &'a mut BufWriter<File>,
    path: &'a Path,
    limits: Limits,
}

impl OutputFile<'_> {
    fn splice(&mut self, splice: &Splice, source: &Bytes) -> Result<()> {
        splice.parts().try_for_each(|part| match part {
            Part::Fresh(bytes) => self.bytes(bytes),
            Part::Source(range) => self.bytes(&source[range]),
        })
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        for bytes in bytes.chunks(usize_of(AT_ONCE)) {
            self.limits.check()?;
            let copied = if bytes.len() < LONG { 0 } else { self.copy_mapped(bytes)? };
            self.out.write_all(&bytes[copied..]).map_err(|error| cannot_write(self.path, error))?;
        }
        Ok(())
    }

    /// Copies bytes of a mapped file by the system, and returns how many there were: none if the
    /// files are on no such systems.
    #[cfg(target_os = "linux")]
    fn copy_mapped(&mut self, bytes: &[u8]) -> Result<usize> {
        let Some((source, mut from)) = origin(bytes) else { return Ok(0) };
        let fail = |error| cannot_write(self.path, error);
        self.out.flush().map_err(fail)?;
        let (out, mut copied) = (self.out.get_ref(), 0);
        while copied < bytes.len() {
            let rest = bytes.len() - copied;
            match rustix::fs::copy_file_range(&*source, Some(&mut from), out, None, rest) {
                Ok(0) => {
                    let message = "the model's file became shorter while it was copied";
                    return Err(fail(std::io::Error::other(message)));
                }
                Ok(count) => copied += count,
                Err(_) => break,
            }
        }
        Ok(copied)
    }

    #[cfg(not(target_os = "linux"))]
    fn copy_mapped(&mut self, _: &[u8]) -> Result<usize> {
        Ok(0)
    }

    /// Copies at most `most` bytes by the system, and returns their number.
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

#[cfg(test)]
mod tests {
    use gradus_core::graph::{self, Builder, Origin, Type};
    use gradus_core::{DType, Shape, Tensor};
    use gradus_formats::InMemory;

    use super::*;

    /// A sum with a constant that is too long for a file, where a file has so few bytes.
    fn sum(size: usize) -> Model {
        let mut builder = Builder::new("sum");
        let of = Type::tensor(DType::F32, &Shape::vector(size));
        let x = builder.define("x", Origin::Input).unwrap();
        builder.info(x).declared = Some(of);
        builder.constant("w", Tensor::vector(&vec![2f32; size]).into()).unwrap();
        builder.apply("add", "Add", 14, &["x", "w"], &["y"], vec![]).unwrap();
        builder.output("y");
        let mut source = graph::Model::new(Standard::Onnx);
        source.opsets = vec![("".into(), 14)];
        source.graph = builder.finish().unwrap();
        Model::from_source(source)
    }

    #[test]
    fn constants_that_no_file_holds_lie_beside_it() {
        const SIZE: usize = 2000;
        let folder = std::env::temp_dir().join(format!("gradus-beside-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (path, data) = (folder.join("m.onnx"), folder.join("m.onnx.data"));
        let model = sum(SIZE);
        model.save_made(&path, usize::MAX).unwrap();
        assert!(!data.exists());
        // A file of somebody else is not changed.
        std::fs::write(&data, "mine").unwrap();
        assert_eq!(model.save_made(&path, 1000).unwrap_err().kind(), Kind::Io);
        assert_eq!(std::fs::read(&data).unwrap(), b"mine");
        std::fs::remove_file(&data).unwrap();
        // The second time replaces the first.
        for _ in 0..2 {
            model.save_made(&path, 1000).unwrap();
            assert!(std::fs::metadata(&path).unwrap().len() < 1000);
            assert_eq!(std::fs::metadata(&data).unwrap().len(), u64_of(4 * SIZE));
            let outputs = Model::open(&path).unwrap().run([("x", Tensor::vector(&[1f32; SIZE]))]).unwrap();
            assert_eq!(outputs["y"].tensor().unwrap().elements::<f32>().unwrap()[..], [3.0; SIZE]);
        }
        assert_eq!(model.save_made(&path, 10).unwrap_err().kind(), Kind::Limit);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_cannot_be_read_again_says_so() {
        let model = Model::from_source(graph::Model::new(Standard::Onnx));
        let error =
            model.read_again(&Bytes::from_static(b"<net>"), Arc::new(InMemory::default())).unwrap_err();
        assert_eq!(error.kind(), Kind::Syntax);
        assert!(
            error.to_string().starts_with("cannot write the model: it could not be read again: "),
            "{error}"
        );
    }
}
