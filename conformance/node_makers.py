"""Makers of random nodes: for an operator, a function that returns inputs and attributes of a node.

`_outputs` among the attributes says how many outputs the node has, `_opset` its operator set.
"""

import numpy as np
from onnx import helper

FLOATS = ["float32", "float64", "float16"]
INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
ANY = [*FLOATS, *INTS, "bool"]
MAKERS = {}


class Random:
    """Random shapes, tensors and attributes."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def pick(self, of):
        return of[self.rng.integers(len(of))]

    def flag(self, chance=0.5):
        return bool(self.rng.random() < chance)

    def int(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def shape(self, low=0, high=4):
        return [0 if self.flag(0.04) else self.int(1, 5) for _ in range(self.int(low, high))]

    def ints(self, count, low, high):
        return [self.int(low, high) for _ in range(count)]

    def axis(self, rank):
        return self.int(-rank, rank - 1)

    def axes(self, rank):
        chosen = self.rng.permutation(rank)[: self.int(0, rank)]
        return np.array([int(axis) - rank * self.flag() for axis in chosen], np.int64)

    def tensor(self, dtype, shape, special=0.0, scale=2.0):
        kind = np.dtype(dtype).kind
        if kind == "b":
            return self.rng.integers(2, size=shape).astype(bool)
        if kind in "iu":
            low, high = (-9, 9) if kind == "i" else (0, 18)
            return self.rng.integers(low, high, size=shape).astype(dtype)
        values = (self.rng.standard_normal(shape) * scale).astype(dtype)
        if special and self.flag(0.3) and values.size:
            where = self.rng.random(values.shape) < special
            found = self.rng.choice([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e30], size=values.shape)
            values = np.where(where, found, values).astype(dtype)
        return np.asarray(values)

    def broadcast(self, count):
        shape = self.shape()
        parts = [[1 if self.flag(0.25) else size for size in shape][self.int(0, len(shape)) :] for _ in range(count)]
        parts[0] = shape
        return [parts[i] for i in self.rng.permutation(count)]


def maker(*names):
    def add(function):
        MAKERS.update({name: function for name in names})
        return function

    return add


UNARY = "Abs Neg Ceil Floor Round Sqrt Exp Log Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Asinh Acosh Atanh Erf Sign Reciprocal Relu \
Sigmoid Softplus Softsign HardSigmoid HardSwish Elu Selu Celu LeakyRelu ThresholdedRelu Mish Gelu Identity Not BitwiseNot IsNaN IsInf \
Shape Size NonZero Flatten Hardmax Softmax LogSoftmax Det GlobalAveragePool GlobalMaxPool".split()
BINARY = "Add Sub Mul Div Pow Mod And Or Xor Equal Less Greater LessOrEqual GreaterOrEqual BitwiseAnd BitwiseOr BitwiseXor PRelu".split()


@maker(*UNARY)
def unary(r, name):
    # The others compute these of float64 with constants, or tables, of float32.
    dtype = r.pick([dtype for dtype in ANY if dtype != "float64" or name not in ("Erf", "Gelu", "HardSwish")])
    attributes, shape = {}, r.shape()
    if name in ("Det", "GlobalAveragePool", "GlobalMaxPool", "Flatten", "Hardmax", "Softmax", "LogSoftmax"):
        shape = r.shape(2 if name == "Det" else 1)
        shape = [*shape[:-1], shape[-1], shape[-1]] if name == "Det" else shape
    if name in ("Hardmax", "Softmax", "LogSoftmax", "Flatten"):
        attributes["axis"] = r.axis(len(shape))
    if name in ("HardSigmoid", "Elu", "Selu", "Celu", "LeakyRelu", "ThresholdedRelu") and r.flag():
        attributes["alpha"] = float(np.float32(r.rng.random() + 0.1))
    if name == "Gelu" and r.flag():
        attributes["approximate"] = "tanh"
    if name == "Shape" and shape:
        attributes |= {key: r.int(-6, 6) for key in ("start", "end") if r.flag()}
    if name == "IsInf":
        attributes |= {key: r.int(0, 1) for key in ("detect_negative", "detect_positive")}
    # The maximum of NaN and numbers is neither here nor there.
    return [r.tensor(dtype, shape, 0.0 if name == "Hardmax" else 0.2)], attributes


@maker(*BINARY)
def binary(r, name):
    a, b = r.broadcast(2)
    if name == "PRelu":
        a = list(np.broadcast_shapes(a, b))
    dtype = r.pick(ANY)
    other = r.pick(ANY) if name == "Pow" and r.flag() else dtype
    values = [r.tensor(dtype, a, 0.2), r.tensor(other, b, 0.2)]
    if np.dtype(dtype).kind in "iu" and name in ("Div", "Mod"):
        values[1] = np.where(values[1] == 0, np.ones_like(values[1]), values[1])
    if name == "Pow":
        # Roots of negative numbers, and powers beyond 64 bits, are no integers.
        whole = any(value.dtype.kind == "i" for value in values)
        values = [np.nan_to_num(np.abs(value), nan=2).clip(0, 9).astype(value.dtype) if whole else value for value in values]
    fmod = {"fmod": 1} if name == "Mod" and (np.dtype(dtype).kind == "f" or r.flag()) else {}
    return values, fmod


@maker("Max", "Min", "Sum", "Mean")
def variadic(r, _):
    dtype = r.pick([*FLOATS, *INTS])
    return [r.tensor(dtype, shape, 0.1) for shape in r.broadcast(r.int(1, 3))], {}


@maker("BitShift")
def shift(r, _):
    a, b = r.broadcast(2)
    dtype = r.pick(INTS[4:])
    return [r.tensor(dtype, a), r.rng.integers(0, 8, size=b).astype(dtype)], {"direction": r.pick(["LEFT", "RIGHT"])}


@maker(*(f"Reduce{name}" for name in "Sum Mean Max Min Prod L1 L2 LogSum LogSumExp SumSquare".split()))
def reduce(r, name):
    shape = r.shape()
    # The logarithm of a sum of integers is rounded in many ways.
    dtypes = ["float32", "float64", *([] if "Log" in name else ["int32", "int64"])]
    attributes = {key: r.int(0, 1) for key in ("keepdims", "noop_with_empty_axes") if r.flag()}
    axes = r.axes(len(shape)) if r.flag(0.8) else None
    return [r.tensor(r.pick(dtypes), shape), axes], attributes


@maker("ArgMax", "ArgMin")
def arg(r, _):
    shape = r.shape(1)
    attributes = {"axis": r.axis(len(shape)), "keepdims": r.int(0, 1), "select_last_index": r.int(0, 1)}
    return [np.round(r.tensor(r.pick(["float32", "int32", "float64", "int8"]), shape)), ], attributes


@maker("Concat")
def concat(r, _):
    shape, dtype = r.shape(1), r.pick(ANY)
    axis = r.axis(len(shape))
    shapes = [[r.int(0, 3) if i == axis % len(shape) else size for i, size in enumerate(shape)] for _ in range(r.int(1, 3))]
    return [r.tensor(dtype, shape) for shape in shapes], {"axis": axis}


@maker("Split")
def split(r, _):
    shape = r.shape(1)
    axis, count = r.axis(len(shape)), r.int(1, 3)
    if r.flag():
        return [r.tensor(r.pick(ANY), shape)], {"axis": axis, "num_outputs": count, "_outputs": count}
    parts = np.array(r.ints(count, 0, 3), np.int64)
    shape[axis] = int(parts.sum())
    return [r.tensor(r.pick(ANY), shape), parts], {"axis": axis, "_outputs": count}


@maker("Slice")
def slice_(r, _):
    shape = r.shape(1)
    axes = r.axes(len(shape))
    steps = np.array([r.pick([1, 1, 2, 3, -1, -2]) for _ in axes], np.int64)
    starts, ends = (np.array([r.pick([*range(-7, 8), 2**62, -(2**62)]) for _ in axes], np.int64) for _ in "ab")
    return [r.tensor(r.pick(ANY), shape), starts, ends, axes, steps], {}


@maker("Gather", "GatherElements", "GatherND")
def gather(r, name):
    shape = [max(size, 1) for size in r.shape(1)]
    rank, data = len(shape), r.tensor(r.pick(ANY), shape)
    kind = r.pick([np.int32, np.int64])
    axis = r.axis(rank)
    if name == "Gather":
        return [data, r.rng.integers(-shape[axis], shape[axis], size=r.shape(0, 3)).astype(kind)], {"axis": axis}
    if name == "GatherElements":
        size = [r.int(1, 4) if i == axis % rank else each for i, each in enumerate(shape)]
        return [data, r.rng.integers(-shape[axis], shape[axis], size=size).astype(kind)], {"axis": axis}
    batch = r.int(0, rank - 1)
    depth = r.int(1, rank - batch)
    outer = [*shape[:batch], *[max(size, 1) for size in r.shape(0, 2)]]
    indices = [r.rng.integers(-size, size, size=outer) for size in shape[batch : batch + depth]]
    return [data, np.stack(indices, -1).astype(np.int64)], {"batch_dims": batch}


@maker("ScatterElements", "ScatterND")
def scatter(r, name):
    shape = [max(size, 1) for size in r.shape(1)]
    dtype, axis = r.pick(["float32", "int32", "int64", "float64"]), r.axis(len(shape))
    reduction = r.pick(["none", "add", "mul", "max", "min"])
    if name == "ScatterND":
        depth = r.int(1, len(shape))
        every = np.array(list(np.ndindex(*shape[:depth])), np.int64).reshape(-1, depth)
        rows = r.rng.permutation(len(every))[: r.int(1, 4)]
        indices = every[rows]
        return [r.tensor(dtype, shape), indices, r.tensor(dtype, [len(rows), *shape[depth:]])], {"reduction": reduction}
    order = np.argsort(r.rng.random(shape), axis=axis)
    count = r.int(1, shape[axis])
    indices = np.take(order, range(count), axis=axis)
    attributes = {"axis": axis, "reduction": reduction}
    return [r.tensor(dtype, shape), indices.astype(r.pick([np.int32, np.int64])), r.tensor(dtype, indices.shape)], attributes


@maker("Pad")
def pad(r, _):
    shape = [max(size, 2) for size in r.shape(1)]
    mode = r.pick(["constant", "edge", "reflect", "wrap"])
    axes = r.axes(len(shape)) if r.flag() else None
    count = len(shape) if axes is None else len(axes)
    pads = np.array(r.ints(2 * count, -1 if mode == "constant" else 0, min([*shape, 4]) - 1), np.int64)
    dtype = r.pick(["float32", "float64", "int32", "int64", "bool"])
    return [r.tensor(dtype, shape), pads, r.tensor(dtype, []) if r.flag() else None, axes], {"mode": mode}


@maker("Reshape")
def reshape(r, _):
    shape = r.shape()
    target = [int(size) for size in r.rng.permutation(shape)]
    if target and 0 not in shape:
        target[r.int(0, len(target) - 1)] = -1
    allow = {"allowzero": 1} if 0 in shape else {}
    return [r.tensor(r.pick(ANY), shape), np.array(target, np.int64)], allow


@maker("Transpose", "Squeeze", "Unsqueeze", "Expand", "Tile", "Trilu", "CumSum", "Compress", "ReverseSequence", "TopK", "Unique", "OneHot")
def arrange(r, name):
    dtype = r.pick(ANY)
    shape = r.shape(2 if name in ("Trilu", "ReverseSequence") else 1)
    rank, axis, x = len(shape), r.axis(len(shape)), None
    x = r.tensor(dtype, shape)
    if name == "Transpose":
        return [x], {"perm": [int(i) for i in r.rng.permutation(rank)]} if r.flag(0.8) else {}
    if name == "Squeeze":
        shape[axis] = 1
        return [r.tensor(dtype, shape), np.array([axis]) if r.flag(0.7) else None], {}
    if name == "Unsqueeze":
        return [x, np.array(sorted({r.int(0, rank + 1), rank + 1} if r.flag() else {r.int(-rank - 1, rank)}))], {}
    if name == "Expand":
        a, b = r.broadcast(2)
        return [r.tensor(dtype, a), np.array(b, np.int64)], {}
    if name == "Tile":
        return [x, np.array(r.ints(rank, 0, 3), np.int64)], {}
    if name == "Trilu":
        return [x, np.array(r.int(-5, 5)) if r.flag() else None], {"upper": r.int(0, 1)}
    if name == "CumSum":
        x = r.tensor(r.pick(["float32", "float64", "int32", "int64"]), shape)
        return [x, np.array(axis)], {"exclusive": r.int(0, 1), "reverse": r.int(0, 1)}
    if name == "Compress":
        whole = r.flag(0.3)
        count = int(np.prod(shape)) if whole else shape[axis]
        return [x, r.tensor("bool", [r.int(0, count)])], {} if whole else {"axis": axis}
    if name == "ReverseSequence":
        time = r.int(0, 1)
        lens = r.rng.integers(1, max(shape[time], 1) + 1, size=shape[1 - time])
        return [x, lens], {"time_axis": time, "batch_axis": 1 - time}
    if name == "TopK":
        x = r.tensor(r.pick(["float32", "float64", "int32", "int64"]), shape)
        return [x, np.array([r.int(0, shape[axis])])], {"axis": axis, "largest": r.int(0, 1), "_outputs": 2}
    if name == "Unique":
        x = r.tensor(r.pick(["float32", "int64", "int8", "float64"]), [max(size, 1) for size in shape])
        return [np.round(x)], {"sorted": 1, "_outputs": 4} | ({"axis": axis} if r.flag() else {})
    kind = r.pick(["int64", "int32", "float32"])
    indices = np.round(r.tensor(kind, shape, scale=4.0))
    return [indices.astype(kind), np.array(r.int(1, 6)), r.tensor(r.pick(["float32", "int64"]), [2])], {"axis": r.axis(rank + 1)}


@maker("Where")
def where(r, _):
    a, b, c = r.broadcast(3)
    dtype = r.pick(ANY)
    return [r.tensor("bool", a), r.tensor(dtype, b), r.tensor(dtype, c)], {}


@maker("Clip")
def clip(r, _):
    dtype = r.pick([*FLOATS, *INTS])
    return [r.tensor(dtype, r.shape(), 0.2), *(r.tensor(dtype, []) if r.flag(0.8) else None for _ in "ab")], {}


@maker("Cast")
def cast(r, _):
    to = helper.np_dtype_to_tensor_dtype(np.dtype(r.pick(ANY)))
    return [r.tensor(r.pick(ANY), r.shape())], {"to": to}


@maker("MatMul", "MatMulInteger", "Gemm")
def product(r, name):
    dtype = r.pick(["float32", "float64", "int32", "int64"] if name != "MatMulInteger" else ["uint8", "int8"])
    m, k, n = r.ints(3, 1, 5)
    if name == "Gemm":
        ta, tb = r.int(0, 1), r.int(0, 1)
        attributes = {"transA": ta, "transB": tb, "alpha": r.pick([1.0, 0.5]), "beta": r.pick([1.0, 2.0])}
        c = r.tensor(dtype, r.pick([[n], [m, 1], [m, n], [1], []])) if r.flag(0.7) else None
        if np.dtype(dtype).kind == "i":
            attributes["alpha"] = 1.0
        return [r.tensor(dtype, [k, m] if ta else [m, k]), r.tensor(dtype, [n, k] if tb else [k, n]), c], attributes
    a, b = r.broadcast(2) if r.flag() else ([], [])
    a, b = [*a, m, k], [*b, k, n]
    a, b = (a[-1:] if r.flag(0.1) else a), (b[-2:-1] if r.flag(0.1) else b)
    if name == "MatMul":
        return [r.tensor(dtype, a), r.tensor(dtype, b)], {}
    other = r.pick(["uint8", "int8"])
    zeros = [r.tensor(dtype, []) if r.flag() else None, r.tensor(other, []) if r.flag() else None]
    return [r.tensor(dtype, a), r.tensor(other, b), *zeros], {}


def window(r, rank, pool):
    """Attributes of a window, and sizes of axes that are at least as long."""
    kernel = r.ints(rank, 1, 3)
    attributes = {"kernel_shape": kernel}
    if r.flag(0.7):
        attributes["strides"] = r.ints(rank, 1, 3)
    if r.flag(0.4):
        attributes["dilations"] = r.ints(rank, 1, 2)
    # ONNX Runtime ignores dilations where it pads, and cuts where strides exceed windows.
    if r.flag(0.3) and "dilations" not in attributes and max(attributes.get("strides", [1])) <= min(kernel):
        attributes["auto_pad"] = r.pick(["SAME_UPPER", "SAME_LOWER", "VALID"])
    elif r.flag(0.6):
        attributes["pads"] = [r.int(0, size - 1) for size in kernel * 2]
    if pool and r.flag(0.4) and "auto_pad" not in attributes:
        attributes["ceil_mode"] = 1
    return attributes, [r.int(5, 9) for _ in kernel]


@maker("Conv", "ConvInteger", "ConvTranspose")
def convolution(r, name):
    rank, groups = r.int(1, 3), r.int(1, 2)
    attributes, sizes = window(r, rank, False)
    inner, outer = r.ints(2, 1, 3)
    attributes["group"] = groups
    dtype = "float32" if name != "ConvInteger" else r.pick(["uint8", "int8"])
    channels, kernel = inner * groups, attributes["kernel_shape"]
    weights = [channels, outer, *kernel] if name == "ConvTranspose" else [outer * groups, inner, *kernel]
    inputs = [r.tensor(dtype, [r.int(1, 2), channels, *sizes]), r.tensor(dtype, weights)]
    if name == "ConvInteger":
        return [*inputs, r.tensor(dtype, []) if r.flag() else None, r.tensor(dtype, []) if r.flag() else None], attributes
    if name == "ConvTranspose" and r.flag(0.3):
        strides = attributes.get("strides", [1] * rank)
        attributes["output_padding"] = [r.int(0, max(stride - 1, 0)) for stride in strides]
    return [*inputs, r.tensor(dtype, [outer * groups]) if r.flag() else None], attributes


@maker("MaxPool", "AveragePool", "LpPool")
def pool(r, name):
    rank = r.int(1, 3)
    attributes, sizes = window(r, rank, True)
    if name == "AveragePool":
        attributes["count_include_pad"] = r.int(0, 1)
    if name == "LpPool":
        attributes["p"] = r.int(1, 3)
    if name == "MaxPool" and r.flag():
        attributes |= {"storage_order": r.int(0, 1), "_outputs": 2}
    return [r.tensor("float32", [r.int(1, 2), r.int(1, 3), *sizes])], attributes


@maker("BatchNormalization", "InstanceNormalization", "LayerNormalization", "GroupNormalization", "LpNormalization", "LRN", "MeanVarianceNormalization")
def normalization(r, name):
    shape = [max(size, 1) for size in r.shape(4, 4)]
    channels = shape[1]
    epsilon = {"epsilon": float(np.float32(r.pick([1e-5, 1e-2])))}
    x = r.tensor("float32", shape)
    vectors = [r.tensor("float32", [channels]) for _ in range(4)]
    if name == "BatchNormalization":
        return [x, *vectors[:3], np.abs(vectors[3])], epsilon
    if name == "InstanceNormalization":
        return [x, *vectors[:2]], epsilon
    if name == "GroupNormalization":
        groups = r.pick([g for g in range(1, channels + 1) if channels % g == 0])
        return [x, *vectors[:2]], epsilon | {"num_groups": groups}
    if name == "LayerNormalization":
        axis = r.axis(4)
        parts = [r.tensor("float32", shape[axis % 4 :]) for _ in "ab"]
        return [x, parts[0], parts[1] if r.flag() else None], epsilon | {"axis": axis}
    if name == "LpNormalization":
        return [x], {"axis": r.axis(4), "p": r.int(1, 2)}
    if name == "LRN":
        return [x], {"size": r.pick([1, 3, 5]), "alpha": 0.5, "beta": 0.75, "bias": 1.0}
    return [x], {"axes": [0, 2, 3]}


@maker("Resize")
def resize(r, _):
    mode = r.pick(["nearest", "linear", "cubic"])
    places = ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric"]
    attributes = {"mode": mode, "coordinate_transformation_mode": r.pick(places)}
    if mode == "nearest":
        attributes["nearest_mode"] = r.pick(["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
    if mode == "cubic":
        attributes |= {"cubic_coeff_a": r.pick([-0.75, -0.5]), "exclude_outside": r.int(0, 1)}
    if mode != "nearest" and r.flag(0.3):
        attributes["antialias"] = 1
    x = r.tensor("float32", [1, r.int(1, 2), *r.ints(2, 2, 6)])
    if r.flag():
        return [x, None, None, np.array([*x.shape[:2], *r.ints(2, 1, 9)])], attributes
    return [x, None, np.array([1, 1, *[r.pick([0.5, 0.75, 1.5, 2.0, 2.6]) for _ in "hw"]], np.float32)], attributes


@maker("GridSample", "RoiAlign", "NonMaxSuppression", "DepthToSpace", "SpaceToDepth", "Col2Im", "CenterCropPad", "EyeLike", "Range")
def vision(r, name):
    if name == "GridSample":
        attributes = {"mode": r.pick(["linear", "nearest", "cubic"]), "align_corners": r.int(0, 1)}
        attributes["padding_mode"] = r.pick(["zeros", "border", "reflection"])
        return [r.tensor("float32", [2, 2, *r.ints(2, 2, 5)]), r.tensor("float32", [2, *r.ints(2, 1, 4), 2], scale=0.7)], attributes
    if name == "RoiAlign":
        corner = np.abs(r.tensor("float32", [3, 2]))
        boxes = np.concatenate([corner, corner + np.abs(r.tensor("float32", [3, 2])) + 0.1], 1).astype(np.float32)
        attributes = {"mode": r.pick(["avg", "max"]), "output_height": r.int(1, 3), "output_width": r.int(1, 3)}
        attributes |= {"sampling_ratio": r.int(0, 3), "coordinate_transformation_mode": r.pick(["half_pixel", "output_half_pixel"])}
        return [r.tensor("float32", [2, 2, 6, 6]), boxes, np.array(r.ints(3, 0, 1))], attributes
    if name == "NonMaxSuppression":
        corner = np.abs(r.tensor("float32", [2, 6, 2]))
        boxes = np.concatenate([corner, corner + np.abs(r.tensor("float32", [2, 6, 2]))], 2).astype(np.float32)
        limits = [np.array(r.int(0, 5)), np.float32(r.rng.random()), np.float32(r.pick([0.0, 0.3]))]
        return [boxes, r.rng.random([2, 2, 6]).astype(np.float32), *limits], {"center_point_box": r.int(0, 1)}
    if name in ("DepthToSpace", "SpaceToDepth"):
        block = r.int(1, 3)
        shape = [1, r.int(1, 2) * block * block, 2, 3] if name == "DepthToSpace" else [1, 2, 2 * block, 3 * block]
        mode = {"mode": r.pick(["DCR", "CRD"])} if name == "DepthToSpace" else {}
        return [r.tensor(r.pick(["float32", "float64"]), shape)], mode | {"blocksize": block}
    if name == "Col2Im":
        h, w, kh, kw = *r.ints(2, 3, 5), *r.ints(2, 1, 3)
        count = (h - kh + 1) * (w - kw + 1)
        return [r.tensor("float32", [1, 2 * kh * kw, count]), np.array([h, w]), np.array([kh, kw])], {}
    if name == "CenterCropPad":
        shape = r.shape(2, 3)
        return [r.tensor(r.pick(["float32", "int64"]), shape), np.array(r.ints(len(shape), 1, 6))], {}
    if name == "EyeLike":
        return [r.tensor(r.pick(["float32", "int64", "int32"]), r.ints(2, 0, 5))], {"k": r.int(-5, 5)}
    dtype = r.pick(["float32", "float64", "int16", "int32", "int64"])
    step = r.tensor(dtype, [])
    return [r.tensor(dtype, [], scale=9.0), r.tensor(dtype, [], scale=9.0), step if step else np.ones_like(step)], {}


@maker("RNN", "GRU", "LSTM")
def recurrent(r, name):
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[name]
    seq, batch, size, hidden = r.ints(4, 1, 4)
    direction = r.pick(["forward", "reverse", "bidirectional"])
    d = 2 if direction == "bidirectional" else 1
    f = lambda *shape: r.tensor("float32", shape, scale=0.5)
    bias = f(d, 2 * gates * hidden) if r.flag() else None
    lens = r.rng.integers(1, seq + 1, size=batch).astype(np.int32) if r.flag() else None
    state = f(d, batch, hidden) if r.flag() else None
    inputs = [f(seq, batch, size), f(d, gates * hidden, size), f(d, gates * hidden, hidden), bias, lens, state]
    attributes = {"hidden_size": hidden, "direction": direction, "_outputs": 3 if name == "LSTM" else 2}
    if name == "LSTM":
        inputs += [f(d, batch, hidden) if r.flag() else None, f(d, 3 * hidden) if r.flag() else None]
    if name == "GRU":
        attributes["linear_before_reset"] = r.int(0, 1)
    return inputs, attributes


@maker("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "QLinearMatMul")
def quantized(r, name):
    code = r.pick(["uint8", "int8"])
    shape = [max(size, 1) for size in r.shape(2)]
    scale = lambda *shape: (np.abs(r.tensor("float32", shape)) + np.float32(0.01)).astype(np.float32)
    if name == "DynamicQuantizeLinear":
        return [r.tensor("float32", shape)], {"_outputs": 3}
    if name == "QLinearMatMul":
        a, b = r.tensor(code, r.ints(2, 1, 4)), None
        b = r.tensor(code, [a.shape[1], r.int(1, 4)])
        return [a, scale(), r.tensor(code, []), b, scale(), r.tensor(code, []), scale(), r.tensor(code, [])], {}
    axis = r.axis(len(shape))
    parameters = [shape[axis]] if r.flag() else []
    x = r.tensor("float32", shape, scale=50.0) if name == "QuantizeLinear" else r.tensor(code, shape)
    return [x, scale(*parameters), r.tensor(code, parameters)], {"axis": axis}


@maker("Einsum")
def einsum(r, _):
    text = r.pick(["ij,jk->ik", "bij,bjk->bik", "ii->i", "ij->ji", "i,j->ij", "bij,bij->b", "...ij,...jk->...ik", "ij,ij", "ijk->ki"])
    sizes = {letter: r.int(1, 4) for letter in "bijk"}
    terms = text.split("->")[0].split(",")
    shapes = [[*([2, 3] if "..." in term else []), *(sizes[c] for c in term.strip("."))] for term in terms]
    return [r.tensor(r.pick(["float32"]), shape) for shape in shapes], {"equation": text}
