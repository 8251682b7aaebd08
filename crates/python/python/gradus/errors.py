"""The exceptions of Gradus: one for each kind of error, each of them also one of Python's own.

Every one has the attributes

- ``message``: what is wrong, in one sentence;
- ``location``: where, as a :class:`Location`: the file, the position in it, and the nodes from the outermost inwards;
- ``got`` and ``wanted``: what was found and what was expected, each ``None`` where the error is not about one value.

Example:
    >>> import gradus
    >>> try:
    ...     gradus.arange("a")
    ... except gradus.errors.ArgumentError as error:
    ...     print(error, "|", error.got, "|", error.wanted)
    stop: "a" is not a number | "a" | a number
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "ArgumentError",
    "DTypeError",
    "FileError",
    "FormatError",
    "GradusError",
    "GraphError",
    "InternalError",
    "LimitError",
    "Location",
    "ShapeError",
    "UnsupportedError",
    "UsageError",
]


class Location(NamedTuple):
    """The location of an error."""

    #: The file's path, as it was given.
    file: str | None = None
    #: The position in the file: ``byte 17``, or ``line 3, column 5``.
    position: str | None = None
    #: Nodes, the outermost first: ``node "pos" (onnx Range-11)``.
    nodes: tuple[str, ...] = ()


class GradusError(Exception):
    """The base of all errors of Gradus."""

    kind = ""

    def __init__(
        self,
        message: str,
        text: str | None = None,
        location: Location = Location(),
        got: str | None = None,
        wanted: str | None = None,
    ) -> None:
        super().__init__(message if text is None else text)
        self.message = message
        self.location = location
        self.got = got
        self.wanted = wanted

    @classmethod
    def mismatch(cls, what: str, got: object, wanted: object) -> Self:
        """The error "*what* is *got*, expected *wanted*", with both as fields."""
        return cls(f"{what} is {got}, expected {wanted}", got=str(got), wanted=str(wanted))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.message, str(self), self.location, self.got, self.wanted)


class UsageError(GradusError, ValueError):
    """Something was asked for that does not exist or does not fit together."""

    kind = "usage"


class FileError(GradusError, OSError):
    """The operating system refused: a file is missing, unreadable, unwritable."""

    kind = "io"


class FormatError(GradusError, ValueError):
    """Bytes or text are not what their format says."""

    kind = "syntax"


class GraphError(GradusError, ValueError):
    """A graph is not well formed."""

    kind = "graph"


class DTypeError(GradusError, TypeError):
    """An element type, or a kind of value, is not one that is allowed here."""

    kind = "type"


class ShapeError(GradusError, ValueError):
    """A shape is not one that is allowed here."""

    kind = "shape"


class ArgumentError(GradusError, ValueError):
    """A value is not one that is allowed here."""

    kind = "value"


class LimitError(GradusError, MemoryError):
    """Something is larger than the limits that are set."""

    kind = "limit"


class UnsupportedError(GradusError, NotImplementedError):
    """Valid, but not done by Gradus."""

    kind = "unsupported"


class InternalError(GradusError, RuntimeError):
    """Gradus panicked, which is a bug: please report it, with the call and the model."""

    kind = "internal"


_BY_KIND = {each.kind: each for each in GradusError.__subclasses__()}


def _of_engine(
    kind: str,
    message: str,
    text: str,
    location: tuple[str | None, str | None, list[str]],
    fields: tuple[str | None, str | None],
) -> GradusError:
    file, position, nodes = location
    return _BY_KIND[kind](message, text, Location(file, position, tuple(nodes)), *fields)
