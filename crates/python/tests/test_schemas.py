"""What --json prints is what docs/schemas/gradus.schema.json describes."""

import json
import subprocess
import sys

import jsonschema
import pytest
from conftest import ROOT

SCHEMA = json.loads((ROOT / "docs/schemas/gradus.schema.json").read_text())


def check(line, name):
    schema = {"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]}
    jsonschema.Draft202012Validator(schema).validate(json.loads(line))


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("range 0 1 0.1", ["tensor"]),
        ("linspace 1+2j 3 4", ["tensor"]),
        ("compare logspace 0 1 4 --base 1000 --dtype i64", ["compare"]),
        ("compare range 0 1 0.1 --dtype f16", ["compare"]),
        ("compare examples/positions.onnx examples/function.onnx", ["portability", "portability", "counts"]),
        ("compare examples/range_const.xml", ["portability"]),
        ("compare --rules", ["rules"]),
        ("run examples/positions.onnx -i tokens=[[1,2]]", ["run"]),
        ("infer examples/positions.onnx", ["infer"]),
        ("infer examples/loop.onnx examples/none.onnx examples/heads.onnx", ["infer", "error", "infer", "counts"]),
        ("infer examples/positions.onnx --why phase", ["why"]),
        ("cost examples/positions.onnx --dim batch=2 --fit 1MiB", ["cost"]),
        ("cost examples/positions.onnx --dim seq=1..8", ["sweep"]),
        ("cost examples/heads.onnx --dim batch=2 --dim seq=8 --plan", ["plan"]),
        ("report examples/heads.onnx -o {out}/heads.html", ["report"]),
        ("report examples/heads.onnx --compare examples/positions.onnx -o {out}/both.html", ["report"]),
        ("report examples/range.xml examples/function.onnx -o {out}/", ["report", "report", "counts"]),
        ("fold examples/heads.onnx --verify -o {out}/heads.onnx", ["fold"]),
        ("convert examples/positions.onnx -o {out}/p.xml", ["convert"]),
        ("show examples/positions.onnx examples/range.onnx", ["show", "show", "counts"]),
        ("diff examples/positions.onnx examples/heads.onnx", ["diff"]),
        ("check examples/positions.onnx examples/positions.onnx", ["check"]),
        ("check examples/heads.onnx examples/heads.onnx --dim batch=2 --runs 1", ["check"]),
        ("check examples/positions.onnx --with onnxruntime --runs 2", ["check_with"]),
        ("check examples/scores.onnx examples/scores.int8.onnx --quantized", ["quantized"]),
        ("audit examples/positions.onnx --with gradus,onnxruntime --runs 1", ["audit"]),
        ("prove examples/heads.onnx examples/heads.onnx", ["prove"]),
        ("lint examples/baked.onnx examples/heads.onnx", ["lint", "lint", "counts"]),
        ("lint --rules", ["lint_rules"]),
        ("cases Softmax --count 3 -o {out}", ["cases"]),
        ("devices", ["devices"]),
        ("ops", ["ops"]),
        ("range 0 x 1", ["error"]),
    ],
)
def test_json_is_as_the_schema_says(command, names, tmp_path):
    words = [word.format(out=tmp_path) for word in command.split()]
    done = subprocess.run(
        [sys.executable, "-m", "gradus", *words, "--json"], capture_output=True, encoding="utf-8", cwd=ROOT, check=False
    )
    lines = (done.stdout or done.stderr).splitlines()
    assert len(lines) == len(names), lines
    for line, name in zip(lines, names, strict=True):
        check(line, name)


@pytest.mark.parametrize("model", ["positions.onnx", "loop.onnx", "range.xml"])
def test_contracts_are_as_the_schema_says(model):
    words = ["infer", f"examples/{model}", "--emit", "json"]
    done = subprocess.run(
        [sys.executable, "-m", "gradus", *words], capture_output=True, encoding="utf-8", cwd=ROOT, check=True
    )
    check(done.stdout, "contract")
