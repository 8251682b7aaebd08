"""Checks and proofs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from .. import _models, _native
from .._check import CheckReport, NodeCheck, OutputCheck, ProofReport, RuntimeReport
from .._lint import Finding
from .._quantized import QuantizationReport, report_of
from .._runtimes import RUNTIMES, Runnable, must_be_known
from .base import Base, sizes_of

if TYPE_CHECKING:
    from . import Model


class Checks(Base):
    """Methods that compare models, and find faults in them."""

    def check(
        self,
        other: Model,
        dims: Mapping[str, int] | None = None,
        *,
        shapes: Mapping[str, Sequence[Any]] | None = None,
        values: Mapping[str, Any] | None = None,
        runs: int = 5,
        seed: int = 1,
        prove: bool = True,
    ) -> CheckReport:
        """Runs this model and another on the same random inputs.

        All outputs are compared bit for bit: by a proof or, without one, in
        runs. Open dimensions get sizes that the
        model takes: the smallest, the largest, then random ones. Floats are
        from -1 to 1, and in every third run zeros, ones, large and small
        numbers; integers are 0 and 1, or what a node looks up or chooses a
        branch by. Inputs and outputs correspond by name, or else by position.

        Args:
            other: the model to compare.
            dims: numbers for symbols of the inputs' shapes, by name.
            shapes: shapes of inputs by name, in place of the declared ones.
            values: inputs by name that are the same in all runs.
            runs: the number of runs that are compared.
            seed: the seed of the random inputs.
            prove: take up to 10 seconds to prove outputs the same for all
                inputs and sizes: no run compares these.

        Returns:
            A report, which is true if nothing differs.

        Raises:
            GraphError: if inputs or outputs do not correspond.
            GradusError: if a model fails in a run.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/positions.onnx")
            >>> report = model.check(model.convert("openvino"), prove=False)
            >>> bool(report), report.runs
            (True, 5)
        """
        report = self._native._check(
            other._native, sizes_of(dims, shapes), dict(values or {}), runs, seed, None, prove, None
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
        certificate: bool = False,
        up_to: Literal["bits", "order", "rounding"] = "bits",
    ) -> ProofReport:
        """Proves that another model returns the same bits for all inputs.

        The proof covers all inputs and sizes that both models take; where there
        is none, runs look for inputs for which the outputs differ. Outputs are
        compared by name; all NaNs are the same.

        Args:
            other: the model to compare.
            dims: numbers for symbols of the inputs' shapes, by name.
            shapes: shapes of inputs by name, in place of the declared ones.
            seconds: the time of the runs that look for a difference.
            seed: the seed of the random inputs of these runs.
            certificate: whether the report has the steps of a proof, for
                `gradus.verify_proof`.
            up_to: what equal outputs may differ in: nothing, the order of
                sums, or rounding of floats.

        Returns:
            A report, which is true if the models are proved to be the same.

        Raises:
            UsageError: if a symbol or an input has no such name.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/heads.onnx")
            >>> model.prove(model.fold()).verdict
            'equivalent'
        """
        report = _native._prove((self._native, other._native), sizes_of(dims, shapes), (seconds, seed, certificate, up_to))
        return proof_of(report)

    def quantization(
        self,
        other: Model,
        dims: Mapping[str, int] | None = None,
        *,
        shapes: Mapping[str, Sequence[Any]] | None = None,
        values: Mapping[str, Any] | None = None,
        runs: int = 5,
        seed: int = 1,
    ) -> QuantizationReport:
        """Measures what each tensor loses in a quantized form of the model.

        Both models run on the same inputs. Tensors are found by the operators
        that quantize and dequantize, and by the constants of nodes that both
        models have; they correspond by name, or else by the node that computes
        them from tensors that correspond.

        Args:
            other: the quantized model.
            dims: numbers for symbols of the inputs' shapes, by name.
            shapes: shapes of inputs by name, in place of the declared ones.
            values: inputs by name; those that are not given are random, which
                tells little of ranges that were found with real ones.
            runs: the number of runs that are compared.
            seed: the seed of the random inputs.

        Returns:
            The losses, the largest first.

        Raises:
            GraphError: if inputs or outputs do not correspond, or nothing is
                quantized.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/scores.onnx")
            >>> int8 = gradus.load("examples/scores.int8.onnx")
            >>> report = model.quantization(int8)
            >>> worst = report.tensors[0]
            >>> worst.name, worst.clipped > 0, round(worst.own.decibels)
            ('hidden', True, 11)
        """
        models = (self._native, other._native)
        return report_of(*_native._quantization(models, sizes_of(dims, shapes), dict(values or {}), (runs, seed)))

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
        """Finds what is wrong in the model, or surprises those who ship it.

        The model is not run. A rule that cannot be asked is a `UserWarning`.
        `docs/lint.md` lists all rules.

        Args:
            dims: numbers for symbols of the inputs' shapes, by name.
            shapes: shapes of inputs by name, in place of the declared ones.
            select: codes or names of rules, or beginnings of codes (`"GR4"`);
                by default all rules.
            ignore: codes or names of rules that are left out.
            runtimes: runtimes that must run the model: `"onnxruntime"`,
                `"openvino"`.
            max_peak: maximum bytes of constants, inputs and values at one time.
            max_parameters: maximum elements of the constants.

        Returns:
            The findings, by the code of their rule.

        Raises:
            UsageError: if a rule, a runtime or a symbol has no such name.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/baked.onnx")
            >>> [finding.message for finding in model.lint()]
            ['the model runs only if batch == 1']
        """
        rules, limits = (list(select), list(ignore)), (max_peak, max_parameters)
        found = _native._lint(self._native, (sizes_of(dims, shapes), rules, list(runtimes), limits))
        return [Finding(*finding) for finding in found]

    def fix(self, *, select: Sequence[str] = (), ignore: Sequence[str] = ()) -> Model:
        """Mends findings of `Model.lint` without changing a bit of a result.

        `docs/lint.md` says which rules are mended. Outputs are proved to be the
        same, or compared in runs where there is no proof.

        Args:
            select: codes or names of rules, or beginnings of codes (`"GR2"`);
                by default all rules.
            ignore: codes or names of rules that are left out.

        Returns:
            The model that has fewer findings; this one if nothing is mended.

        Raises:
            UsageError: if a rule has no such name.
            UnsupportedError: if outputs could neither be proved to be the same
                nor compared.

        Example:
            >>> import gradus
            >>> gradus.load("examples/heads.onnx").fix().lint()
            []
        """
        rules = (list(select), list(ignore))
        native = _native._fix(self._native, (sizes_of(None, None), rules, [], (None, None)))
        return cast("Model", self) if native is None else _models.Model(native)

    def check_in(
        self,
        runtime: str | Runnable,
        other: Model | None = None,
        dims: Mapping[str, int] | None = None,
        *,
        shapes: Mapping[str, Sequence[Any]] | None = None,
        values: Mapping[str, Any] | None = None,
        runs: int = 5,
        seed: int = 1,
        save_case: str | os.PathLike[str] | None = None,
    ) -> RuntimeReport:
        """Runs a model in a runtime, and compares outputs and each node's results.

        The runtime computes the outputs as it does for any caller. It runs once
        more with all values asked for: each node's results are compared with
        the exact ones for the inputs that the runtime gave the node.

        Args:
            runtime: `"onnxruntime"`, `"openvino"`, or `"paddle"` for programs
                of Paddle, which must be installed; `"cmd:"` and a command line
                with `{model}`, `{inputs}` and `{outputs}`, as of
                `gradus check --with`; or an object: its method
                `run(path, inputs, names)` returns the values of the names, or
                `None` for each that it does not show. Its attribute
                `reads_file` is false if the model need not be in a file.
            other: the model that the runtime runs, opened from a file; by
                default this one.
            dims: numbers for symbols of the inputs' shapes, by name.
            shapes: shapes of inputs by name, in place of the declared ones.
            values: inputs by name that are the same in all runs.
            runs: the number of runs that are compared.
            seed: the seed of the random inputs.
            save_case: a folder for the first node beyond its bound:
                `model.onnx`, and its failing inputs as `inputs.npz`.

        Returns:
            A report, which is true if no output differs; its nodes are sorted
            by their label and by their error, relative to the bound, the
            worst first.

        Raises:
            UnsupportedError: if the runtime is not installed or does not run
                the model, or the model is not in a file.
            UsageError: if the runtime is unknown.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/heads.onnx")
            >>> report = model.check_in("onnxruntime")
            >>> bool(report), len(report.nodes)
            (True, 14)
        """
        if isinstance(runtime, str):
            must_be_known(runtime, RUNTIMES)
        second = (other or self)._native
        report = self._native._check(
            second, sizes_of(dims, shapes), dict(values or {}), runs, seed, runtime, False, save_case
        )
        report["outputs"] = [OutputCheck(*output) for output in report["outputs"]]
        report["nodes"] = [NodeCheck(node, OutputCheck(*value), *rest) for node, value, *rest in report["nodes"]]
        return RuntimeReport(**report)


def proof_of(report: dict[str, Any]) -> ProofReport:
    report["outputs"], report["laws"] = dict(report["outputs"]), dict(report["laws"])
    return ProofReport(**report)
