"""Losses of quantized models, held against NumPy, ONNX Runtime's quantizer and OpenVINO."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import gradus

RANDOM = np.random.default_rng(7)


def snr(x, y):
    x, y = np.float64(x), np.float64(y)
    return 10 * np.log10((x**2).sum() / ((x - y) ** 2).sum())


def network() -> onnx.ModelProto:
    def weight(name, *shape):
        return numpy_helper.from_array((RANDOM.standard_normal(shape) * 0.2).astype(np.float32), name)

    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c1"], ["r1"]),
        helper.make_node("Conv", ["r1", "w2"], ["c2"], pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["c2", "r1"], ["s"]),
        helper.make_node("GlobalAveragePool", ["s"], ["p"]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("MatMul", ["f", "w3"], ["y"]),
    ]
    types = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", *dims])
        for name, *dims in (("x", 3, 8, 8), ("y", 10))
    ]
    weights = [weight("w1", 8, 3, 3, 3), weight("b1", 8), weight("w2", 8, 8, 3, 3), weight("w3", 8, 10)]
    graph = helper.make_graph(nodes, "net", types[:1], types[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def image(count: int):
    return RANDOM.uniform(-1, 1, (count, 3, 8, 8)).astype(np.float32)


@pytest.mark.parametrize("per_channel", [False, True])
def test_what_onnxruntime_quantizes_is_found_and_measured(tmp_path, per_channel):
    ort = pytest.importorskip("onnxruntime")
    quantization = pytest.importorskip("onnxruntime.quantization")

    class Images(quantization.CalibrationDataReader):
        left = 8

        def get_next(self):
            self.left -= 1
            return {"x": image(4)} if self.left >= 0 else None

    first, second = tmp_path / "net.onnx", tmp_path / "int8.onnx"
    onnx.save(network(), first)
    quantization.quantize_static(
        first, second, Images(), quant_format=quantization.QuantFormat.QDQ, per_channel=per_channel
    )
    x = image(16)
    report = gradus.load(first).quantization(gradus.load(second), values={"x": x}, runs=1)
    found = {loss.name: loss for loss in report.tensors if loss.kind != "output"}
    assert {"x", "r1", "c2", "s", "p", "f", "w1", "w2", "w3"} <= set(found)
    # Relu is dropped by the quantizer where codes begin at 0: its result is still the tensor that is measured.
    assert all(loss.own.decibels > 30 for loss in found.values())
    assert all(
        loss.own.elements == np.prod(network_shape(name, x)) for name, loss in found.items() if loss.kind == "weight"
    )

    def run(path):
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        return ort.InferenceSession(path, options).run(None, {"x": x})[0]

    (output,) = [loss for loss in report.tensors if loss.kind == "output"]
    assert output.whole.decibels == pytest.approx(snr(run(first), run(second)), abs=0.3)


def network_shape(name, x):
    return {"w1": (8, 3, 3, 3), "w2": (8, 8, 3, 3), "w3": (8, 10), "b1": (8,)}.get(name, x.shape)


def layer(number: int, name: str, kind: str, data: str, inputs: list, output: list) -> str:
    def port(number: int, dims: list) -> str:
        return f'<port id="{number}" precision="FP32">{"".join(f"<dim>{dim}</dim>" for dim in dims)}</port>'

    given = "".join(port(place, dims) for place, dims in enumerate(inputs))
    given = f"<input>{given}</input>" if inputs else ""
    return f"""<layer id="{number}" name="{name}" type="{kind}" version="opset1"><data {data}/>{given}
<output>{port(len(inputs), output)}</output></layer>"""


def fake_quantized(path, codes: bool) -> gradus.Model:
    """The IR of a sum of squares, of numbers that have 16 codes from -1 to 1 or of all."""
    path.with_suffix(".bin").write_bytes(np.float32([-1, 1]).tobytes())
    end = 'element_type="f32" shape="" size="4"'
    layers = [
        layer(0, "x", "Parameter", 'shape="-1,4" element_type="f32"', [], [-1, 4]),
        layer(1, "low", "Const", f'offset="0" {end}', [], []),
        layer(2, "high", "Const", f'offset="4" {end}', [], []),
        layer(3, "codes", "FakeQuantize", 'levels="16" auto_broadcast="numpy"', [[-1, 4], [], [], [], []], [-1, 4]),
        layer(4, "y", "Multiply", 'auto_broadcast="numpy"', [[-1, 4], [-1, 4]], [-1, 4]),
        """<layer id="5" name="result" type="Result" version="opset1">
<input><port id="0" precision="FP32"><dim>-1</dim><dim>4</dim></port></input></layer>""",
    ]
    edges = [(0, 0, 3, 0), (1, 0, 3, 1), (2, 0, 3, 2), (1, 0, 3, 3), (2, 0, 3, 4)] if codes else []
    edges += [(3, 5, 4, 0), (3, 5, 4, 1)] if codes else [(0, 0, 4, 0), (0, 0, 4, 1)]
    kept = layers if codes else [layers[0], *layers[4:]]
    names = ("from-layer", "from-port", "to-layer", "to-port")
    lines = [
        "<edge " + " ".join(f'{name}="{number}"' for name, number in zip(names, edge, strict=True)) + "/>"
        for edge in [*edges, (4, 2, 5, 0)]
    ]
    path.write_text(
        f'<?xml version="1.0"?><net name="m" version="11"><layers>{"".join(kept)}</layers><edges>{"".join(lines)}</edges></net>'
    )
    return gradus.load(path)


def test_fake_quantize_is_measured(tmp_path):
    first, second = (fake_quantized(tmp_path / f"{codes}.xml", codes) for codes in (False, True))
    rows = RANDOM.uniform(-1.25, 1.25, (30, 4)).astype(np.float32)
    report = first.quantization(second, values={"x": rows}, runs=1)
    (loss,) = [loss for loss in report.tensors if loss.kind == "activation"]
    numbers = np.round((np.clip(rows, -1, 1) + 1) / 2 * 15) / 15 * 2 - 1
    assert (loss.name, loss.codes) == ("x", None)
    assert loss.own.decibels == pytest.approx(snr(rows, numbers), abs=0.01)
    assert loss.clipped == (np.abs(rows) > 1).sum()


def test_dynamic_codes_are_measured(tmp_path):
    node = helper.make_node("DynamicQuantizeLinear", ["x"], ["codes", "scale", "zero"])
    used = [
        helper.make_node("MatMulInteger", ["codes", "wc", "zero"], ["i"]),
        helper.make_node("Cast", ["i"], ["f"], to=1),
    ]
    used.append(helper.make_node("Mul", ["f", "scale"], ["y"]))
    types = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in "xy"]
    codes = numpy_helper.from_array(np.int8([[1, 2, 3], [-1, 0, 1], [4, 5, -6]]), "wc")
    plain = numpy_helper.from_array(numpy_helper.to_array(codes).astype(np.float32), "w")
    graphs = [([helper.make_node("MatMul", ["x", "w"], ["y"])], [plain]), ([node, *used], [codes])]
    models = []
    for nodes, weights in graphs:
        graph = helper.make_graph(nodes, "g", types[:1], types[1:], weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        models.append(gradus.load(model))
    x = np.float32([[-1, 0.3, 2], [0.11, 1.7, -0.4]])
    report = models[0].quantization(models[1], values={"x": x}, runs=1)
    (loss,) = [loss for loss in report.tensors if loss.kind == "activation"]
    scale = np.float32(3) / np.float32(255)
    zero = np.round(1 / scale)
    numbers = (np.clip(np.round(x / scale) + zero, 0, 255) - zero) * scale
    assert loss.name == "x"
    assert loss.own.decibels == pytest.approx(snr(x, numbers), abs=0.01)
