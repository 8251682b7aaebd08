"""The exceptions of Gradus: one for each kind of error.

Each is also an exception of Python: a `ValueError`, an `OSError`, …
`message`, `location`, `got` and `wanted` are attributes.

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
    """The location of an error.

    Attributes:
        file: the file's path, as it was given.
        position: the position in the file: `byte 17`, or
            `line 3, column 5`.
        nodes: nodes, the outermost first: `node "pos" (onnx Range-11)`.
    """

    file: str | None = None
    position: str | None = None
    nodes: tuple[str, ...] = ()


class GradusError(Exception):
    """The base of all errors of Gradus.

    Attributes:
        kind: the kind of error: `"usage"`, `"shape"`, …
        message: the error in one sentence, without its location.
        location: where it occurred.
        got: the value that was found; `None` if the error is not about one
            value.
        wanted: what was expected instead.
    """

    kind: str = ""

    def __init__(
        self,
        message: str,
        text: str | None = None,
        location: Location = Location(),
        got: str | None = None,
        wanted: str | None = None,
    ) -> None:
        super().__init__(message if text is None else text)
        self.message: str = message
        self.location: Location = location
        self.got: str | None = got
        self.wanted: str | None = wanted

    @classmethod
    def mismatch(cls, what: str, got: object, wanted: object) -> Self:
        """Makes the error "*what* is *got*, expected *wanted*".

        Args:
            what: the name of the value.
            got: the value.
            wanted: what is expected.

        Returns:
            The error, with both as fields.

        Example:
            >>> from gradus.errors import ShapeError
            >>> print(ShapeError.mismatch("rank", 2, 3))
            rank is 2, expected 3
        """
        return cls(f"{what} is {got}, expected {wanted}", got=str(got), wanted=str(wanted))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.message, str(self), self.location, self.got, self.wanted)


class UsageError(GradusError, ValueError):
    """A name is unknown, or arguments do not go together."""

    kind = "usage"


class FileError(GradusError, OSError):
    """The operating system refuses: a file is missing or cannot be written."""

    kind = "io"


class FormatError(GradusError, ValueError):
    """Bytes or text do not have the syntax of their format."""

    kind = "syntax"


class GraphError(GradusError, ValueError):
    """A graph is not well formed."""

    kind = "graph"


class DTypeError(GradusError, TypeError):
    """An element type, or a kind of value, is not allowed here."""

    kind = "type"


class ShapeError(GradusError, ValueError):
    """A shape is not allowed here."""

    kind = "shape"


class ArgumentError(GradusError, ValueError):
    """A value is not allowed here."""

    kind = "value"


class LimitError(GradusError, MemoryError):
    """A limit is exceeded."""

    kind = "limit"


class UnsupportedError(GradusError, NotImplementedError):
    """The request is valid, but Gradus does not support it."""

    kind = "unsupported"


class InternalError(GradusError, RuntimeError):
    """Gradus panicked, which is a bug: please report the call and the model."""

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
