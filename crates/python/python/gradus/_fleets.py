"""Many models, by the workers of dask: bags of a pair for each model, its path and its result."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

import dask.bag

from ._models import Inference, load
from ._reports import ConversionReport, FoldReport
from .errors import UsageError

Paths = Sequence[str | os.PathLike[str]]

# A path, and the file to write.
_Task = tuple[str, pathlib.Path | None]

# The file of a model in a standard.
_SUFFIXES = {"onnx": ".onnx", "openvino": ".xml"}


def _tasks(paths: Paths, out: str | os.PathLike[str] | None = None, suffix: str | None = None) -> list[_Task]:
    """The paths, each with the file to write: models keep their folders below the one that all of them are in."""
    names = [os.fspath(path) for path in paths]
    if out is None or not names:
        return [(name, None) for name in names]
    whole = [pathlib.Path(path).absolute() for path in names]
    shared = os.path.commonpath([path.parent for path in whole])
    files = [pathlib.Path(out).absolute() / path.relative_to(shared) for path in whole]
    targets = [file.with_suffix(suffix) if suffix else file for file in files]
    if len(set(targets)) < len(targets):
        twice = next(file for i, file in enumerate(targets) if file in targets[:i])
        raise UsageError(f"two models would be written as {twice}")
    return list(zip(names, targets, strict=True))


def _result(task: _Task, method: str, errors: str, keywords: dict[str, Any]) -> tuple[str, Any]:
    """What a method makes of a model, or the report of what is written."""
    path, target = task
    try:
        made = getattr(load(path), method)(**keywords)
        if target is None:
            return path, made
        target.parent.mkdir(parents=True, exist_ok=True)
        made.save(target)
        return path, made.report
    except Exception as error:
        if errors == "raise":
            raise
        return path, error


# A scheduler's dashboard shows tasks by the names of these functions.


def _infer(task: _Task, errors: str, keywords: dict[str, Any]) -> tuple[str, Any]:
    return _result(task, "infer", errors, keywords)


def _fold(task: _Task, errors: str, keywords: dict[str, Any]) -> tuple[str, Any]:
    return _result(task, "fold", errors, keywords)


def _lint(task: _Task, errors: str, keywords: dict[str, Any]) -> tuple[str, Any]:
    return _result(task, "lint", errors, keywords)


def _convert(task: _Task, errors: str, keywords: dict[str, Any]) -> tuple[str, Any]:
    return _result(task, "convert", errors, keywords)


def _bag(
    work: Callable[[_Task, str, dict[str, Any]], tuple[str, Any]],
    tasks: list[_Task],
    npartitions: int | None,
    errors: str,
    keywords: dict[str, Any],
) -> dask.bag.Bag:
    if errors not in ("raise", "return"):
        raise UsageError(f'errors is {errors!r}, expected "raise" or "return"')
    return dask.bag.from_sequence(tasks, npartitions=npartitions).map(work, errors, keywords)


def infer(paths: Paths, *, npartitions: int | None = None, errors: str = "raise", **keywords: Any) -> dask.bag.Bag:
    """Infers many models on the workers of dask.

    Args:
        paths: files that the workers can open.
        npartitions: the number of parts of the list; by default dask's
            choice.
        errors: `"raise"`, or `"return"`: the error takes the place of the
            result of a model that fails, and the others go on.
        **keywords: arguments of `gradus.Model.infer`.

    Returns:
        A bag of pairs: the path, and the `gradus.Inference`.

    Raises:
        UsageError: if `errors` is another text.

    Example:
        >>> import gradus
        >>> bag = gradus.dask.infer(["examples/positions.onnx"])
        >>> for path, found in bag.compute(scheduler="sync"):
        ...     print(path, found["phase"])
        examples/positions.onnx float32[seq]
    """
    return _bag(_infer, _tasks(paths), npartitions, errors, keywords)


def lint(paths: Paths, *, npartitions: int | None = None, errors: str = "raise", **keywords: Any) -> dask.bag.Bag:
    """Looks for what is wrong in many models on the workers of dask.

    Args:
        paths: files that the workers can open.
        npartitions: the number of parts of the list; by default dask's
            choice.
        errors: `"raise"`, or `"return"`: the error takes the place of the
            result of a model that fails, and the others go on.
        **keywords: arguments of `gradus.Model.lint`.

    Returns:
        A bag of pairs: the path, and the list of `gradus.Finding`.

    Raises:
        UsageError: if `errors` is another text.

    Example:
        >>> import gradus
        >>> bag = gradus.dask.lint(["examples/baked.onnx"])
        >>> for path, findings in bag.compute(scheduler="sync"):
        ...     print(path, [finding.code for finding in findings])
        examples/baked.onnx ['GR102']
    """
    return _bag(_lint, _tasks(paths), npartitions, errors, keywords)


def fold(
    paths: Paths,
    out: str | os.PathLike[str] | None = None,
    *,
    npartitions: int | None = None,
    errors: str = "raise",
    **keywords: Any,
) -> dask.bag.Bag:
    """Folds many models on the workers of dask.

    Args:
        paths: files that the workers can open.
        out: a folder that the workers can write: models are saved there, in
            the folders that they have below the one that contains all of
            them.
        npartitions: the number of parts of the list; by default dask's
            choice.
        errors: `"raise"`, or `"return"`: the error takes the place of the
            result of a model that fails, and the others go on.
        **keywords: arguments of `gradus.Model.fold`.

    Returns:
        A bag of pairs: the path, and the `gradus.FoldedModel`; with `out`,
        its report.

    Raises:
        UsageError: if `errors` is another text, or two models would be
            written as one file.

    Example:
        >>> import gradus
        >>> bag = gradus.dask.fold(["examples/heads.onnx"], errors="return")
        >>> for path, folded in bag.compute(scheduler="sync"):
        ...     print(path, folded.report.nodes)
        examples/heads.onnx (14, 2)
    """
    return _bag(_fold, _tasks(paths, out), npartitions, errors, keywords)


def convert(
    paths: Paths,
    to: str,
    out: str | os.PathLike[str] | None = None,
    *,
    npartitions: int | None = None,
    errors: str = "raise",
    **keywords: Any,
) -> dask.bag.Bag:
    """Converts many models on the workers of dask.

    Args:
        paths: files that the workers can open.
        to: `"onnx"` or `"openvino"`.
        out: a folder that the workers can write, as in `gradus.dask.fold`.
        npartitions: the number of parts of the list; by default dask's
            choice.
        errors: `"raise"`, or `"return"`: the error takes the place of the
            result of a model that fails, and the others go on.
        **keywords: arguments of `gradus.Model.convert`.

    Returns:
        A bag of pairs: the path, and the `gradus.ConvertedModel`; with
        `out`, its report.

    Raises:
        UsageError: if `to` or `errors` is another text, or two models would
            be written as one file.

    Example:
        >>> import gradus
        >>> paths = ["examples/positions.onnx"]
        >>> bag = gradus.dask.convert(paths, "openvino")
        >>> [made.report.exact for _, made in bag.compute(scheduler="sync")]
        [True]
    """
    if to not in _SUFFIXES:
        raise UsageError(f'to is {to!r}, expected "onnx" or "openvino"')
    return _bag(_convert, _tasks(paths, out, _SUFFIXES[to]), npartitions, errors, {"to": to, **keywords})


_SEVERITIES = ("error", "warning", "note")
_COLUMNS = ("error", "values", "unknown", *(f"{name}s" for name in _SEVERITIES), "before", "after", "nodes", "inexact")


def row(pair: tuple[str, Any]) -> dict[str, Any]:
    """Makes a row of a table from a pair of a bag.

    All pairs have the same columns, so `bag.map(gradus.dask.row)` becomes a
    data frame by `to_dataframe()`.

    Args:
        pair: an element of the bags of `gradus.dask.infer`,
            `gradus.dask.lint`, `gradus.dask.fold` and
            `gradus.dask.convert`.

    Returns:
        `path`; `error`, a text; `values` and `unknown`, numbers of an
        inference; `errors`, `warnings` and `notes`, numbers of findings of
        lint; `before` and `after`, numbers of nodes of a fold; `nodes` and
        `inexact`, numbers of a conversion. Those of other results are
        `None`.

    Example:
        >>> import gradus
        >>> paths = ["examples/positions.onnx", "missing.onnx"]
        >>> bag = gradus.dask.infer(paths, errors="return")
        >>> rows = bag.map(gradus.dask.row).compute(scheduler="sync")
        >>> [(row["values"], row["error"]) for row in rows]
        [(9, None), (None, 'missing.onnx: there is no such file')]
    """
    path, result = pair
    made: dict[str, Any] = dict.fromkeys(_COLUMNS)
    report = getattr(result, "report", result)
    if isinstance(report, Exception):
        made["error"] = str(report)
    elif isinstance(report, Inference):
        made |= {"values": len(report), "unknown": len(report.reasons)}
    elif isinstance(report, list):
        made |= {f"{name}s": sum(finding.severity == name for finding in report) for name in _SEVERITIES}
    elif isinstance(report, FoldReport):
        made["before"], made["after"] = report.nodes
    elif isinstance(report, ConversionReport):
        made |= {"nodes": report.nodes, "inexact": len({note.node for note in report.notes})}
    return {"path": path} | made
