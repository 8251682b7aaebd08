"""Plans written into the files of other libraries, a chunk at a time: memory holds one chunk."""

from __future__ import annotations

import os
import pathlib
import tempfile
from collections.abc import Iterator
from typing import Any

from ._native import Plan
from .errors import UsageError

_CHUNK = 1 << 20


def _chunks(planned: Plan, length: int) -> Iterator[tuple[int, int]]:
    for lo in range(0, len(planned), length):
        yield lo, min(lo + length, len(planned))


def _length(name: str, length: int) -> int:
    if length < 1:
        raise UsageError(f"cannot write the plan: {name} is {length}, expected at least 1")
    return length


def to_zarr(planned: Plan, store: Any, *, chunks: int = _CHUNK, **options: Any) -> Any:
    """Writes a plan into an array of Zarr: `gradus.plan.Plan.to_zarr`."""
    import zarr

    chunks = _length("chunks", chunks)
    # A shard is written as a whole.
    length = int(options["shards"][0]) if options.get("shards") else chunks
    array = zarr.create_array(store, shape=planned.shape, dtype=planned.dtype, chunks=(chunks,), **options)
    for lo, hi in _chunks(planned, length):
        array[lo:hi] = planned.chunk(lo, hi)
    return array


def to_parquet(
    planned: Plan, path: str | os.PathLike[str], *, column: str = "values", rows: int = _CHUNK, **options: Any
) -> None:
    """Writes a plan into a file of Parquet: `gradus.plan.Plan.to_parquet`."""
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    rows, path = _length("rows", rows), pathlib.Path(path)
    schema = pa.schema([(column, pa.array(planned[:0]).type)])
    with tempfile.TemporaryDirectory(prefix=".gradus-", dir=path.parent) as folder:
        made = pathlib.Path(folder) / path.name
        with pq.ParquetWriter(made, schema, **options) as writer:
            for lo, hi in _chunks(planned, rows):
                writer.write_batch(pa.record_batch([pa.array(planned[lo:hi])], schema=schema))
        made.replace(path)
