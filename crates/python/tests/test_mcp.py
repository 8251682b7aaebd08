"""The server of tools, asked by a client of the protocol's own library."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

ROOT = Path(__file__).resolve().parents[3]


def ask(calls, *options):
    """The tools, and the text and the error flag of each answer."""

    async def session():
        words = ["-m", "gradus", "mcp", "--root", str(ROOT / "examples"), *options]
        server = StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))
        async with stdio_client(server) as streams, ClientSession(*streams) as client:
            await client.initialize()
            tools = [tool.name for tool in (await client.list_tools()).tools]
            answers = [await client.call_tool(name, arguments) for name, arguments in calls]
            return tools, [("".join(part.text for part in it.content), it.is_error) for it in answers]

    return asyncio.run(session())


def test_commands_are_tools():
    calls = [
        ("show", {"model": "heads.onnx"}),
        ("infer", {"model": "heads.onnx", "dims": {"batch": 2}}),
        ("infer", {"model": "heads.onnx", "why": "y"}),
        ("lint", {"model": "baked.onnx"}),
        ("cost", {"model": "positions.onnx"}),
        ("check", {"first": "heads.onnx", "second": "heads.onnx"}),
        ("prove", {"first": "heads.onnx", "second": "heads.onnx"}),
        ("diff", {"first": "heads.onnx", "second": "positions.onnx"}),
        ("infer", {"model": "missing.onnx"}),
        ("infer", {"model": "../Cargo.toml"}),
    ]
    tools, answers = ask(calls)
    assert tools == ["show", "infer", "lint", "cost", "check", "prove", "diff"]
    parsed = [json.loads(text) for text, error in answers[:9] if not error]
    assert parsed[1]["values"]["y"]["shape"] == [2, 2, "seq", 4]
    assert parsed[3]["findings"][0]["code"] == "GR102"
    assert parsed[6]["verdict"] == "equivalent"
    assert "error" in parsed[8]
    text, is_error = answers[9]
    assert is_error and "not below the folder" in text


@pytest.mark.parametrize(("name", "is_written"), [("small.onnx", True), ("../small.onnx", False)])
def test_models_are_written_into_one_folder(tmp_path, name, is_written):
    out = tmp_path / "out"
    out.mkdir()
    tools, [(text, is_error)] = ask([("fold", {"model": "heads.onnx", "name": name})], "--out", str(out))
    assert {"fold", "convert"} <= set(tools) and is_error != is_written, text
    assert [path.name for path in tmp_path.rglob("*.onnx")] == (["small.onnx"] if is_written else [])


def test_a_missing_library_is_told(tmp_path):
    (tmp_path / "mcp.py").write_text("raise ModuleNotFoundError(\"No module named 'mcp'\")")
    done = subprocess.run(
        [sys.executable, "-m", "gradus", "mcp", "--root", "examples"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
    )
    assert done.returncode == 1
    assert "No module named 'mcp'; `pip install 'gradus[mcp]'` installs it" in done.stderr
