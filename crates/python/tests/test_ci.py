"""What others' CI takes from the repository: the hook of pre-commit, and the action of GitHub."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[3]
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


def run(arguments, **variables):
    return subprocess.run(
        arguments, capture_output=True, encoding="utf-8", check=False, env={**os.environ, "PATH": PATH, **variables}, cwd=ROOT
    )


def test_pre_commit_takes_the_hooks():
    done = run([sys.executable, "-m", "pre_commit", "validate-manifest", ".pre-commit-hooks.yaml"])
    assert done.returncode == 0, done.stdout + done.stderr
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    status = {model: run([*shlex.split(hook["entry"]), model]).returncode for model in ["examples/heads.onnx", "examples/baked.onnx"]}
    assert status == {"examples/heads.onnx": 0, "examples/baked.onnx": 1}


def test_the_action_annotates_findings():
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    lint = action["runs"]["steps"][-1]
    given = {"models": "examples/baked.onnx examples/heads.onnx", "options": "--select GR1 --fail-on error"}
    defaults = {name: of.get("default", "") for name, of in action["inputs"].items()}
    values = {f"${{{{ inputs.{name} }}}}": value for name, value in {**defaults, **given}.items()}
    done = run(["bash", "-e", "-c", lint["run"]], **{name: values[value] for name, value in lint["env"].items()})
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        '::warning file=examples/baked.onnx,title=GR102 single-size::node "view" (Reshape): the model runs only if batch == 1'
    ]
    # Words of a pull request are data.
    done = run(["bash", "-e", "-c", lint["run"]], MODELS="$(touch /tmp/gradus-was-here);x.onnx", OPTIONS="")
    assert done.returncode == 1 and not Path("/tmp/gradus-was-here").exists()
