"""Tables as notebooks show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

#: Rows of a table that are shown.
MOST = 200
#: Elements at each end of a sequence that are shown.
ENDS = 5


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "", most: int = MOST) -> str:
    """A table of cells as text; numbers are aligned on the right, and what is `None` is empty."""
    rows = list(rows)
    lines = ["".join(f"<th style='text-align:left'>{escape(head)}</th>" for head in heads)]
    lines += ["".join(map(_cell, row)) for row in rows[:most]]
    if len(rows) > most:
        lines.append(f"<td colspan='{len(heads)}'>and {len(rows) - most} more</td>")
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    # The caption above the table, as all texts of models: escaped, and on the left.
    above = f"<caption style='text-align:left'>{escape(caption)}</caption>" if caption else ""
    return f"<table>{above}{body}</table>"


def sequence(of: Sequence[Any], dtype: Any) -> str:
    """The first and the last elements of a sequence, by their indices."""
    count = len(of)
    shown = range(count) if count <= 2 * ENDS else [*range(ENDS), None, *range(count - ENDS, count)]
    rows = [["…", "…"] if index is None else [str(index), str(of[index])] for index in shown]
    return table(["index", "element"], rows, f"{of!r}: {count:,} elements of {dtype}")


def _cell(content: Any) -> str:
    side = "right" if isinstance(content, (int, float)) else "left"
    text = "" if content is None else f"{content:,}" if isinstance(content, int) else str(content)
    return f"<td style='text-align:{side}'>{escape(text)}</td>"


def notes(lines: Iterable[str]) -> str:
    """A list of sentences; nothing if there are none."""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""
