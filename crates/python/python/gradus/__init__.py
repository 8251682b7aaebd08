"""Gradus: the shapes and the exact values inside tensor programs.

- Sequences: `gradus.arange`, `gradus.linspace`, `gradus.logspace` and
  `gradus.geomspace` with NumPy's signatures; every element is the exact
  value, rounded once. `gradus.plan` has them without memory,
  `gradus.dask` larger than memory.
- Models: `gradus.load` opens one, to infer shapes, fold, convert, run
  and save. `gradus.check` and `gradus.prove` compare two,
  `gradus.verify_proof` replays a proof,
  `gradus.Model.lint` reports what is wrong in one, and `gradus.testing`
  has assertions for tests.
- Graphs: `gradus.Graph` makes one, operator by operator.
- Dimensions: `gradus.Dim`, and `gradus.decide` for conditions.
- Frameworks: `gradus.numpy`, `gradus.torch`, `gradus.jax`,
  `gradus.tensorflow`, `gradus.paddle`, `gradus.onnx` and
  `gradus.openvino` have the signatures, defaults, casts and errors of
  each.
- Other programs: `gradus.compare` predicts what eleven return;
  `gradus.compat` has the functions of tools that Gradus replaces.
- Errors: `gradus.errors`.
"""

import importlib as _importlib
import os as _os
from types import ModuleType as _ModuleType

from . import _native, errors, plan
from ._audit import AuditReport, InvarianceCheck, RunPair, audit
from ._check import CheckReport, NodeCheck, OutputCheck, ProofReport, RuntimeReport
from ._cost import Amounts, Block, Cost, Fit, MemoryPlan, NodeCost
from ._compare import Difference, ModelSequence, Portability, compare
from ._dims import Decision, decide
from ._dlpack import from_dlpack, to_dlpack
from ._graph import Graph, Symbolic
from ._models import (
    Condition,
    Contract,
    ContractShapes,
    ConversionNote,
    ConversionReport,
    ConvertedModel,
    Dim,
    EditedModel,
    Finding,
    FoldedModel,
    FoldReport,
    Inference,
    Interval,
    Kept,
    MapType,
    Model,
    OptionalType,
    OutputShape,
    SequenceType,
    TensorType,
    UnknownType,
    load,
)
from ._native import DeviceArray, arange, devices, geomspace, linspace, logspace
from ._quantized import Loss, QuantizationReport, TensorLoss
from ._shape import shape, size
from ._verify import check, prove, verify_proof
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
    "AuditReport",
    "Block",
    "CheckReport",
    "Condition",
    "Contract",
    "ContractShapes",
    "ConversionNote",
    "ConversionReport",
    "ConvertedModel",
    "Cost",
    "Decision",
    "DeviceArray",
    "Difference",
    "Dim",
    "EditedModel",
    "Finding",
    "Fit",
    "FoldReport",
    "FoldedModel",
    "GradusError",
    "Graph",
    "Inference",
    "Interval",
    "InternalError",
    "InvarianceCheck",
    "Kept",
    "Loss",
    "MapType",
    "MemoryPlan",
    "Model",
    "ModelSequence",
    "NodeCheck",
    "NodeCost",
    "OptionalType",
    "OutputShape",
    "OutputCheck",
    "ProofReport",
    "Portability",
    "QuantizationReport",
    "RunPair",
    "RuntimeReport",
    "SequenceType",
    "Symbolic",
    "TensorLoss",
    "TensorType",
    "UnknownType",
    "__version__",
    "arange",
    "audit",
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
    "verify_proof",
]
