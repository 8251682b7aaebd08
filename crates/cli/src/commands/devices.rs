//! `gradus devices`: what makes sequences besides the processor.

use gradus::gpu::{self, FoundDevice, Info, Missing};
use serde::Serialize;

use crate::diagnostics::Failure;
use crate::output;

#[derive(Serialize)]
struct DevicesJson<'a> {
    devices: Vec<DeviceJson<'a>>,
    missing: Vec<MissingJson<'a>>,
}

#[derive(Serialize)]
struct DeviceJson<'a> {
    name: &'a str,
    backend: &'static str,
    device: &'a str,
    kind: &'static str,
    driver: &'a str,
    max_bytes: u64,
}

#[derive(Serialize)]
struct MissingJson<'a> {
    backend: &'static str,
    reason: &'a str,
}

impl DeviceJson<'_> {
    fn of(info: &Info) -> DeviceJson<'_> {
        let Info { name, backend, device, kind, driver, max_bytes } = info;
        DeviceJson { name, backend: backend.name(), device, kind: kind.name(), driver, max_bytes: *max_bytes }
    }
}

impl MissingJson<'_> {
    fn of(missing: &Missing) -> MissingJson<'_> {
        MissingJson { backend: missing.backend.name(), reason: &missing.reason }
    }
}

/// Runs `gradus devices`: prints the devices, and the reasons why others are missing.
pub(crate) fn devices() -> Result<(), Failure> {
    let FoundDevice { devices, missing } = gpu::devices();
    if output::is_json() {
        return output::print_json(&DevicesJson {
            devices: devices.iter().map(DeviceJson::of).collect(),
            missing: missing.iter().map(MissingJson::of).collect(),
        });
    }
    if !devices.is_empty() {
        let mut table = output::table(&["name", "device", "kind", "driver", "largest array"]);
        for info in &devices {
            let bytes = format!("{} bytes", info.max_bytes);
            table.add_row([info.name.as_str(), &info.device, info.kind.name(), &info.driver, &bytes]);
        }
        output::print_line(&output::render(&table))?;
    }
    missing
        .iter()
        .try_for_each(|Missing { backend, reason }| output::print_line(&format!("no {backend}: {reason}")))
}
