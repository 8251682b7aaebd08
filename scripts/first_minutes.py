"""The first minutes of a newcomer: a fresh clone, empty caches, and the commands of the README in their order, timed.

    python scripts/first_minutes.py [--beside REVISION] [--tests] [--package]

Commands are those of the README's console blocks, the one that builds first; their output must be the README's. `--tests` runs `cargo test` after them,
`--package` installs the Python package into an environment of its own. With `--beside`, another revision does the same first, by its
own README. Toolchain and settings of registries are the user's; crates are downloaded anew, which is a row of its own.
"""

import argparse
import os
import pathlib
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).parent.parent
FROM_A_CLONE = "cargo run --release -p gradus-cli --"


def spent() -> tuple[float, float]:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic(), children.ru_utime + children.ru_stime


class Clone:
    """A clone in a folder, and what its commands took: seconds, seconds of processors, and whether they did as the README says."""

    def __init__(self, revision: str, folder: pathlib.Path):
        self.folder, self.rows = folder / "gradus", {}
        home, config = folder / "cargo", pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo"))
        home.mkdir(parents=True)
        if (config / "config.toml").is_file():
            shutil.copy(config / "config.toml", home)
        self.environment = {key: value for key, value in os.environ.items() if key != "CARGO_TARGET_DIR"}
        self.environment |= {"CARGO_HOME": str(home), "PATH": f"{self.folder}/target/release:{os.environ['PATH']}"}
        subprocess.run(["git", "clone", "--quiet", ROOT, self.folder], check=True)
        subprocess.run(["git", "checkout", "--quiet", revision], cwd=self.folder, check=True)

    def run(self, line: str, shown: str | None = None, name: str | None = None) -> None:
        before = spent()
        print(f"$ {line}", file=sys.stderr, flush=True)
        words = shlex.split(line)
        try:
            done = subprocess.run(words, cwd=self.folder, env=self.environment, capture_output=True, text=True)
        except FileNotFoundError as error:  # An older revision may lack the program.
            done = subprocess.CompletedProcess(words, 127, "", str(error))
        seconds, processors = (after - first for after, first in zip(spent(), before, strict=True))
        output = done.stdout if shown is None or "Compiling" in done.stderr else done.stdout + done.stderr
        as_said = done.returncode == 0 if shown is None else output.strip() == shown.strip()
        self.rows[name or f"`{line}`"] = (seconds, processors, as_said)

    def readme(self) -> None:
        """The commands of the README, with what it shows of their output."""
        blocks = re.findall(r"```console\n(.*?)```", (self.folder / "README.md").read_text(), re.DOTALL)
        commands = [command.split("\n", 1) for block in blocks for command in block.split("$ ")[1:]]
        for line, shown in commands:
            if line.startswith(FROM_A_CLONE):
                self.run(line, shown, "the README's first command, cold")
        for line, shown in commands:
            if line.startswith("gradus "):
                self.run(line, shown)


def table(rows: list[dict[str, tuple[float, float, bool]]]) -> str:
    heads = ["step", "s", "CPU s", "as shown"]
    if len(rows) == 2:
        heads += ["before, s", "CPU s", "ratio of CPU"]
    lines = [heads, ["---"] * len(heads)]
    for step, (seconds, processors, as_said) in rows[-1].items():
        cells = [step, f"{seconds:.1f}", f"{processors:.1f}", "yes" if as_said else "**no**"]
        if len(rows) == 2 and step in rows[0]:
            old_seconds, old_processors, _ = rows[0][step]
            cells += [f"{old_seconds:.1f}", f"{old_processors:.1f}", f"{processors / max(old_processors, 0.01):.2f}"]
        lines.append(cells + [""] * (len(heads) - len(cells)))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beside", metavar="REVISION")
    parser.add_argument("--tests", action="store_true")
    parser.add_argument("--package", action="store_true")
    arguments = parser.parse_args()
    rows = []
    for revision in [arguments.beside, "HEAD"] if arguments.beside else ["HEAD"]:
        commit = subprocess.check_output(["git", "rev-parse", revision], cwd=ROOT, text=True).strip()
        with tempfile.TemporaryDirectory() as folder:
            clone = Clone(commit, pathlib.Path(folder))
            clone.run("cargo fetch --locked")
            clone.readme()
            if arguments.tests:
                clone.run("cargo test")
            if arguments.package:
                clone.run(f"{sys.executable} -m venv target/first")
                clone.run("target/first/bin/pip install --quiet .")
                clone.run("target/first/bin/gradus range 0 1 0.25")
            rows.append(clone.rows)
    print(table(rows))
    if not all(as_said for _, _, as_said in rows[-1].values()):
        raise SystemExit("a command does not do as the README says")


if __name__ == "__main__":
    main()
