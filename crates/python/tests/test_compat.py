"""Calls of other tools, as their own documentation makes them."""

import subprocess
import sys

import numpy as np
import onnx
import pytest
from conftest import ROOT

import gradus
from gradus.compat import onnxslim
from gradus.compat.onnxsim import simplify
from gradus.compat.symbolic_shape_infer import SymbolicShapeInference

HEADS, POSITIONS = (ROOT / "examples" / name for name in ("heads.onnx", "positions.onnx"))


def results(model, **inputs):
    return gradus.load(model).run(inputs)


def test_simplify_as_its_readme_calls_it():
    model = onnx.load(HEADS)
    simplified, check = simplify(model)
    assert check, "Simplified ONNX model could not be validated"
    onnx.checker.check_model(simplified)
    x = np.arange(48, dtype=np.float32).reshape(2, 3, 8)
    assert np.array_equal(results(model, x=x)["y"], results(simplified, x=x)["y"])
    fixed, _ = simplify(str(HEADS), check_n=3, overwrite_input_shapes={"x": [1, 4, 8]})
    assert [d.dim_value for d in fixed.graph.input[0].type.tensor_type.shape.dim] == [1, 4, 8]
    with pytest.raises(gradus.errors.UnsupportedError, match="custom_lib of simplify"):
        simplify(model, custom_lib="x.so")
    with pytest.raises(gradus.errors.UnsupportedError, match="output_path of simplify"):
        simplify(str(HEADS), output_path="x.onnx")


def test_simplify_takes_options_of_version_0_8():
    model = onnx.load(HEADS)
    same, _ = simplify(model)
    # Options that choose how the other program computes or compares have no effect.
    options = {"providers": ["CPUExecutionProvider"], "check_rtol": 1e-3, "input_fill": "zeros", "import_custom_schemas": False}
    assert simplify(model, **options)[0] == same
    newer, _ = simplify(model, target_opset_version=18)
    assert [opset.version for opset in newer.opset_import if not opset.domain] == [18]
    fixed, _ = simplify(model, overwrite_input_shapes={None: [1, 4, 8]})
    assert fixed == simplify(model, overwrite_input_shapes={"x": [1, 4, 8]})[0]


def test_slim_as_its_readme_calls_it(tmp_path):
    assert len(onnxslim.slim(onnx.load(HEADS)).graph.node) == 2
    out = tmp_path / "slim.onnx"
    assert onnxslim.slim(str(HEADS), str(out), input_shapes=["x:1,4,8"], model_check=True) is None
    assert onnx.load(out).graph.input[0].type.tensor_type.shape.dim[0].dim_value == 1
    with pytest.raises(gradus.errors.UsageError, match="a shape is"):
        onnxslim.slim(str(HEADS), input_shapes=["x=1"])


def test_symbolic_shapes_are_declared():
    inferred = SymbolicShapeInference.infer_shapes(onnx.load(POSITIONS), auto_merge=True, guess_output_rank=False, verbose=0)
    onnx.checker.check_model(inferred)
    shapes = {v.name: [d.dim_param or d.dim_value for d in v.type.tensor_type.shape.dim] for v in inferred.graph.value_info}
    assert shapes == {"seq": [1], "positions": ["seq"], "seq_float": [1]}


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("onnxsim", ["{model}", "{out}", "3", "--overwrite-input-shape", "x:1,4,8"]),
        ("onnxsim", ["{model}", "{out}", "--overwrite-input-shape", "1,4,8", "--target-opset", "18"]),
        ("onnxslim", ["{model}", "{out}", "--input-shapes", "x:1,4,8"]),
        ("symbolic_shape_infer", ["--input", "{model}", "--output", "{out}", "--auto_merge"]),
    ],
)
def test_commands_have_the_flags_of_the_others(module, arguments, tmp_path):
    out = tmp_path / "out.onnx"
    words = [word.format(model=HEADS, out=out) for word in arguments]
    subprocess.run([sys.executable, "-m", f"gradus.compat.{module}", *words], check=True, capture_output=True)
    onnx.checker.check_model(str(out))
