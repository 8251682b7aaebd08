//! Tensors: elements of one type in row-major order, in memory that may be shared with a mapped
//! file.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use crate::convert::{self, FromNumber, Rules, product};
use crate::dtype::{Class, DType};
use crate::element::Element;
use crate::error::{Error, Kind, Result};
use crate::exact::Number;
use crate::limits::Limits;
use crate::packed;
use crate::shape::Shape;

/// Elements of one type, with a shape.
///
/// A clone shares the memory. Numbers lie there little-endian and unpadded, at any alignment;
/// elements narrower than a byte are packed as [`crate::packed`] says.
#[derive(Clone)]
pub struct Tensor {
    dtype: DType,
    shape: Shape,
    data: Data,
    kept: Option<Arc<Kept>>,
}

/// Products of the elements of a tensor that is read again and again: packed factors, say.
#[derive(Default)]
struct Kept {
    asked: AtomicBool,
    made: OnceLock<Arc<dyn Any + Send + Sync>>,
}

#[derive(Clone)]
enum Data {
    Bytes(Bytes),
    Texts(Arc<[Box<str>]>),
}

/// Lets a typed vector be the owner of bytes.
struct Owner<T>(Vec<T>);

impl<T: Element> AsRef<[u8]> for Owner<T> {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}

/// Bytes that a tensor of that type and shape occupies; of text, without its characters.
pub fn byte_len(dtype: DType, shape: &Shape) -> u128 {
    if dtype.class() == Class::Text {
        return product(shape.len(), size_of::<Box<str>>());
    }
    product(shape.len(), dtype.bits()).div_ceil(8)
}

impl Tensor {
    /// A tensor of elements in row-major order; the vector is not copied.
    ///
    /// # Errors
    /// [`Kind::Shape`] if the shape has another number of elements.
    pub fn from_vec<T: Element>(shape: Shape, elements: Vec<T>) -> Result<Tensor> {
        check_len(&shape, elements.len())?;
        let data = Bytes::from_owner(Owner(elements));
        Ok(Tensor { dtype: T::DTYPE, shape, data: Data::Bytes(data), kept: None })
    }

    /// A tensor of one axis.
    pub fn vector<T: Element>(elements: &[T]) -> Tensor {
        Tensor {
            dtype: T::DTYPE,
            shape: Shape::vector(elements.len()),
            data: Data::Bytes(Bytes::copy_from_slice(bytemuck::cast_slice(elements))),
            kept: None,
        }
    }

    /// A tensor without axes.
    pub fn scalar<T: Element>(element: T) -> Tensor {
        Tensor { shape: Shape::SCALAR, ..Tensor::vector(&[element]) }
    }

    /// A tensor of bytes as they lie in memory, which is shared, not copied.
    ///
    /// # Errors
    /// [`Kind::Shape`] if type and shape need another number of bytes; [`Kind::Type`] for text.
    pub fn from_bytes(dtype: DType, shape: Shape, bytes: Bytes) -> Result<Tensor> {
        if dtype.class() == Class::Text {
            return Err(Error::mismatch(Kind::Type, "element type", dtype, "a type of fixed width"));
        }
        let wanted = byte_len(dtype, &shape);
        if product(bytes.len(), 1) != wanted {
            let what = format!("the byte length of {dtype}{shape}");
            return Err(Error::mismatch(Kind::Shape, what, bytes.len(), wanted));
        }
        Ok(Tensor { dtype, shape, data: Data::Bytes(bytes), kept: None })
    }

    /// A tensor of the codes of elements of at most 8 bits, one a byte; they are packed if the type
    /// is.
    ///
    /// # Errors
    /// As [`Tensor::from_bytes`].
    pub fn from_codes(dtype: DType, shape: Shape, codes: &[u8]) -> Result<Tensor> {
        check_len(&shape, codes.len())?;
        let bytes = if dtype.is_packed() { packed::pack(codes, dtype.bits()) } else { codes.to_vec() };
        Tensor::from_bytes(dtype, shape, bytes.into())
    }

    /// A tensor of text.
    ///
    /// # Errors
    /// [`Kind::Shape`] if the shape has another number of elements.
    pub fn from_text(shape: Shape, texts: Vec<Box<str>>) -> Result<Tensor> {
        check_len(&shape, texts.len())?;
        Ok(Tensor { dtype: DType::String, shape, data: Data::Texts(texts.into()), kept: None })
    }

    /// A tensor of numbers, each converted to the element type.
    ///
    /// # Errors
    /// [`Kind::Shape`] if the shape has another number of elements; [`Kind::Type`] for text.
    pub fn from_numbers(
        dtype: DType,
        shape: Shape,
        numbers: impl IntoIterator<Item = Number>,
        rules: Rules,
    ) -> Result<Tensor> {
        convert::convert_all(dtype, shape, &mut numbers.into_iter(), rules)
    }

    /// A tensor of zeros; of text, of empty text.
    ///
    /// # Errors
    /// None that a checked shape allows.
    pub fn zeros(dtype: DType, shape: Shape) -> Result<Tensor> {
        if dtype.class() == Class::Text {
            let texts = vec![Box::default(); shape.len()];
            return Tensor::from_text(shape, texts);
        }
        let len = convert::usize_of(convert::low_u64(byte_len(dtype, &shape)));
        Tensor::from_bytes(dtype, shape, vec![0; len].into())
    }

    /// The elements in the same order in another shape.
    ///
    /// # Errors
    /// [`Kind::Shape`] if the shape has another number of elements.
    pub fn reshaped(&self, shape: Shape) -> Result<Tensor> {
        if shape.len() != self.len() {
            let what = format!("cannot reshape {} to {shape}: number of elements", self.shape);
            return Err(Error::mismatch(Kind::Shape, what, self.len(), shape.len()));
        }
        Ok(Tensor { shape, ..self.clone() })
    }

    /// This tensor as one that is read again and again: see [`Tensor::kept`]. One of few elements
    /// keeps nothing.
    #[must_use]
    pub fn keeping(self) -> Tensor {
        const FEW: usize = 1 << 12;
        let kept = (self.len() >= FEW).then(Arc::default);
        Tensor { kept, ..self }
    }

    /// Makes something from the elements, once for all clones of the tensor. Nothing if the tensor
    /// keeps nothing, if it is asked for the first time, as it may be the last one, or if something of
    /// another type is kept.
    ///
    /// # Errors
    /// Errors of the function.
    pub fn kept<T: Any + Send + Sync>(
        &self,
        make: impl FnOnce() -> Result<Option<T>>,
    ) -> Result<Option<Arc<T>>> {
        let Some(kept) = &self.kept else { return Ok(None) };
        if kept.made.get().is_none() {
            if !kept.asked.swap(true, Ordering::Relaxed) {
                return Ok(None);
            }
            // Another thread may have been faster; what it made is the same.
            if let Some(made) = make()? {
                let _ = kept.made.set(Arc::new(made));
            }
        }
        Ok(kept.made.get().and_then(|made| made.clone().downcast().ok()))
    }

    /// A tensor of elements that lie at places of other tensors of one type: for each, in row-major
    /// order, which tensor and the index in it. The room for it has been allowed before.
    ///
    /// # Errors
    /// [`Kind::Type`] if the types differ, [`Kind::Shape`] if there are not as many places as the
    /// shape has elements; as [`Limits::check`].
    ///
    /// # Panics
    /// If there is no such tensor, or no such element in it.
    pub fn woven(
        sources: &[&Tensor],
        shape: Shape,
        places: impl IntoIterator<Item = (usize, usize)>,
        limits: &Limits,
    ) -> Result<Tensor> {
        let places = places.into_iter();
        let Some(first) = sources.first() else {
            return Err(Error::mismatch(Kind::Shape, "number of tensors", 0, "at least 1"));
        };
        let dtype = first.dtype;
        if let Some(other) = sources.iter().find(|other| other.dtype != dtype) {
            return Err(other.is_not(&format!("{dtype} as the others")));
        }
        if dtype.class() == Class::Text {
            let texts = sources.iter().map(|source| source.texts()).collect::<Result<Vec<_>>>()?;
            let each = places.map(|(source, place)| texts[source][place].clone());
            return Tensor::from_text(shape, limits.collect(each)?);
        }
        if dtype.is_packed() {
            let codes = sources.iter().map(|source| source.codes()).collect::<Result<Vec<_>>>()?;
            let each = places.map(|(source, place)| codes[source][place]);
            return Tensor::from_codes(dtype, shape, &limits.collect(each)?);
        }
        let width = dtype.bits() / 8;
        let bytes =
            sources.iter().map(|source| source.bytes().map_or(&[][..], |bytes| bytes)).collect::<Vec<_>>();
        let mut all = Vec::with_capacity(shape.len() * width);
        for item in limits.watched(places) {
            let (source, place) = item?;
            all.extend_from_slice(&bytes[source][place * width..(place + 1) * width]);
        }
        Tensor::from_bytes(dtype, shape, all.into())
    }

    /// A tensor of the elements that lie at these places of this one. The room for it has been
    /// allowed before.
    ///
    /// # Errors
    /// [`Kind::Shape`] if there are not as many places as the shape has elements; as
    /// [`Limits::check`].
    ///
    /// # Panics
    /// If there is no such element.
    pub fn picked(&self, shape: Shape, places: &[usize], limits: &Limits) -> Result<Tensor> {
        Tensor::woven(&[self], shape, places.iter().map(|&place| (0, place)), limits)
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.shape.len()
    }

    /// Returns true if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.shape.is_empty()
    }

    /// Bytes that the elements occupy.
    pub fn byte_len(&self) -> usize {
        match &self.data {
            Data::Bytes(bytes) => bytes.len(),
            Data::Texts(texts) => texts.iter().map(|text| text.len() + size_of::<Box<str>>()).sum(),
        }
    }

    /// The elements as they lie in memory; none for text.
    pub fn bytes(&self) -> Option<&Bytes> {
        match &self.data {
            Data::Bytes(bytes) => Some(bytes),
            Data::Texts(_) => None,
        }
    }

    /// The elements of a text tensor.
    ///
    /// # Errors
    /// [`Kind::Type`] if it holds something else.
    pub fn texts(&self) -> Result<&[Box<str>]> {
        match &self.data {
            Data::Texts(texts) => Ok(texts),
            Data::Bytes(_) => Err(self.is_not("string")),
        }
    }

    /// The elements as a Rust type, borrowed where the memory is aligned for it.
    ///
    /// # Errors
    /// [`Kind::Type`] if the tensor's type is another.
    pub fn elements<T: Element>(&self) -> Result<Cow<'_, [T]>> {
        match &self.data {
            Data::Bytes(bytes) if self.dtype == T::DTYPE => {
                Ok(bytemuck::try_cast_slice(bytes)
                    .map_or_else(|_| Cow::Owned(unaligned(bytes)), Cow::Borrowed))
            }
            _ => Err(self.is_not(T::DTYPE.name())),
        }
    }

    /// The elements of a type of at most 8 bits as codes, one a byte.
    ///
    /// # Errors
    /// [`Kind::Type`] if elements are wider, or text.
    pub fn codes(&self) -> Result<Cow<'_, [u8]>> {
        match &self.data {
            Data::Bytes(bytes) if self.dtype.is_packed() => {
                Ok(Cow::Owned(packed::unpack(bytes, self.dtype.bits(), self.len())))
            }
            Data::Bytes(bytes) if self.dtype.bits() == 8 => Ok(Cow::Borrowed(bytes)),
            _ => Err(self.is_not("a type of at most 8 bits")),
        }
    }

    /// The exact values of all elements, in row-major order.
    ///
    /// # Errors
    /// [`Kind::Type`] for text.
    pub fn numbers(&self) -> Result<Box<dyn Iterator<Item = Number> + '_>> {
        fn of<T: Element>(tensor: &Tensor) -> Result<Box<dyn Iterator<Item = Number> + '_>> {
            Ok(match tensor.elements::<T>()? {
                Cow::Borrowed(elements) => Box::new(elements.iter().map(|x| x.number())),
                Cow::Owned(elements) => Box::new(elements.into_iter().map(T::number)),
            })
        }
        crate::dispatch!(self.dtype,
        [Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64, C64, C128] => of(self),
        _ => {
            let dtype = self.dtype;
            let codes = self.codes()?.into_owned();
            Ok(Box::new(codes.into_iter().map(move |code| convert::number(dtype, u64::from(code)))))
        })
    }

    /// Writes the exact values of elements that lie `step` apart, from one on.
    ///
    /// # Errors
    /// [`Kind::Type`] for text.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn read_numbers(&self, first: usize, step: usize, out: &mut [Number]) -> Result<()> {
        fn read<T: Element>(bytes: &[u8], first: usize, step: usize, out: &mut [Number]) {
            for (at, out) in out.iter_mut().enumerate() {
                let start = (first + at * step) * size_of::<T>();
                *out = bytemuck::pod_read_unaligned::<T>(&bytes[start..start + size_of::<T>()]).number();
            }
        }
        let Data::Bytes(bytes) = &self.data else { return Err(self.is_not("a numeric type")) };
        crate::dispatch!(self.dtype,
        [Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64, C64, C128] => read(bytes, first, step, out),
        dtype => for (at, out) in out.iter_mut().enumerate() {
            *out = convert::number(dtype, packed::get(bytes, dtype.bits(), first + at * step).into());
        });
        Ok(())
    }

    /// The exact value of the element at an index in row-major order.
    ///
    /// # Errors
    /// [`Kind::Type`] for text.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn number(&self, index: usize) -> Result<Number> {
        let mut number = [Number::Int(0)];
        self.read_numbers(index, 0, &mut number)?;
        Ok(number[0])
    }

    /// The exact value of the only element, of any shape with one element.
    ///
    /// # Errors
    /// [`Kind::Shape`] if there is not exactly one element, [`Kind::Type`] for text.
    pub fn only_number(&self) -> Result<Number> {
        if self.len() != 1 {
            let message = format!("has shape {}, expected one element", self.shape);
            let error = Error::new(Kind::Shape, message);
            return Err(error.with_got(&self.shape).with_wanted("one element"));
        }
        self.number(0)
    }

    /// The elements as 64-bit integers.
    ///
    /// # Errors
    /// [`Kind::Type`] if the element type is not an integer type.
    pub fn to_i64(&self) -> Result<Vec<i64>> {
        if !self.dtype.is_integer() {
            return Err(self.is_not("an integer type"));
        }
        Ok(self.numbers()?.map(i64::from_number).collect())
    }

    fn is_not(&self, wanted: &str) -> Error {
        Error::is_not(Kind::Type, self.dtype, wanted)
    }
}

/// Tensors of one type and shape, put one after the other along a new first axis.
#[derive(Debug)]
pub struct Stack {
    dtype: DType,
    row: Shape,
    rows: usize,
    /// The elements as they lie in memory, packed ones as codes.
    bytes: Vec<u8>,
    texts: Vec<Box<str>>,
}

impl Stack {
    /// A stack of no rows; they will be like this one.
    pub fn new(row: &Tensor) -> Stack {
        Stack { dtype: row.dtype, row: row.shape.clone(), rows: 0, bytes: Vec::new(), texts: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// [`Kind::Type`] or [`Kind::Shape`] if it is not like the first.
    pub fn push(&mut self, row: &Tensor) -> Result<()> {
        if row.dtype != self.dtype {
            return Err(row.is_not(&format!("{} as in the first row", self.dtype)));
        }
        if row.shape != self.row {
            let (got, wanted) = (&row.shape, &self.row);
            let message = format!("has shape {got}, expected {wanted} as in the first row");
            return Err(Error::new(Kind::Shape, message).with_got(got).with_wanted(wanted));
        }
        match &row.data {
            Data::Texts(texts) => self.texts.extend_from_slice(texts),
            Data::Bytes(_) if self.dtype.is_packed() => self.bytes.extend_from_slice(&row.codes()?),
            Data::Bytes(bytes) => self.bytes.extend_from_slice(bytes),
        }
        self.rows += 1;
        Ok(())
    }

    /// All rows as one tensor.
    ///
    /// # Errors
    /// [`Kind::Limit`] if there are more elements than can be counted.
    pub fn finish(self) -> Result<Tensor> {
        let mut dims = vec![self.rows];
        dims.extend(self.row.dims());
        let shape = Shape::new(dims)?;
        match self.dtype.class() {
            Class::Text => Tensor::from_text(shape, self.texts),
            _ if self.dtype.is_packed() => Tensor::from_codes(self.dtype, shape, &self.bytes),
            _ => Tensor::from_bytes(self.dtype, shape, self.bytes.into()),
        }
    }
}

fn check_len(shape: &Shape, len: usize) -> Result<()> {
    if shape.len() != len {
        let what = format!("number of elements for shape {shape}");
        return Err(Error::mismatch(Kind::Shape, what, len, shape.len()));
    }
    Ok(())
}

fn unaligned<T: Element>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
}

/// Same type, same shape, same elements; NaN equals NaN of the same code, and 0.0 is not -0.0.
impl PartialEq for Tensor {
    fn eq(&self, other: &Self) -> bool {
        let same = match (&self.data, &other.data) {
            (Data::Texts(a), Data::Texts(b)) => a == b,
            (Data::Bytes(_), Data::Bytes(_)) if self.dtype.is_packed() => {
                self.dtype == other.dtype && self.codes().ok() == other.codes().ok()
            }
            (Data::Bytes(a), Data::Bytes(b)) => a == b,
            _ => false,
        };
        same && self.dtype == other.dtype && self.shape == other.shape
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{} {}", self.dtype, self.shape, crate::display::elided(self, 3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unaligned_bytes_are_read_as_well_as_aligned_ones() {
        let all = Bytes::from(vec![0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]);
        for start in 0..2 {
            let tensor =
                Tensor::from_bytes(DType::I32, Shape::vector(2), all.slice(start..start + 8)).unwrap();
            let want = [[256, 512], [1, 2]][start];
            assert_eq!(tensor.elements::<i32>().unwrap()[..], want);
        }
    }

    #[test]
    fn wrong_sizes_and_types_are_errors() {
        let error = Tensor::from_bytes(DType::I4, Shape::vector(3), Bytes::from_static(&[0])).unwrap_err();
        assert_eq!(error.message(), "the byte length of int4[3] is 1, expected 2");
        let error = Tensor::from_vec(Shape::vector(3), vec![1i32]).unwrap_err();
        assert_eq!(error.message(), "number of elements for shape [3] is 1, expected 3");
        let tensor = Tensor::scalar(1.5f32);
        assert_eq!(tensor.elements::<f64>().unwrap_err().message(), "is float32, expected float64");
        assert_eq!(tensor.to_i64().unwrap_err().message(), "is float32, expected an integer type");
        assert_eq!(tensor.codes().unwrap_err().message(), "is float32, expected a type of at most 8 bits");
    }

    #[test]
    fn bits_behind_the_last_packed_element_do_not_count() {
        let of = |byte| Tensor::from_bytes(DType::U4, Shape::vector(1), Bytes::from(vec![byte])).unwrap();
        assert_eq!(of(0x05), of(0xa5));
        assert_ne!(of(0x05), of(0x06));
    }
}
