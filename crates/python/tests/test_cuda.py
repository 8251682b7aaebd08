"""Sequences on GPUs of NVIDIA beside PyTorch. ``GRADUS_TEST_ELEMENTS`` is the length of the long ones (``scripts/gpu_runbook.py``)."""

import gc
import os
import subprocess
import sys
import threading

import pytest
from conftest import bits
from test_devices import NAMES, TYPES

import gradus
from gradus.errors import LimitError

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(
    "cuda:0" not in NAMES or not torch.cuda.is_available(), reason="needs a GPU of NVIDIA, and PyTorch for CUDA"
)

ELEMENTS = int(os.environ.get("GRADUS_TEST_ELEMENTS", "1000000"))
# Ends that every integer type has.
MAKERS = {
    "arange": lambda count, **how: gradus.arange(0, count, 1, **how),
    "linspace": lambda count, **how: gradus.linspace(1, 100, count, **how),
    "logspace": lambda count, **how: gradus.logspace(0, 2, count, **how),
    "geomspace": lambda count, **how: gradus.geomspace(1, 100, count, **how),
}
WHOLE = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def on_device(array):
    return torch.from_dlpack(array)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", MAKERS)
def test_long_sequences_have_the_bits_of_the_processor(name, dtype):
    if name == "arange" and dtype in ("int8", "uint8", "int16", "uint16", "float16"):
        count = 100
    else:
        count = ELEMENTS
    made = on_device(MAKERS[name](count, dtype=dtype, device="cuda"))
    whole = WHOLE[made.element_size()]
    wanted = torch.from_numpy(bits(MAKERS[name](count, dtype=dtype)).view(f"int{8 * made.element_size()}"))
    made = made.view(whole) if made.dtype != whole else made
    for start in range(0, count, 1 << 27):
        part = slice(start, start + (1 << 27))
        assert torch.equal(made[part], wanted[part].to(made.device)), (name, dtype, start)


def test_torch_shares_the_memory_and_either_may_end_first():
    array = gradus.linspace(0, 1, 1001, device="cuda")
    first, second = on_device(array), on_device(array)
    assert first.data_ptr() == second.data_ptr()
    wanted = first.cpu()
    del array, first
    gc.collect()
    assert torch.equal(second.cpu(), wanted)
    array = gradus.linspace(0, 1, 1001, device="cuda")
    del second
    gc.collect()
    assert torch.equal(torch.from_numpy(array.to_numpy()), wanted)


def test_streams_and_threads_each_read_their_own():
    wrong = []

    def work(seed):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for turn in range(50):
                count = 10_000 + 100 * seed + turn
                total = on_device(gradus.arange(0, count, 1, dtype="int64", device="cuda")).sum().item()
                if total != count * (count - 1) // 2:
                    wrong.append((seed, turn, total))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_allocations_do_not_grow():
    def make(times):
        for _ in range(times):
            on_device(gradus.arange(0, 1000, 1, dtype="float32", device="cuda"))
        torch.cuda.synchronize()
        return torch.cuda.mem_get_info()[0]

    before = make(1000)
    assert before - make(100_000) < 64 << 20


def test_exhausted_memory_is_an_error_and_passes():
    free, _ = torch.cuda.mem_get_info()
    half = int(free * 0.6)
    held = gradus.arange(0, half, 1, dtype="int8", device="cuda")
    with pytest.raises(LimitError, match="cannot allocate"):
        gradus.arange(0, half, 1, dtype="int8", device="cuda")
    del held
    gc.collect()
    assert gradus.arange(0, half, 1, dtype="int8", device="cuda").size == half


PROGRAM = "import gradus; print(gradus.linspace(0, 1, 10**7, dtype='float32', device='cuda').to_numpy().sum())"


def start(**variables):
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM], env=os.environ | variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_processes_share_a_device():
    results = {process.communicate()[0] for process in [start(), start()]}
    assert len(results) == 1
    assert float(results.pop()) > 0


def test_hidden_devices_are_said_to_be_missing():
    process = start(CUDA_VISIBLE_DEVICES="")
    assert 'cannot open device "cuda": its driver' in process.communicate()[1]
    assert process.returncode != 0
