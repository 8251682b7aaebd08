"""The folder that Cargo builds into: `CARGO_TARGET_DIR`, `build.target-dir` of Cargo's configuration, or `target`."""

import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def target() -> pathlib.Path:
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1", "--manifest-path", ROOT / "Cargo.toml"]
    return pathlib.Path(json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["target_directory"])
