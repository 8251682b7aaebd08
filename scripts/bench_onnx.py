"""What the `onnx` package takes to load a model, and to infer its shapes: python scripts/bench_onnx.py load|infer MODEL"""

import sys

import onnx
import onnx.shape_inference

model = onnx.load(sys.argv[2])
del model.graph.value_info[:]
if sys.argv[1] == "infer":
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    print(len(inferred.graph.value_info))
