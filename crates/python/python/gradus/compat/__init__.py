"""Functions of other tools: a script changes one import.

- `gradus.compat.onnxsim`: `simplify`.
- `gradus.compat.onnxslim`: `slim`.
- `gradus.compat.symbolic_shape_infer`: `SymbolicShapeInference`.

Each is a command too: `python -m gradus.compat.onnxsim model.onnx
out.onnx`. They need the package `onnx`.
"""
