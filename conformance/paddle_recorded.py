"""Programs that `paddle_programs.py` records: what each computes, and what it is given."""

import numpy as np
from paddle_layers import LAYERS, array


def shapes(paddle, x):
    sizes = paddle.shape(x)
    n = sizes[0]
    flat = paddle.reshape(x, [n, -1])
    return [
        sizes, paddle.arange(0, n, 1, "int64"), flat, paddle.tile(flat, [2, 1]), paddle.concat([flat, flat], 0),
        paddle.stack([flat, flat], 1), paddle.full([2, 3], 7.5), paddle.cast(n * 3 + 1, "float32"), x[0], x[:, -1],
        paddle.flatten(x), paddle.expand(x[:1], [3, -1, -1]), paddle.reshape(x, [0, -1]),
    ]  # fmt: skip


def sequences(paddle, x):
    return [
        (paddle.logspace(0.25, 2.5, 5, 2.0), 1), (paddle.linspace(0, 1, 7), 2), paddle.linspace(0, 10, 5, "int64"),
        paddle.logspace(0, 3, 4, 10.0, "int32"), (paddle.logspace(-2.0, 2.0, 9, 3.0, "float64"), 4),
        paddle.arange(5, 0, -2), paddle.arange(0, 1, 0.25, "float64"), paddle.linspace(3, 9, 1), x + 1,
        paddle.logspace(0, 9, 10, 2.0, "int64"), paddle.full([2], float("inf")), paddle.full([1], -0.5, "float64"),
    ]  # fmt: skip


def moves(paddle, x, index):
    return [
        *paddle.split(x, [1, -1], 1), *paddle.split(x, 2, 0), paddle.transpose(x, [1, 0]), paddle.gather(x, index, 1),
        paddle.gather(x, index[:1], 0), x[:, ::-1], x[1:, 1:3], paddle.squeeze(paddle.unsqueeze(x, [0, 2]), [0]),
        paddle.where(x > 3, x, x * -1), paddle.index_select(x, index, 1), paddle.tile(x, [2, 1, 2]),
        paddle.strided_slice(x, [1], [3], [0], [-2]), *paddle.unbind(x, 1), paddle.full_like(x, 2),
    ]  # fmt: skip


def arithmetic(paddle, a, b):
    return [
        a + b, a - b, a * b, paddle.floor_divide(a, b), paddle.remainder(a, b), a < b, a == b, a != b, a >= b,
        paddle.scale(a, 3.0, 2.0), paddle.scale(a, 2.0, 1.0, False), paddle.cast(a, "bool"),
    ]  # fmt: skip


def folds(paddle, a, b):
    return [
        paddle.minimum(a, b), paddle.maximum(a, b), paddle.logical_and(a > 2, b > 2), paddle.sum(a), paddle.max(a, 0),
        paddle.abs(-a),
    ]  # fmt: skip


def floats(paddle, a, b):
    return [
        a + b, a / b, paddle.floor_divide(a, b), paddle.remainder(a, b), paddle.floor(a / 4), paddle.ceil(a / 4),
        paddle.cast(a, "int32"), paddle.scale(a, 0.1, 0.7), paddle.increment(paddle.full([1], 1.5), 2.0),
    ]  # fmt: skip


def branches(paddle, x, condition):
    return [paddle.static.nn.cond(condition, lambda: x + 1, lambda: x * 2)]


def loops(paddle, x, most):
    start = paddle.full([1], 0, "int64")
    body = lambda i, a: [i + 1, a * 2]
    return paddle.static.nn.while_loop(lambda i, a: i < most, body, [start, x])


def placeholder(paddle, x):
    """A variable that holds a float64 before the loop that writes integers to it, as variables of a branch do."""
    if paddle.framework.in_pir_mode():
        raise NotImplementedError("values of PIR have one type")
    value, i, most = paddle.full([1], 1.5e27, "float64"), paddle.full([1], 0, "int64"), paddle.full([1], 3, "int64")
    goes_on = paddle.less_than(i, most)
    loop = paddle.static.nn.control_flow.While(goes_on)
    with loop.block():
        paddle.assign(paddle.cast(x, "int64") + i, output=value)
        paddle.assign(i + 1, output=i)
        paddle.assign(paddle.less_than(i, most), output=goes_on)
    return [i, paddle.cast(value, "int64")]


def choices(paddle, x, n):
    """Branches of older programs: a block for each, and the choice of what they write."""
    if paddle.framework.in_pir_mode():
        raise NotImplementedError("branches of PIR are one operation")
    helper = paddle.base.layer_helper.LayerHelper("choice")

    def made(operator, inputs, like, dtype):
        output = helper.create_variable(dtype=dtype, shape=like.shape, type=like.type)
        helper.append_op(type=operator, inputs=inputs, outputs={"Out": output})
        return output

    yes = paddle.less_than(n, paddle.full([1], 3, "int64"))
    no = made("logical_not", {"X": yes}, yes, "bool")
    outside, written = paddle.static.default_main_program().current_block(), []
    for condition, branch in ((yes, lambda: [x + 1, x * 2]), (no, lambda: [x - 1, paddle.scale(x, 3.0)])):
        block = paddle.static.nn.control_flow.ConditionalBlock([condition], is_scalar_condition=True)
        with block.block():
            values = branch()
            names = [paddle.utils.unique_name.generate("branch") for _ in values]
            targets = [outside.create_var(name=name, dtype=value.dtype, shape=value.shape) for name, value in zip(names, values)]
            for value, target in zip(values, targets):
                paddle.assign(value, output=target)
        written.append(targets)
    mask = paddle.cast(yes, "int32")
    return [made("select_input", {"X": [b, a], "Mask": mask}, a, "float32") for a, b in zip(*written)]


def parameters(paddle, x):
    weight = paddle.static.create_parameter([4, 3], "float32", default_initializer=paddle.nn.initializer.Constant(0.5))
    bias = paddle.static.create_parameter([3], "float32", default_initializer=paddle.nn.initializer.Constant(-1.25))
    return [paddle.matmul(x, weight) + bias, paddle.shape(weight), bias * 2]


def parameter(paddle, shape, start):
    values = array("float32", shape, start) / 50 - 1
    return paddle.static.create_parameter(shape, "float32", default_initializer=paddle.nn.initializer.Assign(values))


def network(paddle, image, tokens):
    """Operators of networks; sums are added in another order."""
    import paddle.nn.functional as F

    weight = lambda *of: parameter(paddle, *of)
    filters, depth, positive = weight([6, 3, 3, 3], 0), weight([3, 1, 3, 3], 7), weight([3], 60)
    wide = F.conv2d(image, filters, padding=[1, 2], stride=2)
    rows = F.embedding(tokens, weight([7, 8], 11), padding_idx=2)
    flat = paddle.reshape(image, [2, -1])
    plain = [
        F.relu6(image), F.leaky_relu(image, 0.1), F.max_pool2d(image, 2), F.max_pool2d(image, 3, 2, 1, ceil_mode=True), rows,
        paddle.clip(image, -0.5, 0.25), paddle.flip(image, [2, 3]), paddle.nonzero(tokens), paddle.take_along_axis(flat, tokens, 1),
        F.interpolate(image, scale_factor=2, mode="nearest"), F.interpolate(image, size=[3, 9], mode="nearest"),
        F.dropout(image, 0.4, training=False), paddle.square(image),
    ]  # fmt: skip
    rounded = [
        wide, F.conv2d(image, depth, groups=3, padding="SAME"), F.conv2d_transpose(image, weight([3, 4, 2, 2], 3), stride=2),
        F.avg_pool2d(image, 2), F.avg_pool2d(image, 3, 2, 1, exclusive=False), F.adaptive_avg_pool2d(image, 1),
        F.batch_norm(image, weight([3], 1), positive, weight([3], 5), weight([3], 9)),
        F.layer_norm(rows, [8], weight([8], 13), weight([8], 2)), F.group_norm(wide, 3, 1e-5, weight([6], 4), weight([6], 8)),
        F.hardswish(image), F.silu(image), F.swish(image), F.hardsigmoid(image), F.elu(image, 0.7), F.mish(image),
        F.log_softmax(rows, -1), paddle.cumsum(flat, 1), paddle.pow(image, 3.0),
        paddle.reciprocal(image + 4), F.interpolate(image, size=[7, 4], mode="bilinear", align_corners=True),
        F.interpolate(image, scale_factor=1.5, mode="bilinear"), F.dropout(image, 0.4, training=False, mode="downscale_in_infer"),
    ]  # fmt: skip
    if paddle.framework.in_pir_mode():
        # PaddlePaddle itself refuses these in the older format.
        plain += [paddle.argmax(flat, 1), paddle.argmin(flat, 0, keepdim=True), paddle.tril(image), paddle.triu(image, 1)]
        plain += [paddle.round(image * 3)]
        rounded += [F.gelu(image), F.gelu(image, True), paddle.rsqrt(image + 4)]
    return plain + [(value, 64) for value in rounded]


def arranged(paddle, x, index, image):
    """Operators that sort, choose, write and rearrange."""
    import paddle.nn.functional as F

    row, column = x[0], x[:, 1]
    plain = [
        paddle.argsort(x, 1), paddle.argsort(x, 0, descending=True), paddle.sort(x, 1), *paddle.topk(x, 2, 0), F.one_hot(index, 7),
        *paddle.meshgrid(row, column), F.pad(x, [1, 2, 0, 1], value=2.5), F.pad(image, [1, 0, 2, 1], "reflect"),
        F.pad(image, [1, 2, 0, 1], "replicate"), F.pad(image, [0, 3, 1, 0], value=-1.0),
        paddle.scatter(x, index[0], x[:2] + 9), paddle.scatter(x, index[0], x[:2] + 9, overwrite=False),
        paddle.scatter_nd_add(x, paddle.reshape(index, [-1, 1])[:2], x[:2]), paddle.put_along_axis(x, index, 5.0, 1),
        paddle.put_along_axis(x, index, x[:, :2], 1, reduce="add"), paddle.masked_select(x, x > 1), paddle.index_sample(x, index),
        paddle.repeat_interleave(x, 2, 1), F.pixel_shuffle(image, 2), F.pixel_unshuffle(image, 3), F.channel_shuffle(image, 2),
        F.pixel_shuffle(paddle.transpose(image, [0, 2, 3, 1]), 2, "NHWC"), *paddle.unstack(x, 1), paddle.eye(3, 4, "int64"),
        paddle.static.setitem(x * 1.0, (slice(0, 2),), 1.0), paddle.static.setitem(x * 1.0, (1, slice(0, 4, 2)), 7.0), paddle.bitwise_not(index),
        paddle.bitwise_and(x > 1, x < 5), paddle.bitwise_or(index, index + 1),
        *F.max_pool2d(image, 2, return_mask=True), paddle.trunc(x * 1.5), F.hardtanh(x), F.hardshrink(x), F.thresholded_relu(x, 2.0),
    ]  # fmt: skip
    rounded = [
        paddle.mv(x, row), paddle.addmm(paddle.eye(3), x, paddle.transpose(x, [1, 0]), 2.0, 3.0), paddle.linalg.norm(x, 2, 1),
        paddle.linalg.norm(x), paddle.linalg.norm(x, 1, 0), paddle.linalg.norm(x, float("inf"), 0), paddle.linalg.norm(x, 3, 1, True),
        paddle.einsum("ij,kj->ik", x, x), F.softsign(x), F.tanhshrink(x),
        F.softshrink(x), F.selu(x), F.celu(x), F.log_sigmoid(x), paddle.tan(x / 4), paddle.atan(x),
        F.prelu(image, paddle.full([4], 0.25)), F.interpolate(image, size=[5, 5], mode="bicubic"),
        F.interpolate(image[0], size=[5], mode="linear"), F.interpolate(image[:, :2], [4, 5], mode="bilinear", align_corners=True),
        F.max_pool3d(paddle.unsqueeze(image, [0]), 2), F.conv3d(paddle.unsqueeze(image, [0]), paddle.full([2, 1, 2, 2, 2], 0.5), padding=[0, 1, 1]),
    ]  # fmt: skip
    if paddle.framework.in_pir_mode():
        plain += [
            paddle.roll(x, [1, -2], [0, 1]), paddle.roll(x, 3), paddle.all(x > 1, 1), paddle.any(x > 1, 1, keepdim=True), paddle.isnan(x),
            paddle.isinf(x), paddle.isfinite(x), paddle.amax(x, 1), paddle.masked_fill(x, x > 1, 0.5), F.relu_(x * 1.0),
        ]  # fmt: skip
        rounded += [
            paddle.logsumexp(x, 1), F.softplus(x, 2.0, 10.0), paddle.log2(x + 9), paddle.log10(x + 9), paddle.log1p(x / 9),
            paddle.expm1(x / 9), paddle.sinh(x / 4), paddle.dot(x, x), paddle.bmm(paddle.unsqueeze(x, 0), paddle.reshape(x, [1, 4, 3])),
            F.grid_sample(image, paddle.reshape(x, [1, 2, 3, 2]) / 5), paddle.lerp(x, x * 2, 0.25), F.swiglu(x),
            F.normalize(x, axis=1),
        ]  # fmt: skip
    return plain + [(value, 64) for value in rounded]


def unconverted(paddle, x):
    """Operators that OpenVINO or the operator sets of ONNX Runtime lack, and one in which OpenVINO damages its memory."""
    import paddle.nn.functional as F

    image = paddle.reshape(x, [1, 1, 3, 4])
    return [
        paddle.cumprod(x, 1), paddle.cumprod(x, 0), F.pad(image, [1, 2, 1, 0], "circular"),
        (F.affine_grid(paddle.reshape(x[:2, :3], [1, 2, 3]), [1, 1, 2, 3]), 64), (F.instance_norm(image), 64),
        (F.instance_norm(image, weight=parameter(paddle, [1], 60), bias=parameter(paddle, [1], 3)), 64),
        (F.group_norm(image, 1), 64),
    ]  # fmt: skip


def only_onnx(paddle, x, image, regions, counts):
    """Operators that OpenVINO has no equivalent of."""
    return [(paddle.linalg.det(x), 64), (paddle.linalg.slogdet(x), 64), paddle.vision.ops.roi_pool(image, regions, counts, (3, 2), 0.5)]


def only_run(paddle, x, y, numbers):
    """Operators that ONNX has no equivalent of."""
    square = x @ paddle.transpose(x, [0, 2, 1]) + paddle.eye(3)
    values = [
        paddle.inverse(square), paddle.linalg.cholesky(square), paddle.linalg.cholesky(square, True), paddle.linalg.solve(square, y),
        paddle.linalg.solve(square, y[0]), paddle.linalg.triangular_solve(square, y),
        paddle.linalg.triangular_solve(square, y, False, True, True), paddle.lgamma(numbers), paddle.digamma(numbers), paddle.erfinv(numbers / 4),
    ]  # fmt: skip
    if paddle.framework.in_pir_mode():
        values.append(paddle.gammaln(numbers))
    return [(value, 256) for value in values]


def rare(paddle, x, positive, weights, bias, label, steps, moves, lengths, regions, counts):
    """Functions of elements, losses and pools that few programs have, and that are run by graphs."""
    import paddle.nn.functional as F

    image = paddle.reshape(x, [1, 1, 6, 8])
    means = (paddle.vision.ops.psroi_pool(paddle.concat([image, 3 - image] * 6, 1), regions, counts, (2, 3), 0.5), 64)
    return [
        # Old programs lose how many regions each image has.
        means if paddle.framework.in_pir_mode() else paddle.shape(regions)[0] + paddle.shape(counts),
        (F.hsigmoid_loss(paddle.reshape(x, [8, 6])[:, :3], label, 6, weights, bias), 64),
        *[(value, 8) for value in paddle.text.viterbi_decode(steps, moves, lengths, True)],
        *[(value, 8) for value in paddle.text.viterbi_decode(steps, moves, lengths, False)],
        *F.fractional_max_pool2d(image, [3, 5], None, 0.3, True), *F.fractional_max_pool2d(image, [3, 3], [2, 2], 0.7, True),
        paddle.tensor.manipulation.fill_diagonal_tensor(image, positive[:4].reshape([1, 1, 4]) * 2, 2, 3, 2),
        paddle.tensor.manipulation.fill_diagonal_tensor(paddle.reshape(x, [2, 4, 6])[:, :3], paddle.reshape(x[:2, :3], [2, 3]), 1, 1, 2),
    ]  # fmt: skip


def rare_run(paddle, x, y, positive):
    """Functions of elements that few programs have, and ONNX has no equivalent of."""
    values = [
        *[(value, 16) for value in (paddle.i0(x), paddle.i0e(x), paddle.i1(x), paddle.i1e(x), paddle.i0e(x * 30), paddle.i1(x * 20))],
        *[(paddle.polygamma(positive, order), 64) for order in (0, 1, 2, 5)],
        paddle.nextafter(x, y), paddle.nextafter(paddle.cast(x, "float64"), paddle.cast(y, "float64")),
    ]  # fmt: skip
    if paddle.framework.in_pir_mode():
        shares = [(positive, positive[::-1]), (positive * 20, positive[::-1] * 20), (positive, positive * 0)]
        values += [(function(*given), 64) for given in shares for function in (paddle.gammainc, paddle.gammaincc)]
    if paddle.framework.in_pir_mode():
        z, fft = paddle.complex(x, y), paddle.fft
        spectra = [fft.fft2(z), fft.ifft(z, norm="ortho"), fft.rfft2(x, norm="forward"), fft.ihfft(y), paddle.conj(paddle.as_complex(paddle.as_real(z)))]
        values += [(part, 64) for value in spectra for part in (paddle.real(value), paddle.imag(value))]
        values += [(value, 64) for value in (fft.irfft2(z), fft.irfft(z, 3, norm="forward"), fft.hfft(z))]
    return values


def special(paddle, x, numbers, positive):
    """Special functions, which become formulas and loops."""
    values = [
        *[(function(x), 16) for function in (paddle.i0, paddle.i0e, paddle.i1, paddle.i1e)], (paddle.i0e(x * 30), 16),
        *[(function(numbers), 64) for function in (paddle.lgamma, paddle.digamma)], (paddle.erfinv(x / 4), 64),
        *[(paddle.polygamma(positive, order), 64) for order in (1, 2, 5)],
    ]  # fmt: skip
    if paddle.framework.in_pir_mode():
        shares = [(positive, positive[::-1]), (positive * 20, positive[::-1] * 20), (positive, positive * 0)]
        values += [(function(*given), 64) for given in shares for function in (paddle.gammainc, paddle.gammaincc)]
    return values


def complex_numbers(paddle, x, y):
    """Complex numbers, whose parts are given."""
    z, w = paddle.complex(x, y), paddle.complex(y, x + 9)
    values = [z * w, z / w, z + w, z - w, z * y[:1], z / w[:, :1], paddle.conj(z), paddle.as_complex(paddle.stack([y, x], -1))]
    values += [paddle.concat([z, w], -1), paddle.reshape(z, [-1]), paddle.transpose(z, [1, 0]), z[:, 1:3], paddle.stack([z, w], 1)]
    plain = [(paddle.angle(z), 4), paddle.angle(x), paddle.as_real(w)]
    if paddle.framework.in_pir_mode():
        fft = paddle.fft
        values += [paddle.matmul(z, paddle.transpose(w, [1, 0])), paddle.sum(z, 1), paddle.exp(z / 4), z * 2.0 + 1.0, paddle.cast(x, "complex64")]
        values += [fft.fft(z, 6), fft.fft2(z, (1, 3)), fft.rfft(x, 5), fft.ifft(z), fft.ihfft(x, 3, norm="ortho")]
        plain += [(paddle.abs(z), 4), (fft.irfft(z, 9), 64), (fft.irfft2(z, (2, 3), norm="ortho"), 64), (fft.hfft(z, norm="forward"), 64)]
    return plain + [(part, 64) for value in values for part in (paddle.real(value), paddle.imag(value))]


def functions(paddle, x, n, truth):
    """Functions of elements, and reductions."""
    import paddle.nn.functional as F

    plain = [
        F.hardshrink(x, 0.3), F.hardtanh(x), F.softshrink(x, 0.25), F.thresholded_relu(x, 0.5), F.maxout(paddle.reshape(x, [1, 4, 2, 1]), 2),
        F.prelu(paddle.reshape(x, [1, 2, 2, 2]), parameter(paddle, [2], 60)), F.prelu(x, parameter(paddle, [1], 10)), paddle.trunc(x * 3),
        paddle.bitwise_and(n, n + 1), paddle.bitwise_or(truth, n > 2), paddle.bitwise_xor(n, n * 3), paddle.bitwise_not(n),
        paddle.bitwise_not(truth), paddle.add_n([x, x, x]), paddle.fmax(x, x * x), paddle.fmin(x, x * x),
        paddle.norm(x, float("inf"), 1), *paddle.topk(x, 2), *paddle.argsort(x, 0), paddle.sort(n, descending=True),
    ]  # fmt: skip
    rounded = [
        F.celu(x, 0.5), F.selu(x), F.softsign(x), F.log_sigmoid(x), F.tanhshrink(x), paddle.stanh(x), paddle.tan(x), paddle.atan(x),
        paddle.asinh(x), paddle.norm(x), paddle.norm(x, 1, 0), paddle.norm(x, 3, 1, keepdim=True), paddle.mv(x, parameter(paddle, [4], 3)),
        paddle.addmm(x[:, :2], x, parameter(paddle, [4, 2], 7), 2.0, 0.5),
        paddle.einsum("ij,kj->ik", x, x),
    ]  # fmt: skip
    if paddle.framework.in_pir_mode():
        odd = x / paddle.full([1], 0.0)
        plain += [
            paddle.isnan(odd), paddle.isinf(odd), paddle.isfinite(odd), paddle.isnan(n), paddle.all(truth, 1), paddle.any(truth), paddle.all(n),
            paddle.amax(x, 1), paddle.amin(x, [0, 1], keepdim=True), paddle.round(x, 1), paddle.incubate.nn.functional.swiglu(paddle.zeros_like(x)),
        ]  # fmt: skip
        rounded += [
            paddle.logsumexp(x, 1), paddle.logsumexp(x), F.softplus(x, 2.0, 1.0), paddle.log2(x * x + 1), paddle.log10(x * x + 1), paddle.log1p(x * x),
            paddle.expm1(x), paddle.expm1(x * 1e-6), paddle.asin(x / 2), paddle.acos(x / 2), paddle.sinh(x), paddle.cosh(x), paddle.atanh(x / 2),
            paddle.acosh(x * x + 1), paddle.dot(x, x), paddle.bmm(paddle.reshape(x, [2, 2, 2]), paddle.reshape(x, [2, 2, 2])), paddle.lerp(x, x * 2, 0.25),
            paddle.incubate.nn.functional.swiglu(x), F.normalize(x),
        ]  # fmt: skip
    return plain + [(value, 64) for value in rounded]


def indexing(paddle, x, index, truth):
    """Operators that sort, find, or write elements by index."""
    import paddle.nn.functional as F

    column, row = paddle.unsqueeze(index, [1]), paddle.unsqueeze(index, [0])
    outputs = [
        F.one_hot(index, 4), *paddle.meshgrid(x[0], x[:, 1]), paddle.masked_select(x, truth), paddle.masked_select(x, truth[:1]),
        paddle.scatter(x, index, x[:2] + 9), paddle.scatter(x, index, x[:2] + 9, overwrite=False), paddle.scatter_nd_add(x, column, x[:2]),
        paddle.put_along_axis(x, column, 1.5, 0), paddle.put_along_axis(x, row, 2.5, 1, "add"), paddle.repeat_interleave(x, 2, 1),
        paddle.put_along_axis(x, row, 2.5, 1, "mul"), paddle.repeat_interleave(x[:2], index, 0), paddle.index_add(x, index, 1, x[:, 1:3]),
        *paddle.unique(x[:, :2] * (x[:, 1:3] - 5), return_index=True, return_inverse=True, return_counts=True), *paddle.unstack(x, 1),
        paddle.static.setitem(x + 0, (slice(0, 2), 1), 7.0), paddle.static.setitem(x + 0, (slice(None, None, 2), slice(1, 3)), x[:2, :2]),
        paddle.index_sample(x[:2], column), paddle.eye(2, 3), *paddle.broadcast_tensors([x, x[:1]]), paddle.tensor.fill_constant([2], "int64", 3),
        paddle.unique(x, axis=0), paddle.scatter(x, index, paddle.full([2, 4], float("inf")), overwrite=False), paddle.eye(3),
    ]  # fmt: skip
    if paddle.framework.in_pir_mode():
        outputs += [
            paddle.roll(x, [1, -2], [0, 1]), paddle.roll(x, 5), paddle.index_put(x, (index,), x[:2] * 2), paddle.masked_fill(x, truth, -1.0),
            paddle.index_put(x, (index, index + 1), x[0, :2], accumulate=True), x[index], x[truth],
        ]  # fmt: skip
    return outputs


def edges(paddle, x, n, truth, image):
    """Attributes and types that are rare, and at which Paddle departs from ONNX."""
    import paddle.nn.functional as F

    index, some = n[:2] % 3, (n % 4)[:2]
    plain = [
        1 / x, truth < ~truth, truth >= ~truth,
        paddle.gather_nd(x, paddle.cast(index[:, :1], "int32")), paddle.masked_select(n, truth),
        paddle.scatter(x, index[0, 0], x[1]), paddle.static.setitem(x + 0, (slice(0, 2), None, 1), 7.0),
        *[
            paddle.put_along_axis(n, index, some, 0, reduce, include_self=own)
            for reduce in ("add", "mul", "amin", "amax", "mean")
            for own in (True, False)
        ],
        F.max_pool2d(image, 3, 2, [1, 0], ceil_mode=True), *F.adaptive_max_pool2d(image, [3, 4], return_mask=True),
        *F.max_pool3d(paddle.unsqueeze(image, 0), 2, return_mask=True), F.adaptive_max_pool2d(image[:, :, :6], [3, 2]),
    ]  # fmt: skip
    rounded = [
        F.avg_pool2d(image, 3, 2, [1, 0], ceil_mode=True), F.avg_pool2d(image, 3, 2, "SAME", ceil_mode=True),
        F.conv2d(image, parameter(paddle, [3, 2, 3, 2], 4), padding="SAME", dilation=2), F.adaptive_avg_pool2d(image[:, :, :6], [3, 2]),
        F.conv2d_transpose(image, parameter(paddle, [2, 3, 3, 2], 4), padding="SAME", stride=2),
        F.interpolate(image, scale_factor=1.3, mode="bilinear", align_corners=True), F.interpolate(image, size=[1, 7], mode="bilinear", align_mode=0),
        F.batch_norm(image, parameter(paddle, [2], 1), parameter(paddle, [2], 60)), paddle.linalg.norm(image, "fro", [1, 2], keepdim=True),
    ]  # fmt: skip
    if paddle.framework.in_pir_mode():
        plain += [
            paddle.sum(paddle.cast(n, "int32"), 0, dtype="int32"), paddle.sum(paddle.cast(n, "uint8"), 1), paddle.floor(n), paddle.ceil(n), paddle.round(n), truth + truth, truth * truth, paddle.argmax(x, keepdim=True), paddle.index_put(x, (truth,), x[0, :1]),
            paddle.index_put(x, (truth[:, 0], n[:2, 1]), x[0, :1], accumulate=True), paddle.logsumexp(paddle.log(x - 2), 1),
        ]  # fmt: skip
    return plain + [(value, 256) for value in rounded]


def windows(paddle, image, size):
    """Pads, shuffles, adaptive pools, convolutions of other ranks, and images of other sizes."""
    import paddle.nn.functional as F

    weight = lambda *of: parameter(paddle, *of)
    volume = paddle.unsqueeze(image, [2])
    plain = [
        F.pad(image, [1, 2, 0, 1]), F.pad(image, [1, 2, 0, 1], "reflect"), F.pad(image, [1, 0, 2, 1], "replicate"),
        F.pad(image[0, 0], [1, 0, 0, 2], value=2.5), F.pad(image, [1, 2, 0, 1], data_format="NHWC"),
        F.pixel_shuffle(image, 2), F.pixel_unshuffle(image, 2), F.channel_shuffle(image, 2), F.adaptive_max_pool2d(image[:, :1], [1, 1]),
        *F.max_pool2d(image, 2, 1, 1, return_mask=True), F.max_pool3d(volume, [1, 2, 2]), F.max_pool1d(image[0], 2),
        F.interpolate(volume, size=[2, 3, 5], mode="nearest"),
    ]  # fmt: skip
    rounded = [
        F.adaptive_avg_pool2d(image, [3, 2]),
        F.conv1d(image[0], weight([2, 4, 3], 5)), F.conv3d(volume, weight([2, 4, 1, 2, 2], 9), padding=[0, 1, 1]),
        F.conv2d_transpose(image, weight([4, 1, 2, 2], 1), stride=2, groups=4), F.interpolate(image, size=[5, 3], mode="bicubic"),
        F.conv2d_transpose(image, weight([4, 2, 2, 2], 1), stride=3, output_size=[12, 18]),
        F.conv3d_transpose(volume, weight([4, 2, 1, 2, 2], 8)), F.interpolate(volume, size=[2, 3, 5], mode="trilinear"),
        F.interpolate(image, size=size, mode="bilinear"), F.interpolate(image, size=[size[0], 7], mode="bilinear"),
        F.avg_pool1d(image[0], 2),
    ]  # fmt: skip
    if paddle.framework.in_pir_mode():
        rounded += [F.grid_sample(image, paddle.reshape(image[:, :, 0, 1:4], [1, 3, 2, 2]), align_corners=False)]
        rounded += [F.interpolate(image[0], size=[9], mode="linear", data_format="NCW")]
    return plain + [(value, 256) for value in rounded]


def symbols(paddle, x, index):
    """Operators whose results have the dimensions of the inputs, which the program does not know."""
    import paddle.nn.functional as F

    zeros = paddle.zeros_like(x).astype("int64")
    return [
        paddle.roll(x, [1], [2]), paddle.roll(x, 3), paddle.argsort(x, 2), F.pad(x, [1, 2, 0, 1]), F.adaptive_max_pool2d(x, [1, 1]),
        paddle.repeat_interleave(x, 2, 0), paddle.static.setitem(x + 0, (slice(0, 1),), 1.0), F.pixel_shuffle(x, 2), F.channel_shuffle(x, 2),
        F.one_hot(index, 5), *paddle.meshgrid(index, x[0, :, 0, 0].astype("int64")), paddle.scatter(x, index, x), paddle.masked_fill(x, x > 1, 0.0),
        F.interpolate(x, size=paddle.shape(x)[2:] * 2, mode="nearest", align_corners=False), F.maxout(x, 2), paddle.norm(x, 1, 1), paddle.trunc(x),
        paddle.index_put(x, (index,), x), paddle.take_along_axis(x, zeros, 1), paddle.put_along_axis(x, zeros, x, 1), paddle.einsum("ncij->nji", x),
        F.unfold(x, 2), F.temporal_shift(x, 1), *paddle.cummax(x, 3), paddle.logcumsumexp(x, 0), paddle.median(x, 2), paddle.diag_embed(x), paddle.diagonal(x, 0, 0, 1), paddle.kron(x, x),
        paddle.searchsorted(x[0, 0, 0], x), F.softmax_with_cross_entropy(x, zeros[:, :1], axis=1), *paddle.vision.ops.prior_box(x, x, [4.0], [8.0]),
    ]  # fmt: skip


def detection(paddle, boxes, scores, image, regions, counts, anchors, deltas):
    """Operators of detection."""
    ops = paddle.vision.ops
    flat, sizes, cells = paddle.reshape(boxes, [-1, 4]), paddle.full([2, 2], 40, "int32"), deltas[:, :12, :2, :2]
    prior, spread = flat[:5], flat[5:10] / 20 + 0.5
    plain = [*suppressed(paddle, boxes, scores, {}), *suppressed(paddle, boxes, scores, {"keep_top_k": 3, "normalized": False, "background_label": 0, "nms_top_k": 4})]
    plain += [ops.nms(flat, 0.3, scores[0, 0]), *ops.prior_box(image, deltas, [8.0, 16.0], [16.0, 24.0], [1.0, 2.0], flip=True, clip=True)]
    pyramid = ops.distribute_fpn_proposals(regions * 20, 2, 4, 3, 60, rois_num=counts)
    plain += [*pyramid[0], pyramid[1], *pyramid[2]]
    rounded = [
        *ops.matrix_nms(boxes, scores, 0.1, 0.1, 5, 6, background_label=-1, return_index=True),
        *ops.matrix_nms(boxes, scores, 0.1, 0.1, -1, -1, True, 2.0, 0, False, return_index=True),
        *ops.yolo_box(deltas, sizes, [10, 13, 16, 30], 3, 0.5, 8), *ops.yolo_box(deltas[:, :14], sizes, [10, 13, 16, 30], 1, 0.4, 8, False, None, 1.2, True, 0.4),
        *ops.prior_box(image, deltas, [4.0], None, [2.0], [0.1, 0.1, 0.2, 0.2], steps=[8, 6], min_max_aspect_ratios_order=True),
        ops.box_coder(prior, spread, flat[2:4]), ops.box_coder(prior, [0.1, 0.1, 0.2, 0.2], boxes[:, :5] / 30, "decode_center_size", False),
        ops.box_coder(prior[:2], spread[:2], boxes / 30, "decode_center_size", axis=1),
        ops.roi_align(image, regions, counts, 2), ops.roi_align(image, regions, counts, (3, 2), 0.5, 2, False),
        *ops.generate_proposals(deltas[:, :3, :2, :2], cells / 5, paddle.full([2, 2], 20.0), anchors, anchors / anchors, 10, 5, 0.5, 0.1, return_rois_num=True),
        *ops.generate_proposals(deltas[:, :3, :2, :2], cells / 5, paddle.full([2, 2], 20.0), anchors, anchors / anchors, -1, 5, 0.5, 12.0, pixel_offset=True, return_rois_num=True),
    ]  # fmt: skip
    return plain + [(value, 64) for value in rounded]


def suppressed(paddle, boxes, scores, attributes):
    """`multiclass_nms3`, for which there is no function."""
    attributes = {"score_threshold": 0.2, "nms_top_k": -1, "keep_top_k": -1, "nms_threshold": 0.3, "normalized": True, "nms_eta": 1.0, "background_label": -1} | attributes
    if paddle.framework.in_pir_mode():
        return paddle._C_ops.multiclass_nms3(boxes, scores, None, *attributes.values())
    helper = paddle.base.layer_helper.LayerHelper("multiclass_nms3")
    outputs = [helper.create_variable_for_type_inference(dtype) for dtype in ("float32", "int32", "int32")]
    slots = dict(zip(("Out", "Index", "NmsRoisNum"), outputs))
    helper.append_op(type="multiclass_nms3", inputs={"BBoxes": boxes, "Scores": scores}, outputs=slots, attrs=attributes)
    return outputs


def losses(paddle, x, share, label):
    import paddle.nn.functional as F

    column = paddle.unsqueeze(label, [1])
    rounded = [
        F.softmax_with_cross_entropy(x, column, ignore_index=2), *F.softmax_with_cross_entropy(x, share, soft_label=True, return_softmax=True),
        F.binary_cross_entropy(share, share * 0.5, reduction="none"), F.label_smooth(share), F.log_loss(share[:, :1], share[:, 1:2]),
        F.smooth_l1_loss(x, share, "none", 0.5), F.kl_div(x, share, "none"),
    ]  # fmt: skip
    if paddle.framework.in_pir_mode():
        rounded += [
            F.cross_entropy(x, label), F.nll_loss(x, label), F.nll_loss(x, label, share[0], 2, "sum"), F.nll_loss(x, label, ignore_index=1, reduction="none"),
            F.binary_cross_entropy_with_logits(x, share), F.binary_cross_entropy_with_logits(x, share, pos_weight=share[0]), F.kl_div(x, share, "none", True),
        ]  # fmt: skip
    return [(value, 64) for value in rounded]


def ordered(paddle, x, values, index):
    """Operators of the order of elements, and of how many there are."""
    import paddle.nn.functional as F

    plain = [
        paddle.searchsorted(paddle.sort(x, 1), values), paddle.bucketize(values, paddle.sort(x[0]), right=True, out_int32=True), *paddle.kthvalue(x, 2),
        *paddle.kthvalue(x, 2, 0, True), *paddle.mode(x), *paddle.mode(x, 0, True), F.sequence_mask(index, 5), paddle.multiplex([x, x + 1], paddle.cast(paddle.unsqueeze(index % 2, 1), "int32")),
        paddle.crop(x, [2, -1], [1, 1]),
    ]  # fmt: skip
    rounded = [paddle.logcumsumexp(x, 1), paddle.logcumsumexp(x)]
    if paddle.framework.in_pir_mode():
        odd = paddle.where(x > 4, paddle.log(x * 0 - 1), x)
        plain += [
            *paddle.cummax(x, 1), *paddle.cummin(x, 0), *paddle.cummax(x, dtype="int32"), paddle.median(x), *paddle.median(odd, 0, True, "min"),
            paddle.median(odd, 1), paddle.nanmedian(odd, 1), paddle.nanmedian(odd, keepdim=True), *paddle.nanmedian(odd, 0, False, "min"),
            paddle.histogram(x, 4), paddle.histogram(x, 3, 0, 4), paddle.bincount(index), paddle.bincount(index, x[:, 0], 9),
            paddle.unique_consecutive(x % 3), paddle.cast(F.sequence_mask(index), "int32"), paddle.heaviside(x - 3, values[:, :4]), paddle.isclose(x, x + 1e-6), paddle.equal_all(x, x), paddle.allclose(x, x + 1),
        ]  # fmt: skip
        rounded += [paddle.histogram(x, 3, weight=x), paddle.histogram(x, 3, density=True), paddle.logit(x / 9, 0.1)]
    return plain + [(value, 64) for value in rounded]


def matrices(paddle, x, y):
    plain = [
        paddle.kron(x[0], y[0, :2]), paddle.kron(x, y[0]), paddle.diag_embed(x[:, 0], 1), paddle.diag_embed(x[:, 0], -1, 0, 2),
        paddle.diag(x[0, 0], -1, 2.0), paddle.diag(x[0, :2], 1), paddle.shard_index(paddle.cast(x[:, :1, 0], "int64") + 9, 20, 2, 0),
    ]  # fmt: skip
    rounded = [
        paddle.renorm(x, 2.0, 1, 3.0), paddle.atan2(x, y), paddle.atan2(paddle.zeros_like(x), y), paddle.atan2(x, paddle.zeros_like(y)),
    ]  # fmt: skip
    if paddle.framework.in_pir_mode():
        plain += [paddle.diagonal(x, 1, 1, 2), paddle.diagonal(x[:, :2], -1, 1, 2), paddle.trace(x, 0, 1, 2), paddle.cross(x, y, 2)]
        rounded += [paddle.dist(x, y), paddle.dist(x, y, 1), paddle.dist(x, y, 3), paddle.linalg.matrix_power(x, 3)]
        rounded += [paddle.nn.functional.bilinear(x[:, 0], y[:, 0], parameter(paddle, [2, 3, 3], 7), parameter(paddle, [1, 2], 3))]
    return plain + [(value, 64) for value in rounded]


def patches(paddle, image, offset, rows):
    """Windows and frames, deformed convolutions, and normalizations of sums."""
    import paddle.nn.functional as F

    weight, fused = lambda *of: parameter(paddle, *of), paddle.incubate.nn.functional
    mask, folded = F.sigmoid(offset[:, :9]) if paddle.framework.in_pir_mode() else offset[:, :9], F.unfold(image[:, :, :4, :4], 2, 2)
    plain = [F.unfold(image, [3, 2], 2, [1, 0], 1), F.unfold(image, 2, 1, [1, 0, 2, 1], 2), F.temporal_shift(image, 2, 0.25), folded]
    rounded = [
        paddle.vision.ops.deform_conv2d(image, offset, weight([3, 4, 3, 3], 2), weight([3], 2), padding=1, mask=mask),
        paddle.vision.ops.deform_conv2d(image, offset, weight([4, 2, 3, 3], 2), padding=1, groups=2),
        fused.fused_layer_norm(rows, weight([8], 3), weight([8], 5), 1e-5, begin_norm_axis=2)[0],
        *fused.fused_layer_norm(rows, weight([8], 3), weight([8], 5), 1e-5, 0.5, 2, weight([8], 7), rows * 2)[:2],
        *fused.fused_rms_norm(rows, weight([8], 3), weight([8], 5), 1e-5, 2, weight([8], 7), rows * 2)[:2],
    ]  # fmt: skip
    if paddle.framework.in_pir_mode():
        rounded += [F.fold(paddle.reshape(folded, [2, 16, 4]), 4, 2, 2), F.fold(paddle.reshape(folded, [2, 16, 4])[:, :, :1], 2, 2, 2)]
    return plain + [(value, 64) for value in rounded]


def segments(paddle, x, index):
    """Reductions of segments, shapes of other tensors, and pools of powers; quantized elements."""
    import paddle.nn.functional as F

    ascending, image = paddle.sort(index), paddle.reshape(x, [1, 1, -1, 4])
    tree = paddle.reshape(paddle.cast(x, "int64"), [5, 2, 2])
    plain = [F.gather_tree(tree, tree % 2), paddle.tril_indices(3, 4, 1), paddle.triu_indices(4, 3, -1, "int32")]
    plain += [getattr(paddle.geometric, f"segment_{name}")(x, ascending) for name in ("sum", "mean", "max", "min")]
    rounded = []
    if paddle.framework.in_pir_mode():
        zero = x * 0
        plain += [paddle.copysign(x, -zero), paddle.copysign(zero, x - 5), paddle.copysign(index, -index), paddle.reduce_as(x, x[0]), paddle.reduce_as(x, paddle.ones([1, 4]))]
        rounded += [F.lp_pool2d(image, 2.0, 2), F.lp_pool2d(image, 3.0, 3, 2, 1), F.lp_pool2d(image, float("inf"), 2)]
    return plain + fakes(paddle, x) + [(value, 64) for value in rounded]


def fakes(paddle, x):
    """Codes and back, as networks that learned with them have them; PIR does not save them."""
    if paddle.framework.in_pir_mode():
        return []
    helper, outputs = paddle.base.layer_helper.LayerHelper("fakes"), []
    given = {"InScale": paddle.full([1], 7.3, "float32"), "InAccum": paddle.full([1], 1.0), "InState": paddle.full([1], 1.0)}
    variants = [("quantize_dequantize_moving_average", {"is_test": True}, given), ("quantize_dequantize", {"bit_length": 4}, {})]
    variants += [("channel_wise_quantize_dequantize", {"quant_axis": axis, "round_type": axis}, {}) for axis in (0, 1)]
    for name, attributes, more in variants:
        names = ("Out", "OutScale", "OutState", "OutAccum")[: 4 if more else 2]
        slots = {slot: helper.create_variable_for_type_inference("float32") for slot in names}
        helper.append_op(type=f"fake_{name}_abs_max", inputs={"X": x, **more}, outputs=slots, attrs={"bit_length": 8, **attributes})
        outputs.append(slots["Out"])
    return outputs


def drawn(paddle, x):
    """Random numbers, of which only type and shape are certain."""
    n = paddle.shape(x)[0]
    numbers = [
        paddle.rand([2, 3]), paddle.randn([2, n]), paddle.uniform([n, 2], "float64", 3.0, 4.0), paddle.standard_normal([2]), paddle.bernoulli(x),
        paddle.randint(3, 9, [4]), paddle.randperm(5, "int32"), paddle.multinomial(x + 0.1, 2), paddle.nn.functional.gumbel_softmax(x),
    ]  # fmt: skip
    return [paddle.full_like(number, 2) for number in numbers] + [paddle.sort(numbers[6])]


def shifted(paddle, x, count, image):
    """Bits that are shifted, maxima put back where they were, and products of several matrices."""
    import paddle.nn.functional as F

    shifts = [paddle.bitwise_left_shift, paddle.bitwise_right_shift]
    pooled, volume = F.max_pool2d(image, 2, return_mask=True), paddle.unsqueeze(image, 2)
    deep = F.max_pool3d(volume, [1, 2, 2], return_mask=True)
    factors = [image[0, 0, :, :3], image[0, 1, :3], image[0, 0]]
    return [
        *(shift(x, count, arithmetic) for shift in shifts for arithmetic in (True, False)),
        F.max_unpool2d(*pooled, 2), F.max_unpool2d(*pooled, 2, output_size=[5, 4]), F.max_unpool3d(*deep, [1, 2, 2]),
        (paddle.linalg.multi_dot(factors), 8),
    ]  # fmt: skip


def deviating(paddle, x):
    """What Paddle computes otherwise than its texts say."""
    return [
        paddle.arange(0, 1, 1e-3, "float32"), paddle.full([1], 2**63 - 1, "int64"), paddle.full([1], 2**53 + 1, "int64"),
        paddle.logspace(0, 1, 4, 1000.0, "int64"), x,
    ]  # fmt: skip


RECORDED = {
    "shapes": ({"x": ([-1, 2, 4], "float32")}, {"x": array("float32", [3, 2, 4])}, shapes),
    "sequences": ({"x": ([2], "float32")}, {"x": array("float32", [2])}, sequences),
    "moves": (
        {"x": ([2, 4], "float32"), "index": ([2], "int64")},
        {"x": array("float32", [2, 4]), "index": array("int64", [2])},
        moves,
    ),
    "arithmetic": (
        {"a": ([-1, 4], "int64"), "b": ([4], "int64")},
        {"a": array("int64", [3, 4], 1) - 6, "b": array("int64", [4], 1) - 7},
        arithmetic,
    ),
    "folds": (
        {"a": ([-1, 4], "int64"), "b": ([4], "int64")},
        {"a": array("int64", [3, 4], 1) - 6, "b": array("int64", [4], 1) - 7},
        folds,
    ),
    "floats": (
        {"a": ([-1, 4], "float32"), "b": ([4], "float32")},
        {"a": array("float32", [3, 4]) / 3 - 2, "b": array("float32", [4], 1) - 2.5},
        floats,
    ),
    "branches": (
        {"x": ([2], "float32"), "condition": ([1], "bool")},
        {"x": array("float32", [2]), "condition": array("bool", [1])},
        branches,
    ),
    "loops": (
        {"x": ([2], "float32"), "most": ([1], "int64")},
        {"x": array("float32", [2]), "most": array("int64", [1], 5)},
        loops,
    ),
    "choices": (
        {"x": ([-1, 4], "float32"), "n": ([1], "int64")},
        {"x": array("float32", [2, 4]), "n": np.array([7])},
        choices,
    ),
    "placeholder": ({"x": ([-1], "float32")}, {"x": array("float32", [2], 5)}, placeholder),
    "parameters": ({"x": ([-1, 4], "float32")}, {"x": array("float32", [2, 4])}, parameters),
    "network": (
        {"image": ([2, 3, 6, 5], "float32"), "tokens": ([2, 4], "int64")},
        {"image": array("float32", [2, 3, 6, 5]) / 25 - 2, "tokens": array("int64", [2, 4], 0) % 7},
        network,
    ),
    "arranged": (
        {"x": ([3, 4], "float32"), "index": ([3, 2], "int64"), "image": ([1, 4, 3, 6], "float32")},
        {
            "x": (array("float32", [3, 4]) * 7 % 12 - 4),
            "index": array("int64", [3, 2], 1) * 2 % 3,
            "image": array("float32", [1, 4, 3, 6]) * 7 % 40 / 10 - 2,
        },
        arranged,
    ),
    "unconverted": ({"x": ([3, 4], "float32")}, {"x": array("float32", [3, 4], 1) - 7}, unconverted),
    "only_run": (
        {"x": ([2, 3, 3], "float32"), "y": ([2, 3, 3], "float32"), "numbers": ([6], "float32")},
        {
            "x": array("float32", [2, 3, 3]) * 7 % 11 - 5,
            "y": array("float32", [2, 3, 3]) * 5 % 13 - 6,
            "numbers": array("float32", [6]) / 2 + np.float32(0.7),
        },
        only_run,
    ),
    "only_onnx": (
        {"x": ([-1, 3, 3], "float32"), "image": ([-1, 2, 6, 5], "float32"), "regions": ([-1, 4], "float32"), "counts": ([-1], "int32")},
        {
            "x": array("float32", [2, 3, 3]) * 7 % 11 - 5,
            "image": array("float32", [2, 2, 6, 5]) * 7 % 40 / 10 - 2,
            "regions": array("float32", [3, 4]) * 3 % 5 / 2 + np.array([0, 0, 3, 3], "float32"),
            "counts": np.array([2, 1], "int32"),
        },
        only_onnx,
    ),
    "functions": (
        {"x": ([2, 4], "float32"), "n": ([-1, 4], "int64"), "truth": ([2, -1], "bool")},
        {"x": array("float32", [2, 4]) / 4 - 1, "n": array("int64", [2, 4]), "truth": array("int64", [2, 4]) % 3 > 0},
        functions,
    ),
    "indexing": (
        {"x": ([3, 4], "float32"), "index": ([2], "int64"), "truth": ([3, 4], "bool")},
        {"x": array("float32", [3, 4]), "index": array("int64", [2], 1)[::-1], "truth": array("int64", [3, 4]) % 3 > 0},
        indexing,
    ),
    "edges": (
        {"x": ([-1, 4], "float32"), "n": ([3, 4], "int64"), "truth": ([3, 4], "bool"), "image": ([1, 2, 7, 6], "float32")},
        {
            "x": array("float32", [3, 4], 1),
            "n": array("int64", [3, 4]) % 5,
            "truth": array("int64", [3, 4]) % 6 == 0,
            "image": array("float32", [1, 2, 7, 6]) * 7 % 40 / 10 - 2,
        },
        edges,
    ),
    "windows": (
        {"image": ([1, 4, 4, 6], "float32"), "size": ([2], "int32")},
        {"image": array("float32", [1, 4, 4, 6]) / 25 - 2, "size": array("int32", [2], 5)},
        windows,
    ),
    "symbols": (
        {"x": ([-1, 4, -1, -1], "float32"), "index": ([-1], "int64")},
        {"x": array("float32", [2, 4, 2, 3]), "index": array("int64", [2])},
        symbols,
    ),
    "detection": (
        {
            "boxes": ([-1, 8, 4], "float32"),
            "scores": ([-1, 2, 8], "float32"),
            "image": ([-1, 2, 6, 5], "float32"),
            "regions": ([-1, 4], "float32"),
            "counts": ([-1], "int32"),
            "anchors": ([2, 2, 3, 4], "float32"),
            "deltas": ([-1, 16, 3, 4], "float32"),
        },
        {
            "boxes": array("float32", [2, 8, 4]) * 7 % 31 + np.array([0, 0, 31, 30], "float32"),
            "scores": array("float32", [2, 2, 8]) * 13 % 37 / 37,
            "image": array("float32", [2, 2, 6, 5]) * 7 % 40 / 10 - 2,
            "regions": array("float32", [5, 4]) * 3 % 5 / 2 + np.array([0, 0, 3, 3], "float32"),
            "counts": np.array([2, 3], "int32"),
            "anchors": array("float32", [2, 2, 3, 4]) * 5 % 11 + np.array([0, 0, 11, 9], "float32"),
            "deltas": (np.arange(384).reshape([2, 16, 3, 4]) * 17 % 389 / 195 - 1).astype("float32"),
        },
        detection,
    ),
    "rare": (
        {
            "x": ([6, 8], "float32"),
            "positive": ([-1], "float32"),
            "weights": ([5, 3], "float32"),
            "bias": ([5, 1], "float32"),
            "label": ([8, 1], "int64"),
            "steps": ([-1, 4, 3], "float32"),
            "moves": ([3, 3], "float32"),
            "lengths": ([-1], "int64"),
            "regions": ([-1, 4], "float32"),
            "counts": ([1], "int32"),
        },
        {
            "x": array("float32", [6, 8]) * 7 % 48 / 9 - 2,
            "positive": array("float32", [5]) / 2 + 0.25,
            "weights": array("float32", [5, 3]) * 4 % 15 / 5 - 1,
            "bias": array("float32", [5, 1]) / 4 - 0.5,
            "label": np.array([[0], [1], [2], [3], [4], [5], [3], [0]]),
            "steps": array("float32", [3, 4, 3]) * 11 % 37 / 8,
            "moves": array("float32", [3, 3]) * 5 % 9 / 4 - 1,
            "lengths": np.array([2, 4, 1]),
            "regions": np.array([[0, 0, 15, 11], [2, 1, 5, 11], [4.5, 3, 4, 2]], "float32"),
            "counts": np.array([3], "int32"),
        },
        rare,
    ),
    "rare_run": (
        {
            "x": ([-1, 4], "float32"),
            "y": ([-1, 4], "float32"),
            "positive": ([-1], "float32"),
        },
        {
            "x": array("float32", [2, 4]) * 7 % 8 - 3.5,
            "y": array("float32", [2, 4]) * 3 % 8 - 3.5,
            "positive": array("float32", [5]) * 2 + 0.25,
        },
        rare_run,
    ),
    "special": (
        {"x": ([-1, 4], "float32"), "numbers": ([6], "float32"), "positive": ([-1], "float32")},
        {
            "x": array("float32", [2, 4]) * 7 % 8 - 3.5,
            "numbers": array("float32", [6]) / 2 + np.float32(0.7),
            "positive": array("float32", [5]) * 2 + 0.25,
        },
        special,
    ),
    "complex": (
        {"x": ([-1, 4], "float32"), "y": ([-1, 4], "float32")},
        {"x": array("float32", [2, 4]) * 7 % 8 - 3.5, "y": array("float32", [2, 4]) * 3 % 8 - 3.5},
        complex_numbers,
    ),
    "losses": (
        {"x": ([-1, 5], "float32"), "share": ([4, 5], "float32"), "label": ([-1], "int64")},
        {
            "x": array("float32", [4, 5]) * 7 % 20 / 9 - 1,
            "share": (array("float32", [4, 5]) * 3 % 20 + 1) / 22,
            "label": np.array([1, 2, 0, 4]),
        },
        losses,
    ),
    "ordered": (
        {"x": ([-1, 4], "float32"), "values": ([-1, 5], "float32"), "index": ([-1], "int64")},
        {
            "x": array("float32", [3, 4]) * 5 % 7,
            "values": array("float32", [3, 5]) * 3 % 8,
            "index": np.array([1, 3, 2]),
        },
        ordered,
    ),
    "matrices": (
        {"x": ([2, 3, 3], "float32"), "y": ([2, 3, 3], "float32")},
        {"x": array("float32", [2, 3, 3]) * 7 % 11 - 5, "y": array("float32", [2, 3, 3]) * 5 % 13 - 6},
        matrices,
    ),
    "patches": (
        {"image": ([-1, 4, 6, 5], "float32"), "offset": ([-1, 18, 6, 5], "float32"), "rows": ([-1, 3, 8], "float32")},
        {
            "image": array("float32", [2, 4, 6, 5]) * 7 % 40 / 10 - 2,
            "offset": array("float32", [2, 18, 6, 5]) * 11 % 31 / 16 - 1,
            "rows": array("float32", [2, 3, 8]) * 7 % 23 / 10 - 1,
        },
        patches,
    ),
    "segments": (
        {"x": ([-1, 4], "float32"), "index": ([-1], "int64")},
        {"x": array("float32", [5, 4]) * 7 % 23, "index": np.array([4, 1, 0, 1, 4])},
        segments,
    ),
    "drawn": ({"x": ([-1, 4], "float32")}, {"x": array("float32", [3, 4]) / 12}, drawn),
    "shifted": (
        {"x": ([-1, 4], "int32"), "count": ([4], "int32"), "image": ([1, 2, 4, 4], "float32")},
        {
            "x": array("int32", [2, 4]) * 7919 - 30000,
            "count": array("int32", [4], 1) * 5 % 31,
            "image": array("float32", [1, 2, 4, 4]) * 37 % 23 - 11,
        },
        shifted,
    ),
    "deviating": ({"x": ([1], "int64")}, {"x": array("int64", [1])}, deviating),
    **{name: program for name, (program, _) in LAYERS.items()},
}
