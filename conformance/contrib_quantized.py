"""Makers of random nodes of `com.microsoft` on quantized numbers."""

import numpy as np
from contrib_case import Case, maker


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
        r.codes(*dims, dtype=dtype), r.scale(), r.zero(dtype), r.weights(out, channels, kernel, kernel, dtype=w_type), by,
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
    b = r.weights(*((n, k) if trans_b else (k, n)), dtype=b_type)
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
    return [*batch, m, k], r.weights(k, n, dtype=b_type), b_scale, b_zero, bias


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


@maker("DynamicQuantizeLSTM")
def dynamic_quantize_lstm(r, _):
    # States are quantized together by ONNX Runtime where samples share a thread: one sample.
    steps, size, hidden, directions = r.int(1, 4), r.int(1, 4), r.int(1, 3), r.int(1, 2)
    dtype, rows, each = r.byte_type(), 4 * hidden, r.flag()
    dims = (directions, rows) if each else (directions,)

    def code():
        scale = np.asarray(r.rng.uniform(0.005, 0.01, dims), np.float32)
        return scale, np.full(dims, 0 if dtype == np.int8 else 128, dtype)

    w, q = r.weights(directions, size, rows, dtype=dtype), r.weights(directions, hidden, rows, dtype=dtype)
    inputs = [r.floats(steps, 1, size), w, q, r.floats(directions, 2 * rows) if r.flag() else None, None]
    inputs += [r.floats(directions, 1, hidden) if r.flag() else None for _ in range(2)]
    inputs += [r.floats(directions, 3 * hidden) if r.flag() else None, *code(), *code()]
    direction = "bidirectional" if directions == 2 else r.choice(["forward", "reverse"])
    # A sum that is rounded otherwise may move a state to the next code.
    return Case(inputs, {"hidden_size": hidden, "direction": direction}, outputs=3, ulps=64)


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
        r.codes(batch, length, width), r.weights(width, 3 * hidden, dtype=w_type), r.floats(3 * hidden), r.scale(), by,
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
