"""``onnxsim``: ``simplify``, by folding.

Example:
    >>> import onnx
    >>> from gradus.compat.onnxsim import simplify
    >>> model, ok = simplify(onnx.load("examples/heads.onnx"))
    >>> len(model.graph.node), ok
    (2, True)
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import onnx

from .._models import Model
from ._models import Shapes, Source, count_of_bytes, folded, shapes_of, to_onnx, without

__all__ = ["main", "simplify"]

# Options that choose how the other program computes or compares.
_NO_EFFECT = {
    "check_atol",
    "check_rtol",
    "extra_optimizers",
    "gemm_fusion_backend",
    "import_custom_schemas",
    "initializers_as_constants",
    "input_fill",
    "providers",
}


def simplify(
    model: Source,
    check_n: int = 0,
    perform_optimization: bool = True,
    skip_fuse_bn: bool = False,
    overwrite_input_shapes: Shapes | None = None,
    test_input_shapes: Shapes | None = None,
    skipped_optimizers: Sequence[str] | None = None,
    skip_constant_folding: bool = False,
    skip_shape_inference: bool = False,
    input_data: dict[str, Any] | None = None,
    dynamic_input_shape: bool = False,
    custom_lib: str | None = None,
    include_subgraph: bool = False,
    unused_output: Sequence[str] | None = None,
    tensor_size_threshold: str | int = "1.5GB",
    mutable_initializer: bool = False,
    *,
    input_shapes: Shapes | None = None,
    target_opset_version: int | None = None,
    **others: Any,
) -> tuple[onnx.ModelProto, bool]:
    """Folds a model.

    Args:
        model: a model of the ``onnx`` package, or a path.
        check_n: if above zero, the shapes of both models are evaluated under random bindings.
        overwrite_input_shapes, input_shapes: shapes of inputs, which are fixed; ``None`` names the only input.
        target_opset_version: the operator set of the model that is returned.
        tensor_size_threshold: no constant of more bytes is added.
        others: accepted where they mean nothing here: no operators are fused, no optimizer is run, no inference is needed to
            check.

    Returns:
        The model, and ``True``: a check that fails raises.

    Raises:
        UnsupportedError: of ``custom_lib``, ``unused_output``, ``skip_constant_folding``, and other options that ask for
            another result.
        GradusError: if the model is wrong, or the check fails.
    """
    without(
        "simplify",
        custom_lib=(custom_lib, None),
        unused_output=(unused_output, None),
        skip_constant_folding=(skip_constant_folding, False),
        **{option: (given, None) for option, given in others.items() if option not in _NO_EFFECT},
    )
    shapes: dict[Any, Sequence[int]] = {**(input_shapes or {}), **(overwrite_input_shapes or {})}
    made = folded(model, shapes, count_of_bytes(tensor_size_threshold), check_n > 0)
    return to_onnx(_in_opset(made, target_opset_version)), True


def _in_opset(model: Model, opset: int | None) -> Model:
    return model if opset is None else model.convert("onnx", opset=opset)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command ``onnxsim``."""
    parser = argparse.ArgumentParser(prog="python -m gradus.compat.onnxsim")
    parser.add_argument("input_model")
    parser.add_argument("output_model")
    parser.add_argument("check_n", nargs="?", type=int, default=0)
    parser.add_argument("--overwrite-input-shape", "--input-shape", nargs="+", default=[], metavar="NAME:SIZE,…")
    parser.add_argument("--test-input-shape", nargs="+", default=[], metavar="NAME:SIZE,…")
    parser.add_argument("--target-opset", type=int)
    parser.add_argument("--no-large-tensor", nargs="?", const="1KB", default="1.5GB", metavar="SIZE")
    for switch in ("--skip-optimization", "--skip-shape-inference", "--dynamic-input-shape", "--include-subgraph"):
        parser.add_argument(switch, action="store_true", help="accepted, and without effect")
    given = parser.parse_args(arguments)
    most = count_of_bytes(given.no_large_tensor)
    model = folded(given.input_model, shapes_of(given.overwrite_input_shape), most, given.check_n > 0)
    _in_opset(model, given.target_opset).save(given.output_model)
    print(model.report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
