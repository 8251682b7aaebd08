"""Running models in ONNX Runtime and in the reference of the `onnx` package, on inputs made for a purpose."""

import collections
import os

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# Opset versions that are not released are run all the same.
os.environ["ALLOW_RELEASED_ONNX_OPSET_ONLY"] = "0"

# Sizes without a name in the two bindings.
UNNAMED = {"A": 5, "B": 3}
WORDS = ["", "a", "Gradus", "ß", "two words"]


class NotRun(Exception):
    """Inputs that nobody can make, or that cannot be given."""


def graphs(graph):
    """A graph and those in it."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                yield from graphs(inner)


def operators(model) -> collections.Counter:
    """How many nodes of each operator there are, those of inner graphs included, those of functions not."""
    return collections.Counter(node.op_type for graph in graphs(model.graph) for node in graph.node)


def required(model) -> tuple[list, list]:
    """The inputs that must be given, and those that need not."""
    stored = {tensor.name for tensor in model.graph.initializer}
    stored |= {tensor.values.name for tensor in model.graph.sparse_initializer}
    inputs = model.graph.input
    return [x for x in inputs if x.name not in stored], [x for x in inputs if x.name in stored]


def symbols(model) -> list[str]:
    """The names of sizes of inputs; `?`, which exporters write, is none."""
    found = {}
    for info in required(model)[0]:
        found |= {dim.dim_param: None for dim in info.type.tensor_type.shape.dim if dim.dim_param not in ("", "?")}
    return list(found)


def is_open(dim) -> bool:
    """Whether a size is not a number; one below zero is what some exporters write for that."""
    return not dim.HasField("dim_value") or dim.dim_value < 0


def shape(info, bind: dict, unnamed: int) -> list[int]:
    """The shape of an input when symbols are bound."""
    if info.type.WhichOneof("value") != "tensor_type" or not info.type.tensor_type.HasField("shape"):
        raise NotRun(f"input {info.name!r} is not a tensor of known rank")
    dims = info.type.tensor_type.shape.dim
    return [bind.get(dim.dim_param, unnamed) if is_open(dim) else dim.dim_value for dim in dims]


def made(rng, code: int, dims, top: int) -> np.ndarray:
    """A random array; whole numbers are below `top`."""
    if code == TensorProto.STRING:
        return rng.choice(np.array(WORDS, dtype=object), dims)
    dtype = helper.tensor_dtype_to_np_dtype(code)
    if dtype == np.bool_:
        return rng.integers(0, 2, dims).astype(bool)
    if "int" in dtype.name:
        return rng.integers(0, top, dims).astype(dtype)
    if dtype.kind == "c":
        return (rng.standard_normal(dims) + 1j * rng.standard_normal(dims)).astype(dtype)
    return np.asarray(rng.standard_normal(dims), dtype)


def feeds(model, bind: dict, unnamed: int, top: int) -> dict:
    """Random inputs."""
    rng = np.random.default_rng(1)
    return {
        info.name: made(rng, info.type.tensor_type.elem_type, shape(info, bind, unnamed), top)
        for info in required(model)[0]
    }


def overrides(model) -> dict:
    """Other values for inputs that have a default one, of the same shape."""
    # Before version 4, all initializers are inputs, and none is meant to be given.
    if model.ir_version < 4:
        return {}
    rng, optional = np.random.default_rng(2), {info.name for info in required(model)[1]}
    other = {}
    for tensor in model.graph.initializer:
        if tensor.name in optional:
            array = numpy_helper.to_array(tensor)
            turned = array.reshape(-1)[::-1].reshape(array.shape)
            other[tensor.name] = made(rng, tensor.data_type, array.shape, 2) if array.dtype.kind == "f" else turned
    return other


def stored(model, folder) -> dict:
    """The inputs of a `test_data_set`, one file each."""
    values = {}
    for i, info in enumerate(required(model)[0] if model.ir_version >= 4 else model.graph.input):
        file = folder / f"input_{i}.pb"
        if not file.exists():
            continue
        kind, data = info.type.WhichOneof("value"), file.read_bytes()
        if kind == "sequence_type":
            values[info.name] = numpy_helper.to_list(onnx.SequenceProto.FromString(data))
        elif kind == "optional_type":
            values[info.name] = numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
        else:
            values[info.name] = numpy_helper.to_array(TensorProto.FromString(data))
    return values


def session(model, optimised: bool):
    """A session of ONNX Runtime on one thread, for a path or the bytes of a model."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    if not optimised:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        # Constant weights are packed, and then multiplied in another order than computed ones.
        options.add_session_config_entry("session.disable_prepacking", "1")
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


class Runtime:
    """A model in ONNX Runtime."""

    def __init__(self, path, optimised: bool):
        self.session = session(str(path), optimised)
        self.names = [output.name for output in self.session.get_outputs()]

    def run(self, inputs: dict) -> dict:
        for value in inputs.values():
            if isinstance(value, np.ndarray) and hasattr(ml_dtypes, value.dtype.name):
                raise NotRun(f"ONNX Runtime takes no {value.dtype} from NumPy")
        return dict(zip(self.names, self.session.run(None, inputs), strict=True))


class Reference:
    """A model in the reference of the `onnx` package."""

    def __init__(self, path):
        from onnx.reference import ReferenceEvaluator

        self.evaluator = ReferenceEvaluator(str(path))

    def run(self, inputs: dict) -> dict:
        with np.errstate(all="ignore"):
            return dict(zip(self.evaluator.output_names, self.evaluator.run(None, inputs), strict=True))


def difference(one, other, close: float = 0) -> str | None:
    """Why two values have not the same bits, in words; nothing if they have, or if floats are that close to their greatest."""
    if isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return f"has {len(one)} values, then {len(other)}"
        return next((why for pair in zip(one, other, strict=True) if (why := difference(*pair, close))), None)
    if isinstance(one, dict) and isinstance(other, dict):
        return difference([*one, *one.values()], [*other, *other.values()], close)
    if close and isinstance(one, float) and isinstance(other, float):
        one, other = np.asarray(one), np.asarray(other)
    if not isinstance(one, (np.ndarray, np.generic)) or not isinstance(other, (np.ndarray, np.generic)):
        same = type(one) is type(other) and repr(one) == repr(other)
        return None if same else f"is {one!r:.40}, then {other!r:.40}"
    one, other = np.asarray(one), np.asarray(other)
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return f"is {one.dtype}{list(one.shape)}, then {other.dtype}{list(other.shape)}"
    if one.dtype == object:
        return None if one.tolist() == other.tolist() else "has other texts"
    if one.tobytes() == other.tobytes():
        return None
    if one.dtype.kind in "SU":
        return "has other texts"
    with np.errstate(all="ignore"):
        wide = [np.nan_to_num(x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)) for x in (one, other)]
    apart = np.abs(wide[0] - wide[1]).max()
    near = one.dtype.kind not in "biu" and apart <= close * max(1, np.abs(wide[0]).max())
    return None if near else f"differs by up to {apart:.3g}"


def first_difference(expected: dict, found: dict, close: float = 0) -> str | None:
    """The first output that differs; `expected` may have fewer."""
    if missing := [name for name in expected if name not in found]:
        return f"there is no output {missing[0]!r}"
    differences = ((name, difference(value, found[name], close)) for name, value in expected.items())
    return next((f"{name!r} {why}" for name, why in differences if why), None)
