"""Models: loaded, inferred, run; and what is wrong with them."""

import pathlib
import pickle
from fractions import Fraction

import numpy as np
import onnx
import onnx.parser
import pytest
from conftest import corpus
from onnx import TensorProto, helper

import gradus
from gradus.errors import ArgumentError, DTypeError, FileError, FormatError, GradusError, ShapeError, UsageError

POSITIONS = "examples/positions.onnx"


def test_a_model_from_a_path_bytes_and_a_proto():
    models = [
        gradus.load(POSITIONS),
        gradus.load(pathlib.Path(POSITIONS)),
        gradus.load(pathlib.Path(POSITIONS).read_bytes()),
        gradus.load(onnx.load(POSITIONS)),
    ]
    for model in models:
        assert {name: str(of) for name, of in model.inputs.items()} == {"tokens": "int64[batch, seq]"}
        assert list(model.outputs) == ["position_ids", "phase", "token_count"]
        results = model.run({"tokens": np.zeros((2, 3), np.int64)})
        assert results["position_ids"].tolist() == [0, 1, 2] and results["token_count"] == 6


def test_types_and_expressions():
    found = gradus.load(POSITIONS).infer()
    assert str(found["phase"]) == "float32[seq]" and found["phase"].dtype == "float32"
    assert isinstance(found["phase"].shape[0], gradus.Dim)
    assert [str(e) for e in found["seq"].elements] == ["seq"]
    assert len(found) == len(list(found)) and "phase" in found and "nothing" not in found
    assert found.assumptions and "seq <= 16777216" in found.assumptions[0][1]
    assert not found.problems and found.peak_bytes.evaluate(seq=10) == 172
    known = gradus.load(POSITIONS).infer({"seq": 7, "batch": 2})
    assert known["phase"].shape == (7,) and known.peak_bytes == 124
    assert gradus.load(POSITIONS).infer(shapes={"tokens": [None, 5]})["phase"].shape == (5,)
    assert gradus.load(POSITIONS).infer(values={"tokens": [[1, 2]]})["position_ids"].elements == (0, 1)
    assert "phase: float32[seq] by node" in gradus.load(POSITIONS).explain("phase")


def test_dims_print_evaluate_compare_and_travel():
    dim = gradus.Dim("2*(b + a) - a")
    assert str(dim) == "2*b + a" and dim == gradus.Dim("a + b + b") and dim.symbols == ["a", "b"]
    assert dim.evaluate(a=1, b=2) == 5 and dim.evaluate({"a": 1}, b=2) == 5
    count = gradus.load("examples/loop.onnx").infer()["fibonacci"].shape[0]
    assert repr(count) == 'Dim("max(count, 0)", {"count"})' and count.integers == {"count"} and not dim.integers
    assert count != gradus.Dim("max(count, 0)") == gradus.Dim("count")
    assert [count.evaluate(count=-5), (2 * count).evaluate(count=-5), pickle.loads(pickle.dumps(count))] == [0, 0, count]
    assert count >= 0 and gradus.Dim("n") >= 0
    with pytest.raises(ArgumentError, match="order of count and 0"):
        assert gradus.Dim("count", {"count"}) >= 0
    assert pickle.loads(pickle.dumps(dim)) == dim and len({dim, gradus.Dim("a+2*b")}) == 1
    with pytest.raises(UsageError, match='symbol "b" of 2\\*b \\+ a is not given'):
        dim.evaluate(a=1)
    with pytest.raises(ArgumentError, match="overflows"):
        dim.evaluate(a=2**62, b=2**62)
    with pytest.raises(GradusError):
        gradus.Dim("a +")


def test_errors_have_place_got_and_wanted():
    model = gradus.load("examples/range.onnx")
    with pytest.raises(ArgumentError) as caught:
        model.run({"start": 1.0, "limit": 2.0, "delta": 0.0})
    error = caught.value
    assert error.location.file == "examples/range.onnx" and error.location.nodes == ('node "pos" (onnx Range-11)',)
    assert str(error).startswith('examples/range.onnx: node "pos"') and isinstance(error, ValueError)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.location) == (str(error), error.location)
    fields = pickle.loads(pickle.dumps(gradus.errors.ShapeError.mismatch("axis", 3, "0 or 1")))
    assert (str(fields), fields.got, fields.wanted) == ("axis is 3, expected 0 or 1", "3", "0 or 1")


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda m: gradus.load("no/such/model.onnx"), FileError),
        (lambda m: gradus.load(b""), FormatError),
        (lambda m: gradus.load(b"\xff\xff\xff"), FormatError),
        (lambda m: gradus.load(7), TypeError),
        (lambda m: m.run({}), UsageError),
        (lambda m: m.run({"x": 1}), UsageError),
        (lambda m: m.run({"tokens": np.zeros(3, np.int64)}), ShapeError),
        (lambda m: m.run({"tokens": np.zeros((1, 1), np.float32)}), DTypeError),
        (lambda m: m.run({"tokens": [[1.5]]}), ArgumentError),
        (lambda m: m.run({"tokens": [[2**70]]}), GradusError),
        (lambda m: m.run({"tokens": object()}), DTypeError),
        (lambda m: m.run({"tokens": [[1]]}, ["nothing"]), UsageError),
        (lambda m: m.run({"tokens": np.zeros((1, 1000), np.int64)}, max_bytes=100), gradus.errors.LimitError),
        (lambda m: m.infer({"nothing": 1}), UsageError),
        (lambda m: m.infer({"seq": -1}), UsageError),
        (lambda m: m.infer(shapes={"tokens": [1, 2, 3]}), UsageError),
        (lambda m: m.explain("nothing"), UsageError),
    ],
)
def test_what_is_wrong_is_said(call, kind):
    with pytest.raises(kind) as caught:
        call(gradus.load(POSITIONS))
    assert str(caught.value)


def test_damaged_models_raise_and_nothing_else():
    whole = pathlib.Path(POSITIONS).read_bytes()
    for i in range(0, len(whole), 3):
        for damaged in (whole[:i], whole[:i] + bytes([whole[i] ^ 0x55]) + whole[i + 1 :]):
            try:
                gradus.load(damaged).infer()
            except GradusError:
                pass


def test_values_of_every_type_come_and_go():
    types = [t for t in TensorProto.DataType.values() if "FLOAT6" not in TensorProto.DataType.Name(t) and t != TensorProto.UNDEFINED]
    checked = 0
    for of in types:
        name = TensorProto.DataType.Name(of).lower()
        try:
            array = np.array(["a", "b"], object) if of == TensorProto.STRING else gradus.arange(1, 3, dtype=_ours(name)) if "complex" not in name else np.ones(2, name)
        except (GradusError, TypeError):
            continue
        x = helper.make_tensor_value_info("x", of, ["n"])
        y = helper.make_tensor_value_info("y", of, ["n"])
        graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "same", [x], [y])
        model = gradus.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)]))
        back = model.run({"x": array})["y"]
        assert back.dtype == array.dtype and back.tolist() == array.tolist(), name
        checked += 1
    assert checked >= 20


def _ours(name):
    aliases = {"float": "float32", "double": "float64"}
    import re

    name = re.sub(r"^float(8|6|4)", r"float\1_", name) if re.match(r"^float[864]e", name) else name
    return aliases.get(name, name)


def test_sequences_are_lists():
    values = helper.make_tensor_sequence_value_info("values", TensorProto.INT64, None)
    length = helper.make_tensor_value_info("length", TensorProto.INT64, [])
    node = helper.make_node("SequenceLength", ["values"], ["length"])
    graph = helper.make_graph([node], "lists", [values], [length])
    model = gradus.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))
    assert model.run({"values": [np.arange(2), np.arange(3)]})["length"] == 2


def test_sums_are_added_as_a_run_asks():
    graph = helper.make_graph(
        [helper.make_node("ReduceSum", ["x"], ["y"], keepdims=0)],
        "sum",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [])],
    )
    model = gradus.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]))
    x = np.array([1e30, 2**24, 1, 1, -1e30], np.float32)
    sums = {how: float(model.run({"x": x}, accumulate=how)["y"]) for how in ("float64", "exact")}
    assert sums == {"float64": 0, "exact": 2**24 + 2}
    assert float(model.run({"x": x[1:4]}, accumulate="float32")["y"]) == 2**24
    with pytest.raises(GradusError, match="accumulate is float16, expected float64, float32 or exact"):
        model.run({"x": x}, accumulate="float16")


def test_intervals_hold_the_real_numbers_of_values():
    text = """<ir_version: 8, opset_import: ["": 13]>
        g (float[n] x) => (float[n] y, int64[n] i) <float three = {3}> { y = Div(x, three) i = Cast<to = 7>(y) }"""
    model = gradus.load(onnx.parser.parse_model(text))
    found = model.intervals({"x": np.float32([1, 2, 7])})
    assert found["i"] is None
    low, high = found["y"]
    for start, stop, exact in zip(low, high, (Fraction(1, 3), Fraction(2, 3), Fraction(7, 3)), strict=True):
        assert Fraction(start) <= exact <= Fraction(stop) and stop - start < 1e-14


@pytest.mark.skipif(corpus() is None, reason="GRADUS_CORPUS names no folder of models")
def test_real_models_are_inferred():
    files = sorted(pathlib.Path(corpus()).rglob("*.onnx"))[:40]
    for path in files:
        found = gradus.load(path).infer()
        assert len(found) > 0, path


def test_models_are_checked_by_runs():
    model = gradus.load("examples/heads.onnx")
    proved = model.check(model.fold())
    assert proved and proved.runs == 0 and proved.proved == {"y": True} and proved.outputs == []
    assert model.convert("onnx", opset=18).report.proved == {"y": True}
    same = model.check(model.convert("openvino"), {"batch": 2}, runs=3, prove=False)
    assert same and same.runs == 3 and same.parting is None
    assert [(output.name, output.differing, output.types) for output in same.outputs] == [("y", 0, None)]
    with pytest.raises(gradus.errors.GraphError, match="number of outputs of the second model is 3, expected 1"):
        model.check(gradus.load("examples/positions.onnx"))


def test_the_first_value_that_differs_is_named():
    def chain(operator):
        graph = gradus.Graph()
        x = graph.input("x", "float32", ["n"])
        return graph.model([graph.apply(operator, graph.apply("Abs", x))])

    report = chain("Sqrt").check(chain("Tanh"), values={"x": np.array([0.25], "float32")}, runs=1)
    assert not report and report.outputs[0].first == (0, "0.5", "0.24491866")


def test_conditions_name_the_numbers_that_something_may_be():
    squeezed = "axes = Constant<value_ints = [%d]>() y%d = Squeeze(x, axes)"
    model = gradus.load(
        onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 17]>
        rates (float[n, 1] x, int64 sr) => (float[k] y) {{
            high = Constant<value_int = 16000>()
            low = Constant<value_int = 8000>()
            is_high = Equal(sr, high)
            is_low = Equal(sr, low)
            y = If(is_high)<
                then_branch = at_high () => (float[k] y1) {{ {squeezed % (1, 1)} }},
                else_branch = others () => (float[k] y4) {{
                    y4 = If(is_low)<
                        then_branch = at_low () => (float[k] y2) {{ {squeezed % (1, 2)} }},
                        else_branch = none () => (float[k] y3) {{ {squeezed % (7, 3)} }}>
                }}>
        }}""")
    )
    among = {of.text: of.among for of in model.infer().conditions if of.among}
    assert among == {"sr in {8000, 16000}": [8000, 16000]}
    given = [of for of in model.infer(assume=["n in {8, 1}"]).conditions if of.why == "declared"]
    assert ("n in {8, 1}", [1, 8]) in [(of.text, of.among) for of in given]
    assert gradus.decide("n//8 < 2", assume=["n in {1, 8}"]).answer == "true"


def test_inputs_that_are_set_are_constants(tmp_path):
    source = gradus.load("examples/range.onnx")
    model = source.with_inputs_set({"limit": 10, "delta": np.float32(2)})
    assert list(model.inputs) == ["start"] and str(model.inputs["start"]) == "float32[]"
    want = source.run({"start": 1, "limit": 10, "delta": 2})["positions"]
    assert model.run({"start": 1})["positions"].tolist() == want.tolist()
    assert [str(dim) for dim in model.with_inputs_set({"start": 1}).infer()["positions"].shape] == ["5"]
    model.save(tmp_path / "m.onnx")
    written = onnx.load(tmp_path / "m.onnx").graph
    assert [value.name for value in written.input] == ["start"]
    assert {tensor.name for tensor in written.initializer} == {"limit", "delta"}
    ir = gradus.load("examples/range.xml").with_inputs_set({"start": 0})
    assert list(ir.fold().inputs) == ["stop", "step"]
    for wrong in ({"nothing": 1}, {"limit": [1, 2]}, {"limit": np.int64(1)}):
        with pytest.raises(UsageError):
            source.with_inputs_set(wrong)


def test_fix_mends_what_lint_finds():
    model = gradus.load("examples/heads.onnx")
    assert {it.code for it in model.lint()} == {"GR203", "GR204"}
    fixed = model.fix()
    assert fixed.lint() == [] and model.prove(fixed).verdict == "equivalent"
    assert model.fix(select=["GR1"]) is model
    with pytest.raises(UsageError, match="GR999"):
        model.fix(select=["GR999"])


def test_lint_finds_what_is_wrong_by_rule():
    model = gradus.load("examples/baked.onnx")
    [finding] = model.lint()
    assert (finding.code, finding.rule, finding.severity) == ("GR102", "single-size", "warning")
    assert model.lint(ignore=["GR1"]) == [] and model.lint(select=["GR4"]) == []
    assert [it.code for it in model.lint(max_parameters=0, select=["GR6"])] == ["GR602"]
    with pytest.raises(gradus.errors.UsageError, match="unknown rule"):
        model.lint(select=["GR999"])
    with pytest.raises(gradus.errors.UsageError, match="unknown runtime"):
        model.lint(runtimes=["tvm"])


def test_contracts_answer_shapes():
    contract = gradus.load("examples/heads.onnx").contract(None)
    shapes = contract.shapes({"x": (2, 128, 8)})
    assert shapes.outputs["y"].shape == (2, 2, 128, 4) and shapes.outputs["y"].bytes == 4 * 2 * 2 * 128 * 4
    assert (shapes.input_bytes, shapes.peak_bytes) == (4 * 2 * 128 * 8, 16384)
    with pytest.raises(gradus.errors.ShapeError, match='size of axis 2 of input "x" is 8'):
        contract.shapes({"x": (2, 128, 9)})
    with pytest.raises(gradus.errors.UsageError, match="z"):
        contract.shapes({"z": (2, 128, 8)})
    fixed = gradus.load("examples/embedding.onnx").contract(None, {"seq": 5}, ranges={"batch": (1, None)})
    assert fixed.shapes({"x0": (3, 5)}).outputs["y0"].shape == (3, 5, 8)
    # The data decide sizes: each is a range, and no shape.
    graph = gradus.Graph()
    kept = graph.apply("Compress", graph.input("x", "float32", ["n"]), graph.input("keep", "bool", ["n"]))
    between = graph.model([kept]).contract(None).shapes({"x": (7,), "keep": (7,)})
    assert [(of.sizes, of.shape) for of in between.outputs.values()] == [([(0, 7)], None)]
