//! The attributes of integers that have a range, and the lists of one length.

pub use gradus_engine::numbers::Numbers;

// Attributes of ONNX.
pub const BLOCKS: Numbers = Numbers::at_least(0, &["block_size"]);
pub const HEADS: Numbers = Numbers::at_least(0, &["num_heads", "rotary_embedding_dim"]);
pub const SCAN_DIRECTIONS: Numbers =
    Numbers::bits(&["directions", "scan_input_directions", "scan_output_directions"]);
pub const NORM_ORDER: Numbers = Numbers::within(1, 2, &["p"]);
pub const PARTS_OF_SPLIT: Numbers = Numbers::at_least(1, &["num_outputs"]);
pub const WINDOW_PADS: Numbers = Numbers::at_least(0, &["pads", "output_padding"]);

// Attributes of OpenVINO.
pub const BATCH_AXES: Numbers = Numbers::at_least(0, &["batch_dims"]);
pub const MASK_BITS: Numbers = Numbers::bits(MASK_NAMES);
pub const MASKS: Numbers = Numbers::alike(MASK_NAMES);
pub const PADS: Numbers = Numbers::at_least(0, &["pads_begin", "pads_end"]);
pub const PARTS: Numbers = Numbers::at_least(1, &["num_splits"]);
pub const WINDOW_AXES: Numbers =
    Numbers::alike(&["kernel", "strides", "dilations", "pads_begin", "pads_end", "output_padding"]);
pub const WINDOW_STEPS: Numbers = Numbers::at_least(1, &["kernel", "strides", "dilations"]);

/// The attributes of windows.
pub const WINDOWS: &[Numbers] = &[WINDOW_STEPS, PADS, WINDOW_AXES];

const MASK_NAMES: &[&str] = &["begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask"];
