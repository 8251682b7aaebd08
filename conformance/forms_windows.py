"""Forms of operators that slide windows over images, or take regions of them, in both standards."""

import itertools

import forms_onnx
import forms_openvino
import numpy as np
from forms import product
from forms_onnx import SUMS, floats

f32, i64 = np.float32, np.int64
# Pads at the begin and the end of each axis, and those that the operator computes.
PADS = {"none": (0, 0), "ones": (1, 1), "uneven": (0, 2), "SAME_UPPER": None, "SAME_LOWER": None, "VALID": None}


def padded(form, rank):
    """The attributes of a form's pads."""
    explicit = PADS[form["pads"]]
    if explicit is None:
        return {"auto_pad": form["pads"]}
    return {"pads": [explicit[0]] * rank + [explicit[1]] * rank}


def shared(form, rank):
    """Steps and dilations of a form in each axis."""
    return {"strides": [form["strides"]] * rank, "dilations": [form["dilations"]] * rank}


def convolutions():
    values = {"kernel": [1, 2, 3], "strides": [1, 2, 3], "dilations": [1, 2], "pads": list(PADS)}
    for form in product(rank=[1, 2, 3], groups=[1, 2, 4], bias=[0, 1], **values):
        rank, groups = form["rank"], form["groups"]
        x, w = floats(2, 4, *[7, 6, 5][:rank]), floats(4, 4 // groups, *[form["kernel"]] * rank, seed=1)
        attributes = {"group": groups, **shared(form, rank), **padded(form, rank)}
        inputs = [x, w, floats(4, seed=2)][: 2 + form["bias"]]
        constants = range(1, len(inputs))
        yield forms_onnx.given("Conv", {"of": "Conv"} | form, "Conv", inputs, attributes, constants, close=SUMS)
    for form in product(rank=[1, 2], groups=[1, 2], output=["", "shape", "padding"], **values):
        rank, groups = form["rank"], form["groups"]
        x, w = floats(1, 4, *[4, 3][:rank]), floats(4, 3, *[form["kernel"]] * rank, seed=1)
        attributes = {"group": groups, **shared(form, rank), **padded(form, rank)}
        if form["output"] == "shape":
            attributes |= {"output_shape": [11, 10][:rank]}
            attributes.pop("pads", None)
        if form["output"] == "padding":
            attributes |= {"output_padding": [form["strides"] - 1] * rank}
        yield forms_onnx.given(
            "Conv", {"of": "ConvTranspose"} | form, "ConvTranspose", [x, w], attributes, [1], close=SUMS
        )
    for form in product(
        groups=[1, 2],
        offsets=[1, 2],
        mask=[0, 1],
        bias=[0, 1],
        kernel=[1, 2],
        strides=[1, 2],
        dilations=[1, 2],
        pads=["none", "ones"],
    ):
        k = form["kernel"]
        begin, end = PADS[form["pads"]]
        sizes = [(size + begin + end - form["dilations"] * (k - 1) - 1) // form["strides"] + 1 for size in (5, 4)]
        inputs = [
            floats(1, 4, 5, 4),
            floats(4, 4 // form["groups"], k, k, seed=1),
            floats(1, 2 * k * k * form["offsets"], *sizes, seed=2),
        ]
        inputs += [
            floats(4, seed=3) if form["bias"] else None,
            floats(1, k * k * form["offsets"], *sizes, seed=4) if form["mask"] else None,
        ]
        attributes = {"group": form["groups"], "offset_group": form["offsets"], **shared(form, 2), **padded(form, 2)}
        while inputs[-1] is None:
            inputs.pop()
        yield forms_onnx.given(
            "Conv", {"of": "DeformConv"} | form, "DeformConv", inputs, attributes, [1], opset=22, close=8 * SUMS
        )


def convolutions_of_openvino():
    values = {"kernel": [1, 2, 3], "strides": [1, 2, 3], "dilations": [1, 2], "pads": list(PADS)}

    def attributes_of(form, rank):
        begin, end = PADS[form["pads"]] or (0, 0)
        auto = form["pads"].lower() if PADS[form["pads"]] is None else "explicit"
        return {**shared(form, rank), "pads_begin": [begin] * rank, "pads_end": [end] * rank, "auto_pad": auto}

    for form in product(rank=[1, 2, 3], groups=[0, 2, 4], **values):
        rank, groups = form["rank"], form["groups"]
        x = floats(2, 4, *[7, 6, 5][:rank])
        kernel = [form["kernel"]] * rank
        w = floats(*([groups, 4 // groups, 4 // groups] if groups else [3, 4]), *kernel, seed=1)
        operator = "GroupConvolution" if groups else "Convolution"
        yield forms_openvino.node(
            "ConvIR", {"of": operator} | form, 1, operator, [x, w], attributes_of(form, rank), [1], SUMS
        )
    for form in product(rank=[1, 2], groups=[0, 2], output=["", "shape", "padding"], **values):
        rank, groups = form["rank"], form["groups"]
        x = floats(1, 4, *[4, 3][:rank])
        w = floats(*([groups, 4 // groups, 3] if groups else [4, 3]), *[form["kernel"]] * rank, seed=1)
        more = [np.array([11, 10][:rank])] if form["output"] == "shape" else []
        attributes = attributes_of(form, rank)
        attributes["output_padding"] = [form["strides"] - 1 if form["output"] == "padding" else 0] * rank
        operator = "GroupConvolutionBackpropData" if groups else "ConvolutionBackpropData"
        inputs = [x, w, *more]
        yield forms_openvino.node(
            "ConvIR", {"of": operator} | form, 1, operator, inputs, attributes, range(1, len(inputs)), SUMS
        )


def images():
    for form in product(
        mode=["linear", "nearest", "cubic"], padding=["zeros", "border", "reflection"], corners=[0, 1], rank=[4, 5]
    ):
        if form["rank"] == 5 and form["mode"] == "cubic":
            continue
        spatial = form["rank"] - 2
        grid = floats(2, *[3, 2, 2][:spatial], spatial, seed=1)
        attributes = {"mode": form["mode"], "padding_mode": form["padding"], "align_corners": form["corners"]}
        x = floats(2, 3, *[5, 4, 3][:spatial])
        yield forms_onnx.given(
            "Images", {"of": "GridSample"} | form, "GridSample", [x, grid], attributes, opset=22, close=8 * SUMS
        )
    rois = np.array([[0, 0, 3, 3], [1, 0.5, 4, 2], [-1, -1, 2, 2], [2, 2, 2, 2]], f32)
    for form in product(
        mode=["avg", "max"], at=["half_pixel", "output_half_pixel"], ratio=[0, 1, 2], scale=[1.0, 0.5], sizes=[1, 3]
    ):
        attributes = {
            "mode": form["mode"],
            "coordinate_transformation_mode": form["at"],
            "sampling_ratio": form["ratio"],
        }
        attributes |= {"spatial_scale": form["scale"], "output_height": form["sizes"], "output_width": 2}
        inputs = [floats(2, 2, 5, 6), rois, np.array([0, 1, 1, 0])]
        yield forms_onnx.given(
            "Images", {"of": "RoiAlign"} | form, "RoiAlign", inputs, attributes, opset=16, close=8 * SUMS
        )
    for form in product(corners=[0, 1], rank=[2, 3], batch=[1, 2]):
        sizes = np.array([form["batch"], 1, *[3, 4, 2][: form["rank"]]])
        theta = floats(form["batch"], form["rank"], form["rank"] + 1)
        yield forms_onnx.given(
            "Images",
            {"of": "AffineGrid"} | form,
            "AffineGrid",
            [theta, sizes],
            {"align_corners": form["corners"]},
            [1],
            opset=20,
            close=8 * SUMS,
        )
    for form in product(kernel=[1, 2], strides=[1, 2], dilations=[1, 2], pads=[0, 1]):
        blocks = [
            (size + 2 * form["pads"] - form["dilations"] * (form["kernel"] - 1) - 1) // form["strides"] + 1
            for size in (5, 6)
        ]
        x = floats(1, 2 * form["kernel"] ** 2, blocks[0] * blocks[1])
        inputs = [x, np.array([5, 6]), np.array([form["kernel"]] * 2)]
        attributes = {
            "strides": [form["strides"]] * 2,
            "dilations": [form["dilations"]] * 2,
            "pads": [form["pads"]] * 4,
        }
        yield forms_onnx.given("Images", {"of": "Col2Im"} | form, "Col2Im", inputs, attributes, [1, 2], close=SUMS)
        attributes["pads_begin"] = attributes["pads_end"] = attributes.pop("pads")[:2]
        yield forms_openvino.node("ImagesIR", {"of": "Col2Im"} | form, 15, "Col2Im", inputs, attributes, [1, 2], SUMS)
    for axes, sizes in itertools.product([[0, 1], [-1], [2, 0]], [1, 3, 7]):
        name = {"of": "CenterCropPad", "axes": axes, "sizes": sizes}
        yield forms_onnx.given(
            "Images", name, "CenterCropPad", [floats(4, 5, 6), np.array([sizes] * len(axes))], {"axes": axes}, [1]
        )


def images_of_openvino():
    rois = np.array([[0, 0, 3, 3], [1, 0.5, 4, 2], [-1, -1, 2, 2], [2, 2, 2, 2]], f32)
    for form in product(
        mode=["avg", "max"], at=["asymmetric", "half_pixel_for_nn", "half_pixel"], ratio=[0, 1, 2], scale=[1.0, 0.5]
    ):
        attributes = {"mode": form["mode"], "aligned_mode": form["at"], "sampling_ratio": form["ratio"]}
        attributes |= {"spatial_scale": form["scale"], "pooled_h": 3, "pooled_w": 2}
        inputs = [floats(2, 2, 5, 6), rois, np.array([0, 1, 1, 0])]
        yield forms_openvino.node(
            "ImagesIR", {"of": "ROIAlign"} | form, 9, "ROIAlign", inputs, attributes, (), 8 * SUMS
        )
    boxes = np.array([[0, 0, 0, 3, 3], [1, 1, 0, 4, 2], [0, 0.25, 0.5, 0.75, 1]], f32)
    for method, scale, sizes in itertools.product(["max", "bilinear"], [1.0, 0.5], [1, 3]):
        name = {"of": "ROIPooling", "method": method, "scale": scale, "sizes": sizes}
        attributes = {"method": method, "spatial_scale": scale, "output_size": [sizes, 2]}
        given = boxes if method == "max" else boxes / f32([1, 4, 4, 4, 4])
        yield forms_openvino.node(
            "ImagesIR", name, 2, "ROIPooling", [floats(2, 2, 5, 6), given], attributes, (), 8 * SUMS
        )
    for form in product(
        mode=["bilinear", "bicubic", "nearest"], padding=["zeros", "border", "reflection"], corners=[False, True]
    ):
        attributes = {"mode": form["mode"], "padding_mode": form["padding"], "align_corners": form["corners"]}
        inputs = [floats(2, 3, 5, 4), floats(2, 3, 2, 2, seed=1)]
        yield forms_openvino.node(
            "ImagesIR", {"of": "GridSample"} | form, 9, "GridSample", inputs, attributes, (), 8 * SUMS
        )
    for form in product(sizes=[1, 2, 3], strides=[1, 3], rates=[1, 2], pads=["valid", "same_upper", "same_lower"]):
        attributes = {key: [form[key]] * 2 for key in ("sizes", "strides", "rates")} | {"auto_pad": form["pads"]}
        yield forms_openvino.node(
            "ImagesIR", {"of": "ExtractImagePatches"} | form, 3, "ExtractImagePatches", [floats(1, 2, 7, 6)], attributes
        )
    for of, sizes in itertools.product(
        ["AdaptiveAvgPool", "AdaptiveMaxPool"], [[1], [3], [7], [2, 3], [1, 1], [4, 2, 3]]
    ):
        x = floats(1, 2, *[5, 6, 4][: len(sizes)])
        attributes = {"index_element_type": "i64"} if "Max" in of else {}
        name = {"of": of, "sizes": sizes}
        yield forms_openvino.node("ImagesIR", name, 8, of, [x, np.array(sizes)], attributes, [1], SUMS)
    for axis, group in itertools.product([0, 1, -1, -2], [1, 2, 3]):
        name = {"of": "ShuffleChannels", "axis": axis, "group": group}
        yield forms_openvino.node(
            "BlocksIR", name, 3, "ShuffleChannels", [floats(6, 12, 6, 6)], {"axis": axis, "group": group}
        )
    for stride in [1, 2, 3]:
        yield forms_openvino.node(
            "BlocksIR",
            {"of": "ReorgYolo", "stride": stride},
            2,
            "ReorgYolo",
            [floats(1, 36, 6, 6)],
            {"stride": [stride]},
        )
    for form in product(softmax=[False, True], axis=[1], end=[1, 2, 3], mask=[1, 3]):
        attributes = {
            "coords": 4,
            "classes": 3,
            "num": 2,
            "do_softmax": form["softmax"],
            "axis": form["axis"],
            "end_axis": form["end"],
        }
        attributes |= {"mask": list(range(form["mask"])), "anchors": []}
        count = 2 if form["softmax"] else form["mask"]
        yield forms_openvino.node(
            "ImagesIR", {"of": "RegionYolo"} | form, 1, "RegionYolo", [floats(1, 8 * count, 3, 2)], attributes, (), SUMS
        )
    for block, begin, end in itertools.product([1, 2, 3], [0, 1], [0, 1]):
        pads = [np.array([0, 0, begin, 0]), np.array([0, 0, end, 0])]
        name = {"block": block, "begin": begin, "end": end}
        x = floats(1, 2, 6 - begin - end, 6)
        inputs = [x, np.array([1, 1, block, block]), *pads]
        yield forms_openvino.node("BlocksIR", {"of": "SpaceToBatch"} | name, 2, "SpaceToBatch", inputs, {}, [1, 2, 3])
        inputs = [floats(2 * block * block, 2, 3, 4), *inputs[1:]]
        yield forms_openvino.node("BlocksIR", {"of": "BatchToSpace"} | name, 2, "BatchToSpace", inputs, {}, [1, 2, 3])


def forms():
    return itertools.chain(convolutions(), convolutions_of_openvino(), images(), images_of_openvino())
