"""What the modules of this package share: models of the onnx package, and options without a meaning here."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import onnx

from .. import _models
from ..errors import UnsupportedError, UsageError

Source = str | os.PathLike[str] | onnx.ModelProto
Shapes = Mapping[str, Sequence[int]] | Mapping[str | None, Sequence[int]]

_UNITS = {"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "B": 1}


def without(name: str, **options: tuple[Any, Any]) -> None:
    """Refuses options that are not at their defaults; each is a pair of what was given and the default."""
    for option, (given, default) in options.items():
        if given != default and given:
            raise UnsupportedError(f"{option} of {name} has no meaning in Gradus, expected {default!r}")


def count_of_bytes(text: str | int) -> int:
    """Bytes, from a text such as `1.5GB`."""
    if isinstance(text, int):
        return text
    for unit, factor in _UNITS.items():
        if text.upper().endswith(unit):
            return int(float(text[: -len(unit)]) * factor)
    raise UsageError.mismatch("a size", f'"{text}"', "a number with B, KB, MB or GB")


def shapes_of(words: Sequence[str]) -> dict[str | None, list[int]]:
    """Shapes, from texts such as `x:1,3,224,224`; without a name, of the only input."""
    shapes: dict[str | None, list[int]] = {}
    for word in words:
        name, colon, sizes = word.rpartition(":")
        try:
            shapes[name if colon else None] = [int(size) for size in sizes.split(",")]
        except ValueError:
            raise UsageError.mismatch("a shape", f'"{word}"', "NAME:SIZE,SIZE,…") from None
    return shapes


def _only(inputs: Mapping[str, Any]) -> str:
    if len(inputs) != 1:
        raise UsageError.mismatch("the name of a shape", "None", f"one of the {len(inputs)} inputs")
    return next(iter(inputs))


def folded(model: Source, shapes: Mapping[Any, Sequence[int]], max_constant: int, verify: bool) -> _models.FoldedModel:
    """The folded model. Sizes of named dimensions fix these wherever they are; -1 and 0 leave a dimension open."""
    loaded = _models.load(model)
    dims: dict[str, int] = {}
    sizes: dict[str, list[int | str | None]] = {}
    for key, shape in shapes.items():
        name = key if key is not None else _only(loaded.inputs)
        declared = getattr(loaded.inputs.get(name), "shape", None)
        open_sizes: list[int | str | None] = [None if size in (-1, 0) else size for size in shape]
        if declared is not None and len(declared) == len(shape):
            named = {str(was): size for was, size in zip(declared, open_sizes, strict=True) if not isinstance(was, int | None)}
            dims.update({was: size for was, size in named.items() if isinstance(size, int)})
            open_sizes = [was if str(was) in named else size for was, size in zip(declared, open_sizes, strict=True)]
        sizes[name] = open_sizes
    return loaded.fold(dims, sizes, max_constant=max_constant, verify=verify)


def to_onnx(model: _models.Model) -> onnx.ModelProto:
    return onnx.load_from_string(model.to_bytes())
