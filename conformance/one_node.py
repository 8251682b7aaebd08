"""Models of one ONNX node."""

import numpy as np
import onnx
from onnx import helper, numpy_helper


def one_node(operator, inputs, attributes, *, outputs=1, opset=21, domain=None, constants=(), defaults=False, sizes=None):
    """A model of one node, and its inputs by name. `inputs`: arrays, `x0` and on, or None. Those of the numbers `constants` are
    stored; `defaults` stores all, as defaults of inputs. `domain`: name and version. `sizes` returns the declared sizes of an
    input, by name and array; without it, they are those of the array."""
    names = ["" if x is None else f"x{i}" for i, x in enumerate(inputs)]
    while names and not names[-1]:
        names.pop()
    arrays = {name: np.asarray(x) for name, x in zip(names, inputs) if name}
    stored = {name: arrays[name] for name in (f"x{i}" for i in sorted(constants))}
    declared = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), sizes(name, x) if sizes else x.shape)
        for name, x in arrays.items()
        if name not in stored
    ]
    initializers = [numpy_helper.from_array(x, name) for name, x in (arrays if defaults else stored).items()]
    results = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(operator, names, results, "node", domain=domain and domain[0], **attributes)
    graph = helper.make_graph([node], "graph", declared, [onnx.ValueInfoProto(name=name) for name in results], initializers)
    opsets = [helper.make_opsetid("", opset), *([helper.make_opsetid(*domain)] if domain else [])]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    return model, {name: x for name, x in arrays.items() if name not in stored}
