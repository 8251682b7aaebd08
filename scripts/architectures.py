"""Makes models of published architectures for tests of costs: graphs and shapes, weights that no file holds.

    python scripts/architectures.py            write them
    python scripts/architectures.py --check    fail if they differ from what is checked in

| model | paper | as in |
|---|---|---|
| ResNet-50 | He et al. 2015, strides in the 3x3 convolutions | torchvision |
| MobileNetV2 | Sandler et al. 2018 | torchvision |
| BERT-base | Devlin et al. 2018, with the pooler | transformers, uncased |
| GPT-2 | Radford et al. 2019, the smallest, embeddings shared with the last product | nanoGPT |
"""

import math
import sys

from onnx import TensorProto, helper

from generated import ROOT, write_or_check

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


class Net:
    """A graph in the making. Names of values are numbers, of nodes their paths."""

    def __init__(self):
        self.nodes, self.initializers, self.count, self.bytes = [], [], 0, 0

    def add(self, operator: str, inputs: list[str], path: str = "", **attributes) -> str:
        self.count += 1
        output = f"v{self.count}"
        name = f"{path}/{operator}_{self.count}"
        self.nodes.append(helper.make_node(operator, inputs, [output], name=name, **attributes))
        return output

    def weight(self, *dims: int) -> str:
        """A weight, whose elements are said to be in a file that there is not."""
        name = f"w{len(self.initializers)}"
        tensor = TensorProto(name=name, data_type=FLOAT, dims=dims, data_location=TensorProto.EXTERNAL)
        place = {"location": "weights.bin", "offset": self.bytes, "length": 4 * math.prod(dims)}
        for key, word in place.items():
            tensor.external_data.add(key=key, value=str(word))
        self.bytes += place["length"]
        self.initializers.append(tensor)
        return name

    def ints(self, *numbers: int) -> str:
        name = f"w{len(self.initializers)}"
        self.initializers.append(helper.make_tensor(name, INT64, [len(numbers)], numbers))
        return name

    def scalar(self, number: float) -> str:
        name = f"w{len(self.initializers)}"
        self.initializers.append(helper.make_tensor(name, FLOAT, [], [number]))
        return name

    def model(self, name: str, inputs: list, output: tuple) -> bytes:
        given = [helper.make_tensor_value_info(*of) for of in inputs]
        graph = helper.make_graph(self.nodes, name, given, [helper.make_tensor_value_info(*output)], self.initializers)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
        made.producer_name = "gradus architectures"
        return made.SerializeToString(deterministic=True)

    def conv(self, x: str, path: str, channels: tuple[int, int], size: int, stride: int = 1, groups: int = 1) -> str:
        """A convolution without bias, and a batch normalization."""
        fed, made = channels
        pads = [size // 2] * 4
        weight = self.weight(made, fed // groups, size, size)
        y = self.add("Conv", [x, weight], path, strides=[stride] * 2, pads=pads, group=groups)
        return self.add("BatchNormalization", [y, *(self.weight(made) for _ in range(4))], path)

    def linear(self, x: str, path: str, fed: int, made: int) -> str:
        y = self.add("MatMul", [x, self.weight(fed, made)], path)
        return self.add("Add", [y, self.weight(made)], path)

    def classify(self, x: str, channels: int) -> str:
        x = self.add("Flatten", [self.add("GlobalAveragePool", [x], "head")], "head")
        return self.add("Gemm", [x, self.weight(1000, channels), self.weight(1000)], "head", transB=1)

    def norm(self, x: str, path: str, width: int) -> str:
        return self.add("LayerNormalization", [x, self.weight(width), self.weight(width)], path)

    def attention(self, q: str, k: str, v: str, path: str, causal: bool) -> str:
        """Of 12 heads of 64, from values of shape batch, seq, 768."""
        shape = self.ints(0, 0, 12, 64)
        q, v = (
            self.add("Transpose", [self.add("Reshape", [of, shape], path)], path, perm=[0, 2, 1, 3]) for of in (q, v)
        )
        k = self.add("Transpose", [self.add("Reshape", [k, shape], path)], path, perm=[0, 2, 3, 1])
        scores = self.add("Mul", [self.add("MatMul", [q, k], path), self.scalar(0.125)], path)
        if causal:
            ones = self.add("ConstantOfShape", [self.add("Shape", [scores], path)], path)
            scores = self.add("Add", [scores, self.add("Trilu", [ones], path)], path)
        y = self.add("MatMul", [self.add("Softmax", [scores], path), v], path)
        y = self.add("Transpose", [y], path, perm=[0, 2, 1, 3])
        return self.add("Reshape", [y, self.ints(0, 0, 768)], path)

    def feed_forward(self, x: str, path: str) -> str:
        y = self.add("Gelu", [self.linear(x, path, 768, 3072)], path)
        return self.linear(y, path, 3072, 768)


IMAGE = [("image", FLOAT, ["batch", 3, 224, 224])]
TOKENS = ("tokens", INT64, ["batch", "seq"])


def resnet50() -> bytes:
    net = Net()
    x = net.add("Relu", [net.conv("image", "stem", (3, 64), 7, stride=2)], "stem")
    x = net.add("MaxPool", [x], "stem", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    fed = 64
    for stage, (width, blocks) in enumerate([(64, 3), (128, 4), (256, 6), (512, 3)]):
        for block in range(blocks):
            path, stride = f"stage{stage}/{block}", 2 if stage > 0 and block == 0 else 1
            y = net.add("Relu", [net.conv(x, path, (fed, width), 1)], path)
            y = net.add("Relu", [net.conv(y, path, (width, width), 3, stride)], path)
            y = net.conv(y, path, (width, 4 * width), 1)
            if block == 0:
                x = net.conv(x, path, (fed, 4 * width), 1, stride)
            x, fed = net.add("Relu", [net.add("Add", [y, x], path)], path), 4 * width
    x = net.classify(x, fed)
    return net.model("resnet50", IMAGE, (x, FLOAT, ["batch", 1000]))


def mobilenet_v2() -> bytes:
    net = Net()
    relu6 = lambda x, path: net.add("Clip", [x, net.scalar(0), net.scalar(6)], path)
    x, fed = relu6(net.conv("image", "stem", (3, 32), 3, stride=2), "stem"), 32
    settings = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    for stage, (expansion, made, blocks, first_stride) in enumerate(settings):
        for block in range(blocks):
            path, wide, stride = f"stage{stage}/{block}", fed * expansion, first_stride if block == 0 else 1
            y = relu6(net.conv(x, path, (fed, wide), 1), path) if expansion != 1 else x
            y = relu6(net.conv(y, path, (wide, wide), 3, stride, groups=wide), path)
            y = net.conv(y, path, (wide, made), 1)
            x, fed = net.add("Add", [x, y], path) if stride == 1 and fed == made else y, made
    x = relu6(net.conv(x, "last", (fed, 1280), 1), "last")
    return net.model("mobilenet_v2", IMAGE, (net.classify(x, 1280), FLOAT, ["batch", 1000]))


def bert_base() -> bytes:
    net = Net()
    words = net.add("Gather", [net.weight(30522, 768), "tokens"], "embeddings")
    kinds = net.add("Gather", [net.weight(2, 768), "kinds"], "embeddings")
    places = net.add("Gather", [net.weight(512, 768), "places"], "embeddings")
    x = net.add("Add", [net.add("Add", [words, kinds], "embeddings"), places], "embeddings")
    x = net.norm(x, "embeddings", 768)
    for layer in range(12):
        path = f"layer{layer}"
        q, k, v = (net.linear(x, path, 768, 768) for _ in range(3))
        y = net.linear(net.attention(q, k, v, path, causal=False), path, 768, 768)
        x = net.norm(net.add("Add", [x, y], path), path, 768)
        x = net.norm(net.add("Add", [x, net.feed_forward(x, path)], path), path, 768)
    first = net.add("Gather", [x, net.ints(0)], "pooler", axis=1)
    x = net.add("Tanh", [net.linear(first, "pooler", 768, 768)], "pooler")
    inputs = [TOKENS, ("kinds", INT64, ["batch", "seq"]), ("places", INT64, ["seq"])]
    return net.model("bert_base", inputs, (x, FLOAT, ["batch", 1, 768]))


def gpt2() -> bytes:
    net = Net()
    embeddings = net.weight(50257, 768)
    words = net.add("Gather", [embeddings, "tokens"], "embeddings")
    places = net.add("Gather", [net.weight(1024, 768), "places"], "embeddings")
    x = net.add("Add", [words, places], "embeddings")
    for layer in range(12):
        path = f"layer{layer}"
        all_three = net.linear(net.norm(x, path, 768), path, 768, 3 * 768)
        net.nodes.append(helper.make_node("Split", [all_three], [f"{of}{layer}" for of in ("query", "key", "value")], axis=2, num_outputs=3))
        y = net.attention(f"query{layer}", f"key{layer}", f"value{layer}", path, causal=True)
        x = net.add("Add", [x, net.linear(y, path, 768, 768)], path)
        x = net.add("Add", [x, net.feed_forward(net.norm(x, path, 768), path)], path)
    x = net.norm(x, "head", 768)
    x = net.add("MatMul", [x, net.add("Transpose", [embeddings], "head", perm=[1, 0])], "head")
    inputs = [TOKENS, ("places", INT64, ["seq"])]
    return net.model("gpt2", inputs, (x, FLOAT, ["batch", "seq", 50257]))


if __name__ == "__main__":
    folder = ROOT / "crates/gradus/tests/architectures"
    models = (resnet50, mobilenet_v2, bert_base, gpt2)
    sys.exit(write_or_check({folder / f"{make.__name__}.onnx": make() for make in models}))
