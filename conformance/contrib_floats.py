"""Makers of random nodes of `com.microsoft` on floats, and of those that move elements."""

import numpy as np
from contrib_case import Case, maker


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
    held = None
    if not first and r.int(0, 2) == 0:
        # A cache of the last keys, of which as many rows are given as `resident` tells.
        window = r.int(1, 4)
        capacity, length, before = window + r.int(0, 3), r.int(1, 3) if batch == 1 else 1, r.int(1, 7)
        total = before + length
        inputs = [value if value is None else r.floats(batch, length, value.shape[2]) for value in inputs[:3]] + inputs[3:]
        inputs[3:7] = [
            *(np.zeros((batch, kv, capacity, size), np.float32) for _ in range(2)),
            np.full(batch, total - 1, dtype=np.int32), np.asarray(total, dtype=np.int32),
        ]  # fmt: skip
        if rotates:
            angles = r.rng.uniform(0, 6, (16, size // 2))
            inputs[7:9] = [np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)]
        for cache in inputs[3:5]:
            rows = resident(before, capacity, window)
            cache[:, :, :rows] = r.floats(batch, kv, rows, size)
        held = resident(total, capacity, window)
        attributes |= {"local_window_size": window, "sliding_window_cache": 1}
    return Case(inputs, attributes, outputs=3, ulps=256, held=held)


def resident(keys: int, capacity: int, window: int) -> int:
    """How many of so many keys a cache of the last ones holds."""
    evicted = capacity - window + 1
    return keys - evicted * -(-max(keys - capacity, 0) // evicted)


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


@maker("MatMulFpQ4")
def mat_mul_fp_q4(r, _):
    m, k, n, kind = r.int(1, 3), r.choice([16, 32, 40, 64]), r.int(1, 3), r.int(0, 1)
    blocks = n * -(-k // 32)
    scales = (np.abs(r.floats(blocks, 1)) * np.float32(0.1)).view(np.uint8)
    offsets = r.rng.integers(0, 16, (blocks, kind)).astype(np.uint8)
    packed = np.concatenate([scales, offsets, r.codes(blocks, 16)], 1).reshape(-1)
    return Case([r.floats(m, k), packed, np.array([k, n])], {"blk_quant_type": kind}, ulps=64)


@maker("Tokenizer")
def tokenizer(r, _):
    words = ["Gradus", "ad", "Parnassum,", "e-mail", "über", "x", "3.14", "", "  "]
    texts = [" ".join(r.choice(words) for _ in range(r.int(0, 4))) for _ in range(r.int(1, 6))]
    x = np.array(texts, dtype=object)
    if r.flag():
        x = x[None]
    shortest = r.int(1, 3)
    attributes = {"mark": r.int(0, 1), "pad_value": r.choice(["", "#"]), "mincharnum": shortest}
    match r.int(0, 2):
        case 0:
            attributes |= {"separators": [""], "mincharnum": 1}
        case 1:
            attributes["separators"] = r.choice([[" "], ["[,.]", " +"], ["m*"], ["a|r", "-"]])
        case _:
            attributes["tokenexp"] = r.choice([r"[a-zA-Z]+", r"\w+", r"[^ ]*", r"\b.", r"[a-z]{2}"])
    return Case([x], attributes)
