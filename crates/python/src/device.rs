//! Arrays in the memory of devices.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use gradus::gpu::{self, Array, Device};
use gradus::{DType, Kind, convert};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};

use crate::dlpack::{self, Exported};
use crate::dtype::descriptor;
use crate::error::{OrRaise, copied, engine, error};
use crate::sequence::{Sequence, with_plan};
use crate::tensor;

/// A sequence in the memory of a device.
///
/// On CUDA the elements stay on the device; those of other devices are read
/// back. Other libraries read the array by DLPack, without a copy:
/// `torch.from_dlpack(array)`, `cupy.from_dlpack(array)`.
#[pyclass(frozen, module = "gradus._native", name = "DeviceArray")]
pub(crate) struct DeviceArray {
    dtype: DType,
    len: u64,
    device: String,
    memory: ExportedMemory,
}

/// Memory of the elements.
#[derive(Clone)]
enum ExportedMemory {
    /// On a device of CUDA, of that number.
    Cuda(Arc<dyn Array>, i32),
    /// Read back.
    Host(Arc<Vec<u64>>),
}

/// Devices that were opened stay open: opening one and compiling for it takes a while.
static OPEN: Mutex<Option<HashMap<String, Arc<dyn Device>>>> = Mutex::new(None);

fn opened(name: &str) -> gradus::Result<Arc<dyn Device>> {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let open = open.get_or_insert_default();
    if let Some(device) = open.get(name) {
        return Ok(Arc::clone(device));
    }
    let device: Arc<dyn Device> = gpu::open(name)?.into();
    // The device may have been opened by another of its names.
    let device = Arc::clone(open.entry(device.info().name.clone()).or_insert(device));
    open.insert(name.to_owned(), Arc::clone(&device));
    Ok(device)
}

impl DeviceArray {
    /// All elements of a sequence, made by the device of that name.
    pub(crate) fn new(py: Python<'_>, sequence: &Sequence, device: &str) -> PyResult<DeviceArray> {
        find_compiler(py)?;
        let (dtype, len) = (sequence.dtype(), sequence.len());
        let (memory, device) = engine(py, || {
            let device = opened(device)?;
            let array: Arc<dyn Array> = with_plan!(sequence, plan => device.fill(plan))?.into();
            let memory = match array.cuda_ordinal() {
                Some(ordinal) => ExportedMemory::Cuda(array, ordinal),
                None => ExportedMemory::Host(read(&*array)?),
            };
            Ok::<_, gradus::Error>((memory, device.info().name.clone()))
        })
        .or_raise()?;
        Ok(DeviceArray { dtype, len, device, memory })
    }

    fn bytes(&self) -> u64 {
        self.len * convert::u64_of(self.dtype.bits() / 8)
    }
}

/// The elements in memory of the processor, which is aligned for all types.
///
/// # Errors
/// [`Kind::Limit`] if the system has no room for them.
fn read(array: &dyn Array) -> gradus::Result<Arc<Vec<u64>>> {
    let bytes = convert::usize_of(array.len()) * (array.dtype().bits() / 8);
    let mut words = Vec::new();
    words.try_reserve_exact(bytes.div_ceil(8)).map_err(|_| {
        gradus::Error::new(Kind::Limit, format!("cannot read {bytes} bytes: the system has no room for them"))
    })?;
    words.resize(bytes.div_ceil(8), 0u64);
    array.read(0, &mut bytemuck::cast_slice_mut(&mut words)[..bytes])?;
    Ok(Arc::new(words))
}

/// Makes the compiler of CUDA known that a package of Python may have brought, once.
fn find_compiler(py: Python<'_>) -> PyResult<()> {
    static IS_SOUGHT: AtomicBool = AtomicBool::new(false);
    if !IS_SOUGHT.load(Ordering::Relaxed) {
        py.import("gradus._nvrtc")?.call_method0("load")?;
        IS_SOUGHT.store(true, Ordering::Relaxed);
    }
    Ok(())
}

#[pymethods]
impl DeviceArray {
    fn __len__(&self) -> usize {
        convert::usize_of(self.len)
    }

    /// The number of elements.
    #[getter]
    fn size(&self) -> u64 {
        self.len
    }

    /// The shape: one size.
    #[getter]
    fn shape(&self) -> (u64,) {
        (self.len,)
    }

    /// The type of the elements.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(descriptor(py, self.dtype)?.into_any())
    }

    /// Bytes of all elements.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.bytes()
    }

    /// The name of the device that made the elements: `"cuda:0"`.
    #[getter]
    fn device(&self) -> &str {
        &self.device
    }

    /// Copies the elements into an array of NumPy.
    ///
    /// Returns:
    ///     An array of shape `(n,)`.
    ///
    /// Raises:
    ///     LimitError: if the system has no room for the elements.
    ///
    /// Example:
    ///     >>> gradus.arange(3, device="gpu").to_numpy()  # doctest: +SKIP
    ///     array([0, 1, 2])
    fn to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let words = match &self.memory {
            ExportedMemory::Host(words) => Arc::clone(words),
            ExportedMemory::Cuda(array, _) => engine(py, || read(&**array)).or_raise()?,
        };
        let bytes = copied(&bytemuck::cast_slice::<u64, u8>(&words)[..convert::usize_of(self.bytes())])?;
        let shape = gradus::Shape::vector(convert::usize_of(self.len));
        tensor::to_python(py, &gradus::Tensor::from_bytes(self.dtype, shape, bytes.into()).or_raise()?)
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let why = "the elements are not in memory of NumPy, so they must be copied";
        tensor::new_array(dtype, copy, why, || self.to_numpy(py))
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        match &self.memory {
            ExportedMemory::Cuda(_, ordinal) => (dlpack::CUDA, *ordinal),
            ExportedMemory::Host(_) => (dlpack::CPU, 0),
        }
    }

    /// Exports the elements; they are written, so any stream may read them.
    ///
    /// Host memory is read-only. For consumers before version 1 of DLPack,
    /// which cannot know that, it is copied.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A fill ends when the device has written all, whatever the stream.
        let _ = stream;
        let device = self.__dlpack_device__();
        if dl_device.is_some_and(|wanted| wanted != device) || copy == Some(true) {
            let message = format!(
                "the elements are on {}, and are not copied by DLPack; to_numpy() copies them",
                self.device
            );
            return Err(pyo3::exceptions::PyBufferError::new_err(message));
        }
        let versioned = max_version.is_some_and(|(major, _)| major >= 1);
        if copy == Some(false) && !versioned && device.0 == dlpack::CPU {
            let message =
                "cannot export read-only memory: DLPack is of a version before 1, expected 1 or later";
            return Err(pyo3::exceptions::PyBufferError::new_err(message));
        }
        let (address, owner): (u64, Box<dyn Send>) = match &self.memory {
            ExportedMemory::Cuda(array, _) => {
                (array.cuda_address().unwrap_or(0), Box::new(Arc::clone(array)))
            }
            ExportedMemory::Host(words) => {
                let words = if versioned { Arc::clone(words) } else { Arc::new(copied(words)?) };
                (convert::u64_of(words.as_ptr().expose_provenance()), Box::new(words))
            }
        };
        let len = i64::try_from(self.len).map_err(|_| error(Kind::Limit, "more than 2^63 - 1 elements"))?;
        let read_only = device.0 == dlpack::CPU;
        let exported = Exported { address, device, dtype: self.dtype, len, read_only, owner };
        dlpack::capsule(py, exported, versioned)
    }

    fn __repr__(&self) -> String {
        format!("gradus.DeviceArray(shape=({},), dtype={}, device=\"{}\")", self.len, self.dtype, self.device)
    }
}

/// Lists the devices that compute sequences, besides the processor.
///
/// Returns:
///     A dictionary for each: `name`, which `device=` takes, `backend`,
///     `device`, `kind`, `driver` and `max_bytes`.
///
/// Example:
///     >>> import gradus
///     >>> isinstance(gradus.devices(), list)
///     True
#[pyfunction]
pub(crate) fn devices(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    find_compiler(py)?;
    let list = PyList::empty(py);
    for gpu::Info { name, backend, device, kind, driver, max_bytes } in
        engine(py, || Ok(gpu::devices())).or_raise()?.devices
    {
        let entry = PyDict::new(py);
        entry.set_item("name", name)?;
        entry.set_item("backend", backend.name())?;
        entry.set_item("device", device)?;
        entry.set_item("kind", kind.name())?;
        entry.set_item("driver", driver)?;
        entry.set_item("max_bytes", max_bytes)?;
        list.append(entry)?;
    }
    Ok(list)
}
