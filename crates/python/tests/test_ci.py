"""What others' CI takes from the repository: hooks of pre-commit, and actions of GitHub."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[3]
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


def run(arguments, cwd=ROOT, **variables):
    return subprocess.run(
        arguments, capture_output=True, encoding="utf-8", check=False, env={**os.environ, "PATH": PATH} | variables, cwd=cwd
    )


def test_pre_commit_takes_the_hooks(tmp_path):
    done = run([sys.executable, "-m", "pre_commit", "validate-manifest", ".pre-commit-hooks.yaml"])
    assert done.returncode == 0, done.stdout + done.stderr
    lint, contract = (shlex.split(hook["entry"]) for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text()))
    models = [str(ROOT / "examples" / name) for name in ("heads.onnx", "baked.onnx")]
    assert [run([*lint, model]).returncode for model in models] == [0, 1]
    # The hook fails where a contract changes: pre-commit looks whether files did.
    written = []
    for _ in range(2):
        done = run([*contract, *models], cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        written.append({path.name: path.read_text() for path in (tmp_path / "contracts").iterdir()})
    assert written[0] == written[1] and sorted(written[0]) == ["baked.onnx.json", "heads.onnx.json"]


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


def committed(folder, message):
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", message]):
        done = run([*git, *words], cwd=folder)
        assert done.returncode == 0, done.stderr
    return run(["git", "rev-parse", "HEAD"], cwd=folder).stdout.strip()


def test_the_action_comments_what_a_pull_request_changes(tmp_path):
    folder = tmp_path / "repository"
    folder.mkdir()
    odd = "x`|$(touch was-here).onnx"
    shutil.copy(ROOT / "examples/heads.onnx", folder / "same.onnx")
    shutil.copy(ROOT / "examples/fixed_1x4.onnx", folder / odd)
    shutil.copy(ROOT / "examples/range.onnx", folder / "gone.onnx")
    shutil.copy(ROOT / "examples/range.onnx", folder / "broken.onnx")
    base = committed(folder, "before")
    folded = run(["gradus", "fold", "examples/heads.onnx", "-o", folder / "same.onnx"])
    assert folded.returncode == 0, folded.stderr
    shutil.copy(ROOT / "examples/fixed_2x6.onnx", folder / odd)
    (folder / "gone.onnx").unlink()
    (folder / "broken.onnx").write_bytes(b"no `model`")
    shutil.copy(ROOT / "examples/loop.onnx", folder / "new.onnx")
    committed(folder, "after")

    action = yaml.safe_load((ROOT / "actions/diff/action.yml").read_text())
    compare, comment = action["runs"]["steps"][1:]
    summary = tmp_path / "summary.md"
    given = {
        "MODELS": action["inputs"]["models"]["default"],
        "BASE": base,
        "ACTION": str(ROOT / "actions/diff"),
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_STEP_SUMMARY": str(summary),
    }
    done = run(["bash", "-e", "-c", compare["run"]], cwd=folder, **given)
    assert done.returncode == 0, done.stderr
    text = summary.read_text()
    assert "### `./same.onnx`\n\n**The same bits, proved for all inputs and sizes**\n" in text
    assert "| nodes | `14` | `2` |" in text
    assert "### ``./x`\\|$(touch was-here).onnx``" in text and "`x: float32[2, 6, 8]`" in text
    assert "A model cannot be compared with what it was:\n```text\n" in text
    assert "New models:\n```text\nnew.onnx\n```" in text and "Removed models:\n```text\ngone.onnx\n```" in text
    # Parts without room are left out whole.
    short = tmp_path / "short.md"
    done = run([ROOT / "actions/diff/comment.sh", base, short], cwd=folder, GRADUS_COMMENT_BYTES="900")
    assert done.returncode == 0, done.stderr
    written = short.read_text()
    assert len(written) < 1000 and written.count("```") % 2 == 0 and "more parts have no room here" in written
    assert not list(tmp_path.rglob("was-here"))
    assert run(["git", "worktree", "list"], cwd=folder).stdout.count("\n") == 1

    # A stranger to GitHub stands in for its command.
    commands = tmp_path / "commands"
    commands.mkdir()
    (commands / "gh").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    (commands / "gh").chmod(0o755)
    told = run(["bash", "-e", "-c", comment["run"]], cwd=folder, NUMBER="7", RUNNER_TEMP=str(tmp_path), PATH=f"{commands}{os.pathsep}{PATH}")
    assert told.stdout.split()[:3] == ["pr", "comment", "7"] and told.stdout.split()[-1] == str(tmp_path / "gradus-diff.md")
