"""Makers of random models of OpenVINO's operators that are lowered, most on images and boxes, for `openvino_shapes.py` and `convert.py`.

Each is given a `Case` of `openvino_shapes.py`, and gives the node. Those in `ROUNDED` give floats that programs round otherwise.
"""

import functools

import numpy as np
import openvino as ov
from openvino import opset1, opset3, opset4, opset5, opset8, opset9, opset14, opset15, opset16

I64, I32, F32, U8, BOOL = np.int64, np.int32, np.float32, np.uint8, np.bool_
MAKERS, ROUNDED = {}, set()


def makes(name, rounded=False):
    def note(make):
        MAKERS[name] = make
        if rounded:
            ROUNDED.add(name)
        return make

    return note


def of_detectron(name, attributes, inputs):
    """A node of an operator that the package has no function for."""
    from openvino.utils.node_factory import NodeFactory

    return NodeFactory("opset6").create(name, [node.output(0) for node in inputs], attributes)


def colors():
    for name in ("nv12_to_rgb", "nv12_to_bgr", "i420_to_rgb", "i420_to_bgr"):

        def make(c, name=name):
            images, rows, columns = c.integer(1, 2), 2 * c.integer(1, 3), 2 * c.integer(1, 3)
            byte = lambda *dims: c.parameter(c.random.integers(0, 256, dims).astype(U8))
            if c.flag():
                return getattr(opset8, name)(byte(images, rows * 3 // 2, columns, 1))
            if name.startswith("nv12"):
                return getattr(opset8, name)(byte(images, rows, columns, 1), byte(images, rows // 2, columns // 2, 2))
            half = [byte(images, rows // 2, columns // 2, 1) for _ in range(2)]
            return getattr(opset8, name)(byte(images, rows, columns, 1), *half)

        own = name.replace("_to_rgb", "toRGB").replace("_to_bgr", "toBGR").replace("nv12", "NV12").replace("i420", "I420")
        MAKERS[f"{own}-8"] = make


colors()


@makes("ReorgYolo-2")
def reorg_yolo(c):
    stride = c.integer(1, 3)
    dims = [c.integer(1, 2), stride * stride * c.integer(1, 2), stride * c.integer(1, 2), stride * c.integer(1, 3)]
    return opset8.reorg_yolo(c.image(dims), [stride])


@makes("RegionYolo-1", rounded=True)
def region_yolo(c):
    classes, coords, regions, softmax = c.integer(1, 4), c.integer(2, 5), c.integer(1, 3), c.flag()
    image = c.parameter(c.random.standard_normal((c.integer(1, 2), regions * (classes + coords + 1), c.integer(1, 3), c.integer(1, 3))).astype(F32))
    return opset1.region_yolo(image, coords, classes, regions, softmax, list(range(regions)), 1, c.integer(1, 3) if softmax else 3, [1.0, 2.0])


@makes("AdaptiveMaxPool-8")
def adaptive_max_pool(c):
    sizes = [c.integer(1, 4) for _ in range(c.integer(1, 3))]
    x = c.random.permutation(2 * 3 * int(np.prod(spatial := [c.integer(1, 7) for _ in sizes]))).reshape(2, 3, *spatial)
    # The plugin has no indices of int64.
    return opset8.adaptive_max_pool(c.parameter(x.astype(F32), static=True), c.constant(sizes), "i32")


@makes("AdaptiveAvgPool-8", rounded=True)
def adaptive_avg_pool(c):
    sizes = [c.integer(1, 4) for _ in range(c.integer(1, 3))]
    x = c.random.standard_normal((2, 3, *[c.integer(1, 7) for _ in sizes])).astype(F32)
    return opset8.adaptive_avg_pool(c.parameter(x, static=True), c.constant(sizes))


@makes("SliceScatter-15")
def slice_scatter(c):
    dims = c.dims(2, 2, 5)
    axis, step = c.integer(-2, 1), c.choose(1, 1, 2, -1)
    start, stop = (c.integer(0, 1), c.integer(2, 6)) if step > 0 else (-1, -20)
    part = list(dims)
    part[axis] = len(range(dims[axis])[slice(start, stop, step)])
    dtype = c.choose(I32, F32)
    bounds = [c.constant([n]) for n in (start, stop, step)]
    return opset15.slice_scatter(c.parameter(c.array(dims, dtype)), c.parameter(c.array(part, dtype, 5, 9)), *bounds, c.constant([axis]))


def priors(c):
    of = lambda low, high: [float(c.integer(low, high)) for _ in range(c.integer(1, 2))]
    sides = [c.maybe_constant([c.integer(1, 3), c.integer(1, 3)], I64), c.maybe_constant([c.integer(8, 16), c.integer(8, 16)], I64)]
    return sides, of, c.choose([], [0.5], [0.1, 0.1, 0.2, 0.2])


@makes("PriorBox-1", rounded=True)
def prior_box_1(c):
    sides, of, variance = priors(c)
    least = of(2, 8)
    attributes = {
        "min_size": np.array(least, F32), "max_size": np.array([size + 3 for size in least][: c.integer(0, len(least))], F32),
        "aspect_ratio": np.array(c.choose([], [2.0], [2.0, 3.0, 1.0]), F32), "flip": c.flag(), "clip": c.flag(), "step": c.choose(0.0, 4.0),
        "offset": c.choose(0.0, 0.5), "variance": np.array(variance, F32), "scale_all_sizes": True,
    }  # fmt: skip
    return opset1.prior_box(sides[0], np.array([9, 11], I64), attributes) if c.flag() else opset1.prior_box(*sides, attributes)


@makes("PriorBox-8", rounded=True)
def prior_box_8(c):
    _, of, variance = priors(c)
    # The plugin infers no shape from sides that are computed.
    sides = [c.constant([c.integer(1, 3), c.integer(1, 3)]), c.constant([c.integer(8, 16), c.integer(8, 16)])]
    least = of(2, 8)
    attributes = {
        "min_size": np.array(least, F32), "max_size": np.array([size + 3 for size in least][: c.integer(0, len(least))], F32),
        "aspect_ratio": np.array(c.choose([], [2.0], [2.0, 3.0, 1.0]), F32), "flip": c.flag(), "clip": c.flag(), "step": c.choose(0.0, 4.0),
        "offset": c.choose(0.0, 0.5), "variance": np.array(variance, F32), "min_max_aspect_ratios_order": c.flag(), "scale_all_sizes": True,
    }  # fmt: skip
    if c.integer(0, 3) == 0:
        attributes |= {"max_size": np.array([], F32), "scale_all_sizes": False, "step": 0.25}
    if c.integer(0, 2) == 0:
        attributes |= {"fixed_size": np.array(of(3, 8), F32), "density": np.array([2.0, 1.0], F32), "min_size": np.array([], F32), "max_size": np.array([], F32)}
        attributes["density"] = attributes["density"][: len(attributes["fixed_size"])]
        if c.flag():
            # With other ratios beside it, the plugin writes behind what it allocates.
            attributes |= {"fixed_ratio": np.array([0.5], F32), "aspect_ratio": np.array([], F32)}
    return opset8.prior_box(*sides, attributes)


@makes("PriorBoxClustered-1", rounded=True)
def prior_box_clustered(c):
    sides, _, variance = priors(c)
    count = c.integer(1, 3)
    attributes = {
        "width": c.random.integers(1, 9, count).astype(F32), "height": c.random.integers(1, 9, count).astype(F32), "clip": c.flag(),
        "offset": c.choose(1.0, 0.5), "variance": np.array(variance, F32),
    }  # fmt: skip
    attributes |= c.choose({}, {"step": 2.0}, {"step_widths": 4.0, "step_heights": 3.0})
    return opset1.prior_box_clustered(*sides, attributes)


def some_boxes(c, *dims, most=1.0):
    corner = c.random.random((*dims, 2)) * most
    return np.concatenate([corner, corner + c.random.random((*dims, 2)) * most / 2], -1).astype(F32)


def some_scores(c, *dims):
    """Scores that all differ."""
    return (c.random.permutation(int(np.prod(dims))).reshape(dims) / np.prod(dims)).astype(F32)


# Overlaps that equal the threshold are left out: the plugin suppresses these too, which the texts
# do not.
@makes("NonMaxSuppression-1", rounded=True)
def non_max_suppression(c, made=opset1):
    images, classes, boxes = c.integer(1, 2), c.integer(1, 3), c.integer(1, 8)
    # The plugin does not write the number of boxes where there may be none.
    numbers = [np.int64(c.integer(1, 5)), np.float32(c.choose(0.2, 0.5)), np.float32(c.choose(0.0, 0.3))]
    given = [c.parameter(array, True) for array in (some_boxes(c, images, boxes), some_scores(c, images, classes, boxes))]
    # How fast scores decay, and the type of the indices, came with later versions.
    decay = [c.choose(None, np.float32(0.0), np.float32(0.5))] if made in (opset5, opset9) else []
    dtype = [c.choose("i32", "i64")] if made is not opset1 else []
    return made.non_max_suppression(*given, *numbers, *decay, "corner", c.flag(), *dtype)


for number, made in ((3, opset3), (4, opset4), (5, opset5), (9, opset9)):
    makes(f"NonMaxSuppression-{number}", rounded=True)(functools.partial(non_max_suppression, made=made))


def chosen(c):
    return {
        "sort_result_type": c.choose("classid", "score"), "sort_result_across_batch": c.flag(), "output_type": c.choose("i32", "i64"),
        "score_threshold": c.choose(0.0, 0.3), "nms_top_k": c.choose(-1, 3), "keep_top_k": c.choose(-1, 4),
        "background_class": c.choose(-1, 0), "normalized": c.flag(),
    }  # fmt: skip


@makes("MulticlassNms-8")
def multiclass_nms_8(c, made=opset8):
    images, classes, boxes = c.integer(1, 2), c.integer(1, 3), c.integer(1, 8)
    given = [c.parameter(array, True) for array in (some_boxes(c, images, boxes), some_scores(c, images, classes, boxes))]
    how = chosen(c) | {"iou_threshold": c.choose(0.2, 0.5), "nms_eta": 1.0}
    if made is opset9:
        return opset9.multiclass_nms(*given, None, **how)
    return opset8.multiclass_nms(*given, **how)


@makes("MulticlassNms-9")
def multiclass_nms_9(c):
    return multiclass_nms_8(c, opset9)


@makes("MatrixNms-8", rounded=True)
def matrix_nms(c):
    images, classes, boxes = c.integer(1, 2), c.integer(1, 3), c.integer(1, 8)
    given = [c.parameter(array, True) for array in (some_boxes(c, images, boxes), some_scores(c, images, classes, boxes))]
    how = {"decay_function": c.choose("linear", "gaussian"), "gaussian_sigma": 2.0, "post_threshold": c.choose(0.0, 0.1)}
    return opset8.matrix_nms(*given, **chosen(c), **how)


def of_ssd(c):
    images, classes, priors = c.integer(1, 2), c.integer(2, 4), c.integer(1, 6)
    how = {
        "background_label_id": c.choose(0, 0, -1), "top_k": c.choose(-1, 4), "variance_encoded_in_target": c.flag(), "keep_top_k": np.array([c.choose(5, -1)], I64),
        "code_type": "caffe.PriorBoxParameter." + c.choose("CORNER", "CENTER_SIZE"), "share_location": c.flag(), "nms_threshold": c.choose(0.3, 0.5),
        "confidence_threshold": c.choose(0.0, 0.2), "clip_after_nms": c.flag(), "clip_before_nms": c.flag(), "decrease_label_id": False,
        "normalized": c.flag(), "input_height": 1, "input_width": 1, "objectness_score": 0.0,
    }  # fmt: skip
    own = some_boxes(c, 1, priors)
    if not how["normalized"]:
        how |= {"input_height": 16, "input_width": 8}
        own = np.concatenate([np.zeros((1, priors, 1), F32), own * np.array([8, 16, 8, 16], F32)], -1)
    own = own.reshape(1, 1, -1)
    if not how["variance_encoded_in_target"]:
        own = np.concatenate([own, np.full_like(own, 0.5)], 1)
    places = 1 if how["share_location"] else classes
    deltas = c.random.standard_normal((images, priors * places * 4)).astype(F32) / 4
    return how, classes, [c.parameter(deltas), c.parameter(some_scores(c, images, priors * classes)), c.parameter(own.astype(F32))]


@makes("DetectionOutput-1", rounded=True)
def detection_output_1(c):
    how, classes, given = of_ssd(c)
    return opset1.detection_output(*given, how | {"num_classes": classes})


@makes("DetectionOutput-8", rounded=True)
def detection_output_8(c):
    how, _, given = of_ssd(c)
    for parameter in given:
        parameter.set_partial_shape(ov.PartialShape(list(c.feeds[parameter.friendly_name].shape)))
        parameter.validate_and_infer_types()
    return opset8.detection_output(*given, how)


def of_proposal(c):
    # The plugin ends the process where it has few boxes to choose from, and with `tensorflow`.
    images, rows, columns = c.integer(1, 2), c.integer(3, 4), c.integer(3, 4)
    ratios, scales = [0.5, 1.0, 2.0][: c.integer(1, 3)], [1.0, 2.0][: c.integer(1, 2)]
    count = len(ratios) * len(scales)
    how = {
        "base_size": c.choose(8, 16), "pre_nms_topn": c.choose(12, 100), "post_nms_topn": 3, "nms_thresh": c.choose(0.5, 0.7), "feat_stride": c.choose(4, 8),
        "min_size": 1, "ratio": np.array(ratios, F32), "scale": np.array(scales, F32), "clip_before_nms": c.flag(), "clip_after_nms": c.flag(),
        "normalize": c.flag(), "box_size_scale": c.choose(1.0, 5.0), "box_coordinate_scale": c.choose(1.0, 10.0), "framework": "",
    }  # fmt: skip
    how |= {name: np.uint64(how[name]) for name in ("base_size", "pre_nms_topn", "post_nms_topn", "feat_stride", "min_size")}
    scores, deltas = some_scores(c, images, 2 * count, rows, columns), c.random.standard_normal((images, 4 * count, rows, columns)).astype(F32) / 3
    info = np.array([24, 28, 1] + ([2] if c.flag() else []), F32)
    return [c.parameter(array, static=True) for array in (scores, deltas, info)], how


@makes("Proposal-1", rounded=True)
def proposal_1(c):
    given, how = of_proposal(c)
    return opset1.proposal(*given, how)


@makes("Proposal-4", rounded=True)
def proposal_4(c):
    given, how = of_proposal(c)
    return opset4.proposal(*given, how)


@makes("GenerateProposals-9", rounded=True)
def generate_proposals(c):
    images, anchors, rows, columns = c.integer(1, 2), c.integer(1, 3), c.integer(1, 3), c.integer(1, 3)
    info = np.tile(np.array([20, 24, 1], F32), (images, 1))
    boxes, scores = some_boxes(c, rows, columns, anchors, most=16.0), some_scores(c, images, anchors, rows, columns)
    deltas = c.random.standard_normal((images, 4 * anchors, rows, columns)).astype(F32) / 3
    return opset9.generate_proposals(
        *map(c.parameter, (info, boxes, deltas, scores)), min_size=c.choose(0.0, 4.0), nms_threshold=c.choose(0.3, 0.7), pre_nms_count=c.choose(4, 100),
        post_nms_count=c.choose(3, 8), normalized=c.flag(), nms_eta=1.0, roi_num_type=c.choose("i32", "i64"),
    )  # fmt: skip


@makes("ExperimentalDetectronGenerateProposalsSingleImage-6", rounded=True)
def proposals_of_image(c):
    anchors, rows, columns = c.integer(1, 3), c.integer(1, 3), c.integer(1, 3)
    boxes, scores = some_boxes(c, rows * columns * anchors, most=16.0), some_scores(c, anchors, rows, columns)
    deltas = c.random.standard_normal((4 * anchors, rows, columns)).astype(F32) / 3
    # The plugin keeps boxes below the least size, with a score of zero, which the text removes.
    # Boxes that are less than a pixel apart overlap a little by the sizes of pixels, and not at all
    # in the plugin.
    how = {"min_size": 0.0, "nms_threshold": 0.7, "pre_nms_count": c.choose(4, 100), "post_nms_count": c.choose(3, 8)}
    given = [c.parameter(array) for array in (np.array([20, 24, 1], F32), boxes, deltas, scores)]
    return of_detectron("ExperimentalDetectronGenerateProposalsSingleImage", how, given)


@makes("ExperimentalDetectronPriorGridGenerator-6")
def prior_grid(c):
    how = {"flatten": c.flag(), "h": 0, "w": 0, "stride_x": c.choose(0.0, 4.0), "stride_y": c.choose(0.0, 8.0)}
    boxes, rows, columns = c.array((c.integer(1, 3), 4), F32), c.choose(1, 2, 4), c.choose(1, 2, 4)
    given = [c.parameter(array) for array in (boxes, np.zeros((1, 2, rows, columns), F32), np.zeros((1, 3, 16, 24), F32))]
    return of_detectron("ExperimentalDetectronPriorGridGenerator", how, given)


@makes("ExperimentalDetectronTopKROIs-6")
def top_boxes(c):
    count = c.integer(1, 6)
    given = [c.parameter(some_boxes(c, count)), c.parameter(some_scores(c, count))]
    return of_detectron("ExperimentalDetectronTopKROIs", {"max_rois": c.integer(1, count)}, given)


def rois(c, images, *columns):
    """Boxes, each behind the number of its image."""
    return np.concatenate([c.random.integers(0, images, (len(columns[0]), 1)).astype(F32), *columns], 1)


@makes("PSROIPooling-1", rounded=True)
def psroi_pooling(c):
    images, channels, groups, boxes = c.integer(1, 2), c.integer(1, 3), c.integer(1, 3), c.integer(1, 4)
    samples = c.flag()
    rows, columns = (c.integer(1, 3), c.integer(1, 3)) if samples else (1, 1)
    all_channels = channels * (rows * columns if samples else groups * groups)
    data = c.random.standard_normal((images, all_channels, c.integer(4, 8), c.integer(4, 8))).astype(F32)
    corners = some_boxes(c, boxes, most=1.0 if samples else 8.0)
    given = [c.parameter(data, True), c.parameter(rois(c, images, corners), True)]
    mode = "bilinear" if samples else "average"
    return opset1.psroi_pooling(*given, channels, groups, c.choose(0.5, 1.0), columns, rows, mode)


@makes("DeformablePSROIPooling-1", rounded=True)
def deformable_psroi_pooling(c):
    images, classes, each, groups, boxes = c.integer(1, 2), c.integer(1, 2), c.integer(1, 2), c.integer(1, 3), c.integer(1, 4)
    outputs, parts, bins = classes * each, c.integer(1, 3), c.integer(1, 3)
    data = c.random.standard_normal((images, outputs * groups * groups, c.integer(4, 8), c.integer(4, 8))).astype(F32)
    given = [data, rois(c, images, some_boxes(c, boxes, most=8.0))]
    if c.flag():
        given.append(c.random.standard_normal((boxes, 2 * classes, parts, parts)).astype(F32))
    how = {
        "spatial_scale": c.choose(0.5, 1.0), "group_size": groups, "mode": "bilinear_deformable", "spatial_bins_x": bins, "spatial_bins_y": bins,
        "trans_std": c.choose(0.0, 0.5), "part_size": parts,
    }  # fmt: skip
    return opset1.deformable_psroi_pooling(*[c.parameter(array, True) for array in given[:2]], outputs, offsets=None if len(given) == 2 else c.parameter(given[2], True), **how)


@makes("ROIAlignRotated-15", rounded=True)
def roi_align_rotated(c):
    images, channels, boxes = c.integer(1, 2), c.integer(1, 3), c.integer(1, 4)
    data = c.random.standard_normal((images, channels, c.integer(4, 8), c.integer(4, 8))).astype(F32)
    numbers = np.concatenate([c.random.random((boxes, 4)) * 8, c.random.standard_normal((boxes, 1))], 1).astype(F32)
    given = [c.parameter(array, True) for array in (data, numbers, c.random.integers(0, images, boxes).astype(c.choose(I32, I64)))]
    return opset15.roi_align_rotated(*given, c.integer(1, 3), c.integer(1, 3), c.integer(0, 2), c.choose(0.5, 1.0), c.flag())


@makes("ExperimentalDetectronDetectionOutput-6", rounded=True)
def detectron_output(c):
    boxes, classes = c.integer(1, 8), c.integer(2, 4)
    how = {
        "class_agnostic_box_regression": c.flag(), "deltas_weights": np.array([10, 10, 5, 5], F32), "max_delta_log_wh": c.choose(4.125, 0.0625),
        "max_detections_per_image": c.choose(3, 12), "nms_threshold": c.choose(0.3, 0.5), "num_classes": classes, "post_nms_count": c.choose(2, 20),
        "score_threshold": c.choose(0.0, 0.25),
    }  # fmt: skip
    given = [
        some_boxes(c, boxes, most=16.0), c.random.standard_normal((boxes, 4 * classes)).astype(F32), some_scores(c, boxes, classes),
        np.array([[20, 24, 1]], F32),
    ]  # fmt: skip
    return of_detectron("ExperimentalDetectronDetectionOutput", how, [c.parameter(array) for array in given])


@makes("ExperimentalDetectronROIFeatureExtractor-6", rounded=True)
def pyramid(c):
    levels, channels, boxes = c.integer(1, 4), c.integer(1, 3), c.integer(1, 6)
    # The sizes of boxes that ask for one of the maps; none is near the border to another.
    sizes = c.random.choice([20.0, 60.0, 140.0, 300.0, 600.0], (boxes, 1)) * (1 + c.random.random((boxes, 2)) / 8)
    corner = c.random.random((boxes, 2)) * 100
    rois = np.concatenate([corner, corner + sizes], 1).astype(F32)
    maps = [c.random.standard_normal((1, channels, c.integer(8, 12), c.integer(8, 12))).astype(F32) for _ in range(levels)]
    # The plugin's samples are those of the text only with a ratio.
    how = {
        "output_size": c.integer(1, 3), "sampling_ratio": c.integer(1, 2), "pyramid_scales": np.array([4, 8, 16, 32][:levels], I64),
        "aligned": c.flag(),
    }  # fmt: skip
    return of_detectron("ExperimentalDetectronROIFeatureExtractor", how, [c.parameter(array, True) for array in [rois, *maps]])


@makes("GatherTree-1")
def gather_tree(c):
    steps, batch, beams, dtype = c.integer(1, 6), c.integer(1, 3), c.integer(1, 4), c.choose(I32, F32)
    dims, end = (steps, batch, beams), np.array(c.integer(0, 5), dtype)
    parents = c.array(dims, dtype, 0, beams - 1)
    # The plugin refuses sequences without steps.
    # The number of steps must be known for a conversion.
    return opset1.gather_tree(c.parameter(c.array(dims, dtype, 0, 5), True), c.parameter(parents), c.data([batch], dtype, 1, steps + 1), c.parameter(end, True))


@makes("ConvertPromoteTypes-14")
def convert_promote_types(c):
    shapes = [c.choose([], c.dims(2)) for _ in range(2)]
    types = [c.choose(BOOL, U8, np.int8, I32, I64, F32) for _ in shapes]
    return opset14.convert_promote_types(*map(c.data, shapes, types), c.flag(), c.flag(), c.choose("f32", "i64"))


@makes("SparseFillEmptyRows-16")
def sparse_fill_empty_rows(c):
    dims = [c.integer(1, 5), c.integer(2, 4)]
    places = np.sort(c.random.permutation(dims[0] * dims[1])[: c.integer(0, 6)])
    at = np.stack([places // dims[1], places % dims[1]], 1).astype(to := c.choose(I32, I64))
    values = c.parameter(c.array([len(at)], c.choose(I32, F32)), False)
    default = c.parameter(np.array(9, c.feeds["in0"].dtype), True)
    return opset16.sparse_fill_empty_rows(values, c.constant(dims, to), c.parameter(at, False), default)


@makes("ISTFT-16", rounded=True)
def istft(c):
    size, frames = c.integer(1, 9), c.integer(1, 5)
    step = c.integer(1, size)
    data = c.random.standard_normal((*c.choose([], [2]), size // 2 + 1, frames, 2)).astype(F32)
    window = (1 + c.random.random(c.choose(size, max(1, size - 2)))).astype(F32)
    wanted = c.constant(c.integer(1, step * frames + size + 2)) if c.flag() else None
    given = [c.parameter(data, True), c.parameter(window, True), c.constant(size), c.constant(step)]
    return opset16.istft(*given, c.flag(), c.flag(), wanted)
