"""The compiled part of the package."""

import os
from collections.abc import Iterator, Sequence
from typing import Any, Literal, SupportsIndex, TypeAlias, overload

import numpy as np
import numpy.typing as npt

Array: TypeAlias = np.ndarray[Any, Any]
#: A type of NumPy or of ``ml_dtypes``, or a name.
DType: TypeAlias = npt.DTypeLike | None
#: A number, an array, or a tensor that speaks DLPack.
Numbers: TypeAlias = Any
Profile: TypeAlias = Literal[
    "exact", "onnx-body", "onnxruntime", "openvino", "openvino-cpu", "openvino-cpu-avx2", "numpy", "torch", "tensorflow",
    "paddle", "jax",
]

__version__: str

@overload
def arange(
    start_or_stop: Numbers = ...,
    /,
    stop: Numbers = None,
    step: Numbers = 1,
    dtype: DType = None,
    *,
    out: Array | None = None,
    profile: Profile | None = None,
    device: Literal["cpu"] | None = None,
) -> Array: ...
@overload
def arange(
    start_or_stop: Numbers = ...,
    /,
    stop: Numbers = None,
    step: Numbers = 1,
    dtype: DType = None,
    *,
    out: Array | None = None,
    profile: Profile | None = None,
    device: str,
) -> Any: ...
@overload
def linspace(
    start: Numbers,
    stop: Numbers,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    retstep: Literal[False] = False,
    dtype: DType = None,
    axis: int = 0,
    *,
    out: Array | None = None,
    profile: Profile | None = None,
    device: Literal["cpu"] | None = None,
) -> Array: ...
@overload
def linspace(
    start: Numbers,
    stop: Numbers,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    *,
    retstep: Literal[True],
    dtype: DType = None,
    axis: int = 0,
    out: Array | None = None,
    profile: Profile | None = None,
    device: Literal["cpu"] | None = None,
) -> tuple[Array, Any]: ...
@overload
def linspace(
    start: Numbers,
    stop: Numbers,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DType = None,
    axis: int = 0,
    *,
    out: Array | None = None,
    profile: Profile | None = None,
    device: str | None = None,
) -> Any: ...
@overload
def logspace(
    start: Numbers,
    stop: Numbers,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    base: Numbers = 10.0,
    dtype: DType = None,
    axis: int = 0,
    *,
    out: Array | None = None,
    profile: Profile | None = None,
    device: Literal["cpu"] | None = None,
) -> Array: ...
@overload
def logspace(
    start: Numbers,
    stop: Numbers,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    base: Numbers = 10.0,
    dtype: DType = None,
    axis: int = 0,
    *,
    out: Array | None = None,
    profile: Profile | None = None,
    device: str,
) -> Any: ...
@overload
def geomspace(
    start: Numbers,
    stop: Numbers,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    dtype: DType = None,
    axis: int = 0,
    *,
    out: Array | None = None,
    profile: Profile | None = None,
    device: Literal["cpu"] | None = None,
) -> Array: ...
@overload
def geomspace(
    start: Numbers,
    stop: Numbers,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    dtype: DType = None,
    axis: int = 0,
    *,
    out: Array | None = None,
    profile: Profile | None = None,
    device: str,
) -> Any: ...
def plan_arange(
    start: Numbers = None,
    stop: Numbers = None,
    step: Numbers = None,
    dtype: DType = None,
    *,
    profile: Profile | None = None,
) -> Plan: ...
def plan_linspace(
    start: Numbers,
    stop: Numbers,
    num: SupportsIndex | None = None,
    endpoint: bool = True,
    dtype: DType = None,
    *,
    profile: Profile | None = None,
) -> Plan: ...
def plan_logspace(
    start: Numbers,
    stop: Numbers,
    num: SupportsIndex | None = None,
    endpoint: bool = True,
    base: Numbers = None,
    dtype: DType = None,
    *,
    profile: Profile | None = None,
) -> Plan: ...
def plan_geomspace(
    start: Numbers,
    stop: Numbers,
    num: SupportsIndex | None = None,
    endpoint: bool = True,
    dtype: DType = None,
    *,
    profile: Profile | None = None,
) -> Plan: ...

class Plan(Sequence[Any]):
    @property
    def shape(self) -> tuple[int]: ...
    @property
    def size(self) -> int: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def nbytes(self) -> int: ...
    def chunk(self, lo: int, hi: int, out: Array | None = None) -> Array: ...
    def to_numpy(self, out: Array | None = None) -> Array: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: SupportsIndex) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Plan: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __contains__(self, value: object) -> bool: ...
    def index(self, value: Any) -> int: ...  # type: ignore[override]
    def count(self, value: Any) -> int: ...
    def __array__(self, dtype: DType = None, copy: bool | None = None) -> Array: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __dlpack__(self, **how: Any) -> object: ...
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...

class Dim:
    def __init__(self, text: str) -> None: ...
    @property
    def symbols(self) -> list[str]: ...
    def evaluate(self, values: dict[str, int] | None = None, /, **named: int) -> int: ...
    def __add__(self, other: int | Dim) -> int | Dim: ...
    def __radd__(self, other: int) -> int | Dim: ...
    def __sub__(self, other: int | Dim) -> int | Dim: ...
    def __rsub__(self, other: int) -> int | Dim: ...
    def __mul__(self, other: int | Dim) -> int | Dim: ...
    def __rmul__(self, other: int) -> int | Dim: ...
    def __floordiv__(self, other: int | Dim) -> int | Dim: ...
    def __rfloordiv__(self, other: int) -> int | Dim: ...
    def __mod__(self, other: int | Dim) -> int | Dim: ...
    def __rmod__(self, other: int) -> int | Dim: ...
    def __neg__(self) -> int | Dim: ...
    def __lt__(self, other: int | Dim) -> bool: ...
    def __le__(self, other: int | Dim) -> bool: ...
    def __gt__(self, other: int | Dim) -> bool: ...
    def __ge__(self, other: int | Dim) -> bool: ...
    def __hash__(self) -> int: ...
    def _sympy_(self) -> Any: ...

class Model:
    @property
    def standard(self) -> str: ...
    @property
    def inputs(self) -> dict[str, Any]: ...
    @property
    def outputs(self) -> dict[str, Any]: ...
    @property
    def opsets(self) -> dict[str, int]: ...
    def _infer(
        self,
        dims: dict[str, int] | None = None,
        shapes: dict[str, Any] | None = None,
        values: dict[str, Any] | None = None,
        ignore_declared: bool = False,
    ) -> dict[str, Any]: ...
    def _fold(
        self, dims: dict[str, int], shapes: dict[str, Any], max_constant: int, declare: bool, verify: bool
    ) -> tuple[Model, dict[str, Any]]: ...
    def _convert(self, to: str, dims: dict[str, int], opset: int | None) -> tuple[Model, dict[str, Any]]: ...
    def explain(self, name: str) -> str: ...
    def save(self, path: str | os.PathLike[str]) -> int: ...
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
    ) -> dict[str, Any]: ...

class GraphBuilder:
    def __init__(self, opset: int | None = None) -> None: ...
    @property
    def opset(self) -> int: ...
    @property
    def assumptions(self) -> list[tuple[str, str]]: ...
    def _input(self, name: str, dtype: DType, shape: list[Any] | None) -> None: ...
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
def _load(source: Any, max_bytes: int | None, max_work: int | None) -> Model: ...
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
    def to_numpy(self) -> Array: ...
    def __array__(self, dtype: DType = None, copy: bool | None = None) -> Array: ...
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
