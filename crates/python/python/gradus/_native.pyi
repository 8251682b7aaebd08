"""The compiled part of the package."""

import os
from collections.abc import Sequence
from typing import Any, Literal, SupportsIndex, TypeAlias, final, overload

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

_Array: TypeAlias = np.ndarray[Any, Any]
#: A type of NumPy or of ``ml_dtypes``, or a name.
_DType: TypeAlias = npt.DTypeLike | None
#: A number, an array, or a tensor that speaks DLPack.
_Numbers: TypeAlias = Any
#: Bytes, elements of work, and seconds; ``None`` for those of the model.
_Limits: TypeAlias = tuple[int | None, int | None, float | None]
_Sizes: TypeAlias = tuple[
    dict[str, int], dict[str, Any], tuple[dict[str, tuple[int, int | None]], bool, list[str]]
]
_Profile: TypeAlias = Literal[
    "exact", "onnx-body", "onnxruntime", "openvino", "openvino-cpu", "openvino-cpu-avx2", "numpy", "dask", "torch",
    "tensorflow", "paddle", "jax", "octave",
]

__version__: str

@overload
def arange(
    start_or_stop: _Numbers,
    /,
    stop: _Numbers = None,
    step: _Numbers = 1,
    dtype: _DType = None,
    *,
    out: _Array | None = None,
    profile: _Profile | None = None,
    device: Literal["cpu"] | None = None,
) -> _Array:
    """Returns evenly spaced numbers: `start`, `start + step`, … before `stop`.

    With one number, that is the stop, and the start is 0. Source: NumPy
    2.4, `numpy.arange`, for signature, types and length.

    Args:
        start_or_stop: the start, or the stop if it is the only number: a
            finite number, or a tensor of one element that speaks DLPack.
            `Fraction`, `Decimal`, integers of any size and text (`"0.1"`,
            `"1/3"`) are exact.
        stop: the end, which is not an element.
        step: the distance of neighbours; not zero.
        dtype: the element type: a type of NumPy or of `ml_dtypes`, or a
            name. By default as in NumPy: int64 for integers, else float64
            or the type that the arguments have in common.
        out: an array to write into, of the result's shape and type, with
            any strides.
        profile: the program whose result is predicted, in place of the
            exact one: `"numpy"`, `"torch"`, `"paddle"`, …; see
            `gradus.compare`.
        device: `"cpu"`, or a device of `gradus.devices`: `"gpu"`, `"cuda"`,
            …, which writes the same bits into a `gradus.DeviceArray`.

    Returns:
        An array of shape `(n,)`, where `n` is
        `max(ceil((stop - start) / step), 0)`: exact for integers, with
        difference and quotient rounded to 53 bits for floats. Every element
        is the exact value, rounded once: to the nearest float with ties to
        even, or to an integer toward zero and to its low bits.

    Raises:
        ArgumentError: if the step is zero, or an argument is NaN or
            infinite.
        DTypeError: if an argument is not a number.
        ShapeError: if `out` has another shape.
        LimitError: if there are more elements than memory can address.
        UsageError: if the profile or the device is unknown.

    Example:
        >>> gradus.arange(0, 1, 0.25)
        array([0.  , 0.25, 0.5 , 0.75])
        >>> gradus.arange(3, dtype="bfloat16")
        array([0, 1, 2], dtype=bfloat16)
    """
@overload
def arange(
    start_or_stop: _Numbers,
    /,
    stop: _Numbers = None,
    step: _Numbers = 1,
    dtype: _DType = None,
    *,
    out: _Array | None = None,
    profile: _Profile | None = None,
    device: str,
) -> Any: ...
@overload
def linspace(
    start: _Numbers,
    stop: _Numbers,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    retstep: Literal[False] = False,
    dtype: _DType = None,
    axis: int = 0,
    *,
    out: _Array | None = None,
    profile: _Profile | None = None,
    device: Literal["cpu"] | None = None,
) -> _Array:
    """Returns `num` samples at equal distances from `start` to `stop`.

    Source: NumPy 2.4, `numpy.linspace`, for signature and types.

    Args:
        start: the first end: a number, an array, or a tensor that speaks
            DLPack. `Fraction`, `Decimal`, integers of any size and text
            (`"0.1"`, `"1/3"`) are exact.
        stop: the other end, alike. Arrays are broadcast: there is a
            sequence for each pair of their elements.
        num: the number of samples.
        endpoint: include `stop` as the last sample.
        retstep: also return the distance of neighbours, rounded once.
        dtype: the element type: a type of NumPy or of `ml_dtypes`, or a
            name. By default as in NumPy: float64, or the type that the ends
            have in common.
        axis: the axis of the result along which samples lie, if an end is
            an array.
        out: an array to write into, of the result's shape and type, with
            any strides.
        profile: the program whose result is predicted, in place of the
            exact one: `"numpy"`, `"torch"`, `"paddle"`, …; see
            `gradus.compare`.
        device: `"cpu"`, or a device of `gradus.devices`: `"gpu"`, `"cuda"`,
            …, which writes the same bits into a `gradus.DeviceArray`.

    Returns:
        An array of shape `(num,)`, followed by the axes of the ends if
        these are arrays; with `retstep`, a pair of it and the distance.
        Sample `i` is `start + i * (stop - start) / d`, exact, and rounded
        once: floats to the nearest, integers toward zero. `d` is `num - 1`,
        or `num` without the endpoint.

    Raises:
        ArgumentError: if an end is NaN or infinite, `num` is negative, or
            an integer type does not hold an element.
        DTypeError: if an argument is not a number.
        ShapeError: if shapes cannot be broadcast, or `out` has another.
        LimitError: if there are more elements than memory can address.
        UsageError: if the profile or the device is unknown.

    Example:
        >>> gradus.linspace(0, 1, 5)
        array([0.  , 0.25, 0.5 , 0.75, 1.  ])
        >>> gradus.linspace(0, 1, 3, retstep=True)
        (array([0. , 0.5, 1. ]), np.float64(0.5))
    """
@overload
def linspace(
    start: _Numbers,
    stop: _Numbers,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    *,
    retstep: Literal[True],
    dtype: _DType = None,
    axis: int = 0,
    out: _Array | None = None,
    profile: _Profile | None = None,
    device: Literal["cpu"] | None = None,
) -> tuple[_Array, Any]: ...
@overload
def linspace(
    start: _Numbers,
    stop: _Numbers,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: _DType = None,
    axis: int = 0,
    *,
    out: _Array | None = None,
    profile: _Profile | None = None,
    device: str | None = None,
) -> Any: ...
@overload
def logspace(
    start: _Numbers,
    stop: _Numbers,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    base: _Numbers = 10.0,
    dtype: _DType = None,
    axis: int = 0,
    *,
    out: _Array | None = None,
    profile: _Profile | None = None,
    device: Literal["cpu"] | None = None,
) -> _Array:
    """Returns `num` powers of `base` whose exponents lie at equal distances.

    Source: NumPy 2.4, `numpy.logspace`, for signature and types.

    Args:
        start: the first exponent: a number, an array, or a tensor that
            speaks DLPack. `Fraction`, `Decimal`, integers of any size and
            text (`"0.1"`, `"1/3"`) are exact.
        stop: the last exponent, alike. Arrays are broadcast: there is a
            sequence for each pair of their elements.
        num: the number of samples.
        endpoint: include `stop` as the last exponent.
        base: the base: a number or an array. A base that is negative, zero,
            infinite or NaN gives what `pow` of IEEE 754 gives.
        dtype: the element type: a type of NumPy or of `ml_dtypes`, or a
            name. By default as in NumPy: float64, or the type that the ends
            have in common.
        axis: the axis of the result along which samples lie, if an argument
            is an array.
        out: an array to write into, of the result's shape and type, with
            any strides.
        profile: the program whose result is predicted, in place of the
            exact one: `"numpy"`, `"torch"`, `"paddle"`, …; see
            `gradus.compare`.
        device: `"cpu"`, or a device of `gradus.devices`: `"gpu"`, `"cuda"`,
            …, which writes the same bits into a `gradus.DeviceArray`.

    Returns:
        An array of shape `(num,)`, followed by the axes of the arguments if
        these are arrays. Sample `i` is
        `base ** (start + i * (stop - start) / d)`, exact, and rounded once:
        floats to the nearest, integers toward zero. `d` is `num - 1`, or
        `num` without the endpoint.

    Raises:
        ArgumentError: if an end is NaN or infinite, `num` is negative, or
            an integer type does not hold an element.
        DTypeError: if an argument is not a number.
        ShapeError: if shapes cannot be broadcast, or `out` has another.
        LimitError: if there are more elements than memory can address.
        UsageError: if the profile or the device is unknown.

    Example:
        >>> gradus.logspace(0, 1, 4, base=1000, dtype=int)
        array([   1,   10,  100, 1000])
    """
@overload
def logspace(
    start: _Numbers,
    stop: _Numbers,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    base: _Numbers = 10.0,
    dtype: _DType = None,
    axis: int = 0,
    *,
    out: _Array | None = None,
    profile: _Profile | None = None,
    device: str,
) -> Any: ...
@overload
def geomspace(
    start: _Numbers,
    stop: _Numbers,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    dtype: _DType = None,
    axis: int = 0,
    *,
    out: _Array | None = None,
    profile: _Profile | None = None,
    device: Literal["cpu"] | None = None,
) -> _Array:
    """Returns `num` samples from `start` to `stop` with equal quotients.

    Source: NumPy 2.4, `numpy.geomspace`, for signature and types.

    Args:
        start: the first end: a number, an array, or a tensor that speaks
            DLPack. `Fraction`, `Decimal`, integers of any size and text
            (`"0.1"`, `"1/3"`) are exact.
        stop: the other end, alike. Arrays are broadcast: there is a
            sequence for each pair of their elements.
        num: the number of samples.
        endpoint: include `stop` as the last sample.
        dtype: the element type: a type of NumPy or of `ml_dtypes`, or a
            name. By default as in NumPy: float64, or the type that the ends
            have in common.
        axis: the axis of the result along which samples lie, if an end is
            an array.
        out: an array to write into, of the result's shape and type, with
            any strides.
        profile: the program whose result is predicted, in place of the
            exact one: `"numpy"`, `"torch"`, `"paddle"`, …; see
            `gradus.compare`.
        device: `"cpu"`, or a device of `gradus.devices`: `"gpu"`, `"cuda"`,
            …, which writes the same bits into a `gradus.DeviceArray`.

    Returns:
        An array of shape `(num,)`, followed by the axes of the ends if
        these are arrays. Sample `i` is `start * (stop / start) ** (i / d)`,
        exact, and rounded once: floats to the nearest, integers toward
        zero. `d` is `num - 1`, or `num` without the endpoint. Between
        complex numbers the samples lie on a spiral.

    Raises:
        ArgumentError: if an end is NaN or infinite, `num` is negative, or
            an integer type does not hold an element.
        DTypeError: if an argument is not a number.
        ShapeError: if shapes cannot be broadcast, or `out` has another.
        LimitError: if there are more elements than memory can address.
        UsageError: if the profile or the device is unknown.

    Example:
        >>> gradus.geomspace(1, 256, 9, dtype=int)
        array([  1,   2,   4,   8,  16,  32,  64, 128, 256])
    """
@overload
def geomspace(
    start: _Numbers,
    stop: _Numbers,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    dtype: _DType = None,
    axis: int = 0,
    *,
    out: _Array | None = None,
    profile: _Profile | None = None,
    device: str,
) -> Any: ...
def plan_arange(
    start: _Numbers = None,
    stop: _Numbers = None,
    step: _Numbers = None,
    dtype: _DType = None,
    *,
    profile: _Profile | None = None,
) -> Plan:
    """Plans `gradus.arange`, and writes nothing.

    Args:
        start: the start, or the stop if it is the only number.
        stop: the end, which is not an element.
        step: the distance of neighbours; not zero. `None` stands for 1.
        dtype: the element type, as in `gradus.arange`.
        profile: the program whose elements are predicted, as in
            `gradus.arange`.

    Returns:
        A `gradus.plan.Plan`, whose elements are written when they are asked
        for.

    Raises:
        ArgumentError: if the step is zero, or an argument is NaN or
            infinite.
        DTypeError: if an argument is not a number.
        LimitError: if there are more elements than 64 bits count.

    Example:
        >>> len(gradus.plan.arange(0, 10**15, 3))
        333333333333334
    """
def plan_linspace(
    start: _Numbers,
    stop: _Numbers,
    num: SupportsIndex | None = None,
    endpoint: bool = True,
    dtype: _DType = None,
    *,
    profile: _Profile | None = None,
) -> Plan:
    """Plans `gradus.linspace`, and writes nothing.

    Args:
        start: the first end, a number as in `gradus.arange`.
        stop: the other end, alike.
        num: the number of samples; `None` stands for 50.
        endpoint: include `stop` as the last sample.
        dtype: the element type, as in `gradus.linspace`.
        profile: the program whose elements are predicted, as in
            `gradus.arange`.

    Returns:
        A `gradus.plan.Plan`, whose elements are written when they are asked
        for.

    Raises:
        ArgumentError: if an end is NaN or infinite, `num` is negative, or
            an integer type does not hold an element.
        DTypeError: if an argument is not a number.
        ShapeError: if shapes cannot be broadcast, or `out` has another.
        LimitError: if there are more elements than memory can address.
        UsageError: if the profile or the device is unknown.

    Example:
        >>> gradus.plan.linspace(0, 1, 10**12 + 1)[10**11]
        np.float64(0.1)
    """
def plan_logspace(
    start: _Numbers,
    stop: _Numbers,
    num: SupportsIndex | None = None,
    endpoint: bool = True,
    base: _Numbers = None,
    dtype: _DType = None,
    *,
    profile: _Profile | None = None,
) -> Plan:
    """Plans `gradus.logspace`, and writes nothing.

    Args:
        start: the first exponent, a number as in `gradus.logspace`.
        stop: the last exponent, alike.
        num: the number of samples; `None` stands for 50.
        endpoint: include `stop` as the last exponent.
        base: the base, a number; `None` stands for 10.
        dtype: the element type, as in `gradus.logspace`.
        profile: the program whose elements are predicted, as in
            `gradus.arange`.

    Returns:
        A `gradus.plan.Plan`, whose elements are written when they are asked
        for.

    Raises:
        ArgumentError: if an end is NaN or infinite, `num` is negative, or
            an integer type does not hold an element.
        DTypeError: if an argument is not a number.
        ShapeError: if shapes cannot be broadcast, or `out` has another.
        LimitError: if there are more elements than memory can address.
        UsageError: if the profile or the device is unknown.

    Example:
        >>> gradus.plan.logspace(0, 9, 10**12)[-1]
        np.float64(1000000000.0)
    """
def plan_geomspace(
    start: _Numbers,
    stop: _Numbers,
    num: SupportsIndex | None = None,
    endpoint: bool = True,
    dtype: _DType = None,
    *,
    profile: _Profile | None = None,
) -> Plan:
    """Plans `gradus.geomspace`, and writes nothing.

    Args:
        start: the first end, a number as in `gradus.arange`.
        stop: the other end, alike.
        num: the number of samples; `None` stands for 50.
        endpoint: include `stop` as the last sample.
        dtype: the element type, as in `gradus.geomspace`.
        profile: the program whose elements are predicted, as in
            `gradus.arange`.

    Returns:
        A `gradus.plan.Plan`, whose elements are written when they are asked
        for.

    Raises:
        ArgumentError: if an end is NaN or infinite, `num` is negative, or
            an integer type does not hold an element.
        DTypeError: if an argument is not a number.
        ShapeError: if shapes cannot be broadcast, or `out` has another.
        LimitError: if there are more elements than memory can address.
        UsageError: if the profile or the device is unknown.

    Example:
        >>> gradus.plan.geomspace(1, 2**40, 41)[20]
        np.float64(1048576.0)
    """

@final
class Plan(Sequence[Any]):
    """A sequence that is planned and not written: a length and exact elements.

    Plans are sequences of Python: they have a length, elements, slices and
    iteration, and they can be pickled. NumPy, DLPack and Arrow read them.

    Example:
        >>> import gradus
        >>> plan = gradus.plan.linspace(0, 1, 10**12 + 1)
        >>> len(plan), plan[-1]
        (1000000000001, np.float64(1.0))
        >>> plan[::250_000_000_000].to_numpy()
        array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    def _repr_html_(self) -> str: ...
    @property
    def shape(self) -> tuple[int]:
        """The shape: one size."""
    @property
    def size(self) -> int:
        """The number of elements."""
    @property
    def dtype(self) -> np.dtype[Any]:
        """The type that an array of the elements has."""
    @property
    def nbytes(self) -> int:
        """Bytes that an array of all elements takes."""
    def chunk(self, lo: int, hi: int, out: _Array | None = None) -> _Array:
        """Writes the elements from index `lo` to `hi`.

        Args:
            lo: the first index.
            hi: the index after the last one.
            out: an array to write into, of shape `(hi - lo,)`.

        Returns:
            An array of shape `(hi - lo,)`: `out`, if it is given.

        Raises:
            ArgumentError: if an index is out of range.
            DTypeError: if `out` has another element type.
            ShapeError: if `out` has another shape.

        Example:
            >>> gradus.plan.arange(10**15).chunk(7, 10)
            array([7, 8, 9])
        """
    def to_numpy(self, out: _Array | None = None) -> _Array:
        """Writes all elements.

        Args:
            out: an array to write into, of the plan's shape and type.

        Returns:
            An array of one axis: `out`, if it is given.

        Raises:
            DTypeError: if `out` has another element type.
            ShapeError: if `out` has another shape.
            MemoryError: if the system has no room for the elements.

        Example:
            >>> gradus.plan.arange(10**15)[:3].to_numpy()
            array([0, 1, 2])
        """
    def to_zarr(self, store: Any, *, chunks: int = 1048576, **options: Any) -> Any:
        """Writes the elements into an array of Zarr, chunk by chunk.

        Needs the package `zarr`, from version 3 on.

        Args:
            store: a path, or a store of Zarr.
            chunks: the number of elements of a chunk.
            **options: options of `zarr.create_array`: `name`, `overwrite`, …

        Returns:
            The array of Zarr.

        Raises:
            UsageError: if `chunks` is below 1.
            ValueError: if Zarr has no such element type.

        Example:
            >>> import gradus, os, tempfile, zarr
            >>> plan = gradus.plan.linspace(0, 1, 10**6 + 1)
            >>> path = os.path.join(tempfile.mkdtemp(), "ramp.zarr")
            >>> array = plan.to_zarr(path, chunks=100_000)
            >>> float(zarr.open_array(path)[500_000])
            0.5
        """
    def to_parquet(
        self, path: str | os.PathLike[str], *, column: str = "values", rows: int = 1048576, **options: Any
    ) -> None:
        """Writes the elements into a file of Parquet, row group by row group.

        Needs the package `pyarrow`. The file appears when it is complete.

        Args:
            path: the file.
            column: the name of the only column.
            rows: the number of rows of a group.
            **options: options of `pyarrow.parquet.ParquetWriter`:
                `compression`, …

        Raises:
            UsageError: if `rows` is below 1.
            DTypeError: if Arrow has no such element type.

        Example:
            >>> import gradus, os, tempfile
            >>> path = os.path.join(tempfile.mkdtemp(), "ids.parquet")
            >>> gradus.plan.arange(10**6).to_parquet(path, column="id")
        """
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Any: ...
    @overload
    def __getitem__(self, index: slice, /) -> Plan: ...
    def __contains__(self, value: object, /) -> bool: ...
    def index(self, value: Any) -> int:  # type: ignore[override]
        """Returns the index of the first element that equals a value.

        It is found by bisection, unless the elements wrap around or are
        complex.

        Args:
            value: a number.

        Returns:
            The index, from 0 on.

        Raises:
            ValueError: if no element equals the value.

        Example:
            >>> gradus.plan.arange(0, 10**15, 3).index(300)
            100
        """
    def count(self, value: Any) -> int:
        """Counts the elements that equal a value.

        Args:
            value: a number.

        Returns:
            The number of elements.

        Example:
            >>> gradus.plan.linspace(0, 1, 10**6, dtype=int).count(0)
            999999
        """
    def __array__(self, dtype: _DType = None, copy: bool | None = None) -> _Array: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __dlpack__(self, **how: Any) -> object: ...
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...

@final
class Dim:
    """An expression of symbols: a size, or an element, that is not a number.

    Two are equal if they have one canonical form, in whatever order they
    are written. `+`, `-`, `*`, `//` and `%` give expressions, or integers
    where no symbol is left; `<`, `<=`, `>` and `>=` are decided for all
    values of the symbols, and raise `ArgumentError` where that is not
    possible. Symbols are sizes, from 0 on, except those in `integers`.
    `format` writes a dialect: `gradus`, `onnx`, `sympy` or `torch`.

    Args:
        text: the expression: integers, names, `+`, `-`, `*`, `//`, `%`,
            `min(…)`, `max(…)`.
        integers: names that may be negative.

    Example:
        >>> import gradus
        >>> dim = gradus.Dim("2*(n + 1)")
        >>> str(dim), dim == gradus.Dim("n + 2 + n")
        ('2*n + 2', True)
        >>> dim // 2 - gradus.Dim("n"), dim > 1
        (1, True)
        >>> f"{gradus.Dim('h//2'):sympy}"
        'floor(h/2)'
    """
    def _repr_html_(self) -> str: ...
    def __new__(cls, text: str, integers: set[str] = ...) -> Dim: ...
    @property
    def symbols(self) -> list[str]:
        """The names of the symbols, in order."""
    @property
    def integers(self) -> set[str]:
        """The names of the symbols that may be negative."""
    def evaluate(self, values: dict[str, int] | None = None, /, **named: int) -> int:
        """Returns the value for given numbers.

        Args:
            values: numbers by name of a symbol.
            **named: further numbers, as keywords.

        Returns:
            The value, an integer.

        Raises:
            UsageError: if a symbol has no number.
            ArgumentError: if the value exceeds 64 bits, or a divisor is 0.

        Example:
            >>> gradus.Dim("2*n + 2").evaluate(n=3)
            8
        """
    def simplify(
        self, *, assume: list[str] = ..., ranges: dict[str, tuple[int, int | None]] = ...
    ) -> int | Dim:
        """Returns the canonical form under conditions.

        Args:
            assume: conditions that hold: `"h % 32 == 0"`.
            ranges: by name, the smallest and the largest number; `None` for no
                largest.

        Returns:
            An expression, or an integer if no symbol is left.

        Raises:
            FormatError: if a condition cannot be read.

        Example:
            >>> gradus.Dim("h//32*32").simplify(assume=["h % 32 == 0"])
            Dim("h")
        """
    def bounds(
        self,
        *,
        assume: list[str] = ...,
        ranges: dict[str, tuple[int, int | None]] = ...,
        timeout: float | None = None,
    ) -> tuple[int | None, int | None]:
        """Returns the smallest and the largest value.

        Args:
            assume: conditions that hold: `"h % 32 == 0"`.
            ranges: by name, the smallest and the largest number; `None` for no
                largest.
            timeout: seconds after which an end is not sought any longer.

        Returns:
            Both values; `None` for an end that is unknown.

        Raises:
            FormatError: if a condition cannot be read.

        Example:
            >>> gradus.Dim("n - n//8*8").bounds()
            (0, 7)
        """
    def solve_for(
        self,
        name: str,
        value: int | Dim,
        relation: Literal["==", "<=", ">=", "<", ">"] = "==",
        *,
        assume: list[str] = ...,
        ranges: dict[str, tuple[int, int | None]] = ...,
    ) -> tuple[int | Dim | None, int | Dim | None] | None:
        """Solves an equation or inequality for a symbol.

        Args:
            name: the symbol.
            value: the other side: a number or an expression.
            relation: what is between this expression and `value`: `"=="`,
                `"<="`, `">="`, `"<"` or `">"`.
            assume: conditions that hold: `"h % 32 == 0"`.
            ranges: by name, the smallest and the largest number; `None` for no
                largest.

        Returns:
            The smallest and the largest value of the symbol, `None` for an open
            end; a smallest above the largest if no value solves it. `None` in
            place of the pair if it is not solved.

        Raises:
            UsageError: if the relation is another text.
            FormatError: if a condition cannot be read.

        Example:
            >>> gradus.Dim("(h + 2)//4").solve_for("h", 8)
            (30, 33)
        """
    @staticmethod
    def prove(
        condition: str,
        *,
        assume: list[str] = ...,
        ranges: dict[str, tuple[int, int | None]] = ...,
        timeout: float | None = None,
    ) -> bool:
        """Proves a condition for all integers that meet the assumptions.

        Args:
            condition: two expressions with a comparison between them.
            assume: conditions that hold: `"h % 32 == 0"`.
            ranges: by name, the smallest and the largest number; `None` for no
                largest.
            timeout: seconds after which the answer is `False`.

        Returns:
            `True` if there is a proof; `False` says nothing.

        Raises:
            FormatError: if a condition cannot be read.

        Example:
            >>> gradus.Dim.prove("n//8*8 <= n")
            True
        """
    @staticmethod
    def refute(
        condition: str,
        *,
        assume: list[str] = ...,
        ranges: dict[str, tuple[int, int | None]] = ...,
        timeout: float | None = None,
    ) -> dict[str, int] | None:
        """Finds numbers that meet the assumptions and violate a condition.

        Args:
            condition: two expressions with a comparison between them.
            assume: conditions that hold: `"h % 32 == 0"`.
            ranges: by name, the smallest and the largest number; `None` for no
                largest.
            timeout: seconds after which the search ends.

        Returns:
            Numbers by name; `None` if none are found.

        Raises:
            FormatError: if a condition cannot be read.

        Example:
            >>> gradus.Dim.refute("n//8*8 == n")
            {'n': 1}
        """
    def __format__(self, dialect: str, /) -> str: ...
    def __add__(self, other: int | Dim, /) -> int | Dim: ...
    def __radd__(self, other: int, /) -> int | Dim: ...
    def __sub__(self, other: int | Dim, /) -> int | Dim: ...
    def __rsub__(self, other: int, /) -> int | Dim: ...
    def __mul__(self, other: int | Dim, /) -> int | Dim: ...
    def __rmul__(self, other: int, /) -> int | Dim: ...
    def __floordiv__(self, other: int | Dim, /) -> int | Dim: ...
    def __rfloordiv__(self, other: int, /) -> int | Dim: ...
    def __mod__(self, other: int | Dim, /) -> int | Dim: ...
    def __rmod__(self, other: int, /) -> int | Dim: ...
    def __neg__(self) -> int | Dim: ...
    def __lt__(self, other: int | Dim, /) -> bool: ...
    def __le__(self, other: int | Dim, /) -> bool: ...
    def __gt__(self, other: int | Dim, /) -> bool: ...
    def __ge__(self, other: int | Dim, /) -> bool: ...
    def __hash__(self) -> int: ...
    def _sympy_(self) -> Any: ...

def _decide(
    condition: str,
    assume: list[str],
    ranges: dict[str, tuple[int, int | None]],
    timeout: float | None,
) -> tuple[Literal["true", "false", "unknown", "contradiction"], dict[str, int] | None]: ...

@final
class Model:
    """A model: a graph of operators with inputs and outputs."""
    @property
    def standard(self) -> str: ...
    @property
    def inputs(self) -> dict[str, Any]: ...
    @property
    def outputs(self) -> dict[str, Any]: ...
    @property
    def opsets(self) -> dict[str, int]: ...
    def _with_inputs_set(self, values: dict[str, Any]) -> Model: ...
    def _infer(
        self,
        sizes: _Sizes,
        values: dict[str, Any],
        ignore_declared: bool,
        dialect: str,
        limits: _Limits,
    ) -> dict[str, Any]: ...
    def _cost(
        self,
        sizes: _Sizes,
        limits: _Limits,
        fit: int | None,
        in_place: bool,
        depth: int,
    ) -> dict[str, Any]: ...
    def _differences(
        self, sizes: _Sizes, limits: _Limits
    ) -> dict[str, Any]: ...
    def _plan(
        self,
        sizes: _Sizes,
        limits: _Limits,
        alignment: int,
        in_place: bool,
    ) -> tuple[int, int, int, int, list[tuple[Any, ...]]]: ...
    def _contract(
        self,
        language: str,
        name: str,
        sizes: _Sizes,
        limits: _Limits,
    ) -> str: ...
    def _asked_contract(self, sizes: _Sizes, limits: _Limits) -> Contract: ...
    def _report(
        self,
        name: str,
        sizes: _Sizes,
        limits: _Limits,
    ) -> str: ...
    def _edit(
        self, edits: list[tuple[str, str, Any]], limits: _Limits
    ) -> tuple[Model, list[str], list[tuple[str, str]]]: ...
    def _generalize(
        self,
        others: list[Model],
        shapes: list[tuple[str, Any]],
        sizes: list[tuple[str, str]],
        limits: _Limits,
    ) -> tuple[Model, list[str], list[tuple[str, str]]]: ...
    def _join(
        self,
        second: Model,
        links: list[tuple[str, str]],
        keep: list[str],
        prefix: str,
    ) -> tuple[Model, list[str]]: ...
    def _split(
        self, at: list[list[str]]
    ) -> list[tuple[Model, list[str], list[str]]]: ...
    def _fold(
        self,
        sizes: _Sizes,
        max_constant: int,
        declare: bool,
        verify: tuple[bool | None, bool, dict[str, Any]],
        level: str,
        rules: list[str],
        no_rules: list[str],
        keep_weights: bool,
        limits: _Limits,
    ) -> tuple[Model, dict[str, Any]]: ...
    def _convert(
        self,
        to: str,
        sizes: _Sizes,
        opset: int | None,
        runtime: str | None,
        states: tuple[bool, list[tuple[str, str]]],
        verify: bool | None,
        limits: _Limits,
    ) -> tuple[Model, dict[str, Any]]: ...
    def _verify_in(
        self, folded: Model, runtime: str, sizes: _Sizes
    ) -> tuple[int, list[tuple[Any, ...]]]: ...
    def _check(
        self,
        other: Model,
        sizes: _Sizes,
        values: dict[str, Any],
        runs: int,
        seed: int,
        runtime: Any,
        prove: bool,
        save_case: str | os.PathLike[str] | None,
    ) -> dict[str, Any]: ...
    def explain(self, name: str) -> str:
        """Explains what is known of a value, from where it comes."""
    def save(self, path: str | os.PathLike[str], keep_names: bool = False) -> int:
        """Writes the model as an ONNX file, or one of OpenVINO as a .xml file with a .bin file next to
        it; gives their bytes.
        """
    def to_bytes(self) -> bytes:
        """The model as the bytes of an ONNX file."""
    def run(
        self,
        inputs: dict[str, Any] | None = None,
        outputs: list[str] | None = None,
        *,
        max_bytes: int | None = None,
        max_work: int | None = None,
        timeout: float | None = None,
        expand_functions: bool = False,
        seed: int = 0,
        accumulate: str | None = None,
        assumed: tuple[dict[str, tuple[int, int | None]], bool, list[str]] | None = None,
    ) -> dict[str, Any]: ...
    def _intervals(
        self, inputs: dict[str, Any], outputs: list[str]
    ) -> dict[str, tuple[_Array, _Array] | None]: ...

@disjoint_base
class GraphBuilder:
    """A graph that grows."""
    def __new__(cls, opset: int | None = None) -> GraphBuilder: ...
    @property
    def opset(self) -> int:
        """The operator set that the graph needs so far, or that was chosen."""
    @property
    def assumptions(self) -> list[tuple[str, str]]:
        """Assumptions under which the shapes hold, each with the node that needs it."""
    def _input(self, name: str, dtype: _DType, shape: list[Any] | None) -> None: ...
    def _constant(self, name: str, value: Any) -> None: ...
    def _node(
        self, operator: str, own: bool, inputs: list[str | None], outputs: list[str], attributes: dict[str, Any]
    ) -> None: ...
    def _type(self, name: str) -> Any: ...
    def _model(self, outputs: list[str]) -> Model: ...

def _compare(
    function: str, start: Any, stop: Any, third: Any, num: Any, endpoint: bool, dtype: Any
) -> tuple[str, list[dict[str, Any]]]: ...
def _command(arguments: list[str]) -> int: ...
def _dtype(dtype: Any) -> np.dtype[Any]: ...
def _dtype_name(dtype: Any) -> str: ...
def _evaluate(
    standard: str, operator: str, version: int, inputs: list[Any], attributes: dict[str, Any]
) -> Any: ...
def _refusal(
    profile: str, function: str, start: Any, stop: Any, third: Any, num: Any, dtype: Any
) -> str | None: ...

def _forked() -> None: ...
def _load_files(name: str, files: dict[str, Any], limits: _Limits) -> Model: ...
def _load(source: Any, limits: _Limits) -> Model: ...
def _onnx_type(dtype: Any) -> int: ...
def _panic() -> None: ...
def _plan(
    form: str,
    numbers: tuple[Any, Any, Any],
    num: int,
    endpoint: bool,
    dtype: str,
    profile: str,
    window: tuple[int, int, int],
) -> Plan: ...

@final
class DeviceArray:
    """A sequence in the memory of a device.

    On CUDA the elements stay on the device; those of other devices are read
    back. Other libraries read the array by DLPack, without a copy:
    `torch.from_dlpack(array)`, `cupy.from_dlpack(array)`.
    """
    def __len__(self) -> int: ...
    @property
    def size(self) -> int:
        """The number of elements."""
    @property
    def shape(self) -> tuple[int]:
        """The shape: one size."""
    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
    @property
    def device(self) -> str:
        """The name of the device that made the elements: `"cuda:0"`."""
    def to_numpy(self) -> _Array:
        """Copies the elements into an array of NumPy.

        Returns:
            An array of shape `(n,)`.

        Raises:
            LimitError: if the system has no room for the elements.

        Example:
            >>> gradus.arange(3, device="gpu").to_numpy()  # doctest: +SKIP
            array([0, 1, 2])
        """
    def __array__(self, dtype: _DType = None, copy: bool | None = None) -> _Array: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...

def devices() -> list[dict[str, Any]]:
    """Lists the devices that compute sequences, besides the processor.

    Returns:
        A dictionary for each: `name`, which `device=` takes, `backend`,
        `device`, `kind`, `driver` and `max_bytes`.

    Example:
        >>> import gradus
        >>> isinstance(gradus.devices(), list)
        True
    """

def _prove(models: tuple[Model, Model], sizes: _Sizes, search: tuple[float, int, bool, str]) -> dict[str, Any]: ...
def _quantization(
    models: tuple[Model, Model], sizes: _Sizes, values: dict[str, Any], runs: tuple[int, int]
) -> tuple[int, list[tuple[str, str, str | None, int | None, _Loss | None, _Loss | None]]]: ...
def _verify_proof(models: tuple[Model, Model], certificate: str, sizes: _Sizes, up_to: str) -> dict[str, Any]: ...

def _audit(
    model: Model,
    runtime: str,
    sizes: _Sizes,
    values: dict[str, Any],
    only: list[str] | None,
    named: tuple[str | None, str | None],
    numbers: tuple[int, int, int],
    save_case: str | os.PathLike[str] | None,
) -> tuple[str | None, bool, list[tuple[Any, ...]]]: ...
def _cases(
    operator: str, count: int, seed: int, opset: int | None
) -> list[tuple[str, Model, dict[str, Any], dict[str, Any]]]: ...

_Loss = tuple[int, float, float]
_Lint = tuple[_Sizes, tuple[list[str], list[str]], list[str], tuple[int | None, int | None]]

@final
class Contract:
    """The contract of `gradus.Contract`."""
    def _shapes(
        self,
        inputs: list[tuple[str, list[int]]],
        numbers: list[tuple[str, int]],
    ) -> tuple[list[tuple[str, tuple[list[tuple[int, int | None]] | None, int | None]]], int | None, int | None]: ...
    def _conditions(self) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]: ...

def _lint(model: Model, options: _Lint) -> list[tuple[str, str, str, str, str]]: ...
def _fix(model: Model, options: _Lint) -> Model | None: ...
