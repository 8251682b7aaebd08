"""Models that exporters hold in memory, and what they recorded of the sources."""

from __future__ import annotations

import importlib
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import _models, _native
from ._arguments import Arguments, dynamic_axes, named_axes
from ._check import RuntimeReport
from ._dlpack import to_dlpack
from ._inference import Condition, TensorType
from ._ir import Sources
from ._lint import Finding
from ._reports import FoldReport
from .errors import UsageError

__all__ = ["ExportReport", "ExportedCondition", "ExportedModel", "export", "exported"]


@dataclass(frozen=True)
class ExportedCondition:
    """A condition of an exported model, in the words of who exported it.

    Attributes:
        text: a sentence about `dynamic_shapes`: the condition, the node
            that needs it, and the line of the module's source.
        condition: the condition as inference has it; `None` if the exporter
            itself made a size a number.
        source: the file and the line that the exporter recorded for the
            node; `None` if it recorded none.
    """

    text: str
    condition: Condition | None
    source: tuple[str, int] | None


@dataclass(frozen=True)
class ExportReport:
    """The report of `gradus.torch.exported`.

    Attributes:
        conditions: conditions without which every run fails, or which
            inference took for granted.
        findings: findings of `gradus.Model.lint` in the model that is
            returned.
        fold: the report of the folding; `None` if nothing was folded.
        check: how outputs differ from those of the module, on the inputs of
            the export; `None` if they were not compared.
    """

    conditions: list[ExportedCondition]
    findings: list[Finding]
    fold: FoldReport | None
    check: RuntimeReport | None

    def __str__(self) -> str:
        lines = [of.text for of in self.conditions]
        lines += [f"{of.code} {of.place}: {of.message}" for of in self.findings]
        return "\n".join(lines)


class ExportedModel(_models.Model):
    """The result of `gradus.torch.exported`: a model, and a report.

    A file that it is saved to has the inferred shapes of all values.

    Attributes:
        report: the report of the export.
    """

    def __init__(self, native: _native.Model, report: ExportReport) -> None:
        super().__init__(native)
        self.report: ExportReport = report


_MUST = {"<=": "must be at most", ">=": "must be at least", "==": "must be", "!=": "must not be"}


class _Words:
    """Conditions in the words of `dynamic_shapes`."""

    def __init__(self, inputs: Mapping[str, Any], named: Mapping[tuple[str, int], str], sources: Sources) -> None:
        self._sources = sources
        self.fixed: list[ExportedCondition] = []
        shapes = {name: of.shape or () for name, of in inputs.items() if isinstance(of, TensorType)}
        first: dict[str, tuple[str, str]] = {}
        for (name, axis), word in named.items():
            size, place = shapes[name][axis], f'axis {axis} of input "{name}"'
            if isinstance(size, int):
                self._fix(word, size, f"the exporter fixed {place}")
            elif str(size).isidentifier():
                other, there = first.setdefault(str(size), (word, place))
                if other != word:
                    self._fix(word, other, f"the exporter made {place} as long as {there}")
        self._words = {symbol: word for symbol, (word, _) in first.items()}
        for name, shape in shapes.items():
            for axis, size in enumerate(shape):
                if str(size).isidentifier():
                    self._words.setdefault(str(size), f"{name}.shape[{axis}]")

    def _fix(self, word: str, size: Any, why: str) -> None:
        self.fixed.append(ExportedCondition(f"{word} must be {size}: {why}", None, None))

    def sentence(self, condition: Condition) -> ExportedCondition:
        text = re.sub(r"(?<![\w\"])[A-Za-z_]\w*(?!\w|\()", lambda it: self._words.get(it[0], it[0]), condition.text)
        parts = re.fullmatch(r"([\w.\[\]]+) (<=|>=|==|!=) (.+?)( if .+)?", text)
        says = f"{parts[1]} {_MUST[parts[2]]} {parts[3]}{parts[4] or ''}" if parts else f"must hold: {text}"
        found = self._sources.find(condition.node)
        source = None
        says += f": {condition.node}"
        if found is not None:
            file, line, code = found
            source = file, line
            says += f", line {line} of {file}" + (f": {code}" if code else "")
        return ExportedCondition(says, condition, source)


class _Module:
    """A module of PyTorch, as a runtime of `gradus.Model.check_in`."""

    reads_file = False

    def __init__(self, module: Any, arguments: Arguments, model: _models.Model) -> None:
        self._torch: Any = importlib.import_module("torch")
        self._module, self._arguments = module, arguments
        self._inputs, self._outputs = list(model.inputs), list(model.outputs)

    def run(self, model: Any, inputs: dict[str, Any], values: list[str]) -> list[Any]:
        tensors = [self._torch.from_dlpack(to_dlpack(inputs[name])) for name in self._inputs]
        with self._torch.no_grad():
            found = self._arguments.call(self._module, tensors)
        if len(found) != len(self._outputs):
            raise UsageError.mismatch("the number of tensors that the module returns", len(found), len(self._outputs))
        shown = {name: leaf.detach().cpu().contiguous() for name, leaf in zip(self._outputs, found, strict=True)}
        return [shown.get(name) for name in values]


def exported(program: Any, *, dynamic_shapes: Any = None, fold: bool = True, module: Any = None, args: Any = (), kwargs: Mapping[str, Any] | None = None) -> ExportedModel:
    """Takes over a model that an exporter holds in memory.

    Nothing is written, and large constants are copied once. The report has
    the conditions of the model in the words of `dynamic_shapes`, with the
    line of the module's source that the exporter recorded for the node, and
    what `gradus.Model.lint` finds.

    Args:
        program: a `torch.onnx.ONNXProgram`, an `onnx_ir.Model`, or another
            source of `gradus.load`, without lines of sources.
        dynamic_shapes: the sizes that the export was given, whose names are
            taken; a size without a name is called `x.shape[0]`.
        fold: fold the model, and declare the types of all values.
        module: a module or function of PyTorch that outputs are compared
            with, on the tensors of the export.
        args: the arguments of the module, as of the export.
        kwargs: its keyword arguments.

    Returns:
        The model, with a `report`.

    Raises:
        UsageError: if `dynamic_shapes`, or the tensors among the arguments,
            are not as many as the inputs.
        GraphError: if the model contradicts itself.

    Example:
        >>> import gradus
        >>> made = gradus.torch.exported("examples/embedding.onnx")
        >>> made.report.conditions[0].text.split(":")[0]
        'x0.shape[1] must be at most 64 if x0.shape[0] >= 1'
    """
    made = getattr(program, "exported_program", None)
    arguments = None
    if made is not None or module is not None:
        arguments = Arguments(args, kwargs or {}, module, made)
    opened = program if isinstance(program, _models.Model) else _models.load(program)
    if arguments is not None:
        arguments.keep(list(opened.inputs))
    words = _Words(opened.inputs, named_axes(list(opened.inputs), dynamic_shapes, arguments), Sources(program))
    runs = [of for of in opened.infer().conditions if of.why != "declared"]
    conditions = words.fixed + [words.sentence(of) for of in runs]
    folded = opened.fold() if fold else None
    model = folded or opened
    check = None
    if module is not None and arguments is not None:
        values = arguments.values(list(model.inputs))
        check = model.check_in(_Module(module, arguments, model), values=values, runs=1)
    report = ExportReport(conditions, model.lint(), folded.report if folded else None, check)
    return ExportedModel(model._native, report)


def export(module: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None, *, dynamic_shapes: Any = None, fold: bool = True, check: bool = True, dynamo: bool = True, **options: Any) -> ExportedModel:
    """Exports a module of PyTorch, and tells for which sizes the model runs.

    `torch.onnx.export` makes the model, in memory; `gradus.torch.exported`
    does the rest.

    Args:
        module: a `torch.nn.Module`, or a program of `torch.export`.
        args: its arguments: a tuple of tensors.
        kwargs: its keyword arguments.
        dynamic_shapes: the sizes that may vary, as of `torch.onnx.export`:
            `{"x": {0: "batch", 1: "seq"}}`.
        fold: fold the model, and declare the types of all values.
        check: run the module and the model on the arguments, and compare
            outputs.
        dynamo: use the exporter of `torch.export`, which records lines of
            sources; without it, that of TorchScript.
        **options: further arguments of `torch.onnx.export`.

    Returns:
        The model, with a `report`.

    Raises:
        ModuleNotFoundError: if PyTorch or its exporter is not installed.
        UsageError: if `dynamic_shapes` are not as many as the inputs.

    Example:
        >>> import gradus
        >>> sizes = {"x": {0: "batch", 1: "seq"}}
        >>> export = gradus.torch.export
        >>> export(net, (x,), dynamic_shapes=sizes)  # doctest: +SKIP
        <Model (x) -> (y), 4 nodes>
    """
    torch: Any = importlib.import_module("torch")
    if not isinstance(args, tuple | list):
        raise UsageError.mismatch("the type of args", type(args).__name__, "a tuple of tensors")
    given = {"kwargs": dict(kwargs or {}), "dynamo": dynamo, **options}
    if dynamo:
        program = torch.onnx.export(module, tuple(args), dynamic_shapes=dynamic_shapes, **given)
    else:
        arguments = Arguments(args, kwargs or {}, module)
        names = given.setdefault("input_names", arguments.names())
        if dynamic_shapes is not None:
            given["dynamic_axes"] = dynamic_axes(names, dynamic_shapes, arguments)
        file = io.BytesIO()
        torch.onnx.export(module, tuple(args), file, **given)
        program = file.getvalue()
    # A program of `torch.export` is called by the module that it makes.
    compared = module.module() if check and isinstance(module, torch.export.ExportedProgram) else module
    return exported(program, dynamic_shapes=dynamic_shapes, fold=fold, module=compared if check else None, args=args, kwargs=kwargs)
