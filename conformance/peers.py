"""Runs random calls of range, linspace, logspace and geomspace in the packages that are installed, and prints what they return.

    python conformance/peers.py SEED COUNT [PROFILE,PROFILE,...]

One line of JSON per call: the profile, the function, the arguments (exact, as text), the element types, and either
`len` and `bytes`, the first and last elements as hexadecimal bytes; or `error`, what was raised; or `signal`, by which
the process died. COUNT is that of the calls of each function by each profile; without a list, all profiles run whose
packages can be imported. Every package runs in a process of its own, with little memory: some calls end it.
"""

import importlib.util
import json
import math
import multiprocessing
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys

import ml_dtypes
import numpy as np
from processor import has_avx512

# Before any package is loaded: the settings that the profiles are of.
os.environ.update(
    ATEN_CPU_CAPABILITY="avx2", OMP_NUM_THREADS="1", JAX_ENABLE_X64="1", JAX_PLATFORMS="cpu", TF_CPP_MIN_LOG_LEVEL="3",
    ALLOW_RELEASED_ONNX_OPSET_ONLY="0", CUDA_VISIBLE_DEVICES="", GLOG_minloglevel="3",
)  # fmt: skip

MEMORY = 6 << 30
SHOWN = 3000
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]


def numpy_type(name: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, name) if name == "bfloat16" else name)


def typed(name: str, value) -> np.ndarray:
    """A scalar array of a value, which is one of its type already."""
    return np.array(value, dtype=numpy_type(name))


class Peer:
    """How one program is called: by Python numbers of values of a type."""

    package = ""
    types: list[str] = []
    mixed = True
    functions = ["range"]
    endpoint = False

    def __init__(self):
        self.module = importlib.import_module(self.package)

    @classmethod
    def is_installed(cls) -> bool:
        return importlib.util.find_spec(cls.package) is not None

    def linspace(self, start, stop, num, endpoint, dtype):
        raise NotImplementedError

    logspace = geomspace = linspace


class Numpy(Peer):
    package, types, endpoint = "numpy", INTEGERS + FLOATS, True
    functions = ["range", "linspace", "logspace", "geomspace"]

    def range(self, start, stop, step, given, dtype):
        return np.arange(start, stop, step, dtype=numpy_type(dtype))

    def linspace(self, start, stop, num, endpoint, dtype):
        return np.linspace(start, stop, num, endpoint=endpoint, dtype=numpy_type(dtype))

    def logspace(self, start, stop, num, endpoint, base, dtype):
        return np.logspace(start, stop, num, endpoint=endpoint, base=base, dtype=numpy_type(dtype))

    def geomspace(self, start, stop, num, endpoint, dtype):
        return np.geomspace(start, stop, num, endpoint=endpoint, dtype=numpy_type(dtype))


class Dask(Numpy):
    package, functions = "dask.array", ["range", "linspace"]

    @classmethod
    def is_installed(cls) -> bool:
        return importlib.util.find_spec("dask") is not None

    def range(self, start, stop, step, given, dtype):
        return self.module.arange(start, stop, step, dtype=numpy_type(dtype)).compute(scheduler="sync")

    def linspace(self, start, stop, num, endpoint, dtype):
        made = self.module.linspace(start, stop, num, endpoint=endpoint, dtype=numpy_type(dtype))
        return made.compute(scheduler="sync")


class Jax(Numpy):
    package = "jax"

    def __init__(self):
        super().__init__()
        self.numpy = importlib.import_module("jax.numpy")

    def range(self, start, stop, step, given, dtype):
        return np.asarray(self.numpy.arange(start, stop, step, dtype=dtype))

    def linspace(self, start, stop, num, endpoint, dtype):
        return np.asarray(self.numpy.linspace(start, stop, num, endpoint=endpoint, dtype=dtype))

    def logspace(self, start, stop, num, endpoint, base, dtype):
        return np.asarray(self.numpy.logspace(start, stop, num, endpoint=endpoint, base=base, dtype=dtype))

    def geomspace(self, start, stop, num, endpoint, dtype):
        return np.asarray(self.numpy.geomspace(start, stop, num, endpoint=endpoint, dtype=dtype))


class Torch(Peer):
    package = "torch"
    types = ["int8", "int16", "int32", "int64", "uint8", *FLOATS]
    functions = ["range", "linspace", "logspace"]

    def __init__(self):
        super().__init__()
        self.module.set_num_threads(1)

    def array(self, tensor):
        if tensor.dtype == self.module.bfloat16:
            return tensor.view(self.module.int16).numpy()
        return tensor.numpy()

    def range(self, start, stop, step, given, dtype):
        return self.array(self.module.arange(start, stop, step, dtype=getattr(self.module, dtype)))

    def linspace(self, start, stop, num, endpoint, dtype):
        return self.array(self.module.linspace(start, stop, num, dtype=getattr(self.module, dtype)))

    def logspace(self, start, stop, num, endpoint, base, dtype):
        return self.array(self.module.logspace(start, stop, num, base=base, dtype=getattr(self.module, dtype)))


class Tensorflow(Peer):
    package = "tensorflow"
    types = ["int32", "int64", *FLOATS]
    functions = ["range", "linspace"]

    def range(self, start, stop, step, given, dtype):
        tensors = [self.module.constant(typed(given, x)) for x in (start, stop, step)]
        return self.module.range(*tensors, dtype=dtype).numpy()

    def linspace(self, start, stop, num, endpoint, dtype):
        if dtype in INTEGERS:
            raise TypeError("tf.linspace has no integers")
        return self.module.linspace(*[self.module.constant(x, dtype) for x in (start, stop)], num).numpy()


class Paddle(Peer):
    package = "paddle"
    types = ["int32", "int64", "float32", "float64"]
    functions = ["range", "linspace", "logspace"]

    def range(self, start, stop, step, given, dtype):
        return self.module.arange(start, stop, step, dtype=dtype).numpy()

    def linspace(self, start, stop, num, endpoint, dtype):
        return self.module.linspace(start, stop, num, dtype=dtype).numpy()

    def logspace(self, start, stop, num, endpoint, base, dtype):
        return self.module.logspace(start, stop, num, base=base, dtype=dtype).numpy()


class Onnxruntime(Peer):
    package, mixed = "onnxruntime", False
    types = ["int16", "int32", "int64", "float16", "float32", "float64"]

    def __init__(self):
        super().__init__()
        self.onnx = importlib.import_module("onnx")
        importlib.import_module("onnx.inliner")
        self.sessions = {}

    def model(self, dtype):
        helper = self.onnx.helper
        dtype = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        inputs = [helper.make_tensor_value_info(name, dtype, []) for name in ("start", "limit", "delta")]
        outputs = [helper.make_tensor_value_info("y", dtype, ["n"])]
        node = helper.make_node("Range", ["start", "limit", "delta"], ["y"])
        graph = helper.make_graph([node], "range", inputs, outputs)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 27)], ir_version=13)

    def range(self, start, stop, step, given, dtype):
        if dtype not in self.sessions:
            options = self.module.SessionOptions()
            options.log_severity_level = 4
            self.sessions[dtype] = self.module.InferenceSession(
                self.model(dtype).SerializeToString(), options, providers=["CPUExecutionProvider"]
            )
        feeds = {name: typed(dtype, x) for name, x in zip(("start", "limit", "delta"), (start, stop, step))}
        return self.sessions[dtype].run(None, feeds)[0]


class OnnxBody(Onnxruntime):
    def model(self, dtype):
        inline = self.onnx.inliner.inline_selected_functions
        return inline(super().model(dtype), [("", "Range")], inline_schema_functions=True)


class Openvino(Peer):
    package, types = "openvino", INTEGERS + FLOATS

    def node(self, given, dtype):
        operators = importlib.import_module("openvino.opset13")
        element = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}
        element |= {name: name.replace("uint", "u").replace("int", "i") for name in INTEGERS}
        parameters = [operators.parameter([], getattr(self.module.Type, element[given])) for _ in range(3)]
        return parameters, operators.range(*parameters, element[dtype])

    def tensor(self, dtype, value):
        array = typed(dtype, value)
        if dtype != "bfloat16":
            return self.module.Tensor(array)
        return self.module.Tensor(array.view(np.uint16), self.module.Shape([]), self.module.Type.bf16)

    def array(self, tensor):
        if tensor.element_type == self.module.Type.bf16:
            return tensor.data.view(np.uint16).copy()
        return tensor.data.copy()

    def range(self, start, stop, step, given, dtype):
        _, node = self.node(given, dtype)
        out = self.module.Tensor(node.get_output_element_type(0), self.module.Shape([0]))
        if not node.evaluate([out], [self.tensor(given, x) for x in (start, stop, step)]):
            raise ValueError("evaluate() returned False")
        return self.array(out)


class OpenvinoCpu(Openvino):
    """The plugin on a processor with AVX-512, whatever the environment limits it to."""

    isa = "DEFAULT"

    def __init__(self):
        # oneDNN reads the limit when the package is loaded.
        os.environ["ONEDNN_MAX_CPU_ISA"] = self.isa
        super().__init__()
        self.core = self.module.Core()
        self.models = {}

    def range(self, start, stop, step, given, dtype):
        if (given, dtype) not in self.models:
            parameters, node = self.node(given, dtype)
            settings = {"INFERENCE_NUM_THREADS": 1}
            model = self.module.Model([node], parameters, "range")
            self.models[given, dtype] = self.core.compile_model(model, "CPU", settings)
        # Another request each time: one that is used again may give its last output again.
        request = self.models[given, dtype].create_infer_request()
        request.infer([self.tensor(given, x) for x in (start, stop, step)])
        return self.array(request.get_output_tensor(0))


class OpenvinoCpuAvx2(OpenvinoCpu):
    isa = "AVX2"


class Octave(Peer):
    """A process that reads expressions and prints the bytes of their values."""

    package, types, mixed = "octave-cli", ["float64", "float32", *INTEGERS], False
    functions = ["range", "linspace", "logspace"]
    loop = """
        while true
            try
                x = eval(input('', 's'));
                printf('%d:%s\\n', numel(x), sprintf('%02x', typecast(x, 'uint8')));
            catch e
                if strncmp(e.message, 'input:', 6), break, end  # the end of the input
                printf('error:%s\\n', strtok(e.message, "\\n"));
            end
        end
    """

    def __init__(self):
        command = [self.package, "--norc", "--quiet", "--no-history", "--eval", self.loop]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    @classmethod
    def is_installed(cls) -> bool:
        return shutil.which(cls.package) is not None

    def value(self, dtype, expression):
        self.process.stdin.write(expression + "\n")
        self.process.stdin.flush()
        count, _, rest = self.process.stdout.readline().strip().partition(":")
        if count == "error":
            raise ValueError(rest)
        return np.frombuffer(bytes.fromhex(rest), numpy_type(dtype))

    def number(self, dtype, value) -> str:
        name = {"float64": "double", "float32": "single"}.get(dtype, dtype)
        if dtype in INTEGERS:
            # Literals are doubles, and a sum of integers is not.
            high, low = divmod(value, 2**32)
            return f"({name}({high}) * {name}({2**32}) + {name}({low}))" if name.endswith("64") else f"{name}({value})"
        return f"{name}(hex2num('{struct.pack('>d', value).hex()}'))"

    def range(self, start, stop, step, given, dtype):
        return self.value(dtype, ":".join(self.number(given, x) for x in (start, step, stop)))

    def linspace(self, start, stop, num, endpoint, dtype):
        if dtype in INTEGERS:
            raise TypeError("linspace has no integers")
        return self.value(dtype, f"linspace({self.number(dtype, start)}, {self.number(dtype, stop)}, {num})")

    def logspace(self, start, stop, num, endpoint, base, dtype):
        if dtype in INTEGERS or base != 10:
            raise TypeError("logspace has no integers and no base")
        return self.value(dtype, f"logspace({self.number(dtype, start)}, {self.number(dtype, stop)}, {num})")


PEERS = {
    "onnx-body": OnnxBody, "onnxruntime": Onnxruntime, "openvino": Openvino, "openvino-cpu": OpenvinoCpu,
    "openvino-cpu-avx2": OpenvinoCpuAvx2, "numpy": Numpy, "dask": Dask, "torch": Torch, "tensorflow": Tensorflow, "paddle": Paddle, "jax": Jax,
    "octave": Octave,
}  # fmt: skip


def extremes(dtype: str) -> tuple[int, int]:
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def integers(rng: random.Random, dtype: str) -> list[int]:
    least, most = extremes(dtype)
    kind = rng.random()
    if kind < 0.6:
        step = rng.choice([1, 2, 3, 5, 7, -1, -2, -3])
        start = rng.randint(-100, 100)
        stop = start + step * rng.randint(-2, 60) + rng.randint(-2, 2)
    elif kind < 0.8:
        step = rng.randint(1, 4) * rng.choice([1, -1])
        end = rng.choice([least, most])
        start, stop = end - step * rng.randint(0, 20), end - rng.choice([0, step])
    else:
        start, stop = rng.randint(least, most), rng.randint(least, most)
        step = (stop - start) // rng.randint(1, 40) + rng.randint(-1, 1)
        step = step or rng.choice([0, 1, 1, 1, 1])
    return [min(max(x, least), most) for x in (start, stop, step)]


def floats(rng: random.Random, dtype: str) -> list[float]:
    scale = 10.0 ** rng.choice([0, 0, 0, 0, 1, 2, -2, 4])
    step = rng.choice([rng.randint(1, 99) / 10 ** rng.randint(0, 3), rng.uniform(0, 3), 1 / rng.randint(1, 60)])
    step *= scale * rng.choice([1, 1, 1, -1])
    start = scale * rng.choice([0.0, -0.0, rng.randint(-50, 50), rng.uniform(-50, 50), rng.randint(-500, 500) / 10])
    n = rng.randint(-1, 300) if rng.random() < 0.9 else rng.randint(300, 3000)
    stop = start + n * step + rng.choice([0, 0, step / 2, rng.uniform(-1, 1) * step])
    values = [start, stop, step]
    if rng.random() < 0.04:
        special = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1e30, -1e30, 1e-40]
        values[rng.randrange(3)] = rng.choice(special)
    with np.errstate(all="ignore"):
        return [float(typed(dtype, x)) for x in values]


def call(rng: random.Random, peer: type[Peer], function: str) -> dict:
    dtype = rng.choice(peer.types)
    if function == "range":
        given = dtype if not peer.mixed or rng.random() < 0.6 else rng.choice(peer.types)
        values = integers(rng, given) if given in INTEGERS else floats(rng, given)
        return {"given": given, "dtype": dtype, "arguments": values}
    small = function == "logspace"
    bound = 12 if small else 1000
    ends = [rng.choice([rng.randint(-bound, bound), rng.uniform(-bound, bound), rng.randint(-99, 99) / 10]) for _ in "ab"]
    if function == "geomspace":
        # Ends of one sign, far apart or near; some of both, and zeros.
        scale, sign = 10.0 ** rng.randint(-6, 6), rng.choice([1, 1, 1, -1])
        ends = [end if rng.random() < 0.05 else sign * abs(end) * rng.choice([1, 1, scale]) for end in ends]
    made = {"dtype": dtype, "arguments": ends, "num": rng.choice([0, 1, 2, 3, rng.randint(0, 20), rng.randint(0, 300)])}
    made["endpoint"] = not peer.endpoint or rng.random() < 0.8
    if small:
        made["base"] = rng.choice([10.0, 10.0, 2.0, math.e, 0.5, 1.5, 3.0, rng.uniform(0.1, 20)])
    return made


def answer(peer: Peer, function: str, made: dict) -> dict:
    """What the program returns."""
    arguments = dict(made)
    values = arguments.pop("arguments")
    with np.errstate(all="ignore"):
        try:
            array = np.ascontiguousarray(getattr(peer, function)(*values, **arguments))
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}".split("\n")[0][:200]}
    some = array if array.size <= 2 * SHOWN else np.concatenate([array[:SHOWN], array[-SHOWN:]])
    return {"len": array.size, "bytes": some.tobytes().hex()}


def work(profile: str, calls: list[tuple[str, dict]], start: int, answers) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Output of a package is no answer.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    peer = PEERS[profile]()
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    for i in range(start, len(calls)):
        answers.send((i, answer(peer, *calls[i])))
    answers.send((len(calls), None))


def run(profile: str, calls: list[tuple[str, dict]]):
    """Answers to the calls, in their order; where the process dies, another goes on.

    What is not a division by zero counts as the call's only if another process dies of the call too.
    """
    context = multiprocessing.get_context("spawn")
    i, suspect = 0, None
    while i < len(calls):
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=work, args=(profile, calls, i, sender))
        process.start()
        sender.close()
        try:
            while True:
                i, result = receiver.recv()
                if result is None:
                    break
                yield calls[i], result
                i += 1
        except EOFError:
            process.join()
            if process.exitcode >= 0:
                raise SystemExit(f"peers.py: {profile} ended by itself with {process.exitcode}") from None
            if process.exitcode == -signal.SIGFPE or suspect == i:
                yield calls[i], {"signal": -process.exitcode}
                i += 1
            suspect = i
        process.join()


def shown(value) -> str:
    return repr(float(value)) if isinstance(value, float) else str(value)


def main() -> None:
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    installed = [name for name, peer in PEERS.items() if peer.is_installed()]
    wanted = sys.argv[3].split(",") if len(sys.argv) > 3 else installed
    for profile in wanted:
        if profile not in installed:
            raise SystemExit(f"peers.py: {profile} is not installed; installed are {', '.join(installed)}")
        if profile == "openvino-cpu" and not has_avx512():
            print("peers.py: openvino-cpu needs AVX-512, which this processor lacks: it is not called", file=sys.stderr)
            continue
        rng = random.Random(f"{seed} {profile}")
        peer = PEERS[profile]
        calls = [(function, call(rng, peer, function)) for function in peer.functions for _ in range(count)]
        for (function, made), result in run(profile, calls):
            line = {"profile": profile, "function": function} | made
            line["arguments"] = [shown(x) for x in made["arguments"]]
            if "base" in made:
                line["base"] = shown(made["base"])
            print(json.dumps(line | result), flush=True)


if __name__ == "__main__":
    main()
