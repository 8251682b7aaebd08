"""A server of the Model Context Protocol: commands of Gradus as tools.

`gradus mcp --root models` reads models of one folder, and
`--out edited` lets tools write models into another.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from ._native import __version__, _command

__all__ = ["main", "server"]

#: Most characters of an answer: agents read all of it.
LONGEST = 100_000

Model = Annotated[str, Field(description="path of a model below the folder of models")]
Dims = Annotated[dict[str, int], Field(description="numbers for the names of sizes: {'batch': 1}")]


def server(root: Path, out: Path | None = None, *, timeout: float = 60) -> MCPServer:
    """A server whose tools are commands, each run on its own.

    Args:
        root: the folder whose models tools read.
        out: the folder into which tools write models; without it, there
            are no such tools.
        timeout: seconds after which a command ends.

    Returns:
        The server; its `run` answers on standard input and output.

    Raises:
        FileNotFoundError: if a folder does not exist.

    Example:
        >>> import pathlib
        >>> from gradus.mcp import server
        >>> type(server(pathlib.Path("examples"))).__name__
        'MCPServer'
    """
    root = root.resolve(strict=True)
    target = None if out is None else out.resolve(strict=True)

    def within(folder: Path, name: str) -> str:
        path = (folder / name).resolve()
        if not path.is_relative_to(folder):
            raise ToolError(f"{name!r} is not below the folder that the server was given")
        return str(path)

    def run(command: str, models: Sequence[str], options: Sequence[str] = ()) -> str:
        words = [command, "--json", "--timeout", str(timeout), *options, "--", *(within(root, model) for model in models)]
        done = subprocess.run(
            [sys.executable, "-m", "gradus", *words],
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=2 * timeout + 10,
            stdin=subprocess.DEVNULL,
        )
        text = done.stdout or done.stderr
        return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n… {len(text) - LONGEST} characters more"

    def sizes(dims: dict[str, int]) -> list[str]:
        return [word for name, number in dims.items() for word in ("--dim", f"{name}={number}")]

    def show(model: Model) -> str:
        """What a model holds: inputs, outputs, operators, operator sets, metadata."""
        return run("show", [model])

    def infer(model: Model, dims: Dims = {}, why: str | None = None) -> str:  # noqa: B006
        """Types and shapes of all values as formulas, and the conditions under which the model runs; `why` explains one value."""
        return run("infer", [model], [*sizes(dims), *([] if why is None else [f"--why={why}"])])

    def lint(model: Model, dims: Dims = {}) -> str:  # noqa: B006
        """What is wrong in a model, or surprises those who ship it: code, severity, place and message of each finding."""
        return run("lint", [model], ["--fail-on", "never", "--no-cache", *sizes(dims)])

    def cost(model: Model, dims: Dims = {}) -> str:  # noqa: B006
        """Parameters, operations, bytes and the peak of memory, as formulas or numbers."""
        return run("cost", [model], sizes(dims))

    def check(first: Model, second: Model) -> str:
        """Runs two models on random inputs and compares outputs bit for bit."""
        return run("check", [first, second])

    def prove(first: Model, second: Model) -> str:
        """Proves that two models return the same bits for all inputs and sizes, or finds inputs for which they do not."""
        return run("prove", [first, second])

    def diff(first: Model, second: Model) -> str:
        """What differs between two models: inputs, nodes, attributes, constants."""
        return run("diff", [first, second])

    made = MCPServer("gradus", version=__version__, instructions="Exact shapes, costs, proofs and findings of ONNX, OpenVINO and Paddle models.")

    def add(tools: Sequence[Callable[..., str]], read_only: bool) -> None:
        for tool in tools:
            hints = ToolAnnotations(read_only_hint=read_only, destructive_hint=False, open_world_hint=False)
            made.tool(annotations=hints, structured_output=False)(tool)

    add([show, infer, lint, cost, check, prove, diff], True)
    if target is not None:
        folder = target

        def fold(model: Model, name: Annotated[str, Field(description="file to write below the folder of results")]) -> str:
            """Folds what can be computed before a run, and writes the model; the report says what was proved or compared."""
            return run("fold", [model], ["--output", within(folder, name)])

        def convert(model: Model, name: Annotated[str, Field(description="file to write: .onnx or .xml")]) -> str:
            """Converts a model to the standard of the file; the report lists what is not kept bit for bit."""
            return run("convert", [model], ["--output", within(folder, name)])

        add([fold, convert], False)
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs `gradus mcp`, which answers until standard input is closed.

    Args:
        arguments: the words of the command line, in place of the
            process's own.

    Returns:
        The exit status.

    Example:
        >>> from gradus import mcp
        >>> mcp.main(["--root", "examples"])  # doctest: +SKIP
        0
    """
    return _command(["gradus", "mcp", *(sys.argv[1:] if arguments is None else arguments)])


if __name__ == "__main__":
    sys.exit(main())
