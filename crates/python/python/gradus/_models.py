"""Models: loaded, inferred, folded, run and saved."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, overload

import numpy as np

from . import _html, _native
from ._check import CheckReport, NodeCheck, OutputCheck, ProofReport, RuntimeReport
from ._compare import Portability
from ._cost import Cost
from ._inference import Condition, Inference, MapType, OptionalType, SequenceType, TensorType, Type, UnknownType
from ._lint import Finding
from ._native import Dim
from ._reports import ConversionNote, ConversionReport, FoldReport, Kept
from ._runtimes import RUNTIMES
from .errors import UsageError

__all__ = ["Condition", "ConversionNote", "ConversionReport", "ConvertedModel", "Dim", "Finding", "FoldReport", "FoldedModel", "Inference", "Kept", "MapType", "Model", "OptionalType", "SequenceType", "TensorType", "UnknownType", "check", "load", "prove"]


class Model:
    """A model, ready to be looked at, folded, converted and run; :func:`load` makes it."""

    def __init__(self, native: _native.Model) -> None:
        self._native = native

    @property
    def inputs(self) -> dict[str, Type]:
        """The inputs by name, with what the model declares of them."""
        return self._native.inputs

    @property
    def outputs(self) -> dict[str, Type]:
        """The outputs by name, with what the model declares of them."""
        return self._native.outputs

    @property
    def standard(self) -> str:
        """The standard of its operators: ``"onnx"``, ``"openvino"`` or ``"paddle"``."""
        return self._native.standard

    @property
    def opsets(self) -> dict[str, int]:
        """The versions of the operator sets, by domain."""
        return self._native.opsets

    def with_inputs_set(self, values: Mapping[str, Any]) -> Model:
        """Makes the model that has constants in the place of inputs, to infer, fold, convert, run or save: as if it had been written so.

        Args:
            values: arrays, or numbers and lists, by the name of the input, as for :meth:`run`.

        Returns:
            A model without these inputs.

        Raises:
            UsageError: if there is no such input, or a value is not what the model declares.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/range.onnx").with_inputs_set({"start": 0, "limit": 10, "delta": 2})
            >>> print(list(model.inputs), model.infer()["positions"])
            [] float32[5]
        """
        return Model(self._native._with_inputs_set(dict(values)))

    def infer(
        self,
        dims: Mapping[str, int] | None = None,
        *,
        shapes: Mapping[str, Sequence[Any]] | None = None,
        values: Mapping[str, Any] | None = None,
        ignore_declared: bool = False,
        ranges: Mapping[str, tuple[int, int | None]] | None = None,
        nonempty: bool = False,
        assume: Sequence[str] = (),
        dialect: Literal["gradus", "onnx", "sympy", "torch"] = "gradus",
        max_bytes: int | None = None,
        max_work: int | None = None,
        timeout: float | None = None,
    ) -> Inference:
        """Infers the type and shape of every value, without running the model.

        Args:
            dims: symbols of the inputs' shapes, and the numbers that they stand for.
            shapes: shapes of inputs by name, in place of those that the model declares.
            values: inputs by name that are known.
            ignore_declared: do not look at what the model declares of values that its nodes compute.
            ranges: symbols and the smallest and the largest number that they are assumed to be; ``None`` for no largest.
            nonempty: assume that each size of an input is at least 1.
            assume: conditions on symbols that are assumed: ``"h % 32 == 0"``, ``"a == b"``.
            dialect: the dialect in which dimensions are written.
            max_bytes, max_work, timeout: limits of this call, as for :meth:`run`.

        Returns:
            A mapping from names to types, with ``assumptions``, ``problems``, ``reasons`` and ``peak_bytes``.

        Raises:
            UsageError: if there is no such symbol or input.
            LimitError: if it takes more than the limits.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/positions.onnx")
            >>> print(model.infer()["phase"], model.infer({"seq": 4})["phase"])
            float32[seq] float32[4]
            >>> print(model.infer(assume=["seq == 2*batch"])["phase"])
            float32[2*batch]
        """
        limits = (max_bytes, max_work, timeout)
        sizes = _sizes(dims, shapes, ranges, nonempty, assume)
        return Inference(self._native._infer(sizes, dict(values or {}), ignore_declared, dialect, limits))

    def cost(
        self,
        dims: Mapping[str, int] | None = None,
        *,
        shapes: Mapping[str, Sequence[Any]] | None = None,
        fit: int | None = None,
        in_place: bool = False,
        depth: int = 2,
        ranges: Mapping[str, tuple[int, int | None]] | None = None,
        nonempty: bool = False,
        assume: Sequence[str] = (),
        max_bytes: int | None = None,
        max_work: int | None = None,
        timeout: float | None = None,
    ) -> Cost:
        """Counts parameters, operations, bytes and memory, without running the model.

        Args:
            dims: symbols of the inputs' shapes, and the numbers that they stand for.
            shapes: shapes of inputs by name, in place of those that the model declares.
            fit: bytes; find the largest number of the only symbol left at which constants, inputs and values take no more.
            in_place: in what fits, let outputs of elementwise nodes take the room of an input of their size that no later
                node needs.
            depth: parts of the names of nodes, between slashes, that make a group.
            ranges, nonempty, assume: as of :meth:`infer`.
            max_bytes, max_work, timeout: limits of this call, as for :meth:`run`.

        Returns:
            Numbers, and formulas of the symbols, by node, operator and group.

        Raises:
            UsageError: if there is no such symbol or input, or not exactly one symbol is left to ``fit``.
            UnsupportedError: if what is to ``fit`` is not known, or may fall where the symbol grows.
            LimitError: if it takes more than the limits.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/positions.onnx")
            >>> cost = model.cost()
            >>> cost.total.operations, cost.operators["Div"].bytes_written, cost.constants
            (Dim("4*seq + 1"), Dim("4*seq"), 16)
            >>> model.cost({"batch": 8}, fit=1 << 20).fit
            Fit(symbol='seq', most=13106, bytes=1048508, limit=None, sizes={})
        """
        limits = (max_bytes, max_work, timeout)
        sizes = _sizes(dims, shapes, ranges, nonempty, assume)

        def plan(more: Mapping[str, int], alignment: int, in_place: bool) -> Any:
            return self._native._plan(({**sizes[0], **more}, *sizes[1:]), limits, alignment, in_place)

        return Cost(self._native._cost(sizes, limits, fit, in_place, depth), plan)

    def compare(
        self,
        dims: Mapping[str, int] | None = None,
        *,
        shapes: Mapping[str, Sequence[Any]] | None = None,
        ranges: Mapping[str, tuple[int, int | None]] | None = None,
        nonempty: bool = False,
        assume: Sequence[str] = (),
        max_bytes: int | None = None,
        max_work: int | None = None,
        timeout: float | None = None,
    ) -> Portability:
        """Lists the nodes whose results depend on the program: ONNX Runtime, OpenVINO or the reference of ``onnx``. None is run.

        Args:
            dims, shapes, ranges, nonempty, assume: as of :meth:`infer`; they exclude differences.
            max_bytes, max_work, timeout: limits of this call, as for :meth:`run`.

        Returns:
            The differences, in the order of the nodes, each with the condition without which the programs agree.

        Raises:
            UsageError: if there is no such symbol or input.
            UnsupportedError: if a model of another standard than ONNX has an operator that does not convert.
            LimitError: if it takes more than the limits.

        Example:
            >>> import gradus
            >>> found = gradus.load("examples/positions.onnx").compare()
            >>> [(it.operator, it.condition, it.results["openvino"]) for it in found]
            [('Range', 'seq >= 2147483648', 'reads 32 bits'), ('Div', 'a quotient is rounded', 'multiplies by the rounded reciprocal')]
        """
        sizes = _sizes(dims, shapes, ranges, nonempty, assume)
        limits = (max_bytes, max_work, timeout)
        return Portability(self._native._differences(sizes, limits))

    def to_html(
        self,
        dims: Mapping[str, int] | None = None,
        *,
        name: str = "model",
        shapes: Mapping[str, Sequence[Any]] | None = None,
        ranges: Mapping[str, tuple[int, int | None]] | None = None,
        nonempty: bool = False,
        assume: Sequence[str] = (),
        max_bytes: int | None = None,
        max_work: int | None = None,
        timeout: float | None = None,
    ) -> str:
        """Makes a page of HTML about the model: shapes, cost, memory and graph, which follow the sizes that a reader sets.

        Args:
            dims, shapes, ranges, nonempty, assume: as of :meth:`infer`.
            name: the name of the model in the page.
            max_bytes, max_work, timeout: limits of this call, as for :meth:`run`.

        Returns:
            The page, which refers to no other file.

        Raises:
            UsageError: if there is no such symbol or input.
            LimitError: if it takes more than the limits.

        Example:
            >>> import gradus
            >>> page = gradus.load("examples/positions.onnx").to_html(name="positions")
            >>> page.startswith("<!DOCTYPE html>")
            True
        """
        sizes = _sizes(dims, shapes, ranges, nonempty, assume)
        return self._native._report(name, sizes, (max_bytes, max_work, timeout))

    def contract(
        self,
        language: str = "python",
        dims: Mapping[str, int] | None = None,
        *,
        name: str = "model",
        shapes: Mapping[str, Sequence[Any]] | None = None,
        ranges: Mapping[str, tuple[int, int | None]] | None = None,
        nonempty: bool = False,
        assume: Sequence[str] = (),
        max_bytes: int | None = None,
        max_work: int | None = None,
        timeout: float | None = None,
    ) -> str:
        """Writes a function that checks sizes of the inputs, and returns shapes and bytes of the outputs and the peak of memory.

        Args:
            language: ``"rust"``, ``"c"`` or ``"python"``; for shapes that the model runs with, ``"trtexec"`` (arguments), ``"ort"``
                (options of the TensorRT provider) or ``"triton"`` (``config.pbtxt``), within ``ranges``.
            dims, shapes, ranges, nonempty, assume: as of :meth:`infer`.
            name: the name of the model's file; names of C begin with it.
            max_bytes, max_work, timeout: limits of this call, as for :meth:`run`.

        Returns:
            The text of a module of Rust or Python, of a header of C, or of a configuration.

        Raises:
            UsageError: if there is no such symbol, input or language, or a size has no largest value that a configuration needs.
            GraphError: if the model contradicts itself.
            LimitError: if it takes more than the limits.

        Example:
            >>> import gradus
            >>> text = gradus.load("examples/heads.onnx").contract("python", name="heads.onnx")
            >>> "def shapes(x: Sequence[int]) -> Shapes:" in text
            True
            >>> print(gradus.load("examples/heads.onnx").contract("ort", ranges={"batch": (1, 8), "seq": (1, 512)}), end="")
            trt_profile_min_shapes=x:1x1x8
            trt_profile_opt_shapes=x:4x256x8
            trt_profile_max_shapes=x:8x512x8
        """
        sizes = _sizes(dims, shapes, ranges, nonempty, assume)
        return self._native._contract(language, name, sizes, (max_bytes, max_work, timeout))

    def fold(
        self,
        dims: Mapping[str, int] | None = None,
        input_shapes: Mapping[str, Sequence[Any]] | None = None,
        *,
        max_constant: int = 1 << 20,
        declare: bool = True,
        verify: bool | str | None = None,
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
        """The model with what can be computed before a run as part of it; this one stays as it is.

        Values whose elements are known become constants, and the nodes that computed them go. The folded model takes what this
        one takes, but for what is fixed here.

        Args:
            dims: symbols of the inputs' shapes, and the numbers that they are fixed to.
            input_shapes: shapes of inputs by name that they are fixed to.
            max_constant: most bytes of a constant that is added.
            declare: write the types of the values that nodes compute into the model.
            verify: compare the shapes before and after, for some random numbers in place of the symbols, and the outputs of runs on
                random inputs of several sizes: their bits up to level ``exact``, types and shapes above. ``None`` takes as
                long as folding took and half a second; ``True`` up to 30 seconds, and raises if no run could be compared;
                ``False`` compares nothing. ``"onnxruntime"`` also compares the
                outputs that ONNX Runtime gives, optimising nothing, and lists those that differ as ``report.differing``; the
                model must be in a file.
            values: inputs of these runs by name; others are random.
            level: ``shapes`` for shape arithmetic alone, ``exact`` for rules that keep every bit, ``fuse`` also for rules that
                may change the last bits of floats (docs/fold.md).
            rules: rules of higher levels to apply.
            no_rules: rules not to apply.
            keep_weights: leave weights computed: runtimes may pack those that are constants, and choose another kernel.
            ranges: symbols and the smallest and the largest number that they are assumed to be; ``None`` for no largest.
            nonempty: assume that each size of an input is at least 1.
            assume: conditions on symbols that are assumed: ``"h % 32 == 0"``, ``"a == b"``.
            max_bytes, max_work, timeout: limits of this call, as for :meth:`run`.

        Returns:
            A model, whose ``report`` says what went and why what stayed stayed.

        Raises:
            UnsupportedError: if the model is of Paddle, or ``verify=True`` could not compare outputs.
            UsageError: if there is no such symbol or input.
            GraphError: if the models differ where they are compared.
            LimitError: if it takes more than the limits. Of a model made by :class:`Graph`, what :meth:`save` raises.

        Example:
            >>> import gradus
            >>> folded = gradus.load("examples/positions.onnx").fold({"batch": 1, "seq": 4})
            >>> folded.report.operators["Range"], folded.report.nodes  # Three nodes hold the constants that outputs are.
            ((1, 0), (6, 3))
            >>> print(folded.inputs["tokens"])
            int64[1, 4]
        """
        if isinstance(verify, str) and verify != "onnxruntime":
            raise UsageError.mismatch("the runtime that verifies", f'"{verify}"', "onnxruntime")
        limits = (max_bytes, max_work, timeout)
        sizes = _sizes(dims, input_shapes, ranges, nonempty, assume)
        native, report = self._native._fold(
            sizes,
            max_constant,
            declare,
            (None if verify is None else bool(verify), dict(values or {})),
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
                _, differing = self._native._verify_in(load(path)._native, verify, sizes)
            report["differing"] = [OutputCheck(*output) for output in differing]
        return FoldedModel(native, FoldReport(**report))

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
        """The model in the operators of another standard; this one stays as it is.

        Names of inputs and outputs are kept. Nodes that no output needs go. docs/convert.md has what becomes of each operator.

        Args:
            to: ``"onnx"`` or ``"openvino"``; models of Paddle can become either.
            dims: symbols of the inputs' shapes, and the numbers that they are fixed to.
            input_shapes: shapes of inputs by name that they are fixed to.
            opset: the version of ONNX's operator set; by default 21, or where it lacks what a node needs, the newest that released runtimes load.
            runtime: the program that will run the model, ``"onnxruntime"`` or ``"openvino"``: without ``opset``, the newest set in which it runs every node. Types that it lacks are avoided.
            stateful: to OpenVINO, make variables of the inputs ``past_key_values.*`` and the outputs ``present.*``.
            states: to OpenVINO, inputs that become variables, and the outputs that are their next values.
            verify: run both models on random inputs of several sizes, and compare the bits of outputs that exact nodes
                compute, and types of others. ``None`` takes as long as the conversion took and half a second; ``True`` up to
                30 seconds, and raises if no run could be compared; ``False`` compares nothing.
            ranges, nonempty, assume: as of :meth:`infer`.
            max_bytes, max_work, timeout: limits of this call, as for :meth:`run`.

        Returns:
            A model, whose ``report`` names the nodes that are not kept bit for bit.

        Raises:
            UnsupportedError: if the other standard has no operator for what a node does, the runtime does not run one, or
                the model is of that standard already, or ``verify=True`` could not compare outputs.
            UsageError: if there is no such standard, operator set, runtime or symbol.
            GraphError: if outputs differ.
            LimitError: if it takes more than the limits.

        Example:
            >>> import gradus
            >>> converted = gradus.load("examples/positions.onnx").convert("openvino")
            >>> converted.report.exact, converted.report.nodes
            (True, 6)
            >>> converted.run({"tokens": [[101, 2023, 2003, 102]]})["phase"]
            array([0.  , 0.25, 0.5 , 0.75], dtype=float32)
        """
        limits = (max_bytes, max_work, timeout)
        pairs = (stateful, list((states or {}).items()))
        sizes = _sizes(dims, input_shapes, ranges, nonempty, assume)
        native, report = self._native._convert(to, sizes, opset, runtime, pairs, verify, limits)
        report["notes"] = [ConversionNote(*note) for note in report["notes"]]
        return ConvertedModel(native, ConversionReport(**report))

    def check(
        self,
        other: Model,
        dims: Mapping[str, int] | None = None,
        *,
        shapes: Mapping[str, Sequence[Any]] | None = None,
        values: Mapping[str, Any] | None = None,
        runs: int = 5,
        seed: int = 1,
    ) -> CheckReport:
        """Runs this model and another on the same random inputs, and compares all outputs bit for bit.

        Open dimensions get sizes that the model takes: the smallest, the largest, then random ones. Floats are from -1 to 1,
        and in every third run zeros, ones, large and small numbers; integers are 0 and 1, or what a node looks up or chooses
        a branch by. Inputs and outputs correspond by name, or else by position.

        Args:
            other: the model to compare.
            dims, shapes, values: symbols, shapes and inputs that are the same in all runs, as of :meth:`infer`.
            runs: how many runs are compared.
            seed: the seed of all that is random.

        Returns:
            A report, which is true if nothing differs.

        Raises:
            GraphError: if inputs or outputs do not correspond.
            GradusError: what a model raises when it runs.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/positions.onnx")
            >>> report = model.check(model.convert("openvino"))
            >>> bool(report), report.runs
            (True, 5)
        """
        report = self._native._check(
            other._native, _sizes(dims, shapes), dict(values or {}), runs, seed, None
        )
        report["outputs"] = [OutputCheck(*output) for output in report["outputs"]]
        return CheckReport(**report)

    def prove(
        self,
        other: Model,
        dims: Mapping[str, int] | None = None,
        *,
        shapes: Mapping[str, Sequence[Any]] | None = None,
        seconds: float = 30,
        seed: int = 1,
    ) -> ProofReport:
        """Proves that another model returns the same bits for all inputs and sizes that both take, or finds inputs for which it
        does not. Outputs are compared by name; all NaNs are the same.

        Args:
            other: the model to compare.
            dims, shapes: symbols and shapes of inputs, as of :meth:`infer`: the proof is about these alone.
            seconds: the time of runs that look for a difference where there is no proof.
            seed: the seed of the random inputs of these runs.

        Returns:
            A report, which is true if the models are proved to be the same.

        Raises:
            UsageError: if a symbol or an input is not the models'.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/heads.onnx")
            >>> model.prove(model.fold()).verdict
            'equivalent'
        """
        report = self._native._prove(other._native, _sizes(dims, shapes), seconds, seed)
        report["outputs"] = dict(report["outputs"])
        return ProofReport(**report)

    def lint(
        self,
        dims: Mapping[str, int] | None = None,
        *,
        shapes: Mapping[str, Sequence[Any]] | None = None,
        select: Sequence[str] = (),
        ignore: Sequence[str] = (),
        runtimes: Sequence[str] = (),
        max_peak: int | None = None,
        max_parameters: int | None = None,
    ) -> list[Finding]:
        """Finds what is wrong in the model, or surprises those who ship it, without running it.

        Args:
            dims: numbers for symbols of inputs, by name.
            shapes: shapes of inputs, by name, as ``Model.infer`` takes them.
            select: codes or names of rules, or beginnings of codes (``"GR4"``); all rules if there are none.
            ignore: those of rules that are left out.
            runtimes: runtimes that must run the model: ``"onnxruntime"``, ``"openvino"``.
            max_peak: bytes that constants, inputs and values of a run may take at one time.
            max_parameters: elements that the constants may have.

        Returns:
            The findings, by the code of their rule.

        Raises:
            UsageError: if a rule, a runtime or a symbol is not known.

        Warns:
            UserWarning: if a rule cannot be asked.

        Example:
            >>> import gradus
            >>> [finding.message for finding in gradus.load("examples/baked.onnx").lint()]
            ['the model runs only if batch == 1']
        """
        rules, limits = (list(select), list(ignore)), (max_peak, max_parameters)
        found = _native._lint(self._native, _sizes(dims, shapes), rules, list(runtimes), limits)
        return [Finding(*finding) for finding in found]

    def check_in(
        self,
        runtime: str,
        other: Model | None = None,
        dims: Mapping[str, int] | None = None,
        *,
        shapes: Mapping[str, Sequence[Any]] | None = None,
        values: Mapping[str, Any] | None = None,
        runs: int = 5,
        seed: int = 1,
    ) -> RuntimeReport:
        """Runs this model, and another or the same in a runtime, and compares all outputs bit for bit; and each node's results.

        The runtime computes the outputs as it runs the model for everybody. It runs once more with all values asked for; each
        node's results are compared with the exact ones for the inputs that the runtime gave the node.

        Args:
            runtime: ``"onnxruntime"``, ``"openvino"``, or ``"paddle"`` for Paddle's programs, which must be installed.
            other: the model that the runtime runs, read from a file: this one, if none is given.
            dims, shapes, values, runs, seed: as of :meth:`check`.

        Returns:
            A report, which is true if no output differs; its nodes are sorted by their difference, the worst first.

        Raises:
            UnsupportedError: if the runtime is not installed or does not run the model, or the model is in no file.

        Example:
            >>> import gradus
            >>> report = gradus.load("examples/heads.onnx").check_in("onnxruntime")
            >>> bool(report), len(report.nodes)
            (True, 14)
        """
        if runtime not in RUNTIMES:
            raise UsageError.mismatch("the runtime", f'"{runtime}"', " or ".join(RUNTIMES))
        second = (other or self)._native
        report = self._native._check(
            second, _sizes(dims, shapes), dict(values or {}), runs, seed, runtime
        )
        report["outputs"] = [OutputCheck(*output) for output in report["outputs"]]
        report["nodes"] = [NodeCheck(node, OutputCheck(*value)) for node, value in report["nodes"]]
        return RuntimeReport(**report)

    def save(self, path: str | os.PathLike[str], *, keep_names: bool = False) -> None:
        """Writes the model as a file of its standard, ONNX or OpenVINO IR (``.xml`` with ``.bin``): the old file or the new one is
        there at every moment, whole.

        All that was read is written as it was, byte for byte, but for what folding changed. Files of constants are copied beside it
        as ``m.onnx.data``, ``m.onnx.2.data``, … where it is ``m.onnx``, unless they are there. Of a model made by :class:`Graph`, nodes that no output needs are left out.

        Args:
            path: the file.
            keep_names: copy files of constants with the names that the model gives them: of a stranger's choice, if it is one's.

        Raises:
            FileError: if a file cannot be written, or another has the name of one of constants.
            UnsupportedError: if the model is of Paddle, or a node of :meth:`Graph.logspace` and its like needs what only a
                run knows.
            GraphError: if the type of an input or output is not known.
        """
        self._native.save(path, keep_names)

    def to_bytes(self) -> bytes:
        """The bytes of the ONNX file that :meth:`save` writes; constants in other files stay there.

        Example:
            >>> import gradus
            >>> gradus.load(gradus.load("examples/positions.onnx").to_bytes())
            <Model (tokens) -> (position_ids, phase, token_count), 6 nodes>
        """
        return self._native.to_bytes()

    def explain(self, name: str) -> str:
        """Explains the shape of a value, in lines of text.

        Raises:
            UsageError: if there is no such value.
        """
        return self._native.explain(name)

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
            inputs: arrays, tensors that speak DLPack, or numbers and lists, by name; a list of those for a sequence, and
                a dict for a map. Numbers and lists of Python take the element type that the model declares.
            outputs: names of the values to give; the outputs of the model if none are named.
            max_bytes, max_work: limits of this run, in place of those of :func:`load`.
            timeout: the seconds after which the run fails.
            expand_functions: run operators by the bodies by which their standard defines them.
            seed: the seed of operators that draw random numbers and have none of their own, from 0 to 2**64 - 1.
            accumulate: how products of matrices, convolutions and reductions of floats are added: in float64 or float32,
                in the order of the elements, or without error.
            ranges, nonempty, assume: what sizes of inputs must be, as :meth:`infer` assumes it.

        Returns:
            Arrays by name; lists of them for sequences, ``None`` for optionals that are empty.

        Raises:
            GradusError: of the kind that fits, with its place.

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


_Sizes: TypeAlias = tuple[
    dict[str, int], dict[str, Any], tuple[dict[str, tuple[int, int | None]], bool, list[str]]
]


def _sizes(
    dims: Mapping[str, int] | None,
    shapes: Mapping[str, Sequence[Any]] | None,
    ranges: Mapping[str, tuple[int, int | None]] | None = None,
    nonempty: bool = False,
    assume: Sequence[str] = (),
) -> _Sizes:
    """Sizes of inputs, as native methods take them."""
    return dict(dims or {}), dict(shapes or {}), (dict(ranges or {}), nonempty, list(assume))


def _unpickled(cls: type[Model], standard: str, files: dict[str, bytes], made: dict[str, Any]) -> Model:
    model = cls.__new__(cls)
    vars(model).update(made, _native=_native._load_files(_FILES[standard], files))
    return model


class ConvertedModel(Model):
    """The result of :meth:`Model.convert`."""

    def __init__(self, native: _native.Model, report: ConversionReport) -> None:
        super().__init__(native)
        #: The report of the conversion.
        self.report = report


class FoldedModel(Model):
    """The result of :meth:`Model.fold`."""

    def __init__(self, native: _native.Model, report: FoldReport) -> None:
        super().__init__(native)
        #: The report of the folding.
        self.report = report


def load(
    source: str | os.PathLike[str] | bytes | Any,
    *,
    max_bytes: int | None = None,
    max_work: int | None = None,
    timeout: float | None = None,
) -> Model:
    """Opens a model.

    Args:
        source: the path of an ONNX model or of an OpenVINO IR (``.xml``, with its ``.bin`` beside it), which is mapped and
            not read; the bytes of a model; or an ``onnx.ModelProto``.
        max_bytes: how many bytes values of the model may take at one time, read or computed; 4 GiB by default.
        max_work: how many elements nodes may read and write, and multiply as matrices; 10^12 by default.
        timeout: the seconds after which reading the model fails.

    Returns:
        The model.

    Raises:
        FileError: if the file cannot be read.
        FormatError, GraphError, UnsupportedError: if it is no model.

    Example:
        >>> import gradus
        >>> {name: str(of) for name, of in gradus.load("examples/positions.onnx").inputs.items()}
        {'tokens': 'int64[batch, seq]'}
    """
    return Model(_native._load(source, (max_bytes, max_work, timeout)))


def _opened(source: Any) -> Model:
    return source if isinstance(source, Model) else load(source)


@overload
def check(
    a: Any,
    b: Any,
    *,
    with_: None = None,
    dims: Mapping[str, int] | None = None,
    shapes: Mapping[str, Sequence[Any]] | None = None,
    values: Mapping[str, Any] | None = None,
    runs: int = 5,
    seed: int = 1,
) -> CheckReport: ...


@overload
def check(
    a: Any,
    b: Any = None,
    *,
    with_: str,
    dims: Mapping[str, int] | None = None,
    shapes: Mapping[str, Sequence[Any]] | None = None,
    values: Mapping[str, Any] | None = None,
    runs: int = 5,
    seed: int = 1,
) -> RuntimeReport: ...


def check(
    a: Any,
    b: Any = None,
    *,
    with_: str | None = None,
    dims: Mapping[str, int] | None = None,
    shapes: Mapping[str, Sequence[Any]] | None = None,
    values: Mapping[str, Any] | None = None,
    runs: int = 5,
    seed: int = 1,
) -> CheckReport | RuntimeReport:
    """Runs two models on the same random inputs, or a model in a runtime, and compares all outputs bit for bit.

    Args:
        a: the model whose results are wanted: a :class:`Model`, or what :func:`load` opens.
        b: the model to compare; with ``with_``, the one that the runtime runs, which is ``a`` if none is given.
        with_: ``"onnxruntime"``, ``"openvino"`` or ``"paddle"``: the program that runs the second model. Without it, Gradus does.
        dims, shapes, values, runs, seed: as of :meth:`Model.check`.

    Returns:
        The report of :meth:`Model.check`, or with ``with_`` that of :meth:`Model.check_in`. It is true if nothing differs.

    Raises:
        UsageError: if there are neither a second model nor a runtime.
        GradusError: what these methods raise.

    Example:
        >>> import gradus
        >>> bool(gradus.check("examples/heads.onnx", with_="onnxruntime"))
        True
    """
    first = _opened(a)
    if with_ is not None:
        second = None if b is None else _opened(b)
        return first.check_in(with_, second, dims, shapes=shapes, values=values, runs=runs, seed=seed)
    if b is None:
        raise UsageError.mismatch("the second model", "None", "a model, or a runtime in with_")
    return first.check(_opened(b), dims, shapes=shapes, values=values, runs=runs, seed=seed)


def prove(
    a: Any,
    b: Any,
    dims: Mapping[str, int] | None = None,
    *,
    shapes: Mapping[str, Sequence[Any]] | None = None,
    seconds: float = 30,
    seed: int = 1,
) -> ProofReport:
    """Proves that two models return the same bits for all inputs and sizes, or finds inputs for which they do not.

    Args:
        a, b: the models: :class:`Model`, or what :func:`load` opens.
        dims, shapes, seconds, seed: as of :meth:`Model.prove`.

    Returns:
        The report of :meth:`Model.prove`, which is true if the models are proved to be the same.

    Raises:
        UsageError: if a symbol or an input is not the models'.

    Example:
        >>> import gradus
        >>> bool(gradus.prove("examples/heads.onnx", "examples/heads.onnx"))
        True
    """
    return _opened(a).prove(_opened(b), dims, shapes=shapes, seconds=seconds, seed=seed)


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
