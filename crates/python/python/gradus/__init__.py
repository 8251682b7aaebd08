"""Gradus: the sequences and the shapes inside tensor programs, exactly as their standards say.

- :func:`arange`, :func:`range`, :func:`linspace`, :func:`logspace`, :func:`geomspace`, :func:`shape`, :func:`size`: NumPy's
  signatures; every element is the exact value, rounded once.
- :mod:`gradus.plan`: the same sequences, planned and not written.
- :mod:`gradus.numpy`, :mod:`gradus.torch`, :mod:`gradus.jax`, :mod:`gradus.tensorflow`, :mod:`gradus.paddle`, :mod:`gradus.onnx`,
  :mod:`gradus.openvino`: each with the signatures, defaults, casts and errors of its framework.
- :func:`load`: a model, to infer its shapes, to fold, to convert, to run and to save; :class:`Graph`: a graph, made operator by operator.
- :func:`check`: whether two models, or a model and a runtime, give the same bits.
- :meth:`Model.lint`: what is wrong in a model, or surprises those who ship it.
- :func:`prove`: whether two models give the same bits for all inputs and sizes.
- :func:`compare`: what eleven programs give for one call.
- :func:`devices`: GPUs, which make the same sequences with the same bits (``device=``).
- :mod:`gradus.dask`: arrays larger than memory.
- :mod:`gradus.errors`: what is raised.
"""

import importlib as _importlib
import os as _os
from types import ModuleType as _ModuleType

from . import _native, errors, plan
from ._check import CheckReport, NodeCheck, OutputCheck, ProofReport, RuntimeReport
from ._cost import Amounts, Block, Cost, Fit, MemoryPlan, NodeCost
from ._compare import Difference, ModelSequence, Portability, compare
from ._dims import Decision, decide
from ._dlpack import from_dlpack, to_dlpack
from ._graph import Graph, Symbolic
from ._models import (
    Condition,
    ConversionNote,
    ConversionReport,
    ConvertedModel,
    Dim,
    Finding,
    FoldedModel,
    FoldReport,
    Inference,
    Kept,
    MapType,
    Model,
    OptionalType,
    SequenceType,
    TensorType,
    UnknownType,
    check,
    load,
    prove,
)
from ._native import DeviceArray, arange, devices, geomspace, linspace, logspace
from ._shape import shape, size
from .errors import GradusError, InternalError

__version__: str = _native.__version__

range = arange

if hasattr(_os, "register_at_fork"):
    # Threads do not survive a fork; the pool of a forked process would be waited for without end.
    _os.register_at_fork(after_in_child=_native._forked)

_NAMESPACES = {"dask", "jax", "numpy", "onnx", "openvino", "paddle", "tensorflow", "torch"}


def __getattr__(name: str) -> _ModuleType:
    # Namespaces are there when they are asked for: not everyone needs them, and some need other packages.
    if name in _NAMESPACES:
        return _importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_NAMESPACES})


__all__ = [
    "Amounts",
    "Block",
    "CheckReport",
    "Condition",
    "ConversionNote",
    "ConversionReport",
    "ConvertedModel",
    "Cost",
    "Decision",
    "DeviceArray",
    "Difference",
    "Dim",
    "Finding",
    "Fit",
    "FoldReport",
    "FoldedModel",
    "GradusError",
    "Graph",
    "Inference",
    "InternalError",
    "Kept",
    "MapType",
    "MemoryPlan",
    "Model",
    "ModelSequence",
    "NodeCheck",
    "NodeCost",
    "OptionalType",
    "OutputCheck",
    "ProofReport",
    "Portability",
    "RuntimeReport",
    "SequenceType",
    "Symbolic",
    "TensorType",
    "UnknownType",
    "__version__",
    "arange",
    "check",
    "compare",
    "decide",
    "devices",
    "errors",
    "from_dlpack",
    "geomspace",
    "linspace",
    "load",
    "logspace",
    "plan",
    "prove",
    "shape",
    "size",
    "to_dlpack",
]
