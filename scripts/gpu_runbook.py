"""Tests and measures everything that needs a GPU of NVIDIA, in less than 25 minutes, and prints one table.

    python scripts/gpu_runbook.py build FOLDER    # here: needs cargo, and `cargo xtask setup`
    python scripts/gpu_runbook.py run FOLDER      # on the machine with the GPU: needs no Rust and no network

`run` needs the driver, and a Python 3.10 or newer with numpy, ml_dtypes, pytest, hypothesis, mpmath and PyTorch for CUDA, which
brings NVRTC. CuPy, compute-sanitizer, ncu and a Vulkan driver are used where they are installed. Output of the steps goes to
FOLDER/logs. The exit status is 1 if a step failed.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
import zipfile

ROOT = pathlib.Path(__file__).parent.parent
SECONDS = 24 * 60
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
    wheels = folder / "wheel"
    subprocess.run(["cargo", "xtask", "wheel", "--features", "cuda", wheels], cwd=ROOT, check=True)
    for source in ("crates/python/tests", "bench", "scripts"):
        shutil.copytree(ROOT / source, folder / source, dirs_exist_ok=True)


def steps(folder):
    """Name, seconds at most, command and environment of each step; the command is None if its program is missing."""
    tests = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    devices, bench = str(folder / "devices"), str(folder / "gradus-bench")
    python_tests = folder / "crates/python/tests"
    long = CUDA | {"GRADUS_TEST_ELEMENTS": "1000000000"}
    yield "card and driver", 30, ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"], {}
    yield "kernels by NVRTC", 120, [folder / "gradus_gpu", "--nocapture", "nvrtc"], {}
    yield "bits, CUDA", 120, [devices], CUDA
    yield "bits, Vulkan", 180, [devices], VULKAN
    yield "Python, DLPack, PyTorch", 120, [*tests, python_tests / "test_devices.py"], CUDA
    yield "10^9 elements, streams, processes, memory", 480, [*tests, python_tests / "test_cuda.py"], long
    for tool in ("memcheck", "racecheck", "initcheck"):
        checked = [devices, "--test-threads=1", "ordinary", "arrays_are_read"]
        sanitizer = shutil.which("compute-sanitizer")
        yield tool, 150, sanitizer and [sanitizer, "--tool", tool, "--error-exitcode", "9", *checked], CUDA
    yield "speed, 1 and 4 GiB", 150, [bench, "gpu", "--device", "cuda"], {}
    yield "speed, Vulkan, 1 GiB", 90, [bench, "gpu", "--device", "vulkan", "--bytes", str(1 << 30)], {}
    for size in (40, 4000, 400_000, 4_000_000, 1 << 30):
        command = [sys.executable, folder / "bench/gpu.py", "--bytes", str(size)]
        yield f"beside PyTorch and CuPy, {size} bytes", 60, command, {}
    profiler = shutil.which("ncu")
    profiled = [bench, "gpu", "--device", "cuda", "--bytes", str(1 << 28), "--rounds", "1"]
    yield "profile", 120, profiler and [profiler, "--set", "basic", *profiled], {}


def run_step(log, limit, command, variables, environment):
    """The result of a step, in a word."""
    if command is None:
        return "not installed"
    with log.open("w") as output:
        try:
            status = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, env=environment | variables, timeout=limit)
        except subprocess.TimeoutExpired:
            return f"FAILED: more than {limit:.0f} s"
        except OSError as error:
            return f"FAILED: {error}"
    if status.returncode:
        return f"FAILED: exit status {status.returncode}"
    # The programs print this line if they find no device.
    return "FAILED: skipped" if "skipped: " in log.read_text(errors="replace") else "passed"


def run(folder):
    folder = folder.resolve()
    package, logs = folder / "package", folder / "logs"
    logs.mkdir(exist_ok=True)
    for wheel in (folder / "wheel").glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(package)
    # Packages that PyTorch brings have NVRTC there.
    libraries = [str(library) for place in sys.path for library in pathlib.Path(place).glob("nvidia/*/lib")]
    environment = os.environ | {
        "PYTHONPATH": str(package),
        "LD_LIBRARY_PATH": os.pathsep.join([*libraries, os.environ.get("LD_LIBRARY_PATH", "")]),
    }
    end, rows = time.monotonic() + SECONDS, []
    for number, (name, limit, command, variables) in enumerate(steps(folder)):
        start, log = time.monotonic(), logs / f"{number:02}.log"
        left = end - start
        result = run_step(log, min(limit, left), command, variables, environment) if left > 0 else "FAILED: no time left"
        rows.append((name, result, f"{time.monotonic() - start:.0f}", log.name))
        print(f"{name}: {result}", file=sys.stderr, flush=True)
    print("| step | result | seconds | log |\n|---|---|---|---|")
    for row in rows:
        print(f"| {' | '.join(row)} |")
    for name, result, _, log in rows:
        if result == "passed" and name.startswith(("speed", "beside", "card")):
            print(f"\n{name}\n\n{(logs / log).read_text()}")
    return any(result.startswith("FAILED") for _, result, _, _ in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["build", "run"])
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    sys.exit(build(options.folder) if options.what == "build" else run(options.folder))


if __name__ == "__main__":
    main()
