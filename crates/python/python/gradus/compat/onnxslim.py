"""The function and the command of onnxslim, by folding."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

import onnx

from ._models import Source, folded, shapes_of, to_onnx, without

__all__ = ["main", "slim"]


def slim(
    model: Source,
    output_model: str | os.PathLike[str] | None = None,
    *,
    model_check: bool = False,
    input_shapes: Sequence[str] | None = None,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    no_shape_infer: bool = False,
    skip_optimizations: Sequence[str] | None = None,
    dtype: str | None = None,
    skip_fusion_patterns: Sequence[str] | None = None,
    size_threshold: int | None = None,
    inspect: bool = False,
    dump_to_disk: bool = False,
    save_as_external_data: bool = False,
    model_check_inputs: Any = None,
    verbose: bool = False,
) -> onnx.ModelProto | None:
    """Folds a model, as `onnxslim.slim` does, and returns or saves it.

    Source: onnxslim 0.1, `slim`, for names of parameters. Options that
    choose how onnxslim computes are without effect.

    Args:
        model: a model of the `onnx` package, or a path.
        output_model: the file to write; `None` returns the model.
        model_check: compare shapes and outputs of both models.
        input_shapes: shapes of inputs, which are fixed:
            `["x:1,3,224,224"]`.
        inputs: `None`.
        outputs: `None`.
        no_shape_infer: accepted; without effect.
        skip_optimizations: accepted; without effect.
        dtype: `None`.
        skip_fusion_patterns: accepted; without effect, as no operators are
            fused.
        size_threshold: maximum bytes of a constant that is added.
        inspect: `False`.
        dump_to_disk: `False`.
        save_as_external_data: `False`.
        model_check_inputs: accepted; without effect.
        verbose: accepted; without effect.

    Returns:
        The model, or `None` if it is saved.

    Raises:
        UnsupportedError: if `inputs`, `outputs`, `dtype`, `inspect`,
            `dump_to_disk` or `save_as_external_data` is given.
        GradusError: if the model is wrong, or the check fails.

    Example:
        >>> from gradus.compat import onnxslim
        >>> len(onnxslim.slim("examples/heads.onnx").graph.node)
        2
    """
    without(
        "slim",
        inputs=(inputs, None),
        outputs=(outputs, None),
        dtype=(dtype, None),
        inspect=(inspect, False),
        dump_to_disk=(dump_to_disk, False),
        save_as_external_data=(save_as_external_data, False),
    )
    most = 1 << 20 if size_threshold is None else size_threshold
    made = folded(model, shapes_of(input_shapes or []), most, model_check)
    if output_model is None:
        return to_onnx(made)
    made.save(output_model)
    return None


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command `onnxslim`.

    Args:
        arguments: the words of the command line; by default those of the
            process.

    Returns:
        The exit status.

    Raises:
        GradusError: if the model is wrong, or the check fails.

    Example:
        >>> import os, tempfile
        >>> from gradus.compat import onnxslim
        >>> small = os.path.join(tempfile.mkdtemp(), "small.onnx")
        >>> onnxslim.main(["examples/heads.onnx", small])
        0
    """
    parser = argparse.ArgumentParser(prog="python -m gradus.compat.onnxslim")
    parser.add_argument("input_model")
    parser.add_argument("output_model", nargs="?")
    parser.add_argument("--model-check", "--model_check", action="store_true")
    parser.add_argument("--input-shapes", "--input_shapes", nargs="+", default=[], metavar="NAME:SIZE,…")
    parser.add_argument("--size-threshold", "--size_threshold", type=int)
    for switch in ("--no-shape-infer", "--no_shape_infer", "--verbose"):
        parser.add_argument(switch, action="store_true", help="accepted, and without effect")
    given = parser.parse_args(arguments)
    slim(
        given.input_model,
        given.output_model or given.input_model,
        model_check=given.model_check,
        input_shapes=given.input_shapes,
        size_threshold=given.size_threshold,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
