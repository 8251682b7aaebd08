"""Models of OpenVINO, an operator each, that `convert.py` converts to ONNX: those whose results are rounded, or chosen by data, and
that `openvino_shapes.py` therefore does not record.
"""

import numpy as np
import openvino as ov
from openvino import opset1, opset8, opset16, opset17

BOXES = np.array([[0, 0, 5, 5], [1, 2, 9, 7], [3, 1, 6, 9]], np.float32)


def models():
    """By name: what goes in, and what makes the model of it."""
    random = np.random.default_rng(19)
    floats = lambda *dims: random.standard_normal(dims).astype(np.float32)
    cases = {}
    op = opset16
    for direction, count in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
        for steps in ((4, 4, 4), (4, 2, 1)):
            name, lengths = f"{direction}_{steps[1]}", np.array(steps, np.int32)
            x, h = floats(3, 4, 5), floats(3, count, 2)
            weights = lambda gates, biases: (floats(count, gates * 2, 5), floats(count, gates * 2, 2), floats(count, biases * 2))
            rnn = lambda *a, n=lengths, d=direction: op.rnn_sequence(a[0], a[1], n, *a[2:], 2, d, activations=["relu"])
            gru = lambda *a, n=lengths, d=direction: op.gru_sequence(a[0], a[1], n, *a[2:], 2, d)
            linear = lambda *a, n=lengths, d=direction: op.gru_sequence(a[0], a[1], n, *a[2:], 2, d, linear_before_reset=True)
            lstm = lambda *a, n=lengths, d=direction: op.lstm_sequence(a[0], a[1], a[2], n, *a[3:], 2, d)
            cases[f"rnn_{name}"] = ([x, h, *weights(1, 1)], rnn)
            cases[f"gru_{name}"] = ([x, h, *weights(3, 3)], gru)
            cases[f"gru_linear_{name}"] = ([x, h, *weights(3, 4)], linear)
            cases[f"lstm_{name}"] = ([x, h, floats(3, count, 2), *weights(4, 4)], lstm)
    x, h = floats(3, 5), floats(3, 2)
    weights = lambda gates, biases: (floats(gates * 2, 5), floats(gates * 2, 2), floats(biases * 2))
    cases["rnn_cell"] = ([x, h, *weights(1, 1)], lambda *a: op.rnn_cell(*a, 2, ["tanh"], [], []))
    cases["gru_cell"] = ([x, h, *weights(3, 3)], lambda *a: op.gru_cell(*a, 2))
    cases["gru_cell_linear"] = ([x, h, *weights(3, 4)], lambda *a: op.gru_cell(*a, 2, linear_before_reset=True, clip=0.5))
    cases["lstm_cell"] = ([x, h, floats(3, 2), *weights(4, 4)], lambda *a: op.lstm_cell(*a, 2))
    statistics = [np.abs(floats(3)), floats(3), floats(3), np.abs(floats(3))]
    cases["batch_norm"] = ([floats(2, 3, 4)], lambda x: op.batch_norm_inference(x, *statistics, 1e-3))
    for mode in ("add", "max"):
        cases[f"normalize_l2_{mode}"] = ([floats(2, 3, 4)], lambda x, m=mode: op.normalize_l2(x, np.array([1, 2]), 0.1, m))
    numbers, axes = floats(2, 3, 4, 2), np.array([1, -1])
    cases["dft"] = ([numbers], lambda x: op.dft(x, axes, np.array([-1, 5])))
    cases["idft"] = ([numbers], lambda x: op.idft(x, axes))
    cases["rdft"] = ([floats(2, 3, 5)], lambda x: op.rdft(x, axes))
    cases["irdft"] = ([numbers], lambda x: op.irdft(x, axes, np.array([3, 7])))
    for across in (False, True):
        cases[f"stft_{across}"] = ([floats(2, 16), floats(4)], lambda x, w, t=across: op.stft(x, w, np.int64(5), np.int64(3), t))
    cases["space_to_batch"] = ([floats(2, 3, 4)], lambda x: op.space_to_batch(x, np.array([1, 2, 2]), np.array([0, 1, 0]), np.array([0, 0, 2])))
    cases["batch_to_space"] = ([floats(8, 2, 3)], lambda x: op.batch_to_space(x, np.array([1, 2, 2]), np.array([0, 1, 0]), np.array([0, 0, 2])))
    cases["grn"] = ([floats(2, 3, 4, 5)], lambda x: opset1.grn(x, 0.5))
    cases["lrn"] = ([floats(2, 7, 4, 5)], lambda x: opset1.lrn(x, np.array([1]), 1.0, 0.75, 1.0, 5))
    for mode in ("bilinear", "bicubic", "nearest"):
        for padding in ("zeros", "border", "reflection"):
            for aligned in (True, False):
                how = {"align_corners": aligned, "mode": mode, "padding_mode": padding}
                case = ([floats(2, 3, 4, 5), floats(2, 6, 7, 2)], lambda x, g, how=how: op.grid_sample(x, g, how))
                cases[f"grid_sample_{mode}_{padding}_{aligned}"] = case
    samples = np.array([0, 1, 1], np.int32)
    for mode in ("asymmetric", "half_pixel_for_nn"):
        align = lambda x, m=mode: op.roi_align(x, BOXES, samples, 3, 2, 2, 0.9, "avg", m)
        cases[f"roi_align_{mode}"] = ([floats(2, 3, 10, 10)], align)
    for size in (1, 2):
        cases[f"adaptive_pool_{size}"] = ([floats(2, 3, 4, 6)], lambda x, n=size: op.adaptive_avg_pool(x, np.array([n, 2 * n - 1])))
    cases["shuffle_channels"] = ([floats(2, 6, 3)], lambda x: op.shuffle_channels(x, 1, 3))
    cases["reverse_sequence"] = ([floats(3, 4, 2)], lambda x: op.reverse_sequence(x, np.array([1, 4, 2], np.int32), 0, 1))
    cases["reverse_sequence_last"] = ([floats(3, 4, 2)], lambda x: op.reverse_sequence(x, np.array([1, 2], np.int32), 2, 0))
    cases["roll"] = ([floats(3, 4, 2)], lambda x: op.roll(x, np.array([2, -5]), np.array([1, 0])))
    rows = np.array([[0, 2], [4, 4], [1, 3]])
    cases["embedding_sum"] = ([floats(5, 3), floats(3, 2)], lambda x, w: op.embedding_bag_packed_sum(x, rows, w))
    cases["embedding_mean"] = ([floats(5, 3)], lambda x: op.embedding_bag_packed(x, rows, reduction="mean"))
    offsets, ids = np.array([0, 0, 2], np.int32), np.array([0, 0, 2, 3])
    chosen, weights = np.array([0, 2, 3, 4], np.int32), np.array([0.5, 1, 2, 3], np.float32)
    for default in (-1, 1):
        bag = lambda x, d=default: op.embedding_bag_offsets(x, chosen, offsets, np.int32(d), weights)
        cases[f"embedding_offsets_{default}"] = ([floats(5, 3)], bag)
        mean = lambda x, d=default: op.embedding_bag_offsets(x, chosen, offsets, np.int32(d), reduction="mean")
        cases[f"embedding_offsets_mean_{default}"] = ([floats(5, 3)], mean)
    segments = lambda x: op.embedding_segments_sum(x, chosen, ids.astype(np.int32), np.int32(6), np.int32(1), weights)
    cases["embedding_segments"] = ([floats(5, 3)], segments)
    for fill in ("ZERO", "LOWEST"):
        cases[f"segment_max_{fill}"] = ([floats(4, 3)], lambda x, f=fill: op.segment_max(x, ids, None, fill_mode=f))
        cases[f"segment_max_of_six_{fill}"] = ([floats(4, 3)], lambda x, f=fill: op.segment_max(x, ids, np.int64(6), fill_mode=f))
        cases[f"segment_max_of_two_{fill}"] = ([floats(4, 3)], lambda x, f=fill: op.segment_max(x, ids, np.int64(2), fill_mode=f))
    how = {"strides": [2, 1], "pads_begin": [1, 0], "pads_end": [0, 1]}
    cases["col2im"] = ([floats(2, 12, 18)], lambda x: op.col2im(x, np.array([7, 6]), np.array([3, 2]), **how))
    cases["col2im_of_one"] = ([floats(12, 25)], lambda x: op.col2im(x, np.array([7, 6]), np.array([3, 2])))
    for groups in (1, 2):
        lies = ([1, 1], [1, 0], [0, 1], [1, 1])
        deform = lambda x, o, w, m, g=groups: opset8.deformable_convolution(x, o, w, *lies, m, "EXPLICIT", g, 2, True)
        arrays = [floats(1, 4, 6, 7), floats(1, 36, 5, 6), floats(4, 4 // groups, 3, 3), floats(1, 18, 5, 6)]
        cases[f"deformable_convolution_{groups}"] = (arrays, deform)
    scaled = {"axes": np.array([2, 3]), "cube_coeff": -0.5}
    for mode in ("bilinear_pillow", "bicubic_pillow"):
        for size in ([3, 4], [14, 20]):
            resize = lambda x, m=mode, s=size: op.interpolate(x, np.array(s), m, "sizes", **scaled)
            cases[f"interpolate_{mode}_{size[0]}"] = ([floats(1, 2, 7, 9)], resize)
    # As PyTorch's images without aliases are converted.
    by_scales = {"axes": np.array([2, 3]), "cube_coeff": -0.75}
    for scale in (0.6, 1.7):
        resize = lambda x, s=scale: op.interpolate(x, np.array([s, s], np.float32), "bicubic_pillow", "scales", **by_scales)
        cases[f"interpolate_pillow_by_{scale}"] = ([floats(1, 2, 7, 9)], resize)
    image = random.integers(0, 256, (1, 2, 7, 9)).astype(np.uint8)
    for mode in ("linear", "cubic", "bicubic_pillow"):
        resize = lambda x, m=mode: op.interpolate(x, np.array([4, 13]), m, "sizes", **scaled)
        cases[f"interpolate_bytes_{mode}"] = ([image], resize)
    pads = {"pads_begin": [0, 0, 1, 0], "pads_end": [0, 0, 0, 2]}
    padded = lambda x: op.interpolate(x, np.array([4, 13]), "linear_onnx", "sizes", axes=np.array([2, 3]), **pads)
    cases["interpolate_padded"] = ([floats(1, 2, 7, 9)], padded)
    smooth = lambda x: op.interpolate(x, np.array([4, 5]), "linear", "sizes", axes=np.array([2, 3]), antialias=True)
    cases["interpolate_smooth"] = ([floats(1, 2, 7, 9)], smooth)
    for size in (3, 14):
        simple = lambda x, s=size: op.interpolate(x, np.array([s, s]), "nearest", "sizes", axes=np.array([2, 3]), nearest_mode="simple")
        cases[f"interpolate_simple_{size}"] = ([floats(1, 2, 7, 9)], simple)
    bounds, values = np.array([-0.5, 0, 0.5], np.float32), np.array([-1, -0.5, 0, 0.2, 0.5, 2], np.float32)
    ordered, wanted = np.array([[-1, 0, 1], [0, 0, 2]], np.float32), np.array([[0, 0.5], [0, 3]], np.float32)
    for right in (True, False):
        cases[f"bucketize_{right}"] = ([values], lambda x, r=right: op.bucketize(x, bounds, "i32", r))
        cases[f"search_sorted_{right}"] = ([ordered, wanted], lambda a, v, r=right: op.search_sorted(a, v, right_mode=r))
    cases["unique"] = ([np.array([3, 1, 1, 2, 3], np.float32)], lambda x: op.unique(x, sorted=True))
    table = np.array([[1, 2], [1, 2], [0, 1]], np.float32)
    rows_of = lambda x: op.unique(x, np.array([0]), sorted=True, index_element_type="i32")
    cases["unique_rows"] = ([table], rows_of)
    near = np.array([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11]]], np.float32)
    scores = np.array([[[0.9, 0.75, 0.6, 0.95]]], np.float32)
    limits = [np.int64(3), np.float32(0.5), np.float32(0.1), np.float32(0)]
    first = lambda b, s: op.convert(op.non_max_suppression(b, s, *limits, "corner", False, "i64").output(0), "i64")
    cases["non_max_suppression"] = ([near, scores], first)
    soft = [*limits[:3], np.float32(0.4)]
    decayed = lambda b, s: op.convert(op.non_max_suppression(b, s, *soft, "corner", True, "i64").output(1), "f32")
    cases["non_max_suppression_decayed"] = ([near, scores], decayed)
    cases |= spelling(random) | turned(random)
    shares = np.array([-1, -0.999, -0.5, -1e-3, 0, 1e-6, 0.3, 0.97, 0.9999999, 1], np.float32)
    cases["erf_inv"] = ([shares], opset17.erfinv)
    for adjoint in (False, True):
        cases[f"inverse_{adjoint}"] = ([floats(2, 5, 5)], lambda x, a=adjoint: op.inverse(x, a))
    twice = np.array([[0, 0, 2, 3], [1, 1, 1, 0]])
    for reduction in ("sum", "prod", "min", "max", "mean"):
        for starts in (True, False):
            given = {"reduction": reduction, "use_init_val": starts}
            scatter = lambda x, y, given=given: op.scatter_elements_update(x, twice, y, np.int64(1), **given)
            cases[f"scatter_{reduction}_{starts}"] = ([floats(2, 5), floats(2, 4)], scatter)
    for listed in ([0, 0], [0, -4], [3, -1], [0, -3], [0, 2, 2, -1]):
        name = "_".join(str(axis).replace("-", "m") for axis in listed)
        cases[f"unsqueeze_{name}"] = ([floats(2, 3)], lambda x, listed=listed: op.unsqueeze(x, np.array(listed)))
    return cases


def spelling(random) -> dict:
    """Labels that are spelled by the classes of steps."""
    cases = {}
    scores = random.standard_normal((3, 7, 4)).astype(np.float32)
    lengths, labels, counts = np.array([7, 4, 6], np.int32), random.integers(0, 3, (3, 7)).astype(np.int32), np.array([4, 2, 1], np.int32)
    mask = np.array([[1, 1, 1], [1, 1, 1], [1, 0, 1], [1, 0, 1], [1, 1, 0], [1, 1, 0], [1, 1, 0]], np.float32)
    for merges in (True, False):
        by_length = lambda x, n, m=merges: opset8.ctc_greedy_decoder_seq_len(x, n, None, m, "i32", "i64")
        cases[f"ctc_greedy_decoder_seq_len_{merges}"] = ([scores, lengths], by_length)
        by_mask = lambda x, n, m=merges: opset8.ctc_greedy_decoder(x, n, m)
        cases[f"ctc_greedy_decoder_{merges}"] = ([scores.transpose(1, 0, 2).copy(), mask], by_mask)
        for unique, collapses in ((False, False), (True, False), (False, True)):
            how = (collapses, merges, unique)
            loss = lambda x, n, y, c, how=how: opset8.ctc_loss(x, n, y, c, None, *how)
            cases[f"ctc_loss_{merges}_{unique}_{collapses}"] = ([scores, lengths, labels, counts], loss)
    return cases


def turned(random) -> dict:
    """Boxes that are turned, and those of several images in one list."""
    from openvino import opset13

    cases = {}
    boxes = (random.random((2, 9, 5)) * [4, 4, 3, 3, 6] + [0, 0, 0.5, 0.5, -3]).astype(np.float32)
    scores = random.random((2, 3, 9)).astype(np.float32)
    for clockwise in (True, False):
        limits = [np.int64(6), np.float32(0.3), np.float32(0.1)]
        chosen = lambda b, s, c=clockwise: opset13.nms_rotated(b, s, *limits, True, "i64", c)
        cases[f"nms_rotated_{clockwise}"] = ([boxes, scores], chosen)
    corners = np.concatenate([boxes[..., :2], boxes[..., :2] + boxes[..., 2:4]], -1)
    how = {"sort_result_type": "classid", "iou_threshold": 0.3, "score_threshold": 0.2, "keep_top_k": 5}
    of_images = lambda b, s: opset13.multiclass_nms(b, s, np.array([2, 0, 7], np.int32), **how)
    cases["multiclass_nms_of_one_list"] = ([corners, scores[:, 0].copy()], of_images)
    return cases


def writers():
    """By name: what writes a model, and gives what goes in."""
    import openvino_detection

    for name, (arrays, make) in models().items():
        yield name, lambda path, arrays=arrays, make=make: save(path, arrays, make)
    for name in sorted(openvino_detection.MAKERS):
        for number in range(2):
            yield f"{name}_{number}", lambda path, name=name, number=number: save_drawn(path, name, number)


def save_drawn(path, name, number) -> dict:
    """Writes a random model of an operator on images or boxes."""
    import openvino_detection
    import openvino_shapes

    case = openvino_shapes.Case(np.random.default_rng([number, *name.encode()]))
    node = openvino_detection.MAKERS[name](case)
    for parameter in case.parameters:
        parameter.output(0).get_tensor().set_names({parameter.friendly_name})
    model = ov.Model(list(node.outputs()), case.parameters, "model")
    for i, output in enumerate(model.outputs):
        output.get_tensor().set_names({f"y{i}"})
    ov.save_model(model, path, compress_to_fp16=False)
    return case.feeds


def save(path, arrays, make) -> dict:
    """Writes a model, whose inputs are `x0` on and outputs `y0` on; gives what goes in."""
    parameters = [opset16.parameter(array.shape, ov.Type(array.dtype)) for array in arrays]
    node = make(*parameters)
    for i, parameter in enumerate(parameters):
        parameter.output(0).get_tensor().set_names({f"x{i}"})
    model = ov.Model([node.output(i) for i in range(node.get_output_size())], parameters, "model")
    for i, output in enumerate(model.outputs):
        output.get_tensor().set_names({f"y{i}"})
    ov.save_model(model, path, compress_to_fp16=False)
    return {f"x{i}": array for i, array in enumerate(arrays)}
