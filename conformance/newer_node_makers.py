"""Makers of random nodes of attention, recurrences, signals, losses and the operators of newer sets."""

import numpy as np
from node_makers import ANY, FLOATS, INTS, maker
from onnx import helper


@maker("Shrink", "Swish", "SwiGLU", "GlobalLpPool", "CastLike", "BitCast", "CumProd")
def elements(r, name):
    opset = {"_opset": {"Swish": 24, "SwiGLU": 28, "BitCast": 26, "CumProd": 26, "GlobalLpPool": 21}.get(name, 22)}
    shape = r.shape(1)
    if name == "Shrink":
        lambd = {"lambd": float(np.float32(r.rng.random()))} if r.flag() else {}
        return [r.tensor(r.pick([*FLOATS, *INTS]), shape, 0.2)], opset | lambd | ({"bias": 0.25} if r.flag() else {})
    if name in ("Swish", "SwiGLU"):
        dtype = r.pick(["float32", "float16"])
        alpha = {"alpha": 1.5} if r.flag() else {}
        return [r.tensor(dtype, shape, 0.2) for _ in range(1 + (name == "SwiGLU"))], opset | alpha
    if name == "GlobalLpPool":
        return [r.tensor("float32", r.shape(3))], opset | {"p": r.int(1, 3)}
    if name == "CastLike":
        return [r.tensor(r.pick(ANY), shape), r.tensor(r.pick(ANY), [1])], opset
    if name == "BitCast":
        dtype = r.pick([*FLOATS, *INTS])
        to = r.pick([other for other in [*FLOATS, *INTS] if np.dtype(other).itemsize == np.dtype(dtype).itemsize])
        return [r.tensor(dtype, shape, 0.2)], opset | {"to": helper.np_dtype_to_tensor_dtype(np.dtype(to))}
    x = r.tensor(r.pick(["float32", "float64", "int32", "int64"]), shape)
    return [x, np.array(r.axis(len(shape)))], opset | {"exclusive": r.int(0, 1), "reverse": r.int(0, 1)}


@maker("Attention")
def attention(r, _):
    opset = r.pick([23, 24, 25])
    batch, kv_heads, q, size, v_size = r.int(1, 2), r.int(1, 2), *r.ints(3, 1, 4)
    heads, past, new = kv_heads * r.int(1, 3), r.pick([0, 0, 2]), r.int(1, 4)
    total = past + new
    f = lambda *shape: r.tensor("float32", shape, scale=1.0)
    attributes = {"_opset": opset, "is_causal": r.int(0, 1)}
    if r.flag():
        inputs = [f(batch, heads, q, size), f(batch, kv_heads, new, size), f(batch, kv_heads, new, v_size)]
    else:
        inputs = [f(batch, q, heads * size), f(batch, new, kv_heads * size), f(batch, new, kv_heads * v_size)]
        attributes |= {"q_num_heads": heads, "kv_num_heads": kv_heads}
    attributes |= {key: value for key, value in {"scale": 0.5, "softcap": 2.0}.items() if r.flag(0.3)}
    if opset == 25 and r.flag():
        attributes |= {key: r.int(-1, 3) for key in ("left_window_size", "right_window_size")}
    mask = None
    if r.flag():
        shape = r.pick([[q, total], [1, 1, q, total], [batch, 1, q, total], [batch, heads, q, total], [batch, 1, 1, total]])
        mask = r.tensor(r.pick(["float32", "bool"]), shape)
        if mask.dtype == bool:
            # Rows without an element to attend to are for a case of their own.
            mask[..., 0] = True
    state = [f(batch, kv_heads, past, size), f(batch, kv_heads, past, v_size)] if past else [None, None]
    attributes["_outputs"] = r.pick([1, 3, 4]) if past else r.pick([1, 1, 4])
    if attributes["_outputs"] == 4:
        attributes["qk_matmul_output_mode"] = r.int(0, 3)
    return [*inputs, mask, *state], attributes


@maker("RotaryEmbedding", "RMSNormalization", "TensorScatter")
def transformer(r, name):
    batch, heads, seq, half = *r.ints(3, 1, 3), r.int(1, 4)
    f = lambda *shape: r.tensor("float32", shape)
    if name == "RMSNormalization":
        shape = [max(size, 1) for size in r.shape(1)]
        axis = r.axis(len(shape))
        return [f(*shape), f(*shape[axis:])], {"_opset": 23, "axis": axis, "epsilon": r.pick([1e-5, 0.125])}
    if name == "TensorScatter":
        most = r.int(2, 5)
        count = r.int(1, most)
        where = np.array(r.ints(batch, 0, most - count)) if r.flag(0.8) else None
        cache, update = f(batch, heads, most, half), f(batch, heads, count, half)
        return [cache, update, where], {"_opset": 24, "mode": r.pick(["linear", "circular"])}
    size, rotated = 2 * half, 2 * half
    attributes = {"_opset": 23, "interleaved": r.int(0, 1)}
    if r.flag(0.4) and half > 1:
        rotated = 2 * r.int(1, half - 1)
        attributes["rotary_embedding_dim"] = rotated
    x = f(batch, heads, seq, size)
    if r.flag():
        x = f(batch, seq, heads * size)
        attributes["num_heads"] = heads
    if r.flag():
        positions = r.rng.integers(0, 6, size=[batch, seq])
        return [x, f(6, rotated // 2), f(6, rotated // 2), positions], attributes
    return [x, f(batch, seq, rotated // 2), f(batch, seq, rotated // 2)], attributes


@maker("LinearAttention", "CausalConvWithState")
def recurrence(r, name):
    batch, seq, size, v_size = r.ints(4, 1, 3)
    f = lambda *shape: r.tensor("float32", shape, scale=0.5)
    if name == "CausalConvWithState":
        channels, kernel = r.int(1, 3), r.int(1, 4)
        inputs = [f(batch, channels, seq), f(channels, 1, kernel), f(channels) if r.flag() else None]
        state = f(batch, channels, kernel - 1) if r.flag() else None
        return [*inputs, state], {"_opset": 27, "_outputs": 2, "activation": r.pick(["none", "silu", "swish"])}
    kv_heads = r.int(1, 2)
    heads = kv_heads * r.int(1, 2)
    rule = r.pick(["linear", "gated", "delta", "gated_delta"])
    inputs = [f(batch, seq, heads * size), f(batch, seq, kv_heads * size), f(batch, seq, kv_heads * v_size)]
    state = f(batch, kv_heads, size, v_size) if r.flag() else None
    decay = -np.abs(f(batch, seq, kv_heads * r.pick([1, size]))) if "gated" in rule else None
    beta = np.abs(f(batch, seq, r.pick([1, kv_heads]))) if "delta" in rule else None
    attributes = {"_opset": 27, "_outputs": 2, "update_rule": rule, "q_num_heads": heads, "kv_num_heads": kv_heads}
    return [*inputs, state, decay, beta], attributes


@maker("DFT", "STFT", "MelWeightMatrix", "HannWindow", "HammingWindow", "BlackmanWindow")
def signal(r, name):
    dtype = r.pick(["float32", "float64"])
    if name == "DFT":
        shape = [max(size, 1) for size in r.shape(1, 3)]
        axis = r.axis(len(shape) + 1) if r.flag(0.7) else -2
        if axis in (-1, len(shape)):
            axis = -2
        components, kind = r.int(1, 2), r.pick(["", "inverse", "onesided"])
        if kind == "onesided":
            components = 1
        length = np.array(r.int(1, 7)) if r.flag() else None
        return [r.tensor(dtype, [*shape, components]), length, np.array(axis)], {kind: 1} if kind else {}
    if name == "STFT":
        length, batch = r.int(8, 20), r.int(1, 2)
        frame = r.int(2, 8)
        onesided = r.int(0, 1)
        shape = [batch, length, 1 if onesided else r.int(1, 2)]
        window = r.tensor(dtype, [frame]) if r.flag() else None
        given = None if window is not None and r.flag() else np.array(frame)
        return [r.tensor(dtype, shape), np.array(r.int(1, 4)), window, given], {"onesided": onesided}
    if name == "MelWeightMatrix":
        low, high = np.float32(r.int(0, 100)), np.float32(r.int(500, 4000))
        return [np.array(r.int(1, 12)), np.array(r.pick([16, 32, 64])), np.array(8000), low, high], {}
    return [np.array(r.int(1, 12))], {"periodic": r.int(0, 1)}


@maker("AffineGrid", "DeformConv", "MaxUnpool", "MaxRoiPool", "QLinearConv")
def windows(r, name):
    f = lambda *shape: r.tensor("float32", shape)
    if name == "AffineGrid":
        rank, batch = r.int(2, 3), r.int(1, 2)
        return [f(batch, rank, rank + 1), np.array([batch, 2, *r.ints(rank, 1, 4)])], {"align_corners": r.int(0, 1)}
    if name == "MaxRoiPool":
        corners = np.sort(r.rng.integers(0, 6, size=[3, 2, 2]), axis=1).reshape(3, 4)
        rois = np.concatenate([r.rng.integers(0, 2, size=[3, 1]), corners], 1).astype(np.float32)
        return [f(2, 2, 6, 6), rois], {"_opset": 21, "pooled_shape": r.ints(2, 1, 3), "spatial_scale": r.pick([1.0, 0.5])}
    if name == "MaxUnpool":
        sizes, kernel = r.ints(2, 1, 4), r.ints(2, 1, 3)
        full = [size * step for size, step in zip(sizes, kernel, strict=True)]
        flat = r.rng.permutation(int(np.prod(full)))[: int(np.prod(sizes))].reshape(1, 1, *sizes)
        return [f(1, 1, *sizes), flat], {"kernel_shape": kernel, "strides": kernel}
    group, inner, outer = r.int(1, 2), r.int(1, 2), r.int(1, 2)
    kernel, sizes, batch = r.ints(2, 1, 3), r.ints(2, 4, 6), r.int(1, 2)
    attributes = {"group": group, "pads": r.ints(4, 0, 1), "strides": r.ints(2, 1, 2)}
    channels, filters = group * inner, group * outer
    if name == "DeformConv":
        offset_group = r.pick([g for g in range(1, channels + 1) if channels % g == 0])
        pads, steps = attributes["pads"], attributes["strides"]
        out = [(sizes[i] + pads[i] + pads[i + 2] - kernel[i]) // steps[i] + 1 for i in (0, 1)]
        count = offset_group * kernel[0] * kernel[1]
        offset, mask = f(batch, 2 * count, *out), f(batch, count, *out) if r.flag() else None
        x, weights = f(batch, channels, *sizes), f(filters, inner, *kernel)
        return [x, weights, offset, f(filters) if r.flag() else None, mask], attributes | {"offset_group": offset_group}
    code, other = r.pick(["uint8", "int8"]), r.pick(["uint8", "int8"])
    scale = lambda *shape: (np.abs(r.tensor("float32", shape)) + np.float32(0.01)).astype(np.float32)
    x, weights = r.tensor(code, [batch, channels, *sizes]), r.tensor(other, [filters, inner, *kernel])
    each = [filters] if r.flag() else []
    bias = r.tensor("int32", [filters]) if r.flag() else None
    zeros = np.zeros(each, other)
    return [x, scale(), r.tensor(code, []), weights, scale(*each), zeros, scale(), r.tensor(code, []), bias], attributes


@maker("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def loss(r, name):
    batch, classes, rest = r.int(1, 3), r.int(2, 5), r.ints(r.int(0, 2), 1, 3)
    dtype = r.pick(["float32", "float64"])
    attributes = {"reduction": r.pick(["none", "sum", "mean"])}
    target = r.rng.integers(0, classes, size=[batch, *rest])
    if r.flag():
        attributes["ignore_index"] = ignored = r.pick([0, 1, -5])
        target = np.where(r.rng.random(target.shape) < 0.2, ignored, target)
        # The mean of no element is not a number, but programs differ there.
        target.flat[0] = 1 if ignored == 0 else 0
    weights = np.abs(r.tensor(dtype, [classes])) + 0.5 if r.flag() else None
    if name == "SoftmaxCrossEntropyLoss":
        attributes["_outputs"] = r.int(1, 2)
    weights = None if weights is None else weights.astype(dtype)
    return [r.tensor(dtype, [batch, classes, *rest]), target, weights], attributes
