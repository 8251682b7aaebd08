//! Numbers of the fields and enumerations in old Paddle programs.
//!
//! Made by `scripts/paddle_tables.py` from paddlepaddle 3.3.1; do not edit.
#![allow(missing_docs, reason = "the names are those of the format")]
#![allow(dead_code, reason = "the tables are whole; the reader keeps what it does not know")]

pub mod program_desc {
    pub const BLOCKS: u32 = 1;
    pub const VERSION: u32 = 4;
    pub const OP_VERSION_MAP: u32 = 5;
}

pub mod version {
    pub const VERSION: u32 = 1;
}

pub mod block_desc {
    pub const IDX: u32 = 1;
    pub const PARENT_IDX: u32 = 2;
    pub const VARS: u32 = 3;
    pub const OPS: u32 = 4;
    pub const FORWARD_BLOCK_IDX: u32 = 5;
}

pub mod var_desc {
    pub const NAME: u32 = 1;
    pub const TYPE: u32 = 2;
    pub const PERSISTABLE: u32 = 3;
    pub const NEED_CHECK_FEED: u32 = 4;
    pub const IS_PARAMETER: u32 = 5;
    pub const STOP_GRADIENT: u32 = 6;
    pub const ATTRS: u32 = 7;
}

pub mod op_desc {
    pub const TYPE: u32 = 3;
    pub const INPUTS: u32 = 1;
    pub const OUTPUTS: u32 = 2;
    pub const ATTRS: u32 = 4;
    pub const IS_TARGET: u32 = 5;
}

pub mod op_desc_attr {
    pub const NAME: u32 = 1;
    pub const TYPE: u32 = 2;
    pub const I: u32 = 3;
    pub const F: u32 = 4;
    pub const S: u32 = 5;
    pub const INTS: u32 = 6;
    pub const FLOATS: u32 = 7;
    pub const STRINGS: u32 = 8;
    pub const B: u32 = 10;
    pub const BOOLS: u32 = 11;
    pub const BLOCK_IDX: u32 = 12;
    pub const L: u32 = 13;
    pub const BLOCKS_IDX: u32 = 14;
    pub const LONGS: u32 = 15;
    pub const FLOAT64S: u32 = 16;
    pub const VAR_NAME: u32 = 17;
    pub const VARS_NAME: u32 = 18;
    pub const FLOAT64: u32 = 19;
    pub const SCALAR: u32 = 20;
    pub const SCALARS: u32 = 21;
}

pub mod op_desc_var {
    pub const PARAMETER: u32 = 1;
    pub const ARGUMENTS: u32 = 2;
}

pub mod var_type {
    pub const TYPE: u32 = 1;
    pub const SELECTED_ROWS: u32 = 2;
    pub const DENSE_TENSOR: u32 = 3;
    pub const TENSOR_ARRAY: u32 = 4;
    pub const READER: u32 = 5;
    pub const TUPLE: u32 = 7;
    pub const STRING: u32 = 8;
    pub const STRINGS: u32 = 9;
    pub const VOCAB: u32 = 10;
    pub const SPARSE_COO: u32 = 11;
    pub const SPARSE_CSR: u32 = 12;
}

pub mod var_type_tensor_desc {
    pub const DATA_TYPE: u32 = 1;
    pub const DIMS: u32 = 2;
}

pub mod var_type_dense_tensor_desc {
    pub const TENSOR: u32 = 1;
    pub const LEGACY_LOD_LEVEL: u32 = 2;
}

pub mod scalar {
    pub const TYPE: u32 = 1;
    pub const B: u32 = 2;
    pub const I: u32 = 3;
    pub const R: u32 = 4;
    pub const C: u32 = 5;
}

pub mod attr_type {
    pub const INT: i64 = 0;
    pub const FLOAT: i64 = 1;
    pub const STRING: i64 = 2;
    pub const INTS: i64 = 3;
    pub const FLOATS: i64 = 4;
    pub const STRINGS: i64 = 5;
    pub const BOOLEAN: i64 = 6;
    pub const BOOLEANS: i64 = 7;
    pub const BLOCK: i64 = 8;
    pub const LONG: i64 = 9;
    pub const BLOCKS: i64 = 10;
    pub const LONGS: i64 = 11;
    pub const FLOAT64S: i64 = 12;
    pub const VAR: i64 = 13;
    pub const VARS: i64 = 14;
    pub const FLOAT64: i64 = 15;
    pub const SCALAR: i64 = 16;
    pub const SCALARS: i64 = 17;
}

pub mod var_type_type {
    pub const BOOL: i64 = 0;
    pub const INT16: i64 = 1;
    pub const INT32: i64 = 2;
    pub const INT64: i64 = 3;
    pub const FP16: i64 = 4;
    pub const FP32: i64 = 5;
    pub const FP64: i64 = 6;
    pub const SIZE_T: i64 = 19;
    pub const UINT8: i64 = 20;
    pub const INT8: i64 = 21;
    pub const BF16: i64 = 22;
    pub const COMPLEX64: i64 = 23;
    pub const COMPLEX128: i64 = 24;
    pub const FP8_E4M3FN: i64 = 32;
    pub const FP8_E5M2: i64 = 33;
    pub const UINT16: i64 = 36;
    pub const UINT32: i64 = 37;
    pub const UINT64: i64 = 38;
    pub const DENSE_TENSOR: i64 = 7;
    pub const SELECTED_ROWS: i64 = 8;
    pub const FEED_MINIBATCH: i64 = 9;
    pub const FETCH_LIST: i64 = 10;
    pub const STEP_SCOPES: i64 = 11;
    pub const LOD_RANK_TABLE: i64 = 12;
    pub const DENSE_TENSOR_ARRAY: i64 = 13;
    pub const PLACE_LIST: i64 = 14;
    pub const READER: i64 = 15;
    pub const RAW: i64 = 17;
    pub const TUPLE: i64 = 18;
    pub const STRING: i64 = 25;
    pub const STRINGS: i64 = 26;
    pub const VOCAB: i64 = 27;
    pub const FEED_LIST: i64 = 28;
    pub const PSTRING: i64 = 29;
    pub const SPARSE_COO: i64 = 30;
    pub const SPARSE_CSR: i64 = 31;
}

pub mod scalar_type {
    pub const BOOLEAN: i64 = 1;
    pub const LONG: i64 = 2;
    pub const FLOAT64: i64 = 3;
    pub const COMPLEX128: i64 = 4;
}
