"""Compares networks of PaddlePaddle, saved in both formats with a batch of any size, with what Gradus gives for them.

    python conformance/paddle_networks.py make FOLDER [NAME…]     saves and runs the networks with PaddlePaddle
    python conformance/paddle_networks.py check FOLDER GRADUS     runs, infers and converts them with Gradus

`check` needs no PaddlePaddle; ONNX Runtime and OpenVINO run what is converted, where they are installed. It prints a
table and fails if a value is further away than `BOUND`, relative to the greatest element of its output, if
inference leaves a value unknown, or if a conversion fails. A format that PaddlePaddle cannot save is left out.
"""

import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import paddle_programs

# Sums are added in other orders, through up to 200 layers.
BOUND = 1e-5


def networks(paddle):
    """Networks by name: the shape of the input, its type, and what makes the layer."""
    import paddle.nn.functional as F
    from paddle import nn
    from paddle.vision import models

    class Layer(nn.Layer):
        """A layer of other layers, and a function of these and the input."""

        def __init__(self, forward, **layers):
            super().__init__()
            for name, layer in layers.items():
                self.add_sublayer(name, layer)
            self.function = forward

        def forward(self, x):
            return self.function(self, x)

    def unet(net, x):
        a = net.prelu(net.groups(net.first(x)))
        b = F.silu(net.instances(net.down(a)))
        y = net.last(paddle.concat([a, net.up(b)], 1))
        y = F.interpolate(y, scale_factor=2, mode="bilinear")
        return F.sigmoid(y), F.adaptive_avg_pool2d(y, [3, 5])

    def encoder(net, x):
        mask = paddle.unsqueeze(paddle.cast(x > 0, "float32"), [1, 2])
        y = net.encoder(net.embedding(x), (1 - mask) * -1e4)
        return F.softmax(net.head(paddle.mean(y, 1)), -1), paddle.argmax(y, -1)

    def lstm(net, x):
        y, ends = net.layer(net.embedding(x))
        return y, *ends

    def detection(net, x):
        y = net.convolution(x)
        height, width = paddle.shape(y)[2], paddle.shape(y)[3]
        cells = paddle.transpose(paddle.flatten(y, 2), [0, 2, 1])
        scores, index = paddle.topk(cells[:, :, 4], 5, 1)
        boxes = paddle.take_along_axis(cells[:, :, :4], paddle.expand(paddle.unsqueeze(index, -1), [-1, -1, 4]), 1)
        grid = paddle.stack(paddle.meshgrid(paddle.arange(height), paddle.arange(width)), -1)
        return F.sigmoid(scores), index, paddle.clip(boxes, 0, 1), paddle.cast(grid, "float32") + 0.5, F.one_hot(index, 64)

    def resized(net, x):
        modes = [F.interpolate(x, [9, 7], mode=mode) for mode in ("nearest", "bilinear", "bicubic")]
        return *modes, F.interpolate(x, scale_factor=1.5, mode="bilinear", align_corners=True)

    def products(net, x):
        return paddle.einsum("bchw,bdhw->bcd", x, x), paddle.einsum("bchw->bwc", x)

    class Loop(nn.Layer):
        def forward(self, x):
            i = paddle.zeros([1], "int64")
            while i < 3:
                x = x * 2 + 1
                i = i + 1
            if paddle.sum(x) > 0:
                y = x - 1
            else:
                y = x + 1
            return y

    image, small, tokens = ([2, 3, 64, 64], "float32"), ([2, 3, 8, 8], "float32"), ([2, 7], "int64")
    embedding = lambda size: nn.Embedding(50, size)
    transformer = lambda net, x: net.transformer(net.embedding(x), net.embedding(x[:, :3]))
    zoo = {
        "lenet": (([2, 1, 28, 28], "float32"), models.LeNet),
        "inception_v3": (([2, 3, 96, 96], "float32"), lambda: models.inception_v3(num_classes=10)),
        "unet": (([2, 3, 16, 20], "float32"), lambda: Layer(
            unet, first=nn.Conv2D(3, 8, 3, padding=1), down=nn.Conv2D(8, 16, 3, 2, 1), up=nn.Conv2DTranspose(16, 8, 2, 2),
            last=nn.Conv2D(16, 2, 1), groups=nn.GroupNorm(4, 8), instances=nn.InstanceNorm2D(16), prelu=nn.PReLU(8),
        )),
        "lstm": (tokens, lambda: Layer(lstm, embedding=embedding(8), layer=nn.LSTM(8, 12, 2, direction="bidirect"))),
        "gru": (tokens, lambda: Layer(lambda net, x: net.layer(net.embedding(x)), embedding=embedding(8), layer=nn.GRU(8, 6))),
        "encoder": (tokens, lambda: Layer(
            encoder, embedding=embedding(16), encoder=nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32), 2),
            head=nn.Linear(16, 5),
        )),
        "transformer": (tokens, lambda: Layer(transformer, embedding=embedding(16), transformer=nn.Transformer(16, 4, 1, 1, 32))),
        "detection": (small, lambda: Layer(detection, convolution=nn.Conv2D(3, 6, 3, padding=1))),
        "interpolation": (small, lambda: Layer(resized)),
        "einsum": (small, lambda: Layer(products)),
        "loop": (([2, 3], "float32"), Loop),
    }  # fmt: skip
    zoo |= {
        name: (image, lambda make=getattr(models, name), options=options: make(num_classes=10, **options))
        for name, options in {
            "resnet18": {}, "mobilenet_v1": {"scale": 0.25}, "mobilenet_v2": {"scale": 0.25}, "mobilenet_v3_small": {},
            "shufflenet_v2_x0_25": {}, "squeezenet1_1": {}, "densenet121": {}, "vgg11": {},
        }.items()
    }  # fmt: skip
    return zoo


def make(form, folder, *names):
    import paddle

    for name, ((shape, dtype), layer) in networks(paddle).items():
        if names and name not in names:
            continue
        paddle.disable_static()
        paddle.seed(1)
        rng = np.random.default_rng(1)
        given = rng.integers(0, 50, shape) if dtype == "int64" else rng.random(shape, dtype)

        def build(_, layer=layer):
            net = layer()
            net.eval()
            return net

        program = {"x": ([-1, *shape[1:]], dtype)}, {"x": given}, build
        made = paddle_programs.make_layer(pathlib.Path(folder) / f"{name}.{form}", paddle, name, program)
        print(f"{name}.{form}: {'made' if made else 'not made'}", flush=True)


def gradus(program, *arguments):
    """What a command prints as JSON; its error is raised."""
    result = subprocess.run([program, *arguments], capture_output=True, text=True)
    if result.returncode:
        raise ValueError((result.stderr or result.stdout).strip().splitlines()[-1])
    return result.stdout


def distance(got, want):
    """The largest error, relative to the greatest element."""
    worst = 0.0
    for i, (a, b) in enumerate(zip(got, want, strict=True)):
        if (a.dtype, a.shape) != (b.dtype, b.shape):
            raise ValueError(f"output {i} is {a.dtype}{list(a.shape)}, not {b.dtype}{list(b.shape)}")
        if b.size:
            apart, most = np.abs(a.astype("f8") - b).max(), np.abs(b.astype("f8")).max()
            worst = max(worst, float(apart / max(most, 1e-30)))
    if not worst <= BOUND:
        raise ValueError(f"{worst:.1e} apart")
    return f"{worst:.0e}"


def run(program, model, inputs, want, out):
    np.savez(out / "inputs.npz", **inputs)
    text = gradus(program, "run", model, "--json", "-i", out / "inputs.npz", "-o", out / "outputs")
    return distance([np.load(file) for file in json.loads(text)["files"].values()], want)


def infer(program, model, inputs, want, out):
    inference = json.loads(gradus(program, "infer", model, "--json"))
    if inference["unknown"] or inference["problems"]:
        raise ValueError(f"{inference['unknown']} {inference['problems']}")
    return "all"


def onnx(program, model, inputs, want, out):
    import onnxruntime

    gradus(program, "convert", model, out / "model.onnx", "--opset", "21")
    session = onnxruntime.InferenceSession(out / "model.onnx", providers=["CPUExecutionProvider"])
    return distance(session.run(None, inputs), want)


def openvino(program, model, inputs, want, out):
    import openvino

    gradus(program, "convert", model, out / "model.xml")
    compiled = openvino.Core().compile_model(out / "model.xml", "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    results = compiled(list(inputs.values()))
    return distance([results[output] for output in compiled.outputs], want)


def check(folder, program):
    installed = [step for name, step in (("onnxruntime", onnx), ("openvino", openvino)) if importlib.util.find_spec(name)]
    steps, failed = [run, infer, *installed], 0
    print(f"{'network':26}" + "".join(f"{step.__name__:10}" for step in steps))
    for case in sorted(pathlib.Path(folder).iterdir()):
        model = next(file for file in (case / "model.json", case / "model.pdmodel") if file.exists())
        arrays = np.load(case / "arrays.npz")
        inputs = {name[3:]: arrays[name] for name in arrays if name.startswith("in.")}
        want = [arrays[f"out.{i}"] for i in range(len(arrays.files) - len(inputs))]
        line, why = f"{case.name:26}", []
        for step in steps:
            try:
                with tempfile.TemporaryDirectory() as out:
                    said = step(program, model, inputs, want, pathlib.Path(out))
            except Exception as error:
                said = "fails"
                why.append(f"  {step.__name__}: {error}")
            line += f"{said:10}"
        failed += bool(why)
        print("\n".join([line, *why]), flush=True)
    print(f"{failed} networks fail")
    return 1 if failed else 0


if __name__ == "__main__":
    mode, *rest = sys.argv[1:]
    if mode == "make":
        paddle_programs.in_both_formats(__file__, "make", rest)
    elif mode == "check":
        sys.exit(check(*rest))
    else:
        make(mode.removeprefix("make-"), *rest)
