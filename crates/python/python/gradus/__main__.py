"""The command `gradus`; `python -m gradus` is the same."""

import sys

from gradus import _native


def main() -> int:
    """Runs the command that was typed, and returns its exit status."""
    return _native._command(["gradus", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
