"""The calls of other tools, done by Gradus: a script changes one import.

- :mod:`gradus.compat.onnxsim`: ``simplify``.
- :mod:`gradus.compat.onnxslim`: ``slim``.
- :mod:`gradus.compat.symbolic_shape_infer`: ``SymbolicShapeInference.infer_shapes``.

Each is a command too: ``python -m gradus.compat.onnxsim model.onnx out.onnx``. They need the package ``onnx``.
"""
