"""Test cases of operators: loaded by the runner of onnx, and compared with ONNX Runtime."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

import gradus
from gradus.testing import cases

ROOT = Path(__file__).resolve().parents[3]


def tensors(folder, what):
    paths = sorted(folder.glob(f"{what}_*.pb"), key=lambda path: int(path.stem.split("_")[1]))
    protos = [onnx.load_tensor(path) for path in paths]
    return {proto.name: numpy_helper.to_array(proto) for proto in protos}


def test_the_runner_of_onnx_loads_them_and_they_run_to_the_same_bits(tmp_path):
    for operator in ("Softmax", "Conv", "Where", "Cast", "StringNormalizer"):
        command = [sys.executable, "-m", "gradus", "cases", operator, "--count", "20", "-o", str(tmp_path / "all")]
        subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    tests = load_model_tests(str(tmp_path), "all")
    assert len(tests) == 100 and {test.kind for test in tests} == {"all"}
    for test in tests:
        folder = Path(test.model_dir)
        onnx.checker.check_model(onnx.load(folder / "model.onnx"), full_check=True)
        inputs, outputs = (tensors(folder / "test_data_set_0", what) for what in ("input", "output"))
        model = gradus.load(folder / "model.onnx")
        assert list(inputs) == list(model.inputs) and list(outputs) == list(model.outputs)
        found = model.run(inputs, accumulate="exact")
        for name, wanted in outputs.items():
            assert (found[name].dtype, found[name].shape) == (wanted.dtype, wanted.shape), test.name
            assert found[name].tobytes() == wanted.tobytes() or wanted.dtype == object, test.name


CHECKED = """
    AffineGrid Attention AveragePool BatchNormalization Col2Im DeformConv Einsum GRU LSTM MaxRoiPool NonMaxSuppression
    QLinearConv RNN RoiAlign RotaryEmbedding
""".split()


@pytest.mark.parametrize("operator", CHECKED)
def test_the_checker_of_onnx_takes_cases_of_few_forms(operator):
    for case in cases(operator, 8):
        onnx.checker.check_model(onnx.load_from_string(case.model.to_bytes()), full_check=True)


#: Operators some of whose cases ONNX Runtime computes otherwise, and why.
DIFFERENT = {
    "GlobalMaxPool": "passes over NaN",
    "Hardmax": "takes NaN for the largest",
    "LayerNormalization": "overflows in the variance",
    "LogSoftmax": "gives 46.05 for rows with NaN",
    "MaxPool": "pads for windows without their dilations where auto_pad is SAME_UPPER or SAME_LOWER",
    "ReduceMax": "passes over NaN in float16",
    "ReduceMean": "gives 0 for no elements",
    "Shrink": "computes with floats where unsigned integers do not wrap",
    "Sign": "gives 0 for NaN in float16",
    "StringSplit": "gives an empty text no part",
}

COMPARED = """
    Abs Add And ArgMax Ceil Clip Concat Conv CumSum Equal Erf Exp Expand Flatten Floor Gather GatherElements Gemm
    GlobalAveragePool GlobalMaxPool Hardmax IsNaN LayerNormalization LogSoftmax MatMul Max MaxPool Mul Neg
    ReduceMax ReduceMean ReduceSum Relu Reshape Round ScatterElements Selu Shrink Sigmoid Sign Slice Softmax Sqrt
    Squeeze StringSplit Sub Tanh Tile TopK Transpose Trilu Unsqueeze Where ai.onnx.ml.Scaler com.microsoft.FastGelu
""".split()


def is_near(found, wanted):
    if wanted.dtype.kind == "O":
        return bool((found == wanted).all())
    same_type = (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    return same_type and np.allclose(found, wanted, rtol=1e-3, atol=1e-7, equal_nan=True)


def compared(case):
    """Whether ONNX Runtime agrees; none if it has no kernel for the types, or does not take the sizes."""
    try:
        session = onnxruntime.InferenceSession(case.model.to_bytes(), providers=["CPUExecutionProvider"])
        found = session.run(None, case.inputs)
    except Exception:
        return None
    return all(is_near(array, wanted) for array, wanted in zip(found, case.outputs.values(), strict=True))


def test_onnx_runtime_agrees_but_for_known_operators():
    onnxruntime.set_default_logger_severity(4)
    results = {name: [compared(case) for case in cases(name, 12)] for name in COMPARED}
    assert {name for name, found in results.items() if False in found} == set(DIFFERENT)
    assert all(True in found for found in results.values()), {name for name, found in results.items() if True not in found}
    assert sum(found.count(True) for found in results.values()) > 300


def test_what_has_no_cases_is_refused():
    with pytest.raises(gradus.errors.UsageError, match="Softmax"):
        cases("Sofmax")
    with pytest.raises(gradus.errors.UnsupportedError, match="more than its inputs"):
        cases("RandomNormal")
