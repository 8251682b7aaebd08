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
    """The result of one program.

    Attributes:
        profile: the name of the profile: `numpy`.
        program: the program and its version.
        error: why the program returns nothing, if it does not.
        dtype: the element type.
        length: the number of elements.
        first: the first two elements, as text that reads back.
        last: the last element, alike.
        tolerance: how far the program's elements may be from the predicted
            ones; `None` if these are the program's, bit for bit.
        exact: true if length, type and all compared elements are exact.
        compared: the number of elements that were compared: the first
            100,000, and the last.
        differing: the number of these that differ.
        difference: the first element that differs: its index, the program's
            element, and the exact one.
        largest: the element that differs most: its index, and the
            difference in units in the last place.
        why: the reason for a difference, in a few words.
    """

    profile: str
    program: str
    error: str | None = None
    dtype: str | None = None
    length: int | None = None
    first: tuple[str, ...] = ()
    last: str | None = None
    tolerance: str | None = None
    exact: bool = False
    compared: int = 0
    differing: int = 0
    difference: tuple[int, str, str] | None = None
    largest: tuple[int, int] | None = None
    why: str | None = None

    def cells(self) -> list[str]:
        """Returns the cells of the row in a table.

        Returns:
            A text for each of `Comparison.heads`.

        Example:
            >>> import gradus
            >>> row = gradus.compare("linspace", 0, 1, 5)["numpy"]
            >>> row.cells()[:4]
            ['numpy', '5', '0.0, 0.25', '1.0']
        """
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
    """A table with a row for each program, the exact result first.

    An index is a number or the name of a profile. Notebooks show the table.

    Attributes:
        call: the call, as text.
    """

    heads = ["profile", "length", "first", "last", "differ", "first difference", "largest", "tolerance", "why"]

    def __init__(self, call: str, rows: list[Row]) -> None:
        self.call: str = call
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
    """A node at which runtimes differ.

    Attributes:
        node: its name, after those of the nodes whose graphs contain it, or
            its index in the graph.
        operator: its operator.
        rule: the name of the rule: `relu-of-nan`.
        of: what the condition is about: `"always"`, `"sizes"` or `"data"`.
        condition: the condition under which the runtimes differ.
        results: what each program returns.
        sequences: for a range whose arguments are known: the programs of
            `gradus.compare` that do not return the exact sequence, and why.
    """

    node: str
    operator: str
    rule: str
    of: str
    condition: str
    results: dict[str, str]
    sequences: dict[str, str]


class ModelSequence:
    """A sequence of a model whose arguments are known, in each program.

    Attributes:
        node: its node, as in `gradus.Difference`.
        operator: its operator.
        results: a row for each program that has the function.
    """

    def __init__(self, node: str, operator: str, call: str, rows: list[dict[str, Any]]) -> None:
        self.node: str = node
        self.operator: str = operator
        self.results: Comparison = Comparison(call, [_row(row) for row in rows])

    def __repr__(self) -> str:
        return f"<ModelSequence: {self.node} ({self.operator})>"


class Portability(Sequence[Difference]):
    """The nodes of a model at which runtimes differ, in the order of a run.

    It is a sequence of `gradus.Difference`. Notebooks show a table.

    Attributes:
        programs: the runtimes that are compared, and their versions.
        assumptions: assumptions under which the conditions hold: the node,
            and a sentence.
        warnings: declared shapes that are wrong: the value, and a sentence.
        problems: contradictions: the place, and a sentence.
        sequences: sequences of known arguments that a program does not
            return exactly.
    """

    def __init__(self, found: dict[str, Any]) -> None:
        self.programs: dict[str, str] = found["programs"]
        self.assumptions: list[tuple[str, str]] = found["assumptions"]
        self.warnings: list[tuple[str, str]] = found["warnings"]
        self.problems: list[tuple[str, str]] = found["problems"]
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
    """Predicts what eleven programs return for one call. None of them is run.

    Each result is compared with the exact one, and the reason for a
    difference is given.

    Args:
        function: `"range"`, `"linspace"`, `"logspace"` or `"geomspace"`.
        *arguments: numbers and a type, in the order of `gradus.arange`,
            `gradus.linspace`, `gradus.logspace` and `gradus.geomspace`.
            Programs get the nearest Python numbers, or tensors of the type.
        **keywords: the same by name.

    Returns:
        A table with a row for each program that has the function. A program
        that raises has the row of its error, and so has the exact result.

    Raises:
        UsageError: if the function is unknown.
        GradusError: if an argument is not a number, or the type is unknown.

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
