"""Expressions of dimensions as expressions of SymPy."""

from __future__ import annotations

import re
from typing import Any

# A name in quotes, in which a quote stands twice; or a name, a function among them.
_NAME = re.compile(r"'(?:[^']|'')*'|[^\W\d][\w$.:]*|\$[\w$.:]*")


def expression(text: str, symbols: list[str], integers: set[str]) -> Any:
    """The expression that `text` prints, with symbols that are integers, from 0 on but for those in `integers`."""
    import sympy  # type: ignore[import-untyped,unused-ignore]

    sizes = {name: sympy.Symbol(name, integer=True, nonnegative=True) for name in symbols}
    values = sizes | {name: sympy.Symbol(name, integer=True) for name in integers}
    functions = {
        "min": sympy.Min,
        "max": sympy.Max,
        "broadcast": lambda a, b: sympy.Piecewise((b, sympy.Eq(a, 1)), (a, True)),
    }

    def placed(match: re.Match[str]) -> str:
        name = match.group()
        if name in functions and text[match.end() : match.end() + 1] == "(":
            return f"functions[{name!r}]"
        return f"values[{name[1:-1].replace(chr(39) * 2, chr(39)) if name[0] == chr(39) else name!r}]"

    return eval(_NAME.sub(placed, text), {"__builtins__": {}}, {"functions": functions, "values": values})
