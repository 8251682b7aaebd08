//! `gradus devices`: what makes sequences besides the processor.

use gradus::gpu::{self, FoundDevice, Info, Missing};

use crate::diagnostics::Failure;
use crate::object::object;
use crate::output;

/// Runs `gradus devices`: prints the devices, and the reasons why others are missing.
pub(crate) fn devices() -> Result<(), Failure> {
    let FoundDevice { devices, missing } = gpu::devices();
    if output::is_json() {
        let found = devices.iter().map(|Info { name, backend, device, kind, driver, max_bytes }| {
            let (backend, kind) = (backend.name(), kind.name());
            object!(DeviceJson { name, backend, device, kind, driver, max_bytes })
        });
        let missing =
            missing.iter().map(|of| object!(MissingJson { backend: of.backend.name(), reason: &of.reason }));
        return output::print_json(&object!(DevicesJson {
            devices: found.collect::<Vec<_>>(),
            missing: missing.collect::<Vec<_>>(),
        }));
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
