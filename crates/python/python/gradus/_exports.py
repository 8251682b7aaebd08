"""Models that exporters hold in memory, and what they recorded of the sources."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from . import _models, _native
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


def _leaves(spec: Any) -> Iterator[Any]:
    """The specifications of inputs in a container of them, in their order: `None`, or the sizes of axes."""
    for each in spec.values() if isinstance(spec, Mapping) else spec:
        if each is None or _is_shape(each):
            yield each
        else:
            yield from _leaves(each)


def _is_shape(spec: Any) -> bool:
    if isinstance(spec, Mapping):
        return all(isinstance(axis, int) for axis in spec)
    return not any(isinstance(size, Mapping | list | tuple) for size in spec)


def _named_axes(inputs: Iterable[str], dynamic_shapes: Any) -> dict[tuple[str, int], str]:
    """The names that `dynamic_shapes` gives to axes of inputs."""
    names = list(inputs)
    if dynamic_shapes is None:
        return {}
    if isinstance(dynamic_shapes, Mapping) and set(dynamic_shapes) <= set(names):
        shapes = dict(dynamic_shapes)
    else:
        leaves = list(_leaves(dynamic_shapes))
        if len(leaves) != len(names):
            raise UsageError.mismatch("the number of inputs in dynamic_shapes", len(leaves), len(names))
        shapes = dict(zip(names, leaves, strict=True))
    named = {}
    for name, shape in shapes.items():
        sizes = shape.items() if isinstance(shape, Mapping) else enumerate(shape or ())
        for axis, size in sizes:
            # A size of PyTorch is a class with a name; DYNAMIC, AUTO and STATIC are hints, and have
            # none.
            word = size if isinstance(size, str) else getattr(size, "__name__", None)
            if word:
                named[name, axis] = word
    return named


_MUST = {"<=": "must be at most", ">=": "must be at least", "==": "must be", "!=": "must not be"}


class _Words:
    """Conditions in the words of `dynamic_shapes`."""

    def __init__(self, inputs: Mapping[str, Any], dynamic_shapes: Any, sources: Sources) -> None:
        self._sources = sources
        self._words: dict[str, str] = {}
        self.fixed: list[ExportedCondition] = []
        named = _named_axes(inputs, dynamic_shapes)
        for name, of in inputs.items():
            for axis, size in enumerate((of.shape if isinstance(of, TensorType) else None) or ()):
                word, symbol = named.get((name, axis)), str(size)
                if isinstance(size, int):
                    if word is not None:
                        text = f'{word} must be {size}: the exporter fixed axis {axis} of input "{name}"'
                        self.fixed.append(ExportedCondition(text, None, None))
                elif symbol.isidentifier():
                    self._words[symbol] = word or self._words.get(symbol, f"{name}.shape[{axis}]")

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

    def __init__(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], model: _models.Model) -> None:
        self._torch: Any = importlib.import_module("torch")
        self._tree: Any = importlib.import_module("torch.utils._pytree")
        self._module = module
        self._leaves, self._form = self._tree.tree_flatten((args, kwargs))
        self._places = [i for i, leaf in enumerate(self._leaves) if hasattr(leaf, "__dlpack__")]
        self._inputs, self._outputs = list(model.inputs), list(model.outputs)
        if len(self._places) != len(self._inputs):
            raise UsageError.mismatch("the number of tensors among the arguments", len(self._places), len(self._inputs))

    def given(self) -> dict[str, Any]:
        """The tensors of the export, by the inputs of the model."""
        return {name: self._leaves[i].detach().cpu() for name, i in zip(self._inputs, self._places, strict=True)}

    def run(self, model: Any, inputs: dict[str, Any], values: list[str]) -> list[Any]:
        leaves = list(self._leaves)
        for name, i in zip(self._inputs, self._places, strict=True):
            leaves[i] = self._torch.from_dlpack(to_dlpack(inputs[name])).to(leaves[i].device)
        args, kwargs = self._tree.tree_unflatten(leaves, self._form)
        with self._torch.no_grad():
            found = self._tree.tree_leaves(self._module(*args, **kwargs))
        tensors = [leaf.detach().cpu().contiguous() for leaf in found if hasattr(leaf, "__dlpack__")]
        shown = dict(zip(self._outputs, tensors, strict=True))
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
    opened = program if isinstance(program, _models.Model) else _models.load(program)
    words = _Words(opened.inputs, dynamic_shapes, Sources(program))
    runs = [of for of in opened.infer().conditions if of.why != "declared"]
    conditions = words.fixed + [words.sentence(of) for of in runs]
    folded = opened.fold() if fold else None
    model = folded or opened
    check = None
    if module is not None:
        runtime = _Module(module, tuple(args), dict(kwargs or {}), model)
        check = model.check_in(runtime, values=runtime.given(), runs=1)
    report = ExportReport(conditions, model.lint(), folded.report if folded else None, check)
    return ExportedModel(model._native, report)


def export(module: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None, *, dynamic_shapes: Any = None, fold: bool = True, check: bool = True, **options: Any) -> ExportedModel:
    """Exports a module of PyTorch, and tells for which sizes the model runs.

    `torch.onnx.export` makes the model, in memory; `gradus.torch.exported`
    does the rest.

    Args:
        module: a `torch.nn.Module`.
        args: its arguments: a tuple of tensors.
        kwargs: its keyword arguments.
        dynamic_shapes: the sizes that may vary, as of `torch.onnx.export`:
            `{"x": {0: "batch", 1: "seq"}}`.
        fold: fold the model, and declare the types of all values.
        check: run the module and the model on the arguments, and compare
            outputs.
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
    program = torch.onnx.export(module, tuple(args), kwargs=dict(kwargs or {}), dynamic_shapes=dynamic_shapes, dynamo=True, **options)
    compared = module if check else None
    return exported(program, dynamic_shapes=dynamic_shapes, fold=fold, module=compared, args=args, kwargs=kwargs)
