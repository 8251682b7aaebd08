"""Models: loaded, inferred, folded, run and saved."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from .. import _html, _ir, _native
from .._contract import Contract, ContractShapes, OutputShape
from .._inference import Condition, Inference, MapType, OptionalType, SequenceType, TensorType, Type, UnknownType
from .._lint import Finding
from .._native import Dim
from .._reports import ConversionNote, ConversionReport, FoldReport, Kept
from .base import Interval
from .checks import Checks
from .edits import Edits
from .knowledge import Knowledge
from .rewrites import Rewrites

__all__ = ["Condition", "Contract", "ContractShapes", "ConversionNote", "ConversionReport", "ConvertedModel", "Dim", "EditedModel", "Finding", "FoldReport", "FoldedModel", "Inference", "Interval", "Kept", "MapType", "Model", "OptionalType", "OutputShape", "SequenceType", "TensorType", "UnknownType", "load"]


class Model(Knowledge, Edits, Rewrites, Checks):
    """A model that can be inferred, folded, converted, run and saved.

    `gradus.load` opens one, and `gradus.Graph.model` makes one. A model is
    never changed: methods return new ones. Models can be pickled.
    """

    def __init__(self, native: _native.Model) -> None:
        self._native = native

    @property
    def inputs(self) -> dict[str, Type]:
        """The declared types of the inputs, by name."""
        return self._native.inputs

    @property
    def outputs(self) -> dict[str, Type]:
        """The declared types of the outputs, by name."""
        return self._native.outputs

    @property
    def standard(self) -> str:
        """The standard of the operators: `"onnx"`, `"openvino"` or `"paddle"`."""
        return self._native.standard

    @property
    def opsets(self) -> dict[str, int]:
        """The versions of the operator sets, by domain."""
        return self._native.opsets

    def save(self, path: str | os.PathLike[str], *, keep_names: bool = False) -> None:
        """Writes the model as a file of its standard.

        The standard is ONNX, or OpenVINO IR (`.xml` with `.bin`). The old file
        or the new one is there at every moment, complete. What folding did not
        change is written byte for byte as it was read. Files of constants are
        copied next to `m.onnx` as `m.onnx.data`, `m.onnx.2.data`, …, unless
        they are there. Of a model made by `gradus.Graph`, nodes that no output
        needs are left out.

        Args:
            path: the file.
            keep_names: copy files of constants under the names that the model
                gives them, which its author chose.

        Raises:
            FileError: if a file cannot be written, or another one has the name
                of a file of constants.
            UnsupportedError: if the model is of Paddle, or a node of
                `gradus.Graph.logspace` and its kin needs what only a run knows.
            GraphError: if the type of an input or output is not known.

        Example:
            >>> import gradus, os, tempfile
            >>> model = gradus.load("examples/heads.onnx").fold()
            >>> path = os.path.join(tempfile.mkdtemp(), "heads.onnx")
            >>> model.save(path)
            >>> gradus.load(path)
            <Model (x) -> (y), 2 nodes>
        """
        self._native.save(path, keep_names)

    def to_bytes(self) -> bytes:
        """Returns the bytes of the ONNX file that `gradus.Model.save` writes.

        Constants in other files stay there.

        Returns:
            The bytes of the file.

        Raises:
            UnsupportedError: if the model is not of ONNX.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/positions.onnx")
            >>> gradus.load(model.to_bytes())
            <Model (tokens) -> (position_ids, phase, token_count), 6 nodes>
        """
        return self._native.to_bytes()

    def run(
        self,
        inputs: Mapping[str, Any] | None = None,
        outputs: Sequence[str] | None = None,
        *,
        max_bytes: int | None = None,
        max_work: int | None = None,
        timeout: float | None = None,
        expand_functions: bool = False,
        seed: int = 0,
        accumulate: Literal["float64", "float32", "exact"] = "float64",
        ranges: Mapping[str, tuple[int, int | None]] | None = None,
        nonempty: bool = False,
        assume: Sequence[str] = (),
    ) -> dict[str, Any]:
        """Runs the model as far as the wanted values need.

        Args:
            inputs: arrays, tensors that speak DLPack, or numbers and lists, by
                name; a list of those for a sequence, and a dict for a map.
                Numbers and lists of Python take the declared element type.
            outputs: names of the values to return; by default the outputs.
            max_bytes: maximum bytes of values at one time; by default the limit
                of the model.
            max_work: maximum elements that nodes read, write and multiply; by
                default the limit of the model.
            timeout: seconds after which the run fails.
            expand_functions: run operators by the bodies by which their
                standard defines them.
            seed: the seed of operators that draw random numbers and have none
                of their own, from 0 to 2**64 - 1.
            accumulate: how products of matrices, convolutions and reductions of
                floats are added: in float64 in the order of the elements; in
                float32 in blocks of 256 terms, which is faster and has the same
                bits on every processor; or without error.
            ranges: by symbol, the smallest and the largest number that is
                assumed; `None` for no largest.
            nonempty: assume that no size of an input is 0.
            assume: conditions on symbols that are assumed: `"h % 32 == 0"`.

        Returns:
            Arrays by name; lists of them for sequences, `None` for empty
            optionals.

        Raises:
            UsageError: if an input or a value has no such name.
            GradusError: if a node fails, with its place.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/positions.onnx")
            >>> model.run({"tokens": [[101, 2023, 2003, 102]]})["phase"]
            array([0.  , 0.25, 0.5 , 0.75], dtype=float32)
        """
        wanted = None if outputs is None else list(outputs)
        return self._native.run(
            dict(inputs or {}),
            wanted,
            max_bytes=max_bytes,
            max_work=max_work,
            timeout=timeout,
            expand_functions=expand_functions,
            seed=seed,
            accumulate=accumulate,
            assumed=(dict(ranges or {}), nonempty, list(assume)),
        )

    def intervals(
        self, inputs: Mapping[str, Any] | None = None, outputs: Sequence[str] | None = None
    ) -> dict[str, Interval | None]:
        """Bounds the real numbers that values are by the formulas of the model.

        Args:
            inputs: arrays by name, as for `gradus.Model.run`.
            outputs: names of the values to bound; by default the outputs.

        Returns:
            By name, a `gradus.Interval`: two arrays of float64 in the shape of
            the value. `None` for a value that is no tensor of floats, or whose
            errors nothing bounds.

        Raises:
            UsageError: if an input or a value has no such name.
            GradusError: if a node fails, with its place.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/positions.onnx")
            >>> found = model.intervals({"tokens": [[101, 2023, 102]]})["phase"]
            >>> bool((found.high - found.low).max() < 1e-14)
            True
        """
        found = self._native._intervals(dict(inputs or {}), list(outputs or ()))
        return {name: interval and Interval(*interval) for name, interval in found.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        # The reader's limits apply to what it reads, so those of the model are left out.
        made = {key: value for key, value in vars(self).items() if key != "_native"}
        with tempfile.TemporaryDirectory() as folder:
            self.save(os.path.join(folder, _FILES[self.standard]))
            files = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
        return _unpickled, (type(self), self.standard, files, made)

    def __repr__(self) -> str:
        return repr(self._native)

    def _repr_html_(self) -> str:
        sides = {"input": self.inputs, "output": self.outputs}
        rows = ([side, name, str(of)] for side, values in sides.items() for name, of in values.items())
        return _html.table(["", "name", "type"], rows, repr(self))


# By standard, the name of the file that is opened, in a folder of its own.
_FILES = {"onnx": "model.onnx", "openvino": "model.xml", "paddle": "model.json"}


def _unpickled(cls: type[Model], standard: str, files: dict[str, bytes], made: dict[str, Any]) -> Model:
    model = cls.__new__(cls)
    vars(model).update(made, _native=_native._load_files(_FILES[standard], files, (None, None, None)))
    return model


class ConvertedModel(Model):
    """The result of `gradus.Model.convert`: a model, and a report.

    Attributes:
        report: the report of the conversion.
    """

    def __init__(self, native: _native.Model, report: ConversionReport) -> None:
        super().__init__(native)
        self.report: ConversionReport = report


class EditedModel(Model):
    """The result of `gradus.Model.edit` and its like: a model, and notes.

    Attributes:
        notes: what each edit did, a sentence each.
        conditions: conditions of the inputs under which the model runs: the
            node, and the condition.
    """

    def __init__(self, native: _native.Model, notes: list[str], conditions: list[tuple[str, str]]) -> None:
        super().__init__(native)
        self.notes = notes
        self.conditions = conditions


class FoldedModel(Model):
    """The result of `gradus.Model.fold`: a model, and a report.

    Attributes:
        report: the report of the folding.
    """

    def __init__(self, native: _native.Model, report: FoldReport) -> None:
        super().__init__(native)
        self.report: FoldReport = report


def load(
    source: str | os.PathLike[str] | bytes | Any,
    *,
    max_bytes: int | None = None,
    max_work: int | None = None,
    timeout: float | None = None,
) -> Model:
    """Opens a model.

    Args:
        source: the path of an ONNX model, an OpenVINO IR (`.xml`, with its
            `.bin`) or a Paddle program, which is mapped and not read; the
            bytes of a model; an `onnx.ModelProto`; or an `onnx_ir.Model` or
            `torch.onnx.ONNXProgram`, whose large constants are copied once.
        max_bytes: maximum bytes of values at one time, read or computed; by
            default 4 GiB.
        max_work: maximum elements that nodes read, write and multiply; by
            default 10^12.
        timeout: seconds after which reading fails.

    Returns:
        The model.

    Raises:
        FileError: if the file cannot be read.
        FormatError: if the bytes are not a model.
        GraphError: if the graph is not well formed.
        UnsupportedError: if the format is not supported.

    Example:
        >>> import gradus
        >>> model = gradus.load("examples/positions.onnx")
        >>> print(model.inputs["tokens"])
        int64[batch, seq]
    """
    limits = (max_bytes, max_work, timeout)
    if _ir.is_ir(source):
        return Model(_native._load_files(_FILES["onnx"], _ir.files_of(source), limits))
    return Model(_native._load(source, limits))


def _opened(source: Any) -> Model:
    return source if isinstance(source, Model) else load(source)


def exactly(value: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any] | None:
    """Numbers and lists of Python as an array of a type; nothing if an integer type does not hold them."""
    plain = np.asarray(value)
    try:
        made = np.asarray(value, dtype)
    except (OverflowError, ValueError):
        return None
    # Floats are rounded; whole numbers are as they are, or not at all.
    whole = dtype.kind in "iu"
    return made if not whole or np.array_equal(made, plain) else None
