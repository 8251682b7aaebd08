"""Edits of models: parts, names, sizes, types, and weights."""

import gradus
import numpy as np
import pytest

POSITIONS = "examples/positions.onnx"


def test_edits_are_made_in_the_order_of_the_arguments(tmp_path):
    model = gradus.load(POSITIONS)
    edited = model.edit(
        dims={"length": 3},
        rename_dims={"seq": "length"},
        rename={"phase": "angle"},
        extract=([], ["phase"]),
        metadata={"by": "me"},
        docs=False,
    )
    assert list(edited.outputs) == ["angle"]
    assert str(edited.inputs["tokens"]) == "int64[batch, 3]"
    assert edited.notes[1] == 'renamed output "phase" to "angle"'
    path = tmp_path / "edited.onnx"
    edited.save(path)
    tokens = np.zeros((2, 3), np.int64)
    wanted = model.run({"tokens": tokens})["phase"]
    np.testing.assert_array_equal(gradus.load(path).run({"tokens": tokens})["angle"], wanted)


def test_floats_are_shortened_where_given_inputs_show_what_it_loses(tmp_path):
    model = gradus.load("examples/fixed_1x4.onnx")
    given = {name: np.full(of.shape, 0.3, np.float32) for name, of in model.inputs.items()}
    edited = model.edit(floats="float16", max_error=1e-2, inputs=given)
    assert edited.notes[-1].endswith("of its largest magnitude in 1 run")
    path = tmp_path / "half.onnx"
    edited.save(path)
    for name, value in model.run(given).items():
        half = gradus.load(path).run(given)[name]
        assert half.dtype == value.dtype
        np.testing.assert_allclose(half, value, atol=1e-2 * np.abs(value).max())
    with pytest.raises(gradus.errors.UsageError, match="float16 or bfloat16"):
        model.edit(floats="float64")


def test_values_and_types_are_those_of_python():
    model = gradus.load("examples/range.onnx")
    edited = model.edit(values={"start": 1}, defaults={"delta": 0.5}, input_types={"limit": "float64"})
    assert list(edited.inputs) == ["limit", "delta"]
    assert edited.run({"limit": np.float64(2)})["positions"].tolist() == [1.0, 1.5]
    scaled = gradus.load("examples/baked.onnx").edit(
        input_types={"x": ("uint8", 1 / 255, None)}, layouts={"x": "NWC"}
    )
    assert str(scaled.inputs["x"]) == "uint8[batch, 8, 16]"
    assert ("node \"view\" (Reshape)", "batch == 1") in scaled.conditions


def test_stripped_weights_are_restored():
    model = gradus.load("examples/embedding.onnx")
    stripped = model.edit(strip_weights=True)
    assert stripped.notes == ["stripped 1 weight of 2048 bytes"] and stripped.to_bytes() != model.to_bytes()
    assert stripped.edit(weights=model, embed=True).to_bytes() == model.to_bytes()
    assert gradus.load("examples/heads.onnx").edit(share_weights=True).notes == ["shared 1 weight, which takes 8 bytes less"]


def test_parts_are_joined_again():
    model = gradus.load(POSITIONS)
    first, second = model.split(["positions"])
    joined = first.join(second, {name: name for name in second.inputs})
    assert joined.prove(model)
    with pytest.raises(gradus.errors.UsageError, match="no output of a node"):
        model.split(["tokens"])
    with pytest.raises(gradus.errors.UsageError, match="another value has that name"):
        model.edit(rename={"phase": "tokens"})
