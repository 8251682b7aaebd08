"""Audits operators of ONNX in runtimes: what changes the bits of a model of one node.

    python conformance/audits.py [--only REGEX] [--with onnxruntime,openvino] [--seconds N] [--write]

Each model has an open number of rows, and sizes beyond the tiles of kernels. `gradus.audit` runs it in pairs that should have the same
bits. The table has the invariances that differ, for each operator and runtime; `--write` puts it into `docs/audited.md`, with versions.
After `--seconds`, no other model is begun: those that are most likely to differ come first.
"""

import argparse
import importlib.metadata
import pathlib
import re
import tempfile
import time

import numpy as np
import onnx
from onnx import helper, numpy_helper

import gradus

PAGE = pathlib.Path(__file__).parents[1] / "docs/audited.md"
ROWS = 9
f32, i64 = np.float32, np.int64

UNARY = (
    "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Celu Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid HardSwish Identity IsNaN LeakyRelu Log "
    "Mish Neg Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Tan Tanh ThresholdedRelu"
).split()
BINARY = "Add Div Greater Less Max Mean Min Mod Mul Pow PRelu Sub Sum".split()
REDUCTIONS = "L1 L2 LogSum LogSumExp Max Mean Min Prod Sum SumSquare".split()
ALONG = "Softmax LogSoftmax Hardmax LpNormalization".split()


def floats(*shape):
    """Constants of a model, which are the same in every run."""
    return np.random.default_rng(np.prod(shape)).standard_normal(shape).astype(f32)


def models():
    """The models: a name, the operator, shapes of inputs or constants, attributes, and the number of outputs."""
    for operator in REDUCTIONS:
        yield f"Reduce{operator}", f"Reduce{operator}", [["batch", 1037], np.array([1], i64)], {}, 1
        yield f"Reduce{operator}, axis in the middle", f"Reduce{operator}", [["batch", 211, 5], np.array([1], i64)], {}, 1
    for operator in ALONG:
        yield operator, operator, [["batch", 519]], {"axis": 1}, 1
    yield "CumSum", "CumSum", [["batch", 333], np.array(1, i64)], {}, 1
    yield "MatMul, constant", "MatMul", [["batch", 301], floats(301, 71)], {}, 1
    yield "MatMul, one column", "MatMul", [["batch", 301], floats(301, 1)], {}, 1
    yield "MatMul, 3 axes", "MatMul", [["batch", 9, 301], floats(301, 71)], {}, 1
    yield "MatMul, two inputs", "MatMul", [["batch", 9, 65], ["batch", 65, 17]], {}, 1
    yield "Gemm", "Gemm", [["batch", 301], floats(71, 301), floats(71)], {"transB": 1}, 1
    yield "Einsum", "Einsum", [["batch", 9, 65], floats(65, 17)], {"equation": "bij,jk->bik"}, 1
    yield "Conv, 1x1", "Conv", [["batch", 67, 9, 9], floats(35, 67, 1, 1)], {}, 1
    yield "Conv, 3x3", "Conv", [["batch", 17, 14, 14], floats(35, 17, 3, 3)], {"pads": [1] * 4}, 1
    yield "Conv, depthwise", "Conv", [["batch", 32, 14, 14], floats(32, 1, 3, 3)], {"group": 32}, 1
    yield "Conv, 1 axis", "Conv", [["batch", 17, 40], floats(35, 17, 5)], {}, 1
    yield "ConvTranspose", "ConvTranspose", [["batch", 17, 9, 9], floats(17, 11, 3, 3)], {"strides": [2, 2]}, 1
    for operator in ("AveragePool", "MaxPool"):
        yield operator, operator, [["batch", 17, 15, 15]], {"kernel_shape": [3, 3], "strides": [2, 2]}, 1
    yield "LpPool", "LpPool", [["batch", 17, 15, 15]], {"kernel_shape": [3, 3]}, 1
    yield "GlobalAveragePool", "GlobalAveragePool", [["batch", 17, 15, 15]], {}, 1
    yield "GlobalMaxPool", "GlobalMaxPool", [["batch", 17, 15, 15]], {}, 1
    four = [floats(17), floats(17), floats(17), np.abs(floats(17))]
    yield "BatchNormalization", "BatchNormalization", [["batch", 17, 9, 9], *four], {}, 1
    yield "InstanceNormalization", "InstanceNormalization", [["batch", 17, 15, 15], floats(17), floats(17)], {}, 1
    yield "GroupNormalization", "GroupNormalization", [["batch", 18, 9, 9], floats(18), floats(18)], {"num_groups": 3}, 1
    yield "LayerNormalization", "LayerNormalization", [["batch", 519], floats(519), floats(519)], {}, 1
    yield "RMSNormalization", "RMSNormalization", [["batch", 519], floats(519)], {}, 1
    yield "LRN", "LRN", [["batch", 17, 9, 9]], {"size": 5}, 1
    yield "MeanVarianceNormalization", "MeanVarianceNormalization", [["batch", 17, 9, 9]], {"axes": [1, 2, 3]}, 1
    for operator, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        weights = [floats(1, gates * 33, 65), floats(1, gates * 33, 33)]
        yield operator, operator, [[7, "batch", 65], *weights], {"hidden_size": 33}, 2
    qkv = [["batch", 3, 19, 32]] * 3
    yield "Attention", "Attention", qkv, {}, 1
    for mode in ("nearest", "linear", "cubic"):
        scales = np.array([1, 1, 1.7, 2.3], f32)
        yield f"Resize, {mode}", "Resize", [["batch", 3, 13, 11], None, scales], {"mode": mode}, 1
    yield "GridSample", "GridSample", [["batch", 3, 13, 11], ["batch", 7, 9, 2]], {}, 1
    yield "Transpose", "Transpose", [["batch", 9, 65]], {"perm": [0, 2, 1]}, 1
    yield "Concat", "Concat", [["batch", 9], ["batch", 65]], {"axis": 1}, 1
    yield "TopK", "TopK", [["batch", 65], np.array([7], i64)], {}, 2
    yield "ArgMax", "ArgMax", [["batch", 65]], {"axis": 1}, 1
    yield "QuantizeLinear", "QuantizeLinear", [["batch", 65], np.array(0.02, f32), np.array(128, np.uint8)], {}, 1
    yield "DynamicQuantizeLinear", "DynamicQuantizeLinear", [["batch", 65]], {}, 1
    yield "Det", "Det", [["batch", 13, 13]], {}, 1
    for operator in UNARY:
        yield operator, operator, [["batch", 67]], {}, 1
    for operator in BINARY:
        attributes = {"fmod": 1} if operator == "Mod" else {}
        yield operator, operator, [["batch", 67], ["batch", 67]], attributes, 1


def write(path, operator, inputs, attributes, outputs):
    """Writes a model of one node; inputs that are arrays are constants."""
    names = ["" if each is None else f"x{at}" for at, each in enumerate(inputs)]
    given = zip(names, inputs)
    declared = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, each) for name, each in given if isinstance(each, list)
    ]
    constants = [numpy_helper.from_array(each, name) for name, each in zip(names, inputs) if isinstance(each, np.ndarray)]
    results = [onnx.ValueInfoProto(name=f"y{at}") for at in range(outputs)]
    node = helper.make_node(operator, names, [result.name for result in results], **attributes)
    graph = helper.make_graph([node], "audited", declared, results, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)
    onnx.save(onnx.shape_inference.infer_shapes(model), path)


def audited(path, runtime):
    """The invariances that differ, with the largest difference, or why there is no audit."""
    try:
        report = gradus.audit(path, runtime, rows=ROWS, runs=1, batch="batch")
    except gradus.GradusError as error:
        return None, error.message.splitlines()[0]
    found = []
    for check in report.checks:
        if check.status in ("differs", "unsteady"):
            ulps = [output.ulps for output in check.outputs if output.differing]
            largest = f" ({max(ulps)} ulp)" if ulps and None not in ulps else ""
            found.append(f"{check.name}{largest}" if check.status == "differs" else f"{check.name}?")
    return report, ", ".join(found)


def processor():
    """The name of the processor."""
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0]}, {len(names)} threads" if names else "an unknown processor"


def page(runtimes, found):
    """The page about these results."""
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in runtimes)
    kept = {name for name, row in found.items() if not any(text for _, text in row)}
    lines = [
        "# Operators whose bits depend on their surroundings",
        "",
        f"Models of one node, audited in {versions} on {processor()}, with up to {ROWS} rows. A cell has the",
        "[invariances](how-to/audit.md) that differ, with the largest difference of the first pair. Only differences of which the exact result",
        "has none count. `conformance/audits.py --write` makes this page.",
        "",
        f"{len(kept)} of {len(found)} models keep all invariances that apply: {'; '.join(sorted(kept))}.",
        "",
        f"| model | {' | '.join(runtimes)} |",
        f"|---|{'---|' * len(runtimes)}",
    ]
    for name, row in found.items():
        if name not in kept:
            cells = [text if report is not None else f"not run: {text}" for report, text in row]
            lines.append(f"| {name} | {' | '.join(cell.replace('|', '/') for cell in cells)} |")
    lines.append("")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--with", dest="runtimes", default="onnxruntime,openvino")
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    runtimes = arguments.runtimes.split(",")
    found, end = {}, time.monotonic() + arguments.seconds
    with tempfile.TemporaryDirectory() as folder:
        for name, operator, inputs, attributes, outputs in models():
            if not re.search(arguments.only, name) or time.monotonic() > end:
                continue
            path = pathlib.Path(folder) / f"{len(found)}.onnx"
            write(path, operator, inputs, attributes, outputs)
            found[name] = [audited(path, runtime) for runtime in runtimes]
            print(f"{name}: {' | '.join(text for _, text in found[name])}", flush=True)
    if arguments.write:
        PAGE.write_text(page(runtimes, found))


if __name__ == "__main__":
    main()
