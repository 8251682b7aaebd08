"""Makes a model to measure inference with: blocks of attention with the shape arithmetic that exporters write.

    python scripts/bench_model.py BLOCKS FILE

A block has 38 nodes, of which 27 only compute shapes; the input is `x: float32[batch, seq, 16]`.
"""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTH, HEADS = 16, 2
nodes, constants = [], {}


def constant(value) -> str:
    array = np.array(value, dtype=np.int64)
    name = f"c_{'_'.join(map(str, array.ravel()))}_{array.ndim}"
    constants[name] = numpy_helper.from_array(array, name)
    return name


def apply(operator: str, *inputs: str, **attributes) -> str:
    output = f"{operator}_{len(nodes)}"
    nodes.append(helper.make_node(operator, inputs, [output], name=output, **attributes))
    return output


def axis_size(value: str, axis: int) -> str:
    return apply("Gather", apply("Shape", value), constant(axis), axis=0)


def listed(*sizes: str) -> str:
    axis = constant([0])
    return apply("Concat", *(e if e.startswith("c_") else apply("Unsqueeze", e, axis) for e in sizes), axis=0)


def heads(value: str) -> tuple[str, str, str]:
    """The projection of a value, split into heads: [batch, heads, seq, width / heads]."""
    value = apply("MatMul", value, "weights")
    batch, seq, width = (axis_size(value, axis) for axis in range(3))
    size = apply("Div", width, constant(HEADS))
    shape = listed(batch, seq, constant([HEADS]), size)
    return apply("Transpose", apply("Reshape", value, shape), perm=[0, 2, 1, 3]), batch, seq


def main() -> None:
    blocks, path = int(sys.argv[1]), sys.argv[2]
    constants["weights"] = numpy_helper.from_array(np.full((WIDTH, WIDTH), 0.1, np.float32), "weights")
    value = "x"
    for _ in range(blocks):
        query, batch, seq = heads(value)
        key, _, _ = heads(value)
        scores = apply("MatMul", query, apply("Transpose", key, perm=[0, 1, 3, 2]))
        mixed = apply("MatMul", apply("Softmax", scores, axis=-1), key)
        shape = listed(batch, seq, constant([WIDTH]))
        merged = apply("Reshape", apply("Transpose", mixed, perm=[0, 2, 1, 3]), shape)
        value = apply("Add", merged, value)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", "seq", WIDTH])
    y = helper.make_tensor_value_info(value, TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "blocks", [x], [y], list(constants.values()))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, path)
    print(f"{len(nodes)} nodes: {path}")


if __name__ == "__main__":
    main()
