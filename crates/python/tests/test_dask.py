"""Arrays in chunks, on the local scheduler and on a cluster of processes."""

import numpy as np
import pytest
from conftest import bits

import gradus

pytest.importorskip("dask.array")

CALLS = [
    ("arange", (0.1, 3000, 0.1), {}),
    ("arange", (100_000,), {"dtype": "int32"}),
    ("linspace", (0, 1, 100_001), {}),
    ("linspace", (0, 3, 8), {"dtype": "int64"}),
    ("logspace", (-300, 300, 20_001), {}),
    ("geomspace", (1, 1e9, 20_001), {"dtype": "float32"}),
]


def check(name, arguments, keywords, chunks, scheduler=None):
    array = getattr(gradus.dask, name)(*arguments, chunks=chunks, **keywords)
    whole = getattr(gradus, name)(*arguments, **keywords)
    assert array.dtype == whole.dtype and array.shape == whole.shape
    got = array.compute() if scheduler is None else array.compute(scheduler=scheduler)
    assert bits(got).tolist() == bits(whole).tolist()


@pytest.mark.parametrize(("name", "arguments", "keywords"), CALLS)
@pytest.mark.parametrize("chunks", [997, 65_537, "auto"])
def test_chunks_have_the_bits_of_the_whole(name, arguments, keywords, chunks):
    check(name, arguments, keywords, chunks, "threads")


def test_dask_s_arrays_are_arrays_of_dask():
    array = gradus.dask.linspace(0, 1, 10**12, chunks=10**8)
    assert array.numblocks == (10**4,) and array[-1].compute() == 1
    assert gradus.dask.arange(10, chunks=3)[::-2].sum().compute() == 25
    same = [gradus.dask.arange(10, chunks=c).name for c in (3, 3, 4)]
    assert same[0] == same[1] != same[2]
    part = gradus.plan.logspace(0, 3, 1000)[::3]
    assert np.array_equal(gradus.dask.from_plan(part, 100).compute(), part.to_numpy())


def test_graphs_are_as_small_as_those_of_dask_s_own_arrays():
    import pickle

    import dask
    import dask.array as da

    size = lambda array: len(pickle.dumps(array.dask))
    array = gradus.dask.arange(100_000, chunks=1)
    assert size(array) < 1.5 * size(da.ones(100_000, chunks=1))
    (fused,) = dask.optimize(gradus.dask.arange(50, chunks=7) * 2 + 1)
    assert len(dict(fused.dask)) == 8 and fused.sum().compute() == 2500


def test_positions_of_arguments_are_dask_s():
    import inspect

    import dask.array as da

    theirs = list(inspect.signature(da.linspace).parameters)
    assert list(inspect.signature(gradus.dask.linspace).parameters)[: len(theirs)] == theirs
    got = gradus.dask.linspace(0, 1, 10, False, False, 4, "f4")
    assert got.dtype == "float32" and got.chunks == da.linspace(0, 1, 10, False, False, 4, "f4").chunks
    made, step = gradus.dask.linspace(0, 1, 5, retstep=True)
    assert step == 0.25 and made.compute().tolist() == [0, 0.25, 0.5, 0.75, 1]


def test_models_are_inferred_in_a_bag():
    paths = ["examples/positions.onnx", "examples/range.onnx"]
    found = dict(gradus.dask.infer(paths).compute(scheduler="sync"))
    assert str(found[paths[0]]["phase"]) == "float32[seq]" and set(found) == set(paths)


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_of_two_processes():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, worker_dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        workers = client.run(lambda: __import__("os").getpid())
        assert len(set(workers.values())) == 2
        for name, arguments, keywords in CALLS:
            check(name, arguments, keywords, 5003)
        paths = ["examples/positions.onnx", "examples/range.onnx"]
        import os

        found = dict(gradus.dask.infer([os.path.abspath(path) for path in paths], npartitions=2).compute())
        assert sorted(len(inference) for inference in found.values()) == sorted(
            len(gradus.load(path).infer()) for path in paths
        )
