//! Rules about the file of a model, and limits that are asked for.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use gradus_core::convert::u64_of;
use gradus_core::graph::Standard;
use gradus_core::text::name_in_message;
use gradus_core::{Result, error::Position};

use super::Fault;
use super::subject::Subject;
use crate::dim::Dim;

/// Maximum number of bytes of a message of protobuf.
const MAX_PROTOBUF: u64 = (1 << 31) - 1;

/// Files of ONNX that protobuf does not read.
pub(super) fn too_large(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    let bytes = of.model.bytes().filter(|_| of.standard() == Standard::Onnx).map_or(0, |it| u64_of(it.len()));
    let message = format!("the file has {bytes} bytes, and protobuf reads at most {MAX_PROTOBUF}");
    Ok((bytes > MAX_PROTOBUF).then(|| Fault::at("the model", message)).into_iter().collect())
}

/// Texts that name folders of the machine that wrote the file.
pub(super) fn machine_paths(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    static PATH: LazyLock<regex::bytes::Regex> = LazyLock::new(|| {
        let text = r"(?-u)(/home/|/Users/|/root/|[A-Z]:\\Users\\)[A-Za-z0-9._/\\-]{2,80}";
        regex::bytes::Regex::new(text).expect("the expression is written well")
    });
    let Some(bytes) = of.model.bytes() else { return Ok(Vec::new()) };
    let (mut folders, mut found) = (BTreeSet::new(), Vec::new());
    for path in PATH.find_iter(bytes) {
        let text = String::from_utf8_lossy(path.as_bytes());
        // One finding for each home.
        let home: Vec<_> = text.split_inclusive(['/', '\\']).take(3).collect();
        if folders.insert(home.concat()) {
            let position = Position::Byte(u64_of(path.start()));
            let message = format!("has a path of the machine that wrote it: {}", name_in_message(&text));
            found.push(Fault::at("the model", message).positioned(Some(position)));
        }
        of.limits.check()?;
    }
    Ok(found)
}

/// A peak of memory above the limit that is asked for.
pub(super) fn peak(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    let Some(most) = of.options.max_peak else { return Ok(Vec::new()) };
    let cost = of.cost()?;
    let (constants, inputs, peak) = (cost.memory.constants, cost.memory.inputs, cost.memory.peak);
    let symbols = cost.inference().symbols();
    let dims = [inputs, peak.map(|peak| peak.bytes)];
    let Some(known) = dims.iter().try_fold(constants, |sum, dim| {
        let bytes = u128::try_from(dim.map_or(Some(0), Dim::known)?).ok()?;
        Some(sum.saturating_add(bytes))
    }) else {
        let open = dims.into_iter().flatten().find(|dim| dim.known().is_none());
        let formula = open.map_or_else(String::new, |dim| symbols.print(dim).to_string());
        let message = format!("the peak is not a number: give the sizes of {formula}");
        return Ok(vec![Fault::at("the model", message)]);
    };
    let message = format!("a run holds {known} bytes at one time, more than {most}");
    Ok((known > u128::from(most)).then(|| Fault::at("the model", message)).into_iter().collect())
}

/// More parameters than the limit that is asked for.
pub(super) fn parameters(of: &mut Subject<'_>) -> Result<Vec<Fault>> {
    let Some(most) = of.options.max_parameters else { return Ok(Vec::new()) };
    let count = of.model.parameters();
    let message = format!("the model has {count} parameters, more than {most}");
    Ok((count > u128::from(most)).then(|| Fault::at("the model", message)).into_iter().collect())
}
