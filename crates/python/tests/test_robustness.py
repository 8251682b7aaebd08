"""Threads, forks, and memory that does not grow."""

import gc
import multiprocessing
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnx
import psutil
import pytest

import gradus


def test_threads_fill_at_the_same_time():
    want = gradus.logspace(-5, 5, 200_000)
    out = np.zeros(800_000)
    with ThreadPoolExecutor(8) as pool:
        parts = [pool.submit(gradus.logspace, -5, 5, 200_000, out=out[i * 200_000 : (i + 1) * 200_000]) for i in range(4)]
        new = [pool.submit(gradus.logspace, -5, 5, 200_000) for _ in range(8)]
        assert all(np.array_equal(part.result(), want) for part in [*parts, *new])
    assert np.array_equal(out.reshape(4, -1), np.broadcast_to(want, (4, 200_000)))


def test_other_threads_run_while_an_array_is_filled():
    # Powers on the axes are made one by one, so this takes a while.
    plan = gradus.plan.logspace(0, 19_999, 20_000, base=1j)
    ticks = 0
    done = threading.Event()

    def fill():
        plan.to_numpy()
        done.set()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(10)  # So that a thread only stops by itself.
    try:
        thread = threading.Thread(target=fill)
        thread.start()
        while not done.is_set():
            ticks += 1
            done.wait(0.0005)
        thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert ticks > 3


def _product(size):
    """The product of two matrices of ones, by a model."""
    value = lambda name: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [size, size])  # noqa: E731
    nodes = [onnx.helper.make_node("MatMul", ["a", "b"], ["c"])]
    graph = onnx.helper.make_graph(nodes, "g", [value("a"), value("b")], [value("c")])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    ones = np.ones((size, size), "float32")
    return gradus.load(model.SerializeToString()).run({"a": ones, "b": ones})["c"]


def _in_a_fork(queue):
    queue.put((gradus.arange(2_000_000)[-1].item(), _product(256)[-1, -1].item()))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_works_alone():
    _in_a_fork(multiprocessing.SimpleQueue())  # Starts the pool of threads.
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    process = context.Process(target=_in_a_fork, args=(queue,))
    process.start()
    process.join(30)
    assert process.exitcode == 0 and queue.get() == (1_999_999, 256.0)


def _each_kind_of_call(out, plan, model):
    gradus.arange(10)
    gradus.arange(0, 1, 0.1, dtype="float32")
    gradus.arange(300, dtype="bfloat16")
    gradus.linspace(0, 1, 100, out=out)
    gradus.logspace(np.float32(0), 1, 10)
    gradus.linspace([0, 1], 2, 3, retstep=True)
    plan[3:20:2].to_numpy()
    model.run({"start": 0.0, "limit": 3.0, "delta": 1.0})
    try:
        gradus.arange(0, 1, 0)
    except ValueError:
        pass


def test_calls_leave_nothing_behind():
    process = psutil.Process()
    out, plan = np.zeros(100), gradus.plan.logspace(0, 3, 100)
    model = gradus.load("examples/range.onnx")
    dtype = np.dtype("float32")

    def counts():
        gc.collect()
        return [sys.getrefcount(each) for each in (out, dtype, None.__class__, np.float64, plan)], process.memory_info().rss

    rounds = 100_000 // 9
    for _ in range(rounds // 4):
        _each_kind_of_call(out, plan, model)
    refs, memory = counts()
    for _ in range(rounds):
        _each_kind_of_call(out, plan, model)
    after, memory_after = counts()
    assert all(abs(a - b) <= 3 for a, b in zip(refs, after, strict=True)), (refs, after)
    assert memory_after - memory < 8 << 20, f"{rounds * 9} calls took {memory_after - memory} bytes"


def test_dlpack_both_ways():
    for dtype in ("float32", "int64", "bfloat16", "float8_e4m3fn", "float8_e5m2", "complex64"):
        array = gradus.linspace(0, 3, 4, dtype=dtype)
        back = gradus.from_dlpack(gradus.to_dlpack(array))
        assert back.dtype == array.dtype and back.tolist() == array.tolist()
        assert np.shares_memory(back, array)
    assert np.from_dlpack(gradus.arange(3)).tolist() == [0, 1, 2]


def test_a_panic_is_an_exception_that_asks_to_report_it():
    with pytest.raises(gradus.InternalError, match="panicked: as asked; this is a bug: please report it") as caught:
        gradus._native._panic()
    assert isinstance(caught.value, Exception)


class Tensor:
    """A tensor of another library: all it has is DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **how):
        return gradus.to_dlpack(self.array).__dlpack__(**how)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OldTensor(Tensor):
    """One of a library that knows the first version of DLPack only."""

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()


def test_tensors_of_other_libraries_are_numbers_too():
    three = Tensor(gradus.arange(3, 4, dtype="bfloat16").reshape(()))
    assert gradus.arange(three, dtype="int64").tolist() == [0, 1, 2]
    assert gradus.linspace(OldTensor(np.array([0.0, 1.0])), 2, 3).tolist() == [[0, 1], [1, 1.5], [2, 2]]
    assert gradus.paddle.logspace(Tensor(np.array([0], "float32")), 2, 3).tolist() == [1, 10, 100]
    assert gradus.onnx.Shape(Tensor(np.zeros((2, 3)))).tolist() == [2, 3]
    assert gradus.torch.arange(Tensor(np.array(3))).tolist() == [0, 1, 2]
