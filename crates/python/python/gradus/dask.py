"""Arrays larger than memory, and many models: dask arrays whose chunks are written from a plan, and bags of models.

Chunks have the bits of the whole, however they are cut and wherever they are made: a task holds a plan of a few hundred bytes
and two indices. They run on dask's local scheduler, or on a ``distributed`` cluster whose workers have this package.
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
from ._fleets import convert, fold, infer, row

__all__ = ["arange", "convert", "fold", "from_plan", "geomspace", "infer", "linspace", "logspace", "row"]

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
    """The elements of a plan.

    Args:
        planned: a plan of :mod:`gradus.plan`, or a part of one.
        chunks: how many elements a chunk has, or all chunks, as dask takes them.

    Returns:
        A dask array of one axis.

    Example:
        >>> import gradus
        >>> gradus.dask.from_plan(gradus.plan.arange(10)[::3], chunks=2).compute()
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
    """:func:`gradus.arange` in chunks; arguments as of :func:`gradus.plan.arange`.

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
    """:func:`gradus.linspace` in chunks; arguments in the order of ``dask.array.linspace``, others as of
    :func:`gradus.plan.linspace`. Ends may be arrays, of few elements: each pair of them is a plan.

    Returns:
        A dask array of one axis, before those of the ends, which are not cut; with ``retstep``, a pair of it and the distance of
        neighbours.

    Example:
        >>> import gradus
        >>> gradus.dask.linspace(0, 1, 5, True, False, 2, "float32").compute()
        array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    made = _between(plan.linspace, start, stop, (num, endpoint, dtype), keywords, chunks)
    return (made, _types.step(start, stop, num, endpoint)) if retstep else made


def logspace(start: Any, stop: Any, *arguments: Any, chunks: Chunks = "auto", **keywords: Any) -> da.Array:
    """:func:`gradus.logspace` in chunks; arguments as of :func:`gradus.plan.logspace`, and ends as of :func:`linspace`."""
    return _between(plan.logspace, start, stop, arguments, keywords, chunks)


def geomspace(start: Any, stop: Any, *arguments: Any, chunks: Chunks = "auto", **keywords: Any) -> da.Array:
    """:func:`gradus.geomspace` in chunks; arguments as of :func:`gradus.plan.geomspace`, and ends as of :func:`linspace`."""
    return _between(plan.geomspace, start, stop, arguments, keywords, chunks)
