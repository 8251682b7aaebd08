//! Lists devices, and opens one by its name.

use gradus_core::{Error, Kind as ErrorKind, Result};

use crate::device::{Backend, Device, DeviceKind, Info};

/// A backend without devices, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The backend.
    pub backend: Backend,
    /// Why the backend has no device.
    pub reason: String,
}

/// The devices of this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundDevice {
    /// The devices.
    pub devices: Vec<Info>,
    /// The backends that have none.
    pub missing: Vec<Missing>,
}

/// Looks for devices.
pub fn devices() -> FoundDevice {
    let mut found = FoundDevice::default();
    for backend in Backend::ALL {
        match list(backend) {
            Ok(devices) => found.devices.extend(devices),
            Err(reason) => found.missing.push(Missing { backend, reason }),
        }
    }
    found
}

/// Opens a device.
///
/// `gpu` is the first of CUDA, or else the first of the others that is not software. A backend's
/// name (`cuda`, `vulkan`) is its first device, `cuda:1` the second: of CUDA in the driver's order,
/// of the others discrete ones first and software last.
///
/// # Errors
/// `Usage` if there is no such name; `Unsupported` if there is no such device, with what was looked
/// for; `Io` if it does not open.
pub fn open(name: &str) -> Result<Box<dyn Device>> {
    if name == "gpu" {
        return open_any();
    }
    let (word, number) = name.split_once(':').map_or((name, None), |(word, number)| (word, Some(number)));
    let backend = Backend::ALL.into_iter().find(|backend| backend.name() == word);
    let index = number.map_or(Some(0), |number| number.parse::<usize>().ok());
    let (Some(backend), Some(index)) = (backend, index) else {
        let known = Backend::ALL.map(Backend::name).join(", ");
        let wanted = format_args!("cpu, gpu, {known}, or one of the last with a number as in cuda:1");
        return Err(Error::mismatch(ErrorKind::Usage, "device", format_args!("\"{name}\""), wanted));
    };
    let devices = list(backend).map_err(|reason| {
        Error::new(ErrorKind::Unsupported, format!("cannot open device \"{name}\": {reason}"))
    })?;
    let Some(info) = devices.get(index) else {
        let what = format_args!("cannot open device \"{name}\": index");
        let wanted = format_args!("less than {}, the number of {backend} devices", devices.len());
        return Err(Error::mismatch(ErrorKind::Unsupported, what, index, wanted));
    };
    open_info(info, index)
}

/// The first device of CUDA, or of another backend unless it is software.
fn open_any() -> Result<Box<dyn Device>> {
    let mut reasons = Vec::new();
    for backend in Backend::ALL {
        match list(backend) {
            Ok(devices) => match devices.first() {
                Some(info) if info.kind != DeviceKind::Software => return open_info(info, 0),
                Some(info) => reasons.push(format!("{} is {}, which is software", info.name, info.device)),
                None => {}
            },
            Err(reason) => reasons.push(format!("{backend}: {reason}")),
        }
    }
    let message = format!("cannot open device \"gpu\": {}", reasons.join("; "));
    Err(Error::new(ErrorKind::Unsupported, message))
}

/// The devices of a backend, or why there are none.
fn list(backend: Backend) -> Result<Vec<Info>, String> {
    match backend {
        #[cfg(feature = "cuda")]
        Backend::Cuda => crate::cuda::list(),
        #[cfg(feature = "wgpu")]
        Backend::Vulkan | Backend::Metal | Backend::Dx12 => crate::wgpu::list(backend),
        #[allow(unreachable_patterns, reason = "which backends are left depends on the features")]
        _ => {
            let feature = if backend == Backend::Cuda { "cuda" } else { "wgpu" };
            Err(format!("this build of Gradus is without the feature \"{feature}\""))
        }
    }
}

fn open_info(info: &Info, index: usize) -> Result<Box<dyn Device>> {
    match info.backend {
        #[cfg(feature = "cuda")]
        Backend::Cuda => crate::cuda::open(info.clone(), index),
        #[cfg(feature = "wgpu")]
        Backend::Vulkan | Backend::Metal | Backend::Dx12 => crate::wgpu::open(info.clone(), index),
        #[allow(unreachable_patterns, reason = "which backends are left depends on the features")]
        _ => Err(Error::new(ErrorKind::Unsupported, format!("cannot open device {} ({index})", info.name))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_none_are_errors() {
        for name in ["", "tpu", "cuda:", "cuda:x", "vulkan:-1"] {
            let error = open(name).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{name}");
        }
        assert_eq!(
            open("tpu").unwrap_err().to_string(),
            "device is \"tpu\", expected cpu, gpu, cuda, vulkan, metal, dx12, or one of the last with a number as in cuda:1"
        );
    }

    #[test]
    fn what_is_missing_is_said_with_its_reason() {
        for missing in devices().missing {
            let error = open(missing.backend.name()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert!(error.to_string().ends_with(&missing.reason), "{error}");
        }
        let error = open("cuda:1000").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    }
}
