"""Folding and conversion."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import _models
from .._check import OutputCheck
from .._reports import ConversionNote, ConversionReport, FoldReport, Kept
from ..errors import UsageError
from .base import Base, sizes_of

if TYPE_CHECKING:
    from . import ConvertedModel, FoldedModel


class Rewrites(Base):
    """Methods that return models that compute the same."""

    def fold(
        self,
        dims: Mapping[str, int] | None = None,
        input_shapes: Mapping[str, Sequence[Any]] | None = None,
        *,
        max_constant: int = 1 << 20,
        declare: bool = True,
        verify: bool | str | None = None,
        prove: bool = False,
        values: Mapping[str, Any] | None = None,
        level: str = "exact",
        rules: Sequence[str] = (),
        no_rules: Sequence[str] = (),
        keep_weights: bool = False,
        ranges: Mapping[str, tuple[int, int | None]] | None = None,
        nonempty: bool = False,
        assume: Sequence[str] = (),
        max_bytes: int | None = None,
        max_work: int | None = None,
        timeout: float | None = None,
    ) -> FoldedModel:
        """Makes a smaller model by computing what does not depend on the inputs.

        Values that are known become constants, and the nodes that computed them
        are removed. The folded model takes the same inputs, except for sizes
        that are fixed here.

        Args:
            dims: symbols of the inputs' shapes, and the numbers they are fixed
                to.
            input_shapes: shapes of inputs by name that they are fixed to.
            max_constant: maximum bytes of a constant that is added.
            declare: write the types of values that nodes compute into the
                model.
            verify: prove that outputs are the same for all inputs and sizes, up
                to level `exact`, and compare the others in runs on random
                inputs: their bits up to level `exact`, types and shapes above.
                `None` takes for each as long as folding and half a second;
                `True` up to 30 seconds, runs all outputs, and raises if no run
                could be compared; `False` does neither. `"onnxruntime"` also
                compares the outputs that ONNX Runtime gives, without its
                optimisations, of a model in a file, and lists those that
                differ as `report.differing`.
            prove: take whatever time the proof needs.
            values: inputs of these runs by name; others are random.
            level: `shapes` for shape arithmetic alone, `exact` for rules that
                keep every bit, `fuse` also for rules that may change the last
                bits of floats.
            rules: rules of higher levels to apply.
            no_rules: rules not to apply.
            keep_weights: do not compute weights: runtimes may pack constant
                ones, and choose another kernel.
            ranges: by symbol, the smallest and the largest number that is
                assumed; `None` for no largest.
            nonempty: assume that no size of an input is 0.
            assume: conditions on symbols that are assumed: `"h % 32 == 0"`.
            max_bytes: maximum bytes of values at one time; by default the limit
                of the model.
            max_work: maximum elements that nodes read, write and multiply; by
                default the limit of the model.
            timeout: seconds after which the call fails.

        Returns:
            A model, whose `report` lists the nodes that were removed, and why
            nodes that compute shapes remain.

        Raises:
            UnsupportedError: if the model is of Paddle, or `verify=True` could
                not compare outputs.
            UsageError: if a symbol, an input or a rule has no such name.
            GraphError: if the models differ where they are compared.
            LimitError: if the call exceeds a limit.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/positions.onnx")
            >>> folded = model.fold({"batch": 1, "seq": 4})
            >>> folded.report.nodes  # Three nodes hold the constant outputs.
            (6, 3)
            >>> print(folded.inputs["tokens"])
            int64[1, 4]
        """
        if isinstance(verify, str) and verify != "onnxruntime":
            raise UsageError.mismatch("the runtime that verifies", f'"{verify}"', "onnxruntime")
        limits = (max_bytes, max_work, timeout)
        sizes = sizes_of(dims, input_shapes, ranges, nonempty, assume)
        native, report = self._native._fold(
            sizes,
            max_constant,
            declare,
            (None if verify is None else bool(verify), prove, dict(values or {})),
            level,
            list(rules),
            list(no_rules),
            keep_weights,
            limits,
        )
        report["kept"] = [Kept(*kept) for kept in report["kept"]]
        if isinstance(verify, str):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "folded.onnx")
                native.save(path, False)
                _, differing = self._native._verify_in(_models.load(path)._native, verify, sizes)
            report["differing"] = [OutputCheck(*output) for output in differing]
        return _models.FoldedModel(native, FoldReport(**report))

    def convert(
        self,
        to: str,
        *,
        dims: Mapping[str, int] | None = None,
        input_shapes: Mapping[str, Sequence[Any]] | None = None,
        opset: int | None = None,
        runtime: str | None = None,
        stateful: bool = False,
        states: Mapping[str, str] | None = None,
        verify: bool | None = None,
        ranges: Mapping[str, tuple[int, int | None]] | None = None,
        nonempty: bool = False,
        assume: Sequence[str] = (),
        max_bytes: int | None = None,
        max_work: int | None = None,
        timeout: float | None = None,
    ) -> ConvertedModel:
        """Converts the model to another standard, or to another operator set.

        Names of inputs and outputs are kept. Nodes that no output needs are
        left out. `docs/convert.md` lists the conversion of each operator.

        Args:
            to: `"onnx"` or `"openvino"`; models of Paddle can become either.
            dims: symbols of the inputs' shapes, and the numbers they are fixed
                to.
            input_shapes: shapes of inputs by name that they are fixed to.
            opset: the version of ONNX's operator set; by default 21, or where
                it lacks what a node needs, the newest that released runtimes
                load.
            runtime: the program that will run the model, `"onnxruntime"` or
                `"openvino"`: without `opset`, the newest set in which it runs
                every node. Types that it lacks are avoided.
            stateful: to OpenVINO, make variables of the inputs
                `past_key_values.*` and the outputs `present.*`.
            states: to OpenVINO, inputs that become variables, and the outputs
                that are their next values.
            verify: prove that outputs are the same for all inputs and sizes,
                from ONNX to ONNX, and compare the others in runs on random
                inputs: the bits of outputs that exact nodes compute, and types
                of others. `None` takes for each as long as the conversion and
                half a second; `True` up to 30 seconds, runs all outputs, and
                raises if no run could be compared; `False` does neither.
            ranges: by symbol, the smallest and the largest number that is
                assumed; `None` for no largest.
            nonempty: assume that no size of an input is 0.
            assume: conditions on symbols that are assumed: `"h % 32 == 0"`.
            max_bytes: maximum bytes of values at one time; by default the limit
                of the model.
            max_work: maximum elements that nodes read, write and multiply; by
                default the limit of the model.
            timeout: seconds after which the call fails.

        Returns:
            A model, whose `report` names the nodes that are not kept bit for
            bit.

        Raises:
            UnsupportedError: if the other standard has no operator for a node,
                the runtime does not run one, the model is of that standard
                already, or `verify=True` could not compare outputs.
            UsageError: if a standard, operator set, runtime or symbol is
                unknown.
            GraphError: if outputs differ.
            LimitError: if the call exceeds a limit.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/positions.onnx")
            >>> converted = model.convert("openvino")
            >>> converted.report.exact, converted.report.nodes
            (True, 6)
            >>> converted.run({"tokens": [[101, 2023, 2003, 102]]})["phase"]
            array([0.  , 0.25, 0.5 , 0.75], dtype=float32)
        """
        limits = (max_bytes, max_work, timeout)
        pairs = (stateful, list((states or {}).items()))
        sizes = sizes_of(dims, input_shapes, ranges, nonempty, assume)
        native, report = self._native._convert(to, sizes, opset, runtime, pairs, verify, limits)
        report["notes"] = [ConversionNote(*note) for note in report["notes"]]
        return _models.ConvertedModel(native, ConversionReport(**report))
