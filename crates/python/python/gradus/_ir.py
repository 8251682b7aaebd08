"""Models of the package `onnx_ir`, which exporters hold in memory."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

#: Fewest bytes of a constant that is given beside the model, and not within its message.
LARGE = 1024

#: Bytes of which the beginning of each constant in a file is a multiple.
ALIGNMENT = 64


def is_ir(source: Any) -> bool:
    """Returns true for an `onnx_ir.Model`, and for a program of an exporter that has one."""
    return type(ir_of(source)).__module__.split(".")[0] == "onnx_ir"


def ir_of(source: Any) -> Any:
    # A program of PyTorch has its model as an attribute.
    return source.model if type(source).__name__ == "ONNXProgram" else source


def files_of(source: Any) -> dict[str, Any]:
    """The file `model.onnx` of an `onnx_ir.Model`, and `constants` beside it: a list of its large ones, which are not
    copied."""
    import onnx_ir as ir

    model = ir_of(source)
    kept, constants, offset = [], [], 0
    try:
        for graph in model.graphs():
            for value in graph.initializers.values():
                tensor = value.const_value
                if tensor is None or tensor.dtype == ir.DataType.STRING or tensor.nbytes < LARGE:
                    continue
                kept.append((value, tensor))
                constants.append(_bytes_of(tensor))
                # A tensor in a file, by its name alone: nothing opens it here.
                value.const_value = ir.ExternalTensor(
                    "constants", offset, tensor.nbytes, tensor.dtype, shape=tensor.shape, name=tensor.name or value.name
                )
                offset += -(-tensor.nbytes // ALIGNMENT) * ALIGNMENT
        message = ir.to_proto(model).SerializeToString()
    finally:
        for value, tensor in kept:
            value.const_value = tensor
    return {"model.onnx": message, "constants": constants}


def _bytes_of(tensor: Any) -> Any:
    """The elements of a tensor as they lie in a file: a view of them, unless several share a byte."""
    if tensor.dtype.bitwidth < 8:
        return tensor.tobytes()
    array = np.ascontiguousarray(tensor.numpy()).reshape(-1)
    return array if array.dtype.isnative else tensor.tobytes()


class Sources:
    """The places in the module's source that an exporter recorded for nodes."""

    _FRAME = re.compile(r'File "(?P<file>[^"\n]+)", line (?P<line>\d+)[^\n]*(?:\n[ \t]*(?!File )(?P<code>[^\n]+))?')

    #: Files of PyTorch itself, which modules call.
    _OWN = re.compile(r"[/\\](?:site|dist)-packages[/\\]torch[/\\]")

    def __init__(self, source: Any) -> None:
        model = ir_of(source)
        nodes = (node for graph in model.graphs() for node in graph) if is_ir(source) else ()
        self._traces = {node.name: node.metadata_props.get("pkg.torch.onnx.stack_trace", "") for node in nodes}

    def find(self, place: str) -> tuple[str, int, str | None] | None:
        """The file, the line and its text, of the innermost node of a place that has one: the innermost call outside
        PyTorch."""
        for name in reversed(re.findall(r'node "([^"]*)"', place)):
            frames = list(self._FRAME.finditer(self._traces.get(name, "")))
            if frames:
                last = next((frame for frame in reversed(frames) if not self._OWN.search(frame["file"])), frames[-1])
                return last["file"], int(last["line"]), last["code"]
        return None
