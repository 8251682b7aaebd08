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
) -> _Array: ...
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
) -> _Array: ...
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
) -> _Array: ...
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
) -> _Array: ...
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
) -> Plan: ...
def plan_linspace(
    start: _Numbers,
    stop: _Numbers,
    num: SupportsIndex | None = None,
    endpoint: bool = True,
    dtype: _DType = None,
    *,
    profile: _Profile | None = None,
) -> Plan: ...
def plan_logspace(
    start: _Numbers,
    stop: _Numbers,
    num: SupportsIndex | None = None,
    endpoint: bool = True,
    base: _Numbers = None,
    dtype: _DType = None,
    *,
    profile: _Profile | None = None,
) -> Plan: ...
def plan_geomspace(
    start: _Numbers,
    stop: _Numbers,
    num: SupportsIndex | None = None,
    endpoint: bool = True,
    dtype: _DType = None,
    *,
    profile: _Profile | None = None,
) -> Plan: ...

@final
class Plan(Sequence[Any]):
    def _repr_html_(self) -> str: ...
    @property
    def shape(self) -> tuple[int]: ...
    @property
    def size(self) -> int: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def nbytes(self) -> int: ...
    def chunk(self, lo: int, hi: int, out: _Array | None = None) -> _Array: ...
    def to_numpy(self, out: _Array | None = None) -> _Array: ...
    def to_zarr(self, store: Any, *, chunks: int = 1048576, **options: Any) -> Any: ...
    def to_parquet(
        self, path: str | os.PathLike[str], *, column: str = "values", rows: int = 1048576, **options: Any
    ) -> None: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Any: ...
    @overload
    def __getitem__(self, index: slice, /) -> Plan: ...
    def __contains__(self, value: object, /) -> bool: ...
    def index(self, value: Any) -> int: ...  # type: ignore[override]
    def count(self, value: Any) -> int: ...
    def __array__(self, dtype: _DType = None, copy: bool | None = None) -> _Array: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __dlpack__(self, **how: Any) -> object: ...
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...

@final
class Dim:
    def _repr_html_(self) -> str: ...
    def __new__(cls, text: str, integers: set[str] = ...) -> Dim: ...
    @property
    def symbols(self) -> list[str]: ...
    @property
    def integers(self) -> set[str]: ...
    def evaluate(self, values: dict[str, int] | None = None, /, **named: int) -> int: ...
    def simplify(
        self, *, assume: list[str] = ..., ranges: dict[str, tuple[int, int | None]] = ...
    ) -> int | Dim: ...
    def bounds(
        self,
        *,
        assume: list[str] = ...,
        ranges: dict[str, tuple[int, int | None]] = ...,
        timeout: float | None = None,
    ) -> tuple[int | None, int | None]: ...
    def solve_for(
        self,
        name: str,
        value: int | Dim,
        relation: Literal["==", "<=", ">=", "<", ">"] = "==",
        *,
        assume: list[str] = ...,
        ranges: dict[str, tuple[int, int | None]] = ...,
    ) -> tuple[int | Dim | None, int | Dim | None] | None: ...
    @staticmethod
    def prove(
        condition: str,
        *,
        assume: list[str] = ...,
        ranges: dict[str, tuple[int, int | None]] = ...,
        timeout: float | None = None,
    ) -> bool: ...
    @staticmethod
    def refute(
        condition: str,
        *,
        assume: list[str] = ...,
        ranges: dict[str, tuple[int, int | None]] = ...,
        timeout: float | None = None,
    ) -> dict[str, int] | None: ...
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
    def _report(
        self,
        name: str,
        sizes: _Sizes,
        limits: _Limits,
    ) -> str: ...
    def _fold(
        self,
        sizes: _Sizes,
        max_constant: int,
        declare: bool,
        verify: tuple[bool | None, dict[str, Any]],
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
        runtime: str | None,
    ) -> dict[str, Any]: ...
    def _prove(self, other: Model, sizes: _Sizes, seconds: float, seed: int) -> dict[str, Any]: ...
    def explain(self, name: str) -> str: ...
    def save(self, path: str | os.PathLike[str], keep_names: bool = False) -> int: ...
    def to_bytes(self) -> bytes: ...
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

@disjoint_base
class GraphBuilder:
    def __new__(cls, opset: int | None = None) -> GraphBuilder: ...
    @property
    def opset(self) -> int: ...
    @property
    def assumptions(self) -> list[tuple[str, str]]: ...
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
def _load_files(name: str, files: dict[str, bytes]) -> Model: ...
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
    def __len__(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def shape(self) -> tuple[int]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def device(self) -> str: ...
    def to_numpy(self) -> _Array: ...
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

def devices() -> list[dict[str, Any]]: ...

def _lint(
    model: Model,
    sizes: _Sizes,
    rules: tuple[list[str], list[str]],
    runtimes: list[str],
    limits: tuple[int | None, int | None],
) -> list[tuple[str, str, str, str, str]]: ...
