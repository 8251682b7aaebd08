//! Devices of Vulkan, Metal and DX12.

mod array;
mod given;
mod shaders;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use gradus_core::{DType, Error, Kind as ErrorKind, Result};

use crate::device::{Array, Backend, Device, DeviceKind, Info};
use array::WgpuArray;
use given::Shader;

/// The devices of a backend, discrete ones first and software last.
pub(crate) fn list(backend: Backend) -> Result<Vec<Info>, String> {
    let adapters = adapters(backend);
    if adapters.is_empty() {
        return Err(match backend {
            Backend::Vulkan => "neither a driver of Vulkan nor a software device (libvulkan.so.1 and the files that it lists)",
            _ => "this system is without it, or without a driver of it",
        }
        .to_owned());
    }
    Ok(adapters.iter().enumerate().map(|(i, adapter)| info(backend, i, adapter)).collect())
}

fn adapters(backend: Backend) -> Vec<wgpu::Adapter> {
    let wanted = match backend {
        Backend::Vulkan => wgpu::Backends::VULKAN,
        Backend::Metal => wgpu::Backends::METAL,
        Backend::Dx12 => wgpu::Backends::DX12,
        Backend::Cuda => wgpu::Backends::empty(),
    };
    let mut description = wgpu::InstanceDescriptor::new_without_display_handle();
    description.backends = wanted;
    // Validation layers of Vulkan are for those who write shaders.
    description.flags = wgpu::InstanceFlags::empty();
    let instance = wgpu::Instance::new(description);
    let mut adapters = pollster::block_on(instance.enumerate_adapters(wanted));
    adapters.sort_by_key(|adapter| kind(adapter.get_info().device_type));
    adapters
}

fn kind(device: wgpu::DeviceType) -> DeviceKind {
    match device {
        wgpu::DeviceType::DiscreteGpu => DeviceKind::Discrete,
        wgpu::DeviceType::IntegratedGpu => DeviceKind::Integrated,
        wgpu::DeviceType::Cpu => DeviceKind::Software,
        wgpu::DeviceType::VirtualGpu | wgpu::DeviceType::Other => DeviceKind::Virtual,
    }
}

fn info(backend: Backend, index: usize, adapter: &wgpu::Adapter) -> Info {
    let told = adapter.get_info();
    let driver = [told.driver, told.driver_info].into_iter().filter(|text| !text.is_empty());
    Info {
        name: format!("{backend}:{index}"),
        backend,
        device: told.name,
        kind: kind(told.device_type),
        driver: driver.collect::<Vec<_>>().join(" "),
        // Shaders write 16 bytes at a time.
        max_bytes: adapter.limits().max_buffer_size / 16 * 16,
    }
}

/// Opens the device of that index.
pub(crate) fn open(info: Info, index: usize) -> Result<Box<dyn Device>> {
    let failed = |message: String| Error::new(ErrorKind::Io, format!("cannot open {}: {message}", info.name));
    let adapters = adapters(info.backend);
    let adapter = adapters.get(index).ok_or_else(|| failed("the device was removed".to_owned()))?;
    let required_features = adapter.features() & wgpu::Features::SHADER_INT64;
    let description =
        wgpu::DeviceDescriptor { required_limits: adapter.limits(), required_features, ..Default::default() };
    let (device, queue) = pollster::block_on(adapter.request_device(&description))
        .map_err(|error| failed(error.to_string()))?;
    let complaint = Arc::new(Mutex::new(None));
    let heard = Arc::clone(&complaint);
    // Without this, what the driver complains of would be a panic.
    device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
        let out_of_memory = matches!(error, wgpu::Error::OutOfMemory { .. });
        heard
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert((out_of_memory, error.to_string()));
    }));
    let open =
        OpenAdapter { info, layout: layout(&device), device, queue, complaint, pipelines: Mutex::default() };
    open.check()?;
    Ok(Box::new(WgpuDevice(Arc::new(open))))
}

/// The bindings: parameters, tables, starts of blocks, elements, doubts.
fn layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    let entry = |binding, read_only| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    };
    let entries = [entry(0, true), entry(1, true), entry(2, false), entry(3, false), entry(4, false)];
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries })
}

/// An open device.
#[derive(Debug)]
struct WgpuDevice(Arc<OpenAdapter>);

impl Device for WgpuDevice {
    fn info(&self) -> &Info {
        &self.0.info
    }

    fn allocate(&self, dtype: DType, len: u64) -> Result<Box<dyn Array>> {
        let bytes = self.0.info.bytes_of(dtype, len)?;
        Ok(Box::new(WgpuArray::new(&self.0, dtype, len, bytes)?))
    }
}

/// A device, and what is made once for it.
#[derive(Debug)]
struct OpenAdapter {
    info: Info,
    device: wgpu::Device,
    queue: wgpu::Queue,
    layout: wgpu::BindGroupLayout,
    /// The first error of the driver: true if it ran out of memory, and the message.
    complaint: Arc<Mutex<Option<(bool, String)>>>,
    pipelines: Mutex<HashMap<(Task, DType), wgpu::ComputePipeline>>,
}

/// The task of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Task {
    /// Makes elements.
    Fill(Shader),
    /// Makes the starts of blocks of powers.
    Prepare,
    /// Puts bits into words.
    Put,
}

impl OpenAdapter {
    /// The error of the driver, if any.
    fn check(&self) -> Result<()> {
        match self.complaint.lock().unwrap_or_else(PoisonError::into_inner).take() {
            None => Ok(()),
            Some((out_of_memory, message)) => {
                let kind = if out_of_memory { ErrorKind::Limit } else { ErrorKind::Io };
                Err(Error::new(kind, format!("{}: {message}", self.info.name)))
            }
        }
    }

    /// Waits until the device has done all that it was asked for.
    fn wait(&self) -> Result<()> {
        let done = self.device.poll(wgpu::PollType::wait_indefinitely());
        self.check()?;
        done.map(|_| ()).map_err(|error| Error::new(ErrorKind::Io, format!("{}: {error}", self.info.name)))
    }

    fn pipeline(&self, task: Task, dtype: DType) -> wgpu::ComputePipeline {
        let mut pipelines = self.pipelines.lock().unwrap_or_else(PoisonError::into_inner);
        pipelines.entry((task, dtype)).or_insert_with(|| self.new_pipeline(task, dtype)).clone()
    }

    fn new_pipeline(&self, task: Task, dtype: DType) -> wgpu::ComputePipeline {
        let has_long = self.device.features().contains(wgpu::Features::SHADER_INT64);
        let (text, entry_point) = match task {
            Task::Fill(shader) => (shaders::text(shader, dtype, has_long), "fill"),
            Task::Prepare => (shaders::text(Shader::Powers, dtype, has_long), "prepare"),
            Task::Put => (shaders::PUT.to_owned(), "put"),
        };
        let source = wgpu::ShaderSource::Wgsl(text.into());
        let description = wgpu::ShaderModuleDescriptor { label: None, source };
        // Counters in loops keep drivers from unrolling them.
        let checks = wgpu::ShaderRuntimeChecks { force_loop_bounding: false, ..Default::default() };
        #[allow(unsafe_code, reason = "shaders are compiled without counters in their loops")]
        // SAFETY: every loop of the shaders ends after a number of turns that is written there.
        let module = unsafe { self.device.create_shader_module_trusted(description, checks) };
        let layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&self.layout)],
            immediate_size: 0,
        });
        self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: Some(&layout),
            module: &module,
            entry_point: Some(entry_point),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        })
    }
}
