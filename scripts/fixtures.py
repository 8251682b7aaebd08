"""Makes the small files that tests of the readers read, under `crates/formats/tests/data/`.

    python scripts/fixtures.py            write them
    python scripts/fixtures.py --check    fail if they differ from what is checked in
"""

import io
import sys
import zipfile

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from generated import ROOT, write_or_check


# The elements: small enough for the narrowest types.
NUMBERS = [0, 1, 1, 0, 1]


def typed(dtype: int, name: str) -> onnx.TensorProto:
    """The numbers in the field for their type."""
    tensor = TensorProto(name=name, data_type=dtype, dims=[len(NUMBERS)])
    array = np.array(NUMBERS).astype(helper.tensor_dtype_to_np_dtype(dtype))
    name_of = TensorProto.DataType.Name(dtype)
    if name_of in ("FLOAT", "COMPLEX64"):
        tensor.float_data.extend(array.view(np.float32).tolist())
    elif name_of in ("DOUBLE", "COMPLEX128"):
        tensor.double_data.extend(array.view(np.float64).tolist())
    elif name_of == "INT64":
        tensor.int64_data.extend(array.tolist())
    elif name_of in ("UINT32", "UINT64"):
        tensor.uint64_data.extend(array.tolist())
    elif name_of in ("INT4", "UINT4", "FLOAT4E2M1", "INT2", "UINT2"):
        tensor.int32_data.extend(numpy_helper.from_array(array).raw_data)
    elif array.dtype.kind in "biu" and array.dtype.itemsize <= 4 and array.dtype.names is None:
        tensor.int32_data.extend(array.astype(np.int32).tolist())
    else:
        unsigned = {1: np.uint8, 2: np.uint16}[array.dtype.itemsize]
        tensor.int32_data.extend(array.view(unsigned).tolist())
    return tensor


def raw(dtype: int, name: str) -> onnx.TensorProto:
    array = np.array(NUMBERS).astype(helper.tensor_dtype_to_np_dtype(dtype))
    tensor = numpy_helper.from_array(array, name)
    assert tensor.raw_data and tensor.data_type == dtype
    return tensor


def encodings() -> bytes:
    """Initializers of every element type, once in their field and once raw, and given back by the graph."""
    dtypes = [value for name, value in TensorProto.DataType.items() if name not in ("UNDEFINED", "STRING")]
    initializers = []
    for dtype in dtypes:
        name = TensorProto.DataType.Name(dtype).lower()
        initializers += [typed(dtype, f"{name}.typed"), raw(dtype, f"{name}.raw")]
    initializers.append(helper.make_tensor("string.typed", TensorProto.STRING, [2], [b"a", "d\u00e9j\u00e0".encode()]))
    sparse = helper.make_sparse_tensor(
        helper.make_tensor("sparse.linear", TensorProto.FLOAT, [2], [1.5, 2.5]),
        helper.make_tensor("", TensorProto.INT64, [2], [1, 5]),
        [2, 3],
    )
    coordinates = helper.make_sparse_tensor(
        helper.make_tensor("sparse.coordinates", TensorProto.INT8, [2], [1, 2]),
        helper.make_tensor("", TensorProto.INT64, [2, 2], [0, 1, 1, 2]),
        [2, 3],
    )
    outputs = [helper.make_tensor_value_info(t.name, t.data_type, list(t.dims)) for t in initializers]
    for name, dtype in (("sparse.linear", TensorProto.FLOAT), ("sparse.coordinates", TensorProto.INT8)):
        outputs.append(helper.make_tensor_value_info(name, dtype, [2, 3]))
    graph = helper.make_graph([], "encodings", [], outputs, initializers)
    graph.sparse_initializer.extend([sparse, coordinates])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 28)], ir_version=14)
    return model.SerializeToString(deterministic=True)


def external() -> tuple[bytes, bytes]:
    """Tensors in a file beside the model: two share a region, one starts at an offset, one states no length."""
    content = np.arange(8, dtype=np.float32).tobytes()
    initializers = []
    for name, count, entries in (
        ("first", 4, {"offset": 0, "length": 16}),
        ("same", 4, {"offset": 0, "length": 16}),
        ("rest", 4, {"offset": 16}),
    ):
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=[count], data_location=TensorProto.EXTERNAL)
        for key, value in {"location": "external.bin", **entries}.items():
            tensor.external_data.add(key=key, value=str(value))
        initializers.append(tensor)
    outputs = [helper.make_tensor_value_info(t.name, t.data_type, [4]) for t in initializers]
    graph = helper.make_graph([], "external", [], outputs, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return model.SerializeToString(deterministic=True), content


def attributes() -> bytes:
    """A node with an attribute of every kind."""
    tensor = helper.make_tensor("t", TensorProto.INT64, [2], [7, 8])
    inner = helper.make_graph(
        [helper.make_node("Identity", ["outer"], ["y"])],
        "inner",
        [],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    )
    sparse = helper.make_sparse_tensor(
        helper.make_tensor("s", TensorProto.FLOAT, [1], [1.5]), helper.make_tensor("", TensorProto.INT64, [1], [1]), [3]
    )
    declared = helper.make_tensor_type_proto(TensorProto.FLOAT, ["n", 3, None])
    node = helper.make_node("Everything", ["outer"], ["out"], name="all", domain="test")
    for name, value in {
        "float": 1.5, "int": -7, "string": "text", "tensor": tensor, "graph": inner, "sparse_tensor": sparse,
        "type_proto": declared, "floats": [1.5, 2.5], "ints": [1, -2], "strings": ["a", "b"], "tensors": [tensor],
        "graphs": [inner], "sparse_tensors": [sparse], "type_protos": [helper.make_sequence_type_proto(declared)],
    }.items():  # fmt: skip
        node.attribute.append(helper.make_attribute(name, value))
    graph = helper.make_graph(
        [node],
        "attributes",
        [helper.make_tensor_value_info("outer", TensorProto.FLOAT, ["batch", 2])],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, None)],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("test", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString(deterministic=True)


def arrays() -> bytes:
    """An .npz file with one array stored and one compressed, as NumPy writes them."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, array, method in (
            ("x", np.arange(6, dtype=np.float32).reshape(2, 3), zipfile.ZIP_STORED),
            ("zeros", np.zeros(1000, dtype=np.int64), zipfile.ZIP_DEFLATED),
        ):
            file = io.BytesIO()
            np.save(file, array)
            info = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            info.compress_type = method
            archive.writestr(info, file.getvalue())
    return out.getvalue()


def numpy_array(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def files() -> dict[str, bytes]:
    external_model, external_content = external()
    return {
        "encodings.onnx": encodings(),
        "external.onnx": external_model,
        "external.bin": external_content,
        "attributes.onnx": attributes(),
        "tensor.pb": numpy_helper.from_array(np.array([[1, 2], [3, 4]], dtype=np.int16)).SerializeToString(),
        "arrays.npz": arrays(),
        "columns.npy": numpy_array(np.asfortranarray(np.arange(6, dtype=">i4").reshape(2, 3))),
        "bfloat16.npy": numpy_array(np.array([1, 0.5, -2], dtype=ml_dtypes.bfloat16)),
        "unicode.npy": numpy_array(np.array(["a", "d\u00e9j\u00e0"])),
    }


if __name__ == "__main__":
    sys.exit(write_or_check({ROOT / "crates/formats/tests/data" / name: content for name, content in files().items()}))
