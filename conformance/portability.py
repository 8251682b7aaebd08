"""Models on which programs differ, run in ONNX Runtime, OpenVINO and the reference of the `onnx` package.

    python conformance/portability.py conformance/recorded/portability.json GRADUS

Each case names the rule of `crates/gradus/src/portability/rules.rs` that predicts the difference; a case without a rule is one that a
condition of a rule excludes, and all programs agree on it. A model of an operator of OpenVINO is run by OpenVINO, and by the others as `GRADUS convert` writes it. `crates/gradus/tests/models/portability.rs` holds the rules against the recording.
Every model runs in a process of its own, since some kill it.
"""

import json
import math
import multiprocessing
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
from importlib import metadata

import ml_dtypes
import numpy as np
import onnx
from one_node import one_node
from onnx import TensorProto as T

PROGRAMS = ["onnxruntime", "openvino", "onnx"]
# Rules that ONNX Runtime and OpenVINO follow on processors without VNNI alone.
WITHOUT_VNNI = ["8-bit-products-in-16-bits", "8-bit-quantized-products-in-16-bits"]
NAN, INF = math.nan, math.inf
f16, f32, f64 = np.float16, np.float32, np.float64
i8, i16, i32, i64, u8, u16, u32 = np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32


def model(operator, inputs, attributes, opset, outputs, constants):
    """A model of one node, which stores the inputs of those numbers. OpenVINO compiles no boxes of open sizes."""
    domain = None if onnx.defs.has(operator) else ("ai.onnx.ml", 3)
    # Sizes are open, so that no program computes anything beforehand.
    fixed = operator in ("NonMaxSuppression", "RoiAlign")
    sizes = None if fixed else lambda _, x: [None] * x.ndim
    made, _ = one_node(operator, inputs, attributes, outputs=outputs, opset=opset, domain=domain, constants=constants, sizes=sizes)
    if attributes.get("to") in (T.INT4, T.UINT4):
        # The Python package of ONNX Runtime returns no integers of 4 bits.
        name, made.graph.node[0].output[0] = made.graph.node[0].output[0], "codes"
        made.graph.node.append(onnx.helper.make_node("Cast", ["codes"], [name], to=T.INT32))
        made.graph.output[0].type.tensor_type.elem_type = T.INT32
    return onnx.shape_inference.infer_shapes(made)


def outputs_of(program, of, given):
    if program == "onnxruntime":
        import onnxruntime

        onnxruntime.set_default_logger_severity(4)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(of.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run(None, given)
    if program == "openvino":
        import openvino

        core = openvino.Core()
        source = core.read_model(of.SerializeToString(), getattr(of, "weights", b""))
        compiled = core.compile_model(source, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        result = compiled(given)
        return [result[i] for i in range(len(compiled.outputs))]
    from onnx.reference import ReferenceEvaluator

    return ReferenceEvaluator(of).run(None, given)


def text_of(outputs):
    return "; ".join(f"{x.dtype}{list(x.shape)} {x.ravel().tolist()}" for x in outputs)


def child(pipe, program, of, given):
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    try:
        found = [np.asarray(x) for x in outputs_of(program, of, given)]
        # Other programs return the bits.
        found = [x.view(np.uint8) if x.dtype == ml_dtypes.float8_e4m3fn else x for x in found]
        pipe.send(text_of(found))
    except Exception:
        pipe.send("fails")


def without_vnni(program, of, given):
    """The outputs as text, on the processor that valgrind emulates, which has no VNNI."""
    command = ["valgrind", "--quiet", "--tool=none", sys.executable, __file__, "--one"]
    text = pickle.dumps((program, of.SerializeToString(), given)).hex()
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return done.stdout.splitlines()[-1]


def result(program, of, given):
    """The outputs as text, or that there are none."""
    here, there = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=child, args=(there, program, of, given))
    process.start()
    there.close()
    try:
        text = here.recv() if here.poll(60) else "hangs"
    except EOFError:
        text = "kills the process"
    process.join(5)
    return text


CASES = []


def case(rule, operator, inputs, attributes=None, opset=20, outputs=1, constants=(), computed=(), also=()):
    """Inputs whose numbers are `computed` are not constants of any model of the case; the conditions of the rules `also` hold too."""
    CASES.append((rule, also, operator, inputs, attributes or {}, opset, outputs, constants, computed))


def a(dtype, *elements):
    return np.array(elements, dtype)


def scalar(dtype, element):
    return np.array(element, dtype)


for t in [i32, i64]:
    for operator in ["Div", "Mod"]:
        case("integer-division-by-zero", operator, [a(t, -7, 7), a(t, 0, 0)])
        case(None, operator, [a(t, -7, 7, -7, 7), a(t, 2, -2, -3, 3)], constants=(1,))
for t in [i8, u8]:
    case("division-of-8-bit-integers", "Div", [a(t, 100, 7), a(t, 2, 2)])
    case(None, "Mod", [a(t, 100, 7), a(t, 3, 2)], constants=(1,))
case("division-by-reciprocal", "Div", [a(f32, 7, 0.3), a(f32, 49, 7)])
case("division-by-reciprocal", "Div", [a(f32, 7, 0.3), a(f32, 49)], constants=(1,))
case(None, "Div", [a(f32, 1, 7, 0.3, 100), a(f32, 2, 0.5, 1024, -8)], constants=(1,))
case(None, "Div", [a(f16, 7, 0.3), a(f16, 49, 7)])
for t in [i16, u16]:
    case(None, "Div", [a(t, 100, 7, 200), a(t, 3, 2, 3)], constants=(1,))
for t in [i32, i64, u32]:
    case("integer-division-in-float32", "Div", [a(t, 16777217, 2147483647, 1073741825), a(t, 1, 2, 3)], constants=(1,))
for t in [i32, i64]:
    case("integer-modulus-in-float32", "Mod", [a(t, 16777217, 2147483647, 1073741825), a(t, 2, 2, 3)], constants=(1,))
    # The multiple of the divisor that is subtracted has 25 bits.
    case("integer-modulus-in-float32", "Mod", [a(t, -16377950, -15001401), a(t, 5675633, 6167937)])
    case(None, "Mod", [a(t, 2**23, -(2**23), 1 - 2**23), a(t, -3, 3, 2**23)])
    case("integer-power-in-float32", "Pow", [a(t, 7, 3), a(t, 11, 19)], constants=(1,))
    case("negative-power-of-integers", "Pow", [a(t, 2, 1, -1), a(t, -1, -1, -1)])
    also = ["integer-division-in-float32"]
    case("division-of-the-smallest-integer", "Div", [a(t, np.iinfo(t).min, 1), a(t, -1, 1)], also=also)
    case(None, "Div", [a(t, 1 - 2**24), a(t, -1)])
    case(None, "Abs", [a(t, -16777217)])
    case(None, "Max", [a(t, 16777217), a(t, 16777216)])
    for operator in ["Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"]:
        case("integer-comparison-in-float32", operator, [a(t, 16777217, 16777216), a(t, 16777216, 16777217)])
        case(None, operator, [a(t, 50256, 16777215), a(t, 50257, -16777215)])
    case(None, "Less", [a(t, 2**31 - 1, 16777217), a(t, 16777215, -16777215)])
    case("integer-maximum-in-float32", "ReduceMax", [a(t, 16777217, 3)])
    case("integer-maximum-in-float32", "ReduceMin", [a(t, -16777217, 3)])
    case(None, "ArgMax", [a(t, 16777216, 16777217)])
    case("integer-product-in-float32", "MatMul", [np.array([[4097]], t), np.array([[4097]], t)])
    most = np.iinfo(t).max
    case("integer-reduction-in-float64", "ReduceProd", [a(t, most, 3)])
    case("integer-reduction-in-float64", "ReduceSumSquare", [a(t, most, 1)])
    case("integer-reduction-in-float64", "ReduceMean", [a(t, most, most)], also=["integer-sum-in-float32"])
    case("integer-reduction-in-float64", "ReduceSum", [a(t, most, 5)], also=["integer-sum-in-float32"])
    case("integer-reduction-in-float64", "ReduceL1", [a(t, most, 5)], also=["integer-sum-in-float32"])
    case("integer-sum-in-float32", "ReduceL1", [a(t, 16777216, -1)])
    case("integer-sum-in-float32", "ReduceMean", [a(t, 16777217, 16777217)])
    case(None, "ReduceProd", [a(t, 4097, 4097)])
    case("float64-in-float32", "Cast", [a(t, 16777217)], {"to": T.DOUBLE})
    case(None, "Cast", [a(t, 16777216)], {"to": T.DOUBLE})
case("integer-maximum-in-float32", "Relu", [a(i32, 16777217)])
case("integer-product-in-float32", "MatMulInteger", [np.full((1, 301), 255, u8), np.full((301, 1), 255, u8)])
case("integer-product-in-float32", "MatMulInteger", [np.full((1, 1201), 255, u8), np.full((1201, 1), 63, i8)])
for weight in [127, 65, 64, -64]:
    rule, of_codes = WITHOUT_VNNI if abs(weight) > 64 else (None, None)
    left, right = np.full((1, 8), 255, u8), np.full((8, 1), weight, i8)
    case(rule, "MatMulInteger", [left, right], constants=(1,))
    for operator, x, w in [("QLinearMatMul", left, right), ("QLinearConv", left.reshape(1, 8, 1), right.reshape(1, 8, 1))]:
        scales = [scalar(f32, 0.125), scalar(u8, 0), w, scalar(f32, 0.125), scalar(i8, 0), scalar(f32, 32), scalar(u8, 0)]
        case(of_codes, operator, [x, *scales], constants=tuple(range(1, 8)))
unread = np.array([[NAN, INF]], f32)
case("gemm-without-bias", "Gemm", [np.eye(2, dtype=f32), np.eye(2, dtype=f32), unread], {"beta": 0.0}, constants=(1, 2))
case(None, "Gemm", [np.eye(2, dtype=f32), np.eye(2, dtype=f32), np.ones(2, f32)], {"beta": 0.0}, constants=(1, 2))
case(None, "Gemm", [np.eye(2, dtype=f32), np.eye(2, dtype=f32), unread])
case(None, "MatMulInteger", [np.full((1, 258), 255, u8), np.full((258, 1), 255, u8)])
case("64-bit-integers-in-32-bits", "Add", [a(i64, 2**31 - 1, 1), a(i64, 1, 1)])
case("64-bit-integers-in-32-bits", "Sub", [a(i64, -(2**31), 1), a(i64, 1, 1)])
case("64-bit-integers-in-32-bits", "Mul", [a(i64, 2**20, 1), a(i64, 2**20, 1)])
case("64-bit-integers-in-32-bits", "CumSum", [a(i64, 2**30, 2**30), scalar(i64, 0)], constants=(1,))
large = 5_000_000_000
for operator in ["Abs", "Neg", "BitwiseNot"]:
    case("64-bit-integers-in-32-bits", operator, [a(i64, large, 3)])
case("64-bit-integers-in-32-bits", "BitwiseAnd", [a(i64, large, -1), a(i64, -1, large)])
for operator in ["Max", "Min"]:
    case("64-bit-operands-in-32-bits", operator, [a(i64, large, -large, 2**32 - 1), a(i64, 1, 1, 1)])
for operator in ["Equal", "LessOrEqual", "GreaterOrEqual"]:
    case("64-bit-operands-in-32-bits", operator, [a(i64, 2**32, -(2**32)), a(i64, 0, 0)])
for operator in ["Less", "Greater"]:
    case("64-bit-operands-in-32-bits", operator, [a(i64, 2**31, -(2**32)), a(i64, 0, 0)])
case("64-bit-operands-in-32-bits", "Clip", [a(i64, large), scalar(i64, 4), scalar(i64, large)])
case("64-bit-operands-in-32-bits", "Range", [scalar(i64, large), scalar(i64, large + 3), scalar(i64, 1)])
elements = np.arange(6, dtype=f32)
for start, end in [(0, 2**63 - 1), (0, 2**31), (-(2**63), 2**63 - 1)]:
    bounds = [elements, a(i64, start), a(i64, end), a(i64, 0), a(i64, 1)]
    case("slice-bounds-in-32-bits", "Slice", bounds, computed=(1, 2))
    case(None, "Slice", bounds, constants=(1, 2, 3, 4))
for t in [i32, i64]:
    case("integer-sum-in-float32", "ReduceSum", [a(t, 16777217, 0)])
    case("integer-sum-in-float32", "ReduceSum", [a(t, 16777216, 1, 1)])
    case(None, "ReduceSum", [a(t, 16777215, 1)])
    case(None, "CumSum", [a(t, 16777217, 1), scalar(i64, 0)])
for operator in ["Add", "Sub", "Mul", "Div", "Pow"]:
    case("float64-in-float32", operator, [a(f64, 1, 2), a(f64, 1e-12, 1 + 1e-12)])
for operator in ["Exp", "Log", "Sqrt", "Sigmoid"]:
    case("float64-in-float32", operator, [a(f64, 0.1, 2)])
case("float64-in-float32", "MatMul", [a(f64, 1, 1e-12), a(f64, 1, 1)])
case("float64-in-float32", "ReduceSum", [a(f64, 1, 1e-12)])
case("float64-in-float32", "ReduceMean", [a(f64, 1, 1e-12)])
case("float64-in-float32", "Softmax", [a(f64, 1, 2)])
for operator in ["Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"]:
    case("float64-in-float32", operator, [a(f64, 1, 1 + 1e-12, 1e300), a(f64, 1 + 1e-12, 1, 2e300)])
case("float64-in-float32", "Max", [a(f64, 1 + 1e-12), a(f64, 1)])
for operator in ["Ceil", "Relu"]:
    case("float64-in-float32", operator, [a(f64, 1 + 1e-12)])
case("float64-in-float32", "IsInf", [a(f64, INF, 1)])
case("float64-in-float32", "Where", [a(np.bool_, True, False), a(f64, 1 + 1e-12, 1), a(f64, 1, 1 + 1e-12)])
case("float64-in-float32", "Gather", [a(f64, 1 + 1e-12, 1), a(i64, 0, 1)], constants=(1,))
for operator in ["Add", "Mul"]:
    case("overflow-of-8-bit-integers", operator, [a(u8, 200), a(u8, 100)])
    case("overflow-of-8-bit-integers", operator, [a(i8, 100), a(i8, 100)])
    case(None, operator, [a(i16, 32767, 300), a(i16, 1, 300)])
    case(None, operator, [a(i32, 2**31 - 1, 2**20), a(i32, 1, 2**20)])
case("overflow-of-8-bit-integers", "Sub", [a(u8, 1), a(u8, 2)])
case("overflow-of-8-bit-integers", "Sub", [a(i8, -100), a(i8, 100)])
case("overflow-of-8-bit-integers", "Neg", [a(i8, -128)])
case("overflow-of-8-bit-integers", "Abs", [a(i8, -128)])
# The Python package of ONNX Runtime returns no float8_e5m2.
for t in [f16, f32]:
    case("cast-to-float8", "Cast", [a(t, 500, 1)], {"to": T.FLOAT8E4M3FN})
    case(None, "Cast", [a(t, 448, 0.3, -2, NAN)], {"to": T.FLOAT8E4M3FN})
case("cast-to-float8", "Cast", [a(f32, -431.99997, 0.008789063)], {"to": T.FLOAT8E4M3FN})
zero = np.array(0, ml_dtypes.float8_e4m3fn)
case("quantization-to-float8", "QuantizeLinear", [a(f32, -431.99997, 1), scalar(f32, 1), zero], constants=(1, 2))
case(None, "QuantizeLinear", [a(f32, 1000, 0.3, 1), scalar(f32, 2), zero], constants=(1, 2))
for to in [T.UINT4, T.INT4]:
    for t in [f16, f32, f64]:
        case("cast-of-floats-to-4-bit-integers", "Cast", [a(t, -8.5, -1.5, 0.5, 2.5, 7.5, 1)], {"to": to}, opset=21)
        case("cast-of-floats-to-4-bit-integers", "Cast", [a(t, 300, 17.6, -9)], {"to": to}, opset=21)
        case(None, "Cast", [a(t, 0, 7, 3)], {"to": to}, opset=21)
    for t in [i8, i32, i64, u8]:
        case("cast-of-integers-to-4-bit-integers", "Cast", [a(t, 100, 17, 3)], {"to": to}, opset=21)
        case(None, "Cast", [a(t, 0, 7)], {"to": to}, opset=21)
for to in [T.UINT8, T.INT8]:
    case("cast-to-8-bit-integers", "Cast", [a(f32, 1e10, 300.5, -129.5, 1)], {"to": to})
    case("cast-to-8-bit-integers", "Cast", [a(f16, 300.5, 1)], {"to": to})
    case(None, "Cast", [a(i32, 256, -1, 300)], {"to": to})
for to in [T.INT64, T.UINT64, T.UINT32]:
    case("cast-by-int32", "Cast", [a(f32, 3e9, 1)], {"to": to})
case("cast-by-int32", "Cast", [a(f64, 1.5, 3e9, -3e9)], {"to": T.INT64})
for t in [u32, np.uint64]:
    case("cast-by-int32", "Cast", [a(t, 2**31, 2**32 - 1)], {"to": T.INT64})
case("cast-of-float64-to-int32", "Cast", [a(f64, 1.5, 3e9)], {"to": T.INT32})
case(None, "Cast", [a(u32, 2**32 - 1, 2**31)], {"to": T.FLOAT})
for to in [T.INT32, T.INT16, T.UINT16]:
    case(None, "Cast", [a(f32, 1e10, -1e10, 300.5, -1.5, 40000, NAN, INF)], {"to": to})
for t in [f16, f32]:
    case("cast-of-nan-to-bool", "Cast", [a(t, NAN, 0, 0.5)], {"to": T.BOOL})
case("cast-of-float64-to-float32", "Cast", [a(f64, 1e300, -1e300)], {"to": T.FLOAT})
case("cast-of-float64-to-float16", "Cast", [a(f64, 1, 2049.0000001)], {"to": T.FLOAT16})
case(None, "Cast", [a(f64, 2049, 70000)], {"to": T.FLOAT16})
case(None, "Cast", [a(f32, 1e6, 65519, 65520, NAN)], {"to": T.FLOAT16})
case("cast-to-text", "Cast", [a(f32, -0.0, 1e-7, 123456.79)], {"to": T.STRING})
case("cast-to-text", "Cast", [a(np.bool_, True, False)], {"to": T.STRING})
case("split-of-empty-text", "StringSplit", [a(object, "", "x,y")], {"delimiter": ","}, outputs=2)
pooled, places = np.array([[[[5, 7], [6, 8]]]], f32), np.array([[[[0, 3], [8, 15]]]], i64)
case("unpool-into-a-given-shape", "MaxUnpool", [pooled, places, a(i64, 1, 1, 5, 5)], {"kernel_shape": [2, 2], "strides": [2, 2]})
case("gather-out-of-range", "Gather", [a(f32, 1, 2, 3), a(i64, 0, 3)])
case("gather-out-of-range", "Gather", [a(f32, 1, 2, 3), a(i64, 0, -4)])
case("gather-out-of-range", "Gather", [a(i64, 1, 2, 3), a(i32, 0, 3)])
case(None, "Gather", [a(f32, 1, 2, 3), a(i64, 0, -3)], constants=(0, 1))
case("gather-elements-out-of-range", "GatherElements", [a(f32, 1, 2, 3), a(i64, 0, 3)])
table = elements.reshape(2, 3)
case("gather-elements-of-fewer-rows", "GatherElements", [table, np.array([[2]], i64)], {"axis": 1})
case("gather-elements-of-fewer-rows", "GatherElements", [table, np.array([[0, 1], [1, 0], [1, 1]], i64)])
case(None, "GatherElements", [table, np.array([[0], [-1]], i64)], {"axis": 1})
case("scatter-elements-out-of-range", "ScatterElements", [table, np.array([[-4]], i64), np.array([[9]], f32)], {"axis": 1})
for index in [3, -3]:
    case(None, "ScatterElements", [table, np.array([[index]], i64), np.array([[9]], f32)], {"axis": 1})
case("relu-of-nan", "Celu", [a(f32, NAN, 1)])
for t in [f16, f32]:
    case("relu-of-nan", "Relu", [a(t, NAN, -1, 1)])
    for operator in ["Elu", "Selu", "Sigmoid", "Tanh", "LeakyRelu", "HardSwish", "Round"]:
        case(None, operator, [a(t, NAN, 0)])
    case("exponential-of-nan", "Exp", [a(t, NAN, 0)])
    case("gelu-of-infinity", "Gelu", [a(t, INF)])
    case(None, "Gelu", [a(t, INF, 0)], {"approximate": "tanh"})
    case("hard-sigmoid-of-nan", "HardSigmoid", [a(t, NAN)])
    case("thresholded-relu-of-nan", "ThresholdedRelu", [a(t, NAN, 2)])
    case("thresholded-relu-of-nan", "ThresholdedRelu", [a(t, -INF, 2)])
    case("clip-of-nan", "Clip", [a(t, NAN, 1), scalar(t, 0), scalar(t, 6)])
    case("clip-of-nan", "Clip", [a(t, NAN, 1), scalar(t, 0), scalar(t, 6)], constants=(1, 2))
    case("clip-to-nan", "Clip", [a(t, 1, 5), scalar(t, NAN), scalar(t, 6)])
    case("clip-to-nan", "Clip", [a(t, 1, 5), scalar(t, 0), scalar(t, NAN)])
    case(None, "Clip", [a(t, 1, 5), scalar(t, 4), scalar(t, 2)])
    for operator in ["Max", "Min"]:
        case("maximum-of-nan", operator, [a(t, 1, NAN), a(t, NAN, 1)])
        case("maximum-of-nan", operator, [a(t, 1, NAN), a(t, NAN, 1), a(t, 2, 2)])
    for operator in ["Greater", "GreaterOrEqual"]:
        case("comparison-of-nan", operator, [a(t, NAN, 1, 2), a(t, 1, NAN, 1)])
    for operator in ["Equal", "Less", "LessOrEqual"]:
        case(None, operator, [a(t, NAN, 1, 2), a(t, 1, NAN, 1)])
    for operator in ["ReduceMax", "ReduceMin"]:
        case("reduced-maximum-of-nan", operator, [a(t, NAN, -1, 1)])
        case("reduced-maximum-of-nan", operator, [a(t, -1, 1, NAN)])
    for places in [(1, NAN, 3, 0, -1, NAN), (NAN, 3, 0, -1)]:
        case("reduced-maximum-of-nan", "GlobalMaxPool", [a(t, *places).reshape(1, 1, 1, -1)])
    case("index-of-maximum-of-nan", "ArgMax", [a(t, 1, NAN, 3, NAN)])
    case("index-of-maximum-of-nan", "ArgMin", [a(t, 1, NAN, 3, NAN)])
    for operator in ["Softmax", "LogSoftmax"]:
        for element in [NAN, INF]:
            case("softmax-of-nan", operator, [a(t, element, 1)])
    case("remainder-by-infinity", "Mod", [a(t, 5), a(t, INF)], {"fmod": 1})
    case("mean-of-no-elements", "ReduceMean", [np.zeros((2, 0), t), a(i64, 1)], constants=(1,))
    case(None, "ReduceMean", [np.zeros((0, 2), t), a(i64, 1)], constants=(1,))
    case("hardmax-of-nan", "Hardmax", [a(t, 1, NAN, 2)])
    case("unique-of-nan", "Unique", [a(t, NAN, NAN, 1)], outputs=4)
    case("topk-of-nan", "TopK", [a(t, 1, NAN, 3, 2, NAN, 0), a(i64, 3)], outputs=2, constants=(1,))
    case("topk-of-nan", "TopK", [a(t, 1, NAN, 3, 2, NAN, 0), a(i64, 3)], {"largest": 0}, outputs=2, constants=(1,))
case("sign-of-nan", "Sign", [a(f16, NAN)])
case(None, "Sign", [a(f32, NAN)])
case("log-softmax-of-distant-elements", "LogSoftmax", [a(f32, 1000, -1000)])
for operator in ["ReduceMax", "ReduceMin"]:
    case("maximum-of-no-elements", operator, [np.zeros((2, 0), f32), a(i64, 1)], constants=(1,))
    case(None, operator, [np.zeros((0, 2), f32), a(i64, 1)], constants=(1,))
    case(None, operator, [np.zeros((2, 0), f16), a(i64, 1)], constants=(1,))
for operator in ["ArgMax", "ArgMin"]:
    case("index-of-no-elements", operator, [np.zeros((2, 0), f32)], {"axis": 1})
for operator in ["Max", "Min"]:
    case(None, operator, [a(i32, 1, 5), a(i32, 4, 2)])
case("pool-of-int8", "MaxPool", [np.arange(25, dtype=i8).reshape(1, 1, 5, 5)], {"kernel_shape": [2, 2]})
case(None, "MaxPool", [np.arange(25, dtype=u8).reshape(1, 1, 5, 5)], {"kernel_shape": [2, 2]})
wide = np.ones((1, 1, 2, 5), f32)
filters = np.ones((1, 1, 3, 3), f32)
case("convolution-of-no-elements", "Conv", [wide, filters], constants=(1,))
case(None, "Conv", [np.ones((1, 1, 3, 5), f32), filters], constants=(1,))
plane = np.array([[[[1, NAN, 3, 0], [2, 1, 0, 5], [NAN, 1, 2, 3], [1, 2, 3, 4]]]], f32)
case("pool-of-nan", "MaxPool", [plane], {"kernel_shape": [2, 2], "strides": [1, 1]})
for outputs in [1, 2]:
    case("pool-of-infinity", "MaxPool", [np.full((1, 1, 4, 4), -INF, f32)], {"kernel_shape": [2, 2]}, outputs=outputs)
    case("pool-of-infinity", "MaxPool", [a(f32, -INF, -INF, 3, 0).reshape(1, 1, 4)], {"kernel_shape": [2]}, outputs=outputs)
ceil = {"kernel_shape": [2, 2], "strides": [2, 2], "pads": [1, 1, 1, 1], "ceil_mode": 1}
case("pool-of-padding", "MaxPool", [np.full((1, 1, 3, 3), -7, f32)], ceil)
case(None, "MaxPool", [np.full((1, 1, 3, 3), -7, f32)], {**ceil, "pads": [0, 0, 0, 0]})
case(None, "AveragePool", [np.full((1, 1, 3, 3), -7, f32)], {**ceil, "pads": [0, 0, 0, 0]})
ceil = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1], "ceil_mode": 1}
case(None, "MaxPool", [np.full((1, 1, 4, 4), -7, f32)], ceil)
case("pool-beyond-padding", "AveragePool", [np.full((1, 1, 4, 4), -7, f32)], {**ceil, "count_include_pad": 1})
for last in [0, 1]:
    case(None, "ArgMax", [a(i32, 3, 1, 3)], {"select_last_index": last})
for largest in [0, 1]:
    case(None, "TopK", [a(i32, 1, 3, 3, 1, 1, 3), a(i64, 1)], {"largest": largest}, outputs=2, constants=(1,))
    case(None, "TopK", [a(i32, 1, 4, 3, 2, 5, 0), a(i64, 4)], {"largest": largest}, outputs=2, constants=(1,))
    for count in [2, 3, 4]:
        inputs = [np.ones(4, f32), a(i64, count)]
        case("topk-of-equal-elements", "TopK", inputs, {"largest": largest}, outputs=2, constants=(1,))
case("topk-of-no-elements", "TopK", [a(f32, 1, 2), a(i64, 0)], outputs=2, constants=(1,))
case("topk-unsorted", "TopK", [a(i32, 1, 4, 3, 2, 5, 0), a(i64, 3)], {"sorted": 0}, outputs=2, constants=(1,))
case(None, "QuantizeLinear", [a(f32, 0.5, 1.5, 2.5, -0.5, 1000, NAN), scalar(f32, 1), scalar(u8, 0)], constants=(1, 2))
case("rounding-before-zero-point", "QuantizeLinear", [a(f32, 0.5, 1.5, 2.5), scalar(f32, 1), scalar(u8, 1)], constants=(1, 2))
case(None, "QuantizeLinear", [a(f32, 0.5, 1.5, 2.5), scalar(f32, 1), scalar(u8, 2)], constants=(1, 2))
case("rounding-before-zero-point", "QuantizeLinear", [a(f32, 0.5, 1.5, 2.5), scalar(f32, 1), scalar(i8, -1)], constants=(1, 2))
for t in [u8, i8]:
    case("quantization-beyond-int32", "QuantizeLinear", [a(f32, 3e9, INF), scalar(f32, 1), scalar(t, 0)], constants=(1, 2))
    case("quantization-beyond-int32", "QuantizeLinear", [a(f32, 1), scalar(f32, 0), scalar(t, 0)], constants=(1, 2))
    case(None, "QuantizeLinear", [a(f32, 1e9, -1e9), scalar(f32, 1), scalar(t, 0)], constants=(1, 2))
case("rounding-before-zero-point", "DynamicQuantizeLinear", [a(f32, 0, 2, -3, -2.5, 1.34, 0.5)], outputs=3)
case("dynamic-quantization-of-zeros", "DynamicQuantizeLinear", [a(f32, 0, 0)], outputs=3)
case("shift-of-8-bit-integers", "BitShift", [a(u8, 1), a(u8, 8)], {"direction": "LEFT"})
case("shift-of-8-bit-integers", "BitShift", [a(u8, 255), a(u8, 1)], {"direction": "LEFT"})
case(None, "BitShift", [a(u8, 1, 1), a(u8, 7, 3)], {"direction": "LEFT"})
case(None, "BitShift", [a(u8, 31), a(u8, 3)], {"direction": "LEFT"})
case("shift-by-all-bits", "BitShift", [a(u32, 1), a(u32, 32)], {"direction": "LEFT"})
case("right-shift-of-8-bit-integers", "BitShift", [a(u8, 200, 192), a(u8, 7, 7)], {"direction": "RIGHT"})
case("right-shift-of-8-bit-integers", "BitShift", [a(u8, 255), a(u8, 8)], {"direction": "RIGHT"})
case("right-shift-in-float32", "BitShift", [a(u32, 16777217, 2**31 + 1), a(u32, 0, 1)], {"direction": "RIGHT"})
case(None, "BitShift", [a(u32, 16777215, 200), a(u32, 3, 7)], {"direction": "RIGHT"})
case(None, "BitShift", [a(u32, 1, 2**31 + 1), a(u32, 31, 1)], {"direction": "LEFT"})
line = np.arange(1, 8, dtype=f32).reshape(1, 1, 1, 7)
for mode in ["asymmetric", "half_pixel", "align_corners"]:
    for nearest in ["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"]:
        rule = "resize-of-halves" if (mode, nearest) == ("asymmetric", "round_prefer_ceil") else None
        attributes = {"mode": "nearest", "coordinate_transformation_mode": mode, "nearest_mode": nearest}
        also = ["resize-with-rounded-scales"] if rule else []
        case(rule, "Resize", [line, None, None, a(i64, 1, 1, 1, 4)], attributes, opset=19, constants=(3,), also=also)
# The reference computes coordinates from the size times the scale, the others from the length of
# the result.
attributes = {"mode": "nearest", "coordinate_transformation_mode": "align_corners"}
case("resize-corners-by-scales", "Resize", [line, None, a(f32, 1, 1, 1, 1.5)], attributes, opset=19, constants=(2,))
case("resize-corners-by-scales", "Resize", [line, None, a(f32, 1, 1, 1, 0.5)], attributes, opset=19, constants=(2,))
case(None, "Resize", [line, None, a(f32, 1, 1, 1, 2)], attributes, opset=19, constants=(2,))
attributes = {"mode": "nearest", "coordinate_transformation_mode": "tf_crop_and_resize"}
region = a(f32, 0, 0, 0, 0.25, 1, 1, 1, 1)
case("resize-crop-by-scales", "Resize", [line, region, a(f32, 1, 1, 1, 0.5)], attributes, opset=19, constants=(1, 2), also=["resize-crops"])
case("resize-crops", "Resize", [line, region, a(f32, 1, 1, 1, 2)], attributes, opset=19, constants=(1, 2))
# Sequences of several lengths.
steps = np.linspace(-1, 1, 12, dtype=f32).reshape(3, 2, 2)
for operator, gates in [("GRU", 3), ("LSTM", 4), ("RNN", 1)]:
    weights = np.linspace(-2, 1, 4 * gates, dtype=f32).reshape(1, 2 * gates, 2)
    inputs = [steps, weights, weights, np.ones((1, 4 * gates), f32), a(i32, 3, 1)]
    case("recurrent-lengths", operator, inputs, {"hidden_size": 2}, constants=(1, 2, 3, 4))
# A region of the sizes that the input has.
region = a(f32, 0, 0, 0, 0.5, 1, 1, 1, 1)
case("resize-crop-of-kept-sizes", "Resize", [line, region, None, a(i64, 1, 1, 1, line.shape[3])], attributes, opset=19, constants=(1, 3), also=["resize-crops"])
attributes = {"mode": "nearest", "coordinate_transformation_mode": "half_pixel_symmetric"}
also = ["resize-with-rounded-scales"]
case("resize-half-pixel-symmetric", "Resize", [line, None, None, a(i64, 1, 1, 1, 4)], attributes, opset=19, constants=(3,), also=also)
attributes = {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize"}
inputs = [line, a(f32, 0, 0, 0, 0, 1, 1, 1, 1), None, a(i64, 1, 1, 1, 4)]
case("resize-crops", "Resize", inputs, attributes, opset=19, constants=(1, 3))
squares = np.array([1, 4, 9, 16, 25, 36, 49, 64], f32).reshape(1, 1, 1, 8)
for mode in ["linear", "cubic"]:
    for size in [2, 4]:
        inputs = [squares, None, None, a(i64, 1, 1, 1, size)]
        case("resize-antialias", "Resize", inputs, {"mode": mode, "antialias": 1}, opset=19, constants=(3,))
    case(None, "Resize", [squares, None, None, a(i64, 1, 1, 1, 16)], {"mode": mode, "antialias": 1}, opset=19, constants=(3,))
inputs = [squares, None, None, a(i64, 1, 1, 1, 4)]
case("resize-antialias-of-nearest", "Resize", inputs, {"mode": "nearest", "antialias": 1}, opset=19, constants=(3,))
for mode in ["linear", "nearest", "cubic"]:
    attributes = {"mode": mode, "coordinate_transformation_mode": "pytorch_half_pixel"}
    rule = "resize-to-one-element"
    also = ["resize-with-rounded-scales"] if mode == "nearest" else []
    case(rule, "Resize", [squares[..., :3], None, a(f32, 1, 1, 1, 0.4)], attributes, opset=19, constants=(2,), also=also)
    rule = rule if mode == "cubic" else None
    case(rule, "Resize", [squares[..., :3], None, None, a(i64, 1, 1, 1, 1)], attributes, opset=19, constants=(3,))
# Halves and integers are missed by quotients of float32.
for mode, nearest, scale in [("asymmetric", "floor", 0.6), ("half_pixel", "round_prefer_floor", 0.7), ("half_pixel", "round_prefer_floor", 1.3)]:
    attributes = {"mode": "nearest", "coordinate_transformation_mode": mode, "nearest_mode": nearest}
    case("resize-with-rounded-scales", "Resize", [line, None, a(f32, 1, 1, 1, scale)], attributes, opset=19, constants=(2,))
    case(None, "Resize", [line, None, a(f32, 1, 1, 1, 2.5)], attributes, opset=19, constants=(2,))
# So are the integers of quotients by ratios of sizes.
for mode, nearest, before, after in [("asymmetric", "floor", 14, 2), ("half_pixel", "floor", 7, 1), ("half_pixel", "ceil", 7, 19), ("half_pixel", "round_prefer_ceil", 14, 1)]:
    attributes = {"mode": "nearest", "coordinate_transformation_mode": mode, "nearest_mode": nearest}
    inputs = [np.arange(before, dtype=f32).reshape(1, 1, 1, before), None, None, a(i64, 1, 1, 1, after)]
    case("resize-with-rounded-scales", "Resize", inputs, attributes, opset=19, constants=(3,))
    case(None, "Resize", [*inputs[:3], a(i64, 1, 1, 1, 2 * before)], attributes, opset=19, constants=(3,))
# One scale for all axes.
for axis, rule in [(-1, "resize-of-axes-from-the-end"), (3, None)]:
    attributes = {"mode": "nearest", "keep_aspect_ratio_policy": "not_smaller", "axes": [axis]}
    case(rule, "Resize", [line, None, None, a(i64, 14)], attributes, opset=19, constants=(3,))
# An axis keeps its size.
for mode in ["nearest", "linear"]:
    for rows in [1, 2]:
        case("resize-of-kept-size", "Resize", [line[..., :3], None, a(f32, 1, 1, rows, 1.25)], {"mode": mode}, opset=19, constants=(2,))
    case(None, "Resize", [line[..., :3], None, a(f32, 1, 1, 1, 2)], {"mode": mode}, opset=19, constants=(2,))
ten = np.arange(10, dtype=f32).reshape(1, 1, 1, 10)
case("resize-to-rounded-size", "Resize", [ten, None, a(f32, 1, 1, 1, 0.7)], {"mode": "linear"}, opset=19, constants=(2,))
case(None, "Resize", [ten, None, a(f32, 1, 1, 1, 0.5)], {"mode": "linear"}, opset=19, constants=(2,))
image, taps = np.arange(1, 26, dtype=f32).reshape(1, 1, 5, 5), np.ones((1, 1, 2, 2), f32)
for end in ["SAME_UPPER", "SAME_LOWER", "VALID"]:
    attributes, same = {"auto_pad": end, "dilations": [2, 1]}, end != "VALID"
    rule = "convolution-of-same-size-with-dilation" if same else None
    case(rule, "Conv", [image, taps], attributes, constants=(1,))
    if same:
        case(rule, "ConvInteger", [image.astype(u8), taps.astype(u8)], attributes, constants=(1,))
    for operator in ["AveragePool", "LpPool", "MaxPool"]:
        rule = "pool-of-same-size-with-dilation" if same else "pool-of-valid-windows-with-dilation" if operator != "MaxPool" else None
        case(rule, operator, [image], {"kernel_shape": [2, 2], **attributes})
ceil = {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1}
valid = {**ceil, "auto_pad": "VALID"}
case("pool-of-ceil-mode-and-valid", "AveragePool", [image], valid)
case("pool-of-ceil-mode-and-valid", "LpPool", [image], {**valid, "kernel_shape": [3, 3]}, also=["pool-of-norms-beyond-padding"])
case("maximum-of-ceil-mode-and-valid", "MaxPool", [image], valid)
padded = {"auto_pad": "SAME_UPPER", "kernel_shape": [3, 3], "strides": [2, 2]}
case("pool-of-same-size-with-indices", "MaxPool", [image.astype(u8)], padded, outputs=2, computed=(0,))
case("pool-of-norms-beyond-padding", "LpPool", [image], ceil)
for size, rule in [(4, "local-response-of-even-size"), (3, None)]:
    case(rule, "LRN", [np.zeros((1, 1, 2, 2), f32)], {"size": size})
for shape in [(1, 1), (1, 1, 2), (1, 1, 2, 2, 2)]:
    case("local-response-of-other-rank", "LRN", [np.zeros(shape, f32)], {"size": 3})
case("local-response-of-many-channels", "LRN", [np.ones((1, 2, 1, 1), f32)], {"size": 3, "alpha": 3.0, "beta": 1.0})
signal, window = np.arange(1, 4, dtype=f32).reshape(1, 1, 3), np.array([1, 10, 100], f32).reshape(1, 1, 3)
for end in ["SAME_UPPER", "SAME_LOWER"]:
    for stride, rule in [(1, "of-same-size"), (2, "of-same-size"), (3, None), (4, "with-gaps")]:
        rule = rule and f"transposed-convolution-{rule}"
        case(rule, "ConvTranspose", [signal, window], {"auto_pad": end, "strides": [stride]}, constants=(1,))
    for stride, rule in [(1, "of-same-size"), (3, "of-same-size"), (5, None), (6, "with-gaps")]:
        rule = rule and f"transposed-convolution-{rule}"
        attributes = {"auto_pad": end, "strides": [stride], "dilations": [2]}
        case(rule, "ConvTranspose", [signal, window], attributes, constants=(1,))
    for size, rule in [(6, "transposed-convolution-of-odd-padding"), (5, None)]:
        attributes = {"auto_pad": end, "strides": [2], "output_shape": [size]}
        case(rule, "ConvTranspose", [signal, window], attributes, constants=(1,))
case(None, "ConvTranspose", [signal, window], {"auto_pad": "VALID", "strides": [2]}, constants=(1,))
for size, rule in [(4, "transposed-convolution-of-given-size"), (5, "transposed-convolution-of-given-size"), (7, None), (8, None)]:
    case(rule, "ConvTranspose", [signal, window], {"strides": [2], "output_shape": [size]}, constants=(1,))
attributes = {"strides": [2], "output_shape": [6], "pads": [0, 1]}
case("transposed-convolution-of-given-pads", "ConvTranspose", [signal, window], attributes, constants=(1,))
pair = np.zeros((1, 2, 2), f32)
for operator, rule in [("Softmax", "softmax-of-several-axes"), ("LogSoftmax", "hardmax-of-several-axes"), ("Hardmax", "hardmax-of-several-axes")]:
    case(rule, operator, [pair], opset=11)
    case(None, operator, [pair], {"axis": 2}, opset=11)
    case(None, operator, [pair[:, :, :1]], {"axis": 1}, opset=11)
    case(None, operator, [pair], {"axis": 1}, opset=13)
for t in [i16, u16]:
    for elements_of in [(0.5, 1.5, 2.5), (70000, -70000)]:
        inputs = [a(f32, *elements_of), scalar(f32, 1), scalar(t, 0)]
        case("quantization-to-16-bit-integers", "QuantizeLinear", inputs, opset=21, constants=(1, 2))
for t in [i32, i64]:
    case("range-of-wrong-sign", "Range", [scalar(t, 5), scalar(t, 2), scalar(t, 1)], constants=(2,))
    case("range-of-step-zero", "Range", [scalar(t, 5), scalar(t, 9), scalar(t, 0)], constants=(0, 1))
case("range-of-wrong-sign", "Range", [scalar(f32, 5), scalar(f32, 2), scalar(f32, 1)], constants=(2,))
case("range-of-float-step-zero", "Range", [scalar(f32, 0), scalar(f32, 1), scalar(f32, 0)], constants=(0, 1), also=["range-of-float32"])
case("range-of-float64", "Range", [scalar(f64, 0), scalar(f64, 1), scalar(f64, 0.1)])
case(None, "Range", [scalar(f64, 0), scalar(f64, 7.5), scalar(f64, 0.25)])
case("range-of-float32", "Range", [scalar(f32, 16777210), scalar(f32, 16777222), scalar(f32, 1)], constants=(0, 2))
line = a(f32, 1, 2, 3, 4, 5, 6)
below, few = "pads-below-zero", "pad-beyond-what-is-left"
for mode in ["constant", "edge", "reflect", "wrap"]:
    wraps = mode == "wrap"
    case("pad-by-wrapping" if wraps else None, "Pad", [line, a(i64, 1, 2)], {"mode": mode}, constants=(1,))
    for pads in [(-1, 0), (-2, 1), (1, -3)]:
        rule, also = ("pad-below-zero-by-wrapping", ["pad-by-wrapping", below]) if wraps else (below, [])
        case(rule, "Pad", [line, a(i64, *pads)], {"mode": mode}, constants=(1,), also=also)
case(few, "Pad", [line, a(i64, -3, 5)], {"mode": "reflect"}, constants=(1,), also=[below])
case(few, "Pad", [line, a(i64, -3, -3)], {"mode": "edge"}, constants=(1,), also=[below])
for end in [2**31 - 1, 2**63 - 1]:
    bounds = [a(i64, 9), a(i64, end), a(i64, 0), a(i64, -1)]
    case("slice-backward-to-the-largest-integer", "Slice", [line, *bounds], constants=(2, 3, 4))
case(None, "Slice", [line, a(i64, 9), a(i64, 2**31), a(i64, 0), a(i64, -1)], constants=(2, 3, 4))
case("squeeze-of-no-axes", "Squeeze", [pair[:, :, :1], a(i64)], constants=(1,))
case("split-into-uneven-parts", "Split", [line[:5]], {"num_outputs": 3}, outputs=3)
for size in [2, 5]:
    case("split-into-too-many-parts", "Split", [line[:size]], {"num_outputs": 4}, outputs=4)
boxes, scores = np.array([[[0, 0, 1, 2], [0, 0, 1, 1], [5, 5, 6, 6]]], f32), np.array([[[0.9, 0.8, 0.7]]], f32)
case("suppression-at-the-threshold", "NonMaxSuppression", [boxes, scores, a(i64, 9), a(f32, 0.5)], constants=(2, 3))
strings = np.array([["a", "bb"], ["ccc", "d"]], object)
case("gather-of-strings", "Gather", [strings, a(i64, 1, 0)], {"axis": 0}, constants=(1,))
case("gather-of-strings", "Gather", [strings, a(i64, 1, 0)], {"axis": 1}, constants=(1,))
for limit in [0.3, 1]:
    case("range-of-float32", "Range", [scalar(f32, 0), scalar(f32, limit), scalar(f32, 0.1)], constants=(0, 2))
case(None, "Range", [scalar(f32, 0), scalar(f32, 7.5), scalar(f32, 0.25)])


picture, points = np.arange(1, 10, dtype=f32).reshape(1, 1, 3, 3) ** 2, np.array([[[[1.5, 0.25], [-1.25, -2]]]], f32)
for mode, padding, rule in [("cubic", "border", "grid-sample-at-border"), ("cubic", "zeros", None), ("linear", "border", None)]:
    case(rule, "GridSample", [picture, points], {"mode": mode, "padding_mode": padding, "align_corners": 1})


case("nonzero-of-a-scalar", "NonZero", [scalar(f32, 5)])
case(None, "NonZero", [a(f32, 5)])


for end, size, rule in [("NOTSET", 9, "larger-size"), ("NOTSET", 10, "larger-size"), ("SAME_UPPER", 9, "larger-same-size"), ("SAME_LOWER", 9, "larger-same-size")]:
    attributes = {"auto_pad": end, "strides": [2], "output_shape": [size]}
    case(f"transposed-convolution-of-{rule}", "ConvTranspose", [signal, window], attributes, constants=(1,))
for operator, attributes in [("HardSigmoid", {"alpha": 1.0, "beta": 0.0}), ("Selu", {"alpha": 0.0, "gamma": 2.0})]:
    case("hard-sigmoid-and-selu-of-zero", operator, [a(f32, -1, 0.25, 0.5)], attributes)
case(None, "HardSigmoid", [a(f32, -1, 0.25, 0.5)], {"alpha": 1.0, "beta": 0.25})
regions = np.array([[0, 0, 2, 2], [1, 1, 1, 1]], f32)
for ratio, mode, rule in [(0, "half_pixel", "region-without-area"), (1, "half_pixel", None), (0, "output_half_pixel", None)]:
    attributes = {"sampling_ratio": ratio, "coordinate_transformation_mode": mode}
    case(rule, "RoiAlign", [np.ones((1, 1, 4, 4), f32), regions, a(i64, 0, 0)], attributes, opset=16)


line = np.array([[-4, 1, -2], [3, 0.5, 1]], f32)
case("normalization-by-the-largest", "Normalizer", [line], {"norm": "MAX"})
for transform in ["LOGISTIC", "SOFTMAX"]:
    fitted = {"coefficients": [0.5, -1.0, 0.25], "intercepts": [0.5], "post_transform": transform}
    case("transform-of-one-target", "LinearRegressor", [line], fitted)
    case("transform-of-one-class", "LinearClassifier", [line], fitted, outputs=2)
    vectors = {"coefficients": [0.5, -1.0, 0.25], "rho": [0.25], "kernel_type": "LINEAR", "kernel_params": [0.0, 0.0, 0.0]}
    case("transform-of-one-target", "SVMRegressor", [line], {**vectors, "post_transform": transform})
fitted = {"coefficients": [0.5, -1.0, 0.25], "intercepts": [0.5], "classlabels_ints": [7, 9]}
case("linear-scores-of-two-classes", "LinearClassifier", [line], fitted, outputs=2)
for transform in ["SOFTMAX", "SOFTMAX_ZERO"]:
    case("linear-softmax-of-two-classes", "LinearClassifier", [line], {**fitted, "post_transform": transform}, outputs=2)
tree = {
    "nodes_treeids": [0] * 3, "nodes_nodeids": [0, 1, 2], "nodes_featureids": [0] * 3, "nodes_values": [0.5] * 3,
    "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"], "nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 0, 0],
}  # fmt: skip
leaves = {"treeids": [0, 0], "nodeids": [1, 2], "ids": [0, 1]}
regressed = {**{f"target_{name}": x for name, x in {**leaves, "ids": [0, 0]}.items()}, "target_weights": [2.0, -1.0], "n_targets": 1}
case("transform-of-one-target", "TreeEnsembleRegressor", [line], {**tree, **regressed, "post_transform": "LOGISTIC"})
classes = {**{f"class_{name}": x for name, x in leaves.items()}, "class_weights": [2.0, -1.0], "classlabels_int64s": [4, 0, 2]}
case("tree-without-a-class", "TreeEnsembleClassifier", [line], {**tree, **classes}, outputs=2)


IR_CASES = []


def ir_case(rule, version, operator, inputs, attributes, constants=()):
    """A node of OpenVINO, with the inputs of those numbers as constants."""
    IR_CASES.append((rule, version, operator, inputs, attributes, constants))


for t in [i16, i32, i64]:
    pair = [a(t, -1, 7, -6), a(t, 2, -2, 3)]
    ir_case("division-rounded-down", 1, "Divide", pair, {"m_pythondiv": True})
    ir_case(None, 1, "Divide", pair, {"m_pythondiv": False})
ir_case(None, 1, "Divide", [a(f32, -1, 7), a(f32, 2, -2)], {"m_pythondiv": True})
line = np.linspace(-2, 2, 9, dtype=f32)
for high, rule in [(-1, "fake-quantization-to-equal-bounds"), (1.5, None)]:
    inputs = [line, scalar(f32, -1), scalar(f32, 1.5), scalar(f32, -1), scalar(f32, high)]
    ir_case(rule, 1, "FakeQuantize", inputs, {"levels": 256}, (1, 2, 3, 4))
for bias, axis, rule in [(1.5, 1, "local-response-with-fractional-bias"), (3.0, 1, None)]:
    attributes = {"alpha": 3.0, "beta": 1.0, "bias": bias, "size": 3}
    ir_case(rule, 1, "LRN", [np.ones((1, 1, 1, 1), f32), a(i64, axis)], attributes, (1,))
for scales, most, rule in [(False, [8.0], "prior-box-of-ignored-sizes"), (True, [8.0], None), (False, [], None)]:
    attributes = {"min_size": [4.0], "max_size": most, "aspect_ratio": [2.0], "offset": 0.5, "step": 0.0, "scale_all_sizes": scales}
    ir_case(rule, 8, "PriorBox", [a(i64, 2, 2), a(i64, 16, 16)], attributes)


def ir_model(version, operator, inputs, attributes, constants):
    """The text of an IR of one node, and its constants, with the inputs that are none."""
    from openvino import Model, Tensor, op, opset1, save_model
    from openvino.utils.node_factory import NodeFactory

    nodes, parameters = [], []
    for i, x in enumerate(inputs):
        if i in constants:
            nodes.append(op.Constant(Tensor(x)))
            continue
        parameters.append(opset1.parameter([-1] * x.ndim, x.dtype, f"x{i}"))
        parameters[-1].output(0).get_tensor().set_names({f"x{i}"})
        nodes.append(parameters[-1])
    node = NodeFactory(f"opset{version}").create(operator, [x.output(0) for x in nodes], attributes)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "model.xml")
        save_model(Model([node.output(0)], parameters, "model"), path, compress_to_fp16=False)
        return path.read_bytes(), path.with_suffix(".bin").read_bytes()


def ir_results(program, text, weights, given):
    """What programs return: the source in OpenVINO, and what it is converted to in the others."""
    with tempfile.TemporaryDirectory() as folder:
        source, written = pathlib.Path(folder, "model.xml"), pathlib.Path(folder, "model.onnx")
        source.write_bytes(text)
        source.with_suffix(".bin").write_bytes(weights)
        subprocess.run([program, "convert", source, written, "--no-verify"], check=True, capture_output=True)
        converted, source = onnx.load(written), IrModel(text, weights)
        return {name: result(name, source if name == "openvino" else converted, given) for name in PROGRAMS}


class IrModel:
    """An IR that OpenVINO reads."""

    def __init__(self, text, weights):
        self.text, self.weights = text, weights

    def SerializeToString(self):  # noqa: N802
        return self.text


def main(path, gradus):
    recorded = []
    for rule, also, operator, inputs, attributes, opset, outputs, constants, computed in CASES:
        of = model(operator, inputs, attributes, opset, outputs, constants)
        given = {f"x{i}": x for i, x in enumerate(inputs) if x is not None and i not in constants}
        results = {program: result(program, of, given) for program in PROGRAMS}
        if rule in WITHOUT_VNNI:
            results |= {program: without_vnni(program, of, given) for program in PROGRAMS[:2]}
        texts = [None if x is None else f"{x.dtype} {x.ravel().tolist()}" for x in inputs]
        known = model(operator, inputs, attributes, opset, outputs, [i for i, x in enumerate(inputs) if x is not None and i not in computed])
        models = {"model": of.SerializeToString().hex(), "known": known.SerializeToString().hex()}
        recorded.append({"rule": rule, "also": also, "operator": operator, "inputs": texts, **models, "results": results})
        if (rule is None) != (len(set(results.values())) == 1):
            print(f"{rule}: {operator} {texts} {attributes}: {results}", file=sys.stderr)
    for rule, version, operator, inputs, attributes, constants in IR_CASES:
        text, weights = ir_model(version, operator, inputs, attributes, constants)
        results = ir_results(gradus, text, weights, {f"x{i}": x for i, x in enumerate(inputs) if i not in constants})
        texts = [f"{x.dtype} {x.ravel().tolist()}" for x in inputs]
        recorded.append({"rule": rule, "also": [], "operator": operator, "inputs": texts, "model": text.hex(), "weights": weights.hex(), "results": results})
        if (rule is None) != (len(set(results.values())) == 1):
            print(f"{rule}: {operator} {texts} {attributes}: {results}", file=sys.stderr)
    versions = {program: metadata.version(program) for program in PROGRAMS}
    lines = ",\n".join(json.dumps(case) for case in recorded)
    with open(path, "w", encoding="utf-8") as out:
        out.write(f'{{"versions": {json.dumps(versions)}, "cases": [\n{lines}\n]}}\n')


def one():
    program, of, given = pickle.loads(bytes.fromhex(sys.stdin.read()))
    print(text_of(outputs_of(program, onnx.ModelProto.FromString(of), given)))


if __name__ == "__main__":
    one() if sys.argv[1] == "--one" else main(*sys.argv[1:])
