"""ONNX Runtime's script of that name: shapes written into the model."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import onnx

from .. import _models, _native
from ._models import Source

__all__ = ["SymbolicShapeInference", "main"]


class SymbolicShapeInference:
    """The class of ONNX Runtime's script: shapes of all values."""

    @staticmethod
    def infer_shapes(
        in_mp: Source,
        int_max: int = 2**31 - 1,
        auto_merge: bool = False,
        guess_output_rank: bool = False,
        verbose: int = 0,
    ) -> onnx.ModelProto:
        """Returns a copy of the model that declares all known types and shapes.

        Source: `onnxruntime.tools.symbolic_shape_infer`, for names and order of
        parameters. Gradus neither merges symbols nor guesses ranks: what is
        unknown remains undeclared.

        Args:
            in_mp: a model of the `onnx` package, or a path.
            int_max: accepted; without effect.
            auto_merge: accepted; without effect.
            guess_output_rank: accepted; without effect.
            verbose: accepted; without effect.

        Returns:
            The model.

        Raises:
            GradusError: if the model is wrong.

        Example:
            >>> from gradus.compat import symbolic_shape_infer as script
            >>> shapes = script.SymbolicShapeInference.infer_shapes
            >>> model = shapes("examples/positions.onnx")
            >>> [value.name for value in model.graph.value_info]
            ['seq', 'positions', 'seq_float']
        """
        inference = _models.load(in_mp).infer()
        made = onnx.ModelProto()
        made.CopyFrom(in_mp if isinstance(in_mp, onnx.ModelProto) else onnx.load(in_mp))
        graph = made.graph
        constants = {each.name for each in graph.initializer}
        declared = {each.name: each for each in graph.output}
        given = {each.name for each in graph.input}
        del graph.value_info[:]
        for name, known in inference.items():
            is_tensor = isinstance(known, _models.TensorType) and known.dtype is not None and known.shape is not None
            if name in given or name in constants or not is_tensor:
                continue
            assert isinstance(known, _models.TensorType) and known.shape is not None
            shape = [size if isinstance(size, int) else None if size is None else str(size) for size in known.shape]
            value = onnx.helper.make_tensor_value_info(name, _native._onnx_type(known.dtype), shape)
            if name in declared:
                declared[name].CopyFrom(value)
            else:
                graph.value_info.append(value)
        return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command `symbolic_shape_infer.py`.

    Args:
        arguments: the words of the command line; by default those of the
            process.

    Returns:
        The exit status.

    Raises:
        GradusError: if the model is wrong.

    Example:
        >>> from gradus.compat import symbolic_shape_infer as script
        >>> script.main(["--input", "examples/positions.onnx"])
        0
    """
    parser = argparse.ArgumentParser(prog="python -m gradus.compat.symbolic_shape_infer")
    parser.add_argument("--input", required=True)
    parser.add_argument("--output", default="")
    parser.add_argument("--auto_merge", action="store_true", help="accepted, and without effect")
    parser.add_argument("--guess_output_rank", action="store_true", help="accepted, and without effect")
    parser.add_argument("--int_max", type=int, default=2**31 - 1, help="accepted, and without effect")
    parser.add_argument("--verbose", type=int, default=0, help="accepted, and without effect")
    given = parser.parse_args(arguments)
    made = SymbolicShapeInference.infer_shapes(given.input)
    if given.output:
        onnx.save(made, given.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
