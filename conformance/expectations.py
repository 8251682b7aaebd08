"""Lists of what is known to fail or is not tried, each with its reason."""

import pathlib
import tomllib

from processor import has_avx512

FEATURES = {"avx512": has_avx512}


def differences(path: pathlib.Path, results: dict, complete: bool) -> list[str]:
    """What is not as the list says: `results` has the "problems" of each case, and is complete if it has all of a group."""
    stated = tomllib.loads(path.read_text())
    # Some fail on processors without a feature.
    lacking = {name: entry for name, entry in stated.get("processor", {}).items() if not FEATURES[entry["without"]]()}
    expected = stated.get("xfail", {}) | {name: entry["xfail"] for name, entry in lacking.items()}
    skipped = stated.get("skip", {})
    wrong = []
    for name, result in results.items():
        if name in skipped:
            continue
        if result["problems"] and name not in expected:
            wrong.extend(f"{name}: {why}" for why in result["problems"])
        if not result["problems"] and name in expected:
            wrong.append(f"{name} passes, but is listed as failing")
    for group, count in stated.get("others", {}).items() if complete else ():
        others = sum(name.startswith(f"{group}/") and name not in [*expected, *skipped] for name in results)
        if others != count:
            wrong.append(f"{others} cases of {group} are not listed, expected {count}")
    if complete:
        groups = {name.split("/")[0] for name in results}
        gone = [name for name in [*expected, *skipped] if name not in results and name.split("/")[0] in groups]
        wrong.extend(f"{name} is listed, but does not exist" for name in gone)
    return wrong
