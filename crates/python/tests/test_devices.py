"""Sequences on devices. Without one, what is said instead; `pip install` with the feature `wgpu` and a software device of Vulkan
has all of it run."""

import ctypes
import gc
import threading

import numpy as np
import pytest
from conftest import bits

import gradus
from gradus.errors import ArgumentError, UnsupportedError, UsageError

NAMES = [device["name"] for device in gradus.devices()]
TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32", "float64"]
needs_device = pytest.mark.skipif(not NAMES, reason="there is no device: gradus devices says why")


def test_devices_are_described():
    for device in gradus.devices():
        assert set(device) == {"name", "backend", "device", "kind", "driver", "max_bytes"}
        assert device["name"].split(":")[0] == device["backend"]


@pytest.mark.parametrize(
    "make",
    [
        lambda device: gradus.arange(3, device=device),
        lambda device: gradus.linspace(0, 1, 3, device=device),
        lambda device: gradus.logspace(0, 1, 3, device=device),
        lambda device: gradus.geomspace(1, 2, 3, device=device),
    ],
)
def test_devices_that_are_not_there_are_errors(make):
    with pytest.raises(UsageError, match='device is "tpu", expected cpu, gpu, cuda, vulkan, metal, dx12'):
        make("tpu")
    with pytest.raises(UnsupportedError, match='cannot open device "cuda:1000": '):
        make("cuda:1000")
    with pytest.raises(UnsupportedError, match='cannot open device "metal": '):
        make("metal")
    assert isinstance(make("cpu"), np.ndarray)
    if "cuda:0" not in NAMES:
        with pytest.raises(UnsupportedError, match="(libcuda.so.1|libnvrtc|driver|feature)"):
            make("cuda")


def test_what_only_the_processor_makes():
    with pytest.raises(UsageError, match="out is an array of the processor"):
        gradus.arange(3, out=np.empty(3, int), device="vulkan")
    with pytest.raises(UnsupportedError, match="expected None for sequences between arrays"):
        gradus.linspace([0, 1], 2, 3, device="vulkan")
    with pytest.raises(ArgumentError):
        gradus.arange(0, 1, 0, device="vulkan")


@needs_device
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", TYPES)
def test_devices_give_the_same_bits(name, dtype):
    for make in (
        lambda **how: gradus.arange(0, 100, 3, **how),
        lambda **how: gradus.linspace(0.1, 99.9, 1001, **how),
        lambda **how: gradus.logspace(0, 2, 1001, **how),
        lambda **how: gradus.geomspace(1, 100, 1001, **how),
    ):
        want, got = make(dtype=dtype), make(dtype=dtype, device=name)
        assert (got.device, got.shape, got.dtype, got.nbytes) == (name, want.shape, want.dtype, want.nbytes)
        assert len(got) == got.size == want.size
        assert bits(got.to_numpy()).tolist() == bits(want).tolist()
        assert bits(np.asarray(got)).tolist() == bits(want).tolist()


@needs_device
@pytest.mark.parametrize("name", NAMES)
def test_devices_speak_dlpack(name):
    array = gradus.linspace(0, 1, 1001, dtype="float32", device=name)
    is_cuda = name.startswith("cuda")
    assert array.__dlpack_device__() == ((2, int(name.split(":")[1])) if is_cuda else (1, 0))
    for version in (None, (0, 8), (1, 0), (1, 1)):
        capsule = array.__dlpack__(max_version=version)
        named = b"dltensor_versioned" if version and version[0] >= 1 else b"dltensor"
        is_valid = ctypes.pythonapi.PyCapsule_IsValid
        is_valid.argtypes = [ctypes.py_object, ctypes.c_char_p]
        assert is_valid(capsule, named)
        # Nobody takes it over, so it gives the memory back itself.
        del capsule
    if not is_cuda:
        taken = np.from_dlpack(array)
        del array
        gc.collect()
        # The memory is the array's, and stays as long as it is taken.
        assert taken.tolist() == gradus.linspace(0, 1, 1001, dtype="float32").tolist()
        # The array reads it as well.
        assert not taken.flags.writeable
        with pytest.raises(BufferError, match="read-only"):
            gradus.arange(5, device=name).__dlpack__(copy=False)
        halves = gradus.from_dlpack(gradus.arange(5, dtype="bfloat16", device=name))
        assert halves.tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(BufferError, match="not copied by DLPack"):
        gradus.arange(5, device=name).__dlpack__(copy=True)
    with pytest.raises(BufferError, match="not copied by DLPack"):
        gradus.arange(5, device=name).__dlpack__(dl_device=(7, 0))


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("cuda")])
def test_memory_of_cuda_is_lent_to_torch(name):
    torch = pytest.importorskip("torch")
    wanted = torch.from_numpy(gradus.linspace(0, 1, 1 << 20, dtype="float32"))
    current = torch.cuda.current_device()
    make = lambda: gradus.linspace(0, 1, 1 << 20, dtype="float32", device=name)  # noqa: E731
    array = make()
    taken = torch.from_dlpack(array)
    assert str(taken.device) == name
    del array
    gc.collect()
    assert torch.equal(taken.cpu(), wanted)
    # The last owner may be on a thread that has never used the device.
    owners = [taken]
    del taken
    thread = threading.Thread(target=owners.clear)
    thread.start()
    thread.join()
    assert torch.equal(torch.from_dlpack(make()).cpu(), wanted)
    # Memory that a stream of the consumer still reads is not given to the next sequence.
    with torch.cuda.stream(torch.cuda.Stream(name)):
        taken = torch.from_dlpack(make())
        torch.cuda._sleep(100_000_000)
        double = taken * 2
        del taken
        other = gradus.linspace(5, 6, 1 << 20, dtype="float32", device=name)
        assert torch.equal(double.cpu(), wanted * 2)
    assert other.size == 1 << 20
    assert torch.cuda.current_device() == current


@needs_device
@pytest.mark.parametrize("name", NAMES)
def test_types_that_no_device_makes_are_errors(name):
    with pytest.raises(UnsupportedError, match="element type is complex128, expected an integer type"):
        gradus.linspace(0, 1j, 3, device=name)
