"""Audits operators of ONNX in runtimes: what changes the bits of a model of one node.

    python conformance/audits.py [--only REGEX] [--with onnxruntime,openvino] [--seconds N] [--write]

Each model has an open number of rows, and sizes beyond the tiles of kernels. `gradus.audit` runs it in pairs that should have the same
bits. The table has the invariances that differ, for each operator, runtime and processor; `--write` records those of this processor in
`conformance/recorded/audits.json`, and puts all into `docs/audited.md`, with versions. After `--seconds`, no other model is begun: those
that are most likely to differ come first.
"""

import argparse
import importlib.metadata
import json
import pathlib
import re
import tempfile
import time

import numpy as np
import onnx
from onnx import helper, numpy_helper

import gradus

PAGE = pathlib.Path(__file__).parents[1] / "docs/audited.md"
RECORDED = pathlib.Path(__file__).parent / "recorded/audits.json"
ROWS = 9
SETS = (("", 23), ("com.microsoft", 1), ("ai.onnx.ml", 3))
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
    """The models: a name, the operator, inputs as shapes, types with shapes or constants, attributes, and the number of outputs."""
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
    yield "DynamicQuantizeLinear", "DynamicQuantizeLinear", [["batch", 65]], {}, 3
    yield "Det", "Det", [["batch", 13, 13]], {}, 1
    for operator in UNARY:
        yield operator, operator, [["batch", 67]], {}, 1
    for operator in BINARY:
        attributes = {"fmod": 1} if operator == "Mod" else {}
        yield operator, operator, [["batch", 67], ["batch", 67]], attributes, 1
    yield from moved()
    yield from quantized()
    yield from of_runtimes()


def moved():
    """Operators that compare, choose and move elements."""
    flat, image, ends = ["batch", 67], ["batch", 12, 9, 11], lambda *numbers: np.array(numbers, i64)
    for operator in "Equal GreaterOrEqual LessOrEqual".split():
        yield operator, operator, [flat, flat], {}, 1
    for operator in "And Or Xor".split():
        yield operator, operator, [("bool", flat), ("bool", flat)], {}, 1
    for operator in "BitwiseAnd BitwiseOr BitwiseXor".split():
        yield operator, operator, [("int32", flat), ("int32", flat)], {}, 1
    yield "Not", "Not", [("bool", flat)], {}, 1
    yield "BitwiseNot", "BitwiseNot", [("int32", flat)], {}, 1
    yield "BitShift", "BitShift", [("uint32", flat), ("uint32", flat)], {"direction": "LEFT"}, 1
    yield "IsInf", "IsInf", [flat], {}, 1
    yield "Where", "Where", [("bool", flat), flat, flat], {}, 1
    yield "Clip", "Clip", [flat, np.array(-0.5, f32), np.array(0.5, f32)], {}, 1
    yield "Cast", "Cast", [flat], {"to": onnx.TensorProto.FLOAT16}, 1
    yield "CastLike", "CastLike", [flat, np.array(1, np.int32)], {}, 1
    yield "ArgMin", "ArgMin", [flat], {"axis": 1}, 1
    yield "ReduceMean", "ReduceMean", [["batch", 1037], ends(1)], {}, 1
    yield "ReduceMean, axis in the middle", "ReduceMean", [["batch", 211, 5], ends(1)], {}, 1
    yield "DepthToSpace", "DepthToSpace", [image], {"blocksize": 2}, 1
    yield "SpaceToDepth", "SpaceToDepth", [["batch", 3, 8, 12]], {"blocksize": 2}, 1
    yield "Slice", "Slice", [flat, ends(3), ends(60), ends(1), ends(4)], {}, 1
    yield "Split", "Split", [flat, ends(30, 37)], {"axis": 1}, 2
    yield "Unsqueeze", "Unsqueeze", [flat, ends(1)], {}, 1
    yield "Squeeze", "Squeeze", [["batch", 1, 67], ends(1)], {}, 1
    yield "Reshape", "Reshape", [["batch", 12, 5], ends(0, -1)], {}, 1
    yield "Flatten", "Flatten", [image], {}, 1
    yield "Expand", "Expand", [["batch", 1, 67], ends(1, 3, 1)], {}, 1
    yield "Tile", "Tile", [flat, ends(1, 3)], {}, 1
    yield "Pad", "Pad", [flat, ends(0, 2, 0, 3)], {"mode": "reflect"}, 1
    yield "Gather", "Gather", [flat, ends(5, 0, 66)], {"axis": 1}, 1
    yield "GatherElements", "GatherElements", [flat, ("int64", ["batch", 5])], {"axis": 1}, 1
    yield "GatherND", "GatherND", [["batch", 9, 7], ("int64", ["batch", 5, 1])], {"batch_dims": 1}, 1
    yield "ScatterElements", "ScatterElements", [flat, ("int64", ["batch", 5]), ["batch", 5]], {"axis": 1}, 1
    yield "OneHot", "OneHot", [("int64", ["batch"]), np.array(7, i64), np.array([0, 1], f32)], {}, 1
    yield "Trilu", "Trilu", [["batch", 9, 9]], {}, 1
    yield "CenterCropPad", "CenterCropPad", [flat, ends(40)], {"axes": [1]}, 1
    yield "Col2Im", "Col2Im", [["batch", 27, 36], ends(8, 8), ends(3, 3)], {}, 1
    yield "DFT", "DFT", [["batch", 30, 1], None, np.array(1, i64)], {}, 1
    yield "RotaryEmbedding", "RotaryEmbedding", [["batch", 3, 9, 16], floats(50, 8), floats(50, 8), ("int64", ["batch", 9])], {}, 1
    yield "SoftmaxCrossEntropyLoss", "SoftmaxCrossEntropyLoss", [["batch", 9], ("int64", ["batch"])], {"reduction": "none"}, 1
    yield "NegativeLogLikelihoodLoss", "NegativeLogLikelihoodLoss", [["batch", 9], ("int64", ["batch"])], {"reduction": "none"}, 1


def quantized():
    """Operators of codes."""
    scale, zero, codes = np.array(0.02, f32), np.array(3, np.uint8), np.random.default_rng(1).integers(0, 255, (301, 71), np.uint8)
    yield "DequantizeLinear", "DequantizeLinear", [("uint8", ["batch", 65]), scale, zero], {}, 1
    yield "MatMulInteger", "MatMulInteger", [("uint8", ["batch", 301]), codes, zero, zero], {}, 1
    yield "QLinearMatMul", "QLinearMatMul", [("uint8", ["batch", 301]), scale, zero, codes, scale, zero, np.array(9, f32), zero], {}, 1
    kernel = codes[: 17 * 9].reshape(-1)[: 35 * 17 * 9].reshape(35, 17, 3, 3)
    yield "ConvInteger", "ConvInteger", [("uint8", ["batch", 17, 9, 9]), kernel, zero], {}, 1
    given = [("uint8", ["batch", 17, 9, 9]), scale, zero, kernel, scale, zero, np.array(9, f32), zero]
    yield "QLinearConv", "QLinearConv", given, {}, 1


def of_runtimes():
    """Operators of ONNX Runtime and of classical machine learning."""
    flat, wide = ["batch", 67], ["batch", 9, 64]
    for operator in "Gelu FastGelu QuickGelu".split():
        yield f"com.microsoft.{operator}", operator, [flat], {"domain": "com.microsoft"}, 1
    yield "com.microsoft.BiasGelu", "BiasGelu", [flat, floats(67)], {"domain": "com.microsoft"}, 1
    yield "com.microsoft.FusedMatMul", "FusedMatMul", [["batch", 301], floats(301, 71)], {"domain": "com.microsoft", "alpha": 0.5}, 1
    given = [wide, wide, floats(64), floats(64)]
    yield "com.microsoft.SkipLayerNormalization", "SkipLayerNormalization", given, {"domain": "com.microsoft"}, 1
    yield "com.microsoft.MultiHeadAttention", "MultiHeadAttention", [wide] * 3, {"domain": "com.microsoft", "num_heads": 4}, 1
    given = [wide, floats(64, 192), floats(192)]
    yield "com.microsoft.Attention", "Attention", given, {"domain": "com.microsoft", "num_heads": 4}, 1
    yield "com.microsoft.Inverse", "Inverse", [["batch", 5, 5]], {"domain": "com.microsoft"}, 1
    given = [["batch", 301], np.random.default_rng(1).integers(0, 255, (301, 71), np.uint8), np.array(0.02, f32)]
    yield "com.microsoft.DynamicQuantizeMatMul", "DynamicQuantizeMatMul", given, {"domain": "com.microsoft"}, 1
    given = [["batch", 301], floats(301, 71)]
    yield "com.microsoft.TransposeMatMul", "TransposeMatMul", given, {"domain": "com.microsoft"}, 1
    given = [["batch", 17, 14, 14], floats(35, 17, 3, 3)]
    yield "com.microsoft.FusedConv", "FusedConv", given, {"domain": "com.microsoft", "activation": "Relu"}, 1
    given = [wide, wide, floats(64)]
    yield "com.microsoft.SkipSimplifiedLayerNormalization", "SkipSimplifiedLayerNormalization", given, {"domain": "com.microsoft"}, 1
    learned = {"domain": "ai.onnx.ml"}
    yield "ai.onnx.ml.Binarizer", "Binarizer", [flat], {**learned, "threshold": 0.1}, 1
    classes = {"coefficients": floats(3 * 67).tolist(), "intercepts": [0.1, 0.2, 0.3], "classlabels_ints": [0, 1, 2]}
    yield "ai.onnx.ml.LinearClassifier", "LinearClassifier", [flat], {**learned, **classes, "post_transform": "SOFTMAX"}, 2
    for norm in ("MAX", "L1", "L2"):
        yield f"ai.onnx.ml.Normalizer, {norm}", "Normalizer", [flat], {**learned, "norm": norm}, 1
    yield "ai.onnx.ml.Scaler", "Scaler", [flat], {**learned, "offset": [0.5], "scale": [0.3]}, 1
    coefficients = floats(2 * 67).tolist()
    yield "ai.onnx.ml.LinearRegressor", "LinearRegressor", [flat], {**learned, "coefficients": coefficients, "targets": 2}, 1
    vectors = {"coefficients": floats(9).tolist(), "support_vectors": floats(9 * 67).tolist(), "n_supports": 9, "rho": [0.1]}
    kernel = {"kernel_type": "RBF", "kernel_params": [0.01, 0.0, 3.0]}
    yield "ai.onnx.ml.SVMRegressor", "SVMRegressor", [flat], {**learned, **vectors, **kernel}, 1


def write(path, operator, inputs, attributes, outputs):
    """Writes a model of one node; inputs that are arrays are constants."""
    names = ["" if each is None else f"x{at}" for at, each in enumerate(inputs)]
    given = zip(names, inputs)
    typed = [(name, each if isinstance(each, tuple) else ("float", each)) for name, each in given if isinstance(each, (list, tuple))]
    declared = [
        helper.make_tensor_value_info(name, onnx.TensorProto.DataType.Value(dtype.upper()), dims) for name, (dtype, dims) in typed
    ]
    constants = [numpy_helper.from_array(each, name) for name, each in zip(names, inputs) if isinstance(each, np.ndarray)]
    results = [onnx.ValueInfoProto(name=f"y{at}") for at in range(outputs)]
    node = helper.make_node(operator, names, [result.name for result in results], **attributes)
    graph = helper.make_graph([node], "audited", declared, results, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid(*of) for of in SETS], ir_version=11)
    onnx.save(onnx.shape_inference.infer_shapes(model), path)


def audited(path, runtime):
    """The invariances that differ, with the largest difference; of a model that the runtime refuses, that it does."""
    try:
        report = gradus.audit(path, runtime, rows=ROWS, runs=1, batch="batch")
    except gradus.GradusError:
        return "not run"
    found = []
    for check in report.checks:
        if check.status in ("differs", "unsteady"):
            ulps = [output.ulps for output in check.outputs if output.differing]
            largest = f" ({max(ulps)} ulp)" if ulps and None not in ulps else ""
            found.append(f"{check.name}{largest}" if check.status == "differs" else f"{check.name}?")
    return ", ".join(found)


def processor():
    """The name of the processor."""
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0]}, {len(names)} threads" if names else "an unknown processor"


def page(recorded):
    """The page about all that is recorded."""
    columns = [(name, runtime) for name, of in recorded.items() for runtime in of["versions"]]
    names = list(dict.fromkeys(name for of in recorded.values() for name in of["models"]))

    def cell(model, name, runtime):
        return recorded[name]["models"].get(model, {}).get(runtime, "not audited").replace("|", "/")

    rows = {model: [cell(model, *column) for column in columns] for model in names}
    kept = sorted(model for model, cells in rows.items() if set(cells) <= {"", "not audited", "not run"})
    heads = [f"{runtime} {recorded[name]['versions'][runtime]}, {name}" for name, runtime in columns]
    lines = [
        "# Operators whose bits depend on their surroundings",
        "",
        f"Models of one node, audited with up to {ROWS} rows. A cell has the [invariances](how-to/audit.md) that differ, with the largest",
        "difference of the first pair. Only differences of which the exact result has none count. `conformance/audits.py --write` adds the",
        "processor that it runs on.",
        "",
        *(f"{at + 1}. {head}: {sum(cells[at] != 'not audited' for cells in rows.values())} models" for at, head in enumerate(heads)),
        "",
        f"{len(kept)} of {len(rows)} models keep all invariances that apply, wherever they were audited and run: {'; '.join(kept)}.",
        "",
        f"| model | {' | '.join(f'{runtime} ({at + 1})' for at, (_, runtime) in enumerate(columns))} |",
        f"|---|{'---|' * len(columns)}",
        *(f"| {model} | {' | '.join(cells)} |" for model, cells in rows.items() if model not in kept),
        "",
    ]
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
            found[name] = {runtime: audited(path, runtime) for runtime in runtimes}
            print(f"{name}: {' | '.join(found[name].values())}", flush=True)
    if arguments.write:
        recorded = json.loads(RECORDED.read_text())
        versions = {name: importlib.metadata.version(name) for name in runtimes}
        recorded[processor()] = {"versions": versions, "models": found}
        RECORDED.write_text(json.dumps(recorded, indent=1) + "\n")
        PAGE.write_text(page(recorded))


if __name__ == "__main__":
    main()
