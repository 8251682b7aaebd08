"""Arrays larger than memory, and many models, on the workers of dask.

Chunks are written from a plan and have the bits of the whole, however
they are cut and wherever they are computed: a task holds a plan of a
few hundred bytes and two indices. Tasks run on dask's local scheduler,
or on a `distributed` cluster whose workers have this package.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as _np
from dask.array.core import normalize_chunks
from dask.base import tokenize
from dask.blockwise import BlockwiseDep, blockwise
from dask.highlevelgraph import HighLevelGraph

from . import _types, plan
from ._fleets import convert, fold, infer, lint, row

__all__ = ["arange", "convert", "fold", "from_plan", "geomspace", "infer", "lint", "linspace", "logspace", "row"]

Chunks = int | str | tuple[Any, ...]


class _Ends(BlockwiseDep):
    """The indices between which each chunk lies. Only the sizes are sent to a scheduler."""

    produces_tasks = False

    def __init__(self, sizes: tuple[int, ...]) -> None:
        self.sizes, self.numblocks = sizes, (len(sizes),)

    @functools.cached_property
    def ends(self) -> list[int]:
        return list(itertools.accumulate(self.sizes, initial=0))

    def __getitem__(self, idx: tuple[int, ...]) -> tuple[int, int]:
        (i,) = idx
        return self.ends[i], self.ends[i + 1]

    def __reduce__(self) -> tuple[Any, ...]:
        return _Ends, (self.sizes,)


def _chunk(ends: tuple[int, int], planned: plan.Plan) -> _np.ndarray[Any, Any]:
    return planned.chunk(*ends)


def from_plan(planned: plan.Plan, chunks: Chunks = "auto") -> da.Array:
    """Makes a dask array of the elements of a plan.

    Args:
        planned: a plan of `gradus.plan`, or a part of one.
        chunks: the number of elements of a chunk, or all chunks, as dask
            takes them.

    Returns:
        A dask array of one axis.

    Example:
        >>> import gradus
        >>> plan = gradus.plan.arange(10)[::3]
        >>> gradus.dask.from_plan(plan, chunks=2).compute()
        array([0, 3, 6, 9])
    """
    cut = normalize_chunks(chunks, (len(planned),), dtype=planned.dtype)
    name = "gradus-" + tokenize(planned, cut)
    layer = blockwise(_chunk, name, "i", _Ends(cut[0]), "i", planned, None, numblocks={})
    graph = HighLevelGraph.from_collections(name, layer)
    return da.Array(graph, name, cut, meta=_np.empty(0, planned.dtype))  # pyright: ignore[reportCallIssue]


def _between(
    make: Callable[..., plan.Plan],
    start: Any,
    stop: Any,
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
    chunks: Chunks,
) -> da.Array:
    """Samples between two ends; between arrays of them, along a new first axis, as NumPy has them."""
    shape = _np.broadcast_shapes(_np.shape(start), _np.shape(stop))
    if not shape:
        return from_plan(make(start, stop, *arguments, **keywords), chunks)
    ends = zip(*(_np.broadcast_to(end, shape).ravel() for end in (start, stop)), strict=True)
    made = [from_plan(make(*pair, *arguments, **keywords), chunks) for pair in ends]
    if not made:
        none = make(1, 1, *arguments, **keywords)
        return da.empty((len(none), *shape), dtype=none.dtype)
    return da.stack(made, axis=1).rechunk({1: -1}).reshape((len(made[0]), *shape))


def arange(*arguments: Any, chunks: Chunks = "auto", **keywords: Any) -> da.Array:
    """Makes `gradus.arange` in chunks.

    Args:
        *arguments: arguments of `gradus.plan.arange`.
        chunks: the number of elements of a chunk, or all chunks, as dask
            takes them.
        **keywords: keyword arguments of `gradus.plan.arange`.

    Returns:
        A dask array of one axis.

    Raises:
        GradusError: if `gradus.plan.arange` does.

    Example:
        >>> import gradus
        >>> gradus.dask.arange(0, 1, 0.25, chunks=3).compute()
        array([0.  , 0.25, 0.5 , 0.75])
    """
    return from_plan(plan.arange(*arguments, **keywords), chunks)


def linspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    retstep: bool = False,
    chunks: Chunks = "auto",
    dtype: Any = None,
    **keywords: Any,
) -> Any:
    """Makes `gradus.linspace` in chunks.

    Source: `dask.array.linspace`, for the order of arguments.

    Args:
        start: the first end: a number, or an array of few elements; each
            pair of ends is a plan.
        stop: the other end, alike.
        num: the number of samples.
        endpoint: include `stop` as the last sample.
        retstep: also return the distance of neighbours.
        chunks: the number of elements of a chunk, or all chunks, as dask
            takes them.
        dtype: the element type, as in `gradus.linspace`.
        **keywords: further arguments of `gradus.plan.linspace`.

    Returns:
        A dask array of one axis, followed by those of the ends, which are
        not cut; with `retstep`, a pair of it and the distance.

    Raises:
        GradusError: if `gradus.plan.linspace` does.

    Example:
        >>> import gradus
        >>> gradus.dask.linspace(0, 1, 5, chunks=2).compute()
        array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    made = _between(plan.linspace, start, stop, (num, endpoint, dtype), keywords, chunks)
    return (made, _types.step(start, stop, num, endpoint)) if retstep else made


def logspace(start: Any, stop: Any, *arguments: Any, chunks: Chunks = "auto", **keywords: Any) -> da.Array:
    """Makes `gradus.logspace` in chunks.

    Args:
        start: the first exponent: a number, or an array of few elements;
            each pair of ends is a plan.
        stop: the last exponent, alike.
        *arguments: further arguments of `gradus.plan.logspace`.
        chunks: the number of elements of a chunk, or all chunks, as dask
            takes them.
        **keywords: keyword arguments of `gradus.plan.logspace`.

    Returns:
        A dask array of one axis, followed by those of the ends, which are
        not cut.

    Raises:
        GradusError: if `gradus.plan.logspace` does.

    Example:
        >>> import gradus
        >>> gradus.dask.logspace(0, 3, 4, chunks=2).compute()
        array([   1.,   10.,  100., 1000.])
    """
    return _between(plan.logspace, start, stop, arguments, keywords, chunks)


def geomspace(start: Any, stop: Any, *arguments: Any, chunks: Chunks = "auto", **keywords: Any) -> da.Array:
    """Makes `gradus.geomspace` in chunks.

    Args:
        start: the first end: a number, or an array of few elements; each
            pair of ends is a plan.
        stop: the other end, alike.
        *arguments: further arguments of `gradus.plan.geomspace`.
        chunks: the number of elements of a chunk, or all chunks, as dask
            takes them.
        **keywords: keyword arguments of `gradus.plan.geomspace`.

    Returns:
        A dask array of one axis, followed by those of the ends, which are
        not cut.

    Raises:
        GradusError: if `gradus.plan.geomspace` does.

    Example:
        >>> import gradus
        >>> gradus.dask.geomspace(1, 8, 4, chunks=2).compute()
        array([1., 2., 4., 8.])
    """
    return _between(plan.geomspace, start, stop, arguments, keywords, chunks)
