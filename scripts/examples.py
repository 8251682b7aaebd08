"""Makes the small models under `examples/`; `embedding.onnx` is of docs/tutorials/pytorch.md.

    python scripts/examples.py            write them
    python scripts/examples.py --check    fail if they differ from what is checked in
"""

import struct
import sys

from onnx import TensorProto, helper

from generated import ROOT, write_or_check

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
INT8, UINT8 = TensorProto.INT8, TensorProto.UINT8


def value(name: str, dtype: int, shape: list | None):
    return helper.make_tensor_value_info(name, dtype, shape)


def scalar(name: str, dtype: int, number):
    return helper.make_tensor(name, dtype, [], [number])


def model(graph, opset: int, ir_version: int, functions=(), domains=()) -> bytes:
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 1) for domain in domains)]
    made = helper.make_model(graph, opset_imports=imports, ir_version=ir_version, functions=functions)
    made.producer_name = "gradus examples"
    return made.SerializeToString(deterministic=True)


def range_onnx() -> bytes:
    """Range on its own: the three scalars are inputs."""
    node = helper.make_node("Range", ["start", "limit", "delta"], ["positions"], name="pos")
    inputs = [value(name, FLOAT, []) for name in ("start", "limit", "delta")]
    graph = helper.make_graph([node], "range", inputs, [value("positions", FLOAT, ["n"])])
    return model(graph, 11, 6)


def positions_onnx() -> bytes:
    """What a language model does first: the positions of its tokens, from the shape of its input."""
    nodes = [
        helper.make_node("Shape", ["tokens"], ["seq"], name="length", start=1, end=2),
        helper.make_node("Range", ["zero", "seq", "one"], ["position_ids"], name="pos"),
        helper.make_node("Size", ["tokens"], ["token_count"], name="count"),
        helper.make_node("Cast", ["position_ids"], ["positions"], name="to_float", to=FLOAT),
        helper.make_node("Cast", ["seq"], ["seq_float"], name="seq_to_float", to=FLOAT),
        helper.make_node("Div", ["positions", "seq_float"], ["phase"], name="phase"),
    ]
    initializers = [scalar("zero", INT64, 0), scalar("one", INT64, 1)]
    outputs = [value("position_ids", INT64, ["seq"]), value("phase", FLOAT, ["seq"]), value("token_count", INT64, [])]
    inputs = [value("tokens", INT64, ["batch", "seq"])]
    graph = helper.make_graph(nodes, "positions", inputs, outputs, initializers)
    return model(graph, 17, 8)


def heads_onnx() -> bytes:
    """What exporters make of `x.reshape(batch, seq, 2, width // 2).transpose(1, 2)`: the shape is taken apart and put together."""
    sizes, nodes = [], []
    for axis, name in enumerate(("batch", "seq", "width")):
        nodes += [
            helper.make_node("Shape", ["x"], [f"shape_{axis}"], name=f"shape_{axis}"),
            helper.make_node("Gather", [f"shape_{axis}", f"axis_{axis}"], [name], name=name),
        ]
    nodes.append(helper.make_node("Div", ["width", "heads"], ["head_width"], name="head_width"))
    for name in ("batch", "seq", "heads", "head_width"):
        nodes.append(helper.make_node("Unsqueeze", [name, "first"], [f"{name}_1"], name=f"{name}_1"))
        sizes.append(f"{name}_1")
    nodes += [
        helper.make_node("Concat", sizes, ["target"], name="target", axis=0),
        helper.make_node("Reshape", ["x", "target"], ["split"], name="split"),
        helper.make_node("Transpose", ["split"], ["y"], name="turn", perm=[0, 2, 1, 3]),
    ]
    initializers = [scalar(f"axis_{axis}", INT64, axis) for axis in range(3)]
    initializers += [scalar("heads", INT64, 2), helper.make_tensor("first", INT64, [1], [0])]
    outputs = [value("y", FLOAT, ["batch", 2, "seq", 4])]
    graph = helper.make_graph(nodes, "heads", [value("x", FLOAT, ["batch", "seq", 8])], outputs, initializers)
    return model(graph, 17, 8)


def baked_onnx() -> bytes:
    """What exporters make of `x.view(1, 16, 2, 4)`, traced with one item: the batch is a number in the shape."""
    nodes = [
        helper.make_node("Reshape", ["x", "target"], ["split"], name="view"),
        helper.make_node("Transpose", ["split"], ["y"], name="turn", perm=[0, 2, 1, 3]),
    ]
    target = helper.make_tensor("target", INT64, [4], [1, 16, 2, 4])
    inputs, outputs = [value("x", FLOAT, ["batch", 16, 8])], [value("y", FLOAT, ["batch", 2, 16, 4])]
    return model(helper.make_graph(nodes, "baked", inputs, outputs, [target]), 17, 8)


def fixed_onnx(batch: int, seq: int) -> bytes:
    """What exporters make of `(x + positions).view(batch, seq, 2, 4)` at fixed sizes: the positions are a table."""
    nodes = [
        helper.make_node("Add", ["x", "positions"], ["placed"], name="place"),
        helper.make_node("Reshape", ["placed", "target"], ["y"], name="view"),
    ]
    positions = [float(number) for number in range(seq)]
    constants = [
        helper.make_tensor("positions", FLOAT, [1, seq, 1], positions),
        helper.make_tensor("target", INT64, [4], [batch, seq, 2, 4]),
    ]
    inputs, outputs = [value("x", FLOAT, [batch, seq, 8])], [value("y", FLOAT, [batch, seq, 2, 4])]
    return model(helper.make_graph(nodes, "fixed", inputs, outputs, constants), 17, 8)


def loop_onnx() -> bytes:
    """A loop that carries two values and scans one: Fibonacci numbers."""
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go_on"], ["still"]),
            helper.make_node("Add", ["a", "b"], ["sum"]),
            helper.make_node("Identity", ["b"], ["next_a"]),
            helper.make_node("Identity", ["a"], ["number"]),
        ],
        "step",
        [value("i", INT64, []), value("go_on", BOOL, []), value("a", INT64, []), value("b", INT64, [])],
        [value("still", BOOL, []), value("next_a", INT64, []), value("sum", INT64, []), value("number", INT64, [])],
    )
    node = helper.make_node("Loop", ["count", "", "zero", "one"], ["", "", "fibonacci"], name="fib", body=body)
    initializers = [scalar("zero", INT64, 0), scalar("one", INT64, 1)]
    inputs, outputs = [value("count", INT64, [])], [value("fibonacci", INT64, ["count"])]
    graph = helper.make_graph([node], "loop", inputs, outputs, initializers)
    return model(graph, 17, 8)


def function_onnx() -> bytes:
    """A function of the model's own, with an attribute that has a default."""
    divide = helper.make_node("Div", ["x", "by"], ["y"])
    constant = helper.make_node("Constant", [], ["by"])
    parameter = constant.attribute.add(name="value_float", ref_attr_name="divisor")
    parameter.type = 1
    function = helper.make_function(
        "example",
        "Scaled",
        ["x"],
        ["y"],
        [constant, divide],
        [helper.make_opsetid("", 17)],
        attribute_protos=[helper.make_attribute("divisor", 2.0)],
    )
    nodes = [
        helper.make_node("Scaled", ["x"], ["half"], name="halve", domain="example"),
        helper.make_node("Scaled", ["x"], ["tenth"], name="tenth", domain="example", divisor=10.0),
    ]
    inputs = [value("x", FLOAT, ["n"])]
    outputs = [value("half", FLOAT, ["n"]), value("tenth", FLOAT, ["n"])]
    graph = helper.make_graph(nodes, "function", inputs, outputs)
    return model(graph, 17, 8, [function], ["example"])


def scores_onnx(quantized: bool) -> bytes:
    """Two layers of a classifier; quantized, its codes of 8 bits end at -1 and 1 for `x`, and at 0.5 for `hidden`."""
    weights = {
        "w1": [[((7 * row + 3 * column) % 16 - 7.5) / 16 for column in range(8)] for row in range(4)],
        "w2": [[((5 * row + 11 * column) % 32 - 15.5) / 32 for column in range(3)] for row in range(8)],
    }
    nodes, initializers = [], [helper.make_tensor("b1", FLOAT, [8], [0.25] * 8)]

    def codes(name: str, scale: float, zero: int, dtype: int) -> list[str]:
        initializers.extend([scalar(f"{name}_scale", FLOAT, scale), scalar(f"{name}_zero", dtype, zero)])
        return [f"{name}_scale", f"{name}_zero"]

    def stored(name: str) -> str:
        rows = weights[name]
        shape, flat = [len(rows), len(rows[0])], [x for row in rows for x in row]
        if not quantized:
            initializers.append(helper.make_tensor(name, FLOAT, shape, flat))
            return name
        scale = max(map(abs, flat)) / 127
        initializers.append(helper.make_tensor(f"{name}_codes", INT8, shape, [round(x / scale) for x in flat]))
        given = [f"{name}_codes", *codes(name, scale, 0, INT8)]
        nodes.append(helper.make_node("DequantizeLinear", given, [f"{name}_numbers"], name=f"{name}_numbers"))
        return f"{name}_numbers"

    def passed(name: str, scale: float, zero: int) -> str:
        if not quantized:
            return name
        given = codes(name, scale, zero, UINT8)
        nodes.append(helper.make_node("QuantizeLinear", [name, *given], [f"{name}_codes"], name=f"{name}_codes"))
        given = [f"{name}_codes", *given]
        nodes.append(helper.make_node("DequantizeLinear", given, [f"{name}_numbers"], name=f"{name}_numbers"))
        return f"{name}_numbers"

    nodes.append(helper.make_node("MatMul", [passed("x", 2 / 255, 128), stored("w1")], ["products"], name="first"))
    nodes.append(helper.make_node("Add", ["products", "b1"], ["sums"], name="bias"))
    nodes.append(helper.make_node("Relu", ["sums"], ["hidden"], name="relu"))
    nodes.append(helper.make_node("MatMul", [passed("hidden", 0.5 / 255, 0), stored("w2")], ["scores"], name="second"))
    inputs, outputs = [value("x", FLOAT, ["batch", 4])], [value("scores", FLOAT, ["batch", 3])]
    return model(helper.make_graph(nodes, "scores", inputs, outputs, initializers), 17, 8)


def port(number: int, precision: str, dims: list, names: str = "") -> str:
    named = f' names="{names}"' if names else ""
    inner = "".join(f"<dim>{dim}</dim>" for dim in dims)
    return f'<port id="{number}" precision="{precision}"{named}>{inner}</port>'


def range_xml(sources: list[str], output_type: str, precision: str) -> bytes:
    """Range-4 of OpenVINO, as its text shows it, made a whole model."""
    precisions = ["I32" if "i32" in source else "FP32" for source in sources]
    inputs = "\n        ".join(port(i, precision, []) for i, precision in enumerate(precisions))
    edges = "\n    ".join(
        f'<edge from-layer="{i}" from-port="0" to-layer="3" to-port="{i}"/>' for i in range(len(sources))
    )
    layers = "\n    ".join(sources)
    return f"""<?xml version="1.0"?>
<net name="range" version="11">
  <layers>
    {layers}
    <layer id="3" name="positions" type="Range" version="opset4">
      <data output_type="{output_type}"/>
      <input>
        {inputs}
      </input>
      <output>
        {port(3, precision, [-1], "positions")}
      </output>
    </layer>
    <layer id="4" name="result" type="Result" version="opset1" output_names="positions">
      <input>
        {port(0, precision, [-1])}
      </input>
    </layer>
  </layers>
  <edges>
    {edges}
    <edge from-layer="3" from-port="3" to-layer="4" to-port="0"/>
  </edges>
</net>
""".encode()


def parameter(i: int, name: str) -> str:
    return (
        f'<layer id="{i}" name="{name}" type="Parameter" version="opset1">\n'
        f'      <data shape="" element_type="f32"/>\n'
        f'      <output>{port(0, "FP32", [], name)}</output>\n    </layer>'
    )


def const(i: int, name: str) -> str:
    return (
        f'<layer id="{i}" name="{name}" type="Const" version="opset1">\n'
        f'      <data element_type="i32" shape="" offset="{4 * i}" size="4"/>\n'
        f'      <output>{port(0, "I32", [])}</output>\n    </layer>'
    )


def files() -> dict[str, bytes]:
    words = ["start", "stop", "step"]
    return {
        "range.onnx": range_onnx(),
        "positions.onnx": positions_onnx(),
        "baked.onnx": baked_onnx(),
        "fixed_1x4.onnx": fixed_onnx(1, 4),
        "fixed_2x6.onnx": fixed_onnx(2, 6),
        "heads.onnx": heads_onnx(),
        "loop.onnx": loop_onnx(),
        "function.onnx": function_onnx(),
        "scores.onnx": scores_onnx(quantized=False),
        "scores.int8.onnx": scores_onnx(quantized=True),
        "range.xml": range_xml([parameter(i, word) for i, word in enumerate(words)], "i32", "I32"),
        "range_const.xml": range_xml([const(i, word) for i, word in enumerate(words)], "i32", "I32"),
        "range_const.bin": struct.pack("<3i", 2, 23, 3),
    }


if __name__ == "__main__":
    sys.exit(write_or_check({ROOT / "examples" / name: content for name, content in files().items()}))
