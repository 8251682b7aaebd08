"""What other simplifiers leave of a model.

    python conformance/fold_peers.py PEER MODEL OUT

prints how many nodes of each operator, as JSON.
"""

import collections
import importlib.util
import json
import os
import sys

import onnx

import execution

PEERS = ("openvino", "onnxsim", "onnxslim", "onnxscript", "onnxruntime")
# OpenVINO's names, as those of ONNX.
ONNX_NAMES = {"ShapeOf": "Shape", "Broadcast": "Expand"}


def installed() -> list[str]:
    return [name for name in PEERS if importlib.util.find_spec(name)]


def openvino_bodies(op) -> list:
    """The bodies of an operator."""
    count = {"If": 2, "Loop": 1, "TensorIterator": 1}.get(op.get_type_name(), 0)
    return [op.get_function(i) if count == 2 else op.get_function() for i in range(count)]


def openvino_operators(model) -> collections.Counter:
    found = collections.Counter()
    for op in model.get_ordered_ops():
        name = op.get_type_name()
        # These are no nodes in ONNX.
        if name not in ("Parameter", "Result", "Constant"):
            found[ONNX_NAMES.get(name, name)] += 1
        for body in openvino_bodies(op):
            found += openvino_operators(body)
    return found


def simplify(peer: str, source: str, out: str) -> collections.Counter:
    """Converts or simplifies a model; gives the operators that are left."""
    if peer == "openvino":
        import openvino

        return openvino_operators(openvino.convert_model(source))
    if peer == "onnxsim":
        import onnxsim

        model, _ = onnxsim.simplify(onnx.load(source))
        onnx.save(model, out)
    elif peer == "onnxslim":
        import onnxslim

        onnxslim.slim(source, out)
    elif peer == "onnxscript":
        import onnxscript.optimizer

        onnx.save(onnxscript.optimizer.optimize(onnx.load(source)), out)
    else:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = out
        onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    return execution.operators(onnx.load(out, load_external_data=False))


if __name__ == "__main__":
    # Output of the peers is not shown.
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    print(json.dumps(simplify(*sys.argv[1:])), file=answer)
