//! Parameters: tensors in the `.pdiparams` file, one after the other in the order of their names.
//!
//! Each is, all numbers little-endian: a version (u32, 0); the number of levels of detail (u64),
//! each a length in bytes (u64) and that many bytes; a version (u32, 0); the length (i32) of a
//! `TensorDesc` message, the message; the elements.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use gradus_core::convert::{low_u64, usize_of};
use gradus_core::error::Position;
use gradus_core::graph::{Constant, Stored};
use gradus_core::sort::SharedSort;
use gradus_core::tensor::byte_len;
use gradus_core::{DType, Error, Kind, Result, Shape, Tensor};

use super::fields::var_type_tensor_desc as desc;
use super::types::dtype_of;
use crate::files::Files;
use crate::wire::ByteSpan;

/// The parameters of a program.
#[derive(Debug)]
pub(super) struct ParameterFile {
    path: String,
    files: Arc<dyn Files>,
    /// By name: what the program declares.
    wanted: Vec<WantedParameter>,
    found: OnceLock<Result<Vec<Tensor>>>,
}

/// A parameter that a program declares.
#[derive(Debug)]
pub(super) struct WantedParameter {
    pub(super) name: String,
    pub(super) dtype: DType,
    pub(super) shape: Shape,
    pub(super) position: Position,
}

/// A parameter that will be read from the file.
#[derive(Debug)]
struct Parameter {
    all: Arc<ParameterFile>,
    index: usize,
}

/// Constants of the parameters, by name.
pub(super) fn constants(
    path: &str,
    files: &Arc<dyn Files>,
    mut wanted: Vec<WantedParameter>,
) -> impl Iterator<Item = (String, Constant)> {
    wanted.shared_sort_by(|a, b| a.name.cmp(&b.name));
    let named: Vec<_> =
        wanted.iter().map(|wanted| (wanted.name.clone(), wanted.dtype, wanted.shape.clone())).collect();
    let all = ParameterFile { path: path.to_owned(), files: files.clone(), wanted, found: OnceLock::new() };
    let all = Arc::new(all);
    named.into_iter().enumerate().map(move |(index, (name, dtype, shape))| {
        (name, Constant::stored(dtype, shape, Arc::new(Parameter { all: all.clone(), index })))
    })
}

impl Stored for Parameter {
    fn load(&self) -> Result<Tensor> {
        let load = || match self.all.found.get_or_init(|| self.all.read()) {
            Ok(tensors) => tensors
                .get(self.index)
                .cloned()
                .ok_or_else(|| Error::new(Kind::Syntax, "the file of parameters has no such parameter")),
            Err(error) => Err(error.clone()),
        };
        load().map_err(|error| match self.all.wanted.get(self.index) {
            Some(wanted) => error.in_node(format!("parameter \"{}\"", wanted.name)).at(wanted.position),
            None => error,
        })
    }
}

impl ParameterFile {
    fn read(&self) -> Result<Vec<Tensor>> {
        let file = self.files.open(&self.path)?;
        self.tensors(&file).map_err(|error| error.in_file(&self.path))
    }

    fn tensors(&self, file: &Bytes) -> Result<Vec<Tensor>> {
        let mut reader = ParameterReader { file: ByteSpan::of(file), at: 0 };
        let tensors = self.wanted.iter().map(|wanted| {
            let of = |error: Error| error.map_message(|m| format!("parameter \"{}\": {m}", wanted.name));
            reader.tensor(wanted).map_err(of)
        });
        let tensors = tensors.collect::<Result<_>>()?;
        let left = file.len() - reader.at;
        if left > 0 {
            let count = self.wanted.len();
            let message = format!("{left} bytes follow the last of {count} parameters");
            return Err(Error::new(Kind::Syntax, message).at(reader.position()));
        }
        Ok(tensors)
    }
}

/// Goes over a file of parameters.
struct ParameterReader<'a> {
    file: ByteSpan<'a>,
    at: usize,
}

impl<'a> ParameterReader<'a> {
    fn position(&self) -> Position {
        Position::Byte(gradus_core::convert::u64_of(self.at))
    }

    fn take(&mut self, len: u128) -> Result<ByteSpan<'a>> {
        let left = self.file.len().saturating_sub(self.at);
        let part = usize::try_from(len).ok().and_then(|len| self.file.part(self.at, len));
        let part = part.ok_or_else(|| {
            let what = "the number of bytes that follow";
            Error::mismatch(Kind::Syntax, what, left, format_args!("at least {len}")).at(self.position())
        })?;
        self.at += part.len();
        Ok(part)
    }

    fn number<const N: usize>(&mut self) -> Result<u64> {
        let bytes = self.take(u128::from(gradus_core::convert::u64_of(N)))?.bytes();
        let mut all = [0; 8];
        all.iter_mut().zip(bytes.iter()).for_each(|(to, from)| *to = *from);
        Ok(u64::from_le_bytes(all))
    }

    /// A version, of which only one is known.
    fn version(&mut self) -> Result<()> {
        let position = self.position();
        match self.number::<4>()? {
            0 => Ok(()),
            other => {
                Err(Error::new(Kind::Unsupported, format!("the version is {other}; known is 0")).at(position))
            }
        }
    }

    fn tensor(&mut self, wanted: &WantedParameter) -> Result<Tensor> {
        self.version()?;
        for _ in 0..self.number::<8>()? {
            let len = self.number::<8>()?;
            self.take(len.into())?;
        }
        self.version()?;
        let len = self.number::<4>()?;
        let message = self.take(len.into())?;
        let (mut number, mut dims) = (0, Vec::new());
        for field in message.fields() {
            let field = field?;
            match field.number {
                desc::DATA_TYPE => number = field.int()?,
                desc::DIMS => field.push_ints(&mut dims)?,
                _ => {}
            }
        }
        let fail = |kind, text| Err(message.error(kind, text));
        let Some(dtype) = dtype_of(number) else {
            return fail(Kind::Type, format!("element type is {number}, expected a number of VarType"));
        };
        let shape = Shape::from_i64(&dims)?;
        if (dtype, &shape) != (wanted.dtype, &wanted.shape) {
            let (want, at) = (wanted.dtype, &wanted.shape);
            let error = Error::mismatch(
                Kind::Syntax,
                "the stored tensor",
                format_args!("{dtype}{shape}"),
                format_args!("{want}{at}, as the program declares"),
            );
            return Err(error.at(message.position()));
        }
        let bytes = self.take(byte_len(dtype, &shape))?;
        debug_assert_eq!(usize_of(low_u64(byte_len(dtype, &shape))), bytes.len());
        Tensor::from_bytes(dtype, shape, bytes.bytes())
    }
}
