"""Forms of OpenVINO's operators: all combinations of some values of their attributes."""

import itertools

import numpy as np
import openvino as ov
from forms import Form, product
from forms_onnx import SUMS, floats
from openvino import opset1, opset6, opset8, opset12, opset14, opset15
from openvino.utils.node_factory import NodeFactory

f32, i64 = np.float32, np.int64


def given(family, name, make, inputs, close=0.0):
    """A form of the node that a function makes from its parameters."""
    arrays = {f"x{i}": np.asarray(array) for i, array in enumerate(inputs)}

    def write(folder):
        parameters = []
        for key, array in arrays.items():
            parameters.append(opset1.parameter(list(array.shape), array.dtype, key))
            parameters[-1].output(0).get_tensor().set_names({key})
        node = make(*parameters)
        results = []
        for i in range(node.get_output_size()):
            node.output(i).get_tensor().set_names({f"y{i}"})
            results.append(opset1.result(node.output(i)))
        path = folder / "source.xml"
        ov.save_model(ov.Model(results, parameters, "form"), path, compress_to_fp16=False)
        return path, None

    return Form(family, name, write, arrays, close)


def node(family, name, opset, operator, inputs, attributes=None, constants=(), close=0.0):
    """A form of a node of an operator; inputs of the numbers `constants` are stored."""
    inputs = [np.asarray(array) for array in inputs]

    def make(*parameters):
        own = iter(parameters)
        given = [ov.op.Constant(ov.Tensor(array)) if i in constants else next(own) for i, array in enumerate(inputs)]
        return NodeFactory(f"opset{opset}").create(operator, [x.output(0) for x in given], attributes or {})

    return given(family, name, make, [array for i, array in enumerate(inputs) if i not in constants], close)


MODES = ["nearest", "linear_onnx", "linear", "cubic", "bilinear_pillow", "bicubic_pillow"]
COORDINATES = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn"]
NEAREST = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"]
FACTORS = {
    "shrinks": [0.375, 0.625, 0.75],
    "grows": [1.375, 1.75, 2.25],
    "both": [0.625, 1.75, 1.375],
    "one": [0.125, 0.125, 0.125],
}
PLACES = {"1of3": (3, [2]), "2of4": (4, [2, 3]), "first": (4, [0, 1]), "3of5": (5, [2, 3, 4]), "all": (4, [0, 1, 2, 3])}


def interpolate():
    kinds = [("nearest", mode) for mode in NEAREST] + [(mode, "floor") for mode in MODES[1:]]
    for (mode, nearest), coordinates, by, size, place in itertools.product(
        kinds, COORDINATES, ["sizes", "scales"], FACTORS, PLACES
    ):
        rank, axes = PLACES[place]
        for antialias, pads, version in [(0, 0, 11), (1, 0, 11), (0, 1, 11), (1, 1, 4), (0, 0, 4)]:
            if version == 4 and "pillow" in mode:
                continue
            x = floats(*([7, 8, 3, 2] if place == "first" else [2, 3, 7, 8, 6][:rank]))
            scales = np.array((FACTORS[size] + [1.0])[: len(axes)], f32)
            begins = [pads if axis in axes else 0 for axis in range(rank)]
            sizes = np.maximum(1, ((np.array(x.shape) + begins)[axes] * scales).astype(i64))
            words = {
                "mode": mode,
                "shape_calculation_mode": by,
                "pads_begin": begins,
                "pads_end": [0] * rank,
                "coordinate_transformation_mode": coordinates,
                "nearest_mode": nearest,
                "antialias": bool(antialias),
                "cube_coeff": -0.5 if pads else -0.75,
            }

            def make(x, words=words, scales=scales, sizes=sizes, axes=axes, by=by, version=version):
                both = [sizes, scales] if version == 4 else [scales if by == "scales" else sizes]
                inputs = [x.output(0), *(opset1.constant(list).output(0) for list in [*both, np.array(axes)])]
                return NodeFactory(f"opset{version}").create("Interpolate", inputs, words)

            name = {
                "mode": mode,
                "nearest": nearest,
                "at": coordinates,
                "by": by,
                "size": size,
                "axes": place,
                "antialias": antialias,
                "pads": pads,
                "v": version,
            }
            if mode != "nearest":
                name.pop("nearest")
            yield given("Interpolate", name, make, [x], 0 if mode == "nearest" else 2 * SUMS)


def pools():
    pads = {"none": (0, 0), "ones": (1, 1), "uneven": (0, 1), "same_upper": None, "same_lower": None, "valid": None}
    operators = ["max1", "max8", "max14", "average1", "average14", "average1_excluding", "average14_excluding"]
    forms = product(
        of=operators,
        rank=[1, 2, 3],
        kernel=[1, 2, 3],
        strides=[1, 2, 3],
        dilations=[1, 2],
        rounding=["floor", "ceil", "ceil_torch"],
        pads=list(pads),
    )
    for form in forms:
        of, rank, kernel = form["of"], form["rank"], form["kernel"]
        has_dilations, newest = of in ("max8", "max14"), "14" in of
        if (form["dilations"] > 1 and not has_dilations) or (form["rounding"] == "ceil_torch" and not newest):
            continue
        explicit = pads[form["pads"]]
        begin, end = [min(pad, kernel - 1) for pad in explicit or (0, 0)]
        auto = "explicit" if explicit else form["pads"]
        lists = [[form["strides"]] * rank, [begin] * rank, [end] * rank, [kernel] * rank]

        def make(x, of=of, lists=lists, form=form, auto=auto, rank=rank):
            strides, begins, ends, kernel = lists
            rounding, dilations = form["rounding"], [form["dilations"]] * rank
            if of == "max1":
                return opset1.max_pool(x, strides, begins, ends, kernel, rounding, auto)
            if of in ("max8", "max14"):
                opset = opset8 if of == "max8" else opset14
                return opset.max_pool(x, strides, dilations, begins, ends, kernel, rounding, auto)
            opset = opset14 if "14" in of else opset1
            return opset.avg_pool(x, strides, begins, ends, kernel, "excluding" in of, rounding, auto)

        yield given("PoolIR", form, make, [floats(1, 2, *[8, 7, 5][:rank])], SUMS if "average" in of else 0)


def blocks():
    for operator, block, mode, rank, dtype in itertools.product(
        ["space_to_depth", "depth_to_space"], [1, 2, 3], ["blocks_first", "depth_first"], [3, 4, 5], [f32, np.uint8]
    ):
        spatial = rank - 2
        shape = (
            [2, 2 * block**spatial, *[3, 2, 2][:spatial]]
            if operator == "depth_to_space"
            else [2, 3, *[2 * block, 3 * block, block][:spatial]]
        )

        def make(x, operator=operator, mode=mode, block=block):
            return getattr(opset1, operator)(x, mode, block)

        yield given(
            "BlocksIR",
            {"of": operator, "block": block, "mode": mode, "rank": rank, "type": np.dtype(dtype)},
            make,
            [(10 * floats(*shape)).astype(dtype)],
        )


def gathers():
    x = floats(3, 4, 5)
    for axis, shape, negative, batch, stored in itertools.product(
        [0, 1, 2, -1], [[], [2], [3, 2], [3, 4, 2]], [0, 1], [0, 1, 2], [0, 1]
    ):
        if batch > min(len(shape), axis % 3):
            continue
        indices = np.random.default_rng(1).integers(
            -x.shape[axis] * negative, x.shape[axis], shape if not batch else [*x.shape[:batch], *shape[batch:]]
        )

        def make(x, *own, axis=axis, batch=batch, indices=indices):
            return opset8.gather(x, own[0] if own else opset1.constant(indices), opset1.constant(np.int64(axis)), batch)

        name = {"of": "Gather", "axis": axis, "indices": shape, "negative": negative, "batch": batch, "stored": stored}
        yield given("GatherIR", name, make, [x] if stored else [x, indices])
    for axis, rows, negative in itertools.product([0, 1, 2, -1], [1, 2, 6], [0, 1]):
        shape = [*x.shape[: axis % 3], rows, *x.shape[axis % 3 + 1 :]]
        indices = np.random.default_rng(1).integers(-x.shape[axis] * negative, x.shape[axis], shape)

        def elements(x, indices, axis=axis):
            return opset6.gather_elements(x, indices, axis)

        yield given(
            "GatherIR",
            {"of": "GatherElements", "axis": axis, "rows": rows, "negative": negative},
            elements,
            [x, indices],
        )
    for axis, reduction, init, negative in itertools.product(
        [0, 1, 2, -1], ["none", "sum", "prod", "min", "max", "mean"], [0, 1], [0, 1]
    ):
        indices = (
            np.random.default_rng(1).permuted(np.arange(2 * 2 * 2).reshape(2, 2, 2) % 2 + 1, axis=axis)
            - x.shape[axis] * negative
        )
        if reduction == "none":
            indices = np.stack([np.full((2, 2), i) for i in (0, 2)], axis) - x.shape[axis] * negative

        def scatter(x, indices, updates, axis=axis, reduction=reduction, init=init):
            return opset12.scatter_elements_update(x, indices, updates, np.int64(axis), reduction, bool(init))

        name = {"of": "ScatterElementsUpdate", "axis": axis, "reduction": reduction, "init": init, "negative": negative}
        yield given("ScatterIR", name, scatter, [x, indices, floats(2, 2, 2, seed=1)], SUMS)
    for last, reduction, negative in itertools.product([1, 2, 3], ["none", "sum", "sub", "prod", "min", "max"], [0, 1]):
        indices = np.array([[0] * last, [1] * last]) - np.array(x.shape[:last]) * negative

        def scatter_nd(x, indices, updates, reduction=reduction):
            return opset15.scatter_nd_update(x, indices, updates, reduction)

        yield given(
            "ScatterIR",
            {"of": "ScatterNDUpdate", "last": last, "reduction": reduction, "negative": negative},
            scatter_nd,
            [x, indices, floats(2, *x.shape[last:], seed=3)],
            SUMS,
        )


def normalization():
    x = floats(2, 4, 3, 5)
    for axes, variance, inside in itertools.product(
        [[1], [2, 3], [-1], [0, 1, 2, 3]], [0, 1], ["inside_sqrt", "outside_sqrt"]
    ):
        yield given(
            "NormIR",
            {"of": "MVN", "axes": axes, "variance": variance, "eps": inside},
            lambda x, a=axes, v=variance, e=inside: opset6.mvn(x, a, bool(v), 1e-3, e),
            [x],
            8 * SUMS,
        )
    for axes, mode in itertools.product([[1], [2, 3], [-1], [0, 1, 2, 3]], ["add", "max"]):
        yield given(
            "NormIR",
            {"of": "NormalizeL2", "axes": axes, "eps": mode},
            lambda x, a=axes, m=mode: opset1.normalize_l2(x, a, 0.25, m),
            [x],
            8 * SUMS,
        )
    for axes, size in itertools.product([[1], [2, 3], [-1]], [1, 2, 3, 5]):
        yield given(
            "NormIR",
            {"of": "LRN", "axes": axes, "size": size},
            lambda x, a=axes, s=size: opset1.lrn(x, a, 0.5, 0.75, 1.5, s),
            [x],
            8 * SUMS,
        )
    for groups, rank in itertools.product([1, 2, 4], [3, 4, 5]):
        own = [floats(4, seed=i) for i in (1, 2)]
        yield given(
            "NormIR",
            {"of": "Group", "groups": groups, "rank": rank},
            lambda x, g=groups, own=own: opset12.group_normalization(x, own[0], own[1], g, 1e-3),
            [floats(*[2, 4, 3, 2, 2][:rank])],
            8 * SUMS,
        )
    for axis, of in itertools.product([0, 1, -1, -4], ["softmax", "log_softmax"]):
        yield given(
            "NormIR",
            {"of": of, "axis": axis},
            lambda x, a=axis, of=of: opset8.softmax(x, a) if of == "softmax" else opset8.log_softmax(x, a),
            [x],
            SUMS,
        )


def forms():
    return itertools.chain(interpolate(), pools(), blocks(), gathers(), normalization())
