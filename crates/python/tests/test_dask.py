"""Arrays in chunks, on the local scheduler and on a cluster of processes."""

import os
import pathlib
import signal
import time

import numpy as np
import pytest
from conftest import bits

import gradus

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


@pytest.mark.parametrize(("start", "stop"), [(1, [2, 3, 4]), ([[1], [5]], [2.5, 9]), (np.ones(0), 2)])
@pytest.mark.parametrize("name", ["linspace", "logspace", "geomspace"])
def test_ends_may_be_arrays(name, start, stop):
    array = getattr(gradus.dask, name)(start, stop, 1001, chunks=100)
    whole = getattr(gradus, name)(np.asarray(start), np.asarray(stop), 1001)
    assert (array.shape, array.dtype) == (whole.shape, whole.dtype)
    assert bits(array.compute()).tolist() == bits(whole).tolist()


def test_meshgrids_of_dask_take_them():
    import dask.array as da

    x, y = da.meshgrid(gradus.dask.arange(5, chunks=2), gradus.dask.linspace(0, 1, 3, chunks=2))
    wanted = np.meshgrid(np.arange(5), np.linspace(0, 1, 3))
    assert np.array_equal(x.compute(), wanted[0]) and np.array_equal(y.compute(), wanted[1])


EXAMPLES = ["examples/positions.onnx", "examples/range.onnx"]


def results(bag):
    return dict(bag.compute(scheduler="sync"))


def test_models_are_inferred_in_a_bag():
    found = results(gradus.dask.infer(EXAMPLES))
    assert str(found[EXAMPLES[0]]["phase"]) == "float32[seq]" and set(found) == set(EXAMPLES)


def test_models_are_linted_in_a_bag():
    paths = ["examples/baked.onnx", "examples/heads.onnx", "missing.onnx"]
    bag = gradus.dask.lint(paths, errors="return", ignore=["GR203"])
    found = results(bag)
    assert {path: [finding.code for finding in found[path]] for path in paths[:2]} == {
        path: [finding.code for finding in gradus.load(path).lint(ignore=["GR203"])] for path in paths[:2]
    }
    assert found[paths[0]][0].code == "GR102" and isinstance(found[paths[2]], gradus.errors.FileError)
    rows = bag.map(gradus.dask.row).compute(scheduler="sync")
    counts = [(row["errors"], row["warnings"], row["notes"]) for row in rows]
    assert counts == [(0, 1, 0), (0, 0, 1), (None, None, None)]


def test_models_are_folded_and_converted_into_folders(tmp_path):
    folder = tmp_path / "deep"
    folder.mkdir()
    paths = [tmp_path / "positions.onnx", folder / "positions.onnx"]
    for path in paths:
        path.write_bytes(pathlib.Path(EXAMPLES[0]).read_bytes())
    reports = results(gradus.dask.fold(paths, tmp_path / "out", dims={"seq": 4}))
    assert [report.nodes for report in reports.values()] == [(6, 3)] * 2
    assert gradus.load(tmp_path / "out/deep/positions.onnx").inputs["tokens"].shape[1] == 4
    notes = results(gradus.dask.convert(paths, "openvino", tmp_path / "ir"))
    assert all(report.exact for report in notes.values())
    tokens = {"tokens": np.zeros((1, 3), np.int64)}
    whole, made = (gradus.load(path).run(tokens) for path in (paths[1], tmp_path / "ir/deep/positions.xml"))
    assert all(np.array_equal(whole[name], made[name]) for name in whole)
    assert isinstance(results(gradus.dask.fold(paths[:1]))[str(paths[0])], gradus.Model)


def test_errors_are_raised_or_returned(tmp_path):
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"no model")
    paths = [broken, *EXAMPLES, "missing.onnx"]
    with pytest.raises(gradus.errors.FormatError):
        results(gradus.dask.infer([broken, *EXAMPLES], npartitions=1))
    found = results(gradus.dask.infer(paths, errors="return"))
    assert [type(result).__name__ for result in found.values()] == ["FormatError", "Inference", "Inference", "FileError"]
    rows = gradus.dask.infer(paths, errors="return").map(gradus.dask.row).compute(scheduler="sync")
    assert [row["error"] is None for row in rows] == [False, True, True, False]
    assert len({tuple(row) for row in rows}) == 1
    with pytest.raises(gradus.errors.UsageError, match="errors is 'ignore'"):
        gradus.dask.infer(paths, errors="ignore")
    with pytest.raises(gradus.errors.UsageError, match="to is 'tflite'"):
        gradus.dask.convert(paths, "tflite")
    with pytest.raises(gradus.errors.UsageError, match="two models would be written as"):
        gradus.dask.convert(["a/m.onnx", "a/m.pdmodel"], "openvino", tmp_path)


def test_rows_are_those_of_a_dataframe():
    frame = gradus.dask.fold(EXAMPLES, errors="return", npartitions=2).map(gradus.dask.row).to_dataframe()
    made = frame.compute(scheduler="sync")
    assert list(made["path"]) == EXAMPLES and (made["after"] <= made["before"]).all()


@pytest.fixture(scope="module")
def cluster():
    import distributed

    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, worker_dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_of_two_processes(cluster):
    workers = cluster.run(os.getpid)
    assert len(set(workers.values())) == 2
    for name, arguments, keywords in CALLS:
        check(name, arguments, keywords, 5003)
    many = gradus.dask.arange(10**9, chunks=10**7)
    assert many.sum().compute() == 10**9 * (10**9 - 1) // 2


@pytest.mark.filterwarnings("ignore")
def test_a_fleet_survives_a_worker(cluster, tmp_path):
    model = pathlib.Path(EXAMPLES[0]).read_bytes()
    paths = [tmp_path / f"{i}.onnx" for i in range(2000)]
    for i, path in enumerate(paths):
        path.write_bytes(b"no model" if i % 500 == 7 else model)
    bag = gradus.dask.fold(paths, tmp_path / "out", errors="return", dims={"seq": 4}, npartitions=200)
    future = cluster.compute(bag)
    while len(list((tmp_path / "out").glob("*.onnx"))) < 100:
        time.sleep(0.01)
    os.kill(next(iter(cluster.run(os.getpid).values())), signal.SIGKILL)
    found = dict(future.result())
    failed = [path for path, result in found.items() if isinstance(result, Exception)]
    assert len(found) == 2000 and failed == [str(path) for path in paths[7::500]]
    assert len(list((tmp_path / "out").glob("*.onnx"))) == 1996
