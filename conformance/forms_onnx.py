"""Forms of ONNX's operators: all combinations of some values of their attributes."""

import itertools
import zlib

import ml_dtypes
import numpy as np
import onnx
from forms import Form, product
from one_node import one_node
from onnx import helper

f32, i64 = np.float32, np.int64
# How far sums of floats may be apart, as a part of the largest.
SUMS = 2e-6


def given(family, name, operator, inputs, attributes=None, constants=(), outputs=1, opset=21, close=0.0):
    """A form of a node. `inputs`: arrays, or None; those of the numbers `constants` are stored."""

    def model(opened):
        sizes = (lambda name, x: [f"{name}_{axis}" for axis in range(x.ndim)]) if opened else None
        return one_node(operator, inputs, attributes or {}, outputs=outputs, opset=opset, constants=constants, sizes=sizes)

    def write(folder):
        paths = [folder / "source.onnx", folder / "open.source.onnx"]
        for opened, path in enumerate(paths):
            onnx.save(onnx.shape_inference.infer_shapes(model(opened)[0]), path)
        return paths

    return Form(family, name, write, model(False)[1], close)


def floats(*shape, seed=0):
    rng = np.random.default_rng(zlib.crc32(repr((shape, seed)).encode()))
    return rng.standard_normal(shape).astype(f32)


COORDINATES = [
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
]
NEAREST = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]


def resize():
    # Scales are fractions of 2 to a power, and no coordinate lies next to where another element is nearest.
    factors = {
        "shrinks": [0.375, 0.625, 0.75],
        "grows": [1.375, 1.75, 2.25],
        "both": [0.625, 1.75, 1.375],
        "one": [0.125, 0.125, 0.125],
    }
    places = {
        "1of3": (3, [2]),
        "2of4": (4, [2, 3]),
        "2first": (4, [1, 0]),
        "last2": (3, [-2, -1]),
        "3of5": (5, [2, 3, 4]),
    }
    kinds = [("nearest", {"nearest_mode": mode}) for mode in NEAREST]
    kinds += [("linear", {}), ("linear", {"antialias": 1}), ("linear", {"exclude_outside": 1})]
    kinds += [
        ("cubic", {}),
        ("cubic", {"antialias": 1}),
        ("cubic", {"exclude_outside": 1}),
        ("cubic", {"cubic_coeff_a": -0.5}),
    ]
    policies = ["stretch", "not_larger", "not_smaller"]
    for (mode, more), coordinates, by, size, place in itertools.product(
        kinds, COORDINATES, ["scales", *policies], factors, places
    ):
        if coordinates == "tf_half_pixel_for_nn" and mode != "nearest":
            continue
        rank, axes = places[place]
        x = floats(*[2, 3, 7, 8, 6][:rank]) if place != "2first" else floats(7, 8, 3, 2)
        scales = np.array(factors[size][: len(axes)], f32)
        sizes = np.maximum(1, (np.array(x.shape)[axes] * scales).astype(i64))
        region = (
            np.array([0.125] * len(axes) + [0.8125] * len(axes), f32) if coordinates == "tf_crop_and_resize" else None
        )
        attributes = {"mode": mode, "coordinate_transformation_mode": coordinates, "axes": axes} | more
        if by != "scales":
            attributes["keep_aspect_ratio_policy"] = by
        name = {"mode": mode} | more | {"at": coordinates, "by": by, "size": size, "axes": place}
        inputs = [x, region, scales if by == "scales" else None, None if by == "scales" else sizes]
        if by == "scales":
            inputs.pop()
        constants = [i for i in (1, 2, 3) if i < len(inputs) and inputs[i] is not None]
        yield given("Resize", name, "Resize", inputs, attributes, constants, close=0 if mode == "nearest" else SUMS)


def pools():
    pads = {"none": None, "ones": 1, "uneven": 2, "SAME_UPPER": "", "SAME_LOWER": "", "VALID": ""}
    operators = [
        ("MaxPool", {}),
        ("MaxPool", {"indices": 1}),
        ("AveragePool", {"count_include_pad": 0}),
        ("AveragePool", {"count_include_pad": 1}),
    ]
    operators += [("LpPool", {"p": 1}), ("LpPool", {"p": 3})]
    for form in product(
        operator=operators,
        rank=[1, 2, 3],
        kernel=[1, 2, 3],
        strides=[1, 2, 3],
        dilations=[1, 2],
        ceil=[0, 1],
        pads=list(pads),
    ):
        (operator, more), rank, kernel = form["operator"], form["rank"], form["kernel"]
        attributes = {"kernel_shape": [kernel] * rank, "strides": [form["strides"]] * rank, "ceil_mode": form["ceil"]}
        if form["dilations"] > 1:
            attributes["dilations"] = [form["dilations"]] * rank
        if form["pads"].isupper():
            attributes["auto_pad"] = form["pads"]
        elif pads[form["pads"]]:
            # Padding is less than the window.
            first, last = min(1, kernel - 1), min(pads[form["pads"]], kernel - 1)
            attributes["pads"] = [first] * rank + [last] * rank
        indices = more.get("indices", 0)
        attributes |= {name: value for name, value in more.items() if name != "indices"}
        x = floats(1, 2, *[8, 7, 5][:rank])
        name = (
            {"of": operator}
            | more
            | {key: form[key] for key in ("rank", "kernel", "strides", "dilations", "ceil", "pads")}
        )
        yield given(
            "Pool",
            name,
            operator,
            [x],
            attributes,
            outputs=1 + indices,
            opset=22,
            close=0 if operator == "MaxPool" else SUMS,
        )


def blocks():
    for operator, block, mode, dtype in itertools.product(
        ["SpaceToDepth", "DepthToSpace"], [1, 2, 3], ["", "DCR", "CRD"], [f32, np.uint8, np.float16]
    ):
        if operator == "SpaceToDepth" and mode:
            continue
        x = floats(2, 2 * block * block, 3, 2) if operator == "DepthToSpace" else floats(2, 3, 2 * block, 3 * block)
        attributes = {"blocksize": block} | ({"mode": mode} if mode else {})
        yield given(
            "Blocks",
            {"of": operator, "block": block, "mode": mode, "type": np.dtype(dtype)},
            operator,
            [x.astype(dtype)],
            attributes,
        )


CODES = [
    np.uint8,
    np.int8,
    np.uint16,
    np.int16,
    ml_dtypes.uint4,
    ml_dtypes.int4,
    ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e5m2,
]


def scales_of(grain, shape):
    """The shape of scales, and attributes."""
    if grain == "tensor":
        return [], {}
    if grain.startswith("axis"):
        axis = int(grain[4:])
        return [shape[axis]], {"axis": axis}
    axis = int(grain[5:])
    return [*shape[:axis], shape[axis] // 2, *shape[axis + 1 :]], {"axis": axis, "block_size": 2}


def quantization():
    grains = ["tensor", "axis0", "axis1", "axis-1", "block0", "block1"]
    for operator, dtype, grain, zero, rank in itertools.product(
        ["QuantizeLinear", "DequantizeLinear"], CODES, grains, [0, 1], [2, 3]
    ):
        is_float = ml_dtypes.finfo(dtype) if np.dtype(dtype).name.startswith("float8") else None
        info = is_float or (ml_dtypes.iinfo(dtype) if np.dtype(dtype).name.endswith("int4") else np.iinfo(dtype))
        shape = [4, 6, 5][:rank]
        sizes, attributes = scales_of(grain, shape)
        rng = np.random.default_rng(zlib.crc32(repr((operator, str(np.dtype(dtype)), grain)).encode()))
        scales = rng.choice([0.25, 0.5, 1.0], sizes).astype(f32)
        low, high = (-16, 16) if is_float else (max(int(info.min), -1000), min(int(info.max), 1000))
        point = np.zeros(sizes) if is_float else rng.integers(max(low, -3), 4, sizes)
        if operator == "QuantizeLinear":
            x = rng.uniform(1.5 * low, 1.5 * high, shape).astype(f32)
            if not zero:
                attributes["output_dtype"] = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        else:
            x = rng.integers(low, high + 1, shape).astype(dtype)
        inputs = [x, scales] + ([point.astype(dtype)] if zero else [])
        name = {"of": operator, "type": np.dtype(dtype), "grain": grain, "zero": zero, "rank": rank}
        constants = range(1, len(inputs))
        if operator == "DequantizeLinear":
            # NumPy has no codes of 4 bits, so they are stored.
            narrow = np.dtype(dtype).name.endswith("int4") or is_float
            if narrow:
                continue
        yield given("Quantization", name, operator, inputs, attributes, constants)
    for shape in [[1], [5], [2, 3], [2, 0]]:
        for shift in [0, 3, -3]:
            x = floats(*shape) + f32(shift)
            yield given(
                "Quantization",
                {"of": "DynamicQuantizeLinear", "shape": shape, "shift": shift},
                "DynamicQuantizeLinear",
                [x],
                outputs=3,
                close=SUMS,
            )
    for a, b, grain, zero in itertools.product([np.uint8, np.int8], [np.uint8, np.int8], ["tensor", "columns"], [0, 1]):
        rng = np.random.default_rng(3)
        x, y = [rng.integers(0, 100, shape).astype(dtype) for shape, dtype in [([2, 4, 6], a), ([6, 5], b)]]
        scale = np.array(0.125 if grain == "tensor" else [0.125, 0.25, 0.5, 0.125, 0.25], f32)
        point = (np.full(scale.shape, 3) if zero else np.zeros(scale.shape)).astype(b)
        inputs = [x, f32(0.25), a(2 * zero), y, scale, point, f32(16), a(0)]
        name = {"of": "QLinearMatMul", "a": np.dtype(a), "b": np.dtype(b), "grain": grain, "zero": zero}
        yield given("Quantization", name, "QLinearMatMul", inputs, constants=range(1, 8))
        name["of"] = "MatMulInteger"
        inputs = [x, y, a(2 * zero), point] if zero else [x, y]
        yield given("Quantization", name, "MatMulInteger", inputs, constants=range(1, len(inputs)))
    for a, b, grain, pads in itertools.product([np.uint8, np.int8], [np.uint8, np.int8], ["tensor", "filters"], [0, 1]):
        rng = np.random.default_rng(4)
        x, w = [rng.integers(0, 50, shape).astype(dtype) for shape, dtype in [([1, 2, 5, 5], a), ([3, 2, 3, 3], b)]]
        scale = np.array(0.125 if grain == "tensor" else [0.125, 0.25, 0.5], f32)
        name = {"a": np.dtype(a), "b": np.dtype(b), "grain": grain, "pads": pads}
        inputs = [x, f32(0.25), a(3), w, scale, np.full(scale.shape, 2, b), f32(16), a(1)]
        yield given(
            "Quantization", {"of": "QLinearConv"} | name, "QLinearConv", inputs, {"pads": [pads] * 4}, range(1, 8)
        )
        inputs = [x, w, a(3), np.full(scale.shape, 2, b)]
        yield given(
            "Quantization", {"of": "ConvInteger"} | name, "ConvInteger", inputs, {"pads": [pads] * 4}, range(1, 4)
        )


def normalization():
    x = floats(2, 4, 3, 5)
    for axis, bias, epsilon in itertools.product([0, 1, 3, -1, -2], [0, 1], [1e-5, 0.1]):
        shape = x.shape[axis:]
        inputs = [x, floats(*shape, seed=1)] + ([floats(*shape, seed=2)] if bias else [])
        name = {"axis": axis, "bias": bias, "epsilon": epsilon}
        yield given(
            "Norm",
            {"of": "Layer"} | name,
            "LayerNormalization",
            inputs,
            {"axis": axis, "epsilon": epsilon},
            range(1, len(inputs)),
            close=8 * SUMS,
        )
        if not bias:
            yield given(
                "Norm",
                {"of": "RMS"} | name,
                "RMSNormalization",
                inputs,
                {"axis": axis, "epsilon": epsilon},
                [1],
                opset=23,
                close=8 * SUMS,
            )
    for operator, opset, axis, shape in itertools.product(
        ["Softmax", "LogSoftmax", "Hardmax"], [11, 13], [0, 1, -1], [[2, 4, 3], [3, 5], [2, 0, 3], [0, 4]]
    ):
        yield given(
            "Norm",
            {"of": operator, "opset": opset, "axis": axis, "shape": shape},
            operator,
            [floats(*shape)],
            {"axis": axis},
            opset=opset,
            close=SUMS,
        )
    for rank, groups, operator in itertools.product([3, 4, 5], [1, 2, 4], ["Group", "Instance", "Batch"]):
        x = floats(*[2, 4, 3, 2, 2][:rank])
        own = [floats(4, seed=i) for i in (1, 2)]
        if operator == "Group":
            yield given(
                "Norm",
                {"of": operator, "rank": rank, "groups": groups},
                "GroupNormalization",
                [x, *own],
                {"num_groups": groups},
                [1, 2],
                close=8 * SUMS,
            )
        elif groups == 1:
            more = [floats(4, seed=3), np.abs(floats(4, seed=4))] if operator == "Batch" else []
            yield given(
                "Norm",
                {"of": operator, "rank": rank},
                f"{operator}Normalization",
                [x, *own, *more],
                constants=range(1, 3 + len(more)),
                close=8 * SUMS,
            )
    for size, rank in itertools.product([1, 2, 3, 4], [3, 4]):
        yield given(
            "Norm",
            {"of": "LRN", "size": size, "rank": rank},
            "LRN",
            [floats(*[2, 5, 3, 2][:rank])],
            {"size": size, "alpha": 0.5, "bias": 1.5},
            close=4 * SUMS,
        )
    for axis, p in itertools.product([0, 1, -1], [1, 2]):
        yield given(
            "Norm",
            {"of": "Lp", "axis": axis, "p": p},
            "LpNormalization",
            [floats(2, 4, 3)],
            {"axis": axis, "p": p},
            opset=22,
            close=4 * SUMS,
        )
    for axes in [[0, 2, 3], [1], [-1], [0, 1, 2, 3]]:
        yield given(
            "Norm",
            {"of": "MeanVariance", "axes": axes},
            "MeanVarianceNormalization",
            [x],
            {"axes": axes},
            close=8 * SUMS,
        )


def gathers():
    x = floats(3, 4, 5)
    for axis, shape, negative, dtype in itertools.product(
        [0, 1, 2, -1, -3], [[], [2], [2, 3], [0]], [0, 1], [np.int32, i64]
    ):
        rng = np.random.default_rng(1)
        size = x.shape[axis]
        for operator, own in [
            ("Gather", shape),
            ("GatherElements", [2, 2, 2]),
            ("GatherElements", [3, 4, 5]),
            ("ScatterElements", [2, 2, 2]),
        ]:
            if operator != "Gather" and shape:
                continue
            indices = (rng.integers(-size, size, own) if negative else rng.integers(0, size, own)).astype(dtype)
            name = {"of": operator, "axis": axis, "indices": own, "negative": negative, "type": np.dtype(dtype)}
            if operator != "ScatterElements":
                for stored in (0, 1):
                    yield given(
                        "Gather",
                        name | {"stored": stored},
                        operator,
                        [x, indices],
                        {"axis": axis},
                        [1] if stored else [],
                    )
                continue
            # Without a reduction, no index is written twice.
            distinct = (
                np.stack([rng.permutation(size)[:2] for _ in range(4)])
                .reshape(2, 2, 2)
                .swapaxes(2, axis % 3)
                .astype(dtype)
            )
            distinct -= size * negative
            for reduction in ["none", "add", "mul", "max", "min"]:
                own = distinct if reduction == "none" else indices
                inputs = [x, own, floats(2, 2, 2, seed=1)]
                yield given(
                    "Scatter",
                    name | {"reduction": reduction},
                    operator,
                    inputs,
                    {"axis": axis, "reduction": reduction},
                    opset=18,
                    close=SUMS,
                )
    y = floats(2, 3, 4, 5)
    for batch, last, negative in itertools.product([0, 1, 2], [1, 2, 3], [0, 1]):
        if batch + last > 4:
            continue
        rng = np.random.default_rng(2)
        sizes = np.array(y.shape[batch : batch + last])
        indices = np.stack([rng.integers(-size * negative, size, [*y.shape[:batch], 2]) for size in sizes], -1)
        yield given(
            "Gather",
            {"of": "GatherND", "batch": batch, "last": last, "negative": negative},
            "GatherND",
            [y, indices],
            {"batch_dims": batch},
        )
        if batch:
            continue
        for reduction in ["none", "add", "mul", "max", "min"]:
            own = (
                np.array([[0] * last, [1] * last]) - (sizes * negative if negative else 0)
                if reduction == "none"
                else indices
            )
            updates = floats(2, *y.shape[last:], seed=3)
            yield given(
                "Scatter",
                {"of": "ScatterND", "last": last, "negative": negative, "reduction": reduction},
                "ScatterND",
                [y, own, updates],
                {"reduction": reduction},
                opset=18,
                close=SUMS,
            )


def forms():
    return itertools.chain(resize(), pools(), blocks(), quantization(), normalization(), gathers())
