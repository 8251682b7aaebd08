"""Makes small random models of OpenVINO's shape family, an operator each, and records what the CPU plugin makes of them.

    python conformance/openvino_shapes.py FILE [SEED] [CASES]

The file is JSON: by operator and version, models (`xml`, and `bin` in hexadecimal), their inputs, and the outputs. Numbers are
small integers, also as floats, so that results are exact.
"""

import json
import pathlib
import re
import sys
import tempfile

import numpy as np
import openvino as ov
import openvino_detection
from openvino import opset1, opset3, opset4, opset5, opset6, opset7, opset8, opset10, opset11, opset12, opset13
from openvino import opset14, opset15, opset16

# How far floats that programs round otherwise may be apart, as a part of the largest.
CLOSE = 1e-5

I64, I32, F32, U8, BOOL = np.int64, np.int32, np.float32, np.uint8, np.bool_


class Case:
    """One model in the making."""

    def __init__(self, random):
        self.random, self.parameters, self.feeds = random, [], {}

    def integer(self, low, high):
        return int(self.random.integers(low, high + 1))

    def choose(self, *options):
        return options[self.integer(0, len(options) - 1)]

    def flag(self):
        return self.choose(False, True)

    def dims(self, rank=None, low=1, high=4):
        return [self.integer(low, high) for _ in range(self.integer(1, 3) if rank is None else rank)]

    def array(self, shape, dtype, low=-4, high=4):
        if dtype == BOOL:
            return self.random.integers(0, 2, size=shape).astype(BOOL)
        return self.random.integers(0 if dtype == U8 else low, high + 1, size=shape).astype(dtype)

    def parameter(self, array, static=None):
        array = np.asarray(array)
        shape = [dim if static or (static is None and self.integer(0, 3) == 0) else -1 for dim in array.shape]
        node = opset1.parameter(ov.PartialShape(shape), ov.Type(array.dtype))
        node.friendly_name = f"in{len(self.parameters)}"
        self.parameters.append(node)
        self.feeds[node.friendly_name] = array
        return node

    def data(self, shape, dtype=None, low=-4, high=4):
        dtype = dtype or self.choose(I64, I32, F32)
        return self.parameter(self.array(shape, dtype, low, high))

    def maybe_constant(self, numbers, dtype=None):
        """A small tensor of integers, as a constant or as an input."""
        array = np.array(numbers, dtype=dtype or self.choose(I64, I32))
        return opset1.constant(array) if self.integer(0, 2) else self.parameter(array, static=True)

    def image(self, shape):
        return self.parameter(self.array(shape, F32), static=True)

    def constant(self, numbers, dtype=I64):
        return opset1.constant(np.array(numbers, dtype=dtype))


MAKERS = {}
# Operators whose floats programs round otherwise.
ROUNDED = set()


def makes(name, close=False):
    def note(make):
        MAKERS[name] = make
        if close:
            ROUNDED.add(name)
        return make

    return note


def elementwise():
    for name in ["add", "subtract", "multiply", "maximum", "minimum", "squared_difference", "divide", "mod", "floor_mod",
                 "power", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]:  # fmt: skip

        def make(c, name=name):
            shape = c.dims()
            other = [dim if c.flag() else 1 for dim in shape][c.integer(0, len(shape) - 1):]
            dtype = F32 if name in ("power",) else c.choose(I32, F32, I64)
            a, b = c.array(shape, dtype), c.array(other, dtype, -4, 3)
            if name == "divide":
                # The plugin cuts negative quotients of integers, which the text rounds down, as `evaluate` does.
                a, b = c.array(shape, dtype, 0, 9), np.full(other, c.choose(1, 2, 4), dtype=dtype)
            elif name in ("mod", "floor_mod"):
                b = c.array(other, dtype, 1, 3) * c.choose(1, 1, -1)
            elif name == "power":
                b = c.array(other, dtype, 0, 3)
            elif c.flag():
                a, b = b, a
            a, b = c.parameter(a), c.parameter(b)
            return getattr(opset1, name)(a, b)

        MAKERS["".join(part.capitalize() for part in name.split("_")) + "-1"] = make
    for name, version in [("logical_and", 1), ("logical_or", 1), ("logical_xor", 2)]:
        MAKERS["".join(part.capitalize() for part in name.split("_")) + f"-{version}"] = lambda c, name=name: getattr(opset1, name)(
            c.data(c.dims(2), BOOL), c.data([1], BOOL)
        )
    for name in ["bitwise_and", "bitwise_or", "bitwise_xor"]:
        MAKERS["".join(part.capitalize() for part in name.split("_")) + "-13"] = lambda c, name=name: getattr(opset13, name)(
            c.data(c.dims(2), I32), c.data([1], I32)
        )
    MAKERS["BitwiseNot-13"] = lambda c: opset13.bitwise_not(c.data(c.dims(), I32))
    MAKERS["BitwiseLeftShift-15"] = lambda c: opset15.bitwise_left_shift(c.data(c.dims(), I32, 0, 4), c.data([1], I32, 0, 4))
    MAKERS["BitwiseRightShift-15"] = lambda c: opset15.bitwise_right_shift(c.data(c.dims(), I32, 0, 9), c.data([1], I32, 0, 2))
    for name in ["abs", "negative", "sign", "relu"]:
        own = {"relu": "ReLU"}.get(name, name.capitalize())
        MAKERS[f"{own}-1"] = lambda c, name=name: getattr(opset1, name)(c.data(c.dims(), c.choose(I32, F32)))
    half = lambda c: c.parameter(c.array(c.dims(), F32) / 2)
    MAKERS["Floor-1"] = lambda c: opset1.floor(half(c))
    MAKERS["Ceiling-1"] = lambda c: opset1.ceiling(half(c))
    MAKERS["Round-5"] = lambda c: opset5.round(half(c), c.choose("half_to_even", "half_away_from_zero"))
    MAKERS["Sqrt-1"] = lambda c: opset1.sqrt(c.parameter(c.array(c.dims(), F32) ** 2))
    MAKERS["LogicalNot-1"] = lambda c: opset1.logical_not(c.data(c.dims(), BOOL))
    MAKERS["Clamp-1"] = lambda c: opset1.clamp(c.data(c.dims(), c.choose(I32, F32)), -1.5, 2.25)
    MAKERS["IsFinite-10"] = lambda c: opset10.is_finite(c.parameter(c.choose(np.inf, np.nan, 1.0) * c.array(c.dims(), F32, 1, 4)))
    MAKERS["IsInf-10"] = lambda c: opset10.is_inf(
        c.parameter(c.choose(np.inf, -np.inf, 1.0) * c.array(c.dims(), F32, 1, 4)),
        {"detect_negative": c.flag(), "detect_positive": c.flag()},
    )
    MAKERS["IsNaN-10"] = lambda c: opset10.is_nan(c.parameter(c.choose(np.nan, 1.0) * c.array(c.dims(), F32, 1, 4)))
    MAKERS["Identity-16"] = lambda c: opset16.identity(c.data(c.dims()))
    MAKERS["CumSum-3"] = lambda c: opset3.cum_sum(c.data(c.dims(2), c.choose(I32, F32)), c.constant(c.integer(-2, 1)), c.flag(), c.flag())


elementwise()


@makes("Convert-1")
def convert(c):
    values = c.array(c.dims(), c.choose(I64, I32, F32, BOOL, U8))
    if values.dtype == F32:
        values = values / 2
    return opset1.convert(c.parameter(values), c.choose("i32", "i64", "f32", "boolean"))


@makes("ConvertLike-1")
def convert_like(c):
    return opset1.convert_like(c.data(c.dims(), F32), c.data([1], c.choose(I32, I64)))


@makes("Select-1")
def select(c):
    shape, dtype = c.dims(2), c.choose(I32, F32, I64)
    return opset1.select(c.data(c.choose(shape, [1], shape[1:]), BOOL), c.data(shape, dtype), c.data(c.choose(shape, [1]), dtype))


@makes("ShapeOf-1")
def shape_of_1(c):
    return opset1.shape_of(c.data(c.dims()))


@makes("ShapeOf-3")
def shape_of(c):
    return opset3.shape_of(c.data(c.dims()), c.choose("i32", "i64"))


@makes("Range-4")
def range_4(c):
    step = c.choose(1, 2, -1, 3)
    numbers = [c.integer(-3, 3), c.integer(4, 9)][:: 1 if step > 0 else -1] + [step]
    return opset4.range(*(c.maybe_constant(number) for number in numbers), c.choose("i32", "i64", "f32"))


def gather_inputs(c, negative):
    shape = c.dims(c.integer(1, 3))
    axis = c.integer(0, len(shape) - 1)
    size = shape[axis]
    indices = c.array(c.dims(c.integer(0, 2)), c.choose(I32, I64), -size if negative else 0, size - 1)
    return c.data(shape), indices, axis - (len(shape) if c.flag() else 0)


@makes("Gather-1")
def gather_1(c):
    data, indices, axis = gather_inputs(c, False)
    return opset1.gather(data, c.parameter(indices), c.constant(axis))


@makes("Gather-7")
def gather_7(c):
    shape = c.dims(3)
    batch = c.integer(0, 1)
    axis = c.integer(batch, 2)
    indices = c.array(shape[:batch] + c.dims(c.integer(1, 2)), I32, 0, shape[axis] - 1)
    return opset7.gather(c.data(shape), c.parameter(indices), c.constant(axis), batch)


@makes("Gather-8")
def gather_8(c):
    if c.flag():
        data, indices, axis = gather_inputs(c, True)
        return opset8.gather(data, c.maybe_constant(indices), c.constant(axis))
    shape = c.dims(3)
    axis = c.integer(1, 2)
    indices = c.array(shape[:1] + c.dims(c.integer(1, 2)), I64, -shape[axis], shape[axis] - 1)
    return opset8.gather(c.data(shape), c.parameter(indices), c.constant(axis), c.choose(1, -indices.ndim + 1))


@makes("GatherElements-6")
def gather_elements(c):
    shape = c.dims(2)
    axis = c.integer(0, 1)
    rows = list(shape)
    rows[axis] = c.integer(1, 4)
    return opset6.gather_elements(c.data(shape), c.parameter(c.array(rows, I32, 0, shape[axis] - 1)), axis)


def gather_nd_inputs(c, most):
    shape = c.dims(4, 1, 3)
    batch = c.integer(0, most)
    depth = c.integer(1, 4 - batch)
    before = shape[:batch] + c.dims(c.integer(0, 1) if batch else 1)
    indices = np.stack([c.array(before, I32, 0, shape[batch + i] - 1) for i in range(depth)], axis=-1)
    return c.data(shape), c.parameter(indices), batch


@makes("GatherND-5")
def gather_nd_5(c):
    return opset5.gather_nd(*gather_nd_inputs(c, 2))


@makes("GatherND-8")
def gather_nd_8(c):
    return opset8.gather_nd(*gather_nd_inputs(c, 2))


@makes("Slice-8")
def slice_8(c):
    shape = c.dims(c.integer(1, 3), 1, 6)
    axes = list(c.random.permutation(len(shape))[: c.integer(1, len(shape))])
    steps = [c.choose(1, 1, 2, -1, -2) for _ in axes]
    # Backwards from before the first element, the plugin contradicts itself.
    starts = [c.integer(-shape[axis], 7) if step < 0 else c.choose(c.integer(-7, 7), 1 - 2**31) for axis, step in zip(axes, steps)]
    stops = [c.choose(c.integer(-7, 7), 1 - 2**31, 2**31 - 1) for _ in axes]
    if c.flag():
        axes = list(range(len(axes)))
        starts = [max(start, -dim) for start, dim in zip(starts, shape)]
        return opset8.slice(c.data(shape), c.maybe_constant(starts, I64), c.maybe_constant(stops, I64), c.constant(steps))
    return opset8.slice(c.data(shape), c.maybe_constant(starts, I64), c.maybe_constant(stops, I64), c.constant(steps), c.constant(axes))


@makes("StridedSlice-1")
def strided_slice(c):
    shape = c.dims(3, 1, 5)
    count = c.integer(1, 3)
    masks = {name: [c.integer(0, 3) == 0 for _ in range(count)] for name in ("begin", "end")}
    new, shrink, ellipsis = [0] * count, [0] * count, [0] * count
    kind, at = c.choose("none", "none", "new", "shrink", "ellipsis"), c.integer(0, count - 1)
    {"none": [0], "new": new, "shrink": shrink, "ellipsis": ellipsis}[kind][at if kind != "none" else 0] = 1
    begins = [c.integer(-shape[i], shape[i] - 1) for i in range(count)]
    ends = [c.integer(-shape[i], shape[i]) for i in range(count)]
    steps = [c.choose(1, 1, 2, -1) if not (shrink[i] or new[i]) else 1 for i in range(count)]
    if kind == "shrink":
        masks["begin"][at] = masks["end"][at] = False
        ends[at] = begins[at] + 1 if begins[at] != -1 else 2**31 - 1
    as_ints = lambda mask: [int(bit) for bit in mask]
    return opset1.strided_slice(
        c.data(shape), c.maybe_constant(begins, I64), c.maybe_constant(ends, I64), c.constant(steps),
        as_ints(masks["begin"]), as_ints(masks["end"]), new, shrink, ellipsis,
    )  # fmt: skip


@makes("Concat-1")
def concat(c):
    shape, axis, dtype = c.dims(2), c.integer(0, 1), c.choose(I32, F32, I64)
    parts = []
    for _ in range(c.integer(1, 3)):
        own = list(shape)
        own[axis] = c.integer(1, 3)
        parts.append(c.data(own, dtype))
    return opset1.concat(parts, axis - 2 * c.integer(0, 1))


def ones(c, rank=4):
    return [c.choose(1, 1, 2, 3) for _ in range(rank)]


@makes("Squeeze-1")
def squeeze(c):
    shape = ones(c)
    axes = [axis - (4 if c.flag() else 0) for axis, dim in enumerate(shape) if dim == 1 and c.flag()]
    data = c.parameter(c.array(shape, I32), static=not axes or c.flag())
    return opset1.squeeze(data, c.constant(axes)) if axes else opset1.squeeze(data)


@makes("Squeeze-15")
def squeeze_15(c):
    shape = ones(c)
    axes = [axis for axis, dim in enumerate(shape) if dim == 1 and c.flag()]
    data = c.parameter(c.array(shape, I32), static=not axes or c.flag())
    return opset15.squeeze(data, c.constant(axes)) if axes else opset15.squeeze(data)


@makes("Unsqueeze-1")
def unsqueeze(c):
    shape = c.dims(2)
    axes = list(c.random.permutation(4)[: 2])
    return opset1.unsqueeze(c.data(shape), c.constant([int(axis) - (4 if c.flag() else 0) for axis in axes]))


@makes("Reshape-1")
def reshape(c):
    shape = [c.choose(2, 4), 3, 2]
    target, zero = c.choose(([-1], 0), ([0, -1], 1), ([3, -1], 0), ([6, -1, 2], 0), ([0, 0, 0], 1), ([0, 6], 1), ([1, -1, 1], 0))
    return opset1.reshape(c.data(shape), c.maybe_constant(target, I64), bool(zero))


@makes("Transpose-1")
def transpose(c):
    order = c.choose([], list(c.random.permutation(3)))
    return opset1.transpose(c.data(c.dims(3)), c.constant(order))


@makes("Broadcast-1")
def broadcast_1(c):
    target = c.dims(3)
    shape = [dim if c.flag() else 1 for dim in target][c.integer(0, 2) :]
    return opset1.broadcast(c.data(shape), c.maybe_constant(target, I64))


@makes("Broadcast-3")
def broadcast_3(c):
    target = c.dims(3)
    kind = c.choose("NUMPY", "BIDIRECTIONAL", "EXPLICIT")
    if kind == "EXPLICIT":
        axes = sorted(int(axis) for axis in c.random.permutation(3)[: c.integer(1, 3)])
        return opset3.broadcast(c.data([target[axis] for axis in axes]), c.maybe_constant(target, I64), c.constant(axes), kind)
    shape = [dim if c.flag() else 1 for dim in target][c.integer(0, 2) :]
    if kind == "BIDIRECTIONAL":
        target = [dim if c.flag() else 1 for dim in target][c.integer(0, 2) :]
    return opset3.broadcast(c.data(shape), c.maybe_constant(target, I64), broadcast_spec=kind)


@makes("Tile-1")
def tile(c):
    return opset1.tile(c.data(c.dims(c.integer(1, 3))), c.maybe_constant([c.integer(1, 3) for _ in range(c.integer(1, 3))], I64))


def pads(c, opset, low):
    shape = c.dims(2, 3, 4)
    mode = c.choose("constant", "edge", "reflect", "symmetric")
    amounts = [[c.integer(low if mode == "constant" else 0, 2) for _ in shape] for _ in range(2)]
    dtype = c.choose(I32, F32)
    data, value = c.data(shape, dtype), c.constant(c.integer(-3, 3), dtype)
    begins, ends = (c.maybe_constant(list_, I64) for list_ in amounts)
    return opset.pad(data, begins, ends, mode, value) if mode == "constant" else opset.pad(data, begins, ends, mode)


MAKERS["Pad-1"] = lambda c: pads(c, opset1, 0)
MAKERS["Pad-12"] = lambda c: pads(c, opset12, -1)


@makes("NonZero-3")
def non_zero(c):
    return opset3.non_zero(c.data(c.dims(), c.choose(I32, F32), 0, 2), c.choose("i32", "i64"))


@makes("Split-1")
def split(c):
    parts, axis = c.integer(1, 3), c.integer(0, 1)
    shape = c.dims(2)
    shape[axis] = parts * c.integer(1, 2)
    return opset1.split(c.data(shape), c.constant(axis - 2 * c.integer(0, 1)), parts)


@makes("VariadicSplit-1")
def variadic_split(c):
    axis = c.integer(0, 1)
    lengths = [c.integer(1, 3) for _ in range(c.integer(1, 3))]
    shape = c.dims(2)
    shape[axis] = sum(lengths)
    if c.flag():
        lengths[c.integer(0, len(lengths) - 1)] = -1
    return opset1.variadic_split(c.data(shape), c.constant(axis), c.constant(lengths))


def reductions():
    for name, version in [("l1", 4), ("l2", 4), ("logical_and", 1), ("logical_or", 1), ("max", 1), ("mean", 1), ("min", 1), ("prod", 1), ("sum", 1)]:

        def make(c, name=name, version=version):
            opset = {1: opset1, 4: opset4}[version]
            shape = c.dims(3, 2 if name in ("mean", "l2") else 1, 2 if name in ("mean", "l2") else 3)
            dtype = BOOL if "logical" in name else F32 if name in ("mean", "l1", "l2") else c.choose(F32, I32)
            array = c.array(shape, dtype)
            if name == "l2":
                array = np.full(shape, 2.0, dtype=F32)
                axes = [0, 2]
            else:
                axes = [int(axis) - (3 if c.flag() else 0) for axis in c.random.permutation(3)[: c.integer(1, 3)]]
            return getattr(opset, f"reduce_{name}")(c.parameter(array), c.constant(axes), c.flag())

        MAKERS["Reduce" + "".join(part.capitalize() for part in name.split("_")) + f"-{version}"] = make


reductions()


def top_k(c, opset, **more):
    shape = c.dims(2, 2, 5)
    axis = c.integer(0, 1)
    size = int(np.prod(shape))
    values = c.random.permutation(size).reshape(shape).astype(F32)
    k = c.maybe_constant(c.integer(1, shape[axis]), I64)
    return opset.topk(c.parameter(values), k, axis, c.choose("max", "min"), c.choose("value", "index"), **more)


MAKERS["TopK-1"] = lambda c: top_k(c, opset1)
MAKERS["TopK-3"] = lambda c: top_k(c, opset3, index_element_type=c.choose("i32", "i64"))
MAKERS["TopK-11"] = lambda c: top_k(c, opset11, index_element_type=c.choose("i32", "i64"), stable=c.flag())


@makes("OneHot-1")
def one_hot(c):
    return opset1.one_hot(c.data(c.dims(c.integer(0, 2)), I32, -1, 4), c.maybe_constant(4, I64), c.constant(5, I32), c.constant(-1, I32), c.integer(-1, 0))


@makes("OneHot-16")
def one_hot_16(c):
    modes = {"negative_indices_mode": c.choose("ignore_negative", "normalize")}
    indices = c.data(c.dims(c.integer(0, 2)), I32, -4, 3)
    return opset16.one_hot(indices, c.maybe_constant(4, I64), c.constant(5, I32), c.constant(-1, I32), c.integer(-1, 0), **modes)


@makes("ScatterUpdate-3")
def scatter_update(c):
    shape = c.dims(3, 2, 4)
    axis = c.integer(0, 2)
    chosen = c.random.permutation(shape[axis])[: c.integer(1, shape[axis])].astype(I32)
    rows = shape[:axis] + [len(chosen)] + shape[axis + 1 :]
    return opset3.scatter_update(c.data(shape, F32), c.parameter(chosen), c.data(rows, F32), c.constant(axis))


def scatter_elements(c, opset, **more):
    shape = c.dims(2, 2, 4)
    axis = c.integer(0, 1)
    count = c.integer(1, shape[axis])
    rows = list(shape)
    rows[axis] = count
    indices = np.argsort(c.random.random(shape), axis=axis).take(range(count), axis=axis).astype(I32)
    return opset.scatter_elements_update(c.data(shape, F32), c.parameter(indices), c.data(rows, F32), c.constant(axis), **more)


MAKERS["ScatterElementsUpdate-3"] = lambda c: scatter_elements(c, opset3)
MAKERS["ScatterElementsUpdate-12"] = lambda c: scatter_elements(c, opset12, reduction=c.choose("none", "sum", "prod", "min", "max", "mean"), use_init_val=c.flag())


def scatter_nd(c, opset, **more):
    shape = c.dims(2, 2, 4)
    indices = np.array([[row] for row in c.random.permutation(shape[0])[: c.integer(1, shape[0])]], dtype=I32)
    return opset.scatter_nd_update(c.data(shape, F32), c.parameter(indices), c.data([len(indices), shape[1]], F32), **more)


MAKERS["ScatterNDUpdate-4"] = lambda c: scatter_nd(c, opset4)
MAKERS["ScatterNDUpdate-15"] = lambda c: scatter_nd(c, opset15, reduction=c.choose("none", "sum", "prod", "min", "max"))


@makes("MatMul-1")
def mat_mul(c):
    rows, inner, columns, batch = c.integer(1, 3), c.integer(1, 3), c.integer(1, 3), c.dims(1)
    turn_a, turn_b = c.flag(), c.flag()
    a = c.choose([], batch) + ([inner, rows] if turn_a else [rows, inner])
    b = c.choose([], batch, [1]) + ([columns, inner] if turn_b else [inner, columns])
    return opset1.matmul(c.data(a, F32), c.data(b, F32), turn_a, turn_b)


@makes("Roll-7")
def roll(c):
    return opset7.roll(c.data(c.dims(2), F32), c.maybe_constant([c.integer(-3, 3), c.integer(-3, 3)], I64), c.constant([1, -2]))


@makes("Eye-9")
def eye(c):
    from openvino import opset9

    numbers = [c.maybe_constant(c.integer(1, 4), I32), c.maybe_constant(c.integer(1, 4), I32), c.constant(c.integer(-2, 2), I32)]
    return opset9.eye(*numbers, c.choose("f32", "i32"))


@makes("Unique-10")
def unique(c):
    data = c.data(c.dims(2), I32, 0, 3)
    return opset10.unique(data, c.constant(c.integer(0, 1)), c.flag(), "i32", "i64") if c.flag() else opset10.unique(data, None, c.flag())


def pool_padding(c):
    return [c.integer(0, 1), c.integer(0, 1)], [c.integer(0, 1), c.integer(0, 1)]


def max_pool(c, opset):
    image = c.data([1, 2, c.integer(4, 9), c.integer(4, 9)], F32)
    begins, ends = pool_padding(c)
    rounding = c.choose("floor", "ceil", *(["ceil_torch"] if opset is opset14 else []))
    more = {"index_element_type": "i64"} if opset is not opset1 else {}
    arguments = [image, [c.integer(1, 3), c.integer(1, 3)]] + ([[1, c.integer(1, 2)]] if opset is not opset1 else [])
    return opset.max_pool(*arguments, begins, ends, [2, 2], rounding, c.choose("explicit", "explicit", "same_upper", "valid"), **more)


MAKERS["MaxPool-1"] = lambda c: max_pool(c, opset1)
MAKERS["MaxPool-8"] = lambda c: max_pool(c, opset8)
MAKERS["MaxPool-14"] = lambda c: max_pool(c, opset14)


@makes("AvgPool-14")
def avg_pool(c):
    begins, ends = pool_padding(c)
    image = c.data([1, 2, c.integer(4, 9), c.integer(4, 9)], F32)
    return opset14.avg_pool(image, [2, 2], begins, ends, [2, 2], True, c.choose("floor", "ceil", "ceil_torch"), "explicit")


@makes("Convolution-1")
def convolution(c):
    image, weights = c.image([c.integer(1, 2), 2, c.integer(5, 9), c.integer(5, 9)]), c.image([3, 2, 2, c.integer(1, 3)])
    begins, ends = pool_padding(c)
    return opset1.convolution(image, weights, [c.integer(1, 2), 2], begins, ends, [1, c.integer(1, 2)], c.choose("explicit", "same_upper", "valid"))


@makes("GroupConvolution-1")
def group_convolution(c):
    image, weights = c.image([1, 4, c.integer(5, 9), c.integer(5, 9)]), c.image([2, 3, 2, 2, 2])
    return opset1.group_convolution(image, weights, [c.integer(1, 2), 2], *pool_padding(c), [1, 1])


@makes("ConvolutionBackpropData-1")
def convolution_backwards(c):
    image, weights = c.image([1, 2, c.integer(3, 5), c.integer(3, 5)]), c.image([2, 3, 3, 3])
    begins, ends = pool_padding(c)
    return opset1.convolution_backprop_data(image, weights, [2, c.integer(1, 2)], None, begins, ends, [1, 1], "explicit", [c.integer(0, 1), 0])


@makes("If-8")
def branch(c):
    shape = c.dims(2)
    outer = c.parameter(c.array(shape, F32))
    bodies = []
    for make in (lambda x: opset1.add(x, opset1.constant(np.float32(1))), lambda x: opset1.concat([x, x], 0)):
        inner = opset1.parameter(ov.PartialShape([-1, -1]), ov.Type.f32)
        bodies.append((ov.Model([make(inner)], [inner], "body"), inner))
    condition = c.parameter(np.array(c.flag()), static=True)
    node = opset8.if_op(condition)
    node.set_then_body(bodies[0][0])
    node.set_else_body(bodies[1][0])
    node.set_input(outer.output(0), bodies[0][1], bodies[1][1])
    node.set_output(bodies[0][0].results[0], bodies[1][0].results[0])
    return node


@makes("CTCGreedyDecoder-1")
def ctc_greedy_decoder(c):
    steps, batch, classes = c.integer(1, 6), c.integer(1, 3), c.integer(2, 4)
    scores = c.random.permuted(np.tile(np.arange(classes), (steps, batch, 1)), axis=2).astype(F32)
    lengths = c.random.integers(0, steps + 1, batch)
    mask = (np.arange(steps)[:, None] < lengths).astype(F32)
    return opset1.ctc_greedy_decoder(c.parameter(scores), c.parameter(mask), c.flag())


@makes("CTCGreedyDecoderSeqLen-6")
def ctc_greedy_decoder_seq_len(c):
    steps, batch, classes = c.integer(1, 6), c.integer(1, 3), c.integer(2, 4)
    scores = c.random.permuted(np.tile(np.arange(classes), (batch, steps, 1)), axis=2).astype(F32)
    blank = c.choose(None, c.constant([c.integer(0, classes - 1)], I32))
    return opset6.ctc_greedy_decoder_seq_len(
        c.parameter(scores), c.parameter(c.array([batch], I32, 0, steps)), blank, c.flag(), c.choose("i32", "i64"), c.choose("i32", "i64")
    )


@makes("CTCLoss-4", close=True)
def ctc_loss(c):
    batch, steps, classes = c.integer(1, 3), c.integer(2, 8), c.integer(2, 5)
    logits = c.random.standard_normal((batch, steps, classes)).astype(F32)
    lengths = c.array([batch], I32, (steps + 1) // 2, steps)
    # There are steps for a blank between any two labels.
    labels, counts = c.array([batch, steps], I32, 0, classes - 2), np.array([c.integer(1, (length + 1) // 2) for length in lengths], I32)
    given = [c.parameter(array) for array in (logits, lengths, labels, counts)]
    blank = c.choose(None, c.constant(classes - 1, I32))
    return opset4.ctc_loss(*given, blank, c.flag(), c.flag(), c.flag())


@makes("StringTensorPack-15")
def strings(c):
    """Strings of bytes, and their bytes again."""
    text = "".join(c.choose("a", "bc", "\u00e9", "\u6f22", " ") for _ in range(c.integer(0, 6)))
    places = np.cumsum([0, *(len(letter.encode()) for letter in text)])
    ends = np.sort(c.random.choice(places, 2 * c.integer(1, 4))).reshape(-1, 2).astype(I32)
    symbols = np.frombuffer(text.encode(), U8)
    packed = opset15.string_tensor_pack(*(c.parameter(ends[:, i]) for i in range(2)), c.parameter(symbols))
    return opset15.string_tensor_unpack(packed)


MAKERS["StringTensorUnpack-15"] = strings


@makes("NMSRotated-13", close=True)
def nms_rotated(c):
    images, classes, boxes = c.integer(1, 2), c.integer(1, 3), c.integer(1, 8)
    sides = np.concatenate([c.random.random((images, boxes, 2)) * 3, 1 + c.random.random((images, boxes, 2)) * 3], -1)
    rows = np.concatenate([sides, c.random.standard_normal((images, boxes, 1))], -1).astype(F32)
    given = [c.parameter(array, True) for array in (rows, openvino_detection.some_scores(c, images, classes, boxes))]
    numbers = [np.int64(c.integer(1, 5)), np.float32(c.choose(0.2, 0.5)), np.float32(c.choose(0.0, 0.3))]
    return opset13.nms_rotated(*given, *numbers, c.flag(), c.choose("i32", "i64"), c.flag())


@makes("BinaryConvolution-1")
def binary_convolution(c):
    """Weights of one bit, whose bytes are the same from either end, since the plugin and the text begin at different ones."""
    outputs, channels, rows, columns = c.integer(1, 3), 8 * c.integer(1, 2), c.integer(1, 2), c.integer(1, 3)
    halves = c.random.integers(0, 2, (outputs * channels * rows * columns // 8, 4))
    codes = np.packbits(np.concatenate([halves, halves[:, ::-1]], 1).astype(U8))
    weights = ov.op.Constant(ov.Tensor(codes, ov.Shape([outputs, channels, rows, columns]), ov.Type.u1))
    image = c.image([c.integer(1, 2), channels, c.integer(4, 6), c.integer(4, 6)])
    pads = [[c.integer(0, 1), c.integer(0, 1)] for _ in range(2)]
    return opset1.binary_convolution(
        image, weights, [c.integer(1, 2), 1], *pads, [1, c.integer(1, 2)], "xnor-popcount", c.choose(-1.0, 0.0, 1.0), c.choose("explicit", "same_upper", "valid")
    )


@makes("Inverse-14")
def inverse(c):
    """Of powers of two in a permuted diagonal, which is exact."""
    size = c.integer(1, 4)
    matrices = [np.eye(size)[c.random.permutation(size)] * 2.0 ** c.array([size], I64, -2, 3) for _ in range(c.integer(1, 2))]
    return opset14.inverse(c.parameter(np.array(matrices, F32)), c.flag())


@makes("Loop-5")
def loop(c):
    shape = c.dims(2)
    inner, number = opset1.parameter(ov.PartialShape([-1, -1]), ov.Type.f32), opset1.parameter([], ov.Type.i64)
    total = opset1.add(inner, opset1.convert(number, "f32"))
    wanted = c.choose(True, c.integer(0, 4))
    go_on = opset1.constant(np.array(True)) if wanted is True else opset1.less(number, opset1.constant(np.int64(wanted)))
    go_on = opset1.reshape(go_on, c.constant([1]), False)
    body = ov.Model([go_on, total], [inner, number], "body")
    node = opset5.loop(c.maybe_constant(c.integer(1, 4), I64), c.constant(True, BOOL))
    node.set_function(body)
    node.set_special_body_ports([1, 0])
    node.set_merged_input(inner, c.parameter(c.array(shape, F32)).output(0), body.results[1].output(0))
    node.get_iter_value(body.results[1].output(0), -1)
    axis = c.integer(0, 1)
    node.get_concatenated_slices(body.results[1].output(0), 0, 1, 1, -1, axis)
    return node


@makes("TensorIterator-1")
def tensor_iterator(c):
    shape, axis = c.dims(3), c.integer(0, 2)
    part, state = opset1.parameter(ov.PartialShape([-1] * 3), ov.Type.f32), opset1.parameter(ov.PartialShape([-1] * 3), ov.Type.f32)
    total = opset1.add(part, state)
    body = ov.Model([total], [part, state], "body")
    node = opset1.tensor_iterator()
    node.set_function(body)
    way = c.choose(1, -1)
    ends = (0, way, 1, -1) if way > 0 else (-1, way, 1, 0)
    node.set_sliced_input(part, c.parameter(c.array(shape, F32)).output(0), *ends, axis)
    own = [1 if i == axis else dim for i, dim in enumerate(shape)]
    node.set_merged_input(state, c.parameter(c.array(own, F32)).output(0), body.results[0].output(0))
    node.get_iter_value(body.results[0].output(0), -1)
    node.get_concatenated_slices(body.results[0].output(0), *ends, axis)
    return node


def tensor(array):
    array = np.asarray(array)
    numbers = [str(number) if not np.isfinite(number) else float(number) if array.dtype == F32 else int(number) for number in array.flatten()]
    return {"type": ov.Type(array.dtype).get_type_name(), "shape": list(array.shape), "elements": numbers}


def small(xml: str) -> str:
    """The text without what it says of its making, and without space between elements."""
    xml = re.sub(r"<rt_info>.*?</rt_info>|<rt_info ?/>", "", xml, flags=re.S)
    return re.sub(r">\s+<", "><", xml).strip()


def recorded(core, node, case, folder):
    model = ov.Model(list(node.outputs()), case.parameters, "case")
    ov.serialize(model, folder / "m.xml", folder / "m.bin")
    compiled = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    results = compiled([case.feeds[parameter.friendly_name] for parameter in case.parameters])
    wanted = []
    for i in range(len(compiled.outputs)):
        wanted.append(tensor(results[i]) | {"type": compiled.outputs[i].element_type.get_type_name()})
    return {
        "xml": small((folder / "m.xml").read_text()),
        "bin": (folder / "m.bin").read_bytes().hex(),
        "inputs": {name: tensor(array) for name, array in case.feeds.items()},
        "outputs": wanted,
    }


def main():
    target = pathlib.Path(sys.argv[1])
    seed, count = (int(argument) for argument in (sys.argv[2:4] + ["1", "3"][len(sys.argv) - 2 :]))
    core, operators = ov.Core(), {}
    makers = [*sorted(MAKERS.items()), *sorted(openvino_detection.MAKERS.items())]
    with tempfile.TemporaryDirectory() as folder:
        for name, make in makers:
            random = np.random.default_rng([seed, *name.encode()])
            cases, refused = [], 0
            while len(cases) < count and refused < 20 * count:
                case = Case(random)
                try:
                    own = {"close": CLOSE} if name in ROUNDED | openvino_detection.ROUNDED else {}
                    cases.append(recorded(core, make(case), case, pathlib.Path(folder)) | own)
                except Exception as error:
                    refused += 1
                    why = str(error).strip().splitlines()[-1][:160]
            if len(cases) < count:
                print(f"{name}: {len(cases)} of {count} models; {why}")
            operators[name] = cases
    version = ov.__version__.split("-")[0]
    lines = ",\n".join(f'"{name}": [\n' + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]" for name, cases in operators.items())
    target.write_text(f'{{"openvino": "{version}", "operators": {{\n{lines}\n}}}}\n')


if __name__ == "__main__":
    main()
