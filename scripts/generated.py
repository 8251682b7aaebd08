"""What the scripts share that make files which are checked in."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def write_or_check(files: dict[pathlib.Path, bytes]) -> int:
    """Writes the files that differ; or with `--check`, only names them and fails."""
    check = "--check" in sys.argv
    stale = [path for path, content in files.items() if not path.exists() or path.read_bytes() != content]
    for path in stale:
        print(f"{'differs' if check else 'written'}: {path.relative_to(ROOT)}")
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(files[path])
    return int(check and bool(stale))
