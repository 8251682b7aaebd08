"""Makes random nodes of ONNX Runtime's domain `com.microsoft`, and writes what ONNX Runtime gives for them.

    python conformance/contrib.py FILE [--count N] [--seed S] [--elements N] [--only NAME,…]

FILE becomes the JSON text that `crates/gradus/tests/contrib.rs` reads: of each node its operator, attributes, inputs,
outputs, and how far another program's outputs may be away. `conformance/recorded/contrib.json` is checked in.
Operators that ONNX Runtime only runs on other devices are computed here, in float64, as their texts say.

Bounds: `steps` are codes of quantized outputs, since ONNX Runtime computes in float32 before it rounds to a code.
`ulps` are units in the last place of float32, or of float16, at the largest element of the output: sums of float32
are rounded in each term there, and once in Gradus.
"""

import argparse
import json
import sys
import zlib

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

DOMAIN = "com.microsoft"
MAKERS = {}


class Case:
    """A node: inputs (None where one is missing), attributes, the number of outputs, and bounds."""

    def __init__(self, inputs, attributes=None, outputs=1, steps=0, ulps=0.0, expected=None):
        self.inputs = inputs
        self.attributes = attributes or {}
        self.outputs = outputs
        self.steps = steps
        self.ulps = ulps
        # The outputs, where ONNX Runtime has no kernel for the processor.
        self.expected = expected


def maker(*names):
    def add(function):
        for name in names:
            MAKERS[name] = function
        return function

    return add


class Rng:
    """Random tensors."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def choice(self, all_of):
        return all_of[self.rng.integers(len(all_of))]

    def flag(self):
        return bool(self.rng.integers(2))

    def int(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def dims(self, low, high, most=4):
        return [self.int(1, most) for _ in range(self.int(low, high))]

    def floats(self, *dims, dtype=np.float32, scale=1.0):
        return np.asarray(self.rng.normal(size=dims) * scale, dtype=dtype)

    def codes(self, *dims, dtype=np.uint8):
        info = np.iinfo(dtype)
        return np.asarray(self.rng.integers(info.min, info.max + 1, size=dims), dtype=dtype)

    def zero(self, dtype=np.uint8):
        info = np.iinfo(dtype)
        middle = (info.min + info.max + 1) // 2
        return np.asarray(self.rng.integers(middle - 20, middle + 20), dtype=dtype)

    def scale(self, low=0.005, high=0.1):
        return np.asarray(self.rng.uniform(low, high), dtype=np.float32)

    def byte_type(self):
        return self.choice([np.uint8, np.int8])

    def mask(self, *dims):
        """A mask of keys, of which none masks all: the sum of -10000 and a score has few digits in float32."""
        mask = self.rng.integers(2, size=dims).astype(np.int32)
        mask[..., 0] = 1
        return mask

    def broadcast_pair(self):
        dims = self.dims(1, 3)
        other = [1 if self.rng.integers(3) == 0 else dim for dim in dims]
        other = other[self.int(0, len(other) - 1) :]
        return (dims, other) if self.flag() else (other, dims)


@maker("QLinearAdd", "QLinearMul")
def qlinear_binary(r, name):
    dtype = r.byte_type()
    a, b = r.broadcast_pair()
    zeros = [None if r.rng.integers(5) == 0 else r.zero(dtype) for _ in range(3)]
    out = r.scale(0.01, 0.2) if name == "QLinearAdd" else r.scale(0.05, 0.5)
    inputs = [r.codes(*a, dtype=dtype), r.scale(), zeros[0], r.codes(*b, dtype=dtype), r.scale(), zeros[1], out, zeros[2]]
    return Case(inputs, steps=1)


@maker("QLinearSigmoid", "QLinearLeakyRelu")
def qlinear_unary(r, name):
    dtype = r.byte_type()
    out = (np.float32(1 / 256), np.asarray(0 if dtype == np.uint8 else -128, dtype=dtype))
    if name == "QLinearLeakyRelu":
        out = (r.scale(), r.zero(dtype))
    attributes = {"alpha": float(np.float32(r.rng.uniform(0.01, 0.5)))} if name == "QLinearLeakyRelu" else {}
    return Case([r.codes(*r.dims(1, 3), dtype=dtype), r.scale(), r.zero(dtype), *out], attributes, steps=1)


@maker("QLinearAveragePool")
def qlinear_average_pool(r, _):
    dtype, last = r.byte_type(), r.flag()
    spatial = [r.int(4, 6) for _ in range(2)]
    channels = r.int(1, 3)
    dims = [r.int(1, 2), *spatial, channels] if last else [r.int(1, 2), channels, *spatial]
    kernel = [r.int(1, 3), r.int(1, 3)]
    attributes = {"kernel_shape": kernel, "strides": [r.int(1, 2), r.int(1, 2)], "channels_last": int(last)}
    if r.flag():
        attributes["pads"] = [r.int(0, k - 1) for k in kernel * 2]
        attributes["count_include_pad"] = int(r.flag())
    # With both, ONNX Runtime counts what lies beyond the padding, which ONNX since set 19 does not.
    if not attributes.get("count_include_pad") and r.flag():
        attributes["ceil_mode"] = 1
    return Case([r.codes(*dims, dtype=dtype), r.scale(), r.zero(dtype), r.scale(), r.zero(dtype)], attributes, steps=1)


@maker("QLinearGlobalAveragePool")
def qlinear_global_average_pool(r, _):
    dtype, last = r.byte_type(), r.flag()
    dims = [r.int(1, 2), *r.dims(3, 3)]
    return Case(
        [r.codes(*dims, dtype=dtype), r.scale(), r.zero(dtype), r.scale(), r.zero(dtype)],
        {"channels_last": int(last)},
        steps=1,
    )


@maker("QLinearConcat")
def qlinear_concat(r, _):
    dtype = r.byte_type()
    dims = r.dims(1, 3)
    axis = r.int(0, len(dims) - 1)
    inputs = [r.scale(), r.zero(dtype)]
    for _ in range(r.int(1, 3)):
        own = list(dims)
        own[axis] = r.int(1, 4)
        inputs += [r.codes(*own, dtype=dtype), r.scale(), r.zero(dtype)]
    return Case(inputs, {"axis": axis - len(dims) if r.flag() else axis}, steps=1)


@maker("QLinearSoftmax")
def qlinear_softmax(r, _):
    dtype = r.byte_type()
    dims = [dim + 1 for dim in r.dims(2, 3)]
    attributes = {"opset": r.choice([11, 13])}
    if r.flag():
        attributes["axis"] = r.int(-len(dims), len(dims) - 1)
    zero = np.asarray(0 if dtype == np.uint8 else -128, dtype=dtype)
    # In a wider range, a result of 1 would be code 256, which ONNX Runtime stores as 0.
    inputs = [r.codes(*dims, dtype=dtype), r.scale(0.005, 0.02), r.zero(dtype), np.float32(1 / 256), zero]
    return Case(inputs, attributes, steps=1)


@maker("QLinearWhere")
def qlinear_where(r, _):
    dtype = r.byte_type()
    x, y = r.broadcast_pair()
    condition = r.rng.integers(2, size=max(x, y, key=len)).astype(bool)
    return Case(
        [condition, r.codes(*x, dtype=dtype), r.scale(), r.zero(dtype), r.codes(*y, dtype=dtype), r.scale(), r.zero(dtype),
         r.scale(), r.zero(dtype)],
        steps=1,
    )  # fmt: skip


@maker("QLinearReduceMean")
def qlinear_reduce_mean(r, _):
    dtype = r.byte_type()
    dims = r.dims(2, 3)
    axes, keep = [r.int(0, len(dims) - 1)], r.flag()
    x, by, zero, out_by, out_zero = r.codes(*dims, dtype=dtype), r.scale(), r.zero(dtype), r.scale(), r.zero(dtype)
    mean = ((x.astype(float) - zero) * float(by)).mean(axis=axes[0], keepdims=keep)
    return Case(
        [x, by, zero, out_by, out_zero],
        {"axes": axes, "keepdims": int(keep)},
        steps=1,
        expected=[quantized(mean, out_by, out_zero)],
    )


def quantized(numbers, scale, zero):
    info = np.iinfo(zero.dtype)
    return np.clip(np.rint(numbers / float(scale)) + zero, info.min, info.max).astype(zero.dtype)


@maker("QLinearConv")
def qlinear_conv(r, _):
    dtype, w_type, last = r.byte_type(), r.byte_type(), r.flag()
    if dtype == np.int8:
        w_type = np.int8
    channels, out, size = r.int(1, 3), r.int(1, 3), r.int(3, 5)
    dims = [1, size, size, channels] if last else [1, channels, size, size]
    kernel = r.int(1, 3)
    by = r.scale() if r.flag() else r.floats(out) ** 2 + np.float32(0.01)
    w_zero = np.zeros(np.shape(by), dtype=w_type) if w_type == np.int8 else np.full(np.shape(by), 120, dtype=w_type)
    inputs = [
        r.codes(*dims, dtype=dtype), r.scale(), r.zero(dtype), r.codes(out, channels, kernel, kernel, dtype=w_type), by,
        w_zero, r.scale(1, 5), r.zero(dtype),
    ]  # fmt: skip
    if r.flag():
        inputs.append(r.rng.integers(-1000, 1000, size=[out]).astype(np.int32))
    return Case(inputs, {"channels_last": int(last), "pads": [r.int(0, 1)] * 4, "strides": [r.int(1, 2)] * 2}, steps=1)


@maker("QGemm")
def q_gemm(r, _):
    m, k, n = r.int(1, 4), r.int(1, 5), r.int(1, 4)
    a_type, b_type = r.choice([(np.uint8, np.uint8), (np.uint8, np.int8), (np.int8, np.int8)])
    trans_a, trans_b = r.flag(), r.flag()
    a = r.codes(*((k, m) if trans_a else (m, k)), dtype=a_type)
    b = r.codes(*((n, k) if trans_b else (k, n)), dtype=b_type)
    columns = r.flag()
    b_scale = np.abs(r.floats(n)) * np.float32(0.05) + np.float32(0.01) if columns else r.scale()
    b_zero = np.asarray([r.zero(b_type) for _ in range(n)], dtype=b_type) if columns else r.zero(b_type)
    c = r.rng.integers(-500, 500, size=r.choice([(n,), (m, n), (1, n)])).astype(np.int32) if r.flag() else None
    inputs = [a, r.scale(), r.zero(a_type), b, b_scale, b_zero, c]
    quantizes = r.flag()
    if quantizes:
        inputs += [r.scale(0.1, 1), r.zero(a_type)]
    attributes = {"transA": int(trans_a), "transB": int(trans_b)}
    if r.flag():
        attributes["alpha"] = float(np.float32(r.rng.uniform(0.5, 2)))
    return Case(inputs, attributes, steps=1, ulps=4)


def product_inputs(r):
    batch = r.dims(0, 1)
    m, k, n = r.int(1, 4), r.int(1, 6), r.int(1, 4)
    b_type = r.byte_type()
    columns = r.flag()
    b_scale = np.abs(r.floats(n)) * np.float32(0.05) + np.float32(0.01) if columns else r.scale()
    b_zero = np.asarray([r.zero(b_type) for _ in range(n)], dtype=b_type) if columns else r.zero(b_type)
    if r.rng.integers(3) == 0:
        b_zero = None
    bias = r.floats(n) if r.flag() else None
    return [*batch, m, k], r.codes(k, n, dtype=b_type), b_scale, b_zero, bias


@maker("MatMulIntegerToFloat")
def mat_mul_integer_to_float(r, _):
    dims, b, b_scale, b_zero, bias = product_inputs(r)
    a_type = np.uint8 if b.dtype == np.uint8 else r.byte_type()
    a_zero = r.zero(a_type) if r.flag() else None
    return Case([r.codes(*dims, dtype=a_type), b, r.scale(), b_scale, a_zero, b_zero, bias], ulps=4)


@maker("DynamicQuantizeMatMul")
def dynamic_quantize_mat_mul(r, _):
    dims, b, b_scale, b_zero, bias = product_inputs(r)
    return Case([r.floats(*dims), b, b_scale, b_zero, bias], ulps=4)


@maker("MatMulInteger16")
def mat_mul_integer16(r, _):
    m, k, n = r.int(1, 4), r.int(1, 6), r.int(1, 4)
    return Case([r.codes(m, k, dtype=np.int16), r.codes(k, n, dtype=np.int16)])


@maker("MulInteger")
def mul_integer(r, _):
    dtype = r.byte_type()
    a, b = r.broadcast_pair()
    a, b, a_zero, b_zero = r.codes(*a, dtype=dtype), r.codes(*b, dtype=dtype), r.zero(dtype), r.zero(dtype)
    product = (a.astype(np.int32) - a_zero) * (b.astype(np.int32) - b_zero)
    return Case([a, a_zero, b, b_zero], expected=[product.astype(np.int32)])


@maker("ReduceSumInteger")
def reduce_sum_integer(r, _):
    dims, keep = r.dims(2, 3), r.flag()
    x = r.codes(*dims, dtype=np.int8)
    axis = r.int(0, len(dims) - 1)
    expected = x.astype(np.int32).sum(axis=axis, keepdims=keep, dtype=np.int32)
    return Case([x], {"axes": [axis], "keepdims": int(keep)}, expected=[expected])


@maker("QuantizeLinear")
def quantize_linear(r, _):
    dtype = r.choice([np.uint8, np.int8, np.uint16, np.int16])
    dims = r.dims(2, 3)
    axis = r.int(0, len(dims) - 1)
    if r.flag():
        return Case([r.floats(*dims), r.scale(), r.zero(dtype)], steps=1)
    by = np.abs(r.floats(dims[axis])) + np.float32(0.01)
    zero = np.asarray([r.zero(dtype) for _ in range(dims[axis])], dtype=dtype)
    return Case([r.floats(*dims), by, zero], {"axis": axis}, steps=1)


@maker("DequantizeLinear")
def dequantize_linear(r, _):
    dtype = r.choice([np.uint8, np.int8, np.uint16, np.int16])
    dims = r.dims(2, 3)
    axis = r.int(0, len(dims) - 1)
    if r.flag():
        return Case([r.codes(*dims, dtype=dtype), r.scale(), r.zero(dtype)])
    by = np.abs(r.floats(dims[axis])) + np.float32(0.01)
    zero = np.asarray([r.zero(dtype) for _ in range(dims[axis])], dtype=dtype)
    return Case([r.codes(*dims, dtype=dtype), by, zero], {"axis": axis})


@maker("QAttention")
def q_attention(r, _):
    batch, length, heads, size = r.int(1, 2), r.int(1, 3), r.int(1, 2), r.int(1, 3)
    width, hidden = r.int(1, 4), heads * size
    w_type = r.byte_type()
    columns = r.flag()
    by = np.abs(r.floats(3 * hidden)) * np.float32(0.01) + np.float32(0.005) if columns else r.scale()
    zeros = [r.zero(w_type) for _ in range(3 * hidden)]
    w_zero = np.asarray(zeros, dtype=w_type) if columns else r.zero(w_type)
    mask = np.asarray([r.int(1, length) for _ in range(batch)], dtype=np.int32) if r.flag() else None
    inputs = [
        r.codes(batch, length, width), r.codes(width, 3 * hidden, dtype=w_type), r.floats(3 * hidden), r.scale(), by,
        mask, r.zero(), w_zero,
    ]  # fmt: skip
    outputs = 1
    if r.flag():
        inputs.append(r.floats(2, batch, heads, r.int(1, 2), size))
        inputs[5] = None
        outputs = 2
    return Case(inputs, {"num_heads": heads, "unidirectional": int(r.flag())}, outputs=outputs, ulps=64)


@maker("QEmbedLayerNormalization")
def q_embed(r, _):
    batch, length, width = r.int(1, 2), r.int(1, 3), r.int(2, 5)
    dtype = np.uint8
    tables = [r.codes(rows, width, dtype=dtype) for rows in (6, 4, 2)]
    segments = r.flag()
    ids = r.rng.integers(6, size=(batch, length)).astype(np.int32)
    inputs = [ids, r.rng.integers(2, size=(batch, length)).astype(np.int32), *tables]
    inputs += [r.codes(width, dtype=dtype), r.codes(width, dtype=dtype), None]
    inputs += [r.scale() for _ in range(5)] + [r.zero(dtype) for _ in range(5)]
    if not segments:
        for at in (1, 4, 10, 15):
            inputs[at] = None
    if r.flag():
        inputs[7] = r.rng.integers(3, size=(batch, length)).astype(np.int32)
    return Case(inputs, {"epsilon": 1e-12}, outputs=2, ulps=64)


# Operators on floats.


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gelu(x):
    from math import erf

    return x * (1 + np.vectorize(erf)(x / np.sqrt(2))) / 2


def fast_gelu(x):
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def wide(*values):
    return [np.asarray(value, dtype=np.float64) for value in values]


def text(inputs, attributes, *expected, **more):
    """A case of an operator that ONNX Runtime does not run on the processor: one rounding, so within one unit."""
    bound = {"ulps": 1.0} | more
    return Case(inputs, attributes, outputs=len(expected), expected=[np.asarray(x) for x in expected], **bound)


@maker("BiasAdd")
def bias_add(r, _):
    dims = r.dims(3, 3)
    x, bias, skip = r.floats(*dims), r.floats(dims[-1]), r.floats(*dims)
    return text([x, bias, skip], {}, sum(wide(x, bias, skip)).astype(np.float32))


@maker("BiasDropout")
def bias_dropout(r, _):
    dims = r.dims(2, 3)
    x, bias, residual = r.floats(*dims), r.floats(dims[-1]), r.floats(*dims)
    y = sum(wide(x, bias, residual)).astype(np.float32)
    return text([x, bias, residual, np.float32(0.5), np.asarray(False)], {}, y, np.ones(dims, dtype=bool))


@maker("BiasSoftmax")
def bias_softmax(r, _):
    dims = r.dims(2, 4)
    axis = r.int(1, len(dims) - 1)
    x, bias = r.floats(*dims), r.floats(*([1] * axis), *dims[axis:])
    rows = np.prod(dims[:axis], dtype=int)
    a, b = wide(x, bias)
    y = softmax((a + b).reshape(rows, -1)).reshape(dims)
    return text([x, bias], {"axis": axis, "is_inner_broadcast": 0}, y.astype(np.float32))


@maker("BiasSplitGelu")
def bias_split_gelu(r, _):
    dims = [r.int(1, 2), r.int(1, 3), 2 * r.int(1, 4)]
    x, bias = r.floats(*dims), r.floats(dims[-1])
    a, b = wide(x, bias)
    left, right = np.split(a + b, 2, axis=-1)
    return text([x, bias], {}, (left * gelu(right)).astype(np.float32), ulps=2)


def group_normalized(x, gamma, beta, groups, epsilon, silu):
    """Of float64, channels last."""
    n, c = x.shape[0], x.shape[-1]
    parts = x.reshape(n, -1, groups, c // groups)
    parts = parts - parts.mean(axis=(1, 3), keepdims=True)
    parts = parts / np.sqrt((parts**2).mean(axis=(1, 3), keepdims=True) + epsilon)
    y = parts.reshape(x.shape) * gamma + beta
    return y * sigmoid(y) if silu else y


@maker("GroupNorm", "SkipGroupNorm")
def group_norm(r, name):
    groups = r.int(1, 3)
    n, h, w, c = r.int(1, 2), r.int(1, 3), r.int(1, 3), groups * r.int(1, 3)
    x, gamma, beta = r.floats(n, h, w, c), r.floats(c), r.floats(c)
    epsilon, silu = float(np.float32(1e-3)), r.int(0, 1)
    attributes = {"activation": silu, "groups": groups, "epsilon": epsilon}
    a, g, b = wide(x, gamma, beta)
    if name == "GroupNorm":
        return text([x, gamma, beta], attributes, group_normalized(a, g, b, groups, epsilon, silu).astype(np.float32))
    skip, bias = r.floats(*r.choice([(n, h, w, c), (n, 1, 1, c), (n, c)])), r.floats(c)
    s, d = wide(skip, bias)
    total = a + (s[:, None, None] if s.ndim == 2 else s) + d
    y = group_normalized(total, g, b, groups, epsilon, silu)
    return text([x, gamma, beta, skip, bias], attributes, y.astype(np.float32), total.astype(np.float32))


@maker("GemmFastGelu")
def gemm_fast_gelu(r, _):
    m, k, n = r.int(1, 4), r.int(1, 4), r.int(1, 4)
    x, w, bias = r.floats(m, k), r.floats(k, n), r.floats(n)
    a, b, c = wide(x, w, bias)
    return text([x, w, bias], {}, fast_gelu(a @ b + c).astype(np.float32))


@maker("CDist")
def c_dist(r, _):
    dtype = r.choice([np.float32, np.float64])
    k = r.int(1, 4)
    inputs = [r.floats(r.int(1, 4), k, dtype=dtype), r.floats(r.int(1, 4), k, dtype=dtype)]
    # Squares of differences come from three products, which cancel.
    return Case(inputs, {"metric": r.choice(["euclidean", "sqeuclidean"])}, ulps=4096)


@maker("ExpandDims")
def expand_dims(r, _):
    dims = r.dims(0, 3)
    return Case([r.floats(*dims), np.asarray(r.int(-len(dims) - 1, len(dims)), dtype=np.int32)])


@maker("GatherND")
def gather_nd(r, _):
    dims = r.dims(1, 3)
    last = r.int(1, len(dims))
    indices = [[r.int(-dim, dim - 1) for dim in dims[:last]] for _ in range(r.int(1, 3))]
    return Case([r.floats(*dims), np.asarray(indices, dtype=r.choice([np.int32, np.int64]))])


@maker("GridSample")
def grid_sample(r, _):
    n, c = r.int(1, 2), r.int(1, 2)
    x, grid = r.floats(n, c, r.int(2, 4), r.int(2, 4)), r.rng.uniform(-1.3, 1.3, (n, r.int(1, 3), r.int(1, 3), 2))
    attributes = {
        "mode": r.choice(["bilinear", "nearest", "bicubic"]),
        "padding_mode": r.choice(["zeros", "border", "reflection"]),
        "align_corners": r.int(0, 1),
    }
    # With both, ONNX Runtime clips the position, and ONNX's text the places that are read.
    if attributes["mode"] == "bicubic" and attributes["padding_mode"] == "border":
        attributes["mode"] = "bilinear"
    return Case([x, grid.astype(np.float32)], attributes, ulps=64)


@maker("Pad")
def pad(r, _):
    dims = [dim + 1 for dim in r.dims(1, 3, most=3)]
    pads = np.asarray([r.int(0, 1) for _ in range(2 * len(dims))], dtype=np.int64)
    mode = r.choice(["constant", "edge", "reflect"])
    value = r.floats(1) if mode == "constant" and r.flag() else None
    return Case([r.floats(*dims), pads, value], {"mode": mode})


@maker("Trilu")
def trilu(r, _):
    k = np.asarray(r.int(-2, 2), dtype=np.int64) if r.flag() else None
    return Case([r.floats(*r.dims(2, 3)), k], {"upper": r.int(0, 1)})


@maker("Unique")
def unique(r, _):
    return Case([r.rng.integers(4, size=r.int(1, 8)).astype(np.float32)], outputs=3)


@maker("Range")
def range_(r, _):
    dtype = r.choice([np.float32, np.float64, np.int16, np.int32, np.int64])
    start = r.int(-3, 3)
    values = [np.asarray(x, dtype=dtype).reshape(r.choice([(), (1,)])) for x in (start, start + r.int(1, 9), r.int(1, 3))]
    return Case(values[: r.int(2, 3)])


@maker("UnfoldTensor")
def unfold(r, _):
    dims = r.dims(1, 3)
    axis = r.int(0, len(dims) - 1)
    dims[axis] = r.int(3, 7)
    attributes = {"dim": axis - len(dims) if r.flag() else axis, "size": r.int(1, 3), "step": r.int(1, 3)}
    return Case([r.floats(*dims)], attributes)


@maker("NhwcMaxPool")
def nhwc_max_pool(r, _):
    dtype = r.byte_type()
    dims = [r.int(1, 2), r.int(4, 6), r.int(4, 6), r.int(1, 3)]
    kernel = [r.int(1, 3), r.int(1, 3)]
    attributes = {"kernel_shape": kernel, "strides": [r.int(1, 2), r.int(1, 2)]}
    if r.flag():
        attributes["pads"] = [r.int(0, k - 1) for k in kernel * 2]
    return Case([r.codes(*dims, dtype=dtype)], attributes)


@maker("NhwcConv", "NhwcFusedConv")
def nhwc_conv(r, name):
    groups = r.int(1, 2)
    c, out, size, kernel = r.int(1, 2), groups * r.int(1, 2), r.int(3, 5), r.int(1, 3)
    x, w, bias = r.floats(1, size, size, c * groups), r.floats(out, c, kernel, kernel), r.floats(out)
    pad, stride = r.int(0, 1), r.int(1, 2)
    a, f, b = wide(np.pad(x, [(0, 0), (pad, pad), (pad, pad), (0, 0)]), w, bias)
    count = (size + 2 * pad - kernel) // stride + 1
    y = np.zeros((1, count, count, out))
    for i in range(count):
        for j in range(count):
            window = a[0, i * stride : i * stride + kernel, j * stride : j * stride + kernel]
            for o in range(out):
                g = o // (out // groups)
                y[0, i, j, o] = (window[..., g * c : (g + 1) * c] * f[o].transpose(1, 2, 0)).sum() + b[o]
    attributes = {"group": groups, "pads": [pad] * 4, "strides": [stride] * 2, "kernel_shape": [kernel] * 2}
    if name == "NhwcConv":
        return text([x, w, bias], attributes, y.astype(np.float32))
    z = r.floats(*y.shape)
    attributes["activation"] = "Relu"
    return text([x, w, bias, z], attributes, np.maximum(y + z, 0).astype(np.float32))


@maker("Rfft", "Irfft")
def rfft(r, name):
    count = r.int(1, 2)
    dims = r.dims(count - 1, 3, most=3) + [2 * r.int(1, 4)]
    axes = tuple(range(len(dims) - count, len(dims)))
    x = r.floats(*dims)
    y = np.fft.rfftn(wide(x)[0], axes=axes)
    pairs = np.stack([y.real, y.imag], -1).astype(np.float32)
    attributes = {"signal_ndim": count, "onesided": 1, "normalized": 0}
    if name == "Rfft":
        return text([x], attributes, pairs)
    back = np.fft.irfftn(pairs[..., 0].astype(float) + 1j * pairs[..., 1], s=[dims[a] for a in axes], axes=axes)
    return text([pairs], attributes, back.astype(np.float32), ulps=8)


@maker("ComplexMul", "ComplexMulConj")
def complex_mul(r, name):
    dims, other = r.broadcast_pair()
    a, b = r.floats(*dims, 2), r.floats(*other, 2)
    p, q = (x[..., 0].astype(float) + 1j * x[..., 1] for x in (a, b))
    y = p * (q.conj() if name == "ComplexMulConj" else q)
    return text([a, b], {}, np.stack([y.real, y.imag], -1).astype(np.float32))


@maker("IsAllFinite")
def is_all_finite(r, _):
    inputs = [r.floats(*r.dims(1, 2)) for _ in range(r.int(1, 3))]
    if r.flag():
        inputs[-1].flat[0] = r.choice([np.inf, -np.inf, np.nan])
    only = r.choice([{}, {"isinf_only": 1}, {"isnan_only": 1}])
    test = np.isinf if "isinf_only" in only else np.isnan if only else lambda x: ~np.isfinite(x)
    return text(inputs, only, np.asarray(not any(test(x).any() for x in inputs)))


@maker("TorchEmbedding")
def torch_embedding(r, _):
    table, ids = r.floats(5, r.int(1, 3)), r.rng.integers(5, size=r.dims(1, 2))
    return text([table, ids, np.asarray(1)], {}, table[ids])


@maker("GatedRelativePositionBias")
def gated_relative_position_bias(r, _):
    b, s, h, size, d = r.int(1, 2), r.int(1, 3), r.int(1, 2), r.int(1, 3), 2 * r.int(1, 3)
    inputs = [r.floats(b, s, h * size), r.floats(h * size), r.floats(1, h, s, s), r.floats(size, d), r.floats(d),
              r.floats(1, h, 1, 1)]  # fmt: skip
    q, bias, positions, w, g, a = wide(*inputs)
    q = (q + bias).reshape(b, s, h, size).transpose(0, 2, 1, 3)
    gates = sigmoid((q @ w + g).reshape(b, h, s, 2, d // 2).sum(-1))
    y = (gates[..., :1] * (gates[..., 1:] * a - 1) + 2) * positions
    return text(inputs, {"num_heads": h}, y.astype(np.float32))


@maker("ScaledSiLU")
def scaled_silu(r, _):
    scale = r.floats() if r.flag() else None
    return Case([r.floats(*r.dims(1, 3)), scale], {"alpha": 0.5}, ulps=4)


@maker("GatedAdd")
def gated_add(r, _):
    dims = r.dims(2, 3)
    return Case([r.floats(*dims), r.floats(*dims), r.floats(*dims[:-1], 1)])


@maker("GatedRMSNorm")
def gated_rms_norm(r, _):
    dims, groups = r.dims(2, 3), r.int(1, 2)
    width = r.int(1, 4)
    dims[-1] = width * groups
    attributes = {"activation": r.choice(["silu", "sigmoid"]), "epsilon": 1e-3}
    return Case([r.floats(*dims), r.floats(width), r.floats(*dims)], attributes, ulps=8)


# Operators of transformers.


@maker("Inverse")
def inverse(r, _):
    size = r.int(1, 4)
    x = r.floats(*r.dims(0, 1), size, size) + 3 * np.eye(size, dtype=np.float32)
    return Case([x], ulps=256)


@maker("CropAndResize")
def crop_and_resize(r, _):
    n, count = r.int(1, 2), r.int(1, 3)
    boxes = np.sort(r.rng.uniform(-0.1, 1.1, (count, 2, 2)), axis=1).reshape(count, 4).astype(np.float32)
    inputs = [
        r.floats(n, r.int(1, 2), r.int(2, 4), r.int(2, 4)), boxes, r.rng.integers(n, size=count).astype(np.int32),
        np.asarray([r.int(1, 4), r.int(1, 4)], dtype=np.int32),
    ]  # fmt: skip
    attributes = {"mode": r.choice(["bilinear", "nearest"]), "extrapolation_value": 0.5}
    return Case(inputs, attributes, ulps=64)


@maker("NGramRepeatBlock")
def n_gram_repeat_block(r, _):
    batch = r.int(1, 2)
    ids = r.rng.integers(3, size=(batch, r.int(1, 8)))
    return Case([ids, r.floats(batch, 4)], {"ngram_size": r.int(1, 3)})


@maker("MurmurHash3")
def murmur_hash3(r, _):
    dtype = r.choice([np.int32, np.uint32, np.int64, np.float32, np.float64, object])
    dims = r.dims(1, 2)
    x = r.rng.integers(0, 1000, size=dims)
    x = np.vectorize(lambda n: "x" * (n % 9) + str(n), otypes=[object])(x) if dtype is object else x.astype(dtype)
    return Case([x], {"seed": r.int(0, 9), "positive": r.int(0, 1)})


@maker("MatMulBnb4")
def mat_mul_bnb4(r, _):
    k, n, block = r.int(1, 6), r.int(1, 4), r.choice([16, 32])
    packed = r.codes((k * n + 1) // 2)
    scales = np.abs(r.floats(-(-k * n // block)))
    attributes = {"K": k, "N": n, "block_size": block, "quant_type": r.int(0, 1)}
    return Case([r.floats(*r.dims(0, 1), r.int(1, 3), k), packed, scales], attributes, ulps=32)


@maker("GatherBlockQuantized")
def gather_block_quantized(r, _):
    bits, block = r.choice([2, 4, 8]), 16
    rows, width = r.int(2, 4), r.choice([16, 32])
    blocks = width // block
    data = r.codes(rows, width * bits // 8)
    ids = r.rng.integers(-rows, rows, size=r.dims(0, 2)).astype(r.choice([np.int32, np.int64]))
    zeros = r.codes(rows, -(-blocks * bits // 8)) if r.flag() else None
    attributes = {"bits": bits, "block_size": block, "gather_axis": 0, "quantize_axis": r.choice([1, -1])}
    return Case([data, ids, np.abs(r.floats(rows, blocks)), zeros], attributes)


@maker("BiasGelu", "FastGelu", "Gelu", "QuickGelu")
def gelus(r, name):
    dims = r.dims(1, 3)
    inputs = [r.floats(*dims)]
    if name in ("BiasGelu", "FastGelu"):
        inputs.append(r.floats(dims[-1]))
    # ONNX Runtime approximates erf and tanh.
    return Case(inputs, {"alpha": 1.5} if name == "QuickGelu" else {}, ulps=16)


@maker("SkipLayerNormalization", "SkipSimplifiedLayerNormalization")
def skip_layer(r, name):
    dims = r.dims(3, 3)
    width = dims[-1]
    inputs = [r.floats(*dims), r.floats(*dims), r.floats(width)]
    if name == "SkipLayerNormalization":
        inputs.append(r.floats(width) if r.flag() else None)
    inputs.append(r.floats(width) if r.flag() else None)
    return Case(inputs, {"epsilon": 1e-2}, ulps=32)


@maker("FusedMatMul", "TransposeMatMul")
def fused_mat_mul(r, name):
    m, k, n, batch = r.int(1, 4), r.int(1, 4), r.int(1, 4), r.dims(0, 2, most=2)
    trans_a, trans_b = r.flag(), r.flag()
    a, b = (k, m) if trans_a else (m, k), (n, k) if trans_b else (k, n)
    attributes = {"transA": int(trans_a), "transB": int(trans_b), "alpha": 0.5}
    return Case([r.floats(*batch, *a), r.floats(*batch, *b)], attributes, ulps=8)


@maker("FusedGemm")
def fused_gemm(r, _):
    m, k, n = r.int(1, 4), r.int(1, 4), r.int(1, 4)
    attributes = {"alpha": 0.5, "beta": 2.0, "activation": r.choice(["Relu", "Tanh", "Sigmoid", "LeakyRelu"])}
    if attributes["activation"] == "LeakyRelu":
        attributes["activation_alpha"] = 0.25
    return Case([r.floats(m, k), r.floats(k, n), r.floats(n)], attributes, ulps=32)


@maker("FusedConv")
def fused_conv(r, _):
    c, out, size, kernel = r.int(1, 2), r.int(1, 2), r.int(3, 5), r.int(1, 3)
    activation = r.choice(["Relu", "Tanh", "Sigmoid", "LeakyRelu", "Clip"])
    parameters = {"LeakyRelu": [0.25], "Clip": [-0.5, 0.5]}.get(activation)
    attributes = {"activation": activation, "pads": [r.int(0, 1)] * 4}
    if parameters:
        attributes["activation_params"] = parameters
    return Case([r.floats(1, c, size, size), r.floats(out, c, kernel, kernel), r.floats(out)], attributes, ulps=64)


@maker("EmbedLayerNormalization")
def embed(r, _):
    batch, length, width = r.int(1, 2), r.int(1, 3), r.int(2, 5)
    ids = r.rng.integers(6, size=(batch, length)).astype(np.int32)
    segments = r.rng.integers(2, size=(batch, length)).astype(np.int32)
    tables = [r.floats(6, width), r.floats(4, width), r.floats(2, width)]
    if r.flag():
        segments = tables[2] = None
    mask = r.rng.integers(3, size=(batch, length)).astype(np.int32)
    inputs = [ids, segments, *tables, r.floats(width), r.floats(width), mask if r.flag() else None]
    return Case(inputs, {"epsilon": 1e-2}, outputs=2, ulps=64)


@maker("RotaryEmbedding")
def rotary(r, _):
    batch, heads, length, half = r.int(1, 2), r.int(1, 2), r.int(1, 3), r.int(1, 3)
    angles = r.rng.uniform(0, 6, (8, half))
    x = r.floats(batch, length, heads * 2 * half) if r.flag() else r.floats(batch, heads, length, 2 * half)
    positions = r.rng.integers(8, size=(batch, length)) if r.flag() else np.asarray([r.int(0, 4)])
    inputs = [x, positions.astype(np.int64), np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)]
    attributes = {"interleaved": r.int(0, 1)}
    if r.flag():
        # Only the first part of a head is turned.
        size = 2 * half + r.choice([0, 2])
        inputs[0] = r.floats(batch, length, heads * size)
        attributes |= {"num_heads": heads, "rotary_embedding_dim": 2 * half}
    return Case(inputs, attributes, ulps=4)


@maker("Attention")
def attention(r, _):
    batch, length, heads, size = r.int(1, 2), r.int(1, 3), r.int(1, 2), r.int(1, 3)
    width, hidden = r.int(1, 4), heads * size
    mask = None
    past = r.floats(2, batch, heads, r.int(1, 2), size) if r.flag() else None
    total = length + (past.shape[3] if past is not None else 0)
    if past is None and r.flag():
        mask = np.asarray([r.int(1, length) for _ in range(batch)], dtype=np.int32)
    elif r.flag():
        mask = r.mask(batch, total)
    bias = r.floats(batch, heads, length, total) if r.flag() else None
    inputs = [r.floats(batch, length, width), r.floats(width, 3 * hidden), r.floats(3 * hidden), mask, past, bias]
    attributes = {"num_heads": heads, "unidirectional": r.int(0, 1)}
    if r.flag():
        attributes["scale"] = 0.5
    return Case(inputs, attributes, outputs=1 if past is None else 2, ulps=256)


@maker("MultiHeadAttention")
def multi_head(r, _):
    batch, length, heads, size = r.int(1, 2), r.int(1, 3), r.int(1, 2), r.int(1, 3)
    hidden, keys = heads * size, r.int(1, 4)
    bias = r.floats(3 * hidden) if r.flag() else None
    mask = r.mask(batch, keys) if r.flag() else None
    added = r.floats(batch, heads, length, keys) if r.flag() else None
    inputs = [
        r.floats(batch, length, hidden), r.floats(batch, keys, hidden), r.floats(batch, keys, hidden), bias, mask, added,
    ]  # fmt: skip
    kind = r.int(0, 2)
    if kind == 1:
        # Self-attention after a past.
        past = r.int(1, 2)
        inputs[1:3] = [r.floats(batch, length, hidden) for _ in range(2)]
        inputs[4:] = [None, None, r.floats(batch, heads, past, size), r.floats(batch, heads, past, size)]
        return Case(inputs, {"num_heads": heads, "unidirectional": r.int(0, 1)}, outputs=3, ulps=256)
    if kind == 2:
        # Keys and values that are projected already.
        inputs[1:4] = [r.floats(batch, heads, keys, size), r.floats(batch, heads, keys, size), None]
    return Case(inputs, {"num_heads": heads, "scale": 0.5 if r.flag() else 0.0}, ulps=256)


@maker("GroupQueryAttention")
def group_query(r, _):
    batch, kv, size = r.int(1, 2), r.int(1, 2), 8
    heads = kv * r.int(1, 2)
    first = r.flag()
    before = 0 if first else r.int(1, 3)
    length = r.int(1, 3) if first else 1
    total = before + length
    rotates = r.int(0, 1)
    angles = r.rng.uniform(0, 6, (8, size // 2))
    caches = [np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)] if rotates else [None, None]
    past = [r.floats(batch, kv, before, size) if not first else None for _ in range(2)]
    inputs = [
        r.floats(batch, length, heads * size), r.floats(batch, length, kv * size), r.floats(batch, length, kv * size), *past,
        np.full(batch, total - 1, dtype=np.int32), np.asarray(total, dtype=np.int32), *caches,
    ]  # fmt: skip
    if r.flag():
        # Packed queries, keys and values.
        inputs[:3] = [r.floats(batch, length, (heads + 2 * kv) * size), None, None]
    attributes = {"num_heads": heads, "kv_num_heads": kv, "do_rotary": rotates, "rotary_interleaved": r.int(0, 1)}
    kind = r.int(0, 4)
    if kind == 1:
        attributes["softcap"] = 2.0
    if kind == 2:
        attributes["local_window_size"] = r.int(1, 3)
    if kind == 3:
        attributes["smooth_softmax"] = 1
    if kind == 4:
        inputs += [None] * (11 - len(inputs)) + [r.floats(heads)]
    return Case(inputs, attributes, outputs=3, ulps=256)


@maker("MatMulNBits")
def mat_mul_n_bits(r, _):
    bits, block = r.choice([4, 4, 8]), 16
    m, k, n = r.int(1, 3), r.choice([16, 24, 32, 40]), r.int(1, 3)
    blocks = -(-k // block)
    packed = r.codes(n, blocks, block * bits // 8)
    zeros = None
    if r.flag():
        zeros = r.codes(n * (-(-blocks * bits // 8)))
    scales = np.abs(r.floats(n * blocks)) * np.float32(0.1)
    bias = r.floats(n) if r.flag() else None
    attributes = {"K": k, "N": n, "bits": bits, "block_size": block}
    groups = None
    # With both, ONNX Runtime takes no notice of the zero points.
    if bits == 4 and zeros is None and r.flag():
        groups = r.rng.integers(blocks, size=blocks * block).astype(np.int32)
    return Case([r.floats(m, k), packed, scales, zeros, groups, bias], attributes, ulps=64)


# Writing.

def element(dtype) -> str:
    return str(np.dtype(dtype))


def tensor(value):
    value = np.asarray(value)
    flat = value.reshape(-1)
    if value.dtype.kind == "f":
        data = [float(x) if np.isfinite(x) else str(x) for x in flat.astype(np.float64)]
    elif value.dtype.kind in "OU":
        data = [str(x) for x in flat]
    else:
        data = [int(x) for x in flat]
    name = "string" if value.dtype.kind in "OU" else element(value.dtype)
    return {"type": name, "dims": list(value.shape), "data": data}


def reference(name, case) -> list[np.ndarray]:
    """What ONNX Runtime gives, its optimizations off."""
    inputs = [f"x{i}" if value is not None else "" for i, value in enumerate(case.inputs)]
    while inputs and not inputs[-1]:
        inputs.pop()
    outputs = [f"y{i}" for i in range(case.outputs)]
    node = helper.make_node(name, inputs, outputs, domain=DOMAIN, **case.attributes)
    values = {key: np.asarray(value) for key, value in zip(inputs, case.inputs) if key}
    infos = [
        helper.make_tensor_value_info(key, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for key, value in values.items()
    ]
    # Some kernels take parameters only as constants.
    constants = [numpy_helper.from_array(value, key) for key, value in values.items()]
    graph = helper.make_graph([node], "case", infos, [onnx.ValueInfoProto(name=key) for key in outputs], constants)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid(DOMAIN, 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(outputs, values)


# Operators that ONNX Runtime has in float16 too.
SHORT = {"FastGelu", "GroupQueryAttention", "MatMulNBits", "RotaryEmbedding", "SkipLayerNormalization"}


def shortened(case: Case) -> Case:
    """The case in float16."""
    case.inputs = [
        value.astype(np.float16) if value is not None and np.asarray(value).dtype == np.float32 else value
        for value in case.inputs
    ]
    # A unit is 8192 times as large, and sums are rounded to it.
    case.ulps = 8
    return case


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--count", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    only = [name for name in given.only.split(",") if name]
    lines, refused = [], {}
    for name, make in sorted(MAKERS.items()):
        if only and name not in only:
            continue
        made = 0
        for attempt in range(8 * given.count):
            if made == given.count:
                break
            case = make(Rng([given.seed, attempt, zlib.crc32(name.encode())]), name)
            if name in SHORT and attempt % 3 == 1:
                case = shortened(case)
            try:
                outputs = case.expected or reference(name, case)
            except Exception as error:
                refused.setdefault(name, str(error).splitlines()[0][:300])
                continue
            made += 1
            line = {
                "operator": name,
                "attributes": case.attributes,
                "inputs": [None if value is None else tensor(value) for value in case.inputs],
                "outputs": [tensor(value) for value in outputs],
            }
            line |= {key: value for key in ("steps", "ulps") if (value := getattr(case, key))}
            lines.append(json.dumps(line, separators=(",", ":")))
        if made < given.count:
            print(f"{name}: {made} of {given.count}; {refused.get(name)}", file=sys.stderr)
        elif name in refused and given.count < 20:
            print(f"{name}: also refused {refused[name]}", file=sys.stderr)
    with open(given.file, "w", encoding="utf-8") as file:
        version = onnxruntime.__version__
        file.write(f'{{"onnxruntime": "{version}", "cases": [\n' + ",\n".join(lines) + "\n]}\n")
    print(f"{len(lines)} cases of {len(MAKERS)} operators")


if __name__ == "__main__":
    main()
