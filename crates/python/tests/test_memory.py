"""Copies that the system has no room for: an error of Python, and an interpreter that goes on."""

import subprocess
import sys

import pytest

resource = pytest.importorskip("resource", reason="Windows does not limit addresses")

PROGRAM = """
import resource
import ml_dtypes, numpy as np, onnx, onnx.helper as h
import gradus

def model(*dims):
    graph = h.make_graph(
        [h.make_node("Identity", ["x"], ["y"])],
        "g",
        [h.make_tensor_value_info("x", onnx.TensorProto.FLOAT, dims)],
        [h.make_tensor_value_info("y", onnx.TensorProto.FLOAT, dims)],
    )
    return h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8).SerializeToString()

FLOATS = 100_000_000
x = np.zeros(FLOATS, "float32")
narrow = np.zeros(4 * FLOATS, ml_dtypes.int4)
texts = np.zeros(FLOATS // 8, "U8")
raw = bytes(4 * FLOATS)
ints = [0] * (FLOATS // 2)
identity = gradus.load(model("n"))
graph = gradus.Graph()
value = graph.input("x", "float32", ["n"])
small = gradus.linspace(0, 1, 3)

CALLS = {
    "linspace": lambda: gradus.linspace(x, 1, 3),
    "geomspace": lambda: gradus.geomspace(1, x, 3),
    "logspace": lambda: gradus.logspace(1, 2, 3, base=x),
    "plan": lambda: gradus.plan.linspace(x, 1, 3),
    "numpy": lambda: gradus.numpy.linspace(x, 1, 3),
    "array": lambda: gradus.arange(2 * FLOATS, dtype="int64"),
    "constant": lambda: graph.constant(x),
    "narrow": lambda: graph.constant(narrow),
    "texts": lambda: graph.constant(texts),
    "add": lambda: graph.add(value, x),
    "list": lambda: graph.apply("Constant", value_ints=ints),
    "text": lambda: graph.apply("Constant", value_string=text),
    "run": lambda: identity.run({"x": x}),
    "values": lambda: identity.infer(values={"x": x}),
    "load": lambda: gradus.load(raw),
    "files": lambda: gradus._native._load_files("model.onnx", {"model.onnx": raw}, (None, None, None)),
}
text = "a" * (4 * FLOATS)

pages = int(open("/proc/self/statm").read().split()[0])
most = pages * resource.getpagesize() + 2 * FLOATS
resource.setrlimit(resource.RLIMIT_AS, (most, most))
for name, call in CALLS.items():
    try:
        call()
        print(name, "returns")
    except MemoryError:
        print(name, "MemoryError")
    except Exception as error:
        print(name, type(error).__name__, str(error)[:80])
assert gradus.linspace(0, 1, 3).tolist() == small.tolist()
print("goes on")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the size of the process from /proc")
def test_a_copy_without_room_is_an_error_of_python():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=False)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and lines[-1] == "goes on", (lines, done.stderr)
    # A plan is between numbers.
    others = [line for line in lines[:-1] if not line.endswith(" MemoryError") and not line.startswith("plan ")]
    assert not others
