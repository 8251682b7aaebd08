//! Numbers of the fields and enumerations in ONNX files.
//!
//! Made by `scripts/onnx_tables.py` from onnx 1.23.2; do not edit.
#![allow(missing_docs, reason = "the names are those of the format")]
#![allow(dead_code, reason = "the tables are whole; the reader keeps what it does not know")]

/// The newest version of the file format.
pub const NEWEST_IR_VERSION: i64 = 14;

/// The newest version of the standard's own operator set.
pub const NEWEST_OPSET: i64 = 28;

/// The version of the file format that each operator set came with, from set 1 on.
#[rustfmt::skip]
pub const IR_VERSIONS: [i64; 28] = [3, 3, 3, 3, 3, 3, 3, 3, 4, 5, 6, 7, 7, 7, 8, 8, 8, 8, 9, 9, 10, 10, 11, 12, 13, 13, 13, 14];

pub mod attribute_proto {
    pub const NAME: u32 = 1;
    pub const F: u32 = 2;
    pub const I: u32 = 3;
    pub const S: u32 = 4;
    pub const T: u32 = 5;
    pub const G: u32 = 6;
    pub const FLOATS: u32 = 7;
    pub const INTS: u32 = 8;
    pub const STRINGS: u32 = 9;
    pub const TENSORS: u32 = 10;
    pub const GRAPHS: u32 = 11;
    pub const DOC_STRING: u32 = 13;
    pub const TP: u32 = 14;
    pub const TYPE_PROTOS: u32 = 15;
    pub const TYPE: u32 = 20;
    pub const REF_ATTR_NAME: u32 = 21;
    pub const SPARSE_TENSOR: u32 = 22;
    pub const SPARSE_TENSORS: u32 = 23;
}

pub mod attribute_proto_attribute_type {
    pub const UNDEFINED: i32 = 0;
    pub const FLOAT: i32 = 1;
    pub const INT: i32 = 2;
    pub const STRING: i32 = 3;
    pub const TENSOR: i32 = 4;
    pub const GRAPH: i32 = 5;
    pub const SPARSE_TENSOR: i32 = 11;
    pub const TYPE_PROTO: i32 = 13;
    pub const FLOATS: i32 = 6;
    pub const INTS: i32 = 7;
    pub const STRINGS: i32 = 8;
    pub const TENSORS: i32 = 9;
    pub const GRAPHS: i32 = 10;
    pub const SPARSE_TENSORS: i32 = 12;
    pub const TYPE_PROTOS: i32 = 14;
}

pub mod value_info_proto {
    pub const NAME: u32 = 1;
    pub const TYPE: u32 = 2;
    pub const DOC_STRING: u32 = 3;
    pub const METADATA_PROPS: u32 = 4;
}

pub mod node_proto {
    pub const INPUT: u32 = 1;
    pub const OUTPUT: u32 = 2;
    pub const NAME: u32 = 3;
    pub const OP_TYPE: u32 = 4;
    pub const ATTRIBUTE: u32 = 5;
    pub const DOC_STRING: u32 = 6;
    pub const DOMAIN: u32 = 7;
    pub const OVERLOAD: u32 = 8;
    pub const METADATA_PROPS: u32 = 9;
    pub const DEVICE_CONFIGURATIONS: u32 = 10;
}

pub mod int_int_list_entry_proto {
    pub const KEY: u32 = 1;
    pub const VALUE: u32 = 2;
}

pub mod node_device_configuration_proto {
    pub const CONFIGURATION_ID: u32 = 1;
    pub const SHARDING_SPEC: u32 = 2;
    pub const PIPELINE_STAGE: u32 = 3;
}

pub mod sharding_spec_proto {
    pub const TENSOR_NAME: u32 = 1;
    pub const DEVICE: u32 = 2;
    pub const INDEX_TO_DEVICE_GROUP_MAP: u32 = 3;
    pub const SHARDED_DIM: u32 = 4;
}

pub mod sharded_dim_proto {
    pub const AXIS: u32 = 1;
    pub const SIMPLE_SHARDING: u32 = 2;
}

pub mod simple_sharded_dim_proto {
    pub const DIM_VALUE: u32 = 1;
    pub const DIM_PARAM: u32 = 2;
    pub const NUM_SHARDS: u32 = 3;
}

pub mod training_info_proto {
    pub const INITIALIZATION: u32 = 1;
    pub const ALGORITHM: u32 = 2;
    pub const INITIALIZATION_BINDING: u32 = 3;
    pub const UPDATE_BINDING: u32 = 4;
}

pub mod model_proto {
    pub const IR_VERSION: u32 = 1;
    pub const PRODUCER_NAME: u32 = 2;
    pub const PRODUCER_VERSION: u32 = 3;
    pub const DOMAIN: u32 = 4;
    pub const MODEL_VERSION: u32 = 5;
    pub const DOC_STRING: u32 = 6;
    pub const GRAPH: u32 = 7;
    pub const OPSET_IMPORT: u32 = 8;
    pub const METADATA_PROPS: u32 = 14;
    pub const TRAINING_INFO: u32 = 20;
    pub const FUNCTIONS: u32 = 25;
    pub const CONFIGURATION: u32 = 26;
}

pub mod device_configuration_proto {
    pub const NAME: u32 = 1;
    pub const NUM_DEVICES: u32 = 2;
    pub const DEVICE: u32 = 3;
}

pub mod string_string_entry_proto {
    pub const KEY: u32 = 1;
    pub const VALUE: u32 = 2;
}

pub mod tensor_annotation {
    pub const TENSOR_NAME: u32 = 1;
    pub const QUANT_PARAMETER_TENSOR_NAMES: u32 = 2;
}

pub mod graph_proto {
    pub const NODE: u32 = 1;
    pub const NAME: u32 = 2;
    pub const INITIALIZER: u32 = 5;
    pub const DOC_STRING: u32 = 10;
    pub const INPUT: u32 = 11;
    pub const OUTPUT: u32 = 12;
    pub const VALUE_INFO: u32 = 13;
    pub const QUANTIZATION_ANNOTATION: u32 = 14;
    pub const SPARSE_INITIALIZER: u32 = 15;
    pub const METADATA_PROPS: u32 = 16;
}

pub mod tensor_proto {
    pub const DIMS: u32 = 1;
    pub const DATA_TYPE: u32 = 2;
    pub const SEGMENT: u32 = 3;
    pub const FLOAT_DATA: u32 = 4;
    pub const INT32_DATA: u32 = 5;
    pub const STRING_DATA: u32 = 6;
    pub const INT64_DATA: u32 = 7;
    pub const NAME: u32 = 8;
    pub const RAW_DATA: u32 = 9;
    pub const DOUBLE_DATA: u32 = 10;
    pub const UINT64_DATA: u32 = 11;
    pub const DOC_STRING: u32 = 12;
    pub const EXTERNAL_DATA: u32 = 13;
    pub const DATA_LOCATION: u32 = 14;
    pub const METADATA_PROPS: u32 = 16;
}

pub mod tensor_proto_data_type {
    pub const UNDEFINED: i32 = 0;
    pub const FLOAT: i32 = 1;
    pub const UINT8: i32 = 2;
    pub const INT8: i32 = 3;
    pub const UINT16: i32 = 4;
    pub const INT16: i32 = 5;
    pub const INT32: i32 = 6;
    pub const INT64: i32 = 7;
    pub const STRING: i32 = 8;
    pub const BOOL: i32 = 9;
    pub const FLOAT16: i32 = 10;
    pub const DOUBLE: i32 = 11;
    pub const UINT32: i32 = 12;
    pub const UINT64: i32 = 13;
    pub const COMPLEX64: i32 = 14;
    pub const COMPLEX128: i32 = 15;
    pub const BFLOAT16: i32 = 16;
    pub const FLOAT8E4M3FN: i32 = 17;
    pub const FLOAT8E4M3FNUZ: i32 = 18;
    pub const FLOAT8E5M2: i32 = 19;
    pub const FLOAT8E5M2FNUZ: i32 = 20;
    pub const UINT4: i32 = 21;
    pub const INT4: i32 = 22;
    pub const FLOAT4E2M1: i32 = 23;
    pub const FLOAT8E8M0: i32 = 24;
    pub const UINT2: i32 = 25;
    pub const INT2: i32 = 26;
    pub const FLOAT6E2M3: i32 = 27;
    pub const FLOAT6E3M2: i32 = 28;
}

pub mod tensor_proto_data_location {
    pub const DEFAULT: i32 = 0;
    pub const EXTERNAL: i32 = 1;
}

pub mod tensor_proto_segment {
    pub const BEGIN: u32 = 1;
    pub const END: u32 = 2;
}

pub mod sparse_tensor_proto {
    pub const VALUES: u32 = 1;
    pub const INDICES: u32 = 2;
    pub const DIMS: u32 = 3;
}

pub mod tensor_shape_proto {
    pub const DIM: u32 = 1;
}

pub mod tensor_shape_proto_dimension {
    pub const DIM_VALUE: u32 = 1;
    pub const DIM_PARAM: u32 = 2;
    pub const DENOTATION: u32 = 3;
}

pub mod type_proto {
    pub const TENSOR_TYPE: u32 = 1;
    pub const SEQUENCE_TYPE: u32 = 4;
    pub const MAP_TYPE: u32 = 5;
    pub const DENOTATION: u32 = 6;
    pub const OPAQUE_TYPE: u32 = 7;
    pub const SPARSE_TENSOR_TYPE: u32 = 8;
    pub const OPTIONAL_TYPE: u32 = 9;
}

pub mod type_proto_tensor {
    pub const ELEM_TYPE: u32 = 1;
    pub const SHAPE: u32 = 2;
}

pub mod type_proto_sequence {
    pub const ELEM_TYPE: u32 = 1;
}

pub mod type_proto_map {
    pub const KEY_TYPE: u32 = 1;
    pub const VALUE_TYPE: u32 = 2;
}

pub mod type_proto_optional {
    pub const ELEM_TYPE: u32 = 1;
}

pub mod type_proto_sparse_tensor {
    pub const ELEM_TYPE: u32 = 1;
    pub const SHAPE: u32 = 2;
}

pub mod type_proto_opaque {
    pub const DOMAIN: u32 = 1;
    pub const NAME: u32 = 2;
}

pub mod operator_set_id_proto {
    pub const DOMAIN: u32 = 1;
    pub const VERSION: u32 = 2;
}

pub mod function_proto {
    pub const NAME: u32 = 1;
    pub const INPUT: u32 = 4;
    pub const OUTPUT: u32 = 5;
    pub const ATTRIBUTE: u32 = 6;
    pub const NODE: u32 = 7;
    pub const DOC_STRING: u32 = 8;
    pub const OPSET_IMPORT: u32 = 9;
    pub const DOMAIN: u32 = 10;
    pub const ATTRIBUTE_PROTO: u32 = 11;
    pub const VALUE_INFO: u32 = 12;
    pub const OVERLOAD: u32 = 13;
    pub const METADATA_PROPS: u32 = 14;
}
