"""Whole models in Gradus beside ONNX Runtime, OpenVINO and the `onnx` reference, in turns, in one run.

    cargo xtask wheel
    python -m venv target/venv-run
    target/venv-run/bin/pip install numpy onnx onnxruntime openvino target/wheels/*.whl
    target/venv-run/bin/python bench/run.py [--threads 1,2] [--rounds 5] [--models bert,…] [--reference] [--json FILE]

Models have random weights and a few layers of the real widths: ResNet-50, MobileNet-v2, YOLO-v8, BERT-base and GPT-2. Each
program runs in a process of its own, which loads the model, runs it once, and says its peak memory; then the processes take
turns of three runs, with pauses between. Times are medians; where other work runs beside it, the ratio of the times of
processors says more. The runtimes add in float32; Gradus adds in float64, and rounds once, or in float32 in its
own order (`accumulate="float32"`).

--reference adds the evaluator of the `onnx` package, which takes long.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAMS = ["gradus", "gradus float32", "onnxruntime", "openvino"]
PAUSE = 0.1  # seconds before a turn: threads of the program before it may still wait for work in a loop
RUNS = 3  # in a turn, as the first run after a pause finds threads asleep
OPSET, IR_VERSION = 17, 8


class Builder:
    """An ONNX model that is written node by node."""

    def __init__(self):
        import numpy

        self.nodes, self.weights, self.random = [], [], numpy.random.default_rng(0)

    def weight(self, *dims, scale=0.05):
        return self.constant(self.random.standard_normal(dims, dtype="float32") * scale)

    def constant(self, array):
        import numpy
        from onnx import numpy_helper

        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(numpy.asarray(array), name))
        return name

    def add(self, operator, *inputs, outputs=1, **attributes):
        from onnx import helper

        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(operator, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def conv(self, x, channels, filters, kernel=1, stride=1, group=1, activation="Relu"):
        weight = self.weight(filters, channels // group, kernel, kernel)
        pad = [kernel // 2] * 4
        shape = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": pad, "group": group}
        y = self.add("Conv", x, weight, self.weight(filters), **shape)
        if activation == "Clip":
            return self.add("Clip", y, self.constant(self.zero), self.constant(self.zero + 6))
        if activation == "Silu":
            return self.add("Mul", y, self.add("Sigmoid", y))
        return self.add(activation, y) if activation else y

    @property
    def zero(self):
        import numpy

        return numpy.float32(0)

    def model(self, inputs, output):
        from onnx import helper

        declared = [helper.make_tensor_value_info(name, dtype, dims) for name, dtype, dims in inputs]
        graph = helper.make_graph(
            self.nodes, "model", declared, [helper.make_tensor_value_info(output, 1, None)], self.weights
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)


def resnet():
    """The first block of each stage of ResNet-50, and the head."""
    of = Builder()
    x = of.conv("x", 3, 64, 7, 2)
    x = of.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = 64
    for width, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        y = of.conv(x, channels, width)
        y = of.conv(y, width, width, 3, stride)
        y = of.conv(y, width, 4 * width, activation=None)
        x = of.add("Relu", of.add("Add", y, of.conv(x, channels, 4 * width, 1, stride, activation=None)))
        channels = 4 * width
    x = of.add("Flatten", of.add("GlobalAveragePool", x))
    return of.model([("x", 1, [1, 3, 224, 224])], of.add("Gemm", x, of.weight(2048, 1000), of.weight(1000)))


def mobilenet():
    """Inverted residuals of MobileNet-v2, one of each width."""
    of = Builder()
    x, channels = of.conv("x", 3, 32, 3, 2, activation="Clip"), 32
    for width, stride in ((16, 1), (24, 2), (32, 2), (64, 2), (96, 1), (160, 2), (320, 1)):
        wide = 6 * channels
        y = of.conv(x, channels, wide, activation="Clip")
        y = of.conv(y, wide, wide, 3, stride, group=wide, activation="Clip")
        x, channels = of.conv(y, wide, width, activation=None), width
    x = of.add("Flatten", of.add("GlobalAveragePool", of.conv(x, channels, 1280, activation="Clip")))
    return of.model([("x", 1, [1, 3, 224, 224])], of.add("Gemm", x, of.weight(1280, 1000), of.weight(1000)))


def yolo():
    """A backbone of YOLO-v8-n, its pyramid pooling, and a step up with a concatenation."""
    of = Builder()
    x, channels, kept = "x", 3, []
    for width in (16, 32, 64, 128, 256):
        x, channels = of.conv(x, channels, width, 3, 2, activation="Silu"), width
        if width > 16:
            x = of.conv(x, width, width, activation="Silu")
            a, b = of.add("Split", x, outputs=2, axis=1)
            half = width // 2
            c = of.conv(of.conv(b, half, half, 3, activation="Silu"), half, half, 3, activation="Silu")
            x = of.add("Concat", a, b, of.add("Add", b, c), axis=1)
            x = of.conv(x, 3 * half, width, activation="Silu")
        kept.append(x)
    y = of.conv(x, 256, 128, activation="Silu")
    pools = [y]
    for _ in range(3):
        pools.append(of.add("MaxPool", pools[-1], kernel_shape=[5, 5], strides=[1, 1], pads=[2, 2, 2, 2]))
    x = of.conv(of.add("Concat", *pools, axis=1), 512, 256, activation="Silu")
    import numpy

    scales = of.constant(numpy.float32([1, 1, 2, 2]))
    x = of.add("Resize", x, "", scales, mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric")
    x = of.conv(of.add("Concat", x, kept[3], axis=1), 384, 128, activation="Silu")
    return of.model([("x", 1, [1, 3, 320, 320])], of.conv(x, 128, 84, activation="Sigmoid"))


def layer_norm(of, x, width):
    import numpy

    centered = of.add("Sub", x, of.add("ReduceMean", x, axes=[-1]))
    variance = of.add("ReduceMean", of.add("Mul", centered, centered), axes=[-1])
    deviation = of.add("Sqrt", of.add("Add", variance, of.constant(numpy.float32(1e-5))))
    y = of.add("Mul", of.add("Div", centered, deviation), of.weight(width, scale=1))
    return of.add("Add", y, of.weight(width))


def transformer(of, x, width, heads, gelu, mask=None):
    """A layer, as exporters write it."""
    import numpy

    scalar = lambda number: of.constant(numpy.float32(number))  # noqa: E731
    dense = lambda x, rows, columns: of.add(  # noqa: E731
        "Add", of.add("MatMul", x, of.weight(rows, columns)), of.weight(columns)
    )
    split, joined = of.constant(numpy.int64([0, 0, heads, width // heads])), of.constant(numpy.int64([0, 0, width]))
    turned = lambda x, perm: of.add("Transpose", of.add("Reshape", x, split), perm=perm)  # noqa: E731
    q, k, v = (turned(dense(x, width, width), perm) for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
    scores = of.add("Div", of.add("MatMul", q, k), scalar((width / heads) ** 0.5))
    if mask is not None:
        scores = of.add("Where", mask, scores, scalar(-1e9))
    y = of.add("MatMul", of.add("Softmax", scores, axis=-1), v)
    y = of.add("Reshape", of.add("Transpose", y, perm=[0, 2, 1, 3]), joined)
    x = layer_norm(of, of.add("Add", x, dense(y, width, width)), width)
    y = gelu(dense(x, width, 4 * width), scalar)
    return layer_norm(of, of.add("Add", x, dense(y, 4 * width, width)), width)


def bert():
    """Two layers of BERT-base at 128 tokens."""
    of, width = Builder(), 768
    erf = lambda x, scalar: of.add(  # noqa: E731
        "Mul",
        of.add("Mul", x, scalar(0.5)),
        of.add("Add", of.add("Erf", of.add("Div", x, scalar(2**0.5))), scalar(1)),
    )
    x = of.add("Gather", of.weight(30522, width, scale=1), "tokens")
    x = layer_norm(of, of.add("Add", x, of.weight(1, 128, width, scale=1)), width)
    for _ in range(2):
        x = transformer(of, x, width, 12, erf)
    return of.model([("tokens", 7, [1, 128])], x)


def gpt2():
    """Two layers of GPT-2 at 64 tokens, and the logits of the last one."""
    import numpy

    of, width, tokens = Builder(), 768, 64
    tanh = lambda x, scalar: of.add(  # noqa: E731
        "Mul",
        of.add("Mul", x, scalar(0.5)),
        of.add(
            "Add",
            of.add(
                "Tanh",
                of.add(
                    "Mul",
                    of.add("Add", x, of.add("Mul", of.add("Mul", of.add("Mul", x, x), x), scalar(0.044715))),
                    scalar((2 / numpy.pi) ** 0.5),
                ),
            ),
            scalar(1),
        ),
    )
    x = of.add("Gather", of.weight(50257, width, scale=1), "tokens")
    x = of.add("Add", x, of.weight(1, tokens, width, scale=1))
    mask = of.constant(numpy.tril(numpy.ones((1, 1, tokens, tokens), bool)))
    for _ in range(2):
        x = transformer(of, x, width, 12, tanh, mask)
    last = of.add("Gather", x, of.constant(numpy.int64([tokens - 1])), axis=1)
    return of.model([("tokens", 7, [1, tokens])], of.add("MatMul", last, of.weight(width, 50257)))


MODELS = {"resnet": resnet, "mobilenet": mobilenet, "yolo": yolo, "bert": bert, "gpt2": gpt2}


def save_inputs(model, path):
    """Writes random inputs beside a model: the processes that run it do not load it by another way."""
    import numpy
    import onnx

    random, inputs = numpy.random.default_rng(1), {}
    for value in model.graph.input:
        dims = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        tokens = value.type.tensor_type.elem_type == onnx.TensorProto.INT64
        inputs[value.name] = random.integers(0, 30000, dims) if tokens else random.random(dims, dtype="float32")
    numpy.savez(f"{path}.npz", **inputs)


def runner(program, path, threads):
    """A function that runs a model in a program."""
    if program in ("gradus", "gradus float32"):
        os.environ["RAYON_NUM_THREADS"] = str(threads)
        import gradus

        model = gradus.load(path)
        accumulate = "float32" if "float32" in program else "float64"
        return lambda inputs: model.run(inputs, accumulate=accumulate)
    if program == "onnxruntime":
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        return lambda inputs: session.run(None, inputs)
    if program == "openvino":
        import openvino

        config = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32"}
        compiled = openvino.Core().compile_model(path, "CPU", config)
        return lambda inputs: compiled(inputs)
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(path)
    return lambda inputs: evaluator.run(None, inputs)


def serve(program, path, threads):
    """Takes a turn for each line that is read, and writes the median seconds and the peak memory in bytes."""
    import numpy

    inputs = dict(numpy.load(f"{path}.npz"))
    run = runner(program, path, threads)
    run(inputs)
    for _ in sys.stdin:
        taken = [statistics.median(times) for times in zip(*(timed(run, inputs) for _ in range(RUNS)))]
        # The peak of this process alone: `getrusage` includes that of the process it was made from.
        status = pathlib.Path("/proc/self/status").read_text().splitlines()
        peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
        print(json.dumps([*taken, peak]), flush=True)


def timed(run, inputs):
    """Seconds that a run takes, and seconds of all processors."""
    start = time.perf_counter(), time.process_time()
    run(inputs)
    return time.perf_counter() - start[0], time.process_time() - start[1]


def measure(path, programs, threads, rounds):
    """Median seconds, and peak bytes, of each program."""
    command = [sys.executable, __file__, "--serve", "--path", path, "--threads", str(threads)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = {program: subprocess.Popen([*command, "--program", program], **pipes) for program in programs}
    taken = {program: [] for program in programs}
    try:
        for _ in range(rounds):
            for program, process in processes.items():
                time.sleep(PAUSE)
                process.stdin.write("\n")
                process.stdin.flush()
                if line := process.stdout.readline():
                    taken[program].append(json.loads(line))
    finally:
        for process in processes.values():
            process.stdin.close()
            process.wait()
    return {
        program: {
            "seconds": statistics.median(each[0] for each in all),
            "cpu": statistics.median(each[1] for each in all),
            "bytes": all[-1][2],
        }
        for program, all in taken.items()
        if all
    }


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--reference", action="store_true", help="and the evaluator of the `onnx` package")
    parser.add_argument("--json", type=pathlib.Path, help="write the measurements there")
    parser.add_argument("--keep", type=pathlib.Path, help="write the models into that folder, and run none")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--program", help=argparse.SUPPRESS)
    parser.add_argument("--path", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        return serve(arguments.program, arguments.path, int(arguments.threads))
    import onnx

    programs = [program for program in PROGRAMS if importlib.util.find_spec(program.split()[0])]
    programs += ["onnx"] if arguments.reference else []
    measured = {}
    with tempfile.TemporaryDirectory(prefix="gradus-bench-") as folder:
        folder = arguments.keep or pathlib.Path(folder)
        for name in arguments.models.split(","):
            path = str(folder / f"{name}.onnx")
            model = MODELS[name]()
            onnx.save(model, path)
            save_inputs(model, path)
            del model
            for threads in map(int, arguments.threads.split(",") if not arguments.keep else []):
                measured[f"{name}, {threads}"] = measure(path, programs, threads, arguments.rounds)
    if arguments.keep:
        return None
    print(f"{processor()}; medians of {arguments.rounds} rounds\n")
    own = [program for program in programs if program.startswith("gradus")]
    head = ["model, threads", *(f"{program} ms" for program in programs)]
    head += [f"onnxruntime / {one}{by}" for one in own for by in ("", ", by CPU time")]
    head += [f"{program} MiB" for program in programs]
    print(f"| {' | '.join(head)} |\n| {' | '.join(['---'] * len(head))} |")
    for name, of in measured.items():
        shown = lambda key, scale: [f"{of[one][key] * scale:.1f}" if one in of else "" for one in programs]  # noqa: E731, B023
        both = lambda one: one in of and "onnxruntime" in of  # noqa: E731, B023
        ratio = lambda one, key: f"{of['onnxruntime'][key] / of[one][key]:.2f}" if both(one) else ""  # noqa: E731, B023
        ratios = [ratio(one, key) for one in own for key in ("seconds", "cpu")]
        print(f"| {' | '.join([name, *shown('seconds', 1e3), *ratios, *shown('bytes', 2**-20)])} |")
    if arguments.json:
        arguments.json.write_text(json.dumps(measured, indent=1))
    return None


if __name__ == "__main__":
    main()
