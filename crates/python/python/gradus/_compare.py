"""Results of eleven programs for one call, beside the exact result, and of three programs for a model."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from . import _html, _native
from .errors import UsageError

__all__ = ["Comparison", "Difference", "ModelSequence", "Portability", "Row", "compare"]


@dataclass(frozen=True)
class Row:
    """The result of one program."""

    #: The name of the profile: ``numpy``.
    profile: str
    #: The program and its version.
    program: str
    #: Why it gives nothing, if it does not.
    error: str | None = None
    dtype: str | None = None
    length: int | None = None
    #: The first two elements, and the last, as text that reads back.
    first: tuple[str, ...] = ()
    last: str | None = None
    #: How far the program's elements may be from the predicted ones; nothing if those are bit for bit the program's.
    tolerance: str | None = None
    #: True if length, type and all compared elements are those of the exact result.
    exact: bool = False
    #: How many elements were compared: the first 100,000, and the last.
    compared: int = 0
    #: How many of them differ.
    differing: int = 0
    #: The first element that differs: its index, what the program gives, and the exact one.
    difference: tuple[int, str, str] | None = None
    #: The element that differs most: its index, and by how many units in the last place.
    largest: tuple[int, int] | None = None
    #: Why it differs, in a few words.
    why: str | None = None

    def cells(self) -> list[str]:
        """The row as text."""
        if self.error is not None:
            return [self.profile, "fails", "", "", "", "", "", "", self.error]
        differing = f"{self.differing} of {self.compared}" if self.differing else ""
        if not differing and self.profile != "exact" and self.tolerance is None and (self.compared or self.exact):
            differing = "none"
        first = "" if self.difference is None else "{}: {} for {}".format(*self.difference)
        largest = "" if self.largest is None else "{}: {} ulp".format(*self.largest)
        ends = [str(self.length), ", ".join(self.first), self.last or ""]
        return [self.profile, *ends, differing, first, largest, self.tolerance or "", self.why or ""]


class Comparison(Sequence[Row]):
    """A table: a row for each program, the exact result first. Notebooks show it as one."""

    heads = ["profile", "length", "first", "last", "differ", "first difference", "largest", "tolerance", "why"]

    def __init__(self, call: str, rows: list[Row]) -> None:
        self.call = call
        self._rows = rows

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, str):
            found = [row for row in self._rows if row.profile == index]
            if not found:
                raise KeyError(index)
            return found[0]
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __repr__(self) -> str:
        cells = [self.heads, *(row.cells() for row in self._rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        def cells(row: list[str], tag: str) -> str:
            return "".join(f"<{tag} style='text-align:left'>{html.escape(cell)}</{tag}>" for cell in row)

        def line(row: Row) -> str:
            colour = "#c62828" if row.error is not None else "inherit" if row.exact else "#b26a00"
            title = html.escape(row.program, quote=True)
            return f'<tr title="{title}" style="color:{colour}">{cells(row.cells(), "td")}</tr>'

        body = "".join(map(line, self._rows))
        caption = f"<caption style='text-align:left'><code>{html.escape(self.call)}</code></caption>"
        return f"<table>{caption}<thead><tr>{cells(self.heads, 'th')}</tr></thead><tbody>{body}</tbody></table>"


@dataclass(frozen=True)
class Difference:
    """A node at which programs differ."""

    #: Its name, after those of the nodes whose graphs it is in, or its place in the graph.
    node: str
    operator: str
    #: The name of the rule: ``relu-of-nan``.
    rule: str
    #: What the condition is about: ``"always"``, ``"sizes"`` or ``"data"``.
    of: str
    #: The condition without which the programs agree: ``seq >= 16777217``.
    condition: str
    #: What each program does.
    results: dict[str, str]
    #: For a range whose arguments are known: the programs of :func:`gradus.compare` that do not
    #: return the exact sequence, and why.
    sequences: dict[str, str]


class ModelSequence:
    """A sequence of a model whose arguments are known, as programs return it."""

    def __init__(self, node: str, operator: str, call: str, rows: list[dict[str, Any]]) -> None:
        #: Its node, as of :class:`Difference`, and the operator.
        self.node, self.operator = node, operator
        #: A row for each program that has the function.
        self.results = Comparison(call, [_row(row) for row in rows])

    def __repr__(self) -> str:
        return f"<ModelSequence: {self.node} ({self.operator})>"


class Portability(Sequence[Difference]):
    """The nodes of a model at which programs differ, in the order of a run. Notebooks show them as a table."""

    def __init__(self, found: dict[str, Any]) -> None:
        #: The programs that are compared, and their versions.
        self.programs: dict[str, str] = found["programs"]
        #: Assumptions under which the conditions hold: the node that needs it, and a sentence.
        self.assumptions: list[tuple[str, str]] = found["assumptions"]
        #: Declared shapes that are wrong: the value, and a sentence.
        self.warnings: list[tuple[str, str]] = found["warnings"]
        #: Contradictions: the place, and a sentence.
        self.problems: list[tuple[str, str]] = found["problems"]
        #: Sequences of known arguments that a program does not return exactly.
        self.sequences: list[ModelSequence] = [ModelSequence(*fields) for fields in found["sequences"]]
        self._differences = [Difference(*fields) for fields in found["differences"]]

    def __getitem__(self, index: Any) -> Any:
        return self._differences[index]

    def __len__(self) -> int:
        return len(self._differences)

    def __repr__(self) -> str:
        nodes = len({it.node for it in self._differences})
        return f"<Portability: differences: {len(self)}, nodes: {nodes}>"

    def _repr_html_(self) -> str:
        heads = ["node", "operator", "rule", "condition", *self.programs]
        rows = [[it.node, it.operator, it.rule, it.condition, *map(it.results.get, self.programs)] for it in self]
        notes = _html.notes(f"{place}: {text}" for place, text in self.problems)
        return _html.table(heads, rows, f"{len(self)} differences") + notes


def _row(fields: dict[str, Any]) -> Row:
    return Row(**{**fields, "first": tuple(fields.get("first", ()))})


def _range(start: Any = None, stop: Any = None, step: Any = None, dtype: Any = None) -> _Answer:
    return _native._compare("range", start, stop, step, None, False, dtype)


def _linspace(start: Any, stop: Any, num: Any = None, endpoint: bool = True, dtype: Any = None) -> _Answer:
    return _native._compare("linspace", start, stop, None, num, endpoint, dtype)


def _logspace(
    start: Any, stop: Any, num: Any = None, endpoint: bool = True, base: Any = None, dtype: Any = None
) -> _Answer:
    return _native._compare("logspace", start, stop, base, num, endpoint, dtype)


def _geomspace(start: Any, stop: Any, num: Any = None, endpoint: bool = True, dtype: Any = None) -> _Answer:
    return _native._compare("geomspace", start, stop, None, num, endpoint, dtype)


_Answer = tuple[str, list[dict[str, Any]]]
_FUNCTIONS: dict[str, Callable[..., _Answer]] = {
    "range": _range,
    "arange": _range,
    "linspace": _linspace,
    "logspace": _logspace,
    "geomspace": _geomspace,
}


def compare(function: str, *arguments: Any, **keywords: Any) -> Comparison:
    """Predicts what eleven programs return for one call, and why it differs from the exact result. None of them is run.

    Args:
        function: ``"range"``, ``"linspace"``, ``"logspace"`` or ``"geomspace"``.
        arguments, keywords: numbers and a type, as :func:`gradus.arange`, :func:`gradus.linspace`,
            :func:`gradus.logspace` and :func:`gradus.geomspace` take them. Programs get the nearest Python
            numbers, or tensors of the element type.

    Returns:
        A table, a row for each program that has the function. A program that raises has the row of its error, and so has the exact result.

    Raises:
        UsageError: if there is no such function.
        GradusError: if an argument is no number, or the type is none.

    Example:
        >>> import gradus
        >>> table = gradus.compare("range", 0, 1, 0.1, dtype="float16")
        >>> table["exact"].length, table["numpy"].difference
        (10, (3, '0.2998', '0.3'))
        >>> table = gradus.compare("range", 0, 1, 0)
        >>> table["exact"].error
        'step is zero, expected a nonzero number'
    """
    ask = _FUNCTIONS.get(function)
    if ask is None:
        raise UsageError.mismatch("the function", f'"{function}"', "range, linspace, logspace or geomspace")
    call, rows = ask(*arguments, **keywords)
    return Comparison(call, [_row(row) for row in rows])
