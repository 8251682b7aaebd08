"""Tests and measures everything that needs a GPU of NVIDIA, in less than 10 minutes, and prints one table.

    python scripts/gpu_runbook.py build FOLDER    # here: needs cargo, and pip
    python scripts/gpu_runbook.py run FOLDER      # on the machine with the GPU: needs no Rust and no network

`run` needs the driver, and a Python 3.10 or newer with numpy, ml_dtypes, pytest, hypothesis, mpmath and PyTorch for CUDA, which
brings NVRTC. CuPy, compute-sanitizer, ncu and a Vulkan driver are used where they are installed. Tests run side by side, and what
measures runs alone after them. Output of the steps goes to FOLDER/logs. The exit status is 1 if a step failed.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import typing
import zipfile

ROOT = pathlib.Path(__file__).parent.parent
CUDA = {"GRADUS_TEST_DEVICE": "cuda", "GRADUS_REQUIRE_DEVICE": "1"}
VULKAN = {"GRADUS_TEST_DEVICE": "vulkan", "GRADUS_REQUIRE_DEVICE": "1"}


def executables(*arguments):
    """The programs that a command of cargo builds, by the names of their targets."""
    command = ["cargo", *arguments, "--message-format=json"]
    lines = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    messages = [json.loads(line) for line in lines]
    return {m["target"]["name"]: m["executable"] for m in messages if m.get("executable")}


def build(folder):
    folder.mkdir(parents=True, exist_ok=True)
    features = ("--features", "cuda,wgpu")
    built = executables("test", "--no-run", "--release", "-p", "gradus-gpu", *features)
    built |= executables("build", "--release", "-p", "gradus-bench", *features)
    for name in ("gradus_gpu", "devices", "gradus-bench"):
        shutil.copy(built[name], folder / name)
    wheel = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder / "wheel", ROOT]
    subprocess.run(wheel, env=os.environ | {"MATURIN_PEP517_ARGS": "--features cuda"}, check=True)
    for source in ("crates/python/tests", "bench", "scripts"):
        shutil.copytree(ROOT / source, folder / source, dirs_exist_ok=True)


class Step(typing.NamedTuple):
    """The command is None if its program is missing."""

    name: str
    seconds: int
    command: list | None
    environment: dict = {}
    is_alone: bool = False


def steps(folder):
    tests = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    devices, bench = folder / "devices", folder / "gradus-bench"
    python_tests = folder / "crates/python/tests"
    long = CUDA | {"GRADUS_TEST_ELEMENTS": "1000000000"}
    yield Step("kernels by NVRTC", 120, [folder / "gradus_gpu", "--nocapture", "nvrtc"])
    yield Step("bits, CUDA", 120, [devices], CUDA)
    yield Step("bits, Vulkan", 180, [devices], VULKAN)
    yield Step("Python, DLPack, PyTorch", 120, [*tests, python_tests / "test_devices.py"], CUDA)
    for dtypes in ("int8 or int16", "int32 or int64", "float16", "float32 or float64"):
        command = [*tests, python_tests / "test_cuda.py", "-k", f"long_sequences and ({dtypes})"]
        yield Step(f"10^9 elements, {dtypes}", 240, command, long)
    for tool in ("memcheck", "racecheck", "initcheck"):
        sanitizer = shutil.which("compute-sanitizer")
        checked = [devices, "--test-threads=1", "ordinary", "arrays_are_read"]
        yield Step(tool, 150, sanitizer and [sanitizer, "--tool", tool, "--error-exitcode", "9", *checked], CUDA)
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    yield Step("card and driver", 30, query, is_alone=True)
    command = [*tests, python_tests / "test_cuda.py", "-k", "not long_sequences"]
    yield Step("streams, processes, memory", 120, command, CUDA, is_alone=True)
    yield Step("speed, 1 and 4 GiB", 150, [bench, "gpu", "--device", "cuda"], is_alone=True)
    vulkan = [bench, "gpu", "--device", "vulkan", "--bytes", str(1 << 30)]
    yield Step("speed, Vulkan, 1 GiB", 90, vulkan, is_alone=True)
    for size in (40, 4000, 400_000, 4_000_000, 1 << 30):
        command = [sys.executable, folder / "bench/gpu.py", "--bytes", str(size)]
        yield Step(f"beside PyTorch and CuPy, {size} bytes", 60, command, is_alone=True)
    profiler = shutil.which("ncu")
    profiled = [bench, "gpu", "--device", "cuda", "--bytes", str(1 << 28), "--rounds", "1"]
    # The clocks of the card are others' too.
    command = profiler and [profiler, "--set", "basic", "--clock-control", "none", *profiled]
    yield Step("profile", 120, command, is_alone=True)


def run_step(log, limit, step, environment):
    """The result of a step, in a word."""
    if step.command is None:
        return "not installed"
    variables = environment | step.environment
    with log.open("w") as output:
        try:
            status = subprocess.run(step.command, stdout=output, stderr=subprocess.STDOUT, env=variables, timeout=limit)
        except subprocess.TimeoutExpired:
            return f"FAILED: more than {limit:.0f} s"
        except OSError as error:
            return f"FAILED: {error}"
    if status.returncode:
        return f"FAILED: exit status {status.returncode}"
    # The programs print this line if they find no device.
    return "FAILED: skipped" if "skipped: " in log.read_text(errors="replace") else "passed"


def run(folder, seconds, wanted):
    folder = folder.resolve()
    package, logs = folder / "package", folder / "logs"
    logs.mkdir(exist_ok=True)
    for wheel in (folder / "wheel").glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(package)
    # Packages that PyTorch brings have NVRTC there.
    libraries = [str(library) for place in sys.path for library in pathlib.Path(place).glob("nvidia/*/lib")]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")]),
        "LD_LIBRARY_PATH": os.pathsep.join([*libraries, os.environ.get("LD_LIBRARY_PATH", "")]),
    }
    end = time.monotonic() + seconds

    def result(numbered):
        number, step = numbered
        start, log = time.monotonic(), logs / f"{number:02}.log"
        left = end - start
        said = run_step(log, min(step.seconds, left), step, environment) if left > 0 else "FAILED: no time left"
        print(f"{step.name}: {said}", file=sys.stderr, flush=True)
        return step.name, said, f"{time.monotonic() - start:.0f}", log

    numbered = [(number, step) for number, step in enumerate(steps(folder)) if re.search(wanted, step.name)]
    with concurrent.futures.ThreadPoolExecutor(len(numbered)) as pool:
        rows = list(pool.map(result, [each for each in numbered if not each[1].is_alone]))
    rows += [result(each) for each in numbered if each[1].is_alone]
    for name, said, _, log in rows:
        if said == "passed" and name.startswith(("speed", "beside", "card")):
            print(f"\n{name}\n\n{log.read_text()}")
    print("| step | result | seconds | log |\n|---|---|---|---|")
    for name, said, taken, log in rows:
        print(f"| {name} | {said} | {taken} | {log.name} |")
    return any(said.startswith("FAILED") for _, said, _, _ in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["build", "run"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=10 * 60, help="steps that have not ended by then fail")
    parser.add_argument("--steps", default="", metavar="REGEX", help="the steps whose names match")
    options = parser.parse_args()
    if options.what == "build":
        sys.exit(build(options.folder))
    sys.exit(run(options.folder, options.seconds, options.steps))


if __name__ == "__main__":
    main()
