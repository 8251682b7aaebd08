"""The assertions and the plugin that others use in their tests."""

import os
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

import gradus
from gradus.testing import assert_exact, assert_same

ROOT = Path(__file__).resolve().parents[3]


def model(operator, folder):
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n"]) for name in "xy"]
    graph = helper.make_graph([helper.make_node(operator, ["x"], ["y"])], "g", values[:1], values[1:])
    path = folder / f"{operator}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def test_models_are_the_same_or_the_assertion_names_the_outputs(tmp_path):
    assert_same("examples/heads.onnx", gradus.load("examples/heads.onnx").fold())
    with pytest.raises(AssertionError, match="outputs differ: y"):
        assert_same(model("Abs", tmp_path), model("Neg", tmp_path))
    with pytest.raises(AssertionError, match="neither proved nor compared"):
        assert_same("examples/heads.onnx", "examples/positions.onnx")


def test_runtimes_are_exact_or_the_assertion_says_how_far_they_are(tmp_path):
    assert_exact("examples/heads.onnx", "onnxruntime", runs=1)
    assert_exact(model("Tanh", tmp_path), "onnxruntime", max_ulp=1000, runs=2)
    with pytest.raises(AssertionError, match=r'output "y" has elements \d+ ulp away, expected at most 0 ulp'):
        assert_exact(model("Tanh", tmp_path), "onnxruntime", dims={"n": 4096}, runs=2)


def run_tests(folder, *options):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, str(folder)]
    environment = {**os.environ, "PYTEST_ADDOPTS": ""}
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False, cwd=folder, env=environment)


def test_the_plugin_keeps_what_is_known_of_models(tmp_path):
    path = model("Abs", tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_it.py").write_text(f"def test_it(model_snapshot):\n    model_snapshot({str(path)!r})\n")
    assert "pytest --gradus-update writes it" in run_tests(tmp_path).stdout
    assert run_tests(tmp_path, "--gradus-update").returncode == 0
    kept = (tmp_path / "model_snapshots" / "test_it.test_it.1.json").read_text()
    assert '"y": "float32[n]"' in kept
    assert run_tests(tmp_path).returncode == 0
    two = onnx.load(path)
    two.graph.output[0].name = two.graph.node[0].output[0] = "z"
    onnx.save(two, path)
    assert "the model is not what test_it.test_it.1.json says" in run_tests(tmp_path).stdout
