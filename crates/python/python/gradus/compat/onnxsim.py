"""The function and the command of onnxsim, by folding."""

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
    """Folds a model, as `onnxsim.simplify` does.

    Source: onnxsim 0.8, `simplify`, for names and order of parameters.
    Options that choose how onnxsim computes are without effect.

    Args:
        model: a model of the `onnx` package, or a path.
        check_n: if above zero, shapes and outputs of both models are
            compared before the model is returned.
        perform_optimization: accepted; without effect.
        skip_fuse_bn: accepted; without effect, as no operators are fused.
        overwrite_input_shapes: shapes of inputs, which are fixed; `None`
            names the only input.
        test_input_shapes: accepted; without effect.
        skipped_optimizers: accepted; without effect.
        skip_constant_folding: `False`.
        skip_shape_inference: accepted; without effect.
        input_data: accepted; without effect.
        dynamic_input_shape: accepted; without effect.
        custom_lib: `None`.
        include_subgraph: accepted; graphs within nodes are always folded.
        unused_output: `None`.
        tensor_size_threshold: maximum size of a constant that is added.
        mutable_initializer: accepted; without effect.
        input_shapes: as `overwrite_input_shapes`.
        target_opset_version: the operator set of the model that is
            returned.
        **others: options that choose how onnxsim computes: `providers`,
            `check_rtol`, …; without effect.

    Returns:
        The model, and `True`: a check that fails raises.

    Raises:
        UnsupportedError: if an option asks for another result:
            `custom_lib`, `unused_output`, `skip_constant_folding`, …
        GradusError: if the model is wrong, or the check fails.

    Example:
        >>> from gradus.compat.onnxsim import simplify
        >>> model, ok = simplify("examples/heads.onnx")
        >>> len(model.graph.node), ok
        (2, True)
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
    """Runs the command `onnxsim`.

    Args:
        arguments: the words of the command line; by default those of the
            process.

    Returns:
        The exit status.

    Raises:
        GradusError: if the model is wrong, or the check fails.

    Example:
        >>> import os, tempfile
        >>> from gradus.compat import onnxsim
        >>> small = os.path.join(tempfile.mkdtemp(), "small.onnx")
        >>> status = onnxsim.main(["examples/baked.onnx", small])
        nodes 2 -> 2, 0 constants added (0 bytes)
    """
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
