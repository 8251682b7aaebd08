"""Plans in the files of other libraries: the elements have the bits of the plan."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zarr
from conftest import bits

import gradus
from gradus.errors import DTypeError, UsageError


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "uint8", "complex64"])
def test_arrays_of_zarr_are_those_of_the_plan(dtype, tmp_path):
    plan = gradus.plan.linspace(0, 200, 1001, dtype=dtype)[3::2]
    array = plan.to_zarr(tmp_path / "a.zarr", chunks=100)
    assert array.chunks == (100,) and array.shape == (499,) and array.dtype == plan.dtype
    found = zarr.open_array(tmp_path / "a.zarr")[:]
    assert bits(found).tolist() == bits(plan.to_numpy()).tolist()


def test_options_are_those_of_zarr(tmp_path):
    plan, path = gradus.plan.arange(1000), tmp_path / "a.zarr"
    sharded = plan.to_zarr(path, chunks=10, shards=(250,))
    assert sharded.shards == (250,) and np.array_equal(sharded[:], np.arange(1000))
    with pytest.raises(zarr.errors.ContainsArrayError):
        plan.to_zarr(path)
    assert plan[:0].to_zarr(path, overwrite=True).shape == (0,)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "uint8"])
def test_columns_of_parquet_are_those_of_the_plan(dtype, tmp_path):
    plan, path = gradus.plan.logspace(0, 2, 500, dtype=dtype)[::-1], tmp_path / "a.parquet"
    plan.to_parquet(path, column="x", rows=128, compression="none")
    file = pq.ParquetFile(path)
    assert [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)] == [128, 128, 128, 116]
    found = file.read()["x"].to_numpy()
    assert found.dtype == plan.dtype and bits(found).tolist() == bits(plan.to_numpy()).tolist()
    plan[:0].to_parquet(path)
    assert pq.read_table(path).num_rows == 0


def test_what_is_refused_leaves_no_file(tmp_path):
    plan, path = gradus.plan.arange(10), tmp_path / "a.parquet"
    with pytest.raises(UsageError, match="rows is 0, expected at least 1"):
        plan.to_parquet(path, rows=0)
    with pytest.raises(UsageError, match="chunks is -1, expected at least 1"):
        plan.to_zarr(tmp_path / "a.zarr", chunks=-1)
    with pytest.raises(DTypeError):
        gradus.plan.arange(4, dtype="bfloat16").to_parquet(path)
    with pytest.raises(pa.ArrowException):
        plan.to_parquet(path, compression="unheard")
    assert list(tmp_path.iterdir()) == []
