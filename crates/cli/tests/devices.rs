//! Devices besides the processor, as far as they can be tested where there is none.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod common;

use common::{gradus, misused, prints};
use snapbox::str;

#[test]
fn the_processor_is_the_default() {
    prints(
        &["range", "0", "3", "1", "--device", "cpu"],
        str![[r#"
0
1
2

"#]],
    );
}

#[test]
fn what_is_no_device_is_misuse() {
    misused(
        &["range", "0", "3", "1", "--device", "tpu"],
        str![[r#"
error: device is "tpu", expected cpu, gpu, cuda, vulkan, metal, dx12, or one of the last with a number as in cuda:1

"#]],
    );
    misused(
        &["linspace", "[0, 1]", "2", "3", "--device", "vulkan"],
        str![[r#"
error: --profile, --slice, --plot and --device are for sequences between numbers, not arrays

"#]],
    );
}

#[test]
fn devices_are_listed_or_said_to_be_missing() {
    let output = gradus(&["devices", "--json"]).output().unwrap();
    assert!(output.status.success());
    let listed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let backends = ["cuda", "vulkan", "metal", "dx12"];
    for backend in backends {
        let of = |key: &str| {
            let all = listed[key].as_array().unwrap();
            all.iter().filter(|each| each["backend"] == backend).cloned().collect::<Vec<_>>()
        };
        let (devices, missing) = (of("devices"), of("missing"));
        assert_eq!(devices.is_empty(), missing.len() == 1, "{listed}");
        // Each device makes the same elements; one that is missing says why.
        for (name, reason) in devices
            .iter()
            .map(|device| (device["name"].clone(), None))
            .chain(missing.iter().map(|missing| (backend.into(), Some(missing["reason"].clone()))))
        {
            let name: String = name.as_str().unwrap().to_owned();
            let made = gradus(&["linspace", "0", "1", "5", "--device", &name]).output().unwrap();
            match reason {
                None => assert_eq!(made.stdout, b"0.0\n0.25\n0.5\n0.75\n1.0\n"),
                Some(reason) => {
                    assert_eq!(made.status.code(), Some(1));
                    let said = String::from_utf8(made.stderr).unwrap();
                    assert!(said.contains(reason.as_str().unwrap()), "{said}");
                }
            }
        }
    }
    let table = gradus(&["devices"]).output().unwrap();
    assert!(table.status.success() && !table.stdout.is_empty());
}
